/* The Arrow C Data Interface: format texts both ways; tables of any schema that are built, checked, exported, taken
   apart and released in any order; documents of them, sliced; the same with damaged buffers, which are refused or safe
   to read. */
#include "../tests/tl_test.h"

#include "../tests/tl_compare.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEPT 256

typedef struct input {
    const uint8_t *data;
    size_t size, at;
} input;

static uint8_t next(input *in)
{
    return in->at < in->size ? in->data[in->at++] : 0;
}

/* A format of any bytes, and what comes back from it. */
static void one_format(tli_store *store, const uint8_t *data, size_t size)
{
    char text[64];
    struct ArrowSchema s;
    const char *again = NULL;
    tl_type t, u;
    memset(&s, 0, sizeof s);
    size = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, data, size);
    text[size] = 0;
    s.format = text;
    if (tl_type_of(&s, &t, NULL) != TL_OK || tli_arrow_format(store, &t, &again, NULL) != TL_OK)
        return;
    s.format = again;
    TIMELAKE_ASSERT(tl_type_of(&s, &u, NULL) == TL_OK);
    TIMELAKE_ASSERT(t.id == u.id && t.unit == u.unit && t.width == u.width && t.size == u.size);
    TIMELAKE_ASSERT(t.precision == u.precision && t.scale == u.scale && tl_span_equal(t.zone, u.zone));
}

/* Some schema, at most `depth` deep. */
static struct ArrowSchema *some_schema(tli_store *store, input *in, int depth, const char *forced)
{
    static const char *const formats[] = {"n", "b", "c", "C", "s", "S", "i", "I", "l", "L", "e", "f", "g", "d:9,2,32",
                                          "d:38,3", "d:76,3,256", "w:3", "w:0", "tdD", "tin", "u", "U", "vu", "z", "Z",
                                          "vz", "+l", "+L", "+w:2", "+w:0", "+s", "+m", "i"};
    const char *f = forced != NULL ? forced : formats[next(in) % (depth > 0 ? 33 : 26)];
    int64_t flags = next(in) & 1 ? ARROW_FLAG_NULLABLE : 0, n = f[0] != '+' ? 0 : f[1] != 's' ? 1 : next(in) % 4, i;
    struct ArrowSchema *s;
    tl_span key, value;
    if (forced != NULL && f[0] == '+' && depth < 4)
        n = 2;
    s = tli_arrow_schema_new(store, f, tl_text("name"), flags, n, NULL);
    for (i = 0; i < n; i++) {
        s->children[i] = some_schema(store, in, depth - 1, f[1] == 'm' ? "+s" : NULL);
        if (f[1] == 'm' && s->children[i]->n_children != 2) {
            s->children[i] = tli_arrow_schema_new(store, "+s", tl_text("entries"), 0, 2, NULL);
            s->children[i]->children[0] = some_schema(store, in, 0, "u");
            s->children[i]->children[1] = some_schema(store, in, depth - 2, NULL);
        }
    }
    if (f[0] >= 'C' && strchr("cCsSiIlL", f[0]) != NULL && f[1] == 0 && next(in) % 4 == 0)
        s->dictionary = some_schema(store, in, depth - 1, next(in) % 2 ? "u" : "b");
    key = tl_text("key");
    value = tli_text_span(in->data + in->at, next(in) % 4 < in->size - in->at ? (size_t)(next(in) % 2) : 0);
    (void)tli_arrow_schema_metadata(store, s, &key, &value, next(in) % 2, NULL);
    return s;
}

static void put(tli_build_node *n, int fill, input *in, int may_be_null)
{
    uint8_t what = next(in), bytes[300];
    uint32_t i, k;
    if (n->layout == TLI_ARROW_NULL
        || (what % 4 == 0 && (n->schema->flags & ARROW_FLAG_NULLABLE) != 0 && may_be_null)) {
        if (fill)
            tli_build_null(n);
        else
            tli_build_count_null(n);
        return;
    }
    memset(bytes, 'a' + what % 26, sizeof bytes);
    if (n->schema->dictionary != NULL) { /* index 0 of a dictionary with an entry for each row */
        put(n + 1, fill, in, 1);
        memset(bytes, 0, sizeof bytes);
    }
    switch (n->layout) {
    case TLI_ARROW_BITS:
        if (fill)
            tli_build_bool(n, what & 1);
        else
            tli_build_count(n);
        return;
    case TLI_ARROW_FIXED:
        if (fill)
            tli_build_fixed(n, bytes);
        else
            tli_build_count(n);
        return;
    case TLI_ARROW_BYTES:
    case TLI_ARROW_LARGE_BYTES:
    case TLI_ARROW_VIEWS:
        if (fill)
            tli_build_bytes(n, bytes, what);
        else
            tli_build_count_bytes(n, what);
        return;
    case TLI_ARROW_STRUCT:
        for (i = 1; i < n->span; i += n[i].span)
            put(n + i, fill, in, 1);
        break;
    default:
        for (k = n->layout == TLI_ARROW_FIXED_LIST ? (uint32_t)n->type.size : what % 5u; k > 0; k--)
            put(n + 1, fill, in, n->type.id != TL_TYPE_MAP);
        break;
    }
    if (fill)
        tli_build_end(n);
    else
        tli_build_count(n);
}

static struct ArrowArray *some_array(tli_store *store, const struct ArrowSchema *schema, input *in, int rows)
{
    tli_build_tree *b = NULL;
    struct ArrowArray *a = NULL;
    size_t at = in->at;
    int fill, row;
    if (tli_build_begin(store, schema, NULL, &b, NULL) != TL_OK)
        abort();
    for (fill = 0; fill < 2; fill++) {
        in->at = at;
        for (row = 0; row < rows; row++)
            put(b->nodes, fill, in, 0);
        if (fill == 0 && tli_build_allocate(b, NULL) != TL_OK)
            return NULL;
    }
    if (tli_build_finish(b, &a, NULL) != TL_OK)
        abort();
    return a;
}

/* Puts each buffer of a tree in memory of its own exact size, so that a step outside is seen, and damages some. */
static void settle(const struct ArrowSchema *schema, const struct ArrowArray *array, void **kept, size_t *count,
                   input *in,
                   int damage)
{
    tli_arrow_walk w;
    tli_arrow_walk_begin(&w, schema, array);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        tl_type t;
        int64_t i;
        uint64_t sizes[8];
        TIMELAKE_ASSERT(tl_type_of(w.schema, &t, NULL) == TL_OK && w.array->n_buffers < 8);
        for (i = 0; i < w.array->n_buffers; i++)
            sizes[i] = tli_arrow_buffer_size(&t, w.array, i);
        for (i = 0; i < w.array->n_buffers; i++) {
            uint8_t *copy;
            uint64_t last;
            if (w.array->buffers[i] == NULL || *count == KEPT)
                continue;
            copy = (uint8_t *)malloc(sizes[i] > 0 ? (size_t)sizes[i] : 1);
            if (sizes[i] > 0)
                memcpy(copy, w.array->buffers[i], (size_t)sizes[i]);
            /* the last offset and the sizes of view buffers say where memory ends: they are believed */
            last = i == 1 && w.array->n_buffers == 3 ? (uint64_t)tli_arrow_offset_width(tli_arrow_layout_of(t.id)) : 0;
            if (damage && sizes[i] > last && next(in) % 4 == 0
                && (tli_arrow_layout_of(t.id) != TLI_ARROW_VIEWS || i < w.array->n_buffers - 1))
                copy[next(in) % (sizes[i] - last)] ^= next(in);
            ((const void **)(uintptr_t)w.array->buffers)[i] = copy;
            kept[(*count)++] = copy;
        }
    }
}

/* Takes an exported tree apart: some children move out, some are released in place, then everything goes. */
static void take_apart(const struct ArrowSchema *schema, struct ArrowArray *out, input *in)
{
    struct ArrowArray moved[16];
    int64_t i, n = 0;
    for (i = 0; i < schema->n_children && n < 16; i++) {
        struct ArrowArray *child = out->children[i];
        uint8_t what = next(in);
        if (what % 4 == 1 && child->n_children > 0)
            child = child->children[0];
        if (what % 4 < 2) {
            moved[n++] = *child;
            child->release = NULL;
        } else if (what % 4 == 2) {
            child->release(child);
        }
    }
    if (next(in) & 1) {
        out->release(out);
        while (n-- > 0)
            moved[n].release(&moved[n]);
    } else {
        for (i = 0; i < n; i++)
            moved[i].release(&moved[i]);
        out->release(out);
    }
}

/* The table, whole and in two slices, as sections of a document: both say the same, and what goes out outlives it. */
static void one_document(const struct ArrowSchema *schema, struct ArrowArray *array, input *in)
{
    struct ArrowArray slices[2], out;
    struct ArrowSchema out_schema;
    const struct ArrowArray *batches[2], *column;
    tl_document d;
    tl_section *section;
    int64_t cut = array->length > 0 ? next(in) % (array->length + 1) : 0;
    memset(&d, 0, sizeof d);
    slices[0] = slices[1] = *array;
    slices[0].length = slices[1].offset = cut;
    slices[1].length = array->length - cut;
    slices[0].null_count = slices[1].null_count = -1;
    batches[0] = array;
    if (tl_document_add(&d, tl_text("b"), schema, batches, 1, NULL) == TL_OK) {
        batches[0] = &slices[0];
        batches[1] = &slices[1];
        TIMELAKE_ASSERT(tl_document_add(&d, tl_text("a"), schema, batches, 2, NULL) == TL_OK);
        TIMELAKE_ASSERT(tl_document_set(&d, tl_text("k"), tl_text("v"), NULL) == TL_OK);
        TIMELAKE_ASSERT(tl_span_equal(tl_document_property(&d, tl_text("k")), tl_text("v")));
        section = tl_document_section(&d, tl_text("a"));
        TIMELAKE_ASSERT(tl_section_open(section, NULL) == TL_OK);
        TIMELAKE_ASSERT(tl_compare_section(&d.sections[0], &d.sections[1]));
        if (tl_schema_find(schema, tl_text("name")) == 0)
            TIMELAKE_ASSERT(tl_section_column(section, 1, 0, &column, NULL) == TL_OK);
        TIMELAKE_ASSERT(tl_section_export(section, 1, &out_schema, &out, NULL) == TL_OK);
        tl_document_free(&d);
        TIMELAKE_ASSERT(tl_compare_arrays(schema, &slices[1], &out_schema, &out));
        out_schema.release(&out_schema);
        take_apart(schema, &out, in);
    }
    tl_document_free(&d);
}

static void one_table(tli_store *store, input *in)
{
    struct ArrowSchema *schema = some_schema(store, in, 4, "+s"), copy;
    struct ArrowArray *array = some_array(store, schema, in, next(in) % 20), out, again;
    void **kept = (void **)calloc(KEPT, sizeof *kept);
    size_t count = 0;
    int damage = next(in) & 1;
    tl_span key, value;
    tl_error err;
    tl_status st;
    if (array == NULL || kept == NULL) {
        free(kept);
        return;
    }
    settle(schema, array, kept, &count, in, 0);
    st = tli_arrow_array_check(schema, array, NULL, &err);
    /* nulls of nullable fields lie in those that are not when a parent is null; all else is sound */
    TIMELAKE_ASSERT(st == TL_OK || strcmp(err.text, "a null in a column that is not nullable") == 0);
    if (damage) {
        settle(schema, array, kept, &count, in, 1);
        st = tli_arrow_array_check(schema, array, NULL, &err);
        TIMELAKE_ASSERT(st == TL_OK || st == TL_MISUSE);
    }
    if (st == TL_OK) {
        int64_t nulls = next(in) % 2 ? array->null_count : -1;
        array->null_count = nulls;
        array->private_data = NULL; /* what was settled is not the store's */
        TIMELAKE_ASSERT(tl_schema_copy(&copy, schema, NULL, &err) == TL_OK);
        TIMELAKE_ASSERT(tl_compare_schemas(schema, &copy));
        if (tl_schema_metadata_at(schema, 0, &key, &value))
            TIMELAKE_ASSERT(tl_span_equal(tl_schema_metadata(schema, key), value));
        TIMELAKE_ASSERT(tli_arrow_export(store, schema, array, &out, &err) == TL_OK);
        TIMELAKE_ASSERT(tl_compare_arrays(schema, array, &copy, &out));
        TIMELAKE_ASSERT(tli_arrow_array_check(&copy, &out, NULL, &err) == TL_OK);
        TIMELAKE_ASSERT(tli_arrow_export(store, &copy, &out, &again, &err) == TL_OK);
        take_apart(schema, &out, in);
        TIMELAKE_ASSERT(tl_compare_arrays(schema, array, &copy, &again));
        take_apart(schema, &again, in);
        copy.release(&copy);
        one_document(schema, array, in);
    }
    while (count > 0)
        free(kept[--count]);
    free(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tli_store *store = tli_mem_store_new(NULL, 1 << 26, NULL, 0, NULL, NULL, NULL);
    input in;
    in.data = data;
    in.size = size;
    in.at = 0;
    one_format(store, data, size);
    one_table(store, &in);
    tli_mem_store_drop(store);
    return 0;
}
