/* Declarations, then the implementation, and both again in one file: everything is there once, and no private macro
   is left behind. */
#include "../../timelake.h"
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#include "../../timelake.h"
#if defined(TLI_FN) || defined(TLI_COPY) || defined(TLI_MIN)
#error "a private macro is left"
#endif
