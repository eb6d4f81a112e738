/* Spans and UTF-8. */
#include "tl_test.h"

static void spans(void)
{
    CHECK(tl_text(NULL).data == NULL && tl_text(NULL).size == 0);
    CHECK(tl_text("abc").size == 3);
    CHECK(tl_span_equal(tl_text("abc"), tl_text("abc")) && !tl_span_equal(tl_text("abc"), tl_text("abd")));
    CHECK(tl_span_equal(tl_text(""), tl_text(NULL)));
    CHECK(tl_span_compare(tl_text("ab"), tl_text("abc")) < 0 && tl_span_compare(tl_text("b"), tl_text("abc")) > 0);
    CHECK(tl_span_compare(tl_text("a"), tl_text("\xc3\xa9")) < 0 && tl_span_compare(tl_text(""), tl_text("")) == 0);
}

/* Whether four bytes are one well-formed sequence of `n` bytes, by encoding each code point (RFC 3629). */
static size_t encode(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        out[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    out[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

static void every_code_point(void)
{
    uint32_t c;
    for (c = 0; c < 0x120000; c++) {
        uint8_t b[8];
        size_t n = encode(b, c), cut;
        int good = c < 0xd800 || (c > 0xdfff && c < 0x110000);
        CHECK_INT(tli_text_utf8(b, n), good ? n : 0);
        for (cut = 1; cut < n; cut++)
            CHECK_INT(tli_text_utf8(b, cut), 0);
    }
}

/* All sequences of two bytes, and of three and four by their edges: as many as RFC 3629 allows are accepted. */
static void how_many(void)
{
    static const uint8_t edge[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
        0xe1, 0xec, 0xed,
                                   0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    size_t two = 0, three = 0, a, b, c;
    for (a = 0; a < 256; a++)
        for (b = 0; b < 256; b++) {
            uint8_t p[2];
            p[0] = (uint8_t)a;
            p[1] = (uint8_t)b;
            two += tli_text_utf8(p, 2) == 2;
        }
    CHECK_INT(two, 128 * 128 + 30 * 64);
    for (a = 0x80; a < 256; a++)
        for (b = 0; b < 256; b++)
            for (c = 0; c < sizeof edge; c++) {
                uint8_t p[3];
                p[0] = (uint8_t)a;
                p[1] = (uint8_t)b;
                p[2] = edge[c];
                three += tli_text_utf8(p, 3) == 3;
            }
    /* three-byte forms: 6 of the edges continue; two-byte forms followed by one of 3 ASCII edges */
    CHECK_INT(three, (16 * 64 - 32 - 32) * 6 + 30 * 64 * 3);
}

static void where(void)
{
    char text[100];
    size_t at, size;
    for (size = 1; size < 70; size++)
        for (at = 0; at < size; at++) {
            memset(text, 'a', sizeof text);
            text[at] = (char)0xff;
            CHECK_INT(tli_text_utf8(text, size), at);
            text[at] = (char)0xc3;
            text[at + 1] = (char)0xa4;
            CHECK_INT(tli_text_utf8(text, size), at + 1 < size ? size : at);
        }
    CHECK_INT(tli_text_utf8(NULL, 0), 0);
}

static const tl_test_case cases[] = {TL_TEST(spans), TL_TEST(every_code_point), TL_TEST(how_many), TL_TEST(where)};
TL_TEST_MAIN(cases)
