/* LZ4 frames: any bytes, compared with liblz4 where it is there; and what liblz4 makes of any content decodes to it
   again.

   Known differences from liblz4 1.9.4, which this target lets pass:
   - It takes what is listed in `stricter`: the conditions for the end of a block it checks only near the end of its own
     memory, a dictionary id it passes over.
   - It refuses a stored block of size 0 that is not the end mark, in some states; and it takes the first frame's end
     for the end of everything, so that several frames are given to it one by one. */
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
#ifdef TL_HAVE_LZ4
#include <lz4frame.h>
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
    st = tli_lz4_decode(capacity == 0 ? NULL : *out, capacity, size, src, src_size, err);
    TIMELAKE_ASSERT(*size <= capacity);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(*size == 0 && err->status == st && err->text != NULL && err->position <= src_size);
        TIMELAKE_ASSERT(st == TL_CORRUPT || st == TL_TRUNCATED || st == TL_CHECKSUM || st == TL_UNSUPPORTED
                        || st == TL_LIMIT);
    }
    return st;
}

#ifdef TL_HAVE_LZ4
static int is_one_of(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(text, *list) == 0)
            return 1;
    return 0;
}

/* 1: accepted, *got bytes in out. */
static int reference(uint8_t *out, size_t *got, const uint8_t *data, size_t size)
{
    LZ4F_dctx *context = NULL;
    size_t at = 0, more = 0;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        abort();
    *got = 0;
    while (at < size) {
        size_t in = size - at, room = ROOM - *got;
        more = LZ4F_decompress(context, out + *got, &room, data + at, &in, NULL);
        if (LZ4F_isError(more) || (in == 0 && room == 0))
            break;
        at += in;
        *got += room;
    }
    LZ4F_freeDecompressionContext(context);
    return at == size && more == 0;
}

static void compare(const uint8_t *data, size_t size, tl_status st, const tl_error *err, const uint8_t *out, size_t n)
{
    static const char *const stricter[] = {
        "lz4: a match too near to the end of its block",
        "lz4: an offset of 0",
        "lz4: a frame that needs a dictionary",
        "lz4: a legacy frame",
        NULL,
    };
    uint8_t *theirs = (uint8_t *)malloc(ROOM);
    size_t got;
    int good = reference(theirs, &got, data, size);
    if (st == TL_OK) {
        TIMELAKE_ASSERT(good && got == n && memcmp(theirs, out, n) == 0);
    } else if (good && !is_one_of(err->text, stricter)) {
        fprintf(stderr, "refused: %s at %llu\n", err->text, (unsigned long long)err->position);
        abort();
    }
    free(theirs);
}

/* Compresses `data` as its first bytes say, decodes it again. */
static void round_trip(const uint8_t *data, size_t size)
{
    LZ4F_preferences_t how;
    size_t room, n, got;
    uint8_t *packed, *out;
    tl_error err;
    memset(&how, 0, sizeof how);
    how.compressionLevel = data[0] % 13;
    how.frameInfo.blockSizeID = (LZ4F_blockSizeID_t)(4 + (data[1] & 3));
    how.frameInfo.blockMode = data[1] & 4 ? LZ4F_blockIndependent : LZ4F_blockLinked;
    how.frameInfo.contentChecksumFlag = data[1] & 8 ? LZ4F_contentChecksumEnabled : LZ4F_noContentChecksum;
    how.frameInfo.blockChecksumFlag = data[1] & 16 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
    how.frameInfo.contentSize = data[1] & 32 ? size : 0;
    room = LZ4F_compressFrameBound(size, &how);
    packed = (uint8_t *)malloc(room);
    n = LZ4F_compressFrame(packed, room, data, size, &how);
    TIMELAKE_ASSERT(!LZ4F_isError(n));
    TIMELAKE_ASSERT(decode(&out, size, &got, packed, n, &err) == TL_OK);
    TIMELAKE_ASSERT(got == size && memcmp(out, data, size) == 0);
    free(out);
    free(packed);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *out, *again;
    size_t n, got;
    tl_error err, ignored;
    tl_status st = decode(&out, ROOM, &n, data, size, &err);
    if (st == TL_OK) { /* the same in exactly the room it takes, and not in less */
        TIMELAKE_ASSERT(decode(&again, n, &got, data, size, &ignored) == TL_OK);
        TIMELAKE_ASSERT(got == n && (n == 0 || memcmp(out, again, n) == 0));
        free(again);
        if (n > 0) {
            st = decode(&again, n - 1, &got, data, size, &ignored);
            TIMELAKE_ASSERT(st == TL_LIMIT || st == TL_CORRUPT);
            free(again);
            st = TL_OK;
        }
    }
#ifdef TL_HAVE_LZ4
    compare(data, size, st, &err, out, n);
    if (size >= 2 && (size < 4 || tli_bits_le32(data) != TLI_LZ4_MAGIC))
        round_trip(data, size);
#endif
    free(out);
    return 0;
}
