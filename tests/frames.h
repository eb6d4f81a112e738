/* What the tests of zstd and lz4 frames share: memory between unreadable pages, and good frames that are decoded, cut
   at each byte, damaged at each byte. Include it behind tl_test.h; set frames_decode and frames_folder. */
#ifndef TL_FRAMES_H
#define TL_FRAMES_H
#ifdef _WIN32
#define GUARDS 0
#else
#define GUARDS 1
#include <sys/mman.h>
#endif

typedef tl_status (*frames_decoder)(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                                    tl_error *err);
static frames_decoder frames_decode;
static const char *frames_folder; /* of good.txt: name, size, XXH64; with good/name.zst */
static const char *frames_suffix;

/* ---- memory with unreadable pages on both sides ---- */

#define ROOM ((size_t)1 << 20)
#define PAGE ((size_t)65536) /* at least a page anywhere */

static uint8_t *guarded(int which)
{
    static uint8_t *places[2];
    uint8_t **place = &places[which];
    if (*place == NULL) {
#if GUARDS
        void *p = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect((uint8_t *)p + PAGE, ROOM, PROT_READ | PROT_WRITE) != 0)
            abort();
        *place = (uint8_t *)p + PAGE;
#else
        *place = (uint8_t *)malloc(ROOM);
#endif
    }
    return *place;
}

/* Decodes with input and output each flush against a guard page: at its start, or at its end. */
static tl_status squeezed(int at_end, const void *src, size_t src_size, uint8_t **out, size_t capacity, size_t *size,
                          tl_error *err)
{
    uint8_t *in = guarded(0);
    *out = guarded(1);
    if (at_end) {
        in += ROOM - src_size;
        *out += ROOM - capacity;
    }
    if (src_size > 0)
        memcpy(in, src, src_size);
    return frames_decode(*out, capacity, size, in, src_size, err);
}

/* ---- good frames ---- */

typedef struct frame_case {
    const char *name;
    const uint8_t *src;
    size_t src_size;
    const uint8_t *plain; /* what it decodes to */
    size_t size;
} frame_case;

/* Calls `check` for each frame of good.txt. */
static void each_good(void (*check)(const frame_case *c))
{
    size_t list_size, got, count = 0;
    char *list, *line, name[64], path[192];
    unsigned long long hash, wide;
    snprintf(path, sizeof path, "%s/good.txt", frames_folder);
    list = tl_test_read(path, &list_size);
    CHECK(list != NULL);
    for (line = list; line != NULL && *line != 0; line = strchr(line, '\n') + 1) {
        frame_case c;
        char *src;
        uint8_t *plain;
        tl_error err;
        CHECK_INT(sscanf(line, "%63s %llu %llx", name, &wide, &hash), 3);
        snprintf(path, sizeof path, "%s/%s.%s", frames_folder, name, frames_suffix);
        src = tl_test_read(path, &c.src_size);
        CHECK(src != NULL);
        c.name = strchr(name, '/') != NULL ? strchr(name, '/') + 1 : name;
        c.src = (const uint8_t *)src;
        c.size = (size_t)wide;
        c.plain = plain = (uint8_t *)malloc(c.size + 1);
        CHECK_STATUS(frames_decode(plain, c.size, &got, src, c.src_size, &err), TL_OK, &err);
        CHECK_INT(got, c.size);
        CHECK(tli_hash_xxh64(plain, c.size, 0) == hash);
        check(&c);
        free(plain);
        free(src);
        count++;
    }
    CHECK(count > 15);
    free(list);
}

static void one_good(const frame_case *c)
{
    int at_end;
    for (at_end = 0; at_end < 2; at_end++) {
        uint8_t *out;
        tl_error err;
        size_t got = 77;
        CHECK_STATUS(squeezed(at_end, c->src, c->src_size, &out, c->size, &got, &err), TL_OK, &err);
        CHECK_BYTES(out, got, (const char *)c->plain, c->size);
        CHECK_STATUS(squeezed(at_end, c->src, c->src_size, &out, c->size + 100, &got, &err), TL_OK, &err);
        CHECK_BYTES(out, got, (const char *)c->plain, c->size);
        if (c->size == 0)
            continue;
        CHECK_STATUS(squeezed(at_end, c->src, c->src_size, &out, c->size - 1, &got, &err), TL_LIMIT, &err);
        CHECK_INT(got, 0);
    }
}

static void good_frames(void)
{
    each_good(one_good);
}

/* A cut is seen as a cut, and where; but for one behind a whole frame. */
static void one_cut(const frame_case *c)
{
    size_t n, whole = 0, frames = 1;
    for (n = 0; n < c->src_size; n++) {
        uint8_t *out;
        size_t got;
        tl_error err;
        tl_status st = squeezed(1, c->src, n, &out, c->size, &got, &err);
        if (st == TL_OK) {
            CHECK(got <= c->size && (got == 0 || memcmp(out, c->plain, got) == 0));
            whole++;
        } else {
            CHECK_STATUS(st, TL_TRUNCATED, &err);
            CHECK_INT(err.position, n);
            CHECK_INT(got, 0);
        }
    }
    if (strstr(c->name, "two") != NULL || strstr(c->name, "able-first") != NULL || strstr(c->name, "able-last") != NULL)
        frames = 2;
    else if (strstr(c->name, "between") != NULL || strstr(c->name, "around") != NULL)
        frames = 3;
    CHECK_INT(whole, frames);
}

static void cut_anywhere(void)
{
    each_good(one_cut);
}

static size_t flips_accepted;

static void one_flip(const frame_case *c)
{
    uint8_t *damaged = (uint8_t *)malloc(c->src_size);
    size_t n;
    memcpy(damaged, c->src, c->src_size);
    for (n = 0; n < c->src_size; n++) {
        uint8_t *out, change = (uint8_t)(n % 9 == 8 ? 0xff : 1 << n % 9);
        size_t got;
        tl_error err;
        tl_status st;
        damaged[n] ^= change;
        st = squeezed((int)(n & 1), damaged, c->src_size, &out, c->size + (n & 2) * 20, &got, &err);
        CHECK(st == TL_OK || (err.position <= c->src_size && err.text != NULL && got == 0));
        flips_accepted += st == TL_OK;
        /* A checksum leaves nothing through but a bit of the zstd header that nobody may look at. */
        if (strcmp(c->name, "checksum") == 0 || strcmp(c->name, "mixed-all") == 0)
            CHECK(st != TL_OK || (n == 4 && change == 16));
        damaged[n] ^= change;
    }
    free(damaged);
}

static void flipped_anywhere(void)
{
    each_good(one_flip);
    CHECK(flips_accepted > 1000); /* raw bytes have no other guard than a checksum */
}

#endif
