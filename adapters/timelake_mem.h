/* timelake_mem.h - an object store in memory: the test bed of every machine, and a cache for programs.

   Include timelake.h first; define TIMELAKE_MEM_IMPLEMENTATION in one file. Needs the C library, nothing else.

       tl_mem store;
       tl_mem_init(&store, NULL);
       tl_mem_put(&store, tl_text("mem://a/metadata/v1.metadata.json"), bytes, size);
       status = tl_mem_run(&store, &load.op);          // drives one operation to its end, on the store's own clock
       tl_mem_free(&store);

   Each answer is atomic and consistent: what a put applied is there for every later get and list. Time is virtual: it
   moves only while tl_mem_run waits, or when the caller sets `now`. For schedules of several operations hold requests
   yourself: tl_mem_serve applies a request and makes its completion, at the moment the test chooses.

   Faults: options.fault sees every request before it is applied and may change what happens. Not thread-safe. */
#ifndef TIMELAKE_MEM_H
#define TIMELAKE_MEM_H

/* What a fault does to a request. */
typedef enum tl_mem_effect {
    TL_MEM_NORMAL,
    TL_MEM_ANSWER,          /* not applied; answered with fault.outcome */
    TL_MEM_APPLY_AND_ANSWER /* applied, but answered with fault.outcome */
} tl_mem_effect;

typedef struct tl_mem_fault {
    tl_mem_effect effect;
    tl_outcome outcome;
    int64_t retry_ms; /* of failed; negative: none */
} tl_mem_fault;

typedef struct tl_mem_options {
    int64_t latency_ms; /* of every request in tl_mem_run */
    uint32_t page_keys; /* most keys of a list page; 0: 1,000 */
    uint8_t no_list;    /* what this store cannot do: answered unsupported */
    uint8_t no_ranges;  /* answers the whole object, offset 0 */
    uint8_t no_if_absent;
    uint8_t no_if_match;
    uint8_t no_etags;
    /* Called before request number `n` (from 1) is applied, with how often this kind and key came before it. */
    tl_mem_fault (*fault)(void *context, const tl_request *request, uint32_t n, uint32_t nth);
    void *context;
} tl_mem_options;

/* A line of the log. `result` is the outcome the client saw. */
typedef struct tl_mem_line {
    tl_request_kind kind;
    tl_condition condition;
    tl_purpose purpose;
    uint32_t round;
    uint8_t background;
    uint8_t ranged;
    tl_outcome result;
    uint64_t bytes; /* of the body, either way */
    char *key;
    size_t key_size;
} tl_mem_line;

typedef struct tl_mem_object {
    char *key;
    size_t key_size;
    uint8_t *data;
    size_t size;
    char etag[24];
} tl_mem_object;

typedef struct tl_mem {
    tl_mem_options options;
    tl_mem_object *objects; /* by key */
    size_t count, capacity;
    tl_mem_line *log;
    size_t log_count, log_capacity;
    int log_off; /* 1: keep none, for benchmarks */
    uint64_t etags;
    int64_t now;
    uint32_t served;
    tl_entry *page;
    size_t page_capacity;
    char *page_token;
    struct tl_mem_pending *pending;
    size_t pending_count, pending_capacity;
} tl_mem;

TL_API void tl_mem_init(tl_mem *store, const tl_mem_options *options);
TL_API void tl_mem_free(tl_mem *store);

/* Puts, reads and deletes without a request. tl_mem_get: NULL when absent; valid until the store changes. */
TL_API void tl_mem_put(tl_mem *store, tl_span key, const void *data, size_t size);
TL_API const tl_mem_object *tl_mem_get(const tl_mem *store, tl_span key);
TL_API int tl_mem_delete(tl_mem *store, tl_span key);

/* Applies a request now and fills its completion (borrowed from the store until its next call). */
TL_API void tl_mem_serve(tl_mem *store, const tl_request *request, tl_completion *completion);

/* Drives one operation to its end. TL_OK means done, as tl_op_status. */
TL_API tl_status tl_mem_run(tl_mem *store, tl_op *op);

/* Forgets the log. */
TL_API void tl_mem_forget(tl_mem *store);

#endif /* TIMELAKE_MEM_H */

#if defined(TIMELAKE_MEM_IMPLEMENTATION) && !defined(TIMELAKE_MEM_IMPLEMENTATION_DONE)
#define TIMELAKE_MEM_IMPLEMENTATION_DONE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tl_mem_pending {
    tl_request request; /* with its own copy of key, etag, page */
    char *texts;
    int64_t due;
} tl_mem_pending;

static void *tl_mem_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity == 0 ? 16 : *capacity * 2;
    items = realloc(items, *capacity * size);
    if (items == NULL)
        abort(); /* a test bed */
    return items;
}

static char *tl_mem_copy(const char *data, size_t size)
{
    char *copy = (char *)malloc(size + 1);
    if (copy == NULL)
        abort();
    if (size != 0)
        memcpy(copy, data, size);
    copy[size] = 0;
    return copy;
}

TL_API void tl_mem_init(tl_mem *store, const tl_mem_options *options)
{
    memset(store, 0, sizeof *store);
    if (options != NULL)
        store->options = *options;
    store->options.page_keys = store->options.page_keys != 0 ? store->options.page_keys : 1000;
    store->now = 1;
}

TL_API void tl_mem_forget(tl_mem *store)
{
    size_t i;
    for (i = 0; i < store->log_count; i++)
        free(store->log[i].key);
    store->log_count = 0;
}

TL_API void tl_mem_free(tl_mem *store)
{
    size_t i;
    tl_mem_forget(store);
    for (i = 0; i < store->count; i++) {
        free(store->objects[i].key);
        free(store->objects[i].data);
    }
    for (i = 0; i < store->pending_count; i++)
        free(store->pending[i].texts);
    free(store->objects);
    free(store->log);
    free(store->page);
    free(store->page_token);
    free(store->pending);
    memset(store, 0, sizeof *store);
}

static tl_span tl_mem_span(const char *data, size_t size)
{
    tl_span span;
    span.data = data;
    span.size = size;
    return span;
}

/* The first object whose key is not below `key`. */
static size_t tl_mem_find(const tl_mem *store, tl_span key)
{
    size_t low = 0, high = store->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const tl_mem_object *o = &store->objects[middle];
        if (tl_span_compare(tl_mem_span(o->key, o->key_size), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static tl_mem_object *tl_mem_at(const tl_mem *store, tl_span key)
{
    size_t i = tl_mem_find(store, key);
    tl_mem_object *o = i < store->count ? &store->objects[i] : NULL;
    return o != NULL && tl_span_equal(tl_mem_span(o->key, o->key_size), key) ? o : NULL;
}

TL_API const tl_mem_object *tl_mem_get(const tl_mem *store, tl_span key)
{
    return tl_mem_at(store, key);
}

TL_API void tl_mem_put(tl_mem *store, tl_span key, const void *data, size_t size)
{
    tl_mem_object *o = tl_mem_at(store, key);
    if (o == NULL) {
        size_t i = tl_mem_find(store, key);
        store->objects = (tl_mem_object *)tl_mem_grow(store->objects, &store->capacity, store->count, sizeof *o);
        o = &store->objects[i];
        memmove(o + 1, o, (store->count - i) * sizeof *o);
        store->count++;
        memset(o, 0, sizeof *o);
        o->key = tl_mem_copy(key.data, key.size);
        o->key_size = key.size;
    }
    free(o->data);
    o->data = (uint8_t *)tl_mem_copy((const char *)data, size);
    o->size = size;
    snprintf(o->etag, sizeof o->etag, "\"e%llu\"", (unsigned long long)++store->etags);
}

TL_API int tl_mem_delete(tl_mem *store, tl_span key)
{
    tl_mem_object *o = tl_mem_at(store, key);
    if (o == NULL)
        return 0;
    free(o->key);
    free(o->data);
    store->count--;
    memmove(o, o + 1, (store->count - (size_t)(o - store->objects)) * sizeof *o);
    return 1;
}

static void tl_mem_do_get(const tl_mem *store, const tl_request *r, tl_completion *c)
{
    const tl_mem_object *o = tl_mem_at(store, r->key);
    uint64_t from, size;
    if (o == NULL) {
        c->outcome = TL_OUTCOME_NOT_FOUND;
        return;
    }
    if (!store->options.no_etags)
        c->etag = tl_text(o->etag);
    c->object_size = o->size;
    if (r->kind == TL_STAT)
        return;
    if (r->condition == TL_IF_NONE_MATCH && tl_span_equal(tl_text(o->etag), r->etag)) {
        c->outcome = TL_OUTCOME_NOT_MODIFIED;
        return;
    }
    from = store->options.no_ranges ? 0 : r->offset < o->size ? r->offset : o->size;
    size = o->size - from;
    if (!store->options.no_ranges && r->length < size)
        size = r->length;
    c->body = tl_mem_span((const char *)o->data + from, (size_t)size);
    c->body_offset = from;
}

static void tl_mem_do_list(tl_mem *store, const tl_request *r, tl_completion *c)
{
    size_t i = tl_mem_find(store, r->page.data != NULL ? r->page : r->key), limit = store->options.page_keys;
    if (store->options.no_list) {
        c->outcome = TL_OUTCOME_UNSUPPORTED;
        return;
    }
    if (r->max_keys != 0 && r->max_keys < limit)
        limit = r->max_keys;
    for (; i < store->count; i++) {
        const tl_mem_object *o = &store->objects[i];
        if (o->key_size < r->key.size || memcmp(o->key, r->key.data, r->key.size) != 0)
            break;
        if (c->entry_count == limit) { /* the next page begins at this very key */
            free(store->page_token);
            store->page_token = tl_mem_copy(o->key, o->key_size);
            c->next_page = tl_mem_span(store->page_token, o->key_size);
            break;
        }
        store->page = (tl_entry *)tl_mem_grow(store->page, &store->page_capacity, c->entry_count, sizeof *store->page);
        memset(&store->page[c->entry_count], 0, sizeof *store->page);
        store->page[c->entry_count].key = tl_mem_span(o->key, o->key_size);
        store->page[c->entry_count].size = o->size;
        c->entry_count++;
    }
    c->entries = store->page;
}

static void tl_mem_do_put(tl_mem *store, const tl_request *r, tl_completion *c)
{
    const tl_mem_object *o = tl_mem_at(store, r->key);
    char *body;
    size_t i, at = 0;
    if ((r->condition == TL_IF_ABSENT && store->options.no_if_absent)
        || (r->condition == TL_IF_MATCH && store->options.no_if_match)) {
        c->outcome = TL_OUTCOME_UNSUPPORTED;
        return;
    }
    if ((r->condition == TL_IF_ABSENT && o != NULL)
        || (r->condition == TL_IF_MATCH && (o == NULL || !tl_span_equal(tl_text(o->etag), r->etag)))) {
        c->outcome = TL_OUTCOME_PRECONDITION;
        return;
    }
    body = (char *)malloc((size_t)r->body_size + 1);
    if (body == NULL)
        abort();
    for (i = 0; i < r->body_count; i++) {
        if (r->body[i].size != 0)
            memcpy(body + at, r->body[i].data, r->body[i].size);
        at += r->body[i].size;
    }
    tl_mem_put(store, r->key, body, at);
    free(body);
    if (!store->options.no_etags)
        c->etag = tl_text(tl_mem_at(store, r->key)->etag);
}

/* How often this kind and key was asked for, this time included. */
static uint32_t tl_mem_nth(const tl_mem *store, const tl_request *r)
{
    uint32_t n = 1;
    size_t i;
    for (i = 0; i < store->log_count; i++)
        n += store->log[i].kind == r->kind
             && tl_span_equal(tl_mem_span(store->log[i].key, store->log[i].key_size), r->key);
    return n;
}

static void tl_mem_note(tl_mem *store, const tl_request *r, const tl_completion *c)
{
    tl_mem_line *line;
    if (store->log_off)
        return;
    store->log = (tl_mem_line *)tl_mem_grow(store->log, &store->log_capacity, store->log_count, sizeof *line);
    line = &store->log[store->log_count++];
    line->kind = r->kind;
    line->condition = r->condition;
    line->purpose = r->purpose;
    line->round = r->round;
    line->background = r->background;
    line->ranged = (uint8_t)(r->kind == TL_GET && (r->offset != 0 || r->length != TL_WHOLE));
    line->result = c->outcome;
    line->bytes = r->kind == TL_PUT ? r->body_size : c->body.size;
    line->key = tl_mem_copy(r->key.data, r->key.size);
    line->key_size = r->key.size;
}

static void tl_mem_apply(tl_mem *store, const tl_request *r, tl_completion *c)
{
    if (r->kind == TL_GET || r->kind == TL_STAT)
        tl_mem_do_get(store, r, c);
    else if (r->kind == TL_LIST)
        tl_mem_do_list(store, r, c);
    else if (r->kind == TL_PUT)
        tl_mem_do_put(store, r, c);
    else
        (void)tl_mem_delete(store, r->key);
}

TL_API void tl_mem_serve(tl_mem *store, const tl_request *request, tl_completion *completion)
{
    tl_mem_fault fault;
    memset(&fault, 0, sizeof fault);
    fault.retry_ms = -1;
    *completion = tl_completed(request->token, TL_OUTCOME_OK);
    if (request->kind == TL_SLEEP)
        return;
    store->served++;
    if (store->options.fault != NULL)
        fault = store->options.fault(store->options.context, request, store->served, tl_mem_nth(store, request));
    if (fault.effect != TL_MEM_ANSWER)
        tl_mem_apply(store, request, completion);
    if (fault.effect != TL_MEM_NORMAL) {
        *completion = tl_completed(request->token, fault.outcome);
        completion->retry_ms = fault.retry_ms;
    }
    tl_mem_note(store, request, completion);
}

/* A span's bytes appended to *texts, and the span pointed there. */
static void tl_mem_own(tl_span *span, char **texts)
{
    if (span->data == NULL)
        return;
    memcpy(*texts, span->data, span->size);
    span->data = *texts;
    *texts += span->size;
}

static void tl_mem_hold(tl_mem *store, const tl_request *request)
{
    tl_mem_pending *p;
    char *texts = (char *)malloc(request->key.size + request->etag.size + request->page.size + 1);
    if (texts == NULL)
        abort();
    store->pending = (tl_mem_pending *)tl_mem_grow(store->pending, &store->pending_capacity, store->pending_count,
                                                   sizeof *p);
    p = &store->pending[store->pending_count++];
    p->request = *request;
    p->texts = texts;
    p->due = request->kind == TL_SLEEP ? request->until : store->now + store->options.latency_ms;
    tl_mem_own(&p->request.key, &texts);
    tl_mem_own(&p->request.etag, &texts);
    tl_mem_own(&p->request.page, &texts);
}

/* Completes the request that is due first; the clock goes on to it, or to the deadline when that comes before. */
static void tl_mem_wait(tl_mem *store, tl_op *op)
{
    size_t i, first = 0;
    int64_t deadline = tl_deadline(op);
    tl_completion c;
    tl_mem_pending p;
    for (i = 1; i < store->pending_count; i++)
        if (store->pending[i].due < store->pending[first].due)
            first = i;
    if (store->pending_count == 0 || deadline < store->pending[first].due) {
        if (deadline > store->now && deadline != INT64_MAX)
            store->now = deadline;
        return;
    }
    p = store->pending[first];
    memmove(&store->pending[first], &store->pending[first + 1], (--store->pending_count - first) * sizeof p);
    if (p.due > store->now)
        store->now = p.due;
    tl_mem_serve(store, &p.request, &c);
    (void)tl_complete(op, &c, store->now);
    free(p.texts);
}

TL_API tl_status tl_mem_run(tl_mem *store, tl_op *op)
{
    tl_request request;
    tl_completion c;
    for (;;) {
        switch (tl_step(op, store->now, &request)) {
        case TL_WANTS:
            if (request.token == 0 || (store->options.latency_ms == 0 && request.kind != TL_SLEEP)) {
                tl_mem_serve(store, &request, &c);
                if (request.token != 0)
                    (void)tl_complete(op, &c, store->now);
            } else {
                tl_mem_hold(store, &request);
            }
            break;
        case TL_WAITS:
            tl_mem_wait(store, op);
            break;
        default:
            while (store->pending_count != 0) /* sleeps that ended by themselves */
                free(store->pending[--store->pending_count].texts);
            return tl_op_status(op);
        }
    }
}
#endif /* TIMELAKE_MEM_IMPLEMENTATION */
