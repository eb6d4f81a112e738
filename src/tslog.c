/* >>tslog: decoding actions, applying them, judging the whole. */
#ifndef TIMELAKE_NO_LOG

/* ---- names and CURRENT ---- */

TL_API size_t tl_log_commit_name(char *out, uint64_t version)
{
    static const char folder[] = "_timeseries_log/0000000000";
    char digits[24];
    size_t n = tli_number_u64(digits, version), zeros = n < 10 ? 10 - n : 0, at = 16 + zeros;
    TLI_COPY(out, folder, sizeof folder - 1);
    TLI_COPY(out + at, digits, n);
    TLI_COPY(out + at + n, ".json", 5);
    return at + n + 5;
}

TL_API tl_status tl_log_current_parse(const void *text, size_t size, uint64_t *version, tl_fault *fault)
{
    tl_span s = tli_text_span(text, size);
    uint64_t v = 0;
    size_t i = 0;
    if (tli_text_utf8(text, size) != size)
        return tli_features_fault(fault, TL_FAULT_IO, TL_CORRUPT, "CURRENT is not UTF-8", TL_NO_POSITION);
    s = tli_tsfield_strip(s);
    if (s.size == 0)
        return tli_features_fault(fault, TL_FAULT_EMPTY_CURRENT, TL_CORRUPT, "CURRENT is empty", TL_NO_POSITION);
    i += s.data[0] == '+' && s.size > 1;
    for (; i < s.size; i++) {
        uint64_t digit = (uint64_t)(uint8_t)s.data[i] - '0';
        if (digit > 9 || !tli_bits_mul(v, 10, &v) || !tli_bits_add(v, digit, &v)) {
            (void)tli_features_fault(fault, TL_FAULT_CURRENT, TL_CORRUPT, "CURRENT is no version", TL_NO_POSITION);
            tli_features_about(fault, s);
            return TL_CORRUPT;
        }
    }
    *version = v;
    return TL_OK;
}

/* ---- states ---- */

TL_API tl_log_state *tl_log_state_keep(tl_log_state *state)
{
    if (state != NULL)
        TLI_MEM_INC(&state->count);
    return state;
}

TL_API void tl_log_state_drop(tl_log_state *state)
{
    if (state != NULL && TLI_MEM_DEC(&state->count) == 0)
        tli_mem_store_drop(state->store); /* the state lies in it */
}

TL_API tl_protocol tl_log_protocol(const tl_log_state *state)
{
    tl_protocol p;
    TLI_FILL(&p, 0, sizeof p);
    p.version = state->meta.protocol_version;
    p.reader = state->meta.reader;
    p.writer = state->meta.writer;
    return p;
}

TLI_FN int tli_tslog_same_grid(const tl_log_grid *a, const tl_log_grid *b)
{
    return a->domain == b->domain && a->span == b->span && a->width == b->width
           && (a->zone.data == NULL) == (b->zone.data == NULL) && tl_span_equal(a->zone, b->zone);
}

TLI_FN int tli_tslog_same_kind(const tl_log_meta *a, const tl_log_meta *b)
{
    uint32_t i;
    if (a->generic != b->generic || !tl_span_equal(a->index_column, b->index_column)
        || a->entity_count != b->entity_count || !tli_tslog_same_grid(&a->grid, &b->grid))
        return 0;
    for (i = 0; i < a->entity_count; i++)
        if (!tl_span_equal(a->entity_columns[i], b->entity_columns[i]))
            return 0;
    return 1;
}

/* Whether the first `count` nodes of two schemas are equal. */
TLI_FN int tli_tslog_same_fields(const tl_log_meta *a, const tl_log_meta *b, uint32_t count)
{
    uint32_t i;
    for (i = 0; i < count; i++)
        if (!tli_tsfield_same(&a->fields[i], &b->fields[i]))
            return 0;
    return 1;
}

TL_API tl_status tl_log_same_schema(const tl_log_state *planned, const tl_log_state *now, tl_fault *fault)
{
    const tl_log_meta *a = &planned->meta, *b = &now->meta;
    if (tli_tslog_same_kind(a, b) && a->has_schema == b->has_schema && a->node_count == b->node_count
        && tli_tsfield_same_notes(&a->notes, &b->notes) && tli_tslog_same_fields(a, b, a->node_count))
        return TL_OK;
    return tli_features_fault(fault, TL_FAULT_SCHEMA_CHANGED, TL_CONFLICT, "the schema changed: plan again",
                              TL_NO_POSITION);
}

/* ---- decoding ---- */

#define TLI_TSLOG_ENTITIES 256u /* entity columns: names are compared with names, and with those of all columns */

/* A name without parameters out of a list. */
TLI_FN int tli_tslog_name(tli_tsfield_source *s, const tl_json_node *node, const char *const *names, uint32_t count,
                          uint32_t *index)
{
    tl_span text;
    if (!tli_tsfield_string(s, node, &text))
        return 0;
    *index = tli_tsfield_find(names, count, text);
    return *index < count || tli_tsfield_bad(s, "a name that is not known here", node);
}

/* The only member of an object, of several of one name the last: its name and value. */
TLI_FN int tli_tslog_only(tli_tsfield_source *s, const tl_json_node *object, tl_span *name, const tl_json_node **value)
{
    const tl_json_node *key;
    if (object == NULL || object->kind != TL_JSON_OBJECT || object->count == 0)
        return tli_tsfield_bad(s, "an object with one member is expected", object);
    key = object + 1;
    *name = tli_json_plain_text(s->tree, key);
    for (*value = key + 1; (key = tl_json_next(object, key)) != NULL; *value = key + 1)
        if (!tl_span_equal(*name, tli_json_plain_text(s->tree, key)))
            return tli_tsfield_bad(s, "an object with one member is expected", key);
    return 1;
}

static const char *const tli_tslog_spans[] = {"Seconds", "Minutes", "Hours", "Days"};
static const char *const tli_tslog_domains[] = {"timestamp", "int64", "uint64"};
static const char *const tli_tslog_bounds[] = {"timestamp", "int64", "u_int64"}; /* so it is in real tables */
static const char *const tli_tslog_components[] = {"utf8", "int32", "int64", "uint64"};

TLI_FN int tli_tslog_grid(tli_tsfield_source *s, const tl_json_node *node, tl_log_grid *grid)
{
    static const char *const names[] = {"type", "index_granularity", "timezone"};
    const tl_json_node *v[3], *width;
    uint32_t domain, span;
    tl_span text;
    TLI_FILL(grid, 0, sizeof *grid);
    if (!tli_tsfield_members(s, node, names, 3, v, 1) || !tli_tslog_name(s, v[0], tli_tslog_domains, 3, &domain))
        return 0;
    grid->domain = (tl_log_domain)domain;
    if (domain != TL_LOG_TIME) {
        if (v[2] != NULL)
            return tli_tsfield_bad(s, "a time zone of numbers", v[2]);
        return tli_tsfield_u64(s, v[1], UINT64_MAX, &grid->width)
               && (grid->width != 0 || tli_tsfield_bad(s, "a width of 0", v[1]));
    }
    if (!tli_tslog_only(s, v[1], &text, &width) || !tli_tsfield_u64(s, width, UINT32_MAX, &grid->width)
        || !tli_tsfield_optional(s, v[2], &grid->zone))
        return 0;
    span = tli_tsfield_find(tli_tslog_spans, 4, text);
    grid->span = (tl_log_span)span;
    return span < 4 || tli_tsfield_bad(s, "a unit of time is expected", v[1]);
}

/* Tag and value, of exactly these two members. */
TLI_FN int tli_tslog_tagged(tli_tsfield_source *s, const tl_json_node *node, const char *const *tags, uint32_t count,
                            uint32_t *tag, const tl_json_node **value)
{
    static const char *const names[] = {"type", "value"};
    const tl_json_node *v[2];
    if (!tli_tsfield_members(s, node, names, 2, v, 1) || !tli_tslog_name(s, v[0], tags, count, tag))
        return 0;
    *value = v[1];
    return 1;
}

TLI_FN int tli_tslog_bound(tli_tsfield_source *s, const tl_json_node *node, tl_log_bound *bound)
{
    const tl_json_node *value;
    uint32_t tag;
    uint64_t number;
    tl_log_time time;
    TLI_FILL(bound, 0, sizeof *bound);
    if (!tli_tslog_tagged(s, node, tli_tslog_bounds, 3, &tag, &value))
        return 0;
    bound->domain = (tl_log_domain)tag;
    if (tag == TL_LOG_SIGNED)
        return tli_tsfield_i64(s, value, &bound->value);
    if (tag == TL_LOG_UNSIGNED) {
        if (!tli_tsfield_u64(s, value, UINT64_MAX, &number))
            return 0;
        bound->value = (int64_t)number;
        return 1;
    }
    if (!tli_tsfield_time(s, value, &time))
        return 0;
    bound->value = time.seconds;
    bound->nanos = time.nanos;
    return 1;
}

TLI_FN int tli_tslog_component(tli_tsfield_source *s, const tl_json_node *node, tl_log_component *c)
{
    static const tl_log_type types[] = {TL_LOG_UTF8, TL_LOG_INT32, TL_LOG_INT64, TL_LOG_UINT64};
    const tl_json_node *value;
    uint32_t tag;
    int32_t narrow;
    uint64_t number;
    if (!tli_tslog_tagged(s, node, tli_tslog_components, 4, &tag, &value))
        return 0;
    c->type = types[tag];
    switch (c->type) {
    case TL_LOG_UTF8:
        return tli_tsfield_kept_string(s, value, &c->text);
    case TL_LOG_INT32:
        if (!tli_tsfield_i32(s, value, &narrow))
            return 0;
        c->value = narrow;
        return 1;
    case TL_LOG_INT64:
        return tli_tsfield_i64(s, value, &c->value);
    default:
        if (!tli_tsfield_u64(s, value, UINT64_MAX, &number))
            return 0;
        c->value = (int64_t)number;
        return 1;
    }
}

TLI_FN int tli_tslog_layout(tli_tsfield_source *s, const tl_json_node *node, tl_log_segment *segment)
{
    static const char *const names[] = {"NotApplicable", "Mixed"};
    const tl_json_node *list, *item;
    tl_log_component *c;
    uint32_t index;
    tl_span name;
    if (node == NULL || node->kind != TL_JSON_OBJECT) {
        if (!tli_tslog_name(s, node, names, 2, &index))
            return 0;
        segment->layout = (tl_log_layout)index;
        return 1;
    }
    if (!tli_tslog_only(s, node, &name, &list))
        return 0;
    if (!tli_text_is(name, "Single") || list->kind != TL_JSON_ARRAY || list->count == 0)
        return tli_tsfield_bad(s, "a layout of segments is expected", node);
    segment->layout = TL_LOG_SINGLE;
    segment->components = c = (tl_log_component *)tli_tsfield_take(s, list->count, sizeof *c);
    if (c == NULL)
        return 0;
    for (item = tl_json_first(list); item != NULL; item = tl_json_next(list, item))
        if (!tli_tslog_component(s, item, &c[segment->component_count++]))
            return 0;
    return 1;
}

TLI_FN int tli_tslog_segment(tli_tsfield_source *s, const tl_json_node *node, tl_log_segment *segment)
{
    static const char *const names[] = {"path", "format", "entity_layout", "index_min", "index_max", "row_count",
                                        "file_size", "coverage_path"};
    static const char *const formats[] = {"parquet"};
    const tl_json_node *v[8];
    uint32_t format;
    if (!tli_tsfield_members(s, node, names, 8, v, 0) || !tli_tsfield_kept_string(s, v[0], &segment->path)
        || !tli_tslog_name(s, v[1], formats, 1, &format) || !tli_tslog_layout(s, v[2], segment)
        || !tli_tslog_bound(s, v[3], &segment->min) || !tli_tslog_bound(s, v[4], &segment->max)
        || !tli_tsfield_u64(s, v[5], UINT64_MAX, &segment->row_count)
        || !tli_tsfield_optional(s, v[7], &segment->coverage_path))
        return 0;
    segment->has_file_size = (uint8_t)tl_json_present(v[6]);
    return !segment->has_file_size || tli_tsfield_u64(s, v[6], UINT64_MAX, &segment->file_size);
}

/* A list of features; its form was checked by the inspection. */
TLI_FN int tli_tslog_features(tli_tsfield_source *s, const tl_json_node *list, tl_features *set)
{
    const tl_json_node *item;
    tl_span *names;
    if (list == NULL || list->kind != TL_JSON_ARRAY)
        return tli_tsfield_bad(s, "a list of features is expected", list);
    set->names = names = (tl_span *)tli_tsfield_take(s, list->count, sizeof *names);
    if (names == NULL)
        return 0;
    for (item = tl_json_first(list); item != NULL; item = tl_json_next(list, item))
        if (!tli_tsfield_kept_string(s, item, &names[set->count++]))
            return 0;
    tli_features_sort(names, set->count);
    return 1;
}

TLI_FN int tli_tslog_index(tli_tsfield_source *s, const tl_json_node *node, tl_log_meta *m)
{
    static const char *const names[] = {"column", "entity_columns", "kind"};
    const tl_json_node *v[3], *item;
    tl_span *entities;
    if (!tli_tsfield_members(s, node, names, 3, v, 1) || !tli_tsfield_kept_string(s, v[0], &m->index_column)
        || !tli_tslog_grid(s, v[2], &m->grid))
        return 0;
    if (v[1] == NULL)
        return 1;
    if (v[1]->kind != TL_JSON_ARRAY)
        return tli_tsfield_bad(s, "an array of names is expected", v[1]);
    if (v[1]->count > TLI_TSLOG_ENTITIES) {
        s->status = tli_features_fault(s->fault, TL_FAULT_OTHER, TL_LIMIT, "more than 256 entity columns", v[1]->start);
        return 0;
    }
    m->entity_columns = entities = (tl_span *)tli_tsfield_take(s, v[1]->count, sizeof *entities);
    if (entities == NULL)
        return 0;
    for (item = tl_json_first(v[1]); item != NULL; item = tl_json_next(v[1], item))
        if (!tli_tsfield_kept_string(s, item, &entities[m->entity_count++]))
            return 0;
    return 1;
}

TLI_FN int tli_tslog_kind(tli_tsfield_source *s, const tl_json_node *node, tl_log_meta *m)
{
    static const char *const generic[] = {"Generic"};
    const tl_json_node *index;
    uint32_t ignored;
    tl_span name;
    if (node != NULL && node->kind != TL_JSON_OBJECT) {
        m->generic = 1;
        return tli_tslog_name(s, node, generic, 1, &ignored);
    }
    if (!tli_tslog_only(s, node, &name, &index))
        return 0;
    if (!tli_text_is(name, "TimeSeries"))
        return tli_tsfield_bad(s, "a kind of table is expected", node);
    return tli_tslog_index(s, index, m);
}

TLI_FN int tli_tslog_schema(tli_tsfield_source *s, const tl_json_node *node, tl_log_meta *m)
{
    static const char *const names[] = {"columns", "metadata"};
    const tl_json_node *v[2];
    tl_log_fields fields;
    TLI_FILL(&fields, 0, sizeof fields);
    if (!tl_json_present(node))
        return 1;
    m->has_schema = 1;
    if (!tli_tsfield_members(s, node, names, 2, v, 0) || !tli_tsfield_columns(s, v[0], &fields)
        || !tli_tsfield_notes(s, v[1], &m->notes))
        return 0;
    m->fields = fields.fields;
    m->node_count = fields.node_count;
    m->column_count = fields.column_count;
    return 1;
}

TLI_FN int tli_tslog_meta(tli_tsfield_source *s, const tl_json_node *node, tl_log_meta *m)
{
    static const char *const names[] = {"kind", "logical_schema", "created_at", "protocol_version",
                                        "required_reader_features", "required_writer_features", "format_version"};
    const tl_json_node *v[7];
    TLI_FILL(m, 0, sizeof *m);
    if (!tli_tsfield_members(s, node, names, 7, v, 0))
        return 0;
    if (v[6] != NULL)
        return tli_tsfield_bad(s, "format_version: metadata from before protocol 7", v[6]);
    return tli_tslog_kind(s, v[0], m) && tli_tslog_schema(s, v[1], m) && tli_tsfield_time(s, v[2], &m->created)
           && tli_tsfield_u64(s, v[3], UINT64_MAX, &m->protocol_version) && tli_tslog_features(s, v[4], &m->reader)
           && tli_tslog_features(s, v[5], &m->writer);
}

static const char *const tli_tslog_kinds[] = {"UpdateTableMeta", "AddSegment", "RemoveSegment", "UpdateTableCoverage"};

TLI_FN int tli_tslog_payload(tli_tsfield_source *s, const tl_json_node *node, tl_log_action *action)
{
    static const char *const remove[] = {"path"};
    static const char *const coverage[] = {"index_kind", "coverage_path"};
    const tl_json_node *v[2];
    tl_log_meta *meta;
    switch (action->kind) {
    case TL_LOG_METADATA:
        action->meta = meta = (tl_log_meta *)tli_tsfield_take(s, 1, sizeof *meta);
        return meta != NULL && tli_tslog_meta(s, node, meta);
    case TL_LOG_ADD:
        return tli_tslog_segment(s, node, &action->segment);
    case TL_LOG_REMOVE:
        return tli_tsfield_members(s, node, remove, 1, v, 0) && tli_tsfield_kept_string(s, v[0], &action->path);
    default:
        return tli_tsfield_members(s, node, coverage, 2, v, 0) && tli_tslog_grid(s, v[0], &action->grid)
               && tli_tsfield_kept_string(s, v[1], &action->path);
    }
}

/* Appends an action to the replay's; one that is not known is skipped when it has the form of one. Metadata lies in a
   store of its own, since it goes when it is replaced. */
TLI_FN int tli_tslog_action(tl_log_replay *r, tli_tsfield_source *s, tli_store *metadata, const tl_json_node *node)
{
    const tl_json_node *payload = NULL;
    tli_store *store = s->store;
    tl_log_action action;
    int good;
    tl_span name;
    tl_error err;
    uint32_t kind;
    if (node->kind == TL_JSON_STRING)
        name = tli_json_plain_text(s->tree, node);
    else if (!tli_tslog_only(s, node, &name, &payload))
        return 0;
    kind = tli_tsfield_find(tli_tslog_kinds, 4, name);
    if (kind == 4)
        return 1;
    if (payload == NULL)
        return tli_tsfield_bad(s, "an action without a payload", node);
    TLI_FILL(&action, 0, sizeof action);
    action.kind = (tl_log_action_kind)kind;
    r->decoded++;
    s->store = kind == TL_LOG_METADATA ? metadata : store;
    good = s->store != NULL ? tli_tslog_payload(s, payload, &action) : tli_tsfield_bad(s, "no header", node);
    s->store = store;
    if (!good)
        return 0;
    if (tli_mem_append(&r->actions, &action, sizeof action, &err) == TL_OK)
        return 1;
    s->status = tli_features_wrap(s->fault, &err, TL_FAULT_OTHER);
    return 0;
}

/* A whole commit: its version, and its actions behind each other. */
TLI_FN int tli_tslog_commit(tl_log_replay *r, tli_tsfield_source *s, tli_store *metadata, uint64_t *version)
{
    static const char *const names[] = {"version", "base_version", "timestamp", "actions"};
    const tl_json_node *v[4], *item;
    uint64_t base;
    r->actions.size = 0;
    if (!tli_tsfield_members(s, s->tree->root, names, 4, v, 0) || !tli_tsfield_u64(s, v[0], UINT64_MAX, version)
        || !tli_tsfield_u64(s, v[1], UINT64_MAX, &base) || !tli_tsfield_time(s, v[2], &r->time))
        return 0;
    if (v[3] == NULL || v[3]->kind != TL_JSON_ARRAY)
        return tli_tsfield_bad(s, "an array of actions is expected", v[3]);
    for (item = tl_json_first(v[3]); item != NULL; item = tl_json_next(v[3], item))
        if (!tli_tslog_action(r, s, metadata, item))
            return 0;
    return 1;
}

/* ---- rules about paths, columns and metadata ---- */

/* Whether a slash or a backslash is among eight bytes. */
TLI_INLINE int tli_tslog_separates(uint64_t v)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
    uint64_t slash = v ^ (ones * '/'), back = v ^ (ones * '\\');
    return ((((slash - ones) & ~slash) | ((back - ones) & ~back)) & highs) != 0;
}

/* Relative, slashes between, nothing that leads elsewhere. */
TLI_FN int tli_tslog_canonical(tl_span path)
{
    const char *p = path.data, *end = p + path.size, *from = p;
    for (;; p++) {
        while (end - p >= 8 && !tli_tslog_separates(tli_bits_le64((const uint8_t *)p)))
            p += 8;
        while (p < end && *p != '/' && *p != '\\')
            p++;
        if ((p < end && *p == '\\') || p == from || (p == from + 1 && from[0] == '.')
            || (p == from + 2 && from[0] == '.' && from[1] == '.')
            || (p >= from + 2 && from[1] == ':' && tli_features_letter((char)(from[0] | 0x20))))
            return 0;
        if (p == end)
            return 1;
        from = p + 1;
    }
}

TLI_FN tl_status tli_tslog_check_path(tl_span path, tl_fault *fault)
{
    if (tli_tslog_canonical(path))
        return TL_OK;
    (void)tli_features_fault(fault, TL_FAULT_PATH, TL_CORRUPT, "a path that is not canonical", TL_NO_POSITION);
    tli_features_about(fault, path);
    return TL_CORRUPT;
}

/* The column of that name, NULL when there is none. */
TLI_FN const tl_log_field *tli_tslog_column(const tl_log_meta *m, tl_span name)
{
    uint32_t i;
    for (i = 0; i < m->node_count; i += m->fields[i].nodes)
        if (tl_span_equal(m->fields[i].name, name))
            return &m->fields[i];
    return NULL;
}

TLI_FN tl_status tli_tslog_fault_group(tl_fault *fault, tl_fault_kind kind, tl_fault_group group, const char *text,
                                       tl_span about)
{
    (void)tli_features_fault(fault, kind, TL_CORRUPT, text, TL_NO_POSITION);
    if (fault != NULL)
        fault->group = group;
    tli_features_about(fault, about);
    return TL_CORRUPT;
}

/* Whether the schema has the columns that the index names. */
TLI_FN tl_status tli_tslog_check_keys(const tl_log_meta *m, tl_fault_group group, tl_fault *fault)
{
    static const tl_log_type types[] = {TL_LOG_TIMESTAMP, TL_LOG_INT64, TL_LOG_UINT64};
    const tl_log_field *f = tli_tslog_column(m, m->index_column);
    uint32_t i;
    if (f == NULL)
        return tli_tslog_fault_group(fault, TL_FAULT_NO_INDEX_COLUMN, group, "the schema lacks the index column",
                                     m->index_column);
    if (f->type != types[m->grid.domain])
        return tli_tslog_fault_group(fault, TL_FAULT_INDEX_TYPE, group, "the index column is of another type",
                                     m->index_column);
    for (i = 0; i < m->entity_count; i++) {
        f = tli_tslog_column(m, m->entity_columns[i]);
        if (f == NULL)
            return tli_tslog_fault_group(fault, TL_FAULT_NO_ENTITY_COLUMN, group, "the schema lacks an entity column",
                                         m->entity_columns[i]);
        if (f->type != TL_LOG_UTF8 && f->type != TL_LOG_INT32 && f->type != TL_LOG_INT64 && f->type != TL_LOG_UINT64)
            return tli_tslog_fault_group(fault, TL_FAULT_ENTITY_TYPE, group,
                                         "an entity column has a type that cannot be one", m->entity_columns[i]);
    }
    return TL_OK;
}

TLI_FN int tli_tslog_has_notes(const tl_log_meta *m)
{
    uint32_t i;
    if (m->notes.count != 0)
        return 1;
    for (i = 0; i < m->node_count; i++)
        if (m->fields[i].notes.count != 0 || m->fields[i].entries.count != 0 || m->fields[i].nulls.count != 0)
            return 1;
    return 0;
}

TLI_FN int tli_tslog_has_feature(const tl_features *set, const char *name)
{
    tl_features one;
    tl_span text = tl_text(name);
    one.names = &text;
    one.count = 1;
    return tl_features_missing(&one, set, 0) == 1;
}

/* The reader check of metadata; `write`: the writer's too. */
TLI_FN tl_status tli_tslog_check_protocol(const tl_log_meta *m, const tl_client *client, int write, tl_fault *fault)
{
    tl_protocol p;
    if (tli_tslog_has_notes(m)
        && (!tli_tslog_has_feature(&m->reader, "schema_metadata")
            || !tli_tslog_has_feature(&m->writer, "schema_metadata")))
        return tli_features_fault(fault, TL_FAULT_UNDECLARED_NOTES, TL_CORRUPT,
                                  "a schema with annotations that its features do not declare", TL_NO_POSITION);
    TLI_FILL(&p, 0, sizeof p);
    p.version = m->protocol_version;
    p.reader = m->reader;
    p.writer = m->writer;
    return write ? tl_protocol_may_write(&p, client, fault) : tl_protocol_may_read(&p, client, fault);
}

/* Whether `b` may follow `a` as far as the schema goes. */
TLI_FN tl_status tli_tslog_check_evolution(const tl_log_meta *a, const tl_log_meta *b, const tl_allocator *allocator,
                                           tl_fault *fault)
{
    const tl_fault_group group = TL_GROUP_EVOLUTION;
    const tl_span none = {NULL, 0};
    tli_tsfield_walk w;
    uint32_t columns;
    tl_status st = TL_OK;
    if (!tli_tslog_same_kind(a, b))
        return tli_tslog_fault_group(fault, TL_FAULT_KEYS_CHANGED, group, "the kind of the table or its keys changed",
                                     none);
    if (b->has_schema && !b->generic)
        st = tli_tslog_check_keys(b, TL_GROUP_KEYS, fault);
    if (st != TL_OK || !a->has_schema)
        return st;
    if (!b->has_schema)
        return tli_tslog_fault_group(fault, TL_FAULT_FIELDS_CHANGED, group, "the schema was dropped", none);
    if (!tli_tsfield_same_notes(&a->notes, &b->notes))
        return tli_tslog_fault_group(fault, TL_FAULT_NOTES_CHANGED, group, "annotations of the schema changed", none);
    if (a->node_count > b->node_count || !tli_tslog_same_fields(a, b, a->node_count))
        return tli_tslog_fault_group(fault, TL_FAULT_FIELDS_CHANGED, group, "columns that were there changed", none);
    if (a->node_count == b->node_count)
        return TL_OK;
    if (!tli_tslog_has_feature(&b->reader, "schema_add_columns"))
        return tli_tslog_fault_group(fault, TL_FAULT_UNDECLARED_COLUMNS, group,
                                     "columns were added without the feature schema_add_columns", none);
    w.part[0] = a->fields;
    w.count[0] = a->node_count;
    w.part[1] = b->fields + a->node_count;
    w.count[1] = b->node_count - a->node_count;
    w.fault = fault;
    w.group = group;
    return tli_tsfield_check(&w, allocator, &columns);
}

TLI_FN tl_status tli_tslog_check_change(const tl_log_meta *a, const tl_log_meta *b, const tl_allocator *allocator,
                                        tl_fault *fault)
{
    tl_protocol before, after;
    tl_status st;
    TLI_FILL(&before, 0, sizeof before);
    TLI_FILL(&after, 0, sizeof after);
    before.version = a->protocol_version;
    before.reader = a->reader;
    before.writer = a->writer;
    after.version = b->protocol_version;
    after.reader = b->reader;
    after.writer = b->writer;
    st = tl_protocol_follows(&before, &after, fault);
    return st == TL_OK ? tli_tslog_check_evolution(a, b, allocator, fault) : st;
}

/* ---- applying ---- */

TLI_INLINE tl_log_segment *tli_tslog_at(const tl_log_replay *r, size_t i)
{
    return (tl_log_segment *)(void *)r->segments.data + i;
}

TLI_INLINE size_t tli_tslog_count(const tl_log_replay *r)
{
    return r->segments.size / sizeof(tl_log_segment);
}

/* The slot of a live path, or the free one where it would be. */
TLI_FN uint32_t *tli_tslog_slot(const tl_log_replay *r, tl_span path)
{
    size_t mask = r->slot_count - 1;
    size_t at = (size_t)tli_hash_xxh64(path.data, path.size, r->options.seed) & mask;
    while (r->slots[at] != 0 && (tli_tslog_at(r, r->slots[at] - 1)->dead
                                 || !tl_span_equal(tli_tslog_at(r, r->slots[at] - 1)->path, path)))
        at = (at + 1) & mask;
    return &r->slots[at];
}

/* Room for one more path; rebuilds the table without dead entries. */
TLI_FN tl_status tli_tslog_grow(tl_log_replay *r)
{
    size_t count = tli_tslog_count(r), i, slots = 64;
    uint32_t *old = r->slots;
    if (r->slot_count > count * 2 + 1)
        return TL_OK;
    while (slots < count * 4)
        slots *= 2;
    if (count > UINT32_MAX / 8)
        return TL_LIMIT;
    r->slots = (uint32_t *)tli_mem_new(&r->options.allocator, slots * sizeof *r->slots);
    if (r->slots == NULL) {
        r->slots = old;
        return TL_NO_MEMORY;
    }
    tli_mem_delete(&r->options.allocator, old, r->slot_count * sizeof *old);
    r->slot_count = slots;
    TLI_FILL(r->slots, 0, slots * sizeof *r->slots);
    for (i = 0; i < count; i++)
        if (!tli_tslog_at(r, i)->dead)
            *tli_tslog_slot(r, tli_tslog_at(r, i)->path) = (uint32_t)i + 1;
    return TL_OK;
}

TLI_FN tl_status tli_tslog_memory(tl_fault *fault, tl_status status)
{
    return tli_features_fault(fault, TL_FAULT_OTHER, status, status == TL_LIMIT ? "too many segments" : "out of memory",
                              TL_NO_POSITION);
}

TLI_FN tl_status tli_tslog_add(tl_log_replay *r, const tl_log_segment *segment, tl_fault *fault)
{
    tl_status st = tli_tslog_check_path(segment->path, fault);
    uint32_t *slot;
    if (st == TL_OK && segment->coverage_path.data != NULL)
        st = tli_tslog_check_path(segment->coverage_path, fault);
    if (st != TL_OK)
        return st;
    st = tli_tslog_grow(r);
    if (st != TL_OK)
        return tli_tslog_memory(fault, st);
    slot = tli_tslog_slot(r, segment->path);
    if (*slot != 0) {
        (void)tli_features_fault(fault, TL_FAULT_DUPLICATE_SEGMENT, TL_CORRUPT, "a segment that is live is added again",
                                 TL_NO_POSITION);
        tli_features_about(fault, segment->path);
        return TL_CORRUPT;
    }
    if (tli_mem_append(&r->segments, segment, sizeof *segment, NULL) != TL_OK)
        return tli_tslog_memory(fault, TL_NO_MEMORY);
    *slot = (uint32_t)tli_tslog_count(r);
    r->live++;
    r->ever++;
    return TL_OK;
}

TLI_FN tl_status tli_tslog_remove(tl_log_replay *r, tl_span path, tl_fault *fault)
{
    tl_status st = tli_tslog_check_path(path, fault);
    uint32_t *slot;
    if (st != TL_OK || r->live == 0)
        return st;
    st = tli_tslog_grow(r); /* a base brings none */
    if (st != TL_OK)
        return tli_tslog_memory(fault, st);
    slot = tli_tslog_slot(r, path);
    if (*slot != 0) {
        tli_tslog_at(r, *slot - 1)->dead = 1;
        r->live--;
    }
    return TL_OK;
}

/* `store` holds what the metadata points at, and is kept. */
TLI_FN tl_status tli_tslog_replace(tl_log_replay *r, const tl_log_meta *meta, tli_store *store, tl_fault *fault)
{
    tl_status st = TL_OK;
    if (r->has_meta)
        st = tli_tslog_check_change(&r->meta, meta, &r->options.allocator, fault);
    if (st != TL_OK)
        return st;
    r->meta = *meta;
    r->has_meta = 1;
    tli_mem_store_keep(store);
    tli_mem_store_drop(r->meta_store);
    r->meta_store = store;
    return TL_OK;
}

/* Applies the actions of a commit in their order. Metadata lies in `store`. */
TLI_FN tl_status tli_tslog_apply(tl_log_replay *r, uint64_t version, tli_store *store, tl_fault *fault)
{
    const tl_log_action *a = (const tl_log_action *)(const void *)r->actions.data;
    size_t i, n = r->actions.size / sizeof *a;
    tl_status st = TL_OK;
    for (i = 0; i < n && st == TL_OK; i++, a++) {
        switch (a->kind) {
        case TL_LOG_METADATA:
            st = tli_tslog_replace(r, a->meta, store, fault);
            break;
        case TL_LOG_ADD:
            st = tli_tslog_add(r, &a->segment, fault);
            break;
        case TL_LOG_REMOVE:
            st = tli_tslog_remove(r, a->path, fault);
            break;
        default:
            st = tli_tslog_check_path(a->path, fault);
            r->coverage_path = a->path;
            r->coverage_grid = a->grid;
            r->coverage_version = version;
            break;
        }
    }
    return st;
}

/* ---- the replay ---- */

TLI_FN tli_store *tli_tslog_store(const tl_log_options *o, tl_fault *fault)
{
    tl_limits limits = {0, 0, 0, 0, 0, 0, 0};
    tl_error err;
    tli_store *s;
    limits.decoded_bytes = o->decoded_bytes;
    s = tli_mem_store_new(&o->allocator, tl_limits_resolve(&limits).decoded_bytes, NULL, 0, NULL, NULL, &err);
    if (s == NULL)
        (void)tli_features_wrap(fault, &err, TL_FAULT_OTHER);
    return s;
}

TL_API void tl_log_replay_begin(tl_log_replay *replay, const tl_log_state *base, const tl_log_options *options)
{
    TLI_FILL(replay, 0, sizeof *replay);
    if (options != NULL)
        replay->options = *options;
    replay->options.allocator = tli_mem_allocator(&replay->options.allocator);
    replay->segments.allocator = replay->actions.allocator = replay->options.allocator;
    replay->nodes.allocator = replay->strings.allocator = replay->options.allocator;
    replay->store = tli_tslog_store(&replay->options, NULL);
    if (base == NULL)
        return;
    if (replay->store == NULL || tli_mem_append(&replay->segments, base->segments,
                                                base->segment_count * sizeof *base->segments, NULL) != TL_OK) {
        tli_mem_store_drop(replay->store); /* no store: the next call says so */
        replay->store = NULL;
        return;
    }
    replay->version = base->version; /* spans go on pointing into the base, which stays until the end */
    replay->meta = base->meta;
    replay->has_meta = 1;
    replay->checked = replay->live = base->segment_count;
    replay->ever = base->ever;
    replay->coverage_path = base->coverage_path;
    replay->coverage_version = base->coverage_version;
    replay->coverage_grid = base->coverage_grid;
    replay->digest = base->digest;
}

TL_API void tl_log_replay_end(tl_log_replay *replay)
{
    tl_buffer_free(&replay->segments);
    tl_buffer_free(&replay->actions);
    tl_buffer_free(&replay->nodes);
    tl_buffer_free(&replay->strings);
    tli_mem_delete(&replay->options.allocator, replay->slots, replay->slot_count * sizeof *replay->slots);
    tli_mem_store_drop(replay->store);
    tli_mem_store_drop(replay->meta_store);
    TLI_FILL(replay, 0, sizeof *replay);
}

/* Decodes the tree and applies what it says. `metadata`: where that goes. */
TLI_FN tl_status tli_tslog_take(tl_log_replay *r, uint64_t version, const tl_json *tree, tli_store *metadata,
                                tl_fault *fault)
{
    tli_tsfield_source s;
    uint64_t said = 0;
    s.tree = tree;
    s.fault = fault;
    s.status = TL_OK;
    s.store = r->store;
    if (!tli_tslog_commit(r, &s, metadata, &said))
        return s.status;
    if (said == version)
        return tli_tslog_apply(r, version, metadata, fault);
    (void)tli_features_fault(fault, TL_FAULT_COMMIT_VERSION, TL_CORRUPT, "a commit that says to be another version",
                             TL_NO_POSITION);
    if (fault != NULL) {
        fault->expected = version;
        fault->found = said;
    }
    return TL_CORRUPT;
}

/* Inspects the text, and makes its tree in the memory that the last one had: it is read once. */
TLI_FN tl_status tli_tslog_inspect(tl_log_replay *r, tl_protocol *p, const void *text, size_t size, tl_json *tree,
                                   tl_fault *fault)
{
    tli_json_builder b;
    tl_status st;
    TLI_FILL(&b, 0, sizeof b);
    b.nodes = r->nodes;
    b.strings = r->strings;
    b.nodes.size = b.strings.size = 0;
    st = tli_features_inspect(p, text, size, r->options.client, &r->options.allocator, &b, fault);
    r->nodes = b.nodes;
    r->strings = b.strings;
    *tree = tli_json_built(&b, text, size);
    return st;
}

TL_API tl_status tl_log_replay_commit(tl_log_replay *replay, uint64_t version, const void *text, size_t size,
                                      tl_fault *fault)
{
    tl_protocol p;
    tl_json tree;
    tli_store *metadata = NULL;
    tl_status st;
    if (fault != NULL)
        fault->version = version;
    if (replay->store == NULL)
        return tli_tslog_memory(fault, TL_NO_MEMORY);
    if (version != replay->version + 1 || version == 0)
        return tli_features_fault(fault, TL_FAULT_OTHER, TL_MISUSE, "commits have to come in order", TL_NO_POSITION);
    st = tli_tslog_inspect(replay, &p, text, size, &tree, fault);
    if (st != TL_OK)
        return st;
    if (p.version != 0)
        metadata = tli_tslog_store(&replay->options, fault);
    st = p.version != 0 && metadata == NULL ? TL_NO_MEMORY : tli_tslog_take(replay, version, &tree, metadata, fault);
    tl_protocol_free(&p);
    tli_mem_store_drop(metadata);
    if (st == TL_OK) {
        replay->version = version;
        replay->digest = tli_hash_xxh64(text, size, 0);
    }
    return st;
}

/* ---- judging the whole ---- */

TLI_FN tl_status tli_tslog_fault_plain(tl_fault *fault, tl_fault_kind kind, const char *text, tl_span about)
{
    return tli_tslog_fault_group(fault, kind, TL_GROUP_NONE, text, about);
}

TLI_FN tl_status tli_tslog_check_index(const tl_log_meta *m, tl_fault *fault)
{
    uint32_t i, k;
    if (m->index_column.size == 0)
        return tli_tslog_fault_plain(fault, TL_FAULT_INDEX_EMPTY, "the index column has no name", m->index_column);
    for (i = 0; i < m->entity_count; i++) {
        tl_span name = m->entity_columns[i];
        if (name.size == 0)
            return tli_tslog_fault_plain(fault, TL_FAULT_ENTITY_EMPTY, "an entity column has no name", name);
        if (tl_span_equal(name, m->index_column))
            return tli_tslog_fault_plain(fault, TL_FAULT_ENTITY_IS_INDEX, "an entity column is the index column", name);
        for (k = 0; k < i; k++)
            if (tl_span_equal(name, m->entity_columns[k]))
                return tli_tslog_fault_plain(fault, TL_FAULT_ENTITY_REPEATED, "an entity column is named twice", name);
    }
    if (m->grid.width == 0)
        return tli_tslog_fault_plain(fault, TL_FAULT_ZERO_WIDTH, "an interval of time of width 0", m->index_column);
    return TL_OK;
}

/* The layout of a segment against the entity columns and their `types`. */
TLI_FN tl_status tli_tslog_check_layout(const tl_log_meta *m, const uint8_t *types, const tl_log_segment *s,
                                        tl_fault *fault)
{
    uint32_t i;
    if ((m->entity_count == 0) != (s->layout == TL_LOG_NOT_APPLICABLE))
        return tli_tslog_fault_plain(fault, TL_FAULT_LAYOUT, "a segment's layout does not fit the entity columns",
                                     s->path);
    if (s->layout != TL_LOG_SINGLE)
        return TL_OK;
    if (s->component_count != m->entity_count)
        return tli_tslog_fault_plain(fault, TL_FAULT_IDENTITY_COUNT, "a segment names too many or too few entities",
                                     s->path);
    for (i = 0; i < s->component_count; i++)
        if (types[i] != s->components[i].type)
            return tli_tslog_fault_plain(fault, TL_FAULT_IDENTITY_TYPE,
                                         "a segment's entity is of another type than its column", s->path);
    return TL_OK;
}

TLI_FN int tli_tslog_compare_bounds(const tl_log_bound *a, const tl_log_bound *b)
{
    if (a->domain != b->domain)
        return a->domain < b->domain ? -1 : 1;
    if (a->domain == TL_LOG_UNSIGNED)
        return ((uint64_t)a->value > (uint64_t)b->value) - ((uint64_t)a->value < (uint64_t)b->value);
    return a->value != b->value ? (a->value > b->value) - (a->value < b->value)
                                : (a->nanos > b->nanos) - (a->nanos < b->nanos);
}

TLI_FN tl_status tli_tslog_check_segments(const tl_log_replay *r, tl_fault *fault)
{
    const tl_log_meta *m = &r->meta;
    uint8_t types[TLI_TSLOG_ENTITIES];
    size_t i, n = tli_tslog_count(r);
    tl_status st = TL_OK;
    if (!m->has_schema && r->ever != 0)
        return tli_features_fault(fault, TL_FAULT_SEGMENTS_WITHOUT_SCHEMA, TL_CORRUPT, "segments, but no schema",
                                  TL_NO_POSITION);
    for (i = 0; i < m->entity_count && m->has_schema; i++)
        types[i] = (uint8_t)tli_tslog_column(m, m->entity_columns[i])->type; /* they are there: it was checked */
    for (i = r->checked; i < n && st == TL_OK; i++)
        st = tli_tslog_check_layout(m, types, tli_tslog_at(r, i), fault);
    for (i = r->checked; i < n && st == TL_OK; i++) {
        const tl_log_segment *s = tli_tslog_at(r, i);
        if (!s->dead && (s->min.domain != m->grid.domain || s->max.domain != m->grid.domain
                         || tli_tslog_compare_bounds(&s->min, &s->max) > 0))
            st = tli_tslog_fault_plain(fault, TL_FAULT_BOUNDS, "bounds of a segment that are none of this index",
                                       s->path);
    }
    return st;
}

TLI_FN tl_status tli_tslog_check_whole(const tl_log_replay *r, tl_fault *fault)
{
    const tl_log_meta *m = &r->meta;
    const tl_span none = {NULL, 0};
    tl_status st;
    if (r->version == 0)
        return tli_features_fault(fault, TL_FAULT_UNINITIALIZED, TL_ABSENT, "there is no commit", TL_NO_POSITION);
    if (!r->has_meta)
        return tli_tslog_fault_plain(fault, TL_FAULT_NO_METADATA, "commits without metadata", none);
    st = tli_tslog_check_protocol(m, r->options.client, 0, fault);
    if (st != TL_OK)
        return st;
    if (m->generic)
        return r->options.any_kind ? TL_OK
                                   : tli_features_fault(fault, TL_FAULT_NOT_TIME_SERIES, TL_UNSUPPORTED,
                                                        "a table that is no time series", TL_NO_POSITION);
    st = tli_tslog_check_index(m, fault);
    if (st == TL_OK && r->coverage_path.data != NULL && !tli_tslog_same_grid(&r->coverage_grid, &m->grid))
        st = tli_tslog_fault_plain(fault, TL_FAULT_COVERAGE_KIND, "coverage of another kind of index",
                                   r->coverage_path);
    if (st == TL_OK && m->has_schema)
        st = tli_tslog_check_keys(m, TL_GROUP_TABLE, fault);
    return st == TL_OK ? tli_tslog_check_segments(r, fault) : st;
}

/* ---- the state ---- */

TLI_FN int tli_tslog_compare(const void *one, const void *other)
{
    const tl_log_segment *a = (const tl_log_segment *)one, *b = (const tl_log_segment *)other;
    int c = tli_tslog_compare_bounds(&a->min, &b->min);
    c = c != 0 ? c : tli_tslog_compare_bounds(&a->max, &b->max);
    return c != 0 ? c : tl_span_compare(a->path, b->path);
}

/* Copies into the state's store; components, then texts. */
TLI_FN int tli_tslog_copy_segment(tli_tsfield_source *s, tl_log_segment *segment)
{
    const tl_log_component *from = segment->components;
    tl_log_component *to;
    uint32_t i;
    if (!tli_tsfield_keep(s, segment->path, &segment->path))
        return 0;
    if (segment->coverage_path.data != NULL && !tli_tsfield_keep(s, segment->coverage_path, &segment->coverage_path))
        return 0;
    if (segment->component_count == 0)
        return 1;
    segment->components = to = (tl_log_component *)tli_tsfield_take(s, segment->component_count, sizeof *to);
    if (to == NULL)
        return 0;
    for (i = 0; i < segment->component_count; i++) {
        to[i] = from[i];
        if (to[i].text.data != NULL && !tli_tsfield_keep(s, from[i].text, &to[i].text))
            return 0;
    }
    return 1;
}

TLI_FN int tli_tslog_copy_notes(tli_tsfield_source *s, tl_log_notes *notes)
{
    const tl_log_note *from = notes->notes;
    tl_log_note *to;
    uint32_t i;
    if (notes->count == 0)
        return 1;
    notes->notes = to = (tl_log_note *)tli_tsfield_take(s, notes->count, sizeof *to);
    if (to == NULL)
        return 0;
    for (i = 0; i < notes->count; i++)
        if (!tli_tsfield_keep(s, from[i].key, &to[i].key) || !tli_tsfield_keep(s, from[i].value, &to[i].value))
            return 0;
    return 1;
}

TLI_FN int tli_tslog_copy_spans(tli_tsfield_source *s, const tl_span **spans, uint64_t count)
{
    const tl_span *from = *spans;
    tl_span *to = (tl_span *)tli_tsfield_take(s, count, sizeof *to);
    uint64_t i;
    *spans = to;
    if (to == NULL)
        return 0;
    for (i = 0; i < count; i++)
        if (!tli_tsfield_keep(s, from[i], &to[i]))
            return 0;
    return 1;
}

/* Metadata, deeply. */
TLI_FN int tli_tslog_copy_meta(tli_tsfield_source *s, tl_log_meta *m)
{
    const tl_log_field *from = m->fields;
    tl_log_field *to = (tl_log_field *)tli_tsfield_take(s, m->node_count, sizeof *to);
    uint32_t i;
    m->fields = to;
    if (to == NULL || !tli_tslog_copy_spans(s, &m->entity_columns, m->entity_count)
        || !tli_tslog_copy_spans(s, &m->reader.names, m->reader.count)
        || !tli_tslog_copy_spans(s, &m->writer.names, m->writer.count) || !tli_tslog_copy_notes(s, &m->notes)
        || !tli_tsfield_keep(s, m->index_column, &m->index_column)
        || (m->grid.zone.data != NULL && !tli_tsfield_keep(s, m->grid.zone, &m->grid.zone)))
        return 0;
    for (i = 0; i < m->node_count; i++) {
        to[i] = from[i];
        if (!tli_tsfield_keep(s, from[i].name, &to[i].name) || !tli_tslog_copy_notes(s, &to[i].notes)
            || (from[i].text.data != NULL && !tli_tsfield_keep(s, from[i].text, &to[i].text))
            || !tli_tslog_copy_notes(s, &to[i].entries) || !tli_tslog_copy_notes(s, &to[i].nulls))
            return 0;
    }
    return 1;
}

TLI_FN int tli_tslog_copy(tl_log_replay *r, tli_tsfield_source *s, tl_log_state *t)
{
    tl_log_segment *to = (tl_log_segment *)tli_tsfield_take(s, r->live, sizeof *to);
    size_t i, n = tli_tslog_count(r);
    if (to == NULL)
        return 0;
    t->segments = to;
    for (i = 0; i < n; i++)
        if (!tli_tslog_at(r, i)->dead)
            to[t->segment_count++] = *tli_tslog_at(r, i);
    tli_sort(to, t->segment_count, sizeof *to, tli_tslog_compare);
    for (i = 0; i < t->segment_count; i++)
        if (!tli_tslog_copy_segment(s, &to[i]))
            return 0;
    t->meta = r->meta;
    t->coverage_grid = r->coverage_grid;
    t->coverage_version = r->coverage_version;
    return tli_tslog_copy_meta(s, &t->meta)
           && (r->coverage_path.data == NULL
               || (tli_tsfield_keep(s, r->coverage_path, &t->coverage_path)
                   && (r->coverage_grid.zone.data == NULL
                       || tli_tsfield_keep(s, r->coverage_grid.zone, &t->coverage_grid.zone))));
}

TL_API tl_status tl_log_replay_finish(tl_log_replay *replay, tl_log_state **state, tl_fault *fault)
{
    tli_tsfield_source s;
    tl_log_state *t;
    if (fault != NULL)
        fault->version = replay->version;
    if (replay->store == NULL)
        return tli_tslog_memory(fault, TL_NO_MEMORY);
    s.status = tli_tslog_check_whole(replay, fault);
    if (s.status != TL_OK)
        return s.status;
    s.tree = NULL;
    s.fault = fault;
    s.store = tli_tslog_store(&replay->options, fault);
    if (s.store == NULL)
        return TL_NO_MEMORY;
    t = (tl_log_state *)tli_tsfield_take(&s, 1, sizeof *t);
    if (t == NULL || !tli_tslog_copy(replay, &s, t)) {
        tli_mem_store_drop(s.store);
        return s.status;
    }
    t->version = replay->version;
    t->ever = replay->ever;
    t->digest = replay->digest;
    t->count = 1;
    t->allocator = replay->options.allocator;
    t->store = s.store;
    *state = t;
    return TL_OK;
}
#endif /* TIMELAKE_NO_LOG */
