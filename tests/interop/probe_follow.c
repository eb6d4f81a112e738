/* The probe behind a pipe: another process owns the store. Usage: probe_follow ROOT

   A line in, `latest manifest` or `latest compactions`, begins a checked read. Out comes each request:
       get KEY ETAG|-        list PREFIX PAGE|-
   and in comes its answer:
       ok ETAG|- SIZE, then SIZE bytes     ok COUNT PAGE|-, then COUNT keys, a line each
       not_found    not_modified    failed
   The end: `done ID SIZE` and SIZE bytes, `none`, or `error STATUS TEXT`. `counters manifest`: their text, an empty
   line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_STATIC
#define TIMELAKE_NO_LAKE
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_HEAD_JSON
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

enum { LINE = 8192 };

static char *line_in(char *line)
{
    size_t n;
    if (fgets(line, LINE, stdin) == NULL)
        exit(0); /* the other side is done */
    n = strlen(line);
    if (n == 0 || line[n - 1] != '\n')
        exit(3);
    line[n - 1] = 0;
    return line;
}

static tl_span span_or_absent(const char *text)
{
    tl_span absent = {NULL, 0};
    return strcmp(text, "-") == 0 ? absent : tl_text(text);
}

static void send(const tl_request *r)
{
    tl_span more = r->kind == TL_LIST ? r->page : r->condition == TL_IF_NONE_MATCH ? r->etag : tl_text("-");
    if (more.data == NULL)
        more = tl_text("-");
    printf("%s %.*s %.*s\n", r->kind == TL_GET ? "get" : r->kind == TL_LIST ? "list" : "other", (int)r->key.size,
           r->key.data, (int)more.size, more.data);
    fflush(stdout);
}

/* Reads an answer and gives it to the operation. */
static void answer(tl_op *op, const tl_request *r)
{
    static char line[LINE], first[LINE], second[LINE];
    tl_completion c = tl_completed(r->token, TL_OUTCOME_FAILED);
    tl_entry *entries = NULL;
    char *body = NULL;
    size_t n = 0, i;
    (void)line_in(line);
    if (strcmp(line, "not_found") == 0)
        c.outcome = TL_OUTCOME_NOT_FOUND;
    else if (strcmp(line, "not_modified") == 0)
        c.outcome = TL_OUTCOME_NOT_MODIFIED;
    else if (sscanf(line, "ok %8191s %8191s", first, second) == 2) {
        c.outcome = TL_OUTCOME_OK;
        n = (size_t)strtoul(r->kind == TL_LIST ? first : second, NULL, 10);
        body = (char *)malloc(n + 1);
        entries = (tl_entry *)calloc(n + 1, sizeof *entries);
        if (body == NULL || entries == NULL)
            exit(3);
        if (r->kind == TL_LIST) {
            for (i = 0; i < n; i++)
                entries[i].key = tl_text(strdup(line_in(line)));
            c.entries = entries;
            c.entry_count = n;
            c.next_page = span_or_absent(second);
        } else {
            if (fread(body, 1, n, stdin) != n)
                exit(3);
            c.etag = span_or_absent(first);
            c.body = tli_text_span(body, n);
        }
    }
    if (tl_complete(op, &c, 1) != TL_OK)
        exit(3);
    for (i = 0; r->kind == TL_LIST && i < n; i++)
        free((void *)(uintptr_t)entries[i].key.data);
    free(entries);
    free(body);
}

static void latest(tl_probe *probe)
{
    static tl_probe_call call;
    tl_request r;
    tl_turn turn;
    tl_probe_latest(&call, probe);
    while ((turn = tl_step(&call.op, 1, &r)) == TL_WANTS) {
        send(&r);
        answer(&call.op, &r);
    }
    if (turn == TL_DONE) {
        printf("done %llu %lu\n", (unsigned long long)call.id, (unsigned long)call.body.size);
        fwrite(call.body.data, 1, call.body.size, stdout);
    } else if (turn == TL_NONE)
        printf("none\n");
    else
        printf("error %s %s\n", tl_status_text(tl_op_status(&call.op)), tl_op_error(&call.op)->text);
    fflush(stdout);
    if (tl_op_end(&call.op) != TL_OK)
        exit(3);
}

int main(int argc, char **argv)
{
    static char line[LINE];
    tl_probe probes[2];
    tl_probe_counters counters[2];
    tl_probe_options options[2];
    int i;
    memset(counters, 0, sizeof counters);
    memset(options, 0, sizeof options);
    for (i = 0; i < 2; i++) {
        options[i].counters = &counters[i];
        if (argc != 2 || tl_probe_init(&probes[i], i == 0 ? tl_slatedb_manifests() : tl_slatedb_compactions(),
                                       tl_text(argv[1]), &options[i]) != TL_OK)
            return 2;
    }
    for (;;) {
        (void)line_in(line);
        i = strstr(line, "compactions") != NULL;
        if (strncmp(line, "latest ", 7) == 0)
            latest(&probes[i]);
        else {
            tl_buffer text;
            memset(&text, 0, sizeof text);
            if (tl_probe_counters_text(&text, &counters[i], tl_text(i ? "compactions" : "manifest"), NULL) != TL_OK)
                return 3;
            fwrite(text.data, 1, text.size, stdout);
            printf("\n");
            fflush(stdout);
            tl_buffer_free(&text);
        }
    }
}
