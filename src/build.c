/* >>build: arrays of exactly the size of what goes in, made in two passes: count, allocate, fill.

   A builder has a node per node of the schema, parents first, so that node + 1 is a node's first child and
   node + node->span its next sibling (a dictionary comes after the children). The first pass calls tli_build_count...
   for every value of every node, the second one tli_build_... with the same values in the same order. */
typedef struct tli_build_node {
    const struct ArrowSchema *schema;
    tl_type type;
    tli_arrow_layout layout;
    uint32_t span;        /* nodes of the subtree, this one included */
    uint32_t up;          /* the parent is node - up; 0: the root */
    int is_dictionary;    /* of its parent */
    uint64_t least;       /* bytes of a value count in `bytes` when more than this: views keep 12 inside */
    uint64_t length;      /* counted in the first pass */
    uint64_t nulls;
    uint64_t bytes;
    uint64_t fillers;     /* of length: values below a null parent, there to keep places */
    uint64_t at;          /* filled in the second */
    uint64_t bytes_at;
    uint64_t times;       /* scratch */
    uint8_t *validity;    /* all ones at first; NULL when no null was counted */
    uint8_t *values;      /* bits, values, offsets or views; all zeros at first */
    uint8_t *data;        /* bytes of variable-size values, and at least 16 to spare */
    struct ArrowArray *array;
} tli_build_node;

typedef struct tli_build_tree {
    tli_store *store;
    tli_build_node *nodes; /* the root first */
    uint32_t count;
} tli_build_tree;

/* Finds span and up from the depths, which were left in `times`. */
TLI_FN void tli_build_link(tli_build_node *nodes, uint32_t n)
{
    uint32_t i = n;
    while (i-- > 0) {
        uint32_t j = i + 1;
        while (j < n && nodes[j].times > nodes[i].times) {
            if (nodes[j].times == nodes[i].times + 1)
                nodes[j].up = j - i;
            j += nodes[j].span;
        }
        nodes[i].span = j - i;
    }
}

/* A builder for a schema, in the store. Checks the schema. */
TLI_FN tl_status tli_build_begin(tli_store *store, const struct ArrowSchema *schema, const tl_limits *limits,
                                 tli_build_tree **builder, tl_error *err)
{
    tli_arrow_walk w;
    tli_build_tree *b;
    uint32_t n = 0, nodes = 0;
    tl_status st = tli_arrow_schema_check(schema, limits, &nodes, err);
    if (st != TL_OK)
        return st;
    b = (tli_build_tree *)tli_mem_take_zero(store, sizeof *b, err);
    if (b == NULL)
        return tli_arrow_failed(err);
    b->store = store;
    b->count = nodes;
    b->nodes = (tli_build_node *)tli_mem_take_array(store, nodes, sizeof *b->nodes, err);
    if (b->nodes == NULL)
        return tli_arrow_failed(err);
    tli_arrow_walk_begin(&w, schema, NULL);
    while (n < nodes && tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        tli_build_node *node = &b->nodes[n++];
        node->schema = w.schema;
        node->times = w.depth;
        node->is_dictionary = w.parent != NULL && w.parent->dictionary == w.schema;
        (void)tl_type_of(w.schema, &node->type, NULL);
        node->layout = tli_arrow_layout_of(node->type.id);
        node->least = node->layout == TLI_ARROW_VIEWS ? 12 : 0;
    }
    tli_build_link(b->nodes, nodes);
    *builder = b;
    return TL_OK;
}

/* ---- the first pass ---- */

/* A value of fixed size, a list, a struct: counts only itself. */
TLI_INLINE void tli_build_count(tli_build_node *node)
{
    node->length++;
}

TLI_INLINE void tli_build_count_bytes(tli_build_node *node, size_t size)
{
    node->length++;
    node->bytes += size > node->least ? size : 0;
}

#define TLI_BUILD_MANY ((uint64_t)1 << 56)

/* How many places a node takes below a null, from those of its parent; none in lists and dictionaries. */
TLI_FN uint64_t tli_build_times(const tli_build_node *node)
{
    const tli_build_node *parent = node - node->up;
    uint64_t times;
    if (node->is_dictionary)
        return 0;
    if (parent->layout == TLI_ARROW_STRUCT)
        return parent->times;
    if (parent->layout != TLI_ARROW_FIXED_LIST)
        return 0;
    return tli_bits_mul(parent->times, (uint64_t)parent->type.size, &times) && times < TLI_BUILD_MANY ? times
        : TLI_BUILD_MANY;
}

TLI_FN void tli_build_count_below(tli_build_node *node)
{
    uint32_t i;
    node->times = 1;
    for (i = 1; i < node->span;) {
        tli_build_node *n = node + i;
        n->times = tli_build_times(n);
        if (n->times == 0) {
            i += n->span;
            continue;
        }
        n->fillers = TLI_MIN(n->fillers + n->times, TLI_BUILD_MANY);
        n->length = TLI_MIN(n->length + n->times, TLI_BUILD_MANY);
        n->nulls = TLI_MIN(n->nulls + n->times, TLI_BUILD_MANY);
        i++;
    }
}

/* A null; below a struct or fixed-size list it takes places in the children too. */
TLI_INLINE void tli_build_count_null(tli_build_node *node)
{
    node->length++;
    node->nulls++;
    if (node->layout >= TLI_ARROW_FIXED_LIST)
        tli_build_count_below(node);
}

/* ---- memory ---- */

/* What a row may cost by fillers alone: so that a few nulls of a huge fixed-size list take nothing. */
#define TLI_BUILD_FILLERS 4096u

TLI_FN tl_status tli_build_check(const tli_build_tree *b, tl_error *err)
{
    uint32_t i;
    for (i = 0; i < b->count; i++) {
        const tli_build_node *n = &b->nodes[i], *parent = n - n->up;
        uint64_t most = n->layout == TLI_ARROW_BYTES || n->layout == TLI_ARROW_VIEWS ? n->bytes : 0;
        if (n->layout == TLI_ARROW_LIST)
            most = n[1].length;
        if (most > INT32_MAX)
            return tli_err(err, TL_UNSUPPORTED, "more than 2 GiB or values in a column of 32-bit offsets",
                           TL_NO_POSITION);
        if (n->fillers / TLI_BUILD_FILLERS > b->nodes[0].length + 256)
            return tli_err(err, TL_LIMIT, "nulls of a fixed-size list take too much", TL_NO_POSITION);
        if (n->up != 0 && !n->is_dictionary && (parent->layout == TLI_ARROW_STRUCT
                                                || parent->layout == TLI_ARROW_FIXED_LIST)
            && n->length != parent->length * (parent->layout == TLI_ARROW_STRUCT ? 1 : (uint64_t)parent->type.size))
            return tli_err(err, TL_CORRUPT, "a value has too few or too many parts", TL_NO_POSITION);
    }
    return TL_OK;
}

TLI_FN tl_status tli_build_allocate_node(tli_store *store, tli_build_node *n, tl_error *err)
{
    uint64_t bits = (n->length + 7) / 8, count = n->length;
    size_t width = (size_t)tli_arrow_offset_width(n->layout);
    if (n->nulls > 0 && n->layout != TLI_ARROW_NULL) {
        n->validity = (uint8_t *)tli_mem_take_array(store, bits, 1, err);
        if (n->validity == NULL)
            return tli_arrow_failed(err);
        TLI_FILL(n->validity, 0xff, (size_t)bits);
        if (n->length % 8 != 0)
            n->validity[bits - 1] = (uint8_t)((1u << (n->length % 8)) - 1);
    }
    if (n->layout == TLI_ARROW_NULL || n->layout == TLI_ARROW_STRUCT || n->layout == TLI_ARROW_FIXED_LIST)
        return TL_OK;
    if (n->layout == TLI_ARROW_BITS)
        width = 1, count = bits;
    else if (n->layout == TLI_ARROW_FIXED)
        width = (size_t)n->type.width;
    else if (n->layout == TLI_ARROW_VIEWS)
        width = 16;
    else
        count++;
    n->values = (uint8_t *)tli_mem_take_array(store, count, width, err);
    if (n->values == NULL)
        return tli_arrow_failed(err);
    if (n->layout == TLI_ARROW_BYTES || n->layout == TLI_ARROW_LARGE_BYTES || n->layout == TLI_ARROW_VIEWS) {
        size_t bytes;
        if (!tli_bits_size(n->bytes, &bytes))
            return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        n->data = (uint8_t *)tli_mem_take(store, bytes + 16, err);
        if (n->data == NULL)
            return tli_arrow_failed(err);
        TLI_FILL(n->data + bytes, 0, 16);
    }
    return TL_OK;
}

/* Between the passes: all memory at its exact size. */
TLI_FN tl_status tli_build_allocate(tli_build_tree *b, tl_error *err)
{
    uint32_t i;
    tl_status st = tli_build_check(b, err);
    for (i = 0; st == TL_OK && i < b->count; i++)
        st = tli_build_allocate_node(b->store, &b->nodes[i], err);
    return st;
}

/* ---- the second pass ---- */

TLI_INLINE void tli_build_bool(tli_build_node *node, int value)
{
    TLI_ASSERT(node->at < node->length);
    if (value)
        tli_bits_set(node->values, node->at);
    node->at++;
}

TLI_INLINE void tli_build_8(tli_build_node *node, uint8_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 1);
    node->values[node->at++] = value;
}

TLI_INLINE void tli_build_16(tli_build_node *node, uint16_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 2);
    tli_bits_put16(node->values + 2 * (size_t)node->at++, value);
}

TLI_INLINE void tli_build_32(tli_build_node *node, uint32_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 4);
    tli_bits_put32(node->values + 4 * (size_t)node->at++, value);
}

TLI_INLINE void tli_build_64(tli_build_node *node, uint64_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 8);
    tli_bits_put64(node->values + 8 * (size_t)node->at++, value);
}

/* An integer, date, time, ... of 1 to 8 bytes, cut to the width of the type. */
TLI_INLINE void tli_build_integer(tli_build_node *node, int64_t value)
{
    if (node->type.width == 8)
        tli_build_64(node, (uint64_t)value);
    else if (node->type.width == 4)
        tli_build_32(node, (uint32_t)value);
    else if (node->type.width == 2)
        tli_build_16(node, (uint16_t)value);
    else
        tli_build_8(node, (uint8_t)value);
}

/* type.width bytes, as they are. */
TLI_INLINE void tli_build_fixed(tli_build_node *node, const void *value)
{
    size_t width = (size_t)node->type.width;
    TLI_ASSERT(node->at < node->length && node->layout == TLI_ARROW_FIXED);
    if (width != 0)
        TLI_COPY(node->values + node->at * width, value, width);
    node->at++;
}

/* Where the bytes of the next text or binary value go, or of a fixed-size one; then tli_build_done says how many. */
TLI_INLINE uint8_t *tli_build_room(tli_build_node *node)
{
    return node->layout == TLI_ARROW_FIXED ? node->values + node->at * (size_t)node->type.width
        : node->data + node->bytes_at;
}

TLI_INLINE void tli_build_done(tli_build_node *node, size_t size)
{
    TLI_ASSERT(node->at < node->length && (node->layout == TLI_ARROW_FIXED || size <= node->least
                                           || size <= node->bytes - node->bytes_at));
    if (node->layout == TLI_ARROW_BYTES) {
        node->bytes_at += size;
        tli_bits_put32(node->values + 4 * (size_t)node->at + 4, (uint32_t)node->bytes_at);
    } else if (node->layout == TLI_ARROW_LARGE_BYTES) {
        node->bytes_at += size;
        tli_bits_put64(node->values + 8 * (size_t)node->at + 8, node->bytes_at);
    } else if (node->layout == TLI_ARROW_VIEWS) {
        uint8_t *view = node->values + 16 * (size_t)node->at;
        tli_bits_put32(view, (uint32_t)size);
        TLI_COPY(view + 4, node->data + node->bytes_at, size <= 12 ? size : 4u);
        if (size > 12) {
            tli_bits_put32(view + 12, (uint32_t)node->bytes_at);
            node->bytes_at += size;
        }
    }
    node->at++;
}

TLI_INLINE void tli_build_bytes(tli_build_node *node, const void *data, size_t size)
{
    if (size != 0)
        TLI_COPY(tli_build_room(node), data, size);
    tli_build_done(node, size);
}

/* The end of a list, map, fixed-size list or struct, whose parts were put before. */
TLI_INLINE void tli_build_end(tli_build_node *node)
{
    TLI_ASSERT(node->at < node->length);
    if (node->layout == TLI_ARROW_LIST)
        tli_bits_put32(node->values + 4 * (size_t)node->at + 4, (uint32_t)node[1].at);
    else if (node->layout == TLI_ARROW_LARGE_LIST)
        tli_bits_put64(node->values + 8 * (size_t)node->at + 8, node[1].at);
    node->at++;
}

/* `times` nulls in one node alone. */
TLI_FN void tli_build_nulls(tli_build_node *n, uint64_t times)
{
    int width = tli_arrow_offset_width(n->layout);
    uint64_t end = n->layout == TLI_ARROW_LIST || n->layout == TLI_ARROW_LARGE_LIST ? n[1].at : n->bytes_at;
    TLI_ASSERT(times <= n->length - n->at);
    for (; times > 0; times--) {
        if (n->validity != NULL)
            n->validity[n->at >> 3] = (uint8_t)(n->validity[n->at >> 3] & ~(1u << (n->at & 7)));
        n->at++;
        if (width == 4)
            tli_bits_put32(n->values + 4 * (size_t)n->at, (uint32_t)end);
        else if (width == 8)
            tli_bits_put64(n->values + 8 * (size_t)n->at, end);
    }
}

TLI_FN void tli_build_null(tli_build_node *node)
{
    uint32_t i;
    tli_build_nulls(node, 1);
    if (node->layout < TLI_ARROW_FIXED_LIST)
        return;
    node->times = 1;
    for (i = 1; i < node->span;) {
        tli_build_node *n = node + i;
        n->times = tli_build_times(n);
        tli_build_nulls(n, n->times);
        i += n->times == 0 ? n->span : 1;
    }
}

TLI_FN tl_status tli_build_finish_node(tli_store *store, tli_build_node *n, tl_error *err)
{
    int64_t buffers = tli_arrow_layout_buffers(n->layout) + (n->layout == TLI_ARROW_VIEWS && n->bytes > 0);
    struct ArrowArray *a = tli_arrow_array_new(store, buffers, n->schema->n_children, err);
    if (a == NULL)
        return tli_arrow_failed(err);
    a->length = (int64_t)n->length;
    a->null_count = n->layout == TLI_ARROW_NULL ? a->length : (int64_t)n->nulls;
    if (buffers > 0)
        a->buffers[0] = n->validity;
    if (buffers > 1)
        a->buffers[1] = n->values;
    if (n->layout == TLI_ARROW_VIEWS) {
        uint8_t *sizes = (uint8_t *)tli_mem_take(store, 8, err);
        if (sizes == NULL)
            return tli_arrow_failed(err);
        tli_bits_put64(sizes, n->bytes);
        if (n->bytes > 0)
            a->buffers[2] = n->data;
        a->buffers[buffers - 1] = sizes;
    } else if (buffers > 2) {
        a->buffers[2] = n->data;
    }
    n->array = a;
    n->times = 0; /* children linked so far */
    return TL_OK;
}

/* The array of the whole schema, in the store. */
TLI_FN tl_status tli_build_finish(tli_build_tree *b, struct ArrowArray **array, tl_error *err)
{
    uint32_t i;
    for (i = 0; i < b->count; i++) {
        tli_build_node *n = &b->nodes[i], *parent = n - n->up;
        tl_status st;
        if (n->at != n->length || (n->data != NULL && n->bytes_at != n->bytes))
            return tli_err(err, TL_MISUSE, "a builder was filled with other values than counted", TL_NO_POSITION);
        st = tli_build_finish_node(b->store, n, err);
        if (st != TL_OK)
            return st;
        if (n->is_dictionary)
            parent->array->dictionary = n->array;
        else if (n->up != 0)
            parent->array->children[parent->times++] = n->array;
    }
    *array = b->nodes[0].array;
    return TL_OK;
}
