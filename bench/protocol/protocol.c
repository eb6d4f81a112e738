/* One measurement of bench/protocol/run:

   protocol make DIR COMMITS   a table with so many commits: appends of a segment with coverage, each 200th a column
   protocol folder DIR TIMES   microseconds of each opening through adapters/timelake_fs.h, and segments
   protocol memory DIR TIMES   the same of a replay from memory, CPU time
   protocol header DIR TIMES   nanoseconds of CPU time of the check of the first commit, which has a header, and of the
                               second; bytes of both

   Public API and adapters/timelake_fs.h only. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../../adapters/timelake_fs.h"

static void fail(const char *what)
{
    fprintf(stderr, "protocol: %s\n", what);
    exit(1);
}

static int64_t now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the table ---- */

static void put(const char *folder, const char *name, const char *data, size_t size)
{
    char path[1024];
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        fail(path);
}

static void publish(const char *folder, tl_log_plan *plan, uint64_t version, tl_log_state **state)
{
    char name[TL_LOG_NAME + 1];
    tl_log_state *next = NULL;
    tl_log_time time;
    tl_buffer text;
    time.seconds = 1767225600 + (int64_t)version * 60;
    time.nanos = (uint32_t)(version % 1000 * 1000007);
    memset(&text, 0, sizeof text);
    name[tl_log_commit_name(name, version)] = 0;
    if (tl_log_plan_write(plan, time, &text, &next, NULL) != TL_OK)
        fail("no commit");
    put(folder, name, (const char *)text.data, text.size);
    tl_buffer_free(&text);
    tl_log_plan_free(plan);
    tl_log_state_drop(*state);
    *state = next;
}

static void create(const char *folder, tl_log_state **state)
{
    static const char columns[] =
        "[{\"name\":\"ts\",\"data_type\":{\"Timestamp\":{\"unit\":\"Micros\",\"timezone\":\"UTC\"}},"
        "\"nullable\":false},"
        "{\"name\":\"symbol\",\"data_type\":\"Utf8\",\"nullable\":false},"
        "{\"name\":\"open\",\"data_type\":\"Float64\",\"nullable\":true},"
        "{\"name\":\"high\",\"data_type\":\"Float64\",\"nullable\":true},"
        "{\"name\":\"low\",\"data_type\":\"Float64\",\"nullable\":true},"
        "{\"name\":\"close\",\"data_type\":\"Float64\",\"nullable\":true},"
        "{\"name\":\"volume\",\"data_type\":\"Int64\",\"nullable\":true}]";
    tl_log_fields fields;
    tl_log_action action;
    tl_log_meta meta;
    tl_log_plan plan;
    tl_span entity = tl_text("symbol");
    memset(&action, 0, sizeof action);
    memset(&meta, 0, sizeof meta);
    if (tl_log_fields_parse(&fields, columns, sizeof columns - 1, NULL, NULL) != TL_OK)
        fail("no columns");
    meta.index_column = tl_text("ts");
    meta.entity_columns = &entity;
    meta.entity_count = 1;
    meta.grid.width = 1;
    meta.grid.span = TL_LOG_MINUTES;
    meta.grid.zone = tl_text("UTC");
    meta.has_schema = 1;
    meta.fields = fields.fields;
    meta.node_count = fields.node_count;
    meta.column_count = fields.column_count;
    meta.created.seconds = 1767225600;
    action.meta = &meta;
    if (tl_log_plan_actions(&plan, NULL, &action, 1, NULL, NULL) != TL_OK)
        fail("no table");
    publish(folder, &plan, 1, state);
    tl_log_fields_free(&fields);
}

/* Names as the crate makes them: a random UUID, a hash of 32 digits. */
static void append(tl_log_plan *plan, const tl_log_state *state, uint64_t version)
{
    char path[128], coverage[160], table[160];
    uint64_t a = version * 0x9e3779b97f4a7c15u, b = a * 0xbf58476d1ce4e5b9u;
    char uuid[40];
    tl_log_component symbol;
    tl_log_action actions[2];
    snprintf(uuid, sizeof uuid, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
             (unsigned)a & 0xfff, (unsigned)(b >> 52), (unsigned long long)(b & 0xffffffffffff));
    snprintf(path, sizeof path, "data/_managed/append/%s.parquet", uuid);
    snprintf(coverage, sizeof coverage, "_coverage/segments/segcov-%016llx%016llx-%s.roar", (unsigned long long)b,
             (unsigned long long)a, uuid);
    snprintf(table, sizeof table, "_coverage/table/%llu-tblcov-%016llx%016llx-%s.roar", (unsigned long long)version,
             (unsigned long long)a, (unsigned long long)b, uuid);
    memset(actions, 0, sizeof actions);
    memset(&symbol, 0, sizeof symbol);
    symbol.type = TL_LOG_UTF8;
    symbol.text = tl_text(version % 3 == 0 ? "NVDA" : "AAPL");
    actions[0].kind = TL_LOG_ADD;
    actions[0].segment.path = tl_text(path);
    actions[0].segment.layout = TL_LOG_SINGLE;
    actions[0].segment.components = &symbol;
    actions[0].segment.component_count = 1;
    actions[0].segment.min.value = 1767225600 + (int64_t)version * 3600;
    actions[0].segment.max.value = actions[0].segment.min.value + 3540;
    actions[0].segment.row_count = 60;
    actions[0].segment.has_file_size = 1;
    actions[0].segment.file_size = 4000 + a % 1000;
    actions[0].segment.coverage_path = tl_text(coverage);
    actions[1].kind = TL_LOG_COVERAGE;
    actions[1].path = tl_text(table);
    actions[1].grid = state->meta.grid;
    if (tl_log_plan_actions(plan, state, actions, 2, NULL, NULL) != TL_OK)
        fail("no append");
}

static void make(const char *folder, uint64_t commits)
{
    char name[64];
    tl_log_state *state = NULL;
    uint64_t version;
    snprintf(name, sizeof name, "%llu\n", (unsigned long long)commits);
    create(folder, &state);
    for (version = 2; version <= commits; version++) {
        tl_log_plan plan;
        if (version % 200 == 0) {
            tl_log_field f;
            char column[32];
            memset(&f, 0, sizeof f);
            snprintf(column, sizeof column, "feature_%llu", (unsigned long long)version / 200);
            f.name = tl_text(column);
            f.type = TL_LOG_FLOAT64;
            f.nullable = 1;
            if (tl_log_plan_columns(&plan, state, &f, 1, NULL, NULL) != TL_OK)
                fail("no column");
        } else {
            append(&plan, state, version);
        }
        publish(folder, &plan, version, &state);
    }
    put(folder, "_timeseries_log/CURRENT", name, strlen(name));
    tl_log_state_drop(state);
}

/* ---- measured ---- */

static void measure_folder(const char *folder)
{
    tl_fs fs;
    tl_log_settings settings;
    tl_log log;
    tl_log_call call;
    int64_t start = now(CLOCK_MONOTONIC);
    size_t segments;
    tl_fs_open(&fs, NULL);
    memset(&settings, 0, sizeof settings);
    tl_log_init(&log, tl_text(folder), &settings);
    tl_log_refresh(&call, &log);
    if (tl_fs_run(&fs, &call.op) != TL_OK)
        fail("the table cannot be opened");
    segments = log.state->segment_count;
    printf("%.1f %zu\n", (double)(now(CLOCK_MONOTONIC) - start) / 1e3, segments);
    (void)tl_op_end(&call.op);
    tl_log_free(&log);
    tl_fs_close(&fs);
}

static tl_span load(const char *folder, uint64_t version)
{
    char path[1024], name[TL_LOG_NAME + 1];
    tl_span text = {NULL, 0};
    char *data;
    FILE *f;
    name[tl_log_commit_name(name, version)] = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (f == NULL)
        return text;
    fseek(f, 0, SEEK_END);
    text.size = (size_t)ftell(f);
    rewind(f);
    text.data = data = (char *)malloc(text.size + 1);
    if (data == NULL || fread(data, 1, text.size, f) != text.size)
        fail(path);
    fclose(f);
    return text;
}

static void measure_memory(const tl_span *texts, size_t count)
{
    tl_log_replay r;
    tl_log_state *state = NULL;
    int64_t start = now(CLOCK_THREAD_CPUTIME_ID);
    size_t i;
    tl_log_replay_begin(&r, NULL, NULL);
    for (i = 0; i < count; i++)
        if (tl_log_replay_commit(&r, i + 1, texts[i].data, texts[i].size, NULL) != TL_OK)
            fail("a commit that is none");
    if (tl_log_replay_finish(&r, &state, NULL) != TL_OK)
        fail("no state");
    printf("%.1f %zu\n", (double)(now(CLOCK_THREAD_CPUTIME_ID) - start) / 1e3, state->segment_count);
    tl_log_replay_end(&r);
    tl_log_state_drop(state);
}

static double check_of(tl_span text)
{
    int64_t start = now(CLOCK_THREAD_CPUTIME_ID);
    int i, times = 20000;
    for (i = 0; i < times; i++) {
        tl_protocol p;
        if (tl_protocol_inspect(&p, text.data, text.size, NULL, NULL, NULL) != TL_OK)
            fail("a header that is none");
        tl_protocol_free(&p);
    }
    return (double)(now(CLOCK_THREAD_CPUTIME_ID) - start) / times;
}

int main(int argc, char **argv)
{
    tl_span *texts;
    size_t count = 0;
    uint64_t i, number;
    if (argc != 4)
        fail("make|folder|memory|header DIR NUMBER");
    number = strtoull(argv[3], NULL, 10);
    if (strcmp(argv[1], "make") == 0) {
        make(argv[2], number);
        return 0;
    }
    if (strcmp(argv[1], "folder") == 0) {
        for (i = 0; i < number; i++)
            measure_folder(argv[2]);
        return 0;
    }
    texts = (tl_span *)calloc(1 << 20, sizeof *texts);
    while (texts != NULL && count < (1 << 20) - 1 && (texts[count] = load(argv[2], count + 1)).data != NULL)
        count++;
    if (count < 2)
        fail("no table");
    for (i = 0; i < number; i++) {
        if (strcmp(argv[1], "memory") == 0)
            measure_memory(texts, count);
        else
            printf("%.1f %.1f %zu %zu\n", check_of(texts[0]), check_of(texts[1]), texts[0].size, texts[1].size);
    }
    return 0;
}
