/* >>publish */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)
enum { TLI_PUBLISH_START, TLI_PUBLISH_READ, TLI_PUBLISH_PUT, TLI_PUBLISH_OVER, TLI_PUBLISH_DROP };

#define TLI_PUBLISH_READS 5u

TLI_FN tl_span tli_publish_key(tl_publish *p, uint32_t i, const char *name)
{
    size_t room = p->table->location.size + TLI_KEYS_ROOM;
    return tli_keys_join(p->keys + i * room, p->table->location, name, 0);
}

TLI_FN int tli_publish_done(tl_publish *p)
{
    tli_op_finish(&p->op, TL_DONE);
    return 1;
}

TLI_FN int tli_publish_gives_up(tl_publish *p, tl_status status, const char *text)
{
    (void)tli_err(&p->why_no_head, status, text, TL_NO_POSITION);
    return tli_publish_done(p);
}

TLI_FN tl_request *tli_publish_ask(tl_publish *p, tl_request_kind kind, tl_span key, tl_purpose purpose)
{
    tl_request *r = tli_op_request(&p->op, kind, key, purpose);
    if (r != NULL)
        r->background = 1;
    return r;
}

TLI_FN int tli_publish_newer_is_known(tl_publish *p)
{
    int64_t confirmed;
    tl_table *known = tli_lake_find(p->lake, p->table->location, &confirmed);
    int newer = known != NULL && known->version > p->table->version
                && tl_span_equal(known->metadata.uuid, p->table->metadata.uuid);
    tl_table_drop(known);
    return newer;
}

TLI_FN int tli_publish_read(tl_publish *p)
{
    tl_request *r;
    if (p->op.cancelled)
        return tli_publish_gives_up(p, TL_CANCELLED, "cancelled");
    if (tli_publish_newer_is_known(p)) {
        tli_op_finish(&p->op, TL_NONE);
        return 1;
    }
    p->state = TLI_PUBLISH_READ;
    p->reads++;
    r = tli_publish_ask(p, TL_GET, tli_publish_key(p, 0, "/metadata/timelake-head"), TL_PURPOSE_HEAD);
    if (r == NULL)
        return 1;
    r->length = TL_HEAD_HEADER_MAX;
    if (p->reads != 1)
        return 1;
    r = tli_publish_ask(p, TL_PUT, tli_publish_key(p, 1, "/metadata/version-hint.text"), TL_PURPOSE_HINT);
    if (r == NULL)
        return 1;
    p->hint = tli_text_span(p->digits, tli_number_u64(p->digits, p->table->version));
    r->body = &p->hint;
    r->body_count = 1;
    r->body_size = p->hint.size;
    return 1;
}

/* The head's bytes, in the codec that the table's property names. */
TLI_FN tl_status tli_publish_encode(tl_publish *p, tl_error *err)
{
    const tl_lake_options *lo = &p->lake->options;
    char room[TLI_HEAD_NAME];
    tl_span name;
    tl_head_options o;
    tl_status st = tli_head_format(p->table->metadata.contract.head_format, room, sizeof room, &name, err);
    if (st != TL_OK)
        return st;
    if (tl_span_equal(name, tl_text("none")))
        return tli_err(err, TL_NO_CODEC, "the table wants no head", TL_NO_POSITION);
    if (!p->table->has_files)
        return tli_err(err, TL_ABSENT, "the version was loaded without its files", TL_NO_POSITION);
    TLI_FILL(&o, 0, sizeof o);
    o.codecs = lo->codecs;
    o.codec_count = lo->codec_count;
    o.allocator = lo->op.allocator;
    o.limits = lo->limits;
    o.compression = lo->compression;
    if (p->body == NULL)
        p->body = (tli_grow_body *)tli_mem_new(&lo->op.allocator, sizeof *p->body);
    if (p->body == NULL)
        return tli_mem_failed(&lo->op.allocator, err);
    TLI_FILL(p->body, 0, sizeof *p->body);
    p->body->bytes.allocator = p->body->cuts.allocator = p->body->spans.allocator = lo->op.allocator;
    return tli_grow_encode(p->body, &p->table->head, name, p->table->metadata.contract.head_inline_bytes, &o, err);
}

/* Keeps the ETag: a weak one can never match. 0: there is none to go by. */
TLI_FN int tli_publish_keep_etag(tl_publish *p, tl_span etag)
{
    const tl_allocator *a = &p->lake->options.op.allocator;
    tli_mem_delete(a, p->etag, p->etag_size);
    p->etag = NULL;
    p->etag_size = 0;
    if (etag.size == 0 || (etag.size > 1 && etag.data[0] == 'W' && etag.data[1] == '/'))
        return 0;
    p->etag = (char *)tli_mem_new(a, etag.size);
    if (p->etag == NULL)
        return 0;
    TLI_COPY(p->etag, etag.data, etag.size);
    p->etag_size = etag.size;
    return 1;
}

TLI_FN int tli_publish_put(tl_publish *p, tl_condition condition, uint8_t state)
{
    tl_request *r = tli_publish_ask(p, TL_PUT, tli_publish_key(p, 0, "/metadata/timelake-head"), TL_PURPOSE_HEAD);
    p->state = state;
    if (r == NULL)
        return 1;
    r->condition = condition;
    if (condition == TL_IF_MATCH)
        r->etag = tli_text_span(p->etag, p->etag_size);
    r->body = (const tl_span *)(const void *)p->body->spans.data;
    r->body_count = p->body->span_count;
    r->body_size = (size_t)p->body->size;
    return 1;
}

/* With the stored head's first bytes at hand: is it to be replaced, and by what? */
TLI_FN int tli_publish_decide(tl_publish *p)
{
    const tli_op_slot *slot = tli_op_answer(&p->op, 0);
    int absent = slot->outcome == TL_OUTCOME_NOT_FOUND, tagged;
    tl_header header;
    tl_status st;
    if (p->op.slot_count > 1)
        p->hint_written = (uint8_t)(tli_op_answer(&p->op, 1)->outcome == TL_OUTCOME_OK);
    if (slot->outcome != TL_OUTCOME_OK && !absent)
        return tli_publish_gives_up(p, TL_STORE, "the stored head could not be read");
    if (!absent && tl_head_peek(&header, slot->body->data, slot->body->size, NULL) == TL_OK
        && header.version >= p->table->version)
        return tli_publish_done(p);
    tagged = tli_publish_keep_etag(p, slot->etag);
    tli_op_clear(&p->op);
    st = p->body != NULL && p->body->span_count != 0 ? TL_OK : tli_publish_encode(p, &p->why_no_head);
    if (st == TL_NO_CODEC && !absent) {
        p->state = TLI_PUBLISH_DROP;
        (void)tli_publish_ask(p, TL_DELETE, tli_publish_key(p, 0, "/metadata/timelake-head"), TL_PURPOSE_HEAD);
        return 1;
    }
    if (st != TL_OK)
        return tli_publish_done(p);
    if (!absent && !tagged)
        return tli_publish_gives_up(p, TL_STORE, "the store gave no ETag to replace the head by");
    return tli_publish_put(p, absent ? TL_IF_ABSENT : TL_IF_MATCH, TLI_PUBLISH_PUT);
}

TLI_FN int tli_publish_answered(tl_publish *p)
{
    tl_outcome outcome = tli_op_answer(&p->op, 0)->outcome;
    tli_op_clear(&p->op);
    if (outcome == TL_OUTCOME_OK) {
        p->head_written = 1;
        return tli_publish_done(p);
    }
    if (outcome == TL_OUTCOME_UNSUPPORTED && p->state == TLI_PUBLISH_PUT && !p->op.cancelled)
        return tli_publish_put(p, TL_ALWAYS, TLI_PUBLISH_OVER);
    if (p->state == TLI_PUBLISH_PUT && p->reads < TLI_PUBLISH_READS
        && (outcome == TL_OUTCOME_PRECONDITION || outcome == TL_OUTCOME_NOT_FOUND || outcome == TL_OUTCOME_UNKNOWN))
        return tli_publish_read(p);
    return tli_publish_gives_up(p, TL_STORE, "the head could not be written");
}

TLI_FN int tli_publish_advance(tl_op *op)
{
    tl_publish *p = (tl_publish *)(void *)op;
    switch (p->state) {
    case TLI_PUBLISH_START:
        return tli_publish_read(p);
    case TLI_PUBLISH_READ:
        return tli_publish_decide(p);
    case TLI_PUBLISH_DROP:
        p->head_dropped = (uint8_t)(tli_op_answer(&p->op, 0)->outcome == TL_OUTCOME_OK);
        return tli_publish_done(p);
    default:
        return tli_publish_answered(p);
    }
}

TLI_FN void tli_publish_end(tl_op *op)
{
    tl_publish *p = (tl_publish *)(void *)op;
    const tl_allocator *a = &p->lake->options.op.allocator;
    if (p->body != NULL)
        tli_grow_body_end(p->body);
    tli_mem_delete(a, p->body, sizeof *p->body);
    tli_mem_delete(a, p->etag, p->etag_size);
    if (p->table != NULL)
        tli_mem_delete(a, p->keys, 2 * (p->table->location.size + TLI_KEYS_ROOM));
    tl_table_drop(p->table);
    p->keys = p->etag = NULL;
    p->body = NULL;
    p->table = NULL;
}

TLI_FN const char *tli_publish_state(const tl_op *op)
{
    static const char *const names[] = {"START", "READ", "PUT", "OVER", "DROP"};
    return names[((const tl_publish *)(const void *)op)->state];
}

TL_API void tl_publish_begin(tl_publish *publish, tl_lake *lake, tl_table *table)
{
    static const tli_op_machine machine = {tli_publish_advance, NULL, NULL, tli_publish_end, tli_publish_state,
                                           1, 0, 0};
    TLI_FILL(publish, 0, sizeof *publish);
    tli_op_begin(&publish->op, &machine, &lake->options.op);
    publish->lake = lake;
    if (table == NULL) {
        tli_op_fail(&publish->op, TL_MISUSE, "no table to publish: its load or commit failed", TL_NO_POSITION);
        return;
    }
    publish->table = tl_table_keep(table);
    publish->keys = (char *)tli_mem_new(&lake->options.op.allocator, 2 * (table->location.size + TLI_KEYS_ROOM));
    if (publish->keys == NULL)
        tli_op_fail(&publish->op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
