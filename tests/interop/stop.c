/* Preloaded: the process dies before its file operation number STOP_AT, among those on paths with STOP_PATH in them.
   STOP_HALF=1: a write is done half before that. Whoever lives through all of them ends as always. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned char watched[4096];
static int count;

static int concerns(const char *path)
{
    const char *part = getenv("STOP_PATH");
    return part != NULL && strstr(path, part) != NULL;
}

static int due(void)
{
    const char *at = getenv("STOP_AT");
    return at != NULL && __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) == atoi(at);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

static void tick(int concerned)
{
    if (concerned && due())
        die();
}

static int is_watched(int fd)
{
    return fd >= 0 && fd < (int)sizeof watched && watched[fd];
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static int opened(const char *name, const char *path, int flags, va_list list)
{
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
    int fd, concerned = concerns(path);
    tick(concerned);
    fd = REAL(int, name, const char *, int, ...)(path, flags, mode);
    if (fd >= 0 && fd < (int)sizeof watched)
        watched[fd] = (unsigned char)concerned;
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    int fd;
    va_start(list, flags);
    fd = opened("open", path, flags, list);
    va_end(list);
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    int fd;
    va_start(list, flags);
    fd = opened("open64", path, flags, list);
    va_end(list);
    return fd;
}

ssize_t write(int fd, const void *data, size_t size)
{
    const char *half = getenv("STOP_HALF");
    if (is_watched(fd) && due()) {
        if (half != NULL)
            (void)!REAL(ssize_t, "write", int, const void *, size_t)(fd, data, size / 2);
        die();
    }
    return REAL(ssize_t, "write", int, const void *, size_t)(fd, data, size);
}

int fsync(int fd)
{
    tick(is_watched(fd));
    return REAL(int, "fsync", int)(fd);
}

int mkdir(const char *path, mode_t mode)
{
    tick(concerns(path));
    return REAL(int, "mkdir", const char *, mode_t)(path, mode);
}

int link(const char *from, const char *to)
{
    tick(concerns(to));
    return REAL(int, "link", const char *, const char *)(from, to);
}

int rename(const char *from, const char *to)
{
    tick(concerns(to));
    return REAL(int, "rename", const char *, const char *)(from, to);
}

int unlink(const char *path)
{
    tick(concerns(path));
    return REAL(int, "unlink", const char *)(path);
}
