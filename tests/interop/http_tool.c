/* Makes messages for tests/interop/signatures.py: a line of tab-separated hexadecimal fields in, lines of what is to be
   sent out. Fields: dialect, mode (make, presign, sas), kind, condition, key, etag, page, offset, length, body, now,
   endpoint, region, access key, secret, token, account, account key, virtual hosted, seconds, permissions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../../adapters/timelake_http.h"

enum { DIALECT, MODE, KIND, CONDITION, KEY, ETAG, PAGE, OFFSET, LENGTH, BODY, NOW, ENDPOINT, REGION, ACCESS, SECRET,
       TOKEN, ACCOUNT, ACCOUNT_KEY, VIRTUAL, SECONDS, PERMISSIONS, FIELDS };

static char line[1 << 18];

/* Takes the fields apart, each decoded in place and ended by a zero. */
static int fields(char **field, size_t *size)
{
    char *at = line;
    int i;
    for (i = 0; i < FIELDS; i++) {
        size_t n = strcspn(at, "\t\n"), k;
        field[i] = at;
        size[i] = n / 2;
        for (k = 0; k < n / 2; k++)
            at[k] = (char)(tl_http_hex(at[2 * k]) * 16 + tl_http_hex(at[2 * k + 1]));
        if (at[n] == 0 && i + 1 != FIELDS)
            return 0;
        at += n + 1;
        field[i][size[i]] = 0;
    }
    return 1;
}

static const char *or_null(const char *text)
{
    return text[0] != 0 ? text : NULL;
}

static tl_span span(char **field, size_t *size, int i)
{
    tl_span s;
    s.data = size[i] != 0 ? field[i] : NULL;
    s.size = size[i];
    return s;
}

static void sas(const tl_http_store *store, tl_span key, const char *permissions, int64_t until)
{
    tl_span container = key, name;
    const char *slash;
    char *query;
    container.data += 5;
    container.size -= 5;
    slash = (const char *)memchr(container.data, '/', container.size);
    name.data = slash + 1;
    name.size = container.size - (size_t)(slash - container.data) - 1;
    container.size = (size_t)(slash - container.data);
    if (name.size == 0)
        name.data = NULL;
    query = tl_http_azure_sas(store, container, name, permissions, until);
    printf("0\n%s\n\n", query);
    free(query);
}

int main(void)
{
    char *field[FIELDS];
    size_t size[FIELDS], i;
    while (fgets(line, sizeof line, stdin) != NULL) {
        tl_http_store store;
        tl_http_call call;
        tl_request q;
        tl_span body;
        tl_outcome outcome;
        if (!fields(field, size))
            return 1;
        tl_http_init(&store, (tl_http_dialect)atoi(field[DIALECT]));
        store.endpoint = or_null(field[ENDPOINT]);
        store.region = or_null(field[REGION]);
        store.access_key = or_null(field[ACCESS]);
        store.secret_key = or_null(field[SECRET]);
        store.session_token = or_null(field[TOKEN]);
        store.account = or_null(field[ACCOUNT]);
        store.account_key = or_null(field[ACCOUNT_KEY]);
        store.virtual_hosted = atoi(field[VIRTUAL]);
        memset(&q, 0, sizeof q);
        q.kind = (tl_request_kind)atoi(field[KIND]);
        q.condition = (tl_condition)atoi(field[CONDITION]);
        q.key = span(field, size, KEY);
        q.etag = span(field, size, ETAG);
        q.page = span(field, size, PAGE);
        q.offset = strtoull(field[OFFSET], NULL, 10);
        q.length = field[LENGTH][0] != 0 ? strtoull(field[LENGTH], NULL, 10) : TL_WHOLE;
        q.max_keys = 7;
        body = span(field, size, BODY);
        q.body = &body;
        q.body_count = 1;
        q.body_size = body.size;
        if (strcmp(field[MODE], "sas") == 0) {
            sas(&store, q.key, field[PERMISSIONS], strtoll(field[NOW], NULL, 10));
            continue;
        }
        if (strcmp(field[MODE], "presign") == 0)
            outcome = tl_http_presign(&store, &q, strtoll(field[NOW], NULL, 10), (uint32_t)atoi(field[SECONDS]), &call);
        else
            outcome = tl_http_make(&store, &q, strtoll(field[NOW], NULL, 10), &call);
        printf("%d\n%s\n", (int)outcome, outcome == TL_OUTCOME_OK ? call.url : call.text);
        for (i = 0; i < call.header_count; i++)
            printf("%s: %s\n", call.headers[i].name, call.headers[i].value);
        printf("\n");
        tl_http_call_free(&call);
    }
    return 0;
}
