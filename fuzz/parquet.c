/* Parquet footers: any bytes as the end of a file of iot.types (tests/data, run from the top). Asserted: no answer but
   those the contract names; an entry's numbers are possible, its columns ascend; the footer made for a head says of the
   file what the file's own end says. The first two bytes choose how much lies before. */
#include "../tests/tl_test.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tl_metadata table;

static void prepare(void)
{
    size_t size;
    char *text = tl_test_read("tests/data/warehouse/wh/iot/types/metadata/v2.metadata.json", &size);
    TIMELAKE_ASSERT(text != NULL && tl_metadata_parse(&table, text, size, NULL, NULL, NULL) == TL_OK);
}

static void check_again(const tl_parquet *p, uint64_t whole)
{
    tl_parquet again;
    tl_parquet_options o;
    size_t i;
    memset(&o, 0, sizeof o);
    o.no_footer = 1;
    TIMELAKE_ASSERT(tl_parquet_data_file(&again, &table, tl_text("p"), p->file.footer.data, p->file.footer.size,
                                         TLI_MAX(whole, (uint64_t)p->file.footer.size), &o, NULL) == TL_OK);
    TIMELAKE_ASSERT(again.file.file.records == p->file.file.records
                    && again.file.column_count == p->file.column_count);
    for (i = 0; i < p->file.column_count; i++)
        TIMELAKE_ASSERT(again.file.columns[i].values == p->file.columns[i].values
                        && tl_span_equal(again.file.columns[i].lower, p->file.columns[i].lower)
                        && tl_span_equal(again.file.columns[i].upper, p->file.columns[i].upper));
    tl_parquet_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_test_memory memory;
    tl_parquet_options o;
    tl_parquet p;
    tl_status st;
    tl_error err;
    uint64_t whole;
    size_t i;
    if (table.fields == NULL)
        prepare();
    if (size < 2)
        return 0;
    whole = size - 2 + (uint64_t)data[0] * data[1];
    memset(&memory, 0, sizeof memory);
    memset(&o, 0, sizeof o);
    o.allocator = tl_test_allocator(&memory);
    st = tl_parquet_data_file(&p, &table, tl_text("p"), data + 2, size - 2, whole, &o, &err);
    TIMELAKE_ASSERT(st == TL_OK || st == TL_CORRUPT || st == TL_UNSUPPORTED || st == TL_TRUNCATED || st == TL_LIMIT
                    || st == TL_NO_MEMORY);
    TIMELAKE_ASSERT(st != TL_TRUNCATED || (err.need > size - 2 && err.need <= whole));
    if (st == TL_OK) {
        TIMELAKE_ASSERT(p.file.file.records > 0 && p.file.file.size == whole);
        for (i = 1; i < p.file.column_count; i++)
            TIMELAKE_ASSERT(p.file.columns[i].field_id > p.file.columns[i - 1].field_id);
        for (i = 0; i < p.file.column_count; i++)
            TIMELAKE_ASSERT(p.file.columns[i].nulls <= p.file.columns[i].values);
        if (p.file.footer.data != NULL)
            check_again(&p, whole);
    }
    tl_parquet_free(&p);
    TIMELAKE_ASSERT(memory.live == 0);
    return 0;
}
