/* >>features: the inspection of raw commits. One pass over the text, which is checked on the way, with what is known of
   the action at hand kept in spans; of members named twice the last one counts, as for the decoder later. */
#ifndef TIMELAKE_NO_LOG

/* Commits nest at most so deep: objects and arrays that are open at once. */
#define TLI_FEATURES_DEPTH 127u

/* ---- faults ---- */

TL_API const char *tl_fault_name(const tl_fault *fault, char *out)
{
#define TLI_FEATURES_NAME(kind, name) name,
    static const char *const names[] = {TL_FAULT_LIST(TLI_FEATURES_NAME)};
#undef TLI_FEATURES_NAME
    static const char *const groups[] = {"", "SchemaEvolution.", "Schema.", "SchemaEvolution.KeySchema.",
                                         "TableSchemaCompatibility."};
    tl_span group = tl_text((size_t)fault->group < TLI_COUNT(groups) ? groups[fault->group] : "");
    tl_span name = tl_text((size_t)fault->kind < TLI_COUNT(names) ? names[fault->kind] : "Other");
    TLI_COPY(out, group.data, group.size);
    TLI_COPY(out + group.size, name.data, name.size);
    out[group.size + name.size] = 0;
    return out;
}

/* Fills the fault, keeps its version. Answers the status. */
TLI_FN tl_status tli_features_fault(tl_fault *fault, tl_fault_kind kind, tl_status status, const char *text,
                                    uint64_t position)
{
    if (fault != NULL) {
        uint64_t version = fault->version;
        TLI_FILL(fault, 0, offsetof(tl_fault, about));
        fault->version = version;
        fault->kind = kind;
        (void)tli_err(&fault->error, status, text, position);
    }
    return status;
}

/* What other rooms say of memory, limits and misuse. */
TLI_FN tl_status tli_features_wrap(tl_fault *fault, const tl_error *err, tl_fault_kind kind)
{
    if (fault != NULL) {
        (void)tli_features_fault(fault, err->status < TL_CORRUPT ? TL_FAULT_OTHER : kind, err->status, err->text,
                                 err->position);
        fault->error.need = err->need;
    }
    return err->status;
}

/* One more name that the fault is about. Cut where it would be too long, between characters. */
TLI_FN void tli_features_about(tl_fault *fault, tl_span name)
{
    size_t used, n;
    if (fault == NULL)
        return;
    used = fault->about_size;
    if (used != 0 && used + 2 <= TL_FAULT_ABOUT) {
        TLI_COPY(fault->about + used, ", ", 2);
        used += 2;
    }
    n = TLI_MIN(name.size, TL_FAULT_ABOUT - used);
    while (n < name.size && n != 0 && ((uint8_t)name.data[n] & 0xc0) == 0x80)
        n--;
    if (n != 0)
        TLI_COPY(fault->about + used, name.data, n);
    fault->about_size = (uint32_t)(used + n);
}

/* ---- sets ---- */

TL_API const tl_client *tl_client_all(void)
{
    static const tl_span names[] = {{"schema_add_columns", 18}, {"schema_metadata", 15}};
    static const tl_client all = {{names, 2}, {names + 1, 1}};
    return &all;
}

TLI_INLINE int tli_features_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

TL_API int tl_feature_valid(tl_span name)
{
    size_t i;
    if (name.size == 0 || !tli_features_letter(name.data[0]))
        return 0;
    for (i = 1; i < name.size; i++)
        if (!tli_features_letter(name.data[i]) && !(name.data[i] >= '0' && name.data[i] <= '9') && name.data[i] != '_')
            return 0;
    return 1;
}

TL_API size_t tl_features_missing(const tl_features *needed, const tl_features *mine, size_t from)
{
    size_t k = 0;
    for (; from < needed->count; from++) {
        int order = 1;
        while (k < mine->count && (order = tl_span_compare(needed->names[from], mine->names[k])) > 0)
            k++;
        if (k == mine->count || order != 0)
            break;
    }
    return from;
}

/* Whether all of `needed` are among `mine`; names those that are not. */
TLI_FN tl_status tli_features_compare(const tl_features *needed, const tl_features *mine, tl_fault *fault,
                                      tl_fault_kind kind, tl_status status, const char *text)
{
    size_t i = tl_features_missing(needed, mine, 0);
    if (i == needed->count)
        return TL_OK;
    (void)tli_features_fault(fault, kind, status, text, TL_NO_POSITION);
    if (fault != NULL) /* as many as have room */
        while (i < needed->count && fault->about_size < TL_FAULT_ABOUT - 2) {
            tli_features_about(fault, needed->names[i]);
            i = tl_features_missing(needed, mine, i + 1);
        }
    return status;
}

TLI_FN int tli_features_order(const void *a, const void *b)
{
    return tl_span_compare(*(const tl_span *)a, *(const tl_span *)b);
}

TLI_FN void tli_features_sort(tl_span *names, size_t count)
{
    tli_sort(names, count, sizeof *names, tli_features_order);
}

/* ---- the text ---- */

/* The values of a header's members, as they stand in the text; data NULL: absent. */
typedef struct tli_features_raw {
    tl_span version, reader, writer;
    int object; /* the payload is one */
} tli_features_raw;

typedef struct tli_features_scan {
    tli_json_reader r;
    tl_error error; /* of the JSON */
    const uint8_t *text;
    const tl_client *client;
    tli_json_builder *tree; /* NULL: none is made */
    tl_protocol *p;
    tl_fault found; /* of the first header that is not good */
} tli_features_scan;

TLI_INLINE int tli_features_is(const tli_json_token *t, const char *name, size_t size)
{
    tl_span inner = tli_text_span(t->raw.data + 1, t->raw.size - 2), plain = tli_text_span(name, size);
    return TLI_UNLIKELY(t->flag) ? tli_json_compare(inner, plain) == 0 : tl_span_equal(inner, plain);
}

/* Whether the digits of a number give a double: less than 2^1024 - 2^970. `raw` has the grammar of JSON. */
TLI_NOINLINE int tli_features_fits(tl_span raw)
{
    static const char most[] = "1797693134862315807";
    size_t i = 0, before = 0, digits = 0;
    int64_t exponent = 0;
    int seen = 0, point = 0, below = 0, negative;
    i += raw.data[0] == '-';
    for (; i < raw.size && (raw.data[i] | 0x20) != 'e'; i++) {
        char c = raw.data[i];
        if (c == '.') {
            point = 1;
            continue;
        }
        seen |= c != '0';
        before += (size_t)(seen && !point);
        exponent -= !seen && point; /* zeros right behind the point */
        if (seen && digits < sizeof most - 1 && below == 0)
            below = c < most[digits] ? 1 : c > most[digits] ? -1 : 0;
        digits += (size_t)seen;
    }
    if (!seen)
        return 1; /* zero, whatever its exponent */
    exponent += (int64_t)before - 1;
    if (i < raw.size) {
        int64_t e = 0;
        negative = raw.data[i + 1] == '-';
        for (i += 1 + (size_t)(raw.data[i + 1] == '-' || raw.data[i + 1] == '+'); i < raw.size; i++)
            e = TLI_MIN(e * 10 + (raw.data[i] - '0'), (int64_t)1 << 40);
        exponent += negative ? -e : e;
    }
    return exponent < 308 || (exponent == 308 && (below > 0 || (below == 0 && digits < sizeof most)));
}

/* Numbers that no double holds are refused, as the reference does. */
TLI_INLINE int tli_features_number(tli_json *j, tl_span raw, int integer)
{
    if (TLI_UNLIKELY(raw.size > 300 || !integer) && !tli_features_fits(raw))
        return tli_json_fail(j, "json: a number that no double holds", (const uint8_t *)raw.data);
    return 1;
}

TLI_FN int tli_features_next(tli_features_scan *s, tli_json_token *t)
{
    tl_status st;
    if (!tli_json_token_next(&s->r, t)
        || (t->kind == TL_JSON_NUMBER && !tli_features_number(&s->r.j, t->raw, t->flag)))
        return 0;
    st = s->tree != NULL ? tli_json_add(s->tree, &s->r, t) : TL_OK;
    return st == TL_OK
           || tli_json_refuse(&s->r.j, st, st == TL_LIMIT ? "json: too many escapes" : "out of memory", s->r.j.p);
}

/* An element, or a member, of the array or object that is open, or its end: what two tokens say, checked as strictly,
   but nothing is kept of it. Of what is nested only the beginning. */
TLI_INLINE int tli_features_pass(tli_json_reader *r)
{
    tli_json *j = &r->j;
    int object = tli_json_in_object(r), flag;
    tl_span raw;
    tli_json_space(j);
    if (j->p < j->end && *j->p == (object ? '}' : ']')) {
        j->p++;
        r->depth--;
        r->want = TLI_JSON_WANT_MORE;
        return 1;
    }
    if (r->want == TLI_JSON_WANT_MORE) {
        if (!tli_json_take(j, ',', "json: a comma or a closing bracket is expected"))
            return 0;
        tli_json_space(j);
    }
    if (object) {
        if (j->p >= j->end || *j->p != '"')
            return tli_json_fail(j, "json: a key is expected", j->p);
        if (!tli_json_text(j, &raw, &flag) || !tli_json_take(j, ':', "json: a colon is expected"))
            return 0;
        tli_json_space(j);
    }
    if (j->p < j->end && *j->p == '"') {
        r->want = TLI_JSON_WANT_MORE;
        return tli_json_text(j, &raw, &flag);
    } else {
        tli_json_token t;
        return tli_json_value_token(r, &t) && (t.kind != TL_JSON_NUMBER || tli_features_number(j, t.raw, t.flag));
    }
}

/* The rest of the value that `t` began. */
TLI_FN int tli_features_rest(tli_features_scan *s, const tli_json_token *t)
{
    uint32_t depth = s->r.depth;
    tli_json_token next;
    if (t->kind != TL_JSON_ARRAY && t->kind != TL_JSON_OBJECT)
        return 1;
    while (s->r.depth >= depth)
        if (s->tree != NULL ? !tli_features_next(s, &next) : !tli_features_pass(&s->r))
            return 0;
    return 1;
}

/* A whole value and its raw text. */
TLI_FN int tli_features_value(tli_features_scan *s, tl_span *raw)
{
    tli_json_token t;
    const char *start;
    if (!tli_features_next(s, &t))
        return 0;
    start = t.raw.data;
    if (!tli_features_rest(s, &t))
        return 0;
    *raw = tli_text_span(start, (size_t)((const char *)s->r.j.p - start));
    return 1;
}

/* ---- headers ---- */

TLI_FN tl_status tli_features_bad(tli_features_scan *s, const char *text, tl_span at)
{
    return tli_features_fault(&s->found, TL_FAULT_COMMIT, TL_CORRUPT, text,
                              at.data == NULL ? TL_NO_POSITION : (uint64_t)((const uint8_t *)at.data - s->text));
}

/* Reads the list in `raw`, JSON that was checked. Once with names NULL to count them and their escaped bytes. */
TLI_FN tl_status tli_features_list(tli_features_scan *s, tl_span raw, tl_span *names, char *texts, size_t *count,
                                   size_t *escaped)
{
    tli_json j = tli_json_open(raw.data, raw.size, 0, NULL);
    tli_json_reader r;
    tli_json_token t;
    *count = *escaped = 0;
    tli_json_start(&r, &j, 2);
    if (raw.data[0] != '[')
        return tli_features_bad(s, "a list of features is expected", raw);
    (void)tli_json_token_next(&r, &t);
    while (tli_json_token_next(&r, &t) && t.kind != TLI_JSON_CLOSE_ARRAY) {
        tl_span inner = tli_text_span(t.raw.data + 1, t.raw.size - 2);
        if (t.kind != TL_JSON_STRING)
            return tli_features_bad(s, "the name of a feature is expected", t.raw);
        if (names != NULL && t.flag) {
            char *to = texts + *escaped;
            inner = tli_text_span(to, tli_json_unescape(to, inner));
        }
        if (names != NULL && !tl_feature_valid(inner))
            return tli_features_bad(s, "the name of a feature is [a-z][a-z0-9_]*", t.raw);
        if (names != NULL)
            names[*count] = inner;
        ++*count;
        *escaped += t.flag ? t.raw.size : 0;
    }
    return TL_OK;
}

/* The set in `raw`, in one block; of protocol `p` the list number `which`. */
TLI_FN tl_status tli_features_set(tli_features_scan *s, tl_span raw, tl_protocol *p, int which, tl_features *set)
{
    size_t count, escaped, bytes, i;
    tl_span *names;
    tl_status st;
    if (raw.data == NULL)
        return tli_features_bad(s, "a header without its lists of features", raw);
    st = tli_features_list(s, raw, NULL, NULL, &count, &escaped);
    if (st != TL_OK || count == 0)
        return st;
    bytes = count * sizeof *names + escaped; /* the text has more bytes than names */
    names = (tl_span *)(count > SIZE_MAX / 32 ? NULL : tli_mem_new(&p->allocator, bytes));
    if (names == NULL) {
        tl_error err;
        (void)tli_mem_failed(&p->allocator, &err);
        return tli_features_wrap(&s->found, &err, TL_FAULT_OTHER);
    }
    p->memory[which] = names;
    p->memory_size[which] = bytes;
    st = tli_features_list(s, raw, names, (char *)(names + count), &count, &escaped);
    if (st != TL_OK)
        return st;
    tli_features_sort(names, count);
    for (i = 1; i < count; i++)
        if (tl_span_equal(names[i - 1], names[i]))
            return tli_features_bad(s, "a feature is named twice", raw);
    set->names = names;
    set->count = count;
    return TL_OK;
}

TL_API void tl_protocol_free(tl_protocol *p)
{
    int i;
    if (p == NULL)
        return;
    for (i = 0; i < 2; i++)
        tli_mem_delete(&p->allocator, p->memory[i], p->memory_size[i]);
    TLI_FILL(p, 0, sizeof *p);
}

TLI_FN tl_status tli_features_decode(tli_features_scan *s, const tli_features_raw *raw, tl_protocol *p)
{
    tl_status st;
    if (!raw->object || raw->version.data == NULL)
        return tli_features_bad(s, "metadata without a protocol version", raw->version);
    if (!tli_number_parse_u64(raw->version.data, raw->version.size, &p->version))
        return tli_features_bad(s, "the protocol version is an integer", raw->version);
    st = tli_features_set(s, raw->reader, p, 0, &p->reader);
    return st == TL_OK ? tli_features_set(s, raw->writer, p, 1, &p->writer) : st;
}

/* Judges a header; the first one that is not good is kept. */
TLI_NOINLINE void tli_features_judge(tli_features_scan *s, const tli_features_raw *raw)
{
    tl_protocol p;
    tl_status st;
    if (s->found.kind != TL_FAULT_NONE)
        return;
    TLI_FILL(&p, 0, sizeof p);
    p.allocator = s->p->allocator;
    st = tli_features_decode(s, raw, &p);
    if (st == TL_OK)
        st = tl_protocol_may_read(&p, s->client, &s->found);
    if (st == TL_OK) {
        tl_protocol old = *s->p;
        *s->p = p;
        p = old;
    }
    tl_protocol_free(&p);
}

/* ---- where headers are ---- */

/* The members of a payload. */
TLI_FN int tli_features_payload(tli_features_scan *s, tli_features_raw *raw)
{
    tli_json_token t;
    TLI_FILL(raw, 0, sizeof *raw);
    if (!tli_features_next(s, &t))
        return 0;
    raw->object = t.kind == TL_JSON_OBJECT;
    if (!raw->object)
        return tli_features_rest(s, &t);
    for (;;) {
        tl_span ignored, *value = &ignored;
        if (!tli_features_next(s, &t))
            return 0;
        if (t.kind == TLI_JSON_CLOSE_OBJECT)
            return 1;
        if (tli_features_is(&t, "protocol_version", 16))
            value = &raw->version;
        else if (tli_features_is(&t, "required_reader_features", 24))
            value = &raw->reader;
        else if (tli_features_is(&t, "required_writer_features", 24))
            value = &raw->writer;
        if (!tli_features_value(s, value))
            return 0;
    }
}

/* An action: it has a header when it is an object of one member (however often) that is called UpdateTableMeta. */
TLI_FN int tli_features_action(tli_features_scan *s)
{
    tli_features_raw raw;
    tli_json_token t;
    int metadata = 0, other = 0;
    for (;;) {
        if (!tli_features_next(s, &t))
            return 0;
        if (t.kind == TLI_JSON_CLOSE_OBJECT)
            break;
        if (tli_features_is(&t, "UpdateTableMeta", 15)) {
            metadata = 1;
            if (!tli_features_payload(s, &raw))
                return 0;
        } else {
            tl_span ignored;
            other = 1;
            if (!tli_features_value(s, &ignored))
                return 0;
        }
    }
    if (metadata && !other)
        tli_features_judge(s, &raw);
    return 1;
}

/* The value of the member `actions`; what an earlier one of that name said is forgotten. */
TLI_FN int tli_features_actions(tli_features_scan *s)
{
    tl_allocator a = s->p->allocator;
    tli_json_token t;
    tl_protocol_free(s->p);
    s->p->allocator = a;
    s->found.kind = TL_FAULT_NONE;
    if (!tli_features_next(s, &t))
        return 0;
    if (t.kind != TL_JSON_ARRAY)
        return tli_features_rest(s, &t);
    for (;;) {
        if (!tli_features_next(s, &t))
            return 0;
        if (t.kind == TLI_JSON_CLOSE_ARRAY)
            return 1;
        if (t.kind == TL_JSON_OBJECT ? !tli_features_action(s) : !tli_features_rest(s, &t))
            return 0;
    }
}

TLI_FN int tli_features_document(tli_features_scan *s)
{
    tli_json_token t;
    if (!tli_features_next(s, &t))
        return 0;
    if (t.kind != TL_JSON_OBJECT)
        return tli_features_rest(s, &t) && tli_json_finish(&s->r.j);
    for (;;) {
        tl_span ignored;
        if (!tli_features_next(s, &t))
            return 0;
        if (t.kind == TLI_JSON_CLOSE_OBJECT)
            return tli_json_finish(&s->r.j);
        if (tli_features_is(&t, "actions", 7) ? !tli_features_actions(s) : !tli_features_value(s, &ignored))
            return 0;
    }
}

/* The inspection; on the way `tree`, which may be NULL, becomes that of the text. */
TLI_FN tl_status tli_features_inspect(tl_protocol *p, const void *commit, size_t size, const tl_client *client,
                                      const tl_allocator *allocator, tli_json_builder *tree, tl_fault *fault)
{
    tli_features_scan s;
    tli_json j = tli_json_open(commit, size, 0, &s.error);
    tl_status st = TL_OK;
    TLI_FILL(p, 0, sizeof *p);
    p->allocator = tli_mem_allocator(allocator);
    if ((commit == NULL && size != 0) || (size >> 16) >> 16 != 0)
        return tli_features_fault(fault, TL_FAULT_OTHER, commit == NULL ? TL_MISUSE : TL_LIMIT,
                                  "no commit, or one of 4 GiB", TL_NO_POSITION);
    tli_json_start(&s.r, &j, TLI_FEATURES_DEPTH);
    s.text = (const uint8_t *)commit;
    s.tree = tree;
    s.client = client != NULL ? client : tl_client_all();
    s.p = p;
    s.found.kind = TL_FAULT_NONE;
    s.found.version = fault != NULL ? fault->version : 0;
    if (!tli_features_document(&s)) {
        tl_fault_kind kind = TL_FAULT_COMMIT;
        if (tli_text_utf8(commit, size) != size)
            kind = TL_FAULT_IO; /* the reference takes other bytes for a failure of the store */
        st = s.error.status;
        (void)tli_features_fault(fault, st == TL_NO_MEMORY ? TL_FAULT_OTHER : kind, st, s.error.text, s.error.position);
    } else if (s.found.kind != TL_FAULT_NONE) {
        st = s.found.error.status;
        if (fault != NULL)
            *fault = s.found;
    }
    if (st != TL_OK)
        tl_protocol_free(p);
    return st;
}

TL_API tl_status tl_protocol_inspect(tl_protocol *p, const void *commit, size_t size, const tl_client *client,
                                     const tl_allocator *allocator, tl_fault *fault)
{
    return tli_features_inspect(p, commit, size, client, allocator, NULL, fault);
}

/* ---- verdicts ---- */

TL_API tl_status tl_protocol_may_read(const tl_protocol *p, const tl_client *client, tl_fault *fault)
{
    client = client != NULL ? client : tl_client_all();
    if (p->version != TL_PROTOCOL_VERSION) {
        (void)tli_features_fault(fault, TL_FAULT_VERSION, TL_UNSUPPORTED, "another protocol version than 7",
                                 TL_NO_POSITION);
        if (fault != NULL) {
            fault->expected = TL_PROTOCOL_VERSION;
            fault->found = p->version;
        }
        return TL_UNSUPPORTED;
    }
    return tli_features_compare(&p->reader, &client->reader, fault, TL_FAULT_READER, TL_UNSUPPORTED,
                                "the table needs reader features that this program has not");
}

TL_API tl_status tl_protocol_may_write(const tl_protocol *p, const tl_client *client, tl_fault *fault)
{
    tl_status st = tl_protocol_may_read(p, client, fault);
    client = client != NULL ? client : tl_client_all();
    return st != TL_OK ? st
                       : tli_features_compare(&p->writer, &client->writer, fault, TL_FAULT_WRITER, TL_UNSUPPORTED,
                                              "the table needs writer features that this program has not");
}

TL_API tl_status tl_protocol_follows(const tl_protocol *before, const tl_protocol *after, tl_fault *fault)
{
    tl_status st;
    if (after->version < before->version) {
        (void)tli_features_fault(fault, TL_FAULT_VERSION_DECREASED, TL_CORRUPT, "the protocol version went back",
                                 TL_NO_POSITION);
        if (fault != NULL) {
            fault->expected = before->version;
            fault->found = after->version;
        }
        return TL_CORRUPT;
    }
    st = tli_features_compare(&before->reader, &after->reader, fault, TL_FAULT_READER_REMOVED, TL_CORRUPT,
                              "a reader feature was removed");
    return st != TL_OK ? st
                       : tli_features_compare(&before->writer, &after->writer, fault, TL_FAULT_WRITER_REMOVED,
                                              TL_CORRUPT, "a writer feature was removed");
}
#endif /* TIMELAKE_NO_LOG */
