/* >>inflate: raw DEFLATE streams of RFC 1951, without a zlib or gzip wrapper. */
#ifndef TIMELAKE_NO_LAKE
#define TLI_INFLATE_BITS 10u /* codes up to this length are found in one look-up */
#define TLI_INFLATE_MAX 15u
#define TLI_INFLATE_SYMBOLS 288u

/* A Huffman code: a table of the short codes (symbol << 4 | length; 0: longer or none), and canonical counts for
   all. */
typedef struct tli_inflate_code {
    uint16_t table[1u << TLI_INFLATE_BITS];
    uint16_t count[TLI_INFLATE_MAX + 1];
    uint16_t symbol[TLI_INFLATE_SYMBOLS];
} tli_inflate_code;

typedef struct tli_inflate {
    const uint8_t *at, *end;
    uint64_t bits; /* the next bits of the stream, lowest first */
    uint32_t have; /* how many of them are there */
    uint32_t over; /* zero bits that were made up behind the end */
    tl_buffer *out;
    size_t start; /* of this stream in out */
    size_t limit; /* most bytes of it */
    tl_error *err;
    tli_inflate_code literal, distance;
    uint8_t lengths[TLI_INFLATE_SYMBOLS + 32];
} tli_inflate;

TLI_FN tl_status tli_inflate_bad(const tli_inflate *s, const char *text)
{
    return tli_err(s->err, TL_CORRUPT, text, TL_NO_POSITION);
}

/* At least 56 bits, of which those behind the end are zero and counted in `over`. */
TLI_INLINE void tli_inflate_fill(tli_inflate *s)
{
    if (s->end - s->at >= 8) {
        s->bits |= tli_bits_le64(s->at) << s->have;
        s->at += (63 - s->have) >> 3;
        s->have |= 56;
        return;
    }
    while (s->have <= 56) {
        if (s->at < s->end)
            s->bits |= (uint64_t)*s->at++ << s->have;
        else
            s->over += 8;
        s->have += 8;
    }
}

TLI_INLINE uint32_t tli_inflate_take(tli_inflate *s, uint32_t n)
{
    uint32_t v = (uint32_t)(s->bits & (((uint64_t)1 << n) - 1));
    s->bits >>= n;
    s->have -= n;
    return v;
}

/* More bits were used than there are. */
TLI_INLINE int tli_inflate_past(const tli_inflate *s)
{
    return s->over > s->have;
}

/* Builds a code from lengths. It must be complete; of literals and distances also a single code of one bit will do, as
   RFC 1951 has it (`lone`), and no code at all when there is nothing to code. */
TLI_FN int tli_inflate_build(tli_inflate_code *code, const uint8_t *lengths, uint32_t n, int lone)
{
    uint16_t offset[TLI_INFLATE_MAX + 2], next[TLI_INFLATE_MAX + 2];
    uint32_t i, length, longest = 0;
    int32_t left = 1;
    TLI_FILL(code, 0, sizeof *code);
    for (i = 0; i < n; i++)
        code->count[lengths[i]]++;
    code->count[0] = 0;
    offset[1] = next[1] = 0;
    for (length = 1; length <= TLI_INFLATE_MAX; length++) {
        left = left * 2 - code->count[length];
        if (left < 0)
            return 0;
        longest = code->count[length] != 0 ? length : longest;
        offset[length + 1] = (uint16_t)(offset[length] + code->count[length]);
        next[length + 1] = (uint16_t)((next[length] + code->count[length]) << 1);
    }
    if (left > 0 && (!lone || longest > 1))
        return 0;
    for (i = 0; i < n; i++) {
        uint32_t bits, reversed = 0, k;
        length = lengths[i];
        if (length == 0)
            continue;
        code->symbol[offset[length]++] = (uint16_t)i;
        bits = next[length]++;
        if (length > TLI_INFLATE_BITS)
            continue;
        for (k = 0; k < length; k++)
            reversed |= ((bits >> k) & 1) << (length - 1 - k);
        for (k = reversed; k < 1u << TLI_INFLATE_BITS; k += 1u << length)
            code->table[k] = (uint16_t)(i << 4 | length);
    }
    return 1;
}

/* The next symbol, or UINT32_MAX for bits that are no code. Needs 15 bits. */
TLI_INLINE uint32_t tli_inflate_symbol(tli_inflate *s, const tli_inflate_code *code)
{
    uint32_t entry = code->table[s->bits & ((1u << TLI_INFLATE_BITS) - 1)], length;
    int32_t value = 0, first = 0, index = 0;
    if (TLI_LIKELY(entry != 0)) {
        (void)tli_inflate_take(s, entry & 15);
        return entry >> 4;
    }
    for (length = 1; length <= TLI_INFLATE_MAX; length++) {
        value |= (int32_t)((s->bits >> (length - 1)) & 1);
        if (value - code->count[length] < first) {
            (void)tli_inflate_take(s, length);
            return code->symbol[index + (value - first)];
        }
        index += code->count[length];
        first = (first + code->count[length]) << 1;
        value <<= 1;
    }
    return UINT32_MAX;
}

/* Room for n further bytes of output. */
TLI_INLINE tl_status tli_inflate_room(tli_inflate *s, size_t n)
{
    if (n > s->limit - (s->out->size - s->start))
        return tli_err(s->err, TL_LIMIT, "deflate: more bytes than may be", TL_NO_POSITION);
    return n <= s->out->capacity - s->out->size ? TL_OK : tli_mem_reserve(s->out, n, s->err);
}

TLI_FN tl_status tli_inflate_stored(tli_inflate *s)
{
    uint32_t size, check;
    tl_status st;
    (void)tli_inflate_take(s, s->have & 7);
    tli_inflate_fill(s);
    size = tli_inflate_take(s, 16);
    check = tli_inflate_take(s, 16);
    if (tli_inflate_past(s) || size != (check ^ 0xffff))
        return tli_inflate_bad(s, "deflate: a stored block of wrong length");
    s->at -= (s->have - s->over) >> 3; /* give back what was read ahead */
    s->bits = s->have = s->over = 0;
    if ((size_t)(s->end - s->at) < size)
        return tli_err(s->err, TL_TRUNCATED, "deflate: the stream ends in a stored block", TL_NO_POSITION);
    st = tli_inflate_room(s, size);
    if (st != TL_OK)
        return st;
    if (size != 0)
        TLI_COPY(s->out->data + s->out->size, s->at, size);
    s->out->size += size;
    s->at += size;
    return TL_OK;
}

TLI_FN void tli_inflate_fixed(tli_inflate *s)
{
    uint32_t i;
    for (i = 0; i < 288; i++)
        s->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    (void)tli_inflate_build(&s->literal, s->lengths, 288, 0);
    for (i = 0; i < 32; i++) /* the last two complete the code and are never valid */
        s->lengths[i] = 5;
    (void)tli_inflate_build(&s->distance, s->lengths, 32, 0);
}

/* The lengths of both codes, themselves coded. */
TLI_FN tl_status tli_inflate_lengths(tli_inflate *s, uint32_t total)
{
    uint32_t i = 0;
    while (i < total) {
        uint32_t symbol, repeat = 1, value;
        tli_inflate_fill(s);
        symbol = tli_inflate_symbol(s, &s->literal);
        if (symbol > 18 || tli_inflate_past(s))
            return tli_inflate_bad(s, "deflate: wrong code lengths");
        value = symbol < 16 ? symbol : 0;
        if (symbol == 16) {
            if (i == 0)
                return tli_inflate_bad(s, "deflate: a repeat of nothing");
            value = s->lengths[i - 1];
            repeat = 3 + tli_inflate_take(s, 2);
        } else if (symbol > 16) {
            repeat = symbol == 17 ? 3 + tli_inflate_take(s, 3) : 11 + tli_inflate_take(s, 7);
        }
        if (repeat > total - i)
            return tli_inflate_bad(s, "deflate: too many code lengths");
        while (repeat-- != 0)
            s->lengths[i++] = (uint8_t)value;
    }
    return TL_OK;
}

TLI_FN tl_status tli_inflate_dynamic(tli_inflate *s)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t literals, distances, codes, i;
    tl_status st;
    tli_inflate_fill(s);
    literals = 257 + tli_inflate_take(s, 5);
    distances = 1 + tli_inflate_take(s, 5);
    codes = 4 + tli_inflate_take(s, 4);
    if (literals > 286 || distances > 30)
        return tli_inflate_bad(s, "deflate: too many symbols");
    TLI_FILL(s->lengths, 0, 19);
    for (i = 0; i < codes; i++) {
        tli_inflate_fill(s);
        s->lengths[order[i]] = (uint8_t)tli_inflate_take(s, 3);
    }
    if (!tli_inflate_build(&s->literal, s->lengths, 19, 0))
        return tli_inflate_bad(s, "deflate: an impossible code of code lengths");
    st = tli_inflate_lengths(s, literals + distances);
    if (st != TL_OK)
        return st;
    if (s->lengths[256] == 0 || !tli_inflate_build(&s->literal, s->lengths, literals, 1)
        || !tli_inflate_build(&s->distance, s->lengths + literals, distances, 1))
        return tli_inflate_bad(s, "deflate: an impossible code");
    return TL_OK;
}

/* A match: it may overlap itself. */
TLI_INLINE void tli_inflate_copy(tl_buffer *out, size_t distance, size_t length)
{
    uint8_t *to = out->data + out->size;
    const uint8_t *from = to - distance;
    out->size += length;
    if (distance >= length)
        TLI_COPY(to, from, length);
    else
        while (length-- != 0)
            *to++ = *from++;
}

TLI_FN tl_status tli_inflate_codes(tli_inflate *s)
{
    static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                             31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4,
                                            5, 5, 5, 5, 0};
    static const uint16_t distance_base[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,
                                               97,    129,
                                               193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193,
                                                   12289, 16385, 24577};
    for (;;) {
        uint32_t symbol, code;
        size_t length, distance;
        tl_status st;
        tli_inflate_fill(s);
        symbol = tli_inflate_symbol(s, &s->literal);
        if (tli_inflate_past(s))
            return tli_err(s->err, TL_TRUNCATED, "deflate: the stream ends in a block", TL_NO_POSITION);
        if (symbol < 256) {
            st = tli_inflate_room(s, 1);
            if (st != TL_OK)
                return st;
            s->out->data[s->out->size++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 256)
            return TL_OK;
        if (symbol > 285)
            return tli_inflate_bad(s, "deflate: no such length");
        length = length_base[symbol - 257] + tli_inflate_take(s, length_bits[symbol - 257]);
        code = tli_inflate_symbol(s, &s->distance);
        if (code > 29)
            return tli_inflate_bad(s, "deflate: no such distance");
        distance = distance_base[code] + tli_inflate_take(s, code < 4 ? 0 : (code >> 1) - 1);
        if (tli_inflate_past(s) || distance > s->out->size - s->start)
            return tli_inflate_bad(s, "deflate: a match before the start");
        st = tli_inflate_room(s, length);
        if (st != TL_OK)
            return st;
        tli_inflate_copy(s->out, distance, length);
    }
}

/* Appends the plain bytes of one stream to `out`; at most `limit`. What follows the stream is not looked at: fastavro
   and PyIceberg leave most of a zlib checksum there. On failure `out` may hold a part. Work memory comes from
   out->allocator. */
TLI_FN tl_status tli_inflate_decode(tl_buffer *out, size_t limit, const void *src, size_t size, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&out->allocator);
    tli_inflate *s = (tli_inflate *)tli_mem_new(&a, sizeof *s);
    tl_status st = TL_OK;
    uint32_t last = 0;
    if (s == NULL)
        return tli_mem_failed(&a, err);
    s->at = (const uint8_t *)src;
    s->end = s->at + size;
    s->bits = s->have = s->over = 0;
    s->out = out;
    s->start = out->size;
    s->limit = limit;
    s->err = err;
    while (!last && st == TL_OK) {
        uint32_t kind;
        tli_inflate_fill(s);
        last = tli_inflate_take(s, 1);
        kind = tli_inflate_take(s, 2);
        if (tli_inflate_past(s))
            st = tli_err(err, TL_TRUNCATED, "deflate: the stream ends before its last block", TL_NO_POSITION);
        else if (kind == 0)
            st = tli_inflate_stored(s);
        else if (kind == 3)
            st = tli_inflate_bad(s, "deflate: no such block");
        else {
            if (kind == 1)
                tli_inflate_fixed(s);
            else
                st = tli_inflate_dynamic(s);
            if (st == TL_OK)
                st = tli_inflate_codes(s);
        }
    }
    tli_mem_delete(&a, s, sizeof *s);
    return st;
}
#endif /* TIMELAKE_NO_LAKE */
