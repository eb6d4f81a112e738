/* Runs one fuzz target over files, without a fuzzing engine: link it with fuzz/<target>.c and give it files or folders.
   Every test run does that with the corpus, on compilers and machines that have no engine. A finding aborts, as under
   the engine, and the file is named (-v names each before it runs). Ends with `N passed, N failed`. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <dirent.h>
#include <sys/stat.h>
#endif

#ifdef __cplusplus
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#endif

static long passed, failed;
static char running[4096] = "no input"; /* what a crash is to be blamed on */
static int verbose;

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL, *exact;
    size_t size = 0, capacity = 0, n;
    if (f == NULL) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        failed++;
        return;
    }
    do {
        if (size == capacity) {
            capacity = capacity == 0 ? 4096 : capacity * 2;
            data = (uint8_t *)realloc(data, capacity);
            if (data == NULL)
                abort();
        }
        n = fread(data + size, 1, capacity - size, f);
        size += n;
    } while (n != 0);
    fclose(f);
    exact = (uint8_t *)malloc(size == 0 ? 1 : size); /* of the exact size: a sanitizer sees a read past the end */
    if (exact == NULL)
        abort();
    if (size != 0)
        memcpy(exact, data, size);
    free(data);
    snprintf(running, sizeof running, "%s", path);
    if (verbose) {
        printf("%s\n", path);
        fflush(stdout);
    }
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    passed++;
}

#ifdef _WIN32
static void run(const char *path)
{
    run_file(path);
}
#else
/* A folder's entries are put on one list, so that folders inside folders need no recursion. */
typedef struct names {
    char **list;
    size_t count, capacity;
} names;

static void names_add(names *all, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 64 : all->capacity * 2;
        all->list = (char **)realloc(all->list, all->capacity * sizeof *all->list);
        if (all->list == NULL)
            abort();
    }
    all->list[all->count] = (char *)malloc(size);
    if (all->list[all->count] == NULL)
        abort();
    snprintf(all->list[all->count], size, "%s%s%s", folder, *folder != 0 ? "/" : "", name);
    all->count++;
}

static void run(const char *path)
{
    names all = {NULL, 0, 0};
    size_t i;
    names_add(&all, "", path);
    for (i = 0; i < all.count; i++) {
        struct stat info;
        DIR *folder;
        struct dirent *entry;
        if (stat(all.list[i], &info) != 0 || !S_ISDIR(info.st_mode)) {
            run_file(all.list[i]);
            continue;
        }
        folder = opendir(all.list[i]);
        while (folder != NULL && (entry = readdir(folder)) != NULL)
            if (entry->d_name[0] != '.')
                names_add(&all, all.list[i], entry->d_name);
        if (folder != NULL)
            closedir(folder);
    }
    for (i = 0; i < all.count; i++)
        free(all.list[i]);
    free(all.list);
}
#endif

static void crashed(int number)
{
    fprintf(stderr, "replay: signal %d with %s\n", number, running);
    signal(number, SIG_DFL);
    raise(number);
}

int main(int argc, char **argv)
{
    int i;
    static const uint8_t nothing[1] = {0};
    signal(SIGABRT, crashed);
    signal(SIGFPE, crashed);
    signal(SIGILL, crashed);
    signal(SIGSEGV, crashed);
    (void)LLVMFuzzerTestOneInput(nothing, 0);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0)
            verbose = 1;
        else
            run(argv[i]);
    }
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}
