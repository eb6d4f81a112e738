/* Copies of Parquet files get a table's field ids: a file written without ids and then given them is, byte by byte, the
   file written with them; what is not known in a footer stays; hostile bytes are an error. What DuckDB and PyIceberg
   read of such copies: tests/interop/parquet_copies.py. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"
#include "tl_commit.h"

/* The last values of iot.types, which has columns of every kind, as a file with field ids and as one without. */
typedef struct example {
    cworld w;
    tl_table *table;
    struct ArrowSchema schema;
    struct ArrowArray array;
    tl_buffer with, without;
} example;

static void drop_ids(struct ArrowSchema *s)
{
    int64_t i;
    s->metadata = NULL;
    for (i = 0; i < s->n_children; i++)
        drop_ids(s->children[i]);
}

static void example_begin(example *x)
{
    const struct ArrowArray *batch = &x->array;
    struct ArrowSchema bare;
    tl_error err;
    memset(x, 0, sizeof *x);
    cworld_begin(&x->w, "iot.types", NULL);
    x->table = cworld_load(&x->w.store, &x->w.lake, x->w.location, 0);
    CHECK_STATUS(tl_table_last_values(x->table, 0, &x->schema, &x->array, &err), TL_OK, &err);
    CHECK_STATUS(tl_parquet_write(&x->with, &x->schema, &batch, 1, NULL, &err), TL_OK, &err);
    CHECK_INT(tl_schema_copy(&bare, &x->schema, NULL, NULL), TL_OK);
    drop_ids(&bare);
    CHECK_STATUS(tl_parquet_write(&x->without, &bare, &batch, 1, NULL, &err), TL_OK, &err);
    bare.release(&bare);
    CHECK(x->without.size < x->with.size);
}

static void example_end(example *x)
{
    tl_buffer_free(&x->with);
    tl_buffer_free(&x->without);
    x->array.release(&x->array);
    x->schema.release(&x->schema);
    tl_table_drop(x->table);
    cworld_end(&x->w);
}

static tl_metadata unpartitioned(const tl_metadata *of)
{
    tl_metadata m = *of;
    m.partitioned = 0; /* newest rows are of many partitions */
    return m;
}

static void the_file_as_if_written_with_ids(void)
{
    example x;
    tl_buffer out;
    tl_parquet p;
    tl_metadata m;
    tl_span column;
    tl_error err;
    uint64_t kept = 0;
    size_t least, keep;
    memset(&out, 0, sizeof out);
    example_begin(&x);
    m = unpartitioned(&x.table->metadata);
    CHECK_INT(tl_parquet_data_file(&p, &m, tl_text("p"), x.without.data, x.without.size, x.without.size, NULL, &err),
              TL_UNSUPPORTED);
    CHECK(strstr(err.text, "field id") != NULL && tl_span_equal(p.column, tl_text("time")));
    tl_parquet_free(&p);
    CHECK_STATUS(tl_parquet_give_ids(&out, &kept, &m, x.without.data, x.without.size, x.without.size, NULL, &column,
                                     &err), TL_OK, &err);
    keep = (size_t)kept;
    CHECK(column.data == NULL && keep < x.without.size);
    CHECK_BYTES(x.without.data, keep, x.with.data, keep);
    CHECK_BYTES(out.data, out.size, x.with.data + keep, x.with.size - keep);
    CHECK_STATUS(tl_parquet_data_file(&p, &m, tl_text("p"), out.data, out.size, keep + out.size, NULL, &err), TL_OK,
                 &err);
    CHECK(p.file.file.records > 0);
    tl_parquet_free(&p);

    least = x.without.size - keep; /* the footer alone does; of one that has ids nothing changes */
    CHECK_INT(tl_parquet_give_ids(&out, &kept, &m, x.without.data + x.without.size - least + 1, least - 1,
                                  x.without.size, NULL, NULL, &err), TL_TRUNCATED);
    CHECK_INT(err.need, least);
    out.size = 0;
    CHECK_STATUS(tl_parquet_give_ids(&out, &kept, &m, x.without.data + x.without.size - least, least, x.without.size,
                                     NULL, NULL, NULL), TL_OK, NULL);
    CHECK_BYTES(out.data, out.size, x.with.data + keep, x.with.size - keep);
    out.size = 0;
    CHECK_INT(tl_parquet_give_ids(&out, &kept, &m, x.with.data, x.with.size, x.with.size, NULL, NULL, NULL), TL_OK);
    CHECK_BYTES(out.data, out.size, x.with.data + keep, x.with.size - keep);
    tl_buffer_free(&out);
    example_end(&x);
}

/* Refused for the table with `to` for `from` in its metadata, because of a column. */
static void refused(int with, const char *from, const char *to, const char *name, const char *why)
{
    example x;
    tl_buffer out;
    tl_metadata m;
    tl_span column;
    tl_error err;
    uint64_t keep;
    char text[16384];
    const tl_buffer *file;
    memset(&out, 0, sizeof out);
    example_begin(&x);
    file = with ? &x.with : &x.without;
    if (metadata_edited(&m, x.table, &text, from, to)) {
        CHECK_INT(tl_parquet_give_ids(&out, &keep, &m, file->data, file->size, file->size, NULL, &column, &err),
                  TL_UNSUPPORTED);
        CHECK(strstr(err.text, why) != NULL && out.size == 0);
        CHECK(tl_span_equal(column, tl_text(name)));
        tl_metadata_free(&m);
    }
    tl_buffer_free(&out);
    example_end(&x);
}

static void refusals(void)
{
    refused(0, "\"name\":\"device\"", "\"name\":\"truck\"", "device", "does not have");
    refused(0, "\"name\":\"device\",\"required\":true,\"type\":\"long\"",
            "\"name\":\"device\",\"required\":true,\"type\":\"int\"", "device", "another type");
    refused(0, "{\"id\":16,\"name\":\"_ingest_ts\"",
            "{\"id\":30,\"name\":\"more\",\"required\":true,\"type\":\"int\"},{\"id\":16,\"name\":\"_ingest_ts\"",
            "more", "required column is missing");
    refused(0, "\"element\":\"int\"", "\"element\":\"string\"", "list", "another type");
    refused(0, "{\"id\":19,\"name\":\"s\"", "{\"id\":19,\"name\":\"t\"", "s", "does not have");
    refused(1, "{\"id\":3,\"name\":\"device\"", "{\"id\":33,\"name\":\"device\"", "device", "another field id");
}

/* Elements of the schema as other writers may have them: ids above 9 first, fields that are not known, long forms. */
static void other_elements(void)
{
    static const struct {
        const char *element, *want;
        size_t size, want_size;
    } table[] = {
        {"\x15\x02\x25\x00\x18\x01" "a\x00", "\x15\x02\x25\x00\x18\x01" "a\x55\x0e\x00", 8, 10},
        {"\x15\x02\x25\x00\x18\x01" "a\x6c\x1c\x00\x00\x00", /* a logical type behind it */
         "\x15\x02\x25\x00\x18\x01" "a\x55\x0e\x1c\x1c\x00\x00\x00", 12, 14},
        {"\x48\x01" "a\x86\x05\x00", "\x48\x01" "a\x55\x0e\x36\x05\x00", 6, 8}, /* field 12 is kept */
        {"\xa5\x02\x08\x08\x01" "a\x00", "\x95\x0e\x15\x02\x08\x08\x01" "a\x00", 7, 9}, /* 10, then 4 */
        {"\x08\x08\x01" "a\x05\xc8\x01\x06\x00", "\x08\x08\x01" "a\x55\x0e\x05\xc8\x01\x06\x00", 9, 11}, /* 100 */
        {"\x48\x01" "a\x55\x06\x00", "\x48\x01" "a\x55\x06\x00", 6, 6}}; /* it has an id */
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tli_thrift t;
        tli_thriftwrite w;
        tl_buffer out;
        memset(&w, 0, sizeof w);
        memset(&out, 0, sizeof out);
        w.out = &out;
        t.at = (const uint8_t *)table[i].element;
        t.end = t.at + table[i].size;
        t.bad = NULL;
        tli_parquetcopy_element(&t, &w, 7);
        CHECK(t.bad == NULL && t.at == t.end && w.status == TL_OK && w.depth == 0);
        CHECK_BYTES(out.data, out.size, table[i].want, table[i].want_size);
        tl_buffer_free(&out);
    }
}

static void hostile_bytes(void)
{
    example x;
    tl_metadata m;
    tl_buffer out;
    uint64_t keep;
    size_t i, n, good = 0;
    uint8_t *copy;
    memset(&out, 0, sizeof out);
    example_begin(&x);
    m = unpartitioned(&x.table->metadata);
    n = tli_bits_le32(x.without.data + x.without.size - 8) + 8u;
    copy = (uint8_t *)malloc(n);
    for (i = 0; i < n * 3; i++) {
        static const uint8_t flips[] = {1, 0x80, 0xff};
        tl_status st;
        memcpy(copy, x.without.data + x.without.size - n, n);
        copy[i / 3] = (uint8_t)(copy[i / 3] ^ flips[i % 3]);
        out.size = 0;
        st = tl_parquet_give_ids(&out, &keep, &m, copy, n, x.without.size, NULL, NULL, NULL);
        CHECK(st == TL_OK || st == TL_CORRUPT || st == TL_UNSUPPORTED || st == TL_TRUNCATED || st == TL_LIMIT);
        CHECK((st == TL_OK) == (out.size > 0));
        good += st == TL_OK;
    }
    CHECK(good > 0);
    free(copy);
    CHECK_INT(tl_parquet_give_ids(&out, &keep, NULL, x.without.data, x.without.size, x.without.size, NULL, NULL, NULL),
              TL_MISUSE);
    for (i = 0; i < n - 8; i++) { /* cut, with a length that says so */
        copy = (uint8_t *)malloc(i + 8);
        memcpy(copy, x.without.data + x.without.size - n, i);
        tli_bits_put_le32(copy + i, (uint32_t)i);
        memcpy(copy + i + 4, "PAR1", 4);
        out.size = 0;
        CHECK_INT(tl_parquet_give_ids(&out, &keep, &m, copy, i + 8, x.without.size, NULL, NULL, NULL), TL_CORRUPT);
        free(copy);
    }
    tl_buffer_free(&out);
    example_end(&x);
}

static void every_allocation_failed_in_turn(void)
{
    example x;
    tl_metadata m;
    uint64_t keep;
    long at;
    int done = 0;
    example_begin(&x);
    m = unpartitioned(&x.table->metadata);
    for (at = 1; !done && at < 100; at++) {
        tl_test_memory memory;
        tl_buffer out;
        tl_status st;
        memset(&memory, 0, sizeof memory);
        memset(&out, 0, sizeof out);
        memory.fail_at = at;
        out.allocator = tl_test_allocator(&memory);
        st = tl_parquet_give_ids(&out, &keep, &m, x.without.data, x.without.size, x.without.size, NULL, NULL, NULL);
        done = memory.calls < at;
        CHECK_INT(st, done ? TL_OK : TL_NO_MEMORY);
        CHECK((out.size == 0) == !done);
        tl_buffer_free(&out);
        CHECK_INT(memory.live, 0);
    }
    CHECK(done && at > 2);
    example_end(&x);
}

static const tl_test_case cases[] = {
    TL_TEST(the_file_as_if_written_with_ids), TL_TEST(refusals), TL_TEST(other_elements), TL_TEST(hostile_bytes),
    TL_TEST(every_allocation_failed_in_turn),
};
TL_TEST_MAIN(cases)
