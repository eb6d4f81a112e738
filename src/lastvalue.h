/* >>lastvalue: the last-value index: the newest row of every series of a table.

   A series is what has the same values in the columns of the table's series key; a null is a value too. The newest row
   is the one with the greatest time; among equal times the one that was inserted last; then the later one. Source:
   Timelake's rows::latest_per_series. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* Merges an index with rows that came later, in any order and of any number: the newest row of every series, sorted by
   the series key (ascending, nulls first), in the table's current schema (see tl_metadata_schema). Either may be NULL.
   Columns are found by field id, else by name; those of `base` that the table dropped are passed over, missing nullable
   ones are null, values are converted where that loses nothing. Time and memory follow the rows given. limits and
   allocator may be NULL. The result owns itself.

   TL_ABSENT: the table has no time column, or there are no rows at all. TL_MISUSE: the newest rows do not fit the
   table's columns; TL_CORRUPT: those of the base, or the contract, do not; TL_UNSUPPORTED: a type that is not handled;
   TL_LIMIT; TL_NO_MEMORY. */
TL_API tl_status tl_last_values_merge(const tl_metadata *metadata, const tl_rows *base, const tl_rows *newest,
                                      const tl_limits *limits, const tl_allocator *allocator,
                                      struct ArrowSchema *schema, struct ArrowArray *array, tl_error *err);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
