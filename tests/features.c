/* The checker of table protocol 7: the shared case 19 through the checker alone and through a replay, the grammar and
   the order of features, what decides when members and actions repeat, history, memory that fails, texts that are
   cut anywhere. */
#include "tl_test.h"

#include "tl_log.h"

#define CASE "tests/data/cases/19-protocol-header/"

/* ---- case 19 ---- */

static const char *verdict_of(const tl_fault *fault, tl_status st)
{
    switch (st == TL_OK ? TL_FAULT_NONE : fault->kind) {
    case TL_FAULT_NONE: return "ok";
    case TL_FAULT_READER: return "unsupported-reader-features";
    case TL_FAULT_WRITER: return "unsupported-writer-features";
    case TL_FAULT_VERSION: return "unsupported-version";
    case TL_FAULT_READER_REMOVED: return "removed-reader-features";
    case TL_FAULT_COMMIT: return "malformed";
    default: return "something else";
    }
}

static void check_verdict(const tl_json *t, const tl_json_node *key, const tl_client *client)
{
    char path[256], *commit;
    size_t size;
    tl_span name = {NULL, 0}, read = log_text(t, key + 1, "read"), write = log_text(t, key + 1, "write");
    tl_log_options options;
    tl_log_replay r;
    tl_log_state *state = NULL;
    tl_protocol p;
    tl_fault fault;
    tl_status st;
    memset(&options, 0, sizeof options);
    memset(&fault, 0, sizeof fault);
    options.client = client;
    (void)tl_json_string(t, key, &name, NULL);
    snprintf(path, sizeof path, CASE "commits/%.*s.json", (int)name.size, name.data);
    commit = tl_test_read(path, &size);
    CHECK(commit != NULL);
    if (read.data == NULL) /* accept_read: the lists are judged before the version */
        read = tl_text("malformed");
    tl_log_replay_begin(&r, NULL, &options);
    st = tl_log_replay_commit(&r, 1, commit, size, &fault);
    if (st == TL_OK)
        st = tl_log_replay_finish(&r, &state, &fault);
    CHECK_TEXT(read.data, read.size, verdict_of(&fault, st));
    if (fault.kind == TL_FAULT_READER)
        CHECK_INT(r.decoded, 0); /* nothing of a table that is too new was decoded */
    if (st != TL_OK && fault.kind != TL_FAULT_WRITER)
        log_same_details(t, key + 1, &fault);
    tl_log_replay_end(&r);
    if (st == TL_OK) {
        p = tl_log_protocol(state);
        st = tl_protocol_may_write(&p, client, &fault);
        CHECK_TEXT(write.data, write.size, verdict_of(&fault, st));
        if (st != TL_OK)
            log_same_details(t, key + 1, &fault);
    }
    tl_log_state_drop(state);
    st = tl_protocol_inspect(&p, commit, size, client, NULL, &fault); /* alone it sees one commit, and no bodies */
    if (!tl_span_equal(read, tl_text("removed-reader-features")) && memcmp(name.data, "malformed", 9) != 0)
        CHECK_TEXT(read.data, read.size, verdict_of(&fault, st));
    tl_protocol_free(&p);
    free(commit);
}

static void case_19(void)
{
    size_t size;
    char *text = tl_test_read(CASE "expected.json", &size);
    tl_json t;
    const tl_json_node *commits, *key;
    tl_client client;
    tl_error err;
    long n = 0;
    memset(&client, 0, sizeof client);
    client.reader.names = tl_client_all()->reader.names; /* schema_add_columns is the first of them */
    client.reader.count = 1;
    CHECK(text != NULL);
    CHECK_STATUS(tl_json_parse(&t, text, size, NULL, NULL, &err), TL_OK, &err);
    commits = log_get(&t, t.root, "commits");
    for (key = tl_json_first(commits); key != NULL; key = tl_json_next(commits, key), n++)
        check_verdict(&t, key, &client);
    CHECK_INT(n, 27);
    tl_json_free(&t);
    free(text);
}

/* ---- grammar ---- */

static void names(void)
{
    static const char *const good[] = {"a", "z9", "a_", "schema_add_columns", "a__b"};
    static const char *const bad[] = {"", "_a", "9a", "A", "a-b", "a b", " a", "a ", "\xc3\xa9", "aB"};
    size_t i;
    for (i = 0; i < TLI_COUNT(good); i++)
        CHECK(tl_feature_valid(tl_text(good[i])));
    for (i = 0; i < TLI_COUNT(bad); i++)
        CHECK(!tl_feature_valid(tl_text(bad[i])));
    CHECK(!tl_feature_valid(tli_text_span("a\0b", 3)));
}

static tl_status inspect(tl_protocol *p, tl_fault *fault, const char *text)
{
    memset(fault, 0, sizeof *fault);
    return tl_protocol_inspect(p, text, strlen(text), NULL, NULL, fault);
}

#define HEADER(version, reader, writer)                                                                                \
    "{\"UpdateTableMeta\":{\"protocol_version\":" version ",\"required_reader_features\":[" reader                     \
    "],\"required_writer_features\":[" writer "]}}"
#define COMMIT(actions) "{\"actions\":[" actions "]}"

static void sets_are_sorted(void)
{
    tl_protocol p;
    tl_fault fault;
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("7", "", "\"b\",\"a9\",\"a_\",\"ab\",\"\\u0061\""))), TL_OK);
    CHECK_INT(p.writer.count, 5);
    CHECK_TEXT(p.writer.names[0].data, p.writer.names[0].size, "a"); /* digits < _ < letters */
    CHECK_TEXT(p.writer.names[1].data, p.writer.names[1].size, "a9");
    CHECK_TEXT(p.writer.names[2].data, p.writer.names[2].size, "a_");
    CHECK_TEXT(p.writer.names[3].data, p.writer.names[3].size, "ab");
    CHECK_TEXT(p.writer.names[4].data, p.writer.names[4].size, "b");
    CHECK_INT(tl_protocol_may_read(&p, NULL, &fault), TL_OK);
    CHECK_INT(tl_protocol_may_write(&p, NULL, &fault), TL_UNSUPPORTED);
    CHECK_TEXT(fault.about, fault.about_size, "a, a9, a_, ab, b");
    CHECK_INT(tl_features_missing(&p.writer, &p.writer, 0), 5);
    tl_protocol_free(&p);
    tl_protocol_free(&p);
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("7", "", "\"a\",\"\\u0061\""))), TL_CORRUPT); /* the same twice */
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("7", "\"zz\",\"schema_metadata\",\"aa\"", ""))), TL_UNSUPPORTED);
    CHECK_INT(fault.kind, TL_FAULT_READER);
    CHECK_TEXT(fault.about, fault.about_size, "aa, zz");
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("18446744073709551615", "", ""))), TL_UNSUPPORTED);
    CHECK(fault.kind == TL_FAULT_VERSION && fault.found == UINT64_MAX && fault.expected == 7);
}

/* Of what is named twice the last one counts, at every level; then nothing before it does. */
static void the_last_one_counts(void)
{
    tl_protocol p;
    tl_fault fault;
    CHECK_INT(inspect(&p, &fault, "{\"actions\":[" HEADER("8", "", "") "],\"actions\":[]}"), TL_OK);
    CHECK_INT(p.version, 0);
    CHECK_INT(inspect(&p, &fault, "{\"actions\":[],\"acti\\u006fns\":[" HEADER("8", "", "") "]}"), TL_UNSUPPORTED);
    CHECK_INT(inspect(&p, &fault, COMMIT("{\"UpdateTableMeta\":0,\"UpdateTableMeta\":{\"protocol_version\":8,"
                                         "\"protocol_version\":7,\"required_reader_features\":null,"
                                         "\"required_reader_features\":[],\"required_writer_features\":[]}}")),
              TL_OK);
    CHECK_INT(p.version, 7);
    CHECK_INT(inspect(&p, &fault, COMMIT("{\"UpdateTableMeta\":{},\"X\":{}}")), TL_OK); /* two members: no header */
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("8", "", "")) "x"), TL_CORRUPT);        /* no JSON, whatever it says */
    CHECK_INT(fault.kind, TL_FAULT_COMMIT);
    CHECK_INT(inspect(&p, &fault, COMMIT("{\"UpdateTableMeta\":[7,[],[]]}")), TL_CORRUPT);
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("7", "", "") "," HEADER("8", "", ""))), TL_UNSUPPORTED);
    CHECK_INT(inspect(&p, &fault, COMMIT("{\"UpdateTableMeta\":{}}," HEADER("8", "", ""))), TL_CORRUPT);
    CHECK_INT(inspect(&p, &fault, COMMIT(HEADER("8", "", "") ",{\"UpdateTableMeta\":{}}")), TL_UNSUPPORTED);
    CHECK_INT(inspect(&p, &fault, "[]"), TL_OK);
    CHECK_INT(inspect(&p, &fault, ""), TL_TRUNCATED);
}

/* The largest doubles: 1.7976931348623157e308 is one, the next decimal up is rounded to it, then there are none. */
static void numbers_that_doubles_hold(void)
{
    static const struct { const char *text; int fits; } table[] = {
        {"1e308", 1}, {"1e309", 0}, {"-1e309", 0}, {"1.7976931348623157e308", 1},
        {"1.7976931348623159e308", 0},
        {"17976931348623157e292", 1}, {"0.00017976931348623159e312", 0}, {"0e99999", 1},
        {"0.0e99999999999999999999", 1},
        {"1e-400", 1}, {"9E+999999999999999999999", 0}, {"1e+0308", 1}, {"0.001e311", 1}, {"0.001e312", 0}};
    char text[700];
    size_t i;
    tl_protocol p;
    tl_fault fault;
    for (i = 0; i < TLI_COUNT(table); i++) {
        snprintf(text, sizeof text, "[%s]", table[i].text);
        CHECK_INT(inspect(&p, &fault, text) == TL_OK, table[i].fits);
    }
    for (i = 300; i < 320; i++) { /* digits alone */
        text[0] = '[';
        memset(text + 1, '9', i);
        memcpy(text + 1 + i, "]", 2);
        CHECK_INT(inspect(&p, &fault, text) == TL_OK, i <= 308);
    }
}

static void nesting(void)
{
    char text[600];
    int depth;
    tl_protocol p;
    tl_fault fault;
    for (depth = 126; depth <= 128; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = 0;
        CHECK_INT(inspect(&p, &fault, text) == TL_OK, depth <= 127);
    }
}

static void history(void)
{
    tl_protocol a, b;
    tl_fault fault;
    CHECK_INT(inspect(&a, &fault, COMMIT(HEADER("7", "\"schema_metadata\"", "\"x\",\"y\""))), TL_OK);
    CHECK_INT(inspect(&b, &fault,
                      COMMIT(HEADER("7", "\"schema_metadata\",\"schema_add_columns\"", "\"y\",\"x\",\"z\""))),
              TL_OK);
    CHECK_INT(tl_protocol_follows(&a, &b, &fault), TL_OK);
    CHECK_INT(tl_protocol_follows(&b, &a, &fault), TL_CORRUPT);
    CHECK_INT(fault.kind, TL_FAULT_READER_REMOVED);
    CHECK_TEXT(fault.about, fault.about_size, "schema_add_columns");
    b.reader = a.reader;
    CHECK_INT(tl_protocol_follows(&b, &a, &fault), TL_CORRUPT);
    CHECK_INT(fault.kind, TL_FAULT_WRITER_REMOVED);
    b.version = 6;
    CHECK_INT(tl_protocol_follows(&a, &b, NULL), TL_CORRUPT);
    CHECK_INT(tl_protocol_follows(&a, &b, &fault), TL_CORRUPT);
    CHECK_INT(fault.kind, TL_FAULT_VERSION_DECREASED);
    tl_protocol_free(&a);
    tl_protocol_free(&b);
}

/* A list of more features than a fault has room for, sorted and judged in good time. */
static void many_features(void)
{
    const size_t count = 100000;
    char *text = (char *)malloc(count * 16 + 400);
    size_t n = (size_t)sprintf(text, "{\"actions\":[{\"UpdateTableMeta\":{\"protocol_version\":7,"
                                     "\"required_writer_features\":[],\"required_reader_features\":[");
    size_t i;
    tl_protocol p;
    tl_fault fault;
    memset(&fault, 0, sizeof fault);
    for (i = 0; i < count; i++)
        n += (size_t)sprintf(text + n, "%s\"f%zu\"", i == 0 ? "" : ",", (i * 7919) % count);
    n += (size_t)sprintf(text + n, "]}}]}");
    CHECK_INT(tl_protocol_inspect(&p, text, n, NULL, NULL, &fault), TL_UNSUPPORTED);
    CHECK_INT(fault.kind, TL_FAULT_READER);
    CHECK_TEXT(fault.about, 12, "f0, f1, f10,");
    CHECK(fault.about_size > 230 && fault.about_size <= TL_FAULT_ABOUT);
    free(text);
}

static void memory_fails(void)
{
    static const char text[] = COMMIT(HEADER("7", "\"schema_metadata\"", "\"a\",\"\\u0062\""));
    tl_test_memory m;
    tl_allocator a;
    tl_protocol p;
    tl_fault fault;
    long fail;
    for (fail = 1; fail < 10; fail++) {
        tl_status st;
        memset(&m, 0, sizeof m);
        m.fail_at = fail;
        a = tl_test_allocator(&m);
        memset(&fault, 0, sizeof fault);
        st = tl_protocol_inspect(&p, text, sizeof text - 1, NULL, &a, &fault);
        if (st == TL_OK) {
            tl_protocol_free(&p);
            break;
        }
        CHECK_INT(st, TL_NO_MEMORY);
        CHECK_INT(fault.kind, TL_FAULT_OTHER);
        CHECK_INT(m.live, 0);
    }
    CHECK_INT(fail, 3);
    CHECK_INT(m.live, 0);
}

/* No part of a commit is one: what is cut is told, and nothing is held. */
static void cut_anywhere(void)
{
    static const char text[] = COMMIT("{\"AddSegment\":{\"x\":[1,2.5e3,\"\\u00e9\"]}}," HEADER("7", "", "\"a\""));
    size_t i;
    tl_protocol p;
    tl_fault fault;
    memset(&fault, 0, sizeof fault);
    for (i = 0; i < sizeof text - 1; i++) {
        char *cut = (char *)malloc(i + 1);
        memcpy(cut, text, i);
        CHECK(tl_protocol_inspect(&p, cut, i, NULL, NULL, &fault) != TL_OK);
        CHECK(p.version == 0 && p.memory[0] == NULL && p.memory[1] == NULL);
        free(cut);
    }
    CHECK_INT(tl_protocol_inspect(&p, text, i, NULL, NULL, NULL), TL_OK);
    tl_protocol_free(&p);
}

/* Names of faults are told apart, and fit. */
static void fault_names(void)
{
    char a[96];
    int i, longest = 0;
    tl_fault fault;
    memset(&fault, 0, sizeof fault);
    for (i = 0; i < TLI_FAULT_COUNT; i++) {
        int n;
        fault.kind = (tl_fault_kind)i;
        fault.group = TL_GROUP_KEYS;
        n = (int)strlen(tl_fault_name(&fault, a));
        longest = n > longest ? n : longest;
    }
    CHECK(longest < 96);
    fault.kind = TL_FAULT_NAME_EMPTY;
    fault.group = TL_GROUP_REQUEST;
    CHECK(strcmp(tl_fault_name(&fault, a), "Schema.EmptyName") == 0);
}

static const tl_test_case cases[] = {
    TL_TEST(case_19), TL_TEST(names), TL_TEST(sets_are_sorted), TL_TEST(the_last_one_counts),
    TL_TEST(numbers_that_doubles_hold), TL_TEST(nesting), TL_TEST(history), TL_TEST(many_features),
    TL_TEST(memory_fails), TL_TEST(cut_anywhere), TL_TEST(fault_names),
};
TL_TEST_MAIN(cases)
