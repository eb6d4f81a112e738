/* The sort against qsort: items of every size, orders of every kind. */
#include "tl_test.h"

enum { MOST = 300 };

/* Items begin with what they are sorted by; the rest of each has to stay with it. */
static int by_first_byte(const void *a, const void *b)
{
    return (int)*(const uint8_t *)a - (int)*(const uint8_t *)b;
}

static void check(uint8_t *items, size_t count, size_t size)
{
    static uint8_t wanted[MOST];
    size_t i, k;
    for (i = 0; i < count; i++) {
        wanted[i] = items[i * size];
        for (k = 1; k < size; k++)
            items[i * size + k] = (uint8_t)(items[i * size] + k);
    }
    qsort(wanted, count, 1, by_first_byte);
    tli_sort(items, count, size, by_first_byte);
    for (i = 0; i < count; i++)
        for (k = 0; k < size; k++)
            if (items[i * size + k] != (uint8_t)(wanted[i] + k)) {
                CHECK_INT(items[i * size + k], (uint8_t)(wanted[i] + k));
                return;
            }
}

static void every_order(void)
{
    static const size_t sizes[] = {1, 8, 16, 63, 64, 65, 150};
    static uint8_t items[MOST * 150];
    size_t s, count, i;
    uint64_t random = 1;
    int order;
    for (s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (count = 0; count <= MOST; count += count < 20 ? 1 : 35)
            for (order = 0; order < 5; order++) {
                for (i = 0; i < count; i++) {
                    random = random * 6364136223846793005u + 1442695040888963407u;
                    items[i * sizes[s]] = order == 0   ? (uint8_t)(random >> 56)
                                          : order == 1 ? (uint8_t)i
                                          : order == 2 ? (uint8_t)(count - i)
                                          : order == 3 ? (uint8_t)7
                                                       : (uint8_t)(random >> 62);
                }
                check(items, count, sizes[s]);
            }
}

static const tl_test_case cases[] = {TL_TEST(every_order)};
TL_TEST_MAIN(cases)
