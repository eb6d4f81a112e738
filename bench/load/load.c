/* One measurement of bench/load/run:

   load step TIMES           ns of CPU per request/completion pair of warm loads that check; allocations of such a load
   load chain DIR TIMES      ns of CPU per chain load, files included, of the table that `peer chain` made in DIR, from
                             memory: median and least
   load idle [DIR]           bytes that a lake holds of that table, open and idle; without DIR of one in tests/data
   load plan DIR TIMES       ns of CPU of a plan of it: of the first one, which opens the columns, then the median of
                             one that keeps a day, of one that keeps all; files and files kept

   Public API and adapters/timelake_mem.h only. */
#define _POSIX_C_SOURCE 199309L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../../adapters/timelake_mem.h"

#define LOCATION "mem://bench/table"

static tl_mem store;
static size_t allocations, held;

static void fail(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *counted_allocate(void *context, size_t size)
{
    (void)context;
    allocations++;
    held += size;
    return malloc(size);
}

static void *counted_resize(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    allocations++;
    held += size - old_size;
    return realloc(memory, size);
}

static void counted_deallocate(void *context, void *memory, size_t size)
{
    (void)context;
    held -= size;
    free(memory);
}

static void begin_lake(tl_lake *lake)
{
    tl_lake_options o;
    memset(&o, 0, sizeof o);
    o.op.allocator.allocate = counted_allocate;
    o.op.allocator.resize = counted_resize;
    o.op.allocator.deallocate = counted_deallocate;
    if (tl_lake_init(lake, &o) != TL_OK)
        fail("no lake");
}

/* Every file of a folder's `metadata`, as an object of the table. */
static void fill_store(const char *dir, const char *location)
{
    char path[1024], key[1024];
    DIR *d;
    struct dirent *e;
    tl_mem_init(&store, NULL);
    store.log_off = 1;
    snprintf(path, sizeof path, "%s/metadata", dir);
    d = opendir(path);
    if (d == NULL)
        fail("cannot open the folder");
    while ((e = readdir(d)) != NULL) {
        FILE *f;
        long size;
        char *data;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/metadata/%s", dir, e->d_name);
        snprintf(key, sizeof key, "%s/metadata/%s", location, e->d_name);
        f = fopen(path, "rb");
        if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
            fail("cannot open a file");
        data = (char *)malloc((size_t)size + 1);
        if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size)
            fail("cannot read a file");
        tl_mem_put(&store, tl_text(key), data, (size_t)size);
        free(data);
        fclose(f);
    }
    closedir(d);
}

/* A load from begin to end; its table is counted for the caller. */
static tl_table *load_once(tl_lake *lake, const char *location, const tl_load_options *o)
{
    tl_load load;
    tl_table *t;
    tl_load_begin(&load, lake, tl_text(location), o);
    if (tl_mem_run(&store, &load.op) != TL_OK)
        fail(tl_op_error(&load.op)->text != NULL ? tl_op_error(&load.op)->text : "no such table");
    t = tl_table_keep(load.table);
    tl_op_end(&load.op);
    return t;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* ---- step ---- */

#define WAREHOUSE "tests/data/warehouse/wh/iot/trucks"
#define TRUCKS "s3://demo-lake/wh/iot/trucks"

/* Loads that check, driven by hand: begin, the requests out, their answers in, the end. What is measured is ours. */
static void run_step(size_t times)
{
    tl_lake lake;
    tl_load_options o;
    tl_load load;
    tl_request request[4];
    size_t i, before, pairs = 0, best = SIZE_MAX, round;
    fill_store(WAREHOUSE, TRUCKS);
    begin_lake(&lake);
    memset(&o, 0, sizeof o);
    tl_table_drop(load_once(&lake, TRUCKS, &o));
    o.max_age_ms = -1;
    before = allocations;
    for (round = 0; round < 9; round++) {
        int64_t start = now(), taken;
        pairs = 0;
        for (i = 0; i < times; i++) {
            size_t n = 0, k;
            tl_completion c;
            tl_load_begin(&load, &lake, tl_text(TRUCKS), &o);
            while (tl_step(&load.op, 1000, &request[n]) == TL_WANTS)
                n++;
            for (k = 0; k < n; k++) { /* vN+1 was asked for first */
                c = tl_completed(request[k].token, k == 0 ? TL_OUTCOME_NOT_FOUND : TL_OUTCOME_OK);
                if (k == 1)
                    c.etag = tl_text("\"5d41402abc4b2a76b9719d911017c592\"");
                (void)tl_complete(&load.op, &c, 1000);
            }
            if (tl_step(&load.op, 1000, &request[0]) != TL_DONE)
                fail("a warm load failed");
            pairs += n;
            tl_op_end(&load.op);
        }
        taken = (now() - start) * 100 / (int64_t)pairs;
        best = (size_t)taken < best ? (size_t)taken : best;
    }
    printf("%zu.%02zu %zu.%02zu\n", best / 100, best % 100, (allocations - before) / (9 * times),
           (allocations - before) * 100 / (9 * times) % 100);
    tl_lake_free(&lake);
}

/* ---- chain ---- */

static void run_chain(const char *dir, size_t times)
{
    int64_t *taken = (int64_t *)malloc((times + 1) * sizeof *taken);
    size_t i;
    fill_store(dir, LOCATION);
    for (i = 0; i <= times; i++) {
        tl_lake lake;
        tl_files files;
        tl_columns columns;
        tl_table *t;
        int64_t start = now();
        begin_lake(&lake);
        t = load_once(&lake, LOCATION, NULL);
        if (tl_head_files(&t->head, &files, NULL) != TL_OK
            || tl_head_columns(&t->head, TL_COLUMNS_ALL, &columns, NULL) != TL_OK)
            fail("no files");
        if (i == 0)
            fprintf(stderr, "%zu files, %zu statistics\n", (size_t)files.count, (size_t)columns.count);
        tl_table_drop(t);
        tl_lake_free(&lake);
        taken[i] = now() - start;
    }
    qsort(taken + 1, times, sizeof *taken, by_size); /* the first warms up */
    printf("%lld %lld\n", (long long)taken[1 + times / 2], (long long)taken[1]);
    free(taken);
}

/* ---- idle ---- */

static void idle(const char *dir, const char *location)
{
    tl_lake lake;
    tl_plan plan;
    tl_table *t;
    tl_filter filter;
    size_t loaded;
    fill_store(dir, location);
    begin_lake(&lake);
    tl_table_drop(load_once(&lake, location, NULL));
    loaded = held;
    t = load_once(&lake, location, NULL);
    filter = tl_filter_begin(t);
    tl_filter_null(&filter, t->metadata.fields[0].name, 0);
    if (tl_plan_scan(&plan, t, &filter, NULL, NULL) != TL_OK)
        fail("no plan");
    printf("idle table of %zu files: %zu bytes (%zu of them metadata text; the lake counts %llu)", plan.count, loaded,
           t->metadata.json.size, (unsigned long long)lake.memory);
    tl_plan_free(&plan);
    printf(", %zu once a plan has opened its columns\n", held);
    tl_table_drop(t);
    tl_lake_free(&lake);
    tl_mem_free(&store);
}

/* ---- plan ---- */

#define DAY 86400000000

static int64_t plan_once(tl_table *t, int some, size_t *kept)
{
    tl_plan plan;
    tl_error err;
    int64_t start = now();
    const int64_t from = 1767225600000000 + 3 * (int64_t)DAY;
    tl_filter filter = tl_filter_begin(t);
    tl_filter_between(&filter, "time", tl_micros(some ? from : INT64_MIN),
                      tl_micros(some ? from + DAY - 1 : INT64_MAX));
    tl_filter_compare(&filter, tl_text("time"), TL_GREATER_EQUAL, tl_string(tl_text("2020-01-01")));
    if (tl_plan_scan(&plan, t, &filter, NULL, &err) != TL_OK)
        fail(err.text);
    *kept = plan.count;
    tl_plan_free(&plan);
    return now() - start;
}

static void run_plan(const char *dir, size_t times)
{
    int64_t *taken = (int64_t *)malloc((times + 1) * sizeof *taken), first;
    tl_lake lake;
    tl_table *t;
    tl_files files;
    size_t i, some, kept;
    int all;
    fill_store(dir, LOCATION);
    begin_lake(&lake);
    t = load_once(&lake, LOCATION, NULL);
    first = plan_once(t, 1, &some);
    if (taken == NULL || tl_head_files(&t->head, &files, NULL) != TL_OK)
        fail("no files");
    printf("%lld", (long long)first);
    for (all = 0; all < 2; all++) {
        for (i = 0; i < times; i++)
            taken[i] = plan_once(t, !all, &kept);
        qsort(taken, times, sizeof *taken, by_size);
        printf(" %lld", (long long)taken[times / 2]);
    }
    printf(" %zu %zu\n", (size_t)files.count, some);
    tl_table_drop(t);
    tl_lake_free(&lake);
    free(taken);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    size_t times = argc > 2 ? (size_t)strtoul(argv[argc - 1], NULL, 10) : 0;
    if (argc == 3 && strcmp(what, "step") == 0 && times > 0)
        run_step(times);
    else if (argc == 4 && strcmp(what, "chain") == 0 && times > 0)
        run_chain(argv[2], times);
    else if (argc == 2 && strcmp(what, "idle") == 0)
        idle(WAREHOUSE, TRUCKS);
    else if (argc == 3 && strcmp(what, "idle") == 0)
        idle(argv[2], LOCATION);
    else if (argc == 4 && strcmp(what, "plan") == 0 && times > 0)
        run_plan(argv[2], times);
    else
        fail("step TIMES | chain DIR TIMES | idle [DIR] | plan DIR TIMES");
    return 0;
}
