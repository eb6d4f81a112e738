/* >>json: the cursor (strings, numbers, literals), the pull reader on it, the writer, the tree. */
typedef struct tli_json {
    const uint8_t *p; /* the next byte */
    const uint8_t *end;
    const uint8_t *begin;
    uint64_t position; /* of begin in the object the caller passed */
    tl_status status;  /* of the first failure */
    tl_error *err;
} tli_json;

TLI_INLINE tli_json tli_json_open(const void *text, size_t size, uint64_t position, tl_error *err)
{
    tli_json j;
    j.begin = j.p = (const uint8_t *)text;
    j.end = text == NULL ? j.begin : j.begin + size;
    j.position = position;
    j.status = TL_OK;
    j.err = err;
    return j;
}

TLI_FN int tli_json_refuse(tli_json *j, tl_status status, const char *text, const uint8_t *at)
{
    j->status = tli_err(j->err, status, text, j->position + (uint64_t)(at - j->begin));
    return 0;
}

/* The byte at `at` is wrong, or there is none. Answers 0, so that a caller can `return tli_json_fail(...)`. */
TLI_NOINLINE int tli_json_fail(tli_json *j, const char *text, const uint8_t *at)
{
    if (at >= j->end)
        return tli_json_refuse(j, TL_TRUNCATED, "json: the text ends too early", j->end);
    return tli_json_refuse(j, TL_CORRUPT, text, at);
}

/* ---- eight bytes at a time; byte 0 of the text is the lowest of the word ---- */

#define TLI_JSON_ONES UINT64_C(0x0101010101010101)
#define TLI_JSON_HIGHS UINT64_C(0x8080808080808080)
#define TLI_JSON_TOP UINT64_C(0x8000000000000000)
#define TLI_JSON_NULL UINT32_C(0x6c6c756e) /* as a little-endian word */

/* The high bit of bytes that end a run of plain text: quote, backslash, control characters, anything not ASCII. Exact
   up to and including the first such byte. */
TLI_INLINE uint64_t tli_json_special(uint64_t v)
{
    uint64_t quote = v ^ (TLI_JSON_ONES * 0x22), slash = v ^ (TLI_JSON_ONES * 0x5c);
    return (((quote - TLI_JSON_ONES) & ~quote) | ((slash - TLI_JSON_ONES) & ~slash)
            | ((v - TLI_JSON_ONES * 0x20) & ~v) | v) & TLI_JSON_HIGHS;
}

#if TLI_SSE2
TLI_INLINE __m128i tli_json_load16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The same of sixteen bytes, all bits of each. Signed, what is not ASCII is below the space too. */
TLI_INLINE __m128i tli_json_special16(__m128i v)
{
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    return _mm_or_si128(_mm_or_si128(quote, slash), _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
}

TLI_INLINE uint32_t tli_json_mask16(__m128i v)
{
    return (uint32_t)_mm_movemask_epi8(v);
}
#endif

/* The byte that has the lowest bit set. */
TLI_INLINE size_t tli_json_first_byte(uint64_t hits)
{
#if defined(__GNUC__) || defined(__clang__)
    return (size_t)__builtin_ctzll(hits) >> 3;
#else
    size_t n = 0;
    for (; (hits & 0xff) == 0; hits >>= 8)
        n++;
    return n;
#endif
}

/* The high bit of bytes that are no digits; exact up to and including the first. */
TLI_INLINE uint64_t tli_json_no_digit(uint64_t v)
{
    uint64_t x = v ^ (TLI_JSON_ONES * 0x30); /* digits become 0..9 */
    return (((x & ~TLI_JSON_HIGHS) + TLI_JSON_ONES * 0x76) | x) & TLI_JSON_HIGHS;
}

/* The number that eight digits are, the first of them in the lowest byte. */
TLI_INLINE uint32_t tli_json_eight(uint64_t v)
{
    v = (v & (TLI_JSON_ONES * 0x0f)) * 2561 >> 8;
    v = (v & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (uint32_t)((v & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32);
}

/* Where the plain text from p on ends: at a byte that is not plain, or at most 15 bytes before the end. */
TLI_INLINE const uint8_t *tli_json_run(const uint8_t *p, const uint8_t *end)
{
#if TLI_SSE2
    if (TLI_LIKELY(end - p >= 16)) { /* names are short */
        uint32_t hits = tli_json_mask16(tli_json_special16(tli_json_load16(p)));
        if (hits != 0)
            return p + __builtin_ctz(hits);
        p += 16;
    }
    while (end - p >= 32) { /* two at a time: long texts are footers */
        __m128i low = tli_json_special16(tli_json_load16(p)), high = tli_json_special16(tli_json_load16(p + 16));
        if (tli_json_mask16(_mm_or_si128(low, high)) == 0) {
            p += 32;
            continue;
        }
        return p + __builtin_ctz(tli_json_mask16(low) | tli_json_mask16(high) << 16);
    }
#endif
    for (; end - p >= 8; p += 8) {
        uint64_t hits = tli_json_special(tli_bits_le64(p));
        if (hits != 0)
            return p + tli_json_first_byte(hits);
    }
    return p;
}

/* ---- the cursor ---- */

TLI_INLINE void tli_json_space(tli_json *j)
{
    while (j->p < j->end && *j->p <= 0x20 && (*j->p == 0x20 || *j->p == '\n' || *j->p == '\r' || *j->p == '\t'))
        j->p++;
}

/* Takes the byte `c` (white space before it skipped) or says what was expected. */
TLI_INLINE int tli_json_take(tli_json *j, char c, const char *expected)
{
    tli_json_space(j);
    if (TLI_UNLIKELY(j->p >= j->end || *j->p != (uint8_t)c))
        return tli_json_fail(j, expected, j->p);
    j->p++;
    return 1;
}

/* The value of a hex digit, or more than 15. */
TLI_INLINE uint32_t tli_json_hex(uint8_t c)
{
    uint32_t digit = (uint32_t)c - '0', letter = ((uint32_t)c | 0x20u) - 'a';
    return digit < 10 ? digit : letter < 6 ? letter + 10 : 99;
}

/* The four digits of a \u escape at p; more than 0xffff when they are not. */
TLI_FN uint32_t tli_json_hex4(const uint8_t *p, const uint8_t *end)
{
    uint32_t v = 0, i;
    if (end - p < 4)
        return 0x10000;
    for (i = 0; i < 4; i++) {
        uint32_t digit = tli_json_hex(p[i]);
        if (digit > 15)
            return 0x10000;
        v = v << 4 | digit;
    }
    return v;
}

TLI_FN const uint8_t *tli_json_hex_end(const uint8_t *p, const uint8_t *end)
{
    while (p < end && tli_json_hex(*p) <= 15)
        p++;
    return p;
}

/* The bytes of the escape at p (a backslash), checked; 0 after a failure. */
TLI_FN size_t tli_json_escape(tli_json *j, const uint8_t *p)
{
    uint32_t v;
    if (j->end - p < 2)
        return (size_t)tli_json_fail(j, "", j->end);
    switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return 2;
    case 'u':
        break;
    default:
        return (size_t)tli_json_fail(j, "json: no such escape", p);
    }
    v = tli_json_hex4(p + 2, j->end);
    if (v > 0xffff)
        return (size_t)tli_json_fail(j, "json: four hex digits are expected", tli_json_hex_end(p + 2, j->end));
    if (v < 0xd800 || v > 0xdfff)
        return 6;
    if (v < 0xdc00) { /* the other half has to follow */
        if (j->end - p < 8)
            return (size_t)tli_json_fail(j, "json: a lone surrogate", j->end - p > 6 && p[6] != '\\' ? p : j->end);
        v = p[6] == '\\' && p[7] == 'u' ? tli_json_hex4(p + 8, j->end) : 0;
        if (v > 0xffff)
            return (size_t)tli_json_fail(j, "json: four hex digits are expected", tli_json_hex_end(p + 8, j->end));
        if (v >= 0xdc00 && v <= 0xdfff)
            return 12;
    }
    return (size_t)tli_json_fail(j, "json: a lone surrogate", p);
}

/* The bytes of the UTF-8 sequence at p (no ASCII), 0 when it is not well-formed (RFC 3629). */
TLI_FN size_t tli_json_utf8(const uint8_t *p, const uint8_t *end)
{
    size_t i, n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    uint32_t low = 0x80, high = 0xbf;
    if (n == 0 || (size_t)(end - p) < n)
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The rest of a string from p on: whatever is not plain ASCII. Answers where the closing quote is, NULL on failure. */
TLI_NOINLINE const uint8_t *tli_json_string_rest(tli_json *j, const uint8_t *p, int *escaped)
{
    while (p < j->end) {
        size_t n = 1;
        if (*p == '"')
            return p;
        if (*p == '\\') {
            *escaped = 1;
            n = tli_json_escape(j, p);
        } else if (*p < 0x20) {
            n = (size_t)tli_json_fail(j, "json: a control character in a string", p);
        } else if (*p >= 0x80) {
            n = tli_json_utf8(p, j->end);
            if (n == 0)
                (void)tli_json_fail(j, "json: not UTF-8", p);
        } else {
            const uint8_t *plain = tli_json_run(p, j->end);
            n = plain > p ? (size_t)(plain - p) : 1;
        }
        if (n == 0)
            return NULL;
        p += n;
    }
    (void)tli_json_fail(j, "", j->end);
    return NULL;
}

/* Takes the string whose quote is at j->p: what is between the quotes, and whether there are escapes in it. */
TLI_INLINE int tli_json_text(tli_json *j, tl_span *inner, int *escaped)
{
    const uint8_t *p = tli_json_run(j->p + 1, j->end), *close;
    *escaped = 0;
    close = TLI_LIKELY(p < j->end && *p == '"') ? p : tli_json_string_rest(j, p, escaped);
    if (TLI_UNLIKELY(close == NULL))
        return 0;
    *inner = tli_text_span(j->p + 1, (size_t)(close - j->p - 1));
    j->p = close + 1;
    return 1;
}

/* Where the digits that begin at p end. */
TLI_INLINE const uint8_t *tli_json_digits(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 8) {
        uint64_t hits = tli_json_no_digit(tli_bits_le64(p));
        if (hits != 0)
            return p + tli_json_first_byte(hits);
        p += 8;
    }
    while (p < end && (uint32_t)*p - '0' < 10)
        p++;
    return p;
}

/* Takes the number at j->p (a digit or a minus); `integer` says that it is digits alone. */
TLI_INLINE int tli_json_number(tli_json *j, tl_span *raw, int *integer)
{
    const uint8_t *p = j->p, *digits;
    p += p < j->end && *p == '-';
    digits = p;
    p = p < j->end && *p == '0' ? p + 1 : tli_json_digits(p, j->end);
    if (TLI_UNLIKELY(p == digits))
        return tli_json_fail(j, "json: a digit is expected", p);
    *integer = 1;
    if (p < j->end && *p == '.') {
        *integer = 0;
        digits = ++p;
        p = tli_json_digits(p, j->end);
        if (p == digits)
            return tli_json_fail(j, "json: a digit is expected", p);
    }
    if (p < j->end && (*p | 0x20) == 'e') {
        *integer = 0;
        p++;
        p += p < j->end && (*p == '+' || *p == '-');
        digits = p;
        p = tli_json_digits(p, j->end);
        if (p == digits)
            return tli_json_fail(j, "json: a digit is expected", p);
    }
    *raw = tli_text_span(j->p, (size_t)(p - j->p));
    j->p = p;
    return 1;
}

/* Takes `null`, `true` or `false`. */
TLI_FN int tli_json_literal(tli_json *j, const char *literal)
{
    const uint8_t *p = j->p;
    for (; *literal != 0; literal++, p++)
        if (p >= j->end || *p != (uint8_t)*literal)
            return tli_json_fail(j, "json: a value is expected", p >= j->end ? p : j->p);
    j->p = p;
    return 1;
}

/* The bytes that the first character of `raw` (checked, not empty) stands for: `out` has room for 4. */
TLI_FN size_t tli_json_character(tl_span *raw, char *out)
{
    const uint8_t *p = (const uint8_t *)raw->data;
    size_t used = 2;
    uint32_t v;
    if (*p != '\\') {
        out[0] = (char)*p;
        raw->data++;
        raw->size--;
        return 1;
    }
    v = p[1];
    switch (v) {
    case 'b': v = 8; break;
    case 'f': v = 12; break;
    case 'n': v = 10; break;
    case 'r': v = 13; break;
    case 't': v = 9; break;
    case 'u':
        v = tli_json_hex4(p + 2, p + 6);
        used = 6;
        if (v >= 0xd800 && v < 0xdc00) {
            v = 0x10000 + ((v - 0xd800) << 10) + (tli_json_hex4(p + 8, p + 12) - 0xdc00);
            used = 12;
        }
        break;
    default: break; /* stands for itself */
    }
    raw->data += used;
    raw->size -= used;
    if (v < 0x80) {
        out[0] = (char)v;
        return 1;
    }
    used = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    out[0] = (char)((0xf00u >> used & 0xff) | v >> (6 * (used - 1)));
    if (used > 3)
        out[used - 3] = (char)(0x80 | (v >> 12 & 0x3f));
    if (used > 2)
        out[used - 2] = (char)(0x80 | (v >> 6 & 0x3f));
    out[used - 1] = (char)(0x80 | (v & 0x3f));
    return used;
}

/* Takes what stands before the next escape: how many bytes that is. */
TLI_INLINE size_t tli_json_unescaped_run(tl_span *raw)
{
    const uint8_t *p = (const uint8_t *)raw->data, *end = p + raw->size;
    size_t size;
    while (p < end && *p != '\\') {
        const uint8_t *plain = tli_json_run(p, end);
        p = plain > p ? plain : p + 1;
    }
    size = (size_t)(p - (const uint8_t *)raw->data);
    raw->data += size;
    raw->size -= size;
    return size;
}

/* Writes what the checked text between two quotes stands for; at most raw.size bytes. Answers how many. */
TLI_FN size_t tli_json_unescape(char *out, tl_span raw)
{
    size_t n = 0;
    while (raw.size != 0) {
        char c[4];
        size_t i, used = tli_json_unescaped_run(&raw);
        if (used != 0)
            TLI_COPY(out + n, raw.data - used, used);
        n += used;
        if (raw.size == 0)
            break;
        used = tli_json_character(&raw, c);
        for (i = 0; i < used; i++)
            out[n++] = c[i];
    }
    return n;
}

/* How many bytes that would be. */
TLI_FN size_t tli_json_unescaped_size(tl_span raw)
{
    size_t n = 0;
    char c[4];
    for (;;) {
        n += tli_json_unescaped_run(&raw);
        if (raw.size == 0)
            return n;
        n += tli_json_character(&raw, c);
    }
}

/* The order of what the checked raw text stands for and a plain text. */
TLI_FN int tli_json_compare(tl_span raw, tl_span plain)
{
    size_t at = 0;
    while (raw.size != 0) {
        char c[4];
        size_t i, used = tli_json_character(&raw, c);
        for (i = 0; i < used; i++, at++) {
            if (at >= plain.size)
                return 1;
            if (c[i] != plain.data[at])
                return (uint8_t)c[i] < (uint8_t)plain.data[at] ? -1 : 1;
        }
    }
    return at < plain.size ? -1 : 0;
}

/* ---- the pull reader ---- */

enum {
    TLI_JSON_KEY = TL_JSON_OBJECT + 1, /* beside the values: a member's name, its colon taken too */
    TLI_JSON_CLOSE_ARRAY,
    TLI_JSON_CLOSE_OBJECT
};

enum { TLI_JSON_WANT_VALUE, TLI_JSON_WANT_FIRST, TLI_JSON_WANT_MORE };

typedef struct tli_json_token {
    int kind;
    int flag;    /* of keys and strings: has escapes; of numbers: digits alone; of booleans: true */
    tl_span raw; /* of scalars, with the quotes; of the others one byte */
} tli_json_token;

typedef struct tli_json_reader {
    tli_json j;
    uint32_t depth; /* how many arrays and objects are open */
    uint32_t limit;
    int want;
    uint32_t objects[8]; /* bit d: the one at depth d + 1 is an object */
} tli_json_reader;

TLI_INLINE void tli_json_start(tli_json_reader *r, const tli_json *j, uint32_t limit)
{
    r->j = *j;
    r->depth = 0;
    r->limit = limit;
    r->want = TLI_JSON_WANT_VALUE;
}

TLI_INLINE int tli_json_in_object(const tli_json_reader *r)
{
    return (int)(r->objects[(r->depth - 1) >> 5] >> ((r->depth - 1) & 31) & 1);
}

TLI_FN int tli_json_enter(tli_json_reader *r, uint32_t object)
{
    uint32_t bit = 1u << (r->depth & 31), *word = &r->objects[r->depth >> 5];
    if (r->depth >= r->limit)
        return tli_json_refuse(&r->j, TL_LIMIT, "json: limits.depth", r->j.p);
    *word = object ? *word | bit : *word & ~bit;
    r->depth++;
    r->want = TLI_JSON_WANT_FIRST;
    r->j.p++;
    return 1;
}

/* Takes the scalar, or the opening bracket, at the cursor. */
TLI_FN int tli_json_value_token(tli_json_reader *r, tli_json_token *t)
{
    const uint8_t *start = r->j.p;
    tl_span inner;
    int good;
    if (start >= r->j.end)
        return tli_json_fail(&r->j, "", start);
    r->want = TLI_JSON_WANT_MORE;
    t->flag = 0;
    switch (*start) {
    case '"':
        t->kind = TL_JSON_STRING;
        good = tli_json_text(&r->j, &inner, &t->flag);
        break;
    case '{':
        t->kind = TL_JSON_OBJECT;
        good = tli_json_enter(r, 1);
        break;
    case '[':
        t->kind = TL_JSON_ARRAY;
        good = tli_json_enter(r, 0);
        break;
    case 't':
    case 'f':
        t->kind = TL_JSON_BOOL;
        t->flag = *start == 't';
        good = tli_json_literal(&r->j, t->flag ? "true" : "false");
        break;
    case 'n':
        t->kind = TL_JSON_NULL;
        good = tli_json_literal(&r->j, "null");
        break;
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        t->kind = TL_JSON_NUMBER;
        good = tli_json_number(&r->j, &inner, &t->flag);
        break;
    default:
        return tli_json_fail(&r->j, "json: a value is expected", start);
    }
    t->raw = tli_text_span(start, (size_t)(r->j.p - start));
    return good;
}

/* The next token: 1, or 0 after a failure (r->j.status). Not called again once a value at depth 0 is complete. */
TLI_FN int tli_json_token_next(tli_json_reader *r, tli_json_token *t)
{
    tl_span inner;
    int object;
    tli_json_space(&r->j);
    if (r->want == TLI_JSON_WANT_VALUE)
        return tli_json_value_token(r, t);
    object = tli_json_in_object(r);
    if (r->j.p < r->j.end && *r->j.p == (object ? '}' : ']')) {
        t->kind = object ? TLI_JSON_CLOSE_OBJECT : TLI_JSON_CLOSE_ARRAY;
        t->raw = tli_text_span(r->j.p++, 1);
        r->depth--;
        r->want = TLI_JSON_WANT_MORE;
        return 1;
    }
    if (r->want == TLI_JSON_WANT_MORE) {
        if (!tli_json_take(&r->j, ',', object ? "json: a comma or } is expected" : "json: a comma or ] is expected"))
            return 0;
        tli_json_space(&r->j);
    }
    if (!object)
        return tli_json_value_token(r, t);
    if (r->j.p >= r->j.end || *r->j.p != '"')
        return tli_json_fail(&r->j, "json: a key is expected", r->j.p);
    t->kind = TLI_JSON_KEY;
    t->raw.data = (const char *)r->j.p;
    if (!tli_json_text(&r->j, &inner, &t->flag))
        return 0;
    t->raw.size = inner.size + 2;
    r->want = TLI_JSON_WANT_VALUE;
    return tli_json_take(&r->j, ':', "json: a colon is expected");
}

/* Takes one whole value of any kind, checked as strictly as the rest; `limit`: how deep it may nest. */
TLI_FN int tli_json_skip(tli_json *j, uint32_t limit)
{
    tli_json_reader r;
    tli_json_token t;
    tli_json_start(&r, j, limit);
    do {
        if (!tli_json_token_next(&r, &t)) {
            j->status = r.j.status;
            return 0;
        }
    } while (r.depth != 0);
    j->p = r.j.p;
    return 1;
}

/* Nothing but white space may follow. */
TLI_FN int tli_json_finish(tli_json *j)
{
    tli_json_space(j);
    return j->p == j->end ? 1 : tli_json_fail(j, "json: trailing bytes", j->p);
}

/* ---- the writer ---- */

/* The bytes that a text takes between its quotes. */
TLI_FN size_t tli_json_escaped_size(const char *text, size_t size)
{
    size_t i, n = size;
    for (i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        if (c == '"' || c == '\\')
            n++;
        else if (c < 0x20)
            n += c == 8 || c == 9 || c == 10 || c == 12 || c == 13 ? 1 : 5;
    }
    return n;
}

/* How many bytes at the start of a text stand for themselves in JSON. */
TLI_INLINE size_t tli_json_plain(const char *text, size_t size)
{
    size_t i = 0;
    while (size - i >= 8) {
        uint64_t v = tli_bits_le64(text + i);
        uint64_t hits = tli_json_special(v) & ~v; /* past ASCII is plain here */
        if (hits != 0)
            return i + tli_json_first_byte(hits);
        i += 8;
    }
    return i;
}

/* Writes a text with its quotes and escapes at `out`, which has room for it: tli_json_escaped_size plus 2. */
TLI_FN char *tli_json_put_text(char *out, const char *text, size_t size)
{
    static const char letters[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
    static const char digits[] = "0123456789abcdef";
    size_t i = 0;
    *out++ = '"';
    while (i < size) {
        size_t run = tli_json_plain(text + i, size - i);
        uint8_t c;
        if (run != 0) {
            TLI_COPY(out, text + i, run);
            out += run;
            i += run;
            continue;
        }
        c = (uint8_t)text[i++];
        if (c >= 0x20 && c != '"' && c != '\\') {
            *out++ = (char)c;
            continue;
        }
        *out++ = '\\';
        if (c >= 0x20) {
            *out++ = (char)c;
            continue;
        }
        *out++ = letters[c];
        if (letters[c] == 'u') {
            *out++ = '0';
            *out++ = '0';
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
        }
    }
    *out++ = '"';
    return out;
}

/* Appends a text as a JSON string. It has to be UTF-8. */
TLI_FN tl_status tli_json_write_text(tl_buffer *out, tl_span text, tl_error *err)
{
    tl_status st = tli_mem_reserve(out, tli_json_escaped_size(text.data, text.size) + 2, err);
    if (st != TL_OK)
        return st;
    out->size = (size_t)(tli_json_put_text((char *)out->data + out->size, text.data, text.size) - (char *)out->data);
    return TL_OK;
}

/* ---- checking and compacting ---- */

TL_API tl_status tl_json_check(const char *text, size_t size, const tl_limits *limits, tl_error *err)
{
    tli_json j = tli_json_open(text, size, 0, err);
    if (text == NULL && size != 0)
        return tli_err(err, TL_MISUSE, "json: no text", TL_NO_POSITION);
    if (!tli_json_skip(&j, tl_limits_resolve(limits).depth) || !tli_json_finish(&j))
        return j.status;
    return TL_OK;
}

/* Appends a string token in its shortest form: unescaped behind the end of the output, then written in front of it. */
TLI_FN tl_status tli_json_write_escaped(tl_buffer *out, tl_span raw, tl_error *err)
{
    tl_span inner = tli_text_span(raw.data + 1, raw.size - 2), plain;
    tl_status st = tli_mem_reserve(out, raw.size + inner.size, err);
    char *front;
    if (st != TL_OK)
        return st;
    front = (char *)out->data + out->size;
    plain = tli_text_span(front + raw.size, tli_json_unescape(front + raw.size, inner));
    /* what an escape stands for never takes more than the escape did, so `raw.size` bytes are enough */
    out->size = (size_t)(tli_json_put_text(front, plain.data, plain.size) - (char *)out->data);
    return TL_OK;
}

TLI_FN tl_status tli_json_compact(tl_buffer *out, tli_json_reader *r, tl_error *err)
{
    tli_json_token t;
    int first = 1; /* nothing precedes in this array or object */
    do {
        tl_status st = TL_OK;
        int wants_value = r->want == TLI_JSON_WANT_VALUE;
        if (!tli_json_token_next(r, &t))
            return r->j.status;
        if (!first && !wants_value && t.kind != TLI_JSON_CLOSE_ARRAY && t.kind != TLI_JSON_CLOSE_OBJECT)
            st = tli_mem_append(out, ",", 1, err);
        first = t.kind == TL_JSON_ARRAY || t.kind == TL_JSON_OBJECT;
        if (st == TL_OK && (t.kind == TL_JSON_STRING || t.kind == TLI_JSON_KEY) && t.flag)
            st = tli_json_write_escaped(out, t.raw, err);
        else if (st == TL_OK)
            st = tli_mem_append(out, t.raw.data, t.raw.size, err);
        if (st == TL_OK && t.kind == TLI_JSON_KEY)
            st = tli_mem_append(out, ":", 1, err);
        if (st != TL_OK)
            return st;
    } while (r->depth != 0);
    return tli_json_finish(&r->j) ? TL_OK : r->j.status;
}

TL_API tl_status tl_json_canonical(tl_buffer *out, const char *text, size_t size, const tl_limits *limits,
                                   tl_error *err)
{
    tli_json j = tli_json_open(text, size, 0, err);
    tli_json_reader r;
    size_t before;
    tl_status st;
    if (out == NULL || (text == NULL && size != 0))
        return tli_err(err, TL_MISUSE, "json: no text or no output", TL_NO_POSITION);
    before = out->size;
    tli_json_start(&r, &j, tl_limits_resolve(limits).depth);
    st = tli_json_compact(out, &r, err);
    if (st != TL_OK)
        out->size = before;
    return st;
}

/* ---- the tree ---- */

/* Counts what the tree will take, and checks the whole text. */
TLI_FN tl_status tli_json_measure(tli_json_reader *r, uint64_t *nodes, uint64_t *strings)
{
    tli_json_token t;
    *nodes = *strings = 0;
    do {
        if (!tli_json_token_next(r, &t))
            return r->j.status;
        *nodes += t.kind <= TLI_JSON_KEY;
        if ((t.kind == TL_JSON_STRING || t.kind == TLI_JSON_KEY) && t.flag)
            *strings += sizeof(uint32_t) + t.raw.size;
    } while (r->depth != 0);
    return tli_json_finish(&r->j) ? TL_OK : r->j.status;
}

/* A tree at work. Its memory grows as needed, and may be used again for the next text. */
typedef struct tli_json_builder {
    tl_buffer nodes, strings;
    uint32_t count; /* of nodes */
    uint32_t open;  /* the array or object that is open; its `nodes` holds the index of the one around it */
} tli_json_builder;

/* Copies a string with escapes into the tree's memory, behind its size. */
TLI_FN tl_status tli_json_keep_string(tli_json_builder *b, tl_json_node *node, tl_span raw)
{
    uint64_t need = (uint64_t)b->strings.size + sizeof(uint32_t) + raw.size;
    tl_status st;
    uint8_t *at;
    size_t n;
    st = need < UINT32_MAX ? tli_mem_reserve(&b->strings, sizeof(uint32_t) + raw.size, NULL) : TL_LIMIT;
    if (st != TL_OK)
        return st;
    at = b->strings.data + b->strings.size;
    n = tli_json_unescape((char *)at + sizeof(uint32_t), tli_text_span(raw.data + 1, raw.size - 2));
    tli_bits_put32(at, (uint32_t)n);
    node->unescaped = (uint32_t)b->strings.size + 1;
    b->strings.size += sizeof(uint32_t) + n;
    return TL_OK;
}

/* Adds what a token says that was just read. */
TLI_INLINE tl_status tli_json_add(tli_json_builder *b, const tli_json_reader *r, const tli_json_token *t)
{
    tl_json_node *node;
    if (t->kind > TLI_JSON_KEY) {
        uint32_t open = b->open;
        node = (tl_json_node *)(void *)b->nodes.data + open;
        b->open = node->nodes;
        node->nodes = b->count - open;
        node->size = (uint32_t)(r->j.p - r->j.begin) - node->start;
        return TL_OK;
    }
    if (TLI_UNLIKELY(b->nodes.capacity - b->nodes.size < sizeof *node)) {
        tl_status st = tli_mem_reserve(&b->nodes, sizeof *node, NULL);
        if (st != TL_OK)
            return st;
    }
    node = (tl_json_node *)(void *)b->nodes.data;
    if (b->count != 0)
        node[b->open].count += t->kind == TLI_JSON_KEY || node[b->open].kind == TL_JSON_ARRAY;
    node += b->count;
    TLI_FILL(node, 0, sizeof *node);
    node->kind = (uint8_t)(t->kind == TLI_JSON_KEY ? (int)TL_JSON_STRING : t->kind);
    node->start = (uint32_t)((const uint8_t *)t->raw.data - r->j.begin);
    node->size = (uint32_t)t->raw.size;
    node->nodes = 1;
    node->truth = t->kind == TL_JSON_BOOL && t->flag;
    if (t->kind == TL_JSON_ARRAY || t->kind == TL_JSON_OBJECT) {
        node->nodes = b->open;
        b->open = b->count;
    }
    b->count++;
    b->nodes.size += sizeof *node;
    return node->kind == TL_JSON_STRING && t->flag ? tli_json_keep_string(b, node, t->raw) : TL_OK;
}

/* The tree of a text that was read whole: good until the builder goes on. Not to be freed. */
TLI_FN tl_json tli_json_built(const tli_json_builder *b, const void *text, size_t size)
{
    tl_json tree;
    TLI_FILL(&tree, 0, sizeof tree);
    tree.text = (const char *)text;
    tree.size = size;
    tree.root = (const tl_json_node *)(const void *)b->nodes.data;
    tree.strings = (const char *)b->strings.data;
    return tree;
}

TL_API tl_status tl_json_parse(tl_json *tree, const char *text, size_t size, const tl_limits *limits,
                               const tl_allocator *allocator, tl_error *err)
{
    tli_json j = tli_json_open(text, size, 0, err);
    tli_json_reader r;
    tli_json_builder b;
    tli_json_token t;
    uint64_t count, strings, bytes;
    tl_json_node *nodes;
    tl_status st;
    if (tree == NULL || (text == NULL && size != 0))
        return tli_err(err, TL_MISUSE, "json: no text or no tree", TL_NO_POSITION);
    TLI_FILL(tree, 0, sizeof *tree);
    if ((size >> 16) >> 16 != 0) /* of 32 bits a size cannot be more */
        return tli_err_need(err, TL_LIMIT, "json: a tree of 4 GiB of text", TL_NO_POSITION, size);
    tli_json_start(&r, &j, tl_limits_resolve(limits).depth);
    st = tli_json_measure(&r, &count, &strings);
    if (st != TL_OK)
        return st;
    bytes = count * sizeof *nodes + strings; /* the text has fewer nodes than bytes */
    if (strings >= UINT32_MAX || !tli_bits_size(bytes, &tree->memory))
        return tli_err_need(err, TL_LIMIT, "json: the tree takes too much", TL_NO_POSITION, bytes);
    tree->allocator = tli_mem_allocator(allocator);
    nodes = (tl_json_node *)tli_mem_new(&tree->allocator, tree->memory);
    if (nodes == NULL)
        return tli_mem_failed(&tree->allocator, err);
    TLI_FILL(&b, 0, sizeof b); /* the block has room for all: nothing grows */
    b.nodes.data = (uint8_t *)nodes;
    b.nodes.capacity = (size_t)count * sizeof *nodes;
    b.strings.data = (uint8_t *)(nodes + count);
    b.strings.capacity = (size_t)strings;
    tree->text = text;
    tree->size = size;
    tree->root = nodes;
    tree->strings = (const char *)(nodes + count);
    tli_json_start(&r, &j, tl_limits_resolve(limits).depth);
    do {
        if (!tli_json_token_next(&r, &t) || tli_json_add(&b, &r, &t) != TL_OK)
            break; /* cannot be: the text was checked */
    } while (r.depth != 0);
    return TL_OK;
}

TL_API void tl_json_free(tl_json *tree)
{
    union {
        const tl_json_node *read;
        void *give;
    } memory; /* the tree is const to its readers, its owner may free it */
    if (tree == NULL)
        return;
    memory.read = tree->root;
    tli_mem_delete(&tree->allocator, memory.give, tree->memory);
    TLI_FILL(tree, 0, sizeof *tree);
}

TL_API tl_span tl_json_raw(const tl_json *tree, const tl_json_node *node)
{
    return node == NULL ? tl_text(NULL) : tli_text_span(tree->text + node->start, node->size);
}

TL_API const tl_json_node *tl_json_first(const tl_json_node *parent)
{
    return parent != NULL && parent->count != 0 ? parent + 1 : NULL;
}

TL_API const tl_json_node *tl_json_next(const tl_json_node *parent, const tl_json_node *child)
{
    const tl_json_node *value = parent->kind == TL_JSON_OBJECT ? child + 1 : child;
    const tl_json_node *next = value + value->nodes;
    return next < parent + parent->nodes ? next : NULL;
}

/* What a string node stands for. */
TLI_FN tl_span tli_json_plain_text(const tl_json *tree, const tl_json_node *node)
{
    const char *at;
    if (node->unescaped == 0)
        return tli_text_span(tree->text + node->start + 1, node->size - 2);
    at = tree->strings + node->unescaped - 1;
    return tli_text_span(at + sizeof(uint32_t), tli_bits_u32(at));
}

TL_API const tl_json_node *tl_json_member(const tl_json *tree, const tl_json_node *object, tl_span key)
{
    const tl_json_node *at, *found = NULL;
    if (object == NULL || object->kind != TL_JSON_OBJECT)
        return NULL;
    for (at = tl_json_first(object); at != NULL; at = tl_json_next(object, at))
        if (tl_span_equal(tli_json_plain_text(tree, at), key))
            found = at + 1;
    return found;
}

TLI_FN const tl_json_node *tli_json_named(const tl_json *json, const tl_json_node *object, const char *key)
{
    return tl_json_member(json, object, tl_text(key));
}

TL_API const tl_json_node *tl_json_at(const tl_json_node *array, uint32_t index)
{
    const tl_json_node *at;
    if (array == NULL || array->kind != TL_JSON_ARRAY || index >= array->count)
        return NULL;
    for (at = array + 1; index != 0; index--)
        at += at->nodes;
    return at;
}

TL_API int tl_json_present(const tl_json_node *node)
{
    return node != NULL && node->kind != TL_JSON_NULL;
}

/* Refuses a node that is not of the kind it has to be. */
TLI_FN tl_status tli_json_expect(const tl_json_node *node, tl_json_kind kind, const char *text, tl_error *err)
{
    if (node == NULL)
        return tli_err(err, TL_ABSENT, "json: no such member", TL_NO_POSITION);
    if (node->kind != kind)
        return tli_err(err, TL_CORRUPT, text, node->start);
    return TL_OK;
}

TL_API tl_status tl_json_int64(const tl_json *tree, const tl_json_node *node, int64_t *value, tl_error *err)
{
    tl_status st = tli_json_expect(node, TL_JSON_NUMBER, "json: an integer is expected", err);
    if (st != TL_OK)
        return st;
    if (!tli_number_parse_i64(tree->text + node->start, node->size, value))
        return tli_err(err, TL_CORRUPT, "json: a 64-bit integer is expected", node->start);
    return TL_OK;
}

TL_API tl_status tl_json_string(const tl_json *tree, const tl_json_node *node, tl_span *value, tl_error *err)
{
    tl_status st = tli_json_expect(node, TL_JSON_STRING, "json: a string is expected", err);
    if (st == TL_OK)
        *value = tli_json_plain_text(tree, node);
    return st;
}

TL_API tl_status tl_json_bool(const tl_json *tree, const tl_json_node *node, int *value, tl_error *err)
{
    tl_status st = tli_json_expect(node, TL_JSON_BOOL, "json: true or false is expected", err);
    (void)tree;
    if (st == TL_OK)
        *value = node->truth;
    return st;
}
