/* The other one: with a fixed block, which every build has. */
#ifdef TIMELAKE_STATIC
#define TIMELAKE_IMPLEMENTATION
#endif
#include "user.h"

static unsigned char memory[65536];

int user_two(void)
{
    tl_allocator block = tl_block(memory, sizeof memory);
    void *piece = block.allocate(block.context, 1000);
    return piece == NULL || tl_block_peak(&block) < 1000 || !tl_span_equal(tl_text("a"), tl_text("a"));
}
