/* The one file of a program that holds the implementation; all others include the header without the macro. */
#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
