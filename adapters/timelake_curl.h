/* timelake_curl.h - requests over HTTP(S) with libcurl 7.66 or later: S3 and its relatives, Azure, GCS, plain HTTPS.

   Include timelake.h and timelake_http.h first; define TIMELAKE_CURL_IMPLEMENTATION in one file, under -std=c99
   or c11 with _GNU_SOURCE before the first #include; link with -lcurl.

       tl_http_store store;                                  // who we are: timelake_http.h
       tl_curl *curl;
       tl_http_init(&store, TL_HTTP_BY_SCHEME);
       curl = tl_curl_open(&store, NULL);
       status = tl_curl_run(curl, &load.op);                 // drives one operation to its end, blocking
       tl_curl_close(curl);

   Many operations in one thread: tl_curl_submit what they want, tl_curl_wait, step again those that got something.

   Requests run at once on kept connections, with HTTP/2 where it is offered. Reads, deletes and puts without condition
   are sent anew after a failure that may pass, with growing, jittered delays; a put with a condition only when it
   certainly was not applied. It goes out on a fresh connection, and its body cannot be rewound: libcurl sends a put
   anew by itself when a kept connection dies, and the caller would meet its own commit as 412. What got no whole
   answer is unknown. Redirects are followed for reads over plain HTTP(S) alone. Neither errors nor the log hold
   credentials.

   One thread at a time for each tl_curl. */
#ifndef TIMELAKE_CURL_H
#define TIMELAKE_CURL_H

/* Texts are borrowed. Zeroed: the defaults. */
typedef struct tl_curl_options {
    int64_t timeout_ms;  /* of a request in which nothing moves; 30,000 */
    int64_t connect_ms;  /* to have a connection; 5,000 */
    int64_t linger_ms;   /* tl_curl_close waits so long for deletes nobody waits for; 2,000; negative: not at all */
    uint32_t retries;    /* 3; UINT32_MAX: none */
    uint32_t connections; /* to one host; 32 */
    const char *proxy;   /* NULL: as the environment says (https_proxy, no_proxy) */
    const char *ca_file; /* PEM; NULL: the system's */
    const char *user_agent;
    int insecure;        /* 1: any certificate */
    int http1;           /* 1: HTTP/1.1 only */
    void (*log)(void *context, const char *line, size_t size); /* headers and what libcurl says, without secrets */
    void *context;
} tl_curl_options;

typedef struct tl_curl tl_curl;

/* NULL: no memory. The store is borrowed, and its skew_ms is set when it turns out that clocks differ. */
TL_API tl_curl *tl_curl_open(tl_http_store *store, const tl_curl_options *options);

/* Gives up what is out; every operation must have ended before. Not from a completion. */
TL_API void tl_curl_close(tl_curl *curl);

/* Drives one operation to its end. TL_OK means done, as tl_op_status. */
TL_API tl_status tl_curl_run(tl_curl *curl, tl_op *op);

/* Sends a request; it is copied, bodies to put stay the operation's until the completion. Sleeps are not for us: use
   tl_deadline. 0: no memory, nothing was sent. */
TL_API int tl_curl_submit(tl_curl *curl, tl_op *op, const tl_request *request);

/* The same without an operation: `done` gets the completion, which is borrowed. */
typedef void (*tl_curl_done)(void *user, const tl_request *request, const tl_completion *completion);
TL_API int tl_curl_send(tl_curl *curl, const tl_request *request, tl_curl_done done, void *user);

/* Lets transfers go on until something is done or `until` (Unix milliseconds) has come; completes all that is done, in
   this thread. Answers how many. Nothing out: waits until then. */
TL_API uint32_t tl_curl_wait(tl_curl *curl, int64_t until);

/* For event loops (timelake_uv.h): the CURLM, whose socket and timer callbacks are the loop's to set. tl_curl_turn is
   called after something was submitted, after curl_multi_socket_action, and at *next (Unix milliseconds): it completes
   what is done, sends what is due, and answers how many were completed. */
TL_API void *tl_curl_multi(tl_curl *curl);
TL_API uint32_t tl_curl_turn(tl_curl *curl, int64_t *next);

/* Gives up what an operation has out: completes it as cancelled. After tl_cancel; step it on then. */
TL_API void tl_curl_cancel(tl_curl *curl, tl_op *op);

/* Puts sent from now on hold back their last byte, until tl_curl_let_go: how a race is made (tlake doctor). How many
   wait there. */
TL_API void tl_curl_hold(tl_curl *curl);
TL_API uint32_t tl_curl_held(const tl_curl *curl);
TL_API void tl_curl_let_go(tl_curl *curl);

/* Requests out; and how many HTTP requests and connections there were so far. */
TL_API uint32_t tl_curl_out(const tl_curl *curl);
TL_API uint64_t tl_curl_requests(const tl_curl *curl);
TL_API uint64_t tl_curl_connections(const tl_curl *curl);

/* The store's clock minus ours, ms, as the last answer told it; INT64_MIN: not told. */
TL_API int64_t tl_curl_skew(const tl_curl *curl);

/* Unix milliseconds. */
TL_API int64_t tl_curl_now(void);
#endif /* TIMELAKE_CURL_H */

#if defined(TIMELAKE_CURL_IMPLEMENTATION) && !defined(TIMELAKE_CURL_IMPLEMENTATION_DONE)
#define TIMELAKE_CURL_IMPLEMENTATION_DONE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef CLOCK_REALTIME
#error "timelake_curl.h needs POSIX 2008: under -std=c99 or c11 define _GNU_SOURCE before the first #include"
#endif

#define TL_CURL_HEAD 65536  /* most header bytes of an answer */
#define TL_CURL_IDS 256     /* answers that are remembered */

typedef struct tl_curl_transfer {
    struct tl_curl_transfer *next;
    tl_curl *curl;
    tl_op *op;
    tl_curl_done done;
    void *user;
    tl_request request; /* with its own copy of key, etag, page */
    char *texts;
    CURL *easy;
    struct curl_slist *lines;
    tl_http_call call;
    char *head, *body; /* received */
    size_t head_size, head_capacity, body_size, body_capacity;
    size_t piece, at; /* what is sent next of the body */
    uint64_t left;
    uint32_t tries;
    int64_t due;   /* of one that waits to be sent anew */
    int running;   /* in the multi handle */
    int hold, held; /* the last byte is held back; and the transfer waits there */
    int lost;      /* an earlier attempt may have got through */
    int fresh;     /* sent on a connection of its own */
    int given_up;
    int too_large;
    int named, stale; /* the answer's request id was seen; it is that of an answer before */
    int no_memory;
    CURLcode result;
    char error[CURL_ERROR_SIZE];
} tl_curl_transfer;

struct tl_curl {
    tl_http_store *store;
    tl_curl_options options;
    CURLM *multi;
    tl_curl_transfer *transfers; /* in the order they came */
    uint32_t out, held;
    uint64_t requests, connections, random;
    int64_t skew_ms;
    uint64_t ids[TL_CURL_IDS]; /* hashes of the newest answers' request ids; 0: none */
    uint32_t id_at, id_kinds;  /* where the next goes; how many were not those of another, up to 2 */
    int hold;
};

TL_API int64_t tl_curl_now(void)
{
#ifdef _WIN32
    FILETIME t;
    GetSystemTimeAsFileTime(&t); /* 100 ns since 1601 */
    return (int64_t)(((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) / 10000) - INT64_C(11644473600000);
#else
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
#endif
}

TL_API tl_curl *tl_curl_open(tl_http_store *store, const tl_curl_options *options)
{
    tl_curl *c = (tl_curl *)calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    if (options != NULL)
        c->options = *options;
    c->options.timeout_ms = c->options.timeout_ms > 0 ? c->options.timeout_ms : 30000;
    c->options.connect_ms = c->options.connect_ms > 0 ? c->options.connect_ms : 5000;
    c->options.linger_ms = c->options.linger_ms != 0 ? c->options.linger_ms : 2000;
    c->options.connections = c->options.connections != 0 ? c->options.connections : 32;
    c->options.retries = c->options.retries == UINT32_MAX ? 0 : c->options.retries != 0 ? c->options.retries : 3;
    c->store = store;
    c->skew_ms = INT64_MIN;
    c->random = (uint64_t)tl_curl_now() * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)(uintptr_t)c;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    c->multi = curl_multi_init();
    if (c->multi == NULL) {
        free(c);
        return NULL;
    }
    curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)c->options.connections);
    curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)c->options.connections);
    return c;
}

/* ---- receiving and sending ---- */

static int tl_curl_append(char **data, size_t *size, size_t *capacity, const char *more, size_t n)
{
    if (n >= *capacity - *size) {
        size_t wanted = *capacity * 2 + n + 512;
        char *grown = (char *)realloc(*data, wanted);
        if (grown == NULL)
            return 0;
        *data = grown;
        *capacity = wanted;
    }
    memcpy(*data + *size, more, n);
    *size += n;
    return 1;
}

/* Something between may send an answer twice; the copy is then taken for the answer to what is asked next on that
   connection, which libcurl before 8 does not notice. Stores number their answers: 1 when this one, whose headers are
   whole, came before, for another request. Where all have one number it says nothing, nor on a new connection, nor of
   an answer that a cache (which says its age) has kept with its number. */
static int tl_curl_is_stale(tl_curl_transfer *t)
{
    static const char *const names[] = {"x-amz-request-id", "x-ms-request-id", "x-guploader-uploadid"};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    tl_curl *c = t->curl;
    tl_span head, id;
    long connects = 0;
    size_t i;
    head.data = t->head;
    head.size = t->head_size;
    id.data = NULL;
    for (i = 0; i < 3 && id.data == NULL; i++)
        id = tl_http_header_value(head, names[i]);
    if (id.data == NULL || id.size == 0 || t->named)
        return 0;
    t->named = 1; /* behind the body other headers may follow */
    for (i = 0; i < id.size; i++)
        hash = (hash ^ (uint8_t)id.data[i]) * UINT64_C(0x100000001b3);
    hash |= 1;
    curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connects);
    for (i = 0; i < TL_CURL_IDS; i++)
        if (c->ids[i] == hash)
            return c->id_kinds > 1 && connects == 0 && tl_http_header_value(head, "age").data == NULL;
    c->id_kinds += c->id_kinds < 2;
    c->ids[c->id_at++ % TL_CURL_IDS] = hash;
    return 0;
}

static size_t tl_curl_on_header(char *data, size_t one, size_t n, void *user)
{
    tl_curl_transfer *t = (tl_curl_transfer *)user;
    (void)one;
    if (n >= 5 && memcmp(data, "HTTP/", 5) == 0) {
        t->head_size = t->body_size = 0; /* what came before was a 100, or a redirect */
        t->named = 0;
    }
    if (t->head_size + n > TL_CURL_HEAD)
        return 0; /* and the connection is closed */
    t->no_memory |= !tl_curl_append(&t->head, &t->head_size, &t->head_capacity, data, n);
    if (!t->no_memory && (data[0] == '\r' || data[0] == '\n')) /* the headers' end */
        t->stale |= tl_curl_is_stale(t);
    return t->no_memory || t->stale ? 0 : n;
}

/* Bytes of an object or a listing up to what is accepted; of all else the beginning. */
static size_t tl_curl_on_body(char *data, size_t one, size_t n, void *user)
{
    tl_curl_transfer *t = (tl_curl_transfer *)user;
    uint64_t most, room;
    size_t size;
    long status = 0;
    int wanted;
    (void)one;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    wanted = status >= 200 && status < 300 && (t->request.kind == TL_GET || t->request.kind == TL_LIST);
    most = wanted ? tl_http_most(&t->request) : TL_HTTP_SAID;
    room = t->body_size < most ? most - t->body_size : 0;
    if (wanted && n > room) {
        t->too_large = 1;
        return 0;
    }
    size = n < room ? n : (size_t)room;
    t->no_memory |= !tl_curl_append(&t->body, &t->body_size, &t->body_capacity, data, size);
    return t->no_memory ? 0 : n;
}

static size_t tl_curl_on_read(char *out, size_t one, size_t n, void *user)
{
    tl_curl_transfer *t = (tl_curl_transfer *)user;
    size_t room = n, done = 0;
    (void)one;
    if (t->hold && t->left == 1) {
        t->curl->held += !t->held;
        t->held = 1;
        return CURL_READFUNC_PAUSE;
    }
    if (t->hold && t->left != 0 && room > t->left - 1)
        room = (size_t)(t->left - 1);
    while (done < room && t->piece < t->request.body_count) {
        const tl_span *s = &t->request.body[t->piece];
        size_t k = s->size - t->at < room - done ? s->size - t->at : room - done;
        if (k != 0)
            memcpy(out + done, s->data + t->at, k);
        done += k;
        t->at += k;
        if (t->at == s->size) {
            t->piece++;
            t->at = 0;
        }
    }
    t->left -= done < t->left ? done : t->left;
    return done;
}

/* 1: a line that may have a secret in it. */
static int tl_curl_is_secret(const char *line, size_t n)
{
    static const char *const words[] = {"uthorization", "oken", "ignature", "sig=", "assword"};
    size_t i, k;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        for (k = 0; k + strlen(words[i]) <= n; k++)
            if (memcmp(line + k, words[i], strlen(words[i])) == 0)
                return 1;
    return 0;
}

static int tl_curl_on_debug(CURL *easy, curl_infotype type, char *data, size_t size, void *user)
{
    const tl_curl_options *o = (const tl_curl_options *)user;
    (void)easy;
    if (type != CURLINFO_TEXT && type != CURLINFO_HEADER_IN && type != CURLINFO_HEADER_OUT)
        return 0;
    while (size != 0) {
        const char *end = (const char *)memchr(data, '\n', size);
        size_t n = end != NULL ? (size_t)(end - data) + 1 : size, bare = n;
        while (bare != 0 && (data[bare - 1] == '\n' || data[bare - 1] == '\r'))
            bare--;
        if (tl_curl_is_secret(data, bare))
            o->log(o->context, "[a line with credentials]", 25);
        else if (bare != 0)
            o->log(o->context, data, bare);
        data += n;
        size -= n;
    }
    return 0;
}

/* ---- one attempt ---- */

static void tl_curl_configure(tl_curl_transfer *t)
{
    const tl_curl_options *o = &t->curl->options;
    CURL *e = t->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, (char *)t);
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, tl_curl_on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, (void *)t);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, tl_curl_on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, (void *)t);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)((o->timeout_ms + 999) / 1000));
    if (t->request.kind == TL_STAT || t->request.body_size + t->request.accept < (1u << 20)) /* no long answers */
        curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)(o->timeout_ms + o->connect_ms));
    curl_easy_setopt(e, CURLOPT_USERAGENT, o->user_agent != NULL ? o->user_agent : "timelake.h");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)(o->http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, strncmp(t->call.url, "https", 5) == 0 ? "https" : "http,https");
#else
    curl_easy_setopt(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS, (long)CURLPROTO_HTTPS);
#endif
    if (o->proxy != NULL)
        curl_easy_setopt(e, CURLOPT_PROXY, o->proxy);
    if (o->ca_file != NULL)
        curl_easy_setopt(e, CURLOPT_CAINFO, o->ca_file);
    if (o->insecure) {
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (o->log != NULL) {
        curl_easy_setopt(e, CURLOPT_VERBOSE, 1L);
        curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, tl_curl_on_debug);
        curl_easy_setopt(e, CURLOPT_DEBUGDATA, (void *)&t->curl->options);
    }
}

static void tl_curl_method(tl_curl_transfer *t)
{
    const tl_request *r = &t->request;
    CURL *e = t->easy;
    int plain = tl_http_scheme(r->key) == TL_HTTP_PLAIN;
    if (t->fresh || (r->kind == TL_PUT && r->condition != TL_ALWAYS))
        curl_easy_setopt(e, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(e, CURLOPT_URL, t->call.url);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->lines);
    if (r->kind == TL_PUT) {
        curl_easy_setopt(e, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->body_size);
        curl_easy_setopt(e, CURLOPT_READFUNCTION, tl_curl_on_read); /* and no way to rewind it */
        curl_easy_setopt(e, CURLOPT_READDATA, (void *)t);
    } else if (r->kind == TL_DELETE) {
        curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, "DELETE");
    } else {
        curl_easy_setopt(e, r->kind == TL_STAT ? CURLOPT_NOBODY : CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, plain ? 1L : 0L);
        curl_easy_setopt(e, CURLOPT_MAXREDIRS, 5L);
    }
}

/* The headers as libcurl wants them; 0: no memory. Content-Length it writes itself. Before a put libcurl asks whether
   it may (Expect: 100-continue) and waits for an answer, or a second: a round trip that only large bodies are worth. */
static int tl_curl_lines(tl_curl_transfer *t)
{
    size_t i;
    if (t->request.kind == TL_PUT && t->request.body_size < (1u << 20)) {
        t->lines = curl_slist_append(NULL, "Expect:");
        if (t->lines == NULL)
            return 0;
    }
    for (i = 0; i < t->call.header_count; i++) {
        const tl_http_header *h = &t->call.headers[i];
        size_t n = strlen(h->name) + strlen(h->value) + 4;
        struct curl_slist *more = NULL;
        char *line;
        if (strcmp(h->name, "content-length") == 0)
            continue;
        line = (char *)malloc(n);
        if (line != NULL) {
            snprintf(line, n, "%s: %s", h->name, h->value);
            more = curl_slist_append(t->lines, line);
            free(line);
        }
        if (more == NULL)
            return 0;
        t->lines = more;
    }
    return 1;
}

/* What one attempt took, given back. */
static void tl_curl_reset(tl_curl_transfer *t)
{
    if (t->running)
        curl_multi_remove_handle(t->curl->multi, t->easy);
    t->running = 0;
    if (t->easy != NULL)
        curl_easy_cleanup(t->easy); /* connections stay with the multi handle */
    t->easy = NULL;
    curl_slist_free_all(t->lines);
    t->lines = NULL;
    tl_http_call_free(&t->call);
    t->curl->held -= (uint32_t)(t->held != 0);
    t->held = 0;
    t->head_size = t->body_size = 0;
}

/* Sends a transfer. TL_OUTCOME_OK: it is on its way. */
static tl_outcome tl_curl_begin(tl_curl_transfer *t)
{
    tl_outcome outcome = tl_http_make(t->curl->store, &t->request, tl_curl_now(), &t->call);
    if (outcome != TL_OUTCOME_OK) {
        snprintf(t->error, sizeof t->error, "%s", t->call.text);
        return outcome;
    }
    t->piece = t->at = 0;
    t->left = t->request.body_size;
    t->error[0] = 0;
    t->stale = t->named = 0;
    t->tries++;
    t->easy = curl_easy_init();
    if (t->easy == NULL || !tl_curl_lines(t)) {
        snprintf(t->error, sizeof t->error, "no memory");
        return TL_OUTCOME_NEVER_SENT;
    }
    tl_curl_configure(t);
    tl_curl_method(t);
    if (curl_multi_add_handle(t->curl->multi, t->easy) != CURLM_OK) {
        snprintf(t->error, sizeof t->error, "libcurl refuses the request");
        return TL_OUTCOME_NEVER_SENT;
    }
    t->running = 1;
    t->curl->requests++;
    return TL_OUTCOME_OK;
}

/* ---- answers ---- */

/* Whether an attempt without an answer may have reached the store. */
static int tl_curl_was_sent(const tl_curl_transfer *t)
{
    double began = 0;
    long sent = 0, fresh = t->fresh || (t->request.kind == TL_PUT && t->request.condition != TL_ALWAYS);
    curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
    if (sent > 0 && !fresh) /* a kept connection died, libcurl connected anew by itself, and tells of that alone */
        return 1;
    switch (t->result) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
        return 0;
    default: /* also CURLE_UNSUPPORTED_PROTOCOL: an answer that does not begin as one of HTTP */
        curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME, &began);
        return began > 0 || sent > 0;
    }
}

/* Failures that another attempt would meet as well. */
static int tl_curl_is_final(const tl_curl_transfer *t)
{
    return t->too_large || t->result == CURLE_PEER_FAILED_VERIFICATION || t->result == CURLE_SSL_CACERT_BADFILE
           || t->result == CURLE_URL_MALFORMAT || t->result == CURLE_TOO_MANY_REDIRECTS;
}

static void tl_curl_free_body(void *context, const void *data, size_t size)
{
    (void)data;
    (void)size;
    free(context);
}

static void tl_curl_read(tl_curl_transfer *t, tl_http_answer *a)
{
    tl_http_response r;
    long status = 0, connections = 0;
    memset(&r, 0, sizeof r);
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connections);
    t->curl->connections += (uint64_t)connections;
    r.status = t->result == CURLE_OK ? (int)status : 0;
    r.sent = r.status != 0 || tl_curl_was_sent(t);
    r.retried = t->lost;
    r.head.data = t->head;
    r.head.size = t->head_size;
    r.body.data = t->body;
    r.body.size = t->body_size;
    r.now = tl_curl_now();
    tl_http_read(t->curl->store, &t->request, &r, a);
    if (a->skew_ms != INT64_MIN)
        t->curl->skew_ms = a->skew_ms;
    if (r.status == 0) {
        snprintf(a->text, sizeof a->text, "%s", t->too_large ? "the answer is larger than the request accepts"
                                                : t->no_memory ? "no memory"
                                                : t->stale ? "the answer to another request"
                                                : t->error[0] != 0 ? t->error : curl_easy_strerror(t->result));
        a->completion.text = tl_text(a->text);
        if (tl_curl_is_final(t))
            a->completion.retry_ms = -1;
    }
}

/* 1: it is sent anew after *delay. */
static int tl_curl_again(tl_curl_transfer *t, const tl_http_answer *a, int64_t *delay)
{
    const tl_completion *c = &a->completion;
    int unknown = c->outcome == TL_OUTCOME_UNKNOWN;
    int safe = t->request.kind != TL_PUT || t->request.condition == TL_ALWAYS;
    int64_t most;
    if (t->stale && safe && !t->fresh) { /* a cache that does not say so may have answered: ask where it cannot be */
        t->fresh = 1;
        *delay = 0;
        return 1;
    }
    if (t->tries > t->curl->options.retries || c->retry_ms < 0 || (c->outcome != TL_OUTCOME_FAILED && !unknown))
        return 0;
    if (unknown && !safe) /* a put with a condition that may be in: whoever asked reads it back */
        return 0;
    if (a->skewed) {
        *delay = 0;
        t->curl->store->skew_ms = a->skew_ms;
        return t->tries == 1;
    }
    most = INT64_C(100) << (t->tries < 8 ? t->tries : 8);
    most = most > c->retry_ms ? most : c->retry_ms;
    t->curl->random = t->curl->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    *delay = most / 2 + (int64_t)((t->curl->random >> 33) % (uint64_t)(most / 2 + 1));
    *delay = *delay > c->retry_ms ? *delay : c->retry_ms;
    return 1;
}

static void tl_curl_give(tl_curl_transfer *t, const tl_completion *c)
{
    if (t->op != NULL && t->request.token != 0)
        (void)tl_complete(t->op, c, tl_curl_now());
    else if (t->done != NULL)
        t->done(t->user, &t->request, c);
    else if (c->release != NULL)
        c->release(c->release_context, c->body.data, c->body.size);
}

static void tl_curl_unlink(tl_curl_transfer *t)
{
    tl_curl_transfer **at = &t->curl->transfers;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    t->curl->out--;
}

static void tl_curl_drop(tl_curl_transfer *t)
{
    tl_curl_reset(t);
    free(t->texts);
    free(t->head);
    free(t->body);
    free(t);
}

/* Completes without an answer. */
static void tl_curl_end(tl_curl_transfer *t, tl_outcome outcome, const char *text)
{
    tl_completion c = tl_completed(t->request.token, outcome);
    c.retry_ms = -1;
    c.text = tl_text(text);
    tl_curl_unlink(t);
    tl_curl_give(t, &c);
    tl_curl_drop(t);
}

/* An attempt is over. 1 when the transfer is. */
static int tl_curl_finish(tl_curl_transfer *t)
{
    tl_http_answer a;
    int64_t delay;
    tl_curl_read(t, &a);
    if (tl_curl_again(t, &a, &delay)) {
        t->lost |= a.completion.outcome == TL_OUTCOME_UNKNOWN;
        t->due = tl_curl_now() + delay;
        tl_http_answer_free(&a);
        tl_curl_reset(t);
        return 0;
    }
    if (t->curl->options.retries != 0)
        a.completion.retry_ms = -1; /* it has been tried */
    if (a.completion.body.size != 0 && t->op != NULL) { /* the operation takes the memory as it is */
        a.completion.release = tl_curl_free_body;
        a.completion.release_context = t->body;
        t->body = NULL;
    }
    tl_curl_unlink(t);
    tl_curl_give(t, &a.completion);
    tl_http_answer_free(&a);
    tl_curl_drop(t);
    return 1;
}

/* ---- driving ---- */

static void tl_curl_own(tl_span *span, char **texts)
{
    if (span->data == NULL)
        return;
    if (span->size != 0)
        memcpy(*texts, span->data, span->size);
    span->data = *texts;
    *texts += span->size;
}

static int tl_curl_enter(tl_curl *c, tl_op *op, const tl_request *r, tl_curl_done done, void *user)
{
    tl_curl_transfer *t, **last = &c->transfers;
    char *texts;
    if (r->kind == TL_SLEEP)
        return 1;
    t = (tl_curl_transfer *)calloc(1, sizeof *t);
    texts = (char *)malloc(r->key.size + r->etag.size + r->page.size + 1);
    if (t == NULL || texts == NULL) {
        free(t);
        free(texts);
        return 0;
    }
    t->curl = c;
    t->op = op;
    t->done = done;
    t->user = user;
    t->request = *r;
    t->texts = texts;
    t->hold = c->hold && r->kind == TL_PUT && r->body_size > 1;
    tl_curl_own(&t->request.key, &texts);
    tl_curl_own(&t->request.etag, &texts);
    tl_curl_own(&t->request.page, &texts);
    while (*last != NULL)
        last = &(*last)->next;
    *last = t;
    c->out++;
    return 1;
}

TL_API int tl_curl_submit(tl_curl *curl, tl_op *op, const tl_request *request)
{
    return tl_curl_enter(curl, op, request, NULL, NULL);
}

TL_API int tl_curl_send(tl_curl *curl, const tl_request *request, tl_curl_done done, void *user)
{
    return tl_curl_enter(curl, NULL, request, done, user);
}

/* Sends what is due; the time of the next. */
static int64_t tl_curl_start_due(tl_curl *c, int64_t now, uint32_t *ended)
{
    int64_t next = INT64_MAX;
    tl_curl_transfer *t, *after;
    for (t = c->transfers; t != NULL; t = after) {
        tl_outcome outcome;
        after = t->next;
        if (t->running)
            continue;
        if (t->due > now) {
            next = t->due < next ? t->due : next;
            continue;
        }
        outcome = tl_curl_begin(t);
        if (outcome != TL_OUTCOME_OK) {
            char text[CURL_ERROR_SIZE];
            memcpy(text, t->error, sizeof text);
            tl_curl_end(t, t->lost ? TL_OUTCOME_UNKNOWN : outcome, text);
            (*ended)++;
            after = c->transfers; /* the completion may have changed the list */
        }
    }
    return next;
}

/* Completes what libcurl has done. */
static uint32_t tl_curl_collect(tl_curl *c)
{
    uint32_t n = 0;
    int left;
    CURLMsg *m;
    while ((m = curl_multi_info_read(c->multi, &left)) != NULL) {
        char *at = NULL;
        tl_curl_transfer *t;
        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &at);
        t = (tl_curl_transfer *)(void *)at;
        t->result = m->data.result;
        n += (uint32_t)tl_curl_finish(t);
    }
    return n;
}

TL_API void *tl_curl_multi(tl_curl *curl)
{
    return curl->multi;
}

TL_API uint32_t tl_curl_turn(tl_curl *curl, int64_t *next)
{
    uint32_t n = tl_curl_collect(curl);
    *next = tl_curl_start_due(curl, tl_curl_now(), &n);
    return n;
}

TL_API uint32_t tl_curl_wait(tl_curl *curl, int64_t until)
{
    uint32_t n = 0;
    for (;;) {
        int64_t now = tl_curl_now(), next = tl_curl_start_due(curl, now, &n), wait;
        int running = 0;
        curl_multi_perform(curl->multi, &running);
        n += tl_curl_collect(curl);
        now = tl_curl_now();
        if (n != 0 || now >= until || (curl->held != 0 && curl->held == curl->out))
            return n;
        next = next < until ? next : until;
        wait = next - now;
        curl_multi_poll(curl->multi, NULL, 0, wait < 0 ? 0 : wait > 1000 ? 1000 : (int)wait, NULL);
    }
}

TL_API tl_status tl_curl_run(tl_curl *curl, tl_op *op)
{
    tl_request request;
    for (;;) {
        switch (tl_step(op, tl_curl_now(), &request)) {
        case TL_WANTS:
            if (!tl_curl_submit(curl, op, &request) && request.token != 0) {
                tl_completion c = tl_completed(request.token, TL_OUTCOME_NEVER_SENT);
                (void)tl_complete(op, &c, tl_curl_now());
            }
            break;
        case TL_WAITS:
            (void)tl_curl_wait(curl, tl_deadline(op));
            break;
        default:
            return tl_op_status(op);
        }
    }
}

TL_API void tl_curl_cancel(tl_curl *curl, tl_op *op)
{
    tl_curl_transfer *t;
    for (t = curl->transfers; t != NULL; t = t->next) /* those that are out now: a completion may send more */
        t->given_up |= t->op == op && t->request.token != 0;
    t = curl->transfers;
    while (t != NULL)
        if (t->given_up) {
            tl_curl_end(t, TL_OUTCOME_CANCELLED, "cancelled");
            t = curl->transfers;
        } else {
            t = t->next;
        }
}

TL_API void tl_curl_hold(tl_curl *curl)
{
    curl->hold = 1;
}

TL_API uint32_t tl_curl_held(const tl_curl *curl)
{
    return curl->held;
}

TL_API void tl_curl_let_go(tl_curl *curl)
{
    tl_curl_transfer *t;
    curl->hold = 0;
    for (t = curl->transfers; t != NULL; t = t->next)
        t->hold = 0;
    for (t = curl->transfers; t != NULL; t = t->next)
        if (t->held) {
            t->held = 0;
            curl->held--;
            curl_easy_pause(t->easy, CURLPAUSE_CONT); /* sends at once what is asked of the body now */
        }
}

TL_API uint32_t tl_curl_out(const tl_curl *curl)
{
    return curl->out;
}

TL_API uint64_t tl_curl_requests(const tl_curl *curl)
{
    return curl->requests;
}

TL_API uint64_t tl_curl_connections(const tl_curl *curl)
{
    return curl->connections;
}

TL_API int64_t tl_curl_skew(const tl_curl *curl)
{
    return curl->skew_ms;
}

TL_API void tl_curl_close(tl_curl *curl)
{
    int64_t until;
    if (curl == NULL)
        return;
    until = tl_curl_now() + curl->options.linger_ms;
    while (curl->out > curl->held && tl_curl_now() < until) /* what is held goes nowhere any more */
        (void)tl_curl_wait(curl, until);
    while (curl->transfers != NULL) {
        tl_curl_transfer *t = curl->transfers;
        tl_curl_unlink(t);
        tl_curl_drop(t);
    }
    curl_multi_cleanup(curl->multi);
    free(curl);
}
#endif /* TIMELAKE_CURL_IMPLEMENTATION */
