/* The timeseries log as data: every recorded verdict of the crate timeseries-table-format 0.9.0 (tests/data/log) about
   reading, writing and adding columns, kinds of error and bytes of commits included; the rewriting of real commits;
   what happens without memory. */
#include "tl_test.h"

#include "tl_log.h"

/* ---- loading a recorded table ---- */

static const char hex_digits[] = "0123456789abcdef";

/* A file of a recorded folder: 1, 0 when it is not there, -1 when it cannot be read (a folder). `data` has room. */
static int file_of(const tl_json *t, const tl_json_node *files, const char *name, char *data, size_t *size)
{
    const tl_json_node *node = tl_json_member(t, files, tl_text(name));
    tl_span text;
    size_t i;
    *size = 0;
    if (log_get(t, files, "") != NULL)
        return -1;
    if (node == NULL)
        return 0;
    if (node->kind == TL_JSON_BOOL)
        return -1;
    if (node->kind == TL_JSON_STRING) {
        (void)tl_json_string(t, node, &text, NULL);
        memcpy(data, text.data, text.size);
        *size = text.size;
        return 1;
    }
    text = log_text(t, node, "hex");
    for (i = 0; i + 1 < text.size; i += 2)
        data[(*size)++] = (char)((strchr(hex_digits, text.data[i]) - hex_digits) * 16
                                 + (strchr(hex_digits, text.data[i + 1]) - hex_digits));
    return 1;
}

static tl_status no_file(int how, tl_fault *fault)
{
    return tli_features_fault(fault, how == 0 ? TL_FAULT_NOT_FOUND : TL_FAULT_IO, TL_STORE, "no file", TL_NO_POSITION);
}

/* Opens as the machine does, without one. */
static tl_status open_files(const tl_json *t, const tl_json_node *files, tl_log_state **state, tl_fault *fault)
{
    char *data = (char *)malloc(1 << 20);
    tl_log_replay r;
    uint64_t current = 0, v;
    size_t size;
    int there = file_of(t, files, "CURRENT", data, &size);
    tl_status st = there < 0 ? no_file(-1, fault) : TL_OK;
    if (there > 0)
        st = tl_log_current_parse(data, size, &current, fault);
    if (st == TL_OK && current == 0)
        st = tli_features_fault(fault, TL_FAULT_EMPTY_TABLE, TL_ABSENT, "no commit", TL_NO_POSITION);
    tl_log_replay_begin(&r, NULL, NULL);
    for (v = 1; st == TL_OK && v <= current; v++) {
        char name[TL_LOG_NAME + 1];
        name[tl_log_commit_name(name, v)] = 0;
        there = file_of(t, files, name + 16, data, &size);
        st = there > 0 ? tl_log_replay_commit(&r, v, data, size, fault) : no_file(there, fault);
    }
    if (st == TL_OK)
        st = tl_log_replay_finish(&r, state, fault);
    tl_log_replay_end(&r);
    free(data);
    return st;
}

/* ---- a state against a recorded one ---- */

static int same_paths(const tl_json *t, const tl_json_node *array, const tl_log_state *s)
{
    const tl_json_node *item;
    size_t i, found = 0;
    if (array->kind != TL_JSON_ARRAY)
        return s->segment_count == (size_t)log_number(t, array, "count", -1);
    for (item = tl_json_first(array); item != NULL; item = tl_json_next(array, item)) {
        tl_span path;
        (void)tl_json_string(t, item, &path, NULL);
        for (i = 0; i < s->segment_count; i++)
            found += (size_t)tl_span_equal(path, s->segments[i].path);
    }
    return found == s->segment_count && array->count == found;
}

static int same_fields(const tl_json *t, const tl_json_node *array, const tl_log_state *s)
{
    const tl_json_node *item;
    uint32_t i = 0;
    if (!tl_json_present(array))
        return !s->meta.has_schema;
    if (array->kind != TL_JSON_ARRAY)
        return s->meta.column_count == (uint32_t)log_number(t, array, "count", -1);
    for (item = tl_json_first(array); item != NULL; item = tl_json_next(array, item)) {
        tl_span name;
        (void)tl_json_string(t, item, &name, NULL);
        if (i >= s->meta.node_count || !tl_span_equal(name, s->meta.fields[i].name))
            return 0;
        i += s->meta.fields[i].nodes;
    }
    return i == s->meta.node_count && array->count == s->meta.column_count;
}

static void check_state(const tl_json *t, const tl_json_node *want, const tl_log_state *s)
{
    const tl_json_node *coverage = log_get(t, want, "coverage");
    CHECK(log_same_set(t, log_get(t, want, "reader_features"), &s->meta.reader));
    CHECK(log_same_set(t, log_get(t, want, "writer_features"), &s->meta.writer));
    CHECK(same_fields(t, log_get(t, want, "fields"), s));
    CHECK(same_paths(t, log_get(t, want, "segments"), s));
    if (log_get(t, want, "index_column") != NULL)
        CHECK(tl_span_equal(log_text(t, want, "index_column"), s->meta.index_column));
    if (tl_json_present(coverage) && coverage->kind == TL_JSON_OBJECT) {
        CHECK(tl_span_equal(log_text(t, coverage, "path"), s->coverage_path));
        CHECK_INT(s->coverage_version, log_number(t, coverage, "version", 0));
    } else if (coverage != NULL) {
        CHECK_INT(s->coverage_path.data != NULL, tl_json_present(coverage));
    }
}

/* ---- cases and mutations ---- */

static long quirks, reads, writes;

/* The recorded write: one nullable Float64 column. */
static void check_write(const tl_json *t, const tl_json_node *row, const tl_log_state *state)
{
    tl_log_field f;
    tl_log_plan plan;
    tl_log_time time = {1767323045, 0};
    tl_buffer text;
    tl_log_state *next = NULL;
    tl_fault fault;
    tl_span want = log_text(t, row, "write_error_kind"), commit = log_text(t, row, "commit_text");
    tl_status st;
    memset(&f, 0, sizeof f);
    memset(&fault, 0, sizeof fault);
    memset(&text, 0, sizeof text);
    f.name = tl_text("zz_probe");
    f.type = TL_LOG_FLOAT64;
    f.nullable = 1;
    st = tl_log_plan_columns(&plan, state, &f, 1, NULL, &fault);
    if (st == TL_OK) {
        st = tl_log_plan_write(&plan, time, &text, &next, &fault);
        tl_log_plan_free(&plan);
    }
    if (tl_span_equal(want, tl_text("Commit.Storage.AlreadyExists"))) { /* the store says that, not the plan */
        CHECK_INT(st, TL_OK);
    } else {
        (void)log_same_kind(&fault, want, log_text(t, row, "case"));
        if (st != TL_OK)
            log_same_details(t, log_get(t, row, "write_error_details"), &fault);
    }
    if (st == TL_OK && commit.data != NULL) {
        char *masked = (char *)malloc(text.size + 2);
        size_t n = log_masked(masked, text.data, text.size);
        log_same_bytes(masked, n, commit);
        free(masked);
    }
    CHECK_INT(next != NULL, st == TL_OK);
    if (next != NULL)
        CHECK_INT(next->meta.column_count, state->meta.column_count + 1);
    tl_log_state_drop(next);
    tl_buffer_free(&text);
}

static void check_case(const tl_json *t, const tl_json_node *row)
{
    tl_log_state *state = NULL;
    tl_protocol p;
    tl_fault fault;
    tl_span kind = log_text(t, row, "read_error_kind"), check = log_text(t, row, "write_check");
    tl_status st;
    memset(&fault, 0, sizeof fault);
    st = open_files(t, log_get(t, row, "files"), &state, &fault);
    if (log_get(t, row, "quirk") != NULL) {
        quirks++;
        CHECK(st != TL_OK && fault.kind == TL_FAULT_COMMIT);
        tl_log_state_drop(state);
        return;
    }
    reads++;
    (void)log_same_kind(&fault, kind, log_text(t, row, "case"));
    CHECK_INT(st == TL_OK, kind.data == NULL);
    if (st != TL_OK) {
        log_same_details(t, log_get(t, row, "read_error_details"), &fault);
        return;
    }
    CHECK_INT(state->version, log_number(t, row, "version", 0));
    check_state(t, log_get(t, row, "state"), state);
    p = tl_log_protocol(state);
    CHECK_INT(tl_protocol_may_write(&p, NULL, &fault) == TL_OK, tl_span_equal(check, tl_text("ok")));
    if (log_get(t, row, "commit_text") != NULL || log_get(t, row, "write_error_kind") != NULL) {
        check_write(t, row, state);
        writes++;
    }
    tl_log_state_drop(state);
}

static void every_recorded_case(void)
{
    long n = log_lines("cases", check_case);
    printf("%ld recorded cases: %ld verdicts as the crate's, %ld quirks refused, %ld writes\n", n, reads, quirks,
           writes);
    CHECK_INT(n, 963);
    CHECK_INT(quirks, 12);
}

/* ---- requests for columns ---- */

/* A deep type: a leaf wrapped so many times, in `fields`, of which there is room. Answers how many nodes it has. */
static uint32_t generated(const tl_json *t, const tl_json_node *gen, tl_log_field *fields, tl_log_fields *leaf)
{
    tl_span kind = log_text(t, gen, "wrap"), type = tl_json_raw(t, log_get(t, gen, "leaf"));
    uint32_t i, n = 0, count = (uint32_t)log_number(t, gen, "count", 0), each = kind.data[0] == 'm' ? 2 : 1;
    char json[256];
    int size = snprintf(json, sizeof json, "[{\"name\":\"\",\"nullable\":true,\"data_type\":%.*s}]", (int)type.size,
                        type.data);
    CHECK_INT(tl_log_fields_parse(leaf, json, (size_t)size, NULL, NULL), TL_OK);
    for (i = 0; i < count; i++) {
        tl_log_field *f = &fields[n++];
        f->type = kind.data[0] == 's' ? TL_LOG_STRUCT : kind.data[0] == 'l' ? TL_LOG_LIST : TL_LOG_MAP;
        f->nodes = (count - i) * each + leaf->node_count;
        f->nullable = 1;
        f->name = i == 0 ? log_text(t, gen, "name") : tl_text(each == 2 ? "value" : kind.data[0] == 's' ? "c" : "item");
        if (each == 2) {
            fields[n].name = tl_text("key");
            fields[n++].type = TL_LOG_UTF8;
        }
    }
    memcpy(&fields[n], leaf->fields, leaf->node_count * sizeof *fields);
    fields[n].name = count == 0 ? log_text(t, gen, "name")
                                : tl_text(each == 2 ? "value" : kind.data[0] == 's' ? "c" : "item");
    return n + leaf->node_count;
}

static void check_request(const tl_json *t, const tl_json_node *row)
{
    tl_span commit1 = tl_json_raw(t, log_get(t, row, "commit1")), json = tl_json_raw(t, log_get(t, row, "columns"));
    tl_log_field deep[512];
    uint32_t nodes;
    tl_span want = log_text(t, row, "error_kind"), text_want = log_text(t, row, "commit_text");
    tl_log_replay r;
    tl_log_fields fields;
    tl_log_plan plan;
    tl_log_time time = {1767323045, 0};
    tl_log_state *state = NULL, *next = NULL;
    tl_buffer text;
    tl_fault fault;
    tl_status st;
    memset(&fault, 0, sizeof fault);
    memset(&text, 0, sizeof text);
    memset(deep, 0, sizeof deep);
    tl_log_replay_begin(&r, NULL, NULL);
    CHECK_STATUS(tl_log_replay_commit(&r, 1, commit1.data, commit1.size, &fault), TL_OK, &fault.error);
    CHECK_STATUS(tl_log_replay_finish(&r, &state, &fault), TL_OK, &fault.error);
    tl_log_replay_end(&r);
    if (state == NULL)
        return;
    if (log_get(t, row, "columns_gen") != NULL) {
        nodes = generated(t, log_get(t, row, "columns_gen"), deep, &fields);
    } else {
        CHECK_STATUS(tl_log_fields_parse(&fields, json.data, json.size, NULL, &fault), TL_OK, &fault.error);
        nodes = fields.node_count;
    }
    st = tl_log_plan_columns(&plan, state, deep[0].nodes != 0 ? deep : fields.fields, nodes, NULL, &fault);
    if (st == TL_OK) {
        st = tl_log_plan_write(&plan, time, &text, &next, &fault);
        tl_log_plan_free(&plan);
    }
    tl_log_fields_free(&fields);
    (void)log_same_kind(&fault, want, log_text(t, row, "request"));
    CHECK_INT(st == TL_OK, want.data == NULL);
    if (st != TL_OK)
        log_same_details(t, log_get(t, row, "details"), &fault);
    if (st == TL_OK && text_want.data != NULL) {
        char *masked = (char *)malloc(text.size + 2);
        size_t n = log_masked(masked, text.data, text.size);
        log_same_bytes(masked, n, text_want);
        free(masked);
    }
    if (next != NULL) {
        CHECK(log_same_set(t, log_get(t, row, "reader_features"), &next->meta.reader));
        CHECK(log_same_set(t, log_get(t, row, "writer_features"), &next->meta.writer));
        CHECK(same_fields(t, log_get(t, row, "fields"), next));
        CHECK_INT(tl_log_same_schema(state, next, &fault), TL_CONFLICT);
        CHECK_INT(tl_log_same_schema(next, next, &fault), TL_OK);
    }
    tl_log_state_drop(next);
    tl_log_state_drop(state);
    tl_buffer_free(&text);
}

static void every_recorded_request(void)
{
    long n = log_lines("add_columns", check_request);
    printf("%ld recorded requests for columns\n", n);
    CHECK_INT(n, 185);
}

/* ---- times ---- */

static void check_time(const tl_json *t, const tl_json_node *row)
{
    tl_span text = log_text(t, row, "text"), again = log_text(t, row, "rewritten");
    tl_log_time time = {0, 0};
    char out[48];
    int good = tl_log_time_parse(text, &time);
    if (good != tl_span_equal(log_text(t, row, "result"), tl_text("ok"))) {
        fprintf(stderr, "time '%.*s': %d\n", (int)text.size, text.data, good);
        tl_test_failures++;
    }
    if (!good)
        return;
    CHECK_INT(time.seconds, log_number(t, row, "unix_seconds", -1));
    CHECK_INT(time.nanos, log_number(t, row, "nanos", -1));
    CHECK_BYTES(out, tl_log_time_text(out, time), again.data, again.size);
}

static void every_recorded_time(void)
{
    CHECK_INT(log_lines("timestamps", check_time), 113);
}

/* ---- tables that the crate wrote ---- */

static long rewritten;

/* Decodes the commit and writes it again: the same bytes. */
static void rewrite(const tl_json *t, const tl_json_node *files, uint64_t version)
{
    tl_log_replay r;
    tl_buffer out;
    tl_fault fault;
    tl_json tree;
    tl_log_time time;
    uint64_t v;
    char name[TL_LOG_NAME + 1], *data = (char *)malloc(1 << 20);
    size_t size;
    memset(&out, 0, sizeof out);
    tl_log_replay_begin(&r, NULL, NULL);
    for (v = 1; v <= version; v++) {
        name[tl_log_commit_name(name, v)] = 0;
        CHECK_INT(file_of(t, files, name + 16, data, &size), 1);
        CHECK_STATUS(tl_log_replay_commit(&r, v, data, size, &fault), TL_OK, &fault.error);
    }
    CHECK_INT(tl_json_parse(&tree, data, size, NULL, NULL, NULL), TL_OK);
    CHECK(tl_log_time_parse(log_text(&tree, tree.root, "timestamp"), &time));
    tl_json_free(&tree);
    CHECK_STATUS(tl_log_write_commit(&out, version, version - 1, time,
                                     (const tl_log_action *)(const void *)r.actions.data,
                                     r.actions.size / sizeof(tl_log_action), &fault),
                 TL_OK, &fault.error);
    log_same_bytes((const char *)out.data, out.size, tli_text_span(data, size));
    rewritten++;
    tl_buffer_free(&out);
    tl_log_replay_end(&r);
    free(data);
}

/* Replayed from any version on: the same state. */
static void check_table(const tl_json *t, const tl_json_node *row)
{
    const tl_json_node *files = log_get(t, row, "files"), *metas;
    uint64_t v, version = (uint64_t)log_number(t, row, "version", 0);
    tl_log_state *state = NULL, *base = NULL;
    tl_fault fault;
    size_t i;
    check_case(t, row);
    memset(&fault, 0, sizeof fault);
    CHECK_STATUS(open_files(t, files, &state, &fault), TL_OK, &fault.error);
    for (v = 1; v <= version; v++) {
        char name[TL_LOG_NAME + 1], data[65536];
        tl_log_state *next = NULL;
        tl_log_replay r;
        size_t size;
        rewrite(t, files, v);
        name[tl_log_commit_name(name, v)] = 0;
        (void)file_of(t, files, name + 16, data, &size);
        tl_log_replay_begin(&r, base, NULL);
        CHECK_STATUS(tl_log_replay_commit(&r, v, data, size, &fault), TL_OK, &fault.error);
        CHECK_STATUS(tl_log_replay_finish(&r, &next, &fault), TL_OK, &fault.error);
        tl_log_replay_end(&r);
        tl_log_state_drop(base);
        base = next;
    }
    CHECK(base != NULL && state != NULL);
    if (base != NULL && state != NULL) {
        CHECK_INT(base->segment_count, state->segment_count);
        CHECK_INT(base->digest, state->digest);
        CHECK_INT(base->ever, state->ever);
        check_state(t, log_get(t, row, "state"), base);
        metas = log_get(t, log_get(t, row, "state"), "segment_meta");
        for (i = 0; i < state->segment_count; i++) {
            const tl_log_segment *s = &state->segments[i];
            const tl_json_node *meta = tl_json_member(t, metas, s->path);
            CHECK_INT(s->row_count, log_number(t, meta, "row_count", -1));
            CHECK_INT(s->file_size, log_number(t, meta, "file_size", -1));
            CHECK(tl_span_equal(s->coverage_path, log_text(t, meta, "coverage_path")));
            CHECK(i == 0 || tli_tslog_compare(&state->segments[i - 1], s) < 0);
        }
    }
    tl_log_state_drop(state);
    tl_log_state_drop(base);
}

static void every_recorded_table(void)
{
    long n = log_lines("tables", check_table);
    printf("%ld tables of the crate, %ld commits written again byte for byte\n", n, rewritten);
    CHECK_INT(n, 14);
}

/* ---- planning any actions ---- */

/* A state of version 1: int64 index, idx and value. */
static tl_log_state *plain_state(const tl_allocator *allocator)
{
    tl_log_field f[2];
    tl_log_meta m;
    tl_log_action a;
    tl_log_options o;
    tl_log_plan plan;
    tl_log_time time = {5, 0};
    tl_log_state *state = NULL;
    tl_buffer text;
    memset(f, 0, sizeof f);
    memset(&m, 0, sizeof m);
    memset(&a, 0, sizeof a);
    memset(&o, 0, sizeof o);
    memset(&text, 0, sizeof text);
    o.allocator = text.allocator = *allocator;
    f[0].name = m.index_column = tl_text("idx");
    f[0].type = TL_LOG_INT64;
    f[1].name = tl_text("value");
    f[1].type = TL_LOG_FLOAT64;
    m.grid.domain = TL_LOG_SIGNED;
    m.grid.width = m.has_schema = 1;
    m.fields = f;
    m.node_count = m.column_count = 2;
    a.meta = &m;
    if (tl_log_plan_actions(&plan, NULL, &a, 1, &o, NULL) == TL_OK) {
        (void)tl_log_plan_write(&plan, time, &text, &state, NULL);
        tl_log_plan_free(&plan);
    }
    tl_buffer_free(&text);
    return state;
}

/* What no rule of the log allows is refused before it is published, with the rule's name. */
static void actions_are_judged(void)
{
    static const struct { const char *first, *second; int64_t min, max; tl_fault_kind kind; } table[] = {
        {"a", "b", 0, 9, TL_FAULT_NONE},       {"a", "a", 0, 9, TL_FAULT_DUPLICATE_SEGMENT},
        {"a", "/b", 0, 9, TL_FAULT_PATH},      {"a", "../b", 0, 9, TL_FAULT_PATH},
        {"a", "b", 9, 0, TL_FAULT_BOUNDS},     {"a", "C:/b", 0, 9, TL_FAULT_PATH},
        {"a", "\xff", 0, 9, TL_FAULT_SERIALIZATION}};
    tl_allocator malloc_allocator;
    tl_log_state *state;
    size_t i;
    memset(&malloc_allocator, 0, sizeof malloc_allocator);
    state = plain_state(&malloc_allocator);
    CHECK(state != NULL && state->version == 1);
    for (i = 0; i < TLI_COUNT(table); i++) {
        tl_log_action a[2];
        tl_log_plan plan;
        tl_log_time time = {6, 0};
        tl_log_state *next = NULL;
        tl_buffer text;
        tl_fault fault;
        memset(a, 0, sizeof a);
        memset(&text, 0, sizeof text);
        memset(&fault, 0, sizeof fault);
        a[0].kind = a[1].kind = TL_LOG_ADD;
        a[0].segment.min.domain = a[0].segment.max.domain = TL_LOG_SIGNED;
        a[0].segment.max.value = 9;
        a[1] = a[0];
        a[0].segment.path = tl_text(table[i].first);
        a[1].segment.path = tl_text(table[i].second);
        a[1].segment.min.value = table[i].min;
        a[1].segment.max.value = table[i].max;
        CHECK_INT(tl_log_plan_actions(&plan, state, a, 2, NULL, &fault), TL_OK);
        CHECK_INT(tl_log_plan_write(&plan, time, &text, &next, &fault) == TL_OK, table[i].kind == TL_FAULT_NONE);
        CHECK_INT(fault.kind, table[i].kind);
        CHECK_INT(next != NULL ? (int)next->segment_count : (int)text.size, table[i].kind == TL_FAULT_NONE ? 2 : 0);
        tl_log_plan_free(&plan);
        tl_log_state_drop(next);
        tl_buffer_free(&text);
    }
    CHECK(strcmp(tl_log_type_text(TL_LOG_FIXED_BINARY), "FixedBinary") == 0);
    CHECK(strcmp(tl_log_type_text(state->meta.fields[1].type), "Float64") == 0);
    tl_log_state_drop(state);
}

static void memory_fails(void)
{
    long fail;
    for (fail = 1; fail < 200; fail++) {
        tl_test_memory m;
        tl_allocator a;
        tl_log_state *state;
        memset(&m, 0, sizeof m);
        m.fail_at = fail;
        a = tl_test_allocator(&m);
        state = plain_state(&a);
        CHECK_INT(state != NULL, m.calls < fail);
        tl_log_state_drop(state);
        CHECK_INT(m.live, 0);
        if (m.calls < fail)
            break;
    }
    CHECK(fail > 10 && fail < 200);
}

static const tl_test_case cases[] = {
    TL_TEST(every_recorded_case), TL_TEST(every_recorded_request), TL_TEST(every_recorded_time),
    TL_TEST(every_recorded_table), TL_TEST(actions_are_judged), TL_TEST(memory_fails),
};
TL_TEST_MAIN(cases)
