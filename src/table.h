/* >>table: one version of a table. */
#ifndef TIMELAKE_NO_LAKE
/* How the caller writes and reads last-value indexes as Parquet files. encode appends one to `out`, with the field ids
   that columns have as metadata `PARQUET:field_id`. decode gives a file's rows and their schema as it finds them; they
   are released when they are not needed any more. Both return a status and fill `err` (never NULL) unless that is
   TL_OK. encode NULL: tl_parquet_write. decode NULL: files are read that have flat columns in plain or dictionary
   pages, stored or compressed with Snappy or zstd, as Timelake's and ours. */
typedef struct tl_index_codec {
    void *context;
    tl_status (*encode)(void *context, tl_buffer *out, const struct ArrowSchema *schema,
                        const struct ArrowArray *rows, tl_error *err);
    tl_status (*decode)(void *context, struct ArrowSchema *schema, struct ArrowArray *rows, const void *bytes,
                        size_t size, tl_error *err);
} tl_index_codec;

/* Where a table version came from. */
typedef enum tl_source { TL_FROM_HEAD, TL_FROM_CHAIN, TL_FROM_COMMIT } tl_source;

/* One version of one table: immutable but for columns that are opened, and counted. Read what is named here. Views
   (tl_head_files, tl_head_columns, ...) take &table->head, whichever way the version was loaded. Opening a view or a
   column for the first time changes the table: threads that share one do it under a lock of their own. A version that
   was committed shares memory with the one that it was committed on, and publishing adds to that: one lock for both. */
typedef struct tl_table {
    uint64_t version;
    tl_span location; /* without a slash at its end */
    tl_source source;
    tl_metadata metadata;
    tl_head head;      /* decoded, or with the sections that were made from the manifests */
    uint8_t has_files; /* sections `files` and `columns` are there */
    size_t count;      /* private from here */
    size_t memory;
    tl_allocator allocator;
    struct tli_blob *body; /* metadata text, when it did not come with a head */
    struct tli_iceberg_list *manifests; /* NULL: not known, or there is no snapshot */
    struct tli_store *store; /* of the index's rows, when a commit made them */
} tl_table;

/* One count more, one less. The last one frees it. NULL is allowed. */
TL_API tl_table *tl_table_keep(tl_table *table);
TL_API void tl_table_drop(tl_table *table);

/* The newest row per series through the C Data Interface: batch `batch` of the index, of a version from a head that
   holds it or from a commit that knew it. TL_ABSENT when the table has no index or its rows are not at hand
   (metadata.last_value_index then says where they are). */
TL_API tl_status tl_table_last_values(tl_table *table, int32_t batch, struct ArrowSchema *schema,
                                      struct ArrowArray *array, tl_error *err);
#endif /* TIMELAKE_NO_LAKE */
