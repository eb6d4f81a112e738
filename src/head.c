/* >>head */
#define TLI_HEAD_FIXED 14u /* bytes of the header before the codec's name */
#define TLI_HEAD_NAME 255u /* bytes of that, at most */

TL_API tl_status tl_head_peek(tl_header *header, const void *bytes, size_t size, tl_error *err)
{
    static const uint8_t start[5] = {'T', 'L', 'H', 'D', 1};
    const uint8_t *p = (const uint8_t *)bytes;
    size_t i, name;
    if (header == NULL || (bytes == NULL && size != 0))
        return tli_err(err, TL_MISUSE, "tl_head_peek: no header or no bytes", TL_NO_POSITION);
    TLI_FILL(header, 0, sizeof *header);
    for (i = 0; i < sizeof start; i++) {
        if (i >= size)
            return tli_err(err, TL_NOT_A_HEAD, "too short for a head", size);
        if (p[i] != start[i])
            return tli_err(err, TL_NOT_A_HEAD, i < 4 ? "not a head" : "a head of another header version", i);
    }
    if (size < TLI_HEAD_FIXED || size - TLI_HEAD_FIXED < p[13])
        return tli_err(err, TL_NOT_A_HEAD, "the head's header is cut", size);
    name = p[13];
    i = tli_text_utf8(p + TLI_HEAD_FIXED, name);
    if (i != name)
        return tli_err(err, TL_NOT_A_HEAD, "the codec's name is not UTF-8", TLI_HEAD_FIXED + i);
    header->version = tli_bits_le64(p + 5);
    header->codec = tli_text_span(p + TLI_HEAD_FIXED, name);
    header->size = TLI_HEAD_FIXED + name;
    return TL_OK;
}

/* ---- the registry ---- */

typedef enum tli_head_kind { TLI_HEAD_NONE, TLI_HEAD_FOREIGN, TLI_HEAD_ARROW, TLI_HEAD_JSON } tli_head_kind;

/* The codec called `name`: the caller's first. */
TLI_FN tl_status tli_head_find(const tl_head_options *options, tl_span name, tli_head_kind *kind,
                               const tl_head_codec **foreign, uint64_t position, tl_error *err)
{
    size_t i;
    *foreign = NULL;
    for (i = 0; i < options->codec_count; i++) {
        if (tl_span_equal(tl_text(options->codecs[i].name), name)) {
            *kind = TLI_HEAD_FOREIGN;
            *foreign = &options->codecs[i];
            return TL_OK;
        }
    }
    if (tli_text_is(name, "arrow")) {
        *kind = TLI_HEAD_ARROW;
#ifndef TIMELAKE_NO_HEAD_ARROW
        return TL_OK;
#else
        return tli_err(err, TL_NO_CODEC, "the codec arrow is not built in (TIMELAKE_NO_HEAD_ARROW)", position);
#endif
    }
    if (tli_text_is(name, "json")) {
        *kind = TLI_HEAD_JSON;
#ifndef TIMELAKE_NO_HEAD_JSON
        return TL_OK;
#else
        return tli_err(err, TL_NO_CODEC, "the codec json is not built in (TIMELAKE_NO_HEAD_JSON)", position);
#endif
    }
    *kind = TLI_HEAD_NONE;
    return tli_err(err, TL_NO_CODEC, "the head's codec is not registered", position);
}

/* The codec's name that a table's property means, as it stands in headers; `none` is none. */
TLI_FN tl_status tli_head_format(tl_span format, char *room, size_t size, tl_span *name, tl_error *err)
{
    size_t i;
    if (format.size == 0 || format.size > size)
        return tli_err(err, TL_NO_CODEC, "the table's head format is no codec's name", TL_NO_POSITION);
    for (i = 0; i < format.size; i++)
        room[i] = (char)(format.data[i] >= 'A' && format.data[i] <= 'Z' ? format.data[i] + 32 : format.data[i]);
    *name = tli_text_span(room, format.size);
    return TL_OK;
}

TLI_FN tl_head_options tli_head_options_of(const tl_head_options *options)
{
    tl_head_options o;
    if (options != NULL)
        return *options;
    TLI_FILL(&o, 0, sizeof o);
    return o;
}

/* ---- decoding ---- */

/* What columns that open later still need of the options: they may be gone by then. In the head's store. */
typedef struct tli_head_kept {
    tl_limits limits;
    tl_compression compression;
} tli_head_kept;

/* Decodes the body into head->document, whose store is made. */
TLI_FN tl_status tli_head_body(tl_head *head, tli_head_kind kind, const void *bytes, size_t size, size_t at,
                               const tl_head_options *options, tl_error *err)
{
    const uint8_t *body = (const uint8_t *)bytes + at;
    tli_head_kept *kept = (tli_head_kept *)tli_mem_take(head->document.store, sizeof *kept, err);
    if (kept == NULL)
        return err->status;
    kept->limits = tl_limits_resolve(&options->limits);
    kept->compression = options->compression;
    switch (kind) {
#ifndef TIMELAKE_NO_HEAD_ARROW
    case TLI_HEAD_ARROW:
        return tli_headarrow_decode(&head->document, body, size - at, at, &kept->limits, &kept->compression, err);
#endif
#ifndef TIMELAKE_NO_HEAD_JSON
    case TLI_HEAD_JSON:
        return tli_headjson_decode(&head->document, body, size - at, at, &kept->limits, err);
#endif
    case TLI_HEAD_FOREIGN:
        if (head->foreign->decode != NULL)
            return head->foreign->decode(head->foreign->context, &head->document, body, size - at, err);
        break;
    default:
        break;
    }
    return tli_err(err, TL_UNSUPPORTED, "this codec cannot decode", at);
}

TLI_FN tl_status tli_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                 tl_release *release, tl_error *err)
{
    tl_header header;
    tli_head_kind kind;
    tl_limits limits = tl_limits_resolve(&options->limits);
    tl_status st;
    if (size > limits.object_bytes)
        return tli_err_need(err, TL_LIMIT, "limits.object_bytes", 0, size);
    st = tl_head_peek(&header, bytes, size, err);
    if (st == TL_OK)
        st = tli_head_find(options, header.codec, &kind, &head->foreign, TLI_HEAD_FIXED, err);
    if (st != TL_OK)
        return st;
    head->document.allocator = tli_mem_allocator(&options->allocator);
    head->document.store = tli_mem_store_new(&options->allocator, limits.decoded_bytes, bytes, size, *release,
                                             options->release_context, err);
    if (head->document.store == NULL)
        return err->status;
    *release = NULL; /* the store has it from here */
    head->version = header.version;
    head->codec = header.codec;
    return tli_head_body(head, kind, bytes, size, header.size, options, err);
}

TL_API tl_status tl_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    tl_release release = o.release;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (head == NULL || (bytes == NULL && size != 0)) {
        st = tli_err(err, TL_MISUSE, "tl_head_decode: no head or no bytes", TL_NO_POSITION);
    } else {
        TLI_FILL(head, 0, sizeof *head);
        st = tli_head_decode(head, bytes, size, &o, &release, err);
        if (st != TL_OK)
            tl_head_free(head);
    }
    if (release != NULL)
        release(o.release_context, bytes, size);
    return st;
}

TL_API void tl_head_free(tl_head *head)
{
    if (head == NULL)
        return;
    if (head->foreign != NULL && head->document.store != NULL && head->foreign->release_arrays != NULL)
        head->foreign->release_arrays(head->foreign->context, &head->document);
    tl_document_free(&head->document);
    TLI_FILL(head, 0, sizeof *head);
}

/* ---- how much memory ---- */

/* An allocator that keeps the books of a tl_block which is never too small, on memory of another allocator. */
typedef struct tli_head_meter {
    tl_allocator inner;
    uint64_t used, peak;
    const void *last; /* the newest piece, NULL when there is none that could be given back, and where it starts */
    uint64_t last_at;
} tli_head_meter;

TLI_FN void tli_head_meter_push(tli_head_meter *m, const void *piece, size_t size)
{
    m->last = piece;
    m->last_at = m->used;
    m->used += tli_bits_round_up(size, TLI_MEM_ALIGN);
    m->peak = TLI_MAX(m->peak, m->used);
}

TLI_FN void *tli_head_meter_allocate(void *context, size_t size)
{
    tli_head_meter *m = (tli_head_meter *)context;
    void *piece = tli_mem_new(&m->inner, size);
    if (piece != NULL)
        tli_head_meter_push(m, piece, size);
    return piece;
}

TLI_FN void *tli_head_meter_resize(void *context, void *memory, size_t old_size, size_t size)
{
    tli_head_meter *m = (tli_head_meter *)context;
    int last = m->last == memory;
    void *piece = tli_mem_resize(&m->inner, memory, old_size, size);
    if (piece == NULL)
        return NULL;
    if (last)
        m->used = m->last_at;
    if (last || size > old_size)
        tli_head_meter_push(m, piece, size);
    return piece;
}

TLI_FN void tli_head_meter_free(void *context, void *memory, size_t size)
{
    tli_head_meter *m = (tli_head_meter *)context;
    if (m->last == memory) {
        m->used = m->last_at;
        m->last = NULL;
    }
    tli_mem_delete(&m->inner, memory, size);
}

#define TLI_HEAD_VIEW_BATCH 512u /* bytes of a typed view for each batch, and once: the room view checks both */
#define TLI_HEAD_VIEW_FIXED 512u

/* What opening everything takes once the frame is decoded: the columns of arrow sections by their index, those of other
   codecs by opening them (on the meter's books), and the views' tables. */
TLI_FN uint64_t tli_head_open_memory(tl_head *head)
{
    static const char *const views[3] = {"columns", "files", "footers"};
    uint64_t need = 0;
    int32_t i;
    if (!tli_text_is(head->codec, "arrow"))
        for (i = 0; i < head->document.section_count; i++)
            (void)tl_section_open(&head->document.sections[i], NULL); /* may fail: then it takes no more than that */
#ifndef TIMELAKE_NO_HEAD_ARROW
    need = tli_headarrow_memory(&head->document);
#endif
    for (i = 0; i < 3; i++) {
        const tl_section *section = tl_document_section(&head->document, tl_text(views[i]));
        uint64_t batches = section != NULL ? (uint64_t)(uint32_t)section->batch_count : 0;
        if (section != NULL && !tli_bits_add(need, TLI_HEAD_VIEW_FIXED + batches * TLI_HEAD_VIEW_BATCH, &need))
            return UINT64_MAX;
    }
    if (!tli_bits_add(need, TLI_MEM_CHUNK, &need)) /* small pieces may begin one chunk more */
        return UINT64_MAX;
    return need;
}

TL_API tl_status tl_head_memory(const void *bytes, size_t size, const tl_head_options *options, size_t *need,
                                tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    tli_head_meter meter;
    tli_mem_block block;
    int is_block = o.allocator.allocate == tli_mem_block_allocate;
    tl_error local;
    tl_head head;
    tl_status st;
    uint64_t total;
    err = err != NULL ? err : &local;
    if (need == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_memory: nowhere to put the answer", TL_NO_POSITION);
    *need = 0;
    TLI_FILL(&meter, 0, sizeof meter);
    meter.inner = tli_mem_allocator(&o.allocator);
    if (is_block)
        TLI_COPY(&block, o.allocator.context, sizeof block);
    TLI_FILL(&o.allocator, 0, sizeof o.allocator);
    o.allocator.context = &meter;
    o.allocator.allocate = tli_head_meter_allocate;
    o.allocator.resize = tli_head_meter_resize;
    o.allocator.deallocate = tli_head_meter_free;
    o.release = NULL;
    st = tl_head_decode(&head, bytes, size, &o, err);
    total = st == TL_OK ? tli_head_open_memory(&head) : 0;
    if (st == TL_OK && head.foreign != NULL)
        st = tli_err(err, TL_UNSUPPORTED, "the memory of a caller's codec is not known", TLI_HEAD_FIXED);
    if (st == TL_OK
        && (!tli_bits_add(total, meter.peak + sizeof(tli_mem_block) + (uint64_t)3 * TLI_MEM_ALIGN, &total)
            || !tli_bits_size(total, need)))
        st = tli_err_need(err, TL_LIMIT, "this head does not fit into memory", TL_NO_POSITION, total);
    tl_head_free(&head);
    if (is_block) /* a stack gives only its last piece back: put it back as it was */
        TLI_COPY(meter.inner.context, &block, sizeof block);
    return st;
}

/* ---- encoding ---- */

TLI_FN tl_status tli_head_encode_body(tl_buffer *out, tli_head_kind kind, const tl_head_codec *foreign,
                                      tl_document *document, const tl_head_options *options, tl_error *err)
{
    tl_status st = TL_OK;
    int32_t i;
    (void)options;
    switch (kind) {
#ifndef TIMELAKE_NO_HEAD_ARROW
    case TLI_HEAD_ARROW:
        return tli_headarrow_encode(out, document, &options->compression, err);
#endif
#ifndef TIMELAKE_NO_HEAD_JSON
    case TLI_HEAD_JSON:
        return tli_headjson_encode(out, document, err);
#endif
    case TLI_HEAD_FOREIGN:
        if (foreign->encode == NULL)
            break;
        for (i = 0; st == TL_OK && i < document->section_count; i++)
            st = tl_section_open(&document->sections[i], err);
        return st == TL_OK ? foreign->encode(foreign->context, out, document, err) : st;
    default:
        break;
    }
    return tli_err(err, TL_UNSUPPORTED, "this codec cannot encode", TL_NO_POSITION);
}

TLI_FN tl_status tli_head_write_header(tl_buffer *out, uint64_t version, tl_span codec, tl_error *err)
{
    uint8_t fixed[TLI_HEAD_FIXED] = {'T', 'L', 'H', 'D', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    tl_status st;
    tli_bits_put_le64(fixed + 5, version);
    fixed[13] = (uint8_t)codec.size;
    st = tli_mem_append(out, fixed, sizeof fixed, err);
    return st == TL_OK ? tli_mem_append(out, codec.data, codec.size, err) : st;
}

TL_API tl_status tl_head_encode(tl_buffer *out, uint64_t version, tl_span codec, tl_document *document,
                                const tl_head_options *options, tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    const tl_head_codec *foreign;
    tli_head_kind kind;
    tl_error local;
    tl_status st;
    size_t before;
    err = err != NULL ? err : &local;
    if (out == NULL || document == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_encode: no output or no document", TL_NO_POSITION);
    if (codec.data == NULL || codec.size == 0 || codec.size > 255
        || tli_text_utf8(codec.data, codec.size) != codec.size)
        return tli_err(err, TL_MISUSE, "a codec's name has 1 to 255 bytes of UTF-8", TL_NO_POSITION);
    st = tli_head_find(&o, codec, &kind, &foreign, TL_NO_POSITION, err);
    if (st != TL_OK)
        return st;
    before = out->size;
    st = tli_head_write_header(out, version, codec, err);
    if (st == TL_OK)
        st = tli_head_encode_body(out, kind, foreign, document, &o, err);
    if (st != TL_OK)
        out->size = before;
    return st;
}
