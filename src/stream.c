/* >>stream: Arrow IPC streams as documents of one section. */
#ifndef TIMELAKE_NO_HEAD_ARROW
typedef struct tli_stream_source {
    struct tli_doc_source base;
    struct tli_ipc_stream *stream;
} tli_stream_source;

TLI_FN tl_status tli_stream_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                 tl_error *err)
{
    const tli_stream_source *source = (const tli_stream_source *)(const void *)self;
    const struct ArrowArray *array = NULL;
    tl_status st = tli_ipc_column(source->stream, batch, column, &array, err);
    if (st == TL_OK)
        section->batches[batch].columns[column] = array;
    return st;
}

/* Fills a document whose store holds the bytes. */
TLI_FN tl_status tli_stream_fill(tl_document *document, const tl_limits *limits, const tl_compression *compression,
                                 tl_error *err)
{
    tli_store *store = document->store;
    tli_stream_source *source = (tli_stream_source *)tli_mem_take_zero(store, sizeof *source, err);
    tl_section *section = NULL;
    int32_t i;
    tl_status st;
    if (source == NULL)
        return tli_arrow_failed(err);
    source->base.open = tli_stream_open;
    st = tli_ipc_open(store, store->body, store->body_size, 0, limits, compression, &source->stream, err);
    if (st == TL_OK)
        st = tli_doc_section(document, tl_text(""), source->stream->schema, source->stream->batch_count, &source->base,
                             &section, err);
    for (i = 0; st == TL_OK && i < section->batch_count; i++) {
        section->batches[i].rows = source->stream->batches[i].rows;
        section->rows += section->batches[i].rows;
    }
    return st;
}

TL_API tl_status tl_ipc_decode(tl_document *document, const void *bytes, size_t size, const tl_ipc_options *options,
                               tl_error *err)
{
    tl_error own;
    tl_ipc_options o;
    tl_limits limits;
    tl_status st = TL_OK;
    err = err != NULL ? err : &own;
    TLI_FILL(&o, 0, sizeof o);
    if (options != NULL)
        o = *options;
    limits = tl_limits_resolve(&o.limits);
    TLI_FILL(document, 0, sizeof *document);
    document->allocator = o.allocator;
    if (bytes == NULL && size != 0)
        st = tli_err(err, TL_MISUSE, "no bytes", TL_NO_POSITION);
    else if (size > limits.object_bytes)
        st = tli_err_need(err, TL_LIMIT, "limits.object_bytes", TL_NO_POSITION, size);
    if (st == TL_OK) {
        document->store = tli_mem_store_new(&o.allocator, limits.decoded_bytes, bytes, size, o.release,
                                            o.release_context, err);
        st = document->store != NULL ? TL_OK : err->status;
    }
    if (document->store == NULL) {
        if (o.release != NULL)
            o.release(o.release_context, bytes, size);
        return st;
    }
    st = tli_stream_fill(document, &limits, &o.compression, err);
    if (st != TL_OK)
        tl_document_free(document);
    return st;
}

TL_API tl_status tl_ipc_encode(tl_buffer *out, tl_section *section, const tl_ipc_options *options, tl_error *err)
{
    tl_error own;
    size_t before = out->size;
    int32_t i;
    tl_status st;
    err = err != NULL ? err : &own;
    st = tl_section_open(section, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, section->schema, tl_text(NULL), tl_text(NULL), err);
    for (i = 0; st == TL_OK && i < section->batch_count; i++)
        st = tli_ipc_write_batch(out, section->schema, section->batches[i].columns, section->batches[i].rows,
                                 options != NULL ? &options->compression : NULL, err);
    if (st == TL_OK)
        st = tli_ipc_write_end(out, err);
    if (st != TL_OK)
        out->size = before;
    return st;
}
#endif
