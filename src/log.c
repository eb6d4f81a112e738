/* >>log */
#ifndef TIMELAKE_NO_LOG
enum { TLI_LOG_REFRESH, TLI_LOG_WRITE, TLI_LOG_CREATE, TLI_LOG_REPAIR };

enum {
    TLI_LOG_CURRENT, TLI_LOG_COMMITS, TLI_LOG_PUT, TLI_LOG_READ_BACK, TLI_LOG_POINT, TLI_LOG_LOOK, TLI_LOG_WITHDRAW,
    TLI_LOG_LOOK_AGAIN, TLI_LOG_RESTORE, TLI_LOG_WHOSE, TLI_LOG_ORPHAN, TLI_LOG_MAKE_SURE, TLI_LOG_REMOVE,
    TLI_LOG_RESOLVE
};

#define TLI_LOG_POINTER_BYTES 65536u /* of CURRENT; it has 2 to 21 */

/* ---- keys and requests ---- */

TLI_FN uint32_t tli_log_window(const tl_log *log)
{
    return log->settings->window != 0 ? TLI_MIN(log->settings->window, 4096u) : 256u;
}

TLI_FN tl_span tli_log_location(const tl_log *log)
{
    tl_span s = log->location;
    while (s.size != 0 && s.data[s.size - 1] == '/')
        s.size--;
    return s;
}

/* The key of a commit, or of CURRENT (version 0), in place `place`. */
TLI_FN tl_span tli_log_key(tl_log_call *call, uint32_t place, uint64_t version)
{
    static const char pointer[] = "_timeseries_log/CURRENT";
    tl_span root = tli_log_location(call->log);
    char *key = call->keys + (size_t)place * (root.size + 1 + TL_LOG_NAME);
    size_t n = root.size;
    if (n != 0)
        TLI_COPY(key, root.data, n);
    key[n++] = '/';
    if (version == 0) {
        TLI_COPY(key + n, pointer, sizeof pointer - 1);
        return tli_text_span(key, n + sizeof pointer - 1);
    }
    return tli_text_span(key, n + tl_log_commit_name(key + n, version));
}

/* The only request of a round, about a commit or CURRENT (version 0). */
TLI_FN tl_request *tli_log_ask(tl_log_call *call, uint8_t state, tl_request_kind kind, uint64_t version)
{
    tl_request *r;
    tli_op_clear(&call->op);
    call->state = state;
    r = tli_op_request(&call->op, kind, tli_log_key(call, 0, version),
                       kind == TL_DELETE ? TL_PURPOSE_CLEAN_UP : version != 0 ? TL_PURPOSE_COMMIT : TL_PURPOSE_HINT);
    if (r != NULL && kind == TL_GET && version == 0)
        r->accept = TLI_MIN(r->accept, (uint64_t)TLI_LOG_POINTER_BYTES);
    return r;
}

TLI_FN int tli_log_get(tl_log_call *call, uint8_t state, uint64_t version)
{
    (void)tli_log_ask(call, state, TL_GET, version);
    return 1;
}

/* ---- ends ---- */

/* Ends with call->fault. */
TLI_FN int tli_log_refuse(tl_log_call *call, tl_span key)
{
    return tli_op_fail_about(&call->op, &call->fault.error, key);
}

TLI_FN int tli_log_fail(tl_log_call *call, tl_fault_kind kind, tl_status status, const char *text, uint64_t version)
{
    call->fault.version = 0;
    (void)tli_features_fault(&call->fault, kind, status, text, TL_NO_POSITION);
    return tli_log_refuse(call, call->keys == NULL ? call->log->location : tli_log_key(call, 1, version));
}

TLI_FN int tli_log_ambiguous(tl_log_call *call, const char *text)
{
    return tli_log_fail(call, TL_FAULT_AMBIGUOUS, TL_AMBIGUOUS, text, call->plan.version);
}

/* Ends because of an answer that is no good. */
TLI_FN int tli_log_bad(tl_log_call *call, const tli_op_slot *slot)
{
    tl_fault_kind kind = slot->outcome == TL_OUTCOME_NOT_FOUND ? TL_FAULT_NOT_FOUND : TL_FAULT_IO;
    tli_op_fail_answer(&call->op, slot);
    call->fault.version = 0;
    (void)tli_features_fault(&call->fault, kind, call->op.error.status, call->op.error.text, TL_NO_POSITION);
    return 1;
}

/* The handle takes the new state. */
TLI_FN void tli_log_take(tl_log_call *call)
{
    tl_log_state_drop(call->log->state);
    call->log->state = call->next;
    call->next = NULL;
    call->changed = 1;
    call->version = call->log->state->version;
}

TLI_FN int tli_log_moved(tl_log_call *call)
{
    tli_log_take(call);
    tli_op_finish(&call->op, TL_DONE);
    return 1;
}

/* Of the handle; 0: it has none. */
TLI_FN uint64_t tli_log_version(const tl_log *log)
{
    return log->state != NULL ? log->state->version : 0;
}

TLI_FN int tli_log_done(tl_log_call *call)
{
    call->version = tli_log_version(call->log);
    tli_op_finish(&call->op, TL_DONE);
    return 1;
}

TLI_FN int tli_log_none(tl_log_call *call)
{
    (void)tli_features_fault(&call->fault, TL_FAULT_EMPTY_TABLE, TL_ABSENT, "no such table", TL_NO_POSITION);
    tli_op_finish(&call->op, TL_NONE);
    return 1;
}

/* ---- CURRENT ---- */

/* What answer 0 says CURRENT is: 1 with *version (0: there is none), or 0 with call->fault. Keeps the ETag. */
TLI_FN int tli_log_read_pointer(tl_log_call *call, uint64_t *version)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_mem_blob_drop(call->etag);
    call->etag = NULL;
    *version = 0;
    call->fault.version = 0;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return 1;
    if (slot->outcome != TL_OUTCOME_OK) {
        (void)tli_features_fault(&call->fault, TL_FAULT_IO, TL_STORE, "CURRENT cannot be read", TL_NO_POSITION);
        return 0;
    }
    if (slot->etag.size != 0) /* without memory for it: put without a condition */
        call->etag = tli_mem_blob(&call->op.options.allocator, slot->etag.data, slot->etag.size, NULL, NULL, NULL, 0);
    return tl_log_current_parse(slot->body->data, slot->body->size, version, &call->fault) == TL_OK;
}

TLI_FN int tli_log_orphan(tl_log_call *call);
TLI_FN int tli_log_put(tl_log_call *call);

/* ---- COMMITS ---- */

TLI_FN tl_log_options tli_log_options(const tl_log *log)
{
    tl_log_options o;
    TLI_FILL(&o, 0, sizeof o);
    o.client = log->settings->client;
    o.decoded_bytes = log->settings->decoded_bytes;
    o.allocator = log->settings->op.allocator;
    o.seed = tli_hash_xxh64(log->settings->seed, sizeof log->settings->seed, 0);
    return o;
}

/* Asks for the next window: `from` is the first one that is wanted. */
TLI_FN int tli_log_more(tl_log_call *call)
{
    uint32_t i, n = tli_log_window(call->log);
    tli_op_clear(&call->op);
    call->state = TLI_LOG_COMMITS;
    call->taken = 0;
    n = (uint32_t)TLI_MIN((uint64_t)n, call->current - call->from + 1);
    for (i = 0; i < n; i++)
        if (tli_op_request(&call->op, TL_GET, tli_log_key(call, i, call->from + i), TL_PURPOSE_COMMIT) == NULL)
            return 1;
    return 1;
}

/* Reads up to call->current: from the handle's state on when it is older, whose last commit is looked at again. */
TLI_FN int tli_log_read(tl_log_call *call, const tl_log_state *base)
{
    tl_log_options options = tli_log_options(call->log);
    if (call->replaying)
        tl_log_replay_end(&call->replay);
    tl_log_replay_begin(&call->replay, base, &options);
    call->replaying = 1;
    call->based = base != NULL;
    call->from = base != NULL ? base->version : 1;
    return tli_log_more(call);
}

TLI_FN int tli_log_read_all(tl_log_call *call)
{
    tl_status st = tl_log_replay_finish(&call->replay, &call->next, &call->fault);
    if (st != TL_OK)
        return tli_log_refuse(call, tli_log_key(call, 1, call->current));
    if (call->kind != TLI_LOG_REPAIR)
        return tli_log_moved(call);
    tli_log_take(call);
    return tli_log_orphan(call);
}

/* Takes commits in until all are, or until this step has had its share. */
TLI_FN int tli_log_take_commits(tl_log_call *call)
{
    uint64_t share = call->op.options.step_bytes, bytes = 0;
    for (; call->taken < call->op.slot_count; call->taken++) {
        tli_op_slot *slot = tli_op_answer(&call->op, call->taken);
        uint64_t version = call->from + call->taken;
        if (call->based && version == call->log->state->version) { /* is it still what the state was made of? */
            if (slot->outcome != TL_OUTCOME_OK && slot->outcome != TL_OUTCOME_NOT_FOUND)
                return tli_log_bad(call, slot);
            if (slot->outcome != TL_OUTCOME_OK
                || tli_hash_xxh64(slot->body->data, slot->body->size, 0) != call->log->state->digest)
                return tli_log_read(call, NULL);
            continue;
        }
        if (slot->outcome != TL_OUTCOME_OK)
            return tli_log_bad(call, slot);
        if (share != 0 && bytes >= share)
            return 0;
        bytes += slot->body->size;
        if (tl_log_replay_commit(&call->replay, version, slot->body->data, slot->body->size, &call->fault) != TL_OK)
            return tli_log_refuse(call, slot->request.key);
    }
    call->from += call->taken;
    return call->from > call->current ? tli_log_read_all(call) : tli_log_more(call);
}

/* Reading: how far is the handle? */
TLI_FN int tli_log_compare(tl_log_call *call)
{
    const tl_log_state *state = call->log->state;
    if (call->current == 0 && state == NULL)
        return call->kind == TLI_LOG_REPAIR ? tli_log_orphan(call) : tli_log_none(call);
    if (call->current == 0)
        return tli_log_fail(call, TL_FAULT_UNINITIALIZED, TL_ABSENT, "CURRENT is gone", 0);
    if (state != NULL && state->version == call->current)
        return call->kind == TLI_LOG_REPAIR ? tli_log_orphan(call) : tli_log_done(call);
    return tli_log_read(call, state != NULL && state->version < call->current ? state : NULL);
}

/* ---- publishing ---- */

/* The instant of a commit: the clock's milliseconds, and below them what tells this writer's commits from others'. */
TLI_FN tl_log_time tli_log_now(tl_log_call *call)
{
    tl_log_time time;
    int64_t now = call->op.now, rest = now % 1000;
    uint64_t salt = tli_hash_xxh64(call->log->settings->seed, sizeof call->log->settings->seed,
                                   ++call->log->writes ^ (uint64_t)now << 20);
    rest += rest < 0 ? 1000 : 0;
    time.seconds = (now - rest) / 1000;
    time.nanos = (uint32_t)rest * 1000000 + (uint32_t)(salt % 1000000);
    return time;
}

TLI_FN int tli_log_write(tl_log_call *call)
{
    uint64_t expected = call->plan.version - 1;
    if (call->kind == TLI_LOG_CREATE && call->current != 0)
        return tli_log_fail(call, TL_FAULT_EXISTS, TL_EXISTS, "there is a table already", 0);
    if (call->current != expected) {
        (void)tli_log_fail(call, TL_FAULT_CONFLICT, TL_CONFLICT, "another writer was first", 0);
        call->fault.expected = expected;
        call->fault.found = call->current;
        return 1;
    }
    if (tl_log_plan_write(&call->plan, tli_log_now(call), &call->text, &call->next, &call->fault) != TL_OK)
        return tli_log_refuse(call, tli_log_key(call, 1, call->plan.version));
    call->body = tli_text_span(call->text.data, call->text.size);
    return tli_log_put(call);
}

TLI_FN int tli_log_upload(tl_log_call *call, uint8_t state)
{
    tl_request *r = tli_log_ask(call, state, TL_PUT, call->plan.version);
    if (r == NULL)
        return 1;
    r->condition = TL_IF_ABSENT;
    r->body = &call->body;
    r->body_count = 1;
    r->body_size = call->body.size;
    return 1;
}

TLI_FN int tli_log_put(tl_log_call *call)
{
    call->tries++;
    return tli_log_upload(call, TLI_LOG_PUT);
}

TLI_FN uint32_t tli_log_rounds(const tl_log_call *call)
{
    return call->log->settings->rounds != 0 ? call->log->settings->rounds : 3;
}

TLI_FN int tli_log_unclear(const tli_op_slot *slot)
{
    return slot->outcome == TL_OUTCOME_UNKNOWN || slot->outcome == TL_OUTCOME_CANCELLED;
}

TLI_FN int tli_log_point(tl_log_call *call)
{
    tl_request *r = tli_log_ask(call, TLI_LOG_POINT, TL_PUT, 0);
    size_t n = tli_number_u64(call->pointer, call->plan.version);
    if (r == NULL)
        return 1;
    call->pointer[n] = '\n';
    call->body = tli_text_span(call->pointer, n + 1);
    r->body = &call->body;
    r->body_count = 1;
    r->body_size = n + 1;
    r->condition = TL_ALWAYS;
    if (!call->unconditional && call->etag != NULL) {
        r->condition = TL_IF_MATCH;
        r->etag = tli_text_span(call->etag->data, call->etag->size);
    } else if (!call->unconditional && call->current == 0) {
        r->condition = TL_IF_ABSENT;
    }
    return 1;
}

TLI_FN int tli_log_published(tl_log_call *call);

/* The commit is there. Its turn to be named, unless it is. */
TLI_FN int tli_log_stands(tl_log_call *call)
{
    call->unclear = 0;
    call->tries = 0;
    return call->current >= call->plan.version ? tli_log_published(call) : tli_log_point(call);
}

TLI_FN int tli_log_was_put(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome == TL_OUTCOME_OK)
        return tli_log_stands(call);
    if (tli_log_unclear(slot) || (slot->outcome == TL_OUTCOME_PRECONDITION && call->unclear)) {
        call->unclear = 1;
        return tli_log_get(call, TLI_LOG_READ_BACK, call->plan.version);
    }
    if (slot->outcome == TL_OUTCOME_PRECONDITION)
        return tli_log_fail(call, TL_FAULT_ALREADY_EXISTS, TL_EXISTS, "another writer has this version",
                            call->plan.version);
    if (call->unclear)
        return tli_log_ambiguous(call, "the commit may be in");
    return tli_log_bad(call, slot);
}

TLI_FN int tli_log_was_read_back(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_span ours = tli_text_span(call->text.data, call->text.size);
    call->body = ours;
    if (slot->outcome == TL_OUTCOME_OK && tl_span_equal(ours, tli_text_span(slot->body->data, slot->body->size)))
        return tli_log_stands(call);
    if (slot->outcome == TL_OUTCOME_OK)
        return tli_log_fail(call, TL_FAULT_ALREADY_EXISTS, TL_EXISTS, "another writer has this version",
                            call->plan.version);
    if (slot->outcome == TL_OUTCOME_NOT_FOUND && call->tries < tli_log_rounds(call) && !call->op.cancelled)
        return tli_log_put(call);
    return tli_log_ambiguous(call, "the commit may be in");
}

/* The call has what it came for. A repairer looks for the next commit: where a store replaced CURRENT without a
   condition it may have gone back over several. */
TLI_FN int tli_log_settled(tl_log_call *call)
{
    if (call->kind != TLI_LOG_REPAIR || call->op.cancelled)
        return tli_log_moved(call);
    tli_log_take(call);
    return tli_log_get(call, TLI_LOG_CURRENT, 0);
}

/* Success: CURRENT names the commit. A repairer makes sure that it did not go meanwhile. */
TLI_FN int tli_log_published(tl_log_call *call)
{
    if (call->kind == TLI_LOG_REPAIR) {
        call->repaired = 1;
        call->body = tli_text_span(call->text.data, call->text.size);
        return tli_log_upload(call, TLI_LOG_RESTORE);
    }
    return tli_log_moved(call);
}

TLI_FN int tli_log_pointed(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    int plain;
    if (slot->outcome == TL_OUTCOME_OK)
        return tli_log_published(call);
    plain = slot->outcome == TL_OUTCOME_UNSUPPORTED && !call->unconditional; /* then without a condition, not blindly */
    call->unconditional |= (uint8_t)plain;
    call->unclear |= (uint8_t)tli_log_unclear(slot);
    call->mismatch = slot->outcome == TL_OUTCOME_PRECONDITION || plain;
    call->tries += !plain;
    (void)tli_features_fault(&call->first, TL_FAULT_IO, call->op.cancelled ? TL_CANCELLED : TL_STORE,
                             call->op.cancelled ? "cancelled" : "CURRENT could not be written", TL_NO_POSITION);
    return tli_log_get(call, TLI_LOG_LOOK, 0);
}

/* The failure that began it, now that nothing of ours is left. */
TLI_FN int tli_log_withdrawn(tl_log_call *call)
{
    call->fault = call->first;
    return tli_log_refuse(call, tli_log_key(call, 1, 0));
}

TLI_FN int tli_log_looked(tl_log_call *call)
{
    uint64_t version;
    int again = call->tries < tli_log_rounds(call) && !call->op.cancelled;
    if (!tli_log_read_pointer(call, &version))
        return tli_log_ambiguous(call, "CURRENT may name the commit");
    if (version >= call->plan.version)
        return tli_log_published(call);
    if (again && (call->unclear || (call->mismatch && version + 1 == call->plan.version)))
        return tli_log_point(call); /* with the ETag that it has now */
    if (call->unclear)
        return tli_log_ambiguous(call, "CURRENT may come to name the commit");
    if (call->kind == TLI_LOG_REPAIR)
        return tli_log_withdrawn(call); /* not ours to delete */
    (void)tli_log_ask(call, TLI_LOG_WITHDRAW, TL_DELETE, call->plan.version);
    return 1;
}

TLI_FN int tli_log_was_deleted(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome != TL_OUTCOME_OK && slot->outcome != TL_OUTCOME_NOT_FOUND)
        return tli_log_ambiguous(call, "the commit is in, and CURRENT does not name it");
    return tli_log_get(call, TLI_LOG_LOOK_AGAIN, 0);
}

TLI_FN int tli_log_looked_again(tl_log_call *call)
{
    uint64_t version;
    if (!tli_log_read_pointer(call, &version))
        return tli_log_ambiguous(call, "CURRENT may name the commit, which was deleted");
    if (version < call->plan.version)
        return tli_log_withdrawn(call);
    call->body = tli_text_span(call->text.data, call->text.size);
    return tli_log_upload(call, TLI_LOG_RESTORE);
}

TLI_FN int tli_log_restored(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome == TL_OUTCOME_OK)
        return tli_log_settled(call);
    if (slot->outcome == TL_OUTCOME_PRECONDITION)
        return tli_log_get(call, TLI_LOG_WHOSE, call->plan.version);
    return tli_log_ambiguous(call, "CURRENT names the commit, which may be gone");
}

/* A commit is there: ours, or that of a writer who took the version while ours was gone. */
TLI_FN int tli_log_whose(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_span ours = tli_text_span(call->text.data, call->text.size);
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_log_ambiguous(call, "CURRENT names a commit that cannot be read");
    if (tl_span_equal(ours, tli_text_span(slot->body->data, slot->body->size)))
        return tli_log_settled(call);
    call->repaired = 0;
    return tli_log_fail(call, TL_FAULT_ALREADY_EXISTS, TL_EXISTS, "another writer has this version",
                        call->plan.version);
}

/* Where things stand after an ambiguous end. */
TLI_FN int tli_log_resolved(tl_log_call *call)
{
    uint64_t version;
    if (!tli_log_read_pointer(call, &version))
        return tli_log_ambiguous(call, "CURRENT cannot be read");
    if (version + 1 < call->plan.version)
        return tli_log_ambiguous(call, "CURRENT went back");
    call->current = version;
    call->unclear = 1;
    call->tries = 0;
    return tli_log_get(call, TLI_LOG_READ_BACK, call->plan.version);
}

/* ---- repair ---- */

TLI_FN int tli_log_orphan(tl_log_call *call)
{
    call->plan.version = tli_log_version(call->log) + 1;
    if (call->plan.version == 0)
        return tli_log_done(call);
    return tli_log_get(call, TLI_LOG_ORPHAN, call->plan.version);
}

/* Whether a commit was written so lately that its writer may be at work. One that cannot be published is taken back:
   who published it meanwhile would see it go. */
TLI_FN int tli_log_young(const tl_log_call *call, tl_log_time time)
{
    int64_t age = call->log->settings->repair_age_ms;
    int64_t passed = call->op.now - (time.seconds * 1000 + time.nanos / 1000000);
    age = age == 0 ? 600000 : age;
    return passed < age && passed > -age;
}

TLI_FN int tli_log_judge_orphan(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_log_options options = tli_log_options(call->log);
    tl_status st;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return call->log->state == NULL ? tli_log_none(call) : tli_log_done(call);
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_log_bad(call, slot);
    if (call->replaying)
        tl_log_replay_end(&call->replay);
    tl_log_replay_begin(&call->replay, call->log->state, &options);
    call->replaying = 1;
    st = tl_log_replay_commit(&call->replay, call->plan.version, slot->body->data, slot->body->size, &call->fault);
    if (st == TL_OK)
        st = tl_log_replay_finish(&call->replay, &call->next, &call->fault);
    if (st == TL_OK && tli_log_young(call, call->replay.time))
        return tli_log_fail(call, TL_FAULT_CONFLICT, TL_CONFLICT, "the commit is young: its writer may be at work",
                            call->plan.version);
    if (st == TL_OK) {
        tl_error why;
        call->text.size = 0;
        if (tli_mem_append(&call->text, slot->body->data, slot->body->size, &why) != TL_OK)
            return tli_log_fail(call, TL_FAULT_OTHER, TL_NO_MEMORY, "out of memory", call->plan.version);
        return tli_log_stands(call);
    }
    if (!call->remove || call->fault.kind == TL_FAULT_OTHER || st == TL_UNSUPPORTED)
        return tli_log_refuse(call, slot->request.key);
    return tli_log_get(call, TLI_LOG_MAKE_SURE, 0);
}

/* It may have been half written when it was read, and have been published since. */
TLI_FN int tli_log_made_sure(tl_log_call *call)
{
    uint64_t version;
    if (!tli_log_read_pointer(call, &version))
        return tli_log_refuse(call, tli_log_key(call, 1, 0));
    if (version != tli_log_version(call->log))
        return tli_log_fail(call, TL_FAULT_CONFLICT, TL_CONFLICT, "a writer is at work", 0);
    (void)tli_log_ask(call, TLI_LOG_REMOVE, TL_DELETE, call->plan.version);
    return 1;
}

TLI_FN int tli_log_removed(tl_log_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome != TL_OUTCOME_OK && slot->outcome != TL_OUTCOME_NOT_FOUND)
        return tli_log_bad(call, slot);
    call->repaired = 2;
    return tli_log_done(call);
}

/* ---- the machine ---- */

TLI_FN int tli_log_have_current(tl_log_call *call)
{
    if (!tli_log_read_pointer(call, &call->current)) {
        const tli_op_slot *slot = tli_op_answer(&call->op, 0);
        if (slot->outcome != TL_OUTCOME_OK)
            return tli_log_bad(call, slot);
        return tli_log_refuse(call, slot->request.key);
    }
    return call->kind == TLI_LOG_WRITE || call->kind == TLI_LOG_CREATE ? tli_log_write(call) : tli_log_compare(call);
}

/* Before anything is asked: keys, and what planning said. */
TLI_FN int tli_log_begin_asking(tl_log_call *call)
{
    size_t each = tli_log_location(call->log).size + 1 + TL_LOG_NAME, n = tli_log_window(call->log);
    int writes = call->kind == TLI_LOG_WRITE || call->kind == TLI_LOG_CREATE;
    call->keys_size = each > SIZE_MAX / 8192 ? 0 : each * (writes ? 2 : TLI_MAX(n, (size_t)2));
    call->keys = call->keys_size == 0 ? NULL : (char *)tli_mem_new(&call->op.options.allocator, call->keys_size);
    if (call->keys == NULL) {
        (void)tli_features_fault(&call->fault, TL_FAULT_OTHER, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return tli_log_refuse(call, tli_text_span(NULL, 0));
    }
    if (call->fault.kind != TL_FAULT_NONE)
        return tli_log_refuse(call, call->log->location);
    return tli_log_get(call, TLI_LOG_CURRENT, 0);
}

/* After a cancel nothing new begins; only what a write needs to tell its true result goes on. What the cancel kept from
   being sent is asked once more. */
TLI_FN int tli_log_settling(tl_log_call *call)
{
    const tli_op_slot *slot = call->op.slot_count != 0 ? tli_op_answer(&call->op, 0) : NULL;
    int pointer = call->state == TLI_LOG_LOOK || call->state == TLI_LOG_LOOK_AGAIN;
    int asks = pointer || call->state == TLI_LOG_READ_BACK || call->state == TLI_LOG_WHOSE;
    if (call->keys == NULL || call->state <= TLI_LOG_COMMITS || call->state == TLI_LOG_ORPHAN
        || call->state == TLI_LOG_MAKE_SURE || call->state == TLI_LOG_RESOLVE)
        return tli_log_fail(call, TL_FAULT_IO, TL_CANCELLED, "cancelled", 0);
    if (slot == NULL || slot->outcome != TL_OUTCOME_NEVER_SENT || call->again)
        return 0;
    call->again = 1;
    if (asks)
        return tli_log_get(call, call->state, pointer ? 0 : call->plan.version);
    if (call->state == TLI_LOG_RESTORE)
        return tli_log_upload(call, TLI_LOG_RESTORE);
    if (call->state == TLI_LOG_WITHDRAW) {
        (void)tli_log_ask(call, TLI_LOG_WITHDRAW, TL_DELETE, call->plan.version);
        return 1;
    }
    return 0;
}

TLI_FN int tli_log_advance(tl_op *op)
{
    tl_log_call *call = (tl_log_call *)(void *)op;
    if (call->keys == NULL && !op->cancelled)
        return tli_log_begin_asking(call);
    if (op->cancelled && tli_log_settling(call))
        return 1;
    switch (call->state) {
    case TLI_LOG_CURRENT:
        return tli_log_have_current(call);
    case TLI_LOG_COMMITS:
        return tli_log_take_commits(call);
    case TLI_LOG_PUT:
        return tli_log_was_put(call);
    case TLI_LOG_READ_BACK:
        return tli_log_was_read_back(call);
    case TLI_LOG_POINT:
        return tli_log_pointed(call);
    case TLI_LOG_LOOK:
        return tli_log_looked(call);
    case TLI_LOG_WITHDRAW:
        return tli_log_was_deleted(call);
    case TLI_LOG_LOOK_AGAIN:
        return tli_log_looked_again(call);
    case TLI_LOG_RESTORE:
        return tli_log_restored(call);
    case TLI_LOG_WHOSE:
        return tli_log_whose(call);
    case TLI_LOG_ORPHAN:
        return tli_log_judge_orphan(call);
    case TLI_LOG_MAKE_SURE:
        return tli_log_made_sure(call);
    case TLI_LOG_REMOVE:
        return tli_log_removed(call);
    default:
        return tli_log_resolved(call);
    }
}

TLI_FN void tli_log_end(tl_op *op)
{
    tl_log_call *call = (tl_log_call *)(void *)op;
    if (call->replaying)
        tl_log_replay_end(&call->replay);
    if (call->planned)
        tl_log_plan_free(&call->plan);
    tl_log_state_drop(call->next);
    tl_buffer_free(&call->text);
    tli_mem_blob_drop(call->etag);
    tli_mem_delete(&op->options.allocator, call->keys, call->keys_size);
    call->next = NULL;
    call->etag = NULL;
    call->keys = NULL;
    call->replaying = call->planned = 0;
}

TLI_FN const char *tli_log_state(const tl_op *op)
{
    static const char *const names[] = {"CURRENT",  "COMMITS",    "PUT",     "READ-BACK", "POINT",  "LOOK",
                                        "WITHDRAW", "LOOK-AGAIN", "RESTORE", "WHOSE",     "ORPHAN", "SURE",   "REMOVE",
                                        "RESOLVE"};
    return names[((const tl_log_call *)(const void *)op)->state];
}

TLI_FN void tli_log_begin(tl_log_call *call, tl_log *log, uint8_t kind)
{
    static const tli_op_machine machine = {tli_log_advance, NULL, NULL, tli_log_end, tli_log_state,
                                           0, 1, 0};
    tli_op_begin(&call->op, &machine, &log->settings->op);
    TLI_FILL((char *)call + sizeof call->op, 0, sizeof *call - sizeof call->op);
    call->log = log;
    call->version = tli_log_version(log);
    call->kind = kind;
    call->text.allocator = call->op.options.allocator;
}

/* A write plans at once: `call->fault` says what is wrong with it. */
TLI_FN tl_log_options tli_log_begin_write(tl_log_call *call, tl_log *log, uint8_t kind)
{
    uint8_t any = 0;
    size_t i;
    tli_log_begin(call, log, kind);
    for (i = 0; i < sizeof log->settings->seed; i++)
        any |= log->settings->seed[i];
    if (any == 0 || (kind == TLI_LOG_WRITE && log->state == NULL))
        (void)tli_features_fault(&call->fault, TL_FAULT_OTHER, TL_MISUSE,
                                 any == 0 ? "settings.seed is zero" : "a handle that was not opened", TL_NO_POSITION);
    call->planned = 1;
    return tli_log_options(log);
}

TL_API void tl_log_init(tl_log *log, tl_span location, const tl_log_settings *settings)
{
    TLI_FILL(log, 0, sizeof *log);
    log->location = location;
    log->settings = settings;
}

TL_API void tl_log_free(tl_log *log)
{
    tl_log_state_drop(log->state);
    log->state = NULL;
}

TL_API void tl_log_refresh(tl_log_call *call, tl_log *log)
{
    tli_log_begin(call, log, TLI_LOG_REFRESH);
}

TL_API void tl_log_add_columns(tl_log_call *call, tl_log *log, const tl_log_field *fields, uint32_t nodes)
{
    tl_log_options o = tli_log_begin_write(call, log, TLI_LOG_WRITE);
    if (call->fault.kind == TL_FAULT_NONE)
        (void)tl_log_plan_columns(&call->plan, log->state, fields, nodes, &o, &call->fault);
}

TL_API void tl_log_commit(tl_log_call *call, tl_log *log, const tl_log_action *actions, size_t count)
{
    tl_log_options o = tli_log_begin_write(call, log, TLI_LOG_WRITE);
    if (call->fault.kind == TL_FAULT_NONE)
        (void)tl_log_plan_actions(&call->plan, log->state, actions, count, &o, &call->fault);
}

TL_API void tl_log_create(tl_log_call *call, tl_log *log, const tl_log_meta *meta)
{
    tl_log_options o = tli_log_begin_write(call, log, TLI_LOG_CREATE);
    tl_log_action action;
    TLI_FILL(&action, 0, sizeof action);
    action.meta = meta;
    if (call->fault.kind == TL_FAULT_NONE)
        (void)tl_log_plan_actions(&call->plan, NULL, &action, 1, &o, &call->fault);
}

TL_API void tl_log_repair(tl_log_call *call, tl_log *log, int remove)
{
    tli_log_begin(call, log, TLI_LOG_REPAIR);
    call->remove = (uint8_t)(remove != 0);
}

TL_API tl_status tl_log_resolve(tl_log_call *call)
{
    tl_op *op = &call->op;
    if (op->turn != TL_FAILED || op->error.status != TL_AMBIGUOUS || op->ended || call->next == NULL)
        return TL_MISUSE;
    tli_mem_delete(&op->options.allocator, op->error_text, op->error_key_size + TLI_OP_TEXT);
    op->error_text = NULL;
    op->error_key_size = 0;
    TLI_FILL(&op->error, 0, sizeof op->error);
    op->turn = TL_WAITS;
    op->cancelled = op->driven = 0;
    call->fault.kind = TL_FAULT_NONE;
    call->again = 0;
    if (tli_log_get(call, TLI_LOG_RESOLVE, 0) && op->slot_count != 0)
        tli_op_answer(op, 0)->request.round = op->round + 1;
    return TL_OK;
}
#endif /* TIMELAKE_NO_LOG */
