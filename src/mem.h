/* >>mem: who gives memory, and how much may be used. */

/* An allocator. Zeroed: malloc, realloc and free (not with TIMELAKE_NO_STDLIB, where one must be given).
   allocate: memory aligned for any object, or NULL. Size is never 0.
   resize: as realloc; the old block stays valid when it answers NULL. NULL member: allocate, copy, deallocate.
   deallocate: gets the size that was asked for. Called from whichever thread drops the last reference. */
typedef struct tl_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size);
    void *(*resize)(void *context, void *memory, size_t old_size, size_t size);
    void (*deallocate)(void *context, void *memory, size_t size);
} tl_allocator;

/* An allocator over a fixed block: a stack, whose last piece can be resized or given back; other pieces come back only
   with the whole block. Its state lies at the start of the block. A block that is too small is TL_BLOCK_FULL.
   `memory` needs no alignment. Fewer than 64 bytes, or NULL: an allocator that always answers NULL.  */
TL_API tl_allocator tl_block(void *memory, size_t size);

/* The most bytes that were in use at once in a tl_block, its own state included; 0 for another allocator. */
TL_API size_t tl_block_peak(const tl_allocator *allocator);

/* Gives back a body that the library took over. `context`, `data` and `size` are as they were handed in. */
typedef void (*tl_release)(void *context, const void *data, size_t size);

/* Named limits. A zero member means its default. */
typedef struct tl_limits {
    uint64_t object_bytes;  /* largest object accepted; 4 GiB */
    uint64_t decoded_bytes; /* memory one decoded object may take; 16 GiB, at most half the address space */
    uint64_t rows;          /* rows of a section over all batches; 2^40, at most 2^56 */
    uint32_t sections;      /* sections of a head; 4,096 */
    uint32_t columns;       /* columns of a section, nested ones counted; 65,536 */
    uint32_t batches;       /* record batches of a section, dictionary batches too; 65,536 */
    uint32_t depth;         /* nesting of types and of JSON; 64, at most 256 */
} tl_limits;

/* The limits with every default filled in. */
TL_API tl_limits tl_limits_resolve(const tl_limits *limits);

/* A growing run of bytes: the output of every encoder. Zeroed with an allocator set (or not: malloc) it is empty.
   The caller reads data and size, and gives it back with tl_buffer_free. */
typedef struct tl_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    tl_allocator allocator;
} tl_buffer;

/* Gives the memory back; the buffer is empty then, with its allocator, and may be used again. */
TL_API void tl_buffer_free(tl_buffer *buffer);

/* How Arrow buffers are compressed and decompressed; adapters/timelake_zstd.h fills one with libzstd. Zeroed members
   mean the built-in decoder, and no compression. Functions answer TL_OK or a status with its meaning, and may be
   called from any thread that drives a head.
   decompress: all frames of src, which must give exactly dst_size bytes.
   bound: the most bytes compress may write for src_size.
   compress: one frame. */
typedef struct tl_compression {
    void *context;
    tl_status (*decompress)(void *context, void *dst, size_t dst_size, const void *src, size_t src_size);
    size_t (*bound)(void *context, size_t src_size);
    tl_status (*compress)(void *context, void *dst, size_t dst_capacity, size_t *dst_size, const void *src,
                          size_t src_size);
} tl_compression;
