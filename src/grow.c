/* >>grow: the document of a version made from that of the version before it, at the cost of what changed.

   Rows of `files`, with their rows of `columns`, lie in parts: each a record batch or several of both sections, shared
   by all versions that have them, with their encoded bytes. A new version keeps parts as they are. What is added goes
   into one new part behind them, which takes in those before it that are less than twice as long: so there are as many
   parts as the logarithm of the files, and a row is written anew as often. A part of which a file goes is written anew,
   and what lies behind it too, since rows of `columns` name files by their number. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)

#define TLI_GROW_PARTS 64 /* of a head by others: with more batches it is written anew */

enum { TLI_GROW_FILES, TLI_GROW_COLUMNS, TLI_GROW_SECTIONS };

/* Immutable, but for `encoded`, which publishing fills. Lies in its store, whose count is its own. */
typedef struct tli_grow_part {
    tli_store *store;
    const struct tli_doc_batch *batches[TLI_GROW_SECTIONS]; /* every column of them is open */
    int32_t batch_count[TLI_GROW_SECTIONS];
    uint64_t rows[TLI_GROW_SECTIONS];
    tl_span encoded[TLI_GROW_SECTIONS]; /* messages of an Arrow stream; absent: not encoded yet */
    uint64_t *hashes; /* of the paths of `files`, ascending; of equal ones the paths are */
    uint32_t *order;  /* their rows in this part */
} tli_grow_part;

struct tli_grow {
    tli_grow_part **parts;
    uint32_t count;
    tli_footers footers;
    uint8_t anew; /* its sections are not as this library writes them: nothing of it is kept */
};

/* What a version says of its files that the one before does not, and the other way round. */
typedef struct tli_grow_change {
    tl_span metadata;
    const tl_file *files; /* added */
    size_t file_count;
    const tl_column *columns; /* of these: `file` counts from the first added one */
    size_t column_count;
    const tl_footer *footers; /* in the order of their files */
    size_t footer_count;
    const uint8_t *gone; /* of each row of the version before: not 0: removed; NULL: none is */
    uint64_t inline_bytes;
} tli_grow_change;

/* ---- parts ---- */

typedef struct tli_grow_paths {
    uint64_t *hashes;
    const tl_files *files;
    size_t start;
} tli_grow_paths;

TLI_FN int tli_grow_path_before(const void *items, size_t a, size_t b)
{
    const tli_grow_paths *p = (const tli_grow_paths *)items;
    tl_file x, y;
    if (p->hashes[a] != p->hashes[b])
        return p->hashes[b] < p->hashes[a];
    tl_files_get(p->files, p->start + a, &x);
    tl_files_get(p->files, p->start + b, &y);
    return tl_span_compare(y.path, x.path) < 0;
}

/* Sorts a part's paths. No hash table: a head may have the same path, or the same hash, any number of times. */
TLI_FN tl_status tli_grow_index(tli_grow_part *part, const tl_files *files, size_t start, tl_error *err)
{
    size_t i, count = (size_t)part->rows[TLI_GROW_FILES];
    tli_store *scratch = tli_mem_store_new(&part->store->allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    const size_t *order = NULL;
    tli_grow_paths p;
    tl_file f;
    tl_status st;
    if (scratch == NULL)
        return err->status;
    p.files = files;
    p.start = start;
    p.hashes = (uint64_t *)tli_mem_take_array(scratch, (uint64_t)count + 1, sizeof *p.hashes, err);
    part->hashes = (uint64_t *)tli_mem_take_array(part->store, (uint64_t)count + 1, sizeof *part->hashes, err);
    part->order = (uint32_t *)tli_mem_take_array(part->store, (uint64_t)count + 1, sizeof *part->order, err);
    st = p.hashes == NULL || part->hashes == NULL || part->order == NULL ? err->status : TL_OK;
    for (i = 0; st == TL_OK && i < count; i++) {
        tl_files_get(files, start + i, &f);
        p.hashes[i] = tli_hash_xxh64(f.path.data, f.path.size, 0);
    }
    if (st == TL_OK)
        st = tli_view_order(scratch, count, &p, tli_grow_path_before, &order, err);
    for (i = 0; st == TL_OK && i < count; i++) {
        part->order[i] = (uint32_t)(order != NULL ? order[i] : i);
        part->hashes[i] = p.hashes[part->order[i]];
    }
    tli_mem_store_drop(scratch);
    return st;
}

/* The first row of a path in the version's files, which are open; files->count when there is none. */
TLI_FN size_t tli_grow_find(const struct tli_grow *g, const tl_files *files, tl_span path)
{
    uint64_t hash = tli_hash_xxh64(path.data, path.size, 0);
    size_t start = 0;
    uint32_t i;
    tl_file f;
    for (i = 0; i < g->count; i++) {
        const tli_grow_part *part = g->parts[i];
        size_t low = 0, count = (size_t)part->rows[TLI_GROW_FILES], high = count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            int before = part->hashes[middle] < hash;
            if (part->hashes[middle] == hash) {
                tl_files_get(files, start + part->order[middle], &f);
                before = tl_span_compare(f.path, path) < 0;
            }
            low = before ? middle + 1 : low;
            high = before ? high : middle;
        }
        if (low < count && part->hashes[low] == hash) {
            tl_files_get(files, start + part->order[low], &f);
            if (tl_span_equal(f.path, path))
                return start + part->order[low];
        }
        start += count;
    }
    return files->count;
}

TLI_FN int tli_grow_same_schema(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    int64_t i, k;
    if (a->n_children != b->n_children || a->dictionary != NULL || a->metadata != NULL)
        return 0;
    for (i = 0; i < a->n_children; i++) {
        const struct ArrowSchema *x = a->children[i], *y = b->children[i];
        for (k = 0; k < 2; k++) { /* a column, and what a list is of */
            if (!tli_view_same_format(x->format, y->format) || !tli_view_same_format(x->name, y->name)
                || ((x->flags ^ y->flags) & ARROW_FLAG_NULLABLE) != 0 || x->n_children != y->n_children
                || x->dictionary != NULL || x->metadata != NULL)
                return 0;
            if (x->n_children != 1)
                break;
            x = x->children[0];
            y = y->children[0];
        }
    }
    return 1;
}

/* Do the statistics of batch i name files of batch i alone? */
TLI_FN int tli_grow_aligned(const struct tli_view *files, const struct tli_view *columns)
{
    uint64_t row;
    int32_t b;
    if (files->section.batch_count != columns->section.batch_count)
        return 0;
    for (b = 0; b < files->section.batch_count; b++) {
        const uint8_t *values = columns->cells[(size_t)b * TLI_VIEW_COLUMN_FIELDS + TLI_VIEW_COLUMN_FILE].values;
        for (row = 0; row < columns->starts[b + 1] - columns->starts[b]; row++) {
            uint32_t file = tli_bits_u32(values + 4 * row);
            if (file < files->starts[b] || file >= files->starts[b + 1])
                return 0;
        }
    }
    return 1;
}

#ifndef TIMELAKE_NO_HEAD_ARROW
/* The bytes of batches [from, from + count) in the stream that the section was decoded from, if they can stand in one
   of ours: record batches alone, framed as today, whole words. */
TLI_FN tl_span tli_grow_bytes(const tl_section *section, int32_t from, int32_t count)
{
    const tli_headarrow_source *source = tli_headarrow_source_of(section);
    const tli_ipc_stream *s = source == NULL ? NULL : source->stream;
    tl_span bytes = tli_text_span(NULL, 0);
    tli_ipc_frame f;
    size_t at = 0;
    int32_t batch = -1; /* the first message is the schema */
    if (s == NULL)
        return bytes;
    for (; batch < from + count; batch++, at = f.next) {
        if (tli_ipc_next(s, at, &f, NULL) != TL_OK || f.end
            || f.kind != (batch < 0 ? TLI_IPC_SCHEMA : TLI_IPC_BATCH) || s->size - at < 4
            || tli_bits_le32(s->bytes + at) != UINT32_MAX || f.version != 4 || (f.next - at) % 8 != 0)
            return tli_text_span(NULL, 0);
        if (batch == from)
            bytes.data = (const char *)s->bytes + at;
    }
    if (bytes.data != NULL)
        bytes.size = (size_t)((const char *)s->bytes + at - bytes.data);
    return bytes;
}
#else
TLI_FN tl_span tli_grow_bytes(const tl_section *section, int32_t from, int32_t count)
{
    (void)section;
    (void)from;
    (void)count;
    return tli_text_span(NULL, 0);
}
#endif

/* ---- the parts of a version ---- */

/* A part of the document itself: batches [from, from + count) of both sections, which are open. */
TLI_FN tl_status tli_grow_own_part(tl_head *head, const tl_files *files, int32_t from, const int32_t *counts,
                                   tli_grow_part **out, tl_error *err)
{
    const struct tli_view *views[TLI_GROW_SECTIONS];
    tli_grow_part *part = (tli_grow_part *)tli_mem_take_zero(head->document.store, sizeof *part, err);
    int i;
    if (part == NULL)
        return err->status;
    *out = part;
    views[TLI_GROW_FILES] = head->views[tli_view_files.slot];
    views[TLI_GROW_COLUMNS] = head->views[tli_view_columns.slot];
    part->store = head->document.store;
    for (i = 0; i < TLI_GROW_SECTIONS; i++) {
        part->batches[i] = views[i]->section.batches + from;
        part->batch_count[i] = counts[i];
        part->rows[i] = views[i]->starts[from + counts[i]] - views[i]->starts[from];
        part->encoded[i] = tli_grow_bytes(&views[i]->section, from, counts[i]);
    }
    return tli_grow_index(part, files, (size_t)views[TLI_GROW_FILES]->starts[from], err);
}

/* Can a version's sections go on as they are? */
TLI_FN tl_status tli_grow_can(tl_head *head, const tl_files *files, const tl_columns *columns, int *can, tl_error *err)
{
    const struct ArrowSchema *f = tli_view_schema(head->document.store, &tli_view_files, err);
    const struct ArrowSchema *c = tli_view_schema(head->document.store, &tli_view_columns, err);
    if (f == NULL || c == NULL)
        return err->status;
    *can = files->view->section.batch_count <= TLI_GROW_PARTS
        && columns->view->section.batch_count <= TLI_GROW_PARTS
        && tli_grow_same_schema(files->view->section.schema, f)
        && tli_grow_same_schema(columns->view->section.schema, c);
    return TL_OK;
}

/* Groups of the footers that the document has, of files that it has. One that cannot be had is read from its file. */
TLI_FN tl_status tli_grow_own_footers(struct tli_grow *g, tl_head *head, const tl_files *files, tl_error *err)
{
    tl_allocator *a = &head->document.store->allocator;
    tli_footers_work w;
    tli_footers none;
    tl_footers footers;
    tl_footer footer;
    tl_file *f;
    size_t i, row;
    tl_status st = TL_OK;
    if (tl_head_footers(head, &footers, NULL) != TL_OK || footers.count == 0)
        return TL_OK;
    TLI_FILL(&w, 0, sizeof w);
    TLI_FILL(&none, 0, sizeof none);
    w.old = &none;
    w.scratch = tli_mem_store_new(a, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (w.scratch == NULL)
        return err->status;
    f = (tl_file *)tli_mem_take_array(w.scratch, footers.count, sizeof *f, err);
    w.loose = (tli_view_known *)tli_mem_take_array(w.scratch, footers.count, sizeof *w.loose, err);
    g->footers.groups = (tli_footers_group **)tli_mem_take_array(head->document.store,
                                                                 footers.count, sizeof(void *), err);
    if (f == NULL || w.loose == NULL || g->footers.groups == NULL)
        st = err->status;
    for (i = 0; st == TL_OK && i < footers.count; i++) {
        tli_view_known known;
        tl_footers_get(&footers, i, &footer);
        row = tli_grow_find(g, files, footer.path);
        if (row >= files->count)
            continue;
        tl_files_get(files, row, &f[i]);
        known.file = &f[i];
        known.footer = footer.footer;
        tli_footers_loosen(&w, &known);
    }
    if (st == TL_OK)
        st = tli_footers_finish(&w, head->document.store, a, &g->footers, err);
    tli_mem_store_drop(w.scratch);
    return st;
}

/* The parts of a version, whose files and statistics this opens; made when it has none yet. */
TLI_FN tl_status tli_grow_of(tl_head *head, tl_files *files, tl_columns *columns, struct tli_grow **out, tl_error *err)
{
    struct tli_grow *g;
    int32_t from, end, step[TLI_GROW_SECTIONS];
    int can = 0; /* gcc -O1 does not see that it is set */
    tl_status st = tl_head_files(head, files, err);
    if (st == TL_OK)
        st = tl_head_columns(head, TL_COLUMNS_ALL, columns, err);
    *out = head->grow;
    if (st != TL_OK || head->grow != NULL)
        return st;
    g = (struct tli_grow *)tli_mem_take_zero(head->document.store, sizeof *g, err);
    if (g != NULL)
        g->parts = (tli_grow_part **)tli_mem_take_array(head->document.store, TLI_GROW_PARTS, sizeof *g->parts, err);
    if (g == NULL || g->parts == NULL)
        return err->status;
    st = tli_grow_can(head, files, columns, &can, err);
    if (st != TL_OK)
        return st;
    if (files->count > UINT32_MAX)
        return tli_err(err, TL_LIMIT, "too many files", TL_NO_POSITION);
    g->anew = (uint8_t)!can;
    step[TLI_GROW_FILES] = files->view->section.batch_count;
    step[TLI_GROW_COLUMNS] = columns->view->section.batch_count;
    end = files->count != 0;
    if (end != 0 && can && tli_grow_aligned(files->view, columns->view)) {
        end = step[TLI_GROW_FILES];
        step[TLI_GROW_FILES] = step[TLI_GROW_COLUMNS] = 1;
    }
    for (from = 0; from < end && st == TL_OK; from++)
        st = tli_grow_own_part(head, files, from, step, &g->parts[g->count++], err);
    if (st == TL_OK)
        st = tli_grow_own_footers(g, head, files, err);
    if (st == TL_OK)
        *out = head->grow = g;
    return st;
}

/* ---- the next version ---- */

typedef struct tli_grow_work {
    const tli_grow_change *change;
    tli_store *scratch;
    struct tli_grow *old; /* NULL: there is no version before */
    tl_files files;       /* of the version before */
    tl_columns columns;
    uint32_t keep;        /* parts that stay */
    size_t kept[TLI_GROW_SECTIONS]; /* their rows */
    tl_file *items;       /* rows of the new part, and their statistics */
    tl_column *statistics;
    size_t item_count, statistic_count;
} tli_grow_work;

TLI_FN int tli_grow_goes(const tli_grow_work *w, size_t row)
{
    return w->change->gone != NULL && w->change->gone[row] != 0;
}

/* How many parts stay: those before the first that loses a file, and of these the ones that are long enough. */
TLI_FN void tli_grow_decide(tli_grow_work *w)
{
    size_t rows = w->change->file_count, row = 0, end = 0;
    int i;
    for (; w->old != NULL && !w->old->anew && w->keep < w->old->count; w->keep++) {
        const tli_grow_part *part = w->old->parts[w->keep];
        for (end += (size_t)part->rows[TLI_GROW_FILES]; w->change->gone != NULL && row < end; row++)
            if (tli_grow_goes(w, row))
                break;
        if (w->change->gone != NULL && row < end)
            break;
        for (i = 0; i < TLI_GROW_SECTIONS; i++)
            w->kept[i] += (size_t)part->rows[i];
    }
    for (row = w->kept[TLI_GROW_FILES]; row < w->files.count; row++)
        rows += !tli_grow_goes(w, row);
    while (w->keep > 0 && w->old->parts[w->keep - 1]->rows[TLI_GROW_FILES] < 2 * (uint64_t)rows) {
        const tli_grow_part *part = w->old->parts[--w->keep];
        for (i = 0; i < TLI_GROW_SECTIONS; i++)
            w->kept[i] -= (size_t)part->rows[i];
        rows += (size_t)part->rows[TLI_GROW_FILES];
    }
}

/* The rows of the new part: of the version before what is not kept and does not go, then what is added. */
TLI_FN tl_status tli_grow_gather(tli_grow_work *w, tl_error *err)
{
    const tli_grow_change *c = w->change;
    size_t from = w->kept[TLI_GROW_FILES], old = w->files.count - from, i;
    uint64_t statistics = (uint64_t)(w->columns.count - w->kept[TLI_GROW_COLUMNS]) + c->column_count;
    uint32_t *places = (uint32_t *)tli_mem_take_array(w->scratch, (uint64_t)old + 1, sizeof *places, err);
    w->items = (tl_file *)tli_mem_take_array(w->scratch, (uint64_t)old + c->file_count + 1, sizeof *w->items, err);
    w->statistics = (tl_column *)tli_mem_take_array(w->scratch, statistics + 1, sizeof *w->statistics, err);
    if (places == NULL || w->items == NULL || w->statistics == NULL)
        return err->status;
    for (i = 0; i < old; i++) {
        tl_files_get(&w->files, from + i, &w->items[w->item_count]);
        if (!tli_grow_goes(w, from + i))
            places[i] = (uint32_t)++w->item_count;
    }
    for (i = w->kept[TLI_GROW_COLUMNS]; i < w->columns.count; i++) {
        tl_column *to = &w->statistics[w->statistic_count];
        tl_columns_get(&w->columns, i, to);
        if (to->file < from || places[to->file - from] == 0)
            continue;
        to->file = (uint32_t)(from + places[to->file - from] - 1);
        w->statistic_count++;
    }
    for (i = 0; i < c->column_count; i++) {
        w->statistics[w->statistic_count] = c->columns[i];
        w->statistics[w->statistic_count++].file += (uint32_t)(from + w->item_count);
    }
    for (i = 0; i < c->file_count; i++)
        w->items[w->item_count++] = c->files[i];
    return from + w->item_count > UINT32_MAX ? tli_err(err, TL_LIMIT, "too many files", TL_NO_POSITION) : TL_OK;
}

/* One section of a part from its rows. */
TLI_FN tl_status tli_grow_fill(tli_grow_part *part, int which, const tli_view_layout *layout, const tli_view_items *in,
                               tl_error *err)
{
    tli_view_piece piece;
    struct tli_doc_batch *batch = (struct tli_doc_batch *)tli_mem_take_zero(part->store, sizeof *batch, err);
    tl_status st = batch == NULL ? err->status : tli_view_build(part->store, layout, in, &piece, err);
    if (st != TL_OK)
        return st;
    batch->rows = piece.rows;
    batch->columns = piece.columns;
    part->batches[which] = batch;
    part->batch_count[which] = 1;
    part->rows[which] = (uint64_t)piece.rows;
    return TL_OK;
}

/* The new part, in a store of its own: *out has its one count, or is NULL. */
TLI_FN tl_status tli_grow_new_part(tli_grow_work *w, const tl_allocator *a, tli_grow_part **out, tl_error *err)
{
    tli_store *store = tli_mem_store_new(a, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    tli_grow_part *part = store == NULL ? NULL : (tli_grow_part *)tli_mem_take_zero(store, sizeof *part, err);
    tli_view_items in;
    tl_status st = part == NULL ? err->status : TL_OK;
    if (st == TL_OK) {
        part->store = store;
        in.items = w->items;
        in.stride = sizeof *w->items;
        in.count = w->item_count;
        in.order = NULL;
        st = tli_grow_fill(part, TLI_GROW_FILES, &tli_view_files, &in, err);
    }
    if (st == TL_OK) {
        in.items = w->statistics;
        in.stride = sizeof *w->statistics;
        in.count = w->statistic_count;
        st = tli_view_order(w->scratch, in.count, in.items, tli_view_column_before, &in.order, err);
    }
    if (st == TL_OK)
        st = tli_grow_fill(part, TLI_GROW_COLUMNS, &tli_view_columns, &in, err);
    if (st != TL_OK)
        tli_mem_store_drop(store);
    *out = st == TL_OK ? part : NULL;
    return st;
}

/* A document's store drops the counts of the parts' stores. Of its own parts it holds none. */
TLI_FN void tli_grow_release(void *context, const void *data, size_t size)
{
    const struct tli_grow *g = (const struct tli_grow *)context;
    uint32_t i;
    (void)data;
    (void)size;
    for (i = 0; i < g->count; i++)
        tli_mem_store_drop(g->parts[i]->store);
    for (i = 0; i < g->footers.count; i++)
        tli_mem_store_drop(g->footers.groups[i]->store);
}

/* Takes the kept parts, and the new one over, into a document's store. */
TLI_FN tl_status tli_grow_take(tli_grow_work *w, tl_head *head, tl_error *err)
{
    tli_store *store = head->document.store;
    tli_grow_part *part = NULL;
    struct tli_grow *g = (struct tli_grow *)tli_mem_take_zero(store, sizeof *g, err);
    tl_status st = TL_OK;
    if (g == NULL)
        return err->status;
    g->parts = (tli_grow_part **)tli_mem_take_array(store, (uint64_t)w->keep + 1, sizeof *g->parts, err);
    if (g->parts == NULL)
        return err->status;
    if (w->item_count != 0 || w->keep == 0)
        st = tli_grow_new_part(w, &head->document.allocator, &part, err);
    if (st != TL_OK)
        return st;
    for (; g->count < w->keep; g->count++) {
        g->parts[g->count] = w->old->parts[g->count];
        tli_mem_store_keep(g->parts[g->count]->store);
    }
    if (part != NULL)
        g->parts[g->count++] = part;
    store->release = tli_grow_release;
    store->release_context = g;
    head->grow = g;
    return TL_OK;
}

/* Adds a section of all parts. */
TLI_FN tl_status tli_grow_section(tl_head *head, int which, const tli_view_layout *layout, tl_error *err)
{
    const struct tli_grow *g = head->grow;
    const struct ArrowSchema *schema = tli_view_schema(head->document.store, layout, err);
    tl_section *section = NULL;
    int32_t count = 0, k;
    uint32_t i;
    tl_status st;
    if (schema == NULL)
        return err->status;
    for (i = 0; i < g->count; i++)
        count += g->parts[i]->batch_count[which];
    st = tli_doc_section(&head->document, tl_text(layout->section), schema, count, NULL, &section, err);
    if (st != TL_OK)
        return st;
    count = 0;
    for (i = 0; i < g->count; i++) {
        for (k = 0; k < g->parts[i]->batch_count[which]; k++)
            section->batches[count++] = g->parts[i]->batches[which][k];
        section->rows += (int64_t)g->parts[i]->rows[which];
    }
    return TL_OK;
}

TLI_FN tl_status tli_grow_metadata(tl_head *head, tl_span text, tl_error *err)
{
    tli_view_text item;
    tli_view_items in;
    tli_view_piece piece;
    tl_status st;
    item.json = text;
    in.items = &item;
    in.stride = sizeof item;
    in.count = 1;
    in.order = NULL;
    st = tli_view_build(head->document.store, &tli_view_metadata, &in, &piece, err);
    return st == TL_OK ? tli_view_add(&head->document, &piece, err) : st;
}

/* The old footers, but for those of files that go, and the new ones, within the budget. */
TLI_FN tl_status tli_grow_gather_footers(tli_grow_work *w, tli_footers_work *f, tl_error *err)
{
    const tli_grow_change *c = w->change;
    size_t old = tli_footers_count(f->old), row = 0, i, k, at = 0;
    uint8_t *drop = (uint8_t *)tli_mem_take_array(w->scratch, (uint64_t)old + 1, 1, err);
    f->keep = (uint8_t *)tli_mem_take_array(w->scratch, (uint64_t)f->old->count + 1, 1, err);
    f->loose = (tli_view_known *)tli_mem_take_array(w->scratch, (uint64_t)old + c->footer_count + 1, sizeof *f->loose,
                                                    err);
    if (drop == NULL || f->keep == NULL || f->loose == NULL)
        return err->status;
    TLI_FILL(f->keep, 1, f->old->count + 1);
    for (i = 0; c->gone != NULL && i < f->old->count; i++)
        for (k = 0; k < f->old->groups[i]->count; k++)
            drop[at++] = (uint8_t)tli_grow_goes(w, tli_grow_find(w->old, &w->files,
                                                                 f->old->groups[i]->files[k].path));
    tli_footers_drop(f, drop);
    for (i = 0; i < c->footer_count; i++) {
        tli_view_known known;
        while (!tl_span_equal(c->files[row].path, c->footers[i].path))
            row++;
        known.file = &c->files[row];
        known.footer = c->footers[i].footer;
        tli_footers_loosen(f, &known);
    }
    if (f->bytes + tli_footers_bytes(f->old) > c->inline_bytes) {
        tl_status st = tli_footers_limit(f, c->inline_bytes, err);
        if (st != TL_OK)
            return st;
    }
    tli_footers_merge(f);
    return TL_OK;
}

TLI_FN tl_status tli_grow_footers(tli_grow_work *w, tl_head *head, tl_error *err)
{
    struct tli_grow *g = head->grow;
    const struct ArrowSchema *schema;
    tl_section *section = NULL;
    tli_footers_work f;
    tli_footers none;
    uint32_t i;
    tl_status st;
    TLI_FILL(&f, 0, sizeof f);
    TLI_FILL(&none, 0, sizeof none);
    f.scratch = w->scratch;
    f.old = w->old != NULL ? &w->old->footers : &none;
    st = tli_grow_gather_footers(w, &f, err);
    if (st != TL_OK)
        return st;
    g->footers.groups = (tli_footers_group **)tli_mem_take_array(head->document.store,
                                                                 (uint64_t)f.old->count + f.count + 1, sizeof(void *),
                                                                 err);
    schema = tli_view_schema(head->document.store, &tli_view_footers, err);
    if (g->footers.groups == NULL || schema == NULL)
        return err->status;
    st = tli_footers_finish(&f, NULL, &head->document.allocator, &g->footers, err);
    if (st != TL_OK || g->footers.count == 0)
        return st;
    st = tli_doc_section(&head->document, tl_text("footers"), schema, (int32_t)g->footers.count, NULL, &section, err);
    for (i = 0; st == TL_OK && i < g->footers.count; i++) {
        section->batches[i] = g->footers.groups[i]->batch;
        section->rows += g->footers.groups[i]->batch.rows;
    }
    return st;
}

/* What is left to do once the parts are there. */
TLI_FN tl_status tli_grow_finish(tli_grow_work *w, tl_head *head, tl_error *err)
{
    tl_files files;
    tli_grow_part *last;
    tl_status st = tli_doc_property(&head->document, tl_text("layout"), tl_text("1"), err);
    if (st == TL_OK)
        st = tli_grow_metadata(head, w->change->metadata, err);
    if (st == TL_OK)
        st = tli_grow_section(head, TLI_GROW_FILES, &tli_view_files, err);
    if (st == TL_OK)
        st = tli_grow_section(head, TLI_GROW_COLUMNS, &tli_view_columns, err);
    if (st == TL_OK)
        st = tli_grow_footers(w, head, err);
    if (st == TL_OK)
        st = tl_head_files(head, &files, err);
    last = st == TL_OK ? head->grow->parts[head->grow->count - 1] : NULL;
    return last != NULL && last->order == NULL ? tli_grow_index(last, &files, w->kept[TLI_GROW_FILES], err) : st;
}

/* Fills `head`, whose document is empty but for its allocator, from the version before (NULL: none) and the change. On
   failure its document is to be freed. */
TLI_FN tl_status tli_grow_document(tl_head *head, tl_head *base, const tli_grow_change *change, tl_error *err)
{
    const tl_allocator *a = &head->document.allocator;
    tli_grow_work w;
    tl_status st = TL_OK;
    TLI_FILL(&w, 0, sizeof w);
    w.change = change;
    if (base != NULL)
        st = tli_grow_of(base, &w.files, &w.columns, &w.old, err);
    if (st != TL_OK)
        return st;
    w.scratch = tli_mem_store_new(a, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    head->document.store = tli_mem_store_new(a, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    st = w.scratch == NULL || head->document.store == NULL ? err->status : TL_OK;
    tli_grow_decide(&w);
    if (st == TL_OK)
        st = tli_grow_gather(&w, err);
    if (st == TL_OK)
        st = tli_grow_take(&w, head, err);
    if (st == TL_OK)
        st = tli_grow_finish(&w, head, err);
    tli_mem_store_drop(w.scratch);
    return st;
}

/* ---- encoding ---- */

/* A head as pieces: bytes of its own, and between them those of parts. */
typedef struct tli_grow_body {
    tl_buffer bytes;
    tl_buffer cuts;   /* tli_grow_cut */
    tl_buffer spans;  /* tl_span: the pieces one after another */
    size_t span_count;
    uint64_t size;
} tli_grow_body;

typedef struct tli_grow_cut {
    size_t at; /* in the bytes: the part's come here */
    tl_span part;
} tli_grow_cut;

TLI_FN void tli_grow_body_end(tli_grow_body *b)
{
    tl_buffer_free(&b->bytes);
    tl_buffer_free(&b->cuts);
    tl_buffer_free(&b->spans);
    b->span_count = 0;
}

/* The pieces, once all is there. */
TLI_FN tl_status tli_grow_join(tli_grow_body *b, tl_error *err)
{
    size_t at = 0, i, count = b->cuts.size / sizeof(tli_grow_cut);
    tl_status st = TL_OK;
    for (i = 0; i <= count && st == TL_OK; i++) {
        tli_grow_cut cut;
        tl_span pieces[2];
        cut.at = b->bytes.size;
        cut.part = tli_text_span(NULL, 0);
        if (i < count)
            TLI_COPY(&cut, b->cuts.data + i * sizeof cut, sizeof cut);
        pieces[0] = tli_text_span(b->bytes.data + at, cut.at - at);
        pieces[1] = cut.part;
        if (pieces[0].size != 0)
            st = tli_mem_append(&b->spans, &pieces[0], sizeof pieces[0], err);
        if (pieces[1].size != 0 && st == TL_OK)
            st = tli_mem_append(&b->spans, &pieces[1], sizeof pieces[1], err);
        at = cut.at;
        b->size += pieces[0].size + pieces[1].size;
    }
    b->span_count = b->spans.size / sizeof(tl_span);
    return st;
}

#ifndef TIMELAKE_NO_HEAD_ARROW
/* Messages of batches, encoded once and kept in their store; a cut for them. */
TLI_FN tl_status tli_grow_cut_in(tli_grow_body *b, tli_store *store, tl_span *encoded,
                                 const struct tli_doc_batch *batches, int32_t count, const struct ArrowSchema *schema,
                                 const tl_compression *compression, uint64_t *size, tl_error *err)
{
    tli_grow_cut cut;
    tl_buffer out;
    tl_status st = TL_OK;
    int32_t i;
    void *copy;
    if (encoded->data == NULL) {
        TLI_FILL(&out, 0, sizeof out);
        out.allocator = store->allocator;
        for (i = 0; i < count && st == TL_OK; i++)
            st = tli_ipc_write_batch(&out, schema, batches[i].columns, batches[i].rows, compression, err);
        copy = st == TL_OK ? tli_mem_take(store, out.size, err) : NULL;
        if (copy != NULL && out.size != 0)
            TLI_COPY(copy, out.data, out.size);
        if (copy != NULL)
            *encoded = tli_text_span(copy, out.size);
        tl_buffer_free(&out);
        if (copy == NULL)
            return err->status;
    }
    cut.at = b->bytes.size;
    cut.part = *encoded;
    *size += cut.part.size;
    return tli_mem_append(&b->cuts, &cut, sizeof cut, err);
}

/* A section's stream but for its end: the schema, and a cut for each part. *size: of the parts. */
TLI_FN tl_status tli_grow_put_parts(tli_grow_body *b, const struct tli_grow *g, int which, const tl_section *section,
                                    const tl_compression *compression, uint64_t *size, tl_error *err)
{
    tl_status st = tli_ipc_write_schema(&b->bytes, section->schema, tl_text(TLI_HEADARROW_SECTION), section->name, err);
    uint32_t i;
    for (i = 0; i < g->count && st == TL_OK; i++)
        st = tli_grow_cut_in(b, g->parts[i]->store, &g->parts[i]->encoded[which], g->parts[i]->batches[which],
                             g->parts[i]->batch_count[which], section->schema, compression, size, err);
    return st == TL_OK ? tli_ipc_write_end(&b->bytes, err) : st;
}

/* What the budget lets in: the index as an encoded stream, or nothing, and of each footer whether it is left out. */
typedef struct tli_grow_inline {
    tli_store *store;
    tl_buffer index;
    uint8_t *drop; /* NULL: all are in */
    size_t footers;
} tli_grow_inline;

TLI_FN tl_status tli_grow_budget(tli_grow_inline *in, tl_head *head, uint64_t budget, const tl_compression *compression,
                                 tl_error *err)
{
    tl_section *index = tl_document_section(&head->document, tl_text("last_values"));
    const tli_footers *f = &head->grow->footers;
    tli_view_known *known;
    size_t i, k, n = 0;
    tl_status st = TL_OK;
    if (index != NULL && index->batch_count != 0)
        st = tli_headarrow_write_section(&in->index, index, compression, err);
    if (st != TL_OK)
        return st;
    if (in->index.size + 8 > budget)
        in->index.size = 0;
    else if (in->index.size != 0)
        budget -= in->index.size + 8;
    in->footers = tli_footers_count(f);
    if (tli_footers_bytes(f) <= budget)
        return TL_OK;
    known = (tli_view_known *)tli_mem_take_array(in->store, in->footers, sizeof *known, err);
    in->drop = (uint8_t *)tli_mem_take_array(in->store, in->footers, 1, err);
    if (known == NULL || in->drop == NULL)
        return err->status;
    for (i = 0; i < f->count; i++)
        for (k = 0; k < f->groups[i]->count; k++)
            known[n++] = f->groups[i]->known[k];
    st = tli_footers_mark(in->store, known, n, budget, in->drop, err);
    for (i = 0; i < n; i++)
        in->footers -= in->drop[i];
    return st;
}

/* The footers of a group that are in, as a batch of their own. */
TLI_FN tl_status tli_grow_put_some(tli_grow_body *b, const tli_footers_group *g, const uint8_t *drop,
                                   const tli_grow_inline *in, const struct ArrowSchema *schema,
                                   const tl_compression *compression, tl_error *err)
{
    tli_view_known *known = (tli_view_known *)tli_mem_take_array(in->store, g->count, sizeof *known, err);
    tli_footers_group *some;
    size_t i, n = 0;
    tl_status st;
    if (known == NULL)
        return err->status;
    for (i = 0; i < g->count; i++)
        if (!drop[i])
            known[n++] = g->known[i];
    if (n == 0)
        return TL_OK;
    st = tli_footers_build(in->store, known, NULL, n, &some, err);
    return st != TL_OK ? st : tli_ipc_write_batch(&b->bytes, schema, some->batch.columns, some->batch.rows,
                                                  compression, err);
}

TLI_FN tl_status tli_grow_put_footers(tli_grow_body *b, tl_head *head, const tl_section *section,
                                      const tli_grow_inline *in, const tl_compression *compression, uint64_t *size,
                                      tl_error *err)
{
    const tli_footers *f = &head->grow->footers;
    const struct ArrowSchema *schema = tli_view_schema(in->store, &tli_view_footers, err);
    tl_status st = schema == NULL ? err->status
                                  : tli_ipc_write_schema(&b->bytes, schema, tl_text(TLI_HEADARROW_SECTION),
                                                         section->name, err);
    size_t at = 0, k;
    uint32_t i;
    for (i = 0; st == TL_OK && i < f->count; at += f->groups[i++]->count) {
        tli_footers_group *g = f->groups[i];
        for (k = in->drop == NULL ? g->count : 0; k < g->count && !in->drop[at + k];)
            k++;
        if (k == g->count)
            st = tli_grow_cut_in(b, g->store, &g->encoded, &g->batch, 1, schema, compression, size, err);
        else
            st = tli_grow_put_some(b, g, in->drop + at, in, schema, compression, err);
    }
    return st == TL_OK ? tli_ipc_write_end(&b->bytes, err) : st;
}

/* One section behind its length, if it is in. */
TLI_FN tl_status tli_grow_put_section(tli_grow_body *b, tl_head *head, tl_section *section, const tli_grow_inline *in,
                                      const tl_compression *compression, tl_error *err)
{
    static const uint8_t no_length[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    size_t start = b->bytes.size + 8;
    int index = tl_span_equal(section->name, tl_text("last_values"));
    int footers = tl_span_equal(section->name, tl_text("footers"));
    uint64_t parts = 0;
    tl_status st;
    if ((index && in->index.size == 0) || (footers && in->footers == 0))
        return TL_OK;
    st = tli_mem_append(&b->bytes, no_length, 8, err);
    if (st != TL_OK)
        return st;
    if (tl_span_equal(section->name, tl_text("files")))
        st = tli_grow_put_parts(b, head->grow, TLI_GROW_FILES, section, compression, &parts, err);
    else if (tl_span_equal(section->name, tl_text("columns")))
        st = tli_grow_put_parts(b, head->grow, TLI_GROW_COLUMNS, section, compression, &parts, err);
    else if (index)
        st = tli_mem_append(&b->bytes, in->index.data, in->index.size, err);
    else if (footers)
        st = tli_grow_put_footers(b, head, section, in, compression, &parts, err);
    else
        st = tli_headarrow_write_section(&b->bytes, section, compression, err);
    if (st == TL_OK)
        tli_bits_put_le64(b->bytes.data + start - 8, b->bytes.size - start + parts);
    return st;
}

/* The body of the codec `arrow`. */
TLI_FN tl_status tli_grow_encode_arrow(tli_grow_body *b, tl_head *head, uint64_t budget,
                                       const tl_compression *compression, tl_error *err)
{
    static const uint8_t no_length[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    size_t start = b->bytes.size + 8;
    tli_grow_inline in;
    int32_t i;
    tl_status st = tli_mem_append(&b->bytes, no_length, 8, err);
    TLI_FILL(&in, 0, sizeof in);
    in.index.allocator = b->bytes.allocator;
    in.store = tli_mem_store_new(&b->bytes.allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (in.store == NULL)
        return err->status;
    if (st == TL_OK)
        st = tli_headarrow_write_properties(&b->bytes, &head->document, err);
    if (st == TL_OK) {
        tli_bits_put_le64(b->bytes.data + start - 8, b->bytes.size - start);
        st = tli_grow_budget(&in, head, budget, compression, err);
    }
    for (i = 0; st == TL_OK && i < head->document.section_count; i++)
        st = tli_grow_put_section(b, head, &head->document.sections[i], &in, compression, err);
    tl_buffer_free(&in.index);
    tli_mem_store_drop(in.store);
    return st;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* What a version says, as arrays in the store. */
TLI_FN tl_status tli_grow_parts(tli_store *store, tl_head *head, tl_head_parts *parts, tl_error *err)
{
    tl_files files;
    tl_columns columns;
    tl_footers footers;
    tl_file *f = NULL;
    tl_column *c = NULL;
    tl_footer *ends = NULL;
    size_t i;
    tl_status st = tl_head_metadata(head, &parts->metadata, err);
    TLI_FILL(&footers, 0, sizeof footers);
    if (st == TL_OK)
        st = tl_head_files(head, &files, err);
    if (st == TL_OK)
        st = tl_head_columns(head, TL_COLUMNS_ALL, &columns, err);
    if (st != TL_OK)
        return st;
    if (tl_head_footers(head, &footers, NULL) != TL_OK)
        footers.count = 0;
    f = (tl_file *)tli_mem_take_array(store, (uint64_t)files.count + 1, sizeof *f, err);
    c = (tl_column *)tli_mem_take_array(store, (uint64_t)columns.count + 1, sizeof *c, err);
    ends = (tl_footer *)tli_mem_take_array(store, (uint64_t)footers.count + 1, sizeof *ends, err);
    if (f == NULL || c == NULL || ends == NULL)
        return err->status;
    for (i = 0; i < files.count; i++)
        tl_files_get(&files, i, &f[i]);
    for (i = 0; i < columns.count; i++)
        tl_columns_get(&columns, i, &c[i]);
    for (i = 0; i < footers.count; i++)
        tl_footers_get(&footers, i, &ends[i]);
    parts->files = f;
    parts->file_count = files.count;
    parts->columns = c;
    parts->column_count = columns.count;
    parts->footers = ends;
    parts->footer_count = footers.count;
    return TL_OK;
}

TLI_FN tl_status tli_grow_index_parts(tli_store *store, tl_head *head, tl_head_parts *parts, tl_error *err)
{
    tl_section *index = tl_document_section(&head->document, tl_text("last_values"));
    tl_status st = index == NULL ? TL_OK : tl_section_open(index, err);
    if (index == NULL || st != TL_OK)
        return st;
    parts->last_schema = index->schema;
    parts->last_value_batches = index->batch_count;
    return tli_doc_arrays(index, store, &parts->last_values, err);
}

/* Another codec's head: all of it anew. */
TLI_FN tl_status tli_grow_encode_whole(tli_grow_body *b, tl_head *head, tl_span codec, uint64_t budget,
                                       const tl_head_options *options, tl_error *err)
{
    tl_head_parts parts;
    tli_store *store = tli_mem_store_new(&b->bytes.allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    tl_status st;
    if (store == NULL)
        return err->status;
    TLI_FILL(&parts, 0, sizeof parts);
    parts.inline_bytes = budget;
    st = tli_grow_parts(store, head, &parts, err);
    if (st == TL_OK)
        st = tli_grow_index_parts(store, head, &parts, err);
    if (st == TL_OK)
        st = tl_head_write(&b->bytes, head->version, codec, &parts, options, NULL, err);
    tli_mem_store_drop(store);
    return st;
}

/* Encodes the head of a version whose files are there. In the codec `arrow` the parts' bytes are not copied: the spans
   are good as long as the version and `b`, whose buffers have their allocators. */
TLI_FN tl_status tli_grow_encode(tli_grow_body *b, tl_head *head, tl_span codec, uint64_t budget,
                                 const tl_head_options *options, tl_error *err)
{
    const tl_head_codec *foreign;
    tli_head_kind kind;
    struct tli_grow *g;
    tl_files files;
    tl_columns columns;
    tl_status st = tli_head_find(options, codec, &kind, &foreign, TL_NO_POSITION, err);
    b->bytes.size = b->cuts.size = b->spans.size = 0;
    b->size = 0;
    if (st == TL_OK)
        st = tli_grow_of(head, &files, &columns, &g, err);
    if (st != TL_OK)
        return st;
#ifndef TIMELAKE_NO_HEAD_ARROW
    if (kind == TLI_HEAD_ARROW && !g->anew && g->count != 0) {
        st = tli_head_write_header(&b->bytes, head->version, codec, err);
        if (st == TL_OK)
            st = tli_grow_encode_arrow(b, head, budget, &options->compression, err);
        return st == TL_OK ? tli_grow_join(b, err) : st;
    }
#endif
    st = tli_grow_encode_whole(b, head, codec, budget, options, err);
    return st == TL_OK ? tli_grow_join(b, err) : st;
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
