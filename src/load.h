/* >>load: opening a table: its newest version, from the head in one round trip where that is current, else from the
   metadata chain. Design: Timelake, "One-request table state and version checks".

   State table: a round of requests -> what then. A state ends when all its requests are answered, in any order.
   START      none -> the lake holds N: confirmed within the max age: DONE, else CHECK N. It holds none: PEEK
   PEEK       get the head + list `metadata/v` (lookup by hint, or no listing: get the hint instead) -> complete
   listing, newest M: no name: NONE; head >= M: DONE; else CHAIN M. Listing cut or unsupported: HINT
   HINT       get the hint, if not here -> best = max(hint, names listed). best > head: CHAIN best. Head: DONE unchecked
              if `defer`, else CHECK. Neither: PAGES if a listing was cut, else NONE
   PAGES      list the next page -> last page: CHAIN newest
   CHECK N    stat vN + stat vN+1 (or list the exact names) -> only vN: DONE. vN+1: CHAIN N+1 if N was unconfirmed, else
              PEEK. Neither: PEEK without N
   CHAIN n    get vn + stat vn+1 -> vn+1 there: CHAIN n+1. vn read: LIST-FILE if files are wanted, else DONE. Both gone:
              PEEK without that hint
   LIST-FILE  get the manifest list -> MANIFESTS
   MANIFESTS  get all manifests -> DONE
   EXACT n    get vn (options.version) -> LIST-FILE, DONE or NONE
   A list or manifest that is not there: the version was expired meanwhile: PEEK; of an exact version, or of the same
   version again: FAILED.
   A table that was dropped and made anew up to the same version is not told apart from the old one.
   A third PEEK: FAILED. Whatever keeps the head from being had or decoded means "no head", with the
   reason kept in why_no_head. Any other bad answer: FAILED; only "not found" means absent. */
#ifndef TIMELAKE_NO_LAKE

/* Zero: the defaults. */
typedef struct tl_load_options {
    int64_t max_age_ms; /* a version confirmed so long ago is taken without a request; 0: the table's own
                           version-check-interval; negative: always check */
    uint64_t version;   /* load exactly this version, by its metadata file; 0: the newest */
    uint8_t defer;      /* usable before it is checked, where nothing in hand settles it: see `unchecked` */
    uint8_t no_head;    /* as if there were none */
    uint8_t no_files;   /* metadata is enough: no manifests are read */
} tl_load_options;

#define TL_LOAD_ROOM 704 /* bytes of keys within a load: locations of up to 128 bytes need no allocation */

typedef struct tl_load {
    tl_op op;
    tl_table *table;      /* when done: one count is the load's own, until tl_op_end */
    uint8_t unchecked;    /* 1: a newer version may be there; load again without `defer` beside the data reads */
    tl_error why_no_head; /* status TL_OK: the head was used, or none was asked for */
    tl_lake *lake;        /* private from here */
    tl_load_options options;
    tl_table *known;
    tl_table *head_table;
    char *keys; /* the location, then places for keys: `room`, or allocated */
    size_t keys_size; /* of an allocation, else 0 */
    tl_span location;
    uint64_t version;
    uint64_t listed;
    uint64_t hint;
    uint64_t gone;    /* a version that hint or head named and that is not there */
    uint64_t expired; /* one whose manifests were not there */
    int64_t began;
    struct tli_load_files *files;
    uint32_t peeks;
    uint32_t climbs;
    uint32_t warmed;
    uint32_t list_slot;
    uint32_t hint_slot;
    uint8_t state;
    uint8_t hint_read;
    uint8_t hint_bad;
    uint8_t no_hint;
    uint8_t listing;
    uint8_t pages;
    uint8_t unconfirmed;
    char room[TL_LOAD_ROOM];
} tl_load;

/* Begins. The location (with or without a slash at its end) and options are copied. Done: load->table. None: no such
   table, or not this version. Failed with TL_ABSENT (an exact version that has expired), TL_CORRUPT, TL_UNSUPPORTED
   (formats that are newer, delete files), TL_STORE, TL_LIMIT, ... and the key. */
TL_API void tl_load_begin(tl_load *load, tl_lake *lake, tl_span location, const tl_load_options *options);
#endif /* TIMELAKE_NO_LAKE */
