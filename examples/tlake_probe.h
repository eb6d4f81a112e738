/* The commands of tlake about numbered objects: probe follows a directory of them, cost says what polling one costs.
   Included by tlake.c, after tlake_table.h where that is. */

/* ---- cost ---- */

/* Dollars for 1,000 requests, and how the polling goes; read by cost_option. */
static struct cost_arguments {
    const char *every, *write_every, *life;
    const char *about; /* the last option of cost alone */
    const char *bad;   /* not NULL: what should have been a number */
    double processes, list_usd, get_usd, put_usd;
} cost = {"1s", NULL, NULL, NULL, NULL, 1, 0.005, 0.0004, 0.005};

#define MONTH_SECONDS (30.0 * 86400)

/* A decimal number, without a sign and no word such as nan; negative when the text does not begin with one. */
static double decimal_of(const char *text, char **end)
{
    double n = strtod(text, end);
    return strchr("0123456789.", text[0]) == NULL || *end == text || (text[1] | 32) == 'x' ? -1 : n;
}

/* Seconds of a duration: 500ms, 1s, 2m, 1h, 1d; negative when it is none, or less than 1ms, or of millennia. */
static double seconds_of(const char *text)
{
    char *end;
    double n = decimal_of(text, &end);
    double unit = strcmp(end, "ms") == 0 ? 0.001
                  : strcmp(end, "s") == 0 ? 1
                  : strcmp(end, "m") == 0 ? 60
                  : strcmp(end, "h") == 0 ? 3600
                  : strcmp(end, "d") == 0 ? 86400 : 0;
    return n * unit >= 0.001 && n * unit <= 1e11 ? n * unit : -1;
}

/* Requests of a month for one way to find the newest object. */
typedef struct cost_sum {
    const char *name, *key;
    double list, get, put;
} cost_sum;

static double dollars(const cost_sum *s)
{
    return (s->list * cost.list_usd + s->get * cost.get_usd + s->put * cost.put_usd) / 1000;
}

/* A warm read of cached probing, k versions behind: up to 4 hits, then a listing; the boundary each time. */
static void probe_behind(cost_sum *s, double reads, double k)
{
    s->get += reads * (k < 4 ? k + 2 : k == 4 ? 5 : 6);
    s->list += k < 4 ? 0 : reads;
}

static void print_sum(const cost_sum *s)
{
    char text[512];
    if (arguments.json) {
        snprintf(text, sizeof text, "\"%s_usd\":%.4f,\"%s\":{\"list\":%.0f,\"get\":%.0f,\"put\":%.0f}", s->key,
                 dollars(s), s->key, s->list, s->get, s->put);
    } else {
        snprintf(text, sizeof text, "%-16s %12.0f LIST %12.0f GET %10.0f PUT  $%.2f + $%.2f + $%.2f = $%.2f a month\n",
                 s->name, s->list, s->get, s->put, s->list * cost.list_usd / 1000, s->get * cost.get_usd / 1000,
                 s->put * cost.put_usd / 1000, dollars(s));
    }
    puts_(text);
}

/* Reads come every so often in each process, versions evenly; a process that starts knows nothing. */
static int command_cost(void)
{
    cost_sum sums[3] = {{"LIST each time", "list", 0, 0, 0}, {"cached probing", "probe", 0, 0, 0},
                        {"CURRENT pointer", "pointer", 0, 0, 0}};
    double every = seconds_of(cost.every), writes = cost.write_every == NULL ? 0 : seconds_of(cost.write_every);
    double life = cost.life == NULL ? 0 : seconds_of(cost.life), reads, cold, k, low, more;
    char text[256];
    int i;
    if (cost.bad != NULL)
        return usage("not a number, or none that makes sense: ", cost.bad);
    if (every <= 0 || writes < 0 || life < 0)
        return usage("not a duration such as 500ms, 1s, 2m, 1h or 1d: ",
                     every <= 0 ? cost.every : writes < 0 ? cost.write_every : cost.life);
    reads = cost.processes * MONTH_SECONDS / every;
    cold = life == 0 ? 0 : cost.processes * MONTH_SECONDS / life;
    cold = cold < reads ? cold : reads;
    k = writes == 0 ? 0 : every / writes;
    low = (double)(uint64_t)k;
    more = k - low; /* so many of the reads are one version further behind */
    sums[0].list = reads;
    sums[0].get = 2 * reads;
    probe_behind(&sums[1], (reads - cold) * (1 - more), low);
    probe_behind(&sums[1], (reads - cold) * more, low + 1);
    sums[1].list += cold;
    sums[1].get += 2 * cold;
    sums[2].get = 2 * reads + cold + (reads - cold) * (k < 1 ? k : 1); /* pointer, boundary, and what is new */
    sums[2].put = writes == 0 ? 0 : MONTH_SECONDS / writes;
    if (!arguments.json) {
        snprintf(text, sizeof text, "%.0f reads in 30 days, %.0f of them cold; %g new versions a read\n", reads,
                 cold, k);
        puts_(text);
    } else
        puts_("{");
    for (i = 0; i < 3; i++) {
        if (i > 0 && arguments.json)
            put_char(',');
        print_sum(&sums[i]);
    }
    if (arguments.json) {
        snprintf(text, sizeof text, ",\"reads\":%.0f,\"cold_reads\":%.0f,\"versions_per_read\":%g}\n", reads, cold, k);
        puts_(text);
    }
    return EXIT_DONE;
}

/* ---- the command line ---- */

static struct probe_arguments {
    const char *suffix, *digits;
    const char *about; /* the last option of probe alone */
    int no_boundary;
} probing;

static int price(const char *text, double *value)
{
    char *end;
    *value = decimal_of(text, &end);
    return *end == 0 && *value >= 0 && *value < 1e9;
}

static const char *option_value(const char *name, int argc, char **argv, int *i);

/* Takes an option of these two commands: 1; 0: it is another. */
static int probe_option(int argc, char **argv, int *i)
{
    static const struct { const char *name; double *value; } numbers[] = {
        {"--list-usd", &cost.list_usd}, {"--get-usd", &cost.get_usd}, {"--put-usd", &cost.put_usd}};
    static const struct { const char *name; const char **value, **of; } texts[] = {
        {"--suffix", &probing.suffix, &probing.about}, {"--digits", &probing.digits, &probing.about},
        {"--write-every", &cost.write_every, &cost.about}, {"--life", &cost.life, &cost.about}};
    const char *v;
    uint64_t whole;
    size_t n;
    if (strcmp(argv[*i], "--no-boundary") == 0) {
        probing.about = "--no-boundary";
        return probing.no_boundary = 1;
    }
    if ((v = option_value("--processes", argc, argv, i)) != NULL) {
        cost.about = "--processes";
        cost.bad = number_of(v, 1, 1000000000, &whole) ? cost.bad : v;
        cost.processes = (double)whole;
        return 1;
    }
    for (n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
        if ((v = option_value(numbers[n].name, argc, argv, i)) != NULL) {
            cost.about = numbers[n].name;
            cost.bad = price(v, numbers[n].value) ? cost.bad : v;
            return 1;
        }
    for (n = 0; n < sizeof texts / sizeof texts[0]; n++)
        if ((v = option_value(texts[n].name, argc, argv, i)) != NULL) {
            *texts[n].value = v;
            *texts[n].of = texts[n].name;
            return 1;
        }
    return 0;
}

static const char help_probe[] =
    "usage: tlake probe URL [--suffix .manifest] [--digits N] [--no-boundary] [--every 1s] [--count N]\n"
    "                       [-o key=value]... [--trace] [--json]\n"
    "       tlake cost [--every 1s] [--processes N] [--write-every D] [--life D] [--list-usd X] [--get-usd X]\n"
    "                  [--put-usd X] [--json]\n"
    "\n"
    "probe   the newest of the numbered objects in the folder URL, such as SlateDB's manifests: one GET when nothing\n"
    "        is new, checked against the boundary object ../gc/<folder>.boundary. Where there are none, and be it\n"
    "        that there is no folder, there is nothing there yet: exit code 5. With --every it follows them, and\n"
    "        prints a line for each new one, or that there is nothing yet; --count N: ends after N lines.\n"
    "        --suffix S       of their names, by default the name of the folder\n"
    "        --digits N       ids are padded with zeros to so many, by default 20; 0: not padded\n"
    "        --no-boundary    nothing keeps one: looks whether the object that is known still is there\n"
    "        --json           {\"latest\":id or null,\"bytes\",\"requests\":[REQ],\"round_trips\",\"counters\":{}}\n"
    "cost    what it costs in a month of 30 days to poll for the newest object, by listing, by cached probing, and by\n"
    "        a pointer that each writer moves: --processes (1) that read --every (1s) and start anew every --life\n"
    "        (never), a new version --write-every (never); dollars for 1,000 requests, by default those of S3 in\n"
    "        us-east-1.\n"
    "        --json           {\"list_usd\",\"list\":{\"list\",\"get\",\"put\"}, probe and pointer alike, \"reads\",\n"
    "                         \"cold_reads\",\"versions_per_read\"}\n";

#ifdef TLAKE_TABLES
/* ---- probe ---- */

typedef struct probe_world {
    place at;
    tl_layout layout;
    tl_probe_options options;
    tl_probe_counters counters;
    tl_probe probe;
    char directory[1024], suffix[256], boundary[1100];
} probe_world;

/* The folder's URL in two, and what its objects are called. */
static int probe_open(probe_world *w)
{
    tl_lake_options ignored;
    char *slash, *end, *root = w->at.location;
    uint64_t digits = 20;
    int code;
    memset(w, 0, sizeof *w);
    memset(&ignored, 0, sizeof ignored);
    code = place_open(&w->at, &ignored);
    if (code != EXIT_DONE)
        return code;
    for (end = root + strlen(root); end > root && end[-1] == '/'; end--)
        end[-1] = 0;
    slash = strrchr(root, '/');
    if (slash == NULL || slash[1] == 0 || strlen(slash + 1) >= sizeof w->directory)
        return usage("not a folder of numbered objects: ", arguments.file);
    snprintf(w->directory, sizeof w->directory, "%s", slash + 1);
    slash[1] = 0;
    snprintf(w->suffix, sizeof w->suffix, "%.255s", probing.suffix == NULL ? w->directory
                                                     : probing.suffix + (probing.suffix[0] == '.'));
    snprintf(w->boundary, sizeof w->boundary, "gc/%s.boundary", w->directory);
    w->layout.directory = w->directory;
    w->layout.suffix = w->suffix;
    w->layout.boundary = probing.no_boundary ? NULL : w->boundary;
    if (probing.digits != NULL && !number_of(probing.digits, 0, 20, &digits))
        return usage("--digits takes a number up to 20: ", probing.digits);
    w->layout.digits = (uint32_t)digits;
    w->options.counters = &w->counters;
    w->options.verify = (uint8_t)probing.no_boundary;
    w->options.op.trace = on_trace;
    if (tl_probe_init(&w->probe, &w->layout, tl_text(root), &w->options) != TL_OK)
        return usage("not a layout of numbered objects: ", arguments.file);
    return EXIT_DONE;
}

static void json_counters(const tl_probe_counters *c)
{
    static const struct { const char *name; size_t at; } counters[] = {
        {"latest_read.hit", offsetof(tl_probe_counters, latest_hits)},
        {"latest_read.miss", offsetof(tl_probe_counters, latest_misses)},
        {"probe.hit", offsetof(tl_probe_counters, probe_hits)},
        {"probe.miss", offsetof(tl_probe_counters, probe_misses)},
        {"probe.error", offsetof(tl_probe_counters, probe_errors)},
        {"cache_advance.read", offsetof(tl_probe_counters, advances_read)},
        {"cache_invalidation.boundary", offsetof(tl_probe_counters, dropped_boundary)},
        {"cache_invalidation.delete", offsetof(tl_probe_counters, dropped_delete)},
        {"cache_invalidation.empty_list", offsetof(tl_probe_counters, dropped_empty_list)},
        {"list_fallback", offsetof(tl_probe_counters, list_fallbacks)},
        {"relist", offsetof(tl_probe_counters, relists)}};
    size_t i;
    puts_("\"counters\":{");
    for (i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        uint64_t value;
        memcpy(&value, (const char *)c + counters[i].at, sizeof value);
        puts_(i == 0 ? "\"" : ",\"");
        puts_(counters[i].name);
        puts_("\":");
        put_number(value);
    }
    puts_("}");
}

static void print_newest(const probe_world *w, const tl_probe_call *call)
{
    int found = call->op.turn == TL_DONE;
    if (arguments.json) {
        puts_("{\"latest\":");
        if (found)
            put_number(call->id);
        else
            puts_("null");
        puts_(",\"bytes\":");
        put_number(call->body.size);
        puts_(",");
        json_requests(&call->op);
        puts_(",");
        json_counters(&w->counters);
        puts_("}\n");
    } else if (found) {
        put_grouped(call->id);
        puts_(", ");
        plural(call->body.size, "byte");
        puts_(", by ");
        plural(tl_op_requests(&call->op), "request");
        puts_("\n");
    } else
        puts_("nothing there yet\n");
}

/* Of a single look: an empty sequence is not found. */
static int probe_nothing(const probe_world *w, const tl_probe_call *call)
{
    if (arguments.json)
        print_newest(w, call);
    fail_line(arguments.file, "nothing there yet", "absent", TL_NO_POSITION);
    return EXIT_NOT_FOUND;
}

/* Reads once; with --every or --count again and again, and prints what is new. */
static int command_probe(void)
{
    static probe_world w;
    static tl_probe_call call;
    int64_t every = duration_of(arguments.every == NULL ? "1s" : arguments.every);
    uint64_t seen = UINT64_MAX;
    long lines = 0;
    int code, once = arguments.every == NULL && arguments.count == 0;
    if (every <= 0)
        return usage("not a duration such as 500ms, 1s or 2m: ", arguments.every);
    code = probe_open(&w);
    while (code == EXIT_DONE) {
        forget_requests();
        tl_probe_latest(&call, &w.probe);
        (void)place_run(&w.at, &call.op);
        if (call.op.turn == TL_FAILED)
            code = fail_op(&call.op);
        else if (once && call.op.turn != TL_DONE)
            code = probe_nothing(&w, &call);
        else if (call.id != seen) {
            seen = call.id;
            lines++;
            print_newest(&w, &call);
        }
        (void)tl_op_end(&call.op);
        if (!output_sent(out) || once || (arguments.count != 0 && lines >= arguments.count))
            break;
        if (code == EXIT_DONE)
            tl_fs_pause_until(tl_fs_now() + every);
    }
    forget_requests();
    free(request_lines);
    tl_probe_free(&w.probe);
    place_close(&w.at);
    return code;
}
#endif
