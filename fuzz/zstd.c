/* tl_zstd_decompress and tl_zstd_content_size on any bytes, compared with libzstd where it is there; and what libzstd
   makes of any content decodes to it again.

   Known differences from libzstd 1.5.4, which this target lets pass:
   - It takes what is listed in `stricter`, RFC 8878 does not.
   - It refuses a count of sequences of 0 that takes two bytes (0x80 0x00); later versions take it, as their golden
     frame zeroSeq_2B wants.
   - Its one-call and its streaming decoder disagree on window and block sizes: where they do, only bytes are
     compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x)                                                                                             \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#ifdef TL_HAVE_ZSTD
#include <zstd.h>
#endif

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM ((size_t)300000)

/* Into memory of exactly that size, so that a sanitizer sees each byte too many. */
static tl_status decode(uint8_t **out, size_t capacity, size_t *size, const void *src, size_t src_size, tl_error *err)
{
    tl_status st;
    *out = (uint8_t *)malloc(capacity == 0 ? 1 : capacity);
    memset(err, 0, sizeof *err);
    st = tl_zstd_decompress(capacity == 0 ? NULL : *out, capacity, size, src, src_size, NULL, err);
    TIMELAKE_ASSERT(*size <= capacity);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(*size == 0 && err->status == st && err->text != NULL && err->position <= src_size);
        TIMELAKE_ASSERT(st == TL_CORRUPT || st == TL_TRUNCATED || st == TL_CHECKSUM || st == TL_UNSUPPORTED
                        || st == TL_LIMIT);
    }
    return st;
}

#ifdef TL_HAVE_ZSTD
static int is_one_of(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(text, *list) == 0)
            return 1;
    return 0;
}

/* All input in pieces of `piece` bytes. 1: accepted, *got bytes in out. */
static int streamed(uint8_t *out, size_t *got, const uint8_t *data, size_t size, size_t piece)
{
    static ZSTD_DCtx *context;
    ZSTD_outBuffer to;
    size_t at = 0, more = 0;
    if (context == NULL)
        context = ZSTD_createDCtx();
    ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
    to.dst = out;
    to.size = ROOM;
    to.pos = 0;
    while (at < size) {
        ZSTD_inBuffer from;
        size_t before = to.pos;
        from.src = data + at;
        from.size = TLI_MIN(piece, size - at);
        from.pos = 0;
        more = ZSTD_decompressStream(context, &to, &from);
        if (ZSTD_isError(more) || (from.pos == 0 && to.pos == before))
            return 0;
        at += from.pos;
    }
    *got = to.pos;
    return more == 0;
}

static void compare(const uint8_t *data, size_t size, tl_status st, const tl_error *err, const uint8_t *out, size_t n)
{
    static const char *const stricter[] = {
        "zstd: a sequence stream that ends too early", /* it reads states behind the last sequence too, */
        "zstd: a sequence stream that is too long",    /* whatever bits there are */
        "zstd: a block that ends within its sequences",
        "zstd: reserved bits in a sequences header",
        "zstd: bytes behind a block without sequences",
        "zstd: a match beyond the window",
        "zstd: an offset of 0",
        "zstd: a stream of literals without an end", /* not looked at by its fast loop */
        "zstd: Huffman coded literals that end too early", /* both: its decoder of two symbols at once */
        "zstd: Huffman coded literals that are too long",  /* is lax with the last symbol of a stream */
        "zstd: a Huffman code of more than 11 bits",
        "zstd: corrupt Huffman weights",
        "zstd: more content than a block may have",
        NULL,
    };
    uint8_t *one = (uint8_t *)malloc(ROOM), *many = (uint8_t *)malloc(ROOM);
    size_t one_size = ZSTD_decompress(one, ROOM, data, size), many_size = 0;
    int one_good = !ZSTD_isError(one_size), many_good = streamed(many, &many_size, data, size, 100);
    if (st == TL_OK) {
        TIMELAKE_ASSERT(!one_good || (one_size == n && memcmp(one, out, n) == 0));
        TIMELAKE_ASSERT(!many_good || (many_size == n && memcmp(many, out, n) == 0));
        if (!one_good && !many_good)
            TIMELAKE_ASSERT(strcmp(ZSTD_getErrorName(one_size), "Src size is incorrect") == 0);
    } else if (one_good && many_good && !is_one_of(err->text, stricter)) {
        fprintf(stderr, "refused: %s at %llu\n", err->text, (unsigned long long)err->position);
        abort();
    }
    free(one);
    free(many);
}

/* Compresses `data` as its first bytes say, decodes it again. */
static void round_trip(const uint8_t *data, size_t size)
{
    static ZSTD_CCtx *context;
    size_t room = ZSTD_compressBound(size) + 1000, got;
    uint8_t *packed = (uint8_t *)malloc(room), *out;
    ZSTD_outBuffer to;
    ZSTD_inBuffer from;
    tl_error err;
    if (context == NULL)
        context = ZSTD_createCCtx();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, data[0] % 28 - 5);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, data[1] & 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, data[1] >> 1 & 1 ? data[1] >> 2 & 7 : 0);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, data[1] >> 5 & 1 ? 10 : 14);
    ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, 10); /* small tables, or all time goes into clearing them */
    ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, 10);
    to.dst = packed;
    to.size = room;
    to.pos = 0;
    from.src = data;
    from.size = size;
    from.pos = 0;
    if (data[1] >> 6 & 1) { /* a block boundary, and no content size */
        from.size = size / 2;
        TIMELAKE_ASSERT(ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush) == 0);
        from.size = size;
    }
    TIMELAKE_ASSERT(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end) == 0);
    TIMELAKE_ASSERT(decode(&out, size, &got, packed, to.pos, &err) == TL_OK);
    TIMELAKE_ASSERT(got == size && memcmp(out, data, size) == 0);
    free(out);
    free(packed);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *out, *again;
    size_t n, got;
    uint64_t announced;
    tl_error err, ignored;
    tl_status st = decode(&out, ROOM, &n, data, size, &err);
    if (st == TL_OK) { /* the same in exactly the room it takes, and not in less */
        TIMELAKE_ASSERT(tl_zstd_content_size(data, size, &announced, &ignored) == TL_OK);
        TIMELAKE_ASSERT(announced == UINT64_MAX || announced == n);
        TIMELAKE_ASSERT(decode(&again, n, &got, data, size, &ignored) == TL_OK);
        TIMELAKE_ASSERT(got == n && (n == 0 || memcmp(out, again, n) == 0));
        free(again);
        if (n > 0) {
            TIMELAKE_ASSERT(decode(&again, n - 1, &got, data, size, &ignored) == TL_LIMIT);
            free(again);
        }
    } else {
        (void)tl_zstd_content_size(data, size, &announced, NULL);
    }
#ifdef TL_HAVE_ZSTD
    compare(data, size, st, &err, out, n);
    if (size >= 2 && (size < 4 || tli_bits_le32(data) != TLI_ZSTD_MAGIC))
        round_trip(data, size);
#endif
    free(out);
    return 0;
}
