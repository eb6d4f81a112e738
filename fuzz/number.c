/* Numbers, times and UTF-8: what is printed reads back as the same value, what is read is what the C library reads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXPECT(x) ((x) ? (void)0 : abort())

static void floating(const uint8_t *data)
{
    char out[64];
    double d, back;
    float f, back32;
    size_t n;
    memcpy(&d, data, 8);
    n = tli_number_f64(out, d);
    EXPECT(n <= 24);
    if (d - d == 0) {
        EXPECT(tli_number_parse_f64(out, n, &back) && memcmp(&back, &d, 8) == 0);
        out[n] = 0;
        EXPECT(strtod(out, NULL) == d);
    }
    memcpy(&f, data, 4);
    n = tli_number_f32(out, f);
    if (f - f == 0)
        EXPECT(tli_number_parse_f32(out, n, &back32) && memcmp(&back32, &f, 4) == 0);
}

static void text(const char *s, size_t size)
{
    double d, want;
    float f, want32;
    int64_t i;
    char out[64], copy[1024];
    if (tli_number_parse_i64(s, size, &i)) {
        size_t n = tli_number_i64(out, i);
        EXPECT((n == size && memcmp(out, s, n) == 0) || (size == 2 && memcmp(s, "-0", 2) == 0));
    }
    if (size >= sizeof copy || !tli_number_parse_f64(s, size, &d))
        return;
    EXPECT(tli_number_parse_f32(s, size, &f));
    memcpy(copy, s, size);
    copy[size] = 0;
    want = strtod(copy, NULL);
    want32 = strtof(copy, NULL);
    EXPECT(memcmp(&d, &want, 8) == 0 && memcmp(&f, &want32, 4) == 0);
}

static void decimals(const uint8_t *data, const char *s, size_t size)
{
    static const int32_t precision[4] = {9, 18, 38, 76};
    int which = data[0] & 3;
    int32_t width = 4 << which, scale = (int8_t)data[1];
    uint8_t value[32], back[32];
    char out[128];
    size_t n;
    memcpy(value, data, 32);
    n = tli_number_decimal(out, value, width, scale);
    EXPECT(n <= 93);
    if (tli_number_read_decimal(out, n, back, width, precision[which], scale))
        EXPECT(memcmp(value, back, (size_t)width) == 0);
    if (tli_number_parse_decimal(s, size, value, width, precision[which], scale)) {
        n = tli_number_decimal(out, value, width, scale);
        EXPECT(tli_number_parse_decimal(out, n, back, width, precision[which], scale) && memcmp(value, back,
            (size_t)width) == 0);
    }
}

static void times(const uint8_t *data)
{
    static const char *const zones[4] = {NULL, "UTC", "+05:30", "-11:45"};
    tl_unit unit = (tl_unit)(data[8] & 3);
    tl_span zone = tl_text(zones[data[8] >> 2 & 3]);
    char out[128];
    int64_t v, back, nanos;
    int32_t months, days, m, d;
    size_t n;
    memcpy(&v, data, 8);
    memcpy(&months, data + 9, 4);
    memcpy(&days, data + 13, 4);
    n = tli_time_stamp(out, v, unit, zone);
    EXPECT(n > 0 && n < 96 && tli_time_parse_stamp(out, n, unit, zone, &back) && back == v);
    n = tli_time_date(out, v);
    EXPECT(tli_time_parse_date(out, n, &back) && back == v);
    n = tli_time_duration(out, v, unit);
    EXPECT(tli_time_parse_duration(out, n, unit, &back) && back == v);
    n = tli_time_clock(out, v, unit);
    EXPECT(n == 0 || (tli_time_parse_clock(out, n, unit, &back) && back == v));
    n = tli_time_interval(out, months, days, v, TL_UNIT_NANO);
    EXPECT(n < 96 && tli_time_parse_interval(out, n, &m, &d, &nanos) && m == months && d == days && nanos == v);
    n = tli_time_months(out, months);
    EXPECT(tli_time_parse_interval(out, n, &m, &d, &nanos) && m == months && d == 0 && nanos == 0);
}

static void time_text(const char *s, size_t size)
{
    int64_t v;
    int32_t m, d;
    char out[128];
    size_t n;
    if (tli_time_parse_stamp(s, size, TL_UNIT_NANO, tl_text(NULL), &v)) {
        int64_t back;
        n = tli_time_stamp(out, v, TL_UNIT_NANO, tl_text("UTC"));
        EXPECT(tli_time_parse_stamp(out, n, TL_UNIT_NANO, tl_text(NULL), &back) && back == v);
    }
    (void)tli_time_parse_date(s, size, &v);
    (void)tli_time_parse_clock(s, size, TL_UNIT_MICRO, &v);
    (void)tli_time_parse_duration(s, size, TL_UNIT_MILLI, &v);
    (void)tli_time_parse_interval(s, size, &m, &d, &v);
}

/* Any type over any bytes: no text is longer than said, or reads past the value. */
static void values(const uint8_t *data)
{
    static const int32_t widths[4] = {4, 8, 16, 32};
    tl_type type;
    char out[TL_VALUE_TEXT];
    memset(&type, 0, sizeof type);
    for (type.id = TL_TYPE_NULL; type.id <= TL_TYPE_MAP; type.id = (tl_type_id)(type.id + 1)) {
        type.unit = (tl_unit)(data[0] & 3);
        type.scale = (int8_t)data[1];
        type.width = type.id >= TL_TYPE_DECIMAL32 && type.id <= TL_TYPE_DECIMAL256
                         ? widths[type.id - TL_TYPE_DECIMAL32] : 1 << (data[2] & 3);
        if (type.id >= TL_TYPE_TIME32 && type.id <= TL_TYPE_DURATION)
            type.width = type.id == TL_TYPE_TIME32 ? 4 : 8;
        EXPECT(tl_value_text(out, &type, data) <= TL_VALUE_TEXT);
    }
}

static void utf8(const uint8_t *data, size_t size)
{
    size_t at = tli_text_utf8(data, size), i;
    EXPECT(at <= size);
    for (i = 0; i < at; i++) /* what is before is valid by itself, and nothing more is */
        if ((data[i] & 0xc0) != 0x80)
            EXPECT(tli_text_utf8(data + i, at - i) == at - i);
    for (i = 1; i <= 4 && at + i <= size; i++)
        EXPECT(tli_text_utf8(data + at, i) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t head[32];
    if (size == 0)
        return 0;
    memset(head, 0, sizeof head);
    memcpy(head, data, size < 32 ? size : 32);
    floating(head);
    text((const char *)data, size);
    decimals(head, (const char *)data, size);
    times(head);
    values(head);
    time_text((const char *)data, size);
    utf8(data, size < 200 ? size : 200);
    return 0;
}
