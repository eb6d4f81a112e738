/* Commits on a table, told line by line. Usage: commit_tool LOCATION [TIMEOUT-MS]    (file:///..., with -DTL_HAVE_CURL
   also s3://... and the others; endpoint and keys from the environment)

   What a change is about, any number of lines:
       file PATH SIZE RECORDS PARTITION|- SPLIT,SPLIT...|-
       body PATH                                               of the file before: uploaded with the commit, from here
       col ID SIZE VALUES NULLS|- LOWER-HEX|- UPPER-HEX|-     statistics of the file before
       remove PATH
       prop KEY VALUE|-
       column NAME TYPE REQUIRED                               of a table to be created
       newest PATH                                             an Arrow stream of rows for the last-value index
       cutoff MICROSECONDS                                     of a delete: rows before it leave the index
   Then what it is, which answers `ok VERSION FILES ATTEMPTS SNAPSHOT DUPLICATE index|-` or `error STATUS: TEXT`:
       create TIME-COLUMN|- SERIES-KEY|- | append BATCH|- | replace | delete | set | index PATH|-
   load head|chain: opens the newest version, the base from then on, which a commit replaces by its own; answers
   `ok VERSION head|chain FILES`.
   parquet URL TAIL [PATH]: what the last TAIL bytes (0: all) of the Parquet file URL (read from PATH, if it is not
   there yet) say of it for the base: a line `file` and lines `col` as above, then `footer SIZE` and that many bytes as
   hex; or `refused STATUS: TEXT: COLUMN`.
   publish: writes hint and head; answers `ok HEAD HINT`. requests: answers `ok` and how many went out over HTTP. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_STATIC
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../../adapters/timelake_fs.h"
#ifdef TL_HAVE_CURL
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../../adapters/timelake_curl.h"
#endif

enum { LINE = 4096, MOST = 512, WORDS = 8 };

typedef struct change_texts {
    char lines[MOST][LINE]; /* what the change points into */
    char bounds[MOST][2][256];
    char *bodies[MOST];
    tl_data_file files[MOST];
    tl_column columns[MOST];
    int64_t splits[MOST];
    tl_span removed[MOST];
    tl_property properties[MOST];
    tl_new_column fields[MOST];
    size_t line_count, file_count, column_count, split_count, removed_count, property_count, field_count;
} change_texts;

/* Rows from a file. */
typedef struct newest_rows {
    char *bytes;
    tl_document document;
    struct ArrowArray arrays[64];
    const struct ArrowArray *batches[64];
    tl_rows rows;
} newest_rows;

static change_texts t;
static newest_rows newest;
static int64_t cutoff;
static int has_cutoff;
static tl_fs fs;
#ifdef TL_HAVE_CURL
static tl_http_store http;
static tl_curl *curl; /* NULL: a folder */
#endif
static tl_lake lake;
static tl_table *base;

static tl_span span_or_absent(const char *text)
{
    tl_span absent = {NULL, 0};
    return strcmp(text, "-") == 0 ? absent : tl_text(text);
}

static tl_span from_hex(const char *text, char *out)
{
    tl_span s = span_or_absent(text);
    size_t i;
    if (s.data == NULL)
        return s;
    for (i = 0; i < s.size / 2 && i < 256; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (char)strtol(digits, NULL, 16);
    }
    s.data = out;
    s.size /= 2;
    return s;
}

static void take_file(char **word)
{
    tl_data_file *d = &t.files[t.file_count++];
    char *at = word[5];
    memset(d, 0, sizeof *d);
    d->file.path = tl_text(word[1]);
    d->file.size = strtoull(word[2], NULL, 10);
    d->file.records = strtoull(word[3], NULL, 10);
    d->file.has_partition = strcmp(word[4], "-") != 0;
    d->file.partition = (int32_t)atoi(word[4]);
    d->file.has_split_offsets = strcmp(at, "-") != 0;
    d->file.split_offsets = &t.splits[t.split_count];
    d->columns = &t.columns[t.column_count];
    while (d->file.has_split_offsets && *at != 0) {
        t.splits[t.split_count++] = strtoll(at, &at, 10);
        d->file.split_count++;
        at += *at == ',';
    }
}

static void take_column(char **word)
{
    tl_column *c = &t.columns[t.column_count];
    memset(c, 0, sizeof *c);
    c->field_id = atoi(word[1]);
    c->has_size = c->has_values = 1;
    c->size = strtoull(word[2], NULL, 10);
    c->values = strtoull(word[3], NULL, 10);
    c->has_nulls = strcmp(word[4], "-") != 0;
    c->nulls = strtoull(word[4], NULL, 10);
    c->lower = from_hex(word[5], t.bounds[t.column_count][0]);
    c->upper = from_hex(word[6], t.bounds[t.column_count][1]);
    t.column_count++;
    t.files[t.file_count - 1].column_count++;
}

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *bytes;
    long n;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
        exit(3);
    bytes = (char *)malloc((size_t)n + 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)n, f) != (size_t)n)
        exit(3);
    fclose(f);
    *size = (size_t)n;
    return bytes;
}

static void take_body(char **word)
{
    size_t i = t.file_count - 1;
    t.bodies[i] = read_file(word[1], &t.files[i].body.size);
    t.files[i].body.data = t.bodies[i];
}

static tl_status run(tl_op *op)
{
#ifdef TL_HAVE_CURL
    if (curl != NULL)
        return tl_curl_run(curl, op);
#endif
    return tl_fs_run(&fs, op);
}

static void print_error(tl_status st, const tl_op *op)
{
    tl_span said = tl_op_error_store(op);
    printf("error %s: %s: %.*s\n", tl_status_text(st), tl_op_error(op)->text, (int)said.size,
           said.data != NULL ? said.data : "");
}

static size_t files_of_base(void)
{
    tl_files files;
    files.count = 0;
    if (base->has_files)
        (void)tl_head_files(&base->head, &files, NULL);
    return files.count;
}

static void take_newest(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    tl_section *section;
    tl_error err;
    int32_t i;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
        exit(3);
    newest.bytes = (char *)malloc((size_t)size + 1);
    if (newest.bytes == NULL || fread(newest.bytes, 1, (size_t)size, f) != (size_t)size
        || tl_ipc_decode(&newest.document, newest.bytes, (size_t)size, NULL, &err) != TL_OK)
        exit(3);
    fclose(f);
    section = &newest.document.sections[0];
    newest.rows.schema = section->schema;
    newest.rows.batches = newest.batches;
    for (i = 0; i < section->batch_count && i < 64; i++) {
        if (tl_section_export(section, i, NULL, &newest.arrays[i], &err) != TL_OK)
            exit(3);
        newest.batches[newest.rows.count++] = &newest.arrays[i];
    }
}

static void drop_newest(void)
{
    size_t i;
    for (i = 0; i < newest.rows.count; i++)
        newest.arrays[i].release(&newest.arrays[i]);
    tl_document_free(&newest.document);
    free(newest.bytes);
    memset(&newest, 0, sizeof newest);
    has_cutoff = 0;
}

static void finish(tl_commit *c)
{
    tl_status st = run(&c->op);
    size_t i;
    if (st == TL_OK) {
        tl_table_drop(base);
        base = tl_table_keep(c->table);
        printf("ok %llu %zu %u %lld %u %s\n", (unsigned long long)c->version, files_of_base(), c->attempts,
               (long long)c->snapshot_id, c->duplicate,
               base->metadata.last_value_index.data != NULL ? "index" : "-");
    } else {
        print_error(st, &c->op);
    }
    if (tl_op_end(&c->op) != TL_OK)
        abort();
    for (i = 0; i < t.file_count; i++)
        free(t.bodies[i]);
    memset(&t, 0, sizeof t);
}

static void commit(const char *location, char **word)
{
    static const char *const kinds[] = {"append", "replace", "delete", "index", "set", "create"};
    tl_change change;
    tl_new_table table;
    tl_commit c;
    int k = 0;
    memset(&change, 0, sizeof change);
    memset(&table, 0, sizeof table);
    while (k < 6 && strcmp(word[0], kinds[k]) != 0)
        k++;
    if (k == 6)
        exit(3);
    change.kind = (tl_change_kind)k;
    change.added = t.files;
    change.added_count = t.file_count;
    change.removed = t.removed;
    change.removed_count = t.removed_count;
    change.properties = t.properties;
    change.property_count = t.property_count;
    change.newest = newest.bytes != NULL ? &newest.rows : NULL;
    change.cutoff = has_cutoff ? &cutoff : NULL;
    if (change.kind == TL_CHANGE_APPEND)
        change.batch_id = span_or_absent(word[1]);
    if (change.kind == TL_CHANGE_INDEX)
        change.index.file.path = span_or_absent(word[1]);
    if (change.kind == TL_CHANGE_CREATE) {
        table.columns = t.fields;
        table.column_count = t.field_count;
        table.time_column = span_or_absent(word[1]);
        table.series_key = span_or_absent(word[2]);
        change.table = &table;
        tl_commit_create(&c, &lake, tl_text(location), &change);
    } else {
        tl_commit_begin(&c, &lake, base, &change);
    }
    finish(&c);
    drop_newest();
}

static void load(const char *location, int no_head)
{
    tl_load l;
    tl_load_options o;
    tl_status st;
    memset(&o, 0, sizeof o);
    o.max_age_ms = -1;
    o.no_head = (uint8_t)no_head;
    tl_lake_forget(&lake, tl_text(location));
    tl_load_begin(&l, &lake, tl_text(location), &o);
    st = run(&l.op);
    if (st == TL_OK) {
        tl_table_drop(base);
        base = tl_table_keep(l.table);
        printf("ok %llu %s %zu\n", (unsigned long long)base->version, base->source == TL_FROM_HEAD ? "head" : "chain",
               files_of_base());
    } else {
        print_error(st, &l.op);
    }
    if (tl_op_end(&l.op) != TL_OK)
        abort();
}

static void publish(void)
{
    tl_publish p;
    tl_publish_begin(&p, &lake, base);
    if (run(&p.op) == TL_OK)
        printf("ok %d %d\n", p.head_written, p.hint_written);
    else
        print_error(tl_op_status(&p.op), &p.op);
    if (tl_op_end(&p.op) != TL_OK)
        abort();
}

static void print_hex(tl_span s)
{
    size_t i;
    printf(s.data == NULL ? " -" : " ");
    for (i = 0; i < s.size; i++)
        printf("%02x", (unsigned char)s.data[i]);
}

static void print_parquet(const tl_parquet *p)
{
    const tl_data_file *d = &p->file;
    size_t i;
    printf("file %.*s %llu %llu ", (int)d->file.path.size, d->file.path.data, (unsigned long long)d->file.size,
           (unsigned long long)d->file.records);
    if (d->file.has_partition)
        printf("%d ", d->file.partition);
    else
        printf("- ");
    for (i = 0; i < d->file.split_count; i++)
        printf("%s%lld", i == 0 ? "" : ",", (long long)tl_file_split_offset(&d->file, i));
    printf("%s\n", d->file.has_split_offsets ? "" : "-");
    for (i = 0; i < d->column_count; i++) {
        const tl_column *c = &d->columns[i];
        printf("col %d %llu %llu ", c->field_id, (unsigned long long)c->size, (unsigned long long)c->values);
        if (c->has_nulls)
            printf("%llu", (unsigned long long)c->nulls);
        else
            printf("-");
        print_hex(c->lower);
        print_hex(c->upper);
        printf("\n");
    }
    printf("footer %zu", d->footer.size);
    print_hex(d->footer);
    printf("\n");
}

static void parquet(const char *url, uint64_t tail, const char *path)
{
    size_t whole;
    char *all = read_file(strcmp(path, "-") == 0 ? url + strlen("file://") : path, &whole), *bytes;
    tl_parquet p;
    tl_error err;
    tail = tail == 0 || tail > whole ? whole : tail;
    bytes = (char *)malloc((size_t)tail); /* no more than is said: the sanitizer sees what lies outside */
    if (bytes == NULL)
        exit(3);
    memcpy(bytes, all + whole - tail, (size_t)tail);
    free(all);
    if (tl_parquet_data_file(&p, &base->metadata, tl_text(url), bytes, (size_t)tail, whole, NULL, &err) == TL_OK)
        print_parquet(&p);
    else
        printf("refused %s: %s: %.*s\n", tl_status_text(err.status), err.text, (int)p.column.size,
               p.column.data == NULL ? "" : p.column.data);
    tl_parquet_free(&p);
    free(bytes);
}

/* Splits a line at spaces; a property's value may have some. */
static void split(char *line, char **word)
{
    static char none[] = "-";
    int n = 0, most = strncmp(line, "prop ", 5) == 0 ? 3 : WORDS;
    line[strcspn(line, "\n")] = 0;
    while (n < most) {
        word[n++] = line;
        line += strcspn(line, " ");
        if (*line == 0)
            break;
        if (n < most)
            *line++ = 0;
    }
    while (n < WORDS)
        word[n++] = none;
}

/* A line about a change; 0: it is a command. */
static int take(char **word)
{
    if (strcmp(word[0], "file") == 0) {
        take_file(word);
    } else if (strcmp(word[0], "body") == 0) {
        take_body(word);
    } else if (strcmp(word[0], "col") == 0) {
        take_column(word);
    } else if (strcmp(word[0], "remove") == 0) {
        t.removed[t.removed_count++] = tl_text(word[1]);
    } else if (strcmp(word[0], "newest") == 0) {
        take_newest(word[1]);
    } else if (strcmp(word[0], "cutoff") == 0) {
        cutoff = strtoll(word[1], NULL, 10);
        has_cutoff = 1;
    } else if (strcmp(word[0], "prop") == 0) {
        t.properties[t.property_count].key = tl_text(word[1]);
        t.properties[t.property_count++].value = span_or_absent(word[2]);
    } else if (strcmp(word[0], "column") == 0) {
        t.fields[t.field_count].name = tl_text(word[1]);
        t.fields[t.field_count].type = tl_text(word[2]);
        t.fields[t.field_count++].required = (uint8_t)(word[3][0] == '1');
    } else {
        return 0;
    }
    return 1;
}

static void command(const char *location, char **word)
{
    t.line_count--; /* only what a change points into is kept */
    if (strcmp(word[0], "load") == 0)
        load(location, strcmp(word[1], "chain") == 0);
    else if (strcmp(word[0], "publish") == 0)
        publish();
    else if (strcmp(word[0], "parquet") == 0)
        parquet(word[1], strtoull(word[2], NULL, 10), word[3]);
#ifdef TL_HAVE_CURL
    else if (strcmp(word[0], "requests") == 0)
        printf("ok %llu\n", (unsigned long long)tl_curl_requests(curl));
#endif
    else
        commit(location, word);
    fflush(stdout);
}

static void store_open(const char *location, const char *timeout)
{
    tl_fs_options fo;
    memset(&fo, 0, sizeof fo);
    fo.no_sync = 1;
    tl_fs_open(&fs, &fo);
#ifdef TL_HAVE_CURL
    if (strncmp(location, "file:", 5) != 0) {
        tl_curl_options co;
        memset(&co, 0, sizeof co);
        co.timeout_ms = timeout != NULL ? atoi(timeout) : 0;
        tl_http_init(&http, tl_http_scheme(tl_text(location)));
        tl_http_environment(&http);
        curl = tl_curl_open(&http, &co);
    }
#else
    (void)location;
    (void)timeout;
#endif
}

int main(int argc, char **argv)
{
    tl_lake_options o;
    char *word[WORDS];
    memset(&o, 0, sizeof o);
    if (argc < 2 || !tl_fs_random(o.seed, sizeof o.seed) || tl_lake_init(&lake, &o) != TL_OK)
        return 2;
    store_open(argv[1], argv[2]);
    while (t.line_count < MOST && fgets(t.lines[t.line_count], LINE, stdin) != NULL) {
        split(t.lines[t.line_count++], word);
        if (!take(word))
            command(argv[1], word);
    }
    tl_table_drop(base);
    tl_lake_free(&lake);
#ifdef TL_HAVE_CURL
    if (curl != NULL) {
        tl_curl_close(curl);
        tl_http_close(&http);
    }
#endif
    tl_fs_close(&fs);
    return 0;
}
