/* The program around one.c and two.c. */
#ifdef TIMELAKE_STATIC
#define TIMELAKE_IMPLEMENTATION
#endif
#include "user.h"

int main(void)
{
    return user_one() != 0 ? 1 : user_two() != 0 ? 2 : 0;
}
