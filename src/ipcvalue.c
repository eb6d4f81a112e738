/* >>ipcvalue: the values of Arrow streams: buffers out of their compression, and every check on what is in them. */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* ---- buffers ---- */

/* A buffer as it lies in the body. */
typedef struct tli_ipcvalue_buffer {
    const uint8_t *data;
    uint64_t stored; /* bytes at data */
    uint64_t size;   /* bytes of the values */
    int packed;      /* data is compressed */
} tli_ipcvalue_buffer;

/* What a buffer without bytes points at: offsets of nothing, too. */
static const uint64_t tli_ipcvalue_zeros[2] = {0, 0};

/* The most that so many compressed bytes can give: in zstd a block of 4 bytes up to 128 KiB, in LZ4 a byte 255. */
TLI_INLINE uint64_t tli_ipcvalue_most(uint8_t codec, uint64_t stored)
{
    uint64_t least = TLI_MIN(stored, (uint64_t)1 << 40);
    return codec == TLI_IPC_ZSTD ? least / 4 * 131072 : least * 255;
}

/* What the length in front of a compressed buffer says. */
TLI_FN tl_status tli_ipcvalue_unwrap(const tli_ipc_message *m, tli_ipcvalue_buffer *b, uint64_t where, tl_error *err)
{
    int64_t size;
    uint64_t content;
    if (b->stored < 8)
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer without its length", where);
    size = (int64_t)tli_bits_le64(b->data);
    b->data += 8;
    b->stored -= 8;
    b->size = b->stored;
    if (size == -1)
        return TL_OK;
    b->size = (uint64_t)size;
    if (size == 0 && b->stored == 0)
        return TL_OK;
    if (size < 0 || b->size > tli_ipcvalue_most(m->codec, b->stored))
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer cannot have the length it claims", where);
    b->packed = 1;
    if (m->codec != TLI_IPC_ZSTD || tl_zstd_content_size(b->data, (size_t)b->stored, &content, NULL) != TL_OK)
        content = UINT64_MAX;
    if (content != b->size && (content != UINT64_MAX || size == 0)) /* nothing is never packed without saying so */
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer has another length than it claims", where);
    return TL_OK;
}

/* Buffer `index` of a message (which has it). */
TLI_FN tl_status tli_ipcvalue_buffer_of(const tli_ipc_stream *s, const tli_ipc_message *m, uint32_t index,
                                        tli_ipcvalue_buffer *b, tl_error *err)
{
    const uint8_t *p = m->buffers + 16 * (size_t)index;
    uint64_t offset = tli_bits_le64(p), length = tli_bits_le64(p + 8);
    if (offset > m->body_size || length > m->body_size - offset)
        return tli_err(err, TL_CORRUPT, "an Arrow buffer lies outside of its message", tli_ipc_where(s, p));
    b->data = m->body + offset;
    b->stored = b->size = length;
    b->packed = 0;
    if (m->codec == TLI_IPC_PLAIN || length == 0)
        return TL_OK;
    return tli_ipcvalue_unwrap(m, b, tli_ipc_where(s, b->data), err);
}

TLI_FN tl_status tli_ipcvalue_inflate(tli_ipc_stream *s, const tli_ipc_message *m, const tli_ipcvalue_buffer *b,
                                      uint8_t *to, tl_error *err)
{
    uint64_t where = tli_ipc_where(s, b->data);
    size_t size = 0;
    tl_status st;
    if (m->codec == TLI_IPC_LZ4) {
        st = tli_lz4_decode(to, (size_t)b->size, &size, b->data, (size_t)b->stored, err);
    } else if (s->compression.decompress != NULL && b->size != 0) {
        st = s->compression.decompress(s->compression.context, to, (size_t)b->size, b->data, (size_t)b->stored);
        size = (size_t)b->size;
        if (st != TL_OK)
            return tli_err(err, st, "a compressed Arrow buffer does not decompress", where);
    } else {
        if (s->work == NULL && (s->work = tli_mem_new(&s->store->allocator, TLI_ZSTD_WORK)) == NULL)
            return tli_mem_failed(&s->store->allocator, err);
        st = tli_zstd_decode(s->work, to, (size_t)b->size, &size, b->data, (size_t)b->stored, err);
    }
    if (st == TL_OK && size == b->size)
        return TL_OK;
    if (st == TL_OK || st == TL_LIMIT) /* more bytes than it claims */
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer has another length than it claims", where);
    err->position = where;
    return st;
}

/* ---- byte order: values on the wire are little-endian, values in memory native ---- */

/* What to turn, beside numbers of 2, 4, 8, 16, 32 bytes. */
enum { TLI_IPCVALUE_BYTES = 1, TLI_IPCVALUE_MONTH_DAY_NANO = 3, TLI_IPCVALUE_VIEWS = 5 };

/* How buffer `j` of a node turns. */
TLI_FN int tli_ipcvalue_unit(const tli_ipc_node *node, int32_t j)
{
    if (j == 0 || (j > 1 && !TLI_IPC_VIEW_TYPE(node->id)))
        return TLI_IPCVALUE_BYTES;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return j == 1 ? TLI_IPCVALUE_VIEWS : TLI_IPCVALUE_BYTES;
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4;
    if (node->id == TL_TYPE_INTERVAL_DAY_TIME)
        return 4;
    if (node->id == TL_TYPE_INTERVAL_MONTH_DAY_NANO)
        return TLI_IPCVALUE_MONTH_DAY_NANO;
    return node->id == TL_TYPE_FIXED_BINARY || node->width == 0 ? TLI_IPCVALUE_BYTES : node->width;
}

/* Turns `n` bytes at p around. */
TLI_INLINE void tli_ipcvalue_turn(uint8_t *p, size_t n)
{
    size_t i;
    for (i = 0; i < n / 2; i++) {
        uint8_t b = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = b;
    }
}

/* One view: its length, and, when the text is elsewhere, buffer and offset. `size` is the length in native order. */
TLI_FN void tli_ipcvalue_turn_view(uint8_t *p, uint32_t size)
{
    tli_ipcvalue_turn(p, 4);
    if (size > 12) {
        tli_ipcvalue_turn(p + 8, 4);
        tli_ipcvalue_turn(p + 12, 4);
    }
}

/* Between wire and memory on big-endian machines. `to_wire` says which way: views are not their own inverse. */
TLI_FN void tli_ipcvalue_turn_all(uint8_t *p, uint64_t size, int unit, int to_wire)
{
    uint64_t i;
    if (unit == TLI_IPCVALUE_VIEWS) {
        for (i = 0; i + 16 <= size; i += 16)
            tli_ipcvalue_turn_view(p + i, to_wire ? tli_bits_u32(p + i) : tli_bits_le32(p + i));
    } else if (unit == TLI_IPCVALUE_MONTH_DAY_NANO) {
        for (i = 0; i + 16 <= size; i += 16) {
            tli_ipcvalue_turn(p + i, 4);
            tli_ipcvalue_turn(p + i + 4, 4);
            tli_ipcvalue_turn(p + i + 8, 8);
        }
    } else if (unit != TLI_IPCVALUE_BYTES) {
        for (i = 0; i + (uint64_t)unit <= size; i += (uint64_t)unit)
            tli_ipcvalue_turn(p + i, (size_t)unit);
    }
}

/* ---- decoding a record ----

   First all memory is taken, by sizes that are checked; then the bytes are brought; then they are looked at. */

typedef struct tli_ipcvalue_job {
    tli_ipc_stream *stream;
    const tli_ipc_message *message; /* NULL: no values at all */
    int32_t first, end;             /* nodes */
    int64_t rows;                   /* of the top nodes */
    struct ArrowArray **arrays;     /* by ordinal, from the first node's */
} tli_ipcvalue_job;

TLI_INLINE struct ArrowArray **tli_ipcvalue_array(const tli_ipcvalue_job *job, int32_t node)
{
    const tli_ipc_node *nodes = job->stream->layout.nodes;
    return &job->arrays[nodes[node].ordinal - nodes[job->first].ordinal];
}

/* The array of the parent of a node; NULL: it is the top of its record. */
TLI_INLINE struct ArrowArray *tli_ipcvalue_parent(const tli_ipcvalue_job *job, int32_t node)
{
    int32_t parent = job->stream->layout.nodes[node].parent;
    return parent < job->first ? NULL : *tli_ipcvalue_array(job, parent);
}

/* The number of a node's first buffer, and how many it has on the wire. */
TLI_FN uint32_t tli_ipcvalue_first_buffer(const tli_ipcvalue_job *job, const tli_ipc_node *node, int32_t *count)
{
    uint32_t first = (uint32_t)node->buffers;
    *count = tli_ipc_buffers(node->id);
    if (job->message != NULL && job->message->variadic != NULL) {
        first += job->message->variadic[node->views];
        if (TLI_IPC_VIEW_TYPE(node->id))
            *count += (int32_t)(job->message->variadic[node->views + 1] - job->message->variadic[node->views]);
    }
    return first;
}

/* The least bytes that buffer `j` of a node must have. UINT64_MAX: more than there can be. */
TLI_FN uint64_t tli_ipcvalue_need(const tli_ipc_node *node, int32_t j, uint64_t length)
{
    uint64_t need;
    if (j > 1)
        return 0;
    if (j == 0 || node->id == TL_TYPE_BOOL)
        return (length + 7) / 8;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return length * 16;
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return (length + 1) * (TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4);
    return tli_bits_mul(length, (uint64_t)node->width, &need) ? need : UINT64_MAX;
}

/* Where a buffer will be. Nothing of it is read but its length. */
TLI_FN tl_status tli_ipcvalue_plan_buffer(const tli_ipcvalue_job *job, const tli_ipc_node *node, struct ArrowArray *a,
                                          int32_t j, uint32_t index, tl_error *err)
{
    tli_ipc_stream *s = job->stream;
    tli_ipcvalue_buffer b;
    size_t size;
    tl_status st;
    a->buffers[j] = j == 0 ? NULL : tli_ipcvalue_zeros;
    if (job->message == NULL)
        return TL_OK;
    st = tli_ipcvalue_buffer_of(s, job->message, index, &b, err);
    if (st != TL_OK)
        return st;
    if (a->length == 0 || (j == 0 && a->null_count == 0))
        return TL_OK;
    if (b.size < tli_ipcvalue_need(node, j, (uint64_t)a->length))
        return tli_err(err, TL_CORRUPT, "an Arrow buffer is too short", tli_ipc_where(s, b.data));
    if (b.size == 0)
        return TL_OK;
    a->buffers[j] = b.data;
    if (!b.packed && !(TLI_BIG_ENDIAN && tli_ipcvalue_unit(node, j) != TLI_IPCVALUE_BYTES))
        return TL_OK;
    if (!tli_bits_size(b.size, &size))
        return tli_err(err, TL_NO_MEMORY, "out of memory", tli_ipc_where(s, b.data));
    a->buffers[j] = tli_mem_take(s->store, size, err);
    return a->buffers[j] == NULL ? err->status : TL_OK;
}

/* The length of a node against that of its parent; the elements of lists wait until the offsets are there. */
TLI_FN tl_status tli_ipcvalue_plan_length(const tli_ipcvalue_job *job, int32_t i, int64_t length, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    const struct ArrowArray *parent = tli_ipcvalue_parent(job, i);
    const tli_ipc_node *above = parent != NULL ? &job->stream->layout.nodes[node->parent] : NULL;
    uint64_t need;
    if (parent == NULL && length == job->rows)
        return TL_OK;
    if (parent != NULL && above->id == TL_TYPE_STRUCT && length >= parent->length)
        return TL_OK;
    if (parent != NULL && above->id == TL_TYPE_FIXED_LIST
        && tli_bits_mul((uint64_t)parent->length, (uint64_t)above->size, &need) && (uint64_t)length >= need)
        return TL_OK;
    if (parent != NULL && TLI_IPC_LIST_TYPE(above->id))
        return TL_OK;
    return tli_err(err, TL_CORRUPT, "an Arrow array has not the length of its parent",
                   job->message != NULL ? job->message->position : TL_NO_POSITION);
}

TLI_FN tl_status tli_ipcvalue_plan_counts(const tli_ipcvalue_job *job, int32_t i, int64_t *length, int64_t *nulls,
                                          tl_error *err)
{
    const tli_ipc_stream *s = job->stream;
    const uint8_t *p;
    *length = *nulls = 0;
    if (job->message == NULL)
        return TL_OK;
    p = job->message->nodes + 16 * (size_t)s->layout.nodes[i].ordinal;
    *length = (int64_t)tli_bits_le64(p);
    *nulls = (int64_t)tli_bits_le64(p + 8);
    if (*length < 0 || *nulls < 0 || *nulls > *length)
        return tli_err(err, TL_CORRUPT, "an Arrow array of an impossible length or null count", tli_ipc_where(s, p));
    if ((uint64_t)*length > s->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", tli_ipc_where(s, p), (uint64_t)*length);
    return tli_ipcvalue_plan_length(job, i, *length, err);
}

/* The buffer of the interface that has the sizes of a view's other buffers; NULL: err says why. */
TLI_FN int64_t *tli_ipcvalue_plan_sizes(const tli_ipcvalue_job *job, const struct ArrowArray *a, uint32_t first,
                                        int32_t count, tl_error *err)
{
    int64_t *sizes = (int64_t *)tli_mem_take_array(job->stream->store, (uint64_t)count + 1, sizeof *sizes, err);
    int32_t i;
    for (i = 0; sizes != NULL && i < count; i++) {
        tli_ipcvalue_buffer b;
        if (tli_ipcvalue_buffer_of(job->stream, job->message, first + (uint32_t)i, &b, err) != TL_OK)
            return NULL;
        sizes[i] = a->buffers[2 + i] == tli_ipcvalue_zeros ? 0 : (int64_t)b.size;
    }
    return sizes;
}

TLI_FN tl_status tli_ipcvalue_plan_node(const tli_ipcvalue_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a, *parent = tli_ipcvalue_parent(job, i);
    int32_t count, j;
    uint32_t first = tli_ipcvalue_first_buffer(job, node, &count);
    int view = TLI_IPC_VIEW_TYPE(node->id);
    int64_t length, nulls;
    tl_status st = tli_ipcvalue_plan_counts(job, i, &length, &nulls, err);
    if (st != TL_OK)
        return st;
    a = tli_arrow_array_new(job->stream->store, (int64_t)count + view, node->schema->n_children, err);
    if (a == NULL)
        return err->status;
    a->length = length;
    a->null_count = node->id == TL_TYPE_NULL ? length : nulls;
    for (j = 0; j < count && st == TL_OK; j++)
        st = tli_ipcvalue_plan_buffer(job, node, a, j, first + (uint32_t)j, err);
    if (st == TL_OK && view) {
        a->buffers[count] = tli_ipcvalue_plan_sizes(job, a, first + 2, count - 2, err);
        st = a->buffers[count] == NULL ? err->status : TL_OK;
    }
    if (parent != NULL)
        parent->children[node->place] = a;
    *tli_ipcvalue_array(job, i) = a;
    return st;
}

/* Brings the bytes of a node's buffers to where they were planned. */
TLI_FN tl_status tli_ipcvalue_fill_node(const tli_ipcvalue_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a = *tli_ipcvalue_array(job, i);
    int32_t count, j;
    uint32_t first = tli_ipcvalue_first_buffer(job, node, &count);
    for (j = 0; j < count; j++) {
        tli_ipcvalue_buffer b;
        tl_status st = tli_ipcvalue_buffer_of(job->stream, job->message, first + (uint32_t)j, &b, err);
        uint8_t *to = (uint8_t *)(uintptr_t)a->buffers[j]; /* ours to write, unless it is one of these */
        if (st != TL_OK)
            return st;
        if (to == NULL || a->buffers[j] == tli_ipcvalue_zeros || to == b.data)
            continue;
        if (b.packed)
            st = tli_ipcvalue_inflate(job->stream, job->message, &b, to, err);
        else
            TLI_COPY(to, b.data, (size_t)b.size);
        if (st != TL_OK)
            return st;
        if (TLI_BIG_ENDIAN)
            tli_ipcvalue_turn_all(to, b.size, tli_ipcvalue_unit(node, j), 0);
    }
    return TL_OK;
}

/* ---- looking at values ---- */

/* Set bits among n of a bitmap, from bit `start` on. */
TLI_FN uint64_t tli_ipcvalue_ones(const uint8_t *bits, uint64_t start, uint64_t n)
{
    uint64_t count = 0, i = 0;
    for (; i < n && ((start + i) & 7) != 0; i++)
        count += (uint64_t)tli_bits_get(bits, start + i);
    bits += (start + i) / 8;
    n -= i;
    for (i = 0; i + 64 <= n; i += 64) {
        uint64_t v = tli_bits_u64(bits + i / 8);
        v = v - ((v >> 1) & 0x5555555555555555u);
        v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        count += (v * 0x0101010101010101u) >> 56;
    }
    for (; i < n; i++)
        count += (uint64_t)tli_bits_get(bits, i);
    return count;
}

/* 1 when n + 1 offsets of 4 bytes never fall and none is negative. In steps of 16 so that compilers use vectors. */
TLI_FN int tli_ipcvalue_rising32(const uint8_t *p, uint64_t n)
{
    uint32_t bad[16], a[16], b[16], all = tli_bits_u32(p);
    uint64_t i = 0;
    int j;
    TLI_FILL(bad, 0, sizeof bad);
    for (; i + 16 <= n; i += 16) {
        TLI_COPY(a, p + 4 * i, sizeof a);
        TLI_COPY(b, p + 4 * i + 4, sizeof b);
        for (j = 0; j < 16; j++)
            bad[j] |= (b[j] - a[j]) | b[j];
    }
    for (j = 0; j < 16; j++)
        all |= bad[j];
    for (; i < n; i++)
        all |= (tli_bits_u32(p + 4 * i + 4) - tli_bits_u32(p + 4 * i)) | tli_bits_u32(p + 4 * i + 4);
    return (all >> 31) == 0;
}

TLI_FN int tli_ipcvalue_rising64(const uint8_t *p, uint64_t n)
{
    uint64_t bad[8], a[8], b[8], all = tli_bits_u64(p), i = 0;
    int j;
    TLI_FILL(bad, 0, sizeof bad);
    for (; i + 8 <= n; i += 8) {
        TLI_COPY(a, p + 8 * i, sizeof a);
        TLI_COPY(b, p + 8 * i + 8, sizeof b);
        for (j = 0; j < 8; j++)
            bad[j] |= (b[j] - a[j]) | b[j];
    }
    for (j = 0; j < 8; j++)
        all |= bad[j];
    for (; i < n; i++)
        all |= (tli_bits_u64(p + 8 * i + 8) - tli_bits_u64(p + 8 * i)) | tli_bits_u64(p + 8 * i + 8);
    return (all >> 63) == 0;
}

/* Offset i of an array. */
TLI_INLINE int64_t tli_ipcvalue_offset(tl_type_id id, const void *offsets, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)offsets;
    return TLI_IPC_WIDE_OFFSETS(id) ? (int64_t)tli_bits_u64(p + 8 * i) : (int64_t)(int32_t)tli_bits_u32(p + 4 * i);
}

/* Offsets of a node with rows: never falling, from 0 or above, to at most `limit`. */
TLI_FN int tli_ipcvalue_offsets_good(tl_type_id id, const struct ArrowArray *a, uint64_t limit)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1];
    uint64_t n = (uint64_t)a->length;
    return (TLI_IPC_WIDE_OFFSETS(id) ? tli_ipcvalue_rising64(p, n) : tli_ipcvalue_rising32(p, n))
           && (uint64_t)tli_ipcvalue_offset(id, p, n) <= limit;
}

/* Leading bytes that are ASCII, counted in steps of 32. */
TLI_FN size_t tli_ipcvalue_ascii(const uint8_t *p, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        uint64_t v = tli_bits_u64(p + i) | tli_bits_u64(p + i + 8);
        v |= tli_bits_u64(p + i + 16) | tli_bits_u64(p + i + 24);
        if ((v & 0x8080808080808080u) != 0)
            break;
    }
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

/* 1 when no character of the valid text p[0..size) is cut at `at`. */
TLI_INLINE int tli_ipcvalue_boundary(const uint8_t *p, uint64_t size, uint64_t at)
{
    return at >= size || (p[at] & 0xc0) != 0x80;
}

TLI_INLINE int tli_ipcvalue_is_null(const struct ArrowArray *a, uint64_t i)
{
    return a->buffers[0] != NULL && !tli_bits_get(a->buffers[0], i);
}

/* 1 when each text of an array with good offsets is UTF-8. First all bytes at once, then where the texts are cut; when
   that says no, one by one, those under a null passed over. */
TLI_FN int tli_ipcvalue_texts_good(tl_type_id id, const struct ArrowArray *a)
{
    const uint8_t *offsets = (const uint8_t *)a->buffers[1], *data = (const uint8_t *)a->buffers[2];
    uint64_t n = (uint64_t)a->length, i;
    uint64_t first = (uint64_t)tli_ipcvalue_offset(id, offsets, 0), last = (uint64_t)tli_ipcvalue_offset(id, offsets,
                                                                                                         n);
    size_t ascii = tli_ipcvalue_ascii(data + first, (size_t)(last - first));
    uint64_t from = first + ascii;
    int cut = 0;
    if (from == last)
        return 1;
    if (tli_text_utf8(data + from, (size_t)(last - from)) == last - from) {
        for (i = 0; i <= n; i++)
            cut |= !tli_ipcvalue_boundary(data, last, (uint64_t)tli_ipcvalue_offset(id, offsets, i));
        if (!cut)
            return 1;
    }
    for (i = 0; i < n; i++) {
        uint64_t start = (uint64_t)tli_ipcvalue_offset(id, offsets, i), size;
        size = (uint64_t)tli_ipcvalue_offset(id, offsets, i + 1) - start;
        if (!tli_ipcvalue_is_null(a, i) && tli_text_utf8(data + start, (size_t)size) != size)
            return 0;
    }
    return 1;
}

/* The views of an array. `texts`: which of the other buffers are valid UTF-8 as a whole (a bit each), so that a text in
   them is good when it is not cut; NULL: the values are bytes. *work: bytes that may still be looked at one by one. */
TLI_FN int tli_ipcvalue_view_good(const struct ArrowArray *a, const uint8_t *view, const uint8_t *texts, uint64_t *work)
{
    uint32_t size = tli_bits_u32(view), index = tli_bits_u32(view + 8), at = tli_bits_u32(view + 12), i;
    const uint8_t *data, *sizes = (const uint8_t *)a->buffers[a->n_buffers - 1];
    uint64_t length;
    if (size <= 12) {
        for (i = size; i < 12; i++)
            if (view[4 + i] != 0)
                return 0;
        return texts == NULL || tli_text_utf8(view + 4, size) == size;
    }
    if (size > INT32_MAX || index >= (uint64_t)a->n_buffers - 3)
        return 0;
    length = tli_bits_u64(sizes + 8 * (size_t)index);
    if (at > length || size > length - at)
        return 0;
    data = (const uint8_t *)a->buffers[2 + index];
    if (TLI_COMPARE(data + at, view + 4, 4) != 0)
        return 0;
    if (texts == NULL)
        return 1;
    if (tli_bits_get(texts, index) && tli_ipcvalue_boundary(data, length, at)
        && tli_ipcvalue_boundary(data, length, (uint64_t)at + size))
        return 1;
    if (size > *work)
        return 0;
    *work -= size;
    return tli_text_utf8(data + at, size) == size;
}

TLI_FN tl_status tli_ipcvalue_check_views(const tli_ipcvalue_job *job, const tli_ipc_node *node,
                                          const struct ArrowArray *a, tl_error *err)
{
    uint64_t others = (uint64_t)a->n_buffers - 3, i, work = (uint64_t)1 << 20;
    const uint8_t *sizes = (const uint8_t *)a->buffers[a->n_buffers - 1], *views = (const uint8_t *)a->buffers[1];
    uint8_t *texts = NULL;
    if (node->id == TL_TYPE_UTF8_VIEW) {
        texts = (uint8_t *)tli_mem_take_array(job->stream->store, others / 8 + 1, 1, err);
        if (texts == NULL)
            return err->status;
        for (i = 0; i < others; i++) {
            size_t size = (size_t)tli_bits_u64(sizes + 8 * i);
            work += 8 * (uint64_t)size;
            if (tli_text_utf8(a->buffers[2 + i], size) == size)
                tli_bits_set(texts, i);
        }
    }
    for (i = 0; i < (uint64_t)a->length; i++)
        if (!tli_ipcvalue_view_good(a, views + 16 * i, texts, &work) && !tli_ipcvalue_is_null(a, i))
            return tli_err(err, TL_CORRUPT, "a view in an Arrow array is wrong", job->message->position);
    return TL_OK;
}

/* Index i of a dictionary column, as an unsigned number of its width. */
TLI_INLINE uint64_t tli_ipcvalue_key(const uint8_t *p, int32_t width, uint64_t i)
{
    switch (width) {
    case 1: return p[i];
    case 2: return tli_bits_u16(p + 2 * i);
    case 4: return tli_bits_u32(p + 4 * i);
    default: return tli_bits_u64(p + 8 * i);
    }
}

/* 1 when every index under `limit`, which is at least 1. */
TLI_FN int tli_ipcvalue_keys_below(const uint8_t *p, int32_t width, uint64_t n, uint64_t limit)
{
    uint32_t bad = 0;
    uint64_t i;
    if (width == 1)
        for (i = 0; i < n; i++)
            bad |= p[i] > (limit - 1);
    else if (width == 2)
        for (i = 0; i < n; i++)
            bad |= tli_bits_u16(p + 2 * i) > limit - 1;
    else if (width == 4)
        for (i = 0; i < n; i++)
            bad |= tli_bits_u32(p + 4 * i) > limit - 1;
    else
        for (i = 0; i < n; i++)
            bad |= tli_bits_u64(p + 8 * i) > limit - 1;
    return bad == 0;
}

/* Indices are in the dictionary, but for those under a null. */
TLI_FN int tli_ipcvalue_keys_good(const tli_ipc_node *node, const struct ArrowArray *a)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1];
    uint64_t limit = (uint64_t)a->dictionary->length, i;
    if (node->id <= TL_TYPE_INT64)
        limit = TLI_MIN(limit, (uint64_t)1 << (8 * node->width - 1));
    if (limit > 0 && tli_ipcvalue_keys_below(p, node->width, (uint64_t)a->length, limit))
        return 1;
    for (i = 0; i < (uint64_t)a->length; i++)
        if (!tli_ipcvalue_is_null(a, i) && tli_ipcvalue_key(p, node->width, i) >= limit)
            return 0;
    return 1;
}

/* 1 when element i of a node is under a null of the struct or fixed-size list that it is part of, or in no row of that.
   Nulls further up do not count: arrow-rs refuses such batches. */
TLI_FN int tli_ipcvalue_masked(const tli_ipcvalue_job *job, int32_t node, uint64_t i)
{
    const tli_ipc_node *parent;
    const struct ArrowArray *a;
    node = job->stream->layout.nodes[node].parent;
    if (node < job->first)
        return 0;
    parent = &job->stream->layout.nodes[node];
    a = *tli_ipcvalue_array(job, node);
    if (parent->id != TL_TYPE_STRUCT && parent->id != TL_TYPE_FIXED_LIST)
        return 0;
    if (parent->id == TL_TYPE_FIXED_LIST && parent->size == 0)
        return 1;
    if (parent->id == TL_TYPE_FIXED_LIST)
        i /= (uint64_t)parent->size;
    return i >= (uint64_t)a->length || tli_ipcvalue_is_null(a, i);
}

/* Counts the nulls; a field that may not be null has none but where its parent is. */
TLI_FN tl_status tli_ipcvalue_check_nulls(const tli_ipcvalue_job *job, int32_t i, struct ArrowArray *a, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    uint64_t n = (uint64_t)a->length, k;
    if (node->id == TL_TYPE_NULL || a->buffers[0] == NULL)
        return TL_OK;
    a->null_count = (int64_t)(n - tli_ipcvalue_ones((const uint8_t *)a->buffers[0], 0, n));
    if (a->null_count == 0) {
        a->buffers[0] = NULL;
        return TL_OK;
    }
    if ((node->schema->flags & ARROW_FLAG_NULLABLE) != 0)
        return TL_OK;
    for (k = 0; k < n; k++)
        if (tli_ipcvalue_is_null(a, k) && !tli_ipcvalue_masked(job, i, k))
            return tli_err(err, TL_CORRUPT, "a null in an Arrow field that has none", job->message->position);
    return TL_OK;
}

/* The size of buffer `j` of a node, in bytes of values. */
TLI_FN tl_status tli_ipcvalue_size_of(const tli_ipcvalue_job *job, const tli_ipc_node *node, int32_t j, uint64_t *size,
                                      tl_error *err)
{
    int32_t count;
    tli_ipcvalue_buffer b;
    uint32_t first = tli_ipcvalue_first_buffer(job, node, &count);
    tl_status st = tli_ipcvalue_buffer_of(job->stream, job->message, first + (uint32_t)j, &b, err);
    *size = b.size;
    return st;
}

/* All that can be wrong in the values of a node. Its children are planned and filled. */
TLI_FN tl_status tli_ipcvalue_check_node(const tli_ipcvalue_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a = *tli_ipcvalue_array(job, i);
    uint64_t limit = 0;
    tl_status st;
    if (a->length == 0)
        return TL_OK;
    st = tli_ipcvalue_check_nulls(job, i, a, err);
    if (st == TL_OK && tli_ipc_buffers(node->id) == 3)
        st = tli_ipcvalue_size_of(job, node, 2, &limit, err);
    if (st != TL_OK)
        return st;
    if (TLI_IPC_LIST_TYPE(node->id))
        limit = (uint64_t)a->children[0]->length;
    if ((tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id)) && !tli_ipcvalue_offsets_good(node->id, a,
                                                                                                      limit))
        return tli_err(err, TL_CORRUPT, "the offsets of an Arrow array are wrong", job->message->position);
    if (TLI_IPC_TEXT_TYPE(node->id) && !tli_ipcvalue_texts_good(node->id, a))
        return tli_err(err, TL_CORRUPT, "a text in an Arrow array is not UTF-8", job->message->position);
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipcvalue_check_views(job, node, a, err);
    if (node->encoding >= 0 && !tli_ipcvalue_keys_good(node, a))
        return tli_err(err, TL_CORRUPT, "an index in an Arrow array is outside of its dictionary",
                       job->message->position);
    return TL_OK;
}

/* Which state of its dictionary a column of `message` sees: the last one before it. The values of a dictionary may also
   come before those of a dictionary inside of them. -1: none. */
TLI_FN int32_t tli_ipcvalue_state(const tli_ipc_stream *s, int32_t encoding, const tli_ipc_message *message)
{
    const tli_ipc_dictionary *d = &s->dictionaries[s->encodings[encoding]];
    int32_t low = d->first, high = d->end, index;
    if (message == NULL)
        return -1;
    index = (int32_t)(message - s->messages);
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (s->states[mid] < index)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > d->first)
        return low - 1;
    return message->dictionary >= 0 && d->end > d->first ? d->first : -1;
}

/* The place of the values of a state: NULL in it until they are decoded. */
TLI_INLINE struct ArrowArray **tli_ipcvalue_values(const tli_ipc_stream *s, int32_t encoding, int32_t state)
{
    return state >= 0 ? &s->messages[s->states[state]].values : &s->dictionaries[s->encodings[encoding]].absent;
}

/* Decodes the nodes of a job. The dictionaries they use are there. */
TLI_FN tl_status tli_ipcvalue_run(const tli_ipcvalue_job *job, tl_error *err)
{
    tli_ipc_stream *s = job->stream;
    tl_status st = TL_OK;
    int32_t i;
    for (i = job->first; i < job->end && st == TL_OK; i = tli_ipc_step(&s->layout, i))
        st = tli_ipcvalue_plan_node(job, i, err);
    for (i = job->first; i < job->end && st == TL_OK && job->message != NULL; i = tli_ipc_step(&s->layout, i))
        st = tli_ipcvalue_fill_node(job, i, err);
    tli_mem_delete(&s->store->allocator, s->work, TLI_ZSTD_WORK);
    s->work = NULL;
    for (i = job->first; i < job->end && st == TL_OK; i = tli_ipc_step(&s->layout, i)) {
        int32_t e = s->layout.nodes[i].encoding;
        if (e >= 0)
            (*tli_ipcvalue_array(job, i))->dictionary = *tli_ipcvalue_values(s, e, tli_ipcvalue_state(s, e,
                                                                                                      job->message));
        st = tli_ipcvalue_check_node(job, i, err);
    }
    return st;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
