/* >>tsfield */
#ifndef TIMELAKE_NO_LOG

#define TLI_TSFIELD_DEPTH 128u  /* of nested fields that a caller gives */
#define TLI_TSFIELD_FRAMES 44u /* of those in JSON that nests 127 deep: a list takes 3 levels */

/* ---- text ---- */

/* The bytes of the white space character at the start of `text`, 0 when there is none (Unicode's White_Space). */
TLI_FN size_t tli_tsfield_white(tl_span text)
{
    const uint8_t *p = (const uint8_t *)text.data;
    if (text.size == 0)
        return 0;
    if (p[0] < 0x80)
        return p[0] == ' ' || (p[0] >= 9 && p[0] <= 13);
    if (text.size >= 2 && p[0] == 0xc2)
        return p[1] == 0x85 || p[1] == 0xa0 ? 2 : 0;
    if (text.size < 3)
        return 0;
    if (p[0] == 0xe1)
        return p[1] == 0x9a && p[2] == 0x80 ? 3 : 0;
    if (p[0] == 0xe2 && p[1] == 0x80)
        return p[2] <= 0x8a || p[2] == 0xa8 || p[2] == 0xa9 || p[2] == 0xaf ? 3 : 0;
    if (p[0] == 0xe2)
        return p[1] == 0x81 && p[2] == 0x9f ? 3 : 0;
    return p[0] == 0xe3 && p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;
}

TLI_INLINE void tli_tsfield_skip(tl_span *text, size_t n)
{
    text->data += n;
    text->size -= n;
}

TLI_FN void tli_tsfield_skip_white(tl_span *text)
{
    size_t n;
    while ((n = tli_tsfield_white(*text)) != 0)
        tli_tsfield_skip(text, n);
}

/* Without the white space at both ends; `text` is UTF-8. */
TLI_FN tl_span tli_tsfield_strip(tl_span text)
{
    tl_span end = text;
    tli_tsfield_skip_white(&text);
    for (end = text; text.size != 0; text.size = end.size) {
        size_t n = 1;
        end = text;
        while (n < end.size && n < 3 && ((uint8_t)end.data[end.size - n] & 0xc0) == 0x80)
            n++;
        if (tli_tsfield_white(tli_text_span(end.data + end.size - n, n)) != n)
            break;
        end.size -= n;
    }
    return text;
}

TLI_FN int tli_tsfield_blank(tl_span text)
{
    return tli_tsfield_strip(text).size == 0;
}

/* ---- instants ---- */

/* Takes 1 to `most` digits. */
TLI_FN int tli_tsfield_digits(tl_span *text, size_t most, int64_t *value)
{
    size_t n = 0;
    *value = 0;
    for (; n < most && n < text->size && text->data[n] >= '0' && text->data[n] <= '9'; n++)
        *value = TLI_MIN(*value * 10 + (text->data[n] - '0'), (int64_t)1 << 40);
    tli_tsfield_skip(text, n);
    return n != 0;
}

/* White space around a separator of the date or the clock. */
TLI_FN int tli_tsfield_mark(tl_span *text, char mark)
{
    tli_tsfield_skip_white(text);
    if (text->size == 0 || text->data[0] != mark)
        return 0;
    tli_tsfield_skip(text, 1);
    tli_tsfield_skip_white(text);
    return 1;
}

/* Of the years -262143 to 262142, in UTC too. */
#define TLI_TSFIELD_FIRST INT64_C(-8334601315200)
#define TLI_TSFIELD_LAST INT64_C(8210266876799)

/* Days since 1970 of a date of the Gregorian calendar; 0 when there is no such day. */
TLI_FN int tli_tsfield_days(int64_t year, int64_t month, int64_t day, int64_t *days)
{
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    int64_t y, era;
    if (year < -262143 || year > 262142 || month < 1 || month > 12 || day < 1
        || day > lengths[month - 1] + (month == 2 && leap))
        return 0;
    y = month <= 2 ? year - 1 : year; /* years from March on, so that the leap day is the last */
    era = (y >= 0 ? y : y - 399) / 400;
    y -= era * 400;
    month += month > 2 ? -3 : 9;
    *days = era * 146097 + y * 365 + y / 4 - y / 100 + (153 * month + 2) / 5 + day - 1 - 719468;
    return 1;
}

TLI_FN int tli_tsfield_date(tl_span *text, int64_t *days)
{
    int64_t year, month, day;
    char sign = text->size != 0 ? text->data[0] : 0;
    int is_signed = sign == '+' || sign == '-';
    tli_tsfield_skip(text, (size_t)is_signed);
    if (!tli_tsfield_digits(text, is_signed ? SIZE_MAX : 4, &year) || !tli_tsfield_mark(text, '-')
        || !tli_tsfield_digits(text, 2, &month) || !tli_tsfield_mark(text, '-') || !tli_tsfield_digits(text, 2, &day))
        return 0;
    return tli_tsfield_days(sign == '-' ? -year : year, month, day, days);
}

/* Hour to fraction: seconds of the day. */
TLI_FN int tli_tsfield_clock(tl_span *text, int64_t *seconds, uint32_t *nanos)
{
    int64_t hour, minute, second;
    uint32_t digit = 100000000;
    if (!tli_tsfield_digits(text, 2, &hour) || !tli_tsfield_mark(text, ':') || !tli_tsfield_digits(text, 2, &minute)
        || !tli_tsfield_mark(text, ':') || !tli_tsfield_digits(text, 2, &second) || hour > 23 || minute > 59
        || second > 60)
        return 0;
    *nanos = second == 60 ? 1000000000 : 0;
    *seconds = hour * 3600 + minute * 60 + (second == 60 ? 59 : second);
    if (text->size == 0 || text->data[0] != '.')
        return 1;
    tli_tsfield_skip(text, 1);
    if (text->size == 0 || text->data[0] < '0' || text->data[0] > '9')
        return 0;
    for (; text->size != 0 && text->data[0] >= '0' && text->data[0] <= '9'; tli_tsfield_skip(text, 1)) {
        *nanos += digit * (uint32_t)(text->data[0] - '0');
        digit /= 10;
    }
    return 1;
}

/* Z, UTC in any case, or a sign, two digits of hours, two of minutes, with colons and white space between. */
TLI_FN int tli_tsfield_offset(tl_span *text, int64_t *seconds)
{
    const char *p = text->data;
    size_t sign = text->size == 0 ? 0 : p[0] == '+' || p[0] == '-' ? 1 : 0, n;
    int negative = sign != 0 && p[0] == '-', i;
    int64_t part[2];
    *seconds = 0;
    if (text->size != 0 && (p[0] | 0x20) == 'z') {
        tli_tsfield_skip(text, 1);
        return 1;
    }
    if (text->size >= 3 && (p[0] | 0x20) == 'u' && (p[1] | 0x20) == 't' && (p[2] | 0x20) == 'c') {
        tli_tsfield_skip(text, 3);
        return 1;
    }
    if (text->size >= 3 && TLI_COMPARE(p, "\xe2\x88\x92", 3) == 0) { /* a minus sign */
        negative = 1;
        sign = 3;
    }
    if (sign == 0)
        return 0;
    tli_tsfield_skip(text, sign);
    for (i = 0; i < 2; i++) {
        if (text->size < 2 || (uint8_t)(text->data[0] - '0') > 9 || (uint8_t)(text->data[1] - '0') > 9)
            return 0;
        part[i] = (text->data[0] - '0') * 10 + text->data[1] - '0';
        tli_tsfield_skip(text, 2);
        while (i == 0 && (n = text->size != 0 && text->data[0] == ':' ? 1 : tli_tsfield_white(*text)) != 0)
            tli_tsfield_skip(text, n);
    }
    *seconds = (part[0] * 60 + part[1]) * (negative ? -60 : 60);
    return part[0] < 24 && part[1] < 60;
}

TL_API int tl_log_time_parse(tl_span text, tl_log_time *time)
{
    int64_t days, clock, offset;
    tli_tsfield_skip_white(&text);
    if (!tli_tsfield_date(&text, &days) || text.size == 0 || (text.data[0] != ' ' && (text.data[0] | 0x20) != 't'))
        return 0;
    tli_tsfield_skip(&text, 1);
    tli_tsfield_skip_white(&text);
    if (!tli_tsfield_clock(&text, &clock, &time->nanos))
        return 0;
    tli_tsfield_skip_white(&text);
    if (!tli_tsfield_offset(&text, &offset))
        return 0;
    tli_tsfield_skip_white(&text);
    time->seconds = days * 86400 + clock - offset;
    return text.size == 0 && time->seconds >= TLI_TSFIELD_FIRST && time->seconds <= TLI_TSFIELD_LAST;
}

TL_API size_t tl_log_time_text(char *out, tl_log_time time)
{
    int64_t clock, days = tli_time_floor(time.seconds, 86400, &clock);
    uint32_t second = (uint32_t)clock, nanos = time.nanos, digits, i;
    int leap = nanos >= 1000000000;
    char *p = out + tli_time_date(out, days);
    *p++ = 'T';
    p = tli_time_two(p, second / 3600);
    *p++ = ':';
    p = tli_time_two(p, second / 60 % 60);
    *p++ = ':';
    p = tli_time_two(p, second % 60 + (uint32_t)leap);
    nanos -= leap ? 1000000000u : 0u;
    digits = nanos == 0 ? 0 : nanos % 1000000 == 0 ? 3 : nanos % 1000 == 0 ? 6 : 9;
    if (digits != 0)
        *p++ = '.';
    for (i = 0; i < digits; i++) {
        *p++ = (char)('0' + nanos / 100000000);
        nanos = nanos % 100000000 * 10;
    }
    *p++ = 'Z';
    return (size_t)(p - out);
}

/* ---- types ---- */

static const char *const tli_tsfield_types[] = {"Bool",   "Int32", "Int64", "UInt64",      "Float32",   "Float64",
                                                "Binary", "Utf8",  "Int96", "FixedBinary", "Timestamp", "Decimal",
                                                "Struct", "List",  "Map",   "Other"};
static const char *const tli_tsfield_units[] = {"Millis", "Micros", "Nanos"};

TL_API const char *tl_log_type_text(tl_log_type type)
{
    return (size_t)type < TLI_COUNT(tli_tsfield_types) ? tli_tsfield_types[type] : "Other";
}

/* The index of `text` among `count` names, or count. */
TLI_FN uint32_t tli_tsfield_find(const char *const *names, uint32_t count, tl_span text)
{
    uint32_t i = 0;
    while (i < count && !tl_span_equal(tl_text(names[i]), text))
        i++;
    return i;
}

TLI_INLINE uint32_t tli_tsfield_nodes(const tl_log_field *field)
{
    return field->nodes != 0 ? field->nodes : 1;
}

TLI_FN int tli_tsfield_same_notes(const tl_log_notes *a, const tl_log_notes *b)
{
    uint32_t i;
    if (a->count != b->count)
        return 0;
    for (i = 0; i < a->count; i++)
        if (!tl_span_equal(a->notes[i].key, b->notes[i].key) || !tl_span_equal(a->notes[i].value, b->notes[i].value))
            return 0;
    return 1;
}

/* Equal in everything, names and annotations too; not what is below. */
TLI_FN int tli_tsfield_same(const tl_log_field *a, const tl_log_field *b)
{
    return tl_span_equal(a->name, b->name) && a->type == b->type && tli_tsfield_nodes(a) == tli_tsfield_nodes(b)
           && a->width == b->width && a->scale == b->scale && a->unit == b->unit && a->nullable == b->nullable
           && a->keys_sorted == b->keys_sorted && (a->text.data == NULL) == (b->text.data == NULL)
           && tl_span_equal(a->text, b->text) && tli_tsfield_same_notes(&a->notes, &b->notes)
           && tli_tsfield_same_notes(&a->entries, &b->entries) && tli_tsfield_same_notes(&a->nulls, &b->nulls);
}

/* ---- from JSON ---- */

/* A document being decoded: `fault` says what is wrong with it. */
typedef struct tli_tsfield_source {
    const tl_json *tree;
    tli_store *store; /* where what is kept goes */
    tl_fault *fault;
    tl_status status;
} tli_tsfield_source;

/* Answers 0, and remembers the first time why. */
TLI_FN int tli_tsfield_bad(tli_tsfield_source *s, const char *text, const tl_json_node *at)
{
    if (s->status == TL_OK)
        s->status = tli_features_fault(s->fault, TL_FAULT_COMMIT, TL_CORRUPT, text,
                                       at == NULL ? TL_NO_POSITION : at->start);
    return 0;
}

TLI_FN void *tli_tsfield_take(tli_tsfield_source *s, uint64_t count, size_t size)
{
    tl_error err;
    void *p = tli_mem_take_array(s->store, count, size, &err);
    if (p == NULL && s->status == TL_OK)
        s->status = tli_features_wrap(s->fault, &err, TL_FAULT_OTHER);
    return p;
}

/* A copy that lives as long as the store. */
TLI_FN int tli_tsfield_keep(tli_tsfield_source *s, tl_span text, tl_span *kept)
{
    char *copy = (char *)tli_tsfield_take(s, text.size, 1);
    if (copy == NULL)
        return 0;
    if (text.size != 0)
        TLI_COPY(copy, text.data, text.size);
    *kept = tli_text_span(copy, text.size);
    return 1;
}

/* Finds the members of an object, of those called the same the last. Members that are not asked for are ignored, or
   refused when `strict`. */
TLI_FN int tli_tsfield_members(tli_tsfield_source *s, const tl_json_node *object, const char *const *names,
                               uint32_t count, const tl_json_node **values, int strict)
{
    const tl_json_node *key;
    uint32_t i, likely = 0; /* members mostly come in the order of their names here */
    for (i = 0; i < count; i++)
        values[i] = NULL;
    if (object == NULL || object->kind != TL_JSON_OBJECT)
        return tli_tsfield_bad(s, "an object is expected", object);
    for (key = tl_json_first(object); key != NULL; key = tl_json_next(object, key)) {
        tl_span name = tli_json_plain_text(s->tree, key);
        i = likely;
        if (i >= count || !tl_span_equal(tl_text(names[i]), name))
            i = tli_tsfield_find(names, count, name);
        likely = i + 1;
        if (i < count)
            values[i] = key + 1;
        else if (strict)
            return tli_tsfield_bad(s, "a member that is not known, where others are not allowed", key);
    }
    return 1;
}

/* The text of a string node, as long as the tree. */
TLI_FN int tli_tsfield_string(tli_tsfield_source *s, const tl_json_node *node, tl_span *text)
{
    if (node == NULL || node->kind != TL_JSON_STRING)
        return tli_tsfield_bad(s, "a string is expected", node);
    *text = tli_json_plain_text(s->tree, node);
    return 1;
}

TLI_FN int tli_tsfield_kept_string(tli_tsfield_source *s, const tl_json_node *node, tl_span *text)
{
    tl_span borrowed;
    return tli_tsfield_string(s, node, &borrowed) && tli_tsfield_keep(s, borrowed, text);
}

/* A string, or null or nothing: absent. */
TLI_FN int tli_tsfield_optional(tli_tsfield_source *s, const tl_json_node *node, tl_span *text)
{
    *text = tli_text_span(NULL, 0);
    return !tl_json_present(node) || tli_tsfield_kept_string(s, node, text);
}

TLI_FN int tli_tsfield_flag(tli_tsfield_source *s, const tl_json_node *node, uint8_t *flag)
{
    if (node == NULL || node->kind != TL_JSON_BOOL)
        return tli_tsfield_bad(s, "true or false is expected", node);
    *flag = node->truth;
    return 1;
}

/* Integers as the reference takes them: digits; -0 is none. */
TLI_FN int tli_tsfield_u64(tli_tsfield_source *s, const tl_json_node *node, uint64_t most, uint64_t *value)
{
    if (node == NULL || node->kind != TL_JSON_NUMBER
        || !tli_number_parse_u64(s->tree->text + node->start, node->size, value) || *value > most)
        return tli_tsfield_bad(s, "an integer in range is expected", node);
    return 1;
}

TLI_FN int tli_tsfield_i64(tli_tsfield_source *s, const tl_json_node *node, int64_t *value)
{
    if (node == NULL || node->kind != TL_JSON_NUMBER
        || !tli_number_parse_i64(s->tree->text + node->start, node->size, value)
        || (*value == 0 && node->size != 1))
        return tli_tsfield_bad(s, "an integer in range is expected", node);
    return 1;
}

TLI_FN int tli_tsfield_i32(tli_tsfield_source *s, const tl_json_node *node, int32_t *value)
{
    int64_t wide;
    if (!tli_tsfield_i64(s, node, &wide))
        return 0;
    if (wide < INT32_MIN || wide > INT32_MAX)
        return tli_tsfield_bad(s, "an integer in range is expected", node);
    *value = (int32_t)wide;
    return 1;
}

TLI_FN int tli_tsfield_time(tli_tsfield_source *s, const tl_json_node *node, tl_log_time *time)
{
    tl_span text;
    if (!tli_tsfield_string(s, node, &text))
        return 0;
    return tl_log_time_parse(text, time) || tli_tsfield_bad(s, "a time is expected", node);
}

/* By key; of equal keys the one that was read later is the greater. */
TLI_FN int tli_tsfield_order(const void *a, const void *b)
{
    const tl_log_note *x = *(const tl_log_note *const *)a, *y = *(const tl_log_note *const *)b;
    int c = tl_span_compare(x->key, y->key);
    return c != 0 ? c : (x > y) - (x < y);
}

/* Sorts by key; of equal keys only the last one stays. Answers how many are left; `sorted` has room for count. */
TLI_FN uint32_t tli_tsfield_sort_notes(const tl_log_note *notes, const tl_log_note **order, uint32_t count,
                                       tl_log_note *sorted)
{
    uint32_t i, n = 0;
    for (i = 0; i < count; i++)
        order[i] = &notes[i];
    tli_sort(order, count, sizeof *order, tli_tsfield_order);
    for (i = 0; i < count; i++)
        if (i + 1 == count || !tl_span_equal(order[i]->key, order[i + 1]->key))
            sorted[n++] = *order[i];
    return n;
}

/* Annotations: an object of strings, or nothing. */
TLI_FN int tli_tsfield_notes(tli_tsfield_source *s, const tl_json_node *node, tl_log_notes *notes)
{
    tl_log_note *read, *sorted;
    const tl_json_node *key;
    const tl_log_note **order;
    uint32_t n = 0;
    notes->notes = NULL;
    notes->count = 0;
    if (node == NULL)
        return 1;
    if (node->kind != TL_JSON_OBJECT)
        return tli_tsfield_bad(s, "an object of strings is expected", node);
    if (node->count == 0)
        return 1;
    read = (tl_log_note *)tli_tsfield_take(s, node->count, sizeof *read);
    sorted = (tl_log_note *)tli_tsfield_take(s, node->count, sizeof *sorted);
    order = (const tl_log_note **)tli_tsfield_take(s, node->count, sizeof *order);
    if (read == NULL || sorted == NULL || order == NULL)
        return 0;
    for (key = tl_json_first(node); key != NULL; key = tl_json_next(node, key), n++)
        if (!tli_tsfield_kept_string(s, key, &read[n].key) || !tli_tsfield_kept_string(s, key + 1, &read[n].value))
            return 0;
    notes->count = tli_tsfield_sort_notes(read, order, n, sorted);
    notes->notes = sorted;
    return 1;
}

/* What a nested type takes its fields from. */
typedef struct tli_tsfield_frame {
    const tl_json_node *list;  /* of a struct: the array of fields */
    const tl_json_node *next;  /* the field to come */
    const tl_json_node *value; /* of a map: the field after that */
    uint32_t field;            /* whose fields these are; of the outermost none */
} tli_tsfield_frame;

/* The parameters of a type: {"Name":{...}}. Nested types fill the frame. */
TLI_FN int tli_tsfield_parameters(tli_tsfield_source *s, tl_log_field *f, const tl_json_node *p,
                                  tli_tsfield_frame *frame)
{
    static const char *const names[] = {"byte_width", "unit", "timezone", "precision", "scale", "fields", "elements",
                                        "key", "value", "keys_sorted", "entries_metadata", "null_value_metadata"};
    const tl_json_node *v[12];
    tl_span text;
    if (f->type == TL_LOG_OTHER)
        return tli_tsfield_kept_string(s, p, &f->text);
    if (!tli_tsfield_members(s, p, names, 12, v, 0))
        return 0;
    switch (f->type) {
    case TL_LOG_FIXED_BINARY:
        return tli_tsfield_i32(s, v[0], &f->width);
    case TL_LOG_TIMESTAMP:
        if (!tli_tsfield_string(s, v[1], &text))
            return 0;
        f->unit = (tl_log_unit)tli_tsfield_find(tli_tsfield_units, 3, text);
        if ((uint32_t)f->unit == 3)
            return tli_tsfield_bad(s, "a unit of time is expected", v[1]);
        return tli_tsfield_optional(s, v[2], &f->text);
    case TL_LOG_DECIMAL:
        return tli_tsfield_i32(s, v[3], &f->width) && tli_tsfield_i32(s, v[4], &f->scale);
    case TL_LOG_STRUCT:
        if (v[5] == NULL || v[5]->kind != TL_JSON_ARRAY)
            return tli_tsfield_bad(s, "an array of fields is expected", v[5]);
        frame->list = v[5];
        frame->next = tl_json_first(v[5]);
        return 1;
    case TL_LOG_LIST:
        frame->next = v[6];
        return v[6] != NULL || tli_tsfield_bad(s, "the element of a list is expected", p);
    default:
        frame->next = v[7];
        frame->value = tl_json_present(v[8]) ? v[8] : NULL;
        return (v[7] != NULL || tli_tsfield_bad(s, "the key of a map is expected", p))
               && tli_tsfield_flag(s, v[9], &f->keys_sorted) && tli_tsfield_notes(s, v[10], &f->entries)
               && tli_tsfield_notes(s, v[11], &f->nulls);
    }
}

/* One column: everything but what is below it. */
TLI_FN int tli_tsfield_column(tli_tsfield_source *s, const tl_json_node *node, tl_log_field *f,
                              tli_tsfield_frame *frame)
{
    static const char *const names[] = {"name", "data_type", "nullable", "metadata"};
    const tl_json_node *v[4], *parameters = NULL;
    tl_span text;
    uint32_t type;
    TLI_FILL(f, 0, sizeof *f);
    if (!tli_tsfield_members(s, node, names, 4, v, 0) || !tli_tsfield_kept_string(s, v[0], &f->name)
        || !tli_tsfield_flag(s, v[2], &f->nullable) || !tli_tsfield_notes(s, v[3], &f->notes))
        return 0;
    if (v[1] != NULL && v[1]->kind == TL_JSON_OBJECT && v[1]->count != 0) {
        const tl_json_node *key = v[1] + 1, *next;
        text = tli_json_plain_text(s->tree, key);
        for (next = tl_json_next(v[1], key); next != NULL; next = tl_json_next(v[1], next)) {
            if (!tl_span_equal(text, tli_json_plain_text(s->tree, next)))
                return tli_tsfield_bad(s, "a type has one name", next);
            key = next;
        }
        parameters = key + 1;
    } else if (!tli_tsfield_string(s, v[1], &text)) {
        return 0;
    }
    type = tli_tsfield_find(tli_tsfield_types, (uint32_t)TLI_COUNT(tli_tsfield_types), text);
    if (type == TLI_COUNT(tli_tsfield_types) || (type >= TL_LOG_FIXED_BINARY) != (parameters != NULL))
        return tli_tsfield_bad(s, "a type is expected", v[1]);
    f->type = (tl_log_type)type;
    return parameters == NULL || tli_tsfield_parameters(s, f, parameters, frame);
}

/* The next field of the innermost nested type, or NULL. */
TLI_FN const tl_json_node *tli_tsfield_below(tli_tsfield_frame *frame)
{
    const tl_json_node *node = frame->next;
    if (frame->list == NULL) {
        frame->next = frame->value;
        frame->value = NULL;
    } else if (node != NULL) {
        frame->next = tl_json_next(frame->list, node);
    }
    return node;
}

TLI_INLINE tl_log_field *tli_tsfield_at(const tl_buffer *fields, uint32_t i)
{
    return (tl_log_field *)(void *)fields->data + i;
}

/* Decodes columns into `fields`, one tl_log_field behind the other. Answers 1, or 0 with s->status. */
TLI_FN int tli_tsfield_fill(tli_tsfield_source *s, const tl_json_node *columns, tl_buffer *fields, uint32_t *count)
{
    tli_tsfield_frame stack[TLI_TSFIELD_FRAMES];
    uint32_t depth = 1;
    stack[0].list = columns;
    stack[0].next = tl_json_first(columns);
    *count = 0;
    while (depth != 0) {
        const tl_json_node *node = tli_tsfield_below(&stack[depth - 1]);
        tli_tsfield_frame below;
        tl_error err;
        if (node == NULL) {
            if (--depth != 0)
                tli_tsfield_at(fields, stack[depth].field)->nodes = *count - stack[depth].field;
            continue;
        }
        TLI_FILL(&below, 0, sizeof below);
        if (tli_mem_reserve(fields, sizeof(tl_log_field), &err) != TL_OK) {
            s->status = tli_features_wrap(s->fault, &err, TL_FAULT_OTHER);
            return 0;
        }
        fields->size += sizeof(tl_log_field);
        if (!tli_tsfield_column(s, node, tli_tsfield_at(fields, *count), &below))
            return 0;
        tli_tsfield_at(fields, *count)->nodes = 1;
        below.field = (*count)++;
        if (below.list == NULL && below.next == NULL)
            continue;
        if (depth == TLI_TSFIELD_FRAMES)
            return tli_tsfield_bad(s, "types are nested too deep", node);
        stack[depth++] = below;
    }
    return 1;
}

/* The columns of a schema, in the store. */
TLI_FN int tli_tsfield_columns(tli_tsfield_source *s, const tl_json_node *columns, tl_log_fields *out)
{
    tl_buffer fields;
    tl_log_field *kept = NULL;
    if (columns == NULL || columns->kind != TL_JSON_ARRAY)
        return tli_tsfield_bad(s, "an array of columns is expected", columns);
    TLI_FILL(&fields, 0, sizeof fields);
    fields.allocator = s->store->allocator;
    if (tli_tsfield_fill(s, columns, &fields, &out->node_count)) {
        kept = (tl_log_field *)tli_tsfield_take(s, out->node_count, sizeof *kept);
        if (kept != NULL && fields.size != 0)
            TLI_COPY(kept, fields.data, fields.size);
        out->column_count = columns->count;
        out->fields = kept;
    }
    tl_buffer_free(&fields);
    return kept != NULL;
}

TL_API tl_status tl_log_fields_parse(tl_log_fields *fields, const char *json, size_t size,
                                     const tl_allocator *allocator, tl_fault *fault)
{
    tli_tsfield_source s;
    tl_limits limits = {0, 0, 0, 0, 0, 0, TLI_FEATURES_DEPTH};
    tl_json tree;
    tl_error err;
    TLI_FILL(fields, 0, sizeof *fields);
    if (tl_json_parse(&tree, json, size, &limits, allocator, &err) != TL_OK)
        return tli_features_wrap(fault, &err, TL_FAULT_COMMIT);
    s.tree = &tree;
    s.fault = fault;
    s.status = TL_OK;
    s.store = tli_mem_store_new(allocator, tl_limits_resolve(NULL).decoded_bytes, NULL, 0, NULL, NULL, &err);
    if (s.store == NULL)
        s.status = tli_features_wrap(fault, &err, TL_FAULT_OTHER);
    else if (!tli_tsfield_columns(&s, tree.root, fields))
        tli_mem_store_drop(s.store);
    else
        fields->store = s.store;
    tl_json_free(&tree);
    if (s.status != TL_OK)
        TLI_FILL(fields, 0, sizeof *fields);
    return s.status;
}

TL_API void tl_log_fields_free(tl_log_fields *fields)
{
    if (fields == NULL)
        return;
    tli_mem_store_drop(fields->store);
    TLI_FILL(fields, 0, sizeof *fields);
}

/* ---- to JSON ---- */

/* An output that remembers its first failure. */
typedef struct tli_tsfield_sink {
    tl_buffer *out;
    tl_error error;
} tli_tsfield_sink;

TLI_FN void tli_tsfield_put(tli_tsfield_sink *w, const char *text)
{
    tl_span raw = tl_text(text);
    if (w->error.status == TL_OK)
        (void)tli_mem_append(w->out, raw.data, raw.size, &w->error);
}

TLI_FN void tli_tsfield_put_text(tli_tsfield_sink *w, tl_span text)
{
    if (w->error.status == TL_OK)
        (void)tli_json_write_text(w->out, text, &w->error);
}

TLI_FN void tli_tsfield_put_u64(tli_tsfield_sink *w, uint64_t value)
{
    char digits[25];
    digits[tli_number_u64(digits, value)] = 0;
    tli_tsfield_put(w, digits);
}

TLI_FN void tli_tsfield_put_i64(tli_tsfield_sink *w, int64_t value)
{
    char digits[25];
    digits[tli_number_i64(digits, value)] = 0;
    tli_tsfield_put(w, digits);
}

TLI_FN void tli_tsfield_put_notes(tli_tsfield_sink *w, const char *member, const tl_log_notes *notes)
{
    uint32_t i;
    if (notes->count == 0)
        return;
    tli_tsfield_put(w, member);
    for (i = 0; i < notes->count; i++) {
        tli_tsfield_put(w, i == 0 ? "{" : ",");
        tli_tsfield_put_text(w, notes->notes[i].key);
        tli_tsfield_put(w, ":");
        tli_tsfield_put_text(w, notes->notes[i].value);
    }
    tli_tsfield_put(w, "}");
}

/* A field up to what is below it. */
TLI_FN void tli_tsfield_put_open(tli_tsfield_sink *w, const tl_log_field *f)
{
    tli_tsfield_put(w, "{\"name\":");
    tli_tsfield_put_text(w, f->name);
    tli_tsfield_put(w, ",\"data_type\":");
    tli_tsfield_put(w, f->type < TL_LOG_FIXED_BINARY ? "\"" : "{\"");
    tli_tsfield_put(w, tl_log_type_text(f->type));
    tli_tsfield_put(w, f->type < TL_LOG_FIXED_BINARY ? "\"" : "\":");
    switch (f->type) {
    case TL_LOG_FIXED_BINARY:
        tli_tsfield_put(w, "{\"byte_width\":");
        tli_tsfield_put_i64(w, f->width);
        break;
    case TL_LOG_TIMESTAMP:
        tli_tsfield_put(w, "{\"unit\":\"");
        tli_tsfield_put(w, tli_tsfield_units[(uint32_t)f->unit % 3]);
        tli_tsfield_put(w, "\",\"timezone\":");
        if (f->text.data == NULL)
            tli_tsfield_put(w, "null");
        else
            tli_tsfield_put_text(w, f->text);
        break;
    case TL_LOG_DECIMAL:
        tli_tsfield_put(w, "{\"precision\":");
        tli_tsfield_put_i64(w, f->width);
        tli_tsfield_put(w, ",\"scale\":");
        tli_tsfield_put_i64(w, f->scale);
        break;
    case TL_LOG_STRUCT:
        tli_tsfield_put(w, "{\"fields\":[");
        break;
    case TL_LOG_LIST:
        tli_tsfield_put(w, "{\"elements\":");
        break;
    case TL_LOG_MAP:
        tli_tsfield_put(w, "{\"key\":");
        break;
    case TL_LOG_OTHER:
        tli_tsfield_put_text(w, f->text);
        break;
    default:
        break;
    }
}

/* The rest; `below`: how many fields stood below it. */
TLI_FN void tli_tsfield_put_close(tli_tsfield_sink *w, const tl_log_field *f, uint32_t below)
{
    if (f->type == TL_LOG_STRUCT)
        tli_tsfield_put(w, "]");
    if (f->type == TL_LOG_MAP) {
        tli_tsfield_put(w, below < 2 ? ",\"value\":null,\"keys_sorted\":" : ",\"keys_sorted\":");
        tli_tsfield_put(w, f->keys_sorted ? "true" : "false");
        tli_tsfield_put_notes(w, ",\"entries_metadata\":", &f->entries);
        tli_tsfield_put_notes(w, ",\"null_value_metadata\":", &f->nulls);
    }
    if (f->type >= TL_LOG_FIXED_BINARY)
        tli_tsfield_put(w, f->type == TL_LOG_OTHER ? "}" : "}}");
    tli_tsfield_put(w, f->nullable ? ",\"nullable\":true" : ",\"nullable\":false");
    tli_tsfield_put_notes(w, ",\"metadata\":", &f->notes);
    tli_tsfield_put(w, "}");
}

/* An open field of a walk. */
typedef struct tli_tsfield_open {
    uint32_t field, end, below;
} tli_tsfield_open;

/* Appends columns, with commas between them. */
TLI_FN void tli_tsfield_write(tli_tsfield_sink *w, const tl_log_field *fields, uint32_t count, uint32_t *written)
{
    tli_tsfield_open stack[TLI_TSFIELD_DEPTH];
    uint32_t depth = 0, i;
    for (i = 0; i < count || depth != 0;) {
        uint32_t end = depth != 0 ? stack[depth - 1].end : count;
        if (depth != 0 && i == end) {
            depth--;
            tli_tsfield_put_close(w, &fields[stack[depth].field], stack[depth].below);
            continue;
        }
        if (tli_tsfield_nodes(&fields[i]) > end - i || depth == TLI_TSFIELD_DEPTH) {
            (void)tli_err(&w->error, TL_MISUSE, "fields whose nodes do not add up", TL_NO_POSITION);
            return;
        }
        if (depth == 0 ? (*written)++ != 0 : stack[depth - 1].below++ != 0)
            tli_tsfield_put(w, depth != 0 && fields[stack[depth - 1].field].type == TL_LOG_MAP ? ",\"value\":" : ",");
        tli_tsfield_put_open(w, &fields[i]);
        stack[depth].field = i;
        stack[depth].below = 0;
        stack[depth++].end = i + tli_tsfield_nodes(&fields[i]);
        i++;
    }
}

/* ---- rules ---- */

/* A walk over the fields of an old and a new part, in their order, as if they were one array. */
typedef struct tli_tsfield_walk {
    const tl_log_field *part[2];
    uint32_t count[2];
    tl_fault *fault;
    tl_fault_group group;
} tli_tsfield_walk;

TLI_INLINE const tl_log_field *tli_tsfield_walk_at(const tli_tsfield_walk *w, uint32_t i)
{
    return i < w->count[0] ? &w->part[0][i] : &w->part[1][i - w->count[0]];
}

TLI_FN tl_status tli_tsfield_refuse(const tli_tsfield_walk *w, tl_fault_kind kind, const char *text, tl_span name)
{
    tl_status status = w->group == TL_GROUP_REQUEST ? TL_MISUSE : TL_CORRUPT;
    (void)tli_features_fault(w->fault, kind, status, text, TL_NO_POSITION);
    if (w->fault != NULL)
        w->fault->group = w->group;
    tli_features_about(w->fault, name);
    return status;
}

/* Puts the name of field i below `parent` into the table: 1 when one of that name was there. */
TLI_FN int tli_tsfield_repeated(const tli_tsfield_walk *w, uint32_t *slots, uint32_t mask, const uint32_t *parents,
                                uint32_t i)
{
    tl_span name = tli_tsfield_walk_at(w, i)->name;
    uint32_t at = (uint32_t)tli_hash_xxh64(name.data, name.size, parents[i]) & mask;
    for (; slots[at] != 0; at = (at + 1) & mask)
        if (parents[slots[at] - 1] == parents[i] && tl_span_equal(tli_tsfield_walk_at(w, slots[at] - 1)->name, name))
            return 1;
    slots[at] = i + 1;
    return 0;
}

/* What a field has to be as a part of `parent` (NULL: a column) and by itself. */
TLI_FN tl_status tli_tsfield_shape(const tli_tsfield_walk *w, const tl_log_field *f, const tl_log_field *parent,
                                   int repeated)
{
    uint32_t below = tli_tsfield_nodes(f) - 1;
    if (parent == NULL && repeated)
        return tli_tsfield_refuse(w, TL_FAULT_DUPLICATE_COLUMN, "two columns of one name", f->name);
    if (parent != NULL && parent->type == TL_LOG_STRUCT && tli_tsfield_blank(f->name))
        return tli_tsfield_refuse(w, TL_FAULT_FIELD_NAME_EMPTY, "a field of a struct without a name", f->name);
    if (parent != NULL && parent->type == TL_LOG_STRUCT && repeated)
        return tli_tsfield_refuse(w, TL_FAULT_DUPLICATE_FIELD, "two fields of one name in a struct", f->name);
    if (parent != NULL && parent->type == TL_LOG_LIST && tli_tsfield_blank(f->name))
        return tli_tsfield_refuse(w, TL_FAULT_ELEMENT_NAME_EMPTY, "an element of a list without a name", f->name);
    if (f->type == TL_LOG_FIXED_BINARY && f->width <= 0)
        return tli_tsfield_refuse(w, TL_FAULT_BINARY_WIDTH, "a fixed width below 1", f->name);
    if (f->type == TL_LOG_STRUCT && below == 0)
        return tli_tsfield_refuse(w, TL_FAULT_STRUCT_EMPTY, "a struct without fields", f->name);
    if (f->type == TL_LOG_MAP && f->nulls.count != 0 && tli_tsfield_nodes(f + 1) < below)
        return tli_tsfield_refuse(w, TL_FAULT_NULL_VALUE_NOTES, "null_value_metadata beside a value", f->name);
    if (f->type == TL_LOG_MAP && (f + 1)->nullable)
        return tli_tsfield_refuse(w, TL_FAULT_KEY_NULLABLE, "a nullable key of a map", f->name);
    return TL_OK;
}

#define TLI_TSFIELD_NONE UINT32_MAX

/* The parents of all fields; TL_MISUSE when `nodes` do not add up, or a type has not the fields that it must have. */
TLI_FN tl_status tli_tsfield_parents(const tli_tsfield_walk *w, uint32_t *parents, uint32_t *columns)
{
    tli_tsfield_open stack[TLI_TSFIELD_DEPTH];
    uint32_t depth = 0, i, total = w->count[0] + w->count[1];
    *columns = 0;
    for (i = 0; i < total || depth != 0;) {
        const tl_log_field *f;
        uint32_t end = depth != 0 ? stack[depth - 1].end : i < w->count[0] ? w->count[0] : total;
        if (depth != 0 && i == end) {
            f = tli_tsfield_walk_at(w, stack[--depth].field);
            if ((f->type == TL_LOG_LIST && stack[depth].below != 1)
                || (f->type == TL_LOG_MAP && (stack[depth].below < 1 || stack[depth].below > 2))
                || (f->type != TL_LOG_STRUCT && f->type != TL_LOG_LIST && f->type != TL_LOG_MAP
                    && stack[depth].below != 0))
                break;
            continue;
        }
        f = tli_tsfield_walk_at(w, i);
        if (tli_tsfield_nodes(f) > end - i || depth == TLI_TSFIELD_DEPTH || (uint32_t)f->type > TL_LOG_OTHER)
            break;
        parents[i] = depth == 0 ? TLI_TSFIELD_NONE : stack[depth - 1].field;
        *columns += depth == 0;
        if (depth != 0)
            stack[depth - 1].below++;
        stack[depth].field = i;
        stack[depth].below = 0;
        stack[depth++].end = i + tli_tsfield_nodes(f);
        i++;
    }
    return i == total && depth == 0 ? TL_OK
                                    : tli_features_fault(w->fault, TL_FAULT_OTHER, TL_MISUSE,
                                                         "fields whose nodes do not add up", TL_NO_POSITION);
}

/* Names and types of a whole schema: everything that makes it one. */
TLI_FN tl_status tli_tsfield_check_schema(const tli_tsfield_walk *w, const uint32_t *parents, uint32_t *slots,
                                          uint32_t mask)
{
    uint32_t i, total = w->count[0] + w->count[1];
    tl_status st = TL_OK;
    for (i = 0; i < total && st == TL_OK; i++) {
        const tl_log_field *parent = parents[i] == TLI_TSFIELD_NONE ? NULL : tli_tsfield_walk_at(w, parents[i]);
        int named = parent == NULL || parent->type == TL_LOG_STRUCT;
        int repeated = named && tli_tsfield_repeated(w, slots, mask, parents, i);
        st = tli_tsfield_shape(w, tli_tsfield_walk_at(w, i), parent, repeated);
    }
    return st;
}

/* The columns that are new: named, and nullable. */
TLI_FN tl_status tli_tsfield_check_new(const tli_tsfield_walk *w)
{
    uint32_t i;
    for (i = 0; i < w->count[1]; i += tli_tsfield_nodes(&w->part[1][i])) {
        const tl_log_field *f = &w->part[1][i];
        if (tli_tsfield_blank(f->name))
            return tli_tsfield_refuse(w, TL_FAULT_NAME_EMPTY, "a new column without a name", f->name);
        if (!f->nullable)
            return tli_tsfield_refuse(w, TL_FAULT_NOT_NULLABLE, "a new column that is not nullable", f->name);
    }
    return TL_OK;
}

/* Whether Arrow and Parquet can hold the whole schema, and give it back as it was. */
TLI_FN tl_status tli_tsfield_check_arrow(const tli_tsfield_walk *w, const uint32_t *parents, uint32_t *levels)
{
    uint32_t i, total = w->count[0] + w->count[1], deepest = 0;
    for (i = 0; i < total; i++) {
        const tl_log_field *f = tli_tsfield_walk_at(w, i);
        int map = parents[i] != TLI_TSFIELD_NONE && tli_tsfield_walk_at(w, parents[i])->type == TL_LOG_MAP;
        levels[i] = parents[i] == TLI_TSFIELD_NONE ? 1 : levels[parents[i]] + 1 + (uint32_t)map;
        deepest = TLI_MAX(deepest, levels[i]);
        if (f->type == TL_LOG_INT96)
            return tli_tsfield_refuse(w, TL_FAULT_INT96, "Int96 is no type of Arrow", f->name);
        if (f->type == TL_LOG_OTHER)
            return tli_tsfield_refuse(w, TL_FAULT_OTHER_TYPE, "a placeholder is no type of Arrow", f->name);
        if (f->type == TL_LOG_DECIMAL && (f->width < 1 || f->width > 76 || f->scale < 0 || f->scale > f->width))
            return tli_tsfield_refuse(w, TL_FAULT_DECIMAL, "a decimal of 1 to 76 digits is expected", f->name);
    }
    if (deepest > 61)
        return tli_tsfield_refuse(w, TL_FAULT_TOO_DEEP, "fields are nested more than 61 deep", tli_text_span(NULL, 0));
    for (i = 0; i < total; i++) {
        const tl_log_field *f = tli_tsfield_walk_at(w, i);
        if (f->type == TL_LOG_TIMESTAMP && f->text.data != NULL && f->text.size == 0)
            return tli_tsfield_refuse(w, TL_FAULT_INEXACT, "a time zone without a name", f->name);
        if (f->type == TL_LOG_MAP
            && (!tli_text_is(f[1].name, "key")
                || (tli_tsfield_nodes(f + 1) + 1 < tli_tsfield_nodes(f)
                    && !tli_text_is(f[1 + tli_tsfield_nodes(f + 1)].name, "value"))))
            return tli_tsfield_refuse(w, TL_FAULT_INEXACT, "a map has to call its columns key and value", f->name);
    }
    return TL_OK;
}

/* All rules for adding part[1] to part[0]. A request is looked at as a schema first. */
TLI_FN tl_status tli_tsfield_check(const tli_tsfield_walk *w, const tl_allocator *a, uint32_t *columns)
{
    uint32_t total = w->count[0] + w->count[1], mask = 15;
    size_t bytes;
    uint32_t *memory;
    tl_status st;
    while (mask < total * 2 && mask < UINT32_MAX / 2)
        mask = mask * 2 + 1;
    bytes = ((size_t)mask + 1 + (size_t)total * 2) * sizeof *memory;
    memory = total > UINT32_MAX / 32 ? NULL : (uint32_t *)tli_mem_new(a, bytes);
    if (memory == NULL)
        return tli_features_fault(w->fault, TL_FAULT_OTHER, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    TLI_FILL(memory, 0, ((size_t)mask + 1) * sizeof *memory);
    {
        uint32_t *parents = memory + mask + 1, *levels = parents + total;
        st = tli_tsfield_parents(w, parents, columns);
        if (st == TL_OK && w->group == TL_GROUP_REQUEST)
            st = tli_tsfield_check_schema(w, parents, memory, mask);
        if (st == TL_OK)
            st = tli_tsfield_check_new(w);
        if (st == TL_OK && w->group != TL_GROUP_REQUEST)
            st = tli_tsfield_check_schema(w, parents, memory, mask);
        if (st == TL_OK)
            st = tli_tsfield_check_arrow(w, parents, levels);
    }
    tli_mem_delete(a, memory, bytes);
    return st;
}
#endif /* TIMELAKE_NO_LOG */
