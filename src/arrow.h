/* >>arrow: the Arrow C Data Interface, types, and arrays.

   Tables are structs of the Arrow C Data Interface (arrow.apache.org, "The Arrow C data interface"), in the byte order
   of this machine. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

/* Types by their Arrow name. */
typedef enum tl_type_id {
    TL_TYPE_NULL, TL_TYPE_BOOL,
    TL_TYPE_INT8, TL_TYPE_INT16, TL_TYPE_INT32, TL_TYPE_INT64,
    TL_TYPE_UINT8, TL_TYPE_UINT16, TL_TYPE_UINT32, TL_TYPE_UINT64,
    TL_TYPE_FLOAT16, TL_TYPE_FLOAT32, TL_TYPE_FLOAT64,
    TL_TYPE_DECIMAL32, TL_TYPE_DECIMAL64, TL_TYPE_DECIMAL128, TL_TYPE_DECIMAL256,
    TL_TYPE_DATE32, TL_TYPE_DATE64, TL_TYPE_TIME32, TL_TYPE_TIME64, TL_TYPE_TIMESTAMP, TL_TYPE_DURATION,
    TL_TYPE_INTERVAL_MONTHS, TL_TYPE_INTERVAL_DAY_TIME, TL_TYPE_INTERVAL_MONTH_DAY_NANO,
    TL_TYPE_UTF8, TL_TYPE_LARGE_UTF8, TL_TYPE_UTF8_VIEW,
    TL_TYPE_BINARY, TL_TYPE_LARGE_BINARY, TL_TYPE_BINARY_VIEW, TL_TYPE_FIXED_BINARY,
    TL_TYPE_LIST, TL_TYPE_LARGE_LIST, TL_TYPE_FIXED_LIST,
    TL_TYPE_STRUCT, TL_TYPE_MAP
} tl_type_id;

typedef struct tl_type {
    tl_type_id id;
    tl_unit unit;      /* of times, timestamps and durations */
    int32_t width;     /* bytes of a value in buffers[1]; 0: bit (bool), no values (null) or a nested/variable type */
    int32_t size;      /* fixed-size binary: bytes; fixed-size list: elements */
    int32_t precision; /* of decimals */
    int32_t scale;
    tl_span zone;      /* of timestamps, in the schema's format text; absent: without zone */
} tl_type;

/* The type a schema node's format text says; of a dictionary column that is the type of the indices.
   TL_UNSUPPORTED for unions, run-end encoding, list views; TL_MISUSE for text that is no format. */
TL_API tl_status tl_type_of(const struct ArrowSchema *schema, tl_type *type, tl_error *err);

/* The number of the child called `name` of a struct node (the first of them), or -1. */
TL_API int64_t tl_schema_find(const struct ArrowSchema *schema, tl_span name);

/* The value of `key` in a node's metadata, absent if there is none. */
TL_API tl_span tl_schema_metadata(const struct ArrowSchema *schema, tl_span key);

/* Pair i of a node's metadata (in their stored order); 0 when there are no more. */
TL_API int tl_schema_metadata_at(const struct ArrowSchema *schema, int32_t i, tl_span *key, tl_span *value);

/* A copy that owns itself (release it as the interface says; children may be moved out). allocator NULL: malloc.
   TL_MISUSE for a schema that was released; TL_LIMIT for one nested deeper than 256. */
TL_API tl_status tl_schema_copy(struct ArrowSchema *out, const struct ArrowSchema *schema,
                                const tl_allocator *allocator, tl_error *err);
