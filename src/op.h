/* >>op: operations: requests out, completions in. The heart of the library: everything that needs a store is a machine
   that begins with a tl_op, and is moved by the calls below and by nothing else. No I/O, no clock, no randomness
   happens inside; the same inputs give the same outputs.

   Poll:       for (;;) switch (tl_step(op, now, &request)) { case TL_WANTS: send it; case TL_WAITS: wait; else: done }
   Callbacks:  tl_start(op, &io, now); requests come to io.request, the end to io.done.
   Either way: when a transfer ends, tl_complete(op, &completion, now).

   Who owns what: what a request points at is valid until its completion (token 0: until the next call); what a
   completion points at is borrowed until tl_complete returns, unless it brings a release function, which is then called
   exactly once. One thread at a time per operation. Time is Unix milliseconds and may jump. */
#if !defined(TIMELAKE_NO_LAKE) || !defined(TIMELAKE_NO_PROBE) || !defined(TIMELAKE_NO_LOG)

typedef enum tl_request_kind {
    TL_GET,    /* a whole object, or bytes [offset, offset + length) of it */
    TL_STAT,   /* is it there, its size and ETag: an HTTP HEAD */
    TL_LIST,   /* keys that begin with `key`, in byte order, at most max_keys of them, after `page` */
    TL_PUT,    /* body to key, by condition */
    TL_DELETE, /* an absent key is deleted too */
    TL_SLEEP   /* complete with TL_OUTCOME_OK when `until` has come; a poller may ignore it and use tl_deadline */
} tl_request_kind;

typedef enum tl_condition {
    TL_ALWAYS,
    TL_IF_ABSENT,    /* put: only where no object is (If-None-Match: *) */
    TL_IF_MATCH,     /* put: only over the object with `etag` */
    TL_IF_NONE_MATCH /* get: only when it is not the object with `etag`, else not modified */
} tl_condition;

/* How a request ended. Only TL_OUTCOME_NOT_FOUND means absent. */
typedef enum tl_outcome {
    TL_OUTCOME_OK,
    TL_OUTCOME_NOT_FOUND,
    TL_OUTCOME_NOT_MODIFIED,
    TL_OUTCOME_PRECONDITION, /* the condition did not hold: exists, another ETag, absent under if-match */
    TL_OUTCOME_UNSUPPORTED,  /* the store cannot do this request or this condition */
    TL_OUTCOME_FAILED,       /* and nothing was applied; retry_ms may name a delay after which to send it anew */
    TL_OUTCOME_UNKNOWN,      /* a write that may or may not have been applied */
    TL_OUTCOME_CANCELLED,    /* given up in flight: for a write the same as unknown */
    TL_OUTCOME_NEVER_SENT
} tl_outcome;

/* What a request is for: counters and traces. */
typedef enum tl_purpose {
    TL_PURPOSE_OTHER, TL_PURPOSE_HEAD, TL_PURPOSE_HINT, TL_PURPOSE_LISTING, TL_PURPOSE_CHECK, TL_PURPOSE_METADATA,
    TL_PURPOSE_MANIFEST_LIST, TL_PURPOSE_MANIFEST, TL_PURPOSE_INDEX, TL_PURPOSE_DATA, TL_PURPOSE_COMMIT,
    TL_PURPOSE_CLEAN_UP, TL_PURPOSE_OBJECT, TL_PURPOSE_PROBE, TL_PURPOSE_BOUNDARY, TL_PURPOSE_PAUSE, TL_PURPOSE_WARM
} tl_purpose;

#define TL_WHOLE UINT64_MAX /* length of a get of the whole object */

typedef struct tl_request {
    uint64_t token; /* for the completion; 0: fire and forget, copy it and never complete it */
    tl_request_kind kind;
    tl_condition condition;
    tl_span key; /* absolute URI as literal text (nothing is percent-encoded); of a list the prefix */
    tl_span etag;
    uint64_t offset;
    uint64_t length; /* TL_WHOLE: all of it */
    uint64_t accept; /* the most body bytes this answer may have; more: complete as failed, while receiving */
    const tl_span *body; /* of a put: body_count pieces one after another, body_size bytes in all */
    size_t body_count;
    uint64_t body_size;
    uint32_t max_keys; /* of a list: answer no more; 0: as many as a page of the store has */
    uint32_t round; /* 1 + the latest round it had to wait for; requests of one round may run together */
    tl_span page;   /* of a list: where to go on, as a completion's next_page said; absent: the first page */
    int64_t until;
    tl_purpose purpose;
    uint8_t background; /* 1: nobody waits for it */
} tl_request;

/* An entry of a listing. Absent ETag: not told. */
typedef struct tl_entry {
    tl_span key; /* whole, decoded */
    uint64_t size;
    tl_span etag;
} tl_entry;

typedef struct tl_completion {
    uint64_t token;
    tl_outcome outcome;
    int64_t retry_ms;     /* of failed: send it anew after so many ms; negative: do not */
    tl_span body;         /* of a get */
    uint64_t body_offset; /* where body begins in the object: 0 from a store without ranges */
    uint64_t object_size; /* TL_WHOLE: not told */
    tl_span etag;         /* byte for byte as the store wrote it, quotes included */
    const tl_entry *entries;
    size_t entry_count;
    tl_span next_page; /* absent: the listing is complete */
    tl_span text;      /* what the store said, for people; copied into the error up to 200 bytes */
    tl_release release; /* not NULL: `body` is taken, whatever tl_complete returns, and given back once */
    void *release_context;
} tl_completion;

/* What an operation answers when it is stepped. The last three are final and come only when nothing is out. */
typedef enum tl_turn {
    TL_WANTS, /* *request is to be sent; step again for more */
    TL_WAITS, /* for completions, or for tl_deadline */
    TL_DONE,  /* what was asked for holds */
    TL_NONE,  /* it is not there, or was superseded */
    TL_FAILED /* tl_op_error says why; sticky */
} tl_turn;

typedef struct tl_op tl_op;

/* Callbacks, copied by tl_start. Inside `request` only tl_complete and tl_cancel of that operation may be called.
   `done` comes once and last: it may end the operation and free the machine. */
typedef struct tl_io {
    void *user;
    void (*request)(void *user, tl_op *op, const tl_request *request);
    void (*done)(void *user, tl_op *op, tl_turn result);
} tl_io;

/* Sees every request handed out (completion NULL) and every completion taken. Pointers are valid during the call, which
   calls nothing of the operation that moves it. */
typedef void (*tl_trace)(void *context, const tl_op *op, const tl_request *request, const tl_completion *completion);

/* What drives an operation, beside what its machine was given. Copied by begin functions. Zero: the default. */
typedef struct tl_op_options {
    uint64_t accept;       /* largest object accepted, bytes; 4 GiB */
    uint64_t step_bytes;   /* bytes one step may decode before it returns; 0: no bound */
    uint32_t in_flight;    /* requests out at once; 32, at most 255 */
    uint32_t retries;      /* times a failed request with a delay is sent anew; 3, UINT32_MAX: never */
    tl_allocator allocator;
    tl_trace trace;
    void *trace_context;
} tl_op_options;

typedef struct tli_op_slot {
    tl_request request; /* with the token it is out under */
    tl_outcome outcome;
    uint8_t state;
    uint8_t more; /* a listing was cut: `page` goes on */
    uint8_t read; /* the machine's `take` has read the body: it is not kept */
    uint32_t tries;
    uint32_t next; /* behind it in the queue */
    int64_t began;
    int64_t until;
    struct tli_blob *body;
    uint64_t object_size;
    uint64_t number; /* what the machine's `take` made of a listing */
    tl_span etag;    /* owned, with `page` in the same block */
    tl_span page;
} tli_op_slot;

#define TLI_OP_INLINE 2

/* Begins every machine. `user` is the caller's; everything else is private. */
struct tl_op {
    void *user;
    const struct tli_op_machine *machine;
    tl_op_options options;
    tli_op_slot *slots;
    uint32_t slot_count;
    uint32_t slot_capacity;
    uint32_t out;
    uint32_t queued; /* slots in the queue that begins at queue_head */
    uint32_t queue_head;
    uint32_t queue_tail;
    uint32_t sleeping; /* slots that wait for a time */
    uint32_t round;
    uint32_t requests;
    uint64_t sequence;
    int64_t now;
    tl_io io;
    uint8_t driven;
    uint8_t inside;
    uint8_t cancelled;
    uint8_t ended;
    uint8_t cut;
    uint8_t turn;
    tl_error error;
    size_t error_key_size;
    char *error_text;
    tli_op_slot first[TLI_OP_INLINE];
};

/* The next thing to do: see tl_turn. `request` is filled for TL_WANTS alone. */
TL_API tl_turn tl_step(tl_op *op, int64_t now, tl_request *request);

/* Takes in how a request ended. TL_MISUSE, and nothing happens, for a token that is not out (a sleep that is over
   already is accepted). TL_NO_MEMORY, TL_LIMIT or TL_STORE when the answer could not be kept, was too large, or none to
   this request: it then counts as failed. */
TL_API tl_status tl_complete(tl_op *op, const tl_completion *completion, int64_t now);

/* A completion with nothing in it but token and outcome. */
TL_API tl_completion tl_completed(uint64_t token, tl_outcome outcome);

/* Drives the operation by callbacks from here on. TL_MISUSE when it was started or stepped before. */
TL_API tl_status tl_start(tl_op *op, const tl_io *io, int64_t now);

/* When to step at the latest: the earliest sleep; INT64_MAX: no time, only completions; not after now: there is work
   left, step again. */
TL_API int64_t tl_deadline(const tl_op *op);

/* Gives up: nothing new is sent but what a write needs to tell its true result. Complete what is out, step on. */
TL_API void tl_cancel(tl_op *op, int64_t now);

/* Frees what the operation owns. TL_MISUSE, and nothing happens, while a request is out. */
TL_API tl_status tl_op_end(tl_op *op);

/* TL_OK when done, TL_ABSENT for none, the error's status when failed, TL_MISUSE while it runs. */
TL_API tl_status tl_op_status(const tl_op *op);

/* Why it failed; text NULL when it did not. Valid until tl_op_end. */
TL_API const tl_error *tl_op_error(const tl_op *op);

/* The key the error is about, absent if none; and what the store said, absent if nothing. */
TL_API tl_span tl_op_error_key(const tl_op *op);
TL_API tl_span tl_op_error_store(const tl_op *op);

/* The name of the state the machine is in (the manual's state tables), a constant. */
TL_API const char *tl_op_state(const tl_op *op);

/* Requests handed out, sleeps not counted; and the dependent round trips they took. */
TL_API uint32_t tl_op_requests(const tl_op *op);
TL_API uint32_t tl_op_round_trips(const tl_op *op);

/* "ok", "not_found", ...; "GET", "STAT", ... */
TL_API const char *tl_outcome_text(tl_outcome outcome);
TL_API const char *tl_request_text(tl_request_kind kind);
#endif /* TIMELAKE_NO_LAKE, TIMELAKE_NO_PROBE and TIMELAKE_NO_LOG */
