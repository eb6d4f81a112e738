/* >>load */
#ifndef TIMELAKE_NO_LAKE
enum {
    TLI_LOAD_START, TLI_LOAD_PEEK, TLI_LOAD_HINT, TLI_LOAD_PAGES, TLI_LOAD_CHECK, TLI_LOAD_CHAIN, TLI_LOAD_LIST_FILE,
    TLI_LOAD_MANIFESTS, TLI_LOAD_EXACT
};

#define TLI_LOAD_CLIMBS 100000u   /* versions that one load follows upwards */
#define TLI_LOAD_PAGES_MAX 10000u /* pages of one listing */
#define TLI_LOAD_HINT_BYTES 65536u

/* What reading the files of a chain load needs. */
typedef struct tli_load_files {
    tli_iceberg_list *list; /* goes to the table, for commits on top of it */
    tli_iceberg_files files;
    uint32_t next; /* manifest to decode */
} tli_load_files;

/* ---- keys: three places behind the copy of the location, so that a round's keys stay apart ---- */

TLI_FN char *tli_load_place(tl_load *load, uint32_t i)
{
    return load->keys + load->location.size + (size_t)i * (load->location.size + TLI_KEYS_ROOM);
}

TLI_FN tl_request *tli_load_ask(tl_load *load, uint32_t place, tl_request_kind kind, const char *name, uint64_t version,
                                tl_purpose purpose)
{
    tl_span key = tli_keys_join(tli_load_place(load, place), load->location, name, version);
    return tli_op_request(&load->op, kind, key, purpose);
}

/* ---- ends ---- */

TLI_FN int tli_load_chain(tl_load *load, uint64_t version);

TLI_FN int tli_load_done(tl_load *load, tl_table *table, int confirmed)
{
    table = tli_lake_store(load->lake, table, confirmed ? load->began : INT64_MIN);
    if (!table->has_files && !load->options.no_files) { /* the lake knows a newer one, but by its metadata alone */
        uint64_t version = table->version;
        tl_table_drop(table);
        return tli_load_chain(load, version);
    }
    load->table = table;
    load->unchecked = (uint8_t)!confirmed;
    tli_op_finish(&load->op, TL_DONE);
    return 1;
}

/* An answer that is neither yes nor no. */
TLI_FN int tli_load_bad(tl_load *load, uint32_t i)
{
    const tli_op_slot *slot = tli_op_answer(&load->op, i);
    if (slot->outcome == TL_OUTCOME_NOT_FOUND) /* of a listing: no answer to what was asked, least of all "no table" */
        return tli_op_fails_about(&load->op, TL_STORE, "a listing was answered by not found", slot->request.key);
    tli_op_fail_answer(&load->op, slot);
    return 1;
}

TLI_FN int tli_load_is_bad(tl_load *load, uint32_t i)
{
    tl_outcome outcome = tli_op_answer(&load->op, i)->outcome;
    return outcome != TL_OUTCOME_OK && outcome != TL_OUTCOME_NOT_FOUND;
}

/* ---- the head ---- */

TLI_FN void tli_load_release(void *context, const void *data, size_t size)
{
    (void)data;
    (void)size;
    tli_mem_blob_drop((tli_blob *)context);
}

/* The head's own metadata must not contradict it: the version before is v<N-1>, the location the table's. */
TLI_FN tl_status tli_load_check_head(const tl_load *load, const tl_table *t, tl_error *err)
{
    const tl_metadata *m = &t->metadata;
    if (!tl_span_equal(m->location, load->location))
        return tli_err(err, TL_CORRUPT, "the head describes a table at another location", TL_NO_POSITION);
    if (m->previous.data != NULL && tli_keys_parse(m->previous, load->location) != t->version - 1)
        return tli_err(err, TL_CORRUPT, "the head's metadata is of another version than the head", TL_NO_POSITION);
    return tl_contract_may_read(&m->contract, err);
}

TLI_FN tl_status tli_load_open_head(tl_load *load, tl_table *t, tl_error *err)
{
    tl_span json;
    tl_files files;
    tl_columns columns;
    tl_status st = tl_head_metadata(&t->head, &json, err);
    if (st == TL_OK)
        st = tl_metadata_parse(&t->metadata, json.data, json.size, &load->lake->options.limits, &t->allocator, err);
    if (st == TL_OK)
        st = tli_load_check_head(load, t, err);
    if (st == TL_OK)
        st = tl_head_files(&t->head, &files, err);
    if (st == TL_OK && tl_document_section(&t->head.document, tl_text("columns")) == NULL)
        st = tl_head_columns(&t->head, TL_COLUMNS_BOUNDS, &columns, err); /* says that it is missing */
    return st;
}

/* Decodes the head that was read into a table version of its own; takes the body. NULL: why_no_head says why. */
TLI_FN tl_table *tli_load_decode_head(tl_load *load, uint64_t version, tli_blob *body)
{
    const tl_lake_options *lo = &load->lake->options;
    tl_error *why = &load->why_no_head;
    tl_head_options o;
    tl_table *t = tli_table_new(&lo->op.allocator, load->location, version);
    tl_status st;
    if (t == NULL) {
        tli_mem_blob_drop(body);
        (void)tli_err(why, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    TLI_FILL(&o, 0, sizeof o);
    o.release = tli_load_release;
    o.release_context = body;
    o.codecs = lo->codecs;
    o.codec_count = lo->codec_count;
    o.allocator = lo->op.allocator;
    o.limits = lo->limits;
    o.compression = lo->compression;
    t->memory = body->size + sizeof *t;
    t->source = TL_FROM_HEAD;
    t->has_files = 1;
    st = tl_head_decode(&t->head, body->data, body->size, &o, why);
    if (st == TL_OK)
        st = tli_load_open_head(load, t, why);
    if (st != TL_OK) {
        tl_table_drop(t);
        return NULL;
    }
    t->memory += t->metadata.json.memory + tli_mem_store_size(t->head.document.store);
    TLI_FILL(why, 0, sizeof *why); /* of a peek before */
    return t;
}

/* The head's version, if answer 0 brought one that is newer than what is needed; else 0, with the reason. */
TLI_FN uint64_t tli_load_head_version(tl_load *load, tli_op_slot *slot)
{
    tl_error *why = &load->why_no_head;
    tl_header header;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND) {
        (void)tli_err(why, TL_ABSENT, "the table has no head", TL_NO_POSITION);
        return 0;
    }
    if (slot->outcome != TL_OUTCOME_OK) {
        (void)tli_err(why, TL_STORE, "the head could not be read", TL_NO_POSITION);
        return 0;
    }
    if (tl_head_peek(&header, slot->body->data, slot->body->size, why) != TL_OK)
        return 0;
    if (header.version != 0 && header.version == load->gone) {
        (void)tli_err(why, TL_ABSENT, "the head describes a version that is not there", TL_NO_POSITION);
        return 0;
    }
    if (header.version == 0 || header.version == UINT64_MAX
        || tli_lake_barred(load->lake, load->location, header.version)) {
        (void)tli_err(why, TL_CORRUPT, "the head is barred", TL_NO_POSITION);
        return 0;
    }
    return header.version;
}

/* The head of answer 0 as a table, when it is at least `least`; NULL: go on without. */
TLI_FN tl_table *tli_load_take_head(tl_load *load, uint64_t least)
{
    tli_op_slot *slot = tli_op_answer(&load->op, 0);
    uint64_t version = tli_load_head_version(load, slot);
    if (version == 0)
        return NULL;
    if (version < least) {
        (void)tli_err(&load->why_no_head, TL_ABSENT, "the head is behind the newest version", TL_NO_POSITION);
        return NULL;
    }
    return tli_load_decode_head(load, version, tli_op_take_body(slot));
}

/* ---- START ---- */

/* Is what was confirmed at `when` still good enough? */
TLI_FN int tli_load_fresh(const tl_load *load, const tl_table *t, int64_t when)
{
    int64_t age = load->options.max_age_ms, now = load->op.now;
    if (age == 0)
        age = t->metadata.contract.version_check_interval;
    return age > 0 && when != INT64_MIN && when <= now && now - when < age;
}

TLI_FN int tli_load_peek(tl_load *load);
TLI_FN int tli_load_check(tl_load *load, uint64_t version);

TLI_FN int tli_load_start(tl_load *load)
{
    int64_t confirmed;
    tl_table *t;
    if (load->options.version != 0) {
        load->state = TLI_LOAD_EXACT;
        load->version = load->options.version;
        (void)tli_load_ask(load, 0, TL_GET, "/metadata/v", load->version, TL_PURPOSE_METADATA);
        return 1;
    }
    t = tli_lake_find(load->lake, load->location, &confirmed);
    if (t != NULL && !t->has_files && !load->options.no_files) { /* known by its metadata alone: read it anew */
        tl_table_drop(t);
        t = NULL;
    }
    if (t == NULL)
        return tli_load_peek(load);
    if (tli_load_fresh(load, t, confirmed) || load->options.defer) {
        load->table = t;
        load->unchecked = (uint8_t)!tli_load_fresh(load, t, confirmed);
        tli_op_finish(&load->op, TL_DONE);
        return 1;
    }
    load->known = t;
    load->unconfirmed = (uint8_t)(confirmed == INT64_MIN);
    return tli_load_check(load, t->version);
}

/* ---- PEEK ---- */

/* Asks for the hint, beside whatever answers are kept. */
TLI_FN int tli_load_ask_hint(tl_load *load)
{
    tl_request *r = tli_load_ask(load, 2, TL_GET, "/metadata/version-hint.text", 0, TL_PURPOSE_HINT);
    if (r != NULL)
        r->accept = TLI_LOAD_HINT_BYTES;
    load->hint_read = 1;
    load->hint_slot = load->op.slot_count - 1;
    return 1;
}

TLI_FN int tli_load_peek(tl_load *load)
{
    if (load->peeks++ > 1)
        return tli_op_fails_about(&load->op, TL_STORE, "the table's metadata comes and goes", load->location);
    load->state = TLI_LOAD_PEEK;
    load->began = load->op.now;
    load->hint_read = load->pages = 0;
    load->hint = load->listed = 0;
    load->listing = (uint8_t)(load->lake->options.store != TL_STORE_HTTPS
                              && (!load->lake->options.lookup_hint || load->no_hint));
    if (!load->options.no_head)
        (void)tli_load_ask(load, 0, TL_GET, "/metadata/timelake-head", 0, TL_PURPOSE_HEAD);
    if (tli_op_final(&load->op))
        return 1;
    load->list_slot = load->op.slot_count;
    if (!load->listing)
        return tli_load_ask_hint(load);
    (void)tli_load_ask(load, 1, TL_LIST, "/metadata/v", 0, TL_PURPOSE_LISTING);
    return 1;
}

TLI_FN int tli_load_hinted(tl_load *load);

/* The listing told all names: the newest is settled. */
TLI_FN int tli_load_newest_listed(tl_load *load)
{
    tl_table *t;
    if (load->listed == 0) {
        tli_op_finish(&load->op, TL_NONE);
        return 1;
    }
    t = load->options.no_head ? NULL : tli_load_take_head(load, load->listed);
    tli_op_clear(&load->op);
    return t != NULL ? tli_load_done(load, t, 1) : tli_load_chain(load, load->listed);
}

TLI_FN int tli_load_peeked(tl_load *load)
{
    tli_op_slot *slot = tli_op_answer(&load->op, load->list_slot);
    if (load->listing && slot->outcome == TL_OUTCOME_OK) {
        load->listed = slot->number;
        load->pages = slot->more;
        if (!slot->more)
            return tli_load_newest_listed(load);
    } else if (load->listing && slot->outcome != TL_OUTCOME_UNSUPPORTED) {
        return tli_load_bad(load, load->list_slot);
    }
    if (!load->options.no_head)
        load->head_table = tli_load_take_head(load, load->listed);
    return tli_load_hinted(load);
}

/* ---- HINT ---- */

TLI_FN void tli_load_read_hint(tl_load *load)
{
    const tli_op_slot *slot = tli_op_answer(&load->op, load->hint_slot);
    load->hint = slot->outcome == TL_OUTCOME_OK ? tli_keys_hint(slot->body->data, slot->body->size) : 0;
    load->hint_bad = (uint8_t)(slot->outcome == TL_OUTCOME_OK && load->hint == 0);
    if (load->hint != 0 && load->hint == load->gone) { /* it led nowhere before */
        load->hint = 0;
        load->hint_bad = 2;
    }
}

/* Nothing is known of the table, with or without a head. */
TLI_FN int tli_load_nothing(tl_load *load)
{
    if (load->hint_bad)
        return tli_op_fails_about(&load->op, TL_CORRUPT,
                                  load->hint_bad == 2 ? "the version hint names a version that is not there"
                                                      : "the version hint is not a number",
                                  tli_keys_join(tli_load_place(load, 0), load->location,
                                                "/metadata/version-hint.text", 0));
    if (load->why_no_head.status != TL_OK && load->why_no_head.status != TL_ABSENT) /* there is one: so is a table */
        return tli_op_fail_about(&load->op, &load->why_no_head,
                                 tli_keys_join(tli_load_place(load, 0), load->location, "/metadata/timelake-head", 0));
    tli_op_finish(&load->op, TL_NONE);
    return 1;
}

TLI_FN int tli_load_decide_hint(tl_load *load)
{
    uint64_t best = TLI_MAX(load->hint, load->listed);
    tl_table *head = load->head_table;
    load->head_table = NULL;
    if (head != NULL && head->version >= best) {
        if (load->options.defer)
            return tli_load_done(load, head, 0);
        tl_table_drop(load->known);
        load->known = head;
        load->unconfirmed = 1;
        return tli_load_check(load, head->version);
    }
    if (head != NULL) {
        tl_table_drop(head);
        (void)tli_err(&load->why_no_head, TL_ABSENT, "the head is behind the newest version", TL_NO_POSITION);
    }
    return best != 0 ? tli_load_chain(load, best) : tli_load_nothing(load);
}

/* From PEEK or HINT with all answers in: read the hint, or ask for it. A listing that was cut, with neither head nor
   hint beside it, is gone through to its end. */
TLI_FN int tli_load_hinted(tl_load *load)
{
    if (!load->hint_read) {
        load->state = TLI_LOAD_HINT;
        return tli_load_ask_hint(load);
    }
    if (tli_load_is_bad(load, load->hint_slot))
        return tli_load_bad(load, load->hint_slot);
    tli_load_read_hint(load);
    if (load->hint == 0 && load->head_table == NULL && load->pages) {
        load->state = TLI_LOAD_PAGES;
        tli_op_list_on(&load->op, tli_op_answer(&load->op, load->list_slot));
        return 1;
    }
    tli_op_clear(&load->op);
    return tli_load_decide_hint(load);
}

/* ---- PAGES ---- */

TLI_FN int tli_load_paged(tl_load *load)
{
    tli_op_slot *slot = tli_op_answer(&load->op, load->list_slot);
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_load_bad(load, load->list_slot);
    if (slot->more) {
        if (++load->climbs >= TLI_LOAD_PAGES_MAX)
            return tli_op_fails_about(&load->op, TL_LIMIT, "a listing of too many pages", load->location);
        tli_op_list_on(&load->op, slot);
        return 1;
    }
    load->listed = slot->number;
    tli_op_clear(&load->op);
    if (load->listed != 0)
        return tli_load_chain(load, load->listed);
    tli_op_finish(&load->op, TL_NONE); /* whatever head or hint say */
    return 1;
}

/* ---- CHECK ---- */

/* Is v<version> there? By a stat, or by listing the exact name. */
TLI_FN int tli_load_ask_there(tl_load *load, uint32_t place, uint64_t version)
{
    int list = load->lake->options.freshness_list && load->lake->options.store != TL_STORE_HTTPS;
    tl_request *r = tli_load_ask(load, place, list ? TL_LIST : TL_STAT, "/metadata/v", version, TL_PURPOSE_CHECK);
    if (r != NULL && list)
        r->max_keys = 1;
    return r != NULL;
}

/* What answer `i` to that says: 1, 0, or -1 for neither. */
TLI_FN int tli_load_there(tl_load *load, uint32_t i)
{
    const tli_op_slot *slot = tli_op_answer(&load->op, i);
    if (slot->request.kind == TL_LIST)
        return slot->outcome == TL_OUTCOME_OK ? slot->number != 0 : -1;
    return slot->outcome == TL_OUTCOME_OK ? 1 : slot->outcome == TL_OUTCOME_NOT_FOUND ? 0 : -1;
}

TLI_FN int tli_load_check(tl_load *load, uint64_t version)
{
    load->state = TLI_LOAD_CHECK;
    load->version = version;
    load->began = load->op.now;
    if (tli_load_ask_there(load, 0, version + 1) && !load->lake->options.next_only)
        (void)tli_load_ask_there(load, 1, version);
    return 1;
}

/* The version that was checked is the newest. */
TLI_FN int tli_load_current(tl_load *load)
{
    tl_table *t = load->known;
    load->known = NULL;
    return tli_load_done(load, t, 1);
}

TLI_FN int tli_load_checked(tl_load *load)
{
    int next = tli_load_there(load, 0), same = load->lake->options.next_only ? 1 : tli_load_there(load, 1);
    if (next < 0 || same < 0)
        return tli_load_bad(load, next < 0 ? 0 : 1);
    tli_op_clear(&load->op);
    if (!next && same)
        return tli_load_current(load);
    if (load->unconfirmed)
        (void)tli_err(&load->why_no_head, TL_ABSENT, "the head is behind the newest version", TL_NO_POSITION);
    tl_table_drop(load->known);
    load->known = NULL;
    if (next && load->unconfirmed)
        return tli_load_chain(load, load->version + 1);
    if (!next) { /* neither hint nor head that leads there again */
        load->gone = load->version;
        load->no_hint = 1;
    }
    return tli_load_peek(load);
}

/* ---- CHAIN ---- */

TLI_FN int tli_load_chain(tl_load *load, uint64_t version)
{
    if (load->climbs++ >= TLI_LOAD_CLIMBS || version >= UINT64_MAX - 1)
        return tli_op_fails_about(&load->op, TL_LIMIT, "too many versions to follow", load->location);
    load->state = TLI_LOAD_CHAIN;
    load->version = version;
    load->began = load->op.now;
    if (tli_load_ask(load, 0, TL_GET, "/metadata/v", version, TL_PURPOSE_METADATA) != NULL)
        (void)tli_load_ask_there(load, 1, version + 1);
    return 1;
}

TLI_FN int tli_load_files_next(tl_load *load);

/* Answer 0 is the metadata of the version to load. */
TLI_FN int tli_load_read_metadata(tl_load *load)
{
    const tl_lake_options *lo = &load->lake->options;
    tli_op_slot *slot = tli_op_answer(&load->op, 0);
    tl_table *t = tli_table_new(&lo->op.allocator, load->location, load->version);
    tl_error why;
    tl_status st;
    if (t == NULL)
        return tli_op_fails_about(&load->op, TL_NO_MEMORY, "out of memory", load->location);
    t->source = TL_FROM_CHAIN;
    t->body = tli_op_take_body(slot);
    st = tl_metadata_parse(&t->metadata, (const char *)t->body->data, t->body->size, &lo->limits, &t->allocator, &why);
    if (st == TL_OK)
        st = tl_contract_may_read(&t->metadata.contract, &why);
    if (st != TL_OK) {
        int r = tli_op_fail_about(&load->op, &why, slot->request.key);
        tl_table_drop(t);
        return r;
    }
    t->memory = sizeof *t + t->body->size + t->metadata.json.memory;
    tli_op_clear(&load->op);
    tl_table_drop(load->known);
    load->known = t;
    return tli_load_files_next(load);
}

TLI_FN int tli_load_climbed(tl_load *load)
{
    int next = tli_load_there(load, 1);
    if (next < 0)
        return tli_load_bad(load, 1);
    if (next) { /* even if v<n> is gone or broken: it is not what is wanted */
        if (tli_op_answer(&load->op, 0)->outcome == TL_OUTCOME_NOT_FOUND)
            load->climbs += TLI_LOAD_CLIMBS / 32; /* it was there a moment ago: that does not go on for long */
        tli_op_clear(&load->op);
        return tli_load_chain(load, load->version + 1);
    }
    if (tli_load_is_bad(load, 0))
        return tli_load_bad(load, 0);
    if (tli_op_answer(&load->op, 0)->outcome == TL_OUTCOME_OK)
        return tli_load_read_metadata(load);
    tli_op_clear(&load->op);
    load->no_hint = 1;
    load->gone = load->version;
    return tli_load_peek(load);
}

TLI_FN int tli_load_exact(tl_load *load)
{
    tl_outcome outcome = tli_op_answer(&load->op, 0)->outcome;
    if (outcome == TL_OUTCOME_OK)
        return tli_load_read_metadata(load);
    if (outcome != TL_OUTCOME_NOT_FOUND)
        return tli_load_bad(load, 0);
    tli_op_finish(&load->op, TL_NONE);
    return 1;
}

/* ---- LIST-FILE and MANIFESTS ---- */

/* A list or manifest is not there. An old version has expired. The newest was, while it was read: look for it anew, but
   not twice. */
TLI_FN int tli_load_vanished(tl_load *load, const char *text, tl_span key)
{
    if (load->options.version != 0)
        return tli_op_fails_about(&load->op, TL_ABSENT,
                                  "this version has expired: its metadata is there, its manifests are not", key);
    if (load->expired == load->version)
        return tli_op_fails_about(&load->op, TL_CORRUPT, text, key);
    load->expired = load->version;
    tli_op_clear(&load->op);
    tl_table_drop(load->known);
    load->known = NULL;
    return tli_load_peek(load);
}

/* The version is whole. */
TLI_FN int tli_load_whole(tl_load *load)
{
    tl_table *t = load->known;
    load->known = NULL;
    if (load->options.version == 0)
        return tli_load_done(load, t, 1);
    load->table = t; /* an old version is nobody's newest: the lake does not keep it */
    tli_op_finish(&load->op, TL_DONE);
    return 1;
}

TLI_FN int tli_load_finish_files(tl_load *load, tl_error *why)
{
    tl_table *t = load->known;
    tl_files files;
    tl_status st = tli_iceberg_finish(&load->files->files, &t->head.document, tli_text_span(t->body->data,
                                                                                            t->body->size),
                                      why);
    if (st == TL_OK)
        st = tl_head_files(&t->head, &files, why); /* now, as with a head: later it cannot fail */
    if (st != TL_OK)
        return tli_op_fail_about(&load->op, why, t->metadata.manifest_list);
    t->head.version = t->version;
    t->has_files = 1;
    t->manifests = load->files->list;
    load->files->list = NULL;
    t->memory += tli_mem_store_size(t->head.document.store);
    return tli_load_whole(load);
}

TLI_FN void tli_load_drop_files(tl_load *load)
{
    if (load->files == NULL)
        return;
    tli_iceberg_end(&load->files->files);
    tli_iceberg_delete_list(load->files->list);
    tli_mem_delete(&load->lake->options.op.allocator, load->files, sizeof *load->files);
    load->files = NULL;
}

TLI_FN int tli_load_files_next(tl_load *load)
{
    tl_table *t = load->known;
    const tl_lake_options *lo = &load->lake->options;
    tl_error why;
    if (load->options.no_files)
        return tli_load_whole(load);
    tli_load_drop_files(load); /* of a version that was loaded before this one */
    load->files = (tli_load_files *)tli_mem_new(&lo->op.allocator, sizeof *load->files);
    if (load->files == NULL)
        return tli_op_fails_about(&load->op, TL_NO_MEMORY, "out of memory", load->location);
    TLI_FILL(load->files, 0, sizeof *load->files);
    if (tli_iceberg_begin(&load->files->files, &t->metadata, &lo->limits, &lo->op.allocator, &why) != TL_OK)
        return tli_op_fail_about(&load->op, &why, load->location);
    if (!t->metadata.has_snapshot)
        return tli_load_finish_files(load, &why);
    if (t->metadata.manifest_list.data == NULL)
        return tli_op_fails_about(&load->op, TL_UNSUPPORTED, "a snapshot without a manifest list", t->location);
    load->state = TLI_LOAD_LIST_FILE;
    (void)tli_op_request(&load->op, TL_GET, t->metadata.manifest_list, TL_PURPOSE_MANIFEST_LIST);
    return 1;
}

TLI_FN int tli_load_listed_manifests(tl_load *load)
{
    const tl_lake_options *lo = &load->lake->options;
    tli_op_slot *slot = tli_op_answer(&load->op, 0);
    tli_load_files *f = load->files;
    tl_error why;
    uint32_t i;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return tli_load_vanished(load, "the manifest list is not there", slot->request.key);
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_load_bad(load, 0);
    f->list = tli_iceberg_read_new_list(slot->body->data, slot->body->size, &lo->limits, &lo->op.allocator, &why);
    if (f->list == NULL)
        return tli_op_fail_about(&load->op, &why, slot->request.key);
    tli_op_clear(&load->op);
    if (f->list->count == 0)
        return tli_load_finish_files(load, &why);
    load->state = TLI_LOAD_MANIFESTS;
    for (i = 0; i < f->list->count; i++)
        if (tli_op_request(&load->op, TL_GET, f->list->entries[i].path, TL_PURPOSE_MANIFEST) == NULL)
            return 1;
    return 1;
}

/* Decodes manifests until all are, or until this step has had its share. */
TLI_FN int tli_load_read_manifests(tl_load *load)
{
    tli_load_files *f = load->files;
    uint64_t share = load->op.options.step_bytes, bytes = 0;
    tl_error why;
    for (; f->next < f->list->count; f->next++) {
        tli_op_slot *slot = tli_op_answer(&load->op, f->next);
        if (slot->outcome == TL_OUTCOME_NOT_FOUND)
            return tli_load_vanished(load, "a manifest is not there", slot->request.key);
        if (slot->outcome != TL_OUTCOME_OK)
            return tli_load_bad(load, f->next);
        if (share != 0 && bytes >= share)
            return 0;
        bytes += slot->body->size;
        if (tli_iceberg_add(&f->files, &f->list->entries[f->next], slot->body->data, slot->body->size, &why) != TL_OK)
            return tli_op_fail_about(&load->op, &why, slot->request.key);
    }
    tli_op_clear(&load->op);
    return tli_load_finish_files(load, &why);
}

/* ---- the machine ---- */

TLI_FN int tli_load_advance(tl_op *op)
{
    tl_load *load = (tl_load *)(void *)op;
    switch (load->state) {
    case TLI_LOAD_START:
        return tli_load_start(load);
    case TLI_LOAD_PEEK:
        return tli_load_peeked(load);
    case TLI_LOAD_HINT:
        return tli_load_hinted(load);
    case TLI_LOAD_PAGES:
        return tli_load_paged(load);
    case TLI_LOAD_CHECK:
        return tli_load_checked(load);
    case TLI_LOAD_CHAIN:
        return tli_load_climbed(load);
    case TLI_LOAD_LIST_FILE:
        return tli_load_listed_manifests(load);
    case TLI_LOAD_MANIFESTS:
        return tli_load_read_manifests(load);
    default:
        return tli_load_exact(load);
    }
}

/* A listing's newest version; of a check whether the exact name is there. */
TLI_FN void tli_load_take(tl_op *op, tli_op_slot *slot, const tl_completion *completion)
{
    tl_load *load = (tl_load *)(void *)op;
    size_t i;
    for (i = 0; i < completion->entry_count; i++) {
        tl_span key = completion->entries[i].key;
        if (slot->request.purpose == TL_PURPOSE_CHECK)
            slot->number |= (uint64_t)tl_span_equal(key, slot->request.key);
        else
            slot->number = TLI_MAX(slot->number, tli_keys_parse(key, load->location));
    }
    if (slot->request.purpose == TL_PURPOSE_CHECK)
        slot->more = 0;
}

/* Connection warmers go out beside a cold load's first round. */
TLI_FN int tli_load_spare(tl_op *op, tl_request *request)
{
    tl_load *load = (tl_load *)(void *)op;
    if (load->state != TLI_LOAD_PEEK || op->cancelled || load->warmed >= load->lake->options.warm_connections)
        return 0;
    load->warmed++;
    TLI_FILL(request, 0, sizeof *request);
    request->kind = TL_STAT;
    request->purpose = TL_PURPOSE_WARM;
    request->key = tli_keys_join(tli_load_place(load, 2), load->location, "/metadata/version-hint.text", 0);
    return 1;
}

TLI_FN void tli_load_end(tl_op *op)
{
    tl_load *load = (tl_load *)(void *)op;
    const tl_allocator *a = &load->lake->options.op.allocator;
    tl_table_drop(load->table);
    tl_table_drop(load->known);
    tl_table_drop(load->head_table);
    load->table = load->known = load->head_table = NULL;
    tli_load_drop_files(load);
    if (load->keys_size != 0)
        tli_mem_delete(a, load->keys, load->keys_size);
    load->keys_size = 0;
}

TLI_FN const char *tli_load_state(const tl_op *op)
{
    static const char *const names[] = {"START", "PEEK", "HINT", "PAGES", "CHECK", "CHAIN", "LIST-FILE", "MANIFESTS",
                                        "EXACT"};
    return names[((const tl_load *)(const void *)op)->state];
}

TL_API void tl_load_begin(tl_load *load, tl_lake *lake, tl_span location, const tl_load_options *options)
{
    static const tli_op_machine machine = {tli_load_advance, tli_load_take, tli_load_spare, tli_load_end,
                                           tli_load_state,
                                           1, 0, 0};
    TLI_FILL(load, 0, offsetof(tl_load, room));
    tli_op_begin(&load->op, &machine, &lake->options.op);
    load->lake = lake;
    if (options != NULL)
        load->options = *options;
    while (location.size != 0 && location.data[location.size - 1] == '/')
        location.size--;
    load->keys = load->room;
    if (location.size > (sizeof load->room - 3 * TLI_KEYS_ROOM) / 4) {
        load->keys_size = location.size > SIZE_MAX / 16 ? 0 : location.size * 4 + 3 * TLI_KEYS_ROOM;
        load->keys = load->keys_size == 0 ? NULL : (char *)tli_mem_new(&load->op.options.allocator, load->keys_size);
    }
    if (load->keys == NULL) {
        load->keys_size = 0;
        tli_op_fail(&load->op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return;
    }
    if (location.size != 0)
        TLI_COPY(load->keys, location.data, location.size);
    load->location = tli_text_span(load->keys, location.size);
}
#endif /* TIMELAKE_NO_LAKE */
