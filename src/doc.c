/* >>doc: the head document. Everything lies in the document's store; what is replaced stays there until the end. */
struct tli_doc_batch {
    int64_t rows;
    const struct ArrowArray **columns; /* NULL: none was opened; else an entry per column, NULL: closed */
};

/* How columns of a decoded section are opened: fills section->batches[batch].columns[column]. */
struct tli_doc_source {
    tl_status (*open)(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column, tl_error *err);
};

/* A limit of our own: heads have a handful, and sorting in is quadratic. */
#define TLI_DOC_PROPERTIES 16384

/* Room for one more entry in an array of the store whose capacity is a power of two. */
TLI_FN void *tli_doc_grow(tli_store *store, void *entries, int32_t count, size_t size, tl_error *err)
{
    void *grown;
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0))
        return entries;
    grown = tli_mem_take_array(store, count == 0 ? 4 : (uint64_t)(uint32_t)count * 2, size, err);
    if (grown != NULL && count != 0)
        TLI_COPY(grown, entries, (size_t)count * size);
    return grown;
}

/* Where `key` is among the properties, or belongs: *found says which. Ascending input costs one comparison. */
TLI_FN int32_t tli_doc_find_property(const tl_document *d, tl_span key, int *found)
{
    int32_t low = 0, high = d->property_count;
    *found = 0;
    if (high > 0 && tl_span_compare(d->properties[high - 1].key, key) < 0)
        return high;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = tl_span_compare(d->properties[middle].key, key);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

TLI_FN int32_t tli_doc_find_section(const tl_document *d, tl_span name, int *found)
{
    int32_t low = 0, high = d->section_count;
    *found = 0;
    if (high > 0 && tl_span_compare(d->sections[high - 1].name, name) < 0)
        return high;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = tl_span_compare(d->sections[middle].name, name);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets a property whose texts live as long as the store. */
TLI_FN tl_status tli_doc_property(tl_document *document, tl_span key, tl_span value, tl_error *err)
{
    int found;
    int32_t i = tli_doc_find_property(document, key, &found), n = document->property_count;
    if (!found) {
        void *grown;
        if (n >= TLI_DOC_PROPERTIES)
            return tli_err_need(err, TL_LIMIT, "too many properties", TL_NO_POSITION, (uint64_t)(uint32_t)n + 1);
        grown = tli_doc_grow(document->store, document->properties, n, sizeof(tl_property), err);
        if (grown == NULL)
            return tli_arrow_failed(err);
        document->properties = (tl_property *)grown;
        TLI_MOVE(document->properties + i + 1, document->properties + i, (size_t)(n - i) * sizeof(tl_property));
        document->property_count++;
        document->properties[i].key = key;
    }
    document->properties[i].value = value;
    return TL_OK;
}

/* Adds a section with closed batches of no rows, or replaces the one of that name. Name and schema live as long as the
   store. *out is valid until the next section is added. */
TLI_FN tl_status tli_doc_section(tl_document *document, tl_span name, const struct ArrowSchema *schema,
                                 int32_t batch_count,
                                 struct tli_doc_source *source, tl_section **out, tl_error *err)
{
    int found;
    int32_t i = tli_doc_find_section(document, name, &found), n = document->section_count;
    struct tli_doc_batch *batches;
    tl_section *section;
    batches = (struct tli_doc_batch *)tli_mem_take_array(document->store, (uint64_t)(uint32_t)batch_count,
                                                         sizeof *batches,
                                                         err);
    if (batches == NULL)
        return tli_arrow_failed(err);
    if (!found) {
        void *grown = n == INT32_MAX ? NULL : tli_doc_grow(document->store, document->sections, n, sizeof *section,
                                                           err);
        if (grown == NULL)
            return tli_arrow_failed(err);
        document->sections = (tl_section *)grown;
        TLI_MOVE(document->sections + i + 1, document->sections + i, (size_t)(n - i) * sizeof *section);
        document->section_count++;
    }
    section = &document->sections[i];
    TLI_FILL(section, 0, sizeof *section);
    section->name = name;
    section->schema = schema;
    section->batch_count = batch_count;
    section->batches = batches;
    section->source = source;
    section->store = document->store;
    *out = section;
    return TL_OK;
}

/* ---- building ---- */

TLI_FN tl_status tli_doc_store(tl_document *document, tl_error *err)
{
    if (document->store == NULL)
        document->store = tli_mem_store_new(&document->allocator, UINT64_MAX, NULL, 0, NULL, NULL, err);
    return document->store != NULL ? TL_OK : tli_arrow_failed(err);
}

TLI_FN tl_status tli_doc_text(tli_store *store, tl_span *text, tl_error *err)
{
    char *copy;
    if (tli_text_utf8(text->data, text->size) != text->size)
        return tli_err(err, TL_MISUSE, "text that is not UTF-8", TL_NO_POSITION);
    copy = (char *)tli_mem_take(store, text->size, err);
    if (copy == NULL)
        return tli_arrow_failed(err);
    if (text->size != 0)
        TLI_COPY(copy, text->data, text->size);
    text->data = copy;
    return TL_OK;
}

TL_API tl_status tl_document_set(tl_document *document, tl_span key, tl_span value, tl_error *err)
{
    tl_error own;
    tl_status st;
    err = err != NULL ? err : &own;
    if (key.data == NULL)
        return tli_err(err, TL_MISUSE, "a property without a key", TL_NO_POSITION);
    st = tli_doc_store(document, err);
    if (st == TL_OK)
        st = tli_doc_text(document->store, &key, err);
    if (st == TL_OK)
        st = tli_doc_text(document->store, &value, err);
    return st == TL_OK ? tli_doc_property(document, key, value, err) : st;
}

/* Both codecs write names and metadata as texts. */
TLI_FN tl_status tli_doc_check_schema(const struct ArrowSchema *schema, tl_error *err)
{
    tli_arrow_walk w;
    tl_status st = tli_arrow_schema_check(schema, NULL, NULL, err);
    if (st != TL_OK)
        return st;
    if (schema->format[0] != '+' || schema->format[1] != 's')
        return tli_err(err, TL_MISUSE, "the schema of a section is no struct", TL_NO_POSITION);
    tli_arrow_walk_begin(&w, schema, NULL);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        tli_arrow_pairs pairs = tli_arrow_pairs_begin(w.schema);
        tl_span name = tl_text(w.schema->name), key, value;
        int bad = tli_text_utf8(name.data, name.size) != name.size;
        while (tli_arrow_pairs_next(&pairs, &key, &value))
            bad |= tli_text_utf8(key.data, key.size) != key.size || tli_text_utf8(value.data, value.size) != value.size;
        if (bad)
            return tli_err(err, TL_MISUSE, "a name or metadata that is not UTF-8", TL_NO_POSITION);
    }
    return TL_OK;
}

/* The columns of a struct array: its children, or where it is a slice of them, views of them in the store. A view's
   private_data is not the store: its buffers are the caller's. */
TLI_FN tl_status tli_doc_slice(tli_store *store, const struct ArrowArray *batch, struct tli_doc_batch *to,
                               tl_error *err)
{
    int64_t i;
    to->rows = batch->length;
    to->columns = (const struct ArrowArray **)tli_mem_take_array(store, (uint64_t)batch->n_children, sizeof(void *),
                                                                 err);
    if (to->columns == NULL)
        return tli_arrow_failed(err);
    for (i = 0; i < batch->n_children; i++) {
        struct ArrowArray *child = batch->children[i], *view;
        to->columns[i] = child;
        if (batch->offset == 0 && child->length == batch->length)
            continue;
        view = (struct ArrowArray *)tli_mem_take(store, sizeof *view, err);
        if (view == NULL)
            return tli_arrow_failed(err);
        *view = *child;
        view->offset += batch->offset;
        view->length = batch->length;
        view->null_count = child->null_count == 0 || child->n_buffers == 0
            ? (child->n_buffers == 0 ? batch->length : 0) : -1;
        view->release = tli_arrow_array_stays;
        view->private_data = NULL;
        to->columns[i] = view;
    }
    return TL_OK;
}

TLI_FN tl_status tli_doc_check_batches(const struct ArrowSchema *schema, const struct ArrowArray *const *batches,
                                       int32_t count, int64_t *rows, tl_error *err)
{
    int32_t i;
    *rows = 0;
    for (i = 0; i < count; i++) {
        const struct ArrowArray *b = batches[i];
        tl_status st = tli_arrow_array_check(schema, b, NULL, err);
        if (st != TL_OK)
            return st;
        if (tli_arrow_null_count(b) != 0)
            return tli_err(err, TL_MISUSE, "a batch with rows that are null", TL_NO_POSITION);
        *rows += b->length; /* at most 2^31 times 2^40 */
        if (*rows > (int64_t)1 << 60)
            return tli_err(err, TL_LIMIT, "limits.rows", TL_NO_POSITION);
    }
    return TL_OK;
}

TL_API tl_status tl_document_add(tl_document *document, tl_span name, const struct ArrowSchema *schema,
                                 const struct ArrowArray *const *batches, int32_t count, tl_error *err)
{
    tl_error own;
    tl_section fresh, *section = NULL;
    int32_t i;
    tl_status st;
    err = err != NULL ? err : &own;
    TLI_FILL(&fresh, 0, sizeof fresh);
    if (name.data == NULL || count < 0 || (count > 0 && batches == NULL))
        return tli_err(err, TL_MISUSE, "a section without a name or batches", TL_NO_POSITION);
    st = tli_doc_check_schema(schema, err);
    if (st == TL_OK)
        st = tli_doc_check_batches(schema, batches, count, &fresh.rows, err);
    if (st == TL_OK)
        st = tli_doc_store(document, err);
    if (st == TL_OK)
        st = tli_doc_text(document->store, &name, err);
    if (st == TL_OK)
        st = tli_arrow_schema_keep(document->store, schema, &fresh.schema, err);
    if (st != TL_OK)
        return st;
    fresh.batches = (struct tli_doc_batch *)tli_mem_take_array(document->store, (uint64_t)(uint32_t)count,
                                                               sizeof *fresh.batches, err);
    if (fresh.batches == NULL)
        return err->status;
    for (i = 0; i < count; i++) {
        st = tli_doc_slice(document->store, batches[i], &fresh.batches[i], err);
        if (st != TL_OK)
            return st;
    }
    st = tli_doc_section(document, name, fresh.schema, 0, NULL, &section, err);
    if (st != TL_OK)
        return st;
    section->rows = fresh.rows;
    section->batches = fresh.batches;
    section->batch_count = count;
    return TL_OK;
}

TL_API void tl_document_free(tl_document *document)
{
    if (document == NULL)
        return;
    tli_mem_store_drop(document->store);
    document->store = NULL;
    document->properties = NULL;
    document->sections = NULL;
    document->property_count = document->section_count = 0;
}

/* ---- reading ---- */

TL_API tl_span tl_document_property(const tl_document *document, tl_span key)
{
    int found;
    int32_t i = tli_doc_find_property(document, key, &found);
    return found ? document->properties[i].value : tl_text(NULL);
}

TL_API tl_section *tl_document_section(const tl_document *document, tl_span name)
{
    int found;
    int32_t i = tli_doc_find_section(document, name, &found);
    return found ? &document->sections[i] : NULL;
}

TL_API tl_status tl_section_column(tl_section *section, int32_t batch, int32_t column, const struct ArrowArray **array,
                                   tl_error *err)
{
    tl_error own;
    struct tli_doc_batch *b;
    tl_status st = TL_OK;
    err = err != NULL ? err : &own;
    *array = NULL;
    if (section == NULL || batch < 0 || batch >= section->batch_count || column < 0
        || column >= section->schema->n_children)
        return tli_err(err, TL_ABSENT, "no such batch or column", TL_NO_POSITION);
    b = &section->batches[batch];
    if (b->columns == NULL) {
        b->columns = (const struct ArrowArray **)tli_mem_take_array(section->store,
                                                                    (uint64_t)section->schema->n_children,
                                                                    sizeof(void *), err);
        if (b->columns == NULL)
            return err->status;
    }
    if (b->columns[column] == NULL && section->source != NULL)
        st = section->source->open(section->source, section, batch, column, err);
    if (st != TL_OK)
        return st;
    *array = b->columns[column];
    return *array != NULL ? TL_OK : tli_err(err, TL_ABSENT, "no such batch or column", TL_NO_POSITION);
}

TL_API tl_status tl_section_open(tl_section *section, tl_error *err)
{
    int32_t i, k;
    if (section == NULL)
        return tli_err(err, TL_ABSENT, "no such section", TL_NO_POSITION);
    for (i = 0; i < section->batch_count; i++)
        for (k = 0; k < section->schema->n_children; k++) {
            const struct ArrowArray *array;
            tl_status st = tl_section_column(section, i, k, &array, err);
            if (st != TL_OK)
                return st;
        }
    return TL_OK;
}

/* The struct array of an opened batch; its members stay the section's. */
TLI_FN void tli_doc_batch_array(const tl_section *section, int32_t batch, struct ArrowArray *root,
                                const void **validity)
{
    *validity = NULL;
    TLI_FILL(root, 0, sizeof *root);
    root->length = section->batches[batch].rows;
    root->n_buffers = 1;
    root->buffers = validity;
    root->n_children = section->schema->n_children;
    root->children = (struct ArrowArray **)(void *)section->batches[batch].columns;
    root->release = tli_arrow_array_stays;
}

/* The batches of a section that is open, as arrays in the store. */
TLI_FN tl_status tli_doc_arrays(const tl_section *section, tli_store *store, const struct ArrowArray *const **out,
                                tl_error *err)
{
    uint64_t room = (uint64_t)section->batch_count + 1;
    struct ArrowArray *arrays = (struct ArrowArray *)tli_mem_take_array(store, room, sizeof *arrays, err);
    const struct ArrowArray **batches = (const struct ArrowArray **)tli_mem_take_array(store, room, sizeof *batches,
                                                                                       err);
    const void **none = (const void **)tli_mem_take_array(store, room, sizeof *none, err);
    int32_t i;
    if (arrays == NULL || batches == NULL || none == NULL)
        return err->status;
    for (i = 0; i < section->batch_count; i++) {
        tli_doc_batch_array(section, i, &arrays[i], &none[i]);
        batches[i] = &arrays[i];
    }
    *out = batches;
    return TL_OK;
}

TL_API tl_status tl_section_export(tl_section *section, int32_t batch, struct ArrowSchema *schema,
                                   struct ArrowArray *array,
                                   tl_error *err)
{
    tl_error own;
    struct ArrowArray root;
    const void *validity;
    int32_t k;
    tl_status st;
    err = err != NULL ? err : &own;
    TLI_FILL(array, 0, sizeof *array);
    if (schema != NULL)
        TLI_FILL(schema, 0, sizeof *schema);
    if (section == NULL || batch < 0 || batch >= section->batch_count)
        return tli_err(err, TL_ABSENT, "no such section or batch", TL_NO_POSITION);
    for (k = 0; k < section->schema->n_children; k++) {
        const struct ArrowArray *column;
        st = tl_section_column(section, batch, k, &column, err);
        if (st != TL_OK)
            return st;
    }
    tli_doc_batch_array(section, batch, &root, &validity);
    st = tli_arrow_export(section->store, section->schema, &root, array, err);
    if (st == TL_OK && schema != NULL) {
        st = tl_schema_copy(schema, section->schema, &section->store->allocator, err);
        if (st != TL_OK)
            array->release(array);
    }
    return st;
}
