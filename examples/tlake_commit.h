/* The commands of tlake that commit: create, append, set. Included by tlake.c behind tlake_table.h. */

static const char help_commit[] =
    "usage: tlake create URL name:type[!]... [--time NAME [--series NAME,...] [--chunk hour|day|month]\n"
    "                    [--no-ingest-time]] [-o key=value]... [--trace] [--json]\n"
    "       tlake append URL FILE... [--copy] [--newest ROWS] [--batch-id ID] [--sorted] [-o key=value]...\n"
    "                    [--trace] [--json]\n"
    "       tlake set URL key=value|key... [-o key=value]... [--trace] [--json]\n"
    "\n"
    "Commits to a Timelake/Iceberg table, then writes its version hint and head.\n"
    "\n"
    "create  a table. Types are Iceberg's: boolean, int, long, float, double, decimal(10,2), date, time,\n"
    "        timestamp, timestamptz, string, uuid, fixed[16], binary; `!` behind one: required. --time: partitioned\n"
    "        by that column (a required timestamp), a day each unless --chunk says otherwise, with a last column\n"
    "        _ingest_ts that writers fill, unless --no-ingest-time; --series: the columns that make a series.\n"
    "append  adds Parquet files: each is read, its footer checked against the table, and uploaded under a new name.\n"
    "        Refused are a column that is missing though required, that has another type or name or no Parquet field\n"
    "        id, and rows of more than one partition. --copy: what is uploaded gets the table's field ids, by the\n"
    "        columns' names. --batch-id: committed once, however often it is tried.\n"
    "        --newest: an Arrow stream or file of rows that are in the files, all or the newest of each series: the\n"
    "        last-value index of the table goes on with them. Without it ends, which is said.\n"
    "        --sorted: your word that each file is sorted by series, time, insertion time (and, in a table with\n"
    "        dedup, has no series and time twice): readers rely on it.\n"
    "set     table properties; `key` alone takes it away.\n"
    "\n"
    "Prints the version; with --json {\"version\",\"snapshot_id\",\"attempts\",\"duplicate\",\"head\",\"hint\",\n"
    "\"index\"}.\n"
    "Exit codes: 3 the table exists, or others won ten times; 4 ambiguous: it may be in, look again before trying.\n";

/* Commits, publishes, and says so. */
static int commit_run(lake_world *w, tl_table *base, const tl_change *change)
{
    tl_commit c;
    tl_publish p;
    int code;
    memset(&p, 0, sizeof p);
    if (base == NULL)
        tl_commit_create(&c, &w->lake, tl_text(w->at.location), change);
    else
        tl_commit_begin(&c, &w->lake, base, change);
    code = place_run(&w->at, &c.op) == TL_OK ? EXIT_DONE : fail_op(&c.op);
    if (code == EXIT_DONE && !c.duplicate) {
        tl_publish_begin(&p, &w->lake, c.table);
        (void)place_run(&w->at, &p.op); /* the commit stands whatever became of it */
        (void)tl_op_end(&p.op);
    }
    if (code == EXIT_DONE && arguments.json) {
        puts_("{\"version\":");
        put_number(c.version);
        puts_(",\"snapshot_id\":");
        if (c.snapshot_id == 0)
            puts_("null");
        else
            put_signed(c.snapshot_id);
        puts_(",\"attempts\":");
        put_number(c.attempts);
        puts_(c.duplicate ? ",\"duplicate\":true" : ",\"duplicate\":false");
        puts_(p.head_written ? ",\"head\":true" : ",\"head\":false");
        puts_(p.hint_written ? ",\"hint\":true" : ",\"hint\":false");
        puts_(c.table->metadata.last_value_index.data != NULL ? ",\"index\":true}\n" : ",\"index\":false}\n");
    } else if (code == EXIT_DONE) {
        puts_("version ");
        put_number(c.version);
        puts_(c.duplicate ? ": the batch was in already\n"
              : p.head_written ? ", with its head\n" : ", without a head\n");
    }
    if (code == EXIT_DONE && !c.duplicate
        && (c.index_dropped || (change->newest != NULL && c.why_no_index.status != TL_OK)))
        fprintf(stderr, "tlake: %s: the table has no last-value index any more: %s\n", w->at.location,
                c.why_no_index.text);
    (void)tl_op_end(&c.op);
    return code;
}

/* ---- create ---- */

static int create_columns(tl_new_column *columns)
{
    size_t i, k;
    memset(columns, 0, arguments.column_count * sizeof *columns);
    for (i = 0; i < arguments.column_count; i++) {
        const char *a = arguments.columns[i], *colon = strchr(a, ':');
        if (colon == NULL || colon == a || colon[1] == 0)
            return usage("a column is name:type, or name:type! when it is required: ", a);
        columns[i].name.data = a;
        columns[i].name.size = (size_t)(colon - a);
        columns[i].type = tl_text(colon + 1);
        columns[i].required = (uint8_t)(colon[columns[i].type.size] == '!');
        columns[i].type.size -= columns[i].required;
        if (committing.time != NULL && tl_span_equal(columns[i].name, tl_text(committing.time)))
            columns[i].required = 1;
        for (k = 0; k < i; k++)
            if (tl_span_equal(columns[k].name, columns[i].name))
                return usage("two columns of one name: ", a);
    }
    return EXIT_DONE;
}

/* What is wrong with the arguments is told before anything is made: the table is created in memory first. */
static int create_tried(const tl_change *change)
{
    tl_mem store;
    tl_lake lake;
    tl_lake_options o;
    tl_commit c;
    tl_status st;
    int code = EXIT_DONE;
    memset(&o, 0, sizeof o);
    (void)tl_fs_random(o.seed, sizeof o.seed);
    (void)tl_lake_init(&lake, &o);
    tl_mem_init(&store, NULL);
    tl_commit_create(&c, &lake, tl_text("mem:///t"), change);
    st = tl_mem_run(&store, &c.op);
    if (st == TL_MISUSE || st == TL_UNSUPPORTED)
        code = usage(tl_op_error(&c.op)->text, "");
    (void)tl_op_end(&c.op);
    tl_lake_free(&lake);
    tl_mem_free(&store);
    return code;
}

/* The folder of a table, and those above it; what cannot be made is told when it is opened. */
static void make_folders(const char *path)
{
    char above[4096];
    size_t i, size = strlen(path);
    for (i = 1; i <= size && size < sizeof above; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        memcpy(above, path, i);
        above[i] = 0;
        (void)mkdir(above, 0777); /* it may be there */
    }
}

static int command_create(void)
{
    static const struct { const char *word; tl_chunk chunk; } chunks[] = {
        {"hour", TL_CHUNK_HOUR}, {"day", TL_CHUNK_DAY}, {"month", TL_CHUNK_MONTH}};
    static tl_new_column columns[sizeof arguments.columns / sizeof arguments.columns[0]];
    lake_world w;
    tl_new_table created;
    tl_change change;
    size_t i;
    int code;
    memset(&created, 0, sizeof created);
    memset(&change, 0, sizeof change);
    if (arguments.column_count == 0)
        return usage("which columns?", "");
    code = create_columns(columns);
    if (code != EXIT_DONE)
        return code;
    created.columns = columns;
    created.column_count = arguments.column_count;
    if (committing.time != NULL)
        created.time_column = tl_text(committing.time);
    else if (committing.series != NULL || committing.chunk != NULL)
        return usage("--series and --chunk are about tables with --time", "");
    if (committing.series != NULL)
        created.series_key = tl_text(committing.series);
    created.no_ingest_time = (uint8_t)committing.no_ingest_time;
    for (i = 0; committing.chunk != NULL && i < 3; i++)
        if (strcmp(committing.chunk, chunks[i].word) == 0)
            created.chunk = chunks[i].chunk;
    if (committing.chunk != NULL && created.chunk == TL_CHUNK_NONE)
        return usage("--chunk is hour, day or month: ", committing.chunk);
    change.kind = TL_CHANGE_CREATE;
    change.table = &created;
    code = create_tried(&change);
    if (code != EXIT_DONE)
        return code;
    if (strstr(arguments.file, "://") == NULL)
        make_folders(arguments.file);
    code = world_open(&w);
    if (code != EXIT_DONE)
        return code;
    code = commit_run(&w, NULL, &change);
    world_close(&w);
    return code;
}

/* ---- append ---- */

typedef struct append_file {
    tl_parquet parquet;
    input bytes;
    char path[4600];
} append_file;

/* `data/`, the partition's folder, and a name that is nobody else's: a UUID of version 7. */
static int append_path(append_file *a, const tl_metadata *m)
{
    static const char *const formats[] = {"%Y-%m-%d-%H", "%Y-%m-%d", "%Y-%m"};
    const tl_file *f = &a->parquet.file.file;
    char label[64] = "", hex[33];
    uint8_t random[16];
    uint64_t ms = (uint64_t)tl_fs_now();
    struct tm tm;
    time_t t;
    int i, kind = m->transform == TL_TRANSFORM_HOUR ? 0 : m->transform == TL_TRANSFORM_DAY ? 1 : 2;
    if (!tl_fs_random(random, sizeof random))
        return 0;
    for (i = 0; i < 6; i++)
        random[i] = (uint8_t)(ms >> (40 - 8 * i));
    random[6] = (uint8_t)((random[6] & 15) | 0x70);
    random[8] = (uint8_t)((random[8] & 63) | 0x80);
    for (i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", random[i]);
    if (f->has_partition && kind == 2) {
        int year = f->partition >= 0 ? f->partition / 12 : -((11 - f->partition) / 12);
        snprintf(label, sizeof label, "%04d-%02d", 1970 + year, f->partition - year * 12 + 1);
    } else if (f->has_partition) {
        t = (time_t)f->partition * (kind == 0 ? 3600 : 86400);
        if (gmtime_r(&t, &tm) == NULL || strftime(label, sizeof label, formats[kind], &tm) == 0)
            return 0;
    }
    snprintf(a->path, sizeof a->path, "%.*s/data/%.*s%s%s%s%.8s-%.4s-%.4s-%.4s-%s.parquet", (int)m->location.size,
             m->location.data, f->has_partition ? (int)m->partition_name.size : 0,
             f->has_partition ? m->partition_name.data : "", f->has_partition ? "=" : "", label,
             f->has_partition ? "/" : "", hex, hex + 8, hex + 12, hex + 16, hex + 20);
    a->parquet.file.file.path = tl_text(a->path);
    return 1;
}

/* An error about a file, or a column of it. */
static int append_fail(const char *name, tl_span column, const tl_error *err)
{
    char what[400];
    snprintf(what, sizeof what, "%.*s%s%s", (int)column.size, column.size == 0 ? "" : column.data,
             column.size == 0 ? "" : ": ", err->text);
    return fail(name, what, tl_status_text(err->status), err->position, EXIT_FAILED);
}

/* --copy: the bytes at hand get another end, which has field ids. */
static int append_ids(input *in, const tl_table *t, const char *name)
{
    tl_buffer end;
    tl_error err;
    tl_span column;
    uint64_t keep = 0;
    char *data;
    int code = EXIT_DONE;
    memset(&end, 0, sizeof end);
    if (tl_parquet_give_ids(&end, &keep, &t->metadata, in->data, in->size, in->size, NULL, &column, &err) != TL_OK)
        return append_fail(name, column, &err);
    data = (char *)realloc(in->data, (size_t)keep + end.size);
    if (data == NULL) {
        code = fail_errno(name, ENOMEM);
    } else {
        in->data = data;
        memcpy(data + keep, end.data, end.size);
        in->size = (size_t)keep + end.size;
    }
    tl_buffer_free(&end);
    return code;
}

/* Reads a file of the command line and makes the table's entry of it. */
static int append_read(append_file *a, const tl_table *t, const char *name)
{
    tl_parquet_options o;
    tl_error err;
    tl_span none;
    int code;
    memset(&o, 0, sizeof o);
    memset(&none, 0, sizeof none);
    o.sorted = (uint8_t)committing.sorted;
    arguments.file = name; /* what is read, and what an error is about */
    code = input_read(&a->bytes);
    if (code == EXIT_DONE && committing.copy)
        code = append_ids(&a->bytes, t, name);
    if (code != EXIT_DONE)
        return code;
    if (tl_parquet_data_file(&a->parquet, &t->metadata, none, a->bytes.data, a->bytes.size, a->bytes.size, &o, &err)
        != TL_OK)
        return append_fail(name, a->parquet.column, &err);
    a->parquet.file.body.data = a->bytes.data;
    a->parquet.file.body.size = a->bytes.size;
    return append_path(a, &t->metadata)
        ? EXIT_DONE : fail(name, "no name for it", "misuse", TL_NO_POSITION, EXIT_FAILED);
}

/* Rows for the last-value index, of an Arrow stream or file. */
typedef struct append_newest {
    input bytes;
    tl_document document;
    struct ArrowArray *arrays;
    const struct ArrowArray **batches;
    tl_rows rows;
} append_newest;

/* The stream in an Arrow file: it lies between a magic of eight bytes and a footer with its size and the magic. */
static tl_span newest_stream(const input *in)
{
    const unsigned char *end = (const unsigned char *)in->data + in->size;
    tl_span s;
    s.data = in->data;
    s.size = in->size;
    if (s.size > 18 && memcmp(s.data, "ARROW1", 6) == 0 && memcmp(end - 6, "ARROW1", 6) == 0) {
        uint64_t footer = end[-10] | (uint64_t)end[-9] << 8 | (uint64_t)end[-8] << 16 | (uint64_t)end[-7] << 24;
        s.data += 8;
        s.size = footer < s.size - 18 ? s.size - 18 - (size_t)footer : 0;
    }
    return s;
}

static int newest_read(append_newest *n, const char *name)
{
    tl_ipc_options o;
    tl_section *section;
    tl_error err;
    tl_span stream;
    size_t room;
    tl_status st;
    int code;
    memset(&o, 0, sizeof o);
    o.compression = compression();
    arguments.file = name;
    code = input_read(&n->bytes);
    if (code != EXIT_DONE)
        return code;
    stream = newest_stream(&n->bytes);
    st = tl_ipc_decode(&n->document, stream.data, stream.size, &o, &err);
    if (st != TL_OK)
        return fail(name, err.text, tl_status_text(st), err.position, EXIT_FAILED);
    section = &n->document.sections[0];
    room = (size_t)section->batch_count + 1;
    n->arrays = (struct ArrowArray *)calloc(room, sizeof *n->arrays);
    n->batches = (const struct ArrowArray **)calloc(room, sizeof *n->batches);
    if (n->arrays == NULL || n->batches == NULL)
        return fail_errno(name, ENOMEM);
    n->rows.schema = section->schema;
    n->rows.batches = n->batches;
    for (; n->rows.count + 1 < room && st == TL_OK; n->rows.count += st == TL_OK) {
        n->batches[n->rows.count] = &n->arrays[n->rows.count];
        st = tl_section_export(section, (int32_t)n->rows.count, NULL, &n->arrays[n->rows.count], &err);
    }
    return st == TL_OK ? EXIT_DONE : fail(name, err.text, tl_status_text(st), err.position, EXIT_FAILED);
}

static void newest_drop(append_newest *n)
{
    size_t i;
    for (i = 0; i < n->rows.count; i++)
        n->arrays[i].release(&n->arrays[i]);
    free(n->arrays);
    free((void *)n->batches);
    tl_document_free(&n->document);
    free(n->bytes.data);
}

static int append_all(lake_world *w, tl_table *base, append_file *files, tl_data_file *added)
{
    const char *url = arguments.file;
    append_newest newest;
    tl_change change;
    size_t i;
    int code = EXIT_DONE;
    memset(&change, 0, sizeof change);
    memset(&newest, 0, sizeof newest);
    for (i = 0; i < arguments.column_count && code == EXIT_DONE; i++) {
        code = append_read(&files[i], base, arguments.columns[i]);
        added[i] = files[i].parquet.file;
    }
    if (code == EXIT_DONE && committing.newest != NULL)
        code = newest_read(&newest, committing.newest);
    arguments.file = url;
    change.kind = TL_CHANGE_APPEND;
    change.newest = committing.newest != NULL ? &newest.rows : NULL;
    change.added = added;
    change.added_count = arguments.column_count;
    if (committing.batch != NULL)
        change.batch_id = tl_text(committing.batch);
    if (code == EXIT_DONE)
        code = commit_run(w, base, &change);
    newest_drop(&newest);
    return code;
}

static int command_append(void)
{
    lake_world w;
    tl_load load;
    append_file *files;
    tl_data_file *added;
    size_t i;
    int code;
    if (arguments.column_count == 0)
        return usage("which files?", "");
    code = world_open(&w);
    if (code != EXIT_DONE)
        return code;
    files = (append_file *)calloc(arguments.column_count, sizeof *files);
    added = (tl_data_file *)calloc(arguments.column_count, sizeof *added);
    if (files == NULL || added == NULL)
        code = fail_errno(arguments.file, ENOMEM);
    if (code == EXIT_DONE)
        code = load_table(&w, &load, -1);
    if (code == EXIT_DONE) {
        code = append_all(&w, load.table, files, added);
        (void)tl_op_end(&load.op);
    }
    for (i = 0; files != NULL && i < arguments.column_count; i++) {
        tl_parquet_free(&files[i].parquet);
        free(files[i].bytes.data);
    }
    free(files);
    free(added);
    world_close(&w);
    return code;
}

/* ---- set ---- */

static int command_set(void)
{
    static tl_property properties[sizeof arguments.columns / sizeof arguments.columns[0]];
    lake_world w;
    tl_load load;
    tl_change change;
    size_t i;
    int code;
    memset(&change, 0, sizeof change);
    if (arguments.column_count == 0)
        return usage("which properties?", "");
    for (i = 0; i < arguments.column_count; i++) {
        const char *a = arguments.columns[i], *equals = strchr(a, '=');
        properties[i].key = tl_text(a);
        memset(&properties[i].value, 0, sizeof properties[i].value);
        if (equals != NULL) {
            properties[i].key.size = (size_t)(equals - a);
            properties[i].value = tl_text(equals + 1);
        }
        if (properties[i].key.size == 0)
            return usage("a property is key=value, or key: ", a);
    }
    change.kind = TL_CHANGE_PROPERTIES;
    change.properties = properties;
    change.property_count = arguments.column_count;
    code = world_open(&w);
    if (code != EXIT_DONE)
        return code;
    code = load_table(&w, &load, -1);
    if (code == EXIT_DONE) {
        code = commit_run(&w, load.table, &change);
        (void)tl_op_end(&load.op);
    }
    world_close(&w);
    return code;
}
