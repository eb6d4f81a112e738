/* >>err: status codes and the error record.

   Every function that can fail returns a tl_status and fills an optional tl_error. Numbers are given once and never
   change their meaning; the tens say the class: 1x the caller's mistake, 2x memory and limits, 3x bytes that are not
   what they claim to be, 4x valid but not supported here, 5x not there,
   6x the store or the driver, 7x other writers. */
#define TL_STATUS_LIST(X)                                                                                              \
    X(TL_OK, 0, "ok")                                                                                                  \
    X(TL_MISUSE, 10, "misuse")                           /* an argument or a call order the manual forbids */          \
    X(TL_NO_MEMORY, 20, "no memory")                     /* the allocator gave none */                                 \
    X(TL_BLOCK_FULL, 21, "block full")                   /* a tl_block is too small: error.need has the bytes */       \
    X(TL_LIMIT, 22, "limit")                             /* a named limit of tl_limits would be passed */              \
    X(TL_CORRUPT, 30, "corrupt")                         /* malformed bytes */                                         \
    X(TL_TRUNCATED, 31, "truncated")                     /* the bytes end too early */                                 \
    X(TL_CHECKSUM, 32, "checksum")                       /* a checksum does not match */                               \
    X(TL_NOT_A_HEAD, 33, "not a head")                   /* no head header at the start */                             \
    X(TL_REFUSED, 34, "refused")                         /* the caller's decoder did not take the bytes */             \
    X(TL_UNSUPPORTED, 40, "unsupported")                 /* a valid form that this library does not read or write */   \
    X(TL_NO_CODEC, 41, "no codec")                       /* a codec that is not registered */                          \
    X(TL_LAYOUT, 42, "layout")                           /* a head of an unknown layout */                             \
    X(TL_ABSENT, 50, "absent")                           /* a section, column, member or object that is not there */   \
    X(TL_STORE, 60, "store")                             /* the store failed, or answered what it must not */          \
    X(TL_CANCELLED, 61, "cancelled")                     /* given up on the caller's word */                           \
    X(TL_GAVE_UP, 62, "gave up")                         /* a bound on rounds was reached */                           \
    X(TL_CONFLICT, 70, "conflict")                       /* another writer won; nothing of ours is in */               \
    X(TL_EXISTS, 71, "exists")                           /* what was to be created is there already */                 \
    X(TL_AMBIGUOUS, 72, "ambiguous")                     /* it may be in: ask again, delete nothing */

typedef enum tl_status {
#define TLI_STATUS_ENUM(name, number, text) name = number,
    TL_STATUS_LIST(TLI_STATUS_ENUM)
#undef TLI_STATUS_ENUM
    TLI_STATUS_FORCE_INT = 0x7fffffff
} tl_status;

/* TL_NO_POSITION: the error has no place in the input. */
#define TL_NO_POSITION UINT64_MAX

/* What went wrong. `text` is a constant string in English, never NULL once filled. `position` counts bytes from the
   start of the object the caller passed (inside compressed data: where that buffer lies), or is TL_NO_POSITION.
   `need`: for TL_BLOCK_FULL and TL_LIMIT the bytes (or the count) that would have been needed, else 0. */
typedef struct tl_error {
    tl_status status;
    const char *text;
    uint64_t position;
    uint64_t need;
} tl_error;

/* "corrupt", "limit", ...; "unknown" for a number not in the list. */
TL_API const char *tl_status_text(tl_status status);
