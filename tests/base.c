/* What every build has: version, statuses, limits, spans. */
#include "tl_test.h"

static void version_is_one(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TL_VERSION_MAJOR, TL_VERSION_MINOR, TL_VERSION_PATCH);
    CHECK(strcmp(text, TL_VERSION_TEXT) == 0 && strcmp(text, tl_version_text()) == 0);
    CHECK_INT(tl_version_number(), TL_VERSION_NUMBER);
}

static void statuses_have_their_numbers(void)
{
    CHECK_INT(TL_OK, 0);
    CHECK_INT(TL_MISUSE, 10);
    CHECK_INT(TL_NO_MEMORY, 20);
    CHECK_INT(TL_LIMIT, 22);
    CHECK_INT(TL_CORRUPT, 30);
    CHECK_INT(TL_UNSUPPORTED, 40);
    CHECK_INT(TL_ABSENT, 50);
    CHECK(strcmp(tl_status_text(TL_CORRUPT), "corrupt") == 0);
    CHECK(strcmp(tl_status_text((tl_status)9999), "unknown") == 0);
}

static void limits_have_defaults(void)
{
    tl_limits none = tl_limits_resolve(NULL), some;
    CHECK(none.object_bytes != 0 && none.decoded_bytes != 0 && none.decoded_bytes <= SIZE_MAX / 2);
    CHECK_INT(none.rows, (long long)1 << 40);
    CHECK_INT(none.depth, 64);
    memset(&some, 0, sizeof some);
    some.rows = 7;
    some.depth = 100000;
    some = tl_limits_resolve(&some);
    CHECK_INT(some.rows, 7);
    CHECK_INT(some.depth, 256);
    CHECK_INT(some.sections, none.sections);
}

static void spans_compare_by_bytes(void)
{
    tl_span absent = tl_text(NULL), empty = tl_text("");
    CHECK(absent.data == NULL && absent.size == 0 && empty.data != NULL && empty.size == 0);
    CHECK(tl_span_equal(tl_text("abc"), tl_text("abc")) && !tl_span_equal(tl_text("abc"), tl_text("abd")));
    CHECK(tl_span_equal(absent, empty) && !tl_span_equal(empty, tl_text("a")));
    CHECK(tl_span_compare(tl_text("a"), tl_text("ab")) < 0 && tl_span_compare(tl_text("b"), tl_text("ab")) > 0);
    CHECK(tl_span_compare(tl_text("\xff"), tl_text("a")) > 0);
    CHECK_INT(tl_span_compare(tl_text("x"), tl_text("x")), 0);
}

static const tl_test_case cases[] = {
    TL_TEST(version_is_one),
    TL_TEST(statuses_have_their_numbers),
    TL_TEST(limits_have_defaults),
    TL_TEST(spans_compare_by_bytes),
};
TL_TEST_MAIN(cases)
