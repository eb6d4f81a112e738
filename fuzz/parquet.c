/* Parquet footers: any bytes as the end of a file of iot.types (tests/data, run from the top). Asserted: no answer but
   those the contract names; an entry's numbers are possible, its columns ascend; the footer made for a head says of the
   file what the file's own end says. The first two bytes choose how much lies before. Then the bytes as rows of the
   table, in a file that we write: the entry made of it has their nulls, and bounds that hold each value. */
#include "../tests/tl_test.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tl_metadata table;

static void prepare(void)
{
    size_t size;
    char *text = tl_test_read("tests/data/warehouse/wh/iot/types/metadata/v2.metadata.json", &size);
    TIMELAKE_ASSERT(text != NULL && tl_metadata_parse(&table, text, size, NULL, NULL, NULL) == TL_OK);
}

static void check_again(const tl_parquet *p, uint64_t whole)
{
    tl_parquet again;
    tl_parquet_options o;
    size_t i;
    memset(&o, 0, sizeof o);
    o.no_footer = 1;
    TIMELAKE_ASSERT(tl_parquet_data_file(&again, &table, tl_text("p"), p->file.footer.data, p->file.footer.size,
                                         TLI_MAX(whole, (uint64_t)p->file.footer.size), &o, NULL) == TL_OK);
    TIMELAKE_ASSERT(again.file.file.records == p->file.file.records
                    && again.file.column_count == p->file.column_count);
    for (i = 0; i < p->file.column_count; i++)
        TIMELAKE_ASSERT(again.file.columns[i].values == p->file.columns[i].values
                        && tl_span_equal(again.file.columns[i].lower, p->file.columns[i].lower)
                        && tl_span_equal(again.file.columns[i].upper, p->file.columns[i].upper));
    tl_parquet_free(&again);
}

/* A footer that was given ids is, as the end of the copy, one that has them; all but its schema is as it was. */
static void check_given(const uint8_t *data, size_t size, uint64_t whole)
{
    tl_buffer out, again;
    tl_parquet p, q;
    tl_status st;
    uint64_t keep = 0, same = 0;
    size_t i;
    memset(&out, 0, sizeof out);
    memset(&again, 0, sizeof again);
    st = tl_parquet_give_ids(&out, &keep, &table, data, size, whole, NULL, NULL, NULL);
    TIMELAKE_ASSERT((st == TL_OK) == (out.size != 0) && keep <= whole);
    if (st == TL_OK) {
        TIMELAKE_ASSERT(tl_parquet_give_ids(&again, &same, &table, out.data, out.size, keep + out.size, NULL, NULL,
                                            NULL) == TL_OK);
        TIMELAKE_ASSERT(same == keep && again.size == out.size && memcmp(again.data, out.data, out.size) == 0);
        st = tl_parquet_data_file(&p, NULL, tl_text("p"), data, size, whole, NULL, NULL);
        if (tl_parquet_data_file(&q, NULL, tl_text("p"), out.data, out.size, keep + out.size, NULL, NULL) == TL_OK
            && st == TL_OK) { /* numbers may be possible in a file of the one size only */
            TIMELAKE_ASSERT(q.file.file.records == p.file.file.records);
            TIMELAKE_ASSERT(p.field_count == q.field_count && p.row_groups == q.row_groups);
            for (i = 0; i < q.field_count; i++)
                TIMELAKE_ASSERT(q.fields[i].id >= 0 && tl_span_equal(q.fields[i].name, p.fields[i].name));
        }
        tl_parquet_free(&p);
        tl_parquet_free(&q);
    }
    tl_buffer_free(&again);
    tl_buffer_free(&out);
}

/* ---- files that we write ---- */

#define ROWS 64

static uint8_t texts[ROWS * 16], decimals[ROWS * 16];
static int32_t offsets[ROWS + 1];

/* The format of a column; its values are the bytes from `values` on, in a form that the type allows. */
static const char *column_format(const tl_field *f, const uint8_t **values, int rows)
{
    static const char *const formats[] = {NULL, "b", "i", "l", "f", "g", "d:10,2", "tdD", "ttu", "tsu:", "tsu:UTC",
                                          "tsn:", "tsn:UTC", "u", "w:16", "w:16", "z"};
    int i;
    if (f->type == TL_ICEBERG_DECIMAL) { /* sign and eight bytes */
        for (i = 0; i < rows; i++) {
            int64_t v = (int64_t)tli_bits_u64(*values + 16 * i);
            int64_t top = v < 0 ? -1 : 0;
            memcpy(decimals + 16 * i + (TLI_BIG_ENDIAN ? 8 : 0), &v, 8);
            memcpy(decimals + 16 * i + (TLI_BIG_ENDIAN ? 0 : 8), &top, 8);
        }
        *values = decimals;
        return f->precision > 18 ? "d:38,10" : formats[f->type];
    }
    return formats[f->type];
}

static int bound_holds(const tl_field *f, tl_span bound, tl_span value, int sign)
{
    tli_scan_key a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    tli_scan_bound(f, bound, &a);
    tli_scan_bound(f, value, &b);
    return b.kind == TLI_SCAN_UNKNOWN || tli_scan_order(&a, &b) * sign <= 0;
}

/* What the entry says of one column. Of decimals the values lie otherwise than the bounds: they are not looked at. */
static void check_column(const tl_field *f, const tl_column *c, const struct ArrowArray *a)
{
    uint64_t nulls = 0;
    int64_t i;
    for (i = 0; i < a->length; i++) {
        int size = f->type == TL_ICEBERG_STRING || f->type == TL_ICEBERG_BINARY ? 0
                   : f->type == TL_ICEBERG_FIXED ? 16
                   : f->type == TL_ICEBERG_INT || f->type == TL_ICEBERG_FLOAT || f->type == TL_ICEBERG_DATE ? 4 : 8;
        const uint8_t *at = (const uint8_t *)a->buffers[1] + i * size;
        nulls += !tli_arrow_valid(a, i);
        if (!tli_arrow_valid(a, i) || f->type == TL_ICEBERG_DECIMAL || f->type == TL_ICEBERG_BOOLEAN || TLI_BIG_ENDIAN)
            continue;
        if (size == 0) {
            at = (const uint8_t *)a->buffers[2] + offsets[i];
            size = offsets[i + 1] - offsets[i];
        }
        TIMELAKE_ASSERT(c->lower.data == NULL || bound_holds(f, c->lower, tli_text_span((const char *)at,
                                                                                       (size_t)size), 1));
        TIMELAKE_ASSERT(c->upper.data == NULL || bound_holds(f, c->upper, tli_text_span((const char *)at,
                                                                                       (size_t)size), -1));
    }
    TIMELAKE_ASSERT(c->values == (uint64_t)a->length && c->has_nulls && c->nulls == nulls);
}

static void check_entry(const tl_buffer *out, const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    tl_metadata whole = table; /* but not partitioned */
    tl_parquet p;
    int64_t i;
    size_t k;
    whole.partitioned = 0;
    TIMELAKE_ASSERT(tl_parquet_data_file(&p, &whole, tl_text("p"), out->data, out->size, out->size, NULL, NULL)
                    == TL_OK);
    TIMELAKE_ASSERT(p.file.file.records == (uint64_t)batch->length);
    TIMELAKE_ASSERT(p.file.column_count == (size_t)schema->n_children);
    for (i = 0; i < schema->n_children; i++) {
        const tl_field *f = tl_metadata_field(&table, tl_text(schema->children[i]->name));
        for (k = 0; p.file.columns[k].field_id != f->id; k++) {
        }
        check_column(f, &p.file.columns[k], batch->children[i]);
    }
    tl_parquet_free(&p);
}

static void check_written(const uint8_t *data, size_t size)
{
    tl_error err;
    tli_store *store = tli_mem_store_new(NULL, 1 << 20, NULL, 0, NULL, NULL, &err);
    struct ArrowSchema *schema = tli_arrow_schema_new(store, "+s", tl_text(""), 0, (int64_t)table.field_count, &err);
    struct ArrowArray *batch = tli_arrow_array_new(store, 1, (int64_t)table.field_count, &err);
    const struct ArrowArray *batches = batch;
    int rows = TLI_MIN((int)(data[0] % ROWS), (int)(size / 32)), i;
    tl_buffer out;
    uint32_t k;
    int64_t n = 0;
    tl_status st;
    memset(&out, 0, sizeof out);
    for (i = 0; i < rows; i++)
        offsets[i + 1] = offsets[i] + data[i] % 16;
    for (i = 0; i < rows * 16; i++)
        texts[i] = data[i] & 127;
    for (k = 0; k < table.field_count; k++) {
        const tl_field *f = &table.fields[k];
        const uint8_t *values = data + data[k % size] % 16;
        tl_span key = tl_text("PARQUET:field_id"), id;
        struct ArrowArray *a;
        char digits[16];
        const char *format = column_format(f, &values, rows);
        if (format == NULL || rows == 0)
            continue;
        snprintf(digits, sizeof digits, "%d", f->id);
        id = tl_text(digits);
        schema->children[n] = tli_arrow_schema_new(store, format, f->name, f->required ? 0 : ARROW_FLAG_NULLABLE, 0,
                                                   &err);
        TIMELAKE_ASSERT(tli_arrow_schema_metadata(store, schema->children[n], &key, &id, 1, &err) == TL_OK);
        a = tli_arrow_array_new(store, format[0] == 'u' || format[0] == 'z' ? 3 : 2, 0, &err);
        a->length = rows;
        a->null_count = f->required ? 0 : -1;
        a->buffers[0] = f->required ? NULL : data + k % 8;
        a->buffers[1] = a->n_buffers == 3 ? (const uint8_t *)offsets : values;
        if (a->n_buffers == 3)
            a->buffers[2] = texts;
        batch->children[n++] = a;
    }
    schema->n_children = batch->n_children = n;
    batch->length = rows;
    st = tl_parquet_write(&out, schema, &batches, 1, NULL, &err);
    TIMELAKE_ASSERT(st == (rows == 0 ? TL_UNSUPPORTED : TL_OK));
    if (st == TL_OK)
        check_entry(&out, schema, batch);
    tl_buffer_free(&out);
    tli_mem_store_drop(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_test_memory memory;
    tl_parquet_options o;
    tl_parquet p;
    tl_status st;
    tl_error err;
    uint64_t whole;
    size_t i;
    if (table.fields == NULL)
        prepare();
    if (size < 2)
        return 0;
    whole = size - 2 + (uint64_t)data[0] * data[1];
    memset(&memory, 0, sizeof memory);
    memset(&o, 0, sizeof o);
    o.allocator = tl_test_allocator(&memory);
    st = tl_parquet_data_file(&p, &table, tl_text("p"), data + 2, size - 2, whole, &o, &err);
    TIMELAKE_ASSERT(st == TL_OK || st == TL_CORRUPT || st == TL_UNSUPPORTED || st == TL_TRUNCATED || st == TL_LIMIT
                    || st == TL_NO_MEMORY);
    TIMELAKE_ASSERT(st != TL_TRUNCATED || (err.need > size - 2 && err.need <= whole));
    if (st == TL_OK) {
        TIMELAKE_ASSERT(p.file.file.records > 0 && p.file.file.size == whole);
        for (i = 1; i < p.file.column_count; i++)
            TIMELAKE_ASSERT(p.file.columns[i].field_id > p.file.columns[i - 1].field_id);
        for (i = 0; i < p.file.column_count; i++)
            TIMELAKE_ASSERT(p.file.columns[i].nulls <= p.file.columns[i].values);
        if (p.file.footer.data != NULL)
            check_again(&p, whole);
    }
    tl_parquet_free(&p);
    st = tl_parquet_data_file(&p, NULL, tl_text("p"), data + 2, size - 2, whole, &o, &err); /* of no table */
    TIMELAKE_ASSERT(st != TL_OK || (p.field_count > 0 && p.fields[0].name.data != NULL));
    tl_parquet_free(&p);
    TIMELAKE_ASSERT(memory.live == 0);
    check_given(data + 2, size - 2, whole);
    check_written(data, size);
    return 0;
}
