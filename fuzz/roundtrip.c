/* Round trips: a document that decodes and opens is encoded in both codecs, and decodes from each to an equal document;
   or a codec says that it cannot hold it. What the typed views of layout 1 say, tl_head_write writes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TL_TEST_FN TLI_UNUSED static
#include "../tests/tl_compare.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int opens(tl_head *head)
{
    int32_t i;
    for (i = 0; i < head->document.section_count; i++)
        if (tl_section_open(&head->document.sections[i], NULL) != TL_OK)
            return 0;
    return 1;
}

/* The arrow codec takes the key `timelake.section` of a section's schema for itself. */
static int has_taken_key(const tl_head *head)
{
    int32_t i;
    for (i = 0; i < head->document.section_count; i++)
        if (tl_schema_metadata(head->document.sections[i].schema, tl_text("timelake.section")).data != NULL)
            return 1;
    return 0;
}

static void check_codec(tl_head *head, const char *codec, const tl_head_options *options)
{
    tl_buffer out, twice;
    tl_head again;
    tl_error err;
    tl_status st;
    memset(&out, 0, sizeof out);
    memset(&twice, 0, sizeof twice);
    st = tl_head_encode(&out, head->version, tl_text(codec), &head->document, options, &err);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(st == TL_UNSUPPORTED || st == TL_LIMIT);
        TIMELAKE_ASSERT(out.size == 0);
        tl_buffer_free(&out);
        return;
    }
    st = tl_head_decode(&again, out.data, out.size, options, &err);
    if (st != TL_OK)
        fprintf(stderr, "%s again: %s at %llu\n", codec, err.text, (unsigned long long)err.position);
    TIMELAKE_ASSERT(st == TL_OK);
    TIMELAKE_ASSERT(again.version == head->version);
    if (strcmp(codec, "arrow") != 0 || !has_taken_key(head)) {
        if (!tl_compare_documents(&head->document, &again.document)) {
            fprintf(stderr, "%s again: %s\n", codec, tl_compare_why);
            abort();
        }
    }
    /* what we wrote, read and written once more are the same bytes */
    TIMELAKE_ASSERT(tl_head_encode(&twice, head->version, tl_text(codec), &again.document, options, &err) == TL_OK);
    TIMELAKE_ASSERT(twice.size == out.size && memcmp(twice.data, out.data, out.size) == 0);
    tl_buffer_free(&twice);
    tl_head_free(&again);
    tl_buffer_free(&out);
}

static int same_file(const tl_file *a, const tl_file *b)
{
    size_t i;
    for (i = 0; i < a->split_count; i++)
        if (tl_file_split_offset(a, i) != tl_file_split_offset(b, i))
            return 0;
    return tl_span_equal(a->path, b->path) && a->size == b->size && a->records == b->records
        && a->snapshot_id == b->snapshot_id && a->sequence_number == b->sequence_number
        && a->file_sequence_number == b->file_sequence_number && a->has_partition == b->has_partition
        && a->partition == b->partition && a->has_sort_order_id == b->has_sort_order_id
        && a->sort_order_id == b->sort_order_id && a->has_split_offsets == b->has_split_offsets
        && a->split_count == b->split_count && a->added == b->added;
}

/* What the views say, written and read again, is what they said; inlined is what fits. */
static void check_write(const tl_head_parts *parts, const char *codec)
{
    tl_head_written written;
    tl_head again;
    tl_files files;
    tl_columns columns;
    tl_footers footers;
    tl_buffer out;
    tl_file file;
    tl_error err;
    tl_footer footer;
    uint64_t inlined = 0;
    size_t i;
    memset(&out, 0, sizeof out);
    memset(&footers, 0, sizeof footers);
    TIMELAKE_ASSERT(tl_head_write(&out, 1, tl_text(codec), parts, NULL, &written, &err) == TL_OK);
    TIMELAKE_ASSERT(tl_head_decode(&again, out.data, out.size, NULL, &err) == TL_OK);
    TIMELAKE_ASSERT(tl_head_files(&again, &files, &err) == TL_OK && files.count == parts->file_count);
    for (i = 0; i < files.count; i++) {
        tl_files_get(&files, i, &file);
        TIMELAKE_ASSERT(same_file(&file, &parts->files[i]));
    }
    TIMELAKE_ASSERT(tl_head_columns(&again, TL_COLUMNS_ALL, &columns, &err) == TL_OK);
    TIMELAKE_ASSERT(columns.count == parts->column_count);
    TIMELAKE_ASSERT(tl_head_footers(&again, &footers, &err) == (written.footers != 0 ? TL_OK : TL_ABSENT));
    TIMELAKE_ASSERT(footers.count == written.footers);
    for (i = 0; i < footers.count; i++) {
        tl_footers_get(&footers, i, &footer);
        inlined += footer.footer.size;
    }
    TIMELAKE_ASSERT(inlined + written.budget_left == parts->inline_bytes);
    tl_head_free(&again);
    tl_buffer_free(&out);
}

static void rewrite(tl_head *head, uint64_t budget)
{
    static tl_file file[256];
    static tl_column column[1024];
    static tl_footer footer[256];
    tl_head_parts parts;
    tl_files files;
    tl_columns columns;
    tl_footers footers;
    size_t i;
    memset(&parts, 0, sizeof parts);
    memset(&footers, 0, sizeof footers);
    if (tl_head_metadata(head, &parts.metadata, NULL) != TL_OK || tl_head_files(head, &files, NULL) != TL_OK
        || tl_head_columns(head, TL_COLUMNS_ALL, &columns, NULL) != TL_OK || files.count > 256 || columns.count > 1024)
        return;
    if (tl_head_footers(head, &footers, NULL) != TL_OK || footers.count > 256)
        footers.count = 0;
    for (i = 0; i < files.count; i++)
        tl_files_get(&files, i, &file[i]);
    for (i = 0; i < columns.count; i++)
        tl_columns_get(&columns, i, &column[i]);
    for (i = 0; i < footers.count; i++)
        tl_footers_get(&footers, i, &footer[i]);
    parts.files = file;
    parts.file_count = files.count;
    parts.columns = column;
    parts.column_count = columns.count;
    parts.footers = footer;
    parts.footer_count = footers.count;
    parts.inline_bytes = budget;
    check_write(&parts, "arrow");
    check_write(&parts, "json");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_head_options options, roomy;
    tl_head head;
    memset(&options, 0, sizeof options);
    memset(&roomy, 0, sizeof roomy);
    options.limits.decoded_bytes = 1u << 20;
    options.limits.rows = 10000;
    if (tl_head_decode(&head, data, size, &options, NULL) != TL_OK)
        return 0;
    if (opens(&head)) {
        check_codec(&head, "arrow", &roomy);
        check_codec(&head, "json", &roomy);
        rewrite(&head, (uint64_t)data[size - 1] * 64);
    }
    tl_head_free(&head);
    return 0;
}
