/* The LZ4 frame decoder: frames of the reference implementation and by hand, each cut, damaged and squeezed. */
#include "tl_test.h"
#include "frames.h"

/* Frames by hand: the check byte of the header is put in by `frame`. */
static size_t frame(uint8_t *to, const char *bytes, size_t size, size_t descriptor)
{
    static const uint8_t magic[4] = {0x04, 0x22, 0x4d, 0x18};
    memcpy(to, magic, 4);
    memcpy(to + 4, bytes, descriptor);
    to[4 + descriptor] = (uint8_t)(tli_hash_xxh32(bytes, descriptor, 0) >> 8);
    memcpy(to + 5 + descriptor, bytes + descriptor, size - descriptor);
    return size + 5;
}

static void frames_by_hand(void)
{
    static const struct {
        const char *what;
        const char *bytes; /* descriptor, blocks */
        size_t size, descriptor;
        tl_status status;
        size_t content;
    } frames[] = {
#define FRAME(bytes) bytes, sizeof(bytes) - 1
#define END "\0\0\0\0"
#define MATCH_4 "\x0b\0\0\0" "\x15" "a" "\4\0" "\x60" "123456"
        {"nothing", FRAME("\x60\x40" END), 2, TL_OK, 0},
        {"stored", FRAME("\x60\x40" "\3\0\0\x80" "abc" END), 2, TL_OK, 3},
        {"stored, none", FRAME("\x60\x40" "\0\0\0\x80" END), 2, TL_OK, 0},
        {"literals", FRAME("\x60\x40" "\4\0\0\0" "\x30" "abc" END), 2, TL_OK, 3},
        {"match", FRAME("\x60\x40" "\x0b\0\0\0" "\x15" "a" "\1\0" "\x60" "123456" END), 2, TL_OK, 16},
        {"match at the end", FRAME("\x60\x40" "\5\0\0\0" "\x15" "a" "\1\0" "\0" END), 2, TL_CORRUPT, 0},
        {"match near the end", FRAME("\x60\x40" "\x0a\0\0\0" "\x10" "a" "\1\0" "\x50" "12345" END), 2, TL_CORRUPT,
         0},
        {"offset 0", FRAME("\x60\x40" "\x0b\0\0\0" "\x15" "a" "\0\0" "\x60" "123456" END), 2, TL_CORRUPT, 0},
        {"offset 2 of 1", FRAME("\x60\x40" "\x0b\0\0\0" "\x15" "a" "\2\0" "\x60" "123456" END), 2, TL_CORRUPT, 0},
        {"linked", FRAME("\x40\x40" "\3\0\0\x80" "abc" MATCH_4 END), 2, TL_OK, 19},
        {"not linked", FRAME("\x60\x40" "\3\0\0\x80" "abc" MATCH_4 END), 2, TL_CORRUPT, 0},
        {"literals cut", FRAME("\x60\x40" "\4\0\0\0" "\x40" "abc" END), 2, TL_CORRUPT, 0},
        {"length cut", FRAME("\x60\x40" "\2\0\0\0" "\xf0\xff" END), 2, TL_CORRUPT, 0},
        {"offset cut", FRAME("\x60\x40" "\3\0\0\0" "\x1f" "a" "\1" END), 2, TL_CORRUPT, 0},
        {"match length cut", FRAME("\x60\x40" "\4\0\0\0" "\x1f" "a" "\1\0" END), 2, TL_CORRUPT, 0},
        {"block too great", FRAME("\x60\x40" "\1\0\1\0" END), 2, TL_CORRUPT, 0},
        {"version 2", FRAME("\xa0\x40" END), 2, TL_UNSUPPORTED, 0},
        {"reserved flag", FRAME("\x62\x40" END), 2, TL_UNSUPPORTED, 0},
        {"reserved bits", FRAME("\x60\x41" END), 2, TL_UNSUPPORTED, 0},
        {"block size 3", FRAME("\x60\x30" END), 2, TL_CORRUPT, 0},
        {"dictionary", FRAME("\x61\x40" "\1\2\3\4" END), 6, TL_UNSUPPORTED, 0},
        {"size", FRAME("\x68\x40" "\3\0\0\0\0\0\0\0" "\3\0\0\x80" "abc" END), 10, TL_OK, 3},
        {"size too small", FRAME("\x68\x40" "\2\0\0\0\0\0\0\0" "\3\0\0\x80" "abc" END), 10, TL_CORRUPT, 0},
        {"size too great", FRAME("\x68\x40" "\4\0\0\0\0\0\0\0" "\3\0\0\x80" "abc" END), 10, TL_CORRUPT, 0},
        {"size of 2^63", FRAME("\x68\x40" "\0\0\0\0\0\0\0\x80" "\3\0\0\x80" "abc" END), 10, TL_LIMIT, 0},
        {"block checksum", FRAME("\x70\x40" "\3\0\0\x80" "abc" "\xff\x53\xd1\x32" END), 2, TL_OK, 3},
        {"block checksum wrong", FRAME("\x70\x40" "\3\0\0\x80" "abc" "\xfe\x53\xd1\x32" END), 2, TL_CHECKSUM, 0},
        {"checksum", FRAME("\x64\x40" "\3\0\0\x80" "abc" END "\xff\x53\xd1\x32"), 2, TL_OK, 3},
        {"checksum wrong", FRAME("\x64\x40" "\3\0\0\x80" "abc" END "\xff\x53\xd1\x33"), 2, TL_CHECKSUM, 0},
        {"garbage behind", FRAME("\x60\x40" END "abcd"), 2, TL_CORRUPT, 0},
    };
    uint8_t bytes[100], *out;
    size_t i, got, n;
    tl_error err;
    for (i = 0; i < TLI_COUNT(frames); i++) {
        int at_end;
        for (at_end = 0; at_end < 2; at_end++) {
            n = frame(bytes, frames[i].bytes, frames[i].size, frames[i].descriptor);
            if (!CHECK_STATUS(squeezed(at_end, bytes, n, &out, 1000, &got, &err), frames[i].status, &err))
                fprintf(stderr, "  that was: %s\n", frames[i].what);
            CHECK_INT(got, frames[i].content);
        }
        bytes[4 + frames[i].descriptor]++;
        CHECK(squeezed(1, bytes, n, &out, 1000, &got, &err) != TL_OK);
    }
    CHECK_STATUS(squeezed(1, "\x02\x21\x4c\x18", 4, &out, 9, &got, &err), TL_UNSUPPORTED, &err);
    CHECK_STATUS(squeezed(1, "abcdefgh", 8, &out, 9, &got, &err), TL_CORRUPT, &err);
    CHECK_STATUS(tli_lz4_decode(NULL, 0, &got, NULL, 0, &err), TL_OK, &err);
}

/* 4 MiB of a frame's blocks that each claim the most a block can give: the room ends it at once. */
static void bomb(void)
{
    static uint8_t bytes[70000];
    size_t n, got, i;
    uint8_t *out;
    tl_error err;
    n = frame(bytes, "\x60\x70" "\0\0\1\0" "\x1f" "a" "\1\0", 10, 2);
    for (i = 0; i < 65526; i++)
        bytes[n++] = 255;
    CHECK_STATUS(squeezed(1, bytes, n, &out, 1000, &got, &err), TL_TRUNCATED, &err);
    bytes[7] = (uint8_t)(n - 11);
    bytes[8] = (uint8_t)((n - 11) >> 8);
    bytes[9] = 0;
    bytes[n - 8] = 9;
    bytes[n - 7] = 0x60;
    CHECK_STATUS(squeezed(1, bytes, n, &out, 1000, &got, &err), TL_LIMIT, &err);
    CHECK_STATUS(squeezed(1, bytes, n, &out, ROOM, &got, &err), TL_LIMIT, &err);
}

static const tl_test_case cases[] = {
    TL_TEST(good_frames),
    TL_TEST(cut_anywhere),
    TL_TEST(flipped_anywhere),
    TL_TEST(frames_by_hand),
    TL_TEST(bomb),
};

int main(int argc, char **argv)
{
    frames_decode = tli_lz4_decode;
    frames_folder = "tests/data/lz4";
    frames_suffix = "lz4";
    return tl_test_main(cases, TLI_COUNT(cases), argc, argv);
}
