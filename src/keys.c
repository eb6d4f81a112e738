/* >>keys: names of a table's objects, both ways. */
#ifndef TIMELAKE_NO_LAKE

/* The name of a metadata file ends so; what stands between `v` and it is the version. */
#define TLI_KEYS_METADATA ".metadata.json"
#define TLI_KEYS_METADATA_SIZE 14u

/* The longest name below a table that is made here: "/metadata/v<20 digits>.metadata.json". */
#define TLI_KEYS_ROOM 64u

/* Appends name (and a version, when it is not 0, and the metadata ending) to a location without a trailing slash.
   `out` has location.size + TLI_KEYS_ROOM bytes. */
TLI_FN tl_span tli_keys_join(char *out, tl_span location, const char *name, uint64_t version)
{
    tl_span end = tl_text(name);
    size_t n = location.size;
    if (n != 0)
        TLI_COPY(out, location.data, n);
    TLI_COPY(out + n, end.data, end.size);
    n += end.size;
    if (version != 0) {
        n += tli_number_u64(out + n, version);
        TLI_COPY(out + n, TLI_KEYS_METADATA, TLI_KEYS_METADATA_SIZE);
        n += TLI_KEYS_METADATA_SIZE;
    }
    return tli_text_span(out, n);
}

TLI_FN tl_span tli_keys_version(char *out, tl_span location, uint64_t version)
{
    return tli_keys_join(out, location, "/metadata/v", version);
}

/* Decimal digits without a leading zero, at least 1: a version. The greatest number has no successor and is none. */
TLI_FN int tli_keys_number(const char *text, size_t size, uint64_t *version)
{
    return tli_number_parse_u64(text, size, version) && *version != 0 && *version != UINT64_MAX;
}

/* The version of a listed key of this table: exactly <location>/metadata/v<N>.metadata.json; 0 for any other. */
TLI_FN uint64_t tli_keys_parse(tl_span key, tl_span location)
{
    static const char middle[] = "/metadata/v";
    size_t from = location.size + sizeof middle - 1;
    uint64_t version;
    if (key.size < from + 1 + TLI_KEYS_METADATA_SIZE
        || (location.size != 0 && TLI_COMPARE(key.data, location.data, location.size) != 0)
        || TLI_COMPARE(key.data + location.size, middle, sizeof middle - 1) != 0
        || TLI_COMPARE(key.data + key.size - TLI_KEYS_METADATA_SIZE, TLI_KEYS_METADATA, TLI_KEYS_METADATA_SIZE) != 0
        || !tli_keys_number(key.data + from, key.size - from - TLI_KEYS_METADATA_SIZE, &version))
        return 0;
    return version;
}

/* The version a hint object names: digits with white space around them; 0 when it says anything else. */
TLI_FN uint64_t tli_keys_hint(const void *body, size_t size)
{
    const char *text = (const char *)body;
    uint64_t version;
    size_t from = 0;
    while (from < size && (text[from] == ' ' || (text[from] >= 9 && text[from] <= 13)))
        from++;
    while (size > from && (text[size - 1] == ' ' || (text[size - 1] >= 9 && text[size - 1] <= 13)))
        size--;
    return tli_keys_number(text + from, size - from, &version) ? version : 0;
}
#endif /* TIMELAKE_NO_LAKE */
