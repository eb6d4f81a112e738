/* >>metadata: a table's Iceberg metadata, vN.metadata.json. Source: the Apache Iceberg table spec, formats 1 to 3. */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_iceberg_type {
    TL_ICEBERG_OTHER, /* nested, or of a later format: kept, but nothing is pruned by it */
    TL_ICEBERG_BOOLEAN, TL_ICEBERG_INT, TL_ICEBERG_LONG, TL_ICEBERG_FLOAT, TL_ICEBERG_DOUBLE, TL_ICEBERG_DECIMAL,
    TL_ICEBERG_DATE, TL_ICEBERG_TIME, TL_ICEBERG_TIMESTAMP, TL_ICEBERG_TIMESTAMPTZ, TL_ICEBERG_TIMESTAMP_NS,
    TL_ICEBERG_TIMESTAMPTZ_NS, TL_ICEBERG_STRING, TL_ICEBERG_UUID, TL_ICEBERG_FIXED, TL_ICEBERG_BINARY
} tl_iceberg_type;

/* A top-level column of the current schema. */
typedef struct tl_field {
    tl_span name;
    int32_t id;
    tl_iceberg_type type;
    int32_t precision; /* of decimals; of fixed the bytes */
    int32_t scale;
    uint8_t required;
    const tl_json_node *type_node; /* as written: a string, or the object of a nested type */
} tl_field;

typedef enum tl_transform {
    TL_TRANSFORM_OTHER, TL_TRANSFORM_IDENTITY, TL_TRANSFORM_HOUR, TL_TRANSFORM_DAY, TL_TRANSFORM_MONTH,
        TL_TRANSFORM_YEAR,
    TL_TRANSFORM_VOID
} tl_transform;

/* A table's metadata. Spans and nodes point into its text and tree. */
typedef struct tl_metadata {
    int64_t last_sequence_number;
    int64_t last_updated_ms;
    int64_t current_snapshot_id; /* valid when has_snapshot: an empty table has none */
    int64_t current_schema_id;
    int64_t default_spec_id;
    int64_t default_sort_order_id;
    int32_t format_version;
    uint8_t has_snapshot;
    uint8_t partitioned;          /* the default spec has fields */
    tl_transform transform;       /* of the default spec's only field; OTHER when it has several */
    int32_t partition_source_id;  /* field id of the column that is partitioned by */
    int32_t partition_field_id;   /* of the partition field itself */
    tl_span partition_name;
    tl_span uuid;
    tl_span location;             /* without a slash at its end */
    tl_span manifest_list;        /* of the current snapshot; absent in format 1 with manifests written inline */
    tl_span last_value_index;     /* location of the current snapshot's index; absent if it has none */
    tl_span previous;             /* the metadata file of the version before, from the log; absent if none */
    const tl_field *fields;
    uint32_t field_count;
    const tl_json_node *schema;   /* the current schema */
    const tl_json_node *snapshot; /* the current snapshot, NULL if none */
    const tl_json_node *properties;
    const tl_json_node *partition_fields; /* of the default spec; NULL if there is none */
    tl_contract contract;
    tl_json json;
} tl_metadata;

/* Parses metadata. The text is borrowed until tl_metadata_free. TL_CORRUPT with the position of what is wrong,
   TL_UNSUPPORTED for a format version above 3, TL_LIMIT. The contract is read, not judged: tl_contract_may_read. */
TL_API tl_status tl_metadata_parse(tl_metadata *metadata, const char *text, size_t size, const tl_limits *limits,
                                   const tl_allocator *allocator, tl_error *err);

/* Frees what parsing took. Zeroed metadata: nothing to do. */
TL_API void tl_metadata_free(tl_metadata *metadata);

/* A table property as it is written, absent if there is none. */
TL_API tl_span tl_metadata_property(const tl_metadata *metadata, tl_span key);

/* The column called `name`, or with this field id; NULL if the current schema has none. */
TL_API const tl_field *tl_metadata_field(const tl_metadata *metadata, tl_span name);
TL_API const tl_field *tl_metadata_field_by_id(const tl_metadata *metadata, int32_t id);
#endif /* TIMELAKE_NO_LAKE */
