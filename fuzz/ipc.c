/* Arrow IPC streams: what opens takes no more memory than was said, passes the check of arrays, and written anew says
   the same; what we wrote is written again byte by byte. */
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

static size_t live, peak;

static void *allocate(void *context, size_t size)
{
    (void)context;
    live += size;
    peak = live > peak ? live : peak;
    return malloc(size);
}

static void deallocate(void *context, void *memory, size_t size)
{
    (void)context;
    live -= size;
    free(memory);
}

typedef struct opened {
    tli_store *store;
    tli_ipc_stream *stream;
    const struct ArrowArray **arrays; /* [batch * columns + column] */
} opened;

static void close_stream(opened *o)
{
    free((void *)o->arrays);
    tli_mem_store_drop(o->store);
}

/* Opens everything, unless something is wrong. */
static tl_status open_stream(opened *o, const void *bytes, size_t size)
{
    tl_allocator a;
    tl_limits limits;
    tl_error err;
    uint64_t need, once = 0;
    size_t before, columns;
    int32_t b, c;
    tl_status st;
    memset(&a, 0, sizeof a);
    memset(&limits, 0, sizeof limits);
    memset(o, 0, sizeof *o);
    a.allocate = allocate;
    a.deallocate = deallocate;
    limits.decoded_bytes = 16u << 20;
    limits.rows = 1u << 13;
    o->store = tli_mem_store_new(&a, limits.decoded_bytes, bytes, size, NULL, NULL, &err);
    st = tli_ipc_open(o->store, bytes, size, 0, &limits, NULL, &o->stream, &err);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(err.text != NULL && err.status == st && st != TL_MISUSE);
        return st;
    }
    need = tli_ipc_memory(o->stream, &once) + once;
    before = peak = live;
    columns = (size_t)o->stream->schema->n_children;
    o->arrays = (const struct ArrowArray **)calloc((size_t)o->stream->batch_count * columns + 1, sizeof(void *));
    for (b = 0; b < o->stream->batch_count; b++)
        for (c = 0; c < (int32_t)columns; c++) {
            const struct ArrowArray **at = &o->arrays[(size_t)b * columns + (size_t)c];
            st = tli_ipc_column(o->stream, b, c, at, &err);
            if (st != TL_OK) {
                TIMELAKE_ASSERT(err.text != NULL && err.status == st && st != TL_MISUSE);
                return st;
            }
            TIMELAKE_ASSERT((*at)->length == o->stream->batches[b].rows);
            TIMELAKE_ASSERT(tli_arrow_array_check(o->stream->schema->children[c], *at, NULL, &err) == TL_OK);
        }
    TIMELAKE_ASSERT(peak - before <= need);
    return TL_OK;
}

static void write_stream(tl_buffer *out, const opened *o)
{
    tl_error err;
    int32_t b;
    memset(out, 0, sizeof *out);
    TIMELAKE_ASSERT(tli_ipc_write_schema(out, o->stream->schema, tl_text(NULL), tl_text(NULL), &err) == TL_OK);
    for (b = 0; b < o->stream->batch_count; b++) {
        tl_status st = tli_ipc_write_batch(out, o->stream->schema, o->arrays + b * o->stream->schema->n_children,
                                           o->stream->batches[b].rows, NULL, &err);
        TIMELAKE_ASSERT(st == TL_OK);
    }
    TIMELAKE_ASSERT(tli_ipc_write_end(out, &err) == TL_OK);
}

/* Texts and flags, level by level; metadata as bytes. */
static void compare_schemas(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    int64_t i;
    size_t size = tli_arrow_metadata_size(a);
    TIMELAKE_ASSERT(strcmp(a->format, b->format) == 0 && strcmp(a->name, b->name) == 0 && a->flags == b->flags);
    TIMELAKE_ASSERT(tli_arrow_metadata_size(b) == size && (size == 0 || memcmp(a->metadata, b->metadata, size) == 0));
    TIMELAKE_ASSERT(a->n_children == b->n_children && (a->dictionary == NULL) == (b->dictionary == NULL));
    for (i = 0; i < a->n_children; i++)
        compare_schemas(a->children[i], b->children[i]);
    if (a->dictionary != NULL)
        compare_schemas(a->dictionary, b->dictionary);
}

/* What we wrote is read and written again through the public doors: not a byte changes. */
static void write_again(const tl_buffer *out)
{
    tl_document document;
    tl_buffer again;
    tl_error err;
    memset(&again, 0, sizeof again);
    TIMELAKE_ASSERT(tl_ipc_decode(&document, out->data, out->size, NULL, &err) == TL_OK);
    TIMELAKE_ASSERT(tl_ipc_encode(&again, tl_document_section(&document, tl_text("")), NULL, &err) == TL_OK);
    TIMELAKE_ASSERT(again.size == out->size && memcmp(again.data, out->data, out->size) == 0);
    tl_buffer_free(&again);
    tl_document_free(&document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    opened first, second;
    if (open_stream(&first, data, size) == TL_OK) {
        tl_buffer out;
        int32_t b, c, columns = (int32_t)first.stream->schema->n_children;
        write_stream(&out, &first);
        write_again(&out);
        TIMELAKE_ASSERT(open_stream(&second, out.data, out.size) == TL_OK);
        compare_schemas(first.stream->schema, second.stream->schema);
        TIMELAKE_ASSERT(first.stream->batch_count == second.stream->batch_count);
        for (b = 0; b < first.stream->batch_count; b++)
            for (c = 0; c < columns; c++)
                TIMELAKE_ASSERT(tl_compare_arrays(first.stream->schema->children[c], first.arrays[b * columns + c],
                                                  second.stream->schema->children[c], second.arrays[b * columns + c]));
        close_stream(&second);
        tl_buffer_free(&out);
    }
    close_stream(&first);
    return 0;
}
