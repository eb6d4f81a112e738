/* >>metadata */
#ifndef TIMELAKE_NO_LAKE

TLI_FN const tl_json_node *tli_metadata_get(const tl_metadata *m, const tl_json_node *object, const char *name)
{
    return tli_json_named(&m->json, object, name);
}

TLI_FN tl_status tli_metadata_bad(const tl_json_node *node, const char *text, tl_error *err)
{
    return tli_err(err, TL_CORRUPT, text, node == NULL ? 0 : node->start);
}

/* An integer member; absent or null: `absent`. */
TLI_FN tl_status tli_metadata_int(const tl_metadata *m, const tl_json_node *object, const char *name, int64_t absent,
                                  int64_t *value, tl_error *err)
{
    const tl_json_node *node = tli_metadata_get(m, object, name);
    *value = absent;
    return tl_json_present(node) ? tl_json_int64(&m->json, node, value, err) : TL_OK;
}

/* A string member; absent or null: an absent span. */
TLI_FN tl_status tli_metadata_text(const tl_metadata *m, const tl_json_node *object, const char *name, tl_span *value,
                                   tl_error *err)
{
    const tl_json_node *node = tli_metadata_get(m, object, name);
    *value = tli_text_span(NULL, 0);
    return tl_json_present(node) ? tl_json_string(&m->json, node, value, err) : TL_OK;
}

/* The member of an array of objects whose `key` is `id`; *found NULL when there is none. */
TLI_FN tl_status tli_metadata_by_id(const tl_metadata *m, const tl_json_node *array, const char *key, int64_t id,
                                    const tl_json_node **found, tl_error *err)
{
    const tl_json_node *k;
    *found = NULL;
    if (!tl_json_present(array))
        return TL_OK;
    if (array->kind != TL_JSON_ARRAY)
        return tli_metadata_bad(array, "not a list", err);
    for (k = tl_json_first(array); k != NULL; k = tl_json_next(array, k)) {
        const tl_json_node *node = tli_metadata_get(m, k, key);
        int64_t value;
        tl_status st = node == NULL ? tli_metadata_bad(k, "an entry without its id", err)
                                    : tl_json_int64(&m->json, node, &value, err);
        if (st != TL_OK)
            return st;
        if (value == id)
            *found = k;
    }
    return TL_OK;
}

/* ---- the schema ---- */

/* "(a, b)" or "[n]" behind a type's name: two small numbers. */
TLI_FN int tli_metadata_numbers(tl_span s, char open, char close, int32_t *first, int32_t *second)
{
    int32_t n[2] = {0, 0};
    size_t i, at = 0, digits = 0;
    if (s.size < 3 || s.data[0] != open || s.data[s.size - 1] != close)
        return 0;
    for (i = 1; i + 1 < s.size; i++) {
        char c = s.data[i];
        if (c >= '0' && c <= '9' && n[at] < 10000000) {
            n[at] = n[at] * 10 + (c - '0');
            digits++;
        } else if (c == ',' && at == 0 && second != NULL && digits != 0) {
            at = 1;
            digits = 0;
        } else if (c != ' ')
            return 0;
    }
    *first = n[0];
    if (second != NULL)
        *second = n[1];
    return digits != 0;
}

TLI_FN void tli_metadata_type(tl_span s, tl_field *f)
{
    static const struct {
        const char *name;
        tl_iceberg_type type;
    } names[] = {{"boolean", TL_ICEBERG_BOOLEAN},           {"int", TL_ICEBERG_INT},
                 {"long", TL_ICEBERG_LONG},                 {"float", TL_ICEBERG_FLOAT},
                 {"double", TL_ICEBERG_DOUBLE},             {"date", TL_ICEBERG_DATE},
                 {"time", TL_ICEBERG_TIME},                 {"timestamp", TL_ICEBERG_TIMESTAMP},
                 {"timestamptz", TL_ICEBERG_TIMESTAMPTZ},   {"timestamp_ns", TL_ICEBERG_TIMESTAMP_NS},
                 {"timestamptz_ns", TL_ICEBERG_TIMESTAMPTZ_NS}, {"string", TL_ICEBERG_STRING},
                 {"uuid", TL_ICEBERG_UUID},                 {"binary", TL_ICEBERG_BINARY}};
    size_t i;
    f->type = TL_ICEBERG_OTHER;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tli_text_is(s, names[i].name))
            f->type = names[i].type;
    if (s.size > 7 && TLI_COMPARE(s.data, "decimal", 7) == 0
        && tli_metadata_numbers(tli_text_span(s.data + 7, s.size - 7), '(', ')', &f->precision, &f->scale))
        f->type = TL_ICEBERG_DECIMAL;
    if (s.size > 5 && TLI_COMPARE(s.data, "fixed", 5) == 0
        && tli_metadata_numbers(tli_text_span(s.data + 5, s.size - 5), '[', ']', &f->precision, NULL))
        f->type = TL_ICEBERG_FIXED;
}

TLI_FN tl_status tli_metadata_read_field(const tl_metadata *m, const tl_json_node *node, tl_field *f, tl_error *err)
{
    const tl_json_node *required = tli_metadata_get(m, node, "required");
    int64_t id;
    int truth = 0;
    tl_span type;
    tl_status st = tl_json_int64(&m->json, tli_metadata_get(m, node, "id"), &id, err);
    TLI_FILL(f, 0, sizeof *f);
    f->type_node = tli_metadata_get(m, node, "type");
    if (st == TL_ABSENT || (st == TL_OK && (id < INT32_MIN || id > INT32_MAX || f->type_node == NULL)))
        return tli_metadata_bad(node, "a column without a valid id and type", err);
    if (st == TL_OK)
        st = tli_metadata_text(m, node, "name", &f->name, err);
    if (st == TL_OK && f->name.data == NULL)
        return tli_metadata_bad(node, "a column without a name", err);
    if (st == TL_OK && tl_json_present(required))
        st = tl_json_bool(&m->json, required, &truth, err);
    if (st != TL_OK)
        return st;
    f->id = (int32_t)id;
    f->required = (uint8_t)truth;
    if (f->type_node->kind == TL_JSON_STRING) {
        st = tl_json_string(&m->json, f->type_node, &type, err);
        if (st == TL_OK)
            tli_metadata_type(type, f);
    }
    return st;
}

TLI_FN tl_status tli_metadata_read_schema(tl_metadata *m, const tl_limits *limits, tl_error *err)
{
    const tl_json_node *root = m->json.root, *list, *k;
    tl_field *fields;
    uint32_t n = 0;
    tl_status st = tli_metadata_by_id(m, tli_metadata_get(m, root, "schemas"), "schema-id", m->current_schema_id,
                                      &m->schema, err);
    if (st != TL_OK)
        return st;
    if (m->schema == NULL && !tl_json_present(tli_metadata_get(m, root, "schemas"))) /* format 1 */
        m->schema = tli_metadata_get(m, root, "schema");
    list = tli_metadata_get(m, m->schema, "fields");
    if (list == NULL || list->kind != TL_JSON_ARRAY)
        return tli_metadata_bad(m->schema, "the current schema is not there", err);
    if (list->count > limits->columns)
        return tli_err_need(err, TL_LIMIT, "limits.columns", list->start, list->count);
    fields = (tl_field *)tli_mem_new(&m->json.allocator, (size_t)list->count * sizeof *fields);
    if (fields == NULL)
        return tli_mem_failed(&m->json.allocator, err);
    m->fields = fields;
    m->field_count = list->count;
    for (k = tl_json_first(list); k != NULL && st == TL_OK; k = tl_json_next(list, k))
        st = tli_metadata_read_field(m, k, &fields[n++], err);
    return st;
}

/* ---- the partition spec ---- */

TLI_FN tl_transform tli_metadata_transform(tl_span s)
{
    static const struct {
        const char *name;
        tl_transform transform;
    } names[] = {{"identity", TL_TRANSFORM_IDENTITY}, {"hour", TL_TRANSFORM_HOUR}, {"day", TL_TRANSFORM_DAY},
                 {"month", TL_TRANSFORM_MONTH},       {"year", TL_TRANSFORM_YEAR}, {"void", TL_TRANSFORM_VOID}};
    size_t i;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tli_text_is(s, names[i].name))
            return names[i].transform;
    return TL_TRANSFORM_OTHER;
}

TLI_FN tl_status tli_metadata_read_spec(tl_metadata *m, tl_error *err)
{
    const tl_json_node *root = m->json.root, *spec, *fields, *first;
    int64_t source, field;
    tl_span transform;
    tl_status st = tli_metadata_by_id(m, tli_metadata_get(m, root, "partition-specs"), "spec-id", m->default_spec_id,
                                      &spec, err);
    if (st != TL_OK)
        return st;
    fields = spec != NULL ? tli_metadata_get(m, spec, "fields") : tli_metadata_get(m, root, "partition-spec");
    if (spec == NULL && tl_json_present(tli_metadata_get(m, root, "partition-specs")))
        return tli_metadata_bad(tli_metadata_get(m, root, "partition-specs"), "the default partition spec is not there",
                                err);
    if (!tl_json_present(fields))
        return TL_OK;
    if (fields->kind != TL_JSON_ARRAY)
        return tli_metadata_bad(fields, "not a list", err);
    m->partition_fields = fields;
    m->partitioned = fields->count != 0;
    if (fields->count != 1)
        return TL_OK;
    first = tl_json_first(fields);
    st = tli_metadata_int(m, first, "source-id", 0, &source, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, first, "field-id", 1000, &field, err); /* format 1 has none: they begin at 1000 */
    if (st == TL_OK)
        st = tli_metadata_text(m, first, "transform", &transform, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, first, "name", &m->partition_name, err);
    if (st != TL_OK)
        return st;
    if (source < INT32_MIN || source > INT32_MAX || field < INT32_MIN || field > INT32_MAX)
        return tli_metadata_bad(first, "a partition field without a valid source", err);
    m->partition_source_id = (int32_t)source;
    m->partition_field_id = (int32_t)field;
    m->transform = tli_metadata_transform(transform);
    return TL_OK;
}

/* ---- the current snapshot ---- */

/* What refs.main says, which must agree with current-snapshot-id where both are. */
TLI_FN tl_status tli_metadata_main(const tl_metadata *m, int64_t *id, tl_error *err)
{
    const tl_json_node *main_ref = tli_metadata_get(m, tli_metadata_get(m, m->json.root, "refs"), "main");
    *id = -1;
    return tl_json_present(main_ref) ? tli_metadata_int(m, main_ref, "snapshot-id", -1, id, err) : TL_OK;
}

TLI_FN tl_status tli_metadata_read_snapshot(tl_metadata *m, tl_error *err)
{
    const tl_json_node *root = m->json.root, *node = tli_metadata_get(m, root, "current-snapshot-id");
    int64_t id, main_id, parent;
    tl_status st = tli_metadata_int(m, root, "current-snapshot-id", -1, &id, err);
    if (st == TL_OK)
        st = tli_metadata_main(m, &main_id, err);
    if (st != TL_OK)
        return st;
    if (id != -1 && main_id != -1 && id != main_id)
        return tli_metadata_bad(node, "current-snapshot-id and refs.main name different snapshots", err);
    if (id == -1)
        id = main_id;
    if (id == -1) /* -1, null and absent: a table without a snapshot */
        return TL_OK;
    st = tli_metadata_by_id(m, tli_metadata_get(m, root, "snapshots"), "snapshot-id", id, &m->snapshot, err);
    if (st == TL_OK && m->snapshot == NULL)
        return tli_metadata_bad(node != NULL ? node : root, "the current snapshot is not in the list", err);
    if (st == TL_OK)
        st = tli_metadata_int(m, m->snapshot, "parent-snapshot-id", -1, &parent, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, m->snapshot, "manifest-list", &m->manifest_list, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, tli_metadata_get(m, m->snapshot, "summary"), "timelake.last-value-index",
                               &m->last_value_index, err);
    m->current_snapshot_id = id;
    m->has_snapshot = 1;
    return st;
}

/* ---- the whole ---- */

TLI_FN tl_status tli_metadata_read_top(tl_metadata *m, tl_error *err)
{
    const tl_json_node *root = m->json.root, *log;
    int64_t version;
    tl_status st;
    if (root->kind != TL_JSON_OBJECT)
        return tli_metadata_bad(root, "table metadata is not an object", err);
    st = tli_metadata_int(m, root, "format-version", 0, &version, err);
    if (st == TL_OK && version < 1)
        return tli_metadata_bad(root, "table metadata without a format-version", err);
    if (st == TL_OK && version > 3)
        return tli_err(err, TL_UNSUPPORTED, "an Iceberg format version above 3",
                       tli_metadata_get(m, root, "format-version")->start);
    m->format_version = (int32_t)version;
    if (st == TL_OK)
        st = tli_metadata_text(m, root, "location", &m->location, err);
    if (st == TL_OK && m->location.data == NULL)
        return tli_metadata_bad(root, "table metadata without a location", err);
    while (m->location.size != 0 && m->location.data[m->location.size - 1] == '/')
        m->location.size--;
    if (st == TL_OK)
        st = tli_metadata_text(m, root, "table-uuid", &m->uuid, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "last-sequence-number", 0, &m->last_sequence_number, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "last-updated-ms", 0, &m->last_updated_ms, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "current-schema-id", 0, &m->current_schema_id, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "default-spec-id", 0, &m->default_spec_id, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "default-sort-order-id", 0, &m->default_sort_order_id, err);
    log = tli_metadata_get(m, root, "metadata-log");
    if (st == TL_OK && log != NULL && log->kind == TL_JSON_ARRAY && log->count != 0)
        st = tli_metadata_text(m, tl_json_at(log, log->count - 1), "metadata-file", &m->previous, err);
    return st;
}

TL_API tl_status tl_metadata_parse(tl_metadata *metadata, const char *text, size_t size, const tl_limits *limits,
                                   const tl_allocator *allocator, tl_error *err)
{
    tl_limits l = tl_limits_resolve(limits);
    tl_status st;
    TLI_FILL(metadata, 0, sizeof *metadata);
    st = tl_json_parse(&metadata->json, text, size, &l, allocator, err);
    if (st != TL_OK)
        return st;
    st = tli_metadata_read_top(metadata, err);
    if (st == TL_OK)
        st = tli_metadata_read_schema(metadata, &l, err);
    if (st == TL_OK)
        st = tli_metadata_read_spec(metadata, err);
    if (st == TL_OK)
        st = tli_metadata_read_snapshot(metadata, err);
    if (st == TL_OK) {
        metadata->properties = tli_metadata_get(metadata, metadata->json.root, "properties");
        st = tl_contract_read(&metadata->contract, &metadata->json, metadata->properties, err);
    }
    if (st != TL_OK)
        tl_metadata_free(metadata);
    return st;
}

TL_API void tl_metadata_free(tl_metadata *metadata)
{
    tl_allocator a = tli_mem_allocator(&metadata->json.allocator);
    tli_mem_delete(&a, (void *)(uintptr_t)metadata->fields, (size_t)metadata->field_count * sizeof(tl_field));
    tl_json_free(&metadata->json);
    TLI_FILL(metadata, 0, sizeof *metadata);
}

TL_API tl_span tl_metadata_property(const tl_metadata *metadata, tl_span key)
{
    tl_span value = tli_text_span(NULL, 0);
    const tl_json_node *node = tl_json_member(&metadata->json, metadata->properties, key);
    if (node != NULL && tl_json_string(&metadata->json, node, &value, NULL) != TL_OK)
        value = tli_text_span(NULL, 0);
    return value;
}

TL_API const tl_field *tl_metadata_field(const tl_metadata *metadata, tl_span name)
{
    uint32_t i;
    for (i = 0; i < metadata->field_count; i++)
        if (tl_span_equal(metadata->fields[i].name, name))
            return &metadata->fields[i];
    return NULL;
}

TL_API const tl_field *tl_metadata_field_by_id(const tl_metadata *metadata, int32_t id)
{
    uint32_t i;
    for (i = 0; i < metadata->field_count; i++)
        if (metadata->fields[i].id == id)
            return &metadata->fields[i];
    return NULL;
}
#endif /* TIMELAKE_NO_LAKE */
