/* >>headjson: the `json` codec of the head. Format: the Timelake head, layout 1 (README, Sources), codec `json`.

   What this codec writes where the text form that Timelake writes would lose something, or could not be read back:
   decimals as strings; NaN, inf, -inf, -0.0 and numbers that readers round differently as strings; timestamps (nested
   ones too) and durations as integers; dates outside the years 0 to 9999 and times outside the day as integers; month
   intervals as an integer, day-time ones as [days, milliseconds], month-day-nano ones as [months, days, nanoseconds];
   maps whose keys are no text as [[key, value], ...]; dictionary columns as their values. It reads these, and every
   form that Timelake writes. A key that a map has twice stays twice; of other repeated keys the last counts.

   Reading takes two passes over the rows: decoding a head checks all its text and counts what each column takes,
   opening a section fills its arrays. Both walk the text by the nodes of the schema, so that the way back up is known
   without a stack. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- decoding ---- */

typedef struct tli_headjson_decoder {
    tli_json j;
    tl_document *document;
    tl_limits limits;
} tli_headjson_decoder;

/* Takes the text at the cursor; it lives as long as the document. */
TLI_FN int tli_headjson_keep(tli_headjson_decoder *d, const char *expected, tl_span *text)
{
    int escaped;
    char *copy;
    tli_json_space(&d->j);
    if (d->j.p >= d->j.end || *d->j.p != '"')
        return tli_json_fail(&d->j, expected, d->j.p);
    if (!tli_json_text(&d->j, text, &escaped))
        return 0;
    if (!escaped)
        return 1;
    copy = (char *)tli_mem_take(d->document->store, text->size, d->j.err);
    if (copy == NULL) {
        d->j.status = d->j.err->status;
        return 0;
    }
    text->size = tli_json_unescape(copy, *text);
    text->data = copy;
    return 1;
}

/* Steps over the members of an object, or the elements of an array: 1: one is at the cursor; 0: that was the end, which
   was taken, or a failure. */
TLI_FN int tli_headjson_next(tli_json *j, int *first, char close, const char *expected)
{
    tli_json_space(j);
    if (j->p < j->end && *j->p == (uint8_t)close) {
        j->p++;
        return 0;
    }
    if (!*first && !tli_json_take(j, ',', expected))
        return 0;
    tli_json_space(j);
    if (!*first && j->p < j->end && *j->p == (uint8_t)close)
        return tli_json_fail(j, close == '}' ? "json: a key is expected" : "json: a value is expected", j->p);
    *first = 0;
    return 1;
}

TLI_FN int tli_headjson_properties(tli_headjson_decoder *d)
{
    int first = 1;
    if (!tli_json_take(&d->j, '{', "head: properties have to be an object"))
        return 0;
    while (tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected")) {
        tl_span key, value;
        if (!tli_headjson_keep(d, "json: a key is expected", &key)
            || !tli_json_take(&d->j, ':', "json: a colon is expected")
            || !tli_headjson_keep(d, "head: the value of a property has to be text", &value))
            return 0;
        d->j.status = tli_doc_property(d->document, key, value, d->j.err);
        if (d->j.status != TL_OK)
            return 0;
    }
    return d->j.status == TL_OK;
}

/* The first pass over a section's rows, whose schema is known; the cursor is at the array. Where it fails a later key
   of the same name may have overruled the value, so it is made again and looks for those first. */
TLI_FN int tli_headjson_measure(tli_headjson_decoder *d, tli_jsonread_source *s, uint64_t *rows)
{
    tli_jsonread_walk w = tli_jsonrows_walk_of(s, TLI_JSONREAD_COUNT, d->j.err);
    int good = tli_jsonrows_rows(&w, d->limits.rows, rows);
    if (!good && w.j.status == TL_CORRUPT) {
        tli_jsonrows_recount(&w, 1);
        w = tli_jsonrows_walk_of(s, TLI_JSONREAD_COUNT, d->j.err);
        s->repeated = 1;
        good = tli_jsonrows_rows(&w, d->limits.rows, rows);
    }
    d->j.status = w.j.status;
    d->j.p = w.j.p;
    s->rows_size = (size_t)(d->j.p - s->body) - s->rows;
    return good;
}

/* What a section object said so far: where its schema and its rows are. */
typedef struct tli_headjson_parts_seen {
    tl_span name;
    struct ArrowSchema *schema;
    const uint8_t *rows;
    tli_jsonread_source *source;
    uint64_t count;
} tli_headjson_parts_seen;

TLI_FN int tli_headjson_section_schema(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    tli_store *store = d->document->store;
    tli_jsonread_source *s;
    const uint8_t *at;
    tli_json_space(&d->j);
    at = d->j.p;
    if (!tli_json_skip(&d->j, tli_jsontype_depth(&d->limits)))
        return 0;
    d->j.status = tli_jsontype_schema_of(store, tli_text_span(at, (size_t)(d->j.p - at)),
                                         d->j.position + (uint64_t)(at - d->j.begin), &d->limits, &seen->schema,
                                         d->j.err);
    if (d->j.status != TL_OK)
        return 0;
    s = (tli_jsonread_source *)tli_mem_take_zero(store, sizeof *s, d->j.err);
    if (s == NULL) {
        d->j.status = d->j.err->status;
        return 0;
    }
    s->source.open = tli_jsonrows_open;
    s->store = store;
    s->body = d->j.begin;
    s->size = (size_t)(d->j.end - d->j.begin);
    s->position = d->j.position;
    s->depth = tli_jsontype_depth(&d->limits);
    seen->source = s;
    d->j.status = tli_jsontype_nodes(store, seen->schema, &d->limits, &s->tree, d->j.err);
    return d->j.status == TL_OK;
}

/* Rows whose schema is known are counted at once, others are checked and counted when it is. */
TLI_FN int tli_headjson_section_rows(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    tli_json_space(&d->j);
    seen->rows = d->j.p;
    if (seen->source == NULL)
        return tli_json_skip(&d->j, 256);
    seen->source->rows = (size_t)(seen->rows - d->j.begin);
    return tli_headjson_measure(d, seen->source, &seen->count);
}

TLI_FN int tli_headjson_section_member(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    const uint8_t *at = d->j.p;
    int twice = 0;
    tl_span key;
    if (!tli_headjson_keep(d, "json: a key is expected", &key)
        || !tli_json_take(&d->j, ':', "json: a colon is expected"))
        return 0;
    if (tli_text_is(key, "name"))
        return (twice = seen->name.data != NULL) ? tli_json_fail(&d->j, "head: a section has two names", at)
            : tli_headjson_keep(d, "head: the name of a section has to be text", &seen->name);
    if (tli_text_is(key, "schema"))
        return seen->schema != NULL ? tli_json_fail(&d->j, "head: a section has two schemas", at)
            : tli_headjson_section_schema(d, seen);
    if (tli_text_is(key, "rows"))
        return seen->rows != NULL ? tli_json_fail(&d->j, "head: a section has rows twice", at)
            : tli_headjson_section_rows(d, seen);
    return tli_json_skip(&d->j, tli_jsontype_depth(&d->limits));
}

TLI_FN int tli_headjson_section(tli_headjson_decoder *d)
{
    const uint8_t *at = d->j.p;
    tli_headjson_parts_seen seen;
    tl_section *section = NULL;
    int first = 1, late;
    TLI_FILL(&seen, 0, sizeof seen);
    if (!tli_json_take(&d->j, '{', "head: a section has to be an object"))
        return 0;
    while (tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected"))
        if (!tli_headjson_section_member(d, &seen))
            return 0;
    if (d->j.status != TL_OK)
        return 0;
    if (seen.name.data == NULL || seen.schema == NULL || seen.rows == NULL)
        return tli_json_fail(&d->j, "head: a section without name, schema or rows", at);
    late = seen.source->rows == 0;
    if (late) {
        const uint8_t *end = d->j.p;
        d->j.p = seen.rows;
        if (!tli_headjson_section_rows(d, &seen))
            return 0;
        d->j.p = end;
    }
    d->j.status = tli_doc_section(d->document, seen.name, seen.schema, 1, &seen.source->source, &section, d->j.err);
    if (d->j.status != TL_OK)
        return 0;
    section->rows = section->batches[0].rows = (int64_t)seen.count;
    return 1;
}

TLI_FN int tli_headjson_sections(tli_headjson_decoder *d)
{
    int first = 1;
    uint32_t n = 0;
    if (!tli_json_take(&d->j, '[', "head: sections have to be an array"))
        return 0;
    while (tli_headjson_next(&d->j, &first, ']', "json: a comma or ] is expected")) {
        if (++n > d->limits.sections)
            return tli_json_refuse(&d->j, TL_LIMIT, "limits.sections", d->j.p);
        if (!tli_headjson_section(d))
            return 0;
    }
    return d->j.status == TL_OK;
}

TLI_FN int tli_headjson_document(tli_headjson_decoder *d)
{
    const uint8_t *properties = NULL, *sections = NULL;
    int first = 1, good = 1;
    if (!tli_json_take(&d->j, '{', "head: a document has to be an object"))
        return 0;
    while (good && tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected")) {
        const uint8_t *at = d->j.p;
        tl_span key;
        if (!tli_headjson_keep(d, "json: a key is expected", &key)
            || !tli_json_take(&d->j, ':', "json: a colon is expected"))
            return 0;
        if (tli_text_is(key, "properties")) {
            good = properties != NULL ? tli_json_fail(&d->j, "head: properties twice", at) : tli_headjson_properties(d);
            properties = at;
        } else if (tli_text_is(key, "sections")) {
            good = sections != NULL ? tli_json_fail(&d->j, "head: sections twice", at) : tli_headjson_sections(d);
            sections = at;
        } else {
            good = tli_json_skip(&d->j, tli_jsontype_depth(&d->limits));
        }
    }
    if (!good || d->j.status != TL_OK || !tli_json_finish(&d->j))
        return 0;
    return properties != NULL && sections != NULL ? 1
        : tli_json_fail(&d->j, "head: a document without properties or sections", d->j.begin);
}

/* Decodes a body, which has to stay as it is as long as the document; `position`: where it lies in the object. */
TLI_FN tl_status tli_headjson_decode(tl_document *document, const void *body, size_t size, uint64_t position,
                                     const tl_limits *limits, tl_error *err)
{
    tli_headjson_decoder d;
    tl_error own;
    TLI_FILL(&d, 0, sizeof d);
    d.j = tli_json_open(body, size, position, err != NULL ? err : &own);
    d.document = document;
    d.limits = tl_limits_resolve(limits);
    return tli_headjson_document(&d) ? TL_OK : d.j.status;
}

/* ---- encoding ---- */

/* Appends the document to `out`; closed columns are opened. On failure `out` is as it was. */
TLI_FN tl_status tli_headjson_encode(tl_buffer *out, tl_document *document, tl_error *err)
{
    tli_jsonemit_writer w;
    tl_error own;
    size_t before = out->size;
    TLI_FILL(&w, 0, sizeof w);
    w.out = out;
    w.err = err != NULL ? err : &own;
    if (!tli_jsonemit_write_document(&w, document)) {
        out->size = before;
        return w.status;
    }
    out->size = (size_t)(w.p - (char *)out->data);
    return TL_OK;
}

#endif /* TIMELAKE_NO_HEAD_JSON */
