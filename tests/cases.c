/* The shared cases 12 to 15 (zero rows, buffer prefixes, framing, odd addresses) through the public head API. */
#include "tl_test.h"
#include "tl_heads.h"
#if defined(__unix__)
#include <sys/mman.h>
#endif

static const char *case_path(const char *folder, const char *name, const char *ending)
{
    static char path[512];
    snprintf(path, sizeof path, "tests/data/cases/%s/%s%s", folder, name, ending);
    return path;
}

/* Decodes and opens all. The bytes stay until free(*bytes). */
static tl_status load(const char *folder, const char *name, tl_head *head, char **bytes, tl_error *err)
{
    size_t size;
    tl_status st;
    memset(head, 0, sizeof *head);
    *bytes = tl_test_read(case_path(folder, name, ".tlhd"), &size);
    CHECK(*bytes != NULL);
    st = tl_head_decode(head, *bytes, size, NULL, err);
    if (st != TL_OK)
        return st;
    return tl_heads_open(head, err);
}

static void zero_rows(void)
{
    const char *folder = "12-arrow-zero-rows";
    tl_test_json json;
    const tl_json_node *key;
    tl_error err;
    int seen = 0;
    if (!tl_heads_json(case_path(folder, "expected", ".json"), &json))
        return;
    for (key = tl_json_first(json.tree.root); key != NULL; key = tl_json_next(json.tree.root, key), seen++) {
        const tl_json_node *want = key + 1, *lower = tl_heads_get(&json, want, "lower"),
                           *splits = tl_heads_get(&json, want, "split_offsets");
        char name[64], *bytes;
        tl_head head;
        tl_files files;
        tl_columns columns;
        tl_span metadata;
        tl_heads_string(&json, key, name, sizeof name);
        CHECK_STATUS(load(folder, name, &head, &bytes, &err), TL_OK, &err);
        tl_heads_same_u64(&json, want, "version", 1, head.version);
        CHECK_STATUS(tl_head_files(&head, &files, &err), TL_OK, &err);
        CHECK_STATUS(tl_head_columns(&head, TL_COLUMNS_ALL, &columns, &err), TL_OK, &err);
        CHECK_STATUS(tl_head_metadata(&head, &metadata, &err), TL_OK, &err);
        CHECK(metadata.size > 2 && metadata.data[0] == '{');
        if (lower == NULL && splits == NULL) {
            tl_heads_same_u64(&json, want, "files_rows", 1, files.count);
            tl_heads_same_u64(&json, want, "columns_rows", 1, columns.count);
        }
        if (splits != NULL) {
            uint32_t i;
            CHECK_INT(files.count, splits->count);
            for (i = 0; i < splits->count; i++) {
                tl_file f;
                tl_files_get(&files, i, &f);
                CHECK_INT(f.has_split_offsets, tl_json_present(tl_json_at(splits, i)));
                CHECK_INT(f.split_count, 0);
            }
        }
        if (lower != NULL) {
            uint32_t i;
            CHECK_INT(columns.count, lower->count);
            for (i = 0; i < lower->count; i++) {
                tl_column c;
                tl_columns_get(&columns, i, &c);
                CHECK_INT(c.lower.data != NULL, tl_json_present(tl_json_at(lower, i)));
                CHECK_INT(c.lower.size, 0);
                CHECK(c.upper.data == NULL);
            }
        }
        tl_head_free(&head);
        free(bytes);
    }
    CHECK_INT(seen, 10);
    tl_heads_json_free(&json);
}

/* Cases 13 and 14: the valid ones are all.json, the others errors. */
static void check_same_or_error(const char *folder, int count)
{
    tl_test_json json, all;
    const tl_json_node *key;
    tl_error err;
    int seen = 0;
    if (!tl_heads_json(case_path(folder, "expected", ".json"), &json)
        || !tl_heads_json(case_path(folder, "all", ".json"), &all))
        return;
    for (key = tl_json_first(json.tree.root); key != NULL; key = tl_json_next(json.tree.root, key), seen++) {
        char name[64], *bytes;
        tl_head head;
        tl_status st;
        int must_fail = tl_heads_get(&json, key + 1, "error") != NULL;
        tl_heads_string(&json, key, name, sizeof name);
        memset(&err, 0, sizeof err);
        st = load(folder, name, &head, &bytes, &err);
        if (tl_heads_get(&json, key + 1, "codec") != NULL) {
            CHECK_STATUS(st, TL_NO_CODEC, &err);
        } else if (must_fail) {
            if (st == TL_OK)
                fprintf(stderr, "%s is accepted\n", name);
            CHECK(st != TL_OK && err.status == st && err.text != NULL);
        } else {
            if (!CHECK_STATUS(st, TL_OK, &err))
                fprintf(stderr, "in %s\n", name);
            tl_heads_check_views(&all, all.tree.root, &head);
        }
        tl_head_free(&head);
        free(bytes);
    }
    CHECK_INT(seen, count);
    tl_heads_json_free(&json);
    tl_heads_json_free(&all);
}

static void buffer_prefix(void)
{
    check_same_or_error("13-arrow-buffer-prefix", 18);
}

static void framing(void)
{
    check_same_or_error("14-arrow-framing", 21);
}

/* Where each broken frame of case 14 is noticed. */
static void framing_positions(void)
{
    static const struct {
        const char *name;
        tl_status status;
        uint64_t position; /* TL_NO_POSITION: only that there is one */
    } want[] = {
        {"no-streams", TL_TRUNCATED, 19},        {"length-past-end", TL_TRUNCATED, TL_NO_POSITION},
        {"three-bytes-more", TL_TRUNCATED, 4819}, {"length-u64-max", TL_TRUNCATED, 4819},
        {"no-section-name", TL_CORRUPT, 4827},   {"first-message-is-batch", TL_CORRUPT, TL_NO_POSITION},
    };
    size_t i;
    for (i = 0; i < sizeof want / sizeof want[0]; i++) {
        char *bytes;
        tl_head head;
        tl_error err;
        CHECK_STATUS(load("14-arrow-framing", want[i].name, &head, &bytes, &err), want[i].status, &err);
        CHECK(err.position != TL_NO_POSITION);
        if (want[i].position != TL_NO_POSITION)
            CHECK_INT(err.position, want[i].position);
        tl_head_free(&head);
        free(bytes);
    }
}

/* The section of case 14 with a type changed to one that is not read here: it stays, names itself, says why it does not
   open, and is passed on by the arrow codec only. */
static void unknown_section(void)
{
    static const char view[] = {0, 1, 24, 16, 0, 0, 0}; /* of a field: nullable, Utf8View */
    size_t size, at = 4827;
    char *bytes = tl_test_read(case_path("14-arrow-framing", "unknown-section", ".tlhd"), &size);
    tl_head head, again;
    tl_error err;
    tl_section *section;
    tl_buffer out;
    memset(&out, 0, sizeof out);
    CHECK(bytes != NULL && size == 6363);
    while (memcmp(bytes + at, view, sizeof view) != 0 && at + sizeof view < size)
        at++;
    bytes[at + 2] = 25; /* ListView */
    CHECK_STATUS(tl_head_decode(&head, bytes, size, NULL, &err), TL_OK, &err);
    section = tl_document_section(&head.document, tl_text("zz_future"));
    CHECK(section != NULL);
    if (section != NULL) {
        CHECK_STATUS(tl_section_open(section, &err), TL_UNSUPPORTED, &err);
        CHECK(err.position > 4827 && err.position < size);
        CHECK_STATUS(tl_head_encode(&out, 9, tl_text("arrow"), &head.document, NULL, &err), TL_OK, &err);
        CHECK_STATUS(tl_head_decode(&again, out.data, out.size, NULL, &err), TL_OK, &err);
        CHECK(tl_document_section(&again.document, tl_text("zz_future")) != NULL);
        CHECK(out.size > 1536 && memcmp(out.data + out.size - 1536, bytes + size - 1536, 1536) == 0);
        CHECK_INT(tl_heads_read(&head), tl_heads_read(&again));
        tl_head_free(&again);
#ifndef TIMELAKE_NO_HEAD_JSON
        {
            size_t before = out.size;
            CHECK_STATUS(tl_head_encode(&out, 9, tl_text("json"), &head.document, NULL, &err), TL_UNSUPPORTED, &err);
            CHECK_INT(out.size, before);
        }
#endif
    }
    tl_buffer_free(&out);
    tl_head_free(&head);
    free(bytes);
}

static void section_without_columns(void)
{
    char *bytes;
    tl_head head;
    tl_error err;
    tl_section *section;
    CHECK_STATUS(load("14-arrow-framing", "section-without-columns", &head, &bytes, &err), TL_OK, &err);
    section = tl_document_section(&head.document, tl_text("zz_counts"));
    CHECK(section != NULL && section->rows == 5 && section->schema->n_children == 0);
    tl_head_free(&head);
    free(bytes);
}

/* Decodes, opens and compares a head that lies between two unreadable pages, flush with the second or the first. */
static void between_pages(const tl_test_json *json, const tl_json_node *want, const char *bytes, size_t size)
{
#if defined(__unix__) && defined(MAP_ANONYMOUS)
    size_t page = 65536, room = (size + page - 1) / page * page;
    char *all = (char *)mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int at_end;
    CHECK(all != (char *)MAP_FAILED);
    CHECK(mprotect(all + page, room, PROT_READ | PROT_WRITE) == 0);
    for (at_end = 0; at_end < 2; at_end++) {
        char *moved = all + page + (at_end ? room - size : 0);
        tl_head head;
        tl_error err;
        memcpy(moved, bytes, size);
        if (CHECK_STATUS(tl_head_decode(&head, moved, size, NULL, &err), TL_OK, &err)) {
            CHECK_STATUS(tl_heads_open(&head, &err), TL_OK, &err);
            tl_heads_check_views(json, want, &head);
        }
        tl_head_free(&head);
    }
    munmap(all, room + 2 * page);
#else
    (void)json;
    (void)want;
    (void)bytes;
    (void)size;
#endif
}

/* Every file from every address; the buffer ends where the head ends. */
static void unaligned(void)
{
    const char *folder = "15-arrow-unaligned";
    tl_test_json json;
    const tl_json_node *key;
    tl_error err;
    int seen = 0;
    if (!tl_heads_json(case_path(folder, "expected", ".json"), &json))
        return;
    for (key = tl_json_first(json.tree.root); key != NULL; key = tl_json_next(json.tree.root, key), seen++) {
        char name[64], *bytes;
        size_t size, move;
        tl_heads_string(&json, key, name, sizeof name);
        if (strcmp(name, "first_stream_at_byte") == 0)
            continue;
        bytes = tl_test_read(case_path(folder, name, ".tlhd"), &size);
        CHECK(bytes != NULL);
        for (move = 0; bytes != NULL && move < 8; move++) {
            char *moved = (char *)malloc(size + move);
            tl_head head;
            memcpy(moved + move, bytes, size);
            if (CHECK_STATUS(tl_head_decode(&head, moved + move, size, NULL, &err), TL_OK, &err)) {
                CHECK_STATUS(tl_heads_open(&head, &err), TL_OK, &err);
                tl_heads_check_views(&json, key + 1, &head);
            }
            tl_head_free(&head);
            free(moved);
        }
        between_pages(&json, key + 1, bytes, size);
        free(bytes);
    }
    CHECK_INT(seen, 4);
    tl_heads_json_free(&json);
}

static const tl_test_case cases[] = {
    TL_TEST(zero_rows),
    TL_TEST(buffer_prefix),
    TL_TEST(framing),
    TL_TEST(framing_positions),
    TL_TEST(unknown_section),
    TL_TEST(section_without_columns),
    TL_TEST(unaligned),
};
TL_TEST_MAIN(cases)
