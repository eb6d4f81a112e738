/* >>lake */
#ifndef TIMELAKE_NO_LAKE
typedef struct tli_lake_entry {
    tl_table *table;     /* NULL: only the bar is known */
    char *location;      /* owned */
    size_t location_size;
    uint64_t hash;       /* of the location: entries are compared by it first */
    int64_t confirmed;   /* when it was known to be the newest; INT64_MIN: never checked */
    uint64_t used;
    uint64_t barred;     /* version of a head not to be used; 0: none */
} tli_lake_entry;

TLI_FN void tli_lake_lock(const tl_lake *lake)
{
    if (lake->options.lock != NULL)
        lake->options.lock(lake->options.context);
}

TLI_FN void tli_lake_unlock(const tl_lake *lake)
{
    if (lake->options.unlock != NULL)
        lake->options.unlock(lake->options.context);
}

TL_API tl_status tl_lake_init(tl_lake *lake, const tl_lake_options *options)
{
    TLI_FILL(lake, 0, sizeof *lake);
    if (options != NULL)
        lake->options = *options;
    lake->options.limits = tl_limits_resolve(&lake->options.limits);
    lake->options.op.allocator = tli_mem_allocator(&lake->options.op.allocator);
    lake->options.op.accept = lake->options.op.accept != 0 ? lake->options.op.accept
        : lake->options.limits.object_bytes;
    lake->options.memory = lake->options.memory != 0 ? lake->options.memory : (uint64_t)256 << 20;
    return (lake->options.lock == NULL) == (lake->options.unlock == NULL) ? TL_OK : TL_MISUSE;
}

/* ---- entries; the caller holds the lock ---- */

TLI_FN tli_lake_entry *tli_lake_entry_of(tl_lake *lake, tl_span location)
{
    uint64_t hash = tli_hash_xxh64(location.data, location.size, 0);
    uint32_t i;
    for (i = 0; i < lake->count; i++) {
        tli_lake_entry *e = &lake->entries[i];
        if (e->hash == hash && tl_span_equal(tli_text_span(e->location, e->location_size), location))
            return e;
    }
    return NULL;
}

/* A new entry, or NULL without memory: then the lake just does not know. */
TLI_FN tli_lake_entry *tli_lake_add(tl_lake *lake, tl_span location)
{
    const tl_allocator *a = &lake->options.op.allocator;
    tli_lake_entry *e;
    if (lake->count == lake->capacity) {
        uint32_t more = lake->capacity == 0 ? 8 : lake->capacity * 2;
        e = (tli_lake_entry *)tli_mem_resize(a, lake->entries, lake->capacity * sizeof *e, more * sizeof *e);
        if (e == NULL)
            return NULL;
        lake->entries = e;
        lake->capacity = more;
    }
    e = &lake->entries[lake->count];
    TLI_FILL(e, 0, sizeof *e);
    e->location = (char *)tli_mem_new(a, location.size + 1);
    if (e->location == NULL)
        return NULL;
    if (location.size != 0)
        TLI_COPY(e->location, location.data, location.size);
    e->location_size = location.size;
    e->hash = tli_hash_xxh64(location.data, location.size, 0);
    e->confirmed = INT64_MIN;
    lake->count++;
    return e;
}

/* Takes the version out of an entry; the caller drops it after the lock. */
TLI_FN tl_table *tli_lake_out(tl_lake *lake, tli_lake_entry *e)
{
    tl_table *t = e->table;
    if (t != NULL)
        lake->memory -= t->memory;
    e->table = NULL;
    e->confirmed = INT64_MIN;
    return t;
}

/* The least used version beside `but`, when the budget is passed; NULL when all fits. */
TLI_FN tl_table *tli_lake_evict(tl_lake *lake, const tli_lake_entry *but)
{
    tli_lake_entry *least = NULL;
    uint32_t i;
    if (lake->memory <= lake->options.memory)
        return NULL;
    for (i = 0; i < lake->count; i++) {
        tli_lake_entry *e = &lake->entries[i];
        if (e != but && e->table != NULL && (least == NULL || e->used < least->used))
            least = e;
    }
    return least == NULL ? NULL : tli_lake_out(lake, least);
}

/* ---- doors of the machines ---- */

/* The version known of a table (one count more), and when it was confirmed. NULL: none. */
TLI_FN tl_table *tli_lake_find(tl_lake *lake, tl_span location, int64_t *confirmed)
{
    tli_lake_entry *e;
    tl_table *t = NULL;
    *confirmed = INT64_MIN;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, location);
    if (e != NULL && e->table != NULL) {
        t = tl_table_keep(e->table);
        *confirmed = e->confirmed;
        e->used = ++lake->clock;
    }
    tli_lake_unlock(lake);
    return t;
}

#ifndef TIMELAKE_NO_COMMIT
/* A stream of random numbers of its own. 0: the lake has no seed. */
TLI_FN int tli_lake_random(tl_lake *lake, tli_rand *random)
{
    static const uint8_t none[16] = {0};
    uint64_t stream;
    tli_lake_lock(lake);
    stream = ++lake->drawn;
    tli_lake_unlock(lake);
    tli_rand_begin(random, lake->options.seed, stream);
    return TLI_COMPARE(lake->options.seed, none, sizeof none) != 0;
}
#endif

/* Is this table's head of `version` barred? */
TLI_FN int tli_lake_barred(tl_lake *lake, tl_span location, uint64_t version)
{
    const tli_lake_entry *e;
    int barred;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, location);
    barred = e != NULL && e->barred != 0 && e->barred == version;
    tli_lake_unlock(lake);
    return barred;
}

/* Is `known` to stay when `table` was loaded? A newer version is, unless it is of a table that was dropped and made
   anew at this place. */
TLI_FN int tli_lake_stays(const tl_table *known, const tl_table *table)
{
    if (!tl_span_equal(known->metadata.uuid, table->metadata.uuid))
        return 0;
    return known->version > table->version
           || (known->version == table->version && (known->has_files || !table->has_files));
}

/* Makes a version known, confirmed at `when` (INT64_MIN: not), and takes its count. Answers the version to go on with,
   counted for the caller: this one, the same one that was here before, or a newer one: a lake never goes back. */
TLI_FN tl_table *tli_lake_store(tl_lake *lake, tl_table *table, int64_t when)
{
    tli_lake_entry *e;
    tl_table *drop = NULL, *evicted;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, table->location);
    if (e == NULL)
        e = tli_lake_add(lake, table->location);
    if (e == NULL) {
        tli_lake_unlock(lake);
        return table;
    }
    if (e->table != NULL && tli_lake_stays(e->table, table)) {
        drop = table;
        if (e->table->version == table->version && when > e->confirmed)
            e->confirmed = when;
        table = tl_table_keep(e->table);
    } else {
        drop = tli_lake_out(lake, e);
        e->table = tl_table_keep(table);
        e->confirmed = when;
        lake->memory += table->memory;
    }
    e->used = ++lake->clock;
    while ((evicted = tli_lake_evict(lake, e)) != NULL) {
        tli_lake_unlock(lake);
        tl_table_drop(evicted);
        tli_lake_lock(lake);
        e = tli_lake_entry_of(lake, table->location);
    }
    tli_lake_unlock(lake);
    tl_table_drop(drop);
    return table;
}

TL_API void tl_lake_forget(tl_lake *lake, tl_span location)
{
    tli_lake_entry *e;
    tl_table *t;
    while (location.size != 0 && location.data[location.size - 1] == '/')
        location.size--;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, location);
    t = e == NULL ? NULL : tli_lake_out(lake, e);
    tli_lake_unlock(lake);
    tl_table_drop(t);
}

TL_API void tl_lake_bar(tl_lake *lake, const tl_table *table)
{
    tli_lake_entry *e;
    tl_table *t = NULL;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, table->location);
    if (e == NULL)
        e = tli_lake_add(lake, table->location);
    if (e != NULL) {
        if (table->source == TL_FROM_HEAD)
            e->barred = table->version;
        if (e->table != NULL && e->table->version == table->version)
            t = tli_lake_out(lake, e);
    }
    tli_lake_unlock(lake);
    tl_table_drop(t);
}

TL_API void tl_lake_free(tl_lake *lake)
{
    const tl_allocator *a = &lake->options.op.allocator;
    uint32_t i;
    for (i = 0; i < lake->count; i++) {
        tl_table_drop(lake->entries[i].table);
        tli_mem_delete(a, lake->entries[i].location, lake->entries[i].location_size + 1);
    }
    tli_mem_delete(a, lake->entries, lake->capacity * sizeof *lake->entries);
    lake->entries = NULL;
    lake->count = lake->capacity = 0;
}
#endif /* TIMELAKE_NO_LAKE */
