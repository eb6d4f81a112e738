/* The built-in zstd decoder against libzstd, over the buffers of a head's `files` and `columns` sections and others.

       make timelake.h && cc -O2 -o build/bench-zstd bench/zstd.c -lzstd && build/bench-zstd [FILES [LEVEL [MS]]]

   FILES data files (20000) x 5 columns, compressed at LEVEL (3); each figure is the best of as many runs as fit in MS
   milliseconds of processor time (200), ours and libzstd's taking turns. MB/s of content; x: our time by theirs. The
   line `head` adds up all buffers of the head, so each counts by its size. Add -mbmi2 to see what a processor with
   three-operand shifts makes of it: libzstd picks code for it at run time. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <stdio.h>
#include <time.h>
#include <zstd.h>
#define TIMELAKE_IMPLEMENTATION
#define TLI_KEEP_MACROS
#include "../timelake.h"

static uint64_t seed = 88172645463325252u;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other processes do not count */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint8_t *data;
static size_t size;

static void put(const void *bytes, size_t n)
{
    memcpy(data + size, bytes, n);
    size += n;
}

static void put64(uint64_t v)
{
    tli_bits_put_le64(data + size, v);
    size += 8;
}

static void put32(uint64_t v)
{
    tli_bits_put_le32(data + size, (uint32_t)v);
    size += 4;
}

/* ---- what lies in a head ---- */

static void paths(size_t files)
{
    size_t i;
    for (i = 0; i < files; i++) {
        char path[160];
        uint64_t a = draw(), b = draw();
        int n = snprintf(path, sizeof path,
                         "s3://lake/warehouse/iot/events/data/ts_day=2026-%02d-%02d/"
                         "%05d-0-%08x-%04x-4%03x-%04x-%012llx.parquet",
                         (int)(i / 2800 % 12) + 1, (int)(i / 100 % 28) + 1, (int)(i % 100), (unsigned)(a >> 32),
                         (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff, (unsigned)(b >> 48) | 0x8000,
                         (unsigned long long)(b & 0xffffffffffffu));
        put(path, (size_t)n);
    }
}

static void path_offsets(size_t files)
{
    size_t i;
    for (i = 0; i <= files; i++)
        put32(i * 104);
}

static void file_sizes(size_t files)
{
    size_t i;
    for (i = 0; i < files; i++)
        put64(30000000 + draw() % 8000000);
}

static void records(size_t files)
{
    size_t i;
    for (i = 0; i < files; i++)
        put64(draw() % 8 != 0 ? 1000000 : 400000 + draw() % 600000);
}

static void partitions(size_t files)
{
    size_t i;
    for (i = 0; i < files; i++)
        put32(20454 + i / 100);
}

static void snapshots(size_t files)
{
    size_t i;
    uint64_t id = draw() >> 1;
    for (i = 0; i < files; i++) {
        if (i % 37 == 0)
            id = draw() >> 1;
        put64(id);
    }
}

static void sequence_numbers(size_t files)
{
    size_t i;
    for (i = 0; i < files; i++)
        put64(1 + i / 37);
}

static void column_files(size_t files)
{
    size_t i;
    for (i = 0; i < files * 5; i++)
        put32(i / 5);
}

static void field_ids(size_t files)
{
    size_t i;
    for (i = 0; i < files * 5; i++)
        put32(1 + i % 5);
}

/* timestamp, device id, two doubles, text */
static void bounds(size_t files)
{
    size_t i;
    for (i = 0; i < files; i++) {
        double t = 15 + (double)(draw() % 1000) / 100, h = (double)(draw() % 100000) / 1000;
        char name[16];
        put64(1767225600000000u + i * 864000000u + draw() % 1000000);
        put64(draw() % 50);
        put(&t, 8);
        put(&h, 8);
        snprintf(name, sizeof name, "device-%04d", (int)(draw() % 50));
        put(name, 11);
    }
}

static void bound_offsets(size_t files)
{
    size_t i;
    for (i = 0; i <= files * 5; i++)
        put32(i / 5 * 43 + i % 5 * 8);
}

static void value_counts(size_t files)
{
    size_t i, k;
    for (i = 0; i < files; i++) {
        uint64_t v = draw() % 8 != 0 ? 1000000 : 400000 + draw() % 600000;
        for (k = 0; k < 5; k++)
            put64(v);
    }
}

static void null_counts(size_t files)
{
    size_t i;
    for (i = 0; i < files * 5; i++)
        put64(i % 5 == 3 && draw() % 4 == 0 ? draw() % 100 : 0);
}

static void column_sizes(size_t files)
{
    size_t i;
    for (i = 0; i < files * 5; i++)
        put64((i % 5 + 1) * 1000000 + draw() % 300000);
}

static void validity(size_t files)
{
    size_t i;
    for (i = 0; i < files * 5 / 8; i++)
        data[size++] = (uint8_t)(0x63 << (i * 8 % 5));
}

static void json(size_t files)
{
    size_t i;
    for (i = 0; i < files / 4; i++) {
        char text[400];
        int n = snprintf(text, sizeof text,
                         "{\"snapshot-id\":%llu,\"parent-snapshot-id\":%llu,\"sequence-number\":%u,"
                         "\"timestamp-ms\":%llu,"
                         "\"manifest-list\":\"s3://lake/warehouse/iot/events/metadata/snap-%llu-1.avro\",\"summary\":"
                         "{\"operation\":\"append\",\"added-data-files\":\"%u\"}},",
                         (unsigned long long)(draw() >> 1), (unsigned long long)(draw() >> 1), (unsigned)i,
                         (unsigned long long)(1767225600000u + i * 60000u + draw() % 50000),
                         (unsigned long long)(draw() >> 1), (unsigned)(draw() % 40));
        put(text, (size_t)n);
    }
}

/* ---- beyond the head ---- */

static void doubles(size_t files)
{
    size_t i;
    double v = 20;
    for (i = 0; i < files * 5; i++) {
        v += ((double)(draw() % 2001) - 1000) / 4096;
        put(&v, 8);
    }
}

static void sorted(size_t files)
{
    size_t i;
    uint64_t v = 1767225600000000u;
    for (i = 0; i < files * 5; i++) {
        v += 1000000 + draw() % 2000;
        put64(v);
    }
}

static void hex(size_t files)
{
    size_t i;
    for (i = 0; i < files * 32; i++)
        data[size++] = (uint8_t)"0123456789abcdef"[draw() >> 60];
}

static const struct {
    const char *name;
    void (*make)(size_t files);
    int times; /* buffers of this kind in a head */
} kinds[] = {
    {"files.path", paths, 1},
    {"files.path offsets", path_offsets, 1},
    {"files.size", file_sizes, 1},
    {"files.records", records, 1},
    {"files.partition", partitions, 1},
    {"files.snapshot_id", snapshots, 1},
    {"files.*sequence_number", sequence_numbers, 2},
    {"columns.file", column_files, 1},
    {"columns.field_id", field_ids, 1},
    {"columns.lower, upper", bounds, 2},
    {"columns.lower, upper offsets", bound_offsets, 2},
    {"columns.values", value_counts, 1},
    {"columns.nulls, nans", null_counts, 2},
    {"columns.size", column_sizes, 1},
    {"columns validity", validity, 3},
    {"metadata.json", json, 1},
    {"(doubles, walk)", doubles, 0},
    {"(int64, sorted)", sorted, 0},
    {"(hex digits)", hex, 0},
};

int main(int argc, char **argv)
{
    size_t files = argc > 1 ? (size_t)atol(argv[1]) : 20000, room = files * 400 + 4096, k, sum = 0, packed_sum = 0;
    int level = argc > 2 ? atoi(argv[2]) : 3;
    double limit = argc > 3 ? atof(argv[3]) / 1000 : 0.2, ours_sum = 0, theirs_sum = 0;
    size_t packed_room = ZSTD_compressBound(room);
    uint8_t *packed = (uint8_t *)malloc(packed_room), *out = (uint8_t *)malloc(room);
    void *work = malloc(TLI_ZSTD_WORK);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    data = (uint8_t *)malloc(room);
    printf("%zu files x 5 columns, level %d, libzstd %s\n", files, level, ZSTD_versionString());
    printf("%-30s %10s %10s %8s %8s %6s\n", "buffer", "bytes", "packed", "ours", "libzstd", "x");
    for (k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        size_t n, got;
        double ours = 1e9, theirs = 1e9, start = now();
        tl_error err;
        size = 0;
        kinds[k].make(files);
        n = ZSTD_compress(packed, packed_room, data, size, level);
        do {
            double t0 = now(), t1, t2;
            if (tli_zstd_decode(work, out, size, &got, packed, n, &err) != TL_OK || got != size) {
                printf("%s: %s at %llu\n", kinds[k].name, err.text, (unsigned long long)err.position);
                return 1;
            }
            t1 = now();
            if (ours == 1e9 && memcmp(out, data, size) != 0) {
                printf("%s: wrong\n", kinds[k].name);
                return 1;
            }
            t2 = now();
            ours = TLI_MIN(ours, t1 - t0);
            ZSTD_decompressDCtx(context, out, size, packed, n);
            t1 = now();
            theirs = TLI_MIN(theirs, t1 - t2);
        } while (now() - start < limit);
        printf("%-30s %10zu %10zu %8.0f %8.0f %6.2f\n", kinds[k].name, size, n, (double)size / ours / 1e6,
               (double)size / theirs / 1e6, ours / theirs);
        ours_sum += ours * kinds[k].times;
        theirs_sum += theirs * kinds[k].times;
        sum += size * (size_t)kinds[k].times;
        packed_sum += n * (size_t)kinds[k].times;
    }
    printf("%-30s %10zu %10zu %8.0f %8.0f %6.2f\n", "head", sum, packed_sum, (double)sum / ours_sum / 1e6,
           (double)sum / theirs_sum / 1e6, ours_sum / theirs_sum);
    return 0;
}
