/* The head document: properties, sections, slices, columns that open, exports. */
#include "tl_test.h"

#include "tl_compare.h"
#include "tl_table.h"

static tl_document *document_of(tl_test_memory *m)
{
    static tl_document d;
    memset(&d, 0, sizeof d);
    d.allocator = tl_test_allocator(m);
    return &d;
}

static void properties(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_document *d = document_of(&m);
    tl_error err;
    int i;
    CHECK(tl_document_property(d, tl_text("x")).data == NULL);
    for (i = 0; i < 500; i++) {
        char key[16], value[16];
        snprintf(key, sizeof key, "k%03d", i * 7 % 500);
        snprintf(value, sizeof value, "%d", i);
        CHECK_STATUS(tl_document_set(d, tl_text(key), tl_text(value), &err), TL_OK, &err);
    }
    CHECK_INT(d->property_count, 500);
    for (i = 1; i < 500; i++)
        CHECK(tl_span_compare(d->properties[i - 1].key, d->properties[i].key) < 0);
    CHECK_STATUS(tl_document_set(d, tl_text("k007"), tl_text("again"), &err), TL_OK, &err);
    CHECK_INT(d->property_count, 500);
    CHECK_TEXT(tl_document_property(d, tl_text("k007")).data, tl_document_property(d, tl_text("k007")).size, "again");
    CHECK(tl_document_property(d, tl_text("k7")).data == NULL);
    CHECK_STATUS(tl_document_set(d, tl_text(""), tl_text(NULL), &err), TL_OK, &err);
    CHECK(tl_document_property(d, tl_text("")).data != NULL);
    CHECK_STATUS(tl_document_set(d, tl_text(NULL), tl_text("x"), &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_set(d, tl_text("\xff"), tl_text("x"), &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_set(d, tl_text("x"), tl_text("\xc3"), &err), TL_MISUSE, &err);
    tl_document_free(d);
    CHECK_INT(m.live, 0);
    CHECK(d->allocator.context == &m && d->store == NULL && d->property_count == 0);
    tl_document_free(d);
}

typedef struct table {
    tli_store *store;
    struct ArrowSchema *schema;
    struct ArrowArray *array;
} table;

static table rows(int64_t first, int64_t count)
{
    tl_error err;
    table t;
    t.array = NULL;
    t.store = tli_mem_store_new(NULL, 1 << 26, NULL, 0, NULL, NULL, &err);
    t.schema = tl_table_schema(t.store);
    CHECK_STATUS(tl_table_array(t.store, t.schema, first, count, &t.array, &err), TL_OK, &err);
    return t;
}

static void sections(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_document *d = document_of(&m);
    tl_error err;
    table t = rows(0, 100), head = rows(0, 30), tail = rows(30, 70);
    struct ArrowArray slices[2], out, child;
    struct ArrowSchema schema;
    const struct ArrowArray *batches[2], *column;
    tl_section *s;
    batches[0] = t.array;
    CHECK_STATUS(tl_document_add(d, tl_text("b"), t.schema, batches, 1, &err), TL_OK, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("none"), t.schema, NULL, 0, &err), TL_OK, &err);
    slices[0] = slices[1] = *t.array;
    slices[0].length = 30;
    slices[1].offset = 30;
    slices[1].length = 70;
    batches[0] = &slices[0];
    batches[1] = &slices[1];
    CHECK_STATUS(tl_document_add(d, tl_text("a"), t.schema, batches, 2, &err), TL_OK, &err);
    CHECK_INT(d->section_count, 3);
    CHECK_TEXT(d->sections[0].name.data, d->sections[0].name.size, "a");
    s = tl_document_section(d, tl_text("a"));
    CHECK_INT(s->rows, 100);
    CHECK_INT(s->batch_count, 2);
    CHECK_SAME(tl_compare_section(s, tl_document_section(d, tl_text("b"))));
    CHECK_SAME(tl_compare_schemas(s->schema, t.schema));
    CHECK(tl_document_section(d, tl_text("c")) == NULL);
    CHECK_STATUS(tl_section_column(s, 1, 4, &column, &err), TL_OK, &err);
    CHECK_SAME(tl_compare_arrays(t.schema->children[4], column, t.schema->children[4], tail.array->children[4]));
    CHECK_STATUS(tl_section_column(s, 2, 0, &column, &err), TL_ABSENT, &err);
    CHECK_STATUS(tl_section_column(s, 0, 19, &column, &err), TL_ABSENT, &err);
    CHECK_STATUS(tl_section_column(NULL, 0, 0, &column, &err), TL_ABSENT, &err);
    /* a slice goes out, and outlives the document and the caller's arrays */
    CHECK_STATUS(tl_section_export(s, 1, &schema, &out, &err), TL_OK, &err);
    CHECK_STATUS(tl_section_export(s, 2, NULL, &child, &err), TL_ABSENT, &err);
    tl_document_free(d);
    tli_mem_store_drop(t.store);
    CHECK_STATUS(tli_arrow_array_check(&schema, &out, NULL, &err), TL_OK, &err);
    CHECK_SAME(tl_compare_arrays(&schema, &out, tail.schema, tail.array));
    child = *out.children[11];
    out.children[11]->release = NULL;
    out.release(&out);
    CHECK_SAME(tl_compare_arrays(tail.schema->children[11], &child, tail.schema->children[11],
                                 tail.array->children[11]));
    child.release(&child);
    schema.release(&schema);
    CHECK_INT(m.live, 0);
    tli_mem_store_drop(head.store);
    tli_mem_store_drop(tail.store);
}

static void sections_refused(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_document *d = document_of(&m);
    tl_error err;
    table t = rows(0, 10);
    const struct ArrowArray *batches[1];
    uint8_t validity[2] = {0xff, 0x01};
    batches[0] = t.array;
    CHECK_STATUS(tl_document_add(d, tl_text(NULL), t.schema, batches, 1, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema, NULL, 1, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema, batches, -1, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("x"), NULL, batches, 1, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema->children[0], NULL, 0, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("\xff"), t.schema, batches, 1, &err), TL_MISUSE, &err);
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema, batches, 1, &err), TL_OK, &err);
    t.array->buffers[0] = validity;
    t.array->null_count = -1;
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema, batches, 1, &err), TL_MISUSE, &err);
    validity[1] = 3;
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema, batches, 1, &err), TL_OK, &err);
    t.schema->children[4]->name = "\xff";
    CHECK_STATUS(tl_document_add(d, tl_text("x"), t.schema, batches, 1, &err), TL_MISUSE, &err);
    CHECK_INT(d->section_count, 1);
    CHECK_INT(tl_document_section(d, tl_text("x"))->rows, 10);
    tl_document_free(d);
    tli_mem_store_drop(t.store);
}

/* A source that counts, and opens every column as one and the same array. */
typedef struct counting {
    struct tli_doc_source base;
    const struct ArrowArray *array;
    int opened;
} counting;

static tl_status counting_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                               tl_error *err)
{
    counting *c = (counting *)(void *)self;
    c->opened++;
    if (column == 1)
        return tli_err(err, TL_CORRUPT, "as told", 7);
    section->batches[batch].columns[column] = c->array->children[column];
    return TL_OK;
}

static void columns_open_once(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_document *d = document_of(&m);
    tl_error err;
    table t = rows(0, 10);
    counting c;
    tl_section *s = NULL;
    const struct ArrowArray *column;
    struct ArrowArray out;
    c.base.open = counting_open;
    c.array = t.array;
    c.opened = 0;
    CHECK_STATUS(tli_doc_store(d, &err), TL_OK, &err);
    CHECK_STATUS(tli_doc_section(d, tl_text("s"), t.schema, 2, &c.base, &s, &err), TL_OK, &err);
    s->batches[0].rows = s->batches[1].rows = 10;
    CHECK_STATUS(tl_section_column(s, 0, 3, &column, &err), TL_OK, &err);
    CHECK_STATUS(tl_section_column(s, 0, 3, &column, &err), TL_OK, &err);
    CHECK_INT(c.opened, 1);
    CHECK(s->batches[1].columns == NULL && s->batches[0].columns[2] == NULL);
    CHECK_STATUS(tl_section_open(s, &err), TL_CORRUPT, &err);
    CHECK_INT(err.position, 7);
    CHECK_STATUS(tl_section_export(s, 0, NULL, &out, &err), TL_CORRUPT, &err);
    CHECK(out.release == NULL);
    tl_document_free(d);
    tli_mem_store_drop(t.store);
    CHECK_INT(m.live, 0);
}

static void allocations_fail(void)
{
    table t = rows(0, 50);
    struct ArrowArray slice = *t.array;
    const struct ArrowArray *batches[2];
    long at;
    batches[0] = t.array;
    batches[1] = &slice;
    slice.offset = 20;
    slice.length = 30;
    for (at = 1; at < 100; at++) {
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_document *d = document_of(&m);
        struct ArrowSchema schema;
        struct ArrowArray out;
        tl_status st;
        m.fail_at = at;
        out.release = NULL;
        st = tl_document_set(d, tl_text("layout"), tl_text("1"), NULL);
        if (st == TL_OK)
            st = tl_document_add(d, tl_text("a"), t.schema, batches, 2, NULL);
        if (st == TL_OK)
            st = tl_document_add(d, tl_text("b"), t.schema, batches, 2, NULL);
        CHECK(st == TL_OK || d->section_count < 2);
        if (st == TL_OK)
            st = tl_section_export(&d->sections[1], 1, &schema, &out, NULL);
        tl_document_free(d);
        if (st == TL_OK) {
            schema.release(&schema);
            out.release(&out);
        } else {
            CHECK(st == TL_NO_MEMORY && out.release == NULL);
        }
        CHECK_INT(m.live, 0);
        if (m.calls < at)
            break;
    }
    CHECK(at > 3 && at < 100);
    tli_mem_store_drop(t.store);
}

static const tl_test_case cases[] = {
    TL_TEST(properties),        TL_TEST(sections), TL_TEST(sections_refused),
    TL_TEST(columns_open_once), TL_TEST(allocations_fail),
};
TL_TEST_MAIN(cases)
