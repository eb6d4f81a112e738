/* >>jsonread: values of the `json` codec's rows: what they take, and filling them in. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- reading rows ---- */

/* A section's rows, and what the first pass found out about them. */
typedef struct tli_jsonread_source {
    struct tli_doc_source source; /* first: the document knows it by that */
    tli_store *store;
    tli_jsontype_tree tree;
    const uint8_t *body;
    size_t size;
    uint64_t position;
    size_t rows;      /* where the array of rows begins */
    size_t rows_size; /* how many bytes it takes */
    uint32_t depth;   /* how deep values may nest that no column is made of */
    int repeated;     /* some object has a key twice */
    size_t scratch;   /* bytes of the longest text with escapes that is no text value */
    tl_error failed;  /* of a second pass: nothing is tried twice */
} tli_jsonread_source;

/* TLI_JSONREAD_COLLECT notes the texts of dictionary values and leaves the builders alone. */
enum { TLI_JSONREAD_COUNT, TLI_JSONREAD_COLLECT, TLI_JSONREAD_FILL };

typedef struct tli_jsonread_walk {
    tli_json j;
    tli_jsonread_source *source;
    tli_jsontype_node *nodes;
    tli_build_node *build;
    int mode;
    char *scratch;
} tli_jsonread_walk;

TLI_INLINE uint32_t tli_jsonread_stop(tli_jsonread_walk *w, const char *text, const uint8_t *at)
{
    (void)tli_json_fail(&w->j, text, at);
    return TLI_JSONTYPE_FAIL;
}

/* Where a value is: that is its last byte read so far, so that positions point into the value. */
TLI_NOINLINE int tli_jsonread_bad(tli_jsonread_walk *w, const uint8_t *at)
{
    return tli_json_fail(&w->j, "head: not a value of the column's type", at);
}

/* A text at the cursor as it is meant: escapes, which only foreign writers put there, go to the scratch memory. */
TLI_INLINE int tli_jsonread_plain(tli_jsonread_walk *w, tl_span *text)
{
    int escaped;
    if (!tli_json_text(&w->j, text, &escaped))
        return 0;
    if (TLI_UNLIKELY(escaped)) {
        text->size = tli_json_unescape(w->scratch, *text);
        text->data = w->scratch;
    }
    return 1;
}

/* ---- the first pass ---- */

/* Any value that is neither null nor text, of a column that the second pass will look at. Parts of intervals may be
   texts with escapes: none of them is longer than the array. */
TLI_FN int tli_jsonread_count_other(tli_jsonread_walk *w, const tli_jsontype_node *n)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    switch (*w->j.p) {
    case '"':
        if (!tli_json_text(&w->j, &text, &flag))
            return 0;
        if (flag)
            w->source->scratch = TLI_MAX(w->source->scratch, text.size);
        return 1;
    case 't':
        return tli_json_literal(&w->j, "true");
    case 'f':
        return tli_json_literal(&w->j, "false");
    default:
        if (!tli_json_skip(&w->j, w->source->depth))
            return 0;
        if (n->act >= TL_TYPE_INTERVAL_MONTHS && n->act <= TL_TYPE_INTERVAL_MONTH_DAY_NANO)
            w->source->scratch = TLI_MAX(w->source->scratch, (size_t)(w->j.p - at));
        return 1;
    }
}

TLI_INLINE int tli_jsonread_count(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    if (b->layout >= TLI_ARROW_BYTES && b->layout <= TLI_ARROW_VIEWS) {
        if (*at != '"')
            return tli_jsonread_bad(w, at);
        if (!tli_json_text(&w->j, &text, &flag))
            return 0;
        if (TLI_UNLIKELY(flag)) {
            if (n->act >= TL_TYPE_BINARY)
                w->source->scratch = TLI_MAX(w->source->scratch, text.size);
            text.size = tli_json_unescaped_size(text);
        }
        if (n->act >= TL_TYPE_BINARY && (text.size & 1) != 0)
            return tli_jsonread_bad(w, at);
        tli_build_count_bytes(b, n->act >= TL_TYPE_BINARY ? text.size / 2 : text.size);
        return 1;
    }
    tli_build_count(b);
    if (TLI_LIKELY((uint32_t)*at - '0' < 10 || *at == '-'))
        return tli_json_number(&w->j, &text, &flag);
    return tli_jsonread_count_other(w, n);
}

/* ---- the second pass: values ---- */

/* An integer of the bounds; a text with digits alone is one too. */
TLI_FN int tli_jsonread_integer_slow(tli_jsonread_walk *w, uint64_t most, uint64_t least, uint64_t *value)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int integer, minus;
    if (*at == '"' ? !tli_jsonread_plain(w, &text) : !tli_json_number(&w->j, &text, &integer))
        return 0;
    minus = text.size != 0 && text.data[0] == '-';
    if (!tli_number_parse_u64(text.data + minus, text.size - (size_t)minus, value) || *value > (minus ? least : most))
        return tli_jsonread_bad(w, at);
    *value = minus ? 0 - *value : *value;
    return 1;
}

/* `most` and `least`: the greatest value above, and the greatest magnitude below 0. */
TLI_INLINE int tli_jsonread_integer(tli_jsonread_walk *w, uint64_t most, uint64_t least, uint64_t *value)
{
    static const uint32_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const uint8_t *p = w->j.p;
    uint64_t v = 0, word, hits;
    int minus = *p == '-', rounds;
    p += minus;
    for (rounds = 0; rounds < 3 && w->j.end - p >= 9; rounds++) {
        size_t digits;
        word = tli_bits_le64(p);
        hits = tli_json_no_digit(word);
        if (hits == 0 && rounds < 2) {
            v = v * 100000000 + tli_json_eight(word);
            p += 8;
            continue;
        }
        digits = hits == 0 ? 8 : tli_json_first_byte(hits);
        if (digits > 3 && rounds == 2)
            break; /* 20 digits */
        if (digits != 0)
            v = v * powers[digits] + tli_json_eight(word << (64 - 8 * digits));
        p += digits;
        if (p == w->j.p + minus || *p == '.' || (*p | 0x20) == 'e' || v > (minus ? least : most))
            break;
        *value = minus ? 0 - v : v;
        w->j.p = p;
        return 1;
    }
    return tli_jsonread_integer_slow(w, most, least, value);
}

/* NaN and the infinities, in the spellings that readers of floats know. */
TLI_FN int tli_jsonread_float_word(tl_span text, double *value)
{
    static const char words[3][9] = {"nan", "inf", "infinity"};
    const uint64_t bits[3] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff0000000000000)};
    int minus = text.size != 0 && text.data[0] == '-';
    size_t start = minus || (text.size != 0 && text.data[0] == '+') ? 1 : 0, i, k;
    for (i = 0; i < 3; i++) {
        for (k = 0; start + k < text.size && words[i][k] != 0 && (text.data[start + k] | 0x20) == words[i][k]; k++)
            ;
        if (start + k == text.size && words[i][k] == 0) {
            uint64_t v = bits[i] | (uint64_t)minus << 63;
            TLI_COPY(value, &v, 8);
            return 1;
        }
    }
    return 0;
}

TLI_FN int tli_jsonread_float(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    double wide = 0;
    float narrow = 0;
    uint32_t bits;
    if (*at == '"' ? !tli_jsonread_plain(w, &text) : !tli_json_number(&w->j, &text, &flag))
        return 0;
    if (n->act == TL_TYPE_FLOAT64 ? !tli_number_parse_f64(text.data, text.size, &wide)
                                  : !tli_number_parse_f32(text.data, text.size, &narrow)) {
        if (*at != '"' || !tli_jsonread_float_word(text, &wide))
            return tli_jsonread_bad(w, at);
        narrow = (float)wide;
    }
    if (n->act == TL_TYPE_FLOAT64) {
        tli_build_fixed(b, &wide);
    } else if (n->act == TL_TYPE_FLOAT32) {
        TLI_COPY(&bits, &narrow, 4);
        tli_build_32(b, bits);
    } else {
        tli_build_16(b, tli_number_f32_to_f16(narrow));
    }
    return 1;
}

/* Dates, times, points in time, durations: an integer, or text. */
TLI_FN int tli_jsonread_time(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    const tl_type *t = &b->type;
    tl_span text, none = tl_text(NULL);
    int64_t v = 0;
    int good;
    if (*at != '"') {
        uint64_t most = t->width == 4 ? INT32_MAX : INT64_MAX, value;
        if (!tli_jsonread_integer(w, most, most + 1, &value))
            return 0;
        tli_build_integer(b, (int64_t)value);
        return 1;
    }
    if (!tli_jsonread_plain(w, &text))
        return 0;
    good = n->act >= TL_TYPE_TIME32 && tli_number_parse_i64(text.data, text.size, &v);
    if (!good)
        switch (n->act) {
        case TL_TYPE_DATE32: good = tli_time_parse_date(text.data, text.size, &v); break;
        case TL_TYPE_DATE64: good = tli_time_parse_stamp(text.data, text.size, TL_UNIT_MILLI, none, &v); break;
        case TL_TYPE_TIME32:
        case TL_TYPE_TIME64: good = tli_time_parse_clock(text.data, text.size, t->unit, &v); break;
        case TL_TYPE_DURATION: good = tli_time_parse_duration(text.data, text.size, t->unit, &v); break;
        default: good = tli_time_parse_stamp(text.data, text.size, t->unit, t->zone, &v); break;
        }
    if (!good || (t->width == 4 && (v < INT32_MIN || v > INT32_MAX)))
        return tli_jsonread_bad(w, at);
    tli_build_integer(b, v);
    return 1;
}

/* The `count` integers of an array, the last of them 64 bits wide when there are three. */
TLI_FN int tli_jsonread_parts(tli_jsonread_walk *w, int64_t *parts, int count)
{
    int i;
    if (!tli_json_take(&w->j, '[', "head: not a value of the column's type"))
        return 0;
    for (i = 0; i < count; i++) {
        uint64_t most = i == 2 ? INT64_MAX : INT32_MAX, v;
        tli_json_space(&w->j);
        if (!tli_jsonread_integer(w, most, most + 1, &v)
            || !tli_json_take(&w->j, i == count - 1 ? ']' : ',', "head: not a value of the column's type"))
            return 0;
        parts[i] = (int64_t)v;
    }
    return 1;
}

TLI_FN int tli_jsonread_interval(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    uint8_t value[16];
    tl_span text;
    int64_t parts[3] = {0, 0, 0};
    int32_t months = 0, days = 0;
    if (n->act == TL_TYPE_INTERVAL_MONTHS && *at != '"') {
        uint64_t v;
        if (!tli_jsonread_integer(w, INT32_MAX, (uint64_t)INT32_MAX + 1, &v))
            return 0;
        tli_build_32(b, (uint32_t)v);
        return 1;
    }
    if (*at != '"') {
        if (!tli_jsonread_parts(w, parts, n->act == TL_TYPE_INTERVAL_DAY_TIME ? 2 : 3))
            return 0;
    } else {
        if (!tli_jsonread_plain(w, &text))
            return 0;
        if (!tli_time_parse_interval(text.data, text.size, &months, &days, &parts[2]))
            return tli_jsonread_bad(w, at);
        parts[0] = n->act == TL_TYPE_INTERVAL_DAY_TIME ? days : months;
        parts[1] = n->act == TL_TYPE_INTERVAL_DAY_TIME ? parts[2] / 1000000 : days;
        if ((n->act == TL_TYPE_INTERVAL_MONTHS && (days != 0 || parts[2] != 0))
            || (n->act == TL_TYPE_INTERVAL_DAY_TIME
                && (months != 0 || parts[2] % 1000000 != 0 || parts[1] < INT32_MIN || parts[1] > INT32_MAX)))
            return tli_jsonread_bad(w, at);
    }
    tli_bits_put32(value, (uint32_t)parts[0]);
    tli_bits_put32(value + 4, (uint32_t)parts[1]);
    tli_bits_put64(value + 8, (uint64_t)parts[2]);
    tli_build_fixed(b, value);
    return 1;
}

TLI_FN int tli_jsonread_decimal(tli_jsonread_walk *w, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    const tl_type *t = &b->type;
    uint8_t value[32];
    tl_span text;
    int flag;
    if (*at == '"' ? !tli_jsonread_plain(w, &text) : !tli_json_number(&w->j, &text, &flag))
        return 0;
    if (!tli_number_parse_decimal(text.data, text.size, value, t->width, t->precision, t->scale))
        return tli_jsonread_bad(w, at);
    tli_build_fixed(b, value);
    return 1;
}

/* Text, or the hex digits of binary. */
TLI_INLINE int tli_jsonread_bytes(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    uint8_t *room = tli_build_room(b);
    tl_span text;
    int escaped;
    if (*at != '"')
        return tli_jsonread_bad(w, at);
    if (!tli_json_text(&w->j, &text, &escaped))
        return 0;
    if (n->act < TL_TYPE_BINARY && !escaped) {
        tli_build_bytes(b, text.data, text.size);
        return 1;
    }
    if (n->act < TL_TYPE_BINARY) {
        text.size = tli_json_unescape((char *)room, text);
        tli_build_done(b, text.size);
        return 1;
    }
    if (escaped) {
        text.size = tli_json_unescape(w->scratch, text);
        text.data = w->scratch;
    }
    if ((n->act == TL_TYPE_FIXED_BINARY && text.size != 2 * (size_t)b->type.width)
        || !tli_number_unhex(room, text.data, text.size))
        return tli_jsonread_bad(w, at);
    tli_build_done(b, text.size / 2);
    return 1;
}

TLI_INLINE int tli_jsonread_fill_integer(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    uint64_t v, most = UINT64_MAX >> (64 - 8 * (uint32_t)b->type.width), least = 0;
    if (n->act < TL_TYPE_UINT8) {
        most >>= 1;
        least = most + 1;
    }
    if (!tli_jsonread_integer(w, most, least, &v))
        return 0;
    tli_build_integer(b, (int64_t)v);
    return 1;
}

TLI_FN int tli_jsonread_dictionary(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tli_jsontype_words *words = n->words;
    if (!tli_json_skip(&w->j, w->source->depth))
        return 0;
    if (w->mode == TLI_JSONREAD_FILL)
        tli_build_integer(b, words->index[words->at++]);
    else
        words->texts[words->at++] = tli_text_span(at, (size_t)(w->j.p - at));
    return 1;
}

TLI_FN int tli_jsonread_fill(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    if (n->act >= TL_TYPE_UTF8 && n->act <= TL_TYPE_FIXED_BINARY)
        return tli_jsonread_bytes(w, n, b);
    if (n->act >= TL_TYPE_INT8 && n->act <= TL_TYPE_UINT64)
        return tli_jsonread_fill_integer(w, n, b);
    if (n->act >= TL_TYPE_INTERVAL_MONTHS && n->act <= TL_TYPE_INTERVAL_MONTH_DAY_NANO)
        return tli_jsonread_interval(w, n, b);
    if (n->act >= TL_TYPE_DATE32 && n->act <= TL_TYPE_DURATION)
        return tli_jsonread_time(w, n, b);
    if (n->act >= TL_TYPE_DECIMAL32 && n->act <= TL_TYPE_DECIMAL256)
        return tli_jsonread_decimal(w, b);
    if (n->act >= TL_TYPE_FLOAT16 && n->act <= TL_TYPE_FLOAT64)
        return tli_jsonread_float(w, n, b);
    if (n->act != TL_TYPE_BOOL || (*at != 't' && *at != 'f'))
        return tli_jsonread_bad(w, at);
    tli_build_bool(b, *at == 't');
    return tli_json_literal(&w->j, *at == 't' ? "true" : "false");
}

/* ---- the short way ----

   Nearly all values are whole numbers of some digits, plain text, hex digits or null. These functions take one at p, of
   which 40 bytes at least are there, and answer where it ends; or NULL, with nothing done, for all that the long way
   has to look at: it takes the same values, and knows what is wrong with others. */

/* How many digits there are at p: 16 when there are more than 15. */
TLI_INLINE size_t tli_jsonread_digits(const uint8_t *p)
{
#if TLI_SSE2
    __m128i v = _mm_sub_epi8(tli_json_load16(p), _mm_set1_epi8('0'));
    return (size_t)__builtin_ctz(~tli_json_mask16(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v)));
#else
    uint64_t hits = tli_json_no_digit(tli_bits_le64(p));
    if (hits != 0)
        return tli_json_first_byte(hits);
    hits = tli_json_no_digit(tli_bits_le64(p + 8));
    return hits == 0 ? 16 : 8 + tli_json_first_byte(hits);
#endif
}

TLI_INLINE const uint8_t *tli_jsonread_quick_integer(const tli_jsontype_node *n, tli_build_node *b, const uint8_t *p,
                                                     int mode)
{
    uint64_t minus = *p == '-', v, most;
    size_t size = tli_jsonread_digits(p + minus);
    const uint8_t *digits = p + minus;
    p = digits + size;
    if (size - 1 > 14 || (*digits == '0' && size > 1) || (*p != ',' && *p != '}'))
        return NULL;
    if (mode == TLI_JSONREAD_COUNT) {
        tli_build_count(b);
        return p;
    }
    if (size <= 8)
        v = tli_json_eight(tli_bits_le64(digits) << (64 - 8 * size));
    else
        v = tli_json_eight(tli_bits_le64(digits) << (128 - 8 * size)) * UINT64_C(100000000)
            + tli_json_eight(tli_bits_le64(p - 8));
    most = UINT64_MAX >> (64 - 8 * (uint32_t)b->type.width + n->is_signed);
    if (v > (!minus ? most : n->is_signed ? most + 1 : 0))
        return NULL;
    tli_build_integer(b, (int64_t)(minus ? 0 - v : v));
    return p;
}

/* Copies plain text from p to `out`, sixteen bytes at a time: answers where it ends, or NULL. */
TLI_INLINE const uint8_t *tli_jsonread_copy(uint8_t *out, const uint8_t *p, const uint8_t *end)
{
#if TLI_SSE2
    for (; end - p >= 16; p += 16, out += 16) {
        __m128i v = tli_json_load16(p);
        uint32_t hits = tli_json_mask16(tli_json_special16(v));
        _mm_storeu_si128((__m128i *)(void *)out, v);
        if (hits != 0)
            return p + __builtin_ctz(hits);
    }
#else
    for (; end - p >= 8; p += 8, out += 8) {
        uint64_t v = tli_bits_le64(p), hits = tli_json_special(v);
        TLI_COPY(out, p, 8);
        if (hits != 0)
            return p + tli_json_first_byte(hits);
    }
#endif
    return NULL;
}

#if TLI_SSE2
/* Values of hex digits; more than 15 for other bytes. Digits come to lie at 0xf0 and up, then at 0; all others stay
   above 15 (Wojciech Mula's arithmetic). */
TLI_INLINE __m128i tli_jsonread_nibbles(__m128i v)
{
    __m128i digit = _mm_subs_epu8(_mm_add_epi8(v, _mm_set1_epi8(0xff - '9' - 0x100)), _mm_set1_epi8(6));
    __m128i letter = _mm_sub_epi8(_mm_and_si128(v, _mm_set1_epi8(0xdf - 0x100)), _mm_set1_epi8('A'));
    return _mm_min_epu8(_mm_sub_epi8(digit, _mm_set1_epi8(0xf0 - 0x100)), _mm_adds_epu8(letter, _mm_set1_epi8(10)));
}

/* Pairs of nibbles as bytes, in the lower half of 16-bit lanes. */
TLI_INLINE __m128i tli_jsonread_pairs(__m128i v)
{
    return _mm_and_si128(_mm_or_si128(_mm_slli_epi16(v, 4), _mm_srli_epi16(v, 8)), _mm_set1_epi16(0xff));
}
#endif

/* Decodes hex digits from p to `out`, many at a time: answers where they end, or NULL. At most 16 bytes behind what is
   asked for are written. */
TLI_INLINE const uint8_t *tli_jsonread_unhex(uint8_t *out, const uint8_t *p, const uint8_t *end)
{
#if TLI_SSE2
    const __m128i bad = _mm_set1_epi8(0x70);
    for (; end - p >= 32; p += 32, out += 16) {
        __m128i low = tli_jsonread_nibbles(tli_json_load16(p)), high = tli_jsonread_nibbles(tli_json_load16(p + 16));
        uint32_t others = tli_json_mask16(_mm_adds_epu8(_mm_max_epu8(low, high), bad));
        _mm_storeu_si128((__m128i *)(void *)out, _mm_packus_epi16(tli_jsonread_pairs(low), tli_jsonread_pairs(high)));
        if (others != 0)
            return p + __builtin_ctz(tli_json_mask16(_mm_adds_epu8(low, bad))
                                     | tli_json_mask16(_mm_adds_epu8(high, bad)) << 16);
    }
#else
    for (; end - p >= 8; p += 8, out += 4) {
        uint64_t v = tli_bits_le64(p);
        uint32_t bytes;
        if (!tli_number_unhex8(v, &bytes)) {
            size_t size = tli_json_first_byte(tli_json_special(v) | TLI_JSON_TOP);
            v &= ((uint64_t)1 << (8 * size)) - 1;
            if (!tli_number_unhex8(v | TLI_NUMBER_ASCII << (8 * size), &bytes))
                return NULL;
            tli_bits_put_le32(out, bytes);
            return p + size;
        }
        tli_bits_put_le32(out, bytes);
    }
#endif
    return NULL;
}

TLI_INLINE const uint8_t *tli_jsonread_quick_bytes(const tli_jsontype_node *n, tli_build_node *b, const uint8_t *p,
                                                   const uint8_t *end, int mode)
{
    uint32_t hex = n->quick == TLI_JSONTYPE_HEX;
    const uint8_t *start = p + 1;
    if (*p != '"')
        return NULL;
    if (mode == TLI_JSONREAD_COUNT)
        p = tli_json_run(start, end);
    else
        p = hex ? tli_jsonread_unhex(tli_build_room(b), start, end) : tli_jsonread_copy(tli_build_room(b), start, end);
    if (p == NULL || p >= end || *p != '"' || ((size_t)(p - start) & hex) != 0)
        return NULL;
    if (mode == TLI_JSONREAD_COUNT)
        tli_build_count_bytes(b, (size_t)(p - start) >> hex);
    else
        tli_build_done(b, (size_t)(p - start) >> hex);
    return p + 1;
}

TLI_INLINE const uint8_t *tli_jsonread_quick(const tli_jsontype_node *n, tli_build_node *b, const uint8_t *p,
                                             const uint8_t *end, int mode)
{
    if (n->quick == TLI_JSONTYPE_SLOW)
        return NULL;
    if (*p == 'n') {
        if (!n->nullable || tli_bits_le32(p) != TLI_JSON_NULL)
            return NULL;
        if (mode == TLI_JSONREAD_COUNT)
            tli_build_count_null(b);
        else
            tli_build_nulls(b, 1);
        return p + 4;
    }
    return n->quick == TLI_JSONTYPE_INTEGER ? tli_jsonread_quick_integer(n, b, p, mode)
        : tli_jsonread_quick_bytes(n, b, p, end, mode);
}

/* A value that is not null, of a column that is neither struct nor list nor map. */
TLI_INLINE int tli_jsonread_scalar(tli_jsonread_walk *w, uint32_t at)
{
    tli_jsontype_node *n = &w->nodes[at];
    if (TLI_UNLIKELY(n->act == TLI_JSONTYPE_DICTIONARY && w->mode != TLI_JSONREAD_COUNT))
        return tli_jsonread_dictionary(w, n, &w->build[at]);
    if (w->mode == TLI_JSONREAD_FILL)
        return tli_jsonread_fill(w, n, &w->build[at]);
    if (w->mode == TLI_JSONREAD_COUNT)
        return tli_jsonread_count(w, n, &w->build[at]);
    return tli_json_skip(&w->j, w->source->depth);
}

#endif /* TIMELAKE_NO_HEAD_JSON */
