/* What the tests of heads share: reading fixtures, and comparing typed views with rows that the reference decoded.
   Include after tl_test.h. */
#ifndef TL_HEADS_H
#define TL_HEADS_H

typedef struct tl_test_json {
    char *text;
    tl_json tree;
} tl_test_json;

TL_TEST_FN int tl_heads_json(const char *path, tl_test_json *json)
{
    size_t size;
    tl_error err;
    memset(json, 0, sizeof *json);
    json->text = tl_test_read(path, &size);
    CHECK(json->text != NULL);
    if (json->text == NULL)
        return 0;
    return CHECK_STATUS(tl_json_parse(&json->tree, json->text, size, NULL, NULL, &err), TL_OK, &err);
}

TL_TEST_FN void tl_heads_json_free(tl_test_json *json)
{
    tl_json_free(&json->tree);
    free(json->text);
}

TL_TEST_FN const tl_json_node *tl_heads_get(const tl_test_json *json, const tl_json_node *node, const char *key)
{
    return tl_json_member(&json->tree, node, tl_text(key));
}

/* The raw text of a member, "null" when it is not there. */
TL_TEST_FN tl_span tl_heads_raw(const tl_test_json *json, const tl_json_node *node, const char *key)
{
    const tl_json_node *value = tl_heads_get(json, node, key);
    return value != NULL ? tl_json_raw(&json->tree, value) : tl_text("null");
}

/* The text of a member into a static buffer of the caller's. */
TL_TEST_FN const char *tl_heads_string(const tl_test_json *json, const tl_json_node *node, char *out, size_t size)
{
    tl_span text = tl_text("");
    tl_error err;
    CHECK_STATUS(tl_json_string(&json->tree, node, &text, &err), TL_OK, &err);
    snprintf(out, size, "%.*s", (int)text.size, text.data);
    return out;
}

TL_TEST_FN long long tl_heads_int(const tl_test_json *json, const tl_json_node *node, const char *key)
{
    tl_span raw = tl_heads_raw(json, node, key);
    char digits[32];
    snprintf(digits, sizeof digits, "%.*s", (int)raw.size, raw.data);
    return strtoll(digits, NULL, 10);
}

TL_TEST_FN int tl_heads_same_raw(tl_span raw, const char *text, const char *what)
{
    if (raw.size == strlen(text) && memcmp(raw.data, text, raw.size) == 0)
        return 1;
    fprintf(stderr, "%s: %s is %s, not %.*s\n", tl_test_name, what, text, (int)raw.size, raw.data);
    tl_test_failures++;
    return 0;
}

TL_TEST_FN int tl_heads_same_u64(const tl_test_json *json, const tl_json_node *row, const char *key, int has,
                                 uint64_t v)
{
    char text[32] = "null";
    if (has)
        snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    return tl_heads_same_raw(tl_heads_raw(json, row, key), text, key);
}

TL_TEST_FN int tl_heads_same_i64(const tl_test_json *json, const tl_json_node *row, const char *key, int has, int64_t v)
{
    char text[32] = "null";
    if (has)
        snprintf(text, sizeof text, "%lld", (long long)v);
    return tl_heads_same_raw(tl_heads_raw(json, row, key), text, key);
}

/* Binary is lowercase hex. */
TL_TEST_FN int tl_heads_same_hex(const tl_test_json *json, const tl_json_node *row, const char *key, tl_span v)
{
    static char text[70000];
    size_t i;
    if (v.data == NULL) {
        strcpy(text, "null");
    } else {
        CHECK(v.size < 30000);
        text[0] = '"';
        for (i = 0; i < v.size && i < 30000; i++)
            snprintf(text + 1 + 2 * i, 3, "%02x", (unsigned)(unsigned char)v.data[i]);
        strcpy(text + 1 + 2 * i, "\"");
    }
    return tl_heads_same_raw(tl_heads_raw(json, row, key), text, key);
}

TL_TEST_FN int tl_heads_same_text(const tl_test_json *json, const tl_json_node *row, const char *key, tl_span v)
{
    tl_span want;
    tl_error err;
    if (!CHECK_STATUS(tl_json_string(&json->tree, tl_heads_get(json, row, key), &want, &err), TL_OK, &err))
        return 0;
    return CHECK_BYTES(v.data, v.size, want.data, want.size);
}

TL_TEST_FN int tl_heads_same_splits(const tl_test_json *json, const tl_json_node *row, const tl_file *f)
{
    const tl_json_node *list = tl_heads_get(json, row, "split_offsets"), *value;
    size_t i = 0;
    if (!tl_json_present(list)) {
        CHECK_INT(f->has_split_offsets, 0);
        return 1;
    }
    CHECK_INT(f->has_split_offsets, 1);
    for (value = tl_json_first(list); value != NULL; value = tl_json_next(list, value), i++) {
        int64_t want = -1;
        tl_error err;
        CHECK_STATUS(tl_json_int64(&json->tree, value, &want, &err), TL_OK, &err);
        CHECK_INT(tl_file_split_offset(f, i), want);
    }
    CHECK_INT(tl_file_split_offset(f, i), 0);
    return CHECK_INT(f->split_count, i);
}

/* Rows of `files` in the form of the shared cases. */
TL_TEST_FN void tl_heads_check_files(const tl_test_json *json, const tl_json_node *rows, const tl_files *files)
{
    const tl_json_node *row;
    size_t i = 0;
    tl_file f;
    for (row = tl_json_first(rows); row != NULL; row = tl_json_next(rows, row), i++) {
        tl_files_get(files, i, &f);
        tl_heads_same_text(json, row, "path", f.path);
        tl_heads_same_u64(json, row, "size", 1, f.size);
        tl_heads_same_u64(json, row, "records", 1, f.records);
        tl_heads_same_i64(json, row, "partition", f.has_partition, f.partition);
        tl_heads_same_i64(json, row, "sort_order_id", f.has_sort_order_id, f.sort_order_id);
        tl_heads_same_splits(json, row, &f);
        tl_heads_same_u64(json, row, "added", 1, f.added);
        tl_heads_same_i64(json, row, "snapshot_id", 1, f.snapshot_id);
        tl_heads_same_i64(json, row, "sequence_number", 1, f.sequence_number);
        tl_heads_same_i64(json, row, "file_sequence_number", 1, f.file_sequence_number);
    }
    CHECK_INT(files->count, i);
}

TL_TEST_FN void tl_heads_check_columns(const tl_test_json *json, const tl_json_node *rows, const tl_columns *columns)
{
    const tl_json_node *row;
    size_t i = 0;
    tl_column c;
    for (row = tl_json_first(rows); row != NULL; row = tl_json_next(rows, row), i++) {
        tl_columns_get(columns, i, &c);
        tl_heads_same_u64(json, row, "file", 1, c.file);
        tl_heads_same_i64(json, row, "field_id", 1, c.field_id);
        tl_heads_same_hex(json, row, "lower", c.lower);
        tl_heads_same_hex(json, row, "upper", c.upper);
        tl_heads_same_u64(json, row, "values", c.has_values, c.values);
        tl_heads_same_u64(json, row, "nulls", c.has_nulls, c.nulls);
        tl_heads_same_u64(json, row, "nans", c.has_nans, c.nans);
        tl_heads_same_u64(json, row, "size", c.has_size, c.size);
    }
    CHECK_INT(columns->count, i);
}

/* A head as the shared cases spell it: version, codec, properties, sections files, columns, metadata. */
TL_TEST_FN void tl_heads_check_views(const tl_test_json *json, const tl_json_node *want, tl_head *head)
{
    const tl_json_node *sections = tl_heads_get(json, want, "sections"), *part;
    tl_files files;
    tl_columns columns;
    tl_span metadata;
    tl_error err;
    tl_heads_same_u64(json, want, "version", 1, head->version);
    if (CHECK_STATUS(tl_head_files(head, &files, &err), TL_OK, &err))
        tl_heads_check_files(json, tl_heads_get(json, tl_heads_get(json, sections, "files"), "rows"), &files);
    if (CHECK_STATUS(tl_head_columns(head, TL_COLUMNS_ALL, &columns, &err), TL_OK, &err))
        tl_heads_check_columns(json, tl_heads_get(json, tl_heads_get(json, sections, "columns"), "rows"), &columns);
    part = tl_heads_get(json, tl_heads_get(json, sections, "metadata"), "rows");
    if (CHECK_STATUS(tl_head_metadata(head, &metadata, &err), TL_OK, &err))
        tl_heads_same_text(json, tl_json_at(part, 0), "json", metadata);
}

/* Opens everything a head has: all columns, then the typed views. The first failure. */
TL_TEST_FN tl_status tl_heads_open(tl_head *head, tl_error *err)
{
    int32_t i;
    for (i = 0; i < head->document.section_count; i++) {
        tl_status st = tl_section_open(&head->document.sections[i], err);
        if (st != TL_OK)
            return st;
    }
    return TL_OK;
}

/* Reads every row of every view that opens; a sum, so that nothing is left out. */
TL_TEST_FN uint64_t tl_heads_read(tl_head *head)
{
    tl_files files;
    tl_columns columns;
    tl_footers footers;
    tl_section *last;
    tl_span text;
    uint64_t sum = 0;
    size_t i, j;
    if (tl_head_metadata(head, &text, NULL) == TL_OK)
        for (i = 0; i < text.size; i++)
            sum += (unsigned char)text.data[i];
    if (tl_head_files(head, &files, NULL) == TL_OK)
        for (i = 0; i < files.count; i++) {
            tl_file f;
            tl_files_get(&files, i, &f);
            sum += f.size + (uint64_t)f.path.size;
            sum += f.path.size != 0 ? (unsigned char)f.path.data[f.path.size - 1] : 0u;
            for (j = 0; j < f.split_count; j++)
                sum += (uint64_t)tl_file_split_offset(&f, j);
        }
    if (tl_head_columns(head, TL_COLUMNS_ALL, &columns, NULL) == TL_OK)
        for (i = 0; i < columns.count; i++) {
            tl_column c;
            tl_columns_get(&columns, i, &c);
            sum += c.values + c.nulls + c.nans + c.size + c.lower.size;
            sum += c.upper.size != 0 ? (unsigned char)c.upper.data[c.upper.size - 1] : 0u;
        }
    if (tl_head_footers(head, &footers, NULL) == TL_OK)
        for (i = 0; i < footers.count; i++) {
            tl_footer f;
            tl_footers_get(&footers, i, &f);
            sum += f.footer.size != 0 ? (unsigned char)f.footer.data[f.footer.size - 1] : 0u;
        }
    (void)tl_head_last_values(head, &last, NULL);
    return sum;
}

#endif
