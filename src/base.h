/* >>base: compiler probes and the API marker. Only freestanding headers are needed by the declarations. */
#include <stddef.h>
#include <stdint.h>

#define TL_VERSION_MAJOR 0
#define TL_VERSION_MINOR 1
#define TL_VERSION_PATCH 0
#define TL_VERSION_NUMBER (TL_VERSION_MAJOR * 1000000 + TL_VERSION_MINOR * 1000 + TL_VERSION_PATCH)
#define TL_VERSION_TEXT "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define TLI_UNUSED __attribute__((unused))
#else
#define TLI_UNUSED
#endif

#ifdef TIMELAKE_STATIC
#define TL_API TLI_UNUSED static
#elif defined(__cplusplus)
#define TL_API extern "C"
#else
#define TL_API extern
#endif

/* The version of the implementation that was linked, as TL_VERSION_NUMBER and TL_VERSION_TEXT of its own header. */
TL_API uint32_t tl_version_number(void);
TL_API const char *tl_version_text(void);
