/* timelake_zstd.h - libzstd for timelake.h: compression of what is written, and faster reading.

   Include timelake.h first; define TIMELAKE_ZSTD_IMPLEMENTATION in one file; link with -lzstd (1.4 or later).

       tl_compression zstd = tl_zstd_compression(0);    // level 3

   Two ways, both safe to use from several threads at once:
   - tl_zstd_compression(level): nothing to give back. Each buffer makes and frees a libzstd context.
   - tl_zstd_adapter_compression(&adapter): keeps one context for reading and one for writing. Who finds a context taken
     by another thread uses one of his own for that buffer. For heads of a few hundred files, whose buffers are small,
     making contexts would cost more than decoding. Contexts come from libzstd's own malloc.

       tl_zstd_adapter adapter = {0};                   // level 3; adapter.level is another
       options.compression = tl_zstd_adapter_compression(&adapter);
       ...
       tl_zstd_adapter_free(&adapter);                  // when nothing that was opened with it is read any more
*/
#ifndef TIMELAKE_ZSTD_H
#define TIMELAKE_ZSTD_H

/* Zeroed: level 3, no contexts yet. Neither moved nor copied while in use. */
typedef struct tl_zstd_adapter {
    int level;     /* of libzstd, negative ones too; 0: 3 */
    void *decoder; /* ZSTD_DCtx that nobody uses at the moment, or NULL */
    void *encoder; /* ZSTD_CCtx, the same */
} tl_zstd_adapter;

#ifdef __cplusplus
extern "C" {
#endif
/* Level as libzstd counts, 0: 3. Levels beyond what libzstd has are its greatest or least. */
tl_compression tl_zstd_compression(int level);

/* The same with contexts that are used again; the adapter must live as long as anybody may call. */
tl_compression tl_zstd_adapter_compression(tl_zstd_adapter *adapter);

/* Frees the contexts. Nobody may be in a call. */
void tl_zstd_adapter_free(tl_zstd_adapter *adapter);
#ifdef __cplusplus
}
#endif

#endif /* TIMELAKE_ZSTD_H */

#if defined(TIMELAKE_ZSTD_IMPLEMENTATION) && !defined(TIMELAKE_ZSTD_IMPLEMENTATION_DONE)
#define TIMELAKE_ZSTD_IMPLEMENTATION_DONE
#include <zstd.h>
#include <zstd_errors.h>

/* Puts a context into a slot and takes what was there, in one step. Without atomics nothing is ever kept. */
static void *tl_zstd_swap(void **slot, void *context)
{
#if defined(__GNUC__) || defined(__clang__)
    return __atomic_exchange_n(slot, context, __ATOMIC_ACQ_REL);
#else
    (void)slot;
    return context;
#endif
}

static tl_status tl_zstd_status(size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_no_error:
        return TL_OK;
    case ZSTD_error_memory_allocation:
        return TL_NO_MEMORY;
    case ZSTD_error_checksum_wrong:
        return TL_CHECKSUM;
    case ZSTD_error_srcSize_wrong:
        return TL_TRUNCATED;
    case ZSTD_error_dstSize_tooSmall:
    case ZSTD_error_frameParameter_windowTooLarge:
        return TL_LIMIT;
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_dictionary_wrong:
        return TL_UNSUPPORTED;
    default:
        return TL_CORRUPT;
    }
}

static tl_status tl_zstd_decompress_with(ZSTD_DCtx *decoder, void *dst, size_t dst_size, const void *src,
                                         size_t src_size)
{
    size_t n = ZSTD_decompressDCtx(decoder, dst, dst_size, src, src_size);
    if (ZSTD_isError(n))
        return tl_zstd_status(n);
    return n == dst_size ? TL_OK : TL_CORRUPT;
}

static tl_status tl_zstd_compress_with(ZSTD_CCtx *encoder, int level, void *dst, size_t dst_capacity, size_t *dst_size,
                                       const void *src, size_t src_size)
{
    size_t n = ZSTD_compressCCtx(encoder, dst, dst_capacity, src, src_size, level == 0 ? 3 : level);
    *dst_size = ZSTD_isError(n) ? 0 : n;
    return tl_zstd_status(n);
}

static size_t tl_zstd_bound(void *context, size_t src_size)
{
    (void)context;
    return ZSTD_compressBound(src_size);
}

/* The context of these two is the level itself. */
static tl_status tl_zstd_plain_decompress(void *context, void *dst, size_t dst_size, const void *src, size_t src_size)
{
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    tl_status st = TL_NO_MEMORY;
    (void)context;
    if (decoder != NULL)
        st = tl_zstd_decompress_with(decoder, dst, dst_size, src, src_size);
    ZSTD_freeDCtx(decoder);
    return st;
}

static tl_status tl_zstd_plain_compress(void *context, void *dst, size_t dst_capacity, size_t *dst_size,
                                        const void *src, size_t src_size)
{
    ZSTD_CCtx *encoder = ZSTD_createCCtx();
    tl_status st = TL_NO_MEMORY;
    *dst_size = 0;
    if (encoder != NULL)
        st = tl_zstd_compress_with(encoder, (int)(intptr_t)context, dst, dst_capacity, dst_size, src, src_size);
    ZSTD_freeCCtx(encoder);
    return st;
}

static tl_status tl_zstd_adapter_decompress(void *context, void *dst, size_t dst_size, const void *src, size_t src_size)
{
    tl_zstd_adapter *adapter = (tl_zstd_adapter *)context;
    ZSTD_DCtx *decoder = (ZSTD_DCtx *)tl_zstd_swap(&adapter->decoder, NULL);
    tl_status st;
    if (decoder == NULL)
        decoder = ZSTD_createDCtx();
    if (decoder == NULL)
        return TL_NO_MEMORY;
    st = tl_zstd_decompress_with(decoder, dst, dst_size, src, src_size);
    ZSTD_freeDCtx((ZSTD_DCtx *)tl_zstd_swap(&adapter->decoder, decoder));
    return st;
}

static tl_status tl_zstd_adapter_compress(void *context, void *dst, size_t dst_capacity, size_t *dst_size,
                                          const void *src, size_t src_size)
{
    tl_zstd_adapter *adapter = (tl_zstd_adapter *)context;
    ZSTD_CCtx *encoder = (ZSTD_CCtx *)tl_zstd_swap(&adapter->encoder, NULL);
    tl_status st;
    *dst_size = 0;
    if (encoder == NULL)
        encoder = ZSTD_createCCtx();
    if (encoder == NULL)
        return TL_NO_MEMORY;
    st = tl_zstd_compress_with(encoder, adapter->level, dst, dst_capacity, dst_size, src, src_size);
    ZSTD_freeCCtx((ZSTD_CCtx *)tl_zstd_swap(&adapter->encoder, encoder));
    return st;
}

tl_compression tl_zstd_compression(int level)
{
    tl_compression c;
    c.context = (void *)(intptr_t)level;
    c.decompress = tl_zstd_plain_decompress;
    c.bound = tl_zstd_bound;
    c.compress = tl_zstd_plain_compress;
    return c;
}

tl_compression tl_zstd_adapter_compression(tl_zstd_adapter *adapter)
{
    tl_compression c;
    c.context = adapter;
    c.decompress = tl_zstd_adapter_decompress;
    c.bound = tl_zstd_bound;
    c.compress = tl_zstd_adapter_compress;
    return c;
}

void tl_zstd_adapter_free(tl_zstd_adapter *adapter)
{
    ZSTD_freeDCtx((ZSTD_DCtx *)adapter->decoder);
    ZSTD_freeCCtx((ZSTD_CCtx *)adapter->encoder);
    adapter->decoder = NULL;
    adapter->encoder = NULL;
}

#endif /* TIMELAKE_ZSTD_IMPLEMENTATION */
