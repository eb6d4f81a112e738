/* >>probe: the machine of cached probing. One request is out at a time, so one key buffer serves all; the cache is read
   and changed only where a call starts or an answer is processed, under the caller's lock, never across a request. */
#ifndef TIMELAKE_NO_PROBE
enum {
    TLI_PROBE_LATEST, TLI_PROBE_WRITE, TLI_PROBE_DELETE, TLI_PROBE_CHECK, TLI_PROBE_ADVANCE, TLI_PROBE_ID,
        TLI_PROBE_LIST
};
enum {
    TLI_PROBE_START, TLI_PROBE_PROBING, TLI_PROBE_VERIFYING, TLI_PROBE_LISTING, TLI_PROBE_OBJECT, TLI_PROBE_CHECKING,
    TLI_PROBE_PUTTING, TLI_PROBE_DELETING, TLI_PROBE_BOUNDARY, TLI_PROBE_MOVING
};

#define TLI_PROBE_LIMIT 4u
#define TLI_PROBE_ROUNDS 32u
#define TLI_PROBE_PAGES 100000u /* of one listing: 10^8 objects */
#define TLI_PROBE_BOUNDARY_BYTES 4096u

TL_API const tl_layout *tl_slatedb_manifests(void)
{
    static const tl_layout layout = {"manifest", "manifest", "gc/manifest.boundary", 20, 0};
    return &layout;
}

TL_API const tl_layout *tl_slatedb_compactions(void)
{
    static const tl_layout layout = {"compactions", "compactions", "gc/compactions.boundary", 20, 0};
    return &layout;
}

TL_API tl_status tl_probe_init(tl_probe *probe, const tl_layout *layout, tl_span root, const tl_probe_options *options)
{
    static const tl_probe_options defaults = {
        NULL, NULL, NULL, NULL, NULL, NULL, {0, 0, 0, 0, {NULL, NULL, NULL, NULL}, NULL, NULL}, 0, 0};
    size_t fixed;
    TLI_FILL(probe, 0, sizeof *probe);
    if (layout == NULL || layout->directory == NULL || layout->suffix == NULL || layout->digits > 20)
        return TL_MISUSE;
    fixed = tl_text(layout->directory).size + tl_text(layout->suffix).size + 2 + 20;
    fixed = TLI_MAX(fixed, tl_text(layout->boundary).size);
    if (fixed > TL_PROBE_KEY || root.size > TL_PROBE_KEY - fixed)
        return TL_LIMIT;
    probe->layout = layout;
    probe->root = root;
    probe->options = options != NULL ? options : &defaults;
    return TL_OK;
}

TL_API void tl_probe_free(tl_probe *probe)
{
    tli_mem_blob_drop(probe->body);
    probe->body = NULL;
}

/* ---- keys ---- */

TLI_FN void tli_probe_add(tl_probe_call *call, const char *text, size_t size)
{
    if (size != 0)
        TLI_COPY(call->key + call->key_size, text, size);
    call->key_size += size;
}

TLI_FN tl_span tli_probe_key(tl_probe_call *call, const char *first, const char *second)
{
    call->key_size = 0;
    tli_probe_add(call, call->probe->root.data, call->probe->root.size);
    tli_probe_add(call, first, tl_text(first).size);
    tli_probe_add(call, second, tl_text(second).size);
    return tli_text_span(call->key, call->key_size);
}

/* The key of an object. */
TLI_FN tl_span tli_probe_object_key(tl_probe_call *call, uint64_t id)
{
    const tl_layout *layout = call->probe->layout;
    char digits[24];
    size_t n = tli_number_u64(digits, id);
    (void)tli_probe_key(call, layout->directory, "/");
    if (n < layout->digits)
        tli_probe_add(call, "00000000000000000000", layout->digits - n);
    tli_probe_add(call, digits, n);
    tli_probe_add(call, ".", 1);
    tli_probe_add(call, layout->suffix, tl_text(layout->suffix).size);
    return tli_text_span(call->key, call->key_size);
}

/* The id of a listed key, 0 when it is not one of ours. Only the very key that the id is read by counts: another
   spelling would win the listing and miss on every get. call->key holds the directory's prefix meanwhile. */
TLI_FN uint64_t tli_probe_id(const tl_probe_call *call, tl_span key)
{
    const tl_layout *layout = call->probe->layout;
    tl_span suffix = tl_text(layout->suffix);
    const char *digits = key.data + call->key_size;
    size_t n;
    uint64_t id = 0;
    if (key.size < call->key_size + suffix.size + 2 || TLI_COMPARE(key.data, call->key, call->key_size) != 0)
        return 0;
    n = key.size - call->key_size - suffix.size - 1;
    if (digits[n] != '.' || TLI_COMPARE(digits + n + 1, suffix.data, suffix.size) != 0 || n > 20
        || n < layout->digits || (n > TLI_MAX(layout->digits, 1u) && digits[0] == '0'))
        return 0;
    for (; n > 1 && *digits == '0'; n--)
        digits++;
    return tli_number_parse_u64(digits, n, &id) ? id : 0;
}

/* ---- the shared cache ---- */

TLI_FN void tli_probe_lock(const tl_probe *p)
{
    if (p->options->lock != NULL)
        p->options->lock(p->options->context);
}

TLI_FN void tli_probe_unlock(const tl_probe *p)
{
    if (p->options->unlock != NULL)
        p->options->unlock(p->options->context);
}

/* counters->member++ for the one at this offset; under the lock, since probes may share them. */
#define TLI_PROBE_COUNT(p, member)                                                                                     \
    do {                                                                                                               \
        if ((p)->options->counters != NULL)                                                                            \
            (p)->options->counters->member++;                                                                          \
    } while (0)

#define TLI_PROBE_COUNT_LOCKED(p, member)                                                                              \
    do {                                                                                                               \
        tli_probe_lock(p);                                                                                             \
        TLI_PROBE_COUNT(p, member);                                                                                    \
        tli_probe_unlock(p);                                                                                           \
    } while (0)

/* Offers an object to the cache: it only moves forward. */
TLI_FN void tli_probe_offer(tl_probe *p, uint64_t id, tli_blob *body, int by_write)
{
    tli_blob *old = NULL;
    tli_probe_lock(p);
    if (p->body == NULL || id > p->id) {
        old = p->body;
        p->body = tli_mem_blob_keep(body);
        p->id = id;
        if (by_write)
            TLI_PROBE_COUNT(p, advances_write);
        else
            TLI_PROBE_COUNT(p, advances_read);
    }
    tli_probe_unlock(p);
    tli_mem_blob_drop(old);
}

/* Empties the cache if its id lies in [from, to]; counted in *counter of the counters. */
TLI_FN void tli_probe_drop(tl_probe *p, uint64_t from, uint64_t to, uint64_t *counter)
{
    tli_blob *old = NULL;
    tli_probe_lock(p);
    if (p->body != NULL && p->id >= from && p->id <= to) {
        old = p->body;
        p->body = NULL;
        if (counter != NULL)
            (*counter)++;
    }
    tli_probe_unlock(p);
    tli_mem_blob_drop(old);
}

#define TLI_PROBE_COUNTER(p, member) ((p)->options->counters != NULL ? &(p)->options->counters->member : NULL)

/* A count on the cached body and its id; NULL when there is none (or, with `id` not 0, when it is another). */
TLI_FN tli_blob *tli_probe_cached(tl_probe *p, uint64_t only, uint64_t *id)
{
    tli_blob *body;
    tli_probe_lock(p);
    body = only == 0 || p->id == only ? tli_mem_blob_keep(p->body) : NULL;
    *id = p->id;
    tli_probe_unlock(p);
    return body;
}

/* Remembers a boundary, with the ETag that the call has heard, unless a higher one is known. Returns what is known
   afterwards. */
TLI_FN uint64_t tli_probe_remember(const tl_probe_call *call, uint64_t value)
{
    tl_probe *p = call->probe;
    tli_probe_lock(p);
    if (value >= p->boundary) {
        p->boundary = value;
        p->etag_size = call->etag_size;
        TLI_COPY(p->etag, call->etag, sizeof p->etag);
    }
    value = p->boundary;
    tli_probe_unlock(p);
    return value;
}

/* The boundary that is known; 0: none. */
TLI_FN uint64_t tli_probe_known(const tl_probe *p)
{
    uint64_t value;
    tli_probe_lock(p);
    value = p->boundary;
    tli_probe_unlock(p);
    return value;
}

/* The ETag known with it, into the call: what a request points at must not change. */
TLI_FN tl_span tli_probe_recall(tl_probe_call *call)
{
    const tl_probe *p = call->probe;
    tli_probe_lock(p);
    call->etag_size = p->etag_size;
    TLI_COPY(call->etag, p->etag, sizeof p->etag);
    tli_probe_unlock(p);
    return tli_text_span(call->etag, call->etag_size);
}

/* ---- ends ---- */

TLI_FN void tli_probe_histogram(const tl_probe *p, uint32_t probes)
{
    size_t bucket = probes <= 4 ? probes : probes <= 8 ? 5 : 6;
    if (p->options->counters == NULL)
        return;
    tli_probe_lock(p);
    p->options->counters->per_read[bucket]++;
    p->options->counters->per_read_sum += probes;
    tli_probe_unlock(p);
}

TLI_FN int tli_probe_done(tl_probe_call *call, tl_turn turn)
{
    tli_op_finish(&call->op, turn);
    return 1;
}

TLI_FN int tli_probe_fail(tl_probe_call *call, tl_status status, const char *text)
{
    tli_op_fail(&call->op, status, text, TL_NO_POSITION);
    tli_op_about(&call->op, tli_text_span(call->key, call->key_size), tli_text_span(NULL, 0));
    return 1;
}

TLI_FN int tli_probe_bad_answer(tl_probe_call *call, const tli_op_slot *slot)
{
    tli_op_fail_answer(&call->op, slot);
    return 1;
}

/* What the call holds now is the candidate; its count is the call's. */
TLI_FN void tli_probe_hold(tl_probe_call *call, uint64_t id, tli_blob *body)
{
    tli_mem_blob_drop(call->held);
    call->held = body;
    call->id = id;
    call->body = body == NULL ? tli_text_span(NULL, 0) : tli_text_span(body->data, body->size);
}

/* The caller's decoder looks at the candidate. 0: it refused, and the call has failed. */
TLI_FN int tli_probe_decode(tl_probe_call *call)
{
    const tl_probe_options *o = call->probe->options;
    call->code = o->decode == NULL ? 0 : o->decode(o->context, call->id, call->body.data, call->body.size);
    if (call->code == 0)
        return 1;
    (void)tli_probe_object_key(call, call->id);
    (void)tli_probe_fail(call, TL_REFUSED, "the decoder refused the object");
    return 0;
}

/* ---- requests. These and the functions below return 1, or 0 when the call starts over with nothing out ---- */

TLI_FN int tli_probe_get(tl_probe_call *call, uint64_t id, uint8_t state, tl_request_kind kind, tl_purpose purpose)
{
    call->state = state;
    (void)tli_op_request(&call->op, kind, tli_probe_object_key(call, id), purpose);
    return 1;
}

TLI_FN int tli_probe_ask_listing(tl_probe_call *call)
{
    call->state = TLI_PROBE_LISTING;
    call->pages = 0;
    (void)tli_op_request(&call->op, TL_LIST, tli_probe_key(call, call->probe->layout->directory, "/"),
                         TL_PURPOSE_LISTING);
    return 1;
}

/* The boundary, if it changed since it was seen. */
TLI_FN int tli_probe_ask_boundary(tl_probe_call *call, uint8_t state)
{
    tl_request *r;
    call->state = state;
    r = tli_op_request(&call->op, TL_GET, tli_probe_key(call, call->probe->layout->boundary, ""),
                       TL_PURPOSE_BOUNDARY);
    if (r == NULL)
        return 1;
    r->accept = TLI_PROBE_BOUNDARY_BYTES;
    r->etag = tli_probe_recall(call);
    r->condition = r->etag.size != 0 ? TL_IF_NONE_MATCH : TL_ALWAYS;
    return 1;
}

/* ---- the boundary ---- */

TLI_INLINE int tli_probe_is_space(char c)
{
    return c == ' ' || (c >= 9 && c <= 13);
}

/* The number in a boundary object: white space around it, a plus sign and leading zeros are taken. */
TLI_FN int tli_probe_parse_boundary(tl_span body, uint64_t *value)
{
    size_t i = 0, n = body.size, first;
    uint64_t v = 0;
    while (i < n && tli_probe_is_space(body.data[i]))
        i++;
    while (n > i && tli_probe_is_space(body.data[n - 1]))
        n--;
    i += i < n && body.data[i] == '+';
    for (first = i; i < n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)body.data[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *value = v;
    return first < n;
}

/* What the answer to a boundary get says, remembered; of what is known already nothing is taken back. 0: the call has
   failed. */
TLI_FN int tli_probe_read_boundary(tl_probe_call *call, uint64_t *value)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome == TL_OUTCOME_NOT_FOUND
        || (slot->outcome == TL_OUTCOME_NOT_MODIFIED && slot->request.condition == TL_IF_NONE_MATCH)) {
        *value = tli_probe_known(call->probe);
        return 1;
    }
    if (slot->outcome != TL_OUTCOME_OK) {
        (void)tli_probe_bad_answer(call, slot);
        return 0;
    }
    if (!slot->read) {
        (void)tli_probe_fail(call, TL_CORRUPT, "the boundary object does not hold a number");
        return 0;
    }
    *value = tli_probe_remember(call, slot->number);
    return 1;
}

/* The boundary covers the id the call is about. */
TLI_FN int tli_probe_covered(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_probe_drop(p, call->id, call->id, TLI_PROBE_COUNTER(p, dropped_boundary));
    if (call->kind == TLI_PROBE_LATEST) {
        call->state = TLI_PROBE_START; /* over again: tli_probe_advance goes on with it */
        return 0;
    }
    if (call->kind == TLI_PROBE_DELETE)
        return tli_probe_get(call, call->id, TLI_PROBE_DELETING, TL_DELETE, TL_PURPOSE_CLEAN_UP);
    return tli_probe_fail(call, TL_CONFLICT, "the boundary covers this id");
}

TLI_FN int tli_probe_not_covered(tl_probe_call *call)
{
    if (call->kind == TLI_PROBE_DELETE)
        return tli_probe_fail(call, TL_MISUSE, "the boundary does not cover the object to delete");
    return tli_probe_done(call, TL_DONE);
}

/* Is id still above the boundary? What is remembered may answer at once, but only with no. */
TLI_FN int tli_probe_check_boundary(tl_probe_call *call)
{
    if (!call->checked || call->probe->layout->boundary == NULL)
        return tli_probe_not_covered(call);
    if (call->id <= tli_probe_known(call->probe))
        return tli_probe_covered(call);
    return tli_probe_ask_boundary(call, TLI_PROBE_CHECKING);
}

TLI_FN int tli_probe_checked(tl_probe_call *call)
{
    uint64_t value;
    if (!tli_probe_read_boundary(call, &value)) {
        if (call->kind == TLI_PROBE_WRITE) /* the object is in */
            call->op.error.status = TL_AMBIGUOUS;
        return 1;
    }
    tli_op_clear(&call->op);
    return call->id <= value ? tli_probe_covered(call) : tli_probe_not_covered(call);
}

/* ---- latest ---- */

/* An attempt begins: warm from the cache, or cold. */
TLI_FN int tli_probe_start(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_blob *body;
    uint64_t id;
    uint32_t rounds = p->options->rounds != 0 ? p->options->rounds : TLI_PROBE_ROUNDS;
    if (call->attempts++ >= rounds)
        return tli_probe_fail(call, TL_GAVE_UP, "every object found is covered by the boundary or gone");
    call->hits = 0;
    body = tli_probe_cached(p, 0, &id);
    if (body == NULL)
        TLI_PROBE_COUNT_LOCKED(p, latest_misses);
    else
        TLI_PROBE_COUNT_LOCKED(p, latest_hits);
    tli_probe_hold(call, body == NULL ? 0 : id, body);
    if (body == NULL)
        return tli_probe_ask_listing(call);
    if (id == UINT64_MAX) /* it has no successor */
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    call->probes++;
    return tli_probe_get(call, id + 1, TLI_PROBE_PROBING, TL_GET, TL_PURPOSE_PROBE);
}

/* The successor is not there: the candidate is the newest. */
TLI_FN int tli_probe_missed(tl_probe_call *call)
{
    TLI_PROBE_COUNT_LOCKED(call->probe, probe_misses);
    tli_op_clear(&call->op);
    if (call->probe->options->verify)
        return tli_probe_get(call, call->id, TLI_PROBE_VERIFYING, TL_STAT, TL_PURPOSE_CHECK);
    return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
}

TLI_FN int tli_probe_probed(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    uint32_t limit = p->layout->limit != 0 ? p->layout->limit : TLI_PROBE_LIMIT;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return tli_probe_missed(call);
    if (slot->outcome != TL_OUTCOME_OK) {
        TLI_PROBE_COUNT_LOCKED(p, probe_errors);
        return tli_probe_bad_answer(call, slot);
    }
    TLI_PROBE_COUNT_LOCKED(p, probe_hits);
    tli_probe_hold(call, call->id + 1, tli_op_take_body(slot));
    tli_probe_offer(p, call->id, call->held, 0);
    tli_op_clear(&call->op);
    if (call->id == UINT64_MAX) /* it has no successor */
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    if (++call->hits >= limit) {
        TLI_PROBE_COUNT_LOCKED(p, list_fallbacks);
        if (p->options->fallback != NULL)
            p->options->fallback(p->options->context, call->id);
        return tli_probe_ask_listing(call);
    }
    call->probes++;
    return tli_probe_get(call, call->id + 1, TLI_PROBE_PROBING, TL_GET, TL_PURPOSE_PROBE);
}

TLI_FN int tli_probe_verified(tl_probe_call *call)
{
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_outcome outcome = slot->outcome;
    if (outcome != TL_OUTCOME_OK && outcome != TL_OUTCOME_NOT_FOUND)
        return tli_probe_bad_answer(call, slot);
    tli_op_clear(&call->op);
    if (outcome == TL_OUTCOME_OK)
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    tli_probe_drop(call->probe, call->id, call->id, TLI_PROBE_COUNTER(call->probe, dropped_delete));
    return tli_probe_start(call);
}

/* Without padding the order of keys is not that of ids, and some stores list in no order. */
TLI_FN int tli_probe_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The listing is in: its highest id, unless the call or the cache holds that or better. */
TLI_FN int tli_probe_listed(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_blob *body;
    uint64_t highest = slot->number, id;
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    if (slot->more) {
        if (++call->pages >= TLI_PROBE_PAGES)
            return tli_probe_fail(call, TL_LIMIT, "a listing of too many pages");
        tli_op_list_on(&call->op, slot);
        return 1;
    }
    tli_op_clear(&call->op);
    if (call->kind == TLI_PROBE_LIST) {
        tli_sort((void *)(uintptr_t)call->ids, call->id_count, sizeof(uint64_t), tli_probe_order);
        return tli_probe_done(call, TL_DONE);
    }
    if (highest == 0) {
        tli_probe_drop(p, 0, UINT64_MAX, TLI_PROBE_COUNTER(p, dropped_empty_list));
        tli_probe_hold(call, 0, NULL);
        return tli_probe_done(call, TL_NONE);
    }
    if (call->held != NULL && highest <= call->id) /* an outdated listing does not take back what was just seen */
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    body = tli_probe_cached(p, highest, &id);
    tli_probe_hold(call, highest, body);
    if (body != NULL)
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    return tli_probe_get(call, highest, TLI_PROBE_OBJECT, TL_GET, TL_PURPOSE_OBJECT);
}

TLI_FN int tli_probe_fetched(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_outcome outcome = slot->outcome;
    if (outcome == TL_OUTCOME_NOT_FOUND && call->kind == TLI_PROBE_ID)
        return tli_probe_done(call, TL_NONE);
    if (outcome == TL_OUTCOME_NOT_FOUND) { /* collected between the listing and the get */
        TLI_PROBE_COUNT_LOCKED(p, relists);
        tli_op_clear(&call->op);
        tli_probe_hold(call, 0, NULL);
        if (call->attempts++ >= (p->options->rounds != 0 ? p->options->rounds : TLI_PROBE_ROUNDS))
            return tli_probe_fail(call, TL_GAVE_UP, "every object listed is gone when it is read");
        return tli_probe_ask_listing(call);
    }
    if (outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    tli_probe_hold(call, call->id, tli_op_take_body(slot));
    tli_op_clear(&call->op);
    if (!tli_probe_decode(call))
        return 1;
    if (call->kind == TLI_PROBE_ID)
        return tli_probe_done(call, TL_DONE);
    tli_probe_offer(p, call->id, call->held, 0);
    return tli_probe_check_boundary(call);
}

/* ---- write, delete, advance ---- */

TLI_FN int tli_probe_put(tl_probe_call *call)
{
    tl_request *r;
    if (call->from == UINT64_MAX)
        return tli_probe_fail(call, TL_LIMIT, "the last id there is has no successor");
    call->id = call->from + 1;
    call->state = TLI_PROBE_PUTTING;
    r = tli_op_request(&call->op, TL_PUT, tli_probe_object_key(call, call->id), TL_PURPOSE_COMMIT);
    if (r == NULL)
        return 1;
    r->condition = TL_IF_ABSENT;
    r->body = &call->put;
    r->body_count = 1;
    r->body_size = call->put.size;
    return 1;
}

TLI_FN int tli_probe_was_put(tl_probe_call *call)
{
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_blob *body;
    if (slot->outcome == TL_OUTCOME_PRECONDITION)
        return tli_probe_fail(call, TL_CONFLICT, "another writer has created this id");
    if (slot->outcome == TL_OUTCOME_UNKNOWN || slot->outcome == TL_OUTCOME_CANCELLED)
        return tli_probe_fail(call, TL_AMBIGUOUS, "the object may have been created");
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    tli_op_clear(&call->op);
    body = tli_mem_blob(&call->op.options.allocator, call->put.data, call->put.size, NULL, NULL, NULL, 0);
    tli_probe_hold(call, call->id, body);
    if (body != NULL) /* no memory to remember it by: the next read probes it */
        tli_probe_offer(call->probe, call->id, body, 1);
    return tli_probe_check_boundary(call);
}

TLI_FN int tli_probe_deleted(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome != TL_OUTCOME_OK && slot->outcome != TL_OUTCOME_NOT_FOUND)
        return tli_probe_bad_answer(call, slot);
    tli_probe_drop(p, call->id, call->id, TLI_PROBE_COUNTER(p, dropped_delete));
    return tli_probe_done(call, TL_DONE);
}

TLI_FN int tli_probe_move(tl_probe_call *call, uint64_t known)
{
    tl_probe *p = call->probe;
    tl_request *r;
    tli_op_clear(&call->op);
    if (known >= call->to) {
        call->id = known;
        tli_probe_drop(p, 0, call->to, TLI_PROBE_COUNTER(p, dropped_advance));
        return tli_probe_done(call, TL_DONE);
    }
    if (call->attempts++ >= (p->options->rounds != 0 ? p->options->rounds : TLI_PROBE_ROUNDS))
        return tli_probe_fail(call, TL_GAVE_UP, "the boundary object changes or vanishes at every attempt");
    call->state = TLI_PROBE_MOVING;
    r = tli_op_request(&call->op, TL_PUT, tli_probe_key(call, p->layout->boundary, ""), TL_PURPOSE_BOUNDARY);
    if (r == NULL)
        return 1;
    r->etag = tli_probe_recall(call);
    r->condition = r->etag.size != 0 ? TL_IF_MATCH : TL_IF_ABSENT;
    if (r->etag.size == 0 && known != 0) {
        tli_op_clear(&call->op);
        return tli_probe_fail(call, TL_UNSUPPORTED, "the boundary object has no ETag to put over, or a very long one");
    }
    call->put = tli_text_span(call->number, tli_number_u64(call->number, call->to));
    r->body = &call->put;
    r->body_count = 1;
    r->body_size = call->put.size;
    return 1;
}

TLI_FN int tli_probe_moved(tl_probe_call *call)
{
    const tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome == TL_OUTCOME_PRECONDITION && !call->op.cancelled) {
        tli_op_clear(&call->op);
        return tli_probe_ask_boundary(call, TLI_PROBE_BOUNDARY);
    }
    if (slot->outcome == TL_OUTCOME_PRECONDITION)
        return tli_probe_fail(call, TL_CANCELLED, "cancelled");
    if (slot->outcome == TL_OUTCOME_UNKNOWN || slot->outcome == TL_OUTCOME_CANCELLED)
        return tli_probe_fail(call, TL_AMBIGUOUS, "the boundary may have moved");
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    return tli_probe_move(call, tli_probe_remember(call, call->to));
}

TLI_FN int tli_probe_boundary_read(tl_probe_call *call)
{
    uint64_t value;
    return tli_probe_read_boundary(call, &value) ? tli_probe_move(call, value) : 1;
}

TLI_FN int tli_probe_begin_advance(tl_probe_call *call)
{
    uint64_t known = tli_probe_known(call->probe);
    if (call->probe->layout->boundary == NULL)
        return tli_probe_fail(call, TL_MISUSE, "this layout has no boundary");
    if (known >= call->to || tli_probe_recall(call).size != 0)
        return tli_probe_move(call, known);
    return tli_probe_ask_boundary(call, TLI_PROBE_BOUNDARY);
}

/* ---- the machine ---- */

TLI_FN int tli_probe_first(tl_probe_call *call)
{
    switch (call->kind) {
    case TLI_PROBE_LATEST:
        return tli_probe_start(call);
    case TLI_PROBE_WRITE:
        return tli_probe_put(call);
    case TLI_PROBE_DELETE:
        if (!call->checked)
            return tli_probe_get(call, call->id, TLI_PROBE_DELETING, TL_DELETE, TL_PURPOSE_CLEAN_UP);
        return tli_probe_check_boundary(call);
    case TLI_PROBE_CHECK:
        return tli_probe_check_boundary(call);
    case TLI_PROBE_ADVANCE:
        return tli_probe_begin_advance(call);
    case TLI_PROBE_ID:
        return tli_probe_get(call, call->id, TLI_PROBE_OBJECT, TL_GET, TL_PURPOSE_OBJECT);
    default:
        return tli_probe_ask_listing(call);
    }
}

TLI_FN int tli_probe_next(tl_probe_call *call)
{
    switch (call->state) {
    case TLI_PROBE_START:
        return tli_probe_first(call);
    case TLI_PROBE_PROBING:
        return tli_probe_probed(call);
    case TLI_PROBE_VERIFYING:
        return tli_probe_verified(call);
    case TLI_PROBE_LISTING:
        return tli_probe_listed(call);
    case TLI_PROBE_OBJECT:
        return tli_probe_fetched(call);
    case TLI_PROBE_CHECKING:
        return tli_probe_checked(call);
    case TLI_PROBE_PUTTING:
        return tli_probe_was_put(call);
    case TLI_PROBE_DELETING:
        return tli_probe_deleted(call);
    case TLI_PROBE_BOUNDARY:
        return tli_probe_boundary_read(call);
    default:
        return tli_probe_moved(call);
    }
}

/* After a cancel nothing new begins; only what a write needs to tell its true result goes on. */
TLI_FN int tli_probe_stops(const tl_probe_call *call)
{
    int writes = call->state == TLI_PROBE_PUTTING || call->state == TLI_PROBE_MOVING
                 || call->state == TLI_PROBE_DELETING
                 || (call->state == TLI_PROBE_CHECKING && call->kind == TLI_PROBE_WRITE);
    return call->op.cancelled && !writes;
}

TLI_FN int tli_probe_advance(tl_op *op)
{
    tl_probe_call *call = (tl_probe_call *)(void *)op;
    if (tli_probe_stops(call))
        tli_op_fail(op, TL_CANCELLED, "cancelled", TL_NO_POSITION);
    else
        while (tli_probe_next(call) == 0) /* bounded by the rounds that a start counts */
            continue;
    if (call->kind == TLI_PROBE_LATEST && tli_op_final(op))
        tli_probe_histogram(call->probe, call->probes);
    return 1;
}

/* One more id of a list call; out of memory is told by a capacity of SIZE_MAX. */
TLI_FN void tli_probe_note(tl_probe_call *call, uint64_t id)
{
    const tl_allocator *a = &call->op.options.allocator;
    uint64_t *ids = (uint64_t *)(void *)(uintptr_t)call->ids;
    if (call->id_count == call->id_capacity) {
        size_t more = call->id_capacity == 0 ? 64 : call->id_capacity * 2;
        ids = (uint64_t *)tli_mem_resize(a, ids, call->id_capacity * sizeof *ids, more * sizeof *ids);
        if (ids == NULL) {
            tli_op_fail(&call->op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
            return;
        }
        call->ids = ids;
        call->id_capacity = more;
    }
    ids[call->id_count++] = id;
}

/* The boundary's ETag, and its number unless it was put. */
TLI_FN void tli_probe_take_boundary(tl_probe_call *call, tli_op_slot *slot, const tl_completion *completion)
{
    tl_span etag = completion->etag, body = completion->body;
    call->etag_size = etag.data != NULL && etag.size <= sizeof call->etag ? (uint8_t)etag.size : 0;
    if (call->etag_size != 0)
        TLI_COPY(call->etag, etag.data, etag.size);
    if (body.data != NULL && completion->body_offset == 0 && body.size <= TLI_PROBE_BOUNDARY_BYTES)
        slot->read = (uint8_t)tli_probe_parse_boundary(body, &slot->number);
}

TLI_FN void tli_probe_take(tl_op *op, tli_op_slot *slot, const tl_completion *completion)
{
    tl_probe_call *call = (tl_probe_call *)(void *)op;
    size_t i;
    if (slot->request.purpose == TL_PURPOSE_BOUNDARY)
        tli_probe_take_boundary(call, slot, completion);
    for (i = 0; i < completion->entry_count && slot->request.kind == TL_LIST; i++) {
        uint64_t id = tli_probe_id(call, completion->entries[i].key);
        if (id > slot->number || (id != 0 && call->kind == TLI_PROBE_LIST)) {
            if (call->kind == TLI_PROBE_LIST && id >= call->from && id < call->to && op->turn != TL_FAILED)
                tli_probe_note(call, id);
            slot->number = TLI_MAX(slot->number, id);
        }
    }
}

TLI_FN void tli_probe_end(tl_op *op)
{
    tl_probe_call *call = (tl_probe_call *)(void *)op;
    tli_probe_hold(call, 0, NULL);
    tli_mem_delete(&op->options.allocator, (void *)(uintptr_t)call->ids, call->id_capacity * sizeof *call->ids);
    call->ids = NULL;
    call->id_count = call->id_capacity = 0;
}

TLI_FN const char *tli_probe_state(const tl_op *op)
{
    static const char *const names[] = {"START",    "PROBE", "VERIFY", "LIST",     "OBJECT",
                                        "CHECK",    "PUT",   "DELETE", "BOUNDARY", "MOVE"};
    return names[((const tl_probe_call *)(const void *)op)->state];
}

TLI_FN void tli_probe_begin(tl_probe_call *call, tl_probe *probe, uint8_t kind, int checked, uint64_t id)
{
    static const tli_op_machine machine = {tli_probe_advance, tli_probe_take, NULL, tli_probe_end, tli_probe_state,
                                           0, 1, 1};
    tli_op_begin(&call->op, &machine, &probe->options->op);
    TLI_FILL((char *)call + sizeof call->op, 0, offsetof(tl_probe_call, etag) - sizeof call->op);
    call->probe = probe;
    call->kind = kind;
    call->checked = (uint8_t)checked;
    call->id = id;
}

TL_API void tl_probe_latest(tl_probe_call *call, tl_probe *probe)
{
    tli_probe_begin(call, probe, TLI_PROBE_LATEST, 1, 0);
}

TL_API void tl_probe_latest_unchecked(tl_probe_call *call, tl_probe *probe)
{
    tli_probe_begin(call, probe, TLI_PROBE_LATEST, 0, 0);
}

TL_API void tl_probe_write(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body)
{
    tli_probe_begin(call, probe, TLI_PROBE_WRITE, 1, 0);
    call->from = base;
    call->put = body;
}

TL_API void tl_probe_write_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body)
{
    tl_probe_write(call, probe, base, body);
    call->checked = 0;
}

TL_API void tl_probe_delete(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_DELETE, 1, id);
}

TL_API void tl_probe_delete_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_DELETE, 0, id);
}

TL_API void tl_probe_check(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_CHECK, 1, id);
}

TL_API void tl_probe_advance(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_ADVANCE, 1, id);
    call->to = id;
}

TL_API void tl_probe_read_id(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_ID, 0, id);
}

TL_API void tl_probe_list(tl_probe_call *call, tl_probe *probe, uint64_t from, uint64_t to)
{
    tli_probe_begin(call, probe, TLI_PROBE_LIST, 0, 0);
    call->from = from;
    call->to = to;
}

/* ---- counters as text ---- */

typedef struct tli_probe_line {
    const char *metric;
    const char *label; /* further label with its value, or "" */
    size_t offset;     /* in tl_probe_counters */
} tli_probe_line;

/* The value of a label, as Prometheus escapes it. */
TLI_FN tl_status tli_probe_label(tl_buffer *out, tl_span text, tl_error *err)
{
    size_t i;
    tl_status st = TL_OK;
    for (i = 0; i < text.size && st == TL_OK; i++) {
        char c = text.data[i], pair[2] = {'\\', 'n'};
        size_t special = c == '"' || c == '\\' || c == '\n';
        if (c != '\n')
            pair[1] = c;
        st = tli_mem_append(out, pair + 1 - special, 1 + special, err);
    }
    return st;
}

TLI_FN tl_status tli_probe_print(tl_buffer *out, const char *const *texts, size_t count, tl_span resource,
                                 uint64_t value, tl_error *err)
{
    char digits[24];
    size_t n = tli_number_u64(digits, value), i;
    tl_status st = TL_OK;
    for (i = 0; i < count && st == TL_OK; i++) /* NULL: the resource's place */
        st = texts[i] == NULL ? tli_probe_label(out, resource, err)
                              : tli_mem_append(out, texts[i], tl_text(texts[i]).size, err);
    if (st == TL_OK)
        st = tli_mem_append(out, digits, n, err);
    return st == TL_OK ? tli_mem_append(out, "\n", 1, err) : st;
}

TLI_FN tl_status tli_probe_print_histogram(tl_buffer *out, const tl_probe_counters *c, tl_span resource, tl_error *err)
{
    static const char *const bounds[] = {"0", "1", "2", "3", "4", "8", "+Inf"};
    uint64_t count = 0;
    size_t i;
    tl_status st = tli_mem_append(out, "# TYPE slatedb_sequenced_probes_per_read histogram\n", 51, err);
    for (i = 0; i < 7 && st == TL_OK; i++) {
        const char *const texts[] = {"slatedb_sequenced_probes_per_read_bucket{resource=\"", NULL, "\",le=\"",
                                     bounds[i], "\"} "};
        count += c->per_read[i];
        st = tli_probe_print(out, texts, 5, resource, count, err);
    }
    if (st == TL_OK) {
        const char *const texts[] = {"slatedb_sequenced_probes_per_read_sum{resource=\"", NULL, "\"} "};
        st = tli_probe_print(out, texts, 3, resource, c->per_read_sum, err);
    }
    if (st == TL_OK) {
        const char *const texts[] = {"slatedb_sequenced_probes_per_read_count{resource=\"", NULL, "\"} "};
        st = tli_probe_print(out, texts, 3, resource, count, err);
    }
    return st;
}

TL_API tl_status tl_probe_counters_text(tl_buffer *out, const tl_probe_counters *counters, tl_span resource,
                                        tl_error *err)
{
    static const tli_probe_line lines[] = {
        {"slatedb_sequenced_latest_reads_total", ",cache=\"hit\"", offsetof(tl_probe_counters, latest_hits)},
        {"slatedb_sequenced_latest_reads_total", ",cache=\"miss\"", offsetof(tl_probe_counters, latest_misses)},
        {"slatedb_sequenced_probes_total", ",result=\"hit\"", offsetof(tl_probe_counters, probe_hits)},
        {"slatedb_sequenced_probes_total", ",result=\"miss\"", offsetof(tl_probe_counters, probe_misses)},
        {"slatedb_sequenced_probes_total", ",result=\"error\"", offsetof(tl_probe_counters, probe_errors)},
        {"slatedb_sequenced_cache_advances_total", ",source=\"read\"", offsetof(tl_probe_counters, advances_read)},
        {"slatedb_sequenced_cache_advances_total", ",source=\"write\"", offsetof(tl_probe_counters, advances_write)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"boundary\"",
         offsetof(tl_probe_counters, dropped_boundary)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"advance\"",
         offsetof(tl_probe_counters, dropped_advance)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"delete\"",
         offsetof(tl_probe_counters, dropped_delete)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"empty_list\"",
         offsetof(tl_probe_counters, dropped_empty_list)},
        {"slatedb_sequenced_list_fallbacks_total", "", offsetof(tl_probe_counters, list_fallbacks)},
        {"slatedb_sequenced_relists_total", "", offsetof(tl_probe_counters, relists)},
    };
    size_t i, start = out->size;
    tl_status st = TL_OK;
    for (i = 0; i < TLI_COUNT(lines) && st == TL_OK; i++) {
        const char *const type[] = {"# TYPE ", lines[i].metric, " counter\n"};
        const char *const texts[] = {lines[i].metric, "{resource=\"", NULL, "\"", lines[i].label, "} "};
        size_t k;
        if (i == 0 || !tl_span_equal(tl_text(lines[i].metric), tl_text(lines[i - 1].metric)))
            for (k = 0; k < 3 && st == TL_OK; k++)
                st = tli_mem_append(out, type[k], tl_text(type[k]).size, err);
        if (st == TL_OK)
            st = tli_probe_print(out, texts, 6, resource, tli_bits_u64((const uint8_t *)counters + lines[i].offset),
                                 err);
    }
    if (st == TL_OK)
        st = tli_probe_print_histogram(out, counters, resource, err);
    if (st != TL_OK)
        out->size = start;
    return st;
}
#endif /* TIMELAKE_NO_PROBE */
