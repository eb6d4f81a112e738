/* >>flatbuf: reading FlatBuffers that nobody vouches for, and writing them back to front (Arrow's metadata). */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* The bytes of one FlatBuffer, at any address. Every getter checks what it follows; on the first lie `bad` is set and
   stays, and the getter answers as if the member were absent: callers look at `bad` once, at the end. */
typedef struct tli_flatbuf {
    const uint8_t *data;
    uint32_t size;
    int bad;
} tli_flatbuf;

/* A table whose vtable and inline part lie in the buffer. at 0: absent (only the root offset lies there). */
typedef struct tli_flatbuf_table {
    tli_flatbuf *in;
    uint32_t at;
    uint32_t vtable;
    uint16_t vtable_size;
    uint16_t size;
} tli_flatbuf_table;

/* count elements from `data` on, all in the buffer. Absent: data NULL, count 0. */
typedef struct tli_flatbuf_vector {
    const uint8_t *data;
    uint32_t count;
} tli_flatbuf_vector;

/* The table at a position. */
TLI_FN tli_flatbuf_table tli_flatbuf_table_at(tli_flatbuf *in, uint64_t at)
{
    tli_flatbuf_table t;
    int64_t vtable;
    TLI_FILL(&t, 0, sizeof t);
    t.in = in;
    if (at < 4 || in->size < 4 || at > in->size - 4u)
        goto bad;
    vtable = (int64_t)at - (int32_t)tli_bits_le32(in->data + at);
    if (vtable < 0 || vtable > (int64_t)in->size - 4)
        goto bad;
    t.vtable = (uint32_t)vtable;
    t.vtable_size = tli_bits_le16(in->data + vtable);
    t.size = tli_bits_le16(in->data + vtable + 2);
    if (t.vtable_size < 4 || t.vtable_size > in->size - t.vtable || t.size < 4 || t.size > in->size - (uint32_t)at)
        goto bad;
    t.at = (uint32_t)at;
    return t;
bad:
    in->bad = 1;
    t.vtable_size = 0;
    return t;
}

TLI_FN tli_flatbuf_table tli_flatbuf_root(tli_flatbuf *in, const void *data, uint32_t size)
{
    in->data = (const uint8_t *)data;
    in->size = size;
    in->bad = 0;
    return tli_flatbuf_table_at(in, size < 4 ? 0 : tli_bits_le32(data));
}

/* Where member `id` of `width` bytes lies, or NULL when it is not there. */
TLI_FN const uint8_t *tli_flatbuf_member(const tli_flatbuf_table *t, uint32_t id, uint32_t width)
{
    uint32_t entry = 4 + 2 * id, offset;
    if (entry + 2 > t->vtable_size)
        return NULL;
    offset = tli_bits_le16(t->in->data + t->vtable + entry);
    if (offset == 0)
        return NULL;
    if (offset + width > t->size) {
        t->in->bad = 1;
        return NULL;
    }
    return t->in->data + t->at + offset;
}

TLI_FN uint8_t tli_flatbuf_u8(const tli_flatbuf_table *t, uint32_t id, uint8_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 1);
    return p == NULL ? absent : *p;
}

TLI_FN int16_t tli_flatbuf_i16(const tli_flatbuf_table *t, uint32_t id, int16_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 2);
    return p == NULL ? absent : (int16_t)tli_bits_le16(p);
}

TLI_FN int32_t tli_flatbuf_i32(const tli_flatbuf_table *t, uint32_t id, int32_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 4);
    return p == NULL ? absent : (int32_t)tli_bits_le32(p);
}

TLI_FN int64_t tli_flatbuf_i64(const tli_flatbuf_table *t, uint32_t id, int64_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 8);
    return p == NULL ? absent : (int64_t)tli_bits_le64(p);
}

/* Where the offset at `p` leads, p being 4 bytes in the buffer. */
TLI_INLINE uint64_t tli_flatbuf_follow(const tli_flatbuf *in, const uint8_t *p)
{
    return (uint64_t)(p - in->data) + tli_bits_le32(p);
}

TLI_FN tli_flatbuf_table tli_flatbuf_child(const tli_flatbuf_table *t, uint32_t id)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 4);
    tli_flatbuf_table none;
    if (p != NULL)
        return tli_flatbuf_table_at(t->in, tli_flatbuf_follow(t->in, p));
    TLI_FILL(&none, 0, sizeof none);
    none.in = t->in;
    return none;
}

TLI_FN tli_flatbuf_vector tli_flatbuf_list(const tli_flatbuf_table *t, uint32_t id, uint32_t element_size)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 4);
    tli_flatbuf_vector v;
    uint64_t at;
    v.data = NULL;
    v.count = 0;
    if (p == NULL)
        return v;
    at = tli_flatbuf_follow(t->in, p);
    if (t->in->size < 4 || at > t->in->size - 4u
        || (uint64_t)tli_bits_le32(t->in->data + at) * element_size > t->in->size - 4u - at) {
        t->in->bad = 1;
        return v;
    }
    v.data = t->in->data + at + 4;
    v.count = tli_bits_le32(t->in->data + at);
    return v;
}

/* Table i of a vector of tables (element size 4), i < count. */
TLI_FN tli_flatbuf_table tli_flatbuf_item(tli_flatbuf *in, const tli_flatbuf_vector *v, uint32_t i)
{
    return tli_flatbuf_table_at(in, tli_flatbuf_follow(in, v->data + 4 * (size_t)i));
}

/* A string's bytes; data NULL when it is absent. */
TLI_FN tl_span tli_flatbuf_text(const tli_flatbuf_table *t, uint32_t id)
{
    tli_flatbuf_vector v = tli_flatbuf_list(t, id, 1);
    return tli_text_span(v.data, v.count);
}

/* ---- writing: from the end to the front, so that offsets point at what is already there ---- */

#define TLI_FLATBUF_MEMBERS 8u
#define TLI_FLATBUF_VTABLES 16u

/* Zeroed with an allocator it is empty. Things are named by their distance from the end of the buffer, which does not
   move as it grows. `status` is sticky, and looked at once, at the end. */
typedef struct tli_flatbuf_builder {
    tl_allocator allocator;
    uint8_t *data;
    uint32_t capacity, used;
    uint32_t members[TLI_FLATBUF_MEMBERS]; /* of the table at hand; 0: absent */
    uint32_t table;                        /* where its end is */
    uint32_t vtables[TLI_FLATBUF_VTABLES]; /* for use again */
    uint32_t vtable_count;
    tl_status status;
} tli_flatbuf_builder;

TLI_FN void tli_flatbuf_end(tli_flatbuf_builder *b)
{
    tli_mem_delete(&b->allocator, b->data, b->capacity);
    b->data = NULL;
    b->capacity = b->used = 0;
}

/* `size` cleared bytes in front of what is there; NULL: the builder failed, or there were none to add. */
TLI_FN uint8_t *tli_flatbuf_push(tli_flatbuf_builder *b, uint32_t size)
{
    if (b->status != TL_OK || size == 0)
        return NULL;
    if (size > b->capacity - b->used) {
        uint64_t capacity = TLI_MAX((uint64_t)b->capacity * 2, (uint64_t)b->used + size + 256);
        uint8_t *data = capacity > INT32_MAX ? NULL : (uint8_t *)tli_mem_new(&b->allocator, (size_t)capacity);
        if (data == NULL) {
            b->status = capacity > INT32_MAX ? TL_LIMIT : TL_NO_MEMORY;
            return NULL;
        }
        if (b->used != 0)
            TLI_COPY(data + (uint32_t)capacity - b->used, b->data + b->capacity - b->used, b->used);
        tli_mem_delete(&b->allocator, b->data, b->capacity);
        b->data = data;
        b->capacity = (uint32_t)capacity;
    }
    b->used += size;
    TLI_FILL(b->data + b->capacity - b->used, 0, size);
    return b->data + b->capacity - b->used;
}

/* Pads so that, `size` bytes later, the front is a multiple of `power_of_two` from the end. */
TLI_FN void tli_flatbuf_align(tli_flatbuf_builder *b, uint32_t size, uint32_t power_of_two)
{
    (void)tli_flatbuf_push(b, (0u - (b->used + size)) & (power_of_two - 1));
}

/* A vector of `count` elements, cleared, or copied from `data` when that is not NULL. Alignment: 1, 2, 4 or 8. */
TLI_FN uint32_t tli_flatbuf_put_list(tli_flatbuf_builder *b, const void *data, uint32_t count, uint32_t element_size,
                                     uint32_t alignment, uint32_t zeros_behind)
{
    uint64_t bytes = (uint64_t)count * element_size;
    uint8_t *p;
    if (bytes > INT32_MAX / 2) {
        b->status = b->status != TL_OK ? b->status : TL_LIMIT;
        return 0;
    }
    tli_flatbuf_align(b, (uint32_t)bytes + zeros_behind, TLI_MAX(alignment, 4u));
    p = tli_flatbuf_push(b, (uint32_t)bytes + zeros_behind);
    if (p != NULL && data != NULL && bytes != 0)
        TLI_COPY(p, data, (size_t)bytes);
    p = tli_flatbuf_push(b, 4);
    if (p != NULL)
        tli_bits_put_le32(p, count);
    return b->used;
}

TLI_FN uint32_t tli_flatbuf_put_text(tli_flatbuf_builder *b, tl_span text)
{
    if (text.size > INT32_MAX / 2) {
        b->status = b->status != TL_OK ? b->status : TL_LIMIT;
        return 0;
    }
    return tli_flatbuf_put_list(b, text.data, (uint32_t)text.size, 1, 1, 1);
}

/* A vector of offsets to what was written before: `count` names, native and at any alignment. */
TLI_FN uint32_t tli_flatbuf_put_offsets(tli_flatbuf_builder *b, const uint8_t *names, uint32_t count)
{
    uint32_t at = tli_flatbuf_put_list(b, NULL, count, 4, 4, 0), i;
    if (b->status != TL_OK)
        return 0;
    for (i = 0; i < count; i++) {
        uint32_t here = at - 4 - 4 * i; /* of this element, from the end */
        tli_bits_put_le32(b->data + b->capacity - here, here - tli_bits_u32(names + 4 * (size_t)i));
    }
    return at;
}

TLI_FN void tli_flatbuf_table_begin(tli_flatbuf_builder *b)
{
    TLI_FILL(b->members, 0, sizeof b->members);
    b->table = b->used;
}

/* Member `id` of the table at hand: the low `width` bytes of `value`. Always written, so that sizes do not hang on
   values. Write the widest first. Returns its name, to be patched later. */
TLI_FN uint32_t tli_flatbuf_put(tli_flatbuf_builder *b, uint32_t id, uint32_t width, uint64_t value)
{
    uint8_t *p;
    uint32_t i;
    tli_flatbuf_align(b, width, width);
    p = tli_flatbuf_push(b, width);
    if (p == NULL)
        return 0;
    for (i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
    b->members[id] = b->used;
    return b->used;
}

/* Member `id`: an offset to what was written before. */
TLI_FN void tli_flatbuf_put_offset(tli_flatbuf_builder *b, uint32_t id, uint32_t name)
{
    tli_flatbuf_align(b, 4, 4);
    (void)tli_flatbuf_put(b, id, 4, b->used + 4 - name);
}

/* The vtable, an equal one of before where there is one. */
TLI_FN uint32_t tli_flatbuf_vtable(tli_flatbuf_builder *b, const uint8_t *bytes, uint32_t size)
{
    uint32_t i;
    uint8_t *p;
    for (i = 0; i < b->vtable_count; i++) {
        const uint8_t *old = b->data + b->capacity - b->vtables[i];
        if (tli_bits_le16(old) == size && TLI_COMPARE(old, bytes, size) == 0)
            return b->vtables[i];
    }
    p = tli_flatbuf_push(b, size);
    if (p == NULL)
        return 0;
    TLI_COPY(p, bytes, size);
    if (b->vtable_count < TLI_FLATBUF_VTABLES)
        b->vtables[b->vtable_count++] = b->used;
    return b->used;
}

/* Ends the table at hand and returns its name. */
TLI_FN uint32_t tli_flatbuf_table_end(tli_flatbuf_builder *b)
{
    uint8_t bytes[4 + 2 * TLI_FLATBUF_MEMBERS];
    uint32_t table, vtable, i, count = 0;
    tli_flatbuf_align(b, 4, 4);
    (void)tli_flatbuf_push(b, 4);
    table = b->used;
    for (i = 0; i < TLI_FLATBUF_MEMBERS; i++) {
        tli_bits_put_le16(bytes + 4 + 2 * i, (uint16_t)(b->members[i] == 0 ? 0 : table - b->members[i]));
        if (b->members[i] != 0)
            count = i + 1;
    }
    tli_bits_put_le16(bytes, (uint16_t)(4 + 2 * count));
    tli_bits_put_le16(bytes + 2, (uint16_t)(table - b->table));
    vtable = tli_flatbuf_vtable(b, bytes, 4 + 2 * count);
    if (b->status != TL_OK)
        return 0;
    tli_bits_put_le32(b->data + b->capacity - table, vtable - table);
    return table;
}

/* The root: after this the buffer is data + capacity - used, `used` bytes, a multiple of 8. */
TLI_FN void tli_flatbuf_finish(tli_flatbuf_builder *b, uint32_t root)
{
    uint8_t *p;
    tli_flatbuf_align(b, 4, 8);
    p = tli_flatbuf_push(b, 4);
    if (p != NULL)
        tli_bits_put_le32(p, b->used - root);
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
