/* The json codec of the head: what Timelake wrote, every form it may be in, every Arrow type there and back, and what
   is refused where. Sources: fixtures/timelake/heads (written by Timelake 0.7), spec of the codec. */
#include "tl_test.h"
#include "tl_compare.h"

/* A document decoded from text; the text has to live as long. */
static tl_status decode_with(tl_document *d, const char *text, size_t size, const tl_allocator *a,
                             const tl_limits *limits, tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tl_status st;
    memset(d, 0, sizeof *d);
    if (a != NULL)
        d->allocator = *a;
    d->store = tli_mem_store_new(a, most.decoded_bytes, text, size, NULL, NULL, err);
    if (d->store == NULL)
        return err->status;
    st = tli_headjson_decode(d, text, size, 1000, limits, err);
    if (st != TL_OK)
        tl_document_free(d);
    return st;
}

TL_TEST_FN tl_status decode(tl_document *d, const char *text, tl_error *err)
{
    return decode_with(d, text, strlen(text), NULL, NULL, err);
}

/* Decodes and opens everything. */
static tl_status load_with(tl_document *d, const char *text, size_t size, const tl_allocator *a, tl_error *err)
{
    int32_t i;
    tl_status st = decode_with(d, text, size, a, NULL, err);
    for (i = 0; st == TL_OK && i < d->section_count; i++)
        st = tl_section_open(&d->sections[i], err);
    if (st != TL_OK)
        tl_document_free(d);
    return st;
}

/* Encodes, decodes, compares, and encodes again to the same bytes. */
static void round_trip(tl_document *d, const char *name)
{
    tl_buffer out, again;
    tl_document back;
    tl_error err;
    memset(&out, 0, sizeof out);
    memset(&again, 0, sizeof again);
    CHECK_STATUS(tli_headjson_encode(&out, d, &err), TL_OK, &err);
    CHECK_STATUS(tl_json_check((const char *)out.data, out.size, NULL, &err), TL_OK, &err);
    if (CHECK_STATUS(load_with(&back, (const char *)out.data, out.size, NULL, &err), TL_OK, &err)) {
        if (!tl_test_int(tl_compare_documents(d, &back), 1, name, __FILE__, __LINE__))
            fprintf(stderr, "  %s\n  %.*s\n", tl_compare_why, (int)(out.size > 3000 ? 3000 : out.size), (char *)out.data);
        CHECK_STATUS(tli_headjson_encode(&again, &back, &err), TL_OK, &err);
        CHECK(again.size == out.size && memcmp(again.data, out.data, out.size) == 0);
        tl_document_free(&back);
    } else {
        fprintf(stderr, "  %s: %.*s\n", name, (int)(out.size > 3000 ? 3000 : out.size), (char *)out.data);
    }
    tl_buffer_free(&again);
    tl_buffer_free(&out);
}

static const char *const heads[] = {
    "compressible", "empty", "field-metadata", "incompressible", "many-sections", "no-columns", "properties-only",
    "schema-metadata", "sliced", "type-date64", "type-decimal256", "type-dictionary", "type-duration",
    "type-fixed-list", "type-float16", "type-int16", "type-int8", "type-interval-ym", "type-large-binary",
    "type-large-utf8", "type-list-list", "type-map", "type-null", "type-time32s", "type-time64us", "type-ts-ms-tz",
    "type-ts-s", "type-uint16", "type-uint32", "type-uint64", "type-uint8", "type-utf8-view", "zoo-empty", "zoo-large",
    "zoo",
};

/* The body of a head in fixtures; NULL when there are none. */
static char *read_head(const char *name, size_t *size)
{
    char below[200];
    char *bytes;
    size_t skip;
    snprintf(below, sizeof below, "fixtures/timelake/heads/%s.json.head", name);
    bytes = tl_test_read(tl_test_shared(below), size);
    if (bytes == NULL)
        return NULL;
    skip = 14 + (size_t)(uint8_t)bytes[13];
    *size -= skip;
    memmove(bytes, bytes + skip, *size + 1);
    return bytes;
}

static void heads_decode_and_round_trip(void)
{
    size_t i;
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t size;
        char *body = read_head(heads[i], &size);
        tl_document d;
        tl_error err;
        if (body == NULL) {
            tl_test_skip("no fixtures");
            return;
        }
        if (CHECK_STATUS(load_with(&d, body, size, NULL, &err), TL_OK, &err)) {
            round_trip(&d, heads[i]);
            tl_document_free(&d);
        } else {
            fprintf(stderr, "  %s: %.100s\n", heads[i], err.position >= 1000 && err.position - 1000 < size ? body + err.position - 1000 : "");
        }
        free(body);
    }
}

static const tl_test_case cases[] = {
    TL_TEST(heads_decode_and_round_trip),
};
TL_TEST_MAIN(cases)
