/* xxHash: values of the reference implementation (python-xxhash over libxxhash) for the first bytes of a pattern. */
#include "tl_test.h"

static const struct {
    size_t size;
    uint64_t seed_0_64, seeded_64;
    uint32_t seed_0_32, seeded_32;
} vectors[] = {
    {0, UINT64_C(0xef46db3751d8e999), UINT64_C(0x0b303d920ec349df), 0x02cc5d05u, 0x36b78ae7u},
    {1, UINT64_C(0xe934a84adb052768), UINT64_C(0x9c6678669fcd2e6d), 0xcf65b03eu, 0xb4545aa4u},
    {3, UINT64_C(0x9ff70a635a6209ab), UINT64_C(0x32982c54a2c61497), 0x14744175u, 0x08bf1ab1u},
    {4, UINT64_C(0xae5acdc00a55ac41), UINT64_C(0x688202ac436afc1b), 0xc8f60fc5u, 0x372c1e48u},
    {7, UINT64_C(0xd734a6b26f3da63e), UINT64_C(0xe025869232fee7c7), 0x33328eedu, 0xcf48e418u},
    {8, UINT64_C(0x87116b3365b924eb), UINT64_C(0x58431e11935ed7b9), 0x6edeeb34u, 0x62d51bbdu},
    {12, UINT64_C(0x14b8433b9a14e611), UINT64_C(0x8dc4fe3b2e47fa65), 0x548e862fu, 0xe1c4cf97u},
    {15, UINT64_C(0x94d32e967340935c), UINT64_C(0xe3d25038e4521010), 0xc6c8c121u, 0xe6d8cf67u},
    {16, UINT64_C(0x80129149db102e54), UINT64_C(0x85bb4fbb0b5b0cbb), 0xe7a6603bu, 0x84587447u},
    {17, UINT64_C(0xf4edb04bc614fed3), UINT64_C(0x6d9ba28c1b2a2f56), 0x482a05e4u, 0x8f75a914u},
    {31, UINT64_C(0x2fd3d6a9848e978e), UINT64_C(0xb883545787796b00), 0x572e3ffau, 0x1ce063d6u},
    {32, UINT64_C(0xd64d05cde4e6fd61), UINT64_C(0x4e2d1c546f20d512), 0xe8c01fc1u, 0x016ed80cu},
    {33, UINT64_C(0xb8349b79d9b3425e), UINT64_C(0x2ee3e8dddde250a7), 0xc366ec4eu, 0x934af708u},
    {63, UINT64_C(0xc1e8ec74ecb7548e), UINT64_C(0xb7e587c35a7b3dbc), 0x794cd401u, 0xdb8acd4eu},
    {64, UINT64_C(0x87fb62b7f982596a), UINT64_C(0x34e50122497616d9), 0xecf12ad0u, 0xc725b517u},
    {100, UINT64_C(0xdad76c5e3ed40107), UINT64_C(0x0bab1a3e121cc0a5), 0x24845749u, 0xefe07dcfu},
    {199, UINT64_C(0x9c5f259908e5373e), UINT64_C(0x079d89927c4af687), 0xdd07feeeu, 0x6fa56175u},
};

static void reference_values(void)
{
    uint8_t data[208];
    size_t i, shift;
    for (shift = 0; shift < 8; shift++) { /* at every alignment */
        for (i = 0; i < 200; i++)
            data[shift + i] = (uint8_t)(i * 7 + i / 13);
        for (i = 0; i < TLI_COUNT(vectors); i++) {
            CHECK(tli_hash_xxh64(data + shift, vectors[i].size, 0) == vectors[i].seed_0_64);
            CHECK(tli_hash_xxh64(data + shift, vectors[i].size, UINT64_C(0x9e3779b185ebca8d)) == vectors[i].seeded_64);
            CHECK(tli_hash_xxh32(data + shift, vectors[i].size, 0) == vectors[i].seed_0_32);
            CHECK(tli_hash_xxh32(data + shift, vectors[i].size, 0x9e3779b1u) == vectors[i].seeded_32);
        }
    }
}

static const tl_test_case cases[] = {
    TL_TEST(reference_values),
};
TL_TEST_MAIN(cases)
