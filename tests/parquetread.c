/* Small Parquet files read: Timelake's index files against the heads that have the same rows, what tl_parquet_write
   writes, and files with a byte changed or an end missing. */
#include "tl_test.h"
#include "tl_compare.h"

/* Reads a file and merges its rows as an index of the table. */
static tl_status read_index(const tl_metadata *m, const void *bytes, size_t size, const tl_allocator *a,
                            struct ArrowSchema *schema, struct ArrowArray *array, tl_error *err)
{
    static const tl_compression none = {NULL, NULL, NULL, NULL};
    tl_limits limits = tl_limits_resolve(NULL);
    tl_index_codec codec;
    tli_indexplan_file *file;
    tl_allocator own = tli_mem_allocator(a);
    tl_status st;
    memset(&codec, 0, sizeof codec);
    file = tli_indexplan_decode(&codec, bytes, size, &none, &limits, &own, err);
    if (file == NULL)
        return err->status;
    st = tl_last_values_merge(m, &file->rows, NULL, NULL, &own, schema, array, err);
    tli_indexplan_close(file, &own);
    return st;
}

typedef struct known {
    char *head_bytes, *bytes;
    size_t size;
    tl_head head;
    tl_metadata m;
    struct ArrowSchema schema;
    struct ArrowArray rows;
} known;

/* A table of the warehouse with the index file of its newest version, and what the head says of it. */
static int known_open(known *k, const char *table)
{
    char path[400], folder[300];
    const char *dot = strchr(table, '.'), *slash;
    tl_section *last;
    tl_span json;
    tl_error err;
    size_t size;
    memset(k, 0, sizeof *k);
    snprintf(path, sizeof path, "tests/data/lake/%s.head", table);
    k->head_bytes = tl_test_read(path, &size);
    CHECK_STATUS(tl_head_decode(&k->head, k->head_bytes, size, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_metadata(&k->head, &json, &err), TL_OK, &err);
    CHECK_STATUS(tl_metadata_parse(&k->m, json.data, json.size, NULL, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_last_values(&k->head, &last, &err), TL_OK, &err);
    CHECK_STATUS(tl_section_export(last, 0, &k->schema, &k->rows, &err), TL_OK, &err);
    snprintf(folder, sizeof folder, "tests/data/warehouse/wh/%.*s/%s/metadata", (int)(dot - table), table, dot + 1);
    snprintf(path, sizeof path, "%.*s", (int)k->m.last_value_index.size, k->m.last_value_index.data);
    slash = strrchr(path, '/');
    {
        char name[700];
        snprintf(name, sizeof name, "%s%s", folder, slash == NULL ? "" : slash);
        k->bytes = tl_test_read(name, &k->size);
    }
    CHECK(k->bytes != NULL);
    return k->bytes != NULL;
}

static void known_close(known *k)
{
    k->rows.release(&k->rows);
    k->schema.release(&k->schema);
    tl_metadata_free(&k->m);
    tl_head_free(&k->head);
    free(k->head_bytes);
    free(k->bytes);
}

static void check_rows(known *k, const void *bytes, size_t size)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    tl_error err;
    if (!CHECK_STATUS(read_index(&k->m, bytes, size, NULL, &schema, &array, &err), TL_OK, &err))
        return;
    CHECK(tl_compare_schemas(&k->schema, &schema) && tl_compare_arrays(&k->schema, &k->rows, &schema, &array));
    if (tl_compare_why[0] != 0)
        fprintf(stderr, "  %s\n", tl_compare_why);
    array.release(&array);
    schema.release(&schema);
}

static const char *const tables[] = {"iot.trucks", "iot.types"};

/* The same rows by pyarrow: in pages of version 2 with Snappy, and in plain row groups of four rows, without
   dictionaries; and by Timelake. In the fuzz corpus they lie behind a table's metadata. */
static void by_pyarrow(void)
{
    static const char *const names[] = {"timelake-file", "pyarrow-v2-snappy", "pyarrow-plain"};
    struct ArrowSchema schema[3];
    struct ArrowArray array[3];
    size_t i;
    for (i = 0; i < 3; i++) {
        char path[100], *bytes;
        size_t size, text;
        tl_metadata m;
        tl_error err;
        snprintf(path, sizeof path, "fuzz/corpus/lastvalue/%s", names[i]);
        bytes = tl_test_read(path, &size);
        text = (size_t)(unsigned char)bytes[0] | (size_t)(unsigned char)bytes[1] << 8;
        CHECK_STATUS(tl_metadata_parse(&m, bytes + 2, text, NULL, NULL, &err), TL_OK, &err);
        memset(&schema[i], 0, sizeof schema[i]);
        memset(&array[i], 0, sizeof array[i]);
        CHECK_STATUS(read_index(&m, bytes + 2 + text, size - 2 - text, NULL, &schema[i], &array[i], &err), TL_OK, &err);
        CHECK(array[i].length == 10 && tl_compare_arrays(&schema[0], &array[0], &schema[i], &array[i]));
        tl_metadata_free(&m);
        free(bytes);
    }
    for (i = 0; i < 3; i++) {
        array[i].release(&array[i]);
        schema[i].release(&schema[i]);
    }
}

/* A file of Timelake, which is zstd with dictionaries, and ours of the same rows. */
static void index_files(void)
{
    known k;
    tl_buffer out;
    const struct ArrowArray *batch;
    struct ArrowSchema schema;
    struct ArrowArray array;
    tl_error err;
    memset(&out, 0, sizeof out);
    if (known_open(&k, "iot.trucks"))
        check_rows(&k, k.bytes, k.size);
    batch = &k.rows;
    if (CHECK_STATUS(tl_parquet_write(&out, &k.schema, &batch, 1, NULL, &err), TL_OK, &err))
        check_rows(&k, out.data, out.size);
    tl_buffer_free(&out);
    known_close(&k);
    by_pyarrow();
    CHECK(known_open(&k, "iot.types")); /* with nested columns */
    CHECK_STATUS(read_index(&k.m, k.bytes, k.size, NULL, &schema, &array, &err), TL_UNSUPPORTED, &err);
    known_close(&k);
}

/* ---- every flat type ---- */

static const char flat[] =
    "{\"format-version\":2,\"table-uuid\":\"6f6e6d6c-0000-4000-8000-000000000000\",\"location\":\"s3://b/t\","
    "\"last-sequence-number\":0,\"last-updated-ms\":0,\"last-column-id\":30,\"current-schema-id\":0,\"schemas\":[{"
    "\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"time\",\"required\":true,\"type\":\"timestamptz\"},"
    "{\"id\":2,\"name\":\"i\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":3,\"name\":\"l\",\"required\":true,\"type\":\"long\"},"
    "{\"id\":4,\"name\":\"f\",\"required\":false,\"type\":\"float\"},"
    "{\"id\":5,\"name\":\"d\",\"required\":false,\"type\":\"double\"},"
    "{\"id\":6,\"name\":\"b\",\"required\":false,\"type\":\"boolean\"},"
    "{\"id\":7,\"name\":\"n9\",\"required\":false,\"type\":\"decimal(9, 2)\"},"
    "{\"id\":8,\"name\":\"n18\",\"required\":false,\"type\":\"decimal(18, 4)\"},"
    "{\"id\":9,\"name\":\"n38\",\"required\":false,\"type\":\"decimal(38, 10)\"},"
    "{\"id\":10,\"name\":\"day\",\"required\":false,\"type\":\"date\"},"
    "{\"id\":11,\"name\":\"clock\",\"required\":false,\"type\":\"time\"},"
    "{\"id\":12,\"name\":\"local\",\"required\":false,\"type\":\"timestamp\"},"
    "{\"id\":13,\"name\":\"s\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":14,\"name\":\"raw\",\"required\":false,\"type\":\"binary\"},"
    "{\"id\":15,\"name\":\"fx\",\"required\":false,\"type\":\"fixed[5]\"},"
    "{\"id\":16,\"name\":\"u\",\"required\":false,\"type\":\"uuid\"}"
    "]}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,"
    "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"properties\":{\"timelake.time-column\":\"time\","
    "\"timelake.series-key\":\"l\"}}";

static void put(tli_build_node *n, int fill, int64_t row)
{
    char text[40];
    uint8_t wide[16];
    double d = (double)row / 3;
    float f = (float)row / 3;
    snprintf(text, sizeof text, "%016d and more", (int)row * 7);
    if ((n->schema->flags & ARROW_FLAG_NULLABLE) != 0 && (row + n->schema->name[0]) % 5 == 0) {
        if (fill)
            tli_build_null(n);
        else
            tli_build_count_null(n);
    } else if (tli_arrow_offset_width(n->layout) != 0) {
        if (fill)
            tli_build_bytes(n, text, (size_t)(row % 20));
        else
            tli_build_count_bytes(n, (size_t)(row % 20));
    } else if (!fill) {
        tli_build_count(n);
    } else if (n->layout == TLI_ARROW_BITS) {
        tli_build_bool(n, row % 3 == 0);
    } else if (n->type.id == TL_TYPE_FIXED_BINARY) {
        tli_build_fixed(n, text);
    } else if (n->type.id == TL_TYPE_DECIMAL128) {
        tli_take_widen(wide, row % 700 * 1234567 - 50000000);
        tli_build_fixed(n, wide);
    } else if (n->type.id == TL_TYPE_FLOAT32 || n->type.id == TL_TYPE_FLOAT64) {
        tli_build_fixed(n, n->type.width == 4 ? (const void *)&f : (const void *)&d);
    } else {
        tli_build_integer(n, n->schema->name[0] == 'l' && n->type.id == TL_TYPE_INT64 ? row : row * 98765 - 1000000);
    }
}

/* What tl_parquet_write writes of every type is read as it was: of no rows, of some, of more than a page. */
static void every_type(void)
{
    static const int64_t counts[] = {0, 1, 77, 20000};
    size_t i;
    for (i = 0; i < 4; i++) {
        known k;
        tli_store *store;
        tli_build_tree *b = NULL;
        struct ArrowArray *array = NULL;
        const struct ArrowArray *batch;
        tl_buffer out;
        tl_error err;
        int64_t row;
        uint32_t c;
        int fill;
        memset(&k, 0, sizeof k);
        memset(&out, 0, sizeof out);
        store = tli_mem_store_new(NULL, SIZE_MAX / 2, NULL, 0, NULL, NULL, &err);
        CHECK_STATUS(tl_metadata_parse(&k.m, flat, sizeof flat - 1, NULL, NULL, &err), TL_OK, &err);
        CHECK_STATUS(tl_metadata_schema(&k.m, &k.schema, NULL, &err), TL_OK, &err);
        CHECK_STATUS(tli_build_begin(store, &k.schema, NULL, &b, &err), TL_OK, &err);
        for (fill = 0; fill < 2; fill++) {
            for (row = 0; row < counts[i]; row++) {
                for (c = 1; c < b->nodes->span; c++)
                    put(b->nodes + c, fill, row);
                if (fill)
                    tli_build_end(b->nodes);
                else
                    tli_build_count(b->nodes);
            }
            if (fill == 0)
                CHECK_STATUS(tli_build_allocate(b, &err), TL_OK, &err);
        }
        CHECK_STATUS(tli_build_finish(b, &array, &err), TL_OK, &err);
        batch = array;
        k.rows = *array;
        if (CHECK_STATUS(tl_parquet_write(&out, &k.schema, &batch, 1, NULL, &err), TL_OK, &err)) {
            if (counts[i] != 0)
                check_rows(&k, out.data, out.size);
        }
        tl_buffer_free(&out);
        k.schema.release(&k.schema);
        tl_metadata_free(&k.m);
        tli_mem_store_drop(store);
    }
}

static void try_bytes(known *k, const char *bytes, size_t size, unsigned *read)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    tl_error err;
    char *copy = (char *)malloc(size + (size == 0)); /* of exactly this size, for the sanitizer */
    memcpy(copy, bytes, size);
    if (read_index(&k->m, copy, size, NULL, &schema, &array, &err) == TL_OK) {
        ++*read;
        array.release(&array);
        schema.release(&schema);
    }
    free(copy);
}

/* Each end missing, each byte changed: an error or rows, nothing else. */
static void damaged(void)
{
    size_t i, t;
    unsigned read = 0, tried = 0;
    for (t = 0; t < 2; t++) {
        known k;
        tl_buffer out;
        const struct ArrowArray *batch;
        tl_error err;
        memset(&out, 0, sizeof out);
        CHECK(known_open(&k, tables[t]));
        batch = &k.rows;
        CHECK_STATUS(tl_parquet_write(&out, &k.schema, &batch, 1, NULL, &err), TL_OK, &err);
        for (i = 0; i < k.size; i++, tried += 2) {
            char kept = k.bytes[i];
            try_bytes(&k, k.bytes, i, &read);
            k.bytes[i] = (char)(kept ^ (1 << (i % 8)));
            try_bytes(&k, k.bytes, k.size, &read);
            k.bytes[i] = kept;
        }
        for (i = 0; i < out.size; i++, tried++) {
            char kept = (char)out.data[i];
            out.data[i] = (uint8_t)~out.data[i];
            try_bytes(&k, (const char *)out.data, out.size, &read);
            out.data[i] = (uint8_t)kept;
        }
        tl_buffer_free(&out);
        known_close(&k);
    }
    CHECK(tried > 1000 && read < tried);
}

static void out_of_memory(void)
{
    known k;
    long at;
    tl_status st = TL_NO_MEMORY;
    CHECK(known_open(&k, "iot.trucks"));
    for (at = 1; st != TL_OK && at < 1000; at++) {
        tl_test_memory memory;
        tl_allocator a;
        struct ArrowSchema schema;
        struct ArrowArray array;
        tl_error err;
        memset(&memory, 0, sizeof memory);
        memory.fail_at = at;
        a = tl_test_allocator(&memory);
        st = read_index(&k.m, k.bytes, k.size, &a, &schema, &array, &err);
        if (st == TL_OK) {
            array.release(&array);
            schema.release(&schema);
        } else {
            CHECK_STATUS(st, TL_NO_MEMORY, &err);
        }
        CHECK_INT(memory.live, 0);
    }
    CHECK(st == TL_OK && at > 10);
    known_close(&k);
}

/* ---- columns where they should not be ---- */

/* A page of one int32, of which it says `plain` bytes; beyond four, runs of zeros in a zstd frame. */
static void put_page(tli_thriftwrite *w, uint32_t plain)
{
    const uint32_t run = 128u << 10, runs = plain <= 4 ? 0 : (plain + run - 1) / run;
    const uint8_t begin[5] = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};
    uint8_t four[4];
    uint32_t i;
    tli_thriftwrite_open(w);
    tli_thriftwrite_i32(w, 1, 0);
    tli_thriftwrite_i32(w, 2, (int32_t)plain);
    tli_thriftwrite_i32(w, 3, runs == 0 ? 4 : 9 + 4 * (int32_t)runs);
    tli_thriftwrite_struct(w, 5);
    tli_thriftwrite_i32(w, 1, 1);
    tli_thriftwrite_i32(w, 2, 0);
    tli_thriftwrite_close(w);
    tli_thriftwrite_close(w);
    if (runs > 0)
        tli_thriftwrite_raw(w, begin, 5);
    tli_bits_put_le32(four, runs > 0 ? plain : 7);
    tli_thriftwrite_raw(w, four, 4);
    for (i = 0; i < runs; i++) {
        tli_bits_put_le32(four, (i + 1 == runs) | 2u | run << 3);
        four[3] = 0;
        tli_thriftwrite_raw(w, four, 4);
    }
}

static void put_element(tli_thriftwrite *w, const char *name, int32_t children)
{
    tli_thriftwrite_open(w);
    if (children == 0) {
        tli_thriftwrite_i32(w, 1, 1);
        tli_thriftwrite_i32(w, 3, 0);
    }
    tli_thriftwrite_text(w, 4, tl_text(name));
    if (children != 0)
        tli_thriftwrite_i32(w, 5, children);
    tli_thriftwrite_close(w);
}

/* Row groups of a row, each with a page of its own, or all with the one. */
static tl_status read_groups(uint32_t groups, int same, uint32_t plain, tl_error *err)
{
    static const tl_compression none = {NULL, NULL, NULL, NULL};
    tl_limits limits = tl_limits_resolve(NULL);
    tli_store *store = tli_mem_store_new(NULL, limits.decoded_bytes, NULL, 0, NULL, NULL, err);
    struct ArrowSchema *schema;
    struct ArrowArray *rows = NULL;
    tl_buffer out;
    tli_thriftwrite w;
    size_t ends[8], footer;
    uint8_t four[4];
    uint32_t i;
    tl_status st;
    memset(&out, 0, sizeof out);
    memset(&w, 0, sizeof w);
    w.out = &out;
    w.err = err;
    tli_thriftwrite_raw(&w, "PAR1", 4);
    for (i = 0, ends[0] = 4; i < groups; i++) {
        if (i == 0 || !same)
            put_page(&w, plain);
        ends[i + 1] = out.size;
    }
    footer = out.size;
    tli_thriftwrite_open(&w);
    tli_thriftwrite_i32(&w, 1, 1);
    tli_thriftwrite_list(&w, 2, TLI_THRIFT_STRUCT, 2);
    put_element(&w, "root", 1);
    put_element(&w, "a", 0);
    tli_thriftwrite_i64(&w, 3, groups);
    tli_thriftwrite_list(&w, 4, TLI_THRIFT_STRUCT, groups);
    for (i = 0; i < groups; i++) {
        size_t from = same ? 4 : ends[i], to = same ? ends[1] : ends[i + 1];
        tli_thriftwrite_open(&w);
        tli_thriftwrite_list(&w, 1, TLI_THRIFT_STRUCT, 1);
        tli_thriftwrite_open(&w);
        tli_thriftwrite_struct(&w, 3);
        tli_thriftwrite_i32(&w, 4, plain > 4 ? TLI_PARQUETREAD_ZSTD : TLI_PARQUETREAD_STORED);
        tli_thriftwrite_i64(&w, 5, 1);
        tli_thriftwrite_i64(&w, 7, to - from);
        tli_thriftwrite_i64(&w, 9, from);
        tli_thriftwrite_close(&w);
        tli_thriftwrite_close(&w);
        tli_thriftwrite_i64(&w, 3, 1);
        tli_thriftwrite_close(&w);
    }
    tli_thriftwrite_close(&w);
    tli_bits_put_le32(four, (uint32_t)(out.size - footer));
    tli_thriftwrite_raw(&w, four, 4);
    tli_thriftwrite_raw(&w, "PAR1", 4);
    CHECK(w.status == TL_OK && w.depth == 0);
    st = tli_parquetread_rows(store, store, out.data, out.size, &none, &limits, &schema, &rows, err);
    if (st == TL_OK) {
        CHECK_INT(rows->length, groups);
        CHECK_INT(((const int32_t *)rows->children[0]->buffers[1])[groups - 1], plain > 4 ? 0 : 7);
    }
    tli_mem_store_drop(store);
    tl_buffer_free(&out);
    return st;
}

/* Each byte of a file is read once: no small file takes long, or much memory. */
static void each_byte_once(void)
{
    tl_error err;
    CHECK_STATUS(read_groups(1, 1, 4, &err), TL_OK, &err);
    CHECK_STATUS(read_groups(2, 0, 4, &err), TL_OK, &err);
    CHECK_STATUS(read_groups(2, 1, 4, &err), TL_CORRUPT, &err);
    CHECK(strstr(err.text, "over one another") != NULL);
    CHECK_STATUS(read_groups(1, 1, 40u << 20, &err), TL_OK, &err);
    CHECK_STATUS(read_groups(2, 0, 40u << 20, &err), TL_LIMIT, &err);
}

static const tl_test_case cases[] = {
    TL_TEST(index_files), TL_TEST(every_type), TL_TEST(damaged), TL_TEST(out_of_memory), TL_TEST(each_byte_once),
};
TL_TEST_MAIN(cases)
