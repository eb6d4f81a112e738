/* >>log: timeseries tables on a store: refresh, append, add columns, create, resolve, repair.

   A tl_log is a handle: one table, and the state that was last seen of it. Calls on it are machines, one at a time. The
   handle moves only when a call is done; plans and snapshots keep the state they were made on.

   State table:
   | state | request | then |
   | --- | --- | --- |
   | CURRENT | get CURRENT | read: unchanged: DONE, else COMMITS. Write: not the handle's version: conflict. Else PUT |
   | COMMITS | get the handle's last commit again and those after it, or all | all in: DONE. The last is another: all |
   | PUT | put commit, if absent | there: POINT. Exists: lost. Unknown: READ-BACK. Failed: failed |
   | READ-BACK | get that commit | ours: POINT. Foreign: lost. Absent: PUT again. Else ambiguous |
   | POINT | put CURRENT, if it is as it was read | ok: DONE. Else LOOK |
   | LOOK | get CURRENT | names it, or a later one: DONE. POINT unclear: again. Else WITHDRAW. Not readable: ambiguous |
   | WITHDRAW | delete the commit | gone: LOOK-AGAIN. Else ambiguous |
   | LOOK-AGAIN | get CURRENT | somebody published it meanwhile: RESTORE. Else failed |
   | RESTORE | put the commit, if absent | done: DONE. Exists: WHOSE. Else ambiguous |
   | WHOSE | get that commit | ours: DONE. Foreign: lost. Else ambiguous |
   | ORPHAN | get the commit past CURRENT | absent: DONE. Young: conflict. Valid: POINT. Torn: failed, or SURE |
   | SURE | get CURRENT | as before: REMOVE. Else conflict |
   | REMOVE | delete it | DONE |
   | RESOLVE | get CURRENT | READ-BACK |

   Nothing that CURRENT may name is ever deleted; in REMOVE that rests on the caller's word that no writer is at work. A
   lost race is TL_CONFLICT (the winner has moved CURRENT already) or TL_EXISTS (not yet). After TL_AMBIGUOUS
   tl_log_resolve finds out. Requests are not sent twice by themselves. */
#ifndef TIMELAKE_NO_LOG

/* Borrowed by tl_log_init and everything that uses the handle. Zero: the defaults. */
typedef struct tl_log_settings {
    tl_op_options op;
    const tl_client *client; /* features that this program supports; NULL: tl_client_all */
    uint64_t decoded_bytes;  /* most memory of a state; 16 GiB */
    uint32_t window;         /* commits asked for at once; 0: 256 */
    uint32_t rounds;         /* attempts while answers are unclear; 0: 3 */
    int64_t repair_age_ms;   /* a repair leaves younger commits alone; 0: ten minutes; negative: none is too young */
    uint8_t seed[16];        /* from the system, for commits to be told apart; writing refuses zero */
} tl_log_settings;

/* A handle. Read `state`: NULL before the first call is done. */
typedef struct tl_log {
    tl_log_state *state;
    const tl_log_settings *settings;
    tl_span location;
    uint64_t writes;
} tl_log;

/* The location is borrowed, and may end in a slash. */
TL_API void tl_log_init(tl_log *log, tl_span location, const tl_log_settings *settings);

/* Drops the state. No call may be running. */
TL_API void tl_log_free(tl_log *log);

/* A call on a handle. Read the first members after the end of op. */
typedef struct tl_log_call {
    tl_op op;
    tl_fault fault;   /* which rule, when it failed; of TL_NONE too */
    uint64_t version; /* the handle's at the end */
    uint8_t changed;  /* of a refresh: the state is another one */
    uint8_t repaired; /* of a repair: 0 nothing to do, 1 rolled forward, 2 removed */
    tl_log *log;
    tl_log_plan plan;
    tl_log_replay replay;
    tl_log_state *next;
    tl_buffer text; /* of the commit */
    tl_span body;
    tl_fault first; /* why publishing failed, before it was looked at */
    struct tli_blob *etag;
    char *keys;
    size_t keys_size;
    uint64_t from, current;
    uint32_t taken, tries;
    uint8_t kind, state;
    uint8_t planned, replaying, based, unclear, mismatch, unconditional, again, remove;
    char pointer[24];
} tl_log_call;

/* Opens the table, or brings the handle up to date: then only what is new is read. None when there is no table. */
TL_API void tl_log_refresh(tl_log_call *call, tl_log *log);

/* Adds columns: see tl_log_plan_columns. Features are judged by the handle's state before the request is looked at, the
   request before the log is read. */
TL_API void tl_log_add_columns(tl_log_call *call, tl_log *log, const tl_log_field *fields, uint32_t nodes);

/* Commits any actions: segments that were uploaded, removed ones, coverage, metadata. See tl_log_plan_actions. */
TL_API void tl_log_commit(tl_log_call *call, tl_log *log, const tl_log_action *actions, size_t count);

/* Creates the table: TL_EXISTS when CURRENT names a commit, or one was left by a crash. */
TL_API void tl_log_create(tl_log_call *call, tl_log *log, const tl_log_meta *meta);

/* A commit one past CURRENT stops all writers: left by a writer that died, or the work of one that is just publishing.
   Refreshes the handle, then looks for it, and publishes it when it is whole and valid. What is none is reported, and
   deleted only when `remove` says so. One that needs features which this program has not stays. Where there is no
   CURRENT it is commit 1; after a removal of that the handle has no state. To be called when no writer is at work: on a
   store without ETags a writer that wakes up later can move CURRENT back. */
TL_API void tl_log_repair(tl_log_call *call, tl_log *log, int remove);

/* After a write that ended ambiguous, before tl_op_end: the same call goes on, looks what became of the commit,
   publishes it when nobody else has the version, and ends anew: done, lost, or ambiguous again. TL_MISUSE otherwise. */
TL_API tl_status tl_log_resolve(tl_log_call *call);
#endif /* TIMELAKE_NO_LOG */
