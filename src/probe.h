/* >>probe: the newest object of a numbered sequence, at one or two small requests while nothing changes. SlateDB's
   RFC-0026 (boundary objects) and RFC-0032 (cached probing).

   Objects <root><directory>/<id, zero padded>.<suffix>, ids 1, 2, 3, ..., are created once, never changed, and deleted
   from the low end. A collector makes the boundary at least x durable before it deletes x; a checked operation never
   returns an id at or below the boundary, and never one that was not the newest at some moment of the call. Cached
   probing is sound only where every deletion is covered by the boundary: without one set `verify`.

   State table of a latest read (one request at a time):
   | state | request | then |
   | --- | --- | --- |
   | START | none | the cache holds i: PROBE i+1; else LIST |
   | PROBE i+1 | get i+1 | there: cache it, PROBE i+2 (after `limit` hits LIST). Not there: VERIFY or CHECK i |
   | VERIFY i | stat i | there: CHECK i. Not there: drop i from the cache, LIST |
   | LIST | list the directory, page by page | none: NONE. Highest n cached or just probed: CHECK. Else OBJECT n |
   | OBJECT n | get n | there: decode, cache it, CHECK n. Not there: LIST |
   | CHECK n | get the boundary, if-none-match when known | n above it: DONE. Else drop n from the cache, START |
   Any other answer: FAILED.

   Machines send nothing twice by themselves: failed requests fail the call. */
#ifndef TIMELAKE_NO_PROBE

/* Where the objects lie. */
typedef struct tl_layout {
    const char *directory; /* below the root */
    const char *suffix;
    const char *boundary; /* key of the boundary object below the root; NULL: there is none */
    uint32_t digits;      /* ids are padded with zeros to so many digits; at most 20; 0: not padded */
    uint32_t limit;       /* probes in a row that hit before a listing; 0: 4 */
} tl_layout;

/* SlateDB's manifests and compactions; the root is the database's path with a slash at its end. */
TL_API const tl_layout *tl_slatedb_manifests(void);
TL_API const tl_layout *tl_slatedb_compactions(void);

/* Counts of one or more probes; the names are those of tl_probe_counters_text. */
typedef struct tl_probe_counters {
    uint64_t latest_hits, latest_misses;          /* attempts of latest reads that began warm, cold */
    uint64_t probe_hits, probe_misses, probe_errors;
    uint64_t advances_read, advances_write;       /* the cache moved on */
    uint64_t dropped_boundary, dropped_advance, dropped_delete, dropped_empty_list;
    uint64_t list_fallbacks, relists;
    uint64_t per_read[7]; /* histogram of probes per latest read: 0, 1, 2, 3, 4, 5..8, more */
    uint64_t per_read_sum;
} tl_probe_counters;

/* Appends the counters in the Prometheus text form, labelled resource="<resource>". */
TL_API tl_status tl_probe_counters_text(tl_buffer *out, const tl_probe_counters *counters, tl_span resource,
                                        tl_error *err);

/* Borrowed by tl_probe_init and everything that uses the probe. Zero: the defaults. */
typedef struct tl_probe_options {
    void *context; /* of the callbacks here */
    /* Sees the version to be returned, inside tl_step, and calls nothing back. Not 0: the call fails with TL_REFUSED
       and this code. NULL: every body is good. */
    int (*decode)(void *context, uint64_t id, const void *body, size_t size);
    /* After `limit` hits in a row, before the listing: for a debug log. */
    void (*fallback)(void *context, uint64_t last_id);
    void (*lock)(void *context); /* held to read or swap the cache, never across a request; both or none */
    void (*unlock)(void *context);
    tl_probe_counters *counters; /* NULL: none are kept */
    tl_op_options op;            /* of every call; op.allocator also holds the cached body */
    uint32_t rounds;             /* attempts of one call before TL_GAVE_UP; 0: 32 */
    uint8_t verify;              /* for stores whose objects may go without a boundary, the lowest first: look whether
                                    the cached one still is there when its successor is not */
} tl_probe_options;

/* What a process knows of one sequence: the newest object seen and the boundary seen. Moves only forward. Private.
   128 bytes where pointers have 8; the body is all that is allocated. */
#define TL_PROBE_ETAG 71
typedef struct tl_probe {
    const tl_layout *layout;
    const tl_probe_options *options;
    tl_span root;
    uint64_t id;
    struct tli_blob *body; /* NULL: nothing cached */
    uint64_t boundary;
    uint8_t etag_size; /* of the boundary object; 0: none is known, or it is too long to keep */
    char etag[TL_PROBE_ETAG];
} tl_probe;

/* The layout, root and options are borrowed. TL_LIMIT when a key would be longer than TL_PROBE_KEY. Takes no memory. */
#define TL_PROBE_KEY 1280
TL_API tl_status tl_probe_init(tl_probe *probe, const tl_layout *layout, tl_span root, const tl_probe_options *options);

/* Drops the cached body. No call may be running. */
TL_API void tl_probe_free(tl_probe *probe);

/* One call on a probe; any number at once. Read the first members after the end of op. */
typedef struct tl_probe_call {
    tl_op op;
    uint64_t id;        /* of the object read or written; of advance the boundary */
    tl_span body;       /* of the object read; valid until tl_op_end, whatever others do to the cache */
    int code;           /* with TL_REFUSED what decode answered */
    const uint64_t *ids; /* of a list, ascending; valid until tl_op_end */
    size_t id_count;
    tl_probe *probe; /* from here on private */
    struct tli_blob *held;
    tl_span put;
    uint64_t from, to;
    size_t id_capacity;
    uint32_t attempts;
    uint32_t hits;
    uint32_t probes;
    uint32_t pages;
    uint8_t kind;
    uint8_t state;
    uint8_t checked;
    uint8_t etag_size;
    size_t key_size;
    char etag[TL_PROBE_ETAG]; /* from here on not cleared */
    char number[24];
    char key[TL_PROBE_KEY];
} tl_probe_call;

/* The newest object: done with id and body, none when there is no object. Checked against the boundary where the layout
   has one; unchecked: may return an object that is collected already, and that was newest at no moment of the call.
   Where the collector spares objects for some time after they are written, an unchecked read that ends within that time
   (clocks' differences taken off) after a checked one began is as good: half the requests of an idle reader. */
TL_API void tl_probe_latest(tl_probe_call *call, tl_probe *probe);
TL_API void tl_probe_latest_unchecked(tl_probe_call *call, tl_probe *probe);

/* Creates object base + 1 (base 0: the first) with `body`, which must stay unchanged until the end. TL_CONFLICT:
   another writer has it, or the boundary covers it. TL_AMBIGUOUS: it may be in (the answer was lost, or the boundary
   could not be read). */
TL_API void tl_probe_write(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body);
TL_API void tl_probe_write_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body);

/* Deletes object id; checked: TL_MISUSE unless the boundary covers it. */
TL_API void tl_probe_delete(tl_probe_call *call, tl_probe *probe, uint64_t id);
TL_API void tl_probe_delete_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* TL_CONFLICT when the boundary covers id. */
TL_API void tl_probe_check(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* Moves the boundary to at least id: before anything up to it is deleted. TL_UNSUPPORTED on a store that cannot put
   over an ETag, or tells none of up to TL_PROBE_ETAG bytes. */
TL_API void tl_probe_advance(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* Object id, past the cache and the boundary: done, or none. */
TL_API void tl_probe_read_id(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* All ids from `from` (included) to `to` (not), ascending, by one listing. */
TL_API void tl_probe_list(tl_probe_call *call, tl_probe *probe, uint64_t from, uint64_t to);
#endif /* TIMELAKE_NO_PROBE */
