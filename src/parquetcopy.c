/* >>parquetcopy: the schema is gone through twice: for the ids, then to put them in; all else is copied. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* One element of the schema, with its id as field 9 before those of higher numbers. */
TLI_FN void tli_parquetcopy_element(tli_thrift *t, tli_thriftwrite *w, int32_t id)
{
    const uint8_t *start = t->at, *before, *value;
    tli_parquet_element e;
    tli_thrift again = *t;
    tli_thrift_field f = tli_parquet_first();
    tli_parquet_read_element(t, &e);
    if (e.has_id || id < 0) {
        tli_thriftwrite_raw(w, start, (size_t)(t->at - start));
        return;
    }
    tli_thriftwrite_open(w);
    for (;;) {
        int32_t last = f.id;
        int more;
        before = again.at;
        more = tli_thrift_next(&again, &f);
        if (more && f.id <= 9) {
            tli_thrift_skip(&again, f.type);
            continue;
        }
        value = again.at;
        tli_thriftwrite_raw(w, start, (size_t)(before - start));
        w->ids[w->depth - 1] = last;
        tli_thriftwrite_i32(w, 9, id);
        if (more)
            tli_thriftwrite_field(w, f.id, f.type);
        else
            value = before; /* the end of the struct */
        tli_thriftwrite_raw(w, value, (size_t)(t->at - value));
        break;
    }
    w->depth--; /* its end was copied */
}

TLI_FN tl_status tli_parquetcopy_write(tli_parquet *p, tl_buffer *out)
{
    tli_thriftwrite w;
    size_t start = out->size;
    uint32_t count, i;
    uint8_t type, end[8];
    TLI_FILL(&w, 0, sizeof w);
    w.out = out;
    w.err = p->err;
    p->t.at = p->schema;
    count = tli_thrift_list(&p->t, &type);
    tli_thriftwrite_raw(&w, p->meta, (size_t)(p->t.at - p->meta));
    for (i = 0; i < count && w.status == TL_OK; i++)
        tli_parquetcopy_element(&p->t, &w, p->ids[i]);
    tli_thriftwrite_raw(&w, p->t.at, (size_t)(p->meta_end - p->t.at));
    if (w.status == TL_OK && out->size - start > UINT32_MAX)
        return tli_err(p->err, TL_UNSUPPORTED, "a footer of 4 GiB or more", TL_NO_POSITION);
    tli_bits_put_le32(end, (uint32_t)(out->size - start));
    TLI_COPY(end + 4, "PAR1", 4);
    tli_thriftwrite_raw(&w, end, sizeof end);
    return w.status;
}

TL_API tl_status tl_parquet_give_ids(tl_buffer *out, uint64_t *keep, const tl_metadata *table, const void *tail,
                                     size_t size, uint64_t file_size, const tl_limits *limits, tl_span *column,
                                     tl_error *err)
{
    tl_parquet_options options;
    tl_parquet found;
    tli_parquet p;
    tl_error why;
    size_t start = out->size;
    tl_status st;
    if (table == NULL)
        return tli_err(err, TL_MISUSE, "tl_parquet_give_ids: no table", TL_NO_POSITION);
    TLI_FILL(&options, 0, sizeof options);
    if (limits != NULL)
        options.limits = *limits;
    options.allocator = out->allocator;
    st = tli_parquet_begin(&p, &found, table, tail, size, file_size, &options, err != NULL ? err : &why);
    p.by_name = 1;
    if (st == TL_OK)
        st = tli_parquet_read_columns_of(&p);
    if (st == TL_OK)
        st = tli_parquetcopy_write(&p, out);
    if (st == TL_OK)
        *keep = file_size - (uint64_t)(p.tail + p.tail_size - p.meta);
    else
        out->size = start;
    if (column != NULL)
        *column = found.column;
    tl_parquet_free(&found);
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
