/* Commits of three processes on one table, and what they publish behind them: bytes choose who begins what, whose
   request is served next, what the store answers, who gives up, whose memory runs out. Asserted: operations end and
   leak nothing; what a process was told is true: files of a commit that is done are in, once, those of one that failed
   for certain never are and are gone from the store; versions follow one another and all they name is there; the head
   never moves back; at the end a load by the head and one by the manifests agree. The table is iot.created of
   tests/data (run from the top). */
#include "../tests/tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "../tests/tl_warehouse.h"
#include "../tests/tl_commit.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ACTORS = 3, CALLS = 16, FILES = 64, OUT = 64, ADDED = 3 };
enum { IN_NONE, IN_DONE, IN_MAYBE, IN_NEVER }; /* what was said of a file */

typedef struct actor {
    tl_lake lake;
    tl_test_memory memory;
    tl_table *base;
    tl_commit commit;
    tl_publish publish;
    tl_op *op; /* NULL: idle */
    tl_change change;
    tl_data_file added[ADDED];
    unsigned numbers[ADDED];
    tl_span removed;
    tl_property property;
    crows newest;
    char batch[8];
    tl_request out[OUT];
    uint32_t out_count;
    int publishing;
} actor;

typedef struct world {
    const uint8_t *at, *end;
    tl_mem store;
    tl_span location;
    char place[256];
    actor actors[ACTORS];
    cfile files[FILES];
    unsigned file_count, calls;
    int said[FILES];
    uint64_t head;
} world;

static uint32_t next_byte(world *w)
{
    return w->at < w->end ? *w->at++ : 0;
}

static void reload(world *w, actor *a)
{
    tl_table_drop(a->base);
    a->base = cworld_load(&w->store, &a->lake, w->location, 0);
    TIMELAKE_ASSERT(a->base != NULL);
}

static tl_span some_file(world *w, actor *a)
{
    tl_files files;
    tl_file f;
    tl_span none = {NULL, 0};
    if (tl_head_files(&a->base->head, &files, NULL) != TL_OK || files.count == 0)
        return none;
    tl_files_get(&files, next_byte(w) % files.count, &f);
    return f.path;
}

static void add_files(world *w, actor *a, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count && w->file_count < FILES; i++) {
        cfile_make(&w->files[w->file_count], w->location, 1, w->file_count);
        a->numbers[i] = w->file_count;
        a->added[i] = w->files[w->file_count++].file;
        a->change.added_count = i + 1;
    }
    a->change.added = a->added;
}

/* Begins a commit of some kind, with one file or none to be removed. */
static void begin(world *w, actor *a, uint32_t choice)
{
    memset(&a->change, 0, sizeof a->change);
    w->calls++;
    a->publishing = 0;
    a->change.kind = TL_CHANGE_APPEND;
    a->removed = some_file(w, a);
    if (choice % 8 == 4 && a->removed.data != NULL)
        a->change.kind = TL_CHANGE_REPLACE;
    if (choice % 8 == 5 && a->removed.data != NULL)
        a->change.kind = TL_CHANGE_DELETE;
    if (choice % 8 == 6)
        a->change.kind = TL_CHANGE_PROPERTIES;
    if (a->change.kind == TL_CHANGE_APPEND || a->change.kind == TL_CHANGE_REPLACE)
        add_files(w, a, 1 + choice / 8 % ADDED);
    if (a->change.kind == TL_CHANGE_REPLACE || a->change.kind == TL_CHANGE_DELETE) {
        a->change.removed = &a->removed;
        a->change.removed_count = 1;
    }
    if (a->change.kind == TL_CHANGE_APPEND && choice >= 128) {
        snprintf(a->batch, sizeof a->batch, "b%u", (unsigned)choice % 3);
        a->change.batch_id = tl_text(a->batch);
    }
    crows_drop(&a->newest);
    if (a->change.kind == TL_CHANGE_APPEND && choice % 4 != 0) { /* else the last-value index ends */
        crows_make(&a->newest, &a->base->metadata, w->file_count, 1 + choice % 7);
        a->change.newest = &a->newest.rows;
    }
    if (a->change.kind == TL_CHANGE_PROPERTIES) {
        a->property.key = tl_text("owner");
        a->property.value = tl_text("us");
        a->change.properties = &a->property;
        a->change.property_count = 1;
    }
    if (choice % 8 == 7) {
        a->memory.calls = 0;
        a->memory.fail_at = 1 + (long)next_byte(w);
    }
    tl_commit_begin(&a->commit, &a->lake, a->base, &a->change);
    a->op = &a->commit.op;
}

static void publish(actor *a, tl_table *table)
{
    tl_publish_begin(&a->publish, &a->lake, table);
    a->op = &a->publish.op;
    a->publishing = 1;
}

/* A commit came to its end: what it says is kept, to be held against the store at the end of all. */
static void finish(world *w, actor *a)
{
    tl_status st = tl_op_status(a->op);
    tl_table *table = NULL;
    size_t i;
    int said = st == TL_OK && !a->commit.duplicate ? IN_DONE : st == TL_AMBIGUOUS ? IN_MAYBE : IN_NEVER;
    if (a->publishing) {
        TIMELAKE_ASSERT(tl_op_end(a->op) == TL_OK);
        a->op = NULL;
        return;
    }
    a->memory.fail_at = 0;
    for (i = 0; i < a->change.added_count; i++)
        w->said[a->numbers[i]] = said;
    TIMELAKE_ASSERT(st != TL_OK || a->commit.duplicate || a->commit.version > a->base->version);
    TIMELAKE_ASSERT(st != TL_MISUSE || a->change.added_count == 0);
    if (st == TL_OK)
        table = tl_table_keep(a->commit.table);
    TIMELAKE_ASSERT(tl_op_end(a->op) == TL_OK);
    a->op = NULL;
    if (table == NULL) {
        reload(w, a);
        return;
    }
    tl_table_drop(a->base);
    a->base = table;
    publish(a, table);
}

static void check_head(world *w)
{
    const tl_mem_object *o = tl_mem_get(&w->store, warehouse_key(w->location, "timelake-head"));
    tl_header header;
    TIMELAKE_ASSERT(o != NULL && tl_head_peek(&header, o->data, o->size, NULL) == TL_OK);
    TIMELAKE_ASSERT(header.version >= w->head);
    w->head = header.version;
}

static void serve(world *w, actor *a, const tl_request *r, uint32_t choice)
{
    static const tl_outcome outcomes[] = {TL_OUTCOME_FAILED, TL_OUTCOME_UNKNOWN, TL_OUTCOME_NEVER_SENT,
                                          TL_OUTCOME_UNSUPPORTED, TL_OUTCOME_CANCELLED};
    tl_completion c;
    int writes = r->kind == TL_PUT;
    int lost = (choice & 15) == 1 && writes; /* the answer, not the request */
    if (r->token != 0 && ((choice & 15) == 2 || (choice & 15) == 3)) {
        c = tl_completed(r->token, outcomes[(choice >> 4) % 5]);
        c.retry_ms = (int64_t)(choice & 64) - 1;
    } else {
        tl_mem_serve(&w->store, r, &c);
        if (lost)
            c = tl_completed(r->token, TL_OUTCOME_UNKNOWN);
    }
    check_head(w);
    if (r->token != 0)
        TIMELAKE_ASSERT(tl_complete(a->op, &c, w->store.now) != TL_MISUSE);
}

/* Steps an actor as far as it comes; then one of its requests is answered, or time passes. */
static void move(world *w, actor *a)
{
    tl_request r;
    tl_turn turn;
    uint32_t choice = next_byte(w), i;
    if (choice == 255)
        tl_cancel(a->op, w->store.now);
    while ((turn = tl_step(a->op, w->store.now, &r)) == TL_WANTS) {
        if (r.token == 0) {
            serve(w, a, &r, 0);
        } else if (r.kind != TL_SLEEP) {
            TIMELAKE_ASSERT(a->out_count < OUT);
            a->out[a->out_count++] = r;
        }
    }
    if (turn != TL_WAITS) {
        TIMELAKE_ASSERT(a->out_count == 0);
        finish(w, a);
    } else if (a->out_count == 0) {
        int64_t deadline = tl_deadline(a->op);
        TIMELAKE_ASSERT(deadline != INT64_MAX);
        w->store.now = deadline > w->store.now ? deadline : w->store.now;
    } else {
        i = choice % a->out_count;
        r = a->out[i];
        memmove(&a->out[i], &a->out[i + 1], (--a->out_count - i) * sizeof r);
        serve(w, a, &r, next_byte(w));
    }
}

/* Each version by its own objects: which of our files are in it. */
static void check_files(world *w, uint64_t newest)
{
    unsigned ever[FILES];
    uint64_t v;
    unsigned i;
    memset(ever, 0, sizeof ever);
    for (v = 1; v <= newest; v++) {
        const char *watched[1] = {""};
        uint8_t named[1024];
        tl_load load;
        tl_load_options o;
        tl_files files;
        tl_file f;
        size_t k;
        cversion c;
        TIMELAKE_ASSERT(w->store.count <= sizeof named);
        c = census_version(&w->store, w->location, v, watched, 1, named);
        TIMELAKE_ASSERT(c.there && c.broken == 0);
        memset(&o, 0, sizeof o);
        o.version = v;
        tl_load_begin(&load, &w->actors[0].lake, w->location, &o);
        TIMELAKE_ASSERT(tl_mem_run(&w->store, &load.op) == TL_OK);
        TIMELAKE_ASSERT(tl_head_files(&load.table->head, &files, NULL) == TL_OK);
        for (i = 0; i < w->file_count; i++) {
            unsigned here = 0;
            for (k = 0; k < files.count; k++) {
                tl_files_get(&files, k, &f);
                here += (unsigned)tl_span_equal(f.path, tl_text(w->files[i].path));
            }
            TIMELAKE_ASSERT(here <= 1);
            ever[i] += here;
        }
        (void)tl_op_end(&load.op);
    }
    for (i = 0; i < w->file_count; i++) {
        TIMELAKE_ASSERT(w->said[i] != IN_DONE || ever[i] != 0);
        TIMELAKE_ASSERT(w->said[i] != IN_NEVER
                        || (ever[i] == 0 && tl_mem_get(&w->store, tl_text(w->files[i].path)) == NULL));
    }
}

static void check_end(world *w)
{
    actor *a = &w->actors[0], *b = &w->actors[1];
    tl_lake_forget(&a->lake, w->location);
    tl_lake_forget(&b->lake, w->location);
    reload(w, a);
    tl_table_drop(b->base);
    b->base = cworld_load(&w->store, &b->lake, w->location, 1);
    TIMELAKE_ASSERT(b->base != NULL && same_version(a->base, b->base));
    check_files(w, a->base->version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world w; /* too large for a stack */
    tl_change creation;
    tl_new_table table;
    tl_new_column column;
    tl_commit again;
    int i, busy = 1, steps;
    memset(&w, 0, sizeof w);
    w.at = data;
    w.end = data + size;
    tl_mem_init(&w.store, NULL);
    w.store.log_off = 1;
    w.store.now = INT64_C(1800000000000);
    snprintf(w.place, sizeof w.place, "%.*s", 200, warehouse_put(&w.store, "iot.created").data);
    w.location = tl_text(w.place);
    for (i = 0; i < ACTORS; i++) {
        cworld_lake(&w.actors[i].lake, &w.actors[i].memory, (uint8_t)(i + 1));
        reload(&w, &w.actors[i]);
    }
    for (steps = 0; busy && steps < 20000; steps++) {
        actor *a = &w.actors[next_byte(&w) % ACTORS];
        w.store.now++;
        busy = w.at < w.end && w.calls < CALLS;
        for (i = 0; i < ACTORS; i++)
            busy |= w.actors[i].op != NULL;
        for (i = 0; busy && a->op == NULL && (w.at == w.end || w.calls == CALLS) && i < ACTORS; i++)
            a = &w.actors[i]; /* one that is at work */
        if (!busy)
            break;
        if (a->op == NULL)
            begin(&w, a, next_byte(&w));
        else
            move(&w, a);
    }
    TIMELAKE_ASSERT(steps < 20000);
    memset(&creation, 0, sizeof creation); /* the table is there: it is not made anew */
    memset(&table, 0, sizeof table);
    memset(&column, 0, sizeof column);
    column.name = tl_text("v");
    column.type = tl_text("long");
    table.columns = &column;
    table.column_count = 1;
    creation.kind = TL_CHANGE_CREATE;
    creation.table = &table;
    tl_commit_create(&again, &w.actors[0].lake, w.location, &creation);
    TIMELAKE_ASSERT(tl_mem_run(&w.store, &again.op) == TL_EXISTS);
    TIMELAKE_ASSERT(tl_op_end(&again.op) == TL_OK);
    check_end(&w);
    for (i = 0; i < ACTORS; i++) {
        tl_table_drop(w.actors[i].base);
        crows_drop(&w.actors[i].newest);
        tl_lake_free(&w.actors[i].lake);
        TIMELAKE_ASSERT(w.actors[i].memory.live == 0);
    }
    tl_mem_free(&w.store);
    TIMELAKE_ASSERT(tl_test_failures == 0);
    return 0;
}
