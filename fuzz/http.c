/* HTTP messages: any bytes as status, headers and body of an answer to any request, and any key, ETag and page as a
   request. An answer is one outcome, its texts lie where they may, an absent object is never made of another status;
   a URL made is printable, and decoded is the key again. The same bytes give the same answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../adapters/timelake_http.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const leads[] = {"s3://b/", "s3://b/", "az://c/", "gs://b/", "https://h/"};

static int within(tl_span s, const char *data, size_t size)
{
    return s.data == NULL || s.size == 0 || (s.data >= data && s.data + s.size <= data + size);
}

static void check_completion(const tl_request *q, const tl_http_response *r, const tl_http_answer *a)
{
    const tl_completion *c = &a->completion;
    size_t i;
    int write = q->kind == TL_PUT || q->kind == TL_DELETE;
    TIMELAKE_ASSERT(c->outcome != TL_OUTCOME_NOT_FOUND || (r->status == 404 && !write && q->kind != TL_LIST));
    TIMELAKE_ASSERT(c->outcome != TL_OUTCOME_NOT_MODIFIED || q->condition == TL_IF_NONE_MATCH);
    TIMELAKE_ASSERT(c->outcome != TL_OUTCOME_PRECONDITION || (q->kind == TL_PUT && q->condition != TL_ALWAYS));
    TIMELAKE_ASSERT(!write || !r->retried || c->outcome == TL_OUTCOME_OK || c->outcome == TL_OUTCOME_UNKNOWN);
    TIMELAKE_ASSERT(write || c->outcome != TL_OUTCOME_UNKNOWN);
    TIMELAKE_ASSERT(q->kind != TL_GET || tl_http_most(q) == q->accept);
    TIMELAKE_ASSERT(c->body.size <= q->accept && within(c->body, r->body.data, r->body.size));
    TIMELAKE_ASSERT(within(c->etag, r->head.data, r->head.size));
    TIMELAKE_ASSERT(c->outcome == TL_OUTCOME_OK || (c->entry_count == 0 && c->body.size == 0));
    if (q->kind == TL_GET && c->outcome == TL_OUTCOME_OK)
        TIMELAKE_ASSERT(c->body_offset == q->offset || c->body_offset == 0);
    for (i = 0; i < c->entry_count; i++) {
        tl_span key = c->entries[i].key;
        TIMELAKE_ASSERT(key.size >= q->key.size && memcmp(key.data, q->key.data, q->key.size) == 0);
        TIMELAKE_ASSERT(tl_http_utf8(key));
    }
    TIMELAKE_ASSERT(memchr(a->text, 0, sizeof a->text) != NULL && memchr(a->code, 0, sizeof a->code) != NULL);
}

static void answer(tl_http_store *store, tl_request *q, const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 200, 200, 201, 204, 206, 206, 301, 304, 400, 403, 404, 409, 412, 416, 429, 500,
                                   501, 503, 0};
    tl_http_response r;
    tl_http_answer a, again;
    const char *text = (const char *)data + 3;
    size_t head = 0, rest = size - 3, i;
    memset(&r, 0, sizeof r);
    r.status = statuses[data[1] % (sizeof statuses / sizeof statuses[0])];
    r.retried = data[2] & 1;
    r.sent = data[2] >> 1 & 1;
    if (data[2] & 4)
        q->accept = 16;
    while (head + 2 <= rest && memcmp(text + head, "\n\n", 2) != 0)
        head++;
    if (head + 2 > rest) { /* all body */
        r.body.data = text;
        r.body.size = rest;
    } else {
        r.head.data = text;
        r.head.size = head + 1;
        r.body.data = text + head + 2;
        r.body.size = rest - head - 2;
    }
    tl_http_read(store, q, &r, &a);
    check_completion(q, &r, &a);
    tl_http_read(store, q, &r, &again);
    TIMELAKE_ASSERT(a.completion.outcome == again.completion.outcome && strcmp(a.text, again.text) == 0);
    TIMELAKE_ASSERT(a.completion.entry_count == again.completion.entry_count);
    for (i = 0; i < a.completion.entry_count; i++)
        TIMELAKE_ASSERT(tl_span_equal(a.completion.entries[i].key, again.completion.entries[i].key));
    tl_http_answer_free(&a);
    tl_http_answer_free(&again);
}

/* Behind `from` in the URL stands the key's name, encoded. */
static void check_url(const tl_http_call *call, tl_span name, const char *from)
{
    const char *at = call->url + strlen(from);
    size_t n = strcspn(at, "?"), i;
    char *copy = (char *)malloc(n + 1);
    TIMELAKE_ASSERT(copy != NULL && strncmp(call->url, from, strlen(from)) == 0);
    memcpy(copy, at, n);
    n = tl_http_decode(copy, n, 0);
    TIMELAKE_ASSERT(n == name.size && (n == 0 || memcmp(copy, name.data, n) == 0));
    free(copy);
    for (i = 0; call->url[i] != 0; i++)
        TIMELAKE_ASSERT(call->url[i] > 0x20 && call->url[i] < 0x7f);
    for (i = 0; i < call->header_count; i++)
        TIMELAKE_ASSERT(strpbrk(call->headers[i].value, "\r\n") == NULL);
}

static void make(tl_http_store *store, tl_request *q, const uint8_t *data, size_t size)
{
    static const char *const from[] = {"", "https://s3.us-east-1.amazonaws.com/b/",
                                       "https://a.blob.core.windows.net/c/", "https://storage.googleapis.com/b/",
                                       "https://h/"};
    const char *lead = leads[store->dialect];
    size_t name = size - 3, n = strlen(lead);
    char *key = (char *)malloc(n + name + 1);
    tl_http_call call;
    TIMELAKE_ASSERT(key != NULL);
    memcpy(key, lead, n);
    memcpy(key + n, data + 3, name);
    q->key.data = key;
    q->key.size = n + name;
    q->etag.data = q->page.data = (const char *)data + 3;
    q->etag.size = q->page.size = name;
    q->offset = data[1];
    q->length = data[2] == 255 ? TL_WHOLE : data[2];
    if (tl_http_make(store, q, 0, &call) == TL_OUTCOME_OK && q->kind != TL_LIST) {
        tl_span s = q->key;
        s.data += n;
        s.size -= n;
        check_url(&call, s, from[store->dialect]);
    }
    tl_http_call_free(&call);
    if (tl_http_presign(store, q, 0, 60, &call) == TL_OUTCOME_OK)
        TIMELAKE_ASSERT(strstr(call.url, "Signature=") != NULL);
    tl_http_call_free(&call);
    store->endpoint = key; /* a hostile endpoint; the key of the request is short then */
    key[n + name] = 0;
    q->key = tl_text(lead);
    (void)tl_http_make(store, q, 0, &call);
    tl_http_call_free(&call);
    (void)tl_http_profile(store, tl_text(key), "default");
    tl_http_close(store);
    free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const tl_request_kind kinds[] = {TL_GET, TL_STAT, TL_LIST, TL_PUT, TL_DELETE};
    tl_http_store store;
    tl_request q;
    if (size < 3)
        return 0;
    tl_http_init(&store, (tl_http_dialect)(1 + data[0] % 4));
    store.access_key = store.secret_key = store.account = "a";
    store.account_key = "AAAA";
    memset(&q, 0, sizeof q);
    q.token = 1;
    q.kind = kinds[data[0] / 4 % 5];
    q.condition = (tl_condition)(data[0] / 32 % 4);
    q.key = tl_text(leads[store.dialect]);
    q.length = TL_WHOLE;
    q.accept = 1 << 20;
    q.etag = tl_text("\"e\"");
    if (data[0] & 128) {
        make(&store, &q, data, size);
    } else {
        if (data[2] & 8) {
            q.offset = 2;
            q.length = 3;
        }
        answer(&store, &q, data, size);
    }
    return 0;
}
