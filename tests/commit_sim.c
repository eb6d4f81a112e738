/* Commits, exhaustively: the shipped machines of writers and a reader, each a process of its own, over one store in
   memory, and every interleaving of their requests is walked. Each writer makes one commit and publishes it; the reader
   opens the table from nothing. Any of them may stop for ever at any moment, and in some settings an answer is lost. A
   request is applied and answered in one event: when the answer comes matters to its own process alone, whose next
   request waits for an event of its own. What nobody else can notice is no event (objects under new names, which no
   version names yet, and objects that never change), but in the settings called loud.

   All that moves is copied to go back: the store, and the memory of the machines, which stays in its place. States are
   told apart by what the store holds and what each process was answered; one seen before is not walked again, but its
   schedules are counted. Checked in each state: the versions follow one another without a gap, nothing that one names
   is missing, no file is in one twice; a process that said it is done is in, once, one that failed for certain is not;
   head and hint name a version that is there, the head never moves back and says what its version says. Of each load:
   its version was the newest at some moment of it, and none goes back. At each end: who did not stop is done, or lost
   to what must win, and nothing is left over.

   TL_SIM=1 to 4: so many larger walks, of seconds to minutes. TL_SIM_TRACE=1 prints the schedule that broke a rule. */
#include "tl_test.h"
#include "tl_states.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"
#include "tl_commit.h"

enum { ACTORS = 3, OUT = 12, DEPTH = 128, CHOICES = 64, VERSIONS = 8, READER = -1, NOBODY = -2 };
enum { COMMIT, PUBLISH, LOAD, ENDED };
enum { APPLY, LOSE, REFUSE, STOP }; /* what happens to a request, or to an actor */

typedef struct setting {
    const char *name;
    int role[ACTORS]; /* a tl_change_kind, READER or NOBODY */
    uint8_t loads, stops, faults;
    uint8_t same_batch; /* appends carry one batch id */
    uint8_t from_head;  /* the bases come from the head: manifest lists are read */
    uint8_t loud;
    uint8_t loses; /* how many of the writers must lose */
    tl_status lost;
} setting;

typedef struct actor {
    tl_lake lake;
    tl_commit commit;
    tl_publish publish;
    tl_load load;
    tl_op *op;
    tl_table *base;
    cfile file;
    tl_data_file added;
    tl_span removed;
    tl_change change;
    tl_request out[OUT];
    size_t out_count;
    uint64_t history; /* of all answers */
    uint64_t first;   /* newest version when the load began */
    uint64_t seen;    /* by the load before */
    uint8_t stage, stopped, loads, reported;
    tl_status report;
    uint64_t version;
    int64_t snapshot_id;
    uint8_t duplicate;
} actor;

/* What the store holds, read object by object. */
typedef struct facts {
    uint64_t key; /* 0: free */
    uint64_t newest, head;
    cversion versions[VERSIONS];
    unsigned orphans;
} facts;

typedef struct event {
    uint8_t actor, what, request;
} event;

/* All that moves, but for the memory that machines take. */
typedef struct world {
    tl_mem store;
    uint64_t store_key, head;
    actor actors[ACTORS];
    uint8_t stops, faults;
} world;

typedef struct frame {
    world before;
    uint64_t *memory; /* what the machines had, kept from state to state */
    size_t memory_used, memory_room;
    event choices[CHOICES];
    size_t count, next;
    uint64_t key;
    double schedules;
} frame;

static setting set;
static tl_mem origin; /* what every schedule begins with */
static tl_table *bases[ACTORS];
static world w;
static char place[256];
static tl_span location;
static uint64_t start; /* the newest version at the beginning */
static frame frames[DEPTH];
static int broken;

static int is_writer(int i)
{
    return set.role[i] >= 0;
}

static void fail(const char *what, long long n)
{
    if (!broken)
        fprintf(stderr, "%s: %s (%lld)\n", set.name, what, n);
    broken = 1;
}

/* ---- memory: of one schedule, given back all at once ---- */

static uint64_t arena[(size_t)6 << 20];
static size_t arena_used;

static void *arena_take(void *context, size_t size)
{
    void *p = &arena[arena_used];
    (void)context;
    arena_used += (size + 7) / 8;
    if (arena_used > sizeof arena / sizeof arena[0])
        abort();
    return p;
}

static void arena_give(void *context, void *memory, size_t size)
{
    (void)context;
    if ((uint64_t *)memory + (size + 7) / 8 == &arena[arena_used])
        arena_used -= (size + 7) / 8;
}

/* ---- the store ---- */

static uint64_t text_key(tl_span s)
{
    return s.data == NULL ? 1 : tli_hash_xxh64(s.data, s.size, 7);
}

static uint64_t object_key(tl_span key)
{
    const tl_mem_object *o = tl_mem_get(&w.store, key);
    tl_span body;
    if (o == NULL)
        return 0;
    body.data = (const char *)o->data;
    body.size = o->size;
    return mixed(text_key(key), text_key(body));
}

static int is_version(tl_span key)
{
    return tli_keys_parse(key, location) != 0;
}

/* The same objects, with their ETags. */
static tl_mem store_copy(const tl_mem *from)
{
    tl_mem to;
    size_t i;
    tl_mem_init(&to, &from->options);
    to.log_off = 1;
    to.now = from->now;
    to.etags = from->etags;
    to.count = from->count;
    to.capacity = from->count + 1;
    to.objects = (tl_mem_object *)malloc(to.capacity * sizeof *to.objects);
    if (to.objects == NULL)
        abort();
    for (i = 0; i < from->count; i++) {
        to.objects[i] = from->objects[i];
        to.objects[i].key = tl_mem_copy(from->objects[i].key, from->objects[i].key_size);
        to.objects[i].data = (uint8_t *)tl_mem_copy((const char *)from->objects[i].data, from->objects[i].size);
    }
    return to;
}

/* Keeps what there is now in a frame, and brings it back: everything stays in its place, pointers with it. */
static void keep(frame *f)
{
    f->before = w;
    f->before.store = store_copy(&w.store);
    if (f->memory_room < arena_used) {
        free(f->memory);
        f->memory_room = arena_used * 2;
        f->memory = (uint64_t *)malloc(f->memory_room * sizeof arena[0]);
        if (f->memory == NULL)
            abort();
    }
    f->memory_used = arena_used;
    memcpy(f->memory, arena, arena_used * sizeof arena[0]);
}

static void bring_back(const frame *f)
{
    tl_mem_free(&w.store);
    w = f->before;
    w.store = store_copy(&f->before.store);
    arena_used = f->memory_used;
    memcpy(arena, f->memory, arena_used * sizeof arena[0]);
}

static void check_write(const tl_request *r, uint64_t before)
{
    const tl_mem_object *o;
    tl_header header;
    if (is_version(r->key) && (r->kind == TL_DELETE || r->condition != TL_IF_ABSENT))
        fail("a version is overwritten or deleted", 0);
    if (r->kind == TL_PUT && r->purpose != TL_PURPOSE_HINT && r->purpose != TL_PURPOSE_HEAD && before != 0
        && object_key(r->key) != before)
        fail("an object that must not change changed", 0);
    if (r->purpose != TL_PURPOSE_HEAD)
        return;
    o = tl_mem_get(&w.store, r->key);
    if (o == NULL || tl_head_peek(&header, o->data, o->size, NULL) != TL_OK) {
        fail("the head is gone, or none", 0);
        return;
    }
    if (header.version < w.head)
        fail("the head moves back", (long long)header.version);
    w.head = header.version;
}

/* Applies a request and answers it. */
static void serve(int i, const tl_request *r, int what)
{
    static const tl_outcome lost[] = {TL_OUTCOME_OK, TL_OUTCOME_UNKNOWN, TL_OUTCOME_UNKNOWN};
    actor *a = &w.actors[i];
    int writes = r->kind == TL_PUT || r->kind == TL_DELETE;
    uint64_t before = writes ? object_key(r->key) : 0;
    tl_completion c;
    if (what == REFUSE)
        c = tl_completed(r->token, writes ? TL_OUTCOME_UNKNOWN : TL_OUTCOME_FAILED);
    else
        tl_mem_serve(&w.store, r, &c);
    if (what == LOSE)
        c = tl_completed(r->token, lost[what]);
    if (writes) {
        w.store_key += object_key(r->key) - before;
        check_write(r, before);
    }
    if (r->token == 0)
        return;
    a->history += mixed(mixed(mixed(text_key(r->key), (uint64_t)r->kind << 32 | (uint64_t)r->condition),
                              (uint64_t)a->stage << 48 | (uint64_t)a->loads << 40 | r->round),
                        mixed(text_key(c.body), (uint64_t)c.outcome << 32 | (uint64_t)c.entry_count));
    if (tl_complete(a->op, &c, w.store.now) != TL_OK)
        fail("an answer that is not taken", i);
}

static int is_quiet(const tl_request *r)
{
    int named = r->purpose == TL_PURPOSE_DATA || r->purpose == TL_PURPOSE_MANIFEST
                || r->purpose == TL_PURPOSE_MANIFEST_LIST || r->purpose == TL_PURPOSE_CLEAN_UP;
    return r->kind == TL_SLEEP || r->token == 0 || (named && !set.loud);
}

/* ---- what must hold of it ---- */

static facts known[1 << 16];

static void read_facts(facts *f)
{
    const char *watched[ACTORS];
    uint8_t named[256];
    const tl_mem_object *o;
    unsigned i, v;
    memset(f, 0, sizeof *f);
    memset(named, 0, sizeof named);
    if (w.store.count > sizeof named)
        abort();
    for (i = 0; i < ACTORS; i++)
        watched[i] = w.actors[i].file.path;
    for (v = 1; v < VERSIONS; v++) {
        cversion *c = &f->versions[v];
        *c = census_version(&w.store, location, v, watched, ACTORS, named);
        if (c->there && f->newest + 1 != v)
            fail("versions that do not follow one another", v);
        if (c->there)
            f->newest = v;
        if (c->broken != 0)
            fail("an object that a version names is missing", v);
        for (i = 0; i < ACTORS; i++)
            if (c->live[i] > 1)
                fail("a file is in a version twice", v);
    }
    f->orphans = census_orphans(&w.store, named);
    o = tl_mem_get(&w.store, warehouse_key(location, "version-hint.text"));
    if (o != NULL && (tli_keys_hint((const char *)o->data, o->size) == 0
                      || tli_keys_hint((const char *)o->data, o->size) > f->newest))
        fail("the hint names a version that is not there", 0);
}

/* The head says what the version's own objects say. */
static void check_head(facts *f)
{
    const tl_mem_object *o = tl_mem_get(&w.store, warehouse_key(location, "timelake-head"));
    const tl_mem_object *v;
    char name[64];
    tl_head head;
    tl_files files;
    tl_span json;
    tl_error err;
    if (o == NULL)
        return;
    if (tl_head_decode(&head, (const char *)o->data, o->size, NULL, &err) != TL_OK) {
        fail("a head that cannot be decoded", 0);
        return;
    }
    f->head = head.version;
    snprintf(name, sizeof name, "v%u.metadata.json", (unsigned)head.version);
    v = tl_mem_get(&w.store, warehouse_key(location, name));
    if (v == NULL || tl_head_metadata(&head, &json, &err) != TL_OK || json.size != v->size
        || memcmp(json.data, v->data, v->size) != 0)
        fail("the head's metadata is not that of its version", (long long)head.version);
    else if (tl_head_files(&head, &files, &err) != TL_OK
             || files.count != f->versions[head.version % VERSIONS].files)
        fail("the head's files are not those of its version", (long long)head.version);
    tl_head_free(&head);
}

/* Read once for each content of the store. */
static const facts *facts_now(void)
{
    uint64_t key = w.store_key != 0 ? w.store_key : 1;
    size_t i = (size_t)(key >> 9) & (sizeof known / sizeof known[0] - 1), n = 0;
    while (known[i].key != 0 && known[i].key != key) {
        i = (i + 1) & (sizeof known / sizeof known[0] - 1);
        if (++n > 1000)
            memset(known, 0, sizeof known); /* it is only a cache */
    }
    if (known[i].key == key)
        return &known[i];
    read_facts(&known[i]);
    check_head(&known[i]);
    known[i].key = key;
    return &known[i];
}

static void check_writer(const facts *f, int i)
{
    const actor *a = &w.actors[i];
    const char *what = NULL;
    unsigned v, ever = 0, now = f->versions[f->newest].live[i];
    for (v = 1; v < VERSIONS; v++)
        ever += f->versions[v].live[i];
    if (!a->reported)
        return;
    if (a->report == TL_AMBIGUOUS && set.faults < 2)
        what = "one lost answer, and the commit cannot tell";
    if (a->report == TL_OK && !a->duplicate) {
        if (a->version > f->newest || (a->snapshot_id != 0 && f->versions[a->version].snapshot_id != a->snapshot_id))
            what = "a commit that is not in, though it said so";
        if (a->change.added_count != 0 && now != 1)
            what = "a file that was committed is not there";
    } else if (a->report != TL_AMBIGUOUS) {
        if (ever != 0)
            what = "a file is in, of a commit that is not";
        if (!set.loud && a->change.added_count != 0 && tl_mem_get(&w.store, tl_text(a->file.path)) != NULL)
            what = "a file of a commit that failed was left";
    }
    if (what != NULL)
        fail(what, i);
}

/* ---- actors ---- */

static void start_load(actor *a)
{
    tl_lake_options o = a->lake.options;
    a->stage = LOAD;
    a->loads++;
    a->first = facts_now()->newest;
    (void)tl_lake_init(&a->lake, &o);
    tl_load_begin(&a->load, &a->lake, location, NULL);
    a->op = &a->load.op;
}

static void check_load(actor *a)
{
    const facts *f = facts_now();
    tl_files files;
    tl_table *t = a->load.table;
    if (tl_op_status(a->op) == TL_ABSENT && a->first == 0)
        return;
    if (tl_op_status(a->op) != TL_OK) {
        if (set.faults == 0)
            fail(tl_op_error(a->op)->text, 0);
        return;
    }
    if (t->version < a->first || t->version > f->newest)
        fail("a load of a version that was not the newest at any moment", (long long)t->version);
    if (t->version < a->seen)
        fail("a load goes back", (long long)t->version);
    a->seen = t->version;
    if (tl_head_files(&t->head, &files, NULL) != TL_OK || files.count != f->versions[t->version].files)
        fail("a load of other files than the version has", (long long)t->version);
}

/* An operation came to its end: on to the next one. */
static void next_stage(actor *a)
{
    tl_table *mine = NULL;
    if (a->stage == LOAD) {
        check_load(a);
        if (tl_op_end(a->op) != TL_OK)
            fail("a load that does not end", 0);
        if (a->loads < set.loads)
            start_load(a);
        else
            a->stage = ENDED;
        return;
    }
    if (a->stage == COMMIT) {
        a->reported = 1;
        a->report = tl_op_status(a->op);
        a->version = a->commit.version;
        a->snapshot_id = a->commit.snapshot_id;
        a->duplicate = a->commit.duplicate;
        mine = a->report == TL_OK ? tl_table_keep(a->commit.table) : NULL;
    }
    if (tl_op_end(a->op) != TL_OK)
        fail("an operation that does not end", a->stage);
    a->stage = ENDED;
    if (mine != NULL) {
        tl_publish_begin(&a->publish, &a->lake, mine);
        tl_table_drop(mine);
        a->op = &a->publish.op;
        a->stage = PUBLISH;
    }
}

/* Steps an actor until it waits for its own requests. */
static void pump(int i)
{
    actor *a = &w.actors[i];
    tl_request r;
    while (a->stage != ENDED && !broken) {
        tl_turn turn = tl_step(a->op, w.store.now, &r);
        if (turn == TL_WANTS && is_quiet(&r))
            serve(i, &r, APPLY);
        else if (turn == TL_WANTS && a->out_count == OUT)
            abort();
        else if (turn == TL_WANTS)
            a->out[a->out_count++] = r;
        else if (turn != TL_WAITS)
            next_stage(a);
        else if (a->out_count != 0)
            return;
        else
            fail("it waits, with nothing out", i);
    }
}

static void set_change(actor *a, int i, int kind)
{
    static const char *const batch[] = {"batch a", "batch b", "batch c"};
    static const tl_new_column column = {{"v", 1}, {"long", 4}, 0};
    static tl_new_table made;
    static tl_property property;
    made.columns = &column;
    made.column_count = 1;
    property.key = tl_text("owner");
    property.value = tl_text("us");
    cfile_make(&a->file, location, kind != TL_CHANGE_CREATE && a->base->metadata.partitioned, (unsigned)i);
    a->added = a->file.file;
    a->change.kind = (tl_change_kind)kind;
    if (kind == TL_CHANGE_CREATE)
        a->change.table = &made;
    if (kind == TL_CHANGE_APPEND)
        a->change.batch_id = tl_text(batch[set.same_batch ? 0 : i]);
    if (kind == TL_CHANGE_APPEND || kind == TL_CHANGE_REPLACE) {
        a->change.added = &a->added;
        a->change.added_count = 1;
    }
    if (kind == TL_CHANGE_REPLACE || kind == TL_CHANGE_DELETE) {
        tl_files files;
        tl_file f;
        if (tl_head_files(&a->base->head, &files, NULL) != TL_OK || files.count == 0)
            abort();
        tl_files_get(&files, 0, &f);
        a->removed = f.path;
        a->change.removed = &a->removed;
        a->change.removed_count = 1;
    }
    if (kind == TL_CHANGE_PROPERTIES) {
        a->change.properties = &property;
        a->change.property_count = 1;
    }
}

static void start_actor(int i)
{
    actor *a = &w.actors[i];
    tl_lake_options o;
    memset(&o, 0, sizeof o);
    o.op.allocator.allocate = arena_take;
    o.op.allocator.deallocate = arena_give;
    o.seed[0] = (uint8_t)(1 + i);
    (void)tl_lake_init(&a->lake, &o);
    a->stage = set.role[i] == NOBODY ? ENDED : COMMIT;
    if (a->stage == ENDED)
        return;
    if (set.role[i] == READER) {
        start_load(a);
        return;
    }
    a->base = bases[i];
    if (a->base != NULL) /* it was loaded before */
        tl_table_drop(tli_lake_store(&a->lake, tl_table_keep(a->base), w.store.now));
    set_change(a, i, set.role[i]);
    if (a->base == NULL)
        tl_commit_create(&a->commit, &a->lake, location, &a->change);
    else
        tl_commit_begin(&a->commit, &a->lake, a->base, &a->change);
    a->op = &a->commit.op;
}

/* The beginning of every schedule. */
static void begin(void)
{
    size_t i;
    tl_mem_free(&w.store);
    memset(&w, 0, sizeof w);
    arena_used = 0;
    w.store = store_copy(&origin);
    w.head = start;
    w.stops = set.stops;
    w.faults = set.faults;
    for (i = 0; i < ACTORS; i++)
        start_actor((int)i);
    for (i = 0; i < ACTORS; i++)
        pump((int)i);
}

/* ---- what may happen next ---- */

static void add_event(frame *f, size_t actor_at, int what, size_t request)
{
    event *e = &f->choices[f->count++];
    if (f->count == CHOICES)
        abort();
    e->actor = (uint8_t)actor_at;
    e->what = (uint8_t)what;
    e->request = (uint8_t)request;
}

static void list_events(frame *f)
{
    size_t i, k;
    f->count = f->next = 0;
    for (i = 0; i < ACTORS; i++) {
        const actor *a = &w.actors[i];
        if (a->stage == ENDED || a->stopped)
            continue;
        for (k = 0; k < a->out_count; k++) {
            add_event(f, i, APPLY, k);
            if (w.faults > 0 && a->out[k].kind == TL_PUT)
                add_event(f, i, LOSE, k);
            if (w.faults > 0)
                add_event(f, i, REFUSE, k);
        }
        if (w.stops > 0)
            add_event(f, i, STOP, 0);
    }
}

static void happen(event e)
{
    actor *a = &w.actors[e.actor];
    tl_request r;
    if (e.what == STOP) {
        a->stopped = 1;
        w.stops--;
        return;
    }
    w.faults = (uint8_t)(w.faults - (e.what != APPLY));
    r = a->out[e.request];
    memmove(&a->out[e.request], &a->out[e.request + 1], (--a->out_count - e.request) * sizeof r);
    serve(e.actor, &r, e.what);
    pump(e.actor);
}

/* Nobody has anything to do any more. */
static void check_end(const facts *f)
{
    int i, lost = 0, stopped = 0, writers = 0;
    tl_lake lakes[2];
    tl_table *t[2];
    for (i = 0; i < ACTORS; i++) {
        const actor *a = &w.actors[i];
        stopped += a->stopped;
        writers += is_writer(i);
        if (!is_writer(i) || a->stopped || set.faults != 0)
            continue;
        if (a->report != TL_OK && a->report != set.lost)
            fail("a commit failed, with nothing in its way", (long long)a->report);
        lost += a->report != TL_OK || a->duplicate;
    }
    if (stopped == 0 && set.faults == 0 && (lost != set.loses || f->newest != start + (uint64_t)(writers - lost)))
        fail("other writers lost than must", lost);
    if (stopped == 0 && set.faults == 0 && (f->orphans != 0 || f->head != f->newest))
        fail("objects are left that nobody names, or the head is old", f->orphans);
    for (i = 0; i < 2; i++) {
        tl_lake_options o = w.actors[0].lake.options;
        (void)tl_lake_init(&lakes[i], &o);
        t[i] = f->newest == 0 ? NULL : cworld_load(&w.store, &lakes[i], location, i);
        if (f->newest != 0 && (t[i] == NULL || t[i]->version != f->newest))
            fail("a load afterwards does not find the newest version", (long long)f->newest);
    }
    if (t[0] != NULL && t[1] != NULL && !same_version(t[0], t[1]))
        fail("head and chain say other things", (long long)f->newest);
}

/* ---- states seen ---- */

static uint64_t state(void)
{
    uint64_t h = mixed(mixed(3, w.store_key), (uint64_t)w.faults << 8 | w.stops);
    size_t i;
    for (i = 0; i < ACTORS; i++)
        h = mixed(mixed(h, w.actors[i].history), (uint64_t)w.actors[i].stopped << 8 | w.actors[i].stage);
    return h != 0 ? h : 1;
}

/* ---- the walk ---- */

static void print_schedule(size_t depth)
{
    static const char *const whats[] = {"", " (answer lost)", " (refused)"};
    size_t d;
    if (getenv("TL_SIM_TRACE") == NULL)
        return;
    broken = 0;
    begin();
    for (d = 0; d <= depth; d++) {
        event e = frames[d].choices[frames[d].next - 1];
        const actor *a = &w.actors[e.actor];
        if (e.what == STOP)
            fprintf(stderr, "  %c stops\n", 'a' + e.actor);
        else
            fprintf(stderr, "  %c %-12s %s %.*s%s\n", 'a' + e.actor, tl_op_state(a->op),
                    tl_request_text(a->out[e.request].kind), (int)(a->out[e.request].key.size - location.size),
                    a->out[e.request].key.data + location.size, whats[e.what]);
        happen(e);
    }
    broken = 1;
}

/* 1: a state not seen before, checked, its events listed. */
static int enter(size_t depth, double *seen)
{
    frame *f = &frames[depth];
    const facts *now;
    entry *e;
    int i;
    make_room();
    f->key = state();
    e = look_up(f->key);
    if (e->key != 0) {
        *seen = e->schedules;
        return 0;
    }
    states_used++;
    e->key = f->key;
    now = facts_now();
    for (i = 0; i < ACTORS; i++)
        if (is_writer(i))
            check_writer(now, i);
    list_events(f);
    keep(f);
    f->schedules = f->count == 0;
    if (f->count == 0)
        check_end(now);
    return 1;
}

static double walk(uint64_t *steps)
{
    size_t depth = 0, at = 0;
    double seen = 0;
    begin();
    if (!enter(0, &seen))
        return 0;
    while (!broken) {
        frame *f = &frames[depth];
        if (f->next == f->count) {
            look_up(f->key)->schedules = f->schedules;
            tl_mem_free(&f->before.store);
            if (depth == 0)
                break;
            frames[depth - 1].schedules += f->schedules;
            depth--;
            continue;
        }
        if (at != depth)
            bring_back(f);
        happen(f->choices[f->next++]);
        (*steps)++;
        at = depth + 1;
        if (at == DEPTH)
            abort();
        if (enter(at, &seen))
            depth = at;
        else
            f->schedules += seen;
        if (broken)
            print_schedule(depth);
    }
    return frames[0].schedules;
}

/* The version that a writer begins with. It does not change: it is none of what moves. */
static tl_table *prepare_base(tl_mem *store)
{
    tl_lake lake;
    tl_table *base;
    CHECK_INT(tl_lake_init(&lake, NULL), TL_OK);
    base = cworld_load(store, &lake, location, !set.from_head);
    CHECK(base != NULL);
    tl_lake_free(&lake);
    base->count = SIZE_MAX / 2; /* counts are not brought back with what moves */
    return base;
}

/* The table that every schedule begins with: Timelake's own first version, a file appended, published. */
static void prepare(void)
{
    cworld c;
    tl_table *base;
    tl_commit commit;
    tl_publish publish;
    tl_change change;
    cfile f;
    int i;
    cworld_begin(&c, set.role[0] == TL_CHANGE_CREATE ? NULL : "iot.created", NULL);
    snprintf(place, sizeof place, "%s", c.place);
    location = tl_text(place);
    start = 0;
    if (set.role[0] != TL_CHANGE_CREATE) {
        base = cworld_load(&c.store, &c.lake, location, 0);
        change = cappend(&f, location, 1, 9);
        tl_commit_begin(&commit, &c.lake, base, &change);
        CHECK_INT(tl_mem_run(&c.store, &commit.op), TL_OK);
        tl_publish_begin(&publish, &c.lake, commit.table);
        CHECK_INT(tl_mem_run(&c.store, &publish.op), TL_OK);
        start = commit.version;
        CHECK_INT(tl_op_end(&commit.op), TL_OK);
        CHECK_INT(tl_op_end(&publish.op), TL_OK);
        tl_table_drop(base);
    }
    for (i = 0; i < ACTORS; i++)
        bases[i] = start == 0 || !is_writer(i) ? NULL : prepare_base(&c.store);
    for (i = 0; i < ACTORS; i++) { /* they lie outside of what goes back, as do their counts: these never reach 0 */
        if (bases[i] != NULL)
            bases[i]->count = bases[i]->head.document.store->count = SIZE_MAX / 2;
    }
    origin = c.store;
    origin.log_off = 1;
    memset(&c.store, 0, sizeof c.store);
    cworld_end(&c);
}

static void run(const setting *s)
{
    uint64_t steps = 0;
    double schedules;
    int i;
    set = *s;
    broken = 0;
    prepare();
    memset(known, 0, sizeof known);
    schedules = walk(&steps);
    CHECK(!broken);
    printf("%s: %lu states, %lu steps, %.6g schedules\n", set.name, (unsigned long)states_used, (unsigned long)steps,
           schedules);
    fflush(stdout);
    forget_states();
    tl_mem_free(&w.store);
    memset(&w, 0, sizeof w);
    tl_mem_free(&origin);
    for (i = 0; i < ACTORS; i++) {
        if (bases[i] != NULL)
            bases[i]->count = bases[i]->head.document.store->count = 1;
        tl_table_drop(bases[i]);
    }
}

static void every_interleaving(void)
{
    enum { APPEND = TL_CHANGE_APPEND, REPLACE, DELETE, INDEX, SET, CREATE };
    static const setting settings[] = {
        /* loads, stops, faults, same batch, from the head, loud, losers, why */
        {"one batch by two writers, a reader", {APPEND, APPEND, READER}, 1, 1, 0, 1, 0, 0, 1, TL_OK},
        {"an append, a compaction, a reader", {APPEND, REPLACE, READER}, 1, 0, 0, 0, 0, 0, 0, TL_OK},
        {"two compactions of one file, a reader", {REPLACE, REPLACE, READER}, 1, 1, 0, 0, 0, 0, 1, TL_CONFLICT},
        {"a deletion, properties, a reader", {DELETE, SET, READER}, 1, 0, 0, 0, 0, 0, 0, TL_OK},
        {"two creations, a reader", {CREATE, CREATE, READER}, 1, 1, 0, 0, 0, 0, 1, TL_EXISTS},
        {"two appends, a lost answer", {APPEND, APPEND, NOBODY}, 0, 1, 1, 0, 0, 0, 0, TL_OK},
        {"a compaction, a deletion, a lost answer", {REPLACE, DELETE, NOBODY}, 0, 1, 1, 0, 0, 0, 0, TL_OK},
        {"two appends from the head, loud", {APPEND, APPEND, NOBODY}, 0, 1, 0, 0, 1, 1, 0, TL_OK},
        {"two appends, a reader", {APPEND, APPEND, READER}, 1, 1, 0, 0, 0, 0, 0, TL_OK},
        {"two appends, a reader that loads twice", {APPEND, APPEND, READER}, 2, 0, 0, 0, 0, 0, 0, TL_OK},
    };
    static const setting larger[] = {
        {"two appends, a reader that loads twice, three stop", {APPEND, APPEND, READER}, 2, 3, 0, 0, 0, 0, 0, TL_OK},
        {"two appends, a reader, loud", {APPEND, APPEND, READER}, 1, 1, 0, 0, 1, 1, 0, TL_OK},
        {"three appends", {APPEND, APPEND, APPEND}, 0, 0, 0, 0, 0, 0, 0, TL_OK},
        {"two appends, a reader, two lost answers", {APPEND, APPEND, READER}, 1, 1, 2, 0, 0, 0, 0, TL_OK},
    };
    size_t i;
    /* The last one not on emulators. */
    for (i = 0; i < sizeof settings / sizeof settings[0] - (getenv("RUN") != NULL); i++)
        run(&settings[i]);
    for (i = 0; i < sizeof larger / sizeof larger[0] && getenv("TL_SIM") != NULL; i++)
        if (i < (size_t)atoi(getenv("TL_SIM")))
            run(&larger[i]);
    for (i = 0; i < DEPTH; i++)
        free(frames[i].memory);
}

static const tl_test_case cases[] = {TL_TEST(every_interleaving)};
TL_TEST_MAIN(cases)
