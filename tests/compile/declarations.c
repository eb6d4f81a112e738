/* The declarations alone, included twice. */
#include "../../timelake.h"
#include "../../timelake.h"

uint32_t declarations_only(const tl_error *err);
uint32_t declarations_only(const tl_error *err)
{
    return tl_version_number() + (uint32_t)err->status;
}
