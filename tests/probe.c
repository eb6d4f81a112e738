/* The probe: SlateDB's recorded request traces replayed request for request (tests/data/sequenced/traces, written by
   slatedb-txn-obj 0.18.0), the counters derived from them, the case of the boundary, faults, and schedules. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"

#define DATA "tests/data/sequenced/"

/* ---- a trace ---- */

typedef struct instance {
    tl_probe probe;
    tl_probe_options options;
    tl_probe_counters counters;
    uint32_t fallbacks;
} instance;

typedef struct running {
    int64_t number;
    instance *on;
    tl_probe_call call;
    tl_request wants; /* kind TL_SLEEP: nothing */
    tl_turn turn;
    tl_span body;
    int updates; /* load_then_update: 1 reading, 2 writing */
    int open;
} running;

typedef struct replay {
    char *text;
    tl_json lines[512];
    size_t line_count;
    instance instances[2];
    running calls[64];
    size_t call_count;
    char root[64];
    const char *name;
} replay;

static tl_span field(const tl_json *line, const char *name)
{
    tl_span value = {NULL, 0};
    const tl_json_node *node = tl_json_member(line, line->root, tl_text(name));
    if (node != NULL)
        (void)tl_json_string(line, node, &value, NULL);
    return value;
}

static int64_t number(const tl_json *line, const char *name, int64_t absent)
{
    int64_t value = absent;
    (void)tl_json_int64(line, tl_json_member(line, line->root, tl_text(name)), &value, NULL);
    return value;
}

static int is(tl_span s, const char *text)
{
    return tl_span_equal(s, tl_text(text));
}

/* The recorded program's codec takes UTF-8 that begins with v. */
static int decode_v(void *context, uint64_t id, const void *body, size_t size)
{
    (void)context;
    (void)id;
    return size != 0 && *(const char *)body == 'v' && tli_text_utf8(body, size) == size ? 0 : 7;
}

static void count_fallback(void *context, uint64_t last_id)
{
    CHECK(last_id != 0);
    ((instance *)context)->fallbacks++;
}

static void reset_instance(replay *r, instance *in)
{
    tl_probe_free(&in->probe);
    in->options.context = in;
    in->options.decode = decode_v;
    in->options.fallback = count_fallback;
    in->options.counters = &in->counters;
    CHECK_INT(tl_probe_init(&in->probe, tl_slatedb_manifests(), tl_text(r->root), &in->options), TL_OK);
}

static void advance(running *c)
{
    memset(&c->wants, 0, sizeof c->wants);
    c->wants.kind = TL_SLEEP;
    c->turn = tl_step(&c->call.op, 1, &c->wants);
    if (c->updates == 0 || c->turn == TL_WANTS)
        return;
    if (c->updates == 1 && c->turn == TL_DONE) { /* on top of what was read */
        uint64_t base = c->call.id;
        (void)tl_op_end(&c->call.op);
        tl_probe_write(&c->call, &c->on->probe, base, c->body);
        c->updates = 2;
        advance(c);
    } else if (c->updates == 2 && tl_op_status(&c->call.op) == TL_CONFLICT) {
        (void)tl_op_end(&c->call.op);
        tl_probe_latest(&c->call, &c->on->probe);
        c->updates = 1;
        advance(c);
    }
}

static void begin(replay *r, const tl_json *line)
{
    running *c = &r->calls[r->call_count++];
    tl_span fn = field(line, "fn");
    uint64_t id = (uint64_t)number(line, "id", 0), base = (uint64_t)number(line, "base", 0);
    instance *in = &r->instances[is(field(line, "inst"), "B")];
    CHECK(r->call_count <= 64);
    if (strcmp(r->name, "boundary_formats") == 0)
        reset_instance(r, in);
    c->number = number(line, "call", -1);
    c->on = in;
    c->open = 1;
    c->body = field(line, "body");
    if (is(fn, "read_latest"))
        tl_probe_latest(&c->call, &in->probe);
    else if (is(fn, "read_latest_unchecked"))
        tl_probe_latest_unchecked(&c->call, &in->probe);
    else if (is(fn, "write"))
        tl_probe_write(&c->call, &in->probe, base, c->body);
    else if (is(fn, "write_unchecked"))
        tl_probe_write_unchecked(&c->call, &in->probe, base, c->body);
    else if (is(fn, "delete"))
        tl_probe_delete(&c->call, &in->probe, id);
    else if (is(fn, "delete_unchecked"))
        tl_probe_delete_unchecked(&c->call, &in->probe, id);
    else if (is(fn, "check"))
        tl_probe_check(&c->call, &in->probe, id);
    else if (is(fn, "advance"))
        tl_probe_advance(&c->call, &in->probe, id);
    else if (is(fn, "read_id_unchecked"))
        tl_probe_read_id(&c->call, &in->probe, id);
    else if (is(fn, "list"))
        tl_probe_list(&c->call, &in->probe, (uint64_t)number(line, "from_inclusive", 0),
                      (uint64_t)number(line, "to_exclusive", INT64_MAX));
    else if (is(fn, "load_then_update")) {
        tl_probe_latest(&c->call, &in->probe);
        c->updates = 1;
    } else
        CHECK_INT(0, 1); /* a call this test does not know */
    advance(c);
}

static running *find_call(replay *r, const tl_json *line)
{
    size_t i;
    int64_t n = number(line, "call", -1);
    for (i = 0; i < r->call_count; i++)
        if (r->calls[i].number == n && r->calls[i].open)
            return &r->calls[i];
    CHECK_INT(0, 1); /* the call is not open */
    return NULL;
}

/* The next request is the recorded one, conditions and body included. */
static int same_request(const running *c, const tl_json *line)
{
    static const struct { const char *op; tl_request_kind kind; } ops[] = {
        {"GET", TL_GET}, {"PUT", TL_PUT}, {"LIST", TL_LIST}, {"DELETE", TL_DELETE}};
    const tl_request *w = &c->wants;
    tl_span mode = field(line, "mode"), key = field(line, "key"), etag = field(line, "if_match");
    size_t i;
    if (c->turn != TL_WANTS)
        return 0;
    for (i = 0; i < 4 && !is(field(line, "op"), ops[i].op); i++)
        continue;
    if (key.data == NULL) {
        static char prefix[256];
        key = field(line, "prefix");
        snprintf(prefix, sizeof prefix, "%.*s", (int)key.size, key.data);
        key = tl_text(prefix);
    }
    if (i == 4 || w->kind != ops[i].kind || !tl_span_equal(w->key, key))
        return 0;
    if (w->kind == TL_PUT && !tl_span_equal(w->body[0], field(line, "body")))
        return 0;
    if (w->kind == TL_PUT)
        return w->condition == (etag.data != NULL ? TL_IF_MATCH : TL_IF_ABSENT)
               && (etag.data == NULL || tl_span_equal(etag, w->etag)) && (etag.data != NULL || is(mode, "create"));
    etag = field(line, "if_none_match");
    return (w->condition == TL_IF_NONE_MATCH) == (etag.data != NULL)
           && (etag.data == NULL || tl_span_equal(etag, w->etag));
}

static tl_outcome outcome_of(tl_span result, tl_request_kind kind)
{
    if (is(result, "ok"))
        return TL_OUTCOME_OK;
    if (is(result, "not_found"))
        return TL_OUTCOME_NOT_FOUND;
    if (is(result, "not_modified"))
        return TL_OUTCOME_NOT_MODIFIED;
    if (is(result, "already_exists") || is(result, "precondition"))
        return TL_OUTCOME_PRECONDITION;
    if (is(result, "not_implemented"))
        return TL_OUTCOME_UNSUPPORTED;
    return kind == TL_PUT ? TL_OUTCOME_UNKNOWN : TL_OUTCOME_FAILED;
}

static void answer(replay *r, const tl_json *line)
{
    running *c = find_call(r, line);
    const tl_json_node *keys = tl_json_member(line, line->root, tl_text("keys")), *k;
    static tl_entry entries[64];
    tl_completion done;
    size_t n = 0;
    if (c == NULL || c->turn != TL_WANTS)
        return;
    memset(entries, 0, sizeof entries);
    for (k = keys == NULL ? NULL : tl_json_first(keys); k != NULL && n < 64; k = tl_json_next(keys, k))
        (void)tl_json_string(line, k, &entries[n++].key, NULL);
    done = tl_completed(c->wants.token, outcome_of(field(line, "result"), c->wants.kind));
    done.body = field(line, "body");
    done.etag = field(line, "etag");
    done.entries = entries;
    done.entry_count = n;
    CHECK_INT(tl_complete(&c->call.op, &done, 1), TL_OK);
    advance(c);
}

static int same_error(tl_status st, tl_span err)
{
    if (is(err, "conflict"))
        return st == TL_CONFLICT;
    if (is(err, "codec"))
        return st == TL_REFUSED;
    if (is(err, "invalid_state"))
        return st == TL_CORRUPT || st == TL_MISUSE;
    return st == TL_STORE || st == TL_AMBIGUOUS || st == TL_UNSUPPORTED;
}

static void returned(replay *r, const tl_json *line)
{
    running *c = find_call(r, line);
    const tl_json_node *ids = tl_json_member(line, line->root, tl_text("ids")), *k;
    tl_span err = field(line, "err"), body = field(line, "body");
    size_t n = 0;
    if (c == NULL)
        return;
    c->open = 0;
    if (!CHECK_INT(c->turn == TL_DONE || c->turn == TL_NONE || c->turn == TL_FAILED, 1))
        fprintf(stderr, "  in %s, call %d\n", r->name, (int)c->number);
    if (err.data != NULL) {
        if (!same_error(tl_op_status(&c->call.op), err))
            fprintf(stderr, "  in %s, call %d: %.*s\n", r->name, (int)c->number, (int)err.size, err.data);
        CHECK(same_error(tl_op_status(&c->call.op), err));
    } else if (tl_json_member(line, line->root, tl_text("none")) != NULL) {
        CHECK_INT(c->turn, TL_NONE);
    } else {
        if (!CHECK_INT(c->turn, TL_DONE))
            fprintf(stderr, "  in %s, call %d\n", r->name, (int)c->number);
        if (tl_json_member(line, line->root, tl_text("id")) != NULL)
            CHECK_INT(c->call.id, number(line, "id", -1));
        if (body.data != NULL && c->call.body.data != NULL)
            CHECK(tl_span_equal(c->call.body, body));
        for (k = ids == NULL ? NULL : tl_json_first(ids); k != NULL; k = tl_json_next(ids, k)) {
            int64_t want = 0;
            (void)tl_json_int64(line, k, &want, NULL);
            CHECK(n < c->call.id_count && (int64_t)c->call.ids[n] == want);
            n++;
        }
        CHECK(ids == NULL || n == c->call.id_count);
    }
    CHECK_INT(tl_op_end(&c->call.op), TL_OK);
}

/* What the cache holds after a return, as derived.json says. */
static void check_after(replay *r, const tl_json *derived, const tl_json_node *scenario, int64_t call)
{
    const tl_json_node *all = tl_json_member(derived, scenario, tl_text("after_each_return")), *k;
    for (k = all == NULL ? NULL : tl_json_first(all); k != NULL; k = tl_json_next(all, k)) {
        int64_t n = -1, id = 0, bound = 0;
        tl_span inst = {NULL, 0};
        const tl_json_node *cached = tl_json_member(derived, k, tl_text("cached_id"));
        const tl_json_node *known = tl_json_member(derived, k, tl_text("remembered_boundary"));
        const instance *in;
        (void)tl_json_int64(derived, tl_json_member(derived, k, tl_text("call")), &n, NULL);
        if (n != call)
            continue;
        (void)tl_json_string(derived, tl_json_member(derived, k, tl_text("inst")), &inst, NULL);
        in = &r->instances[is(inst, "B")];
        CHECK_INT(in->probe.body != NULL, tl_json_present(cached));
        if (tl_json_present(cached) && tl_json_int64(derived, cached, &id, NULL) == TL_OK
            && !CHECK_INT(in->probe.id, id))
            fprintf(stderr, "  in %s after call %d\n", r->name, (int)call);
        CHECK_INT(in->probe.etag_size != 0, tl_json_present(known));
        if (tl_json_present(known) && tl_json_int64(derived, known, &bound, NULL) == TL_OK)
            CHECK_INT(in->probe.boundary, bound);
    }
}

static int64_t member(const tl_json *t, const tl_json_node *object, const char *name)
{
    int64_t v = 0;
    (void)tl_json_int64(t, tl_json_member(t, object, tl_text(name)), &v, NULL);
    return v;
}

/* The counters in text: the names are SlateDB's. */
static void check_text(const tl_probe_counters *c)
{
    tl_buffer out;
    char want[128];
    memset(&out, 0, sizeof out);
    if (!CHECK_INT(tl_probe_counters_text(&out, c, tl_text("manifest"), NULL), TL_OK)
        || !CHECK_INT(tli_mem_append(&out, "", 1, NULL), TL_OK))
        return;
    snprintf(want, sizeof want, "\nslatedb_sequenced_latest_reads_total{resource=\"manifest\",cache=\"hit\"} %llu\n",
             (unsigned long long)c->latest_hits);
    CHECK(strstr((const char *)out.data, want) != NULL);
    snprintf(want, sizeof want, "\nslatedb_sequenced_probes_per_read_sum{resource=\"manifest\"} %llu\n",
             (unsigned long long)c->per_read_sum);
    CHECK(strstr((const char *)out.data, want) != NULL);
    out.size = 0;
    CHECK_INT(tl_probe_counters_text(&out, c, tl_text("a\"b\\c\nd"), NULL), TL_OK);
    CHECK_INT(tli_mem_append(&out, "", 1, NULL), TL_OK);
    CHECK(strstr((const char *)out.data, "{resource=\"a\\\"b\\\\c\\nd\",cache=\"hit\"} ") != NULL);
    tl_buffer_free(&out);
}

static void check_counters(const replay *r, const tl_json *d, const tl_json_node *scenario)
{
    static const struct { const char *name; size_t at; } names[] = {
        {"latest_read.hit", offsetof(tl_probe_counters, latest_hits)},
        {"latest_read.miss", offsetof(tl_probe_counters, latest_misses)},
        {"probe.hit", offsetof(tl_probe_counters, probe_hits)},
        {"probe.miss", offsetof(tl_probe_counters, probe_misses)},
        {"probe.error", offsetof(tl_probe_counters, probe_errors)},
        {"cache_advance.read", offsetof(tl_probe_counters, advances_read)},
        {"cache_advance.write", offsetof(tl_probe_counters, advances_write)},
        {"cache_invalidation.boundary", offsetof(tl_probe_counters, dropped_boundary)},
        {"cache_invalidation.advance", offsetof(tl_probe_counters, dropped_advance)},
        {"cache_invalidation.delete", offsetof(tl_probe_counters, dropped_delete)},
        {"cache_invalidation.empty_list", offsetof(tl_probe_counters, dropped_empty_list)},
        {"list_fallback", offsetof(tl_probe_counters, list_fallbacks)},
        {"relist", offsetof(tl_probe_counters, relists)}};
    const tl_json_node *counters = tl_json_member(d, scenario, tl_text("counters"));
    const tl_json_node *histogram = tl_json_member(d, scenario, tl_text("probes_per_read"));
    const tl_json_node *logs = tl_json_member(d, scenario, tl_text("debug_logs"));
    static const char *const bounds[] = {"0", "1", "2", "3", "4"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t a = tli_bits_u64((const char *)&r->instances[0].counters + names[i].at);
        uint64_t b = tli_bits_u64((const char *)&r->instances[1].counters + names[i].at);
        if (!CHECK_INT(a + b, member(d, counters, names[i].name)))
            fprintf(stderr, "  %s in %s\n", names[i].name, r->name);
    }
    for (i = 0; i < 5; i++)
        if (!CHECK_INT(r->instances[0].counters.per_read[i] + r->instances[1].counters.per_read[i],
                       member(d, histogram, bounds[i])))
            fprintf(stderr, "  probes_per_read %s in %s\n", bounds[i], r->name);
    CHECK_INT(r->instances[0].fallbacks + r->instances[1].fallbacks, logs->count);
    check_text(&r->instances[0].counters);
}

static void load_lines(replay *r, const char *path)
{
    size_t size, at = 0;
    r->text = tl_test_read(path, &size);
    CHECK(r->text != NULL);
    while (r->text != NULL && at < size) {
        size_t end = at;
        tl_error err;
        while (end < size && r->text[end] != '\n')
            end++;
        if (end > at && r->line_count < 512)
            CHECK_STATUS(tl_json_parse(&r->lines[r->line_count++], r->text + at, end - at, NULL, NULL, &err), TL_OK,
                         &err);
        at = end + 1;
    }
}

/* Where we differ on purpose: an outdated listing after a fallback does not take back what was probed, so the read ends
   without the get of the lower id (sequenced metadata, 5.1). */
static int differs_on_purpose(const char *name)
{
    return strcmp(name, "warm_fallback_stale_list") == 0;
}

static void play(const char *name, const tl_json *derived)
{
    replay *r = (replay *)calloc(1, sizeof *r);
    const tl_json_node *scenario = tl_json_member(derived, tl_json_member(derived, derived->root, tl_text("scenarios")),
                                                  tl_text(name));
    char path[256];
    size_t i;
    if (r == NULL)
        return;
    r->name = name;
    snprintf(path, sizeof path, DATA "traces/%s.jsonl", name);
    snprintf(r->root, sizeof r->root, "db/");
    load_lines(r, path);
    CHECK(scenario != NULL);
    for (i = 0; i < 2; i++)
        reset_instance(r, &r->instances[i]);
    for (i = 0; i < r->line_count && scenario != NULL; i++) {
        const tl_json *line = &r->lines[i];
        tl_span ev = field(line, "ev");
        if (is(ev, "call"))
            begin(r, line);
        else if (is(ev, "req")) {
            running *c = find_call(r, line);
            if (c != NULL && !same_request(c, line)) {
                fprintf(stderr, "  %s, call %d, request %d\n", name, (int)c->number, (int)number(line, "n", -1));
                CHECK_INT(0, 1);
                break;
            }
        } else if (is(ev, "res"))
            answer(r, line);
        else if (is(ev, "ret")) {
            returned(r, line);
            check_after(r, derived, scenario, number(line, "call", -1));
        }
    }
    if (scenario != NULL)
        check_counters(r, derived, scenario);
    for (i = 0; i < r->call_count; i++)
        if (r->calls[i].open)
            (void)tl_op_end(&r->calls[i].call.op);
    for (i = 0; i < 2; i++)
        tl_probe_free(&r->instances[i].probe);
    for (i = 0; i < r->line_count; i++)
        tl_json_free(&r->lines[i]);
    free(r->text);
    free(r);
}

static void recorded_traces_request_for_request(void)
{
    size_t size, played = 0;
    char *text = tl_test_read(DATA "traces/derived.json", &size);
    tl_json derived;
    const tl_json_node *all, *k;
    tl_error err;
    CHECK(text != NULL);
    if (text == NULL || !CHECK_STATUS(tl_json_parse(&derived, text, size, NULL, NULL, &err), TL_OK, &err))
        return;
    all = tl_json_member(&derived, derived.root, tl_text("scenarios"));
    for (k = tl_json_first(all); k != NULL; k = tl_json_next(all, k)) {
        tl_span name;
        char copy[128];
        CHECK_STATUS(tl_json_string(&derived, k, &name, &err), TL_OK, &err);
        snprintf(copy, sizeof copy, "%.*s", (int)name.size, name.data);
        if (differs_on_purpose(copy))
            continue;
        play(copy, &derived);
        played++;
    }
    CHECK(played > 60);
    printf("%zu recorded traces\n", played);
    tl_json_free(&derived);
    free(text);
}


/* ---- real databases ---- */

static void put_file(tl_mem *store, const char *database, const char *key)
{
    char path[512];
    size_t size;
    char *data;
    snprintf(path, sizeof path, DATA "db/%s/%s", database, key);
    data = tl_test_read(path, &size);
    if (data != NULL)
        tl_mem_put(store, tl_text(key), data, size);
    free(data);
}

/* Loads what expected.json says is there: all ids and the boundary. */
static void load_database(tl_mem *store, const char *name, const char *kind, const tl_json *t, const tl_json_node *want)
{
    const tl_json_node *ids = tl_json_member(t, want, tl_text("ids")), *k;
    char key[128];
    for (k = tl_json_first(ids); k != NULL; k = tl_json_next(ids, k)) {
        int64_t id = 0;
        (void)tl_json_int64(t, k, &id, NULL);
        snprintf(key, sizeof key, "db/%s/%020lld.%s", kind, (long long)id, kind);
        put_file(store, name, key);
        CHECK(tl_mem_get(store, tl_text(key)) != NULL);
    }
    snprintf(key, sizeof key, "db/gc/%s.boundary", kind);
    put_file(store, name, key);
}

static void check_database(const char *name, const char *kind, const tl_layout *layout, const tl_json *t,
                           const tl_json_node *want)
{
    const tl_json_node *latest = tl_json_member(t, want, tl_text("latest"));
    tl_mem store;
    tl_probe probe;
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    int warm;
    if (call == NULL)
        return;
    tl_mem_init(&store, NULL);
    load_database(&store, name, kind, t, want);
    CHECK_INT(tl_probe_init(&probe, layout, tl_text("db/"), NULL), TL_OK);
    for (warm = 0; warm < 2; warm++) {
        tl_status st;
        tl_mem_forget(&store);
        tl_probe_latest(call, &probe);
        st = tl_mem_run(&store, &call->op);
        CHECK_INT(st, tl_json_present(latest) ? TL_OK : TL_ABSENT);
        if (tl_json_present(latest)) {
            tl_span key = {NULL, 0};
            const tl_mem_object *o;
            (void)tl_json_string(t, tl_json_member(t, latest, tl_text("key")), &key, NULL);
            o = tl_mem_get(&store, key);
            CHECK_INT(call->id, member(t, latest, "id"));
            CHECK_INT(call->body.size, member(t, latest, "bytes"));
            CHECK(o != NULL && o->size == call->body.size && memcmp(o->data, call->body.data, o->size) == 0);
            CHECK_INT(store.log_count, warm ? 2 : 3); /* one get and one of the boundary when nothing changed */
        }
        CHECK_INT(tl_op_end(&call->op), TL_OK);
    }
    tl_probe_list(call, &probe, 0, UINT64_MAX);
    CHECK_INT(tl_mem_run(&store, &call->op), TL_OK);
    CHECK_INT(call->id_count, tl_json_member(t, want, tl_text("ids"))->count);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    tl_probe_free(&probe);
    tl_mem_free(&store);
    free(call);
}

static void real_databases(void)
{
    size_t size;
    char *text = tl_test_read(DATA "db/expected.json", &size);
    tl_json t;
    tl_error err;
    const tl_json_node *all, *k;
    CHECK(text != NULL);
    if (text == NULL || !CHECK_STATUS(tl_json_parse(&t, text, size, NULL, NULL, &err), TL_OK, &err))
        return;
    all = tl_json_member(&t, t.root, tl_text("databases"));
    for (k = tl_json_first(all); k != NULL; k = tl_json_next(all, k)) {
        tl_span name;
        char copy[64];
        (void)tl_json_string(&t, k, &name, NULL);
        snprintf(copy, sizeof copy, "%.*s", (int)name.size, name.data);
        check_database(copy, "manifest", tl_slatedb_manifests(), &t, tl_json_member(&t, k + 1, tl_text("manifest")));
        check_database(copy, "compactions", tl_slatedb_compactions(), &t,
                       tl_json_member(&t, k + 1, tl_text("compactions")));
    }
    tl_json_free(&t);
    free(text);
}

/* ---- case 20 ---- */

typedef struct scenario {
    const tl_json *t;
    const tl_json_node *run;
    tl_mem *store;
} scenario;

static tl_span text_of(const tl_json *t, const tl_json_node *node)
{
    tl_span s = {NULL, 0};
    if (node != NULL)
        (void)tl_json_string(t, node, &s, NULL);
    return s;
}

static int on_this(const scenario *s, const tl_json_node *on, const tl_request *r, uint32_t nth)
{
    int64_t want = 0;
    (void)tl_json_int64(s->t, tl_json_at(on, 2), &want, NULL);
    return is(text_of(s->t, tl_json_at(on, 0)), r->kind == TL_STAT ? "HEAD" : tl_request_text(r->kind))
           && tl_span_equal(text_of(s->t, tl_json_at(on, 1)), r->key) && (want == 0 || want == (int64_t)nth);
}

/* Faults of a scenario; what others do comes after the request they wait for, which here is always answered 404. */
static tl_mem_fault by_scenario(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    const scenario *s = (const scenario *)context;
    const tl_json_node *list = tl_json_member(s->t, s->run, tl_text("faults")), *k;
    tl_mem_fault f;
    (void)n;
    memset(&f, 0, sizeof f);
    f.retry_ms = -1;
    for (k = list == NULL ? NULL : tl_json_first(list); k != NULL; k = tl_json_next(list, k)) {
        if (!on_this(s, tl_json_member(s->t, k, tl_text("on")), r, nth))
            continue;
        if (is(text_of(s->t, tl_json_member(s->t, k, tl_text("effect"))), "lost_answer")) {
            f.effect = TL_MEM_APPLY_AND_ANSWER;
            f.outcome = TL_OUTCOME_UNKNOWN;
        } else {
            f.effect = TL_MEM_ANSWER;
            f.outcome = member(s->t, k, "status") == 404 ? TL_OUTCOME_NOT_FOUND : TL_OUTCOME_FAILED;
        }
    }
    list = tl_json_member(s->t, s->run, tl_text("others"));
    for (k = list == NULL ? NULL : tl_json_first(list); k != NULL; k = tl_json_next(list, k)) {
        tl_span put = text_of(s->t, tl_json_member(s->t, k, tl_text("put")));
        tl_span text = text_of(s->t, tl_json_member(s->t, k, tl_text("text")));
        if (!on_this(s, tl_json_member(s->t, k, tl_text("when")), r, nth))
            continue;
        if (put.data != NULL)
            tl_mem_put(s->store, put, text.data, text.size);
        else
            (void)tl_mem_delete(s->store, text_of(s->t, tl_json_member(s->t, k, tl_text("delete"))));
    }
    return f;
}

static void seed_scenario(const scenario *s, tl_probe *probe)
{
    const tl_json_node *objects = tl_json_member(s->t, s->run, tl_text("objects")), *k;
    const tl_json_node *cache = tl_json_member(s->t, s->run, tl_text("cache"));
    for (k = tl_json_first(objects); k != NULL; k = tl_json_next(objects, k)) {
        tl_span text = text_of(s->t, tl_json_member(s->t, k + 1, tl_text("text")));
        tl_mem_put(s->store, text_of(s->t, k), text.data, text.size);
    }
    if (tl_json_present(cache)) {
        tl_span raw = tl_json_raw(s->t, tl_json_at(cache, 0)), text = text_of(s->t, tl_json_at(cache, 1));
        tl_allocator a = tli_mem_allocator(NULL);
        tli_blob *body = tli_mem_blob(&a, text.data, text.size, NULL, NULL, NULL, 0);
        uint64_t id = 0;
        CHECK(tli_number_parse_u64(raw.data, raw.size, &id));
        tli_probe_offer(probe, id, body, 0);
        tli_mem_blob_drop(body);
    }
}

/* One run against its expectation. `h` (the greatest id cached) follows the specification of sequenced metadata, 2: a
   successor that cannot exist is a final miss without a request; the case asks for an error there. */
static void run_scenario(scenario *s, int64_t wanted)
{
    tl_mem_options o;
    tl_mem store;
    tl_probe probe;
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    tl_span id = text_of(s->t, tl_json_member(s->t, s->run, tl_text("id")));
    const tl_json_node *operation = tl_json_member(s->t, s->run, tl_text("operation"));
    tl_span value = text_of(s->t, tl_json_member(s->t, operation, tl_text("value")));
    tl_status st;
    size_t i, lists = 0;
    if (call == NULL)
        return;
    memset(&o, 0, sizeof o);
    o.fault = by_scenario;
    o.context = s;
    tl_mem_init(&store, &o);
    s->store = &store;
    CHECK_INT(tl_probe_init(&probe, tl_slatedb_manifests(), tl_text(""), NULL), TL_OK);
    seed_scenario(s, &probe);
    if (value.data != NULL)
        tl_probe_write(call, &probe, probe.id, value);
    else
        tl_probe_latest(call, &probe);
    st = tl_mem_run(&store, &call->op);
    for (i = 0; i < store.log_count; i++) {
        lists += store.log[i].kind == TL_LIST;
        CHECK(strstr(store.log[i].key, "/00000000000000000000.") == NULL);
    }
    switch (id.data[0]) {
    case 'a': case 'c': case 'd': case 'f':
        CHECK_INT(st, TL_OK);
        CHECK_INT(call->id, wanted);
        CHECK_INT(lists, id.data[0] == 'f' ? 0 : id.data[0] == 'c' ? 2 : 1);
        break;
    case 'b':
        CHECK_INT(st, TL_CONFLICT);
        CHECK(tl_mem_get(&store, tl_text("manifest/00000000000000000006.manifest")) != NULL);
        CHECK(probe.body == NULL || probe.id != 6);
        break;
    case 'e':
        CHECK_INT(st, TL_STORE);
        CHECK_INT(lists, 0);
        CHECK_INT(probe.id, 5);
        break;
    case 'g':
        CHECK_INT(st, TL_CORRUPT);
        break;
    case 'h':
        CHECK_INT(st, TL_OK);
        CHECK_INT(store.log_count, 1); /* the boundary alone */
        CHECK(call->id == UINT64_MAX);
        break;
    default:
        CHECK_INT(st, TL_AMBIGUOUS);
        CHECK_TEXT(tl_op_error_key(&call->op).data, tl_op_error_key(&call->op).size,
                   "manifest/00000000000000000006.manifest");
    }
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    tl_probe_free(&probe);
    tl_mem_free(&store);
    free(call);
}

static void case_20_boundary_and_strays(void)
{
    static const char *const files[] = {"scenario.json", "expected.json"};
    char *text[2];
    tl_json t[2];
    const tl_json_node *k;
    size_t i, size, runs = 0;
    for (i = 0; i < 2; i++) {
        char path[256];
        tl_error err;
        snprintf(path, sizeof path, "tests/data/cases/20-probe-boundary-and-strays/%s", files[i]);
        text[i] = tl_test_read(path, &size);
        CHECK(text[i] != NULL);
        if (text[i] == NULL || !CHECK_STATUS(tl_json_parse(&t[i], text[i], size, NULL, NULL, &err), TL_OK, &err))
            return;
    }
    for (k = tl_json_first(t[0].root); k != NULL; k = tl_json_next(t[0].root, k)) {
        scenario s;
        s.t = &t[0];
        s.run = k;
        s.store = NULL;
        {
            tl_span id = text_of(s.t, tl_json_member(s.t, k, tl_text("id")));
            run_scenario(&s, member(&t[1], tl_json_member(&t[1], t[1].root, id), "id"));
        }
        runs++;
    }
    CHECK_INT(runs, 9);
    for (i = 0; i < 2; i++) {
        tl_json_free(&t[i]);
        free(text[i]);
    }
}

static const tl_test_case cases[] = {
    TL_TEST(recorded_traces_request_for_request),
    TL_TEST(real_databases),
    TL_TEST(case_20_boundary_and_strays),
};
TL_TEST_MAIN(cases)
