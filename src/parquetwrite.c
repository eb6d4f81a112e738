/* >>parquetwrite: pages as the columns come, their metadata beside them, which becomes the footer. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_PARQUETWRITE_ROWS 16384        /* of a page, at most */
#define TLI_PARQUETWRITE_PAGE 1048576u     /* bytes of values after which a page ends */
#define TLI_PARQUETWRITE_VALUE 1073741824u /* bytes of one value: sizes of pages are 32 bits */
#define TLI_PARQUETWRITE_BOUND 64u         /* bytes of a minimum or maximum: longer ones are left out */

/* Physical types by their number in the format. */
enum {
    TLI_PARQUETWRITE_BOOLEAN, TLI_PARQUETWRITE_INT32, TLI_PARQUETWRITE_INT64, TLI_PARQUETWRITE_FLOAT = 4,
    TLI_PARQUETWRITE_DOUBLE, TLI_PARQUETWRITE_BYTES, TLI_PARQUETWRITE_FIXED
};

/* Logical types by their number in the format. */
enum {
    TLI_PARQUETWRITE_NONE, TLI_PARQUETWRITE_STRING, TLI_PARQUETWRITE_DECIMAL = 5, TLI_PARQUETWRITE_DATE,
    TLI_PARQUETWRITE_TIME, TLI_PARQUETWRITE_STAMP, TLI_PARQUETWRITE_INTEGER = 10, TLI_PARQUETWRITE_UUID = 14
};

typedef struct tli_parquetwrite_column {
    const struct ArrowSchema *schema;
    tl_type type;    /* of the values */
    tl_type indices; /* of a dictionary's indices */
    int32_t physical, length, logical, converted; /* converted -1: none */
    int32_t id;
    uint8_t has_id, optional;
    uint8_t is_unsigned; /* integers */
    /* of the row group at hand */
    uint64_t at, size, rows, nulls, nans;
    tl_span low, high;   /* absent: no value so far */
    uint8_t kept[2][32]; /* those of fixed width */
} tli_parquetwrite_column;

typedef struct tli_parquetwrite {
    tl_buffer *out;
    size_t start; /* of the file in out */
    tl_buffer values, levels, groups;
    tli_parquetwrite_column *columns;
    size_t column_count;
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

TLI_FN tl_status tli_parquetwrite_refuse(tli_parquetwrite *w, const tli_parquetwrite_column *c, const char *text)
{
    w->column = tl_text(c->schema->name != NULL ? c->schema->name : "");
    return tli_err(w->err, TL_UNSUPPORTED, text, TL_NO_POSITION);
}

/* ---- columns ---- */

TLI_FN void tli_parquetwrite_integer(tli_parquetwrite_column *c)
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
TLI_FN void tli_parquetwrite_decimal(tli_parquetwrite_column *c)
{
    c->logical = TLI_PARQUETWRITE_DECIMAL;
    c->converted = 5;
    c->physical = c->type.precision <= 9    ? TLI_PARQUETWRITE_INT32
                  : c->type.precision <= 18 ? TLI_PARQUETWRITE_INT64 : TLI_PARQUETWRITE_FIXED;
    c->length = 9;
    while ((8 * c->length - 1) * 30103 / 100000 < c->type.precision) /* the logarithm of 2 */
        c->length++;
}

TLI_FN void tli_parquetwrite_time(tli_parquetwrite_column *c)
{
    int stamp = c->type.id == TL_TYPE_TIMESTAMP;
    c->physical = c->type.width == 8 ? TLI_PARQUETWRITE_INT64 : TLI_PARQUETWRITE_INT32;
    c->logical = stamp ? TLI_PARQUETWRITE_STAMP : TLI_PARQUETWRITE_TIME;
    if (c->type.unit != TL_UNIT_NANO)
        c->converted = (stamp ? 9 : 7) + (c->type.unit == TL_UNIT_MICRO);
}

/* How a type lies in a file. 0: it does not. */
TLI_FN int tli_parquetwrite_type(tli_parquetwrite_column *c)
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

TLI_FN tl_status tli_parquetwrite_begin_column(tli_parquetwrite *w, tli_parquetwrite_column *c,
                                               const struct ArrowSchema *schema)
{
    tl_span id = tl_schema_metadata(schema, tl_text("PARQUET:field_id"));
    const char *text = id.data;
    char digits[16];
    tl_status st;
    c->schema = schema;
    c->optional = (schema->flags & ARROW_FLAG_NULLABLE) != 0;
    st = tl_type_of(schema, &c->indices, w->err);
    if (st == TL_OK)
        st = tl_type_of(schema->dictionary != NULL ? schema->dictionary : schema, &c->type, w->err);
    if (st != TL_OK)
        return st;
    if (!tli_parquetwrite_type(c))
        return tli_parquetwrite_refuse(w, c, "a column of a type that is not written to Parquet");
    if (id.data == NULL)
        return TL_OK;
    if (id.size >= sizeof digits)
        return tli_parquetwrite_refuse(w, c, "a field id that is no number");
    TLI_FILL(digits, 0, sizeof digits);
    TLI_COPY(digits, id.data, id.size);
    text = digits;
    if (!tli_arrow_digits(&text, &c->id) || *text != 0)
        return tli_parquetwrite_refuse(w, c, "a field id that is no number");
    c->has_id = 1;
    return TL_OK;
}

/* ---- values ---- */

/* Row `row` of an array, or of its dictionary: where its value lies. 0: it is null. */
TLI_FN int tli_parquetwrite_find(const tli_parquetwrite_column *c, const struct ArrowArray **a, int64_t *row)
{
    int64_t i = *row + (*a)->offset;
    if (!tli_arrow_valid(*a, *row))
        return 0;
    if ((*a)->dictionary != NULL) {
        int64_t index = tli_arrow_integer(&c->indices, (*a)->buffers[1], i);
        *a = (*a)->dictionary;
        if (!tli_arrow_valid(*a, index))
            return 0;
        i = index + (*a)->offset;
    }
    *row = i;
    return 1;
}

/* The bytes of a decimal; absent when it has more digits than its type. */
TLI_FN tl_span tli_parquetwrite_digits(const tli_parquetwrite_column *c, const uint8_t *value, uint8_t *room)
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
TLI_FN tl_span tli_parquetwrite_value(const tli_parquetwrite_column *c, const struct ArrowArray *a, int64_t i,
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
TLI_FN int tli_parquetwrite_order(const tli_parquetwrite_column *c, tl_span a, tl_span b)
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

TLI_FN void tli_parquetwrite_keep(tli_parquetwrite_column *c, tl_span *bound, uint8_t *kept, tl_span value)
{
    *bound = value;
    if (c->physical >= TLI_PARQUETWRITE_BYTES && c->logical != TLI_PARQUETWRITE_DECIMAL)
        return; /* it lies in the array */
    TLI_COPY(kept, value.data, value.size);
    bound->data = (const char *)kept;
}

/* Takes a value into the minimum and maximum. NaN is no bound, and is counted. */
TLI_FN void tli_parquetwrite_bounds(tli_parquetwrite_column *c, tl_span value)
{
    int real = c->physical == TLI_PARQUETWRITE_FLOAT || c->physical == TLI_PARQUETWRITE_DOUBLE;
    int64_t key;
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

/* ---- pages ---- */

/* Appends a value to the page. Booleans are bits, the lowest first: `place` counts the page's values. */
TLI_FN tl_status tli_parquetwrite_put(tli_parquetwrite *w, const tli_parquetwrite_column *c, tl_span value,
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
    if (c->physical == TLI_PARQUETWRITE_BYTES) {
        if (value.size > TLI_PARQUETWRITE_VALUE)
            return tli_parquetwrite_refuse(w, c, "a value of more than 1 GiB");
        tli_bits_put_le32(size, (uint32_t)value.size);
        st = tli_mem_append(&w->values, size, 4, w->err);
    }
    return st == TL_OK ? tli_mem_append(&w->values, value.data, value.size, w->err) : st;
}

/* The page of `rows` rows that is in values and levels. */
TLI_FN tl_status tli_parquetwrite_page(tli_parquetwrite *w, const tli_parquetwrite_column *c, uint64_t rows,
                                       uint64_t nulls)
{
    tli_thriftwrite t = tli_parquetwrite_thrift(w, w->out);
    uint64_t bytes = (rows + 7) / 8, run = nulls == 0 ? rows << 1 : bytes << 1 | 1, levels = 0;
    int32_t size;
    if (c->optional) /* length, header of the run, run */
        levels = 4u + (run < 128 ? 1u : run < 16384 ? 2u : 3u) + (nulls == 0 ? 1u : bytes);
    size = (int32_t)(levels + w->values.size);
    tli_thriftwrite_open(&t);
    tli_thriftwrite_i32(&t, 1, 0); /* DATA_PAGE */
    tli_thriftwrite_i32(&t, 2, size);
    tli_thriftwrite_i32(&t, 3, size);
    tli_thriftwrite_struct(&t, 5);
    tli_thriftwrite_i32(&t, 1, (int32_t)rows);
    tli_thriftwrite_i32(&t, 2, 0); /* PLAIN */
    tli_thriftwrite_i32(&t, 3, 3); /* RLE, of levels */
    tli_thriftwrite_i32(&t, 4, 3);
    tli_thriftwrite_close(&t);
    tli_thriftwrite_close(&t);
    if (levels != 0) {
        uint8_t length[4];
        uint8_t one = 1;
        tli_bits_put_le32(length, (uint32_t)levels - 4);
        tli_thriftwrite_raw(&t, length, 4);
        tli_thriftwrite_varint(&t, run);
        tli_thriftwrite_raw(&t, nulls == 0 ? &one : w->levels.data, nulls == 0 ? 1 : (size_t)bytes);
    }
    tli_thriftwrite_raw(&t, w->values.data, w->values.size);
    return t.status;
}

/* Rows from *row on, as many as a page takes. */
TLI_FN tl_status tli_parquetwrite_fill(tli_parquetwrite *w, tli_parquetwrite_column *c, const struct ArrowArray *batch,
                                       const struct ArrowArray *array, int64_t *row)
{
    uint64_t rows = 0, nulls = 0;
    tl_status st = TL_OK;
    w->values.size = 0;
    TLI_FILL(w->levels.data, 0, TLI_PARQUETWRITE_ROWS / 8);
    for (; *row < batch->length && rows < TLI_PARQUETWRITE_ROWS && w->values.size < TLI_PARQUETWRITE_PAGE; rows++) {
        const struct ArrowArray *a = array;
        int64_t i = batch->offset + (*row)++;
        uint8_t room[32];
        tl_span value;
        if (!tli_parquetwrite_find(c, &a, &i)) {
            if (!c->optional)
                return tli_parquetwrite_refuse(w, c, "a null in a column that is not nullable");
            nulls++;
            continue;
        }
        value = tli_parquetwrite_value(c, a, i, room);
        if (value.data == NULL)
            return tli_parquetwrite_refuse(w, c, "a decimal of more digits than its type has");
        st = tli_parquetwrite_put(w, c, value, rows - nulls);
        if (st != TL_OK)
            return st;
        tli_bits_set(w->levels.data, rows);
        tli_parquetwrite_bounds(c, value);
    }
    c->rows += rows;
    c->nulls += nulls;
    return tli_parquetwrite_page(w, c, rows, nulls);
}

/* ---- metadata ---- */

TLI_FN void tli_parquetwrite_statistics(tli_thriftwrite *t, const tli_parquetwrite_column *c)
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

TLI_FN void tli_parquetwrite_chunk(tli_thriftwrite *t, const tli_parquetwrite_column *c)
{
    tli_thriftwrite_open(t);
    tli_thriftwrite_i64(t, 2, 0); /* of metadata elsewhere: there is none */
    tli_thriftwrite_struct(t, 3);
    tli_thriftwrite_i32(t, 1, c->physical);
    tli_thriftwrite_list(t, 2, TLI_THRIFT_I32, 2);
    tli_thriftwrite_zigzag(t, 0); /* PLAIN */
    tli_thriftwrite_zigzag(t, 3); /* RLE */
    tli_thriftwrite_list(t, 3, TLI_THRIFT_BINARY, 1);
    tli_thriftwrite_bytes(t, tl_text(c->schema->name != NULL ? c->schema->name : ""));
    tli_thriftwrite_i32(t, 4, 0); /* not compressed */
    tli_thriftwrite_i64(t, 5, c->rows);
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
    uint64_t size = 0;
    size_t i;
    tli_thriftwrite_open(&t);
    tli_thriftwrite_list(&t, 1, TLI_THRIFT_STRUCT, (uint32_t)w->column_count);
    for (i = 0; i < w->column_count && t.status == TL_OK; i++) {
        tli_parquetwrite_column *c = &w->columns[i];
        int64_t row = 0;
        c->at = w->out->size - w->start;
        c->rows = c->nulls = c->nans = 0;
        c->low = c->high = tli_text_span(NULL, 0);
        while (row < batch->length && t.status == TL_OK)
            t.status = tli_parquetwrite_fill(w, c, batch, batch->children[i], &row);
        c->size = w->out->size - w->start - c->at;
        size += c->size;
        tli_parquetwrite_chunk(&t, c);
    }
    tli_thriftwrite_i64(&t, 2, size);
    tli_thriftwrite_i64(&t, 3, (uint64_t)batch->length);
    tli_thriftwrite_i64(&t, 5, w->columns[0].at);
    tli_thriftwrite_i64(&t, 6, size);
    tli_thriftwrite_close(&t);
    w->rows += (uint64_t)batch->length;
    w->group_count++;
    return t.status;
}

/* The members of a logical type. */
TLI_FN void tli_parquetwrite_logical(tli_thriftwrite *t, const tli_parquetwrite_column *c)
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

TLI_FN void tli_parquetwrite_element(tli_thriftwrite *t, const tli_parquetwrite_column *c)
{
    tli_thriftwrite_open(t);
    tli_thriftwrite_i32(t, 1, c->physical);
    if (c->physical == TLI_PARQUETWRITE_FIXED)
        tli_thriftwrite_i32(t, 2, c->length);
    tli_thriftwrite_i32(t, 3, c->optional);
    tli_thriftwrite_text(t, 4, tl_text(c->schema->name != NULL ? c->schema->name : ""));
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
}

TLI_FN tl_status tli_parquetwrite_footer(tli_parquetwrite *w)
{
    tli_thriftwrite t = tli_parquetwrite_thrift(w, w->out);
    size_t at = w->out->size, i;
    uint8_t end[8];
    tli_thriftwrite_open(&t);
    tli_thriftwrite_i32(&t, 1, 1); /* the version that all writers give */
    tli_thriftwrite_list(&t, 2, TLI_THRIFT_STRUCT, (uint32_t)w->column_count + 1);
    tli_thriftwrite_open(&t);
    tli_thriftwrite_text(&t, 4, tl_text("schema"));
    tli_thriftwrite_i32(&t, 5, (int32_t)w->column_count);
    tli_thriftwrite_close(&t);
    for (i = 0; i < w->column_count; i++)
        tli_parquetwrite_element(&t, &w->columns[i]);
    tli_thriftwrite_i64(&t, 3, w->rows);
    tli_thriftwrite_list(&t, 4, TLI_THRIFT_STRUCT, w->group_count);
    tli_thriftwrite_raw(&t, w->groups.data, w->groups.size);
    tli_thriftwrite_text(&t, 6, tl_text("timelake.h version " TL_VERSION_TEXT));
    tli_thriftwrite_list(&t, 7, TLI_THRIFT_STRUCT, (uint32_t)w->column_count);
    for (i = 0; i < w->column_count; i++) {
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

TLI_FN tl_status tli_parquetwrite_begin(tli_parquetwrite *w, const struct ArrowSchema *schema, const tl_allocator *a)
{
    tl_status st = tli_arrow_schema_check(schema, NULL, NULL, w->err);
    size_t i;
    if (st != TL_OK)
        return st;
    if (schema->format[0] != '+' || schema->format[1] != 's' || schema->n_children == 0)
        return tli_err(w->err, TL_UNSUPPORTED, "a schema that is no struct of columns", TL_NO_POSITION);
    w->columns = (tli_parquetwrite_column *)tli_mem_new(a, (size_t)schema->n_children * sizeof *w->columns);
    if (w->columns == NULL)
        return tli_mem_failed(a, w->err);
    w->column_count = (size_t)schema->n_children;
    TLI_FILL(w->columns, 0, w->column_count * sizeof *w->columns);
    for (i = 0; i < w->column_count && st == TL_OK; i++)
        st = tli_parquetwrite_begin_column(w, &w->columns[i], schema->children[i]);
    if (st == TL_OK)
        st = tli_mem_reserve(&w->levels, TLI_PARQUETWRITE_ROWS / 8, w->err);
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
    tl_status st;
    int32_t i;
    TLI_FILL(&w, 0, sizeof w);
    w.out = out;
    w.start = out->size;
    w.err = err != NULL ? err : &why;
    w.values.allocator = w.levels.allocator = w.groups.allocator = a;
    st = tli_parquetwrite_begin(&w, schema, &a);
    for (i = 0; i < count && st == TL_OK; i++)
        st = tli_parquetwrite_batch(&w, schema, batches[i]);
    if (st == TL_OK)
        st = tli_parquetwrite_footer(&w);
    tl_buffer_free(&w.values);
    tl_buffer_free(&w.levels);
    tl_buffer_free(&w.groups);
    tli_mem_delete(&a, w.columns, w.column_count * sizeof *w.columns);
    if (st != TL_OK)
        out->size = w.start;
    if (column != NULL)
        *column = w.column;
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
