/* >>ipc: Arrow IPC streams, of "Columnar format" (arrow.apache.org), Message.fbs and Schema.fbs. */
#ifndef TIMELAKE_NO_HEAD_ARROW
#define TLI_IPC_LIST_TYPE(id) ((id) == TL_TYPE_LIST || (id) == TL_TYPE_LARGE_LIST || (id) == TL_TYPE_MAP)
#define TLI_IPC_VIEW_TYPE(id) ((id) == TL_TYPE_UTF8_VIEW || (id) == TL_TYPE_BINARY_VIEW)
#define TLI_IPC_WIDE_OFFSETS(id)                                                                                       \
    ((id) == TL_TYPE_LARGE_UTF8 || (id) == TL_TYPE_LARGE_BINARY || (id) == TL_TYPE_LARGE_LIST)
#define TLI_IPC_TEXT_TYPE(id) ((id) == TL_TYPE_UTF8 || (id) == TL_TYPE_LARGE_UTF8)

/* ---- layout: a schema as a list ---- */

/* Field after field, parents first; the values of a dictionary column come behind it as if they were its child. */
typedef struct tli_ipc_node {
    const struct ArrowSchema *schema;
    int32_t parent;   /* -1: a column */
    int32_t end;      /* behind its last descendant */
    int32_t place;    /* which child of its parent; n_children: its dictionary */
    int32_t ordinal;  /* among the nodes of its record */
    int32_t buffers;  /* of the nodes before it in its record, those of views that vary not counted */
    int32_t views;    /* nodes before it in its record that are views */
    int32_t encoding; /* dictionary columns: which one of the schema, from 0; else -1 */
    int32_t width;    /* of tl_type */
    int32_t size;
    tl_type_id id;
} tli_ipc_node;

/* What travels in one message: the columns of a batch, or the values of a dictionary. */
typedef struct tli_ipc_record {
    int32_t first, end; /* its nodes and the dictionaries among them */
    int32_t nodes, buffers, views;
} tli_ipc_record;

typedef struct tli_ipc_layout {
    tli_ipc_node *nodes;
    tli_ipc_record *encodings;
    tli_ipc_record columns;
    int32_t count;
    int32_t encoding_count;
} tli_ipc_layout;

/* The node behind node i in the same record. */
TLI_INLINE int32_t tli_ipc_step(const tli_ipc_layout *l, int32_t i)
{
    return l->nodes[i].encoding >= 0 ? l->nodes[i].end : i + 1;
}

/* How many buffers a node has on the wire, those of views that vary not counted. */
TLI_FN int32_t tli_ipc_buffers(tl_type_id id)
{
    if (id == TL_TYPE_NULL)
        return 0;
    if (id == TL_TYPE_STRUCT || id == TL_TYPE_FIXED_LIST)
        return 1;
    return TLI_IPC_TEXT_TYPE(id) || id == TL_TYPE_BINARY || id == TL_TYPE_LARGE_BINARY ? 3 : 2;
}

TLI_FN tl_status tli_ipc_node_fill(tli_ipc_node *node, const struct ArrowSchema *schema, tl_error *err)
{
    tl_type type;
    tl_status st = tl_type_of(schema, &type, err);
    node->schema = schema;
    node->encoding = -1;
    if (st != TL_OK)
        return st;
    node->id = type.id;
    node->width = type.width;
    node->size = type.size;
    return TL_OK;
}

/* Fills l->nodes, which has room for all nodes of a checked schema but the root. */
TLI_FN tl_status tli_ipc_list(tli_ipc_layout *l, const struct ArrowSchema *root, tl_error *err)
{
    int32_t at = -1, n = 0; /* the node whose children are taken, and how many there are */
    int64_t column = 0;
    l->encoding_count = 0;
    for (;;) {
        const struct ArrowSchema *s = at < 0 ? root : l->nodes[at].schema;
        int64_t next = at < 0 ? column++ : l->nodes[at].ordinal++; /* until it is numbered: children taken */
        tli_ipc_node *node;
        tl_status st;
        if (next >= s->n_children + (s->dictionary != NULL)) {
            if (at < 0)
                break;
            l->nodes[at].end = n;
            at = l->nodes[at].parent;
            continue;
        }
        node = &l->nodes[n];
        TLI_FILL(node, 0, sizeof *node);
        st = tli_ipc_node_fill(node, next < s->n_children ? s->children[next] : s->dictionary, err);
        if (st != TL_OK)
            return st;
        node->parent = at;
        node->place = (int32_t)next;
        if (node->schema->dictionary != NULL)
            node->encoding = l->encoding_count++;
        at = n++;
    }
    l->count = n;
    return TL_OK;
}

TLI_FN void tli_ipc_number(tli_ipc_layout *l, tli_ipc_record *record, int32_t first, int32_t end)
{
    int32_t i;
    TLI_FILL(record, 0, sizeof *record);
    record->first = first;
    record->end = end;
    for (i = first; i < end; i = tli_ipc_step(l, i)) {
        tli_ipc_node *node = &l->nodes[i];
        node->ordinal = record->nodes++;
        node->buffers = record->buffers;
        node->views = record->views;
        record->buffers += tli_ipc_buffers(node->id);
        record->views += TLI_IPC_VIEW_TYPE(node->id);
    }
}

/* Numbers what tli_ipc_list listed; l->encodings has room. */
TLI_FN void tli_ipc_records(tli_ipc_layout *l)
{
    int32_t i;
    tli_ipc_number(l, &l->columns, 0, l->count);
    for (i = 0; i < l->count; i++)
        if (l->nodes[i].encoding >= 0)
            tli_ipc_number(l, &l->encodings[l->nodes[i].encoding], i + 1, l->nodes[i].end);
}

/* ---- streams ---- */

enum { TLI_IPC_PLAIN, TLI_IPC_LZ4, TLI_IPC_ZSTD };
enum { TLI_IPC_SCHEMA = 1, TLI_IPC_DICTIONARY = 2, TLI_IPC_BATCH = 3 };

/* A record batch or a dictionary batch. The vectors are checked to lie in the metadata; what they say is not. */
typedef struct tli_ipc_message {
    const uint8_t *nodes;     /* int64 length and null count each */
    const uint8_t *buffers;   /* int64 offset and length each */
    const uint32_t *variadic; /* of view k: buffers before it that vary; one more at the end. NULL: none */
    const uint8_t *body;
    uint64_t body_size;
    uint64_t position; /* of the metadata, in the object */
    int64_t rows;
    struct ArrowArray *values; /* of a dictionary, once decoded: the state this message leads to */
    int32_t dictionary;        /* -1: a batch */
    int32_t base;              /* of a dictionary: the state (in `states`) that this one and its deltas began with */
    uint8_t codec;
    uint8_t delta;
} tli_ipc_message;

typedef struct tli_ipc_dictionary {
    int64_t id;
    int32_t encoding;          /* the first that uses it */
    int32_t first, end;        /* its states */
    struct ArrowArray *absent; /* no values: for batches before any state */
} tli_ipc_dictionary;

typedef struct tli_ipc_batch {
    int64_t rows;
    int32_t message;
} tli_ipc_batch;

/* A dictionary whose values are decoded once those of the dictionaries inside of them are. */
typedef struct tli_ipc_want {
    int32_t first, end, node;       /* its record, and how far it was looked through */
    int32_t dictionary;
    int32_t base, state, last;      /* its states, and the one looked at; -1: without any */
    const tli_ipc_message *message; /* of that state */
} tli_ipc_want;

/* Read schema, batch_count and batches[].rows; the rest is private. Everything lies in the store. */
struct tli_ipc_stream {
    const struct ArrowSchema *schema;
    int32_t batch_count;
    tli_ipc_batch *batches;
    tli_store *store;
    tl_limits limits;
    tl_compression compression;
    const uint8_t *bytes;
    size_t size;
    uint64_t position;
    tli_ipc_layout layout;
    int32_t *columns; /* their nodes */
    int64_t *ids;     /* of each encoding */
    int32_t id_count, id_capacity;
    int32_t *encodings; /* which dictionary each has */
    tli_ipc_dictionary *dictionaries;
    int32_t dictionary_count;
    tli_ipc_message *messages;
    int32_t message_count;
    int32_t *states;            /* dictionary messages, by dictionary, then in order */
    struct ArrowArray **arrays; /* scratch: the nodes of one record */
    tli_ipc_want *wants;        /* scratch: dictionaries being decoded, the inner ones last */
    void *work;                 /* of the zstd decoder while a record is decoded */
};
typedef struct tli_ipc_stream tli_ipc_stream;

/* Where a byte of the stream lies in the object. */
TLI_INLINE uint64_t tli_ipc_where(const tli_ipc_stream *s, const uint8_t *p)
{
    return s->position + (uint64_t)(p - s->bytes);
}

/* ---- the schema message ---- */

typedef struct tli_ipc_level {
    struct ArrowSchema *schema;
    tli_flatbuf_vector fields;
    uint32_t next;
    uint32_t depth;
} tli_ipc_level;

typedef struct tli_ipc_reader {
    tli_ipc_stream *stream;
    tli_flatbuf *in;
    uint64_t position;
    uint64_t text; /* bytes of names and metadata that may still be copied */
    uint32_t nodes;
} tli_ipc_reader;

TLI_FN tl_status tli_ipc_bad(const tli_ipc_reader *r, const char *text, tl_error *err)
{
    return tli_err(err, TL_CORRUPT, text, r->position);
}

/* A text of the schema: UTF-8, and no more of it in all than the message can honestly hold (offsets may meet). */
TLI_FN tl_status tli_ipc_read_text(tli_ipc_reader *r, tl_span text, tl_error *err)
{
    if (text.size > r->text)
        return tli_err(err, TL_LIMIT, "the texts of an Arrow schema are used too often", r->position);
    r->text -= text.size;
    if (tli_text_utf8(text.data, text.size) != text.size)
        return tli_ipc_bad(r, "a text of an Arrow schema is not UTF-8", err);
    return TL_OK;
}

TLI_FN tl_status tli_ipc_read_pairs(tli_ipc_reader *r, const tli_flatbuf_table *t, uint32_t id,
                                    struct ArrowSchema *schema, tl_error *err)
{
    tli_flatbuf_vector list = tli_flatbuf_list(t, id, 4);
    tl_span *keys, *values;
    uint32_t i;
    if (list.count == 0)
        return TL_OK;
    if (list.count > r->text / 8)
        return tli_err(err, TL_LIMIT, "the texts of an Arrow schema are used too often", r->position);
    r->text -= (uint64_t)list.count * 8;
    keys = (tl_span *)tli_mem_take_array(r->stream->store, (uint64_t)list.count * 2, sizeof *keys, err);
    if (keys == NULL)
        return err->status;
    values = keys + list.count;
    for (i = 0; i < list.count; i++) {
        tli_flatbuf_table pair = tli_flatbuf_item(r->in, &list, i);
        tl_status st;
        keys[i] = tli_flatbuf_text(&pair, 0);
        values[i] = tli_flatbuf_text(&pair, 1);
        st = tli_ipc_read_text(r, keys[i], err);
        if (st == TL_OK)
            st = tli_ipc_read_text(r, values[i], err);
        if (st != TL_OK)
            return st;
    }
    if (r->in->bad)
        return tli_ipc_bad(r, "the metadata of an Arrow field is malformed", err);
    return tli_arrow_schema_metadata(r->stream->store, schema, keys, values, (int32_t)list.count, err);
}

TLI_FN tl_status tli_ipc_type_int(const tli_ipc_reader *r, const tli_flatbuf_table *t, tl_type *type, tl_error *err)
{
    int32_t width = tli_flatbuf_i32(t, 0, 0), step = 0;
    int is_signed = tli_flatbuf_u8(t, 1, 0) != 0;
    while (step < 4 && width != 8 << step)
        step++;
    if (step == 4)
        return tli_ipc_bad(r, "an Arrow integer of a wrong width", err);
    type->id = (tl_type_id)((int)(is_signed ? TL_TYPE_INT8 : TL_TYPE_UINT8) + step);
    return TL_OK;
}

TLI_FN tl_status tli_ipc_type_decimal(const tli_ipc_reader *r, const tli_flatbuf_table *t, tl_type *type, tl_error *err)
{
    static const int32_t most[] = {9, 18, 38, 76};
    int32_t width = tli_flatbuf_i32(t, 2, 128), step = 0;
    type->precision = tli_flatbuf_i32(t, 0, 0);
    type->scale = tli_flatbuf_i32(t, 1, 0);
    while (step < 4 && width != 32 << step)
        step++;
    if (step == 4 || type->precision < 1 || type->precision > most[step])
        return tli_ipc_bad(r, "an Arrow decimal of a wrong width or precision", err);
    type->id = (tl_type_id)((int)TL_TYPE_DECIMAL32 + step);
    return TL_OK;
}

/* Times, dates, intervals: `wire` is the number in the Type union. */
TLI_FN tl_status tli_ipc_type_time(const tli_ipc_reader *r, uint8_t wire, const tli_flatbuf_table *t, tl_type *type,
                                   tl_error *err)
{
    int unit = tli_flatbuf_i16(t, 0, wire == 10 || wire == 11 ? 0 : 1); /* the defaults of Schema.fbs */
    int most = wire == 8 ? 1 : wire == 11 ? 2 : 3;
    if (unit < 0 || unit > most)
        return tli_ipc_bad(r, "an unknown unit of time", err);
    type->unit = (tl_unit)unit;
    if (wire == 8) {
        type->id = unit == 0 ? TL_TYPE_DATE32 : TL_TYPE_DATE64;
    } else if (wire == 9) {
        type->id = unit < 2 ? TL_TYPE_TIME32 : TL_TYPE_TIME64;
        if (tli_flatbuf_i32(t, 1, 32) != (unit < 2 ? 32 : 64))
            return tli_ipc_bad(r, "an Arrow time of a wrong width", err);
    } else if (wire == 10) {
        type->id = TL_TYPE_TIMESTAMP;
        type->zone = tli_flatbuf_text(t, 1);
        if (type->zone.size == 0)
            type->zone.data = NULL;
    } else if (wire == 11) {
        type->id = (tl_type_id)((int)TL_TYPE_INTERVAL_MONTHS + unit);
    } else {
        type->id = TL_TYPE_DURATION;
    }
    return TL_OK;
}

/* The type of a field: member 2 says which table member 3 is. *children: how many it must have, -1: any number. */
TLI_FN tl_status tli_ipc_read_type(tli_ipc_reader *r, const tli_flatbuf_table *field, tl_type *type, int64_t *flags,
                                   tl_error *err)
{
    uint8_t wire = tli_flatbuf_u8(field, 2, 0);
    tli_flatbuf_table t = tli_flatbuf_child(field, 3);
    static const tl_type_id simple[] = {
        TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_BINARY,
        TL_TYPE_UTF8, TL_TYPE_BOOL, TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_NULL,
        TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_LIST, TL_TYPE_STRUCT, TL_TYPE_NULL,
        TL_TYPE_FIXED_BINARY, TL_TYPE_FIXED_LIST, TL_TYPE_MAP, TL_TYPE_NULL, TL_TYPE_LARGE_BINARY,
        TL_TYPE_LARGE_UTF8, TL_TYPE_LARGE_LIST, TL_TYPE_NULL, TL_TYPE_BINARY_VIEW, TL_TYPE_UTF8_VIEW};
    TLI_FILL(type, 0, sizeof *type);
    switch (wire) {
    case 2:
        return tli_ipc_type_int(r, &t, type, err);
    case 3:
        type->id = (tl_type_id)((int)TL_TYPE_FLOAT16 + tli_flatbuf_i16(&t, 0, 0));
        if (type->id < TL_TYPE_FLOAT16 || type->id > TL_TYPE_FLOAT64)
            return tli_ipc_bad(r, "an Arrow float of an unknown precision", err);
        return TL_OK;
    case 7:
        return tli_ipc_type_decimal(r, &t, type, err);
    case 8: case 9: case 10: case 11: case 18:
        return tli_ipc_type_time(r, wire, &t, type, err);
    case 14:
        return tli_err(err, TL_UNSUPPORTED, "a union in an Arrow schema", r->position);
    case 22:
        return tli_err(err, TL_UNSUPPORTED, "run-end encoding in an Arrow schema", r->position);
    case 25: case 26:
        return tli_err(err, TL_UNSUPPORTED, "a list view in an Arrow schema", r->position);
    case 0:
        return tli_ipc_bad(r, "an Arrow field without a type", err);
    default:
        if (wire >= TLI_COUNT(simple))
            return tli_err(err, TL_UNSUPPORTED, "an unknown type in an Arrow schema", r->position);
    }
    type->id = simple[wire];
    if (wire == 15 || wire == 16)
        type->size = tli_flatbuf_i32(&t, 0, 0);
    if (type->size < 0)
        return tli_ipc_bad(r, "an Arrow type of negative size", err);
    if (wire == 17 && tli_flatbuf_u8(&t, 0, 0) != 0)
        *flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    return TL_OK;
}

TLI_FN struct ArrowSchema *tli_ipc_new_schema(tli_ipc_reader *r, const tl_type *type, tl_span name, int64_t flags,
                                              uint32_t children, tl_error *err)
{
    const char *format = NULL;
    if (r->nodes >= r->stream->limits.columns || children > r->stream->limits.columns) {
        (void)tli_err_need(err, TL_LIMIT, "limits.columns", r->position, TLI_MAX((uint64_t)r->nodes + 1, children));
        return NULL;
    }
    r->nodes++;
    if (tli_ipc_read_text(r, type->zone, err) != TL_OK
        || tli_arrow_format(r->stream->store, type, &format, err) != TL_OK)
        return NULL;
    return tli_arrow_schema_new(r->stream->store, format, name, flags, children, err);
}

/* Notes the dictionary id of the next encoding. */
TLI_FN tl_status tli_ipc_read_id(tli_ipc_stream *s, int64_t id, tl_error *err)
{
    if (s->id_count == s->id_capacity) {
        int32_t capacity = s->id_capacity == 0 ? 4 : s->id_capacity * 2;
        int64_t *ids = (int64_t *)tli_mem_take_array(s->store, (uint64_t)capacity, sizeof *ids, err);
        if (ids == NULL)
            return err->status;
        if (s->id_count != 0)
            TLI_COPY(ids, s->ids, (size_t)s->id_count * sizeof *ids);
        s->ids = ids;
        s->id_capacity = capacity;
    }
    s->ids[s->id_count++] = id;
    return TL_OK;
}

/* The node of a dictionary column: the type of its indices. */
TLI_FN tl_status tli_ipc_read_indices(tli_ipc_reader *r, const tli_flatbuf_table *encoding, tl_span name, int64_t flags,
                                      struct ArrowSchema **out, tl_error *err)
{
    tli_flatbuf_table t = tli_flatbuf_child(encoding, 1);
    tl_type type;
    tl_status st = TL_OK;
    TLI_FILL(&type, 0, sizeof type);
    type.id = TL_TYPE_INT32;
    if (t.at != 0)
        st = tli_ipc_type_int(r, &t, &type, err);
    if (st == TL_OK)
        st = tli_ipc_read_id(r->stream, tli_flatbuf_i64(encoding, 0, 0), err);
    if (st != TL_OK)
        return st;
    if (tli_flatbuf_i16(encoding, 3, 0) != 0)
        return tli_err(err, TL_UNSUPPORTED, "a dictionary of an unknown kind in an Arrow schema", r->position);
    if (tli_flatbuf_u8(encoding, 2, 0) != 0)
        flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    *out = tli_ipc_new_schema(r, &type, name, flags, 0, err);
    return *out == NULL ? err->status : TL_OK;
}

/* One field. *values gets the node that the children belong to. */
TLI_FN tl_status tli_ipc_read_field(tli_ipc_reader *r, const tli_flatbuf_table *t, struct ArrowSchema **out,
                                    struct ArrowSchema **values, tli_flatbuf_vector *children, tl_error *err)
{
    tl_span name = tli_flatbuf_text(t, 0);
    tli_flatbuf_table encoding = tli_flatbuf_child(t, 4);
    int64_t flags = tli_flatbuf_u8(t, 1, 0) != 0 ? ARROW_FLAG_NULLABLE : 0, value_flags = 0;
    tl_type type;
    tl_status st = tli_ipc_read_type(r, t, &type, &value_flags, err);
    *children = tli_flatbuf_list(t, 5, 4);
    if (st == TL_OK)
        st = tli_ipc_read_text(r, name, err);
    if (st == TL_OK && r->in->bad)
        st = tli_ipc_bad(r, "an Arrow field is malformed", err);
    if (st == TL_OK && encoding.at != 0) {
        st = tli_ipc_read_indices(r, &encoding, name, flags, out, err);
        flags = ARROW_FLAG_NULLABLE;
        name.size = 0;
    }
    if (st != TL_OK)
        return st;
    *values = tli_ipc_new_schema(r, &type, name, flags | value_flags, children->count, err);
    if (*values == NULL)
        return err->status;
    if (encoding.at != 0)
        (*out)->dictionary = *values;
    else
        *out = *values;
    return tli_ipc_read_pairs(r, t, 6, *out, err);
}

/* The fields of a schema, all levels. */
TLI_FN tl_status tli_ipc_read_levels(tli_ipc_reader *r, tli_ipc_level *levels, struct ArrowSchema *root,
                                     tli_flatbuf_vector fields, tl_error *err)
{
    uint32_t limit = r->stream->limits.depth, at = 0;
    levels[0].schema = root;
    levels[0].fields = fields;
    for (;;) {
        tli_ipc_level *level = &levels[at];
        struct ArrowSchema *field = NULL, *values;
        tli_flatbuf_table t;
        tl_status st;
        uint32_t depth;
        if (level->next == level->fields.count) {
            if (at-- == 0)
                return TL_OK;
            continue;
        }
        t = tli_flatbuf_item(r->in, &level->fields, level->next);
        st = tli_ipc_read_field(r, &t, &field, &values, &fields, err);
        if (st != TL_OK)
            return st;
        level->schema->children[level->next++] = field;
        depth = level->depth + 1 + (field != values);
        if (depth + (fields.count > 0) > limit)
            return tli_err_need(err, TL_LIMIT, "limits.depth", r->position, (uint64_t)depth + (fields.count > 0));
        if (fields.count > 0) {
            level = &levels[++at];
            level->schema = values;
            level->fields = fields;
            level->next = 0;
            level->depth = depth;
        }
    }
}

TLI_FN tl_status tli_ipc_read_fields(tli_ipc_reader *r, struct ArrowSchema *root, tli_flatbuf_vector fields,
                                     tl_error *err)
{
    const tl_allocator *a = &r->stream->store->allocator;
    size_t size = ((size_t)r->stream->limits.depth + 1) * sizeof(tli_ipc_level);
    tli_ipc_level *levels = (tli_ipc_level *)tli_mem_new(a, size);
    tl_status st;
    if (levels == NULL)
        return tli_mem_failed(a, err);
    TLI_FILL(levels, 0, size);
    st = tli_ipc_read_levels(r, levels, root, fields, err);
    tli_mem_delete(a, levels, size);
    return st;
}

/* Order of encodings by dictionary id, then as they come. */
TLI_INLINE int tli_ipc_id_after(const int64_t *ids, int32_t a, int32_t b)
{
    return ids[a] != ids[b] ? ids[a] > ids[b] : a > b;
}

/* Heap sort: no worst case. */
TLI_FN void tli_ipc_sort_ids(const int64_t *ids, int32_t *order, int32_t n)
{
    int32_t start = n / 2, end = n;
    while (end > 1) {
        int32_t at, child, held;
        if (start > 0) {
            held = order[--start];
        } else {
            held = order[--end];
            order[end] = order[0];
        }
        for (at = start; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && tli_ipc_id_after(ids, order[child + 1], order[child]))
                child++;
            if (!tli_ipc_id_after(ids, order[child], held))
                break;
            order[at] = order[child];
        }
        order[at] = held;
    }
}

/* Two encodings share a dictionary: their values must be alike, nested dictionaries included. */
TLI_FN int tli_ipc_alike(const tli_ipc_stream *s, const tli_ipc_record *a, const tli_ipc_record *b)
{
    const tli_ipc_layout *l = &s->layout;
    int32_t i = a->first, j = b->first;
    if (a->nodes != b->nodes)
        return 0;
    for (; i < a->end; i = tli_ipc_step(l, i), j = tli_ipc_step(l, j)) {
        const tli_ipc_node *x = &l->nodes[i], *y = &l->nodes[j];
        tl_span fx, fy;
        fx = tl_text(x->schema->format);
        fy = tl_text(y->schema->format);
        if (!tl_span_equal(fx, fy) || x->schema->n_children != y->schema->n_children
            || (x->encoding < 0) != (y->encoding < 0)
            || (x->encoding >= 0 && s->ids[x->encoding] != s->ids[y->encoding]))
            return 0;
    }
    return 1;
}

/* Which encodings share a dictionary. */
TLI_FN tl_status tli_ipc_read_dictionaries(tli_ipc_reader *r, tl_error *err)
{
    tli_ipc_stream *s = r->stream;
    int32_t n = s->id_count, i, *order;
    if (n == 0)
        return TL_OK;
    order = (int32_t *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *order, err);
    s->encodings = (int32_t *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *order, err);
    s->dictionaries = (tli_ipc_dictionary *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *s->dictionaries, err);
    s->wants = (tli_ipc_want *)tli_mem_take_array(s->store, (uint64_t)s->limits.depth + 2, sizeof *s->wants, err);
    if (order == NULL || s->encodings == NULL || s->dictionaries == NULL || s->wants == NULL)
        return err->status;
    for (i = 0; i < n; i++)
        order[i] = i;
    tli_ipc_sort_ids(s->ids, order, n);
    for (i = 0; i < n; i++) {
        tli_ipc_dictionary *d = &s->dictionaries[s->dictionary_count];
        if (i == 0 || s->ids[order[i]] != s->ids[order[i - 1]]) {
            d->id = s->ids[order[i]];
            d->encoding = order[i];
            s->dictionary_count++;
        } else if (!tli_ipc_alike(s, &s->layout.encodings[d[-1].encoding], &s->layout.encodings[order[i]])) {
            return tli_ipc_bad(r, "two Arrow fields share a dictionary but not its type", err);
        }
        s->encodings[order[i]] = s->dictionary_count - 1;
    }
    return TL_OK;
}

/* Lays the schema out, once it is read. */
TLI_FN tl_status tli_ipc_lay_out(tli_ipc_reader *r, tl_error *err)
{
    tli_ipc_stream *s = r->stream;
    tli_ipc_layout *l = &s->layout;
    int32_t i, column = 0;
    tl_status st = tli_arrow_schema_check(s->schema, &s->limits, NULL, err);
    if (st == TL_MISUSE)
        return tli_ipc_bad(r, err->text, err);
    if (st != TL_OK)
        return st;
    l->nodes = (tli_ipc_node *)tli_mem_take_array(s->store, r->nodes, sizeof *l->nodes, err);
    s->columns = (int32_t *)tli_mem_take_array(s->store, (uint64_t)s->schema->n_children, sizeof *s->columns, err);
    s->arrays = (struct ArrowArray **)tli_mem_take_array(s->store, r->nodes, sizeof *s->arrays, err);
    if (l->nodes == NULL || s->columns == NULL || s->arrays == NULL)
        return err->status;
    st = tli_ipc_list(l, s->schema, err);
    if (st != TL_OK)
        return st;
    l->encodings =
        (tli_ipc_record *)tli_mem_take_array(s->store, (uint64_t)l->encoding_count, sizeof *l->encodings, err);
    if (l->encodings == NULL)
        return err->status;
    tli_ipc_records(l);
    for (i = 0; i < l->count; i = l->nodes[i].end)
        s->columns[column++] = i;
    return tli_ipc_read_dictionaries(r, err);
}

TLI_FN tl_status tli_ipc_read_schema(tli_ipc_stream *s, const tli_flatbuf_table *t, uint64_t position, tl_error *err)
{
    tli_flatbuf_vector fields = tli_flatbuf_list(t, 1, 4);
    struct ArrowSchema *root;
    tli_ipc_reader r;
    tl_status st;
    r.stream = s;
    r.in = t->in;
    r.position = position;
    r.text = 65536 + 16 * (uint64_t)t->in->size;
    r.nodes = 0;
    if (t->in->bad || t->at == 0)
        return tli_ipc_bad(&r, "an Arrow schema is malformed", err);
    if (tli_flatbuf_i16(t, 0, 0) != 0)
        return tli_err(err, TL_UNSUPPORTED, "an Arrow stream of big-endian values", position);
    if (fields.count > s->limits.columns)
        return tli_err_need(err, TL_LIMIT, "limits.columns", position, fields.count);
    root = tli_arrow_schema_new(s->store, "+s", tli_text_span("", 0), 0, fields.count, err);
    if (root == NULL)
        return err->status;
    s->schema = root;
    st = tli_ipc_read_pairs(&r, t, 2, root, err);
    if (st == TL_OK)
        st = tli_ipc_read_fields(&r, root, fields, err);
    if (st == TL_OK && r.in->bad)
        st = tli_ipc_bad(&r, "an Arrow schema is malformed", err);
    return st == TL_OK ? tli_ipc_lay_out(&r, err) : st;
}

/* ---- frames ---- */

typedef struct tli_ipc_frame {
    size_t next; /* where the next one begins */
    int end;     /* there was none */
    int version; /* of the metadata: 4 is V5 */
    uint8_t kind;
    tli_flatbuf in;
    tli_flatbuf_table header; /* points at `in` */
    const uint8_t *meta;
    const uint8_t *body;
    uint64_t body_size;
} tli_ipc_frame;

/* Behind the end mark there may be padding. */
TLI_FN tl_status tli_ipc_read_end(const tli_ipc_stream *s, size_t at, tli_ipc_frame *f, tl_error *err)
{
    for (; at < s->size; at++)
        if (s->bytes[at] != 0)
            return tli_err(err, TL_CORRUPT, "bytes behind the end of an Arrow stream", s->position + at);
    f->end = 1;
    f->next = s->size;
    return TL_OK;
}

/* The table around the header. */
TLI_FN tl_status tli_ipc_read_message(const tli_ipc_stream *s, tli_ipc_frame *f, uint32_t size, tl_error *err)
{
    uint64_t where = tli_ipc_where(s, f->meta), left = s->size - (size_t)(f->meta - s->bytes) - size;
    tli_flatbuf_table t = tli_flatbuf_root(&f->in, f->meta, size);
    int version = tli_flatbuf_i16(&t, 0, 0);
    int64_t body = tli_flatbuf_i64(&t, 3, 0);
    f->version = version;
    f->kind = tli_flatbuf_u8(&t, 1, 0);
    f->header = tli_flatbuf_child(&t, 2);
    if (f->in.bad)
        return tli_err(err, TL_CORRUPT, "an Arrow message is malformed", where);
    if (version >= 0 && version < 3)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of version 1, 2 or 3", where);
    if (version != 3 && version != 4)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of an unknown version", where);
    if (f->kind == 4 || f->kind == 5)
        return tli_err(err, TL_UNSUPPORTED, "a tensor in an Arrow stream", where);
    if (f->kind < TLI_IPC_SCHEMA || f->kind > TLI_IPC_BATCH || f->header.at == 0)
        return tli_err(err, TL_CORRUPT, "an Arrow message of no known kind", where);
    if (body < 0)
        return tli_err(err, TL_CORRUPT, "an Arrow message with a body of negative length", where);
    if ((uint64_t)body > left)
        return tli_err(err, TL_TRUNCATED, "the body of an Arrow message is cut", where);
    f->body = f->meta + size;
    f->body_size = (uint64_t)body;
    f->next = (size_t)(f->body - s->bytes) + (size_t)body;
    return TL_OK;
}

/* The frame at `at`. The end: its mark of 4 or 8 bytes, or of the bytes. */
TLI_FN tl_status tli_ipc_next(const tli_ipc_stream *s, size_t at, tli_ipc_frame *f, tl_error *err)
{
    size_t left = s->size - at, skip = 4;
    uint32_t size;
    f->end = left == 0;
    f->next = at;
    if (left == 0)
        return TL_OK;
    if (left < 4)
        return tli_err(err, TL_TRUNCATED, "an Arrow message is cut", s->position + at);
    size = tli_bits_le32(s->bytes + at);
    if (size == UINT32_MAX) {
        skip = 8;
        if (left < 8)
            return tli_err(err, TL_TRUNCATED, "an Arrow message is cut", s->position + at);
        size = tli_bits_le32(s->bytes + at + 4);
    }
    if (size == 0)
        return tli_ipc_read_end(s, at + skip, f, err);
    if (size > INT32_MAX)
        return tli_err(err, TL_CORRUPT, "an Arrow message with metadata of negative length", s->position + at);
    if (size > left - skip)
        return tli_err(err, TL_TRUNCATED, "the metadata of an Arrow message is cut", s->position + at);
    f->meta = s->bytes + at + skip;
    return tli_ipc_read_message(s, f, size, err);
}

/* ---- batches ---- */

TLI_FN tl_status tli_ipc_read_codec(const tli_flatbuf_table *batch, tli_ipc_message *m, tl_error *err)
{
    tli_flatbuf_table t = tli_flatbuf_child(batch, 3);
    uint8_t codec = tli_flatbuf_u8(&t, 0, 0);
    m->codec = TLI_IPC_PLAIN;
    if (t.at == 0)
        return TL_OK;
    if (codec > 1 || tli_flatbuf_u8(&t, 1, 0) != 0)
        return tli_err(err, TL_UNSUPPORTED, "Arrow buffers of an unknown compression", m->position);
    m->codec = codec == 0 ? TLI_IPC_LZ4 : TLI_IPC_ZSTD;
    return TL_OK;
}

/* The counts of the buffers that views bring along, summed up. */
TLI_FN tl_status tli_ipc_read_variadic(tli_ipc_stream *s, tli_ipc_message *m, const tli_flatbuf_vector *counts,
                                       const tli_ipc_record *record, uint32_t buffers, tl_error *err)
{
    uint64_t sum = 0;
    uint32_t i, *sums;
    if (counts->count != (uint32_t)record->views)
        return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of variadic counts", m->position);
    if (counts->count != 0) {
        sums = (uint32_t *)tli_mem_take_array(s->store, (uint64_t)counts->count + 1, sizeof *sums, err);
        if (sums == NULL)
            return err->status;
        for (i = 0; i < counts->count; i++) {
            uint64_t n = tli_bits_le64(counts->data + 8 * (size_t)i);
            if (n > buffers)
                return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of buffers", m->position);
            sum += n;
            sums[i + 1] = (uint32_t)TLI_MIN(sum, (uint64_t)UINT32_MAX);
        }
        m->variadic = sums;
    }
    if (sum + (uint64_t)record->buffers != buffers)
        return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of buffers", m->position);
    return TL_OK;
}

/* Buffers do not overlap: so many bytes cost no more to look at than there are. What each says is checked when it is
   opened. */
TLI_FN tl_status tli_ipc_read_lengths(const tli_ipc_message *m, const tli_flatbuf_vector *buffers, tl_error *err)
{
    uint64_t left = m->body_size;
    uint32_t i;
    for (i = 0; i < buffers->count; i++) {
        uint64_t length = tli_bits_le64(buffers->data + 16 * (size_t)i + 8);
        if (length > left)
            return tli_err(err, TL_CORRUPT, "the buffers of an Arrow message are larger than its body", m->position);
        left -= length;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipc_read_batch(tli_ipc_stream *s, const tli_flatbuf_table *t, const tli_ipc_record *record,
                                    tli_ipc_message *m, tl_error *err)
{
    tli_flatbuf_vector nodes = tli_flatbuf_list(t, 1, 16), buffers = tli_flatbuf_list(t, 2, 16);
    tli_flatbuf_vector counts = tli_flatbuf_list(t, 4, 8);
    tl_status st = tli_ipc_read_codec(t, m, err);
    m->rows = tli_flatbuf_i64(t, 0, 0);
    if (t->in->bad || t->at == 0)
        return tli_err(err, TL_CORRUPT, "an Arrow batch is malformed", m->position);
    if (st != TL_OK)
        return st;
    if (m->rows < 0)
        return tli_err(err, TL_CORRUPT, "an Arrow batch of negative length", m->position);
    if ((uint64_t)m->rows > s->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", m->position, (uint64_t)m->rows);
    if (nodes.count != (uint32_t)record->nodes)
        return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of nodes", m->position);
    m->nodes = nodes.data;
    m->buffers = buffers.data;
    st = tli_ipc_read_lengths(m, &buffers, err);
    if (st != TL_OK)
        return st;
    return tli_ipc_read_variadic(s, m, &counts, record, buffers.count, err);
}

/* The dictionary with an id, or -1. */
TLI_FN int32_t tli_ipc_find_id(const tli_ipc_stream *s, int64_t id)
{
    int32_t low = 0, high = s->dictionary_count;
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (s->dictionaries[mid].id == id)
            return mid;
        if (s->dictionaries[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

TLI_FN tl_status tli_ipc_read_values(tli_ipc_stream *s, const tli_flatbuf_table *t, tli_ipc_message *m, tl_error *err)
{
    tli_flatbuf_table batch = tli_flatbuf_child(t, 1);
    tli_ipc_dictionary *d;
    m->dictionary = tli_ipc_find_id(s, tli_flatbuf_i64(t, 0, 0));
    m->delta = tli_flatbuf_u8(t, 2, 0) != 0;
    if (t->in->bad)
        return tli_err(err, TL_CORRUPT, "an Arrow dictionary batch is malformed", m->position);
    if (m->dictionary < 0)
        return tli_err(err, TL_CORRUPT, "an Arrow dictionary that no field uses", m->position);
    d = &s->dictionaries[m->dictionary];
    if (m->delta && d->end == 0)
        return tli_err(err, TL_CORRUPT, "a delta of an Arrow dictionary that is not there", m->position);
    d->end++; /* counted; places are given by tli_ipc_order_states */
    return tli_ipc_read_batch(s, &batch, &s->layout.encodings[d->encoding], m, err);
}

/* Puts the dictionary messages in order: by dictionary, then as they came. */
TLI_FN tl_status tli_ipc_order_states(tli_ipc_stream *s, tl_error *err)
{
    int32_t i, n = 0;
    for (i = 0; i < s->dictionary_count; i++) {
        s->dictionaries[i].first = n;
        n += s->dictionaries[i].end;
        s->dictionaries[i].end = s->dictionaries[i].first;
    }
    if (n == 0)
        return TL_OK;
    s->states = (int32_t *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *s->states, err);
    if (s->states == NULL)
        return err->status;
    for (i = 0; i < s->message_count; i++) {
        tli_ipc_message *m = &s->messages[i];
        tli_ipc_dictionary *d;
        if (m->dictionary < 0)
            continue;
        d = &s->dictionaries[m->dictionary];
        m->base = m->delta ? s->messages[s->states[d->end - 1]].base : d->end;
        s->states[d->end++] = i;
    }
    return TL_OK;
}

/* How many messages follow the schema. */
TLI_FN tl_status tli_ipc_count(tli_ipc_stream *s, size_t at, tl_error *err)
{
    tli_ipc_frame f;
    uint32_t n = 0;
    for (;;) {
        tl_status st = tli_ipc_next(s, at, &f, err);
        if (st != TL_OK)
            return st;
        if (f.end)
            break;
        if (f.kind == TLI_IPC_SCHEMA)
            return tli_err(err, TL_CORRUPT, "a second schema in an Arrow stream", tli_ipc_where(s, f.meta));
        if (n++ == s->limits.batches)
            return tli_err_need(err, TL_LIMIT, "limits.batches", tli_ipc_where(s, f.meta), n);
        s->batch_count += f.kind == TLI_IPC_BATCH;
        at = f.next;
    }
    s->messages = (tli_ipc_message *)tli_mem_take_array(s->store, n, sizeof *s->messages, err);
    s->batches = (tli_ipc_batch *)tli_mem_take_array(s->store, (uint64_t)s->batch_count, sizeof *s->batches, err);
    return s->messages == NULL || s->batches == NULL ? err->status : TL_OK;
}

/* All that follows the schema, in order. */
TLI_FN tl_status tli_ipc_index(tli_ipc_stream *s, size_t at, tl_error *err)
{
    int32_t batch = 0;
    uint64_t rows = 0;
    tl_status st = tli_ipc_count(s, at, err);
    while (st == TL_OK) {
        tli_ipc_message *m = &s->messages[s->message_count];
        tli_ipc_frame f;
        st = tli_ipc_next(s, at, &f, err);
        if (st != TL_OK || f.end)
            break;
        m->body = f.body;
        m->body_size = f.body_size;
        m->position = tli_ipc_where(s, f.meta);
        m->dictionary = -1;
        if (f.kind == TLI_IPC_DICTIONARY) {
            st = tli_ipc_read_values(s, &f.header, m, err);
        } else {
            st = tli_ipc_read_batch(s, &f.header, &s->layout.columns, m, err);
            s->batches[batch].rows = m->rows;
            s->batches[batch++].message = s->message_count;
            rows += (uint64_t)m->rows;
            if (st == TL_OK && rows > s->limits.rows)
                st = tli_err_need(err, TL_LIMIT, "limits.rows", m->position, rows);
        }
        s->message_count++;
        at = f.next;
    }
    return st == TL_OK ? tli_ipc_order_states(s, err) : st;
}

TLI_FN tl_status tli_ipc_start(tli_ipc_stream *s, tl_error *err)
{
    tli_ipc_frame f;
    tl_status st;
    if (s->size >= 6 && TLI_COMPARE(s->bytes, "ARROW1", 6) == 0)
        return tli_err(err, TL_UNSUPPORTED, "the Arrow file format, which is not a stream", s->position);
    st = tli_ipc_next(s, 0, &f, err);
    if (st != TL_OK)
        return st;
    if (f.end)
        return tli_err(err, TL_TRUNCATED, "an Arrow stream without a schema", s->position);
    if (f.kind != TLI_IPC_SCHEMA)
        return tli_err(err, TL_CORRUPT, "an Arrow stream that does not begin with a schema", s->position);
    st = tli_ipc_read_schema(s, &f.header, tli_ipc_where(s, f.meta), err);
    return st == TL_OK ? tli_ipc_index(s, f.next, err) : st;
}

/* Reads the frame of a stream: schema, and where the batches are. The bytes stay where they are as long as the stream
   is used; `position`: where they lie in the object, for errors. Everything is the store's. When a type is not
   supported *out is a stream all the same, of which only the metadata of the schema are known; after other errors it
   is NULL. */
TLI_FN tl_status tli_ipc_open(tli_store *store, const void *bytes, size_t size, uint64_t position,
                              const tl_limits *limits, const tl_compression *compression, tli_ipc_stream **out,
                              tl_error *err)
{
    tl_error local;
    tli_ipc_stream *s;
    tl_status st;
    err = err != NULL ? err : &local;
    s = (tli_ipc_stream *)tli_mem_take_zero(store, sizeof *s, err);
    if (s == NULL)
        return err->status;
    s->store = store;
    s->limits = tl_limits_resolve(limits);
    s->limits.rows = TLI_MIN(s->limits.rows, (uint64_t)1 << 56);
    s->limits.columns = TLI_MIN(s->limits.columns, (uint32_t)INT32_MAX / 4);
    s->limits.batches = TLI_MIN(s->limits.batches, (uint32_t)INT32_MAX / 4);
    if (compression != NULL)
        s->compression = *compression;
    s->bytes = (const uint8_t *)bytes;
    s->size = size;
    s->position = position;
    st = tli_ipc_start(s, err);
    *out = st == TL_OK || (st == TL_UNSUPPORTED && s->schema != NULL) ? s : NULL;
    return st;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
