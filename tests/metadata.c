/* Names, properties and metadata of tables: the cases 07 to 11, the lake that Timelake wrote, and what its crate
   says of durations and format versions. */
#include "tl_test.h"

#define CASES "tests/data/cases/"

typedef struct file {
    char *text;
    size_t size;
    tl_json json;
} file;

static int open_json(file *f, const char *folder, const char *name)
{
    char path[512];
    tl_error err;
    snprintf(path, sizeof path, "%s%s", folder, name);
    memset(f, 0, sizeof *f);
    f->text = tl_test_read(path, &f->size);
    CHECK(f->text != NULL);
    return f->text != NULL && CHECK_STATUS(tl_json_parse(&f->json, f->text, f->size, NULL, NULL, &err), TL_OK, &err);
}

static void close_json(file *f)
{
    tl_json_free(&f->json);
    free(f->text);
}

static void case_07_names(void)
{
    file f;
    const tl_json_node *all, *k;
    tl_span location = tl_text("lake/t");
    uint64_t newest = 0;
    if (!open_json(&f, CASES "07-list-order-and-strays/", "expected.json"))
        return;
    all = tl_json_member(&f.json, f.json.root, tl_text("versions"));
    for (k = tl_json_first(all); k != NULL; k = tl_json_next(all, k)) {
        tl_span name;
        char key[256];
        int64_t want = 0;
        uint64_t got;
        (void)tl_json_string(&f.json, k, &name, NULL);
        snprintf(key, sizeof key, "lake/t/metadata/%.*s", (int)name.size, name.data);
        if (tl_json_present(k + 1))
            (void)tl_json_int64(&f.json, k + 1, &want, NULL);
        got = tli_keys_parse(tl_text(key), location);
        CHECK_INT(got, want);
        newest = got > newest ? got : newest;
        if (want != 0) {
            char made[256];
            tl_span again = tli_keys_version(made, location, got);
            CHECK_TEXT(again.data, again.size, key);
        }
    }
    CHECK_INT(newest, 100);
    CHECK_INT(tli_keys_parse(tl_text("lake/u/metadata/v7.metadata.json"), location), 0);
    close_json(&f);
}

static void case_08_hints(void)
{
    file f;
    const tl_json_node *all, *k, *a;
    if (!open_json(&f, CASES "08-version-hint-bytes/", "expected.json"))
        return;
    all = tl_json_member(&f.json, f.json.root, tl_text("accept"));
    CHECK_INT(all->count, 29);
    for (k = tl_json_first(all); k != NULL; k = tl_json_next(all, k)) {
        char path[256];
        tl_span name;
        size_t size;
        char *hint;
        uint64_t got;
        int ok = 0;
        (void)tl_json_string(&f.json, k, &name, NULL);
        snprintf(path, sizeof path, CASES "08-version-hint-bytes/hints/%.*s.text", (int)name.size, name.data);
        hint = tl_test_read(path, &size);
        CHECK(hint != NULL);
        if (hint == NULL)
            continue;
        got = tli_keys_hint(hint, size);
        for (a = tl_json_first(k + 1); a != NULL; a = tl_json_next(k + 1, a)) {
            int64_t want = 0;
            if (tl_json_present(a))
                (void)tl_json_int64(&f.json, a, &want, NULL);
            ok |= (uint64_t)want == got;
        }
        CHECK(ok);
        if (!ok)
            fprintf(stderr, "  %s gave %llu\n", path, (unsigned long long)got);
        free(hint);
    }
    close_json(&f);
}

/* Parses one metadata file of a case. */
static tl_status parse_case(file *f, tl_metadata *m, const char *folder, const char *name, tl_error *err)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", folder, name);
    f->text = tl_test_read(path, &f->size);
    CHECK(f->text != NULL);
    return f->text == NULL ? TL_MISUSE : tl_metadata_parse(m, f->text, f->size, NULL, NULL, err);
}

static void case_09_integers(void)
{
    static const char *const refused[] = {"exponent", "fraction", "over", "string", "leading-zero", "bool"};
    file f;
    tl_metadata m;
    tl_error err;
    size_t i;
    if (CHECK_STATUS(parse_case(&f, &m, CASES "09-metadata-int64/", "big.json", &err), TL_OK, &err)) {
        CHECK(m.current_snapshot_id == INT64_MAX);
        CHECK(m.last_sequence_number == 9007199254740995);
        CHECK_TEXT(m.manifest_list.data, m.manifest_list.size, "s3://bucket/lake/t/metadata/c.avro");
        tl_metadata_free(&m);
    }
    free(f.text);
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.json", refused[i]);
        CHECK_STATUS(parse_case(&f, &m, CASES "09-metadata-int64/", name, &err), TL_CORRUPT, &err);
        CHECK(err.position > 0 && err.position < f.size);
        free(f.text);
    }
}

static void case_10_snapshots(void)
{
    static const char folder[] = CASES "10-metadata-without-snapshot/";
    file want;
    const tl_json_node *k;
    if (!open_json(&want, folder, "expected.json"))
        return;
    for (k = tl_json_first(want.json.root); k != NULL; k = tl_json_next(want.json.root, k)) {
        tl_span name, id = {NULL, 0};
        char path[64];
        file f;
        tl_metadata m;
        tl_error err;
        tl_status st;
        const tl_json_node *current = tl_json_member(&want.json, k + 1, tl_text("current_snapshot"));
        (void)tl_json_string(&want.json, k, &name, NULL);
        if (tl_span_equal(name, tl_text("after_append_to_minus-one"))) /* the commit's test */
            continue;
        snprintf(path, sizeof path, "%.*s.json", (int)name.size, name.data);
        st = parse_case(&f, &m, folder, path, &err);
        if (tl_json_member(&want.json, k + 1, tl_text("error")) != NULL) {
            CHECK_STATUS(st, TL_CORRUPT, &err);
        } else if (CHECK_STATUS(st, TL_OK, &err)) {
            if (tl_json_present(current))
                (void)tl_json_string(&want.json, current, &id, NULL);
            if (tl_span_equal(name, tl_text("main-only")))
                id = tl_text("9223372036854775807");
            CHECK_INT(m.has_snapshot, id.data != NULL);
            CHECK(id.data == NULL || m.current_snapshot_id == INT64_MAX);
        }
        if (st == TL_OK)
            tl_metadata_free(&m);
        free(f.text);
    }
    close_json(&want);
}

static void case_11_optional(void)
{
    static const char folder[] = CASES "11-metadata-optional-and-unknown/";
    static const struct { const char *name; tl_status status; int32_t format; } rows[] = {
        {"v1.json", TL_OK, 1}, {"no-operation.json", TL_OK, 2}, {"unknown-operation.json", TL_OK, 2},
        {"carry.json", TL_OK, 2}, {"v3.json", TL_OK, 3}, {"v9.json", TL_UNSUPPORTED, 9}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        file f;
        tl_metadata m;
        tl_error err;
        if (CHECK_STATUS(parse_case(&f, &m, folder, rows[i].name, &err), rows[i].status, &err)
            && rows[i].status == TL_OK) {
            CHECK_INT(m.format_version, rows[i].format);
            if (i == 0) {
                CHECK_INT(m.field_count, 2);
                CHECK_TEXT(m.fields[0].name.data, m.fields[0].name.size, "time");
                CHECK_TEXT(m.fields[1].name.data, m.fields[1].name.size, "device");
                CHECK_TEXT(m.partition_name.data, m.partition_name.size, "time_day");
                CHECK_INT(m.transform, TL_TRANSFORM_DAY);
                CHECK_INT(m.current_snapshot_id, 11);
                CHECK_INT(m.last_sequence_number, 0);
                CHECK(m.manifest_list.data == NULL);
            }
            tl_metadata_free(&m);
        }
        free(f.text);
    }
}

/* Columns by name and by id, properties as they are written. */
static void check_fields(const tl_metadata *m, const char *table)
{
    uint32_t i;
    tl_span format = tl_metadata_property(m, tl_text("timelake.format-version"));
    for (i = 0; i < m->field_count; i++) {
        CHECK(tl_metadata_field(m, m->fields[i].name) == &m->fields[i]);
        CHECK(tl_metadata_field_by_id(m, m->fields[i].id) == &m->fields[i]);
    }
    CHECK(tl_metadata_field(m, tl_text("no such column")) == NULL && tl_metadata_field_by_id(m, 999) == NULL);
    CHECK_TEXT(format.data, format.size, "0.3.0");
    CHECK(tl_metadata_property(m, tl_text("timelake.no-such")).data == NULL);
    if (strcmp(table, "iot.trucks") == 0) {
        const tl_field *f = tl_metadata_field(m, tl_text("time"));
        CHECK(f != NULL && f->type == TL_ICEBERG_TIMESTAMPTZ && f->id == m->partition_source_id);
    }
}

/* Every table that Timelake wrote: version, snapshot and index as its own process knew them. */
static void the_lake(void)
{
    static const char *const tables[] = {
        "iot.trucks", "iot.trucks_json", "iot.trucks_none", "iot.hourly", "iot.monthly", "iot.created", "iot.types",
        "iot.budget_0", "iot.budget_3000", "iot.budget_9000", "iot.many", "iot.compacted", "iot.stale",
        "iot.unknown_codec", "iot.props", "dim.devices"};
    size_t i;
    for (i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char name[128], folder[256], path[256];
        const char *dot = strchr(tables[i], '.');
        file want, f;
        tl_metadata m;
        tl_error err;
        int64_t version = 0, snapshot = 0;
        const tl_json_node *index, *current;
        snprintf(name, sizeof name, "%s.json", tables[i]);
        if (!open_json(&want, "tests/data/expected/", name))
            continue;
        (void)tl_json_int64(&want.json, tl_json_member(&want.json, want.json.root, tl_text("version")), &version, NULL);
        snprintf(folder, sizeof folder, "tests/data/warehouse/wh/%.*s/%s/metadata/", (int)(dot - tables[i]),
                 tables[i], dot + 1);
        snprintf(path, sizeof path, "v%lld.metadata.json", (long long)version);
        if (CHECK_STATUS(parse_case(&f, &m, folder, path, &err), TL_OK, &err)) {
            current = tl_json_member(&want.json, want.json.root, tl_text("current_snapshot_id"));
            index = tl_json_member(&want.json, want.json.root, tl_text("last_value_index"));
            CHECK_INT(m.has_snapshot, tl_json_present(current));
            if (tl_json_present(current) && tl_json_int64(&want.json, current, &snapshot, NULL) == TL_OK)
                CHECK_INT(m.current_snapshot_id, snapshot);
            CHECK_INT(m.last_value_index.data != NULL, tl_json_present(index));
            if (tl_json_present(index)) {
                tl_span location = {NULL, 0};
                (void)tl_json_string(&want.json, index, &location, NULL);
                CHECK(tl_span_equal(location, m.last_value_index));
            }
            check_fields(&m, tables[i]);
            if (version > 1)
                CHECK_INT(tli_keys_parse(m.previous, m.location), version - 1);
            CHECK_STATUS(tl_contract_may_write(&m.contract, &err), TL_OK, &err);
            tl_metadata_free(&m);
        }
        free(f.text);
        close_json(&want);
    }
}

/* The contract of one property and value. */
static tl_status one_property(tl_contract *c, const char *key, const char *value)
{
    static char text[512];
    static tl_json json;
    tl_status st;
    tl_error err;
    snprintf(text, sizeof text, "{\"%s\":\"%s\"}", key, value);
    tl_json_free(&json);
    st = tl_json_parse(&json, text, strlen(text), NULL, NULL, &err);
    CHECK_STATUS(st, TL_OK, &err);
    st = tl_contract_read(c, &json, json.root, &err);
    if (st != TL_OK)
        CHECK_TEXT(err.text, strlen(err.text), key);
    return st;
}

/* From the tests of the crate timelake-format 0.7 (contract.rs, version.rs). */
static void properties(void)
{
    static const struct { const char *text; int64_t seconds; } durations[] = {
        {"90d", 90 * 86400}, {"12h", 43200}, {"30m", 1800}, {"45s", 45}, {"2w", 1209600}, {"1y", 31536000},
        {"1 day", 86400}, {"3 hours", 10800}, {"0s", 0}, {"1 Min", 60}, {"5 SECS", 5}};
    static const char *const bad[] = {"forever", "d", "1x", "-1d", "1.5h", "1 d d", "99999999999999999999s",
                                      "9223372036854775807y"};
    static const struct { const char *text; uint32_t major, minor, patch; } versions[] = {
        {"0.2.0", 0, 2, 0}, {" 1.12.3 ", 1, 12, 3}, {"2", 0, 2, 0}, {"1", 0, 1, 0}};
    static const char *const bad_versions[] = {"1.2", "1.2.3.4", "v1.2.3", "1.-2.3", "1..2"};
    tl_contract c;
    tl_error err;
    size_t i;
    for (i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        CHECK_INT(one_property(&c, "timelake.retention", durations[i].text), TL_OK);
        CHECK_INT(c.retention, durations[i].seconds * 1000);
    }
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(one_property(&c, "timelake.retention", bad[i]), TL_CORRUPT);
    for (i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        CHECK_INT(one_property(&c, "timelake.format-version", versions[i].text), TL_OK);
        CHECK(c.format_major == versions[i].major && c.format_minor == versions[i].minor
              && c.format_patch == versions[i].patch);
        CHECK_INT(tl_contract_may_read(&c, &err), versions[i].major == 0 ? TL_OK : TL_UNSUPPORTED);
    }
    for (i = 0; i < sizeof bad_versions / sizeof bad_versions[0]; i++)
        CHECK_INT(one_property(&c, "timelake.format-version", bad_versions[i]), TL_CORRUPT);
    CHECK_INT(one_property(&c, "timelake.format-version", "0.4.0"), TL_OK);
    CHECK_INT(tl_contract_may_read(&c, &err), TL_UNSUPPORTED);
    CHECK_INT(one_property(&c, "timelake.retention", "  "), TL_OK);
    CHECK(c.retention == TL_FOREVER);
    CHECK_INT(one_property(&c, "timelake.compact-cold-after", "OFF"), TL_OK);
    CHECK(c.compact_cold_after == TL_FOREVER);
    CHECK_INT(one_property(&c, "timelake.dedup", "True"), TL_OK);
    CHECK(c.dedup && c.read_dedup);
    CHECK_INT(one_property(&c, "timelake.dedup", "yes"), TL_CORRUPT);
    CHECK_INT(one_property(&c, "timelake.chunk-interval", "24H"), TL_OK);
    CHECK_INT(c.chunk, TL_CHUNK_DAY);
    CHECK_INT(one_property(&c, "timelake.series-key", " a, ,b ,"), TL_OK);
    CHECK_TEXT(tl_contract_column(&c, 1).data, tl_contract_column(&c, 1).size, "b");
    CHECK(tl_contract_column(&c, 2).data == NULL);
    CHECK_INT(one_property(&c, "timelake.no-such", "1"), TL_OK);
}

static void every_allocation_failed_in_turn(void)
{
    size_t size;
    char *text = tl_test_read("tests/data/warehouse/wh/iot/many/metadata/v41.metadata.json", &size);
    long at;
    CHECK(text != NULL);
    for (at = 1; at < 6 && text != NULL; at++) {
        tl_test_memory memory = {0, 0, 0, 0, 0, 0};
        tl_allocator a = tl_test_allocator(&memory);
        tl_metadata m;
        tl_error err;
        tl_status st;
        memory.fail_at = at;
        st = tl_metadata_parse(&m, text, size, NULL, &a, &err);
        CHECK(st == TL_OK || st == TL_NO_MEMORY);
        if (st == TL_OK)
            tl_metadata_free(&m);
        CHECK_INT(memory.live, 0);
    }
    free(text);
}

static const tl_test_case cases[] = {
    TL_TEST(case_07_names),
    TL_TEST(case_08_hints),
    TL_TEST(case_09_integers),
    TL_TEST(case_10_snapshots),
    TL_TEST(case_11_optional),
    TL_TEST(the_lake),
    TL_TEST(properties),
    TL_TEST(every_allocation_failed_in_turn),
};
TL_TEST_MAIN(cases)
