/* >>thriftwrite: Apache Thrift's compact protocol, writing. Fields of a struct go in the order of their ids. The first
   failure sticks: the caller looks at the status when all is written. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)
#define TLI_THRIFTWRITE_DEPTH 8u

typedef struct tli_thriftwrite {
    tl_buffer *out;
    tl_error *err;
    tl_status status;
    uint32_t depth;                     /* structs that are open */
    int32_t ids[TLI_THRIFTWRITE_DEPTH]; /* the last field of each */
} tli_thriftwrite;

TLI_FN void tli_thriftwrite_raw(tli_thriftwrite *w, const void *data, size_t size)
{
    if (w->status == TL_OK)
        w->status = tli_mem_append(w->out, data, size, w->err);
}

TLI_FN void tli_thriftwrite_varint(tli_thriftwrite *w, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v > 127; v >>= 7)
        bytes[n++] = (uint8_t)(v | 128);
    bytes[n++] = (uint8_t)v;
    tli_thriftwrite_raw(w, bytes, n);
}

TLI_FN void tli_thriftwrite_zigzag(tli_thriftwrite *w, int64_t v)
{
    tli_thriftwrite_varint(w, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* A struct that is no field: the root, or an element of a list. */
TLI_FN void tli_thriftwrite_open(tli_thriftwrite *w)
{
    TLI_ASSERT(w->depth < TLI_THRIFTWRITE_DEPTH);
    w->ids[w->depth++] = 0;
}

TLI_FN void tli_thriftwrite_close(tli_thriftwrite *w)
{
    uint8_t stop = TLI_THRIFT_STOP;
    tli_thriftwrite_raw(w, &stop, 1);
    w->depth--;
}

/* The header of a field, whose value follows. */
TLI_FN void tli_thriftwrite_field(tli_thriftwrite *w, int32_t id, uint8_t type)
{
    int32_t *last = &w->ids[w->depth - 1], step = id - *last;
    int near_by = step > 0 && step < 16;
    uint8_t header = (uint8_t)((near_by ? step << 4 : 0) | type);
    tli_thriftwrite_raw(w, &header, 1);
    if (!near_by)
        tli_thriftwrite_zigzag(w, id);
    *last = id;
}

TLI_FN void tli_thriftwrite_struct(tli_thriftwrite *w, int32_t id)
{
    tli_thriftwrite_field(w, id, TLI_THRIFT_STRUCT);
    tli_thriftwrite_open(w);
}

TLI_FN void tli_thriftwrite_i32(tli_thriftwrite *w, int32_t id, int32_t value)
{
    tli_thriftwrite_field(w, id, TLI_THRIFT_I32);
    tli_thriftwrite_zigzag(w, value);
}

TLI_FN void tli_thriftwrite_i64(tli_thriftwrite *w, int32_t id, uint64_t value)
{
    tli_thriftwrite_field(w, id, TLI_THRIFT_I64);
    tli_thriftwrite_zigzag(w, (int64_t)value);
}

TLI_FN void tli_thriftwrite_bool(tli_thriftwrite *w, int32_t id, int value)
{
    tli_thriftwrite_field(w, id, value ? TLI_THRIFT_TRUE : TLI_THRIFT_FALSE);
}

TLI_FN void tli_thriftwrite_bytes(tli_thriftwrite *w, tl_span bytes)
{
    tli_thriftwrite_varint(w, bytes.size);
    tli_thriftwrite_raw(w, bytes.data, bytes.size);
}

TLI_FN void tli_thriftwrite_text(tli_thriftwrite *w, int32_t id, tl_span text)
{
    tli_thriftwrite_field(w, id, TLI_THRIFT_BINARY);
    tli_thriftwrite_bytes(w, text);
}

/* `count` elements of a type follow. */
TLI_FN void tli_thriftwrite_list(tli_thriftwrite *w, int32_t id, uint8_t type, uint32_t count)
{
    uint8_t header = (uint8_t)((count < 15 ? count : 15) << 4 | type);
    tli_thriftwrite_field(w, id, TLI_THRIFT_LIST);
    tli_thriftwrite_raw(w, &header, 1);
    if (count >= 15)
        tli_thriftwrite_varint(w, count);
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
