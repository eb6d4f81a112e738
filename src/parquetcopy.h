/* >>parquetcopy: a Parquet file's footer with the field ids of a table, for a copy of the file. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* Appends to `out` what takes the place of the bytes of the file from *keep on: its footer, in which each column has
   the field id of the table's column of that name, nested ones too. Nothing else changes: pages and indexes stay where
   they are, and fields that are not known are kept. The columns have to be the table's, as tl_parquet_data_file has it:
   TL_UNSUPPORTED, with the name in *column (which may be NULL), also for one whose id is another. tl_parquet_data_file
   then says whether the new file is one for the table. `tail`, `size`, TL_TRUNCATED: as there. TL_MISUSE without a
   table. On failure `out` is as it was. */
TL_API tl_status tl_parquet_give_ids(tl_buffer *out, uint64_t *keep, const tl_metadata *table, const void *tail,
                                     size_t size, uint64_t file_size, const tl_limits *limits, tl_span *column,
                                     tl_error *err);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
