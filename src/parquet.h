/* >>parquet: what a table's entry of a Parquet file says, from the file's footer. Source: apache/parquet-format,
   parquet.thrift; the Apache Iceberg table spec; Timelake's rules on top of it. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* Zero: the defaults. */
typedef struct tl_parquet_options {
    uint8_t sorted;    /* 1: your word that the rows are in the table's sort order, and with `dedup` have no series
                          and time twice: readers rely on it, and give wrong rows where it is not so */
    uint8_t no_footer; /* 1: make none for the head */
    tl_limits limits;
    tl_allocator allocator;
} tl_parquet_options;

typedef struct tl_parquet {
    tl_data_file file;       /* for a change; what it points at lives until tl_parquet_free, but the path is yours */
    tl_span column;          /* of an error: the column that it is about, absent if none */
    const tl_field *fields;  /* read without a table: the file's own columns; id -1: it has none, type OTHER: nested, or
                                of a type that Iceberg does not have */
    uint32_t field_count;
    uint32_t row_groups;
    uint64_t whole_footer;   /* last bytes of the file that file.footer is made of: with fewer at hand it is absent */
    struct tli_store *store; /* private */
} tl_parquet;

/* Reads a footer from the last `size` bytes of a file of `file_size`. Too few: TL_TRUNCATED, error.need says how many
   it takes. The file has to be one that all readers of the table read right: TL_UNSUPPORTED for a column that is
   missing though required, has another type, another name or no Parquet field id, that may hold nulls though required,
   that the table does not have, or for rows of more than one partition; so with what is nested in columns; for
   encrypted files too. TL_CORRUPT. `table` NULL: what the file says of itself, and nothing is asked of its columns.

   Bounds are given where they are sound: by the order that the type defines, exact, of every row group; none of NaN,
   of INT96, of deprecated statistics, or within lists and maps. NaNs are counted where the file says how many there
   are. After a failure too tl_parquet_free is called. */
TL_API tl_status tl_parquet_data_file(tl_parquet *parquet, const tl_metadata *table, tl_span path, const void *tail,
                                      size_t size, uint64_t file_size, const tl_parquet_options *options,
                                      tl_error *err);

/* Frees what reading took. */
TL_API void tl_parquet_free(tl_parquet *parquet);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
