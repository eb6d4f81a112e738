/* Versions that share what they have in common: whatever was appended, replaced or deleted, and whatever head it
   began with, a version says what the manifests say, reads back from its head, and costs what changed. */
#include "tl_test.h"
#include <time.h>

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"
#include "tl_commit.h"

enum { STEPS = 120, MOST = 400, AT_ONCE = 4 };

/* Files that were made: they live as long as the walk. */
typedef struct walk {
    cworld w;
    tl_table *base;
    cfile files[MOST];
    char footers[MOST][200];
    unsigned made;
    int partitioned;
} walk;

static uint64_t seed = 1;

static uint32_t few(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

/* New files, every other one with a footer. */
static size_t make_files(walk *k, tl_data_file *to, size_t count)
{
    size_t i;
    for (i = 0; i < count && k->made < MOST; i++, k->made++) {
        cfile *f = &k->files[k->made];
        cfile_make(f, k->w.location, k->partitioned, k->made);
        f->file.file.partition += (int32_t)few(3) * k->partitioned;
        f->file.file.has_sort_order_id = (uint8_t)few(2);
        f->file.column_count = few(3);
        if (few(2) != 0) {
            memset(k->footers[k->made], 'a' + (int)(k->made % 26), sizeof k->footers[0]);
            f->file.footer.data = k->footers[k->made];
            f->file.footer.size = 8 + few(190);
        }
        to[i] = f->file;
    }
    return i;
}

/* Paths of different live files. */
static size_t pick_files(walk *k, tl_span *to, char names[][300], size_t count)
{
    tl_files files;
    tl_file f;
    size_t i, from;
    CHECK_INT(tl_head_files(&k->base->head, &files, NULL), TL_OK);
    from = files.count == 0 ? 0 : few((uint32_t)files.count);
    for (i = 0; i < count && i < files.count; i++) {
        tl_files_get(&files, (from + i) % files.count, &f);
        snprintf(names[i], 300, "%.*s", (int)f.path.size, f.path.data);
        to[i] = tl_text(names[i]);
    }
    return i;
}

/* One commit of any kind. */
static void step(walk *k)
{
    static const tl_property property = {{"walked", 6}, {"1", 1}};
    char names[AT_ONCE][300];
    tl_span removed[AT_ONCE];
    tl_data_file added[AT_ONCE];
    tl_change change;
    memset(&change, 0, sizeof change);
    change.kind = few(10) < 6 ? TL_CHANGE_APPEND : (tl_change_kind)few(5);
    if (change.kind == TL_CHANGE_INDEX)
        change.kind = TL_CHANGE_PROPERTIES;
    if (change.kind == TL_CHANGE_REPLACE || change.kind == TL_CHANGE_DELETE) {
        change.removed = removed;
        change.removed_count = pick_files(k, removed, names, 1 + few(AT_ONCE));
        if (change.removed_count == 0)
            change.kind = TL_CHANGE_APPEND;
    }
    if (change.kind == TL_CHANGE_APPEND || change.kind == TL_CHANGE_REPLACE) {
        change.added = added;
        change.added_count = make_files(k, added, 1 + few(AT_ONCE));
    }
    if (change.kind == TL_CHANGE_PROPERTIES) {
        change.properties = &property;
        change.property_count = 1;
    }
    CHECK_INT(commit_on(&k->w, &k->base, &change), TL_OK);
}

/* Parts get at least twice as long, from the newest to the oldest. */
static void check_parts(tl_table *t)
{
    const struct tli_grow *g = t->head.grow;
    uint32_t i;
    CHECK(g != NULL);
    for (i = 1; g != NULL && i < g->count; i++)
        CHECK(g->parts[i - 1]->rows[TLI_GROW_FILES] >= 2 * g->parts[i]->rows[TLI_GROW_FILES]);
}

/* The footers of live files, those of the newest partitions first, as many as fit. */
static void check_footers(walk *k, uint64_t budget)
{
    tl_footers footers;
    tl_footer f;
    size_t i, n, sum = 0;
    unsigned m;
    tl_status st = tl_head_footers(&k->base->head, &footers, NULL);
    n = st == TL_OK ? footers.count : 0;
    for (i = 0; i < n; i++) {
        tl_footers_get(&footers, i, &f);
        sum += f.footer.size;
        for (m = 0; m < k->made && !tl_span_equal(f.path, k->files[m].file.file.path);)
            m++;
        if (m < k->made)
            CHECK(tl_span_equal(f.footer, k->files[m].file.footer));
    }
    CHECK(sum <= budget);
}

/* Both have the same footers, in whatever order. */
static int same_footers(tl_table *a, tl_table *b)
{
    tl_footers fa, fb;
    tl_footer x, y;
    size_t i, k;
    int same = 1;
    if (tl_head_footers(&a->head, &fa, NULL) != TL_OK || tl_head_footers(&b->head, &fb, NULL) != TL_OK)
        return tl_head_footers(&a->head, &fa, NULL) == tl_head_footers(&b->head, &fb, NULL);
    for (i = 0; i < fa.count && same; i++) {
        tl_footers_get(&fa, i, &x);
        for (same = 0, k = 0; k < fb.count && !same; k++) {
            tl_footers_get(&fb, k, &y);
            same = tl_span_equal(x.path, y.path) && tl_span_equal(x.footer, y.footer);
        }
    }
    return same && fa.count == fb.count;
}

/* Loads the newest version as another process would, so that the walk goes on from a head, or from manifests. */
static void reload(walk *k, int no_head)
{
    tl_lake_options o;
    tl_table *t;
    memset(&o, 0, sizeof o);
    o.op.allocator = tl_test_allocator(&k->w.memory);
    o.seed[0] = (uint8_t)k->made;
    o.seed[1] = 7;
    tl_lake_free(&k->w.lake);
    CHECK_INT(tl_lake_init(&k->w.lake, &o), TL_OK);
    t = cworld_load(&k->w.store, &k->w.lake, k->w.location, no_head);
    CHECK(t != NULL);
    if (t == NULL)
        return;
    CHECK_INT(t->source, no_head ? TL_FROM_CHAIN : TL_FROM_HEAD);
    CHECK(no_head || same_footers(t, k->base));
    tl_table_drop(k->base);
    k->base = t;
}

static void set_format(walk *k, const char *format)
{
    tl_property property;
    tl_change change;
    memset(&change, 0, sizeof change);
    property.key = tl_text("timelake.head-format");
    property.value = tl_text(format);
    change.kind = TL_CHANGE_PROPERTIES;
    change.properties = &property;
    change.property_count = 1;
    CHECK_INT(commit_on(&k->w, &k->base, &change), TL_OK);
}

/* Every eighth version is read cold, and gone on from. */
static void walk_from(const char *table, const char *format)
{
    static walk k;
    int i, published = 1;
    memset(&k, 0, sizeof k);
    cworld_begin(&k.w, table, NULL);
    k.base = cworld_load(&k.w.store, &k.w.lake, k.w.location, 0);
    k.partitioned = k.base->metadata.partitioned != 0;
    set_format(&k, format);
    for (i = 0; i < STEPS; i++) {
        step(&k);
        check_parts(k.base);
        check_footers(&k, k.base->metadata.contract.head_inline_bytes);
        published = few(3) != 0;
        if (published)
            publish_head(&k.w, k.base, 1);
        if (i % 8 == 7) {
            if (!published)
                publish_head(&k.w, k.base, 1);
            check_cold(&k.w, k.base);
            reload(&k, few(3) == 0);
        }
    }
    tl_table_drop(k.base);
    cworld_end(&k.w);
}

static void walks(void)
{
    walk_from("iot.created", "arrow");
    walk_from("iot.many", "arrow");
    walk_from("iot.trucks_json", "json");
    walk_from("iot.trucks", "arrow");
    walk_from("iot.budget_3000", "arrow");
    walk_from("dim.devices", "arrow");
}

/* ---- heads of others ---- */

typedef struct cut {
    const char *what;
    int64_t files[3], columns[3]; /* rows of all batches but the last; 0: no more */
    int each;                     /* every row in a batch of its own */
    const char *without;          /* a column of `files` */
    int kept;                     /* the head's rows stay as they are */
} cut;

/* Takes a section into a document, cut into batches. The arrays are to be released. */
static void take_section(tl_document *d, tl_section *from, const int64_t *rows, int each, const char *without,
                         struct ArrowSchema *schema, struct ArrowArray *whole)
{
    static struct ArrowArray cuts[MOST];
    const struct ArrowArray *batches[MOST];
    struct ArrowSchema *nodes[16], view;
    struct ArrowArray *columns[16];
    tl_error err;
    int64_t at = 0, i;
    int32_t count = 0;
    CHECK_STATUS(tl_section_export(from, 0, schema, whole, &err), TL_OK, &err);
    view = *schema;
    view.n_children = 0;
    view.children = nodes;
    for (i = 0; i < schema->n_children; i++)
        if (without == NULL || strcmp(schema->children[i]->name, without) != 0) {
            nodes[view.n_children] = schema->children[i];
            columns[view.n_children++] = whole->children[i];
        }
    for (; at < whole->length && count < MOST; at += cuts[count++].length) {
        int64_t left = whole->length - at, next = each ? 1 : count < 3 && rows[count] != 0 ? rows[count] : left;
        cuts[count] = *whole;
        cuts[count].children = columns;
        cuts[count].n_children = view.n_children;
        cuts[count].offset = at;
        cuts[count].length = next < left ? next : left;
        batches[count] = &cuts[count];
    }
    CHECK_STATUS(tl_document_add(d, from->name, &view, batches, count, &err), TL_OK, &err);
}

/* Writes the table's head anew, cut like that. */
static void cut_head(cworld *w, tl_table *t, const cut *c)
{
    static const char *const names[3] = {"metadata", "files", "columns"};
    static const int64_t none[3] = {0, 0, 0};
    struct ArrowSchema schemas[3];
    struct ArrowArray arrays[3];
    tl_document d;
    tl_buffer out;
    tl_error err;
    int i;
    memset(&d, 0, sizeof d);
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tl_document_set(&d, tl_text("layout"), tl_text("1"), &err), TL_OK, &err);
    for (i = 0; i < 3; i++) {
        tl_section *from = tl_document_section(&t->head.document, tl_text(names[i]));
        take_section(&d, from, i == 0 ? none : i == 1 ? c->files : c->columns, i != 0 && c->each,
                     i == 1 ? c->without : NULL, &schemas[i], &arrays[i]);
    }
    CHECK_STATUS(tl_head_encode(&out, t->version, tl_text("arrow"), &d, NULL, &err), TL_OK, &err);
    tl_mem_put(&w->store, warehouse_key(w->location, "timelake-head"), out.data, out.size);
    tl_document_free(&d);
    tl_buffer_free(&out);
    for (i = 0; i < 3; i++) {
        schemas[i].release(&schemas[i]);
        arrays[i].release(&arrays[i]);
    }
}

/* The head in place of the table's own: what is appended then goes into parts of its own, if it can. */
static void heads_of_others(void)
{
    static const cut cuts[] = {
        {"one batch", {0, 0, 0}, {0, 0, 0}, 0, NULL, 1},
        {"two batches that go together", {20, 0, 0}, {80, 0, 0}, 0, NULL, 1},
        {"two batches that do not", {20, 0, 0}, {81, 0, 0}, 0, NULL, 1},
        {"more batches of files than of statistics", {20, 10, 0}, {80, 0, 0}, 0, NULL, 1},
        {"a batch for each row", {0, 0, 0}, {0, 0, 0}, 1, NULL, 0},
        {"no split offsets", {0, 0, 0}, {0, 0, 0}, 0, "split_offsets", 0},
    };
    size_t i;
    for (i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        static walk k;
        tl_table *first;
        tl_files files;
        const struct tli_grow *g;
        memset(&k, 0, sizeof k);
        cworld_begin(&k.w, "iot.many", NULL);
        first = cworld_load(&k.w.store, &k.w.lake, k.w.location, 0);
        k.partitioned = 1;
        cut_head(&k.w, first, &cuts[i]);
        tl_table_drop(first);
        tl_lake_free(&k.w.lake);
        cworld_lake(&k.w.lake, &k.w.memory, 7);
        k.base = cworld_load(&k.w.store, &k.w.lake, k.w.location, 0);
        CHECK_INT(k.base->source, TL_FROM_HEAD);
        CHECK_INT(tl_head_files(&k.base->head, &files, NULL), TL_OK);
        CHECK_INT(files.count, 40);
        first = tl_table_keep(k.base);
        seed = 1;
        do
            step(&k);
        while (k.base->metadata.snapshot == first->metadata.snapshot || k.made == 0);
        g = k.base->head.grow;
        if (!CHECK_INT(g != NULL && g->count > 1 && g->parts[0]->store == first->head.document.store, cuts[i].kept))
            fprintf(stderr, "  %s\n", cuts[i].what);
        tl_table_drop(first);
        publish_head(&k.w, k.base, 1);
        if (cuts[i].without == NULL) {
            check_cold(&k.w, k.base);
        } else { /* the manifests know more */
            tl_lake lake;
            tl_test_memory memory;
            cworld_lake(&lake, &memory, 9);
            first = cworld_load(&k.w.store, &lake, k.w.location, 0);
            CHECK(first != NULL && same_version(first, k.base));
            tl_table_drop(first);
            tl_lake_free(&lake);
            CHECK_INT(memory.live, 0);
        }
        tl_table_drop(k.base);
        cworld_end(&k.w);
    }
}

/* A version is good when those it grew from are gone, and they when it is. */
static void whoever_goes_first(void)
{
    enum { VERSIONS = 24 };
    int round;
    for (round = 0; round < 3; round++) {
        static walk k;
        tl_table *all[VERSIONS];
        tl_files files;
        tl_file f;
        size_t counts[VERSIONS], row;
        int i, at;
        memset(&k, 0, sizeof k);
        cworld_begin(&k.w, "iot.many", NULL);
        k.base = cworld_load(&k.w.store, &k.w.lake, k.w.location, round == 2);
        k.partitioned = 1;
        for (i = 0; i < VERSIONS; i++) {
            step(&k);
            if (few(2) != 0)
                publish_head(&k.w, k.base, 1);
            all[i] = tl_table_keep(k.base);
            CHECK_INT(tl_head_files(&k.base->head, &files, NULL), TL_OK);
            counts[i] = files.count;
        }
        tl_table_drop(k.base);
        tl_lake_free(&k.w.lake);
        for (i = 0; i < VERSIONS; i++) {
            at = round == 0 ? i : VERSIONS - 1 - i;
            CHECK_INT(tl_head_files(&all[at]->head, &files, NULL), TL_OK);
            CHECK_INT(files.count, counts[at]);
            for (row = 0; row < files.count; row++) {
                tl_files_get(&files, row, &f);
                CHECK(f.path.size > 5 && memcmp(f.path.data, "s3://", 5) == 0);
            }
            tl_table_drop(all[at]);
        }
        cworld_lake(&k.w.lake, &k.w.memory, 7);
        cworld_end(&k.w);
    }
}

/* ---- what it costs ---- */

/* Memory that a commit of one file and its publish take anew, in a table of `count` files. */
static void cost_of_one(size_t count, size_t *bytes, size_t *pieces)
{
    static walk k;
    static tl_data_file many[2000];
    static char paths[2000][300];
    tl_publish p;
    tl_change change;
    cfile f;
    size_t i;
    memset(&k, 0, sizeof k);
    cworld_begin(&k.w, "iot.created", NULL);
    k.base = cworld_load(&k.w.store, &k.w.lake, k.w.location, 0);
    cfile_make(&f, k.w.location, 1, 1);
    for (i = 0; i < count; i++) {
        many[i] = f.file;
        snprintf(paths[i], sizeof paths[i], "%.200s-%u", f.path, (unsigned)i);
        many[i].file.path = tl_text(paths[i]);
    }
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_APPEND;
    change.added = many;
    change.added_count = count;
    CHECK_INT(commit_on(&k.w, &k.base, &change), TL_OK);
    publish_head(&k.w, k.base, 1);
    change.added = &f.file;
    change.added_count = 1;
    CHECK_INT(commit_on(&k.w, &k.base, &change), TL_OK);
    tl_publish_begin(&p, &k.w.lake, k.base);
    CHECK_INT(tl_mem_run(&k.w.store, &p.op), TL_OK);
    CHECK_INT(p.head_written, 1);
    *bytes = p.body->bytes.size + k.base->head.grow->parts[1]->encoded[0].size
           + k.base->head.grow->parts[1]->encoded[1].size;
    *pieces = p.body->span_count;
    CHECK_INT(k.base->head.grow->count, 2);
    CHECK_INT(tl_op_end(&p.op), TL_OK);
    check_cold(&k.w, k.base);
    tl_table_drop(k.base);
    cworld_end(&k.w);
}

static void costs_what_changes(void)
{
    size_t few_bytes, many_bytes, few_pieces, many_pieces;
    cost_of_one(20, &few_bytes, &few_pieces);
    cost_of_one(1000, &many_bytes, &many_pieces);
    CHECK_INT(few_pieces, many_pieces);
    CHECK(many_bytes < few_bytes + 200);
    printf("an append to 20 files encodes %lu bytes, to 1000 files %lu\n", (unsigned long)few_bytes,
           (unsigned long)many_bytes);
}

/* ---- paths that stand twice ---- */

/* A head of this version with other files, without statistics. */
static void put_files(cworld *w, tl_table *t, const tl_file *files, size_t count)
{
    tl_head_parts parts;
    tl_buffer out;
    tl_error err;
    memset(&parts, 0, sizeof parts);
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tl_head_metadata(&t->head, &parts.metadata, &err), TL_OK, &err);
    parts.files = files;
    parts.file_count = count;
    CHECK_STATUS(tl_head_write(&out, t->version, tl_text("arrow"), &parts, NULL, NULL, &err), TL_OK, &err);
    tl_mem_put(&w->store, warehouse_key(w->location, "timelake-head"), out.data, out.size);
    tl_buffer_free(&out);
}

/* Loads with a lake that knows nothing. */
static tl_table *load_anew(cworld *w, tl_table *old, int no_head)
{
    tl_table_drop(old);
    tl_lake_free(&w->lake);
    cworld_lake(&w->lake, &w->memory, 7);
    return cworld_load(&w->store, &w->lake, w->location, no_head);
}

/* A head may say the same path any number of times: that costs no more than other paths do. */
static void many_of_one_path(void)
{
    enum { MANY = 400000 };
    static const tl_property property = {{"a", 1}, {"b", 1}};
    cworld w;
    tl_table *t;
    tl_change change;
    tl_file *files = (tl_file *)calloc(MANY, sizeof *files);
    size_t i;
    clock_t began;
    cworld_begin(&w, "iot.created", NULL);
    t = cworld_load(&w.store, &w.lake, w.location, 0);
    for (i = 0; i < MANY; i++) {
        files[i].path = tl_text("s3://demo-lake/wh/iot/created/data/x.parquet");
        files[i].has_partition = 1;
    }
    put_files(&w, t, files, MANY);
    t = load_anew(&w, t, 0);
    CHECK_INT(t->source, TL_FROM_HEAD);
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_PROPERTIES;
    change.properties = &property;
    change.property_count = 1;
    began = clock();
    CHECK_INT(commit_on(&w, &t, &change), TL_OK);
    CHECK((clock() - began) / CLOCKS_PER_SEC < 10); /* a table of hashes took minutes */
    tl_table_drop(t);
    free(files);
    cworld_end(&w);
}

/* A table in which a writer put a path twice: it goes as a whole. */
static void removed_twice(void)
{
    cworld w;
    tl_table *t;
    tl_change change;
    tl_files files;
    tl_span removed;
    cfile f, g;
    const tl_json_node *summary;
    tl_span text;
    cworld_begin(&w, "iot.created", NULL);
    t = cworld_load(&w.store, &w.lake, w.location, 0);
    change = cappend(&g, w.location, 1, 1);
    CHECK_INT(commit_on(&w, &t, &change), TL_OK);
    put_files(&w, t, &g.file.file, 1);
    change = cappend(&f, w.location, 1, 0);
    CHECK_INT(commit_on(&w, &t, &change), TL_OK);
    put_files(&w, t, &g.file.file, 1);
    t = load_anew(&w, t, 0); /* that head does not say that it is there */
    CHECK_INT(commit_on(&w, &t, &change), TL_OK);
    t = load_anew(&w, t, 1);
    CHECK_INT(tl_head_files(&t->head, &files, NULL), TL_OK);
    CHECK_INT(files.count, 3);
    memset(&change, 0, sizeof change);
    change.kind = TL_CHANGE_DELETE;
    removed = tl_text(f.path);
    change.removed = &removed;
    change.removed_count = 1;
    CHECK_INT(commit_on(&w, &t, &change), TL_OK);
    CHECK_INT(tl_head_files(&t->head, &files, NULL), TL_OK);
    CHECK_INT(files.count, 1);
    summary = tl_json_member(&t->metadata.json, t->metadata.snapshot, tl_text("summary"));
    CHECK_INT(tl_json_string(&t->metadata.json,
                             tl_json_member(&t->metadata.json, summary, tl_text("total-data-files")), &text, NULL),
              TL_OK);
    CHECK_BYTES(text.data, text.size, "1", 1);
    publish_head(&w, t, 1);
    check_cold(&w, t);
    tl_table_drop(t);
    cworld_end(&w);
}

static const tl_test_case cases[] = {TL_TEST(walks), TL_TEST(heads_of_others), TL_TEST(whoever_goes_first),
                                     TL_TEST(costs_what_changes), TL_TEST(many_of_one_path), TL_TEST(removed_twice)};
TL_TEST_MAIN(cases)
