/* The same without the code that is there for speed alone. */
#define TIMELAKE_SMALL
#include "zstd.c"
