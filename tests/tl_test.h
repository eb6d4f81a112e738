/* The test harness: include first in a tests/<room>.c. It includes the generated header with its implementation, so a
   test sees private functions. Each test program ends with its own `N passed, N failed` line and exit code. */
#ifndef TL_TEST_H
#define TL_TEST_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *tl_test_name = "";
static long tl_test_failures, tl_test_skips;

#define TIMELAKE_ASSERT(x)                                                                                             \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            fprintf(stderr, "%s:%d: assertion %s (test %s)\n", __FILE__, __LINE__, #x, tl_test_name);                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#ifndef TLI_KEEP_MACROS
#define TLI_KEEP_MACROS /* tests see private names */
#endif
#ifndef TIMELAKE_STATIC
#define TIMELAKE_STATIC /* what a test does not use is not compiled */
#endif
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#define TL_TEST_FN TLI_UNUSED static

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, tl_test_name, #x);                                  \
            tl_test_failures++;                                                                                        \
        }                                                                                                              \
    } while (0)

#define CHECK_INT(got, want) tl_test_int((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_TEXT(got, got_size, want) tl_test_text((got), (got_size), (want), strlen(want), #got, __FILE__, __LINE__)
#define CHECK_BYTES(got, got_size, want, want_size)                                                                    \
    tl_test_text((got), (got_size), (want), (want_size), #got, __FILE__, __LINE__)
/* The status, and on a surprise what the error says. */
#define CHECK_STATUS(got, want, err) tl_test_status((got), (want), (err), #got, __FILE__, __LINE__)

TL_TEST_FN int tl_test_int(long long got, long long want, const char *what, const char *file, int line)
{
    if (got == want)
        return 1;
    fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld\n", file, line, tl_test_name, what, got, want);
    tl_test_failures++;
    return 0;
}

TL_TEST_FN int tl_test_text(const void *got, size_t got_size, const void *want, size_t want_size, const char *what,
                            const char *file, int line)
{
    if (got_size == want_size && (want_size == 0 || memcmp(got, want, want_size) == 0))
        return 1;
    fprintf(stderr, "%s:%d: %s: %s is '%.*s' (%zu bytes), not '%.*s' (%zu)\n", file, line, tl_test_name, what,
            (int)(got_size > 200 ? 200 : got_size), got == NULL ? "" : (const char *)got, got_size,
            (int)(want_size > 200 ? 200 : want_size), (const char *)want, want_size);
    tl_test_failures++;
    return 0;
}

TL_TEST_FN int tl_test_status(tl_status got, tl_status want, const tl_error *err, const char *what, const char *file,
                              int line)
{
    if (got == want)
        return 1;
    fprintf(stderr, "%s:%d: %s: %s is %s, not %s (%s at %llu)\n", file, line, tl_test_name, what, tl_status_text(got),
            tl_status_text(want), err != NULL && got != TL_OK && err->text != NULL ? err->text : "",
            err != NULL && got != TL_OK ? (unsigned long long)err->position : 0ull);
    tl_test_failures++;
    return 0;
}

/* A part that cannot run here: said in one line, counted apart, never as passed. */
TL_TEST_FN void tl_test_skip(const char *why)
{
    printf("skipped: %s: %s\n", tl_test_name, why);
    tl_test_skips++;
}

/* A whole file in memory of malloc, ended by a zero byte that size does not count; NULL when it cannot be read. */
TL_TEST_FN char *tl_test_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    long n;
    *size = 0;
    if (f == NULL)
        return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0
        && (data = (char *)malloc((size_t)n + 1)) != NULL) {
        *size = fread(data, 1, (size_t)n, f);
        data[*size] = 0;
    }
    fclose(f);
    return data;
}

/* A path below the shared folder beside the checkout ($TL_SHARED, else ../shared); a static buffer. */
TL_TEST_FN const char *tl_test_shared(const char *below)
{
    static char path[4096];
    const char *top = getenv("TL_SHARED");
    snprintf(path, sizeof path, "%s/%s", top != NULL ? top : "../shared", below);
    return path;
}

/* ---- an allocator that counts, and fails when told ---- */

typedef struct tl_test_memory {
    long calls;        /* allocations and resizes asked for */
    long fail_at;      /* the call that answers NULL, from 1; 0: none */
    int fail_for_ever; /* and all after it */
    long live;         /* blocks not given back */
    size_t bytes, peak;
} tl_test_memory;

TL_TEST_FN int tl_test_memory_fails(tl_test_memory *m)
{
    m->calls++;
    return m->fail_at != 0 && (m->calls == m->fail_at || (m->fail_for_ever && m->calls > m->fail_at));
}

TL_TEST_FN void tl_test_memory_count(tl_test_memory *m, size_t more, size_t less)
{
    m->bytes = m->bytes + more - less;
    if (m->bytes > m->peak)
        m->peak = m->bytes;
}

TL_TEST_FN void *tl_test_memory_allocate(void *context, size_t size)
{
    tl_test_memory *m = (tl_test_memory *)context;
    void *p = tl_test_memory_fails(m) ? NULL : malloc(size);
    if (p != NULL) {
        m->live++;
        tl_test_memory_count(m, size, 0);
    }
    return p;
}

TL_TEST_FN void *tl_test_memory_resize(void *context, void *memory, size_t old_size, size_t size)
{
    tl_test_memory *m = (tl_test_memory *)context;
    void *p = tl_test_memory_fails(m) ? NULL : realloc(memory, size);
    if (p != NULL)
        tl_test_memory_count(m, size, old_size);
    return p;
}

TL_TEST_FN void tl_test_memory_deallocate(void *context, void *memory, size_t size)
{
    tl_test_memory *m = (tl_test_memory *)context;
    m->live--;
    tl_test_memory_count(m, 0, size);
    free(memory);
}

TL_TEST_FN tl_allocator tl_test_allocator(tl_test_memory *m)
{
    tl_allocator a;
    memset(&a, 0, sizeof a);
    a.context = m;
    a.allocate = tl_test_memory_allocate;
    a.resize = tl_test_memory_resize;
    a.deallocate = tl_test_memory_deallocate;
    return a;
}

/* ---- running ---- */

typedef struct tl_test_case {
    const char *name;
    void (*run)(void);
} tl_test_case;

#define TL_TEST(function) { #function, function }

/* Runs all cases, or those whose name contains argv[1]. */
TL_TEST_FN int tl_test_main(const tl_test_case *cases, size_t count, int argc, char **argv)
{
    long passed = 0, failed = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        long before = tl_test_failures;
        if (argc > 1 && strstr(cases[i].name, argv[1]) == NULL)
            continue;
        tl_test_name = cases[i].name;
        cases[i].run();
        if (tl_test_failures == before)
            passed++;
        else
            failed++;
    }
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}

#define TL_TEST_MAIN(cases)                                                                                            \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return tl_test_main(cases, sizeof(cases) / sizeof((cases)[0]), argc, argv);                                    \
    }

#endif
