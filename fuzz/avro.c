/* Avro files: events nest, rows are whole, every span lies in the file or its block; then the same bytes as a manifest
   list and as a manifest, whose files must be a document that its views read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Entries of the header's metadata lie in the file, and each key finds one. */
static void read_metadata(const tl_avro *avro, const uint8_t *data, size_t size)
{
    tl_span key, value;
    uint32_t i;
    for (i = 0; i < 1000 && tl_avro_metadata_at(avro, i, &key, &value); i++) {
        const uint8_t *p = (const uint8_t *)value.data;
        TIMELAKE_ASSERT(p >= data && p + value.size <= data + size && tl_avro_metadata(avro, key).data != NULL);
    }
    TIMELAKE_ASSERT(i > 0); /* the schema is one */
}

/* Opened and closed in turn; reading again gives the same number of rows. */
static uint64_t read_rows(const uint8_t *data, size_t size, tl_status *st)
{
    tl_avro avro;
    tl_avro_value v;
    tl_error err;
    uint64_t rows = 0;
    uint32_t depth = 0;
    *st = tl_avro_open(&avro, data, size, NULL, NULL, &err);
    if (*st != TL_OK)
        return 0;
    read_metadata(&avro, data, size);
    for (;;) {
        *st = tl_avro_next(&avro, &v, &err);
        if (*st != TL_OK || v.event == TL_AVRO_EOF)
            break;
        depth += v.event == TL_AVRO_BEGIN;
        depth -= v.event == TL_AVRO_END;
        TIMELAKE_ASSERT(depth == avro.depth);
        if (v.event == TL_AVRO_ROW) {
            TIMELAKE_ASSERT(depth == 0);
            rows++;
        }
        if (v.bytes.data != NULL && v.bytes.size != 0) {
            const uint8_t *p = (const uint8_t *)v.bytes.data;
            TIMELAKE_ASSERT(p >= avro.data && p + v.bytes.size <= avro.data_end);
        }
    }
    TIMELAKE_ASSERT(*st != TL_OK || (rows == avro.rows && depth == 0));
    TIMELAKE_ASSERT(*st == TL_OK || (err.status == *st && (err.position == TL_NO_POSITION || err.position <= size)));
    tl_avro_close(&avro);
    return rows;
}

static void as_manifest(const uint8_t *data, size_t size)
{
    tli_iceberg_files f;
    tli_iceberg_manifest m;
    tl_limits limits = tl_limits_resolve(NULL);
    tl_metadata metadata;
    tl_error err;
    tl_head head;
    tl_files files;
    tl_columns columns;
    tl_file file;
    tl_column column;
    size_t i;
    memset(&m, 0, sizeof m);
    memset(&metadata, 0, sizeof metadata);
    memset(&head, 0, sizeof head);
    limits.decoded_bytes = 64u << 20;
    TIMELAKE_ASSERT(tli_iceberg_begin(&f, &metadata, &limits, NULL, &err) == TL_OK);
    if (tli_iceberg_add(&f, &m, data, size, &err) == TL_OK) {
        tl_status st = tli_iceberg_finish(&f, &head.document, tl_text("{}"), &err);
        TIMELAKE_ASSERT(st == TL_OK || st == TL_MISUSE || st == TL_LIMIT);
        if (st == TL_OK) {
            TIMELAKE_ASSERT(tl_head_files(&head, &files, &err) == TL_OK && files.count == f.file_count);
            TIMELAKE_ASSERT(tl_head_columns(&head, TL_COLUMNS_ALL, &columns, &err) == TL_OK);
            for (i = 0; i < files.count; i++)
                tl_files_get(&files, i, &file);
            for (i = 0; i < columns.count; i++) {
                tl_columns_get(&columns, i, &column);
                TIMELAKE_ASSERT(column.file < files.count);
            }
        }
        tl_head_free(&head);
    }
    tli_iceberg_end(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_limits limits = tl_limits_resolve(NULL);
    tli_iceberg_list list;
    tl_error err;
    tl_status st, again;
    uint64_t rows = read_rows(data, size, &st);
    TIMELAKE_ASSERT(read_rows(data, size, &again) == rows && again == st);
    if (tli_iceberg_read_list(&list, data, size, &limits, NULL, &err) == TL_OK) {
        TIMELAKE_ASSERT(list.count == rows && st == TL_OK);
        tli_iceberg_free_list(&list);
    }
    as_manifest(data, size);
    return 0;
}
