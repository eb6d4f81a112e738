/* Opening tables: which requests, in how many round trips, and what comes of it: over the lake that Timelake wrote,
   in a store in memory. Request logs are asserted word by word. */
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

/* The log in words: round, kind, the key's last part, the outcome: "1 GET head ok, 1 LIST v ok". The same thing said n
   times in a row ends in " xn". */
static const char *said(const world *w)
{
    static char text[4096];
    char last[200], item[200];
    size_t i, n = 0;
    unsigned times = 1;
    text[0] = last[0] = 0;
    for (i = 0; i <= w->store.log_count && n < sizeof text - 400; i++) {
        const tl_mem_line *l = &w->store.log[i];
        const char *name, *dot;
        item[0] = 0;
        if (i < w->store.log_count) {
            name = l->key + l->key_size;
            while (name > l->key && name[-1] != '/')
                name--;
            name = strcmp(name, "timelake-head") == 0 ? "head" : strcmp(name, "version-hint.text") == 0 ? "hint"
                : strncmp(name, "snap-", 5) == 0 ? "list-file" : strstr(name, "-m.avro") != NULL ? "manifest" : name;
            dot = strchr(name, '.');
            snprintf(item, sizeof item, "%u %s %.*s %s", l->round, tl_request_text(l->kind),
                     (int)(dot != NULL ? dot - name : 40), name, tl_outcome_text(l->result));
        }
        if (i > 0 && strcmp(item, last) == 0) {
            times++;
            continue;
        }
        if (times > 1)
            n += (size_t)snprintf(text + n, sizeof text - n, " x%u", times);
        times = 1;
        if (item[0] != 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n == 0 ? "" : ", ", item);
        memcpy(last, item, sizeof last);
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


/* ---- changing the table between loads ---- */

static void put_text(world *w, const char *name, const char *text)
{
    tl_mem_put(&w->store, warehouse_key(w->location, name), text, strlen(text));
}

static void take_away(world *w, const char *name)
{
    CHECK(tl_mem_delete(&w->store, warehouse_key(w->location, name)));
}

/* Version `from` as it would be if it were version `to`, too. */
static void copy_version(world *w, int from, int to)
{
    char name[64];
    const tl_mem_object *o;
    char *copy;
    size_t size;
    snprintf(name, sizeof name, "v%d.metadata.json", from);
    o = tl_mem_get(&w->store, warehouse_key(w->location, name));
    CHECK(o != NULL);
    if (o == NULL)
        return;
    size = o->size;
    copy = (char *)malloc(size);
    memcpy(copy, o->data, size);
    snprintf(name, sizeof name, "v%d.metadata.json", to);
    tl_mem_put(&w->store, warehouse_key(w->location, name), copy, size);
    free(copy);
}

/* A load from begin to end of which only the log and the version count. */
static uint64_t loaded(world *w, const tl_load_options *options)
{
    uint64_t version = 0;
    if (load(w, options) == TL_OK)
        version = w->load.table->version;
    else
        fprintf(stderr, "  %s: %s: %s\n", tl_test_name, tl_status_text(w->status), tl_op_error(&w->load.op)->text);
    end(w);
    return version;
}

#define CHAIN_TRUCKS "2 GET v7 ok, 2 STAT v8 not_found, 3 GET list-file ok, 4 GET manifest ok x6"
#define CHAIN_STALE "2 GET v6 ok, 2 STAT v7 not_found, 3 GET list-file ok, 4 GET manifest ok x5"

/* ---- cold ---- */

static void cold_without_a_head(void)
{
    world w;
    tl_load_options o;
    open_world(&w, "iot.trucks", NULL, NULL);
    memset(&o, 0, sizeof o);
    o.no_head = 1;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_SAID(&w, "1 LIST v ok, " CHAIN_TRUCKS);
    CHECK_INT(tl_op_round_trips(&w.load.op), 4);
    CHECK_INT(w.load.why_no_head.status, TL_OK);
    end(&w);
    tl_lake_forget(&w.lake, w.location);
    o.no_files = 1;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_SAID(&w, "1 LIST v ok, 2 GET v7 ok, 2 STAT v8 not_found");
    CHECK_INT(tl_op_round_trips(&w.load.op), 2);
    CHECK_INT(w.load.table->has_files, 0);
    end(&w);
    /* now it is known without its files: who wants them gets them */
    o.no_files = 0;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_SAID(&w, "1 LIST v ok, " CHAIN_TRUCKS);
    CHECK_INT(w.load.table->has_files, 1);
    end(&w);
    tl_lake_forget(&w.lake, w.location);
    take_away(&w, "timelake-head");
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head not_found, 1 LIST v ok, " CHAIN_TRUCKS);
    CHECK_INT(w.load.why_no_head.status, TL_ABSENT);
    end(&w);
    close_world(&w);
}

static void cold_with_the_hint(void)
{
    int https;
    for (https = 0; https < 2; https++) {
        world w;
        tl_lake_options lo;
        tl_load_options o;
        memset(&lo, 0, sizeof lo);
        memset(&o, 0, sizeof o);
        lo.lookup_hint = (uint8_t)!https;
        lo.store = https ? TL_STORE_HTTPS : TL_STORE_LISTS;
        open_world(&w, "iot.trucks", NULL, &lo);
        CHECK_INT(load(&w, NULL), TL_OK);
        CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 STAT v8 not_found, 2 STAT v7 ok");
        CHECK_INT(tl_op_round_trips(&w.load.op), 2);
        CHECK_INT(w.load.table->source, TL_FROM_HEAD);
        end(&w);
        tl_lake_forget(&w.lake, w.location);
        o.no_head = 1;
        CHECK_INT(load(&w, &o), TL_OK);
        CHECK_SAID(&w, "1 GET hint ok, " CHAIN_TRUCKS);
        end(&w);
        /* hint behind the head: the check settles it. Hint behind, no head: followed upwards */
        tl_lake_forget(&w.lake, w.location);
        put_text(&w, "version-hint.text", "6");
        CHECK_INT(loaded(&w, NULL), 7);
        CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 STAT v8 not_found, 2 STAT v7 ok");
        tl_lake_forget(&w.lake, w.location);
        CHECK_INT(loaded(&w, &o), 7);
        CHECK_SAID(&w, "1 GET hint ok, 2 GET v6 ok, 2 STAT v7 ok, 3 GET v7 ok, 3 STAT v8 not_found, "
                       "4 GET list-file ok, 5 GET manifest ok x6");
        /* no hint: the head will do; garbage in it too */
        tl_lake_forget(&w.lake, w.location);
        take_away(&w, "version-hint.text");
        CHECK_INT(loaded(&w, NULL), 7);
        CHECK_SAID(&w, "1 GET head ok, 1 GET hint not_found, 2 STAT v8 not_found, 2 STAT v7 ok");
        tl_lake_forget(&w.lake, w.location);
        put_text(&w, "version-hint.text", "seven");
        CHECK_INT(loaded(&w, NULL), 7);
        tl_lake_forget(&w.lake, w.location);
        CHECK_INT(load(&w, &o), TL_CORRUPT); /* garbage and no head: not "no such table" */
        CHECK_INT(w.load.op.turn, TL_FAILED);
        end(&w);
        close_world(&w);
    }
}

static void hint_ahead(void)
{
    int https;
    for (https = 0; https < 2; https++) {
        world w;
        tl_lake_options lo;
        tl_load_options o;
        memset(&lo, 0, sizeof lo);
        memset(&o, 0, sizeof o);
        lo.lookup_hint = (uint8_t)!https;
        lo.store = https ? TL_STORE_HTTPS : TL_STORE_LISTS;
        open_world(&w, "iot.trucks", NULL, &lo);
        put_text(&w, "version-hint.text", "9");
        CHECK_INT(loaded(&w, NULL), 7);
        if (https)
            CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 GET v9 not_found, 2 STAT v10 not_found, "
                           "3 GET head ok, 3 GET hint ok, 4 STAT v8 not_found, 4 STAT v7 ok");
        else
            CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 GET v9 not_found, 2 STAT v10 not_found, "
                           "3 GET head ok, 3 LIST v ok");
        tl_lake_forget(&w.lake, w.location);
        o.no_head = 1;
        if (https) { /* nothing else tells where the table is: it is not "absent" */
            CHECK_INT(load(&w, &o), TL_CORRUPT);
            CHECK_INT(w.load.op.turn, TL_FAILED);
            end(&w);
        } else
            CHECK_INT(loaded(&w, &o), 7);
        close_world(&w);
    }
}

static void no_such_table(void)
{
    world w;
    tl_lake_options lo;
    memset(&lo, 0, sizeof lo);
    open_world(&w, "iot.trucks", NULL, NULL);
    w.location = tl_text("s3://demo-lake/wh/iot/truck");
    CHECK_INT(load(&w, NULL), TL_ABSENT);
    CHECK_INT(w.load.op.turn, TL_NONE);
    CHECK_SAID(&w, "1 GET head not_found, 1 LIST v ok");
    end(&w);
    close_world(&w);
    lo.store = TL_STORE_HTTPS;
    open_world(&w, "iot.trucks", NULL, &lo);
    w.location = tl_text("s3://demo-lake/wh/iot/truck");
    CHECK_INT(load(&w, NULL), TL_ABSENT);
    CHECK_INT(w.load.op.turn, TL_NONE);
    CHECK_SAID(&w, "1 GET head not_found, 1 GET hint not_found");
    end(&w);
    close_world(&w);
    /* a head without any version is no table */
    open_world(&w, "iot.created", NULL, NULL);
    take_away(&w, "v1.metadata.json");
    CHECK_INT(load(&w, NULL), TL_ABSENT);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok");
    end(&w);
    close_world(&w);
}

/* ---- heads that are no use ---- */

static void stale_head(void)
{
    world w;
    tl_lake_options lo;
    open_world(&w, "iot.stale", NULL, NULL);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_INT(w.load.table->version, 6);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok, " CHAIN_STALE);
    CHECK_INT(w.load.why_no_head.status, TL_ABSENT);
    CHECK_TEXT(w.load.why_no_head.text, strlen(w.load.why_no_head.text), "the head is behind the newest version");
    end(&w);
    close_world(&w);
    memset(&lo, 0, sizeof lo);
    lo.store = TL_STORE_HTTPS;
    open_world(&w, "iot.stale", NULL, &lo);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 GET v5 ok, 2 STAT v6 ok, 3 GET v6 ok, 3 STAT v7 not_found, "
                   "4 GET list-file ok, 5 GET manifest ok x5");
    CHECK_INT(w.load.why_no_head.status, TL_ABSENT);
    end(&w);
    /* the hint is no newer than the head: the check finds v5 */
    tl_lake_forget(&w.lake, w.location);
    put_text(&w, "version-hint.text", "4");
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 STAT v5 ok, 2 STAT v4 ok, 3 GET v5 ok, 3 STAT v6 ok, "
                   "4 GET v6 ok, 4 STAT v7 not_found, 5 GET list-file ok, 6 GET manifest ok x5");
    CHECK_INT(w.load.table->version, 6);
    CHECK_INT(w.load.why_no_head.status, TL_ABSENT);
    end(&w);
    close_world(&w);
}

static void unknown_codec(void)
{
    world w;
    open_world(&w, "iot.unknown_codec", NULL, NULL);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_INT(w.load.table->version, 3);
    CHECK_INT(w.load.table->source, TL_FROM_CHAIN);
    CHECK_INT(w.load.why_no_head.status, TL_NO_CODEC);
    end(&w);
    close_world(&w);
}

/* The head of iot.trucks_json with `from` replaced by `to`: why is it not used? */
static void head_with(const char *from, const char *to, tl_status why)
{
    world w;
    const tl_mem_object *o;
    size_t at, n = strlen(from);
    open_world(&w, "iot.trucks_json", NULL, NULL);
    o = tl_mem_get(&w.store, warehouse_key(w.location, "timelake-head"));
    CHECK(o != NULL && strlen(to) == n);
    for (at = 0; o != NULL && at + n <= o->size; at++)
        if (memcmp(o->data + at, from, n) == 0) {
            memcpy(o->data + at, to, n);
            n += o->size;
        }
    CHECK(n > strlen(from));
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_INT(w.load.table->source, TL_FROM_CHAIN);
    if (CHECK_INT(w.load.why_no_head.status, why) && why == TL_CORRUPT)
        CHECK(w.load.why_no_head.text != NULL);
    end(&w);
    close_world(&w);
}

static void broken_heads(void)
{
    size_t cut;
    head_with("\"layout\":\"1\"", "\"layout\":\"2\"", TL_LAYOUT);
    head_with("\"layout\":\"1\"", "\"layout\";\"1\"", TL_CORRUPT);
    head_with("TLHD", "TLHE", TL_NOT_A_HEAD);
    head_with("/wh/iot/trucks_json\\\"", "/wh/iot/trucks_jsox\\\"", TL_CORRUPT);
    for (cut = 0; cut < 11000; cut = cut < 40 ? cut + 1 : cut + 401) {
        world w;
        const tl_mem_object *o;
        char *copy;
        open_world(&w, "iot.trucks", NULL, NULL);
        o = tl_mem_get(&w.store, warehouse_key(w.location, "timelake-head"));
        copy = (char *)malloc(cut + 1);
        memcpy(copy, o->data, cut);
        tl_mem_put(&w.store, warehouse_key(w.location, "timelake-head"), copy, cut);
        free(copy);
        CHECK_INT(load(&w, NULL), TL_OK);
        CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok, " CHAIN_TRUCKS);
        CHECK(w.load.why_no_head.status != TL_OK && w.load.why_no_head.text != NULL);
        if (cut > 100)
            CHECK(w.load.why_no_head.position != TL_NO_POSITION && w.load.why_no_head.position <= cut);
        end(&w);
        close_world(&w);
    }
}

/* The header says another version than the metadata within. */
static void head_of_another_version(void)
{
    static const uint64_t versions[] = {8, 9, 1000, UINT64_MAX, UINT64_MAX - 1, 0, 6};
    size_t i, k;
    for (i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        world w;
        const tl_mem_object *o;
        open_world(&w, "iot.trucks", NULL, NULL);
        o = tl_mem_get(&w.store, warehouse_key(w.location, "timelake-head"));
        for (k = 0; k < 8; k++)
            o->data[5 + k] = (uint8_t)(versions[i] >> (8 * k));
        CHECK_INT(load(&w, NULL), TL_OK);
        CHECK_INT(w.load.table->version, 7);
        CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok, " CHAIN_TRUCKS);
        CHECK_INT(w.load.why_no_head.status, versions[i] == 6 ? TL_ABSENT : TL_CORRUPT);
        end(&w);
        close_world(&w);
    }
}

/* ---- warm ---- */

static void warm_checks(void)
{
    world w;
    tl_load_options o;
    memset(&o, 0, sizeof o);
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(loaded(&w, NULL), 7);
    o.max_age_ms = 60000; /* the session's value is not the table's */
    w.store.now += 59999;
    CHECK_INT(loaded(&w, &o), 7);
    CHECK_SAID(&w, "");
    o.max_age_ms = 10;
    CHECK_INT(loaded(&w, &o), 7);
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 ok");
    CHECK_INT(loaded(&w, &o), 7);
    CHECK_SAID(&w, "");
    o.max_age_ms = -1;
    CHECK_INT(loaded(&w, &o), 7);
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 ok");
    w.store.now -= 100; /* the clock was set back: nothing is taken on trust */
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 ok");
    /* one pointer per version */
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK(w.load.table == w.lake.entries[0].table);
    end(&w);
    /* another engine commits without writing a head */
    copy_version(&w, 7, 8);
    w.store.now += 2000;
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_INT(w.load.table->version, 8);
    CHECK_SAID(&w, "1 STAT v8 ok, 1 STAT v7 ok, 2 GET head ok, 2 LIST v ok, 3 GET v8 ok, 3 STAT v9 not_found, "
                   "4 GET list-file ok, 5 GET manifest ok x6");
    CHECK_INT(w.load.why_no_head.status, TL_ABSENT);
    end(&w);
    /* v9 came and was expired, v8 too */
    copy_version(&w, 8, 10);
    take_away(&w, "v8.metadata.json");
    w.store.now += 2000;
    CHECK_INT(loaded(&w, NULL), 10);
    CHECK_SAID(&w, "1 STAT v9 not_found, 1 STAT v8 not_found, 2 GET head ok, 2 LIST v ok, 3 GET v10 ok, "
                   "3 STAT v11 not_found, 4 GET list-file ok, 5 GET manifest ok x6");
    /* v11 there, v10 gone */
    copy_version(&w, 10, 11);
    take_away(&w, "v10.metadata.json");
    w.store.now += 2000;
    CHECK_INT(loaded(&w, NULL), 11);
    close_world(&w);
}

static void warm_options(void)
{
    world w;
    tl_lake_options lo;
    memset(&lo, 0, sizeof lo);
    lo.freshness_list = 1;
    open_world(&w, "iot.trucks", NULL, &lo);
    CHECK_INT(loaded(&w, NULL), 7);
    w.store.now += 2000;
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 LIST v8 ok, 1 LIST v7 ok");
    copy_version(&w, 7, 8);
    w.store.now += 2000;
    CHECK_INT(loaded(&w, NULL), 8);
    CHECK_SAID(&w, "1 LIST v8 ok, 1 LIST v7 ok, 2 GET head ok, 2 LIST v ok, 3 GET v8 ok, 3 LIST v9 ok, "
                   "4 GET list-file ok, 5 GET manifest ok x6");
    close_world(&w);
    memset(&lo, 0, sizeof lo);
    lo.next_only = 1;
    open_world(&w, "iot.trucks", NULL, &lo);
    CHECK_INT(loaded(&w, NULL), 7);
    w.store.now += 2000;
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 STAT v8 not_found");
    close_world(&w);
    memset(&lo, 0, sizeof lo);
    lo.warm_connections = 3;
    open_world(&w, "iot.trucks", NULL, &lo);
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 STAT hint ok x3, 1 GET head ok, 1 LIST v ok");
    close_world(&w);
}

/* A version loaded by its number neither reads nor changes what the lake knows. */
static void exact_version(void)
{
    world w;
    tl_load_options o;
    memset(&o, 0, sizeof o);
    open_world(&w, "iot.trucks", NULL, NULL);
    o.version = 3;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_INT(w.load.table->version, 3);
    CHECK_SAID(&w, "1 GET v3 ok, 2 GET list-file ok, 3 GET manifest ok x2");
    end(&w);
    CHECK_INT(w.lake.count, 0);
    o.version = 8;
    CHECK_INT(load(&w, &o), TL_ABSENT);
    CHECK_INT(w.load.op.turn, TL_NONE);
    CHECK_SAID(&w, "1 GET v8 not_found");
    end(&w);
    close_world(&w);
}

/* ---- listings ---- */

static void listing_of_pages(void)
{
    world w;
    tl_mem_options mo;
    memset(&mo, 0, sizeof mo);
    mo.page_keys = 3;
    open_world(&w, "iot.trucks", &mo, NULL);
    CHECK_INT(loaded(&w, NULL), 7); /* the hint stands in for the rest of the listing */
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok, 2 GET hint ok, 3 STAT v8 not_found, 3 STAT v7 ok");
    tl_lake_forget(&w.lake, w.location);
    take_away(&w, "timelake-head");
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 GET head not_found, 1 LIST v ok, 2 GET hint ok, 3 GET v7 ok, 3 STAT v8 not_found, "
                   "4 GET list-file ok, 5 GET manifest ok x6");
    tl_lake_forget(&w.lake, w.location);
    take_away(&w, "version-hint.text");
    CHECK_INT(loaded(&w, NULL), 7); /* neither head nor hint: page by page */
    CHECK_SAID(&w, "1 GET head not_found, 1 LIST v ok, 2 GET hint not_found, 3 LIST v ok, 4 LIST v ok, "
                   "5 GET v7 ok, 5 STAT v8 not_found, 6 GET list-file ok, 7 GET manifest ok x6");
    tl_lake_forget(&w.lake, w.location);
    put_text(&w, "version-hint.text", "12"); /* a hint that leads nowhere */
    CHECK_INT(loaded(&w, NULL), 7);
    close_world(&w);
    mo.page_keys = 0;
    mo.no_list = 1; /* the adapter finds out only now that its store does not list */
    open_world(&w, "iot.trucks", &mo, NULL);
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v unsupported, 2 GET hint ok, 3 STAT v8 not_found, 3 STAT v7 ok");
    tl_lake_forget(&w.lake, w.location);
    put_text(&w, "version-hint.text", "12");
    CHECK_INT(loaded(&w, NULL), 7);
    tl_lake_forget(&w.lake, w.location);
    take_away(&w, "timelake-head");
    CHECK_INT(load(&w, NULL), TL_CORRUPT); /* a hint that leads nowhere is not "no such table" */
    end(&w);
    close_world(&w);
}

/* Metadata of version `version` with another uuid: what a table that was dropped and made anew has. */
static void other_uuid(world *w, int version)
{
    char name[64], *at;
    const tl_mem_object *o;
    snprintf(name, sizeof name, "v%d.metadata.json", version);
    o = tl_mem_get(&w->store, warehouse_key(w->location, name));
    at = o == NULL ? NULL : strstr((char *)(void *)o->data, "\"table-uuid\":\"");
    CHECK(at != NULL);
    if (at != NULL)
        at[14] = at[14] == '0' ? '1' : '0';
}

/* A listing that is behind does not take a lake back; a table made anew at the place does. */
static void never_back(void)
{
    world w;
    tl_table *seven;
    tl_load_options o;
    memset(&o, 0, sizeof o);
    o.no_head = 1;
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(loaded(&w, &o), 7);
    CHECK_INT(load(&w, &o), TL_OK);
    seven = tl_table_keep(w.load.table);
    end(&w);
    take_away(&w, "v7.metadata.json");
    w.store.now += 5000;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 not_found, 2 LIST v ok, 3 GET v6 ok, 3 STAT v7 not_found, "
                   "4 GET list-file ok, 5 GET manifest ok x5");
    CHECK(w.load.table == seven);
    CHECK(w.load.unchecked == 0);
    end(&w);
    other_uuid(&w, 6);
    w.store.now += 5000;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_INT(w.load.table->version, 6);
    end(&w);
    CHECK_INT(seven->version, 7); /* who holds a version keeps it */
    tl_table_drop(seven);
    close_world(&w);
}

/* Known by its metadata alone, then listed behind: who wants files gets them. */
static void never_without_files(void)
{
    world w;
    tl_load_options o;
    memset(&o, 0, sizeof o);
    o.no_head = o.no_files = 1;
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(loaded(&w, &o), 7);
    take_away(&w, "v7.metadata.json");
    o.no_files = 0;
    if (load(&w, &o) == TL_OK)
        CHECK_INT(w.load.table->has_files, 1);
    else
        CHECK_INT(w.load.op.turn, TL_FAILED);
    end(&w);
    close_world(&w);
}

/* ---- deferred checks ---- */

static void deferred(void)
{
    world w;
    tl_lake_options lo;
    tl_load_options o;
    tl_table *first;
    memset(&lo, 0, sizeof lo);
    memset(&o, 0, sizeof o);
    lo.store = TL_STORE_HTTPS;
    o.defer = 1;
    open_world(&w, "iot.trucks", NULL, &lo);
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok");
    CHECK_INT(tl_op_round_trips(&w.load.op), 1);
    CHECK_INT(w.load.unchecked, 1);
    first = tl_table_keep(w.load.table);
    end(&w);
    CHECK_INT(load(&w, NULL), TL_OK); /* the check beside the data reads: nothing changed */
    CHECK_SAID(&w, "1 STAT v8 not_found, 1 STAT v7 ok");
    CHECK(w.load.table == first && w.load.unchecked == 0);
    end(&w);
    w.store.now += 5000;
    CHECK_INT(load(&w, &o), TL_OK); /* warm and past the interval: usable, unchecked */
    CHECK_SAID(&w, "");
    CHECK_INT(w.load.unchecked, 1);
    end(&w);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK(w.load.table == first);
    end(&w);
    CHECK_INT(load(&w, &o), TL_OK); /* within the interval there is nothing to defer */
    CHECK_INT(w.load.unchecked, 0);
    end(&w);
    tl_table_drop(first);
    close_world(&w);
    /* the head was stale: the second load brings another table, the scan is planned anew */
    open_world(&w, "iot.stale", NULL, &lo);
    put_text(&w, "version-hint.text", "4");
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_INT(w.load.table->version, 4);
    CHECK_INT(w.load.unchecked, 1);
    first = tl_table_keep(w.load.table);
    end(&w);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 STAT v5 ok, 1 STAT v4 ok, 2 GET v5 ok, 2 STAT v6 ok, 3 GET v6 ok, 3 STAT v7 not_found, "
                   "4 GET list-file ok, 5 GET manifest ok x5");
    CHECK(w.load.table != first && w.load.table->version == 6 && w.load.unchecked == 0);
    end(&w);
    tl_table_drop(first);
    close_world(&w);
    /* where a listing settles it nothing is deferred */
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_INT(w.load.unchecked, 0);
    end(&w);
    close_world(&w);
    /* the known limit of plain HTTPS: v5 was expired, v4 too: the old head is not trusted */
    open_world(&w, "iot.stale", NULL, &lo);
    put_text(&w, "version-hint.text", "4");
    take_away(&w, "v4.metadata.json");
    take_away(&w, "v5.metadata.json");
    CHECK_INT(load(&w, NULL), TL_CORRUPT);
    CHECK_INT(w.load.op.turn, TL_FAILED);
    CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 STAT v5 not_found, 2 STAT v4 not_found, "
                   "3 GET head ok, 3 GET hint ok");
    end(&w);
    close_world(&w);
}

/* Head and hint lag so far behind that all they name has expired: a store that lists is listed, once. */
static void expired_head_and_hint(void)
{
    world w;
    tl_lake_options lo;
    memset(&lo, 0, sizeof lo);
    lo.lookup_hint = 1;
    open_world(&w, "iot.stale", NULL, &lo);
    put_text(&w, "version-hint.text", "4");
    take_away(&w, "v4.metadata.json");
    take_away(&w, "v5.metadata.json");
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 GET hint ok, 2 STAT v5 not_found, 2 STAT v4 not_found, "
                   "3 GET head ok, 3 LIST v ok, 4 GET v6 ok, 4 STAT v7 not_found, 5 GET list-file ok, "
                   "6 GET manifest ok x5");
    CHECK_INT(w.load.table->version, 6);
    CHECK_INT(w.load.why_no_head.status, TL_ABSENT);
    end(&w);
    close_world(&w);
}

/* Answers the first request for `context` purpose with "not found": the version was expired while it was read. */
static tl_mem_fault once_gone(void *context, const tl_request *request, uint32_t n, uint32_t nth)
{
    tl_mem_fault f;
    tl_purpose *purpose = (tl_purpose *)context;
    (void)n;
    (void)nth;
    memset(&f, 0, sizeof f);
    if (request->purpose != *purpose)
        return f;
    *purpose = TL_PURPOSE_OTHER;
    f.effect = TL_MEM_ANSWER;
    f.outcome = TL_OUTCOME_NOT_FOUND;
    f.retry_ms = -1;
    return f;
}

static void expired_while_read(void)
{
    world w;
    tl_mem_options mo;
    tl_load_options o;
    tl_purpose purpose = TL_PURPOSE_MANIFEST_LIST;
    size_t i;
    memset(&mo, 0, sizeof mo);
    memset(&o, 0, sizeof o);
    mo.fault = once_gone;
    mo.context = &purpose;
    o.no_head = 1;
    open_world(&w, "iot.stale", &mo, NULL);
    CHECK_INT(loaded(&w, &o), 6);
    CHECK_SAID(&w, "1 LIST v ok, 2 GET v6 ok, 2 STAT v7 not_found, 3 GET list-file not_found, "
                   "4 LIST v ok, 5 GET v6 ok, 5 STAT v7 not_found, 6 GET list-file ok, 7 GET manifest ok x5");
    tl_lake_forget(&w.lake, w.location);
    purpose = TL_PURPOSE_MANIFEST;
    CHECK_INT(loaded(&w, &o), 6);
    tl_lake_forget(&w.lake, w.location);
    for (i = w.store.count; i > 0; i--) { /* gone for good: the newest version is corrupt, an old one has expired */
        tl_span key = tli_text_span(w.store.objects[i - 1].key, w.store.objects[i - 1].key_size);
        if (strstr(key.data, "/snap-") != NULL)
            CHECK(tl_mem_delete(&w.store, key));
    }
    CHECK_INT(load(&w, &o), TL_CORRUPT);
    CHECK_TEXT(tl_op_error(&w.load.op)->text, strlen(tl_op_error(&w.load.op)->text), "the manifest list is not there");
    end(&w);
    o.version = 5;
    CHECK_INT(load(&w, &o), TL_ABSENT);
    CHECK_INT(w.load.op.turn, TL_FAILED);
    CHECK(strstr(tl_op_error(&w.load.op)->text, "expired") != NULL && tl_op_error_key(&w.load.op).data != NULL);
    CHECK_SAID(&w, "1 GET v5 ok, 2 GET list-file not_found");
    end(&w);
    o.no_files = 1; /* what is left of it can still be read */
    CHECK_INT(loaded(&w, &o), 5);
    close_world(&w);
}

/* ---- the lake ---- */

static void budget(void)
{
    world w;
    tl_lake_options lo;
    tl_span trucks;
    tl_table *held;
    static char copy[256];
    memset(&lo, 0, sizeof lo);
    lo.memory = 1;
    open_world(&w, "iot.trucks", NULL, &lo);
    memcpy(copy, w.location.data, w.location.size);
    trucks = tl_text(copy);
    CHECK_INT(load(&w, NULL), TL_OK);
    held = tl_table_keep(w.load.table);
    end(&w);
    CHECK_INT(loaded(&w, NULL), 7); /* too large alone: kept all the same */
    CHECK_SAID(&w, "");
    w.location = warehouse_put(&w.store, "iot.stale");
    CHECK_INT(loaded(&w, NULL), 6);
    CHECK_INT(loaded(&w, NULL), 6);
    CHECK_SAID(&w, "");
    w.location = trucks;
    CHECK_INT(loaded(&w, NULL), 7); /* the other one's place was taken */
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok");
    CHECK_INT(held->version, 7);
    tl_table_drop(held);
    close_world(&w);
}

/* The newest row per series comes with the head, and only with it; plans hand out the head's footers, each with the
   file whose it is. */
static void what_a_head_holds(void)
{
    world w;
    struct ArrowSchema schema;
    struct ArrowArray array;
    tl_error err;
    tl_plan plan;
    tl_plan_options po;
    tl_footers footers;
    tl_footer footer;
    tl_load_options o;
    size_t i, k, with = 0;
    memset(&o, 0, sizeof o);
    memset(&po, 0, sizeof po);
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(load(&w, NULL), TL_OK);
    if (CHECK_STATUS(tl_table_last_values(w.load.table, 0, &schema, &array, &err), TL_OK, &err)) {
        CHECK_INT(array.length, 10); /* as many as the rows of the index file that the snapshot names */
        CHECK_INT(tl_schema_find(&schema, tl_text("time")), 0);
        array.release(&array);
        schema.release(&schema);
    }
    CHECK_INT(tl_head_footers(&w.load.table->head, &footers, &err), TL_OK);
    CHECK(footers.count > 0);
    CHECK_INT(tl_plan_scan(&plan, w.load.table, NULL, NULL, &err), TL_OK);
    for (i = 0; i < plan.count; i++)
        for (k = 0; k < footers.count; k++) {
            tl_footers_get(&footers, k, &footer);
            if (!tl_span_equal(footer.path, plan.file[i].file.path))
                continue;
            CHECK(tl_span_equal(footer.footer, plan.file[i].footer) && footer.footer.size > 12);
            with++;
        }
    CHECK_INT(with, footers.count); /* each footer once; files without one have none */
    for (i = 0, k = 0; i < plan.count; i++)
        k += plan.file[i].footer.data != NULL;
    CHECK_INT(k, footers.count);
    tl_plan_free(&plan);
    po.no_footers = 1;
    CHECK_INT(tl_plan_scan(&plan, w.load.table, NULL, &po, &err), TL_OK);
    for (i = 0; i < plan.count; i++)
        CHECK(plan.file[i].footer.data == NULL);
    tl_plan_free(&plan);
    end(&w);
    tl_lake_forget(&w.lake, w.location);
    o.no_head = 1;
    CHECK_INT(load(&w, &o), TL_OK);
    CHECK_INT(tl_table_last_values(w.load.table, 0, &schema, &array, &err), TL_ABSENT);
    end(&w);
    close_world(&w);
    open_world(&w, "dim.devices", NULL, NULL); /* has no index */
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_INT(tl_table_last_values(w.load.table, 0, &schema, &array, &err), TL_ABSENT);
    end(&w);
    close_world(&w);
}

/* A warm load allocates nothing, whether it asks or not; nor does one whose answers bring ETags and are released. */
static void warm_without_memory(void)
{
    world w;
    tl_load_options o;
    long before;
    int i;
    memset(&o, 0, sizeof o);
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(loaded(&w, NULL), 7);
    before = w.memory.calls;
    for (i = 0; i < 3; i++) {
        CHECK_INT(loaded(&w, &o), 7);
        CHECK_SAID(&w, i == 0 ? "" : "1 STAT v8 not_found, 1 STAT v7 ok");
        o.max_age_ms = -1;
    }
    CHECK_INT(w.memory.calls - before, 0);
    close_world(&w);
}

/* Also after a version that came from no head was barred: that one is only forgotten. */
static void barred_head(void)
{
    world w;
    tl_load_options o;
    memset(&o, 0, sizeof o);
    o.version = 6;
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(load(&w, NULL), TL_OK);
    tl_lake_bar(&w.lake, w.load.table);
    end(&w);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok, " CHAIN_TRUCKS);
    CHECK_INT(w.load.table->source, TL_FROM_CHAIN);
    CHECK_INT(w.load.why_no_head.status, TL_CORRUPT);
    end(&w);
    CHECK_INT(load(&w, &o), TL_OK);
    tl_lake_bar(&w.lake, w.load.table);
    end(&w);
    tl_lake_forget(&w.lake, w.location);
    CHECK_INT(load(&w, NULL), TL_OK);
    CHECK_INT(w.load.table->source, TL_FROM_CHAIN);
    end(&w);
    close_world(&w);
}

/* A slash at the end of a location is the same table. */
static void locations(void)
{
    world w;
    char with[256];
    open_world(&w, "iot.trucks", NULL, NULL);
    CHECK_INT(loaded(&w, NULL), 7);
    snprintf(with, sizeof with, "%.*s//", (int)w.location.size, w.location.data);
    w.location = tl_text(with);
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "");
    tl_lake_forget(&w.lake, w.location);
    CHECK_INT(loaded(&w, NULL), 7);
    CHECK_SAID(&w, "1 GET head ok, 1 LIST v ok");
    close_world(&w);
}

/* ---- what a table holds, against what the committing Timelake process knew ---- */

static int64_t int_of(const tl_json *t, const tl_json_node *object, const char *name, int64_t absent)
{
    int64_t v = absent;
    const tl_json_node *node = tl_json_member(t, object, tl_text(name));
    if (tl_json_present(node))
        CHECK_INT(tl_json_int64(t, node, &v, NULL), TL_OK);
    return v;
}

/* A statistic of the expected file: map `name`, key `id`; NULL when it is not there. */
static const tl_json_node *stat_of(const tl_json *t, const tl_json_node *file, const char *name, int32_t id)
{
    char key[16];
    snprintf(key, sizeof key, "%d", (int)id);
    return tl_json_member(t, tl_json_member(t, file, tl_text(name)), tl_text(key));
}

static void check_count(const tl_json *t, const tl_json_node *file, const char *name, const tl_column *c, uint64_t got,
                        int has)
{
    const tl_json_node *want = stat_of(t, file, name, c->field_id);
    int64_t n = 0;
    CHECK_INT(has, tl_json_present(want));
    if (tl_json_present(want) && tl_json_int64(t, want, &n, NULL) == TL_OK)
        CHECK_INT(got, n);
}

static void check_bound(const tl_json *t, const tl_json_node *file, const char *name, const tl_column *c, tl_span got)
{
    const tl_json_node *want = stat_of(t, file, name, c->field_id);
    tl_span hex = {NULL, 0};
    static char text[4096];
    CHECK_INT(got.data != NULL, tl_json_present(want));
    if (!tl_json_present(want) || got.data == NULL)
        return;
    (void)tl_json_string(t, want, &hex, NULL);
    CHECK(got.size < sizeof text / 2);
    tli_number_hex(text, got.data, got.size);
    CHECK(hex.size == got.size * 2 && memcmp(hex.data, text, hex.size) == 0);
}

static size_t map_sizes(const tl_json *t, const tl_json_node *file)
{
    static const char *const maps[] = {"column_sizes", "value_counts", "null_counts", "nan_counts", "lower_bounds",
                                       "upper_bounds"};
    size_t i, n = 0;
    for (i = 0; i < 6; i++) {
        const tl_json_node *map = tl_json_member(t, file, tl_text(maps[i]));
        n += map == NULL ? 0 : map->count;
    }
    return n;
}

static void check_columns(const tl_json *t, const tl_json_node *want, const tl_columns *columns, size_t row)
{
    size_t i, values = 0;
    for (i = 0; i < columns->count; i++) {
        tl_column c;
        tl_columns_get(columns, i, &c);
        if (c.file != row)
            continue;
        check_count(t, want, "column_sizes", &c, c.size, c.has_size);
        check_count(t, want, "value_counts", &c, c.values, c.has_values);
        check_count(t, want, "null_counts", &c, c.nulls, c.has_nulls);
        check_count(t, want, "nan_counts", &c, c.nans, c.has_nans);
        check_bound(t, want, "lower_bounds", &c, c.lower);
        check_bound(t, want, "upper_bounds", &c, c.upper);
        values += (size_t)(c.has_size + c.has_values + c.has_nulls + c.has_nans + (c.lower.data != NULL)
                           + (c.upper.data != NULL));
    }
    CHECK_INT(values, map_sizes(t, want));
}

static void check_splits(const tl_json *t, const tl_json_node *want, const tl_file *f)
{
    const tl_json_node *list = tl_json_member(t, want, tl_text("split_offsets")), *k;
    size_t i = 0;
    CHECK_INT(f->has_split_offsets, tl_json_present(list));
    if (!tl_json_present(list))
        return;
    CHECK_INT(f->split_count, list->count);
    for (k = tl_json_first(list); k != NULL && i < f->split_count; k = tl_json_next(list, k)) {
        int64_t v = 0;
        (void)tl_json_int64(t, k, &v, NULL);
        CHECK_INT(tl_file_split_offset(f, i++), v);
    }
}

static void check_file(const tl_json *t, const tl_json_node *want, const tl_files *files, const tl_columns *columns,
                       int with_status)
{
    tl_span path = {NULL, 0}, status = {NULL, 0};
    size_t i;
    tl_file f;
    (void)tl_json_string(t, tl_json_member(t, want, tl_text("path")), &path, NULL);
    (void)tl_json_string(t, tl_json_member(t, want, tl_text("status")), &status, NULL);
    for (i = 0; i < files->count; i++) {
        tl_files_get(files, i, &f);
        if (tl_span_equal(f.path, path))
            break;
    }
    if (!CHECK_INT(i < files->count, 1))
        return;
    CHECK_INT(f.size, int_of(t, want, "size", -1));
    CHECK_INT(f.records, int_of(t, want, "records", -1));
    CHECK_INT(f.has_partition ? f.partition : -99, int_of(t, want, "partition", -99));
    CHECK_INT(f.has_sort_order_id ? f.sort_order_id : -99, int_of(t, want, "sort_order_id", -99));
    CHECK_INT(f.snapshot_id, int_of(t, want, "snapshot_id", -1));
    CHECK_INT(f.sequence_number, int_of(t, want, "sequence_number", -1));
    CHECK_INT(f.file_sequence_number, int_of(t, want, "file_sequence_number", -1));
    if (with_status)
        CHECK_INT(f.added, tl_span_equal(status, tl_text("Added")));
    check_splits(t, want, &f);
    check_columns(t, want, columns, i);
}

static void check_table(tl_table *table, const char *name, int with_status)
{
    char path[256];
    size_t size;
    char *text;
    tl_json t;
    tl_error err;
    tl_files files;
    tl_columns columns;
    const tl_json_node *list, *k;
    snprintf(path, sizeof path, "tests/data/expected/%s.json", name);
    text = tl_test_read(path, &size);
    CHECK(text != NULL);
    if (text == NULL || !CHECK_STATUS(tl_json_parse(&t, text, size, NULL, NULL, &err), TL_OK, &err))
        return;
    CHECK_INT(table->version, int_of(&t, t.root, "version", -1));
    CHECK_INT(table->metadata.has_snapshot ? table->metadata.current_snapshot_id : -1,
              int_of(&t, t.root, "current_snapshot_id", -1));
    CHECK_STATUS(tl_head_files(&table->head, &files, &err), TL_OK, &err);
    CHECK_STATUS(tl_head_columns(&table->head, TL_COLUMNS_ALL, &columns, &err), TL_OK, &err);
    list = tl_json_member(&t, t.root, tl_text("files"));
    CHECK_INT(files.count, list->count);
    for (k = tl_json_first(list); k != NULL; k = tl_json_next(list, k))
        check_file(&t, k, &files, &columns, with_status);
    tl_json_free(&t);
    free(text);
}

static void every_table_with_and_without_its_head(void)
{
    size_t i;
    int without;
    for (i = 0; i < WAREHOUSE_TABLES; i++)
        for (without = 0; without < 2; without++) {
            tl_load_options o;
            world w;
            long before = tl_test_failures;
            memset(&o, 0, sizeof o);
            o.no_head = (uint8_t)without;
            open_world(&w, warehouse_tables[i], NULL, NULL);
            if (CHECK_STATUS(load(&w, &o), TL_OK, tl_op_error(&w.load.op)))
                check_table(w.load.table, warehouse_tables[i],
                            !(strcmp(warehouse_tables[i], "iot.many") == 0 && w.load.table->source == TL_FROM_CHAIN));
            CHECK_INT(tl_op_round_trips(&w.load.op), w.load.table->source == TL_FROM_HEAD ? 1
                      : w.load.table->metadata.has_snapshot ? 4 : 2);
            end(&w);
            close_world(&w);
            if (tl_test_failures != before)
                fprintf(stderr, "  in %s %s\n", warehouse_tables[i], without ? "without its head" : "");
        }
}

/* ---- delete files ---- */

static size_t put_number(char *out, int64_t v)
{
    uint64_t z = ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
    size_t n = 0;
    for (; z >= 128; z >>= 7)
        out[n++] = (char)(z | 128);
    out[n++] = (char)z;
    return n;
}

/* A manifest list of one entry whose content is 1: its table has rows deleted, and is refused as a whole. */
static void delete_files(void)
{
    static const char schema[] = "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":["
        "{\"name\":\"manifest_path\",\"type\":\"string\",\"field-id\":500},"
        "{\"name\":\"manifest_length\",\"type\":\"long\",\"field-id\":501},"
        "{\"name\":\"content\",\"type\":\"int\",\"field-id\":517}]}";
    char file[1024];
    size_t n = 0, i;
    int content;
    memcpy(file, "Obj\1\2\26avro.schema", 17);
    n = 17;
    n += put_number(file + n, (int64_t)sizeof schema - 1);
    memcpy(file + n, schema, sizeof schema - 1);
    n += sizeof schema - 1;
    memcpy(file + n, "\0" "0123456789abcdef" "\2\14\6a/b\2\0" "0123456789abcdef", 17 + 8 + 16);
    n += 17 + 8 + 16;
    for (content = 0; content < 2; content++) {
        world w;
        tl_load_options o;
        memset(&o, 0, sizeof o);
        o.no_head = 1;
        open_world(&w, "iot.trucks", NULL, NULL);
        file[n - 17] = (char)(content * 2);
        for (i = 0; i < w.store.count; i++)
            if (strstr(w.store.objects[i].key, "/snap-") != NULL)
                tl_mem_put(&w.store, tl_text(w.store.objects[i].key), file, n);
        /* the same list with content 0 is a list: what it names is just not there */
        CHECK_INT(load(&w, &o), content ? TL_UNSUPPORTED : TL_CORRUPT);
        CHECK_INT(w.load.op.turn, TL_FAILED);
        if (content)
            CHECK(strstr(tl_op_error_key(&w.load.op).data, "/snap-") != NULL);
        else
            CHECK_TEXT(tl_op_error_key(&w.load.op).data, tl_op_error_key(&w.load.op).size, "a/b");
        end(&w);
        close_world(&w);
    }
}

/* ---- schedules: what fails, which answer comes first, when it is given up ---- */

typedef struct scenario {
    const char *name;
    const char *table;
    uint64_t right;      /* the newest version */
    tl_load_options options;
    tl_store store;
    uint32_t page_keys;
    const char *hint;    /* instead of the one that is there; "": none */
    uint8_t without_head; /* it is taken away */
    uint8_t warm;        /* the lake knows v7, then v8 is committed */
} scenario;

static const scenario scenarios[] = {
    {"head", "iot.trucks", 7, {0, 0, 0, 0, 0}, TL_STORE_LISTS, 0, NULL, 0, 0},
    {"chain", "iot.trucks", 7, {0, 0, 0, 1, 0}, TL_STORE_LISTS, 0, NULL, 0, 0},
    {"head of many", "iot.many", 41, {0, 0, 0, 0, 0}, TL_STORE_LISTS, 0, NULL, 0, 0},
    {"chain of many", "iot.many", 41, {0, 0, 0, 1, 0}, TL_STORE_LISTS, 0, NULL, 0, 0},
    {"https, stale head", "iot.stale", 6, {0, 0, 0, 0, 0}, TL_STORE_HTTPS, 0, NULL, 0, 0},
    {"https, stale head and hint", "iot.stale", 6, {0, 0, 0, 0, 0}, TL_STORE_HTTPS, 0, "4", 0, 0},
    {"https, hint ahead", "iot.trucks", 7, {0, 0, 0, 0, 0}, TL_STORE_HTTPS, 0, "9", 0, 0},
    {"https, head alone", "iot.trucks", 7, {0, 0, 0, 0, 0}, TL_STORE_HTTPS, 0, "", 0, 0},
    {"pages", "iot.trucks", 7, {0, 0, 0, 0, 0}, TL_STORE_LISTS, 3, "", 1, 0},
    {"warm", "iot.trucks", 8, {0, 0, 0, 0, 0}, TL_STORE_LISTS, 0, NULL, 0, 1},
};
#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])

#define PENDING_MAX 64

/* How one load is played. `turns` names which pending answer comes next, 0 where it ends; played back it lists how many
   there were to choose from. */
typedef struct play {
    uint32_t fault_at; /* the request from 1 that is answered with `outcome`, not applied; 0: none */
    tl_outcome outcome;
    int64_t retry_ms;
    int always;        /* and each time it is sent anew */
    uint32_t cancel_at; /* cancelled before this action of the driver, from 1; 0: never */
    uint32_t random;   /* not 0: order by chance */
    uint8_t turns[256], choices[256];
    uint32_t actions;
    uint32_t served;
} play;

static uint32_t chance(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void answer(world *w, const tl_request *r, play *p)
{
    tl_completion c;
    p->served++;
    if (p->fault_at != 0 && (p->served == p->fault_at || (p->always && p->served > p->fault_at))) {
        c = tl_completed(r->token, p->outcome);
        c.retry_ms = p->retry_ms;
        c.text = tl_text("on purpose");
    } else {
        tl_mem_serve(&w->store, r, &c);
    }
    (void)tl_complete(&w->load.op, &c, w->store.now);
}

/* Drives the load to its end; TL_WAITS: it hung. */
static tl_turn play_load(world *w, play *p)
{
    tl_request pending[PENDING_MAX], r;
    uint32_t n = 0, turn = 0, which, random = p->random;
    p->actions = p->served = 0;
    while (++p->actions < 5000) {
        tl_turn t;
        if (p->actions == p->cancel_at)
            tl_cancel(&w->load.op, w->store.now);
        t = tl_step(&w->load.op, w->store.now, &r);
        if (t == TL_WANTS) {
            CHECK(n < PENDING_MAX);
            if (r.kind == TL_SLEEP || n == PENDING_MAX)
                continue; /* a poller goes by the deadline */
            if (r.token != 0)
                pending[n++] = r;
            continue;
        }
        if (t != TL_WAITS)
            return t;
        if (n == 0) {
            int64_t deadline = tl_deadline(&w->load.op);
            if (deadline == INT64_MAX)
                break;
            w->store.now = deadline > w->store.now ? deadline : w->store.now;
            continue;
        }
        which = 0;
        if (turn < sizeof p->turns) {
            which = p->random != 0 ? chance(&random) % n : p->turns[turn];
            p->choices[turn++] = (uint8_t)n;
        }
        r = pending[which];
        memmove(&pending[which], &pending[which + 1], (--n - which) * sizeof r);
        answer(w, &r, p);
    }
    return TL_WAITS;
}

static tl_lake_options scenario_lake(world *w, const scenario *s)
{
    tl_lake_options lo;
    memset(&lo, 0, sizeof lo);
    lo.store = s->store;
    lo.op.allocator = tl_test_allocator(&w->memory);
    return lo;
}

static void open_scenario(world *w, const scenario *s)
{
    tl_mem_options mo;
    tl_lake_options lo;
    memset(&mo, 0, sizeof mo);
    mo.page_keys = s->page_keys;
    memset(w, 0, sizeof *w);
    lo = scenario_lake(w, s);
    tl_mem_init(&w->store, &mo);
    w->store.log_off = 1;
    w->location = warehouse_put(&w->store, s->table);
    CHECK_INT(tl_lake_init(&w->lake, &lo), TL_OK);
    if (s->without_head)
        take_away(w, "timelake-head");
    if (s->hint != NULL && s->hint[0] == 0)
        take_away(w, "version-hint.text");
    else if (s->hint != NULL)
        put_text(w, "version-hint.text", s->hint);
}

/* A lake as new, and the load begun. */
static void begin_scenario(world *w, const scenario *s)
{
    tl_lake_options lo = scenario_lake(w, s);
    tl_lake_free(&w->lake);
    CHECK_INT(tl_lake_init(&w->lake, &lo), TL_OK);
    if (s->warm) {
        (void)tl_mem_delete(&w->store, warehouse_key(w->location, "v8.metadata.json"));
        CHECK_INT(loaded(w, &s->options), 7);
        copy_version(w, 7, 8);
        w->store.now += 5000;
    }
    w->memory.calls = 0;
    tl_load_begin(&w->load, &w->lake, w->location, &s->options);
}

/* What may come of a load to which the store did not lie: the right version, or a failure that is clear. */
static void judge(world *w, const scenario *s, tl_turn turn, int lied)
{
    const tl_error *e = tl_op_error(&w->load.op);
    if (turn == TL_DONE) {
        CHECK(w->load.table != NULL && w->load.table->has_files);
        CHECK(w->load.table->version <= s->right && (lied || w->load.table->version == s->right));
        if (s->warm)
            CHECK(w->load.table->version >= 7); /* what was confirmed once stays */
    } else if (turn == TL_FAILED) {
        CHECK(e->status != TL_OK && e->status != TL_ABSENT && e->status != TL_MISUSE && e->text != NULL);
    } else {
        CHECK(lied && turn == TL_NONE);
    }
    CHECK_INT(tl_op_end(&w->load.op), TL_OK);
}

static void end_scenario(world *w, const scenario *s, long before, unsigned at, unsigned what)
{
    if (tl_test_failures != before)
        fprintf(stderr, "  in scenario '%s', at %u, %u\n", s->name, at, what);
    (void)w;
}

static void every_request_failed_in_turn(void)
{
    static const struct {
        int outcome;
        int64_t retry_ms;
        int always;
    } faults[] = {{TL_OUTCOME_NOT_FOUND, -1, 0}, {TL_OUTCOME_NOT_MODIFIED, -1, 0}, {TL_OUTCOME_PRECONDITION, -1, 0},
                  {TL_OUTCOME_UNSUPPORTED, -1, 0}, {TL_OUTCOME_FAILED, -1, 0},     {TL_OUTCOME_FAILED, 50, 0},
                  {TL_OUTCOME_FAILED, 0, 1},       {TL_OUTCOME_UNKNOWN, -1, 0},    {TL_OUTCOME_CANCELLED, -1, 0},
                  {TL_OUTCOME_NEVER_SENT, -1, 0},  {77, -1, 0},        {TL_OUTCOME_OK, -1, 0}};
    size_t i, f;
    for (i = 0; i < SCENARIOS; i++) {
        world w;
        open_scenario(&w, &scenarios[i]);
        for (f = 0; f < sizeof faults / sizeof faults[0]; f++) {
            uint32_t at = 1, total = 1;
            for (; at <= total; at++) {
                long before = tl_test_failures;
                play p;
                tl_turn turn;
                memset(&p, 0, sizeof p);
                begin_scenario(&w, &scenarios[i]);
                p.fault_at = at;
                p.outcome = (tl_outcome)faults[f].outcome;
                p.retry_ms = faults[f].retry_ms;
                p.always = faults[f].always;
                turn = play_load(&w, &p);
                total = p.served < total || at > 60 ? total : p.served;
                if (faults[f].retry_ms > 0) /* it went on where it was */
                    CHECK_INT(turn, TL_DONE);
                /* a store that says it cannot list, with neither head nor hint: no table, by the specification */
                judge(&w, &scenarios[i], turn, p.outcome == TL_OUTCOME_NOT_FOUND || p.outcome == TL_OUTCOME_OK
                      || (p.outcome == TL_OUTCOME_UNSUPPORTED && scenarios[i].page_keys != 0));
                end_scenario(&w, &scenarios[i], before, at, (unsigned)f);
            }
        }
        close_world(&w);
    }
}

/* The next order in which answers may come; 0 when all were tried. */
static int next_order(play *p)
{
    uint32_t i = 0;
    while (i < sizeof p->turns && p->choices[i] != 0)
        i++;
    while (i > 0) {
        i--;
        if (++p->turns[i] < p->choices[i]) {
            memset(p->choices, 0, sizeof p->choices);
            return 1;
        }
        p->turns[i] = 0;
    }
    return 0;
}

static void every_order(void)
{
    size_t i;
    for (i = 0; i < SCENARIOS; i++) {
        uint32_t tries = 0, most = strstr(scenarios[i].name, "many") != NULL ? 40 : 300;
        world w;
        play p;
        open_scenario(&w, &scenarios[i]);
        memset(&p, 0, sizeof p);
        do {
            long before = tl_test_failures;
            tl_turn turn;
            begin_scenario(&w, &scenarios[i]);
            turn = play_load(&w, &p);
            CHECK_INT(turn, TL_DONE);
            judge(&w, &scenarios[i], turn, 0);
            end_scenario(&w, &scenarios[i], before, tries, 0);
        } while (next_order(&p) && ++tries < most);
        for (tries = 1; tries < 60; tries++) {
            tl_turn turn;
            p.random = tries;
            begin_scenario(&w, &scenarios[i]);
            turn = play_load(&w, &p);
            CHECK_INT(turn, TL_DONE);
            judge(&w, &scenarios[i], turn, 0);
        }
        close_world(&w);
    }
}

static void cancelled_at_every_step(void)
{
    size_t i;
    for (i = 0; i < SCENARIOS; i++) {
        uint32_t at = 1, total = 1;
        world w;
        open_scenario(&w, &scenarios[i]);
        for (; at <= total + 1; at++) {
            long before = tl_test_failures;
            play p;
            tl_turn turn;
            memset(&p, 0, sizeof p);
            begin_scenario(&w, &scenarios[i]);
            p.cancel_at = at;
            p.random = at;
            turn = play_load(&w, &p);
            total = p.actions > total ? p.actions : total;
            if (turn == TL_FAILED)
                CHECK_INT(tl_op_status(&w.load.op), TL_CANCELLED);
            judge(&w, &scenarios[i], turn, 0);
            end_scenario(&w, &scenarios[i], before, at, 0);
        }
        close_world(&w);
    }
}

static void every_allocation_failed_in_turn(void)
{
    size_t i;
    int for_ever;
    for (i = 0; i < SCENARIOS; i++)
        for (for_ever = 0; for_ever < 2; for_ever++) {
            long at = 1;
            world w;
            open_scenario(&w, &scenarios[i]);
            for (; at == 1 || w.memory.calls >= at - 1; at++) {
                long before = tl_test_failures;
                play p;
                tl_turn turn;
                memset(&p, 0, sizeof p);
                w.memory.fail_at = 0;
                begin_scenario(&w, &scenarios[i]);
                tl_op_end(&w.load.op);
                w.memory.calls = 0;
                w.memory.fail_at = at;
                w.memory.fail_for_ever = for_ever;
                tl_load_begin(&w.load, &w.lake, w.location, &scenarios[i].options);
                turn = play_load(&w, &p);
                if (turn == TL_FAILED && tl_op_status(&w.load.op) != TL_NO_MEMORY
                    && scenarios[i].store != TL_STORE_HTTPS) /* there the head may be all that leads to the table */
                    CHECK_INT(tl_op_status(&w.load.op), TL_STORE); /* an answer that could not be kept */
                judge(&w, &scenarios[i], turn, 0);
                end_scenario(&w, &scenarios[i], before, (unsigned)at, (unsigned)for_ever);
            }
            w.memory.fail_at = 0;
            close_world(&w);
        }
}

/* A server that answers HEAD with 200 whatever is asked: versions seem to be there that cannot be had. */
static void every_stat_says_yes(void)
{
    tl_lake lake;
    tl_lake_options lo;
    tl_load load;
    tl_request r;
    unsigned requests = 0;
    memset(&lo, 0, sizeof lo);
    lo.store = TL_STORE_HTTPS;
    CHECK_INT(tl_lake_init(&lake, &lo), TL_OK);
    tl_load_begin(&load, &lake, tl_text("s3://bucket/wh/table"), NULL);
    for (;;) {
        tl_turn turn = tl_step(&load.op, 1, &r);
        tl_completion c;
        if (turn != TL_WANTS || ++requests > 1000)
            break;
        c = tl_completed(r.token, r.kind == TL_STAT ? TL_OUTCOME_OK : TL_OUTCOME_NOT_FOUND);
        if (r.kind == TL_GET && r.purpose == TL_PURPOSE_HINT) {
            c.outcome = TL_OUTCOME_OK;
            c.body = tl_text("3");
        }
        CHECK_INT(tl_complete(&load.op, &c, 1), TL_OK);
    }
    CHECK(requests < 100);
    CHECK_INT(tl_op_status(&load.op), TL_LIMIT);
    tl_cancel(&load.op, 1);
    CHECK_INT(tl_op_end(&load.op), TL_OK);
    tl_lake_free(&lake);
}

static const tl_test_case cases[] = {
    TL_TEST(cold_with_a_current_head),
    TL_TEST(cold_without_a_head),
    TL_TEST(cold_with_the_hint),
    TL_TEST(hint_ahead),
    TL_TEST(no_such_table),
    TL_TEST(stale_head),
    TL_TEST(unknown_codec),
    TL_TEST(broken_heads),
    TL_TEST(head_of_another_version),
    TL_TEST(warm_checks),
    TL_TEST(warm_options),
    TL_TEST(exact_version),
    TL_TEST(listing_of_pages),
    TL_TEST(never_back),
    TL_TEST(never_without_files),
    TL_TEST(deferred), TL_TEST(expired_head_and_hint),
    TL_TEST(expired_while_read), TL_TEST(warm_without_memory), TL_TEST(what_a_head_holds),
    TL_TEST(budget),
    TL_TEST(barred_head),
    TL_TEST(locations),
    TL_TEST(delete_files),
    TL_TEST(every_request_failed_in_turn),
    TL_TEST(every_order),
    TL_TEST(cancelled_at_every_step),
    TL_TEST(every_allocation_failed_in_turn),
    TL_TEST(every_table_with_and_without_its_head), TL_TEST(every_stat_says_yes),
};
TL_TEST_MAIN(cases)
