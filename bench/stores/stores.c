/* One measurement of bench/stores/run: cold opens over a server that the environment describes.

   stores KIND URL TIMES     a line each time: ms from first request to last answer, dependent round trips, files
   KIND: head; chain: without the head; hint, hint-chain: by hint instead of a listing; scan, hint-scan,
   chain-scan: then the files that a condition leaves, read at once; warm: a check of a version that is known

   Public API, timelake_http.h and timelake_curl.h only. */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../../adapters/timelake_curl.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fail(const char *what, const tl_op *op)
{
    tl_span said = tl_op_error_store(op);
    fprintf(stderr, "stores: %s: %s %.*s\n", what, tl_op_error(op)->text == NULL ? "absent" : tl_op_error(op)->text,
            (int)said.size, said.size != 0 ? said.data : "");
    exit(1);
}

static void count(void *user, const tl_request *request, const tl_completion *completion)
{
    (void)request;
    *(unsigned *)user += completion->outcome == TL_OUTCOME_OK;
}

/* Reads the files in which a condition can hold, all at once; how many. */
static unsigned scan(tl_curl *curl, tl_table *table)
{
    tl_filter filter = tl_filter_begin(table);
    tl_plan plan;
    tl_error err;
    unsigned done = 0, files;
    size_t i;
    tl_filter_compare(&filter, tl_text("time"), TL_GREATER_EQUAL, tl_string(tl_text("2026-01-03")));
    if (tl_plan_scan(&plan, table, &filter, NULL, &err) != TL_OK) {
        fprintf(stderr, "stores: %s\n", err.text);
        exit(1);
    }
    for (i = 0; i < plan.count; i++) {
        tl_request r;
        memset(&r, 0, sizeof r);
        r.token = 1;
        r.kind = TL_GET;
        r.key = plan.file[i].file.path;
        r.length = TL_WHOLE;
        r.accept = 1u << 20;
        (void)tl_curl_send(curl, &r, count, &done);
    }
    while (tl_curl_out(curl) != 0)
        (void)tl_curl_wait(curl, INT64_MAX);
    files = (unsigned)plan.count;
    tl_plan_free(&plan);
    if (done != files || files == 0) {
        fprintf(stderr, "stores: %u of %u files could be read\n", done, files);
        exit(1);
    }
    return files;
}

static void open_table(tl_curl *curl, tl_lake *lake, tl_load *load, const char *url, int no_head, int64_t max_age)
{
    tl_load_options o;
    memset(&o, 0, sizeof o);
    o.no_head = (uint8_t)no_head;
    o.max_age_ms = max_age;
    tl_load_begin(load, lake, tl_text(url), &o);
    if (tl_curl_run(curl, &load->op) != TL_OK)
        fail(url, &load->op);
}

/* Nothing is known and no connection is there; but for warm, where both are. */
static void measure(tl_http_store *store, const char *kind, const char *url)
{
    tl_curl_options co;
    tl_lake_options lo;
    tl_curl *curl;
    tl_lake lake;
    tl_load load;
    tl_files files;
    double began;
    unsigned rounds;
    memset(&co, 0, sizeof co);
    memset(&lo, 0, sizeof lo);
    co.ca_file = getenv("SSL_CERT_FILE");
    lo.lookup_hint = (uint8_t)(strncmp(kind, "hint", 4) == 0);
    lo.store = store->dialect == TL_HTTP_PLAIN ? TL_STORE_HTTPS : TL_STORE_LISTS;
    curl = tl_curl_open(store, &co);
    if (curl == NULL || tl_lake_init(&lake, &lo) != TL_OK)
        exit(1);
    if (strcmp(kind, "warm") == 0) {
        open_table(curl, &lake, &load, url, 0, 0);
        (void)tl_op_end(&load.op);
    }
    began = now();
    open_table(curl, &lake, &load, url, strstr(kind, "chain") != NULL, -1);
    rounds = tl_op_round_trips(&load.op);
    if (strstr(kind, "scan") != NULL) {
        (void)scan(curl, load.table);
        rounds++;
    }
    began = now() - began;
    if (tl_head_files(&load.table->head, &files, NULL) != TL_OK)
        exit(1);
    printf("%.3f %u %lu\n", began, rounds, (unsigned long)files.count);
    (void)tl_op_end(&load.op);
    tl_lake_free(&lake);
    tl_curl_close(curl);
}

int main(int argc, char **argv)
{
    tl_http_store store;
    int i, times;
    if (argc != 4)
        return 2;
    times = atoi(argv[3]);
    tl_http_init(&store, tl_http_scheme(tl_text(argv[2])));
    tl_http_environment(&store);
    for (i = 0; i < times; i++)
        measure(&store, argv[1], argv[2]);
    tl_http_close(&store);
    return 0;
}
