/* >>jsonrows: the way through the rows of the `json` codec, dictionaries, opening a section. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- the walk ---- */

TLI_FN int tli_jsonrows_null(tli_jsonread_walk *w, uint32_t at, const uint8_t *where)
{
    if (!w->nodes[at].nullable)
        return tli_json_fail(&w->j, "head: a null in a column that is not nullable", where);
    if (w->mode == TLI_JSONREAD_COUNT)
        tli_build_count_null(&w->build[at]);
    else if (w->mode == TLI_JSONREAD_FILL)
        tli_build_null(&w->build[at]);
    return 1;
}

/* The end of a list, map or struct. */
TLI_INLINE uint32_t tli_jsonrows_end(tli_jsonread_walk *w, uint32_t at)
{
    if (w->mode == TLI_JSONREAD_COUNT)
        tli_build_count(&w->build[at]);
    else if (w->mode == TLI_JSONREAD_FILL)
        tli_build_end(&w->build[at]);
    return TLI_JSONTYPE_DONE;
}

#define TLI_JSONROWS_AHEAD 40u /* bytes of a value that the short way may look at, whatever they are */

/* Is this the key at p, with its colon? At least TLI_JSONROWS_AHEAD bytes follow it then. */
TLI_INLINE int tli_jsonrows_match(const tli_jsontype_node *n, const uint8_t *p, const uint8_t *end)
{
    if ((size_t)(end - p) < (size_t)n->key_size + TLI_JSONROWS_AHEAD || n->key_mask == 0
        || (tli_bits_le64(p) & n->key_mask) != n->key_head)
        return 0;
    return n->key_size <= 8 || (tli_bits_le64(p + n->key_size - 8) == n->key_tail
                                && (n->key_size <= 16
                                    || TLI_COMPARE(p + 8, n->name.data + 7, n->key_size - 16) == 0));
}

/* Takes members as all writers put them, without white space and in the order of the object before; up to one that
   the long way has to look at. Answers the last one taken, the cursor is behind it. */
TLI_INLINE uint32_t tli_jsonrows_quick(tli_jsonread_walk *w, uint32_t at, uint32_t from, int mode)
{
    uint64_t object = w->nodes[at].objects;
    const uint8_t *p = w->j.p, *end = w->j.end;
    uint32_t taken = 0;
    for (;;) {
        uint32_t child = w->nodes[from].follow;
        tli_jsontype_node *n;
        if (child == TLI_JSONTYPE_NONE)
            break;
        n = &w->nodes[child];
        if (from != at) {
            if (p >= end || *p != ',')
                break;
            p++;
        }
        if (!tli_jsonrows_match(n, p, end) || n->mark == object)
            break;
        p = tli_jsonread_quick(n, &w->build[child], p + n->key_size, end, mode);
        if (p == NULL)
            break;
        n->mark = object;
        taken++;
        w->j.p = p;
        from = child;
    }
    w->nodes[at].seen += taken;
    return from;
}

/* Takes any key: the child of that name, NONE, or FAIL. */
TLI_FN uint32_t tli_jsonrows_lookup(tli_jsonread_walk *w, uint32_t at)
{
    const uint32_t *sorted = w->source->tree.sorted + w->nodes[at].sorted;
    uint32_t low = 0, high = w->nodes[at].count;
    tl_span key;
    int escaped;
    if (w->j.p >= w->j.end || *w->j.p != '"')
        return tli_jsonread_stop(w, "json: a key is expected", w->j.p);
    if (!tli_json_text(&w->j, &key, &escaped))
        return TLI_JSONTYPE_FAIL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        tl_span name = w->nodes[sorted[middle]].name;
        int order = escaped ? tli_json_compare(key, name) : tl_span_compare(key, name);
        if (order == 0)
            return sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TLI_JSONTYPE_NONE;
}

/* Of an object whose keys repeat the last ones count: notes where they are. The cursor, behind the brace, stays. */
TLI_FN int tli_jsonrows_last_keys(tli_jsonread_walk *w, uint32_t at)
{
    const uint8_t *start = w->j.p;
    for (;;) {
        const uint8_t *key;
        uint32_t child;
        tli_json_space(&w->j);
        key = w->j.p;
        if (key < w->j.end && *key == '}')
            break;
        child = tli_jsonrows_lookup(w, at);
        if (child == TLI_JSONTYPE_FAIL || !tli_json_take(&w->j, ':', "json: a colon is expected")
            || !tli_json_skip(&w->j, w->source->depth))
            return 0;
        if (child != TLI_JSONTYPE_NONE)
            w->nodes[child].last = (uint64_t)(key - w->j.begin);
        tli_json_space(&w->j);
        if (w->j.p < w->j.end && *w->j.p == ',')
            w->j.p++;
        else if (w->j.p >= w->j.end || *w->j.p != '}')
            return tli_json_fail(&w->j, "json: a comma or } is expected", w->j.p);
    }
    w->j.p = start;
    return 1;
}

/* The end of an object: children that it did not have are null. */
TLI_INLINE uint32_t tli_jsonrows_close(tli_jsonread_walk *w, uint32_t at)
{
    tli_jsontype_node *n = &w->nodes[at];
    uint32_t i, child = at + 1;
    if (TLI_UNLIKELY(n->seen != n->count))
        for (i = 0; i < n->count; i++) {
            if (w->nodes[child].mark != n->objects && !tli_jsonrows_null(w, child, w->j.p))
                return TLI_JSONTYPE_FAIL;
            child += w->build[child].span;
        }
    w->j.p++;
    return tli_jsonrows_end(w, at);
}

/* The value behind the key of `child`, when it can be taken at once: DONE; else the child; or FAIL. */
TLI_INLINE uint32_t tli_jsonrows_member(tli_jsonread_walk *w, uint32_t at, uint32_t child, const uint8_t *key)
{
    tli_jsontype_node *n;
    if (child == TLI_JSONTYPE_NONE)
        return tli_json_skip(&w->j, w->source->depth) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    n = &w->nodes[child];
    if (TLI_UNLIKELY(w->source->repeated)) {
        if (n->last != (uint64_t)(key - w->j.begin))
            return tli_json_skip(&w->j, w->source->depth) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    } else if (TLI_UNLIKELY(n->mark == w->nodes[at].objects)) {
        return tli_jsonread_stop(w, "head: a repeated key", key); /* the pass is made again, and heeds them */
    }
    n->mark = w->nodes[at].objects;
    w->nodes[at].seen++;
    if (TLI_UNLIKELY(w->j.p >= w->j.end))
        return tli_jsonread_stop(w, "", w->j.p);
    if (*w->j.p == 'n')
        return tli_json_literal(&w->j, "null") && tli_jsonrows_null(w, child, w->j.p - 4) ? TLI_JSONTYPE_DONE
                                                                                          : TLI_JSONTYPE_FAIL;
    if (w->build[child].layout >= TLI_ARROW_LIST)
        return child;
    return tli_jsonread_scalar(w, child) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* Goes on in an object: takes members up to one whose value has to be entered, which is answered, or to the end.
   `from`: the member that was taken last, or the struct itself: its brace was. */
TLI_FN uint32_t tli_jsonrows_members(tli_jsonread_walk *w, uint32_t at, uint32_t from)
{
    for (;;) {
        const uint8_t *key;
        uint32_t child, next;
        int first;
        if (from != TLI_JSONTYPE_NONE && !w->source->repeated && w->mode != TLI_JSONREAD_COLLECT)
            from = w->mode == TLI_JSONREAD_COUNT ? tli_jsonrows_quick(w, at, from, TLI_JSONREAD_COUNT)
                : tli_jsonrows_quick(w, at, from, TLI_JSONREAD_FILL);
        first = from == at;
        if (!first && TLI_LIKELY(w->j.p < w->j.end && *w->j.p == ',')) {
            w->j.p++;
        } else {
            tli_json_space(&w->j);
            if (w->j.p < w->j.end && *w->j.p == '}')
                return tli_jsonrows_close(w, at);
            if (!first && !tli_json_take(&w->j, ',', "json: a comma or } is expected"))
                return TLI_JSONTYPE_FAIL;
        }
        if (TLI_UNLIKELY(w->j.p >= w->j.end || *w->j.p != '"'))
            tli_json_space(&w->j);
        key = w->j.p;
        child = from == TLI_JSONTYPE_NONE ? TLI_JSONTYPE_NONE : w->nodes[from].follow;
        if (child != TLI_JSONTYPE_NONE && tli_jsonrows_match(&w->nodes[child], key, w->j.end)) {
            w->j.p += w->nodes[child].key_size;
        } else {
            child = tli_jsonrows_lookup(w, at);
            if (child == TLI_JSONTYPE_FAIL || !tli_json_take(&w->j, ':', "json: a colon is expected"))
                return TLI_JSONTYPE_FAIL;
            if (child != TLI_JSONTYPE_NONE && from != TLI_JSONTYPE_NONE)
                w->nodes[from].follow = child;
        }
        if (TLI_UNLIKELY(w->j.p < w->j.end && *w->j.p <= 0x20))
            tli_json_space(&w->j);
        next = tli_jsonrows_member(w, at, child, key);
        if (next != TLI_JSONTYPE_DONE)
            return next;
        from = child;
    }
}

/* A value at the cursor: takes it (DONE), or enters it and answers the node whose value is next; or FAIL. */
TLI_FN uint32_t tli_jsonrows_begin(tli_jsonread_walk *w, uint32_t at)
{
    tli_jsontype_node *n = &w->nodes[at];
    const uint8_t *p;
    tli_json_space(&w->j);
    p = w->j.p;
    if (p >= w->j.end)
        return tli_jsonread_stop(w, "", p);
    if (*p == 'n')
        return tli_json_literal(&w->j, "null") && tli_jsonrows_null(w, at, p) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (w->build[at].layout < TLI_ARROW_LIST)
        return tli_jsonread_scalar(w, at) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        if (w->nodes[at - 1].pairs) {
            w->j.p += *p == '[';
            return *p == '[' ? at + 1 : tli_jsonread_stop(w, "head: a pair is expected", p);
        }
        if (*p != '"')
            return tli_jsonread_stop(w, "json: a key is expected", p);
        if (w->build[at + 1].layout >= TLI_ARROW_LIST)
            return tli_jsonread_bad(w, p) ? 0 : TLI_JSONTYPE_FAIL;
        return tli_jsonread_scalar(w, at + 1) && tli_json_take(&w->j, ':', "json: a colon is expected")
            ? at + 1 + w->build[at + 1].span : TLI_JSONTYPE_FAIL;
    }
    n->pairs = *p == '[';
    n->seen = 0;
    if (*p != (n->act == TL_TYPE_STRUCT ? '{' : '[') && (n->act != TL_TYPE_MAP || *p != '{'))
        return tli_jsonread_bad(w, p) ? 0 : TLI_JSONTYPE_FAIL;
    w->j.p++;
    if (n->act == TL_TYPE_STRUCT) {
        n->objects++; /* no child has this mark yet: marks are not used twice, whatever the pass */
        if (n->twins)
            return tli_jsonread_stop(w, "head: rows of a struct with two fields of one name", p);
        if (w->source->repeated && !tli_jsonrows_last_keys(w, at))
            return TLI_JSONTYPE_FAIL;
        return tli_jsonrows_members(w, at, at);
    }
    tli_json_space(&w->j);
    if (w->j.p >= w->j.end || *w->j.p != (n->pairs ? ']' : '}'))
        return at + 1;
    if (n->act == TL_TYPE_FIXED_LIST && w->build[at].type.size != 0)
        return tli_jsonread_stop(w, "head: too few elements", p);
    w->j.p++;
    return tli_jsonrows_end(w, at);
}

/* Goes on in a list, map or struct after its part `child` was taken. */
TLI_FN uint32_t tli_jsonrows_resume(tli_jsonread_walk *w, uint32_t at, uint32_t child)
{
    tli_jsontype_node *n = &w->nodes[at];
    int close = n->act == TL_TYPE_MAP && !n->pairs ? '}' : ']';
    if (n->act == TL_TYPE_STRUCT)
        return tli_jsonrows_members(w, at, child);
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        uint32_t value = at + 1 + w->build[at + 1].span;
        if (child != value)
            return tli_json_take(&w->j, ',', "head: a pair is expected") ? value : TLI_JSONTYPE_FAIL;
        if (w->nodes[at - 1].pairs && !tli_json_take(&w->j, ']', "head: a pair is expected"))
            return TLI_JSONTYPE_FAIL;
        return tli_jsonrows_end(w, at);
    }
    tli_json_space(&w->j);
    if (n->act == TL_TYPE_FIXED_LIST && ++n->seen > (uint32_t)w->build[at].type.size)
        return tli_jsonread_stop(w, "head: too many elements", w->j.p);
    if (w->j.p < w->j.end && *w->j.p == ',') {
        w->j.p++;
        return child;
    }
    if (w->j.p >= w->j.end || *w->j.p != close)
        return tli_jsonread_stop(w, close == ']' ? "json: a comma or ] is expected" : "json: a comma or } is expected",
                                 w->j.p);
    if (n->act == TL_TYPE_FIXED_LIST && n->seen != (uint32_t)w->build[at].type.size)
        return tli_jsonread_stop(w, "head: too few elements", w->j.p);
    w->j.p++;
    return tli_jsonrows_end(w, at);
}

/* One value of node `root`, with all below it. */
TLI_FN int tli_jsonrows_value(tli_jsonread_walk *w, uint32_t root)
{
    uint32_t at = root;
    for (;;) {
        uint32_t next = tli_jsonrows_begin(w, at);
        while (next == TLI_JSONTYPE_DONE) {
            uint32_t child = at;
            if (at == root)
                return 1;
            at -= w->build[at].up;
            next = tli_jsonrows_resume(w, at, child);
        }
        if (next == TLI_JSONTYPE_FAIL)
            return 0;
        at = next;
    }
}

/* The array of rows at the cursor; how many they are. */
TLI_FN int tli_jsonrows_rows(tli_jsonread_walk *w, uint64_t most, uint64_t *rows)
{
    *rows = 0;
    if (!tli_json_take(&w->j, '[', "head: the rows of a section have to be an array"))
        return 0;
    tli_json_space(&w->j);
    if (w->j.p < w->j.end && *w->j.p == ']') {
        w->j.p++;
        return 1;
    }
    for (;;) {
        if (++*rows > most)
            return tli_json_refuse(&w->j, TL_LIMIT, "limits.rows", w->j.p);
        if (!tli_jsonrows_value(w, 0))
            return 0;
        tli_json_space(&w->j);
        if (w->j.p < w->j.end && *w->j.p == ']') {
            w->j.p++;
            return 1;
        }
        if (!tli_json_take(&w->j, ',', "json: a comma or ] is expected"))
            return 0;
    }
}

/* ---- dictionaries ---- */

TLI_FN tl_status tli_jsonrows_words_new(const tl_allocator *a, tli_jsontype_node *n, uint64_t count, tl_error *err)
{
    tli_jsontype_words *words;
    size_t size, each = sizeof(tl_span) + 2 * sizeof(uint32_t);
    uint64_t bytes;
    if (count >= UINT32_MAX || !tli_bits_mul(count, each, &bytes) || !tli_bits_add(bytes, sizeof *words, &bytes)
        || !tli_bits_size(bytes, &size))
        return tli_err_need(err, TL_LIMIT, "head: too many values of a dictionary", TL_NO_POSITION, count);
    words = (tli_jsontype_words *)tli_mem_new(a, size);
    if (words == NULL)
        return tli_mem_failed(a, err);
    TLI_FILL(words, 0, sizeof *words);
    words->size = size;
    words->count = (uint32_t)count;
    words->texts = (tl_span *)(void *)(words + 1);
    words->index = (uint32_t *)(void *)(words->texts + count);
    words->first = words->index + count;
    n->words = words;
    return TL_OK;
}

/* Numbers the distinct texts in the order they appear. */
TLI_FN tl_status tli_jsonrows_words_sort(tli_jsontype_words *words, const tl_type *type, uint64_t position,
                                         tl_error *err)
{
    uint32_t i, start = 0, n = words->count;
    uint64_t most = UINT64_MAX >> (64 - 8 * (uint32_t)type->width);
    for (i = 0; i < n; i++)
        words->first[i] = i;
    tli_jsontype_sort(words->first, n, words->texts);
    for (i = 0; i < n; i++) { /* equal texts are neighbours, the earliest of them first */
        if (!tl_span_equal(words->texts[words->first[i]], words->texts[words->first[start]]))
            start = i;
        words->index[words->first[i]] = words->first[start];
    }
    for (i = 0; i < n; i++) {
        uint32_t same = words->index[i];
        words->index[i] = same == i ? words->distinct++ : words->index[same];
        if (same == i)
            words->first[words->distinct - 1] = i;
    }
    words->at = 0;
    if (type->id < TL_TYPE_UINT8)
        most >>= 1;
    if (words->distinct != 0 && words->distinct - 1 > most)
        return tli_err(err, TL_CORRUPT, "head: more values than the indices of a dictionary can tell apart", position);
    return TL_OK;
}

TLI_FN void tli_jsonrows_words_free(tli_jsonread_source *s)
{
    uint32_t i;
    for (i = 0; i < s->tree.build->count; i++) {
        tli_jsontype_words *words = s->tree.nodes[i].words;
        if (words != NULL)
            tli_mem_delete(&s->store->allocator, words, words->size);
        s->tree.nodes[i].words = NULL;
    }
}

/* ---- opening ---- */

TLI_FN tli_jsonread_walk tli_jsonrows_walk_of(tli_jsonread_source *s, int mode, tl_error *err)
{
    tli_jsonread_walk w;
    TLI_FILL(&w, 0, sizeof w);
    w.j = tli_json_open(s->body, s->size, s->position, err);
    w.j.p += s->rows;
    w.source = s;
    w.nodes = s->tree.nodes;
    w.build = s->tree.build->nodes;
    w.mode = mode;
    return w;
}

/* All values of a root: of the rows (0), or the distinct values of a dictionary. */
TLI_FN tl_status tli_jsonrows_pass(tli_jsonread_walk *w, uint32_t root)
{
    tli_jsontype_words *words;
    uint64_t rows;
    uint32_t i;
    if (root == 0) {
        w->j.p = w->j.begin + w->source->rows;
        return tli_jsonrows_rows(w, UINT64_MAX, &rows) ? TL_OK : w->j.status;
    }
    words = w->nodes[root - w->build[root].up].words;
    for (i = 0; i < words->distinct; i++) {
        w->j.p = (const uint8_t *)words->texts[words->first[i]].data;
        if (!tli_jsonrows_value(w, root))
            return w->j.status;
    }
    return TL_OK;
}

/* The node whose values a node's values are part of: the rows, or those of a dictionary. */
TLI_FN uint32_t tli_jsonrows_root(const tli_jsonread_walk *w, uint32_t at)
{
    do
        at -= w->build[at].up;
    while (at != 0 && !w->build[at].is_dictionary);
    return at;
}

/* Forgets what was counted: of everything, or of the values of dictionaries alone. */
TLI_FN void tli_jsonrows_recount(tli_jsonread_walk *w, int all)
{
    uint32_t i;
    for (i = 1; i < w->source->tree.build->count; i++) {
        tli_build_node *b = &w->build[i];
        if (all || b->is_dictionary || tli_jsonrows_root(w, i) != 0)
            b->length = b->nulls = b->bytes = b->fillers = 0;
    }
    if (all)
        w->build[0].length = 0;
}

/* Collects the values of dictionary columns, outer ones first, and counts what the distinct ones take. */
TLI_FN tl_status tli_jsonrows_collect(tli_jsonread_walk *w, tl_error *err)
{
    uint32_t root, i, n = w->source->tree.build->count;
    for (root = 0; root < n; root++) {
        tl_status st = TL_OK;
        uint32_t found = 0;
        if (root != 0 && !w->build[root].is_dictionary)
            continue;
        if (root != 0) {
            w->mode = TLI_JSONREAD_COUNT;
            st = tli_jsonrows_pass(w, root);
        }
        for (i = root + 1; i < n && st == TL_OK; i++)
            if (w->nodes[i].act == TLI_JSONTYPE_DICTIONARY && tli_jsonrows_root(w, i) == root) {
                st = tli_jsonrows_words_new(&w->source->store->allocator, &w->nodes[i],
                                            w->build[i].length - w->build[i].nulls, err);
                found++;
            }
        w->mode = TLI_JSONREAD_COLLECT;
        if (st == TL_OK && found != 0)
            st = tli_jsonrows_pass(w, root);
        for (i = root + 1; i < n && st == TL_OK && found != 0; i++)
            if (w->nodes[i].act == TLI_JSONTYPE_DICTIONARY && tli_jsonrows_root(w, i) == root)
                st = tli_jsonrows_words_sort(w->nodes[i].words, &w->build[i].type, w->j.position + w->source->rows,
                                             err);
        if (st != TL_OK)
            return st;
    }
    return TL_OK;
}

/* Nulls and missing members of fixed-size columns take bytes that the text does not have: no more of them than this. */
#define TLI_JSONROWS_EXPANSION 1024u

TLI_FN tl_status tli_jsonrows_bounded(const tli_jsonread_source *s, tl_error *err)
{
    uint64_t most = ((uint64_t)16 << 20) + (uint64_t)s->rows_size * TLI_JSONROWS_EXPANSION, sum = 0;
    uint32_t i;
    for (i = 0; i < s->tree.build->count; i++) {
        const tli_build_node *b = &s->tree.build->nodes[i];
        uint64_t bytes;
        if (!tli_bits_mul(b->length, (uint64_t)(uint32_t)b->type.width, &bytes) || !tli_bits_add(sum, bytes, &sum)
            || sum > most)
            return tli_err_need(err, TL_LIMIT, "head: nulls of fixed-size columns take too much",
                                s->position + s->rows, sum);
    }
    return TL_OK;
}

TLI_FN tl_status tli_jsonrows_fill_all(tli_jsonread_source *s, struct ArrowArray **array, tl_error *err)
{
    tli_jsonread_walk w = tli_jsonrows_walk_of(s, TLI_JSONREAD_COLLECT, err);
    uint32_t root;
    tl_status st = TL_OK;
    if (s->tree.dictionaries != 0) {
        st = tli_jsonrows_collect(&w, err);
        if (st == TL_CORRUPT && !s->repeated) { /* as in the first pass over the rows */
            s->repeated = 1;
            tli_jsonrows_words_free(s);
            tli_jsonrows_recount(&w, 0);
            w.j.status = TL_OK;
            st = tli_jsonrows_collect(&w, err);
        }
    }
    if (st == TL_OK)
        st = tli_jsonrows_bounded(s, err);
    if (st == TL_OK)
        st = tli_build_allocate(s->tree.build, err);
    if (st != TL_OK)
        return st;
    if (s->scratch != 0) {
        w.scratch = (char *)tli_mem_new(&s->store->allocator, s->scratch);
        if (w.scratch == NULL)
            return tli_mem_failed(&s->store->allocator, err);
    }
    w.mode = TLI_JSONREAD_FILL;
    for (root = 0; root < s->tree.build->count && st == TL_OK; root++)
        if (root == 0 || w.build[root].is_dictionary)
            st = tli_jsonrows_pass(&w, root);
    tli_mem_delete(&s->store->allocator, w.scratch, s->scratch);
    return st == TL_OK ? tli_build_finish(s->tree.build, array, err) : st;
}

/* Opens all columns at once. */
TLI_FN tl_status tli_jsonrows_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                   tl_error *err)
{
    tli_jsonread_source *s = (tli_jsonread_source *)(void *)self;
    struct ArrowArray *array = NULL;
    int64_t i;
    tl_status st;
    (void)column;
    if (s->failed.status == TL_OK) {
        st = tli_jsonrows_fill_all(s, &array, &s->failed);
        tli_jsonrows_words_free(s);
        s->failed.status = st;
    }
    if (s->failed.status != TL_OK) {
        *err = s->failed;
        return err->status;
    }
    for (i = 0; i < array->n_children; i++)
        section->batches[batch].columns[i] = array->children[i];
    return TL_OK;
}

#endif /* TIMELAKE_NO_HEAD_JSON */
