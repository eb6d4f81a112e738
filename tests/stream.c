/* Arrow IPC streams as documents: what goes in comes out, bodies are kept or copied as they should be. */
#include "tl_test.h"

#include "tl_compare.h"
#include "tl_table.h"

/* A document with a section of `rows` rows, in two batches. */
static void table_document(tl_document *d, const tl_allocator *allocator, int64_t rows)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 26, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *schema = tl_table_schema(store);
    struct ArrowArray *array = NULL, slices[2];
    const struct ArrowArray *batches[2];
    tl_section *s;
    memset(d, 0, sizeof *d);
    if (allocator != NULL)
        d->allocator = *allocator;
    CHECK_STATUS(tl_table_array(store, schema, 0, rows, &array, &err), TL_OK, &err);
    slices[0] = slices[1] = *array;
    slices[0].length = slices[1].offset = rows / 3;
    slices[1].length = rows - rows / 3;
    batches[0] = &slices[0];
    batches[1] = &slices[1];
    CHECK_STATUS(tl_document_add(d, tl_text("table"), schema, batches, 2, &err), TL_OK, &err);
    s = tl_document_section(d, tl_text("table"));
    s->store = store; /* the arrays live there: free_table finds it */
}

static void free_table(tl_document *d)
{
    tli_store *store = d->sections[0].store;
    tl_document_free(d);
    tli_mem_store_drop(store);
}

static int releases;

static void release_bytes(void *context, const void *data, size_t size)
{
    (void)size;
    CHECK(context == &releases);
    releases++;
    free((void *)(uintptr_t)data);
}

/* Bytes in memory of their own, `shift` past a multiple of 16. */
static uint8_t *placed(const tl_buffer *b)
{
    uint8_t *copy = (uint8_t *)malloc(b->size > 0 ? b->size : 1);
    if (b->size > 0)
        memcpy(copy, b->data, b->size);
    return copy;
}

static void round_trip(void)
{
    tl_document d, again;
    tl_buffer out;
    tl_error err;
    tl_ipc_options options;
    struct ArrowSchema schema;
    struct ArrowArray array;
    const struct ArrowArray *column;
    uint8_t *bytes;
    memset(&out, 0, sizeof out);
    memset(&options, 0, sizeof options);
    table_document(&d, NULL, 100);
    CHECK_STATUS(tl_ipc_encode(&out, &d.sections[0], NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_ipc_decode(&again, out.data, out.size, NULL, &err), TL_OK, &err);
    CHECK_INT(again.section_count, 1);
    CHECK_INT(again.property_count, 0);
    CHECK(again.sections[0].name.data != NULL && again.sections[0].name.size == 0);
    CHECK_INT(again.sections[0].batch_count, 2);
    CHECK_INT(again.sections[0].rows, 100);
    CHECK(again.sections[0].batches[0].columns == NULL);
    CHECK_SAME(tl_compare_section(&d.sections[0], &again.sections[0]));
    /* borrowed: copied on export */
    CHECK_STATUS(tl_section_export(&again.sections[0], 1, &schema, &array, &err), TL_OK, &err);
    CHECK((const uint8_t *)array.children[4]->buffers[1] < out.data
          || (const uint8_t *)array.children[4]->buffers[1] >= out.data + out.size);
    tl_document_free(&again);
    CHECK_STATUS(tli_arrow_array_check(&schema, &array, NULL, &err), TL_OK, &err);
    array.release(&array);
    schema.release(&schema);
    /* given away: shared, and released with the last export */
    releases = 0;
    options.release = release_bytes;
    options.release_context = &releases;
    bytes = placed(&out);
    CHECK_STATUS(tl_ipc_decode(&again, bytes, out.size, &options, &err), TL_OK, &err);
    CHECK_STATUS(tl_section_column(&again.sections[0], 0, 4, &column, &err), TL_OK, &err);
    CHECK_STATUS(tl_section_export(&again.sections[0], 0, NULL, &array, &err), TL_OK, &err);
    CHECK(TLI_BIG_ENDIAN /* where values are swapped, into memory of their own */
          || ((const uint8_t *)array.children[4]->buffers[1] >= bytes
              && (const uint8_t *)array.children[4]->buffers[1] < bytes + out.size));
    tl_document_free(&again);
    CHECK_INT(releases, 0);
    CHECK_INT(tli_arrow_null_count(array.children[4]), 4);
    array.release(&array);
    CHECK_INT(releases, 1);
    tl_buffer_free(&out);
    free_table(&d);
}

/* Whatever decode answers, bytes that were given away are released once; a failure holds nothing. */
static void failures(void)
{
    tl_document d, again;
    tl_buffer out, most;
    tl_error err;
    tl_ipc_options options;
    size_t size;
    long at;
    memset(&out, 0, sizeof out);
    memset(&options, 0, sizeof options);
    table_document(&d, NULL, 10);
    CHECK_STATUS(tl_ipc_encode(&out, &d.sections[0], NULL, &err), TL_OK, &err);
    options.release = release_bytes;
    options.release_context = &releases;
    for (size = 0; size < out.size; size += size < 64 || size + 64 > out.size ? 1 : 37) {
        tl_buffer part = out;
        tl_status st;
        part.size = size;
        releases = 0;
        st = tl_ipc_decode(&again, placed(&part), size, &options, &err);
        CHECK(st == TL_OK || (again.store == NULL && again.section_count == 0));
        if (st == TL_OK)
            tl_document_free(&again);
        CHECK_INT(releases, 1);
    }
    CHECK_STATUS(tl_ipc_decode(&again, NULL, 0, NULL, &err), TL_TRUNCATED, &err);
    CHECK_STATUS(tl_ipc_decode(&again, NULL, 5, NULL, NULL), TL_MISUSE, NULL);
    options.limits.object_bytes = out.size - 1;
    CHECK_STATUS(tl_ipc_decode(&again, placed(&out), out.size, &options, &err), TL_LIMIT, &err);
    options.limits.object_bytes = 0;
    for (at = 1; at < 2000; at++) {
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_status st;
        m.fail_at = at;
        options.allocator = tl_test_allocator(&m);
        releases = 0;
        memset(&most, 0, sizeof most);
        most.allocator = options.allocator;
        st = tl_ipc_decode(&again, placed(&out), out.size, &options, &err);
        if (st == TL_OK)
            st = tl_section_open(&again.sections[0], &err);
        if (st == TL_OK)
            st = tl_ipc_encode(&most, &again.sections[0], NULL, &err);
        CHECK(st == TL_OK || (st == TL_NO_MEMORY && most.size == 0));
        tl_buffer_free(&most);
        tl_document_free(&again);
        CHECK_INT(m.live, 0);
        CHECK_INT(releases, 1);
        if (m.calls < at)
            break;
    }
    CHECK(at > 5 && at < 2000);
    CHECK_STATUS(tl_ipc_encode(&out, NULL, NULL, &err), TL_ABSENT, &err);
    tl_buffer_free(&out);
    free_table(&d);
}

static const tl_test_case cases[] = {
    TL_TEST(round_trip),
    TL_TEST(failures),
};
TL_TEST_MAIN(cases)
