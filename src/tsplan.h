/* >>tsplan: what a commit of a timeseries table will say: added columns, appended segments, first metadata. No I/O.

   A plan is made on a state, judged by the rules of the table, and then written: the text of the commit, and the state
   that it leads to, which is found by replaying that very text. Publishing it is what a tl_log_call does. */
#ifndef TIMELAKE_NO_LOG

/* Appends the text of a commit: compact, in the order and form of the reference, byte for byte. Texts have to be UTF-8,
   sets of features and annotations sorted. */
TL_API tl_status tl_log_write_commit(tl_buffer *out, uint64_t version, uint64_t base_version, tl_log_time time,
                                     const tl_log_action *actions, size_t count, tl_fault *fault);

/* A commit to be. */
typedef struct tl_log_plan {
    uint64_t version; /* one more than the state's */
    const tl_log_action *actions;
    size_t action_count;
    tl_log_state *base; /* NULL: the table is created */
    tl_log_options options;
    struct tli_store *store;
} tl_log_plan;

/* Adds nullable columns at the end of the schema: `nodes` fields (see tl_log_field). Everything is copied. Refused, by
   kind: features that this writer has not; a table without a schema; no columns; names that are blank or there already;
   columns that are not nullable; types, old ones included, that Arrow and Parquet do not give back exactly. What has to
   be declared is declared: schema_add_columns, and schema_metadata where there are annotations. */
TL_API tl_status tl_log_plan_columns(tl_log_plan *plan, const tl_log_state *state, const tl_log_field *fields,
                                     uint32_t nodes, const tl_log_options *options, tl_fault *fault);

/* Any actions, copied. On a state: segments added and removed, coverage, metadata; state NULL: creates a table, and the
   first action has to be its metadata. Of metadata the protocol version and the features that annotations need are set
   here. The rules of the log are judged when it is written. */
TL_API tl_status tl_log_plan_actions(tl_log_plan *plan, const tl_log_state *state, const tl_log_action *actions,
                                     size_t count, const tl_log_options *options, tl_fault *fault);

/* Appends the text to `text` (on failure it is as it was), and makes the state after it, with one count; `state` may be
   NULL. TL_LIMIT (CommitSerialization): it would nest deeper than readers take. */
TL_API tl_status tl_log_plan_write(const tl_log_plan *plan, tl_log_time time, tl_buffer *text, tl_log_state **state,
                                   tl_fault *fault);
TL_API void tl_log_plan_free(tl_log_plan *plan);

/* Whether rows with these columns may be appended: keys always, and of other columns only nullable ones may be left
   out, and only once the table declares schema_add_columns. A table without a schema takes its first rows at version
   1. */
TL_API tl_status tl_log_may_append(const tl_log_state *state, const tl_span *columns, size_t count,
                                   const tl_client *client, tl_fault *fault);
#endif /* TIMELAKE_NO_LOG */
