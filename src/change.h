/* >>change: what a commit changes. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

/* A data file that a commit adds. */
typedef struct tl_data_file {
    tl_file file; /* path (below the table, absolute), size, records, partition, split offsets, sort order. In a replace
                     sequence_number is the data sequence number, 0: the highest of the files removed. Its other
                     members are not read */
    const tl_column *columns; /* statistics; their `file` is not read */
    size_t column_count;
    tl_span footer; /* for the head, see tl_footer; absent: not known */
    tl_span body;   /* uploaded with the commit; absent: the object is there already */
} tl_data_file;

typedef enum tl_change_kind {
    TL_CHANGE_APPEND,     /* files added */
    TL_CHANGE_REPLACE,    /* files removed and added that hold the same rows: compaction */
    TL_CHANGE_DELETE,     /* files removed: retention */
    TL_CHANGE_INDEX,      /* a last-value index set, of `newest` or of index.path, or taken away: neither */
    TL_CHANGE_PROPERTIES, /* table properties set, or with an absent value taken away; TL_MISUSE for those that are
                             fixed when the table is created: time and series columns, chunks, dedup */
    TL_CHANGE_CREATE      /* a new table */
} tl_change_kind;

typedef struct tl_change {
    tl_change_kind kind;
    const tl_data_file *added;
    size_t added_count;
    const tl_span *removed; /* paths of live files */
    size_t removed_count;
    const tl_property *properties; /* entries of the snapshot's summary; in PROPERTIES and CREATE the table's own */
    size_t property_count;
    tl_span batch_id;          /* of an append: committed at most once in the history of the current snapshot */
    const tl_rows *newest;     /* of an append: rows that are in the files added, among them the newest of each series;
                                  NULL: not known, and the last-value index ends. Of INDEX: such rows of all files */
    const int64_t *cutoff;     /* of a delete: rows whose time, in us since 1970, is before it leave the index; NULL:
                                  all stay */
    tl_data_file index;        /* of INDEX: its path, and the body if it is to be uploaded; `newest`: what it says */
    const tl_new_table *table; /* of CREATE */
} tl_change;
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
