/* >>view: the sections of layout 1 with their types, reading and writing.

   Columns are found by name and exact type, others are ignored, as are sections that are not named here. All functions
   that open something return TL_LAYOUT for a document of another layout, TL_ABSENT for an optional section that is
   not there, TL_CORRUPT when a section is not as layout 1 says (a column missing or of another type, a null where none
   may be, a file that is not a row of `files`), TL_UNSUPPORTED when it is of types that this library does not read, and
   what opening columns returns. Opening twice gives the same view and costs nothing; a failed opening can be repeated.
   Opening is not for several threads at once; reading is. */

/* A live data file: a row of section `files`. Spans point into the head. */
typedef struct tl_file {
    tl_span path;     /* absolute URI */
    uint64_t size;    /* bytes */
    uint64_t records; /* rows */
    int64_t snapshot_id;
    int64_t sequence_number;
    int64_t file_sequence_number;
    int32_t partition;     /* hours, days or months since 1970, by the table's transform; valid when has_partition */
    int32_t sort_order_id; /* valid when has_sort_order_id */
    uint8_t has_partition; /* 0 also for every file of an unpartitioned table */
    uint8_t has_sort_order_id;
    uint8_t has_split_offsets; /* 0: null, or a head of an older writer; the list below may also be empty */
    uint8_t added;             /* 1: status ADDED, 0: EXISTING, in the writer's list; nothing may depend on it */
    size_t split_count;
    const void *split_offsets; /* split_count int64 of any alignment: tl_file_split_offset reads one */
} tl_file;

/* Statistics of one column of one file: a row of section `columns`. Absent spans and unset bits: null. */
typedef struct tl_column {
    uint32_t file; /* row in `files` */
    int32_t field_id;
    tl_span lower; /* Iceberg single-value serialization */
    tl_span upper;
    uint64_t values, nulls, nans; /* counts, nulls included in values */
    uint64_t size;                /* bytes in the file */
    uint8_t has_values, has_nulls, has_nans, has_size;
} tl_column;

/* A row of section `footers`: the end of a Parquet file (column indexes, offset indexes, FileMetaData, its length,
   "PAR1"; index offsets count from the start of these bytes). */
typedef struct tl_footer {
    tl_span path;
    tl_span footer;
} tl_footer;

/* Views: `count` rows, in the head's order. Getters cost the logarithm of the number of batches, cannot fail, change
   nothing, and zero what they fill for a row past the end. Valid as long as the head. */
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

/* The table's metadata, the text of v<version>.metadata.json (keys may be in another order). Valid as long as the head;
   not checked to be JSON. */
TL_API tl_status tl_head_metadata(tl_head *head, tl_span *json, tl_error *err);

/* The live data files: opens all columns of `files`. */
TL_API tl_status tl_head_files(tl_head *head, tl_files *files, tl_error *err);

/* Row `row` of the files. */
TL_API void tl_files_get(const tl_files *files, size_t row, tl_file *file);

/* Offset i of a file's split_offsets, 0 past their end. */
TL_API int64_t tl_file_split_offset(const tl_file *file, size_t i);

/* Which columns of `columns` to open beside file and field_id: TL_COLUMNS_BOUNDS pays for the bounds alone, 0 for
   neither. What was never asked for reads as null; asking for more later opens it in the same view. Every `file` is
   checked to be a row of `files`, whose columns are not opened for that. */
#define TL_COLUMNS_BOUNDS 1u
#define TL_COLUMNS_COUNTS 2u
#define TL_COLUMNS_ALL 3u
TL_API tl_status tl_head_columns(tl_head *head, unsigned which, tl_columns *columns, tl_error *err);

/* Row `row` of the statistics. */
TL_API void tl_columns_get(const tl_columns *columns, size_t row, tl_column *column);

/* The inline footers, those of the newest partitions first. */
TL_API tl_status tl_head_footers(tl_head *head, tl_footers *footers, tl_error *err);

/* Row `row` of the footers. */
TL_API void tl_footers_get(const tl_footers *footers, size_t row, tl_footer *footer);

/* The inline last-value index as a section, for tl_section_column and tl_section_export. Its columns are not opened. It
   counts only if the current snapshot names an index. */
TL_API tl_status tl_head_last_values(tl_head *head, tl_section **section, tl_error *err);

/* What a head says, for writing one. All borrowed during tl_head_write. */
typedef struct tl_head_parts {
    tl_span metadata;           /* v<version>.metadata.json, UTF-8 */
    const tl_file *files;       /* in any order; `has_` members say what is null */
    size_t file_count;
    const tl_column *columns;   /* in any order; written by file (row in `files`), then field id */
    size_t column_count;
    const struct ArrowSchema *last_schema; /* NULL: no index, or its rows are not known */
    const struct ArrowArray *const *last_values; /* struct arrays of that schema, such as tl_section_export gives */
    int32_t last_value_batches;
    const tl_footer *footers;   /* the footers that are known, in any order; those of other files are passed over */
    size_t footer_count;
    uint64_t inline_bytes;      /* the budget B: the table's timelake.head-inline-bytes, or its default below */
} tl_head_parts;

#define TL_HEAD_INLINE_BYTES 1048576u

/* What went in. */
typedef struct tl_head_written {
    int last_values;      /* 1: the index */
    size_t footers;       /* how many */
    uint64_t budget_left; /* bytes */
} tl_head_written;

/* Writes a head of layout 1 by the budget: metadata, files and columns always; the index if it costs at most B (the
   encoded size with it minus without it), which it takes from B; then footers, by (partition, path) descending, no
   partition last, up to the first whose bytes do not fit in what is left of B. A file whose footer is not known is
   passed over. `out`, `codec` and `options` as in tl_head_encode; `written` may be NULL.
   TL_MISUSE for text that is not UTF-8, a file without path, a column of a file that is not there; TL_LIMIT for more
   than 2 GiB of paths, bounds or footers. */
TL_API tl_status tl_head_write(tl_buffer *out, uint64_t version, tl_span codec, const tl_head_parts *parts,
                               const tl_head_options *options, tl_head_written *written, tl_error *err);
