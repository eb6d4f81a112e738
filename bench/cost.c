/* What following a numbered sequence costs: simulated processes, the requests of each way to find the newest object,
   and dollars a month. Cached probing is the shipped machine on the store in memory; the other ways are counted here:
   - LIST always: a listing, the object, the boundary
   - unbounded: successors until one is missing
   - exponential: offsets 1, 2, 4, ... 128 asked for at once by HEAD, then a binary search, then the object
   - window: four successors at once; all there: a listing
   - HEAD: successors by HEAD, at most four, then the object
   - pointer: an advisory object with the newest id, which each write moves
   Usage: cost [LIST GET PUT], dollars for 1,000 requests; by default those of S3 Standard in us-east-1. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_STATIC
#define TIMELAKE_NO_LAKE
#define TIMELAKE_NO_LOG
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_HEAD_JSON
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"

static double list_price = 0.005, get_price = 0.0004, put_price = 0.005;
static int passed, failed;

typedef struct sum {
    double list, get, put;
} sum;

static double dollars(sum s)
{
    return (s.list * list_price + s.get * get_price + s.put * put_price) / 1000;
}

static int default_prices(void)
{
    return list_price == 0.005 && get_price == 0.0004 && put_price == 0.005;
}

static void check(const char *what, double got, double want, double within)
{
    int good = got >= want - within && got <= want + within;
    if (good)
        passed++;
    else
        failed++;
    if (!good)
        printf("FAILED %s: %g, not %g\n", what, got, want);
}

/* ---- the machine, its requests counted ---- */

static tl_mem store;
static tl_probe_call call;

static void put_object(const char *directory, uint64_t id)
{
    char key[64];
    snprintf(key, sizeof key, "%s/%020llu.%s", directory, (unsigned long long)id, directory);
    tl_mem_put(&store, tl_text(key), "v", 1);
}

static uint64_t drive(sum *s)
{
    tl_request r;
    tl_completion c;
    uint64_t id;
    while (tl_step(&call.op, 1, &r) == TL_WANTS) {
        s->list += r.kind == TL_LIST;
        s->get += r.kind == TL_GET || r.kind == TL_STAT;
        tl_mem_serve(&store, &r, &c);
        (void)tl_complete(&call.op, &c, 1);
    }
    id = call.op.turn == TL_DONE ? call.id : 0;
    (void)tl_op_end(&call.op);
    return id;
}

static uint64_t read_latest(tl_probe *p, int checked, sum *s)
{
    if (checked)
        tl_probe_latest(&call, p);
    else
        tl_probe_latest_unchecked(&call, p);
    return drive(s);
}

static void fresh_store(void)
{
    tl_mem_free(&store);
    tl_mem_init(&store, NULL);
    store.log_off = 1;
    tl_mem_put(&store, tl_text("gc/manifest.boundary"), "0", 1);
    tl_mem_put(&store, tl_text("gc/compactions.boundary"), "0", 1);
    put_object("manifest", 1);
    put_object("compactions", 1);
}

/* ---- an idle SlateDB ---- */

typedef enum policy { LISTING, PROBING, LEASE, BACK_OFF, ON_DEMAND } policy;

typedef struct process {
    policy how;
    tl_probe probes[2];
    int checked_at[2];
    sum s;
} process;

/* A latest read of the manifest (0) or the compactions (1) at second `now`. With a lease the boundary is asked for once
   in 150 s: half the 300 s for which the collector spares an object after it is written, so that within it no successor
   of an id that was checked can have come and gone, unless clocks differ by as much. */
static void poll(process *p, int which, int now)
{
    int checked = p->how < LEASE || now - p->checked_at[which] >= 150 || p->checked_at[which] == 0;
    if (p->how == LISTING) {
        p->s.list++;
        p->s.get += 2;
        return;
    }
    (void)read_latest(&p->probes[which], checked, &p->s);
    if (checked)
        p->checked_at[which] = now;
}

/* One pass of the collector's six tasks: eleven latest reads, five listings of directories, a manifest by its id. */
static void collect(process *p, int now)
{
    int i;
    for (i = 0; i < 10; i++)
        poll(p, 0, now);
    poll(p, 1, now);
    p->s.list += 5;
    p->s.get++;
}

/* A month of one process with default settings, from a day. The writer polls each second; with BACK_OFF each 10 s while
   nothing changes; with ON_DEMAND when a reader asks, here once a minute, and no answer is older than a second. */
static sum idle_month(policy how, int collector_every)
{
    static process p;
    int now, i, writer = how == BACK_OFF ? 10 : how == ON_DEMAND ? 60 : 1;
    sum month;
    memset(&p, 0, sizeof p);
    p.how = how;
    fresh_store();
    (void)tl_probe_init(&p.probes[0], tl_slatedb_manifests(), tl_text(""), NULL);
    (void)tl_probe_init(&p.probes[1], tl_slatedb_compactions(), tl_text(""), NULL);
    for (i = 0; i < 2 && how != LISTING; i++)
        (void)read_latest(&p.probes[i], 1, &p.s);
    memset(&p.s, 0, sizeof p.s); /* what opening took is not idling */
    for (now = 1; now <= 86400; now++) {
        if (now % writer == 0)
            poll(&p, 0, now);
        if (now % 5 == 0) { /* the compactor, and its worker */
            poll(&p, 1, now);
            poll(&p, 0, now);
            poll(&p, 1, now);
        }
        if (now % collector_every == 0)
            collect(&p, now);
    }
    tl_probe_free(&p.probes[0]);
    tl_probe_free(&p.probes[1]);
    month.list = p.s.list * 30;
    month.get = p.s.get * 30;
    month.put = 0;
    return month;
}

static sum print_idle(const char *what, policy how, int collector_every)
{
    sum s = idle_month(how, collector_every);
    printf("  %-58s %9.0f LIST x $%g/1000 + %9.0f GET x $%g/1000 = $%.2f + $%.2f = $%.2f\n", what, s.list, list_price,
           s.get, get_price, s.list * list_price / 1000, s.get * get_price / 1000, dollars(s));
    return s;
}

static void idle(void)
{
    sum s;
    printf("An idle SlateDB, a month of 8,640 windows of five minutes. Latest reads of a window: writer 300,\n"
           "compactor 60 + 60, worker 60, collector 11 a pass, which also lists 5 directories. Each 60 s: 535 reads\n"
           "+ 25 listings = 560 LIST x 8,640 = 4,838,400; each 600 s: 485.5 + 2.5\n");
    s = print_idle("LIST always, collector 60 s (before cached probing)", LISTING, 60);
    check("listings of a month", s.list, 560 * 8640.0, 0);
    check("listings measured with the crate", s.list / 30, 161239, 161);
    check("gets measured with the crate", s.get / 30, 309518, 309);
    if (default_prices()) {
        check("the design's $24.19", s.list * list_price / 1000, 24.19, 0.005);
        check("measured $27.90", dollars(s), 27.9001, 0.03);
    }
    s = print_idle("cached probing, collector 60 s", PROBING, 60);
    check("gets measured with the crate", s.get / 30, 309654, 310);
    if (default_prices())
        check("measured $4.80", dollars(s), 4.7958, 0.01);
    s = print_idle("cached probing, collector 600 s (SlateDB's defaults)", PROBING, 600);
    check("gets measured with the crate", s.get / 30, 279662, 280);
    check("listings measured with the crate", s.list / 30, 720, 0);
    if (default_prices())
        check("measured $3.47", dollars(s), 3.467, 0.005);
    printf("Cheaper, with answers as fresh for readers that ask:\n");
    s = print_idle("  the boundary once in 150 s, unchecked reads between", LEASE, 600);
    if (default_prices())
        check("under $2", dollars(s) < 2, 1, 0);
    s = print_idle("  and the writer's poll backs off to 10 s until asked", BACK_OFF, 600);
    s = print_idle("  and the writer reads when asked, once a minute here", ON_DEMAND, 600);
    if (default_prices())
        check("under $2", dollars(s) < 2, 1, 0);
}

/* ---- fleets ---- */

enum { LIST_ALWAYS, UNBOUNDED, EXPONENTIAL, WINDOW, HEADS, POINTER, CACHED, WAYS };
static const char *const ways[WAYS] = {"LIST always", "unbounded", "exponential", "window", "HEAD", "pointer",
                                       "cached probing"};

/* Requests of one read, k versions behind; cold: nothing is known. The boundary is asked for by each. */
static void count_read(int way, int cold, uint64_t k, sum *s)
{
    uint64_t top = 1, steps = 0;
    s->get++; /* the boundary */
    if (way == POINTER) {
        s->get += 1.0 + (cold || k > 0);
        return;
    }
    if (way == LIST_ALWAYS || cold || (way == WINDOW && k >= 4) || (way == HEADS && k >= 4)) {
        s->list++;
        s->get += 1.0 + (way >= WINDOW && !cold ? 4 : 0);
        return;
    }
    for (; top <= k; top *= 2)
        steps++; /* the highest offset that is there, then as many halvings but one */
    s->get += way == UNBOUNDED ? (double)k + 1 : way == WINDOW ? 4
              : way == HEADS ? (double)k + 1 + (k > 0)
                             : 8.0 * (1 + (double)(steps / 8)) + (steps > 1 ? (double)steps - 1 : 0) + (k > 0);
}

typedef struct fleet {
    const char *name;
    int readers, every;              /* seconds between two reads of each */
    int write_every, burst;          /* so many versions at once, each so many seconds; 0: none */
    int short_lived;                 /* each read is that of a new process */
} fleet;

static sum fleet_month(const fleet *f, int way)
{
    static tl_probe probes[64];
    static uint64_t held[64];
    uint64_t newest = 1;
    sum s = {0, 0, 0};
    int now, i;
    fresh_store();
    for (i = 0; i < f->readers; i++) {
        (void)tl_probe_init(&probes[i], tl_slatedb_manifests(), tl_text(""), NULL);
        held[i] = 0;
    }
    for (now = 1; now <= 86400; now++) {
        for (i = 0; f->write_every != 0 && now % f->write_every == 0 && i < f->burst; i++) {
            char key[64];
            put_object("manifest", ++newest);
            s.put += way == POINTER;
            if (newest <= 200)
                continue;
            snprintf(key, sizeof key, "%llu", (unsigned long long)(newest - 200)); /* a page of history stays */
            tl_mem_put(&store, tl_text("gc/manifest.boundary"), key, strlen(key));
            snprintf(key, sizeof key, "manifest/%020llu.manifest", (unsigned long long)(newest - 200));
            (void)tl_mem_delete(&store, tl_text(key));
        }
        for (i = 0; i < f->readers; i++) {
            if ((now + i) % f->every != 0)
                continue;
            if (f->short_lived) {
                tl_probe_free(&probes[i]);
                (void)tl_probe_init(&probes[i], tl_slatedb_manifests(), tl_text(""), NULL);
                held[i] = 0;
            }
            if (way != CACHED)
                count_read(way, held[i] == 0, newest - held[i], &s);
            else if (read_latest(&probes[i], 1, &s) != newest)
                check("the newest", 0, 1, 0);
            held[i] = newest;
        }
    }
    for (i = 0; i < f->readers; i++)
        tl_probe_free(&probes[i]);
    s.list *= 30;
    s.get *= 30;
    s.put *= 30;
    return s;
}

static void fleets(void)
{
    static const fleet all[] = {
        {"idle: 4 readers each 1 s, no writes", 4, 1, 0, 0, 0},
        {"steady: 4 readers each 1 s, a version each 5 s", 4, 1, 5, 1, 0},
        {"bursty: 4 readers each 5 s, 10 versions each 10 minutes", 4, 5, 600, 10, 0},
        {"lagging: 4 readers each 60 s, a version each 5 s", 4, 60, 5, 1, 0},
        {"short-lived: a new process each 10 s, a version a minute", 1, 10, 60, 1, 1},
    };
    size_t i;
    int way;
    printf("\nFleets, requests and dollars a month beside the writes themselves\n");
    for (i = 0; i < sizeof all / sizeof all[0]; i++) {
        printf("  %s\n", all[i].name);
        for (way = 0; way < WAYS; way++) {
            sum s = fleet_month(&all[i], way);
            printf("    %-15s %9.0f LIST %10.0f GET %8.0f PUT = $%.2f\n", ways[way], s.list, s.get, s.put, dollars(s));
        }
    }
}

/* ---- the pointer ---- */

/* A round of n readers that are all k versions behind, so of k writes: from how many on does the pointer pay? */
static void break_even(void)
{
    static const struct { int k, from; } wanted[] = {
        {0, 0}, {1, 0}, {2, 26}, {3, 19}, {4, 4}, {5, 5}, {10, 9}, {20, 17}};
    size_t i;
    printf("\nBreak-even against the pointer: readers k versions behind at each read, one put of it a version\n"
           "   k   probing   pointer   saved by the pointer, in GETs   pays from readers\n");
    for (i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        sum s = {0, 0, 0}, p = {0, 0, 0};
        tl_probe probe;
        double saved, puts = wanted[i].k * put_price / get_price;
        int id, n = 1;
        fresh_store();
        (void)tl_probe_init(&probe, tl_slatedb_manifests(), tl_text(""), NULL);
        (void)read_latest(&probe, 1, &p);
        memset(&p, 0, sizeof p);
        for (id = 2; id <= 1 + wanted[i].k; id++)
            put_object("manifest", (uint64_t)id);
        (void)read_latest(&probe, 1, &s);
        count_read(POINTER, 0, (uint64_t)wanted[i].k, &p);
        tl_probe_free(&probe);
        saved = (dollars(s) - dollars(p)) * 1000 / get_price;
        while (saved > 0.001 && n * saved <= puts + 1e-9)
            n++;
        n = saved > 0.001 ? n : 0;
        printf("  %2d   %7.1f   %7.1f   %29.1f   ", wanted[i].k, dollars(s) * 1000 / get_price - 1,
               dollars(p) * 1000 / get_price - 1, saved);
        if (n == 0)
            printf("never\n");
        else
            printf("%d\n", n);
        if (default_prices())
            check("readers from which the pointer pays", n, wanted[i].from, 0);
    }
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        list_price = atof(argv[1]);
        get_price = atof(argv[2]);
        put_price = atof(argv[3]);
    }
    if ((argc != 1 && argc != 4) || !(get_price > 0)) {
        fprintf(stderr, "usage: cost [LIST GET PUT]\n");
        return 2;
    }
    idle();
    fleets();
    break_even();
    tl_mem_free(&store);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
