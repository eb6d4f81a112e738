/* One measurement of bench/heads/run:

   heads decode|plan|encode FILE TIMES     nanoseconds of CPU per operation: median and least
   heads floor|plan-floor FILE TIMES       libzstd alone on the frames that decode or plan asks for (with -DHEADS_ZSTD)
   heads memory FILE                       bytes of the allocator at the peak of a full decode, and what is left of them

   With -DHEADS_ZSTD libzstd is plugged in, else the built-in decoder works and encoding stores. Public API only. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#ifdef HEADS_ZSTD
#define TIMELAKE_ZSTD_IMPLEMENTATION
#include "../../adapters/timelake_zstd.h"
#include <zstd.h>
#endif

static void *bytes;
static size_t size;
static tl_head_options options;
#ifdef HEADS_ZSTD
static tl_zstd_adapter zstd; /* level 3 */
#endif

static void fail(const char *what)
{
    fprintf(stderr, "heads: %s\n", what);
    exit(1);
}

static void read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long end;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
        fail("cannot open the file");
    size = (size_t)end;
    bytes = malloc(size + 1);
    if (bytes == NULL || fread(bytes, 1, size, f) != size)
        fail("cannot read the file");
    fclose(f);
}

/* ---- what is measured ---- */

static void open_all(tl_head *head)
{
    tl_error err;
    int32_t i;
    if (tl_head_decode(head, bytes, size, &options, &err) != TL_OK)
        fail(err.text);
    for (i = 0; i < head->document.section_count; i++)
        if (tl_section_open(&head->document.sections[i], &err) != TL_OK)
            fail(err.text);
}

static void run_decode(void)
{
    tl_head head;
    open_all(&head);
    tl_head_free(&head);
}

static int64_t bound(tl_span s)
{
    int64_t v = 0;
    if (s.size == sizeof v)
        memcpy(&v, s.data, sizeof v);
    return v;
}

static size_t plan_matches;

/* What a scan of one day needs: the files, and which of them the bounds of the time column leave in. */
static void run_plan(void)
{
    tl_head head;
    tl_files files;
    tl_columns columns;
    tl_column c;
    tl_error err;
    const int64_t day = 86400000000, from = 1767225600000000;
    size_t i;
    if (tl_head_decode(&head, bytes, size, &options, &err) != TL_OK || tl_head_files(&head, &files, &err) != TL_OK
        || tl_head_columns(&head, TL_COLUMNS_BOUNDS, &columns, &err) != TL_OK)
        fail(err.text);
    plan_matches = 0;
    for (i = 0; i < columns.count; i++) {
        tl_columns_get(&columns, i, &c);
        if (c.field_id == 1 && bound(c.lower) < from + day && bound(c.upper) >= from)
            plan_matches++;
    }
    if (plan_matches == 0 || plan_matches > files.count)
        fail("the plan is wrong");
    tl_head_free(&head);
}

static tl_head encode_from;

static void run_encode(void)
{
    tl_buffer out;
    tl_error err;
    memset(&out, 0, sizeof out);
    if (tl_head_encode(&out, encode_from.version, encode_from.codec, &encode_from.document, &options, &err) != TL_OK)
        fail(err.text);
    tl_buffer_free(&out);
}

/* ---- the floor ---- */

#ifdef HEADS_ZSTD
typedef struct frame {
    const void *src;
    size_t src_size, dst_size;
    void *dst;
} frame;

static frame *frames;
static size_t frame_count;
static tl_compression plain;

/* Notes the frame, then decompresses it. */
static tl_status record(void *context, void *dst, size_t dst_size, const void *src, size_t src_size)
{
    frame *more = (frame *)realloc(frames, (frame_count + 1) * sizeof *frames);
    if (more == NULL)
        return TL_NO_MEMORY;
    frames = more;
    frames[frame_count].src = src;
    frames[frame_count].src_size = src_size;
    frames[frame_count++].dst_size = dst_size;
    return plain.decompress(context, dst, dst_size, src, src_size);
}

static void run_floor(void)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    size_t i;
    for (i = 0; i < frame_count; i++) {
        frame *f = &frames[i];
        f->dst = malloc(f->dst_size + 1);
        if (f->dst == NULL || ZSTD_decompressDCtx(context, f->dst, f->dst_size, f->src, f->src_size) != f->dst_size)
            fail("libzstd");
    }
    for (i = 0; i < frame_count; i++)
        free(frames[i].dst);
    ZSTD_freeDCtx(context);
}

static void prepare_floor(void (*run)(void))
{
    plain = options.compression;
    options.compression.decompress = record;
    run();
    options.compression = plain;
}
#endif

/* ---- memory ---- */

static size_t in_use, peak;

static void count(size_t more, size_t less)
{
    in_use = in_use + more - less;
    peak = in_use > peak ? in_use : peak;
}

static void *count_allocate(void *context, size_t n)
{
    void *p = malloc(n);
    (void)context;
    count(p != NULL ? n : 0, 0);
    return p;
}

static void *count_resize(void *context, void *memory, size_t old_size, size_t n)
{
    void *p = realloc(memory, n);
    (void)context;
    if (p != NULL)
        count(n, old_size);
    return p;
}

static void count_deallocate(void *context, void *memory, size_t n)
{
    (void)context;
    if (memory != NULL)
        count(0, n);
    free(memory);
}

static int memory(void)
{
    tl_head head;
    size_t held;
    options.allocator.allocate = count_allocate;
    options.allocator.resize = count_resize;
    options.allocator.deallocate = count_deallocate;
    open_all(&head);
    held = in_use;
    tl_head_free(&head);
    printf("%llu %llu\n", (unsigned long long)peak, (unsigned long long)held);
    return in_use != 0;
}

/* ---- running ---- */

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* other load on the machine does not count */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int measure(void (*run)(void), const char *times)
{
    size_t n = (size_t)strtoul(times, NULL, 10), i;
    uint64_t *t = (uint64_t *)malloc((n == 0 ? 1 : n) * sizeof *t);
    if (n == 0 || t == NULL)
        fail("TIMES is a number");
    run();
    for (i = 0; i < n; i++) {
        uint64_t start = now();
        run();
        t[i] = now() - start;
    }
    qsort(t, n, sizeof *t, compare);
    printf("%llu %llu\n", (unsigned long long)t[n / 2], (unsigned long long)t[0]);
    free(t);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        fail("usage: heads decode|plan|encode|floor|plan-floor|memory FILE [TIMES]");
#ifdef HEADS_ZSTD
    options.compression = tl_zstd_adapter_compression(&zstd);
#endif
    read_file(argv[2]);
    if (strcmp(argv[1], "memory") == 0)
        return memory();
    if (argc < 4)
        fail("TIMES is missing");
    if (strcmp(argv[1], "decode") == 0)
        return measure(run_decode, argv[3]);
    if (strcmp(argv[1], "plan") == 0)
        return measure(run_plan, argv[3]);
    if (strcmp(argv[1], "encode") == 0) {
        open_all(&encode_from);
        return measure(run_encode, argv[3]);
    }
#ifdef HEADS_ZSTD
    if (strcmp(argv[1], "floor") == 0 || strcmp(argv[1], "plan-floor") == 0) {
        prepare_floor(argv[1][0] == 'p' ? run_plan : run_decode);
        return measure(run_floor, argv[3]);
    }
#endif
    fail("no such measurement");
    return 1;
}
