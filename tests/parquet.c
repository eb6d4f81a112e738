/* Parquet footers: of the data files that Timelake wrote, an entry is made as Timelake itself recorded it; what not
   every reader of the table would read right is refused; hostile bytes are an error. Thrift values that files do not
   have are skipped. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"
#include "tl_commit.h"

/* A table in memory, and the data file of one of its entries. */
typedef struct example {
    cworld w;
    tl_table *table;
    char *bytes;
    size_t size;
} example;

static void example_begin(example *x, const char *name, int no_head)
{
    memset(x, 0, sizeof *x);
    cworld_begin(&x->w, name, NULL);
    x->table = cworld_load(&x->w.store, &x->w.lake, x->w.location, no_head);
    CHECK(x->table != NULL);
}

static void example_end(example *x)
{
    free(x->bytes);
    tl_table_drop(x->table);
    cworld_end(&x->w);
}

static int example_file(example *x, tl_span path)
{
    char name[512];
    const size_t scheme = sizeof "s3://demo-lake/wh" - 1;
    free(x->bytes);
    snprintf(name, sizeof name, WAREHOUSE "%.*s", (int)(path.size - scheme), path.data + scheme);
    x->bytes = tl_test_read(name, &x->size);
    CHECK(x->bytes != NULL);
    return x->bytes != NULL;
}

/* The statistics of file `i`, as the table has them, are those read from the footer: but NaNs, which only a writer can
   count. */
static void check_columns(const tl_parquet *p, const tl_metadata *table, const tl_columns *columns, size_t i)
{
    size_t k, n = 0, m;
    for (k = 0; k < columns->count; k++) {
        tl_column theirs;
        const tl_column *ours = NULL;
        tl_columns_get(columns, k, &theirs);
        if (theirs.file != i)
            continue;
        n++;
        for (m = 0; m < p->file.column_count; m++)
            if (p->file.columns[m].field_id == theirs.field_id)
                ours = &p->file.columns[m];
        theirs.has_nans = 0;
        theirs.nans = 0;
        if (theirs.field_id == 17 && tl_metadata_field_by_id(table, 17) == NULL) /* a list's: ours has no bounds */
            theirs.lower = theirs.upper = tli_text_span(NULL, 0);
        CHECK(ours != NULL && same_column(ours, &theirs));
    }
    CHECK_INT(p->file.column_count, n);
}

/* The footer that Timelake put into the head: the same indexes, and what it says is the same. */
static void check_footer(example *x, const tl_parquet *p, const tl_file *f)
{
    tl_footers footers;
    tl_parquet again;
    tl_parquet_options o;
    tl_error err;
    size_t i;
    memset(&o, 0, sizeof o);
    o.no_footer = 1;
    CHECK(p->file.footer.size > 12 && memcmp(p->file.footer.data + p->file.footer.size - 4, "PAR1", 4) == 0);
    CHECK_STATUS(tl_parquet_data_file(&again, &x->table->metadata, f->path, p->file.footer.data, p->file.footer.size,
                                      f->size, &o, &err), TL_OK, &err);
    CHECK_INT(again.file.column_count, p->file.column_count);
    tl_parquet_free(&again);
    if (tl_head_footers(&x->table->head, &footers, NULL) != TL_OK)
        return;
    for (i = 0; i < footers.count; i++) {
        tl_footer theirs;
        uint32_t meta;
        tl_footers_get(&footers, i, &theirs);
        if (!tl_span_equal(theirs.path, f->path))
            continue;
        meta = tli_bits_le32(theirs.footer.data + theirs.footer.size - 8);
        CHECK_BYTES(p->file.footer.data, theirs.footer.size - meta - 8, theirs.footer.data,
                    theirs.footer.size - meta - 8);
        CHECK_STATUS(tl_parquet_data_file(&again, &x->table->metadata, f->path, theirs.footer.data,
                                          theirs.footer.size, f->size, &o, &err), TL_OK, &err);
        CHECK_INT(again.file.file.records, p->file.file.records);
        CHECK_INT(again.file.column_count, p->file.column_count);
        tl_parquet_free(&again);
    }
}

static void check_entry(example *x, const tl_columns *columns, size_t i, const tl_file *f)
{
    tl_parquet p;
    tl_parquet_options o;
    tl_error err;
    tl_file ours;
    if (!example_file(x, f->path))
        return;
    memset(&o, 0, sizeof o);
    o.sorted = f->has_sort_order_id;
    CHECK_STATUS(tl_parquet_data_file(&p, &x->table->metadata, f->path, x->bytes, x->size, x->size, &o, &err), TL_OK,
                 &err);
    ours = p.file.file;
    ours.snapshot_id = f->snapshot_id;
    ours.sequence_number = f->sequence_number;
    ours.file_sequence_number = f->file_sequence_number;
    CHECK(same_file(&ours, f));
    check_columns(&p, &x->table->metadata, columns, i);
    check_footer(x, &p, f);
    CHECK(p.whole_footer > 8 && p.whole_footer < x->size);
    tl_parquet_free(&p);
}

static void entries_as_timelake_made_them(void)
{
    static const char *const tables[] = {"iot.trucks", "iot.hourly", "iot.monthly", "iot.types", "iot.compacted",
                                         "dim.devices"};
    size_t i, k, files_read = 0;
    int no_head;
    for (i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (no_head = 0; no_head < 2; no_head++) {
            example x;
            tl_files files;
            tl_columns columns;
            tl_file f;
            example_begin(&x, tables[i], no_head);
            CHECK_INT(tl_head_files(&x.table->head, &files, NULL), TL_OK);
            CHECK_INT(tl_head_columns(&x.table->head, TL_COLUMNS_ALL, &columns, NULL), TL_OK);
            for (k = 0; k < files.count; k++) {
                tl_files_get(&files, k, &f);
                check_entry(&x, &columns, k, &f);
                files_read++;
            }
            example_end(&x);
        }
    CHECK_INT(files_read, 60);
}

/* The first file of a table, at hand. */
static void first_of(example *x, const char *table, tl_file *f)
{
    tl_files files;
    example_begin(x, table, 0);
    CHECK_INT(tl_head_files(&x->table->head, &files, NULL), TL_OK);
    tl_files_get(&files, 0, f);
    CHECK(example_file(x, f->path));
}

static void tails(void)
{
    example x;
    tl_file f;
    tl_parquet p;
    tl_error err;
    size_t whole;
    first_of(&x, "iot.trucks", &f);
    CHECK_INT(tl_parquet_data_file(&p, &x.table->metadata, f.path, x.bytes + x.size - 8, 8, x.size, NULL, &err),
              TL_TRUNCATED);
    CHECK(err.need > 8 && err.need < x.size);
    tl_parquet_free(&p);
    whole = (size_t)err.need; /* without the indexes: an entry, no footer */
    CHECK_STATUS(tl_parquet_data_file(&p, &x.table->metadata, f.path, x.bytes + x.size - whole, whole, x.size, NULL,
                                      &err), TL_OK, &err);
    CHECK(p.file.footer.data == NULL && p.whole_footer > whole);
    CHECK_INT(p.file.file.records, f.records);
    CHECK_INT(p.file.file.has_sort_order_id, 0); /* nobody said that it is sorted */
    whole = (size_t)p.whole_footer;
    tl_parquet_free(&p);
    CHECK_INT(tl_parquet_data_file(&p, &x.table->metadata, f.path, x.bytes + x.size - whole, whole, x.size, NULL, NULL),
              TL_OK);
    CHECK(p.file.footer.data != NULL && p.file.footer.size <= whole);
    tl_parquet_free(&p);
    example_end(&x);
}

/* Refused for a table whose metadata says `to` where it said `from`, because of a column. */
static void refused(const char *table, const char *from, const char *to, const char *column, const char *why)
{
    example x;
    tl_file f;
    tl_parquet p;
    tl_error err;
    tl_metadata m;
    char text[16384];
    first_of(&x, table, &f);
    if (metadata_edited(&m, x.table, &text, from, to)) {
        CHECK_INT(tl_parquet_data_file(&p, &m, f.path, x.bytes, x.size, x.size, NULL, &err), TL_UNSUPPORTED);
        CHECK(strstr(err.text, why) != NULL);
        CHECK(tl_span_equal(p.column, tl_text(column)));
        tl_parquet_free(&p);
        tl_metadata_free(&m);
    }
    example_end(&x);
}

static void refusals(void)
{
    refused("iot.trucks", "\"name\":\"device\",\"required\":false,\"type\":\"int\"",
            "\"name\":\"device\",\"required\":false,\"type\":\"long\"", "device", "another type");
    refused("iot.trucks", "\"name\":\"device\",\"required\":false,\"type\":\"int\"",
            "\"name\":\"truck\",\"required\":false,\"type\":\"int\"", "device", "another name");
    refused("iot.trucks", "{\"id\":3,\"name\":\"site\",\"required\":false",
            "{\"id\":13,\"name\":\"site\",\"required\":false", "site", "does not have");
    refused("iot.trucks", "{\"id\":5,\"name\":\"_ingest_ts\"",
            "{\"id\":6,\"name\":\"required\",\"required\":true,\"type\":\"int\"},{\"id\":5,\"name\":\"_ingest_ts\"",
            "required", "required column is missing");
    refused("iot.trucks", "\"transform\":\"day\"", "\"transform\":\"year\"", "time_day", "neither hour, day nor month");
    refused("iot.compacted", "\"transform\":\"day\"", "\"transform\":\"hour\"", "time", "more than one partition");
}

/* What is nested in a column has to be the table's too. */
static void nested_refusals(void)
{
    refused("iot.types", "\"element\":\"int\"", "\"element\":\"long\"", "list", "another type");
    refused("iot.types", "\"element-id\":17", "\"element-id\":20", "list", "another field id");
    refused("iot.types", "{\"id\":18,\"name\":\"a\",\"required\":false,\"type\":\"int\"}",
            "{\"id\":18,\"name\":\"a\",\"required\":false,\"type\":\"date\"}", "a", "another type");
    refused("iot.types", "{\"id\":18,\"name\":\"a\"", "{\"id\":18,\"name\":\"b\"", "a", "another name");
    refused("iot.types", "{\"id\":18,\"name\":\"a\"", "{\"id\":28,\"name\":\"a\"", "a", "does not have");
    refused("iot.types", "{\"id\":18,\"name\":\"a\",\"required\":false",
            "{\"id\":18,\"name\":\"a\",\"required\":true", "a", "may hold nulls");
    refused("iot.types", "{\"id\":18,\"name\":\"a\"",
            "{\"id\":30,\"name\":\"c\",\"required\":true,\"type\":\"int\"},{\"id\":18,\"name\":\"a\"", "rec",
            "required column is missing");
    refused("iot.types", "\"type\":\"list\",\"element-id\":17,\"element-required\":false,\"element\":\"int\"",
            "\"type\":\"map\",\"key-id\":17,\"key\":\"int\",\"value-id\":20,\"value-required\":false,\"value\":\"int\"",
            "list", "a form that not all readers know");
}

/* Without a table a file says of itself what the table says of it. */
static void without_a_table(void)
{
    example x;
    tl_file f;
    tl_parquet own, p;
    tl_error err;
    size_t i;
    first_of(&x, "iot.types", &f);
    CHECK_STATUS(tl_parquet_data_file(&own, NULL, f.path, x.bytes, x.size, x.size, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_parquet_data_file(&p, &x.table->metadata, f.path, x.bytes, x.size, x.size, NULL, &err), TL_OK,
                 &err);
    CHECK(p.fields == NULL && p.field_count == 0 && p.row_groups == own.row_groups && own.row_groups > 0);
    CHECK_INT(own.field_count, x.table->metadata.field_count);
    for (i = 0; i < own.field_count; i++) {
        const tl_field *a = &own.fields[i], *b = tl_metadata_field_by_id(&x.table->metadata, a->id);
        CHECK(b != NULL && tl_span_equal(a->name, b->name) && a->type == b->type && a->required == b->required);
        CHECK(b != NULL && a->precision == b->precision && a->scale == b->scale);
    }
    CHECK_INT(own.file.column_count, p.file.column_count);
    for (i = 0; i < own.file.column_count; i++)
        CHECK(same_column(&own.file.columns[i], &p.file.columns[i]));
    CHECK(own.file.file.records == f.records && !own.file.file.has_partition && own.file.footer.data != NULL);
    tl_parquet_free(&p);
    tl_parquet_free(&own);
    example_end(&x);
}

/* Times round down to partitions, also before 1970: as Timelake's labels have it. */
static void partitions(void)
{
    static const struct {
        const char *time, *label;
    } table[] = {{"1970-01-01T00:00:00Z", "1970-01"}, {"1969-12-31T23:59:59.999999Z", "1969-12"},
                 {"2024-02-29T12:00:00Z", "2024-02"}, {"1600-03-01T00:00:00Z", "1600-03"},
                 {"9999-12-31T23:00:00Z", "9999-12"}, {"0001-01-01T00:00:00Z", "0001-01"}};
    size_t i;
    int64_t micros, month, v;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        CHECK(tli_time_parse_stamp(table[i].time, strlen(table[i].time), TL_UNIT_MICRO, tl_text("UTC"), &micros));
        month = (atoi(table[i].label) - 1970) * 12 + atoi(table[i].label + 5) - 1;
        CHECK_INT(tli_parquet_partition_of(TL_TRANSFORM_MONTH, micros), month);
    }
    for (v = -500000; v < 500000; v += 37) { /* the start of each month, and the microsecond before it */
        CHECK(tli_scan_partition_start(TL_TRANSFORM_MONTH, v, &micros));
        CHECK_INT(tli_parquet_partition_of(TL_TRANSFORM_MONTH, micros), v);
        CHECK_INT(tli_parquet_partition_of(TL_TRANSFORM_MONTH, micros - 1), v - 1);
    }
    CHECK_INT(tli_parquet_partition_of(TL_TRANSFORM_HOUR, -1), -1);
    CHECK_INT(tli_parquet_partition_of(TL_TRANSFORM_DAY, INT64_C(86399999999)), 0);
}

/* Decimals, however wide, come out minimal. */
static void decimals(void)
{
    static const struct {
        const char *value;
        size_t size;
        int little;
        const char *want;
        size_t want_size;
    } table[] = {{"\0\0\0\0", 4, 1, "\0", 1}, {"\x7f\0\0\0", 4, 1, "\x7f", 1}, {"\x80\0\0\0", 4, 1, "\0\x80", 2},
                 {"\xff\xff\xff\xff", 4, 1, "\xff", 1}, {"\x7f\xff\xff\xff\xff\xff\xff\xff", 8, 1, "\xff\x7f", 2},
                 {"\xff\xff\xff\x7f", 4, 0, "\xff\x7f", 2}, {"\0\0\1\0", 4, 0, "\1\0", 2}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint8_t out[16];
        tl_span v = tli_parquet_decimal(tli_text_span(table[i].value, table[i].size), table[i].little, out);
        CHECK_BYTES(v.data, v.size, table[i].want, table[i].want_size);
    }
}

/* Values of every type, nested, are skipped to their end; cut anywhere they are an error. */
static void thrift(void)
{
    static const uint8_t all[] = {
        0x1c, /* field 1: a struct */
        0x11, 0x12, 0x13, 0x7f, 0x14, 0x81, 0x01, 0x15, 0x02, 0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0x01, /* bools, byte, i16, i32, i64 */
        0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0x18, 3, 'a', 'b', 'c', /* double, binary */
        0x19, 0x21, 1, 2, 0x1a, 0x29, 0x15, 7, 0x15, 8, /* list of bools, set of lists */
        0x1b, 2, 0x8c, 1, 'k', 0x15, 2, 0, 1, 'l', 0, /* map of binary to struct */
        0x1b, 0, /* an empty map */
        0x1d, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, /* uuid */
        0, 0};
    size_t cut;
    for (cut = 0; cut <= sizeof all; cut++) {
        tli_thrift t;
        tli_thrift_field f = tli_parquet_first();
        int fields = 0;
        t.at = all;
        t.end = all + cut;
        t.bad = NULL;
        while (tli_thrift_next(&t, &f)) {
            CHECK_INT(f.id, 1);
            tli_thrift_skip(&t, f.type);
            fields++;
        }
        CHECK((t.bad == NULL) == (cut == sizeof all));
        CHECK(cut < sizeof all || (fields == 1 && t.at == t.end));
    }
}

static void hostile_bytes(void)
{
    example x;
    tl_file f;
    tl_parquet p;
    size_t i, n, good = 0;
    char *copy;
    first_of(&x, "iot.trucks", &f);
    n = 2000; /* the footer with its indexes is shorter */
    copy = (char *)malloc(n);
    for (i = 0; i < n * 3; i++) {
        static const char flips[] = {1, (char)0x80, (char)0xff};
        tl_status st;
        memcpy(copy, x.bytes + x.size - n, n);
        copy[i / 3] = (char)(copy[i / 3] ^ flips[i % 3]);
        st = tl_parquet_data_file(&p, &x.table->metadata, f.path, copy, n, x.size, NULL, NULL);
        CHECK(st == TL_OK || st == TL_CORRUPT || st == TL_UNSUPPORTED || st == TL_TRUNCATED);
        good += st == TL_OK;
        tl_parquet_free(&p);
    }
    CHECK(good > 0);
    free(copy);
    n = tli_bits_le32(x.bytes + x.size - 8);
    for (i = 0; i < n; i++) { /* cut, with a length that says so */
        copy = (char *)malloc(i + 8);
        memcpy(copy, x.bytes + x.size - 8 - n, i);
        tli_bits_put_le32(copy + i, (uint32_t)i);
        memcpy(copy + i + 4, "PAR1", 4);
        CHECK(tl_parquet_data_file(&p, &x.table->metadata, f.path, copy, i + 8, x.size, NULL, NULL) == TL_CORRUPT);
        tl_parquet_free(&p);
        free(copy);
    }
    example_end(&x);
}

static void *allocate_sevens(void *context, size_t size)
{
    void *p = malloc(size);
    (void)context;
    if (p != NULL)
        memset(p, '7', size);
    return p;
}

static void deallocate_sevens(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

/* Field ids are digits in metadata, with no zero behind them: what lies there in memory does not count. */
static void digits_end_where_they_end(void)
{
    example x;
    tl_file f;
    tl_parquet p;
    tl_parquet_options o;
    tl_error err;
    memset(&o, 0, sizeof o);
    o.allocator.allocate = allocate_sevens;
    o.allocator.deallocate = deallocate_sevens;
    first_of(&x, "iot.types", &f);
    CHECK_STATUS(tl_parquet_data_file(&p, &x.table->metadata, f.path, x.bytes, x.size, x.size, &o, &err), TL_OK, &err);
    tl_parquet_free(&p);
    example_end(&x);
}

static void every_allocation_failed_in_turn(void)
{
    example x;
    tl_file f;
    long at;
    int done = 0;
    first_of(&x, "iot.trucks", &f);
    for (at = 1; !done && at < 100; at++) {
        tl_test_memory memory;
        tl_parquet_options o;
        tl_parquet p;
        tl_status st;
        memset(&memory, 0, sizeof memory);
        memset(&o, 0, sizeof o);
        memory.fail_at = at;
        o.allocator = tl_test_allocator(&memory);
        st = tl_parquet_data_file(&p, &x.table->metadata, f.path, x.bytes, x.size, x.size, &o, NULL);
        done = memory.calls < at;
        CHECK_INT(st, done ? TL_OK : TL_NO_MEMORY);
        tl_parquet_free(&p);
        CHECK_INT(memory.live, 0);
    }
    CHECK(done && at > 2);
    example_end(&x);
}

static const tl_test_case cases[] = {
    TL_TEST(entries_as_timelake_made_them), TL_TEST(tails), TL_TEST(refusals), TL_TEST(nested_refusals),
    TL_TEST(without_a_table), TL_TEST(partitions), TL_TEST(decimals),
    TL_TEST(thrift), TL_TEST(hostile_bytes), TL_TEST(digits_end_where_they_end),
    TL_TEST(every_allocation_failed_in_turn),
};
TL_TEST_MAIN(cases)
