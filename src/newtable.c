/* >>newtable: the metadata of a table's first version. Source: the Apache Iceberg table spec, format 2, and Timelake's
   properties. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_NEWTABLE_INGEST "_ingest_ts"

TLI_FN void tli_newtable_put(tli_manifest_text *t, tl_span raw)
{
    if (t->status == TL_OK)
        t->status = tli_mem_append(t->out, raw.data, raw.size, t->err);
}

TLI_FN void tli_newtable_put_number(tli_manifest_text *t, const char *before, int64_t number)
{
    char digits[24];
    tli_manifest_put(t, before);
    tli_newtable_put(t, tli_text_span(digits, tli_number_i64(digits, number)));
}

TLI_FN void tli_newtable_put_text(tli_manifest_text *t, const char *before, tl_span text)
{
    tli_manifest_put(t, before);
    if (t->status == TL_OK)
        t->status = tli_json_write_text(t->out, text, t->err);
}

/* The field id of a column, 0 if there is none of that name. Ids count from 1 in the order of the columns. */
TLI_FN int32_t tli_newtable_id(const tl_new_table *n, tl_span name)
{
    size_t i;
    for (i = 0; i < n->column_count; i++)
        if (tl_span_equal(n->columns[i].name, name))
            return (int32_t)i + 1;
    return 0;
}

TLI_FN int tli_newtable_has_ingest(const tl_new_table *n)
{
    return n->time_column.data != NULL && !n->no_ingest_time;
}

TLI_FN tl_status tli_newtable_check_column(const tl_new_table *n, size_t i, tl_error *err)
{
    const tl_new_column *c = &n->columns[i];
    tl_field f;
    TLI_FILL(&f, 0, sizeof f);
    if (c->name.data == NULL || c->name.size == 0 || tli_text_utf8(c->name.data, c->name.size) != c->name.size
        || tli_newtable_id(n, c->name) != (int32_t)i + 1
        || (tli_newtable_has_ingest(n) && tl_span_equal(c->name, tl_text(TLI_NEWTABLE_INGEST))))
        return tli_err(err, TL_MISUSE, "a column without a name, or two of one name", TL_NO_POSITION);
    tli_metadata_type(c->type, &f);
    if (f.type == TL_ICEBERG_OTHER)
        return tli_err(err, TL_UNSUPPORTED, "a column of a type that tables are not created with", TL_NO_POSITION);
    if (tl_span_equal(c->name, n->time_column)
        && (!c->required || (f.type != TL_ICEBERG_TIMESTAMP && f.type != TL_ICEBERG_TIMESTAMPTZ)))
        return tli_err(err, TL_MISUSE, "the time column must be a required timestamp", TL_NO_POSITION);
    return TL_OK;
}

TLI_FN tl_status tli_newtable_check(const tl_new_table *n, tl_error *err)
{
    tl_contract keys;
    tl_status st = TL_OK;
    tl_span key;
    uint32_t i;
    if (n == NULL || n->column_count == 0 || n->column_count > 65535)
        return tli_err(err, TL_MISUSE, "a table without columns, or of too many", TL_NO_POSITION);
    for (i = 0; i < n->column_count && st == TL_OK; i++)
        st = tli_newtable_check_column(n, i, err);
    if (st != TL_OK)
        return st;
    TLI_FILL(&keys, 0, sizeof keys);
    keys.series_key = n->series_key;
    if (n->series_key.data != NULL && n->time_column.data == NULL)
        return tli_err(err, TL_MISUSE, "a series key without a time column", TL_NO_POSITION);
    for (i = 0; (key = tl_contract_column(&keys, i)).data != NULL; i++)
        if (tli_newtable_id(n, key) == 0)
            return tli_err(err, TL_MISUSE, "a series key of a column that is not there", TL_NO_POSITION);
    if (n->time_column.data != NULL && tli_newtable_id(n, n->time_column) == 0)
        return tli_err(err, TL_MISUSE, "the time column is not there", TL_NO_POSITION);
    return TL_OK;
}

TLI_FN void tli_newtable_column(tli_manifest_text *t, int32_t id, tl_span name, int required, tl_span type)
{
    tli_newtable_put_number(t, id == 1 ? "{\"id\":" : ",{\"id\":", id);
    tli_newtable_put_text(t, ",\"name\":", name);
    tli_manifest_put(t, required ? ",\"required\":true" : ",\"required\":false");
    tli_newtable_put_text(t, ",\"type\":", type);
    tli_manifest_put(t, "}");
}

TLI_FN void tli_newtable_sort_field(tli_manifest_text *t, int32_t id, int first)
{
    tli_newtable_put_number(t, first ? "{\"source-id\":" : ",{\"source-id\":", id);
    tli_manifest_put(t, ",\"transform\":\"identity\",\"direction\":\"asc\",\"null-order\":\"nulls-first\"}");
}

TLI_FN const char *tli_newtable_chunk(const tl_new_table *n)
{
    return n->chunk == TL_CHUNK_HOUR ? "hour" : n->chunk == TL_CHUNK_MONTH ? "month" : "day";
}

/* Partition spec and sort order. */
TLI_FN void tli_newtable_order(tli_manifest_text *t, const tl_new_table *n)
{
    tl_contract keys;
    tl_span key;
    uint32_t i;
    if (n->time_column.data == NULL) {
        tli_manifest_put(t, ",\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"default-spec-id\":0,"
                            "\"last-partition-id\":999,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],"
                            "\"default-sort-order-id\":0");
        return;
    }
    tli_newtable_put_number(t, ",\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"source-id\":",
                            tli_newtable_id(n, n->time_column));
    tli_newtable_put_text(t, ",\"field-id\":1000,\"name\":", n->time_column);
    t->out->size -= t->status == TL_OK; /* the name goes on behind the column's */
    tli_manifest_put(t, "_");
    tli_manifest_put(t, tli_newtable_chunk(n));
    tli_manifest_put(t, "\",\"transform\":\"");
    tli_manifest_put(t, tli_newtable_chunk(n));
    tli_manifest_put(t, "\"}]}],\"default-spec-id\":0,\"last-partition-id\":1000,"
                        "\"sort-orders\":[{\"order-id\":1,\"fields\":[");
    TLI_FILL(&keys, 0, sizeof keys);
    keys.series_key = n->series_key;
    for (i = 0; (key = tl_contract_column(&keys, i)).data != NULL; i++)
        tli_newtable_sort_field(t, tli_newtable_id(n, key), i == 0);
    tli_newtable_sort_field(t, tli_newtable_id(n, n->time_column), i == 0);
    tli_manifest_put(t, "]}],\"default-sort-order-id\":1");
}

/* Every key stands once: the caller's word wins over the defaults, and his last one over those before. */
TLI_FN void tli_newtable_properties(tli_manifest_text *t, const tl_new_table *n, const tl_property *more, size_t count)
{
    const char *const fixed[][2] = {{"timelake.format-version", "0.3.0"},
                                    {"write.format.default", "parquet"},
                                    {"write.parquet.compression-codec", "zstd"},
                                    {"write.metadata.previous-versions-max", "20"},
                                    {"timelake.chunk-interval", tli_newtable_chunk(n)},
                                    {"timelake.dedup", n->dedup == 1 || (n->dedup == 0 && n->series_key.data != NULL)
                                                           ? "true" : "false"},
                                    {"timelake.time-column", NULL},
                                    {"timelake.series-key", NULL},
                                    {"timelake.ingest-time-column", TLI_NEWTABLE_INGEST}};
    size_t i, k, all = n->time_column.data == NULL ? 4 : tli_newtable_has_ingest(n) ? 9 : 8;
    int first = 1;
    tli_manifest_put(t, ",\"properties\":{");
    for (i = 0; i < all; i++) {
        tl_span value = i == 6 ? n->time_column : i == 7 ? n->series_key : tl_text(fixed[i][1]);
        for (k = 0; k < count && value.data != NULL; k++)
            if (tl_span_equal(more[k].key, tl_text(fixed[i][0])))
                value = tli_text_span(NULL, 0);
        if (value.data == NULL)
            continue;
        tli_newtable_put_text(t, first ? "" : ",", tl_text(fixed[i][0]));
        tli_newtable_put_text(t, ":", value);
        first = 0;
    }
    for (i = 0; i < count; i++) {
        for (k = i + 1; k < count && !tl_span_equal(more[i].key, more[k].key); k++)
            continue;
        if (k < count)
            continue;
        tli_newtable_put_text(t, first ? "" : ",", more[i].key);
        tli_newtable_put_text(t, ":", more[i].value);
        first = 0;
    }
    tli_manifest_put(t, "}");
}

/* Appends v1.metadata.json. */
TLI_FN tl_status tli_newtable_metadata(tl_buffer *out, tl_span location, const tl_new_table *n,
                                       const tl_property *properties, size_t property_count, tli_rand *random,
                                       int64_t now, tl_error *err)
{
    tl_status st = tli_newtable_check(n, err);
    tli_manifest_text t;
    char uuid[TLI_RAND_UUID];
    size_t i;
    if (st != TL_OK)
        return st;
    t.out = out;
    t.status = TL_OK;
    t.err = err;
    tli_rand_uuid(random, TLI_MAX(now, 0), uuid);
    tli_newtable_put_text(&t, "{\"format-version\":2,\"table-uuid\":", tli_text_span(uuid, sizeof uuid));
    tli_newtable_put_text(&t, ",\"location\":", location);
    tli_newtable_put_number(&t, ",\"last-sequence-number\":0,\"last-updated-ms\":", now);
    tli_newtable_put_number(&t, ",\"last-column-id\":", (int64_t)n->column_count + tli_newtable_has_ingest(n));
    tli_manifest_put(&t, ",\"schemas\":[{\"schema-id\":0,\"type\":\"struct\",\"fields\":[");
    for (i = 0; i < n->column_count; i++)
        tli_newtable_column(&t, (int32_t)i + 1, n->columns[i].name, n->columns[i].required, n->columns[i].type);
    if (tli_newtable_has_ingest(n))
        tli_newtable_column(&t, (int32_t)i + 1, tl_text(TLI_NEWTABLE_INGEST), 1, tl_text("timestamptz"));
    tli_manifest_put(&t, "]}],\"current-schema-id\":0");
    tli_newtable_order(&t, n);
    tli_newtable_properties(&t, n, properties, property_count);
    tli_manifest_put(&t, ",\"refs\":{}}");
    return t.status;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
