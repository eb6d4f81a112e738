/* >>contract: what a table's properties mean (the `timelake.` ones). */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_chunk { TL_CHUNK_NONE, TL_CHUNK_HOUR, TL_CHUNK_DAY, TL_CHUNK_MONTH } tl_chunk;

#define TL_FOREVER INT64_MAX /* a duration that is off, or not set and without end */

/* Spans point into the properties. Durations are milliseconds. Absent columns: data NULL. */
typedef struct tl_contract {
    tl_span time_column;
    tl_span series_key; /* column names with commas between: tl_contract_column reads one */
    tl_span ingest_time_column;
    tl_span head_format; /* as written: codec names are compared without case; "arrow" when not set */
    tl_chunk chunk;
    uint8_t dedup, read_dedup, auto_maintain;
    int64_t retention, snapshot_retention, compact_cold_after, version_check_interval;
    int64_t keep_snapshots_until; /* Unix milliseconds; INT64_MIN: not set */
    uint64_t target_file_bytes, row_group_rows, min_snapshots, max_snapshots, compact_min_files, head_inline_bytes;
    uint32_t format_major, format_minor, format_patch; /* 0.1.0 when not set */
    uint32_t previous_versions_max; /* write.metadata.previous-versions-max: 100 when not set, at least 1 */
} tl_contract;

/* Reads the properties: the `properties` member of a table's metadata (NULL: none). A value that does not parse is
   TL_CORRUPT with the property's name as text and the value's position. */
TL_API tl_status tl_contract_read(tl_contract *contract, const tl_json *metadata, const tl_json_node *properties,
                                  tl_error *err);

/* Series key column i, trimmed; absent past the last. */
TL_API tl_span tl_contract_column(const tl_contract *contract, uint32_t i);

/* TL_OK when this library knows the table's format well enough (it knows 0.3.0), else TL_UNSUPPORTED. */
TL_API tl_status tl_contract_may_read(const tl_contract *contract, tl_error *err);
TL_API tl_status tl_contract_may_write(const tl_contract *contract, tl_error *err);
#endif /* TIMELAKE_NO_LAKE */
