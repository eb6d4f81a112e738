/* >>table */
#ifndef TIMELAKE_NO_LAKE
TL_API tl_table *tl_table_keep(tl_table *table)
{
    if (table != NULL)
        TLI_MEM_INC(&table->count);
    return table;
}

TL_API void tl_table_drop(tl_table *table)
{
    tl_allocator a;
    if (table == NULL || TLI_MEM_DEC(&table->count) != 0)
        return;
    a = table->allocator;
    tl_metadata_free(&table->metadata);
    tl_head_free(&table->head);
    tli_mem_store_drop(table->store);
    tli_mem_blob_drop(table->body);
    tli_iceberg_delete_list(table->manifests);
    tli_mem_delete(&a, (void *)(uintptr_t)table->location.data, table->location.size + 1);
    tli_mem_delete(&a, table, sizeof *table);
}

TL_API tl_status tl_table_last_values(tl_table *table, int32_t batch, struct ArrowSchema *schema,
                                      struct ArrowArray *array, tl_error *err)
{
    tl_section *section;
    tl_status st;
    if (table->metadata.last_value_index.data == NULL)
        return tli_err(err, TL_ABSENT, "the current snapshot names no last-value index", TL_NO_POSITION);
    if (table->source == TL_FROM_CHAIN)
        return tli_err(err, TL_ABSENT, "the version was loaded without its head", TL_NO_POSITION);
    st = tl_head_last_values(&table->head, &section, err);
    return st == TL_OK ? tl_section_export(section, batch, schema, array, err) : st;
}

/* A table of version `version` with a copy of its location; everything else zero, one count. */
TLI_FN tl_table *tli_table_new(const tl_allocator *a, tl_span location, uint64_t version)
{
    tl_table *t = (tl_table *)tli_mem_new(a, sizeof *t);
    char *copy = t == NULL ? NULL : (char *)tli_mem_new(a, location.size + 1);
    if (copy == NULL) {
        tli_mem_delete(a, t, sizeof *t);
        return NULL;
    }
    TLI_FILL(t, 0, sizeof *t);
    if (location.size != 0)
        TLI_COPY(copy, location.data, location.size);
    copy[location.size] = 0;
    t->location = tli_text_span(copy, location.size);
    t->version = version;
    t->count = 1;
    t->allocator = *a;
    return t;
}
#endif /* TIMELAKE_NO_LAKE */
