/* >>take: columns are found by field id where both sides have one, else by name; a missing nullable one is null. Values
   become those of the table's types where that loses nothing: wider integers and floats, times of other units, texts
   and lists of other layouts, dictionaries. Node by node, parents first: no recursion. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_TAKE_INPUTS 2
#define TLI_TAKE_MOST ((uint32_t)1 << 22) /* batches */
#define TLI_TAKE_ROWS 40 /* bits */
#define TLI_TAKE_NONE UINT64_MAX

/* Where a value is: a batch, and the place in an array of it, the array's offset not yet added. */
TLI_INLINE uint64_t tli_take_place(uint64_t part, uint64_t at)
{
    return part << TLI_TAKE_ROWS | at;
}

typedef enum tli_take_how {
    TLI_TAKE_NULLS,   /* there is no such column, or it is of type null */
    TLI_TAKE_SAME,    /* the bytes as they are */
    TLI_TAKE_INTEGER,
    TLI_TAKE_FLOAT,   /* of 32 bits to 64 */
    TLI_TAKE_FINER,   /* integers times a factor */
    TLI_TAKE_COARSER, /* divided by it, without a rest */
    TLI_TAKE_DECIMAL, /* of fewer bytes */
    TLI_TAKE_PARTS_OF /* nested */
} tli_take_how;

/* A column, or a part of one, as one input has it. */
typedef struct tli_take_source {
    const struct ArrowSchema *schema; /* NULL: it has none */
    tl_type type;                     /* of the values: behind a dictionary its own */
    tl_type index;
    tli_take_how how;
    int64_t factor;
} tli_take_source;

typedef struct tli_take_node {
    const struct ArrowSchema *schema; /* of the table */
    tl_type type;
    tli_arrow_layout layout;
    uint32_t up, child; /* the parent is node - up, and this its child `child` */
    tli_take_source from[TLI_TAKE_INPUTS];
    const struct ArrowArray **arrays; /* by part */
    const uint64_t *places;           /* what is taken */
    uint64_t count;
    struct ArrowArray *array;         /* what was made of it */
} tli_take_node;

typedef struct tli_take {
    tli_take_node *nodes; /* the root first */
    uint32_t count;
    uint32_t parts;
    uint8_t *inputs; /* by part: whose it is */
    tl_error *err;
} tli_take;

/* Input 0 is the table's own. */
TLI_FN tl_status tli_take_bad(const tli_take *t, unsigned input, const char *text)
{
    return tli_err(t->err, input == 0 ? TL_CORRUPT : TL_MISUSE, text, TL_NO_POSITION);
}

/* ---- types ---- */

TLI_FN tli_take_how tli_take_times(const tl_type *from, const tl_type *to, int64_t *factor)
{
    int steps = (int)to->unit - (int)from->unit, finer = steps >= 0;
    *factor = 1;
    for (steps = finer ? steps : -steps; steps > 0; steps--)
        *factor *= 1000;
    return *factor == 1 && from->width == to->width ? TLI_TAKE_SAME : finer ? TLI_TAKE_FINER : TLI_TAKE_COARSER;
}

/* How a value of one type becomes one of another; -1: it does not. */
TLI_FN int tli_take_convert(const tl_type *from, const tl_type *to, int64_t *factor)
{
    int text = from->id >= TL_TYPE_UTF8 && from->id <= TL_TYPE_UTF8_VIEW;
    int bytes = from->id >= TL_TYPE_BINARY && from->id <= TL_TYPE_BINARY_VIEW;
    int time = from->id == TL_TYPE_TIME32 || from->id == TL_TYPE_TIME64;
    *factor = 1;
    if (from->id == TL_TYPE_NULL)
        return TLI_TAKE_NULLS;
    if ((to->id == TL_TYPE_UTF8 && text) || (to->id == TL_TYPE_LARGE_BINARY && bytes))
        return TLI_TAKE_SAME;
    if (to->id == TL_TYPE_LIST && (from->id == TL_TYPE_LIST || from->id == TL_TYPE_LARGE_LIST))
        return TLI_TAKE_PARTS_OF;
    if ((to->id == TL_TYPE_TIMESTAMP && from->id == TL_TYPE_TIMESTAMP) || (to->id == TL_TYPE_TIME64 && time))
        return (int)tli_take_times(from, to, factor);
    if ((to->id == TL_TYPE_INT32 || to->id == TL_TYPE_INT64) && from->id >= TL_TYPE_INT8
        && from->id <= TL_TYPE_UINT64)
        return from->id == to->id ? TLI_TAKE_SAME : TLI_TAKE_INTEGER;
    if (to->id == TL_TYPE_FLOAT64 && from->id == TL_TYPE_FLOAT32)
        return TLI_TAKE_FLOAT;
    if (to->id == TL_TYPE_DECIMAL128 && from->id >= TL_TYPE_DECIMAL32 && from->id <= TL_TYPE_DECIMAL128)
        return from->scale != to->scale || from->precision > to->precision ? -1
            : from->id == to->id ? TLI_TAKE_SAME : TLI_TAKE_DECIMAL;
    if (from->id != to->id || from->width != to->width || from->size != to->size)
        return -1;
    return from->id >= TL_TYPE_LIST ? TLI_TAKE_PARTS_OF : TLI_TAKE_SAME;
}

/* ---- columns ---- */

/* Has the child the field id of the wanted one, or its name when either has no id? */
TLI_FN int tli_take_is(const struct ArrowSchema *child, const struct ArrowSchema *wanted)
{
    tl_span a = tl_schema_metadata(child, tl_text(TLI_SCHEMA_FIELD_ID));
    tl_span b = tl_schema_metadata(wanted, tl_text(TLI_SCHEMA_FIELD_ID));
    return a.data != NULL && b.data != NULL ? tl_span_equal(a, b)
                                            : tl_span_equal(tl_text(child->name), tl_text(wanted->name));
}

/* The child of `in` that becomes `wanted`, which mostly is in the same place; -1: there is none. */
TLI_FN int64_t tli_take_child(const struct ArrowSchema *in, const struct ArrowSchema *wanted, uint32_t place)
{
    int64_t i;
    if ((int64_t)place < in->n_children && tli_take_is(in->children[place], wanted))
        return place;
    for (i = 0; i < in->n_children; i++)
        if (tli_take_is(in->children[i], wanted))
            return i;
    return -1;
}

/* Finds where a node's values come from in an input, below the parent's. *child: its place there. */
TLI_FN tl_status tli_take_find_source(const tli_take *t, tli_take_node *n, unsigned input, int64_t *child)
{
    const tli_take_node *parent = n - n->up;
    const struct ArrowSchema *above = parent->from[input].schema;
    tli_take_source *s = &n->from[input];
    int by_place = parent->layout != TLI_ARROW_STRUCT
                   || (parent->up != 0 && (parent - parent->up)->type.id == TL_TYPE_MAP);
    int how;
    tl_status st;
    *child = above == NULL ? -1 : by_place ? (int64_t)n->child : tli_take_child(above, n->schema, n->child);
    if (*child < 0)
        return TL_OK;
    s->schema = above->children[*child];
    st = tl_type_of(s->schema, &s->type, t->err);
    s->index = s->type;
    if (st == TL_OK && s->schema->dictionary != NULL)
        st = tl_type_of(s->schema->dictionary, &s->type, t->err);
    if (st != TL_OK)
        return st;
    how = tli_take_convert(&s->type, &n->type, &s->factor);
    if (how < 0 || (how == TLI_TAKE_PARTS_OF && s->schema->dictionary != NULL))
        return tli_take_bad(t, input, "a column of rows is of a type that the table's does not take");
    s->how = (tli_take_how)how;
    if (how == TLI_TAKE_NULLS)
        s->schema = NULL;
    return TL_OK;
}

/* Can places say where its values are? */
TLI_INLINE int tli_take_fits(const struct ArrowArray *a)
{
    return ((uint64_t)a->offset + (uint64_t)a->length) >> TLI_TAKE_ROWS == 0;
}

/* The same below each batch of the input. */
TLI_FN tl_status tli_take_find_arrays(tli_take *t, tli_take_node *n, unsigned input, int64_t child)
{
    const struct ArrowArray **above = (n - n->up)->arrays;
    uint32_t i;
    for (i = 0; i < t->parts && n->from[input].schema != NULL; i++) {
        const struct ArrowArray *a;
        if (t->inputs[i] != input)
            continue;
        n->arrays[i] = a = above[i]->children[child];
        if (!tli_take_fits(a))
            return tli_err(t->err, TL_LIMIT, "a batch of too many values", TL_NO_POSITION);
    }
    return TL_OK;
}

/* A node per node of the table's schema, and where each comes from. */
TLI_FN tl_status tli_take_nodes(tli_take *t, tli_store *store, const struct ArrowSchema *schema)
{
    uint32_t *last = (uint32_t *)tli_mem_take_array(store, TLI_ARROW_DEPTH_MAX + 1, sizeof *last, t->err), n = 0;
    uint32_t room;
    tli_arrow_walk w;
    tl_status st = tli_arrow_schema_check(schema, NULL, &room, t->err);
    if (st != TL_OK || last == NULL)
        return t->err->status;
    t->nodes = (tli_take_node *)tli_mem_take_array(store, room, sizeof *t->nodes, t->err);
    if (t->nodes == NULL)
        return t->err->status;
    tli_arrow_walk_begin(&w, schema, NULL);
    while (n < room && tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        tli_take_node *node = &t->nodes[n];
        node->schema = w.schema;
        (void)tl_type_of(w.schema, &node->type, NULL);
        node->layout = tli_arrow_layout_of(node->type.id);
        node->up = w.depth == 0 ? 0 : n - last[w.depth - 1];
        node->child = w.depth == 0 ? 0 : w.path[w.depth - 1];
        node->arrays = (const struct ArrowArray **)tli_mem_take_array(store, t->parts, sizeof *node->arrays, t->err);
        if (node->arrays == NULL)
            return t->err->status;
        last[w.depth] = n++;
    }
    t->count = n;
    return TL_OK;
}

/* Checks an input's rows, and counts them. */
TLI_FN tl_status tli_take_check(const tli_take *t, const tl_rows *in, unsigned input, uint64_t *rows)
{
    int64_t n = 0;
    tl_status st;
    *rows = 0;
    if (in == NULL || in->count == 0)
        return TL_OK;
    if (in->schema == NULL || in->batches == NULL || in->count > TLI_TAKE_MOST)
        return tli_take_bad(t, input, "rows without a schema, or too many batches of them");
    st = tli_doc_check_schema(in->schema, t->err);
    if (st == TL_OK)
        st = tli_doc_check_batches(in->schema, in->batches, (int32_t)in->count, &n, t->err);
    *rows = (uint64_t)n;
    if (st == TL_MISUSE && input == 0)
        st = t->err->status = TL_CORRUPT;
    return st;
}

/* Looks up the columns of all nodes in an input. Columns that the table does not have are passed over in its own rows
   (they were dropped), and refused in others. */
TLI_FN tl_status tli_take_match(tli_take *t, const tl_rows *in, unsigned input)
{
    int64_t child, found = 0;
    uint32_t i;
    tl_status st = TL_OK;
    if (in == NULL || in->count == 0)
        return TL_OK;
    t->nodes[0].from[input].schema = in->schema;
    t->nodes[0].from[input].how = TLI_TAKE_PARTS_OF;
    for (i = 1; i < t->count && st == TL_OK; i++) {
        st = tli_take_find_source(t, &t->nodes[i], input, &child);
        found += t->nodes[i].up == i && child >= 0;
        if (st == TL_OK && child >= 0)
            st = tli_take_find_arrays(t, &t->nodes[i], input, child);
    }
    if (st == TL_OK && input != 0 && found < in->schema->n_children)
        return tli_take_bad(t, input, "rows have a column that the table has not");
    return st;
}

/* Gets ready to take rows of the inputs (a NULL one has none) into columns of `schema`. `rows`: how many each has.
   What is needed for that lies in the store. */
TLI_FN tl_status tli_take_begin(tli_take *t, tli_store *store, const struct ArrowSchema *schema,
                                const tl_rows *const *inputs, uint64_t *rows, tl_error *err)
{
    unsigned k;
    size_t i;
    tl_status st = TL_OK;
    TLI_FILL(t, 0, sizeof *t);
    t->err = err;
    for (k = 0; k < TLI_TAKE_INPUTS && st == TL_OK; k++) {
        st = tli_take_check(t, inputs[k], k, &rows[k]);
        t->parts += st == TL_OK && inputs[k] != NULL ? (uint32_t)inputs[k]->count : 0;
    }
    if (st != TL_OK)
        return st;
    t->inputs = (uint8_t *)tli_mem_take_array(store, (uint64_t)t->parts + 1, 1, err);
    if (t->inputs == NULL)
        return err->status;
    st = tli_take_nodes(t, store, schema);
    t->parts = 0;
    for (k = 0; k < TLI_TAKE_INPUTS && st == TL_OK; k++)
        for (i = 0; inputs[k] != NULL && i < inputs[k]->count; i++) {
            t->inputs[t->parts] = (uint8_t)k;
            t->nodes[0].arrays[t->parts++] = inputs[k]->batches[i];
            if (!tli_take_fits(inputs[k]->batches[i]))
                return tli_err(err, TL_LIMIT, "a batch of too many values", TL_NO_POSITION);
        }
    for (k = 0; k < TLI_TAKE_INPUTS && st == TL_OK; k++)
        st = tli_take_match(t, inputs[k], k);
    return st;
}

/* ---- values ---- */

/* A value that was found. */
typedef struct tli_take_value {
    const tli_take_source *source;
    const struct ArrowArray *array;
    uint64_t at; /* the array's offset is in */
} tli_take_value;

/* 1: it is there; 0: it is null. */
TLI_INLINE int tli_take_value_of(const tli_take *t, const tli_take_node *n, uint64_t place, tli_take_value *v)
{
    uint64_t part = place >> TLI_TAKE_ROWS, at = place & (((uint64_t)1 << TLI_TAKE_ROWS) - 1);
    v->source = &n->from[t->inputs[part]];
    if (v->source->schema == NULL)
        return 0;
    v->array = n->arrays[part];
    if (n->up != 0 && !tli_arrow_valid(v->array, (int64_t)at))
        return 0;
    v->at = (uint64_t)v->array->offset + at;
    if (v->array->dictionary == NULL)
        return 1;
    at = (uint64_t)tli_arrow_integer(&v->source->index, v->array->buffers[1], (int64_t)v->at);
    v->array = v->array->dictionary;
    v->at = (uint64_t)v->array->offset + at;
    return tli_arrow_valid(v->array, (int64_t)at);
}

/* The bytes of a value of variable size. */
TLI_FN tl_span tli_take_bytes(const tli_take_value *v)
{
    tli_arrow_layout layout = tli_arrow_layout_of(v->source->type.id);
    int width = tli_arrow_offset_width(layout);
    int64_t from;
    if (layout == TLI_ARROW_VIEWS)
        return tli_arrow_view(v->array, (int64_t)v->at);
    from = tli_arrow_offset(v->array->buffers[1], width, (int64_t)v->at);
    return tli_text_span((const char *)v->array->buffers[2] + from,
                         (size_t)(tli_arrow_offset(v->array->buffers[1], width, (int64_t)v->at + 1) - from));
}

/* Writes an integer of 4 or 8 bytes; 0: it does not fit. */
TLI_FN int tli_take_put(uint8_t *to, int32_t width, int64_t value)
{
    if (width == 8)
        tli_bits_put64(to, (uint64_t)value);
    else
        tli_bits_put32(to, (uint32_t)value);
    return width == 8 || (value >= INT32_MIN && value <= INT32_MAX);
}

/* An integer of at most 8 bytes as one of 16. */
TLI_FN void tli_take_widen(uint8_t *to, int64_t value)
{
    tli_bits_put64(to + (TLI_BIG_ENDIAN ? 8 : 0), (uint64_t)value);
    tli_bits_put64(to + (TLI_BIG_ENDIAN ? 0 : 8), value < 0 ? UINT64_MAX : 0);
}

/* Writes a value of fixed size; 0: it would lose something. */
TLI_FN int tli_take_fixed_value(uint8_t *to, const tli_take_node *n, const tli_take_value *v)
{
    const tl_type *type = &v->source->type;
    const uint8_t *from = (const uint8_t *)v->array->buffers[1] + (size_t)v->at * (size_t)type->width;
    int64_t factor = v->source->factor, value = 0;
    float f;
    double d;
    if (v->source->how == TLI_TAKE_SAME) {
        if (type->width != 0)
            TLI_COPY(to, from, (size_t)type->width);
        return 1;
    }
    if (v->source->how == TLI_TAKE_FLOAT) {
        TLI_COPY(&f, from, sizeof f);
        d = f;
        TLI_COPY(to, &d, sizeof d);
        return 1;
    }
    if (v->source->how == TLI_TAKE_INTEGER) {
        value = tli_arrow_integer(type, from, 0);
        return tli_take_put(to, n->type.width, value) && (value != INT64_MAX || type->id != TL_TYPE_UINT64);
    }
    value = tli_value_signed(from, type->width);
    if (v->source->how == TLI_TAKE_DECIMAL) {
        tli_take_widen(to, value);
        return 1;
    }
    if (v->source->how == TLI_TAKE_COARSER)
        return tli_take_put(to, n->type.width, value / factor) && value % factor == 0;
    return value <= INT64_MAX / factor && value >= INT64_MIN / factor
           && tli_take_put(to, n->type.width, value * factor);
}

/* ---- taking ---- */

/* An array for the node with room for its validity, which is dropped again when there are no nulls. */
TLI_FN tl_status tli_take_array(const tli_take *t, tli_take_node *n, tli_store *store)
{
    n->array = tli_arrow_array_new(store, tli_arrow_layout_buffers(n->layout), n->schema->n_children, t->err);
    if (n->array == NULL)
        return t->err->status;
    n->array->length = (int64_t)n->count;
    n->array->buffers[0] = tli_mem_take_array(store, n->count / 8 + 1, 1, t->err);
    return n->array->buffers[0] != NULL ? TL_OK : t->err->status;
}

/* Finds the value of place i and notes whether it is null: 1: it is there, 0: null, -1: it must not be. */
TLI_FN int tli_take_at(const tli_take *t, tli_take_node *n, uint64_t i, tli_take_value *v)
{
    if (n->places[i] != TLI_TAKE_NONE) {
        if (tli_take_value_of(t, n, n->places[i], v)) {
            tli_bits_set((void *)(uintptr_t)n->array->buffers[0], i);
            return 1;
        }
        if ((n->schema->flags & ARROW_FLAG_NULLABLE) == 0) {
            (void)tli_take_bad(t, t->inputs[n->places[i] >> TLI_TAKE_ROWS], "rows lack a value of a required column");
            return -1;
        }
    }
    n->array->null_count++;
    return 0;
}

TLI_FN tl_status tli_take_fixed(tli_take *t, tli_take_node *n, tli_store *store)
{
    size_t width = n->layout == TLI_ARROW_BITS ? 0 : (size_t)n->type.width;
    uint8_t *values = (uint8_t *)tli_mem_take_array(store, width == 0 ? n->count / 8 + 1 : n->count + 1,
                                                    width == 0 ? 1 : width, t->err);
    tli_take_value v;
    uint64_t i;
    int there;
    if (values == NULL)
        return t->err->status;
    n->array->buffers[1] = values;
    for (i = 0; i < n->count; i++) {
        there = tli_take_at(t, n, i, &v);
        if (there < 0)
            return t->err->status;
        if (there == 0)
            continue;
        if (n->layout == TLI_ARROW_BITS) {
            if (tli_bits_get(v.array->buffers[1], v.at))
                tli_bits_set(values, i);
        } else if (!tli_take_fixed_value(values + (size_t)i * width, n, &v)) {
            return tli_take_bad(t, t->inputs[n->places[i] >> TLI_TAKE_ROWS],
                                "a value of rows does not fit into the table's column without loss");
        }
    }
    return TL_OK;
}

TLI_INLINE void tli_take_put_offset(uint8_t *offsets, int width, uint64_t i, uint64_t value)
{
    if (width == 4)
        tli_bits_put32(offsets + 4 * (size_t)i, (uint32_t)value);
    else
        tli_bits_put64(offsets + 8 * (size_t)i, value);
}

TLI_FN tl_status tli_take_too_much(const tli_take *t)
{
    return tli_err(t->err, TL_LIMIT, "more than 2 GiB or values in a column of 32-bit offsets", TL_NO_POSITION);
}

/* Sizes first, then the bytes. */
TLI_FN tl_status tli_take_variable(tli_take *t, tli_take_node *n, tli_store *store)
{
    int width = tli_arrow_offset_width(n->layout), there;
    uint8_t *data, *offsets = (uint8_t *)tli_mem_take_array(store, n->count + 1, (size_t)width, t->err);
    uint64_t i, sum = 0;
    size_t bytes;
    tli_take_value v;
    if (offsets == NULL)
        return t->err->status;
    for (i = 0; i < n->count; i++) {
        there = tli_take_at(t, n, i, &v);
        if (there < 0)
            return t->err->status;
        sum += there ? tli_take_bytes(&v).size : 0;
        if (width == 4 && sum > INT32_MAX)
            return tli_take_too_much(t);
        tli_take_put_offset(offsets, width, i + 1, sum);
    }
    data = tli_bits_size(sum, &bytes) ? (uint8_t *)tli_mem_take(store, bytes, t->err) : NULL;
    if (data == NULL)
        return tli_arrow_failed(t->err);
    n->array->buffers[1] = offsets;
    n->array->buffers[2] = data;
    for (i = 0; i < n->count; i++) {
        tl_span b;
        if (n->places[i] == TLI_TAKE_NONE || !tli_take_value_of(t, n, n->places[i], &v))
            continue;
        b = tli_take_bytes(&v);
        if (b.size != 0)
            TLI_COPY(data + tli_arrow_offset(offsets, width, (int64_t)i), b.data, b.size);
    }
    return TL_OK;
}

/* Offsets first, then where each element is. */
TLI_FN tl_status tli_take_list(tli_take *t, tli_take_node *n, tli_store *store, tli_store *scratch)
{
    uint8_t *offsets = (uint8_t *)tli_mem_take_array(store, n->count + 1, 4, t->err);
    uint64_t i, sum = 0, *places, at = 0;
    tli_take_value v;
    int there, width;
    if (offsets == NULL)
        return t->err->status;
    for (i = 0; i < n->count; i++) {
        there = tli_take_at(t, n, i, &v);
        if (there < 0)
            return t->err->status;
        width = there ? tli_arrow_offset_width(tli_arrow_layout_of(v.source->type.id)) : 0;
        if (there)
            sum += (uint64_t)(tli_arrow_offset(v.array->buffers[1], width, (int64_t)v.at + 1)
                              - tli_arrow_offset(v.array->buffers[1], width, (int64_t)v.at));
        if (sum > INT32_MAX)
            return tli_take_too_much(t);
        tli_take_put_offset(offsets, 4, i + 1, sum);
    }
    n->array->buffers[1] = offsets;
    n[1].count = sum;
    n[1].places = places = (uint64_t *)tli_mem_take_array(scratch, sum + 1, sizeof *places, t->err);
    if (places == NULL)
        return t->err->status;
    for (i = 0; i < n->count; i++) {
        uint64_t from, end = (uint64_t)tli_arrow_offset(offsets, 4, (int64_t)i + 1);
        if (at == end || !tli_take_value_of(t, n, n->places[i], &v))
            continue;
        width = tli_arrow_offset_width(tli_arrow_layout_of(v.source->type.id));
        from = (uint64_t)tli_arrow_offset(v.array->buffers[1], width, (int64_t)v.at);
        while (at < end)
            places[at++] = tli_take_place(n->places[i] >> TLI_TAKE_ROWS, from++);
    }
    return TL_OK;
}

/* Members of a struct are where it is; below a null there is nothing. */
TLI_FN tl_status tli_take_struct(tli_take *t, tli_take_node *n, tli_store *scratch)
{
    uint64_t i, *places = (uint64_t *)tli_mem_take_array(scratch, n->count + 1, sizeof *places, t->err);
    tli_take_value v;
    int there;
    if (places == NULL)
        return t->err->status;
    for (i = 0; i < n->count; i++) {
        there = tli_take_at(t, n, i, &v);
        if (there < 0)
            return t->err->status;
        places[i] = there ? tli_take_place(n->places[i] >> TLI_TAKE_ROWS, v.at) : TLI_TAKE_NONE;
    }
    n->places = places; /* for the members */
    return TL_OK;
}

/* Takes what node->places say into an array of the store; of a nested one what its parts are to take. */
TLI_FN tl_status tli_take_node_values(tli_take *t, tli_take_node *n, tli_store *store, tli_store *scratch)
{
    tl_status st = tli_take_array(t, n, store);
    if (st != TL_OK)
        return st;
    if (n->layout == TLI_ARROW_STRUCT)
        st = tli_take_struct(t, n, scratch);
    else if (n->layout == TLI_ARROW_LIST)
        st = tli_take_list(t, n, store, scratch);
    else
        st = n->layout <= TLI_ARROW_FIXED ? tli_take_fixed(t, n, store) : tli_take_variable(t, n, store);
    if (n->array->null_count == 0)
        n->array->buffers[0] = NULL;
    return st;
}

/* The rows at these places, as a struct array of the store. */
TLI_FN tl_status tli_take_rows(tli_take *t, const uint64_t *places, uint64_t count, tli_store *store,
                               tli_store *scratch, struct ArrowArray **out)
{
    uint32_t i;
    tl_status st = TL_OK;
    t->nodes[0].places = places;
    t->nodes[0].count = count;
    for (i = 0; i < t->count && st == TL_OK; i++) {
        tli_take_node *n = &t->nodes[i], *parent = n - n->up;
        if (n->up != 0 && parent->layout == TLI_ARROW_STRUCT) {
            n->places = parent->places;
            n->count = parent->count;
        }
        st = tli_take_node_values(t, n, store, scratch);
        if (st == TL_OK && n->up != 0)
            parent->array->children[n->child] = n->array;
    }
    *out = t->nodes[0].array;
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
