/* >>tslog: the log of a timeseries table: its commits, what they do, and the state that they add up to. No I/O.

   A commit is an object `_timeseries_log/NNNNNNNNNN.json` with actions; `_timeseries_log/CURRENT` names the newest one
   that counts. Replaying commits 1 to CURRENT gives the state of the table: its metadata with the schema, the segments
   that are live, where the coverage lies. A state is immutable and counted.

       tl_log_replay r;
       tl_log_replay_begin(&r, NULL, NULL);
       for (version = 1; version <= current && st == TL_OK; version++)
           st = tl_log_replay_commit(&r, version, text, size, &fault);
       if (st == TL_OK)
           st = tl_log_replay_finish(&r, &state, &fault);
       tl_log_replay_end(&r);

   Verdicts are those of the crate timeseries-table-format 0.9, the kinds of fault too, but for forms that no writer
   emits and that its decoder takes by accident, which are refused here as malformed: objects given as arrays of their
   members, and names of types and the like given as {"Name":null}. */
#ifndef TIMELAKE_NO_LOG

/* Parses what CURRENT says. 0: no commit yet. */
TL_API tl_status tl_log_current_parse(const void *text, size_t size, uint64_t *version, tl_fault *fault);

/* Writes the name of a commit below the table: "_timeseries_log/0000000001.json". At most 48 bytes. */
#define TL_LOG_NAME 48
TL_API size_t tl_log_commit_name(char *out, uint64_t version);

/* What the index of a table counts in. */
typedef enum tl_log_domain { TL_LOG_TIME, TL_LOG_SIGNED, TL_LOG_UNSIGNED } tl_log_domain;

typedef enum tl_log_span { TL_LOG_SECONDS, TL_LOG_MINUTES, TL_LOG_HOURS, TL_LOG_DAYS } tl_log_span;

typedef struct tl_log_grid {
    tl_log_domain domain;
    tl_log_span span; /* of time */
    uint64_t width;   /* how many of them; of numbers how many values */
    tl_span zone;     /* of time; absent: none */
} tl_log_grid;

/* A value of the index: of time an instant, else a number (an unsigned one in its 64 bits). */
typedef struct tl_log_bound {
    tl_log_domain domain;
    uint32_t nanos;
    int64_t value;
} tl_log_bound;

typedef struct tl_log_component {
    tl_log_type type; /* UTF8, INT32, INT64, UINT64 */
    int64_t value;    /* an unsigned one in its 64 bits */
    tl_span text;
} tl_log_component;

typedef enum tl_log_layout { TL_LOG_NOT_APPLICABLE, TL_LOG_MIXED, TL_LOG_SINGLE } tl_log_layout;

/* A data file. Bounds are both inclusive. */
typedef struct tl_log_segment {
    tl_span path; /* below the table */
    tl_log_layout layout;
    const tl_log_component *components; /* SINGLE: one per entity column */
    uint32_t component_count;
    uint8_t has_file_size;
    uint8_t dead; /* private */
    tl_log_bound min, max;
    uint64_t row_count;
    uint64_t file_size;
    tl_span coverage_path; /* absent: not known */
} tl_log_segment;

/* Metadata: each change replaces all of it. */
typedef struct tl_log_meta {
    uint8_t generic;    /* no time series: no index */
    uint8_t has_schema;
    tl_span index_column;
    const tl_span *entity_columns;
    uint32_t entity_count;
    tl_log_grid grid;
    const tl_log_field *fields;
    uint32_t node_count;
    uint32_t column_count;
    tl_log_notes notes; /* of the schema */
    tl_log_time created;
    uint64_t protocol_version;
    tl_features reader, writer;
} tl_log_meta;

/* The state of a table at a version. */
typedef struct tl_log_state {
    uint64_t version;
    tl_log_meta meta;
    const tl_log_segment *segments; /* live ones, by min, max, path */
    size_t segment_count;
    tl_span coverage_path; /* absent: none */
    uint64_t coverage_version;
    tl_log_grid coverage_grid;
    uint64_t ever;   /* segments added in all of the history */
    uint64_t digest; /* XXH64 of the text of the last commit */
    size_t count;    /* private from here */
    tl_allocator allocator;
    struct tli_store *store;
} tl_log_state;

/* One count more, one less. The last one frees it. NULL is allowed. */
TL_API tl_log_state *tl_log_state_keep(tl_log_state *state);
TL_API void tl_log_state_drop(tl_log_state *state);

/* TL_CONFLICT (SchemaChanged) when the columns or the index of two states differ: what was planned on one does not hold
   for the other. */
TL_API tl_status tl_log_same_schema(const tl_log_state *planned, const tl_log_state *now, tl_fault *fault);

/* The header of a state's metadata, to be asked what is missing. Points into the state: not to be freed. */
TL_API tl_protocol tl_log_protocol(const tl_log_state *state);

typedef enum tl_log_action_kind { TL_LOG_METADATA, TL_LOG_ADD, TL_LOG_REMOVE, TL_LOG_COVERAGE } tl_log_action_kind;

/* An action of a commit. */
typedef struct tl_log_action {
    tl_log_action_kind kind;
    const tl_log_meta *meta;
    tl_log_segment segment; /* of an ADD */
    tl_span path;           /* of a REMOVE: the segment's; of a COVERAGE: the table's coverage object */
    tl_log_grid grid;       /* of a COVERAGE */
} tl_log_action;

/* Zero: the defaults. Borrowed until the replay ends. */
typedef struct tl_log_options {
    uint64_t decoded_bytes; /* most memory of a replay; 16 GiB, at most half the address space */
    uint64_t seed;          /* of hashes: something random where paths come from strangers */
    const tl_client *client; /* NULL: tl_client_all */
    tl_allocator allocator;
    int any_kind; /* 1: a table of kind Generic is no fault */
} tl_log_options;

/* A replay at work. */
typedef struct tl_log_replay {
    tl_log_options options;
    uint64_t version; /* the last commit that went in */
    tl_log_time time; /* of it, by its writer's clock */
    tl_log_meta meta;
    uint8_t has_meta;
    tl_buffer segments; /* all that were added, in order */
    size_t checked;     /* of them: those that a base brought */
    uint64_t ever;
    uint32_t *slots; /* live ones by path: index plus 1 */
    size_t slot_count, live;
    tl_span coverage_path;
    uint64_t coverage_version;
    tl_log_grid coverage_grid;
    uint64_t digest;
    struct tli_store *store, *meta_store;
    tl_buffer actions; /* of the commit at hand, as its tree: */
    tl_buffer nodes, strings;
    uint64_t decoded;  /* payloads of actions that were decoded: none before the header was judged */
} tl_log_replay;

/* Begins at `base`, which may be NULL: at nothing. TL_NO_MEMORY is kept for the next call. */
TL_API void tl_log_replay_begin(tl_log_replay *replay, const tl_log_state *base, const tl_log_options *options);

/* Takes the next commit in: its header is judged, then its actions are decoded, then they are applied in their order.
   The text is not needed any more. After a failure the replay can only be ended. */
TL_API tl_status tl_log_replay_commit(tl_log_replay *replay, uint64_t version, const void *text, size_t size,
                                      tl_fault *fault);

/* Judges the whole and makes the state, with one count. */
TL_API tl_status tl_log_replay_finish(tl_log_replay *replay, tl_log_state **state, tl_fault *fault);
TL_API void tl_log_replay_end(tl_log_replay *replay);
#endif /* TIMELAKE_NO_LOG */
