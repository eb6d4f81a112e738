/* >>newtable: the first version of a table. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

typedef struct tl_new_column {
    tl_span name;
    tl_span type; /* Iceberg's name of a primitive type: "long", "timestamptz", "decimal(10, 2)", ... */
    uint8_t required;
} tl_new_column;

/* A table to be created. With a time column (a required timestamp) it is partitioned by `chunk` and sorted by the
   series key, then time, and gets a last column `_ingest_ts` unless that is declined. */
typedef struct tl_new_table {
    const tl_new_column *columns;
    size_t column_count;
    tl_span time_column; /* absent: a table without partitions */
    tl_span series_key;  /* column names with commas between; absent: none */
    tl_chunk chunk;      /* TL_CHUNK_NONE: day */
    uint8_t dedup;       /* 0: true if there is a series key, 1: true, 2: false */
    uint8_t no_ingest_time;
} tl_new_table;
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
