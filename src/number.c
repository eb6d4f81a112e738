/* >>number: the exact text of numbers, both ways.

   Doubles and floats print as the shortest digits that read back as the same value, the nearest of these, by the
   method of R. Giulietti ("The Schubfach way to render doubles"); they are read by the method of D. Lemire ("Number
   parsing at a gigabyte per second") and, where that leaves two candidates, by an exact comparison. Both use one
   table of powers of ten: 128 bits for every 28th power, expanded by 64-bit powers of five. */

typedef struct tli_number_wide {
    uint64_t high;
    uint64_t low;
} tli_number_wide;

/* floor(10^(28 i - 364) 2^n), n such that the top bit is set. */
static const tli_number_wide tli_number_coarse[25] = {
    {0xe1afa13afbd14d6d, 0x82189c09a3a1ec21},
    {0xe3e27a444d8d98b7, 0xfd1b1b2308169b25},
    {0xe61acf033d1a45df, 0x6fb92487298e33bd},
    {0xe858ad248f5c22c9, 0xd1b3400f8f9cff68},
    {0xea9c227723ee8bcb, 0x465e15a979c1cadc},
    {0xece53cec4a314ebd, 0xa4f8bf5635246428},
    {0xef340a98172aace4, 0x86fb897116c87c34},
    {0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1},
    {0xf3e2f893dec3f126, 0x5a89dba3c3efccfa},
    {0xf64335bcf065d37d, 0x4d4617b5ff4a16d5},
    {0xf8a95fcf88747d94, 0x75a44c6397ce912a},
    {0xfb158592be068d2e, 0xeed6e2f0f0d56712},
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc},
    {0x8000000000000000, 0x0000000000000000},
    {0x813f3978f8940984, 0x4000000000000000},
    {0x82818f1281ed449f, 0xbff8f10e7a8921a4},
    {0x83c7088e1aab65db, 0x792667c6da79e0fa},
    {0x850fadc09923329e, 0x03e2cf6bc604ddb0},
    {0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2},
    {0x87aa9aff79042286, 0x90fb44d2f05d0842},
    {0x88fcf317f22241e2, 0x441fece3bdf81f03},
    {0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f},
    {0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e},
    {0x8d07e33455637eb2, 0xdb0b487b6423e1e8},
    {0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648}
};

/* 5^i with the top bit set: exact. */
static const uint64_t tli_number_fine[28] = {
    0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000,
    0x9c40000000000000, 0xc350000000000000, 0xf424000000000000, 0x9896800000000000,
    0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000,
    0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000,
    0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000,
    0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400,
    0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a
};

/* coarse x fine lacks up to two units of the last of 128 places: two bits for each power from 10^-342. */
static const uint32_t tli_number_lack[42] = {
    0x00010440, 0x01010000, 0x45450500, 0x00014000, 0x44545405, 0x40045555, 0x00000000, 0x00000000, 0x41010050,
    0x10541500, 0x41054145, 0x45145145, 0x50055155, 0x05454440, 0x04000410, 0x40000514, 0x50401005, 0x00100000,
    0x14051554, 0x01055441, 0x11000155, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x04004040, 0x00041000,
    0x00000050, 0x05440000, 0x50401555, 0x10541401, 0x41115141, 0x59669595, 0x440a6966, 0x00000000, 0x55554000,
    0x55565915, 0x00100105, 0x00400141, 0x50144155, 0x51011055, 0x00155500
};

/* 10^-27 to 10^-1, rounded up: what most decimal text needs. */
static const tli_number_wide tli_number_small[27] = {
    {0x9e74d1b791e07e48, 0x775ea264cf55347e}, {0xc612062576589dda, 0x95364afe032a819e},
    {0xf79687aed3eec551, 0x3a83ddbd83f52205}, {0x9abe14cd44753b52, 0xc4926a9672793543},
    {0xc16d9a0095928a27, 0x75b7053c0f178294}, {0xf1c90080baf72cb1, 0x5324c68b12dd6339},
    {0x971da05074da7bee, 0xd3f6fc16ebca5e04}, {0xbce5086492111aea, 0x88f4bb1ca6bcf585},
    {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e6}, {0x9392ee8e921d5d07, 0x3aff322e62439fd0},
    {0xb877aa3236a4b449, 0x09befeb9fad487c3}, {0xe69594bec44de15b, 0x4c2ebe687989a9b4},
    {0x901d7cf73ab0acd9, 0x0f9d37014bf60a11}, {0xb424dc35095cd80f, 0x538484c19ef38c95},
    {0xe12e13424bb40e13, 0x2865a5f206b06fba}, {0x8cbccc096f5088cb, 0xf93f87b7442e45d4},
    {0xafebff0bcb24aafe, 0xf78f69a51539d749}, {0xdbe6fecebdedd5be, 0xb573440e5a884d1c},
    {0x89705f4136b4a597, 0x31680a88f8953031}, {0xabcc77118461cefc, 0xfdc20d2b36ba7c3e},
    {0xd6bf94d5e57a42bc, 0x3d32907604691b4d}, {0x8637bd05af6c69b5, 0xa63f9a49c2c1b110},
    {0xa7c5ac471b478423, 0x0fcf80dc33721d54}, {0xd1b71758e219652b, 0xd3c36113404ea4a9},
    {0x83126e978d4fdf3b, 0x645a1cac083126ea}, {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a4},
    {0xcccccccccccccccc, 0xcccccccccccccccd}
};

#define TLI_NUMBER_POWER_MIN (-342)

/* The low half of a 64 x 64 bit product, and its high half. */
TLI_INLINE uint64_t tli_number_multiply(uint64_t a, uint64_t b, uint64_t *high)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0, middle = a0 * b1 + (low >> 32) + (uint32_t)cross;
    *high = a1 * b1 + (cross >> 32) + (middle >> 32);
    return (middle << 32) | (uint32_t)low;
}

/* Zero bits above the highest set one; v is not 0. */
TLI_INLINE uint32_t tli_number_clz(uint64_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_clzll(v);
#else
    uint32_t n = 0;
    for (; (v >> 63) == 0; v <<= 1)
        n++;
    return n;
#endif
}

/* Zero bits below the lowest set one; v is not 0. */
TLI_INLINE uint32_t tli_number_ctz(uint64_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_ctzll(v);
#else
    uint32_t n = 0;
    for (; (v & 1) == 0; v >>= 1)
        n++;
    return n;
#endif
}

/* floor(log2(10^k)) for |k| <= 600, floor(log10(2^q)) for |q| <= 1500: no shifts of negative numbers. */
TLI_INLINE int32_t tli_number_log2(int32_t k)
{
    return (int32_t)((uint32_t)(k * 1741647 + (1 << 30)) >> 19) - (1 << 11);
}

TLI_INLINE int32_t tli_number_log10(int32_t q, int32_t less)
{
    return (int32_t)((uint64_t)((int64_t)q * 1262611 - less + ((int64_t)1 << 40)) >> 22) - (1 << 18);
}

/* floor(10^k 2^n), n such that the top bit is set, expanded from the table. */
TLI_FN tli_number_wide tli_number_expand(int32_t k)
{
    uint32_t i = (uint32_t)(k + 364), j = (uint32_t)(k - TLI_NUMBER_POWER_MIN);
    tli_number_wide c = tli_number_coarse[i / 28], p;
    uint64_t fine = tli_number_fine[i % 28], carry, low;
    uint32_t shift;
    p.low = tli_number_multiply(c.high, fine, &p.high);
    low = tli_number_multiply(c.low, fine, &carry);
    p.low += carry;
    p.high += p.low < carry;
    shift = (uint32_t)(p.high >> 63) ^ 1;
    p.high = (p.high << shift) | ((p.low >> 63) & shift);
    p.low = (p.low << shift) | ((low >> 63) & shift);
    carry = (tli_number_lack[j / 16] >> (j % 16 * 2)) & 3;
    p.low += carry;
    p.high += p.low < carry;
    return p;
}

/* The same for any k of the table, but rounded up from -27 to -1. */
TLI_INLINE tli_number_wide tli_number_power(int32_t k)
{
    if (k >= 0 && k <= 27) {
        tli_number_wide exact;
        exact.high = tli_number_fine[k];
        exact.low = 0;
        return exact;
    }
    return k < 0 && k >= -27 ? tli_number_small[k + 27] : tli_number_expand(k);
}

/* ---- integers ---- */

/* Eight digits of v < 10^8 as bytes 0..9, the first digit in the lowest byte. */
TLI_INLINE uint64_t tli_number_spread(uint32_t v)
{
    uint64_t x = ((uint64_t)(v % 10000) << 32) | (v / 10000), q;
    q = ((x * 10486) >> 20) & 0x0000007f0000007fu;
    x = ((x - q * 100) << 16) + q;
    q = ((x * 103) >> 10) & 0x000f000f000f000fu;
    return ((x - q * 10) << 8) + q;
}

#define TLI_NUMBER_ASCII 0x3030303030303030u

TLI_INLINE size_t tli_number_below_1e8(char *out, uint32_t v)
{
    uint64_t digits;
    uint32_t skip;
    if (v < 10) {
        out[0] = (char)('0' + v);
        return 1;
    }
    digits = tli_number_spread(v);
    skip = tli_number_ctz(digits) & 56;
    tli_bits_put_le64(out, (digits + TLI_NUMBER_ASCII) >> skip);
    return 8 - skip / 8;
}

/* Writes at most 20 characters and may touch 24. */
TLI_FN size_t tli_number_u64(char *out, uint64_t v)
{
    uint64_t top;
    size_t n;
    if (v < 100000000)
        return tli_number_below_1e8(out, (uint32_t)v);
    top = v / 100000000;
    if (top < 100000000) {
        n = tli_number_below_1e8(out, (uint32_t)top);
    } else {
        n = tli_number_below_1e8(out, (uint32_t)(top / 100000000));
        tli_bits_put_le64(out + n, tli_number_spread((uint32_t)(top % 100000000)) + TLI_NUMBER_ASCII);
        n += 8;
    }
    tli_bits_put_le64(out + n, tli_number_spread((uint32_t)(v % 100000000)) + TLI_NUMBER_ASCII);
    return n + 8;
}

TLI_FN size_t tli_number_i64(char *out, int64_t v)
{
    if (v >= 0)
        return tli_number_u64(out, (uint64_t)v);
    out[0] = '-';
    return 1 + tli_number_u64(out + 1, (uint64_t)0 - (uint64_t)v);
}

/* 1 when the eight bytes (the first in the lowest place) are digits, and then their value. */
TLI_INLINE int tli_number_eight(const char *s, uint32_t *value)
{
    uint64_t x = tli_bits_le64(s) - TLI_NUMBER_ASCII;
    if ((((x + 0x7676767676767676u) | x) & 0x8080808080808080u) != 0)
        return 0;
    x = x * 10 + (x >> 8);
    *value = (uint32_t)(((x & 0x000000ff000000ffu) * 0x000f424000000064u
                         + ((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32);
    return 1;
}

/* Digits without leading zeros, at most UINT64_MAX. */
TLI_FN int tli_number_parse_u64(const char *s, size_t n, uint64_t *v)
{
    uint64_t x = 0;
    size_t i = 0;
    uint32_t eight;
    if (n - 1 >= 20 || (n > 1 && s[0] == '0'))
        return 0;
    while (n - i >= 8 && i < 16) {
        if (!tli_number_eight(s + i, &eight))
            return 0;
        x = x * 100000000 + eight;
        i += 8;
    }
    for (; i < n; i++) {
        uint32_t d = (uint32_t)(uint8_t)s[i] - '0';
        if (d > 9 || (i == 19 && (x > UINT64_MAX / 10 || (x == UINT64_MAX / 10 && d > UINT64_MAX % 10))))
            return 0;
        x = x * 10 + d;
    }
    *v = x;
    return 1;
}

TLI_FN int tli_number_parse_i64(const char *s, size_t n, int64_t *v)
{
    int negative = n > 0 && s[0] == '-';
    uint64_t x = 0, most = negative ? (uint64_t)1 << 63 : INT64_MAX;
    if (!tli_number_parse_u64(s + negative, n - (size_t)negative, &x) || x > most)
        return 0;
    *v = negative ? (int64_t)((uint64_t)0 - x) : (int64_t)x;
    return 1;
}

/* ---- printing floating point ---- */

/* What differs between the two widths. */
typedef struct tli_number_kind {
    int32_t bits;     /* of the fraction that is stored */
    int32_t bias;     /* of the exponent when the significand is an integer */
    int32_t infinite; /* the stored exponent of infinities */
    int32_t plain_min, plain_max; /* decimal exponents written without `e` */
    int32_t least, most;          /* powers of ten below and above which a 64-bit integer times it is 0 and infinite */
    int32_t even_min, even_max;   /* powers of ten with which a halfway case can be */
} tli_number_kind;

static const tli_number_kind tli_number_double = {52, 1075, 2047, -5, 15, -342, 308, -4, 23};
static const tli_number_kind tli_number_single = {23, 150, 255, -6, 12, -64, 38, -17, 10};

/* digits x 10^exponent */
typedef struct tli_number_digits {
    uint64_t digits;
    int32_t exponent;
} tli_number_digits;

/* The top 64 of 192 bits, the last one set too when anything was cut (one unit of the table's error apart). */
TLI_INLINE uint64_t tli_number_odd(uint64_t high, uint64_t middle)
{
    return high | (middle > 1);
}

/* The shortest digits for c 2^q; `even`: c is, so that the ends of its interval belong to it; `close`: c is a power of
   two whose lower neighbour is only half as far. */
TLI_FN tli_number_digits tli_number_shortest(uint64_t c, int32_t q, int close)
{
    int32_t k = tli_number_log10(q, close ? 524031 : 0);
    uint32_t h = (uint32_t)(q + tli_number_log2(-k) + 1), up = 1 + h, down = close ? h : up;
    tli_number_wide g = tli_number_power(-k);
    uint64_t odd = (uint64_t)(c & 1), low, middle, high, carry, x, lower, value, upper, s;
    tli_number_digits d;
    int under, over;
    if (k > 27 || k < -55) { /* not exact: the method wants it rounded up */
        g.low++;
        g.high += g.low == 0;
    }
    low = tli_number_multiply(g.low, c << (2 + h), &carry);
    middle = tli_number_multiply(g.high, c << (2 + h), &high) + carry;
    high += middle < carry;
    value = tli_number_odd(high, middle);

    x = low + (g.low << up); /* the upper end: 2^up g more */
    carry = x < low;
    x = (g.high << up) | (g.low >> (64 - up));
    s = middle + x;
    upper = tli_number_odd(high + (g.high >> (64 - up)) + (s < x) + (s + carry < carry), s + carry) - odd;
    carry = low < g.low << down;
    x = (g.high << down) | (g.low >> (64 - down));
    s = middle - x;
    lower = tli_number_odd(high - (g.high >> (64 - down)) - (middle < x) - (s < carry), s - carry) + odd;

    s = value / 4;
    d.exponent = k;
    if (s >= 10) {
        uint64_t tens = s / 10 * 40;
        under = lower <= tens;
        over = tens + 40 <= upper;
        if (under != over) {
            d.digits = s / 10 + (uint64_t)over;
            d.exponent = k + 1;
            return d;
        }
    }
    under = lower <= 4 * s;
    over = 4 * s + 4 <= upper;
    if (under == over)
        over = value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1) != 0);
    d.digits = s + (uint64_t)over;
    return d;
}

TLI_INLINE size_t tli_number_exponent(char *out, int32_t e)
{
    size_t n = 2;
    out[0] = 'e';
    out[1] = e < 0 ? '-' : '+';
    e = e < 0 ? -e : e;
    if (e >= 100)
        out[n++] = (char)('0' + e / 100);
    if (e >= 10)
        out[n++] = (char)('0' + e / 10 % 10);
    out[n++] = (char)('0' + e % 10);
    return n;
}

/* The digits as plain decimal text, or with an exponent. All 17 places are stored from registers, zeros at the end
   too; what is too much is not counted. */
TLI_FN size_t tli_number_layout(char *out, tli_number_digits d, const tli_number_kind *kind)
{
    int32_t e = d.exponent + 16, n;
    uint64_t v = d.digits, a, b;
    uint32_t top, shift;
    if (v < 1000000000) {
        v *= 100000000;
        e -= 8;
    }
    for (; v < 10000000000000000u; e--)
        v *= 10;
    top = (uint32_t)(v / 100000000);
    a = tli_number_spread(top % 100000000);
    b = tli_number_spread((uint32_t)(v % 100000000));
    n = b != 0 ? 17 - (int32_t)tli_number_clz(b) / 8 : a != 0 ? 9 - (int32_t)tli_number_clz(a) / 8 : 1;
    a += TLI_NUMBER_ASCII;
    b += TLI_NUMBER_ASCII;
    if (e < 0 && e >= kind->plain_min) {
        TLI_COPY(out, "0.000000", 8);
        out += 1 - e;
        n += 1 - e;
    }
    out[0] = (char)('0' + top / 100000000);
    if (e < kind->plain_min || e > kind->plain_max) {
        out[1] = '.';
        tli_bits_put_le64(out + 2, a);
        tli_bits_put_le64(out + 10, b);
        n += n > 1;
        return (size_t)n + tli_number_exponent(out + n, e);
    }
    tli_bits_put_le64(out + 1, a);
    tli_bits_put_le64(out + 9, b);
    if (e < 0)
        return (size_t)n;
    if (e < 8 && n > e + 1) { /* behind the point all moves by one */
        shift = (uint32_t)e * 8;
        tli_bits_put_le64(out + e + 2, a >> shift);
        tli_bits_put_le64(out + 10, b);
    } else if (n > e + 1) {
        shift = (uint32_t)(e - 8) * 8;
        tli_bits_put_le64(out + e + 2, b >> shift);
    } else {
        out[e + 2] = '0';
        n = e + 2;
    }
    out[e + 1] = '.';
    return (size_t)n + 1;
}

TLI_INLINE size_t tli_number_float(char *out, uint64_t fraction, int32_t stored, const tli_number_kind *kind)
{
    uint64_t c = fraction | (uint64_t)(stored != 0) << kind->bits;
    int32_t q = stored != 0 ? stored - kind->bias : 1 - kind->bias;
    if (stored == kind->infinite) {
        TLI_COPY(out, fraction != 0 ? "NaN" : "inf", 3);
        return 3;
    }
    if (q <= 0 && q >= -kind->bits && (c & (((uint64_t)1 << -q) - 1)) == 0) { /* a whole number, written exactly */
        size_t n = tli_number_u64(out, c >> -q);
        out[n] = '.';
        out[n + 1] = '0';
        return n + 2;
    }
    if (c == 0) {
        TLI_COPY(out, "0.0", 3);
        return 3;
    }
    return tli_number_layout(out, tli_number_shortest(c, q, fraction == 0 && stored > 1), kind);
}

/* Shortest text that reads back as v: `0.1`, `-0.0`, `5e-324`, `1e+27`, `NaN`, `inf`, `-inf`. At most 24 characters;
   may touch 32. */
TLI_FN size_t tli_number_f64(char *out, double v)
{
    uint64_t bits, fraction;
    size_t sign;
    TLI_COPY(&bits, &v, 8);
    fraction = bits & 0x000fffffffffffffu;
    sign = (size_t)(bits >> 63);
    if (sign != 0 && (fraction == 0 || (bits >> 52 & 2047) != 2047))
        *out++ = '-';
    else
        sign = 0;
    return sign + tli_number_float(out, fraction, (int32_t)(bits >> 52 & 2047), &tli_number_double);
}

TLI_FN size_t tli_number_f32(char *out, float v)
{
    uint32_t bits, fraction;
    size_t sign;
    TLI_COPY(&bits, &v, 4);
    fraction = bits & 0x007fffffu;
    sign = (size_t)(bits >> 31);
    if (sign != 0 && (fraction == 0 || (bits >> 23 & 255) != 255))
        *out++ = '-';
    else
        sign = 0;
    return sign + tli_number_float(out, fraction, (int32_t)(bits >> 23 & 255), &tli_number_single);
}

/* ---- reading floating point ---- */

/* A number of the JSON grammar: its digits are a span with a point somewhere inside. */
typedef struct tli_number_text {
    uint64_t digits;   /* value of the digits; of the first 19 significant ones when `cut` */
    int64_t exponent;  /* times this power of ten */
    int negative;
    int cut;
    const char *first; /* the first significant digit, when cut */
    const char *end;   /* of the digits */
    int64_t scale;     /* power of ten of the last digit, when cut */
} tli_number_text;

TLI_INLINE const char *tli_number_run(const char *p, const char *end, uint64_t *value)
{
    uint64_t x = *value;
    uint32_t d;
    while (end - p >= 8 && tli_number_eight(p, &d)) {
        x = x * 100000000 + d;
        p += 8;
    }
    for (; p != end && (d = (uint32_t)(uint8_t)*p - '0') <= 9; p++)
        x = x * 10 + d;
    *value = x;
    return p;
}

/* The exponent after `e`, saturated far beyond where it matters; NULL when it is malformed. */
TLI_FN const char *tli_number_scan_exponent(const char *p, const char *end, int64_t *exponent)
{
    int64_t e = 0;
    int negative = 0;
    uint32_t d;
    const char *start;
    if (p != end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    for (start = p; p != end && (d = (uint32_t)(uint8_t)*p - '0') <= 9; p++)
        if (e < (int64_t)1 << 56)
            e = e * 10 + (int64_t)d;
    *exponent += negative ? -e : e;
    return p == start ? NULL : p;
}

/* More than 19 digits, zeros in front counted: takes the first 19 significant ones. */
TLI_FN void tli_number_cut(tli_number_text *t, const char *p)
{
    int64_t left = 0;
    int count = 0;
    uint64_t x = 0;
    while (p != t->end && (*p == '0' || *p == '.'))
        p++;
    t->first = p;
    t->scale = t->exponent;
    for (; p != t->end; p++) {
        if (*p == '.')
            continue;
        if (count == 19) {
            t->cut |= *p != '0';
            left++;
            continue;
        }
        x = x * 10 + (uint64_t)(*p - '0');
        count++;
    }
    t->digits = x;
    t->exponent += left;
}

TLI_INLINE int tli_number_scan(tli_number_text *t, const char *s, size_t n)
{
    const char *p = s, *end = s + n, *start, *point = NULL;
    uint64_t x = 0;
    t->negative = n != 0 && *p == '-';
    p += t->negative;
    start = p;
    p = tli_number_run(p, end, &x);
    if (p == start || (p - start > 1 && *start == '0'))
        return 0;
    t->exponent = 0;
    if (p != end && *p == '.') {
        point = ++p;
        p = tli_number_run(p, end, &x);
        t->exponent = -(int64_t)(p - point);
        if (p == point)
            return 0;
    }
    t->end = p;
    t->digits = x;
    t->cut = 0;
    if (p != end) {
        if ((*p | 32) != 'e')
            return 0;
        p = tli_number_scan_exponent(p + 1, end, &t->exponent);
        if (p != end)
            return 0;
    }
    if (TLI_UNLIKELY(t->end - start > 19 + (point != NULL)))
        tli_number_cut(t, start);
    return 1;
}

/* The bits of w 10^q, rounded to the nearest, ties to even; exact for every w and q. */
TLI_FN uint64_t tli_number_round(uint64_t w, int64_t exponent, const tli_number_kind *kind)
{
    uint64_t high, low, more, extra, m, infinite = (uint64_t)kind->infinite << kind->bits;
    int32_t q = (int32_t)exponent, lz, top, drop, e;
    tli_number_wide g;
    if (w == 0 || exponent < kind->least)
        return 0;
    if (exponent > kind->most)
        return infinite;
    lz = (int32_t)tli_number_clz(w);
    w <<= lz;
    g = tli_number_power(q);
    low = tli_number_multiply(w, g.high, &high); /* reciprocals rounded up where w may have 5^-q as a factor */
    drop = 61 - kind->bits; /* below the fraction, a bit for rounding and one to spare */
    if ((high & (((uint64_t)1 << drop) - 1)) == ((uint64_t)1 << drop) - 1) {
        extra = tli_number_multiply(w, g.low, &more);
        (void)extra;
        low += more;
        high += low < more;
    }
    top = (int32_t)(high >> 63);
    drop += top;
    m = high >> drop;
    e = tli_number_log2(q) + 63 + top - lz + kind->bias - kind->bits;
    if (e <= 0) { /* denormal, or zero */
        if (e <= -63)
            return 0;
        m >>= 1 - e;
        m = (m + (m & 1)) >> 1;
        return m; /* rounding up to the least normal number gives its bits too */
    }
    if (low <= 1 && q >= kind->even_min && q <= kind->even_max && (m & 3) == 1 && m << drop == high)
        m &= ~(uint64_t)1; /* halfway: to the even one below */
    m = (m + (m & 1)) >> 1;
    m += (uint64_t)(e - 1) << kind->bits; /* the leading one counts as one more */
    return m < infinite ? m : infinite;
}

/* A natural number for the exact comparison: up to 101 digits of 32 bits, the lowest first. */
#define TLI_NUMBER_LIMBS 101
typedef struct tli_number_big {
    uint32_t count;
    uint32_t limb[TLI_NUMBER_LIMBS];
} tli_number_big;

TLI_FN void tli_number_big_scale(tli_number_big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    uint32_t i;
    for (i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    TLI_ASSERT(carry == 0 || b->count < TLI_NUMBER_LIMBS);
    if (carry != 0)
        b->limb[b->count++] = (uint32_t)carry;
}

/* Times 5^five 2^two. */
TLI_FN void tli_number_big_power(tli_number_big *b, int32_t five, int32_t two)
{
    for (; five >= 13; five -= 13)
        tli_number_big_scale(b, 1220703125, 0);
    for (; five > 0; five--)
        tli_number_big_scale(b, 5, 0);
    for (; two >= 31; two -= 31)
        tli_number_big_scale(b, (uint32_t)1 << 31, 0);
    tli_number_big_scale(b, (uint32_t)1 << (two > 0 ? two : 0), 0);
}

/* The digits of a cut number, 800 at most; that more follow is told by a last digit 1. Returns the power of ten of
   the last digit. */
TLI_FN int32_t tli_number_big_digits(tli_number_big *b, const tli_number_text *t)
{
    const char *p;
    int64_t exponent = t->scale;
    uint32_t count = 0, chunk = 0, factor = 1;
    int rest = 0;
    b->count = 0;
    for (p = t->first; p != t->end; p++) {
        if (*p == '.')
            continue;
        if (count == 800) {
            exponent++;
            rest |= *p != '0';
            continue;
        }
        count++;
        chunk = chunk * 10 + (uint32_t)(*p - '0');
        factor *= 10;
        if (factor == 1000000000) {
            tli_number_big_scale(b, factor, chunk);
            chunk = 0;
            factor = 1;
        }
    }
    tli_number_big_scale(b, factor, chunk);
    if (rest) {
        tli_number_big_scale(b, 10, 1);
        exponent--;
    }
    return (int32_t)exponent;
}

/* Whether the cut number is above (1), at (0) or below (-1) the value halfway between `bits` and the next. */
TLI_FN int tli_number_against_half(const tli_number_text *t, uint64_t bits, const tli_number_kind *kind)
{
    tli_number_big value, half;
    int32_t stored = (int32_t)(bits >> kind->bits), ten = tli_number_big_digits(&value, t), two;
    uint64_t m = (bits & (((uint64_t)1 << kind->bits) - 1)) | (uint64_t)(stored != 0) << kind->bits;
    uint32_t i;
    two = (stored != 0 ? stored : 1) - kind->bias - 1;
    m = m * 2 + 1;
    half.limb[0] = (uint32_t)m;
    half.limb[1] = (uint32_t)(m >> 32);
    half.count = half.limb[1] != 0 ? 2 : 1;
    two -= ten;
    tli_number_big_power(&value, ten > 0 ? ten : 0, two < 0 ? -two : 0);
    tli_number_big_power(&half, ten < 0 ? -ten : 0, two > 0 ? two : 0);
    if (value.count != half.count)
        return value.count > half.count ? 1 : -1;
    for (i = value.count; i-- > 0;)
        if (value.limb[i] != half.limb[i])
            return value.limb[i] > half.limb[i] ? 1 : -1;
    return 0;
}

TLI_INLINE uint64_t tli_number_read(const tli_number_text *t, const tli_number_kind *kind)
{
    uint64_t bits = tli_number_round(t->digits, t->exponent, kind);
    if (TLI_UNLIKELY(t->cut) && bits != tli_number_round(t->digits + 1, t->exponent, kind)) {
        int order = tli_number_against_half(t, bits, kind);
        bits += order > 0 || (order == 0 && (bits & 1) != 0);
    }
    return bits;
}

/* A number of the JSON grammar, correctly rounded; too large is an infinity. 0 for other text. */
TLI_FN int tli_number_parse_f64(const char *s, size_t n, double *v)
{
    tli_number_text t;
    uint64_t bits;
    if (!tli_number_scan(&t, s, n))
        return 0;
    bits = tli_number_read(&t, &tli_number_double) | (uint64_t)t.negative << 63;
    TLI_COPY(v, &bits, 8);
    return 1;
}

TLI_FN int tli_number_parse_f32(const char *s, size_t n, float *v)
{
    tli_number_text t;
    uint32_t bits;
    if (!tli_number_scan(&t, s, n))
        return 0;
    bits = (uint32_t)tli_number_read(&t, &tli_number_single) | (uint32_t)t.negative << 31;
    TLI_COPY(v, &bits, 4);
    return 1;
}

/* ---- half precision ---- */

TLI_FN float tli_number_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 1023u, bits;
    float v;
    if (e == 31) {
        bits = sign | 0x7f800000u | m << 13;
    } else if (e != 0) {
        bits = sign | (e + 112) << 23 | m << 13;
    } else if (m == 0) {
        bits = sign;
    } else { /* denormal: m 2^-24 with the leading one made explicit */
        uint32_t shift = tli_number_clz(m) - 53;
        bits = sign | (113 - shift) << 23 | (m << (shift + 13) & 0x007fffffu);
    }
    TLI_COPY(&v, &bits, 4);
    return v;
}

/* To the nearest, ties to even; too large is an infinity. */
TLI_FN uint16_t tli_number_f32_to_f16(float v)
{
    uint32_t bits, sign, e, m, drop, half;
    TLI_COPY(&bits, &v, 4);
    sign = bits >> 16 & 0x8000u;
    e = bits >> 23 & 255;
    m = bits & 0x007fffffu;
    if (e == 255)
        return (uint16_t)(sign | 0x7c00u | (m != 0 ? 0x0200u | m >> 13 : 0));
    if (e < 102)
        return (uint16_t)sign;
    if (e < 113) {
        m |= 0x00800000u;
        drop = 126 - e;
        e = 0;
    } else {
        drop = 13;
        e -= 112;
        m |= e << 23; /* above 31 it comes out above the largest number below */
    }
    half = (uint32_t)1 << (drop - 1);
    m += half - 1 + (m >> drop & 1);
    m >>= drop;
    return (uint16_t)(sign | (m < 0x7c00u ? m : 0x7c00u));
}

/* ---- decimals ---- */

/* The magnitude of a native-order two's complement number as 32-bit digits, the lowest first. */
TLI_INLINE int tli_number_magnitude(uint32_t *limb, const void *value, int32_t width)
{
    int32_t count = width / 4, i;
    uint64_t carry = 1;
    for (i = 0; i < count; i++)
        limb[i] = tli_bits_u32((const uint8_t *)value + 4 * (TLI_BIG_ENDIAN ? count - 1 - i : i));
    if (limb[count - 1] >> 31 == 0)
        return 0;
    for (i = 0; i < count; i++) {
        carry += ~limb[i];
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return 1;
}

/* The decimal digits of an unsigned number, which is spent. At most 78. */
TLI_FN size_t tli_number_wide_digits(char *out, uint32_t *limb, int32_t count)
{
    uint32_t chunk[9];
    int32_t n = 0, i;
    size_t size;
    while (count > 2 && limb[count - 1] == 0)
        count--;
    while (count > 2) {
        uint64_t rest = 0;
        for (i = count; i-- > 0;) {
            rest = rest << 32 | limb[i];
            limb[i] = (uint32_t)(rest / 100000000);
            rest %= 100000000;
        }
        chunk[n++] = (uint32_t)rest;
        while (count > 2 && limb[count - 1] == 0)
            count--;
    }
    size = tli_number_u64(out, limb[0] | (count > 1 ? (uint64_t)limb[1] << 32 : 0));
    while (n-- > 0) {
        tli_bits_put_le64(out + size, tli_number_spread(chunk[n]) + TLI_NUMBER_ASCII);
        size += 8;
    }
    return size;
}

/* value / 10^scale in all its digits: `-0.96`, `5`, `0.00`; of a negative scale `123E2`, of one above 76 `7E-80`.
   At most 93 characters. */
TLI_FN size_t tli_number_decimal(char *out, const void *value, int32_t width, int32_t scale)
{
    char digits[88];
    uint32_t limb[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int negative = tli_number_magnitude(limb, value, width);
    size_t n = tli_number_wide_digits(digits, limb, width / 4), size = 0, whole;
    if (negative)
        out[size++] = '-';
    if (scale < 0 || scale > 76) {
        TLI_COPY(out + size, digits, n);
        size += n;
        out[size++] = 'E';
        return size + tli_number_i64(out + size, -(int64_t)scale);
    }
    whole = n > (size_t)scale ? n - (size_t)scale : 0;
    if (whole == 0)
        out[size++] = '0';
    TLI_COPY(out + size, digits, whole);
    size += whole;
    if (scale == 0)
        return size;
    out[size++] = '.';
    for (; n - whole < (size_t)scale && size < 96; scale--)
        out[size++] = '0';
    TLI_COPY(out + size, digits + whole, n - whole);
    return size + n - whole;
}

/* What decimal text says: its digits from the first to the last that is not 0 (a point may lie among them), and the
   power of ten of the last one. */
typedef struct tli_number_plain {
    const char *first;
    int64_t count;
    int64_t exponent;
    int negative;
} tli_number_plain;

TLI_FN int tli_number_scan_decimal(tli_number_plain *d, const char *s, size_t n)
{
    const char *p = s, *end = s + n, *point = NULL;
    int64_t seen = 0, after = 0, first = 0, last = -1;
    d->negative = n != 0 && *p == '-';
    d->first = s;
    if (n != 0 && (*p == '-' || *p == '+'))
        p++;
    for (; p != end; p++) {
        if (*p == '.' && point == NULL) {
            point = p;
            continue;
        }
        if ((uint32_t)(uint8_t)*p - '0' > 9)
            break;
        if (*p != '0') {
            if (last < 0) {
                first = seen;
                d->first = p;
            }
            last = seen;
        }
        seen++;
        after += point != NULL;
    }
    if (seen == 0)
        return 0;
    d->count = last < 0 ? 0 : last - first + 1;
    d->exponent = seen - after - 1 - last;
    return p == end || ((*p | 32) == 'e' && tli_number_scan_exponent(p + 1, end, &d->exponent) == end);
}

/* The first `count` digits, then `zeros` more, as an unsigned number; the caller knows that they fit. */
TLI_FN void tli_number_wide_read(uint32_t *limb, int32_t limbs, const char *p, int64_t count, int64_t zeros)
{
    uint32_t chunk = 0, factor = 1;
    int32_t i;
    while (count + zeros > 0) {
        if (count > 0 && *p == '.') {
            p++;
            continue;
        }
        chunk = chunk * 10 + (count > 0 ? (uint32_t)(*p++ - '0') : 0);
        factor *= 10;
        if (count > 0)
            count--;
        else
            zeros--;
        if (factor == 1000000000 || count + zeros == 0) {
            uint64_t carry = chunk;
            for (i = 0; i < limbs; i++) {
                carry += (uint64_t)limb[i] * factor;
                limb[i] = (uint32_t)carry;
                carry >>= 32;
            }
            chunk = 0;
            factor = 1;
        }
    }
}

/* Reads decimal text (sign, digits with a point, exponent) as a number of `precision` digits, `scale` of them behind
   the point, into native-order two's complement of `width` bytes. 1: exactly so; 2: digits behind the scale were
   dropped; 0: other text, or too large. */
TLI_FN int tli_number_read_decimal(const char *s, size_t n, void *value, int32_t width, int32_t precision,
                                   int32_t scale)
{
    static const int32_t most[9] = {0, 9, 18, 0, 38, 0, 0, 0, 76};
    tli_number_plain d;
    uint32_t limb[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int32_t limbs = width / 4, i;
    int64_t shift;
    if (!tli_number_scan_decimal(&d, s, n))
        return 0;
    shift = d.exponent + scale;
    if (d.count != 0 && d.count + shift > 0) {
        if (d.count + shift > TLI_MIN(precision, most[limbs]))
            return 0;
        tli_number_wide_read(limb, limbs, d.first, TLI_MIN(d.count, d.count + shift), TLI_MAX(shift, 0));
    }
    if (d.negative) {
        uint64_t carry = 1;
        for (i = 0; i < limbs; i++) {
            carry += ~limb[i];
            limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    for (i = 0; i < limbs; i++)
        tli_bits_put32((uint8_t *)value + 4 * (TLI_BIG_ENDIAN ? limbs - 1 - i : i), limb[i]);
    return d.count != 0 && shift < 0 ? 2 : 1;
}

/* The same when it must fit exactly: 1 or 0. */
TLI_FN int tli_number_parse_decimal(const char *s, size_t n, void *value, int32_t width, int32_t precision,
                                    int32_t scale)
{
    return tli_number_read_decimal(s, n, value, width, precision, scale) == 1;
}

/* ---- hex ---- */

/* Four bytes (the first in the lowest place) as eight hex digits. */
TLI_INLINE uint64_t tli_number_hex8(uint32_t bytes)
{
    uint64_t v = bytes, letters;
    v = (v << 16 | v) & 0x0000ffff0000ffffu;
    v = (v << 8 | v) & 0x00ff00ff00ff00ffu;
    v = (v >> 4 & 0x000f000f000f000fu) | (v & 0x000f000f000f000fu) << 8;
    letters = (v + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    return v + TLI_NUMBER_ASCII + letters * ('a' - '0' - 10);
}

TLI_FN void tli_number_hex(char *out, const void *data, size_t n)
{
    const uint8_t *p = (const uint8_t *)data;
    for (; n >= 4; n -= 4, p += 4, out += 8)
        tli_bits_put_le64(out, tli_number_hex8(tli_bits_le32(p)));
    for (; n > 0; n--, p++, out += 2) {
        uint64_t digits = tli_number_hex8(*p);
        out[0] = (char)(digits & 127);
        out[1] = (char)(digits >> 8 & 127);
    }
}

/* Eight hex digits of either case as four bytes (the first in the lowest place); 0 for other characters. */
TLI_INLINE int tli_number_unhex8(uint64_t x, uint32_t *bytes)
{
    const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
    uint64_t y = x | 0x2020202020202020u, digit, letter;
    digit = (x + ones * (0x80 - '0')) & ~(x + ones * (0x7f - '9'));
    letter = (y + ones * (0x80 - 'a')) & ~(y + ones * (0x7f - 'f'));
    if ((x & high) != 0 || ((digit | letter) & high) != high)
        return 0;
    x = (x & (ones * 15)) + (x >> 6 & ones) * 9;
    x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    *bytes = (uint32_t)(x | x >> 16);
    return 1;
}

/* n / 2 bytes of n hex digits of either case; 0 when n is odd or another character is met. */
TLI_FN int tli_number_unhex(uint8_t *out, const char *s, size_t n)
{
    uint32_t bytes;
    if (n % 2 != 0)
        return 0;
    for (; n >= 8; n -= 8, s += 8, out += 4) {
        if (!tli_number_unhex8(tli_bits_le64(s), &bytes))
            return 0;
        tli_bits_put_le32(out, bytes);
    }
    for (; n > 0; n -= 2, s += 2) {
        if (!tli_number_unhex8((TLI_NUMBER_ASCII & ~(uint64_t)0xffff) | tli_bits_le16(s), &bytes))
            return 0;
        *out++ = (uint8_t)bytes;
    }
    return 1;
}
