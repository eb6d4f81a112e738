/* >>ipc: Arrow IPC streams (arrow.apache.org, "Columnar format"; Message.fbs, Schema.fbs). */
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
TLI_FN tl_status tli_ipc_read_fields(tli_ipc_reader *r, struct ArrowSchema *root, tli_flatbuf_vector fields,
                                     tl_error *err)
{
    uint32_t limit = r->stream->limits.depth, at = 0;
    tli_ipc_level *levels = (tli_ipc_level *)tli_mem_take_array(r->stream->store, limit + 1, sizeof *levels, err);
    if (levels == NULL)
        return err->status;
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
   is used; `position`: where they lie in the object, for errors. Everything is the store's. When a type is not supported
   *out is a stream all the same, of which only the metadata of the schema are known; after other errors it is NULL. */
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

/* ---- buffers ---- */

/* A buffer as it lies in the body. */
typedef struct tli_ipc_buffer {
    const uint8_t *data;
    uint64_t stored; /* bytes at data */
    uint64_t size;   /* bytes of the values */
    int packed;      /* data is compressed */
} tli_ipc_buffer;

/* What a buffer without bytes points at: offsets of nothing, too. */
static const uint64_t tli_ipc_zeros[2] = {0, 0};

/* The most that so many compressed bytes can give: in zstd a block of 4 bytes up to 128 KiB, in LZ4 a byte 255. */
TLI_INLINE uint64_t tli_ipc_most(uint8_t codec, uint64_t stored)
{
    uint64_t least = TLI_MIN(stored, (uint64_t)1 << 40);
    return codec == TLI_IPC_ZSTD ? least / 4 * 131072 : least * 255;
}

/* What the length in front of a compressed buffer says. */
TLI_FN tl_status tli_ipc_unwrap(const tli_ipc_message *m, tli_ipc_buffer *b, uint64_t where, tl_error *err)
{
    int64_t size;
    uint64_t content;
    if (b->stored < 8)
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer without its length", where);
    size = (int64_t)tli_bits_le64(b->data);
    b->data += 8;
    b->stored -= 8;
    b->size = b->stored;
    if (size == -1)
        return TL_OK;
    b->size = (uint64_t)size;
    if (size == 0 && b->stored == 0)
        return TL_OK;
    if (size < 0 || b->size > tli_ipc_most(m->codec, b->stored))
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer cannot have the length it claims", where);
    b->packed = 1;
    if (m->codec != TLI_IPC_ZSTD || tl_zstd_content_size(b->data, (size_t)b->stored, &content, NULL) != TL_OK)
        content = UINT64_MAX;
    if (content != b->size && (content != UINT64_MAX || size == 0)) /* nothing is never packed without saying so */
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer has another length than it claims", where);
    return TL_OK;
}

/* Buffer `index` of a message (which has it). */
TLI_FN tl_status tli_ipc_buffer_of(const tli_ipc_stream *s, const tli_ipc_message *m, uint32_t index,
                                   tli_ipc_buffer *b, tl_error *err)
{
    const uint8_t *p = m->buffers + 16 * (size_t)index;
    uint64_t offset = tli_bits_le64(p), length = tli_bits_le64(p + 8);
    if (offset > m->body_size || length > m->body_size - offset)
        return tli_err(err, TL_CORRUPT, "an Arrow buffer lies outside of its message", tli_ipc_where(s, p));
    b->data = m->body + offset;
    b->stored = b->size = length;
    b->packed = 0;
    if (m->codec == TLI_IPC_PLAIN || length == 0)
        return TL_OK;
    return tli_ipc_unwrap(m, b, tli_ipc_where(s, b->data), err);
}

TLI_FN tl_status tli_ipc_inflate(tli_ipc_stream *s, const tli_ipc_message *m, const tli_ipc_buffer *b, uint8_t *to,
                                 tl_error *err)
{
    uint64_t where = tli_ipc_where(s, b->data);
    size_t size = 0;
    tl_status st;
    if (m->codec == TLI_IPC_LZ4) {
        st = tli_lz4_decode(to, (size_t)b->size, &size, b->data, (size_t)b->stored, err);
    } else if (s->compression.decompress != NULL && b->size != 0) {
        st = s->compression.decompress(s->compression.context, to, (size_t)b->size, b->data, (size_t)b->stored);
        size = (size_t)b->size;
        if (st != TL_OK)
            return tli_err(err, st, "a compressed Arrow buffer does not decompress", where);
    } else {
        if (s->work == NULL && (s->work = tli_mem_new(&s->store->allocator, TLI_ZSTD_WORK)) == NULL)
            return tli_mem_failed(&s->store->allocator, err);
        st = tli_zstd_decode(s->work, to, (size_t)b->size, &size, b->data, (size_t)b->stored, err);
    }
    if (st == TL_OK && size == b->size)
        return TL_OK;
    if (st == TL_OK || st == TL_LIMIT) /* more bytes than it claims */
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer has another length than it claims", where);
    err->position = where;
    return st;
}

/* ---- byte order: values on the wire are little-endian, values in memory native ---- */

enum { TLI_IPC_BYTES = 1, TLI_IPC_MONTH_DAY_NANO = 3, TLI_IPC_VIEWS = 5 }; /* beside 2, 4, 8, 16, 32: what to turn */

/* How buffer `j` of a node turns. */
TLI_FN int tli_ipc_unit(const tli_ipc_node *node, int32_t j)
{
    if (j == 0 || (j > 1 && !TLI_IPC_VIEW_TYPE(node->id)))
        return TLI_IPC_BYTES;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return j == 1 ? TLI_IPC_VIEWS : TLI_IPC_BYTES;
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4;
    if (node->id == TL_TYPE_INTERVAL_DAY_TIME)
        return 4;
    if (node->id == TL_TYPE_INTERVAL_MONTH_DAY_NANO)
        return TLI_IPC_MONTH_DAY_NANO;
    return node->id == TL_TYPE_FIXED_BINARY || node->width == 0 ? TLI_IPC_BYTES : node->width;
}

/* Turns `n` bytes at p around. */
TLI_INLINE void tli_ipc_turn(uint8_t *p, size_t n)
{
    size_t i;
    for (i = 0; i < n / 2; i++) {
        uint8_t b = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = b;
    }
}

/* One view: its length, and, when the text is elsewhere, buffer and offset. `size` is the length in native order. */
TLI_FN void tli_ipc_turn_view(uint8_t *p, uint32_t size)
{
    tli_ipc_turn(p, 4);
    if (size > 12) {
        tli_ipc_turn(p + 8, 4);
        tli_ipc_turn(p + 12, 4);
    }
}

/* Between wire and memory on big-endian machines. `to_wire` says which way: views are not their own inverse. */
TLI_FN void tli_ipc_turn_all(uint8_t *p, uint64_t size, int unit, int to_wire)
{
    uint64_t i;
    if (unit == TLI_IPC_VIEWS) {
        for (i = 0; i + 16 <= size; i += 16)
            tli_ipc_turn_view(p + i, to_wire ? tli_bits_u32(p + i) : tli_bits_le32(p + i));
    } else if (unit == TLI_IPC_MONTH_DAY_NANO) {
        for (i = 0; i + 16 <= size; i += 16) {
            tli_ipc_turn(p + i, 4);
            tli_ipc_turn(p + i + 4, 4);
            tli_ipc_turn(p + i + 8, 8);
        }
    } else if (unit != TLI_IPC_BYTES) {
        for (i = 0; i + (uint64_t)unit <= size; i += (uint64_t)unit)
            tli_ipc_turn(p + i, (size_t)unit);
    }
}

/* ---- decoding a record ----

   First all memory is taken, by sizes that are checked; then the bytes are brought; then they are looked at. */

typedef struct tli_ipc_job {
    tli_ipc_stream *stream;
    const tli_ipc_message *message; /* NULL: no values at all */
    int32_t first, end;             /* nodes */
    int64_t rows;                   /* of the top nodes */
    struct ArrowArray **arrays;     /* by ordinal, from the first node's */
} tli_ipc_job;

TLI_INLINE struct ArrowArray **tli_ipc_array(const tli_ipc_job *job, int32_t node)
{
    const tli_ipc_node *nodes = job->stream->layout.nodes;
    return &job->arrays[nodes[node].ordinal - nodes[job->first].ordinal];
}

/* The array of the parent of a node; NULL: it is the top of its record. */
TLI_INLINE struct ArrowArray *tli_ipc_parent(const tli_ipc_job *job, int32_t node)
{
    int32_t parent = job->stream->layout.nodes[node].parent;
    return parent < job->first ? NULL : *tli_ipc_array(job, parent);
}

/* The number of a node's first buffer, and how many it has on the wire. */
TLI_FN uint32_t tli_ipc_first_buffer(const tli_ipc_job *job, const tli_ipc_node *node, int32_t *count)
{
    uint32_t first = (uint32_t)node->buffers;
    *count = tli_ipc_buffers(node->id);
    if (job->message != NULL && job->message->variadic != NULL) {
        first += job->message->variadic[node->views];
        if (TLI_IPC_VIEW_TYPE(node->id))
            *count += (int32_t)(job->message->variadic[node->views + 1] - job->message->variadic[node->views]);
    }
    return first;
}

/* The least bytes that buffer `j` of a node must have. UINT64_MAX: more than there can be. */
TLI_FN uint64_t tli_ipc_need(const tli_ipc_node *node, int32_t j, uint64_t length)
{
    uint64_t need;
    if (j > 1)
        return 0;
    if (j == 0 || node->id == TL_TYPE_BOOL)
        return (length + 7) / 8;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return length * 16;
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return (length + 1) * (TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4);
    return tli_bits_mul(length, (uint64_t)node->width, &need) ? need : UINT64_MAX;
}

/* Where a buffer will be. Nothing of it is read but its length. */
TLI_FN tl_status tli_ipc_plan_buffer(const tli_ipc_job *job, const tli_ipc_node *node, struct ArrowArray *a, int32_t j,
                                     uint32_t index, tl_error *err)
{
    tli_ipc_stream *s = job->stream;
    tli_ipc_buffer b;
    size_t size;
    tl_status st;
    a->buffers[j] = j == 0 ? NULL : tli_ipc_zeros;
    if (job->message == NULL)
        return TL_OK;
    st = tli_ipc_buffer_of(s, job->message, index, &b, err);
    if (st != TL_OK)
        return st;
    if (a->length == 0 || (j == 0 && a->null_count == 0))
        return TL_OK;
    if (b.size < tli_ipc_need(node, j, (uint64_t)a->length))
        return tli_err(err, TL_CORRUPT, "an Arrow buffer is too short", tli_ipc_where(s, b.data));
    if (b.size == 0)
        return TL_OK;
    a->buffers[j] = b.data;
    if (!b.packed && !(TLI_BIG_ENDIAN && tli_ipc_unit(node, j) != TLI_IPC_BYTES))
        return TL_OK;
    if (!tli_bits_size(b.size, &size))
        return tli_err(err, TL_NO_MEMORY, "out of memory", tli_ipc_where(s, b.data));
    a->buffers[j] = tli_mem_take(s->store, size, err);
    return a->buffers[j] == NULL ? err->status : TL_OK;
}

/* The length of a node against that of its parent; the elements of lists wait until the offsets are there. */
TLI_FN tl_status tli_ipc_plan_length(const tli_ipc_job *job, int32_t i, int64_t length, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    const struct ArrowArray *parent = tli_ipc_parent(job, i);
    const tli_ipc_node *above = parent != NULL ? &job->stream->layout.nodes[node->parent] : NULL;
    uint64_t need;
    if (parent == NULL && length == job->rows)
        return TL_OK;
    if (parent != NULL && above->id == TL_TYPE_STRUCT && length >= parent->length)
        return TL_OK;
    if (parent != NULL && above->id == TL_TYPE_FIXED_LIST
        && tli_bits_mul((uint64_t)parent->length, (uint64_t)above->size, &need) && (uint64_t)length >= need)
        return TL_OK;
    if (parent != NULL && TLI_IPC_LIST_TYPE(above->id))
        return TL_OK;
    return tli_err(err, TL_CORRUPT, "an Arrow array has not the length of its parent",
                   job->message != NULL ? job->message->position : TL_NO_POSITION);
}

TLI_FN tl_status tli_ipc_plan_counts(const tli_ipc_job *job, int32_t i, int64_t *length, int64_t *nulls, tl_error *err)
{
    const tli_ipc_stream *s = job->stream;
    const uint8_t *p;
    *length = *nulls = 0;
    if (job->message == NULL)
        return TL_OK;
    p = job->message->nodes + 16 * (size_t)s->layout.nodes[i].ordinal;
    *length = (int64_t)tli_bits_le64(p);
    *nulls = (int64_t)tli_bits_le64(p + 8);
    if (*length < 0 || *nulls < 0 || *nulls > *length)
        return tli_err(err, TL_CORRUPT, "an Arrow array of an impossible length or null count", tli_ipc_where(s, p));
    if ((uint64_t)*length > s->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", tli_ipc_where(s, p), (uint64_t)*length);
    return tli_ipc_plan_length(job, i, *length, err);
}

/* The buffer of the interface that has the sizes of a view's other buffers; NULL: err says why. */
TLI_FN int64_t *tli_ipc_plan_sizes(const tli_ipc_job *job, const struct ArrowArray *a, uint32_t first, int32_t count,
                                   tl_error *err)
{
    int64_t *sizes = (int64_t *)tli_mem_take_array(job->stream->store, (uint64_t)count + 1, sizeof *sizes, err);
    int32_t i;
    for (i = 0; sizes != NULL && i < count; i++) {
        tli_ipc_buffer b;
        if (tli_ipc_buffer_of(job->stream, job->message, first + (uint32_t)i, &b, err) != TL_OK)
            return NULL;
        sizes[i] = a->buffers[2 + i] == tli_ipc_zeros ? 0 : (int64_t)b.size;
    }
    return sizes;
}

TLI_FN tl_status tli_ipc_plan_node(const tli_ipc_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a, *parent = tli_ipc_parent(job, i);
    int32_t count, j;
    uint32_t first = tli_ipc_first_buffer(job, node, &count);
    int view = TLI_IPC_VIEW_TYPE(node->id);
    int64_t length, nulls;
    tl_status st = tli_ipc_plan_counts(job, i, &length, &nulls, err);
    if (st != TL_OK)
        return st;
    a = tli_arrow_array_new(job->stream->store, (int64_t)count + view, node->schema->n_children, err);
    if (a == NULL)
        return err->status;
    a->length = length;
    a->null_count = node->id == TL_TYPE_NULL ? length : nulls;
    for (j = 0; j < count && st == TL_OK; j++)
        st = tli_ipc_plan_buffer(job, node, a, j, first + (uint32_t)j, err);
    if (st == TL_OK && view) {
        a->buffers[count] = tli_ipc_plan_sizes(job, a, first + 2, count - 2, err);
        st = a->buffers[count] == NULL ? err->status : TL_OK;
    }
    if (parent != NULL)
        parent->children[node->place] = a;
    *tli_ipc_array(job, i) = a;
    return st;
}

/* Brings the bytes of a node's buffers to where they were planned. */
TLI_FN tl_status tli_ipc_fill_node(const tli_ipc_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a = *tli_ipc_array(job, i);
    int32_t count, j;
    uint32_t first = tli_ipc_first_buffer(job, node, &count);
    for (j = 0; j < count; j++) {
        tli_ipc_buffer b;
        tl_status st = tli_ipc_buffer_of(job->stream, job->message, first + (uint32_t)j, &b, err);
        uint8_t *to = (uint8_t *)(uintptr_t)a->buffers[j]; /* ours to write, unless it is one of these */
        if (st != TL_OK)
            return st;
        if (to == NULL || a->buffers[j] == tli_ipc_zeros || to == b.data)
            continue;
        if (b.packed)
            st = tli_ipc_inflate(job->stream, job->message, &b, to, err);
        else
            TLI_COPY(to, b.data, (size_t)b.size);
        if (st != TL_OK)
            return st;
        if (TLI_BIG_ENDIAN)
            tli_ipc_turn_all(to, b.size, tli_ipc_unit(node, j), 0);
    }
    return TL_OK;
}

/* ---- looking at values ---- */

/* Set bits among n of a bitmap, from bit `start` on. */
TLI_FN uint64_t tli_ipc_ones(const uint8_t *bits, uint64_t start, uint64_t n)
{
    uint64_t count = 0, i = 0;
    for (; i < n && ((start + i) & 7) != 0; i++)
        count += (uint64_t)tli_bits_get(bits, start + i);
    bits += (start + i) / 8;
    n -= i;
    for (i = 0; i + 64 <= n; i += 64) {
        uint64_t v = tli_bits_u64(bits + i / 8);
        v = v - ((v >> 1) & 0x5555555555555555u);
        v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        count += (v * 0x0101010101010101u) >> 56;
    }
    for (; i < n; i++)
        count += (uint64_t)tli_bits_get(bits, i);
    return count;
}

/* 1 when n + 1 offsets of 4 bytes never fall and none is negative. In steps of 16 so that compilers use vectors. */
TLI_FN int tli_ipc_rising32(const uint8_t *p, uint64_t n)
{
    uint32_t bad[16], a[16], b[16], all = tli_bits_u32(p);
    uint64_t i = 0;
    int j;
    TLI_FILL(bad, 0, sizeof bad);
    for (; i + 16 <= n; i += 16) {
        TLI_COPY(a, p + 4 * i, sizeof a);
        TLI_COPY(b, p + 4 * i + 4, sizeof b);
        for (j = 0; j < 16; j++)
            bad[j] |= (b[j] - a[j]) | b[j];
    }
    for (j = 0; j < 16; j++)
        all |= bad[j];
    for (; i < n; i++)
        all |= (tli_bits_u32(p + 4 * i + 4) - tli_bits_u32(p + 4 * i)) | tli_bits_u32(p + 4 * i + 4);
    return (all >> 31) == 0;
}

TLI_FN int tli_ipc_rising64(const uint8_t *p, uint64_t n)
{
    uint64_t bad[8], a[8], b[8], all = tli_bits_u64(p), i = 0;
    int j;
    TLI_FILL(bad, 0, sizeof bad);
    for (; i + 8 <= n; i += 8) {
        TLI_COPY(a, p + 8 * i, sizeof a);
        TLI_COPY(b, p + 8 * i + 8, sizeof b);
        for (j = 0; j < 8; j++)
            bad[j] |= (b[j] - a[j]) | b[j];
    }
    for (j = 0; j < 8; j++)
        all |= bad[j];
    for (; i < n; i++)
        all |= (tli_bits_u64(p + 8 * i + 8) - tli_bits_u64(p + 8 * i)) | tli_bits_u64(p + 8 * i + 8);
    return (all >> 63) == 0;
}

/* Offset i of an array. */
TLI_INLINE int64_t tli_ipc_offset(tl_type_id id, const void *offsets, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)offsets;
    return TLI_IPC_WIDE_OFFSETS(id) ? (int64_t)tli_bits_u64(p + 8 * i) : (int64_t)(int32_t)tli_bits_u32(p + 4 * i);
}

/* Offsets of a node with rows: never falling, from 0 or above, to at most `limit`. */
TLI_FN int tli_ipc_offsets_good(tl_type_id id, const struct ArrowArray *a, uint64_t limit)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1];
    uint64_t n = (uint64_t)a->length;
    return (TLI_IPC_WIDE_OFFSETS(id) ? tli_ipc_rising64(p, n) : tli_ipc_rising32(p, n))
           && (uint64_t)tli_ipc_offset(id, p, n) <= limit;
}

/* Leading bytes that are ASCII, counted in steps of 32. */
TLI_FN size_t tli_ipc_ascii(const uint8_t *p, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        uint64_t v = tli_bits_u64(p + i) | tli_bits_u64(p + i + 8);
        v |= tli_bits_u64(p + i + 16) | tli_bits_u64(p + i + 24);
        if ((v & 0x8080808080808080u) != 0)
            break;
    }
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

/* 1 when no character of the valid text p[0..size) is cut at `at`. */
TLI_INLINE int tli_ipc_boundary(const uint8_t *p, uint64_t size, uint64_t at)
{
    return at >= size || (p[at] & 0xc0) != 0x80;
}

TLI_INLINE int tli_ipc_is_null(const struct ArrowArray *a, uint64_t i)
{
    return a->buffers[0] != NULL && !tli_bits_get(a->buffers[0], i);
}

/* 1 when each text of an array with good offsets is UTF-8. First all bytes at once, then where the texts are cut; when
   that says no, one by one, those under a null passed over. */
TLI_FN int tli_ipc_texts_good(tl_type_id id, const struct ArrowArray *a)
{
    const uint8_t *offsets = (const uint8_t *)a->buffers[1], *data = (const uint8_t *)a->buffers[2];
    uint64_t n = (uint64_t)a->length, i;
    uint64_t first = (uint64_t)tli_ipc_offset(id, offsets, 0), last = (uint64_t)tli_ipc_offset(id, offsets, n);
    size_t ascii = tli_ipc_ascii(data + first, (size_t)(last - first));
    uint64_t from = first + ascii;
    int cut = 0;
    if (from == last)
        return 1;
    if (tli_text_utf8(data + from, (size_t)(last - from)) == last - from) {
        for (i = 0; i <= n; i++)
            cut |= !tli_ipc_boundary(data, last, (uint64_t)tli_ipc_offset(id, offsets, i));
        if (!cut)
            return 1;
    }
    for (i = 0; i < n; i++) {
        uint64_t start = (uint64_t)tli_ipc_offset(id, offsets, i), size;
        size = (uint64_t)tli_ipc_offset(id, offsets, i + 1) - start;
        if (!tli_ipc_is_null(a, i) && tli_text_utf8(data + start, (size_t)size) != size)
            return 0;
    }
    return 1;
}

/* The views of an array. `texts`: which of the other buffers are valid UTF-8 as a whole (a bit each), so that a text in
   them is good when it is not cut; NULL: the values are bytes. *work: bytes that may still be looked at one by one. */
TLI_FN int tli_ipc_view_good(const struct ArrowArray *a, const uint8_t *view, const uint8_t *texts, uint64_t *work)
{
    uint32_t size = tli_bits_u32(view), index = tli_bits_u32(view + 8), at = tli_bits_u32(view + 12), i;
    const uint8_t *data, *sizes = (const uint8_t *)a->buffers[a->n_buffers - 1];
    uint64_t length;
    if (size <= 12) {
        for (i = size; i < 12; i++)
            if (view[4 + i] != 0)
                return 0;
        return texts == NULL || tli_text_utf8(view + 4, size) == size;
    }
    if (size > INT32_MAX || index >= (uint64_t)a->n_buffers - 3)
        return 0;
    length = tli_bits_u64(sizes + 8 * (size_t)index);
    if (at > length || size > length - at)
        return 0;
    data = (const uint8_t *)a->buffers[2 + index];
    if (TLI_COMPARE(data + at, view + 4, 4) != 0)
        return 0;
    if (texts == NULL)
        return 1;
    if (tli_bits_get(texts, index) && tli_ipc_boundary(data, length, at)
        && tli_ipc_boundary(data, length, (uint64_t)at + size))
        return 1;
    if (size > *work)
        return 0;
    *work -= size;
    return tli_text_utf8(data + at, size) == size;
}

TLI_FN tl_status tli_ipc_check_views(const tli_ipc_job *job, const tli_ipc_node *node, const struct ArrowArray *a,
                                     tl_error *err)
{
    uint64_t others = (uint64_t)a->n_buffers - 3, i, work = (uint64_t)1 << 20;
    const uint8_t *sizes = (const uint8_t *)a->buffers[a->n_buffers - 1], *views = (const uint8_t *)a->buffers[1];
    uint8_t *texts = NULL;
    if (node->id == TL_TYPE_UTF8_VIEW) {
        texts = (uint8_t *)tli_mem_take_array(job->stream->store, others / 8 + 1, 1, err);
        if (texts == NULL)
            return err->status;
        for (i = 0; i < others; i++) {
            size_t size = (size_t)tli_bits_u64(sizes + 8 * i);
            work += 8 * (uint64_t)size;
            if (tli_text_utf8(a->buffers[2 + i], size) == size)
                tli_bits_set(texts, i);
        }
    }
    for (i = 0; i < (uint64_t)a->length; i++)
        if (!tli_ipc_view_good(a, views + 16 * i, texts, &work) && !tli_ipc_is_null(a, i))
            return tli_err(err, TL_CORRUPT, "a view in an Arrow array is wrong", job->message->position);
    return TL_OK;
}

/* Index i of a dictionary column, as an unsigned number of its width. */
TLI_INLINE uint64_t tli_ipc_key(const uint8_t *p, int32_t width, uint64_t i)
{
    switch (width) {
    case 1: return p[i];
    case 2: return tli_bits_u16(p + 2 * i);
    case 4: return tli_bits_u32(p + 4 * i);
    default: return tli_bits_u64(p + 8 * i);
    }
}

/* 1 when every index under `limit`, which is at least 1. */
TLI_FN int tli_ipc_keys_below(const uint8_t *p, int32_t width, uint64_t n, uint64_t limit)
{
    uint32_t bad = 0;
    uint64_t i;
    if (width == 1)
        for (i = 0; i < n; i++)
            bad |= p[i] > (limit - 1);
    else if (width == 2)
        for (i = 0; i < n; i++)
            bad |= tli_bits_u16(p + 2 * i) > limit - 1;
    else if (width == 4)
        for (i = 0; i < n; i++)
            bad |= tli_bits_u32(p + 4 * i) > limit - 1;
    else
        for (i = 0; i < n; i++)
            bad |= tli_bits_u64(p + 8 * i) > limit - 1;
    return bad == 0;
}

/* Indices are in the dictionary, but for those under a null. */
TLI_FN int tli_ipc_keys_good(const tli_ipc_node *node, const struct ArrowArray *a)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1];
    uint64_t limit = (uint64_t)a->dictionary->length, i;
    if (node->id <= TL_TYPE_INT64)
        limit = TLI_MIN(limit, (uint64_t)1 << (8 * node->width - 1));
    if (limit > 0 && tli_ipc_keys_below(p, node->width, (uint64_t)a->length, limit))
        return 1;
    for (i = 0; i < (uint64_t)a->length; i++)
        if (!tli_ipc_is_null(a, i) && tli_ipc_key(p, node->width, i) >= limit)
            return 0;
    return 1;
}

/* 1 when element i of a node is under a null of a struct or fixed-size list above it. */
TLI_FN int tli_ipc_masked(const tli_ipc_job *job, int32_t node, uint64_t i)
{
    const tli_ipc_layout *l = &job->stream->layout;
    for (node = l->nodes[node].parent; node >= job->first; node = l->nodes[node].parent) {
        const struct ArrowArray *a = *tli_ipc_array(job, node);
        if (l->nodes[node].id == TL_TYPE_FIXED_LIST)
            i /= (uint64_t)TLI_MAX(l->nodes[node].size, 1);
        else if (l->nodes[node].id != TL_TYPE_STRUCT)
            return 0;
        if (i >= (uint64_t)a->length || tli_ipc_is_null(a, i))
            return 1;
    }
    return 0;
}

/* Counts the nulls; a field that may not be null has none but where its parent is. */
TLI_FN tl_status tli_ipc_check_nulls(const tli_ipc_job *job, int32_t i, struct ArrowArray *a, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    uint64_t n = (uint64_t)a->length, k;
    if (node->id == TL_TYPE_NULL || a->buffers[0] == NULL)
        return TL_OK;
    a->null_count = (int64_t)(n - tli_ipc_ones((const uint8_t *)a->buffers[0], 0, n));
    if (a->null_count == 0) {
        a->buffers[0] = NULL;
        return TL_OK;
    }
    if ((node->schema->flags & ARROW_FLAG_NULLABLE) != 0)
        return TL_OK;
    for (k = 0; k < n; k++)
        if (tli_ipc_is_null(a, k) && !tli_ipc_masked(job, i, k))
            return tli_err(err, TL_CORRUPT, "a null in an Arrow field that has none", job->message->position);
    return TL_OK;
}

/* The size of buffer `j` of a node, in bytes of values. */
TLI_FN tl_status tli_ipc_size_of(const tli_ipc_job *job, const tli_ipc_node *node, int32_t j, uint64_t *size,
                                 tl_error *err)
{
    int32_t count;
    tli_ipc_buffer b;
    uint32_t first = tli_ipc_first_buffer(job, node, &count);
    tl_status st = tli_ipc_buffer_of(job->stream, job->message, first + (uint32_t)j, &b, err);
    *size = b.size;
    return st;
}

/* All that can be wrong in the values of a node. Its children are planned and filled. */
TLI_FN tl_status tli_ipc_check_node(const tli_ipc_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a = *tli_ipc_array(job, i);
    uint64_t limit = 0;
    tl_status st;
    if (a->length == 0)
        return TL_OK;
    st = tli_ipc_check_nulls(job, i, a, err);
    if (st == TL_OK && tli_ipc_buffers(node->id) == 3)
        st = tli_ipc_size_of(job, node, 2, &limit, err);
    if (st != TL_OK)
        return st;
    if (TLI_IPC_LIST_TYPE(node->id))
        limit = (uint64_t)a->children[0]->length;
    if ((tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id)) && !tli_ipc_offsets_good(node->id, a, limit))
        return tli_err(err, TL_CORRUPT, "the offsets of an Arrow array are wrong", job->message->position);
    if (TLI_IPC_TEXT_TYPE(node->id) && !tli_ipc_texts_good(node->id, a))
        return tli_err(err, TL_CORRUPT, "a text in an Arrow array is not UTF-8", job->message->position);
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipc_check_views(job, node, a, err);
    if (node->encoding >= 0 && !tli_ipc_keys_good(node, a))
        return tli_err(err, TL_CORRUPT, "an index in an Arrow array is outside of its dictionary",
                       job->message->position);
    return TL_OK;
}

/* Which state of its dictionary a column of `message` sees: the last one before it. The values of a dictionary may also
   come before those of a dictionary inside of them. -1: none. */
TLI_FN int32_t tli_ipc_state(const tli_ipc_stream *s, int32_t encoding, const tli_ipc_message *message)
{
    const tli_ipc_dictionary *d = &s->dictionaries[s->encodings[encoding]];
    int32_t low = d->first, high = d->end, index;
    if (message == NULL)
        return -1;
    index = (int32_t)(message - s->messages);
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (s->states[mid] < index)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > d->first)
        return low - 1;
    return message->dictionary >= 0 && d->end > d->first ? d->first : -1;
}

/* The place of the values of a state: NULL in it until they are decoded. */
TLI_INLINE struct ArrowArray **tli_ipc_values(const tli_ipc_stream *s, int32_t encoding, int32_t state)
{
    return state >= 0 ? &s->messages[s->states[state]].values : &s->dictionaries[s->encodings[encoding]].absent;
}

/* Decodes the nodes of a job. The dictionaries they use are there. */
TLI_FN tl_status tli_ipc_run(const tli_ipc_job *job, tl_error *err)
{
    tli_ipc_stream *s = job->stream;
    tl_status st = TL_OK;
    int32_t i;
    for (i = job->first; i < job->end && st == TL_OK; i = tli_ipc_step(&s->layout, i))
        st = tli_ipc_plan_node(job, i, err);
    for (i = job->first; i < job->end && st == TL_OK && job->message != NULL; i = tli_ipc_step(&s->layout, i))
        st = tli_ipc_fill_node(job, i, err);
    tli_mem_delete(&s->store->allocator, s->work, TLI_ZSTD_WORK);
    s->work = NULL;
    for (i = job->first; i < job->end && st == TL_OK; i = tli_ipc_step(&s->layout, i)) {
        int32_t e = s->layout.nodes[i].encoding;
        if (e >= 0)
            (*tli_ipc_array(job, i))->dictionary = *tli_ipc_values(s, e, tli_ipc_state(s, e, job->message));
        st = tli_ipc_check_node(job, i, err);
    }
    return st;
}

/* ---- slices, and joining them ---- */

/* A part of an array: `start` counts in its buffers, so that the array's own offset is in it. */
typedef struct tli_ipc_slice {
    const struct ArrowArray *array;
    int64_t start;
    int64_t length;
    int64_t nulls;
} tli_ipc_slice;

TLI_FN tli_ipc_slice tli_ipc_slice_of(const tli_ipc_node *node, const struct ArrowArray *a, int64_t start,
                                      int64_t length)
{
    tli_ipc_slice s;
    s.array = a;
    s.start = start;
    s.length = length;
    s.nulls = 0;
    if (node->id == TL_TYPE_NULL)
        s.nulls = length;
    else if (length > 0 && a->null_count != 0 && a->buffers[0] != NULL)
        s.nulls = length - (int64_t)tli_ipc_ones((const uint8_t *)a->buffers[0], (uint64_t)start, (uint64_t)length);
    return s;
}

/* The part of a child that belongs to a part of its parent. */
TLI_FN tli_ipc_slice tli_ipc_slice_child(const tli_ipc_node *above, const tli_ipc_slice *parent,
                                         const tli_ipc_node *node)
{
    const struct ArrowArray *child = parent->array->children[node->place];
    int64_t start = parent->start, length = parent->length;
    if (above->id == TL_TYPE_FIXED_LIST) {
        start *= above->size;
        length *= above->size;
    } else if (TLI_IPC_LIST_TYPE(above->id) && length > 0) {
        const void *offsets = parent->array->buffers[1];
        int64_t end = tli_ipc_offset(above->id, offsets, (uint64_t)(start + length));
        start = tli_ipc_offset(above->id, offsets, (uint64_t)start);
        length = end - start;
    }
    return tli_ipc_slice_of(node, child, start + child->offset, length);
}

/* The bits of a slice's buffer `j` (all set where there is none) to bit `at` and on, in cleared memory. */
TLI_FN void tli_ipc_put_bits(uint8_t *to, uint64_t at, const tli_ipc_slice *s, int32_t j)
{
    const uint8_t *from = (const uint8_t *)s->array->buffers[j];
    uint64_t i = 0, n = (uint64_t)s->length, start = (uint64_t)s->start;
    for (; i < n && ((at + i) & 7) != 0; i++)
        if (from == NULL || tli_bits_get(from, start + i))
            tli_bits_set(to, at + i);
    for (; i + 8 <= n; i += 8) {
        uint32_t shift = (uint32_t)((start + i) & 7), v = 0xff;
        if (from != NULL) {
            const uint8_t *p = from + (start + i) / 8;
            v = (uint32_t)p[0] >> shift;
            if (shift != 0)
                v |= (uint32_t)p[1] << (8 - shift);
        }
        to[(at + i) / 8] = (uint8_t)v;
    }
    for (; i < n; i++)
        if (from == NULL || tli_bits_get(from, start + i))
            tli_bits_set(to, at + i);
}

/* The offsets of a slice, one more than it has elements, so that the first is `base`. Answers the last. */
TLI_FN int64_t tli_ipc_put_offsets(uint8_t *to, int64_t base, tl_type_id id, const tli_ipc_slice *s)
{
    const uint8_t *from = (const uint8_t *)s->array->buffers[1];
    uint64_t i, n = (uint64_t)s->length, start = (uint64_t)s->start, shift;
    if (n == 0) { /* the buffer may be empty */
        if (TLI_IPC_WIDE_OFFSETS(id))
            tli_bits_put64(to, (uint64_t)base);
        else
            tli_bits_put32(to, (uint32_t)base);
        return base;
    }
    shift = (uint64_t)(base - tli_ipc_offset(id, from, start));
    if (TLI_IPC_WIDE_OFFSETS(id))
        for (i = 0; i <= n; i++)
            tli_bits_put64(to + 8 * i, tli_bits_u64(from + 8 * (start + i)) + shift);
    else
        for (i = 0; i <= n; i++)
            tli_bits_put32(to + 4 * i, tli_bits_u32(from + 4 * (start + i)) + (uint32_t)shift);
    return (int64_t)((uint64_t)tli_ipc_offset(id, from, start + n) + shift);
}

/* The bytes that the texts of a slice take, from *first on. */
TLI_FN uint64_t tli_ipc_slice_bytes(tl_type_id id, const tli_ipc_slice *s, uint64_t *first)
{
    *first = 0;
    if (s->length == 0)
        return 0;
    *first = (uint64_t)tli_ipc_offset(id, s->array->buffers[1], (uint64_t)s->start);
    return (uint64_t)tli_ipc_offset(id, s->array->buffers[1], (uint64_t)(s->start + s->length)) - *first;
}

/* Several arrays of one record become one. */
typedef struct tli_ipc_join {
    tli_ipc_stream *stream;
    const tli_ipc_record *record;
    tli_ipc_slice *slices; /* of part p and node i: [p * record->nodes + ordinal] */
    int32_t parts;
    int64_t length;             /* of the node at hand */
    struct ArrowArray **arrays; /* the result, by ordinal */
    uint64_t position;
} tli_ipc_join;

TLI_INLINE const tli_ipc_slice *tli_ipc_part(const tli_ipc_join *j, const tli_ipc_node *node, int32_t part)
{
    return &j->slices[(size_t)part * (size_t)j->record->nodes + (size_t)node->ordinal];
}

TLI_FN uint8_t *tli_ipc_join_take(const tli_ipc_join *j, struct ArrowArray *a, int32_t buffer, uint64_t count,
                                  uint64_t size, tl_error *err)
{
    uint64_t bytes;
    uint8_t *p = NULL;
    if (tli_bits_mul(count, size, &bytes))
        p = (uint8_t *)tli_mem_take_array(j->stream->store, bytes, 1, err);
    else
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    a->buffers[buffer] = p;
    return p;
}

TLI_FN tl_status tli_ipc_join_bits(const tli_ipc_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                   int32_t buffer, tl_error *err)
{
    uint8_t *to = tli_ipc_join_take(j, a, buffer, ((uint64_t)j->length + 7) / 8, 1, err);
    uint64_t at = 0;
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipc_slice *s = tli_ipc_part(j, node, p);
        if (s->length > 0)
            tli_ipc_put_bits(to, at, s, buffer);
        at += (uint64_t)s->length;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipc_join_fixed(const tli_ipc_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                    tl_error *err)
{
    size_t width = (size_t)node->width;
    uint8_t *to = tli_ipc_join_take(j, a, 1, (uint64_t)j->length, width, err);
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipc_slice *s = tli_ipc_part(j, node, p);
        if (s->length > 0 && width > 0)
            TLI_COPY(to, (const uint8_t *)s->array->buffers[1] + (size_t)s->start * width, (size_t)s->length * width);
        to += (size_t)s->length * width;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipc_join_offsets(const tli_ipc_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                      tl_error *err)
{
    size_t width = TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4;
    uint8_t *to = tli_ipc_join_take(j, a, 1, (uint64_t)j->length + 1, width, err);
    int64_t base = 0;
    uint64_t first;
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipc_slice *s = tli_ipc_part(j, node, p);
        uint64_t bytes = tli_ipc_slice_bytes(node->id, s, &first);
        if ((uint64_t)base + bytes > (width == 8 ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX))
            return tli_err(err, TL_UNSUPPORTED, "the deltas of an Arrow dictionary outgrow its offsets", j->position);
        base = tli_ipc_put_offsets(to, base, node->id, s);
        to += (size_t)s->length * width;
    }
    if (tli_ipc_buffers(node->id) != 3)
        return TL_OK;
    to = tli_ipc_join_take(j, a, 2, (uint64_t)base, 1, err);
    for (p = 0; to != NULL && p < j->parts; p++) {
        const tli_ipc_slice *s = tli_ipc_part(j, node, p);
        uint64_t bytes = tli_ipc_slice_bytes(node->id, s, &first);
        if (bytes != 0)
            TLI_COPY(to, (const uint8_t *)s->array->buffers[2] + first, (size_t)bytes);
        to += bytes;
    }
    return a->buffers[2] == NULL ? err->status : TL_OK;
}

TLI_FN tl_status tli_ipc_join_views(const tli_ipc_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                    tl_error *err)
{
    uint8_t *to = tli_ipc_join_take(j, a, 1, (uint64_t)j->length, 16, err), *sizes = NULL;
    uint32_t before = 0;
    int32_t p;
    if (to != NULL)
        sizes = tli_ipc_join_take(j, a, (int32_t)(a->n_buffers - 1), (uint64_t)a->n_buffers, 8, err);
    if (sizes == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipc_slice *s = tli_ipc_part(j, node, p);
        uint32_t others = (uint32_t)(s->array->n_buffers - 3), k;
        for (k = 0; k < (uint64_t)s->length; k++, to += 16) {
            TLI_COPY(to, (const uint8_t *)s->array->buffers[1] + 16 * ((size_t)s->start + k), 16);
            if (tli_bits_u32(to) > 12)
                tli_bits_put32(to + 8, tli_bits_u32(to + 8) + before);
        }
        for (k = 0; k < others; k++)
            a->buffers[2 + before + k] = s->array->buffers[2 + k];
        if (others != 0)
            TLI_COPY(sizes + 8 * (size_t)before, s->array->buffers[2 + others], 8 * (size_t)others);
        before += others;
    }
    return TL_OK;
}

/* The parts of node i, from those of its parent; their lengths are added up. */
TLI_FN tl_status tli_ipc_join_parts(tli_ipc_join *j, int32_t i, int64_t *nulls, int64_t *others, tl_error *err)
{
    const tli_ipc_layout *l = &j->stream->layout;
    const tli_ipc_node *node = &l->nodes[i];
    int32_t p;
    j->length = *nulls = *others = 0;
    for (p = 0; p < j->parts; p++) {
        tli_ipc_slice *s = &j->slices[(size_t)p * (size_t)j->record->nodes + (size_t)node->ordinal];
        if (i != j->record->first)
            *s = tli_ipc_slice_child(&l->nodes[node->parent], tli_ipc_part(j, &l->nodes[node->parent], p), node);
        j->length += s->length;
        *nulls += s->nulls;
        *others += s->array->n_buffers;
        if ((uint64_t)j->length > j->stream->limits.rows)
            return tli_err_need(err, TL_LIMIT, "limits.rows", j->position, (uint64_t)j->length);
        if (node->encoding >= 0
            && s->array->dictionary->buffers != tli_ipc_part(j, node, 0)->array->dictionary->buffers)
            return tli_err(err, TL_UNSUPPORTED, "deltas of an Arrow dictionary around a change of a dictionary in it",
                           j->position);
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipc_join_node(tli_ipc_join *j, int32_t i, tl_error *err)
{
    const tli_ipc_layout *l = &j->stream->layout;
    const tli_ipc_node *node = &l->nodes[i];
    int64_t nulls, others, buffers = tli_ipc_buffers(node->id);
    struct ArrowArray *a;
    tl_status st = tli_ipc_join_parts(j, i, &nulls, &others, err);
    if (st != TL_OK)
        return st;
    if (TLI_IPC_VIEW_TYPE(node->id))
        buffers = others - 3 * (int64_t)j->parts + 3;
    a = tli_arrow_array_new(j->stream->store, buffers, node->schema->n_children, err);
    if (a == NULL)
        return err->status;
    a->length = j->length;
    a->null_count = nulls;
    if (i != j->record->first)
        j->arrays[l->nodes[node->parent].ordinal]->children[node->place] = a;
    j->arrays[node->ordinal] = a;
    if (nulls != 0 && node->id != TL_TYPE_NULL)
        st = tli_ipc_join_bits(j, node, a, 0, err);
    if (st != TL_OK || buffers < 2)
        return st;
    if (node->encoding >= 0)
        a->dictionary = tli_ipc_part(j, node, j->parts - 1)->array->dictionary;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipc_join_views(j, node, a, err);
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return tli_ipc_join_offsets(j, node, a, err);
    return node->id == TL_TYPE_BOOL ? tli_ipc_join_bits(j, node, a, 1, err) : tli_ipc_join_fixed(j, node, a, err);
}

/* ---- dictionaries ---- */

/* The first `length` values of `all`, which are the last but shorter. */
TLI_FN struct ArrowArray *tli_ipc_prefix(tli_store *store, const struct ArrowArray *all, int64_t length, int64_t nulls,
                                         tl_error *err)
{
    struct ArrowArray *a = (struct ArrowArray *)tli_mem_take(store, sizeof *a, err);
    if (a == NULL)
        return NULL;
    *a = *all;
    a->length = length;
    a->null_count = nulls;
    return a;
}

/* A dictionary and its deltas: one array of all, of which each state is the beginning. */
TLI_FN tl_status tli_ipc_decode_deltas(tli_ipc_stream *s, const tli_ipc_want *w, tl_error *err)
{
    const tli_ipc_record *record = &s->layout.encodings[s->dictionaries[w->dictionary].encoding];
    tli_ipc_join j;
    int32_t i, p;
    int64_t length = 0, nulls = 0;
    tl_status st = TL_OK;
    TLI_FILL(&j, 0, sizeof j);
    j.stream = s;
    j.record = record;
    j.parts = w->last - w->base + 1;
    j.arrays = s->arrays;
    j.position = s->messages[s->states[w->base]].position;
    j.slices = (tli_ipc_slice *)tli_mem_take_array(s->store, (uint64_t)j.parts * (uint64_t)record->nodes,
                                                   sizeof *j.slices, err);
    if (j.slices == NULL)
        return err->status;
    for (p = 0; p < j.parts && st == TL_OK; p++) {
        tli_ipc_job job;
        job.stream = s;
        job.message = &s->messages[s->states[w->base + p]];
        job.first = record->first;
        job.end = record->end;
        job.rows = job.message->rows;
        job.arrays = s->arrays;
        st = tli_ipc_run(&job, err);
        if (st == TL_OK)
            j.slices[(size_t)p * (size_t)record->nodes] =
                tli_ipc_slice_of(&s->layout.nodes[record->first], s->arrays[0], 0, job.rows);
    }
    for (i = record->first; i < record->end && st == TL_OK; i = tli_ipc_step(&s->layout, i))
        st = tli_ipc_join_node(&j, i, err);
    for (p = 0; p < j.parts && st == TL_OK; p++) {
        struct ArrowArray **values = &s->messages[s->states[w->base + p]].values;
        length += j.slices[(size_t)p * (size_t)record->nodes].length;
        nulls += j.slices[(size_t)p * (size_t)record->nodes].nulls;
        *values = tli_ipc_prefix(s->store, s->arrays[0], length, nulls, err);
        if (*values == NULL)
            return err->status;
    }
    return st;
}

/* The values of a dictionary whose own dictionaries are there. */
TLI_FN tl_status tli_ipc_decode_values(tli_ipc_stream *s, const tli_ipc_want *w, tl_error *err)
{
    tli_ipc_dictionary *d = &s->dictionaries[w->dictionary];
    tli_ipc_job job;
    tl_status st;
    if (w->base != w->last)
        return tli_ipc_decode_deltas(s, w, err);
    job.stream = s;
    job.message = w->base < 0 ? NULL : &s->messages[s->states[w->base]];
    job.first = w->first;
    job.end = w->end;
    job.rows = job.message != NULL ? job.message->rows : 0;
    job.arrays = s->arrays;
    st = tli_ipc_run(&job, err);
    if (st == TL_OK && w->base < 0)
        d->absent = s->arrays[0];
    else if (st == TL_OK)
        s->messages[s->states[w->base]].values = s->arrays[0];
    return st;
}

/* The next dictionary below `w` that is not decoded yet; 0: all are. */
TLI_FN int tli_ipc_missing(const tli_ipc_stream *s, tli_ipc_want *w, tli_ipc_want *below)
{
    const tli_ipc_layout *l = &s->layout;
    for (;; w->state++, w->node = w->first) {
        if (w->state >= 0)
            w->message = &s->messages[s->states[w->state]];
        for (; w->node < w->end; w->node = tli_ipc_step(l, w->node)) {
            int32_t e = l->nodes[w->node].encoding, state;
            if (e < 0 || *tli_ipc_values(s, e, state = tli_ipc_state(s, e, w->message)) != NULL)
                continue;
            below->dictionary = s->encodings[e];
            below->first = below->node = l->encodings[s->dictionaries[below->dictionary].encoding].first;
            below->end = l->encodings[s->dictionaries[below->dictionary].encoding].end;
            below->base = below->state = below->last = state < 0 ? -1 : s->messages[s->states[state]].base;
            below->message = NULL;
            while (state >= 0 && below->last + 1 < s->dictionaries[below->dictionary].end
                   && s->messages[s->states[below->last + 1]].base == below->base)
                below->last++;
            return 1;
        }
        if (w->state >= w->last)
            return 0;
    }
}

/* Decodes the dictionaries that a column of a batch uses, and those that they use, the innermost first. */
TLI_FN tl_status tli_ipc_bring(tli_ipc_stream *s, int32_t column, const tli_ipc_message *m, tl_error *err)
{
    tli_ipc_want *w = s->wants;
    uint32_t top = 0;
    if (s->dictionary_count == 0)
        return TL_OK;
    w->first = w->node = column;
    w->end = s->layout.nodes[column].end;
    w->dictionary = w->base = w->state = w->last = -1;
    w->message = m;
    for (;;) {
        tl_status st;
        if (tli_ipc_missing(s, &w[top], &w[top + 1])) {
            top++;
            continue;
        }
        if (top == 0)
            return TL_OK;
        st = tli_ipc_decode_values(s, &w[top--], err);
        if (st != TL_OK)
            return st;
    }
}

/* Decodes and checks one column of one batch. What it takes stays with the store, even when it fails. */
TLI_FN tl_status tli_ipc_column(tli_ipc_stream *s, int32_t batch, int32_t column, const struct ArrowArray **out,
                                tl_error *err)
{
    tl_error local;
    tli_ipc_job job;
    tl_status st;
    err = err != NULL ? err : &local;
    if (batch < 0 || batch >= s->batch_count || column < 0 || column >= s->schema->n_children)
        return tli_err(err, TL_MISUSE, "no such batch or column", TL_NO_POSITION);
    job.stream = s;
    job.message = &s->messages[s->batches[batch].message];
    job.first = s->columns[column];
    job.end = s->layout.nodes[job.first].end;
    job.rows = s->batches[batch].rows;
    job.arrays = s->arrays;
    st = tli_ipc_bring(s, job.first, job.message, err);
    if (st == TL_OK)
        st = tli_ipc_run(&job, err);
    if (st == TL_OK)
        *out = s->arrays[0];
    return st;
}

/* ---- how much memory ---- */

/* What a message takes at most when all of it is decoded; small pieces are rounded up to what their chunks waste. */
TLI_FN uint64_t tli_ipc_message_memory(const tli_ipc_stream *s, const tli_ipc_message *m, const tli_ipc_record *record,
                                       uint64_t *once)
{
    uint64_t total = 0;
    uint32_t n = (uint32_t)record->buffers + (m->variadic != NULL ? m->variadic[record->views] : 0), i;
    for (i = 0; i < n; i++) {
        tli_ipc_buffer b;
        uint64_t size = 0;
        if (tli_ipc_buffer_of(s, m, i, &b, NULL) == TL_OK && (b.packed || TLI_BIG_ENDIAN))
            size = b.size;
        if (size != 0 && b.packed && m->codec == TLI_IPC_ZSTD && s->compression.decompress == NULL)
            *once = (uint64_t)2 * TLI_MEM_CHUNK + TLI_ZSTD_WORK;
        total += 32 + sizeof(void *) + size + (size < 1024 ? size / 4 : 0);
    }
    total += (uint64_t)record->nodes * (sizeof(struct ArrowArray) + sizeof(void *) * 2 + 64) * 5 / 4;
    total += (uint64_t)record->views * 64 + (m->variadic != NULL ? (uint64_t)m->variadic[record->views] * 10 : 0);
    return total;
}

/* The most memory that opening every column of every batch takes, once the stream is open. *once is raised to what a store
   needs once for all its streams: started chunks, and work memory of the decoder. */
TLI_FN uint64_t tli_ipc_memory(const tli_ipc_stream *s, uint64_t *once)
{
    uint64_t total = 0;
    int32_t i;
    if (s->message_count != 0)
        *once = TLI_MAX(*once, (uint64_t)2 * TLI_MEM_CHUNK);
    for (i = 0; i < s->message_count; i++) {
        const tli_ipc_message *m = &s->messages[i];
        const tli_ipc_record *record = &s->layout.columns;
        uint64_t need;
        if (m->dictionary >= 0)
            record = &s->layout.encodings[s->dictionaries[m->dictionary].encoding];
        need = tli_ipc_message_memory(s, m, record, once);
        if (m->dictionary >= 0) /* joined with its deltas */
            need = need * 2 + m->body_size + (uint64_t)record->nodes * sizeof(tli_ipc_slice) * 2;
        if (!tli_bits_add(total, need, &total))
            return UINT64_MAX;
    }
    for (i = 0; i < s->dictionary_count; i++) /* without values */
        total += (uint64_t)s->layout.encodings[s->dictionaries[i].encoding].nodes * 512;
    return total;
}

/* ---- writing: schema ---- */

/* A layout of its own, for writing. */
TLI_FN void tli_ipc_layout_end(const tl_allocator *a, tli_ipc_layout *l, uint32_t nodes)
{
    tli_mem_delete(a, l->nodes, (size_t)nodes * sizeof *l->nodes);
    tli_mem_delete(a, l->encodings, (size_t)l->encoding_count * sizeof *l->encodings);
    l->nodes = NULL;
    l->encodings = NULL;
}

TLI_FN tl_status tli_ipc_layout_new(const tl_allocator *a, tli_ipc_layout *l, const struct ArrowSchema *schema,
                                    uint32_t *nodes, tl_error *err)
{
    tl_limits most;
    tl_status st;
    TLI_FILL(l, 0, sizeof *l);
    TLI_FILL(&most, 0, sizeof most);
    most.depth = 256;
    most.columns = INT32_MAX / 4;
    st = tli_arrow_schema_check(schema, &most, nodes, err);
    if (st != TL_OK)
        return st;
    l->nodes = (tli_ipc_node *)tli_mem_new(a, (size_t)*nodes * sizeof *l->nodes);
    if (l->nodes == NULL)
        return tli_mem_failed(a, err);
    st = tli_ipc_list(l, schema, err);
    if (st == TL_OK) {
        l->encodings = (tli_ipc_record *)tli_mem_new(a, (size_t)l->encoding_count * sizeof *l->encodings);
        if (l->encodings == NULL)
            st = tli_mem_failed(a, err);
    }
    if (st == TL_OK)
        tli_ipc_records(l);
    else
        tli_ipc_layout_end(a, l, *nodes);
    return st;
}

TLI_FN uint32_t tli_ipc_write_int(tli_flatbuf_builder *b, tl_type_id id)
{
    int step = (int)id - (int)(id >= TL_TYPE_UINT8 ? TL_TYPE_UINT8 : TL_TYPE_INT8);
    tli_flatbuf_table_begin(b);
    (void)tli_flatbuf_put(b, 0, 4, (uint64_t)8 << step);
    (void)tli_flatbuf_put(b, 1, 1, id < TL_TYPE_UINT8);
    return tli_flatbuf_table_end(b);
}

/* The number of a type in the Type union of Schema.fbs. */
TLI_FN uint8_t tli_ipc_wire_type(tl_type_id id)
{
    static const uint8_t wire[] = {1,  6,  2,  2,  2,  2,  2,  2,  2, 2, 3, 3, 3, 7,  7,  7,  7,  8,  8,
                                   9,  9,  10, 18, 11, 11, 11, 5, 20, 24, 4, 19, 23, 15, 12, 21, 16, 13, 17};
    return wire[id];
}

/* The table of a type. */
TLI_FN uint32_t tli_ipc_write_type(tli_flatbuf_builder *b, const struct ArrowSchema *schema)
{
    tl_type t;
    uint32_t zone = 0;
    uint8_t wire;
    if (tl_type_of(schema, &t, NULL) != TL_OK) /* was checked */
        return 0;
    wire = tli_ipc_wire_type(t.id);
    if (wire == 2)
        return tli_ipc_write_int(b, t.id);
    if (wire == 10 && t.zone.size != 0)
        zone = tli_flatbuf_put_text(b, t.zone);
    tli_flatbuf_table_begin(b);
    if (wire == 3) {
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)((int)t.id - (int)TL_TYPE_FLOAT16));
    } else if (wire == 7) {
        (void)tli_flatbuf_put(b, 0, 4, (uint64_t)(int64_t)t.precision);
        (void)tli_flatbuf_put(b, 1, 4, (uint64_t)(int64_t)t.scale);
        (void)tli_flatbuf_put(b, 2, 4, (uint64_t)t.width * 8);
    } else if (wire == 8) {
        (void)tli_flatbuf_put(b, 0, 2, t.id == TL_TYPE_DATE64);
    } else if (wire == 9) {
        (void)tli_flatbuf_put(b, 1, 4, (uint64_t)t.width * 8);
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)t.unit);
    } else if (wire == 10 || wire == 18) {
        if (zone != 0)
            tli_flatbuf_put_offset(b, 1, zone);
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)t.unit);
    } else if (wire == 11) {
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)((int)t.id - (int)TL_TYPE_INTERVAL_MONTHS));
    } else if (wire == 15 || wire == 16) {
        (void)tli_flatbuf_put(b, 0, 4, (uint64_t)t.size);
    } else if (wire == 17) {
        (void)tli_flatbuf_put(b, 0, 1, (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0);
    }
    return tli_flatbuf_table_end(b);
}

/* Names of what was written, in a buffer that is used again and again. */
TLI_FN tl_status tli_ipc_note(tl_buffer *names, uint32_t name, tl_error *err)
{
    return tli_mem_append(names, &name, sizeof name, err);
}

/* The noted names as a vector. They are in native order and may lie at any alignment. */
TLI_FN uint32_t tli_ipc_write_names(tli_flatbuf_builder *b, tl_buffer *names)
{
    uint32_t at = tli_flatbuf_put_offsets(b, names->data, (uint32_t)(names->size / 4));
    names->size = 0;
    return at;
}

TLI_FN tl_status tli_ipc_write_pair(tli_flatbuf_builder *b, tl_span key, tl_span value, tl_buffer *names, tl_error *err)
{
    uint32_t v = tli_flatbuf_put_text(b, value), k = tli_flatbuf_put_text(b, key);
    tli_flatbuf_table_begin(b);
    tli_flatbuf_put_offset(b, 1, v);
    tli_flatbuf_put_offset(b, 0, k);
    return tli_ipc_note(names, tli_flatbuf_table_end(b), err);
}

/* The metadata of a schema node; `key` (absent: none) takes the place of a pair of that key. *name 0: there is none. */
TLI_FN tl_status tli_ipc_write_pairs(tli_flatbuf_builder *b, const struct ArrowSchema *schema, tl_span key,
                                     tl_span value, tl_buffer *names, uint32_t *name, tl_error *err)
{
    tli_arrow_pairs pairs = tli_arrow_pairs_begin(schema);
    tl_span k, v;
    tl_status st = TL_OK;
    names->size = 0;
    while (st == TL_OK && tli_arrow_pairs_next(&pairs, &k, &v))
        if (key.data == NULL || !tl_span_equal(k, key))
            st = tli_ipc_write_pair(b, k, v, names, err);
    if (st == TL_OK && key.data != NULL)
        st = tli_ipc_write_pair(b, key, value, names, err);
    *name = 0;
    if (st == TL_OK && names->size != 0)
        *name = tli_ipc_write_names(b, names);
    return st;
}

/* The field of node i, whose children are written: fields[] has their names. */
TLI_FN tl_status tli_ipc_write_field(tli_flatbuf_builder *b, const tli_ipc_layout *l, int32_t i, uint32_t *fields,
                                     tl_buffer *names, tl_error *err)
{
    const tli_ipc_node *node = &l->nodes[i];
    int32_t of = node->encoding >= 0 ? i + 1 : i, child; /* the node of the values */
    uint32_t text, type, children, metadata, dictionary = 0;
    tl_status st = TL_OK;
    names->size = 0;
    for (child = of + 1; child < l->nodes[of].end && st == TL_OK; child = l->nodes[child].end)
        st = tli_ipc_note(names, fields[child], err);
    if (st != TL_OK)
        return st;
    children = tli_ipc_write_names(b, names);
    st = tli_ipc_write_pairs(b, node->schema, tl_text(NULL), tl_text(NULL), names, &metadata, err);
    if (st != TL_OK)
        return st;
    text = tli_flatbuf_put_text(b, node->schema->name != NULL ? tl_text(node->schema->name) : tli_text_span("", 0));
    type = tli_ipc_write_type(b, l->nodes[of].schema);
    if (node->encoding >= 0) {
        uint32_t index = tli_ipc_write_int(b, node->id);
        tli_flatbuf_table_begin(b);
        (void)tli_flatbuf_put(b, 0, 8, (uint64_t)node->encoding);
        tli_flatbuf_put_offset(b, 1, index);
        (void)tli_flatbuf_put(b, 2, 1, (node->schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0);
        dictionary = tli_flatbuf_table_end(b);
    }
    tli_flatbuf_table_begin(b);
    if (metadata != 0)
        tli_flatbuf_put_offset(b, 6, metadata);
    tli_flatbuf_put_offset(b, 5, children);
    if (dictionary != 0)
        tli_flatbuf_put_offset(b, 4, dictionary);
    tli_flatbuf_put_offset(b, 3, type);
    tli_flatbuf_put_offset(b, 0, text);
    (void)tli_flatbuf_put(b, 2, 1, tli_ipc_wire_type(l->nodes[of].id));
    (void)tli_flatbuf_put(b, 1, 1, (node->schema->flags & ARROW_FLAG_NULLABLE) != 0);
    fields[i] = tli_flatbuf_table_end(b);
    return TL_OK;
}

/* The message around a header. *body: where the length of the body is to be put, in bytes from the end. */
TLI_FN void tli_ipc_write_message(tli_flatbuf_builder *b, uint8_t kind, uint32_t header, uint32_t *body)
{
    tli_flatbuf_table_begin(b);
    *body = tli_flatbuf_put(b, 3, 8, 0);
    tli_flatbuf_put_offset(b, 2, header);
    (void)tli_flatbuf_put(b, 0, 2, 4); /* V5 */
    (void)tli_flatbuf_put(b, 1, 1, kind);
    tli_flatbuf_finish(b, tli_flatbuf_table_end(b));
}

/* Appends a finished message: mark, length, and the FlatBuffer. */
TLI_FN tl_status tli_ipc_write_meta(tl_buffer *out, const tli_flatbuf_builder *b, tl_error *err)
{
    uint8_t prefix[8];
    tl_status st;
    if (b->status == TL_LIMIT)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of 2 GiB or more", TL_NO_POSITION);
    if (b->status != TL_OK)
        return tli_mem_failed(&b->allocator, err);
    tli_bits_put_le32(prefix, UINT32_MAX);
    tli_bits_put_le32(prefix + 4, b->used);
    st = tli_mem_append(out, prefix, 8, err);
    return st == TL_OK ? tli_mem_append(out, b->data + b->capacity - b->used, b->used, err) : st;
}

/* The schema message of a layout. */
TLI_FN tl_status tli_ipc_write_fields(tl_buffer *out, const struct ArrowSchema *schema, const tli_ipc_layout *l,
                                      tl_span key, tl_span value, tl_buffer *names, uint32_t *fields, tl_error *err)
{
    tli_flatbuf_builder b;
    uint32_t metadata = 0, body, list = 0;
    int32_t i;
    tl_status st = TL_OK;
    TLI_FILL(&b, 0, sizeof b);
    b.allocator = names->allocator;
    for (i = l->count - 1; i >= 0 && st == TL_OK; i--)
        if (i == 0 || l->nodes[i - 1].encoding < 0) /* the values of a dictionary are no field */
            st = tli_ipc_write_field(&b, l, i, fields, names, err);
    names->size = 0;
    for (i = 0; i < l->count && st == TL_OK; i = l->nodes[i].end)
        st = tli_ipc_note(names, fields[i], err);
    if (st == TL_OK)
        list = tli_ipc_write_names(&b, names);
    if (st == TL_OK)
        st = tli_ipc_write_pairs(&b, schema, key, value, names, &metadata, err);
    if (st == TL_OK) {
        tli_flatbuf_table_begin(&b);
        if (metadata != 0)
            tli_flatbuf_put_offset(&b, 2, metadata);
        tli_flatbuf_put_offset(&b, 1, list);
        (void)tli_flatbuf_put(&b, 0, 2, 0);
        tli_ipc_write_message(&b, TLI_IPC_SCHEMA, tli_flatbuf_table_end(&b), &body);
        st = tli_ipc_write_meta(out, &b, err);
    }
    tli_flatbuf_end(&b);
    return st;
}

/* Appends the schema message. `key` (absent: none) and its value go to the schema's metadata, in the place of a pair of
   that key. On failure `out` is as it was. */
TLI_FN tl_status tli_ipc_write_schema(tl_buffer *out, const struct ArrowSchema *schema, tl_span key, tl_span value,
                                      tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&out->allocator);
    size_t size = out->size;
    uint32_t nodes, *fields;
    tli_ipc_layout l;
    tl_buffer names;
    tl_error local;
    tl_status st = tli_ipc_layout_new(&a, &l, schema, &nodes, err != NULL ? err : &local);
    if (st != TL_OK)
        return st;
    TLI_FILL(&names, 0, sizeof names);
    names.allocator = a;
    fields = (uint32_t *)tli_mem_new(&a, (size_t)nodes * sizeof *fields);
    if (fields == NULL)
        st = tli_mem_failed(&a, err);
    else
        st = tli_ipc_write_fields(out, schema, &l, key, value, &names, fields, err);
    tl_buffer_free(&names);
    tli_mem_delete(&a, fields, (size_t)nodes * sizeof *fields);
    tli_ipc_layout_end(&a, &l, nodes);
    if (st != TL_OK)
        out->size = size;
    return st;
}

/* ---- writing: batches ---- */

typedef struct tli_ipc_writer {
    tl_buffer *out;
    tli_ipc_layout layout;
    uint32_t node_count;
    tli_ipc_slice *slices; /* by node */
    const tl_compression *compression;
    tl_buffer scratch;
    size_t body;        /* where it begins in out */
    size_t next_node;   /* where in out the next counts go */
    size_t next_buffer; /* and the next place of a buffer */
} tli_ipc_writer;

/* A buffer's bytes behind their length, compressed where that makes them fewer. */
TLI_FN tl_status tli_ipc_write_packed(tli_ipc_writer *w, const void *data, size_t size, tl_error *err)
{
    const tl_compression *c = w->compression;
    size_t bound = c->bound(c->context, size), packed = 0;
    tl_status st = tli_mem_reserve(w->out, 8 + TLI_MAX(bound, size), err);
    uint8_t *to;
    if (st != TL_OK)
        return st;
    to = w->out->data + w->out->size;
    st = c->compress(c->context, to + 8, bound, &packed, data, size);
    if (st != TL_OK)
        return tli_err(err, st, "an Arrow buffer does not compress", TL_NO_POSITION);
    tli_bits_put_le64(to, size);
    if (packed >= size) {
        tli_bits_put_le64(to, UINT64_MAX);
        TLI_COPY(to + 8, data, size);
        packed = size;
    }
    w->out->size += 8 + packed;
    return TL_OK;
}

/* The next buffer of the record. */
TLI_FN tl_status tli_ipc_write_bytes(tli_ipc_writer *w, const void *data, uint64_t size, tl_error *err)
{
    size_t start = w->out->size, narrow;
    tl_status st;
    if (!tli_bits_size(size, &narrow))
        return tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
    if (narrow != 0 && w->compression != NULL)
        st = tli_ipc_write_packed(w, data, narrow, err);
    else
        st = tli_mem_append(w->out, data, narrow, err);
    if (st != TL_OK)
        return st;
    tli_bits_put_le64(w->out->data + w->next_buffer, start - w->body);
    tli_bits_put_le64(w->out->data + w->next_buffer + 8, w->out->size - start);
    w->next_buffer += 16;
    return tli_mem_pad(w->out, w->body, 64, err);
}

/* `size` cleared bytes of scratch; NULL: err says why. */
TLI_FN uint8_t *tli_ipc_scratch(tli_ipc_writer *w, uint64_t size, tl_error *err)
{
    size_t narrow;
    w->scratch.size = 0;
    if (!tli_bits_size(size, &narrow)) {
        (void)tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
        return NULL;
    }
    if (tli_mem_reserve(&w->scratch, narrow + 1, err) != TL_OK)
        return NULL;
    TLI_FILL(w->scratch.data, 0, narrow + 1);
    return w->scratch.data;
}

/* Values that need no change, except for their order of bytes. */
TLI_FN tl_status tli_ipc_write_values(tli_ipc_writer *w, const void *data, uint64_t size, int unit, tl_error *err)
{
    uint8_t *turned;
    if (!TLI_BIG_ENDIAN || unit == TLI_IPC_BYTES || size == 0)
        return tli_ipc_write_bytes(w, data, size, err);
    turned = tli_ipc_scratch(w, size, err);
    if (turned == NULL)
        return err->status;
    TLI_COPY(turned, data, (size_t)size);
    tli_ipc_turn_all(turned, size, unit, 1);
    return tli_ipc_write_bytes(w, turned, size, err);
}

TLI_FN tl_status tli_ipc_write_bits(tli_ipc_writer *w, const tli_ipc_slice *s, int32_t j, tl_error *err)
{
    uint64_t size = ((uint64_t)s->length + 7) / 8;
    uint8_t *to = tli_ipc_scratch(w, size, err);
    if (to == NULL)
        return err->status;
    if (s->length > 0)
        tli_ipc_put_bits(to, 0, s, j);
    return tli_ipc_write_bytes(w, to, size, err);
}

TLI_FN tl_status tli_ipc_write_offsets(tli_ipc_writer *w, const tli_ipc_node *node, const tli_ipc_slice *s,
                                       tl_error *err)
{
    uint64_t width = TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4, size = ((uint64_t)s->length + 1) * width, first, bytes;
    uint8_t *to;
    tl_status st;
    bytes = tli_ipc_slice_bytes(node->id, s, &first);
    if (s->length > 0 && first == 0 && !TLI_BIG_ENDIAN) {
        st = tli_ipc_write_bytes(w, (const uint8_t *)s->array->buffers[1] + (uint64_t)s->start * width, size, err);
    } else {
        to = tli_ipc_scratch(w, size, err);
        if (to == NULL)
            return err->status;
        (void)tli_ipc_put_offsets(to, 0, node->id, s);
        if (TLI_BIG_ENDIAN)
            tli_ipc_turn_all(to, size, (int)width, 1);
        st = tli_ipc_write_bytes(w, to, size, err);
    }
    if (st != TL_OK || tli_ipc_buffers(node->id) != 3)
        return st;
    return tli_ipc_write_bytes(w, bytes == 0 ? NULL : (const uint8_t *)s->array->buffers[2] + first, bytes, err);
}

/* Views, with those under a null cleared (nobody has checked them), and all buffers that they may point into. */
TLI_FN tl_status tli_ipc_write_views(tli_ipc_writer *w, const tli_ipc_slice *s, tl_error *err)
{
    uint64_t size = (uint64_t)s->length * 16, i;
    int64_t others = s->array->n_buffers - 3, k;
    uint8_t *to = tli_ipc_scratch(w, size, err);
    tl_status st;
    if (to == NULL)
        return err->status;
    for (i = 0; i < (uint64_t)s->length; i++)
        if (s->nulls == 0 || tli_bits_get(s->array->buffers[0], (uint64_t)s->start + i))
            TLI_COPY(to + 16 * i, (const uint8_t *)s->array->buffers[1] + 16 * ((uint64_t)s->start + i), 16);
    if (TLI_BIG_ENDIAN)
        tli_ipc_turn_all(to, size, TLI_IPC_VIEWS, 1);
    st = tli_ipc_write_bytes(w, to, size, err);
    for (k = 0; k < others && st == TL_OK; k++)
        st = tli_ipc_write_bytes(w, s->array->buffers[2 + k],
                                 tli_bits_u64((const uint8_t *)s->array->buffers[2 + others] + 8 * k), err);
    return st;
}

/* The buffers of a node. */
TLI_FN tl_status tli_ipc_write_node(tli_ipc_writer *w, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &w->layout.nodes[i];
    const tli_ipc_slice *s = &w->slices[i];
    tl_status st;
    const uint8_t *values;
    tli_bits_put_le64(w->out->data + w->next_node, (uint64_t)s->length);
    tli_bits_put_le64(w->out->data + w->next_node + 8, (uint64_t)s->nulls);
    w->next_node += 16;
    if (node->id == TL_TYPE_NULL)
        return TL_OK;
    st = s->nulls == 0 ? tli_ipc_write_bytes(w, NULL, 0, err) : tli_ipc_write_bits(w, s, 0, err);
    if (st != TL_OK || tli_ipc_buffers(node->id) == 1)
        return st;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipc_write_views(w, s, err);
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return tli_ipc_write_offsets(w, node, s, err);
    if (node->id == TL_TYPE_BOOL)
        return tli_ipc_write_bits(w, s, 1, err);
    values = (const uint8_t *)s->array->buffers[1];
    if (s->length == 0)
        return tli_ipc_write_bytes(w, NULL, 0, err);
    return tli_ipc_write_values(w, values + (uint64_t)s->start * (uint64_t)node->width,
                                (uint64_t)s->length * (uint64_t)node->width, tli_ipc_unit(node, 1), err);
}

/* The metadata of a record, with the counts still empty: where they go is noted. Its size hangs on no value. */
TLI_FN tl_status tli_ipc_write_header(tli_ipc_writer *w, const tli_ipc_record *r, int64_t rows, int32_t encoding,
                                      size_t *body_length, tl_error *err)
{
    const tli_ipc_layout *l = &w->layout;
    tli_flatbuf_builder b;
    uint32_t nodes, buffers, variadic = 0, codec = 0, header, body, count = (uint32_t)r->buffers;
    int32_t i;
    tl_status st = TL_OK;
    w->scratch.size = 0;
    for (i = r->first; i < r->end && st == TL_OK; i = tli_ipc_step(l, i))
        if (TLI_IPC_VIEW_TYPE(l->nodes[i].id)) {
            uint8_t others[8];
            tli_bits_put_le64(others, (uint64_t)(w->slices[i].array->n_buffers - 3));
            count += (uint32_t)(w->slices[i].array->n_buffers - 3);
            st = tli_mem_append(&w->scratch, others, 8, err);
        }
    if (st != TL_OK)
        return st;
    TLI_FILL(&b, 0, sizeof b);
    b.allocator = w->scratch.allocator;
    if (r->views != 0)
        variadic = tli_flatbuf_put_list(&b, w->scratch.data, (uint32_t)r->views, 8, 8, 0);
    buffers = tli_flatbuf_put_list(&b, NULL, count, 16, 8, 0);
    nodes = tli_flatbuf_put_list(&b, NULL, (uint32_t)r->nodes, 16, 8, 0);
    if (w->compression != NULL) {
        tli_flatbuf_table_begin(&b);
        (void)tli_flatbuf_put(&b, 0, 1, 1); /* ZSTD */
        (void)tli_flatbuf_put(&b, 1, 1, 0);
        codec = tli_flatbuf_table_end(&b);
    }
    tli_flatbuf_table_begin(&b);
    (void)tli_flatbuf_put(&b, 0, 8, (uint64_t)rows);
    if (variadic != 0)
        tli_flatbuf_put_offset(&b, 4, variadic);
    if (codec != 0)
        tli_flatbuf_put_offset(&b, 3, codec);
    tli_flatbuf_put_offset(&b, 2, buffers);
    tli_flatbuf_put_offset(&b, 1, nodes);
    header = tli_flatbuf_table_end(&b);
    if (encoding >= 0) {
        tli_flatbuf_table_begin(&b);
        (void)tli_flatbuf_put(&b, 0, 8, (uint64_t)encoding);
        tli_flatbuf_put_offset(&b, 1, header);
        header = tli_flatbuf_table_end(&b);
    }
    tli_ipc_write_message(&b, encoding >= 0 ? TLI_IPC_DICTIONARY : TLI_IPC_BATCH, header, &body);
    st = tli_ipc_write_meta(w->out, &b, err);
    w->body = w->out->size;
    w->next_buffer = w->out->size - buffers + 4;
    w->next_node = w->out->size - nodes + 4;
    *body_length = w->out->size - body;
    tli_flatbuf_end(&b);
    return st;
}

/* One message. `encoding` -1: the batch. */
TLI_FN tl_status tli_ipc_write_record(tli_ipc_writer *w, const tli_ipc_record *r, int64_t rows, int32_t encoding,
                                      tl_error *err)
{
    size_t body_length = 0;
    int32_t i;
    tl_status st = tli_ipc_write_header(w, r, rows, encoding, &body_length, err);
    for (i = r->first; i < r->end && st == TL_OK; i = tli_ipc_step(&w->layout, i))
        st = tli_ipc_write_node(w, i, err);
    if (st == TL_OK)
        tli_bits_put_le64(w->out->data + body_length, w->out->size - w->body);
    return st;
}

/* The slices of all nodes, and then the messages: dictionaries before those that use them, and before the batch. */
TLI_FN tl_status tli_ipc_write_records(tli_ipc_writer *w, const struct ArrowArray *const *columns, int64_t rows,
                                       tl_error *err)
{
    const tli_ipc_layout *l = &w->layout;
    int32_t i, column = 0;
    tl_status st = TL_OK;
    for (i = 0; i < l->count; i++) {
        const tli_ipc_node *node = &l->nodes[i];
        if (node->parent < 0) {
            const struct ArrowArray *a = columns[column++];
            w->slices[i] = tli_ipc_slice_of(node, a, a->offset, rows);
        } else if (l->nodes[node->parent].encoding >= 0) {
            const struct ArrowArray *a = w->slices[node->parent].array->dictionary;
            w->slices[i] = tli_ipc_slice_of(node, a, a->offset, a->length);
        } else {
            w->slices[i] = tli_ipc_slice_child(&l->nodes[node->parent], &w->slices[node->parent], node);
        }
    }
    for (i = l->encoding_count - 1; i >= 0 && st == TL_OK; i--)
        st = tli_ipc_write_record(w, &l->encodings[i], w->slices[l->encodings[i].first].length, i, err);
    return st == TL_OK ? tli_ipc_write_record(w, &l->columns, rows, -1, err) : st;
}

/* Appends a batch of `rows` rows: an array per column of the schema, each at least that long (they were checked by
   tli_arrow_array_check), and before it the dictionaries they use. On failure `out` is as it was. */
TLI_FN tl_status tli_ipc_write_batch(tl_buffer *out, const struct ArrowSchema *schema,
                                     const struct ArrowArray *const *columns, int64_t rows,
                                     const tl_compression *compression, tl_error *err)
{
    size_t size = out->size;
    tl_allocator a = tli_mem_allocator(&out->allocator);
    tl_error local;
    tli_ipc_writer w;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(&w, 0, sizeof w);
    st = tli_ipc_layout_new(&a, &w.layout, schema, &w.node_count, err);
    if (st != TL_OK)
        return st;
    w.out = out;
    w.compression = compression != NULL && compression->compress != NULL ? compression : NULL;
    w.scratch.allocator = a;
    w.slices = (tli_ipc_slice *)tli_mem_new(&a, (size_t)w.node_count * sizeof *w.slices);
    if (w.slices == NULL)
        st = tli_mem_failed(&a, err);
    else
        st = tli_ipc_write_records(&w, columns, rows, err);
    tl_buffer_free(&w.scratch);
    tli_mem_delete(&a, w.slices, (size_t)w.node_count * sizeof *w.slices);
    tli_ipc_layout_end(&a, &w.layout, w.node_count);
    if (st != TL_OK)
        out->size = size;
    return st;
}

/* Appends the end mark. */
TLI_FN tl_status tli_ipc_write_end(tl_buffer *out, tl_error *err)
{
    static const uint8_t mark[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    return tli_mem_append(out, mark, 8, err);
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
