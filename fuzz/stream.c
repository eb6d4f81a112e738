/* Arrow IPC streams as documents: what opens is handed out whole, and as a section of another document and as a stream
   written anew it says the same, and is written as a Parquet file; bodies that are given away are released once. */
#include "../tests/tl_test.h"

#include "../tests/tl_compare.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int releases;

static void release(void *context, const void *data, size_t size)
{
    (void)context;
    (void)size;
    releases++;
    free((void *)(uintptr_t)data);
}

/* Exports every batch, adds them to another document, writes that, and reads it back. */
static void hand_over(tl_section *section)
{
    struct ArrowArray *out = (struct ArrowArray *)calloc((size_t)section->batch_count + 1, sizeof *out);
    const struct ArrowArray **batches = (const struct ArrowArray **)calloc((size_t)section->batch_count + 1,
                                                                           sizeof *batches);
    struct ArrowSchema schema;
    tl_document other, again;
    tl_buffer bytes;
    tl_error err;
    int32_t i;
    tl_status st;
    memset(&other, 0, sizeof other);
    memset(&bytes, 0, sizeof bytes);
    TIMELAKE_ASSERT(tl_schema_copy(&schema, section->schema, NULL, NULL) == TL_OK);
    for (i = 0; i < section->batch_count; i++) {
        TIMELAKE_ASSERT(tl_section_export(section, i, NULL, &out[i], NULL) == TL_OK);
        batches[i] = &out[i];
    }
    st = tl_document_add(&other, tl_text("x"), &schema, batches, section->batch_count, &err);
    /* the format lets metadata be any bytes, documents do not */
    TIMELAKE_ASSERT(st == TL_OK || strcmp(err.text, "a name or metadata that is not UTF-8") == 0);
    if (st == TL_OK) {
        TIMELAKE_ASSERT(tl_compare_section(section, &other.sections[0]));
        TIMELAKE_ASSERT(tl_ipc_encode(&bytes, &other.sections[0], NULL, NULL) == TL_OK);
        TIMELAKE_ASSERT(tl_ipc_decode(&again, bytes.data, bytes.size, NULL, NULL) == TL_OK);
        TIMELAKE_ASSERT(tl_compare_section(section, &again.sections[0]));
        tl_document_free(&again);
    }
    bytes.size = 0; /* as a Parquet file, if it has only columns of such */
    st = tl_parquet_write(&bytes, &schema, batches, section->batch_count, NULL, &err);
    TIMELAKE_ASSERT((st == TL_OK && bytes.size > 12) || (st == TL_UNSUPPORTED && bytes.size == 0));
    tl_buffer_free(&bytes);
    tl_document_free(&other);
    for (i = 0; i < section->batch_count; i++)
        out[i].release(&out[i]);
    schema.release(&schema);
    free(out);
    free((void *)batches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_ipc_options options;
    tl_document d;
    tl_error err;
    uint8_t *body = (uint8_t *)malloc(size > 0 ? size : 1);
    memset(&options, 0, sizeof options);
    options.limits.decoded_bytes = 16u << 20;
    options.limits.rows = 1u << 12;
    if (size % 2 == 0) {
        options.release = release;
    }
    if (size > 0)
        memcpy(body, data, size);
    releases = 0;
    if (tl_ipc_decode(&d, body, size, &options, &err) == TL_OK) {
        if (tl_section_open(&d.sections[0], &err) == TL_OK)
            hand_over(&d.sections[0]);
        tl_document_free(&d);
    }
    TIMELAKE_ASSERT(releases == (options.release != NULL));
    if (options.release == NULL)
        free(body);
    return 0;
}
