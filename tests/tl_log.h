/* What the tests of the timeseries log share: the recorded verdicts of the crate (tests/data/log), line by line. */
#ifndef TL_LOG_H
#define TL_LOG_H

#define LOG_DATA "tests/data/log/"

/* A JSON member by name, and its value as text, number. */
TL_TEST_FN const tl_json_node *log_get(const tl_json *t, const tl_json_node *object, const char *name)
{
    return tl_json_member(t, object, tl_text(name));
}

TL_TEST_FN tl_span log_text(const tl_json *t, const tl_json_node *object, const char *name)
{
    tl_span s = {NULL, 0};
    const tl_json_node *node = log_get(t, object, name);
    if (tl_json_present(node))
        (void)tl_json_string(t, node, &s, NULL);
    return s;
}

TL_TEST_FN int64_t log_number(const tl_json *t, const tl_json_node *object, const char *name, int64_t absent)
{
    const tl_json_node *node = log_get(t, object, name);
    if (tl_json_present(node))
        (void)tl_json_int64(t, node, &absent, NULL);
    return absent;
}

/* Calls `line` for each line of a compressed file. Answers how many there were. */
TL_TEST_FN long log_lines(const char *name, void (*line)(const tl_json *t, const tl_json_node *row))
{
    const size_t most = (size_t)4 << 20;
    char path[256], *packed, *text = (char *)malloc(most), *at, *end;
    size_t size, used = 0;
    long count = 0;
    tl_limits limits = {0, 0, 0, 0, 0, 0, 256};
    tl_error err;
    snprintf(path, sizeof path, LOG_DATA "%s.jsonl.zst", name);
    packed = tl_test_read(path, &size);
    CHECK(packed != NULL && text != NULL);
    if (packed == NULL || text == NULL)
        return 0;
    CHECK_STATUS(tl_zstd_decompress(text, most, &used, packed, size, NULL, &err), TL_OK, &err);
    for (at = text; at < text + used; at = end + 1) {
        tl_json tree;
        end = (char *)memchr(at, '\n', (size_t)(text + used - at));
        if (end == NULL)
            break;
        if (CHECK_STATUS(tl_json_parse(&tree, at, (size_t)(end - at), &limits, NULL, &err), TL_OK, &err)) {
            line(&tree, tree.root);
            tl_json_free(&tree);
        }
        count++;
    }
    free(packed);
    free(text);
    return count;
}

/* The name of a fault against a recorded one, which has "Commit." in front when it came from the log. */
TL_TEST_FN int log_same_kind(const tl_fault *fault, tl_span want, tl_span who)
{
    char name[96];
    if (want.size > 7 && memcmp(want.data, "Commit.", 7) == 0) {
        want.data += 7;
        want.size -= 7;
    }
    if (tl_span_equal(tl_text(tl_fault_name(fault, name)), want))
        return 1;
    fprintf(stderr, "%s: %.*s: %s (%s), not %.*s\n", tl_test_name, (int)who.size, who.data, name,
            fault->error.text != NULL ? fault->error.text : "", (int)want.size, want.size != 0 ? want.data : "");
    tl_test_failures++;
    return 0;
}

/* What the recorded details of an error say, as far as they are there, against the fault. */
TL_TEST_FN void log_same_details(const tl_json *t, const tl_json_node *details, const tl_fault *fault)
{
    const tl_json_node *features = log_get(t, details, "features"), *item;
    tl_span path = log_text(t, details, "path"), column = log_text(t, details, "column");
    if (!tl_json_present(details))
        return;
    if (log_get(t, details, "expected") != NULL && log_get(t, details, "expected")->kind == TL_JSON_NUMBER) {
        char found[24];
        tl_span raw = tl_json_raw(t, log_get(t, details, "found"));
        CHECK_INT(fault->expected, log_number(t, details, "expected", 0));
        CHECK_BYTES(found, tli_number_u64(found, fault->found), raw.data, raw.size);
    }
    if (log_get(t, details, "commit_version") != NULL)
        CHECK_INT(fault->version, log_number(t, details, "commit_version", 0));
    if (path.data != NULL)
        CHECK_BYTES(fault->about, fault->about_size, path.data, path.size);
    if (column.data != NULL && column.size < TL_FAULT_ABOUT)
        CHECK_BYTES(fault->about, fault->about_size, column.data, column.size);
    if (features != NULL) {
        char joined[4096];
        size_t n = 0;
        for (item = tl_json_first(features); item != NULL; item = tl_json_next(features, item)) {
            tl_span name;
            (void)tl_json_string(t, item, &name, NULL);
            n += (size_t)snprintf(joined + n, sizeof joined - n, "%s%.*s", n == 0 ? "" : ", ", (int)name.size,
                                  name.data);
        }
        CHECK_BYTES(fault->about, fault->about_size, joined, n < TL_FAULT_ABOUT ? n : TL_FAULT_ABOUT);
    }
}

/* A set of features against a recorded array. */
TL_TEST_FN int log_same_set(const tl_json *t, const tl_json_node *array, const tl_features *set)
{
    const tl_json_node *item;
    size_t i = 0;
    if (array == NULL || array->kind != TL_JSON_ARRAY) /* a long list is recorded by its count */
        return array == NULL || set->count == (size_t)log_number(t, array, "count", (int64_t)set->count);
    for (item = tl_json_first(array); item != NULL; item = tl_json_next(array, item), i++) {
        tl_span name;
        if (tl_json_string(t, item, &name, NULL) != TL_OK || i >= set->count || !tl_span_equal(name, set->names[i]))
            return 0;
    }
    return i == set->count;
}

/* Bytes that have to be equal: where they part, when they are not. */
TL_TEST_FN void log_same_bytes(const char *got, size_t size, tl_span want)
{
    size_t i = 0, from;
    while (i < size && i < want.size && got[i] == want.data[i])
        i++;
    from = i < 40 ? 0 : i - 40;
    if (i != size || size != want.size) {
        fprintf(stderr, "%s: at %zu '%.*s', not '%.*s'\n", tl_test_name, i,
                (int)(size - from < 120 ? size - from : 120), got + from,
                (int)(want.size - from < 120 ? want.size - from : 120), want.data + from);
        tl_test_failures++;
    }
}

/* A text with everything between `"timestamp":"` and the next quote replaced by @, as recorded commits have it. */
TL_TEST_FN size_t log_masked(char *out, const uint8_t *text, size_t size)
{
    static const char mark[] = "\"timestamp\":\"";
    size_t i, n = 0;
    for (i = 0; i < size; i++) {
        out[n++] = (char)text[i];
        if (n >= sizeof mark - 1 && i < 80 && memcmp(out + n - (sizeof mark - 1), mark, sizeof mark - 1) == 0) {
            out[n++] = '@';
            while (i + 1 < size && text[i + 1] != '"')
                i++;
        }
    }
    return n;
}
#endif
