/* Compares two (schema, array) values by what they say, not by their bytes: offsets, slices, dictionaries with other
   indices, views with other buffers,
       validity bitmaps without nulls make no difference. Include after tl_test.h. The first
   difference goes to tl_compare_why. NaN equals NaN; 0.0 and -0.0 differ; metadata is compared as a set of pairs. */
#ifndef TL_COMPARE_H
#define TL_COMPARE_H

static char tl_compare_why[512];

TL_TEST_FN int tl_compare_differ(const char *what, const struct ArrowSchema *s, long long i, const char *a,
                                 const char *b)
{
    if (tl_compare_why[0] == 0)
        snprintf(tl_compare_why, sizeof tl_compare_why, "%s of '%s' (%s) at %lld: %.100s, %.100s", what,
                 s->name != NULL ? s->name : "", s->format, i, a, b);
    return 0;
}

/* `pairs` of a that b has too; both counts must agree for equality. */
TL_TEST_FN int tl_compare_metadata(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    tl_span k, v, other_k, other_v;
    int32_t i, j, in_a, in_b, n;
    for (n = 0; tl_schema_metadata_at(b, n, &k, &v); n++) {
    }
    for (i = 0; tl_schema_metadata_at(a, i, &k, &v); i++) {
        in_a = in_b = 0;
        for (j = 0; tl_schema_metadata_at(a, j, &other_k, &other_v); j++)
            in_a += tl_span_equal(k, other_k) && tl_span_equal(v, other_v);
        for (j = 0; tl_schema_metadata_at(b, j, &other_k, &other_v); j++)
            in_b += tl_span_equal(k, other_k) && tl_span_equal(v, other_v);
        if (in_a != in_b)
            return 0;
    }
    return i == n;
}

/* `names`: compare the names of the roots too. */
TL_TEST_FN int tl_compare_schemas_at(const struct ArrowSchema *a, const struct ArrowSchema *b, int names)
{
    int64_t known = ARROW_FLAG_NULLABLE | ARROW_FLAG_DICTIONARY_ORDERED | ARROW_FLAG_MAP_KEYS_SORTED, i;
    if (strcmp(a->format, b->format) != 0)
        return tl_compare_differ("format", a, -1, a->format, b->format);
    if (names && !tl_span_equal(tl_text(a->name), tl_text(b->name)))
        return tl_compare_differ("name", a, -1, a->name != NULL ? a->name : "", b->name != NULL ? b->name : "");
    if (names && (a->flags & known) != (b->flags & known))
        return tl_compare_differ("flags", a, (long long)a->flags, "", "");
    if (!tl_compare_metadata(a, b))
        return tl_compare_differ("metadata", a, -1, "", "");
    if (a->n_children != b->n_children || (a->dictionary == NULL) != (b->dictionary == NULL))
        return tl_compare_differ("children", a, (long long)a->n_children, "", "");
    for (i = 0; i < a->n_children; i++)
        if (!tl_compare_schemas_at(a->children[i], b->children[i], 1))
            return 0;
    return a->dictionary == NULL || tl_compare_schemas_at(a->dictionary, b->dictionary, 0);
}

/* Equal schemas; the names and flags of the roots do not count. */
TL_TEST_FN int tl_compare_schemas(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    tl_compare_why[0] = 0;
    return tl_compare_schemas_at(a, b, 0);
}

TL_TEST_FN int tl_compare_text(tl_span a, tl_span b, const struct ArrowSchema *s, int64_t i)
{
    char left[101], right[101];
    if (tl_span_equal(a, b))
        return 1;
    snprintf(left, sizeof left, "%.*s", (int)(a.size > 100 ? 100 : a.size), a.data);
    snprintf(right, sizeof right, "%.*s", (int)(b.size > 100 ? 100 : b.size), b.data);
    return tl_compare_differ("text", s, (long long)i, left, right);
}

/* The bytes of value i, its offset not yet added, of a type without children. */
TL_TEST_FN tl_span tl_compare_bytes(const tl_type *t, const struct ArrowArray *a, int64_t i)
{
    tli_arrow_layout layout = tli_arrow_layout_of(t->id);
    int width = tli_arrow_offset_width(layout);
    i += a->offset;
    if (layout == TLI_ARROW_VIEWS)
        return tli_arrow_view(a, i);
    if (layout == TLI_ARROW_FIXED)
        return tli_text_span((const char *)a->buffers[1] + i * t->width, (size_t)t->width);
    return tli_text_span((const char *)a->buffers[2] + tli_arrow_offset(a->buffers[1], width, i),
                         (size_t)(tli_arrow_offset(a->buffers[1], width, i + 1) - tli_arrow_offset(a->buffers[1],
                                                                                                   width, i)));
}

TL_TEST_FN int tl_compare_nan(const tl_type *t, tl_span v)
{
    uint64_t bits = 0;
    if (t->id == TL_TYPE_FLOAT16)
        bits = (uint64_t)(tli_bits_u16(v.data) & 0x7fffu) << 48 > (uint64_t)0x7c00u << 48;
    else if (t->id == TL_TYPE_FLOAT32)
        bits = (tli_bits_u32(v.data) & 0x7fffffffu) > 0x7f800000u;
    else if (t->id == TL_TYPE_FLOAT64)
        bits = (tli_bits_u64(v.data) & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
    return bits != 0;
}

TL_TEST_FN int tl_compare_value(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i,
                                const struct ArrowSchema *sb, const struct ArrowArray *b, int64_t j);

/* `n` values of the children from a place on that counts the parent's offset, but not the child's. */
TL_TEST_FN int tl_compare_range(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i,
                                const struct ArrowSchema *sb, const struct ArrowArray *b, int64_t j, int64_t n)
{
    int64_t k;
    for (k = 0; k < n; k++)
        if (!tl_compare_value(s, a, i + k, sb, b, j + k))
            return 0;
    return 1;
}

TL_TEST_FN int tl_compare_nested(const tl_type *t, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i,
                                 const struct ArrowSchema *sb, const struct ArrowArray *b, int64_t j)
{
    tli_arrow_layout layout = tli_arrow_layout_of(t->id);
    int width = tli_arrow_offset_width(layout);
    int64_t k, n;
    i += a->offset;
    j += b->offset;
    if (layout == TLI_ARROW_STRUCT) {
        for (k = 0; k < s->n_children; k++)
            if (!tl_compare_value(s->children[k], a->children[k], i, sb->children[k], b->children[k], j))
                return 0;
        return 1;
    }
    if (layout == TLI_ARROW_FIXED_LIST)
        return tl_compare_range(s->children[0], a->children[0], i * t->size, sb->children[0], b->children[0],
                                j * t->size,
                                t->size);
    n = tli_arrow_offset(a->buffers[1], width, i + 1) - tli_arrow_offset(a->buffers[1], width, i);
    if (n != tli_arrow_offset(b->buffers[1], width, j + 1) - tli_arrow_offset(b->buffers[1], width, j))
        return tl_compare_differ("list length", s, (long long)i, "", "");
    return tl_compare_range(s->children[0], a->children[0], tli_arrow_offset(a->buffers[1], width, i), sb->children[0],
                            b->children[0], tli_arrow_offset(b->buffers[1], width, j), n);
}

TL_TEST_FN int tl_compare_value(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i,
                                const struct ArrowSchema *sb, const struct ArrowArray *b, int64_t j)
{
    int valid = tli_arrow_valid(a, i);
    tl_type t;
    tl_span left, right;
    if (valid != tli_arrow_valid(b, j))
        return tl_compare_differ("null", s, (long long)i, valid ? "a value" : "null", valid ? "null" : "a value");
    if (!valid)
        return 1;
    (void)tl_type_of(s, &t, NULL);
    if (s->dictionary != NULL)
        return tl_compare_value(s->dictionary, a->dictionary, tli_arrow_integer(&t, a->buffers[1], a->offset + i),
                                sb->dictionary, b->dictionary, tli_arrow_integer(&t, b->buffers[1], b->offset + j));
    if (s->n_children > 0 || t.id >= TL_TYPE_LIST)
        return tl_compare_nested(&t, s, a, i, sb, b, j);
    if (t.id == TL_TYPE_BOOL) {
        if (tli_bits_get(a->buffers[1], (uint64_t)(a->offset + i)) == tli_bits_get(b->buffers[1],
                                                                                   (uint64_t)(b->offset + j)))
            return 1;
        return tl_compare_differ("value", s, (long long)i, "", "");
    }
    left = tl_compare_bytes(&t, a, i);
    right = tl_compare_bytes(&t, b, j);
    if (tl_compare_nan(&t, left) && tl_compare_nan(&t, right))
        return 1;
    if (tli_arrow_layout_of(t.id) == TLI_ARROW_FIXED && !tl_span_equal(left, right)) {
        char hex[2][72];
        size_t k;
        for (k = 0; k < left.size && k < 32; k++) {
            snprintf(hex[0] + 2 * k, 3, "%02x", (unsigned)(unsigned char)left.data[k]);
            snprintf(hex[1] + 2 * k, 3, "%02x", (unsigned)(unsigned char)right.data[k]);
        }
        return tl_compare_differ("value", s, (long long)i, hex[0], hex[1]);
    }
    return tl_compare_text(left, right, s, i);
}

/* What both say is the same: length and every value. The schemas must be equal. */
TL_TEST_FN int tl_compare_arrays(const struct ArrowSchema *schema, const struct ArrowArray *a,
                                 const struct ArrowSchema *other,
                                 const struct ArrowArray *b)
{
    tl_compare_why[0] = 0;
    if (a->length != b->length)
        return tl_compare_differ("length", schema, (long long)a->length, "", "");
    if (a->null_count >= 0 && b->null_count >= 0 && a->null_count != b->null_count)
        return tl_compare_differ("null count", schema, (long long)a->null_count, "", "");
    return tl_compare_range(schema, a, 0, other, b, 0, a->length);
}

/* Both documents hold the same: properties, and sections with equal schemas and the same rows, however these are split
   into batches. Opens every column. */
TL_TEST_FN int tl_compare_section(tl_section *a, tl_section *b)
{
    int64_t column, i = 0, j = 0, row;
    int32_t ba = 0, bb = 0;
    tl_error err;
    tl_compare_why[0] = 0;
    if (!tl_compare_schemas_at(a->schema, b->schema, 0))
        return 0;
    if (a->rows != b->rows)
        return tl_compare_differ("rows", a->schema, (long long)a->rows, "", "");
    if (tl_section_open(a, &err) != TL_OK || tl_section_open(b, &err) != TL_OK)
        return tl_compare_differ("opening", a->schema, -1, err.text, "");
    for (row = 0; row < a->rows; row++, i++, j++) {
        const struct ArrowArray *left = NULL, *right = NULL;
        for (; i >= a->batches[ba].rows; ba++)
            i = 0;
        for (; j >= b->batches[bb].rows; bb++)
            j = 0;
        for (column = 0; column < a->schema->n_children; column++) {
            if (tl_section_column(a, ba, (int32_t)column, &left, &err) != TL_OK
                || tl_section_column(b, bb, (int32_t)column, &right, &err) != TL_OK)
                return tl_compare_differ("opening", a->schema, (long long)column, err.text, "");
            if (!tl_compare_value(a->schema->children[column], left, i, b->schema->children[column], right, j))
                return 0;
        }
    }
    return 1;
}

TL_TEST_FN int tl_compare_documents(tl_document *a, tl_document *b)
{
    int32_t i;
    tl_compare_why[0] = 0;
    if (a->property_count != b->property_count || a->section_count != b->section_count) {
        snprintf(tl_compare_why, sizeof tl_compare_why, "%d, %d properties, %d, %d sections", (int)a->property_count,
                 (int)b->property_count, (int)a->section_count, (int)b->section_count);
        return 0;
    }
    for (i = 0; i < a->property_count; i++)
        if (!tl_span_equal(a->properties[i].key, b->properties[i].key)
            || !tl_span_equal(a->properties[i].value, b->properties[i].value)) {
            snprintf(tl_compare_why, sizeof tl_compare_why, "property %d", (int)i);
            return 0;
        }
    for (i = 0; i < a->section_count; i++) {
        if (!tl_span_equal(a->sections[i].name, b->sections[i].name)) {
            snprintf(tl_compare_why, sizeof tl_compare_why, "the name of section %d", (int)i);
            return 0;
        }
        if (!tl_compare_section(&a->sections[i], &b->sections[i]))
            return 0;
    }
    return 1;
}

/* CHECK with the first difference said. */
#define CHECK_SAME(comparison)                                                                                         \
    do {                                                                                                               \
        if (!(comparison)) {                                                                                           \
            fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, tl_test_name, #comparison, tl_compare_why);     \
            tl_test_failures++;                                                                                        \
        }                                                                                                              \
    } while (0)

#endif
