/* >>avro: Avro object container files (Apache Avro specification 1.11), read value by value.

   The writer's schema drives: each value comes with its node, whose field_id is Iceberg's `field-id`, `element-id`,
   `key-id` or `value-id` there. Codecs: null, deflate, snappy (with its CRC), zstandard. Nothing recurses: nesting is
   limited by limits.depth, and a type that contains itself is TL_UNSUPPORTED. */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_avro_kind {
    TL_AVRO_NULL, TL_AVRO_BOOLEAN, TL_AVRO_INT, TL_AVRO_LONG, TL_AVRO_FLOAT, TL_AVRO_DOUBLE, TL_AVRO_BYTES,
    TL_AVRO_STRING, TL_AVRO_FIXED, TL_AVRO_ENUM, TL_AVRO_RECORD, TL_AVRO_ARRAY, TL_AVRO_MAP, TL_AVRO_UNION
} tl_avro_kind;

/* A type where it is used. Children: fields of a record, branches of a union, the element of an array, the value of
   a map. */
typedef struct tl_avro_node {
    tl_avro_kind kind;
    int32_t field_id;   /* -1: none */
    int32_t size;       /* of fixed: bytes; of records: the node where the type is defined */
    uint32_t first;     /* index of the first child in tl_avro.nodes; the others follow by `next` */
    uint32_t count;
    uint32_t next;      /* index of the next sibling */
    uint32_t least;     /* fewest bytes a value takes */
    tl_span name;       /* of the field, else of the type */
    const tl_json_node *symbols; /* of enums */
} tl_avro_node;

typedef enum tl_avro_event {
    TL_AVRO_VALUE, /* a null, boolean, number, bytes, string, fixed, enum */
    TL_AVRO_BEGIN, /* of a record, array or map */
    TL_AVRO_END,
    TL_AVRO_KEY,   /* of a map entry: `bytes` */
    TL_AVRO_ROW,   /* a row is whole */
    TL_AVRO_EOF    /* no more rows */
} tl_avro_event;

typedef struct tl_avro_value {
    tl_avro_event event;
    const tl_avro_node *node;  /* of a union the branch that was written */
    const tl_avro_node *field; /* of a union the union itself, else as node */
    int64_t number;            /* boolean, int, long, enum (the symbol's place) */
    double real;               /* float, double */
    tl_span bytes;             /* bytes, string, fixed, key: valid until the next block is begun */
} tl_avro_value;

typedef struct tl_avro_frame {
    const tl_avro_node *node;
    const tl_avro_node *field;
    uint32_t child;  /* of a record: index of the next field */
    uint32_t left;   /* fields to come */
    uint64_t items;  /* of an array or map: entries left in this block */
    uint8_t ended;   /* the last block was read */
    uint8_t keyed;   /* of a map: the key of this entry was read */
} tl_avro_frame;

#define TL_AVRO_DEPTH 64

/* A file that is being read. Read schema, nodes and metadata; the rest is private. */
typedef struct tl_avro {
    const tl_avro_node *nodes; /* nodes[0] is the row */
    uint32_t node_count;
    tl_json schema;            /* the schema text, parsed */
    tl_span schema_text;
    uint64_t rows;             /* that were read whole */
    const uint8_t *start, *at, *end;
    const uint8_t *data, *data_at, *data_end;
    const uint8_t *header;     /* the header's metadata entries */
    const uint8_t *header_end;
    uint64_t block_rows;
    uint64_t row_limit;
    uint64_t decoded_limit;
    uint8_t sync[16];
    uint8_t codec;
    uint8_t begun;             /* a row was begun */
    uint32_t idle;             /* events without bytes that no bytes paid for */
    const uint8_t *seen;
    uint32_t depth;
    uint32_t node_capacity;
    tl_buffer block;           /* of a compressed block: its plain bytes */
    tl_error *err;
    tl_avro_frame frames[TL_AVRO_DEPTH];
} tl_avro;

/* Opens a file in memory, which is borrowed until tl_avro_close: header and schema are read. On failure nothing is
   held. */
TL_API tl_status tl_avro_open(tl_avro *avro, const void *bytes, size_t size, const tl_limits *limits,
                              const tl_allocator *allocator, tl_error *err);

/* The next value. TL_OK with value->event, TL_AVRO_EOF at the end. After an error only tl_avro_close is of use. */
TL_API tl_status tl_avro_next(tl_avro *avro, tl_avro_value *value, tl_error *err);

/* The file's metadata: the value of a key, absent if there is none. */
TL_API tl_span tl_avro_metadata(const tl_avro *avro, tl_span key);

/* Metadata entry i, in the file's order; 0 past the last. */
TL_API int tl_avro_metadata_at(const tl_avro *avro, uint32_t i, tl_span *key, tl_span *value);

/* Frees what the reader owns. The file's bytes are the caller's again. */
TL_API void tl_avro_close(tl_avro *avro);
#endif /* TIMELAKE_NO_LAKE */
