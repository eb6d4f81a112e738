/* >>headarrow: the head codec `arrow`: length-prefixed Arrow IPC streams, the first with the properties. */
#ifndef TIMELAKE_NO_HEAD_ARROW
#define TLI_HEADARROW_SECTION "timelake.section" /* the schema metadata key that names a stream's section */
#define TLI_HEADARROW_UNKNOWN "+us:"             /* the format of a column whose type cannot be told */

/* A section's stream. `stream` NULL: its types are not supported here. Then the bytes are kept as they are, so that
   encoding passes them on, and the reason, so that opening tells it. */
typedef struct tli_headarrow_source {
    struct tli_doc_source base;
    struct tli_ipc_stream *stream;
    const uint8_t *bytes;
    size_t size;
    tl_error reason;
} tli_headarrow_source;

/* What one call of decode goes by. */
typedef struct tli_headarrow_input {
    tl_document *document;
    const uint8_t *body;
    size_t size;
    uint64_t position; /* of the body in the head */
    const tl_limits *limits;
    const tl_compression *compression;
} tli_headarrow_input;

TLI_FN tl_status tli_headarrow_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                    tl_error *err)
{
    tli_headarrow_source *source = (tli_headarrow_source *)(void *)self;
    const struct ArrowArray *array;
    tl_status st;
    if (source->stream == NULL) {
        if (err != NULL)
            *err = source->reason;
        return source->reason.status;
    }
    st = tli_ipc_column(source->stream, batch, column, &array, err);
    if (st == TL_OK)
        section->batches[batch].columns[column] = array;
    return st;
}

/* The source of a section that this codec decoded, or NULL. */
TLI_FN tli_headarrow_source *tli_headarrow_source_of(const tl_section *section)
{
    if (section->source == NULL || section->source->open != tli_headarrow_open)
        return NULL;
    return (tli_headarrow_source *)(void *)section->source;
}

/* Upper bound of the memory that opening every column of the document takes. */
TLI_FN uint64_t tli_headarrow_memory(const tl_document *document)
{
    uint64_t sum = 0, once = 0;
    int32_t i;
    for (i = 0; i < document->section_count; i++) {
        const tli_headarrow_source *source = tli_headarrow_source_of(&document->sections[i]);
        uint64_t more = source != NULL && source->stream != NULL ? tli_ipc_memory(source->stream, &once) : 0;
        if (!tli_bits_add(sum, more, &sum))
            return UINT64_MAX;
    }
    return tli_bits_add(sum, once, &sum) ? sum : UINT64_MAX;
}

/* The section's schema is the stream's without the key that names the section. The last of repeated keys counts. */
TLI_FN tl_status tli_headarrow_schema(const tli_headarrow_input *in, const struct ArrowSchema *stream, tl_span *name,
                                      struct ArrowSchema **out, tl_error *err)
{
    tli_store *store = in->document->store;
    struct ArrowSchema *schema;
    tl_span *pairs, key, value, naming = tl_text(TLI_HEADARROW_SECTION);
    int32_t count = 0, kept = 0, i;
    name->data = NULL;
    name->size = 0;
    while (tl_schema_metadata_at(stream, count, &key, &value))
        count++;
    pairs = (tl_span *)tli_mem_take_array(store, (uint64_t)(uint32_t)count * 2, sizeof *pairs, err);
    schema = (struct ArrowSchema *)tli_mem_take(store, sizeof *schema, err);
    if (pairs == NULL || schema == NULL)
        return err->status;
    for (i = 0; i < count && tl_schema_metadata_at(stream, i, &key, &value); i++) {
        if (tl_span_equal(key, naming)) {
            *name = value.data != NULL ? value : tl_text("");
            continue;
        }
        pairs[kept] = key;
        pairs[count + kept++] = value;
    }
    *schema = *stream;
    schema->metadata = NULL;
    *out = schema;
    return kept == 0 ? TL_OK : tli_arrow_schema_metadata(store, schema, pairs, pairs + count, kept, err);
}

/* A section whose types this library does not read: one batch of one column that cannot be opened, and its bytes. Of
   its schema only the metadata are known. */
TLI_FN tl_status tli_headarrow_opaque(const tli_headarrow_input *in, tli_headarrow_source *source, tl_span name,
                                      const struct ArrowSchema *schema, tl_error *err)
{
    tl_section *section;
    struct ArrowSchema *child, *node = tli_arrow_schema_new(in->document->store, "+s", tl_text(""), 0, 1, err);
    if (node == NULL)
        return err->status;
    child = tli_arrow_schema_new(in->document->store, TLI_HEADARROW_UNKNOWN, tl_text(""), 0, 0, err);
    if (child == NULL)
        return err->status;
    node->children[0] = child;
    node->metadata = schema->metadata;
    source->stream = NULL;
    return tli_doc_section(in->document, name, node, 1, &source->base, &section, err);
}

TLI_FN tl_status tli_headarrow_section(const tli_headarrow_input *in, size_t at, size_t size, tl_error *err)
{
    tli_headarrow_source *source;
    struct ArrowSchema *schema;
    tl_section *section;
    tl_span name;
    tl_status opened, st;
    int32_t i;
    source = (tli_headarrow_source *)tli_mem_take_zero(in->document->store, sizeof *source, err);
    if (source == NULL)
        return err->status;
    source->base.open = tli_headarrow_open;
    source->bytes = in->body + at;
    source->size = size;
    opened = tli_ipc_open(in->document->store, in->body + at, size, in->position + at, in->limits, in->compression,
                          &source->stream, err);
    if (opened != TL_OK && (opened != TL_UNSUPPORTED || source->stream == NULL))
        return opened;
    source->reason = *err;
    st = tli_headarrow_schema(in, source->stream->schema, &name, &schema, err);
    if (st != TL_OK)
        return st;
    if (name.data == NULL)
        return opened != TL_OK ? opened : tli_err(err, TL_CORRUPT, "a section without a name", in->position + at);
    if (opened != TL_OK)
        return tli_headarrow_opaque(in, source, name, schema, err);
    st = tli_doc_section(in->document, name, schema, source->stream->batch_count, &source->base, &section, err);
    for (i = 0; st == TL_OK && i < source->stream->batch_count; i++) {
        section->batches[i].rows = source->stream->batches[i].rows;
        section->rows += source->stream->batches[i].rows;
    }
    return st;
}

/* The first stream: no columns and no batches, its metadata are the document's properties. */
TLI_FN tl_status tli_headarrow_properties(const tli_headarrow_input *in, size_t at, size_t size, tl_error *err)
{
    struct tli_ipc_stream *stream = NULL;
    tl_span key, value;
    int32_t i;
    tl_status st = tli_ipc_open(in->document->store, in->body + at, size, in->position + at, in->limits,
                                in->compression, &stream, err);
    if (st != TL_OK)
        return st;
    if (stream->schema->n_children != 0 || stream->batch_count != 0)
        return tli_err(err, TL_CORRUPT, "the stream of the properties has columns or batches", in->position + at);
    for (i = 0; st == TL_OK && tl_schema_metadata_at(stream->schema, i, &key, &value); i++)
        st = tli_doc_property(in->document, key, value.data != NULL ? value : tl_text(""), err);
    return st;
}

TLI_FN tl_status tli_headarrow_decode(tl_document *document, const void *body, size_t size, uint64_t position,
                                      const tl_limits *limits, const tl_compression *compression, tl_error *err)
{
    tli_headarrow_input in;
    size_t at = 0, length;
    uint64_t wide, streams = 0;
    tl_status st = TL_OK;
    in.document = document;
    in.body = (const uint8_t *)body;
    in.size = size;
    in.position = position;
    in.limits = limits;
    in.compression = compression;
    if (size == 0)
        return tli_err(err, TL_TRUNCATED, "a head without streams", position);
    for (; st == TL_OK && at < size; at += length, streams++) {
        if (size - at < 8)
            return tli_err(err, TL_TRUNCATED, "the length of a stream is cut", position + at);
        wide = tli_bits_le64(in.body + at);
        if (wide > size - at - 8)
            return tli_err(err, TL_TRUNCATED, "a stream ends past the end of the head", position + at);
        if (streams > limits->sections)
            return tli_err_need(err, TL_LIMIT, "limits.sections", position + at, streams);
        length = (size_t)wide;
        at += 8;
        st = streams == 0 ? tli_headarrow_properties(&in, at, length, err)
                          : tli_headarrow_section(&in, at, length, err);
    }
    return st;
}

/* ---- writing ---- */

/* Appends the properties' stream: its schema node lives on the stack, its metadata in a store of its own. */
TLI_FN tl_status tli_headarrow_write_properties(tl_buffer *out, const tl_document *document, tl_error *err)
{
    struct ArrowSchema schema;
    tl_span none, *pairs;
    tl_status st = TL_OK;
    int32_t i, n = document->property_count;
    tli_store *store = tli_mem_store_new(&out->allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (store == NULL)
        return err->status;
    none.data = NULL;
    none.size = 0;
    TLI_FILL(&schema, 0, sizeof schema);
    schema.format = "+s";
    schema.name = "";
    schema.release = tli_arrow_schema_stays;
    pairs = (tl_span *)tli_mem_take_array(store, (uint64_t)(uint32_t)n * 2, sizeof *pairs, err);
    if (pairs == NULL)
        st = err->status;
    for (i = 0; st == TL_OK && i < n; i++) {
        pairs[i] = document->properties[i].key;
        pairs[n + i] = document->properties[i].value;
    }
    if (st == TL_OK && n != 0)
        st = tli_arrow_schema_metadata(store, &schema, pairs, pairs + n, n, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, &schema, none, none, err);
    if (st == TL_OK)
        st = tli_ipc_write_end(out, err);
    tli_mem_store_drop(store);
    return st;
}

TLI_FN tl_status tli_headarrow_write_section(tl_buffer *out, tl_section *section, const tl_compression *compression,
                                             tl_error *err)
{
    const tli_headarrow_source *source = tli_headarrow_source_of(section);
    tl_status st;
    int32_t i;
    if (source != NULL && source->stream == NULL)
        return tli_mem_append(out, source->bytes, source->size, err);
    st = tl_section_open(section, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, section->schema, tl_text(TLI_HEADARROW_SECTION), section->name, err);
    for (i = 0; st == TL_OK && i < section->batch_count; i++)
        st = tli_ipc_write_batch(out, section->schema, section->batches[i].columns, section->batches[i].rows,
                                 compression, err);
    return st == TL_OK ? tli_ipc_write_end(out, err) : st;
}

TLI_FN tl_status tli_headarrow_encode(tl_buffer *out, tl_document *document, const tl_compression *compression,
                                      tl_error *err)
{
    static const uint8_t no_length[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    tl_status st = TL_OK;
    int32_t i;
    for (i = -1; st == TL_OK && i < document->section_count; i++) {
        size_t at = out->size;
        st = tli_mem_append(out, no_length, 8, err);
        if (st == TL_OK)
            st = i < 0 ? tli_headarrow_write_properties(out, document, err)
                       : tli_headarrow_write_section(out, &document->sections[i], compression, err);
        if (st == TL_OK)
            tli_bits_put_le64(out->data + at, out->size - at - 8);
    }
    return st;
}
#endif
