/* timelake.h - lakehouse tables and sequenced metadata on object storage, without any I/O of its own.

   Do this in one C or C++ file, and include the header anywhere else:

       #define TIMELAKE_IMPLEMENTATION
       #include "timelake.h"

   Contents: search for a tag. Rooms marked `both` have declarations and code, `code` only code.

@CONTENTS@

   Generated from src/ by `make`: change the rooms there. Licence (MIT or public domain) at the end. */
#ifndef TIMELAKE_H
#define TIMELAKE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
