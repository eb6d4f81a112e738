/* >>parquetwrite: Parquet files, written for every reader rather than small: plain values, no compression. For the
   small files that a table's metadata is made of; data files have better writers. Source: apache/parquet-format. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* Appends `count` batches of a struct schema as one Parquet file to `out`: a row group for each batch that has rows.
   Columns, and what is nested in them, have the field ids that their metadata has under `PARQUET:field_id`, and
   statistics; those of dictionaries are written as their values. Booleans, integers, floats, decimals, dates of days,
   times and timestamps of milli-, micro- and nanoseconds, texts, bytes, and lists, structs and maps of such:
   TL_UNSUPPORTED for a column of another type, and for a value that no file holds; its name goes to *column, which may
   be NULL. So is a whole row that is null. On failure `out` is as it was. */
TL_API tl_status tl_parquet_write(tl_buffer *out, const struct ArrowSchema *schema,
                                  const struct ArrowArray *const *batches, int32_t count, tl_span *column,
                                  tl_error *err);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
