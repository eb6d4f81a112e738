/* A table with a column of every layout, for tests of whatever carries tables. Include after tl_test.h. */
#ifndef TL_TABLE_H
#define TL_TABLE_H

static const char *const tl_table_formats[] = {"n", "b", "c", "S", "i", "g", "d:38,2", "w:3", "u", "Z", "vu", "+l",
                                               "+L", "+w:2", "+s", "+m", "w:0", "d:76,1,256"};
#define TL_TABLE_COLUMNS (sizeof tl_table_formats / sizeof tl_table_formats[0])

/* A column per layout, then a dictionary<int16, utf8>. All nullable. */
TL_TEST_FN struct ArrowSchema *tl_table_schema(tli_store *store)
{
    tl_error err;
    struct ArrowSchema *root = tli_arrow_schema_new(store, "+s", tl_text(""), 0, (int64_t)TL_TABLE_COLUMNS + 1, &err);
    struct ArrowSchema *s, *entries;
    size_t i;
    for (i = 0; i < TL_TABLE_COLUMNS; i++) {
        const char *f = tl_table_formats[i];
        char name[2] = {(char)('a' + i), 0};
        int nested = f[0] == '+', fields = nested ? (f[1] == 's' ? 2 : 1) : 0;
        s = root->children[i] = tli_arrow_schema_new(store, f, tl_text(name), ARROW_FLAG_NULLABLE, fields, &err);
        if (nested && f[1] == 'm') {
            entries = s->children[0] = tli_arrow_schema_new(store, "+s", tl_text("entries"), 0, 2, &err);
            entries->children[0] = tli_arrow_schema_new(store, "u", tl_text("key"), 0, 0, &err);
            entries->children[1] = tli_arrow_schema_new(store, "l", tl_text("value"), ARROW_FLAG_NULLABLE, 0, &err);
        } else if (nested) {
            s->children[0] = tli_arrow_schema_new(store, f[1] == 'L' ? "vz" : "u", tl_text("item"),
                                                  ARROW_FLAG_NULLABLE, 0, &err);
            if (fields == 2)
                s->children[1] = tli_arrow_schema_new(store, "i", tl_text("second"), 0, 0, &err);
        }
    }
    s = root->children[TL_TABLE_COLUMNS] = tli_arrow_schema_new(store, "s", tl_text("dictionary"), ARROW_FLAG_NULLABLE,
                                                                0, &err);
    s->dictionary = tli_arrow_schema_new(store, "u", tl_text(""), ARROW_FLAG_NULLABLE, 0, &err);
    return root;
}

/* One value: `fill` 0 counts, 1 puts. */
TL_TEST_FN void tl_table_text(tli_build_node *n, int fill, int64_t row)
{
    char text[64];
    int size = snprintf(text, sizeof text, row % 3 == 0 ? "%d" : "a longer text: %d, \xc3\xa9", (int)row);
    if (fill)
        tli_build_bytes(n, text, (size_t)size);
    else
        tli_build_count_bytes(n, (size_t)size);
}

TL_TEST_FN void tl_table_null(tli_build_node *n, int fill)
{
    if (fill)
        tli_build_null(n);
    else
        tli_build_count_null(n);
}

TL_TEST_FN void tl_table_value(tli_build_node *n, int fill, int64_t row)
{
    uint8_t bytes[32];
    int64_t k;
    memset(bytes, (int)(row + 1), sizeof bytes);
    if (n->schema->dictionary != NULL) { /* one entry per value, as the simplest of encoders would do */
        if (fill)
            tli_build_16(n, (uint16_t)n[1].at);
        else
            tli_build_count(n);
        tl_table_text(n + 1, fill, row);
        return;
    }
    switch (n->layout) {
    case TLI_ARROW_BYTES:
    case TLI_ARROW_LARGE_BYTES:
    case TLI_ARROW_VIEWS:
        tl_table_text(n, fill, row);
        return;
    case TLI_ARROW_NULL:
        tl_table_null(n, fill);
        return;
    case TLI_ARROW_LIST:
    case TLI_ARROW_LARGE_LIST:
        for (k = 0; k < row % 4; k++) {
            if (n[1].layout == TLI_ARROW_STRUCT) {
                tl_table_text(n + 2, fill, k);
                if (k == 1)
                    tl_table_null(n + 3, fill);
                else
                    tl_table_value(n + 3, fill, k);
                if (fill)
                    tli_build_end(n + 1);
                else
                    tli_build_count(n + 1);
            } else if (k == 1) {
                tl_table_null(n + 1, fill);
            } else {
                tl_table_text(n + 1, fill, row + k);
            }
        }
        break;
    case TLI_ARROW_FIXED_LIST:
        tl_table_text(n + 1, fill, row);
        tl_table_text(n + 1, fill, row + 1);
        break;
    case TLI_ARROW_STRUCT:
        tl_table_text(n + 1, fill, row);
        tl_table_value(n + 2, fill, row);
        break;
    default:
        if (!fill)
            tli_build_count(n);
        else if (n->layout == TLI_ARROW_BITS)
            tli_build_bool(n, row % 5 == 0);
        else
            tli_build_fixed(n, bytes);
        return;
    }
    if (fill)
        tli_build_end(n);
    else
        tli_build_count(n);
}

/* Rows of which every seventh is null in all columns, from `first` on. */
TL_TEST_FN tl_status tl_table_array(tli_store *store, const struct ArrowSchema *schema, int64_t first, int64_t rows,
                                    struct ArrowArray **array, tl_error *err)
{
    tli_build_tree *b = NULL;
    tl_status st = tli_build_begin(store, schema, NULL, &b, err);
    int fill;
    for (fill = 0; st == TL_OK && fill < 2; fill++) {
        int64_t row;
        for (row = first; row < first + rows; row++) {
            uint32_t i;
            for (i = 1; i < b->nodes->span; i += b->nodes[i].span) {
                if (row % 7 == 6)
                    tl_table_null(b->nodes + i, fill);
                else
                    tl_table_value(b->nodes + i, fill, row);
            }
            if (fill)
                tli_build_end(b->nodes);
            else
                tli_build_count(b->nodes);
        }
        if (fill == 0)
            st = tli_build_allocate(b, err);
    }
    return st == TL_OK ? tli_build_finish(b, array, err) : st;
}

#endif
