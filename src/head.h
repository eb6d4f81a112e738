/* >>head: the head object: header, codecs, decode and encode. Format: the Timelake head, layout 1 (README, Sources). */

#define TL_HEAD_HEADER_MAX 269 /* bytes of the longest header: reading that many tells the stored version */

typedef struct tl_header {
    uint64_t version; /* of the table: the head describes v<version>.metadata.json */
    tl_span codec;    /* a span into the bytes */
    size_t size;      /* of the header: the body begins there */
} tl_header;

/* Reads the header from the object or from a prefix of it. TL_NOT_A_HEAD for anything else, too few bytes included. */
TL_API tl_status tl_head_peek(tl_header *header, const void *bytes, size_t size, tl_error *err);

/* A codec of the caller's. decode fills a fresh document (tl_document_set, tl_document_add: the arrays added must live
   until `release_arrays`, if set, is called with the document at its end). encode appends to `out`. */
typedef struct tl_head_codec {
    const char *name; /* lowercase ASCII, at most 255 bytes; one of a built-in's replaces it */
    void *context;
    tl_status (*decode)(void *context, tl_document *document, const void *body, size_t size, tl_error *err);
    tl_status (*encode)(void *context, tl_buffer *out, tl_document *document, tl_error *err);
    void (*release_arrays)(void *context, tl_document *document);
} tl_head_codec;

typedef struct tl_head_options {
    tl_release release; /* not NULL: decode takes the bytes over, whatever it returns, and calls this once */
    void *release_context;
    const tl_head_codec *codecs; /* further codecs; borrowed until tl_head_free */
    size_t codec_count;
    tl_allocator allocator;
    tl_limits limits;
    tl_compression compression; /* of the arrow codec's buffers */
} tl_head_options;

/* A decoded head. Private but for the members named here. */
typedef struct tl_head {
    uint64_t version;
    tl_span codec;
    tl_document document;
    const tl_head_codec *foreign; /* the registered codec that decoded it */
    tl_allocator allocator;
} tl_head;

/* Decodes a head: header, codec, and the whole frame of the document; columns are opened when asked for. The bytes are
   borrowed until tl_head_free unless options->release is set. options NULL: the defaults. On failure nothing is held.
   TL_NOT_A_HEAD, TL_NO_CODEC, TL_CORRUPT, ...: each means that readers take the metadata chain. A document of an unknown
   layout decodes here; the typed views refuse it (TL_LAYOUT). */
TL_API tl_status tl_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                tl_error *err);

TL_API void tl_head_free(tl_head *head);

/* The bytes of a tl_block that decoding this head and opening all its columns takes at most. */
TL_API tl_status tl_head_memory(const void *bytes, size_t size, const tl_head_options *options, size_t *need,
                                tl_error *err);

/* Appends a head to `out`: header, then the document in the codec called `codec` ("arrow", "json", or one of
   options->codecs). Columns that are not open yet are opened. `out` is as it was when this fails. */
TL_API tl_status tl_head_encode(tl_buffer *out, uint64_t version, tl_span codec, tl_document *document,
                                const tl_head_options *options, tl_error *err);
