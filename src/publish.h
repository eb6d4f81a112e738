/* >>publish: a version's hint and head, written behind a commit. Both are caches: the commit stands whatever happens.

   State table:
   START      none -> the lake knows a newer version: NONE. Else READ
   READ       get the head's first bytes + put the hint (once) -> head of this version or a newer one, or not to be
              read: DONE. Else PUT; codec `none`, or one that is not there: DROP
   PUT        put the head, if it is the one that was read, or if absent -> ok: DONE. Changed or unknown: READ, at most
              five times. The store has no such condition: OVER. Not applied: DONE
   OVER       put the head, whatever is there -> DONE
   DROP       delete the head -> DONE

   A head in the codec `arrow` goes out in pieces (request.body): what the version before it said already is not encoded
   again (see grow). */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

typedef struct tl_publish {
    tl_op op;
    uint8_t hint_written;
    uint8_t head_written;
    uint8_t head_dropped;
    tl_error why_no_head; /* why there is none; TL_OK: it was written, or a newer one is there */
    tl_lake *lake;        /* private from here */
    tl_table *table;
    char *keys;           /* places for two keys */
    struct tli_grow_body *body;
    tl_span hint;
    char *etag;           /* of the head that was read */
    size_t etag_size;
    uint32_t reads;
    uint8_t state;
    char digits[24];
} tl_publish;

/* Begins publishing a version, which is counted. One publish of a table at a time per process. Done, whatever became of
   hint and head; none: superseded. Never moves a head back, nor writes over one that cannot be read. */
TL_API void tl_publish_begin(tl_publish *publish, tl_lake *lake, tl_table *table);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
