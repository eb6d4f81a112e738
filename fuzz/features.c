/* The checker against a second one, made of the JSON tree: the same verdict, the same sets, for any bytes. Then
   history: what is asked of two protocols holds for the sets as sets. */
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of a tree: is this number one that the reference refuses? */
static int too_large(const tl_json *t)
{
    uint32_t i;
    for (i = 0; i < t->root->nodes; i++) {
        double v;
        const tl_json_node *n = &t->root[i];
        if (n->kind == TL_JSON_NUMBER && tli_number_parse_f64(t->text + n->start, n->size, &v) && v - v != 0)
            return 1;
    }
    return 0;
}

/* How many names a list has, or -1 when it is no list of features. */
static int64_t good_list(const tl_json *t, const tl_json_node *list)
{
    const tl_json_node *a, *b;
    tl_span x, y;
    if (list == NULL || list->kind != TL_JSON_ARRAY || list->count > 200)
        return -1;
    for (a = tl_json_first(list); a != NULL; a = tl_json_next(list, a)) {
        if (tl_json_string(t, a, &x, NULL) != TL_OK || !tl_feature_valid(x))
            return -1;
        for (b = tl_json_first(list); b != a; b = tl_json_next(list, b)) {
            (void)tl_json_string(t, b, &y, NULL);
            if (tl_span_equal(x, y))
                return -1;
        }
    }
    return list->count;
}

/* The only member's value, when all members of the object are called UpdateTableMeta. */
static const tl_json_node *metadata_of(const tl_json *t, const tl_json_node *action)
{
    const tl_json_node *key, *value = NULL;
    tl_span name;
    if (action->kind != TL_JSON_OBJECT)
        return NULL;
    for (key = tl_json_first(action); key != NULL; key = tl_json_next(action, key)) {
        (void)tl_json_string(t, key, &name, NULL);
        if (!tl_span_equal(name, tl_text("UpdateTableMeta")))
            return NULL;
        value = key + 1;
    }
    return value;
}

/* The fault that the headers have, by the tree; of the last good one the sizes of its lists. */
static tl_fault_kind reference(const tl_json *t, int64_t *readers, int64_t *writers)
{
    const tl_json_node *actions = tl_json_member(t, t->root, tl_text("actions")), *a;
    *readers = *writers = 0;
    if (actions == NULL || actions->kind != TL_JSON_ARRAY)
        return TL_FAULT_NONE;
    for (a = tl_json_first(actions); a != NULL; a = tl_json_next(actions, a)) {
        const tl_json_node *m = metadata_of(t, a), *v = tl_json_member(t, m, tl_text("protocol_version")), *r, *item;
        uint64_t version;
        tl_span name;
        if (m == NULL)
            continue;
        r = tl_json_member(t, m, tl_text("required_reader_features"));
        *readers = good_list(t, r);
        *writers = good_list(t, tl_json_member(t, m, tl_text("required_writer_features")));
        if (m->kind != TL_JSON_OBJECT || v == NULL || v->kind != TL_JSON_NUMBER
            || !tli_number_parse_u64(t->text + v->start, v->size, &version) || *readers < 0 || *writers < 0)
            return TL_FAULT_COMMIT;
        if (version != 7)
            return TL_FAULT_VERSION;
        for (item = tl_json_first(r); item != NULL; item = tl_json_next(r, item)) {
            (void)tl_json_string(t, item, &name, NULL);
            if (!tl_span_equal(name, tl_text("schema_add_columns")) && !tl_span_equal(name, tl_text("schema_metadata")))
                return TL_FAULT_READER;
        }
    }
    return TL_FAULT_NONE;
}

static void check_sets(const tl_protocol *p)
{
    const tl_features *s[2];
    size_t i, k;
    s[0] = &p->reader;
    s[1] = &p->writer;
    for (k = 0; k < 2; k++)
        for (i = 0; i < s[k]->count; i++) {
            TIMELAKE_ASSERT(tl_feature_valid(s[k]->names[i]));
            TIMELAKE_ASSERT(i == 0 || tl_span_compare(s[k]->names[i - 1], s[k]->names[i]) < 0);
        }
}

static void check_history(const tl_protocol *p)
{
    tl_protocol empty = *p;
    tl_fault fault;
    char name[96];
    tl_status st;
    memset(&fault, 0, sizeof fault);
    empty.reader.count = empty.writer.count = 0;
    TIMELAKE_ASSERT(tl_protocol_follows(p, p, NULL) == TL_OK);
    TIMELAKE_ASSERT(tl_protocol_follows(&empty, p, NULL) == TL_OK);
    st = tl_protocol_follows(p, &empty, &fault);
    TIMELAKE_ASSERT((st == TL_OK) == (p->reader.count == 0 && p->writer.count == 0));
    TIMELAKE_ASSERT(strlen(tl_fault_name(&fault, name)) < sizeof name);
    st = tl_protocol_may_write(p, NULL, &fault);
    TIMELAKE_ASSERT((st == TL_OK)
                    == (tl_features_missing(&p->writer, &tl_client_all()->writer, 0) == p->writer.count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_limits limits = {0, 0, 0, 0, 0, 0, 127};
    tl_protocol p;
    tl_fault fault;
    tl_json t;
    int64_t readers, writers;
    tl_status st, json;
    memset(&fault, 0, sizeof fault);
    st = tl_protocol_inspect(&p, data, size, NULL, NULL, &fault);
    json = tl_json_parse(&t, (const char *)data, size, &limits, NULL, NULL);
    if (json != TL_OK || too_large(&t)) {
        /* which of two numbers next to the largest is one is not for this to say */
        TIMELAKE_ASSERT(json == TL_OK || (st != TL_OK && (fault.kind == TL_FAULT_COMMIT || fault.kind == TL_FAULT_IO)));
    } else {
        tl_fault_kind want = reference(&t, &readers, &writers);
        TIMELAKE_ASSERT(st == TL_OK ? want == TL_FAULT_NONE || readers > 199 || writers > 199
                                    : fault.kind == want || fault.kind == TL_FAULT_COMMIT);
        if (st == TL_OK && p.version != 0 && want == TL_FAULT_NONE)
            TIMELAKE_ASSERT((int64_t)p.reader.count == readers && (int64_t)p.writer.count == writers);
    }
    if (st == TL_OK && p.version != 0) {
        TIMELAKE_ASSERT(tl_protocol_may_read(&p, NULL, NULL) == TL_OK);
        check_sets(&p);
        check_history(&p);
    }
    tl_json_free(&t);
    tl_protocol_free(&p);
    return 0;
}
