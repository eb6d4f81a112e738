/* >>footers: the inline footers of a version from those of the version before it.

   They lie in groups of some 64 KiB, which versions share with their encoded bytes; within a group those of the newest
   partitions come first. What is added goes into a group of its own, with those before it that are less than twice as
   large; a group of which a footer goes is made anew. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_FOOTERS_GROUP 65536u
#define TLI_FOOTERS_ROW 64u /* what a footer weighs besides its bytes */

/* Immutable, but for `encoded`, which publishing fills. */
typedef struct tli_footers_group {
    tli_store *store;
    struct tli_doc_batch batch; /* of section `footers` */
    tli_view_known *known;
    tl_file *files; /* of these: path and partition */
    size_t count;
    uint64_t bytes; /* of the footers */
    tl_span encoded; /* a message of an Arrow stream; absent: not encoded yet */
} tli_footers_group;

typedef struct tli_footers {
    tli_footers_group **groups;
    uint32_t count;
} tli_footers;

TLI_FN uint64_t tli_footers_weight(uint64_t bytes, size_t count)
{
    return bytes + (uint64_t)count * TLI_FOOTERS_ROW;
}

TLI_FN uint64_t tli_footers_bytes(const tli_footers *f)
{
    uint64_t sum = 0;
    uint32_t i;
    for (i = 0; i < f->count; i++)
        sum += f->groups[i]->bytes;
    return sum;
}

TLI_FN size_t tli_footers_count(const tli_footers *f)
{
    size_t sum = 0;
    uint32_t i;
    for (i = 0; i < f->count; i++)
        sum += f->groups[i]->count;
    return sum;
}

/* A group with copies of these footers, in the store. */
TLI_FN tl_status tli_footers_build(tli_store *store, const tli_view_known *known, const size_t *order, size_t count,
                                   tli_footers_group **out, tl_error *err)
{
    tli_footers_group *g = (tli_footers_group *)tli_mem_take_zero(store, sizeof *g, err);
    tl_footer *rows = (tl_footer *)tli_mem_take_array(store, count, sizeof *rows, err);
    tli_view_piece piece;
    tli_view_items in;
    size_t i;
    tl_status st;
    if (g == NULL || rows == NULL)
        return err->status;
    g->known = (tli_view_known *)tli_mem_take_array(store, count, sizeof *g->known, err);
    g->files = (tl_file *)tli_mem_take_array(store, count, sizeof *g->files, err);
    if (g->known == NULL || g->files == NULL)
        return err->status;
    for (i = 0; i < count; i++) {
        const tli_view_known *k = &known[order != NULL ? order[i] : i];
        g->files[i].path = k->file->path;
        g->files[i].has_partition = k->file->has_partition;
        g->files[i].partition = k->file->partition;
        g->bytes += k->footer.size;
        rows[i].path = k->file->path;
        rows[i].footer = k->footer;
    }
    in.items = rows;
    in.stride = sizeof *rows;
    in.count = count;
    in.order = NULL;
    st = tli_view_build(store, &tli_view_footers, &in, &piece, err);
    if (st != TL_OK)
        return st;
    for (i = 0; i < count; i++) { /* the copies, from here on */
        const struct ArrowArray *const *c = piece.columns;
        g->files[i].path.data = (const char *)c[TLI_VIEW_FOOTER_PATH]->buffers[2]
            + tli_bits_u32((const uint8_t *)c[TLI_VIEW_FOOTER_PATH]->buffers[1] + 4 * i);
        g->known[i].file = &g->files[i];
        g->known[i].footer.data = (const char *)c[TLI_VIEW_FOOTER_FOOTER]->buffers[2]
            + tli_bits_u32((const uint8_t *)c[TLI_VIEW_FOOTER_FOOTER]->buffers[1] + 4 * i);
        g->known[i].footer.size = rows[i].footer.size;
    }
    g->store = store;
    g->batch.rows = (int64_t)count;
    g->batch.columns = piece.columns;
    g->count = count;
    *out = g;
    return TL_OK;
}

/* How many of the footers, in this order, are of one group. */
TLI_FN size_t tli_footers_fit(const tli_view_known *known, const size_t *order, size_t count)
{
    uint64_t weight = 0;
    size_t i;
    for (i = 0; i < count && (i == 0 || weight < TLI_FOOTERS_GROUP); i++)
        weight += tli_footers_weight(known[order != NULL ? order[i] : i].footer.size, 1);
    return i;
}

/* ---- the next version's ---- */

typedef struct tli_footers_work {
    tli_store *scratch;
    const tli_footers *old;
    uint8_t *keep;         /* of each group */
    tli_view_known *loose; /* what goes into new groups */
    size_t count;
    uint64_t bytes; /* of these */
} tli_footers_work;

TLI_FN void tli_footers_loosen(tli_footers_work *w, const tli_view_known *known)
{
    w->loose[w->count++] = *known;
    w->bytes += known->footer.size;
}

/* Groups that lose one of their footers fall apart. `drop`: of each footer, group by group. */
TLI_FN void tli_footers_drop(tli_footers_work *w, const uint8_t *drop)
{
    uint32_t i;
    size_t k, at = 0;
    for (i = 0; i < w->old->count; at += w->old->groups[i++]->count) {
        const tli_footers_group *g = w->old->groups[i];
        int whole = 1;
        for (k = 0; k < g->count; k++)
            whole &= !drop[at + k];
        if (whole || !w->keep[i])
            continue;
        w->keep[i] = 0;
        for (k = 0; k < g->count; k++)
            if (!drop[at + k])
                tli_footers_loosen(w, &g->known[k]);
    }
}

/* Marks what does not fit: everything behind the first, by (partition, path) descending, that does not. */
TLI_FN tl_status tli_footers_mark(tli_store *scratch, const tli_view_known *known, size_t count, uint64_t budget,
                                  uint8_t *drop, tl_error *err)
{
    const size_t *order;
    size_t i;
    tl_status st = tli_view_order(scratch, count, known, tli_view_known_before, &order, err);
    for (i = 0; st == TL_OK && i < count; i++) {
        size_t at = order != NULL ? order[i] : i;
        if (known[at].footer.size > budget)
            break;
        budget -= known[at].footer.size;
    }
    for (; st == TL_OK && i < count; i++)
        drop[order != NULL ? order[i] : i] = 1;
    return st;
}

/* Keeps within the budget. */
TLI_FN tl_status tli_footers_limit(tli_footers_work *w, uint64_t budget, tl_error *err)
{
    size_t all = 0, i, k, loose = w->count, most = w->count + tli_footers_count(w->old);
    tli_view_known *known = (tli_view_known *)tli_mem_take_array(w->scratch, (uint64_t)most + 1, sizeof *known, err);
    uint8_t *drop = (uint8_t *)tli_mem_take_array(w->scratch, (uint64_t)most + 1, 1, err);
    uint8_t *of_groups = (uint8_t *)tli_mem_take_array(w->scratch, (uint64_t)most + 1, 1, err);
    size_t at = 0;
    tl_status st;
    if (known == NULL || drop == NULL || of_groups == NULL)
        return err->status;
    for (i = 0; i < loose; i++)
        known[all++] = w->loose[i];
    for (i = 0; i < w->old->count; i++)
        for (k = 0; w->keep[i] && k < w->old->groups[i]->count; k++)
            known[all++] = w->old->groups[i]->known[k];
    st = tli_footers_mark(w->scratch, known, all, budget, drop, err);
    if (st != TL_OK)
        return st;
    w->count = 0;
    w->bytes = 0;
    for (i = 0; i < loose; i++)
        if (!drop[i])
            tli_footers_loosen(w, &known[i]);
    for (i = 0, all = loose; i < w->old->count; at += w->old->groups[i++]->count)
        for (k = 0; w->keep[i] && k < w->old->groups[i]->count; k++)
            of_groups[at + k] = drop[all++];
    tli_footers_drop(w, of_groups);
    return TL_OK;
}

/* Small groups go into the new one. */
TLI_FN void tli_footers_merge(tli_footers_work *w)
{
    uint32_t i;
    size_t k;
    for (i = w->old->count; i-- > 0 && w->count != 0;) {
        const tli_footers_group *g = w->old->groups[i];
        uint64_t weight = tli_footers_weight(g->bytes, g->count);
        if (!w->keep[i])
            continue;
        if (weight >= TLI_FOOTERS_GROUP || weight >= 2 * tli_footers_weight(w->bytes, w->count))
            break;
        w->keep[i] = 0;
        for (k = 0; k < g->count; k++)
            tli_footers_loosen(w, &g->known[k]);
    }
}

/* Builds the new groups behind the kept ones. `own`: in this store, else each in one of its own, whose count is the
   caller's to drop, as those of the kept ones are. */
TLI_FN tl_status tli_footers_finish(tli_footers_work *w, tli_store *own, const tl_allocator *a, tli_footers *out,
                                    tl_error *err)
{
    const size_t *order;
    size_t at, n;
    uint32_t i;
    tl_status st = tli_view_order(w->scratch, w->count, w->loose, tli_view_known_before, &order, err);
    if (st != TL_OK)
        return st;
    for (i = 0; i < w->old->count; i++)
        if (w->keep[i]) {
            out->groups[out->count++] = w->old->groups[i];
            tli_mem_store_keep(w->old->groups[i]->store);
        }
    for (at = 0; at < w->count; at += n) {
        tli_store *store = own != NULL ? own : tli_mem_store_new(a, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
        const tli_view_known *from = order == NULL ? w->loose + at : w->loose;
        const size_t *places = order == NULL ? NULL : order + at;
        n = tli_footers_fit(from, places, w->count - at);
        st = store == NULL ? err->status : tli_footers_build(store, from, places, n, &out->groups[out->count], err);
        if (st != TL_OK) {
            if (own == NULL)
                tli_mem_store_drop(store);
            return st;
        }
        out->count++;
    }
    return TL_OK;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
