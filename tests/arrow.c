/* Formats, schema nodes, array nodes, builders, exports. Expected formats: "The Arrow C data interface". */
#include "tl_test.h"

#include "tl_compare.h"
#include "tl_table.h"

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
        "d:39,0", "d:10,2,32", "d:10,2x", "w", "w:", "w:-1", "w:9999999999", "w:2147483648", "w:1x", "t", "td", "tdX",
            "tdDD",
        "tt", "ttD", "ts", "tsu", "tsx:", "tD", "ti", "tiX", "+", "+x", "+ll", "+w", "+w:", "+w:-2", "+u", "+v", "v",
            "vx",
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

/* ---- builders, checks and exports over a table of every layout ---- */

static void builders(void)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 24, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *schema = tl_table_schema(store);
    struct ArrowArray *a = NULL, *again = NULL, *tail = NULL, slice;
    const struct ArrowArray *c;
    size_t i;
    CHECK_STATUS(tl_table_array(store, schema, 0, 100, &a, &err), TL_OK, &err);
    CHECK_STATUS(tli_arrow_array_check(schema, a, NULL, &err), TL_OK, &err);
    CHECK_INT(a->length, 100);
    CHECK_INT(a->null_count, 0);
    for (i = 0; i <= TL_TABLE_COLUMNS; i++) {
        CHECK_INT(a->children[i]->length, 100);
        CHECK_INT(a->children[i]->null_count, i == 0 ? 100 : 14);
        CHECK(tli_arrow_valid(a->children[i], 6) == 0 && tli_arrow_valid(a->children[i], 7) == (i != 0));
    }
    c = a->children[14]; /* the struct: nulls reach its children */
    CHECK_INT(c->children[0]->null_count, 14);
    CHECK_INT(c->children[1]->null_count, 14);
    c = a->children[13];
    CHECK_INT(c->children[0]->length, 200);
    CHECK_INT(c->children[0]->null_count, 28);
    c = a->children[10];
    CHECK_INT(c->n_buffers, 4);
    CHECK_STATUS(tl_table_array(store, schema, 0, 100, &again, &err), TL_OK, &err);
    CHECK_SAME(tl_compare_arrays(schema, a, schema, again));
    /* rows 40.. of the one are the other */
    CHECK_STATUS(tl_table_array(store, schema, 40, 60, &tail, &err), TL_OK, &err);
    slice = *a;
    slice.offset = 40;
    slice.length = 60;
    CHECK_STATUS(tli_arrow_array_check(schema, &slice, NULL, &err), TL_OK, &err);
    CHECK_SAME(tl_compare_arrays(schema, &slice, schema, tail));
    slice.offset = 39;
    CHECK(!tl_compare_arrays(schema, &slice, schema, tail));
    CHECK_STATUS(tl_table_array(store, schema, 0, 0, &a, &err), TL_OK, &err);
    CHECK_STATUS(tli_arrow_array_check(schema, a, NULL, &err), TL_OK, &err);
    tli_mem_store_drop(store);
}

static void builders_refuse(void)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 24, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *schema = tli_arrow_schema_new(store, "+s", tl_text(""), 0, 1, &err), *list;
    tli_build_tree *b = NULL;
    struct ArrowArray *a = NULL;
    list = schema->children[0] = tli_arrow_schema_new(store, "+w:2000000000", tl_text(""), 2, 1, &err);
    list = list->children[0] = tli_arrow_schema_new(store, "+w:2000000000", tl_text(""), 2, 1, &err);
    list = list->children[0] = tli_arrow_schema_new(store, "+w:2000000000", tl_text(""), 2, 1, &err);
    list->children[0] = tli_arrow_schema_new(store, "u", tl_text(""), 2, 0, &err);
    CHECK_STATUS(tli_build_begin(store, schema, NULL, &b, &err), TL_OK, &err);
    tli_build_count_null(b->nodes + 1);
    tli_build_count(b->nodes);
    CHECK_STATUS(tli_build_allocate(b, &err), TL_LIMIT, &err);
    /* counted otherwise than filled */
    schema->children[0] = tli_arrow_schema_new(store, "c", tl_text(""), 2, 0, &err);
    CHECK_STATUS(tli_build_begin(store, schema, NULL, &b, &err), TL_OK, &err);
    tli_build_count(b->nodes + 1);
    CHECK_STATUS(tli_build_allocate(b, &err), TL_CORRUPT, &err);
    tli_build_count(b->nodes);
    CHECK_STATUS(tli_build_allocate(b, &err), TL_OK, &err);
    CHECK_STATUS(tli_build_finish(b, &a, &err), TL_MISUSE, &err);
    tli_mem_store_drop(store);
}

static void exports(void)
{
    tl_error err;
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_allocator allocator = tl_test_allocator(&m);
    tli_store *keeps = tli_mem_store_new(NULL, 1 << 24, NULL, 0, NULL, NULL, &err);
    tli_store *store = tli_mem_store_new(&allocator, 1 << 24, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *schema = tl_table_schema(keeps);
    struct ArrowArray *a = NULL, *same = NULL, out, child, grandchild, twice;
    CHECK_STATUS(tl_table_array(store, schema, 0, 50, &a, &err), TL_OK, &err);
    CHECK_STATUS(tl_table_array(keeps, schema, 0, 50, &same, &err), TL_OK, &err);
    CHECK_STATUS(tli_arrow_export(store, schema, a, &out, &err), TL_OK, &err);
    CHECK(out.children[4]->buffers[1] == a->children[4]->buffers[1]); /* shared */
    CHECK_SAME(tl_compare_arrays(schema, &out, schema, same));
    CHECK_STATUS(tli_arrow_array_check(schema, &out, NULL, &err), TL_OK, &err);
    /* an export of an export: not this store's memory, so a copy */
    CHECK_STATUS(tli_arrow_export(keeps, schema, &out, &twice, &err), TL_OK, &err);
    CHECK(twice.children[4]->buffers[1] != a->children[4]->buffers[1]);
    tli_mem_store_drop(store);
    CHECK_SAME(tl_compare_arrays(schema, &out, schema, same));
    child = *out.children[15];
    out.children[15]->release = NULL;
    grandchild = *child.children[0]->children[0];
    child.children[0]->children[0]->release = NULL;
    out.children[TL_TABLE_COLUMNS]->release(out.children[TL_TABLE_COLUMNS]); /* released by itself, in place */
    out.release(&out);
    CHECK(out.release == NULL);
    CHECK_SAME(tl_compare_arrays(schema->children[15]->children[0]->children[0], &grandchild,
                                 schema->children[15]->children[0]->children[0],
                                     same->children[15]->children[0]->children[0]));
    child.release(&child);
    CHECK(m.live > 0);
    CHECK_SAME(tl_compare_arrays(schema->children[15]->children[0]->children[0], &grandchild,
                                 schema->children[15]->children[0]->children[0],
                                     same->children[15]->children[0]->children[0]));
    grandchild.release(&grandchild);
    CHECK_INT(m.live, 0);
    tli_mem_store_drop(keeps);
    keeps = tli_mem_store_new(NULL, 1 << 24, NULL, 0, NULL, NULL, &err);
    schema = tl_table_schema(keeps);
    CHECK_STATUS(tl_table_array(keeps, schema, 0, 50, &same, &err), TL_OK, &err);
    CHECK_SAME(tl_compare_arrays(schema, &twice, schema, same));
    twice.release(&twice);
    tli_mem_store_drop(keeps);
}

static int body_released;

static void release_body(void *context, const void *data, size_t size)
{
    (void)context;
    (void)size;
    body_released++;
    free((void *)(uintptr_t)data);
}

/* A column whose values lie in the body: shared when the body was given away and lies aligned. */
static void exports_of_a_body(void)
{
    int given, misaligned;
    for (given = 0; given < 2; given++)
        for (misaligned = 0; misaligned < 2; misaligned++) {
            tl_error err;
            uint8_t *body = (uint8_t *)malloc(64 + 8), *values = body + 8 + misaligned;
            tli_store *store = tli_mem_store_new(NULL, 1 << 20, body, 64, given ? release_body : NULL, NULL, &err);
            struct ArrowSchema s = leaf("i");
            struct ArrowArray *a = tli_arrow_array_new(store, 2, 0, &err), out;
            int shared;
            body_released = 0;
            tli_bits_put32(values, 7);
            tli_bits_put32(values + 4, 8);
            a->buffers[1] = values;
            a->length = 2;
            CHECK_STATUS(tli_arrow_export(store, &s, a, &out, &err), TL_OK, &err);
            shared = out.buffers[1] == values;
            CHECK_INT(shared, given && !misaligned);
            CHECK(((uintptr_t)out.buffers[1] & 7) == 0);
            tli_mem_store_drop(store);
            CHECK_INT(body_released, 0);
            if (!given)
                memset(body, 0, 64);
            CHECK_INT(tli_bits_u32((const uint8_t *)out.buffers[1] + 4), 8);
            out.release(&out);
            CHECK_INT(body_released, given);
            if (!given)
                free(body);
        }
}

static void allocations_fail(void)
{
    long at;
    for (at = 1; at < 200; at++) {
        tl_error err;
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_allocator allocator = tl_test_allocator(&m);
        tli_store *plain = tli_mem_store_new(NULL, 1 << 24, NULL, 0, NULL, NULL, &err), *store;
        struct ArrowSchema *schema = tl_table_schema(plain);
        struct ArrowArray *a = NULL, out;
        tl_status st = TL_NO_MEMORY;
        m.fail_at = at;
        out.release = NULL;
        store = tli_mem_store_new(&allocator, 1 << 24, NULL, 0, NULL, NULL, &err);
        if (store != NULL)
            st = tl_table_array(store, schema, 0, 2000, &a, &err);
        if (st == TL_OK)
            st = tli_arrow_export(store, schema, a, &out, &err);
        tli_mem_store_drop(store);
        if (st == TL_OK)
            out.release(&out);
        else
            CHECK(st == TL_NO_MEMORY && out.release == NULL);
        CHECK_INT(m.live, 0);
        tli_mem_store_drop(plain);
        if (m.calls < at)
            break;
    }
    CHECK(at > 20 && at < 200);
}

/* ---- what callers hand in ---- */

typedef struct given {
    tli_store *store;
    struct ArrowSchema *schema;
    struct ArrowArray *array;
} given;

static given give(void)
{
    tl_error err;
    given g;
    g.array = NULL;
    g.store = tli_mem_store_new(NULL, 1 << 24, NULL, 0, NULL, NULL, &err);
    g.schema = tl_table_schema(g.store);
    CHECK_STATUS(tl_table_array(g.store, g.schema, 0, 20, &g.array, &err), TL_OK, &err);
    return g;
}

static void refused(given *g, tl_status want, int line)
{
    tl_error err;
    if (!CHECK_STATUS(tli_arrow_array_check(g->schema, g->array, NULL, &err), want, &err))
        fprintf(stderr, "case of line %d\n", line);
    tli_mem_store_drop(g->store);
    *g = give();
}

#define REFUSED(change)                                                                                                \
    do {                                                                                                               \
        change;                                                                                                        \
        refused(&g, TL_MISUSE, __LINE__);                                                                              \
    } while (0)

static uint8_t *writable(const void *buffer)
{
    return (uint8_t *)(uintptr_t)buffer;
}

static void arrays_refused(void)
{
    given g = give();
    tl_limits limits;
    tl_error err;
    REFUSED(g.array->release = NULL);
    REFUSED(g.array->children[3] = NULL);
    REFUSED(g.array->children[3]->release = NULL);
    REFUSED(g.array->n_children = 2);
    REFUSED(g.array->children[4]->length = 19);
    REFUSED(g.array->children[4]->length = -1);
    REFUSED(g.array->children[4]->offset = -1);
    REFUSED(g.array->children[4]->null_count = 1);
    REFUSED(g.array->children[4]->null_count = 21);
    REFUSED(g.array->children[4]->n_buffers = 1);
    REFUSED(g.array->children[4]->buffers[0] = NULL);
    REFUSED(g.array->children[4]->buffers[1] = NULL);
    REFUSED(g.array->children[8]->buffers[1] = NULL);
    REFUSED(g.array->children[8]->buffers[2] = NULL);
    REFUSED(g.array->children[10]->n_buffers = 2);
    REFUSED(g.array->children[10]->buffers[3] = NULL);
    REFUSED(g.schema->children[4]->flags = 0);
    REFUSED(tli_bits_put32(writable(g.array->children[8]->buffers[1]), 0xffffffffu));
    REFUSED(tli_bits_put32(writable(g.array->children[8]->buffers[1]) + 8, 0));
    REFUSED(writable(g.array->children[8]->buffers[2])[0] = 0xff);
    REFUSED(writable(g.array->children[8]->buffers[2])[5] = 0xc3);
    REFUSED(tli_bits_put32(writable(g.array->children[11]->buffers[1]) + 80, 1000));
    REFUSED(g.array->children[11]->children[0]->length = 2);
    REFUSED(g.array->children[13]->children[0]->length = 39);
    REFUSED(g.array->children[TL_TABLE_COLUMNS]->dictionary = NULL);
    REFUSED(g.array->children[4]->dictionary = g.array->children[4]);
    REFUSED(tli_bits_put16(writable(g.array->children[TL_TABLE_COLUMNS]->buffers[1]) + 6, 18));
    REFUSED(tli_bits_put16(writable(g.array->children[TL_TABLE_COLUMNS]->buffers[1]) + 6, 0xffff));
    REFUSED(tli_bits_put32(writable(g.array->children[10]->buffers[1]) + 16 + 8, 1)); /* buffer */
    REFUSED(tli_bits_put32(writable(g.array->children[10]->buffers[1]) + 16 + 12, 0x7fffffff));
    REFUSED(tli_bits_put32(writable(g.array->children[10]->buffers[1]) + 16, 0xffffffffu));
    REFUSED(writable(g.array->children[10]->buffers[1])[16 + 4] ^= 1); /* prefix */
    REFUSED(writable(g.array->children[10]->buffers[1])[4] = 0xff);
    /* what null slots hold does not matter */
    tli_bits_put32(writable(g.array->children[10]->buffers[1]) + 6 * 16, 0xffffffffu);
    tli_bits_put16(writable(g.array->children[TL_TABLE_COLUMNS]->buffers[1]) + 12, 200);
    refused(&g, TL_OK, __LINE__);
    memset(&limits, 0, sizeof limits);
    limits.rows = 19;
    CHECK_STATUS(tli_arrow_array_check(g.schema, g.array, &limits, &err), TL_LIMIT, &err);
    tli_mem_store_drop(g.store);
}

static void null_counts(void)
{
    uint8_t bits[64];
    int64_t from, count, i;
    for (i = 0; i < 64; i++)
        bits[i] = (uint8_t)(i * 37 + 11);
    for (from = 0; from < 70; from += 3)
        for (count = 0; count < 400; count += 7) {
            int64_t zeros = 0;
            for (i = from; i < from + count; i++)
                zeros += !(bits[i / 8] >> (i % 8) & 1);
            CHECK_INT(tli_arrow_zero_bits(bits, from, count), zeros);
        }
}

static const tl_test_case cases[] = {
    TL_TEST(builders),
    TL_TEST(builders_refuse),
    TL_TEST(exports),
    TL_TEST(exports_of_a_body),
    TL_TEST(allocations_fail),
    TL_TEST(arrays_refused),
    TL_TEST(null_counts),
    TL_TEST(formats_both_ways),
    TL_TEST(formats_refused),
    TL_TEST(metadata),
    TL_TEST(schema_copies),
    TL_TEST(schemas_refused),
};
TL_TEST_MAIN(cases)
