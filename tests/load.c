/* Opening tables: which requests, in how many round trips, and what comes of it: over the lake that Timelake wrote,
   in a store in memory. Request logs are asserted word by word. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"

typedef struct world {
    tl_mem store;
    tl_lake lake;
    tl_test_memory memory;
    tl_span location;
    tl_load load;
    tl_status status;
} world;

static void open_world(world *w, const char *table, const tl_mem_options *mo, const tl_lake_options *lo)
{
    tl_lake_options o;
    memset(w, 0, sizeof *w);
    memset(&o, 0, sizeof o);
    if (lo != NULL)
        o = *lo;
    o.op.allocator = tl_test_allocator(&w->memory);
    tl_mem_init(&w->store, mo);
    w->location = warehouse_put(&w->store, table);
    CHECK_INT(tl_lake_init(&w->lake, &o), TL_OK);
}

static void close_world(world *w)
{
    tl_lake_free(&w->lake);
    tl_mem_free(&w->store);
    CHECK_INT(w->memory.live, 0);
}

static tl_status load(world *w, const tl_load_options *options)
{
    tl_mem_forget(&w->store);
    tl_load_begin(&w->load, &w->lake, w->location, options);
    w->status = tl_mem_run(&w->store, &w->load.op);
    return w->status;
}

static void end(world *w)
{
    CHECK_INT(tl_op_end(&w->load.op), TL_OK);
}

/* The log in words: kind, the key's last part, the outcome: "GET head ok, LIST v ok". */
static const char *said(const world *w)
{
    static char text[4096];
    size_t i, n = 0;
    text[0] = 0;
    for (i = 0; i < w->store.log_count && n < sizeof text - 200; i++) {
        const tl_mem_line *l = &w->store.log[i];
        const char *name = l->key + l->key_size;
        while (name > l->key && name[-1] != '/')
            name--;
        if (strcmp(name, "timelake-head") == 0)
            name = "head";
        if (strcmp(name, "version-hint.text") == 0)
            name = "hint";
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u %s %.*s %s", i == 0 ? "" : ", ", l->round,
                              tl_request_text(l->kind), (int)(strchr(name, '.') != NULL ? strchr(name, '.') - name
                                                              : 40),
                              name, tl_outcome_text(l->result));
    }
    return text;
}

#define CHECK_SAID(w, want) CHECK_TEXT(said(w), strlen(said(w)), want)

static void cold_with_a_current_head(void)
{
    world w;
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok");
    CHECK_INT(tl_op_round_trips(&w.load.op), 1);
    CHECK_INT(w.load.table->source, TL_FROM_HEAD);
    CHECK_INT(w.load.why_no_head.status, TL_OK);
    CHECK(!w.load.unchecked);
    end(&w);
    /* warm within the interval: nothing; past it: one round trip */
    w.store.now += 999;
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "");
    end(&w);
    w.store.now += 1;
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 ok");
    CHECK_INT(tl_op_round_trips(&w.load.op), 1);
    end(&w);
    close_world(&w);
}


/* ---- what a table holds, against what the committing Timelake process knew ---- */

static int64_t int_of(const tl_json *t, const tl_json_node *object, const char *name, int64_t absent)
{
    int64_t v = absent;
    const tl_json_node *node = tl_json_member(t, object, tl_text(name));
    if (tl_json_present(node))
        CHECK_INT(tl_json_int64(t, node, &v, NULL), TL_OK);
    return v;
}

/* A statistic of the expected file: map `name`, key `id`; NULL when it is not there. */
static const tl_json_node *stat_of(const tl_json *t, const tl_json_node *file, const char *name, int32_t id)
{
    char key[16];
    snprintf(key, sizeof key, "%d", (int)id);
    return tl_json_member(t, tl_json_member(t, file, tl_text(name)), tl_text(key));
}

static void check_count(const tl_json *t, const tl_json_node *file, const char *name, const tl_column *c, uint64_t got,
                        int has)
{
    const tl_json_node *want = stat_of(t, file, name, c->field_id);
    int64_t n = 0;
    CHECK_INT(has, tl_json_present(want));
    if (tl_json_present(want) && tl_json_int64(t, want, &n, NULL) == TL_OK)
        CHECK_INT(got, n);
}

static void check_bound(const tl_json *t, const tl_json_node *file, const char *name, const tl_column *c, tl_span got)
{
    const tl_json_node *want = stat_of(t, file, name, c->field_id);
    tl_span hex = {NULL, 0};
    static char text[4096];
    CHECK_INT(got.data != NULL, tl_json_present(want));
    if (!tl_json_present(want) || got.data == NULL)
        return;
    (void)tl_json_string(t, want, &hex, NULL);
    CHECK(got.size < sizeof text / 2);
    tli_number_hex(text, got.data, got.size);
    CHECK(hex.size == got.size * 2 && memcmp(hex.data, text, hex.size) == 0);
}

static size_t map_sizes(const tl_json *t, const tl_json_node *file)
{
    static const char *const maps[] = {"column_sizes", "value_counts", "null_counts", "nan_counts", "lower_bounds",
                                       "upper_bounds"};
    size_t i, n = 0;
    for (i = 0; i < 6; i++) {
        const tl_json_node *map = tl_json_member(t, file, tl_text(maps[i]));
        n += map == NULL ? 0 : map->count;
    }
    return n;
}

static void check_columns(const tl_json *t, const tl_json_node *want, const tl_columns *columns, size_t row)
{
    size_t i, values = 0;
    for (i = 0; i < columns->count; i++) {
        tl_column c;
        tl_columns_get(columns, i, &c);
        if (c.file != row)
            continue;
        check_count(t, want, "column_sizes", &c, c.size, c.has_size);
        check_count(t, want, "value_counts", &c, c.values, c.has_values);
        check_count(t, want, "null_counts", &c, c.nulls, c.has_nulls);
        check_count(t, want, "nan_counts", &c, c.nans, c.has_nans);
        check_bound(t, want, "lower_bounds", &c, c.lower);
        check_bound(t, want, "upper_bounds", &c, c.upper);
        values += (size_t)(c.has_size + c.has_values + c.has_nulls + c.has_nans + (c.lower.data != NULL)
                           + (c.upper.data != NULL));
    }
    CHECK_INT(values, map_sizes(t, want));
}

static void check_splits(const tl_json *t, const tl_json_node *want, const tl_file *f)
{
    const tl_json_node *list = tl_json_member(t, want, tl_text("split_offsets")), *k;
    size_t i = 0;
    CHECK_INT(f->has_split_offsets, tl_json_present(list));
    if (!tl_json_present(list))
        return;
    CHECK_INT(f->split_count, list->count);
    for (k = tl_json_first(list); k != NULL && i < f->split_count; k = tl_json_next(list, k)) {
        int64_t v = 0;
        (void)tl_json_int64(t, k, &v, NULL);
        CHECK_INT(tl_file_split_offset(f, i++), v);
    }
}

static void check_file(const tl_json *t, const tl_json_node *want, const tl_files *files, const tl_columns *columns,
                       int with_status)
{
    tl_span path = {NULL, 0}, status = {NULL, 0};
    size_t i;
    tl_file f;
    (void)tl_json_string(t, tl_json_member(t, want, tl_text("path")), &path, NULL);
    (void)tl_json_string(t, tl_json_member(t, want, tl_text("status")), &status, NULL);
    for (i = 0; i < files->count; i++) {
        tl_files_get(files, i, &f);
        if (tl_span_equal(f.path, path))
            break;
    }
    if (!CHECK_INT(i < files->count, 1))
        return;
    CHECK_INT(f.size, int_of(t, want, "size", -1));
    CHECK_INT(f.records, int_of(t, want, "records", -1));
    CHECK_INT(f.has_partition ? f.partition : -99, int_of(t, want, "partition", -99));
    CHECK_INT(f.has_sort_order_id ? f.sort_order_id : -99, int_of(t, want, "sort_order_id", -99));
    CHECK_INT(f.snapshot_id, int_of(t, want, "snapshot_id", -1));
    CHECK_INT(f.sequence_number, int_of(t, want, "sequence_number", -1));
    CHECK_INT(f.file_sequence_number, int_of(t, want, "file_sequence_number", -1));
    if (with_status)
        CHECK_INT(f.added, tl_span_equal(status, tl_text("Added")));
    check_splits(t, want, &f);
    check_columns(t, want, columns, i);
}

static void check_table(tl_table *table, const char *name, int with_status)
{
    char path[256];
    size_t size;
    char *text;
    tl_json t;
    tl_error err;
    tl_files files;
    tl_columns columns;
    const tl_json_node *list, *k;
    snprintf(path, sizeof path, "tests/data/expected/%s.json", name);
    text = tl_test_read(path, &size);
    CHECK(text != NULL);
    if (text == NULL || !CHECK_STATUS(tl_json_parse(&t, text, size, NULL, NULL, &err), TL_OK, &err))
        return;
    CHECK_INT(table->version, int_of(&t, t.root, "version", -1));
    CHECK_INT(table->metadata.has_snapshot ? table->metadata.current_snapshot_id : -1,
              int_of(&t, t.root, "current_snapshot_id", -1));
    CHECK_STATUS(tl_head_files(&table->head, &files, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_columns(&table->head, TL_COLUMNS_ALL, &columns, &err), TL_OK, &err);
    list = tl_json_member(&t, t.root, tl_text("files"));
    CHECK_INT(files.count, list->count);
    for (k = tl_json_first(list); k != NULL; k = tl_json_next(list, k))
        check_file(&t, k, &files, &columns, with_status);
    tl_json_free(&t);
    free(text);
}

static void every_table_with_and_without_its_head(void)
{
    size_t i;
    int without;
    for (i = 0; i < WAREHOUSE_TABLES; i++)
        for (without = 0; without < 2; without++) {
            tl_load_options o;
            world w;
            long before = tl_test_failures;
            memset(&o, 0, sizeof o);
            o.no_head = (uint8_t)without;
            open_world(&w, warehouse_tables[i], NULL, NULL);
            if (CHECK_STATUS(load(&w, &o), TL_OK, tl_op_error(&w.load.op)))
                check_table(w.load.table, warehouse_tables[i],
                            !(strcmp(warehouse_tables[i], "iot.many") == 0 && w.load.table->source == TL_FROM_CHAIN));
            CHECK_INT(tl_op_round_trips(&w.load.op), w.load.table->source == TL_FROM_HEAD ? 1
                      : w.load.table->metadata.has_snapshot ? 4 : 2);
            end(&w);
            close_world(&w);
            if (tl_test_failures != before)
                fprintf(stderr, "  in %s %s\n", warehouse_tables[i], without ? "without its head" : "");
        }
}

static const tl_test_case cases[] = {
    TL_TEST(cold_with_a_current_head),
    TL_TEST(every_table_with_and_without_its_head),
};
TL_TEST_MAIN(cases)
