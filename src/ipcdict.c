/* >>ipcdict: columns of Arrow streams: slices, dictionaries with their deltas, and what all of it takes. */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* ---- slices, and joining them ---- */

/* A part of an array: `start` counts in its buffers, so that the array's own offset is in it. */
typedef struct tli_ipcdict_slice {
    const struct ArrowArray *array;
    int64_t start;
    int64_t length;
    int64_t nulls;
} tli_ipcdict_slice;

TLI_FN tli_ipcdict_slice tli_ipcdict_slice_of(const tli_ipc_node *node, const struct ArrowArray *a, int64_t start,
                                              int64_t length)
{
    tli_ipcdict_slice s;
    s.array = a;
    s.start = start;
    s.length = length;
    s.nulls = 0;
    if (node->id == TL_TYPE_NULL)
        s.nulls = length;
    else if (length > 0 && a->null_count != 0 && a->buffers[0] != NULL)
        s.nulls = length - (int64_t)tli_ipcvalue_ones((const uint8_t *)a->buffers[0], (uint64_t)start,
                                                      (uint64_t)length);
    return s;
}

/* The part of a child that belongs to a part of its parent. */
TLI_FN tli_ipcdict_slice tli_ipcdict_slice_child(const tli_ipc_node *above, const tli_ipcdict_slice *parent,
                                                 const tli_ipc_node *node)
{
    const struct ArrowArray *child = parent->array->children[node->place];
    int64_t start = parent->start, length = parent->length;
    if (above->id == TL_TYPE_FIXED_LIST) {
        start *= above->size;
        length *= above->size;
    } else if (TLI_IPC_LIST_TYPE(above->id) && length > 0) {
        const void *offsets = parent->array->buffers[1];
        int64_t end = tli_ipcvalue_offset(above->id, offsets, (uint64_t)(start + length));
        start = tli_ipcvalue_offset(above->id, offsets, (uint64_t)start);
        length = end - start;
    }
    return tli_ipcdict_slice_of(node, child, start + child->offset, length);
}

/* The bits of a slice's buffer `j` (all set where there is none) to bit `at` and on, in cleared memory. */
TLI_FN void tli_ipcdict_put_bits(uint8_t *to, uint64_t at, const tli_ipcdict_slice *s, int32_t j)
{
    const uint8_t *from = (const uint8_t *)s->array->buffers[j];
    uint64_t i = 0, n = (uint64_t)s->length, start = (uint64_t)s->start;
    for (; i < n && ((at + i) & 7) != 0; i++)
        if (from == NULL || tli_bits_get(from, start + i))
            tli_bits_set(to, at + i);
    for (; i + 8 <= n; i += 8) {
        uint32_t shift = (uint32_t)((start + i) & 7), v = 0xff;
        if (from != NULL) {
            const uint8_t *p = from + (start + i) / 8;
            v = (uint32_t)p[0] >> shift;
            if (shift != 0)
                v |= (uint32_t)p[1] << (8 - shift);
        }
        to[(at + i) / 8] = (uint8_t)v;
    }
    for (; i < n; i++)
        if (from == NULL || tli_bits_get(from, start + i))
            tli_bits_set(to, at + i);
}

/* The offsets of a slice, one more than it has elements, so that the first is `base`. Answers the last. */
TLI_FN int64_t tli_ipcdict_put_offsets(uint8_t *to, int64_t base, tl_type_id id, const tli_ipcdict_slice *s)
{
    const uint8_t *from = (const uint8_t *)s->array->buffers[1];
    uint64_t i, n = (uint64_t)s->length, start = (uint64_t)s->start, shift;
    if (n == 0) { /* the buffer may be empty */
        if (TLI_IPC_WIDE_OFFSETS(id))
            tli_bits_put64(to, (uint64_t)base);
        else
            tli_bits_put32(to, (uint32_t)base);
        return base;
    }
    shift = (uint64_t)(base - tli_ipcvalue_offset(id, from, start));
    if (TLI_IPC_WIDE_OFFSETS(id))
        for (i = 0; i <= n; i++)
            tli_bits_put64(to + 8 * i, tli_bits_u64(from + 8 * (start + i)) + shift);
    else
        for (i = 0; i <= n; i++)
            tli_bits_put32(to + 4 * i, tli_bits_u32(from + 4 * (start + i)) + (uint32_t)shift);
    return (int64_t)((uint64_t)tli_ipcvalue_offset(id, from, start + n) + shift);
}

/* The bytes that the texts of a slice take, from *first on. */
TLI_FN uint64_t tli_ipcdict_slice_bytes(tl_type_id id, const tli_ipcdict_slice *s, uint64_t *first)
{
    *first = 0;
    if (s->length == 0)
        return 0;
    *first = (uint64_t)tli_ipcvalue_offset(id, s->array->buffers[1], (uint64_t)s->start);
    return (uint64_t)tli_ipcvalue_offset(id, s->array->buffers[1], (uint64_t)(s->start + s->length)) - *first;
}

/* Several arrays of one record become one. */
typedef struct tli_ipcdict_join {
    tli_ipc_stream *stream;
    const tli_ipc_record *record;
    tli_ipcdict_slice *slices; /* of part p and node i: [p * record->nodes + ordinal] */
    int32_t parts;
    int64_t length;             /* of the node at hand */
    struct ArrowArray **arrays; /* the result, by ordinal */
    uint64_t position;
} tli_ipcdict_join;

TLI_INLINE const tli_ipcdict_slice *tli_ipcdict_part(const tli_ipcdict_join *j, const tli_ipc_node *node, int32_t part)
{
    return &j->slices[(size_t)part * (size_t)j->record->nodes + (size_t)node->ordinal];
}

TLI_FN uint8_t *tli_ipcdict_join_take(const tli_ipcdict_join *j, struct ArrowArray *a, int32_t buffer, uint64_t count,
                                      uint64_t size, tl_error *err)
{
    uint64_t bytes;
    uint8_t *p = NULL;
    if (tli_bits_mul(count, size, &bytes))
        p = (uint8_t *)tli_mem_take_array(j->stream->store, bytes, 1, err);
    else
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    a->buffers[buffer] = p;
    return p;
}

TLI_FN tl_status tli_ipcdict_join_bits(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                       int32_t buffer, tl_error *err)
{
    uint8_t *to = tli_ipcdict_join_take(j, a, buffer, ((uint64_t)j->length + 7) / 8, 1, err);
    uint64_t at = 0;
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        if (s->length > 0)
            tli_ipcdict_put_bits(to, at, s, buffer);
        at += (uint64_t)s->length;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_fixed(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                        tl_error *err)
{
    size_t width = (size_t)node->width;
    uint8_t *to = tli_ipcdict_join_take(j, a, 1, (uint64_t)j->length, width, err);
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        if (s->length > 0 && width > 0)
            TLI_COPY(to, (const uint8_t *)s->array->buffers[1] + (size_t)s->start * width, (size_t)s->length * width);
        to += (size_t)s->length * width;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_offsets(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                          tl_error *err)
{
    size_t width = TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4;
    uint8_t *to = tli_ipcdict_join_take(j, a, 1, (uint64_t)j->length + 1, width, err);
    int64_t base = 0;
    uint64_t first;
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        uint64_t bytes = tli_ipcdict_slice_bytes(node->id, s, &first);
        if ((uint64_t)base + bytes > (width == 8 ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX))
            return tli_err(err, TL_UNSUPPORTED, "the deltas of an Arrow dictionary outgrow its offsets", j->position);
        base = tli_ipcdict_put_offsets(to, base, node->id, s);
        to += (size_t)s->length * width;
    }
    if (tli_ipc_buffers(node->id) != 3)
        return TL_OK;
    to = tli_ipcdict_join_take(j, a, 2, (uint64_t)base, 1, err);
    for (p = 0; to != NULL && p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        uint64_t bytes = tli_ipcdict_slice_bytes(node->id, s, &first);
        if (bytes != 0)
            TLI_COPY(to, (const uint8_t *)s->array->buffers[2] + first, (size_t)bytes);
        to += bytes;
    }
    return a->buffers[2] == NULL ? err->status : TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_views(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                        tl_error *err)
{
    uint8_t *to = tli_ipcdict_join_take(j, a, 1, (uint64_t)j->length, 16, err), *sizes = NULL;
    uint32_t before = 0;
    int32_t p;
    if (to != NULL)
        sizes = tli_ipcdict_join_take(j, a, (int32_t)(a->n_buffers - 1), (uint64_t)a->n_buffers, 8, err);
    if (sizes == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        uint32_t others = (uint32_t)(s->array->n_buffers - 3), k;
        for (k = 0; k < (uint64_t)s->length; k++, to += 16) {
            TLI_COPY(to, (const uint8_t *)s->array->buffers[1] + 16 * ((size_t)s->start + k), 16);
            if (tli_bits_u32(to) > 12)
                tli_bits_put32(to + 8, tli_bits_u32(to + 8) + before);
        }
        for (k = 0; k < others; k++)
            a->buffers[2 + before + k] = s->array->buffers[2 + k];
        if (others != 0)
            TLI_COPY(sizes + 8 * (size_t)before, s->array->buffers[2 + others], 8 * (size_t)others);
        before += others;
    }
    return TL_OK;
}

/* The parts of node i, from those of its parent; their lengths are added up. */
TLI_FN tl_status tli_ipcdict_join_parts(tli_ipcdict_join *j, int32_t i, int64_t *nulls, int64_t *others, tl_error *err)
{
    const tli_ipc_layout *l = &j->stream->layout;
    const tli_ipc_node *node = &l->nodes[i];
    int32_t p;
    j->length = *nulls = *others = 0;
    for (p = 0; p < j->parts; p++) {
        tli_ipcdict_slice *s = &j->slices[(size_t)p * (size_t)j->record->nodes + (size_t)node->ordinal];
        if (i != j->record->first)
            *s = tli_ipcdict_slice_child(&l->nodes[node->parent], tli_ipcdict_part(j, &l->nodes[node->parent], p),
                                         node);
        j->length += s->length;
        *nulls += s->nulls;
        *others += s->array->n_buffers;
        if ((uint64_t)j->length > j->stream->limits.rows)
            return tli_err_need(err, TL_LIMIT, "limits.rows", j->position, (uint64_t)j->length);
        if (node->encoding >= 0
            && s->array->dictionary->buffers != tli_ipcdict_part(j, node, 0)->array->dictionary->buffers)
            return tli_err(err, TL_UNSUPPORTED, "deltas of an Arrow dictionary around a change of a dictionary in it",
                           j->position);
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_node(tli_ipcdict_join *j, int32_t i, tl_error *err)
{
    const tli_ipc_layout *l = &j->stream->layout;
    const tli_ipc_node *node = &l->nodes[i];
    int64_t nulls, others, buffers = tli_ipc_buffers(node->id);
    struct ArrowArray *a;
    tl_status st = tli_ipcdict_join_parts(j, i, &nulls, &others, err);
    if (st != TL_OK)
        return st;
    if (TLI_IPC_VIEW_TYPE(node->id))
        buffers = others - 3 * (int64_t)j->parts + 3;
    a = tli_arrow_array_new(j->stream->store, buffers, node->schema->n_children, err);
    if (a == NULL)
        return err->status;
    a->length = j->length;
    a->null_count = nulls;
    if (i != j->record->first)
        j->arrays[l->nodes[node->parent].ordinal]->children[node->place] = a;
    j->arrays[node->ordinal] = a;
    if (nulls != 0 && node->id != TL_TYPE_NULL)
        st = tli_ipcdict_join_bits(j, node, a, 0, err);
    if (st != TL_OK || buffers < 2)
        return st;
    if (node->encoding >= 0)
        a->dictionary = tli_ipcdict_part(j, node, j->parts - 1)->array->dictionary;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipcdict_join_views(j, node, a, err);
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return tli_ipcdict_join_offsets(j, node, a, err);
    return node->id == TL_TYPE_BOOL ? tli_ipcdict_join_bits(j, node, a, 1, err) : tli_ipcdict_join_fixed(j, node, a,
                                                                                                         err);
}

/* ---- dictionaries ---- */

/* The first `length` values of `all`, which are the last but shorter. */
TLI_FN struct ArrowArray *tli_ipcdict_prefix(tli_store *store, const struct ArrowArray *all, int64_t length,
                                             int64_t nulls, tl_error *err)
{
    struct ArrowArray *a = (struct ArrowArray *)tli_mem_take(store, sizeof *a, err);
    if (a == NULL)
        return NULL;
    *a = *all;
    a->length = length;
    a->null_count = nulls;
    return a;
}

/* A dictionary and its deltas: one array of all, of which each state is the beginning. */
TLI_FN tl_status tli_ipcdict_decode_deltas(tli_ipc_stream *s, const tli_ipc_want *w, tl_error *err)
{
    const tli_ipc_record *record = &s->layout.encodings[s->dictionaries[w->dictionary].encoding];
    tli_ipcdict_join j;
    int32_t i, p;
    int64_t length = 0, nulls = 0;
    tl_status st = TL_OK;
    TLI_FILL(&j, 0, sizeof j);
    j.stream = s;
    j.record = record;
    j.parts = w->last - w->base + 1;
    j.arrays = s->arrays;
    j.position = s->messages[s->states[w->base]].position;
    j.slices = (tli_ipcdict_slice *)tli_mem_take_array(s->store, (uint64_t)j.parts * (uint64_t)record->nodes,
                                                       sizeof *j.slices, err);
    if (j.slices == NULL)
        return err->status;
    for (p = 0; p < j.parts && st == TL_OK; p++) {
        tli_ipcvalue_job job;
        job.stream = s;
        job.message = &s->messages[s->states[w->base + p]];
        job.first = record->first;
        job.end = record->end;
        job.rows = job.message->rows;
        job.arrays = s->arrays;
        st = tli_ipcvalue_run(&job, err);
        if (st == TL_OK)
            j.slices[(size_t)p * (size_t)record->nodes] =
                tli_ipcdict_slice_of(&s->layout.nodes[record->first], s->arrays[0], 0, job.rows);
    }
    for (i = record->first; i < record->end && st == TL_OK; i = tli_ipc_step(&s->layout, i))
        st = tli_ipcdict_join_node(&j, i, err);
    for (p = 0; p < j.parts && st == TL_OK; p++) {
        struct ArrowArray **values = &s->messages[s->states[w->base + p]].values;
        length += j.slices[(size_t)p * (size_t)record->nodes].length;
        nulls += j.slices[(size_t)p * (size_t)record->nodes].nulls;
        *values = tli_ipcdict_prefix(s->store, s->arrays[0], length, nulls, err);
        if (*values == NULL)
            return err->status;
    }
    return st;
}

/* The values of a dictionary whose own dictionaries are there. */
TLI_FN tl_status tli_ipcdict_decode_values(tli_ipc_stream *s, const tli_ipc_want *w, tl_error *err)
{
    tli_ipc_dictionary *d = &s->dictionaries[w->dictionary];
    tli_ipcvalue_job job;
    tl_status st;
    if (w->base != w->last)
        return tli_ipcdict_decode_deltas(s, w, err);
    job.stream = s;
    job.message = w->base < 0 ? NULL : &s->messages[s->states[w->base]];
    job.first = w->first;
    job.end = w->end;
    job.rows = job.message != NULL ? job.message->rows : 0;
    job.arrays = s->arrays;
    st = tli_ipcvalue_run(&job, err);
    if (st == TL_OK && w->base < 0)
        d->absent = s->arrays[0];
    else if (st == TL_OK)
        s->messages[s->states[w->base]].values = s->arrays[0];
    return st;
}

/* The next dictionary below `w` that is not decoded yet; 0: all are. */
TLI_FN int tli_ipcdict_missing(const tli_ipc_stream *s, tli_ipc_want *w, tli_ipc_want *below)
{
    const tli_ipc_layout *l = &s->layout;
    for (;; w->state++, w->node = w->first) {
        if (w->state >= 0)
            w->message = &s->messages[s->states[w->state]];
        for (; w->node < w->end; w->node = tli_ipc_step(l, w->node)) {
            int32_t e = l->nodes[w->node].encoding, state;
            if (e < 0 || *tli_ipcvalue_values(s, e, state = tli_ipcvalue_state(s, e, w->message)) != NULL)
                continue;
            below->dictionary = s->encodings[e];
            below->first = below->node = l->encodings[s->dictionaries[below->dictionary].encoding].first;
            below->end = l->encodings[s->dictionaries[below->dictionary].encoding].end;
            below->base = below->state = below->last = state < 0 ? -1 : s->messages[s->states[state]].base;
            below->message = NULL;
            while (state >= 0 && below->last + 1 < s->dictionaries[below->dictionary].end
                   && s->messages[s->states[below->last + 1]].base == below->base)
                below->last++;
            return 1;
        }
        if (w->state >= w->last)
            return 0;
    }
}

/* Decodes the dictionaries that a column of a batch uses, and those that they use, the innermost first. */
TLI_FN tl_status tli_ipcdict_bring(tli_ipc_stream *s, int32_t column, const tli_ipc_message *m, tl_error *err)
{
    tli_ipc_want *w = s->wants;
    uint32_t top = 0;
    if (s->dictionary_count == 0)
        return TL_OK;
    w->first = w->node = column;
    w->end = s->layout.nodes[column].end;
    w->dictionary = w->base = w->state = w->last = -1;
    w->message = m;
    for (;;) {
        tl_status st;
        if (tli_ipcdict_missing(s, &w[top], &w[top + 1])) {
            top++;
            continue;
        }
        if (top == 0)
            return TL_OK;
        st = tli_ipcdict_decode_values(s, &w[top--], err);
        if (st != TL_OK)
            return st;
    }
}

/* Decodes and checks one column of one batch. What it takes stays with the store, even when it fails. */
TLI_FN tl_status tli_ipc_column(tli_ipc_stream *s, int32_t batch, int32_t column, const struct ArrowArray **out,
                                tl_error *err)
{
    tl_error local;
    tli_ipcvalue_job job;
    tl_status st;
    err = err != NULL ? err : &local;
    if (batch < 0 || batch >= s->batch_count || column < 0 || column >= s->schema->n_children)
        return tli_err(err, TL_MISUSE, "no such batch or column", TL_NO_POSITION);
    job.stream = s;
    job.message = &s->messages[s->batches[batch].message];
    job.first = s->columns[column];
    job.end = s->layout.nodes[job.first].end;
    job.rows = s->batches[batch].rows;
    job.arrays = s->arrays;
    st = tli_ipcdict_bring(s, job.first, job.message, err);
    if (st == TL_OK)
        st = tli_ipcvalue_run(&job, err);
    if (st == TL_OK)
        *out = s->arrays[0];
    return st;
}

/* ---- how much memory ---- */

/* What a message takes at most when all of it is decoded; small pieces are rounded up to what their chunks waste. */
TLI_FN uint64_t tli_ipcdict_message_memory(const tli_ipc_stream *s, const tli_ipc_message *m,
                                           const tli_ipc_record *record, uint64_t *once)
{
    uint64_t total = 0;
    uint32_t n = (uint32_t)record->buffers + (m->variadic != NULL ? m->variadic[record->views] : 0), i;
    for (i = 0; i < n; i++) {
        tli_ipcvalue_buffer b;
        uint64_t size = 0;
        if (tli_ipcvalue_buffer_of(s, m, i, &b, NULL) == TL_OK && (b.packed || TLI_BIG_ENDIAN))
            size = b.size;
        if (size != 0 && b.packed && m->codec == TLI_IPC_ZSTD && s->compression.decompress == NULL)
            *once = (uint64_t)2 * TLI_MEM_CHUNK + TLI_ZSTD_WORK;
        total += 32 + sizeof(void *) + size + (size < 1024 ? size / 4 : 0);
    }
    total += (uint64_t)record->nodes * (sizeof(struct ArrowArray) + sizeof(void *) * 2 + 64) * 5 / 4;
    total += (uint64_t)record->views * 64 + (m->variadic != NULL ? (uint64_t)m->variadic[record->views] * 10 : 0);
    return total;
}

/* The most memory that opening every column of every batch takes, once the stream is open. *once is raised to what a
   store needs once for all its streams: started chunks, and work memory of the decoder. */
TLI_FN uint64_t tli_ipc_memory(const tli_ipc_stream *s, uint64_t *once)
{
    uint64_t total = 0;
    int32_t i;
    if (s->message_count != 0)
        *once = TLI_MAX(*once, (uint64_t)2 * TLI_MEM_CHUNK);
    for (i = 0; i < s->message_count; i++) {
        const tli_ipc_message *m = &s->messages[i];
        const tli_ipc_record *record = &s->layout.columns;
        uint64_t need;
        if (m->dictionary >= 0)
            record = &s->layout.encodings[s->dictionaries[m->dictionary].encoding];
        need = tli_ipcdict_message_memory(s, m, record, once);
        if (m->dictionary >= 0) /* joined with its deltas */
            need = need * 2 + m->body_size + (uint64_t)record->nodes * sizeof(tli_ipcdict_slice) * 2;
        if (!tli_bits_add(total, need, &total))
            return UINT64_MAX;
    }
    for (i = 0; i < s->dictionary_count; i++) /* without values */
        total += (uint64_t)s->layout.encodings[s->dictionaries[i].encoding].nodes * 512;
    return total;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */
