/* The zstd decoder: frames of the reference implementation and by hand, each cut, damaged and squeezed. */
#include "tl_test.h"
#include "frames.h"
#ifdef TL_HAVE_ZSTD
#define TIMELAKE_ZSTD_IMPLEMENTATION
#include "../adapters/timelake_zstd.h"
#endif

/* With work memory that holds anything. */
static tl_status decode(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                        tl_error *err)
{
    static void *work;
    if (work == NULL)
        work = malloc(TLI_ZSTD_WORK);
    memset(work, 0xa5, 4096);
    return tli_zstd_decode(work, dst, dst_capacity, dst_size, src, src_size, err);
}

static void one_content_size(const frame_case *c)
{
    uint64_t announced;
    size_t n, got;
    tl_error err;
    uint8_t *out;
    CHECK_STATUS(tl_zstd_content_size(c->src, c->src_size, &announced, &err), TL_OK, &err);
    if (strstr(c->name, "no-size") != NULL || strcmp(c->name, "window-descriptor") == 0)
        CHECK(announced == UINT64_MAX);
    else
        CHECK(announced == c->size || announced == UINT64_MAX);
    for (n = 0; n < c->src_size; n++) {
        tl_status st = squeezed(1, c->src, n, &out, c->size, &got, NULL);
        CHECK_STATUS(tl_zstd_content_size(c->src, n, &announced, &err), st, &err);
    }
}

static void content_sizes(void)
{
    each_good(one_content_size);
}

/* ---- bad frames ---- */

static void bad_frames(void)
{
    static const struct {
        const char *name;
        tl_status status, content_size;
    } bad[] = {
        {"checksum-wrong", TL_CHECKSUM, TL_OK},     {"cut", TL_TRUNCATED, TL_TRUNCATED},
        {"cut-header", TL_TRUNCATED, TL_TRUNCATED}, {"garbage-after", TL_TRUNCATED, TL_TRUNCATED},
        {"garbage-after-4", TL_CORRUPT, TL_CORRUPT}, {"size-2-63", TL_LIMIT, TL_CORRUPT},
        {"size-1-tib", TL_LIMIT, TL_OK},            {"size-too-small", TL_CORRUPT, TL_OK},
        {"size-too-great", TL_CORRUPT, TL_OK},      {"window-2-41", TL_LIMIT, TL_LIMIT},
        {"window-2-30", TL_LIMIT, TL_LIMIT},        {"reserved-bit", TL_UNSUPPORTED, TL_UNSUPPORTED},
        {"reserved-block", TL_CORRUPT, TL_CORRUPT}, {"dictionary-id", TL_UNSUPPORTED, TL_UNSUPPORTED},
        {"block-too-great", TL_CORRUPT, TL_OK},     {"legacy-v07", TL_UNSUPPORTED, TL_UNSUPPORTED},
        {"magic-only", TL_TRUNCATED, TL_TRUNCATED}, {"skippable-cut", TL_TRUNCATED, TL_TRUNCATED},
        {"rle-bomb", TL_LIMIT, TL_OK},
    };
    size_t i, at_end, src_size, got;
    for (i = 0; i < TLI_COUNT(bad); i++) {
        char path[128], *src;
        uint64_t announced;
        tl_error err;
        snprintf(path, sizeof path, "tests/data/zstd/bad/%s.zst", bad[i].name);
        src = tl_test_read(path, &src_size);
        CHECK(src != NULL);
        for (at_end = 0; at_end < 2; at_end++) {
            uint8_t *out;
            tl_status st = squeezed((int)at_end, src, src_size, &out, ROOM, &got, &err);
            if (!CHECK_STATUS(st, bad[i].status, &err))
                fprintf(stderr, "  that was %s\n", bad[i].name);
            CHECK_INT(got, 0);
        }
        if (!CHECK_STATUS(tl_zstd_content_size(src, src_size, &announced, &err), bad[i].content_size, &err))
            fprintf(stderr, "  that was %s\n", bad[i].name);
        free(src);
    }
}

/* Frames by hand, as hex; a prefix of magic and headers makes them short. */
static void frames_by_hand(void)
{
    static const struct {
        const char *what;
        const char *bytes;
        size_t size;
        tl_status status;
        size_t content;
    } frames[] = {
#define SMALL "\x28\xb5\x2f\xfd\x00\x00" /* a window of 1 KiB, no content size */
#define SINGLE(content) "\x28\xb5\x2f\xfd\x20" content /* a single segment with that one byte of content size */
#define FRAME(bytes) bytes, sizeof(bytes) - 1
        {"empty compressed block", FRAME(SMALL "\x05\x00\x00"), TL_CORRUPT, 0},
        {"raw literals, no sequences", FRAME(SMALL "\x2d\x00\x00\x18" "abc" "\x00"), TL_OK, 3},
        {"bytes behind no sequences", FRAME(SMALL "\x35\x00\x00\x18" "abc" "\x00\x00"), TL_CORRUPT, 0},
        {"no sequences in two bytes", FRAME(SMALL "\x35\x00\x00\x18" "abc" "\x80\x00"), TL_OK, 3},
        {"run of literals", FRAME(SMALL "\x1d\x00\x00\x31" "z" "\x00"), TL_OK, 6},
        {"more literals than content", FRAME(SINGLE("\x05") "\x1d\x00\x00\x31" "z" "\x00"), TL_CORRUPT, 0},
        {"treeless at first", FRAME(SMALL "\x2d\x00\x00\x63\x40\x00\x01\x00"), TL_CORRUPT, 0},
        {"repeat at first", FRAME(SMALL "\x35\x00\x00\x08" "a" "\x01\xfc\x80\x80"), TL_CORRUPT, 0},
        {"reserved modes", FRAME(SMALL "\x35\x00\x00\x08" "a" "\x01\x01\x80\x80"), TL_CORRUPT, 0},
        /* literals 1 x 'a', then one sequence with each table a run: literals 1, offset code 0 (repeat 1), match 9 */
        {"run tables", FRAME(SMALL "\x45\x00\x00\x08" "a" "\x01\x54\x01\x00\x06\x01"), TL_OK, 10},
        {"stream too long", FRAME(SMALL "\x4d\x00\x00\x08" "a" "\x01\x54\x01\x00\x06\x00\x01"), TL_CORRUPT, 0},
        {"stream without an end", FRAME(SMALL "\x45\x00\x00\x08" "a" "\x01\x54\x01\x00\x06\x00"), TL_CORRUPT, 0},
        {"no stream", FRAME(SMALL "\x3d\x00\x00\x08" "a" "\x01\x54\x01\x00\x06"), TL_CORRUPT, 0},
        /* no literals: code 0 is the second last offset, 4, before the start */
        {"before the start", FRAME(SMALL "\x45\x00\x00\x08" "a" "\x01\x54\x00\x00\x07\x01"), TL_CORRUPT, 0},
        {"symbols out of range", FRAME(SMALL "\x45\x00\x00\x08" "a" "\x01\x54\x24\x00\x06\x01"), TL_CORRUPT, 0},
    };
    size_t i;
    for (i = 0; i < TLI_COUNT(frames); i++) {
        int at_end;
        for (at_end = 0; at_end < 2; at_end++) {
            uint8_t *out;
            size_t got;
            tl_error err;
            if (!CHECK_STATUS(squeezed(at_end, frames[i].bytes, frames[i].size, &out, 100, &got, &err),
                              frames[i].status, &err))
                fprintf(stderr, "  that was: %s\n", frames[i].what);
            CHECK_INT(got, frames[i].content);
        }
    }
}

/* ---- tables ---- */

/* The constant tables are what the distributions of RFC 8878, 3.1.1.3.2.2 give. */
static void predefined_tables(void)
{
    static const int8_t ll[] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2,  2,
                                2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
    static const int8_t of[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                -1, -1, -1, -1, -1};
    static const int8_t ml[] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
    static const int8_t *const counts[] = {ll, of, ml};
    static const uint32_t symbols[] = {sizeof ll, sizeof of, sizeof ml};
    const tli_zstd_kind *kind[3];
    tli_zstd_work *w = (tli_zstd_work *)malloc(sizeof *w);
    size_t k;
    uint32_t i;
    kind[0] = &tli_zstd_kind_ll;
    kind[1] = &tli_zstd_kind_of;
    kind[2] = &tli_zstd_kind_ml;
    for (k = 0; k < 3; k++) {
        for (i = 0; i < symbols[k]; i++)
            w->counts[i] = counts[k][i];
        tli_zstd_states(w, w->ll_entries, kind[k]->predefined_log, symbols[k], kind[k]);
        for (i = 0; i < 1u << kind[k]->predefined_log; i++) {
            tli_zstd_entry a = w->ll_entries[i], b = kind[k]->predefined[i];
            CHECK(a.next == b.next && a.extra == b.extra && a.bits == b.bits && a.base == b.base);
        }
    }
    free(w);
}

/* ---- the public doors ---- */

static void arguments_and_memory(void)
{
    static const char frame[] = SINGLE("\x03") "\x19\x00\x00" "abc"; /* a raw block */
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_allocator a = tl_test_allocator(&m);
    char out[8];
    size_t got = 5;
    uint64_t wide;
    tl_error err;
    CHECK_STATUS(tl_zstd_decompress(out, 8, &got, frame, sizeof frame - 1, &a, &err), TL_OK, &err);
    CHECK_TEXT(out, got, "abc");
    CHECK_INT(m.calls, 1);
    CHECK_INT(m.live, 0);
    CHECK(m.peak < 200000);
    m.fail_at = 2;
    CHECK_STATUS(tl_zstd_decompress(out, 8, &got, frame, sizeof frame - 1, &a, &err), TL_NO_MEMORY, &err);
    CHECK_INT(got, 0);
    a = tl_block(out, sizeof out);
    CHECK_STATUS(tl_zstd_decompress(out, 8, &got, frame, sizeof frame - 1, &a, &err), TL_BLOCK_FULL, &err);
    CHECK_STATUS(tl_zstd_decompress(NULL, 0, &got, NULL, 0, NULL, &err), TL_OK, &err);
    CHECK_STATUS(tl_zstd_decompress(NULL, 0, &got, frame, sizeof frame - 1, NULL, &err), TL_LIMIT, &err);
    CHECK(err.need == 3);
    CHECK_STATUS(tl_zstd_decompress(NULL, 1, &got, NULL, 0, NULL, NULL), TL_MISUSE, NULL);
    CHECK_STATUS(tl_zstd_decompress(out, 1, &got, NULL, 1, NULL, NULL), TL_MISUSE, NULL);
    CHECK_STATUS(tl_zstd_decompress(out, 1, NULL, NULL, 0, NULL, NULL), TL_MISUSE, NULL);
    CHECK_STATUS(tl_zstd_content_size(NULL, 0, &wide, NULL), TL_OK, NULL);
    CHECK(wide == 0);
    CHECK_STATUS(tl_zstd_content_size(NULL, 1, &wide, NULL), TL_MISUSE, NULL);
    CHECK_STATUS(tl_zstd_content_size(frame, sizeof frame - 1, NULL, NULL), TL_MISUSE, NULL);
    CHECK_STATUS(tl_zstd_content_size(frame, sizeof frame - 1, &wide, NULL), TL_OK, NULL);
    CHECK(wide == 3);
}

/* ---- other collections, when they are there ---- */

static void third_party(void)
{
    static const struct {
        const char *name;
        tl_status status;
        size_t size;
    } files[] = {
        {"golden-decompression/block-128k", TL_OK, 131068},
        {"golden-decompression/empty-block", TL_OK, 0},
        {"golden-decompression/rle-first-block", TL_OK, 1048576},
        {"golden-decompression/zeroSeq_2B", TL_OK, 13},
        {"golden-decompression-errors/off0.bin", TL_CORRUPT, 0},
        {"golden-decompression-errors/truncated_huff_state", TL_CORRUPT, 0},
        {"golden-decompression-errors/zeroSeq_extraneous", TL_CORRUPT, 0},
    };
    size_t i;
    for (i = 0; i < TLI_COUNT(files); i++) {
        char below[128], *src;
        size_t src_size, got;
        uint8_t *out;
        tl_error err;
        int at_end;
        snprintf(below, sizeof below, "third-party/zstd/%s.zst", files[i].name);
        src = tl_test_read(tl_test_shared(below), &src_size);
        if (src == NULL) {
            tl_test_skip("no shared/third-party/zstd");
            return;
        }
        for (at_end = 0; at_end < 2; at_end++) {
            if (!CHECK_STATUS(squeezed(at_end, src, src_size, &out, ROOM, &got, &err), files[i].status, &err))
                fprintf(stderr, "  that was %s\n", files[i].name);
            CHECK_INT(got, files[i].size);
        }
        free(src);
    }
}

/* ---- against libzstd, where this machine has it ---- */

#ifdef TL_HAVE_ZSTD
static uint32_t draw(void)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

static void content(uint8_t *to, size_t size, int kind)
{
    static const char *const words[] = {"lake ", "snapshot", "-", "manifest.", "2026", "{\"path\":", "\n", "0"};
    size_t i, k;
    for (i = 0; i < size; i++) {
        switch (kind) {
        case 0: /* text */
            for (k = draw() % 8; i < size && words[k][0] != 0; k = draw() % 8) {
                size_t n = TLI_MIN(strlen(words[k]), size - i);
                memcpy(to + i, words[k], n);
                i += n;
            }
            break;
        case 1: /* growing 64-bit numbers */
            to[i] = i < 8 ? (uint8_t)i : (uint8_t)(to[i - 8] + (i % 8 == 0 ? draw() % 3 : 0));
            break;
        case 2: /* noise */
            to[i] = (uint8_t)draw();
            break;
        case 3: /* zeros */
            to[i] = 0;
            break;
        case 4: /* the far past again */
            to[i] = i > size / 2 + 1000 && draw() % 50 != 0 ? to[i - size / 2] : (uint8_t)draw();
            break;
        default: /* short patterns of every length up to 20, skewed noise between */
            for (k = 3 + draw() % 40; k > 0 && i < size; k--, i++)
                to[i] = (uint8_t)(draw() % 16 * (draw() % 4));
            for (k = draw() % 100; k > 0 && i < size && i > 20; k--, i++)
                to[i] = to[i - 1 - (i / 4096) % 20];
            if (i < size)
                to[i] = 7;
        }
    }
}

static void frames_of_libzstd(void)
{
    static const size_t sizes[] = {0, 1, 2, 7, 31, 32, 33, 63, 100, 255, 256, 257, 1000, 1023, 1024, 5000,
                                   16384, 70000, 131071, 131072, 131073, 300000};
    uint8_t *src = (uint8_t *)malloc(ROOM), *packed = (uint8_t *)malloc(ROOM);
    size_t i;
    int kind, level;
    for (i = 0; i < TLI_COUNT(sizes); i++)
        for (kind = 0; kind < 6; kind++) {
            content(src, sizes[i], kind);
            for (level = -5; level <= 22; level += sizes[i] > 20000 ? 5 : 1) {
                size_t n = ZSTD_compress(packed, ROOM, src, sizes[i], level), got;
                uint8_t *out;
                tl_error err;
                if (!CHECK_STATUS(squeezed((level + kind) & 1, packed, n, &out, sizes[i], &got, &err), TL_OK, &err)
                    || got != sizes[i] || (got > 0 && memcmp(out, src, got) != 0)) {
                    fprintf(stderr, "  that was kind %d, %zu bytes, level %d\n", kind, sizes[i], level);
                    tl_test_failures++;
                }
            }
        }
    free(src);
    free(packed);
}

/* Both kinds of adapter: there and back, exact sizes only, the built-in decoder reads it. */
static void adapter_round_trip(const tl_compression *c, const uint8_t *src, size_t size)
{
    size_t room = c->bound(c->context, size), n = 7, got;
    uint8_t *packed = (uint8_t *)malloc(room), *out = (uint8_t *)malloc(size + 1);
    tl_error err;
    CHECK_STATUS(c->compress(c->context, packed, room, &n, src, size), TL_OK, NULL);
    CHECK(n > 0 && n <= room);
    CHECK_STATUS(c->decompress(c->context, out, size, packed, n), TL_OK, NULL);
    CHECK_BYTES(out, size, (const char *)src, size);
    CHECK_STATUS(c->decompress(c->context, out, size + 1, packed, n), TL_CORRUPT, NULL);
    if (size > 0)
        CHECK_STATUS(c->decompress(c->context, out, size - 1, packed, n), TL_LIMIT, NULL);
    CHECK_STATUS(c->decompress(c->context, out, size, packed, n - 1), TL_TRUNCATED, NULL);
    CHECK_STATUS(tl_zstd_decompress(out, size, &got, packed, n, NULL, &err), TL_OK, &err);
    CHECK_BYTES(out, got, (const char *)src, size);
    CHECK_STATUS(c->compress(c->context, packed, 3, &got, src, size), TL_LIMIT, NULL);
    CHECK_INT(got, 0);
    free(packed);
    free(out);
}

static void adapters(void)
{
    static const int levels[] = {0, -7, 1, 3, 19, 1000};
    static const size_t sizes[] = {0, 1, 100, 5000, 200000};
    static uint8_t src[200000];
    size_t i, k, fast = 0, slow = 0;
    tl_compression c;
    content(src, sizeof src, 0);
    for (i = 0; i < TLI_COUNT(levels); i++) {
        tl_zstd_adapter adapter = {0, NULL, NULL};
        adapter.level = levels[i];
        for (k = 0; k < TLI_COUNT(sizes); k++) {
            c = tl_zstd_compression(levels[i]);
            adapter_round_trip(&c, src, sizes[k]);
            c = tl_zstd_adapter_compression(&adapter);
            adapter_round_trip(&c, src, sizes[k]);
        }
        tl_zstd_adapter_free(&adapter);
        tl_zstd_adapter_free(&adapter);
    }
    {
        static uint8_t packed[300000];
        c = tl_zstd_compression(-7);
        CHECK_STATUS(c.compress(c.context, packed, sizeof packed, &fast, src, sizeof src), TL_OK, NULL);
        c = tl_zstd_compression(19);
        CHECK_STATUS(c.compress(c.context, packed, sizeof packed, &slow, src, sizeof src), TL_OK, NULL);
        CHECK(slow < fast);
    }
}
#else
static void adapters(void)
{
    tl_test_skip("built without libzstd");
}

static void frames_of_libzstd(void)
{
    tl_test_skip("built without libzstd");
}
#endif

static const tl_test_case cases[] = {
    TL_TEST(good_frames),
    TL_TEST(content_sizes),
    TL_TEST(cut_anywhere),
    TL_TEST(flipped_anywhere),
    TL_TEST(bad_frames),
    TL_TEST(frames_by_hand),
    TL_TEST(predefined_tables),
    TL_TEST(arguments_and_memory),
    TL_TEST(third_party),
    TL_TEST(frames_of_libzstd),
    TL_TEST(adapters),
};

int main(int argc, char **argv)
{
    frames_decode = decode;
    frames_folder = "tests/data/zstd";
    frames_suffix = "zst";
    return tl_test_main(cases, TLI_COUNT(cases), argc, argv);
}
