/* FlatBuffers: the bytes of the format's own description, what the builder writes, and lies. */
#include "tl_test.h"

/* A table of {0: i64, 1: text, 2: [{0: i16}], 3: [u64], 4: u8 (absent)}; the name of nothing is 0. */
static void build(tli_flatbuf_builder *b)
{
    uint8_t numbers[16], names[8];
    uint32_t i, list, text, vector, items[2];
    for (i = 0; i < 2; i++) {
        tli_flatbuf_table_begin(b);
        (void)tli_flatbuf_put(b, 0, 2, 7 + i);
        items[i] = tli_flatbuf_table_end(b);
    }
    tli_bits_put32(names, items[0]);
    tli_bits_put32(names + 4, items[1]);
    list = tli_flatbuf_put_offsets(b, names, 2);
    text = tli_flatbuf_put_text(b, tl_text("hello"));
    tli_bits_put_le64(numbers, 1);
    tli_bits_put_le64(numbers + 8, UINT64_MAX);
    vector = tli_flatbuf_put_list(b, numbers, 2, 8, 8, 0);
    tli_flatbuf_table_begin(b);
    (void)tli_flatbuf_put(b, 0, 8, (uint64_t)-5);
    tli_flatbuf_put_offset(b, 3, vector);
    tli_flatbuf_put_offset(b, 2, list);
    tli_flatbuf_put_offset(b, 1, text);
    tli_flatbuf_finish(b, tli_flatbuf_table_end(b));
}

/* Everything there is to read; 0 when the buffer was found bad. */
static int read_all(const uint8_t *data, uint32_t size, int *right)
{
    tli_flatbuf in;
    tli_flatbuf_table t = tli_flatbuf_root(&in, data, size);
    tl_span text;
    tli_flatbuf_vector list = tli_flatbuf_list(&t, 2, 4), numbers = tli_flatbuf_list(&t, 3, 8);
    uint64_t sum = 0;
    uint32_t i;
    text = tli_flatbuf_text(&t, 1);
    for (i = 0; i < text.size; i++)
        sum += (unsigned char)text.data[i];
    for (i = 0; i < list.count; i++) {
        tli_flatbuf_table item = tli_flatbuf_item(&in, &list, i);
        sum += (uint64_t)(int64_t)tli_flatbuf_i16(&item, 0, 0);
    }
    for (i = 0; i < numbers.count; i++)
        sum += tli_bits_le64(numbers.data + 8 * i);
    *right = tli_flatbuf_i64(&t, 0, 0) == -5 && text.size == 5 && memcmp(text.data, "hello", 5) == 0 && list.count == 2
             && numbers.count == 2 && tli_flatbuf_u8(&t, 4, 99) == 99 && tli_flatbuf_i32(&t, 900, 3) == 3
             && tli_flatbuf_child(&t, 5).at == 0 && sum == 532 + 7 + 8 + 0;
    return !in.bad;
}

static void written_and_read(void)
{
    tl_test_memory m = {0, 0, 0, 0, 0, 0};
    tli_flatbuf_builder b;
    uint8_t *data;
    int right;
    size_t at;
    memset(&b, 0, sizeof b);
    b.allocator = tl_test_allocator(&m);
    build(&b);
    CHECK_INT(b.status, TL_OK);
    CHECK_INT(b.used % 8, 0);
    for (at = 0; at < 8; at++) { /* any address; the block ends with the buffer */
        data = (uint8_t *)malloc(b.used + at);
        memcpy(data + at, b.data + b.capacity - b.used, b.used);
        CHECK(read_all(data + at, b.used, &right) && right);
        free(data);
    }
    tli_flatbuf_end(&b);
    CHECK_INT(m.live, 0);
}

static void cut_and_flipped(void)
{
    tli_flatbuf_builder b;
    uint32_t n, bit;
    int right;
    memset(&b, 0, sizeof b);
    b.allocator = tli_mem_allocator(NULL);
    build(&b);
    for (n = 0; n < b.used; n++) {
        uint8_t *data = (uint8_t *)malloc(n == 0 ? 1 : n);
        memcpy(data, b.data + b.capacity - b.used, n);
        CHECK(!read_all(data, n, &right) || !right);
        free(data);
    }
    for (n = 0; n < b.used; n++)
        for (bit = 0; bit < 8; bit++) {
            uint8_t *data = (uint8_t *)malloc(b.used);
            memcpy(data, b.data + b.capacity - b.used, b.used);
            data[n] = (uint8_t)(data[n] ^ (1u << bit));
            (void)read_all(data, b.used, &right);
            free(data);
        }
    tli_flatbuf_end(&b);
}

/* The example of the FlatBuffers "Internals" page: root offset, vtable, table with an int16 and an offset. */
static void bytes_of_the_format(void)
{
    static const uint8_t bytes[] = {
        12, 0, 0, 0,             /* root at 12 */
        8, 0, 12, 0, 4, 0, 8, 0, /* vtable at 4: 8 bytes, table of 12, members at 4 and 8 */
        8, 0, 0, 0,              /* table: vtable 8 before */
        0x39, 0x05, 0, 0,        /* 1337 */
        4, 0, 0, 0,              /* text 4 further */
        2, 0, 0, 0, 'h', 'i', 0, 0};
    tli_flatbuf in;
    tli_flatbuf_table t = tli_flatbuf_root(&in, bytes, sizeof bytes);
    tl_span text;
    text = tli_flatbuf_text(&t, 1);
    CHECK_INT(tli_flatbuf_i16(&t, 0, 0), 1337);
    CHECK_TEXT(text.data, text.size, "hi");
    CHECK(!in.bad);
}

static void allocations_failing(void)
{
    long i;
    for (i = 1; i < 20; i++) {
        tl_test_memory m = {0, i, 0, 0, 0, 0};
        tli_flatbuf_builder b;
        memset(&b, 0, sizeof b);
        b.allocator = tl_test_allocator(&m);
        m.calls = 0;
        m.fail_at = i;
        build(&b);
        CHECK_INT(b.status, m.calls >= i ? TL_NO_MEMORY : TL_OK);
        tli_flatbuf_end(&b);
        CHECK_INT(m.live, 0);
    }
}

static const tl_test_case cases[] = {
    TL_TEST(written_and_read),
    TL_TEST(cut_and_flipped),
    TL_TEST(bytes_of_the_format),
    TL_TEST(allocations_failing),
};
TL_TEST_MAIN(cases)
