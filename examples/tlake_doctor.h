/* tlake doctor: is an object store safe to read from and to commit to? Included by tlake.c behind tlake_table.h; with
   libcurl only. It asks for what machines ask for, looks at what came of it, and says it in plain words. */

static const char help_doctor[] =
    "usage: tlake doctor URL [--one-writer] [--count N] [-o key=value]... [--verbose] [--json]\n"
    "\n"
    "Whether the store at URL may be read from and committed to: credentials, clock, reads and ranges, listings by a\n"
    "raw prefix, put if absent, replace by ETag, each alone and with 16 writers whose last bytes go out together,\n"
    "N times (three, and more for two seconds); kept connections, delay. It writes below URL/tlake-doctor-<random>/\n"
    "and deletes that again. What a store answers alone proves little: some that refuse a second writer let twenty\n"
    "win when they come at once.\n"
    "\n"
    "Exit code 0: safe for readers and writers. 1: not safe for writers, or not even for readers; the checks say why.\n"
    "A store that ignores conditions is refused, unless --one-writer says that nobody else ever writes there.\n"
    "Loading a table never depends on conditions.\n"
    "\n"
    "  --json  {\"checks\":[{\"name\",\"ok\",\"detail\"}],\"read\":bool,\"write\":bool}\n";

#ifdef TLAKE_CURL
enum { DOCTOR_WRITERS = 16, DOCTOR_BODY = 200, DOCTOR_NAMES = 64, DOCTOR_GETS = 20 };

/* What came of a request, kept. */
typedef struct doctor_answer {
    tl_outcome outcome;
    char body[512]; /* the beginning */
    uint64_t size, offset, object_size;
    char etag[256], page[1024], text[300];
    int done;
} doctor_answer;

typedef struct doctor {
    place at;
    char folder[4300];              /* of what it writes, with a last slash */
    char sample[4600];              /* an object that is there; "" when none is known */
    doctor_answer seen;             /* its content */
    char names[DOCTOR_NAMES][256];  /* of a listing, behind the folder */
    size_t name_count;
    int checks, can_read, can_write;
    int made;                       /* something was written */
    int rounds[2];                  /* of races: create, replace */
    int64_t slowest;                /* ms until the last writer of a race was told */
} doctor;

static void doctor_keep(char *to, size_t size, tl_span s)
{
    size_t n = s.size < size - 1 ? s.size : size - 1;
    if (n != 0)
        memcpy(to, s.data, n);
    to[n] = 0;
}

static void doctor_done(void *user, const tl_request *request, const tl_completion *c)
{
    doctor_answer *a = (doctor_answer *)user;
    memset(a, 0, sizeof *a);
    a->outcome = c->outcome;
    a->size = c->body.size;
    a->offset = c->body_offset;
    a->object_size = c->object_size;
    doctor_keep(a->body, sizeof a->body, c->body);
    doctor_keep(a->etag, sizeof a->etag, c->etag);
    doctor_keep(a->page, sizeof a->page, c->next_page);
    doctor_keep(a->text, sizeof a->text, c->text);
    a->done = 1;
    progress_step(request->kind == TL_PUT ? request->body_size : c->body.size);
}

/* The same of a page of a listing: names too. */
typedef struct doctor_page {
    doctor_answer answer;
    doctor *d;
} doctor_page;

static void doctor_listed(void *user, const tl_request *request, const tl_completion *c)
{
    doctor_page *p = (doctor_page *)user;
    size_t i, lead = strlen(p->d->folder);
    doctor_done(&p->answer, request, c);
    for (i = 0; i < c->entry_count; i++) {
        tl_span key = c->entries[i].key;
        if (p->d->name_count == DOCTOR_NAMES || key.size < lead)
            continue;
        key.data += lead;
        key.size -= lead;
        doctor_keep(p->d->names[p->d->name_count++], 256, key);
    }
}

static void doctor_wait(doctor *d, const doctor_answer *a)
{
    while (!a->done)
        (void)tl_curl_wait(d->at.curl, tl_curl_now() + 1000);
}

static tl_request doctor_request(tl_request_kind kind, const char *key)
{
    tl_request q;
    memset(&q, 0, sizeof q);
    q.token = 1;
    q.kind = kind;
    q.key = tl_text(key);
    q.length = TL_WHOLE;
    q.accept = kind == TL_GET ? UINT64_C(64) << 20 : 0;
    return q;
}

static doctor_answer doctor_send(doctor *d, const tl_request *q)
{
    doctor_answer a;
    memset(&a, 0, sizeof a);
    if (!tl_curl_send(d->at.curl, q, doctor_done, &a))
        abort();
    doctor_wait(d, &a);
    return a;
}

static const char *doctor_name(const doctor *d, const char *name)
{
    static char key[4600];
    snprintf(key, sizeof key, "%s%s", d->folder, name);
    return key;
}

static doctor_answer doctor_get(doctor *d, const char *key, uint64_t offset, uint64_t length)
{
    tl_request q = doctor_request(TL_GET, key);
    q.offset = offset;
    q.length = length;
    return doctor_send(d, &q);
}

static doctor_answer doctor_put(doctor *d, const char *name, tl_condition condition, const char *etag, const char *text)
{
    tl_request q = doctor_request(TL_PUT, doctor_name(d, name));
    tl_span body = tl_text(text);
    q.condition = condition;
    q.etag = tl_text(etag);
    q.body = &body;
    q.body_count = 1;
    q.body_size = body.size;
    d->made = 1;
    return doctor_send(d, &q);
}

/* ---- what is said ---- */

static void doctor_say(doctor *d, const char *name, int ok, const char *detail)
{
    progress_end();
    if (arguments.json) {
        puts_(d->checks == 0 ? "{\"checks\":[{\"name\":" : ",{\"name\":");
        put_json_text(name, strlen(name));
        puts_(ok ? ",\"ok\":true,\"detail\":" : ",\"ok\":false,\"detail\":");
        put_json_text(detail, strlen(detail));
        puts_("}");
    } else {
        char line[64];
        snprintf(line, sizeof line, "  %-13s %s  ", name, ok ? "ok" : "NO");
        puts_(line);
        put_shown(detail, strlen(detail));
        puts_("\n");
        output_flush(out);
        (void)fflush(stdout);
    }
    d->checks++;
}

static void doctor_fault(doctor *d, const char *name, const char *detail, const doctor_answer *a)
{
    char text[700];
    snprintf(text, sizeof text, "%s (%s%s%s)", detail, tl_outcome_text(a->outcome), a->text[0] != 0 ? ": " : "",
             a->text);
    doctor_say(d, name, 0, text);
}

/* ---- the checks ---- */

/* Credentials, and that what is not there is said not to be there. 0: there is no store to ask. */
static int doctor_credentials(doctor *d)
{
    doctor_answer a = doctor_get(d, doctor_name(d, "none"), 0, TL_WHOLE);
    int64_t skew = tl_curl_skew(d->at.curl);
    char text[200];
    d->can_read = a.outcome == TL_OUTCOME_NOT_FOUND;
    if (d->can_read)
        doctor_say(d, "credentials", 1, "taken, and what is not there is said to be absent");
    else if (a.outcome == TL_OUTCOME_OK)
        doctor_say(d, "credentials", 0, "an object that is not there is answered with one: absent cannot be told");
    else
        doctor_fault(d, "credentials", "refused, or an object that is not there cannot be told from one that is", &a);
    if (skew == INT64_MIN) {
        doctor_say(d, "clock", 1, "the store does not tell its time");
        return d->can_read || a.outcome == TL_OUTCOME_OK || strncmp(a.text, "HTTP", 4) == 0;
    }
    snprintf(text, sizeof text, "the store's clock is %.0f s %s ours%s", (double)(skew < 0 ? -skew : skew) / 1000,
             skew < 0 ? "behind" : "ahead of", skew < -300000 || skew > 300000
             ? ": signatures are made for its time, other clients may be refused" : "");
    doctor_say(d, "clock", skew >= -300000 && skew <= 300000,
               skew > -2000 && skew < 2000 ? "the store's clock and ours agree" : text); /* it tells whole seconds */
    return 1;
}

/* Finds or makes the object that reads are tried on. */
static void doctor_sample(doctor *d)
{
    static const char *const known[] = {"/metadata/timelake-head", "/metadata/version-hint.text"};
    doctor_answer a = doctor_put(d, "v1", TL_ALWAYS, "", "{\"doctor\":\"0123456789abcdef\"}");
    size_t i;
    d->can_write = a.outcome == TL_OUTCOME_OK;
    if (d->can_write) {
        doctor_say(d, "put", 1, "an object was written");
        snprintf(d->sample, sizeof d->sample, "%s", doctor_name(d, "v1"));
        return;
    }
    d->made = a.outcome == TL_OUTCOME_UNKNOWN;
    doctor_fault(d, "put", "nothing can be written", &a);
    for (i = 0; i < 2 && d->sample[0] == 0; i++) {
        char key[4600];
        snprintf(key, sizeof key, "%s%s", d->at.location, known[i]);
        if (doctor_get(d, key, 0, TL_WHOLE).outcome == TL_OUTCOME_OK)
            snprintf(d->sample, sizeof d->sample, "%s", key);
    }
}

static void doctor_reads(doctor *d)
{
    doctor_answer part, past;
    int whole;
    if (d->sample[0] == 0) {
        doctor_say(d, "get", 0, "not tried: there is nothing to read; a table's URL would do");
        d->can_read = 0;
        return;
    }
    d->seen = doctor_get(d, d->sample, 0, TL_WHOLE);
    if (d->seen.outcome != TL_OUTCOME_OK
        || (d->can_write && strcmp(d->seen.body, "{\"doctor\":\"0123456789abcdef\"}") != 0)) {
        d->can_read = 0;
        doctor_fault(d, "get", "not what was written", &d->seen);
        return;
    }
    doctor_say(d, "get", 1, d->seen.etag[0] != 0 ? "an object came back as it is, with an ETag"
                                                 : "an object came back as it is; the store has no ETags");
    part = doctor_get(d, d->sample, 1, 4);
    past = doctor_get(d, d->sample, d->seen.size, 5);
    whole = part.outcome == TL_OUTCOME_OK && part.offset == 0 && part.size == d->seen.size;
    if (d->seen.size < 5)
        doctor_say(d, "range", 1, "not tried: the object is too small");
    else if (part.outcome == TL_OUTCOME_OK && part.offset == 1 && part.size == 4
             && memcmp(part.body, d->seen.body + 1, 4) == 0 && past.outcome == TL_OUTCOME_OK && past.size == 0)
        doctor_say(d, "range", 1, "parts of an object are sent alone");
    else if (whole)
        doctor_say(d, "range", 0, "ignored, the whole object is sent: right, but slow for large ones");
    else {
        d->can_read = 0;
        doctor_fault(d, "range", "another part than was asked for", part.outcome != TL_OUTCOME_OK ? &part : &past);
    }
}

/* All names below a prefix, in pages of `most`. 0: failed, `p` says how. */
static int doctor_names(doctor *d, const char *prefix, uint32_t most, doctor_page *p)
{
    tl_request q = doctor_request(TL_LIST, doctor_name(d, prefix));
    char page[1024] = "";
    int pages;
    d->name_count = 0;
    q.max_keys = most;
    for (pages = 0; pages < 32; pages++) {
        memset(p, 0, sizeof *p);
        p->d = d;
        if (page[0] != 0)
            q.page = tl_text(page);
        if (!tl_curl_send(d->at.curl, &q, doctor_listed, p))
            abort();
        doctor_wait(d, &p->answer);
        if (p->answer.outcome != TL_OUTCOME_OK || p->answer.page[0] == 0)
            return p->answer.outcome == TL_OUTCOME_OK;
        memcpy(page, p->answer.page, sizeof page);
    }
    return 0;
}

static int doctor_has(const doctor *d, const char *name)
{
    size_t i, n = 0;
    for (i = 0; i < d->name_count; i++)
        n += strcmp(d->names[i], name) == 0;
    return n == 1;
}

static void doctor_list(doctor *d)
{
    static const char *const names[] = {"v10", "v2", "w a+b%41\xC3\xA9"};
    doctor_page p;
    size_t i;
    if (!d->can_write) {
        int listed = doctor_names(d, "v", 1, &p);
        if (listed || p.answer.outcome == TL_OUTCOME_UNSUPPORTED)
            doctor_say(d, "list", listed, listed ? "listings are answered; what is in them was not tried"
                                                 : "there are none: tables are found by their version hint");
        else
            doctor_fault(d, "list", "refused: tables need timelake_version_lookup=hint", &p.answer);
        return;
    }
    for (i = 0; i < 3; i++)
        (void)doctor_put(d, names[i], TL_ALWAYS, "", "x");
    if (!doctor_names(d, "v1", 1, &p)) {
        doctor_fault(d, "list", "refused, or without an end: use timelake_version_lookup=hint", &p.answer);
    } else if (d->name_count != 2 || !doctor_has(d, "v1") || !doctor_has(d, "v10")) {
        doctor_say(d, "list", 0, "not by a raw prefix, or pages do not add up: use timelake_version_lookup=hint");
    } else if (!doctor_names(d, "w", 0, &p) || d->name_count != 1 || !doctor_has(d, names[2])) {
        doctor_say(d, "list", 0, "names with spaces, signs or accents come back as others");
    } else {
        doctor_say(d, "list", 1, "by a raw prefix, in pages, each name as it was written");
    }
}

/* Put if absent, alone. */
static int doctor_create(doctor *d)
{
    doctor_answer first = doctor_put(d, "create", TL_IF_ABSENT, "", "first"), second, left;
    int ok = 0;
    if (first.outcome != TL_OUTCOME_OK) {
        doctor_fault(d, "create", "a put if absent of a new object fails", &first);
        return 0;
    }
    second = doctor_put(d, "create", TL_IF_ABSENT, "", "second");
    left = doctor_get(d, doctor_name(d, "create"), 0, TL_WHOLE);
    if (second.outcome == TL_OUTCOME_OK || strcmp(left.body, "first") != 0)
        doctor_fault(d, "create", "if-none-match is ignored: an object that is there was put again. Two writers would "
                     "lose each other's commits", &second);
    else if (second.outcome != TL_OUTCOME_PRECONDITION)
        doctor_fault(d, "create", "a put of an object that is there is refused, but not as that", &second);
    else
        ok = 1;
    if (ok)
        doctor_say(d, "create", 1, "a put if absent is refused where an object is");
    return ok;
}

/* Replace by ETag, alone. */
static int doctor_replace(doctor *d)
{
    doctor_answer first = doctor_put(d, "replace", TL_ALWAYS, "", "first"), good, stale, gone, left;
    first = doctor_get(d, doctor_name(d, "replace"), 0, TL_WHOLE);
    if (first.etag[0] == 0) {
        doctor_say(d, "replace", 0, "the store has no ETags to replace by");
        return 0;
    }
    good = doctor_put(d, "replace", TL_IF_MATCH, first.etag, "second");
    stale = doctor_put(d, "replace", TL_IF_MATCH, first.etag, "third");
    gone = doctor_put(d, "nothing", TL_IF_MATCH, first.etag, "fourth");
    left = doctor_get(d, doctor_name(d, "replace"), 0, TL_WHOLE);
    if (stale.outcome == TL_OUTCOME_OK || strcmp(left.body, "third") == 0)
        doctor_fault(d, "replace", "if-match is ignored: an object that had changed was replaced. Heads could go back",
                     &stale);
    else if (good.outcome != TL_OUTCOME_OK)
        doctor_fault(d, "replace", "an object that had not changed is not replaced", &good);
    else if (gone.outcome == TL_OUTCOME_OK)
        doctor_fault(d, "replace", "if-match makes an object where none was", &gone);
    else if (stale.outcome != TL_OUTCOME_PRECONDITION || gone.outcome != TL_OUTCOME_PRECONDITION)
        doctor_fault(d, "replace", "a replacement is refused, but not as one of what has changed",
                     stale.outcome != TL_OUTCOME_PRECONDITION ? &stale : &gone);
    else
        doctor_say(d, "replace", 1, "an object is replaced only while it is the one that was read");
    return stale.outcome == TL_OUTCOME_PRECONDITION && good.outcome == TL_OUTCOME_OK
           && gone.outcome == TL_OUTCOME_PRECONDITION && strcmp(left.body, "second") == 0;
}

/* One round: writers whose last bytes go out together. How many were told that they won; -1: the stored object is
   nobody's of them; *unclear: how many were told neither. */
static int doctor_round(doctor *d, const char *name, tl_condition condition, const char *etag, int round, int *unclear)
{
    static doctor_answer answers[DOCTOR_WRITERS];
    static char bodies[DOCTOR_WRITERS][DOCTOR_BODY + 1];
    tl_span body[DOCTOR_WRITERS];
    tl_request q = doctor_request(TL_PUT, doctor_name(d, name));
    doctor_answer left;
    char key[4600];
    int64_t until = tl_curl_now() + 10000;
    int i, winners = 0, right = 0;
    snprintf(key, sizeof key, "%.*s", (int)q.key.size, q.key.data);
    q.key = tl_text(key);
    q.condition = condition;
    q.etag = tl_text(etag);
    q.body_count = 1;
    q.body_size = DOCTOR_BODY;
    memset(answers, 0, sizeof answers);
    tl_curl_hold(d->at.curl);
    for (i = 0; i < DOCTOR_WRITERS; i++) {
        memset(bodies[i], ' ', DOCTOR_BODY);
        bodies[i][DOCTOR_BODY] = 0;
        bodies[i][snprintf(bodies[i], 64, "{\"writer\":%d,\"round\":%d}", i, round)] = ' ';
        body[i] = tl_text(bodies[i]);
        q.body = &body[i];
        if (!tl_curl_send(d->at.curl, &q, doctor_done, &answers[i]))
            abort();
    }
    while (tl_curl_held(d->at.curl) < tl_curl_out(d->at.curl) && tl_curl_now() < until)
        (void)tl_curl_wait(d->at.curl, tl_curl_now() + 10);
    until = tl_curl_now();
    tl_curl_let_go(d->at.curl);
    for (i = 0; i < DOCTOR_WRITERS; i++)
        doctor_wait(d, &answers[i]);
    d->slowest = d->slowest > tl_curl_now() - until ? d->slowest : tl_curl_now() - until;
    left = doctor_get(d, key, 0, TL_WHOLE);
    *unclear = 0;
    for (i = 0; i < DOCTOR_WRITERS; i++) {
        int won = answers[i].outcome == TL_OUTCOME_OK;
        winners += won;
        *unclear += !won && answers[i].outcome != TL_OUTCOME_PRECONDITION;
        right |= (won || answers[i].outcome == TL_OUTCOME_UNKNOWN) && strcmp(left.body, bodies[i]) == 0;
    }
    return right ? winners : -1;
}

/* --count rounds; else three, and as many more as fit into two seconds: a store may look right by luck. */
static int doctor_goes_on(int round, int64_t began)
{
    if (arguments.count != 0)
        return round < arguments.count;
    return round < 3 || (round < 50 && tl_curl_now() - began < 2000);
}

static int doctor_race(doctor *d, const char *name, tl_condition condition, int tried)
{
    int i, unclear = 0, kind = condition == TL_IF_MATCH;
    int64_t began = tl_curl_now();
    char text[300];
    d->slowest = 0;
    if (!tried) {
        doctor_say(d, name, 0, "not tried: it fails alone");
        return 0;
    }
    for (i = 0; doctor_goes_on(i, began); i++) {
        char object[64];
        doctor_answer before;
        int winners;
        memset(&before, 0, sizeof before);
        snprintf(object, sizeof object, "race-%c-%d", "ab"[kind], i);
        if (condition == TL_IF_MATCH) {
            (void)doctor_put(d, object, TL_ALWAYS, "", "before");
            before = doctor_get(d, doctor_name(d, object), 0, TL_WHOLE);
        }
        d->rounds[kind] = i + 1;
        winners = doctor_round(d, object, condition, before.etag, i, &unclear);
        text[0] = 0;
        if (winners > 1)
            snprintf(text, sizeof text, "%d of %d writers at once were told that they won: it is checked, but not "
                     "decided once. Commits would be lost", winners, (int)DOCTOR_WRITERS);
        else if (winners < 0)
            snprintf(text, sizeof text, "what is stored is not the winner's");
        else if (winners == 0 && unclear == 0)
            snprintf(text, sizeof text, "nobody of %d writers won", (int)DOCTOR_WRITERS);
        if (text[0] != 0) {
            doctor_say(d, name, 0, text);
            return 0;
        }
    }
    snprintf(text, sizeof text, "%d times %d writers at once, one winner each time, all told within %.1f s%s", i,
             (int)DOCTOR_WRITERS, (double)d->slowest / 1000,
             unclear != 0 ? "; some were told neither to have won nor lost, which is no fault" : "");
    doctor_say(d, name, 1, text);
    return 1;
}

static int doctor_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kept connections; how long a request takes. */
static void doctor_speed(doctor *d)
{
    double ms[DOCTOR_GETS];
    uint64_t before, opened;
    char text[200];
    struct timespec from, to;
    int i;
    (void)doctor_get(d, d->sample[0] != 0 ? d->sample : doctor_name(d, "none"), 0, 1);
    before = tl_curl_connections(d->at.curl);
    for (i = 0; i < DOCTOR_GETS; i++) {
        clock_gettime(CLOCK_MONOTONIC, &from);
        (void)doctor_get(d, d->sample[0] != 0 ? d->sample : doctor_name(d, "none"), 0, 1);
        clock_gettime(CLOCK_MONOTONIC, &to);
        ms[i] = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
    }
    opened = tl_curl_connections(d->at.curl) - before;
    snprintf(text, sizeof text, "%d requests one after another opened %llu connections%s", (int)DOCTOR_GETS,
             (unsigned long long)opened, opened > 2 ? ": each costs a round trip more, over TLS two" : "");
    doctor_say(d, "keep-alive", opened <= 2, text);
    qsort(ms, DOCTOR_GETS, sizeof *ms, doctor_order);
    snprintf(text, sizeof text, "a small read takes %.1f ms (median), %.1f at most", ms[DOCTOR_GETS / 2],
             ms[DOCTOR_GETS - 1]);
    doctor_say(d, "delay", 1, text);
}

static int doctor_delete(doctor *d, const char *name)
{
    tl_request q = doctor_request(TL_DELETE, doctor_name(d, name));
    return doctor_send(d, &q).outcome == TL_OUTCOME_OK;
}

/* Deletes what it made, by name and not by listing. */
static void doctor_clean(doctor *d)
{
    static const char *const names[] = {"v1", "v10", "v2", "w a+b%41\xC3\xA9", "create", "replace", "nothing"};
    int i, kind, ok = 1;
    char race[64];
    if (!d->made)
        return;
    for (i = 0; i < 7; i++)
        ok &= doctor_delete(d, names[i]);
    for (kind = 0; kind < 2; kind++)
        for (i = 0; i < d->rounds[kind]; i++) {
            snprintf(race, sizeof race, "race-%c-%d", "ab"[kind], i);
            ok &= doctor_delete(d, race);
        }
    ok = ok && doctor_get(d, doctor_name(d, "v1"), 0, TL_WHOLE).outcome == TL_OUTCOME_NOT_FOUND;
    if (ok)
        doctor_say(d, "delete", 1, "what was written is gone again");
    else
        doctor_say(d, "delete", 0, "not everything could be deleted: look below tlake-doctor-...");
}

static int doctor_verdict(doctor *d, int conditions)
{
    int write = d->can_read && d->can_write && (conditions || arguments.one_writer);
    if (arguments.json) {
        puts_(d->can_read ? "],\"read\":true" : "],\"read\":false");
        puts_(write ? ",\"write\":true}\n" : ",\"write\":false}\n");
    } else {
        puts_(d->can_read ? "readers: safe\n" : "readers: not found to be safe\n");
        puts_(!d->can_write ? "writers: none, nothing can be written here\n"
              : !d->can_read ? "writers: not found to be safe\n"
              : conditions ? "writers: safe\n"
              : arguments.one_writer ? "writers: one at a time, as you said; a second one would lose commits\n"
                                     : "writers: NOT SAFE, unless there is only one (--one-writer)\n");
    }
    return d->can_read && write ? EXIT_DONE : EXIT_FAILED;
}

/* Everything behind the credentials. 1: conditions hold, alone and raced. */
static int doctor_rest(doctor *d)
{
    int create = 0, replace = 0;
    doctor_sample(d);
    doctor_reads(d);
    doctor_list(d);
    if (d->can_write) {
        create = doctor_create(d);
        replace = doctor_replace(d);
        create = doctor_race(d, "create race", TL_IF_ABSENT, create);
        replace = doctor_race(d, "replace race", TL_IF_MATCH, replace);
    }
    doctor_speed(d);
    doctor_clean(d);
    return create && replace;
}

static int command_doctor(void)
{
    doctor *d = (doctor *)calloc(1, sizeof *d);
    tl_lake_options ignored;
    unsigned char random[8];
    size_t n;
    int code;
    if (d == NULL)
        abort();
    memset(&ignored, 0, sizeof ignored);
    code = place_open(&d->at, &ignored);
    if (code == EXIT_DONE && !d->at.remote)
        code = usage("doctor looks at object stores, not at folders", "");
    if (code == EXIT_DONE) {
        (void)tl_fs_random(random, sizeof random);
        for (n = strlen(d->at.location); n > 0 && d->at.location[n - 1] == '/'; n--)
            d->at.location[n - 1] = 0;
        snprintf(d->folder, sizeof d->folder, "%s/tlake-doctor-%02x%02x%02x%02x%02x%02x/", d->at.location, random[0],
                 random[1], random[2], random[3], random[4], random[5]);
        code = doctor_verdict(d, doctor_credentials(d) && doctor_rest(d));
        place_close(&d->at);
    }
    free(d);
    return code;
}
#else
static int command_doctor(void)
{
    return usage("this tlake was built without libcurl, and doctor is about object stores", "");
}
#endif
