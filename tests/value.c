/* The text of single values. Expected texts: arrow-cast 58 and serde_json 1.0 (tests/data/numbers.txt, times.txt have
   more of them), Python for integers. */
#include "tl_test.h"

static const char *text_of(const char *format, const void *value)
{
    static char out[TL_VALUE_TEXT + 1];
    struct ArrowSchema schema;
    tl_type type;
    tl_error err;
    memset(&schema, 0, sizeof schema);
    schema.format = format;
    CHECK_STATUS(tl_type_of(&schema, &type, &err), TL_OK, &err);
    out[tl_value_text(out, &type, value)] = 0;
    return out;
}

static void fixed_width(void)
{
    int8_t i8 = -128;
    int16_t i16 = -32768;
    int32_t i32 = INT32_MIN;
    int64_t i64 = INT64_MIN;
    uint8_t u8 = 255;
    uint16_t u16 = 65535, half = 0xbe00;
    uint32_t u32 = UINT32_MAX;
    uint64_t u64 = UINT64_MAX;
    float f = 3.4028235e38f;
    double d = 1e27;
    CHECK(strcmp(text_of("c", &i8), "-128") == 0);
    CHECK(strcmp(text_of("s", &i16), "-32768") == 0);
    CHECK(strcmp(text_of("i", &i32), "-2147483648") == 0);
    CHECK(strcmp(text_of("l", &i64), "-9223372036854775808") == 0);
    CHECK(strcmp(text_of("C", &u8), "255") == 0);
    CHECK(strcmp(text_of("S", &u16), "65535") == 0);
    CHECK(strcmp(text_of("I", &u32), "4294967295") == 0);
    CHECK(strcmp(text_of("L", &u64), "18446744073709551615") == 0);
    CHECK(strcmp(text_of("e", &half), "-1.5") == 0);
    CHECK(strcmp(text_of("f", &f), "3.4028235e+38") == 0);
    CHECK(strcmp(text_of("g", &d), "1e+27") == 0);
    i32 = -96;
    CHECK(strcmp(text_of("d:9,2,32", &i32), "-0.96") == 0);
    i64 = 123456789;
    CHECK(strcmp(text_of("d:18,4,64", &i64), "12345.6789") == 0);
}

static void times_and_none(void)
{
    int32_t i32 = 3000000, day_time[2] = {-1, 3600000};
    int64_t i64 = 86400000;
    int32_t mdn[4] = {14, -2, 0, 0};
    CHECK(strcmp(text_of("tdD", &i32), "+10183-09-21") == 0);
    CHECK(strcmp(text_of("tdm", &i64), "1970-01-02T00:00:00") == 0);
    i32 = 86399;
    CHECK(strcmp(text_of("tts", &i32), "23:59:59") == 0);
    i32 = 86400;
    CHECK(strcmp(text_of("tts", &i32), "") == 0);
    i64 = 86399999999;
    CHECK(strcmp(text_of("ttu", &i64), "23:59:59.999999") == 0);
    i64 = 1767225600000001;
    CHECK(strcmp(text_of("tsu:UTC", &i64), "2026-01-01T00:00:00.000001Z") == 0);
    CHECK(strcmp(text_of("tsu:", &i64), "2026-01-01T00:00:00.000001") == 0);
    CHECK(strcmp(text_of("tsu:+05:30", &i64), "2026-01-01T05:30:00.000001+05:30") == 0);
    CHECK(strcmp(text_of("tsu:Europe/Berlin", &i64), "") == 0);
    i64 = -1;
    CHECK(strcmp(text_of("tDm", &i64), "-PT0.001S") == 0);
    i32 = 13;
    CHECK(strcmp(text_of("tiM", &i32), "1 years 1 mons") == 0);
    CHECK(strcmp(text_of("tiD", day_time), "-1 days 1 hours") == 0);
    i64 = 3000000001;
    memcpy(mdn + 2, &i64, 8);
    CHECK(strcmp(text_of("tin", mdn), "14 mons -2 days 3.000000001 secs") == 0);
    CHECK(strcmp(text_of("b", &i64), "") == 0);
    CHECK(strcmp(text_of("u", &i64), "") == 0);
    CHECK(strcmp(text_of("w:8", &i64), "") == 0);
}

static const tl_test_case cases[] = {TL_TEST(fixed_width), TL_TEST(times_and_none)};
TL_TEST_MAIN(cases)
