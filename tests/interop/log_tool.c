/* A timeseries table for tests/interop/log.py: a request on a line, an answer on a line, as the peer's.
       log_tool FOLDER [REQUEST]      requests from standard input, or the one that is given
   create META | open | refresh | add COLUMNS | rewrite | repair | remove | race UNTIL NAME | state

   rewrite: one commit that removes the first segment and adds it again, and sets the coverage anew. race: adds columns
   called NAME-<version> until the table has UNTIL versions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../../adapters/timelake_fs.h"

static tl_fs fs;
static tl_log handle;
static tl_log_call call;
static char line[1 << 20];

static void answer(void)
{
    char name[96];
    if (tl_op_status(&call.op) == TL_OK)
        printf("{\"ok\":%llu,\"repaired\":%d}\n", (unsigned long long)call.version, call.repaired);
    else
        printf("{\"error\":\"%s\",\"text\":\"%s\"}\n", tl_fault_name(&call.fault, name),
               call.fault.error.text != NULL ? call.fault.error.text : "");
}

static tl_status run(void)
{
    return tl_fs_run(&fs, &call.op);
}

static void done(void)
{
    (void)run();
    answer();
    (void)tl_op_end(&call.op);
}

/* The metadata of a text, by a replay of a commit that has it. */
static void create(const char *meta)
{
    tl_log_replay r;
    tl_log_state *state = NULL;
    tl_fault fault;
    size_t size = strlen(meta) + 128;
    char *text = (char *)malloc(size);
    int n = snprintf(text, size, "{\"version\":1,\"base_version\":0,\"timestamp\":\"2026-01-01T00:00:00Z\",\"actions\":"
                                 "[{\"UpdateTableMeta\":%s}]}", meta);
    memset(&fault, 0, sizeof fault);
    tl_log_replay_begin(&r, NULL, NULL);
    if (tl_log_replay_commit(&r, 1, text, (size_t)n, &fault) == TL_OK
        && tl_log_replay_finish(&r, &state, &fault) == TL_OK) {
        tl_log_create(&call, &handle, &state->meta);
        done();
    } else {
        printf("{\"error\":\"%s\"}\n", fault.error.text);
    }
    tl_log_replay_end(&r);
    tl_log_state_drop(state);
    free(text);
}

static void add(const char *columns)
{
    tl_log_fields fields;
    tl_fault fault;
    memset(&fault, 0, sizeof fault);
    if (tl_log_fields_parse(&fields, columns, strlen(columns), NULL, &fault) != TL_OK) {
        printf("{\"error\":\"%s\"}\n", fault.error.text);
        return;
    }
    tl_log_add_columns(&call, &handle, fields.fields, fields.node_count);
    done();
    tl_log_fields_free(&fields);
}

static void rewrite(void)
{
    tl_log_state *s = tl_log_state_keep(handle.state);
    tl_log_action actions[3];
    size_t n = s->segment_count != 0 ? 2 : 0;
    memset(actions, 0, sizeof actions);
    if (n != 0) {
        actions[0].kind = TL_LOG_REMOVE;
        actions[0].path = s->segments[0].path;
        actions[1].kind = TL_LOG_ADD;
        actions[1].segment = s->segments[0];
    }
    if (s->coverage_path.data != NULL) {
        actions[n].kind = TL_LOG_COVERAGE;
        actions[n].path = s->coverage_path;
        actions[n++].grid = s->coverage_grid;
    }
    tl_log_commit(&call, &handle, actions, n);
    done();
    tl_log_state_drop(s);
}

/* A commit that says all that the state holds. */
static void say_state(void)
{
    const tl_log_state *s = handle.state;
    size_t i, n = s->segment_count;
    tl_log_action *actions = (tl_log_action *)calloc(n + 2, sizeof *actions);
    tl_buffer text;
    memset(&text, 0, sizeof text);
    actions[0].meta = &s->meta;
    for (i = 0; i < n; i++) {
        actions[i + 1].kind = TL_LOG_ADD;
        actions[i + 1].segment = s->segments[i];
    }
    n++;
    if (s->coverage_path.data != NULL) {
        actions[n].kind = TL_LOG_COVERAGE;
        actions[n].path = s->coverage_path;
        actions[n++].grid = s->coverage_grid;
    }
    (void)tl_log_write_commit(&text, s->version, s->coverage_version, s->meta.created, actions, n, NULL);
    printf("{\"ok\":%llu,\"state\":\"", (unsigned long long)s->version);
    for (i = 0; i < text.size; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\')
            putchar('\\');
        putchar(text.data[i]);
    }
    printf("\"}\n");
    tl_buffer_free(&text);
    free(actions);
}

static tl_status refresh(void)
{
    tl_log_refresh(&call, &handle);
    return run();
}

static void race(unsigned long long until, const char *name)
{
    unsigned lost = 0;
    printf("{\"won\":[");
    for (;;) {
        tl_log_field f;
        char column[64];
        uint64_t version = handle.state->version;
        tl_status st;
        memset(&f, 0, sizeof f);
        snprintf(column, sizeof column, "%s-%llu", name, (unsigned long long)version + 1);
        f.name = tl_text(column);
        f.type = TL_LOG_FLOAT64;
        f.nullable = 1;
        if (version >= until)
            break;
        tl_log_add_columns(&call, &handle, &f, 1);
        st = run();
        (void)tl_op_end(&call.op);
        if (st == TL_OK)
            printf("%llu,", (unsigned long long)call.version);
        else if (st != TL_CONFLICT && st != TL_EXISTS)
            break;
        lost += st != TL_OK;
        if (st == TL_OK)
            tl_fs_pause_until(tl_fs_now() + 3); /* the other one's turn: else the faster writer wins them all */
        st = refresh();
        (void)tl_op_end(&call.op);
        if (st != TL_OK)
            break;
    }
    printf("0],\"lost\":%u,\"ok\":%llu}\n", lost, (unsigned long long)handle.state->version);
}

static void perform(const char *request)
{
    const char *rest = strchr(request, ' ');
    size_t n = rest == NULL ? strlen(request) : (size_t)(rest - request);
#define IS(word) (n == sizeof(word) - 1 && memcmp(request, word, n) == 0)
    rest = rest == NULL ? "" : rest + 1;
    if (IS("create")) {
        create(rest);
        return;
    }
    if (IS("repair") || IS("remove")) {
        tl_log_repair(&call, &handle, IS("remove"));
        done();
        return;
    }
    if (handle.state == NULL || IS("refresh") || IS("open")) {
        (void)refresh();
        if (handle.state == NULL || IS("refresh") || IS("open")) {
            answer();
            (void)tl_op_end(&call.op);
            return;
        }
        (void)tl_op_end(&call.op);
    }
    if (IS("add")) {
        add(rest);
    } else if (IS("rewrite")) {
        rewrite();
    } else if (IS("race")) {
        char *name;
        unsigned long long until = strtoull(rest, &name, 10);
        race(until, name + 1);
    } else {
        say_state();
    }
}

int main(int argc, char **argv)
{
    tl_log_settings settings;
    tl_fs_open(&fs, NULL);
    memset(&settings, 0, sizeof settings);
    settings.repair_age_ms = -1; /* whoever calls for it knows that the writer is gone */
    if (argc < 2 || !tl_fs_random(settings.seed, sizeof settings.seed))
        return 2;
    tl_log_init(&handle, tl_text(argv[1]), &settings);
    if (argc > 2)
        perform(argv[2]);
    while (argc == 2 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        perform(line);
        fflush(stdout);
    }
    tl_log_free(&handle);
    tl_fs_close(&fs);
    return 0;
}
