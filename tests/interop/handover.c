/* The header as a shared library for handover.py: opens heads and hands their sections out through the Arrow C Data
   Interface. Memory is counted, so that the script sees whether the last release gave everything back. */
#include <stdint.h>
#include <stdlib.h>

#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

static int64_t handover_blocks;

static void *handover_allocate(void *context, size_t size)
{
    void *p = malloc(size);
    (void)context;
    if (p != NULL)
        (void)__atomic_add_fetch(&handover_blocks, 1, __ATOMIC_SEQ_CST);
    return p;
}

static void *handover_resize(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return realloc(memory, size);
}

static void handover_deallocate(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    if (memory != NULL)
        (void)__atomic_sub_fetch(&handover_blocks, 1, __ATOMIC_SEQ_CST);
    free(memory);
}

static void handover_release(void *context, const void *bytes, size_t size)
{
    (void)bytes;
    handover_deallocate(NULL, context, size);
}

int64_t handover_live(void);
void *handover_open(const void *bytes, size_t size, int give, size_t lead, const char **why);
int32_t handover_sections(const void *handle);
const char *handover_name(const void *handle, int32_t i, size_t *size);
int32_t handover_batches(const void *handle, int32_t i);
const char *handover_export(void *handle, int32_t i, int32_t batch, struct ArrowSchema *schema,
                            struct ArrowArray *array);
void handover_free(void *handle);

/* Blocks that are not given back. */
int64_t handover_live(void)
{
    return __atomic_load_n(&handover_blocks, __ATOMIC_SEQ_CST);
}

/* A head of a copy of the bytes when they are given away (placed `lead` past an aligned address: 5 makes the streams of
   an arrow head aligned), else of the bytes themselves. NULL: see `why`. */
void *handover_open(const void *bytes, size_t size, int give, size_t lead, const char **why)
{
    tl_head *head = (tl_head *)calloc(1, sizeof *head);
    char *copy = give ? (char *)handover_allocate(NULL, size + lead) : NULL;
    tl_head_options options;
    tl_error err;
    memset(&options, 0, sizeof options);
    options.allocator.allocate = handover_allocate;
    options.allocator.resize = handover_resize;
    options.allocator.deallocate = handover_deallocate;
    if (copy != NULL) {
        memcpy(copy + lead, bytes, size);
        bytes = copy + lead;
        options.release = handover_release;
        options.release_context = copy;
    }
    if (head != NULL && tl_head_decode(head, bytes, size, &options, &err) == TL_OK)
        return head;
    *why = head == NULL ? "no memory" : err.text;
    free(head);
    return NULL;
}

int32_t handover_sections(const void *handle)
{
    return ((const tl_head *)handle)->document.section_count;
}

const char *handover_name(const void *handle, int32_t i, size_t *size)
{
    const tl_head *head = (const tl_head *)handle;
    *size = head->document.sections[i].name.size;
    return (const char *)head->document.sections[i].name.data;
}

int32_t handover_batches(const void *handle, int32_t i)
{
    return ((const tl_head *)handle)->document.sections[i].batch_count;
}

/* NULL, or why not. */
const char *handover_export(void *handle, int32_t i, int32_t batch, struct ArrowSchema *schema,
                            struct ArrowArray *array)
{
    tl_head *head = (tl_head *)handle;
    tl_error err;
    if (tl_section_export(&head->document.sections[i], batch, schema, array, &err) == TL_OK)
        return NULL;
    return err.text;
}

void handover_free(void *handle)
{
    tl_head_free((tl_head *)handle);
    free(handle);
}
