/* Parquet files that we write: their pages hold the arrays' values, their footers say what Timelake's own file of the
   same rows says. What pyarrow and DuckDB read of them: tests/interop/parquet_files.py. */
#include "tl_test.h"

#include "tl_compare.h"
#include "tl_table.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"
#include "tl_commit.h"

/* ---- a reader of pages as we write them ---- */

/* The fields of a page's header. */
static void page_header(tli_thrift *t, int64_t *rows, int64_t *size)
{
    tli_thrift_field f = tli_parquet_first();
    while (tli_thrift_next(t, &f)) {
        if (f.id == 5 && f.type == TLI_THRIFT_STRUCT) {
            tli_thrift_field of = tli_parquet_first();
            while (tli_thrift_next(t, &of)) {
                int64_t v = tli_thrift_int(t, &of, -1);
                CHECK_INT(v, of.id == 1 ? v : of.id == 2 ? 0 : 3);
                *rows = of.id == 1 ? v : *rows;
            }
        } else if (f.id == 3) {
            *size = tli_thrift_int(t, &f, -1);
        } else {
            tli_thrift_skip(t, f.type);
        }
    }
    CHECK(t->bad == NULL);
}

/* Is value `row` there? Levels are one run: of ones, or of bits. */
static int level(const uint8_t *levels, int64_t row)
{
    tli_thrift t;
    uint64_t run;
    t.at = levels;
    t.end = levels + 10;
    t.bad = NULL;
    run = tli_thrift_varint(&t);
    return run & 1 ? tli_bits_get(t.at, (uint64_t)row) : *t.at != 0;
}

/* The value of a column as the format wants it: integers of less than four bytes widened, decimals big-endian. */
static size_t plain(const tl_type *t, tl_span v, uint8_t *out)
{
    if (t->width == 16 && t->id == TL_TYPE_DECIMAL128) {
        size_t i;
        for (i = 0; i < 16; i++)
            out[i] = (uint8_t)v.data[TLI_BIG_ENDIAN ? i : 15 - i];
        return 16;
    }
    if (t->id == TL_TYPE_INT8 || t->id == TL_TYPE_UINT16) {
        tli_bits_put_le32(out, t->width == 2 ? tli_bits_u16(v.data) : (uint32_t)(int8_t)v.data[0]);
        return 4;
    }
    if (t->width == 4 || t->width == 8) {
        memcpy(out, v.data, v.size);
        if (TLI_BIG_ENDIAN)
            tli_ipcvalue_turn_all(out, v.size, (int)v.size, 1);
        return v.size;
    }
    return 0;
}

/* The pages of one column from `at` on hold what the array holds. */
static const uint8_t *check_pages(const uint8_t *at, const struct ArrowSchema *s, const struct ArrowArray *a,
                                  int64_t from, int64_t rows)
{
    int64_t row = 0, n = 0, size = 0, i;
    tl_type t;
    CHECK_INT(tl_type_of(s->dictionary != NULL ? s->dictionary : s, &t, NULL), TL_OK);
    while (row < rows) {
        const uint8_t *levels = NULL;
        uint32_t bit = 0;
        tli_thrift thrift;
        thrift.at = at;
        thrift.end = at + 100;
        thrift.bad = NULL;
        page_header(&thrift, &n, &size);
        at = thrift.at;
        if ((s->flags & ARROW_FLAG_NULLABLE) != 0) {
            levels = at + 4;
            at += 4 + tli_bits_le32(at);
        }
        for (i = 0; i < n; i++, row++) {
            const struct ArrowArray *values = a;
            int64_t k = from + row;
            uint8_t room[16];
            tl_span v;
            size_t width;
            int there = tli_arrow_valid(a, k);
            CHECK_INT(levels == NULL || level(levels, i), there);
            if (!there)
                continue;
            if (t.id == TL_TYPE_BOOL) {
                CHECK_INT(tli_bits_get(at, bit), tli_bits_get(a->buffers[1], (uint64_t)(k + a->offset)));
                bit++;
                continue;
            }
            if (a->dictionary != NULL) {
                k = (int64_t)tli_bits_u16((const uint8_t *)a->buffers[1] + 2 * (k + a->offset));
                values = a->dictionary;
            }
            v = tl_compare_bytes(&t, values, k);
            width = plain(&t, v, room);
            if (tli_arrow_layout_of(t.id) == TLI_ARROW_FIXED) {
                CHECK_BYTES(at, width != 0 ? width : v.size, width != 0 ? (const char *)room : v.data,
                            width != 0 ? width : v.size);
                at += width != 0 ? width : v.size;
            } else {
                CHECK_BYTES(at + 4, tli_bits_le32(at), v.data, v.size);
                at += 4 + tli_bits_le32(at);
            }
        }
        at += (bit + 7) / 8;
    }
    CHECK_INT(row, rows);
    return at;
}

/* ---- every layout ---- */

/* The columns of tl_table.h that a file holds, and its rows; columns are made required when told. */
static void table(tli_store *store, int64_t rows, struct ArrowSchema **schema, struct ArrowArray **array)
{
    static const char keep[] = "bcdefghijk";
    struct ArrowSchema *all = tl_table_schema(store);
    int64_t i, n = 0;
    tl_error err;
    for (i = 0; i < all->n_children; i++)
        if (strchr(keep, all->children[i]->name[0]) != NULL)
            all->children[n++] = all->children[i]; /* "dictionary" too */
    all->n_children = n;
    *schema = all;
    CHECK_STATUS(tl_table_array(store, all, 0, rows, array, &err), TL_OK, &err);
}

static void pages_hold_the_values(void)
{
    static const int64_t sizes[] = {1, 7, 100, 30000};
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tli_store *store = tli_mem_store_new(NULL, UINT64_MAX, NULL, 0, NULL, NULL, NULL);
        struct ArrowSchema *schema;
        struct ArrowArray *array;
        const struct ArrowArray *batches[3];
        struct ArrowArray slice;
        tl_buffer out;
        tl_span column;
        tl_error err;
        const uint8_t *at;
        int64_t c, from = sizes[i] / 3;
        memset(&out, 0, sizeof out);
        table(store, sizes[i], &schema, &array);
        slice = *array; /* a part, and nothing, in further batches */
        slice.offset = from;
        slice.length = sizes[i] - from;
        batches[0] = batches[1] = array;
        batches[2] = &slice;
        CHECK_STATUS(tl_parquet_write(&out, schema, batches, 1, &column, &err), TL_OK, &err);
        CHECK(out.size > 12 && memcmp(out.data, "PAR1", 4) == 0 && memcmp(out.data + out.size - 4, "PAR1", 4) == 0);
        out.size = 0;
        CHECK_STATUS(tl_parquet_write(&out, schema, batches, 3, NULL, NULL), TL_OK, NULL);
        at = out.data + 4;
        for (c = 0; c < 3 * schema->n_children; c++) {
            int64_t k = c % schema->n_children;
            int part = c >= 2 * schema->n_children;
            at = check_pages(at, schema->children[k], array->children[k], part ? from : 0,
                             part ? slice.length : sizes[i]);
        }
        CHECK(out.data + out.size - at == 8 + (long)tli_bits_le32(out.data + out.size - 8));
        tl_buffer_free(&out);
        tli_mem_store_drop(store);
    }
}

/* ---- the last values of real tables ---- */

/* The table as it is, but not partitioned: its newest rows are of many partitions. */
static tl_metadata unpartitioned(const tl_metadata *of)
{
    tl_metadata m = *of;
    m.partitioned = 0;
    return m;
}

static const tl_column *column_of(const tl_parquet *p, int32_t id)
{
    size_t i;
    for (i = 0; i < p->file.column_count; i++)
        if (p->file.columns[i].field_id == id)
            return &p->file.columns[i];
    return NULL;
}

/* The index file that Timelake wrote says the same of the same rows. Answers 0 when it is not at hand. */
static int check_theirs(const tl_table *t, const tl_metadata *m, const tl_parquet *ours)
{
    const size_t scheme = sizeof "s3://demo-lake" - 1;
    char path[1024];
    char *bytes;
    size_t size, i;
    tl_parquet theirs;
    tl_error err;
    tl_span index = t->metadata.last_value_index;
    snprintf(path, sizeof path, "fixtures/timelake/lake%.*s", (int)(index.size - scheme), index.data + scheme);
    bytes = tl_test_read(tl_test_shared(path), &size);
    if (bytes == NULL)
        return 0;
    CHECK_STATUS(tl_parquet_data_file(&theirs, m, index, bytes, size, size, NULL, &err), TL_OK, &err);
    CHECK_INT(ours->file.file.records, theirs.file.file.records);
    CHECK_INT(ours->file.column_count, theirs.file.column_count);
    for (i = 0; i < theirs.file.column_count; i++) {
        const tl_column *b = &theirs.file.columns[i], *a = column_of(ours, b->field_id);
        CHECK(a != NULL);
        if (a == NULL)
            continue;
        CHECK_INT(a->values, b->values);
        CHECK_INT(a->nulls, b->nulls);
        CHECK(same_text(a->lower, b->lower));
        CHECK(same_text(a->upper, b->upper));
    }
    tl_parquet_free(&theirs);
    free(bytes);
    return 1;
}

static void last_values_as_timelake_wrote_them(void)
{
    size_t i, written = 0, compared = 0;
    for (i = 0; i < WAREHOUSE_TABLES; i++) {
        cworld w;
        tl_table *t;
        struct ArrowSchema schema;
        struct ArrowArray array;
        const struct ArrowArray *batch = &array;
        tl_buffer out;
        tl_span column;
        tl_error err;
        tl_parquet p;
        tl_metadata m;
        memset(&out, 0, sizeof out);
        cworld_begin(&w, warehouse_tables[i], NULL);
        t = cworld_load(&w.store, &w.lake, w.location, 0);
        if (t != NULL && tl_table_last_values(t, 0, &schema, &array, &err) == TL_OK) {
            m = unpartitioned(&t->metadata);
            CHECK_STATUS(tl_parquet_write(&out, &schema, &batch, 1, &column, &err), TL_OK, &err);
            CHECK_STATUS(tl_parquet_data_file(&p, &m, tl_text("index"), out.data, out.size, out.size, NULL, &err),
                         TL_OK, &err);
            compared += (size_t)check_theirs(t, &m, &p);
            tl_parquet_free(&p);
            written++;
            tl_buffer_free(&out);
            schema.release(&schema);
            array.release(&array);
        }
        tl_table_drop(t);
        cworld_end(&w);
    }
    CHECK_INT(written, 10);
    if (compared == 0)
        tl_test_skip("no files of Timelake to compare with");
    else
        CHECK_INT(compared, written);
}

/* ---- what is not written ---- */

/* A decimal of 16 bytes that fits 8, as its two words. */
#define LOW(x) (TLI_BIG_ENDIAN ? 0 : (x))
#define HIGH(x) (TLI_BIG_ENDIAN ? (x) : 0)

/* A schema of one column, and an array of `length` values of it. */
typedef struct one {
    tli_store *store;
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    tl_buffer out;
    tl_span column;
    tl_error err;
} one;

static void one_begin(one *o, const char *format, int64_t flags, const void *values, int64_t length)
{
    tl_error err;
    memset(o, 0, sizeof *o);
    o->store = tli_mem_store_new(NULL, 1 << 20, NULL, 0, NULL, NULL, &err);
    o->schema = tli_arrow_schema_new(o->store, "+s", tl_text(""), 0, 1, &err);
    o->schema->children[0] = tli_arrow_schema_new(o->store, format, tl_text("c"), flags, 0, &err);
    o->array = tli_arrow_array_new(o->store, 1, 1, &err);
    o->array->children[0] = tli_arrow_array_new(o->store, 2, 0, &err);
    o->array->length = o->array->children[0]->length = length;
    o->array->children[0]->buffers[1] = values;
}

static tl_status one_write(one *o)
{
    const struct ArrowArray *batch = o->array;
    return tl_parquet_write(&o->out, o->schema, &batch, 1, &o->column, &o->err);
}

static void one_end(one *o)
{
    tl_buffer_free(&o->out);
    tli_mem_store_drop(o->store);
}

static void refusals(void)
{
    static const char *const formats[] = {"n", "e", "tdm", "tts", "tss:", "tDs", "tiM", "w:0", "d:5,-1", "d:5,6"};
    static const uint64_t wide[2] = {LOW(1000), HIGH(1000)};
    static const uint64_t deep[2] = {LOW((uint64_t)1 << 40), HIGH((uint64_t)1 << 40)};
    static const uint8_t none = 0;
    tl_span key = tl_text("PARQUET:field_id"), value = tl_text("1x");
    size_t i;
    one o;
    for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        one_begin(&o, formats[i], 0, wide, 1);
        CHECK_INT(one_write(&o), TL_UNSUPPORTED);
        CHECK_TEXT(o.column.data, o.column.size, "c");
        CHECK(strstr(o.err.text, "type") != NULL && o.out.size == 0);
        one_end(&o);
    }
    one_begin(&o, "d:9,2", 0, deep, 1); /* its type says that it fits four bytes */
    CHECK_INT(one_write(&o), TL_UNSUPPORTED);
    CHECK_TEXT(o.column.data, o.column.size, "c");
    CHECK_INT(o.out.size, 0);
    o.array->children[0]->buffers[1] = wide;
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    CHECK(o.column.data == NULL);
    CHECK_INT(tli_arrow_schema_metadata(o.store, o.schema->children[0], &key, &value, 1, NULL), TL_OK);
    CHECK_INT(one_write(&o), TL_UNSUPPORTED);
    CHECK_TEXT(o.column.data, o.column.size, "c");
    value = tl_text("12345678901234567");
    CHECK_INT(tli_arrow_schema_metadata(o.store, o.schema->children[0], &key, &value, 1, NULL), TL_OK);
    CHECK_INT(one_write(&o), TL_UNSUPPORTED);
    one_end(&o);
    one_begin(&o, "i", 0, wide, 1);
    o.array->buffers[0] = &none; /* the row itself */
    o.array->null_count = 1;
    CHECK_INT(one_write(&o), TL_UNSUPPORTED);
    o.array->buffers[0] = NULL;
    o.array->null_count = 0;
    o.array->children[0]->buffers[0] = &none;
    o.array->children[0]->null_count = 1;
    CHECK_INT(one_write(&o), TL_MISUSE); /* a null in a column without nulls */
    o.schema->n_children = 0;
    CHECK_INT(one_write(&o), TL_UNSUPPORTED);
    CHECK_INT(tl_parquet_write(&o.out, o.schema->children[0], NULL, 0, NULL, NULL), TL_UNSUPPORTED);
    one_end(&o);
}

/* A null of the dictionary is one of the column: refused where there must be none. */
static void nulls_in_dictionaries(void)
{
    static const int8_t indices[3] = {0, 1, 0};
    static const int32_t values[2] = {7, 9};
    static const uint8_t valid = 1;
    one o;
    struct ArrowArray *d;
    one_begin(&o, "c", 0, indices, 3);
    o.schema->children[0]->dictionary = tli_arrow_schema_new(o.store, "i", tl_text(""), ARROW_FLAG_NULLABLE, 0, NULL);
    d = o.array->children[0]->dictionary = tli_arrow_array_new(o.store, 2, 0, NULL);
    d->length = 2;
    d->buffers[1] = values;
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    o.out.size = 0;
    d->buffers[0] = &valid;
    d->null_count = 1;
    CHECK_INT(one_write(&o), TL_UNSUPPORTED);
    CHECK_TEXT(o.column.data, o.column.size, "c");
    o.schema->children[0]->flags = ARROW_FLAG_NULLABLE;
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    one_end(&o);
}

/* ---- statistics ---- */

/* Statistics of the only chunk of a file, as its footer has them: found by their struct in the chunk. */
static void statistics(const one *o, tli_parquet_chunk *c, int64_t *nans)
{
    uint32_t size = tli_bits_le32(o->out.data + o->out.size - 8);
    tli_thrift t;
    tli_thrift_field f = tli_parquet_first();
    memset(c, 0, sizeof *c);
    *nans = -1;
    t.at = o->out.data + o->out.size - 8 - size;
    t.end = t.at + size;
    t.bad = NULL;
    while (tli_thrift_next(&t, &f) && f.id != 4)
        tli_thrift_skip(&t, f.type);
    t.at += 1; /* one row group; its columns, of which there is one; offset, metadata */
    t.at += 2;
    f = tli_parquet_first();
    while (tli_thrift_next(&t, &f) && f.id != 3)
        tli_thrift_skip(&t, f.type);
    f = tli_parquet_first();
    while (tli_thrift_next(&t, &f) && f.id != 12)
        tli_thrift_skip(&t, f.type);
    CHECK_INT(f.id, 12);
    {
        tli_thrift again = t;
        tli_parquet_statistics(&again, c);
    }
    f = tli_parquet_first();
    while (tli_thrift_next(&t, &f))
        if (f.id == 9)
            *nans = tli_thrift_int(&t, &f, -1);
        else
            tli_thrift_skip(&t, f.type);
}

static void real_statistics(void)
{
    static const double values[] = {0.0, -1.5, 2.5, 0.0};
    static const char zero[8] = {0}, minus_zero[8] = {0, 0, 0, 0, 0, 0, 0, (char)0x80};
    const uint64_t nan = UINT64_C(0x7ff8000000000000);
    double own[4];
    tli_parquet_chunk c;
    int64_t nans;
    one o;
    memcpy(own, values, sizeof own);
    memcpy(&own[0], &nan, sizeof nan);
    one_begin(&o, "g", 0, own, 4);
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    statistics(&o, &c, &nans);
    CHECK_INT(nans, 1);
    CHECK(c.low.size == 8 && (int64_t)tli_bits_le64(c.low.data) == INT64_C(-4613937818241073152)); /* -1.5 */
    CHECK(c.high.size == 8 && tli_bits_le64(c.high.data) == UINT64_C(0x4004000000000000));        /* 2.5 */
    CHECK(c.exact_low && c.exact_high && c.nulls == 0);
    o.out.size = 0;
    o.array->length = o.array->children[0]->length = 1; /* nothing but NaN: no bounds */
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    statistics(&o, &c, &nans);
    CHECK(nans == 1 && c.low.data == NULL && c.high.data == NULL);
    o.out.size = 0;
    own[0] = 0.0; /* of zeros the wider bound */
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    statistics(&o, &c, &nans);
    CHECK_BYTES(c.low.data, c.low.size, minus_zero, 8);
    CHECK_BYTES(c.high.data, c.high.size, zero, 8);
    one_end(&o);
}

/* The reader of footers counts NaNs where a file does. */
static void nans_are_counted(void)
{
    static const uint64_t values[4] = {UINT64_C(0x7ff8000000000000), 0, UINT64_C(0xfff8000000000001), 0};
    tl_span key = tl_text("PARQUET:field_id"), id = tl_text("3");
    tl_parquet p;
    one o;
    one_begin(&o, "g", 0, values, 4);
    CHECK_INT(tli_arrow_schema_metadata(o.store, o.schema->children[0], &key, &id, 1, NULL), TL_OK);
    CHECK_STATUS(one_write(&o), TL_OK, &o.err);
    CHECK_STATUS(tl_parquet_data_file(&p, NULL, tl_text("p"), o.out.data, o.out.size, o.out.size, NULL, &o.err), TL_OK,
                 &o.err);
    CHECK(p.file.column_count == 1 && p.file.columns[0].field_id == 3 && p.file.columns[0].values == 4);
    CHECK(p.file.columns[0].has_nans && p.file.columns[0].nans == 2 && p.file.columns[0].nulls == 0);
    CHECK(p.field_count == 1 && p.fields[0].type == TL_ICEBERG_DOUBLE && p.fields[0].required);
    tl_parquet_free(&p);
    one_end(&o);
}

static void orders(void)
{
    static const struct {
        const char *format;
        uint64_t values[4]; /* two values, each of two words */
        uint8_t first;      /* of two bytes that the low bound begins with */
    } table_of[] = {{"l", {5, UINT64_MAX, 0, 0}, 0xff},         /* -1 < 5 */
                    {"L", {5, UINT64_MAX, 0, 0}, 5},            /* without a sign 5 is less */
                    {"d:38,0", {LOW(5), HIGH(5), UINT64_MAX, UINT64_MAX}, 0xff},
                    {"d:18,0", {LOW(5), HIGH(5), UINT64_MAX, UINT64_MAX}, 0xff},
                    {"w:8", {5, UINT64_MAX, 0, 0}, 5}};
    size_t i;
    for (i = 0; i < sizeof table_of / sizeof table_of[0]; i++) {
        tli_parquet_chunk c;
        int64_t nans;
        one o;
        one_begin(&o, table_of[i].format, 0, table_of[i].values, 2);
        CHECK_STATUS(one_write(&o), TL_OK, &o.err);
        statistics(&o, &c, &nans);
        CHECK(c.low.data != NULL && (TLI_BIG_ENDIAN || (uint8_t)c.low.data[0] == table_of[i].first));
        CHECK_INT(nans, -1);
        one_end(&o);
    }
}

static void every_allocation_failed_in_turn(void)
{
    tli_store *store = tli_mem_store_new(NULL, UINT64_MAX, NULL, 0, NULL, NULL, NULL);
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    long at;
    int done = 0;
    table(store, 30, &schema, &array);
    for (at = 1; !done && at < 1000; at++) {
        const struct ArrowArray *batch = array;
        tl_test_memory memory;
        tl_buffer out;
        tl_status st;
        memset(&memory, 0, sizeof memory);
        memset(&out, 0, sizeof out);
        memory.fail_at = at;
        out.allocator = tl_test_allocator(&memory);
        st = tl_parquet_write(&out, schema, &batch, 1, NULL, NULL);
        done = memory.calls < at;
        CHECK_INT(st, done ? TL_OK : TL_NO_MEMORY);
        CHECK((out.size == 0) == !done);
        tl_buffer_free(&out);
        CHECK_INT(memory.live, 0);
    }
    CHECK(done && at > 5);
    tli_mem_store_drop(store);
}

static const tl_test_case cases[] = {
    TL_TEST(pages_hold_the_values), TL_TEST(last_values_as_timelake_wrote_them), TL_TEST(refusals),
    TL_TEST(nulls_in_dictionaries), TL_TEST(real_statistics), TL_TEST(nans_are_counted),
    TL_TEST(orders),
    TL_TEST(every_allocation_failed_in_turn),
};
TL_TEST_MAIN(cases)
