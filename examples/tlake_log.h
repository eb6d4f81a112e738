/* The commands of tlake about timeseries tables: protocol, add-columns. Included by tlake.c behind tlake_table.h, whose
   world and requests they share. */

/* ---- types, as pyarrow spells them ---- */

static const struct { const char *name; tl_log_type type; const char *json; } log_types[] = {
    {"bool", TL_LOG_BOOL, "\"Bool\""}, {"int32", TL_LOG_INT32, "\"Int32\""}, {"int64", TL_LOG_INT64, "\"Int64\""},
    {"uint64", TL_LOG_UINT64, "\"UInt64\""}, {"float", TL_LOG_FLOAT32, "\"Float32\""},
    {"double", TL_LOG_FLOAT64, "\"Float64\""}, {"string", TL_LOG_UTF8, "\"Utf8\""},
    {"binary", TL_LOG_BINARY, "\"Binary\""}, {"int96", TL_LOG_INT96, "\"Int96\""}};

static void put_log_type(const tl_log_field *f);

static void put_log_child(const tl_log_field *f, int named)
{
    if (named) {
        put(f->name.data, f->name.size);
        puts_(": ");
    }
    put_log_type(f);
}

static void put_log_nested(const tl_log_field *f)
{
    uint32_t i;
    puts_(f->type == TL_LOG_STRUCT ? "struct<" : f->type == TL_LOG_LIST ? "list<" : "map<");
    for (i = 1; i < f->nodes; i += f[i].nodes) {
        if (i > 1)
            puts_(", ");
        put_log_child(&f[i], f->type != TL_LOG_MAP);
    }
    puts_(">");
}

/* The log nests 40 deep at most, so that this may call itself. */
static void put_log_type(const tl_log_field *f)
{
    static const char *const units[] = {"ms", "us", "ns"};
    char text[64];
    size_t i;
    for (i = 0; i < sizeof log_types / sizeof log_types[0]; i++)
        if (log_types[i].type == f->type)
            puts_(log_types[i].name);
    switch (f->type) {
    case TL_LOG_FIXED_BINARY:
        snprintf(text, sizeof text, "fixed_size_binary[%ld]", (long)f->width);
        puts_(text);
        break;
    case TL_LOG_TIMESTAMP:
        puts_("timestamp[");
        puts_(units[f->unit]);
        if (f->text.data != NULL) {
            puts_(", tz=");
            put(f->text.data, f->text.size);
        }
        puts_("]");
        break;
    case TL_LOG_DECIMAL:
        snprintf(text, sizeof text, "decimal%s(%ld, %ld)", f->width > 38 ? "256" : "128", (long)f->width,
                 (long)f->scale);
        puts_(text);
        break;
    case TL_LOG_STRUCT: case TL_LOG_LIST: case TL_LOG_MAP:
        put_log_nested(f);
        break;
    case TL_LOG_OTHER:
        put(f->text.data, f->text.size);
        break;
    default:
        break;
    }
}

/* The type of a column in the form of the log, appended; 0 when there is none of that name. */
static int log_type_json(output *to, const char *type)
{
    static const char *const units[] = {"ms", "Millis", "us", "Micros", "ns", "Nanos"};
    char text[256], zone[128] = "", unit[3] = "";
    int a, b = 0, end = 0;
    size_t i;
    output *before = out;
    text[0] = 0;
    for (i = 0; i < sizeof log_types / sizeof log_types[0]; i++)
        if (strcmp(type, log_types[i].name) == 0)
            snprintf(text, sizeof text, "%s", log_types[i].json);
    if (sscanf(type, "fixed_size_binary[%9d]%n", &a, &end) == 1 && end != 0 && type[end] == 0)
        snprintf(text, sizeof text, "{\"FixedBinary\":{\"byte_width\":%d}}", a);
    end = 0;
    if ((sscanf(type, "decimal128(%9d,%9d)%n", &a, &b, &end) == 2
         || sscanf(type, "decimal256(%9d,%9d)%n", &a, &b, &end) == 2)
        && end != 0 && type[end] == 0)
        snprintf(text, sizeof text, "{\"Decimal\":{\"precision\":%d,\"scale\":%d}}", a, b);
    end = 0;
    if ((sscanf(type, "timestamp[%2[mnus]]%n", unit, &end) == 1 && end != 0)
        || (sscanf(type, "timestamp[%2[mnus], tz=%120[^]\"\\]]%n", unit, zone, &end) == 2 && end != 0))
        for (i = 0; i < 6 && type[end] == 0; i += 2)
            if (strcmp(unit, units[i]) == 0)
                snprintf(text, sizeof text, "{\"Timestamp\":{\"unit\":\"%s\",\"timezone\":%s%s%s}}", units[i + 1],
                         zone[0] != 0 ? "\"" : "null", zone, zone[0] != 0 ? "\"" : "");
    out = to;
    puts_(type[0] == '{' || type[0] == '"' ? type : text); /* or as the log has it */
    out = before;
    return type[0] == '{' || type[0] == '"' || text[0] != 0;
}

/* ---- the handle ---- */

typedef struct log_world {
    lake_world lake;
    tl_log_settings settings;
    tl_log log;
    tl_log_call call;
} log_world;

static int log_open(log_world *w)
{
    int code;
    memset(w, 0, sizeof *w);
    code = world_open(&w->lake);
    if (code != EXIT_DONE)
        return code;
    w->settings.op.trace = on_trace;
    (void)tl_fs_random(w->settings.seed, sizeof w->settings.seed);
    tl_log_init(&w->log, tl_text(w->lake.at.location), &w->settings);
    tl_log_refresh(&w->call, &w->log);
    (void)place_run(&w->lake.at, &w->call.op);
    return EXIT_DONE;
}

static void log_close(log_world *w)
{
    (void)tl_op_end(&w->call.op);
    tl_log_free(&w->log);
    world_close(&w->lake);
}

/* One line, as every failure, with the rule's name and what it is about. */
static int fail_log(const log_world *w)
{
    char what[600], name[96];
    const tl_fault *f = &w->call.fault;
    const tl_error *err = tl_op_error(&w->call.op);
    tl_status st = tl_op_status(&w->call.op);
    tl_span key = tl_op_error_key(&w->call.op), said = tl_op_error_store(&w->call.op);
    char about[4096];
    if (st == TL_ABSENT && f->kind == TL_FAULT_EMPTY_TABLE)
        return fail(arguments.file, "no such table", "absent", TL_NO_POSITION, EXIT_NOT_FOUND);
    snprintf(about, sizeof about, "%.*s", (int)key.size, key.size == 0 ? "" : key.data);
    snprintf(what, sizeof what, "%s: %s%s%.*s%s%.*s", tl_fault_name(f, name), err->text != NULL ? err->text : "failed",
             f->about_size != 0 ? ": " : "", (int)f->about_size, f->about, said.size != 0 ? ": " : "", (int)said.size,
             said.size != 0 ? said.data : "");
    return fail(key.size == 0 ? arguments.file : about, what, tl_status_text(st), err->position,
                st == TL_CONFLICT || st == TL_EXISTS ? 3 : st == TL_AMBIGUOUS ? 4 : EXIT_FAILED);
}

/* ---- protocol ---- */

static void put_log_names(const tl_features *set, int quoted)
{
    size_t i;
    for (i = 0; i < set->count; i++) {
        if (i != 0)
            puts_(quoted ? "," : ", ");
        if (quoted)
            put_json(set->names[i]);
        else
            put(set->names[i].data, set->names[i].size);
    }
}

static void put_log_error(const char *member, const tl_fault *f, int bad)
{
    char name[96];
    puts_(",\"");
    puts_(member);
    puts_(bad ? "\":\"error\",\"" : "\":\"ok\",\"");
    puts_(member);
    puts_("_error\":");
    if (!bad) {
        puts_("null");
        return;
    }
    puts_("{\"kind\":");
    put_json(tl_text(tl_fault_name(f, name)));
    puts_(",\"message\":");
    put_json(tl_text(f->error.text != NULL ? f->error.text : ""));
    puts_(",\"about\":");
    put_json_text(f->about, f->about_size);
    puts_("}");
}

static void json_protocol(const tl_log_state *s, const tl_fault *read, const tl_fault *write)
{
    uint32_t i;
    puts_("{\"version\":");
    if (s != NULL)
        put_number(s->version);
    else
        puts_("null");
    put_log_error("read", read, s == NULL);
    put_log_error("write", s == NULL ? read : write, s == NULL || write->kind != TL_FAULT_NONE);
    puts_(",\"protocol_version\":");
    if (s != NULL)
        put_number(s->meta.protocol_version);
    else if (read->kind == TL_FAULT_VERSION)
        put_number(read->found);
    else
        puts_("null");
    puts_(",\"reader_features\":[");
    if (s != NULL)
        put_log_names(&s->meta.reader, 1);
    puts_("],\"writer_features\":[");
    if (s != NULL)
        put_log_names(&s->meta.writer, 1);
    puts_("],\"fields\":[");
    for (i = 0; s != NULL && i < s->meta.node_count; i += s->meta.fields[i].nodes) {
        const tl_log_field *f = &s->meta.fields[i];
        char *start;
        output type, *before = out;
        memset(&type, 0, sizeof type);
        puts_(i == 0 ? "{\"name\":" : ",{\"name\":");
        put_json(f->name);
        puts_(",\"type\":");
        out = &type;
        put_log_type(f);
        out = before;
        start = type.data;
        put_json_text(start == NULL ? "" : start, type.size);
        free(type.data);
        puts_(f->nullable ? ",\"nullable\":true}" : ",\"nullable\":false}");
    }
    puts_("]}\n");
}

static void show_protocol(const tl_log_state *s, const tl_fault *write)
{
    uint32_t i;
    heading("timeseries table ");
    put_shown(arguments.file, strlen(arguments.file));
    puts_("\n  version ");
    put_grouped(s->version);
    puts_(", protocol ");
    put_number(s->meta.protocol_version);
    puts_("\n  readers need: ");
    put_log_names(&s->meta.reader, 0);
    puts_(s->meta.reader.count == 0 ? "nothing\n  writers need: " : "\n  writers need: ");
    put_log_names(&s->meta.writer, 0);
    puts_(s->meta.writer.count == 0 ? "nothing\n" : "\n");
    puts_("  this program can read it");
    if (write->kind == TL_FAULT_NONE) {
        puts_(", and write it\n  ");
    } else {
        puts_(", but not write it: ");
        put_shown(write->about, write->about_size);
        puts_("\n  ");
    }
    plural(s->segment_count, "segment");
    puts_("\n\n");
    heading(s->meta.has_schema ? "columns\n" : "no schema yet\n");
    for (i = 0; i < s->meta.node_count; i += s->meta.fields[i].nodes) {
        puts_("  ");
        put_shown(s->meta.fields[i].name.data, s->meta.fields[i].name.size);
        puts_(" ");
        put_log_type(&s->meta.fields[i]);
        puts_(s->meta.fields[i].nullable ? "?\n" : "\n");
    }
}

static int command_protocol(void)
{
    log_world w;
    tl_fault write;
    int code = log_open(&w);
    if (code != EXIT_DONE)
        return code;
    memset(&write, 0, sizeof write);
    if (w.log.state != NULL) {
        tl_protocol p = tl_log_protocol(w.log.state);
        (void)tl_protocol_may_write(&p, NULL, &write);
        if (arguments.json)
            json_protocol(w.log.state, &w.call.fault, &write);
        else
            show_protocol(w.log.state, &write);
    } else if (arguments.json && w.call.fault.kind != TL_FAULT_EMPTY_TABLE) {
        json_protocol(NULL, &w.call.fault, &write); /* what is wrong is the answer */
        code = EXIT_FAILED;
    } else {
        code = fail_log(&w);
    }
    log_close(&w);
    return code;
}

/* ---- add-columns ---- */

/* The request as a JSON array in the form of the log; an exit code. */
static int log_columns(output *json)
{
    size_t i;
    out = json;
    for (i = 0; i < arguments.column_count; i++) {
        const char *a = arguments.columns[i], *colon = strchr(a, ':');
        puts_(i == 0 ? "[{\"name\":" : ",{\"name\":");
        if (colon != NULL)
            put_json_text(a, (size_t)(colon - a));
        puts_(",\"nullable\":true,\"data_type\":");
        if (colon == NULL || !log_type_json(json, colon + 1))
            return usage("a column is name:type, with a type as `tlake protocol` prints them: ", a);
        puts_("}");
    }
    puts_("]");
    return EXIT_DONE;
}

static int command_add_columns(void)
{
    log_world w;
    tl_log_fields fields;
    output json, *before = out;
    int code;
    if (arguments.column_count == 0)
        return usage("which columns?", "");
    memset(&json, 0, sizeof json);
    code = log_columns(&json);
    out = before;
    if (code == EXIT_DONE && tl_log_fields_parse(&fields, json.data, json.size, NULL, NULL) != TL_OK)
        code = usage("these are no columns of a timeseries table", "");
    free(json.data);
    if (code != EXIT_DONE)
        return code;
    code = log_open(&w);
    if (code == EXIT_DONE) {
        if (w.log.state != NULL) {
            (void)tl_op_end(&w.call.op);
            tl_log_add_columns(&w.call, &w.log, fields.fields, fields.node_count);
            (void)place_run(&w.lake.at, &w.call.op);
        }
        if (tl_op_status(&w.call.op) != TL_OK) {
            code = fail_log(&w);
        } else {
            puts_(arguments.json ? "{\"version\":" : "version ");
            put_number(w.call.version);
            puts_(arguments.json ? "}\n" : "\n");
        }
        log_close(&w);
    }
    tl_log_fields_free(&fields);
    return code;
}
