/* >>tsplan: the writer of commits, and the rules of a request. */
#ifndef TIMELAKE_NO_LOG

/* ---- writing ---- */

TLI_FN void tli_tsplan_put_time(tli_tsfield_sink *w, tl_log_time time)
{
    char text[48];
    tli_tsfield_put_text(w, tli_text_span(text, tl_log_time_text(text, time)));
}

TLI_FN void tli_tsplan_put_list(tli_tsfield_sink *w, const char *member, const tl_span *texts, uint64_t count)
{
    uint64_t i;
    tli_tsfield_put(w, member);
    for (i = 0; i < count; i++) {
        tli_tsfield_put(w, i == 0 ? "" : ",");
        tli_tsfield_put_text(w, texts[i]);
    }
    tli_tsfield_put(w, "]");
}

TLI_FN void tli_tsplan_put_grid(tli_tsfield_sink *w, const tl_log_grid *grid)
{
    tli_tsfield_put(w, "{\"type\":\"");
    tli_tsfield_put(w, tli_tslog_domains[(uint32_t)grid->domain % 3]);
    tli_tsfield_put(w, "\",\"index_granularity\":");
    if (grid->domain == TL_LOG_TIME) {
        tli_tsfield_put(w, "{\"");
        tli_tsfield_put(w, tli_tslog_spans[(uint32_t)grid->span % 4]);
        tli_tsfield_put(w, "\":");
    }
    tli_tsfield_put_u64(w, grid->width);
    if (grid->domain == TL_LOG_TIME)
        tli_tsfield_put(w, "}");
    if (grid->zone.data != NULL) {
        tli_tsfield_put(w, ",\"timezone\":");
        tli_tsfield_put_text(w, grid->zone);
    }
    tli_tsfield_put(w, "}");
}

TLI_FN void tli_tsplan_put_meta(tli_tsfield_sink *w, const tl_log_meta *m)
{
    uint32_t written = 0;
    tli_tsfield_put(w, "{\"kind\":");
    if (m->generic) {
        tli_tsfield_put(w, "\"Generic\"");
    } else {
        tli_tsfield_put(w, "{\"TimeSeries\":{\"column\":");
        tli_tsfield_put_text(w, m->index_column);
        tli_tsplan_put_list(w, ",\"entity_columns\":[", m->entity_columns, m->entity_count);
        tli_tsfield_put(w, ",\"kind\":");
        tli_tsplan_put_grid(w, &m->grid);
        tli_tsfield_put(w, "}}");
    }
    tli_tsfield_put(w, ",\"logical_schema\":");
    if (m->has_schema) {
        tli_tsfield_put(w, "{\"columns\":[");
        tli_tsfield_write(w, m->fields, m->node_count, &written);
        tli_tsfield_put(w, "]");
        tli_tsfield_put_notes(w, ",\"metadata\":", &m->notes);
        tli_tsfield_put(w, "}");
    } else {
        tli_tsfield_put(w, "null");
    }
    tli_tsfield_put(w, ",\"created_at\":");
    tli_tsplan_put_time(w, m->created);
    tli_tsfield_put(w, ",\"protocol_version\":");
    tli_tsfield_put_u64(w, m->protocol_version);
    tli_tsplan_put_list(w, ",\"required_reader_features\":[", m->reader.names, m->reader.count);
    tli_tsplan_put_list(w, ",\"required_writer_features\":[", m->writer.names, m->writer.count);
    tli_tsfield_put(w, "}");
}

TLI_FN void tli_tsplan_put_bound(tli_tsfield_sink *w, const tl_log_bound *b)
{
    tl_log_time time;
    tli_tsfield_put(w, "{\"type\":\"");
    tli_tsfield_put(w, tli_tslog_bounds[(uint32_t)b->domain % 3]);
    tli_tsfield_put(w, "\",\"value\":");
    time.seconds = b->value;
    time.nanos = b->nanos;
    if (b->domain == TL_LOG_TIME)
        tli_tsplan_put_time(w, time);
    else if (b->domain == TL_LOG_SIGNED)
        tli_tsfield_put_i64(w, b->value);
    else
        tli_tsfield_put_u64(w, (uint64_t)b->value);
    tli_tsfield_put(w, "}");
}

TLI_FN void tli_tsplan_put_component(tli_tsfield_sink *w, const tl_log_component *c)
{
    uint32_t tag = c->type == TL_LOG_UTF8 ? 0 : c->type == TL_LOG_INT32 ? 1 : c->type == TL_LOG_INT64 ? 2 : 3;
    tli_tsfield_put(w, "{\"type\":\"");
    tli_tsfield_put(w, tli_tslog_components[tag]);
    tli_tsfield_put(w, "\",\"value\":");
    if (tag == 0)
        tli_tsfield_put_text(w, c->text);
    else if (tag < 3)
        tli_tsfield_put_i64(w, c->value);
    else
        tli_tsfield_put_u64(w, (uint64_t)c->value);
    tli_tsfield_put(w, "}");
}

TLI_FN void tli_tsplan_put_segment(tli_tsfield_sink *w, const tl_log_segment *s)
{
    uint32_t i;
    tli_tsfield_put(w, "{\"path\":");
    tli_tsfield_put_text(w, s->path);
    tli_tsfield_put(w, ",\"format\":\"parquet\",\"entity_layout\":");
    if (s->layout != TL_LOG_SINGLE)
        tli_tsfield_put(w, s->layout == TL_LOG_MIXED ? "\"Mixed\"" : "\"NotApplicable\"");
    for (i = 0; s->layout == TL_LOG_SINGLE && i < s->component_count; i++) {
        tli_tsfield_put(w, i == 0 ? "{\"Single\":[" : ",");
        tli_tsplan_put_component(w, &s->components[i]);
    }
    if (s->layout == TL_LOG_SINGLE)
        tli_tsfield_put(w, s->component_count == 0 ? "{\"Single\":[]}" : "]}");
    tli_tsfield_put(w, ",\"index_min\":");
    tli_tsplan_put_bound(w, &s->min);
    tli_tsfield_put(w, ",\"index_max\":");
    tli_tsplan_put_bound(w, &s->max);
    tli_tsfield_put(w, ",\"row_count\":");
    tli_tsfield_put_u64(w, s->row_count);
    if (s->has_file_size) {
        tli_tsfield_put(w, ",\"file_size\":");
        tli_tsfield_put_u64(w, s->file_size);
    }
    if (s->coverage_path.data != NULL) {
        tli_tsfield_put(w, ",\"coverage_path\":");
        tli_tsfield_put_text(w, s->coverage_path);
    }
    tli_tsfield_put(w, "}");
}

TLI_FN void tli_tsplan_put_action(tli_tsfield_sink *w, const tl_log_action *a)
{
    tli_tsfield_put(w, "{\"");
    tli_tsfield_put(w, tli_tslog_kinds[(uint32_t)a->kind % 4]);
    tli_tsfield_put(w, "\":");
    switch (a->kind) {
    case TL_LOG_METADATA:
        tli_tsplan_put_meta(w, a->meta);
        break;
    case TL_LOG_ADD:
        tli_tsplan_put_segment(w, &a->segment);
        break;
    case TL_LOG_REMOVE:
        tli_tsfield_put(w, "{\"path\":");
        tli_tsfield_put_text(w, a->path);
        tli_tsfield_put(w, "}");
        break;
    default:
        tli_tsfield_put(w, "{\"index_kind\":");
        tli_tsplan_put_grid(w, &a->grid);
        tli_tsfield_put(w, ",\"coverage_path\":");
        tli_tsfield_put_text(w, a->path);
        tli_tsfield_put(w, "}");
    }
    tli_tsfield_put(w, "}");
}

TL_API tl_status tl_log_write_commit(tl_buffer *out, uint64_t version, uint64_t base_version, tl_log_time time,
                                     const tl_log_action *actions, size_t count, tl_fault *fault)
{
    tli_tsfield_sink w;
    size_t i, before = out->size;
    w.out = out;
    w.error.status = TL_OK;
    tli_tsfield_put(&w, "{\"version\":");
    tli_tsfield_put_u64(&w, version);
    tli_tsfield_put(&w, ",\"base_version\":");
    tli_tsfield_put_u64(&w, base_version);
    tli_tsfield_put(&w, ",\"timestamp\":");
    tli_tsplan_put_time(&w, time);
    tli_tsfield_put(&w, ",\"actions\":[");
    for (i = 0; i < count; i++) {
        if (i != 0)
            tli_tsfield_put(&w, ",");
        tli_tsplan_put_action(&w, &actions[i]);
    }
    tli_tsfield_put(&w, "]}");
    if (w.error.status == TL_OK)
        return TL_OK;
    out->size = before;
    return tli_features_wrap(fault, &w.error, TL_FAULT_OTHER);
}

/* ---- planning ---- */

/* `set` with `name` in it. */
TLI_FN int tli_tsplan_declare(tli_tsfield_source *s, tl_features *set, const char *name)
{
    tl_span *names;
    size_t i;
    if (tli_tslog_has_feature(set, name))
        return 1;
    names = (tl_span *)tli_tsfield_take(s, (uint64_t)set->count + 1, sizeof *names);
    if (names == NULL)
        return 0;
    for (i = 0; i < set->count; i++)
        names[i] = set->names[i];
    names[set->count++] = tl_text(name);
    tli_features_sort(names, set->count);
    set->names = names;
    return 1;
}

TLI_FN tl_status tli_tsplan_begin(tl_log_plan *plan, tli_tsfield_source *s, const tl_log_state *state,
                                  const tl_log_options *options, tl_fault *fault)
{
    tl_status st = TL_OK;
    TLI_FILL(plan, 0, sizeof *plan);
    if (options != NULL)
        plan->options = *options;
    plan->options.allocator = tli_mem_allocator(&plan->options.allocator);
    if (fault != NULL)
        fault->version = 0;
    if (state != NULL)
        st = tli_tslog_check_protocol(&state->meta, plan->options.client, 1, fault);
    if (st != TL_OK)
        return st;
    if (state != NULL && state->version == UINT64_MAX)
        return tli_features_fault(fault, TL_FAULT_VERSION_OVERFLOW, TL_LIMIT, "there is no greater version",
                                  TL_NO_POSITION);
    plan->version = state == NULL ? 1 : state->version + 1;
    TLI_FILL(s, 0, sizeof *s);
    s->fault = fault;
    s->store = plan->store = tli_tslog_store(&plan->options, fault);
    return s->store != NULL ? TL_OK : TL_NO_MEMORY;
}

/* Ends planning: keeps the base, or gives everything back. */
TLI_FN tl_status tli_tsplan_done(tl_log_plan *plan, const tl_log_state *state, tl_status status)
{
    if (status != TL_OK)
        tl_log_plan_free(plan);
    else if (state != NULL)
        plan->base = tl_log_state_keep((tl_log_state *)(uintptr_t)state);
    return status;
}

/* The columns of the state and the new ones behind them, as metadata in the plan's store. */
TLI_FN int tli_tsplan_extend(tli_tsfield_source *s, const tl_log_state *state, const tl_log_field *fields,
                             uint32_t nodes, uint32_t columns, tl_log_meta *m)
{
    tl_log_field *all = (tl_log_field *)tli_tsfield_take(s, (uint64_t)state->meta.node_count + nodes, sizeof *all);
    uint32_t i;
    if (all == NULL)
        return 0;
    for (i = 0; i < state->meta.node_count; i++)
        all[i] = state->meta.fields[i];
    for (i = 0; i < nodes; i++) {
        all[state->meta.node_count + i] = fields[i];
        all[state->meta.node_count + i].nodes = tli_tsfield_nodes(&fields[i]);
    }
    *m = state->meta;
    m->fields = all;
    m->node_count += nodes;
    m->column_count = columns;
    m->protocol_version = TL_PROTOCOL_VERSION;
    if (!tli_tslog_copy_meta(s, m) || !tli_tsplan_declare(s, &m->reader, "schema_add_columns"))
        return 0;
    return !tli_tslog_has_notes(m)
           || (tli_tsplan_declare(s, &m->reader, "schema_metadata")
               && tli_tsplan_declare(s, &m->writer, "schema_metadata"));
}

TLI_FN tl_status tli_tsplan_check_request(const tl_log_plan *plan, const tl_log_state *state,
                                          const tl_log_field *fields, uint32_t nodes, uint32_t *columns,
                                          tl_fault *fault)
{
    tli_tsfield_walk w;
    const tl_span none = {NULL, 0};
    w.part[0] = state->meta.fields;
    w.count[0] = state->meta.node_count;
    w.part[1] = fields;
    w.count[1] = nodes;
    w.fault = fault;
    w.group = TL_GROUP_REQUEST;
    if (!state->meta.has_schema)
        return tli_tsfield_refuse(&w, TL_FAULT_NO_SCHEMA, "a table without a schema takes no columns", none);
    if (nodes == 0)
        return tli_tsfield_refuse(&w, TL_FAULT_NO_COLUMNS, "no columns to add", none);
    if (nodes > UINT32_MAX - state->meta.node_count)
        return tli_features_fault(fault, TL_FAULT_OTHER, TL_LIMIT, "too many columns", TL_NO_POSITION);
    return tli_tsfield_check(&w, &plan->options.allocator, columns);
}

TL_API tl_status tl_log_plan_columns(tl_log_plan *plan, const tl_log_state *state, const tl_log_field *fields,
                                     uint32_t nodes, const tl_log_options *options, tl_fault *fault)
{
    tli_tsfield_source s;
    tl_log_action *action;
    tl_log_meta *m;
    uint32_t columns = 0;
    tl_status st = tli_tsplan_begin(plan, &s, state, options, fault);
    if (st != TL_OK)
        return st;
    st = tli_tsplan_check_request(plan, state, fields, nodes, &columns, fault);
    if (st == TL_OK) {
        action = (tl_log_action *)tli_tsfield_take(&s, 1, sizeof *action);
        m = (tl_log_meta *)tli_tsfield_take(&s, 1, sizeof *m);
        if (action != NULL && m != NULL && tli_tsplan_extend(&s, state, fields, nodes, columns, m)) {
            action->meta = m;
            plan->actions = action;
            plan->action_count = 1;
        }
        st = s.status;
    }
    return tli_tsplan_done(plan, state, st);
}

/* Copies an action; metadata gets what a writer of this protocol puts there. */
TLI_FN int tli_tsplan_copy(tli_tsfield_source *s, tl_log_action *a)
{
    tl_log_meta *m;
    switch (a->kind) {
    case TL_LOG_METADATA:
        m = (tl_log_meta *)tli_tsfield_take(s, 1, sizeof *m);
        if (m == NULL)
            return 0;
        *m = *a->meta;
        m->protocol_version = TL_PROTOCOL_VERSION;
        a->meta = m;
        return tli_tslog_copy_meta(s, m)
               && (!tli_tslog_has_notes(m) || (tli_tsplan_declare(s, &m->reader, "schema_metadata")
                                               && tli_tsplan_declare(s, &m->writer, "schema_metadata")));
    case TL_LOG_ADD:
        return tli_tslog_copy_segment(s, &a->segment);
    default:
        return tli_tsfield_keep(s, a->path, &a->path)
               && (a->grid.zone.data == NULL || tli_tsfield_keep(s, a->grid.zone, &a->grid.zone));
    }
}

TL_API tl_status tl_log_plan_actions(tl_log_plan *plan, const tl_log_state *state, const tl_log_action *actions,
                                     size_t count, const tl_log_options *options, tl_fault *fault)
{
    tli_tsfield_source s;
    tl_log_action *copy;
    size_t i;
    tl_status st = tli_tsplan_begin(plan, &s, state, options, fault);
    if (st != TL_OK)
        return st;
    if (state == NULL && (count == 0 || actions[0].kind != TL_LOG_METADATA))
        return tli_tsplan_done(plan, state, tli_features_fault(fault, TL_FAULT_OTHER, TL_MISUSE,
                                                               "a table is created with its metadata", TL_NO_POSITION));
    copy = (tl_log_action *)tli_tsfield_take(&s, count, sizeof *copy);
    for (i = 0; i < count && s.status == TL_OK; i++) {
        copy[i] = actions[i];
        (void)tli_tsplan_copy(&s, &copy[i]);
    }
    plan->actions = copy;
    plan->action_count = count;
    return tli_tsplan_done(plan, state, s.status);
}

TL_API void tl_log_plan_free(tl_log_plan *plan)
{
    if (plan == NULL)
        return;
    tl_log_state_drop(plan->base);
    tli_mem_store_drop(plan->store);
    TLI_FILL(plan, 0, sizeof *plan);
}

TL_API tl_status tl_log_plan_write(const tl_log_plan *plan, tl_log_time time, tl_buffer *text, tl_log_state **state,
                                   tl_fault *fault)
{
    tl_limits limits = {0, 0, 0, 0, 0, 0, TLI_FEATURES_DEPTH};
    tl_log_replay r;
    tl_error err;
    size_t before = text->size;
    tl_status st = tl_log_write_commit(text, plan->version, plan->version - 1, time, plan->actions, plan->action_count,
                                       fault);
    if (st != TL_OK)
        return st;
    st = tl_json_check((const char *)text->data + before, text->size - before, &limits, &err);
    if (st != TL_OK) {
        text->size = before;
        err.position = TL_NO_POSITION;
        if (fault != NULL)
            fault->version = plan->version;
        (void)tli_features_wrap(fault, &err, TL_FAULT_SERIALIZATION);
        if (fault != NULL && st == TL_LIMIT)
            fault->kind = TL_FAULT_SERIALIZATION;
        return st;
    }
    tl_log_replay_begin(&r, plan->base, &plan->options);
    st = tl_log_replay_commit(&r, plan->version, text->data + before, text->size - before, fault);
    if (st == TL_OK && state != NULL)
        st = tl_log_replay_finish(&r, state, fault);
    tl_log_replay_end(&r);
    if (st != TL_OK)
        text->size = before;
    return st;
}

TL_API tl_status tl_log_may_append(const tl_log_state *state, const tl_span *columns, size_t count,
                                   const tl_client *client, tl_fault *fault)
{
    const tl_log_meta *m = &state->meta;
    int may_omit = tli_tslog_has_feature(&m->reader, "schema_add_columns");
    uint32_t i, e;
    size_t k;
    tl_status st = tli_tslog_check_protocol(m, client, 1, fault);
    if (st != TL_OK)
        return st;
    if (!m->has_schema)
        return state->version == 1 ? TL_OK
                                   : tli_features_fault(fault, TL_FAULT_NO_CANONICAL_SCHEMA, TL_MISUSE,
                                                        "the table has no schema, and is past version 1",
                                                        TL_NO_POSITION);
    for (i = 0; i < m->node_count; i += m->fields[i].nodes) {
        const tl_log_field *f = &m->fields[i];
        int key = tl_span_equal(f->name, m->index_column);
        for (e = 0; e < m->entity_count; e++)
            key |= tl_span_equal(f->name, m->entity_columns[e]);
        for (k = 0; k < count && !tl_span_equal(columns[k], f->name); k++)
            continue;
        if (k == count && (key || !f->nullable || !may_omit)) {
            (void)tli_features_fault(fault, TL_FAULT_MISSING_COLUMN, TL_MISUSE, "a column is missing", TL_NO_POSITION);
            tli_features_about(fault, f->name);
            return TL_MISUSE;
        }
    }
    return TL_OK;
}
#endif /* TIMELAKE_NO_LOG */
