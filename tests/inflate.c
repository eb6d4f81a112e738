/* DEFLATE and Snappy: streams of the reference library, the corners of both formats made by hand, damage. */
#include "tl_test.h"

static tl_status inflate(const void *src, size_t size, size_t limit, tl_buffer *out)
{
    tl_error err;
    tl_status st;
    memset(out, 0, sizeof *out);
    st = tli_inflate_decode(out, limit, src, size, &err);
    CHECK(st == TL_OK || (err.status == st && err.text != NULL));
    return st;
}

static void streams_of_zlib(void)
{
    size_t list_size, size, i;
    char *list = tl_test_read("tests/data/inflate/good.txt", &list_size), *line;
    int count = 0;
    CHECK(list != NULL);
    for (line = list; line != NULL && *line != 0; line = strchr(line, '\n') + 1, count++) {
        char name[32], path[96];
        unsigned long plain, crc;
        char *data;
        tl_buffer out;
        CHECK(sscanf(line, "%31s %lu %lu", name, &plain, &crc) == 3);
        snprintf(path, sizeof path, "tests/data/inflate/%s.deflate", name);
        data = tl_test_read(path, &size);
        CHECK(data != NULL);
        if (data == NULL)
            continue;
        CHECK_INT(inflate(data, size, plain, &out), TL_OK);
        CHECK_INT(out.size, plain);
        CHECK_INT(tli_hash_crc32(out.data, out.size), crc);
        tl_buffer_free(&out);
        if (plain != 0)
            CHECK_INT(inflate(data, size, plain - 1, &out), TL_LIMIT);
        tl_buffer_free(&out);
        CHECK_INT(inflate(data, size + 1, plain, &out), TL_OK); /* the zero that ends the file's text is passed over */
        tl_buffer_free(&out);
        for (i = 0; i < size; i = i < 600 ? i + 1 : i + 977) {
            char *cut = (char *)malloc(i + 1);
            memcpy(cut, data, i);
            CHECK(inflate(cut, i, plain, &out) != TL_OK);
            CHECK(out.size <= plain);
            tl_buffer_free(&out);
            free(cut);
        }
        for (i = 0; i < size * 8; i = i < 800 ? i + 1 : i + 7919) {
            data[i / 8] = (char)(data[i / 8] ^ (1 << (i % 8)));
            (void)inflate(data, size, plain, &out);
            CHECK(out.size <= plain);
            tl_buffer_free(&out);
            data[i / 8] = (char)(data[i / 8] ^ (1 << (i % 8)));
        }
        free(data);
    }
    CHECK_INT(count, 9);
    free(list);
}

/* Appends to what is there, and matches do not reach into it. */
static void behind_other_bytes(void)
{
    static const uint8_t match_before[] = {0x03, 0x02, 0x00}; /* fixed: length 3, distance 1, end; nothing before it */
    static const uint8_t letter[] = {0x4b, 0x04, 0x00};       /* fixed: 'a' */
    tl_buffer out;
    tl_error err;
    memset(&out, 0, sizeof out);
    CHECK_INT(tli_inflate_decode(&out, 10, letter, sizeof letter, &err), TL_OK);
    CHECK_INT(tli_inflate_decode(&out, 1, letter, sizeof letter, &err), TL_OK);
    CHECK_TEXT(out.data, out.size, "aa");
    CHECK_INT(tli_inflate_decode(&out, 10, match_before, sizeof match_before, &err), TL_CORRUPT);
    tl_buffer_free(&out);
}

static void malformed_deflate(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        tl_status status;
    } bad[] = {
        {"", 0, TL_TRUNCATED},
        {"\7", 1, TL_CORRUPT},                       /* block type 3 */
        {"\1\1\0\376\376a", 6, TL_CORRUPT},          /* stored: the complement does not match */
        {"\1\2\0\375\377a", 6, TL_TRUNCATED},        /* stored: one byte of two */
        {"\0\0\0\377\377", 5, TL_TRUNCATED},         /* no last block */
        {"\3\0a", 3, TL_OK},                         /* a byte behind the end: fastavro leaves some there */
        {"\x1b\x03", 2, TL_CORRUPT},                 /* fixed: literal 286 */
        {"\375\377\377", 3, TL_CORRUPT},             /* dynamic: 288 literals */
    };
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tl_buffer out;
        tl_status st = inflate(bad[i].bytes, bad[i].size, 1000, &out);
        if (i == 6)
            CHECK(st != TL_OK);
        else
            CHECK_INT(st, bad[i].status);
        tl_buffer_free(&out);
    }
}

/* ---- snappy ---- */

static tl_status snappy(const char *src, size_t size, tl_buffer *out)
{
    tl_error err;
    char *exact = (char *)malloc(size + 1);
    tl_status st;
    memcpy(exact, src, size);
    memset(out, 0, sizeof *out);
    st = tli_snappy_decode(out, 100000, exact, size, &err);
    free(exact);
    return st;
}

static void snappy_blocks(void)
{
    /* of the format description: literals of each length form, copies with 1, 2 and 4 bytes of offset, overlap */
    static const struct {
        const char *block;
        size_t size;
        const char *plain;
    } good[] = {
        {"\0", 1, ""},
        {"\3\10abc", 5, "abc"},
        {"\3\360\2abc", 6, "abc"},
        {"\3\364\2\0abc", 7, "abc"},
        {"\3\370\2\0\0abc", 8, "abc"},
        {"\3\374\2\0\0\0abc", 9, "abc"},
        {"\7\10abc\1\3", 7, "abcabca"},
        {"\6\10abc\12\3\0", 8, "abcabc"},
        {"\6\10abc\13\3\0\0\0", 10, "abcabc"},
        {"\11\0a\36\1\0", 6, "aaaaaaaaa"},
        {"\204\0\14abcd", 7, "abcd"}, /* a length in more bytes than it needs */
    };
    static const struct {
        const char *block;
        size_t size;
    } bad[] = {
        {"", 0}, {"\200", 1}, {"\377\377\377\377\377\1", 6}, {"\3\10ab", 4}, {"\4\10abc", 5}, {"\2\10abc", 5},
        {"\7\10abc\1", 6}, {"\7\10abc\1\4", 7}, {"\7\10abc\1\0", 7}, {"\6\10abc\12\3", 7}, {"\6\10abc\13\3\0\0", 9},
        {"\3\360", 2}, {"\3\374\2\0\0", 5}, {"\3\374\377\377\377\377abc", 9}, {"\377\377\3\0a", 5}, {"\0\0a", 3},
        {"\6\12\3\0\10abc", 8}};
    size_t i;
    tl_buffer out;
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!CHECK_INT(snappy(good[i].block, good[i].size, &out), TL_OK))
            fprintf(stderr, "  block %d\n", (int)i);
        CHECK_TEXT(out.data, out.size, good[i].plain);
        tl_buffer_free(&out);
    }
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!CHECK_INT(snappy(bad[i].block, bad[i].size, &out), TL_CORRUPT))
            fprintf(stderr, "  bad block %d\n", (int)i);
        tl_buffer_free(&out);
    }
    CHECK_INT(snappy("\240\215\6\0", 4, &out), TL_CORRUPT); /* 100,000 bytes of one element */
    CHECK_INT(snappy("\241\215\6\0", 4, &out), TL_LIMIT);
}

static void failing_allocations(void)
{
    tl_test_memory memory = {0, 0, 0, 0, 0, 0};
    tl_buffer out;
    tl_error err;
    memset(&out, 0, sizeof out);
    out.allocator = tl_test_allocator(&memory);
    for (memory.fail_at = 1; memory.fail_at < 3; memory.fail_at++) {
        memory.calls = 0;
        CHECK_INT(tli_inflate_decode(&out, 10, "\x4b\x04", 3, &err), TL_NO_MEMORY);
    }
    memory.calls = 0;
    memory.fail_at = 1;
    CHECK_INT(tli_snappy_decode(&out, 10, "\3\10abc", 5, &err), TL_NO_MEMORY);
    tl_buffer_free(&out);
    CHECK_INT(memory.live, 0);
}

static const tl_test_case cases[] = {
    TL_TEST(streams_of_zlib), TL_TEST(behind_other_bytes), TL_TEST(malformed_deflate),
    TL_TEST(snappy_blocks),   TL_TEST(failing_allocations),
};
TL_TEST_MAIN(cases)
