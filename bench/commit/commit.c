/* One measurement of bench/commit/run:

   commit DIR TIMES    appends one file TIMES times to the table that `peer chain` made in DIR, in memory, and publishes
                       each. Prints medians of ns of CPU of a commit that merges no manifests (plan, objects, upload
                       into memory) and of a publish up to handing out the pieces of the head, how many commits
                       these are, the bytes of the head; then both of the first commit of the process.

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
#ifdef TL_HAVE_ZSTD
#define TIMELAKE_ZSTD_IMPLEMENTATION
#include "../../adapters/timelake_zstd.h"
#endif

#define LOCATION "mem://bench/table"

static tl_mem store;

static void fail(const char *what)
{
    fprintf(stderr, "commit: %s\n", what);
    exit(1);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void fill_store(const char *dir)
{
    char path[1024], key[1024];
    struct dirent *e;
    DIR *d;
    snprintf(path, sizeof path, "%s/metadata", dir);
    d = opendir(path);
    if (d == NULL)
        fail("no such folder");
    while ((e = readdir(d)) != NULL) {
        FILE *f;
        char *bytes;
        long size;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%.700s/metadata/%.250s", dir, e->d_name);
        f = fopen(path, "rb");
        if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
            fail("cannot be read");
        bytes = (char *)malloc((size_t)size + 1);
        if (bytes == NULL || fread(bytes, 1, (size_t)size, f) != (size_t)size)
            fail("cannot be read");
        fclose(f);
        snprintf(key, sizeof key, LOCATION "/metadata/%.250s", e->d_name);
        tl_mem_put(&store, tl_text(key), bytes, (size_t)size);
        free(bytes);
    }
    closedir(d);
}

/* A file with statistics of four columns, as the table's own have them. */
static void append(tl_lake *lake, tl_table **base, int number, int64_t *taken, uint32_t *round_trips)
{
    char path[256], bounds[4][2][8];
    tl_data_file file;
    tl_column columns[4];
    tl_change change;
    tl_commit c;
    int64_t splits[1] = {4}, start = now();
    size_t i;
    memset(&file, 0, sizeof file);
    memset(columns, 0, sizeof columns);
    memset(&change, 0, sizeof change);
    memset(bounds, number, sizeof bounds);
    snprintf(path, sizeof path, LOCATION "/data/time_day=2026-01-01/new-%d.parquet", number);
    for (i = 0; i < 4; i++) {
        columns[i].field_id = (int32_t)i + 1;
        columns[i].has_size = columns[i].has_values = columns[i].has_nulls = 1;
        columns[i].size = columns[i].values = 1000;
        columns[i].lower.data = bounds[i][0];
        columns[i].upper.data = bounds[i][1];
        columns[i].lower.size = columns[i].upper.size = i == 1 ? 4 : 8;
    }
    file.file.path = tl_text(path);
    file.file.size = 4000000;
    file.file.records = 1000;
    file.file.has_partition = 1;
    file.file.partition = 20454;
    file.file.has_split_offsets = 1;
    file.file.split_offsets = splits;
    file.file.split_count = 1;
    file.columns = columns;
    file.column_count = 4;
    change.kind = TL_CHANGE_APPEND;
    change.added = &file;
    change.added_count = 1;
    tl_commit_begin(&c, lake, *base, &change);
    if (tl_mem_run(&store, &c.op) != TL_OK)
        fail(tl_op_error(&c.op)->text);
    tl_table_drop(*base);
    *base = tl_table_keep(c.table);
    *round_trips = tl_op_round_trips(&c.op);
    (void)tl_op_end(&c.op);
    *taken = now() - start;
}

/* Up to the put of the head, whose body is handed out in pieces; what the store does with it is not counted. */
static void publish(tl_lake *lake, tl_table *table, int64_t *taken)
{
    tl_publish p;
    tl_request r;
    tl_completion c;
    tl_turn turn;
    int64_t start = now();
    *taken = 0;
    tl_publish_begin(&p, lake, table);
    while ((turn = tl_step(&p.op, 0, &r)) == TL_WANTS) {
        if (r.kind == TL_PUT && r.purpose == TL_PURPOSE_HEAD)
            *taken = now() - start;
        tl_mem_serve(&store, &r, &c);
        (void)tl_complete(&p.op, &c, 0);
    }
    if (turn != TL_DONE || !p.head_written || *taken == 0)
        fail("no head");
    (void)tl_op_end(&p.op);
}

int main(int argc, char **argv)
{
    tl_lake_options lo;
    tl_load_options o;
    tl_lake lake;
    tl_load load;
    tl_table *base;
    int64_t *commits, *publishes, taken, first[2] = {0, 0};
#ifdef TL_HAVE_ZSTD
    tl_zstd_adapter zstd;
#endif
    int times = argc == 3 ? atoi(argv[2]) : 0, i, n = 0;
    if (times < 1 || times > 200)
        fail("commit DIR TIMES");
    commits = (int64_t *)calloc((size_t)times, sizeof *commits);
    publishes = (int64_t *)calloc((size_t)times, sizeof *publishes);
    if (commits == NULL || publishes == NULL)
        fail("no memory");
    tl_mem_init(&store, NULL);
    store.log_off = 1;
    fill_store(argv[1]);
    memset(&lo, 0, sizeof lo);
    memset(&o, 0, sizeof o);
    lo.seed[0] = 1;
#ifdef TL_HAVE_ZSTD
    memset(&zstd, 0, sizeof zstd);
    lo.compression = tl_zstd_adapter_compression(&zstd);
#endif
    (void)tl_lake_init(&lake, &lo);
    tl_load_begin(&load, &lake, tl_text(LOCATION), &o);
    if (tl_mem_run(&store, &load.op) != TL_OK)
        fail(tl_op_error(&load.op)->text);
    base = tl_table_keep(load.table);
    (void)tl_op_end(&load.op);
    for (i = -1; i < times; i++) { /* the first takes up a table that was loaded */
        uint32_t round_trips;
        append(&lake, &base, i + 1, &taken, &round_trips);
        publish(&lake, base, i < 0 ? &first[1] : &publishes[i]);
        if (i < 0)
            first[0] = taken;
        if (i >= 0 && round_trips == 2) /* past eight manifests they are merged, and have to be read */
            commits[n++] = taken;
    }
    qsort(commits, (size_t)n, sizeof *commits, by_size);
    qsort(publishes, (size_t)times, sizeof *publishes, by_size);
    printf("%lld %lld %d %llu %lld %lld\n", (long long)commits[n / 2], (long long)publishes[times / 2], n,
           (unsigned long long)tl_mem_get(&store, tl_text(LOCATION "/metadata/timelake-head"))->size,
           (long long)first[0], (long long)first[1]);
    tl_table_drop(base);
    tl_lake_free(&lake);
#ifdef TL_HAVE_ZSTD
    tl_zstd_adapter_free(&zstd);
#endif
    tl_mem_free(&store);
    free(commits);
    free(publishes);
    return 0;
}
