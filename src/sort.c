/* >>sort: in place, in O(n log n) whatever the order was: a heap sort. Equal items may change places. */
typedef int (*tli_sort_compare)(const void *a, const void *b); /* below 0: a comes before b */

TLI_FN void tli_sort_swap(uint8_t *a, uint8_t *b, size_t size)
{
    uint8_t kept[64];
    while (size != 0) {
        size_t n = TLI_MIN(size, sizeof kept);
        TLI_COPY(kept, a, n);
        TLI_COPY(a, b, n);
        TLI_COPY(b, kept, n);
        a += n;
        b += n;
        size -= n;
    }
}

/* Moves the item at `at` down the heap of `count` items. */
TLI_FN void tli_sort_sift(uint8_t *items, size_t at, size_t count, size_t size, tli_sort_compare compare)
{
    size_t child;
    for (; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0;
        if (compare(items + at * size, items + child * size) >= 0)
            return;
        tli_sort_swap(items + at * size, items + child * size, size);
    }
}

TLI_FN void tli_sort(void *array, size_t count, size_t size, tli_sort_compare compare)
{
    uint8_t *items = (uint8_t *)array;
    size_t i = 1;
    while (i < count && compare(items + (i - 1) * size, items + i * size) <= 0)
        i++;
    if (i >= count)
        return; /* it was sorted, as it mostly is */
    for (i = count / 2; i > 0; i--)
        tli_sort_sift(items, i - 1, count, size, compare);
    for (i = count; i > 1; i--) {
        tli_sort_swap(items, items + (i - 1) * size, size);
        tli_sort_sift(items, 0, i - 1, size, compare);
    }
}
