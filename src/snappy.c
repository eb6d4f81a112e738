/* >>snappy: raw Snappy blocks (google/snappy, format_description.txt). */
#ifndef TIMELAKE_NO_LAKE

/* The size a block says it has, and where its elements begin; 0 when the length is malformed. */
TLI_FN size_t tli_snappy_size(const uint8_t *src, size_t size, uint64_t *plain)
{
    size_t i;
    *plain = 0;
    for (i = 0; i < size && i < 5; i++) {
        *plain |= (uint64_t)(src[i] & 127) << (7 * i);
        if (src[i] < 128)
            return *plain <= UINT32_MAX ? i + 1 : 0;
    }
    return 0;
}

/* The length and offset of the element at src[*at], and where what follows it begins. 0: the block ends within, or
   it is a copy from nowhere. An offset of 0 means a literal. */
TLI_FN int tli_snappy_element(const uint8_t *src, size_t size, size_t *at, size_t *length, size_t *offset)
{
    uint32_t tag = src[*at], extra, i;
    size_t left = size - *at - 1;
    const uint8_t *p = src + *at + 1;
    *offset = 0;
    switch (tag & 3) {
    case 0:
        *length = (tag >> 2) + 1;
        extra = *length > 60 ? (uint32_t)*length - 60 : 0;
        if (extra > left)
            return 0;
        for (i = 0, *length = extra != 0 ? 0 : *length; i < extra; i++)
            *length |= (size_t)p[i] << (8 * i);
        *length += extra != 0;
        break;
    case 1:
        extra = 1;
        if (left < 1)
            return 0;
        *length = ((tag >> 2) & 7) + 4;
        *offset = (size_t)(tag >> 5) << 8 | p[0];
        break;
    default:
        extra = (tag & 3) == 2 ? 2 : 4;
        if (left < extra)
            return 0;
        *length = (tag >> 2) + 1;
        *offset = extra == 2 ? tli_bits_le16(p) : tli_bits_le32(p);
        break;
    }
    *at += 1 + extra;
    return (tag & 3) == 0 || *offset != 0;
}

/* Appends the plain bytes of one block to `out`; at most `limit`. On failure `out` may hold a part. */
TLI_FN tl_status tli_snappy_decode(tl_buffer *out, size_t limit, const void *block, size_t size, tl_error *err)
{
    const uint8_t *src = (const uint8_t *)block;
    uint64_t plain;
    size_t at = tli_snappy_size(src, size, &plain), start = out->size;
    tl_status st;
    if (at == 0)
        return tli_err(err, TL_CORRUPT, "snappy: a malformed length", TL_NO_POSITION);
    if (plain > limit || plain / 64 > size) /* an element of 3 bytes gives at most 64 */
        return tli_err(err, plain > limit ? TL_LIMIT : TL_CORRUPT, "snappy: more bytes than may be", TL_NO_POSITION);
    st = tli_mem_reserve(out, (size_t)plain, err);
    if (st != TL_OK)
        return st;
    while (at < size) {
        size_t length, offset, done = out->size - start;
        uint8_t *to;
        if (!tli_snappy_element(src, size, &at, &length, &offset))
            return tli_err(err, TL_CORRUPT, "snappy: a malformed element", TL_NO_POSITION);
        if (length > (size_t)plain - done || (offset == 0 && length > size - at) || offset > done)
            return tli_err(err, TL_CORRUPT, "snappy: an element out of bounds", TL_NO_POSITION);
        to = out->data + out->size; /* there are bytes to come, so there is a block */
        out->size += length;
        if (offset == 0) {
            TLI_COPY(to, src + at, length);
            at += length;
        } else if (offset >= length) {
            TLI_COPY(to, to - offset, length);
        } else {
            for (; length != 0; length--, to++)
                *to = *(to - offset);
        }
    }
    if (out->size - start != plain)
        return tli_err(err, TL_CORRUPT, "snappy: fewer bytes than the block says", TL_NO_POSITION);
    return TL_OK;
}
#endif /* TIMELAKE_NO_LAKE */
