/* >>commit */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)
enum {
    TLI_COMMIT_START, TLI_COMMIT_HINT, TLI_COMMIT_LIST, TLI_COMMIT_MANIFESTS, TLI_COMMIT_UPLOAD, TLI_COMMIT_PUT,
    TLI_COMMIT_READ, TLI_COMMIT_WAIT, TLI_COMMIT_PAUSE, TLI_COMMIT_LOAD, TLI_COMMIT_HINTED
};

#define TLI_COMMIT_TRIES 3u /* of an upload of unknown outcome, and of reading v<N+1> back */
#define TLI_COMMIT_PUTS 5u  /* of v<N+1>, when it is not there after a put that may have been applied */
#define TLI_COMMIT_OWN 1u   /* sweep: manifests and list */
#define TLI_COMMIT_ALL 2u   /* data files and index too */
#define TLI_COMMIT_STORING 1u /* data files and index may be there, */
#define TLI_COMMIT_STORED 2u  /* or are, every one */

TLI_FN tli_rand *tli_commit_random(tl_commit *c)
{
    return (tli_rand *)(void *)c->random;
}

TLI_FN char *tli_commit_place(tl_commit *c, uint32_t i)
{
    return c->keys + c->location.size + (size_t)i * (c->location.size + TLI_KEYS_ROOM);
}

TLI_FN tl_span tli_commit_hint_key(tl_commit *c)
{
    return tli_keys_join(tli_commit_place(c, 1), c->location, "/metadata/version-hint.text", 0);
}

/* ---- what goes ---- */

TLI_FN void tli_commit_sweep(tl_commit *c, uint32_t which)
{
    c->sweep = (uint8_t)which;
    c->swept = 0;
}

/* ---- ends ---- */

TLI_FN void tli_commit_drop_plan(tl_commit *c)
{
    if (c->plan == NULL)
        return;
    tli_commitplan_end(c->plan);
    tli_mem_delete(&c->lake->options.op.allocator, c->plan, sizeof *c->plan);
    c->plan = NULL;
    c->bodies = NULL;
}

/* An answer that is no good, to something that cannot have committed. */
TLI_FN int tli_commit_bad(tl_commit *c, const tli_op_slot *slot)
{
    tli_op_fail_answer(&c->op, slot);
    return 1;
}

TLI_FN int tli_commit_cancelled(tl_commit *c)
{
    return tli_op_fails_about(&c->op, TL_CANCELLED, "cancelled", c->location);
}

TLI_FN int tli_commit_ambiguous(tl_commit *c)
{
    c->unknown = 1;
    return tli_op_fails_about(&c->op, TL_AMBIGUOUS, "the commit may be in: its metadata file cannot be read",
                              c->next_key);
}

TLI_FN int tli_commit_finish(tl_commit *c)
{
    tli_op_finish(&c->op, TL_DONE);
    return 1;
}

/* Of a creation the hint is waited for: it is what listings of tables go by. */
TLI_FN int tli_commit_put_hint(tl_commit *c)
{
    tl_request *r = tli_op_request(&c->op, TL_PUT, tli_commit_hint_key(c), TL_PURPOSE_HINT);
    c->state = TLI_COMMIT_HINTED;
    if (r == NULL)
        return tli_commit_finish(c); /* it is in all the same */
    c->whole = tl_text("1");
    r->body = &c->whole;
    r->body_count = 1;
    r->body_size = c->whole.size;
    return 1;
}

/* n times 5 to 50 ms. */
TLI_FN int tli_commit_sleep(tl_commit *c, uint32_t n)
{
    tl_request *r = tli_op_request(&c->op, TL_SLEEP, tli_text_span(NULL, 0), TL_PURPOSE_PAUSE);
    int64_t ms = (int64_t)n * (5 + (int64_t)tli_rand_below(tli_commit_random(c), 46));
    if (r == NULL)
        return 1;
    r->until = c->op.now > INT64_MAX - ms ? INT64_MAX : c->op.now + ms;
    return 1;
}

/* It is in. The lake knows it from now on; nothing can fail any more. */
TLI_FN int tli_commit_won(tl_commit *c)
{
    c->table = c->plan->table;
    c->plan->table = NULL;
    tl_table_drop(tli_lake_store(c->lake, tl_table_keep(c->table), c->began));
    if (tli_commitplan_snapshots(c->plan)) {
        c->snapshot_id = c->plan->snapshot_id;
        c->index_dropped = (uint8_t)(c->base != NULL && c->base->metadata.last_value_index.data != NULL
                                     && c->table->metadata.last_value_index.data == NULL);
        c->why_no_index = c->plan->index.why;
    }
    tli_op_clear(&c->op);
    return c->base != NULL || c->op.cancelled ? tli_commit_finish(c) : tli_commit_put_hint(c);
}

/* ---- START ---- */

TLI_FN int tli_commit_lost(tl_commit *c);
TLI_FN int tli_commit_upload(tl_commit *c);

/* Does the change set a head format of a codec that is not here? The table would lose its head. */
TLI_FN int tli_commit_unknown_format(tl_commit *c, tl_error *why)
{
    const tl_lake_options *lo = &c->lake->options;
    tl_span format = c->plan->table->metadata.contract.head_format, name;
    char room[TLI_HEAD_NAME];
    const tl_head_codec *foreign;
    tli_head_kind kind;
    tl_head_options o;
    if (c->base != NULL && tl_span_equal(format, c->base->metadata.contract.head_format))
        return 0;
    TLI_FILL(&o, 0, sizeof o);
    o.codecs = lo->codecs;
    o.codec_count = lo->codec_count;
    return tli_head_format(format, room, sizeof room, &name, why) != TL_OK
           || (!tl_span_equal(name, tl_text("none"))
               && tli_head_find(&o, name, &kind, &foreign, TL_NO_POSITION, why) != TL_OK);
}

/* The attempt is planned: with everything read that it needs. */
TLI_FN int tli_commit_planned(tl_commit *c, tl_error *why)
{
    char *place = tli_commit_place(c, 0);
    if (tli_commitplan_finish(c->plan) != TL_OK || tli_commit_unknown_format(c, why))
        return tli_op_fail_about(&c->op, why, c->location);
    c->version = c->plan->version;
    c->next_key = tli_keys_version(place, c->location, c->version);
    return tli_commit_upload(c);
}

/* The list is known, or there is none. */
TLI_FN int tli_commit_pick(tl_commit *c, tl_error *why)
{
    tli_commitplan *p = c->plan;
    uint32_t i;
    if (!tli_commitplan_snapshots(p))
        return tli_commit_planned(c, why);
    if (tli_commitplan_pick(p) != TL_OK)
        return tli_op_fail_about(&c->op, why, c->location);
    if (p->picked_count == 0)
        return tli_commit_planned(c, why);
    c->state = TLI_COMMIT_MANIFESTS;
    for (i = 0; i < p->picked_count; i++)
        if (tli_op_request(&c->op, TL_GET, p->list->entries[p->picked[i]].path, TL_PURPOSE_MANIFEST) == NULL)
            return 1;
    return 1;
}

TLI_FN int tli_commit_start(tl_commit *c)
{
    const tl_lake_options *lo = &c->lake->options;
    tl_error *why = &c->op.error;
    if (c->op.cancelled)
        return tli_commit_cancelled(c);
    tli_commit_drop_plan(c);
    c->attempts++;
    c->uploaded = c->unknown = 0;
    tli_commit_sweep(c, 0);
    c->puts = c->reads = c->uploads = 0;
    c->plan = (tli_commitplan *)tli_mem_new(&lo->op.allocator, sizeof *c->plan);
    if (c->plan == NULL)
        return tli_op_fails_about(&c->op, TL_NO_MEMORY, "out of memory", c->location);
    if (tli_commitplan_begin(c->plan, c->change, c->base, c->location, tli_commit_random(c), c->op.now, &lo->limits,
                             &lo->op.allocator, why) != TL_OK)
        return tli_op_fail_about(&c->op, why, c->location);
    c->plan->codec = lo->index;
    if (c->plan->duplicate) {
        c->duplicate = 1;
        c->table = tl_table_keep(c->base);
        c->version = c->base->version;
        tli_commit_sweep(c, TLI_COMMIT_ALL);
        return tli_commit_finish(c);
    }
    if (c->base == NULL) {
        c->state = TLI_COMMIT_HINT;
        (void)tli_op_request(&c->op, TL_STAT, tli_commit_hint_key(c), TL_PURPOSE_HINT);
        return 1;
    }
    if (tli_commitplan_wants_list(c->plan)
        && tli_op_request(&c->op, TL_GET, c->base->metadata.manifest_list, TL_PURPOSE_MANIFEST_LIST) == NULL)
        return 1;
    if (tli_commitplan_wants_index(c->plan)
        && tli_op_request(&c->op, TL_GET, c->base->metadata.last_value_index, TL_PURPOSE_INDEX) == NULL)
        return 1;
    if (c->op.slot_count == 0)
        return tli_commit_pick(c, why);
    c->state = TLI_COMMIT_LIST;
    return 1;
}

/* ---- HINT, LIST and MANIFESTS ---- */

TLI_FN int tli_commit_hint(tl_commit *c)
{
    const tli_op_slot *slot = tli_op_answer(&c->op, 0);
    if (slot->outcome == TL_OUTCOME_OK)
        return tli_op_fails_about(&c->op, TL_EXISTS, "there is such a table", slot->request.key);
    if (slot->outcome != TL_OUTCOME_NOT_FOUND)
        return tli_commit_bad(c, slot);
    tli_op_clear(&c->op);
    return tli_commit_planned(c, &c->op.error);
}

/* The base's index file was read. One that cannot be used is as if there were none. 0: out of memory. */
TLI_FN int tli_commit_indexed(tl_commit *c, const tli_op_slot *slot)
{
    const tl_lake_options *lo = &c->lake->options;
    tl_error *why = &c->plan->index.why;
    if (slot->outcome != TL_OUTCOME_OK) {
        (void)tli_err(why, TL_ABSENT, "the index file of the version before is not there", TL_NO_POSITION);
        return 1;
    }
    c->file = tli_indexplan_decode(&lo->index, slot->body->data, slot->body->size, &lo->compression, &lo->limits,
                                   &lo->op.allocator, why);
    if (c->file != NULL)
        c->plan->index_rows = &c->file->rows;
    if (c->file != NULL || (why->status != TL_NO_MEMORY && why->status != TL_BLOCK_FULL))
        return 1;
    return 0;
}

TLI_FN int tli_commit_listed(tl_commit *c)
{
    const tl_lake_options *lo = &c->lake->options;
    tl_error *why = &c->op.error;
    uint32_t i;
    for (i = 0; i < c->op.slot_count; i++) {
        const tli_op_slot *slot = tli_op_answer(&c->op, i);
        int index = slot->request.purpose == TL_PURPOSE_INDEX;
        if (slot->outcome == TL_OUTCOME_NOT_FOUND && !index) /* the base has expired meanwhile */
            return tli_commit_lost(c);
        if (slot->outcome != TL_OUTCOME_OK && slot->outcome != TL_OUTCOME_NOT_FOUND)
            return tli_commit_bad(c, slot);
        if (index) {
            if (!tli_commit_indexed(c, slot))
                return tli_op_fails_about(&c->op, TL_NO_MEMORY, "out of memory", slot->request.key);
            continue;
        }
        c->list = tli_iceberg_read_new_list(slot->body->data, slot->body->size, &lo->limits, &lo->op.allocator, why);
        if (c->list == NULL)
            return tli_op_fail_about(&c->op, why, slot->request.key);
        c->plan->list = c->list;
    }
    tli_op_clear(&c->op);
    return tli_commit_pick(c, why);
}

TLI_FN int tli_commit_read_manifests(tl_commit *c)
{
    uint64_t share = c->op.options.step_bytes, bytes = 0;
    tl_error *why = &c->op.error;
    while (c->plan->read_count < c->plan->picked_count) {
        const tli_op_slot *slot = tli_op_answer(&c->op, c->plan->read_count);
        if (slot->outcome == TL_OUTCOME_NOT_FOUND)
            return tli_commit_lost(c);
        if (slot->outcome != TL_OUTCOME_OK)
            return tli_commit_bad(c, slot);
        if (share != 0 && bytes >= share)
            return 0;
        bytes += slot->body->size;
        if (tli_commitplan_read(c->plan, slot->body->data, slot->body->size) != TL_OK)
            return tli_op_fail_about(&c->op, why, slot->request.key);
    }
    tli_op_clear(&c->op);
    return tli_commit_planned(c, why);
}

/* ---- UPLOAD ---- */

TLI_FN int tli_commit_put_file(tl_commit *c, tl_span key, tl_span body, tl_purpose purpose)
{
    tl_request *r = tli_op_request(&c->op, TL_PUT, key, purpose);
    tl_span *at = &c->bodies[c->body_count];
    if (r == NULL)
        return 0;
    *at = body;
    c->body_count++;
    r->condition = TL_ALWAYS;
    r->body = at;
    r->body_count = 1;
    r->body_size = body.size;
    return 1;
}

TLI_FN int tli_commit_put_data(tl_commit *c, const tl_data_file *d, tl_purpose purpose)
{
    return c->stored == TLI_COMMIT_STORED || d->body.data == NULL
           || tli_commit_put_file(c, d->file.path, d->body, purpose);
}

TLI_FN int tli_commit_put_next(tl_commit *c);

/* Everything at once, and whether the base is there still: while it is, v<N+1> cannot have expired, and creating it
   tells who is first. */
TLI_FN int tli_commit_upload(tl_commit *c)
{
    const tl_change *change = c->change;
    tl_error *why = &c->op.error;
    size_t i;
    if (c->base == NULL)
        return tli_commit_put_next(c);
    c->state = TLI_COMMIT_UPLOAD;
    c->body_count = 0;
    c->bodies = (tl_span *)tli_mem_take_array(c->plan->store, change->added_count + TLI_COMMITPLAN_OBJECTS + 2,
                                              sizeof *c->bodies, why);
    if (c->bodies == NULL)
        return tli_op_fail_about(&c->op, why, c->location);
    if (tli_op_request(&c->op, TL_STAT, tli_keys_version(tli_commit_place(c, 1), c->location, c->base->version),
                       TL_PURPOSE_CHECK) == NULL)
        return 1;
    c->uploaded = 1;
    c->stored = TLI_MAX(c->stored, (uint8_t)TLI_COMMIT_STORING);
    for (i = 0; i < change->added_count; i++)
        if (!tli_commit_put_data(c, &change->added[i], TL_PURPOSE_DATA))
            return 1;
    if (change->kind == TL_CHANGE_INDEX && !tli_commit_put_data(c, &change->index, TL_PURPOSE_INDEX))
        return 1;
    for (i = 0; i < TLI_COMMITPLAN_OBJECTS; i++) {
        const tli_commitplan_object *o = &c->plan->objects[i];
        tl_purpose purpose = i == TLI_COMMITPLAN_LIST ? TL_PURPOSE_MANIFEST_LIST
            : i == TLI_COMMITPLAN_LAST_VALUES ? TL_PURPOSE_INDEX : TL_PURPOSE_MANIFEST;
        if (o->key.data != NULL
            && !tli_commit_put_file(c, o->key, tli_text_span(o->bytes.data, o->bytes.size), purpose))
            return 1;
    }
    return 1;
}

TLI_FN int tli_commit_unclear(tl_outcome outcome)
{
    return outcome == TL_OUTCOME_UNKNOWN || outcome == TL_OUTCOME_CANCELLED;
}

/* Puts of unknown outcome go out again: their names are nobody else's. */
TLI_FN int tli_commit_uploaded(tl_commit *c)
{
    uint32_t i, n = c->op.slot_count, again = 0;
    for (i = 0; i < n; i++) {
        const tli_op_slot *slot = tli_op_answer(&c->op, i);
        if (slot->request.kind == TL_STAT && slot->outcome == TL_OUTCOME_NOT_FOUND && !c->op.cancelled)
            return tli_commit_lost(c);
        if (slot->outcome == TL_OUTCOME_OK)
            continue;
        if (c->op.cancelled)
            return tli_commit_cancelled(c);
        if (slot->request.kind != TL_PUT || !tli_commit_unclear(slot->outcome) || c->uploads + 1 >= TLI_COMMIT_TRIES)
            return tli_commit_bad(c, slot);
        again++;
    }
    if (c->op.cancelled)
        return tli_commit_cancelled(c);
    if (again == 0) {
        tli_op_clear(&c->op);
        c->stored = TLI_COMMIT_STORED;
        return tli_commit_put_next(c);
    }
    c->uploads++;
    tli_op_again(&c->op);
    return 1;
}

/* ---- PUT and READ ---- */

TLI_FN int tli_commit_put_next(tl_commit *c)
{
    tl_request *r = tli_op_request(&c->op, TL_PUT, c->next_key, TL_PURPOSE_COMMIT);
    c->state = TLI_COMMIT_PUT;
    c->puts++;
    c->began = c->op.now;
    if (r == NULL)
        return 1;
    c->whole = tli_text_span(c->plan->metadata.data, c->plan->metadata.size);
    r->condition = TL_IF_ABSENT;
    r->body = &c->whole;
    r->body_count = 1;
    r->body_size = c->whole.size;
    return 1;
}

TLI_FN int tli_commit_read_next(tl_commit *c)
{
    c->state = TLI_COMMIT_READ;
    c->reads++;
    if (tli_op_request(&c->op, TL_GET, c->next_key, TL_PURPOSE_METADATA) != NULL && c->base != NULL)
        (void)tli_op_request(&c->op, TL_STAT,
                             tli_keys_version(tli_commit_place(c, 1), c->location, c->base->version),
                             TL_PURPOSE_CHECK);
    return 1;
}

TLI_FN int tli_commit_put_done(tl_commit *c)
{
    const tli_op_slot *slot = tli_op_answer(&c->op, 0);
    int exists = slot->outcome == TL_OUTCOME_PRECONDITION || slot->outcome == TL_OUTCOME_NOT_MODIFIED;
    if (slot->outcome == TL_OUTCOME_OK)
        return tli_commit_won(c);
    if (tli_commit_unclear(slot->outcome))
        c->unknown = 1;
    else if (!exists && !c->unknown) { /* not applied, and no put before it can have been */
        if (slot->outcome == TL_OUTCOME_NEVER_SENT && c->op.cancelled)
            return tli_commit_cancelled(c);
        return tli_commit_bad(c, slot);
    }
    c->reads = 0;
    tli_op_clear(&c->op);
    return tli_commit_read_next(c);
}

/* What v<N+1> says: 1 it is ours, 0 it is someone else's metadata, -1 it is neither. */
TLI_FN int tli_commit_whose(const tl_commit *c, const tli_blob *body)
{
    const tl_lake_options *lo = &c->lake->options;
    tl_metadata m;
    if (tl_span_equal(tli_text_span(body->data, body->size), c->whole))
        return 1;
    if (tl_metadata_parse(&m, (const char *)body->data, body->size, &lo->limits, &lo->op.allocator, NULL) != TL_OK)
        return -1;
    tl_metadata_free(&m);
    return 0;
}

TLI_FN int tli_commit_read_done(tl_commit *c)
{
    tli_op_slot *slot = tli_op_answer(&c->op, 0);
    int whose = slot->outcome == TL_OUTCOME_OK ? tli_commit_whose(c, slot->body) : -1;
    tl_outcome base = c->base == NULL ? TL_OUTCOME_OK : tli_op_answer(&c->op, 1)->outcome;
    int absent = slot->outcome == TL_OUTCOME_NOT_FOUND && base == TL_OUTCOME_OK;
    if (whose == 1)
        return tli_commit_won(c);
    if (slot->outcome == TL_OUTCOME_NOT_FOUND && base == TL_OUTCOME_NOT_FOUND)
        return tli_commit_ambiguous(c); /* v<N+1> may have been there and have expired: it is never put again */
    tli_op_clear(&c->op);
    if (whose == 0) {
        c->unknown = 0; /* its place is taken: no put of ours can be applied any more */
        return c->base == NULL ? tli_op_fails_about(&c->op, TL_EXISTS, "there is such a table", c->next_key)
                               : tli_commit_lost(c);
    }
    if (c->op.cancelled || (absent && c->puts >= TLI_COMMIT_PUTS) || (!absent && c->reads >= TLI_COMMIT_TRIES))
        return tli_commit_ambiguous(c);
    if (absent)
        return tli_commit_put_next(c);
    c->state = TLI_COMMIT_WAIT;
    return tli_commit_sleep(c, c->reads);
}

/* ---- PAUSE and LOAD ---- */

/* Someone else is at v<N+1>, or the base is gone: once more on the newest version. */
TLI_FN int tli_commit_lost(tl_commit *c)
{
    tli_op_clear(&c->op);
    if (c->op.cancelled)
        return tli_commit_cancelled(c);
    if (c->attempts >= TL_COMMIT_ATTEMPTS)
        return tli_op_fails_about(&c->op, TL_CONFLICT, "other writers won every attempt", c->next_key);
    tli_commit_sweep(c, TLI_COMMIT_OWN);
    c->state = TLI_COMMIT_PAUSE;
    return tli_commit_sleep(c, c->attempts + 1);
}

TLI_FN void tli_commit_end_load(tl_commit *c)
{
    if (c->load == NULL)
        return;
    (void)tl_op_end(&c->load->op);
    tli_mem_delete(&c->lake->options.op.allocator, c->load, sizeof *c->load);
    c->load = NULL;
}

TLI_FN int tli_commit_pump(tl_commit *c);

TLI_FN int tli_commit_reload(tl_commit *c)
{
    tl_load_options o;
    if (c->op.cancelled)
        return tli_commit_cancelled(c);
    tli_op_clear(&c->op);
    c->load = (tl_load *)tli_mem_new(&c->lake->options.op.allocator, sizeof *c->load);
    if (c->load == NULL)
        return tli_op_fails_about(&c->op, TL_NO_MEMORY, "out of memory", c->location);
    TLI_FILL(&o, 0, sizeof o);
    o.max_age_ms = -1;
    tl_load_begin(c->load, c->lake, c->location, &o);
    c->load->op.options.trace = NULL; /* this operation's requests are told by it */
    c->load->op.options.in_flight = TLI_MIN(c->load->op.options.in_flight, (uint32_t)TLI_COUNT(c->tokens));
    c->state = TLI_COMMIT_LOAD;
    return tli_commit_pump(c);
}

/* The load ended: its table is the new base. */
TLI_FN int tli_commit_rebase(tl_commit *c)
{
    tl_load *load = c->load;
    tl_error why = *tl_op_error(&load->op);
    tl_table *old = c->base;
    int same;
    if (tl_op_status(&load->op) == TL_ABSENT && load->op.turn == TL_NONE)
        return tli_op_fails_about(&c->op, TL_ABSENT, "the table is not there any more", c->location);
    if (tl_op_status(&load->op) != TL_OK)
        return tli_op_fail_about(&c->op, &why, tl_op_error_key(&load->op));
    same = tl_span_equal(load->table->metadata.uuid, old->metadata.uuid);
    c->base = tl_table_keep(load->table);
    tli_commit_drop_plan(c); /* it points into the old base and its list */
    tl_table_drop(old);
    tli_iceberg_delete_list(c->list);
    c->list = NULL;
    tli_indexplan_close(c->file, &c->lake->options.op.allocator);
    c->file = NULL;
    tli_commit_end_load(c);
    if (!same)
        return tli_op_fails_about(&c->op, TL_CONFLICT, "the table was dropped and made anew", c->location);
    return tli_commit_start(c);
}

/* No memory to ask for what the load wants: it gets its `count` requests back, so that it can be ended. */
TLI_FN int tli_commit_starve(tl_commit *c, uint32_t count)
{
    while (count-- > 0) {
        tl_completion none = tl_completed(c->tokens[count], TL_OUTCOME_NEVER_SENT);
        (void)tl_complete(&c->load->op, &none, c->op.now);
    }
    return 1;
}

/* Steps the load; what it wants, this operation asks for. */
TLI_FN int tli_commit_pump(tl_commit *c)
{
    tl_request want, *r;
    tl_turn turn;
    while ((turn = tl_step(&c->load->op, c->op.now, &want)) == TL_WANTS) {
        uint32_t i = c->op.slot_count;
        if (want.token == 0)
            continue;
        c->tokens[i] = want.token;
        r = tli_op_request(&c->op, want.kind, want.key, want.purpose);
        if (r == NULL)
            return tli_commit_starve(c, i + 1);
        r->condition = want.condition;
        r->etag = want.etag;
        r->offset = want.offset;
        r->length = want.length;
        r->accept = want.accept;
        r->max_keys = want.max_keys;
        r->page = want.page;
    }
    if (turn == TL_WAITS)
        return c->op.slot_count != 0;
    return tli_commit_rebase(c);
}

TLI_FN void tli_commit_release(void *context, const void *data, size_t size)
{
    (void)data;
    (void)size;
    tli_mem_blob_drop((tli_blob *)context);
}

/* Hands the answer in slot i on to the load. Of a listing the load wants to know one name: the newest. */
TLI_FN void tli_commit_hand_on(tl_commit *c, uint32_t i)
{
    tli_op_slot *slot = tli_op_answer(&c->op, i);
    tl_completion done = tl_completed(c->tokens[i], slot->outcome);
    tl_entry entry;
    done.body_offset = slot->request.offset;
    done.object_size = slot->object_size;
    done.etag = slot->etag;
    if (slot->body != NULL) {
        done.body = tli_text_span(slot->body->data, slot->body->size);
        done.release = tli_commit_release;
        done.release_context = tli_op_take_body(slot);
    }
    if (slot->request.kind == TL_LIST && slot->outcome == TL_OUTCOME_OK) {
        TLI_FILL(&entry, 0, sizeof entry);
        entry.key = slot->request.purpose == TL_PURPOSE_CHECK
            ? slot->request.key : tli_keys_version(tli_commit_place(c, 0), c->location, slot->number);
        done.entries = &entry;
        done.entry_count = slot->number != 0;
        if (slot->more)
            done.next_page = slot->page;
    }
    (void)tl_complete(&c->load->op, &done, c->op.now);
}

TLI_FN int tli_commit_loaded(tl_commit *c)
{
    uint32_t i;
    for (i = 0; i < c->op.slot_count; i++)
        tli_commit_hand_on(c, i);
    tli_op_clear(&c->op);
    if (c->op.cancelled) {
        tl_cancel(&c->load->op, c->op.now);
        return tli_commit_cancelled(c);
    }
    return tli_commit_pump(c);
}

/* ---- the machine ---- */

TLI_FN int tli_commit_turn(tl_commit *c)
{
    switch (c->state) {
    case TLI_COMMIT_START:
        return tli_commit_start(c);
    case TLI_COMMIT_HINT:
        return c->op.cancelled ? tli_commit_cancelled(c) : tli_commit_hint(c);
    case TLI_COMMIT_LIST:
        return c->op.cancelled ? tli_commit_cancelled(c) : tli_commit_listed(c);
    case TLI_COMMIT_MANIFESTS:
        return c->op.cancelled ? tli_commit_cancelled(c) : tli_commit_read_manifests(c);
    case TLI_COMMIT_UPLOAD:
        return tli_commit_uploaded(c);
    case TLI_COMMIT_PUT:
        return tli_commit_put_done(c);
    case TLI_COMMIT_READ:
        return tli_commit_read_done(c);
    case TLI_COMMIT_WAIT:
        tli_op_clear(&c->op);
        return tli_commit_read_next(c);
    case TLI_COMMIT_PAUSE:
        return tli_commit_reload(c);
    case TLI_COMMIT_LOAD:
        return tli_commit_loaded(c);
    default:
        return tli_commit_finish(c);
    }
}

/* However it failed, all that this commit wrote goes, unless v<N+1> may hold it: then nothing does. */
TLI_FN int tli_commit_advance(tl_op *op)
{
    tl_commit *c = (tl_commit *)(void *)op;
    int more = tli_commit_turn(c);
    if (op->turn == TL_FAILED)
        tli_commit_sweep(c, c->unknown ? 0 : TLI_COMMIT_ALL);
    return more;
}

TLI_FN void tli_commit_take(tl_op *op, tli_op_slot *slot, const tl_completion *completion)
{
    tl_commit *c = (tl_commit *)(void *)op;
    if (c->load != NULL)
        tli_load_take(&c->load->op, slot, completion);
}

/* Does the base have this file? It cannot tell when it was loaded without its files. */
TLI_FN int tli_commit_is_live(const tl_commit *c, tl_span path)
{
    tl_files files;
    tl_file f;
    size_t i;
    if (!c->base->has_files || tl_head_files(&c->base->head, &files, NULL) != TL_OK)
        return 1;
    for (i = 0; i < files.count; i++) {
        tl_files_get(&files, i, &f);
        if (tl_span_equal(f.path, path))
            return 1;
    }
    return 0;
}

/* The key of delete `i`, absent past the last: objects of this attempt, then what the caller gave to upload. */
TLI_FN tl_span tli_commit_to_delete(const tl_commit *c, size_t i)
{
    const tl_data_file *d = NULL;
    tl_span none = tli_text_span(NULL, 0);
    if (i < TLI_COMMITPLAN_OBJECTS)
        return c->uploaded && c->plan != NULL ? c->plan->objects[i].key : none;
    i -= TLI_COMMITPLAN_OBJECTS;
    if (c->sweep != TLI_COMMIT_ALL || c->stored == 0)
        return none;
    if (i < c->change->added_count)
        d = &c->change->added[i];
    else if (c->change->kind == TL_CHANGE_INDEX)
        d = &c->change->index;
    return d != NULL && d->body.data != NULL && !tli_commit_is_live(c, d->file.path) ? d->file.path : none;
}

/* Deletes go out beside everything else. */
TLI_FN int tli_commit_spare(tl_op *op, tl_request *request)
{
    tl_commit *c = (tl_commit *)(void *)op;
    size_t all = TLI_COMMITPLAN_OBJECTS + c->change->added_count + 1;
    while (c->sweep != 0 && c->swept < all) {
        tl_span key = tli_commit_to_delete(c, c->swept++);
        if (key.data == NULL)
            continue;
        TLI_FILL(request, 0, sizeof *request);
        request->kind = TL_DELETE;
        request->key = key;
        request->purpose = TL_PURPOSE_CLEAN_UP;
        return 1;
    }
    return 0;
}

TLI_FN void tli_commit_end(tl_op *op)
{
    tl_commit *c = (tl_commit *)(void *)op;
    tli_commit_drop_plan(c);
    tli_commit_end_load(c);
    tli_iceberg_delete_list(c->list);
    tli_indexplan_close(c->file, &c->lake->options.op.allocator);
    c->file = NULL;
    tl_table_drop(c->base);
    tl_table_drop(c->table);
    c->list = NULL;
    c->base = c->table = NULL;
    tli_mem_delete(&c->lake->options.op.allocator, c->keys, c->location.size * 3 + 2 * TLI_KEYS_ROOM);
    c->keys = NULL;
}

TLI_FN const char *tli_commit_state(const tl_op *op)
{
    static const char *const names[] = {"START", "HINT", "LIST", "MANIFESTS", "UPLOAD", "PUT", "READ", "WAIT", "PAUSE",
                                        "LOAD", "HINTED"};
    return names[((const tl_commit *)(const void *)op)->state];
}

TLI_FN void tli_commit_open(tl_commit *c, tl_lake *lake, tl_table *base, tl_span location, const tl_change *change)
{
    static const tli_op_machine machine = {tli_commit_advance, tli_commit_take, tli_commit_spare, tli_commit_end,
                                           tli_commit_state, 1, 1, 0};
    TLI_ASSERT(sizeof c->random >= sizeof(tli_rand));
    TLI_FILL(c, 0, sizeof *c);
    tli_op_begin(&c->op, &machine, &lake->options.op);
    c->lake = lake;
    c->change = change;
    c->base = tl_table_keep(base);
    while (location.size != 0 && location.data[location.size - 1] == '/')
        location.size--;
    c->keys = location.size > SIZE_MAX / 8 ? NULL
        : (char *)tli_mem_new(&lake->options.op.allocator, location.size * 3 + 2 * TLI_KEYS_ROOM);
    if (c->keys == NULL) {
        tli_op_fail(&c->op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return;
    }
    if (location.size != 0)
        TLI_COPY(c->keys, location.data, location.size);
    c->location = tli_text_span(c->keys, location.size);
    if (!tli_lake_random(lake, tli_commit_random(c)))
        tli_op_fail(&c->op, TL_MISUSE, "the lake has no seed: names would not be unique", TL_NO_POSITION);
}

TL_API void tl_commit_begin(tl_commit *commit, tl_lake *lake, tl_table *base, const tl_change *change)
{
    tli_commit_open(commit, lake, base, base != NULL ? base->location : tl_text(""), change);
    if (base == NULL)
        tli_op_fail(&commit->op, TL_MISUSE, "no table to commit to: its load found none", TL_NO_POSITION);
}

TL_API void tl_commit_create(tl_commit *commit, tl_lake *lake, tl_span location, const tl_change *change)
{
    tli_commit_open(commit, lake, NULL, location, change);
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
