/* >>avro */
#ifndef TIMELAKE_NO_LAKE
enum { TLI_AVRO_PLAIN, TLI_AVRO_DEFLATE, TLI_AVRO_SNAPPY, TLI_AVRO_ZSTANDARD };

#define TLI_AVRO_NODES 65536u
#define TLI_AVRO_NAMED 1024u /* each use of a named type goes through all of them */
#define TLI_AVRO_EMPTY_ITEMS 65536u /* entries that take no bytes: they cost time all the same */
#define TLI_AVRO_ENTRIES 16384u /* of the header: tl_avro_metadata_at goes through all before the one asked for */
#define TLI_AVRO_BLOCK_FIRST 65536u
/* Events without a byte behind them: so many, and for each byte that was read some more, of which a frame as deep as it
   may be takes two each. Types are shared, so that a schema of a few bytes may stand for millions of them. */
#define TLI_AVRO_IDLE 4194304u
#define TLI_AVRO_IDLE_BYTE (2 * TL_AVRO_DEPTH)

TLI_FN tl_status tli_avro_bad(const tl_avro *a, const uint8_t *at, tl_status status, const char *text, tl_error *err)
{
    uint64_t position = TL_NO_POSITION;
    if (at >= a->start && at <= a->end)
        position = (uint64_t)(at - a->start);
    else if (a->at != NULL) /* in a compressed block: where that block ends */
        position = (uint64_t)(a->at - a->start);
    return tli_err(err, status, text, position);
}

/* ---- primitives: from *at, not past end; NULL: malformed or cut ---- */

TLI_INLINE const uint8_t *tli_avro_long(const uint8_t *at, const uint8_t *end, int64_t *value)
{
    uint64_t v = 0;
    uint32_t shift = 0;
    while (at < end) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return NULL;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = (int64_t)((v >> 1) ^ (0 - (v & 1)));
            return at;
        }
        shift += 7;
        if (shift > 63)
            return NULL;
    }
    return NULL;
}

TLI_INLINE const uint8_t *tli_avro_bytes(const uint8_t *at, const uint8_t *end, tl_span *bytes)
{
    int64_t size;
    at = tli_avro_long(at, end, &size);
    if (at == NULL || size < 0 || size > end - at)
        return NULL;
    *bytes = tli_text_span(at, (size_t)size);
    return at + size;
}

/* A block header of an array or map: how many entries follow (0: the end). */
TLI_FN const uint8_t *tli_avro_block(const uint8_t *at, const uint8_t *end, uint64_t *items)
{
    int64_t count, size;
    at = tli_avro_long(at, end, &count);
    if (at == NULL || count == INT64_MIN)
        return NULL;
    if (count < 0) {
        at = tli_avro_long(at, end, &size);
        if (at == NULL || size < 0 || size > end - at)
            return NULL;
        count = -count;
    }
    *items = (uint64_t)count;
    return at;
}

/* ---- the schema ---- */

/* A type that is to be built: its JSON, and the node it goes to. */
typedef struct tli_avro_todo {
    const tl_json_node *json;
    uint32_t node;
} tli_avro_todo;

typedef struct tli_avro_named {
    tl_span space;
    tl_span name;
    uint32_t node;
    uint32_t todo;  /* how many types were still to be built when this one began: it is whole when fewer are left */
    uint32_t outer; /* the type it began within, plus 1 */
    uint8_t whole;
} tli_avro_named;

typedef struct tli_avro_builder {
    tl_avro *avro;
    tl_avro_node *nodes;
    tli_avro_todo *todo;
    tli_avro_named *named;
    uint32_t todo_count, todo_capacity, named_count, named_capacity;
    uint32_t open; /* the innermost type that is not whole, plus 1 */
    tl_allocator allocator;
    tl_error *err;
} tli_avro_builder;

TLI_FN tl_status tli_avro_schema_bad(const tli_avro_builder *b, const char *text)
{
    return tli_avro_bad(b->avro, (const uint8_t *)b->avro->schema_text.data, TL_CORRUPT, text, b->err);
}

/* Room for one more item: the block, moved or not; NULL with b->err filled. */
TLI_FN void *tli_avro_room(const tli_avro_builder *b, void *items, uint32_t *capacity, uint32_t count, size_t size)
{
    uint32_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *grown;
    if (count < *capacity)
        return items;
    if (more > TLI_AVRO_NODES) {
        (void)tli_err(b->err, TL_LIMIT, "an Avro schema of too many types", TL_NO_POSITION);
        return NULL;
    }
    grown = tli_mem_resize(&b->allocator, items, *capacity * size, more * size);
    if (grown == NULL)
        (void)tli_mem_failed(&b->allocator, b->err);
    else
        *capacity = more;
    return grown;
}

TLI_FN tl_span tli_avro_text(const tli_avro_builder *b, const tl_json_node *object, const char *name)
{
    tl_span s = tli_text_span(NULL, 0);
    const tl_json_node *node = tli_json_named(&b->avro->schema, object, name);
    if (node == NULL || tl_json_string(&b->avro->schema, node, &s, NULL) != TL_OK)
        s = tli_text_span(NULL, 0);
    return s;
}

TLI_FN int32_t tli_avro_id(const tli_avro_builder *b, const tl_json_node *object, const char *name)
{
    int64_t id;
    if (tl_json_int64(&b->avro->schema, tli_json_named(&b->avro->schema, object, name), &id, NULL) != TL_OK
        || id < 0 || id > INT32_MAX)
        return -1;
    return (int32_t)id;
}

/* Adds a child of `parent` that is to be built from `json`. *last: the sibling before it, 0 for the first. */
TLI_FN tl_status tli_avro_child(tli_avro_builder *b, uint32_t parent, uint32_t *last, const tl_json_node *json,
                                int32_t field_id, tl_span name)
{
    tl_avro *a = b->avro;
    uint32_t n = a->node_count;
    tl_avro_node *nodes = (tl_avro_node *)tli_avro_room(b, b->nodes, &a->node_capacity, n, sizeof *nodes);
    tli_avro_todo *todo;
    if (nodes == NULL)
        return b->err->status;
    b->nodes = nodes;
    todo = (tli_avro_todo *)tli_avro_room(b, b->todo, &b->todo_capacity, b->todo_count, sizeof *todo);
    if (todo == NULL)
        return b->err->status;
    b->todo = todo;
    if (json == NULL)
        return tli_avro_schema_bad(b, "an Avro schema with a type that is not there");
    TLI_FILL(&b->nodes[n], 0, sizeof b->nodes[n]);
    b->nodes[n].field_id = field_id;
    b->nodes[n].name = name;
    if (*last == 0)
        b->nodes[parent].first = n;
    else
        b->nodes[*last].next = n;
    b->nodes[parent].count++;
    *last = n;
    a->node_count++;
    b->todo[b->todo_count].json = json;
    b->todo[b->todo_count++].node = n;
    return TL_OK;
}

/* The last part of a dotted name: that is what types are called by here. */
TLI_FN tl_span tli_avro_last(tl_span name)
{
    size_t i;
    for (i = name.size; i > 0; i--)
        if (name.data[i - 1] == '.')
            return tli_text_span(name.data + i, name.size - i);
    return name;
}

TLI_FN int tli_avro_primitive(tl_span name, tl_avro_kind *kind)
{
    static const char *const names[] = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"};
    uint32_t i;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tli_text_is(name, names[i])) {
            *kind = (tl_avro_kind)i;
            return 1;
        }
    return 0;
}

/* A type by its name: a primitive, or one defined before, which is shared. */
TLI_FN tl_status tli_avro_by_name(tli_avro_builder *b, uint32_t node, tl_span name)
{
    tl_avro_node *n = &b->nodes[node];
    uint32_t i;
    if (tli_avro_primitive(name, &n->kind))
        return TL_OK;
    name = tli_avro_last(name);
    for (i = b->named_count; i > 0; i--) {
        const tl_avro_node *def = &b->nodes[b->named[i - 1].node];
        if (!tl_span_equal(b->named[i - 1].name, name))
            continue;
        if (!b->named[i - 1].whole) /* it contains itself */
            return tli_err(b->err, TL_UNSUPPORTED, "an Avro type that contains itself", TL_NO_POSITION);
        n->kind = def->kind;
        n->first = def->first;
        n->count = def->count;
        n->size = def->size;
        n->symbols = def->symbols;
        return TL_OK;
    }
    return tli_avro_schema_bad(b, "an Avro schema with an unknown type");
}

TLI_FN tl_status tli_avro_define(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    tli_avro_named *d;
    if (b->named_count == TLI_AVRO_NAMED)
        return tli_err(b->err, TL_LIMIT, "an Avro schema of too many named types", TL_NO_POSITION);
    d = (tli_avro_named *)tli_avro_room(b, b->named, &b->named_capacity, b->named_count, sizeof *d);
    if (d == NULL)
        return b->err->status;
    b->named = d;
    d = &b->named[b->named_count++];
    d->name = tli_avro_last(tli_avro_text(b, json, "name"));
    d->node = node;
    d->todo = b->todo_count;
    d->outer = b->open;
    d->whole = (uint8_t)(b->nodes[node].kind != TL_AVRO_RECORD);
    if (!d->whole)
        b->open = b->named_count;
    return d->name.size != 0 ? TL_OK : tli_avro_schema_bad(b, "an Avro type without a name");
}

/* The types added since `from` are built in the order they stand in: a name may be used behind its definition. */
TLI_FN void tli_avro_in_order(tli_avro_builder *b, uint32_t from)
{
    uint32_t i, k = b->todo_count;
    for (i = from; i + 1 < k; i++) { /* the last one is taken first */
        tli_avro_todo swap = b->todo[i];
        b->todo[i] = b->todo[--k];
        b->todo[k] = swap;
    }
}

TLI_FN tl_status tli_avro_record(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    const tl_json_node *fields = tli_json_named(&b->avro->schema, json, "fields"), *f;
    uint32_t last = 0, from = b->todo_count;
    tl_status st = tli_avro_define(b, node, json);
    if (st != TL_OK)
        return st;
    if (fields == NULL || fields->kind != TL_JSON_ARRAY)
        return tli_avro_schema_bad(b, "an Avro record without fields");
    for (f = tl_json_first(fields); f != NULL && st == TL_OK; f = tl_json_next(fields, f))
        st = tli_avro_child(b, node, &last, tli_json_named(&b->avro->schema, f, "type"),
                            tli_avro_id(b, f, "field-id"), tli_avro_text(b, f, "name"));
    if (st == TL_OK)
        tli_avro_in_order(b, from);
    return st;
}

TLI_FN tl_status tli_avro_union(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    const tl_json_node *branch;
    uint32_t last = 0, from = b->todo_count;
    tl_status st = TL_OK;
    b->nodes[node].kind = TL_AVRO_UNION;
    if (json->count == 0)
        return tli_avro_schema_bad(b, "an Avro union of nothing");
    for (branch = tl_json_first(json); branch != NULL && st == TL_OK; branch = tl_json_next(json, branch))
        st = branch->kind == TL_JSON_ARRAY ? tli_avro_schema_bad(b, "an Avro union in a union")
                                           : tli_avro_child(b, node, &last, branch, b->nodes[node].field_id,
                                                            b->nodes[node].name);
    if (st == TL_OK)
        tli_avro_in_order(b, from);
    return st;
}

TLI_FN tl_status tli_avro_complex(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    const tl_json *t = &b->avro->schema;
    const tl_json_node *inner = tli_json_named(t, json, "type");
    tl_span type = tli_avro_text(b, json, "type"), none = tli_text_span(NULL, 0);
    uint32_t last = 0;
    if (type.data == NULL && inner != NULL && inner->kind != TL_JSON_STRING) { /* {"type": {...}} says nothing more */
        b->todo[b->todo_count].json = inner; /* the place it was taken from is free */
        b->todo[b->todo_count++].node = node;
        return TL_OK;
    }
    if (tli_text_is(type, "record") || tli_text_is(type, "error")) {
        b->nodes[node].kind = TL_AVRO_RECORD;
        b->nodes[node].size = (int32_t)node;
        return tli_avro_record(b, node, json);
    }
    if (tli_text_is(type, "array")) {
        b->nodes[node].kind = TL_AVRO_ARRAY;
        return tli_avro_child(b, node, &last, tli_json_named(t, json, "items"),
                              tli_avro_id(b, json, "element-id"), none);
    }
    if (tli_text_is(type, "map")) {
        b->nodes[node].kind = TL_AVRO_MAP;
        return tli_avro_child(b, node, &last, tli_json_named(t, json, "values"),
                              tli_avro_id(b, json, "value-id"), none);
    }
    if (tli_text_is(type, "enum")) {
        b->nodes[node].kind = TL_AVRO_ENUM;
        b->nodes[node].symbols = tli_json_named(t, json, "symbols");
        if (b->nodes[node].symbols == NULL || b->nodes[node].symbols->kind != TL_JSON_ARRAY)
            return tli_avro_schema_bad(b, "an Avro enum without symbols");
        return tli_avro_define(b, node, json);
    }
    if (tli_text_is(type, "fixed")) {
        b->nodes[node].kind = TL_AVRO_FIXED;
        b->nodes[node].size = tli_avro_id(b, json, "size");
        return b->nodes[node].size >= 0 ? tli_avro_define(b, node, json)
                                        : tli_avro_schema_bad(b, "an Avro fixed without a size");
    }
    return tli_avro_by_name(b, node, type);
}

/* The fewest bytes a value of each node takes, plus 1: 0 is not known yet. Children have higher numbers than their
   parents, but for shared ones whose type was whole before: those count nothing, and a lower bound stays one. */
TLI_FN void tli_avro_measure(tl_avro_node *nodes, uint32_t count)
{
    uint32_t i, k, c;
    for (i = count; i > 0; i--) {
        tl_avro_node *n = &nodes[i - 1], *type;
        uint64_t sum = 0;
        switch (n->kind) {
        case TL_AVRO_NULL:
            break;
        case TL_AVRO_FLOAT:
            sum = 4;
            break;
        case TL_AVRO_DOUBLE:
            sum = 8;
            break;
        case TL_AVRO_FIXED:
            sum = (uint64_t)n->size;
            break;
        case TL_AVRO_RECORD: /* gone through once, however often it is used */
            type = &nodes[n->size];
            if (type->least == 0 && type->first >= i) {
                for (k = 0, c = type->first; k < type->count; k++, c = nodes[c].next)
                    sum += nodes[c].least - 1;
                type->least = (uint32_t)TLI_MIN(sum, 1u << 30) + 1;
            }
            sum = type->least == 0 ? 0 : type->least - 1;
            break;
        default:
            sum = 1;
            break;
        }
        n->least = (uint32_t)TLI_MIN(sum, 1u << 30) + 1;
    }
    for (i = 0; i < count; i++)
        nodes[i].least--;
}

TLI_FN tl_status tli_avro_build(tli_avro_builder *b)
{
    tl_avro *a = b->avro;
    uint32_t last = 0;
    tl_span none = tli_text_span(NULL, 0), name;
    tl_status st;
    b->nodes = (tl_avro_node *)tli_avro_room(b, NULL, &a->node_capacity, 0, sizeof *b->nodes);
    if (b->nodes == NULL)
        return b->err->status;
    TLI_FILL(b->nodes, 0, sizeof *b->nodes);
    a->node_count = 1;
    st = tli_avro_child(b, 0, &last, a->schema.root, -1, none); /* node 1; node 0 becomes the row when all is built */
    while (st == TL_OK && b->todo_count != 0) {
        tli_avro_todo t = b->todo[--b->todo_count];
        for (; b->open != 0 && b->named[b->open - 1].todo > b->todo_count; b->open = b->named[b->open - 1].outer)
            b->named[b->open - 1].whole = 1;
        if (t.json->kind == TL_JSON_STRING) {
            st = tl_json_string(&a->schema, t.json, &name, b->err);
            if (st == TL_OK)
                st = tli_avro_by_name(b, t.node, name);
        } else if (t.json->kind == TL_JSON_ARRAY) {
            st = tli_avro_union(b, t.node, t.json);
        } else if (t.json->kind == TL_JSON_OBJECT) {
            st = tli_avro_complex(b, t.node, t.json);
        } else {
            st = tli_avro_schema_bad(b, "an Avro schema with a type that is none");
        }
    }
    if (st == TL_OK) {
        tli_avro_measure(b->nodes, a->node_count);
        b->nodes[0] = b->nodes[1];
        if (b->nodes[0].kind != TL_AVRO_RECORD)
            st = tli_err(b->err, TL_UNSUPPORTED, "an Avro file whose rows are no records", TL_NO_POSITION);
    }
    return st;
}

/* ---- the header ---- */

/* The entry at *at of metadata blocks that were checked before. */
TLI_FN int tli_avro_entry(const uint8_t **at, const uint8_t *end, uint64_t *items, tl_span *key, tl_span *value)
{
    while (*items == 0) {
        *at = tli_avro_block(*at, end, items);
        if (*at == NULL || *items == 0)
            return 0;
    }
    (*items)--;
    *at = tli_avro_bytes(*at, end, key);
    if (*at != NULL)
        *at = tli_avro_bytes(*at, end, value);
    return *at != NULL;
}

TL_API int tl_avro_metadata_at(const tl_avro *avro, uint32_t i, tl_span *key, tl_span *value)
{
    const uint8_t *at = avro->header;
    uint64_t items = 0;
    uint32_t n = 0;
    while (tli_avro_entry(&at, avro->header_end, &items, key, value))
        if (n++ == i)
            return 1;
    return 0;
}

TL_API tl_span tl_avro_metadata(const tl_avro *avro, tl_span key)
{
    const uint8_t *at = avro->header;
    uint64_t items = 0;
    tl_span k, value, found = tli_text_span(NULL, 0);
    while (tli_avro_entry(&at, avro->header_end, &items, &k, &value))
        if (tl_span_equal(k, key))
            found = value;
    return found;
}

TLI_FN tl_status tli_avro_read_header(tl_avro *a, tl_error *err)
{
    const uint8_t *at = a->start + 4;
    uint64_t items = 0;
    uint32_t n = 0;
    tl_span key, value;
    static const char *const codecs[] = {"null", "deflate", "snappy", "zstandard"};
    if (a->end - a->start < 4 || TLI_COMPARE(a->start, "Obj\1", 4) != 0)
        return tli_avro_bad(a, a->start, TL_CORRUPT, "not an Avro file", err);
    a->header = at;
    while (n <= TLI_AVRO_ENTRIES && tli_avro_entry(&at, a->end, &items, &key, &value))
        n++;
    if (n > TLI_AVRO_ENTRIES)
        return tli_avro_bad(a, at, TL_LIMIT, "the header of an Avro file has too many entries", err);
    if (at == NULL || a->end - at < 16)
        return tli_avro_bad(a, a->header, TL_TRUNCATED, "the header of an Avro file is malformed or cut", err);
    a->header_end = at;
    TLI_COPY(a->sync, at, 16);
    a->at = at + 16;
    value = tl_avro_metadata(a, tl_text("avro.codec"));
    for (a->codec = 0; a->codec < 4; a->codec++)
        if (value.data == NULL || value.size == 0 || tli_text_is(value, codecs[a->codec]))
            break;
    if (a->codec == 4)
        return tli_avro_bad(a, (const uint8_t *)value.data, TL_UNSUPPORTED, "an Avro codec that is not built in", err);
    a->schema_text = tl_avro_metadata(a, tl_text("avro.schema"));
    if (a->schema_text.data == NULL)
        return tli_avro_bad(a, a->header, TL_CORRUPT, "an Avro file without a schema", err);
    return TL_OK;
}

TL_API tl_status tl_avro_open(tl_avro *avro, const void *bytes, size_t size, const tl_limits *limits,
                              const tl_allocator *allocator, tl_error *err)
{
    tl_limits l = tl_limits_resolve(limits);
    tli_avro_builder b;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(avro, 0, sizeof *avro);
    TLI_FILL(&b, 0, sizeof b);
    avro->block.allocator = tli_mem_allocator(allocator);
    avro->start = (const uint8_t *)bytes;
    avro->end = avro->start + size;
    avro->row_limit = l.rows;
    avro->decoded_limit = l.decoded_bytes;
    st = tli_avro_read_header(avro, err);
    if (st == TL_OK)
        st = tl_json_parse(&avro->schema, avro->schema_text.data, avro->schema_text.size, &l, allocator, err);
    if (st == TL_OK) {
        b.avro = avro;
        b.allocator = avro->block.allocator;
        b.err = err;
        st = tli_avro_build(&b);
        avro->nodes = b.nodes;
        tli_mem_delete(&b.allocator, b.todo, b.todo_capacity * sizeof *b.todo);
        tli_mem_delete(&b.allocator, b.named, b.named_capacity * sizeof *b.named);
    }
    if (st != TL_OK)
        tl_avro_close(avro);
    return st;
}

TL_API void tl_avro_close(tl_avro *avro)
{
    tl_allocator a = tli_mem_allocator(&avro->block.allocator);
    tli_mem_delete(&a, (void *)(uintptr_t)avro->nodes, avro->node_capacity * sizeof *avro->nodes);
    if (avro->schema.root != NULL)
        tl_json_free(&avro->schema);
    tl_buffer_free(&avro->block);
    TLI_FILL(avro, 0, sizeof *avro);
}

/* ---- blocks ---- */

TLI_FN tl_status tli_avro_inflate_snappy(tl_avro *a, const uint8_t *data, size_t size, tl_error *err)
{
    tl_status st;
    if (size < 4)
        return tli_avro_bad(a, data, TL_TRUNCATED, "a snappy block without its checksum", err);
    st = tli_snappy_decode(&a->block, (size_t)a->decoded_limit, data, size - 4, err);
    if (st != TL_OK)
        return st;
    if (tli_hash_crc32(a->block.data, a->block.size) != tli_bits_swap32(tli_bits_le32(data + size - 4)))
        return tli_avro_bad(a, data, TL_CHECKSUM, "the CRC-32 of a snappy block does not match", err);
    return TL_OK;
}

/* Frames may not tell their size: then the room doubles until it is enough. */
TLI_FN tl_status tli_avro_inflate_zstandard(tl_avro *a, const uint8_t *data, size_t size, tl_error *err)
{
#ifdef TIMELAKE_NO_HEAD_ARROW
    (void)size;
    return tli_avro_bad(a, data, TL_UNSUPPORTED, "zstandard blocks: the decoder is not compiled in", err);
#else
    uint64_t plain;
    size_t room, got = 0;
    tl_status st = tl_zstd_content_size(data, size, &plain, err);
    if (st != TL_OK)
        return st;
    room = plain == UINT64_MAX ? TLI_AVRO_BLOCK_FIRST : (size_t)TLI_MIN(plain, a->decoded_limit);
    if (plain != UINT64_MAX && (plain > a->decoded_limit || plain / 131072 > size))
        return tli_avro_bad(a, data, TL_LIMIT, "a zstandard block of more bytes than may be", err);
    for (;;) {
        st = tli_mem_reserve(&a->block, room, err);
        if (st != TL_OK)
            return st;
        st = tl_zstd_decompress(a->block.data, a->block.capacity, &got, data, size, &a->block.allocator, err);
        if (st != TL_LIMIT || plain != UINT64_MAX || room > a->decoded_limit / 2 || room / 131072 > size)
            break;
        room *= 2;
    }
    a->block.size = got;
    return st;
#endif
}

/* Takes up the next block. *more 0: the file ends. */
TLI_FN tl_status tli_avro_next_block(tl_avro *a, int *more, tl_error *err)
{
    const uint8_t *at = a->at;
    int64_t rows = 0, size = 0;
    tl_status st = TL_OK;
    *more = 0;
    if (at == a->end)
        return TL_OK;
    at = tli_avro_long(at, a->end, &rows);
    if (at != NULL)
        at = tli_avro_long(at, a->end, &size);
    if (at == NULL || rows < 0 || size < 0 || size > a->end - at || a->end - at - size < 16)
        return tli_avro_bad(a, a->at, TL_TRUNCATED, "an Avro block is malformed or cut", err);
    if (TLI_COMPARE(at + size, a->sync, 16) != 0)
        return tli_avro_bad(a, at + size, TL_CORRUPT, "an Avro block does not end in the sync marker", err);
    a->at = at + size + 16;
    a->data = at;
    a->data_end = at + size;
    a->block.size = 0;
    if (a->codec == TLI_AVRO_DEFLATE)
        st = tli_inflate_decode(&a->block, (size_t)a->decoded_limit, at, (size_t)size, err);
    else if (a->codec == TLI_AVRO_SNAPPY)
        st = tli_avro_inflate_snappy(a, at, (size_t)size, err);
    else if (a->codec == TLI_AVRO_ZSTANDARD)
        st = tli_avro_inflate_zstandard(a, at, (size_t)size, err);
    if (st != TL_OK)
        return st;
    if (a->codec != TLI_AVRO_PLAIN) {
        a->data = a->block.data;
        a->data_end = a->data == NULL ? NULL : a->data + a->block.size;
    }
    a->data_at = a->data;
    a->seen = NULL;
    a->block_rows = (uint64_t)rows;
    if (a->block_rows * a->nodes[0].least > (uint64_t)(a->data_end - a->data)
        || (a->nodes[0].least == 0 && a->block_rows > TLI_AVRO_EMPTY_ITEMS) || a->block_rows > a->row_limit - a->rows)
        return tli_avro_bad(a, at, TL_CORRUPT, "an Avro block of more rows than its bytes can hold", err);
    *more = 1;
    return TL_OK;
}

/* ---- values ---- */

TLI_FN tl_status tli_avro_cut(tl_avro *a, tl_error *err)
{
    return tli_avro_bad(a, a->data_at, TL_CORRUPT, "an Avro value is malformed or ends past its block", err);
}

TLI_FN tl_status tli_avro_open_frame(tl_avro *a, const tl_avro_node *node, const tl_avro_node *field, tl_error *err)
{
    tl_avro_frame *f;
    if (a->depth == TL_AVRO_DEPTH)
        return tli_avro_bad(a, a->data_at, TL_LIMIT, "an Avro value of too deep nesting", err);
    f = &a->frames[a->depth++];
    f->node = node;
    f->field = field;
    f->child = node->first;
    f->left = node->count;
    f->items = 0;
    f->ended = f->keyed = 0;
    return TL_OK;
}

TLI_INLINE tl_status tli_avro_scalar(tl_avro *a, const tl_avro_node *n, tl_avro_value *v, tl_error *err)
{
    const uint8_t *at = a->data_at, *end = a->data_end;
    uint32_t bits;
    uint64_t wide;
    float single;
    switch (n->kind) {
    case TL_AVRO_NULL:
        return TL_OK;
    case TL_AVRO_BOOLEAN:
        if (at == end || *at > 1)
            return tli_avro_cut(a, err);
        v->number = *at++;
        break;
    case TL_AVRO_INT:
    case TL_AVRO_ENUM:
    case TL_AVRO_LONG:
        at = tli_avro_long(at, end, &v->number);
        if (at == NULL || (n->kind != TL_AVRO_LONG && (v->number < INT32_MIN || v->number > INT32_MAX))
            || (n->kind == TL_AVRO_ENUM && (v->number < 0 || v->number >= (int64_t)n->symbols->count)))
            return tli_avro_cut(a, err);
        break;
    case TL_AVRO_FLOAT:
        if (end - at < 4)
            return tli_avro_cut(a, err);
        bits = tli_bits_le32(at);
        TLI_COPY(&single, &bits, 4);
        v->real = (double)single;
        at += 4;
        break;
    case TL_AVRO_DOUBLE:
        if (end - at < 8)
            return tli_avro_cut(a, err);
        wide = tli_bits_le64(at);
        TLI_COPY(&v->real, &wide, 8);
        at += 8;
        break;
    case TL_AVRO_FIXED:
        if (end - at < n->size)
            return tli_avro_cut(a, err);
        v->bytes = tli_text_span(at, (size_t)n->size);
        at += n->size;
        break;
    default:
        at = tli_avro_bytes(at, end, &v->bytes);
        if (at == NULL || (n->kind == TL_AVRO_STRING && tli_text_utf8(v->bytes.data, v->bytes.size) != v->bytes.size))
            return tli_avro_cut(a, err);
        break;
    }
    a->data_at = at;
    return TL_OK;
}

/* A value of `field` begins: a scalar whole, of anything else its begin. */
TLI_INLINE tl_status tli_avro_begin(tl_avro *a, const tl_avro_node *field, tl_avro_value *v, tl_error *err)
{
    const tl_avro_node *n = field;
    int64_t branch;
    if (n->kind == TL_AVRO_UNION) {
        const uint8_t *at = tli_avro_long(a->data_at, a->data_end, &branch);
        if (at == NULL || branch < 0 || branch >= (int64_t)n->count)
            return tli_avro_cut(a, err);
        a->data_at = at;
        n = &a->nodes[n->first + (uint32_t)branch]; /* children lie side by side */
    }
    v->node = n;
    v->field = field;
    if (n->kind < TL_AVRO_RECORD) {
        v->event = TL_AVRO_VALUE;
        return tli_avro_scalar(a, n, v, err);
    }
    v->event = TL_AVRO_BEGIN;
    return tli_avro_open_frame(a, n, field, err);
}

/* The next entry of an array or map, or its end. */
TLI_FN tl_status tli_avro_item(tl_avro *a, tl_avro_frame *f, tl_avro_value *v, tl_error *err)
{
    const tl_avro_node *element = &a->nodes[f->node->first];
    const uint8_t *at;
    while (f->items == 0) {
        uint64_t least = element->least + (f->node->kind == TL_AVRO_MAP);
        at = tli_avro_block(a->data_at, a->data_end, &f->items);
        if (at == NULL || f->items * TLI_MIN(least, 1u) > (uint64_t)(a->data_end - at)
            || (least == 0 && f->items > TLI_AVRO_EMPTY_ITEMS))
            return tli_avro_cut(a, err);
        a->data_at = at;
        if (f->items == 0) {
            v->event = TL_AVRO_END;
            v->node = f->node;
            v->field = f->field;
            a->depth--;
            return TL_OK;
        }
    }
    if (f->node->kind == TL_AVRO_MAP && !f->keyed) {
        at = tli_avro_bytes(a->data_at, a->data_end, &v->bytes);
        if (at == NULL || tli_text_utf8(v->bytes.data, v->bytes.size) != v->bytes.size)
            return tli_avro_cut(a, err);
        a->data_at = at;
        f->keyed = 1;
        v->event = TL_AVRO_KEY;
        v->node = v->field = f->node;
        return TL_OK;
    }
    f->keyed = 0;
    f->items--;
    return tli_avro_begin(a, element, v, err);
}

/* Between rows: the next row begins, in this block or the next. */
TLI_FN tl_status tli_avro_row(tl_avro *a, tl_avro_value *v, tl_error *err)
{
    int more = 1;
    tl_status st;
    if (a->begun) {
        a->begun = 0;
        a->rows++;
        v->event = TL_AVRO_ROW;
        v->node = v->field = &a->nodes[0];
        return TL_OK;
    }
    while (a->block_rows == 0) {
        if (a->data_at != a->data_end)
            return tli_avro_bad(a, a->data_at, TL_CORRUPT, "an Avro block of more bytes than its rows take", err);
        st = tli_avro_next_block(a, &more, err);
        if (st != TL_OK)
            return st;
        if (!more) {
            v->event = TL_AVRO_EOF;
            return TL_OK;
        }
    }
    a->block_rows--;
    a->begun = 1;
    return tli_avro_begin(a, &a->nodes[0], v, err);
}

TL_API tl_status tl_avro_next(tl_avro *avro, tl_avro_value *value, tl_error *err)
{
    tl_avro_frame *f;
    const tl_avro_node *field;
    value->bytes = tli_text_span(NULL, 0);
    value->number = 0;
    value->real = 0;
    if (avro->data_at != avro->seen) {
        size_t paid = avro->seen == NULL ? 1 : (size_t)(avro->data_at - avro->seen);
        paid = TLI_MIN(paid, (size_t)TLI_AVRO_IDLE) * TLI_AVRO_IDLE_BYTE;
        avro->idle -= (uint32_t)TLI_MIN(paid, (size_t)avro->idle);
        avro->seen = avro->data_at;
    } else if (++avro->idle > TLI_AVRO_IDLE) {
        return tli_avro_bad(avro, avro->data_at, TL_LIMIT, "an Avro value of too many parts without a byte", err);
    }
    if (avro->depth == 0)
        return tli_avro_row(avro, value, err);
    f = &avro->frames[avro->depth - 1];
    if (f->node->kind != TL_AVRO_RECORD)
        return tli_avro_item(avro, f, value, err);
    if (f->left == 0) {
        value->event = TL_AVRO_END;
        value->node = f->node;
        value->field = f->field;
        avro->depth--;
        return TL_OK;
    }
    field = &avro->nodes[f->child];
    f->child = field->next;
    f->left--;
    return tli_avro_begin(avro, field, value, err);
}
#endif /* TIMELAKE_NO_LAKE */
