/* Loads on one lake while the table moves on: bytes drive outcomes, the order of answers, commits, expiry and cancels.
   No load hangs or leaks; none gives a version older than one that was confirmed before, or, when it checks, than the
   newest that was there when it began; a failure is clear. The table is iot.stale of tests/data (run from the top). */
#include "../tests/tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "../tests/tl_warehouse.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OLDEST 3u
#define NEWEST 6u
#define PENDING 64

typedef struct world {
    const uint8_t *data;
    size_t left;
    tl_mem store;
    tl_lake lake;
    tl_test_memory memory;
    tl_load load;
    tl_request pending[PENDING]; /* requests that are out */
    uint32_t pending_count;
    tl_turn result;              /* of a load by callbacks */
    uint64_t newest, oldest; /* that are there */
    uint64_t confirmed;
    uint64_t barred; /* version whose head is not to be used */
    uint64_t sleep;  /* token of the latest one */
} world;

static struct {
    char *data;
    size_t size;
} versions[NEWEST + 1];
static tl_mem whole; /* everything else of the table */
static tl_span location;

static void prepare(void)
{
    uint32_t v;
    char name[64];
    tl_mem_init(&whole, NULL);
    location = warehouse_put(&whole, "iot.stale");
    for (v = 1; v <= NEWEST; v++) {
        const tl_mem_object *o;
        tl_span key;
        snprintf(name, sizeof name, "v%u.metadata.json", (unsigned)v);
        key = warehouse_key(location, name);
        o = tl_mem_get(&whole, key);
        TIMELAKE_ASSERT(o != NULL);
        versions[v].size = o->size;
        versions[v].data = (char *)malloc(o->size);
        memcpy(versions[v].data, o->data, o->size);
        (void)tl_mem_delete(&whole, key);
    }
}

static uint32_t byte(world *w)
{
    if (w->left == 0)
        return 0;
    w->left--;
    return *w->data++;
}

static void commit(world *w)
{
    char name[64];
    if (w->newest == NEWEST)
        return;
    w->newest++;
    snprintf(name, sizeof name, "v%u.metadata.json", (unsigned)w->newest);
    tl_mem_put(&w->store, warehouse_key(location, name), versions[w->newest].data, versions[w->newest].size);
}

static void expire(world *w)
{
    char name[64];
    if (w->oldest == w->newest)
        return;
    snprintf(name, sizeof name, "v%u.metadata.json", (unsigned)w->oldest++);
    (void)tl_mem_delete(&w->store, warehouse_key(location, name));
}

static void answer(world *w, const tl_request *r)
{
    static const tl_outcome outcomes[] = {TL_OUTCOME_FAILED, TL_OUTCOME_NEVER_SENT, TL_OUTCOME_CANCELLED,
                                          TL_OUTCOME_UNKNOWN};
    tl_completion c;
    uint32_t what = byte(w);
    if (what >= 240) {
        c = tl_completed(r->token, outcomes[what & 3]);
        c.retry_ms = (int64_t)(what & 12) - 4;
    } else {
        tl_mem_serve(&w->store, r, &c);
        if (what >= 232 && c.body.size > 1) /* cut, by a store that says nothing */
            c.body.size = c.body.size * (what - 231) / 9;
    }
    TIMELAKE_ASSERT(tl_complete(&w->load.op, &c, w->store.now) != TL_MISUSE);
}

static void hold(world *w, const tl_request *r)
{
    if (r->token == 0 || r->kind == TL_SLEEP)
        return;
    TIMELAKE_ASSERT(w->pending_count < PENDING);
    w->pending[w->pending_count++] = *r;
}

/* One thing happens: an answer comes, the clock goes on, the table moves on, somebody gives up. */
static void act(world *w)
{
    uint32_t which = byte(w);
    tl_request r;
    if (which == 255)
        tl_cancel(&w->load.op, w->store.now);
    else if (which >= 248)
        commit(w);
    else if (which >= 244)
        expire(w);
    else if (w->pending_count != 0) {
        which %= w->pending_count;
        r = w->pending[which];
        memmove(&w->pending[which], &w->pending[which + 1], (--w->pending_count - which) * sizeof r);
        answer(w, &r);
    } else {
        int64_t deadline = tl_deadline(&w->load.op);
        tl_completion c;
        TIMELAKE_ASSERT(deadline != INT64_MAX);
        w->store.now = deadline > w->store.now ? deadline : w->store.now;
        if (w->sleep != 0) { /* of a load by callbacks: nobody steps it but its sleeps */
            c = tl_completed(w->sleep, TL_OUTCOME_OK);
            TIMELAKE_ASSERT(tl_complete(&w->load.op, &c, w->store.now) == TL_OK);
        }
    }
}

static tl_turn play(world *w)
{
    tl_request r;
    uint32_t actions;
    for (actions = 0; actions < 20000; actions++) {
        tl_turn turn = tl_step(&w->load.op, w->store.now, &r);
        if (turn == TL_WANTS)
            hold(w, &r);
        else if (turn == TL_WAITS)
            act(w);
        else {
            TIMELAKE_ASSERT(w->pending_count == 0);
            return turn;
        }
    }
    abort(); /* it hangs */
}

static void on_request(void *user, tl_op *op, const tl_request *request)
{
    world *w = (world *)user;
    TIMELAKE_ASSERT(op == &w->load.op && tl_request_text(request->kind) != NULL);
    if (request->kind == TL_SLEEP)
        w->sleep = request->token;
    hold(w, request);
}

static void on_done(void *user, tl_op *op, tl_turn result)
{
    world *w = (world *)user;
    TIMELAKE_ASSERT(op == &w->load.op && w->result == TL_WAITS && result >= TL_DONE);
    w->result = result;
}

/* The same by callbacks: every answer moves it on. */
static tl_turn play_by_callbacks(world *w)
{
    tl_io io;
    uint32_t actions;
    memset(&io, 0, sizeof io);
    io.user = w;
    io.request = on_request;
    io.done = on_done;
    w->result = TL_WAITS;
    TIMELAKE_ASSERT(tl_start(&w->load.op, &io, w->store.now) == TL_OK);
    for (actions = 0; actions < 20000 && w->result == TL_WAITS; actions++)
        act(w);
    TIMELAKE_ASSERT(w->result != TL_WAITS && w->pending_count == 0);
    TIMELAKE_ASSERT(tl_start(&w->load.op, &io, w->store.now) == TL_MISUSE);
    return w->result;
}

/* Sees every request and completion: tokens agree, texts are there. */
static void on_trace(void *context, const tl_op *op, const tl_request *request, const tl_completion *completion)
{
    TIMELAKE_ASSERT(context == op->user && request != NULL && tl_op_state(op) != NULL);
    if (completion != NULL)
        TIMELAKE_ASSERT(completion->token == request->token && tl_outcome_text(completion->outcome) != NULL);
}

/* What a program may do with a version that it has, beside other loads. */
static void use(world *w, tl_table *t, uint32_t how)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    tl_error err;
    const tli_lake_entry *entry;
    tl_status st = tl_table_last_values(t, 0, &schema, &array, &err);
    TIMELAKE_ASSERT(st == TL_OK || st == TL_ABSENT || st == TL_MISUSE);
    if (how & 1) { /* it is gone from the lake: loads begin cold, this one's head is not used again */
        tl_lake_bar(&w->lake, t);
        w->barred = t->source == TL_FROM_HEAD ? t->version : w->barred;
    }
    if (how & 2)
        tl_lake_forget(&w->lake, location);
    entry = tli_lake_entry_of(&w->lake, location);
    if (entry == NULL || entry->table == NULL) /* what is unknown does not bind an unchecked load */
        w->confirmed = 0;
    if (st == TL_OK) { /* rows outlive their table */
        TIMELAKE_ASSERT(array.length > 0 && array.n_children == schema.n_children);
        array.release(&array);
        schema.release(&schema);
    }
}

static void one_load(world *w)
{
    tl_load_options o;
    uint32_t how = byte(w);
    uint64_t newest = w->newest;
    tl_table *held = NULL;
    tl_turn turn;
    tl_status st;
    memset(&o, 0, sizeof o);
    o.max_age_ms = how & 1 ? -1 : 0;
    o.defer = (uint8_t)(how >> 1 & 1);
    o.no_head = (uint8_t)(how >> 2 & 1);
    o.no_files = (uint8_t)(how >> 3 & 1);
    w->store.now += how >> 4 & 1 ? 3000 : 1;
    w->sleep = 0; /* the token of a sleep belongs to one operation */
    tl_load_begin(&w->load, &w->lake, location, &o);
    w->load.op.user = w;
    turn = how & 32 ? play_by_callbacks(w) : play(w);
    st = tl_op_status(&w->load.op);
    if (turn == TL_DONE) {
        const tl_table *t = w->load.table;
        TIMELAKE_ASSERT(t->version >= w->confirmed && t->version <= w->newest);
        TIMELAKE_ASSERT(t->has_files || o.no_files);
        TIMELAKE_ASSERT(t->source != TL_FROM_HEAD || t->version != w->barred);
        if (!w->load.unchecked) {
            TIMELAKE_ASSERT(o.max_age_ms == 0 || w->lake.options.next_only || t->version >= newest);
            w->confirmed = t->version;
        }
        if (how >> 6 != 0)
            held = tl_table_keep(w->load.table);
    } else if (turn == TL_FAILED) {
        TIMELAKE_ASSERT(st != TL_OK && st != TL_ABSENT && st != TL_MISUSE && tl_op_error(&w->load.op)->text != NULL);
    } else {
        TIMELAKE_ASSERT(w->store.options.no_list || w->lake.options.store == TL_STORE_HTTPS
                        || w->lake.options.lookup_hint);
    }
    TIMELAKE_ASSERT(tl_op_end(&w->load.op) == TL_OK);
    if (held != NULL)
        use(w, held, how >> 6);
    tl_table_drop(held);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world w;
    tl_mem_options mo;
    tl_lake_options lo;
    uint32_t how, i;
    char hint[2];
    if (whole.count == 0)
        prepare();
    memset(&w, 0, sizeof w);
    memset(&mo, 0, sizeof mo);
    memset(&lo, 0, sizeof lo);
    w.data = data;
    w.left = size;
    how = byte(&w);
    mo.page_keys = how & 1 ? 1 + (how >> 1 & 1) : 0;
    mo.no_list = (uint8_t)((how & 12) == 12);
    lo.store = (how & 48) == 48 ? TL_STORE_HTTPS : TL_STORE_LISTS;
    lo.lookup_hint = (uint8_t)(how >> 6 & 1);
    lo.freshness_list = (uint8_t)(how >> 7 & 1 && !mo.no_list);
    how = byte(&w);
    lo.next_only = (uint8_t)((how & 7) == 7);
    lo.op.in_flight = how & 8 ? 1 : 0;
    lo.op.step_bytes = how & 16 ? 1 : 0;
    lo.op.allocator = tl_test_allocator(&w.memory);
    lo.op.trace = on_trace;
    lo.op.trace_context = &w;
    tl_mem_init(&w.store, &mo);
    w.store.log_off = 1;
    for (i = 0; i < whole.count; i++)
        tl_mem_put(&w.store, tli_text_span(whole.objects[i].key, whole.objects[i].key_size), whole.objects[i].data,
                   whole.objects[i].size);
    if (how & 32)
        (void)tl_mem_delete(&w.store, warehouse_key(location, "timelake-head"));
    hint[0] = (char)('0' + byte(&w) % 10);
    tl_mem_put(&w.store, warehouse_key(location, "version-hint.text"), hint, 1);
    w.newest = OLDEST;
    w.oldest = OLDEST + 1;
    while (w.newest < 4 + (how >> 6) % 3) /* the head is of v4 */
        commit(&w);
    TIMELAKE_ASSERT(tl_lake_init(&w.lake, &lo) == TL_OK);
    for (i = 0; i < 4; i++)
        one_load(&w);
    tl_lake_free(&w.lake);
    tl_mem_free(&w.store);
    TIMELAKE_ASSERT(w.memory.live == 0);
    return 0;
}
