/* >>text */
TL_API tl_span tl_text(const char *text)
{
    tl_span s;
    s.data = text;
    s.size = 0;
    if (text != NULL)
        while (text[s.size] != 0)
            s.size++;
    return s;
}

TL_API int tl_span_equal(tl_span a, tl_span b)
{
    return a.size == b.size && (a.size == 0 || TLI_COMPARE(a.data, b.data, a.size) == 0);
}

TLI_FN int tli_text_is(tl_span s, const char *word)
{
    return tl_span_equal(s, tl_text(word));
}

TL_API int tl_span_compare(tl_span a, tl_span b)
{
    size_t n = TLI_MIN(a.size, b.size);
    int order = n == 0 ? 0 : TLI_COMPARE(a.data, b.data, n);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

TLI_INLINE tl_span tli_text_span(const void *data, size_t size)
{
    tl_span s;
    s.data = (const char *)data;
    s.size = size;
    return s;
}

/* Whether the eight bytes have no high bit set. */
TLI_INLINE int tli_text_ascii8(const void *p)
{
    return (tli_bits_u64(p) & 0x8080808080808080u) == 0;
}

/* Bytes of the well-formed UTF-8 sequence at p (Unicode table 3-7: no surrogates, no longer form than needed, nothing
   above U+10FFFF), or 0. */
TLI_INLINE size_t tli_text_sequence(const uint8_t *p, size_t size)
{
    uint32_t a = p[0], least = 0x80, most = 0xbf;
    size_t n = a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4, i;
    if (a < 0xc2 || a > 0xf4 || size < n)
        return 0;
    if (a == 0xe0)
        least = 0xa0;
    else if (a == 0xed)
        most = 0x9f;
    else if (a == 0xf0)
        least = 0x90;
    else if (a == 0xf4)
        most = 0x8f;
    if (p[1] < least || p[1] > most)
        return 0;
    for (i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The offset of the first byte that does not begin valid UTF-8, or `size`. */
TLI_FN size_t tli_text_utf8(const void *data, size_t size)
{
    const uint8_t *p = (const uint8_t *)data;
    size_t i = 0, n;
    while (i < size) {
        if (p[i] < 0x80) {
            while (size - i >= 16 && tli_text_ascii8(p + i) && tli_text_ascii8(p + i + 8))
                i += 16;
            while (i < size && p[i] < 0x80)
                i++;
            continue;
        }
        n = tli_text_sequence(p + i, size - i);
        if (n == 0)
            return i;
        i += n;
    }
    return size;
}
