/* >>bits: loads and stores of any alignment in a given byte order, and arithmetic that says when it overflows. */
TLI_INLINE uint16_t tli_bits_swap16(uint16_t v)
{
    return (uint16_t)((v >> 8) | (v << 8));
}

TLI_INLINE uint32_t tli_bits_swap32(uint32_t v)
{
    return ((v & 0xffu) << 24) | ((v & 0xff00u) << 8) | ((v >> 8) & 0xff00u) | (v >> 24);
}

TLI_INLINE uint64_t tli_bits_swap64(uint64_t v)
{
    return ((uint64_t)tli_bits_swap32((uint32_t)v) << 32) | tli_bits_swap32((uint32_t)(v >> 32));
}

/* Native order: for Arrow values, which are native once a stream was decoded. */
TLI_INLINE uint16_t tli_bits_u16(const void *p)
{
    uint16_t v;
    TLI_COPY(&v, p, 2);
    return v;
}

TLI_INLINE uint32_t tli_bits_u32(const void *p)
{
    uint32_t v;
    TLI_COPY(&v, p, 4);
    return v;
}

TLI_INLINE uint64_t tli_bits_u64(const void *p)
{
    uint64_t v;
    TLI_COPY(&v, p, 8);
    return v;
}

TLI_INLINE void tli_bits_put16(void *p, uint16_t v)
{
    TLI_COPY(p, &v, 2);
}

TLI_INLINE void tli_bits_put32(void *p, uint32_t v)
{
    TLI_COPY(p, &v, 4);
}

TLI_INLINE void tli_bits_put64(void *p, uint64_t v)
{
    TLI_COPY(p, &v, 8);
}

/* Little-endian: for the wire formats. */
TLI_INLINE uint16_t tli_bits_le16(const void *p)
{
    uint16_t v = tli_bits_u16(p);
    return TLI_BIG_ENDIAN ? tli_bits_swap16(v) : v;
}

TLI_INLINE uint32_t tli_bits_le32(const void *p)
{
    uint32_t v = tli_bits_u32(p);
    return TLI_BIG_ENDIAN ? tli_bits_swap32(v) : v;
}

TLI_INLINE uint64_t tli_bits_le64(const void *p)
{
    uint64_t v = tli_bits_u64(p);
    return TLI_BIG_ENDIAN ? tli_bits_swap64(v) : v;
}

TLI_INLINE void tli_bits_put_le16(void *p, uint16_t v)
{
    tli_bits_put16(p, TLI_BIG_ENDIAN ? tli_bits_swap16(v) : v);
}

TLI_INLINE void tli_bits_put_le32(void *p, uint32_t v)
{
    tli_bits_put32(p, TLI_BIG_ENDIAN ? tli_bits_swap32(v) : v);
}

TLI_INLINE void tli_bits_put_le64(void *p, uint64_t v)
{
    tli_bits_put64(p, TLI_BIG_ENDIAN ? tli_bits_swap64(v) : v);
}

/* Bit i of an Arrow bitmap (least significant bit first). */
TLI_INLINE int tli_bits_get(const void *bitmap, uint64_t i)
{
    return (((const uint8_t *)bitmap)[i >> 3] >> (i & 7)) & 1;
}

TLI_INLINE void tli_bits_set(void *bitmap, uint64_t i)
{
    uint8_t *byte = (uint8_t *)bitmap + (i >> 3);
    *byte = (uint8_t)(*byte | (1u << (i & 7)));
}

/* Checked arithmetic: 0 when the result does not fit, and then *out is not written. */
TLI_INLINE int tli_bits_add(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b > UINT64_MAX - a)
        return 0;
    *out = a + b;
    return 1;
}

TLI_INLINE int tli_bits_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a != 0 && b > UINT64_MAX / a)
        return 0;
    *out = a * b;
    return 1;
}

/* A 64-bit size of the wire as a size of this machine. */
TLI_INLINE int tli_bits_size(uint64_t wide, size_t *out)
{
    if (wide > SIZE_MAX / 2)
        return 0;
    *out = (size_t)wide;
    return 1;
}

TLI_INLINE size_t tli_bits_round_up(size_t n, size_t power_of_two)
{
    return (n + power_of_two - 1) & ~(power_of_two - 1);
}
