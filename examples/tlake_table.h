/* The commands of tlake that open tables: open, latest, plan, watch. Included by tlake.c, whose output, failing, and
   sections it uses, behind tlake_store.h. */

/* ---- where a table is ---- */

typedef struct lake_world {
    place at;
    tl_lake lake;
} lake_world;

/* The requests of a run, for --trace and --json. */
typedef struct request_line {
    tl_request request; /* its spans point nowhere */
    char *key;
    size_t key_size;
    uint64_t bytes;
    const char *result;
} request_line;

static request_line *request_lines;
static size_t request_count, request_capacity;

static const char *request_word(const tl_request *r)
{
    return r->kind == TL_STAT ? "HEAD"
           : r->kind == TL_GET && (r->offset != 0 || r->length != TL_WHOLE) ? "RANGE" : tl_request_text(r->kind);
}

static void on_trace(void *context, const tl_op *op, const tl_request *r, const tl_completion *c)
{
    request_line *l;
    size_t i;
    (void)context;
    (void)op;
    if (r->kind == TL_SLEEP)
        return;
    if (c == NULL) {
        if (request_count == request_capacity) {
            request_capacity = request_capacity * 2 + 64;
            request_lines = (request_line *)realloc(request_lines, request_capacity * sizeof *request_lines);
            if (request_lines == NULL)
                abort();
        }
        l = &request_lines[request_count++];
        memset(l, 0, sizeof *l);
        l->request = *r;
        l->key = (char *)malloc(r->key.size + 1);
        if (l->key == NULL)
            abort();
        memcpy(l->key, r->key.data, r->key.size);
        l->key_size = r->key.size;
        l->result = "sent";
        return;
    }
    for (i = request_count; i > 0 && request_lines[i - 1].request.token != c->token; i--)
        continue;
    if (i == 0)
        return;
    l = &request_lines[i - 1];
    l->result = tl_outcome_text(c->outcome);
    l->bytes = r->kind == TL_PUT ? r->body_size : c->body.size;
    progress_step(l->bytes);
    if (arguments.trace)
        fprintf(stderr, "%3u %-6s %.*s %s %llu\n", (unsigned)r->round, request_word(r), (int)l->key_size, l->key,
            l->result,
                (unsigned long long)l->bytes);
}

static void forget_requests(void)
{
    while (request_count != 0)
        free(request_lines[--request_count].key);
}

static void json_requests(const tl_op *op)
{
    static const char *const conditions[] = {"null", "\"absent\"", "\"etag\"", "\"etag\""};
    size_t i;
    puts_("\"requests\":[");
    for (i = 0; i < request_count; i++) {
        const request_line *l = &request_lines[i];
        puts_(i == 0 ? "{\"round\":" : ",{\"round\":");
        put_number(l->request.round);
        puts_(",\"op\":\"");
        puts_(request_word(&l->request));
        puts_("\",\"key\":");
        put_json_text(l->key, l->key_size);
        puts_(",\"condition\":");
        puts_(conditions[l->request.condition]);
        puts_(l->request.background ? ",\"background\":true" : ",\"background\":false");
        puts_(",\"result\":\"");
        puts_(l->result);
        puts_("\",\"bytes\":");
        put_number(l->bytes);
        puts_("}");
    }
    puts_("],\"round_trips\":");
    put_number(tl_op_round_trips(op));
}

static int world_open(lake_world *w)
{
    tl_lake_options lake;
    int code;
    memset(&lake, 0, sizeof lake);
    code = place_open(&w->at, &lake);
    if (code != EXIT_DONE)
        return code;
    lake.op.trace = on_trace;
    lake.compression = compression();
    (void)tl_fs_random(lake.seed, sizeof lake.seed);
    (void)tl_lake_init(&w->lake, &lake);
    return EXIT_DONE;
}

static void world_close(lake_world *w)
{
    forget_requests();
    free(request_lines);
    tl_lake_free(&w->lake);
    place_close(&w->at);
}

/* Says what an operation failed of. */
static int fail_op(const tl_op *op)
{
    char about[4096];
    const tl_error *err = tl_op_error(op);
    tl_span key = tl_op_error_key(op), said = tl_op_error_store(op);
    tl_status st = tl_op_status(op);
    char what[400];
    const char *advice = tl_span_equal(said, tl_text("not a key of this folder"))
        ? "; open the table by that URL, with -o timelake_local_root=DIR" : "";
    if (st == TL_ABSENT && err->text == NULL)
        return fail(arguments.file, arguments.at_version != 0 ? "no such version" : "no such table", "absent",
                    TL_NO_POSITION, EXIT_NOT_FOUND);
    snprintf(about, sizeof about, "%.*s", (int)key.size, key.size == 0 ? "" : key.data);
    snprintf(what, sizeof what, "%s%s%.*s%s", err->text, said.size == 0 ? "" : ": ", (int)said.size,
             said.size == 0 ? "" : said.data, advice);
    return fail(key.size == 0 ? arguments.file : about, what, tl_status_text(st), err->position,
                st == TL_CONFLICT || st == TL_EXISTS ? 3 : st == TL_AMBIGUOUS ? 4
                : st == TL_ABSENT ? EXIT_NOT_FOUND : EXIT_FAILED);
}

/* Loads a version of the table, or the newest (0). */
static tl_status load_version(lake_world *w, tl_load *load, uint64_t version, int64_t max_age_ms)
{
    tl_load_options o;
    memset(&o, 0, sizeof o);
    o.no_head = (uint8_t)arguments.no_head;
    o.version = version;
    o.max_age_ms = max_age_ms;
    tl_load_begin(load, &w->lake, tl_text(w->at.location), &o);
    return place_run(&w->at, &load->op);
}

/* Loads what was asked for; EXIT_DONE: load.table is there, and tl_op_end is the caller's. */
static int load_table(lake_world *w, tl_load *load, int64_t max_age_ms)
{
    int code = EXIT_DONE;
    if (load_version(w, load, arguments.at_version, max_age_ms) != TL_OK) {
        code = fail_op(&load->op);
        (void)tl_op_end(&load->op);
    }
    return code;
}

/* ---- files and their statistics ---- */

/* Statistics by file: rows[start[f]] .. rows[start[f + 1]] are the rows of file f in the view; or of one file alone. */
typedef struct statistics {
    tl_columns columns;
    size_t *start;
    size_t *rows;
    const tl_column *alone;
} statistics;

static tl_status statistics_of(statistics *s, tl_table *version, size_t files, tl_error *err)
{
    size_t i, sum = 0;
    tl_column c;
    tl_status st = tl_head_columns(&version->head, TL_COLUMNS_ALL, &s->columns, err);
    s->start = s->rows = NULL;
    s->alone = NULL;
    if (st != TL_OK)
        return st;
    s->start = (size_t *)calloc(files + 2, sizeof *s->start);
    s->rows = (size_t *)calloc(s->columns.count + 1, sizeof *s->rows);
    if (s->start == NULL || s->rows == NULL)
        abort();
    for (i = 0; i < s->columns.count; i++) {
        tl_columns_get(&s->columns, i, &c);
        s->start[c.file + 1]++;
    }
    for (i = 0; i <= files; i++)
        sum = s->start[i] += sum;
    for (i = s->columns.count; i > 0; i--) { /* from behind, so that a file's rows keep their order */
        tl_columns_get(&s->columns, i - 1, &c);
        s->rows[--s->start[c.file + 1]] = i - 1;
    }
    for (i = 0; i < files; i++)
        s->start[i] = s->start[i + 1];
    s->start[files] = s->columns.count;
    return TL_OK;
}

static void statistics_free(statistics *s)
{
    free(s->start);
    free(s->rows);
}

static void put_signed(int64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)v);
    puts_(text);
}

/* One of the maps of a FILE: `which` picks the statistic. */
static void json_map(const statistics *s, size_t file, const char *name, int which)
{
    size_t i;
    int first = 1;
    puts_(",\"");
    puts_(name);
    puts_("\":{");
    for (i = s->start[file]; i < s->start[file + 1]; i++) {
        tl_column c;
        uint64_t count = 0;
        int has;
        if (s->alone != NULL)
            c = s->alone[i];
        else
            tl_columns_get(&s->columns, s->rows[i], &c);
        has = which == 0   ? (count = c.size, c.has_size)
              : which == 1 ? (count = c.values, c.has_values)
              : which == 2 ? (count = c.nulls, c.has_nulls)
              : which == 3 ? (count = c.nans, c.has_nans)
              : which == 4 ? c.lower.data != NULL : c.upper.data != NULL;
        if (!has)
            continue;
        puts_(first ? "\"" : ",\"");
        first = 0;
        put_signed(c.field_id);
        puts_("\":");
        if (which < 4) {
            put_number(count);
        } else {
            put_char('"');
            put_hex(which == 4 ? c.lower : c.upper);
            put_char('"');
        }
    }
    put_char('}');
}

static void json_optional(const char *name, int has, int64_t value)
{
    puts_(",\"");
    puts_(name);
    puts_("\":");
    if (has)
        put_signed(value);
    else
        puts_("null");
}

static void json_file(const tl_file *f, const statistics *s, size_t row)
{
    static const char *const maps[] = {"column_sizes", "value_counts", "null_counts", "nan_counts", "lower_bounds",
                                       "upper_bounds"};
    int i;
    size_t k;
    puts_("{\"path\":");
    put_json(f->path);
    puts_(",\"size\":");
    put_number(f->size);
    puts_(",\"records\":");
    put_number(f->records);
    json_optional("partition", f->has_partition, f->partition);
    json_optional("sort_order_id", f->has_sort_order_id, f->sort_order_id);
    puts_(",\"split_offsets\":");
    puts_(f->has_split_offsets ? "[" : "null");
    for (k = 0; k < f->split_count; k++) {
        if (k > 0)
            put_char(',');
        put_signed(tl_file_split_offset(f, k));
    }
    if (f->has_split_offsets)
        put_char(']');
    puts_(f->added ? ",\"status\":\"Added\"" : ",\"status\":\"Existing\"");
    json_optional("snapshot_id", 1, f->snapshot_id);
    json_optional("sequence_number", 1, f->sequence_number);
    json_optional("file_sequence_number", 1, f->file_sequence_number);
    for (i = 0; i < 6; i++)
        json_map(s, row, maps[i], i);
    put_char('}');
}

typedef struct by_path {
    tl_span path;
    size_t row;
} by_path;

static int path_order(const void *a, const void *b)
{
    return tl_span_compare(((const by_path *)a)->path, ((const by_path *)b)->path);
}

static tl_status json_files(tl_table *version, tl_error *err)
{
    tl_files files;
    tl_file f;
    statistics s;
    by_path *order;
    size_t i;
    tl_status st = tl_head_files(&version->head, &files, err);
    if (st == TL_OK)
        st = statistics_of(&s, version, files.count, err);
    if (st != TL_OK)
        return st;
    order = (by_path *)calloc(files.count + 1, sizeof *order);
    if (order == NULL)
        abort();
    for (i = 0; i < files.count; i++) {
        tl_files_get(&files, i, &f);
        order[i].path = f.path;
        order[i].row = i;
    }
    qsort(order, files.count, sizeof *order, path_order);
    put_char('[');
    for (i = 0; i < files.count; i++) {
        if (i > 0)
            put_char(',');
        tl_files_get(&files, order[i].row, &f);
        json_file(&f, &s, order[i].row);
    }
    put_char(']');
    free(order);
    statistics_free(&s);
    return TL_OK;
}

/* ---- open ---- */

static void json_properties(const tl_metadata *m)
{
    output *to = out, memory;
    tl_span raw;
    memset(&memory, 0, sizeof memory);
    if (!tl_json_present(m->properties)) {
        puts_("{}");
        return;
    }
    raw = tl_json_raw(&m->json, m->properties);
    {
        tl_buffer b;
        memset(&b, 0, sizeof b);
        if (tl_json_canonical(&b, raw.data, raw.size, NULL, NULL) == TL_OK)
            put((const char *)b.data, b.size);
        tl_buffer_free(&b);
    }
    out = to;
}

static void json_schema(const tl_metadata *m)
{
    tl_span raw = tl_json_raw(&m->json, tl_json_member(&m->json, m->schema, tl_text("fields")));
    tl_buffer b;
    memset(&b, 0, sizeof b);
    if (tl_json_canonical(&b, raw.data, raw.size, NULL, NULL) == TL_OK)
        put((const char *)b.data, b.size);
    tl_buffer_free(&b);
}

static const char *source_word(const tl_table *version)
{
    return version->source == TL_FROM_HEAD ? "head" : "chain";
}

static tl_status json_open(const tl_load *load, tl_error *err)
{
    tl_table *t = load->table;
    const tl_metadata *m = &t->metadata;
    tl_status st;
    puts_("{\"location\":");
    put_json(m->location);
    puts_(",\"version\":");
    put_number(t->version);
    puts_(",\"source\":\"");
    puts_(source_word(t));
    puts_("\",\"why_not_head\":");
    if (load->why_no_head.status == TL_OK)
        puts_("null");
    else
        put_json_text(load->why_no_head.text, strlen(load->why_no_head.text));
    json_optional("current_snapshot_id", m->has_snapshot, m->current_snapshot_id);
    puts_(",\"last_value_index\":");
    if (m->last_value_index.data == NULL)
        puts_("null");
    else
        put_json(m->last_value_index);
    puts_(",\"properties\":");
    json_properties(m);
    puts_(",\"schema\":");
    json_schema(m);
    puts_(",\"files\":");
    st = json_files(t, err);
    puts_(",");
    json_requests(&load->op);
    puts_("}\n");
    return st;
}

static void show_requests(const tl_op *op)
{
    size_t i;
    for (i = 0; i < request_count; i++) {
        char text[160];
        snprintf(text, sizeof text, "  round %u  %-6s ", (unsigned)request_lines[i].request.round,
                 request_word(&request_lines[i].request));
        puts_(text);
        put_shown(request_lines[i].key, request_lines[i].key_size);
        snprintf(text, sizeof text, "  %s, %llu bytes\n", request_lines[i].result,
                 (unsigned long long)request_lines[i].bytes);
        puts_(text);
    }
    puts_("  ");
    plural(tl_op_round_trips(op), "round trip");
    puts_("\n");
}

static tl_status show_open(const tl_load *load, tl_error *err)
{
    tl_table *t = load->table;
    tl_files files;
    tl_file f;
    uint64_t rows = 0, bytes = 0;
    size_t i;
    tl_status st = tl_head_files(&t->head, &files, err);
    if (st != TL_OK)
        return st;
    for (i = 0; i < files.count; i++) {
        tl_files_get(&files, i, &f);
        rows += f.records;
        bytes += f.size;
    }
    heading("table ");
    put_shown(t->metadata.location.data, t->metadata.location.size);
    puts_("\n  version ");
    put_grouped(t->version);
    puts_(t->source == TL_FROM_HEAD ? ", from its head\n" : ", from the metadata chain");
    if (t->source == TL_FROM_CHAIN) {
        puts_(": ");
        puts_(load->why_no_head.status == TL_OK ? "the head was not asked for" : load->why_no_head.text);
        puts_("\n");
    }
    puts_("  ");
    plural(files.count, "file");
    puts_(", ");
    plural(rows, "row");
    puts_(", ");
    plural(bytes, "byte");
    puts_("\n\n");
    heading("requests\n");
    show_requests(&load->op);
    return TL_OK;
}

static int command_open(void)
{
    lake_world w;
    tl_load load;
    tl_error err;
    tl_status st;
    int code = world_open(&w);
    if (code != EXIT_DONE)
        return code;
    code = load_table(&w, &load, 0);
    if (code == EXIT_DONE) {
        st = arguments.json ? json_open(&load, &err) : show_open(&load, &err);
        code = st == TL_OK ? EXIT_DONE : fail_status(&err);
        (void)tl_op_end(&load.op);
    }
    world_close(&w);
    return code;
}

/* ---- latest ---- */

static tl_status print_latest(const tl_load *load, tl_error *err)
{
    tl_section *section;
    table t;
    tl_status st;
    if (load->table->metadata.last_value_index.data == NULL) {
        memset(err, 0, sizeof *err);
        err->status = TL_ABSENT;
        err->text = "the table has no last-value index";
        err->position = TL_NO_POSITION;
        return err->status;
    }
    st = tl_head_last_values(&load->table->head, &section, err);
    if (st != TL_OK)
        return st;
    st = table_open(&t, section, err);
    if (st == TL_OK && arguments.json) {
        puts_("{\"version\":");
        put_number(load->table->version);
        puts_(",\"rows\":");
        json_rows(&t);
        puts_(",");
        json_requests(&load->op);
        puts_("}\n");
    } else if (st == TL_OK) {
        heading("newest row of each series");
        puts_(", version ");
        put_grouped(load->table->version);
        puts_("\n");
        show_rows(&t, t.section->rows);
        show_requests(&load->op);
    }
    table_free(&t);
    return st;
}

static int command_latest(void)
{
    lake_world w;
    tl_load load;
    tl_error err;
    int code = world_open(&w);
    if (code != EXIT_DONE)
        return code;
    code = load_table(&w, &load, 0);
    if (code == EXIT_DONE) {
        if (print_latest(&load, &err) != TL_OK)
            code = fail_status(&err);
        (void)tl_op_end(&load.op);
    }
    world_close(&w);
    return code;
}

/* ---- plan: conditions as text ---- */

typedef struct where {
    const char *at;
    tl_filter filter;
    tl_value values[64]; /* of `in` lists, and unescaped texts below */
    uint32_t value_count;
    char texts[4096];
    size_t text_size;
    const char *wrong;
} where;

static void where_skip(where *w)
{
    while (*w->at == ' ' || *w->at == '\t' || *w->at == '\n')
        w->at++;
}

/* A word of the language, whatever its case. */
static int where_word(where *w, const char *word)
{
    size_t n = strlen(word), i;
    char c;
    where_skip(w);
    for (i = 0; i < n; i++) {
        c = w->at[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        if (c != word[i])
            return 0;
    }
    c = w->at[n];
    if ((word[0] >= 'a' && word[0] <= 'z')
        && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
        return 0;
    w->at += n;
    return 1;
}

/* A text between two quotes of one kind; doubled, they stand for one. Kept in w->texts. */
static tl_span where_quoted(where *w, char quote)
{
    tl_span s;
    s.data = w->texts + w->text_size;
    s.size = 0;
    w->at++;
    for (;; w->at++) {
        if (*w->at == quote && w->at[1] == quote)
            w->at++;
        else if (*w->at == quote || *w->at == 0)
            break;
        if (w->text_size == sizeof w->texts) {
            w->wrong = "too much text";
            return s;
        }
        w->texts[w->text_size++] = *w->at;
        s.size++;
    }
    if (*w->at != quote)
        w->wrong = "a quote is missing";
    else
        w->at++;
    return s;
}

static tl_span where_column(where *w)
{
    tl_span s;
    where_skip(w);
    if (*w->at == '"')
        return where_quoted(w, '"');
    s.data = w->at;
    while (*w->at != 0 && strchr(" \t\n=<>()',\"", *w->at) == NULL)
        w->at++;
    s.size = (size_t)(w->at - s.data);
    if (s.size == 0)
        w->wrong = "a column is missing";
    return s;
}

/* A number is an integer, or else its text, which the column's type reads. */
static tl_value where_value(where *w)
{
    tl_span s;
    int64_t integer;
    char *end;
    where_skip(w);
    if (*w->at == '\'')
        return tl_string(where_quoted(w, '\''));
    if (where_word(w, "true"))
        return tl_bool(1);
    if (where_word(w, "false"))
        return tl_bool(0);
    s.data = w->at;
    while (*w->at != 0 && strchr("+-.0123456789eE", *w->at) != NULL)
        w->at++;
    s.size = (size_t)(w->at - s.data);
    if (s.size == 0)
        w->wrong = "a value is missing";
    errno = 0;
    integer = strtoll(s.size == 0 ? "0" : s.data, &end, 10);
    if (s.size != 0 && end == w->at && errno == 0)
        return tl_i64(integer);
    return tl_string(s);
}

static void where_in(where *w, tl_span column)
{
    uint32_t first = w->value_count;
    if (!where_word(w, "("))
        w->wrong = "a list in brackets is missing";
    while (w->wrong == NULL) {
        if (w->value_count == 64) {
            w->wrong = "too many values";
            break;
        }
        w->values[w->value_count++] = where_value(w);
        if (where_word(w, ")"))
            break;
        if (!where_word(w, ","))
            w->wrong = "a comma or a closing bracket is missing";
    }
    if (w->wrong == NULL)
        tl_filter_in(&w->filter, column, &w->values[first], w->value_count - first);
}

static void where_condition(where *w)
{
    static const struct { const char *text; tl_compare compare; } compares[] = {
        {"<=", TL_LESS_EQUAL}, {">=", TL_GREATER_EQUAL}, {"=", TL_EQUAL}, {"<", TL_LESS}, {">", TL_GREATER}};
    tl_span column = where_column(w);
    size_t i;
    if (w->wrong != NULL)
        return;
    if (where_word(w, "is")) {
        int no = where_word(w, "not");
        if (where_word(w, "null"))
            tl_filter_null(&w->filter, column, !no);
        else
            w->wrong = "null is missing";
        return;
    }
    if (where_word(w, "in")) {
        where_in(w, column);
        return;
    }
    for (i = 0; i < sizeof compares / sizeof compares[0]; i++)
        if (where_word(w, compares[i].text)) {
            tl_value v = where_value(w);
            if (w->wrong == NULL)
                tl_filter_compare(&w->filter, column, compares[i].compare, v);
            return;
        }
    w->wrong = "a comparison is missing";
}

static int where_parse(where *w, tl_table *version)
{
    size_t i;
    w->filter = tl_filter_begin(version);
    w->value_count = 0;
    w->text_size = 0;
    w->wrong = NULL;
    for (i = 0; w->wrong == NULL && i < arguments.where_count; i++) {
        w->at = arguments.where[i];
        do
            where_condition(w);
        while (w->wrong == NULL && where_word(w, "and"));
        where_skip(w);
        if (w->wrong == NULL && *w->at != 0)
            w->wrong = "something follows that is no `and`";
    }
    if (w->wrong != NULL) {
        char rest[64];
        snprintf(rest, sizeof rest, ", at: %.50s", w->at);
        return usage(w->wrong, *w->at != 0 ? rest : ", at the end of --where");
    }
    return EXIT_DONE;
}

static void print_plan(const tl_plan *plan, const tl_load *load)
{
    size_t i;
    if (arguments.json) {
        puts_("{\"version\":");
        put_number(load->table->version);
        puts_(",\"files\":[");
        for (i = 0; i < plan->count; i++) {
            const tl_plan_file *f = &plan->file[i];
            puts_(i == 0 ? "{\"path\":" : ",{\"path\":");
            put_json(f->file.path);
            puts_(",\"size\":");
            put_number(f->file.size);
            puts_(",\"records\":");
            put_number(f->file.records);
            json_optional("footer", f->footer.data != NULL, (int64_t)f->footer.size);
            puts_("}");
        }
        puts_("],\"skipped\":");
        put_number(plan->skipped);
        puts_(",");
        json_requests(&load->op);
        puts_("}\n");
        return;
    }
    heading("files to read");
    puts_(", newest partition first: ");
    put_grouped(plan->count);
    puts_(" of ");
    put_grouped(plan->count + plan->skipped);
    puts_("\n");
    for (i = 0; i < plan->count; i++) {
        puts_("  ");
        put_shown(plan->file[i].file.path.data, plan->file[i].file.path.size);
        puts_("  ");
        plural(plan->file[i].file.records, "row");
        puts_(plan->file[i].footer.data != NULL ? ", footer at hand\n" : "\n");
    }
    show_requests(&load->op);
}

static int command_plan(void)
{
    lake_world w;
    tl_load load;
    tl_plan plan;
    tl_error err;
    where *conditions = (where *)malloc(sizeof *conditions);
    int code = world_open(&w);
    if (conditions == NULL)
        abort();
    if (code != EXIT_DONE) {
        free(conditions);
        return code;
    }
    code = load_table(&w, &load, 0);
    if (code == EXIT_DONE) {
        code = where_parse(conditions, load.table);
        if (code == EXIT_DONE) {
            if (tl_plan_scan(&plan, load.table, &conditions->filter, NULL, &err) == TL_OK) {
                print_plan(&plan, &load);
                tl_plan_free(&plan);
            } else {
                code = err.status == TL_ABSENT || err.status == TL_MISUSE
                           ? usage(err.text, ": --where") : fail_status(&err);
            }
        }
        (void)tl_op_end(&load.op);
    }
    free(conditions);
    world_close(&w);
    return code;
}

/* ---- watch ---- */

static void print_change(const tl_load *load)
{
    tl_files files;
    size_t n = tl_head_files(&load->table->head, &files, NULL) == TL_OK ? files.count : 0;
    if (arguments.json) {
        puts_("{\"version\":");
        put_number(load->table->version);
        puts_(",\"source\":\"");
        puts_(source_word(load->table));
        puts_("\",\"files\":");
        put_number(n);
        puts_(",");
        json_requests(&load->op);
        puts_("}\n");
    } else {
        puts_("version ");
        put_grouped(load->table->version);
        puts_(" from the ");
        puts_(source_word(load->table));
        puts_(", ");
        plural(n, "file");
        puts_("\n");
    }
}

/* A version that came and went between two looks: printed too, unless it has been expired by now. */
static int print_passed(lake_world *w, uint64_t version)
{
    tl_load load;
    int code = EXIT_DONE;
    tl_status st = load_version(w, &load, version, 0);
    if (st == TL_OK)
        print_change(&load);
    else if (st != TL_ABSENT)
        code = fail_op(&load.op);
    else {
        puts_(arguments.json ? "{\"version\":" : "version ");
        put_number(version);
        puts_(arguments.json ? ",\"source\":\"expired\"}\n" : " expired before it was read\n");
    }
    forget_requests(); /* a line has the requests since the one before */
    (void)tl_op_end(&load.op);
    return code;
}

/* Loads again and again, always with a check, and prints each version that is new. --count N: ends after N of them. */
static int command_watch(void)
{
    lake_world w;
    tl_load load;
    int64_t every = duration_of(arguments.every == NULL ? "1s" : arguments.every);
    uint64_t seen = 0, newest, v;
    long left = arguments.count == 0 ? LONG_MAX : arguments.count;
    int code;
    if (every <= 0)
        return usage("not a duration such as 500ms, 1s or 2m: ", arguments.every);
    code = world_open(&w);
    if (code != EXIT_DONE)
        return code;
    for (;;) {
        forget_requests();
        code = load_table(&w, &load, -1);
        if (code != EXIT_DONE)
            break;
        newest = load.table->version;
        for (v = seen == 0 || newest < seen ? newest : seen + 1; code == EXIT_DONE && v <= newest && left > 0; v++) {
            if (v == newest)
                print_change(&load);
            else
                code = print_passed(&w, v);
            left -= arguments.count != 0;
        }
        seen = newest;
        (void)tl_op_end(&load.op);
        if (!output_sent(out) || code != EXIT_DONE || left == 0)
            break;
        tl_fs_pause_until(tl_fs_now() + every);
    }
    world_close(&w);
    return code;
}

/* ---- dump --as avro ---- */

static void avro_scalar(const tl_avro *a, const tl_avro_value *v)
{
    char text[64];
    switch (v->node->kind) {
    case TL_AVRO_NULL:
        puts_("null");
        break;
    case TL_AVRO_BOOLEAN:
        puts_(v->number ? "true" : "false");
        break;
    case TL_AVRO_INT:
    case TL_AVRO_LONG:
        put_signed(v->number);
        break;
    case TL_AVRO_FLOAT:
    case TL_AVRO_DOUBLE:
        if (v->real != v->real || v->real - v->real != 0) {
            puts_(v->real != v->real ? "\"NaN\"" : v->real > 0 ? "\"inf\"" : "\"-inf\"");
        } else {
            snprintf(text, sizeof text, v->node->kind == TL_AVRO_FLOAT ? "%.9g" : "%.17g", v->real);
            puts_(text);
        }
        break;
    case TL_AVRO_STRING:
        put_json(v->bytes);
        break;
    case TL_AVRO_ENUM: {
        const tl_json_node *symbol = tl_json_at(v->node->symbols, (uint32_t)v->number);
        tl_span raw = tl_json_raw(&a->schema, symbol);
        put(raw.data, raw.size);
        break;
    }
    default:
        put_char('"');
        put_hex(v->bytes);
        put_char('"');
        break;
    }
}

static tl_status avro_rows(tl_avro *a, tl_error *err)
{
    uint8_t first[TL_AVRO_DEPTH + 2];
    size_t depth = 0;
    tl_avro_value v;
    tl_status st;
    int rows = 0, keyed = 0;
    put_char('[');
    for (;;) {
        st = tl_avro_next(a, &v, err);
        if (st != TL_OK || v.event == TL_AVRO_EOF)
            break;
        if (v.event == TL_AVRO_ROW)
            continue;
        if (v.event == TL_AVRO_END) {
            put_char(v.node->kind == TL_AVRO_ARRAY ? ']' : '}');
            depth--;
            continue;
        }
        if (depth == 0) {
            if (rows++ > 0)
                put_char(',');
        } else if (!keyed) {
            if (!first[depth])
                put_char(',');
            first[depth] = 0;
            if (a->frames[depth - 1].node->kind == TL_AVRO_RECORD) {
                put_json(v.field->name);
                put_char(':');
            }
        }
        keyed = v.event == TL_AVRO_KEY;
        if (keyed) {
            put_json(v.bytes);
            put_char(':');
        } else if (v.event == TL_AVRO_VALUE) {
            avro_scalar(a, &v);
        } else {
            put_char(v.node->kind == TL_AVRO_ARRAY ? '[' : '{');
            first[++depth] = 1;
        }
    }
    put_char(']');
    return st;
}

static int dump_avro(const input *in)
{
    tl_avro *a = (tl_avro *)malloc(sizeof *a);
    tl_error err;
    tl_span key, value;
    tl_status st;
    uint32_t i;
    int first = 1;
    if (a == NULL)
        abort();
    st = tl_avro_open(a, in->data, in->size, NULL, NULL, &err);
    if (st == TL_OK) {
        tl_buffer b;
        memset(&b, 0, sizeof b);
        puts_("{\"schema\":");
        if (tl_json_canonical(&b, a->schema_text.data, a->schema_text.size, NULL, NULL) == TL_OK)
            put((const char *)b.data, b.size);
        tl_buffer_free(&b);
        puts_(",\"metadata\":{");
        for (i = 0; tl_avro_metadata_at(a, i, &key, &value); i++) {
            if (tl_span_equal(key, tl_text("avro.schema")))
                continue;
            if (!first)
                put_char(',');
            first = 0;
            put_json(key);
            put_char(':');
            put_json(value);
        }
        puts_("},\"rows\":");
        st = avro_rows(a, &err);
        puts_("}\n");
        tl_avro_close(a);
    }
    free(a);
    return st == TL_OK ? EXIT_DONE : fail_status(&err);
}

/* ---- dump --as parquet ---- */

static void put_iceberg_type(const tl_field *f)
{
    static const char *const names[] = {"other", "boolean", "int", "long", "float", "double", "decimal", "date", "time",
        "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed", "binary"};
    puts_(names[f->type]);
    if (f->type != TL_ICEBERG_DECIMAL && f->type != TL_ICEBERG_FIXED)
        return;
    put_char(f->type == TL_ICEBERG_FIXED ? '[' : '(');
    put_signed(f->precision);
    if (f->type == TL_ICEBERG_DECIMAL) {
        puts_(", ");
        put_signed(f->scale);
    }
    put_char(f->type == TL_ICEBERG_FIXED ? ']' : ')');
}

static void json_parquet(const tl_parquet *p)
{
    size_t start[2] = {0, 0};
    statistics s;
    uint32_t i;
    memset(&s, 0, sizeof s);
    s.start = start;
    s.alone = p->file.columns;
    start[1] = p->file.column_count;
    puts_("{\"rows\":");
    put_number(p->file.file.records);
    puts_(",\"row_groups\":");
    put_number(p->row_groups);
    puts_(",\"columns\":[");
    for (i = 0; i < p->field_count; i++) {
        const tl_field *f = &p->fields[i];
        puts_(i == 0 ? "{\"name\":" : ",{\"name\":");
        put_json(f->name);
        json_optional("field_id", f->id >= 0, f->id);
        puts_(",\"type\":\"");
        put_iceberg_type(f);
        puts_(f->required ? "\",\"required\":true}" : "\",\"required\":false}");
    }
    puts_("],\"data_file\":");
    json_file(&p->file.file, &s, 0);
    puts_("}\n");
}

static void show_parquet(const tl_parquet *p)
{
    uint32_t i;
    size_t k;
    heading(object_name());
    puts_(": Parquet, ");
    plural(p->file.file.records, "row");
    puts_(" in ");
    plural(p->row_groups, "row group");
    puts_("\n");
    for (i = 0; i < p->field_count; i++) {
        const tl_field *f = &p->fields[i];
        const tl_column *c = NULL;
        for (k = 0; k < p->file.column_count; k++)
            if (p->file.columns[k].field_id == f->id)
                c = &p->file.columns[k];
        puts_("  ");
        put_shown(f->name.data, f->name.size);
        put_char(' ');
        put_iceberg_type(f);
        puts_(f->required ? "" : "?");
        if (f->id < 0)
            puts_(", no field id");
        if (c != NULL && c->has_nulls) {
            puts_(", ");
            plural(c->nulls, "null");
        }
        if (c != NULL) {
            puts_(", ");
            plural(c->size, "byte");
        }
        puts_("\n");
    }
}

static int dump_parquet(const input *in)
{
    tl_parquet p;
    tl_error err;
    int code = EXIT_DONE;
    if (tl_parquet_data_file(&p, NULL, tl_text(arguments.file), in->data, in->size, in->size, NULL, &err) != TL_OK)
        code = fail_status(&err);
    else if (arguments.json)
        json_parquet(&p);
    else
        show_parquet(&p);
    tl_parquet_free(&p);
    return code;
}
