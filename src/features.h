/* >>features: may this program read a timeseries table, may it write it: table protocol 7, looked at before anything
   else of a commit is decoded.

       tl_protocol p;
       if (tl_protocol_inspect(&p, commit, size, NULL, NULL, &fault) != TL_OK)
           ...                                  (too new, or no commit at all: fault.kind, fault.about)
       if (tl_protocol_may_write(&p, NULL, &fault) != TL_OK)
           ...                                  (fault.about: the features that are missing)
       tl_protocol_free(&p);

   Every UpdateTableMeta action of a commit carries a compatibility header: a protocol version and the names of the
   features that readers and writers need. A header is judged wherever its action stands in the commit, and before any
   action is decoded; nothing else of the payload is looked at. Specification: "Table protocol compatibility" of
   timeseries-table-format. */
#ifndef TIMELAKE_NO_LOG

/* What is wrong with a table, a request or a commit: the names are those of the crate timeseries-table-format 0.9. */
#define TL_FAULT_LIST(X)                                                                                               \
    X(TL_FAULT_NONE, "")                                                                                               \
    X(TL_FAULT_OTHER, "Other") /* misuse, memory, limits: the status says it */                                        \
    X(TL_FAULT_EMPTY_TABLE, "EmptyTable")                                                                              \
    X(TL_FAULT_NOT_TIME_SERIES, "NotTimeSeries")                                                                       \
    X(TL_FAULT_NOT_FOUND, "Storage.NotFound")                                                                          \
    X(TL_FAULT_ALREADY_EXISTS, "Storage.AlreadyExists")                                                                \
    X(TL_FAULT_IO, "Storage.OtherIo")                                                                                  \
    X(TL_FAULT_EMPTY_CURRENT, "EmptyCurrentPointer")                                                                   \
    X(TL_FAULT_CURRENT, "CurrentVersionParse")                                                                         \
    X(TL_FAULT_UNINITIALIZED, "UninitializedTableState")                                                               \
    X(TL_FAULT_COMMIT, "CommitDeserialization")                                                                        \
    X(TL_FAULT_COMMIT_VERSION, "CommitVersionMismatch")                                                                \
    X(TL_FAULT_VERSION, "Protocol.UnsupportedVersion")                                                                 \
    X(TL_FAULT_READER, "Protocol.UnsupportedReaderFeatures")                                                           \
    X(TL_FAULT_WRITER, "Protocol.UnsupportedWriterFeatures")                                                           \
    X(TL_FAULT_READER_REMOVED, "Protocol.ReaderFeaturesRemoved")                                                       \
    X(TL_FAULT_WRITER_REMOVED, "Protocol.WriterFeaturesRemoved")                                                       \
    X(TL_FAULT_VERSION_DECREASED, "Protocol.ProtocolVersionDecreased")                                                 \
    X(TL_FAULT_UNDECLARED_NOTES, "Protocol.MissingSchemaMetadataFeatures")                                             \
    X(TL_FAULT_PATH, "InvalidPersistedPath")                                                                           \
    X(TL_FAULT_DUPLICATE_SEGMENT, "DuplicateLiveSegmentPath")                                                          \
    X(TL_FAULT_NO_METADATA, "MissingTableMetadata")                                                                    \
    X(TL_FAULT_INDEX_EMPTY, "InvalidIndexSpec.EmptyColumn")                                                            \
    X(TL_FAULT_ENTITY_EMPTY, "InvalidIndexSpec.EmptyEntityColumn")                                                     \
    X(TL_FAULT_ENTITY_IS_INDEX, "InvalidIndexSpec.EntityColumnMatchesIndex")                                           \
    X(TL_FAULT_ENTITY_REPEATED, "InvalidIndexSpec.DuplicateEntityColumn")                                              \
    X(TL_FAULT_ZERO_WIDTH, "InvalidIndexSpec.ZeroTimeIndexGranularity")                                                \
    X(TL_FAULT_COVERAGE_KIND, "CoverageIndexKindMismatch")                                                             \
    X(TL_FAULT_NO_INDEX_COLUMN, "MissingIndexColumn")                                                                  \
    X(TL_FAULT_INDEX_TYPE, "IndexKindMismatch")                                                                        \
    X(TL_FAULT_NO_ENTITY_COLUMN, "MissingEntityColumn")                                                                \
    X(TL_FAULT_ENTITY_TYPE, "UnsupportedEntityColumnType")                                                             \
    X(TL_FAULT_SEGMENTS_WITHOUT_SCHEMA, "MissingLogicalSchemaForSegments")                                             \
    X(TL_FAULT_LAYOUT, "InvalidSegmentEntityLayout")                                                                   \
    X(TL_FAULT_IDENTITY_COUNT, "SegmentEntityIdentitySchema.EntityIdentityArityMismatch")                              \
    X(TL_FAULT_IDENTITY_TYPE, "SegmentEntityIdentitySchema.EntityIdentityTypeMismatch")                                \
    X(TL_FAULT_BOUNDS, "SegmentMetadata.InvalidIndexBounds")                                                           \
    X(TL_FAULT_NO_SCHEMA, "MissingSchema")                                                                             \
    X(TL_FAULT_NO_COLUMNS, "EmptyAddition")                                                                            \
    X(TL_FAULT_NAME_EMPTY, "EmptyName")                                                                                \
    X(TL_FAULT_NOT_NULLABLE, "NonNullableColumn")                                                                      \
    X(TL_FAULT_FIELDS_CHANGED, "ExistingFieldsChanged")                                                                \
    X(TL_FAULT_NOTES_CHANGED, "ExistingSchemaMetadataChanged")                                                         \
    X(TL_FAULT_KEYS_CHANGED, "TableKindOrKeysChanged")                                                                 \
    X(TL_FAULT_UNDECLARED_COLUMNS, "MissingReaderFeature")                                                             \
    X(TL_FAULT_DUPLICATE_COLUMN, "InvalidSchema.DuplicateColumn")                                                      \
    X(TL_FAULT_DUPLICATE_FIELD, "InvalidSchema.DuplicateFieldName")                                                    \
    X(TL_FAULT_BINARY_WIDTH, "InvalidSchema.FixedBinaryInvalidWidthInSchema")                                          \
    X(TL_FAULT_STRUCT_EMPTY, "InvalidSchema.EmptyStruct")                                                              \
    X(TL_FAULT_FIELD_NAME_EMPTY, "InvalidSchema.StructFieldNameEmpty")                                                 \
    X(TL_FAULT_ELEMENT_NAME_EMPTY, "InvalidSchema.ListElementNameEmpty")                                               \
    X(TL_FAULT_NULL_VALUE_NOTES, "InvalidSchema.UnexpectedNullValueMetadata")                                          \
    X(TL_FAULT_KEY_NULLABLE, "InvalidSchema.InvalidMapKeyNullability")                                                 \
    X(TL_FAULT_INT96, "ArrowConversion.Int96Unsupported")                                                              \
    X(TL_FAULT_OTHER_TYPE, "ArrowConversion.OtherTypeUnsupported")                                                     \
    X(TL_FAULT_DECIMAL, "ArrowConversion.DecimalInvalid")                                                              \
    X(TL_FAULT_TOO_DEEP, "ParquetConversion.ArrowError")                                                               \
    X(TL_FAULT_INEXACT, "InexactRoundTrip")                                                                            \
    X(TL_FAULT_CONFLICT, "Conflict")                                                                                   \
    X(TL_FAULT_SERIALIZATION, "CommitSerialization")                                                                   \
    X(TL_FAULT_VERSION_OVERFLOW, "VersionOverflow")                                                                    \
    X(TL_FAULT_AMBIGUOUS, "AmbiguousOutcome")                                                                          \
    X(TL_FAULT_EXISTS, "AlreadyExists")                                                                                \
    X(TL_FAULT_NO_CANONICAL_SCHEMA, "MissingCanonicalTableSchema")                                                     \
    X(TL_FAULT_MISSING_COLUMN, "SchemaValidation.MissingIncomingColumn")                                               \
    X(TL_FAULT_SCHEMA_CHANGED, "SchemaChanged")

typedef enum tl_fault_kind {
#define TLI_FAULT_ENUM(kind, name) kind,
    TL_FAULT_LIST(TLI_FAULT_ENUM)
#undef TLI_FAULT_ENUM
    TLI_FAULT_COUNT
} tl_fault_kind;

/* Where a rule about schemas was broken: the first part of the name. */
typedef enum tl_fault_group {
    TL_GROUP_NONE, TL_GROUP_EVOLUTION, TL_GROUP_REQUEST, TL_GROUP_KEYS, TL_GROUP_TABLE
} tl_fault_group;

#define TL_FAULT_ABOUT 240

/* Why something was refused; needs no freeing. Where a function takes one it may be NULL. */
typedef struct tl_fault {
    tl_error error; /* status, constant text, position in the commit */
    tl_fault_kind kind;
    tl_fault_group group;
    uint64_t version; /* of the commit it is about; 0: none */
    uint64_t expected, found; /* of versions that do not match */
    uint32_t about_size;
    char about[TL_FAULT_ABOUT]; /* features (", " between), a path, or a column: cut to so many bytes */
} tl_fault;

/* Writes the name into `out`, which has room for 96 bytes, ended by a zero: "SchemaEvolution.EmptyName". */
TL_API const char *tl_fault_name(const tl_fault *fault, char *out);

/* A set of features: sorted by bytes, none twice. */
typedef struct tl_features {
    const tl_span *names;
    size_t count;
} tl_features;

/* The features that a program supports. NULL where one is taken: tl_client_all. */
typedef struct tl_client {
    tl_features reader, writer;
} tl_client;

/* What this library can do itself: reader schema_add_columns and schema_metadata, writer schema_metadata. */
TL_API const tl_client *tl_client_all(void);

/* 1 when the name has the form of a feature: [a-z][a-z0-9_]*. */
TL_API int tl_feature_valid(tl_span name);

/* The index of the first feature of `needed`, from `from` on, that is not among `mine`; needed->count when there is
   none. Called again with one more it walks through all that is missing; with an earlier set as `needed` and a later
   one as `mine`, through what was removed. Both have to be sorted. */
TL_API size_t tl_features_missing(const tl_features *needed, const tl_features *mine, size_t from);

/* A compatibility header. Read what is named; the memory below it is private. */
typedef struct tl_protocol {
    uint64_t version; /* 0: the commit has no metadata action */
    tl_features reader, writer;
    void *memory[2];
    size_t memory_size[2];
    tl_allocator allocator;
} tl_protocol;

#define TL_PROTOCOL_VERSION 7u

/* Looks at the headers of all UpdateTableMeta actions of a commit, in their order, without decoding anything else, and
   keeps the last one. The text is checked as a whole; names in `p` may point into it. TL_CORRUPT, TL_TRUNCATED,
   TL_LIMIT: no JSON, or a malformed header (a list that is absent, null, or has a bad or repeated name never counts as
   empty); TL_UNSUPPORTED: another protocol version, or reader features that `client` has not, all named in the fault.
   On failure nothing is held. */
TL_API tl_status tl_protocol_inspect(tl_protocol *p, const void *commit, size_t size, const tl_client *client,
                                     const tl_allocator *allocator, tl_fault *fault);

/* Gives it back; a zeroed one, or NULL, is fine. */
TL_API void tl_protocol_free(tl_protocol *p);

/* TL_OK, or TL_UNSUPPORTED with everything that is missing named in the fault. May write: may read too, and has every
   writer feature. A writer feature never stops a reader. */
TL_API tl_status tl_protocol_may_read(const tl_protocol *p, const tl_client *client, tl_fault *fault);
TL_API tl_status tl_protocol_may_write(const tl_protocol *p, const tl_client *client, tl_fault *fault);

/* History is monotonic: TL_CORRUPT when `after` has a lower version than `before`, or dropped a feature of a list. */
TL_API tl_status tl_protocol_follows(const tl_protocol *before, const tl_protocol *after, tl_fault *fault);
#endif /* TIMELAKE_NO_LOG */
