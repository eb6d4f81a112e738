/* A program without a C library (x86-64 Linux): its own memcpy, memmove, memset, memcmp, its own entry, nothing else.
   It shows which symbols TIMELAKE_NO_STDLIB needs: the link fails when there is one more. */
#define TIMELAKE_NO_STDLIB
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void freestanding_main(void);

void *memcpy(void *to, const void *from, size_t size)
{
    size_t i;
    for (i = 0; i < size; i++)
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    size_t i;
    for (i = 0; i < size; i++) {
        size_t at = t < f ? i : size - 1 - i;
        t[at] = f[at];
    }
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    size_t i;
    for (i = 0; i < size; i++)
        ((unsigned char *)to)[i] = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    size_t i;
    for (i = 0; i < size; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static unsigned char memory[65536];

static int answer(void)
{
    tl_allocator block = tl_block(memory, sizeof memory);
    void *piece = block.allocate(block.context, 1000);
    return piece == NULL || tl_version_number() != TL_VERSION_NUMBER;
}

__asm__(".globl _start\n_start:\n\txorl %ebp, %ebp\n\tandq $-16, %rsp\n\tcall freestanding_main\n");

void freestanding_main(void)
{
    long code = answer();
    __asm__ volatile("syscall" : : "a"(60L), "D"(code) : "rcx", "r11", "memory");
}
