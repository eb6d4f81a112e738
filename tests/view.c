/* The typed views against what the committing Timelake knew, and the writer. */
#include "tl_test.h"
#include "tl_compare.h"
#include "tl_heads.h"
#ifdef TL_HAVE_ZSTD
#include <zstd.h>
#endif

static const char *const tables[] = {
    "dim.devices", "iot.budget_0", "iot.budget_3000", "iot.budget_9000", "iot.compacted", "iot.created", "iot.hourly",
    "iot.many", "iot.monthly", "iot.props", "iot.stale", "iot.trucks", "iot.trucks_json", "iot.types"};
#define TABLES (sizeof tables / sizeof tables[0])

static char *load(const char *table, tl_head *head)
{
    char path[256], *bytes;
    size_t size;
    tl_error err;
    memset(head, 0, sizeof *head);
    snprintf(path, sizeof path, "tests/data/lake/%s.head", table);
    bytes = tl_test_read(path, &size);
    CHECK(bytes != NULL);
    CHECK_STATUS(tl_head_decode(head, bytes, size, NULL, &err), TL_OK, &err);
    return bytes;
}

static int find_file(const tl_files *files, tl_span path, size_t *row, tl_file *f)
{
    for (*row = 0; *row < files->count; ++*row) {
        tl_files_get(files, *row, f);
        if (tl_span_equal(f->path, path))
            return 1;
    }
    return 0;
}

/* A statistic of column `id` in one of the file's maps. */
static const tl_json_node *statistic(const tl_test_json *json, const tl_json_node *file, const char *map, int id)
{
    char key[16];
    snprintf(key, sizeof key, "%d", id);
    return tl_heads_get(json, tl_heads_get(json, file, map), key);
}

static void same_count(const tl_test_json *json, const tl_json_node *want, int has, uint64_t v, const char *what)
{
    char text[32] = "null";
    if (has)
        snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    tl_heads_same_raw(want != NULL ? tl_json_raw(&json->tree, want) : tl_text("null"), text, what);
}

static void same_bound(const tl_test_json *json, const tl_json_node *want, tl_span v, const char *what)
{
    char text[4096] = "null";
    size_t i;
    if (v.data != NULL && v.size < 2000) {
        text[0] = '"';
        for (i = 0; i < v.size; i++)
            snprintf(text + 1 + 2 * i, 3, "%02x", (unsigned)(unsigned char)v.data[i]);
        strcpy(text + 1 + 2 * i, "\"");
    }
    tl_heads_same_raw(want != NULL ? tl_json_raw(&json->tree, want) : tl_text("null"), text, what);
}

/* All rows of `columns` of one file. Returns how many there are. */
static size_t check_statistics(const tl_test_json *json, const tl_json_node *want, const tl_columns *columns,
                               size_t row)
{
    size_t i, seen = 0, values = 0;
    tl_column c;
    int last = -1;
    for (i = 0; i < columns->count; i++) {
        tl_columns_get(columns, i, &c);
        if (c.file != row)
            continue;
        CHECK(c.field_id > last);
        last = c.field_id;
        seen++;
        values += c.has_values;
        same_bound(json, statistic(json, want, "lower_bounds", c.field_id), c.lower, "lower");
        same_bound(json, statistic(json, want, "upper_bounds", c.field_id), c.upper, "upper");
        same_count(json, statistic(json, want, "value_counts", c.field_id), c.has_values, c.values, "values");
        same_count(json, statistic(json, want, "null_counts", c.field_id), c.has_nulls, c.nulls, "nulls");
        same_count(json, statistic(json, want, "nan_counts", c.field_id), c.has_nans, c.nans, "nans");
        same_count(json, statistic(json, want, "column_sizes", c.field_id), c.has_size, c.size, "size");
    }
    CHECK_INT(values, tl_heads_get(json, want, "value_counts")->count);
    return seen;
}

static void lake(void)
{
    size_t t;
    for (t = 0; t < TABLES; t++) {
        char path[256], *bytes;
        tl_test_json json;
        const tl_json_node *list, *want;
        tl_head head;
        tl_files files;
        tl_columns columns;
        tl_error err;
        size_t n = 0, statistics = 0;
        int stale = strcmp(tables[t], "iot.stale") == 0;
        bytes = load(tables[t], &head);
        snprintf(path, sizeof path, "tests/data/expected/%s.json", tables[t]);
        if (!tl_heads_json(path, &json))
            return;
        CHECK_STATUS(tl_head_files(&head, &files, &err), TL_OK, &err);
        CHECK_STATUS(tl_head_columns(&head, TL_COLUMNS_ALL, &columns, &err), TL_OK, &err);
        CHECK_INT(head.version, stale ? 4 : tl_heads_int(&json, json.tree.root, "version"));
        list = tl_heads_get(&json, json.tree.root, "files");
        for (want = tl_json_first(list); want != NULL; want = tl_json_next(list, want)) {
            tl_file f;
            tl_span p;
            size_t row;
            if (stale && tl_heads_int(&json, want, "sequence_number") > 3)
                continue; /* that head describes version 4: three appends */
            CHECK(tl_json_string(&json.tree, tl_heads_get(&json, want, "path"), &p, NULL) == TL_OK);
            if (!find_file(&files, p, &row, &f)) {
                CHECK_TEXT("not found", 9, "found");
                continue;
            }
            n++;
            tl_heads_same_u64(&json, want, "size", 1, f.size);
            tl_heads_same_u64(&json, want, "records", 1, f.records);
            tl_heads_same_i64(&json, want, "partition", f.has_partition, f.partition);
            tl_heads_same_i64(&json, want, "sort_order_id", f.has_sort_order_id, f.sort_order_id);
            tl_heads_same_i64(&json, want, "snapshot_id", 1, f.snapshot_id);
            tl_heads_same_i64(&json, want, "sequence_number", 1, f.sequence_number);
            tl_heads_same_i64(&json, want, "file_sequence_number", 1, f.file_sequence_number);
            tl_heads_same_splits(&json, want, &f);
            statistics += check_statistics(&json, want, &columns, row);
        }
        CHECK_INT(files.count, n);
        CHECK_INT(columns.count, statistics);
        tl_head_free(&head);
        tl_heads_json_free(&json);
        free(bytes);
    }
}

/* The metadata is the table's vN.metadata.json; footers name files of the head and end as Parquet files end. */
static void other_sections(void)
{
    size_t t;
    for (t = 0; t < TABLES; t++) {
        tl_head head;
        tl_files files;
        tl_footers footers;
        tl_section *last;
        tl_span metadata;
        tl_json tree;
        tl_error err;
        char *bytes = load(tables[t], &head);
        CHECK_STATUS(tl_head_metadata(&head, &metadata, &err), TL_OK, &err);
        if (CHECK_STATUS(tl_json_parse(&tree, metadata.data, metadata.size, NULL, NULL, &err), TL_OK, &err)) {
            CHECK(tl_json_member(&tree, tree.root, tl_text("location")) != NULL);
            tl_json_free(&tree);
        }
        CHECK_STATUS(tl_head_files(&head, &files, &err), TL_OK, &err);
        if (tl_document_section(&head.document, tl_text("footers")) == NULL) {
            CHECK_STATUS(tl_head_footers(&head, &footers, &err), TL_ABSENT, &err);
        } else {
            size_t i, row;
            CHECK_STATUS(tl_head_footers(&head, &footers, &err), TL_OK, &err);
            CHECK(footers.count > 0 && footers.count <= files.count);
            for (i = 0; i < footers.count; i++) {
                tl_footer f;
                tl_file file;
                tl_footers_get(&footers, i, &f);
                CHECK(find_file(&files, f.path, &row, &file));
                CHECK(f.footer.size > 12 && memcmp(f.footer.data + f.footer.size - 4, "PAR1", 4) == 0);
            }
        }
        if (tl_document_section(&head.document, tl_text("last_values")) == NULL)
            CHECK_STATUS(tl_head_last_values(&head, &last, &err), TL_ABSENT, &err);
        else if (CHECK_STATUS(tl_head_last_values(&head, &last, &err), TL_OK, &err))
            CHECK(last->rows > 0
                  && tl_schema_metadata(last->schema->children[0], tl_text("PARQUET:field_id")).size > 0);
        tl_head_free(&head);
        free(bytes);
    }
}

/* Columns open by group, in one view; past the end is zeroed. */
static void open_to_plan(void)
{
    tl_head head;
    tl_columns bounds, none, all;
    tl_files files, again;
    tl_column c;
    tl_file f;
    tl_error err;
    char *bytes = load("iot.trucks", &head);
    CHECK_STATUS(tl_head_columns(&head, 0, &none, &err), TL_OK, &err);
    tl_columns_get(&none, 0, &c);
    CHECK(c.field_id == 1 && c.lower.data == NULL && !c.has_values);
    CHECK_STATUS(tl_head_columns(&head, TL_COLUMNS_BOUNDS, &bounds, &err), TL_OK, &err);
    tl_columns_get(&bounds, 0, &c);
    CHECK(c.lower.size == 8 && c.upper.size == 8 && !c.has_values && !c.has_size);
    CHECK(bounds.view == none.view && bounds.count == 30);
    CHECK_STATUS(tl_head_columns(&head, TL_COLUMNS_ALL, &all, &err), TL_OK, &err);
    tl_columns_get(&all, 0, &c);
    CHECK(c.has_values && c.values == 200 && c.lower.size == 8 && all.view == none.view);
    tl_columns_get(&all, 30, &c);
    CHECK(c.field_id == 0 && c.lower.data == NULL && !c.has_values);
    CHECK_STATUS(tl_head_columns(&head, 4, &all, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_head_files(&head, &files, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_files(&head, &again, &err), TL_OK, &err);
    CHECK(files.view == again.view && files.count == 6);
    tl_files_get(&files, 6, &f);
    CHECK(f.path.data == NULL && f.size == 0);
    tl_files_get(&files, 0, &f);
    CHECK_INT(tl_file_split_offset(&f, 0), 4);
    CHECK_INT(tl_file_split_offset(&f, 1), 0);
    tl_head_free(&head);
    CHECK_STATUS(tl_head_files(&head, &files, &err), TL_LAYOUT, &err);
    free(bytes);
}

/* ---- writing ---- */

/* All that a head says, ready to be written anew. */
typedef struct parts_of {
    tl_head_parts parts;
    tl_file *files;
    tl_column *columns;
    tl_footer *footers;
    struct ArrowSchema schema;
    struct ArrowArray arrays[8];
    const struct ArrowArray *batches[8];
} parts_of;

static void take_parts(tl_head *head, parts_of *p)
{
    tl_files files;
    tl_columns columns;
    tl_footers footers;
    tl_section *last;
    tl_error err;
    size_t i;
    memset(p, 0, sizeof *p);
    CHECK_STATUS(tl_head_metadata(head, &p->parts.metadata, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_files(head, &files, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_columns(head, TL_COLUMNS_ALL, &columns, &err), TL_OK, &err);
    p->files = (tl_file *)malloc((files.count + 1) * sizeof *p->files);
    p->columns = (tl_column *)malloc((columns.count + 1) * sizeof *p->columns);
    for (i = 0; i < files.count; i++)
        tl_files_get(&files, i, &p->files[i]);
    for (i = 0; i < columns.count; i++)
        tl_columns_get(&columns, i, &p->columns[i]);
    p->parts.files = p->files;
    p->parts.file_count = files.count;
    p->parts.columns = p->columns;
    p->parts.column_count = columns.count;
    if (tl_head_footers(head, &footers, NULL) == TL_OK) {
        p->footers = (tl_footer *)malloc((footers.count + 1) * sizeof *p->footers);
        for (i = 0; i < footers.count; i++)
            tl_footers_get(&footers, i, &p->footers[i]);
        p->parts.footers = p->footers;
        p->parts.footer_count = footers.count;
    }
    if (tl_head_last_values(head, &last, NULL) == TL_OK) {
        int32_t b;
        CHECK(last->batch_count <= 8);
        for (b = 0; b < last->batch_count && b < 8; b++) {
            CHECK_STATUS(tl_section_export(last, b, b == 0 ? &p->schema : NULL, &p->arrays[b], &err), TL_OK, &err);
            p->batches[b] = &p->arrays[b];
        }
        p->parts.last_schema = &p->schema;
        p->parts.last_values = p->batches;
        p->parts.last_value_batches = b;
    }
    p->parts.inline_bytes = TL_HEAD_INLINE_BYTES;
}

static void free_parts(parts_of *p)
{
    int32_t b;
    for (b = 0; b < p->parts.last_value_batches; b++)
        p->arrays[b].release(&p->arrays[b]);
    if (p->schema.release != NULL)
        p->schema.release(&p->schema);
    free(p->files);
    free(p->columns);
    free(p->footers);
}

/* Each lake head written again says the same, in both codecs. */
static void write_again(void)
{
    static const char *const codecs[] = {"arrow", "json"};
    size_t t, k;
    for (t = 0; t < TABLES; t++)
        for (k = 0; k < 2; k++) {
            tl_head head, again;
            tl_buffer out;
            tl_head_written written;
            parts_of p;
            tl_error err;
            tl_status st;
            char *bytes = load(tables[t], &head);
            take_parts(&head, &p);
            memset(&out, 0, sizeof out);
            st = tl_head_write(&out, head.version, tl_text(codecs[k]), &p.parts, NULL, &written, &err);
            if (CHECK_STATUS(st, TL_OK, &err)
                && CHECK_STATUS(tl_head_decode(&again, out.data, out.size, NULL, &err), TL_OK, &err)) {
                CHECK(again.version == head.version);
                CHECK_INT(written.footers, p.parts.footer_count);
                CHECK_INT(written.last_values, p.parts.last_schema != NULL);
                CHECK_SAME(tl_compare_documents(&head.document, &again.document));
                tl_head_free(&again);
            }
            tl_buffer_free(&out);
            free_parts(&p);
            tl_head_free(&head);
            free(bytes);
        }
}

static tl_status write_with(const parts_of *p, const char *codec, const tl_head_options *o, uint64_t budget,
                            tl_head_written *written, size_t *size)
{
    tl_head_parts parts = p->parts;
    tl_buffer out;
    tl_error err;
    tl_status st;
    memset(&out, 0, sizeof out);
    parts.inline_bytes = budget;
    st = tl_head_write(&out, 5, tl_text(codec), &parts, o, written, &err);
    CHECK_STATUS(st, TL_OK, &err);
    *size = out.size;
    tl_buffer_free(&out);
    return st;
}

/* The index is in exactly from its cost on: the size with it minus the size without it. */
static void index_budget(void)
{
    static const char *const codecs[] = {"arrow", "json"};
    size_t k;
    for (k = 0; k < 2; k++) {
        tl_head head;
        tl_head_written written;
        parts_of p;
        size_t with, without, size;
        char *bytes = load("iot.budget_9000", &head);
        take_parts(&head, &p);
        p.parts.footer_count = 0;
        write_with(&p, codecs[k], NULL, 0, &written, &without);
        CHECK_INT(written.last_values, 0);
        write_with(&p, codecs[k], NULL, 1u << 20, &written, &with);
        CHECK_INT(written.last_values, 1);
        CHECK_INT(written.budget_left, (1u << 20) - (with - without));
        write_with(&p, codecs[k], NULL, with - without - 1, &written, &size);
        CHECK_INT(written.last_values, 0);
        CHECK_INT(written.budget_left, with - without - 1);
        CHECK_INT(size, without);
        write_with(&p, codecs[k], NULL, with - without, &written, &size);
        CHECK_INT(written.last_values, 1);
        CHECK_INT(written.budget_left, 0);
        CHECK_INT(size, with);
        free_parts(&p);
        tl_head_free(&head);
        free(bytes);
    }
}

#ifdef TL_HAVE_ZSTD
static size_t zstd_bound(void *context, size_t size)
{
    (void)context;
    return ZSTD_compressBound(size);
}

static tl_status zstd_compress(void *context, void *dst, size_t capacity, size_t *dst_size, const void *src,
                               size_t size)
{
    size_t n = ZSTD_compress(dst, capacity, src, size, 3);
    (void)context;
    if (ZSTD_isError(n))
        return TL_NO_MEMORY;
    *dst_size = n;
    return TL_OK;
}
#endif

/* Fills the footers a head lacks with zeros of the length of its first. */
static void invent_footers(parts_of *p)
{
    static char zeros[8192];
    tl_footer *all = (tl_footer *)malloc((p->parts.file_count + 1) * sizeof *all);
    size_t i, j, n = 0;
    CHECK(p->parts.footer_count > 0 && p->footers[0].footer.size < sizeof zeros);
    for (i = 0; i < p->parts.file_count; i++) {
        all[n].path = p->files[i].path;
        all[n].footer.data = zeros;
        all[n].footer.size = p->footers[0].footer.size;
        for (j = 0; j < p->parts.footer_count; j++)
            if (tl_span_equal(p->footers[j].path, all[n].path))
                all[n] = p->footers[j];
        n++;
    }
    free(p->footers);
    p->footers = all;
    p->parts.footers = all;
    p->parts.footer_count = n;
}

/* What Timelake put into the heads of tables with these budgets. It compresses, so that the cost of the index is only
   the same when we do; its cost of the index is 8 + 1672. */
static void budgets_of_timelake(void)
{
    static const struct {
        const char *table;
        uint64_t budget;
    } rows[] = {{"iot.budget_0", 0}, {"iot.budget_3000", 3000}, {"iot.budget_9000", 9000}};
    tl_head source;
    parts_of p;
    size_t i;
    char *bytes = load("iot.budget_9000", &source);
    take_parts(&source, &p);
    invent_footers(&p);
    CHECK_INT(p.parts.footer_count, 4);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tl_head head;
        tl_head_written written;
        tl_head_options o;
        tl_section *section;
        size_t size;
        char *theirs = load(rows[i].table, &head);
        int has_index = tl_document_section(&head.document, tl_text("last_values")) != NULL;
        size_t footers = 0;
        section = tl_document_section(&head.document, tl_text("footers"));
        if (section != NULL)
            footers = (size_t)section->rows;
        memset(&o, 0, sizeof o);
#ifdef TL_HAVE_ZSTD
        o.compression.bound = zstd_bound;
        o.compression.compress = zstd_compress;
#endif
        write_with(&p, "arrow", &o, rows[i].budget, &written, &size);
#ifdef TL_HAVE_ZSTD
        CHECK_INT(written.last_values, has_index);
        CHECK_INT(written.footers, footers);
#else
        if (rows[i].budget == 0)
            CHECK(!has_index && !written.last_values && footers == 0 && written.footers == 0);
#endif
        tl_head_free(&head);
        free(theirs);
    }
#ifndef TL_HAVE_ZSTD
    tl_test_skip("the budgets of compressed heads: no libzstd here");
#endif
    free_parts(&p);
    tl_head_free(&source);
    free(bytes);
}

/* Newest partition first, no partition last, path descending; up to the first that does not fit; unknown ones passed
   over. */
static void footer_order(void)
{
    static const char text[] = "0123456789012345678901234567890123456789";
    static const char *const order[] = {"c", "b", "a", "f", "e", "z", "y"}; /* 30, 30, 20, -5, -7, none, none */
    tl_file files[8];
    tl_footer footers[10];
    tl_head_parts parts;
    size_t i, budget;
    memset(&parts, 0, sizeof parts);
    memset(files, 0, sizeof files);
    files[0].path = tl_text("y");
    files[1].path = tl_text("a"), files[1].partition = 20;
    files[2].path = tl_text("e"), files[2].partition = -7;
    files[3].path = tl_text("b"), files[3].partition = 30;
    files[4].path = tl_text("z");
    files[5].path = tl_text("f"), files[5].partition = -5;
    files[6].path = tl_text("c"), files[6].partition = 30;
    files[7].path = tl_text("unknown"), files[7].partition = 31;
    for (i = 0; i < 8; i++)
        files[i].has_partition = i != 0 && i != 4;
    footers[0].path = files[6].path; /* not there, in front of its like that is */
    footers[0].footer = tl_text(NULL);
    for (i = 0; i < 7; i++) {
        footers[i + 1].path = files[i].path;
        footers[i + 1].footer.data = text;
        footers[i + 1].footer.size = 10 + i;
    }
    footers[8] = footers[1]; /* a second of one path is not looked at */
    footers[8].footer.size = 1;
    footers[9] = footers[1]; /* and one of a file that is not live */
    footers[9].path = tl_text("gone");
    parts.metadata = tl_text("{}");
    parts.files = files;
    parts.file_count = 8;
    parts.footers = footers;
    parts.footer_count = 10;
    for (budget = 0; budget < 100; budget++) {
        tl_buffer out;
        tl_head head;
        tl_head_written written;
        tl_footers view;
        tl_error err;
        size_t left = budget, n = 0;
        memset(&out, 0, sizeof out);
        memset(&view, 0, sizeof view);
        parts.inline_bytes = budget;
        CHECK_STATUS(tl_head_write(&out, 1, tl_text("arrow"), &parts, NULL, &written, &err), TL_OK, &err);
        CHECK_STATUS(tl_head_decode(&head, out.data, out.size, NULL, &err), TL_OK, &err);
        if (tl_head_footers(&head, &view, &err) != TL_OK)
            CHECK_INT(err.status, TL_ABSENT);
        for (n = 0; n < 7; n++) {
            tl_footer f;
            size_t k = 0;
            while (files[k].path.data[0] != order[n][0])
                k++;
            if (10 + k > left)
                break;
            left -= 10 + k;
            tl_footers_get(&view, n, &f);
            CHECK_TEXT(f.path.data, f.path.size, order[n]);
            CHECK_INT(f.footer.size, 10 + k);
        }
        CHECK_INT(view.count, n);
        CHECK_INT(written.footers, n);
        CHECK_INT(written.budget_left, left);
        tl_head_free(&head);
        tl_buffer_free(&out);
    }
}

static const uint64_t splits[] = {4, (uint64_t)1 << 62};

/* Three files with nulls and extremes, and forty statistics in no order. */
static void invent_parts(tl_head_parts *parts, tl_file *files, tl_column *columns)
{
    size_t i;
    memset(parts, 0, sizeof *parts);
    memset(files, 0, 3 * sizeof *files);
    memset(columns, 0, 40 * sizeof *columns);
    for (i = 0; i < 3; i++)
        files[i].path = tl_text(i == 0 ? "" : i == 1 ? "s3://b/\xc3\xa9" : "c");
    files[1].size = UINT64_MAX;
    files[1].snapshot_id = INT64_MIN;
    files[1].added = 1;
    files[1].has_split_offsets = files[2].has_split_offsets = 1;
    files[1].split_count = 2;
    files[1].split_offsets = splits;
    files[2].has_sort_order_id = 1;
    files[2].sort_order_id = INT32_MIN;
    for (i = 0; i < 40; i++) {
        columns[i].file = (uint32_t)(i * 7 % 3);
        columns[i].field_id = (int32_t)(i * 11 % 40) - 5;
        columns[i].has_nans = i % 2 == 0;
        columns[i].nans = UINT64_MAX - (uint64_t)columns[i].field_id;
        if (i % 3 == 0)
            columns[i].lower = tl_text(i % 6 == 0 ? "" : "bound");
    }
    parts->metadata = tl_text("{}");
    parts->files = files;
    parts->file_count = 3;
    parts->columns = columns;
    parts->column_count = 40;
}

static void check_order(const tl_columns *c, const tl_column *columns)
{
    tl_column now, before;
    size_t i, k;
    memset(&before, 0, sizeof before);
    for (i = 0; i < 40; i++) {
        tl_columns_get(c, i, &now);
        CHECK(i == 0 || before.file < now.file || (before.file == now.file && before.field_id < now.field_id));
        for (k = 0; columns[k].field_id != now.field_id;)
            k++;
        CHECK(now.file == columns[k].file && now.has_nans == columns[k].has_nans && !now.has_values);
        CHECK(!now.has_nans || now.nans == columns[k].nans);
        CHECK((now.lower.data != NULL) == (columns[k].lower.data != NULL));
        CHECK(tl_span_equal(now.lower, columns[k].lower));
        before = now;
    }
}

/* Statistics in any order are written by file, then field id; nulls and extremes come back. */
static void any_order(void)
{
    tl_file files[3], file;
    tl_column columns[40];
    tl_head_parts parts;
    tl_buffer out;
    tl_head head;
    tl_files f;
    tl_columns c;
    tl_error err;
    size_t i;
    memset(&out, 0, sizeof out);
    invent_parts(&parts, files, columns);
    CHECK_STATUS(tl_head_write(&out, 1, tl_text("arrow"), &parts, NULL, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_decode(&head, out.data, out.size, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_files(&head, &f, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_columns(&head, TL_COLUMNS_ALL, &c, &err), TL_OK, &err);
    for (i = 0; i < 3; i++) {
        tl_files_get(&f, i, &file);
        CHECK_BYTES(file.path.data, file.path.size, files[i].path.data, files[i].path.size);
        CHECK(file.size == files[i].size && file.snapshot_id == files[i].snapshot_id && file.added == files[i].added);
        CHECK(file.has_split_offsets == files[i].has_split_offsets && file.split_count == files[i].split_count);
        CHECK(tl_file_split_offset(&file, 1) == (i == 1 ? (int64_t)splits[1] : 0));
        CHECK(file.has_sort_order_id == (i == 2) && file.sort_order_id == files[i].sort_order_id);
    }
    CHECK_INT(c.count, 40);
    check_order(&c, columns);
    tl_head_free(&head);
    tl_buffer_free(&out);
}

/* What cannot be written, and leaves the output alone. */
static void refused_parts(void)
{
    tl_file files[3];
    tl_column columns[40];
    tl_head_parts parts;
    tl_buffer out;
    tl_error err;
    memset(&out, 0, sizeof out);
    CHECK(tli_mem_append(&out, "before", 6, NULL) == TL_OK);
    invent_parts(&parts, files, columns);
    columns[39].file = 3;
    CHECK_STATUS(tl_head_write(&out, 1, tl_text("arrow"), &parts, NULL, NULL, &err), TL_MISUSE, &err);
    columns[39].file = 0;
    files[2].path = tl_text(NULL);
    CHECK_STATUS(tl_head_write(&out, 1, tl_text("arrow"), &parts, NULL, NULL, &err), TL_MISUSE, &err);
    files[2].path = tl_text("\xe9");
    CHECK_STATUS(tl_head_write(&out, 1, tl_text("arrow"), &parts, NULL, NULL, &err), TL_MISUSE, &err);
    files[2].path = tl_text("c");
    CHECK_STATUS(tl_head_write(&out, 1, tl_text("none"), &parts, NULL, NULL, &err), TL_NO_CODEC, &err);
    parts.metadata = tl_text(NULL);
    CHECK_STATUS(tl_head_write(&out, 1, tl_text("arrow"), &parts, NULL, NULL, &err), TL_MISUSE, &err);
    CHECK_TEXT(out.data, out.size, "before");
    tl_buffer_free(&out);
}

/* Each allocation of writing fails in turn: `out` stays as it was. */
static void failing_allocations(void)
{
    static const char *const codecs[] = {"arrow", "json"};
    tl_head head;
    parts_of p;
    size_t k;
    char *bytes = load("iot.budget_9000", &head);
    take_parts(&head, &p);
    for (k = 0; k < 2; k++) {
        long at;
        for (at = 1;; at++) {
            tl_test_memory m;
            tl_buffer out;
            tl_error err;
            tl_status st;
            memset(&m, 0, sizeof m);
            memset(&out, 0, sizeof out);
            m.fail_at = at;
            out.allocator = tl_test_allocator(&m);
            st = tl_head_write(&out, 5, tl_text(codecs[k]), &p.parts, NULL, NULL, &err);
            if (m.calls < at) {
                CHECK_STATUS(st, TL_OK, &err);
                tl_buffer_free(&out);
                CHECK_INT(m.live, 0);
                break;
            }
            CHECK_STATUS(st, TL_NO_MEMORY, &err);
            CHECK_INT(out.size, 0);
            tl_buffer_free(&out);
            CHECK_INT(m.live, 0);
        }
        CHECK(at > 5);
    }
    free_parts(&p);
    tl_head_free(&head);
    free(bytes);
}

/* ---- heads that are not as layout 1 says ---- */

/* Encodes iot.trucks with one part changed, in json (where text can be changed), and looks what the views say. */
static tl_status changed(const char *from, const char *to, int what)
{
    tl_head head, other;
    tl_buffer out;
    tl_error err;
    tl_status st;
    tl_files files;
    tl_columns columns;
    tl_span metadata;
    char *bytes = load("iot.trucks", &head), *at, *text;
    size_t n = strlen(from), m = strlen(to), start;
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tl_head_encode(&out, 1, tl_text("json"), &head.document, NULL, &err), TL_OK, &err);
    text = (char *)malloc(out.size + m + 1);
    memcpy(text, out.data, out.size);
    text[out.size] = 0;
    at = strstr(text + 18, from);
    CHECK(at != NULL);
    start = at != NULL ? (size_t)(at - text) : 0;
    memmove(text + start + m, text + start + n, out.size - start - n + 1);
    memcpy(text + start, to, m);
    CHECK_STATUS(tl_head_decode(&other, text, out.size - n + m, NULL, &err), TL_OK, &err);
    st = what == 0 ? tl_head_files(&other, &files, &err)
                   : what == 1 ? tl_head_columns(&other, TL_COLUMNS_ALL, &columns, &err)
                               : tl_head_metadata(&other, &metadata, &err);
    tl_head_free(&other);
    tl_head_free(&head);
    tl_buffer_free(&out);
    free(text);
    free(bytes);
    return st;
}

static void broken_layouts(void)
{
    CHECK_INT(changed("\"name\":\"files\"", "\"name\":\"files\"", 0), TL_OK);
    CHECK_INT(changed("\"name\":\"files\"", "\"name\":\"filez\"", 0), TL_CORRUPT);
    CHECK_INT(changed("\"name\":\"files\"", "\"name\":\"filez\"", 1), TL_CORRUPT);
    CHECK_INT(changed("\"layout\":\"1\"", "\"layout\":\"2\"", 0), TL_LAYOUT);
    CHECK_INT(changed("\"layout\":\"1\"", "\"l\":\"1\"", 2), TL_LAYOUT);
    CHECK_INT(changed("\"name\":\"split_offsets\"", "\"name\":\"x\"", 0), TL_OK);
    CHECK_INT(changed("\"name\":\"partition\"", "\"name\":\"x\"", 0), TL_CORRUPT);
    CHECK_INT(changed("\"name\":\"nans\"", "\"name\":\"x\"", 1), TL_CORRUPT);
    CHECK_INT(changed("\"name\":\"metadata\"", "\"name\":\"x\"", 2), TL_CORRUPT);
    CHECK_INT(changed("\"UInt64\"", "\"Int64\"", 1), TL_CORRUPT);
    CHECK_INT(changed("\"file\":0", "\"file\":6", 1), TL_CORRUPT);
    CHECK_INT(changed("\"file\":0", "\"file\":5", 1), TL_OK);
}

static const tl_test_case cases[] = {
    TL_TEST(lake),         TL_TEST(other_sections), TL_TEST(open_to_plan), TL_TEST(write_again),
    TL_TEST(index_budget), TL_TEST(budgets_of_timelake), TL_TEST(footer_order), TL_TEST(any_order),
    TL_TEST(refused_parts),
    TL_TEST(failing_allocations), TL_TEST(broken_layouts),
};
TL_TEST_MAIN(cases)
