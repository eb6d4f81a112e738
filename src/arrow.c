/* >>arrow: types, schema nodes, array nodes, builders, exports of the Arrow C Data Interface. */

/* The status of a door that answered NULL and filled err. */
TLI_INLINE tl_status tli_arrow_failed(const tl_error *err)
{
    return err != NULL ? err->status : TL_NO_MEMORY;
}

/* ---- format texts ---- */

/* A decimal number; 0 when there is none, or it is no int32. */
TLI_FN int tli_arrow_digits(const char **text, int32_t *value)
{
    const char *p = *text;
    int minus = *p == '-', digits = 0;
    int32_t v = 0;
    p += minus;
    while (*p >= '0' && *p <= '9') {
        if (v > (INT32_MAX - (*p - '0')) / 10)
            return 0;
        v = v * 10 + (*p - '0');
        p++;
        digits = 1;
    }
    if (!digits)
        return 0;
    *text = p;
    *value = minus ? -v : v;
    return 1;
}

TLI_FN tl_status tli_arrow_no_format(tl_error *err)
{
    return tli_err(err, TL_MISUSE, "not a format of the Arrow C Data Interface", TL_NO_POSITION);
}

TLI_INLINE int tli_arrow_is_decimal(tl_type_id id)
{
    return id >= TL_TYPE_DECIMAL32 && id <= TL_TYPE_DECIMAL256;
}

/* Decimal digits that a decimal of so many bytes holds. */
TLI_FN int32_t tli_arrow_precision(int32_t width)
{
    return width == 4 ? 9 : width == 8 ? 18 : width == 16 ? 38 : 76;
}

/* d:precision,scale[,bits] */
TLI_FN tl_status tli_arrow_type_decimal(const char *f, tl_type *t, tl_error *err)
{
    int32_t bits = 128;
    if (f[1] != ':')
        return tli_arrow_no_format(err);
    f += 2;
    if (!tli_arrow_digits(&f, &t->precision) || *f++ != ',' || !tli_arrow_digits(&f, &t->scale))
        return tli_arrow_no_format(err);
    if (*f == ',') {
        f++;
        if (!tli_arrow_digits(&f, &bits))
            return tli_arrow_no_format(err);
    }
    if (*f != 0 || (bits != 32 && bits != 64 && bits != 128 && bits != 256))
        return tli_arrow_no_format(err);
    t->width = bits / 8;
    t->id = bits == 32 ? TL_TYPE_DECIMAL32 : bits == 64 ? TL_TYPE_DECIMAL64
            : bits == 128 ? TL_TYPE_DECIMAL128 : TL_TYPE_DECIMAL256;
    if (t->precision < 1 || t->precision > tli_arrow_precision(t->width))
        return tli_err(err, TL_MISUSE, "decimal precision out of range", TL_NO_POSITION);
    if (t->scale < -128 || t->scale > 127)
        return tli_err(err, TL_UNSUPPORTED, "decimal scale out of range", TL_NO_POSITION);
    return TL_OK;
}

TLI_FN int tli_arrow_unit(char letter, tl_unit *unit)
{
    *unit = letter == 's' ? TL_UNIT_SECOND
            : letter == 'm' ? TL_UNIT_MILLI : letter == 'u' ? TL_UNIT_MICRO : TL_UNIT_NANO;
    return letter == 's' || letter == 'm' || letter == 'u' || letter == 'n';
}

TLI_FN tl_status tli_arrow_type_simple(tl_type *t, tl_type_id id, int32_t width)
{
    t->id = id;
    t->width = width;
    return TL_OK;
}

/* td? dates, tt? times, ts?:zone, tD? durations, ti? intervals */
TLI_FN tl_status tli_arrow_type_time(const char *f, tl_type *t, tl_error *err)
{
    char kind = f[1], last = kind != 0 ? f[2] : (char)0;
    int known = last != 0 && tli_arrow_unit(last, &t->unit);
    if (kind == 's' && known && f[3] == ':') {
        if (f[4] != 0)
            t->zone = tl_text(f + 4);
        return tli_arrow_type_simple(t, TL_TYPE_TIMESTAMP, 8);
    }
    if (last == 0 || f[3] != 0)
        return tli_arrow_no_format(err);
    if (kind == 'd' && last == 'm')
        return tli_arrow_type_simple(t, TL_TYPE_DATE64, 8);
    if (kind == 't' && known)
        return t->unit <= TL_UNIT_MILLI ? tli_arrow_type_simple(t, TL_TYPE_TIME32, 4)
                                        : tli_arrow_type_simple(t, TL_TYPE_TIME64, 8);
    if (kind == 'D' && known)
        return tli_arrow_type_simple(t, TL_TYPE_DURATION, 8);
    t->unit = TL_UNIT_SECOND;
    if (kind == 'd' && last == 'D')
        return tli_arrow_type_simple(t, TL_TYPE_DATE32, 4);
    if (kind == 'i' && last == 'M')
        return tli_arrow_type_simple(t, TL_TYPE_INTERVAL_MONTHS, 4);
    if (kind == 'i' && last == 'D')
        return tli_arrow_type_simple(t, TL_TYPE_INTERVAL_DAY_TIME, 8);
    if (kind == 'i' && last == 'n')
        return tli_arrow_type_simple(t, TL_TYPE_INTERVAL_MONTH_DAY_NANO, 16);
    return tli_arrow_no_format(err);
}

/* w:bytes and +w:elements */
TLI_FN tl_status tli_arrow_type_sized(const char *f, tl_type *t, tl_type_id id, tl_error *err)
{
    if (*f++ != ':' || !tli_arrow_digits(&f, &t->size) || *f != 0 || t->size < 0)
        return tli_arrow_no_format(err);
    return tli_arrow_type_simple(t, id, id == TL_TYPE_FIXED_BINARY ? t->size : 0);
}

/* + nested types */
TLI_FN tl_status tli_arrow_type_nested(const char *f, tl_type *t, tl_error *err)
{
    if (f[1] == 'w')
        return tli_arrow_type_sized(f + 2, t, TL_TYPE_FIXED_LIST, err);
    if (f[1] == 'u' && (f[2] == 'd' || f[2] == 's') && f[3] == ':')
        return tli_err(err, TL_UNSUPPORTED, "the type is a union", TL_NO_POSITION);
    if (f[1] == 'v' && (f[2] == 'l' || f[2] == 'L') && f[3] == 0)
        return tli_err(err, TL_UNSUPPORTED, "the type is a list view", TL_NO_POSITION);
    if (f[1] == 0 || f[2] != 0)
        return tli_arrow_no_format(err);
    switch (f[1]) {
    case 'l':
        return tli_arrow_type_simple(t, TL_TYPE_LIST, 0);
    case 'L':
        return tli_arrow_type_simple(t, TL_TYPE_LARGE_LIST, 0);
    case 's':
        return tli_arrow_type_simple(t, TL_TYPE_STRUCT, 0);
    case 'm':
        return tli_arrow_type_simple(t, TL_TYPE_MAP, 0);
    case 'r':
        return tli_err(err, TL_UNSUPPORTED, "the type is run-end encoded", TL_NO_POSITION);
    default:
        return tli_arrow_no_format(err);
    }
}

/* The types of one letter, in the order of tl_type_id but for those between FLOAT64 and UTF8. */
#define TLI_ARROW_LETTERS "nbcsilCSILefguUzZ"

TLI_FN tl_status tli_arrow_type_letter(const char *f, tl_type *t, tl_error *err)
{
    static const uint8_t ids[] = {TL_TYPE_NULL, TL_TYPE_BOOL, TL_TYPE_INT8, TL_TYPE_INT16, TL_TYPE_INT32, TL_TYPE_INT64,
                                  TL_TYPE_UINT8, TL_TYPE_UINT16, TL_TYPE_UINT32, TL_TYPE_UINT64, TL_TYPE_FLOAT16,
                                  TL_TYPE_FLOAT32, TL_TYPE_FLOAT64, TL_TYPE_UTF8, TL_TYPE_LARGE_UTF8, TL_TYPE_BINARY,
                                  TL_TYPE_LARGE_BINARY};
    static const uint8_t widths[] = {0, 0, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 0};
    size_t i;
    for (i = 0; i < TLI_COUNT(ids); i++)
        if (TLI_ARROW_LETTERS[i] == f[0] && f[1] == 0)
            return tli_arrow_type_simple(t, (tl_type_id)ids[i], widths[i]);
    return tli_arrow_no_format(err);
}

TL_API tl_status tl_type_of(const struct ArrowSchema *schema, tl_type *type, tl_error *err)
{
    const char *f = schema != NULL ? schema->format : NULL;
    TLI_FILL(type, 0, sizeof *type);
    if (f == NULL)
        return tli_err(err, TL_MISUSE, "a schema without a format", TL_NO_POSITION);
    switch (f[0]) {
    case 'd':
        return tli_arrow_type_decimal(f, type, err);
    case 'w':
        return tli_arrow_type_sized(f + 1, type, TL_TYPE_FIXED_BINARY, err);
    case 't':
        return tli_arrow_type_time(f, type, err);
    case '+':
        return tli_arrow_type_nested(f, type, err);
    case 'v':
        if ((f[1] == 'u' || f[1] == 'z') && f[2] == 0)
            return tli_arrow_type_simple(type, f[1] == 'u' ? TL_TYPE_UTF8_VIEW : TL_TYPE_BINARY_VIEW, 0);
        return tli_arrow_no_format(err);
    default:
        return tli_arrow_type_letter(f, type, err);
    }
}

/* Writes the digits of v (at most 10 and a sign) and answers where they end. */
TLI_FN char *tli_arrow_put_digits(char *out, int32_t v)
{
    char digits[10];
    int n = 0;
    uint32_t u = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
    if (v < 0)
        *out++ = '-';
    do
        digits[n++] = (char)('0' + u % 10);
    while ((u /= 10) != 0);
    while (n > 0)
        *out++ = digits[--n];
    return out;
}

TLI_FN char *tli_arrow_format_decimal(char *p, const tl_type *t)
{
    *p++ = 'd';
    *p++ = ':';
    p = tli_arrow_put_digits(p, t->precision);
    *p++ = ',';
    p = tli_arrow_put_digits(p, t->scale);
    if (t->id != TL_TYPE_DECIMAL128) {
        *p++ = ',';
        p = tli_arrow_put_digits(p, t->id == TL_TYPE_DECIMAL32 ? 32 : t->id == TL_TYPE_DECIMAL64 ? 64 : 256);
    }
    return p;
}

/* The fixed texts, by tl_type_id; where a unit, numbers or a zone follow, what comes before them. */
TLI_FN const char *tli_arrow_format_start(tl_type_id id)
{
    static const char texts[][4] = {"n", "b", "c", "s", "i", "l", "C", "S", "I", "L", "e", "f", "g", "d:", "d:", "d:",
                                    "d:", "tdD", "tdm", "tt", "tt", "ts", "tD", "tiM", "tiD", "tin", "u", "U", "vu",
                                    "z", "Z", "vz", "w:", "+l", "+L", "+w:", "+s", "+m"};
    return (size_t)id < TLI_COUNT(texts) ? texts[id] : NULL;
}

/* The interface ends texts with a zero byte, so none can be inside. */
TLI_FN int tli_arrow_has_zero(tl_span text)
{
    size_t i;
    for (i = 0; i < text.size; i++)
        if (text.data[i] == 0)
            return 1;
    return 0;
}

/* The format text of a type, in the store. */
TLI_FN tl_status tli_arrow_format(tli_store *store, const tl_type *type, const char **format, tl_error *err)
{
    static const char units[] = "smun";
    char start[40], *p = start, *out;
    const char *f = tli_arrow_format_start(type->id);
    tl_span zone;
    zone = type->id == TL_TYPE_TIMESTAMP ? type->zone : tl_text(NULL);
    if (f == NULL)
        return tli_err(err, TL_MISUSE, "not a type", TL_NO_POSITION);
    if (tli_arrow_has_zero(zone))
        return tli_err(err, TL_UNSUPPORTED, "a zero byte in a time zone", TL_NO_POSITION);
    if (tli_arrow_is_decimal(type->id)) {
        p = tli_arrow_format_decimal(p, type);
    } else {
        while (*f != 0)
            *p++ = *f++;
        if (type->id >= TL_TYPE_TIME32 && type->id <= TL_TYPE_DURATION)
            *p++ = units[type->unit & 3];
        if (type->id == TL_TYPE_TIMESTAMP)
            *p++ = ':';
        if (type->id == TL_TYPE_FIXED_BINARY || type->id == TL_TYPE_FIXED_LIST)
            p = tli_arrow_put_digits(p, type->size);
    }
    out = (char *)tli_mem_take(store, (size_t)(p - start) + zone.size + 1, err);
    if (out == NULL)
        return tli_arrow_failed(err);
    TLI_COPY(out, start, (size_t)(p - start));
    if (zone.size != 0)
        TLI_COPY(out + (p - start), zone.data, zone.size);
    out[(size_t)(p - start) + zone.size] = 0;
    *format = out;
    return TL_OK;
}

/* ---- metadata: an int32 count, then a length and bytes for each key and each value, in native order ---- */

typedef struct tli_arrow_pairs {
    const char *at; /* where the next pair begins; after the last: the end of the metadata */
    int32_t left;
} tli_arrow_pairs;

TLI_FN tli_arrow_pairs tli_arrow_pairs_begin(const struct ArrowSchema *schema)
{
    tli_arrow_pairs p;
    p.at = schema != NULL ? schema->metadata : NULL;
    p.left = 0;
    if (p.at != NULL) {
        p.left = (int32_t)tli_bits_u32(p.at);
        p.at += 4;
    }
    return p;
}

/* One length and its bytes; 0 when the length is negative: the rest cannot be read. */
TLI_INLINE int tli_arrow_pairs_text(tli_arrow_pairs *p, tl_span *text)
{
    int32_t size = (int32_t)tli_bits_u32(p->at);
    if (size < 0)
        return 0;
    *text = tli_text_span(p->at + 4, (size_t)size);
    p->at += 4 + (size_t)size;
    return 1;
}

TLI_FN int tli_arrow_pairs_next(tli_arrow_pairs *p, tl_span *key, tl_span *value)
{
    if (p->left <= 0)
        return 0;
    p->left--;
    if (tli_arrow_pairs_text(p, key) && tli_arrow_pairs_text(p, value))
        return 1;
    p->left = 0;
    return 0;
}

/* Bytes of a node's metadata, 0 when there is none. */
TLI_FN size_t tli_arrow_metadata_size(const struct ArrowSchema *schema)
{
    tli_arrow_pairs p = tli_arrow_pairs_begin(schema);
    tl_span key, value;
    if (p.left <= 0)
        return 0;
    while (tli_arrow_pairs_next(&p, &key, &value)) {
    }
    return (size_t)(p.at - schema->metadata);
}

TL_API tl_span tl_schema_metadata(const struct ArrowSchema *schema, tl_span key)
{
    tli_arrow_pairs p = tli_arrow_pairs_begin(schema);
    tl_span k, v;
    while (tli_arrow_pairs_next(&p, &k, &v))
        if (tl_span_equal(k, key))
            return v;
    return tl_text(NULL);
}

TL_API int tl_schema_metadata_at(const struct ArrowSchema *schema, int32_t i, tl_span *key, tl_span *value)
{
    tli_arrow_pairs p = tli_arrow_pairs_begin(schema);
    for (; i >= 0 && tli_arrow_pairs_next(&p, key, value); i--)
        if (i == 0)
            return 1;
    return 0;
}

TL_API int64_t tl_schema_find(const struct ArrowSchema *schema, tl_span name)
{
    int64_t i;
    for (i = 0; schema != NULL && i < schema->n_children; i++)
        if (tl_span_equal(tl_text(schema->children[i]->name), name))
            return i;
    return -1;
}

/* ---- walking ---- */

#define TLI_ARROW_DEPTH_MAX 256u

/* A walk over a schema, and over an array of it when there is one, parents first. The dictionary of a node counts as
   its last child. Looks into a node's children only after the caller has seen, and may have checked, the node. Keeps
   the way down as numbers and goes it again from the root: that is 1 KB of stack at any depth. */
typedef struct tli_arrow_walk {
    const struct ArrowSchema *root_schema;
    const struct ArrowArray *root_array;
    const struct ArrowSchema *schema; /* the node at hand */
    const struct ArrowArray *array;
    const struct ArrowSchema *parent; /* of the node at hand; NULL: it is the root */
    const struct ArrowArray *parent_array;
    uint32_t depth; /* of the node at hand; the root's is 0 */
    uint32_t path[TLI_ARROW_DEPTH_MAX];
} tli_arrow_walk;

TLI_FN void tli_arrow_walk_begin(tli_arrow_walk *w, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    w->root_schema = schema;
    w->root_array = array;
    w->schema = w->parent = NULL;
    w->array = w->parent_array = NULL;
    w->depth = 0;
}

TLI_INLINE int64_t tli_arrow_walk_children(const struct ArrowSchema *s)
{
    return s->n_children + (s->dictionary != NULL);
}

/* From the node at hand down to its child i. */
TLI_INLINE void tli_arrow_walk_down(tli_arrow_walk *w, uint32_t i)
{
    int child = (int64_t)i < w->schema->n_children;
    w->parent = w->schema;
    w->parent_array = w->array;
    if (w->array != NULL)
        w->array = child ? w->array->children[i] : w->array->dictionary;
    w->schema = child ? w->schema->children[i] : w->schema->dictionary;
}

/* The node at hand becomes the one `depth` steps down the path. */
TLI_FN void tli_arrow_walk_to(tli_arrow_walk *w, uint32_t depth)
{
    uint32_t i;
    w->schema = w->root_schema;
    w->array = w->root_array;
    for (i = 0; i < depth; i++)
        tli_arrow_walk_down(w, w->path[i]);
}

/* 1: there is a next node; 0: that was the last; -1: it would lie deeper than `limit`. Nodes have at most UINT32_MAX
   children: the caller makes sure. */
TLI_FN int tli_arrow_walk_next(tli_arrow_walk *w, uint32_t limit)
{
    if (w->schema == NULL) {
        w->schema = w->root_schema;
        w->array = w->root_array;
        return 1;
    }
    if (tli_arrow_walk_children(w->schema) > 0) {
        if (w->depth >= limit || w->depth >= TLI_ARROW_DEPTH_MAX)
            return -1;
        w->path[w->depth++] = 0;
        tli_arrow_walk_down(w, 0);
        return 1;
    }
    while (w->depth > 0) {
        uint32_t i = ++w->path[w->depth - 1];
        tli_arrow_walk_to(w, w->depth - 1);
        if ((int64_t)i < tli_arrow_walk_children(w->schema)) {
            tli_arrow_walk_down(w, i);
            return 1;
        }
        w->depth--;
    }
    return 0;
}

/* ---- schema nodes ---- */

/* Nodes in a store are freed with it, whoever releases them. */
TLI_FN void tli_arrow_schema_stays(struct ArrowSchema *schema)
{
    (void)schema;
}

TLI_FN void tli_arrow_array_stays(struct ArrowArray *array)
{
    (void)array;
}

/* A node in the store. The texts are copied; the entries of `children` are for the caller to fill. */
TLI_FN struct ArrowSchema *tli_arrow_schema_new(tli_store *store, const char *format, tl_span name, int64_t flags,
                                                int64_t n_children, tl_error *err)
{
    tl_span f = tl_text(format);
    size_t texts = f.size + name.size + 2;
    struct ArrowSchema *s;
    char *p;
    if (tli_arrow_has_zero(name)) {
        (void)tli_err(err, TL_UNSUPPORTED, "a zero byte in the name of a field", TL_NO_POSITION);
        return NULL;
    }
    if (n_children < 0 || (uint64_t)n_children > SIZE_MAX / 16 || texts > SIZE_MAX / 8) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    s = (struct ArrowSchema *)tli_mem_take_zero(store, sizeof *s + (size_t)n_children * sizeof(void *) + texts, err);
    if (s == NULL)
        return NULL;
    p = (char *)(s + 1) + (size_t)n_children * sizeof(void *);
    s->format = p;
    if (f.size != 0)
        TLI_COPY(p, f.data, f.size);
    s->name = p + f.size + 1;
    if (name.size != 0)
        TLI_COPY(p + f.size + 1, name.data, name.size);
    s->flags = flags;
    s->n_children = n_children;
    s->children = n_children > 0 ? (struct ArrowSchema **)(void *)(s + 1) : NULL;
    s->release = tli_arrow_schema_stays;
    return s;
}

/* Gives a node of the store its metadata: n pairs. */
TLI_FN tl_status tli_arrow_schema_metadata(tli_store *store, struct ArrowSchema *schema, const tl_span *keys,
                                           const tl_span *values, int32_t n, tl_error *err)
{
    uint64_t total = 4;
    size_t bytes;
    char *p;
    int32_t i;
    schema->metadata = NULL;
    if (n <= 0)
        return TL_OK;
    for (i = 0; i < n; i++) {
        if (keys[i].size > INT32_MAX || values[i].size > INT32_MAX)
            return tli_err(err, TL_UNSUPPORTED, "a metadata text of 2 GiB or more", TL_NO_POSITION);
        total += 8 + (uint64_t)keys[i].size + values[i].size;
    }
    if (!tli_bits_size(total, &bytes))
        return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    p = (char *)tli_mem_take(store, bytes, err);
    if (p == NULL)
        return tli_arrow_failed(err);
    schema->metadata = p;
    tli_bits_put32(p, (uint32_t)n);
    p += 4;
    for (i = 0; i < 2 * n; i++) {
        tl_span text;
        text = i % 2 == 0 ? keys[i / 2] : values[i / 2];
        tli_bits_put32(p, (uint32_t)text.size);
        if (text.size != 0)
            TLI_COPY(p + 4, text.data, text.size);
        p += 4 + text.size;
    }
    return TL_OK;
}

/* How many children a type has; -1: any number. */
TLI_INLINE int64_t tli_arrow_type_children(tl_type_id id)
{
    return id < TL_TYPE_LIST ? 0 : id == TL_TYPE_STRUCT ? -1 : 1;
}

TLI_FN tl_status tli_arrow_schema_check_node(const tli_arrow_walk *w, tl_type *type, tl_error *err)
{
    const struct ArrowSchema *s = w->schema;
    int64_t children;
    tl_status st;
    if (s == NULL || s->release == NULL)
        return tli_err(err, TL_MISUSE, "a schema node is missing or was released", TL_NO_POSITION);
    st = tl_type_of(s, type, err);
    if (st != TL_OK)
        return st;
    children = tli_arrow_type_children(type->id);
    if (s->n_children < 0 || (children >= 0 && s->n_children != children) || (s->n_children > 0 && s->children == NULL))
        return tli_err(err, TL_MISUSE, "a schema node has a wrong number of children", TL_NO_POSITION);
    if (s->dictionary != NULL && (type->id < TL_TYPE_INT8 || type->id > TL_TYPE_UINT64))
        return tli_err(err, TL_MISUSE, "the indices of a dictionary are no integers", TL_NO_POSITION);
    if (w->parent != NULL && w->parent->dictionary == s && s->dictionary != NULL)
        return tli_err(err, TL_MISUSE, "a dictionary of a dictionary", TL_NO_POSITION);
    if (w->parent != NULL && w->parent->format[0] == '+' && w->parent->format[1] == 'm'
        && (type->id != TL_TYPE_STRUCT || s->n_children != 2 || s->dictionary != NULL))
        return tli_err(err, TL_MISUSE, "the child of a map is no struct of two", TL_NO_POSITION);
    return TL_OK;
}

/* Checks a schema from outside: every type known, children as the type demands, depth, and the number of nodes (root
   and dictionaries counted), which goes to *nodes when that is not NULL. */
TLI_NOINLINE tl_status tli_arrow_schema_check(const struct ArrowSchema *schema, const tl_limits *limits,
                                              uint32_t *nodes,
                                              tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tli_arrow_walk w;
    uint32_t n = 0;
    int more;
    most.columns = TLI_MIN(most.columns, (uint32_t)INT32_MAX);
    tli_arrow_walk_begin(&w, schema, NULL);
    if (schema == NULL)
        return tli_err(err, TL_MISUSE, "no schema", TL_NO_POSITION);
    while ((more = tli_arrow_walk_next(&w, most.depth)) > 0) {
        tl_type type;
        tl_status st = tli_arrow_schema_check_node(&w, &type, err);
        if (st != TL_OK)
            return st;
        if (n++ > most.columns || (uint64_t)w.schema->n_children > most.columns)
            return tli_err_need(err, TL_LIMIT, "limits.columns", TL_NO_POSITION,
                                TLI_MAX((uint64_t)n, (uint64_t)w.schema->n_children));
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    if (nodes != NULL)
        *nodes = n;
    return TL_OK;
}

/* ---- trees that own themselves ----

   All nodes of an exported tree lie in one block,
       parents first. A consumer may move any node out (it copies the struct and
   sets release to NULL in the tree) and release it whenever it likes: each node counts for itself, and the block goes
   with the last. */

typedef struct tli_arrow_block {
    size_t count; /* nodes not released yet */
    size_t size;
    tl_allocator allocator;
    tli_store *store; /* kept until the end; may be NULL */
} tli_arrow_block;

typedef struct tli_arrow_place {
    tli_arrow_block *block;
    void *nodes;    /* all of the block */
    uint32_t index; /* of this node */
    uint32_t end;   /* after its last descendant */
    uint32_t depth;
} tli_arrow_place;

TLI_FN void tli_arrow_block_drop(tli_arrow_block *block)
{
    tl_allocator a;
    if (TLI_MEM_DEC(&block->count) != 0)
        return;
    a = block->allocator;
    tli_mem_store_drop(block->store);
    tli_mem_delete(&a, block, block->size);
}

/* Finds where each subtree ends, from the depths. */
TLI_FN void tli_arrow_places_end(tli_arrow_place *places, uint32_t n)
{
    uint32_t i = n;
    while (i-- > 0) {
        uint32_t j = i + 1;
        while (j < n && places[j].depth > places[i].depth)
            j = places[j].end;
        places[i].end = j;
    }
}

TLI_FN void tli_arrow_schema_release(struct ArrowSchema *schema)
{
    tli_arrow_place *place = (tli_arrow_place *)schema->private_data;
    struct ArrowSchema *nodes = (struct ArrowSchema *)place->nodes;
    tli_arrow_block *block = place->block;
    tli_arrow_place *first = place - place->index;
    uint32_t i = place->index + 1, end = place->end;
    while (i < end) {
        if (nodes[i].release == NULL) { /* moved out with all below it, or released by itself */
            i = first[i].end;
            continue;
        }
        nodes[i++].release = NULL;
        tli_arrow_block_drop(block);
    }
    schema->release = NULL;
    tli_arrow_block_drop(block);
}

typedef struct tli_arrow_size {
    size_t nodes;
    size_t children; /* entries of all children arrays */
    size_t texts;
    size_t total; /* bytes of a tree: nodes, children arrays, places, texts */
} tli_arrow_size;

TLI_NOINLINE tl_status tli_arrow_schema_size(const struct ArrowSchema *schema, tli_arrow_size *size, tl_error *err)
{
    tli_arrow_walk w;
    int more;
    TLI_FILL(size, 0, sizeof *size);
    tli_arrow_walk_begin(&w, schema, NULL);
    while ((more = tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX)) > 0) {
        const struct ArrowSchema *s = w.schema;
        if (s == NULL || s->release == NULL || s->format == NULL || s->n_children < 0 || s->n_children > INT32_MAX
            || (s->n_children > 0 && s->children == NULL))
            return tli_err(err, TL_MISUSE, "a schema node is missing, incomplete or was released", TL_NO_POSITION);
        size->nodes++;
        size->children += (size_t)s->n_children;
        size->texts += tl_text(s->format).size + tl_text(s->name).size + 2 + tli_arrow_metadata_size(s);
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    if (size->nodes > INT32_MAX)
        return tli_err(err, TL_LIMIT, "limits.columns", TL_NO_POSITION);
    size->total = size->nodes * (sizeof(struct ArrowSchema) + sizeof(tli_arrow_place)) + size->children * sizeof(void *)
                  + size->texts;
    return TL_OK;
}

TLI_FN char *tli_arrow_put_text(char *to, const void *from, size_t size)
{
    if (size != 0)
        TLI_COPY(to, from, size);
    return to + size;
}

/* Fills memory of size->total bytes with the tree; the root is its first node. */
TLI_NOINLINE struct ArrowSchema *tli_arrow_schema_fill(void *memory, const tli_arrow_size *size,
                                                 const struct ArrowSchema *schema, tli_arrow_block *block)
{
    struct ArrowSchema *nodes = (struct ArrowSchema *)memory;
    tli_arrow_place *places = (tli_arrow_place *)(void *)(nodes + size->nodes);
    struct ArrowSchema **children = (struct ArrowSchema **)(void *)(places + size->nodes);
    char *text = (char *)(children + size->children);
    tli_arrow_walk w;
    uint32_t n = 0, i;
    tli_arrow_walk_begin(&w, schema, NULL);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        const struct ArrowSchema *s = w.schema;
        struct ArrowSchema *to = &nodes[n];
        size_t metadata = tli_arrow_metadata_size(s);
        *to = *s;
        to->format = text;
        text = tli_arrow_put_text(text, s->format, tl_text(s->format).size + 1);
        to->name = text;
        text = tli_arrow_put_text(text, s->name, tl_text(s->name).size);
        *text++ = 0;
        to->metadata = metadata != 0 ? text : NULL;
        text = tli_arrow_put_text(text, s->metadata, metadata);
        to->release = block != NULL ? tli_arrow_schema_release : tli_arrow_schema_stays;
        to->private_data = block != NULL ? &places[n] : NULL;
        places[n].block = block;
        places[n].nodes = nodes;
        places[n].index = n;
        places[n++].depth = w.depth;
    }
    tli_arrow_places_end(places, n);
    for (i = 0; i < n; i++) {
        uint32_t child = i + 1;
        int64_t k;
        nodes[i].children = nodes[i].n_children > 0 ? children : NULL;
        for (k = 0; k < nodes[i].n_children; k++, child = places[child].end)
            *children++ = &nodes[child];
        if (nodes[i].dictionary != NULL)
            nodes[i].dictionary = &nodes[child];
    }
    return nodes;
}

/* A copy in the store. */
TLI_FN tl_status tli_arrow_schema_keep(tli_store *store, const struct ArrowSchema *schema,
                                       const struct ArrowSchema **out,
                                       tl_error *err)
{
    tli_arrow_size size;
    void *memory;
    tl_status st = tli_arrow_schema_size(schema, &size, err);
    if (st != TL_OK)
        return st;
    memory = tli_mem_take_zero(store, size.total, err);
    if (memory == NULL)
        return tli_arrow_failed(err);
    *out = tli_arrow_schema_fill(memory, &size, schema, NULL);
    return TL_OK;
}

/* A cleared block for `size` bytes after its header, which go to *memory. */
TLI_FN tli_arrow_block *tli_arrow_block_new(const tl_allocator *allocator, size_t nodes, size_t size, void **memory,
                                            tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    size_t header = tli_bits_round_up(sizeof(tli_arrow_block), TLI_MEM_ALIGN);
    tli_arrow_block *block = size > SIZE_MAX / 4 ? NULL : (tli_arrow_block *)tli_mem_new(&a, header + size);
    if (block == NULL) {
        (void)(size > SIZE_MAX / 4 ? tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION)
               : tli_mem_failed(&a, err));
        return NULL;
    }
    TLI_FILL(block, 0, sizeof *block);
    block->count = nodes;
    block->size = header + size;
    block->allocator = a;
    *memory = (uint8_t *)block + header;
    return block;
}

TL_API tl_status tl_schema_copy(struct ArrowSchema *out, const struct ArrowSchema *schema,
                                const tl_allocator *allocator,
                                tl_error *err)
{
    tl_error own;
    tli_arrow_size size;
    tli_arrow_block *block;
    void *memory;
    tl_status st;
    err = err != NULL ? err : &own;
    TLI_FILL(out, 0, sizeof *out);
    st = tli_arrow_schema_size(schema, &size, err);
    if (st != TL_OK)
        return st;
    block = tli_arrow_block_new(allocator, size.nodes, size.total, &memory, err);
    if (block == NULL)
        return err->status;
    *out = *tli_arrow_schema_fill(memory, &size, schema, block);
    return TL_OK;
}

/* ---- array nodes ---- */

/* A node in the store: length 0, buffers and children to be filled. private_data says whose memory its buffers are. */
TLI_FN struct ArrowArray *tli_arrow_array_new(tli_store *store, int64_t n_buffers, int64_t n_children, tl_error *err)
{
    struct ArrowArray *a;
    if (n_buffers < 0 || n_children < 0 || (uint64_t)n_buffers > SIZE_MAX / 32
        || (uint64_t)n_children > SIZE_MAX / 32) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    a = (struct ArrowArray *)tli_mem_take_zero(store, sizeof *a + (size_t)(n_buffers + n_children) * sizeof(void *),
                                               err);
    if (a == NULL)
        return NULL;
    a->n_buffers = n_buffers;
    a->n_children = n_children;
    a->buffers = n_buffers > 0 ? (const void **)(void *)(a + 1) : NULL;
    a->children = n_children > 0 ? (struct ArrowArray **)(void *)((void **)(void *)(a + 1) + n_buffers) : NULL;
    a->release = tli_arrow_array_stays;
    a->private_data = store;
    return a;
}

/* 1 when value i (before the array's offset is added) is not null. Arrays of type null have no buffers. */
TLI_INLINE int tli_arrow_valid(const struct ArrowArray *a, int64_t i)
{
    if (a->n_buffers == 0)
        return 0;
    return a->buffers[0] == NULL || tli_bits_get(a->buffers[0], (uint64_t)(a->offset + i));
}

/* The bits of a bitmap that are 0 from `from` on, `count` of them looked at. */
TLI_FN int64_t tli_arrow_zero_bits(const void *bitmap, int64_t from, int64_t count)
{
    const uint8_t *p = (const uint8_t *)bitmap;
    int64_t zeros = 0, i = from, end = from + count;
    for (; i < end && (i & 7) != 0; i++)
        zeros += !tli_bits_get(p, (uint64_t)i);
    for (; end - i >= 64; i += 64) {
        uint64_t v = ~tli_bits_u64(p + (i >> 3));
        if (v == 0)
            continue;
        v -= (v >> 1) & 0x5555555555555555u;
        v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        zeros += (int64_t)((v * 0x0101010101010101u) >> 56);
    }
    for (; i < end; i++)
        zeros += !tli_bits_get(p, (uint64_t)i);
    return zeros;
}

/* The nulls of a node, counted when it does not say; all of an array of type null. */
TLI_FN int64_t tli_arrow_null_count(const struct ArrowArray *a)
{
    if (a->n_buffers == 0)
        return a->length;
    if (a->buffers[0] == NULL)
        return 0;
    return a->null_count >= 0 ? a->null_count : tli_arrow_zero_bits(a->buffers[0], a->offset, a->length);
}

/* How values lie in buffers[1]. */
typedef enum tli_arrow_layout {
    TLI_ARROW_NULL, TLI_ARROW_BITS, TLI_ARROW_FIXED, TLI_ARROW_BYTES, TLI_ARROW_LARGE_BYTES, TLI_ARROW_VIEWS,
    TLI_ARROW_LIST, TLI_ARROW_LARGE_LIST, TLI_ARROW_FIXED_LIST, TLI_ARROW_STRUCT
} tli_arrow_layout;

TLI_FN tli_arrow_layout tli_arrow_layout_of(tl_type_id id)
{
    switch (id) {
    case TL_TYPE_NULL:
        return TLI_ARROW_NULL;
    case TL_TYPE_BOOL:
        return TLI_ARROW_BITS;
    case TL_TYPE_UTF8:
    case TL_TYPE_BINARY:
        return TLI_ARROW_BYTES;
    case TL_TYPE_LARGE_UTF8:
    case TL_TYPE_LARGE_BINARY:
        return TLI_ARROW_LARGE_BYTES;
    case TL_TYPE_UTF8_VIEW:
    case TL_TYPE_BINARY_VIEW:
        return TLI_ARROW_VIEWS;
    case TL_TYPE_LIST:
    case TL_TYPE_MAP:
        return TLI_ARROW_LIST;
    case TL_TYPE_LARGE_LIST:
        return TLI_ARROW_LARGE_LIST;
    case TL_TYPE_FIXED_LIST:
        return TLI_ARROW_FIXED_LIST;
    case TL_TYPE_STRUCT:
        return TLI_ARROW_STRUCT;
    default:
        return TLI_ARROW_FIXED;
    }
}

/* Buffers by layout; of views the least. */
TLI_INLINE int64_t tli_arrow_layout_buffers(tli_arrow_layout layout)
{
    static const uint8_t counts[] = {0, 2, 2, 3, 3, 3, 2, 2, 1, 1};
    return counts[layout];
}

/* Bytes of an offset, 0 when the layout has none. */
TLI_INLINE int tli_arrow_offset_width(tli_arrow_layout layout)
{
    return layout == TLI_ARROW_BYTES || layout == TLI_ARROW_LIST ? 4
           : layout == TLI_ARROW_LARGE_BYTES || layout == TLI_ARROW_LARGE_LIST ? 8 : 0;
}

/* Offset i of an offsets buffer. */
TLI_INLINE int64_t tli_arrow_offset(const void *offsets, int width, int64_t i)
{
    const uint8_t *p = (const uint8_t *)offsets;
    return width == 4 ? (int64_t)(int32_t)tli_bits_u32(p + 4 * (size_t)i) : (int64_t)tli_bits_u64(p + 8 * (size_t)i);
}

/* The bytes that the array uses of buffer i, from the buffer's start. Offsets were checked before. 0 for a buffer that
   nothing is read from. */
TLI_FN uint64_t tli_arrow_buffer_size(const tl_type *type, const struct ArrowArray *a, int64_t i)
{
    tli_arrow_layout layout = tli_arrow_layout_of(type->id);
    uint64_t end = (uint64_t)a->offset + (uint64_t)a->length;
    int width = tli_arrow_offset_width(layout);
    if (a->length == 0 || a->buffers[i] == NULL)
        return 0;
    if (i == 0 || layout == TLI_ARROW_BITS)
        return (end + 7) / 8;
    if (layout == TLI_ARROW_FIXED)
        return end * (uint64_t)type->width;
    if (layout == TLI_ARROW_VIEWS) {
        if (i == 1)
            return end * 16;
        return i == a->n_buffers - 1 ? 8 * (uint64_t)(a->n_buffers - 3)
                                     : (uint64_t)tli_arrow_offset(a->buffers[a->n_buffers - 1], 8, i - 2);
    }
    if (i == 1)
        return (end + 1) * (uint64_t)width;
    return (uint64_t)tli_arrow_offset(a->buffers[1], width, (int64_t)end);
}

/* ---- arrays from outside ---- */

TLI_FN tl_status tli_arrow_bad(tl_error *err, const char *text)
{
    return tli_err(err, TL_MISUSE, text, TL_NO_POSITION);
}

/* The counts of a node, before anything behind a pointer is read. */
TLI_FN tl_status tli_arrow_check_shape(const tli_arrow_walk *w, tli_arrow_layout layout, tl_error *err)
{
    const struct ArrowArray *a = w->array;
    int64_t buffers = tli_arrow_layout_buffers(layout), i;
    if (a == NULL || a->release == NULL)
        return tli_arrow_bad(err, "an array is missing or was released");
    if (a->length < 0 || a->offset < 0 || a->length > (INT64_MAX >> 6) || a->offset > (INT64_MAX >> 6))
        return tli_arrow_bad(err, "an array has a wrong length or offset");
    if (a->null_count < -1 || a->null_count > a->length)
        return tli_arrow_bad(err, "an array has a wrong null count");
    if (a->n_buffers < buffers || (layout != TLI_ARROW_VIEWS && a->n_buffers != buffers)
        || (a->n_buffers > 0 && a->buffers == NULL) || a->n_buffers > INT32_MAX)
        return tli_arrow_bad(err, "an array has a wrong number of buffers");
    if (a->n_children != w->schema->n_children || (a->n_children > 0 && a->children == NULL))
        return tli_arrow_bad(err, "an array has a wrong number of children");
    for (i = 0; i < a->n_children; i++)
        if (a->children[i] == NULL || a->children[i]->release == NULL)
            return tli_arrow_bad(err, "an array is missing or was released");
    if ((a->dictionary != NULL) != (w->schema->dictionary != NULL)
        || (a->dictionary != NULL && a->dictionary->release == NULL))
        return tli_arrow_bad(err, "a dictionary is missing, or one too many");
    if (layout == TLI_ARROW_VIEWS && a->n_buffers > 3 && a->buffers[a->n_buffers - 1] == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    return TL_OK;
}

/* 1 when every null of `a` lies in a row that is null in its parent too, or in none. */
TLI_FN int tli_arrow_nulls_hidden(const struct ArrowArray *a, const struct ArrowArray *parent, int64_t each)
{
    int64_t i;
    for (i = 0; i < parent->length * each; i++)
        if (!tli_arrow_valid(a, parent->offset * each + i) && tli_arrow_valid(parent, i / each))
            return 0;
    return 1;
}

TLI_FN tl_status tli_arrow_check_nulls(const tli_arrow_walk *w, const tl_type *type, tl_error *err)
{
    const struct ArrowArray *a = w->array, *parent = w->parent_array;
    int64_t nulls;
    tl_type outer;
    if (type->id == TL_TYPE_NULL)
        return TL_OK;
    if (a->buffers[0] == NULL && a->null_count > 0)
        return tli_arrow_bad(err, "an array has nulls but no validity bitmap");
    nulls = a->buffers[0] == NULL ? 0 : tli_arrow_zero_bits(a->buffers[0], a->offset, a->length);
    if (a->null_count >= 0 && nulls != a->null_count)
        return tli_arrow_bad(err, "an array has a wrong null count");
    if (nulls == 0 || parent == NULL || (w->schema->flags & ARROW_FLAG_NULLABLE) != 0
        || w->parent->dictionary == w->schema)
        return TL_OK;
    if (tl_type_of(w->parent, &outer, err) == TL_OK
        && ((outer.id == TL_TYPE_STRUCT && tli_arrow_nulls_hidden(a, parent, 1))
            || (outer.id == TL_TYPE_FIXED_LIST && tli_arrow_nulls_hidden(a, parent, outer.size))))
        return TL_OK;
    return tli_arrow_bad(err, "a null in a column that is not nullable");
}

/* Offsets: from 0 on, never falling, at most `most` (-1: whatever). */
TLI_FN tl_status tli_arrow_check_offsets(const struct ArrowArray *a, int width, int64_t most, tl_error *err)
{
    const void *offsets = a->buffers[1];
    int64_t i, last, falls = 0;
    if (a->length == 0)
        return TL_OK;
    if (offsets == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    last = tli_arrow_offset(offsets, width, a->offset);
    if (last < 0)
        return tli_arrow_bad(err, "a negative offset");
    for (i = 1; i <= a->length; i++) {
        int64_t next = tli_arrow_offset(offsets, width, a->offset + i);
        falls |= next < last;
        last = next;
    }
    if (falls)
        return tli_arrow_bad(err, "offsets fall");
    if (most >= 0 && last > most)
        return tli_arrow_bad(err, "offsets past the end of the child");
    if (most < 0 && last > 0 && a->buffers[2] == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    return TL_OK;
}

/* Each value that is not null is UTF-8. One look at all bytes does when no value begins inside a character; bytes of
   nulls may be anything, so a failure there is looked at value by value. */
TLI_FN tl_status tli_arrow_check_utf8(const struct ArrowArray *a, int width, tl_error *err)
{
    const uint8_t *data = (const uint8_t *)a->buffers[2];
    int64_t i, first, last;
    int inside = 0;
    if (a->length == 0)
        return TL_OK;
    first = tli_arrow_offset(a->buffers[1], width, a->offset);
    last = tli_arrow_offset(a->buffers[1], width, a->offset + a->length);
    if (last == first)
        return TL_OK;
    if (tli_text_utf8(data + first, (size_t)(last - first)) == (size_t)(last - first)) {
        for (i = 0; i < a->length; i++) {
            int64_t at = tli_arrow_offset(a->buffers[1], width, a->offset + i);
            inside |= at < last && (data[at] & 0xc0) == 0x80;
        }
        if (!inside)
            return TL_OK;
    }
    for (i = 0; i < a->length; i++) {
        int64_t from = tli_arrow_offset(a->buffers[1], width, a->offset + i);
        size_t size = (size_t)(tli_arrow_offset(a->buffers[1], width, a->offset + i + 1) - from);
        if (tli_arrow_valid(a, i) && tli_text_utf8(data + from, size) != size)
            return tli_arrow_bad(err, "text that is not UTF-8");
    }
    return TL_OK;
}

/* The bytes of view i (its index with the offset added), which was checked. */
TLI_FN tl_span tli_arrow_view(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *view = (const uint8_t *)a->buffers[1] + 16 * (size_t)i;
    uint32_t size = tli_bits_u32(view);
    if (size <= 12)
        return tli_text_span(view + 4, size);
    return tli_text_span((const uint8_t *)a->buffers[2 + tli_bits_u32(view + 8)] + tli_bits_u32(view + 12), size);
}

TLI_FN tl_status tli_arrow_check_views(const struct ArrowArray *a, int utf8, tl_error *err)
{
    int64_t i, buffers = a->n_buffers - 3;
    if (a->length > 0 && a->buffers[1] == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    for (i = 0; i < a->length; i++) {
        const uint8_t *view = (const uint8_t *)a->buffers[1] + 16 * (size_t)(a->offset + i);
        int32_t size = (int32_t)tli_bits_u32(view);
        tl_span text;
        if (!tli_arrow_valid(a, i))
            continue;
        if (size < 0)
            return tli_arrow_bad(err, "a view of negative size");
        if (size > 12) {
            int32_t buffer = (int32_t)tli_bits_u32(view + 8), from = (int32_t)tli_bits_u32(view + 12);
            if (buffer < 0 || buffer >= buffers || from < 0 || a->buffers[2 + buffer] == NULL
                || (int64_t)from + size > tli_arrow_offset(a->buffers[a->n_buffers - 1], 8, buffer))
                return tli_arrow_bad(err, "a view past the end of its buffer");
        }
        text = tli_arrow_view(a, a->offset + i);
        if (size > 12 && TLI_COMPARE(view + 4, text.data, 4) != 0)
            return tli_arrow_bad(err, "a view with a wrong prefix");
        if (utf8 && tli_text_utf8(text.data, text.size) != text.size)
            return tli_arrow_bad(err, "text that is not UTF-8");
    }
    return TL_OK;
}

/* Value i (offset added) of an integer array; INT64_MAX for what a signed integer cannot hold. */
TLI_FN int64_t tli_arrow_integer(const tl_type *type, const void *values, int64_t i)
{
    const uint8_t *p = (const uint8_t *)values + (size_t)i * (size_t)type->width;
    int is_unsigned = type->id >= TL_TYPE_UINT8;
    uint64_t wide;
    switch (type->width) {
    case 1:
        return is_unsigned ? (int64_t)*p : (int64_t)(int8_t)*p;
    case 2:
        return is_unsigned ? (int64_t)tli_bits_u16(p) : (int64_t)(int16_t)tli_bits_u16(p);
    case 4:
        return is_unsigned ? (int64_t)tli_bits_u32(p) : (int64_t)(int32_t)tli_bits_u32(p);
    default:
        wide = tli_bits_u64(p);
        return is_unsigned && wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
    }
}

TLI_FN tl_status tli_arrow_check_indices(const struct ArrowArray *a, const tl_type *type, tl_error *err)
{
    int64_t i;
    for (i = 0; i < a->length; i++) {
        int64_t index = tli_arrow_integer(type, a->buffers[1], a->offset + i);
        if ((index < 0 || index >= a->dictionary->length) && tli_arrow_valid(a, i))
            return tli_arrow_bad(err, "a dictionary index out of range");
    }
    return TL_OK;
}

/* The least length of each child, which must not be less. */
TLI_FN tl_status tli_arrow_check_children(const struct ArrowArray *a, int64_t each, tl_error *err)
{
    uint64_t need;
    int64_t i;
    if (!tli_bits_mul((uint64_t)(a->offset + a->length), (uint64_t)each, &need))
        need = UINT64_MAX;
    for (i = 0; i < a->n_children; i++)
        if (a->children[i]->length < 0 || need > (uint64_t)a->children[i]->length)
            return tli_arrow_bad(err, "a child is too short");
    return TL_OK;
}

TLI_FN tl_status tli_arrow_check_values(const struct ArrowArray *a, const tl_type *type, tl_error *err)
{
    tli_arrow_layout layout = tli_arrow_layout_of(type->id);
    int width = tli_arrow_offset_width(layout);
    tl_status st;
    switch (layout) {
    case TLI_ARROW_NULL:
        return TL_OK;
    case TLI_ARROW_BITS:
    case TLI_ARROW_FIXED:
        if (a->buffers[1] == NULL && a->length > 0 && (layout == TLI_ARROW_BITS || type->width > 0))
            return tli_arrow_bad(err, "an array lacks a buffer");
        return a->dictionary != NULL ? tli_arrow_check_indices(a, type, err) : TL_OK;
    case TLI_ARROW_BYTES:
    case TLI_ARROW_LARGE_BYTES:
        st = tli_arrow_check_offsets(a, width, -1, err);
        if (st == TL_OK && (type->id == TL_TYPE_UTF8 || type->id == TL_TYPE_LARGE_UTF8))
            st = tli_arrow_check_utf8(a, width, err);
        return st;
    case TLI_ARROW_VIEWS:
        return tli_arrow_check_views(a, type->id == TL_TYPE_UTF8_VIEW, err);
    case TLI_ARROW_LIST:
    case TLI_ARROW_LARGE_LIST:
        return a->children[0]->length < 0 ? tli_arrow_bad(err, "an array has a wrong length or offset")
                                          : tli_arrow_check_offsets(a, width, a->children[0]->length, err);
    default:
        return tli_arrow_check_children(a, layout == TLI_ARROW_FIXED_LIST ? type->size : 1, err);
    }
}

/* Checks an array from outside against its schema, which was checked: counts, offsets, texts, indices, nulls. The sizes
   of buffers cannot be seen through the interface and are believed. */
TLI_NOINLINE tl_status tli_arrow_array_check(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                             const tl_limits *limits, tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tli_arrow_walk w;
    int more;
    if (array == NULL || array->release == NULL)
        return tli_arrow_bad(err, "an array is missing or was released");
    if (array->length > 0 && (uint64_t)array->length > most.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", TL_NO_POSITION, (uint64_t)array->length);
    tli_arrow_walk_begin(&w, schema, array);
    while ((more = tli_arrow_walk_next(&w, most.depth)) > 0) {
        tl_type type;
        tl_status st = tl_type_of(w.schema, &type, err);
        if (st == TL_OK)
            st = tli_arrow_check_shape(&w, tli_arrow_layout_of(type.id), err);
        if (st == TL_OK)
            st = tli_arrow_check_nulls(&w, &type, err);
        if (st == TL_OK)
            st = tli_arrow_check_values(w.array, &type, err);
        if (st != TL_OK)
            return st;
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    return TL_OK;
}

/* ---- exports ---- */

TLI_FN void tli_arrow_array_release(struct ArrowArray *array)
{
    tli_arrow_place *place = (tli_arrow_place *)array->private_data;
    struct ArrowArray *nodes = (struct ArrowArray *)place->nodes;
    tli_arrow_block *block = place->block;
    tli_arrow_place *first = place - place->index;
    uint32_t i = place->index + 1, end = place->end;
    while (i < end) {
        if (nodes[i].release == NULL) { /* moved out with all below it, or released by itself */
            i = first[i].end;
            continue;
        }
        nodes[i++].release = NULL;
        tli_arrow_block_drop(block);
    }
    array->release = NULL;
    tli_arrow_block_drop(block);
}

/* 1 when an exported tree may point at this buffer: 8-aligned, and in memory that lives as long as the store. */
TLI_FN int tli_arrow_shared(const tli_store *store, const struct ArrowArray *a, const void *buffer)
{
    uintptr_t at = (uintptr_t)buffer, body = (uintptr_t)store->body;
    if (a->release != tli_arrow_array_stays || a->private_data != (const void *)store || (at & 7) != 0)
        return 0;
    return store->release != NULL || store->body == NULL || at < body || at - body >= store->body_size;
}

typedef struct tli_arrow_export_size {
    size_t nodes;
    size_t children;
    size_t buffers; /* entries of all buffers arrays */
    uint64_t copies;
    size_t head; /* bytes of nodes, places, children and buffers arrays */
} tli_arrow_export_size;

TLI_NOINLINE tl_status tli_arrow_export_measure(const tli_store *store, const struct ArrowSchema *schema,
                                          const struct ArrowArray *array, tli_arrow_export_size *size, tl_error *err)
{
    tli_arrow_walk w;
    int more;
    TLI_FILL(size, 0, sizeof *size);
    tli_arrow_walk_begin(&w, schema, array);
    while ((more = tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX)) > 0) {
        const struct ArrowArray *a = w.array;
        tl_type type;
        int64_t i;
        tl_status st = tl_type_of(w.schema, &type, err);
        if (st != TL_OK)
            return st;
        size->nodes++;
        size->children += (size_t)a->n_children;
        size->buffers += (size_t)a->n_buffers;
        for (i = 0; i < a->n_buffers; i++) {
            uint64_t bytes = tli_arrow_buffer_size(&type, a, i);
            if (bytes > SIZE_MAX / 8 || size->copies > SIZE_MAX / 8)
                return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
            if (bytes != 0 && !tli_arrow_shared(store, a, a->buffers[i]))
                size->copies += (bytes + 15) & ~(uint64_t)15;
        }
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    size->head = size->nodes * (sizeof(struct ArrowArray) + sizeof(tli_arrow_place))
                 + (size->children + size->buffers) * sizeof(void *);
    size->head = tli_bits_round_up(size->head, TLI_MEM_ALIGN);
    return TL_OK;
}

/* One node's buffers: shared, copied to *copies, or zeros where nothing is read. An absent validity stays absent. */
TLI_FN void tli_arrow_export_buffers(const tli_store *store, const struct ArrowSchema *schema,
                                     const struct ArrowArray *from, const void **to, uint8_t **copies)
{
    static const uint64_t zeros[2] = {0, 0};
    tl_type type;
    int64_t i;
    (void)tl_type_of(schema, &type, NULL);
    for (i = 0; i < from->n_buffers; i++) {
        size_t bytes = (size_t)tli_arrow_buffer_size(&type, from, i);
        if (bytes == 0) {
            to[i] = i == 0 ? NULL : (const void *)zeros;
        } else if (tli_arrow_shared(store, from, from->buffers[i])) {
            to[i] = from->buffers[i];
        } else {
            TLI_COPY(*copies, from->buffers[i], bytes);
            to[i] = *copies;
            *copies += tli_bits_round_up(bytes, 16);
        }
    }
}

TLI_NOINLINE struct ArrowArray *tli_arrow_export_fill(tli_arrow_block *block, void *memory,
                                                      const tli_arrow_export_size *size,
                                                const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    struct ArrowArray *nodes = (struct ArrowArray *)memory;
    tli_arrow_place *places = (tli_arrow_place *)(void *)(nodes + size->nodes);
    struct ArrowArray **children = (struct ArrowArray **)(void *)(places + size->nodes);
    const void **buffers = (const void **)(void *)(children + size->children);
    uint8_t *copies = (uint8_t *)memory + size->head;
    tli_arrow_walk w;
    uint32_t n = 0, i;
    tli_arrow_walk_begin(&w, schema, array);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        struct ArrowArray *to = &nodes[n];
        *to = *w.array;
        tli_arrow_export_buffers(block->store, w.schema, w.array, buffers, &copies);
        if (to->n_buffers > 0 && buffers[0] == NULL)
            to->null_count = 0;
        if (to->length == 0)
            to->offset = 0;
        to->buffers = to->n_buffers > 0 ? buffers : NULL;
        buffers += to->n_buffers;
        to->release = tli_arrow_array_release;
        to->private_data = &places[n];
        places[n].block = block;
        places[n].nodes = nodes;
        places[n].index = n;
        places[n++].depth = w.depth;
    }
    tli_arrow_places_end(places, n);
    for (i = 0; i < n; i++) {
        uint32_t child = i + 1;
        int64_t k;
        nodes[i].children = nodes[i].n_children > 0 ? children : NULL;
        for (k = 0; k < nodes[i].n_children; k++, child = places[child].end)
            *children++ = &nodes[child];
        if (nodes[i].dictionary != NULL)
            nodes[i].dictionary = &nodes[child];
    }
    return nodes;
}

/* Hands out an array that was checked. The tree keeps the store, shares the buffers that may be shared, and has copies
   of the others, 16-aligned, in its own block. */
TLI_FN tl_status tli_arrow_export(tli_store *store, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  struct ArrowArray *out, tl_error *err)
{
    tli_arrow_export_size size;
    tli_arrow_block *block;
    void *memory;
    tl_status st;
    TLI_FILL(out, 0, sizeof *out);
    st = tli_arrow_export_measure(store, schema, array, &size, err);
    if (st != TL_OK)
        return st;
    if (size.copies > SIZE_MAX / 8 || size.nodes > INT32_MAX)
        return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    block = tli_arrow_block_new(&store->allocator, size.nodes, size.head + (size_t)size.copies, &memory, err);
    if (block == NULL)
        return tli_arrow_failed(err);
    tli_mem_store_keep(store);
    block->store = store;
    *out = *tli_arrow_export_fill(block, memory, &size, schema, array);
    return TL_OK;
}
