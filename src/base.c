/* >>base */
#ifdef TIMELAKE_NO_STDLIB
#if defined(__GNUC__) || defined(__clang__)
/* The builtins may become calls of memcpy, memmove, memset, memcmp: the linker must bring these four. */
#define TLI_COPY(to, from, size) ((void)__builtin_memcpy((to), (from), (size)))
#define TLI_MOVE(to, from, size) ((void)__builtin_memmove((to), (from), (size)))
#define TLI_FILL(to, byte, size) ((void)__builtin_memset((to), (byte), (size)))
#define TLI_COMPARE(a, b, size) __builtin_memcmp((a), (b), (size))
#else
#error "TIMELAKE_NO_STDLIB needs gcc or clang"
#endif
#else
#include <stdlib.h>
#include <string.h>
#define TLI_COPY(to, from, size) ((void)memcpy((to), (from), (size)))
#define TLI_MOVE(to, from, size) ((void)memmove((to), (from), (size)))
#define TLI_FILL(to, byte, size) ((void)memset((to), (byte), (size)))
#define TLI_COMPARE(a, b, size) memcmp((a), (b), (size))
#endif

/* Private functions. Partial builds leave some of them unused: that is no news to the includer. */
#define TLI_FN TLI_UNUSED static
#if defined(__GNUC__) || defined(__clang__)
#if defined(__OPTIMIZE_SIZE__) || !defined(__OPTIMIZE__)
#define TLI_INLINE TLI_UNUSED static inline
#else
#define TLI_INLINE TLI_UNUSED static inline __attribute__((always_inline))
#endif
#define TLI_HOT TLI_UNUSED static inline __attribute__((always_inline)) /* where size counts, too */
#define TLI_NOINLINE TLI_UNUSED static __attribute__((noinline))
#define TLI_LIKELY(x) __builtin_expect(!!(x), 1)
#define TLI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define TLI_INLINE static inline
#define TLI_HOT static inline
#define TLI_NOINLINE static
#define TLI_LIKELY(x) (!!(x))
#define TLI_UNLIKELY(x) (!!(x))
#endif

/* TLI_ASSERT: a promise between rooms. Compiled in when TIMELAKE_ASSERT is defined (the tests and fuzzers do);
   bad input never trips it, it is answered with a status. */
#ifndef TIMELAKE_ASSERT
#define TLI_ASSERT(x) ((void)0)
#else
#define TLI_ASSERT(x) TIMELAKE_ASSERT(x)
#endif

#define TLI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TLI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TLI_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Every x86-64 has SSE2; all other machines run the portable code beside it. The compiler's header wants a libc. */
#if defined(__SSE2__) && !defined(TIMELAKE_NO_SIMD) && !defined(TIMELAKE_NO_STDLIB)
#include <emmintrin.h>
#define TLI_SSE2 1
#else
#define TLI_SSE2 0
#endif

#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define TLI_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#else
#define TLI_BIG_ENDIAN 0
#endif

TL_API uint32_t tl_version_number(void)
{
    return TL_VERSION_NUMBER;
}

TL_API const char *tl_version_text(void)
{
    return TL_VERSION_TEXT;
}
