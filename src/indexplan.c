/* >>indexplan: what a change makes of the last-value index: rows, in a file of their own or in the base's; or none, and
   why. As Timelake does it, but that a compaction and new properties keep the rows at hand. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

typedef struct tli_indexplan {
    tl_span path;               /* of an index that is there already; absent: it is made, or there is none */
    uint8_t made;               /* a file is to be written of the rows */
    tli_store *store;           /* of the rows; NULL: they are not known */
    struct ArrowSchema *schema;
    struct ArrowArray *rows;
    tl_error why;               /* there is none; TL_OK: there is, or the change says so */
} tli_indexplan;

TLI_FN void tli_indexplan_end(tli_indexplan *x)
{
    tli_mem_store_drop(x->store);
    TLI_FILL(x, 0, sizeof *x);
}

/* Does the change make new rows of the base's? */
TLI_FN int tli_indexplan_extends(const tl_change *change, const tl_metadata *base)
{
    return base->last_value_index.data != NULL
           && ((change->kind == TL_CHANGE_APPEND && change->newest != NULL)
               || (change->kind == TL_CHANGE_DELETE && change->cutoff != NULL));
}

/* Are the base's rows at hand? They are not opened for that. */
TLI_FN int tli_indexplan_at_hand(tl_table *base)
{
    tl_section *section;
    return base->metadata.last_value_index.data != NULL && tl_head_last_values(&base->head, &section, NULL) == TL_OK;
}

/* ---- rows that had to be read from an index file ---- */

typedef struct tli_indexplan_file {
    tli_store *store; /* of what this library read; NULL: the caller's codec did */
    struct ArrowSchema schema;
    struct ArrowArray array;
    const struct ArrowArray *batch;
    tl_rows rows;
} tli_indexplan_file;

TLI_FN void tli_indexplan_close(tli_indexplan_file *file, const tl_allocator *allocator)
{
    if (file == NULL)
        return;
    if (file->array.release != NULL)
        file->array.release(&file->array);
    if (file->schema.release != NULL)
        file->schema.release(&file->schema);
    tli_mem_store_drop(file->store);
    tli_mem_delete(allocator, file, sizeof *file);
}

TLI_FN tl_status tli_indexplan_parquet(tli_indexplan_file *file, const void *bytes, size_t size,
                                       const tl_compression *compression, const tl_limits *limits,
                                       const tl_allocator *allocator, tl_error *err)
{
    tli_store *scratch = tli_mem_store_new(allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    struct ArrowSchema *schema = NULL;
    struct ArrowArray *rows = NULL;
    tl_status st = scratch == NULL ? err->status : TL_OK;
    if (st == TL_OK)
        file->store = tli_mem_store_new(allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    if (st == TL_OK && file->store == NULL)
        st = err->status;
    if (st == TL_OK)
        st = tli_parquetread_rows(file->store, scratch, bytes, size, compression, limits, &schema, &rows, err);
    tli_mem_store_drop(scratch);
    file->rows.schema = schema;
    file->batch = rows;
    return st;
}

/* Decodes a file, by the caller's codec if it has one for that. NULL: it cannot be, or memory is short. */
TLI_FN tli_indexplan_file *tli_indexplan_decode(const tl_index_codec *codec, const void *bytes, size_t size,
                                                const tl_compression *compression, const tl_limits *limits,
                                                const tl_allocator *allocator, tl_error *err)
{
    tli_indexplan_file *file = (tli_indexplan_file *)tli_mem_new(allocator, sizeof *file);
    tl_status st;
    if (file == NULL) {
        (void)tli_mem_failed(allocator, err);
        return NULL;
    }
    TLI_FILL(file, 0, sizeof *file);
    if (codec->decode != NULL) {
        st = codec->decode(codec->context, &file->schema, &file->array, bytes, size, err);
        file->batch = &file->array;
        file->rows.schema = &file->schema;
    } else {
        st = tli_indexplan_parquet(file, bytes, size, compression, limits, allocator, err);
    }
    file->rows.batches = &file->batch;
    file->rows.count = 1;
    if (st == TL_OK)
        return file;
    tli_indexplan_close(file, allocator);
    return NULL;
}

/* ---- rows ---- */

/* The base's rows, opened, in memory of `scratch`. */
TLI_FN tl_status tli_indexplan_open(tl_table *base, tli_store *scratch, tl_rows *rows, tl_error *err)
{
    tl_section *section = NULL;
    tl_status st = tl_head_last_values(&base->head, &section, err);
    if (st == TL_OK)
        st = tl_section_open(section, err);
    if (st != TL_OK)
        return st;
    rows->schema = section->schema;
    rows->count = (size_t)section->batch_count;
    return tli_doc_arrays(section, scratch, &rows->batches, err);
}

/* Nothing but a lack of memory, and rows of the caller's that do not fit, keeps a change from being committed. */
TLI_FN int tli_indexplan_fatal(tl_status st)
{
    return st == TL_NO_MEMORY || st == TL_BLOCK_FULL || st == TL_MISUSE;
}

TLI_FN tl_status tli_indexplan_none(tli_indexplan *x, const char *text)
{
    (void)tli_err(&x->why, TL_ABSENT, text, TL_NO_POSITION);
    return TL_OK;
}

/* Makes the rows. Whatever keeps that from being done is why there are none. */
TLI_FN tl_status tli_indexplan_merge(tli_indexplan *x, const tl_change *change, tl_table *base, const tl_rows *rows,
                                     const tl_limits *limits, const tl_allocator *allocator, tl_error *err)
{
    int64_t since = change->kind == TL_CHANGE_DELETE && change->cutoff != NULL ? *change->cutoff : TLI_LASTVALUE_ALWAYS;
    int extends = change->kind == TL_CHANGE_APPEND || change->kind == TL_CHANGE_INDEX;
    tl_status st;
    x->store = tli_mem_store_new(allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    if (x->store == NULL)
        return err->status;
    st = tli_lastvalue_merge(x->store, &base->metadata, rows, extends ? change->newest : NULL, since, limits,
                             &x->schema, &x->rows, err);
    if (st == TL_OK)
        return TL_OK;
    tli_indexplan_end(x);
    if (tli_indexplan_fatal(st))
        return st;
    x->why = *err;
    return TL_OK;
}

/* The rows that the change goes on from: those of the base, when they are at hand or were read from the index file. */
TLI_FN tl_status tli_indexplan_from(tli_indexplan *x, const tl_change *change, tl_table *base, const tl_rows *read,
                                    const tl_limits *limits, const tl_allocator *allocator, tl_error *err)
{
    tli_store *scratch = tli_mem_store_new(allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    tl_rows rows;
    tl_status st = scratch == NULL ? err->status : TL_OK;
    if (st == TL_OK && read != NULL)
        rows = *read;
    else if (st == TL_OK)
        st = tli_indexplan_open(base, scratch, &rows, err);
    if (st == TL_OK)
        st = tli_indexplan_merge(x, change, base, &rows, limits, allocator, err);
    else if (!tli_indexplan_fatal(st)) {
        x->why = *err;
        st = TL_OK;
    }
    tli_mem_store_drop(scratch);
    return st;
}

/* Plans the index of a change on top of a base; `total` is 0 when that has no rows. `read`: the base's rows, when they
   had to be read; NULL: they had not, or could not be, for the reason x->why. Fails when memory does, and for `newest`
   rows that do not fit the table. */
TLI_FN tl_status tli_indexplan_make(tli_indexplan *x, const tl_change *change, tl_table *base, uint64_t total,
                                    const tl_rows *read, const tl_limits *limits, const tl_allocator *allocator,
                                    tl_error *err)
{
    const tl_metadata *m = &base->metadata;
    int has = m->last_value_index.data != NULL, extends = tli_indexplan_extends(change, m);
    int known = has && (read != NULL || tli_indexplan_at_hand(base));
    tl_error unread = x->why;
    tl_status st;
    TLI_FILL(x, 0, sizeof *x);
    if (change->kind == TL_CHANGE_INDEX || (change->kind == TL_CHANGE_APPEND && !has && change->newest != NULL)) {
        if (change->kind == TL_CHANGE_APPEND && total != 0)
            return tli_indexplan_none(x, "the table has rows, but no last-value index to go on from");
        st = change->newest != NULL ? tli_indexplan_merge(x, change, base, NULL, limits, allocator, err) : TL_OK;
        x->path = change->index.file.path;
        x->made = x->store != NULL && x->path.data == NULL;
        if (x->path.data != NULL)
            TLI_FILL(&x->why, 0, sizeof x->why);
        return st;
    }
    if (change->kind == TL_CHANGE_APPEND && !extends)
        return tli_indexplan_none(x, "the newest rows of the files added are not known");
    x->why = unread;
    if (extends && !known && unread.status != TL_OK)
        return TL_OK;
    if (extends && !known)
        return tli_indexplan_none(x, "the rows of the version before are neither in its head nor could they be read");
    st = known ? tli_indexplan_from(x, change, base, read, limits, allocator, err) : TL_OK;
    x->made = extends && x->store != NULL;
    if (x->made)
        TLI_FILL(&x->why, 0, sizeof x->why);
    if (extends)
        return st;
    x->path = m->last_value_index;
    TLI_FILL(&x->why, 0, sizeof x->why); /* it goes on, though its rows cannot be had */
    if (!has && change->kind < TL_CHANGE_INDEX)
        return tli_indexplan_none(x, "the version before has no last-value index");
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
