/* >>implementation: everything below is compiled in one file only, the one that defines TIMELAKE_IMPLEMENTATION.

   The rooms follow lowest floor first; a room calls only rooms above it. Private names are tli_<room>_... */
#if defined(__clang__)
#pragma clang diagnostic push
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#endif
#if defined(__GNUC__) || defined(__clang__)
/* Matters of taste that C++ compilers and -Weverything have with C; what finds faults stays on. */
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#if defined(__clang__) || __GNUC__ >= 5
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuseless-cast"
#endif
#else
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
#endif
