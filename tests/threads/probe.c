/* One probe used by many threads under the caller's lock, for ThreadSanitizer: readers checked and unchecked, a writer
   and a collector, all on one cache. No thread sees an id below the one it saw before, checked reads none that the
   boundary covered when they began, and each body is that of its id. With the word "nolock" the callbacks are left out:
   the sanitizer has to find the race, or it proves nothing. Usage: probe [nolock] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_STATIC
#define TIMELAKE_NO_LAKE
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_HEAD_JSON
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../../adapters/timelake_mem.h"

enum { READERS = 4, IDS = 3000 };

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER, cache_lock = PTHREAD_MUTEX_INITIALIZER;
static tl_mem store; /* with what follows under store_lock */
static uint64_t newest, boundary;
static int writing = 1;
static long failures;
static tl_probe probe;
static tl_probe_counters counters;

static void lock_cache(void *context)
{
    pthread_mutex_lock((pthread_mutex_t *)context);
}

static void unlock_cache(void *context)
{
    pthread_mutex_unlock((pthread_mutex_t *)context);
}

static void check(int good, const char *what)
{
    if (good)
        return;
    pthread_mutex_lock(&store_lock);
    failures++;
    fprintf(stderr, "FAILED %s\n", what);
    pthread_mutex_unlock(&store_lock);
}

/* A call to its end. The store and the answer, which lies in it, are held; the machine itself runs unlocked. */
static tl_turn drive(tl_op *op)
{
    tl_request r;
    tl_completion c;
    tl_turn turn;
    while ((turn = tl_step(op, 1, &r)) == TL_WANTS) {
        pthread_mutex_lock(&store_lock);
        tl_mem_serve(&store, &r, &c);
        if (r.kind == TL_PUT && c.outcome == TL_OUTCOME_OK && r.purpose == TL_PURPOSE_COMMIT)
            newest++;
        if (r.kind == TL_PUT && c.outcome == TL_OUTCOME_OK && r.purpose == TL_PURPOSE_BOUNDARY)
            boundary = strtoull(r.body[0].data, NULL, 10);
        (void)tl_complete(op, &c, 1);
        pthread_mutex_unlock(&store_lock);
    }
    return turn;
}

static int look(uint64_t *covered, uint64_t *top)
{
    int on;
    pthread_mutex_lock(&store_lock);
    on = writing;
    *covered = boundary;
    *top = newest;
    pthread_mutex_unlock(&store_lock);
    return on;
}

static void *reader(void *argument)
{
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    uint64_t last = 0, covered, top, later, number;
    int checked = argument == NULL;
    while (call != NULL && look(&covered, &top)) {
        if (checked)
            tl_probe_latest(call, &probe);
        else
            tl_probe_latest_unchecked(call, &probe);
        if (drive(&call->op) == TL_DONE) {
            (void)look(&number, &later);
            check((!checked || call->id >= top) && call->id <= later, "an id that was not newest during the call");
            check(call->id >= last, "an id below the one before");
            check(!checked || call->id > covered, "an id below the boundary");
            last = call->id;
            check(call->body.size == sizeof number, "the size of a body");
            memcpy(&number, call->body.data, sizeof number);
            check(number == call->id, "the body of another id");
        } else
            check(top == 0, "no object");
        (void)tl_op_end(&call->op);
    }
    free(call);
    return NULL;
}

static void *writer(void *argument)
{
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    uint64_t id;
    (void)argument;
    for (id = 1; call != NULL && id <= IDS; id++) {
        tl_probe_write(call, &probe, id - 1, tli_text_span(&id, sizeof id));
        check(drive(&call->op) == TL_DONE && call->id == id, "a write");
        (void)tl_op_end(&call->op);
    }
    pthread_mutex_lock(&store_lock);
    writing = 0;
    pthread_mutex_unlock(&store_lock);
    free(call);
    return NULL;
}

/* Deletes all but the newest, again and again. */
static void *collector(void *argument)
{
    tl_probe_call *call = (tl_probe_call *)malloc(sizeof *call);
    uint64_t covered, top, id;
    (void)argument;
    while (call != NULL && look(&covered, &top)) {
        if (top < covered + 8)
            continue;
        tl_probe_advance(call, &probe, top - 1);
        check(drive(&call->op) == TL_DONE, "an advance");
        (void)tl_op_end(&call->op);
        for (id = covered + 1; id < top; id++) {
            tl_probe_delete(call, &probe, id);
            check(drive(&call->op) == TL_DONE, "a deletion");
            (void)tl_op_end(&call->op);
        }
    }
    free(call);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[READERS + 2];
    tl_probe_options options;
    int i, locked = argc < 2 || strcmp(argv[1], "nolock") != 0;
    memset(&options, 0, sizeof options);
    options.context = &cache_lock;
    options.lock = locked ? lock_cache : NULL;
    options.unlock = locked ? unlock_cache : NULL;
    options.counters = &counters;
    tl_mem_init(&store, NULL);
    store.log_off = 1;
    if (tl_probe_init(&probe, tl_slatedb_manifests(), tl_text("db/"), &options) != TL_OK)
        return 1;
    for (i = 0; i < READERS + 2; i++)
        if (pthread_create(&threads[i], NULL, i < READERS ? reader : i == READERS ? writer : collector,
                           i % 2 ? &options : NULL) != 0)
            return 1;
    for (i = 0; i < READERS + 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d threads on one cache, %d ids: %lu reads, %lu probes, %lu advances, %lu dropped by the boundary\n",
           READERS + 2, IDS, (unsigned long)(counters.latest_hits + counters.latest_misses),
           (unsigned long)(counters.probe_hits + counters.probe_misses),
           (unsigned long)(counters.advances_read + counters.advances_write), (unsigned long)counters.dropped_boundary);
    tl_probe_free(&probe);
    tl_mem_free(&store);
    printf("%d passed, %d failed\n", failures == 0, failures != 0);
    return failures != 0;
}
