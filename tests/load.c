/* Opening tables: which requests, in how many round trips, and what comes of it: over the lake that Timelake wrote, in a
   store in memory. Request logs are asserted word by word. */
#include "tl_test.h"

#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#include "tl_warehouse.h"

typedef struct world {
    tl_mem store;
    tl_lake lake;
    tl_test_memory memory;
    tl_span location;
    tl_load load;
    tl_status status;
} world;

static void open_world(world *w, const char *table, const tl_mem_options *mo, const tl_lake_options *lo)
{
    tl_lake_options o;
    memset(w, 0, sizeof *w);
    memset(&o, 0, sizeof o);
    if (lo != NULL)
        o = *lo;
    o.op.allocator = tl_test_allocator(&w->memory);
    tl_mem_init(&w->store, mo);
    w->location = warehouse_put(&w->store, table);
    CHECK_INT(tl_lake_init(&w->lake, &o), TL_OK);
}

static void close_world(world *w)
{
    tl_lake_free(&w->lake);
    tl_mem_free(&w->store);
    CHECK_INT(w->memory.live, 0);
}

static tl_status load(world *w, const tl_load_options *options)
{
    tl_mem_forget(&w->store);
    tl_load_begin(&w->load, &w->lake, w->location, options);
    w->status = tl_mem_run(&w->store, &w->load.op);
    return w->status;
}

static void end(world *w)
{
    CHECK_INT(tl_op_end(&w->load.op), TL_OK);
}

/* The log in words: kind, the key's last part, the outcome: "GET head ok, LIST v ok". */
static const char *said(const world *w)
{
    static char text[4096];
    size_t i, n = 0;
    text[0] = 0;
    for (i = 0; i < w->store.log_count && n < sizeof text - 200; i++) {
        const tl_mem_line *l = &w->store.log[i];
        const char *name = l->key + l->key_size;
        while (name > l->key && name[-1] != '/')
            name--;
        if (strcmp(name, "timelake-head") == 0)
            name = "head";
        if (strcmp(name, "version-hint.text") == 0)
            name = "hint";
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u %s %.*s %s", i == 0 ? "" : ", ", l->round,
                              tl_request_text(l->kind), (int)(strchr(name, '.') != NULL ? strchr(name, '.') - name : 40),
                              name, tl_outcome_text(l->result));
    }
    return text;
}

#define CHECK_SAID(w, want) CHECK_TEXT(said(w), strlen(said(w)), want)

static void cold_with_a_current_head(void)
{
    world w;
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok");
    CHECK_INT(tl_op_round_trips(&w.load.op), 1);
    CHECK_INT(w.load.table->source, TL_FROM_HEAD);
    CHECK_INT(w.load.why_no_head.status, TL_OK);
    CHECK(!w.load.unchecked);
    end(&w);
    /* warm within the interval: nothing; past it: one round trip */
    w.store.now += 999;
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "");
    end(&w);
    w.store.now += 1;
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 ok");
    CHECK_INT(tl_op_round_trips(&w.load.op), 1);
    end(&w);
    close_world(&w);
}

static const tl_test_case cases[] = {
    TL_TEST(cold_with_a_current_head),
};
TL_TEST_MAIN(cases)
