/* Names from a seed, and manifests and manifest lists written anew: every one of the lake that Timelake wrote says the
   same after it went through our writer, and the schemas are those that Timelake writes. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"

static const uint8_t sync_marker[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* ---- names ---- */

static void uuids_have_their_form(void)
{
    static const uint8_t seed[16] = {7};
    tli_rand a, b, other;
    char x[36], y[36];
    int i, j;
    tli_rand_begin(&a, seed, 1);
    tli_rand_begin(&b, seed, 1);
    tli_rand_begin(&other, seed, 2);
    for (i = 0; i < 1000; i++) {
        int64_t ms = i % 2 == 0 ? -1 : 0x017F22E279B0; /* the time of the example in RFC 9562, A.6 */
        tli_rand_uuid(&a, ms, x);
        tli_rand_uuid(&b, ms, y);
        CHECK_BYTES(x, 36, y, 36);
        tli_rand_uuid(&other, ms, y);
        CHECK(memcmp(x, y, 36) != 0);
        for (j = 0; j < 36; j++)
            CHECK(j == 8 || j == 13 || j == 18 || j == 23 ? x[j] == '-' : strchr("0123456789abcdef", x[j]) != NULL);
        CHECK_INT(x[14], i % 2 == 0 ? '4' : '7');
        CHECK(strchr("89ab", x[19]) != NULL);
        if (i % 2 != 0)
            CHECK_BYTES(x, 14, "017f22e2-79b0-", 14);
    }
    for (i = 0; i < 1000; i++)
        CHECK(tli_rand_id(&a) > 0 && tli_rand_below(&a, 7) < 7);
}

/* ---- lists ---- */

static int same_span(tl_span a, tl_span b)
{
    return (a.data == NULL) == (b.data == NULL) && tl_span_equal(a, b);
}

static void same_entry(const tli_iceberg_manifest *a, const tli_iceberg_manifest *b)
{
    CHECK(same_span(a->path, b->path));
    CHECK_INT(a->length, b->length);
    CHECK_INT(a->sequence_number, b->sequence_number);
    CHECK_INT(a->min_sequence_number, b->min_sequence_number);
    CHECK_INT(a->added_snapshot_id, b->added_snapshot_id);
    CHECK_INT(a->spec_id, b->spec_id);
    CHECK_INT(a->content, b->content);
    CHECK_INT(a->counted, b->counted);
    CHECK_INT(a->lossy, b->lossy);
    CHECK(memcmp(a->counts, b->counts, sizeof a->counts) == 0);
    CHECK(same_span(a->partitions, b->partitions));
    CHECK(same_span(a->key_metadata, b->key_metadata));
}

/* The list's schema, as Timelake writes it, is ours to the byte. */
static void check_schema(const tl_mem_object *o)
{
    tl_avro avro;
    tl_buffer ours;
    tl_error err;
    memset(&ours, 0, sizeof ours);
    CHECK_STATUS(tl_avro_open(&avro, o->data, o->size, NULL, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tli_manifest_schema(&ours, NULL, &err), TL_OK, &err);
    CHECK_BYTES(ours.data, ours.size, avro.schema_text.data, avro.schema_text.size);
    tl_buffer_free(&ours);
    tl_avro_close(&avro);
}

static uint32_t rewrite_list(const tl_mem_object *o, tli_iceberg_list *list, const tl_limits *limits)
{
    tli_iceberg_list again;
    tl_buffer out;
    tl_error err;
    uint32_t i;
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tli_iceberg_read_list(list, o->data, o->size, limits, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tli_manifest_list(&out, list->entries, list->count, 5, -1, 9, sync_marker, &err), TL_OK, &err);
    CHECK_STATUS(tli_iceberg_read_list(&again, out.data, out.size, limits, NULL, &err), TL_OK, &err);
    CHECK_INT(again.count, list->count);
    for (i = 0; i < again.count && i < list->count; i++)
        same_entry(&again.entries[i], &list->entries[i]);
    tli_iceberg_free_list(&again);
    tl_buffer_free(&out);
    check_schema(o);
    return list->count;
}

/* ---- manifests ---- */

/* Entries of a manifest that was read, written anew as live ones with explicit numbers. */
static tl_status write_again(tli_manifest *m, const tli_iceberg_files *files, const tl_metadata *metadata,
                             int64_t snapshot_id, const tl_allocator *a, tl_error *err)
{
    tl_status st = tli_manifest_begin(m, metadata, snapshot_id, sync_marker, a, err);
    size_t i, column = 0;
    for (i = 0; i < files->file_count && st == TL_OK; i++) {
        tli_manifest_entry e;
        memset(&e, 0, sizeof e);
        e.status = files->files[i].added ? TLI_MANIFEST_ADDED : TLI_MANIFEST_EXISTING;
        e.snapshot_id = files->files[i].snapshot_id;
        e.numbered = e.kept = 1;
        e.file = &files->files[i];
        e.columns = files->columns + column;
        while (column < files->column_count && files->columns[column].file == i)
            column++, e.column_count++;
        st = tli_manifest_add(m, &e);
    }
    return st == TL_OK ? tli_manifest_end(m) : st;
}

static void same_files(const tli_iceberg_files *a, const tli_iceberg_files *b)
{
    size_t i;
    CHECK_INT(a->file_count, b->file_count);
    CHECK_INT(a->column_count, b->column_count);
    CHECK_INT(a->split_count, b->split_count);
    for (i = 0; i < a->file_count && i < b->file_count; i++) {
        const tl_file *x = &a->files[i], *y = &b->files[i];
        CHECK(same_span(x->path, y->path));
        CHECK(x->size == y->size && x->records == y->records && x->snapshot_id == y->snapshot_id);
        CHECK(x->sequence_number == y->sequence_number && x->file_sequence_number == y->file_sequence_number);
        CHECK(x->has_partition == y->has_partition && x->partition == y->partition && x->added == y->added);
        CHECK(x->has_sort_order_id == y->has_sort_order_id && x->sort_order_id == y->sort_order_id);
        CHECK(x->has_split_offsets == y->has_split_offsets && x->split_count == y->split_count);
    }
    for (i = 0; i < a->column_count && i < b->column_count; i++) {
        const tl_column *x = &a->columns[i], *y = &b->columns[i];
        CHECK(x->file == y->file && x->field_id == y->field_id && same_span(x->lower, y->lower));
        CHECK(same_span(x->upper, y->upper) && x->has_values == y->has_values && x->values == y->values);
        CHECK(x->has_nulls == y->has_nulls && x->nulls == y->nulls && x->has_nans == y->has_nans && x->nans == y->nans);
        CHECK(x->has_size == y->has_size && x->size == y->size);
    }
    if (a->split_count != 0 && a->split_count == b->split_count)
        CHECK(memcmp(a->splits, b->splits, a->split_count * sizeof *a->splits) == 0);
}

/* A split offset is an integer, whatever else a schema says: the items become nulls, which the same bytes are too. */
static void splits_are_integers(tli_manifest *m, const tli_iceberg_manifest *entry, const tl_metadata *metadata,
                                const tl_limits *limits)
{
    static const char items[] = "\"items\":\"long\",\"element-id\":133";
    tli_iceberg_files files;
    tl_error err;
    size_t i = 0;
    while (i + sizeof items < m->bytes.size && memcmp(m->bytes.data + i, items, sizeof items - 1) != 0)
        i++;
    CHECK(i + sizeof items < m->bytes.size);
    memcpy(m->bytes.data + i + 9, "null", 4);
    CHECK_STATUS(tli_iceberg_begin(&files, metadata, limits, NULL, &err), TL_OK, &err);
    CHECK_INT(tli_iceberg_add(&files, entry, m->bytes.data, m->bytes.size, &err), TL_CORRUPT);
    CHECK_TEXT(err.text, strlen(err.text), "a manifest's split offsets are no integers");
    tli_iceberg_end(&files);
}

static void rewrite_manifest(const tl_mem_object *o, const tli_iceberg_manifest *entry, const tl_metadata *metadata,
                             const tl_limits *limits)
{
    tli_iceberg_files files, again;
    tli_manifest m;
    tl_allocator a = tli_mem_allocator(NULL);
    tl_error err;
    size_t i;
    CHECK_STATUS(tli_iceberg_begin(&files, metadata, limits, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tli_iceberg_begin(&again, metadata, limits, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tli_iceberg_add(&files, entry, o->data, o->size, &err), TL_OK, &err);
    CHECK_INT(files.lossy, 0);
    for (i = 0; i < files.file_count; i++)
        files.files[i].split_offsets = files.splits + i; /* one row group each, here */
    CHECK_STATUS(write_again(&m, &files, metadata, entry->added_snapshot_id, &a, &err), TL_OK, &err);
    CHECK_STATUS(tli_iceberg_add(&again, entry, m.bytes.data, m.bytes.size, &err), TL_OK, &err);
    CHECK_INT(again.lossy, 0);
    same_files(&again, &files);
    /* no deleted entry among the fixtures' but in the compacted table: then the counts are the list's too */
    if (entry->counts[2] == 0) {
        CHECK(memcmp(m.entry.counts, entry->counts, sizeof entry->counts) == 0);
        CHECK(same_span(m.entry.partitions, entry->partitions));
        CHECK_INT(m.entry.min_sequence_number, entry->min_sequence_number);
    }
    if (files.split_count != 0)
        splits_are_integers(&m, entry, metadata, limits);
    tli_manifest_free(&m);
    tli_iceberg_end(&files);
    tli_iceberg_end(&again);
}

static void every_manifest_of_the_lake(void)
{
    tl_limits limits = tl_limits_resolve(NULL);
    size_t t, v;
    unsigned lists = 0, manifests = 0;
    for (t = 0; t < WAREHOUSE_TABLES; t++) {
        tl_mem store;
        tl_span location;
        tl_mem_init(&store, NULL);
        location = warehouse_put(&store, warehouse_tables[t]);
        for (v = 1; v <= 60; v++) {
            char name[64];
            const tl_mem_object *o, *l;
            tl_metadata m;
            tli_iceberg_list list;
            tl_error err;
            uint32_t i;
            snprintf(name, sizeof name, "v%u.metadata.json", (unsigned)v);
            o = tl_mem_get(&store, warehouse_key(location, name));
            if (o == NULL)
                continue;
            CHECK_STATUS(tl_metadata_parse(&m, (const char *)o->data, o->size, NULL, NULL, &err), TL_OK, &err);
            l = m.has_snapshot ? tl_mem_get(&store, m.manifest_list) : NULL;
            if (l != NULL) {
                lists++;
                manifests += rewrite_list(l, &list, &limits);
                for (i = 0; i < list.count; i++)
                    rewrite_manifest(tl_mem_get(&store, list.entries[i].path), &list.entries[i], &m, &limits);
                tli_iceberg_free_list(&list);
            }
            tl_metadata_free(&m);
        }
        tl_mem_free(&store);
    }
    printf("%u lists and %u manifests of Timelake's written anew\n", lists, manifests);
    CHECK(lists > 20 && manifests > 50);
}

/* A partition name that is none in Avro; a list entry without counts; no memory at any point. */
static void odd_ones(void)
{
    tl_limits limits = tl_limits_resolve(NULL);
    tl_test_memory memory;
    tl_mem store;
    const tl_mem_object *o;
    tl_metadata m;
    tli_iceberg_list list;
    tl_buffer out;
    tli_manifest_text t;
    tl_error err;
    long at;
    tl_status st = TL_NO_MEMORY;
    memset(&out, 0, sizeof out);
    t.out = &out;
    t.status = TL_OK;
    t.err = &err;
    tli_manifest_put_name(&t, tl_text("1time of-day"));
    CHECK_BYTES(out.data, out.size, "_1time_x20of_x2Dday", 19);
    tl_buffer_free(&out);
    tl_mem_init(&store, NULL);
    o = tl_mem_get(&store, warehouse_key(warehouse_put(&store, "iot.trucks"), "v7.metadata.json"));
    CHECK_STATUS(tl_metadata_parse(&m, (const char *)o->data, o->size, NULL, NULL, &err), TL_OK, &err);
    o = tl_mem_get(&store, m.manifest_list);
    for (at = 1; at < 1000 && st != TL_OK; at++) {
        memset(&memory, 0, sizeof memory);
        memset(&out, 0, sizeof out);
        memory.fail_at = at;
        out.allocator = tl_test_allocator(&memory);
        st = tli_iceberg_read_list(&list, o->data, o->size, &limits, &out.allocator, &err);
        if (st == TL_OK)
            st = tli_manifest_list(&out, list.entries, list.count, 5, 4, 9, sync_marker, &err);
        CHECK(st == TL_OK || st == TL_NO_MEMORY);
        tli_iceberg_free_list(&list);
        tl_buffer_free(&out);
        CHECK_INT(memory.live, 0);
    }
    CHECK_INT(st, TL_OK);
    CHECK_STATUS(tli_iceberg_read_list(&list, o->data, o->size, &limits, NULL, &err), TL_OK, &err);
    list.entries[0].counted = 0x1f;
    memset(&out, 0, sizeof out);
    CHECK_STATUS(tli_manifest_list(&out, list.entries, list.count, 5, 4, 9, sync_marker, &err), TL_UNSUPPORTED, &err);
    tli_iceberg_free_list(&list);
    tl_buffer_free(&out);
    tl_metadata_free(&m);
    tl_mem_free(&store);
}

static const tl_test_case cases[] = {
    TL_TEST(uuids_have_their_form),
    TL_TEST(every_manifest_of_the_lake),
    TL_TEST(odd_ones),
};
TL_TEST_MAIN(cases)
