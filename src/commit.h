/* >>commit: a commit as an operation: reads what it needs, uploads, creates v<N+1>, tells the true outcome.

   State table: a round of requests -> what then. A state ends when all its requests are answered, in any order.
   START      none -> the batch id is in already: DONE (duplicate). Else LIST if the base's manifest list is not known,
              nor the rows of its last-value index that are needed, MANIFESTS if some must be rewritten, else UPLOAD.
              Of a creation: HINT
   HINT       stat the hint -> there is one: FAILED, TL_EXISTS. None: PUT
   LIST       get the manifest list and the index file -> MANIFESTS or UPLOAD. No list: the base has expired: PAUSE
   MANIFESTS  get those to be rewritten or merged -> UPLOAD. Gone: PAUSE
   UPLOAD     put data files (once), manifests, their list, the index + stat vN -> all there: PUT. vN gone: PAUSE. A
              put of unknown outcome is sent again; any other answer: FAILED
   PUT        put vN+1 if absent: the commit -> ok: DONE (of a creation HINTED). Exists or unknown: READ. Not applied:
              FAILED, or READ if an earlier put of it is unknown
   READ       get vN+1 + stat vN -> our bytes: DONE. Other metadata: lost, PAUSE (a creation: FAILED, TL_EXISTS). Not
              there, but vN is: PUT again. Neither: it may have expired, FAILED, TL_AMBIGUOUS. Not to be read: WAIT, the
              third time FAILED, TL_AMBIGUOUS
   WAIT       sleep -> READ
   PAUSE      sleep -> LOAD. The tenth attempt lost: FAILED, TL_CONFLICT
   LOAD       what the load asks for -> START on the newest version
   HINTED     put the hint -> DONE

   Deleted, fire and forget: manifests, list and index of a lost attempt; the files that this commit uploaded, when it
   fails for good or is a duplicate, but none that the newest version known has. Nothing is deleted while vN+1 may hold
   this commit. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TL_COMMIT_ATTEMPTS 10u

typedef struct tl_commit {
    tl_op op;
    tl_table *table;     /* when done: the new version (duplicate: the one that has the batch); one count is the
                            commit's own, until tl_op_end */
    uint64_t version;    /* that was committed, or last tried */
    int64_t snapshot_id; /* of it; 0 when no snapshot was made */
    uint32_t attempts;
    uint8_t duplicate;   /* 1: the batch id was in already, nothing was committed */
    uint8_t index_dropped; /* 1: the version before had a last-value index, this one has none */
    tl_error why_no_index; /* of a new snapshot without a last-value index; TL_OK: it has one, or the change took it
                              away */
    tl_lake *lake;       /* private from here */
    const tl_change *change;
    tl_table *base;
    tl_load *load;
    struct tli_commitplan *plan;
    struct tli_iceberg_list *list; /* the base's, when this commit had to read it */
    struct tli_indexplan_file *file;
    char *keys;                    /* the location, then places for two keys */
    tl_span location;
    tl_span *bodies;
    size_t body_count;
    tl_span whole;                 /* the body of v<N+1> */
    tl_span next_key;              /* v<N+1> */
    uint64_t random[5];
    uint64_t tokens[32];           /* of the load's requests that are out */
    size_t swept;                  /* deletes handed out */
    int64_t began;
    uint32_t puts, reads, uploads;
    uint8_t state;
    uint8_t uploaded; /* objects of this attempt may be there */
    uint8_t stored;   /* 1: data files may be, 2: they are */
    uint8_t unknown;  /* v<N+1> may hold this attempt */
    uint8_t sweep;    /* 1: manifests and list go, 2: data files and index too */
} tl_commit;

/* Begins a commit on top of `base`, the newest version known, loaded with its files (of PROPERTIES its metadata is
   enough). The base is kept by a count; the change and what it points at stay unchanged until the result. A path to be
   added with its body belongs to this commit alone. The lake needs a seed.

   Done: table, version, snapshot_id. Failed: TL_CONFLICT (others won ten times, or a file to be removed is gone),
   TL_AMBIGUOUS (it may be in: tl_op_error_key is the metadata file to look at, nothing was deleted), TL_EXISTS (a file
   that is in the table already), TL_NO_CODEC (it sets a head format that the lake has no codec for), TL_MISUSE,
   TL_UNSUPPORTED, TL_STORE, ...: nothing of it is in. */
TL_API void tl_commit_begin(tl_commit *commit, tl_lake *lake, tl_table *base, const tl_change *change);

/* Begins the creation of a table at `location`; change->kind is TL_CHANGE_CREATE. TL_EXISTS: there is one. */
TL_API void tl_commit_create(tl_commit *commit, tl_lake *lake, tl_span location, const tl_change *change);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
