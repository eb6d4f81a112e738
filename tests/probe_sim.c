/* The probe, exhaustively: the shipped machines of one writer, one garbage collector and two readers that share a cache
   run against a model of the store, and every interleaving of their requests is walked. A request is applied to the
   store at one moment and its answer comes at a later one; the collector deletes what its boundary covers in any order;
   a stalled writer may create a collected id anew.

   All that moves lies in one struct, whose bytes are copied to go back (pointers stay right: it is always in the same
   place). States are told apart by what can matter later; a state seen before is not walked again, but its schedules
   are counted. Checked of every read that ends: its id was newest at some moment of the call (so it is above the
   boundary that held when the call began), is above any boundary that its cache knows, and the bytes are that id's; no
   object: there was none. The cache and the boundary that is known never move back.

   TL_SIM=1 to 6: so many larger walks, of seconds, then minutes to hours and gigabytes. TL_SIM_TRACE=1 prints the
   schedule that broke a rule. */
#include "tl_test.h"
#include "tl_states.h"

enum { READER_A, READER_B, WRITER, COLLECTOR, ACTORS };
enum { IDLE, SENT, APPLIED };
enum { SLABS = 16, SLAB = 320, TOP = 8, DEPTH = 512, CHOICES = 24 };

typedef struct setting {
    const char *name;
    uint32_t ids, start; /* how many are written in all, and of these before, when the readers are warm */
    uint32_t limit, reads, passes, zombies;
    uint8_t write_through; /* the writer uses the readers' cache */
    uint8_t verify;        /* no boundary at all: the collector deletes from the low end, readers look before */
} setting;

typedef struct answer {
    tl_outcome outcome;
    uint8_t ids[TOP]; /* of a list: what is there; of a get the body's id in [0], or the boundary's value */
} answer;

typedef struct actor {
    tl_probe_call call;
    tl_request out;
    answer heard;
    uint8_t phase;
    uint8_t left;   /* calls still to begin */
    uint8_t first;  /* the newest id when it began: that and all later ones were newest during the call */
    uint8_t target; /* of a collector: deletes up to here */
} actor;

typedef struct world {
    uint8_t there[TOP]; /* the store: objects, the newest committed id, the boundary (its ETag is its value) */
    uint8_t newest, boundary, zombies;
    tl_probe probes[3]; /* of the readers, the writer, the collector */
    actor actors[ACTORS];
    uint8_t used[SLABS];
    union {
        uint8_t bytes[SLAB];
        void *align;
        uint64_t wide;
    } slabs[SLABS];
} world;

static world w; /* all that moves */
static setting set;
static tl_layout layout;
static tl_probe_options options;
static int broken;

/* ---- memory inside the world ---- */

static void *slab_take(void *context, size_t size)
{
    size_t i;
    (void)context;
    for (i = 0; i < SLABS && size <= SLAB; i++)
        if (!w.used[i]) {
            w.used[i] = 1;
            return w.slabs[i].bytes;
        }
    abort();
}

static void slab_give(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    w.used[((uint8_t *)memory - w.slabs[0].bytes) / (ptrdiff_t)sizeof w.slabs[0]] = 0;
}

static void fail(const char *what, int id)
{
    if (!broken)
        fprintf(stderr, "%s: %s (id %d, newest %d, boundary %d)\n", set.name, what, id, w.newest, w.boundary);
    broken = 1;
}

/* ---- the store ---- */

/* The id in a key of ours; 0: the boundary; -1: the directory. */
static int id_of(tl_span key)
{
    return key.data[key.size - 1] == '/' ? -1 : key.data[0] == 'm' ? key.data[10] - '0' : 0;
}

static void apply_put(const tl_request *r, int id, answer *a)
{
    uint8_t value;
    if (id > 0) {
        a->outcome = w.there[id] ? TL_OUTCOME_PRECONDITION : TL_OUTCOME_OK;
        w.there[id] = 1;
        w.newest = (uint8_t)(id > w.newest ? id : w.newest);
        return;
    }
    value = (uint8_t)(r->body[0].data[0] - '0');
    if (r->condition == TL_IF_ABSENT ? w.boundary != 0 : w.boundary != r->etag.data[1] - '0') {
        a->outcome = TL_OUTCOME_PRECONDITION;
        return;
    }
    w.boundary = value;
    a->ids[0] = value;
}

static void apply(actor *who)
{
    const tl_request *r = &who->out;
    answer *a = &who->heard;
    int id = id_of(r->key);
    memset(a, 0, sizeof *a);
    who->phase = APPLIED;
    if (r->kind == TL_LIST)
        memcpy(a->ids, w.there, TOP);
    else if (r->kind == TL_DELETE)
        w.there[id] = 0;
    else if (r->kind == TL_PUT)
        apply_put(r, id, a);
    else if (id > 0) {
        a->outcome = id < TOP && w.there[id] ? TL_OUTCOME_OK : TL_OUTCOME_NOT_FOUND;
        a->ids[0] = (uint8_t)id;
    } else {
        a->ids[0] = w.boundary;
        a->outcome = w.boundary == 0 ? TL_OUTCOME_NOT_FOUND
                     : r->condition == TL_IF_NONE_MATCH && r->etag.data[1] - '0' == w.boundary
                         ? TL_OUTCOME_NOT_MODIFIED : TL_OUTCOME_OK;
    }
}

/* ---- actors ---- */

static void check_read(const actor *who)
{
    uint64_t id = who->call.id;
    if (who->call.op.turn == TL_NONE) {
        if (who->first != 0)
            fail("nothing found, but there was an object all the time", 0);
        return;
    }
    if (who->call.op.turn != TL_DONE) {
        fail(tl_op_error(&who->call.op)->text, 0);
        return;
    }
    if (id < who->first || id > w.newest) /* the boundary at the beginning was below the newest id */
        fail("an id that was not newest at any moment of the call", (int)id);
    if (layout.boundary != NULL && id <= who->call.probe->boundary)
        fail("an id that the cache's boundary covers", (int)id);
    if (who->call.body.size != 1 || who->call.body.data[0] != (char)('0' + id))
        fail("the bytes of another id", (int)id);
}

static void ended(int i)
{
    actor *who = &w.actors[i];
    if (i == READER_A || i == READER_B)
        check_read(who);
    else if (tl_op_status(&who->call.op) != TL_OK)
        fail("the writer or the collector failed", (int)who->call.id);
    if (i == COLLECTOR && who->call.op.turn == TL_DONE && who->target == 0)
        who->target = (uint8_t)who->call.id; /* the boundary is durable: deleting begins */
    who->phase = IDLE;
    who->first = 0;
    if (tl_op_end(&who->call.op) != TL_OK)
        fail("an operation that does not end", 0);
}

static void step(int i)
{
    actor *who = &w.actors[i];
    tl_turn turn = tl_step(&who->call.op, 1, &who->out);
    who->phase = SENT;
    if (turn == TL_WAITS)
        fail("it waits, with nothing out", 0);
    else if (turn != TL_WANTS)
        ended(i);
}

static void deliver(int i)
{
    actor *who = &w.actors[i];
    tl_completion c = tl_completed(who->out.token, who->heard.outcome);
    tl_entry entries[TOP];
    char keys[TOP][40], etag[4], body[2] = {0, 0};
    int n = 0, id;
    const tl_probe *p = who->call.probe;
    uint64_t cached = p->body != NULL ? p->id : 0, known = p->boundary;
    snprintf(etag, sizeof etag, "\"%c\"", '0' + who->heard.ids[0]);
    body[0] = (char)('0' + who->heard.ids[0]);
    c.etag = tl_text(etag);
    if (who->out.kind == TL_GET)
        c.body = tl_text(body);
    memset(entries, 0, sizeof entries);
    for (id = 1; id < TOP && who->out.kind == TL_LIST; id++)
        if (who->heard.ids[id]) {
            snprintf(keys[n], sizeof keys[n], "m/%09d.m", id);
            entries[n].key = tl_text(keys[n]);
            n++;
        }
    c.entries = entries;
    c.entry_count = (size_t)n;
    if (tl_complete(&who->call.op, &c, 1) != TL_OK)
        fail("an answer that is not taken", 0);
    step(i);
    if (p->boundary < known)
        fail("the boundary that is known moves back", (int)known);
    if (p->body != NULL && p->id < cached)
        fail("the cache moves back", (int)cached);
}

/* ---- what may happen next ---- */

/* An event: 1 + actor begins (with an argument), applies, or is answered; 0: the stalled writer. */
typedef struct event {
    uint8_t actor, argument;
} event;

static size_t collector_events(event *out)
{
    const actor *who = &w.actors[COLLECTOR];
    size_t n = 0;
    uint8_t id;
    if (who->target != 0) { /* deletes what it listed, in any order; without a boundary from the low end */
        for (id = 1; id <= who->target; id++)
            if (w.there[id]) {
                out[n].actor = 1 + COLLECTOR;
                out[n++].argument = id;
                if (set.verify)
                    break;
            }
        if (n == 0) {
            out[n].actor = 1 + COLLECTOR;
            out[n++].argument = 0;
        }
        return n;
    }
    for (id = (uint8_t)(w.boundary + 1); who->left > 0 && id < w.newest; id++) {
        out[n].actor = 1 + COLLECTOR;
        out[n++].argument = id;
    }
    return n;
}

static size_t events(event *out)
{
    size_t n = 0;
    uint8_t i, id;
    for (i = 0; i < ACTORS; i++) {
        const actor *who = &w.actors[i];
        if (who->phase == IDLE && i == COLLECTOR) {
            n += collector_events(out + n);
        } else if (who->phase != IDLE || who->left > 0) {
            out[n].actor = (uint8_t)(1 + i);
            out[n++].argument = 0;
        }
    }
    for (id = 1; w.zombies > 0 && id <= w.boundary; id++)
        if (!w.there[id]) {
            out[n].actor = 0;
            out[n++].argument = id;
        }
    return n;
}

static void begin(int i, uint8_t argument)
{
    actor *who = &w.actors[i];
    tl_probe *p = &w.probes[i == COLLECTOR ? 2 : i == WRITER && !set.write_through ? 1 : 0];
    static const char *const bodies[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    who->first = w.newest;
    if (i == WRITER) {
        who->left--;
        if (set.write_through)
            tl_probe_write(&who->call, p, set.ids - who->left - 1u, tl_text(bodies[set.ids - who->left]));
        else
            tl_probe_write_unchecked(&who->call, p, set.ids - who->left - 1u, tl_text(bodies[set.ids - who->left]));
    } else if (i != COLLECTOR) {
        who->left--;
        tl_probe_latest(&who->call, p);
    } else if (who->target == 0 && set.verify) {
        who->left--;
        who->target = argument; /* no boundary */
        return;
    } else if (who->target == 0) {
        who->left--;
        tl_probe_advance(&who->call, p, argument);
    } else if (argument == 0) {
        who->target = 0; /* the pass is over */
        return;
    } else
        tl_probe_delete_unchecked(&who->call, p, argument);
    step(i);
}

/* A whole call, with nothing between. */
static void alone(int i, uint8_t argument)
{
    begin(i, argument);
    while (w.actors[i].phase != IDLE && !broken) {
        apply(&w.actors[i]);
        deliver(i);
    }
}

/* One event. A call of the collector, and of a writer with a cache of its own, is one: it changes the store once, and
   nobody can notice when its other requests are applied and answered. */
static void happen(event e)
{
    int i = e.actor - 1;
    actor *who = &w.actors[i < 0 ? 0 : i];
    if (i < 0) {
        w.zombies--;
        w.there[e.argument] = 1;
    } else if (who->phase == IDLE) {
        if (i == COLLECTOR || (i == WRITER && !set.write_through))
            alone(i, e.argument);
        else
            begin(i, e.argument);
    } else if (who->phase == SENT)
        apply(who);
    else
        deliver(i);
}

/* ---- states seen ---- */

/* Of a call what can matter later. Counts of requests and attempts are left out. */
static uint64_t actor_state(const actor *a)
{
    uint64_t h = mixed(17, (uint64_t)a->left << 40 | (uint64_t)a->target << 16 | a->phase);
    size_t i = 0;
    if (a->phase == IDLE)
        return h;
    h = mixed(h, (uint64_t)a->call.state << 56 | (uint64_t)a->call.kind << 48 | (uint64_t)a->call.id << 32
                 | a->call.hits << 8 | (a->call.held != NULL));
    h = mixed(h, (uint64_t)a->first << 48 | (uint64_t)a->out.kind << 16 | (uint64_t)a->out.condition);
    h = mixed(h, (uint64_t)(id_of(a->out.key) + 1) << 8 | (a->out.etag.size > 1 ? (uint8_t)a->out.etag.data[1] : 0));
    for (i = TOP; a->out.kind == TL_LIST && --i > 0 && a->heard.ids[i] == 0;) /* of a list the highest */
        continue;
    return a->phase != APPLIED ? h : mixed(mixed(h, (uint64_t)a->heard.outcome),
                                          a->out.kind == TL_LIST ? i : a->heard.ids[0]);
}

static uint64_t state(void)
{
    uint64_t h = mixed(1, (uint64_t)w.newest << 32 | (uint64_t)w.boundary << 16 | w.zombies);
    uint64_t a = actor_state(&w.actors[READER_A]), b = actor_state(&w.actors[READER_B]);
    size_t i;
    for (i = 0; i < TOP; i++)
        h = h * 2 + w.there[i];
    for (i = 0; i < 3; i++)
        h = mixed(h, (w.probes[i].body != NULL ? w.probes[i].id : 0) << 16
                     | (uint64_t)w.probes[i].etag_size << 8 | w.probes[i].boundary);
    h = mixed(mixed(h, a < b ? a : b), a < b ? b : a); /* the readers are alike */
    h = mixed(mixed(h, actor_state(&w.actors[WRITER])), actor_state(&w.actors[COLLECTOR]));
    return h != 0 ? h : 1;
}

/* ---- the walk ---- */

typedef struct frame {
    world before;
    event choices[CHOICES];
    size_t count, next;
    uint64_t key;
    double schedules;
} frame;

static frame *frames;

static void print_schedule(size_t depth)
{
    static const char *const names[] = {"stalled writer", "reader a", "reader b", "writer", "collector"};
    size_t d;
    if (getenv("TL_SIM_TRACE") == NULL)
        return;
    for (d = 0; d <= depth; d++) {
        event e = frames[d].choices[frames[d].next - 1];
        const actor *a = &frames[d].before.actors[e.actor == 0 ? 0 : e.actor - 1];
        fprintf(stderr, "  %-14s %u %s%s, then newest %d boundary %d\n", names[e.actor], e.argument,
                e.actor == 0 || a->phase == IDLE ? "begins" : a->phase == SENT ? "request applied: " : "answered: ",
                e.actor == 0 || a->phase == IDLE ? "" : tl_request_text(a->out.kind),
                (d < depth ? frames[d + 1].before : w).newest, (d < depth ? frames[d + 1].before : w).boundary);
    }
}

static int enter(size_t depth, double *known)
{
    frame *f = &frames[depth];
    entry *e;
    make_room();
    f->key = state();
    e = look_up(f->key);
    if (e->key != 0) {
        if (e->schedules < 0)
            fail("a schedule that comes back to where it was", 0);
        *known = e->schedules;
        return 0;
    }
    states_used++;
    e->key = f->key;
    e->schedules = -1;
    f->count = events(f->choices);
    f->next = 0;
    f->schedules = f->count == 0;
    f->before = w;
    return 1;
}

static double walk(uint64_t *steps)
{
    size_t depth = 0;
    double known = 0;
    int down = enter(0, &known);
    while (!broken) {
        frame *f = &frames[depth];
        if (down && f->next < f->count) {
            w = f->before;
            happen(f->choices[f->next++]);
            (*steps)++;
            if (broken)
                print_schedule(depth);
            if (depth + 1 == DEPTH)
                abort();
            if (!enter(depth + 1, &known))
                f->schedules += known;
            else
                depth++;
            continue;
        }
        look_up(f->key)->schedules = known = f->schedules;
        if (depth == 0)
            break;
        frames[--depth].schedules += known;
    }
    return known;
}

static void run(const setting *s)
{
    static const tl_layout plain = {"m", "m", "b", 9, 0};
    uint64_t steps = 0;
    double schedules;
    size_t i;
    set = *s;
    memset(&w, 0, sizeof w);
    memset(&options, 0, sizeof options);
    options.op.allocator.allocate = slab_take;
    options.op.allocator.deallocate = slab_give;
    options.verify = s->verify;
    layout = plain;
    layout.limit = s->limit;
    if (s->verify)
        layout.boundary = NULL;
    for (i = 0; i < 3; i++)
        CHECK_INT(tl_probe_init(&w.probes[i], &layout, tl_text(""), &options), TL_OK);
    w.zombies = (uint8_t)s->zombies;
    w.actors[WRITER].left = (uint8_t)s->ids;
    for (i = 0; i < s->start; i++)
        alone(WRITER, 0);
    w.actors[READER_A].left = w.actors[COLLECTOR].left = 1;
    if (s->start > 1) /* what is old is collected already: the readers know a boundary */
        alone(COLLECTOR, (uint8_t)(s->start - 1));
    while (w.actors[COLLECTOR].target != 0) {
        event next[CHOICES];
        (void)collector_events(next);
        alone(COLLECTOR, next[0].argument);
    }
    if (s->start != 0)
        alone(READER_A, 0);
    w.actors[READER_A].left = w.actors[READER_B].left = (uint8_t)s->reads;
    w.actors[COLLECTOR].left = (uint8_t)s->passes;
    forget_states();
    broken = 0;
    schedules = walk(&steps);
    CHECK(!broken);
    printf("%s: %lu states, %lu steps, %.3g schedules\n", s->name, (unsigned long)states_used, (unsigned long)steps,
           schedules);
    fflush(stdout);
}

static void every_interleaving(void)
{
    static const setting settings[] = {
        {"cold, 2 ids, stalled writer", 2, 0, 4, 1, 1, 1, 0, 0},
        {"cold, 2 ids, written through", 2, 0, 4, 1, 1, 0, 1, 0},
        {"cold, 3 ids, written through", 3, 0, 4, 1, 1, 0, 1, 0},
        {"warm, 6 ids, limit 2", 6, 3, 2, 1, 1, 0, 0, 0},
        {"warm, 4 ids, 2 reads", 4, 2, 4, 2, 1, 0, 0, 0},
        {"warm, 3 ids, no boundary, verify", 3, 2, 4, 1, 1, 0, 0, 1},
        {"warm, 6 ids, limit 4", 6, 2, 4, 1, 1, 0, 0, 0}, /* five seconds; not on emulators */
    };
    static const setting larger[] = {
        {"warm from 1, 6 ids, limit 4", 6, 1, 4, 1, 1, 0, 0, 0},
        {"cold, 3 ids, 2 passes", 3, 0, 2, 1, 2, 1, 0, 0},
        {"warm, 5 ids, 2 reads, 2 passes", 5, 2, 2, 2, 2, 1, 0, 0},
        {"cold, 6 ids, limit 4, 2 reads", 6, 0, 4, 2, 2, 1, 0, 0},
        {"cold, 6 ids, 2 reads, no boundary, verify", 6, 0, 4, 2, 2, 0, 0, 1},
        {"cold, 6 ids, written through, 2 reads", 6, 0, 4, 2, 2, 1, 1, 0},
    };
    size_t i;
    frames = (frame *)malloc(DEPTH * sizeof *frames);
    if (frames == NULL)
        return;
    for (i = 0; i < sizeof settings / sizeof settings[0] - (getenv("RUN") != NULL); i++)
        run(&settings[i]);
    for (i = 0; i < sizeof larger / sizeof larger[0] && getenv("TL_SIM") != NULL; i++)
        if (i < (size_t)atoi(getenv("TL_SIM")))
            run(&larger[i]);
    free(frames);
    forget_states();
}

static const tl_test_case cases[] = {TL_TEST(every_interleaving)};
TL_TEST_MAIN(cases)
