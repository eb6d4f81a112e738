#ifndef TIMELAKE_NO_HEAD_ARROW
/* >>lz4: LZ4 frames, decoded straight into the caller's memory, which is the window too. */
#ifndef TIMELAKE_NO_LZ4
#define TLI_LZ4_MAGIC UINT32_C(0x184D2204)
#define TLI_LZ4_LEGACY UINT32_C(0x184C2102)
#define TLI_LZ4_SKIPPABLE UINT32_C(0x184D2A50) /* and the 15 numbers after it */

/* One decoding. The flags are those of the frame at hand. */
typedef struct tli_lz4_job {
    const uint8_t *src, *src_end;
    uint8_t *base; /* where the output of this frame starts */
    uint8_t *end;  /* of the memory for output */
    tl_error *err;
    uint64_t content; /* 0: not announced, as the reference has it */
    size_t block_max;
    int independent, block_checksum, content_checksum;
} tli_lz4_job;

TLI_FN tl_status tli_lz4_bad(const tli_lz4_job *j, const char *text, const uint8_t *at)
{
    return tli_err(j->err, TL_CORRUPT, text, (uint64_t)(at - j->src));
}

TLI_FN tl_status tli_lz4_cut(const tli_lz4_job *j, const char *text)
{
    return tli_err(j->err, TL_TRUNCATED, text, (uint64_t)(j->src_end - j->src));
}

/* The output memory is full: a lie of the frame when that holds what it announced, else the caller's limit. */
TLI_FN tl_status tli_lz4_full(const tli_lz4_job *j, const uint8_t *at)
{
    if (j->content != 0)
        return tli_lz4_bad(j, "lz4: more content than the frame announces", at);
    return tli_err(j->err, TL_LIMIT, "lz4: more content than there is room for", (uint64_t)(at - j->src));
}

/* Reads the rest of a length whose four bits were all ones. 0: the block ends within. A block has at most 4 MiB, so
   the sum fits. */
TLI_INLINE int tli_lz4_length(const uint8_t **p, const uint8_t *end, size_t *length)
{
    uint8_t more;
    if (*length != 15)
        return 1;
    do {
        if (*p == end)
            return 0;
        more = *(*p)++;
        *length += more;
    } while (more == 255);
    return 1;
}

/* Literals p[0..n) to `to`, in steps of 16 where there is memory for it on both sides. */
TLI_INLINE void tli_lz4_literals(const tli_lz4_job *j, uint8_t *to, const uint8_t *p, size_t n)
{
    if (TLI_LIKELY((size_t)(j->end - to) >= n + 16 && (size_t)(j->src_end - p) >= n + 16))
        tli_zstd_wild(to, p, n);
    else if (n > 0)
        TLI_COPY(to, p, n);
}

TLI_INLINE void tli_lz4_match(const tli_lz4_job *j, uint8_t *to, size_t offset, size_t n)
{
    if (TLI_UNLIKELY((size_t)(j->end - to) < n + TLI_ZSTD_SLACK))
        tli_zstd_careful(to, j->end, offset, n);
    else if (TLI_LIKELY(offset >= 16))
        tli_zstd_wild(to, to - offset, n);
    else
        tli_zstd_near(to, offset, n);
}

/* The compressed block p..end; *out: where its content goes, and where that ends. */
TLI_FN tl_status tli_lz4_block(const tli_lz4_job *j, const uint8_t *p, const uint8_t *end, uint8_t **out)
{
    const uint8_t *start = p;
    uint8_t *to = *out, *matched = NULL, *match_start = NULL;
    const uint8_t *low = j->independent ? to : j->base;
    size_t space = TLI_MIN((size_t)(j->end - to), j->block_max);
    uint8_t *limit = to + space;
    for (;;) {
        size_t literals, match, offset;
        if (p == end)
            return tli_lz4_bad(j, "lz4: a block that ends within a sequence", p);
        literals = *p >> 4;
        match = *p++ & 15;
        if (!tli_lz4_length(&p, end, &literals) || literals > (size_t)(end - p))
            return tli_lz4_bad(j, "lz4: a block that ends within literals", p);
        if (literals > (size_t)(limit - to))
            break;
        tli_lz4_literals(j, to, p, literals);
        to += literals;
        p += literals;
        if (p == end) {
            if (matched != NULL && (to - matched < 5 || to - match_start < 12))
                return tli_lz4_bad(j, "lz4: a match too near to the end of its block", p);
            *out = to;
            return TL_OK;
        }
        if (end - p < 2)
            return tli_lz4_bad(j, "lz4: a block that ends within a match", p);
        offset = tli_bits_le16(p);
        p += 2;
        if (offset == 0)
            return tli_lz4_bad(j, "lz4: an offset of 0", p - 2);
        if (offset > (size_t)(to - low))
            return tli_lz4_bad(j, "lz4: a match before the start of the content", p - 2);
        if (!tli_lz4_length(&p, end, &match))
            return tli_lz4_bad(j, "lz4: a block that ends within a match", p);
        match += 4;
        if (match > (size_t)(limit - to))
            break;
        tli_lz4_match(j, to, offset, match);
        match_start = to;
        to += match;
        matched = to;
    }
    if (space == j->block_max)
        return tli_lz4_bad(j, "lz4: more content than a block may have", start);
    return tli_lz4_full(j, start);
}

/* All blocks of a frame up to its end mark; *p: the first, and then what follows the mark. */
TLI_FN tl_status tli_lz4_blocks(const tli_lz4_job *j, const uint8_t **p, uint8_t **to)
{
    for (;;) {
        size_t left = (size_t)(j->src_end - *p), size;
        int stored;
        tl_status st = TL_OK;
        if (left < 4)
            return tli_lz4_cut(j, "lz4: ends within a block's size");
        size = tli_bits_le32(*p) & 0x7fffffffu;
        stored = (*p)[3] >> 7;
        *p += 4;
        if (size == 0 && !stored)
            return TL_OK;
        if (size > j->block_max)
            return tli_lz4_bad(j, "lz4: a block greater than the frame allows", *p - 4);
        if (left - 4 < size + (j->block_checksum ? 4u : 0u))
            return tli_lz4_cut(j, "lz4: ends within a block");
        if (j->block_checksum && tli_bits_le32(*p + size) != tli_hash_xxh32(*p, size, 0))
            return tli_err(j->err, TL_CHECKSUM, "lz4: a block does not match its checksum",
                           (uint64_t)(*p - j->src) + size);
        if (!stored)
            st = tli_lz4_block(j, *p, *p + size, to);
        else if (size > (size_t)(j->end - *to))
            st = tli_lz4_full(j, *p);
        else if (size > 0)
            TLI_COPY(*to, *p, size);
        if (st != TL_OK)
            return st;
        *to += stored ? size : 0;
        *p += size + (j->block_checksum ? 4u : 0u);
    }
}

/* The frame descriptor behind the magic number; *p: it, and then the first block. */
TLI_FN tl_status tli_lz4_header(tli_lz4_job *j, const uint8_t **p)
{
    const uint8_t *at = *p;
    uint64_t place = (uint64_t)(at - j->src);
    size_t size = 2;
    if (j->src_end - at < 3)
        return tli_lz4_cut(j, "lz4: ends within a frame's header");
    size += ((at[0] & 8) != 0 ? 8u : 0u) + ((at[0] & 1) != 0 ? 4u : 0u);
    if (at[0] >> 6 != 1)
        return tli_err(j->err, TL_UNSUPPORTED, "lz4: a frame of another version", place);
    if ((at[0] & 2) != 0 || (at[1] & 0x8f) != 0)
        return tli_err(j->err, TL_UNSUPPORTED, "lz4: a reserved bit is set in a frame's header", place);
    if (at[1] >> 4 < 4)
        return tli_lz4_bad(j, "lz4: an unknown block size", at + 1);
    if ((size_t)(j->src_end - at) < size + 1)
        return tli_lz4_cut(j, "lz4: ends within a frame's header");
    if (at[size] != ((tli_hash_xxh32(at, size, 0) >> 8) & 0xff))
        return tli_err(j->err, TL_CHECKSUM, "lz4: a frame's header does not match its checksum", place + size);
    if ((at[0] & 1) != 0)
        return tli_err(j->err, TL_UNSUPPORTED, "lz4: a frame that needs a dictionary", place);
    j->independent = (at[0] & 32) != 0;
    j->block_checksum = (at[0] & 16) != 0;
    j->content_checksum = (at[0] & 4) != 0;
    j->content = (at[0] & 8) != 0 ? tli_bits_le64(at + 2) : 0;
    j->block_max = (size_t)1 << (8 + 2 * (at[1] >> 4));
    *p += size + 1;
    return TL_OK;
}

/* One frame; *p: the first byte behind its magic number, and then what follows it. */
TLI_FN tl_status tli_lz4_frame(tli_lz4_job *j, const uint8_t **p, uint8_t **to)
{
    const uint8_t *start = *p;
    tl_status st = tli_lz4_header(j, p);
    if (st != TL_OK)
        return st;
    if (j->content > (uint64_t)(j->end - *to))
        return tli_err_need(j->err, TL_LIMIT, "lz4: more content than there is room for", (uint64_t)(start - j->src),
                            j->content);
    j->base = *to;
    st = tli_lz4_blocks(j, p, to);
    if (st != TL_OK)
        return st;
    if (j->content != 0 && (uint64_t)(*to - j->base) != j->content)
        return tli_lz4_bad(j, "lz4: the content has another size than the frame announces", start);
    if (!j->content_checksum)
        return TL_OK;
    if (j->src_end - *p < 4)
        return tli_lz4_cut(j, "lz4: ends within a checksum");
    if (tli_bits_le32(*p) != tli_hash_xxh32(j->base, (size_t)(*to - j->base), 0))
        return tli_err(j->err, TL_CHECKSUM, "lz4: the content does not match its checksum", (uint64_t)(*p - j->src));
    *p += 4;
    return TL_OK;
}

/* All frames of src, skippable ones skipped, into dst. More than dst_capacity is TL_LIMIT. Needs no work memory.
   *dst_size is 0 unless it is TL_OK. */
TLI_FN tl_status tli_lz4_decode(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                                tl_error *err)
{
    tli_lz4_job j;
    uint8_t nowhere[1], *start = dst_capacity != 0 ? (uint8_t *)dst : nowhere, *to = start;
    const uint8_t *p = (const uint8_t *)src;
    *dst_size = 0;
    if (src_size == 0)
        return TL_OK;
    TLI_FILL(&j, 0, sizeof j);
    j.src = p;
    j.src_end = p + src_size;
    j.end = to + dst_capacity;
    j.err = err;
    while (p != j.src_end) {
        size_t left = (size_t)(j.src_end - p);
        uint32_t magic;
        tl_status st = TL_OK;
        if (left < 4)
            return tli_lz4_cut(&j, "lz4: ends within a frame's first bytes");
        magic = tli_bits_le32(p);
        p += 4;
        if ((magic & ~UINT32_C(15)) == TLI_LZ4_SKIPPABLE) {
            if (left < 8 || tli_bits_le32(p) > left - 8)
                return tli_lz4_cut(&j, "lz4: ends within a skippable frame");
            p += 4 + (size_t)tli_bits_le32(p);
        } else if (magic == TLI_LZ4_MAGIC) {
            st = tli_lz4_frame(&j, &p, &to);
        } else if (magic == TLI_LZ4_LEGACY) {
            st = tli_err(err, TL_UNSUPPORTED, "lz4: a legacy frame", (uint64_t)(p - 4 - j.src));
        } else {
            st = tli_lz4_bad(&j, "lz4: not a frame", p - 4);
        }
        if (st != TL_OK)
            return st;
    }
    *dst_size = (size_t)(to - start);
    return TL_OK;
}
#else
TLI_FN tl_status tli_lz4_decode(void *dst, size_t capacity, size_t *dst_size, const void *src, size_t size,
                                tl_error *err)
{
    (void)dst, (void)capacity, (void)src, (void)size;
    *dst_size = 0;
    return tli_err(err, TL_UNSUPPORTED, "lz4: not built in (TIMELAKE_NO_LZ4)", 0);
}
#endif
#endif /* TIMELAKE_NO_HEAD_ARROW */
