/* >>manifest: writing manifests and manifest lists. Source: the Apache Iceberg table spec, format 2, "Manifests" and
   "Manifest Lists"; the numbers below are its field ids. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

enum { TLI_MANIFEST_EXISTING, TLI_MANIFEST_ADDED, TLI_MANIFEST_DELETED };

#define TLI_MANIFEST_UNASSIGNED (-1) /* a sequence number that the commit gives */

/* ---- schemas ---- */

/* A field of a record. `type`: a JSON text; of a map "" with the ids of key and value and the value's type; of the
   partition record NULL. */
typedef struct tli_manifest_field {
    const char *name;
    const char *type;
    const char *value;
    int16_t id;
    int16_t key_id; /* of a map; of a list its element's id */
    uint8_t optional;
} tli_manifest_field;

static const tli_manifest_field tli_manifest_list_fields[] = {
    {"manifest_path", "\"string\"", NULL, 500, 0, 0},        {"manifest_length", "\"long\"", NULL, 501, 0, 0},
    {"partition_spec_id", "\"int\"", NULL, 502, 0, 0},       {"content", "\"int\"", NULL, 517, 0, 0},
    {"sequence_number", "\"long\"", NULL, 515, 0, 0},        {"min_sequence_number", "\"long\"", NULL, 516, 0, 0},
    {"added_snapshot_id", "\"long\"", NULL, 503, 0, 0},      {"added_files_count", "\"int\"", NULL, 504, 0, 0},
    {"existing_files_count", "\"int\"", NULL, 505, 0, 0},    {"deleted_files_count", "\"int\"", NULL, 506, 0, 0},
    {"added_rows_count", "\"long\"", NULL, 512, 0, 0},       {"existing_rows_count", "\"long\"", NULL, 513, 0, 0},
    {"deleted_rows_count", "\"long\"", NULL, 514, 0, 0},
    {"partitions",
     "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r508\",\"fields\":["
     "{\"name\":\"contains_null\",\"type\":\"boolean\",\"field-id\":509},"
     "{\"name\":\"contains_nan\",\"type\":[\"null\",\"boolean\"],\"default\":null,\"field-id\":518},"
     "{\"name\":\"lower_bound\",\"type\":[\"null\",\"bytes\"],\"default\":null,\"field-id\":510},"
     "{\"name\":\"upper_bound\",\"type\":[\"null\",\"bytes\"],\"default\":null,\"field-id\":511}]},"
     "\"element-id\":508}",
     NULL, 507, 0, 1},
    {"key_metadata", "\"bytes\"", NULL, 519, 0, 1}};

static const tli_manifest_field tli_manifest_entry_fields[] = {{"status", "\"int\"", NULL, 0, 0, 0},
                                                               {"snapshot_id", "\"long\"", NULL, 1, 0, 1},
                                                               {"sequence_number", "\"long\"", NULL, 3, 0, 1},
                                                               {"file_sequence_number", "\"long\"", NULL, 4, 0, 1}};

static const tli_manifest_field tli_manifest_file_fields[] = {
    {"content", "\"int\"", NULL, 134, 0, 0},           {"file_path", "\"string\"", NULL, 100, 0, 0},
    {"file_format", "\"string\"", NULL, 101, 0, 0},    {"partition", NULL, NULL, 102, 0, 0},
    {"record_count", "\"long\"", NULL, 103, 0, 0},     {"file_size_in_bytes", "\"long\"", NULL, 104, 0, 0},
    {"column_sizes", "", "long", 108, 117, 1},         {"value_counts", "", "long", 109, 119, 1},
    {"null_value_counts", "", "long", 110, 121, 1},    {"nan_value_counts", "", "long", 137, 138, 1},
    {"lower_bounds", "", "bytes", 125, 126, 1},        {"upper_bounds", "", "bytes", 128, 129, 1},
    {"key_metadata", "\"bytes\"", NULL, 131, 0, 1},
    {"split_offsets", "{\"type\":\"array\",\"items\":\"long\",\"element-id\":133}", NULL, 132, 0, 1},
    {"equality_ids", "{\"type\":\"array\",\"items\":\"int\",\"element-id\":136}", NULL, 135, 0, 1},
    {"sort_order_id", "\"int\"", NULL, 140, 0, 1}};

/* Text that grows; the first failure sticks. */
typedef struct tli_manifest_text {
    tl_buffer *out;
    tl_status status;
    tl_error *err;
} tli_manifest_text;

TLI_FN void tli_manifest_put(tli_manifest_text *t, const char *text)
{
    tl_span s = tl_text(text);
    if (t->status == TL_OK)
        t->status = tli_mem_append(t->out, s.data, s.size, t->err);
}

TLI_FN void tli_manifest_put_id(tli_manifest_text *t, const char *before, int32_t id)
{
    char digits[24];
    tli_manifest_put(t, before);
    digits[tli_number_i64(digits, id)] = 0;
    tli_manifest_put(t, digits);
}

/* A name as Avro takes it: letters, digits and underscores, no digit first. Others as Iceberg's libraries have it:
   an underscore, for no digit an x too, and the character's (here: the byte's) number in hexadecimal digits. */
TLI_FN void tli_manifest_put_name(tli_manifest_text *t, tl_span name)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t i;
    char plain[2] = {0, 0}, escaped[5] = {'_', 'x', 0, 0, 0};
    for (i = 0; i < name.size; i++) {
        uint8_t c = (uint8_t)name.data[i];
        int digit = c >= '0' && c <= '9';
        plain[0] = (char)c;
        escaped[2] = digits[c >> 4];
        escaped[3] = digits[c & 15];
        if (digit && i == 0)
            tli_manifest_put(t, "_");
        if (digit || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
            tli_manifest_put(t, plain);
        else
            tli_manifest_put(t, escaped);
    }
}

TLI_FN void tli_manifest_put_map(tli_manifest_text *t, const tli_manifest_field *f)
{
    tli_manifest_put_id(t, "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"k", f->key_id);
    tli_manifest_put_id(t, "_v", f->key_id + 1);
    tli_manifest_put_id(t, "\",\"fields\":[{\"name\":\"key\",\"type\":\"int\",\"field-id\":", f->key_id);
    tli_manifest_put(t, "},{\"name\":\"value\",\"type\":\"");
    tli_manifest_put(t, f->value);
    tli_manifest_put_id(t, "\",\"field-id\":", f->key_id + 1);
    tli_manifest_put(t, "}]},\"logicalType\":\"map\"}");
}

/* The record of partition values: none, or the one of the default spec. */
TLI_FN void tli_manifest_put_partition(tli_manifest_text *t, const tl_metadata *m)
{
    tli_manifest_put(t, "{\"type\":\"record\",\"name\":\"r102\",\"fields\":[");
    if (m->partitioned) {
        tli_manifest_put(t, "{\"name\":\"");
        tli_manifest_put_name(t, m->partition_name);
        tli_manifest_put(t, "\",\"type\":[\"null\",");
        tli_manifest_put(t, m->transform == TL_TRANSFORM_DAY ? "{\"type\":\"int\",\"logicalType\":\"date\"}"
                                                           : "\"int\"");
        tli_manifest_put_id(t, "],\"default\":null,\"field-id\":", m->partition_field_id);
        tli_manifest_put(t, "}");
    }
    tli_manifest_put(t, "]}");
}

TLI_FN void tli_manifest_put_fields(tli_manifest_text *t, const tli_manifest_field *fields, size_t count,
                                    const tl_metadata *m)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const tli_manifest_field *f = &fields[i];
        tli_manifest_put(t, i == 0 ? "{\"name\":\"" : ",{\"name\":\"");
        tli_manifest_put(t, f->name);
        tli_manifest_put(t, f->optional ? "\",\"type\":[\"null\"," : "\",\"type\":");
        if (f->type == NULL)
            tli_manifest_put_partition(t, m);
        else if (f->type[0] == 0)
            tli_manifest_put_map(t, f);
        else
            tli_manifest_put(t, f->type);
        tli_manifest_put(t, f->optional ? "],\"default\":null" : "");
        tli_manifest_put_id(t, ",\"field-id\":", f->id);
        tli_manifest_put(t, "}");
    }
}

/* Appends the schema of a manifest list (metadata NULL), or of the manifests of a table. */
TLI_FN tl_status tli_manifest_schema(tl_buffer *out, const tl_metadata *m, tl_error *err)
{
    tli_manifest_text t;
    t.out = out;
    t.status = TL_OK;
    t.err = err;
    tli_manifest_put(&t, "{\"type\":\"record\",\"name\":\"");
    tli_manifest_put(&t, m == NULL ? "manifest_file\",\"fields\":[" : "manifest_entry\",\"fields\":[");
    if (m == NULL) {
        tli_manifest_put_fields(&t, tli_manifest_list_fields, TLI_COUNT(tli_manifest_list_fields), m);
    } else {
        tli_manifest_put_fields(&t, tli_manifest_entry_fields, TLI_COUNT(tli_manifest_entry_fields), m);
        tli_manifest_put(&t, ",{\"name\":\"data_file\",\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":[");
        tli_manifest_put_fields(&t, tli_manifest_file_fields, TLI_COUNT(tli_manifest_file_fields), m);
        tli_manifest_put(&t, "]},\"field-id\":2}");
    }
    tli_manifest_put(&t, "]}");
    return t.status;
}

/* ---- a manifest ---- */

/* One that is being written, and what the list will say of it: everything but path and length. */
typedef struct tli_manifest {
    const tl_metadata *metadata;
    tl_buffer bytes;
    tli_avrowrite avro;
    tli_iceberg_manifest entry;
    int64_t least;           /* lowest explicit number of live entries; INT64_MAX: none so far */
    int32_t lower, upper;    /* of partition values */
    uint8_t valued, nulled;
    uint8_t summaries[24];   /* entry.partitions, encoded */
} tli_manifest;

/* What an entry says besides its file. */
typedef struct tli_manifest_entry {
    int status;
    int64_t snapshot_id;
    uint8_t numbered; /* the file's sequence number is written; else both numbers are null: the snapshot's */
    uint8_t kept;     /* the file's own number is written too: an entry that was there before */
    const tl_file *file;
    const tl_column *columns; /* by field id */
    size_t column_count;
} tli_manifest_entry;

TLI_FN void tli_manifest_free(tli_manifest *m)
{
    tl_buffer_free(&m->bytes);
    tl_buffer_free(&m->avro.block);
}

/* Begins a manifest of the table's current schema and default spec. It is freed after a failure too. */
TLI_FN tl_status tli_manifest_begin(tli_manifest *m, const tl_metadata *metadata, int64_t snapshot_id,
                                    const uint8_t *sync, const tl_allocator *allocator, tl_error *err)
{
    tl_span pairs[12];
    tl_buffer schema;
    char ids[2][24];
    tl_status st;
    TLI_FILL(m, 0, sizeof *m);
    TLI_FILL(&schema, 0, sizeof schema);
    m->metadata = metadata;
    m->least = INT64_MAX;
    m->entry.spec_id = metadata->default_spec_id;
    m->entry.added_snapshot_id = snapshot_id;
    m->entry.sequence_number = m->entry.min_sequence_number = TLI_MANIFEST_UNASSIGNED;
    m->entry.counted = 0x3f;
    m->bytes.allocator = schema.allocator = *allocator;
    pairs[0] = tl_text("schema");
    pairs[1] = tl_json_raw(&metadata->json, metadata->schema);
    pairs[2] = tl_text("schema-id");
    pairs[3] = tli_text_span(ids[0], tli_number_i64(ids[0], metadata->current_schema_id));
    pairs[4] = tl_text("partition-spec");
    pairs[5] = metadata->partition_fields != NULL ? tl_json_raw(&metadata->json, metadata->partition_fields)
                                                  : tl_text("[]");
    pairs[6] = tl_text("partition-spec-id");
    pairs[7] = tli_text_span(ids[1], tli_number_i64(ids[1], metadata->default_spec_id));
    pairs[8] = tl_text("format-version");
    pairs[9] = tl_text("2");
    pairs[10] = tl_text("content");
    pairs[11] = tl_text("data");
    st = tli_manifest_schema(&schema, metadata, err);
    if (st == TL_OK)
        tli_avrowrite_begin(&m->avro, &m->bytes, pairs, TLI_COUNT(pairs) / 2,
                            tli_text_span(schema.data, schema.size), sync, err);
    tl_buffer_free(&schema);
    return st == TL_OK ? m->avro.status : st;
}

/* What map `id` says of a column: 0 for nothing. */
TLI_FN int tli_manifest_stat(const tl_column *c, int16_t id, uint64_t *count, tl_span *bound)
{
    switch (id) {
    case 108: *count = c->size; return c->has_size;
    case 109: *count = c->values; return c->has_values;
    case 110: *count = c->nulls; return c->has_nulls;
    case 137: *count = c->nans; return c->has_nans;
    case 125: *bound = c->lower; return c->lower.data != NULL;
    default: *bound = c->upper; return c->upper.data != NULL;
    }
}

TLI_FN void tli_manifest_map(tli_avrowrite *w, const tli_manifest_entry *e, int16_t id)
{
    uint64_t count = 0;
    tl_span bound = tl_text(NULL);
    size_t i, n = 0;
    for (i = 0; i < e->column_count; i++)
        n += (size_t)tli_manifest_stat(&e->columns[i], id, &count, &bound);
    tli_avrowrite_some(w, n != 0);
    if (n == 0)
        return;
    tli_avrowrite_long(w, (int64_t)n);
    for (i = 0; i < e->column_count; i++) {
        if (!tli_manifest_stat(&e->columns[i], id, &count, &bound))
            continue;
        tli_avrowrite_long(w, e->columns[i].field_id);
        if (id == 125 || id == 128)
            tli_avrowrite_bytes(w, bound);
        else
            tli_avrowrite_long(w, (int64_t)count);
    }
    tli_avrowrite_long(w, 0);
}

TLI_FN void tli_manifest_splits(tli_avrowrite *w, const tl_file *f)
{
    size_t i;
    tli_avrowrite_some(w, f->has_split_offsets);
    if (!f->has_split_offsets)
        return;
    if (f->split_count != 0)
        tli_avrowrite_long(w, (int64_t)f->split_count);
    for (i = 0; i < f->split_count; i++)
        tli_avrowrite_long(w, tl_file_split_offset(f, i));
    tli_avrowrite_long(w, 0);
}

TLI_FN void tli_manifest_file(tli_avrowrite *w, const tl_metadata *metadata, const tli_manifest_entry *e)
{
    static const int16_t maps[] = {108, 109, 110, 137, 125, 128};
    const tl_file *f = e->file;
    size_t i;
    tli_avrowrite_long(w, 0); /* content: data */
    tli_avrowrite_bytes(w, f->path);
    tli_avrowrite_bytes(w, tl_text("PARQUET"));
    if (metadata->partitioned) {
        tli_avrowrite_some(w, f->has_partition);
        if (f->has_partition)
            tli_avrowrite_long(w, f->partition);
    }
    tli_avrowrite_long(w, (int64_t)f->records);
    tli_avrowrite_long(w, (int64_t)f->size);
    for (i = 0; i < TLI_COUNT(maps); i++)
        tli_manifest_map(w, e, maps[i]);
    tli_avrowrite_some(w, 0); /* key_metadata */
    tli_manifest_splits(w, f);
    tli_avrowrite_some(w, 0); /* equality_ids */
    tli_avrowrite_some(w, f->has_sort_order_id);
    if (f->has_sort_order_id)
        tli_avrowrite_long(w, f->sort_order_id);
}

/* Adds an entry. */
TLI_FN tl_status tli_manifest_add(tli_manifest *m, const tli_manifest_entry *e)
{
    tli_avrowrite *w = &m->avro;
    const tl_file *f = e->file;
    int at = e->status == TLI_MANIFEST_ADDED ? 0 : e->status == TLI_MANIFEST_EXISTING ? 1 : 2;
    tli_avrowrite_long(w, e->status);
    tli_avrowrite_some(w, 1);
    tli_avrowrite_long(w, e->snapshot_id);
    tli_avrowrite_some(w, e->numbered);
    if (e->numbered)
        tli_avrowrite_long(w, f->sequence_number);
    tli_avrowrite_some(w, e->kept);
    if (e->kept)
        tli_avrowrite_long(w, f->file_sequence_number);
    tli_manifest_file(w, m->metadata, e);
    tli_avrowrite_row(w);
    m->entry.counts[at]++;
    m->entry.counts[at + 3] += (int64_t)f->records;
    if (e->numbered && e->status != TLI_MANIFEST_DELETED)
        m->least = TLI_MIN(m->least, f->sequence_number);
    if (!f->has_partition) {
        m->nulled = 1;
    } else {
        m->lower = m->valued ? TLI_MIN(m->lower, f->partition) : f->partition;
        m->upper = m->valued ? TLI_MAX(m->upper, f->partition) : f->partition;
        m->valued = 1;
    }
    return w->status;
}

/* The one summary of a table that is partitioned by one field, as an array. */
TLI_FN void tli_manifest_summary(tli_manifest *m)
{
    uint8_t *at = m->summaries;
    size_t i;
    *at++ = 2; /* one item */
    *at++ = m->nulled;
    *at++ = 2; /* contains_nan is there: */
    *at++ = 0; /* no */
    for (i = 0; i < 2; i++) {
        *at++ = m->valued ? 2 : 0;
        if (!m->valued)
            continue;
        *at++ = 8; /* four bytes */
        tli_bits_put_le32(at, (uint32_t)(i == 0 ? m->lower : m->upper));
        at += 4;
    }
    *at++ = 0; /* no more items */
    m->entry.partitions = tli_text_span(m->summaries, (size_t)(at - m->summaries));
}

/* Ends the manifest: m->bytes is the object, m->entry what the list says, once its path is filled in. */
TLI_FN tl_status tli_manifest_end(tli_manifest *m)
{
    tl_status st = tli_avrowrite_end(&m->avro);
    m->entry.length = (int64_t)m->bytes.size;
    if (m->least != INT64_MAX)
        m->entry.min_sequence_number = m->least;
    if (m->metadata->partitioned)
        tli_manifest_summary(m);
    return st;
}

/* ---- the list ---- */

TLI_FN void tli_manifest_list_row(tli_avrowrite *w, const tli_iceberg_manifest *m, int64_t sequence_number)
{
    int64_t least = m->min_sequence_number, own = m->sequence_number;
    size_t i;
    tli_avrowrite_bytes(w, m->path);
    tli_avrowrite_long(w, m->length);
    tli_avrowrite_long(w, m->spec_id);
    tli_avrowrite_long(w, m->content);
    tli_avrowrite_long(w, own == TLI_MANIFEST_UNASSIGNED ? sequence_number : own);
    tli_avrowrite_long(w, least == TLI_MANIFEST_UNASSIGNED ? sequence_number : least);
    tli_avrowrite_long(w, m->added_snapshot_id);
    for (i = 0; i < TLI_COUNT(m->counts); i++)
        tli_avrowrite_long(w, m->counts[i]);
    tli_avrowrite_some(w, m->partitions.data != NULL);
    tli_avrowrite_raw(w, m->partitions);
    tli_avrowrite_some(w, m->key_metadata.data != NULL);
    if (m->key_metadata.data != NULL)
        tli_avrowrite_bytes(w, m->key_metadata);
    tli_avrowrite_row(w);
}

/* Appends the manifest list of a snapshot. parent_id negative: it has none. Entries that cannot be carried over as they
   are (written by format 1, or with what is not known here): TL_UNSUPPORTED. */
TLI_FN tl_status tli_manifest_list(tl_buffer *out, const tli_iceberg_manifest *entries, size_t count,
                                   int64_t snapshot_id, int64_t parent_id, int64_t sequence_number,
                                   const uint8_t *sync, tl_error *err)
{
    tl_span pairs[8];
    tl_buffer schema;
    tli_avrowrite w;
    char ids[3][24];
    size_t i;
    tl_status st;
    for (i = 0; i < count; i++)
        if (entries[i].counted != 0x3f || entries[i].lossy)
            return tli_err(err, TL_UNSUPPORTED, "a manifest list entry that cannot be carried into a new version",
                           TL_NO_POSITION);
    TLI_FILL(&schema, 0, sizeof schema);
    schema.allocator = out->allocator;
    pairs[0] = tl_text("snapshot-id");
    pairs[1] = tli_text_span(ids[0], tli_number_i64(ids[0], snapshot_id));
    pairs[2] = tl_text("parent-snapshot-id");
    pairs[3] = parent_id < 0 ? tl_text("null") : tli_text_span(ids[1], tli_number_i64(ids[1], parent_id));
    pairs[4] = tl_text("sequence-number");
    pairs[5] = tli_text_span(ids[2], tli_number_i64(ids[2], sequence_number));
    pairs[6] = tl_text("format-version");
    pairs[7] = tl_text("2");
    st = tli_manifest_schema(&schema, NULL, err);
    if (st == TL_OK) {
        tli_avrowrite_begin(&w, out, pairs, TLI_COUNT(pairs) / 2, tli_text_span(schema.data, schema.size), sync, err);
        for (i = 0; i < count; i++)
            tli_manifest_list_row(&w, &entries[i], sequence_number);
        st = tli_avrowrite_end(&w);
    }
    tl_buffer_free(&schema);
    return st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
