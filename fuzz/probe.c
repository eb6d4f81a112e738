/* Schedules of the probe: up to three calls share a cache; bytes choose which of them goes on, what the store answers,
   what others do meanwhile, and when to cancel. Asserts that every call ends in a bounded number of steps, that a
   checked latest read returns an id that was newest at some moment of it, above the boundary that held when it began,
   that neither the cache nor the boundary that is known moves back, and that the counters print. */
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

typedef struct running {
    tl_probe_call call;
    tl_request out;
    uint64_t covered, newest; /* when it began */
    uint32_t choice, steps;
    uint8_t busy;
} running;

typedef struct schedule {
    const uint8_t *at, *end;
    tl_mem store;
    tl_probe probe;
    tl_probe_counters counters;
    tl_probe_options options;
    uint64_t newest, boundary;
} schedule;

static uint32_t next_byte(schedule *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

static const tl_layout *layout;

static tl_span object_key(char *out, uint64_t id)
{
    size_t i = strlen(layout->directory) + 23;
    strcpy(out, "db/");
    strcat(strcat(out, layout->directory), "/00000000000000000000.");
    strcat(out, layout->suffix);
    for (; id != 0; id /= 10)
        out[i--] = (char)('0' + id % 10);
    return tl_text(out);
}

static tl_span boundary_key(char *out)
{
    strcpy(out, "db/");
    return tl_text(strcat(out, layout->boundary));
}

static void set_boundary(schedule *s, uint64_t id)
{
    char text[4] = {(char)('0' + id / 100 % 10), (char)('0' + id / 10 % 10), (char)('0' + id % 10), 0};
    char key[64];
    s->boundary = id;
    tl_mem_put(&s->store, boundary_key(key), text, 3);
}

/* Another process creates the next object, or collects: the boundary moves first. */
static void others(schedule *s, uint32_t choice)
{
    char key[64];
    if (choice == 1 && s->newest < 900) {
        tl_mem_put(&s->store, object_key(key, ++s->newest), "v", 1);
    } else if (choice == 2 && s->newest > s->boundary + 1) {
        set_boundary(s, s->boundary + 1);
        (void)tl_mem_delete(&s->store, object_key(key, s->boundary));
    }
}

static void choose(schedule *s, tl_probe_call *call, uint32_t choice)
{
    uint64_t id = next_byte(s);
    switch (choice % 10) {
    case 0: case 1: case 2: tl_probe_latest(call, &s->probe); break;
    case 3: tl_probe_latest_unchecked(call, &s->probe); break;
    case 4: tl_probe_write(call, &s->probe, s->newest, tl_text("w")); break;
    case 5: tl_probe_write_unchecked(call, &s->probe, s->newest, tl_text("w")); break;
    case 6: tl_probe_check(call, &s->probe, id); break;
    case 7: tl_probe_read_id(call, &s->probe, id); break;
    case 8: tl_probe_list(call, &s->probe, 0, UINT64_MAX); break;
    default:
        if (id % 3 == 0)
            tl_probe_advance(call, &s->probe, s->newest > 1 ? s->newest - 1 : 0);
        else if (id % 3 == 1)
            tl_probe_delete(call, &s->probe, s->boundary);
        else
            tl_probe_delete_unchecked(call, &s->probe, s->boundary);
    }
}

/* What the store holds after a call that wrote: the newest id and the boundary, read anew. */
static void look(schedule *s)
{
    char key[64];
    const tl_mem_object *o = tl_mem_get(&s->store, boundary_key(key));
    size_t i;
    while (tl_mem_get(&s->store, object_key(key, s->newest + 1)) != NULL)
        s->newest++;
    for (i = 0, s->boundary = 0; o != NULL && i < o->size; i++)
        s->boundary = s->boundary * 10 + (uint64_t)(o->data[i] - '0');
}

static void ended(schedule *s, running *r, tl_turn turn)
{
    const tl_op *op = &r->call.op;
    if (turn == TL_DONE && r->choice % 10 <= 2) {
        TLI_ASSERT(r->call.id > r->covered && r->call.id >= r->newest && r->call.id <= s->newest);
        TLI_ASSERT(r->call.body.size == 1);
    }
    TLI_ASSERT(turn != TL_NONE || r->choice % 10 > 2 || r->newest == 0);
    TLI_ASSERT(turn != TL_FAILED || (tl_op_error(op)->text != NULL && tl_op_state(op) != NULL
                                     && tl_status_text(tl_op_status(op)) != NULL));
    (void)tl_op_error_key(op);
    (void)tl_op_error_store(op);
    TLI_ASSERT(tl_op_round_trips(op) <= tl_op_requests(op));
    TLI_ASSERT(tl_op_end(&r->call.op) == TL_OK);
    r->busy = 0;
}

/* To the next request, or the end. */
static void go_on(schedule *s, running *r)
{
    uint64_t cached = s->probe.body != NULL ? s->probe.id : 0, known = s->probe.boundary;
    tl_turn turn = tl_step(&r->call.op, 1, &r->out);
    r->steps++;
    TLI_ASSERT(s->probe.body == NULL || s->probe.id >= cached);
    TLI_ASSERT(s->probe.boundary >= known && turn != TL_WAITS && r->steps < 1000);
    if (turn != TL_WANTS)
        ended(s, r, turn);
}

static void begin(schedule *s, running *r)
{
    r->choice = next_byte(s);
    r->covered = s->boundary;
    r->newest = s->newest;
    r->steps = 0;
    r->busy = 1;
    choose(s, &r->call, r->choice);
    go_on(s, r);
}

/* The request that is out is applied and answered; `fault` says what else happens. */
static void answer(schedule *s, running *r, uint32_t fault)
{
    tl_completion c;
    others(s, fault >> 6);
    tl_mem_serve(&s->store, &r->out, &c);
    look(s);
    if ((fault & 15) == 15)
        tl_cancel(&r->call.op, 1);
    if ((fault & 63) >= 56) { /* applied, but this is what is heard of it */
        tl_outcome outcome = (tl_outcome)(fault & 7);
        int honest = outcome >= TL_OUTCOME_UNSUPPORTED
                     && (r->out.kind != TL_PUT || outcome == TL_OUTCOME_UNKNOWN || outcome == TL_OUTCOME_CANCELLED);
        if (honest)
            c = tl_completed(r->out.token, outcome);
    }
    TLI_ASSERT(tl_complete(&r->call.op, &c, 1) == TL_OK);
    go_on(s, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    schedule s;
    tl_buffer text;
    uint32_t i, how;
    running *calls = (running *)calloc(3, sizeof *calls);
    if (calls == NULL || size > 4096) {
        free(calls);
        return 0;
    }
    memset(&s, 0, sizeof s);
    memset(&text, 0, sizeof text);
    s.at = data;
    s.end = data + size;
    s.options.counters = &s.counters;
    tl_mem_init(&s.store, NULL);
    s.store.log_off = 1;
    how = next_byte(&s);
    layout = how & 2 ? tl_slatedb_compactions() : tl_slatedb_manifests();
    for (i = next_byte(&s) % 8; i > 0; i--)
        others(&s, 1);
    s.options.verify = (uint8_t)(how & 1);
    TLI_ASSERT(tl_probe_init(&s.probe, layout, tl_text("db/"), &s.options) == TL_OK);
    while (s.at < s.end) {
        running *r = &calls[next_byte(&s) % 3];
        if (!r->busy)
            begin(&s, r);
        else
            answer(&s, r, next_byte(&s));
    }
    for (i = 0; i < 3; i++) /* whatever is left ends undisturbed */
        while (calls[i].busy)
            answer(&s, &calls[i], 0);
    TLI_ASSERT(tl_probe_counters_text(&text, &s.counters, tl_text("manifest"), NULL) == TL_OK && text.size > 0);
    tl_buffer_free(&text);
    tl_probe_free(&s.probe);
    tl_mem_free(&s.store);
    free(calls);
    return 0;
}
