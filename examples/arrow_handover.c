/* Hands a section of a head over to any library that speaks the Arrow C Data Interface: nanoarrow, pyarrow, DuckDB.

   As a program it plays that library's part itself, and adds up a column it was given:
   Run: tests/data/lake/iot.trucks.head

   With -DHANDOVER_LIBRARY it is a shared library for examples/arrow_handover.py, which lets pyarrow import the section:
       cc -shared -fPIC -DHANDOVER_LIBRARY -o build/libhandover.so examples/arrow_handover.c
       python3 examples/arrow_handover.py build/libhandover.so tests/data/lake/iot.trucks.head last_values */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"

static void release_bytes(void *context, const void *data, size_t size)
{
    (void)data;
    (void)size;
    free(context);
}

/* Decodes the head in `path` and hands batch 0 of the section out; 0 when it went well. The head is gone when this
   returns: what was handed out owns itself, and keeps the file's bytes as long as it needs them. */
TL_API int handover(const char *path, const char *section_name, struct ArrowSchema *schema, struct ArrowArray *array);

TL_API int handover(const char *path, const char *section_name, struct ArrowSchema *schema, struct ArrowArray *array)
{
    enum { most = 1 << 20 };
    char *bytes = (char *)malloc(most);
    FILE *f = fopen(path, "rb");
    size_t size = bytes != NULL && f != NULL ? fread(bytes, 1, most, f) : 0;
    tl_head_options options;
    tl_head head;
    tl_section *section;
    tl_error err;
    tl_status status;

    if (f != NULL)
        fclose(f);
    memset(&options, 0, sizeof options);
    options.release = release_bytes; /* gives the bytes away: released when the last array of them is */
    options.release_context = bytes;
    if (tl_head_decode(&head, bytes, size, &options, &err) != TL_OK) {
        fprintf(stderr, "%s: %s at byte %llu\n", path, err.text, (unsigned long long)err.position);
        return 1;
    }
    section = tl_document_section(&head.document, tl_text(section_name));
    status = section == NULL ? TL_ABSENT : tl_section_export(section, 0, schema, array, &err);
    if (status != TL_OK)
        fprintf(stderr, "%s: %s\n", section_name, status == TL_ABSENT ? "no such section" : err.text);
    tl_head_free(&head);
    return status != TL_OK;
}

#ifndef HANDOVER_LIBRARY
/* What the other library does: takes columns by name and format, counts their rows, releases both structs. */
int main(int argc, char **argv)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    int64_t i, row, sum = 0;

    if (argc < 2 || handover(argv[1], "files", &schema, &array) != 0)
        return 1;
    for (i = 0; i < schema.n_children; i++) {
        const struct ArrowArray *column = array.children[i];
        const char *name = schema.children[i]->name, *format = schema.children[i]->format;
        printf("%-20s %-8s %lld rows\n", name, format, (long long)column->length);
        if (strcmp(name, "records") == 0 && strcmp(format, "L") == 0)
            for (row = 0; row < column->length; row++) /* aligned: exported arrays are */
                sum += (int64_t)((const uint64_t *)column->buffers[1])[column->offset + row];
    }
    printf("sum of records: %lld\n", (long long)sum);
    array.release(&array);
    schema.release(&schema);
    return 0;
}
#endif
