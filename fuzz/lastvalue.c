/* Last-value indexes: a table's metadata and rows, an Arrow stream or a Parquet file. Asserted: what merges is valid
   Arrow of the table's schema, sorted by the series key, one row per series; merged again, alone or with itself, it
   stays as it is; nothing leaks. Input: two bytes (little-endian) that tell how long the metadata is, the metadata, the
   rows. The first batch of a stream is the base, the others are the newest rows. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#ifndef TLI_KEEP_MACROS
#define TLI_KEEP_MACROS
#endif
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TL_TEST_FN TLI_UNUSED static
#include "../tests/tl_compare.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BATCHES = 16 };

typedef struct made {
    struct ArrowSchema schema;
    struct ArrowArray array;
} made;

static tl_status merge(const tl_metadata *m, const tl_rows *base, const tl_rows *newest, made *out)
{
    tl_limits limits;
    tl_error err;
    tl_status st;
    memset(&limits, 0, sizeof limits);
    limits.decoded_bytes = 64 << 20;
    st = tl_last_values_merge(m, base, newest, &limits, NULL, &out->schema, &out->array, &err);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(err.status == st && err.text != NULL && out->schema.release == NULL
                        && out->array.release == NULL);
        return st;
    }
    TIMELAKE_ASSERT(tli_arrow_schema_check(&out->schema, NULL, NULL, &err) == TL_OK);
    TIMELAKE_ASSERT(tli_arrow_array_check(&out->schema, &out->array, NULL, &err) == TL_OK);
    return st;
}

static void drop(made *m)
{
    m->array.release(&m->array);
    m->schema.release(&m->schema);
}

/* Rows that were merged: nothing more becomes of them. */
static void check_again(const tl_metadata *m, made *once)
{
    const struct ArrowArray *batch = &once->array;
    tl_rows rows;
    made again;
    int with;
    rows.schema = &once->schema;
    rows.batches = &batch;
    rows.count = 1;
    for (with = 0; with < 3; with++) {
        tl_status st = merge(m, with != 1 ? &rows : NULL, with != 0 ? &rows : NULL, &again);
        TIMELAKE_ASSERT(st == TL_OK || st == TL_LIMIT);
        if (st != TL_OK)
            continue;
        TIMELAKE_ASSERT(tl_compare_schemas(&once->schema, &again.schema)
                        && tl_compare_arrays(&once->schema, &once->array, &again.schema, &again.array));
        drop(&again);
    }
}

static void merge_all(const tl_metadata *m, tl_section *section)
{
    struct ArrowArray batches[BATCHES];
    const struct ArrowArray *pointers[BATCHES];
    tl_rows base, newest;
    made once;
    int32_t i, n = 0;
    while (n < section->batch_count && n < BATCHES
           && tl_section_export(section, n, NULL, &batches[n], NULL) == TL_OK) {
        pointers[n] = &batches[n];
        n++;
    }
    base.schema = newest.schema = section->schema;
    base.batches = pointers;
    base.count = n > 1;
    newest.batches = pointers + (n > 1);
    newest.count = (size_t)(n - (n > 1));
    if (n != 0 && merge(m, &base, &newest, &once) == TL_OK) {
        check_again(m, &once);
        drop(&once);
    }
    for (i = 0; i < n; i++)
        batches[i].release(&batches[i]);
}

/* An index file. */
static void merge_file(const tl_metadata *m, const uint8_t *data, size_t size)
{
    static const tl_compression none = {NULL, NULL, NULL, NULL};
    tl_limits limits = tl_limits_resolve(NULL);
    tl_allocator a = tli_mem_allocator(NULL);
    tl_index_codec codec;
    tli_indexplan_file *file;
    tl_error err;
    made once;
    memset(&codec, 0, sizeof codec);
    limits.decoded_bytes = 64 << 20;
    limits.rows = 4096;
    file = tli_indexplan_decode(&codec, data, size, &none, &limits, &a, &err);
    if (file == NULL) {
        TIMELAKE_ASSERT(err.status != TL_OK && err.status != TL_MISUSE);
        return;
    }
    if (merge(m, &file->rows, NULL, &once) == TL_OK) {
        check_again(m, &once);
        drop(&once);
    }
    tli_indexplan_close(file, &a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t text = size < 2 ? 0 : (size_t)data[0] | (size_t)data[1] << 8;
    tl_ipc_options o;
    tl_document document;
    tl_metadata m;
    struct ArrowSchema schema;
    tl_error err;
    if (size < 2 || text > size - 2
        || tl_metadata_parse(&m, (const char *)data + 2, text, NULL, NULL, &err) != TL_OK)
        return 0;
    if (tl_metadata_schema(&m, &schema, NULL, &err) == TL_OK) {
        TIMELAKE_ASSERT(schema.n_children == (int64_t)m.field_count);
        schema.release(&schema);
    }
    if (size - 2 - text >= 4 && memcmp(data + 2 + text, "PAR1", 4) == 0) {
        merge_file(&m, data + 2 + text, size - 2 - text);
        tl_metadata_free(&m);
        return 0;
    }
    memset(&o, 0, sizeof o);
    o.limits.decoded_bytes = 64 << 20;
    o.limits.rows = 4096;
    if (tl_ipc_decode(&document, data + 2 + text, size - 2 - text, &o, &err) == TL_OK) {
        merge_all(&m, &document.sections[0]);
        tl_document_free(&document);
    }
    tl_metadata_free(&m);
    return 0;
}
