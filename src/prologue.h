/* timelake.h - lakehouse tables and sequenced metadata on object storage, without any I/O of its own.

   Do this in one C or C++ file, and include the header anywhere else:

       #define TIMELAKE_IMPLEMENTATION
       #include "timelake.h"

   C99 or C++11, no dependency, nothing to link. Licence (MIT or public domain, your choice) at the end. Generated from
   src/ by `make`: change the rooms there.

   What it does today: opens Timelake tables (from the head, or through Iceberg's metadata), says which files a filter
   needs, commits; reads, checks and writes head objects (magic TLHD) in the codecs `arrow` and `json`, as typed rows or
   as tables of the Arrow C Data Interface; follows numbered objects; reads and writes timeseries tables of protocol 7.
   Formats as far as those need them: Arrow IPC, Avro, Parquet (footers; plain files are written), zstd, LZ4, deflate,
   snappy.
   What it does not do: open files or sockets, start threads, read the clock or the environment, print, recurse, keep
   state outside what the caller passes, read data files.

   Contents: search for a tag. Of the rooms, `both` has declarations and code, `code` only code. A room calls only rooms
   above it.

     >>quick-start     a head in memory; without malloc; a column as Arrow
     >>ideas           documents, sections, views; what is paid when
     >>memory          allocators, who owns what, how long
     >>errors          statuses and what they ask of the caller
     >>limits          every loop has one
     >>threads         what may be shared
     >>hostile         what holds for bytes that an attacker chose
     >>options         macros to define before including
     >>formats         what is read and written, and where that is specified

@CONTENTS@
     >>implementation  where the code begins

   ---------------------------------------------------------------------------------------------------------------------
   >>quick-start

   A head in memory: no I/O, no setup.

       tl_head head;
       tl_files files;
       tl_error err;
       if (tl_head_decode(&head, bytes, size, NULL, &err) != TL_OK)
           return complain(err.text, err.position);
       if (tl_head_files(&head, &files, &err) == TL_OK)
           for (size_t i = 0; i < files.count; i++) {
               tl_file f;
               tl_files_get(&files, i, &f);
               printf("%.*s %llu rows\n", (int)f.path.size, f.path.data, (unsigned long long)f.records);
           }
       tl_head_free(&head);

   Without malloc: give a block. tl_head_memory says beforehand how large it must be.

       static unsigned char memory[1 << 20];
       tl_head_options options = {0};
       options.allocator = tl_block(memory, sizeof memory);
       tl_head_decode(&head, bytes, size, &options, &err);

   The newest row of each series, to any library that speaks the Arrow C Data Interface:

       tl_section *last;
       struct ArrowSchema schema;
       struct ArrowArray array;
       if (tl_head_last_values(&head, &last, &err) == TL_OK
           && tl_section_export(last, 0, &schema, &array, &err) == TL_OK)
           take_over(&schema, &array);

   ---------------------------------------------------------------------------------------------------------------------
   >>ideas

   A head is a header (which table version, which codec) and a document. A document is a set of string properties and of
   sections, each a named table: an Arrow schema and batches of rows. Codecs turn bytes into documents and back; layout
   1 says which sections a head has and what their columns mean; the views (tl_head_files, ...) read those as C structs.

   Decoding checks the frame: every length, offset and count that says where something lies. Columns stay closed, and
   compressed, until something asks for them. Opening a column (tl_section_column, tl_section_open, a view) decompresses
   and checks all of it, once; that can fail. Reading an open column cannot. Who reads two columns pays for two.

   Numbers that name things are 64 bits wide and exact, in JSON too. Text is UTF-8 and checked. Spans (tl_span) are not
   terminated by a zero byte. Structs may be zeroed with `= {0}`, in C++ `= {}`; zeroed options mean the defaults.

   ---------------------------------------------------------------------------------------------------------------------
   >>memory

   Every function that allocates takes a tl_allocator, alone or in its options: a context and allocate, resize and
   deallocate, the last two with the old size. Zeroed it means malloc, realloc and free. tl_block makes one over a fixed
   block of memory: a stack that comes back as a whole.

   - Bytes that are passed in are borrowed: until the call returns for strings and structs, until tl_head_free (or
     tl_document_free) for the object that was decoded. With `release` in the options they are taken over instead,
     whatever decode answers, and released exactly once.
   - What a decoded object hands out (spans, schemas, arrays, views) is valid until it is freed. Nothing is copied where
     it need not be: a path is a span into the head.
   - tl_section_export hands out arrays that own themselves: they hold what they lie in, outlive document and head, and
     are released by their `release`, on any thread. They hold the allocator too: a tl_block must live as long.
   - A tl_buffer is the output of every encoder: it grows in its own allocator, and tl_buffer_free gives it back. An
     encoder that fails leaves it as long as it was.
   - tl_head_free, tl_document_free and tl_buffer_free accept what is already freed or zeroed.

   ---------------------------------------------------------------------------------------------------------------------
   >>errors

   Functions answer TL_OK or a status (TL_STATUS_LIST) and fill the tl_error, which may be NULL: the status, a constant
   English text, and the position in the caller's bytes. Classes, by tens:

     1x  the caller's mistake: fix the program
     2x  memory or a limit: more of it may help; error.need says how much
     3x  bytes that are not what they claim: this object will never be read
     4x  valid, but not known here: another codec, another layout, a form that this library does not read
     5x  not there
     6x  the store failed, the caller gave up, or too many rounds: the same may work later
     7x  another writer was there, or nobody knows: of commits

   For a reader of a table each of 2x to 5x means the same: no head, take the metadata chain. A function that failed has
   changed nothing that its comment does not name.

   ---------------------------------------------------------------------------------------------------------------------
   >>limits

   tl_limits names the most that one object may cost: its bytes, the memory it decodes to, sections, columns, batches,
   rows, nesting. Zero is the default of each; tl_limits_resolve tells them. Work is linear in the bytes given and the
   bytes decoded, and both are bounded before anything is allocated: a head that announces 2^62 rows is refused, one
   that would expand to a terabyte stops at limits.decoded_bytes.

   ---------------------------------------------------------------------------------------------------------------------
   >>threads

   One object (head, document, buffer, block) belongs to one thread at a time. Different objects are independent: there
   is no global state. Open columns are read-only and may be read by many threads at once. Exported arrays may be
   released on any thread: the count that keeps their memory is atomic, so allocator and `release` must then be safe to
   call from there.

   ---------------------------------------------------------------------------------------------------------------------
   >>hostile

   Any bytes may be given to any decoder: the answer is a status or a document that is valid throughout. Every length,
   offset and count is checked with 64-bit arithmetic before it is used; offsets of lists and strings are monotonic and
   in range, text is UTF-8, dictionary indices are in range, child arrays are long enough, before a value is handed out.
   Nothing recurses. What a decoder allocates is bounded by its input and by limits.decoded_bytes. Only arrays and
   schemas that a caller passes in himself are trusted to point at the memory that they claim.

   ---------------------------------------------------------------------------------------------------------------------
   >>options

   Defined before including. `all`: in each file that includes the header; `one`: in the file with the implementation.

     TIMELAKE_IMPLEMENTATION  one  compiles the code into this file
     TIMELAKE_STATIC          all  everything is `static`: each file has its own copy, so each file has to define
                                   TIMELAKE_IMPLEMENTATION too
     TIMELAKE_NO_HEAD_ARROW   all  removes the arrow codec, and with it Arrow IPC streams, zstd and LZ4
     TIMELAKE_NO_HEAD_JSON    all  removes the json codec
     TIMELAKE_NO_LAKE         all  removes tables: loading, the metadata chain with Avro, planning
     TIMELAKE_NO_COMMIT       all  removes committing to tables (NO_LAKE does too)
     TIMELAKE_NO_PROBE        all  removes the probe of numbered sequences
     TIMELAKE_NO_LOG          all  removes the log of timeseries tables and the checker of its protocol
     TIMELAKE_NO_STDLIB       one  no C library: an allocator must be given everywhere, and the linker must find memcpy,
                                   memmove, memset, memcmp. gcc or clang; compile with -ffreestanding
     TIMELAKE_NO_LZ4          one  removes LZ4: Arrow data compressed with it is TL_UNSUPPORTED
     TIMELAKE_SMALL           one  leaves out code that is there for speed alone: zstd takes two to three times as long
     TIMELAKE_NO_SIMD         one  leaves out the SSE2 code, which x86-64 has beside the portable one
     TIMELAKE_NO_ATOMICS      one  counts are plain: exported arrays are released on the thread that has their head
     TIMELAKE_ASSERT(x)       one  checks promises between rooms; as an expression or statement. None by default

   No option changes a struct, so files compiled with different options can be linked together. A codec that was removed
   answers TL_NO_CODEC.

   ---------------------------------------------------------------------------------------------------------------------
   >>formats

     head object      layout 1, header version 1: Timelake's, as its crates timelake-format and timelake 0.7 write it
     Arrow            C Data Interface; IPC streams: "Arrow Columnar Format", metadata versions 4 and 5, with and
                      without continuation markers, dictionaries with deltas, ZSTD and LZ4_FRAME buffers. Refused:
                      big-endian streams, unions, run-end encoding, list views. (Apache Arrow, arrow.apache.org)
     JSON             RFC 8259, strict
     Parquet          footers, and whole files of plain values without compression (apache/parquet-format)
     zstd             RFC 8878, all of decoding but dictionaries
     LZ4              LZ4 frame format 1.6
     XXH64, XXH32     their specification (xxHash), for the checksums of these two
     bounds           single-value serialization of the Apache Iceberg table specification
*/
#ifndef TIMELAKE_H
#define TIMELAKE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
