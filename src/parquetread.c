/* >>parquetread: the rows of small Parquet files, such as index files. Flat columns; pages of both versions, plain or
   with dictionaries; stored, Snappy, zstd. What else there is in the format is refused. A value is where it lies in its
   page until all pages of all columns are read; then arrays are made. Source: apache/parquet-format. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

enum { TLI_PARQUETREAD_STORED, TLI_PARQUETREAD_SNAPPY, TLI_PARQUETREAD_ZSTD = 6 };
enum { TLI_PARQUETREAD_PLAIN, TLI_PARQUETREAD_OLD_DICTIONARY = 2, TLI_PARQUETREAD_RLE, TLI_PARQUETREAD_DICTIONARY = 8 };

#define TLI_PARQUETREAD_SIZE "a page of a Parquet file has another size than it says"
#define TLI_PARQUETREAD_SPARE ((int64_t)64 << 20) /* bytes of a file that may compress to nothing */

typedef struct tli_parquetread {
    tli_store *store, *scratch;
    const uint8_t *bytes;
    size_t size; /* of the file, without its footer */
    uint64_t unread; /* bytes that no column has claimed: each is read once */
    int64_t spare;
    const tl_compression *compression;
    tli_thrift t;
    tli_parquet_element *columns;
    tl_span **cells; /* of each column: data NULL: null */
    uint32_t count;
    uint64_t rows, done; /* of the file, and in the row groups before the one at hand */
    tl_error *err;
} tli_parquetread;

TLI_FN tl_status tli_parquetread_bad(tli_parquetread *r, const char *text)
{
    return tli_err(r->err, TL_CORRUPT, text, TL_NO_POSITION);
}

TLI_FN tl_status tli_parquetread_cannot(tli_parquetread *r, const char *text)
{
    return tli_err(r->err, TL_UNSUPPORTED, text, TL_NO_POSITION);
}

/* ---- runs: levels, and indices of dictionaries ---- */

typedef struct tli_parquetread_runs {
    const uint8_t *at, *end;
    uint32_t width;      /* bits, at most 32 */
    uint64_t left;       /* values of the run at hand */
    const uint8_t *bits; /* it is packed; NULL: it is one value again and again */
    uint64_t bit;
    uint32_t value;
} tli_parquetread_runs;

TLI_FN tli_parquetread_runs tli_parquetread_begin(const uint8_t *at, const uint8_t *end, uint32_t width)
{
    tli_parquetread_runs r;
    TLI_FILL(&r, 0, sizeof r);
    r.at = at;
    r.end = end;
    r.width = width;
    return r;
}

/* The next run that has values. 0: there is none. */
TLI_FN int tli_parquetread_run(tli_parquetread_runs *r)
{
    tli_thrift t;
    uint64_t head, bytes;
    uint32_t i;
    t.at = r->at;
    t.end = r->end;
    t.bad = NULL;
    head = tli_thrift_varint(&t);
    r->at = t.at;
    bytes = head & 1 ? (head >> 1) * r->width : (uint64_t)((r->width + 7) / 8);
    if (t.bad != NULL || head >> 32 != 0 || bytes > (uint64_t)(r->end - r->at))
        return 0;
    r->left = head & 1 ? (head >> 1) * 8 : head >> 1;
    r->bits = head & 1 ? r->at : NULL;
    r->bit = 0;
    r->value = 0;
    for (i = 0; (head & 1) == 0 && i < bytes; i++)
        r->value |= (uint32_t)r->at[i] << (8 * i);
    r->at += bytes;
    return 1;
}

/* The next value. 0: there is none. */
TLI_FN int tli_parquetread_next(tli_parquetread_runs *r, uint32_t *value)
{
    uint32_t i;
    while (r->left == 0)
        if (!tli_parquetread_run(r))
            return 0;
    r->left--;
    *value = r->value;
    if (r->bits == NULL)
        return 1;
    *value = 0;
    for (i = 0; i < r->width; i++, r->bit++)
        *value |= (uint32_t)tli_bits_get(r->bits, r->bit) << i;
    return 1;
}

/* ---- pages ---- */

typedef struct tli_parquetread_page {
    int64_t type, plain, stored, values, encoding, levels, repeats;
    uint8_t second, packed; /* a data page of version 2; its values are compressed */
} tli_parquetread_page;

typedef struct tli_parquetread_chunk {
    int64_t codec, values, data, dictionary, size;
    tl_span *entries; /* of the dictionary */
    uint32_t entry_count;
} tli_parquetread_chunk;

/* The header of a data page of either version, or of a dictionary. */
TLI_FN void tli_parquetread_inner(tli_thrift *t, tli_parquetread_page *p, int second)
{
    tli_thrift_field f = tli_parquet_first();
    p->second = (uint8_t)second;
    while (tli_thrift_next(t, &f)) {
        if (f.id == 1)
            p->values = tli_thrift_int(t, &f, -1);
        else if (f.id == (second ? 4 : 2))
            p->encoding = tli_thrift_int(t, &f, -1);
        else if (second && f.id == 5)
            p->levels = tli_thrift_int(t, &f, -1);
        else if (second && f.id == 6)
            p->repeats = tli_thrift_int(t, &f, -1);
        else if (second && f.id == 7) {
            p->packed = (uint8_t)(f.type == TLI_THRIFT_TRUE);
            tli_thrift_skip(t, f.type);
        } else
            tli_thrift_skip(t, f.type);
    }
}

TLI_FN tl_status tli_parquetread_header(tli_parquetread *r, tli_thrift *t, tli_parquetread_page *p)
{
    tli_thrift_field f = tli_parquet_first();
    TLI_FILL(p, 0, sizeof *p);
    p->packed = 1;
    p->values = p->encoding = p->type = -1;
    while (tli_thrift_next(t, &f)) {
        if (f.id >= 1 && f.id <= 3) {
            int64_t v = tli_thrift_int(t, &f, -1);
            *(f.id == 1 ? &p->type : f.id == 2 ? &p->plain : &p->stored) = v;
        } else if ((f.id == 5 || f.id == 7 || f.id == 8) && f.type == TLI_THRIFT_STRUCT) {
            tli_parquetread_inner(t, p, f.id == 8);
        } else {
            tli_thrift_skip(t, f.type);
        }
    }
    if (t->bad != NULL || p->plain < 0 || p->stored < 0 || (uint64_t)p->stored > tli_thrift_left(t)
        || p->plain > INT32_MAX || p->values < 0 || p->levels < 0 || p->repeats != 0
        || p->levels > TLI_MIN(p->plain, p->stored))
        return tli_parquetread_bad(r, "a page of a Parquet file is malformed");
    r->spare -= p->plain > p->stored * 1024 ? p->plain - p->stored * 1024 : 0;
    if (r->spare < 0)
        return tli_err(r->err, TL_LIMIT, "a page of a Parquet file is too large", TL_NO_POSITION);
    return TL_OK;
}

/* The plain bytes of a part of a page. */
TLI_FN tl_status tli_parquetread_unpack(tli_parquetread *r, int64_t codec, const uint8_t *from, size_t stored,
                                        size_t plain, const uint8_t **out)
{
    uint8_t *to;
    size_t got = 0;
    tl_status st = TL_OK;
    *out = from;
    if (codec == TLI_PARQUETREAD_STORED)
        return stored == plain ? TL_OK : tli_parquetread_bad(r, TLI_PARQUETREAD_SIZE);
    to = (uint8_t *)tli_mem_take(r->scratch, plain, r->err);
    *out = to;
    if (to == NULL)
        return r->err->status;
    if (codec == TLI_PARQUETREAD_SNAPPY) {
        tl_buffer b;
        TLI_FILL(&b, 0, sizeof b);
        b.allocator = r->scratch->allocator;
        st = tli_snappy_decode(&b, plain, from, stored, r->err);
        got = b.size;
        if (st == TL_OK && got == plain && plain != 0)
            TLI_COPY(to, b.data, plain);
        tl_buffer_free(&b);
    } else if (r->compression->decompress != NULL && plain != 0) {
        st = r->compression->decompress(r->compression->context, to, plain, from, stored);
        got = plain;
        if (st != TL_OK)
            return tli_err(r->err, st, "a page of a Parquet file does not decompress", TL_NO_POSITION);
    } else {
#ifdef TIMELAKE_NO_HEAD_ARROW
        return tli_parquetread_cannot(r, "zstd was left out");
#else
        st = tl_zstd_decompress(to, plain, &got, from, stored, &r->scratch->allocator, r->err);
#endif
    }
    return st == TL_OK && got != plain ? tli_parquetread_bad(r, TLI_PARQUETREAD_SIZE) : st;
}

/* Bytes of a value of fixed size; 0: it is none. */
TLI_FN size_t tli_parquetread_width(const tli_parquet_element *e)
{
    static const uint8_t widths[] = {0, 4, 8, 12, 4, 8, 0};
    return e->type == TLI_PARQUET_FIXED ? (size_t)e->length : widths[e->type];
}

/* The next plain value, which is not a boolean. 0: there is none. */
TLI_FN int tli_parquetread_plain(const tli_parquet_element *e, const uint8_t **at, const uint8_t *end, tl_span *value)
{
    size_t size = tli_parquetread_width(e), left = (size_t)(end - *at);
    if (e->type == TLI_PARQUET_BYTES) {
        if (left < 4)
            return 0;
        size = tli_bits_le32(*at);
        *at += 4;
        left -= 4;
    }
    if (size > left)
        return 0;
    *value = tli_text_span(*at, size);
    *at += size;
    return 1;
}

TLI_FN tl_status tli_parquetread_entries(tli_parquetread *r, const tli_parquet_element *e,
                                         tli_parquetread_chunk *c, const tli_parquetread_page *p, const uint8_t *at)
{
    const uint8_t *bytes;
    int64_t i;
    tl_status st = tli_parquetread_unpack(r, c->codec, at, (size_t)p->stored, (size_t)p->plain, &bytes);
    const uint8_t *end = bytes + p->plain;
    if (st != TL_OK)
        return st;
    if (c->entries != NULL || e->type == TLI_PARQUET_BOOLEAN || p->values > p->plain)
        return tli_parquetread_bad(r, "a dictionary of a Parquet file is malformed");
    c->entries = (tl_span *)tli_mem_take_array(r->scratch, (uint64_t)p->values + 1, sizeof *c->entries, r->err);
    if (c->entries == NULL)
        return r->err->status;
    for (i = 0; i < p->values; i++)
        if (!tli_parquetread_plain(e, &bytes, end, &c->entries[i]))
            return tli_parquetread_bad(r, "a dictionary of a Parquet file is cut");
    c->entry_count = (uint32_t)p->values;
    return TL_OK;
}

/* Values of a page: where they are, and how they are written. */
typedef struct tli_parquetread_values {
    const uint8_t *at, *end;
    tli_parquetread_runs runs;
    uint64_t bit;
    int64_t encoding;
} tli_parquetread_values;

/* The next value. 0: there is none. */
TLI_FN int tli_parquetread_value(const tli_parquet_element *e, const tli_parquetread_chunk *c,
                                 tli_parquetread_values *v, tl_span *value)
{
    static const uint8_t bits[2] = {0, 1};
    uint32_t i = 0;
    if (v->encoding == TLI_PARQUETREAD_PLAIN && e->type != TLI_PARQUET_BOOLEAN)
        return tli_parquetread_plain(e, &v->at, v->end, value);
    if (v->encoding == TLI_PARQUETREAD_PLAIN) {
        if (v->bit / 8 >= (uint64_t)(v->end - v->at))
            return 0;
        i = (uint32_t)tli_bits_get(v->at, v->bit++);
    } else if (!tli_parquetread_next(&v->runs, &i)) {
        return 0;
    }
    if (e->type != TLI_PARQUET_BOOLEAN && i >= c->entry_count)
        return 0;
    *value = e->type == TLI_PARQUET_BOOLEAN ? tli_text_span(&bits[i & 1], 1) : c->entries[i];
    return 1;
}

/* Where a page's values begin, and in what form. */
TLI_FN tl_status tli_parquetread_open(tli_parquetread *r, const tli_parquet_element *e, tli_parquetread_values *v)
{
    int dictionary = v->encoding == TLI_PARQUETREAD_DICTIONARY || v->encoding == TLI_PARQUETREAD_OLD_DICTIONARY;
    uint32_t width = 1;
    if (v->encoding == TLI_PARQUETREAD_PLAIN)
        return TL_OK;
    if (dictionary == (e->type == TLI_PARQUET_BOOLEAN) || (!dictionary && v->encoding != TLI_PARQUETREAD_RLE))
        return tli_parquetread_cannot(r, "a page of a Parquet file in an encoding that is not read");
    if (v->end - v->at < (dictionary ? 1 : 4))
        return v->at == v->end ? TL_OK : tli_parquetread_bad(r, "a page of a Parquet file is cut");
    width = dictionary ? *v->at : 1;
    v->at += dictionary ? 1 : 4;
    if (width > 32)
        return tli_parquetread_bad(r, "a page of a Parquet file is malformed");
    v->runs = tli_parquetread_begin(v->at, v->end, width);
    return TL_OK;
}

/* The values of a data page go to `cells`. */
TLI_FN tl_status tli_parquetread_data(tli_parquetread *r, const tli_parquet_element *e,
                                      const tli_parquetread_chunk *c, const tli_parquetread_page *p, const uint8_t *at,
                                      tl_span *cells)
{
    int optional = e->repetition == TLI_PARQUET_OPTIONAL;
    size_t before = p->second ? (size_t)p->levels : 0;
    tli_parquetread_runs levels;
    tli_parquetread_values v;
    uint32_t there = 1;
    int64_t i;
    tl_status st;
    TLI_FILL(&v, 0, sizeof v);
    v.encoding = p->encoding;
    st = tli_parquetread_unpack(r, p->packed ? c->codec : (int64_t)TLI_PARQUETREAD_STORED, at + before,
                                (size_t)p->stored - before, (size_t)p->plain - before, &v.at);
    if (st != TL_OK)
        return st;
    v.end = v.at + ((size_t)p->plain - before);
    levels = tli_parquetread_begin(at, at + before, 1);
    if (optional && !p->second) {
        if (v.end - v.at < 4 || tli_bits_le32(v.at) > (uint64_t)(v.end - v.at) - 4)
            return tli_parquetread_bad(r, "the levels of a page of a Parquet file are cut");
        levels = tli_parquetread_begin(v.at + 4, v.at + 4 + tli_bits_le32(v.at), 1);
        v.at = levels.end;
    }
    st = tli_parquetread_open(r, e, &v);
    for (i = 0; i < p->values && st == TL_OK; i++) {
        if (optional && !tli_parquetread_next(&levels, &there))
            return tli_parquetread_bad(r, "the levels of a page of a Parquet file are cut");
        if (there != 0 && !tli_parquetread_value(e, c, &v, &cells[i]))
            return tli_parquetread_bad(r, "the values of a page of a Parquet file are cut");
    }
    return st;
}

/* ---- columns ---- */

/* The pages of one column of a row group of `rows`. */
TLI_FN tl_status tli_parquetread_pages(tli_parquetread *r, uint32_t column, tli_parquetread_chunk *c, uint64_t rows)
{
    const tli_parquet_element *e = &r->columns[column];
    int64_t first = c->dictionary > 0 ? TLI_MIN(c->dictionary, c->data) : c->data;
    uint64_t done = 0;
    tli_parquetread_page p;
    tli_thrift t;
    tl_status st = TL_OK;
    if (c->codec != TLI_PARQUETREAD_STORED && c->codec != TLI_PARQUETREAD_SNAPPY && c->codec != TLI_PARQUETREAD_ZSTD)
        return tli_parquetread_cannot(r, "a Parquet file in a compression that is not read");
    if (first < 4 || c->size < 0 || (uint64_t)first > r->size || (uint64_t)c->size > r->size - (uint64_t)first)
        return tli_parquetread_bad(r, "a column of a Parquet file lies outside of it");
    if ((uint64_t)c->size > r->unread)
        return tli_parquetread_bad(r, "columns of a Parquet file lie over one another");
    r->unread -= (uint64_t)c->size;
    t.at = r->bytes + first;
    t.end = t.at + c->size;
    t.bad = NULL;
    while (st == TL_OK && done < rows) {
        st = tli_parquetread_header(r, &t, &p);
        if (st != TL_OK)
            break;
        if (p.type == 2) {
            st = tli_parquetread_entries(r, e, c, &p, t.at);
        } else if (p.type == 0 || p.type == 3) {
            if ((uint64_t)p.values > rows - done)
                return tli_parquetread_bad(r, "a column of a Parquet file has more values than rows");
            st = tli_parquetread_data(r, e, c, &p, t.at, r->cells[column] + r->done + done);
            done += (uint64_t)p.values;
        }
        t.at += p.stored;
    }
    return st;
}

/* What a row group says of a column. */
TLI_FN void tli_parquetread_meta(tli_thrift *t, tli_parquetread_chunk *c)
{
    tli_thrift_field f = tli_parquet_first();
    while (tli_thrift_next(t, &f)) {
        int64_t *to = f.id == 4 ? &c->codec : f.id == 5 ? &c->values : f.id == 7 ? &c->size : f.id == 9 ? &c->data
            : f.id == 11 ? &c->dictionary : NULL;
        if (to != NULL)
            *to = tli_thrift_int(t, &f, -1);
        else
            tli_thrift_skip(t, f.type);
    }
}

/* One row group: where its columns are, how many rows. */
TLI_FN tl_status tli_parquetread_group(tli_parquetread *r, tli_parquetread_chunk *chunks)
{
    tli_thrift *t = &r->t;
    tli_thrift_field f = tli_parquet_first(), g;
    uint32_t count = 0, i;
    int64_t rows = -1;
    uint8_t type;
    tl_status st = TL_OK;
    TLI_FILL(chunks, 0, r->count * sizeof *chunks);
    while (tli_thrift_next(t, &f)) {
        if (f.id == 3) {
            rows = tli_thrift_int(t, &f, -1);
        } else if (f.id == 1 && f.type == TLI_THRIFT_LIST) {
            count = tli_thrift_list(t, &type);
            if (type != TLI_THRIFT_STRUCT || count != r->count)
                return tli_parquetread_bad(r, "a row group of a Parquet file has other columns than its schema");
            for (i = 0; i < count; i++)
                for (g = tli_parquet_first(); tli_thrift_next(t, &g);) {
                    if (g.id == 3 && g.type == TLI_THRIFT_STRUCT)
                        tli_parquetread_meta(t, &chunks[i]);
                    else
                        tli_thrift_skip(t, g.type);
                }
        } else {
            tli_thrift_skip(t, f.type);
        }
    }
    if (t->bad != NULL || rows < 0 || (uint64_t)rows > r->rows - r->done || (rows != 0 && count != r->count))
        return tli_parquetread_bad(r, "a row group of a Parquet file is malformed");
    for (i = 0; i < r->count && st == TL_OK; i++)
        st = tli_parquetread_pages(r, i, &chunks[i], (uint64_t)rows);
    r->done += (uint64_t)rows;
    return st;
}

TLI_FN tl_status tli_parquetread_groups(tli_parquetread *r)
{
    tli_parquetread_chunk *chunks = (tli_parquetread_chunk *)tli_mem_take_array(r->scratch, (uint64_t)r->count + 1,
                                                                                sizeof *chunks, r->err);
    uint8_t type;
    uint32_t i, n;
    tl_status st = chunks == NULL ? r->err->status : TL_OK;
    r->cells = (tl_span **)tli_mem_take_array(r->scratch, (uint64_t)r->count + 1, sizeof *r->cells, r->err);
    if (r->cells == NULL)
        return r->err->status;
    if (r->rows / 64 > r->size)
        return tli_err(r->err, TL_LIMIT, "a Parquet file of more rows than its bytes are for", TL_NO_POSITION);
    for (i = 0; i < r->count && st == TL_OK; i++) {
        r->cells[i] = (tl_span *)tli_mem_take_array(r->scratch, r->rows + 1, sizeof **r->cells, r->err);
        st = r->cells[i] == NULL ? r->err->status : TL_OK;
    }
    n = st == TL_OK ? tli_thrift_list(&r->t, &type) : 0;
    for (i = 0; i < n && st == TL_OK; i++)
        st = type == TLI_THRIFT_STRUCT ? tli_parquetread_group(r, chunks)
                                       : tli_parquetread_bad(r, "row groups of a Parquet file are malformed");
    return st == TL_OK && r->done != r->rows ? tli_parquetread_bad(r, "a Parquet file has fewer rows than it says")
                                             : st;
}

/* ---- the schema ---- */

/* The Arrow type of a column. 0: it has none. */
TLI_FN int tli_parquetread_type(const tli_parquet_element *e, tl_type *type)
{
    static const uint8_t ids[] = {TL_TYPE_BOOL, TL_TYPE_INT32, TL_TYPE_INT64, 0, TL_TYPE_FLOAT32, TL_TYPE_FLOAT64,
                                  TL_TYPE_LARGE_BINARY, TL_TYPE_FIXED_BINARY};
    TLI_FILL(type, 0, sizeof *type);
    type->id = (tl_type_id)ids[e->type];
    type->size = e->type == TLI_PARQUET_FIXED ? e->length : 0;
    type->unit = (tl_unit)(e->unit > 0 ? e->unit : 0); /* seconds have no number there */
    if (e->meaning == TLI_PARQUET_TEXT)
        type->id = TL_TYPE_LARGE_UTF8;
    else if (e->meaning == TLI_PARQUET_DATE)
        type->id = TL_TYPE_DATE32;
    else if (e->meaning == TLI_PARQUET_TIME)
        type->id = e->type == TLI_PARQUET_INT32 ? TL_TYPE_TIME32 : TL_TYPE_TIME64;
    else if (e->meaning == TLI_PARQUET_STAMP)
        type->id = TL_TYPE_TIMESTAMP;
    else if (e->meaning == TLI_PARQUET_INTEGER && !e->is_signed)
        type->id = e->type == TLI_PARQUET_INT32 ? TL_TYPE_UINT32 : TL_TYPE_UINT64;
    if (e->meaning == TLI_PARQUET_STAMP && e->utc)
        type->zone = tl_text("UTC");
    if (e->meaning == TLI_PARQUET_DECIMAL) {
        type->id = TL_TYPE_DECIMAL128;
        type->width = 16;
        type->precision = e->precision;
        type->scale = e->scale;
    }
    return ids[e->type] != 0 && (e->type != TLI_PARQUET_FIXED || e->meaning != TLI_PARQUET_DECIMAL || e->length <= 16)
           && (e->type != TLI_PARQUET_BYTES || e->meaning != TLI_PARQUET_DECIMAL);
}

/* Is what an element means possible of its physical type? */
TLI_FN int tli_parquetread_sound(const tli_parquet_element *e)
{
    int small = e->type == TLI_PARQUET_INT32, wide = e->type == TLI_PARQUET_INT64;
    switch (e->meaning) {
    case TLI_PARQUET_PLAIN: case TLI_PARQUET_OTHER:
        return 1;
    case TLI_PARQUET_TEXT:
        return e->type == TLI_PARQUET_BYTES;
    case TLI_PARQUET_DATE:
        return small;
    case TLI_PARQUET_TIME:
        return small ? e->unit == TLI_PARQUET_MILLIS : wide && e->unit > TLI_PARQUET_MILLIS;
    case TLI_PARQUET_STAMP:
        return wide && e->unit != 0;
    case TLI_PARQUET_INTEGER:
        return small || wide;
    case TLI_PARQUET_UUID:
        return e->type == TLI_PARQUET_FIXED;
    default:
        return small || wide || e->type == TLI_PARQUET_FIXED;
    }
}

TLI_FN tl_status tli_parquetread_column(tli_parquetread *r, struct ArrowSchema *root, uint32_t i)
{
    const tli_parquet_element *e = &r->columns[i];
    tl_span key = tl_text(TLI_SCHEMA_FIELD_ID), id;
    char digits[24];
    const char *format;
    tl_type type;
    tl_status st;
    if (e->type < 0 || e->repetition == TLI_PARQUET_REPEATED)
        return tli_parquetread_cannot(r, "a Parquet file of nested columns");
    if (e->name.data == NULL || e->type > TLI_PARQUET_FIXED || (e->type == TLI_PARQUET_FIXED && e->length <= 0)
        || e->children != 0 || !tli_parquetread_sound(e))
        return tli_parquetread_bad(r, "a column of a Parquet file is malformed");
    if (!tli_parquetread_type(e, &type))
        return tli_parquetread_cannot(r, "a Parquet file with a column of a type that is not read");
    st = tli_arrow_format(r->store, &type, &format, r->err);
    if (st != TL_OK)
        return st;
    root->children[i] = tli_arrow_schema_new(r->store, format, e->name,
                                             e->repetition == TLI_PARQUET_OPTIONAL ? ARROW_FLAG_NULLABLE : 0, 0,
                                             r->err);
    if (root->children[i] == NULL)
        return r->err->status;
    id = tli_text_span(digits, tli_number_i64(digits, e->id));
    return e->has_id ? tli_arrow_schema_metadata(r->store, root->children[i], &key, &id, 1, r->err) : TL_OK;
}

TLI_FN tl_status tli_parquetread_schema(tli_parquetread *r, const tl_limits *limits, struct ArrowSchema **out)
{
    uint8_t type;
    uint32_t i, count = tli_thrift_list(&r->t, &type);
    tli_parquet_element root;
    struct ArrowSchema *s;
    tl_status st = TL_OK;
    if (type != TLI_THRIFT_STRUCT || count < 2 || r->columns != NULL)
        return tli_parquetread_bad(r, "a Parquet file without a schema");
    if (count > limits->columns)
        return tli_err(r->err, TL_LIMIT, "limits.columns", TL_NO_POSITION);
    tli_parquet_read_element(&r->t, &root);
    r->count = count - 1;
    r->columns = (tli_parquet_element *)tli_mem_take_array(r->scratch, r->count, sizeof *r->columns, r->err);
    *out = s = tli_arrow_schema_new(r->store, "+s", tl_text(""), 0, (int64_t)r->count, r->err);
    if (r->columns == NULL || s == NULL)
        return r->err->status;
    for (i = 0; i < r->count && st == TL_OK; i++) {
        tli_parquet_read_element(&r->t, &r->columns[i]);
        st = r->t.bad != NULL ? tli_parquetread_bad(r, r->t.bad) : tli_parquetread_column(r, s, i);
    }
    return st;
}

/* ---- arrays ---- */

/* A value in memory's byte order; decimals become 16 bytes. */
TLI_FN void tli_parquetread_put(tli_build_node *n, const tli_parquet_element *e, tl_span v)
{
    uint8_t wide[16];
    size_t i;
    if (n->type.id == TL_TYPE_BOOL) {
        tli_build_bool(n, v.data[0]);
    } else if (tli_arrow_offset_width(n->layout) != 0) {
        tli_build_bytes(n, v.data, v.size);
    } else if (n->type.id == TL_TYPE_FIXED_BINARY) {
        tli_build_fixed(n, v.data);
    } else if (n->type.id == TL_TYPE_DECIMAL128 && e->type == TLI_PARQUET_FIXED) {
        TLI_FILL(wide, (uint8_t)v.data[0] & 0x80 ? 0xff : 0, sizeof wide);
        for (i = 0; i < v.size; i++) /* big-endian */
            wide[TLI_BIG_ENDIAN ? 16 - v.size + i : v.size - 1 - i] = (uint8_t)v.data[i];
        tli_build_fixed(n, wide);
    } else if (n->type.id == TL_TYPE_DECIMAL128) {
        tli_take_widen(wide, v.size == 4 ? (int32_t)tli_bits_le32(v.data) : (int64_t)tli_bits_le64(v.data));
        tli_build_fixed(n, wide);
    } else if (v.size == 4) {
        tli_build_32(n, tli_bits_le32(v.data));
    } else {
        tli_build_64(n, tli_bits_le64(v.data));
    }
}

TLI_FN tl_status tli_parquetread_build(tli_parquetread *r, const struct ArrowSchema *schema, const tl_limits *limits,
                                       struct ArrowArray **out)
{
    tli_build_tree *b = NULL;
    uint64_t row;
    uint32_t i;
    int fill;
    tl_status st = tli_build_begin(r->store, schema, limits, &b, r->err);
    for (fill = 0; st == TL_OK && fill < 2; fill++) {
        for (i = 0; i < r->count; i++)
            for (row = 0; row < r->rows; row++) {
                tli_build_node *n = &b->nodes[i + 1];
                tl_span v = r->cells[i][row];
                if (v.data == NULL && fill)
                    tli_build_null(n);
                else if (v.data == NULL)
                    tli_build_count_null(n);
                else if (fill)
                    tli_parquetread_put(n, &r->columns[i], v);
                else if (tli_arrow_offset_width(n->layout) != 0)
                    tli_build_count_bytes(n, v.size);
                else
                    tli_build_count(n);
            }
        for (row = 0; row < r->rows; row++) {
            if (fill)
                tli_build_end(b->nodes);
            else
                tli_build_count(b->nodes);
        }
        if (fill == 0)
            st = tli_build_allocate(b, r->err);
    }
    return st == TL_OK ? tli_build_finish(b, out, r->err) : st;
}

TLI_FN tl_status tli_parquetread_footer(tli_parquetread *r, const tl_limits *limits, struct ArrowSchema **schema)
{
    tli_thrift_field f = tli_parquet_first();
    const uint8_t *groups = NULL;
    int64_t rows = -1;
    tl_status st = TL_OK;
    while (st == TL_OK && tli_thrift_next(&r->t, &f)) {
        if (f.id == 2 && f.type == TLI_THRIFT_LIST) {
            st = tli_parquetread_schema(r, limits, schema);
            continue;
        }
        if (f.id == 4 && f.type == TLI_THRIFT_LIST)
            groups = r->t.at;
        if (f.id == 3)
            rows = tli_thrift_int(&r->t, &f, -1);
        else
            tli_thrift_skip(&r->t, f.type);
    }
    if (st != TL_OK)
        return st;
    if (r->t.bad != NULL || r->columns == NULL || rows < 0 || groups == NULL)
        return tli_parquetread_bad(r, r->t.bad != NULL ? r->t.bad : "the footer of a Parquet file is malformed");
    if ((uint64_t)rows > limits->rows)
        return tli_err(r->err, TL_LIMIT, "limits.rows", TL_NO_POSITION);
    r->rows = (uint64_t)rows;
    r->t.at = groups;
    return tli_parquetread_groups(r);
}

/* The rows of a file and their schema, in the store; what only the reading needs goes to `scratch`. The file's bytes
   are not needed any more. */
TLI_FN tl_status tli_parquetread_rows(tli_store *store, tli_store *scratch, const void *bytes, size_t size,
                                      const tl_compression *compression, const tl_limits *limits,
                                      struct ArrowSchema **schema, struct ArrowArray **rows, tl_error *err)
{
    tli_parquetread r;
    const uint8_t *end = (const uint8_t *)bytes + size;
    uint32_t footer;
    tl_status st;
    TLI_FILL(&r, 0, sizeof r);
    r.store = store;
    r.scratch = scratch;
    r.compression = compression;
    r.bytes = (const uint8_t *)bytes;
    r.err = err;
    if (size < 12 || TLI_COMPARE(end - 4, "PAR1", 4) != 0)
        return tli_parquetread_bad(&r, "not a Parquet file");
    footer = tli_bits_le32(end - 8);
    if (footer > size - 12)
        return tli_parquetread_bad(&r, "the footer of a Parquet file is longer than the file");
    r.size = size - 8 - footer;
    r.unread = r.size;
    r.spare = TLI_PARQUETREAD_SPARE;
    r.t.at = r.bytes + r.size;
    r.t.end = end - 8;
    st = tli_parquetread_footer(&r, limits, schema);
    return st == TL_OK ? tli_parquetread_build(&r, *schema, limits, rows) : st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
