/* >>scan */
#ifndef TIMELAKE_NO_LAKE

TLI_FN tl_value tli_scan_value(tl_literal_kind kind)
{
    tl_value v;
    TLI_FILL(&v, 0, sizeof v);
    v.kind = kind;
    return v;
}

TL_API tl_value tl_bool(int value)
{
    tl_value v = tli_scan_value(TL_LITERAL_BOOL);
    v.integer = value != 0;
    return v;
}

TL_API tl_value tl_i64(int64_t value)
{
    tl_value v = tli_scan_value(TL_LITERAL_INT);
    v.integer = value;
    return v;
}

TL_API tl_value tl_f64(double value)
{
    tl_value v = tli_scan_value(TL_LITERAL_REAL);
    v.real = value;
    return v;
}

TL_API tl_value tl_micros(int64_t value)
{
    tl_value v = tli_scan_value(TL_LITERAL_MICROS);
    v.integer = value;
    return v;
}

TL_API tl_value tl_string(tl_span value)
{
    tl_value v = tli_scan_value(TL_LITERAL_TEXT);
    v.text = value;
    return v;
}

/* ---- values and bounds in one form, so that they can be compared ---- */

enum { TLI_SCAN_UNKNOWN, TLI_SCAN_INT, TLI_SCAN_REAL, TLI_SCAN_WIDE, TLI_SCAN_BYTES };

typedef struct tli_scan_key {
    uint8_t kind;     /* UNKNOWN: nothing can be said */
    uint8_t truncated; /* bytes that may be cut: a text's bounds */
    int64_t integer;
    double real;
    double real_to; /* of a value: it may be anything from `real` to this */
    int64_t high;   /* of a wide one (decimals) */
    uint64_t low;
    tl_span bytes;
    uint8_t uuid[16];
} tli_scan_key;

TLI_INLINE int tli_scan_nan(double v)
{
    return v != v;
}

/* <0, 0, >0; both are of one kind, neither unknown nor NaN. */
TLI_FN int tli_scan_order(const tli_scan_key *a, const tli_scan_key *b)
{
    switch (a->kind) {
    case TLI_SCAN_INT:
        return (a->integer > b->integer) - (a->integer < b->integer);
    case TLI_SCAN_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case TLI_SCAN_WIDE:
        if (a->high != b->high)
            return a->high > b->high ? 1 : -1;
        return (a->low > b->low) - (a->low < b->low);
    default:
        return tl_span_compare(a->bytes, b->bytes);
    }
}

/* Signed little-endian of 4 or 8 bytes; a column may have been widened since the file was written. */
TLI_FN int tli_scan_integer(tl_span bound, int widened, int64_t *value)
{
    if (bound.size == 8)
        *value = (int64_t)tli_bits_le64(bound.data);
    else if (bound.size == 4 && widened)
        *value = (int32_t)tli_bits_le32(bound.data);
    else
        return 0;
    return 1;
}

/* Big-endian two's complement of 1 to 16 bytes. */
TLI_FN int tli_scan_wide(tl_span bound, tli_scan_key *key)
{
    size_t i;
    uint64_t fill;
    if (bound.size == 0 || bound.size > 16)
        return 0;
    fill = (uint8_t)bound.data[0] >= 128 ? UINT64_MAX : 0;
    key->low = fill;
    for (i = 0; i < bound.size; i++) {
        fill = fill << 8 | key->low >> 56;
        key->low = key->low << 8 | (uint8_t)bound.data[i];
    }
    key->high = (int64_t)fill;
    return 1;
}

TLI_FN int tli_scan_real(tl_span bound, double *value)
{
    uint32_t bits;
    uint64_t wide;
    float single;
    if (bound.size == 4) {
        bits = tli_bits_le32(bound.data);
        TLI_COPY(&single, &bits, 4);
        *value = (double)single;
    } else if (bound.size == 8) {
        wide = tli_bits_le64(bound.data);
        TLI_COPY(value, &wide, 8);
    } else
        return 0;
    return !tli_scan_nan(*value);
}

/* A bound of a column as a key. Whatever is not as the type says is unknown. */
TLI_FN void tli_scan_bound(const tl_field *f, tl_span bound, tli_scan_key *key)
{
    int ok = 0;
    key->kind = TLI_SCAN_UNKNOWN;
    key->truncated = 0;
    if (bound.data == NULL)
        return;
    switch (f->type) {
    case TL_ICEBERG_BOOLEAN:
        ok = bound.size == 1;
        key->integer = ok ? bound.data[0] != 0 : 0;
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_INT:
    case TL_ICEBERG_DATE:
        ok = bound.size == 4 && tli_scan_integer(bound, 1, &key->integer);
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_LONG:
        ok = tli_scan_integer(bound, 1, &key->integer);
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_TIME:
    case TL_ICEBERG_TIMESTAMP:
    case TL_ICEBERG_TIMESTAMPTZ:
    case TL_ICEBERG_TIMESTAMP_NS:
    case TL_ICEBERG_TIMESTAMPTZ_NS:
        ok = tli_scan_integer(bound, 0, &key->integer);
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_FLOAT:
    case TL_ICEBERG_DOUBLE:
        ok = tli_scan_real(bound, &key->real);
        key->kind = TLI_SCAN_REAL;
        break;
    case TL_ICEBERG_DECIMAL:
        ok = tli_scan_wide(bound, key);
        key->kind = TLI_SCAN_WIDE;
        break;
    case TL_ICEBERG_OTHER:
        break;
    default:
        ok = 1;
        key->bytes = bound;
        key->truncated = f->type != TL_ICEBERG_UUID;
        key->kind = TLI_SCAN_BYTES;
        break;
    }
    if (!ok)
        key->kind = TLI_SCAN_UNKNOWN;
}

/* ---- a condition's value as a key ---- */

TLI_FN int tli_scan_is_stamp(tl_iceberg_type type)
{
    return type >= TL_ICEBERG_TIMESTAMP && type <= TL_ICEBERG_TIMESTAMPTZ_NS;
}

TLI_FN int tli_scan_nanos(tl_iceberg_type type)
{
    return type == TL_ICEBERG_TIMESTAMP_NS || type == TL_ICEBERG_TIMESTAMPTZ_NS;
}

/* A timestamp's text: with or without a zone, or a date alone. */
TLI_FN int tli_scan_stamp(tl_span text, tl_iceberg_type type, int64_t *value)
{
    tl_unit unit = tli_scan_nanos(type) ? TL_UNIT_NANO : TL_UNIT_MICRO;
    int64_t days, per = tli_scan_nanos(type) ? 86400000000000 : 86400000000;
    if (tli_time_parse_stamp(text.data, text.size, unit, tl_text("UTC"), value)
        || tli_time_parse_stamp(text.data, text.size, unit, tli_text_span(NULL, 0), value))
        return 1;
    if (!tli_time_parse_date(text.data, text.size, &days) || days > INT64_MAX / per || days < INT64_MIN / per)
        return 0;
    *value = days * per;
    return 1;
}

/* 32 hex digits, with or without the usual hyphens. */
TLI_FN int tli_scan_uuid(tl_span text, uint8_t *out)
{
    char digits[32];
    size_t i, n = 0;
    for (i = 0; i < text.size; i++) {
        if (text.data[i] == '-')
            continue;
        if (n == 32)
            return 0;
        digits[n++] = text.data[i];
    }
    return n == 32 && tli_number_unhex(out, digits, 32);
}

/* An exact decimal at the column's scale; one that has more digits than the column is unknown, not wrong. */
TLI_FN int tli_scan_decimal(tl_span text, int32_t scale, tli_scan_key *key)
{
    uint8_t wide[16];
    double probe;
    key->kind = TLI_SCAN_UNKNOWN;
    if (!tli_number_parse_f64(text.data, text.size, &probe))
        return 0;
    if (tli_number_parse_decimal(text.data, text.size, wide, 16, 38, scale)) {
        key->kind = TLI_SCAN_WIDE;
        key->low = tli_bits_u64(wide + (TLI_BIG_ENDIAN ? 8 : 0));
        key->high = (int64_t)tli_bits_u64(wide + (TLI_BIG_ENDIAN ? 0 : 8));
    }
    return 1;
}

TLI_FN int tli_scan_text_key(const tl_field *f, tl_span text, tli_scan_key *key)
{
    int64_t days;
    key->kind = TLI_SCAN_INT;
    switch (f->type) {
    case TL_ICEBERG_STRING:
        key->kind = TLI_SCAN_BYTES;
        key->bytes = text;
        return 1;
    case TL_ICEBERG_DATE:
        return tli_time_parse_date(text.data, text.size, &key->integer);
    case TL_ICEBERG_TIME:
        return tli_time_parse_clock(text.data, text.size, TL_UNIT_MICRO, &key->integer);
    case TL_ICEBERG_INT:
    case TL_ICEBERG_LONG:
        return tli_number_parse_i64(text.data, text.size, &key->integer);
    case TL_ICEBERG_DECIMAL:
        return tli_scan_decimal(text, f->scale, key);
    case TL_ICEBERG_FLOAT:
    case TL_ICEBERG_DOUBLE:
        key->kind = TLI_SCAN_REAL;
        return tli_number_parse_f64(text.data, text.size, &key->real);
    case TL_ICEBERG_UUID:
        key->kind = TLI_SCAN_BYTES;
        key->bytes = tli_text_span(key->uuid, 16);
        return tli_scan_uuid(text, key->uuid);
    case TL_ICEBERG_BINARY:
    case TL_ICEBERG_FIXED: /* hex is checked; long ones are not unpacked here, and so prune nothing */
        key->kind = TLI_SCAN_UNKNOWN;
        if (text.size <= 2 * sizeof key->uuid) {
            key->kind = TLI_SCAN_BYTES;
            key->bytes = tli_text_span(key->uuid, text.size / 2);
            return text.size % 2 == 0 && tli_number_unhex(key->uuid, text.data, text.size);
        }
        return text.size % 2 == 0;
    default:
        (void)days;
        return tli_scan_is_stamp(f->type) && tli_scan_stamp(text, f->type, &key->integer);
    }
}

TLI_FN int tli_scan_int_key(const tl_field *f, int64_t value, tli_scan_key *key)
{
    char digits[24];
    key->kind = TLI_SCAN_INT;
    key->integer = value;
    switch (f->type) {
    case TL_ICEBERG_FLOAT:
    case TL_ICEBERG_DOUBLE: /* beyond 2^53 the double is not the number: then nothing is said */
        key->kind = value < -((int64_t)1 << 53) || value > (int64_t)1 << 53 ? TLI_SCAN_UNKNOWN : TLI_SCAN_REAL;
        key->real = (double)value;
        return 1;
    case TL_ICEBERG_DECIMAL:
        return tli_scan_decimal(tli_text_span(digits, tli_number_i64(digits, value)), f->scale, key);
    default:
        return f->type == TL_ICEBERG_INT || f->type == TL_ICEBERG_LONG || f->type == TL_ICEBERG_DATE
               || f->type == TL_ICEBERG_TIME || tli_scan_is_stamp(f->type);
    }
}

TLI_FN int tli_scan_key_exactly(const tl_field *f, const tl_value *v, tli_scan_key *key)
{
    key->truncated = 0;
    if (f->type == TL_ICEBERG_OTHER)
        return 0;
    switch (v->kind) {
    case TL_LITERAL_BOOL:
        key->kind = TLI_SCAN_INT;
        key->integer = v->integer;
        return f->type == TL_ICEBERG_BOOLEAN;
    case TL_LITERAL_INT:
        return tli_scan_int_key(f, v->integer, key);
    case TL_LITERAL_REAL:
        key->kind = TLI_SCAN_REAL;
        key->real = v->real;
        return f->type == TL_ICEBERG_FLOAT || f->type == TL_ICEBERG_DOUBLE;
    case TL_LITERAL_MICROS:
        key->kind = TLI_SCAN_INT;
        key->integer = v->integer;
        if (tli_scan_nanos(f->type)) {
            if (v->integer > INT64_MAX / 1000 || v->integer < INT64_MIN / 1000)
                key->kind = TLI_SCAN_UNKNOWN;
            else
                key->integer = v->integer * 1000;
        }
        return tli_scan_is_stamp(f->type) || f->type == TL_ICEBERG_TIME;
    default:
        return v->text.data != NULL && tli_scan_text_key(f, v->text, key);
    }
}

/* A number that no float is exactly: some engines round it to one for a column of floats, others widen the column. What
   holds for both is what holds for all numbers between. */
TLI_FN void tli_scan_round(const tl_field *f, tli_scan_key *key)
{
    const double most = 3.4028234663852886e38;
    double rounded;
    key->real_to = key->real;
    if (f->type != TL_ICEBERG_FLOAT || key->kind != TLI_SCAN_REAL || tli_scan_nan(key->real - key->real))
        return; /* NaN and the infinities are floats */
    if (key->real > most || key->real < -most) {
        key->kind = TLI_SCAN_UNKNOWN;
        return;
    }
    rounded = (double)(float)key->real;
    key->real_to = TLI_MAX(key->real, rounded);
    key->real = TLI_MIN(key->real, rounded);
}

/* The value of a condition on a column. 0: it is of another type. */
TLI_FN int tli_scan_key_of(const tl_field *f, const tl_value *v, tli_scan_key *key)
{
    int ok;
    key->real = 0;
    ok = tli_scan_key_exactly(f, v, key);
    tli_scan_round(f, key);
    return ok;
}

/* ---- filters ---- */

TL_API tl_filter tl_filter_begin(tl_table *table)
{
    tl_filter f;
    TLI_FILL(&f, 0, sizeof f);
    f.table = table;
    return f;
}

TLI_FN void tli_scan_wrong(tl_filter *f, tl_status status, const char *text)
{
    if (f->status == TL_OK) {
        f->status = status;
        f->text = text;
    }
}

TLI_FN tl_condition_of *tli_scan_add(tl_filter *f, tl_span column, tl_compare compare)
{
    const tl_field *field = tl_metadata_field(&f->table->metadata, column);
    tl_condition_of *c;
    if (field == NULL || f->count == TL_FILTER_MAX) {
        tli_scan_wrong(f, field == NULL ? TL_ABSENT : TL_MISUSE,
                       field == NULL ? "a filter on a column that is not there" : "a filter of too many conditions");
        return NULL;
    }
    c = &f->conditions[f->count++];
    c->field = field;
    c->compare = compare;
    return c;
}

TLI_FN void tli_scan_check(tl_filter *f, const tl_condition_of *c, const tl_value *v)
{
    tli_scan_key key;
    if (!tli_scan_key_of(c->field, v, &key))
        tli_scan_wrong(f, TL_MISUSE, "a filter's value is of another type than its column");
}

TL_API void tl_filter_compare(tl_filter *filter, tl_span column, tl_compare compare, tl_value value)
{
    tl_condition_of *c = tli_scan_add(filter, column, compare);
    if (c == NULL)
        return;
    c->value = value;
    c->count = 1;
    if (compare > TL_GREATER_EQUAL)
        tli_scan_wrong(filter, TL_MISUSE, "tl_filter_compare takes =, <, <=, > and >=");
    else
        tli_scan_check(filter, c, &value);
}

TL_API void tl_filter_equal(tl_filter *filter, const char *column, tl_value value)
{
    tl_filter_compare(filter, tl_text(column), TL_EQUAL, value);
}

TL_API void tl_filter_between(tl_filter *filter, const char *column, tl_value low, tl_value high)
{
    tl_filter_compare(filter, tl_text(column), TL_GREATER_EQUAL, low);
    tl_filter_compare(filter, tl_text(column), TL_LESS_EQUAL, high);
}

TL_API void tl_filter_in(tl_filter *filter, tl_span column, const tl_value *values, uint32_t count)
{
    tl_condition_of *c = tli_scan_add(filter, column, TL_IN);
    uint32_t i;
    if (c == NULL)
        return;
    c->values = values;
    c->count = count;
    for (i = 0; i < count; i++)
        tli_scan_check(filter, c, &values[i]);
}

TL_API void tl_filter_null(tl_filter *filter, tl_span column, int is_null)
{
    (void)tli_scan_add(filter, column, is_null ? TL_IS_NULL : TL_IS_NOT_NULL);
}

/* ---- can a file match? ---- */

/* What is known of one column of one file. */
typedef struct tli_scan_range {
    tli_scan_key low, high;
    uint8_t no_nulls;  /* none is null */
    uint8_t all_null;
    uint8_t no_nans;   /* none is NaN, or the column has no such values */
} tli_scan_range;

/* A text's bound may be cut short: a value that goes on from an upper bound may be there. */
TLI_FN int tli_scan_above(const tli_scan_key *value, const tli_scan_key *high)
{
    if (high->kind != value->kind || high->kind == TLI_SCAN_UNKNOWN || tli_scan_order(value, high) <= 0)
        return 0;
    return !high->truncated || value->bytes.size < high->bytes.size
           || (high->bytes.size != 0 && TLI_COMPARE(value->bytes.data, high->bytes.data, high->bytes.size) != 0);
}

TLI_FN int tli_scan_below(const tli_scan_key *value, const tli_scan_key *low)
{
    if (low->kind != value->kind || low->kind == TLI_SCAN_UNKNOWN)
        return 0;
    return value->kind == TLI_SCAN_REAL ? value->real_to < low->real : tli_scan_order(value, low) < 0;
}

/* Nothing lies beyond a bound, seen from a value that equals it. But it does where the bound may be cut, and beyond
   zero: some engines sort -0.0 before 0.0. */
TLI_FN int tli_scan_touches(const tli_scan_key *value, const tli_scan_key *bound)
{
    return bound->kind == value->kind && bound->kind != TLI_SCAN_UNKNOWN && !bound->truncated
           && tli_scan_order(value, bound) == 0
           && (value->kind != TLI_SCAN_REAL
               || (!(value->real < value->real_to) && (value->real < 0 || value->real > 0)));
}

/* Can a row with `column compare value` be there? NaN is greater than every number in the engines that read these
   tables, so an upper bound says nothing about > where NaNs may be. */
TLI_FN int tli_scan_may(const tli_scan_range *r, tl_compare compare, const tli_scan_key *value)
{
    if (r->all_null)
        return 0;
    if (value->kind == TLI_SCAN_UNKNOWN)
        return 1;
    if (value->kind == TLI_SCAN_REAL && tli_scan_nan(value->real))
        return compare == TL_LESS || compare == TL_LESS_EQUAL || !r->no_nans;
    switch (compare) {
    case TL_EQUAL:
    case TL_IN:
        return !tli_scan_below(value, &r->low) && !tli_scan_above(value, &r->high);
    case TL_LESS:
        return !tli_scan_below(value, &r->low) && !tli_scan_touches(value, &r->low);
    case TL_LESS_EQUAL:
        return !tli_scan_below(value, &r->low);
    case TL_GREATER:
        return !r->no_nans || !(tli_scan_above(value, &r->high) || tli_scan_touches(value, &r->high));
    default:
        return !r->no_nans || !tli_scan_above(value, &r->high);
    }
}

/* A condition whose values are in the form of bounds. */
typedef struct tli_scan_test {
    const tl_condition_of *condition;
    tli_scan_key *keys; /* condition->count of them */
} tli_scan_test;

TLI_FN int tli_scan_may_match(const tli_scan_test *test, const tli_scan_range *r)
{
    const tl_condition_of *c = test->condition;
    uint32_t i;
    if (c->compare == TL_IS_NULL)
        return !r->no_nulls;
    if (c->compare == TL_IS_NOT_NULL)
        return !r->all_null;
    for (i = 0; i < c->count; i++)
        if (tli_scan_may(r, c->compare, &test->keys[i]))
            return 1;
    return 0;
}

TLI_FN void tli_scan_range_of(const tl_field *f, const tl_column *c, tli_scan_range *r)
{
    int real = f->type == TL_ICEBERG_FLOAT || f->type == TL_ICEBERG_DOUBLE;
    tli_scan_bound(f, c->lower, &r->low);
    tli_scan_bound(f, c->upper, &r->high);
    r->no_nulls = (uint8_t)(c->has_nulls && c->nulls == 0);
    r->all_null = (uint8_t)(c->has_nulls && c->has_values && c->values == c->nulls && c->values != 0);
    r->no_nans = (uint8_t)(!real || (c->has_nans && c->nans == 0));
}

/* Microseconds where a partition begins; days, hours or months since 1970. 0: out of range. */
TLI_FN int tli_scan_partition_start(tl_transform transform, int64_t value, int64_t *micros)
{
    int64_t per = transform == TL_TRANSFORM_HOUR ? 3600000000 : 86400000000, days, year, month;
    if (transform == TL_TRANSFORM_MONTH || transform == TL_TRANSFORM_YEAR) {
        month = transform == TL_TRANSFORM_YEAR ? value * 12 : value;
        year = 1970 + (month >= 0 ? month / 12 : -((11 - month) / 12));
        month = month - (year - 1970) * 12; /* 0..11 */
        year -= month < 2; /* March is the first month of a year that ends in February */
        month = (month + 10) % 12;
        days = 365 * year + (year >= 0 ? year / 4 - year / 100 + year / 400
                                       : -((3 - year) / 4) + (99 - year) / 100 - (399 - year) / 400);
        days += (153 * month + 2) / 5 - 719468;
        value = days;
    }
    if (value > INT64_MAX / per || value < INT64_MIN / per)
        return 0;
    *micros = value * per;
    return 1;
}

/* What a file's partition says of the column it comes from. Before 1970 some writers
   rounded up, so that partition v holds what lies in v-1, and 0 what lies in -1. */
TLI_FN int tli_scan_partition_range(const tl_metadata *m, const tl_field *f, const tl_file *file, tli_scan_range *r)
{
    int64_t low = file->partition, high = (int64_t)file->partition + 1, scale = tli_scan_nanos(f->type) ? 1000 : 1;
    TLI_FILL(r, 0, sizeof *r);
    if (!file->has_partition || f->id != m->partition_source_id || m->transform < TL_TRANSFORM_HOUR
        || m->transform > TL_TRANSFORM_YEAR)
        return 0;
    if (low <= 0)
        low--;
    if (!tli_scan_partition_start(m->transform, low, &low) || !tli_scan_partition_start(m->transform, high, &high))
        return 0;
    if (f->type == TL_ICEBERG_DATE) {
        r->low.integer = low / 86400000000;
        r->high.integer = high / 86400000000 - 1;
    } else if (tli_scan_is_stamp(f->type) && high <= INT64_MAX / scale && low >= INT64_MIN / scale) {
        r->low.integer = low * scale;
        r->high.integer = high * scale - 1;
    } else
        return 0;
    r->low.kind = r->high.kind = TLI_SCAN_INT;
    r->no_nans = 1;
    return 1;
}

/* ---- plans ---- */

/* Marks the files that cannot match: by partition, then by statistics. */
TLI_FN void tli_scan_by_partition(const tl_metadata *m, const tli_scan_test *tests, uint32_t count,
                                  const tl_files *files, uint8_t *out)
{
    uint32_t i;
    size_t row;
    tl_file file;
    tli_scan_range range;
    for (i = 0; i < count; i++) {
        const tl_condition_of *c = tests[i].condition;
        if (c->compare > TL_IN || c->field->id != m->partition_source_id)
            continue;
        for (row = 0; row < files->count; row++) {
            if (out[row])
                continue;
            tl_files_get(files, row, &file);
            if (tli_scan_partition_range(m, c->field, &file, &range) && !tli_scan_may_match(&tests[i], &range))
                out[row] = 1;
        }
    }
}

TLI_FN void tli_scan_by_statistics(const tli_scan_test *tests, uint32_t count, const tl_columns *columns,
                                   uint8_t *out)
{
    size_t row;
    uint32_t i;
    tl_column column;
    tli_scan_range range;
    for (row = 0; row < columns->count; row++) {
        tl_columns_get(columns, row, &column);
        if (out[column.file])
            continue;
        for (i = 0; i < count; i++) {
            if (tests[i].condition->field->id != column.field_id)
                continue;
            tli_scan_range_of(tests[i].condition->field, &column, &range);
            if (!tli_scan_may_match(&tests[i], &range)) {
                out[column.file] = 1;
                break;
            }
        }
    }
}

TLI_FN tl_status tli_scan_prune(tl_table *table, const tl_filter *filter, const tl_allocator *a, const tl_files *files,
                                uint8_t *out, tl_error *err)
{
    tli_scan_test tests[TL_FILTER_MAX];
    tl_columns columns;
    tli_scan_key *keys;
    size_t total = 0;
    uint32_t i, k;
    tl_status st = tl_head_columns(&table->head, TL_COLUMNS_ALL, &columns, err);
    if (st != TL_OK)
        return st;
    for (i = 0; i < filter->count; i++)
        total += filter->conditions[i].count;
    keys = total > SIZE_MAX / 2 / sizeof *keys ? NULL : (tli_scan_key *)tli_mem_new(a, (total + 1) * sizeof *keys);
    if (keys == NULL)
        return tli_mem_failed(a, err);
    for (i = 0, total = 0; i < filter->count; i++) { /* once, not for every file */
        const tl_condition_of *c = &filter->conditions[i];
        tests[i].condition = c;
        tests[i].keys = keys + total;
        for (k = 0; k < c->count; k++)
            (void)tli_scan_key_of(c->field, c->values != NULL ? &c->values[k] : &c->value, &keys[total++]);
    }
    tli_scan_by_partition(&table->metadata, tests, filter->count, files, out);
    tli_scan_by_statistics(tests, filter->count, &columns, out);
    tli_mem_delete(a, keys, (total + 1) * sizeof *keys);
    return TL_OK;
}

/* Newest partition first, then the greater path; no partition last. */
TLI_FN int tli_scan_before(const tl_plan_file *a, const tl_plan_file *b)
{
    if (a->file.has_partition != b->file.has_partition)
        return a->file.has_partition;
    if (a->file.has_partition && a->file.partition != b->file.partition)
        return a->file.partition > b->file.partition;
    return tl_span_compare(a->file.path, b->file.path) > 0;
}

TLI_FN int tli_scan_path_before(const tl_plan_file *a, const tl_plan_file *b)
{
    return tl_span_compare(a->file.path, b->file.path) < 0;
}

/* Merge sort of pointers by runs that double: no recursion, and no worse than n log n. Answers which of the two arrays
   has the result. */
TLI_FN const tl_plan_file **tli_scan_sort(const tl_plan_file **order, const tl_plan_file **spare, size_t count,
                                          int (*before)(const tl_plan_file *, const tl_plan_file *))
{
    size_t run, i;
    for (run = 1; run < count; run *= 2) {
        const tl_plan_file **swap = order;
        for (i = 0; i < count;) {
            size_t a = i, b = TLI_MIN(i + run, count), a_end = b, b_end = TLI_MIN(b + run, count);
            for (; i < b_end; i++)
                spare[i] = a < a_end && (b >= b_end || !before(order[b], order[a])) ? order[a++] : order[b++];
        }
        order = spare;
        spare = swap;
    }
    return order;
}

/* Finds the files' footers in the head: files by path (in `order`, with as much room behind it), each footer by binary
   search. None, or none to be had: they are read from the files. */
TLI_FN void tli_scan_footers(tl_table *table, tl_plan_file *files, const tl_plan_file **order, size_t count)
{
    const tl_plan_file **by_path;
    tl_footers footers;
    tl_footer footer;
    size_t i;
    if (tl_head_footers(&table->head, &footers, NULL) != TL_OK || footers.count == 0)
        return;
    by_path = tli_scan_sort(order, order + count, count, tli_scan_path_before);
    for (i = 0; i < footers.count; i++) {
        size_t low = 0, high = count;
        tl_footers_get(&footers, i, &footer);
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (tl_span_compare(by_path[middle]->file.path, footer.path) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < count && tl_span_equal(by_path[low]->file.path, footer.path))
            files[by_path[low] - files].footer = footer.footer;
    }
}

/* Gathers the files that are left, in their order. `out` marks those that are not. */
TLI_FN tl_status tli_scan_gather(tl_plan *plan, tl_table *table, const tl_files *files, const uint8_t *out, int footers,
                                 tl_error *err)
{
    const tl_allocator *a = &plan->allocator;
    size_t i, n = 0, pointers;
    tl_plan_file *kept, *sorted;
    const tl_plan_file **order, **result;
    for (i = 0; i < files->count; i++)
        n += !out[i];
    pointers = 2 * (n + 1) * sizeof *order;
    kept = (tl_plan_file *)tli_mem_new(a, (n + 1) * sizeof *kept);
    sorted = (tl_plan_file *)tli_mem_new(a, (n + 1) * sizeof *sorted);
    order = (const tl_plan_file **)tli_mem_new(a, pointers);
    plan->count = n;
    plan->capacity = n + 1;
    plan->skipped = files->count - n;
    plan->file = sorted;
    if (kept != NULL && sorted != NULL && order != NULL) {
        for (i = n = 0; i < files->count; i++)
            if (!out[i]) {
                tl_files_get(files, i, &kept[n].file);
                kept[n].footer = tli_text_span(NULL, 0);
                order[n] = &kept[n];
                n++;
            }
        if (footers)
            tli_scan_footers(table, kept, order, n);
        for (i = 0; i < n; i++)
            order[i] = &kept[i];
        result = tli_scan_sort(order, order + n, n, tli_scan_before);
        for (i = 0; i < n; i++)
            sorted[i] = *result[i];
    }
    i = kept != NULL && sorted != NULL && order != NULL;
    tli_mem_delete(a, kept, (plan->count + 1) * sizeof *kept);
    tli_mem_delete(a, order, pointers);
    return i ? TL_OK : tli_mem_failed(a, err);
}

TL_API tl_status tl_plan_scan(tl_plan *plan, tl_table *table, const tl_filter *filter, const tl_plan_options *options,
                              tl_error *err)
{
    tl_files files;
    uint8_t *out;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(plan, 0, sizeof *plan);
    plan->allocator = tli_mem_allocator(options != NULL ? &options->allocator : NULL);
    if (filter != NULL && filter->status != TL_OK)
        return tli_err(err, filter->status, filter->text, TL_NO_POSITION);
    if (filter != NULL && filter->table != table)
        return tli_err(err, TL_MISUSE, "a filter that was made for another table version", TL_NO_POSITION);
    if (!table->has_files)
        return tli_err(err, TL_MISUSE, "the table was loaded without its files", TL_NO_POSITION);
    st = tl_head_files(&table->head, &files, err);
    if (st != TL_OK)
        return st;
    out = (uint8_t *)tli_mem_new(&plan->allocator, files.count + 1);
    if (out == NULL)
        return tli_mem_failed(&plan->allocator, err);
    TLI_FILL(out, 0, files.count + 1);
    if (filter != NULL && filter->count != 0)
        st = tli_scan_prune(table, filter, &plan->allocator, &files, out, err);
    if (st == TL_OK)
        st = tli_scan_gather(plan, table, &files, out, options == NULL || !options->no_footers, err);
    tli_mem_delete(&plan->allocator, out, files.count + 1);
    plan->table = tl_table_keep(table);
    if (st != TL_OK)
        tl_plan_free(plan);
    return st;
}

TL_API void tl_plan_free(tl_plan *plan)
{
    tl_allocator a = tli_mem_allocator(&plan->allocator);
    tli_mem_delete(&a, (void *)(uintptr_t)plan->file, plan->capacity * sizeof *plan->file);
    tl_table_drop(plan->table);
    TLI_FILL(plan, 0, sizeof *plan);
}
#endif /* TIMELAKE_NO_LAKE */
