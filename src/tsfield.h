/* >>tsfield: columns of a timeseries table: the types that its log knows, annotations, instants. */
#ifndef TIMELAKE_NO_LOG

typedef enum tl_log_type {
    TL_LOG_BOOL, TL_LOG_INT32, TL_LOG_INT64, TL_LOG_UINT64, TL_LOG_FLOAT32, TL_LOG_FLOAT64, TL_LOG_BINARY, TL_LOG_UTF8,
    TL_LOG_INT96, /* legacy: readable, a table that has it takes no columns */
    TL_LOG_FIXED_BINARY, TL_LOG_TIMESTAMP, TL_LOG_DECIMAL, TL_LOG_STRUCT, TL_LOG_LIST, TL_LOG_MAP,
    TL_LOG_OTHER /* a placeholder, as Int96 */
} tl_log_type;

typedef enum tl_log_unit { TL_LOG_MILLIS, TL_LOG_MICROS, TL_LOG_NANOS } tl_log_unit;

/* Annotations: pairs of texts by the bytes of their keys, none twice. */
typedef struct tl_log_note {
    tl_span key, value;
} tl_log_note;

typedef struct tl_log_notes {
    const tl_log_note *notes;
    uint32_t count;
} tl_log_notes;

/* A column, or a field nested in one. A schema is an array of them: a field, then everything below it, then its next
   sibling. Below a struct are its fields; below a list its element; below a map its key and, unless it has none, its
   value. Zeroed it is a required Bool without a name. */
typedef struct tl_log_field {
    tl_span name;
    tl_log_type type;
    uint32_t nodes;      /* itself and all below it; 0 counts as 1 */
    int32_t width;       /* FIXED_BINARY: bytes; DECIMAL: precision */
    int32_t scale;       /* DECIMAL */
    tl_log_unit unit;    /* TIMESTAMP */
    uint8_t nullable;
    uint8_t keys_sorted; /* MAP */
    tl_span text;        /* TIMESTAMP: the zone, absent: none; OTHER: the name */
    tl_log_notes notes;
    tl_log_notes entries, nulls; /* MAP: entries_metadata, null_value_metadata */
} tl_log_field;

/* "Float64", "Struct", ... */
TL_API const char *tl_log_type_text(tl_log_type type);

/* An instant: seconds since 1970 and nanoseconds. In a leap second `nanos` goes on from 1,000,000,000. */
typedef struct tl_log_time {
    int64_t seconds;
    uint32_t nanos;
} tl_log_time;

/* Time text as the reference takes it, which is more than RFC 3339: 1 when it is one. */
TL_API int tl_log_time_parse(tl_span text, tl_log_time *time);

/* Writes it in UTC, with a fraction of 0, 3, 6 or 9 digits: at most 40 bytes. */
TL_API size_t tl_log_time_text(char *out, tl_log_time time);

/* Fields in the form of the log: a JSON array of columns, {"name":..,"data_type":..,"nullable":..}. */
typedef struct tl_log_fields {
    const tl_log_field *fields; /* node_count of them */
    uint32_t node_count;
    uint32_t column_count;
    struct tli_store *store;
} tl_log_fields;

/* On failure nothing is held. The text is not needed any more. */
TL_API tl_status tl_log_fields_parse(tl_log_fields *fields, const char *json, size_t size,
                                     const tl_allocator *allocator, tl_fault *fault);
TL_API void tl_log_fields_free(tl_log_fields *fields);
#endif /* TIMELAKE_NO_LOG */
