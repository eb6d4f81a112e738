/* >>commitplan: from a base version and a change to the objects of the next version. Pure: what has to be read is told
   (the manifest list, manifests), what has to be written comes out: manifests, their list, the metadata, and the
   version itself, ready to be used once the metadata is in. Whatever can fail fails before anything is uploaded. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_COMMITPLAN_MANIFESTS 8u /* past so many they are merged */
#define TLI_COMMITPLAN_BATCH "timelake.batch-id"
#define TLI_COMMITPLAN_INDEX "timelake.last-value-index"

/* An object to be uploaded. */
typedef struct tli_commitplan_object {
    tl_span key; /* absent: this attempt needs none */
    tl_buffer bytes;
} tli_commitplan_object;

enum {
    TLI_COMMITPLAN_ADDED, TLI_COMMITPLAN_MERGED, TLI_COMMITPLAN_DELETED, TLI_COMMITPLAN_LIST,
    TLI_COMMITPLAN_LAST_VALUES, TLI_COMMITPLAN_OBJECTS
};

/* Paths, found by their hash. */
typedef struct tli_commitplan_set {
    const tl_span *paths;
    size_t *slots;  /* index of a path plus 1 */
    uint64_t seed;  /* nobody can choose paths that collide */
    uint8_t *found; /* 1: in the base, 2: in a manifest that is written anew */
    size_t mask, count, left; /* `left` are not found yet */
} tli_commitplan_set;

typedef struct tli_commitplan {
    const tl_change *change;
    tl_table *base; /* NULL: create */
    tl_span location;
    tl_limits limits;
    tl_allocator allocator;
    tli_rand *random;
    int64_t now;
    tli_store *store;             /* of this attempt: keys, small arrays */
    const tli_iceberg_list *list; /* the base's manifests; NULL: none, or not read */
    uint32_t *picked;             /* manifests that are to be read: rewritten, or merged */
    size_t *ends;                 /* entries read up to the end of each */
    uint8_t *rewritten;           /* of the list's manifests */
    uint32_t picked_count, read_count;
    tli_iceberg_files files;      /* entries of those that were read */
    tli_commitplan_set removed;
    uint8_t *gone;                /* of each live file: it is removed; NULL: none is */
    uint64_t removed_files, removed_records, removed_size;
    int64_t highest;              /* data sequence number among the removed */
    uint8_t duplicate;            /* the batch id is in already: nothing to do */
    uint64_t version;             /* of what is planned */
    int64_t snapshot_id, sequence_number, timestamp;
    tli_commitplan_object objects[TLI_COMMITPLAN_OBJECTS];
    tl_buffer metadata;
    tl_index_codec codec;         /* of index files */
    const tl_rows *index_rows;    /* the base's, when they were read from its index file */
    tli_indexplan index;
    tl_table *table;              /* the new version */
    tl_error *err;
} tli_commitplan;

TLI_FN void tli_commitplan_end(tli_commitplan *p)
{
    size_t i;
    for (i = 0; i < TLI_COMMITPLAN_OBJECTS; i++)
        tl_buffer_free(&p->objects[i].bytes);
    tl_buffer_free(&p->metadata);
    tli_indexplan_end(&p->index);
    tl_table_drop(p->table);
    if (p->files.store != NULL)
        tli_iceberg_end(&p->files);
    tli_mem_store_drop(p->store);
    TLI_FILL(p, 0, sizeof *p);
}

TLI_FN tl_status tli_commitplan_refuse(tli_commitplan *p, tl_status status, const char *text)
{
    return tli_err(p->err, status, text, TL_NO_POSITION);
}

/* ---- what may be changed, and how ---- */

/* Refused before anything is uploaded: what this library cannot write. */
TLI_FN tl_status tli_commitplan_may_write(tli_commitplan *p)
{
    const tl_metadata *m = &p->base->metadata;
    tl_status st = tl_contract_may_write(&m->contract, p->err);
    if (st != TL_OK)
        return st;
    if (m->format_version != 2)
        return tli_commitplan_refuse(p, TL_UNSUPPORTED, "only tables of Iceberg format 2 are written");
    if (m->partitioned && m->transform != TL_TRANSFORM_HOUR && m->transform != TL_TRANSFORM_DAY
        && m->transform != TL_TRANSFORM_MONTH)
        return tli_commitplan_refuse(p, TL_UNSUPPORTED, "a partition spec that is neither hour, day nor month");
    if (m->has_snapshot && m->manifest_list.data == NULL)
        return tli_commitplan_refuse(p, TL_UNSUPPORTED, "a snapshot without a manifest list");
    if (p->change->kind != TL_CHANGE_PROPERTIES && !p->base->has_files)
        return tli_commitplan_refuse(p, TL_MISUSE, "the base was loaded without its files");
    return TL_OK;
}

/* Is the entry's name one that the commit itself writes into a summary? */
TLI_FN int tli_commitplan_reserved(tl_span key)
{
    static const char *const starts[] = {"operation", "added-", "deleted-", "removed-", "total-", TLI_COMMITPLAN_BATCH,
                                         TLI_COMMITPLAN_INDEX};
    size_t i;
    for (i = 0; i < TLI_COUNT(starts); i++) {
        tl_span s = tl_text(starts[i]);
        if (key.size >= s.size && TLI_COMPARE(key.data, s.data, s.size) == 0)
            return 1;
    }
    return 0;
}

/* Properties that files and index go by: as in Timelake, a table has them from its creation on. */
TLI_FN int tli_commitplan_fixed(tl_span key)
{
    static const char *const names[] = {"timelake.time-column", "timelake.series-key", "timelake.chunk-interval",
                                        "timelake.dedup", "timelake.ingest-time-column"};
    size_t i;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tli_text_is(key, names[i]))
            return 1;
    return 0;
}

TLI_FN int tli_commitplan_is_text(tl_span s)
{
    return s.data != NULL && tli_text_utf8(s.data, s.size) == s.size;
}

TLI_FN tl_status tli_commitplan_check_properties(tli_commitplan *p)
{
    const tl_change *c = p->change;
    int of_table = c->kind == TL_CHANGE_PROPERTIES || c->kind == TL_CHANGE_CREATE;
    size_t i;
    for (i = 0; i < c->property_count; i++) {
        const tl_property *e = &c->properties[i];
        int unset = e->value.data == NULL && c->kind == TL_CHANGE_PROPERTIES;
        if (!tli_commitplan_is_text(e->key) || (!unset && !tli_commitplan_is_text(e->value)))
            return tli_commitplan_refuse(p, TL_MISUSE, "a property that is no text");
        if (c->kind == TL_CHANGE_PROPERTIES && tli_commitplan_fixed(e->key))
            return tli_commitplan_refuse(p, TL_MISUSE, "a property that is fixed when the table is created");
        if (!of_table && tli_commitplan_reserved(e->key))
            return tli_commitplan_refuse(p, TL_MISUSE, "a summary entry that the commit itself writes");
    }
    if ((c->newest != NULL && c->kind != TL_CHANGE_APPEND && c->kind != TL_CHANGE_INDEX)
        || (c->cutoff != NULL && c->kind != TL_CHANGE_DELETE))
        return tli_commitplan_refuse(p, TL_MISUSE, "newest rows, or a cutoff, of a change that takes none");
    if (c->batch_id.data != NULL
        && (c->kind != TL_CHANGE_APPEND || c->batch_id.size == 0 || !tli_commitplan_is_text(c->batch_id)))
        return tli_commitplan_refuse(p, TL_MISUSE, "a batch id of something that is no append, or that is no text");
    return TL_OK;
}

TLI_FN tl_status tli_commitplan_check_added(tli_commitplan *p, const tl_data_file *d)
{
    const tl_file *f = &d->file;
    if (!tli_commitplan_is_text(f->path) || f->path.size == 0 || f->size > INT64_MAX || f->records > INT64_MAX)
        return tli_commitplan_refuse(p, TL_MISUSE, "a data file without a path, or of an impossible size");
    if ((f->has_partition != 0) != (p->base->metadata.partitioned != 0))
        return tli_commitplan_refuse(p, TL_MISUSE,
                                     "a data file has a partition value in a partitioned table, and there alone");
    if (d->body.data != NULL && d->body.size != f->size)
        return tli_commitplan_refuse(p, TL_MISUSE, "a data file whose body is not as long as its size says");
    return TL_OK;
}

/* Added and removed files as the kind of change takes them. */
TLI_FN tl_status tli_commitplan_check(tli_commitplan *p)
{
    static const struct {
        uint8_t adds, removes; /* 0: must not, 1: must */
    } kinds[] = {{1, 0}, {1, 1}, {0, 1}, {0, 0}, {0, 0}, {0, 0}};
    const tl_change *c = p->change;
    tl_status st;
    size_t i;
    if ((unsigned)c->kind > TL_CHANGE_CREATE || (c->added_count != 0) != kinds[c->kind].adds
        || (c->removed_count != 0) != kinds[c->kind].removes || (c->kind == TL_CHANGE_CREATE) != (p->base == NULL))
        return tli_commitplan_refuse(p, TL_MISUSE, "a change without the files it is about, or with others");
    st = tli_commitplan_check_properties(p);
    if (st == TL_OK && p->base != NULL)
        st = tli_commitplan_may_write(p);
    for (i = 0; i < c->added_count && st == TL_OK; i++)
        st = tli_commitplan_check_added(p, &c->added[i]);
    return st;
}

/* Is a batch id in the summary of a snapshot? */
TLI_FN int tli_commitplan_has_batch(const tl_metadata *m, const tl_json_node *snapshot, tl_span id)
{
    tl_span value;
    const tl_json_node *summary = tl_json_member(&m->json, snapshot, tl_text("summary"));
    const tl_json_node *node = tl_json_member(&m->json, summary, tl_text(TLI_COMMITPLAN_BATCH));
    return node != NULL && tl_json_string(&m->json, node, &value, NULL) == TL_OK && tl_span_equal(value, id);
}

typedef struct tli_commitplan_known {
    int64_t id;
    const tl_json_node *snapshot;
} tli_commitplan_known;

TLI_FN int tli_commitplan_by_id(const void *a, const void *b)
{
    int64_t x = ((const tli_commitplan_known *)a)->id, y = ((const tli_commitplan_known *)b)->id;
    return (x > y) - (x < y);
}

/* The snapshot of an id among sorted ones; NULL: there is none. */
TLI_FN const tl_json_node *tli_commitplan_snapshot_of(const tli_commitplan_known *known, uint32_t count, int64_t id)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (known[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && known[low].id == id ? known[low].snapshot : NULL;
}

/* Looks for the batch id in the current snapshot and its ancestors, as far as the metadata knows them. */
TLI_FN tl_status tli_commitplan_find_batch(tli_commitplan *p)
{
    const tl_metadata *m = &p->base->metadata;
    const tl_json_node *list = tl_json_member(&m->json, m->json.root, tl_text("snapshots")), *s = m->snapshot, *k;
    uint32_t steps = list == NULL || list->kind != TL_JSON_ARRAY ? 0 : list->count, count = 0;
    tli_commitplan_known *known = (tli_commitplan_known *)tli_mem_take_array(p->store, (uint64_t)steps + 1,
                                                                             sizeof *known, p->err);
    int64_t parent;
    tl_status st = known == NULL ? p->err->status : TL_OK;
    for (k = steps == 0 ? NULL : tl_json_first(list); k != NULL && st == TL_OK; k = tl_json_next(list, k)) {
        known[count].snapshot = k;
        st = tli_metadata_int(m, k, "snapshot-id", -1, &known[count++].id, p->err);
    }
    if (st == TL_OK)
        tli_sort(known, count, sizeof *known, tli_commitplan_by_id);
    for (; s != NULL && st == TL_OK && !p->duplicate; steps--) {
        p->duplicate = (uint8_t)tli_commitplan_has_batch(m, s, p->change->batch_id);
        st = tli_metadata_int(m, s, "parent-snapshot-id", -1, &parent, p->err);
        if (steps == 0 || st != TL_OK || parent == -1)
            break;
        s = tli_commitplan_snapshot_of(known, count, parent);
    }
    return st;
}

/* ---- sets of paths ---- */

TLI_FN tl_status tli_commitplan_gather(tli_commitplan *p, tli_commitplan_set *set, const tl_span *paths, size_t count)
{
    size_t i, slots = 4;
    TLI_FILL(set, 0, sizeof *set);
    while (slots / 2 < count)
        slots *= 2;
    set->paths = paths;
    set->mask = slots - 1;
    set->count = set->left = count;
    set->seed = tli_hash_xxh64(p->random, sizeof *p->random, 0);
    set->slots = (size_t *)tli_mem_take_array(p->store, slots, sizeof *set->slots, p->err);
    set->found = (uint8_t *)tli_mem_take_array(p->store, count + 1, 1, p->err);
    if (set->slots == NULL || set->found == NULL)
        return p->err->status;
    for (i = 0; i < count; i++) {
        size_t at = (size_t)tli_hash_xxh64(paths[i].data, paths[i].size, set->seed) & set->mask;
        while (set->slots[at] != 0) {
            if (tl_span_equal(paths[set->slots[at] - 1], paths[i]))
                return tli_commitplan_refuse(p, TL_MISUSE, "a file stands twice in a change");
            at = (at + 1) & set->mask;
        }
        set->slots[at] = i + 1;
    }
    return TL_OK;
}

/* Notes that a path, which may stand in a table several times, was found at this stage. */
TLI_FN void tli_commitplan_found(tli_commitplan_set *set, size_t at, uint8_t stage)
{
    set->left -= set->found[at - 1] != stage;
    set->found[at - 1] = stage;
}

/* The index of a path plus 1, or 0. */
TLI_FN size_t tli_commitplan_find(const tli_commitplan_set *set, tl_span path)
{
    size_t at;
    if (set->count == 0)
        return 0;
    at = (size_t)tli_hash_xxh64(path.data, path.size, set->seed) & set->mask;
    while (set->slots[at] != 0 && !tl_span_equal(set->paths[set->slots[at] - 1], path))
        at = (at + 1) & set->mask;
    return set->slots[at];
}

/* No file may be added that is live already, or twice. */
TLI_FN tl_status tli_commitplan_check_new(tli_commitplan *p, const struct tli_grow *grow, const tl_files *live)
{
    const tl_change *c = p->change;
    tli_commitplan_set added;
    tl_span *paths;
    tl_status st;
    size_t i;
    if (c->added_count == 0)
        return TL_OK;
    paths = (tl_span *)tli_mem_take_array(p->store, c->added_count, sizeof *paths, p->err);
    if (paths == NULL)
        return p->err->status;
    for (i = 0; i < c->added_count; i++)
        paths[i] = c->added[i].file.path;
    st = tli_commitplan_gather(p, &added, paths, c->added_count);
    for (i = 0; i < c->added_count && st == TL_OK; i++)
        if (tli_grow_find(grow, live, paths[i]) < live->count)
            st = tli_commitplan_refuse(p, TL_EXISTS, "a file that is added is in the table already");
    return st;
}

/* ---- the beginning ---- */

TLI_FN tl_status tli_commitplan_ids(tli_commitplan *p)
{
    const tl_metadata *m;
    const tl_json_node *taken = NULL;
    tl_status st = TL_OK;
    if (p->base == NULL) {
        p->version = 1;
        p->timestamp = p->now;
        return TL_OK;
    }
    m = &p->base->metadata;
    p->version = p->base->version + 1;
    p->timestamp = TLI_MAX(p->now, m->last_updated_ms);
    if (m->last_sequence_number < 0 || m->last_sequence_number == INT64_MAX || p->version >= UINT64_MAX - 1)
        return tli_commitplan_refuse(p, TL_CORRUPT, "a sequence number or version without a successor");
    p->sequence_number = m->last_sequence_number + 1;
    do {
        p->snapshot_id = tli_rand_id(p->random);
        st = tli_metadata_by_id(m, tl_json_member(&m->json, m->json.root, tl_text("snapshots")), "snapshot-id",
                                p->snapshot_id, &taken, p->err);
    } while (st == TL_OK && taken != NULL);
    return st;
}

/* Files to be removed, as the base knows them: what is not there is a conflict. */
TLI_FN tl_status tli_commitplan_base_files(tli_commitplan *p)
{
    const tl_change *c = p->change;
    struct tli_grow *grow;
    tl_files live;
    tl_columns columns;
    tl_file f;
    size_t i, at;
    tl_status st = tli_commitplan_gather(p, &p->removed, c->removed, c->removed_count);
    if (st == TL_OK && p->base->has_files)
        st = tli_grow_of(&p->base->head, &live, &columns, &grow, p->err);
    if (st != TL_OK || !p->base->has_files)
        return st;
    if (c->removed_count != 0) {
        p->gone = (uint8_t *)tli_mem_take_array(p->store, (uint64_t)live.count + 1, 1, p->err);
        if (p->gone == NULL)
            return p->err->status;
    }
    for (i = 0; i < live.count && c->removed_count != 0; i++) {
        tl_files_get(&live, i, &f);
        at = tli_commitplan_find(&p->removed, f.path);
        if (at == 0)
            continue;
        p->gone[i] = 1;
        tli_commitplan_found(&p->removed, at, 1);
        p->removed_files++;
        p->removed_records += f.records;
        p->removed_size += f.size;
        p->highest = TLI_MAX(p->highest, f.sequence_number);
    }
    if (p->removed.left != 0)
        return tli_commitplan_refuse(p, TL_CONFLICT, "a file that is to be removed is not in the table any more");
    return tli_commitplan_check_new(p, grow, &live);
}

/* Begins an attempt. What the arguments point at stays until tli_commitplan_end, which is called after a failure too.
   p->duplicate: nothing is to be done. Snapshot kinds need p->list next, when the base has a snapshot. */
TLI_FN tl_status tli_commitplan_begin(tli_commitplan *p, const tl_change *change, tl_table *base, tl_span location,
                                      tli_rand *random, int64_t now, const tl_limits *limits,
                                      const tl_allocator *allocator, tl_error *err)
{
    tl_status st;
    size_t i;
    TLI_FILL(p, 0, sizeof *p);
    p->change = change;
    p->base = base;
    p->location = base != NULL ? base->location : location;
    p->random = random;
    p->now = now;
    p->limits = *limits;
    p->allocator = *allocator;
    p->err = err;
    p->metadata.allocator = *allocator;
    for (i = 0; i < TLI_COMMITPLAN_OBJECTS; i++)
        p->objects[i].bytes.allocator = *allocator;
    p->store = tli_mem_store_new(allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    if (p->store == NULL)
        return err->status;
    st = tli_commitplan_check(p);
    if (st == TL_OK && change->batch_id.data != NULL)
        st = tli_commitplan_find_batch(p);
    if (st != TL_OK || p->duplicate)
        return st;
    st = tli_commitplan_ids(p);
    if (st == TL_OK && base != NULL && change->kind != TL_CHANGE_PROPERTIES)
        st = tli_commitplan_base_files(p);
    if (st == TL_OK && base != NULL)
        p->list = base->manifests;
    return st;
}

/* Does the change make a snapshot? */
TLI_FN int tli_commitplan_snapshots(const tli_commitplan *p)
{
    return p->change->kind < TL_CHANGE_PROPERTIES;
}

/* Must the base's manifest list be read first? */
TLI_FN int tli_commitplan_wants_list(const tli_commitplan *p)
{
    return tli_commitplan_snapshots(p) && p->base->metadata.has_snapshot && p->list == NULL;
}

/* Must the base's index file be read? */
TLI_FN int tli_commitplan_wants_index(const tli_commitplan *p)
{
    return tli_commitplan_snapshots(p) && tli_indexplan_extends(p->change, &p->base->metadata)
           && !tli_indexplan_at_hand(p->base);
}

/* ---- which manifests are read ---- */

/* Of files that go: by file_sequence_number, each with the greatest sequence number up to there. */
typedef struct tli_commitplan_going {
    int64_t file_sequence_number, sequence_number;
} tli_commitplan_going;

TLI_FN int tli_commitplan_going_order(const void *a, const void *b)
{
    const tli_commitplan_going *x = (const tli_commitplan_going *)a, *y = (const tli_commitplan_going *)b;
    return (x->file_sequence_number > y->file_sequence_number) - (x->file_sequence_number < y->file_sequence_number);
}

TLI_FN tl_status tli_commitplan_list_going(tli_commitplan *p, tli_commitplan_going **out, size_t *count)
{
    tl_files live;
    tl_file f;
    size_t i, n = 0;
    tl_status st = tl_head_files(&p->base->head, &live, p->err);
    tli_commitplan_going *going = NULL;
    *count = 0;
    if (st == TL_OK)
        *out = going = (tli_commitplan_going *)tli_mem_take_array(p->store, live.count, sizeof *going, p->err);
    if (going == NULL)
        return p->err->status;
    for (i = 0; i < live.count; i++) {
        if (!p->gone[i])
            continue;
        tl_files_get(&live, i, &f);
        going[n].file_sequence_number = f.file_sequence_number;
        going[n++].sequence_number = f.sequence_number;
    }
    tli_sort(going, n, sizeof *going, tli_commitplan_going_order);
    for (i = 1; i < n; i++)
        going[i].sequence_number = TLI_MAX(going[i].sequence_number, going[i - 1].sequence_number);
    *count = n;
    return TL_OK;
}

/* May a manifest hold a file that is to be removed? Both numbers of a file lie within its manifest's. */
TLI_FN int tli_commitplan_may_hold(const tli_iceberg_manifest *m, const tli_commitplan_going *going, size_t count)
{
    size_t low = 0, high = count;
    while (low < high) { /* to the first that is younger than the manifest */
        size_t middle = low + (high - low) / 2;
        if (going[middle].file_sequence_number <= m->sequence_number)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && going[low - 1].sequence_number >= m->min_sequence_number;
}

/* With the list at hand: which manifests have to be read, none often enough. */
TLI_FN tl_status tli_commitplan_pick(tli_commitplan *p)
{
    uint32_t i, count = p->list == NULL ? 0 : p->list->count;
    int removes = p->change->removed_count != 0;
    tli_commitplan_going *going = NULL;
    size_t going_count = 0;
    tl_status st = removes ? tli_commitplan_list_going(p, &going, &going_count) : TL_OK;
    if (st == TL_OK)
        st = tli_iceberg_begin(&p->files, &p->base->metadata, &p->limits, &p->allocator, p->err);
    if (st != TL_OK)
        return st;
    p->picked = (uint32_t *)tli_mem_take_array(p->store, (uint64_t)count + 1, sizeof *p->picked, p->err);
    p->ends = (size_t *)tli_mem_take_array(p->store, (uint64_t)count + 1, sizeof *p->ends, p->err);
    p->rewritten = (uint8_t *)tli_mem_take_array(p->store, (uint64_t)count + 1, 1, p->err);
    if (p->picked == NULL || p->ends == NULL || p->rewritten == NULL)
        return p->err->status;
    if (!removes && count + (p->change->added_count != 0) <= TLI_COMMITPLAN_MANIFESTS)
        return TL_OK;
    for (i = 0; i < count; i++) { /* one of another spec, or of which more is known than we write, stays as it is */
        const tli_iceberg_manifest *m = &p->list->entries[i];
        if (m->spec_id == p->base->metadata.default_spec_id && m->key_metadata.data == NULL
            && (!removes || tli_commitplan_may_hold(m, going, going_count)))
            p->picked[p->picked_count++] = i;
    }
    if (!removes && p->picked_count < 2)
        p->picked_count = 0;
    return TL_OK;
}

/* Does a file of the entries [from, to) go? */
TLI_FN int tli_commitplan_touches(const tli_commitplan *p, size_t from, size_t to)
{
    for (; from < to; from++)
        if (tli_commitplan_find(&p->removed, p->files.files[from].path) != 0)
            return 1;
    return 0;
}

/* The next picked manifest was read. */
TLI_FN tl_status tli_commitplan_read(tli_commitplan *p, const void *bytes, size_t size)
{
    uint32_t i = p->picked[p->read_count];
    size_t from = p->files.file_count, lossy = p->files.lossy;
    tl_status st = tli_iceberg_add(&p->files, &p->list->entries[i], bytes, size, p->err);
    if (st != TL_OK)
        return st;
    p->rewritten[i] = (uint8_t)(p->change->removed_count == 0
                                || tli_commitplan_touches(p, from, p->files.file_count));
    if (p->rewritten[i] && p->files.lossy != lossy) {
        if (p->change->removed_count != 0)
            return tli_commitplan_refuse(p, TL_UNSUPPORTED, "a manifest that cannot be written anew without loss");
        p->rewritten[i] = 0;
    }
    p->ends[p->read_count++] = p->files.file_count;
    return TL_OK;
}

/* ---- manifests of the new snapshot ---- */

/* "<location>/metadata/" + before + (id + "-") + a new uuid + after, in the plan's store. */
TLI_FN tl_status tli_commitplan_name(tli_commitplan *p, tl_span *key, const char *before, int64_t id, const char *after)
{
    static const char folder[] = "/metadata/";
    tl_span b = tl_text(before), a = tl_text(after);
    char *at = (char *)tli_mem_take(p->store, p->location.size + sizeof folder + b.size + 24 + TLI_RAND_UUID + a.size,
                                    p->err);
    if (at == NULL)
        return p->err->status;
    key->data = at;
    TLI_COPY(at, p->location.data, p->location.size);
    at += p->location.size;
    TLI_COPY(at, folder, sizeof folder - 1);
    at += sizeof folder - 1;
    TLI_COPY(at, b.data, b.size);
    at += b.size;
    if (id != 0) {
        at += tli_number_i64(at, id);
        *at++ = '-';
    }
    tli_rand_uuid(p->random, -1, at);
    at += TLI_RAND_UUID;
    TLI_COPY(at, a.data, a.size);
    key->size = (size_t)(at + a.size - key->data);
    return TL_OK;
}

TLI_FN void tli_commitplan_sync(tli_commitplan *p, uint8_t *sync)
{
    tli_bits_put_le64(sync, tli_rand_next(p->random));
    tli_bits_put_le64(sync + 8, tli_rand_next(p->random));
}

TLI_FN tl_status tli_commitplan_manifest_begin(tli_commitplan *p, tli_manifest *m)
{
    uint8_t sync[16];
    tli_commitplan_sync(p, sync);
    return tli_manifest_begin(m, &p->base->metadata, p->snapshot_id, sync, &p->allocator, p->err);
}

/* Ends a manifest: with entries in it it is an object to upload, and an entry of the list; else it is gone. */
TLI_FN tl_status tli_commitplan_manifest_end(tli_commitplan *p, tli_manifest *m, int which, const char *ending,
                                             tli_iceberg_list *list, tl_status st)
{
    tli_commitplan_object *o = &p->objects[which];
    tl_span key;
    if (st == TL_OK)
        st = tli_manifest_end(m);
    if (st == TL_OK && m->entry.counts[0] + m->entry.counts[1] + m->entry.counts[2] != 0) {
        st = tli_commitplan_name(p, &key, "", 0, ending);
        if (st == TL_OK) {
            m->entry.path = key;
            st = tli_iceberg_carry(list, &m->entry, p->err);
        }
        if (st == TL_OK) {
            o->key = key;
            o->bytes = m->bytes;
            TLI_FILL(&m->bytes, 0, sizeof m->bytes);
        }
    }
    tli_manifest_free(m);
    return st;
}

TLI_FN tl_status tli_commitplan_write_added(tli_commitplan *p, tli_iceberg_list *list)
{
    const tl_change *c = p->change;
    tli_manifest m;
    tl_status st = tli_commitplan_manifest_begin(p, &m);
    size_t i;
    for (i = 0; i < c->added_count && st == TL_OK; i++) {
        tl_file f = c->added[i].file;
        tli_manifest_entry e;
        TLI_FILL(&e, 0, sizeof e);
        e.status = TLI_MANIFEST_ADDED;
        e.snapshot_id = p->snapshot_id;
        e.numbered = c->kind == TL_CHANGE_REPLACE;
        if (f.sequence_number == 0)
            f.sequence_number = p->highest;
        e.file = &f;
        e.columns = c->added[i].columns;
        e.column_count = c->added[i].column_count;
        st = tli_manifest_add(&m, &e);
    }
    return tli_commitplan_manifest_end(p, &m, TLI_COMMITPLAN_ADDED, "-added-m.avro", list, st);
}

/* Of the manifests that were read: what stays (live != 0), or what goes. */
TLI_FN tl_status tli_commitplan_rewrite(tli_commitplan *p, tli_iceberg_list *list, int live)
{
    const tli_iceberg_files *f = &p->files;
    tli_manifest m;
    tl_status st = tli_commitplan_manifest_begin(p, &m);
    size_t i, at, column = 0;
    uint32_t from = 0;
    for (i = 0; i < f->file_count && st == TL_OK; i++) {
        tli_manifest_entry e;
        TLI_FILL(&e, 0, sizeof e);
        e.columns = f->columns == NULL ? NULL : f->columns + column;
        for (; column < f->column_count && f->columns[column].file == i; column++)
            e.column_count++;
        while (i >= p->ends[from])
            from++;
        at = tli_commitplan_find(&p->removed, f->files[i].path);
        if (!p->rewritten[p->picked[from]] || (at == 0) != live)
            continue;
        e.status = live ? TLI_MANIFEST_EXISTING : TLI_MANIFEST_DELETED;
        e.snapshot_id = live ? f->files[i].snapshot_id : p->snapshot_id;
        e.numbered = e.kept = 1;
        e.file = &f->files[i];
        if (!live)
            tli_commitplan_found(&p->removed, at, 2);
        st = tli_manifest_add(&m, &e);
    }
    return tli_commitplan_manifest_end(p, &m, live ? TLI_COMMITPLAN_MERGED : TLI_COMMITPLAN_DELETED,
                                       live ? "-merged-m.avro" : "-deleted-m.avro", list, st);
}

/* Split offsets were gathered in one array that moved as it grew. */
TLI_FN void tli_commitplan_place_splits(tli_commitplan *p)
{
    size_t i, at = 0;
    for (i = 0; i < p->files.file_count; i++) {
        p->files.files[i].split_offsets = p->files.splits == NULL ? NULL : p->files.splits + at;
        at += p->files.files[i].split_count;
    }
}

/* The manifests and their list. */
TLI_FN tl_status tli_commitplan_manifests(tli_commitplan *p, tli_iceberg_list *list)
{
    tli_commitplan_object *o = &p->objects[TLI_COMMITPLAN_LIST];
    const tl_metadata *m = &p->base->metadata;
    uint8_t sync[16];
    uint32_t i;
    tl_status st = p->change->added_count != 0 ? tli_commitplan_write_added(p, list) : TL_OK;
    tli_commitplan_place_splits(p);
    if (st == TL_OK && p->picked_count != 0)
        st = tli_commitplan_rewrite(p, list, 1);
    p->removed.left = p->change->removed_count;
    if (st == TL_OK && p->change->removed_count != 0)
        st = tli_commitplan_rewrite(p, list, 0);
    if (st == TL_OK && p->removed.left != 0) /* the base has it, but in no manifest that may be rewritten */
        return tli_commitplan_refuse(p, TL_UNSUPPORTED,
                                     "a file that is to be removed is in a manifest of another partition spec");
    for (i = 0; p->list != NULL && i < p->list->count && st == TL_OK; i++)
        if (!p->rewritten[i])
            st = tli_iceberg_carry(list, &p->list->entries[i], p->err);
    if (st == TL_OK)
        st = tli_commitplan_name(p, &o->key, "snap-", p->snapshot_id, ".avro");
    tli_commitplan_sync(p, sync);
    for (i = 0; i < list->count; i++) { /* the numbers that the commit gives */
        tli_iceberg_manifest *e = &list->entries[i];
        if (e->sequence_number == TLI_MANIFEST_UNASSIGNED)
            e->sequence_number = p->sequence_number;
        if (e->min_sequence_number == TLI_MANIFEST_UNASSIGNED)
            e->min_sequence_number = p->sequence_number;
    }
    if (st == TL_OK)
        st = tli_manifest_list(&o->bytes, list->entries, list->count, p->snapshot_id,
                               m->has_snapshot ? m->current_snapshot_id : -1, p->sequence_number, sync, p->err);
    return st;
}

/* ---- the metadata ---- */

/* A comma before every member but the first; then its name. */
TLI_FN void tli_commitplan_member(tli_manifest_text *t, int *first, tl_span name)
{
    tli_newtable_put_text(t, *first ? "" : ",", name);
    tli_manifest_put(t, ":");
    *first = 0;
}

TLI_FN void tli_commitplan_entry(tli_manifest_text *t, int *first, tl_span key, tl_span value)
{
    tli_commitplan_member(t, first, key);
    tli_newtable_put_text(t, "", value);
}

TLI_FN void tli_commitplan_count(tli_manifest_text *t, int *first, const char *key, uint64_t value)
{
    char digits[24];
    tli_commitplan_entry(t, first, tl_text(key), tli_text_span(digits, tli_number_u64(digits, value)));
}

/* A total of the base's summary, 0 if it says none. */
TLI_FN uint64_t tli_commitplan_total(const tli_commitplan *p, const tl_json_node *summary, const char *name)
{
    const tl_json *json = &p->base->metadata.json;
    const tl_json_node *node = tl_json_member(json, summary, tl_text(name));
    tl_span text;
    uint64_t value = 0;
    if (node != NULL && tl_json_string(json, node, &text, NULL) == TL_OK)
        (void)tli_number_parse_u64(text.data, text.size, &value);
    return value;
}

/* The counters: what was added and deleted when not 0, and the totals always. */
TLI_FN void tli_commitplan_counters(const tli_commitplan *p, tli_manifest_text *t, int *first,
                                    const tl_json_node *summary)
{
    static const char *const names[3][3] = {{"added-data-files", "deleted-data-files", "total-data-files"},
                                            {"added-records", "deleted-records", "total-records"},
                                            {"added-files-size", "removed-files-size", "total-files-size"}};
    static const char *const none[] = {"total-delete-files", "total-position-deletes", "total-equality-deletes"};
    uint64_t added[3] = {0, 0, 0}, gone[3];
    size_t i;
    for (i = 0; i < p->change->added_count; i++) {
        added[0]++;
        added[1] += p->change->added[i].file.records;
        added[2] += p->change->added[i].file.size;
    }
    gone[0] = p->removed_files;
    gone[1] = p->removed_records;
    gone[2] = p->removed_size;
    for (i = 0; i < 3; i++) {
        uint64_t total = tli_commitplan_total(p, summary, names[i][2]) + added[i];
        if (added[i] != 0)
            tli_commitplan_count(t, first, names[i][0], added[i]);
        if (gone[i] != 0)
            tli_commitplan_count(t, first, names[i][1], gone[i]);
        tli_commitplan_count(t, first, names[i][2], total > gone[i] ? total - gone[i] : 0);
    }
    for (i = 0; i < 3; i++)
        tli_commitplan_count(t, first, none[i], 0);
}

/* Entries of the base's summary that stay in force unless the caller gives others. */
TLI_FN void tli_commitplan_carried(const tli_commitplan *p, tli_manifest_text *t, int *first,
                                   const tl_json_node *summary)
{
    static const char *const names[] = {"timelake.rollup-source-snapshot", "timelake.rollup-source-sequence"};
    const tl_json *json = &p->base->metadata.json;
    size_t i, k;
    for (i = 0; i < TLI_COUNT(names); i++) {
        const tl_json_node *node = tl_json_member(json, summary, tl_text(names[i]));
        for (k = 0; k < p->change->property_count; k++)
            if (tl_span_equal(p->change->properties[k].key, tl_text(names[i])))
                node = NULL;
        if (node == NULL)
            continue;
        tli_commitplan_member(t, first, tl_text(names[i]));
        tli_newtable_put(t, tl_json_raw(json, node));
    }
}

TLI_FN void tli_commitplan_summary(const tli_commitplan *p, tli_manifest_text *t)
{
    static const char *const operations[] = {"append", "replace", "delete", "replace"};
    const tl_metadata *m = &p->base->metadata;
    const tl_json_node *summary = tl_json_member(&m->json, m->snapshot, tl_text("summary"));
    tl_span index = p->index.path;
    int first = 1;
    size_t i;
    tli_manifest_put(t, "{");
    tli_commitplan_entry(t, &first, tl_text("operation"), tl_text(operations[p->change->kind]));
    for (i = 0; i < p->change->property_count; i++)
        tli_commitplan_entry(t, &first, p->change->properties[i].key, p->change->properties[i].value);
    if (p->change->batch_id.data != NULL)
        tli_commitplan_entry(t, &first, tl_text(TLI_COMMITPLAN_BATCH), p->change->batch_id);
    if (index.data != NULL)
        tli_commitplan_entry(t, &first, tl_text(TLI_COMMITPLAN_INDEX), index);
    tli_commitplan_counters(p, t, &first, summary);
    tli_commitplan_carried(p, t, &first, summary);
    tli_manifest_put(t, "}");
}

TLI_FN void tli_commitplan_snapshot(const tli_commitplan *p, tli_manifest_text *t)
{
    const tl_metadata *m = &p->base->metadata;
    tli_newtable_put_number(t, "{\"snapshot-id\":", p->snapshot_id);
    if (m->has_snapshot)
        tli_newtable_put_number(t, ",\"parent-snapshot-id\":", m->current_snapshot_id);
    tli_newtable_put_number(t, ",\"sequence-number\":", p->sequence_number);
    tli_newtable_put_number(t, ",\"timestamp-ms\":", p->timestamp);
    tli_newtable_put_text(t, ",\"manifest-list\":", p->objects[TLI_COMMITPLAN_LIST].key);
    tli_manifest_put(t, ",\"summary\":");
    tli_commitplan_summary(p, t);
    tli_newtable_put_number(t, ",\"schema-id\":", m->current_schema_id);
    tli_manifest_put(t, "}");
}

/* The entries of a list but for the first `skip`, and a comma behind them if there are any. */
TLI_FN void tli_commitplan_put_list(tli_manifest_text *t, const tl_json *json, const tl_json_node *list, uint32_t skip)
{
    const tl_json_node *k = list == NULL || list->kind != TL_JSON_ARRAY ? NULL : tl_json_first(list);
    for (; k != NULL; k = tl_json_next(list, k)) {
        if (skip != 0) {
            skip--;
            continue;
        }
        tli_newtable_put(t, tl_json_raw(json, k));
        tli_manifest_put(t, ",");
    }
}

TLI_FN void tli_commitplan_log(const tli_commitplan *p, tli_manifest_text *t, const tl_json_node *log)
{
    const tl_metadata *m = &p->base->metadata;
    uint32_t count = log != NULL && log->kind == TL_JSON_ARRAY ? log->count : 0;
    uint32_t most = m->contract.previous_versions_max;
    char *name = (char *)tli_mem_take(p->store, p->location.size + TLI_KEYS_ROOM, p->err);
    if (name == NULL) {
        t->status = p->err->status;
        return;
    }
    tli_manifest_put(t, "[");
    tli_commitplan_put_list(t, &m->json, log, count + 1 > most ? count + 1 - most : 0);
    tli_newtable_put_text(t, "{\"metadata-file\":", tli_keys_version(name, p->location, p->base->version));
    tli_newtable_put_number(t, ",\"timestamp-ms\":", m->last_updated_ms);
    tli_manifest_put(t, "}]");
}

/* An object's members as they are, but for those called `name`. */
TLI_FN void tli_commitplan_put_others(tli_manifest_text *t, int *first, const tl_json *json,
                                      const tl_json_node *object, const char *name)
{
    const tl_json_node *k = object == NULL || object->kind != TL_JSON_OBJECT ? NULL : tl_json_first(object);
    tl_span key;
    for (; k != NULL; k = tl_json_next(object, k)) {
        if (tl_json_string(json, k, &key, NULL) != TL_OK || tl_span_equal(key, tl_text(name)))
            continue;
        tli_manifest_put(t, *first ? "" : ",");
        tli_newtable_put(t, tl_json_raw(json, k));
        tli_manifest_put(t, ":");
        tli_newtable_put(t, tl_json_raw(json, k + 1));
        *first = 0;
    }
}

/* refs.main names the new snapshot, its other members stay, as do the other refs. */
TLI_FN void tli_commitplan_refs(const tli_commitplan *p, tli_manifest_text *t, const tl_json_node *refs)
{
    const tl_json *json = &p->base->metadata.json;
    const tl_json_node *branch = tl_json_member(json, refs, tl_text("main"));
    int first = 1, within = 1;
    tli_manifest_put(t, "{");
    tli_commitplan_put_others(t, &first, json, refs, "main");
    tli_commitplan_member(t, &first, tl_text("main"));
    tli_manifest_put(t, "{");
    tli_commitplan_member(t, &within, tl_text("snapshot-id"));
    tli_newtable_put_number(t, "", p->snapshot_id);
    tli_commitplan_put_others(t, &within, json, branch, "snapshot-id");
    if (tl_json_member(json, branch, tl_text("type")) == NULL)
        tli_commitplan_entry(t, &within, tl_text("type"), tl_text("branch"));
    tli_manifest_put(t, "}}");
}

/* What the change says of a property: its place plus 1, the last one when there are several. */
TLI_FN size_t tli_commitplan_set_to(const tli_commitplan *p, tl_span key)
{
    size_t i = p->change->property_count;
    while (i > 0 && !tl_span_equal(p->change->properties[i - 1].key, key))
        i--;
    return i;
}

TLI_FN void tli_commitplan_properties(const tli_commitplan *p, tli_manifest_text *t, const tl_json_node *old)
{
    const tl_json *json = &p->base->metadata.json;
    const tl_json_node *k = old == NULL || old->kind != TL_JSON_OBJECT ? NULL : tl_json_first(old);
    const tl_change *c = p->change;
    tl_span key;
    int first = 1;
    size_t i;
    tli_manifest_put(t, "{");
    for (; k != NULL; k = tl_json_next(old, k)) {
        if (tl_json_string(json, k, &key, NULL) != TL_OK || tli_commitplan_set_to(p, key) != 0)
            continue;
        tli_commitplan_member(t, &first, key);
        tli_newtable_put(t, tl_json_raw(json, k + 1));
    }
    for (i = 0; i < c->property_count; i++)
        if (c->properties[i].value.data != NULL && tli_commitplan_set_to(p, c->properties[i].key) == i + 1)
            tli_commitplan_entry(t, &first, c->properties[i].key, c->properties[i].value);
    tli_manifest_put(t, "}");
}

enum {
    TLI_COMMITPLAN_UPDATED, TLI_COMMITPLAN_METADATA_LOG, TLI_COMMITPLAN_SEQUENCE, TLI_COMMITPLAN_CURRENT,
    TLI_COMMITPLAN_SNAPSHOTS, TLI_COMMITPLAN_SNAPSHOT_LOG, TLI_COMMITPLAN_REFS, TLI_COMMITPLAN_PROPERTIES,
    TLI_COMMITPLAN_MEMBERS
};

/* The new value of a member that the commit changes. `old` may be NULL. */
TLI_FN void tli_commitplan_value(const tli_commitplan *p, tli_manifest_text *t, int which, const tl_json_node *old)
{
    const tl_json *json = &p->base->metadata.json;
    switch (which) {
    case TLI_COMMITPLAN_UPDATED:
        tli_newtable_put_number(t, "", p->timestamp);
        break;
    case TLI_COMMITPLAN_METADATA_LOG:
        tli_commitplan_log(p, t, old);
        break;
    case TLI_COMMITPLAN_SEQUENCE:
        tli_newtable_put_number(t, "", p->sequence_number);
        break;
    case TLI_COMMITPLAN_CURRENT:
        tli_newtable_put_number(t, "", p->snapshot_id);
        break;
    case TLI_COMMITPLAN_SNAPSHOTS:
        tli_manifest_put(t, "[");
        tli_commitplan_put_list(t, json, old, 0);
        tli_commitplan_snapshot(p, t);
        tli_manifest_put(t, "]");
        break;
    case TLI_COMMITPLAN_SNAPSHOT_LOG:
        tli_manifest_put(t, "[");
        tli_commitplan_put_list(t, json, old, 0);
        tli_newtable_put_number(t, "{\"snapshot-id\":", p->snapshot_id);
        tli_newtable_put_number(t, ",\"timestamp-ms\":", p->timestamp);
        tli_manifest_put(t, "}]");
        break;
    case TLI_COMMITPLAN_REFS:
        tli_commitplan_refs(p, t, old);
        break;
    default:
        tli_commitplan_properties(p, t, old);
        break;
    }
}

/* The base's text with what changes: all else is kept as it stands there, in its order and to the digit. Of a key that
   stands twice the last one counts; what is changed stands once. */
TLI_FN tl_status tli_commitplan_update(tli_commitplan *p)
{
    static const char *const names[] = {"last-updated-ms", "metadata-log", "last-sequence-number",
                                        "current-snapshot-id", "snapshots", "snapshot-log", "refs", "properties"};
    const tl_json *json = &p->base->metadata.json;
    const tl_json_node *k;
    unsigned i, seen = 0, which = tli_commitplan_snapshots(p) ? (1u << TLI_COMMITPLAN_PROPERTIES) - 1
        : 1u << TLI_COMMITPLAN_UPDATED | 1u << TLI_COMMITPLAN_METADATA_LOG | 1u << TLI_COMMITPLAN_PROPERTIES;
    tli_manifest_text t;
    tl_span key;
    int first = 1;
    t.out = &p->metadata;
    t.status = TL_OK;
    t.err = p->err;
    tli_manifest_put(&t, "{");
    for (k = tl_json_first(json->root); k != NULL; k = tl_json_next(json->root, k)) {
        if (tl_json_string(json, k, &key, NULL) != TL_OK)
            continue;
        for (i = 0; i < TLI_COMMITPLAN_MEMBERS; i++)
            if ((which >> i & 1) != 0 && tl_span_equal(key, tl_text(names[i])))
                break;
        if (i < TLI_COMMITPLAN_MEMBERS && tl_json_member(json, json->root, key) != k + 1)
            continue;
        tli_commitplan_member(&t, &first, key);
        if (i == TLI_COMMITPLAN_MEMBERS) {
            tli_newtable_put(&t, tl_json_raw(json, k + 1));
            continue;
        }
        tli_commitplan_value(p, &t, (int)i, k + 1);
        seen |= 1u << i;
    }
    for (i = 0; i < TLI_COMMITPLAN_MEMBERS; i++) {
        if ((which & ~seen) >> i & 1) {
            tli_commitplan_member(&t, &first, tl_text(names[i]));
            tli_commitplan_value(p, &t, (int)i, NULL);
        }
    }
    tli_manifest_put(&t, "}");
    return t.status;
}

/* ---- the new version ---- */

/* What is added, as the new head says it. */
TLI_FN tl_status tli_commitplan_added(const tli_commitplan *p, tli_grow_change *g)
{
    const tl_change *c = p->change;
    uint64_t statistics = 0;
    tl_file *files;
    tl_column *columns;
    tl_footer *footers;
    size_t i, k;
    for (i = 0; i < c->added_count; i++)
        statistics += c->added[i].column_count;
    files = (tl_file *)tli_mem_take_array(p->store, (uint64_t)c->added_count + 1, sizeof *files, p->err);
    columns = (tl_column *)tli_mem_take_array(p->store, statistics + 1, sizeof *columns, p->err);
    footers = (tl_footer *)tli_mem_take_array(p->store, (uint64_t)c->added_count + 1, sizeof *footers, p->err);
    if (files == NULL || columns == NULL || footers == NULL)
        return p->err->status;
    for (i = 0; i < c->added_count; i++) {
        const tl_data_file *d = &c->added[i];
        tl_file *f = &files[i];
        *f = d->file;
        f->snapshot_id = p->snapshot_id;
        f->file_sequence_number = p->sequence_number;
        if (c->kind != TL_CHANGE_REPLACE)
            f->sequence_number = p->sequence_number;
        else if (f->sequence_number == 0)
            f->sequence_number = p->highest;
        f->added = 1;
        for (k = 0; k < d->column_count; k++) {
            columns[g->column_count] = d->columns[k];
            columns[g->column_count++].file = (uint32_t)i;
        }
        footers[g->footer_count].path = f->path;
        footers[g->footer_count].footer = d->footer;
        g->footer_count += d->footer.data != NULL;
    }
    g->files = files;
    g->file_count = c->added_count;
    g->columns = columns;
    g->footers = footers;
    return TL_OK;
}

/* The table version that the metadata makes: parsed from its very text, so that what cannot be read is not written. */
TLI_FN tl_status tli_commitplan_build(tli_commitplan *p)
{
    tl_table *t = tli_table_new(&p->allocator, p->location, p->version);
    tli_grow_change change;
    uint32_t i;
    tl_status st;
    p->table = t;
    if (t == NULL)
        return tli_mem_failed(&p->allocator, p->err);
    t->source = TL_FROM_COMMIT;
    t->body = tli_mem_blob(&p->allocator, p->metadata.data, p->metadata.size, NULL, NULL, NULL, 0);
    if (t->body == NULL)
        return tli_mem_failed(&p->allocator, p->err);
    st = tl_metadata_parse(&t->metadata, (const char *)t->body->data, t->body->size, &p->limits, &p->allocator, p->err);
    if (st == TL_CORRUPT && p->change->kind >= TL_CHANGE_PROPERTIES) { /* the base was read: it is what was given */
        p->err->position = TL_NO_POSITION;
        st = p->err->status = TL_MISUSE;
    }
    if (st == TL_OK)
        st = tl_contract_may_write(&t->metadata.contract, p->err);
    t->memory = sizeof *t + t->body->size + t->metadata.json.memory;
    if (st != TL_OK || (p->base != NULL && !p->base->has_files))
        return st;
    TLI_FILL(&change, 0, sizeof change);
    change.metadata = tli_text_span(t->body->data, t->body->size);
    change.gone = p->gone;
    change.inline_bytes = t->metadata.contract.head_inline_bytes;
    st = tli_commitplan_added(p, &change);
    t->head.document.allocator = p->allocator;
    t->head.version = p->version;
    if (st == TL_OK)
        st = tli_grow_document(&t->head, p->base == NULL ? NULL : &p->base->head, &change, p->err);
    if (st != TL_OK)
        return st;
    t->has_files = 1;
    t->memory += tli_mem_store_size(t->head.document.store);
    for (i = 0; i < t->head.grow->count; i++)
        t->memory += tli_mem_store_size(t->head.grow->parts[i]->store);
    for (i = 0; i < t->head.grow->footers.count; i++)
        t->memory += tli_mem_store_size(t->head.grow->footers.groups[i]->store);
    return TL_OK;
}

/* Its index: the section is in the document whatever it costs, for the next commit to go on from; publishing knows the
   budget. */
TLI_FN tl_status tli_commitplan_add_index(tli_commitplan *p)
{
    const struct ArrowArray *rows = p->index.rows;
    tl_status st;
    if (p->index.store == NULL || !p->table->has_files)
        return TL_OK;
    st = tl_document_add(&p->table->head.document, tl_text("last_values"), p->index.schema, &rows, 1, p->err);
    p->table->store = p->index.store;
    p->table->memory += tli_mem_store_size(p->index.store);
    p->index.store = NULL;
    return st;
}

/* Writes the rows of a new index as a file. Rows that no file can be made of are no index. */
TLI_FN tl_status tli_commitplan_write_index(tli_commitplan *p)
{
    tli_commitplan_object *o = &p->objects[TLI_COMMITPLAN_LAST_VALUES];
    const struct ArrowArray *rows = p->index.rows;
    tl_status st = p->codec.encode != NULL
        ? p->codec.encode(p->codec.context, &o->bytes, p->index.schema, rows, p->err)
        : tl_parquet_write(&o->bytes, p->index.schema, &rows, 1, NULL, p->err);
    if (st == TL_OK) {
        st = tli_commitplan_name(p, &o->key, "lvi-", p->snapshot_id, ".parquet");
        p->index.path = o->key;
        return st;
    }
    if (st == TL_NO_MEMORY || st == TL_BLOCK_FULL)
        return st;
    tl_buffer_free(&o->bytes);
    tli_indexplan_end(&p->index);
    p->index.why = *p->err;
    return TL_OK;
}

TLI_FN tl_status tli_commitplan_plan_index(tli_commitplan *p)
{
    const tl_metadata *m = &p->base->metadata;
    const tl_json_node *summary = tl_json_member(&m->json, m->snapshot, tl_text("summary"));
    uint64_t total = tli_commitplan_total(p, summary, "total-records");
    tl_files live;
    tl_status st = TL_OK;
    if (p->base->has_files) {
        st = tl_head_files(&p->base->head, &live, p->err);
        total = st == TL_OK ? TLI_MAX(total, live.count) : 0; /* a summary need not say how many there are */
    }
    if (st == TL_OK)
        st = tli_indexplan_make(&p->index, p->change, p->base, total, p->index_rows, &p->limits, &p->allocator, p->err);
    return st == TL_OK && p->index.made ? tli_commitplan_write_index(p) : st;
}

/* With all manifests read that were picked: makes everything there is to write. */
TLI_FN tl_status tli_commitplan_finish(tli_commitplan *p)
{
    tli_iceberg_list *list = NULL;
    tl_status st = TL_OK;
    if (p->base == NULL)
        st = tli_newtable_metadata(&p->metadata, p->location, p->change->table, p->change->properties,
                                   p->change->property_count, p->random, p->timestamp, p->err);
    if (p->base != NULL && tli_commitplan_snapshots(p)) {
        list = tli_iceberg_new_list(&p->allocator, p->limits.decoded_bytes, p->err);
        st = list == NULL ? p->err->status : tli_commitplan_manifests(p, list);
    }
    if (st == TL_OK && p->base != NULL)
        st = tli_commitplan_plan_index(p);
    if (st == TL_OK && p->base != NULL)
        st = tli_commitplan_update(p);
    if (st == TL_OK)
        st = tli_commitplan_build(p);
    if (st == TL_OK)
        st = tli_commitplan_add_index(p);
    if (st == TL_OK)
        p->table->manifests = list;
    else
        tli_iceberg_delete_list(list);
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
