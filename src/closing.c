/* >>closing: the includer gets its warnings back, and private macros go. TLI_KEEP_MACROS (the tests) leaves them. */
#ifndef TLI_KEEP_MACROS
@UNDEFINE@
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
