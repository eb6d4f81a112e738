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
