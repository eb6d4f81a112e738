#define TIMELAKE_IMPLEMENTATION
#include "timelake.h"
