/* The implementation alone, as most users have it. */
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
