#ifndef TIMELAKE_NO_HEAD_ARROW
/* >>zstd: frames of RFC 8878, decoded straight into the caller's memory, which is the window too.

   Two facts keep the hot loops free of checks. Bit streams are read backwards, and at least nine bytes of frame and
   block header lie in front of each of them: a load may start up to eight bytes before a stream, and whoever consumes
   such bits has consumed more than the stream has, which is found out afterwards. And copies may write up to
   TLI_ZSTD_SLACK bytes too many where the output has that room; near its end a careful copy takes over.

   The literals of a block are decoded to where its content may end at most, in the output itself: what is still to
   come of a block is at least its literals left, so the content that grows towards them reaches them with the last. */
#define TLI_ZSTD_MAGIC UINT32_C(0xFD2FB528)
#define TLI_ZSTD_SKIPPABLE UINT32_C(0x184D2A50) /* and the 15 numbers after it */
#define TLI_ZSTD_BLOCK_MAX (128u << 10)
#define TLI_ZSTD_WINDOW_MAX (128u << 20)
#define TLI_ZSTD_SLACK 32u
#define TLI_ZSTD_HUFFMAN_LOG 11u

/* 0: every sequence takes the careful way, and the four streams of literals are read one after another. */
#ifndef TIMELAKE_SMALL
#define TLI_ZSTD_FAST 1
#else
#define TLI_ZSTD_FAST 0
#endif

/* A state of a sequence table: what it stands for, base plus `extra` bits, and the state after it, next plus `bits`. */
typedef struct tli_zstd_entry {
    uint16_t next;
    uint8_t extra;
    uint8_t bits;
    uint32_t base;
} tli_zstd_entry;

/* A table in use; entries NULL: none yet, nothing to repeat. */
typedef struct tli_zstd_table {
    const tli_zstd_entry *entries;
    uint32_t log;
} tli_zstd_table;

/* Work memory of one decoding. Not cleared: only the members that are read get a value. */
typedef struct tli_zstd_work {
    const uint8_t *src, *src_end;
    uint8_t *base; /* where the output of this frame starts */
    uint8_t *end;  /* of the memory for output */
    uint64_t window;
    uint32_t block_max;
    uint32_t repeat[3];
    int content_known, huffman_known;
    uint8_t *tail; /* where the content of this block may end at most */
    const uint8_t *literals;
    uint32_t literal_count;
    tl_error *err;
    tli_zstd_table ll, of, ml;
    tli_zstd_entry ll_entries[512], of_entries[256], ml_entries[512], weight_entries[64];
    uint16_t huffman[1u << TLI_ZSTD_HUFFMAN_LOG]; /* symbol << 8 | code length */
    int16_t counts[256];
    uint16_t nexts[256];
    uint8_t weights[256];
} tli_zstd_work;

#define TLI_ZSTD_WORK (sizeof(tli_zstd_work))

/* The three kinds of sequence codes: bits to read beyond each code, the value of code 0 (each next code goes on where
   the one before it ends), and limits. */
typedef struct tli_zstd_kind {
    const uint8_t *extra;
    uint32_t first;
    uint32_t symbols;
    uint32_t log_max;
    const tli_zstd_entry *predefined;
    uint32_t predefined_log;
} tli_zstd_kind;

static const uint8_t tli_zstd_extra_ll[36] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  1,  1,
                                              1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t tli_zstd_extra_of[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                              16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const uint8_t tli_zstd_extra_ml[53] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1,
                                              2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* What the predefined distributions of RFC 8878 (3.1.1.3.2.2) give, so that small frames need build no table. */
static const tli_zstd_entry tli_zstd_default_ll[64] = {
    {0, 0, 4, 0}, {16, 0, 4, 0}, {32, 0, 5, 1}, {0, 0, 5, 3}, {0, 0, 5, 4}, {0, 0, 5, 6}, {0, 0, 5, 7}, {0, 0, 5, 9},
    {0, 0, 5, 10}, {0, 0, 5, 12}, {0, 0, 6, 14}, {0, 1, 5, 16}, {0, 1, 5, 20}, {0, 1, 5, 22}, {0, 2, 5, 28},
    {0, 3, 5, 32}, {0, 4, 5, 48}, {32, 6, 5, 64}, {0, 7, 5, 128}, {0, 8, 6, 256}, {0, 10, 6, 1024}, {0, 12, 6, 4096},
    {32, 0, 4, 0}, {0, 0, 4, 1}, {0, 0, 5, 2}, {32, 0, 5, 4}, {0, 0, 5, 5}, {32, 0, 5, 7}, {0, 0, 5, 8},
    {32, 0, 5, 10}, {0, 0, 5, 11}, {0, 0, 6, 13}, {32, 1, 5, 16}, {0, 1, 5, 18}, {32, 1, 5, 22}, {0, 2, 5, 24},
    {32, 3, 5, 32}, {0, 3, 5, 40}, {0, 6, 4, 64}, {16, 6, 4, 64}, {32, 7, 5, 128}, {0, 9, 6, 512}, {0, 11, 6, 2048},
    {48, 0, 4, 0}, {16, 0, 4, 1}, {32, 0, 5, 2}, {32, 0, 5, 3}, {32, 0, 5, 5}, {32, 0, 5, 6}, {32, 0, 5, 8},
    {32, 0, 5, 9}, {32, 0, 5, 11}, {32, 0, 5, 12}, {0, 0, 6, 15}, {32, 1, 5, 18}, {32, 1, 5, 20}, {32, 2, 5, 24},
    {32, 2, 5, 28}, {32, 3, 5, 40}, {32, 4, 5, 48}, {0, 16, 6, 65536}, {0, 15, 6, 32768}, {0, 14, 6, 16384},
    {0, 13, 6, 8192},
};

static const tli_zstd_entry tli_zstd_default_of[32] = {
    {0, 0, 5, 1}, {0, 6, 4, 64}, {0, 9, 5, 512}, {0, 15, 5, 32768}, {0, 21, 5, 2097152}, {0, 3, 5, 8}, {0, 7, 4, 128},
    {0, 12, 5, 4096}, {0, 18, 5, 262144}, {0, 23, 5, 8388608}, {0, 5, 5, 32}, {0, 8, 4, 256}, {0, 14, 5, 16384},
    {0, 20, 5, 1048576}, {0, 2, 5, 4}, {16, 7, 4, 128}, {0, 11, 5, 2048}, {0, 17, 5, 131072}, {0, 22, 5, 4194304},
    {0, 4, 5, 16}, {16, 8, 4, 256}, {0, 13, 5, 8192}, {0, 19, 5, 524288}, {0, 1, 5, 2}, {16, 6, 4, 64},
    {0, 10, 5, 1024}, {0, 16, 5, 65536}, {0, 28, 5, 268435456}, {0, 27, 5, 134217728}, {0, 26, 5, 67108864},
    {0, 25, 5, 33554432}, {0, 24, 5, 16777216},
};

static const tli_zstd_entry tli_zstd_default_ml[64] = {
    {0, 0, 6, 3}, {0, 0, 4, 4}, {32, 0, 5, 5}, {0, 0, 5, 6}, {0, 0, 5, 8}, {0, 0, 5, 9}, {0, 0, 5, 11}, {0, 0, 6, 13},
    {0, 0, 6, 16}, {0, 0, 6, 19}, {0, 0, 6, 22}, {0, 0, 6, 25}, {0, 0, 6, 28}, {0, 0, 6, 31}, {0, 0, 6, 34},
    {0, 1, 6, 37}, {0, 1, 6, 41}, {0, 2, 6, 47}, {0, 3, 6, 59}, {0, 4, 6, 83}, {0, 7, 6, 131}, {0, 9, 6, 515},
    {16, 0, 4, 4}, {0, 0, 4, 5}, {32, 0, 5, 6}, {0, 0, 5, 7}, {32, 0, 5, 9}, {0, 0, 5, 10}, {0, 0, 6, 12},
    {0, 0, 6, 15}, {0, 0, 6, 18}, {0, 0, 6, 21}, {0, 0, 6, 24}, {0, 0, 6, 27}, {0, 0, 6, 30}, {0, 0, 6, 33},
    {0, 1, 6, 35}, {0, 1, 6, 39}, {0, 2, 6, 43}, {0, 3, 6, 51}, {0, 4, 6, 67}, {0, 5, 6, 99}, {0, 8, 6, 259},
    {32, 0, 4, 4}, {48, 0, 4, 4}, {16, 0, 4, 5}, {32, 0, 5, 7}, {32, 0, 5, 8}, {32, 0, 5, 10}, {32, 0, 5, 11},
    {0, 0, 6, 14}, {0, 0, 6, 17}, {0, 0, 6, 20}, {0, 0, 6, 23}, {0, 0, 6, 26}, {0, 0, 6, 29}, {0, 0, 6, 32},
    {0, 16, 6, 65539}, {0, 15, 6, 32771}, {0, 14, 6, 16387}, {0, 13, 6, 8195}, {0, 12, 6, 4099}, {0, 11, 6, 2051},
    {0, 10, 6, 1027},
};

static const tli_zstd_kind tli_zstd_kind_ll = {tli_zstd_extra_ll, 0, 36, 9, tli_zstd_default_ll, 6};
static const tli_zstd_kind tli_zstd_kind_of = {tli_zstd_extra_of, 1, 32, 8, tli_zstd_default_of, 5};
static const tli_zstd_kind tli_zstd_kind_ml = {tli_zstd_extra_ml, 3, 53, 9, tli_zstd_default_ml, 6};

TLI_FN tl_status tli_zstd_bad(const tli_zstd_work *w, const char *text, const uint8_t *at)
{
    return tli_err(w->err, TL_CORRUPT, text, (uint64_t)(at - w->src));
}

TLI_FN tl_status tli_zstd_cut(const tli_zstd_work *w, const char *text)
{
    return tli_err(w->err, TL_TRUNCATED, text, (uint64_t)(w->src_end - w->src));
}

/* The output memory is full: a lie of the frame when that holds what it announced, else the caller's limit. */
TLI_FN tl_status tli_zstd_full(const tli_zstd_work *w, const uint8_t *at)
{
    if (w->content_known)
        return tli_zstd_bad(w, "zstd: more content than the frame announces", at);
    return tli_err(w->err, TL_LIMIT, "zstd: more content than there is room for", (uint64_t)(at - w->src));
}

/* The number of the highest bit set; v is not 0. */
TLI_INLINE uint32_t tli_zstd_log2(uint32_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return 31u - (uint32_t)__builtin_clz(v);
#else
    uint32_t log = 0;
    while (v >>= 1)
        log++;
    return log;
#endif
}

/* How many low bits are 0; v is not 0. */
TLI_INLINE uint32_t tli_zstd_zeros(uint64_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_ctzll(v);
#else
    uint64_t lowest = v & (0 - v);
    return lowest >> 32 != 0 ? 32 + tli_zstd_log2((uint32_t)(lowest >> 32)) : tli_zstd_log2((uint32_t)lowest);
#endif
}

/* ---- distributions and their tables (RFC 8878, 4.1) ---- */

/* At least 25 bits from bit `at` of p on, zeros behind the end. */
TLI_FN uint32_t tli_zstd_peek(const uint8_t *p, const uint8_t *end, size_t at)
{
    size_t left, i;
    uint32_t v = 0;
    if (at / 8 >= (size_t)(end - p))
        return 0;
    p += at / 8;
    left = (size_t)(end - p);
    if (left >= 4)
        return tli_bits_le32(p) >> (at & 7);
    for (i = 0; i < left; i++)
        v |= (uint32_t)p[i] << (8 * i);
    return v >> (at & 7);
}

/* Reads a distribution over at most `symbols` symbols into w->counts (-1: less than one) and says in *log what it adds
   up to and in *used how many symbols it names. Returns the bytes it took, 0: corrupt. */
TLI_FN size_t tli_zstd_counts(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint32_t symbols,
                              uint32_t log_max, uint32_t *log, uint32_t *used)
{
    size_t at = 4;
    uint32_t n = 0, left;
    *log = (tli_zstd_peek(p, end, 0) & 15) + 5;
    if (p == end || *log > log_max)
        return 0;
    for (left = 1u << *log; left > 0 && n < symbols;) {
        uint32_t bits = tli_zstd_log2(left + 1) + 1, v = tli_zstd_peek(p, end, at);
        uint32_t spare = (1u << bits) - 2 - left, low = v & ((1u << (bits - 1)) - 1);
        at += bits;
        if (low < spare) { /* the small values take a bit less */
            v = low;
            at--;
        } else {
            v &= (1u << bits) - 1;
            if (v >= 1u << (bits - 1))
                v -= spare;
        }
        w->counts[n++] = (int16_t)((int32_t)v - 1);
        left -= v == 0 ? 1 : v - 1;
        if (v == 1) { /* a zero: two bits say how many more, 3 means that two more bits follow */
            uint32_t more;
            do {
                more = tli_zstd_peek(p, end, at) & 3;
                at += 2;
                if (more > symbols - n)
                    return 0;
                TLI_FILL(w->counts + n, 0, more * sizeof w->counts[0]);
                n += more;
            } while (more == 3);
        }
    }
    *used = n;
    at = (at + 7) / 8;
    return left != 0 || at > (size_t)(end - p) ? 0 : at;
}

/* Makes the table of 1 << log states for w->counts. kind NULL: states stand for the bare symbols. */
TLI_FN void tli_zstd_states(tli_zstd_work *w, tli_zstd_entry *t, uint32_t log, uint32_t symbols,
                            const tli_zstd_kind *kind)
{
    uint32_t size = 1u << log, mask = size - 1, step = (size >> 1) + (size >> 3) + 3, high = mask, at = 0, s, i;
    uint32_t base[53];
    for (s = 0; s < symbols; s++) { /* those of less than one sit at the end */
        w->nexts[s] = (uint16_t)w->counts[s];
        if (w->counts[s] < 0) {
            w->nexts[s] = 1;
            t[high--].base = s;
        }
    }
    for (s = 0; s < symbols; s++)
        for (i = w->counts[s] < 0 ? 0 : (uint32_t)w->counts[s]; i > 0; i--) {
            t[at].base = s;
            do
                at = (at + step) & mask;
            while (at > high);
        }
    for (s = 0, at = kind != NULL ? kind->first : 0; kind != NULL && s < kind->symbols; s++) {
        base[s] = at;
        at += 1u << kind->extra[s];
    }
    for (i = 0; i < size; i++) {
        uint32_t next;
        s = t[i].base;
        next = w->nexts[s]++;
        t[i].bits = (uint8_t)(log - tli_zstd_log2(next));
        t[i].next = (uint16_t)((next << t[i].bits) - size);
        t[i].extra = kind != NULL ? kind->extra[s] : 0;
        if (kind != NULL)
            t[i].base = base[s];
    }
}

/* ---- backward bit streams ---- */

/* 64 bits starting at `at`, the first `used` of which (from the top) are gone. */
typedef struct tli_zstd_bits {
    uint64_t bits;
    const uint8_t *at;
    const uint8_t *low; /* no load may start below: eight bytes before the stream */
    uint32_t used;
} tli_zstd_bits;

/* 0: the stream has no end mark. */
TLI_INLINE int tli_zstd_bits_open(tli_zstd_bits *b, const uint8_t *start, const uint8_t *end)
{
    if (start == end || end[-1] == 0)
        return 0;
    b->at = end - 8;
    b->low = start - 8;
    b->bits = tli_bits_le64(b->at);
    b->used = 8 - tli_zstd_log2(end[-1]);
    return 1;
}

/* Afterwards at least 57 bits can be taken. 0: more was taken than the stream has. */
TLI_HOT int tli_zstd_bits_fill(tli_zstd_bits *b)
{
    if (TLI_UNLIKELY(b->at - b->low < (ptrdiff_t)(b->used >> 3)))
        return 0;
    b->at -= b->used >> 3;
    b->used &= 7;
    b->bits = tli_bits_le64(b->at);
    return 1;
}

/* The next n bits, at most 31, from what the last fill gave. */
TLI_HOT uint32_t tli_zstd_bits_take(tli_zstd_bits *b, uint32_t n)
{
    uint32_t v = (uint32_t)(((b->bits << (b->used & 63)) >> 1) >> (63 - n));
    b->used += n;
    return v;
}

/* Bits not taken yet; negative when too many were. */
TLI_INLINE int64_t tli_zstd_bits_left(const tli_zstd_bits *b)
{
    return (int64_t)(b->at - b->low) * 8 - (int64_t)b->used;
}

/* ---- Huffman codes (RFC 8878, 4.2) ---- */

/* Weights coded with two states taking turns, until the stream is used up. Returns how many, 0: corrupt (which the
   reference up to 1.5.4 did not see when the stream ends within the first states). */
TLI_FN uint32_t tli_zstd_weights_coded(tli_zstd_work *w, const uint8_t *p, const uint8_t *end)
{
    uint32_t log, symbols, now, other, n;
    const tli_zstd_entry *t = w->weight_entries;
    size_t head = tli_zstd_counts(w, p, end, 256, 6, &log, &symbols);
    tli_zstd_bits b;
    if (head == 0 || !tli_zstd_bits_open(&b, p + head, end))
        return 0;
    tli_zstd_states(w, w->weight_entries, log, symbols, NULL);
    now = tli_zstd_bits_take(&b, log);
    other = tli_zstd_bits_take(&b, log);
    if (tli_zstd_bits_left(&b) < 0)
        return 0;
    for (n = 0; n < 254;) {
        uint32_t next;
        w->weights[n++] = (uint8_t)t[now].base;
        if (!tli_zstd_bits_fill(&b) || tli_zstd_bits_left(&b) < t[now].bits) {
            w->weights[n++] = (uint8_t)t[other].base;
            return n;
        }
        next = t[now].next + tli_zstd_bits_take(&b, t[now].bits);
        now = other;
        other = next;
    }
    return 0;
}

/* Fills w->huffman from n weights, the last of which follows from the others. */
TLI_FN tl_status tli_zstd_huffman_table(tli_zstd_work *w, uint32_t n, const uint8_t *at)
{
    uint32_t rank[TLI_ZSTD_HUFFMAN_LOG + 2], sum = 0, log, left, i, next;
    TLI_FILL(rank, 0, sizeof rank);
    for (i = 0; i < n; i++) {
        if (w->weights[i] > TLI_ZSTD_HUFFMAN_LOG)
            return tli_zstd_bad(w, "zstd: a Huffman code of more than 11 bits", at);
        rank[w->weights[i]]++;
        sum += 1u << w->weights[i] >> 1;
    }
    if (sum == 0)
        return tli_zstd_bad(w, "zstd: no Huffman weights", at);
    log = tli_zstd_log2(sum) + 1;
    if (log > TLI_ZSTD_HUFFMAN_LOG)
        return tli_zstd_bad(w, "zstd: a Huffman code of more than 11 bits", at);
    left = (1u << log) - sum;
    if ((left & (left - 1)) != 0)
        return tli_zstd_bad(w, "zstd: Huffman weights that make no tree", at);
    w->weights[n] = (uint8_t)(tli_zstd_log2(left) + 1);
    rank[w->weights[n++]]++;
    if (rank[1] < 2)
        return tli_zstd_bad(w, "zstd: Huffman weights that make no tree", at);
    for (i = 1, next = 0; i <= log; i++) { /* from counts to where the codes of each weight start */
        uint32_t run = rank[i] << (i - 1 + TLI_ZSTD_HUFFMAN_LOG - log);
        rank[i] = next;
        next += run;
    }
    for (i = 0; i < n; i++) {
        uint32_t weight = w->weights[i], run, entry;
        uint16_t *to;
        if (weight == 0)
            continue;
        run = 1u << (weight - 1 + TLI_ZSTD_HUFFMAN_LOG - log);
        entry = i << 8 | (log + 1 - weight);
        to = w->huffman + rank[weight];
        rank[weight] += run;
        if (run >= 4) {
            uint64_t four = entry * UINT64_C(0x0001000100010001);
            for (; run > 0; run -= 4, to += 4)
                tli_bits_put64(to, four);
        }
        for (; run > 0; run--)
            *to++ = (uint16_t)entry;
    }
    w->huffman_known = 1;
    return TL_OK;
}

/* Reads the description of a Huffman tree; *used: the bytes it takes. */
TLI_FN tl_status tli_zstd_huffman_open(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, size_t *used)
{
    uint32_t n, i;
    if (p == end)
        return tli_zstd_bad(w, "zstd: a block that ends within a Huffman tree", p);
    n = *p;
    *used = 1 + (size_t)(n < 128 ? n : (n - 126) / 2);
    if (*used > (size_t)(end - p))
        return tli_zstd_bad(w, "zstd: a block that ends within a Huffman tree", p);
    w->huffman_known = 0;
    if (n < 128) {
        n = tli_zstd_weights_coded(w, p + 1, p + *used);
        if (n == 0)
            return tli_zstd_bad(w, "zstd: corrupt Huffman weights", p);
    } else {
        n -= 127;
        for (i = 0; i < n; i++)
            w->weights[i] = (i & 1) != 0 ? p[1 + i / 2] & 15 : p[1 + i / 2] >> 4;
    }
    return tli_zstd_huffman_table(w, n, p);
}

/* One of the streams of literals. The bits to come are at the top of `bits`; the lowest 1 is a mark that moves up with
   them, so that its place tells how many were taken since the load. */
typedef struct tli_zstd_stream {
    uint64_t bits;
    const uint8_t *at;
    const uint8_t *low; /* eight bytes before the stream */
    uint8_t *to;
    size_t left; /* symbols to come */
} tli_zstd_stream;

TLI_FN int tli_zstd_stream_open(tli_zstd_stream *s, const uint8_t *start, const uint8_t *end, uint8_t *to, size_t left)
{
    if (start >= end || end[-1] == 0)
        return 0;
    s->at = end - 8;
    s->low = start - 8;
    s->bits = (tli_bits_le64(s->at) | 1) << (8 - tli_zstd_log2(end[-1]));
    s->to = to;
    s->left = left;
    return 1;
}

#define TLI_ZSTD_SYMBOL(k, i)                                                                                          \
    entry = table[bits##k >> (64 - TLI_ZSTD_HUFFMAN_LOG)];                                                             \
    to##k[i] = (uint8_t)(entry >> 8);                                                                                  \
    bits##k <<= entry & 63
#define TLI_ZSTD_SYMBOLS(i)                                                                                            \
    TLI_ZSTD_SYMBOL(0, i);                                                                                             \
    TLI_ZSTD_SYMBOL(1, i);                                                                                             \
    TLI_ZSTD_SYMBOL(2, i);                                                                                             \
    TLI_ZSTD_SYMBOL(3, i)
#define TLI_ZSTD_REFILL(k)                                                                                             \
    zeros = tli_zstd_zeros(bits##k);                                                                                   \
    at##k -= zeros >> 3;                                                                                               \
    bits##k = (tli_bits_le64(at##k) | 1) << (zeros & 7);                                                               \
    to##k += 5

/* Five symbols of each stream per round (a load has 56 bits, a code at most 11), as many rounds as are safe whatever
   the codes are: a round takes at most 7 bytes of a stream. */
TLI_FN void tli_zstd_streams_run(const uint16_t *table, tli_zstd_stream *s)
{
    const uint8_t *at0 = s[0].at, *at1 = s[1].at, *at2 = s[2].at, *at3 = s[3].at;
    uint8_t *to0 = s[0].to, *to1 = s[1].to, *to2 = s[2].to, *to3 = s[3].to;
    uint64_t bits0 = s[0].bits, bits1 = s[1].bits, bits2 = s[2].bits, bits3 = s[3].bits;
    uint32_t entry, zeros;
    for (;;) {
        size_t rounds = s[3].left / 5, n;
        rounds = TLI_MIN(rounds, (size_t)(at0 - s[0].low) / 7);
        rounds = TLI_MIN(rounds, (size_t)(at1 - s[1].low) / 7);
        rounds = TLI_MIN(rounds, (size_t)(at2 - s[2].low) / 7);
        rounds = TLI_MIN(rounds, (size_t)(at3 - s[3].low) / 7);
        if (rounds == 0)
            break;
        s[3].left -= rounds * 5;
        for (n = rounds; n > 0; n--) {
            TLI_ZSTD_SYMBOLS(0);
            TLI_ZSTD_SYMBOLS(1);
            TLI_ZSTD_SYMBOLS(2);
            TLI_ZSTD_SYMBOLS(3);
            TLI_ZSTD_SYMBOLS(4);
            TLI_ZSTD_REFILL(0);
            TLI_ZSTD_REFILL(1);
            TLI_ZSTD_REFILL(2);
            TLI_ZSTD_REFILL(3);
        }
    }
    s[0].left -= (size_t)(to0 - s[0].to);
    s[1].left -= (size_t)(to1 - s[1].to);
    s[2].left -= (size_t)(to2 - s[2].to);
    s[0].at = at0, s[1].at = at1, s[2].at = at2, s[3].at = at3;
    s[0].to = to0, s[1].to = to1, s[2].to = to2, s[3].to = to3;
    s[0].bits = bits0, s[1].bits = bits1, s[2].bits = bits2, s[3].bits = bits3;
}

#undef TLI_ZSTD_SYMBOL
#undef TLI_ZSTD_SYMBOLS
#undef TLI_ZSTD_REFILL

/* Decodes what is left of one stream. NULL, or what is wrong with it. */
TLI_FN const char *tli_zstd_stream_finish(const uint16_t *table, tli_zstd_stream *s)
{
    const uint8_t *at = s->at;
    uint8_t *to = s->to;
    uint64_t bits = s->bits;
    size_t left = s->left;
    for (;;) {
        uint32_t zeros = tli_zstd_zeros(bits), entry, i;
        if (at - s->low < (ptrdiff_t)(zeros >> 3))
            return "zstd: Huffman coded literals that end too early";
        at -= zeros >> 3;
        zeros &= 7;
        bits = (tli_bits_le64(at) | 1) << zeros;
        if (left == 0 && (at - s->low) * 8 < (ptrdiff_t)zeros)
            return "zstd: Huffman coded literals that end too early";
        if (left == 0)
            return (at - s->low) * 8 == (ptrdiff_t)zeros ? NULL : "zstd: Huffman coded literals that are too long";
        if (left >= 5) {
            for (i = 0; i < 5; i++) {
                entry = table[bits >> (64 - TLI_ZSTD_HUFFMAN_LOG)];
                *to++ = (uint8_t)(entry >> 8);
                bits <<= entry & 63;
            }
            left -= 5;
        } else {
            for (; left > 0; left--) {
                entry = table[bits >> (64 - TLI_ZSTD_HUFFMAN_LOG)];
                *to++ = (uint8_t)(entry >> 8);
                bits <<= entry & 63;
            }
        }
    }
}

/* The jump table, and four streams that give the literals' quarters, at `to`. NULL, or what is wrong with them. */
TLI_FN const char *tli_zstd_huffman_four(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint8_t *to,
                                         size_t count)
{
    tli_zstd_stream s[4];
    size_t quarter = (count + 3) / 4, size, i;
    const uint8_t *at = p + 6;
    const char *wrong = NULL;
    if (end - p < 10 || quarter * 3 > count)
        return "zstd: a block that ends within its literals";
    for (i = 0; i < 4; i++) {
        size = i < 3 ? tli_bits_le16(p + 2 * i) : (size_t)(end - at);
        if (size > (size_t)(end - at)
            || !tli_zstd_stream_open(&s[i], at, at + size, to + i * quarter, i < 3 ? quarter : count - 3 * quarter))
            return "zstd: a stream of literals without an end";
        at += size;
    }
    if (TLI_ZSTD_FAST)
        tli_zstd_streams_run(w->huffman, s);
    for (i = 0; i < 4 && wrong == NULL; i++)
        wrong = tli_zstd_stream_finish(w->huffman, &s[i]);
    return wrong;
}
/* ---- blocks (RFC 8878, 3.1.1.2 and 3.1.1.3) ---- */

/* Raw literals and runs. Raw ones are used where they lie when copies may read beyond them there. */
TLI_FN void tli_zstd_literals_plain(tli_zstd_work *w, const uint8_t *p, uint32_t count, int run)
{
    uint8_t *to = w->tail - count;
    w->literals = to;
    if (run)
        TLI_FILL(to, *p, count);
    else if ((size_t)(w->src_end - p) >= (size_t)count + TLI_ZSTD_SLACK)
        w->literals = p;
    else if (count > 0)
        TLI_COPY(to, p, count);
}

/* The Huffman coded literals behind a header of `head` bytes. */
TLI_FN tl_status tli_zstd_literals_coded(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, size_t head, int fresh,
                                         int streams)
{
    const uint8_t *at = p + head;
    uint8_t *to = w->tail - w->literal_count;
    tli_zstd_stream one;
    const char *wrong = "zstd: a stream of literals without an end";
    if (fresh) {
        size_t used = 0;
        tl_status st = tli_zstd_huffman_open(w, at, end, &used);
        if (st != TL_OK)
            return st;
        at += used;
    } else if (!w->huffman_known) {
        return tli_zstd_bad(w, "zstd: no Huffman tree to use again", p);
    }
    w->literals = to;
    if (streams == 4)
        wrong = tli_zstd_huffman_four(w, at, end, to, w->literal_count);
    else if (tli_zstd_stream_open(&one, at, end, to, w->literal_count))
        wrong = tli_zstd_stream_finish(w->huffman, &one);
    return wrong == NULL ? TL_OK : tli_zstd_bad(w, wrong, p);
}

/* The literals section of the block p..end, whose content goes to `to`; *next: what follows the section. */
TLI_FN tl_status tli_zstd_literals(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, const uint8_t *to,
                                   const uint8_t **next)
{
    uint32_t kind = *p & 3u, form = (*p >> 2) & 3u, count, size, head;
    uint64_t v = 0;
    if (kind < 2) {
        head = form == 1 ? 2 : form == 3 ? 3 : 1;
    } else {
        head = form < 2 ? 3 : form + 2;
    }
    if ((size_t)(end - p) < head + (kind == 1))
        return tli_zstd_bad(w, "zstd: a block that ends within its literals", p);
    for (size = 0; size < head; size++)
        v |= (uint64_t)p[size] << (8 * size);
    if (kind < 2) {
        count = (uint32_t)v >> (head == 1 ? 3 : 4);
        size = kind == 0 ? count : 1;
    } else {
        uint32_t bits = head == 3 ? 10 : head == 4 ? 14 : 18;
        count = (uint32_t)(v >> 4) & ((1u << bits) - 1);
        size = (uint32_t)(v >> (4 + bits));
    }
    if (count > w->block_max)
        return tli_zstd_bad(w, "zstd: more content than a block may have", p);
    if (size > (size_t)(end - p) - head)
        return tli_zstd_bad(w, "zstd: a block that ends within its literals", p);
    if (count > (size_t)(w->tail - to))
        return tli_zstd_full(w, p);
    *next = p + head + size;
    w->literal_count = count;
    if (kind < 2) {
        tli_zstd_literals_plain(w, p + head, count, kind == 1);
        return TL_OK;
    }
    return tli_zstd_literals_coded(w, p, *next, head, kind == 2, form == 0 ? 1 : 4);
}

/* One of the three tables, as `mode` says: predefined, one symbol, described here, the one before. NULL: corrupt. */
TLI_FN const uint8_t *tli_zstd_table_open(tli_zstd_work *w, tli_zstd_table *t, tli_zstd_entry *entries,
                                          const tli_zstd_kind *kind, uint32_t mode, const uint8_t *p,
                                          const uint8_t *end)
{
    uint32_t symbols;
    size_t used = 0;
    if (mode == 0) {
        t->entries = kind->predefined;
        t->log = kind->predefined_log;
    } else if (mode == 1) {
        if (p == end || *p >= kind->symbols)
            return NULL;
        for (entries[0].base = kind->first, symbols = 0; symbols < *p; symbols++)
            entries[0].base += 1u << kind->extra[symbols];
        entries[0].extra = kind->extra[*p];
        entries[0].bits = 0;
        entries[0].next = 0;
        t->entries = entries;
        t->log = 0;
        used = 1;
    } else if (mode == 2) {
        used = tli_zstd_counts(w, p, end, kind->symbols, kind->log_max, &t->log, &symbols);
        if (used == 0)
            return NULL;
        tli_zstd_states(w, entries, t->log, symbols, kind);
        t->entries = entries;
    } else if (t->entries == NULL) {
        return NULL;
    }
    return p + used;
}

/* The header of the sequences section: how many there are, and the tables for them. */
TLI_FN tl_status tli_zstd_sequences_open(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint32_t *count,
                                         const uint8_t **next)
{
    uint32_t n, modes;
    size_t head = p == end || *p < 128 ? 1 : *p < 255 ? 2 : 3;
    if ((size_t)(end - p) < head)
        return tli_zstd_bad(w, "zstd: a block that ends within its sequences", end);
    n = head == 1 ? *p : head == 2 ? ((*p - 128u) << 8) + p[1] : tli_bits_le16(p + 1) + 0x7F00u;
    *count = n;
    *next = p + head;
    if (n == 0)
        return *next == end ? TL_OK : tli_zstd_bad(w, "zstd: bytes behind a block without sequences", p);
    if (*next == end)
        return tli_zstd_bad(w, "zstd: a block that ends within its sequences", end);
    modes = *(*next)++;
    if ((modes & 3) != 0)
        return tli_zstd_bad(w, "zstd: reserved bits in a sequences header", p);
    *next = tli_zstd_table_open(w, &w->ll, w->ll_entries, &tli_zstd_kind_ll, modes >> 6, *next, end);
    if (*next != NULL)
        *next = tli_zstd_table_open(w, &w->of, w->of_entries, &tli_zstd_kind_of, (modes >> 4) & 3, *next, end);
    if (*next != NULL)
        *next = tli_zstd_table_open(w, &w->ml, w->ml_entries, &tli_zstd_kind_ml, (modes >> 2) & 3, *next, end);
    return *next != NULL ? TL_OK : tli_zstd_bad(w, "zstd: a corrupt table of sequence codes", p);
}

/* Copies of 16 bytes at a time: up to 15 bytes more than `size` are read and written. */
TLI_INLINE void tli_zstd_wild(uint8_t *to, const uint8_t *from, size_t size)
{
    uint8_t *end = to + size;
    TLI_COPY(to, from, 16);
    for (to += 16, from += 16; to < end; to += 16, from += 16)
        TLI_COPY(to, from, 16);
}

/* A match that is nearer than 16 bytes, 8 bytes at a time: up to 15 bytes too many are written. Nearer than 8 the bytes
   are a pattern, which is held in a register and written at steps of whole patterns. */
TLI_FN void tli_zstd_near(uint8_t *to, size_t offset, size_t size)
{
    uint8_t *end = to + size;
    uint64_t v;
    if (offset >= 8) {
        do {
            TLI_COPY(to, to - offset, 8);
            to += 8;
        } while (to < end);
        return;
    }
    v = tli_bits_le64(to - offset) & ((UINT64_C(1) << (8 * offset)) - 1);
    v |= v << (8 * offset);
    if (offset < 4)
        v |= v << (16 * offset);
    if (offset < 2)
        v |= v << 32;
    offset = offset < 5 ? 8 - 8 % offset : offset;
    do {
        tli_bits_put_le64(to, v);
        to += offset;
    } while (to < end);
}

/* Where the copying of sequences is. */
typedef struct tli_zstd_copy {
    uint8_t *to;
    const uint8_t *literals, *literals_end;
    int in_output; /* the literals lie in the output: what is written may not reach those that were not copied */
} tli_zstd_copy;

/* How many bytes quick copies may write: between the content and the literals only matches fill what is free, in front
   of the end of the output literals too. */
TLI_FN ptrdiff_t tli_zstd_room(const tli_zstd_work *w, const tli_zstd_copy *c)
{
    ptrdiff_t room = c->in_output ? c->literals - c->to : w->end - c->to;
    return room - (ptrdiff_t)TLI_ZSTD_SLACK;
}

/* How many literals may be copied by reading TLI_ZSTD_SLACK bytes too many. */
TLI_FN ptrdiff_t tli_zstd_quick(const tli_zstd_work *w, const tli_zstd_copy *c)
{
    ptrdiff_t slack = (ptrdiff_t)TLI_ZSTD_SLACK;
    return c->literals_end - c->literals - (c->in_output && w->end - w->tail < slack ? slack : 0);
}

/* The same without writing beyond the end of the output. Its room was checked. */
TLI_NOINLINE void tli_zstd_careful(uint8_t *to, const uint8_t *end, size_t offset, size_t size)
{
    size_t room = (size_t)(end - to), quick = room > TLI_ZSTD_SLACK ? room - TLI_ZSTD_SLACK : 0;
    quick = TLI_ZSTD_FAST ? TLI_MIN(quick, size) : 0;
    if (quick > 0) {
        if (offset >= 16)
            tli_zstd_wild(to, to - offset, quick);
        else
            tli_zstd_near(to, offset, quick);
    }
    for (to += quick, size -= quick; size > 0; size--, to++)
        *to = *(to - offset);
}

/* A sequence near the end of something, or a corrupt one. */
TLI_NOINLINE tl_status tli_zstd_edge(const tli_zstd_work *w, tli_zstd_copy *c, uint32_t literals, uint32_t match,
                                     uint32_t offset, const uint8_t *at)
{
    size_t room = (size_t)(w->end - c->to), before = (size_t)(c->to - w->base);
    if (literals > (size_t)(c->literals_end - c->literals))
        return tli_zstd_bad(w, "zstd: a sequence takes more literals than there are", at);
    if (literals > room || match > room - literals)
        return tli_zstd_full(w, at);
    if (offset == 0)
        return tli_zstd_bad(w, "zstd: an offset of 0", at);
    if (offset > before + literals)
        return tli_zstd_bad(w, "zstd: a match before the start of the content", at);
    if (offset > w->window)
        return tli_zstd_bad(w, "zstd: a match beyond the window", at);
    if (c->in_output && match > (size_t)(c->literals - c->to))
        return w->tail == w->end ? tli_zstd_full(w, at)
            : tli_zstd_bad(w, "zstd: more content than a block may have", at);
    if (literals > 0)
        TLI_MOVE(c->to, c->literals, literals);
    c->to += literals;
    c->literals += literals;
    tli_zstd_careful(c->to, c->in_output ? c->literals : w->end, offset, match);
    c->to += match;
    return TL_OK;
}

/* The offset of a sequence: `code` is what was read, 1..3 (one more without literals) means one of the last three. */
TLI_INLINE uint32_t tli_zstd_offset(uint32_t *repeat, uint32_t code, int no_literals)
{
    uint32_t offset;
    if (TLI_LIKELY(code > 3)) {
        offset = code - 3;
        repeat[2] = repeat[1];
    } else {
        code += (uint32_t)no_literals;
        if (code == 1)
            return repeat[0];
        offset = code == 2 ? repeat[1] : code == 3 ? repeat[2] : repeat[0] - 1;
        if (code != 2)
            repeat[2] = repeat[1];
    }
    repeat[1] = repeat[0];
    repeat[0] = offset;
    return offset;
}

/* Decodes `count` sequences from the stream p..end and carries them out. c->to is where the output goes on. */
TLI_FN tl_status tli_zstd_sequences(tli_zstd_work *w, tli_zstd_copy *out, uint32_t count, const uint8_t *p,
                                    const uint8_t *end)
{
    const tli_zstd_entry *ll = w->ll.entries, *of = w->of.entries, *ml = w->ml.entries;
    uint32_t ll_state, of_state, ml_state, repeat[3];
    uint32_t taking = out->in_output ? 0 : UINT32_MAX; /* do literals take of the room, too? */
    uint64_t window = w->window;
    tli_zstd_copy c = *out;
    ptrdiff_t room = tli_zstd_room(w, &c), quick = tli_zstd_quick(w, &c);
    tli_zstd_bits b;
    if (!tli_zstd_bits_open(&b, p, end))
        return tli_zstd_bad(w, "zstd: a sequence stream without an end", p);
    ll_state = tli_zstd_bits_take(&b, w->ll.log);
    of_state = tli_zstd_bits_take(&b, w->of.log);
    ml_state = tli_zstd_bits_take(&b, w->ml.log);
    TLI_COPY(repeat, w->repeat, sizeof repeat);
    do {
        tli_zstd_entry l = ll[ll_state], m = ml[ml_state], o = of[of_state];
        uint32_t offset, match, literals;
        tl_status st;
        if (!tli_zstd_bits_fill(&b))
            return tli_zstd_bad(w, "zstd: a sequence stream that ends too early", p);
        offset = tli_zstd_offset(repeat, o.base + tli_zstd_bits_take(&b, o.extra), l.base == 0);
        match = m.base;
        if (TLI_UNLIKELY(m.extra > 0))
            match += tli_zstd_bits_take(&b, m.extra);
        if (TLI_UNLIKELY(o.extra + m.extra + l.extra > 57 - 26) && !tli_zstd_bits_fill(&b))
            return tli_zstd_bad(w, "zstd: a sequence stream that ends too early", p);
        literals = l.base;
        if (TLI_UNLIKELY(l.extra > 0))
            literals += tli_zstd_bits_take(&b, l.extra);
        if (--count > 0) {
            ll_state = l.next + tli_zstd_bits_take(&b, l.bits);
            ml_state = m.next + tli_zstd_bits_take(&b, m.bits);
            of_state = o.next + tli_zstd_bits_take(&b, o.bits);
        }
        room -= (ptrdiff_t)(match + (literals & taking));
        quick -= (ptrdiff_t)literals;
        if (TLI_ZSTD_FAST && TLI_LIKELY(room >= 0 && quick >= 0
                       && (size_t)offset - 1 < (size_t)(c.to - w->base) + literals && offset <= window)) {
            tli_zstd_wild(c.to, c.literals, literals);
            c.to += literals;
            c.literals += literals;
            if (TLI_LIKELY(offset >= 16))
                tli_zstd_wild(c.to, c.to - offset, match);
            else
                tli_zstd_near(c.to, offset, match);
            c.to += match;
        } else {
            st = tli_zstd_edge(w, &c, literals, match, offset, p);
            if (st == TL_OK)
                continue;
            if (tli_zstd_bits_left(&b) < 0) /* what was read behind the end made no sense: say what came first */
                break;
            return st;
        }
    } while (count > 0);
    if (tli_zstd_bits_left(&b) != 0)
        return tli_zstd_bad(w, tli_zstd_bits_left(&b) < 0 ? "zstd: a sequence stream that ends too early"
                                                          : "zstd: a sequence stream that is too long", p);
    TLI_COPY(w->repeat, repeat, sizeof repeat);
    *out = c;
    return TL_OK;
}

/* A compressed block p..end; *to: where its content goes, and where that ends. */
TLI_FN tl_status tli_zstd_block(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint8_t **to)
{
    const uint8_t *start = p;
    tli_zstd_copy c;
    uint32_t count = 0;
    size_t rest;
    tl_status st;
    if (p == end)
        return tli_zstd_bad(w, "zstd: an empty compressed block", p);
    w->tail = (size_t)(w->end - *to) > w->block_max ? *to + w->block_max : w->end;
    st = tli_zstd_literals(w, p, end, *to, &p);
    if (st == TL_OK)
        st = tli_zstd_sequences_open(w, p, end, &count, &p);
    if (st != TL_OK)
        return st;
    c.to = *to;
    c.literals = w->literals;
    c.literals_end = w->literals + w->literal_count;
    c.in_output = w->literals == w->tail - w->literal_count;
    if (count > 0)
        st = tli_zstd_sequences(w, &c, count, p, end);
    if (st != TL_OK)
        return st;
    rest = (size_t)(c.literals_end - c.literals);
    if (rest > (size_t)(w->end - c.to))
        return tli_zstd_full(w, start);
    if (rest > 0)
        TLI_MOVE(c.to, c.literals, rest);
    c.to += rest;
    if ((size_t)(c.to - *to) > w->block_max)
        return tli_zstd_bad(w, "zstd: more content than a block may have", start);
    *to = c.to;
    return TL_OK;
}

/* ---- frames (RFC 8878, 3.1.1 and 3.1.2) ---- */

/* What the headers of a frame say. */
typedef struct tli_zstd_header {
    size_t size; /* of the header; of the whole frame when it is skippable */
    int skippable, checksum, content_known;
    uint64_t content, window;
} tli_zstd_header;

TLI_FN tl_status tli_zstd_magic(uint32_t magic, uint64_t at, tl_error *err)
{
    if ((magic >= UINT32_C(0xFD2FB522) && magic <= UINT32_C(0xFD2FB527)) || magic == UINT32_C(0x1EB52FFD))
        return tli_err(err, TL_UNSUPPORTED, "zstd: a frame of a version before 1.0", at);
    return tli_err(err, TL_CORRUPT, "zstd: not a frame", at);
}

/* The window of the descriptor byte: at least 1 KiB, in steps of an eighth. */
TLI_INLINE uint64_t tli_zstd_window(uint8_t descriptor)
{
    uint64_t base = UINT64_C(1) << (10 + (descriptor >> 3));
    return base + base / 8 * (descriptor & 7);
}

/* Reads the header at `at` of src..end. */
TLI_FN tl_status tli_zstd_header_read(const uint8_t *src, const uint8_t *end, const uint8_t *p, tli_zstd_header *h,
                                      tl_error *err)
{
    static const uint8_t content_bytes[4] = {0, 2, 4, 8}, id_bytes[4] = {0, 1, 2, 4};
    uint64_t at = (uint64_t)(p - src), cut = (uint64_t)(end - src);
    size_t left = (size_t)(end - p), content_size, id_size, i;
    uint32_t magic, flags, id = 0;
    TLI_FILL(h, 0, sizeof *h);
    if (left < 4)
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a frame's first bytes", cut);
    magic = tli_bits_le32(p);
    h->skippable = (magic & ~UINT32_C(15)) == TLI_ZSTD_SKIPPABLE;
    if (!h->skippable && magic != TLI_ZSTD_MAGIC)
        return tli_zstd_magic(magic, at, err);
    if (left < 8 && (h->skippable || left < 5))
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a frame's header", cut);
    if (h->skippable) {
        if (tli_bits_le32(p + 4) > left - 8)
            return tli_err(err, TL_TRUNCATED, "zstd: ends within a skippable frame", cut);
        h->size = 8 + (size_t)tli_bits_le32(p + 4);
        return TL_OK;
    }
    flags = p[4];
    content_size = flags >> 6 == 0 ? (flags >> 5) & 1 : content_bytes[flags >> 6];
    id_size = id_bytes[flags & 3];
    h->size = (flags & 32) != 0 ? 5 + id_size + content_size : 6 + id_size + content_size;
    if ((flags & 8) != 0)
        return tli_err(err, TL_UNSUPPORTED, "zstd: a reserved bit is set in a frame's header", at + 4);
    if (left < h->size)
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a frame's header", cut);
    h->checksum = (flags & 4) != 0;
    p += 5;
    if ((flags & 32) == 0)
        h->window = tli_zstd_window(*p++);
    for (i = 0; i < id_size; i++)
        id |= (uint32_t)*p++ << (8 * i);
    h->content_known = content_size != 0;
    for (i = 0; i < content_size; i++)
        h->content |= (uint64_t)*p++ << (8 * i);
    h->content += content_size == 2 ? 256 : 0;
    if (id != 0)
        return tli_err(err, TL_UNSUPPORTED, "zstd: a frame that needs a dictionary", at + 4);
    if ((flags & 32) != 0)
        h->window = h->content; /* a single segment; the output is the window, whatever its size */
    else if (h->window > TLI_ZSTD_WINDOW_MAX)
        return tli_err_need(err, TL_LIMIT, "zstd: a window of more than 128 MiB", at + 4, h->window);
    return TL_OK;
}

/* The content of a raw block or a run. */
TLI_FN tl_status tli_zstd_block_plain(const tli_zstd_work *w, const uint8_t *p, size_t size, int run, uint8_t **to)
{
    if (size > (size_t)(w->end - *to))
        return tli_zstd_full(w, p);
    if (run)
        TLI_FILL(*to, *p, size);
    else if (size > 0)
        TLI_COPY(*to, p, size);
    *to += size;
    return TL_OK;
}

/* All blocks of a frame; *p: the first, and then what follows the last. */
TLI_FN tl_status tli_zstd_blocks(tli_zstd_work *w, const uint8_t **p, uint8_t **to)
{
    for (;;) {
        uint32_t head, kind;
        size_t size, taken, left = (size_t)(w->src_end - *p);
        tl_status st;
        if (left < 3)
            return tli_zstd_cut(w, "zstd: ends within a block's header");
        head = (uint32_t)(*p)[0] | (uint32_t)(*p)[1] << 8 | (uint32_t)(*p)[2] << 16;
        kind = (head >> 1) & 3;
        size = head >> 3;
        if (kind == 3)
            return tli_zstd_bad(w, "zstd: a block of the reserved type", *p);
        if (size > w->block_max)
            return tli_zstd_bad(w, "zstd: a block greater than the frame allows", *p);
        *p += 3;
        taken = kind == 1 ? 1 : size;
        if (taken > left - 3)
            return tli_zstd_cut(w, "zstd: ends within a block");
        st = kind == 2 ? tli_zstd_block(w, *p, *p + taken, to) : tli_zstd_block_plain(w, *p, size, kind == 1, to);
        if (st != TL_OK)
            return st;
        *p += taken;
        if ((head & 1) != 0)
            return TL_OK;
    }
}

/* One frame whose header was read. */
TLI_FN tl_status tli_zstd_frame(tli_zstd_work *w, const tli_zstd_header *h, const uint8_t **p, uint8_t **to)
{
    const uint8_t *start = *p;
    tl_status st;
    if (h->content_known && h->content > (uint64_t)(w->end - *to))
        return tli_err_need(w->err, TL_LIMIT, "zstd: more content than there is room for", (uint64_t)(start - w->src),
                            h->content);
    w->base = *to;
    w->window = h->window;
    w->block_max = (uint32_t)TLI_MIN(h->window, (uint64_t)TLI_ZSTD_BLOCK_MAX);
    w->content_known = h->content_known;
    w->huffman_known = 0;
    w->ll.entries = w->of.entries = w->ml.entries = NULL;
    w->repeat[0] = 1;
    w->repeat[1] = 4;
    w->repeat[2] = 8;
    *p += h->size;
    st = tli_zstd_blocks(w, p, to);
    if (st != TL_OK)
        return st;
    if (h->content_known && (uint64_t)(*to - w->base) != h->content)
        return tli_zstd_bad(w, "zstd: the content has another size than the frame announces", start);
    if (!h->checksum)
        return TL_OK;
    if (w->src_end - *p < 4)
        return tli_zstd_cut(w, "zstd: ends within a checksum");
    if (tli_bits_le32(*p) != (uint32_t)tli_hash_xxh64(w->base, (size_t)(*to - w->base), 0))
        return tli_err(w->err, TL_CHECKSUM, "zstd: the content does not match its checksum", (uint64_t)(*p - w->src));
    *p += 4;
    return TL_OK;
}

/* All frames of src into dst, with TLI_ZSTD_WORK bytes of work memory, aligned for any object, not cleared. *dst_size
   is 0 unless it is TL_OK. */
TLI_FN tl_status tli_zstd_decode(void *work, void *dst, size_t dst_capacity, size_t *dst_size, const void *src,
                                 size_t src_size, tl_error *err)
{
    tli_zstd_work *w = (tli_zstd_work *)work;
    uint8_t nowhere[1], *start = dst_capacity != 0 ? (uint8_t *)dst : nowhere, *to = start;
    const uint8_t *p = (const uint8_t *)src, *end = p;
    *dst_size = 0;
    if (src_size == 0)
        return TL_OK;
    end += src_size;
    w->src = p;
    w->src_end = end;
    w->end = to + dst_capacity;
    w->err = err;
    while (p != end) {
        tli_zstd_header h;
        tl_status st = tli_zstd_header_read(w->src, end, p, &h, err);
        if (st == TL_OK && h.skippable)
            p += h.size;
        else if (st == TL_OK)
            st = tli_zstd_frame(w, &h, &p, &to);
        if (st != TL_OK)
            return st;
    }
    *dst_size = (size_t)(to - start);
    return TL_OK;
}

TL_API tl_status tl_zstd_decompress(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                                    const tl_allocator *allocator, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    void *work;
    tl_status st;
    if (dst_size == NULL || (dst == NULL && dst_capacity != 0) || (src == NULL && src_size != 0))
        return tli_err(err, TL_MISUSE, "tl_zstd_decompress: an argument is NULL", TL_NO_POSITION);
    *dst_size = 0;
    work = tli_mem_new(&a, TLI_ZSTD_WORK);
    if (work == NULL)
        return tli_mem_failed(&a, err);
    st = tli_zstd_decode(work, dst, dst_capacity, dst_size, src, src_size, err);
    tli_mem_delete(&a, work, TLI_ZSTD_WORK);
    return st;
}

/* Steps over the blocks and the checksum of a frame whose header ends at *p. */
TLI_FN tl_status tli_zstd_skip(const uint8_t *src, const uint8_t *end, const tli_zstd_header *h, const uint8_t **p,
                               tl_error *err)
{
    uint32_t head;
    do {
        size_t left = (size_t)(end - *p), taken;
        if (left < 3)
            return tli_err(err, TL_TRUNCATED, "zstd: ends within a block's header", (uint64_t)(end - src));
        head = (uint32_t)(*p)[0] | (uint32_t)(*p)[1] << 8 | (uint32_t)(*p)[2] << 16;
        taken = ((head >> 1) & 3) == 1 ? 1 : head >> 3;
        if (((head >> 1) & 3) == 3)
            return tli_err(err, TL_CORRUPT, "zstd: a block of the reserved type", (uint64_t)(*p - src));
        if (taken > left - 3)
            return tli_err(err, TL_TRUNCATED, "zstd: ends within a block", (uint64_t)(end - src));
        *p += 3 + taken;
    } while ((head & 1) == 0);
    if (h->checksum && end - *p < 4)
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a checksum", (uint64_t)(end - src));
    *p += h->checksum ? 4 : 0;
    return TL_OK;
}

TL_API tl_status tl_zstd_content_size(const void *src, size_t src_size, uint64_t *size, tl_error *err)
{
    const uint8_t *start = (const uint8_t *)src, *p = start, *end;
    int known = 1;
    uint64_t sum = 0;
    if (size == NULL || (src == NULL && src_size != 0))
        return tli_err(err, TL_MISUSE, "tl_zstd_content_size: an argument is NULL", TL_NO_POSITION);
    *size = 0;
    for (end = src_size != 0 ? p + src_size : p; p != end;) {
        const uint8_t *frame = p;
        tli_zstd_header h;
        tl_status st = tli_zstd_header_read(start, end, p, &h, err);
        if (st != TL_OK)
            return st;
        p += h.size;
        if (h.skippable)
            continue;
        st = tli_zstd_skip(start, end, &h, &p, err);
        if (st != TL_OK)
            return st;
        known &= h.content_known;
        if (h.content > INT64_MAX || sum + h.content > INT64_MAX)
            return tli_err(err, TL_CORRUPT, "zstd: an impossible content size", (uint64_t)(frame - start));
        sum += h.content;
    }
    *size = known ? sum : UINT64_MAX;
    return TL_OK;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
