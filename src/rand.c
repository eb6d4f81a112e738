/* >>rand: numbers and names that hang on the caller's seed: unlike those of any other seed or stream, the same for the
   same ones. Nobody's secret may rest on them. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_RAND_UUID 36u /* characters of a UUID's text */

/* Seed, stream and count, little-endian: the same on every machine. */
typedef struct tli_rand {
    uint8_t state[32];
    uint64_t count;
} tli_rand;

/* Begins stream `stream` of a seed of 16 bytes. */
TLI_FN void tli_rand_begin(tli_rand *r, const uint8_t *seed, uint64_t stream)
{
    TLI_COPY(r->state, seed, 16);
    tli_bits_put_le64(r->state + 16, stream);
    r->count = 0;
}

TLI_FN uint64_t tli_rand_next(tli_rand *r)
{
    tli_bits_put_le64(r->state + 24, ++r->count);
    return tli_hash_xxh64(r->state, sizeof r->state, 0);
}

/* A number of [0, below); below > 0. */
TLI_FN uint64_t tli_rand_below(tli_rand *r, uint64_t below)
{
    return tli_rand_next(r) % below; /* of small ones: the bias is nothing */
}

/* A snapshot id: from 1 to the greatest int64. */
TLI_FN int64_t tli_rand_id(tli_rand *r)
{
    int64_t id = (int64_t)(tli_rand_next(r) >> 1);
    return id != 0 ? id : 1;
}

/* Writes the text of a UUID, 36 characters: version 7 of the time `ms` (RFC 9562), version 4 when that is negative. */
TLI_FN void tli_rand_uuid(tli_rand *r, int64_t ms, char *out)
{
    static const uint8_t groups[] = {4, 2, 2, 2, 6};
    uint8_t bytes[16];
    const uint8_t *from = bytes;
    size_t i;
    tli_bits_put_le64(bytes, tli_rand_next(r));
    tli_bits_put_le64(bytes + 8, tli_rand_next(r));
    for (i = 0; i < 6 && ms >= 0; i++)
        bytes[i] = (uint8_t)((uint64_t)ms >> (40 - 8 * i));
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | (ms < 0 ? 0x40 : 0x70));
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (i = 0; i < TLI_COUNT(groups); i++) {
        tli_number_hex(out, from, groups[i]);
        from += groups[i];
        out += groups[i] * 2;
        if (i + 1 < TLI_COUNT(groups))
            *out++ = '-';
    }
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
