/* One of two files that share an implementation (or have one each, with TIMELAKE_STATIC). */
#ifdef TIMELAKE_STATIC
#define TIMELAKE_IMPLEMENTATION
#endif
#include "user.h"

int user_one(void)
{
    return tl_version_number() != TL_VERSION_NUMBER || tl_version_text()[0] == 0;
}
