/* The smallest program: the files of a table, from its head.
   Run: tests/data/lake/iot.trucks.head */
#include <stdio.h>
#include <stdlib.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

int main(int argc, char **argv)
{
    static unsigned char bytes[1 << 20]; /* however you come by them: the library does no I/O */
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0, i;
    tl_head head;
    tl_files files;
    tl_error err;

    if (tl_head_decode(&head, bytes, size, NULL, &err) != TL_OK || tl_head_files(&head, &files, &err) != TL_OK) {
        fprintf(stderr, "%s at byte %llu\n", err.text, (unsigned long long)err.position);
        return 1;
    }
    printf("version %llu, %lu files\n", (unsigned long long)head.version, (unsigned long)files.count);
    for (i = 0; i < files.count; i++) {
        tl_file file;
        tl_files_get(&files, i, &file); /* its path is a span into the head: nothing is copied */
        printf("%.*s  %llu rows\n", (int)file.path.size, file.path.data, (unsigned long long)file.records);
    }
    tl_head_free(&head);
    fclose(f);
    return 0;
}
