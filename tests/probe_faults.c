/* The probe when things go wrong: every request of every call fails in turn, in every way, pages of listings too; a
   cancel at every step; every allocation refused. Each call ends, says what is true, leaks nothing, and leaves a probe
   that works: the next read finds the newest object. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_faults.h"

typedef enum what {
    COLD, BEHIND_2, BEHIND_6, REJECTED, WRITE, LATE_WRITE, ADVANCE, ADVANCE_AGAIN, REMOVE, KEEP, LOOK, ALL, WHATS
} what;

typedef struct rig {
    tl_mem store;
    tl_probe probe;
    tl_probe_options options;
    tl_probe_call *call;
    tl_test_memory memory;
    what kind;
    uint32_t at; /* the request that fails; 0: none */
    tl_mem_fault fault;
    uint32_t newest;
    tl_request_kind failed_kind;
    char failed_key[128];
    int cancel; /* at this request, 1: which is applied and answered, 2: answered as cancelled, 3: applied, cancelled */
    uint32_t after; /* requests after the cancel */
} rig;

static tl_mem_fault on_request(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    rig *g = (rig *)context;
    (void)nth;
    if (n != g->at)
        return no_fault();
    g->failed_kind = r->kind;
    snprintf(g->failed_key, sizeof g->failed_key, "%.*s", (int)r->key.size, r->key.data);
    return g->fault;
}

static void put_object(rig *g, uint32_t id)
{
    char key[64], body[16];
    snprintf(key, sizeof key, "db/manifest/%020u.manifest", (unsigned)id);
    snprintf(body, sizeof body, "v%u", (unsigned)id);
    tl_mem_put(&g->store, tl_text(key), body, strlen(body));
    g->newest = id > g->newest ? id : g->newest;
}

static void set_boundary(rig *g, const char *text)
{
    tl_mem_put(&g->store, tl_text("db/gc/manifest.boundary"), text, strlen(text));
}

static int there(const rig *g, uint32_t id)
{
    char key[64];
    snprintf(key, sizeof key, "db/manifest/%020u.manifest", (unsigned)id);
    return tl_mem_get(&g->store, tl_text(key)) != NULL;
}

/* One call; every step is bounded, and a cancel lets nothing begin but what a write needs to know. */
static tl_status drive(rig *g, int faults)
{
    tl_request r;
    tl_completion c;
    uint32_t n = 0, cancelled_at = 0;
    g->store.options.fault = faults ? on_request : NULL;
    g->store.served = 0;
    while (tl_step(&g->call->op, 1, &r) == TL_WANTS) {
        if (++n > 500) {
            CHECK_INT(n, 0); /* it spins */
            break;
        }
        g->after += cancelled_at != 0;
        if (faults && g->cancel != 0 && n == g->at) {
            tl_cancel(&g->call->op, 1);
            cancelled_at = n;
            g->failed_kind = r.kind;
            if (g->cancel != 2)
                tl_mem_serve(&g->store, &r, &c);
            if (g->cancel != 1)
                c = tl_completed(r.token, TL_OUTCOME_CANCELLED);
        } else
            tl_mem_serve(&g->store, &r, &c);
        (void)tl_complete(&g->call->op, &c, 1);
    }
    return tl_op_status(&g->call->op);
}

static void begin(rig *g)
{
    switch (g->kind) {
    case COLD: case BEHIND_2: case BEHIND_6: case REJECTED: tl_probe_latest(g->call, &g->probe); break;
    case WRITE: case LATE_WRITE: tl_probe_write(g->call, &g->probe, g->kind == WRITE ? 8 : 7, tl_text("w")); break;
    case ADVANCE: case ADVANCE_AGAIN: tl_probe_advance(g->call, &g->probe, 5); break;
    case REMOVE: tl_probe_delete(g->call, &g->probe, 2); break;
    case KEEP: tl_probe_check(g->call, &g->probe, 8); break;
    case LOOK: tl_probe_read_id(g->call, &g->probe, 8); break;
    default: tl_probe_list(g->call, &g->probe, 2, 8);
    }
}

/* Eight objects, listed by threes; the call under test is begun, not stepped. */
static void set_up(rig *g, what kind)
{
    uint32_t id;
    tl_mem_options o;
    memset(g, 0, sizeof *g);
    memset(&o, 0, sizeof o);
    o.page_keys = 3;
    o.context = g;
    tl_mem_init(&g->store, &o);
    g->kind = kind;
    g->call = (tl_probe_call *)malloc(sizeof *g->call);
    if (g->call == NULL)
        abort();
    g->options.op.allocator = tl_test_allocator(&g->memory);
    CHECK_INT(tl_probe_init(&g->probe, tl_slatedb_manifests(), tl_text("db/"), &g->options), TL_OK);
    for (id = 1; id <= (kind == BEHIND_2 ? 6u : kind == BEHIND_6 || kind == REJECTED ? 2u : 8u); id++)
        put_object(g, id);
    if (kind != ADVANCE)
        set_boundary(g, kind == REMOVE || kind == ADVANCE_AGAIN ? "3" : "1");
    if (kind != COLD) {
        tl_probe_latest(g->call, &g->probe);
        CHECK_INT(drive(g, 0), TL_OK);
        CHECK_INT(tl_op_end(&g->call->op), TL_OK);
    }
    for (id = g->newest + 1; id <= 8; id++)
        put_object(g, id);
    if (kind == REJECTED) {
        set_boundary(g, "6");
        for (id = 1; id <= 6; id++) {
            char key[64];
            snprintf(key, sizeof key, "db/manifest/%020u.manifest", (unsigned)id);
            (void)tl_mem_delete(&g->store, tl_text(key));
        }
    }
    begin(g);
}

static int reads(const rig *g)
{
    return g->kind <= REJECTED;
}

/* Whatever happened: the probe works, and all memory comes back. */
static void tear_down(rig *g)
{
    CHECK_INT(tl_op_end(&g->call->op), TL_OK);
    g->memory.fail_at = 0;
    g->memory.fail_for_ever = 0;
    tl_probe_latest(g->call, &g->probe);
    CHECK_INT(drive(g, 0), TL_OK);
    CHECK_INT(g->call->id, there(g, 9) ? 9 : 8);
    CHECK_INT(tl_op_end(&g->call->op), TL_OK);
    tl_probe_free(&g->probe);
    tl_mem_free(&g->store);
    CHECK_INT(g->memory.live, 0);
    free(g->call);
}

/* What a call without faults needs, and that it does what it is for. */
static uint32_t undisturbed(what kind)
{
    static const uint32_t wanted[WHATS] = {5, 4, 9, 5, 2, 1, 2, 1, 1, 1, 1, 3};
    rig g;
    uint32_t n;
    tl_status st;
    set_up(&g, kind);
    st = drive(&g, 1);
    CHECK_INT(st, kind == LATE_WRITE ? TL_CONFLICT : TL_OK);
    n = tl_op_requests(&g.call->op);
    if (!CHECK_INT(n, wanted[kind]))
        fprintf(stderr, "  requests of call %d\n", (int)kind);
    if (kind == ALL)
        CHECK(g.call->id_count == 6 && g.call->ids[0] == 2 && g.call->ids[5] == 7);
    if (kind == REMOVE)
        CHECK(!there(&g, 2));
    tear_down(&g);
    return n;
}

/* A write tells the truth. */
static void check_write(const rig *g, tl_status st)
{
    if (st == TL_OK)
        CHECK(there(g, 9));
    if (st == TL_CONFLICT && g->kind == WRITE) /* never ours: the store said that it exists */
        CHECK(g->fault.outcome == TL_OUTCOME_PRECONDITION);
    if (there(g, 9) && g->fault.outcome != TL_OUTCOME_PRECONDITION && g->fault.outcome != TL_OUTCOME_NEVER_SENT
        && g->fault.outcome != TL_OUTCOME_FAILED && g->fault.outcome != TL_OUTCOME_UNSUPPORTED && !g->cancel
        && g->fault.outcome != TL_OUTCOME_NOT_FOUND && g->fault.outcome != TL_OUTCOME_NOT_MODIFIED)
        CHECK(st == TL_OK || st == TL_AMBIGUOUS);
    if (g->cancel && there(g, 9))
        CHECK(st == TL_OK || st == TL_AMBIGUOUS);
}

static void fail_one(what kind, uint32_t at, tl_outcome outcome, tl_mem_effect effect)
{
    rig g;
    tl_status st;
    uint64_t cached;
    int good = outcome == TL_OUTCOME_OK || outcome == TL_OUTCOME_NOT_FOUND || outcome == TL_OUTCOME_NOT_MODIFIED
               || outcome == TL_OUTCOME_PRECONDITION; /* answers that may mean something: here lies */
    set_up(&g, kind);
    cached = g.probe.body != NULL ? g.probe.id : 0;
    g.at = at;
    g.fault.effect = effect;
    g.fault.outcome = outcome;
    g.fault.retry_ms = 0; /* sent anew by drivers, never by the machine */
    st = drive(&g, 1);
    CHECK(g.failed_key[0] != 0);
    if (!good) {
        tl_span key = tl_op_error_key(&g.call->op);
        CHECK(st != TL_OK && st != TL_ABSENT && st != TL_CONFLICT);
        CHECK(tl_op_error(&g.call->op)->text != NULL && g.call->body.size + key.size > 0);
        if (reads(&g))
            CHECK(st == (outcome == TL_OUTCOME_UNSUPPORTED ? TL_UNSUPPORTED
                         : outcome == TL_OUTCOME_CANCELLED ? TL_CANCELLED : TL_STORE));
        CHECK_TEXT(key.data, key.size, g.failed_key);
        if (reads(&g))
            CHECK(g.probe.body == NULL || g.probe.id >= cached); /* hits stay, nothing moves back */
    }
    if (kind == WRITE)
        check_write(&g, st);
    if (st == TL_OK && reads(&g))
        CHECK(g.call->body.size == 2 && (uint64_t)(g.call->body.data[1] - '0') == g.call->id);
    if (outcome == TL_OUTCOME_NOT_MODIFIED && (g.failed_kind == TL_LIST || g.failed_kind == TL_PUT))
        CHECK(st != TL_OK);
    tear_down(&g);
}

static void every_request_fails_in_turn(void)
{
    int kind, outcome, effect, runs = 0;
    uint32_t n, at;
    for (kind = COLD; kind < WHATS; kind++) {
        n = undisturbed((what)kind);
        for (at = 1; at <= n; at++)
            for (outcome = TL_OUTCOME_NOT_FOUND; outcome <= TL_OUTCOME_NEVER_SENT; outcome++)
                for (effect = TL_MEM_ANSWER; effect <= TL_MEM_APPLY_AND_ANSWER; effect++, runs++)
                    fail_one((what)kind, at, (tl_outcome)outcome, (tl_mem_effect)effect);
    }
    printf("%d runs with a failing request\n", runs);
}

static void cancelled_at_every_step(void)
{
    int kind, how, runs = 0;
    uint32_t n, at;
    for (kind = COLD; kind < WHATS; kind++) {
        n = undisturbed((what)kind);
        for (at = 1; at <= n; at++)
            for (how = 1; how <= 3; how++, runs++) {
                rig g;
                tl_status st;
                set_up(&g, (what)kind);
                g.at = at;
                g.cancel = how;
                g.fault.retry_ms = -1;
                st = drive(&g, 1);
                CHECK_INT(g.after, kind == WRITE && at == 1 && how == 1); /* the boundary, to know if it counts */
                if (reads(&g) || kind == LOOK || kind == ALL || kind == KEEP)
                    CHECK_INT(st, TL_CANCELLED);
                if (kind == WRITE)
                    check_write(&g, st);
                tear_down(&g);
            }
    }
    printf("%d runs with a cancel\n", runs);
}

static void cancelled_before_it_began(void)
{
    int kind;
    for (kind = COLD; kind < WHATS; kind++) {
        rig g;
        set_up(&g, (what)kind);
        tl_cancel(&g.call->op, 1);
        CHECK_INT(drive(&g, 1), TL_CANCELLED);
        CHECK_INT(tl_op_requests(&g.call->op), 0);
        tear_down(&g);
    }
}

static void every_allocation_refused(void)
{
    int kind, ever, runs = 0;
    long at;
    for (kind = COLD; kind < WHATS; kind++)
        for (ever = 0; ever <= 1; ever++)
            for (at = 1;; at++, runs++) {
                rig g;
                tl_status st;
                long calls;
                set_up(&g, (what)kind);
                calls = g.memory.calls;
                g.memory.fail_at = calls + at;
                g.memory.fail_for_ever = ever;
                st = drive(&g, 1);
                calls = g.memory.calls - calls;
                if (kind == WRITE) /* done without a copy for the cache */
                    CHECK_INT(st, TL_OK);
                else if (calls >= at)
                    CHECK(st == TL_NO_MEMORY || st == TL_STORE || st == TL_OK || st == TL_CONFLICT);
                if (reads(&g) && st == TL_OK)
                    CHECK_INT(g.call->id, 8);
                tear_down(&g);
                if (calls < at)
                    break;
            }
    printf("%d runs with an allocation refused\n", runs);
}

/* Besides bodies, pages of listings and the text of errors nothing is allocated. */
static void no_allocation_but_bodies(void)
{
    rig g;
    long calls;
    set_up(&g, BEHIND_2);
    calls = g.memory.calls;
    CHECK_INT(drive(&g, 1), TL_OK);
    CHECK_INT(g.memory.calls - calls, 2); /* the bodies of 7 and 8 */
    CHECK_INT(tl_op_end(&g.call->op), TL_OK);
    calls = g.memory.calls;
    tl_probe_latest(g.call, &g.probe);
    CHECK_INT(drive(&g, 1), TL_OK);
    CHECK_INT(g.memory.calls - calls, 0);
    CHECK_INT(g.memory.live, 1);
    CHECK_INT(sizeof g.probe, sizeof(void *) == 8 ? 128 : sizeof g.probe);
    tear_down(&g);
}

/* ETags that are absent or longer than the struct holds: reads go on without conditions, an advance says so. */
static void etags_of_all_lengths(void)
{
    int kind;
    for (kind = 0; kind < 3; kind++) {
        static char longest[TL_PROBE_ETAG + 2];
        tl_span etag = kind == 0 ? tli_text_span(NULL, 0)
                                 : tli_text_span(longest, kind == 1 ? TL_PROBE_ETAG : TL_PROBE_ETAG + 1);
        rig g;
        tl_request r;
        int round;
        memset(longest, 'e', sizeof longest - 1);
        set_up(&g, COLD);
        (void)tl_op_end(&g.call->op);
        for (round = 0; round < 2; round++) {
            tl_completion c;
            tl_probe_check(g.call, &g.probe, 8);
            CHECK_INT(tl_step(&g.call->op, 1, &r), TL_WANTS);
            CHECK_INT(r.condition, round == 1 && kind == 1 ? TL_IF_NONE_MATCH : TL_ALWAYS);
            c = tl_completed(r.token, TL_OUTCOME_OK);
            c.body = tl_text("3");
            c.etag = etag;
            CHECK_INT(tl_complete(&g.call->op, &c, 1), TL_OK);
            CHECK_INT(tl_step(&g.call->op, 1, &r), TL_DONE);
            CHECK_INT(tl_op_end(&g.call->op), TL_OK);
        }
        tl_probe_advance(g.call, &g.probe, 5);
        CHECK_INT(tl_step(&g.call->op, 1, &r), TL_WANTS);
        CHECK_INT(r.kind, kind == 1 ? TL_PUT : TL_GET);
        if (kind != 1) {
            tl_completion c = tl_completed(r.token, TL_OUTCOME_OK);
            c.body = tl_text("3");
            c.etag = etag;
            CHECK_INT(tl_complete(&g.call->op, &c, 1), TL_OK);
            CHECK_INT(tl_step(&g.call->op, 1, &r), TL_FAILED);
            CHECK_INT(tl_op_status(&g.call->op), TL_UNSUPPORTED);
        } else {
            tl_completion c = tl_completed(r.token, TL_OUTCOME_FAILED);
            CHECK(tl_span_equal(r.etag, etag) && r.condition == TL_IF_MATCH);
            CHECK_INT(tl_complete(&g.call->op, &c, 1), TL_OK);
            CHECK_INT(tl_step(&g.call->op, 1, &r), TL_FAILED);
        }
        tear_down(&g);
    }
}

/* Stray names and unpadded layouts: only the key that an id is read by counts, and lists come in the order of ids. */
static void names_of_other_layouts(void)
{
    static const tl_layout plain = {"log", "json", NULL, 0, 0};
    static const char *const keys[] = {"log/9.json", "log/10.json", "log/2.json", "log/007.json", "log/0.json",
                                       "log/.json", "log/11.jsn", "log/x/12.json", "log/+3.json",
                                       "log/18446744073709551616.json"};
    tl_mem store;
    tl_probe probe;
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    size_t i;
    if (call == NULL)
        return;
    tl_mem_init(&store, NULL);
    for (i = 0; i < sizeof keys / sizeof keys[0]; i++)
        tl_mem_put(&store, tl_text(keys[i]), "b", 1);
    CHECK_INT(tl_probe_init(&probe, &plain, tl_text(""), NULL), TL_OK);
    tl_probe_latest(call, &probe);
    CHECK_INT(tl_mem_run(&store, &call->op), TL_OK);
    CHECK_INT(call->id, 10);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    tl_probe_list(call, &probe, 0, UINT64_MAX);
    CHECK_INT(tl_mem_run(&store, &call->op), TL_OK);
    CHECK(call->id_count == 3 && call->ids[0] == 2 && call->ids[1] == 9 && call->ids[2] == 10);
    CHECK_INT(tl_op_end(&call->op), TL_OK);
    tl_probe_free(&probe);
    tl_mem_free(&store);
    free(call);
}

static const tl_test_case cases[] = {
    TL_TEST(every_request_fails_in_turn), TL_TEST(cancelled_at_every_step),  TL_TEST(cancelled_before_it_began),
    TL_TEST(every_allocation_refused),    TL_TEST(no_allocation_but_bodies), TL_TEST(etags_of_all_lengths),
    TL_TEST(names_of_other_layouts),
};
TL_TEST_MAIN(cases)
