/* Raw DEFLATE: accepted by us exactly when zlib accepts it (and it ends where the input ends), with the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#ifdef TL_HAVE_ZLIB
#include <zlib.h>
#endif

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 65536u

#ifdef TL_HAVE_ZLIB
/* What zlib makes of it: its size, SIZE_MAX for refused, more than MOST for too much. */
static size_t reference(const uint8_t *data, size_t size, uint8_t *out)
{
    z_stream z;
    int r; /* what follows the stream is not looked at */
    size_t n;
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, -15) != Z_OK)
        abort();
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = MOST + 1;
    r = inflate(&z, Z_FINISH);
    n = MOST + 1 - z.avail_out;
    if (z.avail_out != 0 && r != Z_STREAM_END)
        n = SIZE_MAX;
    (void)inflateEnd(&z);
    return n;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_buffer out;
    tl_error err;
    tl_status st;
    memset(&out, 0, sizeof out);
    if (size > MOST)
        return 0;
    st = tli_inflate_decode(&out, MOST, data, size, &err);
    TIMELAKE_ASSERT(out.size <= MOST);
    TIMELAKE_ASSERT(st == TL_OK || st == TL_CORRUPT || st == TL_TRUNCATED || st == TL_LIMIT);
#ifdef TL_HAVE_ZLIB
    {
        static uint8_t want[MOST + 1];
        size_t n = reference(data, size, want);
        if (n <= MOST) {
            TIMELAKE_ASSERT(st == TL_OK && out.size == n && (n == 0 || memcmp(out.data, want, n) == 0));
        } else {
            TIMELAKE_ASSERT(st != TL_OK);
        }
        if (st == TL_LIMIT)
            TIMELAKE_ASSERT(n == MOST + 1);
    }
#endif
    tl_buffer_free(&out);
    return 0;
}
