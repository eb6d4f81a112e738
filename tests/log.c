/* The log machine: the recorded runs of the crate under contention and faults (tests/data/log/commit_runs); every
   request answered in every way, alone and in pairs; crashes between any two requests, torn commits, repair; writers
   and a repairer in every interleaving; cancels; memory that fails; a real folder. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#ifndef _WIN32
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"
#include "tl_folder.h"
#endif
#include "tl_faults.h"
#include "tl_log.h"

#define ROOT "mem://t"
#define KEY(name) ROOT "/_timeseries_log/" name

static const char commit_1[] =
    "{\"version\":1,\"base_version\":0,\"timestamp\":\"2026-01-02T03:04:05Z\",\"actions\":[{\"UpdateTableMeta\":"
    "{\"kind\":{\"TimeSeries\":{\"column\":\"idx\",\"entity_columns\":[],\"kind\":{\"type\":\"int64\","
    "\"index_granularity\":1}}},\"logical_schema\":{\"columns\":[{\"name\":\"idx\",\"data_type\":\"Int64\","
    "\"nullable\":false},{\"name\":\"value\",\"data_type\":\"Float64\",\"nullable\":true}]},"
    "\"created_at\":\"2026-01-02T03:04:05Z\",\"protocol_version\":7,"
    "\"required_reader_features\":[],\"required_writer_features\":[]}}]}";

/* ---- a world ---- */

typedef struct injected {
    tl_request_kind kind;
    const char *ending; /* of the key; NULL: any */
    uint32_t n;         /* the how many-th request of all; 0: every one of kind and ending */
    tl_mem_effect effect;
    tl_outcome outcome;
} injected;

typedef struct world {
    tl_mem store;
    tl_log_settings settings;
    injected faults[2];
} world;

static tl_mem_fault on_request(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    world *w = (world *)context;
    tl_mem_fault f = no_fault();
    int i;
    (void)nth;
    for (i = 0; i < 2; i++) {
        const injected *in = &w->faults[i];
        if (in->effect != TL_MEM_NORMAL
            && (in->n != 0 ? in->n == n
                : in->kind == r->kind && (in->ending == NULL || key_ends(r->key, in->ending)))) {
            f.effect = in->effect;
            f.outcome = in->outcome;
        }
    }
    return f;
}

static void put(world *w, const char *key, const char *text)
{
    tl_mem_put(&w->store, tl_text(key), text, strlen(text));
}

static void put_current(world *w, const char *text)
{
    put(w, KEY("CURRENT"), text);
}

static void begin_world(world *w, int table)
{
    tl_mem_options o;
    memset(w, 0, sizeof *w);
    memset(&o, 0, sizeof o);
    o.fault = on_request;
    o.context = w;
    tl_mem_init(&w->store, &o);
    w->settings.seed[0] = 7;
    w->settings.repair_age_ms = -1; /* a crash is repaired at once */
    w->store.now = 1767323045123;
    if (table) {
        put(w, KEY("0000000001.json"), commit_1);
        put_current(w, "1\n");
    }
}

static void no_faults(world *w)
{
    memset(w->faults, 0, sizeof w->faults);
    w->store.served = 0;
}

static tl_log_field column(const char *name)
{
    tl_log_field f;
    memset(&f, 0, sizeof f);
    f.name = tl_text(name);
    f.type = TL_LOG_FLOAT64;
    f.nullable = 1;
    return f;
}

static tl_log_action segment(const char *path)
{
    tl_log_action a;
    memset(&a, 0, sizeof a);
    a.kind = TL_LOG_ADD;
    a.segment.path = tl_text(path);
    a.segment.min.domain = a.segment.max.domain = TL_LOG_SIGNED;
    a.segment.max.value = 9;
    a.segment.row_count = 10;
    return a;
}

static tl_status refresh(world *w, tl_log *log, tl_log_call *call)
{
    tl_status st;
    tl_log_refresh(call, log);
    st = tl_mem_run(&w->store, &call->op);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    return st;
}

static void open_handle(world *w, tl_log *log)
{
    tl_log_call call;
    tl_log_init(log, tl_text(ROOT "/"), &w->settings);
    CHECK_STATUS(refresh(w, log, &call), TL_OK, &call.fault.error);
}

static tl_status add(world *w, tl_log *log, tl_log_call *call, const char *name)
{
    tl_log_field f = column(name);
    tl_status st;
    tl_log_add_columns(call, log, &f, name[0] != 0);
    st = tl_mem_run(&w->store, &call->op);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    return st;
}

static int there(const world *w, const char *key)
{
    return tl_mem_get(&w->store, tl_text(key)) != NULL;
}

static int has_column(const tl_log_state *s, const char *name)
{
    uint32_t i;
    for (i = 0; s != NULL && i < s->meta.node_count; i += s->meta.fields[i].nodes)
        if (tl_span_equal(s->meta.fields[i].name, tl_text(name)))
            return 1;
    return 0;
}

/* What a new process reads: its version, and whether the columns are there. */
static uint64_t look(world *w, const char *a, int *has_a, const char *b, int *has_b)
{
    tl_log log;
    uint64_t version;
    no_faults(w);
    open_handle(w, &log);
    version = log.state != NULL ? log.state->version : 0;
    *has_a = has_column(log.state, a);
    if (b != NULL)
        *has_b = has_column(log.state, b);
    tl_log_free(&log);
    return version;
}

/* ---- the crate's recorded runs ---- */

enum { ADD, ADD_DEEP_30, ADD_DEEP_31, ADD_NOTHING, APPEND, REFRESH, CREATE, MAY_APPEND, OTHERS };

typedef struct recorded {
    const char *run;
    int op;
    const char *setup; /* what happens after the handle was opened; see prepare() */
    injected faults[2];
    int ours; /* 1: our verdict has to differ, since the crate's destroys the table */
} recorded;

#define NO {TL_GET, NULL, 0, TL_MEM_NORMAL, TL_OUTCOME_OK}
#define FAILS(kind, key) {kind, key, 0, TL_MEM_ANSWER, TL_OUTCOME_FAILED}
#define LIES(kind, key) {kind, key, 0, TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_FAILED}
#define UNKNOWN(kind, key) {kind, key, 0, TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_UNKNOWN}

static const recorded runs[] = {
    {"publish_ok", ADD, "", {NO, NO}, 0},
    {"conflict_current_ahead", ADD, "other", {NO, NO}, 0},
    {"conflict_current_behind", ADD, "behind", {NO, NO}, 0},
    {"conflict_current_missing", ADD, "no current", {NO, NO}, 0},
    {"current_garbage", ADD, "one", {NO, NO}, 0},
    {"current_empty", ADD, "empty", {NO, NO}, 0},
    {"current_is_directory", ADD, "", {FAILS(TL_GET, "CURRENT"), NO}, 0},
    {"create_race", ADD, "next", {NO, NO}, 0},
    {"publication_fails_cleanly", ADD, "", {FAILS(TL_PUT, "CURRENT"), NO}, 0},
    {"rename_fails_cleanup_fails", ADD, "", {FAILS(TL_PUT, "CURRENT"), FAILS(TL_DELETE, NULL)}, 0},
    {"commit_create_denied", ADD, "", {FAILS(TL_PUT, "2.json"), NO}, 0},
    {"commit_sync_fails", ADD, "", {FAILS(TL_PUT, "2.json"), NO}, 0},
    {"commit_sync_and_remove_fail", ADD, "", {UNKNOWN(TL_PUT, "2.json"), FAILS(TL_GET, "2.json")}, 0},
    {"commit_write_fails", ADD, "", {FAILS(TL_PUT, "2.json"), NO}, 1},
    {"commit_write_and_sync_fail", ADD, "", {FAILS(TL_PUT, "2.json"), NO}, 0},
    {"current_open_denied", ADD, "", {FAILS(TL_PUT, "CURRENT"), NO}, 0},
    {"current_write_fails", ADD, "", {FAILS(TL_PUT, "CURRENT"), NO}, 1},
    {"current_sync_fails", ADD, "", {FAILS(TL_PUT, "CURRENT"), NO}, 0},
    {"current_sync_fails_commit_stays", ADD, "", {FAILS(TL_PUT, "CURRENT"), FAILS(TL_DELETE, NULL)}, 0},
    {"rename_fails", ADD, "", {FAILS(TL_PUT, "CURRENT"), NO}, 0},
    {"rename_fails_commit_stays", ADD, "", {FAILS(TL_PUT, "CURRENT"), FAILS(TL_DELETE, NULL)}, 0},
    {"rename_fails_tmp_stays", ADD, "", {FAILS(TL_PUT, "CURRENT"), NO}, 0},
    {"rename_takes_effect_but_reports_failure", ADD, "", {LIES(TL_PUT, "CURRENT"), NO}, 1},
    {"log_folder_missing", ADD, "nothing", {NO, NO}, 0},
    {"nesting_at_limit", ADD_DEEP_30, "", {NO, NO}, 0},
    {"nesting_over_limit", ADD_DEEP_31, "", {NO, NO}, 0},
    {"over_limit_and_conflict", ADD_DEEP_31, "other", {NO, NO}, 0},
    {"invalid_request_on_stale_handle", ADD_NOTHING, "other", {NO, NO}, 0},
    {"refresh_no_change", REFRESH, "", {NO, NO}, 0},
    {"refresh_no_change_reads_no_commit", REFRESH, "garbage 1", {NO, NO}, 0},
    {"refresh_forward", REFRESH, "other", {NO, NO}, 0},
    {"refresh_backward", REFRESH, "behind", {NO, NO}, 0},
    {"refresh_current_missing", REFRESH, "no current", {NO, NO}, 0},
    {"refresh_corrupt_commit", REFRESH, "garbage 2", {NO, NO}, 0},
    {"refresh_unknown_reader", REFRESH, "reader", {NO, NO}, 0},
    {"refresh_unknown_writer", REFRESH, "writer", {NO, NO}, 0},
    {"stale_handle_meets_unknown_writer", ADD, "writer", {NO, NO}, 0},
    {"append_conflict", APPEND, "other", {NO, NO}, 0},
    {"append_create_race", APPEND, "next", {NO, NO}, 0},
    {"append_ambiguous", APPEND, "", {FAILS(TL_PUT, "CURRENT"), FAILS(TL_DELETE, NULL)}, 0},
    {"append_missing_column_without_feature", MAY_APPEND, "idx", {NO, NO}, 0},
    {"append_missing_column_with_feature", MAY_APPEND, "evolved idx", {NO, NO}, 0},
    {"append_missing_index_with_feature", MAY_APPEND, "evolved value", {NO, NO}, 0},
    {"create_on_existing", CREATE, "", {NO, NO}, 0},
    {"create_on_orphan_commit", CREATE, "no current", {NO, NO}, 0},
    {"create_on_garbage_current", CREATE, "x", {NO, NO}, 0},
    /* of what only the crate does, or what is asked of a state: see stale_and_schemaless() */
    {"stale_handle_vacuum_meets_unknown_writer", OTHERS, "", {NO, NO}, 0},
    {"append_schemaless_after_version_1", OTHERS, "", {NO, NO}, 0},
};

/* Commit 2, which declares a feature that nobody knows. */
static void put_future(world *w, const char *where)
{
    char text[1024];
    const char *list = strstr(commit_1, where);
    size_t n = (size_t)(list - commit_1) + strlen(where);
    memcpy(text, commit_1, n);
    text[11] = '2';
    snprintf(text + n, sizeof text - n, "\"future_%s\"%s", where[9] == 'r' ? "reader" : "writer", list + strlen(where));
    put(w, KEY("0000000002.json"), text);
    put_current(w, "2\n");
}

static void prepare(world *w, tl_log *log, const char *setup)
{
    tl_log other;
    tl_log_call call;
    if (strcmp(setup, "other") == 0) {
        open_handle(w, &other);
        CHECK_INT(add(w, &other, &call, "theirs"), TL_OK);
        tl_log_free(&other);
    } else if (strcmp(setup, "behind") == 0 || strncmp(setup, "evolved", 7) == 0) {
        CHECK_INT(add(w, log, &call, "more"), TL_OK);
        if (setup[0] == 'b')
            put_current(w, "1\n");
    } else if (strcmp(setup, "no current") == 0 || strcmp(setup, "nothing") == 0) {
        (void)tl_mem_delete(&w->store, tl_text(KEY("CURRENT")));
        if (setup[3] == 'h')
            (void)tl_mem_delete(&w->store, tl_text(KEY("0000000001.json")));
    } else if (strcmp(setup, "one") == 0 || strcmp(setup, "x") == 0) {
        put_current(w, setup);
    } else if (strcmp(setup, "empty") == 0) {
        put_current(w, "");
    } else if (strcmp(setup, "next") == 0) {
        put(w, KEY("0000000002.json"), "{}");
    } else if (strncmp(setup, "garbage", 7) == 0) {
        put(w, setup[8] == '1' ? KEY("0000000001.json") : KEY("0000000002.json"), "nope");
        put_current(w, setup[8] == '1' ? "1\n" : "2\n");
    } else if (strcmp(setup, "reader") == 0 || strcmp(setup, "writer") == 0) {
        put_future(w, setup[0] == 'r' ? "required_reader_features\":[" : "required_writer_features\":[");
    }
}

static tl_status deep(world *w, tl_log *log, tl_log_call *call, uint32_t structs)
{
    tl_log_field f[64];
    uint32_t i;
    tl_status st;
    memset(f, 0, sizeof f);
    for (i = 0; i <= structs; i++) {
        f[i] = column(i == 0 ? "x" : "c");
        f[i].type = i == structs ? TL_LOG_INT64 : TL_LOG_STRUCT;
        f[i].nodes = structs + 1 - i;
    }
    tl_log_add_columns(call, log, f, structs + 1);
    st = tl_mem_run(&w->store, &call->op);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    return st;
}

static tl_status perform(world *w, tl_log *log, tl_log_call *call, const recorded *r)
{
    tl_log_action a = segment("data/s.parquet");
    tl_span only = tl_text(strstr(r->setup, "value") != NULL ? "value" : "idx");
    tl_status st;
    switch (r->op) {
    case ADD:
        return add(w, log, call, "x");
    case ADD_DEEP_30:
    case ADD_DEEP_31:
        return deep(w, log, call, r->op == ADD_DEEP_30 ? 30 : 31);
    case ADD_NOTHING:
        return add(w, log, call, "");
    case REFRESH:
        return refresh(w, log, call);
    case MAY_APPEND:
        memset(call, 0, sizeof *call);
        st = tl_log_may_append(log->state, &only, 1, NULL, &call->fault);
        return st == TL_OK ? perform(w, log, call, &runs[37]) : st;
    case CREATE:
        tl_log_create(call, log, &log->state->meta);
        break;
    default:
        tl_log_commit(call, log, &a, 1);
        break;
    }
    st = tl_mem_run(&w->store, &call->op);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    return st;
}

/* What the crate's defects did, ours does not: the table is readable, and what was said is true. */
static void check_ours(world *w, tl_status st)
{
    int has_x;
    uint64_t version = look(w, "x", &has_x, NULL, NULL);
    CHECK_INT(version, st == TL_OK ? 2 : 1);
    CHECK_INT(has_x, st == TL_OK);
    CHECK_INT(there(w, KEY("0000000002.json")), st == TL_OK);
}

static long runs_seen;

static int mentions(const tl_json *t, const tl_json_node *files, const char *start)
{
    const tl_json_node *item;
    for (item = tl_json_first(files); item != NULL; item = tl_json_next(files, item)) {
        tl_span text;
        if (tl_json_string(t, item, &text, NULL) == TL_OK && text.size > strlen(start)
            && memcmp(text.data, start, strlen(start)) == 0)
            return 1;
    }
    return 0;
}

static void check_after(const tl_json *t, const tl_json_node *row, world *w, const tl_log *log, const tl_log_call *call)
{
    const tl_mem_object *current = tl_mem_get(&w->store, tl_text(KEY("CURRENT")));
    tl_span said = log_text(t, row, "current_after");
    const tl_json_node *files = log_get(t, row, "files_after"), *value = log_get(t, row, "value");
    if (log_get(t, row, "handle_version_after") != NULL && log->state != NULL)
        CHECK_INT(log->state->version, log_number(t, row, "handle_version_after", -1));
    if (log_get(t, row, "current_after") != NULL && w->faults[0].kind != TL_GET) {
        CHECK_INT(current != NULL, said.data != NULL);
        if (current != NULL)
            CHECK_BYTES(current->data, current->size, said.data, said.size);
    }
    if (files != NULL) {
        CHECK_INT(there(w, KEY("0000000001.json")), mentions(t, files, "_timeseries_log/0000000001.json"));
        CHECK_INT(there(w, KEY("0000000002.json")), mentions(t, files, "_timeseries_log/0000000002.json"));
    }
    if (tl_json_present(value) && value->kind == TL_JSON_BOOL)
        CHECK_INT(call->changed, value->truth);
}

static void check_run(const tl_json *t, const tl_json_node *row)
{
    tl_span name = log_text(t, row, "run"), kind = log_text(t, row, "error_kind");
    const recorded *r = runs;
    world w;
    tl_log log;
    tl_log_call call;
    tl_status st;
    while (r < runs + TLI_COUNT(runs) && !tl_span_equal(name, tl_text(r->run)))
        r++;
    if (r == runs + TLI_COUNT(runs)) {
        fprintf(stderr, "no such run: %.*s\n", (int)name.size, name.data);
        tl_test_failures++;
        return;
    }
    runs_seen++;
    if (r->op == OTHERS)
        return;
    begin_world(&w, 1);
    open_handle(&w, &log);
    prepare(&w, &log, r->setup);
    memcpy(w.faults, r->faults, sizeof w.faults);
    st = perform(&w, &log, &call, r);
    if (r->ours) {
        check_ours(&w, st);
    } else {
        if (kind.size > 16 && memcmp(kind.data, "CommitAmbiguous.", 16) == 0) {
            kind.data += 16;
            kind.size -= 16;
        }
        (void)log_same_kind(&call.fault, kind, name);
        CHECK_INT(st == TL_OK, kind.data == NULL);
        if (st != TL_OK && r->op != MAY_APPEND)
            log_same_details(t, log_get(t, row, "details"), &call.fault);
        check_after(t, row, &w, &log, &call);
    }
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

static void every_recorded_run(void)
{
    long n = log_lines("commit_runs", check_run);
    printf("%ld recorded runs of publishing, refreshing, appending\n", n);
    CHECK_INT(runs_seen, (long)TLI_COUNT(runs));
    CHECK_INT(n, (long)TLI_COUNT(runs));
}

static void stale_and_schemaless(void)
{
    world w;
    tl_log log;
    tl_log_call call;
    tl_protocol p;
    tl_fault fault;
    tl_log_meta meta;
    tl_log_action a;
    tl_span idx = tl_text("idx");
    begin_world(&w, 1);
    open_handle(&w, &log);
    put_future(&w, "required_writer_features\":[");
    CHECK_INT(refresh(&w, &log, &call), TL_OK);
    p = tl_log_protocol(log.state); /* as the crate's vacuum, which judges the latest state */
    CHECK_INT(tl_protocol_may_write(&p, NULL, &fault), TL_UNSUPPORTED);
    CHECK_TEXT(fault.about, fault.about_size, "future_writer");
    CHECK_INT(add(&w, &log, &call, ""), TL_UNSUPPORTED); /* the table is judged before the request */
    CHECK_INT(call.fault.kind, TL_FAULT_WRITER);
    tl_log_free(&log);
    tl_mem_free(&w.store);

    begin_world(&w, 0);
    memset(&meta, 0, sizeof meta);
    meta.index_column = idx;
    meta.grid.domain = TL_LOG_SIGNED;
    meta.grid.width = 1;
    tl_log_init(&log, tl_text(ROOT), &w.settings);
    CHECK_INT(refresh(&w, &log, &call), TL_ABSENT);
    CHECK_INT(call.fault.kind, TL_FAULT_EMPTY_TABLE);
    tl_log_create(&call, &log, &meta);
    CHECK_INT(tl_mem_run(&w.store, &call.op), TL_OK);
    (void)tl_op_end(&call.op);
    CHECK_INT(tl_log_may_append(log.state, &idx, 1, NULL, &fault), TL_OK);
    CHECK_INT(add(&w, &log, &call, "x"), TL_MISUSE);
    CHECK_INT(call.fault.kind, TL_FAULT_NO_SCHEMA);
    memset(&a, 0, sizeof a);
    a.meta = &log.state->meta; /* the same again: version 2, still without a schema */
    tl_log_commit(&call, &log, &a, 1);
    CHECK_INT(tl_mem_run(&w.store, &call.op), TL_OK);
    (void)tl_op_end(&call.op);
    CHECK_INT(tl_log_may_append(log.state, &idx, 1, NULL, &fault), TL_MISUSE);
    CHECK_INT(fault.kind, TL_FAULT_NO_CANONICAL_SCHEMA);
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* ---- every request answered in every way ---- */

static const struct { tl_mem_effect effect; tl_outcome outcome; } answers[] = {
    {TL_MEM_ANSWER, TL_OUTCOME_FAILED},           {TL_MEM_ANSWER, TL_OUTCOME_UNKNOWN},
    {TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_UNKNOWN}, {TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_CANCELLED},
    {TL_MEM_ANSWER, TL_OUTCOME_NEVER_SENT},       {TL_MEM_ANSWER, TL_OUTCOME_UNSUPPORTED},
    {TL_MEM_ANSWER, TL_OUTCOME_CANCELLED}};

/* Whatever was answered: the table can be read, what was said is true, and what was ambiguous can be resolved. */
static void check_truth(world *w, tl_log *log, tl_log_call *call)
{
    tl_status st = tl_op_status(&call->op);
    int has_x;
    uint64_t version;
    if (st == TL_AMBIGUOUS) {
        CHECK_INT(log->state->version, 1);
        version = look(w, "x", &has_x, NULL, NULL);
        CHECK_INT(has_x, version == 2);
        CHECK_INT(tl_log_resolve(call), TL_OK);
        CHECK_STATUS(tl_mem_run(&w->store, &call->op), TL_OK, tl_op_error(&call->op));
        st = TL_OK;
    } else if (st != TL_OK) {
        CHECK(tl_op_error(&call->op)->text != NULL && call->fault.kind != TL_FAULT_NONE);
        CHECK_INT(tl_log_resolve(call), TL_MISUSE);
        CHECK(!there(w, KEY("0000000002.json")));
    }
    (void)tl_op_end(&call->op);
    CHECK_INT(log->state->version, st == TL_OK ? 2 : 1);
    version = look(w, "x", &has_x, NULL, NULL);
    CHECK_INT(version, st == TL_OK ? 2 : 1);
    CHECK_INT(has_x, st == TL_OK);
    CHECK_INT(add(w, log, call, "y"), TL_OK); /* nothing is in the way of what comes next */
}

static void every_answer(void)
{
    uint32_t i, k, a, b;
    long worlds = 0;
    for (i = 1; i <= 5; i++)
        for (k = i; k <= 8; k++)
            for (a = 0; a < TLI_COUNT(answers); a++)
                for (b = 0; b < (k == i ? 1 : TLI_COUNT(answers)); b++) {
                    tl_log_field f = column("x");
                    world w;
                    tl_log log;
                    tl_log_call call;
                    begin_world(&w, 1);
                    open_handle(&w, &log);
                    no_faults(&w);
                    w.faults[0].n = i;
                    w.faults[0].effect = answers[a].effect;
                    w.faults[0].outcome = answers[a].outcome;
                    w.faults[1].n = k == i ? 0 : k;
                    w.faults[1].effect = k == i ? TL_MEM_NORMAL : answers[b].effect;
                    w.faults[1].outcome = answers[b].outcome;
                    tl_log_add_columns(&call, &log, &f, 1);
                    (void)tl_mem_run(&w.store, &call.op);
                    check_truth(&w, &log, &call);
                    tl_log_free(&log);
                    tl_mem_free(&w.store);
                    worlds++;
                }
    printf("%ld worlds of one or two bad answers\n", worlds);
}

/* ---- crashes ---- */

/* Serves `count` requests of a call, then the process dies. */
static void crash_after(world *w, tl_log_call *call, int count)
{
    tl_request r;
    tl_completion c;
    while (tl_step(&call->op, w->store.now, &r) == TL_WANTS) {
        if (count-- > 0) {
            tl_mem_serve(&w->store, &r, &c);
        } else { /* nobody hears of it any more; the memory is still ours to give back */
            c = tl_completed(r.token, TL_OUTCOME_NEVER_SENT);
            tl_cancel(&call->op, w->store.now);
        }
        (void)tl_complete(&call->op, &c, w->store.now);
    }
    (void)tl_op_end(&call->op);
}

static tl_status repair(world *w, tl_log *log, tl_log_call *call, int remove)
{
    tl_status st;
    tl_log_repair(call, log, remove);
    st = tl_mem_run(&w->store, &call->op);
    (void)tl_op_end(&call->op);
    return st;
}

static void crashes(void)
{
    int count, has_x;
    for (count = 0; count <= 3; count++) {
        tl_log_field f = column("x");
        world w;
        tl_log log, next;
        tl_log_call call;
        begin_world(&w, 1);
        open_handle(&w, &log);
        tl_log_add_columns(&call, &log, &f, 1);
        crash_after(&w, &call, count);
        CHECK_INT(look(&w, "x", &has_x, NULL, NULL), count == 3 ? 2 : 1); /* as the crate's next open */
        CHECK_INT(there(&w, KEY("0000000002.json")), count >= 2);
        open_handle(&w, &next);
        if (count == 2) {
            CHECK_INT(add(&w, &next, &call, "y"), TL_EXISTS); /* as every writer, for ever */
            CHECK_INT(call.fault.kind, TL_FAULT_ALREADY_EXISTS);
        }
        CHECK_INT(repair(&w, &next, &call, 0), TL_OK);
        CHECK_INT(call.repaired, count == 2);
        CHECK_INT(has_column(next.state, "x"), count >= 2);
        CHECK_INT(add(&w, &next, &call, "y"), TL_OK);
        CHECK_INT(look(&w, "x", &has_x, NULL, NULL), count >= 2 ? 3 : 2);
        tl_log_free(&next);
        tl_log_free(&log);
        tl_mem_free(&w.store);
    }
}

/* What was written lately is left to its writer, who may be taking it back. */
static void young_commits(void)
{
    tl_log_field f = column("x");
    world w;
    tl_log log, next;
    tl_log_call call;
    begin_world(&w, 1);
    w.settings.repair_age_ms = 0;
    open_handle(&w, &log);
    open_handle(&w, &next);
    tl_log_add_columns(&call, &log, &f, 1);
    crash_after(&w, &call, 2);
    w.store.now += 599000;
    CHECK_INT(repair(&w, &next, &call, 1), TL_CONFLICT);
    CHECK_INT(call.fault.kind, TL_FAULT_CONFLICT);
    CHECK(call.repaired == 0 && there(&w, KEY("0000000002.json")));
    w.store.now += 2000;
    CHECK_INT(repair(&w, &next, &call, 0), TL_OK);
    CHECK(call.repaired == 1 && next.state->version == 2);
    tl_log_free(&next);
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* A store that cannot replace CURRENT conditionally let it go back over several commits: nothing is lost, repair
   publishes all of them. */
static void gone_back(void)
{
    world w;
    tl_log log, stale;
    tl_log_call call;
    begin_world(&w, 1);
    open_handle(&w, &log);
    open_handle(&w, &stale);
    CHECK_INT(add(&w, &log, &call, "x"), TL_OK);
    CHECK_INT(add(&w, &log, &call, "y"), TL_OK);
    CHECK_INT(add(&w, &log, &call, "z"), TL_OK);
    put_current(&w, "1\n");
    CHECK_INT(add(&w, &stale, &call, "v"), TL_EXISTS);
    CHECK_INT(repair(&w, &stale, &call, 0), TL_OK);
    CHECK_INT(call.repaired, 1);
    CHECK_INT((long long)stale.state->version, 4);
    CHECK(has_column(stale.state, "x") && has_column(stale.state, "y") && has_column(stale.state, "z"));
    CHECK_INT(add(&w, &stale, &call, "v"), TL_OK);
    tl_log_free(&stale);
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* CURRENT is written without a condition only after it was seen not to name the commit. */
static void unconditional(void)
{
    world w;
    tl_log log;
    tl_log_call call;
    size_t before;
    begin_world(&w, 1);
    w.store.options.no_if_match = 1;
    open_handle(&w, &log);
    before = w.store.log_count;
    CHECK_INT(add(&w, &log, &call, "x"), TL_OK);
    CHECK_INT((long long)(w.store.log_count - before), 5); /* CURRENT, commit, CURRENT refused, looked at, written */
    CHECK_INT(w.store.log[before + 3].kind, TL_GET);
    CHECK_INT(w.store.log[before + 4].condition, TL_ALWAYS);
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* A commit that was cut anywhere is reported, and goes only when that is asked for. */
static void torn_commits(void)
{
    world w;
    tl_log log, other;
    tl_log_call call;
    char whole[2048];
    size_t size, cut;
    begin_world(&w, 1);
    open_handle(&w, &log);
    CHECK_INT(add(&w, &log, &call, "x"), TL_OK);
    size = tl_mem_get(&w.store, tl_text(KEY("0000000002.json")))->size;
    memcpy(whole, tl_mem_get(&w.store, tl_text(KEY("0000000002.json")))->data, size);
    put_current(&w, "1\n");
    CHECK_INT(refresh(&w, &log, &call), TL_OK);
    for (cut = 0; cut < size; cut += 1 + cut / 16) {
        tl_mem_put(&w.store, tl_text(KEY("0000000002.json")), whole, cut);
        CHECK(repair(&w, &log, &call, 0) != TL_OK);
        CHECK_INT(call.fault.kind, TL_FAULT_COMMIT);
        CHECK_INT(call.fault.version, 2);
        CHECK(there(&w, KEY("0000000002.json")));
        CHECK_INT(repair(&w, &log, &call, 1), TL_OK);
        CHECK_INT(call.repaired, 2);
        CHECK(!there(&w, KEY("0000000002.json")));
    }
    put_future(&w, "required_reader_features\":["); /* whole, and not ours to judge */
    put_current(&w, "1\n");
    CHECK_INT(repair(&w, &log, &call, 1), TL_UNSUPPORTED);
    CHECK(there(&w, KEY("0000000002.json")));
    tl_mem_put(&w.store, tl_text(KEY("0000000002.json")), whole, size);
    tl_log_init(&other, tl_text(ROOT), &w.settings);
    CHECK_INT(repair(&w, &other, &call, 1), TL_OK); /* on a handle that was never opened, too */
    CHECK_INT(call.repaired, 1);
    CHECK_INT(repair(&w, &log, &call, 1), TL_OK);
    CHECK(call.repaired == 0 && log.state->version == 2);
    tl_log_free(&other);
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* What a crash left of a table that was just made, and a table whose CURRENT got lost. */
static void nothing_published(void)
{
    world w;
    tl_log log;
    tl_log_call call;
    begin_world(&w, 0);
    tl_log_init(&log, tl_text(ROOT), &w.settings);
    CHECK_INT(repair(&w, &log, &call, 1), TL_ABSENT);
    CHECK_INT(call.fault.kind, TL_FAULT_EMPTY_TABLE);
    tl_mem_put(&w.store, tl_text(KEY("0000000001.json")), commit_1, 100);
    CHECK_INT(repair(&w, &log, &call, 0), TL_TRUNCATED);
    CHECK_INT(call.fault.kind, TL_FAULT_COMMIT);
    CHECK_INT(repair(&w, &log, &call, 1), TL_OK);
    CHECK(call.repaired == 2 && call.version == 0 && log.state == NULL && !there(&w, KEY("0000000001.json")));
    put(&w, KEY("0000000001.json"), commit_1);
    CHECK_INT(refresh(&w, &log, &call), TL_ABSENT);
    CHECK_INT(repair(&w, &log, &call, 1), TL_OK);
    CHECK(call.repaired == 1 && call.version == 1 && log.state->version == 1);
    CHECK_INT(add(&w, &log, &call, "x"), TL_OK);
    CHECK_INT(add(&w, &log, &call, "y"), TL_OK);
    tl_log_free(&log);
    (void)tl_mem_delete(&w.store, tl_text(KEY("CURRENT")));
    tl_log_init(&log, tl_text(ROOT), &w.settings);
    CHECK_INT(repair(&w, &log, &call, 0), TL_OK);
    CHECK_INT(call.repaired, 1);
    CHECK(log.state->version == 3 && has_column(log.state, "y"));
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* ---- schedules ---- */

typedef struct actor {
    tl_log log;
    tl_log_call call;
    tl_request wants;
    tl_turn turn;
} actor;

static void step_actor(world *w, actor *a)
{
    a->turn = tl_step(&a->call.op, w->store.now, &a->wants);
}

/* Lets one of `n` actors go on, chosen by a digit of the schedule, until all are at their end. */
static void play(world *w, actor *actors, int n, uint32_t schedule)
{
    int i;
    tl_completion c;
    for (i = 0; i < n; i++)
        step_actor(w, &actors[i]);
    for (;;) {
        int left = 0, pick;
        for (i = 0; i < n; i++)
            left += actors[i].turn == TL_WANTS;
        if (left == 0)
            return;
        pick = (int)(schedule % (uint32_t)left);
        schedule /= (uint32_t)left;
        for (i = 0; i < n && (actors[i].turn != TL_WANTS || pick-- > 0); i++)
            continue;
        tl_mem_serve(&w->store, &actors[i].wants, &c);
        (void)tl_complete(&actors[i].call.op, &c, w->store.now);
        step_actor(w, &actors[i]);
    }
}

/* Two writers, and somebody who repairs at the same time: in every order. */
static void interleavings(void)
{
    static const char *const names[] = {"a", "b"};
    int people, i, etags;
    long worlds = 0;
    for (people = 2; people <= 3; people++)
        for (etags = 0; etags <= (people == 2); etags++) { /* with a repairer ETags are needed */
            uint32_t schedule, most = people == 2 ? 256 : 20000;
            for (schedule = 0; schedule < most; schedule++, worlds++) {
                world w;
                actor actors[3];
                int has[2], won = 0;
                uint64_t version;
                begin_world(&w, 1);
                w.store.options.no_etags = (uint8_t)(etags == 1);
                for (i = 0; i < people; i++)
                    open_handle(&w, &actors[i].log);
                for (i = 0; i < 2; i++) {
                    tl_log_field f = column(names[i]);
                    tl_log_add_columns(&actors[i].call, &actors[i].log, &f, 1);
                }
                if (people == 3)
                    tl_log_repair(&actors[2].call, &actors[2].log, 0);
                play(&w, actors, people, schedule);
                version = look(&w, "a", &has[0], "b", &has[1]);
                for (i = 0; i < 2; i++) {
                    tl_status st = tl_op_status(&actors[i].call.op);
                    won += st == TL_OK;
                    CHECK(st == TL_OK || st == TL_CONFLICT || st == TL_EXISTS);
                    CHECK_INT(has[i], st == TL_OK);
                    CHECK_INT(actors[i].log.state->version, st == TL_OK ? 2 : 1);
                }
                CHECK_INT(won, 1);
                CHECK_INT(version, 2);
                for (i = 0; i < people; i++) {
                    (void)tl_op_end(&actors[i].call.op);
                    tl_log_free(&actors[i].log);
                }
                tl_mem_free(&w.store);
            }
        }
    printf("%ld interleavings of two writers, with and without a repairer\n", worlds);
}

/* CURRENT cannot be written, the commit is withdrawn, and before that is looked at another writer takes the version: it
   won, we lost. */
static void withdrawn_and_taken(void)
{
    world w;
    actor a, b;
    tl_log_field f = column("a");
    tl_completion c;
    int has_a, has_b;
    begin_world(&w, 1);
    open_handle(&w, &a.log);
    open_handle(&w, &b.log);
    no_faults(&w);
    w.faults[0].kind = TL_PUT;
    w.faults[0].ending = "CURRENT";
    w.faults[0].effect = TL_MEM_ANSWER;
    w.faults[0].outcome = TL_OUTCOME_FAILED;
    tl_log_add_columns(&a.call, &a.log, &f, 1);
    for (step_actor(&w, &a); a.turn == TL_WANTS; step_actor(&w, &a)) {
        if (strcmp(tl_op_state(&a.call.op), "LOOK-AGAIN") == 0 && b.log.state->version == 1) {
            no_faults(&w);
            CHECK_INT(add(&w, &b.log, &b.call, "b"), TL_OK);
        }
        tl_mem_serve(&w.store, &a.wants, &c);
        (void)tl_complete(&a.call.op, &c, w.store.now);
    }
    CHECK_INT(b.log.state->version, 2);
    CHECK_INT(tl_op_status(&a.call.op), TL_EXISTS);
    CHECK_INT(a.call.fault.kind, TL_FAULT_ALREADY_EXISTS);
    CHECK_INT(a.log.state->version, 1);
    CHECK_INT(look(&w, "a", &has_a, "b", &has_b), 2);
    CHECK(!has_a && has_b);
    CHECK_INT(tl_op_end(&a.call.op), TL_OK);
    tl_log_free(&a.log);
    tl_log_free(&b.log);
    tl_mem_free(&w.store);
}

/* ---- cancels, memory ---- */

static void cancels(void)
{
    int at, has_x;
    for (at = 0; at <= 4; at++) {
        tl_log_field f = column("x");
        world w;
        tl_log log;
        tl_log_call call;
        tl_request r;
        tl_completion c;
        int served = 0;
        tl_status st;
        begin_world(&w, 1);
        open_handle(&w, &log);
        tl_log_add_columns(&call, &log, &f, 1);
        if (at == 0)
            tl_cancel(&call.op, w.store.now);
        while (tl_step(&call.op, w.store.now, &r) == TL_WANTS) {
            if (++served == at)
                tl_cancel(&call.op, w.store.now); /* while it is out; it arrives all the same */
            tl_mem_serve(&w.store, &r, &c);
            (void)tl_complete(&call.op, &c, w.store.now);
        }
        st = tl_op_status(&call.op);
        CHECK(st == TL_OK || st == TL_CANCELLED);
        CHECK_INT(look(&w, "x", &has_x, NULL, NULL), st == TL_OK ? 2 : 1);
        CHECK_INT(there(&w, KEY("0000000002.json")), st == TL_OK);
        (void)tl_op_end(&call.op);
        tl_log_free(&log);
        tl_mem_free(&w.store);
    }
}

static void memory_fails(void)
{
    long fail;
    int done = 0;
    for (fail = 1; fail < 400 && !done; fail++) {
        tl_log_action a[2];
        world w;
        tl_test_memory m;
        tl_log log;
        tl_log_call call;
        tl_status st;
        int has_x;
        begin_world(&w, 1);
        memset(&m, 0, sizeof m);
        w.settings.op.allocator = tl_test_allocator(&m);
        m.fail_at = fail;
        tl_log_init(&log, tl_text(ROOT), &w.settings);
        st = refresh(&w, &log, &call);
        if (st == TL_OK)
            st = add(&w, &log, &call, "x");
        if (st == TL_OK) {
            a[0] = segment("data/s1");
            a[1] = segment("data/s2");
            tl_log_commit(&call, &log, a, 2);
            st = tl_mem_run(&w.store, &call.op);
            CHECK_INT(tl_op_end(&call.op), TL_OK);
        }
        done = m.calls < fail;
        CHECK(done ? st == TL_OK : st == TL_OK || st == TL_NO_MEMORY || st == TL_AMBIGUOUS || st == TL_STORE);
        tl_log_free(&log);
        CHECK_INT(m.live, 0);
        memset(&w.settings.op.allocator, 0, sizeof w.settings.op.allocator);
        CHECK(look(&w, "x", &has_x, NULL, NULL) >= 1);
        tl_mem_free(&w.store);
    }
    CHECK(done && fail > 20);
}

/* ---- reading ---- */

static void what_a_refresh_costs(void)
{
    world w;
    tl_log log, other;
    tl_log_call call;
    tl_log_state *held;
    tl_fault fault;
    char name[8] = "c00";
    int i;
    begin_world(&w, 1);
    open_handle(&w, &log);
    for (i = 0; i < 20; i++) {
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        CHECK_INT(add(&w, &log, &call, name), TL_OK);
    }
    tl_log_init(&other, tl_text(ROOT), &w.settings);
    tl_log_refresh(&call, &other);
    CHECK_INT(tl_mem_run(&w.store, &call.op), TL_OK);
    CHECK_INT(tl_op_requests(&call.op), 22); /* CURRENT, then all commits at once */
    CHECK_INT(tl_op_round_trips(&call.op), 2);
    CHECK(call.changed && call.version == 21);
    CHECK(strcmp(tl_op_state(&call.op), "COMMITS") == 0);
    (void)tl_op_end(&call.op);
    tl_log_refresh(&call, &other);
    CHECK_INT(tl_mem_run(&w.store, &call.op), TL_OK);
    CHECK_INT(tl_op_requests(&call.op), 1);
    CHECK(!call.changed && call.version == 21);
    (void)tl_op_end(&call.op);
    held = tl_log_state_keep(other.state);
    CHECK_INT(add(&w, &log, &call, "last"), TL_OK);
    tl_log_refresh(&call, &other);
    CHECK_INT(tl_mem_run(&w.store, &call.op), TL_OK);
    CHECK_INT(tl_op_requests(&call.op), 3); /* CURRENT, the commit that is known, the one that is new */
    CHECK_INT(tl_op_round_trips(&call.op), 2);
    (void)tl_op_end(&call.op);
    CHECK_INT(held->version, 21);
    CHECK(!has_column(held, "last") && has_column(other.state, "last"));
    CHECK_INT(tl_log_same_schema(held, other.state, &fault), TL_CONFLICT);
    tl_log_state_drop(held);
    /* history was written anew behind the handle's back: it starts again */
    put_current(&w, "1\n");
    for (i = 2; i <= 22; i++) {
        char key[64];
        snprintf(key, sizeof key, KEY("%010d.json"), i);
        CHECK(tl_mem_delete(&w.store, tl_text(key)));
    }
    CHECK_INT(refresh(&w, &log, &call), TL_OK);
    for (i = 0; i < 30; i++) {
        name[0] = 'd';
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        CHECK_INT(add(&w, &log, &call, name), TL_OK);
    }
    w.settings.window = 3;
    w.settings.op.step_bytes = 700; /* in small steps, too */
    CHECK_INT(refresh(&w, &other, &call), TL_OK);
    CHECK(other.state->version == 31 && has_column(other.state, "d29") && !has_column(other.state, "c00"));
    tl_log_free(&other);
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

static void misuse(void)
{
    world w;
    tl_log log;
    tl_log_call call;
    begin_world(&w, 1);
    tl_log_init(&log, tl_text(ROOT), &w.settings);
    CHECK_INT(add(&w, &log, &call, "x"), TL_MISUSE); /* not opened */
    CHECK_INT(refresh(&w, &log, &call), TL_OK);
    w.settings.seed[0] = 0;
    CHECK_INT(add(&w, &log, &call, "x"), TL_MISUSE); /* no seed */
    CHECK_TEXT(call.op.error.text, strlen(call.op.error.text), "settings.seed is zero");
    tl_log_free(&log);
    tl_mem_free(&w.store);
}

/* ---- a real folder ---- */

static void in_a_folder(void)
{
#ifndef _WIN32
    char folder[512];
    tl_fs fs;
    tl_log_settings settings;
    tl_log_meta meta;
    tl_log_action a[2];
    tl_log_field fields[2], f = column("more");
    tl_log log, other;
    tl_log_call call;
    if (!tl_folder_new(folder, sizeof folder)) {
        tl_test_skip("no folder for files");
        return;
    }
    memset(&settings, 0, sizeof settings);
    memset(&meta, 0, sizeof meta);
    tl_fs_open(&fs, NULL);
    CHECK(tl_fs_random(settings.seed, sizeof settings.seed));
    fields[0] = column("idx");
    fields[0].type = TL_LOG_INT64;
    fields[0].nodes = 1;
    fields[1] = column("value");
    fields[1].nodes = 1;
    meta.index_column = fields[0].name;
    meta.grid.domain = TL_LOG_SIGNED;
    meta.grid.width = 1;
    meta.has_schema = 1;
    meta.fields = fields;
    meta.node_count = meta.column_count = 2;
    tl_log_init(&log, tl_text(folder), &settings);
    tl_log_init(&other, tl_text(folder), &settings);
    tl_log_create(&call, &log, &meta);
    CHECK_STATUS(tl_fs_run(&fs, &call.op), TL_OK, &call.fault.error);
    (void)tl_op_end(&call.op);
    tl_log_refresh(&call, &other);
    CHECK_INT(tl_fs_run(&fs, &call.op), TL_OK);
    (void)tl_op_end(&call.op);
    a[0] = segment("data/1.parquet");
    memset(&a[1], 0, sizeof a[1]);
    a[1].kind = TL_LOG_COVERAGE;
    a[1].path = tl_text("_coverage/table/2-x.roar");
    a[1].grid = meta.grid;
    tl_log_commit(&call, &log, a, 2);
    CHECK_STATUS(tl_fs_run(&fs, &call.op), TL_OK, &call.fault.error);
    (void)tl_op_end(&call.op);
    tl_log_add_columns(&call, &other, &f, 1); /* stale */
    CHECK_INT(tl_fs_run(&fs, &call.op), TL_CONFLICT);
    (void)tl_op_end(&call.op);
    tl_log_refresh(&call, &other);
    CHECK_INT(tl_fs_run(&fs, &call.op), TL_OK);
    (void)tl_op_end(&call.op);
    CHECK(other.state->segment_count == 1 && other.state->coverage_version == 2);
    tl_log_add_columns(&call, &other, &f, 1);
    CHECK_STATUS(tl_fs_run(&fs, &call.op), TL_OK, &call.fault.error);
    (void)tl_op_end(&call.op);
    CHECK_INT(other.state->version, 3);
    tl_log_free(&log);
    tl_log_free(&other);
    tl_fs_close(&fs);
    CHECK(tl_folder_end(folder));
#else
    tl_test_skip("POSIX only");
#endif
}

static const tl_test_case cases[] = {
    TL_TEST(every_recorded_run), TL_TEST(stale_and_schemaless), TL_TEST(every_answer), TL_TEST(crashes),
    TL_TEST(torn_commits), TL_TEST(nothing_published), TL_TEST(young_commits), TL_TEST(gone_back),
    TL_TEST(unconditional), TL_TEST(interleavings),
    TL_TEST(withdrawn_and_taken), TL_TEST(cancels), TL_TEST(memory_fails), TL_TEST(what_a_refresh_costs),
    TL_TEST(misuse), TL_TEST(in_a_folder),
};
TL_TEST_MAIN(cases)
