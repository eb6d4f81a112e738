/* The same without malloc: every byte comes from one block, and the library is built without the C library's headers.
   Run: tests/data/lake/iot.trucks.head */
#include <fcntl.h>
#include <stdint.h>
#include <string.h> /* memcpy, memmove, memset, memcmp: all that has to be there */
#include <unistd.h>

#define TIMELAKE_NO_STDLIB
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

#ifndef O_BINARY
#define O_BINARY 0
#endif

static unsigned char object[64 * 1024];  /* the head as it was read */
static unsigned char memory[1024 * 1024]; /* what decoding it may take */

static void say(const char *text, size_t size)
{
    if (write(1, text, (unsigned)size) < 0)
        _exit(1);
}

static void say_number(uint64_t v, const char *what)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    say(digits + at, sizeof digits - at);
    say(what, strlen(what));
}

int main(int argc, char **argv)
{
    int fd = argc > 1 ? open(argv[1], O_RDONLY | O_BINARY) : -1;
    long size = fd < 0 ? -1 : (long)read(fd, object, sizeof object);
    tl_head_options options;
    tl_head head;
    tl_files files;
    tl_error err;
    size_t need, i;

    memset(&options, 0, sizeof options);
    options.allocator = tl_block(memory, sizeof memory);
    if (size < 0 || tl_head_memory(object, (size_t)size, &options, &need, &err) != TL_OK)
        return 1;
    say_number(need, " bytes of memory are enough\n");
    if (need > sizeof memory)
        return 1;
    options.allocator = tl_block(memory, need);
    if (tl_head_decode(&head, object, (size_t)size, &options, &err) != TL_OK
        || tl_head_files(&head, &files, &err) != TL_OK) {
        say(err.text, strlen(err.text));
        say("\n", 1);
        return 1;
    }
    for (i = 0; i < files.count; i++) {
        tl_file file;
        tl_files_get(&files, i, &file);
        say(file.path.data, file.path.size);
        say("  ", 2);
        say_number(file.records, " rows\n");
    }
    tl_head_free(&head);
    return 0;
}
