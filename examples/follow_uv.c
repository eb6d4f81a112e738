/* Follows any number of tables at once, in one thread: a libuv loop, libcurl's transfers on its sockets, folders on its
   threads. Prints a line for each new version; ends at a signal or after --seconds, and says what it took.
   Usage: follow_uv [--every MS] [--seconds N] [--local-root DIR] [--retries N] [URL...]
   No URL: one a line, from the input.
   All in one store, which the environment describes as it does to tlake. Build: make follow_uv (libuv and libcurl). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../adapters/timelake_curl.h"
#define TIMELAKE_UV_IMPLEMENTATION
#include "../adapters/timelake_uv.h"

struct app;

typedef struct followed {
    struct app *app;
    char *url;
    tl_load load;
    uv_timer_t timer; /* to the next look */
    uint64_t version;
    int failing;
} followed;

typedef struct app {
    uv_loop_t loop;
    tl_lake lake;
    tl_fs fs;
    tl_http_store store;
    tl_curl *curl;
    tl_uv *uv;
    uv_timer_t end;
    uv_signal_t interrupt;
    followed *tables;
    size_t count;
    uint64_t every;
    uint64_t looks, changes, failures, requests;
    int stopping;
} app;

static void look(uv_timer_t *timer);

static void looked(void *user, tl_op *op, tl_turn result)
{
    followed *f = (followed *)user;
    app *a = f->app;
    a->looks++;
    a->requests += tl_op_requests(op);
    if (result == TL_DONE && f->load.table->version != f->version) {
        f->version = f->load.table->version;
        a->changes++;
        printf("%s version %llu\n", f->url, (unsigned long long)f->version);
        fflush(stdout);
    } else if (result != TL_DONE && !a->stopping) {
        a->failures++;
        if (!f->failing) {
            tl_span said = tl_op_error_store(op);
            fprintf(stderr, "%s: %s %.*s\n", f->url, result == TL_NONE ? "no such table" : tl_op_error(op)->text,
                    (int)said.size, said.size != 0 ? said.data : "");
        }
    }
    f->failing = result != TL_DONE;
    tl_op_end(op);
    if (!a->stopping)
        uv_timer_start(&f->timer, look, a->every, 0);
}

static void look(uv_timer_t *timer)
{
    followed *f = (followed *)timer->data;
    tl_load_options o;
    memset(&o, 0, sizeof o);
    o.max_age_ms = -1;
    tl_load_begin(&f->load, &f->app->lake, tl_text(f->url), &o);
    if (tl_uv_start(f->app->uv, &f->load.op, looked, f) != TL_OK) {
        fprintf(stderr, "%s: no memory\n", f->url);
        tl_op_end(&f->load.op);
        uv_timer_start(timer, look, f->app->every, 0);
    }
}

/* Nothing new begins; what is out is given up; then the loop has nothing to do and ends. */
static void stop(app *a)
{
    size_t i;
    if (a->stopping)
        return;
    a->stopping = 1;
    for (i = 0; i < a->count; i++) {
        if (!uv_is_active((uv_handle_t *)&a->tables[i].timer))
            tl_uv_cancel(a->uv, &a->tables[i].load.op);
        uv_close((uv_handle_t *)&a->tables[i].timer, NULL);
    }
    uv_close((uv_handle_t *)&a->end, NULL);
    uv_close((uv_handle_t *)&a->interrupt, NULL);
}

static void on_end(uv_timer_t *timer)
{
    stop((app *)timer->data);
}

static void on_interrupt(uv_signal_t *interrupt, int number)
{
    (void)number;
    stop((app *)interrupt->data);
}

static int add(app *a, const char *url)
{
    size_t n = strcspn(url, "\r\n");
    followed *grown = n == 0 ? NULL : (followed *)realloc(a->tables, (a->count + 1) * sizeof *grown);
    if (grown == NULL)
        return n == 0;
    a->tables = grown;
    memset(&grown[a->count], 0, sizeof *grown);
    grown[a->count].url = (char *)malloc(n + 1);
    if (grown[a->count].url == NULL)
        return 0;
    memcpy(grown[a->count].url, url, n);
    grown[a->count].url[n] = 0;
    a->count++;
    return 1;
}

static int usage(void)
{
    fprintf(stderr, "usage: follow_uv [--every MS] [--seconds N] [--local-root DIR] [--retries N] [URL...]\n");
    return 2;
}

/* Follows until stopped; the looks of the first round are spread over the interval. */
static void follow(app *a, uint64_t seconds)
{
    size_t i;
    uv_timer_init(&a->loop, &a->end);
    uv_signal_init(&a->loop, &a->interrupt);
    a->end.data = a->interrupt.data = a;
    if (seconds != 0)
        uv_timer_start(&a->end, on_end, seconds * 1000, 0);
    uv_signal_start(&a->interrupt, on_interrupt, SIGINT);
    uv_unref((uv_handle_t *)&a->interrupt);
    for (i = 0; i < a->count; i++) {
        a->tables[i].app = a;
        a->tables[i].timer.data = &a->tables[i];
        uv_timer_init(&a->loop, &a->tables[i].timer);
        uv_timer_start(&a->tables[i].timer, look, a->every * i / a->count, 0);
    }
    uv_run(&a->loop, UV_RUN_DEFAULT);
    tl_uv_close(a->uv);
    uv_run(&a->loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv)
{
    static app a;
    tl_fs_options fo;
    tl_lake_options lo;
    tl_curl_options co;
    uint64_t seconds = 0, began;
    double took;
    char line[4096];
    int i;
    memset(&fo, 0, sizeof fo);
    memset(&lo, 0, sizeof lo);
    memset(&co, 0, sizeof co);
    co.ca_file = getenv("SSL_CERT_FILE");
    a.every = 1000;
    for (i = 1; i < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (i + 1 == argc)
            return usage();
        if (strcmp(argv[i], "--every") == 0)
            a.every = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--local-root") == 0)
            fo.local_root = argv[i + 1];
        else if (strcmp(argv[i], "--retries") == 0)
            co.retries = strcmp(argv[i + 1], "0") == 0 ? UINT32_MAX : (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else
            return usage();
    }
    if (i == argc)
        while (fgets(line, sizeof line, stdin) != NULL)
            if (!add(&a, line))
                return 1;
    for (; i < argc; i++)
        if (!add(&a, argv[i]))
            return 1;
    if (a.count == 0)
        return usage();
    uv_loop_init(&a.loop);
    tl_fs_open(&a.fs, &fo);
    tl_http_init(&a.store, tl_http_scheme(tl_text(a.tables[0].url)));
    lo.store = a.store.dialect == TL_HTTP_PLAIN ? TL_STORE_HTTPS : TL_STORE_LISTS;
    tl_http_environment(&a.store);
    (void)tl_http_credentials_file(&a.store);
    a.curl = tl_curl_open(&a.store, &co);
    a.uv = a.curl == NULL ? NULL : tl_uv_open(&a.loop, a.curl, &a.fs);
    if (a.uv == NULL || tl_lake_init(&a.lake, &lo) != TL_OK)
        return 1;
    began = uv_hrtime();
    follow(&a, seconds);
    took = (double)(uv_hrtime() - began) / 1e9;
    fprintf(stderr, "%lu tables, %llu looks, %llu changes, %llu failures, %llu requests in %.1f s: %.0f a second, "
                    "%llu connections\n",
            (unsigned long)a.count, (unsigned long long)a.looks, (unsigned long long)a.changes,
            (unsigned long long)a.failures, (unsigned long long)a.requests, took, (double)a.requests / took,
            (unsigned long long)tl_curl_connections(a.curl));
    tl_curl_close(a.curl);
    tl_http_close(&a.store);
    tl_lake_free(&a.lake);
    while (a.count != 0)
        free(a.tables[--a.count].url);
    free(a.tables);
    uv_loop_close(&a.loop);
    return a.failures != 0;
}
