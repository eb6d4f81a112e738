/* JSON: the check and the tree agree, the compact form reads back to the same tree and is its own compact form. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every node of one tree is the other's: kinds, counts, texts, and numbers by their digits. */
static void compare(const tl_json *a, const tl_json *b)
{
    uint32_t i;
    TIMELAKE_ASSERT(a->root->nodes == b->root->nodes);
    for (i = 0; i < a->root->nodes; i++) {
        const tl_json_node *x = a->root + i, *y = b->root + i;
        tl_span s, t;
        TIMELAKE_ASSERT(x->kind == y->kind && x->count == y->count && x->nodes == y->nodes && x->truth == y->truth);
        TIMELAKE_ASSERT((uint64_t)x->start + x->size <= a->size);
        int64_t v;
        int truth;
        TIMELAKE_ASSERT(tl_json_present(x) == (x->kind != TL_JSON_NULL));
        TIMELAKE_ASSERT((tl_json_bool(a, x, &truth, NULL) == TL_OK) == (x->kind == TL_JSON_BOOL));
        if (tl_json_int64(a, x, &v, NULL) == TL_OK) {
            char digits[24];
            TIMELAKE_ASSERT(tl_span_equal(tl_json_raw(a, x), tli_text_span(digits, tli_number_i64(digits, v)))
                            || (v == 0 && x->size == 2)); /* -0 */
        }
        if (x->kind == TL_JSON_STRING) {
            TIMELAKE_ASSERT(tl_json_string(a, x, &s, NULL) == TL_OK && tl_json_string(b, y, &t, NULL) == TL_OK);
            TIMELAKE_ASSERT(tl_span_equal(s, t));
            TIMELAKE_ASSERT(tli_json_compare(tli_text_span(a->text + x->start + 1, x->size - 2), t) == 0);
            TIMELAKE_ASSERT(tli_text_utf8(s.data, s.size) == s.size);
        } else if (x->kind == TL_JSON_NUMBER) {
            TIMELAKE_ASSERT(tl_span_equal(tl_json_raw(a, x), tl_json_raw(b, y)));
        }
    }
}

/* Walking by first and next meets every child once. */
static void walk(const tl_json *tree)
{
    uint32_t i;
    for (i = 0; i < tree->root->nodes; i++) {
        const tl_json_node *node = tree->root + i, *child;
        uint32_t n = 0;
        for (child = tl_json_first(node); child != NULL; child = tl_json_next(node, child)) {
            tl_span key;
            n++;
            if (node->kind == TL_JSON_OBJECT && n < 4 && tl_json_string(tree, child, &key, NULL) == TL_OK)
                TIMELAKE_ASSERT(tl_json_member(tree, node, key) >= child + 1); /* the last of that name */
        }
        TIMELAKE_ASSERT(n == node->count);
        if (node->kind == TL_JSON_ARRAY && n != 0)
            TIMELAKE_ASSERT(tl_json_at(node, n - 1) != NULL && tl_json_at(node, n) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_error check, err;
    tl_json tree, again;
    tl_buffer out;
    const char *text = (const char *)data;
    tl_status st = tl_json_check(text, size, NULL, &check);
    memset(&out, 0, sizeof out);
    TIMELAKE_ASSERT(tl_json_parse(&tree, text, size, NULL, NULL, &err) == st);
    TIMELAKE_ASSERT(tl_json_canonical(&out, text, size, NULL, NULL) == st);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(check.position == err.position && check.position <= size && out.size == 0);
        tl_buffer_free(&out);
        return 0;
    }
    TIMELAKE_ASSERT(out.size <= size);
    TIMELAKE_ASSERT(tl_json_parse(&again, (const char *)out.data, out.size, NULL, NULL, NULL) == TL_OK);
    compare(&tree, &again);
    walk(&tree);
    {
        tl_buffer twice;
        memset(&twice, 0, sizeof twice);
        TIMELAKE_ASSERT(tl_json_canonical(&twice, (const char *)out.data, out.size, NULL, NULL) == TL_OK);
        TIMELAKE_ASSERT(twice.size == out.size && memcmp(twice.data, out.data, out.size) == 0);
        tl_buffer_free(&twice);
    }
    tl_json_free(&again);
    tl_json_free(&tree);
    tl_buffer_free(&out);
    return 0;
}
