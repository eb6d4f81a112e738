/* Requests one after another over adapters/timelake_curl.h, for tests/interop/stores.py:
   curl_tool URL RETRIES TIMEOUT_MS OPERATION...   where URL is the folder of all names, an OPERATION
       absent NAME BODY | match NAME BODY | put NAME BODY | get NAME | range NAME OFFSET LENGTH | none-match NAME |
       stat NAME | list NAME MOST | delete NAME | race NAME WRITERS | load TABLE | chain TABLE (without its head)
   The ETag of match and none-match is the last one seen. A line each: outcome, size or names, what was said; then the
   number of requests and connections. Endpoint, keys: from the environment. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../../adapters/timelake_curl.h"

static char etag[256];
static char page[1024];
static unsigned winners;

static void show(void *user, const tl_request *request, const tl_completion *c)
{
    size_t i;
    (void)user;
    printf("%s %llu", tl_outcome_text(c->outcome),
           (unsigned long long)(request->kind == TL_STAT ? c->object_size : c->body.size));
    for (i = 0; i < c->entry_count; i++)
        printf(" %.*s=%llu", (int)c->entries[i].key.size, c->entries[i].key.data,
               (unsigned long long)c->entries[i].size);
    if (request->kind == TL_GET && c->body.size < 100)
        printf(" %llu:%.*s", (unsigned long long)c->body_offset, (int)c->body.size, c->body.data);
    printf(" | %.*s\n", (int)c->text.size, c->text.data != NULL ? c->text.data : "");
    if (c->etag.data != NULL)
        snprintf(etag, sizeof etag, "%.*s", (int)c->etag.size, c->etag.data);
    page[0] = 0;
    if (c->next_page.data != NULL)
        snprintf(page, sizeof page, "%.*s", (int)c->next_page.size, c->next_page.data);
}

static void count(void *user, const tl_request *request, const tl_completion *c)
{
    (void)user;
    (void)request;
    winners += c->outcome == TL_OUTCOME_OK;
}

static void wait_all(tl_curl *curl)
{
    while (tl_curl_out(curl) != 0)
        (void)tl_curl_wait(curl, tl_curl_now() + 1000);
}

/* Writers whose last bytes go out together; how many won. */
static void race(tl_curl *curl, tl_request *q, unsigned writers)
{
    unsigned i;
    tl_span body = tl_text("{\"race\":1}");
    winners = 0;
    q->kind = TL_PUT;
    q->condition = TL_IF_ABSENT;
    q->body = &body;
    q->body_count = 1;
    q->body_size = body.size;
    tl_curl_hold(curl);
    for (i = 0; i < writers; i++)
        (void)tl_curl_send(curl, q, count, NULL);
    for (i = 0; i < 5000 && tl_curl_held(curl) < tl_curl_out(curl); i++)
        (void)tl_curl_wait(curl, tl_curl_now() + 10);
    printf("held %u, ", (unsigned)tl_curl_held(curl));
    tl_curl_let_go(curl);
    wait_all(curl);
    printf("winners %u\n", winners);
}

/* Opens a table; prints its version and files, requests and round trips, listings. */
static void load(tl_curl *curl, const char *table, int no_head)
{
    tl_lake lake;
    tl_load l;
    tl_load_options o;
    tl_files files;
    memset(&o, 0, sizeof o);
    o.no_head = (uint8_t)no_head;
    (void)tl_lake_init(&lake, NULL);
    tl_load_begin(&l, &lake, tl_text(table), &o);
    if (tl_curl_run(curl, &l.op) == TL_OK && tl_head_files(&l.table->head, &files, NULL) == TL_OK)
        printf("version %llu, %u files, %u requests, %u round trips\n", (unsigned long long)l.table->version,
               (unsigned)files.count, (unsigned)tl_op_requests(&l.op), (unsigned)tl_op_round_trips(&l.op));
    else
        printf("%s | %s: %.*s\n", tl_status_text(tl_op_status(&l.op)), tl_op_error(&l.op)->text,
               (int)tl_op_error_store(&l.op).size, tl_op_error_store(&l.op).data);
    (void)tl_op_end(&l.op);
    tl_lake_free(&lake);
}

static int operation(tl_curl *curl, const char *url, char **a)
{
    static const char *const names[] = {"absent", "match", "put", "get", "range", "none-match", "stat", "list",
                                        "delete", "race", "load", "chain"};
    static const int takes[] = {3, 3, 3, 2, 4, 2, 2, 3, 2, 3, 2, 2};
    static char key[4096];
    tl_request q;
    tl_span body;
    size_t i;
    memset(&q, 0, sizeof q);
    q.token = 1;
    for (i = 0; i < 12 && strcmp(names[i], a[0]) != 0; i++)
        continue;
    if (i == 12)
        return 0;
    snprintf(key, sizeof key, "%s%s", url, a[1]);
    if (i >= 10) {
        load(curl, key, i == 11);
        return takes[i];
    }
    q.key = tl_text(key);
    q.kind = i < 3 ? TL_PUT : i < 6 ? TL_GET : i == 6 ? TL_STAT : i == 7 ? TL_LIST : TL_DELETE;
    q.condition = i == 0 ? TL_IF_ABSENT : i == 1 ? TL_IF_MATCH : i == 5 ? TL_IF_NONE_MATCH : TL_ALWAYS;
    q.etag = tl_text(etag);
    q.length = i == 4 ? strtoull(a[3], NULL, 10) : TL_WHOLE;
    q.offset = i == 4 ? strtoull(a[2], NULL, 10) : 0;
    q.max_keys = i == 7 ? (uint32_t)atoi(a[2]) : 0;
    q.accept = q.kind == TL_GET ? 1 << 16 : 0; /* as machines ask */
    body = tl_text(i < 3 ? a[2] : "");
    q.body = &body;
    q.body_count = 1;
    q.body_size = body.size;
    if (i == 9) {
        race(curl, &q, (unsigned)atoi(a[2]));
        return takes[i];
    }
    do {
        q.page = page[0] != 0 ? tl_text(page) : q.page;
        (void)tl_curl_send(curl, &q, show, NULL);
        wait_all(curl);
    } while (page[0] != 0);
    return takes[i];
}

int main(int argc, char **argv)
{
    tl_http_store store;
    tl_curl_options o;
    tl_curl *curl;
    int i, n = 1;
    if (argc < 4)
        return 2;
    memset(&o, 0, sizeof o);
    tl_http_init(&store, tl_http_scheme(tl_text(argv[1])));
    tl_http_environment(&store);
    store.plain_writes = getenv("PLAIN_WRITES") != NULL;
    o.retries = atoi(argv[2]) != 0 ? (uint32_t)atoi(argv[2]) : UINT32_MAX;
    o.timeout_ms = atoi(argv[3]);
    o.ca_file = getenv("CA_FILE");
    curl = tl_curl_open(&store, &o);
    for (i = 4; i < argc && n != 0; i += n)
        n = operation(curl, argv[1], argv + i);
    printf("requests %llu connections %llu\n", (unsigned long long)tl_curl_requests(curl),
           (unsigned long long)tl_curl_connections(curl));
    tl_curl_close(curl);
    tl_http_close(&store);
    return n == 0 ? 2 : 0;
}
