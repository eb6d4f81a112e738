/* >>op: the core of every machine: slots for requests, their answers, retries, cancel, and both ways of driving.

   A machine queues requests in `advance`, is called again when all of them are answered, and ends by tli_op_finish or
   tli_op_fail. It sees answers only there; `take` may reduce a listing while its entries are still at hand. */
#if !defined(TIMELAKE_NO_LAKE) || !defined(TIMELAKE_NO_PROBE) || !defined(TIMELAKE_NO_LOG)
typedef struct tli_op_machine {
    /* Called with nothing queued and nothing out: queue requests, or finish. Returns 0 when it was cut at
       options.step_bytes and has work left. */
    int (*advance)(tl_op *op);
    /* Reduces the entries of a listing into slot->number, page by page. NULL: the machine lists nothing. Of a lean
       machine it sees every good answer, and ETags are not kept. */
    void (*take)(tl_op *op, tli_op_slot *slot, const tl_completion *completion);
    /* A fire and forget request, if there is one: returns 1. May be NULL. */
    int (*spare)(tl_op *op, tl_request *request);
    void (*end)(tl_op *op);
    const char *(*state)(const tl_op *op);
    uint8_t resends; /* failed requests that name a delay are sent anew */
    uint8_t settles; /* advance is called after a cancel too, to find out what became of a write */
    uint8_t lean;    /* nothing is allocated but bodies, and pages of listings */
} tli_op_machine;

enum { TLI_OP_FREE, TLI_OP_QUEUED, TLI_OP_OUT, TLI_OP_PAUSE, TLI_OP_PAUSING, TLI_OP_ANSWERED };

/* A token: sequence, slot, and whether it is a pause before a request is sent anew or a machine's own sleep. */
#define TLI_OP_SLOT_BITS 24u
#define TLI_OP_TOKEN(sequence, slot, sleep)                                                                            \
    (((sequence) << (TLI_OP_SLOT_BITS + 1)) | ((uint64_t)(slot) << 1) | (sleep))

#define TLI_OP_TEXT 200u

TL_API tl_completion tl_completed(uint64_t token, tl_outcome outcome)
{
    tl_completion c;
    TLI_FILL(&c, 0, sizeof c);
    c.token = token;
    c.outcome = outcome;
    c.retry_ms = -1;
    c.object_size = TL_WHOLE;
    return c;
}

/* ---- for machines ---- */

/* Makes the operation ready. `op` needs no clearing before. */
TLI_FN void tli_op_begin(tl_op *op, const tli_op_machine *machine, const tl_op_options *options)
{
    tl_op_options *o = &op->options;
    TLI_FILL(op, 0, offsetof(tl_op, first)); /* slots are cleared as they are used */
    op->machine = machine;
    if (options != NULL)
        *o = *options;
    o->allocator = tli_mem_allocator(&o->allocator);
    o->accept = o->accept != 0 ? o->accept : (uint64_t)4 << 30;
    o->accept = TLI_MIN(o->accept, (uint64_t)(SIZE_MAX / 2));
    o->in_flight = o->in_flight != 0 ? TLI_MIN(o->in_flight, 255u) : 32;
    o->retries = o->retries == UINT32_MAX ? 0 : o->retries != 0 ? o->retries : 3;
    op->slots = op->first;
    op->slot_capacity = TLI_OP_INLINE;
    op->turn = TL_WAITS;
}

TLI_FN void tli_op_drop_texts(tl_op *op, tli_op_slot *slot)
{
    if (slot->etag.data != NULL)
        tli_mem_delete(&op->options.allocator, (void *)(uintptr_t)slot->etag.data,
                       slot->etag.size + slot->page.size + 1);
    slot->etag = slot->page = tli_text_span(NULL, 0);
}

TLI_FN void tli_op_drop_answer(tl_op *op, tli_op_slot *slot)
{
    tli_mem_blob_drop(slot->body);
    slot->body = NULL;
    tli_op_drop_texts(op, slot);
}

/* Forgets all answers: the machine is done with this round. */
TLI_FN void tli_op_clear(tl_op *op)
{
    uint32_t i;
    for (i = 0; i < op->slot_count; i++)
        tli_op_drop_answer(op, &op->slots[i]);
    op->slot_count = op->queued = op->sleeping = 0;
}

/* Puts a slot at the end of the queue: requests are handed out in the order in which they were asked for. */
TLI_FN void tli_op_enqueue(tl_op *op, tli_op_slot *slot, uint8_t state)
{
    uint32_t i = (uint32_t)(slot - op->slots);
    if (op->queued++ == 0)
        op->queue_head = i;
    else
        op->slots[op->queue_tail].next = i;
    op->queue_tail = i;
    slot->state = state;
}

TLI_FN void tli_op_fail(tl_op *op, tl_status status, const char *text, uint64_t position)
{
    op->turn = TL_FAILED;
    (void)tli_err(&op->error, status, text, position);
}

/* Keeps which key the error is about, and what the store said: best effort, in one block. */
TLI_FN void tli_op_about(tl_op *op, tl_span key, tl_span said)
{
    size_t more = TLI_MIN(said.size, (size_t)TLI_OP_TEXT);
    if (op->error_text != NULL || key.size > SIZE_MAX / 4)
        return;
    op->error_text = (char *)tli_mem_new(&op->options.allocator, key.size + TLI_OP_TEXT);
    if (op->error_text == NULL)
        return;
    TLI_FILL(op->error_text, 0, key.size + TLI_OP_TEXT);
    if (key.size != 0)
        TLI_COPY(op->error_text, key.data, key.size);
    if (more != 0)
        TLI_COPY(op->error_text + key.size, said.data, more);
    op->error_key_size = key.size;
}

/* Ends with an error that is about a key. */
TLI_FN int tli_op_fail_about(tl_op *op, const tl_error *why, tl_span key)
{
    tli_op_fail(op, why->status, why->text, why->position);
    op->error.need = why->need;
    tli_op_about(op, key, tli_text_span(NULL, 0));
    return 1;
}

TLI_FN int tli_op_fails_about(tl_op *op, tl_status status, const char *text, tl_span key)
{
    tl_error why;
    (void)tli_err(&why, status, text, TL_NO_POSITION);
    return tli_op_fail_about(op, &why, key);
}

TLI_FN void tli_op_finish(tl_op *op, tl_turn turn)
{
    op->turn = (uint8_t)turn;
}

TLI_FN tl_status tli_op_grow(tl_op *op)
{
    uint32_t capacity = op->slot_capacity * 2;
    tli_op_slot *slots;
    size_t bytes = (size_t)capacity * sizeof *slots, old = (size_t)op->slot_capacity * sizeof *slots;
    if (op->slots == op->first) {
        slots = (tli_op_slot *)tli_mem_new(&op->options.allocator, bytes);
        if (slots != NULL)
            TLI_COPY(slots, op->first, old);
    } else {
        slots = (tli_op_slot *)tli_mem_resize(&op->options.allocator, op->slots, old, bytes);
    }
    if (slots == NULL)
        return TL_NO_MEMORY;
    op->slots = slots;
    op->slot_capacity = capacity;
    return TL_OK;
}

/* Queues a request: the caller fills in the rest of what is returned before its advance ends. NULL: the operation has
   failed (no memory), return 1 from advance. Slots are numbered in the order of these calls; later calls move them. */
TLI_FN tl_request *tli_op_request(tl_op *op, tl_request_kind kind, tl_span key, tl_purpose purpose)
{
    tli_op_slot *slot;
    if (op->slot_count == 1u << TLI_OP_SLOT_BITS
        || (op->slot_count == op->slot_capacity && tli_op_grow(op) != TL_OK)) {
        tli_op_clear(op);
        tli_op_fail(op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    slot = &op->slots[op->slot_count++];
    TLI_FILL(slot, 0, sizeof *slot);
    slot->object_size = TL_WHOLE;
    slot->request.kind = kind;
    slot->request.key = key;
    slot->request.purpose = purpose;
    slot->request.length = TL_WHOLE;
    slot->request.round = op->round + 1; /* nothing is out: all rounds before are over */
    slot->request.accept = kind == TL_GET ? op->options.accept : 0;
    tli_op_enqueue(op, slot, TLI_OP_QUEUED);
    return &slot->request;
}

/* The answer to request `i` of this round. */
TLI_INLINE tli_op_slot *tli_op_answer(tl_op *op, uint32_t i)
{
    TLI_ASSERT(i < op->slot_count);
    return &op->slots[i];
}

/* Sends those of this round's requests anew whose answer was not ok; the other answers stay. */
TLI_FN void tli_op_again(tl_op *op)
{
    uint32_t i;
    for (i = 0; i < op->slot_count; i++) {
        tli_op_slot *slot = &op->slots[i];
        if (slot->outcome == TL_OUTCOME_OK)
            continue;
        tli_op_drop_answer(op, slot);
        slot->request.round = op->round + 1;
        slot->tries = 0;
        tli_op_enqueue(op, slot, TLI_OP_QUEUED);
    }
}

/* Asks for the next page of a listing that was cut, in the same slot: `number` goes on from page to page. */
TLI_FN void tli_op_list_on(tl_op *op, tli_op_slot *slot)
{
    TLI_ASSERT(slot->state == TLI_OP_ANSWERED && slot->more);
    slot->request.page = slot->page;
    slot->request.round = op->round + 1;
    slot->more = 0;
    slot->tries = 0;
    tli_op_enqueue(op, slot, TLI_OP_QUEUED);
}

/* Ends the operation because of an answer that is no good: failed, unsupported, cancelled, never sent. The text is the
   store's own when it said something. */
TLI_FN void tli_op_fail_answer(tl_op *op, const tli_op_slot *slot)
{
    static const struct {
        tl_outcome outcome;
        tl_status status;
        const char *text;
    } table[] = {
        {TL_OUTCOME_OK, TL_STORE, "the store answered what it must not"},
        {TL_OUTCOME_NOT_FOUND, TL_ABSENT, "the object is not there"},
        {TL_OUTCOME_NOT_MODIFIED, TL_STORE, "not modified, without a condition"},
        {TL_OUTCOME_PRECONDITION, TL_STORE, "precondition failed, without a condition"},
        {TL_OUTCOME_UNSUPPORTED, TL_UNSUPPORTED, "the store cannot do this request"},
        {TL_OUTCOME_FAILED, TL_STORE, "the request failed"},
        {TL_OUTCOME_UNKNOWN, TL_STORE, "the outcome of the request is unknown"},
        {TL_OUTCOME_CANCELLED, TL_CANCELLED, "cancelled"},
        {TL_OUTCOME_NEVER_SENT, TL_STORE, "the request was never sent"},
    };
    size_t i;
    for (i = 0; i < TLI_COUNT(table); i++)
        if (table[i].outcome == slot->outcome) {
            int cancelled = op->cancelled && slot->outcome >= TL_OUTCOME_FAILED;
            tli_op_fail(op, cancelled ? TL_CANCELLED : table[i].status, cancelled ? "cancelled" : table[i].text,
                        TL_NO_POSITION);
        }
    tli_op_about(op, slot->request.key, slot->page);
}

/* The body of an answer, moved out: the caller has its count now. */
TLI_FN tli_blob *tli_op_take_body(tli_op_slot *slot)
{
    tli_blob *body = slot->body;
    slot->body = NULL;
    return body;
}

/* ---- stepping ---- */

TLI_FN void tli_op_trace(tl_op *op, const tl_request *request, const tl_completion *completion)
{
    if (op->options.trace != NULL)
        op->options.trace(op->options.trace_context, op, request, completion);
}

/* A sleep that began later than now is over: the clock was set back. */
TLI_INLINE int tli_op_over(const tli_op_slot *slot, int64_t now)
{
    return now >= slot->until || now < slot->began;
}

TLI_INLINE int tli_op_sleeps(const tli_op_slot *slot)
{
    return slot->state == TLI_OP_PAUSE || slot->state == TLI_OP_PAUSING
           || (slot->state == TLI_OP_OUT && slot->request.kind == TL_SLEEP);
}

/* The pause or the machine's sleep ends: the request goes out anew, or the sleep is answered. */
TLI_FN void tli_op_wake(tl_op *op, tli_op_slot *slot)
{
    op->sleeping--;
    if (slot->state == TLI_OP_PAUSE) { /* its place in the queue is now the request's own */
        slot->state = TLI_OP_QUEUED;
        return;
    }
    op->out--;
    if (slot->request.kind == TL_SLEEP) {
        slot->state = TLI_OP_ANSWERED;
        slot->outcome = TL_OUTCOME_OK;
    } else {
        tli_op_enqueue(op, slot, TLI_OP_QUEUED);
    }
}

TLI_FN void tli_op_wake_due(tl_op *op, int64_t now)
{
    uint32_t i;
    for (i = 0; op->sleeping != 0 && i < op->slot_count; i++)
        if (tli_op_sleeps(&op->slots[i]) && tli_op_over(&op->slots[i], now))
            tli_op_wake(op, &op->slots[i]);
}

/* Hands the first of the queue out, or the sleep that precedes sending it anew. */
TLI_FN int tli_op_hand_out(tl_op *op, int64_t now, tl_request *request)
{
    tli_op_slot *slot;
    int pause, sleep;
    if (op->queued == 0 || op->out >= op->options.in_flight)
        return 0;
    slot = &op->slots[op->queue_head];
    pause = slot->state == TLI_OP_PAUSE;
    sleep = pause || slot->request.kind == TL_SLEEP;
    slot->request.token = TLI_OP_TOKEN(++op->sequence, op->queue_head, (uint64_t)sleep);
    *request = slot->request;
    if (pause) {
        TLI_FILL(request, 0, sizeof *request);
        request->token = slot->request.token;
        request->kind = TL_SLEEP;
        request->purpose = TL_PURPOSE_PAUSE;
        request->until = slot->until;
        request->background = slot->request.background;
    } else if (sleep) {
        slot->began = now;
        slot->until = slot->request.until;
        op->sleeping++;
    } else {
        op->round = TLI_MAX(op->round, slot->request.round);
        op->requests++;
    }
    slot->state = pause ? TLI_OP_PAUSING : TLI_OP_OUT;
    op->out++;
    op->queued--;
    op->queue_head = slot->next;
    tli_op_trace(op, request, NULL);
    return 1;
}

TLI_INLINE int tli_op_final(const tl_op *op)
{
    return op->turn >= TL_DONE;
}

/* The machine's turn: what it queues is a new round. */
TLI_FN void tli_op_advance(tl_op *op)
{
    if (op->cancelled && !op->machine->settles) {
        tli_op_fail(op, TL_CANCELLED, "cancelled", TL_NO_POSITION);
        tli_op_clear(op);
        return;
    }
    op->cut = (uint8_t)(op->machine->advance(op) == 0);
    TLI_ASSERT(op->cut || op->queued != 0 || tli_op_final(op));
    if (tli_op_final(op))
        tli_op_clear(op);
}

TLI_FN tl_turn tli_op_step(tl_op *op, int64_t now, tl_request *request)
{
    op->now = now;
    tli_op_wake_due(op, now);
    for (;;) {
        if (op->machine->spare != NULL && op->machine->spare(op, request)) {
            request->token = 0;
            request->background = 1;
            request->round = op->round + 1;
            op->requests++;
            tli_op_trace(op, request, NULL);
            return TL_WANTS;
        }
        if (tli_op_final(op))
            return (tl_turn)op->turn;
        if (tli_op_hand_out(op, now, request))
            return TL_WANTS;
        if (op->out != 0 || op->queued != 0)
            return TL_WAITS;
        tli_op_advance(op);
        if (op->cut)
            return TL_WAITS;
    }
}

TL_API tl_turn tl_step(tl_op *op, int64_t now, tl_request *request)
{
    tl_turn turn;
    TLI_ASSERT(op != NULL && op->machine != NULL && request != NULL);
    if (op->inside || op->driven) /* the callbacks drive it */
        return tli_op_final(op) ? (tl_turn)op->turn : TL_WAITS;
    op->inside = 1;
    turn = tli_op_step(op, now, request);
    op->inside = 0;
    return turn;
}

TL_API int64_t tl_deadline(const tl_op *op)
{
    int64_t earliest = INT64_MAX;
    uint32_t i;
    if (op->cut)
        return op->now;
    for (i = 0; op->sleeping != 0 && i < op->slot_count; i++)
        if (tli_op_sleeps(&op->slots[i]) && op->slots[i].state != TLI_OP_PAUSE)
            earliest = TLI_MIN(earliest, op->slots[i].until);
    return earliest;
}

/* ---- completing ---- */

/* ETag and next page, copied into one block; what the store said of a failure goes where the page would. */
TLI_FN tl_status tli_op_keep_texts(tl_op *op, tli_op_slot *slot, const tl_completion *c)
{
    tl_span page = c->outcome == TL_OUTCOME_OK ? c->next_page : c->text;
    int kept = c->etag.data != NULL && slot->request.kind != TL_STAT && !op->machine->lean; /* no machine asks a stat */
    size_t etag = kept ? c->etag.size : 0;
    char *block;
    if (c->outcome != TL_OUTCOME_OK)
        page.size = TLI_MIN(page.size, (size_t)TLI_OP_TEXT);
    if (page.data == NULL)
        page.size = 0;
    if (etag > 65536 || page.size > 65536)
        return TL_LIMIT;
    if (page.data != NULL && slot->request.page.data != NULL && c->outcome == TL_OUTCOME_OK
        && tl_span_equal(page, slot->request.page))
        return TL_STORE; /* a listing that does not go on */
    block = NULL;
    if (etag != 0 || page.data != NULL) {
        block = (char *)tli_mem_new(&op->options.allocator, etag + page.size + 1);
        if (block == NULL)
            return TL_NO_MEMORY;
        if (etag != 0)
            TLI_COPY(block, c->etag.data, etag);
        if (page.size != 0)
            TLI_COPY(block + etag, page.data, page.size);
    }
    tli_op_drop_texts(op, slot); /* of the page before */
    slot->etag = tli_text_span(block, etag);
    slot->page = tli_text_span(block == NULL ? NULL : block + etag, page.size);
    return TL_OK;
}

/* The bytes that were asked for, whatever part the store sent. 0: it sent something else. */
TLI_FN int tli_op_cut_range(const tl_request *r, const tl_completion *c, tl_span *body)
{
    uint64_t skip;
    *body = c->body;
    if (body->data == NULL)
        body->size = 0;
    if (c->body_offset > r->offset)
        return body->size == 0;
    skip = TLI_MIN(r->offset - c->body_offset, (uint64_t)body->size);
    if (skip != 0) {
        body->data += skip;
        body->size -= (size_t)skip;
    }
    if (r->length != TL_WHOLE && body->size > r->length)
        body->size = (size_t)r->length;
    return 1;
}

/* Takes the body: by reference with a release function, else by copy. */
TLI_FN tl_status tli_op_keep_body(tl_op *op, tli_op_slot *slot, const tl_completion *c)
{
    tl_span body;
    if (!tli_op_cut_range(&slot->request, c, &body))
        return TL_STORE;
    if (body.size > slot->request.accept)
        return TL_LIMIT;
    slot->body = tli_mem_blob(&op->options.allocator, body.data, body.size, c->release, c->release_context,
                              c->body.data, c->body.size);
    return slot->body != NULL ? TL_OK : TL_NO_MEMORY;
}

TLI_INLINE int tli_op_is_write(const tl_request *r)
{
    return r->kind == TL_PUT || r->kind == TL_DELETE;
}

TLI_FN int tli_op_retries(const tl_op *op, const tli_op_slot *slot, const tl_completion *c)
{
    return c->outcome == TL_OUTCOME_FAILED && c->retry_ms >= 0 && op->machine->resends && !op->cancelled
           && slot->tries < op->options.retries && slot->request.kind != TL_SLEEP;
}

/* Files the answer in its slot. A driver's nonsense becomes a failure of the request, never of the library. */
TLI_FN tl_status tli_op_file(tl_op *op, tli_op_slot *slot, const tl_completion *c, int64_t now)
{
    tl_status st = TL_OK;
    if (tli_op_retries(op, slot, c)) {
        slot->tries++;
        slot->began = now;
        slot->until = now > INT64_MAX - c->retry_ms ? INT64_MAX : now + c->retry_ms;
        slot->request.round = op->round + 1;
        tli_op_enqueue(op, slot, TLI_OP_PAUSE);
        op->sleeping++;
        return TL_OK;
    }
    slot->state = TLI_OP_ANSWERED;
    slot->outcome = c->outcome;
    if ((unsigned)c->outcome > (unsigned)TL_OUTCOME_NEVER_SENT)
        slot->outcome = tli_op_is_write(&slot->request) ? TL_OUTCOME_UNKNOWN : TL_OUTCOME_FAILED;
    slot->object_size = c->object_size;
    slot->more = (uint8_t)(c->outcome == TL_OUTCOME_OK && c->next_page.data != NULL);
    if (c->outcome == TL_OUTCOME_OK && op->machine->take != NULL
        && (slot->request.kind == TL_LIST || op->machine->lean))
        op->machine->take(op, slot, c);
    st = tli_op_keep_texts(op, slot, c);
    if (st == TL_OK && c->outcome == TL_OUTCOME_OK && slot->request.kind == TL_GET && !slot->read)
        st = tli_op_keep_body(op, slot, c);
    if (st != TL_OK && !tli_op_is_write(&slot->request)) {
        slot->outcome = TL_OUTCOME_FAILED;
        slot->more = 0;
    }
    return st;
}

/* The slot a token is out for, or NULL. *late: a sleep that ended by itself. */
TLI_FN tli_op_slot *tli_op_find(tl_op *op, uint64_t token, int *late)
{
    uint64_t i = (token >> 1) & ((1u << TLI_OP_SLOT_BITS) - 1), sequence = token >> (TLI_OP_SLOT_BITS + 1);
    *late = (token & 1) != 0 && sequence != 0 && sequence <= op->sequence;
    if (i >= op->slot_count || op->slots[i].request.token != token)
        return NULL;
    if (op->slots[i].state != TLI_OP_OUT && op->slots[i].state != TLI_OP_PAUSING)
        return NULL;
    return &op->slots[i];
}

TLI_FN void tli_op_drive(tl_op *op, int64_t now);

TL_API tl_status tl_complete(tl_op *op, const tl_completion *completion, int64_t now)
{
    int late, taken;
    tl_status st = TL_OK;
    tli_op_slot *slot = completion->token == 0 ? NULL : tli_op_find(op, completion->token, &late);
    if (slot == NULL) {
        st = completion->token != 0 && late ? TL_OK : TL_MISUSE;
        if (completion->release != NULL)
            completion->release(completion->release_context, completion->body.data, completion->body.size);
        return st;
    }
    op->now = now;
    tli_op_trace(op, &slot->request, completion);
    if (tli_op_sleeps(slot)) {
        tli_op_wake(op, slot);
        if (completion->outcome == TL_OUTCOME_CANCELLED && slot->state == TLI_OP_ANSWERED)
            slot->outcome = TL_OUTCOME_CANCELLED;
        taken = 0;
    } else {
        op->out--;
        st = tli_op_file(op, slot, completion, now);
        taken = slot->body != NULL && slot->body->release != NULL;
    }
    if (completion->release != NULL && !taken)
        completion->release(completion->release_context, completion->body.data, completion->body.size);
    if (op->driven && !op->inside)
        tli_op_drive(op, now); /* touches nothing of op after done */
    return st;
}

TL_API void tl_cancel(tl_op *op, int64_t now)
{
    uint32_t i;
    if (op->cancelled || tli_op_final(op))
        return;
    op->now = now;
    op->cancelled = 1;
    for (i = 0; i < op->slot_count; i++) {
        tli_op_slot *slot = &op->slots[i];
        if (tli_op_sleeps(slot))
            tli_op_wake(op, slot);
        if (slot->state == TLI_OP_QUEUED) {
            slot->state = TLI_OP_ANSWERED;
            slot->outcome = TL_OUTCOME_NEVER_SENT;
        }
    }
    op->queued = 0;
    if (op->driven && !op->inside)
        tli_op_drive(op, now);
}

/* ---- callbacks ---- */

TLI_FN void tli_op_drive(tl_op *op, int64_t now)
{
    tl_request request;
    tl_turn turn;
    op->inside = 1;
    do {
        turn = tli_op_step(op, TLI_MAX(now, op->now), &request);
        if (turn == TL_WANTS)
            op->io.request(op->io.user, op, &request);
    } while (turn == TL_WANTS || (turn == TL_WAITS && op->cut));
    op->inside = 0;
    if (turn != TL_WAITS) {
        tl_io io = op->io;
        op->driven = 2; /* done came: nothing is driven any more */
        io.done(io.user, op, turn);
    }
}

TL_API tl_status tl_start(tl_op *op, const tl_io *io, int64_t now)
{
    if (op->driven || op->inside || op->sequence != 0 || tli_op_final(op) || io->request == NULL || io->done == NULL)
        return TL_MISUSE;
    op->io = *io;
    op->driven = 1;
    tli_op_drive(op, now);
    return TL_OK;
}

/* ---- the end ---- */

TL_API tl_status tl_op_end(tl_op *op)
{
    if (op->machine == NULL || op->ended)
        return TL_OK;
    if (op->out != 0 || op->inside)
        return TL_MISUSE;
    tli_op_clear(op);
    op->machine->end(op);
    if (op->slots != op->first)
        tli_mem_delete(&op->options.allocator, op->slots, (size_t)op->slot_capacity * sizeof *op->slots);
    op->slots = op->first;
    op->slot_capacity = TLI_OP_INLINE;
    tli_mem_delete(&op->options.allocator, op->error_text, op->error_key_size + TLI_OP_TEXT);
    op->error_text = NULL;
    op->ended = 1;
    return TL_OK;
}

TL_API tl_status tl_op_status(const tl_op *op)
{
    switch (op->turn) {
    case TL_DONE:
        return TL_OK;
    case TL_NONE:
        return TL_ABSENT;
    case TL_FAILED:
        return op->error.status;
    default:
        return TL_MISUSE;
    }
}

TL_API const tl_error *tl_op_error(const tl_op *op)
{
    return &op->error;
}

TL_API tl_span tl_op_error_key(const tl_op *op)
{
    return op->error_text == NULL ? tli_text_span(NULL, 0) : tli_text_span(op->error_text, op->error_key_size);
}

TL_API tl_span tl_op_error_store(const tl_op *op)
{
    tl_span said = tli_text_span(NULL, 0);
    if (op->error_text != NULL && op->error_text[op->error_key_size] != 0) {
        said.data = op->error_text + op->error_key_size;
        while (said.size < TLI_OP_TEXT && said.data[said.size] != 0)
            said.size++;
    }
    return said;
}

TL_API const char *tl_op_state(const tl_op *op)
{
    return op->machine->state(op);
}

TL_API uint32_t tl_op_requests(const tl_op *op)
{
    return op->requests;
}

TL_API uint32_t tl_op_round_trips(const tl_op *op)
{
    return op->round;
}

TL_API const char *tl_outcome_text(tl_outcome outcome)
{
    static const char *const texts[] = {"ok",     "not_found", "not_modified", "precondition", "unsupported",
                                        "failed", "unknown",   "cancelled",    "never_sent"};
    return (size_t)outcome < TLI_COUNT(texts) ? texts[outcome] : "unknown";
}

TL_API const char *tl_request_text(tl_request_kind kind)
{
    static const char *const texts[] = {"GET", "STAT", "LIST", "PUT", "DELETE", "SLEEP"};
    return (size_t)kind < TLI_COUNT(texts) ? texts[kind] : "unknown";
}
#endif /* TIMELAKE_NO_LAKE, TIMELAKE_NO_PROBE and TIMELAKE_NO_LOG */
