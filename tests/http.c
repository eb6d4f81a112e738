/* HTTP messages: recorded answers of fifteen servers against what another parser read in them, the shared cases 03 to
   06, published signatures, requests of every kind, and what is refused. */
#include "tl_test.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../adapters/timelake_http.h"

#define NOW INT64_C(1795988322000) /* 2026-11-29T22:... */

static tl_span piece(const char *data, size_t size)
{
    tl_span s;
    s.data = data;
    s.size = size;
    return s;
}

static tl_request ask(tl_request_kind kind, const char *key)
{
    tl_request r;
    memset(&r, 0, sizeof r);
    r.token = 1;
    r.kind = kind;
    r.key = tl_text(key);
    r.length = TL_WHOLE;
    r.accept = 1 << 20;
    return r;
}

static const char *header(const tl_http_call *call, const char *name)
{
    size_t i;
    for (i = 0; i < call->header_count; i++)
        if (strcmp(call->headers[i].name, name) == 0)
            return call->headers[i].value;
    return NULL;
}

#define CHECK_IS(got, want) CHECK_TEXT((got) != NULL ? (got) : "(null)", strlen((got) != NULL ? (got) : "(null)"), want)

/* ---- sums ---- */

static void hashes(void)
{
    static const char million[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"; /* FIPS 180-4 */
    uint8_t hash[32], key[131];
    char hex[65], text[48], a[1000];
    tl_http_sha sha;
    int i;
    memset(a, 'a', sizeof a);
    tl_http_sha_begin(&sha);
    for (i = 0; i < 1000; i++)
        tl_http_sha_add(&sha, a, sizeof a);
    tl_http_sha_end(&sha, hash);
    tl_http_to_hex(hash, 32, hex);
    CHECK_IS(hex, million);
    tl_http_sha_begin(&sha);
    for (i = 0; i < 3; i++)
        tl_http_sha_add(&sha, &"abc"[i], 1);
    tl_http_sha_end(&sha, hash);
    tl_http_to_hex(hash, 32, hex);
    CHECK_IS(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    memset(key, 0xaa, sizeof key); /* RFC 4231, 2 and 6 */
    tl_http_hmac("Jefe", 4, "what do ya want for nothing?", 28, hash);
    tl_http_to_hex(hash, 32, hex);
    CHECK_IS(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    tl_http_hmac(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54, hash);
    tl_http_to_hex(hash, 32, hex);
    CHECK_IS(hex, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    for (i = 0; i < 32; i++)
        hash[i] = (uint8_t)i;
    tl_http_to_base64(hash, text);
    CHECK_IS(text, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    CHECK_INT(tl_http_from_base64(text, key, sizeof key), 32);
    CHECK(memcmp(key, hash, 32) == 0);
    CHECK(tl_http_from_base64("AA*A", key, sizeof key) == (size_t)-1);
    CHECK(tl_http_from_base64("AAAA", key, 2) == (size_t)-1);
}

static void dates(void)
{
    static const struct {
        int64_t ms;
        const char *http, *amz;
    } table[] = {{0, "Thu, 01 Jan 1970 00:00:00 GMT", "19700101T000000Z"},
                 {INT64_C(784111777000), "Sun, 06 Nov 1994 08:49:37 GMT", "19941106T084937Z"}, /* RFC 9110 */
                 {INT64_C(951782400000), "Tue, 29 Feb 2000 00:00:00 GMT", "20000229T000000Z"},
                 {INT64_C(1369353600000), "Fri, 24 May 2013 00:00:00 GMT", "20130524T000000Z"},
                 {INT64_C(4102444799000), "Thu, 31 Dec 2099 23:59:59 GMT", "20991231T235959Z"},
                 {INT64_C(4107542400000), "Mon, 01 Mar 2100 00:00:00 GMT", "21000301T000000Z"}};
    static const char *const bad[] = {"", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
                                      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 19x4 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT"};
    char text[32];
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tl_http_date(table[i].ms + 999, text);
        CHECK_IS(text, table[i].http);
        tl_http_amz_date(table[i].ms, text);
        CHECK_IS(text, table[i].amz);
        CHECK_INT(tl_http_parse_date(tl_text(table[i].http)), table[i].ms);
    }
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(tl_http_parse_date(tl_text(bad[i])) == INT64_MIN);
}

/* ---- recorded answers ---- */

/* The columns of a line of expected.tsv. */
enum { FILE_, DIALECT, KIND, CONDITION, ETAG_, OFFSET, LENGTH, KEY, OUTCOME, STATUS, GOT_ETAG, RANGE, BODY, CODE,
       ENTRIES, MORE, COLUMNS };

static uint64_t number(tl_span s)
{
    uint64_t n = 0;
    (void)tl_http_number(s, &n);
    return n;
}

/* Undoes `Transfer-Encoding: chunked`, as a transport does; in place. */
static size_t unchunk(char *data, size_t size)
{
    size_t at = 0, n = 0;
    while (at < size) {
        char *end;
        size_t chunk = (size_t)strtoul(data + at, &end, 16);
        at = (size_t)(end - data);
        while (at < size && data[at++] != '\n')
            continue;
        if (chunk == 0 || chunk > size - at)
            break;
        memmove(data + n, data + at, chunk);
        n += chunk;
        at += chunk + 2;
    }
    return n;
}

static tl_request_kind kind_of(tl_span name)
{
    static const tl_request_kind kinds[] = {TL_GET, TL_STAT, TL_LIST, TL_PUT, TL_DELETE};
    size_t i;
    for (i = 0; i < 4 && !tl_http_is(name, tl_request_text(kinds[i])); i++)
        continue;
    return kinds[i];
}

static tl_http_dialect dialect_of(tl_span name)
{
    return tl_http_is(name, "s3")      ? TL_HTTP_S3
           : tl_http_is(name, "azure") ? TL_HTTP_AZURE
           : tl_http_is(name, "gcs")   ? TL_HTTP_GCS
                                       : TL_HTTP_PLAIN;
}

static void say_number(tl_http_text *t, uint64_t n)
{
    char text[24];
    tl_http_add(t, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)n));
}

/* Keys and sizes of a listing, as `key:size key:size` with the names encoded. */
static void check_entries(const tl_completion *c, const tl_http_answer *a, tl_span lead, const tl_span *want)
{
    tl_http_text t;
    size_t i;
    memset(&t, 0, sizeof t);
    tl_http_say(&t, "");
    for (i = 0; i < c->entry_count; i++) {
        tl_http_say(&t, i != 0 ? " " : "");
        CHECK(memcmp(c->entries[i].key.data, lead.data, lead.size) == 0);
        tl_http_encode(&t, piece(c->entries[i].key.data + lead.size, c->entries[i].key.size - lead.size), 0);
        tl_http_say(&t, ":");
        say_number(&t, c->entries[i].size);
    }
    CHECK_BYTES(t.data, t.size, want[ENTRIES].data, want[ENTRIES].size);
    CHECK_BYTES(c->next_page.data, c->next_page.size, want[MORE].data, want[MORE].size);
    CHECK(a->entries == c->entries || c->entry_count == 0);
    free(t.data);
}

static void check_answer(const tl_span *want, char *data, size_t size)
{
    tl_http_store store;
    tl_http_response r;
    tl_http_answer a;
    tl_request q = ask(kind_of(want[KIND]), "");
    long failures = tl_test_failures;
    size_t head;
    tl_http_init(&store, dialect_of(want[DIALECT]));
    q.key = want[KEY];
    q.etag = want[ETAG_];
    q.condition = tl_http_is(want[CONDITION], "absent")       ? TL_IF_ABSENT
                  : tl_http_is(want[CONDITION], "match")      ? TL_IF_MATCH
                  : tl_http_is(want[CONDITION], "none-match") ? TL_IF_NONE_MATCH
                                                              : TL_ALWAYS;
    q.offset = number(want[OFFSET]);
    q.length = want[LENGTH].size != 0 ? number(want[LENGTH]) : TL_WHOLE;
    memset(&r, 0, sizeof r);
    for (head = 4; head <= size && memcmp(data + head - 4, "\r\n\r\n", 4) != 0; head++)
        continue;
    r.head = piece(data, head);
    r.body = piece(data + head, size - head);
    if (tl_http_same(tl_http_header_value(r.head, "transfer-encoding"), "chunked"))
        r.body.size = unchunk(data + head, size - head);
    if (tl_http_is(want[BODY], "0"))
        r.body.size = 0;
    CHECK_INT(r.body.size, number(want[BODY]));
    r.status = (int)number(want[STATUS]);
    r.now = NOW;
    tl_http_read(&store, &q, &r, &a);
    CHECK_TEXT(want[OUTCOME].data, want[OUTCOME].size, tl_outcome_text(a.completion.outcome));
    if (a.completion.outcome == TL_OUTCOME_OK && r.status != 416 && q.kind != TL_DELETE)
        CHECK_BYTES(a.completion.etag.data, a.completion.etag.size, want[GOT_ETAG].data, want[GOT_ETAG].size);
    if (want[CODE].size != 0) /* of Azure it may also be in a header */
        CHECK_TEXT(want[CODE].data, want[CODE].size, a.code);
    if (q.kind == TL_LIST && a.completion.outcome == TL_OUTCOME_OK) {
        check_entries(&a.completion, &a, piece(q.key.data, strlen("s3://lake/")), want);
    }
    if (q.kind == TL_GET && a.completion.outcome == TL_OUTCOME_OK && r.status != 416)
        CHECK_INT(a.completion.body.size, number(want[BODY]));
    if (q.kind == TL_GET && r.status == 416)
        CHECK_INT(a.completion.body.size, 0);
    if (tl_test_failures != failures)
        fprintf(stderr, "  in %.*s: %s\n", (int)want[FILE_].size, want[FILE_].data, a.text);
    tl_http_answer_free(&a);
}

static void recorded(void)
{
    size_t size, wanted, i, count = 0;
    char *answers = tl_test_read("tests/data/http/answers", &size), *at = answers;
    char *expected = tl_test_read("tests/data/http/expected.tsv", &wanted), *line = expected;
    CHECK(answers != NULL && expected != NULL);
    while (answers != NULL && expected != NULL && line < expected + wanted) {
        tl_span columns[COLUMNS];
        char name[128], *end = strchr(line, '\n');
        unsigned long bytes = 0;
        for (i = 0; i < COLUMNS && end != NULL; i++) {
            size_t n = strcspn(line, "\t\n");
            columns[i] = piece(line, n);
            line += n + 1;
        }
        if (!CHECK_INT(i, COLUMNS) || !CHECK_INT(sscanf(at, "@ %127s %lu", name, &bytes), 2))
            break;
        at = strchr(at, '\n') + 1;
        CHECK_TEXT(columns[FILE_].data, columns[FILE_].size, name);
        check_answer(columns, at, bytes);
        at += bytes + 1;
        count++;
    }
    CHECK(count > 200);
    free(answers);
    free(expected);
}

/* ---- the shared cases ---- */

typedef struct document {
    char *text;
    tl_json json;
} document;

static document open_document(const char *path)
{
    document d;
    size_t size;
    memset(&d, 0, sizeof d);
    d.text = tl_test_read(path, &size);
    CHECK(d.text != NULL && tl_json_parse(&d.json, d.text, size, NULL, NULL, NULL) == TL_OK);
    return d;
}

static void close_document(document *d)
{
    tl_json_free(&d->json);
    free(d->text);
}

static const tl_json_node *member(const document *d, const tl_json_node *node, const char *key)
{
    return node != NULL ? tl_json_member(&d->json, node, tl_text(key)) : NULL;
}

static tl_span text_of(const document *d, const tl_json_node *node)
{
    tl_span s = piece("", 0);
    if (node != NULL)
        (void)tl_json_string(&d->json, node, &s, NULL);
    return s;
}

static const char *const lead_of[] = {"", "s3://lake/", "az://lake/", "gs://lake/", "https://lake/"};

/* A row's headers as lines; an object of names, or an array of pairs. */
static tl_http_text lines_of(const document *d, const tl_json_node *headers)
{
    const tl_json_node *n = headers != NULL ? tl_json_first(headers) : NULL;
    tl_http_text t;
    memset(&t, 0, sizeof t);
    tl_http_say(&t, "HTTP/1.1 000\r\n");
    for (; n != NULL; n = tl_json_next(headers, n)) {
        const tl_json_node *name = headers->kind == TL_JSON_ARRAY ? tl_json_first(n) : n, *value;
        value = headers->kind == TL_JSON_ARRAY ? tl_json_next(n, name) : NULL;
        tl_http_add(&t, text_of(d, name).data, text_of(d, name).size);
        tl_http_say(&t, ":");
        if (value == NULL)
            value = tl_json_member(&d->json, headers, text_of(d, name));
        tl_http_add(&t, text_of(d, value).data, text_of(d, value).size);
        tl_http_say(&t, "\r\n");
    }
    return t;
}

static const char *class_of(const tl_http_answer *a, int replace)
{
    switch (a->completion.outcome) {
    case TL_OUTCOME_OK:
        return replace ? "written" : "done";
    case TL_OUTCOME_PRECONDITION:
        return replace ? "changed" : "taken";
    case TL_OUTCOME_UNSUPPORTED:
        return replace ? "no-conditions" : "unsupported";
    case TL_OUTCOME_UNKNOWN:
        return "unknown";
    case TL_OUTCOME_FAILED:
        return a->completion.retry_ms >= 0 ? "try-again" : "failed";
    default:
        return "none";
    }
}

static void check_rows(const document *rows, const tl_json_node *list, const document *expected,
                       const tl_json_node *classes, int replace)
{
    const tl_json_node *row;
    for (row = tl_json_first(list); row != NULL; row = tl_json_next(list, row)) {
        tl_span id = text_of(rows, member(rows, row, "id")), want = text_of(expected, tl_json_member(&expected->json,
                                                                                                   classes, id));
        tl_http_text head = lines_of(rows, member(rows, row, "headers"));
        tl_http_store store;
        tl_http_response r;
        tl_http_answer a;
        tl_request q = ask(TL_PUT, "");
        char key[64];
        int64_t value = 0;
        const char *got;
        tl_http_init(&store, dialect_of(text_of(rows, member(rows, row, "store"))));
        snprintf(key, sizeof key, "%sx", lead_of[store.dialect]);
        q.key = tl_text(key);
        q.condition = replace ? TL_IF_MATCH : TL_IF_ABSENT;
        q.etag = tl_text("\"e\"");
        memset(&r, 0, sizeof r);
        (void)tl_json_int64(&rows->json, member(rows, row, "status"), &value, NULL);
        r.status = (int)value;
        value = 0;
        if (member(rows, row, "earlier_attempts_of_this_put") != NULL)
            (void)tl_json_int64(&rows->json, member(rows, row, "earlier_attempts_of_this_put"), &value, NULL);
        r.retried = value != 0;
        r.head = piece(head.data, head.size);
        r.body = text_of(rows, member(rows, row, "body"));
        r.now = NOW;
        tl_http_read(&store, &q, &r, &a);
        got = class_of(&a, replace);
        if (tl_http_is(want, "verify"))
            want = tl_text("unknown");
        if (tl_http_is(want, "redirect-or-failed"))
            want = tl_text("failed");
        if (!tl_test_text(got, strlen(got), want.data, want.size, "class", __FILE__, __LINE__))
            fprintf(stderr, "  in %.*s\n", (int)id.size, id.data);
        tl_http_answer_free(&a);
        free(head.data);
    }
}

static void case_03_create(void)
{
    document rows = open_document("tests/data/cases/03-create-answer-table/rows.json");
    document expected = open_document("tests/data/cases/03-create-answer-table/expected.json");
    check_rows(&rows, rows.json.root, &expected, member(&expected, expected.json.root, "rows"), 0);
    close_document(&rows);
    close_document(&expected);
}

/* The version that an earlier read told, sent back. */
static void check_tokens(const document *rows, const document *expected)
{
    const tl_json_node *list = member(rows, rows->json.root, "tokens_from_the_earlier_read"), *row;
    const tl_json_node *sent = member(expected, expected->json.root, "conditional_header_to_send");
    for (row = tl_json_first(list); row != NULL; row = tl_json_next(list, row)) {
        tl_span id = text_of(rows, member(rows, row, "id"));
        const tl_json_node *want = tl_json_member(&expected->json, sent, id);
        tl_http_text head = lines_of(rows, member(rows, row, "answer_headers"));
        tl_http_dialect dialect = dialect_of(text_of(rows, member(rows, row, "store")));
        tl_http_store store;
        tl_http_response r;
        tl_http_answer a;
        tl_http_call call;
        tl_request q;
        char key[64];
        tl_http_init(&store, dialect == TL_HTTP_PLAIN ? TL_HTTP_S3 : dialect);
        store.account = "acc";
        snprintf(key, sizeof key, "%sx", lead_of[store.dialect]);
        memset(&r, 0, sizeof r);
        q = ask(TL_STAT, key);
        r.status = 200;
        r.head = piece(head.data, head.size);
        tl_http_read(&store, &q, &r, &a);
        CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
        q = ask(TL_PUT, key);
        q.condition = TL_IF_MATCH;
        q.etag = a.completion.etag;
        if (want->kind != TL_JSON_ARRAY) { /* and never an unconditional put instead */
            CHECK_INT(tl_http_make(&store, &q, NOW, &call), TL_OUTCOME_FAILED);
        } else {
            const tl_json_node *name = tl_json_first(want);
            char lower[64];
            size_t i;
            snprintf(lower, sizeof lower, "%.*s", (int)text_of(expected, name).size, text_of(expected, name).data);
            for (i = 0; lower[i] != 0; i++)
                lower[i] = tl_http_lower(lower[i]);
            CHECK_INT(tl_http_make(&store, &q, NOW, &call), TL_OUTCOME_OK);
            CHECK(header(&call, lower) != NULL && tl_span_equal(tl_text(header(&call, lower)),
                                                                text_of(expected, tl_json_next(want, name))));
        }
        tl_http_call_free(&call);
        tl_http_answer_free(&a);
        free(head.data);
    }
}

static void case_04_replace(void)
{
    document rows = open_document("tests/data/cases/04-replace-by-etag/rows.json");
    document expected = open_document("tests/data/cases/04-replace-by-etag/expected.json");
    check_rows(&rows, member(&rows, rows.json.root, "answers_to_the_conditional_replace"), &expected,
               member(&expected, expected.json.root, "answers"), 1);
    check_tokens(&rows, &expected);
    close_document(&rows);
    close_document(&expected);
}

/* A listing of `s3://bucket/` with prefix "" from a file. */
static char *list_file(const char *folder, const char *name, tl_http_answer *a)
{
    tl_http_store store;
    tl_http_response r;
    tl_request q = ask(TL_LIST, "s3://b/");
    char path[160];
    size_t size;
    char *text;
    snprintf(path, sizeof path, "tests/data/cases/%s/%s.xml", folder, name);
    text = tl_test_read(path, &size);
    CHECK(text != NULL);
    tl_http_init(&store, TL_HTTP_S3);
    memset(&r, 0, sizeof r);
    r.status = 200;
    r.body = piece(text, size);
    tl_http_read(&store, &q, &r, a);
    return text;
}

static void case_05_text(void)
{
    static const char *const names[] = {"entities", "numeric", "urltype", "pretty", "literal", "literal_url",
                                        "bare_ampersand", "unknown_entity", "doctype"};
    document d = open_document("tests/data/cases/05-list-xml-text/expected.json");
    size_t i, k;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        tl_http_answer a;
        char *text = list_file("05-list-xml-text", names[i], &a);
        const tl_json_node *want = member(&d, d.json.root, names[i]), *keys = member(&d, want, "keys"), *n;
        if (keys == NULL) {
            CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
            CHECK_INT(a.completion.entry_count, 0);
        } else {
            CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
            for (k = 0, n = tl_json_first(keys); n != NULL; n = tl_json_next(keys, n), k++) {
                tl_span key = text_of(&d, n);
                CHECK(k < a.completion.entry_count);
                if (k < a.completion.entry_count)
                    CHECK_BYTES(a.completion.entries[k].key.data + 7, a.completion.entries[k].key.size - 7, key.data,
                                key.size);
            }
            CHECK_INT(a.completion.entry_count, k);
        }
        if (i == 0 && a.completion.entry_count != 0) {
            tl_span etag = text_of(&d, member(&d, member(&d, d.json.root, "first_etag"), "entities"));
            CHECK(tl_span_equal(a.completion.entries[0].etag, etag));
        }
        tl_http_answer_free(&a);
        free(text);
    }
    close_document(&d);
}

static void case_06_pages(void)
{
    static const char *const good[] = {"page1", "page2", "page3"}, *const bad[] = {"truncated-no-token", "cut-body",
                                                                                   "error-200"};
    document d = open_document("tests/data/cases/06-list-pages/expected.json");
    const tl_json_node *tokens = member(&d, d.json.root, "token_in_query");
    tl_http_store store;
    uint64_t newest = 0;
    size_t i, k;
    tl_http_init(&store, TL_HTTP_S3);
    for (i = 0; i < 3; i++) {
        tl_http_answer a;
        char *text = list_file("06-list-pages", good[i], &a);
        CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
        CHECK((a.completion.next_page.data != NULL) == (i < 2));
        for (k = 0; k < a.completion.entry_count; k++) {
            uint64_t version = strtoull(a.completion.entries[k].key.data + 7 + strlen("lake/t/metadata/v"), NULL, 10);
            newest = version > newest ? version : newest;
        }
        if (i < 2) {
            tl_request q = ask(TL_LIST, "s3://b/");
            tl_span want = text_of(&d, member(&d, tokens, good[i + 1]));
            tl_http_call call;
            char wanted[256];
            q.page = a.completion.next_page;
            snprintf(wanted, sizeof wanted, "?%.*s&", (int)want.size, want.data);
            CHECK_INT(tl_http_make(&store, &q, NOW, &call), TL_OUTCOME_OK);
            CHECK(call.url != NULL && strstr(call.url, wanted) != NULL);
            tl_http_call_free(&call);
        }
        tl_http_answer_free(&a);
        free(text);
    }
    CHECK_INT(newest, 1003);
    for (i = 0; i < 3; i++) {
        tl_http_answer a;
        char *text = list_file("06-list-pages", bad[i], &a);
        CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
        CHECK_INT(a.completion.entry_count, 0);
        tl_http_answer_free(&a);
        free(text);
    }
    close_document(&d);
}

/* ---- requests ---- */

/* The examples of AWS's "Authenticating Requests (AWS Signature Version 4)" for S3. */
static void published_signatures(void)
{
    tl_http_store store;
    tl_http_call call;
    tl_request q = ask(TL_GET, "s3://examplebucket/test.txt");
    const int64_t now = INT64_C(1369353600000);
    tl_http_init(&store, TL_HTTP_S3);
    store.virtual_hosted = 1;
    store.endpoint = "https://examplebucket.s3.amazonaws.com";
    store.access_key = "AKIAIOSFODNN7EXAMPLE";
    store.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    q.length = 10;
    CHECK_INT(tl_http_make(&store, &q, now, &call), TL_OUTCOME_OK);
    CHECK_IS(header(&call, "authorization"),
             "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
             "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
             "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    CHECK_IS(call.host, "examplebucket.s3.amazonaws.com");
    tl_http_call_free(&call);
    q.length = TL_WHOLE;
    CHECK_INT(tl_http_presign(&store, &q, now, 86400, &call), TL_OUTCOME_OK);
    CHECK_IS(call.url,
             "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential="
             "AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-"
             "Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
             "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    tl_http_call_free(&call);
    q.key = tl_text("az://examplebucket/test.txt"); /* not of this store */
    CHECK_INT(tl_http_make(&store, &q, now, &call), TL_OUTCOME_FAILED);
    q.key = tl_text("lake://examplebucket/test.txt"); /* a scheme of one's own */
    CHECK_INT(tl_http_make(&store, &q, now, &call), TL_OUTCOME_OK);
    tl_http_call_free(&call);
    store.dialect = TL_HTTP_AZURE;
    q.key = tl_text("az://c/x");
    store.account = "a";
    CHECK_INT(tl_http_presign(&store, &q, now, 60, &call), TL_OUTCOME_FAILED);
}

/* URLs, conditions and ranges of each dialect. */
static void urls(void)
{
    static const struct {
        const char *key, *endpoint;
        int virtual_hosted;
        tl_request_kind kind;
        const char *method, *url;
    } table[] = {
        {"s3://b/a b/c+d%20/\xC3\xBC~!", NULL, 0, TL_GET, "GET",
         "https://s3.us-east-1.amazonaws.com/b/a%20b/c%2Bd%2520/%C3%BC~%21"},
        {"s3://b/x", NULL, 1, TL_STAT, "HEAD", "https://b.s3.us-east-1.amazonaws.com/x"},
        {"s3a://b//x//y", "HTTP://", 0, TL_GET, NULL, NULL},
        {"s3a://b//x//y", "http://Host:80/", 0, TL_GET, "GET", "http://host/b//x//y"},
        {"s3://b/x", "https://h:443/p/", 0, TL_DELETE, "DELETE", "https://h/p/b/x"},
        {"s3://b/x", "https://h:8443", 0, TL_PUT, "PUT", "https://h:8443/b/x"},
        {"s3://b/p/", "http://h", 0, TL_LIST, "GET", "http://h/b?encoding-type=url&list-type=2&prefix=p%2F"},
        {"s3://b/", "http://b.h", 1, TL_LIST, "GET", "http://b.h/?encoding-type=url&list-type=2&prefix="},
        {"gs://b/x?y#z", NULL, 0, TL_GET, "GET", "https://storage.googleapis.com/b/x%3Fy%23z"},
        {"az://c/x", NULL, 0, TL_GET, "GET", "https://acc.blob.core.windows.net/c/x"},
        {"abfss://c@acc.dfs.core.windows.net/x", NULL, 0, TL_GET, "GET", "https://acc.blob.core.windows.net/c/x"},
        {"az://c/p", "http://127.0.0.1:1/acc", 0, TL_LIST, "GET",
         "http://127.0.0.1:1/acc/c?comp=list&prefix=p&restype=container"},
        {"https://h:443/a b", NULL, 0, TL_GET, "GET", "https://h/a%20b"},
        {"http://h:80/", NULL, 0, TL_GET, NULL, NULL},
        {"http://user@h/x", NULL, 0, TL_GET, NULL, NULL},
        {"s3://b", NULL, 0, TL_GET, NULL, NULL},
        {"s3://b/", NULL, 0, TL_GET, NULL, NULL},
        {"s3://b/x/../y", NULL, 0, TL_GET, NULL, NULL},
        {"s3://b/./y", NULL, 0, TL_GET, NULL, NULL},
        {"s3://b/\xFF", NULL, 0, TL_GET, NULL, NULL},
        {"s3://b\r\nx/y", NULL, 0, TL_GET, NULL, NULL},
        {"s3://a@b/y", NULL, 1, TL_GET, NULL, NULL},
        {"s3://..b/y", NULL, 1, TL_GET, NULL, NULL},
        {"s3://b/y", "https://u:p@h", 0, TL_GET, NULL, NULL},
        {"s3://b/y", "https://h?x", 0, TL_GET, NULL, NULL},
        {"s3://b/y", "ftp://h", 0, TL_GET, NULL, NULL},
        {"ftp://b/y", NULL, 0, TL_GET, NULL, NULL},
        {"b/y", NULL, 0, TL_GET, NULL, NULL},
        {"", NULL, 0, TL_GET, NULL, NULL},
        {"https://h/x", NULL, 0, TL_LIST, "", NULL},
        {"https://h/x", NULL, 0, TL_PUT, "", NULL}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tl_http_store store;
        tl_http_call call;
        tl_request q = ask(table[i].kind, table[i].key);
        tl_outcome want = table[i].url != NULL      ? TL_OUTCOME_OK
                          : table[i].method != NULL ? TL_OUTCOME_UNSUPPORTED
                                                    : TL_OUTCOME_FAILED;
        tl_http_init(&store, TL_HTTP_BY_SCHEME);
        store.endpoint = table[i].endpoint;
        store.virtual_hosted = table[i].virtual_hosted;
        store.account = "acc";
        if (!CHECK_INT(tl_http_make(&store, &q, NOW, &call), want))
            fprintf(stderr, "  of %s\n", table[i].key);
        if (call.url != NULL) {
            CHECK_IS(call.url, table[i].url != NULL ? table[i].url : "nothing");
            CHECK_IS(call.method, table[i].method != NULL ? table[i].method : "nothing");
        } else {
            CHECK(call.text != NULL);
        }
        tl_http_call_free(&call);
    }
}

/* Keys of other buckets and accounts than the endpoint's, the store's. */
static void others(void)
{
    static const struct {
        const char *key, *endpoint, *url; /* NULL: refused */
    } table[] = {
        {"abfss://c@acc.dfs.core.windows.net/x", "http://127.0.0.1:1/acc", "http://127.0.0.1:1/acc/c/x"},
        {"abfss://c@other.dfs.core.windows.net/x", "http://127.0.0.1:1/acc", NULL},
        {"abfss://c@other.dfs.core.windows.net/x", NULL, NULL},
        {"abfss://c@accc.dfs.core.windows.net/x", NULL, NULL},
        {"s3://b/x", "https://B.h:1/p", "https://b.h:1/p/x"},
        {"s3://www.b.org/x", "https://www.b.org", "https://www.b.org/x"},
        {"s3://other/x", "https://b.h", NULL},
        {"s3://bb/x", "https://b.h", NULL},
        {"s3://b/x", "https://bb.h", NULL},
        {"s3://b/x", "https://", NULL}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tl_http_store store;
        tl_http_call call;
        tl_request q = ask(TL_GET, table[i].key);
        tl_outcome want = table[i].url != NULL ? TL_OUTCOME_OK : TL_OUTCOME_FAILED;
        tl_http_init(&store, TL_HTTP_BY_SCHEME);
        store.endpoint = table[i].endpoint;
        store.virtual_hosted = 1;
        store.account = "acc";
        if (CHECK_INT(tl_http_make(&store, &q, NOW, &call), want))
            CHECK_IS(want == TL_OUTCOME_OK ? call.url : call.text,
                     want == TL_OUTCOME_OK ? table[i].url : "a key of another store");
        tl_http_call_free(&call);
    }
}

/* Of whom the credentials are: the account that is said; without one no key of abfss:// gets them. */
static void whose_account(void)
{
    static const struct {
        const char *account, *account_key, *sas;
        int skip_signature;
        tl_outcome want;
    } table[] = {{NULL, NULL, NULL, 0, TL_OUTCOME_OK},           {NULL, "QUJD", NULL, 0, TL_OUTCOME_FAILED},
                 {NULL, NULL, "sig=1", 0, TL_OUTCOME_FAILED},    {NULL, NULL, "sig=1", 1, TL_OUTCOME_OK},
                 {"other", "QUJD", NULL, 0, TL_OUTCOME_FAILED},  {"acc", "QUJD", NULL, 0, TL_OUTCOME_OK}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tl_http_store store;
        tl_http_call call;
        tl_request q = ask(TL_GET, "abfss://c@acc.dfs.core.windows.net/x");
        tl_http_init(&store, TL_HTTP_AZURE);
        store.account = table[i].account;
        store.account_key = table[i].account_key;
        store.sas = table[i].sas;
        store.skip_signature = table[i].skip_signature;
        if (CHECK_INT(tl_http_make(&store, &q, NOW, &call), table[i].want) && table[i].want != TL_OUTCOME_OK)
            CHECK_IS(call.text, "a key of another store");
        tl_http_call_free(&call);
    }
}

static void conditions_and_ranges(void)
{
    static const struct {
        tl_request_kind kind;
        tl_condition condition;
        const char *key, *etag;
        uint64_t offset, length;
        const char *name, *value; /* NULL, NULL: refused */
    } table[] = {
        {TL_GET, TL_ALWAYS, "s3://b/x", "", 5, 10, "range", "bytes=5-14"},
        {TL_GET, TL_ALWAYS, "s3://b/x", "", 5, TL_WHOLE, "range", "bytes=5-"},
        {TL_GET, TL_ALWAYS, "s3://b/x", "", 5, UINT64_MAX - 2, "range", "bytes=5-"},
        {TL_GET, TL_ALWAYS, "s3://b/x", "", 0, TL_WHOLE, "range", NULL},
        {TL_GET, TL_ALWAYS, "s3://b/x", "", 0, 0, NULL, NULL},
        {TL_GET, TL_IF_NONE_MATCH, "s3://b/x", "W/\"e\"", 0, TL_WHOLE, "if-none-match", "W/\"e\""},
        {TL_GET, TL_IF_NONE_MATCH, "gs://b/x", "17", 0, TL_WHOLE, "if-none-match", NULL},
        {TL_PUT, TL_IF_ABSENT, "s3://b/x", "", 0, TL_WHOLE, "if-none-match", "*"},
        {TL_PUT, TL_IF_ABSENT, "gs://b/x", "", 0, TL_WHOLE, "x-goog-if-generation-match", "0"},
        {TL_PUT, TL_IF_MATCH, "gs://b/x", "17", 0, TL_WHOLE, "x-goog-if-generation-match", "17"},
        {TL_PUT, TL_IF_MATCH, "gs://b/x", "0", 0, TL_WHOLE, NULL, NULL}, /* would be create if absent */
        {TL_PUT, TL_IF_MATCH, "gs://b/x", "\"e\"", 0, TL_WHOLE, NULL, NULL},
        {TL_PUT, TL_IF_MATCH, "s3://b/x", "*", 0, TL_WHOLE, NULL, NULL},
        {TL_PUT, TL_IF_MATCH, "az://c/x", "\"0x1\"", 0, TL_WHOLE, "if-match", "\"0x1\""},
        {TL_PUT, TL_IF_MATCH, "s3://b/x", "\"e\r\nx: y\"", 0, TL_WHOLE, NULL, NULL},
        {TL_PUT, TL_ALWAYS, "az://c/x", "", 0, TL_WHOLE, "x-ms-blob-type", "BlockBlob"},
        {TL_PUT, TL_ALWAYS, "s3://b/x", "", 0, TL_WHOLE, "content-length", "3"}};
    tl_span body = tl_text("abc");
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tl_http_store store;
        tl_http_call call;
        tl_request q = ask(table[i].kind, table[i].key);
        q.condition = table[i].condition;
        q.etag = tl_text(table[i].etag);
        q.offset = table[i].offset;
        q.length = table[i].length;
        q.body = &body;
        q.body_count = 1;
        q.body_size = 3;
        tl_http_init(&store, TL_HTTP_BY_SCHEME);
        store.account = "acc";
        CHECK_INT(tl_http_make(&store, &q, NOW, &call), table[i].name != NULL ? TL_OUTCOME_OK : TL_OUTCOME_FAILED);
        if (table[i].name != NULL && table[i].value == NULL)
            CHECK(header(&call, table[i].name) == NULL);
        else if (table[i].name != NULL)
            CHECK_IS(header(&call, table[i].name), table[i].value);
        tl_http_call_free(&call);
    }
}

/* Who signs with what; and that keys do not leave over plain HTTP. */
static void credentials(void)
{
    static const char file[] = "# keys\n[other]\naws_access_key_id=no\naws_secret_access_key=no\n\n[ default ]\r\n"
                               "aws_access_key_id = AK\r\naws_secret_access_key=S=K\r\nregion = eu-north-1\n[x]\n"
                               "aws_session_token=no\n";
    tl_http_store s;
    tl_http_call call;
    tl_request q = ask(TL_GET, "s3://b/x");
    tl_http_init(&s, TL_HTTP_S3);
    CHECK_INT(tl_http_profile(&s, tl_text(file), "missing"), 0);
    CHECK_INT(tl_http_profile(&s, tl_text(file), "default"), 1);
    CHECK_IS(s.access_key, "AK");
    CHECK_IS(s.secret_key, "S=K");
    CHECK_IS(s.region, "eu-north-1");
    CHECK(s.session_token == NULL);
    s.endpoint = "http://store.example";
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_FAILED);
    tl_http_call_free(&call);
    s.endpoint = "http://127.0.0.1:9000";
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
    CHECK(header(&call, "authorization") != NULL);
    tl_http_call_free(&call);
    s.endpoint = "http://store.example";
    s.skip_signature = 1;
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
    CHECK(header(&call, "authorization") == NULL);
    tl_http_call_free(&call);
    tl_http_close(&s);
    tl_http_init(&s, TL_HTTP_AZURE);
    s.account = "acc";
    s.sas = "?sv=1&sig=a%2Fb";
    q.key = tl_text("az://c/x");
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
    CHECK_IS(call.url, "https://acc.blob.core.windows.net/c/x?sv=1&sig=a%2Fb");
    tl_http_call_free(&call);
    q.kind = TL_LIST;
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
    CHECK(strstr(call.url, "&restype=container&sv=1&sig=a%2Fb") != NULL);
    tl_http_call_free(&call);
    tl_http_init(&s, TL_HTTP_GCS);
    s.bearer = "tok";
    q = ask(TL_GET, "gs://b/x");
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
    CHECK_IS(header(&call, "authorization"), "Bearer tok");
    tl_http_call_free(&call);
    s.bearer = NULL;
    s.access_key = "GOOG1";
    s.secret_key = "k";
    CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
    CHECK(strstr(header(&call, "authorization"), "GOOG4-HMAC-SHA256 Credential=GOOG1/20261129/auto/storage/goog4_")
          != NULL);
    tl_http_call_free(&call);
}

/* A manifest list may name a host of somebody else's. */
static void bearer_of_plain_http(void)
{
    static const struct {
        const char *endpoint, *key;
        tl_outcome outcome;
    } cases[] = {
        {"https://Host.example/wh/table", "https://host.example:443/wh/x", TL_OUTCOME_OK},
        {"https://host.example:8443", "https://host.example:8443/x", TL_OUTCOME_OK},
        {"https://host.example", "https://other.example/x", TL_OUTCOME_FAILED},
        {"https://host.example", "https://host.example.other/x", TL_OUTCOME_FAILED},
        {"https://host.example", "https://host.example:8443/x", TL_OUTCOME_FAILED},
        {"https://host.example", "http://host.example/x", TL_OUTCOME_FAILED},
        {"host.example", "https://host.example/x", TL_OUTCOME_FAILED},
        {NULL, "https://host.example/x", TL_OUTCOME_FAILED},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tl_request q = ask(TL_GET, cases[i].key);
        tl_http_store s;
        tl_http_call call;
        tl_http_init(&s, TL_HTTP_PLAIN);
        s.endpoint = cases[i].endpoint;
        s.bearer = "tok";
        s.allow_http = 1;
        CHECK_INT(tl_http_make(&s, &q, NOW, &call), cases[i].outcome);
        CHECK(cases[i].outcome != TL_OUTCOME_OK || strcmp(header(&call, "authorization"), "Bearer tok") == 0);
        tl_http_call_free(&call);
        s.skip_signature = 1;
        CHECK_INT(tl_http_make(&s, &q, NOW, &call), TL_OUTCOME_OK);
        CHECK(header(&call, "authorization") == NULL);
        tl_http_call_free(&call);
    }
}

static void options(void)
{
    tl_http_store s;
    tl_http_init(&s, TL_HTTP_S3);
    CHECK_INT(tl_http_option(&s, "aws_access_key_id", "a"), 1);
    CHECK_INT(tl_http_option(&s, "SECRET_ACCESS_KEY", "b"), 1);
    CHECK_INT(tl_http_option(&s, "endpoint", "http://e"), 1);
    CHECK_INT(tl_http_option(&s, "aws_virtual_hosted_style_request", "true"), 1);
    CHECK_INT(tl_http_option(&s, "aws_allow_http", "maybe"), -1);
    CHECK_INT(tl_http_option(&s, "aws_conditional_put", "etag"), 1);
    CHECK_INT(tl_http_option(&s, "aws_conditional_put", "disabled"), -1);
    CHECK_INT(tl_http_option(&s, "aws_role_arn", "x"), -1);
    CHECK_INT(tl_http_option(&s, "timelake_cache", "off"), 0);
    CHECK_IS(s.access_key, "a");
    CHECK_IS(s.secret_key, "b");
    CHECK_IS(s.endpoint, "http://e");
    CHECK_INT(s.virtual_hosted, 1);
    tl_http_init(&s, TL_HTTP_AZURE);
    CHECK_INT(tl_http_option(&s, "account_name", "acc"), 1);
    CHECK_INT(tl_http_option(&s, "bearer_token", "tok"), 1);
    CHECK_IS(s.bearer, "tok");
    CHECK_INT(tl_http_option(&s, "azure_storage_use_emulator", "1"), 1);
    CHECK_IS(s.account, "devstoreaccount1");
    CHECK_INT(tl_http_scheme(tl_text("abfss://x")), TL_HTTP_AZURE);
    CHECK_INT(tl_http_scheme(tl_text("S3://x")), TL_HTTP_BY_SCHEME);
}

/* ---- answers that no server here gives ---- */

#define TEN_TIMES(x) x x x x x x x x x x
#define LONG_TOKEN TEN_TIMES("0123456789abcdefghijklmnopqrstuvwxyz")

static tl_http_answer answered(tl_request_kind kind, tl_condition condition, int status, const char *head,
                               const char *body, int retried)
{
    tl_http_store store;
    tl_http_response r;
    tl_http_answer a;
    tl_request q = ask(kind, "s3://b/x");
    q.condition = condition;
    q.etag = tl_text("\"e\"");
    tl_http_init(&store, TL_HTTP_S3);
    store.secret_key = "hush";
    store.session_token = LONG_TOKEN;
    memset(&r, 0, sizeof r);
    r.status = status;
    r.sent = status != 0 || retried;
    r.retried = retried;
    r.head = tl_text(head);
    r.body = tl_text(body);
    r.now = NOW;
    tl_http_read(&store, &q, &r, &a);
    return a;
}

static void hints(void)
{
    tl_http_answer a = answered(TL_PUT, TL_ALWAYS, 503, "Retry-After: 7\r\n", "<Error><Code>Slow</Code></Error>", 0);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_UNKNOWN);
    CHECK_INT(a.completion.retry_ms, 7000);
    a = answered(TL_GET, TL_ALWAYS, 429, "retry-after: Sun, 29 Nov 2026 21:38:45 GMT\r\n", "", 0);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
    CHECK_INT(a.completion.retry_ms, 3000);
    a = answered(TL_GET, TL_ALWAYS, 503, "Retry-After: 99999999999999999999\r\n", "", 0);
    CHECK_INT(a.completion.retry_ms, 100);
    a = answered(TL_GET, TL_ALWAYS, 403, "Date: Sun, 29 Nov 2026 22:38:42 GMT\n",
                 "<?xml version='1.0'?><Error><Code>RequestTimeTooSkewed</Code><Message>&amp; hush</Message></Error>",
                 0);
    CHECK_INT(a.skewed, 1);
    CHECK_INT(a.skew_ms, 3600000);
    CHECK_INT(a.completion.retry_ms, 0);
    CHECK(strstr(a.text, "hush") == NULL); /* a secret that came back is not passed on */
    a = answered(TL_GET, TL_ALWAYS, 403, "",
                 "<Error><Code>InvalidToken</Code><Message>no token of ours: " LONG_TOKEN "</Message></Error>", 0);
    CHECK(strstr(a.text, "HTTP 403") != NULL && strstr(a.text, "0123456789ab") == NULL); /* nor its beginning */
    a = answered(TL_GET, TL_ALWAYS, 301, "x-amz-bucket-region: eu-west-3\r\n", "", 0);
    CHECK_IS(a.region, "eu-west-3");
    a = answered(TL_GET, TL_ALWAYS, 400, "",
                 "<Error><Code>AuthorizationHeaderMalformed</Code><Region>x</Region></Error>", 0);
    CHECK_IS(a.region, "x");
    CHECK_IS(a.text, "HTTP 400 AuthorizationHeaderMalformed");
    a = answered(TL_PUT, TL_IF_ABSENT, 200, "", "<Error><Code>InternalError</Code></Error>", 0);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_UNKNOWN);
    CHECK_INT(a.completion.retry_ms, -1);
    a = answered(TL_GET, TL_ALWAYS, 200, "Content-Length: 5\r\n", "abc", 0);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
}

/* A write whose earlier attempt was lost is never reported as not applied. */
static void lost_attempts(void)
{
    static const int statuses[] = {0, 200, 204, 301, 304, 400, 403, 404, 409, 412, 416, 429, 500, 501, 503, 599, 100};
    static const tl_condition conditions[] = {TL_ALWAYS, TL_IF_ABSENT, TL_IF_MATCH};
    size_t i, k;
    for (i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        for (k = 0; k < 3; k++) {
            tl_http_answer a = answered(TL_PUT, conditions[k], statuses[i], "", "", 1);
            CHECK_INT(a.completion.outcome, statuses[i] == 200 ? TL_OUTCOME_OK : TL_OUTCOME_UNKNOWN);
        }
    CHECK_INT(answered(TL_PUT, TL_ALWAYS, 0, "", "", 0).completion.outcome, TL_OUTCOME_FAILED); /* never got there */
    CHECK_INT(answered(TL_GET, TL_ALWAYS, 0, "", "", 1).completion.outcome, TL_OUTCOME_FAILED);
    CHECK_INT(answered(TL_PUT, TL_IF_ABSENT, 202, "", "", 0).completion.outcome, TL_OUTCOME_UNKNOWN);
}

/* What a request accepts bounds objects; machines leave it 0 for all else. */
static void accepted_sizes(void)
{
    static const char listing[] = "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>p/x</Key>"
                                  "<Size>3</Size></Contents></ListBucketResult>";
    tl_http_store store;
    tl_http_response r;
    tl_http_answer a;
    tl_request q = ask(TL_LIST, "s3://b/p/");
    char *large = (char *)malloc((size_t)TL_HTTP_LISTING + 1);
    tl_http_init(&store, TL_HTTP_S3);
    memset(&r, 0, sizeof r);
    r.status = 200;
    r.body = tl_text(listing);
    q.accept = 0;
    CHECK(tl_http_most(&q) == TL_HTTP_LISTING);
    tl_http_read(&store, &q, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    CHECK_INT(a.completion.entry_count, 1);
    tl_http_answer_free(&a);
    CHECK(large != NULL);
    if (large == NULL)
        return;
    memset(large, ' ', (size_t)TL_HTTP_LISTING + 1);
    memcpy(large, listing, sizeof listing - 1); /* white space may follow */
    r.body = piece(large, (size_t)TL_HTTP_LISTING);
    tl_http_read(&store, &q, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    tl_http_answer_free(&a);
    r.body.size++;
    tl_http_read(&store, &q, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
    CHECK_INT(a.completion.entry_count, 0);
    tl_http_answer_free(&a);
    q = ask(TL_PUT, "s3://b/x"); /* of moto; and of a server with a lot to say */
    q.accept = 0;
    CHECK_INT(tl_http_most(&q), TL_HTTP_SAID);
    tl_http_read(&store, &q, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    tl_http_answer_free(&a);
    q.kind = TL_DELETE;
    tl_http_read(&store, &q, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_OK);
    tl_http_answer_free(&a);
    q = ask(TL_GET, "s3://b/x");
    q.accept = 2;
    r.body = tl_text("abc");
    CHECK_INT(tl_http_most(&q), 2);
    tl_http_read(&store, &q, &r, &a);
    CHECK_INT(a.completion.outcome, TL_OUTCOME_FAILED);
    CHECK_INT(a.completion.body.size, 0);
    tl_http_answer_free(&a);
    free(large);
}

/* Ranges that do not fit what was asked for. */
static void ranges(void)
{
    static const struct {
        const char *range, *body;
        tl_outcome outcome;
    } table[] = {{"bytes 2-4/9", "abc", TL_OUTCOME_OK},      {"bytes 2-4/*", "abc", TL_OUTCOME_OK},
                 {"bytes 2-3/9", "abc", TL_OUTCOME_FAILED},  {"bytes 1-3/9", "abc", TL_OUTCOME_FAILED},
                 {"bytes 2-4/4", "abc", TL_OUTCOME_FAILED},  {"bytes 2-5/9", "abcd", TL_OUTCOME_FAILED},
                 {"bytes 2-1/2", "", TL_OUTCOME_OK},         {"bytes 2-0/2", "", TL_OUTCOME_FAILED},
                 {"bytes=2-4/9", "abc", TL_OUTCOME_FAILED},  {"bytes 2-/9", "abc", TL_OUTCOME_FAILED},
                 {"bytes -4/9", "abc", TL_OUTCOME_FAILED},   {"bytes 2-4", "abc", TL_OUTCOME_FAILED},
                 {"bytes 2-4/x", "abc", TL_OUTCOME_FAILED},  {"", "abc", TL_OUTCOME_FAILED},
                 {"bytes 2-18446744073709551615/*", "abc", TL_OUTCOME_FAILED}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        tl_http_store store;
        tl_http_response r;
        tl_http_answer a;
        tl_request q = ask(TL_GET, "s3://b/x");
        char head[128];
        tl_http_init(&store, TL_HTTP_S3);
        q.offset = 2;
        q.length = 3;
        memset(&r, 0, sizeof r);
        r.status = 206;
        snprintf(head, sizeof head, "HTTP/1.1 206\r\ncontent-RANGE:\t%s \r\n\r\n", table[i].range);
        r.head = tl_text(head);
        r.body = tl_text(table[i].body);
        tl_http_read(&store, &q, &r, &a);
        if (!CHECK_INT(a.completion.outcome, table[i].outcome))
            fprintf(stderr, "  of %s\n", table[i].range);
        tl_http_answer_free(&a);
    }
}

static const tl_test_case cases[] = {
    TL_TEST(hashes),
    TL_TEST(dates),
    TL_TEST(recorded),
    TL_TEST(case_03_create),
    TL_TEST(case_04_replace),
    TL_TEST(case_05_text),
    TL_TEST(case_06_pages),
    TL_TEST(published_signatures),
    TL_TEST(urls),
    TL_TEST(others),
    TL_TEST(whose_account),
    TL_TEST(conditions_and_ranges),
    TL_TEST(credentials),
    TL_TEST(bearer_of_plain_http),
    TL_TEST(options),
    TL_TEST(hints),
    TL_TEST(lost_attempts),
    TL_TEST(accepted_sizes),
    TL_TEST(ranges),
};
TL_TEST_MAIN(cases)
