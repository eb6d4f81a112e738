/* >>contract */
#ifndef TIMELAKE_NO_LAKE
#define TLI_CONTRACT_MINOR 3u /* the format known here: 0.3.0 */

/* How a value is read into a member of tl_contract. */
enum {
    TLI_CONTRACT_TEXT, TLI_CONTRACT_FLAG, TLI_CONTRACT_COUNT, TLI_CONTRACT_DURATION, TLI_CONTRACT_OR_OFF,
    TLI_CONTRACT_CHUNK, TLI_CONTRACT_FORMAT, TLI_CONTRACT_TIME, TLI_CONTRACT_LOG
};

typedef struct tli_contract_entry {
    const char *name; /* also the text of the error */
    uint8_t kind;
    uint16_t offset;
} tli_contract_entry;

#define TLI_CONTRACT_ENTRY(name, kind, member) {name, kind, (uint16_t)offsetof(tl_contract, member)}

static const tli_contract_entry tli_contract_entries[] = {
    TLI_CONTRACT_ENTRY("timelake.time-column", TLI_CONTRACT_TEXT, time_column),
    TLI_CONTRACT_ENTRY("timelake.series-key", TLI_CONTRACT_TEXT, series_key),
    TLI_CONTRACT_ENTRY("timelake.ingest-time-column", TLI_CONTRACT_TEXT, ingest_time_column),
    TLI_CONTRACT_ENTRY("timelake.head-format", TLI_CONTRACT_TEXT, head_format),
    TLI_CONTRACT_ENTRY("timelake.chunk-interval", TLI_CONTRACT_CHUNK, chunk),
    TLI_CONTRACT_ENTRY("timelake.dedup", TLI_CONTRACT_FLAG, dedup),
    TLI_CONTRACT_ENTRY("timelake.read-dedup", TLI_CONTRACT_FLAG, read_dedup),
    TLI_CONTRACT_ENTRY("timelake.auto-maintain", TLI_CONTRACT_FLAG, auto_maintain),
    TLI_CONTRACT_ENTRY("timelake.retention", TLI_CONTRACT_DURATION, retention),
    TLI_CONTRACT_ENTRY("timelake.snapshot-retention", TLI_CONTRACT_DURATION, snapshot_retention),
    TLI_CONTRACT_ENTRY("timelake.compact-cold-after", TLI_CONTRACT_OR_OFF, compact_cold_after),
    TLI_CONTRACT_ENTRY("timelake.version-check-interval", TLI_CONTRACT_DURATION, version_check_interval),
    TLI_CONTRACT_ENTRY("timelake.keep-snapshots-until", TLI_CONTRACT_TIME, keep_snapshots_until),
    TLI_CONTRACT_ENTRY("timelake.target-file-size-bytes", TLI_CONTRACT_COUNT, target_file_bytes),
    TLI_CONTRACT_ENTRY("timelake.row-group-rows", TLI_CONTRACT_COUNT, row_group_rows),
    TLI_CONTRACT_ENTRY("timelake.min-snapshots", TLI_CONTRACT_COUNT, min_snapshots),
    TLI_CONTRACT_ENTRY("timelake.max-snapshots", TLI_CONTRACT_COUNT, max_snapshots),
    TLI_CONTRACT_ENTRY("timelake.compact-min-files", TLI_CONTRACT_COUNT, compact_min_files),
    TLI_CONTRACT_ENTRY("timelake.head-inline-bytes", TLI_CONTRACT_COUNT, head_inline_bytes),
    TLI_CONTRACT_ENTRY("timelake.format-version", TLI_CONTRACT_FORMAT, format_major),
    TLI_CONTRACT_ENTRY("write.metadata.previous-versions-max", TLI_CONTRACT_LOG, previous_versions_max),
};

TLI_INLINE char tli_contract_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

TLI_INLINE int tli_contract_blank(char c)
{
    return c == ' ' || (c >= 9 && c <= 13);
}

TLI_FN tl_span tli_contract_trim(tl_span s)
{
    while (s.size != 0 && tli_contract_blank(s.data[0])) {
        s.data++;
        s.size--;
    }
    while (s.size != 0 && tli_contract_blank(s.data[s.size - 1]))
        s.size--;
    return s;
}

/* Equal but for ASCII case; `word` is lowercase. */
TLI_FN int tli_contract_is(tl_span s, const char *word)
{
    size_t i;
    for (i = 0; i < s.size; i++)
        if (word[i] == 0 || tli_contract_lower(s.data[i]) != word[i])
            return 0;
    return word[s.size] == 0;
}

/* Digits, leading zeros and a plus sign allowed as Rust's parser has it. */
TLI_FN int tli_contract_number(tl_span s, uint64_t *value)
{
    size_t i = s.size > 1 && s.data[0] == '+' ? 1 : 0;
    uint64_t v = 0;
    if (s.size == 0)
        return 0;
    for (; i < s.size; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s.data[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *value = v;
    return 1;
}

/* `<n><unit>` in milliseconds. */
TLI_FN int tli_contract_duration(tl_span s, int64_t *value)
{
    static const struct {
        char word[8];
        uint32_t seconds;
    } units[] = {{"s", 1},         {"sec", 1},       {"secs", 1},       {"second", 1},   {"seconds", 1}, {"m", 60},
                 {"min", 60},      {"mins", 60},     {"minute", 60},    {"minutes", 60}, {"h", 3600},    {"hr", 3600},
                 {"hrs", 3600},    {"hour", 3600},   {"hours", 3600},   {"d", 86400},    {"day", 86400}, {"days",
                                                                                                          86400},
                 {"w", 604800},    {"week", 604800}, {"weeks", 604800}, {"y", 31536000}, {"year", 31536000},
                 {"years", 31536000}};
    size_t digits = 0, i;
    uint64_t n;
    while (digits < s.size && s.data[digits] >= '0' && s.data[digits] <= '9')
        digits++;
    if (!tli_contract_number(tli_text_span(s.data, digits), &n))
        return 0;
    s = tli_contract_trim(tli_text_span(s.data + digits, s.size - digits));
    for (i = 0; i < TLI_COUNT(units); i++)
        if (tli_contract_is(s, units[i].word)) {
            if (n > (uint64_t)INT64_MAX / 1000 / units[i].seconds)
                return 0;
            *value = (int64_t)(n * units[i].seconds * 1000);
            return 1;
        }
    return 0;
}

TLI_FN int tli_contract_chunk(tl_span s, tl_chunk *chunk)
{
    static const struct {
        char word[8];
        tl_chunk chunk;
    } words[] = {{"hour", TL_CHUNK_HOUR}, {"1h", TL_CHUNK_HOUR},  {"1 hour", TL_CHUNK_HOUR}, {"day", TL_CHUNK_DAY},
                 {"1d", TL_CHUNK_DAY},    {"1 day", TL_CHUNK_DAY}, {"24h", TL_CHUNK_DAY},    {"month", TL_CHUNK_MONTH}};
    size_t i;
    for (i = 0; i < TLI_COUNT(words); i++)
        if (tli_contract_is(s, words[i].word)) {
            *chunk = words[i].chunk;
            return 1;
        }
    *chunk = TL_CHUNK_MONTH;
    return tli_contract_is(s, "1 month");
}

/* MAJOR.MINOR.PATCH, or one integer N for 0.N.0. */
TLI_FN int tli_contract_format(tl_span s, uint32_t *major)
{
    uint64_t parts[3];
    size_t n = 0, from = 0, i;
    for (i = 0; i <= s.size; i++)
        if (i == s.size || s.data[i] == '.') {
            if (n == 3 || !tli_contract_number(tli_text_span(s.data + from, i - from), &parts[n])
                || parts[n] > UINT32_MAX)
                return 0;
            n++;
            from = i + 1;
        }
    if (n == 2)
        return 0;
    major[0] = n == 3 ? (uint32_t)parts[0] : 0;
    major[1] = (uint32_t)parts[n == 3 ? 1 : 0];
    major[2] = n == 3 ? (uint32_t)parts[2] : 0;
    return 1;
}

TLI_FN int tli_contract_flag(tl_span s, uint8_t *flag)
{
    *flag = (uint8_t)tli_contract_is(s, "true");
    return *flag || tli_contract_is(s, "false");
}

/* Reads one value into its member. 0: it does not parse. */
TLI_FN int tli_contract_set(tl_contract *c, const tli_contract_entry *e, tl_span s)
{
    char *member = (char *)c + e->offset;
    void *to = (void *)member;
    uint64_t n = 0;
    switch (e->kind) {
    case TLI_CONTRACT_TEXT:
        *(tl_span *)to = s;
        return 1;
    case TLI_CONTRACT_FLAG:
        return tli_contract_flag(s, (uint8_t *)to);
    case TLI_CONTRACT_COUNT:
        return tli_contract_number(s, (uint64_t *)to);
    case TLI_CONTRACT_OR_OFF:
        if (tli_contract_is(s, "off")) {
            *(int64_t *)to = TL_FOREVER;
            return 1;
        }
        return tli_contract_duration(s, (int64_t *)to);
    case TLI_CONTRACT_DURATION:
        return tli_contract_duration(s, (int64_t *)to);
    case TLI_CONTRACT_CHUNK:
        return tli_contract_chunk(s, (tl_chunk *)to);
    case TLI_CONTRACT_FORMAT:
        return tli_contract_format(s, (uint32_t *)to);
    case TLI_CONTRACT_TIME:
        return tli_number_parse_i64(s.data, s.size, (int64_t *)to);
    default: /* Iceberg's own: a bad value never blocks a reader */
        if (tli_contract_number(s, &n))
            c->previous_versions_max = (uint32_t)TLI_MIN(TLI_MAX(n, 1u), UINT32_MAX);
        return 1;
    }
}

TLI_FN void tli_contract_defaults(tl_contract *c)
{
    TLI_FILL(c, 0, sizeof *c);
    c->head_format = tl_text("arrow");
    c->auto_maintain = 1;
    c->retention = TL_FOREVER;
    c->snapshot_retention = c->compact_cold_after = 3600000;
    c->version_check_interval = 1000;
    c->keep_snapshots_until = INT64_MIN;
    c->target_file_bytes = 268435456;
    c->row_group_rows = c->head_inline_bytes = 1048576;
    c->min_snapshots = 5;
    c->max_snapshots = c->previous_versions_max = 100;
    c->compact_min_files = 8;
    c->format_minor = 1;
}

TL_API tl_status tl_contract_read(tl_contract *contract, const tl_json *metadata, const tl_json_node *properties,
                                  tl_error *err)
{
    size_t i;
    int read_dedup = 0;
    tli_contract_defaults(contract);
    for (i = 0; i < TLI_COUNT(tli_contract_entries); i++) {
        const tli_contract_entry *e = &tli_contract_entries[i];
        const tl_json_node *node = tli_json_named(metadata, properties, e->name);
        tl_span value;
        tl_status st;
        if (node == NULL)
            continue;
        st = tl_json_string(metadata, node, &value, err);
        if (st != TL_OK)
            return st;
        value = tli_contract_trim(value);
        if (value.size == 0) /* blank counts as unset */
            continue;
        if (!tli_contract_set(contract, e, value))
            return tli_err(err, TL_CORRUPT, e->name, node->start);
        read_dedup |= e->offset == offsetof(tl_contract, read_dedup);
    }
    if (!read_dedup)
        contract->read_dedup = contract->dedup;
    return TL_OK;
}

TL_API tl_span tl_contract_column(const tl_contract *contract, uint32_t i)
{
    tl_span key = contract->series_key, column;
    size_t from = 0, at;
    for (at = 0; at <= key.size && key.data != NULL; at++)
        if (at == key.size || key.data[at] == ',') {
            column = tli_contract_trim(tli_text_span(key.data + from, at - from));
            from = at + 1;
            if (column.size != 0 && i-- == 0)
                return column;
        }
    return tli_text_span(NULL, 0);
}

TL_API tl_status tl_contract_may_read(const tl_contract *contract, tl_error *err)
{
    if (contract->format_major == 0 && contract->format_minor <= TLI_CONTRACT_MINOR)
        return TL_OK;
    return tli_err(err, TL_UNSUPPORTED, "the table's format is newer than 0.3, which this library reads",
                   TL_NO_POSITION);
}

TL_API tl_status tl_contract_may_write(const tl_contract *contract, tl_error *err)
{
    if (contract->format_major == 0 && contract->format_minor <= TLI_CONTRACT_MINOR)
        return TL_OK;
    return tli_err(err, TL_UNSUPPORTED, "the table's format is newer than 0.3, which this library writes",
                   TL_NO_POSITION);
}
#endif /* TIMELAKE_NO_LAKE */
