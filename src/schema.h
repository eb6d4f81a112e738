/* >>schema: a table's columns as an Arrow schema. Sources: the Apache Iceberg table spec, what Timelake makes of it. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* The current schema as a struct schema that owns itself (release it as the interface says): int32, int64, float32,
   float64, boolean, date32, time64 and timestamps in us (in ns where the type says so; zone "+00:00" or none), utf8,
   large binary, fixed-size binary (uuid: 16), decimal128, struct, list (child `element`), map (`key_value` of `key` and
   `value`). Every field has its id as metadata `PARQUET:field_id`. TL_UNSUPPORTED for other types. allocator NULL:
   malloc. */
TL_API tl_status tl_metadata_schema(const tl_metadata *metadata, struct ArrowSchema *schema,
                                    const tl_allocator *allocator, tl_error *err);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
