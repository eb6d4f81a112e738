/* >>avrowrite: Avro object container files, value by value (Apache Avro specification 1.11), codec null. The caller
   writes values in the order of the schema; the first failure sticks, and is told at the end. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_AVROWRITE_BLOCK 65536u /* bytes of a block after which the next row begins another */

typedef struct tli_avrowrite {
    tl_buffer *out;
    tl_buffer block; /* the rows that are not in `out` yet */
    uint64_t rows;   /* in the block */
    tl_status status;
    tl_error *err;
    uint8_t sync[16];
} tli_avrowrite;

/* ---- encodings, into any buffer ---- */

TLI_FN tl_status tli_avrowrite_put_long(tl_buffer *out, int64_t value, tl_error *err)
{
    uint8_t bytes[10];
    uint64_t v = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
    size_t n = 0;
    for (; v > 127; v >>= 7)
        bytes[n++] = (uint8_t)(v | 128);
    bytes[n++] = (uint8_t)v;
    return tli_mem_append(out, bytes, n, err);
}

TLI_FN tl_status tli_avrowrite_put_bytes(tl_buffer *out, tl_span bytes, tl_error *err)
{
    tl_status st = tli_avrowrite_put_long(out, (int64_t)bytes.size, err);
    return st == TL_OK ? tli_mem_append(out, bytes.data, bytes.size, err) : st;
}

/* ---- the values of a row ---- */

/* boolean, int, long, enum, the branch of a union, the count of a block. */
TLI_FN void tli_avrowrite_long(tli_avrowrite *w, int64_t value)
{
    if (w->status == TL_OK)
        w->status = tli_avrowrite_put_long(&w->block, value, w->err);
}

/* bytes, string. */
TLI_FN void tli_avrowrite_bytes(tli_avrowrite *w, tl_span bytes)
{
    if (w->status == TL_OK)
        w->status = tli_avrowrite_put_bytes(&w->block, bytes, w->err);
}

/* What is encoded already; boolean and fixed too. */
TLI_FN void tli_avrowrite_raw(tli_avrowrite *w, tl_span encoded)
{
    if (w->status == TL_OK)
        w->status = tli_mem_append(&w->block, encoded.data, encoded.size, w->err);
}

/* Of a union of null and something: null, or that what follows is there. */
TLI_FN void tli_avrowrite_some(tli_avrowrite *w, int there)
{
    tli_avrowrite_long(w, there != 0);
}

/* ---- the file ---- */

/* Appends the header to `out`: `pairs` keys and values (key, value, key, ...), then the schema. `sync`: 16 bytes that
   no data is likely to have. */
TLI_FN void tli_avrowrite_begin(tli_avrowrite *w, tl_buffer *out, const tl_span *pairs, size_t count, tl_span schema,
                                const uint8_t *sync, tl_error *err)
{
    size_t i;
    TLI_FILL(w, 0, sizeof *w);
    w->out = out;
    w->err = err;
    w->block.allocator = out->allocator;
    TLI_COPY(w->sync, sync, sizeof w->sync);
    tli_avrowrite_raw(w, tli_text_span("Obj\1", 4));
    tli_avrowrite_long(w, (int64_t)count + 2);
    for (i = 0; i < count * 2; i++)
        tli_avrowrite_bytes(w, pairs[i]);
    tli_avrowrite_bytes(w, tl_text("avro.schema"));
    tli_avrowrite_bytes(w, schema);
    tli_avrowrite_bytes(w, tl_text("avro.codec"));
    tli_avrowrite_bytes(w, tl_text("null"));
    tli_avrowrite_long(w, 0);
    tli_avrowrite_raw(w, tli_text_span(w->sync, sizeof w->sync));
    if (w->status == TL_OK)
        w->status = tli_mem_append(out, w->block.data, w->block.size, err);
    w->block.size = 0;
}

TLI_FN void tli_avrowrite_flush(tli_avrowrite *w)
{
    if (w->rows == 0 || w->status != TL_OK)
        return;
    w->status = tli_avrowrite_put_long(w->out, (int64_t)w->rows, w->err);
    if (w->status == TL_OK)
        w->status = tli_avrowrite_put_bytes(w->out, tli_text_span(w->block.data, w->block.size), w->err);
    if (w->status == TL_OK)
        w->status = tli_mem_append(w->out, w->sync, sizeof w->sync, w->err);
    w->block.size = 0;
    w->rows = 0;
}

/* The values of a row are written. */
TLI_FN void tli_avrowrite_row(tli_avrowrite *w)
{
    w->rows++;
    if (w->block.size >= TLI_AVROWRITE_BLOCK)
        tli_avrowrite_flush(w);
}

/* Ends the file, which is in `out` if this is TL_OK. */
TLI_FN tl_status tli_avrowrite_end(tli_avrowrite *w)
{
    tli_avrowrite_flush(w);
    tl_buffer_free(&w->block);
    return w->status;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
