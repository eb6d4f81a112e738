/* >>hash: xxHash of 64 and of 32 bits, as its specification describes them: the checksums of zstd and LZ4 frames. */
#define TLI_HASH_P64_1 UINT64_C(0x9E3779B185EBCA87)
#define TLI_HASH_P64_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define TLI_HASH_P64_3 UINT64_C(0x165667B19E3779F9)
#define TLI_HASH_P64_4 UINT64_C(0x85EBCA77C2B2AE63)
#define TLI_HASH_P64_5 UINT64_C(0x27D4EB2F165667C5)
#define TLI_HASH_P32_1 UINT32_C(0x9E3779B1)
#define TLI_HASH_P32_2 UINT32_C(0x85EBCA77)
#define TLI_HASH_P32_3 UINT32_C(0xC2B2AE3D)
#define TLI_HASH_P32_4 UINT32_C(0x27D4EB2F)
#define TLI_HASH_P32_5 UINT32_C(0x165667B1)

TLI_INLINE uint64_t tli_hash_rotate64(uint64_t v, int bits)
{
    return (v << bits) | (v >> (64 - bits));
}

TLI_INLINE uint32_t tli_hash_rotate32(uint32_t v, int bits)
{
    return (v << bits) | (v >> (32 - bits));
}

TLI_INLINE uint64_t tli_hash_round64(uint64_t lane, uint64_t input)
{
    return tli_hash_rotate64(lane + input * TLI_HASH_P64_2, 31) * TLI_HASH_P64_1;
}

TLI_INLINE uint32_t tli_hash_round32(uint32_t lane, uint32_t input)
{
    return tli_hash_rotate32(lane + input * TLI_HASH_P32_2, 13) * TLI_HASH_P32_1;
}

TLI_INLINE uint64_t tli_hash_merge64(uint64_t hash, uint64_t lane)
{
    return (hash ^ tli_hash_round64(0, lane)) * TLI_HASH_P64_1 + TLI_HASH_P64_4;
}

/* The last fewer than 32 bytes, and the final mixing. */
TLI_FN uint64_t tli_hash_finish64(uint64_t hash, const uint8_t *p, size_t left)
{
    for (; left >= 8; left -= 8, p += 8)
        hash = tli_hash_rotate64(hash ^ tli_hash_round64(0, tli_bits_le64(p)), 27) * TLI_HASH_P64_1 + TLI_HASH_P64_4;
    if (left >= 4) {
        hash ^= tli_bits_le32(p) * TLI_HASH_P64_1;
        hash = tli_hash_rotate64(hash, 23) * TLI_HASH_P64_2 + TLI_HASH_P64_3;
        p += 4;
        left -= 4;
    }
    for (; left > 0; left--, p++)
        hash = tli_hash_rotate64(hash ^ *p * TLI_HASH_P64_5, 11) * TLI_HASH_P64_1;
    hash = (hash ^ (hash >> 33)) * TLI_HASH_P64_2;
    hash = (hash ^ (hash >> 29)) * TLI_HASH_P64_3;
    return hash ^ (hash >> 32);
}

TLI_FN uint64_t tli_hash_xxh64(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *p = (const uint8_t *)data;
    uint64_t hash = seed + TLI_HASH_P64_5;
    size_t left = size;
    if (left >= 32) {
        uint64_t a = seed + TLI_HASH_P64_1 + TLI_HASH_P64_2, b = seed + TLI_HASH_P64_2, c = seed;
        uint64_t d = seed - TLI_HASH_P64_1;
        for (; left >= 32; left -= 32, p += 32) {
            a = tli_hash_round64(a, tli_bits_le64(p));
            b = tli_hash_round64(b, tli_bits_le64(p + 8));
            c = tli_hash_round64(c, tli_bits_le64(p + 16));
            d = tli_hash_round64(d, tli_bits_le64(p + 24));
        }
        hash = tli_hash_rotate64(a, 1) + tli_hash_rotate64(b, 7) + tli_hash_rotate64(c, 12) + tli_hash_rotate64(d, 18);
        hash = tli_hash_merge64(hash, a);
        hash = tli_hash_merge64(hash, b);
        hash = tli_hash_merge64(hash, c);
        hash = tli_hash_merge64(hash, d);
    }
    return tli_hash_finish64(hash + (uint64_t)size, p, left);
}

TLI_FN uint32_t tli_hash_xxh32(const void *data, size_t size, uint32_t seed)
{
    const uint8_t *p = (const uint8_t *)data;
    uint32_t hash = seed + TLI_HASH_P32_5;
    size_t left = size;
    if (left >= 16) {
        uint32_t a = seed + TLI_HASH_P32_1 + TLI_HASH_P32_2, b = seed + TLI_HASH_P32_2, c = seed;
        uint32_t d = seed - TLI_HASH_P32_1;
        for (; left >= 16; left -= 16, p += 16) {
            a = tli_hash_round32(a, tli_bits_le32(p));
            b = tli_hash_round32(b, tli_bits_le32(p + 4));
            c = tli_hash_round32(c, tli_bits_le32(p + 8));
            d = tli_hash_round32(d, tli_bits_le32(p + 12));
        }
        hash = tli_hash_rotate32(a, 1) + tli_hash_rotate32(b, 7) + tli_hash_rotate32(c, 12) + tli_hash_rotate32(d, 18);
    }
    hash += (uint32_t)size;
    for (; left >= 4; left -= 4, p += 4)
        hash = tli_hash_rotate32(hash + tli_bits_le32(p) * TLI_HASH_P32_3, 17) * TLI_HASH_P32_4;
    for (; left > 0; left--, p++)
        hash = tli_hash_rotate32(hash + *p * TLI_HASH_P32_5, 11) * TLI_HASH_P32_1;
    hash = (hash ^ (hash >> 15)) * TLI_HASH_P32_2;
    hash = (hash ^ (hash >> 13)) * TLI_HASH_P32_3;
    return hash ^ (hash >> 16);
}

/* CRC-32 of IEEE 802.3 (reflected polynomial EDB88320), as gzip and Avro's snappy blocks have it; by half bytes, so
   that the table is 64 bytes. */
TLI_FN uint32_t tli_hash_crc32(const void *data, size_t size)
{
    static const uint32_t table[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                                       0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                       0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    const uint8_t *p = (const uint8_t *)data;
    uint32_t crc = 0xffffffffu;
    for (; size != 0; size--, p++) {
        crc ^= *p;
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}
