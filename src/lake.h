/* >>lake: what a process knows: the newest version seen of each table (never backwards), within a memory budget, and
   what every machine is given: codecs, limits, allocator, seed, locks. */
#ifndef TIMELAKE_NO_LAKE

/* What the store of a lake cannot do. */
typedef enum tl_store {
    TL_STORE_LISTS, /* lists by prefix: S3, GCS, Azure, folders */
    TL_STORE_HTTPS  /* gets and stats only */
} tl_store;

/* Zero: the defaults. */
typedef struct tl_lake_options {
    void *context; /* of lock and unlock */
    void (*lock)(void *context); /* held to swap pointers, never across a request or a decode; both or none */
    void (*unlock)(void *context);
    const tl_head_codec *codecs; /* further codecs; borrowed until tl_lake_free */
    size_t codec_count;
    uint64_t memory; /* bytes of table versions kept; 256 MiB */
    tl_store store;
    uint32_t warm_connections; /* stats of the hint sent with a cold load, to open connections */
    uint8_t lookup_hint;     /* cold loads read the version hint instead of listing: one more round trip, no listing */
    uint8_t freshness_list;  /* check by listing the exact name instead of a stat */
    uint8_t next_only;       /* check v<N+1> alone, not that v<N> is there too: half the checks,
        but a table whose v<N+1>
                                was expired meanwhile is never seen to move on */
    uint8_t seed[16];        /* from the system's randomness; commits refuse zero */
    tl_compression compression;
    tl_index_codec index;
    tl_limits limits;
    tl_op_options op;        /* of every machine; op.allocator is the lake's too */
} tl_lake_options;

/* Private. */
typedef struct tl_lake {
    tl_lake_options options;
    struct tli_lake_entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint64_t clock;
    uint64_t memory;
    uint64_t drawn; /* streams of random numbers begun from the seed */
} tl_lake;

/* Options are copied. Nothing is allocated before the first load ends. */
TL_API tl_status tl_lake_init(tl_lake *lake, const tl_lake_options *options);

/* Drops all versions. No machine of the lake may be running. */
TL_API void tl_lake_free(tl_lake *lake);

/* Forgets a table's version: the next load is cold. Its location and what is barred of it stay until tl_lake_free. */
TL_API void tl_lake_forget(tl_lake *lake, tl_span location);

/* A section of this version's head turned out corrupt when it was opened: the version is forgotten, and loads do not
   use that head again. One that came from the chain is only forgotten. */
TL_API void tl_lake_bar(tl_lake *lake, const tl_table *table);
#endif /* TIMELAKE_NO_LAKE */
