/* The adapters of libcurl and libuv against a server of our own that answers as it must not, and callers that do in
   callbacks whatever they may: end, begin anew, close. Run under the sanitizers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../../adapters/timelake_fs.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../../adapters/timelake_curl.h"
#define TIMELAKE_UV_IMPLEMENTATION
#include "../../adapters/timelake_uv.h"

static int passed, failed;

static void check(int ok, const char *what)
{
    passed += ok != 0;
    failed += ok == 0;
    if (!ok)
        printf("FAILED: %s\n", what);
}

/* ---- the server: an empty bucket; some of its names are special ---- */

static char endpoint[64];
static uint32_t retries;
static int answers; /* by all connections; only to make request ids */

static void answer(int connection, const char *request)
{
    static const char listing[] = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    char text[512];
    int n = __atomic_add_fetch(&answers, 1, __ATOMIC_SEQ_CST), head = strncmp(request, "HEAD", 4) == 0;
    if (strstr(request, "/muted") != NULL) /* never answered: the rest of it does not come either */
        return;
    if (strstr(request, "slow") != NULL) /* what nobody waits for more than the rest */
        usleep(head ? 700000 : 200000);
    if (strstr(request, "list-type") != NULL)
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", (int)sizeof listing - 1,
                 listing);
    else if (strstr(request, "kept") != NULL) /* by a cache */
        snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nx-amz-request-id: %s\r\n%sContent-Length: 2\r\n\r\nhi",
                 strstr(request, "one") != NULL ? "1" : "2", strstr(request, "silently") != NULL ? "" : "Age: 7\r\n");
    else
        snprintf(text, sizeof text, "HTTP/1.1 404 Not Found\r\nx-amz-request-id: %d\r\nContent-Length: 0\r\n\r\n", n);
    (void)!write(connection, text, strlen(text));
}

static void *serve_connection(void *argument)
{
    int connection = (int)(intptr_t)argument;
    char request[8192];
    size_t size = 0;
    ssize_t n;
    while ((n = read(connection, request + size, sizeof request - 1 - size)) > 0) {
        char *end;
        size += (size_t)n;
        request[size] = 0;
        while ((end = strstr(request, "\r\n\r\n")) != NULL) {
            *end = 0;
            answer(connection, request);
            size -= (size_t)(end + 4 - request);
            memmove(request, end + 4, size + 1);
        }
    }
    close(connection);
    return NULL;
}

static void *serve(void *argument)
{
    int listener = (int)(intptr_t)argument, connection;
    while ((connection = accept(listener, NULL, NULL)) >= 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve_connection, (void *)(intptr_t)connection) == 0)
            pthread_detach(thread);
    }
    return NULL;
}

/* A socket that listens; where, as an endpoint. */
static int listen_on(char *where)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 64) != 0
        || getsockname(listener, (struct sockaddr *)&at, &size) != 0)
        exit(1);
    snprintf(where, sizeof endpoint, "http://127.0.0.1:%d", ntohs(at.sin_port));
    return listener;
}

static void server(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)listen_on(endpoint)) != 0)
        exit(1);
}

static tl_curl *client(tl_http_store *store)
{
    tl_curl_options o;
    memset(&o, 0, sizeof o);
    o.proxy = "";
    o.retries = retries;
    tl_http_init(store, TL_HTTP_S3);
    store->endpoint = endpoint;
    return tl_curl_open(store, &o);
}

/* ---- answers of a cache have the request id of the answer that it keeps ---- */

static void on_cached(void *user, const tl_request *request, const tl_completion *c)
{
    (void)request;
    *(int *)user += c->outcome == TL_OUTCOME_OK;
}

static void test_cache(const char *one, const char *two)
{
    tl_http_store store;
    tl_curl *curl = client(&store);
    int i, good = 0;
    for (i = 0; i < 12; i++) {
        tl_request r;
        memset(&r, 0, sizeof r);
        r.kind = TL_GET;
        r.key = tl_text(i % 2 ? one : two);
        r.length = TL_WHOLE;
        r.accept = 100;
        tl_curl_send(curl, &r, on_cached, &good);
        while (tl_curl_out(curl) != 0)
            tl_curl_wait(curl, tl_curl_now() + 1000);
    }
    check(good == 12, one);
    check(strstr(one, "silently") != NULL || tl_curl_connections(curl) == 1, "which is no reason to connect anew");
    tl_curl_close(curl);
}

/* ---- a kept connection dies under a write that libcurl sends anew, to where nobody listens any more ---- */

static void *serve_once(void *argument)
{
    int listener = (int)(intptr_t)argument, connection = accept(listener, NULL, NULL);
    char request[8192];
    close(listener);
    if (read(connection, request, sizeof request - 1) > 0)
        answer(connection, "GET");
    (void)!read(connection, request, sizeof request - 1); /* the write, taken and never answered */
    close(connection);
    return NULL;
}

static void on_outcome(void *user, const tl_request *request, const tl_completion *c)
{
    (void)request;
    *(tl_outcome *)user = c->outcome;
}

static tl_outcome outcome_of(tl_curl *curl, tl_request_kind kind)
{
    tl_outcome outcome = TL_OUTCOME_OK;
    tl_request r;
    memset(&r, 0, sizeof r);
    r.kind = kind;
    r.key = tl_text("s3://bucket/x");
    r.length = TL_WHOLE;
    tl_curl_send(curl, &r, on_outcome, &outcome);
    while (tl_curl_out(curl) != 0)
        tl_curl_wait(curl, tl_curl_now() + 1000);
    return outcome;
}

static void test_dead(tl_request_kind kind)
{
    char whole[sizeof endpoint];
    tl_http_store store;
    tl_curl *curl;
    pthread_t thread;
    memcpy(whole, endpoint, sizeof whole);
    if (pthread_create(&thread, NULL, serve_once, (void *)(intptr_t)listen_on(endpoint)) != 0)
        exit(1);
    retries = UINT32_MAX;
    curl = client(&store);
    check(outcome_of(curl, TL_GET) == TL_OUTCOME_NOT_FOUND, "the connection is there");
    check(outcome_of(curl, kind) == TL_OUTCOME_UNKNOWN, "a write may be applied that a dying connection took");
    check(outcome_of(curl, kind) == TL_OUTCOME_FAILED, "nobody listens: it was not applied");
    pthread_join(thread, NULL);
    tl_curl_close(curl);
    retries = 0;
    memcpy(endpoint, whole, sizeof whole);
}

/* ---- closed while a put holds back its last byte ---- */

static void test_held(void)
{
    tl_span body = tl_text("held");
    tl_http_store store;
    tl_curl *curl = client(&store);
    tl_request r;
    clock_t began;
    memset(&r, 0, sizeof r);
    r.kind = TL_PUT;
    r.key = tl_text("s3://bucket/muted");
    r.body = &body;
    r.body_count = 1;
    r.body_size = body.size;
    tl_curl_hold(curl);
    tl_curl_send(curl, &r, NULL, NULL);
    while (tl_curl_held(curl) == 0 && tl_curl_out(curl) != 0)
        tl_curl_wait(curl, tl_curl_now() + 10);
    check(tl_curl_held(curl) == 1, "a put that is held back");
    began = clock();
    tl_curl_close(curl);
    check(clock() - began < CLOCKS_PER_SEC / 2, "what is held is given up, and does not spin");
}

/* ---- a done callback that begins the operation anew, from inside its cancel ---- */

typedef struct looker {
    tl_lake lake;
    tl_load load;
    tl_uv *uv;
    uv_timer_t timer;
    const char *url;
    int rounds, close, results[4];
} looker;

static void look(looker *l);

static void looked(void *user, tl_op *op, tl_turn result)
{
    looker *l = (looker *)user;
    l->results[l->rounds++ & 3] = (int)result;
    tl_op_end(op);
    if (l->close)
        tl_uv_close(l->uv);
    else if (l->rounds == 1)
        look(l);
}

static void look(looker *l)
{
    tl_load_begin(&l->load, &l->lake, tl_text(l->url), NULL);
    tl_uv_start(l->uv, &l->load.op, looked, l);
}

static void on_timer(uv_timer_t *timer)
{
    looker *l = (looker *)timer->data;
    tl_uv_cancel(l->uv, &l->load.op);
    uv_close((uv_handle_t *)timer, NULL);
}

static void test_restart(void)
{
    uv_loop_t loop;
    looker l;
    tl_http_store store;
    tl_curl *curl = client(&store);
    memset(&l, 0, sizeof l);
    uv_loop_init(&loop);
    tl_lake_init(&l.lake, NULL);
    l.uv = tl_uv_open(&loop, curl, NULL);
    l.url = "s3://bucket/slow";
    uv_timer_init(&loop, &l.timer);
    l.timer.data = &l;
    uv_timer_start(&l.timer, on_timer, 50, 0);
    look(&l);
    uv_run(&loop, UV_RUN_DEFAULT);
    check(l.rounds == 2, "an operation is begun anew when its cancel ended it");
    check(l.results[0] == TL_FAILED, "it was cancelled");
    check(l.results[1] == TL_NONE, "and the new one was not");
    tl_uv_close(l.uv);
    uv_run(&loop, UV_RUN_DEFAULT);
    check(uv_loop_close(&loop) == 0, "nothing is left in the loop");
    tl_curl_close(curl);
    tl_lake_free(&l.lake);
}

/* ---- the driver closed while requests that nobody waits for are out ---- */

static void test_close(int folder)
{
    uv_loop_t loop;
    looker l;
    tl_lake_options o;
    tl_http_store store;
    tl_fs fs;
    tl_curl *curl = folder ? NULL : client(&store);
    memset(&l, 0, sizeof l);
    memset(&o, 0, sizeof o);
    o.warm_connections = folder ? 64 : 4;
    uv_loop_init(&loop);
    tl_fs_open(&fs, NULL);
    tl_lake_init(&l.lake, &o);
    l.uv = tl_uv_open(&loop, curl, folder ? &fs : NULL);
    l.url = folder ? "file:///nowhere/at/all" : "s3://bucket/slow";
    l.close = 1;
    look(&l);
    uv_run(&loop, UV_RUN_DEFAULT);
    check(l.rounds == 1 && l.results[0] == TL_NONE, "an operation ends");
    check(uv_loop_close(&loop) == 0, "a driver that was closed leaves nothing in the loop");
    tl_curl_close(curl);
    tl_lake_free(&l.lake);
    tl_fs_close(&fs);
}

int main(void)
{
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    server();
    test_cache("s3://bucket/kept/one", "s3://bucket/kept/two");
    test_cache("s3://bucket/silently-kept/one", "s3://bucket/silently-kept/two");
    test_dead(TL_DELETE);
    test_dead(TL_PUT);
    test_held();
    test_restart();
    test_close(0);
    test_close(1);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
