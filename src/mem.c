/* >>mem: allocator calls, the fixed block, growing buffers, counted stores. */
#ifndef TIMELAKE_NO_STDLIB
TLI_FN void *tli_mem_malloc(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

TLI_FN void *tli_mem_realloc(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return realloc(memory, size);
}

TLI_FN void tli_mem_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}
#endif

/* The allocator to use: the caller's, or malloc when it is NULL or zeroed. */
TLI_FN tl_allocator tli_mem_allocator(const tl_allocator *allocator)
{
    tl_allocator a;
    TLI_FILL(&a, 0, sizeof a);
    if (allocator != NULL)
        a = *allocator;
#ifndef TIMELAKE_NO_STDLIB
    if (a.allocate == NULL) {
        a.allocate = tli_mem_malloc;
        a.resize = tli_mem_realloc;
        a.deallocate = tli_mem_free;
    }
#endif
    return a;
}

TLI_FN void *tli_mem_new(const tl_allocator *a, size_t size)
{
    if (a->allocate == NULL || size > SIZE_MAX / 2)
        return NULL;
    return a->allocate(a->context, size == 0 ? 1 : size);
}

TLI_FN void tli_mem_delete(const tl_allocator *a, void *memory, size_t size)
{
    if (memory != NULL && a->deallocate != NULL)
        a->deallocate(a->context, memory, size == 0 ? 1 : size);
}

TLI_FN void *tli_mem_resize(const tl_allocator *a, void *memory, size_t old_size, size_t size)
{
    void *grown;
    if (memory == NULL)
        return tli_mem_new(a, size);
    if (size > SIZE_MAX / 2)
        return NULL;
    if (a->resize != NULL)
        return a->resize(a->context, memory, old_size == 0 ? 1 : old_size, size == 0 ? 1 : size);
    grown = tli_mem_new(a, size);
    if (grown == NULL)
        return NULL;
    TLI_COPY(grown, memory, TLI_MIN(old_size, size));
    tli_mem_delete(a, memory, old_size);
    return grown;
}

/* ---- the fixed block ---- */

#define TLI_MEM_ALIGN 16u

typedef struct tli_mem_block {
    size_t size;   /* bytes from this struct to the end of the block */
    size_t used;   /* of these, this struct included */
    size_t last;   /* where the newest piece starts, 0 when there is none to give back */
    size_t peak;
    size_t wanted; /* the least size that would have served the largest request that failed; 0: none failed */
} tli_mem_block;

TLI_FN void *tli_mem_block_allocate(void *context, size_t size)
{
    tli_mem_block *b = (tli_mem_block *)context;
    size_t need = tli_bits_round_up(size, TLI_MEM_ALIGN);
    if (need < size || need > b->size - b->used) {
        b->wanted = TLI_MAX(b->wanted, need < size || need > SIZE_MAX - b->used ? SIZE_MAX : b->used + need);
        return NULL;
    }
    b->last = b->used;
    b->used += need;
    b->peak = TLI_MAX(b->peak, b->used);
    return (uint8_t *)context + b->last;
}

TLI_FN int tli_mem_block_is_last(const tli_mem_block *b, const void *memory)
{
    return b->last != 0 && (const uint8_t *)memory == (const uint8_t *)b + b->last;
}

TLI_FN void tli_mem_block_free(void *context, void *memory, size_t size)
{
    tli_mem_block *b = (tli_mem_block *)context;
    (void)size;
    if (tli_mem_block_is_last(b, memory)) {
        b->used = b->last;
        b->last = 0;
    }
}

TLI_FN void *tli_mem_block_resize(void *context, void *memory, size_t old_size, size_t size)
{
    tli_mem_block *b = (tli_mem_block *)context;
    void *moved;
    if (tli_mem_block_is_last(b, memory)) {
        size_t used = b->used, last = b->last;
        b->used = last;
        moved = tli_mem_block_allocate(context, size); /* the same place: the bytes stay */
        if (moved == NULL)
            b->used = used;
        b->last = last;
        return moved;
    }
    if (size <= old_size)
        return memory;
    moved = tli_mem_block_allocate(context, size);
    if (moved != NULL)
        TLI_COPY(moved, memory, old_size);
    return moved;
}

TLI_FN void *tli_mem_block_none(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

TL_API tl_allocator tl_block(void *memory, size_t size)
{
    tl_allocator a;
    size_t skip = memory == NULL ? 0 : (size_t)(0u - (uintptr_t)memory) & (TLI_MEM_ALIGN - 1);
    TLI_FILL(&a, 0, sizeof a);
    if (memory == NULL || size < 64 || size - skip < 64) {
        a.allocate = tli_mem_block_none;
        return a;
    }
    {
        tli_mem_block *b = (tli_mem_block *)(void *)((uint8_t *)memory + skip);
        TLI_FILL(b, 0, sizeof *b);
        b->size = (size - skip) & ~(size_t)(TLI_MEM_ALIGN - 1);
        b->used = b->peak = tli_bits_round_up(sizeof *b, TLI_MEM_ALIGN);
        a.context = b;
        a.allocate = tli_mem_block_allocate;
        a.resize = tli_mem_block_resize;
        a.deallocate = tli_mem_block_free;
    }
    return a;
}

TL_API size_t tl_block_peak(const tl_allocator *allocator)
{
    if (allocator == NULL || allocator->allocate != tli_mem_block_allocate)
        return 0;
    return ((const tli_mem_block *)allocator->context)->peak;
}

/* The status for an allocator that answered NULL: which kind it is, and for a block how many bytes it would take. */
TLI_FN tl_status tli_mem_failed(const tl_allocator *a, tl_error *err)
{
    if (a->allocate == tli_mem_block_allocate) {
        const tli_mem_block *b = (const tli_mem_block *)a->context;
        return tli_err_need(err, TL_BLOCK_FULL, "the memory block is too small", TL_NO_POSITION,
                            (uint64_t)b->wanted + TLI_MEM_ALIGN);
    }
    if (a->allocate == tli_mem_block_none)
        return tli_err_need(err, TL_BLOCK_FULL, "the memory block is too small", TL_NO_POSITION, 64);
    return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
}

/* ---- limits ---- */

TL_API tl_limits tl_limits_resolve(const tl_limits *limits)
{
    tl_limits r;
    TLI_FILL(&r, 0, sizeof r);
    if (limits != NULL)
        r = *limits;
    r.object_bytes = r.object_bytes != 0 ? r.object_bytes : (uint64_t)4 << 30;
    r.decoded_bytes = r.decoded_bytes != 0 ? r.decoded_bytes : (uint64_t)16 << 30;
    r.decoded_bytes = TLI_MIN(r.decoded_bytes, (uint64_t)(SIZE_MAX / 2));
    r.object_bytes = TLI_MIN(r.object_bytes, (uint64_t)(SIZE_MAX / 2));
    r.rows = r.rows != 0 ? r.rows : (uint64_t)1 << 40;
    r.rows = TLI_MIN(r.rows, (uint64_t)1 << 56); /* times the 16 bytes of a view is a number still */
    r.sections = r.sections != 0 ? r.sections : 4096;
    r.columns = r.columns != 0 ? r.columns : 65536;
    r.batches = r.batches != 0 ? r.batches : 65536;
    r.depth = r.depth != 0 ? TLI_MIN(r.depth, 256u) : 64;
    return r;
}

/* ---- growing buffers ---- */

TL_API void tl_buffer_free(tl_buffer *buffer)
{
    tl_allocator a;
    if (buffer == NULL)
        return;
    a = tli_mem_allocator(&buffer->allocator);
    tli_mem_delete(&a, buffer->data, buffer->capacity);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}

/* Room for `more` further bytes at buffer->data + buffer->size. Doubles, so appending is linear in all. */
TLI_FN tl_status tli_mem_reserve(tl_buffer *buffer, size_t more, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&buffer->allocator);
    size_t capacity;
    uint8_t *data;
    if (more <= buffer->capacity - buffer->size)
        return TL_OK;
    if (more > SIZE_MAX / 2 - buffer->size)
        return tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
    capacity = TLI_MAX(buffer->capacity + buffer->capacity / 2, buffer->size + more);
    capacity = TLI_MAX(capacity, 256u);
    data = (uint8_t *)tli_mem_resize(&a, buffer->data, buffer->capacity, capacity);
    if (data == NULL)
        return tli_mem_failed(&a, err);
    buffer->data = data;
    buffer->capacity = capacity;
    return TL_OK;
}

TLI_FN tl_status tli_mem_append(tl_buffer *buffer, const void *data, size_t size, tl_error *err)
{
    tl_status st = tli_mem_reserve(buffer, size, err);
    if (st != TL_OK)
        return st;
    if (size != 0)
        TLI_COPY(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return TL_OK;
}

/* Appends zero bytes until the size is a multiple of `power_of_two` past `from`. */
TLI_FN tl_status tli_mem_pad(tl_buffer *buffer, size_t from, size_t power_of_two, tl_error *err)
{
    size_t n = (size_t)(0u - (buffer->size - from)) & (power_of_two - 1);
    tl_status st = tli_mem_reserve(buffer, n, err);
    if (st != TL_OK)
        return st;
    TLI_FILL(buffer->data + buffer->size, 0, n);
    buffer->size += n;
    return TL_OK;
}

/* ---- counted stores ---- */

#if (defined(__GNUC__) || defined(__clang__)) && !defined(TIMELAKE_NO_ATOMICS)
#define TLI_MEM_INC(p) ((void)__atomic_fetch_add((p), (size_t)1, __ATOMIC_RELAXED))
#define TLI_MEM_DEC(p) (__atomic_sub_fetch((p), (size_t)1, __ATOMIC_ACQ_REL))
#elif defined(_MSC_VER) && !defined(TIMELAKE_NO_ATOMICS)
#include <intrin.h>
#ifdef _WIN64
#define TLI_MEM_INC(p) ((void)_InterlockedIncrement64((volatile __int64 *)(p)))
#define TLI_MEM_DEC(p) ((size_t)_InterlockedDecrement64((volatile __int64 *)(p)))
#else
#define TLI_MEM_INC(p) ((void)_InterlockedIncrement((volatile long *)(p)))
#define TLI_MEM_DEC(p) ((size_t)_InterlockedDecrement((volatile long *)(p)))
#endif
#else
#define TLI_MEM_INC(p) ((void)++*(p))
#define TLI_MEM_DEC(p) (--*(p))
#endif

typedef struct tli_mem_chunk {
    struct tli_mem_chunk *next;
    size_t size; /* this struct included */
    size_t used;
} tli_mem_chunk;

/* Everything one decoded object owns: its body, and an arena for nodes and decoded buffers. Counted, so that exported
   arrays keep it alive. Arena memory is 16-aligned and comes back only with the whole store. */
typedef struct tli_store {
    size_t count;
    tl_allocator allocator;
    uint64_t budget; /* bytes the arena may still take: limits.decoded_bytes at first */
    tli_mem_chunk *chunks; /* the newest small-piece chunk first */
    const void *body;      /* borrowed when release is NULL */
    size_t body_size;
    tl_release release;
    void *release_context;
} tli_store;

/* A store with one count. `body` may be NULL. On failure the body is not taken. */
TLI_FN tli_store *tli_mem_store_new(const tl_allocator *allocator, uint64_t budget, const void *body, size_t body_size,
                                    tl_release release, void *release_context, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    tli_store *s = (tli_store *)tli_mem_new(&a, sizeof *s);
    if (s == NULL) {
        (void)tli_mem_failed(&a, err);
        return NULL;
    }
    TLI_FILL(s, 0, sizeof *s);
    s->count = 1;
    s->allocator = a;
    s->budget = budget;
    s->body = body;
    s->body_size = body_size;
    s->release = release;
    s->release_context = release_context;
    return s;
}

TLI_FN void tli_mem_store_keep(tli_store *s)
{
    TLI_MEM_INC(&s->count);
}

TLI_FN void tli_mem_store_drop(tli_store *s)
{
    tl_allocator a;
    tli_mem_chunk *chunk;
    if (s == NULL || TLI_MEM_DEC(&s->count) != 0)
        return;
    a = s->allocator;
    if (s->release != NULL) /* what it goes by may lie in the arena */
        s->release(s->release_context, s->body, s->body_size);
    for (chunk = s->chunks; chunk != NULL;) {
        tli_mem_chunk *next = chunk->next;
        tli_mem_delete(&a, chunk, chunk->size);
        chunk = next;
    }
    tli_mem_delete(&a, s, sizeof *s);
}

/* Bytes of the arena, as they were allocated. */
TLI_FN size_t tli_mem_store_size(const tli_store *s)
{
    const tli_mem_chunk *chunk;
    size_t size = 0;
    for (chunk = s == NULL ? NULL : s->chunks; chunk != NULL; chunk = chunk->next)
        size += chunk->size;
    return size;
}

#define TLI_MEM_CHUNK 8192u
#define TLI_MEM_CHUNK_HEADER ((sizeof(tli_mem_chunk) + TLI_MEM_ALIGN - 1) & ~(size_t)(TLI_MEM_ALIGN - 1))

/* Memory of the store, not cleared. Large pieces get a chunk of their own of the exact size, so that what a decoded
   object takes stays within a few percent of its data. NULL: err says memory or limit. */
TLI_FN void *tli_mem_take(tli_store *s, size_t size, tl_error *err)
{
    tli_mem_chunk *chunk = s->chunks;
    size_t need, total;
    int large;
    if (size > SIZE_MAX / 2) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    need = tli_bits_round_up(size == 0 ? 1 : size, TLI_MEM_ALIGN);
    if (chunk != NULL && need <= chunk->size - chunk->used) {
        chunk->used += need;
        return (uint8_t *)chunk + (chunk->used - need);
    }
    large = need > TLI_MEM_CHUNK / 8;
    total = large ? need + TLI_MEM_CHUNK_HEADER : TLI_MEM_CHUNK;
    if (total > s->budget) {
        (void)tli_err_need(err, TL_LIMIT, "limits.decoded_bytes", TL_NO_POSITION, total);
        return NULL;
    }
    chunk = (tli_mem_chunk *)tli_mem_new(&s->allocator, total);
    if (chunk == NULL) {
        (void)tli_mem_failed(&s->allocator, err);
        return NULL;
    }
    s->budget -= total;
    chunk->size = total;
    chunk->used = TLI_MEM_CHUNK_HEADER + need;
    if (large && s->chunks != NULL) { /* behind the chunk that small pieces still fit into */
        chunk->next = s->chunks->next;
        s->chunks->next = chunk;
    } else {
        chunk->next = s->chunks;
        s->chunks = chunk;
    }
    return (uint8_t *)chunk + TLI_MEM_CHUNK_HEADER;
}

/* The same, cleared. */
TLI_FN void *tli_mem_take_zero(tli_store *s, size_t size, tl_error *err)
{
    void *p = tli_mem_take(s, size, err);
    if (p != NULL)
        TLI_FILL(p, 0, size == 0 ? 1 : size);
    return p;
}

/* count * size bytes, cleared, refused when the product overflows. */
TLI_FN void *tli_mem_take_array(tli_store *s, uint64_t count, size_t size, tl_error *err)
{
    uint64_t bytes;
    size_t narrow;
    if (!tli_bits_mul(count, size, &bytes) || !tli_bits_size(bytes, &narrow)) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    return tli_mem_take_zero(s, narrow, err);
}

/* ---- counted blobs ---- */

/* Bytes that several owners share: the body of an answer. Copied bytes lie behind the struct in one allocation; taken
   ones go back through `release` with the last count. */
typedef struct tli_blob {
    size_t count;
    tl_allocator allocator;
    const uint8_t *data;
    size_t size;
    tl_release release; /* NULL: copied; else this is the beginning of a tli_mem_taken */
} tli_blob;

typedef struct tli_mem_taken {
    tli_blob blob;
    void *context;
    const void *whole; /* what was taken, of which blob.data is a part */
    size_t whole_size;
} tli_mem_taken;

/* A blob with one count. With `release` the bytes [whole, whole + whole_size) are taken and data lies in them; without
   it `size` bytes of data are copied (data NULL: left for the caller to fill). NULL: no memory, nothing was taken. */
TLI_FN tli_blob *tli_mem_blob(const tl_allocator *a, const void *data, size_t size, tl_release release, void *context,
                              const void *whole, size_t whole_size)
{
    size_t extra = release == NULL ? size : sizeof(tli_mem_taken) - sizeof(tli_blob);
    tli_blob *b = extra > SIZE_MAX / 4 ? NULL : (tli_blob *)tli_mem_new(a, sizeof *b + extra);
    if (b == NULL)
        return NULL;
    b->count = 1;
    b->allocator = *a;
    b->data = release == NULL ? (const uint8_t *)(b + 1) : (const uint8_t *)data;
    b->size = size;
    b->release = release;
    if (release != NULL) {
        tli_mem_taken *taken = (tli_mem_taken *)(void *)b;
        taken->context = context;
        taken->whole = whole;
        taken->whole_size = whole_size;
    } else if (size != 0 && data != NULL) {
        TLI_COPY(b + 1, data, size);
    }
    return b;
}

TLI_FN tli_blob *tli_mem_blob_keep(tli_blob *b)
{
    if (b != NULL)
        TLI_MEM_INC(&b->count);
    return b;
}

TLI_FN void tli_mem_blob_drop(tli_blob *b)
{
    tl_allocator a;
    if (b == NULL || TLI_MEM_DEC(&b->count) != 0)
        return;
    a = b->allocator;
    if (b->release != NULL) {
        const tli_mem_taken *taken = (const tli_mem_taken *)(const void *)b;
        b->release(taken->context, taken->whole, taken->whole_size);
    }
    tli_mem_delete(&a, b, b->release != NULL ? sizeof(tli_mem_taken) : sizeof *b + b->size);
}
