/* Requests over adapters/timelake_curl.h as they come on standard input, many at once, for tests/interop/proxy.py:
   ops_tool TIMEOUT_MS. A line each, of fields behind tabs: number, kind (get, stat, list, put, delete), condition
   (always, absent, match, none-match), key, ETag, offset, length (empty: all), page, most keys, the name that a body to
   put begins with, its size. Answers: number, outcome, body size, offset, object size, ETag, next page, then the name
   that the body begins with, or a listing's `key=size` apart by spaces; "BROKEN" where a body is none that was put. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../../adapters/timelake_curl.h"

enum { NUMBER, KIND, CONDITION, KEY, ETAG, OFFSET, LENGTH, PAGE, MOST, NAME, SIZE, FIELDS };

/* A body lives as long as its put; the number is for the answer. */
typedef struct sent {
    char *number, *body;
    tl_span span;
} sent;

/* CRC-32 as zlib has it. */
static unsigned long crc_of(tl_span body)
{
    unsigned long crc = 0xffffffffUL;
    size_t i;
    int k;
    for (i = 0; i < body.size; i++) {
        crc ^= (unsigned char)body.data[i];
        for (k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320UL : 0);
    }
    return crc ^ 0xffffffffUL;
}

static void done(void *user, const tl_request *q, const tl_completion *c)
{
    sent *s = (sent *)user;
    size_t i;
    printf("%s\t%s\t%llu\t%llu\t%llu\t%.*s\t%.*s\t", s->number, tl_outcome_text(c->outcome),
           (unsigned long long)c->body.size, (unsigned long long)c->body_offset, (unsigned long long)c->object_size,
           (int)c->etag.size, c->etag.data != NULL ? c->etag.data : "", (int)c->next_page.size,
           c->next_page.data != NULL ? c->next_page.data : "");
    if (q->kind == TL_GET && c->outcome == TL_OUTCOME_OK)
        printf("%08lx", crc_of(c->body));
    for (i = 0; i < c->entry_count; i++)
        printf("%s%.*s=%llu", i != 0 ? " " : "", (int)c->entries[i].key.size, c->entries[i].key.data,
               (unsigned long long)c->entries[i].size);
    printf("\t%.*s\n", (int)c->text.size, c->text.data != NULL ? c->text.data : "");
    free(s->number);
    free(s->body);
    free(s);
}

static int word(const char *text, const char *const *words, int n)
{
    int i;
    for (i = 0; i < n && strcmp(words[i], text) != 0; i++)
        continue;
    return i;
}

static void ask(tl_curl *curl, char *line)
{
    static const char *const kinds[] = {"get", "stat", "list", "put", "delete"};
    static const tl_request_kind kind[] = {TL_GET, TL_STAT, TL_LIST, TL_PUT, TL_DELETE, TL_SLEEP};
    static const char *const conditions[] = {"always", "absent", "match", "none-match"};
    static const tl_condition condition[] = {TL_ALWAYS, TL_IF_ABSENT, TL_IF_MATCH, TL_IF_NONE_MATCH, TL_ALWAYS};
    char *field[FIELDS];
    sent *s = (sent *)calloc(1, sizeof *s);
    tl_request q;
    size_t size, name;
    int i;
    for (i = 0; i < FIELDS; i++) {
        field[i] = line;
        line += strcspn(line, "\t");
        *line++ = 0;
    }
    memset(&q, 0, sizeof q);
    q.token = 1;
    q.kind = kind[word(field[KIND], kinds, 5)];
    q.condition = condition[word(field[CONDITION], conditions, 4)];
    q.key = tl_text(field[KEY]);
    q.etag = tl_text(field[ETAG]);
    q.offset = strtoull(field[OFFSET], NULL, 10);
    q.length = field[LENGTH][0] != 0 ? strtoull(field[LENGTH], NULL, 10) : TL_WHOLE;
    q.max_keys = (uint32_t)strtoul(field[MOST], NULL, 10);
    if (field[PAGE][0] != 0)
        q.page = tl_text(field[PAGE]);
    q.accept = q.kind == TL_GET ? 1 << 22 : 0;
    size = (size_t)strtoull(field[SIZE], NULL, 10);
    name = strlen(field[NAME]);
    s->number = strdup(field[NUMBER]);
    s->body = (char *)malloc(size + name + 2);
    if (s->number == NULL || s->body == NULL || q.kind == TL_SLEEP)
        exit(2);
    memset(s->body, 'x', size + name + 1);
    memcpy(s->body, field[NAME], name);
    s->body[name] = ' ';
    s->span.data = s->body;
    s->span.size = size > name + 1 ? size : name + 1;
    q.body = &s->span;
    q.body_count = 1;
    q.body_size = s->span.size;
    if (!tl_curl_send(curl, &q, done, s))
        exit(2);
}

int main(int argc, char **argv)
{
    static char text[1 << 18];
    size_t have = 0;
    tl_http_store store;
    tl_curl_options o;
    tl_curl *curl;
    int open = 1;
    memset(&o, 0, sizeof o);
    o.timeout_ms = argc > 1 ? atoi(argv[1]) : 1000;
    o.connect_ms = o.timeout_ms;
    o.connections = 64;
    tl_http_init(&store, TL_HTTP_S3);
    tl_http_environment(&store);
    curl = tl_curl_open(&store, &o);
    while (open || tl_curl_out(curl) != 0) {
        struct pollfd p;
        char *end;
        p.fd = 0;
        p.events = POLLIN;
        if (open && poll(&p, 1, tl_curl_out(curl) == 0 ? 1000 : 0) > 0) {
            ssize_t n = read(0, text + have, sizeof text - 1 - have);
            open = n > 0;
            have += n > 0 ? (size_t)n : 0;
            text[have] = 0;
            while ((end = (char *)memchr(text, '\n', have)) != NULL) {
                size_t used = (size_t)(end - text) + 1;
                *end = 0;
                ask(curl, text);
                memmove(text, text + used, have - used + 1);
                have -= used;
            }
        }
        (void)tl_curl_wait(curl, tl_curl_now() + (open ? 2 : 100));
        fflush(stdout);
    }
    fprintf(stderr, "%llu\n", (unsigned long long)tl_curl_requests(curl));
    tl_curl_close(curl);
    tl_http_close(&store);
    return 0;
}
