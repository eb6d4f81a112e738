/* >>lastvalue: rows are numbered through all batches. Key, time and insertion time of each are taken first; sorted by
   the hash of the key, and by the key where hashes are equal, the rows of a series lie together, whatever keys there
   are; then only the newest row of each is taken as a whole. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_LASTVALUE_KEYS 256u
#define TLI_LASTVALUE_ALWAYS INT64_MIN

/* A column that rows are compared by: an array of this room's making, so without an offset. */
typedef struct tli_lastvalue_column {
    const struct ArrowArray *array;
    tl_type type;
    tli_arrow_layout layout;
} tli_lastvalue_column;

typedef struct tli_lastvalue {
    tli_store *scratch;
    tli_take take;
    size_t rows;
    uint64_t *places; /* of the rows */
    tli_lastvalue_column *key, time[2];
    uint32_t key_count, time_count;
    uint64_t *hashes; /* of the rows' keys */
    size_t *series;   /* the newest row of each */
    size_t count;
    tl_error *err;
} tli_lastvalue;

/* ---- values of one column ---- */

/* The bytes of a value that is not null; of a boolean a byte. */
TLI_FN tl_span tli_lastvalue_bytes(const tli_lastvalue_column *c, size_t row, uint8_t *bit)
{
    const uint8_t *values = (const uint8_t *)c->array->buffers[1];
    int width = tli_arrow_offset_width(c->layout);
    int64_t from;
    if (c->layout == TLI_ARROW_BITS) {
        *bit = (uint8_t)tli_bits_get(values, row);
        return tli_text_span(bit, 1);
    }
    if (width == 0)
        return tli_text_span(values + row * (size_t)c->type.width, (size_t)c->type.width);
    from = tli_arrow_offset(values, width, (int64_t)row);
    return tli_text_span((const uint8_t *)c->array->buffers[2] + from,
                         (size_t)(tli_arrow_offset(values, width, (int64_t)row + 1) - from));
}

/* Numbers as integers of the same order: floats by their bits, so that -0 comes before 0, and each NaN has a place. */
TLI_FN int64_t tli_lastvalue_number(tl_type_id id, const void *value, int32_t width)
{
    int64_t v = tli_value_signed(value, width);
    if (id == TL_TYPE_FLOAT32 || id == TL_TYPE_FLOAT64)
        return v < 0 ? v ^ INT64_MAX : v;
    return v;
}

TLI_INLINE int tli_lastvalue_three_way(int less, int more)
{
    return more - less;
}

/* Below 0: row a comes before row b; nulls first. 0: it is the same value. */
TLI_FN int tli_lastvalue_compare(const tli_lastvalue_column *c, size_t a, size_t b)
{
    int there_a = tli_arrow_valid(c->array, (int64_t)a), there_b = tli_arrow_valid(c->array, (int64_t)b);
    uint8_t bit_a, bit_b;
    tl_span x, y;
    int64_t i, k;
    if (!there_a || !there_b)
        return there_a - there_b;
    x = tli_lastvalue_bytes(c, a, &bit_a);
    y = tli_lastvalue_bytes(c, b, &bit_b);
    if (c->type.id == TL_TYPE_DECIMAL128) {
        i = (int64_t)tli_bits_u64(x.data + (TLI_BIG_ENDIAN ? 0 : 8));
        k = (int64_t)tli_bits_u64(y.data + (TLI_BIG_ENDIAN ? 0 : 8));
        if (i == k) {
            uint64_t low_a = tli_bits_u64(x.data + (TLI_BIG_ENDIAN ? 8 : 0));
            uint64_t low_b = tli_bits_u64(y.data + (TLI_BIG_ENDIAN ? 8 : 0));
            return tli_lastvalue_three_way(low_a < low_b, low_a > low_b);
        }
        return tli_lastvalue_three_way(i < k, i > k);
    }
    if (c->layout != TLI_ARROW_FIXED || c->type.id == TL_TYPE_FIXED_BINARY)
        return tl_span_compare(x, y);
    i = tli_lastvalue_number(c->type.id, x.data, c->type.width);
    k = tli_lastvalue_number(c->type.id, y.data, c->type.width);
    return tli_lastvalue_three_way(i < k, i > k);
}

TLI_FN int tli_lastvalue_order(const tli_lastvalue_column *columns, uint32_t count, size_t a, size_t b)
{
    uint32_t i;
    int order = 0;
    for (i = 0; i < count && order == 0; i++)
        order = tli_lastvalue_compare(&columns[i], a, b);
    return order;
}

/* ---- what rows are compared by ---- */

/* Takes one column of all rows. */
TLI_FN tl_status tli_lastvalue_read(tli_lastvalue *v, tl_span name, tli_lastvalue_column *column)
{
    tli_take_node *n = NULL;
    uint32_t i;
    tl_status st;
    for (i = v->take.count - 1; i > 0; i--)
        if (v->take.nodes[i].up == i && tl_span_equal(tl_text(v->take.nodes[i].schema->name), name))
            n = &v->take.nodes[i];
    if (n == NULL)
        return tli_err(v->err, TL_CORRUPT, "the table's contract names a column that it has not", TL_NO_POSITION);
    if (n->layout > TLI_ARROW_LARGE_BYTES)
        return tli_err(v->err, TL_UNSUPPORTED, "a series key or time of a nested type", TL_NO_POSITION);
    n->places = v->take.nodes[0].places;
    n->count = v->rows;
    st = tli_take_node_values(&v->take, n, v->scratch, v->scratch);
    column->array = n->array;
    column->type = n->type;
    column->layout = n->layout;
    return st;
}

TLI_FN tl_status tli_lastvalue_columns(tli_lastvalue *v, const tl_contract *contract)
{
    tl_status st;
    v->key = (tli_lastvalue_column *)tli_mem_take_array(v->scratch, TLI_LASTVALUE_KEYS, sizeof *v->key, v->err);
    if (v->key == NULL)
        return v->err->status;
    v->take.nodes[0].places = v->places;
    v->take.nodes[0].count = v->rows;
    st = tli_take_node_values(&v->take, &v->take.nodes[0], v->scratch, v->scratch); /* where columns have their rows */
    for (; st == TL_OK && tl_contract_column(contract, v->key_count).data != NULL; v->key_count++) {
        if (v->key_count == TLI_LASTVALUE_KEYS)
            return tli_err(v->err, TL_LIMIT, "more than 256 columns in a series key", TL_NO_POSITION);
        st = tli_lastvalue_read(v, tl_contract_column(contract, v->key_count), &v->key[v->key_count]);
    }
    if (st == TL_OK)
        st = tli_lastvalue_read(v, contract->time_column, &v->time[v->time_count++]);
    if (st == TL_OK && contract->ingest_time_column.data != NULL)
        st = tli_lastvalue_read(v, contract->ingest_time_column, &v->time[v->time_count++]);
    return st;
}

/* ---- series ---- */

TLI_FN uint64_t tli_lastvalue_hash(const tli_lastvalue *v, size_t row)
{
    uint64_t hash = 0;
    uint32_t i;
    uint8_t bit;
    for (i = 0; i < v->key_count; i++) {
        tl_span bytes = tli_text_span(NULL, 0);
        if (tli_arrow_valid(v->key[i].array, (int64_t)row))
            bytes = tli_lastvalue_bytes(&v->key[i], row, &bit);
        hash = bytes.data == NULL ? hash * 31 + 1 : tli_hash_xxh64(bytes.data, bytes.size, hash);
    }
    return hash;
}

TLI_FN int tli_lastvalue_apart(const void *items, size_t a, size_t b)
{
    const tli_lastvalue *v = (const tli_lastvalue *)items;
    if (v->hashes[a] != v->hashes[b])
        return v->hashes[b] < v->hashes[a];
    return tli_lastvalue_order(v->key, v->key_count, b, a) < 0;
}

/* The newest row of every series. */
TLI_FN tl_status tli_lastvalue_find(tli_lastvalue *v)
{
    const size_t *order = NULL;
    size_t i;
    v->hashes = (uint64_t *)tli_mem_take_array(v->scratch, (uint64_t)v->rows + 1, sizeof *v->hashes, v->err);
    v->series = (size_t *)tli_mem_take_array(v->scratch, (uint64_t)v->rows + 1, sizeof *v->series, v->err);
    if (v->hashes == NULL || v->series == NULL)
        return v->err->status;
    for (i = 0; i < v->rows; i++)
        v->hashes[i] = tli_lastvalue_hash(v, i);
    if (tli_view_order(v->scratch, v->rows, v, tli_lastvalue_apart, &order, v->err) != TL_OK)
        return v->err->status;
    for (i = 0; i < v->rows; i++) {
        size_t row = order != NULL ? order[i] : i, *newest = v->count != 0 ? &v->series[v->count - 1] : NULL;
        if (newest == NULL || tli_lastvalue_apart(v, row, *newest) || tli_lastvalue_apart(v, *newest, row))
            v->series[v->count++] = row;
        else if (tli_lastvalue_order(v->time, v->time_count, *newest, row) <= 0)
            *newest = row;
    }
    return TL_OK;
}

TLI_FN int tli_lastvalue_before(const void *items, size_t a, size_t b)
{
    const tli_lastvalue *v = (const tli_lastvalue *)items;
    return tli_lastvalue_order(v->key, v->key_count, v->series[b], v->series[a]) < 0;
}

/* Is a row's time at or after `since`, in us? */
TLI_FN int tli_lastvalue_stays(const tli_lastvalue *v, size_t row, int64_t since)
{
    const tli_lastvalue_column *c = &v->time[0];
    int64_t time;
    if (since == TLI_LASTVALUE_ALWAYS)
        return 1;
    if (!tli_arrow_valid(c->array, (int64_t)row))
        return 0;
    time = tli_value_signed((const uint8_t *)c->array->buffers[1] + row * (size_t)c->type.width, c->type.width);
    if (c->type.unit == TL_UNIT_NANO)
        time = time / 1000 - (time % 1000 < 0);
    return time >= since;
}

/* ---- merging ---- */

TLI_FN tl_status tli_lastvalue_run(tli_lastvalue *v, tli_store *store, const tl_metadata *m, const tl_rows *const *in,
                                   int64_t since, const struct ArrowSchema *schema, struct ArrowArray **out)
{
    uint64_t rows[TLI_TAKE_INPUTS], *kept;
    const size_t *order;
    size_t i, count = 0;
    uint32_t part;
    tl_status st = tli_take_begin(&v->take, v->scratch, schema, in, rows, v->err);
    if (st != TL_OK)
        return st;
    if (in[1] != NULL && rows[0] + rows[1] == 0)
        return tli_err(v->err, TL_ABSENT, "there are no rows to make a last-value index of", TL_NO_POSITION);
    v->places = (uint64_t *)tli_mem_take_array(v->scratch, rows[0] + rows[1] + 1, sizeof *v->places, v->err);
    if (v->places == NULL)
        return v->err->status;
    for (part = 0; part < v->take.parts; part++)
        for (i = 0; i < (size_t)v->take.nodes[0].arrays[part]->length; i++)
            v->places[v->rows++] = tli_take_place(part, i);
    st = tli_lastvalue_columns(v, &m->contract);
    if (st == TL_OK && since != TLI_LASTVALUE_ALWAYS && v->time[0].type.id != TL_TYPE_TIMESTAMP)
        return tli_err(v->err, TL_CORRUPT, "the time column is no timestamp", TL_NO_POSITION);
    if (st == TL_OK)
        st = tli_lastvalue_find(v);
    if (st == TL_OK)
        st = tli_view_order(v->scratch, v->count, v, tli_lastvalue_before, &order, v->err);
    kept = st == TL_OK ? (uint64_t *)tli_mem_take_array(v->scratch, v->count + 1, sizeof *kept, v->err) : NULL;
    if (kept == NULL)
        return v->err->status;
    for (i = 0; i < v->count; i++) {
        size_t row = v->series[order != NULL ? order[i] : i];
        if (tli_lastvalue_stays(v, row, since))
            kept[count++] = v->places[row];
    }
    return tli_take_rows(&v->take, kept, count, store, v->scratch, out);
}

/* Merges `base` and `newest` (NULL: none) into an index whose rows are not older than `since`. It lies in the store,
   what only the merging needs does not. */
TLI_FN tl_status tli_lastvalue_merge(tli_store *store, const tl_metadata *m, const tl_rows *base,
                                     const tl_rows *newest, int64_t since, const tl_limits *limits,
                                     struct ArrowSchema **schema, struct ArrowArray **out, tl_error *err)
{
    const tl_rows *in[TLI_TAKE_INPUTS];
    tli_lastvalue v;
    tl_status st;
    if (m->contract.time_column.data == NULL)
        return tli_err(err, TL_ABSENT, "a table without a time column has no last-value index", TL_NO_POSITION);
    TLI_FILL(&v, 0, sizeof v);
    v.err = err;
    v.scratch = tli_mem_store_new(&store->allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    if (v.scratch == NULL)
        return err->status;
    in[0] = base;
    in[1] = newest;
    st = tli_schema_of(store, m, limits, schema, err);
    if (st == TL_OK)
        st = tli_lastvalue_run(&v, store, m, in, since, *schema, out);
    tli_mem_store_drop(v.scratch);
    return st;
}

TL_API tl_status tl_last_values_merge(const tl_metadata *metadata, const tl_rows *base, const tl_rows *newest,
                                      const tl_limits *limits, const tl_allocator *allocator,
                                      struct ArrowSchema *schema, struct ArrowArray *array, tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tl_rows none;
    struct ArrowSchema *made = NULL;
    struct ArrowArray *rows = NULL;
    tl_error local;
    tli_store *store;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(schema, 0, sizeof *schema);
    TLI_FILL(array, 0, sizeof *array);
    TLI_FILL(&none, 0, sizeof none);
    if (metadata == NULL || metadata->schema == NULL)
        return tli_err(err, TL_MISUSE, "tl_last_values_merge: metadata that was not parsed", TL_NO_POSITION);
    store = tli_mem_store_new(allocator, most.decoded_bytes, NULL, 0, NULL, NULL, err);
    if (store == NULL)
        return err->status;
    st = tli_lastvalue_merge(store, metadata, base, newest != NULL ? newest : &none, TLI_LASTVALUE_ALWAYS, &most, &made,
                             &rows, err);
    if (st == TL_OK)
        st = tl_schema_copy(schema, made, &store->allocator, err);
    if (st == TL_OK) {
        st = tli_arrow_export(store, made, rows, array, err);
        if (st != TL_OK)
            schema->release(schema);
    }
    tli_mem_store_drop(store);
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
