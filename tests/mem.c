/* The allocator, the fixed block, growing buffers, stores. */
#include "tl_test.h"

static void block_is_a_stack(void)
{
    static unsigned char memory[4096 + 3];
    tl_allocator a = tl_block(memory + 3, 4096);
    void *first = a.allocate(a.context, 100), *second = a.allocate(a.context, 50), *third;
    CHECK(first != NULL && second != NULL && ((uintptr_t)first & 15) == 0);
    CHECK(a.resize(a.context, second, 50, 500) == second);
    a.deallocate(a.context, second, 500);
    third = a.allocate(a.context, 60);
    CHECK(third == second);
    CHECK(a.resize(a.context, first, 100, 200) != first);
    CHECK(a.allocate(a.context, 1u << 20) == NULL);
    {
        tl_error err;
        CHECK_STATUS(tli_mem_failed(&a, &err), TL_BLOCK_FULL, &err);
        CHECK(err.need > 1u << 20);
    }
    CHECK(tl_block_peak(&a) >= 600);
    a = tl_block(memory, 10);
    CHECK(a.allocate(a.context, 1) == NULL);
}

static void buffer_grows(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_buffer b;
    size_t i;
    memset(&b, 0, sizeof b);
    b.allocator = tl_test_allocator(&m);
    for (i = 0; i < 10000; i++)
        CHECK_STATUS(tli_mem_append(&b, "0123456789", 10, NULL), TL_OK, NULL);
    CHECK_INT(b.size, 100000);
    CHECK(memcmp(b.data + 99990, "0123456789", 10) == 0);
    CHECK(m.calls < 40);
    tl_buffer_free(&b);
    CHECK_INT(m.live, 0);
    CHECK_INT(m.bytes, 0);
}

static int released;

static void count_release(void *context, const void *data, size_t size)
{
    CHECK(context == &released && data != NULL && size == 3);
    released++;
}

static void store_releases_once(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tl_allocator a = tl_test_allocator(&m);
    tl_error err;
    tli_store *s = tli_mem_store_new(&a, 100000, "abc", 3, count_release, &released, &err);
    CHECK(s != NULL);
    CHECK(tli_mem_take(s, 10, &err) != NULL && tli_mem_take(s, 60000, &err) != NULL
          && tli_mem_take(s, 20, &err) != NULL);
    CHECK_INT(m.live, 3); /* the store, a chunk of small pieces, a large piece */
    CHECK(tli_mem_take(s, 60000, &err) == NULL);
    CHECK_INT(err.status, TL_LIMIT);
    CHECK(tli_mem_take_array(s, UINT64_MAX / 2, 16, &err) == NULL);
    tli_mem_store_keep(s);
    tli_mem_store_drop(s);
    CHECK_INT(released, 0);
    tli_mem_store_drop(s);
    CHECK_INT(released, 1);
    CHECK_INT(m.live, 0);
}

static void limits_stay_sane(void)
{
    tl_limits most, r;
    memset(&most, 0xff, sizeof most);
    r = tl_limits_resolve(&most);
    CHECK(r.rows == (uint64_t)1 << 56 && r.depth == 256 && r.decoded_bytes <= SIZE_MAX / 2
          && r.object_bytes <= SIZE_MAX / 2);
    r = tl_limits_resolve(NULL);
    CHECK(r.rows == (uint64_t)1 << 40 && r.depth == 64 && r.sections == 4096);
}

static const tl_test_case cases[] = {
    TL_TEST(block_is_a_stack),
    TL_TEST(buffer_grows),
    TL_TEST(store_releases_once),
    TL_TEST(limits_stay_sane),
};
TL_TEST_MAIN(cases)
