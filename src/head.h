/* >>head: the head object: header, codecs, decode and encode.

   A head (`<table>/metadata/timelake-head`) is a cache of one table version: a header, then a document (see doc) in a
   named codec. Built in are `arrow` and `json`; TIMELAKE_NO_HEAD_ARROW and TIMELAKE_NO_HEAD_JSON remove them. Whatever
   keeps a head from being decoded, the table is still there: readers take the metadata chain. Format: the Timelake
   head, layout 1 (README, Sources). */

#define TL_HEAD_HEADER_MAX 269 /* bytes of the longest header: reading that many tells the stored version */

typedef struct tl_header {
    uint64_t version; /* of the table: the head describes v<version>.metadata.json */
    tl_span codec;    /* its name, a span into the bytes; may be empty */
    size_t size;      /* of the header: the body begins there */
} tl_header;

/* Reads the header from the object or from a prefix of it: 4 bytes "TLHD", 1 byte header version (1), 8 bytes table
   version (little-endian), 1 byte length and so many bytes of the codec's name. TL_NOT_A_HEAD for anything else: too
   few bytes, another header version, a name that is not UTF-8. The position says where it stops to be a header. */
TL_API tl_status tl_head_peek(tl_header *header, const void *bytes, size_t size, tl_error *err);

/* A codec of the caller's. Names are compared as they are, case included; the first of options->codecs with the
   header's name decodes, before the built-in ones.
   decode: fills a fresh document with tl_document_set and tl_document_add. The arrays it adds must live until
   release_arrays (if set) is called, once for each call of decode, even one that failed: then, or in tl_head_free.
   The body is valid as long as the arrays are.
   encode: appends to `out`; the columns of `document` are open. What it appended is cut off when it fails.
   Both return a status, and fill `err` (never NULL) unless that is TL_OK. NULL members: TL_UNSUPPORTED. */
typedef struct tl_head_codec {
    const char *name; /* 1 to 255 bytes of UTF-8, lowercase ASCII by convention */
    void *context;
    tl_status (*decode)(void *context, tl_document *document, const void *body, size_t size, tl_error *err);
    tl_status (*encode)(void *context, tl_buffer *out, tl_document *document, tl_error *err);
    void (*release_arrays)(void *context, tl_document *document);
} tl_head_codec;

/* Zeroed: the defaults. */
typedef struct tl_head_options {
    tl_release release; /* not NULL: decode takes the bytes over, whatever it returns, and calls this once */
    void *release_context;
    const tl_head_codec *codecs; /* further codecs; borrowed until tl_head_free */
    size_t codec_count;
    tl_allocator allocator;     /* of everything a decoded head owns */
    tl_limits limits;           /* object_bytes, decoded_bytes, sections, columns, batches, rows, depth */
    tl_compression compression; /* of the arrow codec's buffers, both ways; must work until tl_head_free */
} tl_head_options;

/* A decoded head: read `version`, `codec` and `document`. It is not moved while it is in use. */
typedef struct tl_head {
    uint64_t version;
    tl_span codec;
    tl_document document;
    const tl_head_codec *foreign; /* private: the caller's codec that decoded it */
    struct tli_view *views[3];    /* private: the typed views that are open */
    struct tli_grow *grow;        /* private: what the versions of a table share */
} tl_head;

/* Decodes a head: header, codec, and the whole frame of the document: properties, sections, schemas, row counts. In the
   arrow codec columns are decompressed and checked when they are asked for, in the json codec the rows of a section are
   when its first column is. The bytes are borrowed until tl_head_free unless options->release is set: then they are
   released once, when the head and every array exported from it are gone, or before this returns a failure. options
   NULL: the defaults. On failure `head` is zeroed and nothing is held.

   TL_NOT_A_HEAD; TL_NO_CODEC for a codec that is not built in and not among options->codecs; TL_CORRUPT, TL_TRUNCATED,
   TL_UNSUPPORTED, TL_CHECKSUM with the position in the head; TL_LIMIT, TL_NO_MEMORY, TL_BLOCK_FULL: all mean "no head".
   A document of an unknown layout decodes here; the typed views refuse it (TL_LAYOUT).

   A section with types this library does not read (unions, run-end encoding, ...) stays in an arrow document by its
   name: it has one column that fails to open with TL_UNSUPPORTED. Encoding the document in arrow passes that section's
   bytes on, in another codec it fails with TL_UNSUPPORTED: nothing is lost in silence. */
TL_API tl_status tl_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                tl_error *err);

/* Frees a head (zeroed: nothing to do). Sections, views and spans of it are gone; exported arrays live on. */
TL_API void tl_head_free(tl_head *head);

/* How many bytes a tl_block must have so that decoding this head with these options, opening all its columns and its
   typed views cannot run out; tl_section_export takes more. The frame is decoded to tell (of a json head all), with
   memory of options->allocator that is given back. The bytes are only read, options->release is not called. Fails as
   tl_head_decode does; TL_UNSUPPORTED for codecs of the caller's. */
TL_API tl_status tl_head_memory(const void *bytes, size_t size, const tl_head_options *options, size_t *need,
                                tl_error *err);

/* Appends a head to `out`: header, then the document in the codec called `codec` ("arrow", "json", or one of
   options->codecs). Columns that are not open yet are opened. Arrow buffers are compressed when
   options->compression.compress is set, else stored. Memory comes from out->allocator. options NULL: the defaults.
   When this fails `out` holds what it held before.
   TL_MISUSE for a name that is empty, longer than 255 bytes or not UTF-8; TL_NO_CODEC; TL_UNSUPPORTED for a document
   that the codec cannot hold; and what opening columns says. */
TL_API tl_status tl_head_encode(tl_buffer *out, uint64_t version, tl_span codec, tl_document *document,
                                const tl_head_options *options, tl_error *err);
