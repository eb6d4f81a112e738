/* >>parquet: a footer is gone through twice: for the schema, then, with the columns known, for the row groups. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)
enum {
    TLI_PARQUET_BOOLEAN, TLI_PARQUET_INT32, TLI_PARQUET_INT64, TLI_PARQUET_INT96, TLI_PARQUET_FLOAT, TLI_PARQUET_DOUBLE,
    TLI_PARQUET_BYTES, TLI_PARQUET_FIXED
};

/* What a column's values mean: its logical type, or the converted type of older writers. */
enum {
    TLI_PARQUET_PLAIN, TLI_PARQUET_TEXT, TLI_PARQUET_DECIMAL, TLI_PARQUET_DATE, TLI_PARQUET_TIME, TLI_PARQUET_STAMP,
    TLI_PARQUET_INTEGER, TLI_PARQUET_UUID, TLI_PARQUET_OTHER
};

enum { TLI_PARQUET_MILLIS = 1, TLI_PARQUET_MICROS, TLI_PARQUET_NANOS };

#define TLI_PARQUET_OPTIONAL 1
#define TLI_PARQUET_REPEATED 2
#define TLI_PARQUET_DEPTH 64u
#define TLI_PARQUET_NO_ID "a column without a Parquet field id: other engines would read nulls"

typedef struct tli_parquet_element {
    tl_span name;
    int32_t type; /* -1: a group */
    int32_t length, repetition, children, scale, precision, id;
    uint8_t has_id, meaning, unit, utc, bits, is_signed, has_meaning;
} tli_parquet_element;

/* A leaf column, and what the row groups read so far say of it. */
typedef struct tli_parquet_leaf {
    tli_parquet_element e;
    const tl_field *field; /* of the table; NULL: within a list or map, where there are no bounds */
    uint64_t values, nulls, nans, size;
    tl_span lower, upper;
    uint8_t ordered; /* its statistics are by the order that its type defines */
    uint8_t no_nulls, no_nans, no_lower, no_upper; /* not known of some row group */
} tli_parquet_leaf;

/* One column of one row group. Absent numbers: -1. */
typedef struct tli_parquet_chunk {
    int64_t values, size, data, dictionary, nulls, nans;
    tl_span low, high;
    int exact_low, exact_high;
} tli_parquet_chunk;

/* Where its column index ([0]) and offset index ([1]) lie, and where in the footer their offsets stand. */
typedef struct tli_parquet_index {
    int64_t offset[2], length[2];
    const uint8_t *from[2], *to[2];
} tli_parquet_index;

/* What the children of a group are: those of a struct, the repeated group of a list or map, what is in that. */
enum { TLI_PARQUET_MEMBERS, TLI_PARQUET_LIST, TLI_PARQUET_ITEM, TLI_PARQUET_MAP, TLI_PARQUET_ENTRIES };

typedef struct tli_parquet_frame {
    const struct ArrowSchema *node; /* of the table; NULL: the file is read without one */
    tl_span name;                   /* of the column, or of what has a name in it */
    uint32_t left, next;            /* children to come, and that came */
    uint32_t required;              /* of them */
    uint8_t role, repeated;
} tli_parquet_frame;

typedef struct tli_parquet {
    tl_parquet *out;
    const tl_metadata *table;       /* NULL: none */
    struct ArrowSchema *columns;    /* its schema; a field has its id */
    tli_parquet_frame *frames;
    tl_field *fields;               /* of the file, when there is no table */
    int32_t *ids;                   /* by element: those that the table has by name */
    int by_name;                    /* 0: the file has to have ids, and there are none above */
    const tl_parquet_options *options;
    tl_limits limits;
    const uint8_t *tail, *meta, *meta_end; /* meta: FileMetaData */
    size_t tail_size;
    uint64_t file_size;
    tli_thrift t;
    const uint8_t *schema, *groups, *orders; /* the lists in it; NULL: absent */
    int64_t rows;
    tli_parquet_leaf *leaves;
    uint32_t leaf_count, group_count, field_count;
    tli_parquet_index *indexes;
    int64_t *splits;
    uint8_t *seen; /* columns of the table */
    tl_error *err;
} tli_parquet;

TLI_FN tl_status tli_parquet_bad(tli_parquet *p, const char *text)
{
    return tli_err(p->err, TL_CORRUPT, text, (uint64_t)(p->t.at - p->tail));
}

TLI_FN tl_status tli_parquet_refuse(tli_parquet *p, tl_span column, const char *text)
{
    p->out->column = column;
    return tli_err(p->err, TL_UNSUPPORTED, text, TL_NO_POSITION);
}

/* TL_OK, or what the reader of thrift found. */
TLI_FN tl_status tli_parquet_so_far(tli_parquet *p)
{
    return p->t.bad == NULL ? TL_OK : tli_parquet_bad(p, p->t.bad);
}

TLI_FN tli_thrift_field tli_parquet_first(void)
{
    tli_thrift_field f;
    f.id = 0;
    f.type = 0;
    return f;
}

/* ---- the schema ---- */

/* The unit of a time: a union of three empty structs. */
TLI_FN uint8_t tli_parquet_unit(tli_thrift *t)
{
    tli_thrift_field f = tli_parquet_first();
    uint8_t unit = 0;
    while (tli_thrift_next(t, &f)) {
        unit = (uint8_t)(f.id >= TLI_PARQUET_MILLIS && f.id <= TLI_PARQUET_NANOS ? f.id : 0);
        tli_thrift_skip(t, f.type);
    }
    return unit;
}

/* The members of one logical type. */
TLI_FN void tli_parquet_members(tli_thrift *t, tli_parquet_element *e)
{
    tli_thrift_field f = tli_parquet_first();
    while (tli_thrift_next(t, &f)) {
        if (e->meaning == TLI_PARQUET_DECIMAL && f.id <= 2) {
            int64_t v = tli_thrift_int(t, &f, -1);
            *(f.id == 1 ? &e->scale : &e->precision) = (int32_t)TLI_MAX(TLI_MIN(v, 1000), -1000);
        } else if ((e->meaning == TLI_PARQUET_TIME || e->meaning == TLI_PARQUET_STAMP) && f.id == 1) {
            e->utc = (uint8_t)(f.type == TLI_THRIFT_TRUE);
            tli_thrift_skip(t, f.type);
        } else if ((e->meaning == TLI_PARQUET_TIME || e->meaning == TLI_PARQUET_STAMP) && f.id == 2
                   && f.type == TLI_THRIFT_STRUCT) {
            e->unit = tli_parquet_unit(t);
        } else if (e->meaning == TLI_PARQUET_INTEGER && f.id == 1) {
            e->bits = (uint8_t)tli_thrift_int(t, &f, 0);
        } else if (e->meaning == TLI_PARQUET_INTEGER && f.id == 2) {
            e->is_signed = (uint8_t)(f.type == TLI_THRIFT_TRUE);
            tli_thrift_skip(t, f.type);
        } else {
            tli_thrift_skip(t, f.type);
        }
    }
}

TLI_FN void tli_parquet_logical(tli_thrift *t, tli_parquet_element *e)
{
    static const uint8_t meanings[] = {TLI_PARQUET_OTHER, TLI_PARQUET_TEXT, TLI_PARQUET_OTHER, TLI_PARQUET_OTHER,
        TLI_PARQUET_OTHER, TLI_PARQUET_DECIMAL, TLI_PARQUET_DATE, TLI_PARQUET_TIME, TLI_PARQUET_STAMP,
        TLI_PARQUET_OTHER, TLI_PARQUET_INTEGER, TLI_PARQUET_OTHER, TLI_PARQUET_OTHER, TLI_PARQUET_OTHER,
        TLI_PARQUET_UUID};
    tli_thrift_field f = tli_parquet_first();
    while (tli_thrift_next(t, &f)) {
        e->has_meaning = 1;
        e->meaning = f.id > 0 && f.id < (int32_t)TLI_COUNT(meanings) ? meanings[f.id] : (uint8_t)TLI_PARQUET_OTHER;
        if (f.type == TLI_THRIFT_STRUCT)
            tli_parquet_members(t, e);
        else
            tli_thrift_skip(t, f.type);
    }
}

/* What older writers say; a logical type goes before it. */
TLI_FN void tli_parquet_converted(tli_parquet_element *e, int64_t converted)
{
    static const uint8_t table[][4] = { /* meaning, unit, bits, signed */
        {TLI_PARQUET_TEXT, 0, 0, 0}, {TLI_PARQUET_OTHER, 0, 0, 0}, {TLI_PARQUET_OTHER, 0, 0, 0},
        {TLI_PARQUET_OTHER, 0, 0, 0}, {TLI_PARQUET_OTHER, 0, 0, 0}, {TLI_PARQUET_DECIMAL, 0, 0, 0},
        {TLI_PARQUET_DATE, 0, 0, 0}, {TLI_PARQUET_TIME, TLI_PARQUET_MILLIS, 0, 0},
        {TLI_PARQUET_TIME, TLI_PARQUET_MICROS, 0, 0}, {TLI_PARQUET_STAMP, TLI_PARQUET_MILLIS, 0, 0},
        {TLI_PARQUET_STAMP, TLI_PARQUET_MICROS, 0, 0}, {TLI_PARQUET_INTEGER, 0, 8, 0}, {TLI_PARQUET_INTEGER, 0, 16, 0},
        {TLI_PARQUET_INTEGER, 0, 32, 0}, {TLI_PARQUET_INTEGER, 0, 64, 0}, {TLI_PARQUET_INTEGER, 0, 8, 1},
        {TLI_PARQUET_INTEGER, 0, 16, 1}, {TLI_PARQUET_INTEGER, 0, 32, 1}, {TLI_PARQUET_INTEGER, 0, 64, 1}};
    if (converted < 0 || e->has_meaning)
        return;
    e->meaning = converted < (int64_t)TLI_COUNT(table) ? table[converted][0] : (uint8_t)TLI_PARQUET_OTHER;
    if (converted >= (int64_t)TLI_COUNT(table))
        return;
    e->unit = table[converted][1];
    e->bits = table[converted][2];
    e->is_signed = table[converted][3];
    e->utc = 1;
}

TLI_FN int32_t tli_parquet_int32(tli_thrift *t, const tli_thrift_field *f)
{
    int64_t v = tli_thrift_int(t, f, -1);
    if (v < INT32_MIN || v > INT32_MAX)
        tli_thrift_fail(t, "a number of the footer is out of its range");
    return (int32_t)v;
}

TLI_FN void tli_parquet_read_element(tli_thrift *t, tli_parquet_element *e)
{
    tli_thrift_field f = tli_parquet_first();
    int64_t converted = -1;
    int32_t number;
    TLI_FILL(e, 0, sizeof *e);
    e->type = -1;
    while (tli_thrift_next(t, &f)) {
        if (f.id == 4) {
            e->name = tli_thrift_text(t, &f);
        } else if (f.id == 10 && f.type == TLI_THRIFT_STRUCT) {
            tli_parquet_logical(t, e);
        } else if (f.id < 1 || f.id > 9) {
            tli_thrift_skip(t, f.type);
        } else {
            int32_t *members[9];
            members[0] = &e->type;
            members[1] = &e->length;
            members[2] = &e->repetition;
            members[3] = NULL;
            members[4] = &e->children;
            members[5] = &number;
            members[6] = &e->scale;
            members[7] = &e->precision;
            members[8] = &e->id;
            *members[f.id - 1] = tli_parquet_int32(t, &f);
            converted = f.id == 6 ? number : converted;
            e->has_id |= (uint8_t)(f.id == 9);
        }
    }
    tli_parquet_converted(e, converted);
}

TLI_FN int tli_parquet_is_integer(const tli_parquet_element *e, uint8_t bits)
{
    return e->meaning == TLI_PARQUET_PLAIN
           || (e->meaning == TLI_PARQUET_INTEGER && e->is_signed && (bits == 64 ? e->bits == 64 : e->bits <= 32));
}

TLI_FN int tli_parquet_is_stamp(const tli_parquet_element *e, uint8_t unit, int utc)
{
    return e->type == TLI_PARQUET_INT64 && e->meaning == TLI_PARQUET_STAMP && e->unit == unit && (e->utc != 0) == utc;
}

/* Is a leaf of the very type that Iceberg gives the column in Parquet? */
TLI_FN int tli_parquet_fits(const tli_parquet_element *e, const tl_field *f)
{
    int plain = e->meaning == TLI_PARQUET_PLAIN;
    switch (f->type) {
    case TL_ICEBERG_BOOLEAN:
        return e->type == TLI_PARQUET_BOOLEAN && plain;
    case TL_ICEBERG_INT:
        return e->type == TLI_PARQUET_INT32 && tli_parquet_is_integer(e, 32);
    case TL_ICEBERG_LONG:
        return e->type == TLI_PARQUET_INT64 && tli_parquet_is_integer(e, 64);
    case TL_ICEBERG_FLOAT:
        return e->type == TLI_PARQUET_FLOAT && plain;
    case TL_ICEBERG_DOUBLE:
        return e->type == TLI_PARQUET_DOUBLE && plain;
    case TL_ICEBERG_DECIMAL:
        return e->type >= 0 && e->type != TLI_PARQUET_BOOLEAN && e->meaning == TLI_PARQUET_DECIMAL
               && e->scale == f->scale && e->precision == f->precision;
    case TL_ICEBERG_DATE:
        return e->type == TLI_PARQUET_INT32 && e->meaning == TLI_PARQUET_DATE;
    case TL_ICEBERG_TIME:
        return e->type == TLI_PARQUET_INT64 && e->meaning == TLI_PARQUET_TIME && e->unit == TLI_PARQUET_MICROS;
    case TL_ICEBERG_TIMESTAMP: case TL_ICEBERG_TIMESTAMPTZ:
        return tli_parquet_is_stamp(e, TLI_PARQUET_MICROS, f->type == TL_ICEBERG_TIMESTAMPTZ);
    case TL_ICEBERG_TIMESTAMP_NS: case TL_ICEBERG_TIMESTAMPTZ_NS:
        return tli_parquet_is_stamp(e, TLI_PARQUET_NANOS, f->type == TL_ICEBERG_TIMESTAMPTZ_NS);
    case TL_ICEBERG_STRING:
        return e->type == TLI_PARQUET_BYTES && e->meaning == TLI_PARQUET_TEXT;
    case TL_ICEBERG_BINARY:
        return e->type == TLI_PARQUET_BYTES && plain;
    case TL_ICEBERG_FIXED:
        return e->type == TLI_PARQUET_FIXED && e->length == f->precision && plain;
    case TL_ICEBERG_UUID:
        return e->type == TLI_PARQUET_FIXED && e->length == 16 && (plain || e->meaning == TLI_PARQUET_UUID);
    default:
        return e->type < 0; /* nested: a group */
    }
}

/* The type of a column of the file, as Iceberg has it; OTHER: none of its. */
TLI_FN void tli_parquet_own_type(const tli_parquet_element *e, tl_field *f)
{
    int type = TL_ICEBERG_BINARY;
    for (; type > TL_ICEBERG_OTHER; type--) { /* fixed before uuid, which may look the same */
        f->type = (tl_iceberg_type)type;
        f->precision = f->type == TL_ICEBERG_FIXED ? e->length : e->precision;
        f->scale = e->scale;
        if (tli_parquet_fits(e, f))
            return;
    }
    f->type = TL_ICEBERG_OTHER;
    f->precision = f->scale = 0;
}

/* A part of a nested column as a field. */
TLI_FN tl_status tli_parquet_part(const struct ArrowSchema *node, const tli_parquet_element *e, tl_field *f,
                                  tl_error *err)
{
    static const uint8_t types[TL_TYPE_STRUCT] = {
        0, TL_ICEBERG_BOOLEAN, 0, 0, TL_ICEBERG_INT, TL_ICEBERG_LONG, 0, 0, 0, 0, 0, TL_ICEBERG_FLOAT,
        TL_ICEBERG_DOUBLE, 0, 0, TL_ICEBERG_DECIMAL, 0, TL_ICEBERG_DATE, 0, 0, TL_ICEBERG_TIME, TL_ICEBERG_TIMESTAMP,
        0, 0, 0, 0, TL_ICEBERG_STRING, 0, 0, 0, TL_ICEBERG_BINARY, 0, TL_ICEBERG_FIXED};
    tl_type t;
    tl_status st = tl_type_of(node, &t, err);
    TLI_FILL(f, 0, sizeof *f);
    if (st != TL_OK)
        return st;
    f->name = tl_text(node->name);
    f->required = (node->flags & ARROW_FLAG_NULLABLE) == 0;
    (void)tli_parquetwrite_field_id(node, &f->id); /* each has one */
    f->type = t.id >= TL_TYPE_STRUCT ? TL_ICEBERG_OTHER : (tl_iceberg_type)types[t.id];
    f->precision = t.id == TL_TYPE_FIXED_BINARY ? t.size : t.precision;
    f->scale = t.scale;
    if (t.id == TL_TYPE_TIMESTAMP)
        f->type = t.unit == TL_UNIT_NANO
                      ? (t.zone.size != 0 ? TL_ICEBERG_TIMESTAMPTZ_NS : TL_ICEBERG_TIMESTAMP_NS)
                      : (t.zone.size != 0 ? TL_ICEBERG_TIMESTAMPTZ : TL_ICEBERG_TIMESTAMP);
    if (f->type == TL_ICEBERG_FIXED && t.size == 16 && e->meaning == TLI_PARQUET_UUID)
        f->type = TL_ICEBERG_UUID;
    return TL_OK;
}

/* The member of a struct that an element is: by its field id, or by its name when ids are to be given. Mostly it is in
   the same place, which is looked at first. */
TLI_FN tl_status tli_parquet_member(tli_parquet *p, const tli_parquet_frame *frame, const tli_parquet_element *e,
                                    const struct ArrowSchema **node)
{
    const struct ArrowSchema *c = NULL;
    int64_t i, count = frame->node->n_children;
    if (!p->by_name && !e->has_id)
        return tli_parquet_refuse(p, e->name, TLI_PARQUET_NO_ID);
    for (i = -1; i < count && c == NULL; i++) {
        int64_t place = i >= 0 ? i : TLI_MIN((int64_t)frame->next, count) - 1;
        int32_t id = 0;
        if (place < 0)
            continue;
        c = frame->node->children[place];
        if (frame == p->frames) /* the table has its columns in this order */
            id = p->table->fields[place].id;
        else
            (void)tli_parquetwrite_field_id(c, &id); /* each has one */
        if (p->by_name ? !tl_span_equal(tl_text(c->name), e->name) : id != e->id)
            c = NULL;
    }
    if (c == NULL)
        return tli_parquet_refuse(p, e->name, "a column that the table does not have");
    if (!tl_span_equal(tl_text(c->name), e->name))
        return tli_parquet_refuse(p, e->name, "a column of another name than the table has for its field id");
    *node = c;
    return TL_OK;
}

/* The group of the format that a list or a map has around its elements: it has no id. */
TLI_FN tl_status tli_parquet_repeated(tli_parquet *p, tli_parquet_frame *frame, const tli_parquet_element *e,
                                      tli_parquet_frame *below)
{
    int map = frame->role == TLI_PARQUET_MAP;
    if (e->repetition != TLI_PARQUET_REPEATED || e->children != 1 + map)
        return tli_parquet_refuse(p, frame->name, "a list or map in a form that not all readers know");
    below->node = map ? frame->node->children[0] : frame->node;
    below->role = map ? TLI_PARQUET_ENTRIES : TLI_PARQUET_ITEM;
    below->name = frame->name;
    return TL_OK;
}

/* Which part of the table an element is: refused when it is none, or another; *below for its children. */
TLI_FN tl_status tli_parquet_match(tli_parquet *p, tli_parquet_frame *frame, const tli_parquet_element *e,
                                   tl_field *field, tli_parquet_frame *below)
{
    const struct ArrowSchema *node = NULL;
    tl_status st = TL_OK;
    char kind;
    if (frame->role == TLI_PARQUET_LIST || frame->role == TLI_PARQUET_MAP)
        return tli_parquet_repeated(p, frame, e, below);
    below->name = frame->role == TLI_PARQUET_MEMBERS ? e->name : frame->name;
    if (frame->role == TLI_PARQUET_MEMBERS)
        st = tli_parquet_member(p, frame, e, &node);
    else
        node = frame->node->children[frame->next - 1];
    if (st == TL_OK)
        st = tli_parquet_part(node, e, field, p->err);
    if (st != TL_OK)
        return st;
    if (!p->by_name && !e->has_id)
        return tli_parquet_refuse(p, below->name, TLI_PARQUET_NO_ID);
    if (e->has_id && e->id != field->id)
        return tli_parquet_refuse(p, below->name, "a column with another field id than the table has for it");
    kind = node->format[0] == '+' ? node->format[1] : 0;
    if (e->repetition == TLI_PARQUET_REPEATED || (kind != 0) != (e->type < 0) || !tli_parquet_fits(e, field))
        return tli_parquet_refuse(p, below->name, "a column of another type than in the table");
    below->node = node;
    below->role = kind == 'l' ? TLI_PARQUET_LIST : kind == 'm' ? TLI_PARQUET_MAP : TLI_PARQUET_MEMBERS;
    frame->required += field->required;
    return TL_OK;
}

/* A column at the top: it is in the table once; a field of the file when there is no table. */
TLI_FN tl_status tli_parquet_top(tli_parquet *p, const tli_parquet_element *e, int32_t id, const tl_field **field)
{
    const tl_field *f;
    if (p->table == NULL) {
        tl_field *own = &p->fields[p->field_count++];
        own->name = e->name;
        own->id = id;
        own->required = e->repetition == 0;
        tli_parquet_own_type(e, own);
        *field = own;
        return TL_OK;
    }
    f = tl_metadata_field_by_id(p->table, id);
    if (f == NULL || !tli_parquet_fits(e, f)) /* of uuid and fixed the schema does not tell */
        return tli_parquet_refuse(p, e->name, "a column of another type than in the table");
    if (p->seen[f - p->table->fields]++ != 0)
        return tli_parquet_bad(p, "a field id stands twice in the schema");
    *field = f;
    return TL_OK;
}

/* One element below the root, a child of a frame. Its own frame is the next one. */
TLI_FN tl_status tli_parquet_element_at(tli_parquet *p, const tli_parquet_element *e, uint32_t index,
                                        tli_parquet_frame *frame)
{
    tli_parquet_frame *below = frame + 1;
    const tl_field *field = NULL;
    tl_field part;
    tl_status st = TL_OK;
    tli_parquet_leaf *leaf;
    if (e->name.data == NULL || e->repetition < 0 || e->repetition > 2 || e->children < 0
        || (e->type < 0) != (e->children > 0) || e->type > TLI_PARQUET_FIXED)
        return tli_parquet_bad(p, "an element of the schema is malformed");
    TLI_FILL(&part, 0, sizeof part);
    TLI_FILL(below, 0, sizeof *below);
    part.id = e->has_id ? e->id : -1;
    if (p->table != NULL)
        st = tli_parquet_match(p, frame, e, &part, below);
    else
        tli_parquet_own_type(e, &part);
    below->left = (uint32_t)e->children;
    below->repeated = (uint8_t)(frame->repeated || e->repetition == TLI_PARQUET_REPEATED);
    if (st == TL_OK && frame == p->frames)
        st = tli_parquet_top(p, e, part.id, &field);
    if (p->by_name)
        p->ids[index] = part.id;
    if (st != TL_OK || e->type < 0)
        return st;
    if (field == NULL && !below->repeated) {
        tl_field *kept = (tl_field *)tli_mem_take(p->out->store, sizeof *kept, p->err);
        if (kept == NULL)
            return p->err->status;
        *kept = part;
        field = kept;
    }
    leaf = &p->leaves[p->leaf_count++];
    leaf->e = *e;
    leaf->field = field;
    return st;
}

/* A group is through: all that the table requires in it came. */
TLI_FN tl_status tli_parquet_through(tli_parquet *p, const tli_parquet_frame *frame)
{
    uint32_t required = 0;
    int64_t i;
    if (frame->node == NULL || frame->role != TLI_PARQUET_MEMBERS || frame == p->frames)
        return TL_OK;
    for (i = 0; i < frame->node->n_children; i++)
        required += (frame->node->children[i]->flags & ARROW_FLAG_NULLABLE) == 0;
    return frame->required >= required ? TL_OK : tli_parquet_refuse(p, frame->name, "a required column is missing");
}

/* What is to be known of the table, and room for what the schema of `count` elements says. */
TLI_FN tl_status tli_parquet_prepare(tli_parquet *p, uint32_t count)
{
    tli_store *store = p->out->store;
    tl_status st = TL_OK;
    p->leaves = (tli_parquet_leaf *)tli_mem_take_array(store, count, sizeof *p->leaves, p->err);
    p->frames = (tli_parquet_frame *)tli_mem_take_array(store, TLI_PARQUET_DEPTH, sizeof *p->frames, p->err);
    if (p->leaves == NULL || p->frames == NULL)
        return p->err->status;
    if (p->table == NULL) {
        p->fields = (tl_field *)tli_mem_take_array(store, count, sizeof *p->fields, p->err);
        return p->fields == NULL ? p->err->status : TL_OK;
    }
    p->seen = (uint8_t *)tli_mem_take_array(store, p->table->field_count, 1, p->err);
    if (p->by_name)
        p->ids = (int32_t *)tli_mem_take_array(store, count, sizeof *p->ids, p->err);
    if (p->seen == NULL || (p->by_name && p->ids == NULL))
        return p->err->status;
    if (p->by_name)
        p->ids[0] = -1; /* of the root */
    st = tli_schema_of(store, p->table, &p->limits, &p->columns, p->err);
    p->frames[0].node = p->columns;
    return st;
}

TLI_FN tl_status tli_parquet_elements(tli_parquet *p, uint32_t count)
{
    uint32_t depth = 0, i;
    tli_parquet_element e;
    tl_status st = TL_OK;
    for (i = 1; i < count && st == TL_OK; i++) {
        tli_parquet_read_element(&p->t, &e);
        if (tli_parquet_so_far(p) != TL_OK)
            return TL_CORRUPT;
        for (; st == TL_OK && depth != 0 && p->frames[depth].left == 0; depth--)
            st = tli_parquet_through(p, &p->frames[depth]);
        if (st == TL_OK && (p->frames[depth].left == 0 || depth + 1 == TLI_PARQUET_DEPTH))
            return tli_parquet_bad(p, "a schema whose elements do not add up");
        p->frames[depth].left--;
        p->frames[depth].next++;
        if (st == TL_OK)
            st = tli_parquet_element_at(p, &e, i, &p->frames[depth]);
        depth += e.type < 0;
    }
    for (; st == TL_OK && p->frames[depth].left == 0 && depth != 0; depth--)
        st = tli_parquet_through(p, &p->frames[depth]);
    return st == TL_OK && p->frames[depth].left != 0 ? tli_parquet_bad(p, "a schema whose elements do not add up")
                                                     : st;
}

TLI_FN tl_status tli_parquet_read_schema(tli_parquet *p)
{
    uint32_t count, i;
    uint8_t type;
    tli_parquet_element e;
    tl_status st;
    p->t.at = p->schema;
    count = tli_thrift_list(&p->t, &type);
    if (type != TLI_THRIFT_STRUCT || count == 0)
        return tli_parquet_bad(p, "a schema without elements");
    if (count > p->limits.columns)
        return tli_err(p->err, TL_LIMIT, "limits.columns", TL_NO_POSITION);
    st = tli_parquet_prepare(p, count);
    if (st != TL_OK)
        return st;
    tli_parquet_read_element(&p->t, &e);
    p->frames[0].left = (uint32_t)TLI_MAX(e.children, 0);
    st = tli_parquet_elements(p, count);
    for (i = 0; p->table != NULL && i < p->table->field_count && st == TL_OK; i++)
        if (p->table->fields[i].required && !p->seen[i])
            st = tli_parquet_refuse(p, p->table->fields[i].name, "a required column is missing");
    return st;
}

/* Column orders: of a leaf without one, or with one that is not known here, no bound is taken. */
TLI_FN tl_status tli_parquet_read_orders(tli_parquet *p)
{
    uint32_t count, i;
    uint8_t type;
    if (p->orders == NULL)
        return TL_OK;
    p->t.at = p->orders;
    count = tli_thrift_list(&p->t, &type);
    if (type != TLI_THRIFT_STRUCT || count != p->leaf_count)
        return TL_OK;
    for (i = 0; i < count; i++) {
        tli_thrift_field f = tli_parquet_first();
        while (tli_thrift_next(&p->t, &f)) {
            p->leaves[i].ordered = (uint8_t)(f.id == 1);
            tli_thrift_skip(&p->t, f.type);
        }
    }
    return tli_parquet_so_far(p);
}

/* ---- row groups ---- */

TLI_FN void tli_parquet_statistics(tli_thrift *t, tli_parquet_chunk *c)
{
    tli_thrift_field f = tli_parquet_first();
    while (tli_thrift_next(t, &f)) {
        if (f.id == 3)
            c->nulls = tli_thrift_int(t, &f, -1);
        else if (f.id == 5)
            c->high = tli_thrift_text(t, &f);
        else if (f.id == 6)
            c->low = tli_thrift_text(t, &f);
        else if (f.id == 9)
            c->nans = tli_thrift_int(t, &f, -1);
        else {
            if (f.id == 7)
                c->exact_high = f.type == TLI_THRIFT_TRUE;
            if (f.id == 8)
                c->exact_low = f.type == TLI_THRIFT_TRUE;
            tli_thrift_skip(t, f.type);
        }
    }
}

TLI_FN void tli_parquet_column(tli_thrift *t, tli_parquet_chunk *c)
{
    tli_thrift_field f = tli_parquet_first();
    while (tli_thrift_next(t, &f)) {
        if (f.id == 5)
            c->values = tli_thrift_int(t, &f, -1);
        else if (f.id == 7)
            c->size = tli_thrift_int(t, &f, -1);
        else if (f.id == 9)
            c->data = tli_thrift_int(t, &f, -1);
        else if (f.id == 11)
            c->dictionary = tli_thrift_int(t, &f, -1);
        else if (f.id == 12 && f.type == TLI_THRIFT_STRUCT)
            tli_parquet_statistics(t, c);
        else
            tli_thrift_skip(t, f.type);
    }
}

/* One column chunk. Fields 4 to 7 are offset and length of the offset index, then of the column index. */
TLI_FN tl_status tli_parquet_read_chunk(tli_parquet *p, tli_parquet_chunk *c, tli_parquet_index *x)
{
    tli_thrift_field f = tli_parquet_first();
    TLI_FILL(c, 0, sizeof *c);
    TLI_FILL(x, 0, sizeof *x);
    c->values = c->size = c->data = c->dictionary = c->nulls = c->nans = -1;
    x->offset[0] = x->offset[1] = -1;
    while (tli_thrift_next(&p->t, &f)) {
        int which = f.id < 6;
        if (f.id == 1 || f.id == 8 || f.id == 9)
            return tli_parquet_refuse(p, tli_text_span(NULL, 0), "a column in another file, or an encrypted one");
        if (f.id == 3 && f.type == TLI_THRIFT_STRUCT) {
            tli_parquet_column(&p->t, c);
        } else if (f.id == 4 || f.id == 6) {
            x->from[which] = p->t.at;
            x->offset[which] = tli_thrift_int(&p->t, &f, -1);
            x->to[which] = p->t.at;
        } else if (f.id == 5 || f.id == 7) {
            x->length[which] = tli_thrift_int(&p->t, &f, -1);
        } else {
            tli_thrift_skip(&p->t, f.type);
        }
    }
    if (tli_parquet_so_far(p) != TL_OK)
        return TL_CORRUPT;
    if (c->values < 0 || c->size < 0 || c->nulls > c->values || c->nans > c->values || c->data < 0
        || (uint64_t)c->data > p->file_size || (uint64_t)c->size > p->file_size)
        return tli_parquet_bad(p, "a column chunk whose numbers are impossible");
    return TL_OK;
}

/* A decimal's bytes as Iceberg has them: big-endian, none to spare. */
TLI_FN tl_span tli_parquet_decimal(tl_span value, int little, uint8_t *out)
{
    size_t i, n = value.size, start = 0;
    for (i = 0; i < n; i++)
        out[i] = (uint8_t)value.data[little ? n - 1 - i : i];
    while (start + 1 < n && out[start] == (out[start + 1] & 0x80 ? 0xff : 0))
        start++;
    return tli_text_span((const char *)out + start, n - start);
}

/* A statistic as an Iceberg bound. Absent: it gives none. `out` has 16 bytes. */
TLI_FN tl_span tli_parquet_bound(const tli_parquet_leaf *leaf, tl_span value, int exact, uint8_t *out)
{
    static const uint8_t widths[] = {1, 4, 8, 12, 4, 8};
    tl_span none = tli_text_span(NULL, 0);
    if (value.data == NULL || !leaf->ordered)
        return none;
    if (leaf->e.type >= TLI_PARQUET_BYTES && !exact) /* it may be cut */
        return none;
    if (leaf->e.type < TLI_PARQUET_BYTES && value.size != widths[leaf->e.type])
        return none;
    if (leaf->e.type == TLI_PARQUET_FIXED && value.size != (size_t)leaf->e.length)
        return none;
    if (leaf->e.meaning != TLI_PARQUET_DECIMAL)
        return value;
    if (value.size == 0 || value.size > 16 || leaf->e.type == TLI_PARQUET_INT96)
        return none;
    return tli_parquet_decimal(value, leaf->e.type < TLI_PARQUET_BYTES, out);
}

/* Keeps the lower (sign 1) or upper (-1) of two bounds; one that cannot be compared takes the bound away. */
TLI_FN tl_status tli_parquet_keep(tli_parquet *p, const tl_field *f, tl_span *kept, uint8_t *lost, tl_span value,
                                  int sign)
{
    tli_scan_key a, b;
    char *copy;
    TLI_FILL(&a, 0, sizeof a); /* else gcc -O3 takes what its kind does not have for used */
    TLI_FILL(&b, 0, sizeof b);
    tli_scan_bound(f, value, &a);
    if (*lost || a.kind == TLI_SCAN_UNKNOWN) {
        *lost = 1;
        return TL_OK;
    }
    if (kept->data != NULL) {
        tli_scan_bound(f, *kept, &b);
        if (tli_scan_order(&a, &b) * sign >= 0)
            return TL_OK;
    }
    copy = (char *)tli_mem_take(p->out->store, value.size + 1, p->err);
    if (copy == NULL)
        return p->err->status;
    TLI_COPY(copy, value.data, value.size);
    if (a.kind == TLI_SCAN_REAL && a.real == 0.0) /* of the two zeros the one that is surely no narrower */
        copy[value.size - 1] = (char)(sign > 0 ? 0x80 : 0);
    *kept = tli_text_span(copy, value.size);
    return TL_OK;
}

TLI_FN tl_status tli_parquet_merge(tli_parquet *p, tli_parquet_leaf *leaf, const tli_parquet_chunk *c)
{
    uint8_t low[16], high[16];
    tl_status st;
    leaf->values += (uint64_t)c->values;
    leaf->size += (uint64_t)c->size;
    if (leaf->values > INT64_MAX || leaf->size > INT64_MAX)
        return tli_parquet_bad(p, "column chunks whose numbers are impossible");
    if (c->nulls < 0)
        leaf->no_nulls = 1;
    else
        leaf->nulls += (uint64_t)c->nulls;
    if (c->nans < 0 || (leaf->e.type != TLI_PARQUET_FLOAT && leaf->e.type != TLI_PARQUET_DOUBLE))
        leaf->no_nans = 1;
    else
        leaf->nans += (uint64_t)c->nans;
    if (leaf->field == NULL || c->nulls == c->values) /* nothing but nulls: no bound's business */
        return TL_OK;
    st = tli_parquet_keep(p, leaf->field, &leaf->lower, &leaf->no_lower,
                          tli_parquet_bound(leaf, c->low, c->exact_low, low), 1);
    if (st == TL_OK)
        st = tli_parquet_keep(p, leaf->field, &leaf->upper, &leaf->no_upper,
                              tli_parquet_bound(leaf, c->high, c->exact_high, high), -1);
    return st;
}

TLI_FN tl_status tli_parquet_read_columns(tli_parquet *p, uint32_t group)
{
    uint8_t type;
    uint32_t count = tli_thrift_list(&p->t, &type), i;
    tl_status st = TL_OK;
    if (count != p->leaf_count || type != TLI_THRIFT_STRUCT)
        return tli_parquet_bad(p, "a row group that has not the schema's columns");
    for (i = 0; i < count && st == TL_OK; i++) {
        tli_parquet_chunk c;
        st = tli_parquet_read_chunk(p, &c, &p->indexes[(size_t)group * count + i]);
        if (st == TL_OK && i == 0)
            p->splits[group] = c.dictionary > 0 && c.dictionary < c.data ? c.dictionary : c.data;
        if (st == TL_OK)
            st = tli_parquet_merge(p, &p->leaves[i], &c);
    }
    return st;
}

TLI_FN tl_status tli_parquet_read_groups(tli_parquet *p)
{
    uint8_t type;
    uint32_t i;
    uint64_t rows = 0;
    tl_status st = TL_OK;
    p->t.at = p->groups;
    p->group_count = tli_thrift_list(&p->t, &type);
    if (p->table != NULL && (p->group_count == 0 || p->rows == 0))
        return tli_parquet_refuse(p, tli_text_span(NULL, 0), "a file without rows");
    if (type != TLI_THRIFT_STRUCT || p->rows < 0 || p->leaf_count == 0)
        return tli_parquet_bad(p, "a file without columns, or of no number of rows");
    p->splits = (int64_t *)tli_mem_take_array(p->out->store, p->group_count, sizeof *p->splits, p->err);
    p->indexes = (tli_parquet_index *)tli_mem_take_array(p->out->store, (uint64_t)p->group_count * p->leaf_count,
                                                         sizeof *p->indexes, p->err);
    if (p->splits == NULL || p->indexes == NULL)
        return p->err->status;
    for (i = 0; i < p->group_count && st == TL_OK; i++) {
        tli_thrift_field f = tli_parquet_first();
        int columns = 0;
        while (st == TL_OK && tli_thrift_next(&p->t, &f)) {
            if (f.id == 1 && f.type == TLI_THRIFT_LIST && columns++ == 0) {
                st = tli_parquet_read_columns(p, i);
            } else if (f.id == 3) {
                int64_t n = tli_thrift_int(&p->t, &f, -1);
                rows = n < 0 || rows > INT64_MAX ? UINT64_MAX : rows + (uint64_t)n;
            } else {
                tli_thrift_skip(&p->t, f.type);
            }
        }
        if (st == TL_OK && (tli_parquet_so_far(p) != TL_OK || columns != 1))
            return tli_parquet_bad(p, p->t.bad != NULL ? p->t.bad : "a row group without columns");
    }
    return st == TL_OK && rows != (uint64_t)p->rows ? tli_parquet_bad(p, "row groups that do not add up to the rows")
                                                    : st;
}

/* ---- what the table asks of it ---- */

/* The partition that a time lies in; the other way round tli_scan_partition_start. */
TLI_FN int64_t tli_parquet_partition_of(tl_transform transform, int64_t micros)
{
    int64_t rest, start, per = transform == TL_TRANSFORM_HOUR ? 3600000000 : 86400000000;
    int64_t v = tli_time_floor(micros, per, &rest);
    if (transform != TL_TRANSFORM_MONTH)
        return v;
    v = tli_time_floor(v, 31, &rest); /* a month has 30.44 days: first a number that is a little below */
    v = v < 0 ? v + v / 50 - 2 : v + v / 60;
    while (tli_scan_partition_start(TL_TRANSFORM_MONTH, v + 1, &start) && start <= micros)
        v++;
    return v;
}

TLI_FN tl_status tli_parquet_partition(tli_parquet *p)
{
    const tl_metadata *m = p->table;
    tl_file *file = &p->out->file.file;
    int64_t ends[2] = {0, 0};
    uint32_t i;
    int k;
    if (m == NULL || !m->partitioned)
        return TL_OK;
    if (m->transform != TL_TRANSFORM_HOUR && m->transform != TL_TRANSFORM_DAY && m->transform != TL_TRANSFORM_MONTH)
        return tli_parquet_refuse(p, m->partition_name, "a partition spec that is neither hour, day nor month");
    for (i = 0; i < p->leaf_count; i++) {
        const tli_parquet_leaf *leaf = &p->leaves[i];
        if (leaf->field == NULL || leaf->field->id != m->partition_source_id)
            continue;
        if (leaf->lower.size != 8 || leaf->upper.size != 8 || leaf->no_lower || leaf->no_upper || leaf->no_nulls
            || leaf->nulls != 0)
            break;
        for (k = 0; k < 2; k++) {
            int64_t rest, v = (int64_t)tli_bits_le64(k == 0 ? leaf->lower.data : leaf->upper.data);
            if (leaf->field->type == TL_ICEBERG_TIMESTAMP_NS || leaf->field->type == TL_ICEBERG_TIMESTAMPTZ_NS)
                v = tli_time_floor(v, 1000, &rest);
            ends[k] = tli_parquet_partition_of(m->transform, v);
        }
        if (ends[0] != ends[1] || ends[0] < INT32_MIN || ends[0] > INT32_MAX)
            return tli_parquet_refuse(p, leaf->field->name, "rows of more than one partition");
        file->has_partition = 1;
        file->partition = (int32_t)ends[0];
        return TL_OK;
    }
    return tli_parquet_refuse(p, m->partition_name, "no statistics of the column that the table is partitioned by");
}

TLI_FN tl_status tli_parquet_check_nulls(tli_parquet *p)
{
    uint32_t i;
    for (i = 0; i < p->leaf_count; i++) {
        const tli_parquet_leaf *leaf = &p->leaves[i];
        if (leaf->field != NULL && leaf->field->required && leaf->e.repetition == TLI_PARQUET_OPTIONAL
            && (leaf->no_nulls || leaf->nulls != 0))
            return tli_parquet_refuse(p, leaf->field->name, "a required column that may hold nulls");
    }
    return TL_OK;
}

/* ---- the entry ---- */

TLI_FN int tli_parquet_by_id(const void *a, const void *b)
{
    int32_t x = ((const tl_column *)a)->field_id, y = ((const tl_column *)b)->field_id;
    return (x > y) - (x < y);
}

TLI_FN tl_status tli_parquet_columns(tli_parquet *p)
{
    tl_column *columns = (tl_column *)tli_mem_take_array(p->out->store, p->leaf_count, sizeof *columns, p->err);
    uint32_t i, count = 0;
    if (columns == NULL)
        return p->err->status;
    for (i = 0; i < p->leaf_count; i++) {
        const tli_parquet_leaf *leaf = &p->leaves[i];
        tl_column *c = &columns[count];
        if (!leaf->e.has_id) /* there is no table, which would have refused it */
            continue;
        count++;
        c->field_id = leaf->e.id;
        c->has_size = c->has_values = 1;
        c->size = leaf->size;
        c->values = leaf->values;
        c->has_nulls = (uint8_t)!leaf->no_nulls;
        c->nulls = leaf->no_nulls ? 0 : leaf->nulls;
        c->has_nans = (uint8_t)!leaf->no_nans;
        c->nans = leaf->no_nans ? 0 : leaf->nans;
        c->lower = leaf->no_lower ? tli_text_span(NULL, 0) : leaf->lower;
        c->upper = leaf->no_upper ? tli_text_span(NULL, 0) : leaf->upper;
    }
    tli_sort(columns, count, sizeof *columns, tli_parquet_by_id);
    for (i = 1; i < count; i++)
        if (columns[i].field_id == columns[i - 1].field_id)
            return tli_parquet_bad(p, "a field id stands twice in the schema");
    p->out->file.columns = columns;
    p->out->file.column_count = count;
    return TL_OK;
}

TLI_FN void tli_parquet_split_offsets(tli_parquet *p)
{
    tl_file *file = &p->out->file.file;
    uint32_t i;
    for (i = 1; i < p->group_count; i++)
        if (p->splits[i] <= p->splits[i - 1])
            return; /* they have to ascend */
    file->has_split_offsets = 1;
    file->split_offsets = p->splits;
    file->split_count = p->group_count;
}

/* ---- the footer for the head ---- */

/* Bytes of all indexes, and the first byte of the file that is needed. 0: one is malformed, no footer is made. */
TLI_FN int tli_parquet_measure(tli_parquet *p, uint64_t *bytes, uint64_t *first)
{
    size_t i, count = (size_t)p->group_count * p->leaf_count;
    int k;
    *bytes = 0;
    *first = p->file_size - (uint64_t)(p->tail + p->tail_size - p->meta);
    for (i = 0; i < count; i++)
        for (k = 0; k < 2; k++) {
            const tli_parquet_index *x = &p->indexes[i];
            if (x->from[k] == NULL)
                continue;
            if (x->offset[k] < 0 || x->length[k] <= 0 || (uint64_t)x->offset[k] > p->file_size
                || (uint64_t)x->length[k] > p->file_size - (uint64_t)x->offset[k])
                return 0;
            *bytes += (uint64_t)x->length[k];
            *first = TLI_MIN(*first, (uint64_t)x->offset[k]);
        }
    return *bytes <= UINT32_MAX;
}

TLI_FN uint8_t *tli_parquet_put(uint8_t *out, const uint8_t *from, const uint8_t *to)
{
    TLI_COPY(out, from, (size_t)(to - from));
    return out + (to - from);
}

TLI_FN uint8_t *tli_parquet_put_offset(uint8_t *out, uint64_t offset)
{
    uint64_t v = offset << 1; /* zigzag */
    for (; v >= 128; v >>= 7)
        *out++ = (uint8_t)(v | 128);
    *out++ = (uint8_t)v;
    return out;
}

/* All column indexes, all offset indexes, then the metadata with offsets that count from the start of these bytes. */
TLI_FN uint8_t *tli_parquet_rebase(tli_parquet *p, uint8_t *out)
{
    uint64_t before = p->file_size - p->tail_size; /* bytes of the file that are not here */
    uint8_t *start = out;
    const uint8_t *from = p->meta;
    size_t i, count = (size_t)p->group_count * p->leaf_count;
    int k;
    for (k = 0; k < 2; k++)
        for (i = 0; i < count; i++) {
            tli_parquet_index *x = &p->indexes[i];
            const uint8_t *index = p->tail;
            if (x->from[k] == NULL)
                continue;
            index += (uint64_t)x->offset[k] - before;
            out = tli_parquet_put(out, index, index + x->length[k]);
            x->offset[k] = (int64_t)(out - start) - x->length[k];
        }
    for (i = 0; i < count; i++) {
        const tli_parquet_index *x = &p->indexes[i];
        int swapped = x->from[0] != NULL && x->from[1] != NULL && x->from[1] < x->from[0];
        for (k = 0; k < 2; k++) {
            int which = swapped ? 1 - k : k;
            if (x->from[which] == NULL)
                continue;
            out = tli_parquet_put(out, from, x->from[which]);
            out = tli_parquet_put_offset(out, (uint64_t)x->offset[which]);
            from = x->to[which];
        }
    }
    return tli_parquet_put(out, from, p->meta_end);
}

TLI_FN tl_status tli_parquet_footer(tli_parquet *p)
{
    uint64_t bytes, first, most;
    uint8_t *out, *end;
    size_t indexes;
    if (p->options->no_footer || !tli_parquet_measure(p, &bytes, &first))
        return TL_OK;
    p->out->whole_footer = p->file_size - first;
    if (p->out->whole_footer > p->tail_size)
        return TL_OK;
    most = bytes + (uint64_t)(p->meta_end - p->meta) + (uint64_t)p->group_count * p->leaf_count * 20 + 8;
    if (most > SIZE_MAX / 2)
        return TL_OK;
    out = (uint8_t *)tli_mem_take(p->out->store, (size_t)most, p->err);
    if (out == NULL)
        return p->err->status;
    end = tli_parquet_rebase(p, out);
    indexes = (size_t)bytes;
    tli_bits_put_le32(end, (uint32_t)((size_t)(end - out) - indexes));
    TLI_COPY(end + 4, "PAR1", 4);
    p->out->file.footer = tli_text_span((const char *)out, (size_t)(end + 8 - out));
    return TL_OK;
}

/* ---- all of it ---- */

/* Finds FileMetaData in the tail. */
TLI_FN tl_status tli_parquet_find_meta(tli_parquet *p)
{
    uint64_t need;
    if (p->tail_size < 8 && p->file_size > p->tail_size) {
        (void)tli_err(p->err, TL_TRUNCATED, "the tail does not hold the footer", TL_NO_POSITION);
        p->err->need = TLI_MIN(p->file_size, (uint64_t)65536);
        return TL_TRUNCATED;
    }
    if (p->tail_size < 8 || p->tail_size > p->file_size)
        return tli_err(p->err, TL_CORRUPT, "not a Parquet file", TL_NO_POSITION);
    if (TLI_COMPARE(p->tail + p->tail_size - 4, "PARE", 4) == 0)
        return tli_err(p->err, TL_UNSUPPORTED, "an encrypted Parquet file", TL_NO_POSITION);
    if (TLI_COMPARE(p->tail + p->tail_size - 4, "PAR1", 4) != 0)
        return tli_err(p->err, TL_CORRUPT, "not a Parquet file", p->tail_size - 4);
    need = (uint64_t)tli_bits_le32(p->tail + p->tail_size - 8) + 8;
    if (need > p->file_size)
        return tli_err(p->err, TL_CORRUPT, "a footer longer than the file", p->tail_size - 8);
    if (need > p->tail_size) {
        (void)tli_err(p->err, TL_TRUNCATED, "the tail does not hold the footer", TL_NO_POSITION);
        p->err->need = need;
        return TL_TRUNCATED;
    }
    p->meta = p->tail + p->tail_size - need;
    p->meta_end = p->tail + p->tail_size - 8;
    return TL_OK;
}

TLI_FN tl_status tli_parquet_read_top(tli_parquet *p)
{
    tli_thrift_field f = tli_parquet_first();
    p->t.at = p->meta;
    p->t.end = p->meta_end;
    p->rows = -1;
    while (tli_thrift_next(&p->t, &f)) {
        if (f.id == 3) {
            p->rows = tli_thrift_int(&p->t, &f, -1);
            continue;
        }
        if (f.type == TLI_THRIFT_LIST && f.id == 2)
            p->schema = p->t.at;
        if (f.type == TLI_THRIFT_LIST && f.id == 4)
            p->groups = p->t.at;
        if (f.type == TLI_THRIFT_LIST && f.id == 7)
            p->orders = p->t.at;
        if (f.id == 8)
            return tli_parquet_refuse(p, tli_text_span(NULL, 0), "an encrypted Parquet file");
        tli_thrift_skip(&p->t, f.type);
    }
    if (tli_parquet_so_far(p) == TL_OK && (p->schema == NULL || p->groups == NULL))
        return tli_parquet_bad(p, "a footer without schema or row groups");
    return tli_parquet_so_far(p);
}

/* Finds the metadata, and reads the schema of it. */
TLI_FN tl_status tli_parquet_read_columns_of(tli_parquet *p)
{
    tl_status st = tli_parquet_find_meta(p);
    if (st == TL_OK)
        st = tli_parquet_read_top(p);
    return st == TL_OK ? tli_parquet_read_schema(p) : st;
}

TLI_FN tl_status tli_parquet_read_all(tli_parquet *p)
{
    tl_status st = tli_parquet_read_columns_of(p);
    if (st == TL_OK)
        st = tli_parquet_read_orders(p);
    if (st == TL_OK)
        st = tli_parquet_read_groups(p);
    if (st == TL_OK)
        st = tli_parquet_check_nulls(p);
    if (st == TL_OK)
        st = tli_parquet_partition(p);
    if (st == TL_OK)
        st = tli_parquet_columns(p);
    if (st != TL_OK)
        return st;
    tli_parquet_split_offsets(p);
    return tli_parquet_footer(p);
}

TLI_FN tl_status tli_parquet_begin(tli_parquet *p, tl_parquet *out, const tl_metadata *table, const void *tail,
                                   size_t size, uint64_t file_size, const tl_parquet_options *options, tl_error *err)
{
    tl_allocator allocator = tli_mem_allocator(&options->allocator);
    TLI_FILL(out, 0, sizeof *out);
    TLI_FILL(p, 0, sizeof *p);
    p->out = out;
    p->table = table;
    p->options = options;
    p->limits = tl_limits_resolve(&options->limits);
    p->tail = (const uint8_t *)tail;
    p->tail_size = size;
    p->file_size = file_size;
    p->err = err;
    out->store = tli_mem_store_new(&allocator, p->limits.decoded_bytes, NULL, 0, NULL, NULL, err);
    return out->store != NULL ? TL_OK : err->status;
}

TL_API tl_status tl_parquet_data_file(tl_parquet *parquet, const tl_metadata *table, tl_span path, const void *tail,
                                      size_t size, uint64_t file_size, const tl_parquet_options *options,
                                      tl_error *err)
{
    tl_parquet_options defaults;
    tl_error why;
    tli_parquet p;
    tl_status st;
    TLI_FILL(&defaults, 0, sizeof defaults);
    st = tli_parquet_begin(&p, parquet, table, tail, size, file_size, options != NULL ? options : &defaults,
                           err != NULL ? err : &why);
    if (st != TL_OK)
        return st;
    parquet->file.file.path = path;
    parquet->file.file.size = file_size;
    st = tli_parquet_read_all(&p);
    parquet->file.file.records = st == TL_OK ? (uint64_t)p.rows : 0;
    parquet->row_groups = p.group_count;
    parquet->fields = p.fields;
    parquet->field_count = p.field_count;
    if (p.options->sorted && table != NULL && table->default_sort_order_id > 0
        && table->default_sort_order_id <= INT32_MAX) {
        parquet->file.file.has_sort_order_id = 1;
        parquet->file.file.sort_order_id = (int32_t)table->default_sort_order_id;
    }
    return st;
}

TL_API void tl_parquet_free(tl_parquet *parquet)
{
    tli_mem_store_drop(parquet->store);
    TLI_FILL(parquet, 0, sizeof *parquet);
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
