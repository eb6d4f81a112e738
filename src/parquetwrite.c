/* >>parquetwrite: pages as the columns come, their metadata beside them, which becomes the footer. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_PARQUETWRITE_ROWS 8192         /* of a page, at most */
#define TLI_PARQUETWRITE_PAGE 1048576u     /* bytes of values after which a page ends with its row */
#define TLI_PARQUETWRITE_VALUE 1073741824u /* bytes of a page's values, at most: their sizes are 32 bits */
#define TLI_PARQUETWRITE_BOUND 64u         /* bytes of a minimum or maximum: longer ones are left out */
#define TLI_PARQUETWRITE_DEPTH 64u         /* of columns, as the limits have it */

/* Physical types by their number in the format. */
enum {
    TLI_PARQUETWRITE_BOOLEAN, TLI_PARQUETWRITE_INT32, TLI_PARQUETWRITE_INT64, TLI_PARQUETWRITE_FLOAT = 4,
    TLI_PARQUETWRITE_DOUBLE, TLI_PARQUETWRITE_BYTES, TLI_PARQUETWRITE_FIXED
};

/* Logical types by their number in the format. */
enum {
    TLI_PARQUETWRITE_NONE, TLI_PARQUETWRITE_STRING, TLI_PARQUETWRITE_MAP, TLI_PARQUETWRITE_LIST,
    TLI_PARQUETWRITE_DECIMAL = 5, TLI_PARQUETWRITE_DATE,
    TLI_PARQUETWRITE_TIME, TLI_PARQUETWRITE_STAMP, TLI_PARQUETWRITE_INTEGER = 10, TLI_PARQUETWRITE_UUID = 14
};

/* A node of the schema: a column, or a part of one. Dictionaries are none: their values are those of the column. */
typedef struct tli_parquetwrite_node {
    const struct ArrowSchema *schema;
    const char *name;
    int32_t parent, place; /* parent -1: it is a column */
    tl_type type;          /* of the values */
    tl_type indices;       /* of a dictionary's indices */
    int32_t physical, length, logical, converted; /* converted -1: none */
    int32_t id;
    uint8_t has_id, optional, leaf;
    uint8_t is_unsigned; /* integers */
    uint8_t most[2];     /* levels: repetition, definition */
    /* leaves, of the row group at hand */
    uint64_t at, size, values, nulls, nans;
    tl_span low, high;   /* absent: no value so far */
    uint8_t kept[2][32]; /* those of fixed width */
} tli_parquetwrite_node;

/* What a leaf has of a row: a value, or nothing, of which the levels say why. */
typedef struct tli_parquetwrite_entry {
    int64_t at;        /* in the array of the node at hand; of a leaf at last with all offsets added */
    uint8_t levels[2]; /* repetition, definition */
    uint8_t gone;      /* null, or an element of an empty list, here or above */
} tli_parquetwrite_entry;

typedef struct tli_parquetwrite {
    tl_buffer *out;
    size_t start; /* of the file in out */
    tl_buffer values, levels, groups;
    tl_buffer entries, more; /* of the leaf and rows at hand; `more` is room for the next step */
    tli_parquetwrite_node *nodes; /* parents first */
    uint32_t node_count, leaf_count;
    uint64_t rows;
    uint32_t group_count;
    tl_span column; /* of an error */
    tl_error *err;
} tli_parquetwrite;

TLI_FN tli_thriftwrite tli_parquetwrite_thrift(tli_parquetwrite *w, tl_buffer *out)
{
    tli_thriftwrite t;
    TLI_FILL(&t, 0, sizeof t);
    t.out = out;
    t.err = w->err;
    return t;
}

TLI_FN tl_status tli_parquetwrite_refuse(tli_parquetwrite *w, const tli_parquetwrite_node *c, const char *text)
{
    while (c->parent >= 0)
        c = &w->nodes[c->parent];
    w->column = tl_text(c->name);
    return tli_err(w->err, TL_UNSUPPORTED, text, TL_NO_POSITION);
}

/* ---- columns ---- */

TLI_FN void tli_parquetwrite_integer(tli_parquetwrite_node *c)
{
    c->is_unsigned = c->type.id >= TL_TYPE_UINT8;
    c->physical = c->type.width == 8 ? TLI_PARQUETWRITE_INT64 : TLI_PARQUETWRITE_INT32;
    if (!c->is_unsigned && c->type.width >= 4)
        return;
    c->logical = TLI_PARQUETWRITE_INTEGER;
    c->converted = c->is_unsigned ? 11 + (int32_t)(c->type.id - TL_TYPE_UINT8)
                                  : 15 + (int32_t)(c->type.id - TL_TYPE_INT8);
}

/* In the fewest bytes that hold its precision, as Iceberg wants it. */
TLI_FN void tli_parquetwrite_decimal(tli_parquetwrite_node *c)
{
    c->logical = TLI_PARQUETWRITE_DECIMAL;
    c->converted = 5;
    c->physical = c->type.precision <= 9    ? TLI_PARQUETWRITE_INT32
                  : c->type.precision <= 18 ? TLI_PARQUETWRITE_INT64 : TLI_PARQUETWRITE_FIXED;
    c->length = 9;
    while ((8 * c->length - 1) * 30103 / 100000 < c->type.precision) /* the logarithm of 2 */
        c->length++;
}

TLI_FN void tli_parquetwrite_time(tli_parquetwrite_node *c)
{
    int stamp = c->type.id == TL_TYPE_TIMESTAMP;
    c->physical = c->type.width == 8 ? TLI_PARQUETWRITE_INT64 : TLI_PARQUETWRITE_INT32;
    c->logical = stamp ? TLI_PARQUETWRITE_STAMP : TLI_PARQUETWRITE_TIME;
    if (c->type.unit != TL_UNIT_NANO)
        c->converted = (stamp ? 9 : 7) + (c->type.unit == TL_UNIT_MICRO);
}

/* How a type lies in a file. 0: it does not. */
TLI_FN int tli_parquetwrite_type(tli_parquetwrite_node *c)
{
    const tl_type *t = &c->type;
    c->converted = -1;
    switch (t->id) {
    case TL_TYPE_BOOL:
        c->physical = TLI_PARQUETWRITE_BOOLEAN;
        return 1;
    case TL_TYPE_INT8: case TL_TYPE_INT16: case TL_TYPE_INT32: case TL_TYPE_INT64:
    case TL_TYPE_UINT8: case TL_TYPE_UINT16: case TL_TYPE_UINT32: case TL_TYPE_UINT64:
        tli_parquetwrite_integer(c);
        return 1;
    case TL_TYPE_FLOAT32: case TL_TYPE_FLOAT64:
        c->physical = t->id == TL_TYPE_FLOAT32 ? TLI_PARQUETWRITE_FLOAT : TLI_PARQUETWRITE_DOUBLE;
        return 1;
    case TL_TYPE_DECIMAL32: case TL_TYPE_DECIMAL64: case TL_TYPE_DECIMAL128: case TL_TYPE_DECIMAL256:
        tli_parquetwrite_decimal(c);
        return t->scale >= 0 && t->scale <= t->precision;
    case TL_TYPE_DATE32:
        c->physical = TLI_PARQUETWRITE_INT32;
        c->logical = c->converted = TLI_PARQUETWRITE_DATE;
        return 1;
    case TL_TYPE_TIME32: case TL_TYPE_TIME64: case TL_TYPE_TIMESTAMP:
        tli_parquetwrite_time(c);
        return t->unit != TL_UNIT_SECOND;
    case TL_TYPE_UTF8: case TL_TYPE_LARGE_UTF8: case TL_TYPE_UTF8_VIEW:
        c->logical = TLI_PARQUETWRITE_STRING;
        c->converted = 0;
        c->physical = TLI_PARQUETWRITE_BYTES;
        return 1;
    case TL_TYPE_BINARY: case TL_TYPE_LARGE_BINARY: case TL_TYPE_BINARY_VIEW:
        c->physical = TLI_PARQUETWRITE_BYTES;
        return 1;
    case TL_TYPE_FIXED_BINARY:
        c->physical = TLI_PARQUETWRITE_FIXED;
        c->length = t->size;
        if (t->size == 16 && tl_span_equal(tl_schema_metadata(c->schema, tl_text("ARROW:extension:name")),
                                           tl_text("arrow.uuid")))
            c->logical = TLI_PARQUETWRITE_UUID;
        return t->size > 0;
    default:
        return 0;
    }
}

/* Lists become three nodes of a file, as the format wants it: the list, a repeated group, the element. */
TLI_FN int tli_parquetwrite_is_list(const tli_parquetwrite_node *c)
{
    return !c->leaf && c->type.id != TL_TYPE_STRUCT;
}

/* A node without children, or what children are in. */
TLI_FN int tli_parquetwrite_kind(tli_parquetwrite_node *c)
{
    c->leaf = (uint8_t)tli_parquetwrite_type(c);
    if (c->leaf)
        return 1;
    if (c->schema->dictionary != NULL || c->schema->n_children == 0)
        return 0;
    if (c->type.id == TL_TYPE_MAP) {
        c->logical = TLI_PARQUETWRITE_MAP;
        c->converted = 1;
    } else if (tli_parquetwrite_is_list(c)) {
        c->logical = c->converted = TLI_PARQUETWRITE_LIST;
    }
    return c->type.id >= TL_TYPE_LIST;
}

/* The field id in a node's metadata. 0: there is none; -1: it is no number. */
TLI_FN int tli_parquetwrite_field_id(const struct ArrowSchema *node, int32_t *id)
{
    tl_span given = tl_schema_metadata(node, tl_text("PARQUET:field_id"));
    char digits[16]; /* with a zero behind them */
    const char *text = digits;
    if (given.data == NULL)
        return 0;
    TLI_FILL(digits, 0, sizeof digits);
    if (given.size < sizeof digits)
        TLI_COPY(digits, given.data, given.size);
    return tli_arrow_digits(&text, id) && *text == 0 ? 1 : -1;
}

/* Is it the struct within a map? In a file that is the repeated group. */
TLI_FN int tli_parquetwrite_is_entries(const tli_parquetwrite *w, const tli_parquetwrite_node *c)
{
    return c->parent >= 0 && w->nodes[c->parent].type.id == TL_TYPE_MAP;
}

/* The name and the levels of a node, from its parent's. */
TLI_FN void tli_parquetwrite_place(const tli_parquetwrite *w, tli_parquetwrite_node *c)
{
    static const char *const of_entries[] = {"key", "value"};
    const tli_parquetwrite_node *above = c->parent >= 0 ? &w->nodes[c->parent] : NULL;
    c->name = c->schema->name != NULL ? c->schema->name : "";
    c->optional = (c->schema->flags & ARROW_FLAG_NULLABLE) != 0;
    if (above != NULL) {
        c->most[0] = (uint8_t)(above->most[0] + tli_parquetwrite_is_list(above));
        c->most[1] = (uint8_t)(above->most[1] + tli_parquetwrite_is_list(above));
        if (above->type.id == TL_TYPE_MAP)
            c->name = "key_value";
        else if (tli_parquetwrite_is_list(above))
            c->name = "element";
        else if (tli_parquetwrite_is_entries(w, above))
            c->name = of_entries[c->place];
    }
    if (tli_parquetwrite_is_entries(w, c) || (above != NULL && tli_parquetwrite_is_entries(w, above) && c->place == 0))
        c->optional = 0;
    c->most[1] = (uint8_t)(c->most[1] + c->optional);
}

TLI_FN tl_status tli_parquetwrite_node_of(tli_parquetwrite *w, const struct ArrowSchema *schema, int32_t parent,
                                          int32_t place)
{
    tli_parquetwrite_node *c = &w->nodes[w->node_count++];
    tl_status st;
    int id;
    c->schema = schema;
    c->parent = parent;
    c->place = place;
    tli_parquetwrite_place(w, c);
    st = tl_type_of(schema, &c->indices, w->err);
    if (st == TL_OK)
        st = tl_type_of(schema->dictionary != NULL ? schema->dictionary : schema, &c->type, w->err);
    if (st == TL_OK && !tli_parquetwrite_kind(c))
        st = tli_parquetwrite_refuse(w, c, "a column of a type that is not written to Parquet");
    if (st != TL_OK)
        return st;
    w->leaf_count += c->leaf;
    id = tli_parquetwrite_field_id(schema, &c->id);
    c->has_id = id > 0;
    return id >= 0 ? TL_OK : tli_parquetwrite_refuse(w, c, "a field id that is no number");
}

/* ---- values ---- */

/* An element of an array, or of its dictionary: where its value lies. 0: it is null. */
TLI_FN int tli_parquetwrite_find(const tli_parquetwrite_node *c, const struct ArrowArray *a, int64_t *at)
{
    int64_t i = *at + a->offset;
    if (!tli_arrow_valid(a, *at))
        return 0;
    if (c->schema->dictionary != NULL) {
        i = tli_arrow_integer(&c->indices, a->buffers[1], i);
        a = a->dictionary;
        if (!tli_arrow_valid(a, i))
            return 0;
        i += a->offset;
    }
    *at = i;
    return 1;
}

/* The bytes of a decimal; absent when it has more digits than its type. */
TLI_FN tl_span tli_parquetwrite_digits(const tli_parquetwrite_node *c, const uint8_t *value, uint8_t *room)
{
    int32_t width = c->type.width, i, size = c->physical == TLI_PARQUETWRITE_INT32 ? 4
                                             : c->physical == TLI_PARQUETWRITE_INT64 ? 8 : c->length;
    uint8_t top = (value[TLI_BIG_ENDIAN ? 0 : width - 1] & 0x80) != 0 ? 0xff : 0, last = top;
    for (i = 0; i < size || i < width; i++) { /* the lowest first */
        uint8_t byte = i < width ? value[TLI_BIG_ENDIAN ? width - 1 - i : i] : top;
        if (i < size)
            room[c->physical == TLI_PARQUETWRITE_FIXED ? size - 1 - i : i] = last = byte;
        else if (byte != top)
            return tli_text_span(NULL, 0);
    }
    return tli_text_span(((last ^ top) & 0x80) != 0 ? NULL : (const char *)room, (size_t)size);
}

/* The plain bytes of value i: where they lie, or put together in `room` (32 bytes). Absent: of no file. */
TLI_FN tl_span tli_parquetwrite_value(const tli_parquetwrite_node *c, const struct ArrowArray *a, int64_t i,
                                      uint8_t *room)
{
    tli_arrow_layout layout = tli_arrow_layout_of(c->type.id);
    int width = tli_arrow_offset_width(layout);
    const uint8_t *values = (const uint8_t *)a->buffers[1], *value;
    if (layout == TLI_ARROW_VIEWS)
        return tli_arrow_view(a, i);
    if (width != 0) {
        int64_t from = tli_arrow_offset(values, width, i);
        return tli_text_span(a->buffers[2] == NULL ? "" : (const char *)a->buffers[2] + from,
                             (size_t)(tli_arrow_offset(values, width, i + 1) - from));
    }
    if (layout == TLI_ARROW_BITS) {
        room[0] = (uint8_t)tli_bits_get(values, (uint64_t)i);
        return tli_text_span((const char *)room, 1);
    }
    value = values + (size_t)i * (size_t)c->type.width;
    if (c->logical == TLI_PARQUETWRITE_DECIMAL)
        return tli_parquetwrite_digits(c, value, room);
    if (c->physical == TLI_PARQUETWRITE_FIXED)
        return tli_text_span((const char *)value, (size_t)c->length);
    if (c->type.width == 8) {
        tli_bits_put_le64(room, tli_bits_u64(value));
        return tli_text_span((const char *)room, 8);
    }
    tli_bits_put_le32(room, c->type.width == 4 ? tli_bits_u32(value)
                                               : (uint32_t)tli_arrow_integer(&c->type, values, i));
    return tli_text_span((const char *)room, 4);
}

/* ---- statistics ---- */

/* A float or double that orders as an integer does; 0: NaN. */
TLI_FN int tli_parquetwrite_real(tl_span value, int64_t *key)
{
    uint64_t bits = value.size == 8 ? tli_bits_le64(value.data) : (uint64_t)tli_bits_le32(value.data) << 32;
    uint64_t size = bits & (uint64_t)INT64_MAX;
    *key = bits >> 63 ? -(int64_t)size : (int64_t)size;
    return size <= (uint64_t)0x7ff << 52 && (value.size == 8 || size <= (uint64_t)0x7f8 << 52);
}

/* An integer, to be compared with others of its column only. */
TLI_FN int64_t tli_parquetwrite_whole(tl_span value, int is_unsigned)
{
    uint64_t bits = value.size == 8 ? tli_bits_le64(value.data) : (uint64_t)tli_bits_le32(value.data) << 32;
    return (int64_t)(bits ^ (is_unsigned ? (uint64_t)1 << 63 : 0));
}

/* Order of two values as the column's type defines it. */
TLI_FN int tli_parquetwrite_order(const tli_parquetwrite_node *c, tl_span a, tl_span b)
{
    int64_t x, y;
    if (c->physical == TLI_PARQUETWRITE_FIXED && c->logical == TLI_PARQUETWRITE_DECIMAL && a.data[0] != b.data[0])
        return (int8_t)a.data[0] < (int8_t)b.data[0] ? -1 : 1;
    if (c->physical >= TLI_PARQUETWRITE_BYTES || c->physical == TLI_PARQUETWRITE_BOOLEAN)
        return tl_span_compare(a, b);
    if (c->physical >= TLI_PARQUETWRITE_FLOAT) {
        (void)tli_parquetwrite_real(a, &x);
        (void)tli_parquetwrite_real(b, &y);
    } else {
        x = tli_parquetwrite_whole(a, c->is_unsigned);
        y = tli_parquetwrite_whole(b, c->is_unsigned);
    }
    return (x > y) - (x < y);
}

TLI_FN void tli_parquetwrite_keep(tli_parquetwrite_node *c, tl_span *bound, uint8_t *kept, tl_span value)
{
    *bound = value;
    if (c->physical >= TLI_PARQUETWRITE_BYTES && c->logical != TLI_PARQUETWRITE_DECIMAL)
        return; /* it lies in the array */
    TLI_COPY(kept, value.data, value.size);
    bound->data = (const char *)kept;
}

/* Takes a value into the minimum and maximum. NaN is no bound, and is counted. */
TLI_FN void tli_parquetwrite_bounds(tli_parquetwrite_node *c, tl_span value)
{
    int real = c->physical == TLI_PARQUETWRITE_FLOAT || c->physical == TLI_PARQUETWRITE_DOUBLE;
    int64_t key = 1;
    if (real && !tli_parquetwrite_real(value, &key)) {
        c->nans++;
        return;
    }
    if (c->low.data == NULL || tli_parquetwrite_order(c, value, c->low) < 0)
        tli_parquetwrite_keep(c, &c->low, c->kept[0], value);
    if (c->high.data == NULL || tli_parquetwrite_order(c, value, c->high) > 0)
        tli_parquetwrite_keep(c, &c->high, c->kept[1], value);
    if (real && key == 0) { /* of the two zeros the one that is surely no narrower */
        if (tli_parquetwrite_order(c, value, c->low) == 0)
            c->kept[0][value.size - 1] = 0x80;
        if (tli_parquetwrite_order(c, value, c->high) == 0)
            c->kept[1][value.size - 1] = 0;
    }
}

/* ---- levels ---- */

/* Entries that are there become those of the node's values. */
TLI_FN tl_status tli_parquetwrite_enter(tli_parquetwrite *w, const tli_parquetwrite_node *c,
                                        const struct ArrowArray *array)
{
    tli_parquetwrite_entry *e = (tli_parquetwrite_entry *)(void *)w->entries.data;
    tli_parquetwrite_entry *end = e + w->entries.size / sizeof *e;
    for (; e < end; e++) {
        if (e->gone)
            continue;
        e->gone = (uint8_t)!tli_parquetwrite_find(c, array, &e->at);
        if (e->gone && !c->optional)
            return tli_parquetwrite_refuse(w, c, "a null in a column that is not nullable");
        if (!e->gone)
            e->levels[1] = (uint8_t)(e->levels[1] + c->optional);
    }
    return TL_OK;
}

/* The elements of a list, which is entered. */
TLI_FN void tli_parquetwrite_range(const tli_parquetwrite_node *c, const struct ArrowArray *array, int64_t at,
                                   int64_t *from, int64_t *to)
{
    int width = tli_arrow_offset_width(tli_arrow_layout_of(c->type.id));
    *from = width == 0 ? at * c->type.size : tli_arrow_offset(array->buffers[1], width, at);
    *to = width == 0 ? *from + c->type.size : tli_arrow_offset(array->buffers[1], width, at + 1);
}

/* Entries of a list become those of its elements; of an empty one there stays one that is gone. */
TLI_FN tl_status tli_parquetwrite_expand(tli_parquetwrite *w, const tli_parquetwrite_node *c,
                                         const struct ArrowArray *array)
{
    size_t i, count = w->entries.size / sizeof(tli_parquetwrite_entry);
    tl_buffer swap = w->more;
    tl_status st = TL_OK;
    swap.size = 0;
    for (i = 0; i < count && st == TL_OK; i++) {
        tli_parquetwrite_entry e = ((tli_parquetwrite_entry *)(void *)w->entries.data)[i];
        int64_t from = 0, to = 0;
        if (!e.gone)
            tli_parquetwrite_range(c, array, e.at, &from, &to);
        if (from == to) {
            e.gone = 1;
            st = tli_mem_append(&swap, &e, sizeof e, w->err);
        }
        e.levels[1]++;
        for (; from < to && st == TL_OK; from++) {
            e.at = from;
            st = tli_mem_append(&swap, &e, sizeof e, w->err);
            e.levels[0] = (uint8_t)(c->most[0] + 1);
        }
    }
    w->more = w->entries;
    w->entries = swap;
    return st;
}

/* The entries of a leaf for rows [from, to) of a batch: step by step down to it. *array: the values. */
TLI_NOINLINE tl_status tli_parquetwrite_shred(tli_parquetwrite *w, const tli_parquetwrite_node *leaf,
                                              const struct ArrowArray *batch, int64_t from, int64_t to,
                                              const struct ArrowArray **array)
{
    const tli_parquetwrite_node *path[TLI_PARQUETWRITE_DEPTH], *c = leaf;
    uint32_t depth = 0;
    tli_parquetwrite_entry e;
    tl_status st = TL_OK;
    TLI_FILL(&e, 0, sizeof e);
    w->entries.size = 0;
    for (e.at = batch->offset + from; e.at < batch->offset + to && st == TL_OK; e.at++)
        st = tli_mem_append(&w->entries, &e, sizeof e, w->err);
    for (; c != NULL && depth < TLI_PARQUETWRITE_DEPTH; c = c->parent < 0 ? NULL : &w->nodes[c->parent])
        path[depth++] = c;
    *array = batch;
    while (depth-- > 0 && st == TL_OK) {
        *array = (*array)->children[path[depth]->place];
        st = tli_parquetwrite_enter(w, path[depth], *array);
        if (st == TL_OK && tli_parquetwrite_is_list(path[depth]))
            st = tli_parquetwrite_expand(w, path[depth], *array);
    }
    if (leaf->schema->dictionary != NULL)
        *array = (*array)->dictionary;
    return st;
}

/* Appends the levels of entries to w->levels: one run, of one value or of packed bits. */
TLI_FN tl_status tli_parquetwrite_levels(tli_parquetwrite *w, const tli_parquetwrite_entry *e, size_t count,
                                         int which, uint32_t most)
{
    tli_thriftwrite t = tli_parquetwrite_thrift(w, &w->levels);
    size_t start = w->levels.size, i, bytes;
    uint32_t bits = 0, k, same = 1;
    static const uint8_t none[4] = {0, 0, 0, 0};
    if (most == 0)
        return TL_OK;
    for (; most != 0; most >>= 1)
        bits++;
    for (i = 1; i < count; i++)
        same &= e[i].levels[which] == e[0].levels[which];
    bytes = same ? 1 : (count + 7) / 8 * bits;
    tli_thriftwrite_raw(&t, none, 4);
    tli_thriftwrite_varint(&t, same ? (uint64_t)count << 1 : (uint64_t)(count + 7) / 8 << 1 | 1);
    if (t.status == TL_OK)
        t.status = tli_mem_reserve(&w->levels, bytes, w->err);
    if (t.status != TL_OK)
        return t.status;
    TLI_FILL(w->levels.data + w->levels.size, 0, bytes);
    if (same)
        w->levels.data[w->levels.size] = e[0].levels[which];
    for (i = 0; i < count && !same; i++)
        for (k = 0; k < bits; k++)
            if (e[i].levels[which] >> k & 1)
                tli_bits_set(w->levels.data + w->levels.size, (uint64_t)i * bits + k);
    w->levels.size += bytes;
    tli_bits_put_le32(w->levels.data + start, (uint32_t)(w->levels.size - start - 4));
    return TL_OK;
}

/* ---- pages ---- */

/* Appends a value to the page. Booleans are bits, the lowest first: `place` counts the page's values. */
TLI_FN tl_status tli_parquetwrite_put(tli_parquetwrite *w, const tli_parquetwrite_node *c, tl_span value,
                                      uint64_t place)
{
    uint8_t size[4], zero = 0;
    tl_status st = TL_OK;
    if (c->physical == TLI_PARQUETWRITE_BOOLEAN) {
        if (place % 8 == 0)
            st = tli_mem_append(&w->values, &zero, 1, w->err);
        if (st == TL_OK && value.data[0] != 0)
            tli_bits_set(w->values.data, place);
        return st;
    }
    if (value.size > TLI_PARQUETWRITE_VALUE || w->values.size > TLI_PARQUETWRITE_VALUE - value.size)
        return tli_parquetwrite_refuse(w, c, "a value, or all of one row, of more than 1 GiB");
    if (c->physical == TLI_PARQUETWRITE_BYTES) {
        tli_bits_put_le32(size, (uint32_t)value.size);
        st = tli_mem_append(&w->values, size, 4, w->err);
    }
    return st == TL_OK ? tli_mem_append(&w->values, value.data, value.size, w->err) : st;
}

/* The page of these entries, whose values are in w->values. */
TLI_FN tl_status tli_parquetwrite_page(tli_parquetwrite *w, const tli_parquetwrite_node *c,
                                       const tli_parquetwrite_entry *e, size_t count)
{
    tli_thriftwrite t = tli_parquetwrite_thrift(w, w->out);
    int32_t size;
    int which;
    w->levels.size = 0;
    for (which = 0; which < 2 && t.status == TL_OK; which++)
        t.status = tli_parquetwrite_levels(w, e, count, which, c->most[which]);
    if (t.status == TL_OK && (count > INT32_MAX || w->levels.size > TLI_PARQUETWRITE_VALUE - 64))
        return tli_parquetwrite_refuse(w, c, "a value, or all of one row, of more than 1 GiB");
    size = (int32_t)(w->levels.size + w->values.size);
    tli_thriftwrite_open(&t);
    tli_thriftwrite_i32(&t, 1, 0); /* DATA_PAGE */
    tli_thriftwrite_i32(&t, 2, size);
    tli_thriftwrite_i32(&t, 3, size);
    tli_thriftwrite_struct(&t, 5);
    tli_thriftwrite_i32(&t, 1, (int32_t)count);
    tli_thriftwrite_i32(&t, 2, 0); /* PLAIN */
    tli_thriftwrite_i32(&t, 3, 3); /* RLE, of levels */
    tli_thriftwrite_i32(&t, 4, 3);
    tli_thriftwrite_close(&t);
    tli_thriftwrite_close(&t);
    tli_thriftwrite_raw(&t, w->levels.data, w->levels.size);
    tli_thriftwrite_raw(&t, w->values.data, w->values.size);
    return t.status;
}

/* Pages of the entries at hand: each ends with a row. */
TLI_FN tl_status tli_parquetwrite_pages(tli_parquetwrite *w, tli_parquetwrite_node *c, const struct ArrowArray *array)
{
    const tli_parquetwrite_entry *e = (const tli_parquetwrite_entry *)(const void *)w->entries.data;
    size_t i, first = 0, count = w->entries.size / sizeof *e;
    uint64_t values = 0;
    tl_status st = TL_OK;
    w->values.size = 0;
    for (i = 0; i < count && st == TL_OK; i++) {
        uint8_t room[32];
        tl_span value;
        if (e[i].levels[0] == 0 && w->values.size >= TLI_PARQUETWRITE_PAGE) {
            st = tli_parquetwrite_page(w, c, e + first, i - first);
            first = i;
            w->values.size = 0;
            values = 0;
        }
        c->nulls += e[i].gone;
        if (e[i].gone || st != TL_OK)
            continue;
        value = tli_parquetwrite_value(c, array, e[i].at, room);
        if (value.data == NULL)
            return tli_parquetwrite_refuse(w, c, "a decimal of more digits than its type has");
        st = tli_parquetwrite_put(w, c, value, values++);
        tli_parquetwrite_bounds(c, value);
    }
    c->values += count;
    return st == TL_OK ? tli_parquetwrite_page(w, c, e + first, count - first) : st;
}

/* A leaf of one batch. */
TLI_FN tl_status tli_parquetwrite_column(tli_parquetwrite *w, tli_parquetwrite_node *c, const struct ArrowArray *batch)
{
    const struct ArrowArray *array = NULL;
    int64_t row;
    tl_status st = TL_OK;
    c->at = w->out->size - w->start;
    c->values = c->nulls = c->nans = 0;
    c->low = c->high = tli_text_span(NULL, 0);
    for (row = 0; row < batch->length && st == TL_OK; row += TLI_PARQUETWRITE_ROWS) {
        st = tli_parquetwrite_shred(w, c, batch, row, TLI_MIN(row + TLI_PARQUETWRITE_ROWS, batch->length), &array);
        if (st == TL_OK)
            st = tli_parquetwrite_pages(w, c, array);
    }
    c->size = w->out->size - w->start - c->at;
    return st;
}

/* ---- metadata ---- */

TLI_FN void tli_parquetwrite_statistics(tli_thriftwrite *t, const tli_parquetwrite_node *c)
{
    int high = c->high.data != NULL && c->high.size <= TLI_PARQUETWRITE_BOUND;
    int low = c->low.data != NULL && c->low.size <= TLI_PARQUETWRITE_BOUND;
    tli_thriftwrite_struct(t, 12);
    tli_thriftwrite_i64(t, 3, c->nulls);
    if (high)
        tli_thriftwrite_text(t, 5, c->high);
    if (low)
        tli_thriftwrite_text(t, 6, c->low);
    if (high)
        tli_thriftwrite_bool(t, 7, 1); /* exact */
    if (low)
        tli_thriftwrite_bool(t, 8, 1);
    if (c->physical == TLI_PARQUETWRITE_FLOAT || c->physical == TLI_PARQUETWRITE_DOUBLE)
        tli_thriftwrite_i64(t, 9, c->nans);
    tli_thriftwrite_close(t);
}

/* The names on the way to a leaf. */
TLI_NOINLINE void tli_parquetwrite_names(tli_parquetwrite *w, tli_thriftwrite *t, const tli_parquetwrite_node *leaf)
{
    const char *names[2 * TLI_PARQUETWRITE_DEPTH];
    const tli_parquetwrite_node *c = leaf;
    uint32_t count = 0;
    for (; count + 2 < TLI_COUNT(names); c = &w->nodes[c->parent]) {
        names[count++] = c->name;
        if (c->parent < 0)
            break;
        if (tli_parquetwrite_is_list(&w->nodes[c->parent]) && !tli_parquetwrite_is_entries(w, c))
            names[count++] = "list";
    }
    tli_thriftwrite_list(t, 3, TLI_THRIFT_BINARY, count);
    while (count-- > 0)
        tli_thriftwrite_bytes(t, tl_text(names[count]));
}

TLI_FN void tli_parquetwrite_chunk(tli_parquetwrite *w, tli_thriftwrite *t, const tli_parquetwrite_node *c)
{
    tli_thriftwrite_open(t);
    tli_thriftwrite_i64(t, 2, 0); /* of metadata elsewhere: there is none */
    tli_thriftwrite_struct(t, 3);
    tli_thriftwrite_i32(t, 1, c->physical);
    tli_thriftwrite_list(t, 2, TLI_THRIFT_I32, 2);
    tli_thriftwrite_zigzag(t, 0); /* PLAIN */
    tli_thriftwrite_zigzag(t, 3); /* RLE */
    tli_parquetwrite_names(w, t, c);
    tli_thriftwrite_i32(t, 4, 0); /* not compressed */
    tli_thriftwrite_i64(t, 5, c->values);
    tli_thriftwrite_i64(t, 6, c->size);
    tli_thriftwrite_i64(t, 7, c->size);
    tli_thriftwrite_i64(t, 9, c->at);
    tli_parquetwrite_statistics(t, c);
    tli_thriftwrite_close(t);
    tli_thriftwrite_close(t);
}

/* One batch, which has rows: its pages, and its row group for the footer. */
TLI_FN tl_status tli_parquetwrite_group(tli_parquetwrite *w, const struct ArrowArray *batch)
{
    tli_thriftwrite t = tli_parquetwrite_thrift(w, &w->groups);
    uint64_t at = w->out->size - w->start, size = 0;
    uint32_t i;
    tli_thriftwrite_open(&t);
    tli_thriftwrite_list(&t, 1, TLI_THRIFT_STRUCT, w->leaf_count);
    for (i = 0; i < w->node_count && t.status == TL_OK; i++) {
        tli_parquetwrite_node *c = &w->nodes[i];
        if (!c->leaf)
            continue;
        t.status = tli_parquetwrite_column(w, c, batch);
        size += c->size;
        tli_parquetwrite_chunk(w, &t, c);
    }
    tli_thriftwrite_i64(&t, 2, size);
    tli_thriftwrite_i64(&t, 3, (uint64_t)batch->length);
    tli_thriftwrite_i64(&t, 5, at);
    tli_thriftwrite_i64(&t, 6, size);
    tli_thriftwrite_close(&t);
    w->rows += (uint64_t)batch->length;
    w->group_count++;
    return t.status;
}

/* The members of a logical type. */
TLI_FN void tli_parquetwrite_logical(tli_thriftwrite *t, const tli_parquetwrite_node *c)
{
    tli_thriftwrite_struct(t, 10);
    tli_thriftwrite_struct(t, c->logical);
    if (c->logical == TLI_PARQUETWRITE_DECIMAL) {
        tli_thriftwrite_i32(t, 1, c->type.scale);
        tli_thriftwrite_i32(t, 2, c->type.precision);
    } else if (c->logical == TLI_PARQUETWRITE_INTEGER) {
        uint8_t bits = (uint8_t)(c->type.width * 8);
        tli_thriftwrite_field(t, 1, TLI_THRIFT_BYTE);
        tli_thriftwrite_raw(t, &bits, 1);
        tli_thriftwrite_bool(t, 2, !c->is_unsigned);
    } else if (c->logical == TLI_PARQUETWRITE_TIME || c->logical == TLI_PARQUETWRITE_STAMP) {
        tli_thriftwrite_bool(t, 1, c->type.zone.size != 0); /* is it in UTC? */
        tli_thriftwrite_struct(t, 2);
        tli_thriftwrite_struct(t, (int32_t)c->type.unit); /* milli 1, micro 2, nano 3 in Arrow and here */
        tli_thriftwrite_close(t);
        tli_thriftwrite_close(t);
    }
    tli_thriftwrite_close(t);
    tli_thriftwrite_close(t);
}

TLI_FN void tli_parquetwrite_element(tli_parquetwrite *w, tli_thriftwrite *t, const tli_parquetwrite_node *c)
{
    int list = tli_parquetwrite_is_list(c);
    tli_thriftwrite_open(t);
    if (c->leaf)
        tli_thriftwrite_i32(t, 1, c->physical);
    if (c->leaf && c->physical == TLI_PARQUETWRITE_FIXED)
        tli_thriftwrite_i32(t, 2, c->length);
    tli_thriftwrite_i32(t, 3, tli_parquetwrite_is_entries(w, c) ? 2 : c->optional);
    tli_thriftwrite_text(t, 4, tl_text(c->name));
    if (!c->leaf)
        tli_thriftwrite_i32(t, 5, (int32_t)c->schema->n_children);
    if (c->converted >= 0)
        tli_thriftwrite_i32(t, 6, c->converted);
    if (c->logical == TLI_PARQUETWRITE_DECIMAL) {
        tli_thriftwrite_i32(t, 7, c->type.scale);
        tli_thriftwrite_i32(t, 8, c->type.precision);
    }
    if (c->has_id)
        tli_thriftwrite_i32(t, 9, c->id);
    if (c->logical != TLI_PARQUETWRITE_NONE)
        tli_parquetwrite_logical(t, c);
    tli_thriftwrite_close(t);
    if (!list || c->type.id == TL_TYPE_MAP)
        return;
    tli_thriftwrite_open(t);
    tli_thriftwrite_i32(t, 3, 2); /* repeated */
    tli_thriftwrite_text(t, 4, tl_text("list"));
    tli_thriftwrite_i32(t, 5, 1);
    tli_thriftwrite_close(t);
}

/* The schema: all nodes, the groups of lists, and the root, which has the columns. */
TLI_FN void tli_parquetwrite_schema(tli_parquetwrite *w, tli_thriftwrite *t)
{
    uint32_t i, elements = w->node_count + 1, columns = 0;
    for (i = 0; i < w->node_count; i++) {
        columns += w->nodes[i].parent < 0;
        elements += tli_parquetwrite_is_list(&w->nodes[i]) && w->nodes[i].type.id != TL_TYPE_MAP;
    }
    tli_thriftwrite_list(t, 2, TLI_THRIFT_STRUCT, elements);
    tli_thriftwrite_open(t);
    tli_thriftwrite_text(t, 4, tl_text("schema"));
    tli_thriftwrite_i32(t, 5, (int32_t)columns);
    tli_thriftwrite_close(t);
    for (i = 0; i < w->node_count; i++)
        tli_parquetwrite_element(w, t, &w->nodes[i]);
}

TLI_FN tl_status tli_parquetwrite_footer(tli_parquetwrite *w)
{
    tli_thriftwrite t = tli_parquetwrite_thrift(w, w->out);
    size_t at = w->out->size;
    uint32_t i;
    uint8_t end[8];
    tli_thriftwrite_open(&t);
    tli_thriftwrite_i32(&t, 1, 1); /* the version that all writers give */
    tli_parquetwrite_schema(w, &t);
    tli_thriftwrite_i64(&t, 3, w->rows);
    tli_thriftwrite_list(&t, 4, TLI_THRIFT_STRUCT, w->group_count);
    tli_thriftwrite_raw(&t, w->groups.data, w->groups.size);
    tli_thriftwrite_text(&t, 6, tl_text("timelake.h version " TL_VERSION_TEXT));
    tli_thriftwrite_list(&t, 7, TLI_THRIFT_STRUCT, w->leaf_count);
    for (i = 0; i < w->leaf_count; i++) {
        tli_thriftwrite_open(&t);
        tli_thriftwrite_struct(&t, 1); /* by the order that the type defines */
        tli_thriftwrite_close(&t);
        tli_thriftwrite_close(&t);
    }
    tli_thriftwrite_close(&t);
    at = w->out->size - at;
    if (t.status == TL_OK && at > INT32_MAX)
        return tli_err(w->err, TL_UNSUPPORTED, "a Parquet footer of 2 GiB or more", TL_NO_POSITION);
    tli_bits_put_le32(end, (uint32_t)at);
    TLI_COPY(end + 4, "PAR1", 4);
    tli_thriftwrite_raw(&t, end, sizeof end);
    return t.status;
}

/* ---- all of it ---- */

TLI_NOINLINE tl_status tli_parquetwrite_begin(tli_parquetwrite *w, const struct ArrowSchema *schema,
                                              const tl_allocator *a, uint32_t *room)
{
    int32_t above[TLI_PARQUETWRITE_DEPTH + 1]; /* the node at each depth */
    tli_arrow_walk walk;
    tl_status st = tli_arrow_schema_check(schema, NULL, room, w->err);
    if (st != TL_OK)
        return st;
    if (schema->format[0] != '+' || schema->format[1] != 's' || schema->n_children == 0)
        return tli_err(w->err, TL_UNSUPPORTED, "a schema that is no struct of columns", TL_NO_POSITION);
    w->nodes = (tli_parquetwrite_node *)tli_mem_new(a, (size_t)*room * sizeof *w->nodes);
    if (w->nodes == NULL)
        return tli_mem_failed(a, w->err);
    TLI_FILL(w->nodes, 0, (size_t)*room * sizeof *w->nodes);
    above[0] = -1;
    tli_arrow_walk_begin(&walk, schema, NULL);
    (void)tli_arrow_walk_next(&walk, TLI_PARQUETWRITE_DEPTH); /* the root */
    while (st == TL_OK && tli_arrow_walk_next(&walk, TLI_PARQUETWRITE_DEPTH) > 0) {
        if (walk.parent->dictionary == walk.schema)
            continue;
        above[walk.depth] = (int32_t)w->node_count;
        st = tli_parquetwrite_node_of(w, walk.schema, above[walk.depth - 1], (int32_t)walk.path[walk.depth - 1]);
    }
    return st == TL_OK ? tli_mem_append(w->out, "PAR1", 4, w->err) : st;
}

TLI_FN tl_status tli_parquetwrite_batch(tli_parquetwrite *w, const struct ArrowSchema *schema,
                                        const struct ArrowArray *batch)
{
    tl_status st = tli_arrow_array_check(schema, batch, NULL, w->err);
    if (st != TL_OK || batch->length == 0)
        return st;
    if (batch->buffers[0] != NULL && tli_arrow_zero_bits(batch->buffers[0], batch->offset, batch->length) != 0)
        return tli_err(w->err, TL_UNSUPPORTED, "a row that is null", TL_NO_POSITION);
    return tli_parquetwrite_group(w, batch);
}

TL_API tl_status tl_parquet_write(tl_buffer *out, const struct ArrowSchema *schema,
                                  const struct ArrowArray *const *batches, int32_t count, tl_span *column,
                                  tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&out->allocator);
    tl_error why;
    tli_parquetwrite w;
    uint32_t room = 0;
    tl_status st;
    int32_t i;
    TLI_FILL(&w, 0, sizeof w);
    w.out = out;
    w.start = out->size;
    w.err = err != NULL ? err : &why;
    w.values.allocator = w.levels.allocator = w.groups.allocator = w.entries.allocator = w.more.allocator = a;
    st = tli_parquetwrite_begin(&w, schema, &a, &room);
    for (i = 0; i < count && st == TL_OK; i++)
        st = tli_parquetwrite_batch(&w, schema, batches[i]);
    if (st == TL_OK)
        st = tli_parquetwrite_footer(&w);
    tl_buffer_free(&w.values);
    tl_buffer_free(&w.levels);
    tl_buffer_free(&w.groups);
    tl_buffer_free(&w.entries);
    tl_buffer_free(&w.more);
    tli_mem_delete(&a, w.nodes, (size_t)room * sizeof *w.nodes);
    if (st != TL_OK)
        out->size = w.start;
    if (column != NULL)
        *column = w.column;
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
