/* >>iceberg: manifest lists and manifests, into the sections of a head's layout. Source: the Apache Iceberg table spec,
   "Manifests" and "Manifest Lists"; its field ids are the numbers below. */
#ifndef TIMELAKE_NO_LAKE

/* A manifest, as the list has it. */
typedef struct tli_iceberg_manifest {
    tl_span path;
    int64_t length;
    int64_t sequence_number;
    int64_t min_sequence_number;
    int64_t added_snapshot_id;
    int64_t spec_id;
    int64_t content; /* 0: data, 1: deletes */
    int64_t counts[6]; /* files, then rows: added, existing, deleted */
    tl_span partitions; /* the summaries as this library writes them in Avro: an array; absent if there are none */
    tl_span key_metadata;
    uint8_t counted; /* a bit for each count that is there */
    uint8_t lossy;   /* the entry says more than is kept of it here */
} tli_iceberg_manifest;

typedef struct tli_iceberg_list {
    tli_iceberg_manifest *entries;
    uint32_t count;
    uint32_t capacity;
    tli_store *store;
} tli_iceberg_list;

/* The live files of a snapshot, gathered manifest by manifest. */
typedef struct tli_iceberg_files {
    const tl_metadata *metadata;
    tl_limits limits;
    tl_allocator allocator;
    tli_store *store; /* of paths and bounds, until they are in the document */
    tl_file *files;
    tl_column *columns;
    int64_t *splits;
    size_t file_count, file_capacity, column_count, column_capacity, split_count, split_capacity;
    size_t lossy; /* entries that say more than is kept of them here: no manifest with them is written anew */
} tli_iceberg_files;

/* Room for one more item of a growing array: the block, moved or not; NULL with err filled. What it grows by is charged
   to the store: a manifest of a few bytes may announce millions of entries. */
TLI_FN void *tli_iceberg_room(tli_store *store, void *items, size_t *capacity, size_t count, size_t size, tl_error *err)
{
    size_t more = *capacity == 0 ? 64 : *capacity + *capacity / 2;
    void *grown;
    if (count < *capacity)
        return items;
    if ((uint64_t)(more - *capacity) * size > store->budget) {
        (void)tli_err_need(err, TL_LIMIT, "limits.decoded_bytes", TL_NO_POSITION, (uint64_t)more * size);
        return NULL;
    }
    grown = tli_mem_resize(&store->allocator, items, *capacity * size, more * size);
    if (grown == NULL) {
        (void)tli_mem_failed(&store->allocator, err);
        return NULL;
    }
    store->budget -= (uint64_t)(more - *capacity) * size;
    *capacity = more;
    return grown;
}

TLI_FN tl_status tli_iceberg_keep(tli_store *store, tl_span *bytes, tl_error *err)
{
    char *copy;
    if (bytes->data == NULL)
        return TL_OK;
    copy = (char *)tli_mem_take(store, bytes->size, err);
    if (copy == NULL)
        return TL_NO_MEMORY;
    if (bytes->size != 0)
        TLI_COPY(copy, bytes->data, bytes->size);
    bytes->data = copy;
    return TL_OK;
}

/* ---- fields by id, or by the names of the spec where a writer left the ids out ---- */

typedef struct tli_iceberg_name {
    const char *name;
    int32_t id;
} tli_iceberg_name;

/* The id of a field: its own, else the one its name stands for (of a nested record's fields: `inner` of their
   parent). */
TLI_FN int32_t tli_iceberg_id(const tl_avro_node *field, const tli_iceberg_name *names, size_t count)
{
    size_t i;
    if (field->field_id >= 0)
        return field->field_id;
    for (i = 0; i < count; i++)
        if (tli_text_is(field->name, names[i].name))
            return names[i].id;
    return -1;
}

/* No field that is read may stand twice in one record: which of the two would it be? */
TLI_FN tl_status tli_iceberg_unique(const tl_avro *avro, const tl_avro_node *record, const tli_iceberg_name *names,
                                    size_t count, tl_error *err)
{
    uint32_t i, a, seen = 0;
    size_t k;
    for (i = 0, a = record->first; i < record->count; i++, a = avro->nodes[a].next) {
        int32_t id = tli_iceberg_id(&avro->nodes[a], names, count);
        for (k = 0; k < count; k++) {
            if (names[k].id != id)
                continue;
            if (seen >> k & 1)
                return tli_err(err, TL_CORRUPT, "a field stands twice in an Avro schema", TL_NO_POSITION);
            seen |= (uint32_t)1 << k;
        }
    }
    return TL_OK;
}

/* ---- manifest lists ---- */

static const tli_iceberg_name tli_iceberg_list_names[] = {
    {"manifest_path", 500},   {"manifest_length", 501},     {"partition_spec_id", 502},
    {"content", 517},         {"sequence_number", 515},     {"min_sequence_number", 516},
    {"added_snapshot_id", 503}, {"partitions", 507},        {"key_metadata", 519},
    {"added_files_count", 504}, {"existing_files_count", 505}, {"deleted_files_count", 506},
    {"added_rows_count", 512}, {"existing_rows_count", 513}, {"deleted_rows_count", 514}};

/* Is a field of the list kept, whatever becomes of it? */
TLI_FN int tli_iceberg_is_list_id(int32_t id)
{
    size_t i;
    for (i = 0; i < TLI_COUNT(tli_iceberg_list_names); i++)
        if (tli_iceberg_list_names[i].id == id)
            return 1;
    return 0;
}

TLI_FN void tli_iceberg_list_value(tli_iceberg_manifest *m, int32_t id, const tl_avro_value *v, uint32_t *seen)
{
    static const struct {
        int32_t id;
        size_t offset;
    } members[] = {{501, offsetof(tli_iceberg_manifest, length)},
                   {502, offsetof(tli_iceberg_manifest, spec_id)},
                   {503, offsetof(tli_iceberg_manifest, added_snapshot_id)},
                   {515, offsetof(tli_iceberg_manifest, sequence_number)},
                   {516, offsetof(tli_iceberg_manifest, min_sequence_number)},
                   {517, offsetof(tli_iceberg_manifest, content)}};
    static const uint16_t counts[] = {504, 505, 506, 512, 513, 514};
    size_t i;
    int integer = v->node->kind == TL_AVRO_INT || v->node->kind == TL_AVRO_LONG;
    if (id == 500 && v->node->kind == TL_AVRO_STRING) {
        m->path = v->bytes;
        *seen |= 1;
    }
    for (i = 0; i < TLI_COUNT(members) && integer; i++)
        if (members[i].id == id) {
            TLI_COPY((char *)m + members[i].offset, &v->number, sizeof v->number);
            *seen |= 2u << i;
        }
    for (i = 0; i < TLI_COUNT(counts) && integer; i++)
        if (counts[i] == id) {
            m->counts[i] = v->number;
            m->counted |= (uint8_t)(1u << i);
        }
    if (id == 519 && v->node->kind == TL_AVRO_BYTES)
        m->key_metadata = v->bytes;
    m->lossy |= (uint8_t)(id != 519 && v->node->kind != TL_AVRO_NULL && !tli_iceberg_is_list_id(id));
}

#ifndef TIMELAKE_NO_COMMIT
/* A partition summary that is being read; it is written anew where the list is carried into another version. */
typedef struct tli_iceberg_summary {
    tl_buffer out; /* of the entry: all summaries, encoded */
    int64_t count;
    uint8_t open;  /* within the list's summaries */
    uint8_t contains_null, has_nan, nan;
    tl_span bounds[2];
} tli_iceberg_summary;

TLI_FN tl_status tli_iceberg_end_summary(tli_iceberg_summary *s, tl_error *err)
{
    tl_status st = tli_avrowrite_put_long(&s->out, s->contains_null, err);
    size_t i;
    if (st == TL_OK)
        st = tli_avrowrite_put_long(&s->out, s->has_nan, err);
    if (st == TL_OK && s->has_nan)
        st = tli_avrowrite_put_long(&s->out, s->nan, err);
    for (i = 0; i < 2 && st == TL_OK; i++) {
        st = tli_avrowrite_put_long(&s->out, s->bounds[i].data != NULL, err);
        if (st == TL_OK && s->bounds[i].data != NULL)
            st = tli_avrowrite_put_bytes(&s->out, s->bounds[i], err);
    }
    s->count++;
    return st;
}

/* Follows the events of the list's field 507; others are passed over. */
TLI_FN tl_status tli_iceberg_summarize(tli_iceberg_summary *s, const tl_avro *avro, const tl_avro_value *v,
                                       tl_error *err)
{
    static const tli_iceberg_name names[] = {
        {"contains_null", 509}, {"contains_nan", 518}, {"lower_bound", 510}, {"upper_bound", 511}};
    int32_t id;
    if (v->event == TL_AVRO_BEGIN && avro->depth == 2)
        s->open = (uint8_t)(tli_iceberg_id(v->field, tli_iceberg_list_names, TLI_COUNT(tli_iceberg_list_names)) == 507
                            && v->node->kind == TL_AVRO_ARRAY);
    else if (v->event == TL_AVRO_BEGIN && avro->depth == 3) {
        s->contains_null = s->has_nan = s->nan = 0;
        s->bounds[0] = s->bounds[1] = tli_text_span(NULL, 0);
    } else if (v->event == TL_AVRO_END && avro->depth == 2 && s->open)
        return tli_iceberg_end_summary(s, err);
    else if (v->event == TL_AVRO_END && avro->depth == 1)
        s->open = 0;
    if (v->event != TL_AVRO_VALUE || avro->depth != 3 || !s->open || v->node->kind == TL_AVRO_NULL)
        return TL_OK;
    id = tli_iceberg_id(v->field, names, TLI_COUNT(names));
    if (id == 509)
        s->contains_null = (uint8_t)(v->number != 0);
    if (id == 518) {
        s->has_nan = 1;
        s->nan = (uint8_t)(v->number != 0);
    }
    if ((id == 510 || id == 511) && v->node->kind == TL_AVRO_BYTES)
        s->bounds[id - 510] = v->bytes;
    return TL_OK;
}

/* The row is whole: its summaries become the entry's, as one array. */
TLI_FN tl_status tli_iceberg_take_summaries(tli_iceberg_summary *s, tli_iceberg_list *list, tli_iceberg_manifest *m,
                                            tl_error *err)
{
    tl_buffer whole;
    tl_status st = TL_OK;
    if (s->count == 0)
        return TL_OK;
    TLI_FILL(&whole, 0, sizeof whole);
    whole.allocator = list->store->allocator;
    st = tli_avrowrite_put_long(&whole, s->count, err);
    if (st == TL_OK)
        st = tli_mem_append(&whole, s->out.data, s->out.size, err);
    if (st == TL_OK)
        st = tli_avrowrite_put_long(&whole, 0, err);
    m->partitions = tli_text_span(whole.data, whole.size);
    if (st == TL_OK)
        st = tli_iceberg_keep(list->store, &m->partitions, err);
    tl_buffer_free(&whole);
    s->out.size = 0;
    s->count = 0;
    return st;
}
#endif

/* One row of the list is whole: path, length, spec and snapshot must have been there. */
TLI_FN tl_status tli_iceberg_list_row(tli_iceberg_list *list, tli_iceberg_manifest *m, uint32_t seen,
                                      tl_error *err)
{
    size_t capacity = list->capacity;
    tli_iceberg_manifest *entries;
    tl_status st;
    if ((seen & 3) != 3 || m->length < 0)
        return tli_err(err, TL_CORRUPT, "a manifest list entry without path or length", TL_NO_POSITION);
    if (m->content != 0)
        return tli_err(err, TL_UNSUPPORTED, "a manifest of delete files", TL_NO_POSITION);
    entries = (tli_iceberg_manifest *)tli_iceberg_room(list->store, list->entries, &capacity, list->count, sizeof *m,
                                                       err);
    if (entries == NULL)
        return err->status;
    list->entries = entries;
    list->capacity = (uint32_t)capacity;
    st = tli_iceberg_keep(list->store, &m->path, err);
    if (st == TL_OK)
        st = tli_iceberg_keep(list->store, &m->key_metadata, err);
    if (st == TL_OK)
        list->entries[list->count++] = *m;
    return st;
}

TLI_FN void tli_iceberg_free_list(tli_iceberg_list *list)
{
    if (list->store != NULL)
        tli_mem_delete(&list->store->allocator, list->entries, list->capacity * sizeof *list->entries);
    tli_mem_store_drop(list->store);
    TLI_FILL(list, 0, sizeof *list);
}

/* A list of its own, empty; and its end, NULL is fine. */
TLI_FN tli_iceberg_list *tli_iceberg_new_list(const tl_allocator *allocator, uint64_t budget, tl_error *err)
{
    tli_iceberg_list *list = (tli_iceberg_list *)tli_mem_new(allocator, sizeof *list);
    if (list == NULL) {
        (void)tli_mem_failed(allocator, err);
        return NULL;
    }
    TLI_FILL(list, 0, sizeof *list);
    list->store = tli_mem_store_new(allocator, budget, NULL, 0, NULL, NULL, err);
    if (list->store == NULL) {
        tli_mem_delete(allocator, list, sizeof *list);
        return NULL;
    }
    return list;
}

TLI_FN void tli_iceberg_delete_list(tli_iceberg_list *list)
{
    tl_allocator a;
    if (list == NULL)
        return;
    a = list->store->allocator;
    tli_iceberg_free_list(list);
    tli_mem_delete(&a, list, sizeof *list);
}

#ifndef TIMELAKE_NO_COMMIT
/* Adds a copy of an entry. */
TLI_FN tl_status tli_iceberg_carry(tli_iceberg_list *list, const tli_iceberg_manifest *m, tl_error *err)
{
    tli_iceberg_manifest copy = *m;
    tl_status st = tli_iceberg_keep(list->store, &copy.partitions, err);
    return st == TL_OK ? tli_iceberg_list_row(list, &copy, 3, err) : st;
}
#endif

TLI_FN tl_status tli_iceberg_read_rows(tli_iceberg_list *list, tl_avro *avro, const tl_limits *limits, tl_error *err)
{
    const size_t names = TLI_COUNT(tli_iceberg_list_names);
#ifndef TIMELAKE_NO_COMMIT
    tli_iceberg_summary summary;
#endif
    tl_avro_value v;
    tli_iceberg_manifest m;
    uint32_t seen = 0;
    tl_status st = tli_iceberg_unique(avro, &avro->nodes[0], tli_iceberg_list_names, names, err);
    TLI_FILL(&m, 0, sizeof m);
#ifndef TIMELAKE_NO_COMMIT
    TLI_FILL(&summary, 0, sizeof summary);
    summary.out.allocator = list->store->allocator;
#endif
    v.event = TL_AVRO_VALUE;
    while (st == TL_OK && v.event != TL_AVRO_EOF) {
        st = tl_avro_next(avro, &v, err);
        if (st != TL_OK)
            break;
        if (v.event == TL_AVRO_VALUE && avro->depth == 1)
            tli_iceberg_list_value(&m, tli_iceberg_id(v.field, tli_iceberg_list_names, names), &v, &seen);
#ifndef TIMELAKE_NO_COMMIT
        st = tli_iceberg_summarize(&summary, avro, &v, err);
        if (st == TL_OK && v.event == TL_AVRO_ROW)
            st = tli_iceberg_take_summaries(&summary, list, &m, err);
#endif
        if (st != TL_OK || v.event != TL_AVRO_ROW)
            continue;
        if (avro->rows > limits->batches)
            st = tli_err_need(err, TL_LIMIT, "limits.batches", TL_NO_POSITION, avro->rows);
        else
            st = tli_iceberg_list_row(list, &m, seen, err);
        TLI_FILL(&m, 0, sizeof m);
        seen = 0;
    }
#ifndef TIMELAKE_NO_COMMIT
    tl_buffer_free(&summary.out);
#endif
    return st;
}

/* Reads a manifest list. On failure nothing is held. */
TLI_FN tl_status tli_iceberg_read_list(tli_iceberg_list *list, const void *bytes, size_t size, const tl_limits *limits,
                                       const tl_allocator *allocator, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    tl_avro *avro;
    tl_status st;
    TLI_FILL(list, 0, sizeof *list);
    list->store = tli_mem_store_new(&a, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    avro = (tl_avro *)tli_mem_new(&a, sizeof *avro);
    if (list->store == NULL || avro == NULL) {
        tli_mem_delete(&a, avro, sizeof *avro);
        tli_iceberg_free_list(list);
        return tli_mem_failed(&a, err);
    }
    st = tl_avro_open(avro, bytes, size, limits, &a, err);
    if (st == TL_OK)
        st = tli_iceberg_read_rows(list, avro, limits, err);
    tl_avro_close(avro);
    tli_mem_delete(&a, avro, sizeof *avro);
    if (st != TL_OK)
        tli_iceberg_free_list(list);
    return st;
}

/* The same into a list of its own; NULL with err filled. */
TLI_FN tli_iceberg_list *tli_iceberg_read_new_list(const void *bytes, size_t size, const tl_limits *limits,
                                                   const tl_allocator *allocator, tl_error *err)
{
    tli_iceberg_list *list = (tli_iceberg_list *)tli_mem_new(allocator, sizeof *list);
    if (list == NULL) {
        (void)tli_mem_failed(allocator, err);
        return NULL;
    }
    if (tli_iceberg_read_list(list, bytes, size, limits, allocator, err) == TL_OK)
        return list;
    tli_mem_delete(allocator, list, sizeof *list);
    return NULL;
}

/* ---- manifests ---- */

static const tli_iceberg_name tli_iceberg_entry_names[] = {
    {"status", 0},           {"snapshot_id", 1},       {"sequence_number", 3},   {"file_sequence_number", 4},
    {"data_file", 2},        {"content", 134},         {"file_path", 100},       {"partition", 102},
    {"record_count", 103},   {"file_size_in_bytes", 104}, {"column_sizes", 108}, {"value_counts", 109},
    {"null_value_counts", 110}, {"nan_value_counts", 137}, {"lower_bounds", 125}, {"upper_bounds", 128},
    {"split_offsets", 132},  {"sort_order_id", 140}};

/* What is being read of an entry. */
typedef struct tli_iceberg_entry {
    tl_file file;
    int64_t status, content;
    int64_t snapshot_id, sequence_number, file_sequence_number;
    uint32_t seen; /* bit by bit: status, snapshot, sequence, file sequence, path, records, size */
    int32_t stat;  /* the map that is open: its field id, or 0 */
    int64_t key;   /* of the map's entry */
    tl_avro_value value;    /* the same, while its key is not read yet */
    uint8_t keyed, valued;
    size_t first_column, first_split;
    size_t expect;  /* where the map's next id probably is */
    uint8_t unsorted;
    uint32_t partition_depth; /* of the partition record, 0: not within */
    uint8_t lossy;
} tli_iceberg_entry;

enum {
    TLI_ICEBERG_STATUS = 1, TLI_ICEBERG_SNAPSHOT = 2, TLI_ICEBERG_SEQUENCE = 4, TLI_ICEBERG_FILE_SEQUENCE = 8,
    TLI_ICEBERG_PATH = 16, TLI_ICEBERG_RECORDS = 32, TLI_ICEBERG_SIZE = 64
};

#define TLI_ICEBERG_UNSORTED 4096 /* columns of an entry that may come out of order: each is searched for */

/* The statistics of a field id in the entry, made when it is the first. Maps name the ids in the same rising order. */
TLI_FN tl_column *tli_iceberg_column(tli_iceberg_files *f, tli_iceberg_entry *e, tl_error *err)
{
    size_t i;
    tl_column *c;
    if (e->expect < f->column_count && f->columns[e->expect].field_id == (int32_t)e->key)
        return &f->columns[e->expect++];
    if (f->column_count != e->first_column && f->columns[f->column_count - 1].field_id >= (int32_t)e->key) {
        if (f->column_count - e->first_column > TLI_ICEBERG_UNSORTED) {
            (void)tli_err(err, TL_LIMIT, "statistics of too many columns out of order", TL_NO_POSITION);
            return NULL;
        }
        e->unsorted = 1;
    }
    for (i = f->column_count; e->unsorted && i > e->first_column; i--)
        if (f->columns[i - 1].field_id == (int32_t)e->key)
            return &f->columns[i - 1];
    c = (tl_column *)tli_iceberg_room(f->store, f->columns, &f->column_capacity, f->column_count, sizeof *c, err);
    if (c == NULL)
        return NULL;
    f->columns = c;
    c = &f->columns[f->column_count++];
    TLI_FILL(c, 0, sizeof *c);
    c->file = (uint32_t)f->file_count;
    c->field_id = (int32_t)e->key;
    return c;
}

/* A value of one of the maps. */
TLI_FN tl_status tli_iceberg_stat(tli_iceberg_files *f, tli_iceberg_entry *e, const tl_avro_value *v, tl_error *err)
{
    tl_column *c;
    int bytes = v->node->kind == TL_AVRO_BYTES || v->node->kind == TL_AVRO_FIXED;
    tl_span *bound;
    uint64_t *count = NULL;
    uint8_t *has = NULL;
    if (e->key < INT32_MIN || e->key > INT32_MAX)
        return tli_err(err, TL_CORRUPT, "a manifest's statistics of an impossible field id", TL_NO_POSITION);
    c = tli_iceberg_column(f, e, err);
    if (c == NULL)
        return err->status;
    if (e->stat == 125 || e->stat == 128) {
        bound = e->stat == 125 ? &c->lower : &c->upper;
        if (!bytes)
            return tli_err(err, TL_CORRUPT, "a bound in a manifest that is no bytes", TL_NO_POSITION);
        *bound = v->bytes;
        return tli_iceberg_keep(f->store, bound, err);
    }
    switch (e->stat) {
    case 108: count = &c->size; has = &c->has_size; break;
    case 109: count = &c->values; has = &c->has_values; break;
    case 110: count = &c->nulls; has = &c->has_nulls; break;
    default: count = &c->nans; has = &c->has_nans; break;
    }
    if (bytes || v->number < 0)
        return tli_err(err, TL_CORRUPT, "a count in a manifest that is none", TL_NO_POSITION);
    *count = (uint64_t)v->number;
    *has = 1;
    return TL_OK;
}

/* Key or value of a map's entry, whichever comes first; other fields are passed over. */
TLI_FN tl_status tli_iceberg_pair(tli_iceberg_files *f, tli_iceberg_entry *e, const tl_avro_value *v, tl_error *err)
{
    static const uint8_t keys[] = {117, 119, 121, 126, 129, 138}, values[] = {118, 120, 122, 127, 130, 139};
    int32_t id = v->field->field_id;
    int key = id < 0 && tli_text_is(v->field->name, "key");
    int value = id < 0 && tli_text_is(v->field->name, "value");
    size_t i;
    for (i = 0; id >= 0 && i < TLI_COUNT(keys); i++) {
        key |= id == keys[i];
        value |= id == values[i];
    }
    if (key) {
        e->key = v->number;
        e->keyed = 1;
    } else if (value) {
        e->value = *v;
        e->valued = 1;
    }
    if (!e->keyed || !e->valued)
        return TL_OK;
    e->keyed = e->valued = 0;
    return e->value.node->kind == TL_AVRO_NULL ? TL_OK : tli_iceberg_stat(f, e, &e->value, err);
}

TLI_FN tl_status tli_iceberg_split(tli_iceberg_files *f, tli_iceberg_entry *e, int64_t value, tl_error *err)
{
    int64_t *splits = (int64_t *)tli_iceberg_room(f->store, f->splits, &f->split_capacity, f->split_count,
                                                  sizeof *splits, err);
    if (splits == NULL)
        return err->status;
    f->splits = splits;
    f->splits[f->split_count++] = value;
    e->file.split_count++;
    return TL_OK;
}

/* A partition value that is one int: its hours, days or months. */
TLI_FN void tli_iceberg_partition(tli_iceberg_entry *e, const tl_avro_value *v)
{
    int integer = v->node->kind == TL_AVRO_INT || v->node->kind == TL_AVRO_LONG;
    if (integer && v->number >= INT32_MIN && v->number <= INT32_MAX && !e->file.has_partition) {
        e->file.partition = (int32_t)v->number;
        e->file.has_partition = 1;
    }
}

/* A single value outside maps, lists and the partition. */
TLI_FN tl_status tli_iceberg_scalar(tli_iceberg_files *f, tli_iceberg_entry *e, int32_t id, const tl_avro_value *v,
                                    tl_error *err)
{
    int integer = v->node->kind == TL_AVRO_INT || v->node->kind == TL_AVRO_LONG;
    if (v->node->kind == TL_AVRO_NULL)
        return TL_OK;
    if (id == 100) {
        e->file.path = v->bytes;
        e->seen |= TLI_ICEBERG_PATH;
        return v->node->kind == TL_AVRO_STRING ? tli_iceberg_keep(f->store, &e->file.path, err)
                                               : tli_err(err, TL_CORRUPT, "a file path that is no string",
                                                         TL_NO_POSITION);
    }
    if (!integer)
        return TL_OK;
    switch (id) {
    case 0: e->status = v->number; e->seen |= TLI_ICEBERG_STATUS; break;
    case 1: e->snapshot_id = v->number; e->seen |= TLI_ICEBERG_SNAPSHOT; break;
    case 3: e->sequence_number = v->number; e->seen |= TLI_ICEBERG_SEQUENCE; break;
    case 4: e->file_sequence_number = v->number; e->seen |= TLI_ICEBERG_FILE_SEQUENCE; break;
    case 134: e->content = v->number; break;
    case 103: e->file.records = (uint64_t)v->number; e->seen |= v->number >= 0 ? TLI_ICEBERG_RECORDS : 0; break;
    case 104: e->file.size = (uint64_t)v->number; e->seen |= v->number >= 0 ? TLI_ICEBERG_SIZE : 0; break;
    case 140:
        e->file.sort_order_id = (int32_t)v->number;
        e->file.has_sort_order_id = (uint8_t)(v->number >= INT32_MIN && v->number <= INT32_MAX);
        break;
    default: break;
    }
    return TL_OK;
}

/* Does a value of a data file say what a rewrite would lose? */
TLI_FN int tli_iceberg_is_more(int32_t id, const tl_avro_value *v)
{
    if (id == 101 || (id < 0 && tli_text_is(v->field->name, "file_format")))
        return !tli_text_is(v->bytes, "PARQUET");
    return v->node->kind != TL_AVRO_NULL && id != 134 && id != 100 && id != 103 && id != 104 && id != 140;
}

/* Where in an entry a value stands is told by the frames that are open: entry, data_file, then what is in it. */
TLI_FN tl_status tli_iceberg_value(tli_iceberg_files *f, tli_iceberg_entry *e, const tl_avro *avro,
                                   const tl_avro_value *v, tl_error *err)
{
    const tl_avro_frame *top = &avro->frames[avro->depth - 1];
    int32_t id;
    if (e->partition_depth != 0) {
        tli_iceberg_partition(e, v);
        return TL_OK;
    }
    if (e->stat == 132) {
        if (v->node->kind != TL_AVRO_INT && v->node->kind != TL_AVRO_LONG)
            return tli_err(err, TL_CORRUPT, "a manifest's split offsets are no integers", TL_NO_POSITION);
        return tli_iceberg_split(f, e, v->number, err);
    }
    if (e->stat != 0) {
        if (avro->depth > 4) /* within a field that is not known */
            return TL_OK;
        if (top->node->kind != TL_AVRO_RECORD)
            return tli_err(err, TL_CORRUPT, "a manifest's statistics are no map", TL_NO_POSITION);
        return tli_iceberg_pair(f, e, v, err);
    }
    if (avro->depth > 2) { /* in something that is not read here */
        e->lossy = 1;
        return TL_OK;
    }
    id = tli_iceberg_id(v->field, tli_iceberg_entry_names, TLI_COUNT(tli_iceberg_entry_names));
    e->lossy |= (uint8_t)(avro->depth == 2 && tli_iceberg_is_more(id, v));
    if ((id == 134 || id >= 100) != (avro->depth == 2)) /* names repeat between entry and data_file */
        return TL_OK;
    return tli_iceberg_scalar(f, e, id, v, err);
}

TLI_FN tl_status tli_iceberg_begin_value(tli_iceberg_entry *e, const tl_avro *avro, const tl_avro_value *v,
                                         tl_error *err)
{
    int32_t id;
    if (avro->depth == 4)
        e->keyed = e->valued = 0;
    if (avro->depth != 3)
        return TL_OK;
    e->expect = e->first_column;
    id = tli_iceberg_id(v->field, tli_iceberg_entry_names, TLI_COUNT(tli_iceberg_entry_names));
    if (id == 102)
        e->partition_depth = 3;
    else if (id == 108 || id == 109 || id == 110 || id == 137 || id == 125 || id == 128)
        e->stat = id;
    else if (id == 132) {
        e->stat = id;
        e->file.has_split_offsets = 1;
    }
    if (e->stat != 0 && v->node->kind != TL_AVRO_ARRAY)
        return tli_err(err, TL_CORRUPT, "a manifest's statistics are no list", TL_NO_POSITION);
    return TL_OK;
}

TLI_FN void tli_iceberg_end_value(tli_iceberg_entry *e, const tl_avro *avro)
{
    if (avro->depth == 2) {
        e->stat = 0;
        e->partition_depth = 0;
    }
}

/* What a null inherits from the manifest. */
TLI_FN void tli_iceberg_inherit(tli_iceberg_entry *e, const tli_iceberg_manifest *m)
{
    int64_t number = e->status == 1 ? m->sequence_number : 0;
    e->file.added = (uint8_t)(e->status == 1);
    e->file.snapshot_id = e->seen & TLI_ICEBERG_SNAPSHOT ? e->snapshot_id : m->added_snapshot_id;
    e->file.sequence_number = e->seen & TLI_ICEBERG_SEQUENCE ? e->sequence_number : number;
    e->file.file_sequence_number = e->seen & TLI_ICEBERG_FILE_SEQUENCE ? e->file_sequence_number : number;
}

/* An entry is whole: it joins the files unless it is a deletion. */
TLI_FN tl_status tli_iceberg_row(tli_iceberg_files *f, tli_iceberg_entry *e, const tli_iceberg_manifest *m,
                                 tl_error *err)
{
    const uint32_t needed = TLI_ICEBERG_STATUS | TLI_ICEBERG_PATH | TLI_ICEBERG_RECORDS | TLI_ICEBERG_SIZE;
    tl_file *files;
    if ((e->seen & needed) != needed || e->status < 0 || e->status > 2)
        return tli_err(err, TL_CORRUPT, "a manifest entry without status, path, rows or size", TL_NO_POSITION);
    if (e->content != 0)
        return tli_err(err, TL_UNSUPPORTED, "a manifest with delete files", TL_NO_POSITION);
    if (e->status == 2) {
        f->column_count = e->first_column;
        f->split_count = e->first_split;
        return TL_OK;
    }
    if (f->file_count >= UINT32_MAX || f->file_count >= f->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", TL_NO_POSITION, f->file_count);
    files = (tl_file *)tli_iceberg_room(f->store, f->files, &f->file_capacity, f->file_count, sizeof e->file, err);
    if (files == NULL)
        return err->status;
    f->files = files;
    f->lossy += e->lossy;
    tli_iceberg_inherit(e, m);
    if (m->spec_id != f->metadata->default_spec_id) { /* the number of another partitioning */
        e->file.has_partition = 0;
        e->file.partition = 0;
    }
    f->files[f->file_count++] = e->file;
    return TL_OK;
}

TLI_FN void tli_iceberg_next_entry(const tli_iceberg_files *f, tli_iceberg_entry *e)
{
    TLI_FILL(e, 0, sizeof *e);
    e->first_column = f->column_count;
    e->first_split = f->split_count;
}

TLI_FN tl_status tli_iceberg_read_entries(tli_iceberg_files *f, tl_avro *avro, const tli_iceberg_manifest *m,
                                          tl_error *err)
{
    tli_iceberg_entry e;
    tl_avro_value v;
    tl_status st = TL_OK;
    tli_iceberg_next_entry(f, &e);
    v.event = TL_AVRO_VALUE;
    while (st == TL_OK && v.event != TL_AVRO_EOF) {
        st = tl_avro_next(avro, &v, err);
        if (st != TL_OK)
            break;
        if (v.event == TL_AVRO_VALUE)
            st = tli_iceberg_value(f, &e, avro, &v, err);
        else if (v.event == TL_AVRO_BEGIN)
            st = tli_iceberg_begin_value(&e, avro, &v, err);
        else if (v.event == TL_AVRO_END)
            tli_iceberg_end_value(&e, avro);
        else if (v.event == TL_AVRO_ROW) {
            st = tli_iceberg_row(f, &e, m, err);
            tli_iceberg_next_entry(f, &e);
        }
    }
    return st;
}

TLI_FN tl_status tli_iceberg_begin(tli_iceberg_files *f, const tl_metadata *metadata, const tl_limits *limits,
                                   const tl_allocator *allocator, tl_error *err)
{
    TLI_FILL(f, 0, sizeof *f);
    f->metadata = metadata;
    f->limits = *limits;
    f->allocator = tli_mem_allocator(allocator);
    f->store = tli_mem_store_new(&f->allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    return f->store != NULL ? TL_OK : TL_NO_MEMORY;
}

/* The fields of an entry and of the data file in it stand there once. */
TLI_FN tl_status tli_iceberg_check_schema(const tl_avro *avro, tl_error *err)
{
    const tl_avro_node *root = &avro->nodes[0];
    const size_t count = TLI_COUNT(tli_iceberg_entry_names);
    tl_status st = tli_iceberg_unique(avro, root, tli_iceberg_entry_names, count, err);
    uint32_t i, a;
    for (i = 0, a = root->first; st == TL_OK && i < root->count; i++, a = avro->nodes[a].next)
        if (tli_iceberg_id(&avro->nodes[a], tli_iceberg_entry_names, count) == 2
            && avro->nodes[a].kind == TL_AVRO_RECORD)
            st = tli_iceberg_unique(avro, &avro->nodes[a], tli_iceberg_entry_names, count, err);
    return st;
}

/* Adds one manifest object, in the order of the list. The bytes are not needed afterwards. */
TLI_FN tl_status tli_iceberg_add(tli_iceberg_files *f, const tli_iceberg_manifest *manifest, const void *bytes,
                                 size_t size, tl_error *err)
{
    tl_avro *avro = (tl_avro *)tli_mem_new(&f->allocator, sizeof *avro);
    tl_status st;
    if (avro == NULL)
        return tli_mem_failed(&f->allocator, err);
    st = tl_avro_open(avro, bytes, size, &f->limits, &f->allocator, err);
    if (st == TL_OK)
        st = tli_iceberg_check_schema(avro, err);
    if (st == TL_OK)
        st = tli_iceberg_read_entries(f, avro, manifest, err);
    tl_avro_close(avro);
    tli_mem_delete(&f->allocator, avro, sizeof *avro);
    return st;
}

/* Fills a document with the sections of layout 1. */
TLI_FN tl_status tli_iceberg_finish(tli_iceberg_files *f, tl_document *document, tl_span metadata_text, tl_error *err)
{
    tl_head_parts parts;
    size_t i, split = 0;
    for (i = 0; i < f->file_count; i++) { /* only now do the split offsets lie still */
        f->files[i].split_offsets = f->splits == NULL ? NULL : f->splits + split;
        split += f->files[i].split_count;
    }
    TLI_FILL(&parts, 0, sizeof parts);
    parts.metadata = metadata_text;
    parts.files = f->files;
    parts.file_count = f->file_count;
    parts.columns = f->columns;
    parts.column_count = f->column_count;
    document->allocator = f->allocator;
    return tli_view_document(document, &parts, err);
}

TLI_FN void tli_iceberg_end(tli_iceberg_files *f)
{
    tli_mem_delete(&f->allocator, f->files, f->file_capacity * sizeof *f->files);
    tli_mem_delete(&f->allocator, f->columns, f->column_capacity * sizeof *f->columns);
    tli_mem_delete(&f->allocator, f->splits, f->split_capacity * sizeof *f->splits);
    tli_mem_store_drop(f->store);
    TLI_FILL(f, 0, sizeof *f);
}
#endif /* TIMELAKE_NO_LAKE */
