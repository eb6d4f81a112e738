/* JSON: strictness, positions, the tree, exact integers, rewriting by splicing. Sources: RFC 8259; JSONTestSuite
   (third-party/json, read in place); the metadata case of tests/data/09-metadata-int64. */
#include "tl_test.h"
#include <dirent.h>

static tl_status check(const char *text, tl_error *err)
{
    return tl_json_check(text, strlen(text), NULL, err);
}

static void accepts_values(void)
{
    static const char *const good[] = {
        "null", "true", " false ", "0", "-0", "-0.0e-0", "1E+2", "123456789012345678901234567890", "1.5", "\"\"",
        "\"\\u0000\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\uD834\\uDd1e\"", "\"\xf4\x8f\xbf\xbf\x7f\"", "[]", "{}",
            "[[],{}]",
        "\t[1 ,\n2\r,{\"a\" : [ ] , \"a\":{}}]\n", "\"12345678901234567890\"",
            "[1234567,12345678,123456789,0.12345678e12]",
    };
    size_t i;
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        tl_error err;
        if (!CHECK_STATUS(check(good[i], &err), TL_OK, &err))
            fprintf(stderr, "  %s\n", good[i]);
    }
}

static const struct {
    const char *text;
    tl_status status;
    int position;
} wrong[] = {
    {"", TL_TRUNCATED, 0},
    {"  ", TL_TRUNCATED, 2},
    {"\xef\xbb\xbf{}", TL_CORRUPT, 0},
    {"nul", TL_TRUNCATED, 3},
    {"nulx", TL_CORRUPT, 0},
    {"True", TL_CORRUPT, 0},
    {"truefalse", TL_CORRUPT, 4},
    {"01", TL_CORRUPT, 1},
    {"-", TL_TRUNCATED, 1},
    {"-a", TL_CORRUPT, 1},
    {"+1", TL_CORRUPT, 0},
    {".5", TL_CORRUPT, 0},
    {"1.", TL_TRUNCATED, 2},
    {"1.e1", TL_CORRUPT, 2},
    {"1e", TL_TRUNCATED, 2},
    {"1e+x", TL_CORRUPT, 3},
    {"12345678x", TL_CORRUPT, 8},
    {"1 2", TL_CORRUPT, 2},
    {"[1", TL_TRUNCATED, 2},
    {"[1,", TL_TRUNCATED, 3},
    {"[1,]", TL_CORRUPT, 3},
    {"[,1]", TL_CORRUPT, 1},
    {"[1}", TL_CORRUPT, 2},
    {"[1 2]", TL_CORRUPT, 3},
    {"{\"a\"}", TL_CORRUPT, 4},
    {"{\"a\":}", TL_CORRUPT, 5},
    {"{\"a\":1,}", TL_CORRUPT, 7},
    {"{a:1}", TL_CORRUPT, 1},
    {"{1:1}", TL_CORRUPT, 1},
    {"{\"a\" 1}", TL_CORRUPT, 5},
    {"{\"a\":1 \"b\":2}", TL_CORRUPT, 7},
    {"{]", TL_CORRUPT, 1},
    {"[]]", TL_CORRUPT, 2},
    {"\"abc", TL_TRUNCATED, 4},
    {"\"abcdefghijk", TL_TRUNCATED, 12},
    {"\"abcdefghijklm\n\"", TL_CORRUPT, 14},
    {"\"a\tb\"", TL_CORRUPT, 2},
    {"\"\\", TL_TRUNCATED, 2},
    {"\"\\x41\"", TL_CORRUPT, 1},
    {"\"\\u12", TL_TRUNCATED, 5},
    {"\"\\u12g4\"", TL_CORRUPT, 5},
    {"\"\\ud800\"", TL_CORRUPT, 1},
    {"\"\\ud800\\ud800\"", TL_CORRUPT, 1},
    {"\"a\\udc00\"", TL_CORRUPT, 2},
    {"\"\x80\"", TL_CORRUPT, 1},
    {"\"\xc0\x80\"", TL_CORRUPT, 1},
    {"\"\xe0\x9f\xbf\"", TL_CORRUPT, 1},
    {"\"\xed\xa0\x80\"", TL_CORRUPT, 1},
    {"\"\xf0\x8f\xbf\xbf\"", TL_CORRUPT, 1},
    {"\"\xf4\x90\x80\x80\"", TL_CORRUPT, 1},
    {"\"\xe2\x82\"", TL_CORRUPT, 1},
    {"[\"\xc3\xa9\xff\"]", TL_CORRUPT, 4},
    {"'a'", TL_CORRUPT, 0},
    {"/**/1", TL_CORRUPT, 0},
    {"[1]\xc2\xa0", TL_CORRUPT, 3},
    {"\f1", TL_CORRUPT, 0},
};

static void refuses_with_positions(void)
{
    size_t i;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tl_error err;
        tl_json tree;
        if (!CHECK_STATUS(check(wrong[i].text, &err), wrong[i].status, &err)
            || !CHECK_INT(err.position, wrong[i].position))
            fprintf(stderr, "  %s\n", wrong[i].text);
        CHECK_STATUS(tl_json_parse(&tree, wrong[i].text, strlen(wrong[i].text), NULL, NULL, &err), wrong[i].status,
            &err);
        CHECK_INT(err.position, wrong[i].position);
        CHECK(tree.root == NULL);
    }
    {
        tl_error err;
        CHECK_STATUS(tl_json_check("1\0", 2, NULL, &err), TL_CORRUPT, &err);
        CHECK_INT(err.position, 1);
        CHECK_STATUS(tl_json_check("\"\0\"", 3, NULL, &err), TL_CORRUPT, &err);
        CHECK_STATUS(tl_json_check(NULL, 1, NULL, &err), TL_MISUSE, &err);
    }
}

static void nests_up_to_the_limit(void)
{
    static char text[200000];
    tl_limits limits;
    tl_error err;
    int depth;
    memset(&limits, 0, sizeof limits);
    for (depth = 1; depth <= 256; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        limits.depth = (uint32_t)depth;
        CHECK_STATUS(tl_json_check(text, (size_t)depth * 2, &limits, &err), TL_OK, &err);
        if (depth > 1) {
            limits.depth = (uint32_t)depth - 1;
            CHECK_STATUS(tl_json_check(text, (size_t)depth * 2, &limits, &err), TL_LIMIT, &err);
            CHECK_INT(err.position, depth - 1);
        }
    }
    memset(text, '[', sizeof text);
    CHECK_STATUS(tl_json_check(text, sizeof text, NULL, &err), TL_LIMIT, &err);
    CHECK_INT(err.position, 64);
    for (depth = 0; depth + 5 <= (int)sizeof text; depth += 5)
        memcpy(text + depth, "{\"\":[", 5); /* objects and lists in turn: the closing side must tell them apart */
    CHECK_STATUS(tl_json_check(text, sizeof text, NULL, &err), TL_LIMIT, &err);
    CHECK_INT(err.position, 160);
    CHECK_STATUS(check("[{\"a\":[{\"b\":[{}]},[]]}]", &err), TL_OK, &err);
    CHECK_STATUS(check("[{\"a\":[{\"b\":[{}]},[]}]]", &err), TL_CORRUPT, &err);
    CHECK_INT(err.position, 20);
}

static void strings_at_every_length(void)
{
    /* the one special byte at every place of strings of every length around the eight bytes that are read at a time */
    int size, at;
    for (size = 1; size < 40; size++)
        for (at = 0; at < size; at++) {
            char text[64];
            tl_error err;
            memset(text, 'a', sizeof text);
            text[0] = text[size + 1] = '"';
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_OK, &err);
            text[1 + at] = 0x1f;
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at + 1);
            text[1 + at] = (char)0x80;
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at + 1);
            text[1 + at] = '"';
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at + 2);
            text[1 + at] = ' ';
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_OK, &err);
            memset(text, '7', sizeof text);
            text[at] = at == 0 ? '-' : '.';
            if (at + 1 < size)
                CHECK_STATUS(tl_json_check(text, (size_t)size, NULL, &err), TL_OK, &err);
            text[at] = '/';
            CHECK_STATUS(tl_json_check(text, (size_t)size, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at);
            text[at] = ':';
            CHECK_STATUS(tl_json_check(text, (size_t)size, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at);
        }
    /* the same behind an escape, where strings are read another way */
    for (size = 3; size < 60; size++)
        for (at = 2; at < size; at++) {
            char text[80];
            tl_error err;
            memset(text, 'a', sizeof text);
            text[0] = text[size + 1] = '"';
            text[1] = '\\';
            text[2] = 'n';
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_OK, &err);
            text[1 + at] = 4;
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at + 1);
            text[1 + at] = (char)0xff;
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at + 1);
            text[1 + at] = '"';
            CHECK_STATUS(tl_json_check(text, (size_t)size + 2, NULL, &err), TL_CORRUPT, &err);
            CHECK_INT(err.position, at + 2);
        }
}

static void canonical_is(const char *text, const char *want)
{
    tl_buffer out;
    tl_error err;
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tl_json_canonical(&out, text, strlen(text), NULL, &err), TL_OK, &err);
    CHECK_TEXT(out.data, out.size, want);
    CHECK_STATUS(tl_json_canonical(&out, "[1,}", 4, NULL, &err), TL_CORRUPT, &err);
    CHECK_TEXT(out.data, out.size, want);
    tl_buffer_free(&out);
}

static void writes_the_compact_form(void)
{
    canonical_is(" [ 1 , 2.50 , -0 , 1E+2 ,null, true,\tfalse ] ", "[1,2.50,-0,1E+2,null,true,false]");
    canonical_is("{ \"b\" : 1 , \"a\" : { } , \"b\" : [ ] }", "{\"b\":1,\"a\":{},\"b\":[]}");
    canonical_is("[[],[[]],{},{\"\":{}}]", "[[],[[]],{},{\"\":{}}]");
    /* escapes as serde_json writes them */
    canonical_is("\"\\u0000\\u0008\\u0009\\u000A\\u000b\\u000c\\u000d\\u001F\\u0020\\u0022\\u005c\\u002f\\/\\u007f\"",
                 "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\//\x7f\"");
    canonical_is("\"\\u00e9\\u20AC\\ud834\\udd1e and plain text behind it\"",
                 "\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e and plain text behind it\"");
    canonical_is("{\"\\u0061\\t\":\"no escape in this long enough text\",\"k\":\"\xf0\x9d\x84\x9e\"}",
                 "{\"a\\t\":\"no escape in this long enough text\",\"k\":\"\xf0\x9d\x84\x9e\"}");
    canonical_is("12345678901234567890.000e000", "12345678901234567890.000e000");
}

static void tree_has_everything(void)
{
    static const char text[] =
        " {\"a\":[1,-2,{\"x\":null},\"\\u00e9\\n\"],\"b\":true,\"a\\u0062\":\"plain\",\"b\":false,\"n\":922337"
        "2036854775807} ";
    tl_json tree;
    tl_error err;
    const tl_json_node *a, *at;
    int64_t v = 0;
    int truth = 1;
    tl_span s;
    CHECK_STATUS(tl_json_parse(&tree, text, sizeof text - 1, NULL, NULL, &err), TL_OK, &err);
    CHECK_INT(tree.root->kind, TL_JSON_OBJECT);
    CHECK_INT(tree.root->count, 5);
    CHECK_INT(tree.root->nodes, 17);
    CHECK_INT(tree.root->start, 1);
    CHECK_INT(tree.root->size, sizeof text - 3);
    a = tl_json_member(&tree, tree.root, tl_text("a"));
    CHECK(a != NULL && a->kind == TL_JSON_ARRAY && a->count == 4);
    s = tl_json_raw(&tree, a);
    CHECK_TEXT(s.data, s.size, "[1,-2,{\"x\":null},\"\\u00e9\\n\"]");
    CHECK_STATUS(tl_json_int64(&tree, tl_json_at(a, 1), &v, &err), TL_OK, &err);
    CHECK_INT(v, -2);
    CHECK(!tl_json_present(tl_json_member(&tree, tl_json_at(a, 2), tl_text("x"))));
    CHECK_STATUS(tl_json_string(&tree, tl_json_at(a, 3), &s, &err), TL_OK, &err);
    CHECK_TEXT(s.data, s.size, "\xc3\xa9\n");
    CHECK(tl_json_at(a, 4) == NULL && tl_json_at(tree.root, 0) == NULL && tl_json_at(NULL, 0) == NULL);
    CHECK_STATUS(tl_json_string(&tree, tl_json_member(&tree, tree.root, tl_text("ab")), &s, &err), TL_OK, &err);
    CHECK_TEXT(s.data, s.size, "plain");
    CHECK_STATUS(tl_json_bool(&tree, tl_json_member(&tree, tree.root, tl_text("b")), &truth, &err), TL_OK, &err);
    CHECK_INT(truth, 0); /* the last of two */
    CHECK_STATUS(tl_json_int64(&tree, tl_json_member(&tree, tree.root, tl_text("n")), &v, &err), TL_OK, &err);
    CHECK(v == INT64_MAX);
    CHECK_STATUS(tl_json_int64(&tree, a, &v, &err), TL_CORRUPT, &err);
    CHECK_INT(err.position, 6);
    CHECK_STATUS(tl_json_bool(&tree, a, &truth, &err), TL_CORRUPT, &err);
    CHECK_STATUS(tl_json_string(&tree, NULL, &s, &err), TL_ABSENT, &err);
    CHECK(tl_json_member(&tree, a, tl_text("a")) == NULL && tl_json_member(&tree, tree.root, tl_text("")) == NULL);
    at = tl_json_first(tree.root);
    CHECK(at != NULL && at + 1 == a);
    at = tl_json_next(tree.root, at);
    CHECK(at != NULL && tl_span_equal(tl_json_raw(&tree, at), tl_text("\"b\"")));
    CHECK(tl_json_first(tl_json_member(&tree, tree.root, tl_text("n"))) == NULL);
    CHECK(tl_json_next(a, tl_json_at(a, 3)) == NULL);
    tl_json_free(&tree);
    CHECK(tree.root == NULL);
    tl_json_free(&tree);
    tl_json_free(NULL);
}

static void integers_are_exact(void)
{
    static const struct { const char *text; int good; int64_t value; } cases[] = {
        {"0", 1, 0}, {"9007199254740993", 1, INT64_C(9007199254740993)}, {"-9223372036854775808", 1, INT64_MIN},
        {"9223372036854775807", 1, INT64_MAX}, {"9223372036854775808", 0, 0}, {"-9223372036854775809", 0, 0},
        {"1e2", 0, 0}, {"1.0", 0, 0}, {"\"1\"", 0, 0}, {"true", 0, 0}, {"null", 0, 0}, {"[1]", 0, 0}, {"{}", 0, 0},
        {"100000000000000000000000", 0, 0},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[80];
        tl_json tree;
        tl_error err;
        int64_t v = 1;
        snprintf(text, sizeof text, "[ %s ]", cases[i].text);
        CHECK_STATUS(tl_json_parse(&tree, text, strlen(text), NULL, NULL, &err), TL_OK, &err);
        CHECK_STATUS(tl_json_int64(&tree, tl_json_at(tree.root, 0), &v, &err), cases[i].good ? TL_OK : TL_CORRUPT,
            &err);
        if (cases[i].good)
            CHECK(v == cases[i].value);
        else
            CHECK_INT(err.position, 2);
        tl_json_free(&tree);
    }
}

static void each_allocation_fails(void)
{
    static const char text[] = "{\"a\":[\"\\n\",2]}";
    tl_test_memory m;
    tl_allocator a = tl_test_allocator(&m);
    tl_json tree;
    tl_error err;
    static char block[4096];
    memset(&m, 0, sizeof m);
    CHECK_STATUS(tl_json_parse(&tree, text, sizeof text - 1, NULL, &a, &err), TL_OK, &err);
    CHECK_INT(m.calls, 1);
    tl_json_free(&tree);
    CHECK_INT(m.live, 0);
    memset(&m, 0, sizeof m);
    m.fail_at = 1;
    CHECK_STATUS(tl_json_parse(&tree, text, sizeof text - 1, NULL, &a, &err), TL_NO_MEMORY, &err);
    CHECK_INT(m.live, 0);
    tl_json_free(&tree);
    a = tl_block(block, 100);
    CHECK_STATUS(tl_json_parse(&tree, text, sizeof text - 1, NULL, &a, &err), TL_BLOCK_FULL, &err);
    CHECK(err.need > 100 && err.need < sizeof block);
    a = tl_block(block, (size_t)err.need);
    CHECK_STATUS(tl_json_parse(&tree, text, sizeof text - 1, NULL, &a, &err), TL_OK, &err);
    tl_json_free(&tree);
}

static void test_suite(void)
{
    static char folder[4096];
    DIR *dir;
    struct dirent *entry;
    int count = 0;
    snprintf(folder, sizeof folder, "%s", tl_test_shared("third-party/json"));
    dir = opendir(folder);
    if (dir == NULL) {
        tl_test_skip("no third-party/json");
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        static char path[8192];
        const char *name = entry->d_name;
        size_t size;
        char *text, *copy;
        tl_error err;
        tl_status st;
        if (strstr(name, ".json") == NULL || name[1] != '_')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        text = tl_test_read(path, &size);
        CHECK(text != NULL);
        copy = (char *)malloc(size == 0 ? 1 : size); /* of its own exact size, for the sanitizer */
        memcpy(copy, text, size);
        st = tl_json_check(copy, size, NULL, &err);
        if (!tl_test_int(st == TL_OK, name[0] == 'y' || (name[0] == 'i' && st == TL_OK), "accepted", name, 0))
            fprintf(stderr, "  %s\n", tl_status_text(st));
        /* what may go either way: numbers of any size are text, anything that is not UTF-8 is refused */
        if (strncmp(name, "i_number_", 9) == 0)
            CHECK_STATUS(st, TL_OK, &err);
        else if (name[0] == 'i')
            CHECK(st != TL_OK);
        free(copy);
        free(text);
        count++;
    }
    closedir(dir);
    CHECK(count > 150);
}

/* ---- table metadata with integers past 2^53 ---- */

#define METADATA "tests/data/09-metadata-int64/"

static int64_t int_at(const tl_json *tree, const tl_json_node *object, const char *key)
{
    int64_t v = -1;
    tl_error err;
    CHECK_STATUS(tl_json_int64(tree, tl_json_member(tree, object, tl_text(key)), &v, &err), TL_OK, &err);
    return v;
}

static void metadata_integers_are_exact(void)
{
    static const char *const bad[] = {"exponent", "fraction", "over", "string", "leading-zero", "bool"};
    static const int64_t ids[] = {INT64_C(9007199254740992), INT64_C(9007199254740993), INT64_MAX};
    size_t size, i;
    char *text = tl_test_read(METADATA "big.json", &size);
    tl_json tree;
    tl_error err;
    const tl_json_node *snapshots;
    CHECK(text != NULL);
    CHECK_STATUS(tl_json_parse(&tree, text, size, NULL, NULL, &err), TL_OK, &err);
    CHECK(int_at(&tree, tree.root, "current-snapshot-id") == INT64_MAX);
    CHECK(int_at(&tree, tree.root, "last-sequence-number") == INT64_C(9007199254740995));
    snapshots = tl_json_member(&tree, tree.root, tl_text("snapshots"));
    CHECK_INT(snapshots->count, 3);
    for (i = 0; i < 3; i++) {
        const tl_json_node *snapshot = tl_json_at(snapshots, (uint32_t)i);
        CHECK(int_at(&tree, snapshot, "snapshot-id") == ids[i]);
        CHECK(int_at(&tree, snapshot, "sequence-number") == INT64_C(9007199254740993) + (int64_t)i);
        if (i != 0)
            CHECK(int_at(&tree, snapshot, "parent-snapshot-id") == ids[i - 1]);
        else
            CHECK(tl_json_member(&tree, snapshot, tl_text("parent-snapshot-id")) == NULL);
    }
    tl_json_free(&tree);
    free(text);
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[200];
        int64_t v;
        tl_status st;
        snprintf(path, sizeof path, METADATA "%s.json", bad[i]);
        text = tl_test_read(path, &size);
        CHECK(text != NULL);
        st = tl_json_parse(&tree, text, size, NULL, NULL, &err);
        if (st == TL_OK)
            st = tl_json_int64(&tree, tl_json_member(&tree, tree.root, tl_text("current-snapshot-id")), &v, &err);
        CHECK_STATUS(st, TL_CORRUPT, &err);
        CHECK_INT(err.position, strstr(text, "current-snapshot-id\": ") + 22 + (strcmp(bad[i], "leading-zero") == 0) -
            text);
        tl_json_free(&tree);
        free(text);
    }
}

static void put_raw(tl_buffer *out, tl_span raw, tl_error *err)
{
    CHECK_INT(tli_mem_append(out, raw.data, raw.size, err), TL_OK);
}

/* What an append does to metadata: two members change, one list grows, everything else is copied as it stands. */
static void splice_after_append(void)
{
    size_t size;
    char *text = tl_test_read(METADATA "big.json", &size);
    tl_buffer out;
    tl_json tree, after;
    tl_error err;
    const tl_json_node *key, *list;
    const char *digits;
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tl_json_parse(&tree, text, size, NULL, NULL, &err), TL_OK, &err);
    tli_mem_append(&out, "{", 1, &err);
    for (key = tl_json_first(tree.root); key != NULL; key = tl_json_next(tree.root, key)) {
        const tl_json_node *value = key + 1;
        tl_span name, raw = tl_json_raw(&tree, value);
        if (key != tl_json_first(tree.root))
            tli_mem_append(&out, ",", 1, &err);
        put_raw(&out, tl_json_raw(&tree, key), &err);
        tli_mem_append(&out, ":", 1, &err);
        CHECK_STATUS(tl_json_string(&tree, key, &name, &err), TL_OK, &err);
        if (tl_span_equal(name, tl_text("last-sequence-number"))) {
            put_raw(&out, tl_text("9007199254740996"), &err);
        } else if (tl_span_equal(name, tl_text("current-snapshot-id"))) {
            put_raw(&out, tl_text("77"), &err);
        } else if (tl_span_equal(name, tl_text("snapshots"))) {
            raw.size--;
            put_raw(&out, raw, &err);
            put_raw(&out, tl_text(",{\"snapshot-id\":77,\"parent-snapshot-id\":9223372036854775807,"
                                  "\"sequence-number\":9007199254740996}]"), &err);
        } else {
            put_raw(&out, raw, &err);
        }
    }
    tli_mem_append(&out, "}", 1, &err);
    CHECK_STATUS(tl_json_parse(&after, (const char *)out.data, out.size, NULL, NULL, &err), TL_OK, &err);
    CHECK_INT(after.root->count, tree.root->count);
    CHECK(int_at(&after, after.root, "last-sequence-number") == INT64_C(9007199254740996));
    list = tl_json_member(&after, after.root, tl_text("snapshots"));
    CHECK_INT(list->count, 4);
    CHECK(int_at(&after, tl_json_at(list, 3), "parent-snapshot-id") == INT64_MAX);
    for (key = tl_json_first(tree.root); key != NULL; key = tl_json_next(tree.root, key)) {
        tl_span name, was = tl_json_raw(&tree, key + 1), is;
        tl_json_string(&tree, key, &name, &err);
        is = tl_json_raw(&after, tl_json_member(&after, after.root, name));
        if (tl_span_equal(name, tl_text("snapshots")))
            CHECK(is.size > was.size && memcmp(is.data, was.data, was.size - 1) == 0);
        else if (!tl_span_equal(name, tl_text("last-sequence-number")) && !tl_span_equal(name, tl_text(
            "current-snapshot-id")))
            CHECK(tl_span_equal(was, is));
    }
    /* and the compact form keeps every digit too */
    out.size = 0;
    CHECK_STATUS(tl_json_canonical(&out, text, size, NULL, &err), TL_OK, &err);
    for (digits = text; *digits != 0; digits++)
        if (*digits >= '1' && *digits <= '9' && digits[-1] == ' ') {
            size_t n = strspn(digits, "0123456789"), i;
            int found = 0;
            for (i = 0; i + n <= out.size && !found; i++)
                found = memcmp(out.data + i, digits, n) == 0;
            CHECK(found);
        }
    tl_json_free(&after);
    tl_json_free(&tree);
    tl_buffer_free(&out);
    free(text);
}

static void every_cut_and_flip(void)
{
    static const char text[] =
        "{\"a\\u00e9\":[1.5e3,-2,{\"x\":null},\"\\ud834\\udd1e\"],\"b\":true,\"long enough text\":12345678901}";
    size_t cut, bit;
    tl_error err;
    for (cut = 0; cut < sizeof text - 1; cut++) {
        char *copy = (char *)malloc(cut + 1);
        memcpy(copy, text, cut);
        CHECK_STATUS(tl_json_check(copy, cut, NULL, &err), TL_TRUNCATED, &err);
        CHECK_INT(err.position, cut);
        free(copy);
    }
    for (bit = 0; bit < (sizeof text - 1) * 8; bit++) {
        char *copy = (char *)malloc(sizeof text - 1);
        tl_json tree;
        tl_status st;
        memcpy(copy, text, sizeof text - 1);
        copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << (bit % 8)));
        st = tl_json_check(copy, sizeof text - 1, NULL, &err);
        CHECK_STATUS(tl_json_parse(&tree, copy, sizeof text - 1, NULL, NULL, NULL), st, &err);
        if (st != TL_OK)
            CHECK(err.position <= bit / 8 + 8 || st == TL_TRUNCATED || err.position < sizeof text);
        tl_json_free(&tree);
        free(copy);
    }
}

static const tl_test_case cases[] = {
    TL_TEST(accepts_values),
    TL_TEST(refuses_with_positions),
    TL_TEST(nests_up_to_the_limit),
    TL_TEST(strings_at_every_length),
    TL_TEST(writes_the_compact_form),
    TL_TEST(tree_has_everything),
    TL_TEST(integers_are_exact),
    TL_TEST(each_allocation_fails),
    TL_TEST(test_suite),
    TL_TEST(metadata_integers_are_exact),
    TL_TEST(splice_after_append),
    TL_TEST(every_cut_and_flip),
};
TL_TEST_MAIN(cases)
