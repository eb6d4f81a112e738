/* >>take: rows taken out of Arrow batches, into the columns of a table. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* Rows: struct arrays of one schema. A zeroed one has none. */
typedef struct tl_rows {
    const struct ArrowSchema *schema;
    const struct ArrowArray *const *batches;
    size_t count; /* of batches */
} tl_rows;
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
