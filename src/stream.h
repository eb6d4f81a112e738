/* >>stream: Arrow IPC streams as documents (arrow.apache.org, "Arrow Columnar Format", Serialization and IPC). */
#ifndef TIMELAKE_NO_HEAD_ARROW

typedef struct tl_ipc_options {
    tl_release release; /* not NULL: decode takes the bytes over, whatever it returns, and calls this once */
    void *release_context;
    tl_allocator allocator;
    tl_limits limits;
    tl_compression compression;
} tl_ipc_options;

/* Opens a stream as a document with one section named "" (and no properties). Checks all metadata; columns open later.
   The bytes are borrowed until tl_document_free unless options->release is set. */
TL_API tl_status tl_ipc_decode(tl_document *document, const void *bytes, size_t size, const tl_ipc_options *options,
                               tl_error *err);

/* Appends the section as one complete stream to `out`. Buffers are compressed when options->compression.compress is
   set, 64-byte aligned, little-endian, metadata version 5. */
TL_API tl_status tl_ipc_encode(tl_buffer *out, tl_section *section, const tl_ipc_options *options, tl_error *err);
#endif
