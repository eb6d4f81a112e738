/* The probe on the store in memory: warm reads per second of one core, unchecked and checked, one thread; and the
   memory of a million idle probes besides their bodies. Goals: 5 million unchecked reads a second, 256 MiB.
   Usage: bench/probe [SECONDS] */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMELAKE_STATIC
#define TIMELAKE_NO_LAKE
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_HEAD_JSON
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"

static size_t live_bytes, live_blocks;

static void *count_allocate(void *context, size_t size)
{
    (void)context;
    live_bytes += (size + 15 + 8) & ~(size_t)15; /* as glibc rounds it, with its header */
    live_blocks++;
    return malloc(size);
}

static void count_deallocate(void *context, void *memory, size_t size)
{
    (void)context;
    live_bytes -= (size + 15 + 8) & ~(size_t)15;
    live_blocks--;
    free(memory);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One call to its end. */
static tl_turn drive(tl_mem *store, tl_op *op)
{
    tl_request r;
    tl_completion c;
    tl_turn turn;
    while ((turn = tl_step(op, 1, &r)) == TL_WANTS) {
        tl_mem_serve(store, &r, &c);
        (void)tl_complete(op, &c, 1);
    }
    return turn;
}

static void put_objects(tl_mem *store, int count)
{
    char key[64];
    int i;
    for (i = 1; i <= count; i++) {
        snprintf(key, sizeof key, "db/manifest/%020d.manifest", i);
        tl_mem_put(store, tl_text(key), "body", 4);
    }
    tl_mem_put(store, tl_text("db/gc/manifest.boundary"), "3", 1);
}

static tl_probe_call call;

/* Millions of warm reads per second of CPU time: of rounds of 50,000 the best, and the median. */
static double warm_reads(tl_mem *store, tl_probe *probe, int checked, double seconds)
{
    enum { ROUNDS = 512, READS = 50000 };
    static double rates[ROUNDS];
    double all = 0;
    int n = 0, i;
    for (; n < ROUNDS && (all < seconds || n < 5); n++) {
        double began = cpu_seconds(), spent;
        for (i = 0; i < READS; i++) {
            if (checked)
                tl_probe_latest(&call, probe);
            else
                tl_probe_latest_unchecked(&call, probe);
            if (drive(store, &call.op) != TL_DONE || call.id != 30)
                exit(1);
            (void)tl_op_end(&call.op);
        }
        spent = cpu_seconds() - began;
        all += spent;
        for (i = n; i > 0 && rates[i - 1] > (double)READS / spent / 1e6; i--)
            rates[i] = rates[i - 1];
        rates[i] = (double)READS / spent / 1e6;
    }
    printf("warm reads, %-9s: %.2f million a second of one core (median of %d rounds %.2f)\n",
           checked ? "checked" : "unchecked", rates[n - 1], n, rates[n / 2]);
    return rates[n - 1];
}

static double idle_mebibytes(tl_mem *store, const tl_probe_options *options, size_t count)
{
    tl_probe *probes = (tl_probe *)malloc(count * sizeof *probes);
    double bytes;
    size_t i;
    if (probes == NULL)
        exit(1);
    live_bytes = live_blocks = 0;
    for (i = 0; i < count; i++) {
        (void)tl_probe_init(&probes[i], tl_slatedb_manifests(), tl_text("db/"), options);
        tl_probe_latest(&call, &probes[i]);
        if (drive(store, &call.op) != TL_DONE)
            exit(1);
        (void)tl_op_end(&call.op);
    }
    bytes = (double)(live_bytes + count * sizeof *probes) - (double)count * 4; /* the bodies */
    printf("%zu idle probes: %zu bytes each and %.1f of %zu allocation%s, besides bodies of 4 bytes\n", count,
           sizeof *probes, (double)live_bytes / (double)count - 4, live_blocks / count,
           live_blocks == count ? "" : "s");
    for (i = 0; i < count; i++)
        tl_probe_free(&probes[i]);
    free(probes);
    return bytes / (1 << 20);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, unchecked, idle;
    tl_probe_options options;
    tl_probe_counters counters;
    tl_probe probe;
    tl_mem store;
    int failed;
    memset(&options, 0, sizeof options);
    memset(&counters, 0, sizeof counters);
    options.counters = &counters;
    options.op.allocator.allocate = count_allocate;
    options.op.allocator.deallocate = count_deallocate;
    tl_mem_init(&store, NULL);
    store.log_off = 1;
    put_objects(&store, 30);
    (void)tl_probe_init(&probe, tl_slatedb_manifests(), tl_text("db/"), &options);
    tl_probe_latest(&call, &probe);
    if (drive(&store, &call.op) != TL_DONE)
        return 1;
    (void)tl_op_end(&call.op);
    live_blocks = 0;
    unchecked = warm_reads(&store, &probe, 0, seconds);
    (void)warm_reads(&store, &probe, 1, seconds);
    idle = idle_mebibytes(&store, &options, 1000000);
    printf("a million idle probes: %.1f MiB\n", idle);
    failed = (unchecked < 5) + (idle > 256);
    printf("goals: 5 million unchecked reads %s, 256 MiB %s\n", unchecked < 5 ? "missed" : "met",
           idle > 256 ? "missed" : "met");
    printf("%d passed, %d failed\n", 2 - failed, failed);
    tl_probe_free(&probe);
    tl_mem_free(&store);
    return failed != 0;
}
