/* The core of every machine, with a small machine of the test's own, over the store in memory. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"

/* Round 1: get "a" (a range of it) and list "p/". Round 2: put "b" if absent with what was got. Then a pause of 50 ms,
   and done; none when "a" is absent; any other bad answer fails. */
typedef struct toy {
    tl_op op;
    int phase;
    uint32_t spares;
    uint64_t listed;
    tli_blob *body;
    tl_span piece;
    uint64_t offset, length;
    tl_request_kind fail_kind;
} toy;

static int toy_put(toy *t)
{
    tl_request *r = tli_op_request(&t->op, TL_PUT, tl_text("b"), TL_PURPOSE_COMMIT);
    if (r == NULL)
        return 1;
    t->piece = tli_text_span(t->body->data, t->body->size);
    r->condition = TL_IF_ABSENT;
    r->body = &t->piece;
    r->body_count = 1;
    r->body_size = t->piece.size;
    t->phase = 2;
    return 1;
}

static int toy_advance(tl_op *op)
{
    toy *t = (toy *)(void *)op;
    tl_request *r;
    switch (t->phase) {
    case 0:
        r = tli_op_request(op, TL_GET, tl_text("a"), TL_PURPOSE_OBJECT);
        if (r == NULL)
            return 1;
        r->offset = t->offset;
        r->length = t->length;
        if (tli_op_request(op, TL_LIST, tl_text("p/"), TL_PURPOSE_LISTING) == NULL)
            return 1;
        t->phase = 1;
        return 1;
    case 1:
        if (tli_op_answer(op, 0)->outcome == TL_OUTCOME_NOT_FOUND) {
            tli_op_finish(op, TL_NONE);
            return 1;
        }
        if (tli_op_answer(op, 0)->outcome != TL_OUTCOME_OK || tli_op_answer(op, 1)->outcome != TL_OUTCOME_OK) {
            tli_op_fail_answer(op, tli_op_answer(op, tli_op_answer(op, 0)->outcome != TL_OUTCOME_OK ? 0 : 1));
            return 1;
        }
        t->listed = tli_op_answer(op, 1)->number;
        t->body = tli_op_take_body(tli_op_answer(op, 0));
        tli_op_clear(op);
        return toy_put(t);
    case 2:
        if (tli_op_answer(op, 0)->outcome != TL_OUTCOME_OK) {
            tli_op_fail_answer(op, tli_op_answer(op, 0));
            return 1;
        }
        tli_op_clear(op);
        r = tli_op_request(op, TL_SLEEP, tli_text_span(NULL, 0), TL_PURPOSE_PAUSE);
        if (r != NULL)
            r->until = op->now + 50;
        t->phase = 3;
        return 1;
    default:
        tli_op_finish(op, TL_DONE);
        return 1;
    }
}

static void toy_take(tl_op *op, tli_op_slot *slot, const tl_completion *c)
{
    (void)op;
    slot->number += c->entry_count;
}

static int toy_spare(tl_op *op, tl_request *r)
{
    toy *t = (toy *)(void *)op;
    if (t->phase != 3 || t->spares == 2)
        return 0;
    t->spares++;
    memset(r, 0, sizeof *r);
    r->kind = TL_DELETE;
    r->key = tl_text("p/1");
    return 1;
}

static void toy_end(tl_op *op)
{
    tli_mem_blob_drop(((toy *)(void *)op)->body);
}

static const char *toy_state(const tl_op *op)
{
    static const char *const names[] = {"START", "READ", "PUT", "PAUSE"};
    return names[((const toy *)(const void *)op)->phase];
}

static const tli_op_machine toy_machine = {toy_advance, toy_take, toy_spare, toy_end, toy_state, 1, 0, 0};

static void toy_begin(toy *t, tl_test_memory *m)
{
    tl_op_options o;
    memset(&o, 0, sizeof o);
    memset(t, 0, sizeof *t);
    if (m != NULL)
        o.allocator = tl_test_allocator(m);
    tli_op_begin(&t->op, &toy_machine, &o);
    t->length = TL_WHOLE;
}

static void fill(tl_mem *s, const tl_mem_options *options)
{
    tl_mem_init(s, options);
    tl_mem_put(s, tl_text("a"), "0123456789", 10);
    tl_mem_put(s, tl_text("p/1"), "x", 1);
    tl_mem_put(s, tl_text("p/2"), "y", 1);
    tl_mem_put(s, tl_text("q"), "z", 1);
}

static void runs_by_polling(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_mem_options o;
    tl_mem s;
    toy t;
    memset(&o, 0, sizeof o);
    o.latency_ms = 20;
    fill(&s, &o);
    toy_begin(&t, &m);
    t.offset = 2;
    t.length = 3;
    CHECK_INT(tl_mem_run(&s, &t.op), TL_OK);
    CHECK_INT(t.listed, 2);
    CHECK_BYTES(tl_mem_get(&s, tl_text("b"))->data, tl_mem_get(&s, tl_text("b"))->size, "234", 3);
    CHECK(tl_mem_get(&s, tl_text("p/1")) == NULL);
    CHECK_INT(tl_op_round_trips(&t.op), 2);
    CHECK_INT(tl_op_requests(&t.op), 5);
    CHECK_INT(s.now, 1 + 20 + 20 + 50);
    CHECK_INT(s.log[0].round, 1);
    CHECK_INT(s.log[2].round, 2);
    CHECK_INT(tl_op_end(&t.op), TL_OK);
    CHECK_INT(tl_op_end(&t.op), TL_OK);
    CHECK_INT(m.live, 0);
    tl_mem_free(&s);
}

static void ranges_are_cut_to_what_was_asked(void)
{
    static const struct { uint64_t offset, length; const char *want; } rows[] = {
        {0, TL_WHOLE, "0123456789"}, {8, 5, "89"}, {20, 5, ""}, {9, 1, "9"}, {0, 0, ""}};
    size_t i, k;
    for (k = 0; k < 2; k++)
        for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            tl_mem_options o;
            tl_mem s;
            toy t;
            memset(&o, 0, sizeof o);
            o.no_ranges = (uint8_t)k;
            fill(&s, &o);
            toy_begin(&t, NULL);
            t.offset = rows[i].offset;
            t.length = rows[i].length;
            CHECK_INT(tl_mem_run(&s, &t.op), TL_OK);
            CHECK_TEXT(tl_mem_get(&s, tl_text("b"))->data, tl_mem_get(&s, tl_text("b"))->size, rows[i].want);
            (void)tl_op_end(&t.op);
            tl_mem_free(&s);
        }
}

typedef struct plan {
    uint32_t at;
    tl_mem_fault fault;
} plan;

static tl_mem_fault by_plan(void *context, const tl_request *request, uint32_t n, uint32_t nth)
{
    const plan *p = (const plan *)context;
    tl_mem_fault none;
    (void)request;
    (void)nth;
    memset(&none, 0, sizeof none);
    return n == p->at ? p->fault : none;
}

static void every_request_failed_in_turn(void)
{
    uint32_t at;
    int outcome;
    for (at = 1; at <= 3; at++)
        for (outcome = TL_OUTCOME_NOT_FOUND; outcome <= TL_OUTCOME_NEVER_SENT; outcome++) {
            plan p;
            tl_mem_options o;
            tl_mem s;
            toy t;
            tl_status st;
            memset(&o, 0, sizeof o);
            memset(&p, 0, sizeof p);
            p.at = at;
            p.fault.effect = TL_MEM_ANSWER;
            p.fault.outcome = (tl_outcome)outcome;
            p.fault.retry_ms = -1;
            o.fault = by_plan;
            o.context = &p;
            fill(&s, &o);
            toy_begin(&t, NULL);
            st = tl_mem_run(&s, &t.op);
            if (at == 1 && outcome == TL_OUTCOME_NOT_FOUND)
                CHECK_INT(st, TL_ABSENT);
            else
                CHECK(st >= TL_UNSUPPORTED && tl_op_error(&t.op)->text != NULL);
            if (at == 3)
                CHECK_TEXT(tl_op_error_key(&t.op).data, tl_op_error_key(&t.op).size, "b");
            (void)tl_op_end(&t.op);
            tl_mem_free(&s);
        }
}

static void a_named_delay_is_waited_for(void)
{
    plan p;
    tl_mem_options o;
    tl_mem s;
    toy t;
    memset(&o, 0, sizeof o);
    memset(&p, 0, sizeof p);
    p.at = 2;
    p.fault.effect = TL_MEM_ANSWER;
    p.fault.outcome = TL_OUTCOME_FAILED;
    p.fault.retry_ms = 700;
    o.fault = by_plan;
    o.context = &p;
    fill(&s, &o);
    toy_begin(&t, NULL);
    CHECK_INT(tl_mem_run(&s, &t.op), TL_OK);
    CHECK_INT(s.now, 1 + 700 + 50);
    CHECK_INT(tl_op_round_trips(&t.op), 3);
    (void)tl_op_end(&t.op);
    tl_mem_free(&s);
}

/* Every allocation of the operation fails in turn: no memory, or the answer all the same; nothing leaks. */
static void every_allocation_failed_in_turn(void)
{
    long at;
    int failures = 0;
    for (at = 1; at < 20; at++) {
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_mem s;
        toy t;
        tl_status st;
        m.fail_at = at;
        fill(&s, NULL);
        toy_begin(&t, &m);
        st = tl_mem_run(&s, &t.op);
        CHECK(st == TL_OK || st == TL_STORE || st == TL_NO_MEMORY);
        failures += st != TL_OK;
        CHECK_INT(tl_op_end(&t.op), TL_OK);
        CHECK_INT(m.live, 0);
        tl_mem_free(&s);
    }
    CHECK(failures > 0);
}

static void tokens_are_checked(void)
{
    toy t;
    tl_request a, b, none;
    tl_completion c;
    toy_begin(&t, NULL);
    CHECK_INT(tl_step(&t.op, 1, &a), TL_WANTS);
    CHECK_INT(tl_step(&t.op, 1, &b), TL_WANTS);
    CHECK_INT(tl_step(&t.op, 1, &none), TL_WAITS);
    CHECK(a.token != b.token && a.token != 0);
    CHECK_INT(tl_op_end(&t.op), TL_MISUSE);
    c = tl_completed(0, TL_OUTCOME_OK);
    CHECK_INT(tl_complete(&t.op, &c, 1), TL_MISUSE);
    c = tl_completed(a.token + ((uint64_t)9 << 25), TL_OUTCOME_OK); /* a sequence that was never given out */
    CHECK_INT(tl_complete(&t.op, &c, 1), TL_MISUSE);
    c = tl_completed(b.token, TL_OUTCOME_OK);
    CHECK_INT(tl_complete(&t.op, &c, 1), TL_OK);
    CHECK_INT(tl_complete(&t.op, &c, 1), TL_MISUSE);
    c = tl_completed(a.token, TL_OUTCOME_NOT_FOUND);
    CHECK_INT(tl_complete(&t.op, &c, 1), TL_OK);
    CHECK_INT(tl_step(&t.op, 1, &none), TL_NONE);
    CHECK_INT(tl_op_end(&t.op), TL_OK);
}

static int gave_back;

static void give_back(void *context, const void *data, size_t size)
{
    CHECK(context == &gave_back && data != NULL && size == 10);
    gave_back++;
}

/* A body with a release function is released exactly once, also when it is refused. */
static void bodies_are_released_once(void)
{
    int k;
    for (k = 0; k < 4; k++) {
        toy t;
        tl_request a, b;
        tl_completion c;
        gave_back = 0;
        toy_begin(&t, NULL);
        CHECK_INT(tl_step(&t.op, 1, &a), TL_WANTS);
        CHECK_INT(tl_step(&t.op, 1, &b), TL_WANTS);
        c = tl_completed(k == 0 ? a.token : k == 1 ? 77 : k == 2 ? b.token : a.token,
                         k == 3 ? TL_OUTCOME_NOT_FOUND : TL_OUTCOME_OK);
        c.body = tli_text_span("0123456789", 10);
        c.release = give_back;
        c.release_context = &gave_back;
        CHECK_INT(tl_complete(&t.op, &c, 1), k == 1 ? TL_MISUSE : TL_OK);
        CHECK_INT(gave_back, k == 0 ? 0 : 1);
        tl_cancel(&t.op, 1);
        c = tl_completed(a.token, TL_OUTCOME_CANCELLED);
        (void)tl_complete(&t.op, &c, 1);
        c = tl_completed(b.token, TL_OUTCOME_CANCELLED);
        (void)tl_complete(&t.op, &c, 1);
        (void)tl_step(&t.op, 1, &a);
        CHECK_INT(tl_op_end(&t.op), TL_OK);
        CHECK_INT(gave_back, 1);
    }
}

static void a_sleep_ends_by_deadline_or_by_a_clock_set_back(void)
{
    int k;
    for (k = 0; k < 3; k++) {
        tl_mem s;
        toy t;
        tl_request r;
        tl_completion c;
        uint64_t sleep = 0;
        tl_turn turn;
        fill(&s, NULL);
        toy_begin(&t, NULL);
        while ((turn = tl_step(&t.op, 1000, &r)) == TL_WANTS) {
            if (r.kind == TL_SLEEP) {
                sleep = r.token;
                CHECK_INT(r.until, 1050);
            } else if (r.token != 0) {
                tl_mem_serve(&s, &r, &c);
                CHECK_INT(tl_complete(&t.op, &c, 1000), TL_OK);
            }
        }
        CHECK_INT(turn, TL_WAITS);
        CHECK_INT(tl_deadline(&t.op), 1050);
        CHECK_INT(tl_step(&t.op, 1049, &r), TL_WAITS);
        c = tl_completed(sleep, TL_OUTCOME_OK);
        if (k == 2)
            CHECK_INT(tl_complete(&t.op, &c, 1049), TL_OK);
        CHECK_INT(tl_step(&t.op, k == 0 ? 1050 : k == 1 ? 999 : 1049, &r), TL_DONE);
        CHECK_INT(tl_complete(&t.op, &c, 1049), TL_OK); /* late: accepted */
        CHECK_INT(tl_op_end(&t.op), TL_OK);
        tl_mem_free(&s);
    }
}

typedef struct driven {
    tl_mem store;
    toy t;
    int at_once, done;
    tl_turn result;
    tl_request held[8];
    size_t count;
} driven;

static void on_request(void *user, tl_op *op, const tl_request *r)
{
    driven *d = (driven *)user;
    tl_completion c;
    tl_request none;
    CHECK_INT(tl_step(op, 1, &none), TL_WAITS); /* not allowed here, and harmless */
    if (r->token == 0)
        return;
    if (!d->at_once) {
        d->held[d->count++] = *r;
        return;
    }
    tl_mem_serve(&d->store, r, &c);
    CHECK_INT(tl_complete(op, &c, 1), TL_OK);
}

static void on_done(void *user, tl_op *op, tl_turn result)
{
    driven *d = (driven *)user;
    d->done++;
    d->result = result;
    CHECK_INT(tl_op_end(op), TL_OK);
    memset(op, 0xee, sizeof(toy)); /* gone: nothing may touch it after */
}

static void callbacks_at_once_and_out_of_order(void)
{
    int k;
    for (k = 0; k < 2; k++) {
        driven d;
        tl_io io;
        memset(&d, 0, sizeof d);
        memset(&io, 0, sizeof io);
        d.at_once = k == 0;
        fill(&d.store, NULL);
        toy_begin(&d.t, NULL);
        io.user = &d;
        io.request = on_request;
        io.done = on_done;
        CHECK_INT(tl_start(&d.t.op, &io, 1), TL_OK);
        while (d.count != 0) { /* the last one first */
            tl_request r = d.held[--d.count];
            tl_completion c;
            tl_mem_serve(&d.store, &r, &c);
            CHECK_INT(tl_complete(&d.t.op, &c, 1), TL_OK);
        }
        CHECK_INT(d.done, 1);
        CHECK_INT(d.result, TL_DONE);
        tl_mem_free(&d.store);
    }
}

static void cancel_at_every_step(void)
{
    int at;
    for (at = 0; at < 8; at++) {
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_mem s;
        toy t;
        tl_request r, out[4];
        tl_completion c;
        size_t outs = 0;
        int steps = 0, cancelled = 0;
        tl_turn turn;
        fill(&s, NULL);
        toy_begin(&t, &m);
        do {
            if (steps++ == at) {
                tl_cancel(&t.op, 1);
                cancelled = 1;
            }
            turn = tl_step(&t.op, cancelled ? 1 : 100 * steps, &r);
            if (turn == TL_WANTS && r.token != 0 && r.kind != TL_SLEEP)
                out[outs++] = r;
            if (turn == TL_WAITS && outs != 0) {
                tl_mem_serve(&s, &out[--outs], &c);
                if (cancelled)
                    c = tl_completed(out[outs].token, TL_OUTCOME_CANCELLED);
                CHECK_INT(tl_complete(&t.op, &c, 100 * steps), TL_OK);
            }
        } while (turn == TL_WANTS || turn == TL_WAITS);
        CHECK(turn == TL_DONE || (turn == TL_FAILED && tl_op_status(&t.op) == TL_CANCELLED));
        CHECK_INT(tl_op_end(&t.op), TL_OK);
        CHECK_INT(m.live, 0);
        tl_mem_free(&s);
    }
}

/* Many requests in one round: each of them finds its answer. */
typedef struct wide {
    tl_op op;
    uint32_t answered;
    int asked;
} wide;

static int wide_advance(tl_op *op)
{
    wide *w = (wide *)(void *)op;
    uint32_t i;
    if (w->asked) {
        for (i = 0; i < op->slot_count; i++)
            w->answered += tli_op_answer(op, i)->outcome == TL_OUTCOME_OK;
        tli_op_finish(op, TL_DONE);
        return 1;
    }
    w->asked = 1;
    for (i = 0; i < 1000; i++)
        if (tli_op_request(op, TL_GET, tl_text("a"), TL_PURPOSE_OBJECT) == NULL)
            return 1;
    return 1;
}

static void wide_end(tl_op *op)
{
    (void)op;
}

static const char *wide_state(const tl_op *op)
{
    (void)op;
    return "WIDE";
}

static void a_thousand_requests_in_one_round(void)
{
    static const tli_op_machine machine = {wide_advance, NULL, NULL, wide_end, wide_state, 1, 0, 0};
    tl_mem_options o;
    tl_mem s;
    wide w;
    memset(&o, 0, sizeof o);
    o.latency_ms = 5;
    fill(&s, &o);
    memset(&w, 0, sizeof w);
    tli_op_begin(&w.op, &machine, NULL);
    CHECK_INT(tl_mem_run(&s, &w.op), TL_OK);
    CHECK_INT(w.answered, 1000);
    CHECK_TEXT(tl_op_state(&w.op), strlen(tl_op_state(&w.op)), "WIDE");
    CHECK(tl_op_error_store(&w.op).data == NULL);
    CHECK_INT(tl_op_end(&w.op), TL_OK);
    tl_mem_free(&s);
}

static const tl_test_case cases[] = {
    TL_TEST(runs_by_polling),
    TL_TEST(ranges_are_cut_to_what_was_asked),
    TL_TEST(every_request_failed_in_turn),
    TL_TEST(a_named_delay_is_waited_for),
    TL_TEST(every_allocation_failed_in_turn),
    TL_TEST(tokens_are_checked),
    TL_TEST(bodies_are_released_once),
    TL_TEST(a_sleep_ends_by_deadline_or_by_a_clock_set_back),
    TL_TEST(callbacks_at_once_and_out_of_order),
    TL_TEST(cancel_at_every_step),
    TL_TEST(a_thousand_requests_in_one_round),
};
TL_TEST_MAIN(cases)
