/* tlake: opens tables, looks into their heads and the formats they are made of. `tlake --help` says how to use it.

   Public functions of timelake.h only. Compiled with -DTLAKE_ZSTD it uses libzstd (through adapters/timelake_zstd.h) to
   decompress faster and to compress what it writes; with -DTLAKE_CURL libcurl (adapters/timelake_curl.h) for object
   stores. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* isatty, realpath, mkstemp, flock */
#endif
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#ifndef _WIN32
#define TLAKE_TABLES /* tables lie in folders, which the adapter reads on POSIX systems */
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"
#define TIMELAKE_MEM_IMPLEMENTATION
#include "../adapters/timelake_mem.h"
#ifdef TLAKE_CURL
#define TIMELAKE_HTTP_IMPLEMENTATION
#include "../adapters/timelake_http.h"
#define TIMELAKE_CURL_IMPLEMENTATION
#include "../adapters/timelake_curl.h"
#endif
#endif
#ifdef TLAKE_ZSTD
#define TIMELAKE_ZSTD_IMPLEMENTATION
#include "../adapters/timelake_zstd.h"
#endif

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NOT_FOUND = 5 };

#define SHOWN_ROWS 10  /* of a section, in text */
#define SHOWN_WIDTH 44 /* columns of a cell */

/* ---- output: a buffer before a file, or one that grows ---- */

typedef struct output {
    FILE *file; /* NULL: keep everything in data */
    char *data;
    size_t size;
    size_t capacity;
    int failed; /* an errno, or ENOMEM */
} output;

static output *out; /* where put() writes */

static void output_flush(output *o)
{
    if (o->file != NULL && o->size > 0) {
        errno = 0;
        if (o->failed == 0 && fwrite(o->data, 1, o->size, o->file) != o->size)
            o->failed = errno != 0 ? errno : EIO;
        o->size = 0;
    }
}

/* What is in the buffer and in stdio's goes out now: 1; 0: something printed before, or now, did not. */
static int output_sent(output *o)
{
    output_flush(o);
    errno = 0;
    if (o->failed == 0 && fflush(o->file) != 0)
        o->failed = errno != 0 ? errno : EIO;
    return o->failed == 0;
}

/* Room for `more` bytes behind what is there, or NULL. */
static char *output_room(output *o, size_t more)
{
    if (o->capacity - o->size < more)
        output_flush(o);
    if (o->capacity - o->size < more) {
        size_t capacity = o->capacity * 2 > o->size + more ? o->capacity * 2 : o->size + more + 65536;
        char *data = (char *)realloc(o->data, capacity);
        if (data == NULL) {
            o->failed = ENOMEM;
            return NULL;
        }
        o->data = data;
        o->capacity = capacity;
    }
    return o->data + o->size;
}

static void put(const char *text, size_t size)
{
    char *to = output_room(out, size);
    if (to != NULL && size > 0) {
        memcpy(to, text, size);
        out->size += size;
    }
}

static void puts_(const char *text)
{
    put(text, strlen(text));
}

static void put_char(char c)
{
    put(&c, 1);
}

static void put_number(uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    put(text, (size_t)n);
}

/* With commas between the thousands. */
static void put_grouped(uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)v), i;
    for (i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            put_char(',');
        put_char(text[i]);
    }
}

/* Bytes of the UTF-8 sequence at p, 0 when it is none. File names are the only text here that may be anything. */
static size_t utf8_length(const char *p, size_t size)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0, i;
    if (n > size)
        return 0;
    for (i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static void put_json_text(const char *text, size_t size)
{
    static const char escape[] = "\b\t\n\f\r\"\\", letter[] = "btnfr\"\\";
    size_t i = 0, from = 0, n;
    put_char('"');
    while (i < size) {
        unsigned char c = (unsigned char)text[i];
        const char *e = c == 0 ? NULL : strchr(escape, text[i]);
        n = c < 0x80 ? 1 : utf8_length(text + i, size - i);
        if (n != 0 && e == NULL && c >= 0x20) {
            i += n;
            continue;
        }
        put(text + from, i - from);
        if (e != NULL) {
            put_char('\\');
            put_char(letter[e - escape]);
        } else if (n == 0) {
            puts_("\\ufffd");
        } else {
            char code[8];
            snprintf(code, sizeof code, "\\u%04x", c);
            puts_(code);
        }
        from = ++i;
    }
    put(text + from, size - from);
    put_char('"');
}

static void put_json(tl_span s)
{
    put_json_text(s.data, s.size);
}

/* ---- for people ---- */

static int colour; /* 1: escape sequences are welcome */

static void style(const char *code)
{
    if (colour) {
        puts_("\033[");
        puts_(code);
        put_char('m');
    }
}

static void heading(const char *text)
{
    style("1");
    puts_(text);
    style("0");
}

/* Text of others: control characters must not reach a terminal. */
static void put_shown(const char *text, size_t size)
{
    size_t i, n;
    for (i = 0; i < size; i += n > 0 ? n : 1) {
        unsigned char c = (unsigned char)text[i];
        char code[8];
        n = utf8_length(text + i, size - i);
        if (c >= 0x20 && c != 0x7f && n > 0 && !(c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)) {
            put(text + i, n);
        } else if (c == '\n' || c == '\t') {
            puts_(c == '\n' ? "\\n" : "\\t");
        } else {
            snprintf(code, sizeof code, "\\x%02x", c);
            puts_(code);
        }
    }
}

/* ---- failing ---- */

typedef struct command_line {
    const char *command;
    const char *file;   /* "-": standard input */
    const char *recode; /* NULL: not asked for */
    const char *to;
    const char *as;
    const char *where[24]; /* all of them hold */
    size_t where_count;
    const char *every;
    const char *options[32]; /* -o key=value */
    size_t option_count;
    const char *columns[256]; /* name:type */
    size_t column_count;
    uint64_t at_version; /* 0: the newest */
    long count;
    int no_head;
    int trace;
    int verbose;
    int one_writer;
    int json;
} command_line;

static command_line arguments;

static const char *object_name(void)
{
    return arguments.file == NULL ? "tlake" : strcmp(arguments.file, "-") == 0 ? "standard input" : arguments.file;
}

/* One line on standard error. */
static void fail_line(const char *object, const char *what, const char *code, uint64_t position)
{
    fprintf(stderr, "tlake: %s: %s (%s", object, what, code);
    if (position != TL_NO_POSITION)
        fprintf(stderr, ", byte %llu", (unsigned long long)position);
    fprintf(stderr, ")\n");
}

/* That line, with --json also the error as a document; returns the exit code. */
static int fail(const char *object, const char *what, const char *code, uint64_t position, int exit_code)
{
    fail_line(object, what, code, position);
    if (arguments.json) {
        puts_("{\"error\":{\"code\":");
        put_json_text(code, strlen(code));
        puts_(",\"message\":");
        put_json_text(what, strlen(what));
        puts_(",\"key\":");
        put_json_text(object, strlen(object));
        puts_(",\"position\":");
        if (position != TL_NO_POSITION)
            put_number(position);
        else
            puts_("null");
        puts_("}}\n");
    }
    return exit_code;
}

static int fail_status(const tl_error *err)
{
    return fail(object_name(), err->text, tl_status_text(err->status), err->position,
                err->status == TL_ABSENT ? EXIT_NOT_FOUND : EXIT_FAILED);
}

static int fail_errno(const char *object, int number)
{
    return fail(object, strerror(number), number == ENOENT ? "absent" : "io", TL_NO_POSITION,
                number == ENOENT ? EXIT_NOT_FOUND : EXIT_FAILED);
}

static int usage(const char *what, const char *which)
{
    fprintf(stderr, "tlake: %s%s (usage)\n", what, which);
    fprintf(stderr, "Try 'tlake --help'.\n");
    if (arguments.json) {
        puts_("{\"error\":{\"code\":\"usage\",\"message\":");
        put_json_text(what, strlen(what));
        puts_(",\"key\":");
        put_json_text(which, strlen(which));
        puts_(",\"position\":null}}\n");
    }
    return EXIT_USAGE;
}

/* ---- input ---- */

typedef struct input {
    char *data;
    size_t size;
} input;

/* The whole file, or standard input, in memory of malloc. */
static int input_read(input *in)
{
    FILE *f = strcmp(arguments.file, "-") == 0 ? stdin : fopen(arguments.file, "rb");
    size_t capacity = 0, n;
    int failed = 0;
    in->data = NULL;
    in->size = 0;
    if (f == NULL)
        return fail_errno(object_name(), errno);
#ifdef _WIN32
    if (f == stdin)
        _setmode(_fileno(stdin), _O_BINARY);
#endif
    for (;;) {
        if (capacity - in->size < 65536) {
            char *more = (char *)realloc(in->data, capacity * 2 + 65536);
            if (more == NULL) {
                failed = ENOMEM;
                break;
            }
            in->data = more;
            capacity = capacity * 2 + 65536;
        }
        errno = 0;
        n = fread(in->data + in->size, 1, capacity - in->size, f);
        in->size += n;
        if (n == 0) {
            if (ferror(f))
                failed = errno != 0 ? errno : EIO;
            break;
        }
    }
    if (f != stdin)
        fclose(f);
    return failed != 0 ? fail_errno(object_name(), failed) : EXIT_DONE;
}

/* Writes all of it and closes: 0, or an errno. */
static int file_fill(int fd, const void *data, size_t size)
{
#ifdef _WIN32
    FILE *f = fd < 0 ? NULL : _fdopen(fd, "wb");
#else
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
#endif
    int failed = 0;
    if (f == NULL)
        return errno;
    errno = 0;
    if (fwrite(data, 1, size, f) != size || fflush(f) != 0)
        failed = errno != 0 ? errno : EIO;
    errno = 0;
    if (fclose(f) != 0 && failed == 0)
        failed = errno != 0 ? errno : EIO;
    return failed;
}

/* A new file that is nobody else's: the six Xs that its name ends in become others. */
static int file_new(char *name, unsigned mode)
{
#ifdef _WIN32
    int i, fd = -1;
    (void)mode;
    for (i = 0; fd < 0 && i < 1000 && (i == 0 || errno == EEXIST); i++) {
        snprintf(name + strlen(name) - 6, 7, "%06d", i);
        fd = _open(name, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
    }
    return fd;
#else
    int fd = mkstemp(name), failed;
    if (fd < 0 || fchmod(fd, (mode_t)mode) == 0)
        return fd;
    failed = errno;
    close(fd);
    remove(name);
    errno = failed;
    return -1;
#endif
}

/* Writes a file beside the one that is meant, which then takes its place: nobody sees half of it. 0, or an errno. */
static int file_replace(const char *path, unsigned mode, const void *data, size_t size)
{
    size_t room = strlen(path) + sizeof ".tlake-tmp-XXXXXX";
    char *beside = (char *)malloc(room);
    int fd, failed;
    if (beside == NULL)
        return ENOMEM;
    snprintf(beside, room, "%s.tlake-tmp-XXXXXX", path);
    fd = file_new(beside, mode);
    failed = fd < 0 ? errno : file_fill(fd, data, size);
#ifdef _WIN32
    if (failed == 0)
        remove(path);
#endif
    if (failed == 0 && rename(beside, path) != 0)
        failed = errno;
    if (failed != 0 && fd >= 0)
        remove(beside);
    free(beside);
    return failed;
}

/* A file appears whole or not at all, with the mode of the one before it; where a link leads there, the link stays. A
   FIFO or a device stays too, and is written to. */
static int file_write(const char *path, const void *data, size_t size)
{
    int failed;
#ifdef _WIN32
    struct _stat st;
    if (_stat(path, &st) == 0 && (st.st_mode & _S_IFMT) != _S_IFREG)
        failed = file_fill(_open(path, _O_WRONLY | _O_BINARY), data, size);
    else
        failed = file_replace(path, 0, data, size);
#else
    struct stat st;
    mode_t mask;
    char *real;
    failed = stat(path, &st) == 0 ? 0 : errno;
    if (failed == ENOENT && lstat(path, &st) != 0) { /* and no link that leads nowhere */
        mask = umask(0);
        (void)umask(mask);
        failed = file_replace(path, 0666 & ~(unsigned)mask, data, size);
    } else if (failed == 0 && !S_ISREG(st.st_mode)) {
        failed = file_fill(open(path, O_WRONLY), data, size);
    } else if (failed == 0) {
        real = realpath(path, NULL);
        failed = real == NULL ? errno : file_replace(real, (unsigned)st.st_mode & 0777, data, size);
        free(real);
    }
#endif
    return failed != 0 ? fail_errno(path, failed) : EXIT_DONE;
}

/* ---- types and values ---- */

/* A column, or what is nested in one: its type looked up once. */
typedef struct node {
    const struct ArrowSchema *schema;
    tl_type type; /* of the indices, of a dictionary column */
    struct node *children;
    struct node *values; /* of a dictionary column */
} node;

static void node_free(node *n)
{
    int64_t i;
    if (n->children != NULL)
        for (i = 0; i < n->schema->n_children; i++)
            node_free(&n->children[i]);
    if (n->values != NULL)
        node_free(n->values);
    free(n->children);
    free(n->values);
}

/* Nesting is limited by tl_limits.depth, so that this may call itself. */
static tl_status node_make(node *n, const struct ArrowSchema *schema, tl_error *err)
{
    tl_status status;
    int64_t i;
    memset(n, 0, sizeof *n);
    n->schema = schema;
    status = tl_type_of(schema, &n->type, err);
    if (status != TL_OK)
        return status;
    if (schema->n_children > 0) {
        n->children = (node *)calloc((size_t)schema->n_children, sizeof *n);
        if (n->children == NULL)
            abort();
    }
    for (i = 0; i < schema->n_children && status == TL_OK; i++)
        status = node_make(&n->children[i], schema->children[i], err);
    if (schema->dictionary != NULL && status == TL_OK) {
        n->values = (node *)calloc(1, sizeof *n);
        if (n->values == NULL)
            abort();
        status = node_make(n->values, schema->dictionary, err);
    }
    return status;
}

/* As pyarrow spells types. */
static const char *type_name(tl_type_id id)
{
    switch (id) {
    case TL_TYPE_NULL: return "null";
    case TL_TYPE_BOOL: return "bool";
    case TL_TYPE_INT8: return "int8";
    case TL_TYPE_INT16: return "int16";
    case TL_TYPE_INT32: return "int32";
    case TL_TYPE_INT64: return "int64";
    case TL_TYPE_UINT8: return "uint8";
    case TL_TYPE_UINT16: return "uint16";
    case TL_TYPE_UINT32: return "uint32";
    case TL_TYPE_UINT64: return "uint64";
    case TL_TYPE_FLOAT16: return "halffloat";
    case TL_TYPE_FLOAT32: return "float";
    case TL_TYPE_FLOAT64: return "double";
    case TL_TYPE_DECIMAL32: return "decimal32";
    case TL_TYPE_DECIMAL64: return "decimal64";
    case TL_TYPE_DECIMAL128: return "decimal128";
    case TL_TYPE_DECIMAL256: return "decimal256";
    case TL_TYPE_DATE32: return "date32[day]";
    case TL_TYPE_DATE64: return "date64[ms]";
    case TL_TYPE_TIME32: return "time32";
    case TL_TYPE_TIME64: return "time64";
    case TL_TYPE_TIMESTAMP: return "timestamp";
    case TL_TYPE_DURATION: return "duration";
    case TL_TYPE_INTERVAL_MONTHS: return "month_interval";
    case TL_TYPE_INTERVAL_DAY_TIME: return "day_time_interval";
    case TL_TYPE_INTERVAL_MONTH_DAY_NANO: return "month_day_nano_interval";
    case TL_TYPE_UTF8: return "string";
    case TL_TYPE_LARGE_UTF8: return "large_string";
    case TL_TYPE_UTF8_VIEW: return "string_view";
    case TL_TYPE_BINARY: return "binary";
    case TL_TYPE_LARGE_BINARY: return "large_binary";
    case TL_TYPE_BINARY_VIEW: return "binary_view";
    case TL_TYPE_FIXED_BINARY: return "fixed_size_binary";
    case TL_TYPE_LIST: return "list";
    case TL_TYPE_LARGE_LIST: return "large_list";
    case TL_TYPE_FIXED_LIST: return "fixed_size_list";
    case TL_TYPE_STRUCT: return "struct";
    case TL_TYPE_MAP: return "map";
    }
    return "?";
}

static void put_type(const node *n);

static void put_children(const node *n)
{
    int64_t i;
    put_char('<');
    for (i = 0; i < n->schema->n_children; i++) {
        const node *child = &n->children[i];
        puts_(i > 0 ? ", " : "");
        puts_(child->schema->name);
        puts_(": ");
        put_type(child);
        if ((child->schema->flags & ARROW_FLAG_NULLABLE) == 0)
            puts_(" not null");
    }
    put_char('>');
}

/* Names inside a map say nothing. */
static void put_map(const node *n)
{
    const node *entries = &n->children[0];
    put_char('<');
    put_type(&entries->children[0]);
    puts_(", ");
    put_type(&entries->children[1]);
    puts_((n->schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0 ? ", keys_sorted>" : ">");
}

static void put_type(const node *n)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    const tl_type *t = &n->type;
    char text[64];
    if (n->values != NULL) {
        puts_("dictionary<values=");
        put_type(n->values);
        puts_(", indices=");
        puts_(type_name(t->id));
        puts_((n->schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0 ? ", ordered=1>" : ", ordered=0>");
        return;
    }
    puts_(type_name(t->id));
    text[0] = 0;
    if (t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256) {
        snprintf(text, sizeof text, "(%d, %d)", (int)t->precision, (int)t->scale);
    } else if (t->id == TL_TYPE_TIMESTAMP && t->zone.data != NULL) {
        snprintf(text, sizeof text, "[%s, tz=", units[t->unit]);
        puts_(text);
        put(t->zone.data, t->zone.size);
        puts_("]");
        return;
    } else if (t->id >= TL_TYPE_TIME32 && t->id <= TL_TYPE_DURATION) {
        snprintf(text, sizeof text, "[%s]", units[t->unit]);
    } else if (t->id == TL_TYPE_FIXED_BINARY) {
        snprintf(text, sizeof text, "[%d]", (int)t->size);
    } else if (t->id == TL_TYPE_MAP) {
        put_map(n);
    } else if (n->schema->n_children > 0 || t->id == TL_TYPE_STRUCT) {
        put_children(n);
        if (t->id == TL_TYPE_FIXED_LIST)
            snprintf(text, sizeof text, "[%d]", (int)t->size);
    }
    puts_(text);
}

static int is_null(const node *n, const struct ArrowArray *a, int64_t i)
{
    const uint8_t *valid = a->n_buffers > 0 ? (const uint8_t *)a->buffers[0] : NULL;
    if (n->type.id == TL_TYPE_NULL)
        return 1;
    i += a->offset;
    return valid != NULL && a->null_count != 0 && (valid[i / 8] >> (i % 8) & 1) == 0;
}

static int64_t load_offset(const void *buffer, int64_t i, int wide)
{
    int64_t v64;
    int32_t v32;
    if (buffer == NULL) /* an array without elements may have none */
        return 0;
    if (wide) {
        memcpy(&v64, (const char *)buffer + i * 8, 8);
        return v64;
    }
    memcpy(&v32, (const char *)buffer + i * 4, 4);
    return v32;
}

/* The bytes of a text or binary value. */
static tl_span load_bytes(const node *n, const struct ArrowArray *a, int64_t i)
{
    tl_type_id id = n->type.id;
    tl_span s;
    i += a->offset;
    if (id == TL_TYPE_FIXED_BINARY) {
        s.data = (const char *)a->buffers[1] + i * n->type.size;
        s.size = (size_t)n->type.size;
    } else if (id == TL_TYPE_UTF8_VIEW || id == TL_TYPE_BINARY_VIEW) {
        const char *view = (const char *)a->buffers[1] + i * 16;
        int32_t size, buffer, offset;
        memcpy(&size, view, 4);
        memcpy(&buffer, view + 8, 4);
        memcpy(&offset, view + 12, 4);
        s.data = size <= 12 ? view + 4 : (const char *)a->buffers[2 + buffer] + offset;
        s.size = (size_t)size;
    } else {
        int wide = id == TL_TYPE_LARGE_UTF8 || id == TL_TYPE_LARGE_BINARY;
        int64_t from = load_offset(a->buffers[1], i, wide);
        s.size = (size_t)(load_offset(a->buffers[1], i + 1, wide) - from);
        s.data = s.size == 0 ? "" : (const char *)a->buffers[2] + from;
    }
    return s;
}

static void put_hex(tl_span s)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;
    for (i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        put_char(digits[c >> 4]);
        put_char(digits[c & 15]);
    }
}

/* A value of fixed width: in JSON numbers, decimals as text, times as counts of their unit; for people all as text. */
static void put_fixed(const node *n, const void *value, int people)
{
    char text[TL_VALUE_TEXT];
    tl_type type = n->type;
    size_t size;
    int quoted = 0;
    if (type.id >= TL_TYPE_INTERVAL_MONTHS && type.id <= TL_TYPE_INTERVAL_MONTH_DAY_NANO && !people) {
        int32_t part[4] = {0, 0, 0, 0};
        int64_t nanos;
        memcpy(part, value, (size_t)type.width);
        memcpy(&nanos, part + 2, 8);
        if (type.id == TL_TYPE_INTERVAL_MONTHS)
            snprintf(text, sizeof text, "%d", (int)part[0]);
        else if (type.id == TL_TYPE_INTERVAL_DAY_TIME)
            snprintf(text, sizeof text, "[%d,%d]", (int)part[0], (int)part[1]);
        else
            snprintf(text, sizeof text, "[%d,%d,%lld]", (int)part[0], (int)part[1], (long long)nanos);
        puts_(text);
        return;
    }
    size = people ? tl_value_text(text, &type, value) : 0;
    if (size == 0) {
        if (type.id >= TL_TYPE_DATE32 && type.id <= TL_TYPE_DURATION)
            type.id = type.width == 4 ? TL_TYPE_INT32 : TL_TYPE_INT64;
        size = tl_value_text(text, &type, value);
    }
    if (!people)
        quoted = (type.id >= TL_TYPE_DECIMAL32 && type.id <= TL_TYPE_DECIMAL256)
                 || (type.id >= TL_TYPE_FLOAT16 && type.id <= TL_TYPE_FLOAT64 && (text[size - 1] & 0x40) != 0);
    if (quoted)
        put_char('"');
    put(text, size);
    if (quoted)
        put_char('"');
}

static void put_value(const node *n, const struct ArrowArray *a, int64_t i, int people);

static void put_elements(const node *n, const struct ArrowArray *a, int64_t from, int64_t to, int people)
{
    int64_t i;
    put_char('[');
    for (i = from; i < to; i++) {
        if (i > from)
            puts_(people ? ", " : ",");
        if (n->type.id == TL_TYPE_MAP) { /* entries are structs of key and value */
            const struct ArrowArray *entries = a->children[0];
            put_char('[');
            put_value(&n->children[0].children[0], entries->children[0], entries->offset + i, people);
            puts_(people ? ", " : ",");
            put_value(&n->children[0].children[1], entries->children[1], entries->offset + i, people);
            put_char(']');
        } else {
            put_value(&n->children[0], a->children[0], i, people);
        }
    }
    put_char(']');
}

static void put_struct(const node *n, const struct ArrowArray *a, int64_t at, int people)
{
    int64_t i;
    put_char('{');
    for (i = 0; i < n->schema->n_children; i++) {
        const char *name = n->schema->children[i]->name;
        if (i > 0)
            puts_(people ? ", " : ",");
        if (people)
            put_shown(name, strlen(name));
        else
            put_json_text(name, strlen(name));
        puts_(people ? ": " : ":");
        put_value(&n->children[i], a->children[i], at, people);
    }
    put_char('}');
}

/* Value i of an array, as JSON or for people. */
static void put_value(const node *n, const struct ArrowArray *a, int64_t i, int people)
{
    int64_t at = a->offset + i;
    tl_type_id id = n->type.id;
    if (is_null(n, a, i)) {
        puts_("null");
    } else if (n->values != NULL) {
        char text[TL_VALUE_TEXT + 1];
        text[tl_value_text(text, &n->type, (const char *)a->buffers[1] + at * n->type.width)] = 0;
        put_value(n->values, a->dictionary, (int64_t)strtoll(text, NULL, 10), people);
    } else if (id == TL_TYPE_BOOL) {
        puts_((((const uint8_t *)a->buffers[1])[at / 8] >> (at % 8) & 1) != 0 ? "true" : "false");
    } else if (id == TL_TYPE_UTF8 || id == TL_TYPE_LARGE_UTF8 || id == TL_TYPE_UTF8_VIEW) {
        tl_span s = load_bytes(n, a, i);
        if (people)
            put_shown(s.data, s.size);
        else
            put_json(s);
    } else if (id >= TL_TYPE_BINARY && id <= TL_TYPE_FIXED_BINARY) {
        if (!people)
            put_char('"');
        put_hex(load_bytes(n, a, i));
        if (!people)
            put_char('"');
    } else if (id == TL_TYPE_LIST || id == TL_TYPE_LARGE_LIST || id == TL_TYPE_MAP) {
        int wide = id == TL_TYPE_LARGE_LIST;
        put_elements(n, a, load_offset(a->buffers[1], at, wide), load_offset(a->buffers[1], at + 1, wide), people);
    } else if (id == TL_TYPE_FIXED_LIST) {
        put_elements(n, a, at * n->type.size, (at + 1) * n->type.size, people);
    } else if (id == TL_TYPE_STRUCT) {
        put_struct(n, a, at, people);
    } else {
        put_fixed(n, (const char *)a->buffers[1] + at * n->type.width, people);
    }
}

/* ---- sections ---- */

/* A section whose columns are all open. Column c of batch b: columns[b * fields + c]. */
typedef struct table {
    const tl_section *section;
    node root;
    int64_t fields;
    const struct ArrowArray **columns;
    int64_t *rows; /* of each batch */
} table;

static void table_free(table *t)
{
    if (t->section != NULL)
        node_free(&t->root);
    free((void *)t->columns);
    free(t->rows);
}

static tl_status table_open(table *t, tl_section *section, tl_error *err)
{
    tl_status status;
    int32_t batch, column;
    memset(t, 0, sizeof *t);
    status = tl_section_open(section, err);
    if (status != TL_OK)
        return status;
    t->section = section;
    t->fields = section->schema->n_children;
    t->columns = (const struct ArrowArray **)calloc((size_t)(t->fields * section->batch_count + 1), sizeof *t->columns);
    t->rows = (int64_t *)calloc((size_t)section->batch_count + 1, sizeof *t->rows);
    if (t->columns == NULL || t->rows == NULL)
        abort();
    status = node_make(&t->root, section->schema, err);
    t->rows[0] = section->rows; /* without columns: nothing tells batches apart */
    for (batch = 0; batch < section->batch_count && status == TL_OK; batch++)
        for (column = 0; column < t->fields && status == TL_OK; column++) {
            const struct ArrowArray **a = &t->columns[batch * t->fields + column];
            status = tl_section_column(section, batch, column, a, err);
            if (status == TL_OK)
                t->rows[batch] = (*a)->length;
        }
    return status;
}

static void json_metadata(const struct ArrowSchema *schema)
{
    tl_span key, value;
    int32_t i;
    put_char('{');
    for (i = 0; tl_schema_metadata_at(schema, i, &key, &value); i++) {
        if (i > 0)
            put_char(',');
        put_json(key);
        put_char(':');
        put_json(value);
    }
    put_char('}');
}

static void json_fields(const table *t)
{
    int64_t i;
    put_char('[');
    for (i = 0; i < t->fields; i++) {
        const node *n = &t->root.children[i];
        output *to = out, memory;
        if (i > 0)
            put_char(',');
        puts_("{\"name\":");
        put_json_text(n->schema->name, strlen(n->schema->name));
        puts_(",\"type\":");
        memset(&memory, 0, sizeof memory);
        out = &memory;
        put_type(n);
        out = to;
        put_json_text(memory.data, memory.size);
        free(memory.data);
        puts_(",\"nullable\":");
        puts_((n->schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "true" : "false");
        puts_(",\"metadata\":");
        json_metadata(n->schema);
        put_char('}');
    }
    put_char(']');
}

static void json_rows(const table *t)
{
    int32_t batch;
    int64_t i, c;
    int first = 1;
    put_char('[');
    for (batch = 0; batch < t->section->batch_count; batch++)
        for (i = 0; i < t->rows[batch]; i++) {
            puts_(first ? "{" : ",{");
            first = 0;
            for (c = 0; c < t->fields; c++) {
                const char *name = t->root.children[c].schema->name;
                if (c > 0)
                    put_char(',');
                put_json_text(name, strlen(name));
                put_char(':');
                put_value(&t->root.children[c], t->columns[batch * t->fields + c], i, 0);
            }
            put_char('}');
        }
    put_char(']');
}

/* Columns of a text, for aligning: a code point is one, of East Asian scripts and emoji two; near enough. */
static size_t shown_width(const char *text, size_t size)
{
    size_t n = 0, i;
    for (i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c & 0xc0) != 0x80)
            n += (c >= 0xe3 && c <= 0xed) || c == 0xf0 ? 2 : 1;
    }
    return n;
}

/* Cuts a cell at SHOWN_WIDTH columns; returns its bytes. */
static size_t shown_cut(char *text, size_t size)
{
    size_t i = 0, next;
    if (shown_width(text, size) <= SHOWN_WIDTH)
        return size;
    for (;; i = next) {
        for (next = i + 1; next < size && ((unsigned char)text[next] & 0xc0) == 0x80; next++)
            continue;
        if (shown_width(text, next) > SHOWN_WIDTH - 2)
            break;
    }
    text[i] = text[i + 1] = '.';
    return i + 2;
}

/* Lines of cells: each ends with a zero byte. Numbers stand at the right. */
static void put_cells(const char *cells, size_t rows, size_t columns, const int *right)
{
    size_t *width = (size_t *)calloc(columns + 1, sizeof *width), r, c, k;
    const char *cell = cells;
    if (width == NULL)
        abort();
    for (r = 0; r < rows; r++)
        for (c = 0; c < columns; c++, cell += strlen(cell) + 1) {
            size_t w = shown_width(cell, strlen(cell));
            if (w > width[c])
                width[c] = w;
        }
    cell = cells;
    for (r = 0; r < rows; r++) {
        puts_("  ");
        if (r == 0)
            style("2");
        for (c = 0; c < columns; c++, cell += strlen(cell) + 1) {
            size_t pad = width[c] - shown_width(cell, strlen(cell));
            if (c > 0)
                puts_("  ");
            for (k = 0; right[c] && k < pad; k++)
                put_char(' ');
            puts_(cell);
            for (k = 0; !right[c] && c + 1 < columns && k < pad; k++)
                put_char(' ');
        }
        if (r == 0)
            style("0");
        put_char('\n');
    }
    free(width);
}

/* The first rows of a table, aligned. */
static void show_rows(const table *t, int64_t most)
{
    output *to = out, cells;
    int32_t batch;
    int64_t i, c, rows = 0;
    int *right = (int *)calloc((size_t)t->fields + 1, sizeof *right);
    if (right == NULL)
        abort();
    memset(&cells, 0, sizeof cells);
    out = &cells;
    for (c = 0; c < t->fields; c++) {
        const node *n = &t->root.children[c];
        right[c] = n->values == NULL && n->type.id >= TL_TYPE_INT8 && n->type.id <= TL_TYPE_DECIMAL256;
        put_shown(n->schema->name, strlen(n->schema->name));
        put_char(0);
    }
    for (batch = 0; batch < t->section->batch_count; batch++)
        for (i = 0; i < t->rows[batch] && rows < most; i++, rows++)
            for (c = 0; c < t->fields; c++) {
                size_t from = cells.size;
                put_value(&t->root.children[c], t->columns[batch * t->fields + c], i, 1);
                cells.size = from + shown_cut(cells.data + from, cells.size - from);
                put_char(0);
            }
    out = to;
    if (t->fields > 0 && cells.failed == 0)
        put_cells(cells.data, (size_t)rows + 1, (size_t)t->fields, right);
    if (rows < t->section->rows) {
        puts_("  ... ");
        put_grouped((uint64_t)(t->section->rows - rows));
        puts_(" more\n");
    }
    free(cells.data);
    free(right);
}

/* The type for people: names in it are of others. */
static void show_type(const node *n)
{
    output *to = out, memory;
    memset(&memory, 0, sizeof memory);
    out = &memory;
    put_type(n);
    out = to;
    put_shown(memory.data, memory.size);
    free(memory.data);
}

static void show_fields(const node *root)
{
    int64_t i;
    for (i = 0; i < root->schema->n_children; i++) {
        const node *n = &root->children[i];
        if (i > 0)
            puts_(", ");
        put_shown(n->schema->name, strlen(n->schema->name));
        put_char(' ');
        style("2");
        show_type(n);
        if ((n->schema->flags & ARROW_FLAG_NULLABLE) != 0)
            put_char('?');
        style("0");
    }
}

static void plural(uint64_t n, const char *what)
{
    put_grouped(n);
    put_char(' ');
    puts_(what);
    if (n != 1)
        put_char('s');
}

static void show_section(const table *t)
{
    heading("section ");
    put_shown(t->section->name.data, t->section->name.size);
    puts_("  ");
    plural((uint64_t)t->section->rows, "row");
    puts_("\n  ");
    show_fields(&t->root);
    puts_("\n");
    show_rows(t, SHOWN_ROWS);
    puts_("\n");
}

/* ---- a table's head ---- */

typedef struct partition {
    int has;
    int32_t value;
    uint64_t files, rows, bytes;
} partition;

/* Newest first, no partition last. */
static int partition_order(const void *a, const void *b)
{
    const partition *p = (const partition *)a, *q = (const partition *)b;
    if (p->has != q->has)
        return q->has - p->has;
    return (p->value < q->value) - (p->value > q->value);
}

/* Files added up by partition, in memory of malloc. */
static partition *partitions_of(const tl_files *files, size_t *count)
{
    partition *list = (partition *)calloc(files->count + 1, sizeof *list);
    size_t i, n = 0;
    if (list == NULL)
        abort();
    for (i = 0; i < files->count; i++) {
        tl_file f;
        tl_files_get(files, i, &f);
        list[i].has = f.has_partition;
        list[i].value = f.has_partition ? f.partition : 0;
        list[i].files = 1;
        list[i].rows = f.records;
        list[i].bytes = f.size;
    }
    qsort(list, files->count, sizeof *list, partition_order);
    for (i = 0; i < files->count; i++) {
        if (n > 0 && partition_order(&list[n - 1], &list[i]) == 0) {
            list[n - 1].files++;
            list[n - 1].rows += list[i].rows;
            list[n - 1].bytes += list[i].bytes;
        } else {
            list[n++] = list[i];
        }
    }
    *count = n;
    return list;
}

/* A partition value by the transform it came from: days, hours or months since 1970. */
static void put_partition(const partition *p, tl_span transform)
{
    char text[TL_VALUE_TEXT];
    tl_type type;
    size_t n;
    int64_t second = (int64_t)p->value * 3600;
    memset(&type, 0, sizeof type);
    if (!p->has) {
        puts_("none");
    } else if (tl_span_equal(transform, tl_text("day"))) {
        type.id = TL_TYPE_DATE32;
        put(text, tl_value_text(text, &type, &p->value));
    } else if (tl_span_equal(transform, tl_text("hour"))) {
        type.id = TL_TYPE_TIMESTAMP;
        n = tl_value_text(text, &type, &second);
        put(text, n > 3 ? n - 3 : 0); /* minutes are enough */
    } else if (tl_span_equal(transform, tl_text("month"))) {
        int64_t year = p->value / 12 - (p->value % 12 < 0);
        int n2 = snprintf(text, sizeof text, "%04lld-%02d", (long long)year + 1970,
                          (int)(p->value - year * 12) + 1);
        put(text, (size_t)n2);
    } else {
        n = (size_t)snprintf(text, sizeof text, "%d", (int)p->value);
        put(text, n);
    }
}

static void put_zero(void)
{
    put_char(0);
}

static void show_partitions(const partition *list, size_t count, tl_span name, tl_span transform)
{
    static const int right[4] = {0, 1, 1, 1};
    output *to = out, cells;
    size_t i, shown = count < 2 * SHOWN_ROWS ? count : 2 * SHOWN_ROWS;
    memset(&cells, 0, sizeof cells);
    out = &cells;
    put_shown(name.data, name.size);
    put_zero();
    put("files\0rows\0bytes", 17);
    for (i = 0; i < shown; i++) {
        put_partition(&list[i], transform);
        put_zero();
        put_grouped(list[i].files);
        put_zero();
        put_grouped(list[i].rows);
        put_zero();
        put_grouped(list[i].bytes);
        put_zero();
    }
    out = to;
    heading("files by partition\n");
    put_cells(cells.data, shown + 1, 4, right);
    if (shown < count) {
        puts_("  ... ");
        put_grouped(count - shown);
        puts_(" more\n");
    }
    puts_("\n");
    free(cells.data);
}

static tl_span json_text(const tl_json *tree, const tl_json_node *object, const char *key)
{
    tl_span s = {NULL, 0};
    const tl_json_node *value = tl_json_member(tree, object, tl_text(key));
    (void)tl_json_string(tree, value, &s, NULL);
    return s;
}

/* The element of an array of objects whose `key` is the number that `root` has under `which`. */
static const tl_json_node *json_pick(const tl_json *tree, const char *array, const char *key, const char *which)
{
    const tl_json_node *list = tl_json_member(tree, tree->root, tl_text(array)), *item;
    int64_t want = 0, id;
    if (list == NULL || tl_json_int64(tree, tl_json_member(tree, tree->root, tl_text(which)), &want, NULL) != TL_OK)
        return NULL;
    for (item = tl_json_first(list); item != NULL; item = tl_json_next(list, item))
        if (tl_json_int64(tree, tl_json_member(tree, item, tl_text(key)), &id, NULL) == TL_OK && id == want)
            return item;
    return NULL;
}

static void label(const char *text)
{
    puts_("  ");
    style("2");
    puts_(text);
    style("0");
}

static void show_schema(const tl_json *tree)
{
    const tl_json_node *fields, *field;
    fields = tl_json_member(tree, json_pick(tree, "schemas", "schema-id", "current-schema-id"), tl_text("fields"));
    label("columns   ");
    for (field = fields == NULL ? NULL : tl_json_first(fields); field != NULL; field = tl_json_next(fields, field)) {
        tl_span name = json_text(tree, field, "name"), type = json_text(tree, field, "type");
        int required = 0;
        const tl_json_node *nested = tl_json_member(tree, field, tl_text("type"));
        if (nested != NULL && type.data == NULL)
            type = json_text(tree, nested, "type");
        (void)tl_json_bool(tree, tl_json_member(tree, field, tl_text("required")), &required, NULL);
        if (field != tl_json_first(fields))
            puts_(", ");
        put_shown(name.data, name.size);
        put_char(' ');
        style("2");
        put_shown(type.data, type.size);
        puts_(required ? "" : "?");
        style("0");
    }
    puts_("\n");
}

static void show_snapshot(const tl_json *tree)
{
    const tl_json_node *current = tl_json_member(tree, tree->root, tl_text("current-snapshot-id"));
    const tl_json_node *updated = tl_json_member(tree, tree->root, tl_text("last-updated-ms"));
    char text[TL_VALUE_TEXT];
    int64_t v;
    label("snapshot  ");
    if (tl_json_int64(tree, current, &v, NULL) == TL_OK && v != -1) {
        int n = snprintf(text, sizeof text, "%lld", (long long)v);
        put(text, (size_t)n);
    } else {
        puts_("none");
    }
    if (tl_json_int64(tree, updated, &v, NULL) == TL_OK) {
        tl_type type;
        memset(&type, 0, sizeof type);
        type.id = TL_TYPE_TIMESTAMP;
        type.unit = TL_UNIT_MILLI;
        type.zone = tl_text("UTC");
        puts_(", updated ");
        put(text, tl_value_text(text, &type, &v));
    }
    puts_("\n");
}

/* What the head says about its table: layout 1. */
static tl_status show_table(tl_head *head, tl_error *err)
{
    tl_span metadata, name = {"partition", 9}, transform = {NULL, 0};
    const tl_json_node *spec;
    tl_files files;
    tl_json tree;
    partition *list;
    size_t count, i;
    uint64_t rows = 0, bytes = 0;
    if (tl_head_metadata(head, &metadata, err) != TL_OK || tl_head_files(head, &files, err) != TL_OK
        || tl_json_parse(&tree, metadata.data, metadata.size, NULL, NULL, err) != TL_OK)
        return err->status;
    label("table     ");
    style("1");
    {
        tl_span location = json_text(&tree, tree.root, "location");
        put_shown(location.data, location.size);
    }
    style("0");
    puts_("\n");
    show_snapshot(&tree);
    show_schema(&tree);
    list = partitions_of(&files, &count);
    for (i = 0; i < count; i++) {
        rows += list[i].rows;
        bytes += list[i].bytes;
    }
    label("files     ");
    put_grouped(files.count);
    puts_(" with ");
    plural(rows, "row");
    puts_(", ");
    plural(bytes, "byte");
    puts_("\n\n");
    spec = tl_json_member(&tree, json_pick(&tree, "partition-specs", "spec-id", "default-spec-id"), tl_text("fields"));
    spec = spec == NULL ? NULL : tl_json_first(spec);
    if (spec != NULL) {
        name = json_text(&tree, spec, "name");
        transform = json_text(&tree, spec, "transform");
    }
    if (count > 0)
        show_partitions(list, count, name, transform);
    free(list);
    tl_json_free(&tree);
    return TL_OK;
}

/* The newest row of each series. */
static tl_status show_newest(tl_head *head, tl_error *err)
{
    tl_section *section;
    tl_status status = tl_head_last_values(head, &section, err);
    table t;
    if (status != TL_OK)
        return status == TL_ABSENT ? TL_OK : status;
    status = table_open(&t, section, err);
    if (status == TL_OK) {
        heading("newest values\n");
        show_rows(&t, SHOWN_ROWS);
        puts_("\n");
    }
    table_free(&t);
    return status;
}

/* One line for each section. */
static void show_sections(const tl_head *head)
{
    int64_t field;
    int32_t i;
    heading("sections\n");
    for (i = 0; i < head->document.section_count; i++) {
        const tl_section *s = &head->document.sections[i];
        size_t pad;
        puts_("  ");
        put_shown(s->name.data, s->name.size);
        for (pad = shown_width(s->name.data, s->name.size); pad < 13; pad++)
            put_char(' ');
        plural((uint64_t)s->rows, "row");
        puts_(": ");
        for (field = 0; field < s->schema->n_children; field++) {
            const char *column = s->schema->children[field]->name;
            puts_(field > 0 ? ", " : "");
            put_shown(column, strlen(column));
        }
        puts_("\n");
    }
}

static tl_status show_head(tl_head *head, size_t size, tl_error *err)
{
    tl_status status = TL_OK;
    tl_span layout = tl_document_property(&head->document, tl_text("layout"));
    int is_table = tl_span_equal(layout, tl_text("1"))
                   && tl_document_section(&head->document, tl_text("files")) != NULL;
    int32_t i;
    heading(object_name());
    puts_(": version ");
    put_number(head->version);
    puts_(", codec ");
    put_shown(head->codec.data, head->codec.size);
    puts_(", ");
    plural(size, "byte");
    puts_("\n");
    for (i = 0; i < head->document.property_count; i++) {
        const tl_property *p = &head->document.properties[i];
        label("property  ");
        put_shown(p->key.data, p->key.size);
        puts_(" = ");
        put_shown(p->value.data, p->value.size);
        puts_("\n");
    }
    if (is_table) {
        status = show_table(head, err);
        if (status == TL_OK)
            status = show_newest(head, err);
        if (status == TL_OK)
            show_sections(head);
        return status;
    }
    puts_("\n");
    for (i = 0; i < head->document.section_count && status == TL_OK; i++) {
        table t;
        status = table_open(&t, &head->document.sections[i], err);
        if (status == TL_OK)
            show_section(&t);
        table_free(&t);
    }
    return status;
}

static tl_status json_head(tl_head *head, tl_error *err)
{
    tl_status status;
    int32_t i;
    puts_("{\"version\":");
    put_number(head->version);
    puts_(",\"codec\":");
    put_json(head->codec);
    puts_(",\"properties\":{");
    for (i = 0; i < head->document.property_count; i++) {
        if (i > 0)
            put_char(',');
        put_json(head->document.properties[i].key);
        put_char(':');
        put_json(head->document.properties[i].value);
    }
    puts_("},\"sections\":[");
    for (i = 0; i < head->document.section_count; i++) {
        table t;
        status = table_open(&t, &head->document.sections[i], err);
        if (status != TL_OK) {
            table_free(&t);
            return status;
        }
        puts_(i > 0 ? ",{\"name\":" : "{\"name\":");
        put_json(t.section->name);
        puts_(",\"fields\":");
        json_fields(&t);
        puts_(",\"metadata\":");
        json_metadata(t.section->schema);
        puts_(",\"rows\":");
        json_rows(&t);
        put_char('}');
        table_free(&t);
    }
    puts_("]}\n");
    return TL_OK;
}

/* ---- commands ---- */

static tl_compression compression(void)
{
    tl_compression c;
    memset(&c, 0, sizeof c);
#ifdef TLAKE_ZSTD
    c = tl_zstd_compression(0);
#endif
    return c;
}

/* Encodes the head anew and writes it: 0, or the exit code. */
static int recode(tl_head *head, const tl_head_options *options, size_t *size)
{
    tl_buffer encoded;
    tl_error err;
    int code = EXIT_DONE;
    memset(&encoded, 0, sizeof encoded);
    if (tl_head_encode(&encoded, head->version, tl_text(arguments.recode), &head->document, options, &err) != TL_OK)
        code = fail_status(&err);
    else if (strcmp(arguments.to, "-") == 0)
        put((const char *)encoded.data, encoded.size);
    else
        code = file_write(arguments.to, encoded.data, encoded.size);
    *size = encoded.size;
    tl_buffer_free(&encoded);
    return code;
}

static int command_head(void)
{
    tl_head_options options;
    tl_head head;
    tl_error err;
    tl_status status = TL_OK;
    input in;
    size_t size = 0;
    int32_t i;
    int code = input_read(&in);
    memset(&options, 0, sizeof options);
    options.compression = compression();
    if (code == EXIT_DONE && tl_head_decode(&head, in.data, in.size, &options, &err) != TL_OK)
        code = fail_status(&err);
    if (code != EXIT_DONE) {
        free(in.data);
        return code;
    }
    /* what cannot be read is told before anything is printed */
    for (i = 0; i < head.document.section_count && status == TL_OK; i++)
        status = tl_section_open(&head.document.sections[i], &err);
    if (status == TL_OK && arguments.recode != NULL)
        code = recode(&head, &options, &size);
    if (status == TL_OK && code == EXIT_DONE) {
        if (arguments.json && (arguments.to == NULL || strcmp(arguments.to, "-") != 0)) {
            status = json_head(&head, &err);
        } else if (arguments.recode == NULL) {
            status = show_head(&head, in.size, &err);
        } else if (strcmp(arguments.to, "-") != 0) {
            put_shown(arguments.to, strlen(arguments.to));
            puts_(": version ");
            put_number(head.version);
            puts_(", codec ");
            puts_(arguments.recode);
            puts_(", ");
            plural(size, "byte");
            puts_(" (");
            put_shown(head.codec.data, head.codec.size);
            puts_(": ");
            put_grouped(in.size);
            puts_(")\n");
        }
    }
    if (status != TL_OK)
        code = fail_status(&err);
    tl_head_free(&head);
    free(in.data);
    return code;
}

static int dump_json(const input *in)
{
    tl_buffer text;
    tl_error err;
    int code = EXIT_DONE;
    memset(&text, 0, sizeof text);
    if (tl_json_canonical(&text, in->data, in->size, NULL, &err) != TL_OK) {
        code = fail_status(&err);
    } else {
        put((const char *)text.data, text.size);
        put_char('\n');
    }
    tl_buffer_free(&text);
    return code;
}

/* The frames' content. What the headers promise is no reason to allocate it: room grows as content comes. */
static int dump_zstd(const input *in)
{
    uint64_t promised = UINT64_MAX;
    size_t capacity = in->size * 4 + 65536, size = 0;
    char *content = NULL;
    tl_error err;
    tl_status status = tl_zstd_content_size(in->data, in->size, &promised, &err);
    if (status == TL_OK && promised <= ((uint64_t)1 << 26))
        capacity = (size_t)promised;
    while (status == TL_OK) {
        free(content);
        content = (char *)malloc(capacity + 1);
        if (content == NULL) {
            free(content);
            return fail_errno(object_name(), ENOMEM);
        }
        status = tl_zstd_decompress(content, capacity, &size, in->data, in->size, NULL, &err);
        if (status != TL_LIMIT || capacity >= promised || capacity > SIZE_MAX / 8)
            break;
        capacity *= 4;
        status = TL_OK;
    }
    if (status == TL_OK)
        put(content, size);
    free(content);
    return status == TL_OK ? EXIT_DONE : fail_status(&err);
}

static int dump_ipc(const input *in)
{
    tl_ipc_options options;
    tl_document document;
    tl_error err;
    table t;
    int code = EXIT_DONE;
    memset(&options, 0, sizeof options);
    memset(&document, 0, sizeof document);
    options.compression = compression();
    if (tl_ipc_decode(&document, in->data, in->size, &options, &err) != TL_OK)
        return fail_status(&err);
    if (table_open(&t, &document.sections[0], &err) != TL_OK) {
        code = fail_status(&err);
    } else if (arguments.json) {
        puts_("{\"schema\":");
        json_fields(&t);
        puts_(",\"metadata\":");
        json_metadata(t.section->schema);
        puts_(",\"rows\":");
        json_rows(&t);
        puts_("}\n");
    } else {
        heading(object_name());
        puts_(": Arrow stream, ");
        plural((uint64_t)t.section->rows, "row");
        puts_(" in ");
        put_grouped((uint64_t)t.section->batch_count);
        puts_(t.section->batch_count == 1 ? " batch\n  " : " batches\n  ");
        show_fields(&t.root);
        puts_("\n");
        show_rows(&t, SHOWN_ROWS);
    }
    table_free(&t);
    tl_document_free(&document);
    return code;
}

/* One of the words, separated by spaces. */
static int one_of(const char *word, const char *words)
{
    size_t n = strlen(word);
    const char *p = words;
    for (; n > 0 && (p = strstr(p, word)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == 0))
            return 1;
    return 0;
}

/* A whole number from `least` to `most`, of digits and nothing else; 0: it is none. */
static int number_of(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    const char *p;
    *number = 0;
    for (p = text; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (*number > (UINT64_MAX - digit) / 10)
            return 0;
        *number = *number * 10 + digit;
    }
    return p != text && *p == 0 && *number >= least && *number <= most;
}

/* ---- options of the commands that commit ---- */

static const char *option_value(const char *name, int argc, char **argv, int *i);

static struct committing {
    const char *time, *series, *chunk, *batch, *newest;
    int no_ingest_time, sorted, copy;
    const char *of_create, *of_append; /* the last option of that command alone */
    const char *wrong, *which;         /* not NULL: what is wrong with an option's value, and which one's */
} committing;

/* An option of these commands: taken, or 0. */
static int commit_option(int argc, char **argv, int *i)
{
    static const struct { const char *name; const char **value, **of; } texts[] = {
        {"--time", &committing.time, &committing.of_create}, {"--series", &committing.series, &committing.of_create},
        {"--chunk", &committing.chunk, &committing.of_create}, {"--batch-id", &committing.batch, &committing.of_append},
        {"--newest", &committing.newest, &committing.of_append}};
    static const struct { const char *name; int *flag; const char **of; } flags[] = {
        {"--no-ingest-time", &committing.no_ingest_time, &committing.of_create},
        {"--sorted", &committing.sorted, &committing.of_append}, {"--copy", &committing.copy, &committing.of_append}};
    const char *v;
    size_t n;
    for (n = 0; n < sizeof flags / sizeof flags[0]; n++)
        if (strcmp(argv[*i], flags[n].name) == 0) {
            *flags[n].of = flags[n].name;
            return *flags[n].flag = 1;
        }
    for (n = 0; n < sizeof texts / sizeof texts[0]; n++)
        if ((v = option_value(texts[n].name, argc, argv, i)) != NULL) {
            if (v[0] == 0 || *texts[n].value != NULL) {
                committing.wrong = v[0] == 0 ? "a value is missing: " : "given twice: ";
                committing.which = texts[n].name;
            }
            *texts[n].value = v;
            *texts[n].of = texts[n].name;
            return 1;
        }
    return 0;
}

#ifdef TLAKE_TABLES
#include "tlake_store.h"
#include "tlake_table.h"
#include "tlake_log.h"
#include "tlake_doctor.h"
#include "tlake_commit.h"
#endif
#include "tlake_probe.h"

static int command_dump(void)
{
    input in;
    int code = input_read(&in);
    if (code == EXIT_DONE)
        code = strcmp(arguments.as, "ipc") == 0    ? dump_ipc(&in)
#ifdef TLAKE_TABLES
               : strcmp(arguments.as, "avro") == 0 ? dump_avro(&in)
               : strcmp(arguments.as, "parquet") == 0 ? dump_parquet(&in)
#endif
               : strcmp(arguments.as, "json") == 0 ? dump_json(&in)
                                                   : dump_zstd(&in);
    free(in.data);
    return code;
}

/* ---- the command line ---- */

#if defined(TLAKE_CURL) && defined(TLAKE_TABLES)
#define WITH_CURL "s3://, az://, gs://, https://, http:// with libcurl " LIBCURL_VERSION
#else
#define WITH_CURL "built without libcurl: no s3://, az://, gs://, https://, http://"
#endif
#ifdef TLAKE_TABLES
#define COMMANDS "head dump open latest plan watch create append set probe cost protocol add-columns doctor"
#define FORMATS "ipc avro parquet json zstd"
#else
#define COMMANDS "head dump cost"
#define FORMATS "ipc json zstd"
#endif

static const char help_all[] =
    "usage: tlake COMMAND [OPTION...] FILE|URL\n"
    "\n"
    "Opens Timelake tables, and looks into their head objects and the formats they are made of.\n"
    "\n"
    "  open URL                                  the newest version of a table: where it came from, its files\n"
    "  latest URL                                the newest row of each series\n"
    "  plan URL --where EXPR                     the files that can hold rows that match\n"
    "  watch URL --every 1s                      a line for each new version\n"
    "  create URL name:type...                   a new table\n"
    "  append URL FILE...                        adds Parquet files to it, in one commit\n"
    "  set URL key=value...                      table properties\n"
    "  probe URL [--every 1s]                    the newest of numbered objects, such as SlateDB's manifests\n"
    "  doctor URL                                is this object store safe to read from and to commit to?\n"
    "  cost [--every 1s]                         what polling for the newest object costs in a month\n"
    "  protocol URL                              a timeseries table: may this program read it, may it write it\n"
    "  add-columns URL name:type...              adds nullable columns to it\n"
    "  head FILE                                 what a head says\n"
    "  head FILE --recode arrow|json --out F     writes it with that codec\n"
    "  dump --as ipc|avro|parquet|json|zstd FILE an Arrow stream, an Avro container, a Parquet file's footer, checked\n"
    "                                            JSON, a zstd frame\n"
    "\n"
    "FILE may be - (standard input). URL is a folder, or file://, s3://, az://, gs://, https://, http://\n"
    "(" WITH_CURL ").\n"
    "  -o key=value  a storage option, by Timelake's name: timelake_version_lookup=list|hint,\n"
    "                timelake_freshness_check=head|list, timelake_warm_connections=N; timelake_local_root=DIR: any\n"
    "                URL's scheme and authority stand for DIR. Of object stores: aws_endpoint, aws_region,\n"
    "                aws_access_key_id, azure_storage_account_name, google_bearer_token, allow_http, timeout, ...:\n"
    "                `tlake open --help`\n"
    "  --trace       prints requests as they run, on standard error\n"
    "  --verbose     prints what HTTP says, headers too, but no credentials, on standard error\n"
    "  --json        one JSON document instead of text; errors too\n"
    "  --help        this, or with a command more about it\n"
    "  --version     the version\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 conflict, 4 ambiguous, 5 not found. NO_COLOR in the en"
        "vironment: no colours.\n";

static const char help_head[] =
    "usage: tlake head FILE [--json] [--recode arrow|json --out F]\n"
    "\n"
    "Decodes a head object (<table>/metadata/timelake-head), checks all of it, and prints what it says: the table,\n"
    "its files by partition, the newest row of each series, the sections.\n"
    "\n"
    "  --json            {\"version\",\"codec\",\"properties\":{},\"sections\":[{\"name\",\n"
    "                    \"fields\":[{\"name\",\"type\",\"nullable\",\"metadata\"}],\"metadata\":{},\"rows\":[{}]}]}\n"
    "                    Types as pyarrow spells them: int64, string, double, timestamp[us, tz=UTC],\n"
    "                    decimal128(10, 2), list<item: int32>, map<string, int64>,\n"
    "                    dictionary<values=string, indices=int32, ordered=0>.\n"
    "                    Values: integers of any size as they are; floating point shortest, \"NaN\", \"inf\",\n"
    "                    \"-inf\" as strings; decimals as strings; binary as hex; times, dates and durations as\n"
    "                    integers in their unit; intervals as [months, days, nanoseconds],\n"
    "                    [days, milliseconds] or months; maps as arrays of [key, value]; columns with a\n"
    "                    dictionary as their values.\n"
    "  --recode CODEC    writes the head anew with codec arrow or json\n"
    "  --out F           to this file (-: standard output); it appears whole or not at all. Where F is no file but a\n"
    "                    FIFO or a device it is written to; of a symbolic link the file is meant\n";

static const char help_tables[] =
    "usage: tlake open URL [--no-head] [--version N] [-o key=value]... [--trace] [--json]\n"
    "       tlake latest URL [-o key=value]... [--json]\n"
    "       tlake plan URL [--where EXPR]... [-o key=value]... [--json]\n"
    "       tlake watch URL [--every 1s] [--count N] [-o key=value]... [--json]\n"
    "\n"
    "open    loads a table's newest version, in one round trip where its head is current, and says which requests it\n"
    "        took. --no-head: as if it had none. --version N: that version, by its metadata file.\n"
    "latest  the newest row of each series, from the index in the head.\n"
    "plan    the files that can hold matching rows. EXPR: comparisons joined by `and`:\n"
    "        time >= '2026-01-02' and device = 3 and site in ('a', 'b') and value is not null\n"
    "        Columns may stand in double quotes, texts, dates and times in single ones. Of several --where all hold.\n"
    "watch   looks every so often (500ms, 1s, 2m) and prints each new version, also those between two looks;\n"
    "        --count N: ends after N lines. A failure of the store that retries did not mend ends it too.\n"
    "\n"
    "Storage options and the environment, as Timelake's Rust client names them; an option wins. `-o endpoint=` is\n"
    "`-o aws_endpoint=` where the URL is s3://.\n"
    "s3://bucket/...      AWS_ENDPOINT, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,\n"
    "                     AWS_VIRTUAL_HOSTED_STYLE_REQUEST, AWS_SKIP_SIGNATURE, AWS_UNSIGNED_PAYLOAD,\n"
    "                     AWS_REQUEST_PAYER; without keys those of ~/.aws/credentials, else anonymous\n"
    "az://container/...   AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN,\n"
    "                     AZURE_STORAGE_TOKEN, AZURE_STORAGE_ENDPOINT, AZURE_STORAGE_USE_EMULATOR,\n"
    "                     AZURE_SKIP_SIGNATURE; also abfss://container@account.host/...\n"
    "gs://bucket/...      GOOGLE_BASE_URL, GOOGLE_SKIP_SIGNATURE; of our own GOOGLE_BEARER_TOKEN, or an HMAC key:\n"
    "                     GOOGLE_ACCESS_KEY_ID, GOOGLE_SECRET_ACCESS_KEY\n"
    "https://, http://    reads only, without listings: -o bearer_token=T\n"
    "all                  -o allow_http=true: credentials may go over http:// to other hosts; timeout=30s,\n"
    "                     connect_timeout=5s, proxy_url=URL, user_agent=TEXT, allow_invalid_certificates=true,\n"
    "                     http1_only=true, in the environment AWS_TIMEOUT, AZURE_PROXY_URL, ...; SSL_CERT_FILE,\n"
    "                     https_proxy, no_proxy\n";

static const char help_log[] =
    "usage: tlake protocol URL [-o key=value]... [--trace] [--json]\n"
    "       tlake add-columns URL name:type... [-o key=value]... [--trace] [--json]\n"
    "\n"
    "Timeseries tables (protocol 7): a folder with a _timeseries_log.\n"
    "\n"
    "protocol     replays the log: version, the features that readers and writers need, columns. With --json\n"
    "             {\"version\",\"read\":\"ok\"|\"error\",\"read_error\",\"write\",\"write_error\",\n"
    "             \"protocol_version\",\"reader_features\":[],\"writer_features\":[],\n"
    "             \"fields\":[{\"name\",\"type\",\"nullable\"}]}.\n"
    "add-columns  commits nullable columns; with --json {\"version\"}. Types: bool, int32, int64, uint64, float,\n"
    "             double, string, binary, fixed_size_binary[16], timestamp[us], timestamp[us, tz=UTC],\n"
    "             decimal128(10,2), or in the form of the log:\n"
    "             '{\"List\":{\"elements\":{\"name\":\"item\",\"nullable\":true,\"data_type\":\"Utf8\"}}}'.\n";

static const char help_dump[] =
    "usage: tlake dump --as ipc|avro|parquet|json|zstd FILE [--json]\n"
    "\n"
    "  --as ipc     an Arrow IPC stream; with --json {\"schema\":FIELDS,\"metadata\":{},\"rows\":[{}]}, types and\n"
    "               values as `tlake head` has them\n"
    "  --as avro    an Avro container file: {\"schema\":..,\"metadata\":{},\"rows\":[{}]}\n"
    "  --as parquet what the footer of a Parquet file says: rows, row groups, columns, and what a table's entry of it\n"
    "               holds; with --json {\"rows\",\"row_groups\",\"columns\":[{\"name\",\"field_id\",\"type\",\n"
    "               \"required\"}],\"data_file\":FILE}, FILE as in `tlake open --json`\n"
    "  --as json    checks JSON strictly, and prints it without white space\n"
    "  --as zstd    the content of zstd frames, as it is\n";

/* The value of `--name VALUE` or `--name=VALUE`, NULL when argv[*i] is another option; "" when the value is missing. */
static const char *option_value(const char *name, int argc, char **argv, int *i)
{
    size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0)
        return NULL;
    if (argv[*i][n] == '=')
        return argv[*i] + n + 1;
    if (argv[*i][n] != 0)
        return NULL;
    if (*i + 1 >= argc)
        return "";
    return argv[++*i];
}

static int print_help(void)
{
    const char *c = arguments.command;
    puts_(c == NULL ? help_all : strcmp(c, "head") == 0 ? help_head : strcmp(c, "dump") == 0 ? help_dump
#ifdef TLAKE_TABLES
          : strcmp(c, "doctor") == 0 ? help_doctor
          : one_of(c, "create append set") ? help_commit
#endif
          : one_of(c, "probe cost") ? help_probe : one_of(c, "protocol add-columns") ? help_log : help_tables);
    return EXIT_DONE;
}

/* What is no option: the command, its file, more where it takes more. */
static int operand(const char *a)
{
    if (arguments.command == NULL) {
        if (!one_of(a, COMMANDS))
            return usage("unknown command ", a);
        arguments.command = a;
    } else if (arguments.file == NULL) {
        arguments.file = a;
    } else if (one_of(arguments.command, "add-columns create append set")
               && arguments.column_count < sizeof arguments.columns / sizeof arguments.columns[0]) {
        arguments.columns[arguments.column_count++] = a;
    } else {
        return usage("one file at a time: ", a);
    }
    return EXIT_DONE;
}

/* Takes the arguments apart; the exit code, or -1 to go on. */
static int parse(int argc, char **argv)
{
    int i, help = 0, options = 1;
    uint64_t number;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            arguments.json = 1;
        if (strcmp(argv[i], "--") == 0)
            break;
    }
    for (i = 1; i < argc; i++) {
        const char *a = argv[i], *v;
        if (!options || a[0] != '-' || a[1] == 0) {
            if (operand(a) != EXIT_DONE)
                return EXIT_USAGE;
        } else if (strcmp(a, "--") == 0) {
            options = 0;
        } else if (strcmp(a, "--json") == 0) {
            continue;
        } else if (strcmp(a, "--help") == 0) {
            help = 1;
        } else if (strcmp(a, "--no-head") == 0) {
            arguments.no_head = 1;
        } else if (strcmp(a, "--trace") == 0) {
            arguments.trace = 1;
        } else if (strcmp(a, "--verbose") == 0) {
            arguments.verbose = 1;
        } else if (strcmp(a, "--one-writer") == 0) {
            arguments.one_writer = 1;
        } else if ((v = option_value("-o", argc, argv, &i)) != NULL) {
            if (arguments.option_count == sizeof arguments.options / sizeof arguments.options[0])
                return usage("too many storage options", "");
            arguments.options[arguments.option_count++] = v;
        } else if ((v = option_value("--where", argc, argv, &i)) != NULL) {
            if (arguments.where_count == sizeof arguments.where / sizeof arguments.where[0])
                return usage("too many conditions: ", v);
            arguments.where[arguments.where_count++] = v;
        } else if (probe_option(argc, argv, &i) || commit_option(argc, argv, &i)) {
            continue;
        } else if ((v = option_value("--every", argc, argv, &i)) != NULL) {
            arguments.every = cost.every = v;
        } else if ((v = option_value("--count", argc, argv, &i)) != NULL) {
            if (!number_of(v, 1, INT32_MAX, &number))
                return usage("--count takes a number from 1 to 2147483647: ", v);
            arguments.count = (long)number;
        } else if (arguments.command != NULL && strcmp(arguments.command, "open") == 0
                   && (v = option_value("--version", argc, argv, &i)) != NULL) {
            if (!number_of(v, 1, UINT64_MAX, &arguments.at_version))
                return usage("--version takes a table version: ", v);
        } else if (strcmp(a, "--version") == 0) {
            puts_("tlake ");
            puts_(tl_version_text());
            puts_("\n" WITH_CURL "\n");
            return EXIT_DONE;
        } else if ((v = option_value("--recode", argc, argv, &i)) != NULL) {
            arguments.recode = v;
        } else if ((v = option_value("--out", argc, argv, &i)) != NULL) {
            arguments.to = v;
        } else if ((v = option_value("--as", argc, argv, &i)) != NULL) {
            arguments.as = v;
        } else {
            return usage("unknown option ", a);
        }
    }
    return help ? print_help() : -1;
}

/* An option that the command does not take, or NULL. */
static const char *stray_option(void)
{
    const char *c = arguments.command;
    int head = strcmp(c, "head") == 0, dump = strcmp(c, "dump") == 0, tables = !head && !dump && strcmp(c, "cost") != 0;
    if (!head && (arguments.recode != NULL || arguments.to != NULL))
        return arguments.recode != NULL ? "--recode" : "--out";
    if (!dump && arguments.as != NULL)
        return "--as";
    if (!tables && (arguments.option_count != 0 || arguments.trace || arguments.verbose))
        return arguments.trace ? "--trace" : arguments.verbose ? "--verbose" : "-o";
    if (arguments.where_count != 0 && strcmp(c, "plan") != 0)
        return "--where";
    if ((arguments.every != NULL && !one_of(c, "watch probe cost"))
        || (arguments.count != 0 && !one_of(c, "watch probe doctor")))
        return arguments.every != NULL ? "--every" : "--count";
    if (cost.about != NULL && strcmp(c, "cost") != 0)
        return cost.about;
    if (probing.about != NULL && strcmp(c, "probe") != 0)
        return probing.about;
    if (arguments.no_head && (head || dump || one_of(c, "probe cost protocol add-columns doctor")))
        return "--no-head";
    if (committing.of_create != NULL && strcmp(c, "create") != 0)
        return committing.of_create;
    if (committing.of_append != NULL && strcmp(c, "append") != 0)
        return committing.of_append;
    if (arguments.one_writer && strcmp(c, "doctor") != 0)
        return "--one-writer";
    if (arguments.trace && strcmp(c, "doctor") == 0)
        return "--trace";
    return NULL;
}

/* What belongs together is there, and nothing else. */
static int check(void)
{
    if (arguments.command == NULL)
        return usage("a command is missing", "");
    if (stray_option() != NULL)
        return usage("an option of another command: ", stray_option());
    if (committing.wrong != NULL)
        return usage(committing.wrong, committing.which);
    if (strcmp(arguments.command, "dump") == 0 && (arguments.as == NULL || !one_of(arguments.as, FORMATS)))
        return usage("--as must be one of " FORMATS, "");
    if (arguments.recode != NULL && !one_of(arguments.recode, "arrow json"))
        return usage("--recode must be arrow or json", "");
    if ((arguments.recode == NULL) != (arguments.to == NULL) || (arguments.to != NULL && arguments.to[0] == 0))
        return usage("--recode and --out go together", "");
    if (arguments.file == NULL && strcmp(arguments.command, "cost") != 0)
        return usage("a file or URL is missing", "");
    if (arguments.file != NULL && strcmp(arguments.command, "cost") == 0)
        return usage("cost takes no file or URL: ", arguments.file);
    return -1;
}

static int run(void)
{
    const char *c = arguments.command;
#ifdef TLAKE_TABLES
    if (strcmp(c, "open") == 0)
        return command_open();
    if (strcmp(c, "latest") == 0)
        return command_latest();
    if (strcmp(c, "plan") == 0)
        return command_plan();
    if (strcmp(c, "watch") == 0)
        return command_watch();
    if (strcmp(c, "probe") == 0)
        return command_probe();
    if (strcmp(c, "doctor") == 0)
        return command_doctor();
    if (strcmp(c, "create") == 0)
        return command_create();
    if (strcmp(c, "append") == 0)
        return command_append();
    if (strcmp(c, "set") == 0)
        return command_set();
    if (strcmp(c, "protocol") == 0)
        return command_protocol();
    if (strcmp(c, "add-columns") == 0)
        return command_add_columns();
#endif
    if (strcmp(c, "cost") == 0)
        return command_cost();
    return strcmp(c, "head") == 0 ? command_head() : command_dump();
}

static int is_terminal(void)
{
#ifdef _WIN32
    return 0;
#else
    const char *term = getenv("TERM");
    return isatty(1) && (term == NULL || strcmp(term, "dumb") != 0);
#endif
}

/* A standard descriptor that is closed must not become that of a file or a socket, which would get what is printed:
   something stands there that can only be read (and only be written, for standard input). */
static void keep_standard(void)
{
#ifndef _WIN32
    int fd;
    for (fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            exit(EXIT_FAILED);
#endif
}

int main(int argc, char **argv)
{
    output standard;
    const char *no_color = getenv("NO_COLOR");
    int code;
    keep_standard();
    memset(&standard, 0, sizeof standard);
    standard.file = stdout;
    out = &standard;
#ifdef _WIN32
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    code = parse(argc, argv);
    if (code < 0)
        code = check();
    colour = !arguments.json && (no_color == NULL || no_color[0] == 0) && is_terminal();
    if (code < 0)
        code = run();
    if (!output_sent(&standard)) {
        fprintf(stderr, "tlake: standard output: %s (io)\n", strerror(standard.failed));
        code = code == EXIT_DONE ? EXIT_FAILED : code;
    }
    free(standard.data);
    return code;
}
