/* Formats, schema nodes, array nodes, builders, exports. Expected formats: "The Arrow C data interface", format strings. */
#include "tl_test.h"

static struct ArrowSchema leaf(const char *format)
{
    struct ArrowSchema s;
    memset(&s, 0, sizeof s);
    s.format = format;
    s.name = "";
    s.release = tli_arrow_schema_stays;
    return s;
}

typedef struct format_case {
    const char *format;
    tl_type_id id;
    int width, size, precision, scale, unit;
    const char *zone;
} format_case;

static const format_case formats[] = {
    {"n", TL_TYPE_NULL, 0, 0, 0, 0, 0, NULL},
    {"b", TL_TYPE_BOOL, 0, 0, 0, 0, 0, NULL},
    {"c", TL_TYPE_INT8, 1, 0, 0, 0, 0, NULL},
    {"C", TL_TYPE_UINT8, 1, 0, 0, 0, 0, NULL},
    {"s", TL_TYPE_INT16, 2, 0, 0, 0, 0, NULL},
    {"S", TL_TYPE_UINT16, 2, 0, 0, 0, 0, NULL},
    {"i", TL_TYPE_INT32, 4, 0, 0, 0, 0, NULL},
    {"I", TL_TYPE_UINT32, 4, 0, 0, 0, 0, NULL},
    {"l", TL_TYPE_INT64, 8, 0, 0, 0, 0, NULL},
    {"L", TL_TYPE_UINT64, 8, 0, 0, 0, 0, NULL},
    {"e", TL_TYPE_FLOAT16, 2, 0, 0, 0, 0, NULL},
    {"f", TL_TYPE_FLOAT32, 4, 0, 0, 0, 0, NULL},
    {"g", TL_TYPE_FLOAT64, 8, 0, 0, 0, 0, NULL},
    {"z", TL_TYPE_BINARY, 0, 0, 0, 0, 0, NULL},
    {"Z", TL_TYPE_LARGE_BINARY, 0, 0, 0, 0, 0, NULL},
    {"vz", TL_TYPE_BINARY_VIEW, 0, 0, 0, 0, 0, NULL},
    {"u", TL_TYPE_UTF8, 0, 0, 0, 0, 0, NULL},
    {"U", TL_TYPE_LARGE_UTF8, 0, 0, 0, 0, 0, NULL},
    {"vu", TL_TYPE_UTF8_VIEW, 0, 0, 0, 0, 0, NULL},
    {"d:19,10", TL_TYPE_DECIMAL128, 16, 0, 19, 10, 0, NULL},
    {"d:38,-3", TL_TYPE_DECIMAL128, 16, 0, 38, -3, 0, NULL},
    {"d:9,2,32", TL_TYPE_DECIMAL32, 4, 0, 9, 2, 0, NULL},
    {"d:18,2,64", TL_TYPE_DECIMAL64, 8, 0, 18, 2, 0, NULL},
    {"d:76,2,256", TL_TYPE_DECIMAL256, 32, 0, 76, 2, 0, NULL},
    {"w:42", TL_TYPE_FIXED_BINARY, 42, 42, 0, 0, 0, NULL},
    {"w:0", TL_TYPE_FIXED_BINARY, 0, 0, 0, 0, 0, NULL},
    {"tdD", TL_TYPE_DATE32, 4, 0, 0, 0, 0, NULL},
    {"tdm", TL_TYPE_DATE64, 8, 0, 0, 0, 1, NULL},
    {"tts", TL_TYPE_TIME32, 4, 0, 0, 0, 0, NULL},
    {"ttm", TL_TYPE_TIME32, 4, 0, 0, 0, 1, NULL},
    {"ttu", TL_TYPE_TIME64, 8, 0, 0, 0, 2, NULL},
    {"ttn", TL_TYPE_TIME64, 8, 0, 0, 0, 3, NULL},
    {"tss:", TL_TYPE_TIMESTAMP, 8, 0, 0, 0, 0, NULL},
    {"tsm:Europe/Oslo", TL_TYPE_TIMESTAMP, 8, 0, 0, 0, 1, "Europe/Oslo"},
    {"tsu:+05:30", TL_TYPE_TIMESTAMP, 8, 0, 0, 0, 2, "+05:30"},
    {"tsn:", TL_TYPE_TIMESTAMP, 8, 0, 0, 0, 3, NULL},
    {"tDs", TL_TYPE_DURATION, 8, 0, 0, 0, 0, NULL},
    {"tDm", TL_TYPE_DURATION, 8, 0, 0, 0, 1, NULL},
    {"tDu", TL_TYPE_DURATION, 8, 0, 0, 0, 2, NULL},
    {"tDn", TL_TYPE_DURATION, 8, 0, 0, 0, 3, NULL},
    {"tiM", TL_TYPE_INTERVAL_MONTHS, 4, 0, 0, 0, 0, NULL},
    {"tiD", TL_TYPE_INTERVAL_DAY_TIME, 8, 0, 0, 0, 0, NULL},
    {"tin", TL_TYPE_INTERVAL_MONTH_DAY_NANO, 16, 0, 0, 0, 0, NULL},
    {"+l", TL_TYPE_LIST, 0, 0, 0, 0, 0, NULL},
    {"+L", TL_TYPE_LARGE_LIST, 0, 0, 0, 0, 0, NULL},
    {"+w:123", TL_TYPE_FIXED_LIST, 0, 123, 0, 0, 0, NULL},
    {"+s", TL_TYPE_STRUCT, 0, 0, 0, 0, 0, NULL},
    {"+m", TL_TYPE_MAP, 0, 0, 0, 0, 0, NULL},
};

static void formats_both_ways(void)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 20, NULL, 0, NULL, NULL, &err);
    size_t i;
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const format_case *c = &formats[i];
        struct ArrowSchema s = leaf(c->format);
        tl_type t;
        const char *again = NULL;
        CHECK_STATUS(tl_type_of(&s, &t, &err), TL_OK, &err);
        CHECK_INT(t.id, c->id);
        CHECK_INT(t.width, c->width);
        CHECK_INT(t.size, c->size);
        CHECK_INT(t.precision, c->precision);
        CHECK_INT(t.scale, c->scale);
        CHECK_INT(t.unit, c->unit);
        CHECK(tl_span_equal(t.zone, tl_text(c->zone)));
        CHECK_STATUS(tli_arrow_format(store, &t, &again, &err), TL_OK, &err);
        CHECK_TEXT(again, strlen(again), c->format);
    }
    tli_mem_store_drop(store);
}

static void formats_refused(void)
{
    static const char *const bad[] = {"", "x", "nn", "uu", "d", "d:", "d:10", "d:10,", "d:10,2,", "d:10,2,16", "d:0,0",
        "d:39,0", "d:10,2,32", "d:10,2x", "w", "w:", "w:-1", "w:9999999999", "w:2147483648", "w:1x", "t", "td", "tdX", "tdDD",
        "tt", "ttD", "ts", "tsu", "tsx:", "tD", "ti", "tiX", "+", "+x", "+ll", "+w", "+w:", "+w:-2", "+u", "+v", "v", "vx",
        "vuu"};
    static const char *const unsupported[] = {"+ud:0,1", "+us:", "+r", "+vl", "+vL", "d:10,300"};
    tl_error err;
    tl_type t;
    size_t i;
    struct ArrowSchema s;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        s = leaf(bad[i]);
        if (!CHECK_STATUS(tl_type_of(&s, &t, &err), TL_MISUSE, &err))
            fprintf(stderr, "format '%s'\n", bad[i]);
    }
    for (i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        s = leaf(unsupported[i]);
        CHECK_STATUS(tl_type_of(&s, &t, &err), TL_UNSUPPORTED, &err);
    }
    s = leaf(NULL);
    CHECK_STATUS(tl_type_of(&s, &t, NULL), TL_MISUSE, NULL);
    CHECK_STATUS(tl_type_of(NULL, &t, NULL), TL_MISUSE, NULL);
}

static void metadata(void)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 20, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *s = tli_arrow_schema_new(store, "+s", tl_text("root"), 0, 0, &err);
    tl_span keys[3], values[3], k, v;
    int32_t negative = -1;
    keys[0] = tl_text("a");
    keys[1] = tl_text("");
    keys[2] = tl_text("a");
    values[0] = tl_text("1");
    values[1] = tl_text("two");
    values[2] = tl_text("");
    CHECK(tl_schema_metadata(s, tl_text("a")).data == NULL);
    CHECK_INT(tl_schema_metadata_at(s, 0, &k, &v), 0);
    CHECK_STATUS(tli_arrow_schema_metadata(store, s, keys, values, 3, &err), TL_OK, &err);
    CHECK_INT(tli_arrow_metadata_size(s), 4 + 6 * 4 + 1 + 1 + 3 + 1);
    v = tl_schema_metadata(s, tl_text("a"));
    CHECK_TEXT(v.data, v.size, "1");
    v = tl_schema_metadata(s, tl_text(""));
    CHECK_TEXT(v.data, v.size, "two");
    CHECK(tl_schema_metadata(s, tl_text("b")).data == NULL);
    CHECK_INT(tl_schema_metadata_at(s, 2, &k, &v), 1);
    CHECK(k.size == 1 && v.size == 0 && v.data != NULL);
    CHECK_INT(tl_schema_metadata_at(s, 3, &k, &v), 0);
    CHECK_INT(tl_schema_metadata_at(s, -1, &k, &v), 0);
    s->metadata = (const char *)&negative;
    CHECK(tl_schema_metadata(s, tl_text("a")).data == NULL);
    CHECK_INT(tli_arrow_metadata_size(s), 0);
    CHECK(tli_arrow_schema_new(store, "u", tli_text_span("a\0b", 3), 0, 0, &err) == NULL);
    CHECK_INT(err.status, TL_UNSUPPORTED);
    tli_mem_store_drop(store);
}

/* struct<a: int32, d: dictionary<int8, list<item: utf8>>, m: map<key: utf8, value: struct<x: null>>> */
static struct ArrowSchema *deep(tli_store *store)
{
    tl_error err;
    tl_span key = tl_text("k"), value = tl_text("v");
    struct ArrowSchema *root = tli_arrow_schema_new(store, "+s", tl_text(""), 0, 3, &err), *list, *entries, *x;
    root->children[0] = tli_arrow_schema_new(store, "i", tl_text("a"), ARROW_FLAG_NULLABLE, 0, &err);
    root->children[1] = tli_arrow_schema_new(store, "c", tl_text("d"), ARROW_FLAG_DICTIONARY_ORDERED, 0, &err);
    list = root->children[1]->dictionary = tli_arrow_schema_new(store, "+l", tl_text(""), 2, 1, &err);
    list->children[0] = tli_arrow_schema_new(store, "u", tl_text("item"), 2, 0, &err);
    root->children[2] = tli_arrow_schema_new(store, "+m", tl_text("m"), 2 | ARROW_FLAG_MAP_KEYS_SORTED, 1, &err);
    entries = root->children[2]->children[0] = tli_arrow_schema_new(store, "+s", tl_text("entries"), 0, 2, &err);
    entries->children[0] = tli_arrow_schema_new(store, "u", tl_text("key"), 0, 0, &err);
    x = entries->children[1] = tli_arrow_schema_new(store, "+s", tl_text("value"), 2, 1, &err);
    x->children[0] = tli_arrow_schema_new(store, "n", tl_text("x"), 2, 0, &err);
    CHECK_STATUS(tli_arrow_schema_metadata(store, x, &key, &value, 1, &err), TL_OK, &err);
    CHECK_STATUS(tli_arrow_schema_metadata(store, root, &value, &key, 1, &err), TL_OK, &err);
    return root;
}

static int schemas_equal(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    int64_t i;
    if (strcmp(a->format, b->format) != 0 || strcmp(a->name, b->name) != 0 || a->flags != b->flags
        || a->n_children != b->n_children || (a->dictionary == NULL) != (b->dictionary == NULL)
        || tli_arrow_metadata_size(a) != tli_arrow_metadata_size(b)
        || memcmp(a->metadata != NULL ? a->metadata : "", b->metadata != NULL ? b->metadata : "",
                  tli_arrow_metadata_size(a)) != 0)
        return 0;
    for (i = 0; i < a->n_children; i++)
        if (!schemas_equal(a->children[i], b->children[i]))
            return 0;
    return a->dictionary == NULL || schemas_equal(a->dictionary, b->dictionary);
}

static void schema_copies(void)
{
    tl_error err;
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_allocator a = tl_test_allocator(&m);
    tli_store *store = tli_mem_store_new(NULL, 1 << 20, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *schema = deep(store), copy, child, grandchild;
    const struct ArrowSchema *kept = NULL;
    uint32_t nodes = 0;
    tl_limits limits;
    memset(&limits, 0, sizeof limits);
    CHECK_STATUS(tli_arrow_schema_check(schema, NULL, &nodes, &err), TL_OK, &err);
    CHECK_INT(nodes, 10);
    CHECK_STATUS(tli_arrow_schema_keep(store, schema, &kept, &err), TL_OK, &err);
    CHECK(schemas_equal(kept, schema));
    CHECK_STATUS(tl_schema_copy(&copy, schema, &a, &err), TL_OK, &err);
    CHECK(schemas_equal(&copy, schema));
    copy.release(&copy);
    CHECK(copy.release == NULL);
    CHECK_INT(m.live, 0);
    /* a child and a child of it move out, and outlive the rest in any order */
    CHECK_STATUS(tl_schema_copy(&copy, schema, &a, &err), TL_OK, &err);
    child = *copy.children[2];
    copy.children[2]->release = NULL;
    grandchild = *child.children[0]->children[1];
    child.children[0]->children[1]->release = NULL;
    copy.release(&copy);
    CHECK_INT(m.live, 1);
    CHECK(schemas_equal(&grandchild, schema->children[2]->children[0]->children[1]));
    child.release(&child);
    CHECK_INT(m.live, 1);
    CHECK_TEXT(grandchild.children[0]->name, 1, "x");
    grandchild.release(&grandchild);
    CHECK_INT(m.live, 0);
    m.fail_at = m.calls + 1;
    CHECK_STATUS(tl_schema_copy(&copy, schema, &a, NULL), TL_NO_MEMORY, NULL);
    CHECK(copy.release == NULL);
    /* limits */
    limits.depth = 4;
    CHECK_STATUS(tli_arrow_schema_check(schema, &limits, NULL, &err), TL_OK, &err);
    limits.depth = 3;
    CHECK_STATUS(tli_arrow_schema_check(schema, &limits, NULL, &err), TL_LIMIT, &err);
    limits.depth = 0;
    limits.columns = 9;
    CHECK_STATUS(tli_arrow_schema_check(schema, &limits, NULL, &err), TL_OK, &err);
    limits.columns = 8;
    CHECK_STATUS(tli_arrow_schema_check(schema, &limits, NULL, &err), TL_LIMIT, &err);
    CHECK_INT(tl_schema_find(schema, tl_text("m")), 2);
    CHECK_INT(tl_schema_find(schema, tl_text("z")), -1);
    tli_mem_store_drop(store);
}

static void schemas_refused(void)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 20, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *s = deep(store), *list;
    s->children[1]->format = "u";
    CHECK_STATUS(tli_arrow_schema_check(s, NULL, NULL, &err), TL_MISUSE, &err);
    s = deep(store);
    s->children[0]->n_children = 1;
    CHECK_STATUS(tli_arrow_schema_check(s, NULL, NULL, &err), TL_MISUSE, &err);
    s = deep(store);
    s->children[2]->children[0]->n_children = 1;
    CHECK_STATUS(tli_arrow_schema_check(s, NULL, NULL, &err), TL_MISUSE, &err);
    s = deep(store);
    s->children[1] = NULL;
    CHECK_STATUS(tli_arrow_schema_check(s, NULL, NULL, &err), TL_MISUSE, &err);
    s = deep(store);
    s->children[0]->release = NULL;
    CHECK_STATUS(tli_arrow_schema_check(s, NULL, NULL, &err), TL_MISUSE, &err);
    s = deep(store);
    s->children[0]->format = "+r";
    CHECK_STATUS(tli_arrow_schema_check(s, NULL, NULL, &err), TL_UNSUPPORTED, &err);
    CHECK_STATUS(tli_arrow_schema_check(NULL, NULL, NULL, &err), TL_MISUSE, &err);
    list = tli_arrow_schema_new(store, "+l", tl_text(""), 2, 1, &err);
    list->children[0] = list; /* an endless one */
    CHECK_STATUS(tli_arrow_schema_check(list, NULL, NULL, &err), TL_LIMIT, &err);
    CHECK_STATUS(tl_schema_copy(s, list, NULL, &err), TL_LIMIT, &err);
    tli_mem_store_drop(store);
}

static const tl_test_case cases[] = {
    TL_TEST(formats_both_ways),
    TL_TEST(formats_refused),
    TL_TEST(metadata),
    TL_TEST(schema_copies),
    TL_TEST(schemas_refused),
};
TL_TEST_MAIN(cases)
