/* Avro files: the shared cases, by value and by field id; what is refused; every byte cut and flipped. */
#include "tl_test.h"
#include <time.h>

/* ---- a row as JSON, as rows.json of case 16 has it ---- */

typedef struct text {
    char data[16384];
    size_t size;
} text;

static void say(text *t, const char *what, size_t size)
{
    if (t->size + size < sizeof t->data) {
        memcpy(t->data + t->size, what, size);
        t->size += size;
        t->data[t->size] = 0;
    }
}

static void say_string(text *t, tl_span s, int hex)
{
    char digits[2];
    size_t i;
    say(t, "\"", 1);
    if (hex)
        say(t, "hex:", 4);
    for (i = 0; i < s.size; i++) {
        if (hex) {
            tli_number_hex(digits, s.data + i, 1);
            say(t, digits, 2);
        } else
            say(t, s.data + i, 1);
    }
    say(t, "\"", 1);
}

/* Integers that a double does not hold are strings there. */
static void say_number(text *t, int64_t v)
{
    char digits[24];
    size_t n = tli_number_i64(digits, v);
    int wide = v > ((int64_t)1 << 53) || v < -((int64_t)1 << 53);
    if (wide)
        say(t, "\"", 1);
    say(t, digits, n);
    if (wide)
        say(t, "\"", 1);
}

static void say_value(text *t, const tl_avro_value *v)
{
    char digits[32];
    switch (v->node->kind) {
    case TL_AVRO_NULL: say(t, "null", 4); break;
    case TL_AVRO_BOOLEAN: say(t, v->number ? "true" : "false", v->number ? 4 : 5); break;
    case TL_AVRO_INT:
    case TL_AVRO_LONG:
    case TL_AVRO_ENUM: say_number(t, v->number); break;
    case TL_AVRO_FLOAT:
    case TL_AVRO_DOUBLE: say(t, digits, tli_number_f64(digits, v->real)); break;
    case TL_AVRO_STRING: say_string(t, v->bytes, 0); break;
    default: say_string(t, v->bytes, 1); break;
    }
}

/* The next row; 0 at the end or on an error. */
static int next_row(tl_avro *a, text *t, tl_status *st, tl_error *err)
{
    tl_avro_value v;
    uint32_t first = 1; /* of its parent */
    t->size = 0;
    t->data[0] = 0;
    for (;;) {
        *st = tl_avro_next(a, &v, err);
        if (*st != TL_OK || v.event == TL_AVRO_EOF)
            return 0;
        if (v.event == TL_AVRO_ROW)
            return 1;
        if (v.event == TL_AVRO_END) {
            say(t, v.node->kind == TL_AVRO_ARRAY ? "]" : "}", 1);
            first = 0;
            continue;
        }
        if (!first && (t->size == 0 || t->data[t->size - 1] != ':'))
            say(t, ",", 1);
        first = 0;
        if (v.event == TL_AVRO_KEY) {
            say_string(t, v.bytes, 0);
            say(t, ":", 1);
            continue;
        }
        if (a->depth > (v.event == TL_AVRO_BEGIN) /* a field of a record is named */
            && a->frames[a->depth - 1 - (v.event == TL_AVRO_BEGIN)].node->kind == TL_AVRO_RECORD) {
            say_string(t, v.field->name, 0);
            say(t, ":", 1);
        }
        if (v.event == TL_AVRO_BEGIN) {
            say(t, v.node->kind == TL_AVRO_ARRAY ? "[" : "{", 1);
            first = 1;
        } else
            say_value(t, &v);
    }
}

static char *case_file(const char *folder, const char *name, const char *ending, size_t *size)
{
    char path[256];
    char *data;
    snprintf(path, sizeof path, "tests/data/cases/%s/%s%s", folder, name, ending);
    data = tl_test_read(path, size);
    CHECK(data != NULL);
    return data;
}

/* ---- case 16 ---- */

#define CASE_16 "16-avro-blocks-and-codecs"
#define CASE_17 "17-avro-names-and-field-ids"

/* Reads all rows, each compared with `rows` when that is not NULL. */
static tl_status read_all(const void *data, size_t size, const tl_json *rows, const tl_json_node *list, uint64_t *count,
                          const tl_allocator *allocator)
{
    static text t;
    tl_avro a;
    tl_error err;
    tl_buffer want;
    const tl_json_node *row = list == NULL ? NULL : tl_json_first(list);
    tl_status st = tl_avro_open(&a, data, size, NULL, allocator, &err);
    *count = 0;
    if (st != TL_OK)
        return st;
    while (next_row(&a, &t, &st, &err)) {
        tl_span raw;
        ++*count;
        if (list == NULL)
            continue;
        CHECK(row != NULL);
        if (row == NULL)
            break;
        raw = tl_json_raw(rows, row);
        memset(&want, 0, sizeof want);
        CHECK_INT(tl_json_canonical(&want, raw.data, raw.size, NULL, NULL), TL_OK);
        CHECK_BYTES(t.data, t.size, want.data, want.size);
        tl_buffer_free(&want);
        row = tl_json_next(list, row);
    }
    CHECK(st != TL_OK || a.rows == *count);
    tl_avro_close(&a);
    return st;
}

static void case_16_blocks_and_codecs(void)
{
    size_t rows_size, size;
    char *rows_text = case_file(CASE_16, "rows", ".json", &rows_size), *text_16;
    tl_json rows, expected;
    const tl_json_node *list, *k;
    tl_error err;
    text_16 = case_file(CASE_16, "expected", ".json", &size);
    if (rows_text == NULL || text_16 == NULL
        || !CHECK_STATUS(tl_json_parse(&rows, rows_text, rows_size, NULL, NULL, &err), TL_OK, &err)
        || !CHECK_STATUS(tl_json_parse(&expected, text_16, size, NULL, NULL, &err), TL_OK, &err))
        return;
    list = tl_json_member(&rows, rows.root, tl_text("rows"));
    CHECK_INT(expected.root->count, 32);
    for (k = tl_json_first(expected.root); k != NULL; k = tl_json_next(expected.root, k)) {
        tl_span name;
        char file[64];
        char *bytes;
        long before = tl_test_failures;
        uint64_t count;
        tl_status st;
        const tl_json_node *value = k + 1;
        (void)tl_json_string(&expected, k, &name, NULL);
        snprintf(file, sizeof file, "%.*s", (int)name.size, name.data);
        bytes = case_file(CASE_16, file, ".avro", &size);
        if (bytes == NULL)
            continue;
        if (tl_json_member(&expected, value, tl_text("error")) != NULL) {
            st = read_all(bytes, size, NULL, NULL, &count, NULL);
            CHECK(st == TL_CORRUPT || st == TL_TRUNCATED || st == TL_CHECKSUM || st == TL_UNSUPPORTED);
            CHECK_INT(st == TL_UNSUPPORTED, strcmp(file, "unknown-codec") == 0);
            CHECK_INT(st == TL_CHECKSUM, strcmp(file, "snappy-bad-crc") == 0);
        } else if (tl_json_member(&expected, value, tl_text("rows")) != NULL) {
            CHECK_INT(read_all(bytes, size, NULL, NULL, &count, NULL), TL_OK);
            CHECK_INT(count, 0);
        } else {
            CHECK_INT(read_all(bytes, size, &rows, list, &count, NULL), TL_OK);
            CHECK_INT(count, list->count);
        }
        if (tl_test_failures != before)
            fprintf(stderr, "  in %s.avro\n", file);
        free(bytes);
    }
    tl_json_free(&rows);
    tl_json_free(&expected);
    free(rows_text);
    free(text_16);
}

/* ---- case 17 ---- */

static int64_t wanted(const tl_json *t, const tl_json_node *row, const char *id)
{
    int64_t v = -77;
    tl_span s;
    const tl_json_node *n = tl_json_member(t, row, tl_text(id));
    CHECK(n != NULL);
    if (n != NULL && n->kind == TL_JSON_STRING) {
        (void)tl_json_string(t, n, &s, NULL);
        CHECK(tli_number_parse_i64(s.data, s.size, &v));
    } else if (n != NULL)
        CHECK_INT(tl_json_int64(t, n, &v, NULL), TL_OK);
    return v;
}

static void check_list(const char *file, const tl_json *t, const tl_json_node *rows)
{
    size_t size, i;
    char *bytes = case_file(CASE_17, file, ".avro", &size);
    tl_limits limits = tl_limits_resolve(NULL);
    tli_iceberg_list list;
    tl_error err;
    tl_status st;
    if (bytes == NULL)
        return;
    st = tli_iceberg_read_list(&list, bytes, size, &limits, NULL, &err);
    if (rows == NULL) {
        CHECK_INT(st, TL_CORRUPT);
    } else if (CHECK_STATUS(st, TL_OK, &err) && CHECK_INT(list.count, rows->count)) {
        const tl_json_node *row = tl_json_first(rows);
        for (i = 0; i < list.count; i++, row = tl_json_next(rows, row)) {
            const tli_iceberg_manifest *m = &list.entries[i];
            tl_span path = {NULL, 0};
            (void)tl_json_string(t, tl_json_member(t, row, tl_text("500")), &path, NULL);
            CHECK_BYTES(m->path.data, m->path.size, path.data, path.size);
            CHECK_INT(m->length, wanted(t, row, "501"));
            CHECK_INT(m->spec_id, wanted(t, row, "502"));
            CHECK_INT(m->added_snapshot_id, wanted(t, row, "503"));
            CHECK_INT(m->sequence_number, wanted(t, row, "515"));
            CHECK_INT(m->min_sequence_number, wanted(t, row, "516"));
            CHECK_INT(m->content, wanted(t, row, "517"));
        }
    }
    if (st == TL_OK)
        tli_iceberg_free_list(&list);
    free(bytes);
}

static void case_17_names_and_field_ids(void)
{
    size_t size;
    char *text_17 = case_file(CASE_17, "expected", ".json", &size);
    tl_json t;
    const tl_json_node *files, *k, *plain;
    tl_error err;
    if (text_17 == NULL || !CHECK_STATUS(tl_json_parse(&t, text_17, size, NULL, NULL, &err), TL_OK, &err))
        return;
    files = tl_json_member(&t, t.root, tl_text("files"));
    plain = tl_json_member(&t, tl_json_member(&t, files, tl_text("plain")), tl_text("by_field_id"));
    CHECK_INT(files->count, 13);
    for (k = tl_json_first(files); k != NULL; k = tl_json_next(files, k)) {
        tl_span name;
        char file[64];
        long before = tl_test_failures;
        const tl_json_node *rows = tl_json_member(&t, k + 1, tl_text("by_field_id"));
        (void)tl_json_string(&t, k, &name, NULL);
        snprintf(file, sizeof file, "%.*s", (int)name.size, name.data);
        if (tl_json_member(&t, k + 1, tl_text("accept")) != NULL)
            rows = plain; /* without ids the names of the specification stand in */
        check_list(file, &t, rows);
        if (tl_test_failures != before)
            fprintf(stderr, "  in %s.avro\n", file);
    }
    tl_json_free(&t);
    free(text_17);
}

/* ---- damage ---- */

static const char *const small[] = {"null", "deflate", "snappy", "zstandard", "negative-counts", "two-blocks"};

static void every_byte_cut_and_flipped(void)
{
    size_t f, i, size;
    for (f = 0; f < sizeof small / sizeof small[0]; f++) {
        char *bytes = case_file(CASE_16, small[f], ".avro", &size);
        tl_test_memory memory = {0, 0, 0, 0, 0, 0};
        tl_allocator a = tl_test_allocator(&memory);
        uint64_t count;
        if (bytes == NULL)
            continue;
        for (i = 0; i < size; i++) { /* an exact copy, so that reading past its end is seen */
            char *cut = (char *)malloc(i + 1);
            tl_status st;
            memcpy(cut, bytes, i);
            st = read_all(cut, i, NULL, NULL, &count, &a);
            CHECK(st == TL_CORRUPT || st == TL_TRUNCATED || (st == TL_OK && count < 4));
            free(cut);
        }
        for (i = 0; i < size; i++) {
            char was = bytes[i];
            int bit;
            for (bit = 0; bit < 8; bit++) {
                bytes[i] = (char)(was ^ (1 << bit));
                (void)read_all(bytes, size, NULL, NULL, &count, &a);
            }
            bytes[i] = was;
        }
        CHECK_INT(memory.live, 0);
        CHECK(memory.peak < 1u << 22);
        free(bytes);
    }
}

static void every_allocation_failed_in_turn(void)
{
    size_t f, size;
    for (f = 0; f < sizeof small / sizeof small[0]; f++) {
        char *bytes = case_file(CASE_16, small[f], ".avro", &size);
        tl_test_memory memory = {0, 0, 0, 0, 0, 0};
        tl_allocator a = tl_test_allocator(&memory);
        uint64_t count;
        long at = 1;
        tl_status st;
        do {
            memory.calls = 0;
            memory.fail_at = at++;
            st = read_all(bytes, size, NULL, NULL, &count, &a);
            CHECK(st == TL_OK || st == TL_NO_MEMORY);
            CHECK_INT(memory.live, 0);
        } while (st != TL_OK && at < 200);
        CHECK(st == TL_OK && at > 3);
        free(bytes);
    }
}

/* ---- files made here: the specification's corners ---- */

static void put_long(text *t, int64_t v)
{
    uint64_t z = ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
    char byte;
    for (; z >= 128; z >>= 7) {
        byte = (char)(z | 128);
        say(t, &byte, 1);
    }
    byte = (char)z;
    say(t, &byte, 1);
}

static void put_bytes(text *t, const char *data, size_t size)
{
    put_long(t, (int64_t)size);
    say(t, data, size);
}

#define SYNC "0123456789abcdef"

static void begin_file(text *t, const char *schema)
{
    t->size = 0;
    say(t, "Obj\1", 4);
    put_long(t, 1);
    put_bytes(t, "avro.schema", 11);
    put_bytes(t, schema, strlen(schema));
    put_long(t, 0);
    say(t, SYNC, 16);
}

static void put_block(text *t, int64_t rows, const char *data, size_t size)
{
    put_long(t, rows);
    put_bytes(t, data, size);
    say(t, SYNC, 16);
}

static tl_status schema_only(const char *schema)
{
    static text t;
    uint64_t count;
    begin_file(&t, schema);
    return read_all(t.data, t.size, NULL, NULL, &count, NULL);
}

static void schemas(void)
{
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}"), TL_OK);
    CHECK_INT(schema_only("{\"type\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}}"), TL_OK);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"r\"}]}"),
              TL_UNSUPPORTED);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":[\"null\","
                          "{\"type\":\"array\",\"items\":\"r\"}]}]}"), TL_UNSUPPORTED);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"s\"}]}"),
        TL_CORRUPT);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\"}]}"), TL_CORRUPT);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":[]}]}"),
        TL_CORRUPT);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":[[\"int\"]]}]}"),
              TL_CORRUPT);
    CHECK_INT(schema_only("{\"type\":\"record\",\"name\":\"r\"}"), TL_CORRUPT);
    CHECK_INT(schema_only("{\"type\":\"record\",\"fields\":[]}"), TL_CORRUPT);
    /* a type that is whole may be used within a later one */
    CHECK_INT(schema_only(
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"record\","
                          "\"name\":\"s\",\"fields\":[{\"name\":\"x\",\"type\":\"int\"}]}},{\"name\":\"b\",\"type\":"
                          "{\"type\":\"record\",\"name\":\"t\",\"fields\":[{\"name\":\"y\",\"type\":\"s\"}"
                              ",{\"name\":\"z\","
                          "\"type\":\"int\"},{\"name\":\"u\",\"type\":\"s\"},{\"name\":\"v\",\"type\":\"in"
                              "t\"}]}}]}"), TL_OK);
    CHECK_INT(schema_only("\"int\""), TL_UNSUPPORTED);
    CHECK_INT(schema_only("{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}"), TL_CORRUPT);
    CHECK_INT(schema_only("{\"type\":\"enum\",\"name\":\"f\"}"), TL_CORRUPT);
    CHECK_INT(schema_only("[1]"), TL_CORRUPT);
    CHECK_INT(schema_only("{"), TL_TRUNCATED);
}

/* Types by name, used twice; enum, fixed, map, float, double. */
static void kinds(void)
{
    static text t, row, body;
    tl_avro a;
    tl_error err;
    tl_status st;
    begin_file(&t, "{\"type\":\"record\",\"name\":\"a.b.r\",\"fields\":["
                   "{\"name\":\"e\",\"type\":{\"type\":\"enum\",\"name\":\"x.e\",\"symbols\":[\"A\",\"B\"]}},"
                   "{\"name\":\"e2\",\"type\":\"x.e\"},"
                   "{\"name\":\"f\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}},"
                   "{\"name\":\"f2\",\"type\":[\"null\",\"a.b.f\"]},"
                   "{\"name\":\"p\",\"type\":{\"type\":\"record\",\"name\":\"p\",\"fields\":["
                   "{\"name\":\"x\",\"type\":\"float\"},{\"name\":\"y\",\"type\":\"double\"}]}},"
                   "{\"name\":\"q\",\"type\":\"p\"},"
                   "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"values\":\"boolean\"}}]}");
    body.size = 0;
    say(&body, "\2\0ab\2cd", 7);
    say(&body, "\0\0\xc0\x3f\0\0\0\0\0\0\4\xc0", 12);
    say(&body, "\0\0\0\x80\0\0\0\0\0\0\xf0\x7f", 12);
    say(&body, "\3\4\2k\1\2\2l\0\0", 10); /* a block of -2 entries and its size, then one of 1, then the end */
    put_block(&t, 1, body.data, body.size);
    CHECK_STATUS(tl_avro_open(&a, t.data, t.size, NULL, NULL, &err), TL_OK, &err);
    CHECK(next_row(&a, &row, &st, &err) == 0); /* the first block has room for one entry: it is malformed */
    tl_avro_close(&a);
    t.size -= body.size + 18;
    body.size -= 10;
    say(&body, "\1\6\2k\1\2\2l\0\0", 10);
    put_block(&t, 1, body.data, body.size);
    if (!CHECK_STATUS(tl_avro_open(&a, t.data, t.size, NULL, NULL, &err), TL_OK, &err))
        return;
    CHECK(next_row(&a, &row, &st, &err) == 1);
    CHECK_TEXT(row.data, row.size,
        "{\"e\":1,\"e2\":0,\"f\":\"hex:6162\",\"f2\":\"hex:6364\",\"p\":{\"x\":1.5,\"y\":-2.5},"
                                   "\"q\":{\"x\":-0.0,\"y\":inf},\"m\":{\"k\":true,\"l\":false}}");
    CHECK(next_row(&a, &row, &st, &err) == 0 && st == TL_OK);
    tl_avro_close(&a);
}

/* A few bytes must not stand for hours of work. */
static void values_of_no_bytes(void)
{
    static text t;
    char schema[8192];
    size_t n;
    int i;
    uint64_t count;
    tl_status st;
    n = (size_t)snprintf(schema, sizeof schema,
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":"
                         "{\"type\":\"record\",\"name\":\"t0\",\"fields\":[{\"name\":\"x\",\"type\":\"null\"}]}}");
    for (i = 1; i < 40; i++)
        n += (size_t)snprintf(schema + n, sizeof schema - n,
            ",{\"name\":\"a%d\",\"type\":{\"type\":\"record\",\"name\":"
                              "\"t%d\",\"fields\":[{\"name\":\"x\",\"type\":\"t%d\"},{\"name\":\"y\",\"typ"
                                  "e\":\"t%d\"}]}}",
                              i, i, i - 1, i - 1);
    snprintf(schema + n, sizeof schema - n, "]}");
    begin_file(&t, schema);
    put_block(&t, 1, "", 0);
    st = read_all(t.data, t.size, NULL, NULL, &count, NULL);
    CHECK_INT(st, TL_LIMIT);
    begin_file(&t, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"null\"}]}");
    put_block(&t, 1000, "", 0);
    CHECK_INT(read_all(t.data, t.size, NULL, NULL, &count, NULL), TL_OK);
    CHECK_INT(count, 1000);
    put_block(&t, INT64_MAX, "", 0);
    CHECK_INT(read_all(t.data, t.size, NULL, NULL, &count, NULL), TL_CORRUPT);
    begin_file(&t, "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"boolean\"},"
                   "{\"name\":\"b\",\"type\":{\"type\":\"array\",\"items\":\"null\"}}]}");
    for (i = 0; i < 500; i++) /* 65,536 nulls each time */
        put_block(&t, 1, "\1\x80\x80\x08\0", 5);
    CHECK_INT(read_all(t.data, t.size, NULL, NULL, &count, NULL), TL_LIMIT);
    CHECK(count < 100);
}

/* ---- files of other writers, where they are ---- */

static void third_party(void)
{
    static const struct {
        const char *name;
        tl_status status;
        uint64_t rows;
    } files[] = {{"alltypes_plain", TL_OK, 8}, {"alltypes_plain.snappy", TL_OK, 8}, {"alltypes_plain.xz",
        TL_UNSUPPORTED, 0},
                 {"list_columns", TL_OK, 3},   {"nulls.snappy", TL_OK, 8},          {"binary", TL_OK, 12},
                 {"nonnullable.impala", TL_OK, 1}, {"simple_fixed", TL_OK, 2}, {"fixed256_decimal", TL_OK, 24}};
    size_t i, size;
    for (i = 0; i < sizeof files / sizeof files[0]; i++) {
        char below[128];
        char *bytes;
        uint64_t count;
        snprintf(below, sizeof below, "third-party/avro/%s.avro", files[i].name);
        bytes = tl_test_read(tl_test_shared(below), &size);
        if (bytes == NULL) {
            tl_test_skip("no shared/third-party/avro");
            return;
        }
        if (!CHECK_INT(read_all(bytes, size, NULL, NULL, &count, NULL), files[i].status)
            || !CHECK_INT(count, files[i].rows))
            fprintf(stderr, "  in %s\n", below);
        free(bytes);
    }
}

/* What a manifest and a manifest list of Timelake's say of themselves. */
static void header_metadata(void)
{
    static const char name[] = "tests/data/warehouse/wh/iot/trucks/metadata/"
                               "2be31f8d-610e-4000-90c0-767c8cbadb9b-added-m.avro";
    size_t size;
    char *bytes = tl_test_read(name, &size);
    tl_avro a;
    tl_error err;
    tl_span key, value, again;
    uint32_t i;
    int schema = 0;
    CHECK(bytes != NULL);
    if (bytes == NULL || !CHECK_STATUS(tl_avro_open(&a, bytes, size, NULL, NULL, &err), TL_OK, &err))
        return;
    value = tl_avro_metadata(&a, tl_text("format-version"));
    CHECK_TEXT(value.data, value.size, "2");
    value = tl_avro_metadata(&a, tl_text("content"));
    CHECK_TEXT(value.data, value.size, "data");
    CHECK(tl_avro_metadata(&a, tl_text("no such key")).data == NULL);
    for (i = 0; tl_avro_metadata_at(&a, i, &key, &value); i++) {
        again = tl_avro_metadata(&a, key);
        CHECK(again.data == value.data && again.size == value.size);
        schema += tl_span_equal(key, tl_text("avro.schema"));
    }
    CHECK(schema == 1 && i >= 6);
    tl_avro_close(&a);
    free(bytes);
}

/* Each entry is found from the first one on: a header of very many would take hours to go through. */
static void header_of_many_entries(void)
{
    static const char begin[] = "Obj\1\2\x16" "avro.schema\x50{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}";
    const size_t most = 16384, start = sizeof begin - 1;
    char *bytes = (char *)calloc(start + 2 * most + 32, 1);
    size_t n;
    CHECK(bytes != NULL);
    for (n = most - 1; bytes != NULL && n <= most; n++) { /* beside the schema: a block of one entry, then of n */
        tl_avro a;
        tl_error err;
        memcpy(bytes, begin, start);
        bytes[start] = (char)((2 * n & 127) | 128);
        bytes[start + 1] = (char)((2 * n >> 7 & 127) | 128);
        bytes[start + 2] = (char)(2 * n >> 14);
        CHECK_INT(tl_avro_open(&a, bytes, start + 3 + 2 * n + 1 + 16, NULL, NULL, &err), n < most ? TL_OK : TL_LIMIT);
        tl_avro_close(&a);
    }
    free(bytes);
}

/* A record whose fields define `types` types, the second a record of `fields` fields; `uses` fields are of those. */
static tl_status schema_of_many(uint32_t types, uint32_t fields, uint32_t uses, double *seconds)
{
    const size_t room = 1024 + ((size_t)types + fields + uses) * 80;
    char *schema = (char *)malloc(room), *file = (char *)malloc(room + 64);
    static text t;
    tl_avro a;
    tl_error err = {TL_OK, NULL, 0, 0};
    size_t n = 0;
    uint32_t i;
    clock_t began;
    CHECK(schema != NULL && file != NULL);
    n += (size_t)snprintf(schema + n, room - n, "{\"type\":\"record\",\"name\":\"top\",\"fields\":["
                          "{\"name\":\"a\",\"type\":{\"type\":\"fixed\",\"name\":\"t\",\"size\":1}},"
                          "{\"name\":\"b\",\"type\":{\"type\":\"record\",\"name\":\"r\",\"fields\":[");
    for (i = 0; i < fields; i++)
        n += (size_t)snprintf(schema + n, room - n, "%s{\"name\":\"x\",\"type\":\"int\"}", i == 0 ? "" : ",");
    n += (size_t)snprintf(schema + n, room - n, "]}}");
    for (i = 3; i < types; i++)
        n += (size_t)snprintf(schema + n, room - n,
                              ",{\"name\":\"c\",\"type\":{\"type\":\"fixed\",\"name\":\"%u\",\"size\":1}}", i);
    for (i = 0; i < uses; i++)
        n += (size_t)snprintf(schema + n, room - n, ",{\"name\":\"u\",\"type\":\"%s\"}", i % 2 == 0 ? "t" : "r");
    n += (size_t)snprintf(schema + n, room - n, "]}");
    t.size = 0;
    say(&t, "Obj\1\2\x16" "avro.schema", 17);
    put_long(&t, (int64_t)n);
    memcpy(file, t.data, t.size);
    memcpy(file + t.size, schema, n);
    memcpy(file + t.size + n, "\0" SYNC, 17);
    began = clock();
    (void)tl_avro_open(&a, file, t.size + n + 17, NULL, NULL, &err);
    *seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    tl_avro_close(&a);
    free(schema);
    free(file);
    return err.status;
}

/* What a type that is used costs must not grow with the types that are defined, nor with what is in it. */
static void schema_of_many_types(void)
{
    double few, seconds;
    CHECK_INT(schema_of_many(1024, 1, 2, &seconds), TL_OK);
    CHECK_INT(schema_of_many(1025, 1, 2, &seconds), TL_LIMIT);
    CHECK_INT(schema_of_many(4000, 1, 4000, &seconds), TL_LIMIT);
    CHECK_INT(schema_of_many(3, 1, 20000, &few), TL_OK);
    CHECK_INT(schema_of_many(3, 24000, 24000, &seconds), TL_OK);
    CHECK(seconds < 20 * few + 0.1);
}

static const tl_test_case cases[] = {
    TL_TEST(case_16_blocks_and_codecs),
    TL_TEST(case_17_names_and_field_ids),
    TL_TEST(every_byte_cut_and_flipped),
    TL_TEST(every_allocation_failed_in_turn),
    TL_TEST(schemas),
    TL_TEST(kinds),
    TL_TEST(values_of_no_bytes),
    TL_TEST(header_metadata),
    TL_TEST(header_of_many_entries),
    TL_TEST(schema_of_many_types),
    TL_TEST(third_party),
};
TL_TEST_MAIN(cases)
