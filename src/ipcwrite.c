/* >>ipcwrite: writing Arrow IPC streams. */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* ---- writing: schema ---- */

/* A layout of its own, for writing. */
TLI_FN void tli_ipcwrite_layout_end(const tl_allocator *a, tli_ipc_layout *l, uint32_t nodes)
{
    tli_mem_delete(a, l->nodes, (size_t)nodes * sizeof *l->nodes);
    tli_mem_delete(a, l->encodings, (size_t)l->encoding_count * sizeof *l->encodings);
    l->nodes = NULL;
    l->encodings = NULL;
}

TLI_FN tl_status tli_ipcwrite_layout_new(const tl_allocator *a, tli_ipc_layout *l, const struct ArrowSchema *schema,
                                         uint32_t *nodes, tl_error *err)
{
    tl_limits most;
    tl_status st;
    TLI_FILL(l, 0, sizeof *l);
    TLI_FILL(&most, 0, sizeof most);
    most.depth = 256;
    most.columns = INT32_MAX / 4;
    st = tli_arrow_schema_check(schema, &most, nodes, err);
    if (st != TL_OK)
        return st;
    l->nodes = (tli_ipc_node *)tli_mem_new(a, (size_t)*nodes * sizeof *l->nodes);
    if (l->nodes == NULL)
        return tli_mem_failed(a, err);
    st = tli_ipc_list(l, schema, err);
    if (st == TL_OK) {
        l->encodings = (tli_ipc_record *)tli_mem_new(a, (size_t)l->encoding_count * sizeof *l->encodings);
        if (l->encodings == NULL)
            st = tli_mem_failed(a, err);
    }
    if (st == TL_OK)
        tli_ipc_records(l);
    else
        tli_ipcwrite_layout_end(a, l, *nodes);
    return st;
}

TLI_FN uint32_t tli_ipcwrite_int(tli_flatbuf_builder *b, tl_type_id id)
{
    int step = (int)id - (int)(id >= TL_TYPE_UINT8 ? TL_TYPE_UINT8 : TL_TYPE_INT8);
    tli_flatbuf_table_begin(b);
    (void)tli_flatbuf_put(b, 0, 4, (uint64_t)8 << step);
    (void)tli_flatbuf_put(b, 1, 1, id < TL_TYPE_UINT8);
    return tli_flatbuf_table_end(b);
}

/* The number of a type in the Type union of Schema.fbs. */
TLI_FN uint8_t tli_ipcwrite_wire_type(tl_type_id id)
{
    static const uint8_t wire[] = {1,  6,  2,  2,  2,  2,  2,  2,  2, 2, 3, 3, 3, 7,  7,  7,  7,  8,  8,
                                   9,  9,  10, 18, 11, 11, 11, 5, 20, 24, 4, 19, 23, 15, 12, 21, 16, 13, 17};
    return wire[id];
}

/* The table of a type. */
TLI_FN uint32_t tli_ipcwrite_type(tli_flatbuf_builder *b, const struct ArrowSchema *schema)
{
    tl_type t;
    uint32_t zone = 0;
    uint8_t wire;
    if (tl_type_of(schema, &t, NULL) != TL_OK) /* was checked */
        return 0;
    wire = tli_ipcwrite_wire_type(t.id);
    if (wire == 2)
        return tli_ipcwrite_int(b, t.id);
    if (wire == 10 && t.zone.size != 0)
        zone = tli_flatbuf_put_text(b, t.zone);
    tli_flatbuf_table_begin(b);
    if (wire == 3) {
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)((int)t.id - (int)TL_TYPE_FLOAT16));
    } else if (wire == 7) {
        (void)tli_flatbuf_put(b, 0, 4, (uint64_t)(int64_t)t.precision);
        (void)tli_flatbuf_put(b, 1, 4, (uint64_t)(int64_t)t.scale);
        (void)tli_flatbuf_put(b, 2, 4, (uint64_t)t.width * 8);
    } else if (wire == 8) {
        (void)tli_flatbuf_put(b, 0, 2, t.id == TL_TYPE_DATE64);
    } else if (wire == 9) {
        (void)tli_flatbuf_put(b, 1, 4, (uint64_t)t.width * 8);
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)t.unit);
    } else if (wire == 10 || wire == 18) {
        if (zone != 0)
            tli_flatbuf_put_offset(b, 1, zone);
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)t.unit);
    } else if (wire == 11) {
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)((int)t.id - (int)TL_TYPE_INTERVAL_MONTHS));
    } else if (wire == 15 || wire == 16) {
        (void)tli_flatbuf_put(b, 0, 4, (uint64_t)t.size);
    } else if (wire == 17) {
        (void)tli_flatbuf_put(b, 0, 1, (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0);
    }
    return tli_flatbuf_table_end(b);
}

/* Names of what was written, in a buffer that is used again and again. */
TLI_FN tl_status tli_ipcwrite_note(tl_buffer *names, uint32_t name, tl_error *err)
{
    return tli_mem_append(names, &name, sizeof name, err);
}

/* The noted names as a vector. They are in native order and may lie at any alignment. */
TLI_FN uint32_t tli_ipcwrite_names(tli_flatbuf_builder *b, tl_buffer *names)
{
    uint32_t at = tli_flatbuf_put_offsets(b, names->data, (uint32_t)(names->size / 4));
    names->size = 0;
    return at;
}

TLI_FN tl_status tli_ipcwrite_pair(tli_flatbuf_builder *b, tl_span key, tl_span value, tl_buffer *names, tl_error *err)
{
    uint32_t v = tli_flatbuf_put_text(b, value), k = tli_flatbuf_put_text(b, key);
    tli_flatbuf_table_begin(b);
    tli_flatbuf_put_offset(b, 1, v);
    tli_flatbuf_put_offset(b, 0, k);
    return tli_ipcwrite_note(names, tli_flatbuf_table_end(b), err);
}

/* The metadata of a schema node; `key` (absent: none) takes the place of a pair of that key. *name 0: there is none. */
TLI_FN tl_status tli_ipcwrite_pairs(tli_flatbuf_builder *b, const struct ArrowSchema *schema, tl_span key,
                                    tl_span value, tl_buffer *names, uint32_t *name, tl_error *err)
{
    tli_arrow_pairs pairs = tli_arrow_pairs_begin(schema);
    tl_span k, v;
    tl_status st = TL_OK;
    names->size = 0;
    while (st == TL_OK && tli_arrow_pairs_next(&pairs, &k, &v))
        if (key.data == NULL || !tl_span_equal(k, key))
            st = tli_ipcwrite_pair(b, k, v, names, err);
    if (st == TL_OK && key.data != NULL)
        st = tli_ipcwrite_pair(b, key, value, names, err);
    *name = 0;
    if (st == TL_OK && names->size != 0)
        *name = tli_ipcwrite_names(b, names);
    return st;
}

/* The field of node i, whose children are written: fields[] has their names. */
TLI_FN tl_status tli_ipcwrite_field(tli_flatbuf_builder *b, const tli_ipc_layout *l, int32_t i, uint32_t *fields,
                                    tl_buffer *names, tl_error *err)
{
    const tli_ipc_node *node = &l->nodes[i];
    int32_t of = node->encoding >= 0 ? i + 1 : i, child; /* the node of the values */
    uint32_t text, type, children, metadata, dictionary = 0;
    tl_status st = TL_OK;
    names->size = 0;
    for (child = of + 1; child < l->nodes[of].end && st == TL_OK; child = l->nodes[child].end)
        st = tli_ipcwrite_note(names, fields[child], err);
    if (st != TL_OK)
        return st;
    children = tli_ipcwrite_names(b, names);
    st = tli_ipcwrite_pairs(b, node->schema, tl_text(NULL), tl_text(NULL), names, &metadata, err);
    if (st != TL_OK)
        return st;
    text = tli_flatbuf_put_text(b, node->schema->name != NULL ? tl_text(node->schema->name) : tli_text_span("", 0));
    type = tli_ipcwrite_type(b, l->nodes[of].schema);
    if (node->encoding >= 0) {
        uint32_t index = tli_ipcwrite_int(b, node->id);
        tli_flatbuf_table_begin(b);
        (void)tli_flatbuf_put(b, 0, 8, (uint64_t)node->encoding);
        tli_flatbuf_put_offset(b, 1, index);
        (void)tli_flatbuf_put(b, 2, 1, (node->schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0);
        dictionary = tli_flatbuf_table_end(b);
    }
    tli_flatbuf_table_begin(b);
    if (metadata != 0)
        tli_flatbuf_put_offset(b, 6, metadata);
    tli_flatbuf_put_offset(b, 5, children);
    if (dictionary != 0)
        tli_flatbuf_put_offset(b, 4, dictionary);
    tli_flatbuf_put_offset(b, 3, type);
    tli_flatbuf_put_offset(b, 0, text);
    (void)tli_flatbuf_put(b, 2, 1, tli_ipcwrite_wire_type(l->nodes[of].id));
    (void)tli_flatbuf_put(b, 1, 1, (node->schema->flags & ARROW_FLAG_NULLABLE) != 0);
    fields[i] = tli_flatbuf_table_end(b);
    return TL_OK;
}

/* The message around a header. *body: where the length of the body is to be put, in bytes from the end. */
TLI_FN void tli_ipcwrite_message(tli_flatbuf_builder *b, uint8_t kind, uint32_t header, uint32_t *body)
{
    tli_flatbuf_table_begin(b);
    *body = tli_flatbuf_put(b, 3, 8, 0);
    tli_flatbuf_put_offset(b, 2, header);
    (void)tli_flatbuf_put(b, 0, 2, 4); /* V5 */
    (void)tli_flatbuf_put(b, 1, 1, kind);
    tli_flatbuf_finish(b, tli_flatbuf_table_end(b));
}

/* Appends a finished message: mark, length, and the FlatBuffer. */
TLI_FN tl_status tli_ipcwrite_meta(tl_buffer *out, const tli_flatbuf_builder *b, tl_error *err)
{
    uint8_t prefix[8];
    tl_status st;
    if (b->status == TL_LIMIT)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of 2 GiB or more", TL_NO_POSITION);
    if (b->status != TL_OK)
        return tli_mem_failed(&b->allocator, err);
    tli_bits_put_le32(prefix, UINT32_MAX);
    tli_bits_put_le32(prefix + 4, b->used);
    st = tli_mem_append(out, prefix, 8, err);
    return st == TL_OK ? tli_mem_append(out, b->data + b->capacity - b->used, b->used, err) : st;
}

/* The schema message of a layout. */
TLI_FN tl_status tli_ipcwrite_fields(tl_buffer *out, const struct ArrowSchema *schema, const tli_ipc_layout *l,
                                     tl_span key, tl_span value, tl_buffer *names, uint32_t *fields, tl_error *err)
{
    tli_flatbuf_builder b;
    uint32_t metadata = 0, body, list = 0;
    int32_t i;
    tl_status st = TL_OK;
    TLI_FILL(&b, 0, sizeof b);
    b.allocator = names->allocator;
    for (i = l->count - 1; i >= 0 && st == TL_OK; i--)
        if (i == 0 || l->nodes[i - 1].encoding < 0) /* the values of a dictionary are no field */
            st = tli_ipcwrite_field(&b, l, i, fields, names, err);
    names->size = 0;
    for (i = 0; i < l->count && st == TL_OK; i = l->nodes[i].end)
        st = tli_ipcwrite_note(names, fields[i], err);
    if (st == TL_OK)
        list = tli_ipcwrite_names(&b, names);
    if (st == TL_OK)
        st = tli_ipcwrite_pairs(&b, schema, key, value, names, &metadata, err);
    if (st == TL_OK) {
        tli_flatbuf_table_begin(&b);
        if (metadata != 0)
            tli_flatbuf_put_offset(&b, 2, metadata);
        tli_flatbuf_put_offset(&b, 1, list);
        (void)tli_flatbuf_put(&b, 0, 2, 0);
        tli_ipcwrite_message(&b, TLI_IPC_SCHEMA, tli_flatbuf_table_end(&b), &body);
        st = tli_ipcwrite_meta(out, &b, err);
    }
    tli_flatbuf_end(&b);
    return st;
}

/* Appends the schema message. `key` (absent: none) and its value go to the schema's metadata, in the place of a pair of
   that key. On failure `out` is as it was. */
TLI_FN tl_status tli_ipc_write_schema(tl_buffer *out, const struct ArrowSchema *schema, tl_span key, tl_span value,
                                      tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&out->allocator);
    size_t size = out->size;
    uint32_t nodes, *fields;
    tli_ipc_layout l;
    tl_buffer names;
    tl_error local;
    tl_status st = tli_ipcwrite_layout_new(&a, &l, schema, &nodes, err != NULL ? err : &local);
    if (st != TL_OK)
        return st;
    TLI_FILL(&names, 0, sizeof names);
    names.allocator = a;
    fields = (uint32_t *)tli_mem_new(&a, (size_t)nodes * sizeof *fields);
    if (fields == NULL)
        st = tli_mem_failed(&a, err);
    else
        st = tli_ipcwrite_fields(out, schema, &l, key, value, &names, fields, err);
    tl_buffer_free(&names);
    tli_mem_delete(&a, fields, (size_t)nodes * sizeof *fields);
    tli_ipcwrite_layout_end(&a, &l, nodes);
    if (st != TL_OK)
        out->size = size;
    return st;
}

/* ---- writing: batches ---- */

typedef struct tli_ipcwrite_writer {
    tl_buffer *out;
    tli_ipc_layout layout;
    uint32_t node_count;
    tli_ipcdict_slice *slices; /* by node */
    const tl_compression *compression;
    tl_buffer scratch;
    size_t body;        /* where it begins in out */
    size_t next_node;   /* where in out the next counts go */
    size_t next_buffer; /* and the next place of a buffer */
} tli_ipcwrite_writer;

/* A buffer's bytes behind their length, compressed where that makes them fewer. */
TLI_FN tl_status tli_ipcwrite_packed(tli_ipcwrite_writer *w, const void *data, size_t size, tl_error *err)
{
    const tl_compression *c = w->compression;
    size_t bound = c->bound(c->context, size), packed = 0;
    tl_status st = tli_mem_reserve(w->out, 8 + TLI_MAX(bound, size), err);
    uint8_t *to;
    if (st != TL_OK)
        return st;
    to = w->out->data + w->out->size;
    st = c->compress(c->context, to + 8, bound, &packed, data, size);
    if (st != TL_OK)
        return tli_err(err, st, "an Arrow buffer does not compress", TL_NO_POSITION);
    tli_bits_put_le64(to, size);
    if (packed >= size) {
        tli_bits_put_le64(to, UINT64_MAX);
        TLI_COPY(to + 8, data, size);
        packed = size;
    }
    w->out->size += 8 + packed;
    return TL_OK;
}

/* The next buffer of the record. */
TLI_FN tl_status tli_ipcwrite_bytes(tli_ipcwrite_writer *w, const void *data, uint64_t size, tl_error *err)
{
    size_t start = w->out->size, narrow;
    tl_status st;
    if (!tli_bits_size(size, &narrow))
        return tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
    if (narrow != 0 && w->compression != NULL)
        st = tli_ipcwrite_packed(w, data, narrow, err);
    else
        st = tli_mem_append(w->out, data, narrow, err);
    if (st != TL_OK)
        return st;
    tli_bits_put_le64(w->out->data + w->next_buffer, start - w->body);
    tli_bits_put_le64(w->out->data + w->next_buffer + 8, w->out->size - start);
    w->next_buffer += 16;
    return tli_mem_pad(w->out, w->body, 64, err);
}

/* `size` cleared bytes of scratch; NULL: err says why. */
TLI_FN uint8_t *tli_ipcwrite_scratch(tli_ipcwrite_writer *w, uint64_t size, tl_error *err)
{
    size_t narrow;
    w->scratch.size = 0;
    if (!tli_bits_size(size, &narrow)) {
        (void)tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
        return NULL;
    }
    if (tli_mem_reserve(&w->scratch, narrow + 1, err) != TL_OK)
        return NULL;
    TLI_FILL(w->scratch.data, 0, narrow + 1);
    return w->scratch.data;
}

/* Values that need no change, except for their order of bytes. */
TLI_FN tl_status tli_ipcwrite_values(tli_ipcwrite_writer *w, const void *data, uint64_t size, int unit, tl_error *err)
{
    uint8_t *turned;
    if (!TLI_BIG_ENDIAN || unit == TLI_IPCVALUE_BYTES || size == 0)
        return tli_ipcwrite_bytes(w, data, size, err);
    turned = tli_ipcwrite_scratch(w, size, err);
    if (turned == NULL)
        return err->status;
    TLI_COPY(turned, data, (size_t)size);
    tli_ipcvalue_turn_all(turned, size, unit, 1);
    return tli_ipcwrite_bytes(w, turned, size, err);
}

TLI_FN tl_status tli_ipcwrite_bits(tli_ipcwrite_writer *w, const tli_ipcdict_slice *s, int32_t j, tl_error *err)
{
    uint64_t size = ((uint64_t)s->length + 7) / 8;
    uint8_t *to = tli_ipcwrite_scratch(w, size, err);
    if (to == NULL)
        return err->status;
    if (s->length > 0)
        tli_ipcdict_put_bits(to, 0, s, j);
    return tli_ipcwrite_bytes(w, to, size, err);
}

TLI_FN tl_status tli_ipcwrite_offsets(tli_ipcwrite_writer *w, const tli_ipc_node *node, const tli_ipcdict_slice *s,
                                      tl_error *err)
{
    uint64_t width = TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4, size = ((uint64_t)s->length + 1) * width, first, bytes;
    uint8_t *to;
    tl_status st;
    bytes = tli_ipcdict_slice_bytes(node->id, s, &first);
    if (s->length > 0 && first == 0 && !TLI_BIG_ENDIAN) {
        st = tli_ipcwrite_bytes(w, (const uint8_t *)s->array->buffers[1] + (uint64_t)s->start * width, size, err);
    } else {
        to = tli_ipcwrite_scratch(w, size, err);
        if (to == NULL)
            return err->status;
        (void)tli_ipcdict_put_offsets(to, 0, node->id, s);
        if (TLI_BIG_ENDIAN)
            tli_ipcvalue_turn_all(to, size, (int)width, 1);
        st = tli_ipcwrite_bytes(w, to, size, err);
    }
    if (st != TL_OK || tli_ipc_buffers(node->id) != 3)
        return st;
    return tli_ipcwrite_bytes(w, bytes == 0 ? NULL : (const uint8_t *)s->array->buffers[2] + first, bytes, err);
}

/* Views, with those under a null cleared (nobody has checked them), and all buffers that they may point into. */
TLI_FN tl_status tli_ipcwrite_views(tli_ipcwrite_writer *w, const tli_ipcdict_slice *s, tl_error *err)
{
    uint64_t size = (uint64_t)s->length * 16, i;
    int64_t others = s->array->n_buffers - 3, k;
    uint8_t *to = tli_ipcwrite_scratch(w, size, err);
    tl_status st;
    if (to == NULL)
        return err->status;
    for (i = 0; i < (uint64_t)s->length; i++)
        if (s->nulls == 0 || tli_bits_get(s->array->buffers[0], (uint64_t)s->start + i))
            TLI_COPY(to + 16 * i, (const uint8_t *)s->array->buffers[1] + 16 * ((uint64_t)s->start + i), 16);
    if (TLI_BIG_ENDIAN)
        tli_ipcvalue_turn_all(to, size, TLI_IPCVALUE_VIEWS, 1);
    st = tli_ipcwrite_bytes(w, to, size, err);
    for (k = 0; k < others && st == TL_OK; k++)
        st = tli_ipcwrite_bytes(w, s->array->buffers[2 + k],
                                tli_bits_u64((const uint8_t *)s->array->buffers[2 + others] + 8 * k), err);
    return st;
}

/* The buffers of a node. */
TLI_FN tl_status tli_ipcwrite_node(tli_ipcwrite_writer *w, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &w->layout.nodes[i];
    const tli_ipcdict_slice *s = &w->slices[i];
    tl_status st;
    const uint8_t *values;
    tli_bits_put_le64(w->out->data + w->next_node, (uint64_t)s->length);
    tli_bits_put_le64(w->out->data + w->next_node + 8, (uint64_t)s->nulls);
    w->next_node += 16;
    if (node->id == TL_TYPE_NULL)
        return TL_OK;
    st = s->nulls == 0 ? tli_ipcwrite_bytes(w, NULL, 0, err) : tli_ipcwrite_bits(w, s, 0, err);
    if (st != TL_OK || tli_ipc_buffers(node->id) == 1)
        return st;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipcwrite_views(w, s, err);
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return tli_ipcwrite_offsets(w, node, s, err);
    if (node->id == TL_TYPE_BOOL)
        return tli_ipcwrite_bits(w, s, 1, err);
    values = (const uint8_t *)s->array->buffers[1];
    if (s->length == 0)
        return tli_ipcwrite_bytes(w, NULL, 0, err);
    return tli_ipcwrite_values(w, values + (uint64_t)s->start * (uint64_t)node->width,
                               (uint64_t)s->length * (uint64_t)node->width, tli_ipcvalue_unit(node, 1), err);
}

/* The metadata of a record, with the counts still empty: where they go is noted. Its size hangs on no value. */
TLI_FN tl_status tli_ipcwrite_header(tli_ipcwrite_writer *w, const tli_ipc_record *r, int64_t rows, int32_t encoding,
                                     size_t *body_length, tl_error *err)
{
    const tli_ipc_layout *l = &w->layout;
    tli_flatbuf_builder b;
    uint32_t nodes, buffers, variadic = 0, codec = 0, header, body, count = (uint32_t)r->buffers;
    int32_t i;
    tl_status st = TL_OK;
    w->scratch.size = 0;
    for (i = r->first; i < r->end && st == TL_OK; i = tli_ipc_step(l, i))
        if (TLI_IPC_VIEW_TYPE(l->nodes[i].id)) {
            uint8_t others[8];
            tli_bits_put_le64(others, (uint64_t)(w->slices[i].array->n_buffers - 3));
            count += (uint32_t)(w->slices[i].array->n_buffers - 3);
            st = tli_mem_append(&w->scratch, others, 8, err);
        }
    if (st != TL_OK)
        return st;
    TLI_FILL(&b, 0, sizeof b);
    b.allocator = w->scratch.allocator;
    if (r->views != 0)
        variadic = tli_flatbuf_put_list(&b, w->scratch.data, (uint32_t)r->views, 8, 8, 0);
    buffers = tli_flatbuf_put_list(&b, NULL, count, 16, 8, 0);
    nodes = tli_flatbuf_put_list(&b, NULL, (uint32_t)r->nodes, 16, 8, 0);
    if (w->compression != NULL) {
        tli_flatbuf_table_begin(&b);
        (void)tli_flatbuf_put(&b, 0, 1, 1); /* ZSTD */
        (void)tli_flatbuf_put(&b, 1, 1, 0);
        codec = tli_flatbuf_table_end(&b);
    }
    tli_flatbuf_table_begin(&b);
    (void)tli_flatbuf_put(&b, 0, 8, (uint64_t)rows);
    if (variadic != 0)
        tli_flatbuf_put_offset(&b, 4, variadic);
    if (codec != 0)
        tli_flatbuf_put_offset(&b, 3, codec);
    tli_flatbuf_put_offset(&b, 2, buffers);
    tli_flatbuf_put_offset(&b, 1, nodes);
    header = tli_flatbuf_table_end(&b);
    if (encoding >= 0) {
        tli_flatbuf_table_begin(&b);
        (void)tli_flatbuf_put(&b, 0, 8, (uint64_t)encoding);
        tli_flatbuf_put_offset(&b, 1, header);
        header = tli_flatbuf_table_end(&b);
    }
    tli_ipcwrite_message(&b, encoding >= 0 ? TLI_IPC_DICTIONARY : TLI_IPC_BATCH, header, &body);
    st = tli_ipcwrite_meta(w->out, &b, err);
    w->body = w->out->size;
    w->next_buffer = w->out->size - buffers + 4;
    w->next_node = w->out->size - nodes + 4;
    *body_length = w->out->size - body;
    tli_flatbuf_end(&b);
    return st;
}

/* One message. `encoding` -1: the batch. */
TLI_FN tl_status tli_ipcwrite_record(tli_ipcwrite_writer *w, const tli_ipc_record *r, int64_t rows, int32_t encoding,
                                     tl_error *err)
{
    size_t body_length = 0;
    int32_t i;
    tl_status st = tli_ipcwrite_header(w, r, rows, encoding, &body_length, err);
    for (i = r->first; i < r->end && st == TL_OK; i = tli_ipc_step(&w->layout, i))
        st = tli_ipcwrite_node(w, i, err);
    if (st == TL_OK)
        tli_bits_put_le64(w->out->data + body_length, w->out->size - w->body);
    return st;
}

/* The slices of all nodes, and then the messages: dictionaries before those that use them, and before the batch. */
TLI_FN tl_status tli_ipcwrite_records(tli_ipcwrite_writer *w, const struct ArrowArray *const *columns, int64_t rows,
                                      tl_error *err)
{
    const tli_ipc_layout *l = &w->layout;
    int32_t i, column = 0;
    tl_status st = TL_OK;
    for (i = 0; i < l->count; i++) {
        const tli_ipc_node *node = &l->nodes[i];
        if (node->parent < 0) {
            const struct ArrowArray *a = columns[column++];
            w->slices[i] = tli_ipcdict_slice_of(node, a, a->offset, rows);
        } else if (l->nodes[node->parent].encoding >= 0) {
            const struct ArrowArray *a = w->slices[node->parent].array->dictionary;
            w->slices[i] = tli_ipcdict_slice_of(node, a, a->offset, a->length);
        } else {
            w->slices[i] = tli_ipcdict_slice_child(&l->nodes[node->parent], &w->slices[node->parent], node);
        }
    }
    for (i = l->encoding_count - 1; i >= 0 && st == TL_OK; i--)
        st = tli_ipcwrite_record(w, &l->encodings[i], w->slices[l->encodings[i].first].length, i, err);
    return st == TL_OK ? tli_ipcwrite_record(w, &l->columns, rows, -1, err) : st;
}

/* Appends a batch of `rows` rows: an array per column of the schema, each at least that long (they were checked by
   tli_arrow_array_check), and before it the dictionaries they use. On failure `out` is as it was. */
TLI_FN tl_status tli_ipc_write_batch(tl_buffer *out, const struct ArrowSchema *schema,
                                     const struct ArrowArray *const *columns, int64_t rows,
                                     const tl_compression *compression, tl_error *err)
{
    size_t size = out->size;
    tl_allocator a = tli_mem_allocator(&out->allocator);
    tl_error local;
    tli_ipcwrite_writer w;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(&w, 0, sizeof w);
    st = tli_ipcwrite_layout_new(&a, &w.layout, schema, &w.node_count, err);
    if (st != TL_OK)
        return st;
    w.out = out;
    w.compression = compression != NULL && compression->compress != NULL ? compression : NULL;
    w.scratch.allocator = a;
    w.slices = (tli_ipcdict_slice *)tli_mem_new(&a, (size_t)w.node_count * sizeof *w.slices);
    if (w.slices == NULL)
        st = tli_mem_failed(&a, err);
    else
        st = tli_ipcwrite_records(&w, columns, rows, err);
    tl_buffer_free(&w.scratch);
    tli_mem_delete(&a, w.slices, (size_t)w.node_count * sizeof *w.slices);
    tli_ipcwrite_layout_end(&a, &w.layout, w.node_count);
    if (st != TL_OK)
        out->size = size;
    return st;
}

/* Appends the end mark. */
TLI_FN tl_status tli_ipc_write_end(tl_buffer *out, tl_error *err)
{
    static const uint8_t mark[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    return tli_mem_append(out, mark, 8, err);
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
