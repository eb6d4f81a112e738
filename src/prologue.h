/* timelake.h - lakehouse tables and sequenced metadata on object storage, without any I/O of its own.

   Do this in one C or C++ file, and include the header anywhere else:

       #define TIMELAKE_IMPLEMENTATION
       #include "timelake.h"

   Generated from src/ by `make`: change the rooms there. Licence (MIT or public domain) at the end. */
#ifndef TIMELAKE_H
#define TIMELAKE_H

