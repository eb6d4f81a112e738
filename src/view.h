/* >>view: the sections of layout 1 with their types, reading and writing. */

/* A live data file: a row of section `files`. Spans point into the head. */
typedef struct tl_file {
    tl_span path; /* absolute URI */
    uint64_t size;
    uint64_t records;
    int64_t snapshot_id;
    int64_t sequence_number;
    int64_t file_sequence_number;
    int32_t partition;     /* hours, days or months since 1970; valid when has_partition */
    int32_t sort_order_id; /* valid when has_sort_order_id */
    uint8_t has_partition;
    uint8_t has_sort_order_id;
    uint8_t has_split_offsets; /* 0: null; the list below may also be empty */
    uint8_t added;
    size_t split_count;
    const void *split_offsets; /* split_count int64 of any alignment: tl_file_split_offset reads one */
} tl_file;

/* Statistics of one column of one file: a row of section `columns`. Absent spans and unset bits: null. */
typedef struct tl_column {
    uint32_t file; /* row in `files` */
    int32_t field_id;
    tl_span lower; /* Iceberg single-value serialization */
    tl_span upper;
    uint64_t values, nulls, nans, size;
    uint8_t has_values, has_nulls, has_nans, has_size;
} tl_column;

/* A row of section `footers`. */
typedef struct tl_footer {
    tl_span path;
    tl_span footer;
} tl_footer;

/* Views: `count` rows; the getters cannot fail once the view is open, and a row past the end is zeroed. Valid as long
   as the head. */
typedef struct tl_files {
    size_t count;
    const struct tli_view *view;
} tl_files;

typedef struct tl_columns {
    size_t count;
    const struct tli_view *view;
} tl_columns;

typedef struct tl_footers {
    size_t count;
    const struct tli_view *view;
} tl_footers;

/* The table's metadata, the text of v<version>.metadata.json. Here and below: TL_LAYOUT for a document of another
   layout, TL_ABSENT for an optional section that is not there, TL_CORRUPT when a section is not as layout 1 says. */
TL_API tl_status tl_head_metadata(tl_head *head, tl_span *json, tl_error *err);

TL_API tl_status tl_head_files(tl_head *head, tl_files *files, tl_error *err);
TL_API void tl_files_get(const tl_files *files, size_t row, tl_file *file);
TL_API int64_t tl_file_split_offset(const tl_file *file, size_t i);

/* Which columns of `columns` to open beside file and field_id; tl_head_columns with TL_COLUMNS_BOUNDS pays for the bounds
   alone, members that were not asked for read as null. Every `file` is checked to be a row of `files`. */
#define TL_COLUMNS_BOUNDS 1u
#define TL_COLUMNS_COUNTS 2u
#define TL_COLUMNS_ALL 3u
TL_API tl_status tl_head_columns(tl_head *head, unsigned which, tl_columns *columns, tl_error *err);
TL_API void tl_columns_get(const tl_columns *columns, size_t row, tl_column *column);

TL_API tl_status tl_head_footers(tl_head *head, tl_footers *footers, tl_error *err);
TL_API void tl_footers_get(const tl_footers *footers, size_t row, tl_footer *footer);

/* The inline last-value index as a section, for tl_section_column and tl_section_export. */
TL_API tl_status tl_head_last_values(tl_head *head, tl_section **section, tl_error *err);

/* What a head says, for writing one. All borrowed. */
typedef struct tl_head_parts {
    tl_span metadata;           /* v<version>.metadata.json */
    const tl_file *files;       /* in any order */
    size_t file_count;
    const tl_column *columns;   /* by file (row in files), then field id */
    size_t column_count;
    const struct ArrowSchema *last_schema; /* NULL: no index, or its rows are not known */
    const struct ArrowArray *last_values;  /* a struct array */
    const tl_footer *footers;   /* the files' footers that are known, in any order */
    size_t footer_count;
    uint64_t inline_bytes;      /* the budget B: timelake.head-inline-bytes (1,048,576 unless the table says else) */
} tl_head_parts;

/* What went in. */
typedef struct tl_head_written {
    int last_values;
    size_t footers;
    uint64_t budget_left;
} tl_head_written;

/* Writes a head of layout 1 by the budget: metadata, files and columns always; the index if it costs at most B; then
   footers, by (partition, path) descending, no partition last, up to the first that does not fit. `written` may be NULL. */
TL_API tl_status tl_head_write(tl_buffer *out, uint64_t version, tl_span codec, const tl_head_parts *parts,
                               const tl_head_options *options, tl_head_written *written, tl_error *err);
