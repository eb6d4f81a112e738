/* Snappy blocks: accepted by us exactly when libsnappy accepts them, with the same bytes; what libsnappy writes comes
   back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#ifdef TL_HAVE_SNAPPY
#include <snappy-c.h>
#endif

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 65536u

/* A literal of 2^32 bytes: libsnappy takes its length for 0, we refuse it. */
TLI_UNUSED static int has_wrapping_literal(const uint8_t *data, size_t size)
{
    size_t i;
    for (i = 0; i + 5 <= size; i++)
        if (memcmp(data + i, "\xfc\xff\xff\xff\xff", 5) == 0)
            return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_buffer out;
    tl_error err;
    tl_status st;
    memset(&out, 0, sizeof out);
    if (size > MOST)
        return 0;
    st = tli_snappy_decode(&out, MOST, data, size, &err);
    TIMELAKE_ASSERT(st == TL_OK || st == TL_CORRUPT || st == TL_LIMIT);
    TIMELAKE_ASSERT(out.size <= MOST);
#ifdef TL_HAVE_SNAPPY
    {
        static char want[MOST], packed[MOST * 2];
        const char *src = (const char *)(uintptr_t)data;
        size_t n = 0, packed_size = sizeof packed;
        int fits = snappy_uncompressed_length(src, size, &n) == SNAPPY_OK && n <= MOST;
        if (fits) {
            int ok = snappy_uncompress(src, size, want, &n) == SNAPPY_OK;
            TIMELAKE_ASSERT(ok == (st == TL_OK) || (ok && has_wrapping_literal(data, size)));
            TIMELAKE_ASSERT(st != TL_OK || (out.size == n && (n == 0 || memcmp(out.data, want, n) == 0)));
        } else {
            TIMELAKE_ASSERT(st != TL_OK);
        }
        TIMELAKE_ASSERT(snappy_compress(src, size, packed, &packed_size) == SNAPPY_OK);
        out.size = 0;
        TIMELAKE_ASSERT(tli_snappy_decode(&out, MOST, packed, packed_size, &err) == TL_OK);
        TIMELAKE_ASSERT(out.size == size && (size == 0 || memcmp(out.data, data, size) == 0));
    }
#endif
    tl_buffer_free(&out);
    return 0;
}
