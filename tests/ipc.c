/* Arrow IPC streams: the heads of real writers, the format's own integration streams, broken ones, ours. */
#include "tl_test.h"
#include "tl_compare.h"
#include "tl_table.h"
#if !defined(_WIN32)
#include <dirent.h>
#include <sys/mman.h>
#endif

/* ---- reading a stream ---- */

typedef struct opened {
    tli_store *store;
    tli_ipc_stream *stream;
} opened;

static tl_status open_stream(opened *o, const tl_allocator *allocator, const tl_limits *limits,
                             const tl_compression *compression, const void *bytes, size_t size, tl_error *err)
{
    tl_limits l = tl_limits_resolve(limits);
    o->stream = NULL;
    o->store = tli_mem_store_new(allocator, l.decoded_bytes, bytes, size, NULL, NULL, err);
    if (o->store == NULL)
        return err->status;
    return tli_ipc_open(o->store, bytes, size, 0, limits, compression, &o->stream, err);
}

/* Opens all columns of all batches; what is read is checked once more by the room of arrays. */
static tl_status open_all(tli_ipc_stream *s, tl_error *err)
{
    int32_t b, c;
    for (b = 0; b < s->batch_count; b++)
        for (c = 0; c < s->schema->n_children; c++) {
            const struct ArrowArray *a = NULL;
            tl_error checked;
            tl_status st = tli_ipc_column(s, b, c, &a, err);
            if (st != TL_OK)
                return st;
            CHECK_INT(a->length, s->batches[b].rows);
            CHECK_STATUS(tli_arrow_array_check(s->schema->children[c], a, NULL, &checked), TL_OK, &checked);
        }
    return TL_OK;
}

static tl_status read_all(const void *bytes, size_t size, tl_error *err)
{
    opened o;
    tl_status st = open_stream(&o, NULL, NULL, NULL, bytes, size, err);
    if (st == TL_OK)
        st = open_all(o.stream, err);
    tli_mem_store_drop(o.store);
    return st;
}

/* Stream `i` of an arrow head; 0 when there is none. */
static int head_stream(const char *head, size_t size, int i, const char **stream, size_t *stream_size)
{
    size_t at = 14 + (size_t)(unsigned char)head[13];
    for (;; i--) {
        uint64_t n;
        if (at + 8 > size)
            return 0;
        n = tli_bits_le64(head + at);
        at += 8;
        if (n > size - at)
            return 0;
        *stream = head + at;
        *stream_size = (size_t)n;
        if (i == 0)
            return 1;
        at += (size_t)n;
    }
}

/* The first status that is not TL_OK when all streams of a head are read. */
static tl_status read_head(const char *path, tl_error *err)
{
    size_t size, stream_size;
    char *head = tl_test_read(tl_test_shared(path), &size);
    const char *stream;
    tl_status st = TL_OK;
    int i;
    CHECK(head != NULL);
    for (i = 0; head != NULL && st == TL_OK && head_stream(head, size, i, &stream, &stream_size); i++)
        st = read_all(stream, stream_size, err);
    free(head);
    return st;
}

static void cases_12_to_15(void)
{
    static const struct {
        const char *path;
        tl_status status;
    } heads[] = {
        {"12-arrow-zero-rows/empty-child", TL_OK},
        {"12-arrow-zero-rows/empty-values", TL_OK},
        {"12-arrow-zero-rows/no-batch", TL_OK},
        {"12-arrow-zero-rows/offsets-0-bytes", TL_OK},
        {"12-arrow-zero-rows/offsets-0-bytes-zstd", TL_OK},
        {"12-arrow-zero-rows/offsets-4-bytes", TL_OK},
        {"12-arrow-zero-rows/offsets-4-bytes-marker", TL_OK},
        {"12-arrow-zero-rows/offsets-4-bytes-zstd", TL_OK},
        {"12-arrow-zero-rows/prefix-0-only", TL_OK},
        {"12-arrow-zero-rows/reference", TL_OK},
        {"13-arrow-buffer-prefix/marker-all", TL_OK},
        {"13-arrow-buffer-prefix/mixed", TL_OK},
        {"13-arrow-buffer-prefix/no-compression", TL_OK},
        {"13-arrow-buffer-prefix/zstd", TL_OK},
        {"13-arrow-buffer-prefix/zstd-checksum", TL_OK},
        {"13-arrow-buffer-prefix/zstd-no-content-size", TL_OK},
        {"13-arrow-buffer-prefix/lz4", TL_OK},
        {"13-arrow-buffer-prefix/zero-prefix-with-frame", TL_CORRUPT},
        {"13-arrow-buffer-prefix/short-prefix", TL_CORRUPT},
        {"13-arrow-buffer-prefix/prefix-plus-8", TL_CORRUPT},
        {"13-arrow-buffer-prefix/prefix-minus-8", TL_CORRUPT},
        {"13-arrow-buffer-prefix/prefix-2-62", TL_CORRUPT},
        {"13-arrow-buffer-prefix/prefix-int64-max", TL_CORRUPT},
        {"13-arrow-buffer-prefix/prefix-minus-2", TL_CORRUPT},
        {"13-arrow-buffer-prefix/marker-too-short", TL_CORRUPT},
        {"13-arrow-buffer-prefix/frame-cut", TL_TRUNCATED},
        {"13-arrow-buffer-prefix/not-a-frame", TL_CORRUPT},
        {"13-arrow-buffer-prefix/unknown-codec", TL_UNSUPPORTED},
        {"14-arrow-framing/legacy", TL_OK},
        {"14-arrow-framing/legacy-eos-8", TL_OK},
        {"14-arrow-framing/v4", TL_OK},
        {"14-arrow-framing/no-eos", TL_OK},
        {"14-arrow-framing/align-64", TL_OK},
        {"14-arrow-framing/message-metadata", TL_OK},
        {"14-arrow-framing/metadata-value-absent", TL_OK},
        {"14-arrow-framing/three-batches", TL_OK},
        {"14-arrow-framing/validity-always", TL_OK},
        {"14-arrow-framing/unknown-section", TL_OK},
        {"14-arrow-framing/section-without-columns", TL_OK},
        {"14-arrow-framing/first-message-is-batch", TL_CORRUPT},
        {"14-arrow-framing/metadata-size-negative", TL_CORRUPT},
        {"14-arrow-framing/metadata-size-huge", TL_TRUNCATED},
        {"14-arrow-framing/file-format", TL_UNSUPPORTED},
        {"15-arrow-unaligned/plain", TL_OK},
        {"15-arrow-unaligned/reference", TL_OK},
    };
    size_t i, size;
    char *there = tl_test_read(tl_test_shared("cases/README.md"), &size);
    if (there == NULL) {
        tl_test_skip("shared/ is not there");
        return;
    }
    free(there);
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        tl_error err;
        char path[256];
        snprintf(path, sizeof path, "cases/%s.tlhd", heads[i].path);
        if (!CHECK_STATUS(read_head(path, &err), heads[i].status, &err))
            fprintf(stderr, "  in %s\n", path);
    }
}


/* ---- streams that pyarrow wrote (tests/data/ipc/make.py) ---- */

static char *data_stream(const char *name, const char *kind, size_t *size)
{
    char path[256];
    char *bytes;
    snprintf(path, sizeof path, "tests/data/ipc/%s%s.stream", name, kind);
    bytes = tl_test_read(path, size);
    if (bytes == NULL) {
        fprintf(stderr, "no %s\n", path);
        tl_test_failures++;
    }
    return bytes;
}

/* Two open streams say the same, batch by batch. */
static void check_same(tli_ipc_stream *a, tli_ipc_stream *b, const char *what)
{
    int32_t batch, column;
    tl_compare_why[0] = 0;
    CHECK(tl_compare_schemas(a->schema, b->schema));
    CHECK_INT(a->batch_count, b->batch_count);
    for (batch = 0; batch < a->batch_count && batch < b->batch_count; batch++)
        for (column = 0; column < a->schema->n_children; column++) {
            const struct ArrowArray *x = NULL, *y = NULL;
            tl_error err;
            if (CHECK_STATUS(tli_ipc_column(a, batch, column, &x, &err), TL_OK, &err)
                && CHECK_STATUS(tli_ipc_column(b, batch, column, &y, &err), TL_OK, &err))
                CHECK(tl_compare_arrays(a->schema->children[column], x, b->schema->children[column], y));
        }
    if (tl_compare_why[0] != 0)
        fprintf(stderr, "%s: %s\n", what, tl_compare_why);
}

static void in_two_ways(void)
{
    static const char *const names[] = {"delta",      "delta-list", "delta-struct", "delta-view", "delta-fixed",
                                        "delta-bool", "delta-null", "views",        "types"};
    size_t i, a_size, b_size;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *a = data_stream(names[i], "", &a_size), *b = data_stream(names[i], ".same", &b_size);
        opened x, y;
        tl_error err;
        if (a == NULL || b == NULL)
            continue;
        if (CHECK_STATUS(open_stream(&x, NULL, NULL, NULL, a, a_size, &err), TL_OK, &err)
            && CHECK_STATUS(open_stream(&y, NULL, NULL, NULL, b, b_size, &err), TL_OK, &err)) {
            check_same(x.stream, y.stream, names[i]);
            CHECK_STATUS(open_all(x.stream, &err), TL_OK, &err);
        }
        tli_mem_store_drop(x.store);
        tli_mem_store_drop(y.store);
        free(a);
        free(b);
    }
}

/* The values of the int64 dictionary column of replaced.stream. */
static void replaced(void)
{
    static const int64_t want[3][3] = {{1, 2, 0}, {8, 8, 7}, {9, 0, 0}};
    size_t size;
    char *bytes = data_stream("replaced", "", &size);
    int32_t b;
    int64_t i;
    opened o;
    tl_error err;
    CHECK_STATUS(open_stream(&o, NULL, NULL, NULL, bytes, size, &err), TL_OK, &err);
    for (b = 2; o.stream != NULL && b >= 0; b--) { /* the last first: order must not matter */
        const struct ArrowArray *a = NULL;
        if (!CHECK_STATUS(tli_ipc_column(o.stream, b, 0, &a, &err), TL_OK, &err))
            continue;
        for (i = 0; i < a->length; i++)
            CHECK_INT(tli_bits_u64((const char *)a->dictionary->buffers[1] + 8 * ((const int8_t *)a->buffers[1])[i]),
                      want[b][i]);
    }
    tli_mem_store_drop(o.store);
    free(bytes);
}

static void read_and_refused(void)
{
    static const struct {
        const char *name;
        tl_status status;
    } streams[] = {{"nested", TL_OK},          {"masked", TL_OK},           {"null-garbage", TL_OK},
                   {"garbage.bad", TL_CORRUPT}, {"unmasked.bad", TL_CORRUPT}, {"cut-letter.bad", TL_CORRUPT}};
    size_t i, size;
    for (i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        char *bytes = data_stream(streams[i].name, "", &size);
        tl_error err;
        if (bytes != NULL)
            CHECK_STATUS(read_all(bytes, size, &err), streams[i].status, &err);
        free(bytes);
    }
}

/* ---- framing ---- */

/* Message `i` of a stream: where its metadata begin; 0 when there is none. */
static size_t message_at(const char *bytes, size_t size, int i, uint32_t *meta, uint64_t *body)
{
    size_t at = 0;
    for (;; i--) {
        tli_flatbuf in;
        tli_flatbuf_table t;
        if (at + 8 > size || tli_bits_le32(bytes + at + 4) == 0)
            return 0;
        *meta = tli_bits_le32(bytes + at + 4);
        t = tli_flatbuf_root(&in, bytes + at + 8, *meta);
        *body = (uint64_t)tli_flatbuf_i64(&t, 3, 0);
        if (i == 0)
            return at + 8;
        at += 8 + *meta + (size_t)*body;
    }
}

/* The stream without the marks that came with version 1.0. */
static char *without_marks(const char *bytes, size_t size, size_t *out_size)
{
    char *out = (char *)malloc(size);
    uint32_t meta;
    uint64_t body;
    size_t at, n = 0;
    int i;
    for (i = 0; (at = message_at(bytes, size, i, &meta, &body)) != 0; i++) {
        memcpy(out + n, bytes + at - 4, 4 + meta + (size_t)body);
        n += 4 + meta + (size_t)body;
    }
    memset(out + n, 0, 4);
    *out_size = n + 4;
    return out;
}

static void frames(void)
{
    size_t size, bare_size, cut;
    char *bytes = data_stream("types", "", &size), *bare = without_marks(bytes, size, &bare_size), *longer;
    opened a, b;
    tl_error err;
    for (cut = 0; cut <= 4; cut += 4) { /* with an end mark of four bytes, and without one */
        CHECK_STATUS(open_stream(&a, NULL, NULL, NULL, bytes, size - 2 * cut, &err), TL_OK, &err);
        if (CHECK_STATUS(open_stream(&b, NULL, NULL, NULL, bare, bare_size - cut, &err), TL_OK, &err))
            check_same(a.stream, b.stream, "without marks");
        tli_mem_store_drop(a.store);
        tli_mem_store_drop(b.store);
    }
    longer = (char *)calloc(size + 9, 1);
    memcpy(longer, bytes, size);
    CHECK_STATUS(read_all(longer, size + 9, &err), TL_OK, &err); /* padding */
    longer[size + 3] = 1;
    CHECK_STATUS(read_all(longer, size + 9, &err), TL_CORRUPT, &err);
    CHECK_INT(err.position, size + 3);
    CHECK_STATUS(read_all(longer, size - 5, &err), TL_TRUNCATED, &err);
    CHECK_STATUS(read_all(longer, 0, &err), TL_TRUNCATED, &err);
    free(longer);
    free(bare);
    free(bytes);
}

/* What is refused, and the word that says why. */
static void refused_by_name(void)
{
    static const struct {
        int message; /* in which one */
        int member;  /* of the message table: 0 version, 1 kind */
        int value;
        tl_status status;
        const char *word;
    } faults[] = {{0, 0, 0, TL_UNSUPPORTED, "version 1, 2 or 3"}, {1, 0, 2, TL_UNSUPPORTED, "version 1, 2 or 3"},
                  {0, 0, 5, TL_UNSUPPORTED, "unknown version"},   {0, 0, -1, TL_UNSUPPORTED, "unknown version"},
                  {1, 1, 4, TL_UNSUPPORTED, "tensor"},            {1, 1, 5, TL_UNSUPPORTED, "tensor"},
                  {1, 1, 6, TL_CORRUPT, "kind"},                  {1, 1, 1, TL_CORRUPT, "second schema"},
                  {0, 1, 3, TL_CORRUPT, "schema"}};
    size_t i, size;
    char *bytes = data_stream("views", "", &size);
    tl_error err;
    for (i = 0; bytes != NULL && i < sizeof faults / sizeof faults[0]; i++) {
        char *copy = (char *)malloc(size);
        tli_flatbuf in;
        tli_flatbuf_table t;
        uint32_t meta;
        uint64_t body;
        size_t at;
        memcpy(copy, bytes, size);
        at = message_at(copy, size, faults[i].message, &meta, &body);
        t = tli_flatbuf_root(&in, copy + at, meta);
        at += (size_t)(tli_flatbuf_member(&t, (uint32_t)faults[i].member, 1) - in.data);
        copy[at] = (char)faults[i].value;
        if (faults[i].member == 0)
            copy[at + 1] = (char)(faults[i].value < 0 ? -1 : 0);
        CHECK_STATUS(read_all(copy, size, &err), faults[i].status, &err);
        if (strstr(err.text, faults[i].word) == NULL) {
            fprintf(stderr, "%s does not say %s\n", err.text, faults[i].word);
            tl_test_failures++;
        }
        free(copy);
    }
    CHECK_STATUS(read_all("ARROW1\0\0", 8, &err), TL_UNSUPPORTED, &err);
    free(bytes);
}

/* ---- the streams of the format's own tests ---- */

#if !defined(_WIN32)
/* Calls `check` with every file of a folder whose name holds `part`; how many there were. */
static int each_file(const char *folder, const char *part,
                     void (*check)(const char *name, const char *bytes, size_t size))
{
    char path[8192];
    DIR *d = opendir(tl_test_shared(folder));
    struct dirent *e;
    int n = 0;
    if (d == NULL)
        return 0;
    while ((e = readdir(d)) != NULL) {
        char *bytes;
        size_t size;
        if (e->d_name[0] == '.' || strstr(e->d_name, part) == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", tl_test_shared(folder), e->d_name);
        bytes = tl_test_read(path, &size);
        if (bytes == NULL)
            continue;
        check(e->d_name, bytes, size);
        n++;
        free(bytes);
    }
    closedir(d);
    return n;
}

static void integration_stream(const char *name, const char *bytes, size_t size)
{
    tl_error err;
    tl_status st = read_all(bytes, size, &err);
    if (strstr(name, "union") != NULL) {
        CHECK_STATUS(st, TL_UNSUPPORTED, &err);
        CHECK(st != TL_UNSUPPORTED || strstr(err.text, "union") != NULL);
    } else if (!CHECK_STATUS(st, TL_OK, &err)) {
        fprintf(stderr, "  in %s\n", name);
    }
}

static void big_endian_stream(const char *name, const char *bytes, size_t size)
{
    tl_error err;
    tl_status st = read_all(bytes, size, &err);
    (void)name;
    CHECK_STATUS(st, TL_UNSUPPORTED, &err);
    CHECK(st != TL_UNSUPPORTED || strstr(err.text, "big-endian") != NULL);
}

/* Refused or read, but never more than that. In a block that ends with the last byte. */
static void malformed_stream(const char *name, const char *bytes, size_t size)
{
    char *copy = (char *)malloc(size == 0 ? 1 : size);
    tl_error err;
    tl_limits limits;
    opened o;
    memset(&limits, 0, sizeof limits);
    limits.decoded_bytes = 64u << 20;
    memcpy(copy, bytes, size);
    (void)name;
    if (open_stream(&o, NULL, &limits, NULL, copy, size, &err) == TL_OK)
        (void)open_all(o.stream, &err);
    tli_mem_store_drop(o.store);
    free(copy);
}

static void integration(void)
{
    int n = each_file("third-party/arrow/0.14.1", ".stream", integration_stream);
    if (n == 0) {
        tl_test_skip("shared/ is not there");
        return;
    }
    CHECK_INT(n, 9);
    CHECK_INT(each_file("third-party/arrow/1.0.0-littleendian", ".stream", integration_stream), 20);
    CHECK_INT(each_file("third-party/arrow/2.0.0-compression", ".stream", integration_stream), 4);
    CHECK_INT(each_file("third-party/arrow/bigendian", ".stream", big_endian_stream), 1);
    CHECK(each_file("third-party/arrow/malformed", "", malformed_stream) > 30);
}
#endif

/* ---- writing ---- */

/* Squeezes runs of zeros of 255 at most: enough to be smaller sometimes and larger at other times. Not zstd: read back
   by the hook. */
static size_t squeeze_bound(void *context, size_t size)
{
    (void)context;
    return 2 * size + 6;
}

static tl_status squeeze(void *context, void *dst, size_t capacity, size_t *dst_size, const void *src, size_t size)
{
    const uint8_t *p = (const uint8_t *)src;
    uint8_t *to = (uint8_t *)dst;
    size_t i = 0, n = 4; /* zstd frames have a magic number, too */
    (void)context;
    memcpy(to, "zero", 4);
    while (i < size) {
        size_t run = 0;
        while (i + run < size && p[i + run] == 0 && run < 255)
            run++;
        if (n + 2 > capacity)
            return TL_LIMIT;
        to[n++] = run > 0 ? 0 : p[i];
        if (run > 0)
            to[n++] = (uint8_t)run;
        i += run > 0 ? run : 1;
    }
    *dst_size = n;
    return TL_OK;
}

static tl_status unsqueeze(void *context, void *dst, size_t dst_size, const void *src, size_t size)
{
    const uint8_t *p = (const uint8_t *)src;
    uint8_t *to = (uint8_t *)dst;
    size_t i = 4, n = 0, run;
    (void)context;
    while (i < size) {
        run = p[i] == 0 && i + 1 < size ? p[i + 1] : 1;
        if (run > dst_size - n)
            return TL_CORRUPT;
        memset(to + n, p[i], run);
        n += run;
        i += p[i] == 0 ? 2 : 1;
    }
    return n == dst_size ? TL_OK : TL_CORRUPT;
}

static tl_compression squeezing(void)
{
    tl_compression c;
    memset(&c, 0, sizeof c);
    c.decompress = unsqueeze;
    c.bound = squeeze_bound;
    c.compress = squeeze;
    return c;
}

/* The children of a struct array, each sliced by the struct's own offset. */
static tl_status write_struct(tl_buffer *out, const struct ArrowSchema *schema, const struct ArrowArray *a,
                              int64_t from, int64_t rows, const tl_compression *compression, tl_error *err)
{
    struct ArrowArray copies[32];
    const struct ArrowArray *columns[32];
    int64_t i;
    for (i = 0; i < a->n_children; i++) {
        copies[i] = *a->children[i];
        copies[i].offset += from;
        copies[i].length = rows;
        copies[i].null_count = -1;
        columns[i] = &copies[i];
    }
    return tli_ipc_write_batch(out, schema, columns, rows, compression, err);
}

/* The sample table, cut into three batches. Answers the first failure. */
static tl_status write_sample(tl_buffer *out, tli_store *store, struct ArrowSchema **schema, struct ArrowArray **array,
                              const tl_compression *compression, tl_error *err)
{
    tl_status st;
    *schema = tl_table_schema(store);
    st = tl_table_array(store, *schema, 0, 40, array, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, *schema, tl_text("key"), tl_text("value"), err);
    if (st == TL_OK)
        st = write_struct(out, *schema, *array, 0, 19, compression, err);
    if (st == TL_OK)
        st = write_struct(out, *schema, *array, 19, 0, compression, err);
    if (st == TL_OK)
        st = write_struct(out, *schema, *array, 19, 21, compression, err);
    return st == TL_OK ? tli_ipc_write_end(out, err) : st;
}

static void check_sample(tli_ipc_stream *s, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    static const int64_t from[] = {0, 19, 19}, rows[] = {19, 0, 21};
    int32_t b, c;
    tl_span value;
    CHECK_INT(s->batch_count, 3);
    value = tl_schema_metadata(s->schema, tl_text("key"));
    CHECK_TEXT(value.data, value.size, "value");
    for (b = 0; b < s->batch_count; b++) {
        CHECK_INT(s->batches[b].rows, rows[b]);
        for (c = 0; c < s->schema->n_children; c++) {
            const struct ArrowArray *a = NULL;
            struct ArrowArray want = *array->children[c];
            tl_error err;
            want.offset += from[b];
            want.length = rows[b];
            want.null_count = -1;
            tl_compare_why[0] = 0;
            CHECK(tl_compare_schemas(s->schema->children[c], schema->children[c]));
            if (CHECK_STATUS(tli_ipc_column(s, b, c, &a, &err), TL_OK, &err)
                && !tl_compare_arrays(schema->children[c], a, schema->children[c], &want)) {
                fprintf(stderr, "batch %d, column %d: %s\n", (int)b, (int)c, tl_compare_why);
                tl_test_failures++;
            }
            CHECK_STATUS(tli_arrow_array_check(schema->children[c], a, NULL, &err), TL_OK, &err);
        }
    }
}

static void written_and_read(void)
{
    int packed;
    for (packed = 0; packed < 2; packed++) {
        tl_compression c = squeezing();
        tli_store *store = tli_mem_store_new(NULL, UINT64_MAX, NULL, 0, NULL, NULL, NULL);
        struct ArrowSchema *schema;
        struct ArrowArray *array;
        tl_buffer out;
        tl_error err;
        size_t at;
        memset(&out, 0, sizeof out);
        CHECK_STATUS(write_sample(&out, store, &schema, &array, packed ? &c : NULL, &err), TL_OK, &err);
        for (at = 0; at < 8; at++) { /* at any address, in a block that ends with the stream */
            uint8_t *moved = (uint8_t *)malloc(out.size + at);
            opened o;
            memcpy(moved + at, out.data, out.size);
            if (CHECK_STATUS(open_stream(&o, NULL, NULL, &c, moved + at, out.size, &err), TL_OK, &err))
                check_sample(o.stream, schema, array);
            tli_mem_store_drop(o.store);
            free(moved);
        }
        tl_buffer_free(&out);
        tli_mem_store_drop(store);
    }
}

/* ---- faults ---- */

static void cut_and_flipped_bytes(const char *bytes, size_t size, const tl_compression *compression)
{
    tl_limits limits;
    tl_error err;
    opened o;
    size_t n, bit;
    memset(&limits, 0, sizeof limits);
    limits.decoded_bytes = 1u << 24;
    for (n = 0; n < size; n++) {
        char *copy = (char *)malloc(n == 0 ? 1 : n);
        tl_status st;
        memcpy(copy, bytes, n);
        st = open_stream(&o, NULL, &limits, compression, copy, n, &err);
        CHECK(n > 0 || st == TL_TRUNCATED); /* cut between messages a stream is whole: it need not have an end */
        CHECK(st == TL_OK || st == TL_TRUNCATED);
        tli_mem_store_drop(o.store);
        free(copy);
    }
    for (n = 0; n < size; n++)
        for (bit = 0; bit < 8; bit += 1 + n % 3) {
            char *copy = (char *)malloc(size);
            memcpy(copy, bytes, size);
            copy[n] = (char)(copy[n] ^ (1 << bit));
            err.text = NULL;
            if (open_stream(&o, NULL, &limits, compression, copy, size, &err) != TL_OK
                || open_all(o.stream, &err) != TL_OK)
                CHECK(err.text != NULL);
            tli_mem_store_drop(o.store);
            free(copy);
        }
}

static void cut_and_flipped(void)
{
    static const char *const names[] = {"delta", "nested", "views", "views.same", "masked", "delta-struct"};
    size_t i, size;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *bytes = data_stream(names[i], "", &size);
        if (bytes != NULL)
            cut_and_flipped_bytes(bytes, size, NULL);
        free(bytes);
    }
}

/* Reading and writing with each allocation failing in turn: an error, nothing kept. */
static void allocations_failing(void)
{
    static const char *const names[] = {"types.same", "delta-struct", "nested", "views.same"};
    size_t i, size;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *bytes = data_stream(names[i], "", &size);
        long n;
        int done = 0;
        for (n = 1; bytes != NULL && !done; n++) {
            tl_test_memory m = {0, 0, 0, 0, 0, 0};
            tl_allocator a = tl_test_allocator(&m);
            tl_error err;
            opened o;
            tl_status st;
            m.fail_at = n;
            st = open_stream(&o, &a, NULL, NULL, bytes, size, &err);
            if (st == TL_OK)
                st = open_all(o.stream, &err);
            tli_mem_store_drop(o.store);
            CHECK_INT(m.live, 0);
            done = m.calls < n;
            CHECK_STATUS(st, done ? TL_OK : TL_NO_MEMORY, &err);
        }
        free(bytes);
    }
}

static void allocations_failing_in_writes(void)
{
    tli_store *store = tli_mem_store_new(NULL, UINT64_MAX, NULL, 0, NULL, NULL, NULL);
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    long n;
    int done = 0;
    for (n = 1; !done; n++) {
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_compression c = squeezing();
        tl_buffer out;
        tl_error err;
        tl_status st;
        memset(&out, 0, sizeof out);
        out.allocator = tl_test_allocator(&m);
        m.fail_at = n;
        st = write_sample(&out, store, &schema, &array, &c, &err);
        done = m.calls < n;
        CHECK_STATUS(st, done ? TL_OK : TL_NO_MEMORY, &err);
        tl_buffer_free(&out);
        CHECK_INT(m.live, 0);
    }
    tli_mem_store_drop(store);
}

/* What tli_ipc_memory says is enough, and not absurdly much. */
static void memory_is_enough(void)
{
    static const char *const names[] = {"delta", "delta-list", "delta-struct", "delta-view", "nested", "views",
                                        "views.same", "types", "types.same", "replaced"};
    size_t i, size;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *bytes = data_stream(names[i], "", &size);
        opened o;
        tl_error err;
        if (bytes != NULL && CHECK_STATUS(open_stream(&o, NULL, NULL, NULL, bytes, size, &err), TL_OK, &err)) {
            uint64_t once = 0, need = tli_ipc_memory(o.stream, &once);
            char *block = (char *)malloc((size_t)(need + once) + (1u << 20));
            tl_allocator a = tl_block(block, (size_t)(need + once) + (1u << 20));
            size_t before;
            opened in_block;
            CHECK_STATUS(open_stream(&in_block, &a, NULL, NULL, bytes, size, &err), TL_OK, &err);
            before = tl_block_peak(&a);
            CHECK_STATUS(open_all(in_block.stream, &err), TL_OK, &err);
            CHECK(tl_block_peak(&a) - before <= need + once);
            tli_mem_store_drop(in_block.store);
            tli_mem_store_drop(o.store);
            free(block);
        }
        free(bytes);
    }
}

/* ---- limits ---- */

static void limits(void)
{
    size_t size;
    char *bytes = data_stream("types", "", &size);
    tl_limits l;
    tl_error err;
    opened o;
    int i;
    for (i = 0; bytes != NULL && i < 4; i++) {
        memset(&l, 0, sizeof l);
        if (i == 0)
            l.columns = 20;
        else if (i == 1)
            l.depth = 2;
        else if (i == 2)
            l.batches = 2;
        else
            l.rows = 4;
        CHECK_STATUS(open_stream(&o, NULL, &l, NULL, bytes, size, &err), TL_LIMIT, &err);
        CHECK(err.need > (i == 0 ? 20 : i == 1 ? 2 : i == 2 ? 2 : 4));
        tli_mem_store_drop(o.store);
    }
    free(bytes);
}

/* A zstd buffer that says it is 2^40 bytes: refused before memory is taken, by what its bytes can give at most. */
static void bombs(void)
{
    size_t size, i;
    char *bytes = data_stream("views.same", "", &size);
    int found = 0;
    for (i = 0; bytes != NULL && i + 12 < size; i++) {
        tl_test_memory m = {0, 0, 0, 0, 0, 0};
        tl_allocator a = tl_test_allocator(&m);
        tl_error err;
        opened o;
        uint64_t said = tli_bits_le64(bytes + i);
        if (tli_bits_le32(bytes + i + 8) != 0xfd2fb528u)
            continue;
        tli_bits_put_le64(bytes + i, (uint64_t)1 << 40);
        if (CHECK_STATUS(open_stream(&o, &a, NULL, NULL, bytes, size, &err), TL_OK, &err))
            CHECK_STATUS(open_all(o.stream, &err), TL_CORRUPT, &err);
        CHECK(m.peak < 1u << 20);
        tli_mem_store_drop(o.store);
        tli_bits_put_le64(bytes + i, said);
        found++;
    }
    CHECK(found > 0);
    free(bytes);
}

#if !defined(_WIN32)
/* The stream ends where memory ends. */
static void before_a_guard_page(void)
{
    static const char *const names[] = {"delta", "nested", "views", "views.same", "types", "types.same", "masked"};
    size_t i, size, pages = 1u << 16;
    char *memory = (char *)mmap(NULL, pages + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != (char *)MAP_FAILED && mprotect(memory + pages, 65536, PROT_NONE) == 0);
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *bytes = data_stream(names[i], "", &size);
        tl_error err;
        if (bytes != NULL && size <= pages) {
            size_t mark;
            for (mark = 0; mark <= 8; mark += 8) { /* with the end mark, and without, as a stream may be */
                memcpy(memory + pages - size + mark, bytes, size - mark);
                CHECK_STATUS(read_all(memory + pages - size + mark, size - mark, &err), TL_OK, &err);
            }
        }
        free(bytes);
    }
    munmap(memory, pages + 65536);
}
#endif

static const tl_test_case cases[] = {
    TL_TEST(cases_12_to_15),
    TL_TEST(in_two_ways),
    TL_TEST(replaced),
    TL_TEST(read_and_refused),
    TL_TEST(frames),
    TL_TEST(refused_by_name),
    TL_TEST(written_and_read),
    TL_TEST(cut_and_flipped),
    TL_TEST(allocations_failing),
    TL_TEST(allocations_failing_in_writes),
    TL_TEST(memory_is_enough),
    TL_TEST(limits),
    TL_TEST(bombs),
#if !defined(_WIN32)
    TL_TEST(integration),
    TL_TEST(before_a_guard_page),
#endif
};
TL_TEST_MAIN(cases)
