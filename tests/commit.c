/* Commits: what they write is what a cold load reads, from the chain and from the head; outcomes are told truly. */
#include "tl_test.h"
#include <time.h>

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_faults.h"
#include "tl_warehouse.h"
#include "tl_commit.h"

static void append(cworld *w, tl_table **base, unsigned from, unsigned count)
{
    static cfile files[8];
    tl_data_file added[8];
    tl_change change;
    crows newest;
    unsigned i;
    memset(&change, 0, sizeof change);
    crows_make(&newest, &(*base)->metadata, (int64_t)from * 10, 10 * count);
    change.newest = &newest.rows;
    for (i = 0; i < count; i++) {
        cfile_make(&files[i], w->location, (*base)->metadata.partitioned, from + i);
        added[i] = files[i].file;
    }
    change.kind = TL_CHANGE_APPEND;
    change.added = added;
    change.added_count = count;
    CHECK_INT(commit_on(w, base, &change), TL_OK);
    crows_drop(&newest);
}

static tl_span path_of(tl_table *t, size_t i)
{
    tl_files files;
    tl_file f;
    memset(&f, 0, sizeof f);
    if (tl_head_files(&t->head, &files, NULL) == TL_OK)
        tl_files_get(&files, i, &f);
    return f.path;
}

/* Every kind of change on a real table, from its head and from its chain. */
static void changes_of(const char *table, int no_head)
{
    cworld w;
    tl_table *base;
    tl_change change;
    tl_property properties[2];
    tl_data_file added;
    tl_span removed[3];
    cfile f;
    unsigned i;
    uint64_t first;
    cworld_begin(&w, table, NULL);
    base = cworld_load(&w.store, &w.lake, w.location, no_head);
    CHECK(base != NULL);
    if (base == NULL)
        return;
    first = base->version;
    for (i = 0; i < 10; i++) {
        append(&w, &base, i * 3, 1 + i % 3);
        CHECK(base->manifests != NULL && base->manifests->count <= 9);
        if (i == 0 || i > 5) {
            publish_head(&w, base, 1);
            check_cold(&w, base);
        }
    }
    memset(&change, 0, sizeof change);
    cfile_make(&f, w.location, base->metadata.partitioned, 100);
    added = f.file;
    removed[0] = path_of(base, 0);
    removed[1] = path_of(base, 4);
    change.kind = TL_CHANGE_REPLACE;
    change.added = &added;
    change.added_count = 1;
    change.removed = removed;
    change.removed_count = 2;
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    publish_head(&w, base, 1);
    check_cold(&w, base);
    memset(&change, 0, sizeof change);
    removed[0] = path_of(base, 2);
    change.kind = TL_CHANGE_DELETE;
    change.removed = removed;
    change.removed_count = 1;
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    memset(&change, 0, sizeof change);
    properties[0].key = tl_text("owner");
    properties[0].value = tl_text("\"quoted\" \xc3\xa4");
    properties[1].key = tl_text("write.format.default");
    properties[1].value.data = NULL;
    properties[1].value.size = 0;
    change.kind = TL_CHANGE_PROPERTIES;
    change.properties = properties;
    change.property_count = 2;
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    CHECK(same_text(tl_metadata_property(&base->metadata, tl_text("owner")), properties[0].value));
    CHECK(tl_metadata_property(&base->metadata, tl_text("write.format.default")).data == NULL);
    publish_head(&w, base, 1);
    check_cold(&w, base);
    CHECK_INT(base->version, first + 13);
    tl_table_drop(base);
    cworld_end(&w);
}

static void every_kind_of_change(void)
{
    static const char *const tables[] = {"iot.trucks", "iot.hourly", "iot.monthly", "iot.created", "iot.many",
                                         "dim.devices", "iot.compacted", "iot.types"};
    size_t i;
    for (i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        changes_of(tables[i], 0);
        changes_of(tables[i], 1);
    }
}

/* A commit is two dependent round trips when the base's list is at hand, three from a head. */
static void round_trips(void)
{
    cworld w;
    tl_table *base;
    tl_change change;
    tl_commit c;
    cfile f;
    unsigned i;
    cworld_begin(&w, "iot.trucks", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    for (i = 0; i < 2; i++) {
        change = cappend(&f, w.location, 1, i);
        tl_commit_begin(&c, &w.lake, base, &change);
        CHECK_INT(tl_mem_run(&w.store, &c.op), TL_OK);
        CHECK_INT(tl_op_round_trips(&c.op), i == 0 ? 3 : 2);
        CHECK_INT(c.attempts, 1);
        tl_table_drop(base);
        base = tl_table_keep(c.table);
        CHECK_INT(tl_op_end(&c.op), TL_OK);
    }
    tl_table_drop(base);
    cworld_end(&w);
}

/* ---- cases 01 and 02 ---- */

typedef struct scene {
    const char *id;
    tl_mem_effect put_effect; /* of PUT v8, the first or every one */
    tl_outcome put_outcome;
    int every_put;
    int get_fails;          /* every GET and STAT of v8 is answered by this outcome; 0: none */
    int other_v8, other_v9; /* what others put, when v8 is put */
    int caches_fail;
    tl_status status;
    uint64_t version;
    int may_delete;
} scene;

typedef struct scene_world {
    cworld w;
    const scene *what;
    char *other, *next;
    size_t other_size, next_size;
} scene_world;

static tl_mem_fault scene_fault(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    scene_world *s = (scene_world *)context;
    tl_mem_fault f = no_fault();
    (void)n;
    if (s->what == NULL)
        return f;
    if (s->what->caches_fail && r->kind == TL_PUT && (key_ends(r->key, "hint.text") || key_ends(r->key, "-head"))) {
        f.effect = TL_MEM_ANSWER;
        f.outcome = TL_OUTCOME_UNKNOWN;
    }
    if (!key_ends(r->key, "/v8.metadata.json"))
        return f;
    if (r->kind == TL_PUT && nth == 1 && s->what->other_v8)
        tl_mem_put(&s->w.store, r->key, s->other, s->other_size);
    if (r->kind == TL_PUT && nth == 1 && s->what->other_v9)
        tl_mem_put(&s->w.store, warehouse_key(s->w.location, "v9.metadata.json"), s->other, s->other_size);
    if (r->kind == TL_PUT && (nth == 1 || s->what->every_put)) {
        f.effect = s->what->put_effect;
        f.outcome = s->what->put_outcome;
    }
    if ((r->kind == TL_GET || r->kind == TL_STAT) && s->what->get_fails != 0) {
        f.effect = TL_MEM_ANSWER;
        f.outcome = (tl_outcome)s->what->get_fails;
    }
    return f;
}

/* The manifest lists that the scenarios leave out: empty ones. */
static void put_empty_lists(cworld *w)
{
    static const uint8_t sync[16] = {1};
    int i;
    for (i = 0; i < 2; i++) {
        tl_buffer out;
        memset(&out, 0, sizeof out);
        CHECK_INT(tli_manifest_list(&out, NULL, 0, i == 0 ? 6001 : 7777, i == 0 ? -1 : 6001, 6 + i, sync, NULL), TL_OK);
        tl_mem_put(&w->store, warehouse_key(w->location, i == 0 ? "snap-6001.avro" : "snap-7777.avro"), out.data,
                   out.size);
        tl_buffer_free(&out);
    }
}

static unsigned log_count(const tl_mem *store, tl_request_kind kind, const char *end)
{
    size_t i;
    unsigned n = 0;
    for (i = 0; i < store->log_count; i++) {
        tl_span key;
        key.data = store->log[i].key;
        key.size = store->log[i].key_size;
        n += store->log[i].kind == kind && key_ends(key, end);
    }
    return n;
}

static void play(const scene *said)
{
    scene_world s;
    tl_mem_options mo;
    tl_table *base;
    tl_change change;
    tl_commit c;
    tl_publish p;
    tl_status st;
    cfile f;
    census n;
    char *text;
    size_t size;
    memset(&s, 0, sizeof s);
    memset(&mo, 0, sizeof mo);
    mo.fault = scene_fault;
    mo.context = &s;
    cworld_begin(&s.w, NULL, &mo);
    s.w.store.now = INT64_C(1790000010000);
    text = tl_test_read("tests/data/cases/01-lost-answer-create/v7.metadata.json", &size);
    s.other = tl_test_read("tests/data/cases/01-lost-answer-create/other-v8.metadata.json", &s.other_size);
    tl_mem_put(&s.w.store, warehouse_key(s.w.location, "v7.metadata.json"), text, size);
    tl_mem_put(&s.w.store, warehouse_key(s.w.location, "version-hint.text"), "7", 1);
    put_empty_lists(&s.w);
    base = cworld_load(&s.w.store, &s.w.lake, s.w.location, 0);
    tl_mem_forget(&s.w.store);
    s.what = said;
    change = cappend(&f, s.w.location, 1, 0);
    tl_commit_begin(&c, &s.w.lake, base, &change);
    st = tl_mem_run(&s.w.store, &c.op);
    if (!CHECK_INT(st, said->status))
        fprintf(stderr, "  scene %s: %s\n", said->id, tl_op_error(&c.op)->text);
    n = take_census(&s.w.store, s.w.location, f.path);
    CHECK_INT(n.broken + n.doubled + n.gaps, 0);
    if (st == TL_OK) {
        CHECK_INT(c.version, said->version);
        CHECK_INT(c.table->metadata.current_snapshot_id, c.snapshot_id);
        if (!said->other_v9) {
            CHECK_INT(n.newest, said->version);
            CHECK_INT(n.present, 1);
        }
        tl_publish_begin(&p, &s.w.lake, c.table);
        CHECK_INT(tl_mem_run(&s.w.store, &p.op), TL_OK);
        CHECK_INT(tl_op_end(&p.op), TL_OK);
    }
    if (st == TL_AMBIGUOUS)
        CHECK(key_ends(tl_op_error_key(&c.op), "/lake/t/metadata/v8.metadata.json"));
    if (said->other_v8 && st == TL_OK)
        CHECK_INT(c.table->metadata.last_sequence_number, 8);
    CHECK(said->may_delete || log_count(&s.w.store, TL_DELETE, "") == 0);
    CHECK(log_count(&s.w.store, TL_DELETE, "new-0.parquet") == (st == TL_STORE));
    CHECK_INT(log_count(&s.w.store, TL_DELETE, "v7.metadata.json"), 0);
    CHECK(said->version > 8 || log_count(&s.w.store, TL_PUT, "v9.metadata.json") == 0);
    CHECK_INT(log_count(&s.w.store, TL_PUT, "v10.metadata.json"), 0);
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    free(text);
    free(s.other);
    tl_table_drop(base);
    cworld_end(&s.w);
}

static void cases_01_and_02(void)
{
    static const scene scenes[] = {
        {"01a", TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_UNKNOWN, 0, 0, 0, 0, 0, TL_OK, 8, 0},
        {"01a resent below", TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_PRECONDITION, 0, 0, 0, 0, 0, TL_OK, 8, 0},
        {"01b", TL_MEM_ANSWER, TL_OUTCOME_UNKNOWN, 0, 0, 1, 0, 0, TL_OK, 9, 1},
        {"01c", TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_UNKNOWN, 0, 0, 0, 1, 0, TL_OK, 8, 0},
        {"01d", TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_UNKNOWN, 0, 0, 0, 0, 0, TL_OK, 8, 0},
        {"02a", TL_MEM_APPLY_AND_ANSWER, TL_OUTCOME_UNKNOWN, 1, TL_OUTCOME_FAILED, 0, 0, 0, TL_AMBIGUOUS, 0, 0},
        {"02b", TL_MEM_ANSWER, TL_OUTCOME_UNKNOWN, 1, TL_OUTCOME_UNKNOWN, 0, 0, 0, TL_AMBIGUOUS, 0, 0},
        {"02c", TL_MEM_ANSWER, TL_OUTCOME_FAILED, 1, 0, 0, 0, 0, TL_STORE, 0, 1},
        {"02d", TL_MEM_NORMAL, TL_OUTCOME_OK, 0, 0, 1, 0, 0, TL_OK, 9, 1},
        {"02e", TL_MEM_NORMAL, TL_OUTCOME_OK, 0, 0, 0, 0, 1, TL_OK, 8, 0},
        {"lost, then not there for ever", TL_MEM_ANSWER, TL_OUTCOME_UNKNOWN, 1, 0, 0, 0, 0, TL_AMBIGUOUS, 0, 0},
        {"refused after an unknown one", TL_MEM_ANSWER, TL_OUTCOME_CANCELLED, 0, 0, 0, 0, 0, TL_OK, 8, 0},
    };
    size_t i;
    for (i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        play(&scenes[i]);
}

/* Another writer, with a lake of its own, appends file `number`. */
static void others_append(cworld *w, unsigned number)
{
    tl_lake ours = w->lake;
    tl_test_memory memory;
    tl_table *base;
    cworld_lake(&w->lake, &memory, 77);
    base = cworld_load(&w->store, &w->lake, w->location, 1);
    append(w, &base, number, 1);
    tl_table_drop(base);
    tl_lake_free(&w->lake);
    w->lake = ours;
    CHECK_INT(memory.live, 0);
}

/* ---- each request answered with each outcome, applied or not ---- */

typedef struct plan {
    uint32_t at[2]; /* requests, from 1; 0: none */
    tl_outcome outcome[2];
    int applied[2];
    int rest; /* not 0: how everything behind the first fault is answered, as by a store that is down */
    int on;
    uint32_t seen;
    uint32_t hit;
} plan;

static tl_mem_fault plan_fault(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    plan *p = (plan *)context;
    tl_mem_fault f = no_fault();
    int i;
    (void)n;
    (void)nth;
    if (!p->on || r->kind == TL_DELETE)
        return f;
    p->seen++;
    if (p->rest != 0 && p->seen > p->at[0]) {
        f.effect = TL_MEM_ANSWER;
        f.outcome = (tl_outcome)p->rest;
    }
    for (i = 0; i < 2; i++)
        if (p->seen == p->at[i]) {
            f.effect = p->applied[i] ? TL_MEM_APPLY_AND_ANSWER : TL_MEM_ANSWER;
            f.outcome = p->outcome[i];
            f.retry_ms = f.outcome == TL_OUTCOME_FAILED && p->applied[i] ? 5 : -1;
            if (f.outcome == TL_OUTCOME_FAILED)
                f.effect = TL_MEM_ANSWER; /* failed says that nothing was applied */
            p->hit++;
        }
    return f;
}

/* One append with this plan of faults; another writer has committed before, so that the first attempt is lost, when
   `race`. Returns whether every fault was met. */
static int with_plan(plan *p, int race, unsigned *tally)
{
    cworld w;
    tl_mem_options mo;
    tl_table *base;
    tl_change change;
    tl_commit c;
    tl_status st;
    cfile f;
    crows newest;
    census n;
    unsigned before;
    memset(&mo, 0, sizeof mo);
    mo.fault = plan_fault;
    mo.context = p;
    cworld_begin(&w, "iot.created", &mo);
    p->on = 0;
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    append(&w, &base, 1, 1);
    if (race)
        others_append(&w, 5);
    before = take_census(&w.store, w.location, "").orphans;
    p->on = 1;
    p->seen = p->hit = 0;
    crows_make(&newest, &base->metadata, 40, 9);
    change = cappend(&f, w.location, 1, 0);
    change.newest = &newest.rows;
    change.batch_id = tl_text("batch");
    tl_commit_begin(&c, &w.lake, base, &change);
    st = tl_mem_run(&w.store, &c.op);
    n = take_census(&w.store, w.location, f.path);
    CHECK_INT(n.broken + n.doubled + n.gaps, 0);
    CHECK(n.ever <= 1);
    CHECK(st == TL_AMBIGUOUS || n.orphans == before);
    if (st == TL_OK) {
        tally[0]++;
        CHECK_INT(n.present, 1);
        CHECK_INT(n.newest, c.version);
        CHECK((c.table->metadata.last_value_index.data != NULL) == (c.why_no_index.status == TL_OK));
        CHECK(c.why_no_index.status == TL_OK || p->outcome[0] == TL_OUTCOME_NOT_FOUND
              || p->outcome[1] == TL_OUTCOME_NOT_FOUND); /* who says that the index file is not there */
    } else if (st == TL_AMBIGUOUS) {
        tally[1]++;
        CHECK_INT(log_count(&w.store, TL_DELETE, "new-0.parquet"), 0);
        CHECK(tl_mem_get(&w.store, tl_text(f.path)) != NULL);
    } else {
        tally[2]++;
        CHECK_INT(n.ever, 0);
        CHECK(tl_mem_get(&w.store, tl_text(f.path)) == NULL);
    }
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    crows_drop(&newest);
    tl_table_drop(base);
    cworld_end(&w);
    return p->hit != 0;
}

static void every_request_with_every_outcome(void)
{
    static const tl_outcome outcomes[] = {TL_OUTCOME_OK, TL_OUTCOME_NOT_FOUND, TL_OUTCOME_PRECONDITION,
                                          TL_OUTCOME_UNSUPPORTED, TL_OUTCOME_FAILED, TL_OUTCOME_UNKNOWN,
                                          TL_OUTCOME_CANCELLED, TL_OUTCOME_NEVER_SENT};
    static const int may_apply[] = {0, 0, 1, 0, 1, 1, 1, 0};
    unsigned tally[3] = {0, 0, 0}, runs = 0;
    int race;
    for (race = 0; race < 2; race++) {
        plan p;
        size_t a, b;
        int more = 1;
        memset(&p, 0, sizeof p);
        for (p.at[0] = 1; more; p.at[0]++) {
            more = 0;
            for (a = 1; a < 8; a++) /* ok without being applied is a lie that no client can see through */
                for (p.applied[0] = 0; p.applied[0] <= may_apply[a]; p.applied[0]++) {
                    p.outcome[0] = outcomes[a];
                    p.at[1] = 0;
                    more |= with_plan(&p, race, tally);
                    p.rest = a % 2 == 0 ? TL_OUTCOME_FAILED : TL_OUTCOME_UNKNOWN;
                    (void)with_plan(&p, race, tally);
                    p.rest = 0;
                    runs += 2;
                    for (b = 1; b < 8; b++) { /* and one of the two requests behind it */
                        for (p.at[1] = p.at[0] + 1; p.at[1] <= p.at[0] + 2; p.at[1]++) {
                            p.outcome[1] = outcomes[b];
                            p.applied[1] = may_apply[b];
                            (void)with_plan(&p, race, tally);
                            runs++;
                        }
                    }
                }
        }
    }
    printf("%u plans of faults: %u committed, %u ambiguous, %u not in\n", runs, tally[0], tally[1], tally[2]);
    CHECK(tally[0] > 0 && tally[1] > 0 && tally[2] > 0);
}

/* ---- the last-value index ---- */

/* Commits, and checks what became of the index: `why`: the status of why there is none. */
static void commit_index(cworld *w, tl_table **base, const tl_change *change, int dropped, tl_status why)
{
    tl_commit c;
    tl_commit_begin(&c, &w->lake, *base, change);
    CHECK_INT(tl_mem_run(&w->store, &c.op), TL_OK);
    CHECK_INT(c.index_dropped, dropped);
    CHECK_STATUS(c.why_no_index.status, why, &c.why_no_index);
    if (c.table != NULL) {
        tl_table_drop(*base);
        *base = tl_table_keep(c.table);
    }
    CHECK_INT(tl_op_end(&c.op), TL_OK);
}

/* What a version's index says is these rows merged. */
static void check_rows(tl_table *t, const tl_rows *base, const tl_rows *newest)
{
    struct ArrowSchema sa, sb;
    struct ArrowArray ra, rb;
    tl_error err;
    if (!CHECK_STATUS(tl_table_last_values(t, 0, &sa, &ra, &err), TL_OK, &err))
        return;
    if (CHECK_STATUS(tl_last_values_merge(&t->metadata, base, newest, NULL, NULL, &sb, &rb, &err), TL_OK, &err))
        check_same_rows(&sa, &ra, &sb, &rb);
    ra.release(&ra);
    sa.release(&sa);
}

/* The rows of a version, to compare with. */
static void keep_rows(tl_table *t, crows *r)
{
    tl_error err;
    memset(r, 0, sizeof *r);
    r->array = (struct ArrowArray *)malloc(sizeof *r->array);
    CHECK_STATUS(tl_table_last_values(t, 0, &r->schema, r->array, &err), TL_OK, &err);
    r->batch = r->array;
    r->rows.schema = &r->schema;
    r->rows.batches = &r->batch;
    r->rows.count = 1;
}

static void end_rows(crows *r)
{
    r->array->release(r->array);
    r->schema.release(&r->schema);
    free(r->array);
}

/* A table with an index, and what it says. */
typedef struct iworld {
    cworld w;
    tl_table *base;
    crows newest, old;
    cfile f, g;
    char path[300]; /* of the index */
} iworld;

static void note_index(iworld *x)
{
    tl_span path = x->base->metadata.last_value_index;
    if (x->old.array != NULL)
        end_rows(&x->old);
    keep_rows(x->base, &x->old);
    snprintf(x->path, sizeof x->path, "%.*s", (int)path.size, path.data);
}

static void index_after_append(iworld *x)
{
    tl_change change;
    note_index(x);
    crows_make(&x->newest, &x->base->metadata, 217200, 7); /* a minute newer, for five of the ten devices */
    change = cappend(&x->f, x->w.location, 1, 0);
    change.newest = &x->newest.rows;
    commit_index(&x->w, &x->base, &change, 0, TL_OK);
    check_rows(x->base, &x->old.rows, &x->newest.rows);
    CHECK(tl_mem_get(&x->w.store, x->base->metadata.last_value_index) != NULL);
    CHECK(!tl_span_equal(x->base->metadata.last_value_index, tl_text(x->path)));
    publish_head(&x->w, x->base, 1);
    check_cold(&x->w, x->base);
}

/* A compaction and new properties keep it, rows and all. */
static void index_carried(iworld *x)
{
    tl_change change;
    tl_property property;
    tl_span removed = tl_text(x->f.path);
    note_index(x);
    cfile_make(&x->g, x->w.location, 1, 1);
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_REPLACE;
    change.added = &x->g.file;
    change.added_count = 1;
    change.removed = &removed;
    change.removed_count = 1;
    commit_index(&x->w, &x->base, &change, 0, TL_OK);
    check_rows(x->base, &x->old.rows, NULL);
    memset(&change, 0, sizeof change);
    property.key = property.value = tl_text("x");
    change.kind = TL_CHANGE_PROPERTIES;
    change.properties = &property;
    change.property_count = 1;
    commit_index(&x->w, &x->base, &change, 0, TL_OK);
    check_rows(x->base, &x->old.rows, NULL);
    CHECK(tl_span_equal(x->base->metadata.last_value_index, tl_text(x->path)));
    publish_head(&x->w, x->base, 1);
    check_cold(&x->w, x->base);
}

/* A delete carries it, but for rows before a cutoff. */
static void index_cut(iworld *x)
{
    static const int64_t cutoff = (INT64_C(1767225600) + 217203) * 1000000;
    tl_change change;
    tl_span removed = tl_text(x->g.path);
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_DELETE;
    change.removed = &removed;
    change.removed_count = 1;
    change.cutoff = &cutoff;
    CHECK_INT(x->old.array->length, 10);
    commit_index(&x->w, &x->base, &change, 0, TL_OK);
    note_index(x);
    CHECK_INT(x->old.array->length, 4); /* rows 217203 to 217206 */
    CHECK_INT(take_census(&x->w.store, x->w.location, "").broken, 0);
    publish_head(&x->w, x->base, 1);
    check_cold(&x->w, x->base);
    removed = path_of(x->base, 0);
    change.cutoff = NULL;
    commit_index(&x->w, &x->base, &change, 0, TL_OK);
    check_rows(x->base, &x->old.rows, NULL);
    CHECK(tl_span_equal(x->base->metadata.last_value_index, tl_text(x->path)));
}

/* Taken away it does not begin again, until it is set. An append without newest rows ends it: they may be newer. */
static void index_set(iworld *x)
{
    tl_change change;
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_INDEX;
    commit_index(&x->w, &x->base, &change, 1, TL_OK);
    change = cappend(&x->f, x->w.location, 1, 2);
    change.newest = &x->newest.rows;
    commit_index(&x->w, &x->base, &change, 0, TL_ABSENT);
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_INDEX;
    change.newest = &x->newest.rows;
    commit_index(&x->w, &x->base, &change, 0, TL_OK);
    check_rows(x->base, NULL, &x->newest.rows);
    publish_head(&x->w, x->base, 1);
    check_cold(&x->w, x->base);
    change = cappend(&x->f, x->w.location, 1, 3);
    commit_index(&x->w, &x->base, &change, 1, TL_ABSENT);
    CHECK_INT(take_census(&x->w.store, x->w.location, "").orphans, 0);
}

static void index_of_every_change(void)
{
    iworld x;
    memset(&x, 0, sizeof x);
    cworld_begin(&x.w, "iot.trucks", NULL);
    x.base = cworld_load(&x.w.store, &x.w.lake, x.w.location, 0);
    index_after_append(&x);
    index_carried(&x);
    index_cut(&x);
    index_set(&x);
    end_rows(&x.old);
    crows_drop(&x.newest);
    tl_table_drop(x.base);
    cworld_end(&x.w);
}

/* A base whose rows are not in its head: they are read from the index file, or it is said why they could not be. */
static void index_that_is_not_at_hand(void)
{
    static const struct {
        const char *table;
        int codec, gone;
        tl_status why;
    } how[] = {{"iot.created", 0, 0, TL_OK},        {"iot.trucks", 0, 0, TL_OK},     {"iot.created", 1, 0, TL_OK},
               {"iot.trucks", 1, 0, TL_TRUNCATED}, {"iot.types", 0, 0, TL_UNSUPPORTED},
               {"iot.trucks", 0, 1, TL_ABSENT}};
    size_t i;
    for (i = 0; i < sizeof how / sizeof how[0]; i++) {
        cworld w;
        tl_table *base, *first;
        tl_change change;
        tl_commit c;
        crows one, two, old;
        cfile f, g;
        int calls = 0, ours = strcmp(how[i].table, "iot.created") == 0;
        cindex_use(how[i].codec ? &calls : NULL);
        cworld_begin(&w, how[i].table, NULL);
        first = cworld_load(&w.store, &w.lake, w.location, 0);
        crows_make(&one, &first->metadata, 0, 3);
        crows_make(&two, &first->metadata, 2, 9);
        change = cappend(&f, w.location, 1, 0);
        change.newest = &one.rows;
        if (ours)
            commit_index(&w, &first, &change, 0, TL_OK);
        if (how[i].gone)
            (void)tl_mem_delete(&w.store, first->metadata.last_value_index);
        keep_rows(first, &old);
        tl_lake_forget(&w.lake, w.location);
        base = cworld_load(&w.store, &w.lake, w.location, 1);
        change = cappend(&g, w.location, 1, 1);
        change.newest = &two.rows;
        tl_commit_begin(&c, &w.lake, base, &change);
        CHECK_INT(tl_mem_run(&w.store, &c.op), TL_OK);
        CHECK_INT(c.index_dropped, how[i].why != TL_OK);
        CHECK_STATUS(c.why_no_index.status, how[i].why, &c.why_no_index);
        if (how[i].why == TL_OK)
            check_rows(c.table, &old.rows, &two.rows);
        CHECK_INT(tl_op_round_trips(&c.op), 3); /* list and index at once */
        CHECK_INT(calls, how[i].codec ? 1 + 2 * ours : 0);
        CHECK_INT(tl_op_end(&c.op), TL_OK);
        end_rows(&old);
        crows_drop(&one);
        crows_drop(&two);
        tl_table_drop(base);
        tl_table_drop(first);
        cworld_end(&w);
    }
    cindex_use(NULL);
}

/* A table has rows if it has files, whatever its summary says or leaves out: it gets no index of the newest alone. */
static void index_without_totals(void)
{
    cworld w;
    tl_table *base;
    tl_change change;
    tl_property property;
    crows newest;
    cfile f, g;
    const tl_mem_object *o;
    tl_span key, total = tl_text("\"total-records\"");
    char *text, *at;
    size_t size;
    cworld_begin(&w, "iot.created", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    change = cappend(&f, w.location, 1, 0);
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    memset(&change, 0, sizeof change);
    property.key = property.value = tl_text("x");
    change.kind = TL_CHANGE_PROPERTIES;
    change.properties = &property;
    change.property_count = 1;
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    key = warehouse_key(w.location, base->version == 3 ? "v3.metadata.json" : "v2.metadata.json");
    o = tl_mem_get(&w.store, key);
    CHECK(o != NULL);
    size = o->size;
    text = (char *)malloc(size + 1);
    memcpy(text, o->data, size);
    text[size] = 0;
    at = strstr(text, total.data);
    CHECK(at != NULL);
    memcpy(at, "\"other-records\"", total.size);
    tl_mem_put(&w.store, key, text, size);
    free(text);
    tl_table_drop(base);
    tl_lake_forget(&w.lake, w.location);
    base = cworld_load(&w.store, &w.lake, w.location, 1);
    crows_make(&newest, &base->metadata, 0, 3);
    change = cappend(&g, w.location, 1, 1);
    change.newest = &newest.rows;
    commit_index(&w, &base, &change, 0, TL_ABSENT);
    CHECK(base->metadata.last_value_index.data == NULL);
    crows_drop(&newest);
    tl_table_drop(base);
    cworld_end(&w);
}

/* Newest rows that do not fit the table's columns are refused before anything is uploaded. */
static void index_of_wrong_rows(void)
{
    cworld w;
    tl_table *base;
    tl_change change;
    crows newest;
    cfile f;
    tl_commit c;
    int64_t cutoff = 0;
    cworld_begin(&w, "iot.trucks", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    crows_make(&newest, &base->metadata, 0, 3);
    newest.schema.children[0]->name = "else";
    newest.schema.children[0]->metadata = NULL;
    change = cappend(&f, w.location, 1, 0);
    change.newest = &newest.rows;
    tl_commit_begin(&c, &w.lake, base, &change);
    CHECK_INT(tl_mem_run(&w.store, &c.op), TL_MISUSE);
    CHECK(tl_mem_get(&w.store, tl_text(f.path)) == NULL);
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    change.newest = NULL;
    change.cutoff = &cutoff;
    tl_commit_begin(&c, &w.lake, base, &change);
    CHECK_INT(tl_mem_run(&w.store, &c.op), TL_MISUSE);
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    crows_drop(&newest);
    tl_table_drop(base);
    cworld_end(&w);
}

/* ---- batch ids, conflicts, refusals, creation ---- */

static void batches(void)
{
    cworld w;
    tl_table *base, *old;
    tl_change change;
    tl_commit c;
    cfile f, g;
    int i;
    cworld_begin(&w, "iot.trucks", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    old = tl_table_keep(base);
    change = cappend(&f, w.location, 1, 0);
    change.batch_id = tl_text("2026-01-01/7");
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    append(&w, &base, 10, 1);
    for (i = 0; i < 2; i++) { /* from the newest version, and from one that does not know yet */
        cfile_make(&g, w.location, 1, 20 + (unsigned)i);
        change.added = &g.file;
        tl_mem_forget(&w.store);
        tl_commit_begin(&c, &w.lake, i == 0 ? base : old, &change);
        CHECK_INT(tl_mem_run(&w.store, &c.op), TL_OK);
        CHECK_INT(c.duplicate, 1);
        CHECK_INT(c.version, base->version);
        CHECK_INT(c.attempts, (unsigned)i + 1);
        CHECK_INT(log_count(&w.store, TL_PUT, ".metadata.json"), (unsigned)i);
        CHECK(tl_mem_get(&w.store, tl_text(g.path)) == NULL);
        CHECK_INT(tl_op_end(&c.op), TL_OK);
    }
    tl_table_drop(old);
    tl_table_drop(base);
    cworld_end(&w);
}

/* A batch id of long ago, in a table that keeps 30,000 snapshots. */
static void a_long_history(void)
{
    enum { MANY = 30000 };
    cworld w;
    tl_table *base;
    tl_change change;
    cfile f, g;
    const tl_mem_object *o;
    tl_span key;
    char *text = (char *)malloc((size_t)MANY * 120 + 100000), *end = text;
    const char *all, *at;
    clock_t began;
    int i;
    cworld_begin(&w, "iot.created", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    change = cappend(&f, w.location, 1, 0);
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    key = warehouse_key(w.location, "v2.metadata.json");
    o = tl_mem_get(&w.store, key);
    CHECK(o != NULL && base->version == 2);
    all = base->metadata.json.text;
    at = strstr(all, "\"snapshots\":[{");
    CHECK(at != NULL);
    at += strlen("\"snapshots\":[{");
    end += sprintf(end, "%.*s\"snapshot-id\":1,\"summary\":{\"timelake.batch-id\":\"old\"}}", (int)(at - all), all);
    for (i = 2; i <= MANY; i++)
        end += sprintf(end, ",{\"snapshot-id\":%d,\"parent-snapshot-id\":%d,\"summary\":{}}", i, i - 1);
    end += sprintf(end, ",{\"parent-snapshot-id\":%d,%.*s", MANY,
                   (int)(base->metadata.json.size - (size_t)(at - all)), at);
    tl_mem_put(&w.store, key, text, (size_t)(end - text));
    free(text);
    tl_table_drop(base);
    tl_lake_forget(&w.lake, w.location);
    base = cworld_load(&w.store, &w.lake, w.location, 1);
    change = cappend(&g, w.location, 1, 1);
    began = clock();
    change.batch_id = tl_text("old");
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    CHECK_INT(base->version, 2);
    change.batch_id = tl_text("new");
    CHECK_INT(commit_on(&w, &base, &change), TL_OK);
    CHECK_INT(base->version, 3);
    CHECK((clock() - began) / CLOCKS_PER_SEC < 10); /* it took minutes */
    tl_table_drop(base);
    cworld_end(&w);
}

static tl_status try_commit(cworld *w, tl_table *base, const tl_change *change, uint32_t *attempts)
{
    tl_commit c;
    tl_status st;
    tl_commit_begin(&c, &w->lake, base, change);
    st = tl_mem_run(&w->store, &c.op);
    *attempts = c.attempts;
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    return st;
}

static tl_mem_fault always_taken(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    cworld *w = (cworld *)context;
    (void)n;
    (void)nth;
    if (r->kind == TL_PUT && r->purpose == TL_PURPOSE_COMMIT) { /* another writer is always a moment earlier */
        const tl_mem_object *o = tl_mem_get(&w->store, warehouse_key(w->location, "v7.metadata.json"));
        char *copy = (char *)malloc(o->size);
        size_t size = o->size;
        memcpy(copy, o->data, size);
        tl_mem_put(&w->store, r->key, copy, size);
        free(copy);
    }
    return no_fault();
}

static void conflicts_and_refusals(void)
{
    cworld w;
    tl_mem_options mo;
    tl_table *base;
    tl_change change;
    tl_span removed;
    uint32_t attempts;
    cfile f;
    int64_t began;
    tl_publish p;
    memset(&mo, 0, sizeof mo);
    mo.fault = always_taken;
    mo.context = &w;
    cworld_begin(&w, "iot.trucks", &mo);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    memset(&change, 0, sizeof change);
    removed = tl_text("s3://demo-lake/wh/iot/trucks/data/not-there.parquet");
    change.kind = TL_CHANGE_DELETE;
    change.removed = &removed;
    change.removed_count = 1;
    tl_mem_forget(&w.store);
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_CONFLICT);
    CHECK_INT(w.store.log_count, 0);
    change = cappend(&f, w.location, 0, 0); /* without a partition value */
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_MISUSE);
    f.file.file.has_partition = 1;
    change.batch_id = tl_text(""); /* a variable that was not set: every append would be the same batch */
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_MISUSE);
    change.batch_id = tl_text(NULL);
    f.file.file.path = path_of(base, 0);
    f.file.body.data = NULL;
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_EXISTS);
    CHECK_INT(w.store.log_count, 0);
    cfile_make(&f, w.location, 1, 0);
    began = w.store.now;
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_CONFLICT);
    CHECK_INT(attempts, TL_COMMIT_ATTEMPTS);
    CHECK(w.store.now - began >= 5 * (2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10) && w.store.now - began <= 50 * 54);
    CHECK(tl_mem_get(&w.store, tl_text(f.path)) == NULL);
    CHECK_INT(log_count(&w.store, TL_DELETE, ".avro"), 20);
    memset(w.lake.options.seed, 0, sizeof w.lake.options.seed);
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_MISUSE);
    CHECK_INT(try_commit(&w, NULL, &change, &attempts), TL_MISUSE); /* a load found none */
    tl_publish_begin(&p, &w.lake, NULL);
    CHECK_INT(tl_mem_run(&w.store, &p.op), TL_MISUSE);
    CHECK_INT(tl_op_end(&p.op), TL_OK);
    tl_table_drop(base);
    cworld_end(&w);
}

/* Which manifests may hold what goes: as one looks at each file that goes. */
static void manifests_that_may_hold(void)
{
    cworld w;
    tl_table *base;
    tl_files live;
    tl_error err;
    tli_commitplan p;
    tli_commitplan_going *going;
    tli_iceberg_manifest m;
    uint32_t random = 1, round, held = 0;
    size_t i, count;
    cworld_begin(&w, "iot.many", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    CHECK_STATUS(tl_head_files(&base->head, &live, &err), TL_OK, &err);
    memset(&p, 0, sizeof p);
    memset(&m, 0, sizeof m);
    p.base = base;
    p.err = &err;
    p.store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    p.gone = (uint8_t *)calloc(live.count, 1);
    for (round = 0; round < 400; round++) {
        int naive = 0;
        for (i = 0; i < live.count; i++)
            p.gone[i] = (random = random * 1664525u + 1013904223u) >> 24 < (round % 5) * 60;
        m.min_sequence_number = (int64_t)(round / 5 % 9);
        m.sequence_number = m.min_sequence_number + (int64_t)(round / 45 % 3);
        for (i = 0; i < live.count; i++) {
            tl_file f;
            tl_files_get(&live, i, &f);
            naive |= p.gone[i] && m.min_sequence_number <= f.sequence_number
                     && f.file_sequence_number <= m.sequence_number;
        }
        CHECK_STATUS(tli_commitplan_list_going(&p, &going, &count), TL_OK, &err);
        CHECK_INT(tli_commitplan_may_hold(&m, going, count), naive);
        held += naive != 0;
    }
    CHECK(held > 20 && held < 380);
    free(p.gone);
    tli_mem_store_drop(p.store);
    tl_table_drop(base);
    cworld_end(&w);
}

/* While the answer to v8 is lost on its way, others go on to v10 and expire what is old. */
static tl_mem_fault expired_meanwhile(void *context, const tl_request *r, uint32_t n, uint32_t nth)
{
    cworld *w = (cworld *)context;
    tl_mem_fault f = no_fault();
    (void)n;
    if (r->purpose != TL_PURPOSE_COMMIT || nth != 1)
        return f;
    tl_mem_put(&w->store, warehouse_key(w->location, "v10.metadata.json"), "{}", 2);
    (void)tl_mem_delete(&w->store, warehouse_key(w->location, "v7.metadata.json"));
    f.effect = TL_MEM_ANSWER;
    f.outcome = TL_OUTCOME_UNKNOWN;
    return f;
}

/* A version below the newest would be nobody's: it is not put, and nothing is deleted, since it may have been there. */
static void a_version_that_expired_is_not_put_again(void)
{
    cworld w;
    tl_mem_options mo;
    tl_table *base;
    tl_change change;
    uint32_t attempts;
    cfile f;
    memset(&mo, 0, sizeof mo);
    mo.fault = expired_meanwhile;
    mo.context = &w;
    cworld_begin(&w, "iot.trucks", &mo);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    change = cappend(&f, w.location, 1, 0);
    CHECK_INT(try_commit(&w, base, &change, &attempts), TL_AMBIGUOUS);
    CHECK_INT(log_count(&w.store, TL_PUT, "v8.metadata.json"), 1);
    CHECK(tl_mem_get(&w.store, warehouse_key(w.location, "v8.metadata.json")) == NULL);
    CHECK_INT(log_count(&w.store, TL_DELETE, ""), 0);
    tl_table_drop(base);
    cworld_end(&w);
}

/* Timelake's own first version of the same table: all is alike but uuid, time, and the order of properties. */
static void check_first_version(const tl_metadata *m)
{
    static const char *const members[] = {"format-version", "location", "last-sequence-number", "last-column-id",
        "schemas", "current-schema-id", "partition-specs", "default-spec-id", "last-partition-id", "sort-orders",
        "default-sort-order-id", "refs"};
    tl_metadata real;
    tl_error err;
    size_t i, size;
    const tl_json_node *k;
    char *text = tl_test_read("tests/data/warehouse/wh/iot/trucks/metadata/v1.metadata.json", &size);
    CHECK_STATUS(tl_metadata_parse(&real, text, size, NULL, NULL, &err), TL_OK, &err);
    for (i = 0; i < sizeof members / sizeof members[0]; i++) {
        const tl_json_node *x = tl_json_member(&real.json, real.json.root, tl_text(members[i]));
        const tl_json_node *y = tl_json_member(&m->json, m->json.root, tl_text(members[i]));
        CHECK(x != NULL && y != NULL && tl_span_equal(tl_json_raw(&real.json, x), tl_json_raw(&m->json, y)));
    }
    CHECK_INT(m->json.root->count, real.json.root->count);
    CHECK_INT(m->properties->count, real.properties->count);
    for (k = tl_json_first(real.properties); k != NULL; k = tl_json_next(real.properties, k)) {
        tl_span key, value;
        CHECK_INT(tl_json_string(&real.json, k, &key, NULL), TL_OK);
        CHECK_INT(tl_json_string(&real.json, k + 1, &value, NULL), TL_OK);
        CHECK(same_text(tl_metadata_property(m, key), value));
    }
    tl_metadata_free(&real);
    free(text);
}

static void creation(void)
{
    static const struct {
        const char *name, *type;
        int required;
    } columns[] = {{"time", "timestamptz", 1}, {"device", "int", 0}, {"site", "string", 0}, {"value", "double", 0}};
    tl_new_column c[4];
    tl_new_table table;
    tl_change change;
    tl_property own;
    tl_commit commit;
    cworld w;
    size_t i;
    tl_table *base;
    cworld_begin(&w, NULL, NULL);
    w.location = tl_text("s3://demo-lake/wh/iot/trucks");
    memset(&table, 0, sizeof table);
    memset(&change, 0, sizeof change);
    for (i = 0; i < 4; i++) {
        c[i].name = tl_text(columns[i].name);
        c[i].type = tl_text(columns[i].type);
        c[i].required = (uint8_t)columns[i].required;
    }
    table.columns = c;
    table.column_count = 4;
    table.time_column = tl_text("time");
    table.series_key = tl_text("device");
    own.key = tl_text("timelake.head-format");
    own.value = tl_text("arrow");
    change.kind = TL_CHANGE_CREATE;
    change.table = &table;
    change.properties = &own;
    change.property_count = 1;
    tl_commit_create(&commit, &w.lake, w.location, &change);
    CHECK_INT(tl_mem_run(&w.store, &commit.op), TL_OK);
    CHECK_INT(commit.version, 1);
    check_first_version(&commit.table->metadata);
    CHECK(tl_mem_get(&w.store, warehouse_key(w.location, "version-hint.text")) != NULL);
    publish_head(&w, commit.table, 1);
    check_cold(&w, commit.table);
    base = tl_table_keep(commit.table);
    CHECK_INT(tl_op_end(&commit.op), TL_OK);
    append(&w, &base, 0, 2);
    publish_head(&w, base, 1);
    check_cold(&w, base);
    tl_table_drop(base);
    for (i = 0; i < 2; i++) { /* once more: it is there already, with and without its hint */
        tl_commit_create(&commit, &w.lake, w.location, &change);
        CHECK_INT(tl_mem_run(&w.store, &commit.op), TL_EXISTS);
        CHECK_INT(tl_op_end(&commit.op), TL_OK);
        (void)tl_mem_delete(&w.store, warehouse_key(w.location, "version-hint.text"));
    }
    cworld_end(&w);
}

/* A head format that is not here is not set, neither at first nor later: the table would be without a head. */
static void head_formats(void)
{
    static const char *const formats[] = {"zork", "JSON", "None", "arrow"};
    tl_new_column column;
    tl_new_table table;
    tl_change change;
    tl_property property;
    tl_commit c;
    cworld w;
    tl_table *base;
    unsigned i;
    cworld_begin(&w, "iot.created", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    memset(&column, 0, sizeof column);
    memset(&table, 0, sizeof table);
    memset(&change, 0, sizeof change);
    column.name = tl_text("a");
    column.type = tl_text("int");
    table.columns = &column;
    table.column_count = 1;
    property.key = tl_text("timelake.head-format");
    change.properties = &property;
    change.property_count = 1;
    for (i = 0; i < 4; i++) {
        property.value = tl_text(formats[i]);
        change.kind = TL_CHANGE_PROPERTIES;
        CHECK_INT(commit_on(&w, &base, &change), i == 0 ? TL_NO_CODEC : TL_OK);
    }
    CHECK_INT(base->version, 4);
    property.key = tl_text("timelake.retention");
    CHECK_INT(commit_on(&w, &base, &change), TL_MISUSE); /* "arrow" is no duration */
    property.key = tl_text("timelake.series-key"); /* files and index go by it */
    CHECK_INT(commit_on(&w, &base, &change), TL_MISUSE);
    CHECK_INT(base->version, 4);
    property.key = tl_text("timelake.head-format");
    change.kind = TL_CHANGE_CREATE;
    change.table = &table;
    property.value = tl_text("zork");
    tl_commit_create(&c, &w.lake, tl_text("s3://demo-lake/wh/iot/zork"), &change);
    CHECK_INT(tl_mem_run(&w.store, &c.op), TL_NO_CODEC);
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    CHECK(tl_mem_get(&w.store, tl_text("s3://demo-lake/wh/iot/zork/metadata/v1.metadata.json")) == NULL);
    tl_table_drop(base);
    cworld_end(&w);
}

/* ---- the head never moves back ---- */

static void publishing(void)
{
    cworld w;
    tl_mem_options mo;
    tl_table *base, *old;
    tl_publish p;
    tl_header header;
    const tl_mem_object *o;
    tl_test_memory memory;
    tl_lake late;
    int i;
    for (i = 0; i < 4; i++) {
        memset(&mo, 0, sizeof mo);
        mo.no_if_match = i == 1;
        mo.no_etags = i == 2;
        cworld_begin(&w, "iot.trucks", &mo);
        base = cworld_load(&w.store, &w.lake, w.location, 0);
        append(&w, &base, 0, 1);
        old = tl_table_keep(base);
        append(&w, &base, 1, 1);
        cworld_lake(&late, &memory, 3);
        tl_publish_begin(&p, &w.lake, old); /* this process knows a newer one */
        CHECK_INT(tl_mem_run(&w.store, &p.op), TL_ABSENT);
        CHECK_INT(tl_op_end(&p.op), TL_OK);
        publish_head(&w, base, i != 2);
        o = tl_mem_get(&w.store, warehouse_key(w.location, "timelake-head"));
        CHECK_INT(tl_head_peek(&header, o->data, o->size, NULL), TL_OK);
        CHECK_INT(header.version, i == 2 ? 7 : base->version); /* without an ETag the head stays as it was */
        tl_publish_begin(&p, &late, old); /* a slow writer of another process */
        CHECK_INT(tl_mem_run(&w.store, &p.op), TL_OK);
        CHECK_INT(p.head_written, 0);
        CHECK_INT(tl_op_end(&p.op), TL_OK);
        tl_lake_free(&late);
        tl_table_drop(old);
        tl_table_drop(base);
        cworld_end(&w);
    }
}

/* An append whose allocation number `at` fails (and all behind it, when `for_ever`); of a race it is one that another
   writer is ahead of. Returns 1 when it has fewer. */
static int with_failing_allocation(long at, int race, int for_ever, unsigned *tally)
{
    cworld w;
    tl_table *base;
    tl_change change;
    tl_commit c;
    tl_status st;
    cfile f;
    crows newest;
    census n, before;
    int done;
    cworld_begin(&w, "iot.trucks", NULL);
    base = cworld_load(&w.store, &w.lake, w.location, 0);
    if (race)
        others_append(&w, 5);
    before = take_census(&w.store, w.location, "");
    change = cappend(&f, w.location, 1, 0);
    crows_make(&newest, &base->metadata, 40, 9);
    change.newest = &newest.rows;
    w.memory.calls = 0;
    w.memory.fail_at = at;
    w.memory.fail_for_ever = for_ever;
    tl_commit_begin(&c, &w.lake, base, &change);
    st = tl_mem_run(&w.store, &c.op);
    done = w.memory.calls < at;
    w.memory.fail_at = 0;
    n = take_census(&w.store, w.location, f.path);
    CHECK_INT(n.broken + n.doubled, 0);
    CHECK(st == TL_AMBIGUOUS || n.orphans == before.orphans);
    CHECK(n.present == (st == TL_OK) || st == TL_AMBIGUOUS);
    tally[0] += st == TL_OK;
    tally[1] += st == TL_AMBIGUOUS;
    tally[2] += c.attempts > 1 && st != TL_OK;
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    crows_drop(&newest);
    tl_table_drop(base);
    cworld_end(&w);
    return done;
}

static void every_allocation_failed_in_turn(void)
{
    unsigned tally[3] = {0, 0, 0};
    int how;
    for (how = 0; how < 4; how++) {
        long at = 1;
        while (!with_failing_allocation(at, how & 1, how >> 1, tally) && at < 10000)
            at++;
        CHECK(at > 30 && at < 10000);
    }
    printf("allocations failed in turn: %u committed, %u ambiguous, %u failed after a lost race\n", tally[0], tally[1],
           tally[2]);
    CHECK(tally[0] > 0 && tally[1] > 0 && tally[2] > 0);
}

static const tl_test_case cases[] = {
    TL_TEST(every_kind_of_change),
    TL_TEST(round_trips),
    TL_TEST(cases_01_and_02),
    TL_TEST(every_request_with_every_outcome),
    TL_TEST(index_of_every_change),
    TL_TEST(index_that_is_not_at_hand),
    TL_TEST(index_without_totals),
    TL_TEST(index_of_wrong_rows),
    TL_TEST(batches),
    TL_TEST(a_long_history),
    TL_TEST(conflicts_and_refusals),
    TL_TEST(a_version_that_expired_is_not_put_again),
    TL_TEST(creation),
    TL_TEST(head_formats),
    TL_TEST(publishing),
    TL_TEST(every_allocation_failed_in_turn),
    TL_TEST(manifests_that_may_hold),
};
TL_TEST_MAIN(cases)
