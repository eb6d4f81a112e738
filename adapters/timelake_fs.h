/* timelake_fs.h - a folder as an object store.

   Include timelake.h first; define TIMELAKE_FS_IMPLEMENTATION in one file (POSIX: Linux, macOS, BSD; under
   -std=c99 or c11 with _GNU_SOURCE defined before the first #include; link with -pthread for the pool). Public API of
   timelake.h only.

       tl_fs fs;
       tl_fs_open(&fs, NULL);
       status = tl_fs_run(&fs, &load.op);                 // drives one operation to its end, blocking
       tl_fs_close(&fs);

   Keys are absolute paths, `file:///path` URIs, or, with options.local_root, `scheme://authority/rest` of any scheme
   for <local_root>/rest, as Timelake's storage option `timelake_local_root` has it. A `.` or `..` segment is refused.

   Puts are whole or not there, also after a power failure: temporary file in the same folder, fsync, link
   (if-absent) or rename, fsync of the folder. Create-if-absent is link(2): exactly one of any number of writers gets
   it. If-match is answered under a lock file of this adapter (`.timelake.lock` in the object's folder), so it holds
   among writers that use this adapter, not against others. ETags are made of inode, size and mtime in ns. Names that
   begin with `.timelake` are not listed.

   One tl_fs may be used by several threads at once. */
#ifndef TIMELAKE_FS_H
#define TIMELAKE_FS_H

typedef struct tl_fs_options {
    const char *local_root; /* borrowed; NULL: paths and file:// only */
    uint32_t page_keys;     /* most keys of a list page; 0: 1,000 */
    int no_sync;            /* 1: no fsync: fast, and not safe against power failures */
} tl_fs_options;

typedef struct tl_fs {
    tl_fs_options options;
} tl_fs;

/* What one request was answered with: the completion points into it. tl_fs_answer_free after tl_complete. */
typedef struct tl_fs_answer {
    tl_completion completion;
    char *body;
    tl_entry *entries;
    char *names; /* of all entries */
    char *next;
    char etag[80];
    char text[160];
} tl_fs_answer;

TL_API void tl_fs_open(tl_fs *fs, const tl_fs_options *options);
TL_API void tl_fs_close(tl_fs *fs);

/* Does one request, blocking (a sleep ends at once: use tl_deadline). */
TL_API void tl_fs_serve(const tl_fs *fs, const tl_request *request, tl_fs_answer *answer);
TL_API void tl_fs_answer_free(tl_fs_answer *answer);

/* Drives one operation to its end. TL_OK means done, as tl_op_status. */
TL_API tl_status tl_fs_run(const tl_fs *fs, tl_op *op);

/* The file of a key: 0 when the key is none of this store, or `size` is too small. */
TL_API int tl_fs_path(const tl_fs *fs, tl_span key, char *path, size_t size);

/* Unix milliseconds; waiting until then (not at all when it is past); and bytes of the system's randomness (1 on
   success). */
TL_API int64_t tl_fs_now(void);
TL_API void tl_fs_pause_until(int64_t until);
TL_API int tl_fs_random(void *bytes, size_t size);

/* A pool of threads that serve requests of operations which one other thread drives:
       while ((turn = tl_step(op, tl_fs_now(), &request)) == TL_WANTS) tl_fs_pool_submit(pool, op, &request);
       tl_fs_pool_wait(pool, tl_deadline(op));  // completes what is done, in this thread; then step again */
typedef struct tl_fs_pool tl_fs_pool;
TL_API tl_fs_pool *tl_fs_pool_open(const tl_fs *fs, uint32_t threads);

/* Queues a request; it is copied. Bodies to put stay the operation's until the completion. 0: no memory, nothing
   queued. */
TL_API int tl_fs_pool_submit(tl_fs_pool *pool, tl_op *op, const tl_request *request);

/* Waits until something is done or `until` (Unix milliseconds) has come, and completes all that is done. Answers how
   many. */
TL_API uint32_t tl_fs_pool_wait(tl_fs_pool *pool, int64_t until);

/* Ends the threads. Every operation must have ended before. */
TL_API void tl_fs_pool_close(tl_fs_pool *pool);
#endif /* TIMELAKE_FS_H */

#if defined(TIMELAKE_FS_IMPLEMENTATION) && !defined(TIMELAKE_FS_IMPLEMENTATION_DONE)
#define TIMELAKE_FS_IMPLEMENTATION_DONE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifndef O_CLOEXEC
#error "timelake_fs.h needs POSIX 2008: under -std=c99 or c11 define _GNU_SOURCE before the first #include"
#endif

#define TL_FS_PATH 4096
#define TL_FS_HIDDEN ".timelake"

TL_API void tl_fs_open(tl_fs *fs, const tl_fs_options *options)
{
    memset(fs, 0, sizeof *fs);
    if (options != NULL)
        fs->options = *options;
    fs->options.page_keys = fs->options.page_keys != 0 ? fs->options.page_keys : 1000;
}

TL_API void tl_fs_close(tl_fs *fs)
{
    memset(fs, 0, sizeof *fs);
}

TL_API int64_t tl_fs_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

TL_API int tl_fs_random(void *bytes, size_t size)
{
    char *at = (char *)bytes;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && size != 0) {
        ssize_t n = read(fd, at, size);
        if (n <= 0 && errno != EINTR)
            break;
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return size == 0;
}

/* ---- keys and paths ---- */

static tl_span tl_fs_span(const char *data, size_t size)
{
    tl_span s;
    s.data = data;
    s.size = size;
    return s;
}

/* How many bytes of a key name what stands for `root`: a scheme and authority, or `file://`. */
static size_t tl_fs_prefix(const tl_fs *fs, tl_span key, const char **root)
{
    size_t i;
    *root = "";
    if (key.size >= 7 && memcmp(key.data, "file://", 7) == 0)
        return 7;
    for (i = 0; i + 2 < key.size; i++)
        if (memcmp(key.data + i, "://", 3) == 0) {
            if (fs->options.local_root == NULL)
                return (size_t)-1;
            *root = fs->options.local_root;
            for (i += 3; i < key.size && key.data[i] != '/'; i++)
                continue;
            return i;
        }
    return key.size != 0 && key.data[0] == '/' ? 0 : (size_t)-1;
}

TL_API int tl_fs_path(const tl_fs *fs, tl_span key, char *path, size_t size)
{
    const char *root;
    size_t skip = tl_fs_prefix(fs, key, &root), i, start, length = strlen(root);
    if (skip == (size_t)-1 || length + key.size - skip + 1 > size || memchr(key.data, 0, key.size) != NULL)
        return 0;
    while (length != 0 && root[length - 1] == '/')
        length--;
    memcpy(path, root, length);
    memcpy(path + length, key.data + skip, key.size - skip);
    path[length + key.size - skip] = 0;
    if (path[length] != 0 && path[length] != '/')
        return 0;
    for (i = start = length; path[i] != 0; i = start) { /* no segment may leave the folder */
        for (start = i + 1; path[start] != 0 && path[start] != '/'; start++)
            continue;
        if ((start - i == 2 && path[i + 1] == '.') || (start - i == 3 && path[i + 1] == '.' && path[i + 2] == '.'))
            return 0;
    }
    return 1;
}

static void tl_fs_say(tl_fs_answer *a, tl_outcome outcome, const char *what)
{
    a->completion.outcome = outcome;
    snprintf(a->text, sizeof a->text, "%s: %s", what, strerror(errno));
    a->completion.text = tl_text(a->text);
}

/* ENOENT and a folder in the way both mean: no such object. */
static tl_outcome tl_fs_missing(void)
{
    return errno == ENOENT || errno == ENOTDIR || errno == EISDIR ? TL_OUTCOME_NOT_FOUND : TL_OUTCOME_FAILED;
}

static char *tl_fs_hex(char *out, unsigned long long value)
{
    int shift = 60;
    while (shift != 0 && value >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *out++ = "0123456789abcdef"[value >> shift & 15];
    return out;
}

/* At most 54 bytes, the zero included. */
static void tl_fs_etag(const struct stat *s, char *out)
{
#ifdef __APPLE__
    long long ns = (long long)s->st_mtimespec.tv_sec * 1000000000 + s->st_mtimespec.tv_nsec;
#else
    long long ns = (long long)s->st_mtim.tv_sec * 1000000000 + s->st_mtim.tv_nsec;
#endif
    *out++ = '"';
    out = tl_fs_hex(out, (unsigned long long)s->st_ino);
    *out++ = '-';
    out = tl_fs_hex(out, (unsigned long long)s->st_size);
    *out++ = '-';
    out = tl_fs_hex(out, (unsigned long long)ns);
    *out++ = '"';
    *out = 0;
}

static void tl_fs_tell(tl_fs_answer *a, const struct stat *s)
{
    tl_fs_etag(s, a->etag);
    a->completion.etag = tl_text(a->etag);
    a->completion.object_size = (uint64_t)s->st_size;
}

/* ---- get and stat ---- */

static void tl_fs_read(const tl_request *r, int fd, const struct stat *s, tl_fs_answer *a)
{
    uint64_t size = (uint64_t)s->st_size, from = r->offset < size ? r->offset : size, want = size - from, done = 0;
    if (r->length < want)
        want = r->length;
    if (want > r->accept || want > SIZE_MAX / 2) {
        a->completion.outcome = TL_OUTCOME_FAILED;
        a->completion.text = tl_text("the object is larger than the request accepts");
        return;
    }
    a->body = (char *)malloc((size_t)want + 1);
    if (a->body == NULL) {
        a->completion.outcome = TL_OUTCOME_FAILED;
        return;
    }
    while (done < want) {
        ssize_t n = pread(fd, a->body + done, (size_t)(want - done), (off_t)(from + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            tl_fs_say(a, TL_OUTCOME_FAILED, "read");
            return;
        }
        if (n == 0) { /* it shrank under us: not the object that was opened */
            a->completion.outcome = TL_OUTCOME_FAILED;
            a->completion.text = tl_text("the file became shorter while it was read");
            return;
        }
        done += (uint64_t)n;
    }
    a->completion.body = tl_fs_span(a->body, (size_t)want);
    a->completion.body_offset = from;
}

/* A folder that is kept open for the gets of one round. They may be served in any order and at any time of the round,
   so all of them may see the folder that was there at one moment of it. Opening by a short name takes a tenth less. */
typedef struct tl_fs_folder {
    int fd; /* -1: none */
    uint32_t round;
    size_t size; /* of its path, the last slash included */
    char path[TL_FS_PATH];
} tl_fs_folder;

static void tl_fs_leave(tl_fs_folder *folder)
{
    if (folder->fd >= 0)
        close(folder->fd);
    folder->fd = -1;
}

/* Opens a file to read; its folder from the second one on. */
static int tl_fs_open_file(tl_fs_folder *folder, const char *path, uint32_t round)
{
    const char *slash = strrchr(path, '/');
    size_t size = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (folder == NULL || size == 0)
        return open(path, O_RDONLY | O_CLOEXEC);
    if (folder->round != round || folder->size != size || memcmp(folder->path, path, size) != 0) {
        tl_fs_leave(folder);
        folder->round = round;
        folder->size = size;
        memcpy(folder->path, path, size);
        folder->path[size] = 0;
        return open(path, O_RDONLY | O_CLOEXEC);
    }
    if (folder->fd < 0)
        folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder->fd < 0 ? open(path, O_RDONLY | O_CLOEXEC) : openat(folder->fd, slash + 1, O_RDONLY | O_CLOEXEC);
}

static void tl_fs_get(tl_fs_folder *folder, const char *path, const tl_request *r, tl_fs_answer *a)
{
    struct stat s;
    int fd = tl_fs_open_file(folder, path, r->round);
    if (fd < 0 || fstat(fd, &s) != 0) {
        tl_fs_say(a, tl_fs_missing(), "open");
    } else if (!S_ISREG(s.st_mode)) {
        a->completion.outcome = TL_OUTCOME_NOT_FOUND;
    } else {
        tl_fs_tell(a, &s);
        if (r->condition == TL_IF_NONE_MATCH && tl_span_equal(a->completion.etag, r->etag))
            a->completion.outcome = TL_OUTCOME_NOT_MODIFIED;
        else
            tl_fs_read(r, fd, &s, a);
    }
    if (fd >= 0)
        close(fd);
}

static void tl_fs_stat(const char *path, tl_fs_answer *a)
{
    struct stat s;
    if (stat(path, &s) != 0)
        tl_fs_say(a, tl_fs_missing(), "stat");
    else if (!S_ISREG(s.st_mode))
        a->completion.outcome = TL_OUTCOME_NOT_FOUND;
    else
        tl_fs_tell(a, &s);
}

/* ---- list ---- */

typedef struct tl_fs_names {
    char **names; /* full keys */
    size_t count, capacity;
    int failed;
} tl_fs_names;

static void tl_fs_note(tl_fs_names *n, const char *folder, const char *name)
{
    char *key;
    size_t size = strlen(folder) + strlen(name) + 2;
    if (n->count == n->capacity) {
        size_t more = n->capacity == 0 ? 64 : n->capacity * 2;
        char **names = (char **)realloc(n->names, more * sizeof *names);
        if (names == NULL) {
            n->failed = 1;
            return;
        }
        n->names = names;
        n->capacity = more;
    }
    key = (char *)malloc(size);
    if (key == NULL) {
        n->failed = 1;
        return;
    }
    snprintf(key, size, "%s/%s", folder, name);
    n->names[n->count++] = key;
}

static int tl_fs_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads one folder: files into `files`, folders into `folders`, as far as they can have the prefix. */
static void tl_fs_walk(const char *folder, const char *prefix, tl_fs_names *files, tl_fs_names *folders)
{
    DIR *d = opendir(folder[0] == 0 ? "/" : folder);
    struct dirent *e;
    size_t wanted = strlen(prefix), base = strlen(folder) + 1;
    if (d == NULL) {
        if (errno != ENOENT && errno != ENOTDIR)
            files->failed = 1;
        return;
    }
    while ((e = readdir(d)) != NULL) {
        struct stat s;
        size_t before = files->count, length = strlen(e->d_name), overlap;
        if (strncmp(e->d_name, TL_FS_HIDDEN, sizeof TL_FS_HIDDEN - 1) == 0 || strcmp(e->d_name, ".") == 0
            || strcmp(e->d_name, "..") == 0)
            continue;
        overlap = wanted > base ? wanted - base : 0;
        overlap = overlap < length ? overlap : length;
        if (overlap != 0 && memcmp(e->d_name, prefix + base, overlap) != 0)
            continue;
        tl_fs_note(files, folder, e->d_name);
        if (files->failed || files->count == before)
            break;
        if (stat(files->names[before], &s) == 0 && S_ISREG(s.st_mode) && base + length >= wanted)
            continue;
        if (S_ISDIR(s.st_mode))
            tl_fs_note(folders, folder, e->d_name);
        free(files->names[--files->count]);
    }
    closedir(d);
}

static void tl_fs_free_names(tl_fs_names *n)
{
    while (n->count != 0)
        free(n->names[--n->count]);
    free(n->names);
}

/* The page of sorted names after `after`, as keys that begin as the request's key does. */
static void tl_fs_page(const tl_fs *fs, const tl_request *r, const tl_fs_names *n, size_t cut, size_t lead,
                       tl_fs_answer *a)
{
    size_t limit = fs->options.page_keys, i = 0, count = 0, bytes = 0, at = 0;
    if (r->max_keys != 0 && r->max_keys < limit)
        limit = r->max_keys;
    if (r->page.data != NULL)
        while (i < n->count && tl_span_compare(tl_text(n->names[i] + cut), r->page) <= 0)
            i++;
    for (count = 0; count < limit && i + count < n->count; count++)
        bytes += lead + strlen(n->names[i + count] + cut) + 1;
    a->entries = (tl_entry *)calloc(count + 1, sizeof *a->entries);
    a->names = (char *)malloc(bytes + 1);
    if (a->entries == NULL || a->names == NULL) {
        a->completion.outcome = TL_OUTCOME_FAILED;
        return;
    }
    for (limit = 0; limit < count; limit++) {
        const char *name = n->names[i + limit] + cut;
        size_t size = strlen(name);
        struct stat s;
        memcpy(a->names + at, r->key.data, lead);
        memcpy(a->names + at + lead, name, size);
        a->entries[limit].key = tl_fs_span(a->names + at, lead + size);
        a->entries[limit].size = stat(n->names[i + limit], &s) == 0 ? (uint64_t)s.st_size : 0;
        at += lead + size;
    }
    a->completion.entries = a->entries;
    a->completion.entry_count = count;
    if (i + count < n->count) {
        a->next = strdup(n->names[i + count - 1] + cut);
        a->completion.next_page = tl_text(a->next);
    }
}

static void tl_fs_list(const tl_fs *fs, const char *path, const tl_request *r, tl_fs_answer *a)
{
    tl_fs_names files, folders;
    const char *root, *slash = strrchr(path, '/');
    size_t lead = tl_fs_prefix(fs, r->key, &root), cut = strlen(path) - (r->key.size - lead), next = 0;
    char first[TL_FS_PATH];
    memset(&files, 0, sizeof files);
    memset(&folders, 0, sizeof folders);
    snprintf(first, sizeof first, "%.*s", slash == NULL ? 0 : (int)(slash - path), path);
    tl_fs_walk(first, path, &files, &folders);
    while (next < folders.count && !files.failed) /* names grow while they are gone through */
        tl_fs_walk(folders.names[next++], path, &files, &folders);
    if (files.failed || folders.failed) {
        tl_fs_say(a, TL_OUTCOME_FAILED, "list");
    } else {
        if (files.count != 0)
            qsort(files.names, files.count, sizeof *files.names, tl_fs_by_name);
        tl_fs_page(fs, r, &files, cut, lead, a);
    }
    tl_fs_free_names(&files);
    tl_fs_free_names(&folders);
}

/* ---- put and delete ---- */

/* Makes the folders above `path`, and their entries durable. */
static int tl_fs_folders(const tl_fs *fs, char *path)
{
    char *slash;
    for (slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        int made;
        *slash = 0;
        made = mkdir(path, 0777);
        if (made != 0 && errno != EEXIST) {
            *slash = '/';
            return 0;
        }
        if (made == 0 && !fs->options.no_sync) {
            char *up = strrchr(path, '/');
            int fd;
            *up = 0;
            fd = open(path[0] == 0 ? "/" : path, O_RDONLY | O_CLOEXEC);
            *up = '/';
            if (fd >= 0) {
                (void)fsync(fd);
                close(fd);
            }
        }
        *slash = '/';
    }
    return 1;
}

static int tl_fs_write(const tl_fs *fs, const char *path, const tl_request *r)
{
    size_t i;
    int ok = 1, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return 0;
    for (i = 0; i < r->body_count && ok; i++) {
        const char *at = r->body[i].data;
        size_t left = r->body[i].size;
        while (left != 0) {
            ssize_t n = write(fd, at, left);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0) {
                ok = 0;
                break;
            }
            at += n;
            left -= (size_t)n;
        }
    }
    if (ok && !fs->options.no_sync)
        ok = fsync(fd) == 0;
    if (close(fd) != 0)
        ok = 0;
    return ok;
}

/* Makes the new name durable. Where that fails the object is there, but may be gone after a power failure. */
static int tl_fs_sync_folder(const tl_fs *fs, const char *folder)
{
    int fd, ok;
    if (fs->options.no_sync)
        return 1;
    fd = open(folder[0] == 0 ? "/" : folder, O_RDONLY | O_CLOEXEC);
    ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Puts the finished temporary file in its place. */
static void tl_fs_place(const tl_fs *fs, const char *folder, const char *temporary, const char *path,
                        const tl_request *r, tl_fs_answer *a)
{
    struct stat s;
    int done;
    if (r->condition == TL_IF_ABSENT)
        done = link(temporary, path);
    else
        done = rename(temporary, path);
    if (done != 0 && r->condition == TL_IF_ABSENT && errno == EEXIST)
        a->completion.outcome = TL_OUTCOME_PRECONDITION;
    else if (done != 0 && r->condition == TL_IF_ABSENT && (errno == EPERM || errno == ENOTSUP || errno == EMLINK))
        tl_fs_say(a, TL_OUTCOME_UNSUPPORTED, "link");
    else if (done != 0)
        tl_fs_say(a, TL_OUTCOME_FAILED, r->condition == TL_IF_ABSENT ? "link" : "rename");
    else if (!tl_fs_sync_folder(fs, folder))
        tl_fs_say(a, TL_OUTCOME_UNKNOWN, "fsync of the folder");
    else if (stat(path, &s) == 0)
        tl_fs_tell(a, &s);
    if (done != 0 || r->condition == TL_IF_ABSENT)
        (void)unlink(temporary);
}

static void tl_fs_put(const tl_fs *fs, char *path, const tl_request *r, tl_fs_answer *a)
{
    char folder[TL_FS_PATH], temporary[TL_FS_PATH + 64], lock[TL_FS_PATH + 32], etag[80];
    unsigned char random[12];
    struct stat s;
    size_t i;
    int fd = -1;
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash[1] == 0 || !tl_fs_random(random, sizeof random) || !tl_fs_folders(fs, path)) {
        tl_fs_say(a, TL_OUTCOME_FAILED, "folder");
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    snprintf(temporary, sizeof temporary, "%s/" TL_FS_HIDDEN "-", folder);
    for (i = 0; i < sizeof random; i++)
        snprintf(temporary + strlen(temporary), 3, "%02x", random[i]);
    if (r->condition == TL_IF_MATCH) {
        snprintf(lock, sizeof lock, "%s/" TL_FS_HIDDEN ".lock", folder);
        fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || flock(fd, LOCK_EX) != 0) {
            tl_fs_say(a, TL_OUTCOME_FAILED, "lock");
            if (fd >= 0)
                close(fd);
            return;
        }
        if (stat(path, &s) == 0)
            tl_fs_etag(&s, etag);
        else
            etag[0] = 0;
        if (!tl_span_equal(tl_text(etag), r->etag))
            a->completion.outcome = TL_OUTCOME_PRECONDITION;
    }
    if (a->completion.outcome == TL_OUTCOME_OK) {
        if (tl_fs_write(fs, temporary, r)) {
            tl_fs_place(fs, folder, temporary, path, r, a);
        } else {
            tl_fs_say(a, TL_OUTCOME_FAILED, "write");
            (void)unlink(temporary);
        }
    }
    if (fd >= 0)
        close(fd); /* and the lock with it */
}

static void tl_fs_delete(const char *path, tl_fs_answer *a)
{
    if (unlink(path) != 0 && tl_fs_missing() == TL_OUTCOME_FAILED)
        tl_fs_say(a, TL_OUTCOME_FAILED, "delete");
}

static void tl_fs_serve_from(const tl_fs *fs, tl_fs_folder *folder, const tl_request *request, tl_fs_answer *answer)
{
    char path[TL_FS_PATH];
    memset(answer, 0, sizeof *answer);
    answer->completion = tl_completed(request->token, TL_OUTCOME_OK);
    if (request->kind == TL_SLEEP)
        return;
    if (!tl_fs_path(fs, request->key, path, sizeof path)) {
        answer->completion.outcome = TL_OUTCOME_FAILED;
        answer->completion.text = tl_text("not a key of this folder");
        return;
    }
    switch (request->kind) {
    case TL_GET:
        tl_fs_get(folder, path, request, answer);
        break;
    case TL_STAT:
        tl_fs_stat(path, answer);
        break;
    case TL_LIST:
        tl_fs_list(fs, path, request, answer);
        break;
    case TL_PUT:
        tl_fs_put(fs, path, request, answer);
        break;
    default:
        tl_fs_delete(path, answer);
        break;
    }
}

TL_API void tl_fs_serve(const tl_fs *fs, const tl_request *request, tl_fs_answer *answer)
{
    tl_fs_serve_from(fs, NULL, request, answer);
}

TL_API void tl_fs_answer_free(tl_fs_answer *answer)
{
    free(answer->body);
    free(answer->entries);
    free(answer->names);
    free(answer->next);
    memset(answer, 0, sizeof *answer);
}

TL_API void tl_fs_pause_until(int64_t until)
{
    int64_t now = tl_fs_now();
    struct timespec t;
    if (until <= now)
        return;
    t.tv_sec = (time_t)((until - now) / 1000);
    t.tv_nsec = (long)((until - now) % 1000) * 1000000;
    (void)nanosleep(&t, NULL);
}

TL_API tl_status tl_fs_run(const tl_fs *fs, tl_op *op)
{
    tl_request request;
    tl_fs_answer answer;
    tl_fs_folder folder;
    folder.fd = -1;
    folder.round = 0;
    folder.size = 0;
    for (;;) {
        switch (tl_step(op, tl_fs_now(), &request)) {
        case TL_WANTS:
            if (request.kind == TL_SLEEP)
                break; /* the deadline ends it */
            tl_fs_serve_from(fs, &folder, &request, &answer);
            if (request.token != 0)
                (void)tl_complete(op, &answer.completion, tl_fs_now());
            tl_fs_answer_free(&answer);
            break;
        case TL_WAITS:
            tl_fs_leave(&folder);
            tl_fs_pause_until(tl_deadline(op));
            break;
        default:
            tl_fs_leave(&folder);
            return tl_op_status(op);
        }
    }
}

/* ---- the pool ---- */

typedef struct tl_fs_job {
    struct tl_fs_job *next;
    tl_op *op;
    tl_request request;
    tl_fs_answer answer;
    char texts[1];
} tl_fs_job;

struct tl_fs_pool {
    const tl_fs *fs;
    pthread_mutex_t mutex;
    pthread_cond_t todo, done;
    tl_fs_job *first, **last; /* to be served, in order */
    tl_fs_job *finished;
    pthread_t *threads;
    uint32_t count;
    int closing;
};

static void *tl_fs_work(void *argument)
{
    tl_fs_pool *pool = (tl_fs_pool *)argument;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        tl_fs_job *job = pool->first;
        if (job == NULL) {
            if (pool->closing)
                break;
            pthread_cond_wait(&pool->todo, &pool->mutex);
            continue;
        }
        pool->first = job->next;
        if (pool->first == NULL)
            pool->last = &pool->first;
        pthread_mutex_unlock(&pool->mutex);
        tl_fs_serve(pool->fs, &job->request, &job->answer);
        pthread_mutex_lock(&pool->mutex);
        job->next = pool->finished;
        pool->finished = job;
        pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

TL_API tl_fs_pool *tl_fs_pool_open(const tl_fs *fs, uint32_t threads)
{
    tl_fs_pool *pool = (tl_fs_pool *)calloc(1, sizeof *pool);
    if (pool == NULL)
        return NULL;
    pool->fs = fs;
    pool->last = &pool->first;
    pool->threads = (pthread_t *)calloc(threads == 0 ? 1 : threads, sizeof *pool->threads);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->todo, NULL);
    pthread_cond_init(&pool->done, NULL);
    while (pool->threads != NULL && pool->count < (threads == 0 ? 1 : threads)
           && pthread_create(&pool->threads[pool->count], NULL, tl_fs_work, pool) == 0)
        pool->count++;
    if (pool->count == 0) {
        tl_fs_pool_close(pool);
        return NULL;
    }
    return pool;
}

static void tl_fs_own(tl_span *span, char **at)
{
    if (span->data == NULL)
        return;
    memcpy(*at, span->data, span->size);
    span->data = *at;
    *at += span->size;
}

TL_API int tl_fs_pool_submit(tl_fs_pool *pool, tl_op *op, const tl_request *request)
{
    size_t texts = request->key.size + request->etag.size + request->page.size;
    tl_fs_job *job;
    char *at;
    if (request->kind == TL_SLEEP) /* the deadline ends it */
        return 1;
    job = (tl_fs_job *)malloc(sizeof *job + texts);
    if (job == NULL)
        return 0;
    memset(job, 0, sizeof *job);
    job->op = op;
    job->request = *request;
    at = job->texts;
    tl_fs_own(&job->request.key, &at);
    tl_fs_own(&job->request.etag, &at);
    tl_fs_own(&job->request.page, &at);
    pthread_mutex_lock(&pool->mutex);
    *pool->last = job;
    pool->last = &job->next;
    pthread_cond_signal(&pool->todo);
    pthread_mutex_unlock(&pool->mutex);
    return 1;
}

TL_API uint32_t tl_fs_pool_wait(tl_fs_pool *pool, int64_t until)
{
    tl_fs_job *job, *next;
    uint32_t n = 0;
    struct timespec t;
    t.tv_sec = (time_t)(until / 1000);
    t.tv_nsec = (long)(until % 1000) * 1000000;
    pthread_mutex_lock(&pool->mutex);
    while (pool->finished == NULL && (until == INT64_MAX || tl_fs_now() < until)) {
        if (until == INT64_MAX)
            pthread_cond_wait(&pool->done, &pool->mutex);
        else
            pthread_cond_timedwait(&pool->done, &pool->mutex, &t);
    }
    job = pool->finished;
    pool->finished = NULL;
    pthread_mutex_unlock(&pool->mutex);
    for (; job != NULL; job = next, n++) {
        next = job->next;
        if (job->request.token != 0)
            (void)tl_complete(job->op, &job->answer.completion, tl_fs_now());
        tl_fs_answer_free(&job->answer);
        free(job);
    }
    return n;
}

TL_API void tl_fs_pool_close(tl_fs_pool *pool)
{
    uint32_t i;
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = 1;
    pthread_cond_broadcast(&pool->todo);
    pthread_mutex_unlock(&pool->mutex);
    for (i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    (void)tl_fs_pool_wait(pool, 0);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->todo);
    pthread_cond_destroy(&pool->done);
    free(pool->threads);
    free(pool);
}
#endif /* TIMELAKE_FS_IMPLEMENTATION */
