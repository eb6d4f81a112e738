/* The last-value index: merging against a naive reference, and against what Timelake wrote. */
#include "tl_test.h"
#include <time.h>
#include "tl_compare.h"

static const char table[] =
    "{\"format-version\":2,\"table-uuid\":\"6f6e6d6c-0000-4000-8000-000000000000\",\"location\":\"s3://b/t\","
    "\"last-sequence-number\":0,\"last-updated-ms\":0,\"last-column-id\":30,\"current-schema-id\":0,\"schemas\":[{"
    "\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"device\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":2,\"name\":\"site\",\"required\":false,\"type\":\"long\"},"
    "{\"id\":3,\"name\":\"time\",\"required\":true,\"type\":\"timestamptz\"},"
    "{\"id\":4,\"name\":\"arrived\",\"required\":false,\"type\":\"timestamp\"},"
    "{\"id\":5,\"name\":\"temp\",\"required\":false,\"type\":\"double\"},"
    "{\"id\":6,\"name\":\"on\",\"required\":false,\"type\":\"boolean\"},"
    "{\"id\":7,\"name\":\"raw\",\"required\":false,\"type\":\"binary\"},"
    "{\"id\":8,\"name\":\"price\",\"required\":false,\"type\":\"decimal(20, 3)\"},"
    "{\"id\":9,\"name\":\"tags\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":10,"
    "\"element\":\"string\",\"element-required\":false}},"
    "{\"id\":11,\"name\":\"attr\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"id\":12,\"name\":\"a\",\"required\":true,\"type\":\"int\"},"
    "{\"id\":13,\"name\":\"b\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":14,\"element\":\"string\","
    "\"element-required\":false}}]}},"
    "{\"id\":15,\"name\":\"props\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":16,\"key\":\"string\","
    "\"value-id\":17,\"value\":\"long\",\"value-required\":false}},"
    "{\"id\":18,\"name\":\"code\",\"required\":false,\"type\":\"fixed[3]\"},"
    "{\"id\":19,\"name\":\"clock\",\"required\":false,\"type\":\"time\"}"
    "]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,"
    "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"properties\":{\"timelake.time-column\":\"time\"%s%s%s%s}}";

/* Metadata of that table with this series key, and insertion times or none. */
static void open_table(tl_metadata *m, char *text, size_t size, const char *key, int arrived)
{
    tl_error err;
    snprintf(text, size, table, key[0] != 0 ? ",\"timelake.series-key\":\"" : "", key, key[0] != 0 ? "\"" : "",
             arrived ? ",\"timelake.ingest-time-column\":\"arrived\"" : "");
    CHECK_STATUS(tl_metadata_parse(m, text, strlen(text), NULL, NULL, &err), TL_OK, &err);
}

/* ---- rows ---- */

/* What all columns of a row follow from. */
typedef struct row {
    int id, device, site, arrived; /* -1: null */
    int64_t time;
} row;

static const char *const devices[] = {"", "a", "truck-1", "truck-10", "truck-\xc3\xa9"};

static void put_null(tli_build_node *n, int fill)
{
    if (fill)
        tli_build_null(n);
    else
        tli_build_count_null(n);
}

static void put_text(tli_build_node *n, int fill, const char *text, size_t size)
{
    if (n->schema->dictionary != NULL) {
        if (!fill)
            tli_build_count(n);
        else if (n->type.width == 1)
            tli_build_8(n, (uint8_t)n[1].at);
        else
            tli_build_32(n, (uint32_t)n[1].at);
        n++;
    }
    if (fill)
        tli_build_bytes(n, text, size);
    else
        tli_build_count_bytes(n, size);
}

static void put_number(tli_build_node *n, int fill, int64_t value)
{
    uint8_t wide[16];
    double d = (double)value;
    float f = (float)value;
    if (!fill) {
        tli_build_count(n);
        return;
    }
    if (n->type.id == TL_TYPE_FLOAT64)
        memcpy(&value, &d, 8);
    if (n->type.id == TL_TYPE_TIMESTAMP || n->type.id == TL_TYPE_TIME64 || n->type.id == TL_TYPE_TIME32)
        value = n->type.unit == TL_UNIT_NANO ? value * 1000 : n->type.unit == TL_UNIT_MILLI ? value / 1000 : value;
    if (n->type.id == TL_TYPE_FLOAT32) {
        tli_build_fixed(n, &f);
    } else if (n->layout == TLI_ARROW_BITS) {
        tli_build_bool(n, value & 1);
    } else if (n->type.width == 16) {
        tli_take_widen(wide, value);
        tli_build_fixed(n, wide);
    } else {
        tli_build_integer(n, value);
    }
}

static void put_end(tli_build_node *n, int fill)
{
    if (fill)
        tli_build_end(n);
    else
        tli_build_count(n);
}

static void put_tags(tli_build_node *n, int fill, int id)
{
    char text[32];
    int k;
    for (k = 0; k < id % 4; k++) {
        snprintf(text, sizeof text, "t%d-%d", id, k);
        if (k == 1)
            put_null(n + 1, fill);
        else
            put_text(n + 1, fill, text, strlen(text));
    }
    put_end(n, fill);
}

/* Column `n` of row `r`, told by its name's first letters, for the same rows come in tables of several schemas. */
static void put_cell(tli_build_node *n, int fill, const row *r)
{
    const char *name = n->schema->name;
    char text[40];
    int k;
    if (strcmp(name, "device") == 0) {
        if (r->device < 0)
            put_null(n, fill);
        else
            put_text(n, fill, devices[r->device], strlen(devices[r->device]));
    } else if (strcmp(name, "site") == 0) {
        if (r->site < 0)
            put_null(n, fill);
        else
            put_number(n, fill, r->site - 2);
    } else if (strcmp(name, "time") == 0) {
        put_number(n, fill, r->time * 1000000);
    } else if (strcmp(name, "arrived") == 0) {
        if (r->arrived < 0)
            put_null(n, fill);
        else
            put_number(n, fill, r->arrived * 1000);
    } else if (r->id % 7 == 3) {
        put_null(n, fill);
    } else if (strcmp(name, "raw") == 0 || strcmp(name, "code") == 0) {
        snprintf(text, sizeof text, "%03d raw bytes of this row", r->id);
        if (n->layout != TLI_ARROW_FIXED)
            put_text(n, fill, text, (size_t)(r->id % 24));
        else if (fill)
            tli_build_fixed(n, text);
        else
            tli_build_count(n);
    } else if (strcmp(name, "tags") == 0) {
        put_tags(n, fill, r->id);
    } else if (strcmp(name, "attr") == 0) {
        put_number(n + 1, fill, r->id);
        put_tags(n + 2, fill, r->id + 1);
        put_end(n, fill);
    } else if (strcmp(name, "props") == 0) {
        for (k = 0; k < r->id % 3; k++) {
            snprintf(text, sizeof text, "p%d", k);
            put_text(n + 2, fill, text, strlen(text));
            put_number(n + 3, fill, r->id * 10 + k);
            put_end(n + 1, fill);
        }
        put_end(n, fill);
    } else {
        put_number(n, fill, strcmp(name, "temp") == 0 ? r->id - 50 : r->id * 1000);
    }
}

/* These rows as a struct array of the schema, in the store. */
static struct ArrowArray *build(tli_store *store, const struct ArrowSchema *schema, const row *rows, size_t count)
{
    tli_build_tree *b = NULL;
    struct ArrowArray *array = NULL;
    tl_error err;
    size_t i;
    uint32_t k;
    int fill;
    if (!CHECK_STATUS(tli_build_begin(store, schema, NULL, &b, &err), TL_OK, &err))
        return NULL;
    for (fill = 0; fill < 2; fill++) {
        for (i = 0; i < count; i++) {
            for (k = 1; k < b->nodes->span; k += b->nodes[k].span)
                put_cell(b->nodes + k, fill, &rows[i]);
            put_end(b->nodes, fill);
        }
        if (fill == 0)
            CHECK_STATUS(tli_build_allocate(b, &err), TL_OK, &err);
    }
    CHECK_STATUS(tli_build_finish(b, &array, &err), TL_OK, &err);
    return array;
}

/* ---- schemas that rows come in ---- */

static struct ArrowSchema *field(tli_store *store, const char *format, const char *name, int children)
{
    tl_error err;
    return tli_arrow_schema_new(store, format, tl_text(name), ARROW_FLAG_NULLABLE, children, &err);
}

static struct ArrowSchema *text_field(tli_store *store, const char *name, unsigned choice)
{
    static const char *const formats[] = {"u", "U", "vu", "c", "I"};
    struct ArrowSchema *s = field(store, formats[choice % 5], name, 0);
    if (choice % 5 > 2)
        s->dictionary = field(store, choice % 2 ? "vu" : "u", "", 0);
    return s;
}

/* A schema that becomes the table's: columns in another order, other widths, units and layouts. */
static struct ArrowSchema *other_schema(tli_store *store, unsigned choice)
{
    static const char *const integers[] = {"l", "i", "s", "c"}, *const times[] = {"tsu:UTC", "tsn:", "tsm:Europe/Oslo"};
    struct ArrowSchema *s = field(store, "+s", "", 13), *f, *e;
    s->children[0] = field(store, times[choice % 3], "time", 0);
    s->children[1] = text_field(store, "device", choice);
    s->children[2] = field(store, integers[choice % 4], "site", 0);
    s->children[3] = field(store, times[(choice + 1) % 3], "arrived", 0);
    s->children[4] = field(store, choice % 2 ? "f" : "g", "temp", 0);
    s->children[5] = field(store, "b", "on", 0);
    s->children[6] = field(store, choice % 3 == 0 ? "z" : choice % 3 == 1 ? "Z" : "vz", "raw", 0);
    s->children[7] = field(store, choice % 2 ? "d:18,3,64" : "d:20,3", "price", 0);
    s->children[8] = f = field(store, choice % 2 ? "+L" : "+l", "tags", 1);
    f->children[0] = text_field(store, "item", choice / 2 % 3);
    s->children[9] = f = field(store, "+s", "attr", 2);
    f->children[0] = field(store, "i", "a", 0);
    f->children[1] = e = field(store, "+l", "b", 1);
    e->children[0] = text_field(store, "x", choice / 3 % 3);
    s->children[10] = f = field(store, "+m", "props", 1);
    f->children[0] = e = field(store, "+s", "entries", 2);
    e->flags = 0;
    e->children[0] = field(store, "u", "k", 0);
    e->children[0]->flags = 0;
    e->children[1] = field(store, choice % 2 ? "i" : "l", "v", 0);
    s->children[11] = field(store, "w:3", "code", 0);
    s->children[12] = field(store, choice % 3 == 0 ? "ttu" : choice % 3 == 1 ? "ttn" : "ttm", "clock", 0);
    return s;
}

/* ---- the reference ---- */

static int in_key(const char *key, const char *name)
{
    return strstr(key, name) != NULL;
}

/* Below 0: the series of x comes before that of y. */
static int series_order(const char *key, const row *x, const row *y)
{
    const char *a = x->device < 0 ? NULL : devices[x->device], *b = y->device < 0 ? NULL : devices[y->device];
    int device = a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
    int site = x->site < y->site ? -1 : x->site > y->site;
    int first = key[0] == 'd' ? device : site, second = key[0] == 'd' ? site : device;
    if (!in_key(key, "device") || !in_key(key, "site"))
        return in_key(key, "device") ? device : in_key(key, "site") ? site : 0;
    return first != 0 ? first : second;
}

/* Is y newer than x, when it comes later? */
static int is_newer(const row *x, const row *y, int arrived)
{
    if (x->time != y->time)
        return y->time > x->time;
    return !arrived || y->arrived >= x->arrived;
}

/* The newest rows, by looking at every pair. */
static size_t reference(const row *rows, size_t count, const char *key, int arrived, row *out)
{
    size_t i, k, n = 0;
    for (i = 0; i < count; i++) {
        int newest = 1;
        for (k = 0; k < count && newest; k++) {
            if (k == i || series_order(key, &rows[i], &rows[k]) != 0)
                continue;
            newest = k > i ? !is_newer(&rows[i], &rows[k], arrived) : is_newer(&rows[k], &rows[i], arrived);
        }
        if (!newest)
            continue;
        for (k = n++; k > 0 && series_order(key, &rows[i], &out[k - 1]) < 0; k--)
            out[k] = out[k - 1];
        out[k] = rows[i];
    }
    return n;
}

/* ---- tests ---- */

enum { ROWS = 120, BATCHES = 5 };

static uint32_t dice(uint32_t *state, uint32_t sides)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % sides;
}

static tl_rows rows_of(const struct ArrowSchema *schema, const struct ArrowArray *const *batches, size_t count)
{
    tl_rows r;
    r.schema = schema;
    r.batches = batches;
    r.count = count;
    return r;
}

/* Cuts rows into batches of another schema; every second one is a slice of a longer one. */
static size_t cut(tli_store *store, const struct ArrowSchema *schema, const row *rows, size_t count, uint32_t *random,
                  const struct ArrowArray **batches)
{
    size_t n = 0, at = 0;
    while (n < BATCHES) {
        size_t size = n + 1 == BATCHES ? count - at : dice(random, (uint32_t)(count - at) + 1), before = 0;
        struct ArrowArray *a;
        if (n % 2 && at > 3)
            before = 3;
        a = build(store, schema, rows + at - before, size + before);
        a->offset = (int64_t)before;
        a->length -= (int64_t)before;
        batches[n++] = a;
        at += size;
    }
    return n;
}

static void merge_once(tl_metadata *m, const char *key, int arrived, uint32_t *random, unsigned choice)
{
    tl_error err;
    tl_test_memory memory;
    tl_allocator a;
    struct ArrowSchema want_schema, schema;
    struct ArrowArray got, *want;
    const struct ArrowArray *batches[BATCHES], *base_batch;
    tli_store *store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    row rows[ROWS], best[ROWS], old[ROWS];
    size_t count = dice(random, ROWS) + 1, first = dice(random, (uint32_t)count), n, i;
    tl_rows base, newest;
    memset(&memory, 0, sizeof memory);
    a = tl_test_allocator(&memory);
    for (i = 0; i < count; i++) {
        rows[i].id = (int)i;
        rows[i].device = (int)dice(random, 6) - 1;
        rows[i].site = (int)dice(random, 4) - 1;
        rows[i].time = (int64_t)dice(random, choice % 2 ? 5 : 1000) - 3;
        rows[i].arrived = (int)dice(random, 4) - 1;
    }
    CHECK_STATUS(tl_metadata_schema(m, &want_schema, &a, &err), TL_OK, &err);
    n = reference(rows, first, key, arrived, old);
    base_batch = build(store, &want_schema, old, n);
    base = rows_of(&want_schema, &base_batch, 1);
    newest = rows_of(other_schema(store, choice), batches, 0);
    newest.count = cut(store, newest.schema, rows + first, count - first, random, batches);
    n = reference(rows, count, key, arrived, best);
    want = build(store, &want_schema, best, n);
    if (CHECK_STATUS(tl_last_values_merge(m, first == 0 ? NULL : &base, &newest, NULL, &a, &schema, &got, &err), TL_OK,
                     &err)) {
        CHECK(tl_compare_schemas(&schema, &want_schema));
        if (!tl_compare_arrays(&want_schema, want, &schema, &got))
            fprintf(stderr, "  %s (choice %u, key %s)\n", tl_compare_why, choice, key);
        CHECK(tl_compare_why[0] == 0);
        CHECK_STATUS(tli_arrow_array_check(&schema, &got, NULL, &err), TL_OK, &err);
        got.release(&got);
        schema.release(&schema);
    }
    want_schema.release(&want_schema);
    tli_mem_store_drop(store);
    CHECK_INT(memory.live, 0);
}

/* Any rows in any order and shape, on top of any index: what a look at every pair finds. */
static void same_as_the_reference(void)
{
    static const char *const keys[] = {"", "device", "site", "device,site", "site, device"};
    static char text[6000];
    uint32_t random = 1;
    unsigned i, k;
    for (i = 0; i < 10; i++) {
        tl_metadata m;
        open_table(&m, text, sizeof text, keys[i / 2], i % 2);
        for (k = 0; k < 60; k++)
            merge_once(&m, keys[i / 2], (int)(i % 2), &random, k);
        tl_metadata_free(&m);
    }
}

/* ---- what Timelake wrote ---- */

static const char *const heads[] = {"iot.budget_3000", "iot.budget_9000", "iot.compacted", "iot.hourly", "iot.many",
                                    "iot.monthly", "iot.props", "iot.stale", "iot.trucks", "iot.trucks_json",
                                    "iot.types"};

/* Our schema is Timelake's; an index merged with nothing, and with itself, is as it was. */
static void indexes_of_timelake(void)
{
    size_t i, seen = 0;
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char path[256], *bytes;
        size_t size;
        tl_head head;
        tl_span json;
        tl_metadata m;
        tl_section *last;
        struct ArrowSchema schema, inline_schema, mine;
        struct ArrowArray inline_rows, got;
        const struct ArrowArray *batch = &inline_rows;
        tl_rows rows;
        tl_error err;
        int with;
        snprintf(path, sizeof path, "tests/data/lake/%s.head", heads[i]);
        bytes = tl_test_read(path, &size);
        CHECK_STATUS(tl_head_decode(&head, bytes, size, NULL, &err), TL_OK, &err);
        CHECK_STATUS(tl_head_metadata(&head, &json, &err), TL_OK, &err);
        CHECK_STATUS(tl_metadata_parse(&m, json.data, json.size, NULL, NULL, &err), TL_OK, &err);
        CHECK_STATUS(tl_metadata_schema(&m, &mine, NULL, &err), TL_OK, &err);
        if (tl_head_last_values(&head, &last, &err) == TL_OK) {
            seen++;
            CHECK_STATUS(tl_section_export(last, 0, &inline_schema, &inline_rows, &err), TL_OK, &err);
            if (!tl_compare_schemas(&inline_schema, &mine))
                fprintf(stderr, "  %s: %s\n", heads[i], tl_compare_why);
            CHECK(tl_compare_why[0] == 0 && inline_rows.length > 0);
            rows = rows_of(&inline_schema, &batch, 1);
            for (with = 0; with < 3; with++) {
                if (!CHECK_STATUS(tl_last_values_merge(&m, with != 1 ? &rows : NULL, with != 0 ? &rows : NULL, NULL,
                                                       NULL, &schema, &got, &err), TL_OK, &err))
                    continue;
                if (!tl_compare_arrays(&inline_schema, &inline_rows, &schema, &got))
                    fprintf(stderr, "  %s: %s\n", heads[i], tl_compare_why);
                CHECK(tl_compare_why[0] == 0);
                got.release(&got);
                schema.release(&schema);
            }
            inline_rows.release(&inline_rows);
            inline_schema.release(&inline_schema);
        }
        mine.release(&mine);
        tl_metadata_free(&m);
        tl_head_free(&head);
        free(bytes);
    }
    CHECK(seen >= 9);
}

/* ---- the order of keys ---- */

/* A column of bytes that are values of a type; `texts` of variable size. */
static void order_of(const char *format, const void *values, size_t width, size_t count)
{
    tli_lastvalue_column c;
    struct ArrowSchema s;
    struct ArrowArray a;
    const void *buffers[3] = {NULL, NULL, NULL}; /* gcc -O3 follows the case of texts, which have three */
    size_t i, k;
    tl_error err;
    memset(&s, 0, sizeof s);
    memset(&a, 0, sizeof a);
    s.format = format;
    CHECK_STATUS(tl_type_of(&s, &c.type, &err), TL_OK, &err);
    c.layout = tli_arrow_layout_of(c.type.id);
    c.array = &a;
    CHECK_INT(c.type.width, width);
    buffers[1] = values;
    a.length = (int64_t)count;
    a.n_buffers = 2;
    a.buffers = buffers;
    for (i = 0; i < count; i++)
        for (k = 0; k < count; k++) {
            int order = tli_lastvalue_compare(&c, i, k);
            CHECK_INT((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

/* As Rust's total_cmp and Arrow's sort kernels have it. */
static void order_of_keys(void)
{
    static const int32_t ints[] = {INT32_MIN, -1, 0, 7, INT32_MAX};
    static const int64_t longs[] = {INT64_MIN, -5, 0, 3, INT64_MAX};
    static const uint32_t floats[] = {0xffc00000u, 0xff800000u, 0xbf800000u, 0x80000000u, 0, 1, 0x3f800000u,
                                      0x7f800000u, 0x7fc00000u};
    static const uint64_t doubles[] = {UINT64_C(0xfff8000000000000), UINT64_C(0xfff0000000000000),
                                       UINT64_C(0xbff0000000000000), UINT64_C(0x8000000000000000), 0,
                                       UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff8000000000000)};
    static const uint8_t fixed[] = {0, 0, 0, 0, 1, 0, 0x7f, 0, 0, 0x80, 0, 0, 0xff, 0xff, 0xff};
    uint64_t decimals[10];
    static const int64_t highs[] = {INT64_MIN, -1, -1, 0, 5};
    static const uint64_t lows[] = {3, 0, UINT64_MAX, 9, 0};
    size_t i;
    for (i = 0; i < 5; i++) {
        decimals[2 * i + (TLI_BIG_ENDIAN ? 0 : 1)] = (uint64_t)highs[i];
        decimals[2 * i + (TLI_BIG_ENDIAN ? 1 : 0)] = lows[i];
    }
    order_of("i", ints, 4, 5);
    order_of("tdD", ints, 4, 5);
    order_of("l", longs, 8, 5);
    order_of("tsu:UTC", longs, 8, 5);
    order_of("f", floats, 4, 9);
    order_of("g", doubles, 8, 7);
    order_of("w:3", fixed, 3, 5);
    order_of("d:38,2", decimals, 16, 5);
}

/* ---- what is refused ---- */

static void check_merge(const char *key, const struct ArrowSchema *schema, const struct ArrowArray *a, int as_base,
                        tl_status want)
{
    static char text[6000];
    tl_metadata m;
    tl_rows rows = rows_of(schema, &a, 1);
    struct ArrowSchema made;
    struct ArrowArray got;
    tl_error err;
    open_table(&m, text, sizeof text, key, 1);
    CHECK_STATUS(tl_last_values_merge(&m, as_base ? &rows : NULL, as_base ? NULL : &rows, NULL, NULL, &made, &got,
                                      &err), want, &err);
    if (want == TL_OK) {
        got.release(&got);
        made.release(&made);
    } else {
        CHECK(made.release == NULL && got.release == NULL);
    }
    tl_metadata_free(&m);
}

static void what_does_not_fit(void)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *s = other_schema(store, 1), *dropped = other_schema(store, 1);
    row rows[9];
    int i;
    memset(rows, 0, sizeof rows);
    for (i = 0; i < 9; i++) {
        rows[i].id = i;
        rows[i].time = i;
    }
    check_merge("device", s, build(store, s, rows, 9), 0, TL_OK);
    check_merge("device", s, build(store, s, rows, 0), 0, TL_ABSENT);
    check_merge("nobody", s, build(store, s, rows, 9), 0, TL_CORRUPT);
    check_merge("tags", s, build(store, s, rows, 9), 0, TL_UNSUPPORTED);
    s->children[4]->name = "gone"; /* a column that the table has not: dropped meanwhile, or a mistake */
    check_merge("device", s, build(store, s, rows, 9), 0, TL_MISUSE);
    check_merge("device", s, build(store, s, rows, 9), 1, TL_OK);
    dropped->n_children = 12; /* a column less: nulls */
    check_merge("device", dropped, build(store, dropped, rows, 9), 0, TL_OK);
    dropped->n_children = 13;
    dropped->children[0]->name = "else"; /* the time is required */
    check_merge("device", dropped, build(store, dropped, rows, 9), 1, TL_CORRUPT);
    check_merge("device", dropped, build(store, dropped, rows, 9), 0, TL_MISUSE);
    dropped->children[0]->name = "time";
    dropped->children[2] = field(store, "u", "site", 0); /* a text is no number */
    rows[0].site = -1;
    check_merge("device", dropped, build(store, dropped, rows, 1), 0, TL_MISUSE);
    dropped->children[2] = field(store, "l", "site", 0);
    dropped->children[0] = field(store, "tsn:", "time", 0);
    check_merge("device", dropped, build(store, dropped, rows, 9), 0, TL_OK);
    {
        struct ArrowArray *a = build(store, dropped, rows, 9);
        tli_bits_put64((void *)(uintptr_t)a->children[0]->buffers[1], 1); /* a nanosecond */
        check_merge("device", dropped, a, 0, TL_MISUSE);
        a = build(store, dropped, rows, 9);
        dropped->children[2]->format = "L"; /* unsigned: too large */
        tli_bits_put64((void *)(uintptr_t)a->children[2]->buffers[1], UINT64_MAX);
        check_merge("device", dropped, a, 0, TL_MISUSE);
    }
    tli_mem_store_drop(store);
}

/* Columns are found by their field ids before their names: a renamed one keeps its values. */
static void renamed_columns(void)
{
    static char text[6000];
    tl_error err;
    tl_metadata m;
    tl_rows rows;
    struct ArrowSchema schema, made;
    struct ArrowArray *a, got;
    const struct ArrowArray *batch;
    tli_store *store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    row one;
    open_table(&m, text, sizeof text, "device", 0);
    memset(&one, 0, sizeof one);
    one.id = 5;
    one.device = 2;
    CHECK_STATUS(tl_metadata_schema(&m, &schema, NULL, &err), TL_OK, &err);
    batch = a = build(store, &schema, &one, 1);
    rows = rows_of(&schema, &batch, 1);
    schema.children[0]->name = "lorry"; /* what device was called */
    schema.children[4]->name = "device";
    if (CHECK_STATUS(tl_last_values_merge(&m, &rows, NULL, NULL, NULL, &made, &got, &err), TL_OK, &err)) {
        CHECK(strcmp(made.children[0]->name, "device") == 0 && strcmp(made.children[4]->name, "temp") == 0);
        CHECK(tl_compare_value(made.children[0], got.children[0], 0, made.children[0], a->children[0], 0));
        CHECK(tl_compare_value(made.children[4], got.children[4], 0, made.children[4], a->children[4], 0));
        got.release(&got);
        made.release(&made);
    }
    schema.release(&schema);
    tl_metadata_free(&m);
    tli_mem_store_drop(store);
}

/* Each allocation fails in turn. */
static void out_of_memory(void)
{
    static char text[6000];
    tl_error err;
    tl_metadata m;
    tli_store *store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *s = other_schema(store, 4), made;
    struct ArrowArray got;
    const struct ArrowArray *batches[BATCHES];
    row rows[90];
    uint32_t random = 9;
    tl_rows r;
    long at;
    int i;
    tl_status st = TL_NO_MEMORY;
    for (i = 0; i < 90; i++) {
        rows[i].id = i;
        rows[i].device = i % 5;
        rows[i].site = i % 21;
        rows[i].time = i % 3;
        rows[i].arrived = 0;
    }
    open_table(&m, text, sizeof text, "device,site", 1);
    r = rows_of(s, batches, cut(store, s, rows, 90, &random, batches));
    for (at = 1; st != TL_OK && at < 1000; at++) {
        tl_test_memory memory;
        tl_allocator a;
        memset(&memory, 0, sizeof memory);
        memory.fail_at = at;
        a = tl_test_allocator(&memory);
        st = tl_last_values_merge(&m, NULL, &r, NULL, &a, &made, &got, &err);
        if (st == TL_OK) {
            CHECK_INT(got.length, 90);
            got.release(&got);
            made.release(&made);
        } else {
            CHECK_STATUS(st, TL_NO_MEMORY, &err);
        }
        CHECK_INT(memory.live, 0);
    }
    CHECK(st == TL_OK && at > 10);
    tl_metadata_free(&m);
    tli_mem_store_drop(store);
}

/* ---- keys that were chosen ---- */

/* The number that has this hash, as it lies in memory. */
static uint64_t with_hash(uint64_t hash)
{
    uint8_t bytes[8];
    /* inverses modulo 2^64 of the primes */
    static const uint64_t odd[4] = {TLI_HASH_P64_1, TLI_HASH_P64_2, TLI_HASH_P64_3, TLI_HASH_P64_4};
    uint64_t back[3];
    int i, k;
    for (i = 0; i < 3; i++)
        for (back[i] = odd[i], k = 0; k < 6; k++)
            back[i] *= 2 - odd[i] * back[i];
    hash ^= hash >> 32;
    hash *= back[2];
    hash ^= hash >> 29 ^ hash >> 58;
    hash *= back[1];
    hash ^= hash >> 33;
    hash = (hash - TLI_HASH_P64_4) * back[0];
    hash = tli_hash_rotate64(hash, 64 - 27) ^ (TLI_HASH_P64_5 + 8);
    tli_bits_put_le64(bytes, tli_hash_rotate64(hash * back[0], 64 - 31) * back[1]);
    memcpy(&hash, bytes, sizeof hash);
    return hash;
}

/* Series that all would begin at one place of a hash table cost no more than others. */
static void chosen_keys(void)
{
    enum { MANY = 200000 };
    static char text[6000];
    tl_error err;
    tl_metadata m;
    tli_store *store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *s = tli_arrow_schema_new(store, "+s", tl_text(""), 0, 2, &err), made;
    struct ArrowArray a, columns[2], *children[2], got;
    const struct ArrowArray *batch = &a;
    const void *none = NULL, *buffers[2][2] = {{NULL, NULL}, {NULL, NULL}};
    uint64_t *keys = (uint64_t *)calloc(MANY, 8), value = with_hash(12345);
    tl_rows rows = rows_of(s, &batch, 1);
    clock_t began;
    size_t i;
    CHECK(tli_hash_xxh64(&value, 8, 0) == 12345);
    for (i = 0; i < MANY; i++)
        keys[i] = with_hash((uint64_t)i << 32);
    memset(&a, 0, sizeof a);
    memset(columns, 0, sizeof columns);
    for (i = 0; i < 2; i++) {
        s->children[i] = field(store, i == 0 ? "l" : "tsu:UTC", i == 0 ? "site" : "time", 0);
        buffers[i][1] = keys;
        columns[i].length = MANY;
        columns[i].n_buffers = 2;
        columns[i].buffers = buffers[i];
        columns[i].release = tli_arrow_array_stays;
        children[i] = &columns[i];
    }
    a.length = MANY;
    a.n_buffers = 1;
    a.buffers = &none;
    a.n_children = 2;
    a.children = children;
    a.release = tli_arrow_array_stays;
    open_table(&m, text, sizeof text, "site", 0);
    began = clock();
    if (CHECK_STATUS(tl_last_values_merge(&m, NULL, &rows, NULL, NULL, &made, &got, &err), TL_OK, &err)) {
        CHECK_INT(got.length, MANY);
        got.release(&got);
        made.release(&made);
    }
    CHECK((clock() - began) / CLOCKS_PER_SEC < 10); /* a table of hashes took minutes */
    free(keys);
    tl_metadata_free(&m);
    tli_mem_store_drop(store);
}

static const tl_test_case cases[] = {
    TL_TEST(same_as_the_reference), TL_TEST(indexes_of_timelake), TL_TEST(order_of_keys), TL_TEST(what_does_not_fit),
    TL_TEST(renamed_columns), TL_TEST(out_of_memory), TL_TEST(chosen_keys),
};

TL_TEST_MAIN(cases)
