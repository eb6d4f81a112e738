/* Where tables lie, for the commands of tlake: in folders, and with libcurl (-DTLAKE_CURL) in S3 and its relatives,
   Azure Blob, Google Cloud Storage and behind plain HTTP(S). Included by tlake.c before the commands. */

#ifdef TLAKE_CURL
#define STORE_SCHEMES "s3:// s3a:// az:// azure:// abfs:// abfss:// gs:// http:// https://"
#else
#define STORE_SCHEMES ""
#endif

typedef struct place {
    tl_fs fs;
    int remote; /* 1: an object store, else a folder */
    char location[4096];
#ifdef TLAKE_CURL
    tl_http_store http;
    char account[80]; /* of abfss://container@account.host/ */
    tl_curl_options http_options;
    tl_curl *curl;
#endif
} place;

/* A duration of the command line in milliseconds: 500ms, 1s, 2m, 1h; -1 when it is none. */
static int64_t duration_of(const char *text)
{
    static const struct { const char *unit; int64_t ms; } units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    size_t digits = strspn(text, "0123456789"), i;
    long n = digits == 0 || digits > 9 ? -1 : strtol(text, NULL, 10);
    for (i = 0; i < sizeof units / sizeof units[0]; i++)
        if (n >= 0 && strcmp(text + digits, units[i].unit) == 0)
            return n * units[i].ms;
    return -1;
}

/* Wrong usage about a storage option. Its value may be a secret: only the name is said. */
static int usage_option(const char *what, const char *option)
{
    char name[80];
    size_t n = strcspn(option, "=");
    snprintf(name, sizeof name, "%.*s", (int)(n < 60 ? n : 60), option);
    return usage(what, name);
}

/* ---- progress: a line on the terminal that comes after a while and goes when it is over ---- */

static struct progress {
    int64_t began; /* 0: nothing runs */
    uint64_t requests, bytes;
    int shown;
} progress;

static void progress_end(void)
{
    if (progress.shown)
        fprintf(stderr, "\r\033[K");
    memset(&progress, 0, sizeof progress);
}

/* Something was answered. */
static void progress_step(uint64_t bytes)
{
    int64_t now = tl_fs_now();
    progress.requests++;
    progress.bytes += bytes;
    if (progress.began == 0)
        progress.began = now;
    if (arguments.json || arguments.trace || now - progress.began < 500 || !isatty(2))
        return;
    progress.shown = 1;
    fprintf(stderr, "\r%llu requests, %.1f MB, %.1f s\033[K", (unsigned long long)progress.requests,
            (double)progress.bytes / 1e6, (double)(now - progress.began) / 1e3);
}

/* ---- options: storage options by the names that Timelake has for them ---- */

/* What a lake does, whatever store it lies in: 1 taken, 0 another option, -1 no value of it. */
static int lake_option(tl_lake_options *lake, const char *name, const char *value)
{
    uint64_t number;
    if (strcmp(name, "timelake_version_lookup") == 0) {
        lake->lookup_hint = strcmp(value, "hint") == 0;
        return one_of(value, "list hint") ? 1 : -1;
    }
    if (strcmp(name, "timelake_freshness_check") == 0) {
        lake->freshness_list = strcmp(value, "list") == 0;
        return one_of(value, "head list") ? 1 : -1;
    }
    if (strncmp(name, "timelake_cache", 14) == 0) /* of its block cache: here nothing is cached */
        return 1;
    if (strcmp(name, "timelake_warm_connections") == 0) {
        int taken = number_of(value, 0, UINT32_MAX, &number);
        lake->warm_connections = (uint32_t)number;
        return taken ? 1 : -1;
    }
    return 0;
}

#ifdef TLAKE_CURL
static int truth_of(const char *value, int *truth)
{
    *truth = one_of(value, "1 true on yes");
    return *truth || one_of(value, "0 false off no") ? 1 : -1;
}

/* How it is talked to: the client options of Timelake's Rust client, with or without the store's prefix. */
static int client_option(tl_curl_options *o, tl_http_store *http, const char *name, const char *value)
{
    static const char *const prefixes[] = {"aws_", "azure_", "google_"};
    int64_t ms;
    size_t i;
    for (i = 0; i < 3; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    if (strcmp(name, "timeout") == 0 || strcmp(name, "connect_timeout") == 0) {
        ms = duration_of(value);
        if (name[0] == 't')
            o->timeout_ms = ms;
        else
            o->connect_ms = ms;
        return ms > 0 ? 1 : -1;
    }
    if (strcmp(name, "proxy_url") == 0)
        o->proxy = value;
    else if (strcmp(name, "user_agent") == 0)
        o->user_agent = value;
    else if (strcmp(name, "allow_invalid_certificates") == 0)
        return truth_of(value, &o->insecure);
    else if (strcmp(name, "http1_only") == 0)
        return truth_of(value, &o->http1);
    else if (strcmp(name, "allow_http") == 0)
        return truth_of(value, &http->allow_http);
    else
        return 0;
    return 1;
}

static void on_http_line(void *context, const char *line, size_t size)
{
    (void)context;
    fprintf(stderr, "* %.*s\n", (int)size, line);
}

/* The client options in the environment, AWS_TIMEOUT say; before those of the command line, which win. Values that are
   none are as good as not set. */
static void client_environment(place *p)
{
    static const char *const names[] = {"timeout", "connect_timeout", "proxy_url", "user_agent",
                                        "allow_invalid_certificates", "http1_only"};
    const char *prefix = p->http.dialect == TL_HTTP_S3      ? "AWS_"
                         : p->http.dialect == TL_HTTP_AZURE ? "AZURE_"
                         : p->http.dialect == TL_HTTP_GCS   ? "GOOGLE_" : NULL;
    size_t i, k;
    for (i = 0; i < sizeof names / sizeof names[0] && prefix != NULL; i++) {
        char name[64];
        const char *value;
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        for (k = 0; name[k] != 0; k++)
            name[k] = name[k] >= 'a' && name[k] <= 'z' ? (char)(name[k] - 'a' + 'A') : name[k];
        value = getenv(name);
        if (value != NULL && value[0] != 0)
            (void)client_option(&p->http_options, &p->http, names[i], value);
    }
}

/* What the environment says, where no option did; a credentials file last. */
static void store_environment(place *p)
{
    const char *ca = getenv("SSL_CERT_FILE");
    tl_http_environment(&p->http);
    if (p->http.dialect == TL_HTTP_S3 && !p->http.skip_signature)
        (void)tl_http_credentials_file(&p->http);
    p->http_options.ca_file = ca != NULL && ca[0] != 0 ? ca : NULL;
    p->http_options.log = arguments.verbose ? on_http_line : NULL;
}

/* Of abfss://container@account.host/ the account, if no option and no variable says whose the credentials are. */
static void store_account(place *p)
{
    const char *at = strchr(p->location, '@');
    if (p->http.dialect != TL_HTTP_AZURE || p->http.account != NULL || at == NULL)
        return;
    snprintf(p->account, sizeof p->account, "%.*s", (int)strcspn(at + 1, "./"), at + 1);
    p->http.account = p->account;
}

/* What is better on a store that its endpoint tells: of what is not there, Tigris is slow to say so to a HEAD. */
static void store_profile(const place *p, tl_lake_options *lake)
{
    const char *endpoint = p->http.endpoint;
    size_t i;
    for (i = 0; i < arguments.option_count; i++)
        if (strncmp(arguments.options[i], "timelake_freshness_check=", 25) == 0)
            return;
    if (p->http.dialect == TL_HTTP_S3 && endpoint != NULL
        && (strstr(endpoint, "tigris") != NULL || strstr(endpoint, "storage.dev") != NULL))
        lake->freshness_list = 1;
}
#endif

/* One -o key=value. */
static int place_option(place *p, const char *option, tl_lake_options *lake)
{
    const char *value = strchr(option, '=');
    char name[80];
    int done;
    if (value == NULL || value == option || (size_t)(value - option) >= sizeof name)
        return usage("a storage option is key=value", ""); /* and not said: it may be a secret that lost its key */
    snprintf(name, sizeof name, "%.*s", (int)(value - option), option);
    value++;
    if (strcmp(name, "timelake_local_root") == 0)
        return EXIT_DONE;
    done = lake_option(lake, name, value);
#ifdef TLAKE_CURL
    if (done == 0 && p->remote)
        done = client_option(&p->http_options, &p->http, name, value);
    if (done == 0 && p->remote)
        done = tl_http_option(&p->http, name, value);
    if (done < 0)
        return usage_option("not supported here, or not a value of it: ", option);
#else
    (void)p;
    if (done < 0)
        return usage_option("not a value of the storage option ", option);
#endif
    return done == 1 ? EXIT_DONE : usage_option("no such storage option: ", option);
}

/* ---- where it is ---- */

/* The location of a folder that is not there yet, for those who wait for it: what is there of its path, links resolved,
   and the rest behind that. 0, or an errno. */
static int place_absent(place *p, const char *path)
{
    char above[sizeof p->location], *real = NULL;
    size_t cut = strlen(path);
    int n;
    if (cut == 0 || cut >= sizeof above)
        return cut == 0 ? ENOENT : ENAMETOOLONG;
    memcpy(above, path, cut + 1);
    while (real == NULL) {
        while (cut > 0 && path[cut - 1] == '/')
            cut--;
        while (cut > 0 && path[cut - 1] != '/')
            cut--;
        above[cut] = 0;
        real = realpath(cut == 0 ? "." : above, NULL);
        if (real == NULL && ((errno != ENOENT && errno != ENOTDIR) || cut == 0))
            return errno;
    }
    n = snprintf(p->location, sizeof p->location, "file://%s/%s", strcmp(real, "/") == 0 ? "" : real, path + cut);
    free(real);
    return n < 0 || (size_t)n >= sizeof p->location ? ENAMETOOLONG : 0;
}

/* The location: a URI as it is, a path as the file:// URI of the folder. */
static int place_locate(place *p, int mapped)
{
    const char *url = arguments.file, *rest = strstr(url, "://");
    char scheme[16], *real;
    if (rest == NULL) {
        real = realpath(url, NULL);
        if (real == NULL) {
            int failed = errno;
            if ((failed == ENOENT || failed == ENOTDIR) && strcmp(arguments.command, "probe") == 0)
                failed = place_absent(p, url);
            return failed != 0 ? fail_errno(url, failed) : EXIT_DONE;
        }
        snprintf(p->location, sizeof p->location, "file://%s", real);
        free(real);
        return EXIT_DONE;
    }
    snprintf(scheme, sizeof scheme, "%.*s", rest - url < 12 ? (int)(rest - url) + 3 : 0, url);
    if (strlen(url) >= sizeof p->location)
        return usage("a URL that is too long", "");
    snprintf(p->location, sizeof p->location, "%s", url);
    if (strcmp(scheme, "file://") == 0 || mapped)
        return EXIT_DONE;
    if (!one_of(scheme, STORE_SCHEMES)) {
        if (tl_text(STORE_SCHEMES).size == 0 && one_of(scheme, "s3:// s3a:// az:// azure:// abfs:// abfss:// gs:// "
                                                               "http:// https://"))
            return usage("this tlake was built without libcurl: object stores only with -o timelake_local_root=DIR, "
                         "which maps one onto a folder", "");
        return usage("a scheme that this tool does not know: ", scheme);
    }
    p->remote = 1;
    if (rest[3] == 0 || rest[3] == '/')
        return usage("no bucket, container or host behind ", scheme);
    if ((strncmp(scheme, "http", 4) == 0 && strpbrk(url, "?#@") != NULL))
        return usage("a table's URL has no user, query or fragment (and this one is not repeated here)", "");
    return EXIT_DONE;
}

/* Takes the command line's URL and options. EXIT_DONE, or what was said. */
static int place_open(place *p, tl_lake_options *lake)
{
    tl_fs_options fs;
    size_t i;
    int code;
    memset(p, 0, sizeof *p);
    memset(&fs, 0, sizeof fs);
    for (i = 0; i < arguments.option_count; i++)
        if (strncmp(arguments.options[i], "timelake_local_root=", 20) == 0)
            fs.local_root = arguments.options[i] + 20;
    code = place_locate(p, fs.local_root != NULL);
#ifdef TLAKE_CURL
    tl_http_init(&p->http, tl_http_scheme(tl_text(p->location)));
    client_environment(p);
#endif
    for (i = 0; i < arguments.option_count && code == EXIT_DONE; i++)
        code = place_option(p, arguments.options[i], lake);
    if (code != EXIT_DONE)
        return code;
    tl_fs_open(&p->fs, &fs);
#ifdef TLAKE_CURL
    if (p->remote) {
        store_environment(p);
        store_account(p);
        store_profile(p, lake);
        if (p->http.dialect == TL_HTTP_PLAIN) {
            lake->store = TL_STORE_HTTPS;
            p->http.endpoint = p->location; /* whom a bearer token is for */
        }
        p->curl = tl_curl_open(&p->http, &p->http_options);
        if (p->curl == NULL)
            return fail(p->location, "no memory for libcurl", "no memory", TL_NO_POSITION, EXIT_FAILED);
    }
#endif
    return EXIT_DONE;
}

/* Drives an operation to its end. */
static tl_status place_run(place *p, tl_op *op)
{
    tl_status st;
#ifdef TLAKE_CURL
    st = p->remote ? tl_curl_run(p->curl, op) : tl_fs_run(&p->fs, op);
#else
    st = tl_fs_run(&p->fs, op);
#endif
    progress_end();
    return st;
}

static void place_close(place *p)
{
#ifdef TLAKE_CURL
    tl_curl_close(p->curl);
    tl_http_close(&p->http);
#endif
    tl_fs_close(&p->fs);
}
