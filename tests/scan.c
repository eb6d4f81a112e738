/* Scan plans: random files with known rows, in which every condition is tried row by row: no file that has a
   matching row is left out. Then what must be left out, the order, footers, and what is refused. */
#include "tl_test.h"
#include <math.h>

static const char metadata_text[] =
    "{\"format-version\":2,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\",\"location\":\"s3://b/t\","
    "\"last-sequence-number\":1,\"last-updated-ms\":1,\"last-column-id\":10,\"current-schema-id\":0,\"schemas\":[{"
    "\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"i\",\"required\":false,\"type\":\"int\"},"
    "{\"id\":2,\"name\":\"l\",\"required\":false,\"type\":\"long\"},"
    "{\"id\":3,\"name\":\"f\",\"required\":false,\"type\":\"float\"},"
    "{\"id\":4,\"name\":\"d\",\"required\":false,\"type\":\"double\"},"
    "{\"id\":5,\"name\":\"s\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":6,\"name\":\"c\",\"required\":false,\"type\":\"decimal(9,2)\"},"
    "{\"id\":7,\"name\":\"t\",\"required\":false,\"type\":\"date\"},"
    "{\"id\":8,\"name\":\"z\",\"required\":false,\"type\":\"timestamptz\"},"
    "{\"id\":9,\"name\":\"u\",\"required\":false,\"type\":\"uuid\"},"
    "{\"id\":10,\"name\":\"b\",\"required\":false,\"type\":\"boolean\"}]}],"
    "\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"source-id\":8,\"field-id\":1000,"
    "\"name\":\"z_part\",\"transform\":\"%s\"}]}],\"last-partition-id\":1000,\"default-sort-order-id\":0,"
    "\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"properties\":{},\"snapshots\":[],\"current-snapshot-id\":-1}";

#define COLUMNS 10
#define FILES 6
#define ROWS 4
enum { INT = 1, LONG, FLOAT, DOUBLE, STRING, DECIMAL, DATE, STAMP, UUID, BOOL };
static const char *const names[] = {"", "i", "l", "f", "d", "s", "c", "t", "z", "u", "b"};

typedef struct cell {
    int null;
    int64_t integer; /* all but real and text */
    double real;
    char text[17];
    size_t size;
} cell;

typedef struct data {
    int rows[FILES];
    cell cells[FILES][ROWS][COLUMNS + 1];
    tl_file files[FILES];
    tl_column columns[FILES * COLUMNS];
    size_t column_count;
    char bytes[FILES * COLUMNS * 2][16];
    char paths[FILES][48];
} data;

static uint32_t state = 1;

static uint32_t any(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static int is_real(int column)
{
    return column == FLOAT || column == DOUBLE;
}

/* A value of the column, of few, so that conditions meet rows. */
static cell any_cell(int column)
{
    static const double reals[] = {0.0, -0.0, 1.5, -1.5, 2.0, 1e30, -1e30};
    cell c;
    size_t i;
    memset(&c, 0, sizeof c);
    c.null = any(6) == 0;
    c.integer = (int64_t)any(9) - 4;
    switch (column) {
    case LONG:
        c.integer *= any(4) == 0 ? (int64_t)3000000000 : 1;
        break;
    case FLOAT:
    case DOUBLE:
        i = any(10);
        c.real = i < 7 ? (double)(float)reals[i] : i == 7 ? (double)NAN : i == 8 ? (double)INFINITY : -(double)INFINITY;
        break;
    case STRING:
        c.size = any(5);
        for (i = 0; i < c.size; i++)
            c.text[i] = (char)(any(6) == 0 ? 0x7f + 0x7f * (int)any(2) : 'a' + (int)any(2)); /* above 0x7f too */
        break;
    case STAMP:
        c.integer = ((int64_t)any(200) - 100) * 1800000000 + (int64_t)any(3) - 1;
        break;
    case UUID:
        c.size = 16;
        memset(c.text, 0x11, 16);
        c.text[0] = (char)(any(3) * 100);
        c.text[15] = (char)any(2);
        break;
    case BOOL:
        c.integer = any(2);
        break;
    default:
        break;
    }
    return c;
}

/* NaN is the greatest, and equal to itself. */
static int order(int column, const cell *a, const cell *b)
{
    if (is_real(column)) {
        int x = a->real != a->real, y = b->real != b->real;
        if (x || y)
            return x - y;
        return (a->real > b->real) - (a->real < b->real);
    }
    if (column == STRING || column == UUID) {
        int o = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
        return o != 0 ? o : (a->size > b->size) - (a->size < b->size);
    }
    return (a->integer > b->integer) - (a->integer < b->integer);
}

static int holds(int column, tl_compare compare, const cell *row, const cell *value)
{
    int o;
    if (compare == TL_IS_NULL)
        return row->null;
    if (compare == TL_IS_NOT_NULL)
        return !row->null;
    if (row->null)
        return 0;
    o = order(column, row, value);
    return compare == TL_LESS ? o < 0 : compare == TL_LESS_EQUAL ? o <= 0 : compare == TL_GREATER ? o > 0
           : compare == TL_GREATER_EQUAL ? o >= 0 : o == 0;
}

/* ---- statistics as writers write them ---- */

static tl_span bound_of(char *out, int column, const cell *c, int upper)
{
    uint64_t v = (uint64_t)c->integer;
    size_t n = 8, i;
    float single = (float)c->real;
    uint32_t bits;
    switch (column) {
    case INT:
    case DATE:
        n = 4;
        break;
    case BOOL:
        n = 1;
        break;
    case LONG: /* it was an int once */
        n = c->integer == (int32_t)c->integer && any(2) ? 4 : 8;
        break;
    case FLOAT:
    case DOUBLE:
        memcpy(&v, &c->real, 8);
        if (column == FLOAT || any(2)) { /* and that a float */
            memcpy(&bits, &single, 4);
            v = bits;
            n = 4;
        }
        break;
    case DECIMAL: /* big-endian, as few bytes as may be, or more */
        n = 2 + any(3);
        for (i = 0; i < n; i++)
            out[i] = (char)(v >> (8 * (n - 1 - i)));
        return tli_text_span(out, n);
    case STRING:
        n = any(2) ? c->size : c->size < 2 ? c->size : 2;
        memcpy(out, c->text, n);
        if (upper && n < c->size && any(2))
            out[n - 1]++; /* as it should be; else cut without it, as some do */
        return tli_text_span(out, n);
    case UUID:
        memcpy(out, c->text, 16);
        return tli_text_span(out, 16);
    default:
        break;
    }
    for (i = 0; i < n; i++)
        out[i] = (char)(v >> (8 * i));
    return tli_text_span(out, n);
}

static void make_statistics(data *d, int f, int column)
{
    tl_column *c = &d->columns[d->column_count];
    const cell *low = NULL, *high = NULL;
    int r;
    memset(c, 0, sizeof *c);
    if (any(8) == 0)
        return;
    c->file = (uint32_t)f;
    c->field_id = column;
    for (r = 0; r < d->rows[f]; r++) {
        const cell *v = &d->cells[f][r][column];
        c->values++;
        c->nulls += (uint64_t)v->null;
        if (v->null)
            continue;
        if (is_real(column) && v->real != v->real) {
            c->nans++;
            continue;
        }
        low = low == NULL || order(column, v, low) < 0 ? v : low;
        high = high == NULL || order(column, v, high) > 0 ? v : high;
    }
    c->has_values = (uint8_t)any(4);
    c->has_nulls = (uint8_t)any(4);
    c->has_nans = (uint8_t)(is_real(column) && any(3) != 0);
    c->has_size = 0;
    c->has_values = c->has_values != 0;
    c->has_nulls = c->has_nulls != 0;
    if (low != NULL && any(6) != 0)
        c->lower = bound_of(d->bytes[2 * d->column_count], column, low, 0);
    if (high != NULL && any(6) != 0)
        c->upper = bound_of(d->bytes[2 * d->column_count + 1], column, high, 1);
    d->column_count++;
}

static int32_t partition_of(const char *transform, int64_t micros, int up)
{
    int64_t per = transform[0] == 'h' ? 3600000000 : 86400000000, v;
    if (transform[0] == 'm') { /* the days around 1970 */
        int64_t days = micros / 86400000000 - (micros % 86400000000 < 0);
        v = days >= 0 ? (days < 31 ? 0 : days < 59 ? 1 : 2) : days >= -31 ? -1 : days >= -61 ? -2 : -3;
        return (int32_t)(up && v < 0 ? v + 1 : v);
    }
    v = micros / per;
    return (int32_t)(!up && micros % per < 0 ? v - 1 : v);
}

static void make_files(data *d, const char *transform)
{
    int f, r, c;
    memset(d, 0, sizeof *d);
    for (f = 0; f < FILES; f++) {
        int up = any(3) == 0;
        tl_file *file = &d->files[f];
        d->rows[f] = 1 + (int)any(ROWS);
        for (r = 0; r < d->rows[f]; r++)
            for (c = 1; c <= COLUMNS; c++) {
                d->cells[f][r][c] = any_cell(c);
                if (c == STAMP) {
                    d->cells[f][r][c].null = 0;
                    if (r > 0) /* all rows of a file are of one partition */
                        d->cells[f][r][c].integer = d->cells[f][0][c].integer;
                }
            }
        for (c = 1; c <= COLUMNS; c++)
            make_statistics(d, f, c);
        snprintf(d->paths[f], sizeof d->paths[f], "s3://b/t/data/%d.parquet", f);
        file->path = tl_text(d->paths[f]);
        file->records = (uint64_t)d->rows[f];
        file->has_partition = (uint8_t)(any(6) != 0);
        if (file->has_partition)
            file->partition = partition_of(transform, d->cells[f][0][STAMP].integer, up);
    }
}

static tl_table *make_table(const data *d, const char *transform, char *text, size_t text_size)
{
    tl_allocator a = tli_mem_allocator(NULL);
    tl_table *t = tli_table_new(&a, tl_text("s3://b/t"), 1);
    tl_head_parts parts;
    tl_error err;
    snprintf(text, text_size, metadata_text, transform);
    memset(&parts, 0, sizeof parts);
    CHECK_STATUS(tl_metadata_parse(&t->metadata, text, strlen(text), NULL, &a, &err), TL_OK, &err);
    parts.metadata = tl_text(text);
    parts.files = d->files;
    parts.file_count = FILES;
    parts.columns = d->columns;
    parts.column_count = d->column_count;
    t->head.document.allocator = a;
    CHECK_STATUS(tli_view_document(&t->head.document, &parts, &err), TL_OK, &err);
    t->has_files = 1;
    return t;
}

/* ---- conditions ---- */

typedef struct asked {
    int column;
    tl_compare compare;
    cell values[3];
    uint32_t count;
    char texts[3][64];
} asked;

/* The value as a caller gives it. */
static tl_value value_of(int column, const cell *c, char *text)
{
    size_t n = 0;
    switch (column) {
    case FLOAT:
    case DOUBLE:
        return tl_f64(c->real);
    case STRING:
        return tl_string(tli_text_span(c->text, c->size));
    case DECIMAL:
        n = (size_t)snprintf(text, 64, "%s%d.%02d", c->integer < 0 ? "-" : "",
                             (int)(llabs((long long)c->integer) / 100),
                             (int)(llabs((long long)c->integer) % 100));
        return tl_string(tli_text_span(text, n));
    case STAMP:
        return tl_micros(c->integer);
    case UUID:
        tli_number_hex(text, c->text, 16);
        return tl_string(tli_text_span(text, 32));
    case BOOL:
        return tl_bool((int)c->integer);
    case DATE:
        if (any(2)) {
            n = tli_time_date(text, c->integer);
            return tl_string(tli_text_span(text, n));
        }
        return tl_i64(c->integer);
    default:
        return tl_i64(c->integer);
    }
}

static void ask(tl_filter *filter, asked *q, tl_value *values)
{
    uint32_t i;
    q->column = 1 + (int)any(COLUMNS);
    q->compare = (tl_compare)any(8);
    q->count = q->compare == TL_IN ? 1 + any(3) : 1;
    for (i = 0; i < q->count; i++) {
        q->values[i] = any_cell(q->column);
        values[i] = value_of(q->column, &q->values[i], q->texts[i]);
    }
    if (q->compare == TL_IN)
        tl_filter_in(filter, tl_text(names[q->column]), values, q->count);
    else if (q->compare >= TL_IS_NULL)
        tl_filter_null(filter, tl_text(names[q->column]), q->compare == TL_IS_NULL);
    else
        tl_filter_compare(filter, tl_text(names[q->column]), q->compare, values[0]);
}

static int row_matches(const data *d, int f, int r, const asked *q, int count)
{
    int i;
    uint32_t k;
    for (i = 0; i < count; i++) {
        int any_of = 0;
        for (k = 0; k < q[i].count; k++)
            any_of |= holds(q[i].column, q[i].compare, &d->cells[f][r][q[i].column], &q[i].values[k]);
        if (!any_of)
            return 0;
    }
    return 1;
}

static int planned(const tl_plan *plan, tl_span path)
{
    size_t i;
    for (i = 0; i < plan->count; i++)
        if (tl_span_equal(plan->file[i].file.path, path))
            return 1;
    return 0;
}

static void check_order(const tl_plan *plan)
{
    size_t i;
    for (i = 1; i < plan->count; i++) {
        const tl_file *a = &plan->file[i - 1].file, *b = &plan->file[i].file;
        CHECK(a->has_partition >= b->has_partition);
        if (a->has_partition && b->has_partition)
            CHECK(a->partition >= b->partition);
    }
}

static void no_match_is_left_out(void)
{
    static const char *const transforms[] = {"hour", "day", "month"};
    static data d;
    long left_out = 0, kept = 0, matched = 0;
    int round, tries, f, r, i;
    for (round = 0; round < 600; round++) {
        const char *transform = transforms[round % 3];
        char text[4096];
        tl_table *t;
        make_files(&d, transform);
        t = make_table(&d, transform, text, sizeof text);
        for (tries = 0; tries < 30; tries++) {
            tl_filter filter = tl_filter_begin(t);
            asked q[3];
            tl_value values[3][3];
            int count = 1 + (int)any(3);
            tl_plan plan;
            tl_error err;
            for (i = 0; i < count; i++)
                ask(&filter, &q[i], values[i]);
            if (!CHECK_STATUS(tl_plan_scan(&plan, t, &filter, NULL, &err), TL_OK, &err))
                continue;
            CHECK_INT(plan.count + plan.skipped, FILES);
            check_order(&plan);
            for (f = 0; f < FILES; f++)
                for (r = 0; r < d.rows[f]; r++)
                    if (row_matches(&d, f, r, q, count)) {
                        matched++;
                        if (!planned(&plan, d.files[f].path)) {
                            CHECK(planned(&plan, d.files[f].path));
                            fprintf(stderr, "  round %d: file %d row %d, first of %d conditions: %s, %d\n", round, f, r,
                                    count, names[q[0].column], (int)q[0].compare);
                        }
                    }
            left_out += (long)plan.skipped;
            kept += (long)plan.count;
            tl_plan_free(&plan);
        }
        tl_table_drop(t);
    }
    CHECK(matched > 1000 && left_out > kept / 2);
}

/* ---- what must be left out ---- */

static data one;

static size_t files_for(tl_table *t, const char *column, tl_compare compare, tl_value value)
{
    tl_filter filter = tl_filter_begin(t);
    tl_plan plan;
    tl_error err;
    size_t n;
    tl_filter_compare(&filter, tl_text(column), compare, value);
    if (!CHECK_STATUS(tl_plan_scan(&plan, t, &filter, NULL, &err), TL_OK, &err))
        return 99;
    n = plan.count;
    tl_plan_free(&plan);
    return n;
}

/* Six files of days 10 to 15, each with i from 10n to 10n + 9, s from "an" to "cn". */
static void clear_cases(void)
{
    char text[4096];
    tl_table *t;
    int f;
    tl_plan plan;
    tl_error err;
    tl_filter filter;
    memset(&one, 0, sizeof one);
    for (f = 0; f < FILES; f++) {
        tl_column *c = &one.columns[one.column_count];
        snprintf(one.paths[f], sizeof one.paths[f], "p%d", f);
        one.files[f].path = tl_text(one.paths[f]);
        one.files[f].has_partition = 1;
        one.files[f].partition = 10 + f;
        c->file = (uint32_t)f;
        c->field_id = INT;
        one.bytes[4 * f][0] = (char)(10 * f);
        one.bytes[4 * f + 1][0] = (char)(10 * f + 9);
        c->lower = tli_text_span(one.bytes[4 * f], 4);
        c->upper = tli_text_span(one.bytes[4 * f + 1], 4);
        c->has_values = c->has_nulls = 1;
        c->values = 5;
        c->nulls = f == 5 ? 5 : 0;
        c++;
        c->file = (uint32_t)f;
        c->field_id = STRING;
        snprintf(one.bytes[4 * f + 2], 16, "a%d", f);
        snprintf(one.bytes[4 * f + 3], 16, "c%d", f);
        c->lower = tl_text(one.bytes[4 * f + 2]);
        c->upper = tl_text(one.bytes[4 * f + 3]);
        one.column_count += 2;
    }
    t = make_table(&one, "day", text, sizeof text);
    CHECK_INT(files_for(t, "i", TL_EQUAL, tl_i64(25)), 1);
    CHECK_INT(files_for(t, "i", TL_EQUAL, tl_i64(-1)), 0);
    CHECK_INT(files_for(t, "i", TL_LESS, tl_i64(10)), 1);
    CHECK_INT(files_for(t, "i", TL_LESS_EQUAL, tl_i64(10)), 2);
    CHECK_INT(files_for(t, "i", TL_GREATER, tl_i64(29)), 2); /* the last one is all null */
    CHECK_INT(files_for(t, "i", TL_GREATER_EQUAL, tl_i64(29)), 3);
    CHECK_INT(files_for(t, "s", TL_EQUAL, tl_string(tl_text("zz"))), 0);
    CHECK_INT(files_for(t, "s", TL_LESS, tl_string(tl_text("a"))), 0);
    CHECK_INT(files_for(t, "s", TL_EQUAL, tl_string(tl_text("b"))), 6);
    CHECK_INT(files_for(t, "z", TL_EQUAL, tl_string(tl_text("1970-01-12T05:00:00Z"))), 1); /* day 11 */
    CHECK_INT(files_for(t, "z", TL_GREATER_EQUAL, tl_string(tl_text("1970-01-15"))), 2);
    CHECK_INT(files_for(t, "z", TL_LESS, tl_micros((int64_t)11 * 86400000000)), 1);
    CHECK_INT(files_for(t, "z", TL_LESS_EQUAL, tl_micros((int64_t)11 * 86400000000)), 2);
    filter = tl_filter_begin(t);
    tl_filter_null(&filter, tl_text("i"), 1);
    CHECK_STATUS(tl_plan_scan(&plan, t, &filter, NULL, &err), TL_OK, &err);
    CHECK_INT(plan.count, 1);
    tl_plan_free(&plan);
    filter = tl_filter_begin(t);
    tl_filter_between(&filter, "i", tl_i64(15), tl_i64(31));
    CHECK_STATUS(tl_plan_scan(&plan, t, &filter, NULL, &err), TL_OK, &err);
    CHECK_INT(plan.count, 3);
    CHECK_TEXT(plan.file[0].file.path.data, plan.file[0].file.path.size, "p3"); /* newest first */
    tl_plan_free(&plan);
    CHECK_STATUS(tl_plan_scan(&plan, t, NULL, NULL, &err), TL_OK, &err);
    CHECK_INT(plan.count, 6);
    tl_plan_free(&plan);
    tl_table_drop(t);
}

/* ---- what is refused ---- */

static void wrong(tl_table *t, const char *column, tl_value value, tl_status want)
{
    tl_filter filter = tl_filter_begin(t);
    tl_plan plan;
    tl_error err;
    tl_filter_equal(&filter, column, value);
    if (!CHECK_INT(tl_plan_scan(&plan, t, &filter, NULL, &err), want))
        fprintf(stderr, "  column %s\n", column);
    tl_plan_free(&plan);
}

static void refusals(void)
{
    static data d;
    char text[4096];
    tl_table *t;
    int i;
    tl_filter filter;
    tl_plan plan;
    tl_error err;
    make_files(&d, "day");
    t = make_table(&d, "day", text, sizeof text);
    wrong(t, "nothing", tl_i64(1), TL_ABSENT);
    wrong(t, "i", tl_f64(1), TL_MISUSE);
    wrong(t, "i", tl_string(tl_text("one")), TL_MISUSE);
    wrong(t, "s", tl_i64(1), TL_MISUSE);
    wrong(t, "b", tl_i64(1), TL_MISUSE);
    wrong(t, "u", tl_string(tl_text("123")), TL_MISUSE);
    wrong(t, "z", tl_string(tl_text("noon")), TL_MISUSE);
    wrong(t, "t", tl_string(tl_text("2026-02-30")), TL_MISUSE);
    wrong(t, "c", tl_string(tl_text("1.2.3")), TL_MISUSE);
    wrong(t, "c", tl_string(tl_text("1.234")), TL_OK); /* no such value, but no mistake */
    filter = tl_filter_begin(t);
    for (i = 0; i <= TL_FILTER_MAX; i++)
        tl_filter_equal(&filter, "i", tl_i64(i));
    CHECK_INT(tl_plan_scan(&plan, t, &filter, NULL, &err), TL_MISUSE);
    filter = tl_filter_begin(t);
    tl_filter_compare(&filter, tl_text("i"), TL_IS_NULL, tl_i64(1));
    CHECK_INT(tl_plan_scan(&plan, t, &filter, NULL, &err), TL_MISUSE);
    t->has_files = 0;
    CHECK_INT(tl_plan_scan(&plan, t, NULL, NULL, &err), TL_MISUSE);
    tl_table_drop(t);
}

/* A column of floats where all rows are 0.1f (more than 0.1) or 0.7f (less than 0.7): engines that round the literal to
   a float find them, engines that widen the column do not. Neither may miss a file. */
static void literals_between_floats(void)
{
    static const double numbers[2] = {0.1, 0.7};
    size_t i, k;
    for (i = 0; i < 2; i++) {
        float single = (float)numbers[i];
        double other = numbers[i] < (double)single ? numbers[i] + 1 : numbers[i] - 1;
        uint32_t bits;
        char bound[4];
        tl_field f;
        tl_column c;
        tl_value v = tl_f64(numbers[i]);
        tli_scan_range r;
        tli_scan_key key;
        memset(&f, 0, sizeof f);
        memset(&c, 0, sizeof c);
        memcpy(&bits, &single, 4);
        for (k = 0; k < 4; k++)
            bound[k] = (char)(bits >> (8 * k));
        f.type = TL_ICEBERG_FLOAT;
        c.lower = c.upper = tli_text_span(bound, 4);
        c.has_nans = 1;
        tli_scan_range_of(&f, &c, &r);
        CHECK(tli_scan_key_of(&f, &v, &key));
        CHECK(tli_scan_may(&r, TL_EQUAL, &key) && tli_scan_may(&r, TL_LESS_EQUAL, &key)
              && tli_scan_may(&r, TL_GREATER_EQUAL, &key));
        CHECK(tli_scan_may(&r, TL_LESS, &key) || !((double)single < numbers[i]));
        CHECK(tli_scan_may(&r, TL_GREATER, &key) || !((double)single > numbers[i]));
        v = tl_f64(other);
        CHECK(tli_scan_key_of(&f, &v, &key) && !tli_scan_may(&r, TL_EQUAL, &key));
        f.type = TL_ICEBERG_DOUBLE; /* widened since: the literal counts as it is */
        v = tl_f64(numbers[i]);
        CHECK(tli_scan_key_of(&f, &v, &key) && !tli_scan_may(&r, TL_EQUAL, &key));
    }
}

static const tl_test_case cases[] = {TL_TEST(literals_between_floats), TL_TEST(no_match_is_left_out),
                                    TL_TEST(clear_cases), TL_TEST(refusals)};
TL_TEST_MAIN(cases)
