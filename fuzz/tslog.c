/* Replays: lines of the input are commits 1, 2, ... Asserted: no payload is decoded before the header was judged; what
   was decoded and written is decoded to the same, and written to the same bytes; a replay that was cut in two at any
   version gives the same state; columns that were planned are there after their commit, and what can be planned can be
   read. The first line may be CURRENT, a time, or columns as well. */
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_texts(const char *text, size_t size)
{
    tl_log_time a, b;
    tl_log_fields fields;
    char out[TL_LOG_NAME];
    uint64_t version;
    if (tl_log_current_parse(text, size, &version, NULL) == TL_OK)
        TIMELAKE_ASSERT(tl_log_commit_name(out, version) <= TL_LOG_NAME);
    if (tl_log_time_parse(tli_text_span(text, size), &a)) {
        size_t n = tl_log_time_text(out, a);
        TIMELAKE_ASSERT(n <= 40 && tl_log_time_parse(tli_text_span(out, n), &b));
        TIMELAKE_ASSERT(a.nanos == b.nanos && a.seconds == b.seconds);
    }
    if (tl_log_fields_parse(&fields, text, size, NULL, NULL) == TL_OK) {
        uint32_t i;
        for (i = 0; i < fields.node_count; i++)
            TIMELAKE_ASSERT(tl_log_type_text(fields.fields[i].type)[0] != 0);
        tl_log_fields_free(&fields);
    }
}

/* Writes the actions of the last commit, and replays them: the same bytes come out again. */
static void write_again(const tl_log_replay *r, const tl_log_state *base)
{
    tl_log_replay again;
    tl_buffer one, two;
    tl_log_time time = {0, 0};
    tl_fault fault;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    TIMELAKE_ASSERT(tl_log_write_commit(&one, r->version, r->version - 1, time,
                                        (const tl_log_action *)(const void *)r->actions.data,
                                        r->actions.size / sizeof(tl_log_action), NULL) == TL_OK);
    if (base != NULL || r->version == 1) {
        tl_log_replay_begin(&again, base, NULL);
        memset(&fault, 0, sizeof fault);
        /* a header that two metadata actions share may be one that is not known: it passed before, so it passes */
        TIMELAKE_ASSERT(tl_log_replay_commit(&again, r->version, one.data, one.size, &fault) == TL_OK);
        TIMELAKE_ASSERT(tl_log_write_commit(&two, r->version, r->version - 1, time,
                                            (const tl_log_action *)(const void *)again.actions.data,
                                            again.actions.size / sizeof(tl_log_action), NULL) == TL_OK);
        TIMELAKE_ASSERT(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
        tl_log_replay_end(&again);
    }
    tl_buffer_free(&one);
    tl_buffer_free(&two);
}

static void check_same(const tl_log_state *a, const tl_log_state *b)
{
    size_t i;
    TIMELAKE_ASSERT(a->version == b->version && a->segment_count == b->segment_count && a->ever == b->ever);
    TIMELAKE_ASSERT(tl_log_same_schema(a, b, NULL) == TL_OK && a->digest == b->digest);
    for (i = 0; i < a->segment_count; i++) {
        TIMELAKE_ASSERT(tl_span_equal(a->segments[i].path, b->segments[i].path));
        TIMELAKE_ASSERT(i == 0 || tli_tslog_compare(&a->segments[i - 1], &a->segments[i]) <= 0);
    }
}

static void plan(const tl_log_state *state, const char *name, size_t size)
{
    tl_log_field f;
    tl_log_plan p;
    tl_log_action a;
    tl_log_time time = {1, 0};
    tl_log_state *next = NULL;
    tl_buffer text;
    tl_fault fault;
    tl_protocol protocol = tl_log_protocol(state);
    memset(&f, 0, sizeof f);
    memset(&a, 0, sizeof a);
    memset(&text, 0, sizeof text);
    memset(&fault, 0, sizeof fault);
    f.name = tli_text_span(name, size < 20 ? size : 20);
    f.nullable = 1;
    f.type = TL_LOG_UTF8;
    (void)tl_log_may_append(state, &f.name, 1, NULL, NULL);
    if (tl_log_plan_columns(&p, state, &f, 1, NULL, &fault) == TL_OK) {
        TIMELAKE_ASSERT(tl_protocol_may_write(&protocol, NULL, NULL) == TL_OK);
        if (tl_log_plan_write(&p, time, &text, &next, &fault) == TL_OK) {
            TIMELAKE_ASSERT(next->meta.column_count == state->meta.column_count + 1);
            TIMELAKE_ASSERT(next->segment_count == state->segment_count);
            tl_log_state_drop(next);
        } else {
            TIMELAKE_ASSERT(text.size == 0);
        }
        tl_log_plan_free(&p);
    }
    a.kind = TL_LOG_REMOVE;
    a.path = f.name;
    if (tl_log_plan_actions(&p, state, &a, 1, NULL, NULL) == TL_OK) {
        (void)tl_log_plan_write(&p, time, &text, NULL, NULL);
        tl_log_plan_free(&p);
    }
    tl_buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;
    tl_log_options options;
    tl_log_replay whole;
    tl_log_state *base = NULL, *state = NULL;
    tl_fault fault;
    uint64_t version = 1;
    tl_status st = TL_OK;
    memset(&options, 0, sizeof options);
    memset(&fault, 0, sizeof fault);
    options.decoded_bytes = (uint64_t)64 << 20;
    options.any_kind = 1;
    try_texts(at, size);
    tl_log_replay_begin(&whole, NULL, &options);
    for (; st == TL_OK && at < end && version < 50; version++) {
        const char *line = (const char *)memchr(at, '\n', (size_t)(end - at));
        size_t n = line == NULL ? (size_t)(end - at) : (size_t)(line - at);
        uint64_t decoded = whole.decoded;
        tl_log_state *now = NULL;
        st = tl_log_replay_commit(&whole, version, at, n, &fault);
        if (st != TL_OK && (fault.kind == TL_FAULT_READER || fault.kind == TL_FAULT_VERSION))
            TIMELAKE_ASSERT(whole.decoded == decoded);
        if (st == TL_OK) {
            tl_log_replay part;
            write_again(&whole, base);
            tl_log_replay_begin(&part, base, &options);
            if ((base != NULL || version == 1) && tl_log_replay_commit(&part, version, at, n, &fault) == TL_OK)
                (void)tl_log_replay_finish(&part, &now, &fault);
            tl_log_replay_end(&part);
        }
        tl_log_state_drop(base);
        base = now; /* NULL: this version is no table, and nothing is built on it */
        at = line == NULL ? end : line + 1;
    }
    if (st == TL_OK && tl_log_replay_finish(&whole, &state, &fault) == TL_OK) {
        if (base != NULL)
            check_same(state, base);
        plan(state, (const char *)data, size);
        tl_log_state_drop(tl_log_state_keep(state));
        tl_log_state_drop(state);
    }
    tl_log_state_drop(base);
    tl_log_replay_end(&whole);
    return 0;
}
