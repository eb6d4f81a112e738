/* Filters and plans over a table whose statistics are any bytes: no value and no bound, however wrong, upsets them;
   what a plan keeps follows the laws of its conditions. A plan has every file once or has skipped it, in order; more
   conditions keep fewer files; `=` keeps no more than `<=` and `>=`, `in` of one value what `=` keeps; a file without
   a value matches no comparison. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char before[] =
    "{\"format-version\":3,\"location\":\"s3://b/t\",\"current-schema-id\":0,\"schemas\":[{\"schema-id\":0,\"fields\":["
    "{\"id\":0,\"name\":\"o\",\"type\":\"int\"},{\"id\":1,\"name\":\"l\",\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"f\",\"type\":\"float\"},{\"id\":3,\"name\":\"d\",\"type\":\"double\"},"
    "{\"id\":4,\"name\":\"s\",\"type\":\"string\"},{\"id\":5,\"name\":\"c\",\"type\":\"decimal(38, 3)\"},"
    "{\"id\":6,\"name\":\"t\",\"type\":\"date\"},{\"id\":7,\"name\":\"z\",\"type\":\"timestamptz\"},"
    "{\"id\":8,\"name\":\"n\",\"type\":\"timestamp_ns\"},{\"id\":9,\"name\":\"u\",\"type\":\"uuid\"},"
    "{\"id\":10,\"name\":\"b\",\"type\":\"boolean\"},{\"id\":11,\"name\":\"x\",\"type\":\"binary\"},"
    "{\"id\":12,\"name\":\"y\",\"type\":\"fixed[4]\"},{\"id\":13,\"name\":\"m\",\"type\":\"time\"},"
    "{\"id\":14,\"name\":\"q\",\"type\":{\"type\":\"list\",\"element-id\":15,\"element\":\"int\"}}]}],"
    "\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"source-id\":";
static const char *const after[] = {
    "7,\"transform\":\"hour\"}]}]}", "7,\"transform\":\"day\"}]}]}", "8,\"transform\":\"month\"}]}]}",
    "6,\"transform\":\"year\"}]}]}", "6,\"transform\":\"day\"}]}]}", "1,\"transform\":\"identity\"}]}]}"};

#define FILES 4
#define FIELDS 15
#define CONDITIONS 6

typedef struct input {
    const uint8_t *data;
    size_t left;
} input;

static uint32_t byte(input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->data++;
}

/* Some of the input, at most 31 bytes, or absent. */
static tl_span some(input *in)
{
    size_t n = byte(in) % 33;
    tl_span s = tli_text_span(in->data, n == 0 ? 0 : n - 1);
    if (n == 0)
        s.data = NULL;
    s.size = s.size < in->left ? s.size : in->left;
    in->data += s.size;
    in->left -= s.size;
    return s;
}

static int64_t number(input *in)
{
    static const int64_t edges[] = {0, 1, -1, INT64_MAX, INT64_MIN, 2147483647, (int64_t)1 << 53, 1767225600000000};
    uint8_t raw[8];
    uint32_t i, what = byte(in);
    if (what < 128)
        return edges[what % 8] + (int64_t)(what >> 3) % 3 * (edges[what % 8] > 0 ? -1 : 1);
    for (i = 0; i < 8; i++)
        raw[i] = (uint8_t)byte(in);
    return (int64_t)tli_bits_le64(raw) >> what % 64;
}

static tl_value value(input *in)
{
    double real;
    int64_t bits;
    switch (byte(in) % 5) {
    case 0: return tl_bool((int)byte(in) & 1);
    case 1: return tl_i64(number(in));
    case 2:
        bits = number(in);
        memcpy(&real, &bits, sizeof real);
        return tl_f64(real);
    case 3: return tl_micros(number(in));
    default: return tl_string(some(in));
    }
}

static tl_table *make_table(input *in, char *text, size_t room)
{
    static const char *const paths[FILES] = {"s3://b/t/data/a", "s3://b/t/data/b", "s3://b/t/data/c", "p"};
    tl_allocator a = tli_mem_allocator(NULL);
    tl_table *t = tli_table_new(&a, tl_text("s3://b/t"), 1);
    tl_file files[FILES];
    tl_column columns[FILES * FIELDS];
    tl_head_parts parts;
    const char *end = after[byte(in) % TLI_COUNT(after)];
    uint32_t f, c, n = 0;
    TIMELAKE_ASSERT(t != NULL && strlen(before) + strlen(end) < room);
    memcpy(text, before, strlen(before));
    memcpy(text + strlen(before), end, strlen(end) + 1);
    TIMELAKE_ASSERT(tl_metadata_parse(&t->metadata, text, strlen(text), NULL, &a, NULL) == TL_OK);
    memset(files, 0, sizeof files);
    memset(columns, 0, sizeof columns);
    for (f = 0; f < FILES; f++) {
        files[f].path = tl_text(paths[f]);
        files[f].has_partition = (uint8_t)(byte(in) & 1);
        files[f].partition = files[f].has_partition ? (int32_t)number(in) : 0;
        for (c = 0; c < FIELDS; c++) {
            tl_column *k = &columns[n];
            uint32_t what = byte(in);
            if (what & 1)
                continue;
            n++;
            k->file = f;
            k->field_id = (int32_t)c;
            k->lower = some(in);
            k->upper = some(in);
            k->has_values = (uint8_t)(what >> 1 & 1);
            k->has_nulls = (uint8_t)(what >> 2 & 1);
            k->has_nans = (uint8_t)(what >> 3 & 1);
            k->values = k->has_values ? what >> 4 & 1 : 0;
            k->nulls = k->has_nulls ? what >> 5 & 1 : 0;
            k->nans = k->has_nans ? what >> 6 & 1 : 0;
        }
    }
    memset(&parts, 0, sizeof parts);
    parts.metadata = tl_text(text);
    parts.files = files;
    parts.file_count = FILES;
    parts.columns = columns;
    parts.column_count = n;
    t->head.document.allocator = a;
    TIMELAKE_ASSERT(tli_view_document(&t->head.document, &parts, NULL) == TL_OK);
    t->has_files = 1;
    return t;
}

/* The files that a filter keeps, a bit each; FILES bits of ones and one more for a filter that is refused. */
static uint32_t kept(tl_table *t, const tl_filter *filter)
{
    tl_plan plan;
    tl_error err;
    uint32_t set = 0;
    size_t i;
    tl_status st = tl_plan_scan(&plan, t, filter, NULL, &err);
    if (st != TL_OK) {
        TIMELAKE_ASSERT((st == TL_MISUSE || st == TL_ABSENT) && err.status == st && err.text != NULL);
        return 1u << FILES;
    }
    TIMELAKE_ASSERT(plan.count + plan.skipped == FILES);
    for (i = 0; i < plan.count; i++) {
        const tl_file *f = &plan.file[i].file;
        uint32_t bit = 1u << (f->path.size == 1 ? 3 : f->path.data[f->path.size - 1] - 'a');
        TIMELAKE_ASSERT((set & bit) == 0 && plan.file[i].footer.data == NULL);
        set |= bit;
        if (i > 0 && f->has_partition)
            TIMELAKE_ASSERT(plan.file[i - 1].file.has_partition
                            && plan.file[i - 1].file.partition >= f->partition);
    }
    tl_plan_free(&plan);
    return set;
}

static uint32_t kept_by(tl_table *t, tl_span column, tl_compare compare, tl_value v)
{
    tl_filter filter = tl_filter_begin(t);
    tl_filter_compare(&filter, column, compare, v);
    return kept(t, &filter);
}

static void check_laws(tl_table *t, tl_span column, tl_value v)
{
    tl_filter filter = tl_filter_begin(t);
    uint32_t equal = kept_by(t, column, TL_EQUAL, v), refused = 1u << FILES, not_null;
    uint32_t less = kept_by(t, column, TL_LESS, v), at_most = kept_by(t, column, TL_LESS_EQUAL, v);
    uint32_t more = kept_by(t, column, TL_GREATER, v), at_least = kept_by(t, column, TL_GREATER_EQUAL, v);
    tl_filter_in(&filter, column, &v, 1);
    TIMELAKE_ASSERT(kept(t, &filter) == equal);
    TIMELAKE_ASSERT((equal & ~at_most) == 0 && (equal & ~at_least) == 0);
    TIMELAKE_ASSERT((less & ~at_most) == 0 && (more & ~at_least) == 0);
    TIMELAKE_ASSERT((equal == refused) == (less == refused) && (equal == refused) == (more == refused));
    filter = tl_filter_begin(t);
    tl_filter_null(&filter, column, 0);
    not_null = kept(t, &filter);
    if (equal != refused)
        TIMELAKE_ASSERT(((equal | less | more) & ~not_null) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"o", "l", "f", "d", "s", "c", "t", "z", "n", "u", "b", "x", "y", "m", "q", "-"};
    input in;
    char text[4096];
    tl_table *t;
    tl_filter filter;
    tl_value values[CONDITIONS], two[2];
    uint32_t i, set, last = (1u << FILES) - 1;
    in.data = data;
    in.left = size;
    t = make_table(&in, text, sizeof text);
    TIMELAKE_ASSERT(kept(t, NULL) == last);
    filter = tl_filter_begin(t);
    for (i = 0; i < CONDITIONS; i++) {
        const char *name = names[byte(&in) % TLI_COUNT(names)];
        values[i] = value(&in);
        check_laws(t, tl_text(name), values[i]);
        switch (byte(&in) % 5) {
        case 0: tl_filter_equal(&filter, name, values[i]); break;
        case 1: tl_filter_between(&filter, name, values[i], value(&in)); break;
        case 2: tl_filter_compare(&filter, tl_text(name), (tl_compare)(byte(&in) % 8), values[i]); break;
        case 3: tl_filter_null(&filter, tl_text(name), (int)byte(&in) & 1); break;
        default:
            two[0] = values[i];
            two[1] = value(&in);
            tl_filter_in(&filter, tl_text(name), two, byte(&in) % 3);
            set = kept(t, &filter);
            TIMELAKE_ASSERT(set == 1u << FILES || (set & ~last) == 0);
            filter = tl_filter_begin(t); /* `two` is borrowed */
            last = (1u << FILES) - 1;
            continue;
        }
        set = kept(t, &filter);
        if (set == 1u << FILES)
            break;
        TIMELAKE_ASSERT((set & ~last) == 0);
        last = set;
    }
    TIMELAKE_ASSERT(tl_table_keep(t) == t);
    tl_table_drop(t);
    tl_table_drop(t);
    return 0;
}
