/* A new folder for files of a test, below $TMPDIR, and its end. POSIX. */
#ifndef TL_FOLDER_H
#define TL_FOLDER_H

/* 0 when there is nowhere to make one. */
static int tl_folder_new(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(path, size, "%s/timelake-test-XXXXXX", base != NULL && *base != 0 ? base : "/tmp");
    return n > 0 && (size_t)n < size && mkdtemp(path) != NULL;
}

static int tl_folder_end(const char *path)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    return system(command) == 0;
}
#endif
