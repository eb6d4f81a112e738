/* Schedules of the log machine: bytes choose who calls what, whose request is served next, what the store answers, who
   gives up. Asserted: calls end in a bounded number of steps; a version has one winner; the column of a writer that is
   done is in the table for good, that of one that failed for certain is not; after everything the table is readable,
   and what was ambiguous can be resolved. */
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ACTORS = 3, CALLS = 24 };

typedef struct actor {
    tl_log log;
    tl_log_call call;
    tl_request wants;
    tl_turn turn;
    int running, writes;
    char column[4];
} actor;

typedef struct world {
    const uint8_t *at, *end;
    tl_mem store;
    tl_log_settings settings;
    actor actors[ACTORS];
    int calls;
    char done[CALLS + 1][4], failed[CALLS + 1][4];
    int done_count, failed_count;
} world;

static uint32_t next_byte(world *w)
{
    return w->at < w->end ? *w->at++ : 0;
}

static int has_column(const tl_log_state *s, const char *name)
{
    uint32_t i;
    for (i = 0; i < s->meta.node_count; i += s->meta.fields[i].nodes)
        if (tl_span_equal(s->meta.fields[i].name, tl_text(name)))
            return 1;
    return 0;
}

static void create(world *w)
{
    tl_log_meta meta;
    tl_log_field f;
    tl_log log;
    tl_log_call call;
    memset(&meta, 0, sizeof meta);
    memset(&f, 0, sizeof f);
    f.name = meta.index_column = tl_text("i");
    f.type = TL_LOG_INT64;
    f.nodes = 1;
    meta.grid.domain = TL_LOG_SIGNED;
    meta.grid.width = 1;
    meta.has_schema = 1;
    meta.fields = &f;
    meta.node_count = meta.column_count = 1;
    tl_log_init(&log, tl_text("t"), &w->settings);
    tl_log_create(&call, &log, &meta);
    TIMELAKE_ASSERT(tl_mem_run(&w->store, &call.op) == TL_OK);
    (void)tl_op_end(&call.op);
    tl_log_free(&log);
}

static void begin(world *w, actor *a, uint32_t choice)
{
    tl_log_field f;
    tl_log_action remove;
    w->calls++;
    a->running = 1;
    a->writes = 0;
    switch (choice % 8) {
    case 0: case 1: case 2: case 3:
        memset(&f, 0, sizeof f);
        a->column[0] = 'c';
        a->column[1] = (char)('a' + w->calls);
        a->column[2] = 0;
        f.name = tl_text(a->column);
        f.nullable = 1;
        a->writes = a->log.state != NULL;
        tl_log_add_columns(&a->call, &a->log, &f, 1);
        break;
    case 4:
        tl_log_repair(&a->call, &a->log, 0);
        break;
    case 5:
        memset(&remove, 0, sizeof remove);
        remove.kind = TL_LOG_REMOVE;
        remove.path = tl_text("never/there");
        tl_log_commit(&a->call, &a->log, &remove, 1);
        break;
    default:
        tl_log_refresh(&a->call, &a->log);
    }
    a->turn = tl_step(&a->call.op, w->store.now, &a->wants);
}

/* A call came to its end. */
static void finish(world *w, actor *a)
{
    tl_status st = tl_op_status(&a->call.op);
    TIMELAKE_ASSERT(st != TL_MISUSE || a->log.state == NULL);
    if (st == TL_AMBIGUOUS) { /* without faults it can be told */
        TIMELAKE_ASSERT(tl_log_resolve(&a->call) == TL_OK);
        st = tl_mem_run(&w->store, &a->call.op);
        TIMELAKE_ASSERT(st == TL_OK || st == TL_EXISTS || st == TL_CONFLICT || st == TL_AMBIGUOUS);
    }
    if (a->writes && st == TL_OK)
        memcpy(w->done[w->done_count++], a->column, 4);
    else if (a->writes && st != TL_AMBIGUOUS)
        memcpy(w->failed[w->failed_count++], a->column, 4);
    TIMELAKE_ASSERT(tl_op_end(&a->call.op) == TL_OK);
    a->running = 0;
}

static void serve(world *w, actor *a, uint32_t choice)
{
    static const tl_outcome outcomes[] = {TL_OUTCOME_FAILED, TL_OUTCOME_UNKNOWN, TL_OUTCOME_NEVER_SENT,
                                          TL_OUTCOME_UNSUPPORTED, TL_OUTCOME_CANCELLED};
    tl_completion c;
    int lost = (choice & 15) == 1; /* the answer, not the request */
    if ((choice & 15) == 2)
        tl_cancel(&a->call.op, w->store.now);
    if ((choice & 15) < 3 && (choice & 15) > 0 && !lost) {
        c = tl_completed(a->wants.token, outcomes[(choice >> 4) % 5]);
    } else {
        tl_mem_serve(&w->store, &a->wants, &c);
        if (lost)
            c = tl_completed(a->wants.token, TL_OUTCOME_UNKNOWN);
    }
    (void)tl_complete(&a->call.op, &c, w->store.now);
    a->turn = tl_step(&a->call.op, w->store.now, &a->wants);
}

static void check_end(world *w)
{
    tl_log log;
    tl_log_call call;
    int i;
    tl_log_init(&log, tl_text("t"), &w->settings);
    w->store.now += w->settings.repair_age_ms;
    tl_log_repair(&call, &log, 0);
    TIMELAKE_ASSERT(tl_mem_run(&w->store, &call.op) == TL_OK);
    (void)tl_op_end(&call.op);
    for (i = 0; i < w->done_count; i++)
        TIMELAKE_ASSERT(has_column(log.state, w->done[i]));
    for (i = 0; i < w->failed_count; i++)
        TIMELAKE_ASSERT(!has_column(log.state, w->failed[i]));
    tl_log_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world w; /* too large for a stack */
    int i, steps;
    memset(&w, 0, sizeof w);
    w.at = data;
    w.end = data + size;
    w.settings.seed[0] = 1;
    w.settings.repair_age_ms = 5000; /* longer than a run: nobody at work is repaired */
    w.store.log_off = 1;
    tl_mem_init(&w.store, NULL);
    w.store.log_off = 1;
    w.store.now = 1700000000000;
    create(&w);
    for (i = 0; i < ACTORS; i++)
        tl_log_init(&w.actors[i].log, tl_text("t"), &w.settings);
    for (steps = 0; steps < 2000; steps++) {
        uint32_t choice = next_byte(&w);
        actor *a = &w.actors[choice % ACTORS];
        int idle = 0;
        w.store.now++;
        for (i = 0; i < ACTORS; i++)
            idle += !w.actors[i].running;
        if (idle == ACTORS && (w.at == w.end || w.calls == CALLS))
            break;
        if (idle == ACTORS)
            w.store.now += w.settings.repair_age_ms; /* what was left is not young any more */
        while (!a->running && (w.calls == CALLS || w.at == w.end))
            a = a + 1 == w.actors + ACTORS ? w.actors : a + 1; /* one that is at work */
        if (!a->running)
            begin(&w, a, next_byte(&w));
        else
            serve(&w, a, next_byte(&w));
        if (a->turn != TL_WANTS && a->turn != TL_WAITS)
            finish(&w, a);
    }
    TIMELAKE_ASSERT(steps < 2000);
    check_end(&w);
    for (i = 0; i < ACTORS; i++)
        tl_log_free(&w.actors[i].log);
    tl_mem_free(&w.store);
    return 0;
}
