/* Numbers and their text. Expected values: tests/data/numbers.txt (written by serde_json 1.0, half 2.7 and arrow-array
   58: `d` and `f` floating point by bits, `h` and `n` half precision to and from single, `e` decimals), and the C
   library. */
#include "tl_test.h"

static uint64_t seed = 88172645463325252u;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static float from_bits32(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

static void check_f64(uint64_t bits, const char *want)
{
    char out[40];
    double back = 7;
    size_t n = tli_number_f64(out, from_bits(bits));
    uint64_t got;
    if (want != NULL)
        CHECK_TEXT(out, n, want);
    CHECK(n <= 24);
    CHECK(tli_number_parse_f64(out, n, &back) == 1);
    memcpy(&got, &back, 8);
    CHECK_INT(got, bits);
}

static void check_f32(uint32_t bits, const char *want)
{
    char out[40];
    float back = 7;
    size_t n = tli_number_f32(out, from_bits32(bits));
    uint32_t got;
    if (want != NULL)
        CHECK_TEXT(out, n, want);
    CHECK(tli_number_parse_f32(out, n, &back) == 1);
    memcpy(&got, &back, 4);
    CHECK_INT(got, bits);
}

/* Decimal digits (with a sign) as a native-order number of 16 bytes, by schoolbook: not by the code under test. */
static void decimal16(uint8_t *out, const char *digits)
{
    uint8_t little[16];
    int i, negative = *digits == '-';
    memset(little, 0, 16);
    for (digits += negative; *digits != 0; digits++) {
        unsigned carry = (unsigned)(*digits - '0');
        for (i = 0; i < 16; i++) {
            carry += little[i] * 10u;
            little[i] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    if (negative) {
        unsigned carry = 1;
        for (i = 0; i < 16; i++) {
            carry += 255u - little[i];
            little[i] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    for (i = 0; i < 16; i++)
        out[i] = little[TLI_BIG_ENDIAN ? 15 - i : i];
}

static void table_line(char *line)
{
    char *a = strtok(line + 2, " "), *b = strtok(NULL, " "), *c = strtok(NULL, " ");
    if (line[0] == 'd') {
        check_f64(strtoull(a, NULL, 16), b);
    } else if (line[0] == 'f') {
        check_f32((uint32_t)strtoull(a, NULL, 16), b);
    } else if (line[0] == 'h') {
        float v = tli_number_f16_to_f32((uint16_t)strtoull(a, NULL, 16)), want = from_bits32((uint32_t)strtoull(b,
            NULL, 16));
        CHECK(memcmp(&v, &want, 4) == 0);
    } else if (line[0] == 'n') {
        CHECK_INT(tli_number_f32_to_f16(from_bits32((uint32_t)strtoull(a, NULL, 16))), strtoull(b, NULL, 16));
    } else {
        uint8_t value[16], back[16];
        char out[100];
        int scale = atoi(b);
        size_t n;
        decimal16(value, a);
        n = tli_number_decimal(out, value, 16, scale);
        CHECK_TEXT(out, n, c);
        CHECK_INT(tli_number_parse_decimal(c, strlen(c), back, 16, 38, scale), 1);
        CHECK_BYTES(back, 16, (const char *)value, 16);
    }
}

static void table(void)
{
    size_t size;
    char *text = tl_test_read("tests/data/numbers.txt", &size), *p, *end;
    long lines = 0;
    CHECK(text != NULL);
    for (p = text; p != NULL && *p != 0; p = end + 1) {
        end = strchr(p, '\n');
        *end = 0;
        table_line(p);
        lines++;
    }
    CHECK(lines > 8000);
    free(text);
}

static void special_values(void)
{
    char out[40];
    CHECK_TEXT(out, tli_number_f64(out, from_bits(0x7ff0000000000000u)), "inf");
    CHECK_TEXT(out, tli_number_f64(out, from_bits(0xfff0000000000000u)), "-inf");
    CHECK_TEXT(out, tli_number_f64(out, from_bits(0x7ff8000000000000u)), "NaN");
    CHECK_TEXT(out, tli_number_f64(out, from_bits(0xfff8000000000001u)), "NaN");
    CHECK_TEXT(out, tli_number_f32(out, from_bits32(0x7f800000u)), "inf");
    CHECK_TEXT(out, tli_number_f32(out, from_bits32(0xff800000u)), "-inf");
    CHECK_TEXT(out, tli_number_f32(out, from_bits32(0xffc00000u)), "NaN");
    CHECK(tli_number_f16_to_f32(0x7c00) > 3.4e38f);
    CHECK_INT(tli_number_f32_to_f16(from_bits32(0xff800000u)), 0xfc00);
    CHECK_INT(tli_number_f32_to_f16(from_bits32(0x7fc00000u)), 0x7e00);
    CHECK_INT(tli_number_f32_to_f16(65520.0f), 0x7c00);
    CHECK_INT(tli_number_f32_to_f16(65519.996f), 0x7bff);
}

static void halves_round_trip(void)
{
    uint32_t i;
    for (i = 0; i < 65536; i++)
        if ((i & 0x7c00) != 0x7c00 || (i & 0x3ff) == 0)
            CHECK_INT(tli_number_f32_to_f16(tli_number_f16_to_f32((uint16_t)i)), i);
}

/* The same bits as the C library reads, in both widths. */
static void like_strtod(const char *text)
{
    double got = 0, want = strtod(text, NULL);
    float got32 = 0, want32 = strtof(text, NULL);
    CHECK(tli_number_parse_f64(text, strlen(text), &got) == 1);
    if (memcmp(&got, &want, 8) != 0) {
        fprintf(stderr, "%s reads as %.17g, not %.17g\n", text, got, want);
        CHECK(memcmp(&got, &want, 8) == 0);
    }
    CHECK(tli_number_parse_f32(text, strlen(text), &got32) == 1);
    if (memcmp(&got32, &want32, 4) != 0) {
        fprintf(stderr, "%s reads as %.9g, not %.9g\n", text, (double)got32, (double)want32);
        CHECK(memcmp(&got32, &want32, 4) == 0);
    }
}

/* W. Clinger's and V. Paxson's and D. Gay's hard cases, values beside the halves, and the ends of the range. */
static void hard_cases(void)
{
    static const char *const hard[] = {
        "0", "-0", "0.0", "-0e10", "1e23", "8.5e22", "9007199254740993", "9007199254740992.9999999999999999999999",
        "9007199254740993.0000000000000000000001", "1.448997445238699",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13", "62.5364939768271845828", "8.10109172351e-10",
        "1.50000000000000011102230246251565",
        "9007199254740991.4999999999999999999999999999999995", "1.7976931348623157e308", "1.7976931348623158e308",
        "1.7976931348623159e308", "1.797693134862315807e308",
        "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070"
        "9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447"
        "5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "2.2250738585072011e-308", "2.2250738585072014e-308", "2.2250738585072012e-308", "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324", "2.47032822920623272088284396434110686182e-324",
        "2.47032822920623272088284396434110686183e-324",
        "1e-323",
        "7.41098468761869816264853189302332058547589703921487146638378523751013260905313127797949754542453988"
        "5696948470431685765963899850655339096945981621940161728171894510697854671067917687257517734731555330"
        "7795408549809608457500958111373034747658096871009590975442271004757307809711118935784838675653998783"
        "5030152280559340465937397917907387238682993958184816601691220194564999312897984113620624844986787135"
        "7218035220901702390328579173252022052897402080290685402160661237554998340267130003581248647904138574"
        "3401875520901590172592547146296175134159774938718574737870961645638908718119841271673056017045493004"
        "7052695901657637768849082679869725733665217655679410725087643375608460039849049721491174630855395563"
        "54188641513168478436313080237596295773983001708984375e-324",
        "123456789012345678901234567890e-10", "0.000000000000000000000000000000000000000000000000001e51", "1e-400",
        "1e400",
        "1e99999999999999999999", "1e-99999999999999999999", "0e99999999999999999999", "3.4028235e38", "3.4028236e38",
        "3.40282346638528859811704183484516925440e38", "3.402823567797336616375e38",
        "3.4028235677973366163753939545814425e38",
        "1.17549435e-38", "1.401298464324817e-45", "7.0064923216240853e-46", "7.0064923216240854e-46",
        ("7.0064923216240853546186479164495806564013097093825788587853414194489554134293030074331909418106079"
         "1015625e-46"),
        "16777217", "16777217.0000001", "16777218.9999999", "8388608.5", "8388609.5", "5e-1", "0.3e+1", "1E5", "12.5E-1"
    };
    size_t i;
    for (i = 0; i < sizeof hard / sizeof hard[0]; i++)
        like_strtod(hard[i]);
}

/* The exact decimal expansion of a half between two doubles, one more or less far behind, and cut at any length. */
static void halfway_cases(void)
{
    static char text[2000];
    int i;
    for (i = 0; i < 4000; i++) {
        uint64_t bits = draw() & 0x7fffffffffffffffu;
        double v;
        char *e;
        size_t keep, n;
        if (i % 4 == 0)
            bits = (bits & 0x000fffffffffffffu) >> (draw() % 52); /* denormal */
        if (i % 4 == 1)
            bits = (bits & 0x000fffffffffffffu) | (uint64_t)(960 + draw() % 120) << 52;
        v = from_bits(bits);
        if (v != v || v > 1e308)
            continue;
        if (i % 2 == 0 && v < 1e300 && v > 1e-290) { /* exact in long double: 64 bits of significand */
#ifdef __x86_64__
            long double half = ((long double)v + (long double)from_bits(bits + 1)) / 2;
            snprintf(text, sizeof text - 10, "%.780Le", half);
#else
            snprintf(text, sizeof text - 10, "%.780e", v);
#endif
        } else {
            snprintf(text, sizeof text - 10, "%.780e", v);
        }
        like_strtod(text);
        e = strchr(text, 'e');
        keep = 18 + (size_t)(draw() % 760);
        memmove(text + keep, e, strlen(e) + 1);
        like_strtod(text);
        n = keep - 1;
        if (text[n] > '0' && text[n] < '9') {
            text[n] = (char)(text[n] + (i & 2) - 1);
            like_strtod(text);
        }
    }
}

static void random_texts(void)
{
    char text[200];
    int i;
    for (i = 0; i < 200000; i++) {
        uint64_t w = draw() >> (draw() % 64);
        int e = (int)(draw() % 700) - 370;
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)w, e);
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "%llu.%lluE%d", (unsigned long long)(w >> 40), (unsigned long long)draw(),
                e / 3);
        else
            snprintf(text, sizeof text, "0.%0*llue%d", (int)(draw() % 60) + 1, (unsigned long long)w, e / 4);
        like_strtod(text);
    }
}

/* Shortest: one digit less does not read back; nearest: the C library's rounding to that many digits is the same text
   or reads as another value. */
static void random_doubles(void)
{
    char out[40], fewer[40];
    int i;
    for (i = 0; i < 300000; i++) {
        uint64_t bits = draw();
        double v, back;
        size_t n, k;
        int digits = 0;
        if (i % 3 == 0)
            bits = (bits & 0x800fffffffffffffu) | (uint64_t)(1000 + draw() % 60) << 52;
        v = from_bits(bits);
        if (v != v || v - v != 0)
            continue;
        n = tli_number_f64(out, v);
        out[n] = 0;
        back = strtod(out, NULL);
        CHECK(memcmp(&back, &v, 8) == 0);
        if (i % 4 != 0)
            continue;
        check_f64(bits, NULL);
        for (k = 0; k < n && out[k] != 'e'; k++)
            digits += out[k] >= '0' && out[k] <= '9' && (digits > 0 || out[k] != '0');
        while (k > 0 && (out[k - 1] == '0' || out[k - 1] == '.') && (strchr(out, '.') != NULL))
            digits -= out[--k] == '0';
        if (digits > 1 && bits << 12 != 0) {
            snprintf(fewer, sizeof fewer, "%.*e", digits - 2, v);
            CHECK(strtod(fewer, NULL) != v);
            snprintf(fewer, sizeof fewer, "%.*e", digits - 1, v);
            back = strtod(fewer, NULL);
            if (back == v) {
                double a = strtod(out, NULL);
                CHECK(a == back);
            }
        }
    }
}

static void random_floats(void)
{
    int i;
    for (i = 0; i < 400000; i++) {
        uint32_t bits = (uint32_t)draw();
        char out[40], want[40];
        float v = from_bits32(bits);
        size_t n;
        int p;
        if (v != v || v - v != 0)
            continue;
        n = tli_number_f32(out, v);
        out[n] = 0;
        CHECK(strtof(out, NULL) == v);
        if (i % 8 != 0)
            continue;
        check_f32(bits, NULL);
        for (p = 0; p < 10; p++) { /* the fewest digits of the C library that read back have the same value */
            snprintf(want, sizeof want, "%.*e", p, (double)v);
            if (strtof(want, NULL) == v)
                break;
        }
        if ((bits & 0x7fffffu) != 0)
            CHECK(strtod(want, NULL) == strtod(out, NULL));
    }
}

static void grammar(void)
{
    static const char *const bad[] = {"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1e-", "e5", "1.e5", "0x10",
        "inf",
                                      "NaN", "1 ", " 1", "1,5", "1e5.", "1e5e5", "--1", "1.2.3", "00", "1_000",
                                      "Infinity", "1f",
                                      "12345678x", "1234567812345678:", "0.1234567/"};
    double v = 5;
    float f = 5;
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(tli_number_parse_f64(bad[i], strlen(bad[i]), &v) == 0);
        CHECK(tli_number_parse_f32(bad[i], strlen(bad[i]), &f) == 0);
    }
    CHECK(v > 4.9 && f > 4.9f);
}

static void check_integer(uint64_t v)
{
    char out[32], want[32];
    uint64_t u = 1;
    int64_t i = 1, s = (int64_t)v;
    snprintf(want, sizeof want, "%llu", (unsigned long long)v);
    CHECK_TEXT(out, tli_number_u64(out, v), want);
    CHECK(tli_number_parse_u64(want, strlen(want), &u) == 1 && u == v);
    snprintf(want, sizeof want, "%lld", (long long)s);
    CHECK_TEXT(out, tli_number_i64(out, s), want);
    CHECK(tli_number_parse_i64(want, strlen(want), &i) == 1 && i == s);
}

static void integers(void)
{
    static const char *const bad[] = {"", "-", "+1", "01", "-01", "1.0", "1e3", "18446744073709551616",
        "99999999999999999999", " 1",
                                      "123456789012345678901", "1234567a", "12345678a", "12345678901234567:89",
                                      "-9223372036854775809"};
    uint64_t p = 1, u;
    int64_t s;
    size_t i;
    for (i = 0; i < 20; i++, p *= 10) {
        check_integer(p);
        check_integer(p - 1);
        check_integer(p + 1);
        check_integer((uint64_t)0 - p);
    }
    for (i = 0; i < 200000; i++)
        check_integer(draw() >> (draw() % 64));
    check_integer(UINT64_MAX);
    check_integer((uint64_t)1 << 63);
    check_integer(((uint64_t)1 << 63) - 1);
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(tli_number_parse_i64(bad[i], strlen(bad[i]), &s) == 0);
        CHECK(i == 14 || tli_number_parse_u64(bad[i], strlen(bad[i]), &u) == 0);
    }
    CHECK(tli_number_parse_i64("9223372036854775808", 19, &s) == 0);
    CHECK(tli_number_parse_i64("-9223372036854775808", 20, &s) == 1 && s == INT64_MIN);
    CHECK(tli_number_parse_u64("-1", 2, &u) == 0);
}

/* Python's decimal: str(int(v) scaled) for these widths and scales. */
static void decimals(void)
{
    uint8_t v[32];
    int32_t small = -2147483647 - 1;
    int64_t wide = INT64_MIN;
    char out[100];
    static const char most76[] = "9999999999999999999999999999999999999999999999999999999999999999999999999999";
    CHECK_TEXT(out, tli_number_decimal(out, &small, 4, 3), "-2147483.648");
    CHECK_TEXT(out, tli_number_decimal(out, &wide, 8, 0), "-9223372036854775808");
    CHECK_TEXT(out, tli_number_decimal(out, &wide, 8, -2), "-9223372036854775808E2");
    CHECK_TEXT(out, tli_number_decimal(out, &wide, 8, 100), "-9223372036854775808E-100");
    memset(v, 0, sizeof v);
    CHECK_TEXT(out, tli_number_decimal(out, v, 32, 76),
               "0.0000000000000000000000000000000000000000000000000000000000000000000000000000");
    v[TLI_BIG_ENDIAN ? 0 : 31] = 0x80;
    CHECK_TEXT(out, tli_number_decimal(out, v, 32, 0),
               "-57896044618658097711785492504343953926634992332820282019728792003956564819968");
    CHECK_TEXT(out, tli_number_decimal(out, v, 32, 76),
               "-5.7896044618658097711785492504343953926634992332820282019728792003956564819968");
    CHECK_TEXT(out, tli_number_decimal(out, v, 32, -2147483647),
               "-57896044618658097711785492504343953926634992332820282019728792003956564819968E2147483647");
    CHECK_INT(tli_number_parse_decimal(most76, 76, v, 32, 76, 0), 1);
    CHECK_TEXT(out, tli_number_decimal(out, v, 32, 0), most76);
    CHECK_INT(tli_number_parse_decimal("1e76", 4, v, 32, 76, 0), 0);
    CHECK_INT(tli_number_parse_decimal("1e75", 4, v, 32, 76, 0), 1);
    CHECK_TEXT(out, tli_number_decimal(out, v, 32, 75),
        "1.000000000000000000000000000000000000000000000000000000000000000000000000000");
}

static void decimal_forms(void)
{
    static const struct {
        const char *text;
        int32_t precision, scale, want;
        int64_t value;
    } forms[] = {
        {"1", 10, 2, 1, 100}, {"-1.5", 10, 2, 1, -150}, {"+1.50", 10, 2, 1, 150}, {"1.500000000000", 10, 2, 1, 150},
        {"1.505", 10, 2, 2, 150}, {"-0.009", 10, 2, 2, 0}, {"1e3", 10, 2, 1, 100000}, {"1.25E+2", 10, 0, 1, 125},
        {"125e-2", 10, 2, 1, 125}, {"1e8", 10, 2, 0, 0}, {"99999999.99", 10, 2, 1, 9999999999},
        {"100000000", 10, 2, 0, 0}, {"123E2", 5, -2, 1, 123}, {"12300", 5, -2, 1, 123}, {"12345", 5, -2, 2, 123},
        {"00012", 4, 0, 1, 12}, {"0", 3, 3, 1, 0}, {"-0.0", 3, 3, 1, 0}, {"0.001", 3, 3, 1, 1}, {"1", 3, 3, 0, 0},
        {".5", 3, 1, 1, 5}, {"5.", 3, 1, 1, 50}, {"", 3, 1, 0, 0}, {".", 3, 1, 0, 0}, {"-", 3, 1, 0, 0},
        {"1e", 3, 1, 0, 0}, {"e1", 3, 1, 0, 0}, {"1x", 3, 1, 0, 0}, {"0e999999999999999999999", 3, 1, 1, 0},
        {"1e999999999999999999999", 3, 1, 0, 0}, {"1e-999999999999999999999", 3, 1, 2, 0}, {"1.2.3", 9, 1, 0, 0}
    };
    size_t i;
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int64_t v = 0;
        CHECK_INT(tli_number_read_decimal(forms[i].text, strlen(forms[i].text), &v, 8, forms[i].precision,
            forms[i].scale),
                  forms[i].want);
        CHECK_INT(tli_number_parse_decimal(forms[i].text, strlen(forms[i].text), &v, 8, forms[i].precision,
            forms[i].scale),
                  forms[i].want == 1);
        if (forms[i].want != 0)
            CHECK_INT(v, forms[i].value);
    }
}

static void random_decimals(void)
{
    int i, k;
    for (i = 0; i < 100000; i++) {
        uint8_t v[32], back[32];
        char out[100];
        static const int32_t precision[4] = {9, 18, 38, 76};
        int32_t width = 4 << (i & 3), scale = (int32_t)(draw() % 90) - 10;
        int small = (int)(draw() % (uint64_t)width);
        size_t n;
        for (k = 0; k < 32; k++)
            v[k] = (uint8_t)draw();
        if (draw() % 4 != 0) /* narrower ones, all below the precision */
            for (k = 0; k <= small; k++)
                v[TLI_BIG_ENDIAN ? k : width - 1 - k] = (uint8_t)(i & 4 ? 0xff : 0);
        n = tli_number_decimal(out, v, width, scale);
        CHECK(n <= 93);
        if (tli_number_read_decimal(out, n, back, width, precision[i & 3], scale) != 0)
            CHECK_BYTES(back, (size_t)width, (const char *)v, (size_t)width);
        else
            CHECK(n > (size_t)precision[i & 3]);
    }
}

static void hex(void)
{
    static const uint8_t data[] = {0, 1, 0x7f, 0x80, 0xab, 0xff};
    static const char digits[] = "0123456789abcdefABCDEF";
    uint8_t back[64], bytes[64];
    char out[128], want[130], c;
    size_t i, n;
    tli_number_hex(out, data, 6);
    CHECK_TEXT(out, 12, "00017f80abff");
    CHECK(tli_number_unhex(back, "00017F80aBFf", 12) == 1);
    CHECK_BYTES(back, 6, (const char *)data, 6);
    CHECK(tli_number_unhex(back, "0", 1) == 0);
    CHECK(tli_number_unhex(back, "", 0) == 1);
    for (n = 0; n < 64; n++) {
        for (i = 0; i < n; i++) {
            bytes[i] = (uint8_t)draw();
            snprintf(want + 2 * i, 3, "%02x", bytes[i]);
        }
        tli_number_hex(out, bytes, n);
        CHECK_BYTES(out, 2 * n, want, 2 * n);
        CHECK(tli_number_unhex(back, out, 2 * n) == 1);
        CHECK_BYTES(back, n, (const char *)bytes, n);
    }
    for (i = 0; i < 26; i++) /* every character at every place of ten */
        for (n = 0; n < 256; n++) {
            memset(out, '0', 26);
            out[i] = c = (char)n;
            CHECK_INT(tli_number_unhex(back, out, 26), c != 0 && strchr(digits, c) != NULL);
        }
}

static const tl_test_case cases[] = {
    TL_TEST(table), TL_TEST(special_values), TL_TEST(halves_round_trip), TL_TEST(hard_cases), TL_TEST(halfway_cases),
    TL_TEST(random_texts), TL_TEST(random_doubles), TL_TEST(random_floats), TL_TEST(grammar), TL_TEST(integers),
    TL_TEST(decimals), TL_TEST(decimal_forms), TL_TEST(random_decimals), TL_TEST(hex),
};
TL_TEST_MAIN(cases)
