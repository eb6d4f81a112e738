/* >>schema */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_SCHEMA_FIELD_ID "PARQUET:field_id"

/* A field that is still to be made, and where it goes. */
typedef struct tli_schema_todo {
    struct ArrowSchema **to;
    const tl_json_node *type;
    tl_span name;
    int64_t id;
    uint8_t required;
} tli_schema_todo;

/* Fields wait in a queue, which has room for as many as there are JSON values. */
typedef struct tli_schema {
    tli_store *store;
    const tl_metadata *metadata;
    tli_schema_todo *todo;
    uint32_t count, room;
    tl_error *err;
} tli_schema;

TLI_FN tl_status tli_schema_bad(const tli_schema *s, const tl_json_node *node)
{
    return tli_metadata_bad(node, "a nested type that is not well formed", s->err);
}

TLI_FN tl_status tli_schema_later(tli_schema *s, struct ArrowSchema **to, const tl_json_node *type, tl_span name,
                                  int64_t id, int required)
{
    tli_schema_todo *next = &s->todo[s->count];
    if (type == NULL || s->count == s->room)
        return tli_schema_bad(s, type);
    s->count++;
    next->to = to;
    next->type = type;
    next->name = name;
    next->id = id;
    next->required = (uint8_t)required;
    return TL_OK;
}

/* The Arrow type of a primitive one; 0: there is none. */
TLI_FN int tli_schema_primitive(const tl_field *field, tl_type *type)
{
    static const tl_type_id ids[] = {
        TL_TYPE_NULL, TL_TYPE_BOOL, TL_TYPE_INT32, TL_TYPE_INT64, TL_TYPE_FLOAT32, TL_TYPE_FLOAT64, TL_TYPE_DECIMAL128,
        TL_TYPE_DATE32, TL_TYPE_TIME64, TL_TYPE_TIMESTAMP, TL_TYPE_TIMESTAMP, TL_TYPE_TIMESTAMP, TL_TYPE_TIMESTAMP,
        TL_TYPE_UTF8, TL_TYPE_FIXED_BINARY, TL_TYPE_FIXED_BINARY, TL_TYPE_LARGE_BINARY};
    int zoned = field->type == TL_ICEBERG_TIMESTAMPTZ || field->type == TL_ICEBERG_TIMESTAMPTZ_NS;
    int ns = field->type == TL_ICEBERG_TIMESTAMP_NS || field->type == TL_ICEBERG_TIMESTAMPTZ_NS;
    TLI_FILL(type, 0, sizeof *type);
    type->id = ids[field->type];
    type->unit = ns ? TL_UNIT_NANO : TL_UNIT_MICRO;
    type->zone = tl_text(zoned ? "+00:00" : NULL);
    type->size = field->type == TL_ICEBERG_UUID ? 16 : field->precision;
    type->width = type->id == TL_TYPE_DECIMAL128 ? 16 : 0;
    type->precision = field->precision;
    type->scale = field->scale;
    return field->type != TL_ICEBERG_OTHER;
}

/* A node with its field id; children are for the caller. */
TLI_FN struct ArrowSchema *tli_schema_node(tli_schema *s, const tli_schema_todo *f, const char *format,
                                           int64_t children)
{
    char digits[24];
    tl_span key = tl_text(TLI_SCHEMA_FIELD_ID), id = tli_text_span(digits, tli_number_i64(digits, f->id));
    struct ArrowSchema *node = tli_arrow_schema_new(s->store, format, f->name,
                                                    f->required ? 0 : ARROW_FLAG_NULLABLE, children, s->err);
    if (node == NULL || tli_arrow_schema_metadata(s->store, node, &key, &id, 1, s->err) != TL_OK)
        return NULL;
    *f->to = node;
    return node;
}

/* Queues the members of a struct, or of the table. */
TLI_FN tl_status tli_schema_members(tli_schema *s, struct ArrowSchema *node, const tl_json_node *list)
{
    struct ArrowSchema **to = node->children;
    const tl_json_node *k;
    tl_field field;
    tl_status st = TL_OK;
    for (k = tl_json_first(list); k != NULL && st == TL_OK; k = tl_json_next(list, k)) {
        st = tli_metadata_read_field(s->metadata, k, &field, s->err);
        if (st == TL_OK)
            st = tli_schema_later(s, to++, field.type_node, field.name, field.id, field.required);
    }
    return st;
}

/* Queues the one value of a list, or the key or value of a map: members `what`, `what`-id, `what`-required. */
TLI_FN tl_status tli_schema_part(tli_schema *s, struct ArrowSchema **to, const tl_json_node *type, const char *what,
                                 const char *id_name, const char *required_name)
{
    const tl_metadata *m = s->metadata;
    const tl_json_node *node = tli_metadata_get(m, type, required_name);
    int required = required_name[0] == 0; /* a key */
    int64_t id = 0;
    tl_status st = tl_json_int64(&m->json, tli_metadata_get(m, type, id_name), &id, s->err);
    if (st == TL_OK && tl_json_present(node))
        st = tl_json_bool(&m->json, node, &required, s->err);
    if (st == TL_OK)
        st = tli_schema_later(s, to, tli_metadata_get(m, type, what), tl_text(what), id, required);
    return st == TL_ABSENT ? tli_schema_bad(s, type) : st;
}

TLI_FN tl_status tli_schema_map(tli_schema *s, struct ArrowSchema *map, const tl_json_node *type)
{
    struct ArrowSchema *entries = tli_arrow_schema_new(s->store, "+s", tl_text("key_value"), 0, 2, s->err);
    tl_status st;
    if (entries == NULL)
        return s->err->status;
    map->children[0] = entries;
    st = tli_schema_part(s, &entries->children[0], type, "key", "key-id", "");
    return st == TL_OK ? tli_schema_part(s, &entries->children[1], type, "value", "value-id", "value-required") : st;
}

TLI_FN tl_status tli_schema_nested(tli_schema *s, const tli_schema_todo *f)
{
    const tl_metadata *m = s->metadata;
    const tl_json_node *fields = tli_metadata_get(m, f->type, "fields");
    struct ArrowSchema *node;
    tl_span kind;
    tl_status st = tli_metadata_text(m, f->type, "type", &kind, s->err);
    int is_struct = st == TL_OK && tl_span_equal(kind, tl_text("struct"));
    int is_list = st == TL_OK && tl_span_equal(kind, tl_text("list"));
    if (st != TL_OK)
        return st;
    if (is_struct && (fields == NULL || fields->kind != TL_JSON_ARRAY))
        return tli_schema_bad(s, f->type);
    if (!is_struct && !is_list && !tl_span_equal(kind, tl_text("map")))
        return tli_err(s->err, TL_UNSUPPORTED, "a column of a type that is not known", f->type->start);
    node = tli_schema_node(s, f, is_struct ? "+s" : is_list ? "+l" : "+m", is_struct ? (int64_t)fields->count : 1);
    if (node == NULL)
        return s->err->status;
    if (is_struct)
        return tli_schema_members(s, node, fields);
    return is_list ? tli_schema_part(s, &node->children[0], f->type, "element", "element-id", "element-required")
                   : tli_schema_map(s, node, f->type);
}

TLI_FN tl_status tli_schema_field(tli_schema *s, const tli_schema_todo *f)
{
    const char *format;
    tl_field field;
    tl_type type;
    tl_span name;
    tl_status st;
    if (f->type->kind == TL_JSON_OBJECT)
        return tli_schema_nested(s, f);
    TLI_FILL(&field, 0, sizeof field);
    st = tl_json_string(&s->metadata->json, f->type, &name, s->err);
    if (st != TL_OK)
        return st;
    tli_metadata_type(name, &field);
    if (!tli_schema_primitive(&field, &type))
        return tli_err(s->err, TL_UNSUPPORTED, "a column of a type that is not known", f->type->start);
    st = tli_arrow_format(s->store, &type, &format, s->err);
    return st != TL_OK ? st : tli_schema_node(s, f, format, 0) != NULL ? TL_OK : s->err->status;
}

/* The current schema, in the store. */
TLI_FN tl_status tli_schema_of(tli_store *store, const tl_metadata *m, const tl_limits *limits,
                               struct ArrowSchema **out, tl_error *err)
{
    const tl_json_node *fields = tli_metadata_get(m, m->schema, "fields");
    struct ArrowSchema *root;
    tli_schema s;
    uint32_t i;
    tl_status st;
    TLI_FILL(&s, 0, sizeof s);
    s.store = store;
    s.metadata = m;
    s.err = err;
    s.room = fields->nodes;
    s.todo = (tli_schema_todo *)tli_mem_take_array(store, s.room, sizeof *s.todo, err);
    root = tli_arrow_schema_new(store, "+s", tl_text(""), 0, (int64_t)fields->count, err);
    if (s.todo == NULL || root == NULL)
        return err->status;
    st = tli_schema_members(&s, root, fields);
    for (i = 0; i < s.count && st == TL_OK; i++)
        st = tli_schema_field(&s, &s.todo[i]);
    if (st == TL_OK)
        st = tli_arrow_schema_check(root, limits, NULL, err);
    if (st == TL_MISUSE) /* it is the table that says so */
        st = err->status = TL_CORRUPT;
    *out = root;
    return st;
}

TL_API tl_status tl_metadata_schema(const tl_metadata *metadata, struct ArrowSchema *schema,
                                    const tl_allocator *allocator, tl_error *err)
{
    tl_limits limits = tl_limits_resolve(NULL);
    struct ArrowSchema *made;
    tl_error local;
    tli_store *store;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(schema, 0, sizeof *schema);
    if (metadata == NULL || metadata->schema == NULL)
        return tli_err(err, TL_MISUSE, "tl_metadata_schema: metadata that was not parsed", TL_NO_POSITION);
    store = tli_mem_store_new(allocator, limits.decoded_bytes, NULL, 0, NULL, NULL, err);
    if (store == NULL)
        return err->status;
    st = tli_schema_of(store, metadata, &limits, &made, err);
    if (st == TL_OK)
        st = tl_schema_copy(schema, made, allocator, err);
    tli_mem_store_drop(store);
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
