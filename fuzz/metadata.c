/* Table metadata: what is accepted keeps its promises: fields by name and id, the snapshot, properties, the contract;
   names of metadata files and hints both ways. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_ASSERT(x) ((x) ? (void)0 : abort())
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const char *text, size_t size)
{
    char key[512];
    tl_span location = tli_text_span(text, size < 300 ? size : 300), name;
    uint64_t version = tli_keys_hint(text, size);
    int order = tl_span_compare(location, tl_text("s3://b/t"));
    TIMELAKE_ASSERT((order == 0) == tl_span_equal(location, tl_text("s3://b/t")));
    TIMELAKE_ASSERT((order < 0) == (tl_span_compare(tl_text("s3://b/t"), location) > 0));
    (void)tli_keys_parse(tli_text_span(text, size), tl_text("a"));
    if (version != 0) {
        name = tli_keys_version(key, location, version);
        TIMELAKE_ASSERT(tli_keys_parse(name, location) == version);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tl_metadata m;
    tl_contract contract;
    tl_error err;
    const char *text = (const char *)data;
    tl_status st = tl_metadata_parse(&m, text, size, NULL, NULL, &err);
    uint32_t i;
    check_names(text, size);
    if (st != TL_OK) {
        TIMELAKE_ASSERT(st == TL_CORRUPT || st == TL_TRUNCATED || st == TL_UNSUPPORTED || st == TL_LIMIT);
        TIMELAKE_ASSERT(err.status == st && (err.position == TL_NO_POSITION || err.position <= size));
        return 0;
    }
    TIMELAKE_ASSERT(m.format_version >= 1 && m.format_version <= 3);
    TIMELAKE_ASSERT(m.location.size == 0 || m.location.data[m.location.size - 1] != '/');
    TIMELAKE_ASSERT(m.has_snapshot == (m.snapshot != NULL));
    for (i = 0; i < m.field_count; i++) {
        TIMELAKE_ASSERT(tl_metadata_field(&m, m.fields[i].name) != NULL);
        TIMELAKE_ASSERT(tl_metadata_field_by_id(&m, m.fields[i].id) != NULL);
    }
    TIMELAKE_ASSERT(tl_contract_read(&contract, &m.json, m.properties, &err) == TL_OK);
    TIMELAKE_ASSERT(contract.retention == m.contract.retention
                    && contract.version_check_interval == m.contract.version_check_interval);
    TIMELAKE_ASSERT(m.contract.previous_versions_max >= 1);
    for (i = 0; tl_contract_column(&m.contract, i).data != NULL; i++)
        TIMELAKE_ASSERT(i <= size);
    (void)tl_contract_may_read(&m.contract, &err);
    (void)tl_contract_may_write(&m.contract, &err);
    (void)tl_metadata_property(&m, tl_text("timelake.retention"));
    tl_metadata_free(&m);
    return 0;
}
