/* The json codec: what decodes and opens encodes, decodes again to the same document, and encodes to the same bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes and opens everything. */
static tl_status load(tl_document *d, const void *data, size_t size, int limited)
{
    tl_limits limits;
    tl_error err;
    tl_status st;
    int32_t i;
    memset(&limits, 0, sizeof limits);
    limits.decoded_bytes = (uint64_t)64 << 20;
    limits.depth = limited ? 0 : 256;
    memset(d, 0, sizeof *d);
    d->store = tli_mem_store_new(NULL, limits.decoded_bytes, data, size, NULL, NULL, &err);
    if (d->store == NULL)
        return TL_NO_MEMORY;
    err.position = TL_NO_POSITION;
    st = tli_headjson_decode(d, data, size, 0, &limits, &err);
    for (i = 0; st == TL_OK && i < d->section_count; i++) {
        struct ArrowArray root;
        const void *validity;
        tl_section *s = &d->sections[i];
        st = tl_section_open(s, &err);
        if (st != TL_OK || s->schema->n_children == 0)
            continue;
        tli_doc_batch_array(s, 0, &root, &validity);
        TIMELAKE_ASSERT(tli_arrow_array_check(s->schema, &root, &limits, NULL) == TL_OK);
    }
    if (st != TL_OK) {
        TIMELAKE_ASSERT(err.position <= size || err.position == TL_NO_POSITION);
        tl_document_free(d);
    }
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_document d, back;
    tl_buffer out, again;
    tl_limits deep;
    tl_error err;
    tl_status st;
    memset(&deep, 0, sizeof deep);
    deep.depth = 256;
    if (load(&d, data, size, 1) != TL_OK)
        return 0;
    TIMELAKE_ASSERT(tl_json_check((const char *)data, size, &deep, NULL) == TL_OK);
    memset(&out, 0, sizeof out);
    memset(&again, 0, sizeof again);
    st = tli_headjson_encode(&out, &d, &err);
    TIMELAKE_ASSERT(st == TL_OK);
    if (st == TL_OK) {
        TIMELAKE_ASSERT(tl_json_check((const char *)out.data, out.size, &deep, NULL) == TL_OK);
        st = load(&back, out.data, out.size, 0);
        TIMELAKE_ASSERT(st == TL_OK || st == TL_LIMIT);
        if (st == TL_OK) {
            TIMELAKE_ASSERT(back.section_count == d.section_count && back.property_count == d.property_count);
            TIMELAKE_ASSERT(tli_headjson_encode(&again, &back, &err) == TL_OK);
            TIMELAKE_ASSERT(again.size == out.size && memcmp(again.data, out.data, out.size) == 0);
            tl_document_free(&back);
        }
    }
    tl_buffer_free(&again);
    tl_buffer_free(&out);
    tl_document_free(&d);
    return 0;
}
