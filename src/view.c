/* >>view: tables of where the values of each batch and column lie, and the writer of layout 1. */
#define TLI_VIEW_REQUIRED 1u /* no null in it */
#define TLI_VIEW_OLD 2u      /* older writers leave the column out */
#define TLI_VIEW_NO_HAS ((size_t)-1)

/* A column of layout 1: its Arrow format (utf8 `u`, binary `z`, list `+l` of int64, integers), the group of columns
   that opens with it, and where the C structs have its value and its `has_` byte. */
typedef struct tli_view_field {
    const char *name;
    const char *format;
    unsigned flags;
    unsigned group;
    size_t value;
    size_t has;
} tli_view_field;

typedef struct tli_view_layout {
    const char *section;
    const tli_view_field *fields;
    int32_t count;
    int32_t slot; /* in head->views */
} tli_view_layout;

#define TLI_VIEW_NEVER_NULL(s, name, format) { #name, format, TLI_VIEW_REQUIRED, 0, offsetof(s, name), TLI_VIEW_NO_HAS }
#define TLI_VIEW_HAS(s, name, format, flags, group)                                                                    \
    { #name, format, flags, group, offsetof(s, name), offsetof(s, has_##name) }

enum {
    TLI_VIEW_FILE_PATH, TLI_VIEW_FILE_SIZE, TLI_VIEW_FILE_RECORDS, TLI_VIEW_FILE_PARTITION, TLI_VIEW_FILE_SORT,
    TLI_VIEW_FILE_SPLITS, TLI_VIEW_FILE_ADDED, TLI_VIEW_FILE_SNAPSHOT, TLI_VIEW_FILE_SEQUENCE,
    TLI_VIEW_FILE_FILE_SEQUENCE, TLI_VIEW_FILE_FIELDS
};

static const tli_view_field tli_view_file_fields[TLI_VIEW_FILE_FIELDS] = {
    TLI_VIEW_NEVER_NULL(tl_file, path, "u"),
    TLI_VIEW_NEVER_NULL(tl_file, size, "L"),
    TLI_VIEW_NEVER_NULL(tl_file, records, "L"),
    TLI_VIEW_HAS(tl_file, partition, "i", 0, 0),
    TLI_VIEW_HAS(tl_file, sort_order_id, "i", 0, 0),
    TLI_VIEW_HAS(tl_file, split_offsets, "+l", TLI_VIEW_OLD, 0),
    TLI_VIEW_NEVER_NULL(tl_file, added, "C"),
    TLI_VIEW_NEVER_NULL(tl_file, snapshot_id, "l"),
    TLI_VIEW_NEVER_NULL(tl_file, sequence_number, "l"),
    TLI_VIEW_NEVER_NULL(tl_file, file_sequence_number, "l"),
};

enum {
    TLI_VIEW_COLUMN_FILE, TLI_VIEW_COLUMN_FIELD, TLI_VIEW_COLUMN_LOWER, TLI_VIEW_COLUMN_UPPER, TLI_VIEW_COLUMN_VALUES,
    TLI_VIEW_COLUMN_NULLS, TLI_VIEW_COLUMN_NANS, TLI_VIEW_COLUMN_SIZE, TLI_VIEW_COLUMN_FIELDS
};

static const tli_view_field tli_view_column_fields[TLI_VIEW_COLUMN_FIELDS] = {
    TLI_VIEW_NEVER_NULL(tl_column, file, "I"),
    TLI_VIEW_NEVER_NULL(tl_column, field_id, "i"),
    { "lower", "z", 0, TL_COLUMNS_BOUNDS, offsetof(tl_column, lower), TLI_VIEW_NO_HAS },
    { "upper", "z", 0, TL_COLUMNS_BOUNDS, offsetof(tl_column, upper), TLI_VIEW_NO_HAS },
    TLI_VIEW_HAS(tl_column, values, "L", 0, TL_COLUMNS_COUNTS),
    TLI_VIEW_HAS(tl_column, nulls, "L", 0, TL_COLUMNS_COUNTS),
    TLI_VIEW_HAS(tl_column, nans, "L", 0, TL_COLUMNS_COUNTS),
    TLI_VIEW_HAS(tl_column, size, "L", 0, TL_COLUMNS_COUNTS),
};

enum { TLI_VIEW_FOOTER_PATH, TLI_VIEW_FOOTER_FOOTER, TLI_VIEW_FOOTER_FIELDS };

static const tli_view_field tli_view_footer_fields[TLI_VIEW_FOOTER_FIELDS] = {
    TLI_VIEW_NEVER_NULL(tl_footer, path, "u"),
    TLI_VIEW_NEVER_NULL(tl_footer, footer, "z"),
};

typedef struct tli_view_text {
    tl_span json;
} tli_view_text;

static const tli_view_field tli_view_metadata_fields[1] = { TLI_VIEW_NEVER_NULL(tli_view_text, json, "u") };

static const tli_view_layout tli_view_files = { "files", tli_view_file_fields, TLI_VIEW_FILE_FIELDS, 0 };
static const tli_view_layout tli_view_columns = { "columns", tli_view_column_fields, TLI_VIEW_COLUMN_FIELDS, 1 };
static const tli_view_layout tli_view_footers = { "footers", tli_view_footer_fields, TLI_VIEW_FOOTER_FIELDS, 2 };
static const tli_view_layout tli_view_metadata = { "metadata", tli_view_metadata_fields, 1, -1 };

/* Where the values of one column of one batch lie. `values` NULL: all null. */
typedef struct tli_view_cells {
    const uint8_t *validity; /* NULL: none is null */
    const uint8_t *values;   /* from the batch's first row; of texts and lists their int32 offsets */
    const uint8_t *data;     /* of texts and lists */
    uint64_t bit;            /* of the batch's first row in validity */
} tli_view_cells;

struct tli_view {
    tl_section section;     /* a copy: the document's moves when another is added */
    unsigned opened;        /* groups of columns that are open, and TLI_VIEW_OPEN */
    uint64_t *starts;       /* the first row of each batch, and the end of the last */
    tli_view_cells *cells;  /* layout->count for each batch */
    int64_t columns[TLI_VIEW_FILE_FIELDS]; /* of each field in the section, -1: not there */
};

#define TLI_VIEW_OPEN 0x80000000u    /* the group 0 */
#define TLI_VIEW_CHECKED 0x40000000u /* every `file` is a row of `files` */

/* tl_head_memory reckons with these. */
typedef char tli_view_assert_batch[TLI_VIEW_FILE_FIELDS * sizeof(tli_view_cells) + 8 <= TLI_HEAD_VIEW_BATCH ? 1 : -1];
typedef char tli_view_assert_fixed[sizeof(struct tli_view) + 8 + 3 * 64 <= TLI_HEAD_VIEW_FIXED ? 1 : -1];

/* ---- opening ---- */

TLI_FN tl_status tli_view_section(tl_head *head, const char *name, int required, tl_section **section, tl_error *err)
{
    tl_span layout;
    *section = NULL;
    if (head == NULL)
        return tli_err(err, TL_MISUSE, "no head", TL_NO_POSITION);
    layout = tl_document_property(&head->document, tl_text("layout"));
    if (layout.data == NULL || !tli_text_is(layout, "1"))
        return tli_err(err, TL_LAYOUT, "the head's layout is not 1", TL_NO_POSITION);
    *section = tl_document_section(&head->document, tl_text(name));
    if (*section != NULL)
        return TL_OK;
    return required ? tli_err(err, TL_CORRUPT, "the head lacks a section of its layout", TL_NO_POSITION)
                    : tli_err(err, TL_ABSENT, "the head does not have this section", TL_NO_POSITION);
}

/* A section that is not as it must be: that is no news when it has types that we cannot read at all. */
TLI_FN tl_status tli_view_wrong(const tl_section *section, const char *text, tl_error *err)
{
    int64_t i;
    for (i = 0; i < section->schema->n_children; i++) {
        tl_type type;
        if (tl_type_of(section->schema->children[i], &type, NULL) != TL_OK)
            return tli_err(err, TL_UNSUPPORTED, "a section of types that are not supported", TL_NO_POSITION);
    }
    return tli_err(err, TL_CORRUPT, text, TL_NO_POSITION);
}

TLI_FN int tli_view_same_format(const char *a, const char *b)
{
    return a != NULL && tli_text_is(tl_text(a), b);
}

TLI_FN int tli_view_has_type(const struct ArrowSchema *node, const char *format)
{
    if (node->dictionary != NULL || !tli_view_same_format(node->format, format))
        return 0;
    if (format[0] != '+')
        return 1;
    return node->n_children == 1 && node->children[0]->dictionary == NULL
        && tli_view_same_format(node->children[0]->format, "l");
}

/* Finds the columns of a layout in a section. */
TLI_FN tl_status tli_view_match(const tli_view_layout *layout, const tl_section *section, int64_t *columns,
                                tl_error *err)
{
    int32_t i;
    for (i = 0; i < layout->count; i++) {
        const tli_view_field *field = &layout->fields[i];
        columns[i] = tl_schema_find(section->schema, tl_text(field->name));
        if (columns[i] < 0) {
            if (field->flags & TLI_VIEW_OLD)
                continue;
            return tli_view_wrong(section, "a section lacks a column of its layout", err);
        }
        if (!tli_view_has_type(section->schema->children[columns[i]], field->format))
            return tli_view_wrong(section, "a column of a section is of another type than its layout says", err);
    }
    return TL_OK;
}

TLI_FN int tli_view_has_null(const uint8_t *validity, uint64_t bit, uint64_t count)
{
    uint64_t end = bit + count;
    for (; bit < end && (bit & 7) != 0; bit++)
        if (!tli_bits_get(validity, bit))
            return 1;
    for (; end - bit >= 8; bit += 8)
        if (validity[bit >> 3] != 0xff)
            return 1;
    for (; bit < end; bit++)
        if (!tli_bits_get(validity, bit))
            return 1;
    return 0;
}

/* Bytes of a value, of texts and lists those of an offset. */
TLI_INLINE size_t tli_view_width(const char *format)
{
    switch (format[0]) {
    case 'L':
    case 'l':
        return 8;
    case 'C':
        return 1;
    default:
        return 4;
    }
}

/* Opens a column and says where its values lie. */
TLI_FN tl_status tli_view_cells_of(const tli_view_field *field, tl_section *section, int32_t batch, int64_t column,
                                   tli_view_cells *cells, tl_error *err)
{
    const struct ArrowArray *array;
    uint64_t rows = (uint64_t)section->batches[batch].rows, offset;
    tl_status st = tl_section_column(section, batch, (int32_t)column, &array, err);
    if (st != TL_OK)
        return st;
    if ((uint64_t)array->length != rows)
        return tli_err(err, TL_CORRUPT, "a column has another length than its batch", TL_NO_POSITION);
    if (rows == 0)
        return TL_OK; /* no buffer need be there */
    offset = (uint64_t)array->offset;
    cells->bit = offset;
    cells->validity = array->null_count != 0 ? (const uint8_t *)array->buffers[0] : NULL;
    if (cells->validity != NULL && (field->flags & TLI_VIEW_REQUIRED)
        && tli_view_has_null(cells->validity, offset, rows))
        return tli_err(err, TL_CORRUPT, "a null in a column that has none", TL_NO_POSITION);
    cells->values = (const uint8_t *)array->buffers[1] + offset * tli_view_width(field->format);
    if (field->format[0] == 'u' || field->format[0] == 'z')
        cells->data = (const uint8_t *)array->buffers[2];
    if (field->format[0] == '+' && array->children[0]->buffers[1] != NULL)
        cells->data = (const uint8_t *)array->children[0]->buffers[1] + 8 * (uint64_t)array->children[0]->offset;
    if (cells->data == NULL)
        cells->data = (const uint8_t *)""; /* only empty values */
    return TL_OK;
}

TLI_FN tl_status tli_view_new(tl_head *head, const tli_view_layout *layout, tl_section *section, struct tli_view **out,
                              tl_error *err)
{
    uint64_t batches = (uint64_t)(uint32_t)section->batch_count;
    struct tli_view *v;
    int32_t i;
    if (section->rows < 0 || (uint64_t)section->rows > SIZE_MAX)
        return tli_err(err, TL_LIMIT, "more rows than this machine can count", TL_NO_POSITION);
    v = (struct tli_view *)tli_mem_take_zero(head->document.store, sizeof *v, err);
    if (v == NULL)
        return err->status;
    v->section = *section;
    v->starts = (uint64_t *)tli_mem_take_array(head->document.store, batches + 1, sizeof *v->starts, err);
    v->cells = (tli_view_cells *)tli_mem_take_array(head->document.store, batches * (uint32_t)layout->count,
                                                   sizeof *v->cells, err);
    if (v->starts == NULL || v->cells == NULL)
        return err->status;
    for (i = 0; i < section->batch_count; i++)
        v->starts[i + 1] = v->starts[i] + (uint64_t)section->batches[i].rows;
    *out = v;
    return TL_OK;
}

TLI_FN int tli_view_in(const tli_view_field *field, unsigned groups)
{
    return ((field->group == 0 ? TLI_VIEW_OPEN : field->group) & groups) != 0;
}

/* Opens the columns of these groups in one batch. */
TLI_FN tl_status tli_view_batch(struct tli_view *v, const tli_view_layout *layout, unsigned groups, int32_t batch,
                                tl_error *err)
{
    tl_status st = TL_OK;
    int32_t i;
    for (i = 0; st == TL_OK && i < layout->count; i++)
        if (v->columns[i] >= 0 && tli_view_in(&layout->fields[i], groups))
            st = tli_view_cells_of(&layout->fields[i], &v->section, batch, v->columns[i],
                                   &v->cells[(size_t)batch * (size_t)layout->count + (size_t)i], err);
    return st;
}

TLI_FN void tli_view_close(struct tli_view *v, const tli_view_layout *layout, unsigned groups, int32_t batch)
{
    int32_t i;
    for (i = 0; i < layout->count; i++)
        if (tli_view_in(&layout->fields[i], groups))
            TLI_FILL(&v->cells[(size_t)batch * (size_t)layout->count + (size_t)i], 0, sizeof *v->cells);
}

/* The view of a section with the columns of group 0 and those of `groups` open. */
TLI_FN tl_status tli_view_open(tl_head *head, const tli_view_layout *layout, int required, unsigned groups,
                               struct tli_view **out, tl_error *err)
{
    tl_section *section;
    struct tli_view *v;
    int32_t b;
    tl_status st = tli_view_section(head, layout->section, required, &section, err);
    if (st != TL_OK)
        return st;
    v = head->views[layout->slot];
    if (v == NULL) {
        int64_t columns[TLI_VIEW_FILE_FIELDS];
        st = tli_view_match(layout, section, columns, err);
        if (st == TL_OK)
            st = tli_view_new(head, layout, section, &v, err);
        if (st != TL_OK)
            return st;
        TLI_COPY(v->columns, columns, sizeof columns);
        head->views[layout->slot] = v;
    }
    groups = (groups | TLI_VIEW_OPEN) & ~v->opened;
    for (b = 0; groups != 0 && st == TL_OK && b < section->batch_count; b++)
        st = tli_view_batch(v, layout, groups, b, err);
    if (st == TL_OK)
        v->opened |= groups;
    for (b--; st != TL_OK && b >= 0; b--) /* all of a group or nothing */
        tli_view_close(v, layout, groups, b);
    *out = v;
    return st;
}

/* ---- reading ---- */

/* The cells of the batch that has the row, and the row in it. The row is there. */
TLI_INLINE const tli_view_cells *tli_view_find(const struct tli_view *v, int32_t fields, size_t row, uint64_t *in_batch)
{
    int32_t low = 0, high = v->section.batch_count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (v->starts[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    *in_batch = row - v->starts[low];
    return v->cells + (size_t)low * (size_t)fields;
}

TLI_INLINE int tli_view_valid(const tli_view_cells *c, uint64_t row)
{
    return c->values != NULL && (c->validity == NULL || tli_bits_get(c->validity, c->bit + row));
}

TLI_INLINE uint64_t tli_view_u64(const tli_view_cells *c, uint64_t row, uint8_t *has)
{
    *has = (uint8_t)tli_view_valid(c, row);
    return *has ? tli_bits_u64(c->values + 8 * row) : 0;
}

TLI_INLINE int64_t tli_view_i64(const tli_view_cells *c, uint64_t row)
{
    return (int64_t)tli_bits_u64(c->values + 8 * row);
}

TLI_INLINE int32_t tli_view_i32(const tli_view_cells *c, uint64_t row, uint8_t *has)
{
    *has = (uint8_t)tli_view_valid(c, row);
    return *has ? (int32_t)tli_bits_u32(c->values + 4 * row) : 0;
}

TLI_INLINE tl_span tli_view_span(const tli_view_cells *c, uint64_t row)
{
    uint32_t from, to;
    if (!tli_view_valid(c, row))
        return tli_text_span(NULL, 0);
    from = tli_bits_u32(c->values + 4 * row);
    to = tli_bits_u32(c->values + 4 * row + 4);
    return tli_text_span(c->data + from, to - from);
}

TL_API tl_status tl_head_metadata(tl_head *head, tl_span *json, tl_error *err)
{
    tl_section *section;
    tli_view_cells cells;
    int64_t column;
    int32_t b;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (json == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_metadata: nowhere to put the answer", TL_NO_POSITION);
    *json = tli_text_span(NULL, 0);
    st = tli_view_section(head, "metadata", 1, &section, err);
    if (st == TL_OK)
        st = tli_view_match(&tli_view_metadata, section, &column, err);
    if (st != TL_OK)
        return st;
    if (section->rows != 1)
        return tli_err(err, TL_CORRUPT, "the section metadata does not have one row", TL_NO_POSITION);
    for (b = 0; section->batches[b].rows == 0;)
        b++;
    TLI_FILL(&cells, 0, sizeof cells);
    st = tli_view_cells_of(&tli_view_metadata_fields[0], section, b, column, &cells, err);
    if (st == TL_OK)
        *json = tli_view_span(&cells, 0);
    return st;
}

TL_API tl_status tl_head_files(tl_head *head, tl_files *files, tl_error *err)
{
    struct tli_view *v;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (files == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_files: nowhere to put the answer", TL_NO_POSITION);
    TLI_FILL(files, 0, sizeof *files);
    st = tli_view_open(head, &tli_view_files, 1, 0, &v, err);
    if (st != TL_OK)
        return st;
    files->count = (size_t)v->section.rows;
    files->view = v;
    return TL_OK;
}

TL_API void tl_files_get(const tl_files *files, size_t row, tl_file *file)
{
    const tli_view_cells *c;
    uint64_t r;
    TLI_FILL(file, 0, sizeof *file);
    if (row >= files->count)
        return;
    c = tli_view_find(files->view, TLI_VIEW_FILE_FIELDS, row, &r);
    file->path = tli_view_span(&c[TLI_VIEW_FILE_PATH], r);
    file->size = (uint64_t)tli_view_i64(&c[TLI_VIEW_FILE_SIZE], r);
    file->records = (uint64_t)tli_view_i64(&c[TLI_VIEW_FILE_RECORDS], r);
    file->partition = tli_view_i32(&c[TLI_VIEW_FILE_PARTITION], r, &file->has_partition);
    file->sort_order_id = tli_view_i32(&c[TLI_VIEW_FILE_SORT], r, &file->has_sort_order_id);
    file->added = c[TLI_VIEW_FILE_ADDED].values[r];
    file->snapshot_id = tli_view_i64(&c[TLI_VIEW_FILE_SNAPSHOT], r);
    file->sequence_number = tli_view_i64(&c[TLI_VIEW_FILE_SEQUENCE], r);
    file->file_sequence_number = tli_view_i64(&c[TLI_VIEW_FILE_FILE_SEQUENCE], r);
    c += TLI_VIEW_FILE_SPLITS;
    if (tli_view_valid(c, r)) {
        uint32_t from = tli_bits_u32(c->values + 4 * r);
        file->has_split_offsets = 1;
        file->split_count = tli_bits_u32(c->values + 4 * r + 4) - from;
        file->split_offsets = c->data + (file->split_count != 0 ? 8 * (size_t)from : 0);
    }
}

TL_API int64_t tl_file_split_offset(const tl_file *file, size_t i)
{
    return i < file->split_count ? (int64_t)tli_bits_u64((const uint8_t *)file->split_offsets + 8 * i) : 0;
}

/* Every `file` names a row of `files`. */
TLI_FN tl_status tli_view_check_files(tl_head *head, struct tli_view *v, tl_error *err)
{
    tl_section *files;
    uint64_t row;
    int32_t b;
    tl_status st = tli_view_section(head, "files", 1, &files, err);
    for (b = 0; st == TL_OK && b < v->section.batch_count; b++) {
        const uint8_t *values = v->cells[(size_t)b * TLI_VIEW_COLUMN_FIELDS + TLI_VIEW_COLUMN_FILE].values;
        uint64_t rows = v->starts[b + 1] - v->starts[b];
        uint32_t most = 0;
        for (row = 0; row < rows; row++) {
            uint32_t file = tli_bits_u32(values + 4 * row);
            most = TLI_MAX(most, file);
        }
        if (rows != 0 && most >= (uint64_t)files->rows)
            return tli_err(err, TL_CORRUPT, "statistics of a file that is not there", TL_NO_POSITION);
    }
    if (st == TL_OK)
        v->opened |= TLI_VIEW_CHECKED;
    return st;
}

TL_API tl_status tl_head_columns(tl_head *head, unsigned which, tl_columns *columns, tl_error *err)
{
    struct tli_view *v;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (columns == NULL || (which & ~TL_COLUMNS_ALL) != 0)
        return tli_err(err, TL_MISUSE, "tl_head_columns: nowhere to put the answer, or unknown bits", TL_NO_POSITION);
    TLI_FILL(columns, 0, sizeof *columns);
    st = tli_view_open(head, &tli_view_columns, 1, which, &v, err);
    if (st == TL_OK && !(v->opened & TLI_VIEW_CHECKED) && head->grow == NULL) /* else made of what was checked */
        st = tli_view_check_files(head, v, err);
    if (st != TL_OK)
        return st;
    columns->count = (size_t)v->section.rows;
    columns->view = v;
    return TL_OK;
}

TL_API void tl_columns_get(const tl_columns *columns, size_t row, tl_column *column)
{
    const tli_view_cells *c;
    uint64_t r;
    TLI_FILL(column, 0, sizeof *column);
    if (row >= columns->count)
        return;
    c = tli_view_find(columns->view, TLI_VIEW_COLUMN_FIELDS, row, &r);
    column->file = tli_bits_u32(c[TLI_VIEW_COLUMN_FILE].values + 4 * r);
    column->field_id = (int32_t)tli_bits_u32(c[TLI_VIEW_COLUMN_FIELD].values + 4 * r);
    column->lower = tli_view_span(&c[TLI_VIEW_COLUMN_LOWER], r);
    column->upper = tli_view_span(&c[TLI_VIEW_COLUMN_UPPER], r);
    column->values = tli_view_u64(&c[TLI_VIEW_COLUMN_VALUES], r, &column->has_values);
    column->nulls = tli_view_u64(&c[TLI_VIEW_COLUMN_NULLS], r, &column->has_nulls);
    column->nans = tli_view_u64(&c[TLI_VIEW_COLUMN_NANS], r, &column->has_nans);
    column->size = tli_view_u64(&c[TLI_VIEW_COLUMN_SIZE], r, &column->has_size);
}

TL_API tl_status tl_head_footers(tl_head *head, tl_footers *footers, tl_error *err)
{
    struct tli_view *v;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (footers == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_footers: nowhere to put the answer", TL_NO_POSITION);
    TLI_FILL(footers, 0, sizeof *footers);
    st = tli_view_open(head, &tli_view_footers, 0, 0, &v, err);
    if (st != TL_OK)
        return st;
    footers->count = (size_t)v->section.rows;
    footers->view = v;
    return TL_OK;
}

TL_API void tl_footers_get(const tl_footers *footers, size_t row, tl_footer *footer)
{
    const tli_view_cells *c;
    uint64_t r;
    TLI_FILL(footer, 0, sizeof *footer);
    if (row >= footers->count)
        return;
    c = tli_view_find(footers->view, TLI_VIEW_FOOTER_FIELDS, row, &r);
    footer->path = tli_view_span(&c[TLI_VIEW_FOOTER_PATH], r);
    footer->footer = tli_view_span(&c[TLI_VIEW_FOOTER_FOOTER], r);
}

TL_API tl_status tl_head_last_values(tl_head *head, tl_section **section, tl_error *err)
{
    if (section == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_last_values: nowhere to put the answer", TL_NO_POSITION);
    return tli_view_section(head, "last_values", 0, section, err);
}

/* ---- building sections ---- */

/* Items of one C struct, taken in `order` (NULL: as they lie). */
typedef struct tli_view_items {
    const void *items;
    size_t stride;
    size_t count;
    const size_t *order;
} tli_view_items;

TLI_INLINE const uint8_t *tli_view_item(const tli_view_items *in, size_t i)
{
    return (const uint8_t *)in->items + in->stride * (in->order != NULL ? in->order[i] : i);
}

/* Room for a validity bitmap, where there can be nulls. */
TLI_FN tl_status tli_view_put_begin(tli_store *store, const tli_view_items *in, uint8_t **bits, tl_error *err)
{
    *bits = (uint8_t *)tli_mem_take_zero(store, in->count / 8 + 1, err);
    return *bits != NULL ? TL_OK : err->status;
}

/* Notes the nulls: no bitmap when there are none. */
TLI_FN tl_status tli_view_put_end(const tli_view_field *field, const uint8_t *bits, size_t nulls,
                                  struct ArrowArray *array, tl_error *err)
{
    array->null_count = (int64_t)nulls;
    if (nulls == 0)
        return TL_OK;
    if (field->flags & TLI_VIEW_REQUIRED)
        return tli_err(err, TL_MISUSE, "an absent text where the layout has no null", TL_NO_POSITION);
    array->buffers[0] = bits;
    return TL_OK;
}

TLI_FN tl_status tli_view_put_fixed(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                    struct ArrowArray *array, tl_error *err)
{
    size_t i, nulls = 0, width = tli_view_width(field->format);
    uint8_t *bits = NULL, *values = (uint8_t *)tli_mem_take(store, in->count * width, err); /* less than the items */
    tl_status st = values != NULL ? tli_view_put_begin(store, in, &bits, err) : err->status;
    if (st != TL_OK)
        return st;
    array->buffers[1] = values;
    for (i = 0; i < in->count; i++) {
        const uint8_t *item = tli_view_item(in, i);
        unsigned there = field->has == TLI_VIEW_NO_HAS || item[field->has] != 0;
        bits[i >> 3] = (uint8_t)(bits[i >> 3] | there << (i & 7));
        nulls += !there;
        if (width == 8)
            tli_bits_put64(values + 8 * i, there ? tli_bits_u64(item + field->value) : 0);
        else if (width == 4)
            tli_bits_put32(values + 4 * i, there ? tli_bits_u32(item + field->value) : 0);
        else
            values[i] = item[field->value];
    }
    return tli_view_put_end(field, bits, nulls, array, err);
}

/* The sum of sizes, as far as int32 offsets reach. */
TLI_FN tl_status tli_view_sum(uint64_t *sum, size_t more, tl_error *err)
{
    if (more > INT32_MAX || *sum + more > INT32_MAX)
        return tli_err_need(err, TL_LIMIT, "a column of a head holds at most 2 GiB", TL_NO_POSITION, *sum + more);
    *sum += more;
    return TL_OK;
}

TLI_FN int tli_view_all_utf8(const uint8_t *data, const uint8_t *offsets, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        size_t from = tli_bits_u32(offsets + 4 * i), size = tli_bits_u32(offsets + 4 * i + 4) - from;
        if (tli_text_utf8(data + from, size) != size)
            return 0;
    }
    return 1;
}

TLI_FN tl_status tli_view_put_texts(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                    struct ArrowArray *array, tl_error *err)
{
    uint64_t sum = 0;
    uint8_t *bits = NULL, *data, *offsets = (uint8_t *)tli_mem_take_array(store, (uint64_t)in->count + 1, 4, err);
    size_t i, nulls = 0;
    tl_span text;
    tl_status st = offsets != NULL ? tli_view_put_begin(store, in, &bits, err) : err->status;
    for (i = 0; st == TL_OK && i < in->count; i++) {
        TLI_COPY(&text, tli_view_item(in, i) + field->value, sizeof text);
        if (text.data != NULL) {
            st = tli_view_sum(&sum, text.size, err);
            tli_bits_set(bits, i);
        } else {
            nulls++;
        }
        tli_bits_put32(offsets + 4 * (i + 1), (uint32_t)sum);
    }
    data = st == TL_OK ? (uint8_t *)tli_mem_take(store, (size_t)sum, err) : NULL;
    if (data == NULL)
        return st == TL_OK ? err->status : st;
    array->buffers[1] = offsets;
    array->buffers[2] = data;
    for (i = 0; i < in->count; i++) {
        TLI_COPY(&text, tli_view_item(in, i) + field->value, sizeof text);
        if (text.data != NULL && text.size != 0)
            TLI_COPY(data + tli_bits_u32(offsets + 4 * i), text.data, text.size);
    }
    if (field->format[0] == 'u' && !tli_view_all_utf8(data, offsets, in->count))
        return tli_err(err, TL_MISUSE, "a text of a head is not UTF-8", TL_NO_POSITION);
    return tli_view_put_end(field, bits, nulls, array, err);
}

/* The only lists of the layout: split offsets. */
TLI_FN tl_status tli_view_put_lists(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                    struct ArrowArray *array, tl_error *err)
{
    struct ArrowArray *child = tli_arrow_array_new(store, 2, 0, err);
    uint8_t *bits = NULL, *data, *offsets = (uint8_t *)tli_mem_take_array(store, (uint64_t)in->count + 1, 4, err);
    size_t i, at = 0, nulls = 0;
    uint64_t sum = 0;
    tl_status st = child != NULL && offsets != NULL ? tli_view_put_begin(store, in, &bits, err) : err->status;
    for (i = 0; st == TL_OK && i < in->count; i++) {
        const tl_file *file = (const tl_file *)(const void *)tli_view_item(in, i);
        if (file->has_split_offsets) {
            st = tli_view_sum(&sum, file->split_count, err);
            tli_bits_set(bits, i);
        } else {
            nulls++;
        }
        tli_bits_put32(offsets + 4 * (i + 1), (uint32_t)sum);
    }
    data = st == TL_OK ? (uint8_t *)tli_mem_take_array(store, sum, 8, err) : NULL;
    if (data == NULL)
        return st == TL_OK ? err->status : st;
    for (i = 0; i < in->count; i++) {
        const tl_file *file = (const tl_file *)(const void *)tli_view_item(in, i);
        if (!file->has_split_offsets || file->split_count == 0)
            continue;
        TLI_COPY(data + 8 * at, file->split_offsets, 8 * file->split_count);
        at += file->split_count;
    }
    array->children[0] = child;
    array->buffers[1] = offsets;
    child->length = (int64_t)sum;
    child->buffers[1] = data;
    return tli_view_put_end(field, bits, nulls, array, err);
}

TLI_FN const struct ArrowArray *tli_view_put(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                             tl_error *err)
{
    int text = field->format[0] == 'u' || field->format[0] == 'z', list = field->format[0] == '+';
    struct ArrowArray *array = tli_arrow_array_new(store, text ? 3 : 2, list, err);
    tl_status st;
    if (array == NULL)
        return NULL;
    array->length = (int64_t)in->count;
    if (text)
        st = tli_view_put_texts(store, field, in, array, err);
    else
        st = list ? tli_view_put_lists(store, field, in, array, err) : tli_view_put_fixed(store, field, in, array, err);
    return st == TL_OK ? array : NULL;
}

/* A section ready to be put into a document. */
typedef struct tli_view_piece {
    const tli_view_layout *layout;
    struct ArrowSchema *schema;
    const struct ArrowArray **columns;
    int64_t rows;
} tli_view_piece;

TLI_FN struct ArrowSchema *tli_view_schema(tli_store *store, const tli_view_layout *layout, tl_error *err)
{
    struct ArrowSchema *schema = tli_arrow_schema_new(store, "+s", tl_text(""), 0, layout->count, err);
    int32_t i;
    for (i = 0; schema != NULL && i < layout->count; i++) {
        const tli_view_field *field = &layout->fields[i];
        int64_t flags = field->flags & TLI_VIEW_REQUIRED ? 0 : ARROW_FLAG_NULLABLE;
        int list = field->format[0] == '+';
        struct ArrowSchema *node = tli_arrow_schema_new(store, field->format, tl_text(field->name), flags, list, err);
        if (node == NULL)
            return NULL;
        schema->children[i] = node;
        if (!list)
            continue;
        node->children[0] = tli_arrow_schema_new(store, "l", tl_text("item"), ARROW_FLAG_NULLABLE, 0, err);
        if (node->children[0] == NULL)
            return NULL;
    }
    return schema;
}

TLI_FN tl_status tli_view_build(tli_store *store, const tli_view_layout *layout, const tli_view_items *in,
                                tli_view_piece *piece, tl_error *err)
{
    int32_t i;
    piece->layout = layout;
    piece->rows = (int64_t)in->count;
    piece->schema = tli_view_schema(store, layout, err);
    piece->columns = (const struct ArrowArray **)tli_mem_take_array(store, (uint32_t)layout->count,
                                                                    sizeof *piece->columns, err);
    if (piece->schema == NULL || piece->columns == NULL)
        return err->status;
    for (i = 0; i < layout->count; i++) {
        piece->columns[i] = tli_view_put(store, &layout->fields[i], in, err);
        if (piece->columns[i] == NULL)
            return err->status;
    }
    return TL_OK;
}

/* ---- order ---- */

/* Whether item b belongs before item a. */
typedef int (*tli_view_before)(const void *items, size_t a, size_t b);

/* Sorts indices, stable: merges of runs that double. `scratch` is as long as `order`; the result is in either. */
TLI_FN size_t *tli_view_sort(size_t *order, size_t *scratch, size_t count, const void *items, tli_view_before before)
{
    size_t run, i, *swap;
    for (run = 1; run < count; run *= 2) {
        for (i = 0; i < count;) {
            size_t a = i, b = TLI_MIN(i + run, count), a_end = b, b_end = TLI_MIN(b + run, count);
            for (; i < b_end; i++)
                scratch[i] = a < a_end && (b >= b_end || !before(items, order[a], order[b])) ? order[a++] : order[b++];
        }
        swap = order;
        order = scratch;
        scratch = swap;
        if (run > count / 2)
            break;
    }
    return order;
}

/* The order of items, or NULL in *out when they are in order already. */
TLI_FN tl_status tli_view_order(tli_store *store, size_t count, const void *items, tli_view_before before,
                                const size_t **out, tl_error *err)
{
    size_t i, *order;
    *out = NULL;
    for (i = 1; i < count && !before(items, i - 1, i);)
        i++;
    if (i >= count)
        return TL_OK;
    order = (size_t *)tli_mem_take_array(store, (uint64_t)count * 2, sizeof *order, err);
    if (order == NULL)
        return err->status;
    for (i = 0; i < count; i++)
        order[i] = i;
    *out = tli_view_sort(order, order + count, count, items, before);
    return TL_OK;
}

TLI_FN int tli_view_column_before(const void *items, size_t a, size_t b)
{
    const tl_column *columns = (const tl_column *)items;
    if (columns[a].file != columns[b].file)
        return columns[b].file < columns[a].file;
    return columns[b].field_id < columns[a].field_id;
}

/* A file whose footer is known. */
typedef struct tli_view_known {
    const tl_file *file;
    tl_span footer;
} tli_view_known;

/* By (partition, path) descending, no partition last. */
TLI_FN int tli_view_known_before(const void *items, size_t a, size_t b)
{
    const tl_file *x = ((const tli_view_known *)items)[a].file, *y = ((const tli_view_known *)items)[b].file;
    if (x->has_partition != y->has_partition)
        return y->has_partition != 0;
    if (x->has_partition && x->partition != y->partition)
        return y->partition > x->partition;
    return tl_span_compare(y->path, x->path) > 0;
}

/* ---- writing ---- */

enum {
    TLI_VIEW_WRITE_METADATA, TLI_VIEW_WRITE_FILES, TLI_VIEW_WRITE_COLUMNS, TLI_VIEW_WRITE_FOOTERS, TLI_VIEW_WRITE_PIECES
};
#define TLI_VIEW_WRITE_ALWAYS 7u
#define TLI_VIEW_WRITE_LAST_VALUES 16u

typedef struct tli_view_writer {
    tli_store *store;
    const tl_head_parts *parts;
    const tl_head_options *options;
    uint64_t version;
    tl_span codec;
    tl_allocator allocator;
    tli_view_piece pieces[TLI_VIEW_WRITE_PIECES];
    uint64_t budget;
    size_t footers;
} tli_view_writer;

TLI_FN tl_status tli_view_add(tl_document *document, const tli_view_piece *piece, tl_error *err)
{
    tl_section *section = NULL; /* gcc -O3 does not see that a good status sets it */
    tl_status st = tli_doc_section(document, tl_text(piece->layout->section), piece->schema, 1, NULL, &section, err);
    if (st != TL_OK)
        return st;
    section->rows = section->batches[0].rows = piece->rows;
    section->batches[0].columns = piece->columns;
    return TL_OK;
}

/* Fills an empty document, which takes a count of the writer's store, with these sections. */
TLI_FN tl_status tli_view_fill(tli_view_writer *w, tl_document *document, unsigned sections, tl_error *err)
{
    unsigned i;
    tl_status st;
    TLI_FILL(document, 0, sizeof *document);
    document->allocator = w->allocator;
    document->store = w->store;
    tli_mem_store_keep(w->store);
    st = tli_doc_property(document, tl_text("layout"), tl_text("1"), err);
    for (i = 0; st == TL_OK && i < TLI_VIEW_WRITE_PIECES; i++) {
        const tli_view_piece *piece = &w->pieces[i];
        if (!(sections >> i & 1u))
            continue;
        st = tli_view_add(document, piece, err);
    }
    return st;
}

/* Appends a head with these sections to `out`. */
TLI_FN tl_status tli_view_encode(tli_view_writer *w, tl_buffer *out, unsigned sections, tl_error *err)
{
    tl_document document;
    tl_status st = tli_view_fill(w, &document, sections, err);
    if (st == TL_OK && (sections & TLI_VIEW_WRITE_LAST_VALUES) != 0)
        st = tl_document_add(&document, tl_text("last_values"), w->parts->last_schema, w->parts->last_values,
                             w->parts->last_value_batches, err);
    if (st == TL_OK)
        st = tl_head_encode(out, w->version, w->codec, &document, w->options, err);
    tl_document_free(&document);
    return st;
}

/* How many bytes a head with these sections has. */
TLI_FN tl_status tli_view_cost(tli_view_writer *w, unsigned sections, uint64_t *size, tl_error *err)
{
    tl_buffer scratch;
    tl_status st;
    TLI_FILL(&scratch, 0, sizeof scratch);
    scratch.allocator = w->allocator;
    st = tli_view_encode(w, &scratch, sections, err);
    *size = scratch.size;
    tl_buffer_free(&scratch);
    return st;
}

/* Whether the index fits into the budget, and what is left of it. The cost is the head's size with it minus without it.
   In the built-in codecs sections are encoded one by one, so that it can be told without the others; in json the comma
   before a section that is not the only one comes on top. */
TLI_FN tl_status tli_view_decide_index(tli_view_writer *w, unsigned *sections, tl_error *err)
{
    const tl_head_codec *foreign;
    tli_head_kind kind;
    uint64_t with = 0, without = 0;
    unsigned others;
    tl_status st = tli_head_find(w->options, w->codec, &kind, &foreign, TL_NO_POSITION, err);
    if (st != TL_OK || w->parts->last_schema == NULL || w->parts->last_value_batches == 0)
        return st;
    others = kind == TLI_HEAD_FOREIGN ? TLI_VIEW_WRITE_ALWAYS : 0;
    st = tli_view_cost(w, others, &without, err);
    if (st == TL_OK)
        st = tli_view_cost(w, others | TLI_VIEW_WRITE_LAST_VALUES, &with, err);
    if (st != TL_OK)
        return st;
    with += kind == TLI_HEAD_JSON;
    with = with > without ? with - without : 0;
    if (with <= w->budget) {
        w->budget -= with;
        *sections |= TLI_VIEW_WRITE_LAST_VALUES;
    }
    return TL_OK;
}

/* By path; those of a path that are there before those that are not. */
TLI_FN int tli_view_footer_before(const void *items, size_t a, size_t b)
{
    const tl_footer *x = (const tl_footer *)items + a, *y = (const tl_footer *)items + b;
    int order = tl_span_compare(x->path, y->path);
    return order != 0 ? order > 0 : x->footer.data == NULL && y->footer.data != NULL;
}

/* The files whose footers are known. */
TLI_FN tl_status tli_view_known_footers(tli_view_writer *w, tli_view_known **out, size_t *count, tl_error *err)
{
    const tl_head_parts *parts = w->parts;
    const size_t *order = NULL;
    size_t i;
    tl_status st = tli_view_order(w->store, parts->footer_count, parts->footers, tli_view_footer_before, &order, err);
    *count = 0;
    *out = (tli_view_known *)tli_mem_take_array(w->store, parts->footer_count, sizeof **out, err);
    if (st != TL_OK || *out == NULL)
        return err->status;
    for (i = 0; i < parts->file_count && *count < parts->footer_count; i++) {
        const tl_file *file = &parts->files[i];
        size_t low = 0, high = parts->footer_count;
        while (low < high) { /* to the first footer of this path */
            size_t middle = low + (high - low) / 2;
            if (tl_span_compare(parts->footers[order != NULL ? order[middle] : middle].path, file->path) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == parts->footer_count)
            continue;
        low = order != NULL ? order[low] : low;
        if (parts->footers[low].footer.data == NULL || !tl_span_equal(parts->footers[low].path, file->path))
            continue;
        (*out)[*count].file = file;
        (*out)[(*count)++].footer = parts->footers[low].footer;
    }
    return TL_OK;
}

/* Takes footers in their order up to the first that does not fit, as a piece unless there is none. */
TLI_FN tl_status tli_view_take_footers(tli_store *store, const tli_view_known *known, size_t count, uint64_t *budget,
                                       tli_view_piece *piece, size_t *taken, tl_error *err)
{
    tl_footer *footers = (tl_footer *)tli_mem_take_array(store, count, sizeof *footers, err);
    tli_view_items in;
    const size_t *order = NULL; /* gcc -O3 does not see that a good status sets it */
    size_t i;
    tl_status st = footers == NULL ? err->status
                                   : tli_view_order(store, count, known, tli_view_known_before, &order, err);
    if (st != TL_OK)
        return st;
    for (i = 0; i < count; i++) {
        const tli_view_known *next = &known[order != NULL ? order[i] : i];
        if (next->footer.size > *budget)
            break;
        *budget -= next->footer.size;
        footers[i].path = next->file->path;
        footers[i].footer = next->footer;
    }
    *taken = i;
    in.items = footers;
    in.stride = sizeof *footers;
    in.count = i;
    in.order = NULL;
    return i == 0 ? TL_OK : tli_view_build(store, &tli_view_footers, &in, piece, err);
}

TLI_FN tl_status tli_view_decide_footers(tli_view_writer *w, unsigned *sections, tl_error *err)
{
    tli_view_known *known;
    size_t count;
    tl_status st;
    if (w->parts->footer_count == 0 || w->budget == 0)
        return TL_OK;
    st = tli_view_known_footers(w, &known, &count, err);
    if (st == TL_OK)
        st = tli_view_take_footers(w->store, known, count, &w->budget, &w->pieces[TLI_VIEW_WRITE_FOOTERS], &w->footers,
                                   err);
    if (st == TL_OK && w->footers != 0)
        *sections |= 1u << TLI_VIEW_WRITE_FOOTERS;
    return st;
}

/* Builds the sections that are always there. */
TLI_FN tl_status tli_view_prepare(tli_view_writer *w, tl_error *err)
{
    const tl_head_parts *parts = w->parts;
    tli_view_text text;
    tli_view_items in;
    size_t i;
    tl_status st;
    for (i = 0; i < parts->column_count; i++)
        if (parts->columns[i].file >= parts->file_count)
            return tli_err(err, TL_MISUSE, "statistics of a file that is not there", TL_NO_POSITION);
    text.json = parts->metadata;
    in.items = &text;
    in.stride = sizeof text;
    in.count = 1;
    in.order = NULL;
    st = tli_view_build(w->store, &tli_view_metadata, &in, &w->pieces[TLI_VIEW_WRITE_METADATA], err);
    if (st != TL_OK)
        return st;
    in.items = parts->files;
    in.stride = sizeof *parts->files;
    in.count = parts->file_count;
    st = tli_view_build(w->store, &tli_view_files, &in, &w->pieces[TLI_VIEW_WRITE_FILES], err);
    if (st != TL_OK)
        return st;
    in.items = parts->columns;
    in.stride = sizeof *parts->columns;
    in.count = parts->column_count;
    st = tli_view_order(w->store, in.count, in.items, tli_view_column_before, &in.order, err);
    return st == TL_OK ? tli_view_build(w->store, &tli_view_columns, &in, &w->pieces[TLI_VIEW_WRITE_COLUMNS], err) : st;
}

/* The sections that are always there as a document of its own: what a head would say of these parts. `document` is
   empty but for its allocator; on failure it stays so. */
TLI_FN tl_status tli_view_document(tl_document *document, const tl_head_parts *parts, tl_error *err)
{
    tli_view_writer w;
    tl_document filled;
    tl_status st;
    TLI_FILL(&w, 0, sizeof w);
    w.parts = parts;
    w.allocator = document->allocator;
    w.store = tli_mem_store_new(&w.allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (w.store == NULL)
        return err->status;
    st = tli_view_prepare(&w, err);
    if (st == TL_OK) {
        st = tli_view_fill(&w, &filled, TLI_VIEW_WRITE_ALWAYS, err);
        if (st == TL_OK)
            *document = filled;
        else
            tl_document_free(&filled);
    }
    tli_mem_store_drop(w.store);
    return st;
}

TL_API tl_status tl_head_write(tl_buffer *out, uint64_t version, tl_span codec, const tl_head_parts *parts,
                               const tl_head_options *options, tl_head_written *written, tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    tli_view_writer w;
    unsigned sections = TLI_VIEW_WRITE_ALWAYS;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (written != NULL)
        TLI_FILL(written, 0, sizeof *written);
    if (out == NULL || parts == NULL || parts->metadata.data == NULL
        || (parts->files == NULL && parts->file_count != 0) || (parts->columns == NULL && parts->column_count != 0)
        || (parts->footers == NULL && parts->footer_count != 0) || parts->last_value_batches < 0)
        return tli_err(err, TL_MISUSE, "tl_head_write: no output, no metadata, or a count without its array",
                       TL_NO_POSITION);
    TLI_FILL(&w, 0, sizeof w);
    w.parts = parts;
    w.options = &o;
    w.version = version;
    w.codec = codec;
    w.allocator = out->allocator;
    w.budget = parts->inline_bytes;
    w.store = tli_mem_store_new(&out->allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (w.store == NULL)
        return err->status;
    st = tli_view_prepare(&w, err);
    if (st == TL_OK)
        st = tli_view_decide_index(&w, &sections, err);
    if (st == TL_OK)
        st = tli_view_decide_footers(&w, &sections, err);
    if (st == TL_OK)
        st = tli_view_encode(&w, out, sections, err);
    tli_mem_store_drop(w.store);
    if (st == TL_OK && written != NULL) {
        written->last_values = (sections & TLI_VIEW_WRITE_LAST_VALUES) != 0;
        written->footers = w.footers;
        written->budget_left = w.budget;
    }
    return st;
}
