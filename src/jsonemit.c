/* >>jsonemit: writing for the `json` codec: schemas, rows, the document. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- writing ---- */

typedef struct tli_jsonemit_writer {
    tl_buffer *out;
    char *p;   /* where the next byte goes; the buffer's size is set when it grows and at the end */
    char *end; /* of its memory */
    tli_jsontype_tree tree;
    tl_status status;
    tl_error *err;
} tli_jsonemit_writer;

TLI_NOINLINE int tli_jsonemit_grow(tli_jsonemit_writer *w, size_t size)
{
    if (w->p != NULL)
        w->out->size = (size_t)(w->p - (char *)w->out->data);
    w->status = tli_mem_reserve(w->out, size, w->err);
    if (w->status != TL_OK)
        return 0;
    w->p = (char *)w->out->data + w->out->size;
    w->end = (char *)w->out->data + w->out->capacity;
    return 1;
}

/* Room for `size` bytes at w->p. */
TLI_INLINE int tli_jsonemit_room(tli_jsonemit_writer *w, size_t size)
{
    return TLI_LIKELY((size_t)(w->end - w->p) >= size) || tli_jsonemit_grow(w, size);
}

/* Writes what is JSON already. */
TLI_INLINE int tli_jsonemit_put(tli_jsonemit_writer *w, const char *text, size_t size)
{
    if (!tli_jsonemit_room(w, size))
        return 0;
    if (size != 0)
        TLI_COPY(w->p, text, size);
    w->p += size;
    return 1;
}

TLI_FN int tli_jsonemit_say(tli_jsonemit_writer *w, const char *text)
{
    return tli_jsonemit_put(w, text, tl_text(text).size);
}

/* Writes a text in quotes. */
TLI_FN int tli_jsonemit_quote(tli_jsonemit_writer *w, tl_span text)
{
    size_t room = text.size <= 256 ? 6 * text.size + 2 : tli_json_escaped_size(text.data, text.size) + 2;
    if (!tli_jsonemit_room(w, room))
        return 0;
    w->p = tli_json_put_text(w->p, text.data, text.size);
    return 1;
}

TLI_FN int tli_jsonemit_number(tli_jsonemit_writer *w, int64_t value)
{
    if (!tli_jsonemit_room(w, 24))
        return 0;
    w->p += tli_number_i64(w->p, value);
    return 1;
}

TLI_FN int tli_jsonemit_misuse(tli_jsonemit_writer *w, tl_status status, const char *text)
{
    w->status = tli_err(w->err, status, text, TL_NO_POSITION);
    return 0;
}

/* ---- writing a schema ---- */

/* {"key":"value",...} of a node's metadata, in its order. */
TLI_FN int tli_jsonemit_write_metadata(tli_jsonemit_writer *w, const struct ArrowSchema *schema)
{
    tli_arrow_pairs pairs = tli_arrow_pairs_begin(schema);
    tl_span key, value;
    const char *before = "{";
    while (tli_arrow_pairs_next(&pairs, &key, &value)) {
        if (tli_text_utf8(key.data, key.size) != key.size || tli_text_utf8(value.data, value.size) != value.size)
            return tli_jsonemit_misuse(w, TL_MISUSE, "head: metadata that is not UTF-8");
        if (!tli_jsonemit_say(w, before) || !tli_jsonemit_quote(w, key) || !tli_jsonemit_say(w, ":")
            || !tli_jsonemit_quote(w, value))
            return 0;
        before = ",";
    }
    return tli_jsonemit_say(w, before[0] == '{' ? "{}" : "}");
}

/* The arguments of a type behind the colon, up to its children if it has any. */
TLI_FN int tli_jsonemit_write_arguments(tli_jsonemit_writer *w, const tl_type *t)
{
    if (t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256)
        return tli_jsonemit_say(w, "[") && tli_jsonemit_number(w, t->precision) && tli_jsonemit_say(w, ",")
               && tli_jsonemit_number(w, t->scale) && tli_jsonemit_say(w, "]");
    if (t->id == TL_TYPE_FIXED_BINARY)
        return tli_jsonemit_number(w, t->size);
    if (t->id >= TL_TYPE_FIXED_LIST)
        return tli_jsonemit_say(w, "[");
    if (t->id >= TL_TYPE_LIST)
        return 1;
    if (t->id == TL_TYPE_TIMESTAMP && !tli_jsonemit_say(w, "["))
        return 0;
    if (!tli_jsonemit_say(w, "\"")
        || !tli_jsonemit_say(w, tli_jsontype_unit(t->id >= TL_TYPE_INTERVAL_MONTHS
                                                      ? (uint32_t)t->id - TL_TYPE_INTERVAL_MONTHS + 4
                                                      : (uint32_t)t->unit))
        || !tli_jsonemit_say(w, "\""))
        return 0;
    if (t->id != TL_TYPE_TIMESTAMP)
        return 1;
    return tli_jsonemit_say(w, ",")
           && (t->zone.data == NULL ? tli_jsonemit_say(w, "null") : tli_jsonemit_quote(w, t->zone))
           && tli_jsonemit_say(w, "]");
}

/* A field, or the type of a dictionary's values, up to its children. */
TLI_FN int tli_jsonemit_open_field(tli_jsonemit_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const tl_type *t = &b->type;
    int plain = t->id <= TL_TYPE_FLOAT64 || t->id == TL_TYPE_DATE32 || t->id == TL_TYPE_DATE64
                || (t->id >= TL_TYPE_UTF8 && t->id <= TL_TYPE_BINARY_VIEW);
    if (!b->is_dictionary
        && (!tli_jsonemit_say(w, "{\"name\":") || !tli_jsonemit_quote(w, w->tree.nodes[at].name)
            || !tli_jsonemit_say(w, ",\"data_type\":")))
        return 0;
    if (b->schema->dictionary != NULL && !tli_jsonemit_say(w, "{\"Dictionary\":["))
        return 0;
    if (!tli_jsonemit_say(w, plain ? "\"" : "{\"") || !tli_jsonemit_say(w, tli_jsontype_name(t->id))
        || !tli_jsonemit_say(w, plain ? "\"" : "\":"))
        return 0;
    if (!plain && !tli_jsonemit_write_arguments(w, t))
        return 0;
    if (b->schema->dictionary != NULL)
        return tli_jsonemit_say(w, ",");
    return plain || t->id >= TL_TYPE_LIST || tli_jsonemit_say(w, "}");
}

/* What follows its children. */
TLI_FN int tli_jsonemit_close_field(tli_jsonemit_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const struct ArrowSchema *schema = b->schema;
    int good = 1;
    if (b->type.id == TL_TYPE_FIXED_LIST)
        good = tli_jsonemit_say(w, ",") && tli_jsonemit_number(w, b->type.size);
    else if (b->type.id == TL_TYPE_MAP)
        good = tli_jsonemit_say(w, (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0 ? ",true" : ",false");
    if (good && (schema->dictionary != NULL || b->type.id >= TL_TYPE_FIXED_LIST))
        good = tli_jsonemit_say(w, "]");
    if (good && (schema->dictionary != NULL || b->type.id >= TL_TYPE_LIST))
        good = tli_jsonemit_say(w, "}");
    if (!good || b->is_dictionary)
        return good;
    return tli_jsonemit_say(w, ",\"nullable\":")
           && tli_jsonemit_say(w, (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "true" : "false")
           && tli_jsonemit_say(w, ",\"dict_id\":0,\"dict_is_ordered\":")
           && tli_jsonemit_say(w, schema->dictionary != NULL && (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0
                                      ? "true" : "false")
           && tli_jsonemit_say(w, ",\"metadata\":") && tli_jsonemit_write_metadata(w, schema)
           && tli_jsonemit_say(w, "}");
}

TLI_FN int tli_jsonemit_write_schema(tli_jsonemit_writer *w)
{
    const tli_build_node *b = w->tree.build->nodes;
    uint32_t i, at, n = w->tree.build->count;
    if (!tli_jsonemit_say(w, "{\"fields\":["))
        return 0;
    for (i = 1; i < n; i++) {
        if (!tli_jsonemit_open_field(w, i))
            return 0;
        if (b[i].span > 1)
            continue;
        for (at = i;; at -= b[at].up) { /* this one, and all around it that end here */
            if (!tli_jsonemit_close_field(w, at))
                return 0;
            if (b[at].up == at || at - b[at].up + b[at - b[at].up].span != i + 1)
                break;
        }
        if (i + 1 < n && !tli_jsonemit_say(w, ","))
            return 0;
    }
    return tli_jsonemit_say(w, "],\"metadata\":") && tli_jsonemit_write_metadata(w, b[0].schema)
           && tli_jsonemit_say(w, "}");
}

/* ---- writing values ---- */

/* The bytes of value i (offset included) of a text or binary array. */
TLI_INLINE tl_span tli_jsonemit_bytes_of(const tli_build_node *b, int64_t i)
{
    const struct ArrowArray *a = b->array;
    const uint8_t *values = (const uint8_t *)a->buffers[1];
    if (b->layout == TLI_ARROW_BYTES) {
        uint32_t from = tli_bits_u32(values + 4 * i), to = tli_bits_u32(values + 4 * i + 4);
        return from == to ? tl_text("") : tli_text_span((const uint8_t *)a->buffers[2] + from, to - from);
    }
    if (b->layout == TLI_ARROW_LARGE_BYTES) {
        uint64_t from = tli_bits_u64(values + 8 * i), to = tli_bits_u64(values + 8 * i + 8);
        return from == to ? tl_text("") : tli_text_span((const uint8_t *)a->buffers[2] + from, (size_t)(to - from));
    }
    if (b->layout == TLI_ARROW_VIEWS)
        return tli_arrow_view(a, i);
    return tli_text_span(b->type.width == 0 ? (const uint8_t *)"" : values + (size_t)b->type.width * (size_t)i,
                         (size_t)b->type.width);
}

TLI_FN int tli_jsonemit_write_hex(tli_jsonemit_writer *w, tl_span bytes)
{
    if (bytes.size > SIZE_MAX / 4 || !tli_jsonemit_room(w, 2 * bytes.size + 2))
        return bytes.size > SIZE_MAX / 4 ? tli_jsonemit_misuse(w, TL_NO_MEMORY, "output too large") : 0;
    *w->p++ = '"';
    tli_number_hex(w->p, bytes.data, bytes.size);
    w->p += 2 * bytes.size;
    *w->p++ = '"';
    return 1;
}

/* Whether every reader gets a number right: at most 15 digits and a power of ten that a double holds. serde_json, which
   Timelake reads with, multiplies the two (its float_roundtrip is off) and is one bit off for a fifth of other doubles;
   from a text it takes them exactly. */
TLI_FN int tli_jsonemit_plain_float(const char *p, size_t n)
{
    int32_t digits = 0, fraction = 0, exponent = 0;
    size_t i = p[0] == '-';
    int point = 0, minus;
    for (; i < n && p[i] != 'e'; i++) {
        if (p[i] == '.') {
            point = 1;
            continue;
        }
        digits += digits != 0 || p[i] != '0';
        fraction += point;
    }
    minus = i + 1 < n && p[i + 1] == '-';
    for (i += 2; i < n; i++)
        exponent = exponent * 10 + (p[i] - '0');
    exponent = (minus ? -exponent : exponent) - fraction;
    return digits <= 15 && exponent <= 22 && exponent >= -22;
}

/* There is room for 100 bytes. */
TLI_FN void tli_jsonemit_write_float(tli_jsonemit_writer *w, tl_type_id id, const uint8_t *value)
{
    double wide;
    float narrow;
    char *p = w->p;
    size_t n;
    if (id == TL_TYPE_FLOAT64) {
        TLI_COPY(&wide, value, 8);
        n = tli_number_f64(p + 1, wide);
    } else {
        if (id == TL_TYPE_FLOAT32)
            TLI_COPY(&narrow, value, 4);
        else
            narrow = tli_number_f16_to_f32(tli_bits_u16(value));
        n = tli_number_f32(p + 1, narrow);
    }
    if (p[n] > '9' || (n == 4 && TLI_COMPARE(p + 1, "-0.0", 4) == 0) || !tli_jsonemit_plain_float(p + 1, n)) {
        *p = '"'; /* JSON has no such numbers, or its readers do not agree on them */
        p[n + 1] = '"';
        w->p += n + 2;
        return;
    }
    TLI_MOVE(p, p + 1, n);
    w->p += n;
}

/* Dates and times of day as text where the text can say them, all else of time as an integer. There is room. */
TLI_FN void tli_jsonemit_write_time(tli_jsonemit_writer *w, const tl_type *t, int64_t v)
{
    const int64_t least = -719528, most = 2932896; /* days of the years 0 to 9999 */
    size_t n = 0;
    char *p = w->p;
    if (t->id == TL_TYPE_DATE32 && v >= least && v <= most)
        n = tli_time_date(p + 1, v);
    else if (t->id == TL_TYPE_DATE64 && v >= least * 86400000 && v < (most + 1) * 86400000)
        n = tli_time_stamp(p + 1, v, TL_UNIT_MILLI, tl_text(NULL));
    else if (t->id == TL_TYPE_TIME32 || t->id == TL_TYPE_TIME64)
        n = tli_time_clock(p + 1, v, t->unit);
    if (n == 0) {
        w->p += tli_number_i64(p, v);
        return;
    }
    *p = '"';
    p[n + 1] = '"';
    w->p += n + 2;
}

TLI_FN int tli_jsonemit_write_parts(tli_jsonemit_writer *w, const uint8_t *value, int count)
{
    return tli_jsonemit_say(w, "[") && tli_jsonemit_number(w, (int32_t)tli_bits_u32(value)) && tli_jsonemit_say(w, ",")
           && tli_jsonemit_number(w, (int32_t)tli_bits_u32(value + 4))
           && (count == 2
               || (tli_jsonemit_say(w, ",") && tli_jsonemit_number(w, (int64_t)tli_bits_u64(value + 8))))
           && tli_jsonemit_say(w, "]");
}

/* Digits of a decimal's text but for leading zeros: readers refuse more than the precision, arrays may hold them. */
TLI_FN int32_t tli_jsonemit_digits(const char *text, size_t size)
{
    int32_t digits = 0;
    size_t i;
    for (i = 0; i < size && text[i] != 'E'; i++)
        if (text[i] >= '0' && text[i] <= '9')
            digits += digits != 0 || text[i] != '0';
    return digits;
}

/* A value that is neither null nor made of others. */
TLI_FN int tli_jsonemit_write_scalar(tli_jsonemit_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const tl_type *t = &b->type;
    int64_t i = w->tree.nodes[at].row + b->array->offset;
    const uint8_t *value;
    size_t n;
    if (t->id >= TL_TYPE_BINARY)
        return tli_jsonemit_write_hex(w, tli_jsonemit_bytes_of(b, i));
    if (t->id >= TL_TYPE_UTF8)
        return tli_jsonemit_quote(w, tli_jsonemit_bytes_of(b, i));
    if (t->id == TL_TYPE_BOOL)
        return tli_jsonemit_say(w, tli_bits_get(b->array->buffers[1], (uint64_t)i) ? "true" : "false");
    if (!tli_jsonemit_room(w, 100))
        return 0;
    value = (const uint8_t *)b->array->buffers[1] + (size_t)t->width * (size_t)i;
    if (t->id >= TL_TYPE_UINT8 && t->id <= TL_TYPE_UINT64) {
        uint64_t v = t->width == 8 ? tli_bits_u64(value) : t->width == 4 ? tli_bits_u32(value)
            : t->width == 2 ? tli_bits_u16(value) : *value;
        w->p += tli_number_u64(w->p, v);
    } else if (t->id <= TL_TYPE_INT64) {
        w->p += tli_number_i64(w->p, tli_arrow_integer(t, value, 0));
    } else if (t->id <= TL_TYPE_FLOAT64) {
        tli_jsonemit_write_float(w, t->id, value);
    } else if (t->id <= TL_TYPE_DECIMAL256) {
        *w->p = '"';
        n = tli_number_decimal(w->p + 1, value, t->width, t->scale);
        if (tli_jsonemit_digits(w->p + 1, n) > t->precision)
            return tli_jsonemit_misuse(w, TL_UNSUPPORTED, "head: a decimal of more digits than its precision");
        w->p[n + 1] = '"';
        w->p += n + 2;
    } else if (t->id == TL_TYPE_INTERVAL_DAY_TIME || t->id == TL_TYPE_INTERVAL_MONTH_DAY_NANO) {
        return tli_jsonemit_write_parts(w, value, t->width == 8 ? 2 : 3);
    } else {
        tli_jsonemit_write_time(w, t, t->width == 4 ? (int32_t)tli_bits_u32(value) : (int64_t)tli_bits_u64(value));
    }
    return 1;
}

/* Whether value `row` is null; what may not be null is refused. */
TLI_INLINE int tli_jsonemit_is_null(tli_jsonemit_writer *w, uint32_t at)
{
    const struct ArrowArray *a = w->tree.build->nodes[at].array;
    if (a->n_buffers != 0 && (a->null_count == 0 || a->buffers[0] == NULL))
        return 0;
    if (tli_arrow_valid(a, w->tree.nodes[at].row))
        return 0;
    if (!w->tree.nodes[at].nullable)
        (void)tli_jsonemit_misuse(w, TL_MISUSE, "head: a null in a column that is not nullable");
    return 1;
}

/* Goes on in an object: writes members up to one whose value is made of others, which is answered, or to the end. */
TLI_FN uint32_t tli_jsonemit_write_members(tli_jsonemit_writer *w, uint32_t at)
{
    tli_jsontype_node *n = &w->tree.nodes[at];
    const struct ArrowArray *a = w->tree.build->nodes[at].array;
    int64_t row = n->row + (a == NULL ? 0 : a->offset);
    while (n->seen < n->count) {
        uint32_t child = w->tree.sorted[n->sorted + n->seen];
        tli_jsontype_node *c = &w->tree.nodes[child];
        if (!tli_jsonemit_put(w, c->key.data + (n->seen == 0), c->key.size - (n->seen == 0)))
            return TLI_JSONTYPE_FAIL;
        n->seen++;
        c->row = row;
        if (tli_jsonemit_is_null(w, child)) {
            if (w->status != TL_OK || !tli_jsonemit_say(w, "null"))
                return TLI_JSONTYPE_FAIL;
        } else if (w->tree.build->nodes[child].layout >= TLI_ARROW_LIST || c->act == TLI_JSONTYPE_DICTIONARY) {
            return child;
        } else if (!tli_jsonemit_write_scalar(w, child)) {
            return TLI_JSONTYPE_FAIL;
        }
    }
    return tli_jsonemit_say(w, "}") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* The first and the last value, plus one, of a list or map at hand. */
TLI_FN void tli_jsonemit_range(const tli_build_node *b, int64_t i, int64_t *from, int64_t *to)
{
    const uint8_t *offsets = (const uint8_t *)b->array->buffers[b->layout == TLI_ARROW_FIXED_LIST ? 0 : 1];
    i += b->array->offset;
    if (b->layout == TLI_ARROW_FIXED_LIST) {
        *from = i * b->type.size;
        *to = *from + b->type.size;
    } else if (b->layout == TLI_ARROW_LIST) {
        *from = (int32_t)tli_bits_u32(offsets + 4 * i);
        *to = (int32_t)tli_bits_u32(offsets + 4 * i + 4);
    } else {
        *from = (int64_t)tli_bits_u64(offsets + 8 * i);
        *to = (int64_t)tli_bits_u64(offsets + 8 * i + 8);
    }
}

/* Whether a map's keys are text, or a dictionary of text: then it is an object. */
TLI_FN int tli_jsonemit_text_keys(const tli_build_node *key)
{
    tl_type_id id = key[key->schema->dictionary != NULL].type.id;
    return id >= TL_TYPE_UTF8 && id <= TL_TYPE_UTF8_VIEW;
}

/* The value at hand of a node: writes it (DONE), or its beginning and answers the node whose value is next; or FAIL. */
TLI_FN uint32_t tli_jsonemit_write_begin(tli_jsonemit_writer *w, uint32_t at)
{
    tli_jsontype_node *n = &w->tree.nodes[at];
    const tli_build_node *b = &w->tree.build->nodes[at];
    int good;
    if (b->array != NULL && tli_jsonemit_is_null(w, at))
        return w->status == TL_OK && tli_jsonemit_say(w, "null") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (n->act == TLI_JSONTYPE_DICTIONARY) {
        w->tree.nodes[at + 1].row = tli_arrow_integer(&b->type, b->array->buffers[1], n->row + b->array->offset);
        return at + 1;
    }
    if (b->layout < TLI_ARROW_LIST)
        return tli_jsonemit_write_scalar(w, at) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        uint32_t value = at + 1 + b[1].span;
        w->tree.nodes[at + 1].row = w->tree.nodes[value].row = n->row + b->array->offset;
        return !w->tree.nodes[at - 1].pairs || tli_jsonemit_say(w, "[") ? at + 1 : TLI_JSONTYPE_FAIL;
    }
    if (n->act == TL_TYPE_STRUCT) {
        n->seen = 0;
        if (n->twins)
            (void)tli_jsonemit_misuse(w, TL_UNSUPPORTED, "head: rows of a struct with two fields of one name");
        return !n->twins && tli_jsonemit_say(w, "{") ? tli_jsonemit_write_members(w, at) : TLI_JSONTYPE_FAIL;
    }
    n->pairs = n->act != TL_TYPE_MAP || !tli_jsonemit_text_keys(b + 2);
    tli_jsonemit_range(b, n->row, &w->tree.nodes[at + 1].row, &n->end);
    good = tli_jsonemit_say(w, n->pairs ? "[" : "{");
    if (!good || w->tree.nodes[at + 1].row < n->end)
        return good ? at + 1 : TLI_JSONTYPE_FAIL;
    return tli_jsonemit_say(w, n->pairs ? "]" : "}") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* Goes on after the part `child` of a value was written. */
TLI_FN uint32_t tli_jsonemit_write_resume(tli_jsonemit_writer *w, uint32_t at, uint32_t child)
{
    tli_jsontype_node *n = &w->tree.nodes[at];
    const tli_build_node *b = &w->tree.build->nodes[at];
    int pairs;
    if (n->act == TLI_JSONTYPE_DICTIONARY)
        return TLI_JSONTYPE_DONE;
    if (n->act == TL_TYPE_STRUCT)
        return tli_jsonemit_write_members(w, at);
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        pairs = w->tree.nodes[at - 1].pairs;
        if (child == at + 1)
            return tli_jsonemit_say(w, pairs ? "," : ":") ? child + b[1].span : TLI_JSONTYPE_FAIL;
        return !pairs || tli_jsonemit_say(w, "]") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    }
    if (++w->tree.nodes[child].row < n->end)
        return tli_jsonemit_say(w, ",") ? child : TLI_JSONTYPE_FAIL;
    return tli_jsonemit_say(w, n->pairs ? "]" : "}") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* One row, with all below it. */
TLI_FN int tli_jsonemit_write_row(tli_jsonemit_writer *w)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t next = tli_jsonemit_write_begin(w, at);
        while (next == TLI_JSONTYPE_DONE) {
            uint32_t child = at;
            if (at == 0)
                return 1;
            at -= w->tree.build->nodes[at].up;
            next = tli_jsonemit_write_resume(w, at, child);
        }
        if (next == TLI_JSONTYPE_FAIL)
            return 0;
        at = next;
    }
}

/* Gives each node its array of this batch. */
TLI_FN void tli_jsonemit_attach(tli_jsontype_tree *t, const struct ArrowArray *const *columns)
{
    tli_build_node *b = t->build->nodes;
    uint32_t i;
    union {
        const struct ArrowArray *read;
        struct ArrowArray *node; /* as builders have it; it is only read here */
    } array;
    for (i = 0; i < t->build->count; i++)
        b[i].times = 0; /* children that have theirs */
    for (i = 1; i < t->build->count; i++) {
        tli_build_node *parent = &b[i] - b[i].up;
        if (parent == b)
            array.read = columns[parent->times++];
        else
            array.read = b[i].is_dictionary ? parent->array->dictionary : parent->array->children[parent->times++];
        b[i].array = array.node;
    }
}

/* `,"name":` of every member, in the store. */
TLI_FN int tli_jsonemit_write_keys(tli_jsonemit_writer *w, tli_store *store)
{
    uint32_t i;
    for (i = 1; i < w->tree.build->count; i++) {
        tli_jsontype_node *n = &w->tree.nodes[i];
        size_t size = tli_json_escaped_size(n->name.data, n->name.size) + 4;
        char *key = (char *)tli_mem_take(store, size, w->err);
        if (key == NULL) {
            w->status = w->err->status;
            return 0;
        }
        if (tli_text_utf8(n->name.data, n->name.size) != n->name.size)
            return tli_jsonemit_misuse(w, TL_MISUSE, "head: a column name that is not UTF-8");
        key[0] = ',';
        *tli_json_put_text(key + 1, n->name.data, n->name.size) = ':';
        n->key = tli_text_span(key, size);
    }
    return 1;
}

TLI_FN int tli_jsonemit_write_rows(tli_jsonemit_writer *w, tl_section *section)
{
    int32_t batch;
    const char *before = "";
    if (!tli_jsonemit_say(w, "["))
        return 0;
    for (batch = 0; batch < section->batch_count; batch++) {
        int64_t row;
        if (section->batches[batch].rows == 0)
            continue;
        tli_jsonemit_attach(&w->tree, section->batches[batch].columns);
        for (row = 0; row < section->batches[batch].rows; row++) {
            w->tree.nodes[0].row = row;
            if (!tli_jsonemit_say(w, before) || !tli_jsonemit_write_row(w))
                return 0;
            before = ",";
        }
    }
    return tli_jsonemit_say(w, "]");
}

TLI_FN int tli_jsonemit_write_section(tli_jsonemit_writer *w, tl_section *section, const tl_allocator *allocator)
{
    tl_limits any;
    tli_store *store;
    int good;
    TLI_FILL(&any, 0, sizeof any);
    any.depth = 256;
    any.columns = UINT32_MAX;
    w->status = tl_section_open(section, w->err);
    if (w->status != TL_OK)
        return 0;
    store = tli_mem_store_new(allocator, UINT64_MAX, NULL, 0, NULL, NULL, w->err);
    if (store == NULL) {
        w->status = w->err->status;
        return 0;
    }
    w->status = tli_jsontype_nodes(store, section->schema, &any, &w->tree, w->err);
    good = w->status == TL_OK && tli_jsonemit_write_keys(w, store) && tli_jsonemit_say(w, "{\"name\":")
           && tli_jsonemit_quote(w, section->name) && tli_jsonemit_say(w, ",\"schema\":")
           && tli_jsonemit_write_schema(w) && tli_jsonemit_say(w, ",\"rows\":")
           && tli_jsonemit_write_rows(w, section) && tli_jsonemit_say(w, "}");
    tli_mem_store_drop(store);
    return good;
}

TLI_FN int tli_jsonemit_write_document(tli_jsonemit_writer *w, tl_document *document)
{
    const tl_allocator *a = document->store != NULL ? &document->store->allocator : &document->allocator;
    int32_t i;
    if (!tli_jsonemit_say(w, "{\"properties\":{"))
        return 0;
    for (i = 0; i < document->property_count; i++)
        if (!tli_jsonemit_say(w, i == 0 ? "" : ",") || !tli_jsonemit_quote(w, document->properties[i].key)
            || !tli_jsonemit_say(w, ":") || !tli_jsonemit_quote(w, document->properties[i].value))
            return 0;
    if (!tli_jsonemit_say(w, "},\"sections\":["))
        return 0;
    for (i = 0; i < document->section_count; i++)
        if (!tli_jsonemit_say(w, i == 0 ? "" : ",") || !tli_jsonemit_write_section(w, &document->sections[i], a))
            return 0;
    return tli_jsonemit_say(w, "]}");
}

#endif /* TIMELAKE_NO_HEAD_JSON */
