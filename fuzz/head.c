/* Heads: any bytes decode or not; what decodes opens or not, is read by the views without a fault, takes no more memory
   than tl_head_memory says, and says the same when it is asked again. */
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

static uint64_t sum;

static void read_span(tl_span s)
{
    size_t i;
    for (i = 0; i < s.size; i++)
        sum += (unsigned char)s.data[i];
}

static void read_views(tl_head *head)
{
    tl_files files;
    tl_columns columns;
    tl_footers footers;
    tl_section *last;
    tl_span text;
    size_t i, k;
    if (tl_head_metadata(head, &text, NULL) == TL_OK) {
        read_span(text);
        TIMELAKE_ASSERT(tli_text_utf8(text.data, text.size) == text.size);
    }
    if (tl_head_files(head, &files, NULL) == TL_OK)
        for (i = 0; i <= files.count && i < 1000; i++) {
            tl_file f;
            tl_files_get(&files, i, &f);
            read_span(f.path);
            for (k = 0; k < f.split_count && k < 1000; k++)
                sum += (uint64_t)tl_file_split_offset(&f, f.split_count - 1 - k);
            sum += f.size + f.records + (uint64_t)f.partition;
        }
    if (tl_head_columns(head, TL_COLUMNS_BOUNDS, &columns, NULL) == TL_OK
        && tl_head_columns(head, TL_COLUMNS_ALL, &columns, NULL) == TL_OK)
        for (i = 0; i <= columns.count && i < 1000; i++) {
            tl_column c;
            tl_columns_get(&columns, i, &c);
            TIMELAKE_ASSERT(i == columns.count
                            || tl_document_section(&head->document, tl_text("files"))->rows > c.file);
            read_span(c.lower);
            read_span(c.upper);
            sum += c.values + c.nulls + c.nans + c.size;
        }
    if (tl_head_footers(head, &footers, NULL) == TL_OK)
        for (i = 0; i <= footers.count && i < 1000; i++) {
            tl_footer f;
            tl_footers_get(&footers, i, &f);
            read_span(f.path);
            read_span(f.footer);
        }
    (void)tl_head_last_values(head, &last, NULL);
}

/* The status of each section in turn, mixed into one number. */
static uint64_t open_all(tl_head *head)
{
    uint64_t all = 0;
    int32_t i;
    for (i = 0; i < head->document.section_count; i++) {
        tl_error err;
        tl_status st = tl_section_open(&head->document.sections[i], &err);
        TIMELAKE_ASSERT(st == TL_OK || (err.status == st && err.text != NULL));
        TIMELAKE_ASSERT(st != TL_NO_MEMORY && st != TL_MISUSE && st != TL_BLOCK_FULL);
        all = all * 31 + (uint64_t)st;
    }
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_head_options options;
    tl_header header;
    tl_head head, again;
    tl_error err;
    tl_status st, peek = tl_head_peek(&header, data, size, &err);
    uint64_t opened;
    size_t need;
    memset(&options, 0, sizeof options);
    options.limits.decoded_bytes = 16u << 20;
    st = tl_head_decode(&head, data, size, &options, &err);
    TIMELAKE_ASSERT(st == TL_OK || (err.status == st && err.text != NULL));
    TIMELAKE_ASSERT(st != TL_NO_MEMORY && st != TL_MISUSE && st != TL_ABSENT);
    TIMELAKE_ASSERT((peek == TL_OK) == (st != TL_NOT_A_HEAD));
    if (st != TL_OK) {
        TIMELAKE_ASSERT(head.document.store == NULL);
        TIMELAKE_ASSERT(tl_head_memory(data, size, &options, &need, NULL) == st);
        return 0;
    }
    TIMELAKE_ASSERT(head.version == header.version);
    opened = open_all(&head);
    read_views(&head);
    TIMELAKE_ASSERT(open_all(&head) == opened);
    TIMELAKE_ASSERT(tl_head_memory(data, size, &options, &need, &err) == TL_OK);
    if (need < 24u << 20) {
        void *memory = malloc(need);
        options.allocator = tl_block(memory, need);
        TIMELAKE_ASSERT(tl_head_decode(&again, data, size, &options, &err) == TL_OK);
        TIMELAKE_ASSERT(open_all(&again) == opened);
        read_views(&again);
        TIMELAKE_ASSERT(tl_block_peak(&options.allocator) <= need);
        tl_head_free(&again);
        free(memory);
    }
    tl_head_free(&head);
    return 0;
}
