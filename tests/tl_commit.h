/* For tests: commits over a store in memory. Include after tl_warehouse.h. */
#ifndef TL_COMMIT_H
#define TL_COMMIT_H
#include "tl_compare.h"

typedef struct cworld {
    tl_mem store;
    tl_lake lake;
    tl_test_memory memory;
    tl_span location;
    char place[256];
} cworld;

static tl_index_codec cworld_index; /* of the lakes that are made from now on */

TL_TEST_FN void cworld_lake(tl_lake *lake, tl_test_memory *memory, uint8_t seed)
{
    tl_lake_options o;
    memset(&o, 0, sizeof o);
    memset(memory, 0, sizeof *memory);
    o.op.allocator = tl_test_allocator(memory);
    o.seed[0] = seed;
    o.seed[15] = 1;
    o.index = cworld_index;
    CHECK_INT(tl_lake_init(lake, &o), TL_OK);
}

TL_TEST_FN void cworld_begin(cworld *w, const char *table, const tl_mem_options *mo)
{
    memset(w, 0, sizeof *w);
    tl_mem_init(&w->store, mo);
    w->store.now = INT64_C(1800000000000);
    w->location = tl_text("s3://bucket/lake/t");
    if (table != NULL)
        w->location = warehouse_put(&w->store, table);
    snprintf(w->place, sizeof w->place, "%.*s", (int)w->location.size, w->location.data);
    w->location = tl_text(w->place);
    cworld_lake(&w->lake, &w->memory, 7);
}

TL_TEST_FN void cworld_end(cworld *w)
{
    tl_lake_free(&w->lake);
    tl_mem_free(&w->store);
    CHECK_INT(w->memory.live, 0);
}

/* The newest version, read by a lake of its own; NULL when there is none. The caller drops it before it ends the
   lake. */
TL_TEST_FN tl_table *cworld_load(tl_mem *store, tl_lake *lake, tl_span location, int no_head)
{
    tl_load load;
    tl_load_options o;
    tl_table *t = NULL;
    memset(&o, 0, sizeof o);
    o.max_age_ms = -1;
    o.no_head = (uint8_t)no_head;
    tl_load_begin(&load, lake, location, &o);
    if (tl_mem_run(store, &load.op) == TL_OK)
        t = tl_table_keep(load.table);
    else
        fprintf(stderr, "  %s: load: %s\n", tl_test_name, tl_op_error(&load.op)->text);
    CHECK_INT(tl_op_end(&load.op), TL_OK);
    return t;
}

TL_TEST_FN int same_text(tl_span a, tl_span b)
{
    return (a.data == NULL) == (b.data == NULL) && tl_span_equal(a, b);
}

TL_TEST_FN int same_file(const tl_file *x, const tl_file *y)
{
    size_t i;
    int same = x->size == y->size && x->records == y->records && x->snapshot_id == y->snapshot_id
               && x->sequence_number == y->sequence_number && x->file_sequence_number == y->file_sequence_number
               && x->has_partition == y->has_partition && (!x->has_partition || x->partition == y->partition)
               && x->has_sort_order_id == y->has_sort_order_id
               && (!x->has_sort_order_id || x->sort_order_id == y->sort_order_id)
               && x->has_split_offsets == y->has_split_offsets && x->split_count == y->split_count;
    for (i = 0; same && i < x->split_count; i++)
        same = tl_file_split_offset(x, i) == tl_file_split_offset(y, i);
    return same;
}

TL_TEST_FN int same_column(const tl_column *x, const tl_column *y)
{
    return same_text(x->lower, y->lower) && same_text(x->upper, y->upper) && x->has_values == y->has_values
           && x->values == y->values && x->has_nulls == y->has_nulls && x->nulls == y->nulls
           && x->has_nans == y->has_nans && x->nans == y->nans && x->has_size == y->has_size && x->size == y->size;
}

/* Two versions say the same of files and statistics, in whatever order. */
TL_TEST_FN int same_version(tl_table *a, tl_table *b)
{
    tl_files fa, fb;
    tl_columns ca, cb;
    size_t i, k, n, *at;
    tl_error err;
    int same = a->version == b->version && tl_head_files(&a->head, &fa, &err) == TL_OK
               && tl_head_files(&b->head, &fb, &err) == TL_OK && fa.count == fb.count
               && tl_head_columns(&a->head, TL_COLUMNS_ALL, &ca, &err) == TL_OK
               && tl_head_columns(&b->head, TL_COLUMNS_ALL, &cb, &err) == TL_OK && ca.count == cb.count;
    if (!same)
        return 0;
    at = (size_t *)malloc((fa.count + 1) * sizeof *at);
    for (i = 0; same && i < fa.count; i++) {
        tl_file x, y;
        tl_files_get(&fa, i, &x);
        for (k = 0, n = fb.count; k < fb.count; k++) {
            tl_files_get(&fb, k, &y);
            if (tl_span_equal(x.path, y.path) && same_file(&x, &y))
                n = k;
        }
        at[i] = n;
        same = n < fb.count;
    }
    for (i = 0; same && i < ca.count; i++) {
        tl_column x, y;
        tl_columns_get(&ca, i, &x);
        for (k = n = 0; k < cb.count && !n; k++) {
            tl_columns_get(&cb, k, &y);
            n = y.file == at[x.file] && y.field_id == x.field_id && same_column(&x, &y);
        }
        same = n != 0;
    }
    free(at);
    return same;
}

/* A data file to add: number `i`, with statistics of two columns and a body. */
typedef struct cfile {
    tl_data_file file;
    tl_column columns[2];
    int64_t splits[2];
    char path[300];
    char bounds[4][16];
    char body[64];
} cfile;

TL_TEST_FN void cfile_make(cfile *f, tl_span location, int partitioned, unsigned i)
{
    unsigned k;
    memset(f, 0, sizeof *f);
    snprintf(f->path, sizeof f->path, "%.*s/data/new-%u.parquet", (int)location.size, location.data, i);
    snprintf(f->body, sizeof f->body, "PAR1 not really, number %u", i);
    f->file.file.path = tl_text(f->path);
    f->file.body = tl_text(f->body);
    f->file.file.size = f->file.body.size;
    f->file.file.records = 10 + i;
    f->file.file.has_partition = (uint8_t)partitioned;
    f->file.file.partition = partitioned ? 20454 + (int32_t)i / 3 : 0;
    f->file.file.has_split_offsets = 1;
    f->splits[0] = 4;
    f->splits[1] = 20;
    f->file.file.split_offsets = f->splits;
    f->file.file.split_count = i % 3;
    f->file.columns = f->columns;
    f->file.column_count = 2;
    for (k = 0; k < 2; k++) {
        tl_column *c = &f->columns[k];
        c->field_id = (int32_t)k + 1;
        c->has_values = c->has_nulls = c->has_size = 1;
        c->values = 10 + i;
        c->nulls = k * i % 4;
        c->size = 20 + k;
        memset(f->bounds[k], (int)k + 1, 8);
        memset(f->bounds[k + 2], (int)k + 2 + (int)i % 100, 8);
        c->lower.data = f->bounds[k];
        c->upper.data = f->bounds[k + 2];
        c->lower.size = c->upper.size = 8;
    }
}

/* Appends one such file; it stays as long as the change. */
TL_TEST_FN tl_change cappend(cfile *f, tl_span location, int partitioned, unsigned i)
{
    tl_change change;
    memset(&change, 0, sizeof change);
    cfile_make(f, location, partitioned, i);
    change.kind = TL_CHANGE_APPEND;
    change.added = &f->file;
    change.added_count = 1;
    return change;
}

/* Commits on top of `*base`, which becomes the new version. */
TL_TEST_FN tl_status commit_on(cworld *w, tl_table **base, const tl_change *change)
{
    tl_commit c;
    tl_status st;
    tl_commit_begin(&c, &w->lake, *base, change);
    st = tl_mem_run(&w->store, &c.op);
    if (st == TL_OK) {
        tl_table_drop(*base);
        *base = tl_table_keep(c.table);
    } else {
        fprintf(stderr, "  %s: commit: %s: %s\n", tl_test_name, tl_status_text(st), tl_op_error(&c.op)->text);
    }
    CHECK_INT(tl_op_end(&c.op), TL_OK);
    return st;
}

TL_TEST_FN void publish_head(cworld *w, tl_table *t, int written)
{
    tl_publish p;
    tl_publish_begin(&p, &w->lake, t);
    CHECK_INT(tl_mem_run(&w->store, &p.op), TL_OK);
    if (!CHECK_INT(p.head_written, written))
        fprintf(stderr, "  %s\n", p.why_no_head.text == NULL ? "" : p.why_no_head.text);
    CHECK_INT(p.hint_written, 1);
    CHECK_INT(tl_op_end(&p.op), TL_OK);
}

/* Parses a table's metadata with `to` in the place of the first `from`; `text` holds it. */
TL_TEST_FN int metadata_edited(tl_metadata *m, const tl_table *t, char (*text)[16384], const char *from, const char *to)
{
    size_t size = t->metadata.json.size, skip;
    tl_error err;
    char *at;
    CHECK(size + strlen(to) < sizeof *text);
    memcpy(*text, t->metadata.json.text, size);
    (*text)[size] = 0;
    at = strstr(*text, from);
    CHECK(at != NULL);
    if (at == NULL)
        return 0;
    skip = (size_t)(at - *text) + strlen(from);
    memcpy(at, to, strlen(to));
    memcpy(at + strlen(to), t->metadata.json.text + skip, size - skip);
    return CHECK_STATUS(tl_metadata_parse(m, *text, size + strlen(to) - strlen(from), NULL, NULL, &err), TL_OK, &err);
}

/* Both are the same rows; releases the second. */
TL_TEST_FN void check_same_rows(struct ArrowSchema *sa, struct ArrowArray *ra, struct ArrowSchema *sb,
                                struct ArrowArray *rb)
{
    CHECK(tl_compare_schemas(sa, sb) && tl_compare_arrays(sa, ra, sb, rb));
    if (tl_compare_why[0] != 0)
        fprintf(stderr, "  %s\n", tl_compare_why);
    rb->release(rb);
    sb->release(sb);
}

/* Both versions have the same index, or none; their rows, where both know them, are the same. */
TL_TEST_FN void check_same_index(tl_table *a, tl_table *b)
{
    struct ArrowSchema sa, sb;
    struct ArrowArray ra, rb;
    tl_error err;
    CHECK(same_text(a->metadata.last_value_index, b->metadata.last_value_index));
    if (tl_table_last_values(a, 0, &sa, &ra, &err) != TL_OK)
        return;
    if (CHECK_STATUS(tl_table_last_values(b, 0, &sb, &rb, &err), TL_OK, &err))
        check_same_rows(&sa, &ra, &sb, &rb);
    ra.release(&ra);
    sa.release(&sa);
}

/* What was committed is what others read, with and without the head. */
TL_TEST_FN void check_cold(cworld *w, tl_table *t)
{
    int no_head;
    for (no_head = 0; no_head < 2; no_head++) {
        tl_lake lake;
        tl_test_memory memory;
        tl_table *cold;
        cworld_lake(&lake, &memory, 9);
        cold = cworld_load(&w->store, &lake, w->location, no_head);
        CHECK(cold != NULL);
        if (cold != NULL) {
            CHECK_INT(cold->source, no_head ? TL_FROM_CHAIN : TL_FROM_HEAD);
            CHECK(same_version(cold, t));
            check_same_index(cold, t);
            CHECK_BYTES(cold->metadata.json.text, cold->metadata.json.size, t->metadata.json.text,
                        t->metadata.json.size);
        }
        tl_table_drop(cold);
        tl_lake_free(&lake);
        CHECK_INT(memory.live, 0);
    }
}

/* ---- rows for the last-value index ---- */

/* Rows of a table's columns. */
typedef struct crows {
    tli_store *store;
    struct ArrowSchema schema;
    struct ArrowArray *array;
    const struct ArrowArray *batch;
    tl_rows rows;
} crows;

/* A value of row `row`: times rise, numbers and texts come back every fifth row, what is nested is null. */
TL_TEST_FN void crows_put(tli_build_node *n, int fill, int64_t row)
{
    char text[24];
    double d = (double)row;
    snprintf(text, sizeof text, "d%d", (int)(row % 5));
    if (n->layout > TLI_ARROW_LARGE_BYTES || n->type.width == 16 || n->type.id == TL_TYPE_FIXED_BINARY) {
        if (fill)
            tli_build_null(n);
        else
            tli_build_count_null(n);
    } else if (tli_arrow_offset_width(n->layout) != 0) {
        if (fill)
            tli_build_bytes(n, text, strlen(text));
        else
            tli_build_count_bytes(n, strlen(text));
    } else if (!fill) {
        tli_build_count(n);
    } else if (n->layout == TLI_ARROW_BITS) {
        tli_build_bool(n, row % 2 == 0);
    } else if (n->type.id == TL_TYPE_TIMESTAMP) {
        tli_build_integer(n, (INT64_C(1767225600) + row) * 1000000);
    } else if (n->type.id == TL_TYPE_FLOAT64) {
        tli_build_fixed(n, &d);
    } else {
        tli_build_integer(n, row % 5);
    }
}

TL_TEST_FN void crows_make(crows *r, const tl_metadata *m, int64_t first, int64_t count)
{
    tli_build_tree *b = NULL;
    tl_error err;
    int64_t row;
    uint32_t k;
    int fill;
    memset(r, 0, sizeof *r);
    r->store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
    CHECK_STATUS(tl_metadata_schema(m, &r->schema, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tli_build_begin(r->store, &r->schema, NULL, &b, &err), TL_OK, &err);
    for (fill = 0; fill < 2; fill++) {
        for (row = first; row < first + count; row++) {
            for (k = 1; k < b->nodes->span; k += b->nodes[k].span)
                crows_put(b->nodes + k, fill, row);
            if (fill)
                tli_build_end(b->nodes);
            else
                tli_build_count(b->nodes);
        }
        if (fill == 0)
            CHECK_STATUS(tli_build_allocate(b, &err), TL_OK, &err);
    }
    CHECK_STATUS(tli_build_finish(b, &r->array, &err), TL_OK, &err);
    r->batch = r->array;
    r->rows.schema = &r->schema;
    r->rows.batches = &r->batch;
    r->rows.count = 1;
}

TL_TEST_FN void crows_drop(crows *r)
{
    if (r->schema.release != NULL)
        r->schema.release(&r->schema);
    tli_mem_store_drop(r->store);
    memset(r, 0, sizeof *r);
}

/* An index file that is an Arrow stream: a codec of the caller's that reads what it writes. */
TL_TEST_FN tl_status cindex_encode(void *context, tl_buffer *out, const struct ArrowSchema *schema,
                                   const struct ArrowArray *rows, tl_error *err)
{
    tl_document d;
    tl_status st;
    memset(&d, 0, sizeof d);
    d.allocator = out->allocator;
    ++*(int *)context;
    st = tl_document_add(&d, tl_text("rows"), schema, &rows, 1, err);
    if (st == TL_OK)
        st = tl_ipc_encode(out, &d.sections[0], NULL, err);
    tl_document_free(&d);
    return st;
}

TL_TEST_FN tl_status cindex_decode(void *context, struct ArrowSchema *schema, struct ArrowArray *rows,
                                   const void *bytes, size_t size, tl_error *err)
{
    tl_document d;
    tl_status st = tl_ipc_decode(&d, bytes, size, NULL, err);
    ++*(int *)context;
    if (st != TL_OK)
        return st;
    st = tl_section_export(&d.sections[0], 0, schema, rows, err);
    tl_document_free(&d);
    return st;
}

/* Lakes from now on have that codec, or none of their own. */
TL_TEST_FN void cindex_use(int *calls)
{
    memset(&cworld_index, 0, sizeof cworld_index);
    if (calls == NULL)
        return;
    cworld_index.context = calls;
    cworld_index.encode = cindex_encode;
    cworld_index.decode = cindex_decode;
}

/* ---- what must hold of a store whatever happened ---- */

/* A version, read by its own objects. */
typedef struct cversion {
    int there;
    int64_t snapshot_id; /* -1: none */
    size_t files;
    unsigned broken;  /* objects that it names and that are not there; of data files only those of tests */
    unsigned live[3]; /* how often each watched path is */
} cversion;

/* The object is named by a version. 0: it is not there. */
TL_TEST_FN int census_mark(const tl_mem *store, tl_span key, uint8_t *named)
{
    const tl_mem_object *o = tl_mem_get(store, key);
    if (o == NULL)
        return 0;
    named[o - store->objects] = 1;
    return 1;
}

TL_TEST_FN void census_files(const tl_mem *store, const tl_metadata *m, const tli_iceberg_list *list,
                             const char *const *watched, unsigned count, uint8_t *named, cversion *v)
{
    tl_limits limits = tl_limits_resolve(NULL);
    tli_iceberg_files files;
    tl_error err;
    char text[400];
    uint32_t i;
    size_t k;
    CHECK_INT(tli_iceberg_begin(&files, m, &limits, NULL, &err), TL_OK);
    for (i = 0; i < list->count; i++) {
        const tl_mem_object *o = tl_mem_get(store, list->entries[i].path);
        v->broken += !census_mark(store, list->entries[i].path, named);
        if (o != NULL)
            CHECK_STATUS(tli_iceberg_add(&files, &list->entries[i], o->data, o->size, &err), TL_OK, &err);
    }
    v->files = files.file_count;
    for (k = 0; k < files.file_count; k++) {
        tl_span path = files.files[k].path;
        for (i = 0; i < count; i++)
            v->live[i] += (unsigned)tl_span_equal(path, tl_text(watched[i]));
        snprintf(text, sizeof text, "%.*s", (int)path.size, path.data);
        v->broken += !census_mark(store, path, named) && strstr(text, "/data/new-") != NULL;
    }
    tli_iceberg_end(&files);
}

TL_TEST_FN cversion census_version(const tl_mem *store, tl_span location, uint64_t version,
                                   const char *const *watched, unsigned count, uint8_t *named)
{
    char name[64];
    cversion v;
    tl_limits limits = tl_limits_resolve(NULL);
    tli_iceberg_list list;
    tl_metadata m;
    tl_error err;
    const tl_mem_object *o;
    memset(&v, 0, sizeof v);
    snprintf(name, sizeof name, "v%u.metadata.json", (unsigned)version);
    o = tl_mem_get(store, warehouse_key(location, name));
    if (o == NULL
        || !CHECK_STATUS(tl_metadata_parse(&m, (const char *)o->data, o->size, NULL, NULL, &err), TL_OK, &err))
        return v;
    v.there = 1;
    v.snapshot_id = m.has_snapshot ? m.current_snapshot_id : -1;
    v.broken += m.has_snapshot && !census_mark(store, m.manifest_list, named);
    v.broken += m.last_value_index.data != NULL && !census_mark(store, m.last_value_index, named);
    o = m.has_snapshot ? tl_mem_get(store, m.manifest_list) : NULL;
    if (o != NULL && tli_iceberg_read_list(&list, o->data, o->size, &limits, NULL, &err) == TL_OK) {
        census_files(store, &m, &list, watched, count, named, &v);
        tli_iceberg_free_list(&list);
    }
    tl_metadata_free(&m);
    return v;
}

/* Manifests, lists, indexes and data files that no version names. */
TL_TEST_FN unsigned census_orphans(const tl_mem *store, const uint8_t *named)
{
    unsigned n = 0;
    size_t i;
    for (i = 0; i < store->count; i++)
        n += !named[i] && (strstr(store->objects[i].key, ".avro") != NULL
                           || strstr(store->objects[i].key, "/lvi-") != NULL
                           || strstr(store->objects[i].key, "/data/") != NULL);
    return n;
}

/* All versions. */
typedef struct census {
    uint64_t newest; /* version */
    unsigned broken;
    unsigned present; /* how often the watched path is live in the newest version */
    unsigned ever;    /* versions in which it is live */
    unsigned gaps;    /* versions missing below the newest */
    unsigned doubled; /* versions that have it more than once */
    unsigned orphans;
} census;

TL_TEST_FN census take_census(const tl_mem *store, tl_span location, const char *watched)
{
    census n;
    uint64_t i;
    uint8_t *named = (uint8_t *)calloc(store->count + 1, 1);
    memset(&n, 0, sizeof n);
    for (i = 1; i < 70; i++) {
        cversion v = census_version(store, location, i, &watched, 1, named);
        if (!v.there)
            continue;
        n.gaps += n.newest != 0 && i != n.newest + 1;
        n.newest = i;
        n.broken += v.broken;
        n.present = v.live[0];
        n.ever += v.live[0] != 0;
        n.doubled += v.live[0] > 1;
    }
    n.orphans = census_orphans(store, named);
    free(named);
    return n;
}
#endif
