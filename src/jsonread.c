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

/* Any value that is neither null nor text, of a column that the second pass will look at. */
TLI_FN int tli_jsonread_count_other(tli_jsonread_walk *w)
{
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
        return tli_json_skip(&w->j, w->source->depth);
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
    return tli_jsonread_count_other(w);
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
