/* The folder adapter: keys, whole puts, conditions raced, listings page by page, ranges, ETags, and tables opened
   through it by one thread and by the pool. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tl_test.h"

#ifdef _WIN32
static void folders(void)
{
    tl_test_skip("the folder adapter is POSIX");
}
static const tl_test_case cases[] = {TL_TEST(folders)};
#else
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"
#include "tl_folder.h"

static char scratch[200];

static void begin(tl_fs *fs)
{
    tl_fs_options o;
    memset(&o, 0, sizeof o);
    CHECK(tl_folder_new(scratch, sizeof scratch));
    o.local_root = scratch;
    o.page_keys = 3;
    tl_fs_open(fs, &o);
}

static void end(void)
{
    CHECK(tl_folder_end(scratch));
}

static tl_request ask(tl_request_kind kind, const char *key)
{
    tl_request r;
    memset(&r, 0, sizeof r);
    r.kind = kind;
    r.key = tl_text(key);
    r.length = TL_WHOLE;
    r.accept = 1u << 20;
    return r;
}

static tl_outcome put(const tl_fs *fs, const char *key, const char *text, tl_condition condition, tl_span etag)
{
    tl_request r = ask(TL_PUT, key);
    tl_span body = tl_text(text);
    tl_fs_answer a;
    tl_outcome outcome;
    r.body = &body;
    r.body_count = 1;
    r.body_size = body.size;
    r.condition = condition;
    r.etag = etag;
    tl_fs_serve(fs, &r, &a);
    outcome = a.completion.outcome;
    tl_fs_answer_free(&a);
    return outcome;
}

static void keys_are_mapped(void)
{
    tl_fs fs;
    char path[256], want[256];
    begin(&fs);
    CHECK(tl_fs_path(&fs, tl_text("s3://lake/wh/a b%20/c"), path, sizeof path));
    snprintf(want, sizeof want, "%s/wh/a b%%20/c", scratch);
    CHECK_TEXT(path, strlen(path), want);
    CHECK(tl_fs_path(&fs, tl_text("file:///x/y"), path, sizeof path));
    CHECK_TEXT(path, strlen(path), "/x/y");
    CHECK(tl_fs_path(&fs, tl_text("/x/y"), path, sizeof path));
    CHECK(!tl_fs_path(&fs, tl_text("x/y"), path, sizeof path));
    CHECK(!tl_fs_path(&fs, tl_text("s3://lake/../../etc/passwd"), path, sizeof path));
    CHECK(!tl_fs_path(&fs, tl_text("s3://lake/a/./b"), path, sizeof path));
    CHECK(!tl_fs_path(&fs, tl_text("file://host/x"), path, sizeof path));
    CHECK(!tl_fs_path(&fs, tl_text("s3://lake/a"), path, 8));
    end();
}

static void puts_and_conditions(void)
{
    tl_fs fs;
    tl_fs_answer a;
    tl_request r;
    tl_span none = {NULL, 0};
    char etag[80];
    begin(&fs);
    CHECK_INT(put(&fs, "s3://l/d/e/x", "one", TL_IF_ABSENT, none), TL_OUTCOME_OK);
    CHECK_INT(put(&fs, "s3://l/d/e/x", "two", TL_IF_ABSENT, none), TL_OUTCOME_PRECONDITION);
    r = ask(TL_GET, "s3://l/d/e/x");
    tl_fs_serve(&fs, &r, &a);
    CHECK_TEXT(a.completion.body.data, a.completion.body.size, "one");
    snprintf(etag, sizeof etag, "%s", a.etag);
    tl_fs_answer_free(&a);
    CHECK_INT(put(&fs, "s3://l/d/e/x", "three", TL_IF_MATCH, tl_text("\"other\"")), TL_OUTCOME_PRECONDITION);
    CHECK_INT(put(&fs, "s3://l/d/e/x", "three", TL_IF_MATCH, tl_text(etag)), TL_OUTCOME_OK);
    CHECK_INT(put(&fs, "s3://l/d/e/x", "four", TL_IF_MATCH, tl_text(etag)), TL_OUTCOME_PRECONDITION);
    CHECK_INT(put(&fs, "s3://l/d/e/none", "x", TL_IF_MATCH, tl_text(etag)), TL_OUTCOME_PRECONDITION);
    CHECK_INT(put(&fs, "s3://l/d/e/x", "12345", TL_ALWAYS, none), TL_OUTCOME_OK);
    r.offset = 2;
    r.length = 2;
    tl_fs_serve(&fs, &r, &a);
    CHECK_TEXT(a.completion.body.data, a.completion.body.size, "34");
    tl_fs_answer_free(&a);
    r.offset = 9;
    tl_fs_serve(&fs, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    CHECK_INT(a.completion.body.size, 0);
    tl_fs_answer_free(&a);
    r = ask(TL_GET, "s3://l/d/e/x");
    r.accept = 4;
    tl_fs_serve(&fs, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
    tl_fs_answer_free(&a);
    r = ask(TL_STAT, "s3://l/d/e");
    tl_fs_serve(&fs, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_NOT_FOUND);
    tl_fs_answer_free(&a);
    r = ask(TL_DELETE, "s3://l/d/e/x");
    tl_fs_serve(&fs, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    tl_fs_answer_free(&a);
    tl_fs_serve(&fs, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    tl_fs_answer_free(&a);
    end();
}

static void listings_by_raw_prefix(void)
{
    static const char *const names[] = {"m/v1", "m/v10", "m/v2", "m/v3/x", "m/v3-y", "m/w", "v9"};
    tl_fs fs;
    tl_span none = {NULL, 0};
    tl_request r = ask(TL_LIST, "s3://l/t/m/v");
    char all[256] = "", page[256];
    size_t i, pages = 0;
    begin(&fs);
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "s3://l/t/%s", names[i]);
        CHECK_INT(put(&fs, key, "x", TL_ALWAYS, none), TL_OUTCOME_OK);
    }
    for (;;) {
        tl_fs_answer a;
        int more;
        tl_fs_serve(&fs, &r, &a);
        CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
        for (i = 0; i < a.completion.entry_count; i++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%.*s ", (int)(a.completion.entries[i].key.size - 9),
                     a.completion.entries[i].key.data + 9);
        pages++;
        more = a.completion.next_page.data != NULL;
        snprintf(page, sizeof page, "%s", more ? a.next : "");
        tl_fs_answer_free(&a);
        if (!more)
            break;
        r.page = tl_text(page);
    }
    CHECK_TEXT(all, strlen(all), "m/v1 m/v10 m/v2 m/v3-y m/v3/x ");
    CHECK_INT(pages, 2);
    r = ask(TL_LIST, "s3://l/none/v");
    {
        tl_fs_answer a;
        tl_fs_serve(&fs, &r, &a);
        CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
        CHECK_INT(a.completion.entry_count, 0);
        tl_fs_answer_free(&a);
    }
    end();
}

typedef struct racer {
    const tl_fs *fs;
    int won;
} racer;

static void *race(void *argument)
{
    racer *r = (racer *)argument;
    tl_span none = {NULL, 0};
    int i;
    for (i = 0; i < 50; i++) {
        char key[64];
        snprintf(key, sizeof key, "s3://l/race/v%d", i);
        r->won += put(r->fs, key, "x", TL_IF_ABSENT, none) == TL_OUTCOME_OK;
    }
    return NULL;
}

static void create_if_absent_is_won_once(void)
{
    tl_fs fs;
    racer racers[4];
    pthread_t threads[4];
    int i, won = 0;
    begin(&fs);
    fs.options.no_sync = 1;
    for (i = 0; i < 4; i++) {
        racers[i].fs = &fs;
        racers[i].won = 0;
        CHECK_INT(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        won += racers[i].won;
    }
    CHECK_INT(won, 50);
    end();
}

static void tables_are_opened(void)
{
    tl_fs_options fo;
    tl_fs fs;
    tl_lake lake;
    tl_load load;
    tl_fs_pool *pool;
    tl_request r;
    tl_turn turn;
    memset(&fo, 0, sizeof fo);
    fo.local_root = "tests/data/warehouse";
    tl_fs_open(&fs, &fo);
    CHECK_INT(tl_lake_init(&lake, NULL), TL_OK);
    tl_load_begin(&load, &lake, tl_text("s3://demo-lake/wh/iot/many"), NULL);
    CHECK_STATUS(tl_fs_run(&fs, &load.op), TL_OK, tl_op_error(&load.op));
    CHECK_INT(load.table->version, 41);
    CHECK_INT(tl_op_end(&load.op), TL_OK);
    tl_lake_forget(&lake, tl_text("s3://demo-lake/wh/iot/many"));
    pool = tl_fs_pool_open(&fs, 4);
    CHECK(pool != NULL);
    {
        tl_load_options lo;
        memset(&lo, 0, sizeof lo);
        lo.no_head = 1;
        tl_load_begin(&load, &lake, tl_text("s3://demo-lake/wh/iot/many"), &lo);
    }
    for (;;) {
        turn = tl_step(&load.op, tl_fs_now(), &r);
        if (turn == TL_WANTS)
            CHECK(tl_fs_pool_submit(pool, &load.op, &r));
        else if (turn == TL_WAITS)
            (void)tl_fs_pool_wait(pool, tl_deadline(&load.op));
        else
            break;
    }
    CHECK_INT(turn, TL_DONE);
    CHECK_INT(load.table->version, 41);
    CHECK_INT(tl_op_end(&load.op), TL_OK);
    tl_fs_pool_close(pool);
    tl_load_begin(&load, &lake, tl_text("s3://demo-lake/wh/iot/nothing"), NULL);
    CHECK_INT(tl_fs_run(&fs, &load.op), TL_ABSENT);
    CHECK_INT(tl_op_end(&load.op), TL_OK);
    tl_lake_free(&lake);
    tl_fs_close(&fs);
}

static const tl_test_case cases[] = {
    TL_TEST(keys_are_mapped),
    TL_TEST(puts_and_conditions),
    TL_TEST(listings_by_raw_prefix),
    TL_TEST(create_if_absent_is_won_once),
    TL_TEST(tables_are_opened),
};
#endif
TL_TEST_MAIN(cases)
