/* >>table: one version of a table. */
#ifndef TIMELAKE_NO_LAKE
/* Where a table version came from. */
typedef enum tl_source { TL_FROM_HEAD, TL_FROM_CHAIN, TL_FROM_COMMIT } tl_source;

/* One version of one table: immutable but for columns that are opened, and counted. Read what is named here. Views
   (tl_head_files, tl_head_columns, ...) take &table->head, whichever way the version was loaded. Opening a view or a
   column for the first time changes the table: threads that share one do it under a lock of their own. */
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
    struct tli_store *store;
} tl_table;

/* One count more, one less. The last one frees it. NULL is allowed. */
TL_API tl_table *tl_table_keep(tl_table *table);
TL_API void tl_table_drop(tl_table *table);

/* The newest row per series through the C Data Interface: batch `batch` of the inline index. TL_ABSENT when the
   table has no index or the head did not hold it (metadata.last_value_index then says where it is). */
TL_API tl_status tl_table_last_values(tl_table *table, int32_t batch, struct ArrowSchema *schema,
                                      struct ArrowArray *array, tl_error *err);
#endif /* TIMELAKE_NO_LAKE */
