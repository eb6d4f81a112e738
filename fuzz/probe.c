/* Schedules of the probe: bytes choose calls, what the store answers, what others do meanwhile, and when to cancel.
   Asserts that every call ends in a bounded number of steps, that a checked latest read never returns an id that the
   boundary covered when it began, that what is returned was created, and that the counters print. */
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

static void begin(schedule *s, tl_probe_call *call, uint32_t choice)
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

static void run(schedule *s, tl_probe_call *call)
{
    uint32_t steps, choice = next_byte(s);
    uint64_t covered = s->boundary;
    tl_request r;
    tl_completion c;
    tl_turn turn = TL_WAITS;
    begin(s, call, choice);
    for (steps = 0; turn < TL_DONE; steps++) {
        uint32_t fault = next_byte(s);
        TLI_ASSERT(steps < 1000);
        turn = tl_step(&call->op, 1, &r);
        if (turn != TL_WANTS)
            continue;
        others(s, fault >> 6);
        tl_mem_serve(&s->store, &r, &c);
        if ((fault & 15) == 15)
            tl_cancel(&call->op, 1);
        if ((fault & 63) >= 56) { /* applied or not, this is what is heard of it */
            tl_outcome outcome = (tl_outcome)(fault & 7);
            int honest = r.kind != TL_PUT || outcome == TL_OUTCOME_UNKNOWN || outcome == TL_OUTCOME_CANCELLED;
            if (honest && outcome != TL_OUTCOME_OK && outcome != TL_OUTCOME_NOT_FOUND)
                c = tl_completed(r.token, outcome);
        }
        TLI_ASSERT(tl_complete(&call->op, &c, 1) == TL_OK);
        look(s);
    }
    if (turn == TL_DONE && choice % 10 <= 2) {
        TLI_ASSERT(call->id > covered && call->id <= s->newest);
        TLI_ASSERT(call->body.size == 1);
    }
    TLI_ASSERT(turn != TL_FAILED || (tl_op_error(&call->op)->text != NULL && tl_op_state(&call->op) != NULL
                                     && tl_status_text(tl_op_status(&call->op)) != NULL));
    (void)tl_op_error_key(&call->op);
    (void)tl_op_error_store(&call->op);
    TLI_ASSERT(tl_op_round_trips(&call->op) <= tl_op_requests(&call->op));
    TLI_ASSERT(tl_op_end(&call->op) == TL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    schedule s;
    tl_buffer text;
    uint32_t i, how;
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    if (call == NULL || size > 4096) {
        free(call);
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
    for (i = 0; i < 64 && s.at < s.end; i++)
        run(&s, call);
    TLI_ASSERT(tl_probe_counters_text(&text, &s.counters, tl_text("manifest"), NULL) == TL_OK && text.size > 0);
    tl_buffer_free(&text);
    tl_probe_free(&s.probe);
    tl_mem_free(&s.store);
    free(call);
    return 0;
}
