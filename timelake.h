/* timelake.h - lakehouse tables and sequenced metadata on object storage, without any I/O of its own.

   Do this in one C or C++ file, and include the header anywhere else:

       #define TIMELAKE_IMPLEMENTATION
       #include "timelake.h"

   C99 or C++11, no dependency, nothing to link. Licence (MIT or public domain, your choice) at the end. Generated from
   src/ by `make`: change the rooms there.

   What it does today: reads, checks and writes the head object of Timelake tables (magic TLHD) in its codecs `arrow`
   and `json`, as typed rows or as tables of the Arrow C Data Interface; Arrow IPC streams, zstd frames and LZ4 frames
   as far as heads need them.
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

     >>base       both  compiler probes and the API marker
     >>err        both  status codes and the error record
     >>bits       code  loads and stores of any alignment in a given byte order, and arithmetic that says when it overflows
     >>mem        both  who gives memory, and how much may be used
     >>text       both  spans
     >>number     code  the exact text of numbers, both ways
     >>time       both  units of time
     >>hash       code  xxHash of 64 and of 32 bits, as its specification describes them
     >>json       both  strict JSON (RFC 8259)
     >>zstd       both  frames of RFC 8878
     >>lz4        code  
     >>inflate    code  raw DEFLATE streams of RFC 1951, without a zlib or gzip wrapper
     >>snappy     code  raw Snappy blocks (google/snappy, format_description.txt)
     >>flatbuf    code  reading FlatBuffers that nobody vouches for, and writing them back to front (Arrow's metadata)
     >>arrow      both  the Arrow C Data Interface, types, and arrays
     >>value      both  the text of single values, exact
     >>build      code  arrays of exactly the size of what goes in, made in two passes
     >>ipc        code  Arrow IPC streams (arrow.apache.org, "Columnar format"
     >>ipcvalue   code  the values of Arrow streams
     >>ipcdict    code  columns of Arrow streams
     >>ipcwrite   code  writing Arrow IPC streams
     >>avro       both  Avro object container files (Apache Avro specification 1.11), read value by value
     >>doc        both  the head document
     >>stream     both  Arrow IPC streams as documents (arrow.apache.org, "Arrow Columnar Format", Serialization and IPC)
     >>jsontype   code  schemas of the head's `json` codec
     >>jsonread   code  values of the `json` codec's rows
     >>jsonrows   code  the way through the rows of the `json` codec, dictionaries, opening a section
     >>jsonemit   code  writing for the `json` codec
     >>headjson   code  the `json` codec of the head
     >>headarrow  code  the head codec `arrow`
     >>head       both  the head object
     >>view       both  the sections of layout 1 with their types, reading and writing
     >>keys       code  names of a table's objects, both ways
     >>contract   both  what a table's properties mean (the `timelake.` ones)
     >>metadata   both  a table's Iceberg metadata, vN.metadata.json
     >>iceberg    code  manifest lists and manifests, into the sections of a head's layout
     >>table      both  one version of a table
     >>scan       both  which files of a table a filter needs
     >>op         both  operations
     >>probe      both  the newest object of a numbered sequence, for the price of one GET when nothing changed
     >>lake       both  what a process knows
     >>load       both  opening a table
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
     TIMELAKE_STATIC          all  everything is `static`: each file has its own copy, and defines
                                   TIMELAKE_IMPLEMENTATION too
     TIMELAKE_NO_HEAD_ARROW   all  removes the arrow codec, and with it Arrow IPC streams, zstd and LZ4
     TIMELAKE_NO_HEAD_JSON    all  removes the json codec
     TIMELAKE_NO_LAKE         all  removes tables: loading, the metadata chain with Avro, planning
     TIMELAKE_NO_PROBE        all  removes the probe of numbered sequences
     TIMELAKE_NO_STDLIB       one  no C library: an allocator must be given everywhere, and the linker must find memcpy,
                                   memmove, memset, memcmp. gcc or clang; compile with -ffreestanding
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

/* >>base: compiler probes and the API marker. Only freestanding headers are needed by the declarations. */
#include <stddef.h>
#include <stdint.h>

#define TL_VERSION_MAJOR 0
#define TL_VERSION_MINOR 1
#define TL_VERSION_PATCH 0
#define TL_VERSION_NUMBER (TL_VERSION_MAJOR * 1000000 + TL_VERSION_MINOR * 1000 + TL_VERSION_PATCH)
#define TL_VERSION_TEXT "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define TLI_UNUSED __attribute__((unused))
#else
#define TLI_UNUSED
#endif

#ifdef TIMELAKE_STATIC
#define TL_API TLI_UNUSED static
#elif defined(__cplusplus)
#define TL_API extern "C"
#else
#define TL_API extern
#endif

/* The version of the implementation that was linked, as TL_VERSION_NUMBER and TL_VERSION_TEXT of its own header. */
TL_API uint32_t tl_version_number(void);
TL_API const char *tl_version_text(void);

/* >>err: status codes and the error record.

   Every function that can fail returns a tl_status and fills an optional tl_error. Numbers are given once and never
   change their meaning; the tens say the class: 1x the caller's mistake, 2x memory and limits, 3x bytes that are not
   what they claim to be, 4x valid but not supported here, 5x not there,
   6x the store or the driver, 7x other writers. */
#define TL_STATUS_LIST(X)                                                                                              \
    X(TL_OK, 0, "ok")                                                                                                  \
    X(TL_MISUSE, 10, "misuse")                           /* an argument or a call order the manual forbids */          \
    X(TL_NO_MEMORY, 20, "no memory")                     /* the allocator gave none */                                 \
    X(TL_BLOCK_FULL, 21, "block full")                   /* a tl_block is too small: error.need has the bytes */       \
    X(TL_LIMIT, 22, "limit")                             /* a named limit of tl_limits would be passed */              \
    X(TL_CORRUPT, 30, "corrupt")                         /* malformed bytes */                                         \
    X(TL_TRUNCATED, 31, "truncated")                     /* the bytes end too early */                                 \
    X(TL_CHECKSUM, 32, "checksum")                       /* a checksum does not match */                               \
    X(TL_NOT_A_HEAD, 33, "not a head")                   /* no head header at the start */                             \
    X(TL_REFUSED, 34, "refused")                         /* the caller's decoder did not take the bytes */             \
    X(TL_UNSUPPORTED, 40, "unsupported")                 /* a valid form that this library does not read or write */   \
    X(TL_NO_CODEC, 41, "no codec")                       /* a codec that is not registered */                          \
    X(TL_LAYOUT, 42, "layout")                           /* a head of an unknown layout */                             \
    X(TL_ABSENT, 50, "absent")                           /* a section, column, member or object that is not there */   \
    X(TL_STORE, 60, "store")                             /* the store failed, or answered what it must not */          \
    X(TL_CANCELLED, 61, "cancelled")                     /* given up on the caller's word */                           \
    X(TL_GAVE_UP, 62, "gave up")                         /* a bound on rounds was reached */                           \
    X(TL_CONFLICT, 70, "conflict")                       /* another writer won; nothing of ours is in */               \
    X(TL_EXISTS, 71, "exists")                           /* what was to be created is there already */                 \
    X(TL_AMBIGUOUS, 72, "ambiguous")                     /* it may be in: ask again, delete nothing */

typedef enum tl_status {
#define TLI_STATUS_ENUM(name, number, text) name = number,
    TL_STATUS_LIST(TLI_STATUS_ENUM)
#undef TLI_STATUS_ENUM
    TLI_STATUS_FORCE_INT = 0x7fffffff
} tl_status;

/* TL_NO_POSITION: the error has no place in the input. */
#define TL_NO_POSITION UINT64_MAX

/* What went wrong. `text` is a constant string in English, never NULL once filled. `position` counts bytes from the
   start of the object the caller passed (inside compressed data: where that buffer lies), or is TL_NO_POSITION.
   `need`: for TL_BLOCK_FULL and TL_LIMIT the bytes (or the count) that would have been needed, else 0. */
typedef struct tl_error {
    tl_status status;
    const char *text;
    uint64_t position;
    uint64_t need;
} tl_error;

/* "corrupt", "limit", ...; "unknown" for a number not in the list. */
TL_API const char *tl_status_text(tl_status status);

/* >>bits: private room, nothing public. */

/* >>mem: who gives memory, and how much may be used. */

/* An allocator. Zeroed: malloc, realloc and free (not with TIMELAKE_NO_STDLIB, where one must be given).
   allocate: memory aligned for any object, or NULL. Size is never 0.
   resize: as realloc; the old block stays valid when it answers NULL. NULL member: allocate, copy, deallocate.
   deallocate: gets the size that was asked for. Called from whichever thread drops the last reference. */
typedef struct tl_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size);
    void *(*resize)(void *context, void *memory, size_t old_size, size_t size);
    void (*deallocate)(void *context, void *memory, size_t size);
} tl_allocator;

/* An allocator over a fixed block: a stack, whose last piece can be resized or given back; other pieces come back only
   with the whole block. Its state lies at the start of the block. A block that is too small is TL_BLOCK_FULL.
   `memory` needs no alignment. Fewer than 64 bytes, or NULL: an allocator that always answers NULL.  */
TL_API tl_allocator tl_block(void *memory, size_t size);

/* The most bytes that were in use at once in a tl_block, its own state included; 0 for another allocator. */
TL_API size_t tl_block_peak(const tl_allocator *allocator);

/* Gives back a body that the library took over. `context`, `data` and `size` are as they were handed in. */
typedef void (*tl_release)(void *context, const void *data, size_t size);

/* Named limits. A zero member means its default. */
typedef struct tl_limits {
    uint64_t object_bytes;  /* largest object accepted; 4 GiB */
    uint64_t decoded_bytes; /* memory one decoded object may take; 16 GiB, at most half the address space */
    uint64_t rows;          /* rows of a section over all batches; 2^40 */
    uint32_t sections;      /* sections of a head; 4,096 */
    uint32_t columns;       /* columns of a section, nested ones counted; 65,536 */
    uint32_t batches;       /* record batches of a section, dictionary batches too; 65,536 */
    uint32_t depth;         /* nesting of types and of JSON; 64, at most 256 */
} tl_limits;

/* The limits with every default filled in. */
TL_API tl_limits tl_limits_resolve(const tl_limits *limits);

/* A growing run of bytes: the output of every encoder. Zeroed with an allocator set (or not: malloc) it is empty.
   The caller reads data and size, and gives it back with tl_buffer_free. */
typedef struct tl_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    tl_allocator allocator;
} tl_buffer;

/* Gives the memory back; the buffer is empty then, with its allocator, and may be used again. */
TL_API void tl_buffer_free(tl_buffer *buffer);

/* How Arrow buffers are compressed and decompressed; adapters/timelake_zstd.h fills one with libzstd. Zeroed members
   mean the built-in decoder, and no compression. Functions answer TL_OK or a status with its meaning, and may be
   called from any thread that drives a head.
   decompress: all frames of src, which must give exactly dst_size bytes.
   bound: the most bytes compress may write for src_size.
   compress: one frame. */
typedef struct tl_compression {
    void *context;
    tl_status (*decompress)(void *context, void *dst, size_t dst_size, const void *src, size_t src_size);
    size_t (*bound)(void *context, size_t src_size);
    tl_status (*compress)(void *context, void *dst, size_t dst_capacity, size_t *dst_size, const void *src,
                          size_t src_size);
} tl_compression;

/* >>text: spans. */

/* Bytes somewhere else: text (UTF-8, no terminating zero) or any bytes. data NULL: absent. */
typedef struct tl_span {
    const char *data;
    size_t size;
} tl_span;

/* A span over a C string (NULL: absent). */
TL_API tl_span tl_text(const char *text);

/* 1 when both hold the same bytes. */
TL_API int tl_span_equal(tl_span a, tl_span b);

/* Order by bytes, the shorter first when one begins with the other: <0, 0, >0. */
TL_API int tl_span_compare(tl_span a, tl_span b);

/* >>number: private room, nothing public. */

/* >>time: units of time. */

typedef enum tl_unit { TL_UNIT_SECOND, TL_UNIT_MILLI, TL_UNIT_MICRO, TL_UNIT_NANO } tl_unit;

/* >>hash: private room, nothing public. */

/* >>json: strict JSON (RFC 8259): a check, a tree for documents, a compact form.

   Text is refused, with the offset of the first wrong byte, unless it is one value with nothing but white space around
   it, in valid UTF-8 without a byte order mark, with no lone surrogate among its escapes. Duplicate keys, the order of
   members, and the digits of numbers are kept. Nesting is limited by limits.depth. Nothing here recurses. */

/* What a node is. */
typedef enum tl_json_kind {
    TL_JSON_NULL, TL_JSON_BOOL, TL_JSON_NUMBER, TL_JSON_STRING, TL_JSON_ARRAY, TL_JSON_OBJECT
} tl_json_kind;

/* A value. Nodes lie in the order of the text, everything below a node right behind it; a member of an object is its
   key (a string node) and, right behind it, its value. So `key + 1` is a member's value, and the subtree of a node
   are its `nodes` nodes. */
typedef struct tl_json_node {
    uint32_t start;     /* of the raw text of the value, quotes and brackets included, in bytes from the text's start */
    uint32_t size;      /* of the raw text */
    uint32_t count;     /* of elements, or of members */
    uint32_t nodes;     /* of this value: itself and all below it */
    uint32_t unescaped; /* of a string with escapes: where its text is in the tree's memory, plus 1; else 0 */
    uint8_t kind;       /* tl_json_kind */
    uint8_t truth;      /* of a bool */
} tl_json_node;

/* A parsed document. `root` is its outermost value. Reading it changes nothing: threads may share one. */
typedef struct tl_json {
    const char *text; /* borrowed until tl_json_free */
    size_t size;
    const tl_json_node *root;
    const char *strings; /* the texts of strings with escapes, each behind its size */
    size_t memory;       /* bytes of the one block that holds nodes and strings */
    tl_allocator allocator;
} tl_json;

/* Checks the whole text without keeping anything. TL_CORRUPT, TL_TRUNCATED or TL_LIMIT with the position of the first
   byte that is not JSON. limits may be NULL. */
TL_API tl_status tl_json_check(const char *text, size_t size, const tl_limits *limits, tl_error *err);

/* Appends the text to `out` without white space; strings with the fewest escapes (\" \\ \b \f \n \r \t, \u00xx for
   other control characters), numbers with the digits they have, members in their order, duplicate ones too. On failure
   `out` is as it was. */
TL_API tl_status tl_json_canonical(tl_buffer *out, const char *text, size_t size, const tl_limits *limits,
                                   tl_error *err);

/* Parses a text of less than 4 GiB. The text is borrowed until tl_json_free. One block is taken from the allocator
   (NULL: malloc), of exactly the size that is needed. On failure nothing is held. */
TL_API tl_status tl_json_parse(tl_json *tree, const char *text, size_t size, const tl_limits *limits,
                               const tl_allocator *allocator, tl_error *err);

/* Gives a tree back; a zeroed one, or NULL, is fine. */
TL_API void tl_json_free(tl_json *tree);

/* The raw text of a node, as it stands in the document: what a rewrite copies when it does not change the value. */
TL_API tl_span tl_json_raw(const tl_json *tree, const tl_json_node *node);

/* The first element of an array or the first key of an object, and the one that follows `child`; NULL at the end, and
   for a parent that is neither. */
TL_API const tl_json_node *tl_json_first(const tl_json_node *parent);
TL_API const tl_json_node *tl_json_next(const tl_json_node *parent, const tl_json_node *child);

/* The value of the member called `key`: of the last one when there are several, as most readers have it. NULL when
   there is none, or the node is NULL or no object. */
TL_API const tl_json_node *tl_json_member(const tl_json *tree, const tl_json_node *object, tl_span key);

/* Element `index` of an array, or NULL. */
TL_API const tl_json_node *tl_json_at(const tl_json_node *array, uint32_t index);

/* 1 when the node is there and not null. */
TL_API int tl_json_present(const tl_json_node *node);

/* The value of a node as what it has to be: TL_CORRUPT at the node's position when it is anything else, TL_ABSENT for
   a node that is NULL.
   int64: digits alone; a fraction, an exponent, a string or a value out of range is refused, never rounded.
   string: the text without its escapes, valid as long as the tree. */
TL_API tl_status tl_json_int64(const tl_json *tree, const tl_json_node *node, int64_t *value, tl_error *err);
TL_API tl_status tl_json_string(const tl_json *tree, const tl_json_node *node, tl_span *value, tl_error *err);
TL_API tl_status tl_json_bool(const tl_json *tree, const tl_json_node *node, int *value, tl_error *err);

/* >>zstd: frames of RFC 8878. */

#ifndef TIMELAKE_NO_HEAD_ARROW
/* Decodes all frames of `src`, skippable ones skipped, into `dst`; *dst_size says how many bytes came out. More than
   dst_capacity is TL_LIMIT. Takes about 150 KiB of the allocator (NULL: malloc) while it runs, and no more whatever the
   frames claim. A window descriptor above 128 MiB is TL_LIMIT; frames that need a dictionary, and those from before
   zstd 1.0, are TL_UNSUPPORTED. No frame at all is TL_OK and 0 bytes. After an error *dst_size is 0 and the bytes of
   dst are unspecified. */
TL_API tl_status tl_zstd_decompress(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                                    const tl_allocator *allocator, tl_error *err);

/* What the frame headers say the content is: the sum, or UINT64_MAX when a frame does not say. The content itself is
   not looked at: do not allocate by it without a limit of your own. */
TL_API tl_status tl_zstd_content_size(const void *src, size_t src_size, uint64_t *size, tl_error *err);
#endif

/* >>lz4: private room, nothing public. */

/* >>inflate: private room, nothing public. */

/* >>snappy: private room, nothing public. */

/* >>flatbuf: private room, nothing public. */

/* >>arrow: the Arrow C Data Interface, types, and arrays.

   Tables are structs of the Arrow C Data Interface (arrow.apache.org, "The Arrow C data interface"), in the byte order
   of this machine. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

/* Types by their Arrow name. */
typedef enum tl_type_id {
    TL_TYPE_NULL, TL_TYPE_BOOL,
    TL_TYPE_INT8, TL_TYPE_INT16, TL_TYPE_INT32, TL_TYPE_INT64,
    TL_TYPE_UINT8, TL_TYPE_UINT16, TL_TYPE_UINT32, TL_TYPE_UINT64,
    TL_TYPE_FLOAT16, TL_TYPE_FLOAT32, TL_TYPE_FLOAT64,
    TL_TYPE_DECIMAL32, TL_TYPE_DECIMAL64, TL_TYPE_DECIMAL128, TL_TYPE_DECIMAL256,
    TL_TYPE_DATE32, TL_TYPE_DATE64, TL_TYPE_TIME32, TL_TYPE_TIME64, TL_TYPE_TIMESTAMP, TL_TYPE_DURATION,
    TL_TYPE_INTERVAL_MONTHS, TL_TYPE_INTERVAL_DAY_TIME, TL_TYPE_INTERVAL_MONTH_DAY_NANO,
    TL_TYPE_UTF8, TL_TYPE_LARGE_UTF8, TL_TYPE_UTF8_VIEW,
    TL_TYPE_BINARY, TL_TYPE_LARGE_BINARY, TL_TYPE_BINARY_VIEW, TL_TYPE_FIXED_BINARY,
    TL_TYPE_LIST, TL_TYPE_LARGE_LIST, TL_TYPE_FIXED_LIST,
    TL_TYPE_STRUCT, TL_TYPE_MAP
} tl_type_id;

typedef struct tl_type {
    tl_type_id id;
    tl_unit unit;      /* of times, timestamps and durations */
    int32_t width;     /* bytes of a value in buffers[1]; 0: bit (bool), no values (null) or a nested/variable type */
    int32_t size;      /* fixed-size binary: bytes; fixed-size list: elements */
    int32_t precision; /* of decimals */
    int32_t scale;
    tl_span zone;      /* of timestamps, in the schema's format text; absent: without zone */
} tl_type;

/* The type a schema node's format text says; of a dictionary column that is the type of the indices.
   TL_UNSUPPORTED for unions, run-end encoding, list views; TL_MISUSE for text that is no format. */
TL_API tl_status tl_type_of(const struct ArrowSchema *schema, tl_type *type, tl_error *err);

/* The number of the child called `name` of a struct node (the first of them), or -1. */
TL_API int64_t tl_schema_find(const struct ArrowSchema *schema, tl_span name);

/* The value of `key` in a node's metadata, absent if there is none. */
TL_API tl_span tl_schema_metadata(const struct ArrowSchema *schema, tl_span key);

/* Pair i of a node's metadata (in their stored order); 0 when there are no more. */
TL_API int tl_schema_metadata_at(const struct ArrowSchema *schema, int32_t i, tl_span *key, tl_span *value);

/* A copy that owns itself (release it as the interface says; children may be moved out). allocator NULL: malloc.
   TL_MISUSE for a schema that was released; TL_LIMIT for one nested deeper than 256. */
TL_API tl_status tl_schema_copy(struct ArrowSchema *out, const struct ArrowSchema *schema,
                                const tl_allocator *allocator, tl_error *err);

/* >>value: the text of single values, exact. */

/* Room that every text of tl_value_text fits in. */
#define TL_VALUE_TEXT 96

/* Writes the text of one fixed-width value to `out` (TL_VALUE_TEXT bytes, no terminating zero) and answers its length.
   `value` points at type->width bytes in the byte order of this machine, of any alignment.
   Integers, decimals (`-0.96`): all digits. Floating point: the shortest text that reads back as the same value (`0.1`,
   `1e+27`, `NaN`, `-inf`). Dates, times, timestamps: ISO 8601 (`2026-01-01T05:30:00.000001Z`, years beyond 9999 with a
   sign). Durations `PT0.5S`, intervals `1 years 1 mons`, `14 mons -2 days 3.000000001 secs`.
   0: no text for this value (a time outside the day, a timestamp in a named zone) or this type (bool, text,
   binary, nested). */
TL_API size_t tl_value_text(char *out, const tl_type *type, const void *value);

/* >>build: private room, nothing public. */

/* >>ipc: private room, nothing public. */

/* >>ipcvalue: private room, nothing public. */

/* >>ipcdict: private room, nothing public. */

/* >>ipcwrite: private room, nothing public. */

/* >>avro: Avro object container files (Apache Avro specification 1.11), read value by value.

   The writer's schema drives: each value comes with its node, whose field_id is Iceberg's `field-id`, `element-id`,
   `key-id` or `value-id` there. Codecs: null, deflate, snappy (with its CRC), zstandard. Nothing recurses: nesting is
   limited by limits.depth, and a type that contains itself is TL_UNSUPPORTED. */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_avro_kind {
    TL_AVRO_NULL, TL_AVRO_BOOLEAN, TL_AVRO_INT, TL_AVRO_LONG, TL_AVRO_FLOAT, TL_AVRO_DOUBLE, TL_AVRO_BYTES,
    TL_AVRO_STRING, TL_AVRO_FIXED, TL_AVRO_ENUM, TL_AVRO_RECORD, TL_AVRO_ARRAY, TL_AVRO_MAP, TL_AVRO_UNION
} tl_avro_kind;

/* A type where it is used. Children: fields of a record, branches of a union, the element of an array, the value of
   a map. */
typedef struct tl_avro_node {
    tl_avro_kind kind;
    int32_t field_id;   /* -1: none */
    int32_t size;       /* of fixed: bytes */
    uint32_t first;     /* index of the first child in tl_avro.nodes; the others follow by `next` */
    uint32_t count;
    uint32_t next;      /* index of the next sibling */
    uint32_t least;     /* fewest bytes a value takes */
    tl_span name;       /* of the field, else of the type */
    const tl_json_node *symbols; /* of enums */
} tl_avro_node;

typedef enum tl_avro_event {
    TL_AVRO_VALUE, /* a null, boolean, number, bytes, string, fixed, enum */
    TL_AVRO_BEGIN, /* of a record, array or map */
    TL_AVRO_END,
    TL_AVRO_KEY,   /* of a map entry: `bytes` */
    TL_AVRO_ROW,   /* a row is whole */
    TL_AVRO_EOF    /* no more rows */
} tl_avro_event;

typedef struct tl_avro_value {
    tl_avro_event event;
    const tl_avro_node *node;  /* of a union the branch that was written */
    const tl_avro_node *field; /* of a union the union itself, else as node */
    int64_t number;            /* boolean, int, long, enum (the symbol's place) */
    double real;               /* float, double */
    tl_span bytes;             /* bytes, string, fixed, key: valid until the next block is begun */
} tl_avro_value;

typedef struct tl_avro_frame {
    const tl_avro_node *node;
    const tl_avro_node *field;
    uint32_t child;  /* of a record: index of the next field */
    uint32_t left;   /* fields to come */
    uint64_t items;  /* of an array or map: entries left in this block */
    uint8_t ended;   /* the last block was read */
    uint8_t keyed;   /* of a map: the key of this entry was read */
} tl_avro_frame;

#define TL_AVRO_DEPTH 64

/* A file that is being read. Read schema, nodes and metadata; the rest is private. */
typedef struct tl_avro {
    const tl_avro_node *nodes; /* nodes[0] is the row */
    uint32_t node_count;
    tl_json schema;            /* the schema text, parsed */
    tl_span schema_text;
    uint64_t rows;             /* that were read whole */
    const uint8_t *start, *at, *end;
    const uint8_t *data, *data_at, *data_end;
    const uint8_t *header;     /* the header's metadata entries */
    const uint8_t *header_end;
    uint64_t block_rows;
    uint64_t row_limit;
    uint64_t decoded_limit;
    uint8_t sync[16];
    uint8_t codec;
    uint8_t begun;             /* a row was begun */
    uint32_t idle;             /* events since `seen` was reached */
    const uint8_t *seen;
    uint32_t depth;
    uint32_t node_capacity;
    tl_buffer block;           /* of a compressed block: its plain bytes */
    tl_error *err;
    tl_avro_frame frames[TL_AVRO_DEPTH];
} tl_avro;

/* Opens a file in memory, which is borrowed until tl_avro_close: header and schema are read. On failure nothing is
   held. */
TL_API tl_status tl_avro_open(tl_avro *avro, const void *bytes, size_t size, const tl_limits *limits,
                              const tl_allocator *allocator, tl_error *err);

/* The next value. TL_OK with value->event, TL_AVRO_EOF at the end. After an error only tl_avro_close is of use. */
TL_API tl_status tl_avro_next(tl_avro *avro, tl_avro_value *value, tl_error *err);

/* The file's metadata: the value of a key, absent if there is none. */
TL_API tl_span tl_avro_metadata(const tl_avro *avro, tl_span key);

/* Metadata entry i, in the file's order; 0 past the last. */
TL_API int tl_avro_metadata_at(const tl_avro *avro, uint32_t i, tl_span *key, tl_span *value);

/* Frees what the reader owns. The file's bytes are the caller's again. */
TL_API void tl_avro_close(tl_avro *avro);
#endif /* TIMELAKE_NO_LAKE */

/* >>doc: the head document: string properties and named tables, whatever codec they came from or go to. */

/* One table of a document: a schema (struct node, a child per column) and record batches. Decoded documents open
   columns when asked; documents that are built hold the caller's arrays. Read name, schema, rows and batch_count;
   the rest is private. */
typedef struct tl_section {
    tl_span name;
    const struct ArrowSchema *schema;
    int64_t rows;        /* of all batches */
    int32_t batch_count;
    struct tli_doc_batch *batches;
    struct tli_doc_source *source; /* how columns are opened; NULL: all are there */
    struct tli_store *store;       /* what an exported array keeps alive */
} tl_section;

typedef struct tl_property {
    tl_span key;
    tl_span value;
} tl_property;

/* Sorted by key and by name (bytewise), no two alike. Zeroed it is an empty document whose allocator is malloc; set
   `allocator` first for another. */
typedef struct tl_document {
    int32_t property_count;
    int32_t section_count;
    tl_property *properties;
    tl_section *sections;
    tl_allocator allocator;
    struct tli_store *store;
} tl_document;

/* The value of a property, absent (data NULL) when there is none. */
TL_API tl_span tl_document_property(const tl_document *document, tl_span key);

/* The section called `name`, or NULL. */
TL_API tl_section *tl_document_section(const tl_document *document, tl_span name);

/* Sets a property; both texts are copied. */
TL_API tl_status tl_document_set(tl_document *document, tl_span key, tl_span value, tl_error *err);

/* Adds a section, or replaces the one of that name. The schema is copied; the batches (struct arrays of that schema)
   are borrowed until the document is freed, and are checked for shape here. `batches` may be NULL with count 0. */
TL_API tl_status tl_document_add(tl_document *document, tl_span name, const struct ArrowSchema *schema,
                                 const struct ArrowArray *const *batches, int32_t count, tl_error *err);

/* Frees what the document owns. Arrays handed out stay valid until each is released. */
TL_API void tl_document_free(tl_document *document);

/* Column `column` of batch `batch`, opened when it was not: decompressed and checked, once; the others stay closed.
   Valid as long as its document; buffers may lie at any alignment (load values with memcpy) - tl_section_export
   aligns them. */
TL_API tl_status tl_section_column(tl_section *section, int32_t batch, int32_t column, const struct ArrowArray **array,
                                   tl_error *err);

/* Opens every column of every batch. */
TL_API tl_status tl_section_open(tl_section *section, tl_error *err);

/* Hands a batch out through the C Data Interface: a struct array (and its schema, when `schema` is not NULL) that owns
   itself, outlives the document, may be released on any thread, and whose buffers are 8-byte aligned. Buffers are
   shared where the body was given away with `release` and lies aligned, or was decompressed; else copied. */
TL_API tl_status tl_section_export(tl_section *section, int32_t batch, struct ArrowSchema *schema,
                                   struct ArrowArray *array, tl_error *err);

/* >>stream: Arrow IPC streams as documents (arrow.apache.org, "Arrow Columnar Format", Serialization and IPC). */
#ifndef TIMELAKE_NO_HEAD_ARROW

typedef struct tl_ipc_options {
    tl_release release; /* not NULL: decode takes the bytes over, whatever it returns, and calls this once */
    void *release_context;
    tl_allocator allocator;
    tl_limits limits;
    tl_compression compression;
} tl_ipc_options;

/* Opens a stream as a document with one section named "" (and no properties). Checks all metadata; columns open later.
   The bytes are borrowed until tl_document_free unless options->release is set. */
TL_API tl_status tl_ipc_decode(tl_document *document, const void *bytes, size_t size, const tl_ipc_options *options,
                               tl_error *err);

/* Appends the section as one complete stream to `out`. Buffers are compressed when options->compression.compress is
   set, 64-byte aligned, little-endian, metadata version 5. */
TL_API tl_status tl_ipc_encode(tl_buffer *out, tl_section *section, const tl_ipc_options *options, tl_error *err);
#endif

/* >>jsontype: private room, nothing public. */

/* >>jsonread: private room, nothing public. */

/* >>jsonrows: private room, nothing public. */

/* >>jsonemit: private room, nothing public. */

/* >>headjson: private room, nothing public. */

/* >>headarrow: private room, nothing public. */

/* >>head: the head object: header, codecs, decode and encode.

   A head (`<table>/metadata/timelake-head`) is a cache of one table version: a header, then a document (see doc) in a
   named codec. Built in are `arrow` and `json`; TIMELAKE_NO_HEAD_ARROW and TIMELAKE_NO_HEAD_JSON remove them. Whatever
   keeps a head from being decoded, the table is still there: readers take the metadata chain. Format: the Timelake
   head, layout 1 (README, Sources). */

#define TL_HEAD_HEADER_MAX 269 /* bytes of the longest header: reading that many tells the stored version */

typedef struct tl_header {
    uint64_t version; /* of the table: the head describes v<version>.metadata.json */
    tl_span codec;    /* its name, a span into the bytes; may be empty */
    size_t size;      /* of the header: the body begins there */
} tl_header;

/* Reads the header from the object or from a prefix of it: 4 bytes "TLHD", 1 byte header version (1), 8 bytes table
   version (little-endian), 1 byte length and so many bytes of the codec's name. TL_NOT_A_HEAD for anything else: too
   few bytes, another header version, a name that is not UTF-8. The position says where it stops to be a header. */
TL_API tl_status tl_head_peek(tl_header *header, const void *bytes, size_t size, tl_error *err);

/* A codec of the caller's. Names are compared as they are, case included; the first of options->codecs with the
   header's name decodes, before the built-in ones.
   decode: fills a fresh document with tl_document_set and tl_document_add. The arrays it adds must live until
   release_arrays (if set) is called, once for each call of decode, even one that failed: then, or in tl_head_free.
   The body is valid as long as the arrays are.
   encode: appends to `out`; the columns of `document` are open. What it appended is cut off when it fails.
   Both return a status, and fill `err` (never NULL) unless that is TL_OK. NULL members: TL_UNSUPPORTED. */
typedef struct tl_head_codec {
    const char *name; /* 1 to 255 bytes of UTF-8, lowercase ASCII by convention */
    void *context;
    tl_status (*decode)(void *context, tl_document *document, const void *body, size_t size, tl_error *err);
    tl_status (*encode)(void *context, tl_buffer *out, tl_document *document, tl_error *err);
    void (*release_arrays)(void *context, tl_document *document);
} tl_head_codec;

/* Zeroed: the defaults. */
typedef struct tl_head_options {
    tl_release release; /* not NULL: decode takes the bytes over, whatever it returns, and calls this once */
    void *release_context;
    const tl_head_codec *codecs; /* further codecs; borrowed until tl_head_free */
    size_t codec_count;
    tl_allocator allocator;     /* of everything a decoded head owns */
    tl_limits limits;           /* object_bytes, decoded_bytes, sections, columns, batches, rows, depth */
    tl_compression compression; /* of the arrow codec's buffers, both ways; must work until tl_head_free */
} tl_head_options;

/* A decoded head: read `version`, `codec` and `document`. It is not moved while it is in use. */
typedef struct tl_head {
    uint64_t version;
    tl_span codec;
    tl_document document;
    const tl_head_codec *foreign; /* private: the caller's codec that decoded it */
    struct tli_view *views[3];    /* private: the typed views that are open */
} tl_head;

/* Decodes a head: header, codec, and the whole frame of the document: properties, sections, schemas, row counts. In the
   arrow codec columns are decompressed and checked when they are asked for, in the json codec the rows of a section are
   when its first column is. The bytes are borrowed until tl_head_free unless options->release is set: then they are
   released once, when the head and every array exported from it are gone, or before this returns a failure. options
   NULL: the defaults. On failure `head` is zeroed and nothing is held.

   TL_NOT_A_HEAD; TL_NO_CODEC for a codec that is not built in and not among options->codecs; TL_CORRUPT, TL_TRUNCATED,
   TL_UNSUPPORTED, TL_CHECKSUM with the position in the head; TL_LIMIT, TL_NO_MEMORY, TL_BLOCK_FULL: all mean "no head".
   A document of an unknown layout decodes here; the typed views refuse it (TL_LAYOUT).

   A section with types this library does not read (unions, run-end encoding, ...) stays in an arrow document by its
   name: it has one column that fails to open with TL_UNSUPPORTED. Encoding the document in arrow passes that section's
   bytes on, in another codec it fails with TL_UNSUPPORTED: nothing is lost in silence. */
TL_API tl_status tl_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                tl_error *err);

/* Frees a head (zeroed: nothing to do). Sections, views and spans of it are gone; exported arrays live on. */
TL_API void tl_head_free(tl_head *head);

/* How many bytes a tl_block must have so that decoding this head with these options, opening all its columns and its
   typed views cannot run out; tl_section_export takes more. The frame is decoded to tell (of a json head all), with
   memory of options->allocator that is given back. The bytes are only read, options->release is not called. Fails as
   tl_head_decode does; TL_UNSUPPORTED for codecs of the caller's. */
TL_API tl_status tl_head_memory(const void *bytes, size_t size, const tl_head_options *options, size_t *need,
                                tl_error *err);

/* Appends a head to `out`: header, then the document in the codec called `codec` ("arrow", "json", or one of
   options->codecs). Columns that are not open yet are opened. Arrow buffers are compressed when
   options->compression.compress is set, else stored. Memory comes from out->allocator. options NULL: the defaults.
   When this fails `out` holds what it held before.
   TL_MISUSE for a name that is empty, longer than 255 bytes or not UTF-8; TL_NO_CODEC; TL_UNSUPPORTED for a document
   that the codec cannot hold; and what opening columns says. */
TL_API tl_status tl_head_encode(tl_buffer *out, uint64_t version, tl_span codec, tl_document *document,
                                const tl_head_options *options, tl_error *err);

/* >>view: the sections of layout 1 with their types, reading and writing.

   Columns are found by name and exact type, others are ignored, as are sections that are not named here. All functions
   that open something return TL_LAYOUT for a document of another layout, TL_ABSENT for an optional section that is
   not there, TL_CORRUPT when a section is not as layout 1 says (a column missing or of another type, a null where none
   may be, a file that is not a row of `files`), TL_UNSUPPORTED when it is of types that this library does not read, and
   what opening columns returns. Opening twice gives the same view and costs nothing; a failed opening can be repeated.
   Opening is not for several threads at once; reading is. */

/* A live data file: a row of section `files`. Spans point into the head. */
typedef struct tl_file {
    tl_span path;     /* absolute URI */
    uint64_t size;    /* bytes */
    uint64_t records; /* rows */
    int64_t snapshot_id;
    int64_t sequence_number;
    int64_t file_sequence_number;
    int32_t partition;     /* hours, days or months since 1970, by the table's transform; valid when has_partition */
    int32_t sort_order_id; /* valid when has_sort_order_id */
    uint8_t has_partition; /* 0 also for every file of an unpartitioned table */
    uint8_t has_sort_order_id;
    uint8_t has_split_offsets; /* 0: null, or a head of an older writer; the list below may also be empty */
    uint8_t added;             /* 1: status ADDED, 0: EXISTING, in the writer's list; nothing may depend on it */
    size_t split_count;
    const void *split_offsets; /* split_count int64 of any alignment: tl_file_split_offset reads one */
} tl_file;

/* Statistics of one column of one file: a row of section `columns`. Absent spans and unset bits: null. */
typedef struct tl_column {
    uint32_t file; /* row in `files` */
    int32_t field_id;
    tl_span lower; /* Iceberg single-value serialization */
    tl_span upper;
    uint64_t values, nulls, nans; /* counts, nulls included in values */
    uint64_t size;                /* bytes in the file */
    uint8_t has_values, has_nulls, has_nans, has_size;
} tl_column;

/* A row of section `footers`: the end of a Parquet file (column indexes, offset indexes, FileMetaData, its length,
   "PAR1"; index offsets count from the start of these bytes). */
typedef struct tl_footer {
    tl_span path;
    tl_span footer;
} tl_footer;

/* Views: `count` rows, in the head's order. Getters cost the logarithm of the number of batches, cannot fail, change
   nothing, and zero what they fill for a row past the end. Valid as long as the head. */
typedef struct tl_files {
    size_t count;
    const struct tli_view *view;
} tl_files;

typedef struct tl_columns {
    size_t count;
    const struct tli_view *view;
} tl_columns;

typedef struct tl_footers {
    size_t count;
    const struct tli_view *view;
} tl_footers;

/* The table's metadata, the text of v<version>.metadata.json (keys may be in another order). Valid as long as the head;
   not checked to be JSON. */
TL_API tl_status tl_head_metadata(tl_head *head, tl_span *json, tl_error *err);

/* The live data files: opens all columns of `files`. */
TL_API tl_status tl_head_files(tl_head *head, tl_files *files, tl_error *err);

/* Row `row` of the files. */
TL_API void tl_files_get(const tl_files *files, size_t row, tl_file *file);

/* Offset i of a file's split_offsets, 0 past their end. */
TL_API int64_t tl_file_split_offset(const tl_file *file, size_t i);

/* Which columns of `columns` to open beside file and field_id: TL_COLUMNS_BOUNDS pays for the bounds alone, 0 for
   neither. What was never asked for reads as null; asking for more later opens it in the same view. Every `file` is
   checked to be a row of `files`, whose columns are not opened for that. */
#define TL_COLUMNS_BOUNDS 1u
#define TL_COLUMNS_COUNTS 2u
#define TL_COLUMNS_ALL 3u
TL_API tl_status tl_head_columns(tl_head *head, unsigned which, tl_columns *columns, tl_error *err);

/* Row `row` of the statistics. */
TL_API void tl_columns_get(const tl_columns *columns, size_t row, tl_column *column);

/* The inline footers, those of the newest partitions first. */
TL_API tl_status tl_head_footers(tl_head *head, tl_footers *footers, tl_error *err);

/* Row `row` of the footers. */
TL_API void tl_footers_get(const tl_footers *footers, size_t row, tl_footer *footer);

/* The inline last-value index as a section, for tl_section_column and tl_section_export. Its columns are not opened. It
   counts only if the current snapshot names an index. */
TL_API tl_status tl_head_last_values(tl_head *head, tl_section **section, tl_error *err);

/* What a head says, for writing one. All borrowed during tl_head_write. */
typedef struct tl_head_parts {
    tl_span metadata;           /* v<version>.metadata.json, UTF-8 */
    const tl_file *files;       /* in any order; `has_` members say what is null */
    size_t file_count;
    const tl_column *columns;   /* in any order; written by file (row in `files`), then field id */
    size_t column_count;
    const struct ArrowSchema *last_schema; /* NULL: no index, or its rows are not known */
    const struct ArrowArray *const *last_values; /* struct arrays of that schema, such as tl_section_export gives */
    int32_t last_value_batches;
    const tl_footer *footers;   /* the footers that are known, in any order; those of other files are passed over */
    size_t footer_count;
    uint64_t inline_bytes;      /* the budget B: the table's timelake.head-inline-bytes, or its default below */
} tl_head_parts;

#define TL_HEAD_INLINE_BYTES 1048576u

/* What went in. */
typedef struct tl_head_written {
    int last_values;      /* 1: the index */
    size_t footers;       /* how many */
    uint64_t budget_left; /* bytes */
} tl_head_written;

/* Writes a head of layout 1 by the budget: metadata, files and columns always; the index if it costs at most B (the
   encoded size with it minus without it), which it takes from B; then footers, by (partition, path) descending, no
   partition last, up to the first whose bytes do not fit in what is left of B. A file whose footer is not known is
   passed over. `out`, `codec` and `options` as in tl_head_encode; `written` may be NULL.
   TL_MISUSE for text that is not UTF-8, a file without path, a column of a file that is not there; TL_LIMIT for more
   than 2 GiB of paths, bounds or footers. */
TL_API tl_status tl_head_write(tl_buffer *out, uint64_t version, tl_span codec, const tl_head_parts *parts,
                               const tl_head_options *options, tl_head_written *written, tl_error *err);

/* >>keys: private room, nothing public. */
#ifndef TIMELAKE_NO_LAKE
#endif /* TIMELAKE_NO_LAKE */

/* >>contract: what a table's properties mean (the `timelake.` ones). */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_chunk { TL_CHUNK_NONE, TL_CHUNK_HOUR, TL_CHUNK_DAY, TL_CHUNK_MONTH } tl_chunk;

#define TL_FOREVER INT64_MAX /* a duration that is off, or not set and without end */

/* Spans point into the properties. Durations are milliseconds. Absent columns: data NULL. */
typedef struct tl_contract {
    tl_span time_column;
    tl_span series_key; /* column names with commas between: tl_contract_column reads one */
    tl_span ingest_time_column;
    tl_span head_format; /* as written: codec names are compared without case; "arrow" when not set */
    tl_chunk chunk;
    uint8_t dedup, read_dedup, auto_maintain;
    int64_t retention, snapshot_retention, compact_cold_after, version_check_interval;
    int64_t keep_snapshots_until; /* Unix milliseconds; INT64_MIN: not set */
    uint64_t target_file_bytes, row_group_rows, min_snapshots, max_snapshots, compact_min_files, head_inline_bytes;
    uint32_t format_major, format_minor, format_patch; /* 0.1.0 when not set */
    uint32_t previous_versions_max; /* write.metadata.previous-versions-max: 100 when not set, at least 1 */
} tl_contract;

/* Reads the properties: the `properties` member of a table's metadata (NULL: none). A value that does not parse is
   TL_CORRUPT with the property's name as text and the value's position. */
TL_API tl_status tl_contract_read(tl_contract *contract, const tl_json *metadata, const tl_json_node *properties,
                                  tl_error *err);

/* Series key column i, trimmed; absent past the last. */
TL_API tl_span tl_contract_column(const tl_contract *contract, uint32_t i);

/* TL_OK when this library knows the table's format well enough (it knows 0.3.0), else TL_UNSUPPORTED. */
TL_API tl_status tl_contract_may_read(const tl_contract *contract, tl_error *err);
TL_API tl_status tl_contract_may_write(const tl_contract *contract, tl_error *err);
#endif /* TIMELAKE_NO_LAKE */

/* >>metadata: a table's Iceberg metadata, vN.metadata.json. Source: the Apache Iceberg table spec, formats 1 to 3. */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_iceberg_type {
    TL_ICEBERG_OTHER, /* nested, or of a later format: kept, but nothing is pruned by it */
    TL_ICEBERG_BOOLEAN, TL_ICEBERG_INT, TL_ICEBERG_LONG, TL_ICEBERG_FLOAT, TL_ICEBERG_DOUBLE, TL_ICEBERG_DECIMAL,
    TL_ICEBERG_DATE, TL_ICEBERG_TIME, TL_ICEBERG_TIMESTAMP, TL_ICEBERG_TIMESTAMPTZ, TL_ICEBERG_TIMESTAMP_NS,
    TL_ICEBERG_TIMESTAMPTZ_NS, TL_ICEBERG_STRING, TL_ICEBERG_UUID, TL_ICEBERG_FIXED, TL_ICEBERG_BINARY
} tl_iceberg_type;

/* A top-level column of the current schema. */
typedef struct tl_field {
    tl_span name;
    int32_t id;
    tl_iceberg_type type;
    int32_t precision; /* of decimals; of fixed the bytes */
    int32_t scale;
    uint8_t required;
    const tl_json_node *type_node; /* as written: a string, or the object of a nested type */
} tl_field;

typedef enum tl_transform {
    TL_TRANSFORM_OTHER, TL_TRANSFORM_IDENTITY, TL_TRANSFORM_HOUR, TL_TRANSFORM_DAY, TL_TRANSFORM_MONTH,
        TL_TRANSFORM_YEAR,
    TL_TRANSFORM_VOID
} tl_transform;

/* A table's metadata. Spans and nodes point into its text and tree. */
typedef struct tl_metadata {
    int64_t last_sequence_number;
    int64_t last_updated_ms;
    int64_t current_snapshot_id; /* valid when has_snapshot: an empty table has none */
    int64_t current_schema_id;
    int64_t default_spec_id;
    int64_t default_sort_order_id;
    int32_t format_version;
    uint8_t has_snapshot;
    uint8_t partitioned;          /* the default spec has fields */
    tl_transform transform;       /* of the default spec's only field; OTHER when it has several */
    int32_t partition_source_id;  /* field id of the column that is partitioned by */
    tl_span partition_name;
    tl_span uuid;
    tl_span location;             /* without a slash at its end */
    tl_span manifest_list;        /* of the current snapshot; absent in format 1 with manifests written inline */
    tl_span last_value_index;     /* location of the current snapshot's index; absent if it has none */
    tl_span previous;             /* the metadata file of the version before, from the log; absent if none */
    const tl_field *fields;
    uint32_t field_count;
    const tl_json_node *schema;   /* the current schema */
    const tl_json_node *snapshot; /* the current snapshot, NULL if none */
    const tl_json_node *properties;
    tl_contract contract;
    tl_json json;
} tl_metadata;

/* Parses metadata. The text is borrowed until tl_metadata_free. TL_CORRUPT with the position of what is wrong,
   TL_UNSUPPORTED for a format version above 3, TL_LIMIT. The contract is read, not judged: tl_contract_may_read. */
TL_API tl_status tl_metadata_parse(tl_metadata *metadata, const char *text, size_t size, const tl_limits *limits,
                                   const tl_allocator *allocator, tl_error *err);

/* Frees what parsing took. Zeroed metadata: nothing to do. */
TL_API void tl_metadata_free(tl_metadata *metadata);

/* A table property as it is written, absent if there is none. */
TL_API tl_span tl_metadata_property(const tl_metadata *metadata, tl_span key);

/* The column called `name`, or with this field id; NULL if the current schema has none. */
TL_API const tl_field *tl_metadata_field(const tl_metadata *metadata, tl_span name);
TL_API const tl_field *tl_metadata_field_by_id(const tl_metadata *metadata, int32_t id);
#endif /* TIMELAKE_NO_LAKE */

/* >>iceberg: private room, nothing public. */

/* >>table: one version of a table. */
#ifndef TIMELAKE_NO_LAKE
/* Where a table version came from. */
typedef enum tl_source { TL_FROM_HEAD, TL_FROM_CHAIN } tl_source;

/* One version of one table: immutable but for columns that are opened, and counted. Read what is named here. Views
   (tl_head_files, tl_head_columns, ...) take &table->head, whichever way the version was loaded. Opening a view or a
   column for the first time changes the table: threads that share one do it under a lock of their own. */
typedef struct tl_table {
    uint64_t version;
    tl_span location; /* without a slash at its end */
    tl_source source;
    tl_metadata metadata;
    tl_head head;      /* decoded, or with the sections that were made from the manifests */
    uint8_t has_files; /* sections `files` and `columns` are there */
    size_t count;      /* private from here */
    size_t memory;
    tl_allocator allocator;
    struct tli_blob *body; /* metadata text of a chain load */
    struct tli_store *store;
} tl_table;

/* One count more, one less. The last one frees it. NULL is allowed. */
TL_API tl_table *tl_table_keep(tl_table *table);
TL_API void tl_table_drop(tl_table *table);

/* The newest row per series through the C Data Interface: batch `batch` of the inline index. TL_ABSENT when the
   table has no index or the head did not hold it (metadata.last_value_index then says where it is). */
TL_API tl_status tl_table_last_values(tl_table *table, int32_t batch, struct ArrowSchema *schema,
                                      struct ArrowArray *array, tl_error *err);
#endif /* TIMELAKE_NO_LAKE */

/* >>scan: which files of a table a filter needs: conditions joined by `and`, held against partitions, bounds and
   counts. A file is left out only when no row of it can match. */
#ifndef TIMELAKE_NO_LAKE

typedef enum tl_literal_kind { TL_LITERAL_BOOL, TL_LITERAL_INT, TL_LITERAL_REAL, TL_LITERAL_MICROS,
                              TL_LITERAL_TEXT } tl_literal_kind;

/* A value of a condition. Texts are borrowed until the plan is made. A text also stands for a value of a column that
   is no text: a date `2026-01-02`, a timestamp `2026-01-02T03:04:05.678Z` (or a date alone: its midnight), a decimal
   `12.50`, a uuid, hex bytes. */
typedef struct tl_value {
    tl_literal_kind kind;
    int64_t integer; /* bool, int; micros: microseconds since 1970 */
    double real;
    tl_span text;
} tl_value;

/* Values. Micros are of timestamps and times whatever their unit. */
TL_API tl_value tl_bool(int value);
TL_API tl_value tl_i64(int64_t value);   /* of a date: days; of a time or timestamp: the column's own unit */
TL_API tl_value tl_f64(double value);
TL_API tl_value tl_micros(int64_t value);
TL_API tl_value tl_string(tl_span value);

typedef enum tl_compare {
    TL_EQUAL, TL_LESS, TL_LESS_EQUAL, TL_GREATER, TL_GREATER_EQUAL, TL_IN, TL_IS_NULL, TL_IS_NOT_NULL
} tl_compare;

#define TL_FILTER_MAX 24 /* conditions of a filter */

typedef struct tl_condition_of {
    const tl_field *field;
    tl_compare compare;
    const tl_value *values; /* of TL_IN: the caller's */
    uint32_t count;
    tl_value value;
} tl_condition_of;

/* Conditions on a table. The first thing wrong with one (an unknown column: TL_ABSENT; a value of another type, one
   condition too many: TL_MISUSE) is kept, and reported by the plan. */
typedef struct tl_filter {
    tl_table *table; /* borrowed */
    uint32_t count;
    tl_status status;
    const char *text;
    tl_condition_of conditions[TL_FILTER_MAX];
} tl_filter;

/* A filter without conditions, for plans of this table version. */
TL_API tl_filter tl_filter_begin(tl_table *table);

/* Conditions, each joined by `and` to those before. tl_filter_compare takes =, <, <=, > and >=; between includes both
   ends; the values of `in` are borrowed until the plan is made. */
TL_API void tl_filter_compare(tl_filter *filter, tl_span column, tl_compare compare, tl_value value);
TL_API void tl_filter_equal(tl_filter *filter, const char *column, tl_value value);
TL_API void tl_filter_between(tl_filter *filter, const char *column, tl_value low, tl_value high);
TL_API void tl_filter_in(tl_filter *filter, tl_span column, const tl_value *values, uint32_t count);
TL_API void tl_filter_null(tl_filter *filter, tl_span column, int is_null);

/* A file to read. `footer` absent: the head did not hold it. */
typedef struct tl_plan_file {
    tl_file file;
    tl_span footer;
} tl_plan_file;

/* Newest partition first, then by path; files without a partition last. Keeps its table until tl_plan_free. */
typedef struct tl_plan {
    const tl_plan_file *file;
    size_t count;
    size_t skipped;
    tl_table *table; /* private from here */
    size_t capacity;
    tl_allocator allocator;
} tl_plan;

/* Zero: the defaults. */
typedef struct tl_plan_options {
    uint64_t no_footers; /* 1: footers are not looked up */
    tl_allocator allocator;
} tl_plan_options;

/* Makes a plan; filter NULL: every file. Opens what it needs of the table's head. */
TL_API tl_status tl_plan_scan(tl_plan *plan, tl_table *table, const tl_filter *filter, const tl_plan_options *options,
                              tl_error *err);

/* Frees the plan and lets its table go. */
TL_API void tl_plan_free(tl_plan *plan);
#endif /* TIMELAKE_NO_LAKE */

/* >>op: operations: requests out, completions in. The heart of the library: everything that needs a store is a machine
   that begins with a tl_op, and is moved by the calls below and by nothing else. No I/O, no clock, no randomness
   happens inside; the same inputs give the same outputs.

   Poll:       for (;;) switch (tl_step(op, now, &request)) { case TL_WANTS: send it; case TL_WAITS: wait; else: done }
   Callbacks:  tl_start(op, &io, now); requests come to io.request, the end to io.done.
   Either way: when a transfer ends, tl_complete(op, &completion, now).

   Who owns what: what a request points at is valid until its completion (token 0: until the next call); what a
   completion points at is borrowed until tl_complete returns, unless it brings a release function, which is then called
   exactly once. One thread at a time per operation. Time is Unix milliseconds and may jump. */
#if !defined(TIMELAKE_NO_LAKE) || !defined(TIMELAKE_NO_PROBE)

typedef enum tl_request_kind {
    TL_GET,    /* a whole object, or bytes [offset, offset + length) of it */
    TL_STAT,   /* is it there, its size and ETag: an HTTP HEAD */
    TL_LIST,   /* keys that begin with `key`, in byte order, at most max_keys of them, after `page` */
    TL_PUT,    /* body to key, by condition */
    TL_DELETE, /* an absent key is deleted too */
    TL_SLEEP   /* complete with TL_OUTCOME_OK when `until` has come; a poller may ignore it and use tl_deadline */
} tl_request_kind;

typedef enum tl_condition {
    TL_ALWAYS,
    TL_IF_ABSENT,    /* put: only where no object is (If-None-Match: *) */
    TL_IF_MATCH,     /* put: only over the object with `etag` */
    TL_IF_NONE_MATCH /* get: only when it is not the object with `etag`, else not modified */
} tl_condition;

/* How a request ended. Only TL_OUTCOME_NOT_FOUND means absent. */
typedef enum tl_outcome {
    TL_OUTCOME_OK,
    TL_OUTCOME_NOT_FOUND,
    TL_OUTCOME_NOT_MODIFIED,
    TL_OUTCOME_PRECONDITION, /* the condition did not hold: exists, another ETag, absent under if-match */
    TL_OUTCOME_UNSUPPORTED,  /* the store cannot do this request or this condition */
    TL_OUTCOME_FAILED,       /* and nothing was applied; retry_ms may name a delay after which to send it anew */
    TL_OUTCOME_UNKNOWN,      /* a write that may or may not have been applied */
    TL_OUTCOME_CANCELLED,    /* given up in flight: for a write the same as unknown */
    TL_OUTCOME_NEVER_SENT
} tl_outcome;

/* What a request is for: counters and traces. */
typedef enum tl_purpose {
    TL_PURPOSE_OTHER, TL_PURPOSE_HEAD, TL_PURPOSE_HINT, TL_PURPOSE_LISTING, TL_PURPOSE_CHECK, TL_PURPOSE_METADATA,
    TL_PURPOSE_MANIFEST_LIST, TL_PURPOSE_MANIFEST, TL_PURPOSE_INDEX, TL_PURPOSE_DATA, TL_PURPOSE_COMMIT,
    TL_PURPOSE_CLEAN_UP, TL_PURPOSE_OBJECT, TL_PURPOSE_PROBE, TL_PURPOSE_BOUNDARY, TL_PURPOSE_PAUSE, TL_PURPOSE_WARM
} tl_purpose;

#define TL_WHOLE UINT64_MAX /* length of a get of the whole object */

typedef struct tl_request {
    uint64_t token; /* for the completion; 0: fire and forget, copy it and never complete it */
    tl_request_kind kind;
    tl_condition condition;
    tl_span key; /* absolute URI as literal text (nothing is percent-encoded); of a list the prefix */
    tl_span etag;
    uint64_t offset;
    uint64_t length; /* TL_WHOLE: all of it */
    uint64_t accept; /* the most body bytes this answer may have; more: complete as failed, while receiving */
    const tl_span *body; /* of a put: body_count pieces one after another, body_size bytes in all */
    size_t body_count;
    uint64_t body_size;
    uint32_t max_keys;
    uint32_t round; /* 1 + the latest round it had to wait for; requests of one round may run together */
    tl_span page;   /* of a list: where to go on, as a completion's next_page said; absent: the first page */
    int64_t until;
    tl_purpose purpose;
    uint8_t background; /* 1: nobody waits for it */
} tl_request;

/* An entry of a listing. Absent ETag: not told. */
typedef struct tl_entry {
    tl_span key; /* whole, decoded */
    uint64_t size;
    tl_span etag;
} tl_entry;

typedef struct tl_completion {
    uint64_t token;
    tl_outcome outcome;
    int64_t retry_ms;     /* of failed: send it anew after so many ms; negative: do not */
    tl_span body;         /* of a get */
    uint64_t body_offset; /* where body begins in the object: 0 from a store without ranges */
    uint64_t object_size; /* TL_WHOLE: not told */
    tl_span etag;         /* byte for byte as the store wrote it, quotes included */
    const tl_entry *entries;
    size_t entry_count;
    tl_span next_page; /* absent: the listing is complete */
    tl_span text;      /* what the store said, for people; copied into the error up to 200 bytes */
    tl_release release; /* not NULL: `body` is taken, whatever tl_complete returns, and given back once */
    void *release_context;
} tl_completion;

/* What an operation answers when it is stepped. The last three are final and come only when nothing is out. */
typedef enum tl_turn {
    TL_WANTS, /* *request is to be sent; step again for more */
    TL_WAITS, /* for completions, or for tl_deadline */
    TL_DONE,  /* what was asked for holds */
    TL_NONE,  /* it is not there, or was superseded */
    TL_FAILED /* tl_op_error says why; sticky */
} tl_turn;

typedef struct tl_op tl_op;

/* Callbacks, copied by tl_start. Inside `request` only tl_complete and tl_cancel of that operation may be called.
   `done` comes once and last: it may end the operation and free the machine. */
typedef struct tl_io {
    void *user;
    void (*request)(void *user, tl_op *op, const tl_request *request);
    void (*done)(void *user, tl_op *op, tl_turn result);
} tl_io;

/* Sees every request handed out (completion NULL) and every completion taken. Pointers are valid during the call. */
typedef void (*tl_trace)(void *context, const tl_op *op, const tl_request *request, const tl_completion *completion);

/* What drives an operation, beside what its machine was given. Copied by begin functions. Zero: the default. */
typedef struct tl_op_options {
    uint64_t accept;       /* largest object accepted, bytes; 4 GiB */
    uint64_t step_bytes;   /* bytes one step may decode before it returns; 0: no bound */
    uint32_t in_flight;    /* requests out at once; 32, at most 255 */
    uint32_t retries;      /* times a failed request with a delay is sent anew; 3, UINT32_MAX: never */
    tl_allocator allocator;
    tl_trace trace;
    void *trace_context;
} tl_op_options;

typedef struct tli_op_slot {
    tl_request request; /* with the token it is out under */
    tl_outcome outcome;
    uint8_t state;
    uint8_t more; /* a listing was cut: `page` goes on */
    uint32_t tries;
    uint32_t next; /* behind it in the queue */
    int64_t began;
    int64_t until;
    struct tli_blob *body;
    uint64_t object_size;
    uint64_t number; /* what the machine's `take` made of a listing */
    tl_span etag;    /* owned, with `page` in the same block */
    tl_span page;
} tli_op_slot;

#define TLI_OP_INLINE 2

/* Begins every machine. `user` is the caller's; everything else is private. */
struct tl_op {
    void *user;
    const struct tli_op_machine *machine;
    tl_op_options options;
    tli_op_slot *slots;
    uint32_t slot_count;
    uint32_t slot_capacity;
    uint32_t out;
    uint32_t queued; /* slots in the queue that begins at queue_head */
    uint32_t queue_head;
    uint32_t queue_tail;
    uint32_t sleeping; /* slots that wait for a time */
    uint32_t round;
    uint32_t requests;
    uint64_t sequence;
    int64_t now;
    tl_io io;
    uint8_t driven;
    uint8_t inside;
    uint8_t cancelled;
    uint8_t ended;
    uint8_t cut;
    uint8_t turn;
    tl_error error;
    size_t error_key_size;
    char *error_text;
    tli_op_slot first[TLI_OP_INLINE];
};

/* The next thing to do: see tl_turn. `request` is filled for TL_WANTS alone. */
TL_API tl_turn tl_step(tl_op *op, int64_t now, tl_request *request);

/* Takes in how a request ended. TL_MISUSE, and nothing happens, for a token that is not out (a sleep that is over
   already is accepted). TL_NO_MEMORY when the body could not be copied: the operation then fails by itself. */
TL_API tl_status tl_complete(tl_op *op, const tl_completion *completion, int64_t now);

/* A completion with nothing in it but token and outcome. */
TL_API tl_completion tl_completed(uint64_t token, tl_outcome outcome);

/* Drives the operation by callbacks from here on. TL_MISUSE when it was started or stepped before. */
TL_API tl_status tl_start(tl_op *op, const tl_io *io, int64_t now);

/* When to step at the latest: the earliest sleep; INT64_MAX: no time, only completions; not after now: there is work
   left, step again. */
TL_API int64_t tl_deadline(const tl_op *op);

/* Gives up: nothing new is sent but what a write needs to tell its true result. Complete what is out, step on. */
TL_API void tl_cancel(tl_op *op, int64_t now);

/* Frees what the operation owns. TL_MISUSE, and nothing happens, while a request is out. */
TL_API tl_status tl_op_end(tl_op *op);

/* TL_OK when done, TL_ABSENT for none, the error's status when failed, TL_MISUSE while it runs. */
TL_API tl_status tl_op_status(const tl_op *op);

/* Why it failed; text NULL when it did not. Valid until tl_op_end. */
TL_API const tl_error *tl_op_error(const tl_op *op);

/* The key the error is about, absent if none; and what the store said, absent if nothing. */
TL_API tl_span tl_op_error_key(const tl_op *op);
TL_API tl_span tl_op_error_store(const tl_op *op);

/* The name of the state the machine is in (the manual's state tables), a constant. */
TL_API const char *tl_op_state(const tl_op *op);

/* Requests handed out, sleeps not counted; and the dependent round trips they took. */
TL_API uint32_t tl_op_requests(const tl_op *op);
TL_API uint32_t tl_op_round_trips(const tl_op *op);

/* "ok", "not_found", ...; "GET", "STAT", ... */
TL_API const char *tl_outcome_text(tl_outcome outcome);
TL_API const char *tl_request_text(tl_request_kind kind);
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_PROBE */

/* >>probe: the newest object of a numbered sequence, for the price of one GET when nothing changed. Protocol: SlateDB's
   RFC-0026 (boundary objects) and RFC-0032 (cached probing).

   Objects <root><directory>/<id, zero padded>.<suffix>, ids 1, 2, 3, ..., are created once, never changed, and deleted
   from the low end. A collector makes the boundary at least x durable before it deletes x; a checked operation never
   returns an id at or below the boundary, and never one that was not the newest at some moment of the call. Cached
   probing is sound only where every deletion is covered by the boundary: without one set `verify`.

   State table of a latest read (one request at a time):
   | state | request | then |
   | --- | --- | --- |
   | START | none | the cache holds i: PROBE i+1; else LIST |
   | PROBE i+1 | get i+1 | there: cache it, PROBE i+2 (after `limit` hits LIST). Not there: VERIFY or CHECK i |
   | VERIFY i | stat i | there: CHECK i. Not there: drop i from the cache, LIST |
   | LIST | list the directory, page by page | none: NONE. Highest n cached or just probed: CHECK. Else OBJECT n |
   | OBJECT n | get n | there: decode, cache it, CHECK n. Not there: LIST |
   | CHECK n | get the boundary, if-none-match when known | n above it: DONE. Else drop n from the cache, START |
   Any other answer: FAILED.

   Machines send nothing twice by themselves: failed requests fail the call. */
#ifndef TIMELAKE_NO_PROBE

/* Where the objects lie. */
typedef struct tl_layout {
    const char *directory; /* below the root */
    const char *suffix;
    const char *boundary; /* key of the boundary object below the root; NULL: there is none */
    uint32_t digits;      /* ids are padded with zeros to so many digits; at most 20; 0: not padded */
    uint32_t limit;       /* probes in a row that hit before a listing; 0: 4 */
} tl_layout;

/* SlateDB's manifests and compactions; the root is the database's path with a slash at its end. */
TL_API const tl_layout *tl_slatedb_manifests(void);
TL_API const tl_layout *tl_slatedb_compactions(void);

/* Counts of one or more probes; the names are those of tl_probe_counters_text. */
typedef struct tl_probe_counters {
    uint64_t latest_hits, latest_misses;          /* latest reads that began warm, and cold */
    uint64_t probe_hits, probe_misses, probe_errors;
    uint64_t advances_read, advances_write;       /* the cache moved on */
    uint64_t dropped_boundary, dropped_advance, dropped_delete, dropped_empty_list;
    uint64_t list_fallbacks, relists;
    uint64_t per_read[7]; /* histogram of probes per latest read: 0, 1, 2, 3, 4, 5..8, more */
    uint64_t per_read_sum;
} tl_probe_counters;

/* Appends the counters in the Prometheus text form, labelled resource="<resource>". */
TL_API tl_status tl_probe_counters_text(tl_buffer *out, const tl_probe_counters *counters, tl_span resource,
                                        tl_error *err);

/* Borrowed by tl_probe_init and everything that uses the probe. Zero: the defaults. */
typedef struct tl_probe_options {
    void *context; /* of the callbacks here */
    /* Sees the version to be returned, inside tl_step, and calls nothing back. Not 0: the call fails with TL_REFUSED
       and this code. NULL: every body is good. */
    int (*decode)(void *context, uint64_t id, const void *body, size_t size);
    /* After `limit` hits in a row, before the listing: for a debug log. */
    void (*fallback)(void *context, uint64_t last_id);
    void (*lock)(void *context); /* held to read or swap the cache, never across a request; both or none */
    void (*unlock)(void *context);
    tl_probe_counters *counters; /* NULL: none are kept */
    tl_op_options op;            /* of every call; op.allocator also holds the cached body */
    uint32_t rounds;             /* attempts of one call before TL_GAVE_UP; 0: 32 */
    uint8_t verify;              /* for stores whose objects may go without a boundary: look whether the cached one
                                    still is there when its successor is not */
} tl_probe_options;

/* What a process knows of one sequence: the newest object seen and the boundary seen. Moves only forward. Private. */
typedef struct tl_probe {
    const tl_layout *layout;
    const tl_probe_options *options;
    tl_span root;
    uint64_t id;
    struct tli_blob *body; /* NULL: nothing cached */
    uint64_t boundary;
    struct tli_blob *boundary_etag; /* NULL: no boundary seen */
} tl_probe;

/* The layout, root and options are borrowed. TL_LIMIT when a key would be longer than TL_PROBE_KEY. Takes no memory. */
#define TL_PROBE_KEY 1280
TL_API tl_status tl_probe_init(tl_probe *probe, const tl_layout *layout, tl_span root, const tl_probe_options *options);

/* Drops the cached body. No call may be running. */
TL_API void tl_probe_free(tl_probe *probe);

/* One call on a probe; any number at once. Read the first members after the end of op. */
typedef struct tl_probe_call {
    tl_op op;
    uint64_t id;        /* of the object read or written; of advance the boundary */
    tl_span body;       /* of the object read; valid until tl_op_end, whatever others do to the cache */
    int code;           /* with TL_REFUSED what decode answered */
    const uint64_t *ids; /* of a list, ascending; valid until tl_op_end */
    size_t id_count;
    tl_probe *probe;
    struct tli_blob *held;
    struct tli_blob *etag;
    tl_span put;
    uint64_t from, to;
    size_t id_capacity;
    uint32_t attempts;
    uint32_t hits;
    uint32_t probes;
    uint32_t pages;
    uint8_t kind;
    uint8_t state;
    uint8_t checked;
    size_t key_size;
    char number[24];
    char key[TL_PROBE_KEY];
} tl_probe_call;

/* The newest object: done with id and body, none when there is no object. Checked against the boundary where the layout
   has one; unchecked: may return an object that is collected already. */
TL_API void tl_probe_latest(tl_probe_call *call, tl_probe *probe);
TL_API void tl_probe_latest_unchecked(tl_probe_call *call, tl_probe *probe);

/* Creates object base + 1 (base 0: the first) with `body`, which must stay unchanged until the end. TL_CONFLICT:
   another writer has it, or the boundary covers it. TL_AMBIGUOUS: it may be in (the answer was lost, or the boundary
   could not be read). */
TL_API void tl_probe_write(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body);
TL_API void tl_probe_write_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body);

/* Deletes object id; checked: TL_MISUSE unless the boundary covers it. */
TL_API void tl_probe_delete(tl_probe_call *call, tl_probe *probe, uint64_t id);
TL_API void tl_probe_delete_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* TL_CONFLICT when the boundary covers id. */
TL_API void tl_probe_check(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* Moves the boundary to at least id: before anything up to it is deleted. */
TL_API void tl_probe_advance(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* Object id, past the cache and the boundary: done, or none. */
TL_API void tl_probe_read_id(tl_probe_call *call, tl_probe *probe, uint64_t id);

/* All ids from `from` (included) to `to` (not), ascending, by one listing. */
TL_API void tl_probe_list(tl_probe_call *call, tl_probe *probe, uint64_t from, uint64_t to);
#endif /* TIMELAKE_NO_PROBE */

/* >>lake: what a process knows: the newest version seen of each table (never backwards), within a memory budget, and
   what every machine is given: codecs, limits, allocator, seed, locks. */
#ifndef TIMELAKE_NO_LAKE

/* What the store of a lake cannot do. */
typedef enum tl_store {
    TL_STORE_LISTS, /* lists by prefix: S3, GCS, Azure, folders */
    TL_STORE_HTTPS  /* gets and stats only */
} tl_store;

/* Zero: the defaults. */
typedef struct tl_lake_options {
    void *context; /* of lock and unlock */
    void (*lock)(void *context); /* held to swap pointers, never across a request or a decode; both or none */
    void (*unlock)(void *context);
    const tl_head_codec *codecs; /* further codecs; borrowed until tl_lake_free */
    size_t codec_count;
    uint64_t memory; /* bytes of table versions kept; 256 MiB */
    tl_store store;
    uint32_t warm_connections; /* stats of the hint sent with a cold load, to open connections */
    uint8_t lookup_hint;     /* cold loads read the version hint instead of listing: one more round trip, no listing */
    uint8_t freshness_list;  /* check by listing the exact name instead of a stat */
    uint8_t next_only;       /* check v<N+1> alone, not that v<N> is there too: half the checks,
        but a table whose v<N+1>
                                was expired meanwhile is never seen to move on */
    uint8_t seed[16];        /* from the system's randomness; commits refuse zero */
    tl_compression compression;
    tl_limits limits;
    tl_op_options op;        /* of every machine; op.allocator is the lake's too */
} tl_lake_options;

/* Private. */
typedef struct tl_lake {
    tl_lake_options options;
    struct tli_lake_entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint64_t clock;
    uint64_t memory;
} tl_lake;

/* Options are copied. Nothing is allocated before the first load ends. */
TL_API tl_status tl_lake_init(tl_lake *lake, const tl_lake_options *options);

/* Drops all versions. No machine of the lake may be running. */
TL_API void tl_lake_free(tl_lake *lake);

/* Forgets a table: the next load is cold. */
TL_API void tl_lake_forget(tl_lake *lake, tl_span location);

/* A section of this version's head turned out corrupt when it was opened: the version is forgotten, and loads do not
   use that head again. */
TL_API void tl_lake_bar(tl_lake *lake, const tl_table *table);
#endif /* TIMELAKE_NO_LAKE */

/* >>load: opening a table: its newest version, from the head in one round trip where that is current, else from the
   metadata chain. Design: Timelake, "One-request table state and version checks".

   State table: a round of requests -> what then. A state ends when all its requests are answered, in any order.
   START      none -> the lake holds N: confirmed within the max age: DONE, else CHECK N. It holds none: PEEK
   PEEK       get the head + list `metadata/v` (lookup by hint, or no listing: get the hint instead) -> complete
   listing, newest M: no name: NONE; head >= M: DONE; else CHAIN M. Listing cut or unsupported: HINT
   HINT       get the hint, if not here -> best = max(hint, names listed). best > head: CHAIN best. Head: DONE unchecked
              if `defer`, else CHECK. Neither: PAGES if a listing was cut, else NONE
   PAGES      list the next page -> last page: CHAIN newest
   CHECK N    stat vN + stat vN+1 (or list the exact names) -> only vN: DONE. vN+1: CHAIN N+1 if N was unconfirmed, else
              PEEK. Neither: PEEK without N
   CHAIN n    get vn + stat vn+1 -> vn+1 there: CHAIN n+1. vn read: LIST-FILE if files are wanted, else DONE. Both gone:
              PEEK without that hint
   LIST-FILE  get the manifest list -> MANIFESTS
   MANIFESTS  get all manifests -> DONE
   EXACT n    get vn (options.version) -> LIST-FILE, DONE or NONE
   A list or manifest that is not there: the version was expired meanwhile: PEEK; of an exact version, or of the same
   version again: FAILED.
   A third PEEK: FAILED. Whatever keeps the head from being had or decoded means "no head", with the
   reason kept in why_no_head. Any other bad answer: FAILED; only "not found" means absent. */
#ifndef TIMELAKE_NO_LAKE

/* Zero: the defaults. */
typedef struct tl_load_options {
    int64_t max_age_ms; /* a version confirmed so long ago is taken without a request; 0: the table's own
                           version-check-interval; negative: always check */
    uint64_t version;   /* load exactly this version, by its metadata file; 0: the newest */
    uint8_t defer;      /* usable before it is checked, where nothing in hand settles it: see `unchecked` */
    uint8_t no_head;    /* as if there were none */
    uint8_t no_files;   /* metadata is enough: no manifests are read */
} tl_load_options;

#define TL_LOAD_ROOM 704 /* bytes of keys within a load: locations of up to 128 bytes need no allocation */

typedef struct tl_load {
    tl_op op;
    tl_table *table;      /* when done: one count is the load's own, until tl_op_end */
    uint8_t unchecked;    /* 1: a newer version may be there; load again without `defer` beside the data reads */
    tl_error why_no_head; /* status TL_OK: the head was used, or none was asked for */
    tl_lake *lake;        /* private from here */
    tl_load_options options;
    tl_table *known;
    tl_table *head_table;
    char *keys; /* the location, then places for keys: `room`, or allocated */
    size_t keys_size; /* of an allocation, else 0 */
    tl_span location;
    uint64_t version;
    uint64_t listed;
    uint64_t hint;
    uint64_t gone;    /* a version that hint or head named and that is not there */
    uint64_t expired; /* one whose manifests were not there */
    int64_t began;
    struct tli_load_files *files;
    uint32_t peeks;
    uint32_t climbs;
    uint32_t warmed;
    uint32_t list_slot;
    uint32_t hint_slot;
    uint8_t state;
    uint8_t hint_read;
    uint8_t hint_bad;
    uint8_t no_hint;
    uint8_t listing;
    uint8_t pages;
    uint8_t unconfirmed;
    char room[TL_LOAD_ROOM];
} tl_load;

/* Begins. The location (with or without a slash at its end) and options are copied. Done: load->table. None: no such
   table, or not this version. Failed with TL_ABSENT (an exact version that has expired), TL_CORRUPT, TL_UNSUPPORTED
   (formats that are newer, delete files), TL_STORE, TL_LIMIT, ... and the key. */
TL_API void tl_load_begin(tl_load *load, tl_lake *lake, tl_span location, const tl_load_options *options);
#endif /* TIMELAKE_NO_LAKE */

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* TIMELAKE_H */

#ifdef TIMELAKE_IMPLEMENTATION
#ifndef TIMELAKE_IMPLEMENTATION_DONE
#define TIMELAKE_IMPLEMENTATION_DONE

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

/* >>base */
#ifdef TIMELAKE_NO_STDLIB
#if defined(__GNUC__) || defined(__clang__)
/* The builtins may become calls of memcpy, memmove, memset, memcmp: the linker must bring these four. */
#define TLI_COPY(to, from, size) ((void)__builtin_memcpy((to), (from), (size)))
#define TLI_MOVE(to, from, size) ((void)__builtin_memmove((to), (from), (size)))
#define TLI_FILL(to, byte, size) ((void)__builtin_memset((to), (byte), (size)))
#define TLI_COMPARE(a, b, size) __builtin_memcmp((a), (b), (size))
#else
#error "TIMELAKE_NO_STDLIB needs gcc or clang"
#endif
#else
#include <stdlib.h>
#include <string.h>
#define TLI_COPY(to, from, size) ((void)memcpy((to), (from), (size)))
#define TLI_MOVE(to, from, size) ((void)memmove((to), (from), (size)))
#define TLI_FILL(to, byte, size) ((void)memset((to), (byte), (size)))
#define TLI_COMPARE(a, b, size) memcmp((a), (b), (size))
#endif

/* Private functions. Partial builds leave some of them unused: that is no news to the includer. */
#define TLI_FN TLI_UNUSED static
#if defined(__GNUC__) || defined(__clang__)
#ifdef __OPTIMIZE_SIZE__
#define TLI_INLINE TLI_UNUSED static inline
#else
#define TLI_INLINE TLI_UNUSED static inline __attribute__((always_inline))
#endif
#define TLI_NOINLINE TLI_UNUSED static __attribute__((noinline))
#define TLI_LIKELY(x) __builtin_expect(!!(x), 1)
#define TLI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define TLI_INLINE static inline
#define TLI_NOINLINE static
#define TLI_LIKELY(x) (!!(x))
#define TLI_UNLIKELY(x) (!!(x))
#endif

/* TLI_ASSERT: a promise between rooms. Compiled in when TIMELAKE_ASSERT is defined (the tests and fuzzers do);
   bad input never trips it, it is answered with a status. */
#ifndef TIMELAKE_ASSERT
#define TLI_ASSERT(x) ((void)0)
#else
#define TLI_ASSERT(x) TIMELAKE_ASSERT(x)
#endif

#define TLI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TLI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TLI_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Every x86-64 has SSE2; all other machines run the portable code beside it. The compiler's header wants a libc. */
#if defined(__SSE2__) && !defined(TIMELAKE_NO_SIMD) && !defined(TIMELAKE_NO_STDLIB)
#include <emmintrin.h>
#define TLI_SSE2 1
#else
#define TLI_SSE2 0
#endif

#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define TLI_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#else
#define TLI_BIG_ENDIAN 0
#endif

TL_API uint32_t tl_version_number(void)
{
    return TL_VERSION_NUMBER;
}

TL_API const char *tl_version_text(void)
{
    return TL_VERSION_TEXT;
}

/* >>err */
TL_API const char *tl_status_text(tl_status status)
{
    switch (status) {
#define TLI_STATUS_CASE(name, number, text)                                                                            \
    case name:                                                                                                         \
        return text;
        TL_STATUS_LIST(TLI_STATUS_CASE)
#undef TLI_STATUS_CASE
    default:
        return "unknown";
    }
}

/* Fills the error if there is one to fill, and returns the status: `return tli_err(err, TL_CORRUPT, "...", at);` */
TLI_FN tl_status tli_err(tl_error *err, tl_status status, const char *text, uint64_t position)
{
    if (err != NULL) {
        err->status = status;
        err->text = text;
        err->position = position;
        err->need = 0;
    }
    return status;
}

/* The same for TL_BLOCK_FULL and TL_LIMIT, with the figure that was asked for. */
TLI_FN tl_status tli_err_need(tl_error *err, tl_status status, const char *text, uint64_t position, uint64_t need)
{
    (void)tli_err(err, status, text, position);
    if (err != NULL)
        err->need = need;
    return status;
}

/* >>bits: loads and stores of any alignment in a given byte order, and arithmetic that says when it overflows. */
TLI_INLINE uint16_t tli_bits_swap16(uint16_t v)
{
    return (uint16_t)((v >> 8) | (v << 8));
}

TLI_INLINE uint32_t tli_bits_swap32(uint32_t v)
{
    return ((v & 0xffu) << 24) | ((v & 0xff00u) << 8) | ((v >> 8) & 0xff00u) | (v >> 24);
}

TLI_INLINE uint64_t tli_bits_swap64(uint64_t v)
{
    return ((uint64_t)tli_bits_swap32((uint32_t)v) << 32) | tli_bits_swap32((uint32_t)(v >> 32));
}

/* Native order: for Arrow values, which are native once a stream was decoded. */
TLI_INLINE uint16_t tli_bits_u16(const void *p)
{
    uint16_t v;
    TLI_COPY(&v, p, 2);
    return v;
}

TLI_INLINE uint32_t tli_bits_u32(const void *p)
{
    uint32_t v;
    TLI_COPY(&v, p, 4);
    return v;
}

TLI_INLINE uint64_t tli_bits_u64(const void *p)
{
    uint64_t v;
    TLI_COPY(&v, p, 8);
    return v;
}

TLI_INLINE void tli_bits_put16(void *p, uint16_t v)
{
    TLI_COPY(p, &v, 2);
}

TLI_INLINE void tli_bits_put32(void *p, uint32_t v)
{
    TLI_COPY(p, &v, 4);
}

TLI_INLINE void tli_bits_put64(void *p, uint64_t v)
{
    TLI_COPY(p, &v, 8);
}

/* Little-endian: for the wire formats. */
TLI_INLINE uint16_t tli_bits_le16(const void *p)
{
    uint16_t v = tli_bits_u16(p);
    return TLI_BIG_ENDIAN ? tli_bits_swap16(v) : v;
}

TLI_INLINE uint32_t tli_bits_le32(const void *p)
{
    uint32_t v = tli_bits_u32(p);
    return TLI_BIG_ENDIAN ? tli_bits_swap32(v) : v;
}

TLI_INLINE uint64_t tli_bits_le64(const void *p)
{
    uint64_t v = tli_bits_u64(p);
    return TLI_BIG_ENDIAN ? tli_bits_swap64(v) : v;
}

TLI_INLINE void tli_bits_put_le16(void *p, uint16_t v)
{
    tli_bits_put16(p, TLI_BIG_ENDIAN ? tli_bits_swap16(v) : v);
}

TLI_INLINE void tli_bits_put_le32(void *p, uint32_t v)
{
    tli_bits_put32(p, TLI_BIG_ENDIAN ? tli_bits_swap32(v) : v);
}

TLI_INLINE void tli_bits_put_le64(void *p, uint64_t v)
{
    tli_bits_put64(p, TLI_BIG_ENDIAN ? tli_bits_swap64(v) : v);
}

/* Bit i of an Arrow bitmap (least significant bit first). */
TLI_INLINE int tli_bits_get(const void *bitmap, uint64_t i)
{
    return (((const uint8_t *)bitmap)[i >> 3] >> (i & 7)) & 1;
}

TLI_INLINE void tli_bits_set(void *bitmap, uint64_t i)
{
    uint8_t *byte = (uint8_t *)bitmap + (i >> 3);
    *byte = (uint8_t)(*byte | (1u << (i & 7)));
}

/* Checked arithmetic: 0 when the result does not fit, and then *out is not written. */
TLI_INLINE int tli_bits_add(uint64_t a, uint64_t b, uint64_t *out)
{
    if (b > UINT64_MAX - a)
        return 0;
    *out = a + b;
    return 1;
}

TLI_INLINE int tli_bits_mul(uint64_t a, uint64_t b, uint64_t *out)
{
    if (a != 0 && b > UINT64_MAX / a)
        return 0;
    *out = a * b;
    return 1;
}

/* A 64-bit size of the wire as a size of this machine. */
TLI_INLINE int tli_bits_size(uint64_t wide, size_t *out)
{
    if (wide > SIZE_MAX / 2)
        return 0;
    *out = (size_t)wide;
    return 1;
}

TLI_INLINE size_t tli_bits_round_up(size_t n, size_t power_of_two)
{
    return (n + power_of_two - 1) & ~(power_of_two - 1);
}

/* >>mem: allocator calls, the fixed block, growing buffers, counted stores. */
#ifndef TIMELAKE_NO_STDLIB
TLI_FN void *tli_mem_malloc(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

TLI_FN void *tli_mem_realloc(void *context, void *memory, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    return realloc(memory, size);
}

TLI_FN void tli_mem_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}
#endif

/* The allocator to use: the caller's, or malloc when it is NULL or zeroed. */
TLI_FN tl_allocator tli_mem_allocator(const tl_allocator *allocator)
{
    tl_allocator a;
    TLI_FILL(&a, 0, sizeof a);
    if (allocator != NULL)
        a = *allocator;
#ifndef TIMELAKE_NO_STDLIB
    if (a.allocate == NULL) {
        a.allocate = tli_mem_malloc;
        a.resize = tli_mem_realloc;
        a.deallocate = tli_mem_free;
    }
#endif
    return a;
}

TLI_FN void *tli_mem_new(const tl_allocator *a, size_t size)
{
    if (a->allocate == NULL || size > SIZE_MAX / 2)
        return NULL;
    return a->allocate(a->context, size == 0 ? 1 : size);
}

TLI_FN void tli_mem_delete(const tl_allocator *a, void *memory, size_t size)
{
    if (memory != NULL && a->deallocate != NULL)
        a->deallocate(a->context, memory, size == 0 ? 1 : size);
}

TLI_FN void *tli_mem_resize(const tl_allocator *a, void *memory, size_t old_size, size_t size)
{
    void *grown;
    if (memory == NULL)
        return tli_mem_new(a, size);
    if (size > SIZE_MAX / 2)
        return NULL;
    if (a->resize != NULL)
        return a->resize(a->context, memory, old_size == 0 ? 1 : old_size, size == 0 ? 1 : size);
    grown = tli_mem_new(a, size);
    if (grown == NULL)
        return NULL;
    TLI_COPY(grown, memory, TLI_MIN(old_size, size));
    tli_mem_delete(a, memory, old_size);
    return grown;
}

/* ---- the fixed block ---- */

#define TLI_MEM_ALIGN 16u

typedef struct tli_mem_block {
    size_t size;   /* bytes from this struct to the end of the block */
    size_t used;   /* of these, this struct included */
    size_t last;   /* where the newest piece starts, 0 when there is none to give back */
    size_t peak;
    size_t wanted; /* the least size that would have served the largest request that failed; 0: none failed */
} tli_mem_block;

TLI_FN void *tli_mem_block_allocate(void *context, size_t size)
{
    tli_mem_block *b = (tli_mem_block *)context;
    size_t need = tli_bits_round_up(size, TLI_MEM_ALIGN);
    if (need < size || need > b->size - b->used) {
        b->wanted = TLI_MAX(b->wanted, need < size || need > SIZE_MAX - b->used ? SIZE_MAX : b->used + need);
        return NULL;
    }
    b->last = b->used;
    b->used += need;
    b->peak = TLI_MAX(b->peak, b->used);
    return (uint8_t *)context + b->last;
}

TLI_FN int tli_mem_block_is_last(const tli_mem_block *b, const void *memory)
{
    return b->last != 0 && (const uint8_t *)memory == (const uint8_t *)b + b->last;
}

TLI_FN void tli_mem_block_free(void *context, void *memory, size_t size)
{
    tli_mem_block *b = (tli_mem_block *)context;
    (void)size;
    if (tli_mem_block_is_last(b, memory)) {
        b->used = b->last;
        b->last = 0;
    }
}

TLI_FN void *tli_mem_block_resize(void *context, void *memory, size_t old_size, size_t size)
{
    tli_mem_block *b = (tli_mem_block *)context;
    void *moved;
    if (tli_mem_block_is_last(b, memory)) {
        size_t used = b->used, last = b->last;
        b->used = last;
        moved = tli_mem_block_allocate(context, size); /* the same place: the bytes stay */
        if (moved == NULL)
            b->used = used;
        b->last = last;
        return moved;
    }
    if (size <= old_size)
        return memory;
    moved = tli_mem_block_allocate(context, size);
    if (moved != NULL)
        TLI_COPY(moved, memory, old_size);
    return moved;
}

TLI_FN void *tli_mem_block_none(void *context, size_t size)
{
    (void)context;
    (void)size;
    return NULL;
}

TL_API tl_allocator tl_block(void *memory, size_t size)
{
    tl_allocator a;
    size_t skip = memory == NULL ? 0 : (size_t)(0u - (uintptr_t)memory) & (TLI_MEM_ALIGN - 1);
    TLI_FILL(&a, 0, sizeof a);
    if (memory == NULL || size < 64 || size - skip < 64) {
        a.allocate = tli_mem_block_none;
        return a;
    }
    {
        tli_mem_block *b = (tli_mem_block *)(void *)((uint8_t *)memory + skip);
        TLI_FILL(b, 0, sizeof *b);
        b->size = (size - skip) & ~(size_t)(TLI_MEM_ALIGN - 1);
        b->used = b->peak = tli_bits_round_up(sizeof *b, TLI_MEM_ALIGN);
        a.context = b;
        a.allocate = tli_mem_block_allocate;
        a.resize = tli_mem_block_resize;
        a.deallocate = tli_mem_block_free;
    }
    return a;
}

TL_API size_t tl_block_peak(const tl_allocator *allocator)
{
    if (allocator == NULL || allocator->allocate != tli_mem_block_allocate)
        return 0;
    return ((const tli_mem_block *)allocator->context)->peak;
}

/* The status for an allocator that answered NULL: which kind it is, and for a block how many bytes it would take. */
TLI_FN tl_status tli_mem_failed(const tl_allocator *a, tl_error *err)
{
    if (a->allocate == tli_mem_block_allocate) {
        const tli_mem_block *b = (const tli_mem_block *)a->context;
        return tli_err_need(err, TL_BLOCK_FULL, "the memory block is too small", TL_NO_POSITION,
                            (uint64_t)b->wanted + TLI_MEM_ALIGN);
    }
    if (a->allocate == tli_mem_block_none)
        return tli_err_need(err, TL_BLOCK_FULL, "the memory block is too small", TL_NO_POSITION, 64);
    return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
}

/* ---- limits ---- */

TL_API tl_limits tl_limits_resolve(const tl_limits *limits)
{
    tl_limits r;
    TLI_FILL(&r, 0, sizeof r);
    if (limits != NULL)
        r = *limits;
    r.object_bytes = r.object_bytes != 0 ? r.object_bytes : (uint64_t)4 << 30;
    r.decoded_bytes = r.decoded_bytes != 0 ? r.decoded_bytes : (uint64_t)16 << 30;
    r.decoded_bytes = TLI_MIN(r.decoded_bytes, (uint64_t)(SIZE_MAX / 2));
    r.object_bytes = TLI_MIN(r.object_bytes, (uint64_t)(SIZE_MAX / 2));
    r.rows = r.rows != 0 ? r.rows : (uint64_t)1 << 40;
    r.sections = r.sections != 0 ? r.sections : 4096;
    r.columns = r.columns != 0 ? r.columns : 65536;
    r.batches = r.batches != 0 ? r.batches : 65536;
    r.depth = r.depth != 0 ? TLI_MIN(r.depth, 256u) : 64;
    return r;
}

/* ---- growing buffers ---- */

TL_API void tl_buffer_free(tl_buffer *buffer)
{
    tl_allocator a;
    if (buffer == NULL)
        return;
    a = tli_mem_allocator(&buffer->allocator);
    tli_mem_delete(&a, buffer->data, buffer->capacity);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}

/* Room for `more` further bytes at buffer->data + buffer->size. Doubles, so appending is linear in all. */
TLI_FN tl_status tli_mem_reserve(tl_buffer *buffer, size_t more, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&buffer->allocator);
    size_t capacity;
    uint8_t *data;
    if (more <= buffer->capacity - buffer->size)
        return TL_OK;
    if (more > SIZE_MAX / 2 - buffer->size)
        return tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
    capacity = TLI_MAX(buffer->capacity + buffer->capacity / 2, buffer->size + more);
    capacity = TLI_MAX(capacity, 256u);
    data = (uint8_t *)tli_mem_resize(&a, buffer->data, buffer->capacity, capacity);
    if (data == NULL)
        return tli_mem_failed(&a, err);
    buffer->data = data;
    buffer->capacity = capacity;
    return TL_OK;
}

TLI_FN tl_status tli_mem_append(tl_buffer *buffer, const void *data, size_t size, tl_error *err)
{
    tl_status st = tli_mem_reserve(buffer, size, err);
    if (st != TL_OK)
        return st;
    if (size != 0)
        TLI_COPY(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return TL_OK;
}

/* Appends zero bytes until the size is a multiple of `power_of_two` past `from`. */
TLI_FN tl_status tli_mem_pad(tl_buffer *buffer, size_t from, size_t power_of_two, tl_error *err)
{
    size_t n = (size_t)(0u - (buffer->size - from)) & (power_of_two - 1);
    tl_status st = tli_mem_reserve(buffer, n, err);
    if (st != TL_OK)
        return st;
    TLI_FILL(buffer->data + buffer->size, 0, n);
    buffer->size += n;
    return TL_OK;
}

/* ---- counted stores ---- */

#if (defined(__GNUC__) || defined(__clang__)) && !defined(TIMELAKE_NO_ATOMICS)
#define TLI_MEM_INC(p) ((void)__atomic_fetch_add((p), (size_t)1, __ATOMIC_RELAXED))
#define TLI_MEM_DEC(p) (__atomic_sub_fetch((p), (size_t)1, __ATOMIC_ACQ_REL))
#elif defined(_MSC_VER) && !defined(TIMELAKE_NO_ATOMICS)
#include <intrin.h>
#ifdef _WIN64
#define TLI_MEM_INC(p) ((void)_InterlockedIncrement64((volatile __int64 *)(p)))
#define TLI_MEM_DEC(p) ((size_t)_InterlockedDecrement64((volatile __int64 *)(p)))
#else
#define TLI_MEM_INC(p) ((void)_InterlockedIncrement((volatile long *)(p)))
#define TLI_MEM_DEC(p) ((size_t)_InterlockedDecrement((volatile long *)(p)))
#endif
#else
#define TLI_MEM_INC(p) ((void)++*(p))
#define TLI_MEM_DEC(p) (--*(p))
#endif

typedef struct tli_mem_chunk {
    struct tli_mem_chunk *next;
    size_t size; /* this struct included */
    size_t used;
} tli_mem_chunk;

/* Everything one decoded object owns: its body, and an arena for nodes and decoded buffers. Counted, so that exported
   arrays keep it alive. Arena memory is 16-aligned and comes back only with the whole store. */
typedef struct tli_store {
    size_t count;
    tl_allocator allocator;
    uint64_t budget; /* bytes the arena may still take: limits.decoded_bytes at first */
    tli_mem_chunk *chunks; /* the newest small-piece chunk first */
    const void *body;      /* borrowed when release is NULL */
    size_t body_size;
    tl_release release;
    void *release_context;
} tli_store;

/* A store with one count. `body` may be NULL. On failure the body is not taken. */
TLI_FN tli_store *tli_mem_store_new(const tl_allocator *allocator, uint64_t budget, const void *body, size_t body_size,
                                    tl_release release, void *release_context, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    tli_store *s = (tli_store *)tli_mem_new(&a, sizeof *s);
    if (s == NULL) {
        (void)tli_mem_failed(&a, err);
        return NULL;
    }
    TLI_FILL(s, 0, sizeof *s);
    s->count = 1;
    s->allocator = a;
    s->budget = budget;
    s->body = body;
    s->body_size = body_size;
    s->release = release;
    s->release_context = release_context;
    return s;
}

TLI_FN void tli_mem_store_keep(tli_store *s)
{
    TLI_MEM_INC(&s->count);
}

TLI_FN void tli_mem_store_drop(tli_store *s)
{
    tl_allocator a;
    tli_mem_chunk *chunk;
    if (s == NULL || TLI_MEM_DEC(&s->count) != 0)
        return;
    a = s->allocator;
    for (chunk = s->chunks; chunk != NULL;) {
        tli_mem_chunk *next = chunk->next;
        tli_mem_delete(&a, chunk, chunk->size);
        chunk = next;
    }
    if (s->release != NULL)
        s->release(s->release_context, s->body, s->body_size);
    tli_mem_delete(&a, s, sizeof *s);
}

/* Bytes of the arena, as they were allocated. */
TLI_FN size_t tli_mem_store_size(const tli_store *s)
{
    const tli_mem_chunk *chunk;
    size_t size = 0;
    for (chunk = s == NULL ? NULL : s->chunks; chunk != NULL; chunk = chunk->next)
        size += chunk->size;
    return size;
}

#define TLI_MEM_CHUNK 8192u
#define TLI_MEM_CHUNK_HEADER ((sizeof(tli_mem_chunk) + TLI_MEM_ALIGN - 1) & ~(size_t)(TLI_MEM_ALIGN - 1))

/* Memory of the store, not cleared. Large pieces get a chunk of their own of the exact size, so that what a decoded
   object takes stays within a few percent of its data. NULL: err says memory or limit. */
TLI_FN void *tli_mem_take(tli_store *s, size_t size, tl_error *err)
{
    tli_mem_chunk *chunk = s->chunks;
    size_t need, total;
    int large;
    if (size > SIZE_MAX / 2) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    need = tli_bits_round_up(size == 0 ? 1 : size, TLI_MEM_ALIGN);
    if (chunk != NULL && need <= chunk->size - chunk->used) {
        chunk->used += need;
        return (uint8_t *)chunk + (chunk->used - need);
    }
    large = need > TLI_MEM_CHUNK / 8;
    total = large ? need + TLI_MEM_CHUNK_HEADER : TLI_MEM_CHUNK;
    if (total > s->budget) {
        (void)tli_err_need(err, TL_LIMIT, "limits.decoded_bytes", TL_NO_POSITION, total);
        return NULL;
    }
    chunk = (tli_mem_chunk *)tli_mem_new(&s->allocator, total);
    if (chunk == NULL) {
        (void)tli_mem_failed(&s->allocator, err);
        return NULL;
    }
    s->budget -= total;
    chunk->size = total;
    chunk->used = TLI_MEM_CHUNK_HEADER + need;
    if (large && s->chunks != NULL) { /* behind the chunk that small pieces still fit into */
        chunk->next = s->chunks->next;
        s->chunks->next = chunk;
    } else {
        chunk->next = s->chunks;
        s->chunks = chunk;
    }
    return (uint8_t *)chunk + TLI_MEM_CHUNK_HEADER;
}

/* The same, cleared. */
TLI_FN void *tli_mem_take_zero(tli_store *s, size_t size, tl_error *err)
{
    void *p = tli_mem_take(s, size, err);
    if (p != NULL)
        TLI_FILL(p, 0, size == 0 ? 1 : size);
    return p;
}

/* count * size bytes, cleared, refused when the product overflows. */
TLI_FN void *tli_mem_take_array(tli_store *s, uint64_t count, size_t size, tl_error *err)
{
    uint64_t bytes;
    size_t narrow;
    if (!tli_bits_mul(count, size, &bytes) || !tli_bits_size(bytes, &narrow)) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    return tli_mem_take_zero(s, narrow, err);
}

/* ---- counted blobs ---- */

/* Bytes that several owners share: the body of an answer. Copied bytes lie behind the struct in one allocation; taken
   ones go back through `release` with the last count. */
typedef struct tli_blob {
    size_t count;
    tl_allocator allocator;
    const uint8_t *data;
    size_t size;
    tl_release release; /* NULL: copied */
    void *release_context;
    const void *whole; /* what was taken, of which data is a part */
    size_t whole_size;
} tli_blob;

/* A blob with one count. With `release` the bytes [whole, whole + whole_size) are taken and data lies in them; without
   it `size` bytes of data are copied (data NULL: left for the caller to fill). NULL: no memory, nothing was taken. */
TLI_FN tli_blob *tli_mem_blob(const tl_allocator *a, const void *data, size_t size, tl_release release, void *context,
                              const void *whole, size_t whole_size)
{
    size_t extra = release == NULL ? size : 0;
    tli_blob *b = extra > SIZE_MAX / 4 ? NULL : (tli_blob *)tli_mem_new(a, sizeof *b + extra);
    if (b == NULL)
        return NULL;
    b->count = 1;
    b->allocator = *a;
    b->data = release == NULL ? (const uint8_t *)(b + 1) : (const uint8_t *)data;
    b->size = size;
    b->release = release;
    b->release_context = context;
    b->whole = whole;
    b->whole_size = whole_size;
    if (extra != 0 && data != NULL)
        TLI_COPY(b + 1, data, extra);
    return b;
}

TLI_FN tli_blob *tli_mem_blob_keep(tli_blob *b)
{
    if (b != NULL)
        TLI_MEM_INC(&b->count);
    return b;
}

TLI_FN void tli_mem_blob_drop(tli_blob *b)
{
    tl_allocator a;
    if (b == NULL || TLI_MEM_DEC(&b->count) != 0)
        return;
    a = b->allocator;
    if (b->release != NULL)
        b->release(b->release_context, b->whole, b->whole_size);
    tli_mem_delete(&a, b, sizeof *b + (b->release == NULL ? b->size : 0));
}

/* >>text */
TL_API tl_span tl_text(const char *text)
{
    tl_span s;
    s.data = text;
    s.size = 0;
    if (text != NULL)
        while (text[s.size] != 0)
            s.size++;
    return s;
}

TL_API int tl_span_equal(tl_span a, tl_span b)
{
    return a.size == b.size && (a.size == 0 || TLI_COMPARE(a.data, b.data, a.size) == 0);
}

TL_API int tl_span_compare(tl_span a, tl_span b)
{
    size_t n = TLI_MIN(a.size, b.size);
    int order = n == 0 ? 0 : TLI_COMPARE(a.data, b.data, n);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

TLI_INLINE tl_span tli_text_span(const void *data, size_t size)
{
    tl_span s;
    s.data = (const char *)data;
    s.size = size;
    return s;
}

/* Whether the eight bytes have no high bit set. */
TLI_INLINE int tli_text_ascii8(const void *p)
{
    return (tli_bits_u64(p) & 0x8080808080808080u) == 0;
}

/* Bytes of the well-formed UTF-8 sequence at p (Unicode table 3-7: no surrogates, no longer form than needed, nothing
   above U+10FFFF), or 0. */
TLI_INLINE size_t tli_text_sequence(const uint8_t *p, size_t size)
{
    uint32_t a = p[0], least = 0x80, most = 0xbf;
    size_t n = a < 0xe0 ? 2 : a < 0xf0 ? 3 : 4, i;
    if (a < 0xc2 || a > 0xf4 || size < n)
        return 0;
    if (a == 0xe0)
        least = 0xa0;
    else if (a == 0xed)
        most = 0x9f;
    else if (a == 0xf0)
        least = 0x90;
    else if (a == 0xf4)
        most = 0x8f;
    if (p[1] < least || p[1] > most)
        return 0;
    for (i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The offset of the first byte that does not begin valid UTF-8, or `size`. */
TLI_FN size_t tli_text_utf8(const void *data, size_t size)
{
    const uint8_t *p = (const uint8_t *)data;
    size_t i = 0, n;
    while (i < size) {
        if (p[i] < 0x80) {
            while (size - i >= 16 && tli_text_ascii8(p + i) && tli_text_ascii8(p + i + 8))
                i += 16;
            while (i < size && p[i] < 0x80)
                i++;
            continue;
        }
        n = tli_text_sequence(p + i, size - i);
        if (n == 0)
            return i;
        i += n;
    }
    return size;
}

/* >>number: the exact text of numbers, both ways.

   Doubles and floats print as the shortest digits that read back as the same value, the nearest of these, by the
   method of R. Giulietti ("The Schubfach way to render doubles"); they are read by the method of D. Lemire ("Number
   parsing at a gigabyte per second") and, where that leaves two candidates, by an exact comparison. Both use one
   table of powers of ten: 128 bits for every 28th power, expanded by 64-bit powers of five. */

typedef struct tli_number_wide {
    uint64_t high;
    uint64_t low;
} tli_number_wide;

/* floor(10^(28 i - 364) 2^n), n such that the top bit is set. */
static const tli_number_wide tli_number_coarse[25] = {
    {0xe1afa13afbd14d6d, 0x82189c09a3a1ec21},
    {0xe3e27a444d8d98b7, 0xfd1b1b2308169b25},
    {0xe61acf033d1a45df, 0x6fb92487298e33bd},
    {0xe858ad248f5c22c9, 0xd1b3400f8f9cff68},
    {0xea9c227723ee8bcb, 0x465e15a979c1cadc},
    {0xece53cec4a314ebd, 0xa4f8bf5635246428},
    {0xef340a98172aace4, 0x86fb897116c87c34},
    {0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1},
    {0xf3e2f893dec3f126, 0x5a89dba3c3efccfa},
    {0xf64335bcf065d37d, 0x4d4617b5ff4a16d5},
    {0xf8a95fcf88747d94, 0x75a44c6397ce912a},
    {0xfb158592be068d2e, 0xeed6e2f0f0d56712},
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc},
    {0x8000000000000000, 0x0000000000000000},
    {0x813f3978f8940984, 0x4000000000000000},
    {0x82818f1281ed449f, 0xbff8f10e7a8921a4},
    {0x83c7088e1aab65db, 0x792667c6da79e0fa},
    {0x850fadc09923329e, 0x03e2cf6bc604ddb0},
    {0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2},
    {0x87aa9aff79042286, 0x90fb44d2f05d0842},
    {0x88fcf317f22241e2, 0x441fece3bdf81f03},
    {0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f},
    {0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e},
    {0x8d07e33455637eb2, 0xdb0b487b6423e1e8},
    {0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648}
};

/* 5^i with the top bit set: exact. */
static const uint64_t tli_number_fine[28] = {
    0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000,
    0x9c40000000000000, 0xc350000000000000, 0xf424000000000000, 0x9896800000000000,
    0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000,
    0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000,
    0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000,
    0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400,
    0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a
};

/* coarse x fine lacks up to two units of the last of 128 places: two bits for each power from 10^-342. */
static const uint32_t tli_number_lack[42] = {
    0x00010440, 0x01010000, 0x45450500, 0x00014000, 0x44545405, 0x40045555, 0x00000000, 0x00000000, 0x41010050,
    0x10541500, 0x41054145, 0x45145145, 0x50055155, 0x05454440, 0x04000410, 0x40000514, 0x50401005, 0x00100000,
    0x14051554, 0x01055441, 0x11000155, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x04004040, 0x00041000,
    0x00000050, 0x05440000, 0x50401555, 0x10541401, 0x41115141, 0x59669595, 0x440a6966, 0x00000000, 0x55554000,
    0x55565915, 0x00100105, 0x00400141, 0x50144155, 0x51011055, 0x00155500
};

/* 10^-27 to 10^-1, rounded up: what most decimal text needs. */
static const tli_number_wide tli_number_small[27] = {
    {0x9e74d1b791e07e48, 0x775ea264cf55347e}, {0xc612062576589dda, 0x95364afe032a819e},
    {0xf79687aed3eec551, 0x3a83ddbd83f52205}, {0x9abe14cd44753b52, 0xc4926a9672793543},
    {0xc16d9a0095928a27, 0x75b7053c0f178294}, {0xf1c90080baf72cb1, 0x5324c68b12dd6339},
    {0x971da05074da7bee, 0xd3f6fc16ebca5e04}, {0xbce5086492111aea, 0x88f4bb1ca6bcf585},
    {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e6}, {0x9392ee8e921d5d07, 0x3aff322e62439fd0},
    {0xb877aa3236a4b449, 0x09befeb9fad487c3}, {0xe69594bec44de15b, 0x4c2ebe687989a9b4},
    {0x901d7cf73ab0acd9, 0x0f9d37014bf60a11}, {0xb424dc35095cd80f, 0x538484c19ef38c95},
    {0xe12e13424bb40e13, 0x2865a5f206b06fba}, {0x8cbccc096f5088cb, 0xf93f87b7442e45d4},
    {0xafebff0bcb24aafe, 0xf78f69a51539d749}, {0xdbe6fecebdedd5be, 0xb573440e5a884d1c},
    {0x89705f4136b4a597, 0x31680a88f8953031}, {0xabcc77118461cefc, 0xfdc20d2b36ba7c3e},
    {0xd6bf94d5e57a42bc, 0x3d32907604691b4d}, {0x8637bd05af6c69b5, 0xa63f9a49c2c1b110},
    {0xa7c5ac471b478423, 0x0fcf80dc33721d54}, {0xd1b71758e219652b, 0xd3c36113404ea4a9},
    {0x83126e978d4fdf3b, 0x645a1cac083126ea}, {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a4},
    {0xcccccccccccccccc, 0xcccccccccccccccd}
};

#define TLI_NUMBER_POWER_MIN (-342)

/* The low half of a 64 x 64 bit product, and its high half. */
TLI_INLINE uint64_t tli_number_multiply(uint64_t a, uint64_t b, uint64_t *high)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, cross = a1 * b0, middle = a0 * b1 + (low >> 32) + (uint32_t)cross;
    *high = a1 * b1 + (cross >> 32) + (middle >> 32);
    return (middle << 32) | (uint32_t)low;
}

/* Zero bits above the highest set one; v is not 0. */
TLI_INLINE uint32_t tli_number_clz(uint64_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_clzll(v);
#else
    uint32_t n = 0;
    for (; (v >> 63) == 0; v <<= 1)
        n++;
    return n;
#endif
}

/* Zero bits below the lowest set one; v is not 0. */
TLI_INLINE uint32_t tli_number_ctz(uint64_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_ctzll(v);
#else
    uint32_t n = 0;
    for (; (v & 1) == 0; v >>= 1)
        n++;
    return n;
#endif
}

/* floor(log2(10^k)) for |k| <= 600, floor(log10(2^q)) for |q| <= 1500: no shifts of negative numbers. */
TLI_INLINE int32_t tli_number_log2(int32_t k)
{
    return (int32_t)((uint32_t)(k * 1741647 + (1 << 30)) >> 19) - (1 << 11);
}

TLI_INLINE int32_t tli_number_log10(int32_t q, int32_t less)
{
    return (int32_t)((uint64_t)((int64_t)q * 1262611 - less + ((int64_t)1 << 40)) >> 22) - (1 << 18);
}

/* floor(10^k 2^n), n such that the top bit is set, expanded from the table. */
TLI_FN tli_number_wide tli_number_expand(int32_t k)
{
    uint32_t i = (uint32_t)(k + 364), j = (uint32_t)(k - TLI_NUMBER_POWER_MIN);
    tli_number_wide c = tli_number_coarse[i / 28], p;
    uint64_t fine = tli_number_fine[i % 28], carry, low;
    uint32_t shift;
    p.low = tli_number_multiply(c.high, fine, &p.high);
    low = tli_number_multiply(c.low, fine, &carry);
    p.low += carry;
    p.high += p.low < carry;
    shift = (uint32_t)(p.high >> 63) ^ 1;
    p.high = (p.high << shift) | ((p.low >> 63) & shift);
    p.low = (p.low << shift) | ((low >> 63) & shift);
    carry = (tli_number_lack[j / 16] >> (j % 16 * 2)) & 3;
    p.low += carry;
    p.high += p.low < carry;
    return p;
}

/* The same for any k of the table, but rounded up from -27 to -1. */
TLI_INLINE tli_number_wide tli_number_power(int32_t k)
{
    if (k >= 0 && k <= 27) {
        tli_number_wide exact;
        exact.high = tli_number_fine[k];
        exact.low = 0;
        return exact;
    }
    return k < 0 && k >= -27 ? tli_number_small[k + 27] : tli_number_expand(k);
}

/* ---- integers ---- */

/* Eight digits of v < 10^8 as bytes 0..9, the first digit in the lowest byte. */
TLI_INLINE uint64_t tli_number_spread(uint32_t v)
{
    uint64_t x = ((uint64_t)(v % 10000) << 32) | (v / 10000), q;
    q = ((x * 10486) >> 20) & 0x0000007f0000007fu;
    x = ((x - q * 100) << 16) + q;
    q = ((x * 103) >> 10) & 0x000f000f000f000fu;
    return ((x - q * 10) << 8) + q;
}

#define TLI_NUMBER_ASCII 0x3030303030303030u

TLI_INLINE size_t tli_number_below_1e8(char *out, uint32_t v)
{
    uint64_t digits;
    uint32_t skip;
    if (v < 10) {
        out[0] = (char)('0' + v);
        return 1;
    }
    digits = tli_number_spread(v);
    skip = tli_number_ctz(digits) & 56;
    tli_bits_put_le64(out, (digits + TLI_NUMBER_ASCII) >> skip);
    return 8 - skip / 8;
}

/* Writes at most 20 characters and may touch 24. */
TLI_FN size_t tli_number_u64(char *out, uint64_t v)
{
    uint64_t top;
    size_t n;
    if (v < 100000000)
        return tli_number_below_1e8(out, (uint32_t)v);
    top = v / 100000000;
    if (top < 100000000) {
        n = tli_number_below_1e8(out, (uint32_t)top);
    } else {
        n = tli_number_below_1e8(out, (uint32_t)(top / 100000000));
        tli_bits_put_le64(out + n, tli_number_spread((uint32_t)(top % 100000000)) + TLI_NUMBER_ASCII);
        n += 8;
    }
    tli_bits_put_le64(out + n, tli_number_spread((uint32_t)(v % 100000000)) + TLI_NUMBER_ASCII);
    return n + 8;
}

TLI_FN size_t tli_number_i64(char *out, int64_t v)
{
    if (v >= 0)
        return tli_number_u64(out, (uint64_t)v);
    out[0] = '-';
    return 1 + tli_number_u64(out + 1, (uint64_t)0 - (uint64_t)v);
}

/* 1 when the eight bytes (the first in the lowest place) are digits, and then their value. */
TLI_INLINE int tli_number_eight(const char *s, uint32_t *value)
{
    uint64_t x = tli_bits_le64(s) - TLI_NUMBER_ASCII;
    if ((((x + 0x7676767676767676u) | x) & 0x8080808080808080u) != 0)
        return 0;
    x = x * 10 + (x >> 8);
    *value = (uint32_t)(((x & 0x000000ff000000ffu) * 0x000f424000000064u
                         + ((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32);
    return 1;
}

/* Digits without leading zeros, at most UINT64_MAX. */
TLI_FN int tli_number_parse_u64(const char *s, size_t n, uint64_t *v)
{
    uint64_t x = 0;
    size_t i = 0;
    uint32_t eight;
    if (n - 1 >= 20 || (n > 1 && s[0] == '0'))
        return 0;
    while (n - i >= 8 && i < 16) {
        if (!tli_number_eight(s + i, &eight))
            return 0;
        x = x * 100000000 + eight;
        i += 8;
    }
    for (; i < n; i++) {
        uint32_t d = (uint32_t)(uint8_t)s[i] - '0';
        if (d > 9 || (i == 19 && (x > UINT64_MAX / 10 || (x == UINT64_MAX / 10 && d > UINT64_MAX % 10))))
            return 0;
        x = x * 10 + d;
    }
    *v = x;
    return 1;
}

TLI_FN int tli_number_parse_i64(const char *s, size_t n, int64_t *v)
{
    int negative = n > 0 && s[0] == '-';
    uint64_t x = 0, most = negative ? (uint64_t)1 << 63 : INT64_MAX;
    if (!tli_number_parse_u64(s + negative, n - (size_t)negative, &x) || x > most)
        return 0;
    *v = negative ? (int64_t)((uint64_t)0 - x) : (int64_t)x;
    return 1;
}

/* ---- printing floating point ---- */

/* What differs between the two widths. */
typedef struct tli_number_kind {
    int32_t bits;     /* of the fraction that is stored */
    int32_t bias;     /* of the exponent when the significand is an integer */
    int32_t infinite; /* the stored exponent of infinities */
    int32_t plain_min, plain_max; /* decimal exponents written without `e` */
    int32_t least, most;          /* powers of ten below and above which a 64-bit integer times it is 0 and infinite */
    int32_t even_min, even_max;   /* powers of ten with which a halfway case can be */
} tli_number_kind;

static const tli_number_kind tli_number_double = {52, 1075, 2047, -5, 15, -342, 308, -4, 23};
static const tli_number_kind tli_number_single = {23, 150, 255, -6, 12, -64, 38, -17, 10};

/* digits x 10^exponent */
typedef struct tli_number_digits {
    uint64_t digits;
    int32_t exponent;
} tli_number_digits;

/* The top 64 of 192 bits, the last one set too when anything was cut (one unit of the table's error apart). */
TLI_INLINE uint64_t tli_number_odd(uint64_t high, uint64_t middle)
{
    return high | (middle > 1);
}

/* The shortest digits for c 2^q; `even`: c is, so that the ends of its interval belong to it; `close`: c is a power of
   two whose lower neighbour is only half as far. */
TLI_FN tli_number_digits tli_number_shortest(uint64_t c, int32_t q, int close)
{
    int32_t k = tli_number_log10(q, close ? 524031 : 0);
    uint32_t h = (uint32_t)(q + tli_number_log2(-k) + 1), up = 1 + h, down = close ? h : up;
    tli_number_wide g = tli_number_power(-k);
    uint64_t odd = (uint64_t)(c & 1), low, middle, high, carry, x, lower, value, upper, s;
    tli_number_digits d;
    int under, over;
    if (k > 27 || k < -55) { /* not exact: the method wants it rounded up */
        g.low++;
        g.high += g.low == 0;
    }
    low = tli_number_multiply(g.low, c << (2 + h), &carry);
    middle = tli_number_multiply(g.high, c << (2 + h), &high) + carry;
    high += middle < carry;
    value = tli_number_odd(high, middle);

    x = low + (g.low << up); /* the upper end: 2^up g more */
    carry = x < low;
    x = (g.high << up) | (g.low >> (64 - up));
    s = middle + x;
    upper = tli_number_odd(high + (g.high >> (64 - up)) + (s < x) + (s + carry < carry), s + carry) - odd;
    carry = low < g.low << down;
    x = (g.high << down) | (g.low >> (64 - down));
    s = middle - x;
    lower = tli_number_odd(high - (g.high >> (64 - down)) - (middle < x) - (s < carry), s - carry) + odd;

    s = value / 4;
    d.exponent = k;
    if (s >= 10) {
        uint64_t tens = s / 10 * 40;
        under = lower <= tens;
        over = tens + 40 <= upper;
        if (under != over) {
            d.digits = s / 10 + (uint64_t)over;
            d.exponent = k + 1;
            return d;
        }
    }
    under = lower <= 4 * s;
    over = 4 * s + 4 <= upper;
    if (under == over)
        over = value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1) != 0);
    d.digits = s + (uint64_t)over;
    return d;
}

TLI_INLINE size_t tli_number_exponent(char *out, int32_t e)
{
    size_t n = 2;
    out[0] = 'e';
    out[1] = e < 0 ? '-' : '+';
    e = e < 0 ? -e : e;
    if (e >= 100)
        out[n++] = (char)('0' + e / 100);
    if (e >= 10)
        out[n++] = (char)('0' + e / 10 % 10);
    out[n++] = (char)('0' + e % 10);
    return n;
}

/* The digits as plain decimal text, or with an exponent. All 17 places are stored from registers, zeros at the end
   too; what is too much is not counted. */
TLI_FN size_t tli_number_layout(char *out, tli_number_digits d, const tli_number_kind *kind)
{
    int32_t e = d.exponent + 16, n;
    uint64_t v = d.digits, a, b;
    uint32_t top, shift;
    if (v < 1000000000) {
        v *= 100000000;
        e -= 8;
    }
    for (; v < 10000000000000000u; e--)
        v *= 10;
    top = (uint32_t)(v / 100000000);
    a = tli_number_spread(top % 100000000);
    b = tli_number_spread((uint32_t)(v % 100000000));
    n = b != 0 ? 17 - (int32_t)tli_number_clz(b) / 8 : a != 0 ? 9 - (int32_t)tli_number_clz(a) / 8 : 1;
    a += TLI_NUMBER_ASCII;
    b += TLI_NUMBER_ASCII;
    if (e < 0 && e >= kind->plain_min) {
        TLI_COPY(out, "0.000000", 8);
        out += 1 - e;
        n += 1 - e;
    }
    out[0] = (char)('0' + top / 100000000);
    if (e < kind->plain_min || e > kind->plain_max) {
        out[1] = '.';
        tli_bits_put_le64(out + 2, a);
        tli_bits_put_le64(out + 10, b);
        n += n > 1;
        return (size_t)n + tli_number_exponent(out + n, e);
    }
    tli_bits_put_le64(out + 1, a);
    tli_bits_put_le64(out + 9, b);
    if (e < 0)
        return (size_t)n;
    if (e < 8 && n > e + 1) { /* behind the point all moves by one */
        shift = (uint32_t)e * 8;
        tli_bits_put_le64(out + e + 2, a >> shift);
        tli_bits_put_le64(out + 10, b);
    } else if (n > e + 1) {
        shift = (uint32_t)(e - 8) * 8;
        tli_bits_put_le64(out + e + 2, b >> shift);
    } else {
        out[e + 2] = '0';
        n = e + 2;
    }
    out[e + 1] = '.';
    return (size_t)n + 1;
}

TLI_INLINE size_t tli_number_float(char *out, uint64_t fraction, int32_t stored, const tli_number_kind *kind)
{
    uint64_t c = fraction | (uint64_t)(stored != 0) << kind->bits;
    int32_t q = stored != 0 ? stored - kind->bias : 1 - kind->bias;
    if (stored == kind->infinite) {
        TLI_COPY(out, fraction != 0 ? "NaN" : "inf", 3);
        return 3;
    }
    if (q <= 0 && q >= -kind->bits && (c & (((uint64_t)1 << -q) - 1)) == 0) { /* a whole number, written exactly */
        size_t n = tli_number_u64(out, c >> -q);
        out[n] = '.';
        out[n + 1] = '0';
        return n + 2;
    }
    if (c == 0) {
        TLI_COPY(out, "0.0", 3);
        return 3;
    }
    return tli_number_layout(out, tli_number_shortest(c, q, fraction == 0 && stored > 1), kind);
}

/* Shortest text that reads back as v: `0.1`, `-0.0`, `5e-324`, `1e+27`, `NaN`, `inf`, `-inf`. At most 24 characters;
   may touch 32. */
TLI_FN size_t tli_number_f64(char *out, double v)
{
    uint64_t bits, fraction;
    size_t sign;
    TLI_COPY(&bits, &v, 8);
    fraction = bits & 0x000fffffffffffffu;
    sign = (size_t)(bits >> 63);
    if (sign != 0 && (fraction == 0 || (bits >> 52 & 2047) != 2047))
        *out++ = '-';
    else
        sign = 0;
    return sign + tli_number_float(out, fraction, (int32_t)(bits >> 52 & 2047), &tli_number_double);
}

TLI_FN size_t tli_number_f32(char *out, float v)
{
    uint32_t bits, fraction;
    size_t sign;
    TLI_COPY(&bits, &v, 4);
    fraction = bits & 0x007fffffu;
    sign = (size_t)(bits >> 31);
    if (sign != 0 && (fraction == 0 || (bits >> 23 & 255) != 255))
        *out++ = '-';
    else
        sign = 0;
    return sign + tli_number_float(out, fraction, (int32_t)(bits >> 23 & 255), &tli_number_single);
}

/* ---- reading floating point ---- */

/* A number of the JSON grammar: its digits are a span with a point somewhere inside. */
typedef struct tli_number_text {
    uint64_t digits;   /* value of the digits; of the first 19 significant ones when `cut` */
    int64_t exponent;  /* times this power of ten */
    int negative;
    int cut;
    const char *first; /* the first significant digit, when cut */
    const char *end;   /* of the digits */
    int64_t scale;     /* power of ten of the last digit, when cut */
} tli_number_text;

TLI_INLINE const char *tli_number_run(const char *p, const char *end, uint64_t *value)
{
    uint64_t x = *value;
    uint32_t d;
    while (end - p >= 8 && tli_number_eight(p, &d)) {
        x = x * 100000000 + d;
        p += 8;
    }
    for (; p != end && (d = (uint32_t)(uint8_t)*p - '0') <= 9; p++)
        x = x * 10 + d;
    *value = x;
    return p;
}

/* The exponent after `e`, saturated far beyond where it matters; NULL when it is malformed. */
TLI_FN const char *tli_number_scan_exponent(const char *p, const char *end, int64_t *exponent)
{
    int64_t e = 0;
    int negative = 0;
    uint32_t d;
    const char *start;
    if (p != end && (*p == '-' || *p == '+'))
        negative = *p++ == '-';
    for (start = p; p != end && (d = (uint32_t)(uint8_t)*p - '0') <= 9; p++)
        if (e < (int64_t)1 << 56)
            e = e * 10 + (int64_t)d;
    *exponent += negative ? -e : e;
    return p == start ? NULL : p;
}

/* More than 19 digits, zeros in front counted: takes the first 19 significant ones. */
TLI_FN void tli_number_cut(tli_number_text *t, const char *p)
{
    int64_t left = 0;
    int count = 0;
    uint64_t x = 0;
    while (p != t->end && (*p == '0' || *p == '.'))
        p++;
    t->first = p;
    t->scale = t->exponent;
    for (; p != t->end; p++) {
        if (*p == '.')
            continue;
        if (count == 19) {
            t->cut |= *p != '0';
            left++;
            continue;
        }
        x = x * 10 + (uint64_t)(*p - '0');
        count++;
    }
    t->digits = x;
    t->exponent += left;
}

TLI_INLINE int tli_number_scan(tli_number_text *t, const char *s, size_t n)
{
    const char *p = s, *end = s + n, *start, *point = NULL;
    uint64_t x = 0;
    t->negative = n != 0 && *p == '-';
    p += t->negative;
    start = p;
    p = tli_number_run(p, end, &x);
    if (p == start || (p - start > 1 && *start == '0'))
        return 0;
    t->exponent = 0;
    if (p != end && *p == '.') {
        point = ++p;
        p = tli_number_run(p, end, &x);
        t->exponent = -(int64_t)(p - point);
        if (p == point)
            return 0;
    }
    t->end = p;
    t->digits = x;
    t->cut = 0;
    if (p != end) {
        if ((*p | 32) != 'e')
            return 0;
        p = tli_number_scan_exponent(p + 1, end, &t->exponent);
        if (p != end)
            return 0;
    }
    if (TLI_UNLIKELY(t->end - start > 19 + (point != NULL)))
        tli_number_cut(t, start);
    return 1;
}

/* The bits of w 10^q, rounded to the nearest, ties to even; exact for every w and q. */
TLI_FN uint64_t tli_number_round(uint64_t w, int64_t exponent, const tli_number_kind *kind)
{
    uint64_t high, low, more, extra, m, infinite = (uint64_t)kind->infinite << kind->bits;
    int32_t q = (int32_t)exponent, lz, top, drop, e;
    tli_number_wide g;
    if (w == 0 || exponent < kind->least)
        return 0;
    if (exponent > kind->most)
        return infinite;
    lz = (int32_t)tli_number_clz(w);
    w <<= lz;
    g = tli_number_power(q);
    low = tli_number_multiply(w, g.high, &high); /* reciprocals rounded up where w may have 5^-q as a factor */
    drop = 61 - kind->bits; /* below the fraction, a bit for rounding and one to spare */
    if ((high & (((uint64_t)1 << drop) - 1)) == ((uint64_t)1 << drop) - 1) {
        extra = tli_number_multiply(w, g.low, &more);
        (void)extra;
        low += more;
        high += low < more;
    }
    top = (int32_t)(high >> 63);
    drop += top;
    m = high >> drop;
    e = tli_number_log2(q) + 63 + top - lz + kind->bias - kind->bits;
    if (e <= 0) { /* denormal, or zero */
        if (e <= -63)
            return 0;
        m >>= 1 - e;
        m = (m + (m & 1)) >> 1;
        return m; /* rounding up to the least normal number gives its bits too */
    }
    if (low <= 1 && q >= kind->even_min && q <= kind->even_max && (m & 3) == 1 && m << drop == high)
        m &= ~(uint64_t)1; /* halfway: to the even one below */
    m = (m + (m & 1)) >> 1;
    m += (uint64_t)(e - 1) << kind->bits; /* the leading one counts as one more */
    return m < infinite ? m : infinite;
}

/* A natural number for the exact comparison: up to 101 digits of 32 bits, the lowest first. */
#define TLI_NUMBER_LIMBS 101
typedef struct tli_number_big {
    uint32_t count;
    uint32_t limb[TLI_NUMBER_LIMBS];
} tli_number_big;

TLI_FN void tli_number_big_scale(tli_number_big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    uint32_t i;
    for (i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    TLI_ASSERT(carry == 0 || b->count < TLI_NUMBER_LIMBS);
    if (carry != 0)
        b->limb[b->count++] = (uint32_t)carry;
}

/* Times 5^five 2^two. */
TLI_FN void tli_number_big_power(tli_number_big *b, int32_t five, int32_t two)
{
    for (; five >= 13; five -= 13)
        tli_number_big_scale(b, 1220703125, 0);
    for (; five > 0; five--)
        tli_number_big_scale(b, 5, 0);
    for (; two >= 31; two -= 31)
        tli_number_big_scale(b, (uint32_t)1 << 31, 0);
    tli_number_big_scale(b, (uint32_t)1 << (two > 0 ? two : 0), 0);
}

/* The digits of a cut number, 800 at most; that more follow is told by a last digit 1. Returns the power of ten of
   the last digit. */
TLI_FN int32_t tli_number_big_digits(tli_number_big *b, const tli_number_text *t)
{
    const char *p;
    int64_t exponent = t->scale;
    uint32_t count = 0, chunk = 0, factor = 1;
    int rest = 0;
    b->count = 0;
    for (p = t->first; p != t->end; p++) {
        if (*p == '.')
            continue;
        if (count == 800) {
            exponent++;
            rest |= *p != '0';
            continue;
        }
        count++;
        chunk = chunk * 10 + (uint32_t)(*p - '0');
        factor *= 10;
        if (factor == 1000000000) {
            tli_number_big_scale(b, factor, chunk);
            chunk = 0;
            factor = 1;
        }
    }
    tli_number_big_scale(b, factor, chunk);
    if (rest) {
        tli_number_big_scale(b, 10, 1);
        exponent--;
    }
    return (int32_t)exponent;
}

/* Whether the cut number is above (1), at (0) or below (-1) the value halfway between `bits` and the next. */
TLI_FN int tli_number_against_half(const tli_number_text *t, uint64_t bits, const tli_number_kind *kind)
{
    tli_number_big value, half;
    int32_t stored = (int32_t)(bits >> kind->bits), ten = tli_number_big_digits(&value, t), two;
    uint64_t m = (bits & (((uint64_t)1 << kind->bits) - 1)) | (uint64_t)(stored != 0) << kind->bits;
    uint32_t i;
    two = (stored != 0 ? stored : 1) - kind->bias - 1;
    m = m * 2 + 1;
    half.limb[0] = (uint32_t)m;
    half.limb[1] = (uint32_t)(m >> 32);
    half.count = half.limb[1] != 0 ? 2 : 1;
    two -= ten;
    tli_number_big_power(&value, ten > 0 ? ten : 0, two < 0 ? -two : 0);
    tli_number_big_power(&half, ten < 0 ? -ten : 0, two > 0 ? two : 0);
    if (value.count != half.count)
        return value.count > half.count ? 1 : -1;
    for (i = value.count; i-- > 0;)
        if (value.limb[i] != half.limb[i])
            return value.limb[i] > half.limb[i] ? 1 : -1;
    return 0;
}

TLI_INLINE uint64_t tli_number_read(const tli_number_text *t, const tli_number_kind *kind)
{
    uint64_t bits = tli_number_round(t->digits, t->exponent, kind);
    if (TLI_UNLIKELY(t->cut) && bits != tli_number_round(t->digits + 1, t->exponent, kind)) {
        int order = tli_number_against_half(t, bits, kind);
        bits += order > 0 || (order == 0 && (bits & 1) != 0);
    }
    return bits;
}

/* A number of the JSON grammar, correctly rounded; too large is an infinity. 0 for other text. */
TLI_FN int tli_number_parse_f64(const char *s, size_t n, double *v)
{
    tli_number_text t;
    uint64_t bits;
    if (!tli_number_scan(&t, s, n))
        return 0;
    bits = tli_number_read(&t, &tli_number_double) | (uint64_t)t.negative << 63;
    TLI_COPY(v, &bits, 8);
    return 1;
}

TLI_FN int tli_number_parse_f32(const char *s, size_t n, float *v)
{
    tli_number_text t;
    uint32_t bits;
    if (!tli_number_scan(&t, s, n))
        return 0;
    bits = (uint32_t)tli_number_read(&t, &tli_number_single) | (uint32_t)t.negative << 31;
    TLI_COPY(v, &bits, 4);
    return 1;
}

/* ---- half precision ---- */

TLI_FN float tli_number_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 1023u, bits;
    float v;
    if (e == 31) {
        bits = sign | 0x7f800000u | m << 13;
    } else if (e != 0) {
        bits = sign | (e + 112) << 23 | m << 13;
    } else if (m == 0) {
        bits = sign;
    } else { /* denormal: m 2^-24 with the leading one made explicit */
        uint32_t shift = tli_number_clz(m) - 53;
        bits = sign | (113 - shift) << 23 | (m << (shift + 13) & 0x007fffffu);
    }
    TLI_COPY(&v, &bits, 4);
    return v;
}

/* To the nearest, ties to even; too large is an infinity. */
TLI_FN uint16_t tli_number_f32_to_f16(float v)
{
    uint32_t bits, sign, e, m, drop, half;
    TLI_COPY(&bits, &v, 4);
    sign = bits >> 16 & 0x8000u;
    e = bits >> 23 & 255;
    m = bits & 0x007fffffu;
    if (e == 255)
        return (uint16_t)(sign | 0x7c00u | (m != 0 ? 0x0200u | m >> 13 : 0));
    if (e < 102)
        return (uint16_t)sign;
    if (e < 113) {
        m |= 0x00800000u;
        drop = 126 - e;
        e = 0;
    } else {
        drop = 13;
        e -= 112;
        m |= e << 23; /* above 31 it comes out above the largest number below */
    }
    half = (uint32_t)1 << (drop - 1);
    m += half - 1 + (m >> drop & 1);
    m >>= drop;
    return (uint16_t)(sign | (m < 0x7c00u ? m : 0x7c00u));
}

/* ---- decimals ---- */

/* The magnitude of a native-order two's complement number as 32-bit digits, the lowest first. */
TLI_INLINE int tli_number_magnitude(uint32_t *limb, const void *value, int32_t width)
{
    int32_t count = width / 4, i;
    uint64_t carry = 1;
    for (i = 0; i < count; i++)
        limb[i] = tli_bits_u32((const uint8_t *)value + 4 * (TLI_BIG_ENDIAN ? count - 1 - i : i));
    if (limb[count - 1] >> 31 == 0)
        return 0;
    for (i = 0; i < count; i++) {
        carry += ~limb[i];
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return 1;
}

/* The decimal digits of an unsigned number, which is spent. At most 78. */
TLI_FN size_t tli_number_wide_digits(char *out, uint32_t *limb, int32_t count)
{
    uint32_t chunk[9];
    int32_t n = 0, i;
    size_t size;
    while (count > 2 && limb[count - 1] == 0)
        count--;
    while (count > 2) {
        uint64_t rest = 0;
        for (i = count; i-- > 0;) {
            rest = rest << 32 | limb[i];
            limb[i] = (uint32_t)(rest / 100000000);
            rest %= 100000000;
        }
        chunk[n++] = (uint32_t)rest;
        while (count > 2 && limb[count - 1] == 0)
            count--;
    }
    size = tli_number_u64(out, limb[0] | (count > 1 ? (uint64_t)limb[1] << 32 : 0));
    while (n-- > 0) {
        tli_bits_put_le64(out + size, tli_number_spread(chunk[n]) + TLI_NUMBER_ASCII);
        size += 8;
    }
    return size;
}

/* value / 10^scale in all its digits: `-0.96`, `5`, `0.00`; of a negative scale `123E2`, of one above 76 `7E-80`.
   At most 93 characters. */
TLI_FN size_t tli_number_decimal(char *out, const void *value, int32_t width, int32_t scale)
{
    char digits[88];
    uint32_t limb[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int negative = tli_number_magnitude(limb, value, width);
    size_t n = tli_number_wide_digits(digits, limb, width / 4), size = 0, whole;
    if (negative)
        out[size++] = '-';
    if (scale < 0 || scale > 76) {
        TLI_COPY(out + size, digits, n);
        size += n;
        out[size++] = 'E';
        return size + tli_number_i64(out + size, -(int64_t)scale);
    }
    whole = n > (size_t)scale ? n - (size_t)scale : 0;
    if (whole == 0)
        out[size++] = '0';
    TLI_COPY(out + size, digits, whole);
    size += whole;
    if (scale == 0)
        return size;
    out[size++] = '.';
    for (; n - whole < (size_t)scale && size < 96; scale--)
        out[size++] = '0';
    TLI_COPY(out + size, digits + whole, n - whole);
    return size + n - whole;
}

/* What decimal text says: its digits from the first to the last that is not 0 (a point may lie among them), and the
   power of ten of the last one. */
typedef struct tli_number_plain {
    const char *first;
    int64_t count;
    int64_t exponent;
    int negative;
} tli_number_plain;

TLI_FN int tli_number_scan_decimal(tli_number_plain *d, const char *s, size_t n)
{
    const char *p = s, *end = s + n, *point = NULL;
    int64_t seen = 0, after = 0, first = 0, last = -1;
    d->negative = n != 0 && *p == '-';
    d->first = s;
    if (n != 0 && (*p == '-' || *p == '+'))
        p++;
    for (; p != end; p++) {
        if (*p == '.' && point == NULL) {
            point = p;
            continue;
        }
        if ((uint32_t)(uint8_t)*p - '0' > 9)
            break;
        if (*p != '0') {
            if (last < 0) {
                first = seen;
                d->first = p;
            }
            last = seen;
        }
        seen++;
        after += point != NULL;
    }
    if (seen == 0)
        return 0;
    d->count = last < 0 ? 0 : last - first + 1;
    d->exponent = seen - after - 1 - last;
    return p == end || ((*p | 32) == 'e' && tli_number_scan_exponent(p + 1, end, &d->exponent) == end);
}

/* The first `count` digits, then `zeros` more, as an unsigned number; the caller knows that they fit. */
TLI_FN void tli_number_wide_read(uint32_t *limb, int32_t limbs, const char *p, int64_t count, int64_t zeros)
{
    uint32_t chunk = 0, factor = 1;
    int32_t i;
    while (count + zeros > 0) {
        if (count > 0 && *p == '.') {
            p++;
            continue;
        }
        chunk = chunk * 10 + (count > 0 ? (uint32_t)(*p++ - '0') : 0);
        factor *= 10;
        if (count > 0)
            count--;
        else
            zeros--;
        if (factor == 1000000000 || count + zeros == 0) {
            uint64_t carry = chunk;
            for (i = 0; i < limbs; i++) {
                carry += (uint64_t)limb[i] * factor;
                limb[i] = (uint32_t)carry;
                carry >>= 32;
            }
            chunk = 0;
            factor = 1;
        }
    }
}

/* Reads decimal text (sign, digits with a point, exponent) as a number of `precision` digits, `scale` of them behind
   the point, into native-order two's complement of `width` bytes. 1: exactly so; 2: digits behind the scale were
   dropped; 0: other text, or too large. */
TLI_FN int tli_number_read_decimal(const char *s, size_t n, void *value, int32_t width, int32_t precision,
                                   int32_t scale)
{
    static const int32_t most[9] = {0, 9, 18, 0, 38, 0, 0, 0, 76};
    tli_number_plain d;
    uint32_t limb[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int32_t limbs = width / 4, i;
    int64_t shift;
    if (!tli_number_scan_decimal(&d, s, n))
        return 0;
    shift = d.exponent + scale;
    if (d.count != 0 && d.count + shift > 0) {
        if (d.count + shift > TLI_MIN(precision, most[limbs]))
            return 0;
        tli_number_wide_read(limb, limbs, d.first, TLI_MIN(d.count, d.count + shift), TLI_MAX(shift, 0));
    }
    if (d.negative) {
        uint64_t carry = 1;
        for (i = 0; i < limbs; i++) {
            carry += ~limb[i];
            limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    for (i = 0; i < limbs; i++)
        tli_bits_put32((uint8_t *)value + 4 * (TLI_BIG_ENDIAN ? limbs - 1 - i : i), limb[i]);
    return d.count != 0 && shift < 0 ? 2 : 1;
}

/* The same when it must fit exactly: 1 or 0. */
TLI_FN int tli_number_parse_decimal(const char *s, size_t n, void *value, int32_t width, int32_t precision,
                                    int32_t scale)
{
    return tli_number_read_decimal(s, n, value, width, precision, scale) == 1;
}

/* ---- hex ---- */

/* Four bytes (the first in the lowest place) as eight hex digits. */
TLI_INLINE uint64_t tli_number_hex8(uint32_t bytes)
{
    uint64_t v = bytes, letters;
    v = (v << 16 | v) & 0x0000ffff0000ffffu;
    v = (v << 8 | v) & 0x00ff00ff00ff00ffu;
    v = (v >> 4 & 0x000f000f000f000fu) | (v & 0x000f000f000f000fu) << 8;
    letters = (v + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    return v + TLI_NUMBER_ASCII + letters * ('a' - '0' - 10);
}

TLI_FN void tli_number_hex(char *out, const void *data, size_t n)
{
    const uint8_t *p = (const uint8_t *)data;
    for (; n >= 4; n -= 4, p += 4, out += 8)
        tli_bits_put_le64(out, tli_number_hex8(tli_bits_le32(p)));
    for (; n > 0; n--, p++, out += 2) {
        uint64_t digits = tli_number_hex8(*p);
        out[0] = (char)(digits & 127);
        out[1] = (char)(digits >> 8 & 127);
    }
}

/* Eight hex digits of either case as four bytes (the first in the lowest place); 0 for other characters. */
TLI_INLINE int tli_number_unhex8(uint64_t x, uint32_t *bytes)
{
    const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
    uint64_t y = x | 0x2020202020202020u, digit, letter;
    digit = (x + ones * (0x80 - '0')) & ~(x + ones * (0x7f - '9'));
    letter = (y + ones * (0x80 - 'a')) & ~(y + ones * (0x7f - 'f'));
    if ((x & high) != 0 || ((digit | letter) & high) != high)
        return 0;
    x = (x & (ones * 15)) + (x >> 6 & ones) * 9;
    x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    *bytes = (uint32_t)(x | x >> 16);
    return 1;
}

/* n / 2 bytes of n hex digits of either case; 0 when n is odd or another character is met. */
TLI_FN int tli_number_unhex(uint8_t *out, const char *s, size_t n)
{
    uint32_t bytes;
    if (n % 2 != 0)
        return 0;
    for (; n >= 8; n -= 8, s += 8, out += 4) {
        if (!tli_number_unhex8(tli_bits_le64(s), &bytes))
            return 0;
        tli_bits_put_le32(out, bytes);
    }
    for (; n > 0; n -= 2, s += 2) {
        if (!tli_number_unhex8((TLI_NUMBER_ASCII & ~(uint64_t)0xffff) | tli_bits_le16(s), &bytes))
            return 0;
        *out++ = (uint8_t)bytes;
    }
    return 1;
}

/* >>time: dates, times and spans of time as ISO 8601 text, as arrow-rs writes and reads it.

   Printers answer the characters written (`out` has room for 96), or 0 when the value has no text: callers write
   integers then. Parsers answer 1, or 0 for any other text, and for a value that the type cannot hold exactly.
   Calendar: proleptic Gregorian,
       exact for all int64 (the shift of the year's start to March makes the leap day the last). */

static const int64_t tli_time_per_second[4] = {1, 1000, 1000000, 1000000000};

/* whole x per + rest (0 <= rest < per), exactly; 0 when it passes 64 bits. */
TLI_INLINE int tli_time_combine(int64_t whole, uint32_t rest, int64_t per, int64_t *out)
{
    uint64_t x;
    if (!tli_bits_mul(whole < 0 ? (uint64_t)0 - (uint64_t)whole : (uint64_t)whole, (uint64_t)per, &x))
        return 0;
    x = whole < 0 ? x - rest : x + rest;
    *out = (int64_t)(whole < 0 ? (uint64_t)0 - x : x);
    return x <= (uint64_t)INT64_MAX + (whole < 0);
}

/* Quotient rounded down, and the rest that belongs to it (0..by-1). */
TLI_INLINE int64_t tli_time_floor(int64_t v, int64_t by, int64_t *rest)
{
    int64_t q = v / by, r = v % by;
    *rest = r < 0 ? r + by : r;
    return r < 0 ? q - 1 : q;
}

TLI_INLINE char *tli_time_two(char *out, uint32_t v)
{
    out[0] = (char)('0' + v / 10);
    out[1] = (char)('0' + v % 10);
    return out + 2;
}

/* v in `digits` digits, at most 9. */
TLI_INLINE char *tli_time_padded(char *out, uint32_t v, uint32_t digits)
{
    uint32_t i;
    for (i = digits; i-- > 0; v /= 10)
        out[i] = (char)('0' + v % 10);
    return out + digits;
}

TLI_INLINE char *tli_time_year(char *out, int64_t year)
{
    uint64_t y = year < 0 ? (uint64_t)0 - (uint64_t)year : (uint64_t)year;
    if (year < 0 || year > 9999)
        *out++ = year < 0 ? '-' : '+';
    if (y > 9999)
        return out + tli_number_u64(out, y);
    return tli_time_two(tli_time_two(out, (uint32_t)y / 100), (uint32_t)y % 100);
}

/* `YYYY-MM-DD` of a day counted from 1970-01-01; years outside 0..9999 carry a sign (`+10183`, `-0001`). */
TLI_FN size_t tli_time_date(char *out, int64_t days)
{
    int64_t of_era, era = tli_time_floor(days, 146097, &of_era), year;
    uint32_t day, y, month;
    char *p;
    of_era += 135080; /* from 0000-03-01: 719468 days, four eras and this */
    era += 4;
    if (of_era >= 146097) {
        of_era -= 146097;
        era++;
    }
    day = (uint32_t)of_era;
    y = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * y + y / 4 - y / 100;
    month = (5 * day + 2) / 153; /* from March */
    day -= (153 * month + 2) / 5;
    year = era * 400 + (int64_t)y + (month >= 10);
    p = tli_time_year(out, year);
    *p++ = '-';
    p = tli_time_two(p, month < 10 ? month + 3 : month - 9);
    *p++ = '-';
    return (size_t)(tli_time_two(p, day + 1) - out);
}

/* `HH:MM:SS`, and three, six or nine digits of a fraction that is not 0. `rest` counts the unit within the second. */
TLI_INLINE char *tli_time_hms(char *p, uint32_t second, uint32_t rest, tl_unit unit)
{
    p = tli_time_two(p, second / 3600);
    *p++ = ':';
    p = tli_time_two(p, second / 60 % 60);
    *p++ = ':';
    p = tli_time_two(p, second % 60);
    if (rest != 0) {
        uint32_t digits = 3 * (uint32_t)unit;
        while (digits > 3 && rest % 1000 == 0) {
            rest /= 1000;
            digits -= 3;
        }
        *p++ = '.';
        p = tli_time_padded(p, rest, digits);
    }
    return p;
}

/* A time of day; 0 when `units` lie outside the day. */
TLI_FN size_t tli_time_clock(char *out, int64_t units, tl_unit unit)
{
    int64_t per = tli_time_per_second[unit];
    if (units < 0 || units >= 86400 * per)
        return 0;
    return (size_t)(tli_time_hms(out, (uint32_t)(units / per), (uint32_t)(units % per), unit) - out);
}

/* `UTC`, `Z`, `+05:30`, `+0530`, `+05` as seconds east of Greenwich; 0 for any other zone. */
TLI_FN int tli_time_zone(tl_span zone, int32_t *seconds)
{
    uint32_t d[4] = {0, 0, 0, 0}, i, n = 0;
    *seconds = 0;
    if ((zone.size == 1 && (zone.data[0] | 32) == 'z')
        || (zone.size == 3 && zone.data[0] == 'U' && zone.data[1] == 'T' && zone.data[2] == 'C'))
        return 1;
    if (zone.size < 3 || zone.size > 6 || (zone.data[0] != '+' && zone.data[0] != '-'))
        return 0;
    for (i = 1; i < zone.size; i++) {
        uint32_t digit = (uint32_t)(uint8_t)zone.data[i] - '0';
        if (i == 3 && zone.size == 6 && zone.data[i] == ':')
            continue;
        if (digit > 9 || n == 4)
            return 0;
        d[n++] = digit;
    }
    if (n == 3 || d[0] * 10 + d[1] > 23 || d[2] > 5)
        return 0;
    *seconds = (int32_t)((d[0] * 10 + d[1]) * 3600 + (d[2] * 10 + d[3]) * 60);
    if (zone.data[0] == '-')
        *seconds = -*seconds;
    return 1;
}

/* A point in time: local text; with a zone (a span that is not absent) `Z` or `+05:30` behind it. 0 for a
   named zone. */
TLI_FN size_t tli_time_stamp(char *out, int64_t units, tl_unit unit, tl_span zone)
{
    int64_t rest, second, days, of_day;
    int32_t offset = 0;
    char *p;
    if (zone.data != NULL && !tli_time_zone(zone, &offset))
        return 0;
    second = tli_time_floor(units, tli_time_per_second[unit], &rest);
    days = tli_time_floor(second, 86400, &of_day);
    of_day += offset; /* after the division: seconds of all int64 do not overflow */
    if (of_day < 0 || of_day >= 86400)
        days += tli_time_floor(of_day, 86400, &of_day);
    p = out + tli_time_date(out, days);
    *p++ = 'T';
    p = tli_time_hms(p, (uint32_t)of_day, (uint32_t)rest, unit);
    if (zone.data != NULL && offset == 0) {
        *p++ = 'Z';
    } else if (zone.data != NULL) {
        *p++ = offset < 0 ? '-' : '+';
        offset = offset < 0 ? -offset : offset;
        p = tli_time_two(p, (uint32_t)offset / 3600);
        *p++ = ':';
        p = tli_time_two(p, (uint32_t)offset / 60 % 60);
    }
    return (size_t)(p - out);
}

/* Whole number and fraction of a count of units, without the zeros at the end: `0.001`, `12`. */
TLI_FN char *tli_time_fraction(char *p, uint64_t units, tl_unit unit)
{
    uint64_t per = (uint64_t)tli_time_per_second[unit];
    uint32_t rest = (uint32_t)(units % per), digits = 3 * (uint32_t)unit;
    p += tli_number_u64(p, units / per);
    if (rest == 0)
        return p;
    for (; rest % 10 == 0; rest /= 10)
        digits--;
    *p++ = '.';
    return tli_time_padded(p, rest, digits);
}

/* `-PT0.001S`, `P0D` */
TLI_FN size_t tli_time_duration(char *out, int64_t units, tl_unit unit)
{
    uint64_t v = units < 0 ? (uint64_t)0 - (uint64_t)units : (uint64_t)units;
    char *p = out;
    if (units == 0) {
        TLI_COPY(out, "P0D", 3);
        return 3;
    }
    if (units < 0)
        *p++ = '-';
    *p++ = 'P';
    *p++ = 'T';
    p = tli_time_fraction(p, v, unit);
    *p++ = 'S';
    return (size_t)(p - out);
}

/* ---- intervals ---- */

TLI_INLINE char *tli_time_part(char *out, char *p, int64_t v, const char *name)
{
    if (p != out)
        *p++ = ' ';
    p += tli_number_i64(p, v);
    while (*name != 0)
        *p++ = *name++;
    return p;
}

/* `1 years 1 mons`: years rounded down. */
TLI_FN size_t tli_time_months(char *out, int32_t months)
{
    int64_t rest, years = tli_time_floor(months, 12, &rest);
    char *p = tli_time_part(out, out, years, " years");
    return (size_t)(tli_time_part(out, p, rest, " mons") - out);
}

/* `14 mons -2 days 1 hours 3.000000001 secs`, parts that are 0 left out, `0 secs` when all are. The clock is in `unit`
   (of day-time intervals milliseconds), a fraction always in its full length. */
TLI_FN size_t tli_time_interval(char *out, int32_t months, int32_t days, int64_t clock, tl_unit unit)
{
    int64_t per = tli_time_per_second[unit], seconds = clock / per, rest = clock % per;
    char *p = out;
    if (months == 0 && days == 0 && clock == 0) {
        TLI_COPY(out, "0 secs", 6);
        return 6;
    }
    if (months != 0)
        p = tli_time_part(out, p, months, " mons");
    if (days != 0)
        p = tli_time_part(out, p, days, " days");
    if (seconds / 3600 != 0)
        p = tli_time_part(out, p, seconds / 3600, " hours");
    if (seconds / 60 % 60 != 0)
        p = tli_time_part(out, p, seconds / 60 % 60, " mins");
    seconds %= 60;
    if (seconds != 0 || rest != 0) {
        if (p != out)
            *p++ = ' ';
        if (seconds < 0 || rest < 0)
            *p++ = '-';
        p += tli_number_u64(p, (uint64_t)(seconds < 0 ? -seconds : seconds));
        *p++ = '.';
        p = tli_time_padded(p, (uint32_t)(rest < 0 ? -rest : rest), 3 * (uint32_t)unit);
        TLI_COPY(p, " secs", 5);
        p += 5;
    }
    return (size_t)(p - out);
}

/* ---- parsers ---- */

/* A place in text. Readers move it; `bad` stays set once something was not as it must be. */
typedef struct tli_time_reader {
    const char *p;
    const char *end;
    int bad;
} tli_time_reader;

TLI_INLINE tli_time_reader tli_time_begin(const char *s, size_t n)
{
    tli_time_reader r;
    r.p = s;
    r.end = s + n;
    r.bad = 0;
    return r;
}

TLI_INLINE int tli_time_take(tli_time_reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return 0;
    r->p++;
    return 1;
}

/* Exactly two digits. */
TLI_INLINE uint32_t tli_time_read_two(tli_time_reader *r, uint32_t most)
{
    uint32_t a, b;
    if (r->end - r->p < 2) {
        r->bad = 1;
        return 0;
    }
    a = (uint32_t)(uint8_t)r->p[0] - '0';
    b = (uint32_t)(uint8_t)r->p[1] - '0';
    r->p += 2;
    r->bad |= a > 9 || b > 9 || a * 10 + b > most;
    return a * 10 + b;
}

/* Digits as many as there are, at least one; more than UINT64_MAX is bad. */
TLI_FN uint64_t tli_time_read_digits(tli_time_reader *r)
{
    uint64_t v = 0;
    const char *start = r->p;
    for (; r->p != r->end && (uint32_t)(uint8_t)*r->p - '0' <= 9; r->p++) {
        uint64_t d = (uint64_t)(*r->p - '0');
        if (v > (UINT64_MAX - d) / 10)
            r->bad = 1;
        v = v * 10 + d;
    }
    r->bad |= r->p == start;
    return v;
}

/* The digits of a fraction in the unit; digits below the unit must be 0. */
TLI_FN uint32_t tli_time_read_fraction(tli_time_reader *r, tl_unit unit)
{
    uint32_t v = 0, digits = 3 * (uint32_t)unit;
    const char *start = r->p;
    for (; r->p != r->end && (uint32_t)(uint8_t)*r->p - '0' <= 9; r->p++) {
        if (digits > 0) {
            v = v * 10 + (uint32_t)(*r->p - '0');
            digits--;
        } else {
            r->bad |= *r->p != '0';
        }
    }
    r->bad |= r->p == start;
    for (; digits > 0; digits--)
        v *= 10;
    return v;
}

/* The day of a date; a signed year has four digits or more, any other exactly four. */
TLI_FN int64_t tli_time_read_date(tli_time_reader *r)
{
    static const uint8_t length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int negative = tli_time_take(r, '-'), sign = negative || tli_time_take(r, '+'), leap;
    const char *start = r->p;
    uint64_t y = tli_time_read_digits(r);
    int64_t year, era, of_era;
    uint32_t month, day;
    r->bad |= r->p - start < 4 || (!sign && r->p - start > 4) || y > (uint64_t)30000000000000000u
              || !tli_time_take(r, '-');
    month = tli_time_read_two(r, 12);
    r->bad |= !tli_time_take(r, '-');
    day = tli_time_read_two(r, 31);
    if (r->bad || month == 0 || day == 0) {
        r->bad = 1;
        return 0;
    }
    year = negative ? -(int64_t)y : (int64_t)y;
    leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    r->bad |= day > length[month - 1] + (uint32_t)(leap && month == 2);
    era = tli_time_floor(year - (month <= 2), 400, &of_era);
    day += (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 - 1;
    of_era = of_era * 365 + of_era / 4 - of_era / 100 + (int64_t)day - 135080; /* back from 0000-03-01 */
    era -= of_era < 0 ? 5 : 4;
    of_era += of_era < 0 ? 146097 : 0;
    r->bad |= !tli_time_combine(era, (uint32_t)of_era, 146097, &year);
    return year;
}

/* Seconds of `HH:MM[:SS[.fraction]]`, and the fraction in the unit. */
TLI_FN int64_t tli_time_read_clock(tli_time_reader *r, tl_unit unit, uint32_t *fraction)
{
    uint32_t hour = tli_time_read_two(r, 23), minute, second = 0;
    *fraction = 0;
    r->bad |= !tli_time_take(r, ':');
    minute = tli_time_read_two(r, 59);
    if (tli_time_take(r, ':')) {
        second = tli_time_read_two(r, 59);
        if (tli_time_take(r, '.'))
            *fraction = tli_time_read_fraction(r, unit);
    }
    return (int64_t)(hour * 3600 + minute * 60 + second);
}

/* A date alone. */
TLI_FN int tli_time_parse_date(const char *s, size_t n, int64_t *days)
{
    tli_time_reader r = tli_time_begin(s, n);
    *days = tli_time_read_date(&r);
    return !r.bad && r.p == r.end;
}

TLI_FN int tli_time_parse_clock(const char *s, size_t n, tl_unit unit, int64_t *units)
{
    tli_time_reader r = tli_time_begin(s, n);
    uint32_t fraction;
    int64_t second = tli_time_read_clock(&r, unit, &fraction);
    *units = second * tli_time_per_second[unit] + (int64_t)fraction;
    return !r.bad && r.p == r.end;
}

/* A point in time: `T` or a space between date and time, or a date alone; an offset behind it counts, without one the
   text is local to `zone` (absent: UTC; a named one: 0). Dates with times (date64) are read with unit milli. */
TLI_FN int tli_time_parse_stamp(const char *s, size_t n, tl_unit unit, tl_span zone, int64_t *units)
{
    tli_time_reader r = tli_time_begin(s, n);
    int64_t days = tli_time_read_date(&r), second = 0;
    uint32_t fraction = 0;
    int32_t offset = 0;
    if (r.bad)
        return 0;
    if (tli_time_take(&r, 'T') || tli_time_take(&r, ' ') || tli_time_take(&r, 't'))
        second = tli_time_read_clock(&r, unit, &fraction);
    if (r.bad)
        return 0;
    if (r.p != r.end)
        zone = tli_text_span(r.p, (size_t)(r.end - r.p));
    if (zone.data != NULL && !tli_time_zone(zone, &offset))
        return 0;
    days += tli_time_floor(second - offset, 86400, &second);
    return tli_time_combine(days, (uint32_t)second, 86400, &second)
           && tli_time_combine(second, fraction, tli_time_per_second[unit], units);
}

/* ISO durations of days, hours, minutes and seconds (the last with a fraction); a sign in front. */
TLI_FN int tli_time_parse_duration(const char *s, size_t n, tl_unit unit, int64_t *units)
{
    static const char names[] = "DHMS";
    static const uint32_t seconds[4] = {86400, 3600, 60, 1};
    tli_time_reader r = tli_time_begin(s, n);
    int negative = tli_time_take(&r, '-'), in_time = 0, parts = 0;
    uint64_t total = 0, v, per = (uint64_t)tli_time_per_second[unit];
    uint32_t next = 0, fraction = 0, i;
    if (!negative)
        (void)tli_time_take(&r, '+');
    if (!tli_time_take(&r, 'P'))
        return 0;
    while (r.p != r.end && !r.bad) {
        int point;
        if (!in_time && tli_time_take(&r, 'T')) {
            in_time = 1;
            continue;
        }
        v = tli_time_read_digits(&r);
        point = tli_time_take(&r, '.');
        if (point)
            fraction = tli_time_read_fraction(&r, unit);
        for (i = next; i < 4 && (r.p == r.end || *r.p != names[i]); i++)
            continue;
        if (r.bad || i == 4 || (i > 0) != in_time || (point && i != 3) || v > UINT64_MAX / seconds[i] / per
            || !tli_bits_add(total, v * seconds[i] * per, &total))
            return 0;
        r.p++;
        next = i + 1;
        parts++;
    }
    if (r.bad || parts == 0 || !tli_bits_add(total, fraction, &total) || total > ((uint64_t)1 << 63) - !negative)
        return 0;
    *units = negative ? (int64_t)((uint64_t)0 - total) : (int64_t)total;
    return 1;
}

/* The word at the reader as its place in `names`, each ended by a space; -1 for another. A plural `s` may lack. */
TLI_FN int32_t tli_time_read_word(tli_time_reader *r)
{
    static const char names[] = "year mon day hour min sec ";
    const char *name = names;
    int32_t which = 0;
    for (; *name != 0; which++) {
        const char *p = r->p;
        while (*name != ' ' && p != r->end && *p == *name) {
            p++;
            name++;
        }
        if (*name == ' ') {
            if (p != r->end && *p == 's')
                p++;
            if (p == r->end || *p == ' ') {
                r->p = p;
                return which;
            }
        }
        while (*name++ != ' ')
            continue;
    }
    return -1;
}

/* Adds v x factor + fraction to *sum, or takes it off; 0 when that passes 64 bits. */
TLI_FN int tli_time_sum(int64_t *sum, int negative, uint64_t v, uint64_t factor, uint64_t fraction)
{
    uint64_t x, at = (uint64_t)*sum, room = negative ? at + ((uint64_t)1 << 63) : (uint64_t)INT64_MAX - at;
    if (!tli_bits_mul(v, factor, &x) || !tli_bits_add(x, fraction, &x) || x > room)
        return 0;
    *sum = (int64_t)(negative ? at - x : at + x);
    return 1;
}

/* The text of any interval: parts of number and word, each part once or more. */
TLI_FN int tli_time_parse_interval(const char *s, size_t n, int32_t *months, int32_t *days, int64_t *nanos)
{
    static const uint64_t factor[6] = {12, 1, 1, 3600000000000u, 60000000000u, 1000000000u};
    tli_time_reader r = tli_time_begin(s, n);
    int64_t sum[3] = {0, 0, 0};
    if (n == 0)
        return 0;
    for (;;) {
        int negative = tli_time_take(&r, '-');
        uint64_t v = tli_time_read_digits(&r), fraction = 0;
        int32_t word, which;
        int point = tli_time_take(&r, '.');
        if (point)
            fraction = tli_time_read_fraction(&r, TL_UNIT_NANO);
        if (r.bad || !tli_time_take(&r, ' '))
            return 0;
        word = tli_time_read_word(&r);
        which = word < 2 ? 0 : word == 2 ? 1 : 2;
        if (word < 0 || (point && word != 5))
            return 0;
        if (!tli_time_sum(&sum[which], negative, v, factor[word], fraction))
            return 0;
        if (r.p == r.end)
            break;
        if (!tli_time_take(&r, ' '))
            return 0;
    }
    *months = (int32_t)sum[0];
    *days = (int32_t)sum[1];
    *nanos = sum[2];
    return *months == sum[0] && *days == sum[1];
}

/* >>hash: xxHash of 64 and of 32 bits, as its specification describes them: the checksums of zstd and LZ4 frames. */
#define TLI_HASH_P64_1 UINT64_C(0x9E3779B185EBCA87)
#define TLI_HASH_P64_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define TLI_HASH_P64_3 UINT64_C(0x165667B19E3779F9)
#define TLI_HASH_P64_4 UINT64_C(0x85EBCA77C2B2AE63)
#define TLI_HASH_P64_5 UINT64_C(0x27D4EB2F165667C5)
#define TLI_HASH_P32_1 UINT32_C(0x9E3779B1)
#define TLI_HASH_P32_2 UINT32_C(0x85EBCA77)
#define TLI_HASH_P32_3 UINT32_C(0xC2B2AE3D)
#define TLI_HASH_P32_4 UINT32_C(0x27D4EB2F)
#define TLI_HASH_P32_5 UINT32_C(0x165667B1)

TLI_INLINE uint64_t tli_hash_rotate64(uint64_t v, int bits)
{
    return (v << bits) | (v >> (64 - bits));
}

TLI_INLINE uint32_t tli_hash_rotate32(uint32_t v, int bits)
{
    return (v << bits) | (v >> (32 - bits));
}

TLI_INLINE uint64_t tli_hash_round64(uint64_t lane, uint64_t input)
{
    return tli_hash_rotate64(lane + input * TLI_HASH_P64_2, 31) * TLI_HASH_P64_1;
}

TLI_INLINE uint32_t tli_hash_round32(uint32_t lane, uint32_t input)
{
    return tli_hash_rotate32(lane + input * TLI_HASH_P32_2, 13) * TLI_HASH_P32_1;
}

TLI_INLINE uint64_t tli_hash_merge64(uint64_t hash, uint64_t lane)
{
    return (hash ^ tli_hash_round64(0, lane)) * TLI_HASH_P64_1 + TLI_HASH_P64_4;
}

/* The last fewer than 32 bytes, and the final mixing. */
TLI_FN uint64_t tli_hash_finish64(uint64_t hash, const uint8_t *p, size_t left)
{
    for (; left >= 8; left -= 8, p += 8)
        hash = tli_hash_rotate64(hash ^ tli_hash_round64(0, tli_bits_le64(p)), 27) * TLI_HASH_P64_1 + TLI_HASH_P64_4;
    if (left >= 4) {
        hash ^= tli_bits_le32(p) * TLI_HASH_P64_1;
        hash = tli_hash_rotate64(hash, 23) * TLI_HASH_P64_2 + TLI_HASH_P64_3;
        p += 4;
        left -= 4;
    }
    for (; left > 0; left--, p++)
        hash = tli_hash_rotate64(hash ^ *p * TLI_HASH_P64_5, 11) * TLI_HASH_P64_1;
    hash = (hash ^ (hash >> 33)) * TLI_HASH_P64_2;
    hash = (hash ^ (hash >> 29)) * TLI_HASH_P64_3;
    return hash ^ (hash >> 32);
}

TLI_FN uint64_t tli_hash_xxh64(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *p = (const uint8_t *)data;
    uint64_t hash = seed + TLI_HASH_P64_5;
    size_t left = size;
    if (left >= 32) {
        uint64_t a = seed + TLI_HASH_P64_1 + TLI_HASH_P64_2, b = seed + TLI_HASH_P64_2, c = seed;
        uint64_t d = seed - TLI_HASH_P64_1;
        for (; left >= 32; left -= 32, p += 32) {
            a = tli_hash_round64(a, tli_bits_le64(p));
            b = tli_hash_round64(b, tli_bits_le64(p + 8));
            c = tli_hash_round64(c, tli_bits_le64(p + 16));
            d = tli_hash_round64(d, tli_bits_le64(p + 24));
        }
        hash = tli_hash_rotate64(a, 1) + tli_hash_rotate64(b, 7) + tli_hash_rotate64(c, 12) + tli_hash_rotate64(d, 18);
        hash = tli_hash_merge64(hash, a);
        hash = tli_hash_merge64(hash, b);
        hash = tli_hash_merge64(hash, c);
        hash = tli_hash_merge64(hash, d);
    }
    return tli_hash_finish64(hash + (uint64_t)size, p, left);
}

TLI_FN uint32_t tli_hash_xxh32(const void *data, size_t size, uint32_t seed)
{
    const uint8_t *p = (const uint8_t *)data;
    uint32_t hash = seed + TLI_HASH_P32_5;
    size_t left = size;
    if (left >= 16) {
        uint32_t a = seed + TLI_HASH_P32_1 + TLI_HASH_P32_2, b = seed + TLI_HASH_P32_2, c = seed;
        uint32_t d = seed - TLI_HASH_P32_1;
        for (; left >= 16; left -= 16, p += 16) {
            a = tli_hash_round32(a, tli_bits_le32(p));
            b = tli_hash_round32(b, tli_bits_le32(p + 4));
            c = tli_hash_round32(c, tli_bits_le32(p + 8));
            d = tli_hash_round32(d, tli_bits_le32(p + 12));
        }
        hash = tli_hash_rotate32(a, 1) + tli_hash_rotate32(b, 7) + tli_hash_rotate32(c, 12) + tli_hash_rotate32(d, 18);
    }
    hash += (uint32_t)size;
    for (; left >= 4; left -= 4, p += 4)
        hash = tli_hash_rotate32(hash + tli_bits_le32(p) * TLI_HASH_P32_3, 17) * TLI_HASH_P32_4;
    for (; left > 0; left--, p++)
        hash = tli_hash_rotate32(hash + *p * TLI_HASH_P32_5, 11) * TLI_HASH_P32_1;
    hash = (hash ^ (hash >> 15)) * TLI_HASH_P32_2;
    hash = (hash ^ (hash >> 13)) * TLI_HASH_P32_3;
    return hash ^ (hash >> 16);
}

/* CRC-32 of IEEE 802.3 (reflected polynomial EDB88320), as gzip and Avro's snappy blocks have it; by half bytes, so
   that the table is 64 bytes. */
TLI_FN uint32_t tli_hash_crc32(const void *data, size_t size)
{
    static const uint32_t table[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                                       0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                       0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    const uint8_t *p = (const uint8_t *)data;
    uint32_t crc = 0xffffffffu;
    for (; size != 0; size--, p++) {
        crc ^= *p;
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}

/* >>json: the cursor (strings, numbers, literals), the pull reader on it, the writer, the tree. */
typedef struct tli_json {
    const uint8_t *p; /* the next byte */
    const uint8_t *end;
    const uint8_t *begin;
    uint64_t position; /* of begin in the object the caller passed */
    tl_status status;  /* of the first failure */
    tl_error *err;
} tli_json;

TLI_INLINE tli_json tli_json_open(const void *text, size_t size, uint64_t position, tl_error *err)
{
    tli_json j;
    j.begin = j.p = (const uint8_t *)text;
    j.end = text == NULL ? j.begin : j.begin + size;
    j.position = position;
    j.status = TL_OK;
    j.err = err;
    return j;
}

TLI_FN int tli_json_refuse(tli_json *j, tl_status status, const char *text, const uint8_t *at)
{
    j->status = tli_err(j->err, status, text, j->position + (uint64_t)(at - j->begin));
    return 0;
}

/* The byte at `at` is wrong, or there is none. Answers 0, so that a caller can `return tli_json_fail(...)`. */
TLI_NOINLINE int tli_json_fail(tli_json *j, const char *text, const uint8_t *at)
{
    if (at >= j->end)
        return tli_json_refuse(j, TL_TRUNCATED, "json: the text ends too early", j->end);
    return tli_json_refuse(j, TL_CORRUPT, text, at);
}

/* ---- eight bytes at a time; byte 0 of the text is the lowest of the word ---- */

#define TLI_JSON_ONES UINT64_C(0x0101010101010101)
#define TLI_JSON_HIGHS UINT64_C(0x8080808080808080)
#define TLI_JSON_TOP UINT64_C(0x8000000000000000)
#define TLI_JSON_NULL UINT32_C(0x6c6c756e) /* as a little-endian word */

/* The high bit of bytes that end a run of plain text: quote, backslash, control characters, anything not ASCII. Exact
   up to and including the first such byte. */
TLI_INLINE uint64_t tli_json_special(uint64_t v)
{
    uint64_t quote = v ^ (TLI_JSON_ONES * 0x22), slash = v ^ (TLI_JSON_ONES * 0x5c);
    return (((quote - TLI_JSON_ONES) & ~quote) | ((slash - TLI_JSON_ONES) & ~slash)
            | ((v - TLI_JSON_ONES * 0x20) & ~v) | v) & TLI_JSON_HIGHS;
}

#if TLI_SSE2
TLI_INLINE __m128i tli_json_load16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The same of sixteen bytes, all bits of each. Signed, what is not ASCII is below the space too. */
TLI_INLINE __m128i tli_json_special16(__m128i v)
{
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    return _mm_or_si128(_mm_or_si128(quote, slash), _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
}

TLI_INLINE uint32_t tli_json_mask16(__m128i v)
{
    return (uint32_t)_mm_movemask_epi8(v);
}
#endif

/* The byte that has the lowest bit set. */
TLI_INLINE size_t tli_json_first_byte(uint64_t hits)
{
#if defined(__GNUC__) || defined(__clang__)
    return (size_t)__builtin_ctzll(hits) >> 3;
#else
    size_t n = 0;
    for (; (hits & 0xff) == 0; hits >>= 8)
        n++;
    return n;
#endif
}

/* The high bit of bytes that are no digits; exact up to and including the first. */
TLI_INLINE uint64_t tli_json_no_digit(uint64_t v)
{
    uint64_t x = v ^ (TLI_JSON_ONES * 0x30); /* digits become 0..9 */
    return (((x & ~TLI_JSON_HIGHS) + TLI_JSON_ONES * 0x76) | x) & TLI_JSON_HIGHS;
}

/* The number that eight digits are, the first of them in the lowest byte. */
TLI_INLINE uint32_t tli_json_eight(uint64_t v)
{
    v = (v & (TLI_JSON_ONES * 0x0f)) * 2561 >> 8;
    v = (v & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (uint32_t)((v & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32);
}

/* Where the plain text from p on ends: at a byte that is not plain, or at most 15 bytes before the end. */
TLI_INLINE const uint8_t *tli_json_run(const uint8_t *p, const uint8_t *end)
{
#if TLI_SSE2
    while (end - p >= 32) { /* two at a time: long texts are footers */
        __m128i low = tli_json_special16(tli_json_load16(p)), high = tli_json_special16(tli_json_load16(p + 16));
        if (tli_json_mask16(_mm_or_si128(low, high)) == 0) {
            p += 32;
            continue;
        }
        return p + __builtin_ctz(tli_json_mask16(low) | tli_json_mask16(high) << 16);
    }
#endif
    for (; end - p >= 8; p += 8) {
        uint64_t hits = tli_json_special(tli_bits_le64(p));
        if (hits != 0)
            return p + tli_json_first_byte(hits);
    }
    return p;
}

/* ---- the cursor ---- */

TLI_INLINE void tli_json_space(tli_json *j)
{
    while (j->p < j->end && *j->p <= 0x20 && (*j->p == 0x20 || *j->p == '\n' || *j->p == '\r' || *j->p == '\t'))
        j->p++;
}

/* Takes the byte `c` (white space before it skipped) or says what was expected. */
TLI_INLINE int tli_json_take(tli_json *j, char c, const char *expected)
{
    tli_json_space(j);
    if (TLI_UNLIKELY(j->p >= j->end || *j->p != (uint8_t)c))
        return tli_json_fail(j, expected, j->p);
    j->p++;
    return 1;
}

/* The value of a hex digit, or more than 15. */
TLI_INLINE uint32_t tli_json_hex(uint8_t c)
{
    uint32_t digit = (uint32_t)c - '0', letter = ((uint32_t)c | 0x20u) - 'a';
    return digit < 10 ? digit : letter < 6 ? letter + 10 : 99;
}

/* The four digits of a \u escape at p; more than 0xffff when they are not. */
TLI_FN uint32_t tli_json_hex4(const uint8_t *p, const uint8_t *end)
{
    uint32_t v = 0, i;
    if (end - p < 4)
        return 0x10000;
    for (i = 0; i < 4; i++) {
        uint32_t digit = tli_json_hex(p[i]);
        if (digit > 15)
            return 0x10000;
        v = v << 4 | digit;
    }
    return v;
}

TLI_FN const uint8_t *tli_json_hex_end(const uint8_t *p, const uint8_t *end)
{
    while (p < end && tli_json_hex(*p) <= 15)
        p++;
    return p;
}

/* The bytes of the escape at p (a backslash), checked; 0 after a failure. */
TLI_FN size_t tli_json_escape(tli_json *j, const uint8_t *p)
{
    uint32_t v;
    if (j->end - p < 2)
        return (size_t)tli_json_fail(j, "", j->end);
    switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return 2;
    case 'u':
        break;
    default:
        return (size_t)tli_json_fail(j, "json: no such escape", p);
    }
    v = tli_json_hex4(p + 2, j->end);
    if (v > 0xffff)
        return (size_t)tli_json_fail(j, "json: four hex digits are expected", tli_json_hex_end(p + 2, j->end));
    if (v < 0xd800 || v > 0xdfff)
        return 6;
    if (v < 0xdc00) { /* the other half has to follow */
        if (j->end - p < 8)
            return (size_t)tli_json_fail(j, "json: a lone surrogate", j->end - p > 6 && p[6] != '\\' ? p : j->end);
        v = p[6] == '\\' && p[7] == 'u' ? tli_json_hex4(p + 8, j->end) : 0;
        if (v > 0xffff)
            return (size_t)tli_json_fail(j, "json: four hex digits are expected", tli_json_hex_end(p + 8, j->end));
        if (v >= 0xdc00 && v <= 0xdfff)
            return 12;
    }
    return (size_t)tli_json_fail(j, "json: a lone surrogate", p);
}

/* The bytes of the UTF-8 sequence at p (no ASCII), 0 when it is not well-formed (RFC 3629). */
TLI_FN size_t tli_json_utf8(const uint8_t *p, const uint8_t *end)
{
    size_t i, n = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    uint32_t low = 0x80, high = 0xbf;
    if (n == 0 || (size_t)(end - p) < n)
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The rest of a string from p on: whatever is not plain ASCII. Answers where the closing quote is, NULL on failure. */
TLI_NOINLINE const uint8_t *tli_json_string_rest(tli_json *j, const uint8_t *p, int *escaped)
{
    while (p < j->end) {
        size_t n = 1;
        if (*p == '"')
            return p;
        if (*p == '\\') {
            *escaped = 1;
            n = tli_json_escape(j, p);
        } else if (*p < 0x20) {
            n = (size_t)tli_json_fail(j, "json: a control character in a string", p);
        } else if (*p >= 0x80) {
            n = tli_json_utf8(p, j->end);
            if (n == 0)
                (void)tli_json_fail(j, "json: not UTF-8", p);
        } else {
            const uint8_t *plain = tli_json_run(p, j->end);
            n = plain > p ? (size_t)(plain - p) : 1;
        }
        if (n == 0)
            return NULL;
        p += n;
    }
    (void)tli_json_fail(j, "", j->end);
    return NULL;
}

/* Takes the string whose quote is at j->p: what is between the quotes, and whether there are escapes in it. */
TLI_INLINE int tli_json_text(tli_json *j, tl_span *inner, int *escaped)
{
    const uint8_t *p = tli_json_run(j->p + 1, j->end), *close;
    *escaped = 0;
    close = TLI_LIKELY(p < j->end && *p == '"') ? p : tli_json_string_rest(j, p, escaped);
    if (TLI_UNLIKELY(close == NULL))
        return 0;
    *inner = tli_text_span(j->p + 1, (size_t)(close - j->p - 1));
    j->p = close + 1;
    return 1;
}

/* Where the digits that begin at p end. */
TLI_INLINE const uint8_t *tli_json_digits(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 8) {
        uint64_t hits = tli_json_no_digit(tli_bits_le64(p));
        if (hits != 0)
            return p + tli_json_first_byte(hits);
        p += 8;
    }
    while (p < end && (uint32_t)*p - '0' < 10)
        p++;
    return p;
}

/* Takes the number at j->p (a digit or a minus); `integer` says that it is digits alone. */
TLI_INLINE int tli_json_number(tli_json *j, tl_span *raw, int *integer)
{
    const uint8_t *p = j->p, *digits;
    p += p < j->end && *p == '-';
    digits = p;
    p = p < j->end && *p == '0' ? p + 1 : tli_json_digits(p, j->end);
    if (TLI_UNLIKELY(p == digits))
        return tli_json_fail(j, "json: a digit is expected", p);
    *integer = 1;
    if (p < j->end && *p == '.') {
        *integer = 0;
        digits = ++p;
        p = tli_json_digits(p, j->end);
        if (p == digits)
            return tli_json_fail(j, "json: a digit is expected", p);
    }
    if (p < j->end && (*p | 0x20) == 'e') {
        *integer = 0;
        p++;
        p += p < j->end && (*p == '+' || *p == '-');
        digits = p;
        p = tli_json_digits(p, j->end);
        if (p == digits)
            return tli_json_fail(j, "json: a digit is expected", p);
    }
    *raw = tli_text_span(j->p, (size_t)(p - j->p));
    j->p = p;
    return 1;
}

/* Takes `null`, `true` or `false`. */
TLI_FN int tli_json_literal(tli_json *j, const char *literal)
{
    const uint8_t *p = j->p;
    for (; *literal != 0; literal++, p++)
        if (p >= j->end || *p != (uint8_t)*literal)
            return tli_json_fail(j, "json: a value is expected", p >= j->end ? p : j->p);
    j->p = p;
    return 1;
}

/* The bytes that the first character of `raw` (checked, not empty) stands for: `out` has room for 4. */
TLI_FN size_t tli_json_character(tl_span *raw, char *out)
{
    const uint8_t *p = (const uint8_t *)raw->data;
    size_t used = 2;
    uint32_t v;
    if (*p != '\\') {
        out[0] = (char)*p;
        raw->data++;
        raw->size--;
        return 1;
    }
    v = p[1];
    switch (v) {
    case 'b': v = 8; break;
    case 'f': v = 12; break;
    case 'n': v = 10; break;
    case 'r': v = 13; break;
    case 't': v = 9; break;
    case 'u':
        v = tli_json_hex4(p + 2, p + 6);
        used = 6;
        if (v >= 0xd800 && v < 0xdc00) {
            v = 0x10000 + ((v - 0xd800) << 10) + (tli_json_hex4(p + 8, p + 12) - 0xdc00);
            used = 12;
        }
        break;
    default: break; /* stands for itself */
    }
    raw->data += used;
    raw->size -= used;
    if (v < 0x80) {
        out[0] = (char)v;
        return 1;
    }
    used = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    out[0] = (char)((0xf00u >> used & 0xff) | v >> (6 * (used - 1)));
    if (used > 3)
        out[used - 3] = (char)(0x80 | (v >> 12 & 0x3f));
    if (used > 2)
        out[used - 2] = (char)(0x80 | (v >> 6 & 0x3f));
    out[used - 1] = (char)(0x80 | (v & 0x3f));
    return used;
}

/* Takes what stands before the next escape: how many bytes that is. */
TLI_INLINE size_t tli_json_unescaped_run(tl_span *raw)
{
    const uint8_t *p = (const uint8_t *)raw->data, *end = p + raw->size;
    size_t size;
    while (p < end && *p != '\\') {
        const uint8_t *plain = tli_json_run(p, end);
        p = plain > p ? plain : p + 1;
    }
    size = (size_t)(p - (const uint8_t *)raw->data);
    raw->data += size;
    raw->size -= size;
    return size;
}

/* Writes what the checked text between two quotes stands for; at most raw.size bytes. Answers how many. */
TLI_FN size_t tli_json_unescape(char *out, tl_span raw)
{
    size_t n = 0;
    while (raw.size != 0) {
        char c[4];
        size_t i, used = tli_json_unescaped_run(&raw);
        if (used != 0)
            TLI_COPY(out + n, raw.data - used, used);
        n += used;
        if (raw.size == 0)
            break;
        used = tli_json_character(&raw, c);
        for (i = 0; i < used; i++)
            out[n++] = c[i];
    }
    return n;
}

/* How many bytes that would be. */
TLI_FN size_t tli_json_unescaped_size(tl_span raw)
{
    size_t n = 0;
    char c[4];
    for (;;) {
        n += tli_json_unescaped_run(&raw);
        if (raw.size == 0)
            return n;
        n += tli_json_character(&raw, c);
    }
}

/* The order of what the checked raw text stands for and a plain text. */
TLI_FN int tli_json_compare(tl_span raw, tl_span plain)
{
    size_t at = 0;
    while (raw.size != 0) {
        char c[4];
        size_t i, used = tli_json_character(&raw, c);
        for (i = 0; i < used; i++, at++) {
            if (at >= plain.size)
                return 1;
            if (c[i] != plain.data[at])
                return (uint8_t)c[i] < (uint8_t)plain.data[at] ? -1 : 1;
        }
    }
    return at < plain.size ? -1 : 0;
}

/* ---- the pull reader ---- */

enum {
    TLI_JSON_KEY = TL_JSON_OBJECT + 1, /* beside the values: a member's name, its colon taken too */
    TLI_JSON_CLOSE_ARRAY,
    TLI_JSON_CLOSE_OBJECT
};

enum { TLI_JSON_WANT_VALUE, TLI_JSON_WANT_FIRST, TLI_JSON_WANT_MORE };

typedef struct tli_json_token {
    int kind;
    int flag;    /* of keys and strings: has escapes; of numbers: digits alone; of booleans: true */
    tl_span raw; /* of scalars, with the quotes; of the others one byte */
} tli_json_token;

typedef struct tli_json_reader {
    tli_json j;
    uint32_t depth; /* how many arrays and objects are open */
    uint32_t limit;
    int want;
    uint32_t objects[8]; /* bit d: the one at depth d + 1 is an object */
} tli_json_reader;

TLI_INLINE void tli_json_start(tli_json_reader *r, const tli_json *j, uint32_t limit)
{
    r->j = *j;
    r->depth = 0;
    r->limit = limit;
    r->want = TLI_JSON_WANT_VALUE;
}

TLI_INLINE int tli_json_in_object(const tli_json_reader *r)
{
    return (int)(r->objects[(r->depth - 1) >> 5] >> ((r->depth - 1) & 31) & 1);
}

TLI_FN int tli_json_enter(tli_json_reader *r, uint32_t object)
{
    uint32_t bit = 1u << (r->depth & 31), *word = &r->objects[r->depth >> 5];
    if (r->depth >= r->limit)
        return tli_json_refuse(&r->j, TL_LIMIT, "json: limits.depth", r->j.p);
    *word = object ? *word | bit : *word & ~bit;
    r->depth++;
    r->want = TLI_JSON_WANT_FIRST;
    r->j.p++;
    return 1;
}

/* Takes the scalar, or the opening bracket, at the cursor. */
TLI_FN int tli_json_value_token(tli_json_reader *r, tli_json_token *t)
{
    const uint8_t *start = r->j.p;
    tl_span inner;
    int good;
    if (start >= r->j.end)
        return tli_json_fail(&r->j, "", start);
    r->want = TLI_JSON_WANT_MORE;
    t->flag = 0;
    switch (*start) {
    case '"':
        t->kind = TL_JSON_STRING;
        good = tli_json_text(&r->j, &inner, &t->flag);
        break;
    case '{':
        t->kind = TL_JSON_OBJECT;
        good = tli_json_enter(r, 1);
        break;
    case '[':
        t->kind = TL_JSON_ARRAY;
        good = tli_json_enter(r, 0);
        break;
    case 't':
    case 'f':
        t->kind = TL_JSON_BOOL;
        t->flag = *start == 't';
        good = tli_json_literal(&r->j, t->flag ? "true" : "false");
        break;
    case 'n':
        t->kind = TL_JSON_NULL;
        good = tli_json_literal(&r->j, "null");
        break;
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        t->kind = TL_JSON_NUMBER;
        good = tli_json_number(&r->j, &inner, &t->flag);
        break;
    default:
        return tli_json_fail(&r->j, "json: a value is expected", start);
    }
    t->raw = tli_text_span(start, (size_t)(r->j.p - start));
    return good;
}

/* The next token: 1, or 0 after a failure (r->j.status). Not called again once a value at depth 0 is complete. */
TLI_FN int tli_json_token_next(tli_json_reader *r, tli_json_token *t)
{
    tl_span inner;
    int object;
    tli_json_space(&r->j);
    if (r->want == TLI_JSON_WANT_VALUE)
        return tli_json_value_token(r, t);
    object = tli_json_in_object(r);
    if (r->j.p < r->j.end && *r->j.p == (object ? '}' : ']')) {
        t->kind = object ? TLI_JSON_CLOSE_OBJECT : TLI_JSON_CLOSE_ARRAY;
        t->raw = tli_text_span(r->j.p++, 1);
        r->depth--;
        r->want = TLI_JSON_WANT_MORE;
        return 1;
    }
    if (r->want == TLI_JSON_WANT_MORE) {
        if (!tli_json_take(&r->j, ',', object ? "json: a comma or } is expected" : "json: a comma or ] is expected"))
            return 0;
        tli_json_space(&r->j);
    }
    if (!object)
        return tli_json_value_token(r, t);
    if (r->j.p >= r->j.end || *r->j.p != '"')
        return tli_json_fail(&r->j, "json: a key is expected", r->j.p);
    t->kind = TLI_JSON_KEY;
    t->raw.data = (const char *)r->j.p;
    if (!tli_json_text(&r->j, &inner, &t->flag))
        return 0;
    t->raw.size = inner.size + 2;
    r->want = TLI_JSON_WANT_VALUE;
    return tli_json_take(&r->j, ':', "json: a colon is expected");
}

/* Takes one whole value of any kind, checked as strictly as the rest; `limit`: how deep it may nest. */
TLI_FN int tli_json_skip(tli_json *j, uint32_t limit)
{
    tli_json_reader r;
    tli_json_token t;
    tli_json_start(&r, j, limit);
    do {
        if (!tli_json_token_next(&r, &t)) {
            j->status = r.j.status;
            return 0;
        }
    } while (r.depth != 0);
    j->p = r.j.p;
    return 1;
}

/* Nothing but white space may follow. */
TLI_FN int tli_json_finish(tli_json *j)
{
    tli_json_space(j);
    return j->p == j->end ? 1 : tli_json_fail(j, "json: trailing bytes", j->p);
}

/* ---- the writer ---- */

/* The bytes that a text takes between its quotes. */
TLI_FN size_t tli_json_escaped_size(const char *text, size_t size)
{
    size_t i, n = size;
    for (i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        if (c == '"' || c == '\\')
            n++;
        else if (c < 0x20)
            n += c == 8 || c == 9 || c == 10 || c == 12 || c == 13 ? 1 : 5;
    }
    return n;
}

/* How many bytes at the start of a text stand for themselves in JSON. */
TLI_INLINE size_t tli_json_plain(const char *text, size_t size)
{
    size_t i = 0;
    while (size - i >= 8) {
        uint64_t v = tli_bits_le64(text + i);
        uint64_t hits = tli_json_special(v) & ~v; /* past ASCII is plain here */
        if (hits != 0)
            return i + tli_json_first_byte(hits);
        i += 8;
    }
    return i;
}

/* Writes a text with its quotes and escapes at `out`, which has room for it: tli_json_escaped_size plus 2. */
TLI_FN char *tli_json_put_text(char *out, const char *text, size_t size)
{
    static const char letters[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
    static const char digits[] = "0123456789abcdef";
    size_t i = 0;
    *out++ = '"';
    while (i < size) {
        size_t run = tli_json_plain(text + i, size - i);
        uint8_t c;
        if (run != 0) {
            TLI_COPY(out, text + i, run);
            out += run;
            i += run;
            continue;
        }
        c = (uint8_t)text[i++];
        if (c >= 0x20 && c != '"' && c != '\\') {
            *out++ = (char)c;
            continue;
        }
        *out++ = '\\';
        if (c >= 0x20) {
            *out++ = (char)c;
            continue;
        }
        *out++ = letters[c];
        if (letters[c] == 'u') {
            *out++ = '0';
            *out++ = '0';
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
        }
    }
    *out++ = '"';
    return out;
}

/* Appends a text as a JSON string. It has to be UTF-8. */
TLI_FN tl_status tli_json_write_text(tl_buffer *out, tl_span text, tl_error *err)
{
    tl_status st = tli_mem_reserve(out, tli_json_escaped_size(text.data, text.size) + 2, err);
    if (st != TL_OK)
        return st;
    out->size = (size_t)(tli_json_put_text((char *)out->data + out->size, text.data, text.size) - (char *)out->data);
    return TL_OK;
}

/* Appends text that is JSON already: punctuation, the raw text of a value that does not change. */
TLI_FN tl_status tli_json_write_raw(tl_buffer *out, tl_span raw, tl_error *err)
{
    return tli_mem_append(out, raw.data, raw.size, err);
}

/* ---- checking and compacting ---- */

TL_API tl_status tl_json_check(const char *text, size_t size, const tl_limits *limits, tl_error *err)
{
    tli_json j = tli_json_open(text, size, 0, err);
    if (text == NULL && size != 0)
        return tli_err(err, TL_MISUSE, "json: no text", TL_NO_POSITION);
    if (!tli_json_skip(&j, tl_limits_resolve(limits).depth) || !tli_json_finish(&j))
        return j.status;
    return TL_OK;
}

/* Appends a string token in its shortest form: unescaped behind the end of the output, then written in front of it. */
TLI_FN tl_status tli_json_write_escaped(tl_buffer *out, tl_span raw, tl_error *err)
{
    tl_span inner = tli_text_span(raw.data + 1, raw.size - 2), plain;
    tl_status st = tli_mem_reserve(out, raw.size + inner.size, err);
    char *front;
    if (st != TL_OK)
        return st;
    front = (char *)out->data + out->size;
    plain = tli_text_span(front + raw.size, tli_json_unescape(front + raw.size, inner));
    /* what an escape stands for never takes more than the escape did, so `raw.size` bytes are enough */
    out->size = (size_t)(tli_json_put_text(front, plain.data, plain.size) - (char *)out->data);
    return TL_OK;
}

TLI_FN tl_status tli_json_compact(tl_buffer *out, tli_json_reader *r, tl_error *err)
{
    tli_json_token t;
    int first = 1; /* nothing precedes in this array or object */
    do {
        tl_status st = TL_OK;
        int wants_value = r->want == TLI_JSON_WANT_VALUE;
        if (!tli_json_token_next(r, &t))
            return r->j.status;
        if (!first && !wants_value && t.kind != TLI_JSON_CLOSE_ARRAY && t.kind != TLI_JSON_CLOSE_OBJECT)
            st = tli_mem_append(out, ",", 1, err);
        first = t.kind == TL_JSON_ARRAY || t.kind == TL_JSON_OBJECT;
        if (st == TL_OK && (t.kind == TL_JSON_STRING || t.kind == TLI_JSON_KEY) && t.flag)
            st = tli_json_write_escaped(out, t.raw, err);
        else if (st == TL_OK)
            st = tli_mem_append(out, t.raw.data, t.raw.size, err);
        if (st == TL_OK && t.kind == TLI_JSON_KEY)
            st = tli_mem_append(out, ":", 1, err);
        if (st != TL_OK)
            return st;
    } while (r->depth != 0);
    return tli_json_finish(&r->j) ? TL_OK : r->j.status;
}

TL_API tl_status tl_json_canonical(tl_buffer *out, const char *text, size_t size, const tl_limits *limits,
                                   tl_error *err)
{
    tli_json j = tli_json_open(text, size, 0, err);
    tli_json_reader r;
    size_t before;
    tl_status st;
    if (out == NULL || (text == NULL && size != 0))
        return tli_err(err, TL_MISUSE, "json: no text or no output", TL_NO_POSITION);
    before = out->size;
    tli_json_start(&r, &j, tl_limits_resolve(limits).depth);
    st = tli_json_compact(out, &r, err);
    if (st != TL_OK)
        out->size = before;
    return st;
}

/* ---- the tree ---- */

/* Counts what the tree will take, and checks the whole text. */
TLI_FN tl_status tli_json_measure(tli_json_reader *r, uint64_t *nodes, uint64_t *strings)
{
    tli_json_token t;
    *nodes = *strings = 0;
    do {
        if (!tli_json_token_next(r, &t))
            return r->j.status;
        *nodes += t.kind <= TLI_JSON_KEY;
        if ((t.kind == TL_JSON_STRING || t.kind == TLI_JSON_KEY) && t.flag)
            *strings += sizeof(uint32_t) + t.raw.size;
    } while (r->depth != 0);
    return tli_json_finish(&r->j) ? TL_OK : r->j.status;
}

/* Copies a string with escapes into the tree's memory, behind its size. */
TLI_FN void tli_json_keep_string(tl_json_node *node, tl_span raw, char *strings, size_t *used)
{
    char *at = strings + *used;
    size_t n = tli_json_unescape(at + sizeof(uint32_t), tli_text_span(raw.data + 1, raw.size - 2));
    tli_bits_put32(at, (uint32_t)n);
    node->unescaped = (uint32_t)*used + 1;
    *used += sizeof(uint32_t) + n;
}

/* Fills the nodes. While an array or object is open, its `nodes` holds the index of the one around it. */
TLI_FN void tli_json_fill(tli_json_reader *r, tl_json_node *nodes, char *strings)
{
    tli_json_token t;
    uint32_t count = 0, open = 0;
    size_t used = 0;
    do {
        tl_json_node *node = &nodes[count];
        if (!tli_json_token_next(r, &t))
            return; /* cannot be: the text was checked */
        if (t.kind > TLI_JSON_KEY) {
            uint32_t around = nodes[open].nodes;
            nodes[open].nodes = count - open;
            nodes[open].size = (uint32_t)(r->j.p - r->j.begin) - nodes[open].start;
            open = around;
            continue;
        }
        if (count != 0)
            nodes[open].count += t.kind == TLI_JSON_KEY || nodes[open].kind == TL_JSON_ARRAY;
        TLI_FILL(node, 0, sizeof *node);
        node->kind = (uint8_t)(t.kind == TLI_JSON_KEY ? (int)TL_JSON_STRING : t.kind);
        node->start = (uint32_t)((const uint8_t *)t.raw.data - r->j.begin);
        node->size = (uint32_t)t.raw.size;
        node->nodes = 1;
        node->truth = t.kind == TL_JSON_BOOL && t.flag;
        if (node->kind == TL_JSON_STRING && t.flag)
            tli_json_keep_string(node, t.raw, strings, &used);
        if (t.kind == TL_JSON_ARRAY || t.kind == TL_JSON_OBJECT) {
            node->nodes = open;
            open = count;
        }
        count++;
    } while (r->depth != 0);
}

TL_API tl_status tl_json_parse(tl_json *tree, const char *text, size_t size, const tl_limits *limits,
                               const tl_allocator *allocator, tl_error *err)
{
    tli_json j = tli_json_open(text, size, 0, err);
    tli_json_reader r;
    uint64_t count, strings, bytes;
    tl_json_node *nodes;
    tl_status st;
    if (tree == NULL || (text == NULL && size != 0))
        return tli_err(err, TL_MISUSE, "json: no text or no tree", TL_NO_POSITION);
    TLI_FILL(tree, 0, sizeof *tree);
    if ((size >> 16) >> 16 != 0) /* of 32 bits a size cannot be more */
        return tli_err_need(err, TL_LIMIT, "json: a tree of 4 GiB of text", TL_NO_POSITION, size);
    tli_json_start(&r, &j, tl_limits_resolve(limits).depth);
    st = tli_json_measure(&r, &count, &strings);
    if (st != TL_OK)
        return st;
    bytes = count * sizeof *nodes + strings; /* the text has fewer nodes than bytes */
    if (strings >= UINT32_MAX || !tli_bits_size(bytes, &tree->memory))
        return tli_err_need(err, TL_LIMIT, "json: the tree takes too much", TL_NO_POSITION, bytes);
    tree->allocator = tli_mem_allocator(allocator);
    nodes = (tl_json_node *)tli_mem_new(&tree->allocator, tree->memory);
    if (nodes == NULL)
        return tli_mem_failed(&tree->allocator, err);
    tree->text = text;
    tree->size = size;
    tree->root = nodes;
    tree->strings = (const char *)(nodes + count);
    tli_json_start(&r, &j, tl_limits_resolve(limits).depth);
    tli_json_fill(&r, nodes, (char *)(nodes + count));
    return TL_OK;
}

TL_API void tl_json_free(tl_json *tree)
{
    union {
        const tl_json_node *read;
        void *give;
    } memory; /* the tree is const to its readers, its owner may free it */
    if (tree == NULL)
        return;
    memory.read = tree->root;
    tli_mem_delete(&tree->allocator, memory.give, tree->memory);
    TLI_FILL(tree, 0, sizeof *tree);
}

TL_API tl_span tl_json_raw(const tl_json *tree, const tl_json_node *node)
{
    return node == NULL ? tl_text(NULL) : tli_text_span(tree->text + node->start, node->size);
}

TL_API const tl_json_node *tl_json_first(const tl_json_node *parent)
{
    return parent != NULL && parent->count != 0 ? parent + 1 : NULL;
}

TL_API const tl_json_node *tl_json_next(const tl_json_node *parent, const tl_json_node *child)
{
    const tl_json_node *value = parent->kind == TL_JSON_OBJECT ? child + 1 : child;
    const tl_json_node *next = value + value->nodes;
    return next < parent + parent->nodes ? next : NULL;
}

/* What a string node stands for. */
TLI_FN tl_span tli_json_plain_text(const tl_json *tree, const tl_json_node *node)
{
    const char *at = tree->strings + node->unescaped - 1;
    if (node->unescaped == 0)
        return tli_text_span(tree->text + node->start + 1, node->size - 2);
    return tli_text_span(at + sizeof(uint32_t), tli_bits_u32(at));
}

TL_API const tl_json_node *tl_json_member(const tl_json *tree, const tl_json_node *object, tl_span key)
{
    const tl_json_node *at, *found = NULL;
    if (object == NULL || object->kind != TL_JSON_OBJECT)
        return NULL;
    for (at = tl_json_first(object); at != NULL; at = tl_json_next(object, at))
        if (tl_span_equal(tli_json_plain_text(tree, at), key))
            found = at + 1;
    return found;
}

TL_API const tl_json_node *tl_json_at(const tl_json_node *array, uint32_t index)
{
    const tl_json_node *at;
    if (array == NULL || array->kind != TL_JSON_ARRAY || index >= array->count)
        return NULL;
    for (at = array + 1; index != 0; index--)
        at += at->nodes;
    return at;
}

TL_API int tl_json_present(const tl_json_node *node)
{
    return node != NULL && node->kind != TL_JSON_NULL;
}

/* Refuses a node that is not of the kind it has to be. */
TLI_FN tl_status tli_json_expect(const tl_json_node *node, tl_json_kind kind, const char *text, tl_error *err)
{
    if (node == NULL)
        return tli_err(err, TL_ABSENT, "json: no such member", TL_NO_POSITION);
    if (node->kind != kind)
        return tli_err(err, TL_CORRUPT, text, node->start);
    return TL_OK;
}

TL_API tl_status tl_json_int64(const tl_json *tree, const tl_json_node *node, int64_t *value, tl_error *err)
{
    tl_status st = tli_json_expect(node, TL_JSON_NUMBER, "json: an integer is expected", err);
    if (st != TL_OK)
        return st;
    if (!tli_number_parse_i64(tree->text + node->start, node->size, value))
        return tli_err(err, TL_CORRUPT, "json: a 64-bit integer is expected", node->start);
    return TL_OK;
}

TL_API tl_status tl_json_string(const tl_json *tree, const tl_json_node *node, tl_span *value, tl_error *err)
{
    tl_status st = tli_json_expect(node, TL_JSON_STRING, "json: a string is expected", err);
    if (st == TL_OK)
        *value = tli_json_plain_text(tree, node);
    return st;
}

TL_API tl_status tl_json_bool(const tl_json *tree, const tl_json_node *node, int *value, tl_error *err)
{
    tl_status st = tli_json_expect(node, TL_JSON_BOOL, "json: true or false is expected", err);
    (void)tree;
    if (st == TL_OK)
        *value = node->truth;
    return st;
}

#ifndef TIMELAKE_NO_HEAD_ARROW
/* >>zstd: frames of RFC 8878, decoded straight into the caller's memory, which is the window too.

   Two facts keep the hot loops free of checks. Bit streams are read backwards, and at least nine bytes of frame and
   block header lie in front of each of them: a load may start up to eight bytes before a stream, and whoever consumes
   such bits has consumed more than the stream has, which is found out afterwards. And copies may write up to
   TLI_ZSTD_SLACK bytes too many where the output has that room; near its end a careful copy takes over.

   The literals of a block are decoded to where its content may end at most, in the output itself: what is still to
   come of a block is at least its literals left, so the content that grows towards them reaches them with the last. */
#define TLI_ZSTD_MAGIC UINT32_C(0xFD2FB528)
#define TLI_ZSTD_SKIPPABLE UINT32_C(0x184D2A50) /* and the 15 numbers after it */
#define TLI_ZSTD_BLOCK_MAX (128u << 10)
#define TLI_ZSTD_WINDOW_MAX (128u << 20)
#define TLI_ZSTD_SLACK 32u
#define TLI_ZSTD_HUFFMAN_LOG 11u

/* A state of a sequence table: what it stands for, base plus `extra` bits, and the state after it, next plus `bits`. */
typedef struct tli_zstd_entry {
    uint16_t next;
    uint8_t extra;
    uint8_t bits;
    uint32_t base;
} tli_zstd_entry;

/* A table in use; entries NULL: none yet, nothing to repeat. */
typedef struct tli_zstd_table {
    const tli_zstd_entry *entries;
    uint32_t log;
} tli_zstd_table;

/* Work memory of one decoding. Not cleared: only the members that are read get a value. */
typedef struct tli_zstd_work {
    const uint8_t *src, *src_end;
    uint8_t *base; /* where the output of this frame starts */
    uint8_t *end;  /* of the memory for output */
    uint64_t window;
    uint32_t block_max;
    uint32_t repeat[3];
    int content_known, huffman_known;
    uint8_t *tail; /* where the content of this block may end at most */
    const uint8_t *literals;
    uint32_t literal_count;
    tl_error *err;
    tli_zstd_table ll, of, ml;
    tli_zstd_entry ll_entries[512], of_entries[256], ml_entries[512], weight_entries[64];
    uint16_t huffman[1u << TLI_ZSTD_HUFFMAN_LOG]; /* symbol << 8 | code length */
    int16_t counts[256];
    uint16_t nexts[256];
    uint8_t weights[256];
} tli_zstd_work;

#define TLI_ZSTD_WORK (sizeof(tli_zstd_work))

/* The three kinds of sequence codes: bits to read beyond each code, the value of code 0 (each next code goes on where
   the one before it ends), and limits. */
typedef struct tli_zstd_kind {
    const uint8_t *extra;
    uint32_t first;
    uint32_t symbols;
    uint32_t log_max;
    const tli_zstd_entry *predefined;
    uint32_t predefined_log;
} tli_zstd_kind;

static const uint8_t tli_zstd_extra_ll[36] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  1,  1,
                                              1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t tli_zstd_extra_of[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                              16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const uint8_t tli_zstd_extra_ml[53] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1,
                                              2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* What the predefined distributions of RFC 8878 (3.1.1.3.2.2) give, so that small frames need build no table. */
static const tli_zstd_entry tli_zstd_default_ll[64] = {
    {0, 0, 4, 0}, {16, 0, 4, 0}, {32, 0, 5, 1}, {0, 0, 5, 3}, {0, 0, 5, 4}, {0, 0, 5, 6}, {0, 0, 5, 7}, {0, 0, 5, 9},
    {0, 0, 5, 10}, {0, 0, 5, 12}, {0, 0, 6, 14}, {0, 1, 5, 16}, {0, 1, 5, 20}, {0, 1, 5, 22}, {0, 2, 5, 28},
    {0, 3, 5, 32}, {0, 4, 5, 48}, {32, 6, 5, 64}, {0, 7, 5, 128}, {0, 8, 6, 256}, {0, 10, 6, 1024}, {0, 12, 6, 4096},
    {32, 0, 4, 0}, {0, 0, 4, 1}, {0, 0, 5, 2}, {32, 0, 5, 4}, {0, 0, 5, 5}, {32, 0, 5, 7}, {0, 0, 5, 8},
    {32, 0, 5, 10}, {0, 0, 5, 11}, {0, 0, 6, 13}, {32, 1, 5, 16}, {0, 1, 5, 18}, {32, 1, 5, 22}, {0, 2, 5, 24},
    {32, 3, 5, 32}, {0, 3, 5, 40}, {0, 6, 4, 64}, {16, 6, 4, 64}, {32, 7, 5, 128}, {0, 9, 6, 512}, {0, 11, 6, 2048},
    {48, 0, 4, 0}, {16, 0, 4, 1}, {32, 0, 5, 2}, {32, 0, 5, 3}, {32, 0, 5, 5}, {32, 0, 5, 6}, {32, 0, 5, 8},
    {32, 0, 5, 9}, {32, 0, 5, 11}, {32, 0, 5, 12}, {0, 0, 6, 15}, {32, 1, 5, 18}, {32, 1, 5, 20}, {32, 2, 5, 24},
    {32, 2, 5, 28}, {32, 3, 5, 40}, {32, 4, 5, 48}, {0, 16, 6, 65536}, {0, 15, 6, 32768}, {0, 14, 6, 16384},
    {0, 13, 6, 8192},
};

static const tli_zstd_entry tli_zstd_default_of[32] = {
    {0, 0, 5, 1}, {0, 6, 4, 64}, {0, 9, 5, 512}, {0, 15, 5, 32768}, {0, 21, 5, 2097152}, {0, 3, 5, 8}, {0, 7, 4, 128},
    {0, 12, 5, 4096}, {0, 18, 5, 262144}, {0, 23, 5, 8388608}, {0, 5, 5, 32}, {0, 8, 4, 256}, {0, 14, 5, 16384},
    {0, 20, 5, 1048576}, {0, 2, 5, 4}, {16, 7, 4, 128}, {0, 11, 5, 2048}, {0, 17, 5, 131072}, {0, 22, 5, 4194304},
    {0, 4, 5, 16}, {16, 8, 4, 256}, {0, 13, 5, 8192}, {0, 19, 5, 524288}, {0, 1, 5, 2}, {16, 6, 4, 64},
    {0, 10, 5, 1024}, {0, 16, 5, 65536}, {0, 28, 5, 268435456}, {0, 27, 5, 134217728}, {0, 26, 5, 67108864},
    {0, 25, 5, 33554432}, {0, 24, 5, 16777216},
};

static const tli_zstd_entry tli_zstd_default_ml[64] = {
    {0, 0, 6, 3}, {0, 0, 4, 4}, {32, 0, 5, 5}, {0, 0, 5, 6}, {0, 0, 5, 8}, {0, 0, 5, 9}, {0, 0, 5, 11}, {0, 0, 6, 13},
    {0, 0, 6, 16}, {0, 0, 6, 19}, {0, 0, 6, 22}, {0, 0, 6, 25}, {0, 0, 6, 28}, {0, 0, 6, 31}, {0, 0, 6, 34},
    {0, 1, 6, 37}, {0, 1, 6, 41}, {0, 2, 6, 47}, {0, 3, 6, 59}, {0, 4, 6, 83}, {0, 7, 6, 131}, {0, 9, 6, 515},
    {16, 0, 4, 4}, {0, 0, 4, 5}, {32, 0, 5, 6}, {0, 0, 5, 7}, {32, 0, 5, 9}, {0, 0, 5, 10}, {0, 0, 6, 12},
    {0, 0, 6, 15}, {0, 0, 6, 18}, {0, 0, 6, 21}, {0, 0, 6, 24}, {0, 0, 6, 27}, {0, 0, 6, 30}, {0, 0, 6, 33},
    {0, 1, 6, 35}, {0, 1, 6, 39}, {0, 2, 6, 43}, {0, 3, 6, 51}, {0, 4, 6, 67}, {0, 5, 6, 99}, {0, 8, 6, 259},
    {32, 0, 4, 4}, {48, 0, 4, 4}, {16, 0, 4, 5}, {32, 0, 5, 7}, {32, 0, 5, 8}, {32, 0, 5, 10}, {32, 0, 5, 11},
    {0, 0, 6, 14}, {0, 0, 6, 17}, {0, 0, 6, 20}, {0, 0, 6, 23}, {0, 0, 6, 26}, {0, 0, 6, 29}, {0, 0, 6, 32},
    {0, 16, 6, 65539}, {0, 15, 6, 32771}, {0, 14, 6, 16387}, {0, 13, 6, 8195}, {0, 12, 6, 4099}, {0, 11, 6, 2051},
    {0, 10, 6, 1027},
};

static const tli_zstd_kind tli_zstd_kind_ll = {tli_zstd_extra_ll, 0, 36, 9, tli_zstd_default_ll, 6};
static const tli_zstd_kind tli_zstd_kind_of = {tli_zstd_extra_of, 1, 32, 8, tli_zstd_default_of, 5};
static const tli_zstd_kind tli_zstd_kind_ml = {tli_zstd_extra_ml, 3, 53, 9, tli_zstd_default_ml, 6};

TLI_FN tl_status tli_zstd_bad(const tli_zstd_work *w, const char *text, const uint8_t *at)
{
    return tli_err(w->err, TL_CORRUPT, text, (uint64_t)(at - w->src));
}

TLI_FN tl_status tli_zstd_cut(const tli_zstd_work *w, const char *text)
{
    return tli_err(w->err, TL_TRUNCATED, text, (uint64_t)(w->src_end - w->src));
}

/* The output memory is full: a lie of the frame when that holds what it announced, else the caller's limit. */
TLI_FN tl_status tli_zstd_full(const tli_zstd_work *w, const uint8_t *at)
{
    if (w->content_known)
        return tli_zstd_bad(w, "zstd: more content than the frame announces", at);
    return tli_err(w->err, TL_LIMIT, "zstd: more content than there is room for", (uint64_t)(at - w->src));
}

/* The number of the highest bit set; v is not 0. */
TLI_INLINE uint32_t tli_zstd_log2(uint32_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return 31u - (uint32_t)__builtin_clz(v);
#else
    uint32_t log = 0;
    while (v >>= 1)
        log++;
    return log;
#endif
}

/* How many low bits are 0; v is not 0. */
TLI_INLINE uint32_t tli_zstd_zeros(uint64_t v)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_ctzll(v);
#else
    uint64_t lowest = v & (0 - v);
    return lowest >> 32 != 0 ? 32 + tli_zstd_log2((uint32_t)(lowest >> 32)) : tli_zstd_log2((uint32_t)lowest);
#endif
}

/* ---- distributions and their tables (RFC 8878, 4.1) ---- */

/* At least 25 bits from bit `at` of p on, zeros behind the end. */
TLI_FN uint32_t tli_zstd_peek(const uint8_t *p, const uint8_t *end, size_t at)
{
    size_t left, i;
    uint32_t v = 0;
    if (at / 8 >= (size_t)(end - p))
        return 0;
    p += at / 8;
    left = (size_t)(end - p);
    if (left >= 4)
        return tli_bits_le32(p) >> (at & 7);
    for (i = 0; i < left; i++)
        v |= (uint32_t)p[i] << (8 * i);
    return v >> (at & 7);
}

/* Reads a distribution over at most `symbols` symbols into w->counts (-1: less than one) and says in *log what it adds
   up to and in *used how many symbols it names. Returns the bytes it took, 0: corrupt. */
TLI_FN size_t tli_zstd_counts(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint32_t symbols,
                              uint32_t log_max, uint32_t *log, uint32_t *used)
{
    size_t at = 4;
    uint32_t n = 0, left;
    *log = (tli_zstd_peek(p, end, 0) & 15) + 5;
    if (p == end || *log > log_max)
        return 0;
    for (left = 1u << *log; left > 0 && n < symbols;) {
        uint32_t bits = tli_zstd_log2(left + 1) + 1, v = tli_zstd_peek(p, end, at);
        uint32_t spare = (1u << bits) - 2 - left, low = v & ((1u << (bits - 1)) - 1);
        at += bits;
        if (low < spare) { /* the small values take a bit less */
            v = low;
            at--;
        } else {
            v &= (1u << bits) - 1;
            if (v >= 1u << (bits - 1))
                v -= spare;
        }
        w->counts[n++] = (int16_t)((int32_t)v - 1);
        left -= v == 0 ? 1 : v - 1;
        if (v == 1) { /* a zero: two bits say how many more, 3 means that two more bits follow */
            uint32_t more;
            do {
                more = tli_zstd_peek(p, end, at) & 3;
                at += 2;
                if (more > symbols - n)
                    return 0;
                TLI_FILL(w->counts + n, 0, more * sizeof w->counts[0]);
                n += more;
            } while (more == 3);
        }
    }
    *used = n;
    at = (at + 7) / 8;
    return left != 0 || at > (size_t)(end - p) ? 0 : at;
}

/* Makes the table of 1 << log states for w->counts. kind NULL: states stand for the bare symbols. */
TLI_FN void tli_zstd_states(tli_zstd_work *w, tli_zstd_entry *t, uint32_t log, uint32_t symbols,
                            const tli_zstd_kind *kind)
{
    uint32_t size = 1u << log, mask = size - 1, step = (size >> 1) + (size >> 3) + 3, high = mask, at = 0, s, i;
    uint32_t base[53];
    for (s = 0; s < symbols; s++) { /* those of less than one sit at the end */
        w->nexts[s] = (uint16_t)w->counts[s];
        if (w->counts[s] < 0) {
            w->nexts[s] = 1;
            t[high--].base = s;
        }
    }
    for (s = 0; s < symbols; s++)
        for (i = w->counts[s] < 0 ? 0 : (uint32_t)w->counts[s]; i > 0; i--) {
            t[at].base = s;
            do
                at = (at + step) & mask;
            while (at > high);
        }
    for (s = 0, at = kind != NULL ? kind->first : 0; kind != NULL && s < kind->symbols; s++) {
        base[s] = at;
        at += 1u << kind->extra[s];
    }
    for (i = 0; i < size; i++) {
        uint32_t next;
        s = t[i].base;
        next = w->nexts[s]++;
        t[i].bits = (uint8_t)(log - tli_zstd_log2(next));
        t[i].next = (uint16_t)((next << t[i].bits) - size);
        t[i].extra = kind != NULL ? kind->extra[s] : 0;
        if (kind != NULL)
            t[i].base = base[s];
    }
}

/* ---- backward bit streams ---- */

/* 64 bits starting at `at`, the first `used` of which (from the top) are gone. */
typedef struct tli_zstd_bits {
    uint64_t bits;
    const uint8_t *at;
    const uint8_t *low; /* no load may start below: eight bytes before the stream */
    uint32_t used;
} tli_zstd_bits;

/* 0: the stream has no end mark. */
TLI_INLINE int tli_zstd_bits_open(tli_zstd_bits *b, const uint8_t *start, const uint8_t *end)
{
    if (start == end || end[-1] == 0)
        return 0;
    b->at = end - 8;
    b->low = start - 8;
    b->bits = tli_bits_le64(b->at);
    b->used = 8 - tli_zstd_log2(end[-1]);
    return 1;
}

/* Afterwards at least 57 bits can be taken. 0: more was taken than the stream has. */
TLI_INLINE int tli_zstd_bits_fill(tli_zstd_bits *b)
{
    if (TLI_UNLIKELY(b->at - b->low < (ptrdiff_t)(b->used >> 3)))
        return 0;
    b->at -= b->used >> 3;
    b->used &= 7;
    b->bits = tli_bits_le64(b->at);
    return 1;
}

/* The next n bits, at most 31, from what the last fill gave. */
TLI_INLINE uint32_t tli_zstd_bits_take(tli_zstd_bits *b, uint32_t n)
{
    uint32_t v = (uint32_t)(((b->bits << (b->used & 63)) >> 1) >> (63 - n));
    b->used += n;
    return v;
}

/* Bits not taken yet; negative when too many were. */
TLI_INLINE int64_t tli_zstd_bits_left(const tli_zstd_bits *b)
{
    return (int64_t)(b->at - b->low) * 8 - (int64_t)b->used;
}

/* ---- Huffman codes (RFC 8878, 4.2) ---- */

/* Weights coded with two states taking turns, until the stream is used up. Returns how many, 0: corrupt (which the
   reference up to 1.5.4 did not see when the stream ends within the first states). */
TLI_FN uint32_t tli_zstd_weights_coded(tli_zstd_work *w, const uint8_t *p, const uint8_t *end)
{
    uint32_t log, symbols, now, other, n;
    const tli_zstd_entry *t = w->weight_entries;
    size_t head = tli_zstd_counts(w, p, end, 256, 6, &log, &symbols);
    tli_zstd_bits b;
    if (head == 0 || !tli_zstd_bits_open(&b, p + head, end))
        return 0;
    tli_zstd_states(w, w->weight_entries, log, symbols, NULL);
    now = tli_zstd_bits_take(&b, log);
    other = tli_zstd_bits_take(&b, log);
    if (tli_zstd_bits_left(&b) < 0)
        return 0;
    for (n = 0; n < 254;) {
        uint32_t next;
        w->weights[n++] = (uint8_t)t[now].base;
        if (!tli_zstd_bits_fill(&b) || tli_zstd_bits_left(&b) < t[now].bits) {
            w->weights[n++] = (uint8_t)t[other].base;
            return n;
        }
        next = t[now].next + tli_zstd_bits_take(&b, t[now].bits);
        now = other;
        other = next;
    }
    return 0;
}

/* Fills w->huffman from n weights, the last of which follows from the others. */
TLI_FN tl_status tli_zstd_huffman_table(tli_zstd_work *w, uint32_t n, const uint8_t *at)
{
    uint32_t rank[TLI_ZSTD_HUFFMAN_LOG + 2], sum = 0, log, left, i, next;
    TLI_FILL(rank, 0, sizeof rank);
    for (i = 0; i < n; i++) {
        if (w->weights[i] > TLI_ZSTD_HUFFMAN_LOG)
            return tli_zstd_bad(w, "zstd: a Huffman code of more than 11 bits", at);
        rank[w->weights[i]]++;
        sum += 1u << w->weights[i] >> 1;
    }
    if (sum == 0)
        return tli_zstd_bad(w, "zstd: no Huffman weights", at);
    log = tli_zstd_log2(sum) + 1;
    if (log > TLI_ZSTD_HUFFMAN_LOG)
        return tli_zstd_bad(w, "zstd: a Huffman code of more than 11 bits", at);
    left = (1u << log) - sum;
    if ((left & (left - 1)) != 0)
        return tli_zstd_bad(w, "zstd: Huffman weights that make no tree", at);
    w->weights[n] = (uint8_t)(tli_zstd_log2(left) + 1);
    rank[w->weights[n++]]++;
    if (rank[1] < 2)
        return tli_zstd_bad(w, "zstd: Huffman weights that make no tree", at);
    for (i = 1, next = 0; i <= log; i++) { /* from counts to where the codes of each weight start */
        uint32_t run = rank[i] << (i - 1 + TLI_ZSTD_HUFFMAN_LOG - log);
        rank[i] = next;
        next += run;
    }
    for (i = 0; i < n; i++) {
        uint32_t weight = w->weights[i], run, entry;
        uint16_t *to;
        if (weight == 0)
            continue;
        run = 1u << (weight - 1 + TLI_ZSTD_HUFFMAN_LOG - log);
        entry = i << 8 | (log + 1 - weight);
        to = w->huffman + rank[weight];
        rank[weight] += run;
        if (run >= 4) {
            uint64_t four = entry * UINT64_C(0x0001000100010001);
            for (; run > 0; run -= 4, to += 4)
                tli_bits_put64(to, four);
        }
        for (; run > 0; run--)
            *to++ = (uint16_t)entry;
    }
    w->huffman_known = 1;
    return TL_OK;
}

/* Reads the description of a Huffman tree; *used: the bytes it takes. */
TLI_FN tl_status tli_zstd_huffman_open(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, size_t *used)
{
    uint32_t n, i;
    if (p == end)
        return tli_zstd_bad(w, "zstd: a block that ends within a Huffman tree", p);
    n = *p;
    *used = 1 + (size_t)(n < 128 ? n : (n - 126) / 2);
    if (*used > (size_t)(end - p))
        return tli_zstd_bad(w, "zstd: a block that ends within a Huffman tree", p);
    w->huffman_known = 0;
    if (n < 128) {
        n = tli_zstd_weights_coded(w, p + 1, p + *used);
        if (n == 0)
            return tli_zstd_bad(w, "zstd: corrupt Huffman weights", p);
    } else {
        n -= 127;
        for (i = 0; i < n; i++)
            w->weights[i] = (i & 1) != 0 ? p[1 + i / 2] & 15 : p[1 + i / 2] >> 4;
    }
    return tli_zstd_huffman_table(w, n, p);
}

/* One of the streams of literals. The bits to come are at the top of `bits`; the lowest 1 is a mark that moves up with
   them, so that its place tells how many were taken since the load. */
typedef struct tli_zstd_stream {
    uint64_t bits;
    const uint8_t *at;
    const uint8_t *low; /* eight bytes before the stream */
    uint8_t *to;
    size_t left; /* symbols to come */
} tli_zstd_stream;

TLI_FN int tli_zstd_stream_open(tli_zstd_stream *s, const uint8_t *start, const uint8_t *end, uint8_t *to, size_t left)
{
    if (start >= end || end[-1] == 0)
        return 0;
    s->at = end - 8;
    s->low = start - 8;
    s->bits = (tli_bits_le64(s->at) | 1) << (8 - tli_zstd_log2(end[-1]));
    s->to = to;
    s->left = left;
    return 1;
}

#define TLI_ZSTD_SYMBOL(k, i)                                                                                          \
    entry = table[bits##k >> (64 - TLI_ZSTD_HUFFMAN_LOG)];                                                             \
    to##k[i] = (uint8_t)(entry >> 8);                                                                                  \
    bits##k <<= entry & 63
#define TLI_ZSTD_SYMBOLS(i)                                                                                            \
    TLI_ZSTD_SYMBOL(0, i);                                                                                             \
    TLI_ZSTD_SYMBOL(1, i);                                                                                             \
    TLI_ZSTD_SYMBOL(2, i);                                                                                             \
    TLI_ZSTD_SYMBOL(3, i)
#define TLI_ZSTD_REFILL(k)                                                                                             \
    zeros = tli_zstd_zeros(bits##k);                                                                                   \
    at##k -= zeros >> 3;                                                                                               \
    bits##k = (tli_bits_le64(at##k) | 1) << (zeros & 7);                                                               \
    to##k += 5

/* Five symbols of each stream per round (a load has 56 bits, a code at most 11), as many rounds as are safe whatever
   the codes are: a round takes at most 7 bytes of a stream. */
TLI_FN void tli_zstd_streams_run(const uint16_t *table, tli_zstd_stream *s)
{
    const uint8_t *at0 = s[0].at, *at1 = s[1].at, *at2 = s[2].at, *at3 = s[3].at;
    uint8_t *to0 = s[0].to, *to1 = s[1].to, *to2 = s[2].to, *to3 = s[3].to;
    uint64_t bits0 = s[0].bits, bits1 = s[1].bits, bits2 = s[2].bits, bits3 = s[3].bits;
    uint32_t entry, zeros;
    for (;;) {
        size_t rounds = s[3].left / 5, n;
        rounds = TLI_MIN(rounds, (size_t)(at0 - s[0].low) / 7);
        rounds = TLI_MIN(rounds, (size_t)(at1 - s[1].low) / 7);
        rounds = TLI_MIN(rounds, (size_t)(at2 - s[2].low) / 7);
        rounds = TLI_MIN(rounds, (size_t)(at3 - s[3].low) / 7);
        if (rounds == 0)
            break;
        s[3].left -= rounds * 5;
        for (n = rounds; n > 0; n--) {
            TLI_ZSTD_SYMBOLS(0);
            TLI_ZSTD_SYMBOLS(1);
            TLI_ZSTD_SYMBOLS(2);
            TLI_ZSTD_SYMBOLS(3);
            TLI_ZSTD_SYMBOLS(4);
            TLI_ZSTD_REFILL(0);
            TLI_ZSTD_REFILL(1);
            TLI_ZSTD_REFILL(2);
            TLI_ZSTD_REFILL(3);
        }
    }
    s[0].left -= (size_t)(to0 - s[0].to);
    s[1].left -= (size_t)(to1 - s[1].to);
    s[2].left -= (size_t)(to2 - s[2].to);
    s[0].at = at0, s[1].at = at1, s[2].at = at2, s[3].at = at3;
    s[0].to = to0, s[1].to = to1, s[2].to = to2, s[3].to = to3;
    s[0].bits = bits0, s[1].bits = bits1, s[2].bits = bits2, s[3].bits = bits3;
}

#undef TLI_ZSTD_SYMBOL
#undef TLI_ZSTD_SYMBOLS
#undef TLI_ZSTD_REFILL

/* Decodes what is left of one stream. NULL, or what is wrong with it. */
TLI_FN const char *tli_zstd_stream_finish(const uint16_t *table, tli_zstd_stream *s)
{
    const uint8_t *at = s->at;
    uint8_t *to = s->to;
    uint64_t bits = s->bits;
    size_t left = s->left;
    for (;;) {
        uint32_t zeros = tli_zstd_zeros(bits), entry, i;
        if (at - s->low < (ptrdiff_t)(zeros >> 3))
            return "zstd: Huffman coded literals that end too early";
        at -= zeros >> 3;
        zeros &= 7;
        bits = (tli_bits_le64(at) | 1) << zeros;
        if (left == 0 && (at - s->low) * 8 < (ptrdiff_t)zeros)
            return "zstd: Huffman coded literals that end too early";
        if (left == 0)
            return (at - s->low) * 8 == (ptrdiff_t)zeros ? NULL : "zstd: Huffman coded literals that are too long";
        if (left >= 5) {
            for (i = 0; i < 5; i++) {
                entry = table[bits >> (64 - TLI_ZSTD_HUFFMAN_LOG)];
                *to++ = (uint8_t)(entry >> 8);
                bits <<= entry & 63;
            }
            left -= 5;
        } else {
            for (; left > 0; left--) {
                entry = table[bits >> (64 - TLI_ZSTD_HUFFMAN_LOG)];
                *to++ = (uint8_t)(entry >> 8);
                bits <<= entry & 63;
            }
        }
    }
}

/* The jump table, and four streams that give the literals' quarters, at `to`. NULL, or what is wrong with them. */
TLI_FN const char *tli_zstd_huffman_four(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint8_t *to,
                                         size_t count)
{
    tli_zstd_stream s[4];
    size_t quarter = (count + 3) / 4, size, i;
    const uint8_t *at = p + 6;
    const char *wrong = NULL;
    if (end - p < 10 || quarter * 3 > count)
        return "zstd: a block that ends within its literals";
    for (i = 0; i < 4; i++) {
        size = i < 3 ? tli_bits_le16(p + 2 * i) : (size_t)(end - at);
        if (size > (size_t)(end - at)
            || !tli_zstd_stream_open(&s[i], at, at + size, to + i * quarter, i < 3 ? quarter : count - 3 * quarter))
            return "zstd: a stream of literals without an end";
        at += size;
    }
    tli_zstd_streams_run(w->huffman, s);
    for (i = 0; i < 4 && wrong == NULL; i++)
        wrong = tli_zstd_stream_finish(w->huffman, &s[i]);
    return wrong;
}
/* ---- blocks (RFC 8878, 3.1.1.2 and 3.1.1.3) ---- */

/* Raw literals and runs. Raw ones are used where they lie when copies may read beyond them there. */
TLI_FN void tli_zstd_literals_plain(tli_zstd_work *w, const uint8_t *p, uint32_t count, int run)
{
    uint8_t *to = w->tail - count;
    w->literals = to;
    if (run)
        TLI_FILL(to, *p, count);
    else if ((size_t)(w->src_end - p) >= (size_t)count + TLI_ZSTD_SLACK)
        w->literals = p;
    else if (count > 0)
        TLI_COPY(to, p, count);
}

/* The Huffman coded literals behind a header of `head` bytes. */
TLI_FN tl_status tli_zstd_literals_coded(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, size_t head, int fresh,
                                         int streams)
{
    const uint8_t *at = p + head;
    uint8_t *to = w->tail - w->literal_count;
    tli_zstd_stream one;
    const char *wrong = "zstd: a stream of literals without an end";
    if (fresh) {
        size_t used = 0;
        tl_status st = tli_zstd_huffman_open(w, at, end, &used);
        if (st != TL_OK)
            return st;
        at += used;
    } else if (!w->huffman_known) {
        return tli_zstd_bad(w, "zstd: no Huffman tree to use again", p);
    }
    w->literals = to;
    if (streams == 4)
        wrong = tli_zstd_huffman_four(w, at, end, to, w->literal_count);
    else if (tli_zstd_stream_open(&one, at, end, to, w->literal_count))
        wrong = tli_zstd_stream_finish(w->huffman, &one);
    return wrong == NULL ? TL_OK : tli_zstd_bad(w, wrong, p);
}

/* The literals section of the block p..end, whose content goes to `to`; *next: what follows the section. */
TLI_FN tl_status tli_zstd_literals(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, const uint8_t *to,
                                   const uint8_t **next)
{
    uint32_t kind = *p & 3u, form = (*p >> 2) & 3u, count, size, head;
    uint64_t v = 0;
    if (kind < 2) {
        head = form == 1 ? 2 : form == 3 ? 3 : 1;
    } else {
        head = form < 2 ? 3 : form + 2;
    }
    if ((size_t)(end - p) < head + (kind == 1))
        return tli_zstd_bad(w, "zstd: a block that ends within its literals", p);
    for (size = 0; size < head; size++)
        v |= (uint64_t)p[size] << (8 * size);
    if (kind < 2) {
        count = (uint32_t)v >> (head == 1 ? 3 : 4);
        size = kind == 0 ? count : 1;
    } else {
        uint32_t bits = head == 3 ? 10 : head == 4 ? 14 : 18;
        count = (uint32_t)(v >> 4) & ((1u << bits) - 1);
        size = (uint32_t)(v >> (4 + bits));
    }
    if (count > w->block_max)
        return tli_zstd_bad(w, "zstd: more content than a block may have", p);
    if (size > (size_t)(end - p) - head)
        return tli_zstd_bad(w, "zstd: a block that ends within its literals", p);
    if (count > (size_t)(w->tail - to))
        return tli_zstd_full(w, p);
    *next = p + head + size;
    w->literal_count = count;
    if (kind < 2) {
        tli_zstd_literals_plain(w, p + head, count, kind == 1);
        return TL_OK;
    }
    return tli_zstd_literals_coded(w, p, *next, head, kind == 2, form == 0 ? 1 : 4);
}

/* One of the three tables, as `mode` says: predefined, one symbol, described here, the one before. NULL: corrupt. */
TLI_FN const uint8_t *tli_zstd_table_open(tli_zstd_work *w, tli_zstd_table *t, tli_zstd_entry *entries,
                                          const tli_zstd_kind *kind, uint32_t mode, const uint8_t *p,
                                          const uint8_t *end)
{
    uint32_t symbols;
    size_t used = 0;
    if (mode == 0) {
        t->entries = kind->predefined;
        t->log = kind->predefined_log;
    } else if (mode == 1) {
        if (p == end || *p >= kind->symbols)
            return NULL;
        for (entries[0].base = kind->first, symbols = 0; symbols < *p; symbols++)
            entries[0].base += 1u << kind->extra[symbols];
        entries[0].extra = kind->extra[*p];
        entries[0].bits = 0;
        entries[0].next = 0;
        t->entries = entries;
        t->log = 0;
        used = 1;
    } else if (mode == 2) {
        used = tli_zstd_counts(w, p, end, kind->symbols, kind->log_max, &t->log, &symbols);
        if (used == 0)
            return NULL;
        tli_zstd_states(w, entries, t->log, symbols, kind);
        t->entries = entries;
    } else if (t->entries == NULL) {
        return NULL;
    }
    return p + used;
}

/* The header of the sequences section: how many there are, and the tables for them. */
TLI_FN tl_status tli_zstd_sequences_open(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint32_t *count,
                                         const uint8_t **next)
{
    uint32_t n, modes;
    size_t head = p == end || *p < 128 ? 1 : *p < 255 ? 2 : 3;
    if ((size_t)(end - p) < head)
        return tli_zstd_bad(w, "zstd: a block that ends within its sequences", end);
    n = head == 1 ? *p : head == 2 ? ((*p - 128u) << 8) + p[1] : tli_bits_le16(p + 1) + 0x7F00u;
    *count = n;
    *next = p + head;
    if (n == 0)
        return *next == end ? TL_OK : tli_zstd_bad(w, "zstd: bytes behind a block without sequences", p);
    if (*next == end)
        return tli_zstd_bad(w, "zstd: a block that ends within its sequences", end);
    modes = *(*next)++;
    if ((modes & 3) != 0)
        return tli_zstd_bad(w, "zstd: reserved bits in a sequences header", p);
    *next = tli_zstd_table_open(w, &w->ll, w->ll_entries, &tli_zstd_kind_ll, modes >> 6, *next, end);
    if (*next != NULL)
        *next = tli_zstd_table_open(w, &w->of, w->of_entries, &tli_zstd_kind_of, (modes >> 4) & 3, *next, end);
    if (*next != NULL)
        *next = tli_zstd_table_open(w, &w->ml, w->ml_entries, &tli_zstd_kind_ml, (modes >> 2) & 3, *next, end);
    return *next != NULL ? TL_OK : tli_zstd_bad(w, "zstd: a corrupt table of sequence codes", p);
}

/* Copies of 16 bytes at a time: up to 15 bytes more than `size` are read and written. */
TLI_INLINE void tli_zstd_wild(uint8_t *to, const uint8_t *from, size_t size)
{
    uint8_t *end = to + size;
    TLI_COPY(to, from, 16);
    for (to += 16, from += 16; to < end; to += 16, from += 16)
        TLI_COPY(to, from, 16);
}

/* A match that is nearer than 16 bytes, 8 bytes at a time: up to 15 bytes too many are written. Nearer than 8 the bytes
   are a pattern, which is held in a register and written at steps of whole patterns. */
TLI_FN void tli_zstd_near(uint8_t *to, size_t offset, size_t size)
{
    uint8_t *end = to + size;
    uint64_t v;
    if (offset >= 8) {
        do {
            TLI_COPY(to, to - offset, 8);
            to += 8;
        } while (to < end);
        return;
    }
    v = tli_bits_le64(to - offset) & ((UINT64_C(1) << (8 * offset)) - 1);
    v |= v << (8 * offset);
    if (offset < 4)
        v |= v << (16 * offset);
    if (offset < 2)
        v |= v << 32;
    offset = offset < 5 ? 8 - 8 % offset : offset;
    do {
        tli_bits_put_le64(to, v);
        to += offset;
    } while (to < end);
}

/* Where the copying of sequences is. */
typedef struct tli_zstd_copy {
    uint8_t *to;
    const uint8_t *literals, *literals_end;
    int in_output; /* the literals lie in the output: what is written may not reach those that were not copied */
} tli_zstd_copy;

/* How many bytes quick copies may write: between the content and the literals only matches fill what is free, in front
   of the end of the output literals too. */
TLI_FN ptrdiff_t tli_zstd_room(const tli_zstd_work *w, const tli_zstd_copy *c)
{
    ptrdiff_t room = c->in_output ? c->literals - c->to : w->end - c->to;
    return room - (ptrdiff_t)TLI_ZSTD_SLACK;
}

/* How many literals may be copied by reading TLI_ZSTD_SLACK bytes too many. */
TLI_FN ptrdiff_t tli_zstd_quick(const tli_zstd_work *w, const tli_zstd_copy *c)
{
    ptrdiff_t slack = (ptrdiff_t)TLI_ZSTD_SLACK;
    return c->literals_end - c->literals - (c->in_output && w->end - w->tail < slack ? slack : 0);
}

/* The same without writing beyond the end of the output. Its room was checked. */
TLI_NOINLINE void tli_zstd_careful(uint8_t *to, const uint8_t *end, size_t offset, size_t size)
{
    size_t room = (size_t)(end - to), quick = room > TLI_ZSTD_SLACK ? room - TLI_ZSTD_SLACK : 0;
    quick = TLI_MIN(quick, size);
    if (quick > 0) {
        if (offset >= 16)
            tli_zstd_wild(to, to - offset, quick);
        else
            tli_zstd_near(to, offset, quick);
    }
    for (to += quick, size -= quick; size > 0; size--, to++)
        *to = *(to - offset);
}

/* A sequence near the end of something, or a corrupt one. */
TLI_NOINLINE tl_status tli_zstd_edge(const tli_zstd_work *w, tli_zstd_copy *c, uint32_t literals, uint32_t match,
                                     uint32_t offset, const uint8_t *at)
{
    size_t room = (size_t)(w->end - c->to), before = (size_t)(c->to - w->base);
    if (literals > (size_t)(c->literals_end - c->literals))
        return tli_zstd_bad(w, "zstd: a sequence takes more literals than there are", at);
    if (literals > room || match > room - literals)
        return tli_zstd_full(w, at);
    if (offset == 0)
        return tli_zstd_bad(w, "zstd: an offset of 0", at);
    if (offset > before + literals)
        return tli_zstd_bad(w, "zstd: a match before the start of the content", at);
    if (offset > w->window)
        return tli_zstd_bad(w, "zstd: a match beyond the window", at);
    if (c->in_output && match > (size_t)(c->literals - c->to))
        return w->tail == w->end ? tli_zstd_full(w, at)
            : tli_zstd_bad(w, "zstd: more content than a block may have", at);
    if (literals > 0)
        TLI_MOVE(c->to, c->literals, literals);
    c->to += literals;
    c->literals += literals;
    tli_zstd_careful(c->to, c->in_output ? c->literals : w->end, offset, match);
    c->to += match;
    return TL_OK;
}

/* The offset of a sequence: `code` is what was read, 1..3 (one more without literals) means one of the last three. */
TLI_INLINE uint32_t tli_zstd_offset(uint32_t *repeat, uint32_t code, int no_literals)
{
    uint32_t offset;
    if (TLI_LIKELY(code > 3)) {
        offset = code - 3;
        repeat[2] = repeat[1];
    } else {
        code += (uint32_t)no_literals;
        if (code == 1)
            return repeat[0];
        offset = code == 2 ? repeat[1] : code == 3 ? repeat[2] : repeat[0] - 1;
        if (code != 2)
            repeat[2] = repeat[1];
    }
    repeat[1] = repeat[0];
    repeat[0] = offset;
    return offset;
}

/* Decodes `count` sequences from the stream p..end and carries them out. c->to is where the output goes on. */
TLI_FN tl_status tli_zstd_sequences(tli_zstd_work *w, tli_zstd_copy *out, uint32_t count, const uint8_t *p,
                                    const uint8_t *end)
{
    const tli_zstd_entry *ll = w->ll.entries, *of = w->of.entries, *ml = w->ml.entries;
    uint32_t ll_state, of_state, ml_state, repeat[3];
    uint32_t taking = out->in_output ? 0 : UINT32_MAX; /* do literals take of the room, too? */
    uint64_t window = w->window;
    tli_zstd_copy c = *out;
    ptrdiff_t room = tli_zstd_room(w, &c), quick = tli_zstd_quick(w, &c);
    tli_zstd_bits b;
    if (!tli_zstd_bits_open(&b, p, end))
        return tli_zstd_bad(w, "zstd: a sequence stream without an end", p);
    ll_state = tli_zstd_bits_take(&b, w->ll.log);
    of_state = tli_zstd_bits_take(&b, w->of.log);
    ml_state = tli_zstd_bits_take(&b, w->ml.log);
    TLI_COPY(repeat, w->repeat, sizeof repeat);
    do {
        tli_zstd_entry l = ll[ll_state], m = ml[ml_state], o = of[of_state];
        uint32_t offset, match, literals;
        tl_status st;
        if (!tli_zstd_bits_fill(&b))
            return tli_zstd_bad(w, "zstd: a sequence stream that ends too early", p);
        offset = tli_zstd_offset(repeat, o.base + tli_zstd_bits_take(&b, o.extra), l.base == 0);
        match = m.base;
        if (TLI_UNLIKELY(m.extra > 0))
            match += tli_zstd_bits_take(&b, m.extra);
        if (TLI_UNLIKELY(o.extra + m.extra + l.extra > 57 - 26) && !tli_zstd_bits_fill(&b))
            return tli_zstd_bad(w, "zstd: a sequence stream that ends too early", p);
        literals = l.base;
        if (TLI_UNLIKELY(l.extra > 0))
            literals += tli_zstd_bits_take(&b, l.extra);
        if (--count > 0) {
            ll_state = l.next + tli_zstd_bits_take(&b, l.bits);
            ml_state = m.next + tli_zstd_bits_take(&b, m.bits);
            of_state = o.next + tli_zstd_bits_take(&b, o.bits);
        }
        room -= (ptrdiff_t)(match + (literals & taking));
        quick -= (ptrdiff_t)literals;
        if (TLI_LIKELY(room >= 0 && quick >= 0
                       && (size_t)offset - 1 < (size_t)(c.to - w->base) + literals && offset <= window)) {
            tli_zstd_wild(c.to, c.literals, literals);
            c.to += literals;
            c.literals += literals;
            if (TLI_LIKELY(offset >= 16))
                tli_zstd_wild(c.to, c.to - offset, match);
            else
                tli_zstd_near(c.to, offset, match);
            c.to += match;
        } else {
            st = tli_zstd_edge(w, &c, literals, match, offset, p);
            if (st == TL_OK)
                continue;
            if (tli_zstd_bits_left(&b) < 0) /* what was read behind the end made no sense: say what came first */
                break;
            return st;
        }
    } while (count > 0);
    if (tli_zstd_bits_left(&b) != 0)
        return tli_zstd_bad(w, tli_zstd_bits_left(&b) < 0 ? "zstd: a sequence stream that ends too early"
                                                          : "zstd: a sequence stream that is too long", p);
    TLI_COPY(w->repeat, repeat, sizeof repeat);
    *out = c;
    return TL_OK;
}

/* A compressed block p..end; *to: where its content goes, and where that ends. */
TLI_FN tl_status tli_zstd_block(tli_zstd_work *w, const uint8_t *p, const uint8_t *end, uint8_t **to)
{
    const uint8_t *start = p;
    tli_zstd_copy c;
    uint32_t count = 0;
    size_t rest;
    tl_status st;
    if (p == end)
        return tli_zstd_bad(w, "zstd: an empty compressed block", p);
    w->tail = (size_t)(w->end - *to) > w->block_max ? *to + w->block_max : w->end;
    st = tli_zstd_literals(w, p, end, *to, &p);
    if (st == TL_OK)
        st = tli_zstd_sequences_open(w, p, end, &count, &p);
    if (st != TL_OK)
        return st;
    c.to = *to;
    c.literals = w->literals;
    c.literals_end = w->literals + w->literal_count;
    c.in_output = w->literals == w->tail - w->literal_count;
    if (count > 0)
        st = tli_zstd_sequences(w, &c, count, p, end);
    if (st != TL_OK)
        return st;
    rest = (size_t)(c.literals_end - c.literals);
    if (rest > (size_t)(w->end - c.to))
        return tli_zstd_full(w, start);
    if (rest > 0)
        TLI_MOVE(c.to, c.literals, rest);
    c.to += rest;
    if ((size_t)(c.to - *to) > w->block_max)
        return tli_zstd_bad(w, "zstd: more content than a block may have", start);
    *to = c.to;
    return TL_OK;
}

/* ---- frames (RFC 8878, 3.1.1 and 3.1.2) ---- */

/* What the headers of a frame say. */
typedef struct tli_zstd_header {
    size_t size; /* of the header; of the whole frame when it is skippable */
    int skippable, checksum, content_known;
    uint64_t content, window;
} tli_zstd_header;

TLI_FN tl_status tli_zstd_magic(uint32_t magic, uint64_t at, tl_error *err)
{
    if ((magic >= UINT32_C(0xFD2FB522) && magic <= UINT32_C(0xFD2FB527)) || magic == UINT32_C(0x1EB52FFD))
        return tli_err(err, TL_UNSUPPORTED, "zstd: a frame of a version before 1.0", at);
    return tli_err(err, TL_CORRUPT, "zstd: not a frame", at);
}

/* The window of the descriptor byte: at least 1 KiB, in steps of an eighth. */
TLI_INLINE uint64_t tli_zstd_window(uint8_t descriptor)
{
    uint64_t base = UINT64_C(1) << (10 + (descriptor >> 3));
    return base + base / 8 * (descriptor & 7);
}

/* Reads the header at `at` of src..end. */
TLI_FN tl_status tli_zstd_header_read(const uint8_t *src, const uint8_t *end, const uint8_t *p, tli_zstd_header *h,
                                      tl_error *err)
{
    static const uint8_t content_bytes[4] = {0, 2, 4, 8}, id_bytes[4] = {0, 1, 2, 4};
    uint64_t at = (uint64_t)(p - src), cut = (uint64_t)(end - src);
    size_t left = (size_t)(end - p), content_size, id_size, i;
    uint32_t magic, flags, id = 0;
    TLI_FILL(h, 0, sizeof *h);
    if (left < 4)
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a frame's first bytes", cut);
    magic = tli_bits_le32(p);
    h->skippable = (magic & ~UINT32_C(15)) == TLI_ZSTD_SKIPPABLE;
    if (!h->skippable && magic != TLI_ZSTD_MAGIC)
        return tli_zstd_magic(magic, at, err);
    if (left < 8 && (h->skippable || left < 5))
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a frame's header", cut);
    if (h->skippable) {
        if (tli_bits_le32(p + 4) > left - 8)
            return tli_err(err, TL_TRUNCATED, "zstd: ends within a skippable frame", cut);
        h->size = 8 + (size_t)tli_bits_le32(p + 4);
        return TL_OK;
    }
    flags = p[4];
    content_size = flags >> 6 == 0 ? (flags >> 5) & 1 : content_bytes[flags >> 6];
    id_size = id_bytes[flags & 3];
    h->size = (flags & 32) != 0 ? 5 + id_size + content_size : 6 + id_size + content_size;
    if ((flags & 8) != 0)
        return tli_err(err, TL_UNSUPPORTED, "zstd: a reserved bit is set in a frame's header", at + 4);
    if (left < h->size)
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a frame's header", cut);
    h->checksum = (flags & 4) != 0;
    p += 5;
    if ((flags & 32) == 0)
        h->window = tli_zstd_window(*p++);
    for (i = 0; i < id_size; i++)
        id |= (uint32_t)*p++ << (8 * i);
    h->content_known = content_size != 0;
    for (i = 0; i < content_size; i++)
        h->content |= (uint64_t)*p++ << (8 * i);
    h->content += content_size == 2 ? 256 : 0;
    if (id != 0)
        return tli_err(err, TL_UNSUPPORTED, "zstd: a frame that needs a dictionary", at + 4);
    if ((flags & 32) != 0)
        h->window = h->content; /* a single segment; the output is the window, whatever its size */
    else if (h->window > TLI_ZSTD_WINDOW_MAX)
        return tli_err_need(err, TL_LIMIT, "zstd: a window of more than 128 MiB", at + 4, h->window);
    return TL_OK;
}

/* The content of a raw block or a run. */
TLI_FN tl_status tli_zstd_block_plain(const tli_zstd_work *w, const uint8_t *p, size_t size, int run, uint8_t **to)
{
    if (size > (size_t)(w->end - *to))
        return tli_zstd_full(w, p);
    if (run)
        TLI_FILL(*to, *p, size);
    else if (size > 0)
        TLI_COPY(*to, p, size);
    *to += size;
    return TL_OK;
}

/* All blocks of a frame; *p: the first, and then what follows the last. */
TLI_FN tl_status tli_zstd_blocks(tli_zstd_work *w, const uint8_t **p, uint8_t **to)
{
    for (;;) {
        uint32_t head, kind;
        size_t size, taken, left = (size_t)(w->src_end - *p);
        tl_status st;
        if (left < 3)
            return tli_zstd_cut(w, "zstd: ends within a block's header");
        head = (uint32_t)(*p)[0] | (uint32_t)(*p)[1] << 8 | (uint32_t)(*p)[2] << 16;
        kind = (head >> 1) & 3;
        size = head >> 3;
        if (kind == 3)
            return tli_zstd_bad(w, "zstd: a block of the reserved type", *p);
        if (size > w->block_max)
            return tli_zstd_bad(w, "zstd: a block greater than the frame allows", *p);
        *p += 3;
        taken = kind == 1 ? 1 : size;
        if (taken > left - 3)
            return tli_zstd_cut(w, "zstd: ends within a block");
        st = kind == 2 ? tli_zstd_block(w, *p, *p + taken, to) : tli_zstd_block_plain(w, *p, size, kind == 1, to);
        if (st != TL_OK)
            return st;
        *p += taken;
        if ((head & 1) != 0)
            return TL_OK;
    }
}

/* One frame whose header was read. */
TLI_FN tl_status tli_zstd_frame(tli_zstd_work *w, const tli_zstd_header *h, const uint8_t **p, uint8_t **to)
{
    const uint8_t *start = *p;
    tl_status st;
    if (h->content_known && h->content > (uint64_t)(w->end - *to))
        return tli_err_need(w->err, TL_LIMIT, "zstd: more content than there is room for", (uint64_t)(start - w->src),
                            h->content);
    w->base = *to;
    w->window = h->window;
    w->block_max = (uint32_t)TLI_MIN(h->window, (uint64_t)TLI_ZSTD_BLOCK_MAX);
    w->content_known = h->content_known;
    w->huffman_known = 0;
    w->ll.entries = w->of.entries = w->ml.entries = NULL;
    w->repeat[0] = 1;
    w->repeat[1] = 4;
    w->repeat[2] = 8;
    *p += h->size;
    st = tli_zstd_blocks(w, p, to);
    if (st != TL_OK)
        return st;
    if (h->content_known && (uint64_t)(*to - w->base) != h->content)
        return tli_zstd_bad(w, "zstd: the content has another size than the frame announces", start);
    if (!h->checksum)
        return TL_OK;
    if (w->src_end - *p < 4)
        return tli_zstd_cut(w, "zstd: ends within a checksum");
    if (tli_bits_le32(*p) != (uint32_t)tli_hash_xxh64(w->base, (size_t)(*to - w->base), 0))
        return tli_err(w->err, TL_CHECKSUM, "zstd: the content does not match its checksum", (uint64_t)(*p - w->src));
    *p += 4;
    return TL_OK;
}

/* All frames of src into dst, with TLI_ZSTD_WORK bytes of work memory, aligned for any object, not cleared. *dst_size
   is 0 unless it is TL_OK. */
TLI_FN tl_status tli_zstd_decode(void *work, void *dst, size_t dst_capacity, size_t *dst_size, const void *src,
                                 size_t src_size, tl_error *err)
{
    tli_zstd_work *w = (tli_zstd_work *)work;
    uint8_t nowhere[1], *start = dst_capacity != 0 ? (uint8_t *)dst : nowhere, *to = start;
    const uint8_t *p = (const uint8_t *)src, *end = p;
    *dst_size = 0;
    if (src_size == 0)
        return TL_OK;
    end += src_size;
    w->src = p;
    w->src_end = end;
    w->end = to + dst_capacity;
    w->err = err;
    while (p != end) {
        tli_zstd_header h;
        tl_status st = tli_zstd_header_read(w->src, end, p, &h, err);
        if (st == TL_OK && h.skippable)
            p += h.size;
        else if (st == TL_OK)
            st = tli_zstd_frame(w, &h, &p, &to);
        if (st != TL_OK)
            return st;
    }
    *dst_size = (size_t)(to - start);
    return TL_OK;
}

TL_API tl_status tl_zstd_decompress(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                                    const tl_allocator *allocator, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    void *work;
    tl_status st;
    if (dst_size == NULL || (dst == NULL && dst_capacity != 0) || (src == NULL && src_size != 0))
        return tli_err(err, TL_MISUSE, "tl_zstd_decompress: an argument is NULL", TL_NO_POSITION);
    *dst_size = 0;
    work = tli_mem_new(&a, TLI_ZSTD_WORK);
    if (work == NULL)
        return tli_mem_failed(&a, err);
    st = tli_zstd_decode(work, dst, dst_capacity, dst_size, src, src_size, err);
    tli_mem_delete(&a, work, TLI_ZSTD_WORK);
    return st;
}

/* Steps over the blocks and the checksum of a frame whose header ends at *p. */
TLI_FN tl_status tli_zstd_skip(const uint8_t *src, const uint8_t *end, const tli_zstd_header *h, const uint8_t **p,
                               tl_error *err)
{
    uint32_t head;
    do {
        size_t left = (size_t)(end - *p), taken;
        if (left < 3)
            return tli_err(err, TL_TRUNCATED, "zstd: ends within a block's header", (uint64_t)(end - src));
        head = (uint32_t)(*p)[0] | (uint32_t)(*p)[1] << 8 | (uint32_t)(*p)[2] << 16;
        taken = ((head >> 1) & 3) == 1 ? 1 : head >> 3;
        if (((head >> 1) & 3) == 3)
            return tli_err(err, TL_CORRUPT, "zstd: a block of the reserved type", (uint64_t)(*p - src));
        if (taken > left - 3)
            return tli_err(err, TL_TRUNCATED, "zstd: ends within a block", (uint64_t)(end - src));
        *p += 3 + taken;
    } while ((head & 1) == 0);
    if (h->checksum && end - *p < 4)
        return tli_err(err, TL_TRUNCATED, "zstd: ends within a checksum", (uint64_t)(end - src));
    *p += h->checksum ? 4 : 0;
    return TL_OK;
}

TL_API tl_status tl_zstd_content_size(const void *src, size_t src_size, uint64_t *size, tl_error *err)
{
    const uint8_t *start = (const uint8_t *)src, *p = start, *end;
    int known = 1;
    uint64_t sum = 0;
    if (size == NULL || (src == NULL && src_size != 0))
        return tli_err(err, TL_MISUSE, "tl_zstd_content_size: an argument is NULL", TL_NO_POSITION);
    *size = 0;
    for (end = src_size != 0 ? p + src_size : p; p != end;) {
        const uint8_t *frame = p;
        tli_zstd_header h;
        tl_status st = tli_zstd_header_read(start, end, p, &h, err);
        if (st != TL_OK)
            return st;
        p += h.size;
        if (h.skippable)
            continue;
        st = tli_zstd_skip(start, end, &h, &p, err);
        if (st != TL_OK)
            return st;
        known &= h.content_known;
        if (h.content > INT64_MAX || sum + h.content > INT64_MAX)
            return tli_err(err, TL_CORRUPT, "zstd: an impossible content size", (uint64_t)(frame - start));
        sum += h.content;
    }
    *size = known ? sum : UINT64_MAX;
    return TL_OK;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

#ifndef TIMELAKE_NO_HEAD_ARROW
/* >>lz4: LZ4 frames, decoded straight into the caller's memory, which is the window too. */
#define TLI_LZ4_MAGIC UINT32_C(0x184D2204)
#define TLI_LZ4_LEGACY UINT32_C(0x184C2102)
#define TLI_LZ4_SKIPPABLE UINT32_C(0x184D2A50) /* and the 15 numbers after it */

/* One decoding. The flags are those of the frame at hand. */
typedef struct tli_lz4_job {
    const uint8_t *src, *src_end;
    uint8_t *base; /* where the output of this frame starts */
    uint8_t *end;  /* of the memory for output */
    tl_error *err;
    uint64_t content; /* 0: not announced, as the reference has it */
    size_t block_max;
    int independent, block_checksum, content_checksum;
} tli_lz4_job;

TLI_FN tl_status tli_lz4_bad(const tli_lz4_job *j, const char *text, const uint8_t *at)
{
    return tli_err(j->err, TL_CORRUPT, text, (uint64_t)(at - j->src));
}

TLI_FN tl_status tli_lz4_cut(const tli_lz4_job *j, const char *text)
{
    return tli_err(j->err, TL_TRUNCATED, text, (uint64_t)(j->src_end - j->src));
}

/* The output memory is full: a lie of the frame when that holds what it announced, else the caller's limit. */
TLI_FN tl_status tli_lz4_full(const tli_lz4_job *j, const uint8_t *at)
{
    if (j->content != 0)
        return tli_lz4_bad(j, "lz4: more content than the frame announces", at);
    return tli_err(j->err, TL_LIMIT, "lz4: more content than there is room for", (uint64_t)(at - j->src));
}

/* Reads the rest of a length whose four bits were all ones. 0: the block ends within. A block has at most 4 MiB, so
   the sum fits. */
TLI_INLINE int tli_lz4_length(const uint8_t **p, const uint8_t *end, size_t *length)
{
    uint8_t more;
    if (*length != 15)
        return 1;
    do {
        if (*p == end)
            return 0;
        more = *(*p)++;
        *length += more;
    } while (more == 255);
    return 1;
}

/* Literals p[0..n) to `to`, in steps of 16 where there is memory for it on both sides. */
TLI_INLINE void tli_lz4_literals(const tli_lz4_job *j, uint8_t *to, const uint8_t *p, size_t n)
{
    if (TLI_LIKELY((size_t)(j->end - to) >= n + 16 && (size_t)(j->src_end - p) >= n + 16))
        tli_zstd_wild(to, p, n);
    else if (n > 0)
        TLI_COPY(to, p, n);
}

TLI_INLINE void tli_lz4_match(const tli_lz4_job *j, uint8_t *to, size_t offset, size_t n)
{
    if (TLI_UNLIKELY((size_t)(j->end - to) < n + TLI_ZSTD_SLACK))
        tli_zstd_careful(to, j->end, offset, n);
    else if (TLI_LIKELY(offset >= 16))
        tli_zstd_wild(to, to - offset, n);
    else
        tli_zstd_near(to, offset, n);
}

/* The compressed block p..end; *out: where its content goes, and where that ends. */
TLI_FN tl_status tli_lz4_block(const tli_lz4_job *j, const uint8_t *p, const uint8_t *end, uint8_t **out)
{
    const uint8_t *start = p;
    uint8_t *to = *out, *matched = NULL, *match_start = NULL;
    const uint8_t *low = j->independent ? to : j->base;
    size_t space = TLI_MIN((size_t)(j->end - to), j->block_max);
    uint8_t *limit = to + space;
    for (;;) {
        size_t literals, match, offset;
        if (p == end)
            return tli_lz4_bad(j, "lz4: a block that ends within a sequence", p);
        literals = *p >> 4;
        match = *p++ & 15;
        if (!tli_lz4_length(&p, end, &literals) || literals > (size_t)(end - p))
            return tli_lz4_bad(j, "lz4: a block that ends within literals", p);
        if (literals > (size_t)(limit - to))
            break;
        tli_lz4_literals(j, to, p, literals);
        to += literals;
        p += literals;
        if (p == end) {
            if (matched != NULL && (to - matched < 5 || to - match_start < 12))
                return tli_lz4_bad(j, "lz4: a match too near to the end of its block", p);
            *out = to;
            return TL_OK;
        }
        if (end - p < 2)
            return tli_lz4_bad(j, "lz4: a block that ends within a match", p);
        offset = tli_bits_le16(p);
        p += 2;
        if (offset == 0)
            return tli_lz4_bad(j, "lz4: an offset of 0", p - 2);
        if (offset > (size_t)(to - low))
            return tli_lz4_bad(j, "lz4: a match before the start of the content", p - 2);
        if (!tli_lz4_length(&p, end, &match))
            return tli_lz4_bad(j, "lz4: a block that ends within a match", p);
        match += 4;
        if (match > (size_t)(limit - to))
            break;
        tli_lz4_match(j, to, offset, match);
        match_start = to;
        to += match;
        matched = to;
    }
    if (space == j->block_max)
        return tli_lz4_bad(j, "lz4: more content than a block may have", start);
    return tli_lz4_full(j, start);
}

/* All blocks of a frame up to its end mark; *p: the first, and then what follows the mark. */
TLI_FN tl_status tli_lz4_blocks(const tli_lz4_job *j, const uint8_t **p, uint8_t **to)
{
    for (;;) {
        size_t left = (size_t)(j->src_end - *p), size;
        int stored;
        tl_status st = TL_OK;
        if (left < 4)
            return tli_lz4_cut(j, "lz4: ends within a block's size");
        size = tli_bits_le32(*p) & 0x7fffffffu;
        stored = (*p)[3] >> 7;
        *p += 4;
        if (size == 0 && !stored)
            return TL_OK;
        if (size > j->block_max)
            return tli_lz4_bad(j, "lz4: a block greater than the frame allows", *p - 4);
        if (left - 4 < size + (j->block_checksum ? 4u : 0u))
            return tli_lz4_cut(j, "lz4: ends within a block");
        if (j->block_checksum && tli_bits_le32(*p + size) != tli_hash_xxh32(*p, size, 0))
            return tli_err(j->err, TL_CHECKSUM, "lz4: a block does not match its checksum",
                           (uint64_t)(*p - j->src) + size);
        if (!stored)
            st = tli_lz4_block(j, *p, *p + size, to);
        else if (size > (size_t)(j->end - *to))
            st = tli_lz4_full(j, *p);
        else if (size > 0)
            TLI_COPY(*to, *p, size);
        if (st != TL_OK)
            return st;
        *to += stored ? size : 0;
        *p += size + (j->block_checksum ? 4u : 0u);
    }
}

/* The frame descriptor behind the magic number; *p: it, and then the first block. */
TLI_FN tl_status tli_lz4_header(tli_lz4_job *j, const uint8_t **p)
{
    const uint8_t *at = *p;
    uint64_t place = (uint64_t)(at - j->src);
    size_t size = 2;
    if (j->src_end - at < 3)
        return tli_lz4_cut(j, "lz4: ends within a frame's header");
    size += ((at[0] & 8) != 0 ? 8u : 0u) + ((at[0] & 1) != 0 ? 4u : 0u);
    if (at[0] >> 6 != 1)
        return tli_err(j->err, TL_UNSUPPORTED, "lz4: a frame of another version", place);
    if ((at[0] & 2) != 0 || (at[1] & 0x8f) != 0)
        return tli_err(j->err, TL_UNSUPPORTED, "lz4: a reserved bit is set in a frame's header", place);
    if (at[1] >> 4 < 4)
        return tli_lz4_bad(j, "lz4: an unknown block size", at + 1);
    if ((size_t)(j->src_end - at) < size + 1)
        return tli_lz4_cut(j, "lz4: ends within a frame's header");
    if (at[size] != ((tli_hash_xxh32(at, size, 0) >> 8) & 0xff))
        return tli_err(j->err, TL_CHECKSUM, "lz4: a frame's header does not match its checksum", place + size);
    if ((at[0] & 1) != 0)
        return tli_err(j->err, TL_UNSUPPORTED, "lz4: a frame that needs a dictionary", place);
    j->independent = (at[0] & 32) != 0;
    j->block_checksum = (at[0] & 16) != 0;
    j->content_checksum = (at[0] & 4) != 0;
    j->content = (at[0] & 8) != 0 ? tli_bits_le64(at + 2) : 0;
    j->block_max = (size_t)1 << (8 + 2 * (at[1] >> 4));
    *p += size + 1;
    return TL_OK;
}

/* One frame; *p: the first byte behind its magic number, and then what follows it. */
TLI_FN tl_status tli_lz4_frame(tli_lz4_job *j, const uint8_t **p, uint8_t **to)
{
    const uint8_t *start = *p;
    tl_status st = tli_lz4_header(j, p);
    if (st != TL_OK)
        return st;
    if (j->content > (uint64_t)(j->end - *to))
        return tli_err_need(j->err, TL_LIMIT, "lz4: more content than there is room for", (uint64_t)(start - j->src),
                            j->content);
    j->base = *to;
    st = tli_lz4_blocks(j, p, to);
    if (st != TL_OK)
        return st;
    if (j->content != 0 && (uint64_t)(*to - j->base) != j->content)
        return tli_lz4_bad(j, "lz4: the content has another size than the frame announces", start);
    if (!j->content_checksum)
        return TL_OK;
    if (j->src_end - *p < 4)
        return tli_lz4_cut(j, "lz4: ends within a checksum");
    if (tli_bits_le32(*p) != tli_hash_xxh32(j->base, (size_t)(*to - j->base), 0))
        return tli_err(j->err, TL_CHECKSUM, "lz4: the content does not match its checksum", (uint64_t)(*p - j->src));
    *p += 4;
    return TL_OK;
}

/* All frames of src, skippable ones skipped, into dst. More than dst_capacity is TL_LIMIT. Needs no work memory.
   *dst_size is 0 unless it is TL_OK. */
TLI_FN tl_status tli_lz4_decode(void *dst, size_t dst_capacity, size_t *dst_size, const void *src, size_t src_size,
                                tl_error *err)
{
    tli_lz4_job j;
    uint8_t nowhere[1], *start = dst_capacity != 0 ? (uint8_t *)dst : nowhere, *to = start;
    const uint8_t *p = (const uint8_t *)src;
    *dst_size = 0;
    if (src_size == 0)
        return TL_OK;
    TLI_FILL(&j, 0, sizeof j);
    j.src = p;
    j.src_end = p + src_size;
    j.end = to + dst_capacity;
    j.err = err;
    while (p != j.src_end) {
        size_t left = (size_t)(j.src_end - p);
        uint32_t magic;
        tl_status st = TL_OK;
        if (left < 4)
            return tli_lz4_cut(&j, "lz4: ends within a frame's first bytes");
        magic = tli_bits_le32(p);
        p += 4;
        if ((magic & ~UINT32_C(15)) == TLI_LZ4_SKIPPABLE) {
            if (left < 8 || tli_bits_le32(p) > left - 8)
                return tli_lz4_cut(&j, "lz4: ends within a skippable frame");
            p += 4 + (size_t)tli_bits_le32(p);
        } else if (magic == TLI_LZ4_MAGIC) {
            st = tli_lz4_frame(&j, &p, &to);
        } else if (magic == TLI_LZ4_LEGACY) {
            st = tli_err(err, TL_UNSUPPORTED, "lz4: a legacy frame", (uint64_t)(p - 4 - j.src));
        } else {
            st = tli_lz4_bad(&j, "lz4: not a frame", p - 4);
        }
        if (st != TL_OK)
            return st;
    }
    *dst_size = (size_t)(to - start);
    return TL_OK;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* >>inflate: raw DEFLATE streams of RFC 1951, without a zlib or gzip wrapper. */
#ifndef TIMELAKE_NO_LAKE
#define TLI_INFLATE_BITS 10u /* codes up to this length are found in one look-up */
#define TLI_INFLATE_MAX 15u
#define TLI_INFLATE_SYMBOLS 288u

/* A Huffman code: a table of the short codes (symbol << 4 | length; 0: longer or none), and canonical counts for
   all. */
typedef struct tli_inflate_code {
    uint16_t table[1u << TLI_INFLATE_BITS];
    uint16_t count[TLI_INFLATE_MAX + 1];
    uint16_t symbol[TLI_INFLATE_SYMBOLS];
} tli_inflate_code;

typedef struct tli_inflate {
    const uint8_t *at, *end;
    uint64_t bits; /* the next bits of the stream, lowest first */
    uint32_t have; /* how many of them are there */
    uint32_t over; /* zero bits that were made up behind the end */
    tl_buffer *out;
    size_t start; /* of this stream in out */
    size_t limit; /* most bytes of it */
    tl_error *err;
    tli_inflate_code literal, distance;
    uint8_t lengths[TLI_INFLATE_SYMBOLS + 32];
} tli_inflate;

TLI_FN tl_status tli_inflate_bad(const tli_inflate *s, const char *text)
{
    return tli_err(s->err, TL_CORRUPT, text, TL_NO_POSITION);
}

/* At least 56 bits, of which those behind the end are zero and counted in `over`. */
TLI_INLINE void tli_inflate_fill(tli_inflate *s)
{
    if (s->end - s->at >= 8) {
        s->bits |= tli_bits_le64(s->at) << s->have;
        s->at += (63 - s->have) >> 3;
        s->have |= 56;
        return;
    }
    while (s->have <= 56) {
        if (s->at < s->end)
            s->bits |= (uint64_t)*s->at++ << s->have;
        else
            s->over += 8;
        s->have += 8;
    }
}

TLI_INLINE uint32_t tli_inflate_take(tli_inflate *s, uint32_t n)
{
    uint32_t v = (uint32_t)(s->bits & (((uint64_t)1 << n) - 1));
    s->bits >>= n;
    s->have -= n;
    return v;
}

/* More bits were used than there are. */
TLI_INLINE int tli_inflate_past(const tli_inflate *s)
{
    return s->over > s->have;
}

/* Builds a code from lengths. It must be complete; of literals and distances also a single code of one bit will do, as
   RFC 1951 has it (`lone`), and no code at all when there is nothing to code. */
TLI_FN int tli_inflate_build(tli_inflate_code *code, const uint8_t *lengths, uint32_t n, int lone)
{
    uint16_t offset[TLI_INFLATE_MAX + 2], next[TLI_INFLATE_MAX + 2];
    uint32_t i, length, longest = 0;
    int32_t left = 1;
    TLI_FILL(code, 0, sizeof *code);
    for (i = 0; i < n; i++)
        code->count[lengths[i]]++;
    code->count[0] = 0;
    offset[1] = next[1] = 0;
    for (length = 1; length <= TLI_INFLATE_MAX; length++) {
        left = left * 2 - code->count[length];
        if (left < 0)
            return 0;
        longest = code->count[length] != 0 ? length : longest;
        offset[length + 1] = (uint16_t)(offset[length] + code->count[length]);
        next[length + 1] = (uint16_t)((next[length] + code->count[length]) << 1);
    }
    if (left > 0 && (!lone || longest > 1))
        return 0;
    for (i = 0; i < n; i++) {
        uint32_t bits, reversed = 0, k;
        length = lengths[i];
        if (length == 0)
            continue;
        code->symbol[offset[length]++] = (uint16_t)i;
        bits = next[length]++;
        if (length > TLI_INFLATE_BITS)
            continue;
        for (k = 0; k < length; k++)
            reversed |= ((bits >> k) & 1) << (length - 1 - k);
        for (k = reversed; k < 1u << TLI_INFLATE_BITS; k += 1u << length)
            code->table[k] = (uint16_t)(i << 4 | length);
    }
    return 1;
}

/* The next symbol, or UINT32_MAX for bits that are no code. Needs 15 bits. */
TLI_INLINE uint32_t tli_inflate_symbol(tli_inflate *s, const tli_inflate_code *code)
{
    uint32_t entry = code->table[s->bits & ((1u << TLI_INFLATE_BITS) - 1)], length;
    int32_t value = 0, first = 0, index = 0;
    if (TLI_LIKELY(entry != 0)) {
        (void)tli_inflate_take(s, entry & 15);
        return entry >> 4;
    }
    for (length = 1; length <= TLI_INFLATE_MAX; length++) {
        value |= (int32_t)((s->bits >> (length - 1)) & 1);
        if (value - code->count[length] < first) {
            (void)tli_inflate_take(s, length);
            return code->symbol[index + (value - first)];
        }
        index += code->count[length];
        first = (first + code->count[length]) << 1;
        value <<= 1;
    }
    return UINT32_MAX;
}

/* Room for n further bytes of output. */
TLI_INLINE tl_status tli_inflate_room(tli_inflate *s, size_t n)
{
    if (n > s->limit - (s->out->size - s->start))
        return tli_err(s->err, TL_LIMIT, "deflate: more bytes than may be", TL_NO_POSITION);
    return n <= s->out->capacity - s->out->size ? TL_OK : tli_mem_reserve(s->out, n, s->err);
}

TLI_FN tl_status tli_inflate_stored(tli_inflate *s)
{
    uint32_t size, check;
    tl_status st;
    (void)tli_inflate_take(s, s->have & 7);
    tli_inflate_fill(s);
    size = tli_inflate_take(s, 16);
    check = tli_inflate_take(s, 16);
    if (tli_inflate_past(s) || size != (check ^ 0xffff))
        return tli_inflate_bad(s, "deflate: a stored block of wrong length");
    s->at -= (s->have - s->over) >> 3; /* give back what was read ahead */
    s->bits = s->have = s->over = 0;
    if ((size_t)(s->end - s->at) < size)
        return tli_err(s->err, TL_TRUNCATED, "deflate: the stream ends in a stored block", TL_NO_POSITION);
    st = tli_inflate_room(s, size);
    if (st != TL_OK)
        return st;
    if (size != 0)
        TLI_COPY(s->out->data + s->out->size, s->at, size);
    s->out->size += size;
    s->at += size;
    return TL_OK;
}

TLI_FN void tli_inflate_fixed(tli_inflate *s)
{
    uint32_t i;
    for (i = 0; i < 288; i++)
        s->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    (void)tli_inflate_build(&s->literal, s->lengths, 288, 0);
    for (i = 0; i < 32; i++) /* the last two complete the code and are never valid */
        s->lengths[i] = 5;
    (void)tli_inflate_build(&s->distance, s->lengths, 32, 0);
}

/* The lengths of both codes, themselves coded. */
TLI_FN tl_status tli_inflate_lengths(tli_inflate *s, uint32_t total)
{
    uint32_t i = 0;
    while (i < total) {
        uint32_t symbol, repeat = 1, value;
        tli_inflate_fill(s);
        symbol = tli_inflate_symbol(s, &s->literal);
        if (symbol > 18 || tli_inflate_past(s))
            return tli_inflate_bad(s, "deflate: wrong code lengths");
        value = symbol < 16 ? symbol : 0;
        if (symbol == 16) {
            if (i == 0)
                return tli_inflate_bad(s, "deflate: a repeat of nothing");
            value = s->lengths[i - 1];
            repeat = 3 + tli_inflate_take(s, 2);
        } else if (symbol > 16) {
            repeat = symbol == 17 ? 3 + tli_inflate_take(s, 3) : 11 + tli_inflate_take(s, 7);
        }
        if (repeat > total - i)
            return tli_inflate_bad(s, "deflate: too many code lengths");
        while (repeat-- != 0)
            s->lengths[i++] = (uint8_t)value;
    }
    return TL_OK;
}

TLI_FN tl_status tli_inflate_dynamic(tli_inflate *s)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint32_t literals, distances, codes, i;
    tl_status st;
    tli_inflate_fill(s);
    literals = 257 + tli_inflate_take(s, 5);
    distances = 1 + tli_inflate_take(s, 5);
    codes = 4 + tli_inflate_take(s, 4);
    if (literals > 286 || distances > 30)
        return tli_inflate_bad(s, "deflate: too many symbols");
    TLI_FILL(s->lengths, 0, 19);
    for (i = 0; i < codes; i++) {
        tli_inflate_fill(s);
        s->lengths[order[i]] = (uint8_t)tli_inflate_take(s, 3);
    }
    if (!tli_inflate_build(&s->literal, s->lengths, 19, 0))
        return tli_inflate_bad(s, "deflate: an impossible code of code lengths");
    st = tli_inflate_lengths(s, literals + distances);
    if (st != TL_OK)
        return st;
    if (s->lengths[256] == 0 || !tli_inflate_build(&s->literal, s->lengths, literals, 1)
        || !tli_inflate_build(&s->distance, s->lengths + literals, distances, 1))
        return tli_inflate_bad(s, "deflate: an impossible code");
    return TL_OK;
}

/* A match: it may overlap itself. */
TLI_INLINE void tli_inflate_copy(tl_buffer *out, size_t distance, size_t length)
{
    uint8_t *to = out->data + out->size;
    const uint8_t *from = to - distance;
    out->size += length;
    if (distance >= length)
        TLI_COPY(to, from, length);
    else
        while (length-- != 0)
            *to++ = *from++;
}

TLI_FN tl_status tli_inflate_codes(tli_inflate *s)
{
    static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                             31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4,
                                            5, 5, 5, 5, 0};
    static const uint16_t distance_base[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,
                                               97,    129,
                                               193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193,
                                                   12289, 16385, 24577};
    for (;;) {
        uint32_t symbol, code;
        size_t length, distance;
        tl_status st;
        tli_inflate_fill(s);
        symbol = tli_inflate_symbol(s, &s->literal);
        if (tli_inflate_past(s))
            return tli_err(s->err, TL_TRUNCATED, "deflate: the stream ends in a block", TL_NO_POSITION);
        if (symbol < 256) {
            st = tli_inflate_room(s, 1);
            if (st != TL_OK)
                return st;
            s->out->data[s->out->size++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 256)
            return TL_OK;
        if (symbol > 285)
            return tli_inflate_bad(s, "deflate: no such length");
        length = length_base[symbol - 257] + tli_inflate_take(s, length_bits[symbol - 257]);
        code = tli_inflate_symbol(s, &s->distance);
        if (code > 29)
            return tli_inflate_bad(s, "deflate: no such distance");
        distance = distance_base[code] + tli_inflate_take(s, code < 4 ? 0 : (code >> 1) - 1);
        if (tli_inflate_past(s) || distance > s->out->size - s->start)
            return tli_inflate_bad(s, "deflate: a match before the start");
        st = tli_inflate_room(s, length);
        if (st != TL_OK)
            return st;
        tli_inflate_copy(s->out, distance, length);
    }
}

/* Appends the plain bytes of one stream to `out`; at most `limit`. What follows the stream is not looked at: fastavro
   and PyIceberg leave most of a zlib checksum there. On failure `out` may hold a part. Work memory comes from
   out->allocator. */
TLI_FN tl_status tli_inflate_decode(tl_buffer *out, size_t limit, const void *src, size_t size, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&out->allocator);
    tli_inflate *s = (tli_inflate *)tli_mem_new(&a, sizeof *s);
    tl_status st = TL_OK;
    uint32_t last = 0;
    if (s == NULL)
        return tli_mem_failed(&a, err);
    s->at = (const uint8_t *)src;
    s->end = s->at + size;
    s->bits = s->have = s->over = 0;
    s->out = out;
    s->start = out->size;
    s->limit = limit;
    s->err = err;
    while (!last && st == TL_OK) {
        uint32_t kind;
        tli_inflate_fill(s);
        last = tli_inflate_take(s, 1);
        kind = tli_inflate_take(s, 2);
        if (tli_inflate_past(s))
            st = tli_err(err, TL_TRUNCATED, "deflate: the stream ends before its last block", TL_NO_POSITION);
        else if (kind == 0)
            st = tli_inflate_stored(s);
        else if (kind == 3)
            st = tli_inflate_bad(s, "deflate: no such block");
        else {
            if (kind == 1)
                tli_inflate_fixed(s);
            else
                st = tli_inflate_dynamic(s);
            if (st == TL_OK)
                st = tli_inflate_codes(s);
        }
    }
    tli_mem_delete(&a, s, sizeof *s);
    return st;
}
#endif /* TIMELAKE_NO_LAKE */

/* >>snappy: raw Snappy blocks (google/snappy, format_description.txt). */
#ifndef TIMELAKE_NO_LAKE

/* The size a block says it has, and where its elements begin; 0 when the length is malformed. */
TLI_FN size_t tli_snappy_size(const uint8_t *src, size_t size, uint64_t *plain)
{
    size_t i;
    *plain = 0;
    for (i = 0; i < size && i < 5; i++) {
        *plain |= (uint64_t)(src[i] & 127) << (7 * i);
        if (src[i] < 128)
            return *plain <= UINT32_MAX ? i + 1 : 0;
    }
    return 0;
}

/* The length and offset of the element at src[*at], and where what follows it begins. 0: the block ends within, or
   it is a copy from nowhere. An offset of 0 means a literal. */
TLI_FN int tli_snappy_element(const uint8_t *src, size_t size, size_t *at, size_t *length, size_t *offset)
{
    uint32_t tag = src[*at], extra, i;
    size_t left = size - *at - 1;
    const uint8_t *p = src + *at + 1;
    *offset = 0;
    switch (tag & 3) {
    case 0:
        *length = (tag >> 2) + 1;
        extra = *length > 60 ? (uint32_t)*length - 60 : 0;
        if (extra > left)
            return 0;
        for (i = 0, *length = extra != 0 ? 0 : *length; i < extra; i++)
            *length |= (size_t)p[i] << (8 * i);
        *length += extra != 0;
        break;
    case 1:
        extra = 1;
        if (left < 1)
            return 0;
        *length = ((tag >> 2) & 7) + 4;
        *offset = (size_t)(tag >> 5) << 8 | p[0];
        break;
    default:
        extra = (tag & 3) == 2 ? 2 : 4;
        if (left < extra)
            return 0;
        *length = (tag >> 2) + 1;
        *offset = extra == 2 ? tli_bits_le16(p) : tli_bits_le32(p);
        break;
    }
    *at += 1 + extra;
    return (tag & 3) == 0 || *offset != 0;
}

/* Appends the plain bytes of one block to `out`; at most `limit`. On failure `out` may hold a part. */
TLI_FN tl_status tli_snappy_decode(tl_buffer *out, size_t limit, const void *block, size_t size, tl_error *err)
{
    const uint8_t *src = (const uint8_t *)block;
    uint64_t plain;
    size_t at = tli_snappy_size(src, size, &plain), start = out->size;
    tl_status st;
    if (at == 0)
        return tli_err(err, TL_CORRUPT, "snappy: a malformed length", TL_NO_POSITION);
    if (plain > limit || plain / 64 > size) /* an element of 3 bytes gives at most 64 */
        return tli_err(err, plain > limit ? TL_LIMIT : TL_CORRUPT, "snappy: more bytes than may be", TL_NO_POSITION);
    st = tli_mem_reserve(out, (size_t)plain, err);
    if (st != TL_OK)
        return st;
    while (at < size) {
        size_t length, offset, done = out->size - start;
        uint8_t *to;
        if (!tli_snappy_element(src, size, &at, &length, &offset))
            return tli_err(err, TL_CORRUPT, "snappy: a malformed element", TL_NO_POSITION);
        if (length > (size_t)plain - done || (offset == 0 && length > size - at) || offset > done)
            return tli_err(err, TL_CORRUPT, "snappy: an element out of bounds", TL_NO_POSITION);
        to = out->data + out->size; /* there are bytes to come, so there is a block */
        out->size += length;
        if (offset == 0) {
            TLI_COPY(to, src + at, length);
            at += length;
        } else if (offset >= length) {
            TLI_COPY(to, to - offset, length);
        } else {
            for (; length != 0; length--, to++)
                *to = *(to - offset);
        }
    }
    if (out->size - start != plain)
        return tli_err(err, TL_CORRUPT, "snappy: fewer bytes than the block says", TL_NO_POSITION);
    return TL_OK;
}
#endif /* TIMELAKE_NO_LAKE */

/* >>flatbuf: reading FlatBuffers that nobody vouches for, and writing them back to front (Arrow's metadata). */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* The bytes of one FlatBuffer, at any address. Every getter checks what it follows; on the first lie `bad` is set and
   stays, and the getter answers as if the member were absent: callers look at `bad` once, at the end. */
typedef struct tli_flatbuf {
    const uint8_t *data;
    uint32_t size;
    int bad;
} tli_flatbuf;

/* A table whose vtable and inline part lie in the buffer. at 0: absent (only the root offset lies there). */
typedef struct tli_flatbuf_table {
    tli_flatbuf *in;
    uint32_t at;
    uint32_t vtable;
    uint16_t vtable_size;
    uint16_t size;
} tli_flatbuf_table;

/* count elements from `data` on, all in the buffer. Absent: data NULL, count 0. */
typedef struct tli_flatbuf_vector {
    const uint8_t *data;
    uint32_t count;
} tli_flatbuf_vector;

/* The table at a position. */
TLI_FN tli_flatbuf_table tli_flatbuf_table_at(tli_flatbuf *in, uint64_t at)
{
    tli_flatbuf_table t;
    int64_t vtable;
    TLI_FILL(&t, 0, sizeof t);
    t.in = in;
    if (at < 4 || in->size < 4 || at > in->size - 4u)
        goto bad;
    vtable = (int64_t)at - (int32_t)tli_bits_le32(in->data + at);
    if (vtable < 0 || vtable > (int64_t)in->size - 4)
        goto bad;
    t.vtable = (uint32_t)vtable;
    t.vtable_size = tli_bits_le16(in->data + vtable);
    t.size = tli_bits_le16(in->data + vtable + 2);
    if (t.vtable_size < 4 || t.vtable_size > in->size - t.vtable || t.size < 4 || t.size > in->size - (uint32_t)at)
        goto bad;
    t.at = (uint32_t)at;
    return t;
bad:
    in->bad = 1;
    t.vtable_size = 0;
    return t;
}

TLI_FN tli_flatbuf_table tli_flatbuf_root(tli_flatbuf *in, const void *data, uint32_t size)
{
    in->data = (const uint8_t *)data;
    in->size = size;
    in->bad = 0;
    return tli_flatbuf_table_at(in, size < 4 ? 0 : tli_bits_le32(data));
}

/* Where member `id` of `width` bytes lies, or NULL when it is not there. */
TLI_FN const uint8_t *tli_flatbuf_member(const tli_flatbuf_table *t, uint32_t id, uint32_t width)
{
    uint32_t entry = 4 + 2 * id, offset;
    if (entry + 2 > t->vtable_size)
        return NULL;
    offset = tli_bits_le16(t->in->data + t->vtable + entry);
    if (offset == 0)
        return NULL;
    if (offset + width > t->size) {
        t->in->bad = 1;
        return NULL;
    }
    return t->in->data + t->at + offset;
}

TLI_FN uint8_t tli_flatbuf_u8(const tli_flatbuf_table *t, uint32_t id, uint8_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 1);
    return p == NULL ? absent : *p;
}

TLI_FN int16_t tli_flatbuf_i16(const tli_flatbuf_table *t, uint32_t id, int16_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 2);
    return p == NULL ? absent : (int16_t)tli_bits_le16(p);
}

TLI_FN int32_t tli_flatbuf_i32(const tli_flatbuf_table *t, uint32_t id, int32_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 4);
    return p == NULL ? absent : (int32_t)tli_bits_le32(p);
}

TLI_FN int64_t tli_flatbuf_i64(const tli_flatbuf_table *t, uint32_t id, int64_t absent)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 8);
    return p == NULL ? absent : (int64_t)tli_bits_le64(p);
}

/* Where the offset at `p` leads, p being 4 bytes in the buffer. */
TLI_INLINE uint64_t tli_flatbuf_follow(const tli_flatbuf *in, const uint8_t *p)
{
    return (uint64_t)(p - in->data) + tli_bits_le32(p);
}

TLI_FN tli_flatbuf_table tli_flatbuf_child(const tli_flatbuf_table *t, uint32_t id)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 4);
    tli_flatbuf_table none;
    if (p != NULL)
        return tli_flatbuf_table_at(t->in, tli_flatbuf_follow(t->in, p));
    TLI_FILL(&none, 0, sizeof none);
    none.in = t->in;
    return none;
}

TLI_FN tli_flatbuf_vector tli_flatbuf_list(const tli_flatbuf_table *t, uint32_t id, uint32_t element_size)
{
    const uint8_t *p = tli_flatbuf_member(t, id, 4);
    tli_flatbuf_vector v;
    uint64_t at;
    v.data = NULL;
    v.count = 0;
    if (p == NULL)
        return v;
    at = tli_flatbuf_follow(t->in, p);
    if (t->in->size < 4 || at > t->in->size - 4u
        || (uint64_t)tli_bits_le32(t->in->data + at) * element_size > t->in->size - 4u - at) {
        t->in->bad = 1;
        return v;
    }
    v.data = t->in->data + at + 4;
    v.count = tli_bits_le32(t->in->data + at);
    return v;
}

/* Table i of a vector of tables (element size 4), i < count. */
TLI_FN tli_flatbuf_table tli_flatbuf_item(tli_flatbuf *in, const tli_flatbuf_vector *v, uint32_t i)
{
    return tli_flatbuf_table_at(in, tli_flatbuf_follow(in, v->data + 4 * (size_t)i));
}

/* A string's bytes; data NULL when it is absent. */
TLI_FN tl_span tli_flatbuf_text(const tli_flatbuf_table *t, uint32_t id)
{
    tli_flatbuf_vector v = tli_flatbuf_list(t, id, 1);
    return tli_text_span(v.data, v.count);
}

/* ---- writing: from the end to the front, so that offsets point at what is already there ---- */

#define TLI_FLATBUF_MEMBERS 8u
#define TLI_FLATBUF_VTABLES 16u

/* Zeroed with an allocator it is empty. Things are named by their distance from the end of the buffer, which does not
   move as it grows. `status` is sticky, and looked at once, at the end. */
typedef struct tli_flatbuf_builder {
    tl_allocator allocator;
    uint8_t *data;
    uint32_t capacity, used;
    uint32_t members[TLI_FLATBUF_MEMBERS]; /* of the table at hand; 0: absent */
    uint32_t table;                        /* where its end is */
    uint32_t vtables[TLI_FLATBUF_VTABLES]; /* for use again */
    uint32_t vtable_count;
    tl_status status;
} tli_flatbuf_builder;

TLI_FN void tli_flatbuf_end(tli_flatbuf_builder *b)
{
    tli_mem_delete(&b->allocator, b->data, b->capacity);
    b->data = NULL;
    b->capacity = b->used = 0;
}

/* `size` cleared bytes in front of what is there; NULL: the builder failed, or there were none to add. */
TLI_FN uint8_t *tli_flatbuf_push(tli_flatbuf_builder *b, uint32_t size)
{
    if (b->status != TL_OK || size == 0)
        return NULL;
    if (size > b->capacity - b->used) {
        uint64_t capacity = TLI_MAX((uint64_t)b->capacity * 2, (uint64_t)b->used + size + 256);
        uint8_t *data = capacity > INT32_MAX ? NULL : (uint8_t *)tli_mem_new(&b->allocator, (size_t)capacity);
        if (data == NULL) {
            b->status = capacity > INT32_MAX ? TL_LIMIT : TL_NO_MEMORY;
            return NULL;
        }
        if (b->used != 0)
            TLI_COPY(data + (uint32_t)capacity - b->used, b->data + b->capacity - b->used, b->used);
        tli_mem_delete(&b->allocator, b->data, b->capacity);
        b->data = data;
        b->capacity = (uint32_t)capacity;
    }
    b->used += size;
    TLI_FILL(b->data + b->capacity - b->used, 0, size);
    return b->data + b->capacity - b->used;
}

/* Pads so that, `size` bytes later, the front is a multiple of `power_of_two` from the end. */
TLI_FN void tli_flatbuf_align(tli_flatbuf_builder *b, uint32_t size, uint32_t power_of_two)
{
    (void)tli_flatbuf_push(b, (0u - (b->used + size)) & (power_of_two - 1));
}

/* A vector of `count` elements, cleared, or copied from `data` when that is not NULL. Alignment: 1, 2, 4 or 8. */
TLI_FN uint32_t tli_flatbuf_put_list(tli_flatbuf_builder *b, const void *data, uint32_t count, uint32_t element_size,
                                     uint32_t alignment, uint32_t zeros_behind)
{
    uint64_t bytes = (uint64_t)count * element_size;
    uint8_t *p;
    if (bytes > INT32_MAX / 2) {
        b->status = b->status != TL_OK ? b->status : TL_LIMIT;
        return 0;
    }
    tli_flatbuf_align(b, (uint32_t)bytes + zeros_behind, TLI_MAX(alignment, 4u));
    p = tli_flatbuf_push(b, (uint32_t)bytes + zeros_behind);
    if (p != NULL && data != NULL && bytes != 0)
        TLI_COPY(p, data, (size_t)bytes);
    p = tli_flatbuf_push(b, 4);
    if (p != NULL)
        tli_bits_put_le32(p, count);
    return b->used;
}

TLI_FN uint32_t tli_flatbuf_put_text(tli_flatbuf_builder *b, tl_span text)
{
    if (text.size > INT32_MAX / 2) {
        b->status = b->status != TL_OK ? b->status : TL_LIMIT;
        return 0;
    }
    return tli_flatbuf_put_list(b, text.data, (uint32_t)text.size, 1, 1, 1);
}

/* A vector of offsets to what was written before: `count` names, native and at any alignment. */
TLI_FN uint32_t tli_flatbuf_put_offsets(tli_flatbuf_builder *b, const uint8_t *names, uint32_t count)
{
    uint32_t at = tli_flatbuf_put_list(b, NULL, count, 4, 4, 0), i;
    if (b->status != TL_OK)
        return 0;
    for (i = 0; i < count; i++) {
        uint32_t here = at - 4 - 4 * i; /* of this element, from the end */
        tli_bits_put_le32(b->data + b->capacity - here, here - tli_bits_u32(names + 4 * (size_t)i));
    }
    return at;
}

TLI_FN void tli_flatbuf_table_begin(tli_flatbuf_builder *b)
{
    TLI_FILL(b->members, 0, sizeof b->members);
    b->table = b->used;
}

/* Member `id` of the table at hand: the low `width` bytes of `value`. Always written, so that sizes do not hang on
   values. Write the widest first. Returns its name, to be patched later. */
TLI_FN uint32_t tli_flatbuf_put(tli_flatbuf_builder *b, uint32_t id, uint32_t width, uint64_t value)
{
    uint8_t *p;
    uint32_t i;
    tli_flatbuf_align(b, width, width);
    p = tli_flatbuf_push(b, width);
    if (p == NULL)
        return 0;
    for (i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
    b->members[id] = b->used;
    return b->used;
}

/* Member `id`: an offset to what was written before. */
TLI_FN void tli_flatbuf_put_offset(tli_flatbuf_builder *b, uint32_t id, uint32_t name)
{
    tli_flatbuf_align(b, 4, 4);
    (void)tli_flatbuf_put(b, id, 4, b->used + 4 - name);
}

/* The vtable, an equal one of before where there is one. */
TLI_FN uint32_t tli_flatbuf_vtable(tli_flatbuf_builder *b, const uint8_t *bytes, uint32_t size)
{
    uint32_t i;
    uint8_t *p;
    for (i = 0; i < b->vtable_count; i++) {
        const uint8_t *old = b->data + b->capacity - b->vtables[i];
        if (tli_bits_le16(old) == size && TLI_COMPARE(old, bytes, size) == 0)
            return b->vtables[i];
    }
    p = tli_flatbuf_push(b, size);
    if (p == NULL)
        return 0;
    TLI_COPY(p, bytes, size);
    if (b->vtable_count < TLI_FLATBUF_VTABLES)
        b->vtables[b->vtable_count++] = b->used;
    return b->used;
}

/* Ends the table at hand and returns its name. */
TLI_FN uint32_t tli_flatbuf_table_end(tli_flatbuf_builder *b)
{
    uint8_t bytes[4 + 2 * TLI_FLATBUF_MEMBERS];
    uint32_t table, vtable, i, count = 0;
    tli_flatbuf_align(b, 4, 4);
    (void)tli_flatbuf_push(b, 4);
    table = b->used;
    for (i = 0; i < TLI_FLATBUF_MEMBERS; i++) {
        tli_bits_put_le16(bytes + 4 + 2 * i, (uint16_t)(b->members[i] == 0 ? 0 : table - b->members[i]));
        if (b->members[i] != 0)
            count = i + 1;
    }
    tli_bits_put_le16(bytes, (uint16_t)(4 + 2 * count));
    tli_bits_put_le16(bytes + 2, (uint16_t)(table - b->table));
    vtable = tli_flatbuf_vtable(b, bytes, 4 + 2 * count);
    if (b->status != TL_OK)
        return 0;
    tli_bits_put_le32(b->data + b->capacity - table, vtable - table);
    return table;
}

/* The root: after this the buffer is data + capacity - used, `used` bytes, a multiple of 8. */
TLI_FN void tli_flatbuf_finish(tli_flatbuf_builder *b, uint32_t root)
{
    uint8_t *p;
    tli_flatbuf_align(b, 4, 8);
    p = tli_flatbuf_push(b, 4);
    if (p != NULL)
        tli_bits_put_le32(p, b->used - root);
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* >>arrow: types, schema nodes, array nodes, builders, exports of the Arrow C Data Interface. */

/* The status of a door that answered NULL and filled err. */
TLI_INLINE tl_status tli_arrow_failed(const tl_error *err)
{
    return err != NULL ? err->status : TL_NO_MEMORY;
}

/* ---- format texts ---- */

/* A decimal number; 0 when there is none, or it is no int32. */
TLI_FN int tli_arrow_digits(const char **text, int32_t *value)
{
    const char *p = *text;
    int minus = *p == '-', digits = 0;
    int32_t v = 0;
    p += minus;
    while (*p >= '0' && *p <= '9') {
        if (v > (INT32_MAX - (*p - '0')) / 10)
            return 0;
        v = v * 10 + (*p - '0');
        p++;
        digits = 1;
    }
    if (!digits)
        return 0;
    *text = p;
    *value = minus ? -v : v;
    return 1;
}

TLI_FN tl_status tli_arrow_no_format(tl_error *err)
{
    return tli_err(err, TL_MISUSE, "not a format of the Arrow C Data Interface", TL_NO_POSITION);
}

TLI_INLINE int tli_arrow_is_decimal(tl_type_id id)
{
    return id >= TL_TYPE_DECIMAL32 && id <= TL_TYPE_DECIMAL256;
}

/* Decimal digits that a decimal of so many bytes holds. */
TLI_FN int32_t tli_arrow_precision(int32_t width)
{
    return width == 4 ? 9 : width == 8 ? 18 : width == 16 ? 38 : 76;
}

/* d:precision,scale[,bits] */
TLI_FN tl_status tli_arrow_type_decimal(const char *f, tl_type *t, tl_error *err)
{
    int32_t bits = 128;
    if (f[1] != ':')
        return tli_arrow_no_format(err);
    f += 2;
    if (!tli_arrow_digits(&f, &t->precision) || *f++ != ',' || !tli_arrow_digits(&f, &t->scale))
        return tli_arrow_no_format(err);
    if (*f == ',') {
        f++;
        if (!tli_arrow_digits(&f, &bits))
            return tli_arrow_no_format(err);
    }
    if (*f != 0 || (bits != 32 && bits != 64 && bits != 128 && bits != 256))
        return tli_arrow_no_format(err);
    t->width = bits / 8;
    t->id = bits == 32 ? TL_TYPE_DECIMAL32 : bits == 64 ? TL_TYPE_DECIMAL64
            : bits == 128 ? TL_TYPE_DECIMAL128 : TL_TYPE_DECIMAL256;
    if (t->precision < 1 || t->precision > tli_arrow_precision(t->width))
        return tli_err(err, TL_MISUSE, "decimal precision out of range", TL_NO_POSITION);
    if (t->scale < -128 || t->scale > 127)
        return tli_err(err, TL_UNSUPPORTED, "decimal scale out of range", TL_NO_POSITION);
    return TL_OK;
}

TLI_FN int tli_arrow_unit(char letter, tl_unit *unit)
{
    *unit = letter == 's' ? TL_UNIT_SECOND
            : letter == 'm' ? TL_UNIT_MILLI : letter == 'u' ? TL_UNIT_MICRO : TL_UNIT_NANO;
    return letter == 's' || letter == 'm' || letter == 'u' || letter == 'n';
}

TLI_FN tl_status tli_arrow_type_simple(tl_type *t, tl_type_id id, int32_t width)
{
    t->id = id;
    t->width = width;
    return TL_OK;
}

/* td? dates, tt? times, ts?:zone, tD? durations, ti? intervals */
TLI_FN tl_status tli_arrow_type_time(const char *f, tl_type *t, tl_error *err)
{
    char kind = f[1], last = kind != 0 ? f[2] : (char)0;
    int known = last != 0 && tli_arrow_unit(last, &t->unit);
    if (kind == 's' && known && f[3] == ':') {
        if (f[4] != 0)
            t->zone = tl_text(f + 4);
        return tli_arrow_type_simple(t, TL_TYPE_TIMESTAMP, 8);
    }
    if (last == 0 || f[3] != 0)
        return tli_arrow_no_format(err);
    if (kind == 'd' && last == 'm')
        return tli_arrow_type_simple(t, TL_TYPE_DATE64, 8);
    if (kind == 't' && known)
        return t->unit <= TL_UNIT_MILLI ? tli_arrow_type_simple(t, TL_TYPE_TIME32, 4)
                                        : tli_arrow_type_simple(t, TL_TYPE_TIME64, 8);
    if (kind == 'D' && known)
        return tli_arrow_type_simple(t, TL_TYPE_DURATION, 8);
    t->unit = TL_UNIT_SECOND;
    if (kind == 'd' && last == 'D')
        return tli_arrow_type_simple(t, TL_TYPE_DATE32, 4);
    if (kind == 'i' && last == 'M')
        return tli_arrow_type_simple(t, TL_TYPE_INTERVAL_MONTHS, 4);
    if (kind == 'i' && last == 'D')
        return tli_arrow_type_simple(t, TL_TYPE_INTERVAL_DAY_TIME, 8);
    if (kind == 'i' && last == 'n')
        return tli_arrow_type_simple(t, TL_TYPE_INTERVAL_MONTH_DAY_NANO, 16);
    return tli_arrow_no_format(err);
}

/* w:bytes and +w:elements */
TLI_FN tl_status tli_arrow_type_sized(const char *f, tl_type *t, tl_type_id id, tl_error *err)
{
    if (*f++ != ':' || !tli_arrow_digits(&f, &t->size) || *f != 0 || t->size < 0)
        return tli_arrow_no_format(err);
    return tli_arrow_type_simple(t, id, id == TL_TYPE_FIXED_BINARY ? t->size : 0);
}

/* + nested types */
TLI_FN tl_status tli_arrow_type_nested(const char *f, tl_type *t, tl_error *err)
{
    if (f[1] == 'w')
        return tli_arrow_type_sized(f + 2, t, TL_TYPE_FIXED_LIST, err);
    if (f[1] == 'u' && (f[2] == 'd' || f[2] == 's') && f[3] == ':')
        return tli_err(err, TL_UNSUPPORTED, "the type is a union", TL_NO_POSITION);
    if (f[1] == 'v' && (f[2] == 'l' || f[2] == 'L') && f[3] == 0)
        return tli_err(err, TL_UNSUPPORTED, "the type is a list view", TL_NO_POSITION);
    if (f[1] == 0 || f[2] != 0)
        return tli_arrow_no_format(err);
    switch (f[1]) {
    case 'l':
        return tli_arrow_type_simple(t, TL_TYPE_LIST, 0);
    case 'L':
        return tli_arrow_type_simple(t, TL_TYPE_LARGE_LIST, 0);
    case 's':
        return tli_arrow_type_simple(t, TL_TYPE_STRUCT, 0);
    case 'm':
        return tli_arrow_type_simple(t, TL_TYPE_MAP, 0);
    case 'r':
        return tli_err(err, TL_UNSUPPORTED, "the type is run-end encoded", TL_NO_POSITION);
    default:
        return tli_arrow_no_format(err);
    }
}

/* The types of one letter, in the order of tl_type_id but for those between FLOAT64 and UTF8. */
#define TLI_ARROW_LETTERS "nbcsilCSILefguUzZ"

TLI_FN tl_status tli_arrow_type_letter(const char *f, tl_type *t, tl_error *err)
{
    static const uint8_t ids[] = {TL_TYPE_NULL, TL_TYPE_BOOL, TL_TYPE_INT8, TL_TYPE_INT16, TL_TYPE_INT32, TL_TYPE_INT64,
                                  TL_TYPE_UINT8, TL_TYPE_UINT16, TL_TYPE_UINT32, TL_TYPE_UINT64, TL_TYPE_FLOAT16,
                                  TL_TYPE_FLOAT32, TL_TYPE_FLOAT64, TL_TYPE_UTF8, TL_TYPE_LARGE_UTF8, TL_TYPE_BINARY,
                                  TL_TYPE_LARGE_BINARY};
    static const uint8_t widths[] = {0, 0, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 0};
    size_t i;
    for (i = 0; i < TLI_COUNT(ids); i++)
        if (TLI_ARROW_LETTERS[i] == f[0] && f[1] == 0)
            return tli_arrow_type_simple(t, (tl_type_id)ids[i], widths[i]);
    return tli_arrow_no_format(err);
}

TL_API tl_status tl_type_of(const struct ArrowSchema *schema, tl_type *type, tl_error *err)
{
    const char *f = schema != NULL ? schema->format : NULL;
    TLI_FILL(type, 0, sizeof *type);
    if (f == NULL)
        return tli_err(err, TL_MISUSE, "a schema without a format", TL_NO_POSITION);
    switch (f[0]) {
    case 'd':
        return tli_arrow_type_decimal(f, type, err);
    case 'w':
        return tli_arrow_type_sized(f + 1, type, TL_TYPE_FIXED_BINARY, err);
    case 't':
        return tli_arrow_type_time(f, type, err);
    case '+':
        return tli_arrow_type_nested(f, type, err);
    case 'v':
        if ((f[1] == 'u' || f[1] == 'z') && f[2] == 0)
            return tli_arrow_type_simple(type, f[1] == 'u' ? TL_TYPE_UTF8_VIEW : TL_TYPE_BINARY_VIEW, 0);
        return tli_arrow_no_format(err);
    default:
        return tli_arrow_type_letter(f, type, err);
    }
}

/* Writes the digits of v (at most 10 and a sign) and answers where they end. */
TLI_FN char *tli_arrow_put_digits(char *out, int32_t v)
{
    char digits[10];
    int n = 0;
    uint32_t u = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
    if (v < 0)
        *out++ = '-';
    do
        digits[n++] = (char)('0' + u % 10);
    while ((u /= 10) != 0);
    while (n > 0)
        *out++ = digits[--n];
    return out;
}

TLI_FN char *tli_arrow_format_decimal(char *p, const tl_type *t)
{
    *p++ = 'd';
    *p++ = ':';
    p = tli_arrow_put_digits(p, t->precision);
    *p++ = ',';
    p = tli_arrow_put_digits(p, t->scale);
    if (t->id != TL_TYPE_DECIMAL128) {
        *p++ = ',';
        p = tli_arrow_put_digits(p, t->id == TL_TYPE_DECIMAL32 ? 32 : t->id == TL_TYPE_DECIMAL64 ? 64 : 256);
    }
    return p;
}

/* The fixed texts, by tl_type_id; where a unit, numbers or a zone follow, what comes before them. */
TLI_FN const char *tli_arrow_format_start(tl_type_id id)
{
    static const char texts[][4] = {"n", "b", "c", "s", "i", "l", "C", "S", "I", "L", "e", "f", "g", "d:", "d:", "d:",
                                    "d:", "tdD", "tdm", "tt", "tt", "ts", "tD", "tiM", "tiD", "tin", "u", "U", "vu",
                                    "z", "Z", "vz", "w:", "+l", "+L", "+w:", "+s", "+m"};
    return (size_t)id < TLI_COUNT(texts) ? texts[id] : NULL;
}

/* The interface ends texts with a zero byte, so none can be inside. */
TLI_FN int tli_arrow_has_zero(tl_span text)
{
    size_t i;
    for (i = 0; i < text.size; i++)
        if (text.data[i] == 0)
            return 1;
    return 0;
}

/* The format text of a type, in the store. */
TLI_FN tl_status tli_arrow_format(tli_store *store, const tl_type *type, const char **format, tl_error *err)
{
    static const char units[] = "smun";
    char start[40], *p = start, *out;
    const char *f = tli_arrow_format_start(type->id);
    tl_span zone;
    zone = type->id == TL_TYPE_TIMESTAMP ? type->zone : tl_text(NULL);
    if (f == NULL)
        return tli_err(err, TL_MISUSE, "not a type", TL_NO_POSITION);
    if (tli_arrow_has_zero(zone))
        return tli_err(err, TL_UNSUPPORTED, "a zero byte in a time zone", TL_NO_POSITION);
    if (tli_arrow_is_decimal(type->id)) {
        p = tli_arrow_format_decimal(p, type);
    } else {
        while (*f != 0)
            *p++ = *f++;
        if (type->id >= TL_TYPE_TIME32 && type->id <= TL_TYPE_DURATION)
            *p++ = units[type->unit & 3];
        if (type->id == TL_TYPE_TIMESTAMP)
            *p++ = ':';
        if (type->id == TL_TYPE_FIXED_BINARY || type->id == TL_TYPE_FIXED_LIST)
            p = tli_arrow_put_digits(p, type->size);
    }
    out = (char *)tli_mem_take(store, (size_t)(p - start) + zone.size + 1, err);
    if (out == NULL)
        return tli_arrow_failed(err);
    TLI_COPY(out, start, (size_t)(p - start));
    if (zone.size != 0)
        TLI_COPY(out + (p - start), zone.data, zone.size);
    out[(size_t)(p - start) + zone.size] = 0;
    *format = out;
    return TL_OK;
}

/* ---- metadata: an int32 count, then a length and bytes for each key and each value, in native order ---- */

typedef struct tli_arrow_pairs {
    const char *at; /* where the next pair begins; after the last: the end of the metadata */
    int32_t left;
} tli_arrow_pairs;

TLI_FN tli_arrow_pairs tli_arrow_pairs_begin(const struct ArrowSchema *schema)
{
    tli_arrow_pairs p;
    p.at = schema != NULL ? schema->metadata : NULL;
    p.left = 0;
    if (p.at != NULL) {
        p.left = (int32_t)tli_bits_u32(p.at);
        p.at += 4;
    }
    return p;
}

/* One length and its bytes; 0 when the length is negative: the rest cannot be read. */
TLI_INLINE int tli_arrow_pairs_text(tli_arrow_pairs *p, tl_span *text)
{
    int32_t size = (int32_t)tli_bits_u32(p->at);
    if (size < 0)
        return 0;
    *text = tli_text_span(p->at + 4, (size_t)size);
    p->at += 4 + (size_t)size;
    return 1;
}

TLI_FN int tli_arrow_pairs_next(tli_arrow_pairs *p, tl_span *key, tl_span *value)
{
    if (p->left <= 0)
        return 0;
    p->left--;
    if (tli_arrow_pairs_text(p, key) && tli_arrow_pairs_text(p, value))
        return 1;
    p->left = 0;
    return 0;
}

/* Bytes of a node's metadata, 0 when there is none. */
TLI_FN size_t tli_arrow_metadata_size(const struct ArrowSchema *schema)
{
    tli_arrow_pairs p = tli_arrow_pairs_begin(schema);
    tl_span key, value;
    if (p.left <= 0)
        return 0;
    while (tli_arrow_pairs_next(&p, &key, &value)) {
    }
    return (size_t)(p.at - schema->metadata);
}

TL_API tl_span tl_schema_metadata(const struct ArrowSchema *schema, tl_span key)
{
    tli_arrow_pairs p = tli_arrow_pairs_begin(schema);
    tl_span k, v;
    while (tli_arrow_pairs_next(&p, &k, &v))
        if (tl_span_equal(k, key))
            return v;
    return tl_text(NULL);
}

TL_API int tl_schema_metadata_at(const struct ArrowSchema *schema, int32_t i, tl_span *key, tl_span *value)
{
    tli_arrow_pairs p = tli_arrow_pairs_begin(schema);
    for (; i >= 0 && tli_arrow_pairs_next(&p, key, value); i--)
        if (i == 0)
            return 1;
    return 0;
}

TL_API int64_t tl_schema_find(const struct ArrowSchema *schema, tl_span name)
{
    int64_t i;
    for (i = 0; schema != NULL && i < schema->n_children; i++)
        if (tl_span_equal(tl_text(schema->children[i]->name), name))
            return i;
    return -1;
}

/* ---- walking ---- */

#define TLI_ARROW_DEPTH_MAX 256u

/* A walk over a schema, and over an array of it when there is one, parents first. The dictionary of a node counts as
   its last child. Looks into a node's children only after the caller has seen, and may have checked, the node. Keeps
   the way down as numbers and goes it again from the root: that is 1 KB of stack at any depth. */
typedef struct tli_arrow_walk {
    const struct ArrowSchema *root_schema;
    const struct ArrowArray *root_array;
    const struct ArrowSchema *schema; /* the node at hand */
    const struct ArrowArray *array;
    const struct ArrowSchema *parent; /* of the node at hand; NULL: it is the root */
    const struct ArrowArray *parent_array;
    uint32_t depth; /* of the node at hand; the root's is 0 */
    uint32_t path[TLI_ARROW_DEPTH_MAX];
} tli_arrow_walk;

TLI_FN void tli_arrow_walk_begin(tli_arrow_walk *w, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    w->root_schema = schema;
    w->root_array = array;
    w->schema = w->parent = NULL;
    w->array = w->parent_array = NULL;
    w->depth = 0;
}

TLI_INLINE int64_t tli_arrow_walk_children(const struct ArrowSchema *s)
{
    return s->n_children + (s->dictionary != NULL);
}

/* From the node at hand down to its child i. */
TLI_INLINE void tli_arrow_walk_down(tli_arrow_walk *w, uint32_t i)
{
    int child = (int64_t)i < w->schema->n_children;
    w->parent = w->schema;
    w->parent_array = w->array;
    if (w->array != NULL)
        w->array = child ? w->array->children[i] : w->array->dictionary;
    w->schema = child ? w->schema->children[i] : w->schema->dictionary;
}

/* The node at hand becomes the one `depth` steps down the path. */
TLI_FN void tli_arrow_walk_to(tli_arrow_walk *w, uint32_t depth)
{
    uint32_t i;
    w->schema = w->root_schema;
    w->array = w->root_array;
    for (i = 0; i < depth; i++)
        tli_arrow_walk_down(w, w->path[i]);
}

/* 1: there is a next node; 0: that was the last; -1: it would lie deeper than `limit`. Nodes have at most UINT32_MAX
   children: the caller makes sure. */
TLI_FN int tli_arrow_walk_next(tli_arrow_walk *w, uint32_t limit)
{
    if (w->schema == NULL) {
        w->schema = w->root_schema;
        w->array = w->root_array;
        return 1;
    }
    if (tli_arrow_walk_children(w->schema) > 0) {
        if (w->depth >= limit || w->depth >= TLI_ARROW_DEPTH_MAX)
            return -1;
        w->path[w->depth++] = 0;
        tli_arrow_walk_down(w, 0);
        return 1;
    }
    while (w->depth > 0) {
        uint32_t i = ++w->path[w->depth - 1];
        tli_arrow_walk_to(w, w->depth - 1);
        if ((int64_t)i < tli_arrow_walk_children(w->schema)) {
            tli_arrow_walk_down(w, i);
            return 1;
        }
        w->depth--;
    }
    return 0;
}

/* ---- schema nodes ---- */

/* Nodes in a store are freed with it, whoever releases them. */
TLI_FN void tli_arrow_schema_stays(struct ArrowSchema *schema)
{
    (void)schema;
}

TLI_FN void tli_arrow_array_stays(struct ArrowArray *array)
{
    (void)array;
}

/* A node in the store. The texts are copied; the entries of `children` are for the caller to fill. */
TLI_FN struct ArrowSchema *tli_arrow_schema_new(tli_store *store, const char *format, tl_span name, int64_t flags,
                                                int64_t n_children, tl_error *err)
{
    tl_span f = tl_text(format);
    size_t texts = f.size + name.size + 2;
    struct ArrowSchema *s;
    char *p;
    if (tli_arrow_has_zero(name)) {
        (void)tli_err(err, TL_UNSUPPORTED, "a zero byte in the name of a field", TL_NO_POSITION);
        return NULL;
    }
    if (n_children < 0 || (uint64_t)n_children > SIZE_MAX / 16 || texts > SIZE_MAX / 8) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    s = (struct ArrowSchema *)tli_mem_take_zero(store, sizeof *s + (size_t)n_children * sizeof(void *) + texts, err);
    if (s == NULL)
        return NULL;
    p = (char *)(s + 1) + (size_t)n_children * sizeof(void *);
    s->format = p;
    if (f.size != 0)
        TLI_COPY(p, f.data, f.size);
    s->name = p + f.size + 1;
    if (name.size != 0)
        TLI_COPY(p + f.size + 1, name.data, name.size);
    s->flags = flags;
    s->n_children = n_children;
    s->children = n_children > 0 ? (struct ArrowSchema **)(void *)(s + 1) : NULL;
    s->release = tli_arrow_schema_stays;
    return s;
}

/* Gives a node of the store its metadata: n pairs. */
TLI_FN tl_status tli_arrow_schema_metadata(tli_store *store, struct ArrowSchema *schema, const tl_span *keys,
                                           const tl_span *values, int32_t n, tl_error *err)
{
    uint64_t total = 4;
    size_t bytes;
    char *p;
    int32_t i;
    schema->metadata = NULL;
    if (n <= 0)
        return TL_OK;
    for (i = 0; i < n; i++) {
        if (keys[i].size > INT32_MAX || values[i].size > INT32_MAX)
            return tli_err(err, TL_UNSUPPORTED, "a metadata text of 2 GiB or more", TL_NO_POSITION);
        total += 8 + (uint64_t)keys[i].size + values[i].size;
    }
    if (!tli_bits_size(total, &bytes))
        return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    p = (char *)tli_mem_take(store, bytes, err);
    if (p == NULL)
        return tli_arrow_failed(err);
    schema->metadata = p;
    tli_bits_put32(p, (uint32_t)n);
    p += 4;
    for (i = 0; i < 2 * n; i++) {
        tl_span text;
        text = i % 2 == 0 ? keys[i / 2] : values[i / 2];
        tli_bits_put32(p, (uint32_t)text.size);
        if (text.size != 0)
            TLI_COPY(p + 4, text.data, text.size);
        p += 4 + text.size;
    }
    return TL_OK;
}

/* How many children a type has; -1: any number. */
TLI_INLINE int64_t tli_arrow_type_children(tl_type_id id)
{
    return id < TL_TYPE_LIST ? 0 : id == TL_TYPE_STRUCT ? -1 : 1;
}

TLI_FN tl_status tli_arrow_schema_check_node(const tli_arrow_walk *w, tl_type *type, tl_error *err)
{
    const struct ArrowSchema *s = w->schema;
    int64_t children;
    tl_status st;
    if (s == NULL || s->release == NULL)
        return tli_err(err, TL_MISUSE, "a schema node is missing or was released", TL_NO_POSITION);
    st = tl_type_of(s, type, err);
    if (st != TL_OK)
        return st;
    children = tli_arrow_type_children(type->id);
    if (s->n_children < 0 || (children >= 0 && s->n_children != children) || (s->n_children > 0 && s->children == NULL))
        return tli_err(err, TL_MISUSE, "a schema node has a wrong number of children", TL_NO_POSITION);
    if (s->dictionary != NULL && (type->id < TL_TYPE_INT8 || type->id > TL_TYPE_UINT64))
        return tli_err(err, TL_MISUSE, "the indices of a dictionary are no integers", TL_NO_POSITION);
    if (w->parent != NULL && w->parent->dictionary == s && s->dictionary != NULL)
        return tli_err(err, TL_MISUSE, "a dictionary of a dictionary", TL_NO_POSITION);
    if (w->parent != NULL && w->parent->format[0] == '+' && w->parent->format[1] == 'm'
        && (type->id != TL_TYPE_STRUCT || s->n_children != 2 || s->dictionary != NULL))
        return tli_err(err, TL_MISUSE, "the child of a map is no struct of two", TL_NO_POSITION);
    return TL_OK;
}

/* Checks a schema from outside: every type known, children as the type demands, depth, and the number of nodes (root
   and dictionaries counted), which goes to *nodes when that is not NULL. */
TLI_NOINLINE tl_status tli_arrow_schema_check(const struct ArrowSchema *schema, const tl_limits *limits,
                                              uint32_t *nodes,
                                              tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tli_arrow_walk w;
    uint32_t n = 0;
    int more;
    most.columns = TLI_MIN(most.columns, (uint32_t)INT32_MAX);
    tli_arrow_walk_begin(&w, schema, NULL);
    if (schema == NULL)
        return tli_err(err, TL_MISUSE, "no schema", TL_NO_POSITION);
    while ((more = tli_arrow_walk_next(&w, most.depth)) > 0) {
        tl_type type;
        tl_status st = tli_arrow_schema_check_node(&w, &type, err);
        if (st != TL_OK)
            return st;
        if (n++ > most.columns || (uint64_t)w.schema->n_children > most.columns)
            return tli_err_need(err, TL_LIMIT, "limits.columns", TL_NO_POSITION,
                                TLI_MAX((uint64_t)n, (uint64_t)w.schema->n_children));
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    if (nodes != NULL)
        *nodes = n;
    return TL_OK;
}

/* ---- trees that own themselves ----

   All nodes of an exported tree lie in one block,
       parents first. A consumer may move any node out (it copies the struct and
   sets release to NULL in the tree) and release it whenever it likes: each node counts for itself, and the block goes
   with the last. */

typedef struct tli_arrow_block {
    size_t count; /* nodes not released yet */
    size_t size;
    tl_allocator allocator;
    tli_store *store; /* kept until the end; may be NULL */
} tli_arrow_block;

typedef struct tli_arrow_place {
    tli_arrow_block *block;
    void *nodes;    /* all of the block */
    uint32_t index; /* of this node */
    uint32_t end;   /* after its last descendant */
    uint32_t depth;
} tli_arrow_place;

TLI_FN void tli_arrow_block_drop(tli_arrow_block *block)
{
    tl_allocator a;
    if (TLI_MEM_DEC(&block->count) != 0)
        return;
    a = block->allocator;
    tli_mem_store_drop(block->store);
    tli_mem_delete(&a, block, block->size);
}

/* Finds where each subtree ends, from the depths. */
TLI_FN void tli_arrow_places_end(tli_arrow_place *places, uint32_t n)
{
    uint32_t i = n;
    while (i-- > 0) {
        uint32_t j = i + 1;
        while (j < n && places[j].depth > places[i].depth)
            j = places[j].end;
        places[i].end = j;
    }
}

TLI_FN void tli_arrow_schema_release(struct ArrowSchema *schema)
{
    tli_arrow_place *place = (tli_arrow_place *)schema->private_data;
    struct ArrowSchema *nodes = (struct ArrowSchema *)place->nodes;
    tli_arrow_block *block = place->block;
    tli_arrow_place *first = place - place->index;
    uint32_t i = place->index + 1, end = place->end;
    while (i < end) {
        if (nodes[i].release == NULL) { /* moved out with all below it, or released by itself */
            i = first[i].end;
            continue;
        }
        nodes[i++].release = NULL;
        tli_arrow_block_drop(block);
    }
    schema->release = NULL;
    tli_arrow_block_drop(block);
}

typedef struct tli_arrow_size {
    size_t nodes;
    size_t children; /* entries of all children arrays */
    size_t texts;
    size_t total; /* bytes of a tree: nodes, children arrays, places, texts */
} tli_arrow_size;

TLI_NOINLINE tl_status tli_arrow_schema_size(const struct ArrowSchema *schema, tli_arrow_size *size, tl_error *err)
{
    tli_arrow_walk w;
    int more;
    TLI_FILL(size, 0, sizeof *size);
    tli_arrow_walk_begin(&w, schema, NULL);
    while ((more = tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX)) > 0) {
        const struct ArrowSchema *s = w.schema;
        if (s == NULL || s->release == NULL || s->format == NULL || s->n_children < 0 || s->n_children > INT32_MAX
            || (s->n_children > 0 && s->children == NULL))
            return tli_err(err, TL_MISUSE, "a schema node is missing, incomplete or was released", TL_NO_POSITION);
        size->nodes++;
        size->children += (size_t)s->n_children;
        size->texts += tl_text(s->format).size + tl_text(s->name).size + 2 + tli_arrow_metadata_size(s);
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    if (size->nodes > INT32_MAX)
        return tli_err(err, TL_LIMIT, "limits.columns", TL_NO_POSITION);
    size->total = size->nodes * (sizeof(struct ArrowSchema) + sizeof(tli_arrow_place)) + size->children * sizeof(void *)
                  + size->texts;
    return TL_OK;
}

TLI_FN char *tli_arrow_put_text(char *to, const void *from, size_t size)
{
    if (size != 0)
        TLI_COPY(to, from, size);
    return to + size;
}

/* Fills memory of size->total bytes with the tree; the root is its first node. */
TLI_NOINLINE struct ArrowSchema *tli_arrow_schema_fill(void *memory, const tli_arrow_size *size,
                                                 const struct ArrowSchema *schema, tli_arrow_block *block)
{
    struct ArrowSchema *nodes = (struct ArrowSchema *)memory;
    tli_arrow_place *places = (tli_arrow_place *)(void *)(nodes + size->nodes);
    struct ArrowSchema **children = (struct ArrowSchema **)(void *)(places + size->nodes);
    char *text = (char *)(children + size->children);
    tli_arrow_walk w;
    uint32_t n = 0, i;
    tli_arrow_walk_begin(&w, schema, NULL);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        const struct ArrowSchema *s = w.schema;
        struct ArrowSchema *to = &nodes[n];
        size_t metadata = tli_arrow_metadata_size(s);
        *to = *s;
        to->format = text;
        text = tli_arrow_put_text(text, s->format, tl_text(s->format).size + 1);
        to->name = text;
        text = tli_arrow_put_text(text, s->name, tl_text(s->name).size);
        *text++ = 0;
        to->metadata = metadata != 0 ? text : NULL;
        text = tli_arrow_put_text(text, s->metadata, metadata);
        to->release = block != NULL ? tli_arrow_schema_release : tli_arrow_schema_stays;
        to->private_data = block != NULL ? &places[n] : NULL;
        places[n].block = block;
        places[n].nodes = nodes;
        places[n].index = n;
        places[n++].depth = w.depth;
    }
    tli_arrow_places_end(places, n);
    for (i = 0; i < n; i++) {
        uint32_t child = i + 1;
        int64_t k;
        nodes[i].children = nodes[i].n_children > 0 ? children : NULL;
        for (k = 0; k < nodes[i].n_children; k++, child = places[child].end)
            *children++ = &nodes[child];
        if (nodes[i].dictionary != NULL)
            nodes[i].dictionary = &nodes[child];
    }
    return nodes;
}

/* A copy in the store. */
TLI_FN tl_status tli_arrow_schema_keep(tli_store *store, const struct ArrowSchema *schema,
                                       const struct ArrowSchema **out,
                                       tl_error *err)
{
    tli_arrow_size size;
    void *memory;
    tl_status st = tli_arrow_schema_size(schema, &size, err);
    if (st != TL_OK)
        return st;
    memory = tli_mem_take_zero(store, size.total, err);
    if (memory == NULL)
        return tli_arrow_failed(err);
    *out = tli_arrow_schema_fill(memory, &size, schema, NULL);
    return TL_OK;
}

/* A cleared block for `size` bytes after its header, which go to *memory. */
TLI_FN tli_arrow_block *tli_arrow_block_new(const tl_allocator *allocator, size_t nodes, size_t size, void **memory,
                                            tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    size_t header = tli_bits_round_up(sizeof(tli_arrow_block), TLI_MEM_ALIGN);
    tli_arrow_block *block = size > SIZE_MAX / 4 ? NULL : (tli_arrow_block *)tli_mem_new(&a, header + size);
    if (block == NULL) {
        (void)(size > SIZE_MAX / 4 ? tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION)
               : tli_mem_failed(&a, err));
        return NULL;
    }
    TLI_FILL(block, 0, sizeof *block);
    block->count = nodes;
    block->size = header + size;
    block->allocator = a;
    *memory = (uint8_t *)block + header;
    return block;
}

TL_API tl_status tl_schema_copy(struct ArrowSchema *out, const struct ArrowSchema *schema,
                                const tl_allocator *allocator,
                                tl_error *err)
{
    tl_error own;
    tli_arrow_size size;
    tli_arrow_block *block;
    void *memory;
    tl_status st;
    err = err != NULL ? err : &own;
    TLI_FILL(out, 0, sizeof *out);
    st = tli_arrow_schema_size(schema, &size, err);
    if (st != TL_OK)
        return st;
    block = tli_arrow_block_new(allocator, size.nodes, size.total, &memory, err);
    if (block == NULL)
        return err->status;
    *out = *tli_arrow_schema_fill(memory, &size, schema, block);
    return TL_OK;
}

/* ---- array nodes ---- */

/* A node in the store: length 0, buffers and children to be filled. private_data says whose memory its buffers are. */
TLI_FN struct ArrowArray *tli_arrow_array_new(tli_store *store, int64_t n_buffers, int64_t n_children, tl_error *err)
{
    struct ArrowArray *a;
    if (n_buffers < 0 || n_children < 0 || (uint64_t)n_buffers > SIZE_MAX / 32
        || (uint64_t)n_children > SIZE_MAX / 32) {
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    a = (struct ArrowArray *)tli_mem_take_zero(store, sizeof *a + (size_t)(n_buffers + n_children) * sizeof(void *),
                                               err);
    if (a == NULL)
        return NULL;
    a->n_buffers = n_buffers;
    a->n_children = n_children;
    a->buffers = n_buffers > 0 ? (const void **)(void *)(a + 1) : NULL;
    a->children = n_children > 0 ? (struct ArrowArray **)(void *)((void **)(void *)(a + 1) + n_buffers) : NULL;
    a->release = tli_arrow_array_stays;
    a->private_data = store;
    return a;
}

/* 1 when value i (before the array's offset is added) is not null. Arrays of type null have no buffers. */
TLI_INLINE int tli_arrow_valid(const struct ArrowArray *a, int64_t i)
{
    if (a->n_buffers == 0)
        return 0;
    return a->buffers[0] == NULL || tli_bits_get(a->buffers[0], (uint64_t)(a->offset + i));
}

/* The bits of a bitmap that are 0 from `from` on, `count` of them looked at. */
TLI_FN int64_t tli_arrow_zero_bits(const void *bitmap, int64_t from, int64_t count)
{
    const uint8_t *p = (const uint8_t *)bitmap;
    int64_t zeros = 0, i = from, end = from + count;
    for (; i < end && (i & 7) != 0; i++)
        zeros += !tli_bits_get(p, (uint64_t)i);
    for (; end - i >= 64; i += 64) {
        uint64_t v = ~tli_bits_u64(p + (i >> 3));
        if (v == 0)
            continue;
        v -= (v >> 1) & 0x5555555555555555u;
        v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        zeros += (int64_t)((v * 0x0101010101010101u) >> 56);
    }
    for (; i < end; i++)
        zeros += !tli_bits_get(p, (uint64_t)i);
    return zeros;
}

/* The nulls of a node, counted when it does not say; all of an array of type null. */
TLI_FN int64_t tli_arrow_null_count(const struct ArrowArray *a)
{
    if (a->n_buffers == 0)
        return a->length;
    if (a->buffers[0] == NULL)
        return 0;
    return a->null_count >= 0 ? a->null_count : tli_arrow_zero_bits(a->buffers[0], a->offset, a->length);
}

/* How values lie in buffers[1]. */
typedef enum tli_arrow_layout {
    TLI_ARROW_NULL, TLI_ARROW_BITS, TLI_ARROW_FIXED, TLI_ARROW_BYTES, TLI_ARROW_LARGE_BYTES, TLI_ARROW_VIEWS,
    TLI_ARROW_LIST, TLI_ARROW_LARGE_LIST, TLI_ARROW_FIXED_LIST, TLI_ARROW_STRUCT
} tli_arrow_layout;

TLI_FN tli_arrow_layout tli_arrow_layout_of(tl_type_id id)
{
    switch (id) {
    case TL_TYPE_NULL:
        return TLI_ARROW_NULL;
    case TL_TYPE_BOOL:
        return TLI_ARROW_BITS;
    case TL_TYPE_UTF8:
    case TL_TYPE_BINARY:
        return TLI_ARROW_BYTES;
    case TL_TYPE_LARGE_UTF8:
    case TL_TYPE_LARGE_BINARY:
        return TLI_ARROW_LARGE_BYTES;
    case TL_TYPE_UTF8_VIEW:
    case TL_TYPE_BINARY_VIEW:
        return TLI_ARROW_VIEWS;
    case TL_TYPE_LIST:
    case TL_TYPE_MAP:
        return TLI_ARROW_LIST;
    case TL_TYPE_LARGE_LIST:
        return TLI_ARROW_LARGE_LIST;
    case TL_TYPE_FIXED_LIST:
        return TLI_ARROW_FIXED_LIST;
    case TL_TYPE_STRUCT:
        return TLI_ARROW_STRUCT;
    default:
        return TLI_ARROW_FIXED;
    }
}

/* Buffers by layout; of views the least. */
TLI_INLINE int64_t tli_arrow_layout_buffers(tli_arrow_layout layout)
{
    static const uint8_t counts[] = {0, 2, 2, 3, 3, 3, 2, 2, 1, 1};
    return counts[layout];
}

/* Bytes of an offset, 0 when the layout has none. */
TLI_INLINE int tli_arrow_offset_width(tli_arrow_layout layout)
{
    return layout == TLI_ARROW_BYTES || layout == TLI_ARROW_LIST ? 4
           : layout == TLI_ARROW_LARGE_BYTES || layout == TLI_ARROW_LARGE_LIST ? 8 : 0;
}

/* Offset i of an offsets buffer. */
TLI_INLINE int64_t tli_arrow_offset(const void *offsets, int width, int64_t i)
{
    const uint8_t *p = (const uint8_t *)offsets;
    return width == 4 ? (int64_t)(int32_t)tli_bits_u32(p + 4 * (size_t)i) : (int64_t)tli_bits_u64(p + 8 * (size_t)i);
}

/* The bytes that the array uses of buffer i, from the buffer's start. Offsets were checked before. 0 for a buffer that
   nothing is read from. */
TLI_FN uint64_t tli_arrow_buffer_size(const tl_type *type, const struct ArrowArray *a, int64_t i)
{
    tli_arrow_layout layout = tli_arrow_layout_of(type->id);
    uint64_t end = (uint64_t)a->offset + (uint64_t)a->length;
    int width = tli_arrow_offset_width(layout);
    if (a->length == 0 || a->buffers[i] == NULL)
        return 0;
    if (i == 0 || layout == TLI_ARROW_BITS)
        return (end + 7) / 8;
    if (layout == TLI_ARROW_FIXED)
        return end * (uint64_t)type->width;
    if (layout == TLI_ARROW_VIEWS) {
        if (i == 1)
            return end * 16;
        return i == a->n_buffers - 1 ? 8 * (uint64_t)(a->n_buffers - 3)
                                     : (uint64_t)tli_arrow_offset(a->buffers[a->n_buffers - 1], 8, i - 2);
    }
    if (i == 1)
        return (end + 1) * (uint64_t)width;
    return (uint64_t)tli_arrow_offset(a->buffers[1], width, (int64_t)end);
}

/* ---- arrays from outside ---- */

TLI_FN tl_status tli_arrow_bad(tl_error *err, const char *text)
{
    return tli_err(err, TL_MISUSE, text, TL_NO_POSITION);
}

/* The counts of a node, before anything behind a pointer is read. */
TLI_FN tl_status tli_arrow_check_shape(const tli_arrow_walk *w, tli_arrow_layout layout, tl_error *err)
{
    const struct ArrowArray *a = w->array;
    int64_t buffers = tli_arrow_layout_buffers(layout), i;
    if (a == NULL || a->release == NULL)
        return tli_arrow_bad(err, "an array is missing or was released");
    if (a->length < 0 || a->offset < 0 || a->length > (INT64_MAX >> 6) || a->offset > (INT64_MAX >> 6))
        return tli_arrow_bad(err, "an array has a wrong length or offset");
    if (a->null_count < -1 || a->null_count > a->length)
        return tli_arrow_bad(err, "an array has a wrong null count");
    if (a->n_buffers < buffers || (layout != TLI_ARROW_VIEWS && a->n_buffers != buffers)
        || (a->n_buffers > 0 && a->buffers == NULL) || a->n_buffers > INT32_MAX)
        return tli_arrow_bad(err, "an array has a wrong number of buffers");
    if (a->n_children != w->schema->n_children || (a->n_children > 0 && a->children == NULL))
        return tli_arrow_bad(err, "an array has a wrong number of children");
    for (i = 0; i < a->n_children; i++)
        if (a->children[i] == NULL || a->children[i]->release == NULL)
            return tli_arrow_bad(err, "an array is missing or was released");
    if ((a->dictionary != NULL) != (w->schema->dictionary != NULL)
        || (a->dictionary != NULL && a->dictionary->release == NULL))
        return tli_arrow_bad(err, "a dictionary is missing, or one too many");
    if (layout == TLI_ARROW_VIEWS && a->n_buffers > 3 && a->buffers[a->n_buffers - 1] == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    return TL_OK;
}

/* 1 when every null of `a` lies in a row that is null in its parent too, or in none. */
TLI_FN int tli_arrow_nulls_hidden(const struct ArrowArray *a, const struct ArrowArray *parent, int64_t each)
{
    int64_t i;
    for (i = 0; i < parent->length * each; i++)
        if (!tli_arrow_valid(a, parent->offset * each + i) && tli_arrow_valid(parent, i / each))
            return 0;
    return 1;
}

TLI_FN tl_status tli_arrow_check_nulls(const tli_arrow_walk *w, const tl_type *type, tl_error *err)
{
    const struct ArrowArray *a = w->array, *parent = w->parent_array;
    int64_t nulls;
    tl_type outer;
    if (type->id == TL_TYPE_NULL)
        return TL_OK;
    if (a->buffers[0] == NULL && a->null_count > 0)
        return tli_arrow_bad(err, "an array has nulls but no validity bitmap");
    nulls = a->buffers[0] == NULL ? 0 : tli_arrow_zero_bits(a->buffers[0], a->offset, a->length);
    if (a->null_count >= 0 && nulls != a->null_count)
        return tli_arrow_bad(err, "an array has a wrong null count");
    if (nulls == 0 || parent == NULL || (w->schema->flags & ARROW_FLAG_NULLABLE) != 0
        || w->parent->dictionary == w->schema)
        return TL_OK;
    if (tl_type_of(w->parent, &outer, err) == TL_OK
        && ((outer.id == TL_TYPE_STRUCT && tli_arrow_nulls_hidden(a, parent, 1))
            || (outer.id == TL_TYPE_FIXED_LIST && tli_arrow_nulls_hidden(a, parent, outer.size))))
        return TL_OK;
    return tli_arrow_bad(err, "a null in a column that is not nullable");
}

/* Offsets: from 0 on, never falling, at most `most` (-1: whatever). */
TLI_FN tl_status tli_arrow_check_offsets(const struct ArrowArray *a, int width, int64_t most, tl_error *err)
{
    const void *offsets = a->buffers[1];
    int64_t i, last, falls = 0;
    if (a->length == 0)
        return TL_OK;
    if (offsets == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    last = tli_arrow_offset(offsets, width, a->offset);
    if (last < 0)
        return tli_arrow_bad(err, "a negative offset");
    for (i = 1; i <= a->length; i++) {
        int64_t next = tli_arrow_offset(offsets, width, a->offset + i);
        falls |= next < last;
        last = next;
    }
    if (falls)
        return tli_arrow_bad(err, "offsets fall");
    if (most >= 0 && last > most)
        return tli_arrow_bad(err, "offsets past the end of the child");
    if (most < 0 && last > 0 && a->buffers[2] == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    return TL_OK;
}

/* Each value that is not null is UTF-8. One look at all bytes does when no value begins inside a character; bytes of
   nulls may be anything, so a failure there is looked at value by value. */
TLI_FN tl_status tli_arrow_check_utf8(const struct ArrowArray *a, int width, tl_error *err)
{
    const uint8_t *data = (const uint8_t *)a->buffers[2];
    int64_t i, first, last;
    int inside = 0;
    if (a->length == 0)
        return TL_OK;
    first = tli_arrow_offset(a->buffers[1], width, a->offset);
    last = tli_arrow_offset(a->buffers[1], width, a->offset + a->length);
    if (last == first)
        return TL_OK;
    if (tli_text_utf8(data + first, (size_t)(last - first)) == (size_t)(last - first)) {
        for (i = 0; i < a->length; i++) {
            int64_t at = tli_arrow_offset(a->buffers[1], width, a->offset + i);
            inside |= at < last && (data[at] & 0xc0) == 0x80;
        }
        if (!inside)
            return TL_OK;
    }
    for (i = 0; i < a->length; i++) {
        int64_t from = tli_arrow_offset(a->buffers[1], width, a->offset + i);
        size_t size = (size_t)(tli_arrow_offset(a->buffers[1], width, a->offset + i + 1) - from);
        if (tli_arrow_valid(a, i) && tli_text_utf8(data + from, size) != size)
            return tli_arrow_bad(err, "text that is not UTF-8");
    }
    return TL_OK;
}

/* The bytes of view i (its index with the offset added), which was checked. */
TLI_FN tl_span tli_arrow_view(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *view = (const uint8_t *)a->buffers[1] + 16 * (size_t)i;
    uint32_t size = tli_bits_u32(view);
    if (size <= 12)
        return tli_text_span(view + 4, size);
    return tli_text_span((const uint8_t *)a->buffers[2 + tli_bits_u32(view + 8)] + tli_bits_u32(view + 12), size);
}

TLI_FN tl_status tli_arrow_check_views(const struct ArrowArray *a, int utf8, tl_error *err)
{
    int64_t i, buffers = a->n_buffers - 3;
    if (a->length > 0 && a->buffers[1] == NULL)
        return tli_arrow_bad(err, "an array lacks a buffer");
    for (i = 0; i < a->length; i++) {
        const uint8_t *view = (const uint8_t *)a->buffers[1] + 16 * (size_t)(a->offset + i);
        int32_t size = (int32_t)tli_bits_u32(view);
        tl_span text;
        if (!tli_arrow_valid(a, i))
            continue;
        if (size < 0)
            return tli_arrow_bad(err, "a view of negative size");
        if (size > 12) {
            int32_t buffer = (int32_t)tli_bits_u32(view + 8), from = (int32_t)tli_bits_u32(view + 12);
            if (buffer < 0 || buffer >= buffers || from < 0 || a->buffers[2 + buffer] == NULL
                || (int64_t)from + size > tli_arrow_offset(a->buffers[a->n_buffers - 1], 8, buffer))
                return tli_arrow_bad(err, "a view past the end of its buffer");
        }
        text = tli_arrow_view(a, a->offset + i);
        if (size > 12 && TLI_COMPARE(view + 4, text.data, 4) != 0)
            return tli_arrow_bad(err, "a view with a wrong prefix");
        if (utf8 && tli_text_utf8(text.data, text.size) != text.size)
            return tli_arrow_bad(err, "text that is not UTF-8");
    }
    return TL_OK;
}

/* Value i (offset added) of an integer array; INT64_MAX for what a signed integer cannot hold. */
TLI_FN int64_t tli_arrow_integer(const tl_type *type, const void *values, int64_t i)
{
    const uint8_t *p = (const uint8_t *)values + (size_t)i * (size_t)type->width;
    int is_unsigned = type->id >= TL_TYPE_UINT8;
    uint64_t wide;
    switch (type->width) {
    case 1:
        return is_unsigned ? (int64_t)*p : (int64_t)(int8_t)*p;
    case 2:
        return is_unsigned ? (int64_t)tli_bits_u16(p) : (int64_t)(int16_t)tli_bits_u16(p);
    case 4:
        return is_unsigned ? (int64_t)tli_bits_u32(p) : (int64_t)(int32_t)tli_bits_u32(p);
    default:
        wide = tli_bits_u64(p);
        return is_unsigned && wide > INT64_MAX ? INT64_MAX : (int64_t)wide;
    }
}

TLI_FN tl_status tli_arrow_check_indices(const struct ArrowArray *a, const tl_type *type, tl_error *err)
{
    int64_t i;
    for (i = 0; i < a->length; i++) {
        int64_t index = tli_arrow_integer(type, a->buffers[1], a->offset + i);
        if ((index < 0 || index >= a->dictionary->length) && tli_arrow_valid(a, i))
            return tli_arrow_bad(err, "a dictionary index out of range");
    }
    return TL_OK;
}

/* The least length of each child, which must not be less. */
TLI_FN tl_status tli_arrow_check_children(const struct ArrowArray *a, int64_t each, tl_error *err)
{
    uint64_t need;
    int64_t i;
    if (!tli_bits_mul((uint64_t)(a->offset + a->length), (uint64_t)each, &need))
        need = UINT64_MAX;
    for (i = 0; i < a->n_children; i++)
        if (a->children[i]->length < 0 || need > (uint64_t)a->children[i]->length)
            return tli_arrow_bad(err, "a child is too short");
    return TL_OK;
}

TLI_FN tl_status tli_arrow_check_values(const struct ArrowArray *a, const tl_type *type, tl_error *err)
{
    tli_arrow_layout layout = tli_arrow_layout_of(type->id);
    int width = tli_arrow_offset_width(layout);
    tl_status st;
    switch (layout) {
    case TLI_ARROW_NULL:
        return TL_OK;
    case TLI_ARROW_BITS:
    case TLI_ARROW_FIXED:
        if (a->buffers[1] == NULL && a->length > 0 && (layout == TLI_ARROW_BITS || type->width > 0))
            return tli_arrow_bad(err, "an array lacks a buffer");
        return a->dictionary != NULL ? tli_arrow_check_indices(a, type, err) : TL_OK;
    case TLI_ARROW_BYTES:
    case TLI_ARROW_LARGE_BYTES:
        st = tli_arrow_check_offsets(a, width, -1, err);
        if (st == TL_OK && (type->id == TL_TYPE_UTF8 || type->id == TL_TYPE_LARGE_UTF8))
            st = tli_arrow_check_utf8(a, width, err);
        return st;
    case TLI_ARROW_VIEWS:
        return tli_arrow_check_views(a, type->id == TL_TYPE_UTF8_VIEW, err);
    case TLI_ARROW_LIST:
    case TLI_ARROW_LARGE_LIST:
        return a->children[0]->length < 0 ? tli_arrow_bad(err, "an array has a wrong length or offset")
                                          : tli_arrow_check_offsets(a, width, a->children[0]->length, err);
    default:
        return tli_arrow_check_children(a, layout == TLI_ARROW_FIXED_LIST ? type->size : 1, err);
    }
}

/* Checks an array from outside against its schema, which was checked: counts, offsets, texts, indices, nulls. The sizes
   of buffers cannot be seen through the interface and are believed. */
TLI_NOINLINE tl_status tli_arrow_array_check(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                             const tl_limits *limits, tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tli_arrow_walk w;
    int more;
    if (array == NULL || array->release == NULL)
        return tli_arrow_bad(err, "an array is missing or was released");
    if (array->length > 0 && (uint64_t)array->length > most.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", TL_NO_POSITION, (uint64_t)array->length);
    tli_arrow_walk_begin(&w, schema, array);
    while ((more = tli_arrow_walk_next(&w, most.depth)) > 0) {
        tl_type type;
        tl_status st = tl_type_of(w.schema, &type, err);
        if (st == TL_OK)
            st = tli_arrow_check_shape(&w, tli_arrow_layout_of(type.id), err);
        if (st == TL_OK)
            st = tli_arrow_check_nulls(&w, &type, err);
        if (st == TL_OK)
            st = tli_arrow_check_values(w.array, &type, err);
        if (st != TL_OK)
            return st;
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    return TL_OK;
}

/* ---- exports ---- */

TLI_FN void tli_arrow_array_release(struct ArrowArray *array)
{
    tli_arrow_place *place = (tli_arrow_place *)array->private_data;
    struct ArrowArray *nodes = (struct ArrowArray *)place->nodes;
    tli_arrow_block *block = place->block;
    tli_arrow_place *first = place - place->index;
    uint32_t i = place->index + 1, end = place->end;
    while (i < end) {
        if (nodes[i].release == NULL) { /* moved out with all below it, or released by itself */
            i = first[i].end;
            continue;
        }
        nodes[i++].release = NULL;
        tli_arrow_block_drop(block);
    }
    array->release = NULL;
    tli_arrow_block_drop(block);
}

/* 1 when an exported tree may point at this buffer: 8-aligned, and in memory that lives as long as the store. */
TLI_FN int tli_arrow_shared(const tli_store *store, const struct ArrowArray *a, const void *buffer)
{
    uintptr_t at = (uintptr_t)buffer, body = (uintptr_t)store->body;
    if (a->release != tli_arrow_array_stays || a->private_data != (const void *)store || (at & 7) != 0)
        return 0;
    return store->release != NULL || store->body == NULL || at < body || at - body >= store->body_size;
}

typedef struct tli_arrow_export_size {
    size_t nodes;
    size_t children;
    size_t buffers; /* entries of all buffers arrays */
    uint64_t copies;
    size_t head; /* bytes of nodes, places, children and buffers arrays */
} tli_arrow_export_size;

TLI_NOINLINE tl_status tli_arrow_export_measure(const tli_store *store, const struct ArrowSchema *schema,
                                          const struct ArrowArray *array, tli_arrow_export_size *size, tl_error *err)
{
    tli_arrow_walk w;
    int more;
    TLI_FILL(size, 0, sizeof *size);
    tli_arrow_walk_begin(&w, schema, array);
    while ((more = tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX)) > 0) {
        const struct ArrowArray *a = w.array;
        tl_type type;
        int64_t i;
        tl_status st = tl_type_of(w.schema, &type, err);
        if (st != TL_OK)
            return st;
        size->nodes++;
        size->children += (size_t)a->n_children;
        size->buffers += (size_t)a->n_buffers;
        for (i = 0; i < a->n_buffers; i++) {
            uint64_t bytes = tli_arrow_buffer_size(&type, a, i);
            if (bytes > SIZE_MAX / 8 || size->copies > SIZE_MAX / 8)
                return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
            if (bytes != 0 && !tli_arrow_shared(store, a, a->buffers[i]))
                size->copies += (bytes + 15) & ~(uint64_t)15;
        }
    }
    if (more < 0)
        return tli_err_need(err, TL_LIMIT, "limits.depth", TL_NO_POSITION, (uint64_t)w.depth + 1);
    size->head = size->nodes * (sizeof(struct ArrowArray) + sizeof(tli_arrow_place))
                 + (size->children + size->buffers) * sizeof(void *);
    size->head = tli_bits_round_up(size->head, TLI_MEM_ALIGN);
    return TL_OK;
}

/* One node's buffers: shared, copied to *copies, or zeros where nothing is read. An absent validity stays absent. */
TLI_FN void tli_arrow_export_buffers(const tli_store *store, const struct ArrowSchema *schema,
                                     const struct ArrowArray *from, const void **to, uint8_t **copies)
{
    static const uint64_t zeros[2] = {0, 0};
    tl_type type;
    int64_t i;
    (void)tl_type_of(schema, &type, NULL);
    for (i = 0; i < from->n_buffers; i++) {
        size_t bytes = (size_t)tli_arrow_buffer_size(&type, from, i);
        if (bytes == 0) {
            to[i] = i == 0 ? NULL : (const void *)zeros;
        } else if (tli_arrow_shared(store, from, from->buffers[i])) {
            to[i] = from->buffers[i];
        } else {
            TLI_COPY(*copies, from->buffers[i], bytes);
            to[i] = *copies;
            *copies += tli_bits_round_up(bytes, 16);
        }
    }
}

TLI_NOINLINE struct ArrowArray *tli_arrow_export_fill(tli_arrow_block *block, void *memory,
                                                      const tli_arrow_export_size *size,
                                                const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    struct ArrowArray *nodes = (struct ArrowArray *)memory;
    tli_arrow_place *places = (tli_arrow_place *)(void *)(nodes + size->nodes);
    struct ArrowArray **children = (struct ArrowArray **)(void *)(places + size->nodes);
    const void **buffers = (const void **)(void *)(children + size->children);
    uint8_t *copies = (uint8_t *)memory + size->head;
    tli_arrow_walk w;
    uint32_t n = 0, i;
    tli_arrow_walk_begin(&w, schema, array);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        struct ArrowArray *to = &nodes[n];
        *to = *w.array;
        tli_arrow_export_buffers(block->store, w.schema, w.array, buffers, &copies);
        if (to->n_buffers > 0 && buffers[0] == NULL)
            to->null_count = 0;
        if (to->length == 0)
            to->offset = 0;
        to->buffers = to->n_buffers > 0 ? buffers : NULL;
        buffers += to->n_buffers;
        to->release = tli_arrow_array_release;
        to->private_data = &places[n];
        places[n].block = block;
        places[n].nodes = nodes;
        places[n].index = n;
        places[n++].depth = w.depth;
    }
    tli_arrow_places_end(places, n);
    for (i = 0; i < n; i++) {
        uint32_t child = i + 1;
        int64_t k;
        nodes[i].children = nodes[i].n_children > 0 ? children : NULL;
        for (k = 0; k < nodes[i].n_children; k++, child = places[child].end)
            *children++ = &nodes[child];
        if (nodes[i].dictionary != NULL)
            nodes[i].dictionary = &nodes[child];
    }
    return nodes;
}

/* Hands out an array that was checked. The tree keeps the store, shares the buffers that may be shared, and has copies
   of the others, 16-aligned, in its own block. */
TLI_FN tl_status tli_arrow_export(tli_store *store, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  struct ArrowArray *out, tl_error *err)
{
    tli_arrow_export_size size;
    tli_arrow_block *block;
    void *memory;
    tl_status st;
    TLI_FILL(out, 0, sizeof *out);
    st = tli_arrow_export_measure(store, schema, array, &size, err);
    if (st != TL_OK)
        return st;
    if (size.copies > SIZE_MAX / 8 || size.nodes > INT32_MAX)
        return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    block = tli_arrow_block_new(&store->allocator, size.nodes, size.head + (size_t)size.copies, &memory, err);
    if (block == NULL)
        return tli_arrow_failed(err);
    tli_mem_store_keep(store);
    block->store = store;
    *out = *tli_arrow_export_fill(block, memory, &size, schema, array);
    return TL_OK;
}

/* >>value */
TLI_INLINE int64_t tli_value_signed(const void *value, int32_t width)
{
    switch (width) {
    case 1:
        return *(const int8_t *)value;
    case 2:
        return (int16_t)tli_bits_u16(value);
    case 4:
        return (int32_t)tli_bits_u32(value);
    default:
        return (int64_t)tli_bits_u64(value);
    }
}

TLI_INLINE uint64_t tli_value_unsigned(const void *value, int32_t width)
{
    switch (width) {
    case 1:
        return *(const uint8_t *)value;
    case 2:
        return tli_bits_u16(value);
    case 4:
        return tli_bits_u32(value);
    default:
        return tli_bits_u64(value);
    }
}

TLI_INLINE size_t tli_value_float(char *out, tl_type_id id, const void *value)
{
    float f;
    double d;
    if (id == TL_TYPE_FLOAT64) {
        TLI_COPY(&d, value, 8);
        return tli_number_f64(out, d);
    }
    if (id == TL_TYPE_FLOAT16)
        return tli_number_f32(out, tli_number_f16_to_f32(tli_bits_u16(value)));
    TLI_COPY(&f, value, 4);
    return tli_number_f32(out, f);
}

/* Intervals lie as months; days, milliseconds; months, days, nanoseconds. */
TLI_INLINE size_t tli_value_interval(char *out, tl_type_id id, const void *value)
{
    const uint8_t *p = (const uint8_t *)value;
    int32_t a = (int32_t)tli_bits_u32(p), b;
    if (id == TL_TYPE_INTERVAL_MONTHS)
        return tli_time_months(out, a);
    b = (int32_t)tli_bits_u32(p + 4);
    if (id == TL_TYPE_INTERVAL_DAY_TIME)
        return tli_time_interval(out, 0, a, b, TL_UNIT_MILLI);
    return tli_time_interval(out, a, b, (int64_t)tli_bits_u64(p + 8), TL_UNIT_NANO);
}

TL_API size_t tl_value_text(char *out, const tl_type *type, const void *value)
{
    tl_type_id id = type->id;
    if (id >= TL_TYPE_INT8 && id <= TL_TYPE_INT64)
        return tli_number_i64(out, tli_value_signed(value, type->width));
    if (id >= TL_TYPE_UINT8 && id <= TL_TYPE_UINT64)
        return tli_number_u64(out, tli_value_unsigned(value, type->width));
    if (id >= TL_TYPE_FLOAT16 && id <= TL_TYPE_FLOAT64)
        return tli_value_float(out, id, value);
    if (id >= TL_TYPE_DECIMAL32 && id <= TL_TYPE_DECIMAL256)
        return tli_number_decimal(out, value, type->width, type->scale);
    switch (id) {
    case TL_TYPE_DATE32:
        return tli_time_date(out, tli_value_signed(value, 4));
    case TL_TYPE_DATE64:
        return tli_time_stamp(out, tli_value_signed(value, 8), TL_UNIT_MILLI, tli_text_span(NULL, 0));
    case TL_TYPE_TIME32:
    case TL_TYPE_TIME64:
        return tli_time_clock(out, tli_value_signed(value, type->width), type->unit);
    case TL_TYPE_TIMESTAMP:
        return tli_time_stamp(out, tli_value_signed(value, 8), type->unit, type->zone);
    case TL_TYPE_DURATION:
        return tli_time_duration(out, tli_value_signed(value, 8), type->unit);
    case TL_TYPE_INTERVAL_MONTHS:
    case TL_TYPE_INTERVAL_DAY_TIME:
    case TL_TYPE_INTERVAL_MONTH_DAY_NANO:
        return tli_value_interval(out, id, value);
    default:
        return 0;
    }
}

/* >>build: arrays of exactly the size of what goes in, made in two passes: count, allocate, fill.

   A builder has a node per node of the schema, parents first, so that node + 1 is a node's first child and
   node + node->span its next sibling (a dictionary comes after the children). The first pass calls tli_build_count...
   for every value of every node, the second one tli_build_... with the same values in the same order. */
typedef struct tli_build_node {
    const struct ArrowSchema *schema;
    tl_type type;
    tli_arrow_layout layout;
    uint32_t span;        /* nodes of the subtree, this one included */
    uint32_t up;          /* the parent is node - up; 0: the root */
    int is_dictionary;    /* of its parent */
    uint64_t least;       /* bytes of a value count in `bytes` when more than this: views keep 12 inside */
    uint64_t length;      /* counted in the first pass */
    uint64_t nulls;
    uint64_t bytes;
    uint64_t fillers;     /* of length: values below a null parent, there to keep places */
    uint64_t at;          /* filled in the second */
    uint64_t bytes_at;
    uint64_t times;       /* scratch */
    uint8_t *validity;    /* all ones at first; NULL when no null was counted */
    uint8_t *values;      /* bits, values, offsets or views; all zeros at first */
    uint8_t *data;        /* bytes of variable-size values, and at least 16 to spare */
    struct ArrowArray *array;
} tli_build_node;

typedef struct tli_build_tree {
    tli_store *store;
    tli_build_node *nodes; /* the root first */
    uint32_t count;
} tli_build_tree;

/* Finds span and up from the depths, which were left in `times`. */
TLI_FN void tli_build_link(tli_build_node *nodes, uint32_t n)
{
    uint32_t i = n;
    while (i-- > 0) {
        uint32_t j = i + 1;
        while (j < n && nodes[j].times > nodes[i].times) {
            if (nodes[j].times == nodes[i].times + 1)
                nodes[j].up = j - i;
            j += nodes[j].span;
        }
        nodes[i].span = j - i;
    }
}

/* A builder for a schema, in the store. Checks the schema. */
TLI_FN tl_status tli_build_begin(tli_store *store, const struct ArrowSchema *schema, const tl_limits *limits,
                                 tli_build_tree **builder, tl_error *err)
{
    tli_arrow_walk w;
    tli_build_tree *b;
    uint32_t n = 0, nodes = 0;
    tl_status st = tli_arrow_schema_check(schema, limits, &nodes, err);
    if (st != TL_OK)
        return st;
    b = (tli_build_tree *)tli_mem_take_zero(store, sizeof *b, err);
    if (b == NULL)
        return tli_arrow_failed(err);
    b->store = store;
    b->count = nodes;
    b->nodes = (tli_build_node *)tli_mem_take_array(store, nodes, sizeof *b->nodes, err);
    if (b->nodes == NULL)
        return tli_arrow_failed(err);
    tli_arrow_walk_begin(&w, schema, NULL);
    while (n < nodes && tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        tli_build_node *node = &b->nodes[n++];
        node->schema = w.schema;
        node->times = w.depth;
        node->is_dictionary = w.parent != NULL && w.parent->dictionary == w.schema;
        (void)tl_type_of(w.schema, &node->type, NULL);
        node->layout = tli_arrow_layout_of(node->type.id);
        node->least = node->layout == TLI_ARROW_VIEWS ? 12 : 0;
    }
    tli_build_link(b->nodes, nodes);
    *builder = b;
    return TL_OK;
}

/* ---- the first pass ---- */

/* A value of fixed size, a list, a struct: counts only itself. */
TLI_INLINE void tli_build_count(tli_build_node *node)
{
    node->length++;
}

TLI_INLINE void tli_build_count_bytes(tli_build_node *node, size_t size)
{
    node->length++;
    node->bytes += size > node->least ? size : 0;
}

#define TLI_BUILD_MANY ((uint64_t)1 << 56)

/* How many places a node takes below a null, from those of its parent; none in lists and dictionaries. */
TLI_FN uint64_t tli_build_times(const tli_build_node *node)
{
    const tli_build_node *parent = node - node->up;
    uint64_t times;
    if (node->is_dictionary)
        return 0;
    if (parent->layout == TLI_ARROW_STRUCT)
        return parent->times;
    if (parent->layout != TLI_ARROW_FIXED_LIST)
        return 0;
    return tli_bits_mul(parent->times, (uint64_t)parent->type.size, &times) && times < TLI_BUILD_MANY ? times
        : TLI_BUILD_MANY;
}

TLI_FN void tli_build_count_below(tli_build_node *node)
{
    uint32_t i;
    node->times = 1;
    for (i = 1; i < node->span;) {
        tli_build_node *n = node + i;
        n->times = tli_build_times(n);
        if (n->times == 0) {
            i += n->span;
            continue;
        }
        n->fillers = TLI_MIN(n->fillers + n->times, TLI_BUILD_MANY);
        n->length = TLI_MIN(n->length + n->times, TLI_BUILD_MANY);
        n->nulls = TLI_MIN(n->nulls + n->times, TLI_BUILD_MANY);
        i++;
    }
}

/* A null; below a struct or fixed-size list it takes places in the children too. */
TLI_INLINE void tli_build_count_null(tli_build_node *node)
{
    node->length++;
    node->nulls++;
    if (node->layout >= TLI_ARROW_FIXED_LIST)
        tli_build_count_below(node);
}

/* ---- memory ---- */

/* What a row may cost by fillers alone: so that a few nulls of a huge fixed-size list take nothing. */
#define TLI_BUILD_FILLERS 4096u

TLI_FN tl_status tli_build_check(const tli_build_tree *b, tl_error *err)
{
    uint32_t i;
    for (i = 0; i < b->count; i++) {
        const tli_build_node *n = &b->nodes[i], *parent = n - n->up;
        uint64_t most = n->layout == TLI_ARROW_BYTES || n->layout == TLI_ARROW_VIEWS ? n->bytes : 0;
        if (n->layout == TLI_ARROW_LIST)
            most = n[1].length;
        if (most > INT32_MAX)
            return tli_err(err, TL_UNSUPPORTED, "more than 2 GiB or values in a column of 32-bit offsets",
                           TL_NO_POSITION);
        if (n->fillers / TLI_BUILD_FILLERS > b->nodes[0].length + 256)
            return tli_err(err, TL_LIMIT, "nulls of a fixed-size list take too much", TL_NO_POSITION);
        if (n->up != 0 && !n->is_dictionary && (parent->layout == TLI_ARROW_STRUCT
                                                || parent->layout == TLI_ARROW_FIXED_LIST)
            && n->length != parent->length * (parent->layout == TLI_ARROW_STRUCT ? 1 : (uint64_t)parent->type.size))
            return tli_err(err, TL_CORRUPT, "a value has too few or too many parts", TL_NO_POSITION);
    }
    return TL_OK;
}

TLI_FN tl_status tli_build_allocate_node(tli_store *store, tli_build_node *n, tl_error *err)
{
    uint64_t bits = (n->length + 7) / 8, count = n->length;
    size_t width = (size_t)tli_arrow_offset_width(n->layout);
    if (n->nulls > 0 && n->layout != TLI_ARROW_NULL) {
        n->validity = (uint8_t *)tli_mem_take_array(store, bits, 1, err);
        if (n->validity == NULL)
            return tli_arrow_failed(err);
        TLI_FILL(n->validity, 0xff, (size_t)bits);
        if (n->length % 8 != 0)
            n->validity[bits - 1] = (uint8_t)((1u << (n->length % 8)) - 1);
    }
    if (n->layout == TLI_ARROW_NULL || n->layout == TLI_ARROW_STRUCT || n->layout == TLI_ARROW_FIXED_LIST)
        return TL_OK;
    if (n->layout == TLI_ARROW_BITS)
        width = 1, count = bits;
    else if (n->layout == TLI_ARROW_FIXED)
        width = (size_t)n->type.width;
    else if (n->layout == TLI_ARROW_VIEWS)
        width = 16;
    else
        count++;
    n->values = (uint8_t *)tli_mem_take_array(store, count, width, err);
    if (n->values == NULL)
        return tli_arrow_failed(err);
    if (n->layout == TLI_ARROW_BYTES || n->layout == TLI_ARROW_LARGE_BYTES || n->layout == TLI_ARROW_VIEWS) {
        size_t bytes;
        if (!tli_bits_size(n->bytes, &bytes))
            return tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        n->data = (uint8_t *)tli_mem_take(store, bytes + 16, err);
        if (n->data == NULL)
            return tli_arrow_failed(err);
        TLI_FILL(n->data + bytes, 0, 16);
    }
    return TL_OK;
}

/* Between the passes: all memory at its exact size. */
TLI_FN tl_status tli_build_allocate(tli_build_tree *b, tl_error *err)
{
    uint32_t i;
    tl_status st = tli_build_check(b, err);
    for (i = 0; st == TL_OK && i < b->count; i++)
        st = tli_build_allocate_node(b->store, &b->nodes[i], err);
    return st;
}

/* ---- the second pass ---- */

TLI_INLINE void tli_build_bool(tli_build_node *node, int value)
{
    TLI_ASSERT(node->at < node->length);
    if (value)
        tli_bits_set(node->values, node->at);
    node->at++;
}

TLI_INLINE void tli_build_8(tli_build_node *node, uint8_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 1);
    node->values[node->at++] = value;
}

TLI_INLINE void tli_build_16(tli_build_node *node, uint16_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 2);
    tli_bits_put16(node->values + 2 * (size_t)node->at++, value);
}

TLI_INLINE void tli_build_32(tli_build_node *node, uint32_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 4);
    tli_bits_put32(node->values + 4 * (size_t)node->at++, value);
}

TLI_INLINE void tli_build_64(tli_build_node *node, uint64_t value)
{
    TLI_ASSERT(node->at < node->length && node->type.width == 8);
    tli_bits_put64(node->values + 8 * (size_t)node->at++, value);
}

/* An integer, date, time, ... of 1 to 8 bytes, cut to the width of the type. */
TLI_INLINE void tli_build_integer(tli_build_node *node, int64_t value)
{
    if (node->type.width == 8)
        tli_build_64(node, (uint64_t)value);
    else if (node->type.width == 4)
        tli_build_32(node, (uint32_t)value);
    else if (node->type.width == 2)
        tli_build_16(node, (uint16_t)value);
    else
        tli_build_8(node, (uint8_t)value);
}

/* type.width bytes, as they are. */
TLI_INLINE void tli_build_fixed(tli_build_node *node, const void *value)
{
    size_t width = (size_t)node->type.width;
    TLI_ASSERT(node->at < node->length && node->layout == TLI_ARROW_FIXED);
    if (width != 0)
        TLI_COPY(node->values + node->at * width, value, width);
    node->at++;
}

/* Where the bytes of the next text or binary value go, or of a fixed-size one; then tli_build_done says how many. */
TLI_INLINE uint8_t *tli_build_room(tli_build_node *node)
{
    return node->layout == TLI_ARROW_FIXED ? node->values + node->at * (size_t)node->type.width
        : node->data + node->bytes_at;
}

TLI_INLINE void tli_build_done(tli_build_node *node, size_t size)
{
    TLI_ASSERT(node->at < node->length && (node->layout == TLI_ARROW_FIXED || size <= node->least
                                           || size <= node->bytes - node->bytes_at));
    if (node->layout == TLI_ARROW_BYTES) {
        node->bytes_at += size;
        tli_bits_put32(node->values + 4 * (size_t)node->at + 4, (uint32_t)node->bytes_at);
    } else if (node->layout == TLI_ARROW_LARGE_BYTES) {
        node->bytes_at += size;
        tli_bits_put64(node->values + 8 * (size_t)node->at + 8, node->bytes_at);
    } else if (node->layout == TLI_ARROW_VIEWS) {
        uint8_t *view = node->values + 16 * (size_t)node->at;
        tli_bits_put32(view, (uint32_t)size);
        TLI_COPY(view + 4, node->data + node->bytes_at, size <= 12 ? size : 4u);
        if (size > 12) {
            tli_bits_put32(view + 12, (uint32_t)node->bytes_at);
            node->bytes_at += size;
        }
    }
    node->at++;
}

TLI_INLINE void tli_build_bytes(tli_build_node *node, const void *data, size_t size)
{
    if (size != 0)
        TLI_COPY(tli_build_room(node), data, size);
    tli_build_done(node, size);
}

/* The end of a list, map, fixed-size list or struct, whose parts were put before. */
TLI_INLINE void tli_build_end(tli_build_node *node)
{
    TLI_ASSERT(node->at < node->length);
    if (node->layout == TLI_ARROW_LIST)
        tli_bits_put32(node->values + 4 * (size_t)node->at + 4, (uint32_t)node[1].at);
    else if (node->layout == TLI_ARROW_LARGE_LIST)
        tli_bits_put64(node->values + 8 * (size_t)node->at + 8, node[1].at);
    node->at++;
}

/* `times` nulls in one node alone. */
TLI_FN void tli_build_nulls(tli_build_node *n, uint64_t times)
{
    int width = tli_arrow_offset_width(n->layout);
    uint64_t end = n->layout == TLI_ARROW_LIST || n->layout == TLI_ARROW_LARGE_LIST ? n[1].at : n->bytes_at;
    TLI_ASSERT(times <= n->length - n->at);
    for (; times > 0; times--) {
        if (n->validity != NULL)
            n->validity[n->at >> 3] = (uint8_t)(n->validity[n->at >> 3] & ~(1u << (n->at & 7)));
        n->at++;
        if (width == 4)
            tli_bits_put32(n->values + 4 * (size_t)n->at, (uint32_t)end);
        else if (width == 8)
            tli_bits_put64(n->values + 8 * (size_t)n->at, end);
    }
}

TLI_FN void tli_build_null(tli_build_node *node)
{
    uint32_t i;
    tli_build_nulls(node, 1);
    if (node->layout < TLI_ARROW_FIXED_LIST)
        return;
    node->times = 1;
    for (i = 1; i < node->span;) {
        tli_build_node *n = node + i;
        n->times = tli_build_times(n);
        tli_build_nulls(n, n->times);
        i += n->times == 0 ? n->span : 1;
    }
}

TLI_FN tl_status tli_build_finish_node(tli_store *store, tli_build_node *n, tl_error *err)
{
    int64_t buffers = tli_arrow_layout_buffers(n->layout) + (n->layout == TLI_ARROW_VIEWS && n->bytes > 0);
    struct ArrowArray *a = tli_arrow_array_new(store, buffers, n->schema->n_children, err);
    if (a == NULL)
        return tli_arrow_failed(err);
    a->length = (int64_t)n->length;
    a->null_count = n->layout == TLI_ARROW_NULL ? a->length : (int64_t)n->nulls;
    if (buffers > 0)
        a->buffers[0] = n->validity;
    if (buffers > 1)
        a->buffers[1] = n->values;
    if (n->layout == TLI_ARROW_VIEWS) {
        uint8_t *sizes = (uint8_t *)tli_mem_take(store, 8, err);
        if (sizes == NULL)
            return tli_arrow_failed(err);
        tli_bits_put64(sizes, n->bytes);
        if (n->bytes > 0)
            a->buffers[2] = n->data;
        a->buffers[buffers - 1] = sizes;
    } else if (buffers > 2) {
        a->buffers[2] = n->data;
    }
    n->array = a;
    n->times = 0; /* children linked so far */
    return TL_OK;
}

/* The array of the whole schema, in the store. */
TLI_FN tl_status tli_build_finish(tli_build_tree *b, struct ArrowArray **array, tl_error *err)
{
    uint32_t i;
    for (i = 0; i < b->count; i++) {
        tli_build_node *n = &b->nodes[i], *parent = n - n->up;
        tl_status st;
        if (n->at != n->length || (n->data != NULL && n->bytes_at != n->bytes))
            return tli_err(err, TL_MISUSE, "a builder was filled with other values than counted", TL_NO_POSITION);
        st = tli_build_finish_node(b->store, n, err);
        if (st != TL_OK)
            return st;
        if (n->is_dictionary)
            parent->array->dictionary = n->array;
        else if (n->up != 0)
            parent->array->children[parent->times++] = n->array;
    }
    *array = b->nodes[0].array;
    return TL_OK;
}

/* >>ipc: Arrow IPC streams (arrow.apache.org, "Columnar format"; Message.fbs, Schema.fbs). */
#ifndef TIMELAKE_NO_HEAD_ARROW
#define TLI_IPC_LIST_TYPE(id) ((id) == TL_TYPE_LIST || (id) == TL_TYPE_LARGE_LIST || (id) == TL_TYPE_MAP)
#define TLI_IPC_VIEW_TYPE(id) ((id) == TL_TYPE_UTF8_VIEW || (id) == TL_TYPE_BINARY_VIEW)
#define TLI_IPC_WIDE_OFFSETS(id)                                                                                       \
    ((id) == TL_TYPE_LARGE_UTF8 || (id) == TL_TYPE_LARGE_BINARY || (id) == TL_TYPE_LARGE_LIST)
#define TLI_IPC_TEXT_TYPE(id) ((id) == TL_TYPE_UTF8 || (id) == TL_TYPE_LARGE_UTF8)

/* ---- layout: a schema as a list ---- */

/* Field after field, parents first; the values of a dictionary column come behind it as if they were its child. */
typedef struct tli_ipc_node {
    const struct ArrowSchema *schema;
    int32_t parent;   /* -1: a column */
    int32_t end;      /* behind its last descendant */
    int32_t place;    /* which child of its parent; n_children: its dictionary */
    int32_t ordinal;  /* among the nodes of its record */
    int32_t buffers;  /* of the nodes before it in its record, those of views that vary not counted */
    int32_t views;    /* nodes before it in its record that are views */
    int32_t encoding; /* dictionary columns: which one of the schema, from 0; else -1 */
    int32_t width;    /* of tl_type */
    int32_t size;
    tl_type_id id;
} tli_ipc_node;

/* What travels in one message: the columns of a batch, or the values of a dictionary. */
typedef struct tli_ipc_record {
    int32_t first, end; /* its nodes and the dictionaries among them */
    int32_t nodes, buffers, views;
} tli_ipc_record;

typedef struct tli_ipc_layout {
    tli_ipc_node *nodes;
    tli_ipc_record *encodings;
    tli_ipc_record columns;
    int32_t count;
    int32_t encoding_count;
} tli_ipc_layout;

/* The node behind node i in the same record. */
TLI_INLINE int32_t tli_ipc_step(const tli_ipc_layout *l, int32_t i)
{
    return l->nodes[i].encoding >= 0 ? l->nodes[i].end : i + 1;
}

/* How many buffers a node has on the wire, those of views that vary not counted. */
TLI_FN int32_t tli_ipc_buffers(tl_type_id id)
{
    if (id == TL_TYPE_NULL)
        return 0;
    if (id == TL_TYPE_STRUCT || id == TL_TYPE_FIXED_LIST)
        return 1;
    return TLI_IPC_TEXT_TYPE(id) || id == TL_TYPE_BINARY || id == TL_TYPE_LARGE_BINARY ? 3 : 2;
}

TLI_FN tl_status tli_ipc_node_fill(tli_ipc_node *node, const struct ArrowSchema *schema, tl_error *err)
{
    tl_type type;
    tl_status st = tl_type_of(schema, &type, err);
    node->schema = schema;
    node->encoding = -1;
    if (st != TL_OK)
        return st;
    node->id = type.id;
    node->width = type.width;
    node->size = type.size;
    return TL_OK;
}

/* Fills l->nodes, which has room for all nodes of a checked schema but the root. */
TLI_FN tl_status tli_ipc_list(tli_ipc_layout *l, const struct ArrowSchema *root, tl_error *err)
{
    int32_t at = -1, n = 0; /* the node whose children are taken, and how many there are */
    int64_t column = 0;
    l->encoding_count = 0;
    for (;;) {
        const struct ArrowSchema *s = at < 0 ? root : l->nodes[at].schema;
        int64_t next = at < 0 ? column++ : l->nodes[at].ordinal++; /* until it is numbered: children taken */
        tli_ipc_node *node;
        tl_status st;
        if (next >= s->n_children + (s->dictionary != NULL)) {
            if (at < 0)
                break;
            l->nodes[at].end = n;
            at = l->nodes[at].parent;
            continue;
        }
        node = &l->nodes[n];
        TLI_FILL(node, 0, sizeof *node);
        st = tli_ipc_node_fill(node, next < s->n_children ? s->children[next] : s->dictionary, err);
        if (st != TL_OK)
            return st;
        node->parent = at;
        node->place = (int32_t)next;
        if (node->schema->dictionary != NULL)
            node->encoding = l->encoding_count++;
        at = n++;
    }
    l->count = n;
    return TL_OK;
}

TLI_FN void tli_ipc_number(tli_ipc_layout *l, tli_ipc_record *record, int32_t first, int32_t end)
{
    int32_t i;
    TLI_FILL(record, 0, sizeof *record);
    record->first = first;
    record->end = end;
    for (i = first; i < end; i = tli_ipc_step(l, i)) {
        tli_ipc_node *node = &l->nodes[i];
        node->ordinal = record->nodes++;
        node->buffers = record->buffers;
        node->views = record->views;
        record->buffers += tli_ipc_buffers(node->id);
        record->views += TLI_IPC_VIEW_TYPE(node->id);
    }
}

/* Numbers what tli_ipc_list listed; l->encodings has room. */
TLI_FN void tli_ipc_records(tli_ipc_layout *l)
{
    int32_t i;
    tli_ipc_number(l, &l->columns, 0, l->count);
    for (i = 0; i < l->count; i++)
        if (l->nodes[i].encoding >= 0)
            tli_ipc_number(l, &l->encodings[l->nodes[i].encoding], i + 1, l->nodes[i].end);
}

/* ---- streams ---- */

enum { TLI_IPC_PLAIN, TLI_IPC_LZ4, TLI_IPC_ZSTD };
enum { TLI_IPC_SCHEMA = 1, TLI_IPC_DICTIONARY = 2, TLI_IPC_BATCH = 3 };

/* A record batch or a dictionary batch. The vectors are checked to lie in the metadata; what they say is not. */
typedef struct tli_ipc_message {
    const uint8_t *nodes;     /* int64 length and null count each */
    const uint8_t *buffers;   /* int64 offset and length each */
    const uint32_t *variadic; /* of view k: buffers before it that vary; one more at the end. NULL: none */
    const uint8_t *body;
    uint64_t body_size;
    uint64_t position; /* of the metadata, in the object */
    int64_t rows;
    struct ArrowArray *values; /* of a dictionary, once decoded: the state this message leads to */
    int32_t dictionary;        /* -1: a batch */
    int32_t base;              /* of a dictionary: the state (in `states`) that this one and its deltas began with */
    uint8_t codec;
    uint8_t delta;
} tli_ipc_message;

typedef struct tli_ipc_dictionary {
    int64_t id;
    int32_t encoding;          /* the first that uses it */
    int32_t first, end;        /* its states */
    struct ArrowArray *absent; /* no values: for batches before any state */
} tli_ipc_dictionary;

typedef struct tli_ipc_batch {
    int64_t rows;
    int32_t message;
} tli_ipc_batch;

/* A dictionary whose values are decoded once those of the dictionaries inside of them are. */
typedef struct tli_ipc_want {
    int32_t first, end, node;       /* its record, and how far it was looked through */
    int32_t dictionary;
    int32_t base, state, last;      /* its states, and the one looked at; -1: without any */
    const tli_ipc_message *message; /* of that state */
} tli_ipc_want;

/* Read schema, batch_count and batches[].rows; the rest is private. Everything lies in the store. */
struct tli_ipc_stream {
    const struct ArrowSchema *schema;
    int32_t batch_count;
    tli_ipc_batch *batches;
    tli_store *store;
    tl_limits limits;
    tl_compression compression;
    const uint8_t *bytes;
    size_t size;
    uint64_t position;
    tli_ipc_layout layout;
    int32_t *columns; /* their nodes */
    int64_t *ids;     /* of each encoding */
    int32_t id_count, id_capacity;
    int32_t *encodings; /* which dictionary each has */
    tli_ipc_dictionary *dictionaries;
    int32_t dictionary_count;
    tli_ipc_message *messages;
    int32_t message_count;
    int32_t *states;            /* dictionary messages, by dictionary, then in order */
    struct ArrowArray **arrays; /* scratch: the nodes of one record */
    tli_ipc_want *wants;        /* scratch: dictionaries being decoded, the inner ones last */
    void *work;                 /* of the zstd decoder while a record is decoded */
};
typedef struct tli_ipc_stream tli_ipc_stream;

/* Where a byte of the stream lies in the object. */
TLI_INLINE uint64_t tli_ipc_where(const tli_ipc_stream *s, const uint8_t *p)
{
    return s->position + (uint64_t)(p - s->bytes);
}

/* ---- the schema message ---- */

typedef struct tli_ipc_level {
    struct ArrowSchema *schema;
    tli_flatbuf_vector fields;
    uint32_t next;
    uint32_t depth;
} tli_ipc_level;

typedef struct tli_ipc_reader {
    tli_ipc_stream *stream;
    tli_flatbuf *in;
    uint64_t position;
    uint64_t text; /* bytes of names and metadata that may still be copied */
    uint32_t nodes;
} tli_ipc_reader;

TLI_FN tl_status tli_ipc_bad(const tli_ipc_reader *r, const char *text, tl_error *err)
{
    return tli_err(err, TL_CORRUPT, text, r->position);
}

/* A text of the schema: UTF-8, and no more of it in all than the message can honestly hold (offsets may meet). */
TLI_FN tl_status tli_ipc_read_text(tli_ipc_reader *r, tl_span text, tl_error *err)
{
    if (text.size > r->text)
        return tli_err(err, TL_LIMIT, "the texts of an Arrow schema are used too often", r->position);
    r->text -= text.size;
    if (tli_text_utf8(text.data, text.size) != text.size)
        return tli_ipc_bad(r, "a text of an Arrow schema is not UTF-8", err);
    return TL_OK;
}

TLI_FN tl_status tli_ipc_read_pairs(tli_ipc_reader *r, const tli_flatbuf_table *t, uint32_t id,
                                    struct ArrowSchema *schema, tl_error *err)
{
    tli_flatbuf_vector list = tli_flatbuf_list(t, id, 4);
    tl_span *keys, *values;
    uint32_t i;
    if (list.count == 0)
        return TL_OK;
    if (list.count > r->text / 8)
        return tli_err(err, TL_LIMIT, "the texts of an Arrow schema are used too often", r->position);
    r->text -= (uint64_t)list.count * 8;
    keys = (tl_span *)tli_mem_take_array(r->stream->store, (uint64_t)list.count * 2, sizeof *keys, err);
    if (keys == NULL)
        return err->status;
    values = keys + list.count;
    for (i = 0; i < list.count; i++) {
        tli_flatbuf_table pair = tli_flatbuf_item(r->in, &list, i);
        tl_status st;
        keys[i] = tli_flatbuf_text(&pair, 0);
        values[i] = tli_flatbuf_text(&pair, 1);
        st = tli_ipc_read_text(r, keys[i], err);
        if (st == TL_OK)
            st = tli_ipc_read_text(r, values[i], err);
        if (st != TL_OK)
            return st;
    }
    if (r->in->bad)
        return tli_ipc_bad(r, "the metadata of an Arrow field is malformed", err);
    return tli_arrow_schema_metadata(r->stream->store, schema, keys, values, (int32_t)list.count, err);
}

TLI_FN tl_status tli_ipc_type_int(const tli_ipc_reader *r, const tli_flatbuf_table *t, tl_type *type, tl_error *err)
{
    int32_t width = tli_flatbuf_i32(t, 0, 0), step = 0;
    int is_signed = tli_flatbuf_u8(t, 1, 0) != 0;
    while (step < 4 && width != 8 << step)
        step++;
    if (step == 4)
        return tli_ipc_bad(r, "an Arrow integer of a wrong width", err);
    type->id = (tl_type_id)((int)(is_signed ? TL_TYPE_INT8 : TL_TYPE_UINT8) + step);
    return TL_OK;
}

TLI_FN tl_status tli_ipc_type_decimal(const tli_ipc_reader *r, const tli_flatbuf_table *t, tl_type *type, tl_error *err)
{
    static const int32_t most[] = {9, 18, 38, 76};
    int32_t width = tli_flatbuf_i32(t, 2, 128), step = 0;
    type->precision = tli_flatbuf_i32(t, 0, 0);
    type->scale = tli_flatbuf_i32(t, 1, 0);
    while (step < 4 && width != 32 << step)
        step++;
    if (step == 4 || type->precision < 1 || type->precision > most[step])
        return tli_ipc_bad(r, "an Arrow decimal of a wrong width or precision", err);
    type->id = (tl_type_id)((int)TL_TYPE_DECIMAL32 + step);
    return TL_OK;
}

/* Times, dates, intervals: `wire` is the number in the Type union. */
TLI_FN tl_status tli_ipc_type_time(const tli_ipc_reader *r, uint8_t wire, const tli_flatbuf_table *t, tl_type *type,
                                   tl_error *err)
{
    int unit = tli_flatbuf_i16(t, 0, wire == 10 || wire == 11 ? 0 : 1); /* the defaults of Schema.fbs */
    int most = wire == 8 ? 1 : wire == 11 ? 2 : 3;
    if (unit < 0 || unit > most)
        return tli_ipc_bad(r, "an unknown unit of time", err);
    type->unit = (tl_unit)unit;
    if (wire == 8) {
        type->id = unit == 0 ? TL_TYPE_DATE32 : TL_TYPE_DATE64;
    } else if (wire == 9) {
        type->id = unit < 2 ? TL_TYPE_TIME32 : TL_TYPE_TIME64;
        if (tli_flatbuf_i32(t, 1, 32) != (unit < 2 ? 32 : 64))
            return tli_ipc_bad(r, "an Arrow time of a wrong width", err);
    } else if (wire == 10) {
        type->id = TL_TYPE_TIMESTAMP;
        type->zone = tli_flatbuf_text(t, 1);
        if (type->zone.size == 0)
            type->zone.data = NULL;
    } else if (wire == 11) {
        type->id = (tl_type_id)((int)TL_TYPE_INTERVAL_MONTHS + unit);
    } else {
        type->id = TL_TYPE_DURATION;
    }
    return TL_OK;
}

/* The type of a field: member 2 says which table member 3 is. *children: how many it must have, -1: any number. */
TLI_FN tl_status tli_ipc_read_type(tli_ipc_reader *r, const tli_flatbuf_table *field, tl_type *type, int64_t *flags,
                                   tl_error *err)
{
    uint8_t wire = tli_flatbuf_u8(field, 2, 0);
    tli_flatbuf_table t = tli_flatbuf_child(field, 3);
    static const tl_type_id simple[] = {
        TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_BINARY,
        TL_TYPE_UTF8, TL_TYPE_BOOL, TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_NULL,
        TL_TYPE_NULL, TL_TYPE_NULL, TL_TYPE_LIST, TL_TYPE_STRUCT, TL_TYPE_NULL,
        TL_TYPE_FIXED_BINARY, TL_TYPE_FIXED_LIST, TL_TYPE_MAP, TL_TYPE_NULL, TL_TYPE_LARGE_BINARY,
        TL_TYPE_LARGE_UTF8, TL_TYPE_LARGE_LIST, TL_TYPE_NULL, TL_TYPE_BINARY_VIEW, TL_TYPE_UTF8_VIEW};
    TLI_FILL(type, 0, sizeof *type);
    switch (wire) {
    case 2:
        return tli_ipc_type_int(r, &t, type, err);
    case 3:
        type->id = (tl_type_id)((int)TL_TYPE_FLOAT16 + tli_flatbuf_i16(&t, 0, 0));
        if (type->id < TL_TYPE_FLOAT16 || type->id > TL_TYPE_FLOAT64)
            return tli_ipc_bad(r, "an Arrow float of an unknown precision", err);
        return TL_OK;
    case 7:
        return tli_ipc_type_decimal(r, &t, type, err);
    case 8: case 9: case 10: case 11: case 18:
        return tli_ipc_type_time(r, wire, &t, type, err);
    case 14:
        return tli_err(err, TL_UNSUPPORTED, "a union in an Arrow schema", r->position);
    case 22:
        return tli_err(err, TL_UNSUPPORTED, "run-end encoding in an Arrow schema", r->position);
    case 25: case 26:
        return tli_err(err, TL_UNSUPPORTED, "a list view in an Arrow schema", r->position);
    case 0:
        return tli_ipc_bad(r, "an Arrow field without a type", err);
    default:
        if (wire >= TLI_COUNT(simple))
            return tli_err(err, TL_UNSUPPORTED, "an unknown type in an Arrow schema", r->position);
    }
    type->id = simple[wire];
    if (wire == 15 || wire == 16)
        type->size = tli_flatbuf_i32(&t, 0, 0);
    if (type->size < 0)
        return tli_ipc_bad(r, "an Arrow type of negative size", err);
    if (wire == 17 && tli_flatbuf_u8(&t, 0, 0) != 0)
        *flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    return TL_OK;
}

TLI_FN struct ArrowSchema *tli_ipc_new_schema(tli_ipc_reader *r, const tl_type *type, tl_span name, int64_t flags,
                                              uint32_t children, tl_error *err)
{
    const char *format = NULL;
    if (r->nodes >= r->stream->limits.columns || children > r->stream->limits.columns) {
        (void)tli_err_need(err, TL_LIMIT, "limits.columns", r->position, TLI_MAX((uint64_t)r->nodes + 1, children));
        return NULL;
    }
    r->nodes++;
    if (tli_ipc_read_text(r, type->zone, err) != TL_OK
        || tli_arrow_format(r->stream->store, type, &format, err) != TL_OK)
        return NULL;
    return tli_arrow_schema_new(r->stream->store, format, name, flags, children, err);
}

/* Notes the dictionary id of the next encoding. */
TLI_FN tl_status tli_ipc_read_id(tli_ipc_stream *s, int64_t id, tl_error *err)
{
    if (s->id_count == s->id_capacity) {
        int32_t capacity = s->id_capacity == 0 ? 4 : s->id_capacity * 2;
        int64_t *ids = (int64_t *)tli_mem_take_array(s->store, (uint64_t)capacity, sizeof *ids, err);
        if (ids == NULL)
            return err->status;
        if (s->id_count != 0)
            TLI_COPY(ids, s->ids, (size_t)s->id_count * sizeof *ids);
        s->ids = ids;
        s->id_capacity = capacity;
    }
    s->ids[s->id_count++] = id;
    return TL_OK;
}

/* The node of a dictionary column: the type of its indices. */
TLI_FN tl_status tli_ipc_read_indices(tli_ipc_reader *r, const tli_flatbuf_table *encoding, tl_span name, int64_t flags,
                                      struct ArrowSchema **out, tl_error *err)
{
    tli_flatbuf_table t = tli_flatbuf_child(encoding, 1);
    tl_type type;
    tl_status st = TL_OK;
    TLI_FILL(&type, 0, sizeof type);
    type.id = TL_TYPE_INT32;
    if (t.at != 0)
        st = tli_ipc_type_int(r, &t, &type, err);
    if (st == TL_OK)
        st = tli_ipc_read_id(r->stream, tli_flatbuf_i64(encoding, 0, 0), err);
    if (st != TL_OK)
        return st;
    if (tli_flatbuf_i16(encoding, 3, 0) != 0)
        return tli_err(err, TL_UNSUPPORTED, "a dictionary of an unknown kind in an Arrow schema", r->position);
    if (tli_flatbuf_u8(encoding, 2, 0) != 0)
        flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    *out = tli_ipc_new_schema(r, &type, name, flags, 0, err);
    return *out == NULL ? err->status : TL_OK;
}

/* One field. *values gets the node that the children belong to. */
TLI_FN tl_status tli_ipc_read_field(tli_ipc_reader *r, const tli_flatbuf_table *t, struct ArrowSchema **out,
                                    struct ArrowSchema **values, tli_flatbuf_vector *children, tl_error *err)
{
    tl_span name = tli_flatbuf_text(t, 0);
    tli_flatbuf_table encoding = tli_flatbuf_child(t, 4);
    int64_t flags = tli_flatbuf_u8(t, 1, 0) != 0 ? ARROW_FLAG_NULLABLE : 0, value_flags = 0;
    tl_type type;
    tl_status st = tli_ipc_read_type(r, t, &type, &value_flags, err);
    *children = tli_flatbuf_list(t, 5, 4);
    if (st == TL_OK)
        st = tli_ipc_read_text(r, name, err);
    if (st == TL_OK && r->in->bad)
        st = tli_ipc_bad(r, "an Arrow field is malformed", err);
    if (st == TL_OK && encoding.at != 0) {
        st = tli_ipc_read_indices(r, &encoding, name, flags, out, err);
        flags = ARROW_FLAG_NULLABLE;
        name.size = 0;
    }
    if (st != TL_OK)
        return st;
    *values = tli_ipc_new_schema(r, &type, name, flags | value_flags, children->count, err);
    if (*values == NULL)
        return err->status;
    if (encoding.at != 0)
        (*out)->dictionary = *values;
    else
        *out = *values;
    return tli_ipc_read_pairs(r, t, 6, *out, err);
}

/* The fields of a schema, all levels. */
TLI_FN tl_status tli_ipc_read_fields(tli_ipc_reader *r, struct ArrowSchema *root, tli_flatbuf_vector fields,
                                     tl_error *err)
{
    uint32_t limit = r->stream->limits.depth, at = 0;
    tli_ipc_level *levels = (tli_ipc_level *)tli_mem_take_array(r->stream->store, limit + 1, sizeof *levels, err);
    if (levels == NULL)
        return err->status;
    levels[0].schema = root;
    levels[0].fields = fields;
    for (;;) {
        tli_ipc_level *level = &levels[at];
        struct ArrowSchema *field = NULL, *values;
        tli_flatbuf_table t;
        tl_status st;
        uint32_t depth;
        if (level->next == level->fields.count) {
            if (at-- == 0)
                return TL_OK;
            continue;
        }
        t = tli_flatbuf_item(r->in, &level->fields, level->next);
        st = tli_ipc_read_field(r, &t, &field, &values, &fields, err);
        if (st != TL_OK)
            return st;
        level->schema->children[level->next++] = field;
        depth = level->depth + 1 + (field != values);
        if (depth + (fields.count > 0) > limit)
            return tli_err_need(err, TL_LIMIT, "limits.depth", r->position, (uint64_t)depth + (fields.count > 0));
        if (fields.count > 0) {
            level = &levels[++at];
            level->schema = values;
            level->fields = fields;
            level->next = 0;
            level->depth = depth;
        }
    }
}

/* Order of encodings by dictionary id, then as they come. */
TLI_INLINE int tli_ipc_id_after(const int64_t *ids, int32_t a, int32_t b)
{
    return ids[a] != ids[b] ? ids[a] > ids[b] : a > b;
}

/* Heap sort: no worst case. */
TLI_FN void tli_ipc_sort_ids(const int64_t *ids, int32_t *order, int32_t n)
{
    int32_t start = n / 2, end = n;
    while (end > 1) {
        int32_t at, child, held;
        if (start > 0) {
            held = order[--start];
        } else {
            held = order[--end];
            order[end] = order[0];
        }
        for (at = start; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && tli_ipc_id_after(ids, order[child + 1], order[child]))
                child++;
            if (!tli_ipc_id_after(ids, order[child], held))
                break;
            order[at] = order[child];
        }
        order[at] = held;
    }
}

/* Two encodings share a dictionary: their values must be alike, nested dictionaries included. */
TLI_FN int tli_ipc_alike(const tli_ipc_stream *s, const tli_ipc_record *a, const tli_ipc_record *b)
{
    const tli_ipc_layout *l = &s->layout;
    int32_t i = a->first, j = b->first;
    if (a->nodes != b->nodes)
        return 0;
    for (; i < a->end; i = tli_ipc_step(l, i), j = tli_ipc_step(l, j)) {
        const tli_ipc_node *x = &l->nodes[i], *y = &l->nodes[j];
        tl_span fx, fy;
        fx = tl_text(x->schema->format);
        fy = tl_text(y->schema->format);
        if (!tl_span_equal(fx, fy) || x->schema->n_children != y->schema->n_children
            || (x->encoding < 0) != (y->encoding < 0)
            || (x->encoding >= 0 && s->ids[x->encoding] != s->ids[y->encoding]))
            return 0;
    }
    return 1;
}

/* Which encodings share a dictionary. */
TLI_FN tl_status tli_ipc_read_dictionaries(tli_ipc_reader *r, tl_error *err)
{
    tli_ipc_stream *s = r->stream;
    int32_t n = s->id_count, i, *order;
    if (n == 0)
        return TL_OK;
    order = (int32_t *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *order, err);
    s->encodings = (int32_t *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *order, err);
    s->dictionaries = (tli_ipc_dictionary *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *s->dictionaries, err);
    s->wants = (tli_ipc_want *)tli_mem_take_array(s->store, (uint64_t)s->limits.depth + 2, sizeof *s->wants, err);
    if (order == NULL || s->encodings == NULL || s->dictionaries == NULL || s->wants == NULL)
        return err->status;
    for (i = 0; i < n; i++)
        order[i] = i;
    tli_ipc_sort_ids(s->ids, order, n);
    for (i = 0; i < n; i++) {
        tli_ipc_dictionary *d = &s->dictionaries[s->dictionary_count];
        if (i == 0 || s->ids[order[i]] != s->ids[order[i - 1]]) {
            d->id = s->ids[order[i]];
            d->encoding = order[i];
            s->dictionary_count++;
        } else if (!tli_ipc_alike(s, &s->layout.encodings[d[-1].encoding], &s->layout.encodings[order[i]])) {
            return tli_ipc_bad(r, "two Arrow fields share a dictionary but not its type", err);
        }
        s->encodings[order[i]] = s->dictionary_count - 1;
    }
    return TL_OK;
}

/* Lays the schema out, once it is read. */
TLI_FN tl_status tli_ipc_lay_out(tli_ipc_reader *r, tl_error *err)
{
    tli_ipc_stream *s = r->stream;
    tli_ipc_layout *l = &s->layout;
    int32_t i, column = 0;
    tl_status st = tli_arrow_schema_check(s->schema, &s->limits, NULL, err);
    if (st == TL_MISUSE)
        return tli_ipc_bad(r, err->text, err);
    if (st != TL_OK)
        return st;
    l->nodes = (tli_ipc_node *)tli_mem_take_array(s->store, r->nodes, sizeof *l->nodes, err);
    s->columns = (int32_t *)tli_mem_take_array(s->store, (uint64_t)s->schema->n_children, sizeof *s->columns, err);
    s->arrays = (struct ArrowArray **)tli_mem_take_array(s->store, r->nodes, sizeof *s->arrays, err);
    if (l->nodes == NULL || s->columns == NULL || s->arrays == NULL)
        return err->status;
    st = tli_ipc_list(l, s->schema, err);
    if (st != TL_OK)
        return st;
    l->encodings =
        (tli_ipc_record *)tli_mem_take_array(s->store, (uint64_t)l->encoding_count, sizeof *l->encodings, err);
    if (l->encodings == NULL)
        return err->status;
    tli_ipc_records(l);
    for (i = 0; i < l->count; i = l->nodes[i].end)
        s->columns[column++] = i;
    return tli_ipc_read_dictionaries(r, err);
}

TLI_FN tl_status tli_ipc_read_schema(tli_ipc_stream *s, const tli_flatbuf_table *t, uint64_t position, tl_error *err)
{
    tli_flatbuf_vector fields = tli_flatbuf_list(t, 1, 4);
    struct ArrowSchema *root;
    tli_ipc_reader r;
    tl_status st;
    r.stream = s;
    r.in = t->in;
    r.position = position;
    r.text = 65536 + 16 * (uint64_t)t->in->size;
    r.nodes = 0;
    if (t->in->bad || t->at == 0)
        return tli_ipc_bad(&r, "an Arrow schema is malformed", err);
    if (tli_flatbuf_i16(t, 0, 0) != 0)
        return tli_err(err, TL_UNSUPPORTED, "an Arrow stream of big-endian values", position);
    if (fields.count > s->limits.columns)
        return tli_err_need(err, TL_LIMIT, "limits.columns", position, fields.count);
    root = tli_arrow_schema_new(s->store, "+s", tli_text_span("", 0), 0, fields.count, err);
    if (root == NULL)
        return err->status;
    s->schema = root;
    st = tli_ipc_read_pairs(&r, t, 2, root, err);
    if (st == TL_OK)
        st = tli_ipc_read_fields(&r, root, fields, err);
    if (st == TL_OK && r.in->bad)
        st = tli_ipc_bad(&r, "an Arrow schema is malformed", err);
    return st == TL_OK ? tli_ipc_lay_out(&r, err) : st;
}

/* ---- frames ---- */

typedef struct tli_ipc_frame {
    size_t next; /* where the next one begins */
    int end;     /* there was none */
    uint8_t kind;
    tli_flatbuf in;
    tli_flatbuf_table header; /* points at `in` */
    const uint8_t *meta;
    const uint8_t *body;
    uint64_t body_size;
} tli_ipc_frame;

/* Behind the end mark there may be padding. */
TLI_FN tl_status tli_ipc_read_end(const tli_ipc_stream *s, size_t at, tli_ipc_frame *f, tl_error *err)
{
    for (; at < s->size; at++)
        if (s->bytes[at] != 0)
            return tli_err(err, TL_CORRUPT, "bytes behind the end of an Arrow stream", s->position + at);
    f->end = 1;
    f->next = s->size;
    return TL_OK;
}

/* The table around the header. */
TLI_FN tl_status tli_ipc_read_message(const tli_ipc_stream *s, tli_ipc_frame *f, uint32_t size, tl_error *err)
{
    uint64_t where = tli_ipc_where(s, f->meta), left = s->size - (size_t)(f->meta - s->bytes) - size;
    tli_flatbuf_table t = tli_flatbuf_root(&f->in, f->meta, size);
    int version = tli_flatbuf_i16(&t, 0, 0);
    int64_t body = tli_flatbuf_i64(&t, 3, 0);
    f->kind = tli_flatbuf_u8(&t, 1, 0);
    f->header = tli_flatbuf_child(&t, 2);
    if (f->in.bad)
        return tli_err(err, TL_CORRUPT, "an Arrow message is malformed", where);
    if (version >= 0 && version < 3)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of version 1, 2 or 3", where);
    if (version != 3 && version != 4)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of an unknown version", where);
    if (f->kind == 4 || f->kind == 5)
        return tli_err(err, TL_UNSUPPORTED, "a tensor in an Arrow stream", where);
    if (f->kind < TLI_IPC_SCHEMA || f->kind > TLI_IPC_BATCH || f->header.at == 0)
        return tli_err(err, TL_CORRUPT, "an Arrow message of no known kind", where);
    if (body < 0)
        return tli_err(err, TL_CORRUPT, "an Arrow message with a body of negative length", where);
    if ((uint64_t)body > left)
        return tli_err(err, TL_TRUNCATED, "the body of an Arrow message is cut", where);
    f->body = f->meta + size;
    f->body_size = (uint64_t)body;
    f->next = (size_t)(f->body - s->bytes) + (size_t)body;
    return TL_OK;
}

/* The frame at `at`. The end: its mark of 4 or 8 bytes, or of the bytes. */
TLI_FN tl_status tli_ipc_next(const tli_ipc_stream *s, size_t at, tli_ipc_frame *f, tl_error *err)
{
    size_t left = s->size - at, skip = 4;
    uint32_t size;
    f->end = left == 0;
    f->next = at;
    if (left == 0)
        return TL_OK;
    if (left < 4)
        return tli_err(err, TL_TRUNCATED, "an Arrow message is cut", s->position + at);
    size = tli_bits_le32(s->bytes + at);
    if (size == UINT32_MAX) {
        skip = 8;
        if (left < 8)
            return tli_err(err, TL_TRUNCATED, "an Arrow message is cut", s->position + at);
        size = tli_bits_le32(s->bytes + at + 4);
    }
    if (size == 0)
        return tli_ipc_read_end(s, at + skip, f, err);
    if (size > INT32_MAX)
        return tli_err(err, TL_CORRUPT, "an Arrow message with metadata of negative length", s->position + at);
    if (size > left - skip)
        return tli_err(err, TL_TRUNCATED, "the metadata of an Arrow message is cut", s->position + at);
    f->meta = s->bytes + at + skip;
    return tli_ipc_read_message(s, f, size, err);
}

/* ---- batches ---- */

TLI_FN tl_status tli_ipc_read_codec(const tli_flatbuf_table *batch, tli_ipc_message *m, tl_error *err)
{
    tli_flatbuf_table t = tli_flatbuf_child(batch, 3);
    uint8_t codec = tli_flatbuf_u8(&t, 0, 0);
    m->codec = TLI_IPC_PLAIN;
    if (t.at == 0)
        return TL_OK;
    if (codec > 1 || tli_flatbuf_u8(&t, 1, 0) != 0)
        return tli_err(err, TL_UNSUPPORTED, "Arrow buffers of an unknown compression", m->position);
    m->codec = codec == 0 ? TLI_IPC_LZ4 : TLI_IPC_ZSTD;
    return TL_OK;
}

/* The counts of the buffers that views bring along, summed up. */
TLI_FN tl_status tli_ipc_read_variadic(tli_ipc_stream *s, tli_ipc_message *m, const tli_flatbuf_vector *counts,
                                       const tli_ipc_record *record, uint32_t buffers, tl_error *err)
{
    uint64_t sum = 0;
    uint32_t i, *sums;
    if (counts->count != (uint32_t)record->views)
        return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of variadic counts", m->position);
    if (counts->count != 0) {
        sums = (uint32_t *)tli_mem_take_array(s->store, (uint64_t)counts->count + 1, sizeof *sums, err);
        if (sums == NULL)
            return err->status;
        for (i = 0; i < counts->count; i++) {
            uint64_t n = tli_bits_le64(counts->data + 8 * (size_t)i);
            if (n > buffers)
                return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of buffers", m->position);
            sum += n;
            sums[i + 1] = (uint32_t)TLI_MIN(sum, (uint64_t)UINT32_MAX);
        }
        m->variadic = sums;
    }
    if (sum + (uint64_t)record->buffers != buffers)
        return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of buffers", m->position);
    return TL_OK;
}

/* Buffers do not overlap: so many bytes cost no more to look at than there are. What each says is checked when it is
   opened. */
TLI_FN tl_status tli_ipc_read_lengths(const tli_ipc_message *m, const tli_flatbuf_vector *buffers, tl_error *err)
{
    uint64_t left = m->body_size;
    uint32_t i;
    for (i = 0; i < buffers->count; i++) {
        uint64_t length = tli_bits_le64(buffers->data + 16 * (size_t)i + 8);
        if (length > left)
            return tli_err(err, TL_CORRUPT, "the buffers of an Arrow message are larger than its body", m->position);
        left -= length;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipc_read_batch(tli_ipc_stream *s, const tli_flatbuf_table *t, const tli_ipc_record *record,
                                    tli_ipc_message *m, tl_error *err)
{
    tli_flatbuf_vector nodes = tli_flatbuf_list(t, 1, 16), buffers = tli_flatbuf_list(t, 2, 16);
    tli_flatbuf_vector counts = tli_flatbuf_list(t, 4, 8);
    tl_status st = tli_ipc_read_codec(t, m, err);
    m->rows = tli_flatbuf_i64(t, 0, 0);
    if (t->in->bad || t->at == 0)
        return tli_err(err, TL_CORRUPT, "an Arrow batch is malformed", m->position);
    if (st != TL_OK)
        return st;
    if (m->rows < 0)
        return tli_err(err, TL_CORRUPT, "an Arrow batch of negative length", m->position);
    if ((uint64_t)m->rows > s->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", m->position, (uint64_t)m->rows);
    if (nodes.count != (uint32_t)record->nodes)
        return tli_err(err, TL_CORRUPT, "an Arrow batch with a wrong number of nodes", m->position);
    m->nodes = nodes.data;
    m->buffers = buffers.data;
    st = tli_ipc_read_lengths(m, &buffers, err);
    if (st != TL_OK)
        return st;
    return tli_ipc_read_variadic(s, m, &counts, record, buffers.count, err);
}

/* The dictionary with an id, or -1. */
TLI_FN int32_t tli_ipc_find_id(const tli_ipc_stream *s, int64_t id)
{
    int32_t low = 0, high = s->dictionary_count;
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (s->dictionaries[mid].id == id)
            return mid;
        if (s->dictionaries[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

TLI_FN tl_status tli_ipc_read_values(tli_ipc_stream *s, const tli_flatbuf_table *t, tli_ipc_message *m, tl_error *err)
{
    tli_flatbuf_table batch = tli_flatbuf_child(t, 1);
    tli_ipc_dictionary *d;
    m->dictionary = tli_ipc_find_id(s, tli_flatbuf_i64(t, 0, 0));
    m->delta = tli_flatbuf_u8(t, 2, 0) != 0;
    if (t->in->bad)
        return tli_err(err, TL_CORRUPT, "an Arrow dictionary batch is malformed", m->position);
    if (m->dictionary < 0)
        return tli_err(err, TL_CORRUPT, "an Arrow dictionary that no field uses", m->position);
    d = &s->dictionaries[m->dictionary];
    if (m->delta && d->end == 0)
        return tli_err(err, TL_CORRUPT, "a delta of an Arrow dictionary that is not there", m->position);
    d->end++; /* counted; places are given by tli_ipc_order_states */
    return tli_ipc_read_batch(s, &batch, &s->layout.encodings[d->encoding], m, err);
}

/* Puts the dictionary messages in order: by dictionary, then as they came. */
TLI_FN tl_status tli_ipc_order_states(tli_ipc_stream *s, tl_error *err)
{
    int32_t i, n = 0;
    for (i = 0; i < s->dictionary_count; i++) {
        s->dictionaries[i].first = n;
        n += s->dictionaries[i].end;
        s->dictionaries[i].end = s->dictionaries[i].first;
    }
    if (n == 0)
        return TL_OK;
    s->states = (int32_t *)tli_mem_take_array(s->store, (uint64_t)n, sizeof *s->states, err);
    if (s->states == NULL)
        return err->status;
    for (i = 0; i < s->message_count; i++) {
        tli_ipc_message *m = &s->messages[i];
        tli_ipc_dictionary *d;
        if (m->dictionary < 0)
            continue;
        d = &s->dictionaries[m->dictionary];
        m->base = m->delta ? s->messages[s->states[d->end - 1]].base : d->end;
        s->states[d->end++] = i;
    }
    return TL_OK;
}

/* How many messages follow the schema. */
TLI_FN tl_status tli_ipc_count(tli_ipc_stream *s, size_t at, tl_error *err)
{
    tli_ipc_frame f;
    uint32_t n = 0;
    for (;;) {
        tl_status st = tli_ipc_next(s, at, &f, err);
        if (st != TL_OK)
            return st;
        if (f.end)
            break;
        if (f.kind == TLI_IPC_SCHEMA)
            return tli_err(err, TL_CORRUPT, "a second schema in an Arrow stream", tli_ipc_where(s, f.meta));
        if (n++ == s->limits.batches)
            return tli_err_need(err, TL_LIMIT, "limits.batches", tli_ipc_where(s, f.meta), n);
        s->batch_count += f.kind == TLI_IPC_BATCH;
        at = f.next;
    }
    s->messages = (tli_ipc_message *)tli_mem_take_array(s->store, n, sizeof *s->messages, err);
    s->batches = (tli_ipc_batch *)tli_mem_take_array(s->store, (uint64_t)s->batch_count, sizeof *s->batches, err);
    return s->messages == NULL || s->batches == NULL ? err->status : TL_OK;
}

/* All that follows the schema, in order. */
TLI_FN tl_status tli_ipc_index(tli_ipc_stream *s, size_t at, tl_error *err)
{
    int32_t batch = 0;
    uint64_t rows = 0;
    tl_status st = tli_ipc_count(s, at, err);
    while (st == TL_OK) {
        tli_ipc_message *m = &s->messages[s->message_count];
        tli_ipc_frame f;
        st = tli_ipc_next(s, at, &f, err);
        if (st != TL_OK || f.end)
            break;
        m->body = f.body;
        m->body_size = f.body_size;
        m->position = tli_ipc_where(s, f.meta);
        m->dictionary = -1;
        if (f.kind == TLI_IPC_DICTIONARY) {
            st = tli_ipc_read_values(s, &f.header, m, err);
        } else {
            st = tli_ipc_read_batch(s, &f.header, &s->layout.columns, m, err);
            s->batches[batch].rows = m->rows;
            s->batches[batch++].message = s->message_count;
            rows += (uint64_t)m->rows;
            if (st == TL_OK && rows > s->limits.rows)
                st = tli_err_need(err, TL_LIMIT, "limits.rows", m->position, rows);
        }
        s->message_count++;
        at = f.next;
    }
    return st == TL_OK ? tli_ipc_order_states(s, err) : st;
}

TLI_FN tl_status tli_ipc_start(tli_ipc_stream *s, tl_error *err)
{
    tli_ipc_frame f;
    tl_status st;
    if (s->size >= 6 && TLI_COMPARE(s->bytes, "ARROW1", 6) == 0)
        return tli_err(err, TL_UNSUPPORTED, "the Arrow file format, which is not a stream", s->position);
    st = tli_ipc_next(s, 0, &f, err);
    if (st != TL_OK)
        return st;
    if (f.end)
        return tli_err(err, TL_TRUNCATED, "an Arrow stream without a schema", s->position);
    if (f.kind != TLI_IPC_SCHEMA)
        return tli_err(err, TL_CORRUPT, "an Arrow stream that does not begin with a schema", s->position);
    st = tli_ipc_read_schema(s, &f.header, tli_ipc_where(s, f.meta), err);
    return st == TL_OK ? tli_ipc_index(s, f.next, err) : st;
}

/* Reads the frame of a stream: schema, and where the batches are. The bytes stay where they are as long as the stream
   is used; `position`: where they lie in the object, for errors. Everything is the store's. When a type is not
   supported *out is a stream all the same, of which only the metadata of the schema are known; after other errors it
   is NULL. */
TLI_FN tl_status tli_ipc_open(tli_store *store, const void *bytes, size_t size, uint64_t position,
                              const tl_limits *limits, const tl_compression *compression, tli_ipc_stream **out,
                              tl_error *err)
{
    tl_error local;
    tli_ipc_stream *s;
    tl_status st;
    err = err != NULL ? err : &local;
    s = (tli_ipc_stream *)tli_mem_take_zero(store, sizeof *s, err);
    if (s == NULL)
        return err->status;
    s->store = store;
    s->limits = tl_limits_resolve(limits);
    s->limits.rows = TLI_MIN(s->limits.rows, (uint64_t)1 << 56);
    s->limits.columns = TLI_MIN(s->limits.columns, (uint32_t)INT32_MAX / 4);
    s->limits.batches = TLI_MIN(s->limits.batches, (uint32_t)INT32_MAX / 4);
    if (compression != NULL)
        s->compression = *compression;
    s->bytes = (const uint8_t *)bytes;
    s->size = size;
    s->position = position;
    st = tli_ipc_start(s, err);
    *out = st == TL_OK || (st == TL_UNSUPPORTED && s->schema != NULL) ? s : NULL;
    return st;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* >>ipcvalue: the values of Arrow streams: buffers out of their compression, and every check on what is in them. */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* ---- buffers ---- */

/* A buffer as it lies in the body. */
typedef struct tli_ipcvalue_buffer {
    const uint8_t *data;
    uint64_t stored; /* bytes at data */
    uint64_t size;   /* bytes of the values */
    int packed;      /* data is compressed */
} tli_ipcvalue_buffer;

/* What a buffer without bytes points at: offsets of nothing, too. */
static const uint64_t tli_ipcvalue_zeros[2] = {0, 0};

/* The most that so many compressed bytes can give: in zstd a block of 4 bytes up to 128 KiB, in LZ4 a byte 255. */
TLI_INLINE uint64_t tli_ipcvalue_most(uint8_t codec, uint64_t stored)
{
    uint64_t least = TLI_MIN(stored, (uint64_t)1 << 40);
    return codec == TLI_IPC_ZSTD ? least / 4 * 131072 : least * 255;
}

/* What the length in front of a compressed buffer says. */
TLI_FN tl_status tli_ipcvalue_unwrap(const tli_ipc_message *m, tli_ipcvalue_buffer *b, uint64_t where, tl_error *err)
{
    int64_t size;
    uint64_t content;
    if (b->stored < 8)
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer without its length", where);
    size = (int64_t)tli_bits_le64(b->data);
    b->data += 8;
    b->stored -= 8;
    b->size = b->stored;
    if (size == -1)
        return TL_OK;
    b->size = (uint64_t)size;
    if (size == 0 && b->stored == 0)
        return TL_OK;
    if (size < 0 || b->size > tli_ipcvalue_most(m->codec, b->stored))
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer cannot have the length it claims", where);
    b->packed = 1;
    if (m->codec != TLI_IPC_ZSTD || tl_zstd_content_size(b->data, (size_t)b->stored, &content, NULL) != TL_OK)
        content = UINT64_MAX;
    if (content != b->size && (content != UINT64_MAX || size == 0)) /* nothing is never packed without saying so */
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer has another length than it claims", where);
    return TL_OK;
}

/* Buffer `index` of a message (which has it). */
TLI_FN tl_status tli_ipcvalue_buffer_of(const tli_ipc_stream *s, const tli_ipc_message *m, uint32_t index,
                                        tli_ipcvalue_buffer *b, tl_error *err)
{
    const uint8_t *p = m->buffers + 16 * (size_t)index;
    uint64_t offset = tli_bits_le64(p), length = tli_bits_le64(p + 8);
    if (offset > m->body_size || length > m->body_size - offset)
        return tli_err(err, TL_CORRUPT, "an Arrow buffer lies outside of its message", tli_ipc_where(s, p));
    b->data = m->body + offset;
    b->stored = b->size = length;
    b->packed = 0;
    if (m->codec == TLI_IPC_PLAIN || length == 0)
        return TL_OK;
    return tli_ipcvalue_unwrap(m, b, tli_ipc_where(s, b->data), err);
}

TLI_FN tl_status tli_ipcvalue_inflate(tli_ipc_stream *s, const tli_ipc_message *m, const tli_ipcvalue_buffer *b,
                                      uint8_t *to, tl_error *err)
{
    uint64_t where = tli_ipc_where(s, b->data);
    size_t size = 0;
    tl_status st;
    if (m->codec == TLI_IPC_LZ4) {
        st = tli_lz4_decode(to, (size_t)b->size, &size, b->data, (size_t)b->stored, err);
    } else if (s->compression.decompress != NULL && b->size != 0) {
        st = s->compression.decompress(s->compression.context, to, (size_t)b->size, b->data, (size_t)b->stored);
        size = (size_t)b->size;
        if (st != TL_OK)
            return tli_err(err, st, "a compressed Arrow buffer does not decompress", where);
    } else {
        if (s->work == NULL && (s->work = tli_mem_new(&s->store->allocator, TLI_ZSTD_WORK)) == NULL)
            return tli_mem_failed(&s->store->allocator, err);
        st = tli_zstd_decode(s->work, to, (size_t)b->size, &size, b->data, (size_t)b->stored, err);
    }
    if (st == TL_OK && size == b->size)
        return TL_OK;
    if (st == TL_OK || st == TL_LIMIT) /* more bytes than it claims */
        return tli_err(err, TL_CORRUPT, "a compressed Arrow buffer has another length than it claims", where);
    err->position = where;
    return st;
}

/* ---- byte order: values on the wire are little-endian, values in memory native ---- */

/* What to turn, beside numbers of 2, 4, 8, 16, 32 bytes. */
enum { TLI_IPCVALUE_BYTES = 1, TLI_IPCVALUE_MONTH_DAY_NANO = 3, TLI_IPCVALUE_VIEWS = 5 };

/* How buffer `j` of a node turns. */
TLI_FN int tli_ipcvalue_unit(const tli_ipc_node *node, int32_t j)
{
    if (j == 0 || (j > 1 && !TLI_IPC_VIEW_TYPE(node->id)))
        return TLI_IPCVALUE_BYTES;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return j == 1 ? TLI_IPCVALUE_VIEWS : TLI_IPCVALUE_BYTES;
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4;
    if (node->id == TL_TYPE_INTERVAL_DAY_TIME)
        return 4;
    if (node->id == TL_TYPE_INTERVAL_MONTH_DAY_NANO)
        return TLI_IPCVALUE_MONTH_DAY_NANO;
    return node->id == TL_TYPE_FIXED_BINARY || node->width == 0 ? TLI_IPCVALUE_BYTES : node->width;
}

/* Turns `n` bytes at p around. */
TLI_INLINE void tli_ipcvalue_turn(uint8_t *p, size_t n)
{
    size_t i;
    for (i = 0; i < n / 2; i++) {
        uint8_t b = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = b;
    }
}

/* One view: its length, and, when the text is elsewhere, buffer and offset. `size` is the length in native order. */
TLI_FN void tli_ipcvalue_turn_view(uint8_t *p, uint32_t size)
{
    tli_ipcvalue_turn(p, 4);
    if (size > 12) {
        tli_ipcvalue_turn(p + 8, 4);
        tli_ipcvalue_turn(p + 12, 4);
    }
}

/* Between wire and memory on big-endian machines. `to_wire` says which way: views are not their own inverse. */
TLI_FN void tli_ipcvalue_turn_all(uint8_t *p, uint64_t size, int unit, int to_wire)
{
    uint64_t i;
    if (unit == TLI_IPCVALUE_VIEWS) {
        for (i = 0; i + 16 <= size; i += 16)
            tli_ipcvalue_turn_view(p + i, to_wire ? tli_bits_u32(p + i) : tli_bits_le32(p + i));
    } else if (unit == TLI_IPCVALUE_MONTH_DAY_NANO) {
        for (i = 0; i + 16 <= size; i += 16) {
            tli_ipcvalue_turn(p + i, 4);
            tli_ipcvalue_turn(p + i + 4, 4);
            tli_ipcvalue_turn(p + i + 8, 8);
        }
    } else if (unit != TLI_IPCVALUE_BYTES) {
        for (i = 0; i + (uint64_t)unit <= size; i += (uint64_t)unit)
            tli_ipcvalue_turn(p + i, (size_t)unit);
    }
}

/* ---- decoding a record ----

   First all memory is taken, by sizes that are checked; then the bytes are brought; then they are looked at. */

typedef struct tli_ipcvalue_job {
    tli_ipc_stream *stream;
    const tli_ipc_message *message; /* NULL: no values at all */
    int32_t first, end;             /* nodes */
    int64_t rows;                   /* of the top nodes */
    struct ArrowArray **arrays;     /* by ordinal, from the first node's */
} tli_ipcvalue_job;

TLI_INLINE struct ArrowArray **tli_ipcvalue_array(const tli_ipcvalue_job *job, int32_t node)
{
    const tli_ipc_node *nodes = job->stream->layout.nodes;
    return &job->arrays[nodes[node].ordinal - nodes[job->first].ordinal];
}

/* The array of the parent of a node; NULL: it is the top of its record. */
TLI_INLINE struct ArrowArray *tli_ipcvalue_parent(const tli_ipcvalue_job *job, int32_t node)
{
    int32_t parent = job->stream->layout.nodes[node].parent;
    return parent < job->first ? NULL : *tli_ipcvalue_array(job, parent);
}

/* The number of a node's first buffer, and how many it has on the wire. */
TLI_FN uint32_t tli_ipcvalue_first_buffer(const tli_ipcvalue_job *job, const tli_ipc_node *node, int32_t *count)
{
    uint32_t first = (uint32_t)node->buffers;
    *count = tli_ipc_buffers(node->id);
    if (job->message != NULL && job->message->variadic != NULL) {
        first += job->message->variadic[node->views];
        if (TLI_IPC_VIEW_TYPE(node->id))
            *count += (int32_t)(job->message->variadic[node->views + 1] - job->message->variadic[node->views]);
    }
    return first;
}

/* The least bytes that buffer `j` of a node must have. UINT64_MAX: more than there can be. */
TLI_FN uint64_t tli_ipcvalue_need(const tli_ipc_node *node, int32_t j, uint64_t length)
{
    uint64_t need;
    if (j > 1)
        return 0;
    if (j == 0 || node->id == TL_TYPE_BOOL)
        return (length + 7) / 8;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return length * 16;
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return (length + 1) * (TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4);
    return tli_bits_mul(length, (uint64_t)node->width, &need) ? need : UINT64_MAX;
}

/* Where a buffer will be. Nothing of it is read but its length. */
TLI_FN tl_status tli_ipcvalue_plan_buffer(const tli_ipcvalue_job *job, const tli_ipc_node *node, struct ArrowArray *a,
                                          int32_t j, uint32_t index, tl_error *err)
{
    tli_ipc_stream *s = job->stream;
    tli_ipcvalue_buffer b;
    size_t size;
    tl_status st;
    a->buffers[j] = j == 0 ? NULL : tli_ipcvalue_zeros;
    if (job->message == NULL)
        return TL_OK;
    st = tli_ipcvalue_buffer_of(s, job->message, index, &b, err);
    if (st != TL_OK)
        return st;
    if (a->length == 0 || (j == 0 && a->null_count == 0))
        return TL_OK;
    if (b.size < tli_ipcvalue_need(node, j, (uint64_t)a->length))
        return tli_err(err, TL_CORRUPT, "an Arrow buffer is too short", tli_ipc_where(s, b.data));
    if (b.size == 0)
        return TL_OK;
    a->buffers[j] = b.data;
    if (!b.packed && !(TLI_BIG_ENDIAN && tli_ipcvalue_unit(node, j) != TLI_IPCVALUE_BYTES))
        return TL_OK;
    if (!tli_bits_size(b.size, &size))
        return tli_err(err, TL_NO_MEMORY, "out of memory", tli_ipc_where(s, b.data));
    a->buffers[j] = tli_mem_take(s->store, size, err);
    return a->buffers[j] == NULL ? err->status : TL_OK;
}

/* The length of a node against that of its parent; the elements of lists wait until the offsets are there. */
TLI_FN tl_status tli_ipcvalue_plan_length(const tli_ipcvalue_job *job, int32_t i, int64_t length, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    const struct ArrowArray *parent = tli_ipcvalue_parent(job, i);
    const tli_ipc_node *above = parent != NULL ? &job->stream->layout.nodes[node->parent] : NULL;
    uint64_t need;
    if (parent == NULL && length == job->rows)
        return TL_OK;
    if (parent != NULL && above->id == TL_TYPE_STRUCT && length >= parent->length)
        return TL_OK;
    if (parent != NULL && above->id == TL_TYPE_FIXED_LIST
        && tli_bits_mul((uint64_t)parent->length, (uint64_t)above->size, &need) && (uint64_t)length >= need)
        return TL_OK;
    if (parent != NULL && TLI_IPC_LIST_TYPE(above->id))
        return TL_OK;
    return tli_err(err, TL_CORRUPT, "an Arrow array has not the length of its parent",
                   job->message != NULL ? job->message->position : TL_NO_POSITION);
}

TLI_FN tl_status tli_ipcvalue_plan_counts(const tli_ipcvalue_job *job, int32_t i, int64_t *length, int64_t *nulls,
                                          tl_error *err)
{
    const tli_ipc_stream *s = job->stream;
    const uint8_t *p;
    *length = *nulls = 0;
    if (job->message == NULL)
        return TL_OK;
    p = job->message->nodes + 16 * (size_t)s->layout.nodes[i].ordinal;
    *length = (int64_t)tli_bits_le64(p);
    *nulls = (int64_t)tli_bits_le64(p + 8);
    if (*length < 0 || *nulls < 0 || *nulls > *length)
        return tli_err(err, TL_CORRUPT, "an Arrow array of an impossible length or null count", tli_ipc_where(s, p));
    if ((uint64_t)*length > s->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", tli_ipc_where(s, p), (uint64_t)*length);
    return tli_ipcvalue_plan_length(job, i, *length, err);
}

/* The buffer of the interface that has the sizes of a view's other buffers; NULL: err says why. */
TLI_FN int64_t *tli_ipcvalue_plan_sizes(const tli_ipcvalue_job *job, const struct ArrowArray *a, uint32_t first,
                                        int32_t count, tl_error *err)
{
    int64_t *sizes = (int64_t *)tli_mem_take_array(job->stream->store, (uint64_t)count + 1, sizeof *sizes, err);
    int32_t i;
    for (i = 0; sizes != NULL && i < count; i++) {
        tli_ipcvalue_buffer b;
        if (tli_ipcvalue_buffer_of(job->stream, job->message, first + (uint32_t)i, &b, err) != TL_OK)
            return NULL;
        sizes[i] = a->buffers[2 + i] == tli_ipcvalue_zeros ? 0 : (int64_t)b.size;
    }
    return sizes;
}

TLI_FN tl_status tli_ipcvalue_plan_node(const tli_ipcvalue_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a, *parent = tli_ipcvalue_parent(job, i);
    int32_t count, j;
    uint32_t first = tli_ipcvalue_first_buffer(job, node, &count);
    int view = TLI_IPC_VIEW_TYPE(node->id);
    int64_t length, nulls;
    tl_status st = tli_ipcvalue_plan_counts(job, i, &length, &nulls, err);
    if (st != TL_OK)
        return st;
    a = tli_arrow_array_new(job->stream->store, (int64_t)count + view, node->schema->n_children, err);
    if (a == NULL)
        return err->status;
    a->length = length;
    a->null_count = node->id == TL_TYPE_NULL ? length : nulls;
    for (j = 0; j < count && st == TL_OK; j++)
        st = tli_ipcvalue_plan_buffer(job, node, a, j, first + (uint32_t)j, err);
    if (st == TL_OK && view) {
        a->buffers[count] = tli_ipcvalue_plan_sizes(job, a, first + 2, count - 2, err);
        st = a->buffers[count] == NULL ? err->status : TL_OK;
    }
    if (parent != NULL)
        parent->children[node->place] = a;
    *tli_ipcvalue_array(job, i) = a;
    return st;
}

/* Brings the bytes of a node's buffers to where they were planned. */
TLI_FN tl_status tli_ipcvalue_fill_node(const tli_ipcvalue_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a = *tli_ipcvalue_array(job, i);
    int32_t count, j;
    uint32_t first = tli_ipcvalue_first_buffer(job, node, &count);
    for (j = 0; j < count; j++) {
        tli_ipcvalue_buffer b;
        tl_status st = tli_ipcvalue_buffer_of(job->stream, job->message, first + (uint32_t)j, &b, err);
        uint8_t *to = (uint8_t *)(uintptr_t)a->buffers[j]; /* ours to write, unless it is one of these */
        if (st != TL_OK)
            return st;
        if (to == NULL || a->buffers[j] == tli_ipcvalue_zeros || to == b.data)
            continue;
        if (b.packed)
            st = tli_ipcvalue_inflate(job->stream, job->message, &b, to, err);
        else
            TLI_COPY(to, b.data, (size_t)b.size);
        if (st != TL_OK)
            return st;
        if (TLI_BIG_ENDIAN)
            tli_ipcvalue_turn_all(to, b.size, tli_ipcvalue_unit(node, j), 0);
    }
    return TL_OK;
}

/* ---- looking at values ---- */

/* Set bits among n of a bitmap, from bit `start` on. */
TLI_FN uint64_t tli_ipcvalue_ones(const uint8_t *bits, uint64_t start, uint64_t n)
{
    uint64_t count = 0, i = 0;
    for (; i < n && ((start + i) & 7) != 0; i++)
        count += (uint64_t)tli_bits_get(bits, start + i);
    bits += (start + i) / 8;
    n -= i;
    for (i = 0; i + 64 <= n; i += 64) {
        uint64_t v = tli_bits_u64(bits + i / 8);
        v = v - ((v >> 1) & 0x5555555555555555u);
        v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        count += (v * 0x0101010101010101u) >> 56;
    }
    for (; i < n; i++)
        count += (uint64_t)tli_bits_get(bits, i);
    return count;
}

/* 1 when n + 1 offsets of 4 bytes never fall and none is negative. In steps of 16 so that compilers use vectors. */
TLI_FN int tli_ipcvalue_rising32(const uint8_t *p, uint64_t n)
{
    uint32_t bad[16], a[16], b[16], all = tli_bits_u32(p);
    uint64_t i = 0;
    int j;
    TLI_FILL(bad, 0, sizeof bad);
    for (; i + 16 <= n; i += 16) {
        TLI_COPY(a, p + 4 * i, sizeof a);
        TLI_COPY(b, p + 4 * i + 4, sizeof b);
        for (j = 0; j < 16; j++)
            bad[j] |= (b[j] - a[j]) | b[j];
    }
    for (j = 0; j < 16; j++)
        all |= bad[j];
    for (; i < n; i++)
        all |= (tli_bits_u32(p + 4 * i + 4) - tli_bits_u32(p + 4 * i)) | tli_bits_u32(p + 4 * i + 4);
    return (all >> 31) == 0;
}

TLI_FN int tli_ipcvalue_rising64(const uint8_t *p, uint64_t n)
{
    uint64_t bad[8], a[8], b[8], all = tli_bits_u64(p), i = 0;
    int j;
    TLI_FILL(bad, 0, sizeof bad);
    for (; i + 8 <= n; i += 8) {
        TLI_COPY(a, p + 8 * i, sizeof a);
        TLI_COPY(b, p + 8 * i + 8, sizeof b);
        for (j = 0; j < 8; j++)
            bad[j] |= (b[j] - a[j]) | b[j];
    }
    for (j = 0; j < 8; j++)
        all |= bad[j];
    for (; i < n; i++)
        all |= (tli_bits_u64(p + 8 * i + 8) - tli_bits_u64(p + 8 * i)) | tli_bits_u64(p + 8 * i + 8);
    return (all >> 63) == 0;
}

/* Offset i of an array. */
TLI_INLINE int64_t tli_ipcvalue_offset(tl_type_id id, const void *offsets, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)offsets;
    return TLI_IPC_WIDE_OFFSETS(id) ? (int64_t)tli_bits_u64(p + 8 * i) : (int64_t)(int32_t)tli_bits_u32(p + 4 * i);
}

/* Offsets of a node with rows: never falling, from 0 or above, to at most `limit`. */
TLI_FN int tli_ipcvalue_offsets_good(tl_type_id id, const struct ArrowArray *a, uint64_t limit)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1];
    uint64_t n = (uint64_t)a->length;
    return (TLI_IPC_WIDE_OFFSETS(id) ? tli_ipcvalue_rising64(p, n) : tli_ipcvalue_rising32(p, n))
           && (uint64_t)tli_ipcvalue_offset(id, p, n) <= limit;
}

/* Leading bytes that are ASCII, counted in steps of 32. */
TLI_FN size_t tli_ipcvalue_ascii(const uint8_t *p, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        uint64_t v = tli_bits_u64(p + i) | tli_bits_u64(p + i + 8);
        v |= tli_bits_u64(p + i + 16) | tli_bits_u64(p + i + 24);
        if ((v & 0x8080808080808080u) != 0)
            break;
    }
    while (i < n && p[i] < 0x80)
        i++;
    return i;
}

/* 1 when no character of the valid text p[0..size) is cut at `at`. */
TLI_INLINE int tli_ipcvalue_boundary(const uint8_t *p, uint64_t size, uint64_t at)
{
    return at >= size || (p[at] & 0xc0) != 0x80;
}

TLI_INLINE int tli_ipcvalue_is_null(const struct ArrowArray *a, uint64_t i)
{
    return a->buffers[0] != NULL && !tli_bits_get(a->buffers[0], i);
}

/* 1 when each text of an array with good offsets is UTF-8. First all bytes at once, then where the texts are cut; when
   that says no, one by one, those under a null passed over. */
TLI_FN int tli_ipcvalue_texts_good(tl_type_id id, const struct ArrowArray *a)
{
    const uint8_t *offsets = (const uint8_t *)a->buffers[1], *data = (const uint8_t *)a->buffers[2];
    uint64_t n = (uint64_t)a->length, i;
    uint64_t first = (uint64_t)tli_ipcvalue_offset(id, offsets, 0), last = (uint64_t)tli_ipcvalue_offset(id, offsets,
                                                                                                         n);
    size_t ascii = tli_ipcvalue_ascii(data + first, (size_t)(last - first));
    uint64_t from = first + ascii;
    int cut = 0;
    if (from == last)
        return 1;
    if (tli_text_utf8(data + from, (size_t)(last - from)) == last - from) {
        for (i = 0; i <= n; i++)
            cut |= !tli_ipcvalue_boundary(data, last, (uint64_t)tli_ipcvalue_offset(id, offsets, i));
        if (!cut)
            return 1;
    }
    for (i = 0; i < n; i++) {
        uint64_t start = (uint64_t)tli_ipcvalue_offset(id, offsets, i), size;
        size = (uint64_t)tli_ipcvalue_offset(id, offsets, i + 1) - start;
        if (!tli_ipcvalue_is_null(a, i) && tli_text_utf8(data + start, (size_t)size) != size)
            return 0;
    }
    return 1;
}

/* The views of an array. `texts`: which of the other buffers are valid UTF-8 as a whole (a bit each), so that a text in
   them is good when it is not cut; NULL: the values are bytes. *work: bytes that may still be looked at one by one. */
TLI_FN int tli_ipcvalue_view_good(const struct ArrowArray *a, const uint8_t *view, const uint8_t *texts, uint64_t *work)
{
    uint32_t size = tli_bits_u32(view), index = tli_bits_u32(view + 8), at = tli_bits_u32(view + 12), i;
    const uint8_t *data, *sizes = (const uint8_t *)a->buffers[a->n_buffers - 1];
    uint64_t length;
    if (size <= 12) {
        for (i = size; i < 12; i++)
            if (view[4 + i] != 0)
                return 0;
        return texts == NULL || tli_text_utf8(view + 4, size) == size;
    }
    if (size > INT32_MAX || index >= (uint64_t)a->n_buffers - 3)
        return 0;
    length = tli_bits_u64(sizes + 8 * (size_t)index);
    if (at > length || size > length - at)
        return 0;
    data = (const uint8_t *)a->buffers[2 + index];
    if (TLI_COMPARE(data + at, view + 4, 4) != 0)
        return 0;
    if (texts == NULL)
        return 1;
    if (tli_bits_get(texts, index) && tli_ipcvalue_boundary(data, length, at)
        && tli_ipcvalue_boundary(data, length, (uint64_t)at + size))
        return 1;
    if (size > *work)
        return 0;
    *work -= size;
    return tli_text_utf8(data + at, size) == size;
}

TLI_FN tl_status tli_ipcvalue_check_views(const tli_ipcvalue_job *job, const tli_ipc_node *node,
                                          const struct ArrowArray *a, tl_error *err)
{
    uint64_t others = (uint64_t)a->n_buffers - 3, i, work = (uint64_t)1 << 20;
    const uint8_t *sizes = (const uint8_t *)a->buffers[a->n_buffers - 1], *views = (const uint8_t *)a->buffers[1];
    uint8_t *texts = NULL;
    if (node->id == TL_TYPE_UTF8_VIEW) {
        texts = (uint8_t *)tli_mem_take_array(job->stream->store, others / 8 + 1, 1, err);
        if (texts == NULL)
            return err->status;
        for (i = 0; i < others; i++) {
            size_t size = (size_t)tli_bits_u64(sizes + 8 * i);
            work += 8 * (uint64_t)size;
            if (tli_text_utf8(a->buffers[2 + i], size) == size)
                tli_bits_set(texts, i);
        }
    }
    for (i = 0; i < (uint64_t)a->length; i++)
        if (!tli_ipcvalue_view_good(a, views + 16 * i, texts, &work) && !tli_ipcvalue_is_null(a, i))
            return tli_err(err, TL_CORRUPT, "a view in an Arrow array is wrong", job->message->position);
    return TL_OK;
}

/* Index i of a dictionary column, as an unsigned number of its width. */
TLI_INLINE uint64_t tli_ipcvalue_key(const uint8_t *p, int32_t width, uint64_t i)
{
    switch (width) {
    case 1: return p[i];
    case 2: return tli_bits_u16(p + 2 * i);
    case 4: return tli_bits_u32(p + 4 * i);
    default: return tli_bits_u64(p + 8 * i);
    }
}

/* 1 when every index under `limit`, which is at least 1. */
TLI_FN int tli_ipcvalue_keys_below(const uint8_t *p, int32_t width, uint64_t n, uint64_t limit)
{
    uint32_t bad = 0;
    uint64_t i;
    if (width == 1)
        for (i = 0; i < n; i++)
            bad |= p[i] > (limit - 1);
    else if (width == 2)
        for (i = 0; i < n; i++)
            bad |= tli_bits_u16(p + 2 * i) > limit - 1;
    else if (width == 4)
        for (i = 0; i < n; i++)
            bad |= tli_bits_u32(p + 4 * i) > limit - 1;
    else
        for (i = 0; i < n; i++)
            bad |= tli_bits_u64(p + 8 * i) > limit - 1;
    return bad == 0;
}

/* Indices are in the dictionary, but for those under a null. */
TLI_FN int tli_ipcvalue_keys_good(const tli_ipc_node *node, const struct ArrowArray *a)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1];
    uint64_t limit = (uint64_t)a->dictionary->length, i;
    if (node->id <= TL_TYPE_INT64)
        limit = TLI_MIN(limit, (uint64_t)1 << (8 * node->width - 1));
    if (limit > 0 && tli_ipcvalue_keys_below(p, node->width, (uint64_t)a->length, limit))
        return 1;
    for (i = 0; i < (uint64_t)a->length; i++)
        if (!tli_ipcvalue_is_null(a, i) && tli_ipcvalue_key(p, node->width, i) >= limit)
            return 0;
    return 1;
}

/* 1 when element i of a node is under a null of the struct or fixed-size list that it is part of, or in no row of that.
   Nulls further up do not count: arrow-rs refuses such batches. */
TLI_FN int tli_ipcvalue_masked(const tli_ipcvalue_job *job, int32_t node, uint64_t i)
{
    const tli_ipc_node *parent;
    const struct ArrowArray *a;
    node = job->stream->layout.nodes[node].parent;
    if (node < job->first)
        return 0;
    parent = &job->stream->layout.nodes[node];
    a = *tli_ipcvalue_array(job, node);
    if (parent->id != TL_TYPE_STRUCT && parent->id != TL_TYPE_FIXED_LIST)
        return 0;
    if (parent->id == TL_TYPE_FIXED_LIST && parent->size == 0)
        return 1;
    if (parent->id == TL_TYPE_FIXED_LIST)
        i /= (uint64_t)parent->size;
    return i >= (uint64_t)a->length || tli_ipcvalue_is_null(a, i);
}

/* Counts the nulls; a field that may not be null has none but where its parent is. */
TLI_FN tl_status tli_ipcvalue_check_nulls(const tli_ipcvalue_job *job, int32_t i, struct ArrowArray *a, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    uint64_t n = (uint64_t)a->length, k;
    if (node->id == TL_TYPE_NULL || a->buffers[0] == NULL)
        return TL_OK;
    a->null_count = (int64_t)(n - tli_ipcvalue_ones((const uint8_t *)a->buffers[0], 0, n));
    if (a->null_count == 0) {
        a->buffers[0] = NULL;
        return TL_OK;
    }
    if ((node->schema->flags & ARROW_FLAG_NULLABLE) != 0)
        return TL_OK;
    for (k = 0; k < n; k++)
        if (tli_ipcvalue_is_null(a, k) && !tli_ipcvalue_masked(job, i, k))
            return tli_err(err, TL_CORRUPT, "a null in an Arrow field that has none", job->message->position);
    return TL_OK;
}

/* The size of buffer `j` of a node, in bytes of values. */
TLI_FN tl_status tli_ipcvalue_size_of(const tli_ipcvalue_job *job, const tli_ipc_node *node, int32_t j, uint64_t *size,
                                      tl_error *err)
{
    int32_t count;
    tli_ipcvalue_buffer b;
    uint32_t first = tli_ipcvalue_first_buffer(job, node, &count);
    tl_status st = tli_ipcvalue_buffer_of(job->stream, job->message, first + (uint32_t)j, &b, err);
    *size = b.size;
    return st;
}

/* All that can be wrong in the values of a node. Its children are planned and filled. */
TLI_FN tl_status tli_ipcvalue_check_node(const tli_ipcvalue_job *job, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &job->stream->layout.nodes[i];
    struct ArrowArray *a = *tli_ipcvalue_array(job, i);
    uint64_t limit = 0;
    tl_status st;
    if (a->length == 0)
        return TL_OK;
    st = tli_ipcvalue_check_nulls(job, i, a, err);
    if (st == TL_OK && tli_ipc_buffers(node->id) == 3)
        st = tli_ipcvalue_size_of(job, node, 2, &limit, err);
    if (st != TL_OK)
        return st;
    if (TLI_IPC_LIST_TYPE(node->id))
        limit = (uint64_t)a->children[0]->length;
    if ((tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id)) && !tli_ipcvalue_offsets_good(node->id, a,
                                                                                                      limit))
        return tli_err(err, TL_CORRUPT, "the offsets of an Arrow array are wrong", job->message->position);
    if (TLI_IPC_TEXT_TYPE(node->id) && !tli_ipcvalue_texts_good(node->id, a))
        return tli_err(err, TL_CORRUPT, "a text in an Arrow array is not UTF-8", job->message->position);
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipcvalue_check_views(job, node, a, err);
    if (node->encoding >= 0 && !tli_ipcvalue_keys_good(node, a))
        return tli_err(err, TL_CORRUPT, "an index in an Arrow array is outside of its dictionary",
                       job->message->position);
    return TL_OK;
}

/* Which state of its dictionary a column of `message` sees: the last one before it. The values of a dictionary may also
   come before those of a dictionary inside of them. -1: none. */
TLI_FN int32_t tli_ipcvalue_state(const tli_ipc_stream *s, int32_t encoding, const tli_ipc_message *message)
{
    const tli_ipc_dictionary *d = &s->dictionaries[s->encodings[encoding]];
    int32_t low = d->first, high = d->end, index;
    if (message == NULL)
        return -1;
    index = (int32_t)(message - s->messages);
    while (low < high) {
        int32_t mid = low + (high - low) / 2;
        if (s->states[mid] < index)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > d->first)
        return low - 1;
    return message->dictionary >= 0 && d->end > d->first ? d->first : -1;
}

/* The place of the values of a state: NULL in it until they are decoded. */
TLI_INLINE struct ArrowArray **tli_ipcvalue_values(const tli_ipc_stream *s, int32_t encoding, int32_t state)
{
    return state >= 0 ? &s->messages[s->states[state]].values : &s->dictionaries[s->encodings[encoding]].absent;
}

/* Decodes the nodes of a job. The dictionaries they use are there. */
TLI_FN tl_status tli_ipcvalue_run(const tli_ipcvalue_job *job, tl_error *err)
{
    tli_ipc_stream *s = job->stream;
    tl_status st = TL_OK;
    int32_t i;
    for (i = job->first; i < job->end && st == TL_OK; i = tli_ipc_step(&s->layout, i))
        st = tli_ipcvalue_plan_node(job, i, err);
    for (i = job->first; i < job->end && st == TL_OK && job->message != NULL; i = tli_ipc_step(&s->layout, i))
        st = tli_ipcvalue_fill_node(job, i, err);
    tli_mem_delete(&s->store->allocator, s->work, TLI_ZSTD_WORK);
    s->work = NULL;
    for (i = job->first; i < job->end && st == TL_OK; i = tli_ipc_step(&s->layout, i)) {
        int32_t e = s->layout.nodes[i].encoding;
        if (e >= 0)
            (*tli_ipcvalue_array(job, i))->dictionary = *tli_ipcvalue_values(s, e, tli_ipcvalue_state(s, e,
                                                                                                      job->message));
        st = tli_ipcvalue_check_node(job, i, err);
    }
    return st;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* >>ipcdict: columns of Arrow streams: slices, dictionaries with their deltas, and what all of it takes. */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* ---- slices, and joining them ---- */

/* A part of an array: `start` counts in its buffers, so that the array's own offset is in it. */
typedef struct tli_ipcdict_slice {
    const struct ArrowArray *array;
    int64_t start;
    int64_t length;
    int64_t nulls;
} tli_ipcdict_slice;

TLI_FN tli_ipcdict_slice tli_ipcdict_slice_of(const tli_ipc_node *node, const struct ArrowArray *a, int64_t start,
                                              int64_t length)
{
    tli_ipcdict_slice s;
    s.array = a;
    s.start = start;
    s.length = length;
    s.nulls = 0;
    if (node->id == TL_TYPE_NULL)
        s.nulls = length;
    else if (length > 0 && a->null_count != 0 && a->buffers[0] != NULL)
        s.nulls = length - (int64_t)tli_ipcvalue_ones((const uint8_t *)a->buffers[0], (uint64_t)start,
                                                      (uint64_t)length);
    return s;
}

/* The part of a child that belongs to a part of its parent. */
TLI_FN tli_ipcdict_slice tli_ipcdict_slice_child(const tli_ipc_node *above, const tli_ipcdict_slice *parent,
                                                 const tli_ipc_node *node)
{
    const struct ArrowArray *child = parent->array->children[node->place];
    int64_t start = parent->start, length = parent->length;
    if (above->id == TL_TYPE_FIXED_LIST) {
        start *= above->size;
        length *= above->size;
    } else if (TLI_IPC_LIST_TYPE(above->id) && length > 0) {
        const void *offsets = parent->array->buffers[1];
        int64_t end = tli_ipcvalue_offset(above->id, offsets, (uint64_t)(start + length));
        start = tli_ipcvalue_offset(above->id, offsets, (uint64_t)start);
        length = end - start;
    }
    return tli_ipcdict_slice_of(node, child, start + child->offset, length);
}

/* The bits of a slice's buffer `j` (all set where there is none) to bit `at` and on, in cleared memory. */
TLI_FN void tli_ipcdict_put_bits(uint8_t *to, uint64_t at, const tli_ipcdict_slice *s, int32_t j)
{
    const uint8_t *from = (const uint8_t *)s->array->buffers[j];
    uint64_t i = 0, n = (uint64_t)s->length, start = (uint64_t)s->start;
    for (; i < n && ((at + i) & 7) != 0; i++)
        if (from == NULL || tli_bits_get(from, start + i))
            tli_bits_set(to, at + i);
    for (; i + 8 <= n; i += 8) {
        uint32_t shift = (uint32_t)((start + i) & 7), v = 0xff;
        if (from != NULL) {
            const uint8_t *p = from + (start + i) / 8;
            v = (uint32_t)p[0] >> shift;
            if (shift != 0)
                v |= (uint32_t)p[1] << (8 - shift);
        }
        to[(at + i) / 8] = (uint8_t)v;
    }
    for (; i < n; i++)
        if (from == NULL || tli_bits_get(from, start + i))
            tli_bits_set(to, at + i);
}

/* The offsets of a slice, one more than it has elements, so that the first is `base`. Answers the last. */
TLI_FN int64_t tli_ipcdict_put_offsets(uint8_t *to, int64_t base, tl_type_id id, const tli_ipcdict_slice *s)
{
    const uint8_t *from = (const uint8_t *)s->array->buffers[1];
    uint64_t i, n = (uint64_t)s->length, start = (uint64_t)s->start, shift;
    if (n == 0) { /* the buffer may be empty */
        if (TLI_IPC_WIDE_OFFSETS(id))
            tli_bits_put64(to, (uint64_t)base);
        else
            tli_bits_put32(to, (uint32_t)base);
        return base;
    }
    shift = (uint64_t)(base - tli_ipcvalue_offset(id, from, start));
    if (TLI_IPC_WIDE_OFFSETS(id))
        for (i = 0; i <= n; i++)
            tli_bits_put64(to + 8 * i, tli_bits_u64(from + 8 * (start + i)) + shift);
    else
        for (i = 0; i <= n; i++)
            tli_bits_put32(to + 4 * i, tli_bits_u32(from + 4 * (start + i)) + (uint32_t)shift);
    return (int64_t)((uint64_t)tli_ipcvalue_offset(id, from, start + n) + shift);
}

/* The bytes that the texts of a slice take, from *first on. */
TLI_FN uint64_t tli_ipcdict_slice_bytes(tl_type_id id, const tli_ipcdict_slice *s, uint64_t *first)
{
    *first = 0;
    if (s->length == 0)
        return 0;
    *first = (uint64_t)tli_ipcvalue_offset(id, s->array->buffers[1], (uint64_t)s->start);
    return (uint64_t)tli_ipcvalue_offset(id, s->array->buffers[1], (uint64_t)(s->start + s->length)) - *first;
}

/* Several arrays of one record become one. */
typedef struct tli_ipcdict_join {
    tli_ipc_stream *stream;
    const tli_ipc_record *record;
    tli_ipcdict_slice *slices; /* of part p and node i: [p * record->nodes + ordinal] */
    int32_t parts;
    int64_t length;             /* of the node at hand */
    struct ArrowArray **arrays; /* the result, by ordinal */
    uint64_t position;
} tli_ipcdict_join;

TLI_INLINE const tli_ipcdict_slice *tli_ipcdict_part(const tli_ipcdict_join *j, const tli_ipc_node *node, int32_t part)
{
    return &j->slices[(size_t)part * (size_t)j->record->nodes + (size_t)node->ordinal];
}

TLI_FN uint8_t *tli_ipcdict_join_take(const tli_ipcdict_join *j, struct ArrowArray *a, int32_t buffer, uint64_t count,
                                      uint64_t size, tl_error *err)
{
    uint64_t bytes;
    uint8_t *p = NULL;
    if (tli_bits_mul(count, size, &bytes))
        p = (uint8_t *)tli_mem_take_array(j->stream->store, bytes, 1, err);
    else
        (void)tli_err(err, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    a->buffers[buffer] = p;
    return p;
}

TLI_FN tl_status tli_ipcdict_join_bits(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                       int32_t buffer, tl_error *err)
{
    uint8_t *to = tli_ipcdict_join_take(j, a, buffer, ((uint64_t)j->length + 7) / 8, 1, err);
    uint64_t at = 0;
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        if (s->length > 0)
            tli_ipcdict_put_bits(to, at, s, buffer);
        at += (uint64_t)s->length;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_fixed(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                        tl_error *err)
{
    size_t width = (size_t)node->width;
    uint8_t *to = tli_ipcdict_join_take(j, a, 1, (uint64_t)j->length, width, err);
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        if (s->length > 0 && width > 0)
            TLI_COPY(to, (const uint8_t *)s->array->buffers[1] + (size_t)s->start * width, (size_t)s->length * width);
        to += (size_t)s->length * width;
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_offsets(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                          tl_error *err)
{
    size_t width = TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4;
    uint8_t *to = tli_ipcdict_join_take(j, a, 1, (uint64_t)j->length + 1, width, err);
    int64_t base = 0;
    uint64_t first;
    int32_t p;
    if (to == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        uint64_t bytes = tli_ipcdict_slice_bytes(node->id, s, &first);
        if ((uint64_t)base + bytes > (width == 8 ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX))
            return tli_err(err, TL_UNSUPPORTED, "the deltas of an Arrow dictionary outgrow its offsets", j->position);
        base = tli_ipcdict_put_offsets(to, base, node->id, s);
        to += (size_t)s->length * width;
    }
    if (tli_ipc_buffers(node->id) != 3)
        return TL_OK;
    to = tli_ipcdict_join_take(j, a, 2, (uint64_t)base, 1, err);
    for (p = 0; to != NULL && p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        uint64_t bytes = tli_ipcdict_slice_bytes(node->id, s, &first);
        if (bytes != 0)
            TLI_COPY(to, (const uint8_t *)s->array->buffers[2] + first, (size_t)bytes);
        to += bytes;
    }
    return a->buffers[2] == NULL ? err->status : TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_views(const tli_ipcdict_join *j, const tli_ipc_node *node, struct ArrowArray *a,
                                        tl_error *err)
{
    uint8_t *to = tli_ipcdict_join_take(j, a, 1, (uint64_t)j->length, 16, err), *sizes = NULL;
    uint32_t before = 0;
    int32_t p;
    if (to != NULL)
        sizes = tli_ipcdict_join_take(j, a, (int32_t)(a->n_buffers - 1), (uint64_t)a->n_buffers, 8, err);
    if (sizes == NULL)
        return err->status;
    for (p = 0; p < j->parts; p++) {
        const tli_ipcdict_slice *s = tli_ipcdict_part(j, node, p);
        uint32_t others = (uint32_t)(s->array->n_buffers - 3), k;
        for (k = 0; k < (uint64_t)s->length; k++, to += 16) {
            TLI_COPY(to, (const uint8_t *)s->array->buffers[1] + 16 * ((size_t)s->start + k), 16);
            if (tli_bits_u32(to) > 12)
                tli_bits_put32(to + 8, tli_bits_u32(to + 8) + before);
        }
        for (k = 0; k < others; k++)
            a->buffers[2 + before + k] = s->array->buffers[2 + k];
        if (others != 0)
            TLI_COPY(sizes + 8 * (size_t)before, s->array->buffers[2 + others], 8 * (size_t)others);
        before += others;
    }
    return TL_OK;
}

/* The parts of node i, from those of its parent; their lengths are added up. */
TLI_FN tl_status tli_ipcdict_join_parts(tli_ipcdict_join *j, int32_t i, int64_t *nulls, int64_t *others, tl_error *err)
{
    const tli_ipc_layout *l = &j->stream->layout;
    const tli_ipc_node *node = &l->nodes[i];
    int32_t p;
    j->length = *nulls = *others = 0;
    for (p = 0; p < j->parts; p++) {
        tli_ipcdict_slice *s = &j->slices[(size_t)p * (size_t)j->record->nodes + (size_t)node->ordinal];
        if (i != j->record->first)
            *s = tli_ipcdict_slice_child(&l->nodes[node->parent], tli_ipcdict_part(j, &l->nodes[node->parent], p),
                                         node);
        j->length += s->length;
        *nulls += s->nulls;
        *others += s->array->n_buffers;
        if ((uint64_t)j->length > j->stream->limits.rows)
            return tli_err_need(err, TL_LIMIT, "limits.rows", j->position, (uint64_t)j->length);
        if (node->encoding >= 0
            && s->array->dictionary->buffers != tli_ipcdict_part(j, node, 0)->array->dictionary->buffers)
            return tli_err(err, TL_UNSUPPORTED, "deltas of an Arrow dictionary around a change of a dictionary in it",
                           j->position);
    }
    return TL_OK;
}

TLI_FN tl_status tli_ipcdict_join_node(tli_ipcdict_join *j, int32_t i, tl_error *err)
{
    const tli_ipc_layout *l = &j->stream->layout;
    const tli_ipc_node *node = &l->nodes[i];
    int64_t nulls, others, buffers = tli_ipc_buffers(node->id);
    struct ArrowArray *a;
    tl_status st = tli_ipcdict_join_parts(j, i, &nulls, &others, err);
    if (st != TL_OK)
        return st;
    if (TLI_IPC_VIEW_TYPE(node->id))
        buffers = others - 3 * (int64_t)j->parts + 3;
    a = tli_arrow_array_new(j->stream->store, buffers, node->schema->n_children, err);
    if (a == NULL)
        return err->status;
    a->length = j->length;
    a->null_count = nulls;
    if (i != j->record->first)
        j->arrays[l->nodes[node->parent].ordinal]->children[node->place] = a;
    j->arrays[node->ordinal] = a;
    if (nulls != 0 && node->id != TL_TYPE_NULL)
        st = tli_ipcdict_join_bits(j, node, a, 0, err);
    if (st != TL_OK || buffers < 2)
        return st;
    if (node->encoding >= 0)
        a->dictionary = tli_ipcdict_part(j, node, j->parts - 1)->array->dictionary;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipcdict_join_views(j, node, a, err);
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return tli_ipcdict_join_offsets(j, node, a, err);
    return node->id == TL_TYPE_BOOL ? tli_ipcdict_join_bits(j, node, a, 1, err) : tli_ipcdict_join_fixed(j, node, a,
                                                                                                         err);
}

/* ---- dictionaries ---- */

/* The first `length` values of `all`, which are the last but shorter. */
TLI_FN struct ArrowArray *tli_ipcdict_prefix(tli_store *store, const struct ArrowArray *all, int64_t length,
                                             int64_t nulls, tl_error *err)
{
    struct ArrowArray *a = (struct ArrowArray *)tli_mem_take(store, sizeof *a, err);
    if (a == NULL)
        return NULL;
    *a = *all;
    a->length = length;
    a->null_count = nulls;
    return a;
}

/* A dictionary and its deltas: one array of all, of which each state is the beginning. */
TLI_FN tl_status tli_ipcdict_decode_deltas(tli_ipc_stream *s, const tli_ipc_want *w, tl_error *err)
{
    const tli_ipc_record *record = &s->layout.encodings[s->dictionaries[w->dictionary].encoding];
    tli_ipcdict_join j;
    int32_t i, p;
    int64_t length = 0, nulls = 0;
    tl_status st = TL_OK;
    TLI_FILL(&j, 0, sizeof j);
    j.stream = s;
    j.record = record;
    j.parts = w->last - w->base + 1;
    j.arrays = s->arrays;
    j.position = s->messages[s->states[w->base]].position;
    j.slices = (tli_ipcdict_slice *)tli_mem_take_array(s->store, (uint64_t)j.parts * (uint64_t)record->nodes,
                                                       sizeof *j.slices, err);
    if (j.slices == NULL)
        return err->status;
    for (p = 0; p < j.parts && st == TL_OK; p++) {
        tli_ipcvalue_job job;
        job.stream = s;
        job.message = &s->messages[s->states[w->base + p]];
        job.first = record->first;
        job.end = record->end;
        job.rows = job.message->rows;
        job.arrays = s->arrays;
        st = tli_ipcvalue_run(&job, err);
        if (st == TL_OK)
            j.slices[(size_t)p * (size_t)record->nodes] =
                tli_ipcdict_slice_of(&s->layout.nodes[record->first], s->arrays[0], 0, job.rows);
    }
    for (i = record->first; i < record->end && st == TL_OK; i = tli_ipc_step(&s->layout, i))
        st = tli_ipcdict_join_node(&j, i, err);
    for (p = 0; p < j.parts && st == TL_OK; p++) {
        struct ArrowArray **values = &s->messages[s->states[w->base + p]].values;
        length += j.slices[(size_t)p * (size_t)record->nodes].length;
        nulls += j.slices[(size_t)p * (size_t)record->nodes].nulls;
        *values = tli_ipcdict_prefix(s->store, s->arrays[0], length, nulls, err);
        if (*values == NULL)
            return err->status;
    }
    return st;
}

/* The values of a dictionary whose own dictionaries are there. */
TLI_FN tl_status tli_ipcdict_decode_values(tli_ipc_stream *s, const tli_ipc_want *w, tl_error *err)
{
    tli_ipc_dictionary *d = &s->dictionaries[w->dictionary];
    tli_ipcvalue_job job;
    tl_status st;
    if (w->base != w->last)
        return tli_ipcdict_decode_deltas(s, w, err);
    job.stream = s;
    job.message = w->base < 0 ? NULL : &s->messages[s->states[w->base]];
    job.first = w->first;
    job.end = w->end;
    job.rows = job.message != NULL ? job.message->rows : 0;
    job.arrays = s->arrays;
    st = tli_ipcvalue_run(&job, err);
    if (st == TL_OK && w->base < 0)
        d->absent = s->arrays[0];
    else if (st == TL_OK)
        s->messages[s->states[w->base]].values = s->arrays[0];
    return st;
}

/* The next dictionary below `w` that is not decoded yet; 0: all are. */
TLI_FN int tli_ipcdict_missing(const tli_ipc_stream *s, tli_ipc_want *w, tli_ipc_want *below)
{
    const tli_ipc_layout *l = &s->layout;
    for (;; w->state++, w->node = w->first) {
        if (w->state >= 0)
            w->message = &s->messages[s->states[w->state]];
        for (; w->node < w->end; w->node = tli_ipc_step(l, w->node)) {
            int32_t e = l->nodes[w->node].encoding, state;
            if (e < 0 || *tli_ipcvalue_values(s, e, state = tli_ipcvalue_state(s, e, w->message)) != NULL)
                continue;
            below->dictionary = s->encodings[e];
            below->first = below->node = l->encodings[s->dictionaries[below->dictionary].encoding].first;
            below->end = l->encodings[s->dictionaries[below->dictionary].encoding].end;
            below->base = below->state = below->last = state < 0 ? -1 : s->messages[s->states[state]].base;
            below->message = NULL;
            while (state >= 0 && below->last + 1 < s->dictionaries[below->dictionary].end
                   && s->messages[s->states[below->last + 1]].base == below->base)
                below->last++;
            return 1;
        }
        if (w->state >= w->last)
            return 0;
    }
}

/* Decodes the dictionaries that a column of a batch uses, and those that they use, the innermost first. */
TLI_FN tl_status tli_ipcdict_bring(tli_ipc_stream *s, int32_t column, const tli_ipc_message *m, tl_error *err)
{
    tli_ipc_want *w = s->wants;
    uint32_t top = 0;
    if (s->dictionary_count == 0)
        return TL_OK;
    w->first = w->node = column;
    w->end = s->layout.nodes[column].end;
    w->dictionary = w->base = w->state = w->last = -1;
    w->message = m;
    for (;;) {
        tl_status st;
        if (tli_ipcdict_missing(s, &w[top], &w[top + 1])) {
            top++;
            continue;
        }
        if (top == 0)
            return TL_OK;
        st = tli_ipcdict_decode_values(s, &w[top--], err);
        if (st != TL_OK)
            return st;
    }
}

/* Decodes and checks one column of one batch. What it takes stays with the store, even when it fails. */
TLI_FN tl_status tli_ipc_column(tli_ipc_stream *s, int32_t batch, int32_t column, const struct ArrowArray **out,
                                tl_error *err)
{
    tl_error local;
    tli_ipcvalue_job job;
    tl_status st;
    err = err != NULL ? err : &local;
    if (batch < 0 || batch >= s->batch_count || column < 0 || column >= s->schema->n_children)
        return tli_err(err, TL_MISUSE, "no such batch or column", TL_NO_POSITION);
    job.stream = s;
    job.message = &s->messages[s->batches[batch].message];
    job.first = s->columns[column];
    job.end = s->layout.nodes[job.first].end;
    job.rows = s->batches[batch].rows;
    job.arrays = s->arrays;
    st = tli_ipcdict_bring(s, job.first, job.message, err);
    if (st == TL_OK)
        st = tli_ipcvalue_run(&job, err);
    if (st == TL_OK)
        *out = s->arrays[0];
    return st;
}

/* ---- how much memory ---- */

/* What a message takes at most when all of it is decoded; small pieces are rounded up to what their chunks waste. */
TLI_FN uint64_t tli_ipcdict_message_memory(const tli_ipc_stream *s, const tli_ipc_message *m,
                                           const tli_ipc_record *record, uint64_t *once)
{
    uint64_t total = 0;
    uint32_t n = (uint32_t)record->buffers + (m->variadic != NULL ? m->variadic[record->views] : 0), i;
    for (i = 0; i < n; i++) {
        tli_ipcvalue_buffer b;
        uint64_t size = 0;
        if (tli_ipcvalue_buffer_of(s, m, i, &b, NULL) == TL_OK && (b.packed || TLI_BIG_ENDIAN))
            size = b.size;
        if (size != 0 && b.packed && m->codec == TLI_IPC_ZSTD && s->compression.decompress == NULL)
            *once = (uint64_t)2 * TLI_MEM_CHUNK + TLI_ZSTD_WORK;
        total += 32 + sizeof(void *) + size + (size < 1024 ? size / 4 : 0);
    }
    total += (uint64_t)record->nodes * (sizeof(struct ArrowArray) + sizeof(void *) * 2 + 64) * 5 / 4;
    total += (uint64_t)record->views * 64 + (m->variadic != NULL ? (uint64_t)m->variadic[record->views] * 10 : 0);
    return total;
}

/* The most memory that opening every column of every batch takes, once the stream is open. *once is raised to what a
   store needs once for all its streams: started chunks, and work memory of the decoder. */
TLI_FN uint64_t tli_ipc_memory(const tli_ipc_stream *s, uint64_t *once)
{
    uint64_t total = 0;
    int32_t i;
    if (s->message_count != 0)
        *once = TLI_MAX(*once, (uint64_t)2 * TLI_MEM_CHUNK);
    for (i = 0; i < s->message_count; i++) {
        const tli_ipc_message *m = &s->messages[i];
        const tli_ipc_record *record = &s->layout.columns;
        uint64_t need;
        if (m->dictionary >= 0)
            record = &s->layout.encodings[s->dictionaries[m->dictionary].encoding];
        need = tli_ipcdict_message_memory(s, m, record, once);
        if (m->dictionary >= 0) /* joined with its deltas */
            need = need * 2 + m->body_size + (uint64_t)record->nodes * sizeof(tli_ipcdict_slice) * 2;
        if (!tli_bits_add(total, need, &total))
            return UINT64_MAX;
    }
    for (i = 0; i < s->dictionary_count; i++) /* without values */
        total += (uint64_t)s->layout.encodings[s->dictionaries[i].encoding].nodes * 512;
    return total;
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* >>ipcwrite: writing Arrow IPC streams. */
#ifndef TIMELAKE_NO_HEAD_ARROW
/* ---- writing: schema ---- */

/* A layout of its own, for writing. */
TLI_FN void tli_ipcwrite_layout_end(const tl_allocator *a, tli_ipc_layout *l, uint32_t nodes)
{
    tli_mem_delete(a, l->nodes, (size_t)nodes * sizeof *l->nodes);
    tli_mem_delete(a, l->encodings, (size_t)l->encoding_count * sizeof *l->encodings);
    l->nodes = NULL;
    l->encodings = NULL;
}

TLI_FN tl_status tli_ipcwrite_layout_new(const tl_allocator *a, tli_ipc_layout *l, const struct ArrowSchema *schema,
                                         uint32_t *nodes, tl_error *err)
{
    tl_limits most;
    tl_status st;
    TLI_FILL(l, 0, sizeof *l);
    TLI_FILL(&most, 0, sizeof most);
    most.depth = 256;
    most.columns = INT32_MAX / 4;
    st = tli_arrow_schema_check(schema, &most, nodes, err);
    if (st != TL_OK)
        return st;
    l->nodes = (tli_ipc_node *)tli_mem_new(a, (size_t)*nodes * sizeof *l->nodes);
    if (l->nodes == NULL)
        return tli_mem_failed(a, err);
    st = tli_ipc_list(l, schema, err);
    if (st == TL_OK) {
        l->encodings = (tli_ipc_record *)tli_mem_new(a, (size_t)l->encoding_count * sizeof *l->encodings);
        if (l->encodings == NULL)
            st = tli_mem_failed(a, err);
    }
    if (st == TL_OK)
        tli_ipc_records(l);
    else
        tli_ipcwrite_layout_end(a, l, *nodes);
    return st;
}

TLI_FN uint32_t tli_ipcwrite_int(tli_flatbuf_builder *b, tl_type_id id)
{
    int step = (int)id - (int)(id >= TL_TYPE_UINT8 ? TL_TYPE_UINT8 : TL_TYPE_INT8);
    tli_flatbuf_table_begin(b);
    (void)tli_flatbuf_put(b, 0, 4, (uint64_t)8 << step);
    (void)tli_flatbuf_put(b, 1, 1, id < TL_TYPE_UINT8);
    return tli_flatbuf_table_end(b);
}

/* The number of a type in the Type union of Schema.fbs. */
TLI_FN uint8_t tli_ipcwrite_wire_type(tl_type_id id)
{
    static const uint8_t wire[] = {1,  6,  2,  2,  2,  2,  2,  2,  2, 2, 3, 3, 3, 7,  7,  7,  7,  8,  8,
                                   9,  9,  10, 18, 11, 11, 11, 5, 20, 24, 4, 19, 23, 15, 12, 21, 16, 13, 17};
    return wire[id];
}

/* The table of a type. */
TLI_FN uint32_t tli_ipcwrite_type(tli_flatbuf_builder *b, const struct ArrowSchema *schema)
{
    tl_type t;
    uint32_t zone = 0;
    uint8_t wire;
    if (tl_type_of(schema, &t, NULL) != TL_OK) /* was checked */
        return 0;
    wire = tli_ipcwrite_wire_type(t.id);
    if (wire == 2)
        return tli_ipcwrite_int(b, t.id);
    if (wire == 10 && t.zone.size != 0)
        zone = tli_flatbuf_put_text(b, t.zone);
    tli_flatbuf_table_begin(b);
    if (wire == 3) {
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)((int)t.id - (int)TL_TYPE_FLOAT16));
    } else if (wire == 7) {
        (void)tli_flatbuf_put(b, 0, 4, (uint64_t)(int64_t)t.precision);
        (void)tli_flatbuf_put(b, 1, 4, (uint64_t)(int64_t)t.scale);
        (void)tli_flatbuf_put(b, 2, 4, (uint64_t)t.width * 8);
    } else if (wire == 8) {
        (void)tli_flatbuf_put(b, 0, 2, t.id == TL_TYPE_DATE64);
    } else if (wire == 9) {
        (void)tli_flatbuf_put(b, 1, 4, (uint64_t)t.width * 8);
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)t.unit);
    } else if (wire == 10 || wire == 18) {
        if (zone != 0)
            tli_flatbuf_put_offset(b, 1, zone);
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)t.unit);
    } else if (wire == 11) {
        (void)tli_flatbuf_put(b, 0, 2, (uint64_t)((int)t.id - (int)TL_TYPE_INTERVAL_MONTHS));
    } else if (wire == 15 || wire == 16) {
        (void)tli_flatbuf_put(b, 0, 4, (uint64_t)t.size);
    } else if (wire == 17) {
        (void)tli_flatbuf_put(b, 0, 1, (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0);
    }
    return tli_flatbuf_table_end(b);
}

/* Names of what was written, in a buffer that is used again and again. */
TLI_FN tl_status tli_ipcwrite_note(tl_buffer *names, uint32_t name, tl_error *err)
{
    return tli_mem_append(names, &name, sizeof name, err);
}

/* The noted names as a vector. They are in native order and may lie at any alignment. */
TLI_FN uint32_t tli_ipcwrite_names(tli_flatbuf_builder *b, tl_buffer *names)
{
    uint32_t at = tli_flatbuf_put_offsets(b, names->data, (uint32_t)(names->size / 4));
    names->size = 0;
    return at;
}

TLI_FN tl_status tli_ipcwrite_pair(tli_flatbuf_builder *b, tl_span key, tl_span value, tl_buffer *names, tl_error *err)
{
    uint32_t v = tli_flatbuf_put_text(b, value), k = tli_flatbuf_put_text(b, key);
    tli_flatbuf_table_begin(b);
    tli_flatbuf_put_offset(b, 1, v);
    tli_flatbuf_put_offset(b, 0, k);
    return tli_ipcwrite_note(names, tli_flatbuf_table_end(b), err);
}

/* The metadata of a schema node; `key` (absent: none) takes the place of a pair of that key. *name 0: there is none. */
TLI_FN tl_status tli_ipcwrite_pairs(tli_flatbuf_builder *b, const struct ArrowSchema *schema, tl_span key,
                                    tl_span value, tl_buffer *names, uint32_t *name, tl_error *err)
{
    tli_arrow_pairs pairs = tli_arrow_pairs_begin(schema);
    tl_span k, v;
    tl_status st = TL_OK;
    names->size = 0;
    while (st == TL_OK && tli_arrow_pairs_next(&pairs, &k, &v))
        if (key.data == NULL || !tl_span_equal(k, key))
            st = tli_ipcwrite_pair(b, k, v, names, err);
    if (st == TL_OK && key.data != NULL)
        st = tli_ipcwrite_pair(b, key, value, names, err);
    *name = 0;
    if (st == TL_OK && names->size != 0)
        *name = tli_ipcwrite_names(b, names);
    return st;
}

/* The field of node i, whose children are written: fields[] has their names. */
TLI_FN tl_status tli_ipcwrite_field(tli_flatbuf_builder *b, const tli_ipc_layout *l, int32_t i, uint32_t *fields,
                                    tl_buffer *names, tl_error *err)
{
    const tli_ipc_node *node = &l->nodes[i];
    int32_t of = node->encoding >= 0 ? i + 1 : i, child; /* the node of the values */
    uint32_t text, type, children, metadata, dictionary = 0;
    tl_status st = TL_OK;
    names->size = 0;
    for (child = of + 1; child < l->nodes[of].end && st == TL_OK; child = l->nodes[child].end)
        st = tli_ipcwrite_note(names, fields[child], err);
    if (st != TL_OK)
        return st;
    children = tli_ipcwrite_names(b, names);
    st = tli_ipcwrite_pairs(b, node->schema, tl_text(NULL), tl_text(NULL), names, &metadata, err);
    if (st != TL_OK)
        return st;
    text = tli_flatbuf_put_text(b, node->schema->name != NULL ? tl_text(node->schema->name) : tli_text_span("", 0));
    type = tli_ipcwrite_type(b, l->nodes[of].schema);
    if (node->encoding >= 0) {
        uint32_t index = tli_ipcwrite_int(b, node->id);
        tli_flatbuf_table_begin(b);
        (void)tli_flatbuf_put(b, 0, 8, (uint64_t)node->encoding);
        tli_flatbuf_put_offset(b, 1, index);
        (void)tli_flatbuf_put(b, 2, 1, (node->schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0);
        dictionary = tli_flatbuf_table_end(b);
    }
    tli_flatbuf_table_begin(b);
    if (metadata != 0)
        tli_flatbuf_put_offset(b, 6, metadata);
    tli_flatbuf_put_offset(b, 5, children);
    if (dictionary != 0)
        tli_flatbuf_put_offset(b, 4, dictionary);
    tli_flatbuf_put_offset(b, 3, type);
    tli_flatbuf_put_offset(b, 0, text);
    (void)tli_flatbuf_put(b, 2, 1, tli_ipcwrite_wire_type(l->nodes[of].id));
    (void)tli_flatbuf_put(b, 1, 1, (node->schema->flags & ARROW_FLAG_NULLABLE) != 0);
    fields[i] = tli_flatbuf_table_end(b);
    return TL_OK;
}

/* The message around a header. *body: where the length of the body is to be put, in bytes from the end. */
TLI_FN void tli_ipcwrite_message(tli_flatbuf_builder *b, uint8_t kind, uint32_t header, uint32_t *body)
{
    tli_flatbuf_table_begin(b);
    *body = tli_flatbuf_put(b, 3, 8, 0);
    tli_flatbuf_put_offset(b, 2, header);
    (void)tli_flatbuf_put(b, 0, 2, 4); /* V5 */
    (void)tli_flatbuf_put(b, 1, 1, kind);
    tli_flatbuf_finish(b, tli_flatbuf_table_end(b));
}

/* Appends a finished message: mark, length, and the FlatBuffer. */
TLI_FN tl_status tli_ipcwrite_meta(tl_buffer *out, const tli_flatbuf_builder *b, tl_error *err)
{
    uint8_t prefix[8];
    tl_status st;
    if (b->status == TL_LIMIT)
        return tli_err(err, TL_UNSUPPORTED, "Arrow metadata of 2 GiB or more", TL_NO_POSITION);
    if (b->status != TL_OK)
        return tli_mem_failed(&b->allocator, err);
    tli_bits_put_le32(prefix, UINT32_MAX);
    tli_bits_put_le32(prefix + 4, b->used);
    st = tli_mem_append(out, prefix, 8, err);
    return st == TL_OK ? tli_mem_append(out, b->data + b->capacity - b->used, b->used, err) : st;
}

/* The schema message of a layout. */
TLI_FN tl_status tli_ipcwrite_fields(tl_buffer *out, const struct ArrowSchema *schema, const tli_ipc_layout *l,
                                     tl_span key, tl_span value, tl_buffer *names, uint32_t *fields, tl_error *err)
{
    tli_flatbuf_builder b;
    uint32_t metadata = 0, body, list = 0;
    int32_t i;
    tl_status st = TL_OK;
    TLI_FILL(&b, 0, sizeof b);
    b.allocator = names->allocator;
    for (i = l->count - 1; i >= 0 && st == TL_OK; i--)
        if (i == 0 || l->nodes[i - 1].encoding < 0) /* the values of a dictionary are no field */
            st = tli_ipcwrite_field(&b, l, i, fields, names, err);
    names->size = 0;
    for (i = 0; i < l->count && st == TL_OK; i = l->nodes[i].end)
        st = tli_ipcwrite_note(names, fields[i], err);
    if (st == TL_OK)
        list = tli_ipcwrite_names(&b, names);
    if (st == TL_OK)
        st = tli_ipcwrite_pairs(&b, schema, key, value, names, &metadata, err);
    if (st == TL_OK) {
        tli_flatbuf_table_begin(&b);
        if (metadata != 0)
            tli_flatbuf_put_offset(&b, 2, metadata);
        tli_flatbuf_put_offset(&b, 1, list);
        (void)tli_flatbuf_put(&b, 0, 2, 0);
        tli_ipcwrite_message(&b, TLI_IPC_SCHEMA, tli_flatbuf_table_end(&b), &body);
        st = tli_ipcwrite_meta(out, &b, err);
    }
    tli_flatbuf_end(&b);
    return st;
}

/* Appends the schema message. `key` (absent: none) and its value go to the schema's metadata, in the place of a pair of
   that key. On failure `out` is as it was. */
TLI_FN tl_status tli_ipc_write_schema(tl_buffer *out, const struct ArrowSchema *schema, tl_span key, tl_span value,
                                      tl_error *err)
{
    tl_allocator a = tli_mem_allocator(&out->allocator);
    size_t size = out->size;
    uint32_t nodes, *fields;
    tli_ipc_layout l;
    tl_buffer names;
    tl_error local;
    tl_status st = tli_ipcwrite_layout_new(&a, &l, schema, &nodes, err != NULL ? err : &local);
    if (st != TL_OK)
        return st;
    TLI_FILL(&names, 0, sizeof names);
    names.allocator = a;
    fields = (uint32_t *)tli_mem_new(&a, (size_t)nodes * sizeof *fields);
    if (fields == NULL)
        st = tli_mem_failed(&a, err);
    else
        st = tli_ipcwrite_fields(out, schema, &l, key, value, &names, fields, err);
    tl_buffer_free(&names);
    tli_mem_delete(&a, fields, (size_t)nodes * sizeof *fields);
    tli_ipcwrite_layout_end(&a, &l, nodes);
    if (st != TL_OK)
        out->size = size;
    return st;
}

/* ---- writing: batches ---- */

typedef struct tli_ipcwrite_writer {
    tl_buffer *out;
    tli_ipc_layout layout;
    uint32_t node_count;
    tli_ipcdict_slice *slices; /* by node */
    const tl_compression *compression;
    tl_buffer scratch;
    size_t body;        /* where it begins in out */
    size_t next_node;   /* where in out the next counts go */
    size_t next_buffer; /* and the next place of a buffer */
} tli_ipcwrite_writer;

/* A buffer's bytes behind their length, compressed where that makes them fewer. */
TLI_FN tl_status tli_ipcwrite_packed(tli_ipcwrite_writer *w, const void *data, size_t size, tl_error *err)
{
    const tl_compression *c = w->compression;
    size_t bound = c->bound(c->context, size), packed = 0;
    tl_status st = tli_mem_reserve(w->out, 8 + TLI_MAX(bound, size), err);
    uint8_t *to;
    if (st != TL_OK)
        return st;
    to = w->out->data + w->out->size;
    st = c->compress(c->context, to + 8, bound, &packed, data, size);
    if (st != TL_OK)
        return tli_err(err, st, "an Arrow buffer does not compress", TL_NO_POSITION);
    tli_bits_put_le64(to, size);
    if (packed >= size) {
        tli_bits_put_le64(to, UINT64_MAX);
        TLI_COPY(to + 8, data, size);
        packed = size;
    }
    w->out->size += 8 + packed;
    return TL_OK;
}

/* The next buffer of the record. */
TLI_FN tl_status tli_ipcwrite_bytes(tli_ipcwrite_writer *w, const void *data, uint64_t size, tl_error *err)
{
    size_t start = w->out->size, narrow;
    tl_status st;
    if (!tli_bits_size(size, &narrow))
        return tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
    if (narrow != 0 && w->compression != NULL)
        st = tli_ipcwrite_packed(w, data, narrow, err);
    else
        st = tli_mem_append(w->out, data, narrow, err);
    if (st != TL_OK)
        return st;
    tli_bits_put_le64(w->out->data + w->next_buffer, start - w->body);
    tli_bits_put_le64(w->out->data + w->next_buffer + 8, w->out->size - start);
    w->next_buffer += 16;
    return tli_mem_pad(w->out, w->body, 64, err);
}

/* `size` cleared bytes of scratch; NULL: err says why. */
TLI_FN uint8_t *tli_ipcwrite_scratch(tli_ipcwrite_writer *w, uint64_t size, tl_error *err)
{
    size_t narrow;
    w->scratch.size = 0;
    if (!tli_bits_size(size, &narrow)) {
        (void)tli_err(err, TL_NO_MEMORY, "output too large", TL_NO_POSITION);
        return NULL;
    }
    if (tli_mem_reserve(&w->scratch, narrow + 1, err) != TL_OK)
        return NULL;
    TLI_FILL(w->scratch.data, 0, narrow + 1);
    return w->scratch.data;
}

/* Values that need no change, except for their order of bytes. */
TLI_FN tl_status tli_ipcwrite_values(tli_ipcwrite_writer *w, const void *data, uint64_t size, int unit, tl_error *err)
{
    uint8_t *turned;
    if (!TLI_BIG_ENDIAN || unit == TLI_IPCVALUE_BYTES || size == 0)
        return tli_ipcwrite_bytes(w, data, size, err);
    turned = tli_ipcwrite_scratch(w, size, err);
    if (turned == NULL)
        return err->status;
    TLI_COPY(turned, data, (size_t)size);
    tli_ipcvalue_turn_all(turned, size, unit, 1);
    return tli_ipcwrite_bytes(w, turned, size, err);
}

TLI_FN tl_status tli_ipcwrite_bits(tli_ipcwrite_writer *w, const tli_ipcdict_slice *s, int32_t j, tl_error *err)
{
    uint64_t size = ((uint64_t)s->length + 7) / 8;
    uint8_t *to = tli_ipcwrite_scratch(w, size, err);
    if (to == NULL)
        return err->status;
    if (s->length > 0)
        tli_ipcdict_put_bits(to, 0, s, j);
    return tli_ipcwrite_bytes(w, to, size, err);
}

TLI_FN tl_status tli_ipcwrite_offsets(tli_ipcwrite_writer *w, const tli_ipc_node *node, const tli_ipcdict_slice *s,
                                      tl_error *err)
{
    uint64_t width = TLI_IPC_WIDE_OFFSETS(node->id) ? 8 : 4, size = ((uint64_t)s->length + 1) * width, first, bytes;
    uint8_t *to;
    tl_status st;
    bytes = tli_ipcdict_slice_bytes(node->id, s, &first);
    if (s->length > 0 && first == 0 && !TLI_BIG_ENDIAN) {
        st = tli_ipcwrite_bytes(w, (const uint8_t *)s->array->buffers[1] + (uint64_t)s->start * width, size, err);
    } else {
        to = tli_ipcwrite_scratch(w, size, err);
        if (to == NULL)
            return err->status;
        (void)tli_ipcdict_put_offsets(to, 0, node->id, s);
        if (TLI_BIG_ENDIAN)
            tli_ipcvalue_turn_all(to, size, (int)width, 1);
        st = tli_ipcwrite_bytes(w, to, size, err);
    }
    if (st != TL_OK || tli_ipc_buffers(node->id) != 3)
        return st;
    return tli_ipcwrite_bytes(w, bytes == 0 ? NULL : (const uint8_t *)s->array->buffers[2] + first, bytes, err);
}

/* Views, with those under a null cleared (nobody has checked them), and all buffers that they may point into. */
TLI_FN tl_status tli_ipcwrite_views(tli_ipcwrite_writer *w, const tli_ipcdict_slice *s, tl_error *err)
{
    uint64_t size = (uint64_t)s->length * 16, i;
    int64_t others = s->array->n_buffers - 3, k;
    uint8_t *to = tli_ipcwrite_scratch(w, size, err);
    tl_status st;
    if (to == NULL)
        return err->status;
    for (i = 0; i < (uint64_t)s->length; i++)
        if (s->nulls == 0 || tli_bits_get(s->array->buffers[0], (uint64_t)s->start + i))
            TLI_COPY(to + 16 * i, (const uint8_t *)s->array->buffers[1] + 16 * ((uint64_t)s->start + i), 16);
    if (TLI_BIG_ENDIAN)
        tli_ipcvalue_turn_all(to, size, TLI_IPCVALUE_VIEWS, 1);
    st = tli_ipcwrite_bytes(w, to, size, err);
    for (k = 0; k < others && st == TL_OK; k++)
        st = tli_ipcwrite_bytes(w, s->array->buffers[2 + k],
                                tli_bits_u64((const uint8_t *)s->array->buffers[2 + others] + 8 * k), err);
    return st;
}

/* The buffers of a node. */
TLI_FN tl_status tli_ipcwrite_node(tli_ipcwrite_writer *w, int32_t i, tl_error *err)
{
    const tli_ipc_node *node = &w->layout.nodes[i];
    const tli_ipcdict_slice *s = &w->slices[i];
    tl_status st;
    const uint8_t *values;
    tli_bits_put_le64(w->out->data + w->next_node, (uint64_t)s->length);
    tli_bits_put_le64(w->out->data + w->next_node + 8, (uint64_t)s->nulls);
    w->next_node += 16;
    if (node->id == TL_TYPE_NULL)
        return TL_OK;
    st = s->nulls == 0 ? tli_ipcwrite_bytes(w, NULL, 0, err) : tli_ipcwrite_bits(w, s, 0, err);
    if (st != TL_OK || tli_ipc_buffers(node->id) == 1)
        return st;
    if (TLI_IPC_VIEW_TYPE(node->id))
        return tli_ipcwrite_views(w, s, err);
    if (tli_ipc_buffers(node->id) == 3 || TLI_IPC_LIST_TYPE(node->id))
        return tli_ipcwrite_offsets(w, node, s, err);
    if (node->id == TL_TYPE_BOOL)
        return tli_ipcwrite_bits(w, s, 1, err);
    values = (const uint8_t *)s->array->buffers[1];
    if (s->length == 0)
        return tli_ipcwrite_bytes(w, NULL, 0, err);
    return tli_ipcwrite_values(w, values + (uint64_t)s->start * (uint64_t)node->width,
                               (uint64_t)s->length * (uint64_t)node->width, tli_ipcvalue_unit(node, 1), err);
}

/* The metadata of a record, with the counts still empty: where they go is noted. Its size hangs on no value. */
TLI_FN tl_status tli_ipcwrite_header(tli_ipcwrite_writer *w, const tli_ipc_record *r, int64_t rows, int32_t encoding,
                                     size_t *body_length, tl_error *err)
{
    const tli_ipc_layout *l = &w->layout;
    tli_flatbuf_builder b;
    uint32_t nodes, buffers, variadic = 0, codec = 0, header, body, count = (uint32_t)r->buffers;
    int32_t i;
    tl_status st = TL_OK;
    w->scratch.size = 0;
    for (i = r->first; i < r->end && st == TL_OK; i = tli_ipc_step(l, i))
        if (TLI_IPC_VIEW_TYPE(l->nodes[i].id)) {
            uint8_t others[8];
            tli_bits_put_le64(others, (uint64_t)(w->slices[i].array->n_buffers - 3));
            count += (uint32_t)(w->slices[i].array->n_buffers - 3);
            st = tli_mem_append(&w->scratch, others, 8, err);
        }
    if (st != TL_OK)
        return st;
    TLI_FILL(&b, 0, sizeof b);
    b.allocator = w->scratch.allocator;
    if (r->views != 0)
        variadic = tli_flatbuf_put_list(&b, w->scratch.data, (uint32_t)r->views, 8, 8, 0);
    buffers = tli_flatbuf_put_list(&b, NULL, count, 16, 8, 0);
    nodes = tli_flatbuf_put_list(&b, NULL, (uint32_t)r->nodes, 16, 8, 0);
    if (w->compression != NULL) {
        tli_flatbuf_table_begin(&b);
        (void)tli_flatbuf_put(&b, 0, 1, 1); /* ZSTD */
        (void)tli_flatbuf_put(&b, 1, 1, 0);
        codec = tli_flatbuf_table_end(&b);
    }
    tli_flatbuf_table_begin(&b);
    (void)tli_flatbuf_put(&b, 0, 8, (uint64_t)rows);
    if (variadic != 0)
        tli_flatbuf_put_offset(&b, 4, variadic);
    if (codec != 0)
        tli_flatbuf_put_offset(&b, 3, codec);
    tli_flatbuf_put_offset(&b, 2, buffers);
    tli_flatbuf_put_offset(&b, 1, nodes);
    header = tli_flatbuf_table_end(&b);
    if (encoding >= 0) {
        tli_flatbuf_table_begin(&b);
        (void)tli_flatbuf_put(&b, 0, 8, (uint64_t)encoding);
        tli_flatbuf_put_offset(&b, 1, header);
        header = tli_flatbuf_table_end(&b);
    }
    tli_ipcwrite_message(&b, encoding >= 0 ? TLI_IPC_DICTIONARY : TLI_IPC_BATCH, header, &body);
    st = tli_ipcwrite_meta(w->out, &b, err);
    w->body = w->out->size;
    w->next_buffer = w->out->size - buffers + 4;
    w->next_node = w->out->size - nodes + 4;
    *body_length = w->out->size - body;
    tli_flatbuf_end(&b);
    return st;
}

/* One message. `encoding` -1: the batch. */
TLI_FN tl_status tli_ipcwrite_record(tli_ipcwrite_writer *w, const tli_ipc_record *r, int64_t rows, int32_t encoding,
                                     tl_error *err)
{
    size_t body_length = 0;
    int32_t i;
    tl_status st = tli_ipcwrite_header(w, r, rows, encoding, &body_length, err);
    for (i = r->first; i < r->end && st == TL_OK; i = tli_ipc_step(&w->layout, i))
        st = tli_ipcwrite_node(w, i, err);
    if (st == TL_OK)
        tli_bits_put_le64(w->out->data + body_length, w->out->size - w->body);
    return st;
}

/* The slices of all nodes, and then the messages: dictionaries before those that use them, and before the batch. */
TLI_FN tl_status tli_ipcwrite_records(tli_ipcwrite_writer *w, const struct ArrowArray *const *columns, int64_t rows,
                                      tl_error *err)
{
    const tli_ipc_layout *l = &w->layout;
    int32_t i, column = 0;
    tl_status st = TL_OK;
    for (i = 0; i < l->count; i++) {
        const tli_ipc_node *node = &l->nodes[i];
        if (node->parent < 0) {
            const struct ArrowArray *a = columns[column++];
            w->slices[i] = tli_ipcdict_slice_of(node, a, a->offset, rows);
        } else if (l->nodes[node->parent].encoding >= 0) {
            const struct ArrowArray *a = w->slices[node->parent].array->dictionary;
            w->slices[i] = tli_ipcdict_slice_of(node, a, a->offset, a->length);
        } else {
            w->slices[i] = tli_ipcdict_slice_child(&l->nodes[node->parent], &w->slices[node->parent], node);
        }
    }
    for (i = l->encoding_count - 1; i >= 0 && st == TL_OK; i--)
        st = tli_ipcwrite_record(w, &l->encodings[i], w->slices[l->encodings[i].first].length, i, err);
    return st == TL_OK ? tli_ipcwrite_record(w, &l->columns, rows, -1, err) : st;
}

/* Appends a batch of `rows` rows: an array per column of the schema, each at least that long (they were checked by
   tli_arrow_array_check), and before it the dictionaries they use. On failure `out` is as it was. */
TLI_FN tl_status tli_ipc_write_batch(tl_buffer *out, const struct ArrowSchema *schema,
                                     const struct ArrowArray *const *columns, int64_t rows,
                                     const tl_compression *compression, tl_error *err)
{
    size_t size = out->size;
    tl_allocator a = tli_mem_allocator(&out->allocator);
    tl_error local;
    tli_ipcwrite_writer w;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(&w, 0, sizeof w);
    st = tli_ipcwrite_layout_new(&a, &w.layout, schema, &w.node_count, err);
    if (st != TL_OK)
        return st;
    w.out = out;
    w.compression = compression != NULL && compression->compress != NULL ? compression : NULL;
    w.scratch.allocator = a;
    w.slices = (tli_ipcdict_slice *)tli_mem_new(&a, (size_t)w.node_count * sizeof *w.slices);
    if (w.slices == NULL)
        st = tli_mem_failed(&a, err);
    else
        st = tli_ipcwrite_records(&w, columns, rows, err);
    tl_buffer_free(&w.scratch);
    tli_mem_delete(&a, w.slices, (size_t)w.node_count * sizeof *w.slices);
    tli_ipcwrite_layout_end(&a, &w.layout, w.node_count);
    if (st != TL_OK)
        out->size = size;
    return st;
}

/* Appends the end mark. */
TLI_FN tl_status tli_ipc_write_end(tl_buffer *out, tl_error *err)
{
    static const uint8_t mark[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    return tli_mem_append(out, mark, 8, err);
}
#endif /* TIMELAKE_NO_HEAD_ARROW */

/* >>avro */
#ifndef TIMELAKE_NO_LAKE
enum { TLI_AVRO_PLAIN, TLI_AVRO_DEFLATE, TLI_AVRO_SNAPPY, TLI_AVRO_ZSTANDARD };

#define TLI_AVRO_NODES 65536u
#define TLI_AVRO_EMPTY_ITEMS 65536u /* entries that take no bytes: they cost time all the same */
#define TLI_AVRO_BLOCK_FIRST 65536u
#define TLI_AVRO_IDLE 4194304u /* events in a row without a byte behind them */

TLI_FN tl_status tli_avro_bad(const tl_avro *a, const uint8_t *at, tl_status status, const char *text, tl_error *err)
{
    uint64_t position = TL_NO_POSITION;
    if (at >= a->start && at <= a->end)
        position = (uint64_t)(at - a->start);
    else if (a->at != NULL) /* in a compressed block: where that block ends */
        position = (uint64_t)(a->at - a->start);
    return tli_err(err, status, text, position);
}

/* ---- primitives: from *at, not past end; NULL: malformed or cut ---- */

TLI_INLINE const uint8_t *tli_avro_long(const uint8_t *at, const uint8_t *end, int64_t *value)
{
    uint64_t v = 0;
    uint32_t shift = 0;
    while (at < end) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return NULL;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = (int64_t)((v >> 1) ^ (0 - (v & 1)));
            return at;
        }
        shift += 7;
        if (shift > 63)
            return NULL;
    }
    return NULL;
}

TLI_INLINE const uint8_t *tli_avro_bytes(const uint8_t *at, const uint8_t *end, tl_span *bytes)
{
    int64_t size;
    at = tli_avro_long(at, end, &size);
    if (at == NULL || size < 0 || size > end - at)
        return NULL;
    *bytes = tli_text_span(at, (size_t)size);
    return at + size;
}

/* A block header of an array or map: how many entries follow (0: the end). */
TLI_FN const uint8_t *tli_avro_block(const uint8_t *at, const uint8_t *end, uint64_t *items)
{
    int64_t count, size;
    at = tli_avro_long(at, end, &count);
    if (at == NULL || count == INT64_MIN)
        return NULL;
    if (count < 0) {
        at = tli_avro_long(at, end, &size);
        if (at == NULL || size < 0 || size > end - at)
            return NULL;
        count = -count;
    }
    *items = (uint64_t)count;
    return at;
}

/* ---- the schema ---- */

/* A type that is to be built: its JSON, and the node it goes to. */
typedef struct tli_avro_todo {
    const tl_json_node *json;
    uint32_t node;
} tli_avro_todo;

typedef struct tli_avro_named {
    tl_span space;
    tl_span name;
    uint32_t node;
    uint32_t todo;  /* how many types were still to be built when this one began: it is whole when fewer are left */
    uint32_t outer; /* the type it began within, plus 1 */
    uint8_t whole;
} tli_avro_named;

typedef struct tli_avro_builder {
    tl_avro *avro;
    tl_avro_node *nodes;
    tli_avro_todo *todo;
    tli_avro_named *named;
    uint32_t todo_count, todo_capacity, named_count, named_capacity;
    uint32_t open; /* the innermost type that is not whole, plus 1 */
    tl_allocator allocator;
    tl_error *err;
} tli_avro_builder;

TLI_FN tl_status tli_avro_schema_bad(const tli_avro_builder *b, const char *text)
{
    return tli_avro_bad(b->avro, (const uint8_t *)b->avro->schema_text.data, TL_CORRUPT, text, b->err);
}

/* Room for one more item: the block, moved or not; NULL with b->err filled. */
TLI_FN void *tli_avro_room(const tli_avro_builder *b, void *items, uint32_t *capacity, uint32_t count, size_t size)
{
    uint32_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *grown;
    if (count < *capacity)
        return items;
    if (more > TLI_AVRO_NODES) {
        (void)tli_err(b->err, TL_LIMIT, "an Avro schema of too many types", TL_NO_POSITION);
        return NULL;
    }
    grown = tli_mem_resize(&b->allocator, items, *capacity * size, more * size);
    if (grown == NULL)
        (void)tli_mem_failed(&b->allocator, b->err);
    else
        *capacity = more;
    return grown;
}

TLI_FN tl_span tli_avro_text(const tli_avro_builder *b, const tl_json_node *object, const char *name)
{
    tl_span s = tli_text_span(NULL, 0);
    const tl_json_node *node = tl_json_member(&b->avro->schema, object, tl_text(name));
    if (node == NULL || tl_json_string(&b->avro->schema, node, &s, NULL) != TL_OK)
        s = tli_text_span(NULL, 0);
    return s;
}

TLI_FN int32_t tli_avro_id(const tli_avro_builder *b, const tl_json_node *object, const char *name)
{
    int64_t id;
    if (tl_json_int64(&b->avro->schema, tl_json_member(&b->avro->schema, object, tl_text(name)), &id, NULL) != TL_OK
        || id < 0 || id > INT32_MAX)
        return -1;
    return (int32_t)id;
}

/* Adds a child of `parent` that is to be built from `json`. *last: the sibling before it, 0 for the first. */
TLI_FN tl_status tli_avro_child(tli_avro_builder *b, uint32_t parent, uint32_t *last, const tl_json_node *json,
                                int32_t field_id, tl_span name)
{
    tl_avro *a = b->avro;
    uint32_t n = a->node_count;
    tl_avro_node *nodes = (tl_avro_node *)tli_avro_room(b, b->nodes, &a->node_capacity, n, sizeof *nodes);
    tli_avro_todo *todo;
    if (nodes == NULL)
        return b->err->status;
    b->nodes = nodes;
    todo = (tli_avro_todo *)tli_avro_room(b, b->todo, &b->todo_capacity, b->todo_count, sizeof *todo);
    if (todo == NULL)
        return b->err->status;
    b->todo = todo;
    if (json == NULL)
        return tli_avro_schema_bad(b, "an Avro schema with a type that is not there");
    TLI_FILL(&b->nodes[n], 0, sizeof b->nodes[n]);
    b->nodes[n].field_id = field_id;
    b->nodes[n].name = name;
    if (*last == 0)
        b->nodes[parent].first = n;
    else
        b->nodes[*last].next = n;
    b->nodes[parent].count++;
    *last = n;
    a->node_count++;
    b->todo[b->todo_count].json = json;
    b->todo[b->todo_count++].node = n;
    return TL_OK;
}

/* The last part of a dotted name: that is what types are called by here. */
TLI_FN tl_span tli_avro_last(tl_span name)
{
    size_t i;
    for (i = name.size; i > 0; i--)
        if (name.data[i - 1] == '.')
            return tli_text_span(name.data + i, name.size - i);
    return name;
}

TLI_FN int tli_avro_primitive(tl_span name, tl_avro_kind *kind)
{
    static const char *const names[] = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"};
    uint32_t i;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tl_span_equal(name, tl_text(names[i]))) {
            *kind = (tl_avro_kind)i;
            return 1;
        }
    return 0;
}

/* A type by its name: a primitive, or one defined before, which is shared. */
TLI_FN tl_status tli_avro_by_name(tli_avro_builder *b, uint32_t node, tl_span name)
{
    tl_avro_node *n = &b->nodes[node];
    uint32_t i;
    if (tli_avro_primitive(name, &n->kind))
        return TL_OK;
    name = tli_avro_last(name);
    for (i = b->named_count; i > 0; i--) {
        const tl_avro_node *def = &b->nodes[b->named[i - 1].node];
        if (!tl_span_equal(b->named[i - 1].name, name))
            continue;
        if (!b->named[i - 1].whole) /* it contains itself */
            return tli_err(b->err, TL_UNSUPPORTED, "an Avro type that contains itself", TL_NO_POSITION);
        n->kind = def->kind;
        n->first = def->first;
        n->count = def->count;
        n->size = def->size;
        n->symbols = def->symbols;
        return TL_OK;
    }
    return tli_avro_schema_bad(b, "an Avro schema with an unknown type");
}

TLI_FN tl_status tli_avro_define(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    tli_avro_named *d = (tli_avro_named *)tli_avro_room(b, b->named, &b->named_capacity, b->named_count, sizeof *d);
    if (d == NULL)
        return b->err->status;
    b->named = d;
    d = &b->named[b->named_count++];
    d->name = tli_avro_last(tli_avro_text(b, json, "name"));
    d->node = node;
    d->todo = b->todo_count;
    d->outer = b->open;
    d->whole = (uint8_t)(b->nodes[node].kind != TL_AVRO_RECORD);
    if (!d->whole)
        b->open = b->named_count;
    return d->name.size != 0 ? TL_OK : tli_avro_schema_bad(b, "an Avro type without a name");
}

/* The types added since `from` are built in the order they stand in: a name may be used behind its definition. */
TLI_FN void tli_avro_in_order(tli_avro_builder *b, uint32_t from)
{
    uint32_t i, k = b->todo_count;
    for (i = from; i + 1 < k; i++) { /* the last one is taken first */
        tli_avro_todo swap = b->todo[i];
        b->todo[i] = b->todo[--k];
        b->todo[k] = swap;
    }
}

TLI_FN tl_status tli_avro_record(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    const tl_json_node *fields = tl_json_member(&b->avro->schema, json, tl_text("fields")), *f;
    uint32_t last = 0, from = b->todo_count;
    tl_status st = tli_avro_define(b, node, json);
    if (st != TL_OK)
        return st;
    if (fields == NULL || fields->kind != TL_JSON_ARRAY)
        return tli_avro_schema_bad(b, "an Avro record without fields");
    for (f = tl_json_first(fields); f != NULL && st == TL_OK; f = tl_json_next(fields, f))
        st = tli_avro_child(b, node, &last, tl_json_member(&b->avro->schema, f, tl_text("type")),
                            tli_avro_id(b, f, "field-id"), tli_avro_text(b, f, "name"));
    if (st == TL_OK)
        tli_avro_in_order(b, from);
    return st;
}

TLI_FN tl_status tli_avro_union(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    const tl_json_node *branch;
    uint32_t last = 0, from = b->todo_count;
    tl_status st = TL_OK;
    b->nodes[node].kind = TL_AVRO_UNION;
    if (json->count == 0)
        return tli_avro_schema_bad(b, "an Avro union of nothing");
    for (branch = tl_json_first(json); branch != NULL && st == TL_OK; branch = tl_json_next(json, branch))
        st = branch->kind == TL_JSON_ARRAY ? tli_avro_schema_bad(b, "an Avro union in a union")
                                           : tli_avro_child(b, node, &last, branch, b->nodes[node].field_id,
                                                            b->nodes[node].name);
    if (st == TL_OK)
        tli_avro_in_order(b, from);
    return st;
}

TLI_FN tl_status tli_avro_complex(tli_avro_builder *b, uint32_t node, const tl_json_node *json)
{
    const tl_json *t = &b->avro->schema;
    const tl_json_node *inner = tl_json_member(t, json, tl_text("type"));
    tl_span type = tli_avro_text(b, json, "type"), none = tli_text_span(NULL, 0);
    uint32_t last = 0;
    if (type.data == NULL && inner != NULL && inner->kind != TL_JSON_STRING) { /* {"type": {...}} says nothing more */
        b->todo[b->todo_count].json = inner; /* the place it was taken from is free */
        b->todo[b->todo_count++].node = node;
        return TL_OK;
    }
    if (tl_span_equal(type, tl_text("record")) || tl_span_equal(type, tl_text("error"))) {
        b->nodes[node].kind = TL_AVRO_RECORD;
        return tli_avro_record(b, node, json);
    }
    if (tl_span_equal(type, tl_text("array"))) {
        b->nodes[node].kind = TL_AVRO_ARRAY;
        return tli_avro_child(b, node, &last, tl_json_member(t, json, tl_text("items")),
                              tli_avro_id(b, json, "element-id"), none);
    }
    if (tl_span_equal(type, tl_text("map"))) {
        b->nodes[node].kind = TL_AVRO_MAP;
        return tli_avro_child(b, node, &last, tl_json_member(t, json, tl_text("values")),
                              tli_avro_id(b, json, "value-id"), none);
    }
    if (tl_span_equal(type, tl_text("enum"))) {
        b->nodes[node].kind = TL_AVRO_ENUM;
        b->nodes[node].symbols = tl_json_member(t, json, tl_text("symbols"));
        if (b->nodes[node].symbols == NULL || b->nodes[node].symbols->kind != TL_JSON_ARRAY)
            return tli_avro_schema_bad(b, "an Avro enum without symbols");
        return tli_avro_define(b, node, json);
    }
    if (tl_span_equal(type, tl_text("fixed"))) {
        b->nodes[node].kind = TL_AVRO_FIXED;
        b->nodes[node].size = tli_avro_id(b, json, "size");
        return b->nodes[node].size >= 0 ? tli_avro_define(b, node, json)
                                        : tli_avro_schema_bad(b, "an Avro fixed without a size");
    }
    return tli_avro_by_name(b, node, type);
}

/* The fewest bytes a value of each node takes: children have higher numbers than their parents, but for shared ones,
   which were whole before. */
TLI_FN void tli_avro_measure(tl_avro_node *nodes, uint32_t count)
{
    uint32_t i, k, c;
    for (i = count; i > 0; i--) {
        tl_avro_node *n = &nodes[i - 1];
        uint64_t sum = 0;
        switch (n->kind) {
        case TL_AVRO_NULL:
            break;
        case TL_AVRO_FLOAT:
            sum = 4;
            break;
        case TL_AVRO_DOUBLE:
            sum = 8;
            break;
        case TL_AVRO_FIXED:
            sum = (uint64_t)n->size;
            break;
        case TL_AVRO_RECORD:
            for (k = 0, c = n->first; k < n->count; k++, c = nodes[c].next)
                sum += c >= i ? nodes[c].least : 0; /* a shared part counts nothing: a lower bound stays one */
            break;
        default:
            sum = 1;
            break;
        }
        n->least = (uint32_t)TLI_MIN(sum, 1u << 30);
    }
}

TLI_FN tl_status tli_avro_build(tli_avro_builder *b)
{
    tl_avro *a = b->avro;
    uint32_t last = 0;
    tl_span none = tli_text_span(NULL, 0), name;
    tl_status st;
    b->nodes = (tl_avro_node *)tli_avro_room(b, NULL, &a->node_capacity, 0, sizeof *b->nodes);
    if (b->nodes == NULL)
        return b->err->status;
    TLI_FILL(b->nodes, 0, sizeof *b->nodes);
    a->node_count = 1;
    st = tli_avro_child(b, 0, &last, a->schema.root, -1, none); /* node 1; node 0 becomes the row when all is built */
    while (st == TL_OK && b->todo_count != 0) {
        tli_avro_todo t = b->todo[--b->todo_count];
        for (; b->open != 0 && b->named[b->open - 1].todo > b->todo_count; b->open = b->named[b->open - 1].outer)
            b->named[b->open - 1].whole = 1;
        if (t.json->kind == TL_JSON_STRING) {
            st = tl_json_string(&a->schema, t.json, &name, b->err);
            if (st == TL_OK)
                st = tli_avro_by_name(b, t.node, name);
        } else if (t.json->kind == TL_JSON_ARRAY) {
            st = tli_avro_union(b, t.node, t.json);
        } else if (t.json->kind == TL_JSON_OBJECT) {
            st = tli_avro_complex(b, t.node, t.json);
        } else {
            st = tli_avro_schema_bad(b, "an Avro schema with a type that is none");
        }
    }
    if (st == TL_OK) {
        tli_avro_measure(b->nodes, a->node_count);
        b->nodes[0] = b->nodes[1];
        if (b->nodes[0].kind != TL_AVRO_RECORD)
            st = tli_err(b->err, TL_UNSUPPORTED, "an Avro file whose rows are no records", TL_NO_POSITION);
    }
    return st;
}

/* ---- the header ---- */

/* The entry at *at of metadata blocks that were checked before. */
TLI_FN int tli_avro_entry(const uint8_t **at, const uint8_t *end, uint64_t *items, tl_span *key, tl_span *value)
{
    while (*items == 0) {
        *at = tli_avro_block(*at, end, items);
        if (*at == NULL || *items == 0)
            return 0;
    }
    (*items)--;
    *at = tli_avro_bytes(*at, end, key);
    if (*at != NULL)
        *at = tli_avro_bytes(*at, end, value);
    return *at != NULL;
}

TL_API int tl_avro_metadata_at(const tl_avro *avro, uint32_t i, tl_span *key, tl_span *value)
{
    const uint8_t *at = avro->header;
    uint64_t items = 0;
    uint32_t n = 0;
    while (tli_avro_entry(&at, avro->header_end, &items, key, value))
        if (n++ == i)
            return 1;
    return 0;
}

TL_API tl_span tl_avro_metadata(const tl_avro *avro, tl_span key)
{
    const uint8_t *at = avro->header;
    uint64_t items = 0;
    tl_span k, value, found = tli_text_span(NULL, 0);
    while (tli_avro_entry(&at, avro->header_end, &items, &k, &value))
        if (tl_span_equal(k, key))
            found = value;
    return found;
}

TLI_FN tl_status tli_avro_read_header(tl_avro *a, tl_error *err)
{
    const uint8_t *at = a->start + 4;
    uint64_t items = 0;
    tl_span key, value;
    static const char *const codecs[] = {"null", "deflate", "snappy", "zstandard"};
    if (a->end - a->start < 4 || TLI_COMPARE(a->start, "Obj\1", 4) != 0)
        return tli_avro_bad(a, a->start, TL_CORRUPT, "not an Avro file", err);
    a->header = at;
    while (tli_avro_entry(&at, a->end, &items, &key, &value))
        continue;
    if (at == NULL || a->end - at < 16)
        return tli_avro_bad(a, a->header, TL_TRUNCATED, "the header of an Avro file is malformed or cut", err);
    a->header_end = at;
    TLI_COPY(a->sync, at, 16);
    a->at = at + 16;
    value = tl_avro_metadata(a, tl_text("avro.codec"));
    for (a->codec = 0; a->codec < 4; a->codec++)
        if (value.data == NULL || value.size == 0 || tl_span_equal(value, tl_text(codecs[a->codec])))
            break;
    if (a->codec == 4)
        return tli_avro_bad(a, (const uint8_t *)value.data, TL_UNSUPPORTED, "an Avro codec that is not built in", err);
    a->schema_text = tl_avro_metadata(a, tl_text("avro.schema"));
    if (a->schema_text.data == NULL)
        return tli_avro_bad(a, a->header, TL_CORRUPT, "an Avro file without a schema", err);
    return TL_OK;
}

TL_API tl_status tl_avro_open(tl_avro *avro, const void *bytes, size_t size, const tl_limits *limits,
                              const tl_allocator *allocator, tl_error *err)
{
    tl_limits l = tl_limits_resolve(limits);
    tli_avro_builder b;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(avro, 0, sizeof *avro);
    TLI_FILL(&b, 0, sizeof b);
    avro->block.allocator = tli_mem_allocator(allocator);
    avro->start = (const uint8_t *)bytes;
    avro->end = avro->start + size;
    avro->row_limit = l.rows;
    avro->decoded_limit = l.decoded_bytes;
    st = tli_avro_read_header(avro, err);
    if (st == TL_OK)
        st = tl_json_parse(&avro->schema, avro->schema_text.data, avro->schema_text.size, &l, allocator, err);
    if (st == TL_OK) {
        b.avro = avro;
        b.allocator = avro->block.allocator;
        b.err = err;
        st = tli_avro_build(&b);
        avro->nodes = b.nodes;
        tli_mem_delete(&b.allocator, b.todo, b.todo_capacity * sizeof *b.todo);
        tli_mem_delete(&b.allocator, b.named, b.named_capacity * sizeof *b.named);
    }
    if (st != TL_OK)
        tl_avro_close(avro);
    return st;
}

TL_API void tl_avro_close(tl_avro *avro)
{
    tl_allocator a = tli_mem_allocator(&avro->block.allocator);
    tli_mem_delete(&a, (void *)(uintptr_t)avro->nodes, avro->node_capacity * sizeof *avro->nodes);
    if (avro->schema.root != NULL)
        tl_json_free(&avro->schema);
    tl_buffer_free(&avro->block);
    TLI_FILL(avro, 0, sizeof *avro);
}

/* ---- blocks ---- */

TLI_FN tl_status tli_avro_inflate_snappy(tl_avro *a, const uint8_t *data, size_t size, tl_error *err)
{
    tl_status st;
    if (size < 4)
        return tli_avro_bad(a, data, TL_TRUNCATED, "a snappy block without its checksum", err);
    st = tli_snappy_decode(&a->block, (size_t)a->decoded_limit, data, size - 4, err);
    if (st != TL_OK)
        return st;
    if (tli_hash_crc32(a->block.data, a->block.size) != tli_bits_swap32(tli_bits_le32(data + size - 4)))
        return tli_avro_bad(a, data, TL_CHECKSUM, "the CRC-32 of a snappy block does not match", err);
    return TL_OK;
}

/* Frames may not tell their size: then the room doubles until it is enough. */
TLI_FN tl_status tli_avro_inflate_zstandard(tl_avro *a, const uint8_t *data, size_t size, tl_error *err)
{
#ifdef TIMELAKE_NO_HEAD_ARROW
    (void)size;
    return tli_avro_bad(a, data, TL_UNSUPPORTED, "zstandard blocks: the decoder is not compiled in", err);
#else
    uint64_t plain;
    size_t room, got = 0;
    tl_status st = tl_zstd_content_size(data, size, &plain, err);
    if (st != TL_OK)
        return st;
    room = plain == UINT64_MAX ? TLI_AVRO_BLOCK_FIRST : (size_t)TLI_MIN(plain, a->decoded_limit);
    if (plain != UINT64_MAX && (plain > a->decoded_limit || plain / 131072 > size))
        return tli_avro_bad(a, data, TL_LIMIT, "a zstandard block of more bytes than may be", err);
    for (;;) {
        st = tli_mem_reserve(&a->block, room, err);
        if (st != TL_OK)
            return st;
        st = tl_zstd_decompress(a->block.data, a->block.capacity, &got, data, size, &a->block.allocator, err);
        if (st != TL_LIMIT || plain != UINT64_MAX || room > a->decoded_limit / 2 || room / 131072 > size)
            break;
        room *= 2;
    }
    a->block.size = got;
    return st;
#endif
}

/* Takes up the next block. *more 0: the file ends. */
TLI_FN tl_status tli_avro_next_block(tl_avro *a, int *more, tl_error *err)
{
    const uint8_t *at = a->at;
    int64_t rows = 0, size = 0;
    tl_status st = TL_OK;
    *more = 0;
    if (at == a->end)
        return TL_OK;
    at = tli_avro_long(at, a->end, &rows);
    if (at != NULL)
        at = tli_avro_long(at, a->end, &size);
    if (at == NULL || rows < 0 || size < 0 || size > a->end - at || a->end - at - size < 16)
        return tli_avro_bad(a, a->at, TL_TRUNCATED, "an Avro block is malformed or cut", err);
    if (TLI_COMPARE(at + size, a->sync, 16) != 0)
        return tli_avro_bad(a, at + size, TL_CORRUPT, "an Avro block does not end in the sync marker", err);
    a->at = at + size + 16;
    a->data = at;
    a->data_end = at + size;
    a->block.size = 0;
    if (a->codec == TLI_AVRO_DEFLATE)
        st = tli_inflate_decode(&a->block, (size_t)a->decoded_limit, at, (size_t)size, err);
    else if (a->codec == TLI_AVRO_SNAPPY)
        st = tli_avro_inflate_snappy(a, at, (size_t)size, err);
    else if (a->codec == TLI_AVRO_ZSTANDARD)
        st = tli_avro_inflate_zstandard(a, at, (size_t)size, err);
    if (st != TL_OK)
        return st;
    if (a->codec != TLI_AVRO_PLAIN) {
        a->data = a->block.data;
        a->data_end = a->data == NULL ? NULL : a->data + a->block.size;
    }
    a->data_at = a->data;
    a->seen = NULL;
    a->block_rows = (uint64_t)rows;
    if (a->block_rows * a->nodes[0].least > (uint64_t)(a->data_end - a->data)
        || (a->nodes[0].least == 0 && a->block_rows > TLI_AVRO_EMPTY_ITEMS) || a->block_rows > a->row_limit - a->rows)
        return tli_avro_bad(a, at, TL_CORRUPT, "an Avro block of more rows than its bytes can hold", err);
    *more = 1;
    return TL_OK;
}

/* ---- values ---- */

TLI_FN tl_status tli_avro_cut(tl_avro *a, tl_error *err)
{
    return tli_avro_bad(a, a->data_at, TL_CORRUPT, "an Avro value is malformed or ends past its block", err);
}

TLI_FN tl_status tli_avro_open_frame(tl_avro *a, const tl_avro_node *node, const tl_avro_node *field, tl_error *err)
{
    tl_avro_frame *f;
    if (a->depth == TL_AVRO_DEPTH)
        return tli_avro_bad(a, a->data_at, TL_LIMIT, "an Avro value of too deep nesting", err);
    f = &a->frames[a->depth++];
    f->node = node;
    f->field = field;
    f->child = node->first;
    f->left = node->count;
    f->items = 0;
    f->ended = f->keyed = 0;
    return TL_OK;
}

TLI_INLINE tl_status tli_avro_scalar(tl_avro *a, const tl_avro_node *n, tl_avro_value *v, tl_error *err)
{
    const uint8_t *at = a->data_at, *end = a->data_end;
    uint32_t bits;
    uint64_t wide;
    float single;
    switch (n->kind) {
    case TL_AVRO_NULL:
        return TL_OK;
    case TL_AVRO_BOOLEAN:
        if (at == end || *at > 1)
            return tli_avro_cut(a, err);
        v->number = *at++;
        break;
    case TL_AVRO_INT:
    case TL_AVRO_ENUM:
    case TL_AVRO_LONG:
        at = tli_avro_long(at, end, &v->number);
        if (at == NULL || (n->kind != TL_AVRO_LONG && (v->number < INT32_MIN || v->number > INT32_MAX))
            || (n->kind == TL_AVRO_ENUM && (v->number < 0 || v->number >= (int64_t)n->symbols->count)))
            return tli_avro_cut(a, err);
        break;
    case TL_AVRO_FLOAT:
        if (end - at < 4)
            return tli_avro_cut(a, err);
        bits = tli_bits_le32(at);
        TLI_COPY(&single, &bits, 4);
        v->real = (double)single;
        at += 4;
        break;
    case TL_AVRO_DOUBLE:
        if (end - at < 8)
            return tli_avro_cut(a, err);
        wide = tli_bits_le64(at);
        TLI_COPY(&v->real, &wide, 8);
        at += 8;
        break;
    case TL_AVRO_FIXED:
        if (end - at < n->size)
            return tli_avro_cut(a, err);
        v->bytes = tli_text_span(at, (size_t)n->size);
        at += n->size;
        break;
    default:
        at = tli_avro_bytes(at, end, &v->bytes);
        if (at == NULL || (n->kind == TL_AVRO_STRING && tli_text_utf8(v->bytes.data, v->bytes.size) != v->bytes.size))
            return tli_avro_cut(a, err);
        break;
    }
    a->data_at = at;
    return TL_OK;
}

/* A value of `field` begins: a scalar whole, of anything else its begin. */
TLI_INLINE tl_status tli_avro_begin(tl_avro *a, const tl_avro_node *field, tl_avro_value *v, tl_error *err)
{
    const tl_avro_node *n = field;
    int64_t branch;
    if (n->kind == TL_AVRO_UNION) {
        const uint8_t *at = tli_avro_long(a->data_at, a->data_end, &branch);
        if (at == NULL || branch < 0 || branch >= (int64_t)n->count)
            return tli_avro_cut(a, err);
        a->data_at = at;
        n = &a->nodes[n->first + (uint32_t)branch]; /* children lie side by side */
    }
    v->node = n;
    v->field = field;
    if (n->kind < TL_AVRO_RECORD) {
        v->event = TL_AVRO_VALUE;
        return tli_avro_scalar(a, n, v, err);
    }
    v->event = TL_AVRO_BEGIN;
    return tli_avro_open_frame(a, n, field, err);
}

/* The next entry of an array or map, or its end. */
TLI_FN tl_status tli_avro_item(tl_avro *a, tl_avro_frame *f, tl_avro_value *v, tl_error *err)
{
    const tl_avro_node *element = &a->nodes[f->node->first];
    const uint8_t *at;
    while (f->items == 0) {
        uint64_t least = element->least + (f->node->kind == TL_AVRO_MAP);
        at = tli_avro_block(a->data_at, a->data_end, &f->items);
        if (at == NULL || f->items * TLI_MIN(least, 1u) > (uint64_t)(a->data_end - at)
            || (least == 0 && f->items > TLI_AVRO_EMPTY_ITEMS))
            return tli_avro_cut(a, err);
        a->data_at = at;
        if (f->items == 0) {
            v->event = TL_AVRO_END;
            v->node = f->node;
            v->field = f->field;
            a->depth--;
            return TL_OK;
        }
    }
    if (f->node->kind == TL_AVRO_MAP && !f->keyed) {
        at = tli_avro_bytes(a->data_at, a->data_end, &v->bytes);
        if (at == NULL || tli_text_utf8(v->bytes.data, v->bytes.size) != v->bytes.size)
            return tli_avro_cut(a, err);
        a->data_at = at;
        f->keyed = 1;
        v->event = TL_AVRO_KEY;
        v->node = v->field = f->node;
        return TL_OK;
    }
    f->keyed = 0;
    f->items--;
    return tli_avro_begin(a, element, v, err);
}

/* Between rows: the next row begins, in this block or the next. */
TLI_FN tl_status tli_avro_row(tl_avro *a, tl_avro_value *v, tl_error *err)
{
    int more = 1;
    tl_status st;
    if (a->begun) {
        a->begun = 0;
        a->rows++;
        v->event = TL_AVRO_ROW;
        v->node = v->field = &a->nodes[0];
        return TL_OK;
    }
    while (a->block_rows == 0) {
        if (a->data_at != a->data_end)
            return tli_avro_bad(a, a->data_at, TL_CORRUPT, "an Avro block of more bytes than its rows take", err);
        st = tli_avro_next_block(a, &more, err);
        if (st != TL_OK)
            return st;
        if (!more) {
            v->event = TL_AVRO_EOF;
            return TL_OK;
        }
    }
    a->block_rows--;
    a->begun = 1;
    return tli_avro_begin(a, &a->nodes[0], v, err);
}

TL_API tl_status tl_avro_next(tl_avro *avro, tl_avro_value *value, tl_error *err)
{
    tl_avro_frame *f;
    const tl_avro_node *field;
    value->bytes = tli_text_span(NULL, 0);
    value->number = 0;
    value->real = 0;
    if (avro->data_at != avro->seen) {
        avro->seen = avro->data_at;
        avro->idle = 0;
    } else if (++avro->idle > TLI_AVRO_IDLE) {
        return tli_avro_bad(avro, avro->data_at, TL_LIMIT, "an Avro value of too many parts without a byte", err);
    }
    if (avro->depth == 0)
        return tli_avro_row(avro, value, err);
    f = &avro->frames[avro->depth - 1];
    if (f->node->kind != TL_AVRO_RECORD)
        return tli_avro_item(avro, f, value, err);
    if (f->left == 0) {
        value->event = TL_AVRO_END;
        value->node = f->node;
        value->field = f->field;
        avro->depth--;
        return TL_OK;
    }
    field = &avro->nodes[f->child];
    f->child = field->next;
    f->left--;
    return tli_avro_begin(avro, field, value, err);
}
#endif /* TIMELAKE_NO_LAKE */

/* >>doc: the head document. Everything lies in the document's store; what is replaced stays there until the end. */
struct tli_doc_batch {
    int64_t rows;
    const struct ArrowArray **columns; /* NULL: none was opened; else an entry per column, NULL: closed */
};

/* How columns of a decoded section are opened: fills section->batches[batch].columns[column]. */
struct tli_doc_source {
    tl_status (*open)(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column, tl_error *err);
};

/* A limit of our own: heads have a handful, and sorting in is quadratic. */
#define TLI_DOC_PROPERTIES 16384

/* Room for one more entry in an array of the store whose capacity is a power of two. */
TLI_FN void *tli_doc_grow(tli_store *store, void *entries, int32_t count, size_t size, tl_error *err)
{
    void *grown;
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0))
        return entries;
    grown = tli_mem_take_array(store, count == 0 ? 4 : (uint64_t)(uint32_t)count * 2, size, err);
    if (grown != NULL && count != 0)
        TLI_COPY(grown, entries, (size_t)count * size);
    return grown;
}

/* Where `key` is among the properties, or belongs: *found says which. Ascending input costs one comparison. */
TLI_FN int32_t tli_doc_find_property(const tl_document *d, tl_span key, int *found)
{
    int32_t low = 0, high = d->property_count;
    *found = 0;
    if (high > 0 && tl_span_compare(d->properties[high - 1].key, key) < 0)
        return high;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = tl_span_compare(d->properties[middle].key, key);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

TLI_FN int32_t tli_doc_find_section(const tl_document *d, tl_span name, int *found)
{
    int32_t low = 0, high = d->section_count;
    *found = 0;
    if (high > 0 && tl_span_compare(d->sections[high - 1].name, name) < 0)
        return high;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = tl_span_compare(d->sections[middle].name, name);
        if (order == 0) {
            *found = 1;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets a property whose texts live as long as the store. */
TLI_FN tl_status tli_doc_property(tl_document *document, tl_span key, tl_span value, tl_error *err)
{
    int found;
    int32_t i = tli_doc_find_property(document, key, &found), n = document->property_count;
    if (!found) {
        void *grown;
        if (n >= TLI_DOC_PROPERTIES)
            return tli_err_need(err, TL_LIMIT, "too many properties", TL_NO_POSITION, (uint64_t)(uint32_t)n + 1);
        grown = tli_doc_grow(document->store, document->properties, n, sizeof(tl_property), err);
        if (grown == NULL)
            return tli_arrow_failed(err);
        document->properties = (tl_property *)grown;
        TLI_MOVE(document->properties + i + 1, document->properties + i, (size_t)(n - i) * sizeof(tl_property));
        document->property_count++;
        document->properties[i].key = key;
    }
    document->properties[i].value = value;
    return TL_OK;
}

/* Adds a section with closed batches of no rows, or replaces the one of that name. Name and schema live as long as the
   store. *out is valid until the next section is added. */
TLI_FN tl_status tli_doc_section(tl_document *document, tl_span name, const struct ArrowSchema *schema,
                                 int32_t batch_count,
                                 struct tli_doc_source *source, tl_section **out, tl_error *err)
{
    int found;
    int32_t i = tli_doc_find_section(document, name, &found), n = document->section_count;
    struct tli_doc_batch *batches;
    tl_section *section;
    batches = (struct tli_doc_batch *)tli_mem_take_array(document->store, (uint64_t)(uint32_t)batch_count,
                                                         sizeof *batches,
                                                         err);
    if (batches == NULL)
        return tli_arrow_failed(err);
    if (!found) {
        void *grown = n == INT32_MAX ? NULL : tli_doc_grow(document->store, document->sections, n, sizeof *section,
                                                           err);
        if (grown == NULL)
            return tli_arrow_failed(err);
        document->sections = (tl_section *)grown;
        TLI_MOVE(document->sections + i + 1, document->sections + i, (size_t)(n - i) * sizeof *section);
        document->section_count++;
    }
    section = &document->sections[i];
    TLI_FILL(section, 0, sizeof *section);
    section->name = name;
    section->schema = schema;
    section->batch_count = batch_count;
    section->batches = batches;
    section->source = source;
    section->store = document->store;
    *out = section;
    return TL_OK;
}

/* ---- building ---- */

TLI_FN tl_status tli_doc_store(tl_document *document, tl_error *err)
{
    if (document->store == NULL)
        document->store = tli_mem_store_new(&document->allocator, UINT64_MAX, NULL, 0, NULL, NULL, err);
    return document->store != NULL ? TL_OK : tli_arrow_failed(err);
}

TLI_FN tl_status tli_doc_text(tli_store *store, tl_span *text, tl_error *err)
{
    char *copy;
    if (tli_text_utf8(text->data, text->size) != text->size)
        return tli_err(err, TL_MISUSE, "text that is not UTF-8", TL_NO_POSITION);
    copy = (char *)tli_mem_take(store, text->size, err);
    if (copy == NULL)
        return tli_arrow_failed(err);
    if (text->size != 0)
        TLI_COPY(copy, text->data, text->size);
    text->data = copy;
    return TL_OK;
}

TL_API tl_status tl_document_set(tl_document *document, tl_span key, tl_span value, tl_error *err)
{
    tl_error own;
    tl_status st;
    err = err != NULL ? err : &own;
    if (key.data == NULL)
        return tli_err(err, TL_MISUSE, "a property without a key", TL_NO_POSITION);
    st = tli_doc_store(document, err);
    if (st == TL_OK)
        st = tli_doc_text(document->store, &key, err);
    if (st == TL_OK)
        st = tli_doc_text(document->store, &value, err);
    return st == TL_OK ? tli_doc_property(document, key, value, err) : st;
}

/* Both codecs write names and metadata as texts. */
TLI_FN tl_status tli_doc_check_schema(const struct ArrowSchema *schema, tl_error *err)
{
    tli_arrow_walk w;
    tl_status st = tli_arrow_schema_check(schema, NULL, NULL, err);
    if (st != TL_OK)
        return st;
    if (schema->format[0] != '+' || schema->format[1] != 's')
        return tli_err(err, TL_MISUSE, "the schema of a section is no struct", TL_NO_POSITION);
    tli_arrow_walk_begin(&w, schema, NULL);
    while (tli_arrow_walk_next(&w, TLI_ARROW_DEPTH_MAX) > 0) {
        tli_arrow_pairs pairs = tli_arrow_pairs_begin(w.schema);
        tl_span name = tl_text(w.schema->name), key, value;
        int bad = tli_text_utf8(name.data, name.size) != name.size;
        while (tli_arrow_pairs_next(&pairs, &key, &value))
            bad |= tli_text_utf8(key.data, key.size) != key.size || tli_text_utf8(value.data, value.size) != value.size;
        if (bad)
            return tli_err(err, TL_MISUSE, "a name or metadata that is not UTF-8", TL_NO_POSITION);
    }
    return TL_OK;
}

/* The columns of a struct array: its children, or where it is a slice of them, views of them in the store. A view's
   private_data is not the store: its buffers are the caller's. */
TLI_FN tl_status tli_doc_slice(tli_store *store, const struct ArrowArray *batch, struct tli_doc_batch *to,
                               tl_error *err)
{
    int64_t i;
    to->rows = batch->length;
    to->columns = (const struct ArrowArray **)tli_mem_take_array(store, (uint64_t)batch->n_children, sizeof(void *),
                                                                 err);
    if (to->columns == NULL)
        return tli_arrow_failed(err);
    for (i = 0; i < batch->n_children; i++) {
        struct ArrowArray *child = batch->children[i], *view;
        to->columns[i] = child;
        if (batch->offset == 0 && child->length == batch->length)
            continue;
        view = (struct ArrowArray *)tli_mem_take(store, sizeof *view, err);
        if (view == NULL)
            return tli_arrow_failed(err);
        *view = *child;
        view->offset += batch->offset;
        view->length = batch->length;
        view->null_count = child->null_count == 0 || child->n_buffers == 0
            ? (child->n_buffers == 0 ? batch->length : 0) : -1;
        view->release = tli_arrow_array_stays;
        view->private_data = NULL;
        to->columns[i] = view;
    }
    return TL_OK;
}

TLI_FN tl_status tli_doc_check_batches(const struct ArrowSchema *schema, const struct ArrowArray *const *batches,
                                       int32_t count, int64_t *rows, tl_error *err)
{
    int32_t i;
    *rows = 0;
    for (i = 0; i < count; i++) {
        const struct ArrowArray *b = batches[i];
        tl_status st = tli_arrow_array_check(schema, b, NULL, err);
        if (st != TL_OK)
            return st;
        if (tli_arrow_null_count(b) != 0)
            return tli_err(err, TL_MISUSE, "a batch with rows that are null", TL_NO_POSITION);
        *rows += b->length; /* at most 2^31 times 2^40 */
        if (*rows > (int64_t)1 << 60)
            return tli_err(err, TL_LIMIT, "limits.rows", TL_NO_POSITION);
    }
    return TL_OK;
}

TL_API tl_status tl_document_add(tl_document *document, tl_span name, const struct ArrowSchema *schema,
                                 const struct ArrowArray *const *batches, int32_t count, tl_error *err)
{
    tl_error own;
    tl_section fresh, *section = NULL;
    int32_t i;
    tl_status st;
    err = err != NULL ? err : &own;
    TLI_FILL(&fresh, 0, sizeof fresh);
    if (name.data == NULL || count < 0 || (count > 0 && batches == NULL))
        return tli_err(err, TL_MISUSE, "a section without a name or batches", TL_NO_POSITION);
    st = tli_doc_check_schema(schema, err);
    if (st == TL_OK)
        st = tli_doc_check_batches(schema, batches, count, &fresh.rows, err);
    if (st == TL_OK)
        st = tli_doc_store(document, err);
    if (st == TL_OK)
        st = tli_doc_text(document->store, &name, err);
    if (st == TL_OK)
        st = tli_arrow_schema_keep(document->store, schema, &fresh.schema, err);
    if (st != TL_OK)
        return st;
    fresh.batches = (struct tli_doc_batch *)tli_mem_take_array(document->store, (uint64_t)(uint32_t)count,
                                                               sizeof *fresh.batches, err);
    if (fresh.batches == NULL)
        return err->status;
    for (i = 0; i < count; i++) {
        st = tli_doc_slice(document->store, batches[i], &fresh.batches[i], err);
        if (st != TL_OK)
            return st;
    }
    st = tli_doc_section(document, name, fresh.schema, 0, NULL, &section, err);
    if (st != TL_OK)
        return st;
    section->rows = fresh.rows;
    section->batches = fresh.batches;
    section->batch_count = count;
    return TL_OK;
}

TL_API void tl_document_free(tl_document *document)
{
    if (document == NULL)
        return;
    tli_mem_store_drop(document->store);
    document->store = NULL;
    document->properties = NULL;
    document->sections = NULL;
    document->property_count = document->section_count = 0;
}

/* ---- reading ---- */

TL_API tl_span tl_document_property(const tl_document *document, tl_span key)
{
    int found;
    int32_t i = tli_doc_find_property(document, key, &found);
    return found ? document->properties[i].value : tl_text(NULL);
}

TL_API tl_section *tl_document_section(const tl_document *document, tl_span name)
{
    int found;
    int32_t i = tli_doc_find_section(document, name, &found);
    return found ? &document->sections[i] : NULL;
}

TL_API tl_status tl_section_column(tl_section *section, int32_t batch, int32_t column, const struct ArrowArray **array,
                                   tl_error *err)
{
    tl_error own;
    struct tli_doc_batch *b;
    tl_status st = TL_OK;
    err = err != NULL ? err : &own;
    *array = NULL;
    if (section == NULL || batch < 0 || batch >= section->batch_count || column < 0
        || column >= section->schema->n_children)
        return tli_err(err, TL_ABSENT, "no such batch or column", TL_NO_POSITION);
    b = &section->batches[batch];
    if (b->columns == NULL) {
        b->columns = (const struct ArrowArray **)tli_mem_take_array(section->store,
                                                                    (uint64_t)section->schema->n_children,
                                                                    sizeof(void *), err);
        if (b->columns == NULL)
            return err->status;
    }
    if (b->columns[column] == NULL && section->source != NULL)
        st = section->source->open(section->source, section, batch, column, err);
    if (st != TL_OK)
        return st;
    *array = b->columns[column];
    return *array != NULL ? TL_OK : tli_err(err, TL_ABSENT, "no such batch or column", TL_NO_POSITION);
}

TL_API tl_status tl_section_open(tl_section *section, tl_error *err)
{
    int32_t i, k;
    if (section == NULL)
        return tli_err(err, TL_ABSENT, "no such section", TL_NO_POSITION);
    for (i = 0; i < section->batch_count; i++)
        for (k = 0; k < section->schema->n_children; k++) {
            const struct ArrowArray *array;
            tl_status st = tl_section_column(section, i, k, &array, err);
            if (st != TL_OK)
                return st;
        }
    return TL_OK;
}

/* The struct array of an opened batch; its members stay the section's. */
TLI_FN void tli_doc_batch_array(const tl_section *section, int32_t batch, struct ArrowArray *root,
                                const void **validity)
{
    *validity = NULL;
    TLI_FILL(root, 0, sizeof *root);
    root->length = section->batches[batch].rows;
    root->n_buffers = 1;
    root->buffers = validity;
    root->n_children = section->schema->n_children;
    root->children = (struct ArrowArray **)(void *)section->batches[batch].columns;
    root->release = tli_arrow_array_stays;
}

TL_API tl_status tl_section_export(tl_section *section, int32_t batch, struct ArrowSchema *schema,
                                   struct ArrowArray *array,
                                   tl_error *err)
{
    tl_error own;
    struct ArrowArray root;
    const void *validity;
    int32_t k;
    tl_status st;
    err = err != NULL ? err : &own;
    TLI_FILL(array, 0, sizeof *array);
    if (schema != NULL)
        TLI_FILL(schema, 0, sizeof *schema);
    if (section == NULL || batch < 0 || batch >= section->batch_count)
        return tli_err(err, TL_ABSENT, "no such section or batch", TL_NO_POSITION);
    for (k = 0; k < section->schema->n_children; k++) {
        const struct ArrowArray *column;
        st = tl_section_column(section, batch, k, &column, err);
        if (st != TL_OK)
            return st;
    }
    tli_doc_batch_array(section, batch, &root, &validity);
    st = tli_arrow_export(section->store, section->schema, &root, array, err);
    if (st == TL_OK && schema != NULL) {
        st = tl_schema_copy(schema, section->schema, &section->store->allocator, err);
        if (st != TL_OK)
            array->release(array);
    }
    return st;
}

/* >>stream: Arrow IPC streams as documents of one section. */
#ifndef TIMELAKE_NO_HEAD_ARROW
typedef struct tli_stream_source {
    struct tli_doc_source base;
    struct tli_ipc_stream *stream;
} tli_stream_source;

TLI_FN tl_status tli_stream_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                 tl_error *err)
{
    const tli_stream_source *source = (const tli_stream_source *)(const void *)self;
    const struct ArrowArray *array = NULL;
    tl_status st = tli_ipc_column(source->stream, batch, column, &array, err);
    if (st == TL_OK)
        section->batches[batch].columns[column] = array;
    return st;
}

/* Fills a document whose store holds the bytes. */
TLI_FN tl_status tli_stream_fill(tl_document *document, const tl_limits *limits, const tl_compression *compression,
                                 tl_error *err)
{
    tli_store *store = document->store;
    tli_stream_source *source = (tli_stream_source *)tli_mem_take_zero(store, sizeof *source, err);
    tl_section *section = NULL;
    int32_t i;
    tl_status st;
    if (source == NULL)
        return tli_arrow_failed(err);
    source->base.open = tli_stream_open;
    st = tli_ipc_open(store, store->body, store->body_size, 0, limits, compression, &source->stream, err);
    if (st == TL_OK)
        st = tli_doc_section(document, tl_text(""), source->stream->schema, source->stream->batch_count, &source->base,
                             &section, err);
    for (i = 0; st == TL_OK && i < section->batch_count; i++) {
        section->batches[i].rows = source->stream->batches[i].rows;
        section->rows += section->batches[i].rows;
    }
    return st;
}

TL_API tl_status tl_ipc_decode(tl_document *document, const void *bytes, size_t size, const tl_ipc_options *options,
                               tl_error *err)
{
    tl_error own;
    tl_ipc_options o;
    tl_limits limits;
    tl_status st = TL_OK;
    err = err != NULL ? err : &own;
    TLI_FILL(&o, 0, sizeof o);
    if (options != NULL)
        o = *options;
    limits = tl_limits_resolve(&o.limits);
    TLI_FILL(document, 0, sizeof *document);
    document->allocator = o.allocator;
    if (bytes == NULL && size != 0)
        st = tli_err(err, TL_MISUSE, "no bytes", TL_NO_POSITION);
    else if (size > limits.object_bytes)
        st = tli_err_need(err, TL_LIMIT, "limits.object_bytes", TL_NO_POSITION, size);
    if (st == TL_OK) {
        document->store = tli_mem_store_new(&o.allocator, limits.decoded_bytes, bytes, size, o.release,
                                            o.release_context, err);
        st = document->store != NULL ? TL_OK : err->status;
    }
    if (document->store == NULL) {
        if (o.release != NULL)
            o.release(o.release_context, bytes, size);
        return st;
    }
    st = tli_stream_fill(document, &limits, &o.compression, err);
    if (st != TL_OK)
        tl_document_free(document);
    return st;
}

TL_API tl_status tl_ipc_encode(tl_buffer *out, tl_section *section, const tl_ipc_options *options, tl_error *err)
{
    tl_error own;
    size_t before = out->size;
    int32_t i;
    tl_status st;
    err = err != NULL ? err : &own;
    st = tl_section_open(section, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, section->schema, tl_text(NULL), tl_text(NULL), err);
    for (i = 0; st == TL_OK && i < section->batch_count; i++)
        st = tli_ipc_write_batch(out, section->schema, section->batches[i].columns, section->batches[i].rows,
                                 options != NULL ? &options->compression : NULL, err);
    if (st == TL_OK)
        st = tli_ipc_write_end(out, err);
    if (st != TL_OK)
        out->size = before;
    return st;
}
#endif

/* >>jsontype: schemas of the head's `json` codec: names of types, what a column knows of itself, reading a schema. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- types ---- */

/* arrow-schema's names of types, by tl_type_id. */
TLI_FN const char *tli_jsontype_name(tl_type_id id)
{
    static const char names[][16] = {
        "Null", "Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float16",
        "Float32", "Float64", "Decimal32", "Decimal64", "Decimal128", "Decimal256", "Date32", "Date64", "Time32",
        "Time64", "Timestamp", "Duration", "Interval", "Interval", "Interval", "Utf8", "LargeUtf8", "Utf8View",
        "Binary", "LargeBinary", "BinaryView", "FixedSizeBinary", "List", "LargeList", "FixedSizeList", "Struct",
        "Map"};
    return names[id];
}

/* Units 0 to 3, then the three kinds of intervals. */
TLI_FN const char *tli_jsontype_unit(uint32_t unit)
{
    static const char names[][13] = {"Second", "Millisecond", "Microsecond", "Nanosecond",
                                     "YearMonth", "DayTime", "MonthDayNano"};
    return names[unit];
}

#define TLI_JSONTYPE_TYPES ((uint32_t)TL_TYPE_MAP + 1)
#define TLI_JSONTYPE_UNITS 7u

/* Sorts indices of texts by their bytes, equal texts by index. A heap: no recursion, no worst case, no memory. */
TLI_FN int tli_jsontype_before(const tl_span *texts, uint32_t a, uint32_t b)
{
    int order = tl_span_compare(texts[a], texts[b]);
    return order != 0 ? order < 0 : a < b;
}

TLI_FN void tli_jsontype_sort(uint32_t *order, uint32_t n, const tl_span *texts)
{
    uint32_t start = n / 2, end = n;
    while (end > 1) {
        uint32_t hole, child, moved;
        if (start > 0) {
            moved = order[--start];
        } else {
            moved = order[--end];
            order[end] = order[0];
        }
        for (hole = start; (child = 2 * hole + 1) < end; hole = child) {
            if (child + 1 < end && tli_jsontype_before(texts, order[child], order[child + 1]))
                child++;
            if (!tli_jsontype_before(texts, moved, order[child]))
                break;
            order[hole] = order[child];
        }
        order[hole] = moved;
    }
}

/* ---- nodes: what both directions know of a column, beside its builder ---- */

#define TLI_JSONTYPE_NONE UINT32_MAX          /* no node */
#define TLI_JSONTYPE_DONE (UINT32_MAX - 1)    /* instead of a node: the value is complete */
#define TLI_JSONTYPE_FAIL (UINT32_MAX - 2)

enum { TLI_JSONTYPE_DICTIONARY = TL_TYPE_MAP + 1, TLI_JSONTYPE_ENTRIES };

/* Values that have a short way in, when they look as all writers put them. */
enum { TLI_JSONTYPE_SLOW, TLI_JSONTYPE_INTEGER, TLI_JSONTYPE_TEXT, TLI_JSONTYPE_HEX };

/* The values of a dictionary column: their texts, and which of the distinct ones each of them is. */
typedef struct tli_jsontype_words {
    uint32_t count;
    uint32_t at;
    uint32_t distinct;
    tl_span *texts;
    uint32_t *index;
    uint32_t *first; /* of each distinct one, in the order they appear */
    size_t size;     /* of the one block that all three lie in */
} tli_jsontype_words;

typedef struct tli_jsontype_node {
    uint8_t act;        /* tl_type_id, or what stands for dictionary columns and for the struct in a map */
    uint8_t nullable;
    uint8_t twins;      /* of a struct: two children have one name, so that rows cannot tell them apart */
    uint8_t pairs;      /* of a map being read or written: [[key, value], ...] */
    uint8_t quick;      /* TLI_JSONTYPE_INTEGER, ... */
    uint8_t is_signed;  /* of integers */
    uint32_t count;     /* of children */
    uint32_t sorted;    /* where its children begin in the tree's `sorted` */
    uint32_t follow;    /* reading: the sibling whose key came after this one's the last time; of a struct the first */
    uint32_t seen;      /* reading a struct: how many children this object had; writing: how many it has now */
    uint32_t key_size;
    uint64_t key_mask;  /* the first and the last 8 bytes of the key with quotes and colon; mask 0: it has escapes */
    uint64_t key_head;
    uint64_t key_tail;
    uint64_t mark;      /* reading: the object of its parent, counted from 1, that had this child last */
    uint64_t objects;   /* reading a struct: how many there were */
    uint64_t last;      /* reading repeated keys: where the last key of this child begins */
    tl_span name;
    tl_span key;        /* writing: the key with quotes, escapes and colon */
    int64_t row;        /* writing: the value at hand, and where a list ends */
    int64_t end;
    tli_jsontype_words *words;
} tli_jsontype_node;

typedef struct tli_jsontype_tree {
    tli_build_tree *build;
    tli_jsontype_node *nodes;
    uint32_t *sorted; /* children of structs by name */
    uint32_t dictionaries;
} tli_jsontype_tree;

TLI_FN void tli_jsontype_quick(tli_jsontype_node *n, const tli_build_node *b)
{
    n->is_signed = n->act < TL_TYPE_UINT8 || n->act > TL_TYPE_UINT64;
    if ((n->act >= TL_TYPE_INT8 && n->act <= TL_TYPE_UINT64)
        || (n->act >= TL_TYPE_DATE32 && n->act <= TL_TYPE_DURATION))
        n->quick = TLI_JSONTYPE_INTEGER;
    else if (n->act == TL_TYPE_UTF8 || n->act == TL_TYPE_LARGE_UTF8)
        n->quick = TLI_JSONTYPE_TEXT;
    else if (n->act == TL_TYPE_BINARY || n->act == TL_TYPE_LARGE_BINARY)
        n->quick = TLI_JSONTYPE_HEX;
    TLI_ASSERT(n->quick < TLI_JSONTYPE_TEXT || b->layout == TLI_ARROW_BYTES || b->layout == TLI_ARROW_LARGE_BYTES);
    (void)b;
}

/* Byte i of `"name":`. */
TLI_INLINE uint8_t tli_jsontype_key_byte(tl_span name, size_t i)
{
    return (uint8_t)(i == name.size + 2 ? ':' : i == 0 || i == name.size + 1 ? '"' : name.data[i - 1]);
}

/* The key as it is looked for in the text. */
TLI_FN void tli_jsontype_key(tli_jsontype_node *n)
{
    uint8_t text[16];
    size_t i, size = n->name.size, whole = size + 3;
    if (size > UINT32_MAX - 16 || tli_json_escaped_size(n->name.data, size) != size)
        return;
    n->key_size = (uint32_t)whole;
    TLI_FILL(text, 0, sizeof text);
    for (i = 0; i < TLI_MIN(whole, 8u); i++) {
        text[i] = tli_jsontype_key_byte(n->name, i);
        text[8 + i] = whole < 8 ? 0 : tli_jsontype_key_byte(n->name, whole - 8 + i);
    }
    n->key_mask = n->key_size >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * n->key_size)) - 1;
    n->key_head = tli_bits_le64(text);
    n->key_tail = tli_bits_le64(text + 8);
}

/* The children of a struct in the order of their names, which is the order they are written in and first looked for. */
TLI_FN void tli_jsontype_arrange(tli_jsontype_tree *t, uint32_t at, tl_span *names, uint32_t *order, uint32_t *used)
{
    tli_jsontype_node *n = &t->nodes[at];
    uint32_t i, child = at + 1, *sorted = t->sorted + *used;
    n->sorted = *used;
    *used += n->count;
    for (i = 0; i < n->count; i++) {
        sorted[i] = child;
        order[i] = i;
        names[i] = t->nodes[child].name;
        child += t->build->nodes[child].span;
    }
    tli_jsontype_sort(order, n->count, names);
    for (i = 0; i < n->count; i++)
        order[i] = sorted[order[i]];
    for (i = 0; i < n->count; i++) {
        sorted[i] = order[i];
        if (i > 0) {
            t->nodes[sorted[i - 1]].follow = sorted[i];
            n->twins |= (uint8_t)tl_span_equal(t->nodes[sorted[i - 1]].name, t->nodes[sorted[i]].name);
        }
    }
    if (n->act == TL_TYPE_STRUCT && n->count != 0)
        n->follow = sorted[0];
}

/* The nodes of a schema, in the store. */
TLI_FN tl_status tli_jsontype_nodes(tli_store *store, const struct ArrowSchema *schema, const tl_limits *limits,
                                    tli_jsontype_tree *t, tl_error *err)
{
    tli_build_node *b;
    uint32_t i, n, used = 0, *order;
    tl_span *names;
    tl_status st = tli_build_begin(store, schema, limits, &t->build, err);
    if (st != TL_OK)
        return st;
    b = t->build->nodes;
    n = t->build->count;
    t->dictionaries = 0;
    t->nodes = (tli_jsontype_node *)tli_mem_take_array(store, n, sizeof *t->nodes, err);
    t->sorted = (uint32_t *)tli_mem_take_array(store, n, sizeof *t->sorted, err);
    names = (tl_span *)tli_mem_new(&store->allocator, (size_t)n * (sizeof *names + sizeof *order));
    if (t->nodes == NULL || t->sorted == NULL || names == NULL) {
        tli_mem_delete(&store->allocator, names, (size_t)n * (sizeof *names + sizeof *order));
        return names == NULL ? tli_mem_failed(&store->allocator, err) : err->status;
    }
    order = (uint32_t *)(void *)(names + n);
    for (i = 0; i < n; i++) {
        tli_jsontype_node *node = &t->nodes[i];
        node->act = (uint8_t)(b[i].schema->dictionary != NULL ? (int)TLI_JSONTYPE_DICTIONARY
                              : i != 0 && b[i - b[i].up].type.id == TL_TYPE_MAP ? (int)TLI_JSONTYPE_ENTRIES
                                                                                : (int)b[i].type.id);
        node->nullable = i != 0 && ((b[i].schema->flags & ARROW_FLAG_NULLABLE) != 0 || b[i].type.id == TL_TYPE_NULL
                                    || b[i].is_dictionary);
        if (i != 0 && (node->act == TLI_JSONTYPE_ENTRIES || (node - b[i].up)->act == TLI_JSONTYPE_ENTRIES))
            node->nullable = (uint8_t)(node->nullable && node->act != TLI_JSONTYPE_ENTRIES && b[i].up != 1);
        node->count = (uint32_t)b[i].schema->n_children;
        node->follow = TLI_JSONTYPE_NONE;
        node->name = tl_text(b[i].schema->name == NULL ? "" : b[i].schema->name);
        t->dictionaries += node->act == TLI_JSONTYPE_DICTIONARY;
        tli_jsontype_key(node);
        tli_jsontype_quick(node, &b[i]);
    }
    for (i = 0; i < n; i++)
        if (t->nodes[i].act == TL_TYPE_STRUCT)
            tli_jsontype_arrange(t, i, names, order, &used);
    tli_mem_delete(&store->allocator, names, (size_t)n * (sizeof *names + sizeof *order));
    return TL_OK;
}

/* ---- reading a schema ---- */

/* What is still to be made below a schema node. */
typedef struct tli_jsontype_todo {
    struct ArrowSchema *schema;
    const tl_json_node *fields; /* an array of fields, one field, or the type of a dictionary's values */
} tli_jsontype_todo;

typedef struct tli_jsontype_schema {
    tl_json tree;
    uint64_t position; /* of the schema's text in the object */
    tli_store *store;
    tl_error *err;
    tli_jsontype_todo *todo;
    uint32_t todo_count;
} tli_jsontype_schema;

TLI_FN tl_status tli_jsontype_refuse(tli_jsontype_schema *s, tl_status status, const char *text,
                                     const tl_json_node *node)
{
    return tli_err(s->err, status, text, s->position + (node == NULL ? s->tree.root->start : node->start));
}

TLI_FN int tli_jsontype_text_is(const tli_jsontype_schema *s, const tl_json_node *node, const char *text)
{
    return node != NULL && node->kind == TL_JSON_STRING
           && tl_span_equal(tli_json_plain_text(&s->tree, node), tl_text(text));
}

/* An int32 among the arguments of a type. */
TLI_FN tl_status tli_jsontype_argument(tli_jsontype_schema *s, const tl_json_node *node, int32_t least, int32_t *value)
{
    int64_t v;
    if (tl_json_int64(&s->tree, node, &v, NULL) != TL_OK || v < least || v > INT32_MAX)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a number of the data type is missing or out of range", node);
    *value = (int32_t)v;
    return TL_OK;
}

/* A unit between `from` and `to`. */
TLI_FN tl_status tli_jsontype_argument_unit(tli_jsontype_schema *s, const tl_json_node *node, uint32_t from,
                                            uint32_t to, uint32_t *unit)
{
    for (*unit = from; *unit <= to; ++*unit)
        if (tli_jsontype_text_is(s, node, tli_jsontype_unit(*unit)))
            return TL_OK;
    return tli_jsontype_refuse(s, TL_CORRUPT, "head: no such unit", node);
}

TLI_FN tl_status tli_jsontype_argument_decimal(tli_jsontype_schema *s, const tl_json_node *node, tl_type *t)
{
    tl_status st = tli_jsontype_argument(s, tl_json_at(node, 0), 1, &t->precision);
    t->width = 4 << (t->id - TL_TYPE_DECIMAL32);
    return st == TL_OK ? tli_jsontype_argument(s, tl_json_at(node, 1), -128, &t->scale) : st;
}

/* What follows the name of a type with arguments; *fields: where its children stand. */
TLI_FN tl_status tli_jsontype_arguments(tli_jsontype_schema *s, const tl_json_node *node, tl_type *t,
                                        const tl_json_node **fields, int64_t *flags)
{
    const tl_json_node *second = tl_json_at(node, 1);
    uint32_t unit = 0;
    int truth = 0;
    tl_status st = TL_OK;
    switch (t->id) {
    case TL_TYPE_DECIMAL32: case TL_TYPE_DECIMAL64: case TL_TYPE_DECIMAL128: case TL_TYPE_DECIMAL256:
        return tli_jsontype_argument_decimal(s, node, t);
    case TL_TYPE_TIME32: case TL_TYPE_TIME64: case TL_TYPE_DURATION: case TL_TYPE_TIMESTAMP:
        if (t->id == TL_TYPE_TIMESTAMP && tl_json_present(second))
            st = tl_json_string(&s->tree, second, &t->zone, NULL);
        if (st != TL_OK)
            return tli_jsontype_refuse(s, TL_CORRUPT, "head: the zone of a timestamp is no text", second);
        st = tli_jsontype_argument_unit(s, t->id == TL_TYPE_TIMESTAMP ? tl_json_at(node, 0) : node,
                                        t->id == TL_TYPE_TIME64 ? 2 : 0, t->id == TL_TYPE_TIME32 ? 1 : 3, &unit);
        t->unit = (tl_unit)unit;
        return st;
    case TL_TYPE_INTERVAL_MONTHS:
        st = tli_jsontype_argument_unit(s, node, 4, 6, &unit);
        t->id = (tl_type_id)((uint32_t)TL_TYPE_INTERVAL_MONTHS + unit - 4);
        return st;
    case TL_TYPE_FIXED_BINARY:
        return tli_jsontype_argument(s, node, 0, &t->size);
    case TL_TYPE_LIST: case TL_TYPE_LARGE_LIST: case TL_TYPE_STRUCT:
        *fields = node;
        return TL_OK;
    case TL_TYPE_FIXED_LIST:
        *fields = tl_json_at(node, 0);
        return tli_jsontype_argument(s, second, 0, &t->size);
    case TL_TYPE_MAP:
        *fields = tl_json_at(node, 0);
        if (tl_json_bool(&s->tree, second, &truth, NULL) != TL_OK)
            return tli_jsontype_refuse(s, TL_CORRUPT, "head: whether the keys of a map are sorted is missing", node);
        *flags |= truth ? ARROW_FLAG_MAP_KEYS_SORTED : 0;
        return TL_OK;
    default:
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: this data type takes no arguments", node);
    }
}

/* The type of a field; *fields: where its children stand, NULL: it has none; *values: the type in a dictionary. */
TLI_FN tl_status tli_jsontype_type(tli_jsontype_schema *s, const tl_json_node *node, tl_type *t,
                                   const tl_json_node **fields, const tl_json_node **values, int64_t *flags)
{
    const tl_json_node *name = node, *arguments = NULL;
    uint32_t id;
    TLI_FILL(t, 0, sizeof *t);
    *fields = *values = NULL;
    if (node != NULL && node->kind == TL_JSON_OBJECT && node->count == 1) {
        name = tl_json_first(node);
        arguments = name + 1;
        if (tli_jsontype_text_is(s, name, "Dictionary")) {
            *values = tl_json_at(arguments, 1);
            name = tl_json_at(arguments, 0);
            arguments = NULL;
            if (*values == NULL)
                return tli_jsontype_refuse(s, TL_CORRUPT, "head: a dictionary without a type of values", node);
        }
    }
    for (id = 0; id < TLI_JSONTYPE_TYPES; id++)
        if (tli_jsontype_text_is(s, name, tli_jsontype_name((tl_type_id)id)))
            break;
    if (id == TLI_JSONTYPE_TYPES && name != NULL && name->kind == TL_JSON_STRING)
        return tli_jsontype_refuse(s, TL_UNSUPPORTED, "head: a data type that is not supported", name);
    if (id == TLI_JSONTYPE_TYPES)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a data type is expected", node);
    t->id = (tl_type_id)id;
    if (arguments != NULL)
        return tli_jsontype_arguments(s, arguments, t, fields, flags);
    if ((t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256) || t->id >= TL_TYPE_FIXED_BINARY
        || (t->id >= TL_TYPE_TIME32 && t->id <= TL_TYPE_INTERVAL_MONTH_DAY_NANO))
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: this data type needs arguments", node);
    return TL_OK;
}

/* The metadata object of a schema or field. Of a repeated key the last value counts, as in a map. */
TLI_FN tl_status tli_jsontype_metadata(tli_jsontype_schema *s, struct ArrowSchema *to, const tl_json_node *object)
{
    const tl_allocator *a = &s->store->allocator;
    const tl_json_node *key;
    uint32_t n = 0, i, kept = 0, *order;
    size_t size;
    tl_span *pairs;
    tl_status st = TL_OK;
    if (object != NULL && object->kind != TL_JSON_OBJECT)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: metadata has to be an object", object);
    if (object == NULL || object->count == 0)
        return TL_OK;
    size = object->count * (2 * sizeof *pairs + sizeof *order);
    pairs = (tl_span *)tli_mem_new(a, size);
    if (pairs == NULL)
        return tli_mem_failed(a, s->err);
    order = (uint32_t *)(void *)(pairs + 2 * (size_t)object->count);
    for (key = tl_json_first(object); key != NULL && st == TL_OK; key = tl_json_next(object, key), n++) {
        pairs[n] = tli_json_plain_text(&s->tree, key);
        order[n] = n;
        if (tl_json_string(&s->tree, key + 1, &pairs[object->count + n], NULL) != TL_OK)
            st = tli_jsontype_refuse(s, TL_CORRUPT, "head: metadata has to be text", key + 1);
    }
    if (st == TL_OK) {
        tli_jsontype_sort(order, n, pairs);
        for (i = 1; i < n; i++)
            if (tl_span_equal(pairs[order[i - 1]], pairs[order[i]]))
                pairs[order[i - 1]].data = NULL;
        for (i = 0; i < n; i++)
            if (pairs[i].data != NULL) {
                pairs[kept] = pairs[i];
                pairs[object->count + kept++] = pairs[object->count + i];
            }
        st = kept > INT32_MAX ? tli_jsontype_refuse(s, TL_LIMIT, "head: too much metadata", object)
            : tli_arrow_schema_metadata(s->store, to, pairs, pairs + object->count, (int32_t)kept, s->err);
    }
    tli_mem_delete(a, pairs, size);
    return st;
}

/* A schema node without what lies below it, which is left to do. */
TLI_FN tl_status tli_jsontype_node_new(tli_jsontype_schema *s, tl_span name, int64_t flags, const tl_json_node *type,
                                       struct ArrowSchema **out)
{
    const tl_json_node *fields, *values;
    const char *format = NULL;
    int64_t children;
    tl_type t;
    tl_status st = tli_jsontype_type(s, type, &t, &fields, &values, &flags);
    if (st == TL_OK)
        st = tli_arrow_format(s->store, &t, &format, s->err);
    if (st != TL_OK)
        return st;
    if (t.id >= TL_TYPE_LIST && (fields == NULL || (t.id == TL_TYPE_STRUCT) != (fields->kind == TL_JSON_ARRAY)))
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: the fields of a data type are missing", type);
    children = fields == NULL ? 0 : t.id == TL_TYPE_STRUCT ? (int64_t)fields->count : 1;
    *out = tli_arrow_schema_new(s->store, format, name, flags, children, s->err);
    if (*out == NULL)
        return s->err->status;
    if (children != 0 || values != NULL) {
        s->todo[s->todo_count].schema = *out;
        s->todo[s->todo_count++].fields = values != NULL ? values : fields;
    }
    return TL_OK;
}

TLI_FN tl_status tli_jsontype_field(tli_jsontype_schema *s, const tl_json_node *field, struct ArrowSchema **out)
{
    const tl_json_node *ordered = tl_json_member(&s->tree, field, tl_text("dict_is_ordered"));
    tl_span name;
    int nullable = 0, truth = 0;
    int64_t flags;
    tl_status st;
    if (tl_json_string(&s->tree, tl_json_member(&s->tree, field, tl_text("name")), &name, NULL) != TL_OK)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a field without a name", field);
    if (tl_json_bool(&s->tree, tl_json_member(&s->tree, field, tl_text("nullable")), &nullable, NULL) != TL_OK)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a field that does not say whether it is nullable", field);
    if (tl_json_present(ordered) && tl_json_bool(&s->tree, ordered, &truth, NULL) != TL_OK)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: dict_is_ordered has to be true or false", ordered);
    flags = (nullable ? ARROW_FLAG_NULLABLE : 0) | (truth ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
    st = tli_jsontype_node_new(s, name, flags, tl_json_member(&s->tree, field, tl_text("data_type")), out);
    return st == TL_OK ? tli_jsontype_metadata(s, *out, tl_json_member(&s->tree, field, tl_text("metadata"))) : st;
}

/* Makes what is left to do, which makes more to do. */
TLI_FN tl_status tli_jsontype_below(tli_jsontype_schema *s)
{
    tl_status st = TL_OK;
    while (st == TL_OK && s->todo_count > 0) {
        tli_jsontype_todo todo = s->todo[--s->todo_count];
        int64_t i, n = todo.schema->n_children;
        const tl_json_node *field = todo.fields;
        if (n == 0)
            st = tli_jsontype_node_new(s, tl_text(""), ARROW_FLAG_NULLABLE, field, &todo.schema->dictionary);
        else if (field->kind == TL_JSON_ARRAY)
            field = tl_json_first(field);
        for (i = 0; i < n && st == TL_OK; i++) {
            st = tli_jsontype_field(s, field, &todo.schema->children[i]);
            field += field->nodes;
        }
    }
    return st;
}

TLI_FN tl_status tli_jsontype_schema_read(tli_jsontype_schema *s, const tl_limits *limits, struct ArrowSchema **out)
{
    const tl_json_node *fields = tl_json_member(&s->tree, s->tree.root, tl_text("fields"));
    tl_status st;
    if (fields == NULL || fields->kind != TL_JSON_ARRAY)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a schema without fields", NULL);
    *out = tli_arrow_schema_new(s->store, "+s", tl_text(""), 0, (int64_t)fields->count, s->err);
    if (*out == NULL)
        return s->err->status;
    st = tli_jsontype_metadata(s, *out, tl_json_member(&s->tree, s->tree.root, tl_text("metadata")));
    if (fields->count != 0) {
        s->todo[0].schema = *out;
        s->todo[0].fields = fields;
        s->todo_count = 1;
    }
    if (st == TL_OK)
        st = tli_jsontype_below(s);
    if (st == TL_OK)
        st = tli_arrow_schema_check(*out, limits, NULL, s->err);
    if (st != TL_OK && s->err->position == TL_NO_POSITION)
        s->err->position = s->position + s->tree.root->start;
    if (st == TL_MISUSE) /* the file's mistake, not the caller's */
        st = s->err->status = TL_CORRUPT;
    return st;
}

/* Three levels of JSON for one of types: the field, its type, the type's arguments. */
TLI_FN uint32_t tli_jsontype_depth(const tl_limits *limits)
{
    return TLI_MIN(limits->depth * 3 + 8, 256u);
}

/* The schema that stands in `text`, which was checked, in the store. */
TLI_FN tl_status tli_jsontype_schema_of(tli_store *store, tl_span text, uint64_t position, const tl_limits *limits,
                                        struct ArrowSchema **out, tl_error *err)
{
    tli_jsontype_schema s;
    tl_limits deep = *limits;
    size_t size;
    tl_status st;
    deep.depth = tli_jsontype_depth(limits);
    TLI_FILL(&s, 0, sizeof s);
    s.position = position;
    s.store = store;
    s.err = err;
    st = tl_json_parse(&s.tree, text.data, text.size, &deep, &store->allocator, err);
    if (st != TL_OK) {
        err->position += err->position != TL_NO_POSITION ? position : 0;
        return st;
    }
    size = ((size_t)s.tree.root->nodes / 2 + 1) * sizeof *s.todo; /* each takes a key and a value */
    s.todo = (tli_jsontype_todo *)tli_mem_new(&store->allocator, size);
    st = s.todo == NULL ? tli_mem_failed(&store->allocator, err) : tli_jsontype_schema_read(&s, limits, out);
    tli_mem_delete(&store->allocator, s.todo, size);
    tl_json_free(&s.tree);
    return st;
}

#endif /* TIMELAKE_NO_HEAD_JSON */

/* >>jsonread: values of the `json` codec's rows: what they take, and filling them in. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- reading rows ---- */

/* A section's rows, and what the first pass found out about them. */
typedef struct tli_jsonread_source {
    struct tli_doc_source source; /* first: the document knows it by that */
    tli_store *store;
    tli_jsontype_tree tree;
    const uint8_t *body;
    size_t size;
    uint64_t position;
    size_t rows;      /* where the array of rows begins */
    size_t rows_size; /* how many bytes it takes */
    uint32_t depth;   /* how deep values may nest that no column is made of */
    int repeated;     /* some object has a key twice */
    size_t scratch;   /* bytes of the longest text with escapes that is no text value */
    tl_error failed;  /* of a second pass: nothing is tried twice */
} tli_jsonread_source;

/* TLI_JSONREAD_COLLECT notes the texts of dictionary values and leaves the builders alone. */
enum { TLI_JSONREAD_COUNT, TLI_JSONREAD_COLLECT, TLI_JSONREAD_FILL };

typedef struct tli_jsonread_walk {
    tli_json j;
    tli_jsonread_source *source;
    tli_jsontype_node *nodes;
    tli_build_node *build;
    int mode;
    char *scratch;
} tli_jsonread_walk;

TLI_INLINE uint32_t tli_jsonread_stop(tli_jsonread_walk *w, const char *text, const uint8_t *at)
{
    (void)tli_json_fail(&w->j, text, at);
    return TLI_JSONTYPE_FAIL;
}

/* Where a value is: that is its last byte read so far, so that positions point into the value. */
TLI_NOINLINE int tli_jsonread_bad(tli_jsonread_walk *w, const uint8_t *at)
{
    return tli_json_fail(&w->j, "head: not a value of the column's type", at);
}

/* A text at the cursor as it is meant: escapes, which only foreign writers put there, go to the scratch memory. */
TLI_INLINE int tli_jsonread_plain(tli_jsonread_walk *w, tl_span *text)
{
    int escaped;
    if (!tli_json_text(&w->j, text, &escaped))
        return 0;
    if (TLI_UNLIKELY(escaped)) {
        text->size = tli_json_unescape(w->scratch, *text);
        text->data = w->scratch;
    }
    return 1;
}

/* ---- the first pass ---- */

/* Any value that is neither null nor text, of a column that the second pass will look at. */
TLI_FN int tli_jsonread_count_other(tli_jsonread_walk *w)
{
    tl_span text;
    int flag;
    switch (*w->j.p) {
    case '"':
        if (!tli_json_text(&w->j, &text, &flag))
            return 0;
        if (flag)
            w->source->scratch = TLI_MAX(w->source->scratch, text.size);
        return 1;
    case 't':
        return tli_json_literal(&w->j, "true");
    case 'f':
        return tli_json_literal(&w->j, "false");
    default:
        return tli_json_skip(&w->j, w->source->depth);
    }
}

TLI_INLINE int tli_jsonread_count(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    if (b->layout >= TLI_ARROW_BYTES && b->layout <= TLI_ARROW_VIEWS) {
        if (*at != '"')
            return tli_jsonread_bad(w, at);
        if (!tli_json_text(&w->j, &text, &flag))
            return 0;
        if (TLI_UNLIKELY(flag)) {
            if (n->act >= TL_TYPE_BINARY)
                w->source->scratch = TLI_MAX(w->source->scratch, text.size);
            text.size = tli_json_unescaped_size(text);
        }
        if (n->act >= TL_TYPE_BINARY && (text.size & 1) != 0)
            return tli_jsonread_bad(w, at);
        tli_build_count_bytes(b, n->act >= TL_TYPE_BINARY ? text.size / 2 : text.size);
        return 1;
    }
    tli_build_count(b);
    if (TLI_LIKELY((uint32_t)*at - '0' < 10 || *at == '-'))
        return tli_json_number(&w->j, &text, &flag);
    return tli_jsonread_count_other(w);
}

/* ---- the second pass: values ---- */

/* An integer of the bounds; a text with digits alone is one too. */
TLI_FN int tli_jsonread_integer_slow(tli_jsonread_walk *w, uint64_t most, uint64_t least, uint64_t *value)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int integer, minus;
    if (*at == '"' ? !tli_jsonread_plain(w, &text) : !tli_json_number(&w->j, &text, &integer))
        return 0;
    minus = text.size != 0 && text.data[0] == '-';
    if (!tli_number_parse_u64(text.data + minus, text.size - (size_t)minus, value) || *value > (minus ? least : most))
        return tli_jsonread_bad(w, at);
    *value = minus ? 0 - *value : *value;
    return 1;
}

/* `most` and `least`: the greatest value above, and the greatest magnitude below 0. */
TLI_INLINE int tli_jsonread_integer(tli_jsonread_walk *w, uint64_t most, uint64_t least, uint64_t *value)
{
    static const uint32_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const uint8_t *p = w->j.p;
    uint64_t v = 0, word, hits;
    int minus = *p == '-', rounds;
    p += minus;
    for (rounds = 0; rounds < 3 && w->j.end - p >= 9; rounds++) {
        size_t digits;
        word = tli_bits_le64(p);
        hits = tli_json_no_digit(word);
        if (hits == 0 && rounds < 2) {
            v = v * 100000000 + tli_json_eight(word);
            p += 8;
            continue;
        }
        digits = hits == 0 ? 8 : tli_json_first_byte(hits);
        if (digits > 3 && rounds == 2)
            break; /* 20 digits */
        if (digits != 0)
            v = v * powers[digits] + tli_json_eight(word << (64 - 8 * digits));
        p += digits;
        if (p == w->j.p + minus || *p == '.' || (*p | 0x20) == 'e' || v > (minus ? least : most))
            break;
        *value = minus ? 0 - v : v;
        w->j.p = p;
        return 1;
    }
    return tli_jsonread_integer_slow(w, most, least, value);
}

/* NaN and the infinities, in the spellings that readers of floats know. */
TLI_FN int tli_jsonread_float_word(tl_span text, double *value)
{
    static const char words[3][9] = {"nan", "inf", "infinity"};
    const uint64_t bits[3] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff0000000000000)};
    int minus = text.size != 0 && text.data[0] == '-';
    size_t start = minus || (text.size != 0 && text.data[0] == '+') ? 1 : 0, i, k;
    for (i = 0; i < 3; i++) {
        for (k = 0; start + k < text.size && words[i][k] != 0 && (text.data[start + k] | 0x20) == words[i][k]; k++)
            ;
        if (start + k == text.size && words[i][k] == 0) {
            uint64_t v = bits[i] | (uint64_t)minus << 63;
            TLI_COPY(value, &v, 8);
            return 1;
        }
    }
    return 0;
}

TLI_FN int tli_jsonread_float(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    double wide = 0;
    float narrow = 0;
    uint32_t bits;
    if (*at == '"' ? !tli_jsonread_plain(w, &text) : !tli_json_number(&w->j, &text, &flag))
        return 0;
    if (n->act == TL_TYPE_FLOAT64 ? !tli_number_parse_f64(text.data, text.size, &wide)
                                  : !tli_number_parse_f32(text.data, text.size, &narrow)) {
        if (*at != '"' || !tli_jsonread_float_word(text, &wide))
            return tli_jsonread_bad(w, at);
        narrow = (float)wide;
    }
    if (n->act == TL_TYPE_FLOAT64) {
        tli_build_fixed(b, &wide);
    } else if (n->act == TL_TYPE_FLOAT32) {
        TLI_COPY(&bits, &narrow, 4);
        tli_build_32(b, bits);
    } else {
        tli_build_16(b, tli_number_f32_to_f16(narrow));
    }
    return 1;
}

/* Dates, times, points in time, durations: an integer, or text. */
TLI_FN int tli_jsonread_time(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    const tl_type *t = &b->type;
    tl_span text, none = tl_text(NULL);
    int64_t v = 0;
    int good;
    if (*at != '"') {
        uint64_t most = t->width == 4 ? INT32_MAX : INT64_MAX, value;
        if (!tli_jsonread_integer(w, most, most + 1, &value))
            return 0;
        tli_build_integer(b, (int64_t)value);
        return 1;
    }
    if (!tli_jsonread_plain(w, &text))
        return 0;
    good = n->act >= TL_TYPE_TIME32 && tli_number_parse_i64(text.data, text.size, &v);
    if (!good)
        switch (n->act) {
        case TL_TYPE_DATE32: good = tli_time_parse_date(text.data, text.size, &v); break;
        case TL_TYPE_DATE64: good = tli_time_parse_stamp(text.data, text.size, TL_UNIT_MILLI, none, &v); break;
        case TL_TYPE_TIME32:
        case TL_TYPE_TIME64: good = tli_time_parse_clock(text.data, text.size, t->unit, &v); break;
        case TL_TYPE_DURATION: good = tli_time_parse_duration(text.data, text.size, t->unit, &v); break;
        default: good = tli_time_parse_stamp(text.data, text.size, t->unit, t->zone, &v); break;
        }
    if (!good || (t->width == 4 && (v < INT32_MIN || v > INT32_MAX)))
        return tli_jsonread_bad(w, at);
    tli_build_integer(b, v);
    return 1;
}

/* The `count` integers of an array, the last of them 64 bits wide when there are three. */
TLI_FN int tli_jsonread_parts(tli_jsonread_walk *w, int64_t *parts, int count)
{
    int i;
    if (!tli_json_take(&w->j, '[', "head: not a value of the column's type"))
        return 0;
    for (i = 0; i < count; i++) {
        uint64_t most = i == 2 ? INT64_MAX : INT32_MAX, v;
        tli_json_space(&w->j);
        if (!tli_jsonread_integer(w, most, most + 1, &v)
            || !tli_json_take(&w->j, i == count - 1 ? ']' : ',', "head: not a value of the column's type"))
            return 0;
        parts[i] = (int64_t)v;
    }
    return 1;
}

TLI_FN int tli_jsonread_interval(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    uint8_t value[16];
    tl_span text;
    int64_t parts[3] = {0, 0, 0};
    int32_t months = 0, days = 0;
    if (n->act == TL_TYPE_INTERVAL_MONTHS && *at != '"') {
        uint64_t v;
        if (!tli_jsonread_integer(w, INT32_MAX, (uint64_t)INT32_MAX + 1, &v))
            return 0;
        tli_build_32(b, (uint32_t)v);
        return 1;
    }
    if (*at != '"') {
        if (!tli_jsonread_parts(w, parts, n->act == TL_TYPE_INTERVAL_DAY_TIME ? 2 : 3))
            return 0;
    } else {
        if (!tli_jsonread_plain(w, &text))
            return 0;
        if (!tli_time_parse_interval(text.data, text.size, &months, &days, &parts[2]))
            return tli_jsonread_bad(w, at);
        parts[0] = n->act == TL_TYPE_INTERVAL_DAY_TIME ? days : months;
        parts[1] = n->act == TL_TYPE_INTERVAL_DAY_TIME ? parts[2] / 1000000 : days;
        if ((n->act == TL_TYPE_INTERVAL_MONTHS && (days != 0 || parts[2] != 0))
            || (n->act == TL_TYPE_INTERVAL_DAY_TIME
                && (months != 0 || parts[2] % 1000000 != 0 || parts[1] < INT32_MIN || parts[1] > INT32_MAX)))
            return tli_jsonread_bad(w, at);
    }
    tli_bits_put32(value, (uint32_t)parts[0]);
    tli_bits_put32(value + 4, (uint32_t)parts[1]);
    tli_bits_put64(value + 8, (uint64_t)parts[2]);
    tli_build_fixed(b, value);
    return 1;
}

TLI_FN int tli_jsonread_decimal(tli_jsonread_walk *w, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    const tl_type *t = &b->type;
    uint8_t value[32];
    tl_span text;
    int flag;
    if (*at == '"' ? !tli_jsonread_plain(w, &text) : !tli_json_number(&w->j, &text, &flag))
        return 0;
    if (!tli_number_parse_decimal(text.data, text.size, value, t->width, t->precision, t->scale))
        return tli_jsonread_bad(w, at);
    tli_build_fixed(b, value);
    return 1;
}

/* Text, or the hex digits of binary. */
TLI_INLINE int tli_jsonread_bytes(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    uint8_t *room = tli_build_room(b);
    tl_span text;
    int escaped;
    if (*at != '"')
        return tli_jsonread_bad(w, at);
    if (!tli_json_text(&w->j, &text, &escaped))
        return 0;
    if (n->act < TL_TYPE_BINARY && !escaped) {
        tli_build_bytes(b, text.data, text.size);
        return 1;
    }
    if (n->act < TL_TYPE_BINARY) {
        text.size = tli_json_unescape((char *)room, text);
        tli_build_done(b, text.size);
        return 1;
    }
    if (escaped) {
        text.size = tli_json_unescape(w->scratch, text);
        text.data = w->scratch;
    }
    if ((n->act == TL_TYPE_FIXED_BINARY && text.size != 2 * (size_t)b->type.width)
        || !tli_number_unhex(room, text.data, text.size))
        return tli_jsonread_bad(w, at);
    tli_build_done(b, text.size / 2);
    return 1;
}

TLI_INLINE int tli_jsonread_fill_integer(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    uint64_t v, most = UINT64_MAX >> (64 - 8 * (uint32_t)b->type.width), least = 0;
    if (n->act < TL_TYPE_UINT8) {
        most >>= 1;
        least = most + 1;
    }
    if (!tli_jsonread_integer(w, most, least, &v))
        return 0;
    tli_build_integer(b, (int64_t)v);
    return 1;
}

TLI_FN int tli_jsonread_dictionary(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tli_jsontype_words *words = n->words;
    if (!tli_json_skip(&w->j, w->source->depth))
        return 0;
    if (w->mode == TLI_JSONREAD_FILL)
        tli_build_integer(b, words->index[words->at++]);
    else
        words->texts[words->at++] = tli_text_span(at, (size_t)(w->j.p - at));
    return 1;
}

TLI_FN int tli_jsonread_fill(tli_jsonread_walk *w, const tli_jsontype_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    if (n->act >= TL_TYPE_UTF8 && n->act <= TL_TYPE_FIXED_BINARY)
        return tli_jsonread_bytes(w, n, b);
    if (n->act >= TL_TYPE_INT8 && n->act <= TL_TYPE_UINT64)
        return tli_jsonread_fill_integer(w, n, b);
    if (n->act >= TL_TYPE_INTERVAL_MONTHS && n->act <= TL_TYPE_INTERVAL_MONTH_DAY_NANO)
        return tli_jsonread_interval(w, n, b);
    if (n->act >= TL_TYPE_DATE32 && n->act <= TL_TYPE_DURATION)
        return tli_jsonread_time(w, n, b);
    if (n->act >= TL_TYPE_DECIMAL32 && n->act <= TL_TYPE_DECIMAL256)
        return tli_jsonread_decimal(w, b);
    if (n->act >= TL_TYPE_FLOAT16 && n->act <= TL_TYPE_FLOAT64)
        return tli_jsonread_float(w, n, b);
    if (n->act != TL_TYPE_BOOL || (*at != 't' && *at != 'f'))
        return tli_jsonread_bad(w, at);
    tli_build_bool(b, *at == 't');
    return tli_json_literal(&w->j, *at == 't' ? "true" : "false");
}

/* ---- the short way ----

   Nearly all values are whole numbers of some digits, plain text, hex digits or null. These functions take one at p, of
   which 40 bytes at least are there, and answer where it ends; or NULL, with nothing done, for all that the long way
   has to look at: it takes the same values, and knows what is wrong with others. */

/* How many digits there are at p: 16 when there are more than 15. */
TLI_INLINE size_t tli_jsonread_digits(const uint8_t *p)
{
#if TLI_SSE2
    __m128i v = _mm_sub_epi8(tli_json_load16(p), _mm_set1_epi8('0'));
    return (size_t)__builtin_ctz(~tli_json_mask16(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v)));
#else
    uint64_t hits = tli_json_no_digit(tli_bits_le64(p));
    if (hits != 0)
        return tli_json_first_byte(hits);
    hits = tli_json_no_digit(tli_bits_le64(p + 8));
    return hits == 0 ? 16 : 8 + tli_json_first_byte(hits);
#endif
}

TLI_INLINE const uint8_t *tli_jsonread_quick_integer(const tli_jsontype_node *n, tli_build_node *b, const uint8_t *p,
                                                     int mode)
{
    uint64_t minus = *p == '-', v, most;
    size_t size = tli_jsonread_digits(p + minus);
    const uint8_t *digits = p + minus;
    p = digits + size;
    if (size - 1 > 14 || (*digits == '0' && size > 1) || (*p != ',' && *p != '}'))
        return NULL;
    if (mode == TLI_JSONREAD_COUNT) {
        tli_build_count(b);
        return p;
    }
    if (size <= 8)
        v = tli_json_eight(tli_bits_le64(digits) << (64 - 8 * size));
    else
        v = tli_json_eight(tli_bits_le64(digits) << (128 - 8 * size)) * UINT64_C(100000000)
            + tli_json_eight(tli_bits_le64(p - 8));
    most = UINT64_MAX >> (64 - 8 * (uint32_t)b->type.width + n->is_signed);
    if (v > (!minus ? most : n->is_signed ? most + 1 : 0))
        return NULL;
    tli_build_integer(b, (int64_t)(minus ? 0 - v : v));
    return p;
}

/* Copies plain text from p to `out`, sixteen bytes at a time: answers where it ends, or NULL. */
TLI_INLINE const uint8_t *tli_jsonread_copy(uint8_t *out, const uint8_t *p, const uint8_t *end)
{
#if TLI_SSE2
    for (; end - p >= 16; p += 16, out += 16) {
        __m128i v = tli_json_load16(p);
        uint32_t hits = tli_json_mask16(tli_json_special16(v));
        _mm_storeu_si128((__m128i *)(void *)out, v);
        if (hits != 0)
            return p + __builtin_ctz(hits);
    }
#else
    for (; end - p >= 8; p += 8, out += 8) {
        uint64_t v = tli_bits_le64(p), hits = tli_json_special(v);
        TLI_COPY(out, p, 8);
        if (hits != 0)
            return p + tli_json_first_byte(hits);
    }
#endif
    return NULL;
}

#if TLI_SSE2
/* Values of hex digits; more than 15 for other bytes. Digits come to lie at 0xf0 and up, then at 0; all others stay
   above 15 (Wojciech Mula's arithmetic). */
TLI_INLINE __m128i tli_jsonread_nibbles(__m128i v)
{
    __m128i digit = _mm_subs_epu8(_mm_add_epi8(v, _mm_set1_epi8(0xff - '9' - 0x100)), _mm_set1_epi8(6));
    __m128i letter = _mm_sub_epi8(_mm_and_si128(v, _mm_set1_epi8(0xdf - 0x100)), _mm_set1_epi8('A'));
    return _mm_min_epu8(_mm_sub_epi8(digit, _mm_set1_epi8(0xf0 - 0x100)), _mm_adds_epu8(letter, _mm_set1_epi8(10)));
}

/* Pairs of nibbles as bytes, in the lower half of 16-bit lanes. */
TLI_INLINE __m128i tli_jsonread_pairs(__m128i v)
{
    return _mm_and_si128(_mm_or_si128(_mm_slli_epi16(v, 4), _mm_srli_epi16(v, 8)), _mm_set1_epi16(0xff));
}
#endif

/* Decodes hex digits from p to `out`, many at a time: answers where they end, or NULL. At most 16 bytes behind what is
   asked for are written. */
TLI_INLINE const uint8_t *tli_jsonread_unhex(uint8_t *out, const uint8_t *p, const uint8_t *end)
{
#if TLI_SSE2
    const __m128i bad = _mm_set1_epi8(0x70);
    for (; end - p >= 32; p += 32, out += 16) {
        __m128i low = tli_jsonread_nibbles(tli_json_load16(p)), high = tli_jsonread_nibbles(tli_json_load16(p + 16));
        uint32_t others = tli_json_mask16(_mm_adds_epu8(_mm_max_epu8(low, high), bad));
        _mm_storeu_si128((__m128i *)(void *)out, _mm_packus_epi16(tli_jsonread_pairs(low), tli_jsonread_pairs(high)));
        if (others != 0)
            return p + __builtin_ctz(tli_json_mask16(_mm_adds_epu8(low, bad))
                                     | tli_json_mask16(_mm_adds_epu8(high, bad)) << 16);
    }
#else
    for (; end - p >= 8; p += 8, out += 4) {
        uint64_t v = tli_bits_le64(p);
        uint32_t bytes;
        if (!tli_number_unhex8(v, &bytes)) {
            size_t size = tli_json_first_byte(tli_json_special(v) | TLI_JSON_TOP);
            v &= ((uint64_t)1 << (8 * size)) - 1;
            if (!tli_number_unhex8(v | TLI_NUMBER_ASCII << (8 * size), &bytes))
                return NULL;
            tli_bits_put_le32(out, bytes);
            return p + size;
        }
        tli_bits_put_le32(out, bytes);
    }
#endif
    return NULL;
}

TLI_INLINE const uint8_t *tli_jsonread_quick_bytes(const tli_jsontype_node *n, tli_build_node *b, const uint8_t *p,
                                                   const uint8_t *end, int mode)
{
    uint32_t hex = n->quick == TLI_JSONTYPE_HEX;
    const uint8_t *start = p + 1;
    if (*p != '"')
        return NULL;
    if (mode == TLI_JSONREAD_COUNT)
        p = tli_json_run(start, end);
    else
        p = hex ? tli_jsonread_unhex(tli_build_room(b), start, end) : tli_jsonread_copy(tli_build_room(b), start, end);
    if (p == NULL || p >= end || *p != '"' || ((size_t)(p - start) & hex) != 0)
        return NULL;
    if (mode == TLI_JSONREAD_COUNT)
        tli_build_count_bytes(b, (size_t)(p - start) >> hex);
    else
        tli_build_done(b, (size_t)(p - start) >> hex);
    return p + 1;
}

TLI_INLINE const uint8_t *tli_jsonread_quick(const tli_jsontype_node *n, tli_build_node *b, const uint8_t *p,
                                             const uint8_t *end, int mode)
{
    if (n->quick == TLI_JSONTYPE_SLOW)
        return NULL;
    if (*p == 'n') {
        if (!n->nullable || tli_bits_le32(p) != TLI_JSON_NULL)
            return NULL;
        if (mode == TLI_JSONREAD_COUNT)
            tli_build_count_null(b);
        else
            tli_build_nulls(b, 1);
        return p + 4;
    }
    return n->quick == TLI_JSONTYPE_INTEGER ? tli_jsonread_quick_integer(n, b, p, mode)
        : tli_jsonread_quick_bytes(n, b, p, end, mode);
}

/* A value that is not null, of a column that is neither struct nor list nor map. */
TLI_INLINE int tli_jsonread_scalar(tli_jsonread_walk *w, uint32_t at)
{
    tli_jsontype_node *n = &w->nodes[at];
    if (TLI_UNLIKELY(n->act == TLI_JSONTYPE_DICTIONARY && w->mode != TLI_JSONREAD_COUNT))
        return tli_jsonread_dictionary(w, n, &w->build[at]);
    if (w->mode == TLI_JSONREAD_FILL)
        return tli_jsonread_fill(w, n, &w->build[at]);
    if (w->mode == TLI_JSONREAD_COUNT)
        return tli_jsonread_count(w, n, &w->build[at]);
    return tli_json_skip(&w->j, w->source->depth);
}

#endif /* TIMELAKE_NO_HEAD_JSON */

/* >>jsonrows: the way through the rows of the `json` codec, dictionaries, opening a section. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- the walk ---- */

TLI_FN int tli_jsonrows_null(tli_jsonread_walk *w, uint32_t at, const uint8_t *where)
{
    if (!w->nodes[at].nullable)
        return tli_json_fail(&w->j, "head: a null in a column that is not nullable", where);
    if (w->mode == TLI_JSONREAD_COUNT)
        tli_build_count_null(&w->build[at]);
    else if (w->mode == TLI_JSONREAD_FILL)
        tli_build_null(&w->build[at]);
    return 1;
}

/* The end of a list, map or struct. */
TLI_INLINE uint32_t tli_jsonrows_end(tli_jsonread_walk *w, uint32_t at)
{
    if (w->mode == TLI_JSONREAD_COUNT)
        tli_build_count(&w->build[at]);
    else if (w->mode == TLI_JSONREAD_FILL)
        tli_build_end(&w->build[at]);
    return TLI_JSONTYPE_DONE;
}

#define TLI_JSONROWS_AHEAD 40u /* bytes of a value that the short way may look at, whatever they are */

/* Is this the key at p, with its colon? At least TLI_JSONROWS_AHEAD bytes follow it then. */
TLI_INLINE int tli_jsonrows_match(const tli_jsontype_node *n, const uint8_t *p, const uint8_t *end)
{
    if ((size_t)(end - p) < (size_t)n->key_size + TLI_JSONROWS_AHEAD || n->key_mask == 0
        || (tli_bits_le64(p) & n->key_mask) != n->key_head)
        return 0;
    return n->key_size <= 8 || (tli_bits_le64(p + n->key_size - 8) == n->key_tail
                                && (n->key_size <= 16
                                    || TLI_COMPARE(p + 8, n->name.data + 7, n->key_size - 16) == 0));
}

/* Takes members as all writers put them, without white space and in the order of the object before; up to one that
   the long way has to look at. Answers the last one taken, the cursor is behind it. */
TLI_INLINE uint32_t tli_jsonrows_quick(tli_jsonread_walk *w, uint32_t at, uint32_t from, int mode)
{
    uint64_t object = w->nodes[at].objects;
    const uint8_t *p = w->j.p, *end = w->j.end;
    uint32_t taken = 0;
    for (;;) {
        uint32_t child = w->nodes[from].follow;
        tli_jsontype_node *n;
        if (child == TLI_JSONTYPE_NONE)
            break;
        n = &w->nodes[child];
        if (from != at) {
            if (p >= end || *p != ',')
                break;
            p++;
        }
        if (!tli_jsonrows_match(n, p, end) || n->mark == object)
            break;
        p = tli_jsonread_quick(n, &w->build[child], p + n->key_size, end, mode);
        if (p == NULL)
            break;
        n->mark = object;
        taken++;
        w->j.p = p;
        from = child;
    }
    w->nodes[at].seen += taken;
    return from;
}

/* Takes any key: the child of that name, NONE, or FAIL. */
TLI_FN uint32_t tli_jsonrows_lookup(tli_jsonread_walk *w, uint32_t at)
{
    const uint32_t *sorted = w->source->tree.sorted + w->nodes[at].sorted;
    uint32_t low = 0, high = w->nodes[at].count;
    tl_span key;
    int escaped;
    if (w->j.p >= w->j.end || *w->j.p != '"')
        return tli_jsonread_stop(w, "json: a key is expected", w->j.p);
    if (!tli_json_text(&w->j, &key, &escaped))
        return TLI_JSONTYPE_FAIL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        tl_span name = w->nodes[sorted[middle]].name;
        int order = escaped ? tli_json_compare(key, name) : tl_span_compare(key, name);
        if (order == 0)
            return sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TLI_JSONTYPE_NONE;
}

/* Of an object whose keys repeat the last ones count: notes where they are. The cursor, behind the brace, stays. */
TLI_FN int tli_jsonrows_last_keys(tli_jsonread_walk *w, uint32_t at)
{
    const uint8_t *start = w->j.p;
    for (;;) {
        const uint8_t *key;
        uint32_t child;
        tli_json_space(&w->j);
        key = w->j.p;
        if (key < w->j.end && *key == '}')
            break;
        child = tli_jsonrows_lookup(w, at);
        if (child == TLI_JSONTYPE_FAIL || !tli_json_take(&w->j, ':', "json: a colon is expected")
            || !tli_json_skip(&w->j, w->source->depth))
            return 0;
        if (child != TLI_JSONTYPE_NONE)
            w->nodes[child].last = (uint64_t)(key - w->j.begin);
        tli_json_space(&w->j);
        if (w->j.p < w->j.end && *w->j.p == ',')
            w->j.p++;
        else if (w->j.p >= w->j.end || *w->j.p != '}')
            return tli_json_fail(&w->j, "json: a comma or } is expected", w->j.p);
    }
    w->j.p = start;
    return 1;
}

/* The end of an object: children that it did not have are null. */
TLI_INLINE uint32_t tli_jsonrows_close(tli_jsonread_walk *w, uint32_t at)
{
    tli_jsontype_node *n = &w->nodes[at];
    uint32_t i, child = at + 1;
    if (TLI_UNLIKELY(n->seen != n->count))
        for (i = 0; i < n->count; i++) {
            if (w->nodes[child].mark != n->objects && !tli_jsonrows_null(w, child, w->j.p))
                return TLI_JSONTYPE_FAIL;
            child += w->build[child].span;
        }
    w->j.p++;
    return tli_jsonrows_end(w, at);
}

/* The value behind the key of `child`, when it can be taken at once: DONE; else the child; or FAIL. */
TLI_INLINE uint32_t tli_jsonrows_member(tli_jsonread_walk *w, uint32_t at, uint32_t child, const uint8_t *key)
{
    tli_jsontype_node *n;
    if (child == TLI_JSONTYPE_NONE)
        return tli_json_skip(&w->j, w->source->depth) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    n = &w->nodes[child];
    if (TLI_UNLIKELY(w->source->repeated)) {
        if (n->last != (uint64_t)(key - w->j.begin))
            return tli_json_skip(&w->j, w->source->depth) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    } else if (TLI_UNLIKELY(n->mark == w->nodes[at].objects)) {
        return tli_jsonread_stop(w, "head: a repeated key", key); /* the pass is made again, and heeds them */
    }
    n->mark = w->nodes[at].objects;
    w->nodes[at].seen++;
    if (TLI_UNLIKELY(w->j.p >= w->j.end))
        return tli_jsonread_stop(w, "", w->j.p);
    if (*w->j.p == 'n')
        return tli_json_literal(&w->j, "null") && tli_jsonrows_null(w, child, w->j.p - 4) ? TLI_JSONTYPE_DONE
                                                                                          : TLI_JSONTYPE_FAIL;
    if (w->build[child].layout >= TLI_ARROW_LIST)
        return child;
    return tli_jsonread_scalar(w, child) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* Goes on in an object: takes members up to one whose value has to be entered, which is answered, or to the end.
   `from`: the member that was taken last, or the struct itself: its brace was. */
TLI_FN uint32_t tli_jsonrows_members(tli_jsonread_walk *w, uint32_t at, uint32_t from)
{
    for (;;) {
        const uint8_t *key;
        uint32_t child, next;
        int first;
        if (from != TLI_JSONTYPE_NONE && !w->source->repeated && w->mode != TLI_JSONREAD_COLLECT)
            from = w->mode == TLI_JSONREAD_COUNT ? tli_jsonrows_quick(w, at, from, TLI_JSONREAD_COUNT)
                : tli_jsonrows_quick(w, at, from, TLI_JSONREAD_FILL);
        first = from == at;
        if (!first && TLI_LIKELY(w->j.p < w->j.end && *w->j.p == ',')) {
            w->j.p++;
        } else {
            tli_json_space(&w->j);
            if (w->j.p < w->j.end && *w->j.p == '}')
                return tli_jsonrows_close(w, at);
            if (!first && !tli_json_take(&w->j, ',', "json: a comma or } is expected"))
                return TLI_JSONTYPE_FAIL;
        }
        if (TLI_UNLIKELY(w->j.p >= w->j.end || *w->j.p != '"'))
            tli_json_space(&w->j);
        key = w->j.p;
        child = from == TLI_JSONTYPE_NONE ? TLI_JSONTYPE_NONE : w->nodes[from].follow;
        if (child != TLI_JSONTYPE_NONE && tli_jsonrows_match(&w->nodes[child], key, w->j.end)) {
            w->j.p += w->nodes[child].key_size;
        } else {
            child = tli_jsonrows_lookup(w, at);
            if (child == TLI_JSONTYPE_FAIL || !tli_json_take(&w->j, ':', "json: a colon is expected"))
                return TLI_JSONTYPE_FAIL;
            if (child != TLI_JSONTYPE_NONE && from != TLI_JSONTYPE_NONE)
                w->nodes[from].follow = child;
        }
        if (TLI_UNLIKELY(w->j.p < w->j.end && *w->j.p <= 0x20))
            tli_json_space(&w->j);
        next = tli_jsonrows_member(w, at, child, key);
        if (next != TLI_JSONTYPE_DONE)
            return next;
        from = child;
    }
}

/* A value at the cursor: takes it (DONE), or enters it and answers the node whose value is next; or FAIL. */
TLI_FN uint32_t tli_jsonrows_begin(tli_jsonread_walk *w, uint32_t at)
{
    tli_jsontype_node *n = &w->nodes[at];
    const uint8_t *p;
    tli_json_space(&w->j);
    p = w->j.p;
    if (p >= w->j.end)
        return tli_jsonread_stop(w, "", p);
    if (*p == 'n')
        return tli_json_literal(&w->j, "null") && tli_jsonrows_null(w, at, p) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (w->build[at].layout < TLI_ARROW_LIST)
        return tli_jsonread_scalar(w, at) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        if (w->nodes[at - 1].pairs) {
            w->j.p += *p == '[';
            return *p == '[' ? at + 1 : tli_jsonread_stop(w, "head: a pair is expected", p);
        }
        if (*p != '"')
            return tli_jsonread_stop(w, "json: a key is expected", p);
        if (w->build[at + 1].layout >= TLI_ARROW_LIST)
            return tli_jsonread_bad(w, p) ? 0 : TLI_JSONTYPE_FAIL;
        return tli_jsonread_scalar(w, at + 1) && tli_json_take(&w->j, ':', "json: a colon is expected")
            ? at + 1 + w->build[at + 1].span : TLI_JSONTYPE_FAIL;
    }
    n->pairs = *p == '[';
    n->seen = 0;
    if (*p != (n->act == TL_TYPE_STRUCT ? '{' : '[') && (n->act != TL_TYPE_MAP || *p != '{'))
        return tli_jsonread_bad(w, p) ? 0 : TLI_JSONTYPE_FAIL;
    w->j.p++;
    if (n->act == TL_TYPE_STRUCT) {
        n->objects++; /* no child has this mark yet: marks are not used twice, whatever the pass */
        if (n->twins)
            return tli_jsonread_stop(w, "head: rows of a struct with two fields of one name", p);
        if (w->source->repeated && !tli_jsonrows_last_keys(w, at))
            return TLI_JSONTYPE_FAIL;
        return tli_jsonrows_members(w, at, at);
    }
    tli_json_space(&w->j);
    if (w->j.p >= w->j.end || *w->j.p != (n->pairs ? ']' : '}'))
        return at + 1;
    if (n->act == TL_TYPE_FIXED_LIST && w->build[at].type.size != 0)
        return tli_jsonread_stop(w, "head: too few elements", p);
    w->j.p++;
    return tli_jsonrows_end(w, at);
}

/* Goes on in a list, map or struct after its part `child` was taken. */
TLI_FN uint32_t tli_jsonrows_resume(tli_jsonread_walk *w, uint32_t at, uint32_t child)
{
    tli_jsontype_node *n = &w->nodes[at];
    int close = n->act == TL_TYPE_MAP && !n->pairs ? '}' : ']';
    if (n->act == TL_TYPE_STRUCT)
        return tli_jsonrows_members(w, at, child);
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        uint32_t value = at + 1 + w->build[at + 1].span;
        if (child != value)
            return tli_json_take(&w->j, ',', "head: a pair is expected") ? value : TLI_JSONTYPE_FAIL;
        if (w->nodes[at - 1].pairs && !tli_json_take(&w->j, ']', "head: a pair is expected"))
            return TLI_JSONTYPE_FAIL;
        return tli_jsonrows_end(w, at);
    }
    tli_json_space(&w->j);
    if (n->act == TL_TYPE_FIXED_LIST && ++n->seen > (uint32_t)w->build[at].type.size)
        return tli_jsonread_stop(w, "head: too many elements", w->j.p);
    if (w->j.p < w->j.end && *w->j.p == ',') {
        w->j.p++;
        return child;
    }
    if (w->j.p >= w->j.end || *w->j.p != close)
        return tli_jsonread_stop(w, close == ']' ? "json: a comma or ] is expected" : "json: a comma or } is expected",
                                 w->j.p);
    if (n->act == TL_TYPE_FIXED_LIST && n->seen != (uint32_t)w->build[at].type.size)
        return tli_jsonread_stop(w, "head: too few elements", w->j.p);
    w->j.p++;
    return tli_jsonrows_end(w, at);
}

/* One value of node `root`, with all below it. */
TLI_FN int tli_jsonrows_value(tli_jsonread_walk *w, uint32_t root)
{
    uint32_t at = root;
    for (;;) {
        uint32_t next = tli_jsonrows_begin(w, at);
        while (next == TLI_JSONTYPE_DONE) {
            uint32_t child = at;
            if (at == root)
                return 1;
            at -= w->build[at].up;
            next = tli_jsonrows_resume(w, at, child);
        }
        if (next == TLI_JSONTYPE_FAIL)
            return 0;
        at = next;
    }
}

/* The array of rows at the cursor; how many they are. */
TLI_FN int tli_jsonrows_rows(tli_jsonread_walk *w, uint64_t most, uint64_t *rows)
{
    *rows = 0;
    if (!tli_json_take(&w->j, '[', "head: the rows of a section have to be an array"))
        return 0;
    tli_json_space(&w->j);
    if (w->j.p < w->j.end && *w->j.p == ']') {
        w->j.p++;
        return 1;
    }
    for (;;) {
        if (++*rows > most)
            return tli_json_refuse(&w->j, TL_LIMIT, "limits.rows", w->j.p);
        if (!tli_jsonrows_value(w, 0))
            return 0;
        tli_json_space(&w->j);
        if (w->j.p < w->j.end && *w->j.p == ']') {
            w->j.p++;
            return 1;
        }
        if (!tli_json_take(&w->j, ',', "json: a comma or ] is expected"))
            return 0;
    }
}

/* ---- dictionaries ---- */

TLI_FN tl_status tli_jsonrows_words_new(const tl_allocator *a, tli_jsontype_node *n, uint64_t count, tl_error *err)
{
    tli_jsontype_words *words;
    size_t size, each = sizeof(tl_span) + 2 * sizeof(uint32_t);
    uint64_t bytes;
    if (count >= UINT32_MAX || !tli_bits_mul(count, each, &bytes) || !tli_bits_add(bytes, sizeof *words, &bytes)
        || !tli_bits_size(bytes, &size))
        return tli_err_need(err, TL_LIMIT, "head: too many values of a dictionary", TL_NO_POSITION, count);
    words = (tli_jsontype_words *)tli_mem_new(a, size);
    if (words == NULL)
        return tli_mem_failed(a, err);
    TLI_FILL(words, 0, sizeof *words);
    words->size = size;
    words->count = (uint32_t)count;
    words->texts = (tl_span *)(void *)(words + 1);
    words->index = (uint32_t *)(void *)(words->texts + count);
    words->first = words->index + count;
    n->words = words;
    return TL_OK;
}

/* Numbers the distinct texts in the order they appear. */
TLI_FN tl_status tli_jsonrows_words_sort(tli_jsontype_words *words, const tl_type *type, uint64_t position,
                                         tl_error *err)
{
    uint32_t i, start = 0, n = words->count;
    uint64_t most = UINT64_MAX >> (64 - 8 * (uint32_t)type->width);
    for (i = 0; i < n; i++)
        words->first[i] = i;
    tli_jsontype_sort(words->first, n, words->texts);
    for (i = 0; i < n; i++) { /* equal texts are neighbours, the earliest of them first */
        if (!tl_span_equal(words->texts[words->first[i]], words->texts[words->first[start]]))
            start = i;
        words->index[words->first[i]] = words->first[start];
    }
    for (i = 0; i < n; i++) {
        uint32_t same = words->index[i];
        words->index[i] = same == i ? words->distinct++ : words->index[same];
        if (same == i)
            words->first[words->distinct - 1] = i;
    }
    words->at = 0;
    if (type->id < TL_TYPE_UINT8)
        most >>= 1;
    if (words->distinct != 0 && words->distinct - 1 > most)
        return tli_err(err, TL_CORRUPT, "head: more values than the indices of a dictionary can tell apart", position);
    return TL_OK;
}

TLI_FN void tli_jsonrows_words_free(tli_jsonread_source *s)
{
    uint32_t i;
    for (i = 0; i < s->tree.build->count; i++) {
        tli_jsontype_words *words = s->tree.nodes[i].words;
        if (words != NULL)
            tli_mem_delete(&s->store->allocator, words, words->size);
        s->tree.nodes[i].words = NULL;
    }
}

/* ---- opening ---- */

TLI_FN tli_jsonread_walk tli_jsonrows_walk_of(tli_jsonread_source *s, int mode, tl_error *err)
{
    tli_jsonread_walk w;
    TLI_FILL(&w, 0, sizeof w);
    w.j = tli_json_open(s->body, s->size, s->position, err);
    w.j.p += s->rows;
    w.source = s;
    w.nodes = s->tree.nodes;
    w.build = s->tree.build->nodes;
    w.mode = mode;
    return w;
}

/* All values of a root: of the rows (0), or the distinct values of a dictionary. */
TLI_FN tl_status tli_jsonrows_pass(tli_jsonread_walk *w, uint32_t root)
{
    tli_jsontype_words *words;
    uint64_t rows;
    uint32_t i;
    if (root == 0) {
        w->j.p = w->j.begin + w->source->rows;
        return tli_jsonrows_rows(w, UINT64_MAX, &rows) ? TL_OK : w->j.status;
    }
    words = w->nodes[root - w->build[root].up].words;
    for (i = 0; i < words->distinct; i++) {
        w->j.p = (const uint8_t *)words->texts[words->first[i]].data;
        if (!tli_jsonrows_value(w, root))
            return w->j.status;
    }
    return TL_OK;
}

/* The node whose values a node's values are part of: the rows, or those of a dictionary. */
TLI_FN uint32_t tli_jsonrows_root(const tli_jsonread_walk *w, uint32_t at)
{
    do
        at -= w->build[at].up;
    while (at != 0 && !w->build[at].is_dictionary);
    return at;
}

/* Forgets what was counted: of everything, or of the values of dictionaries alone. */
TLI_FN void tli_jsonrows_recount(tli_jsonread_walk *w, int all)
{
    uint32_t i;
    for (i = 1; i < w->source->tree.build->count; i++) {
        tli_build_node *b = &w->build[i];
        if (all || b->is_dictionary || tli_jsonrows_root(w, i) != 0)
            b->length = b->nulls = b->bytes = b->fillers = 0;
    }
    if (all)
        w->build[0].length = 0;
}

/* Collects the values of dictionary columns, outer ones first, and counts what the distinct ones take. */
TLI_FN tl_status tli_jsonrows_collect(tli_jsonread_walk *w, tl_error *err)
{
    uint32_t root, i, n = w->source->tree.build->count;
    for (root = 0; root < n; root++) {
        tl_status st = TL_OK;
        uint32_t found = 0;
        if (root != 0 && !w->build[root].is_dictionary)
            continue;
        if (root != 0) {
            w->mode = TLI_JSONREAD_COUNT;
            st = tli_jsonrows_pass(w, root);
        }
        for (i = root + 1; i < n && st == TL_OK; i++)
            if (w->nodes[i].act == TLI_JSONTYPE_DICTIONARY && tli_jsonrows_root(w, i) == root) {
                st = tli_jsonrows_words_new(&w->source->store->allocator, &w->nodes[i],
                                            w->build[i].length - w->build[i].nulls, err);
                found++;
            }
        w->mode = TLI_JSONREAD_COLLECT;
        if (st == TL_OK && found != 0)
            st = tli_jsonrows_pass(w, root);
        for (i = root + 1; i < n && st == TL_OK && found != 0; i++)
            if (w->nodes[i].act == TLI_JSONTYPE_DICTIONARY && tli_jsonrows_root(w, i) == root)
                st = tli_jsonrows_words_sort(w->nodes[i].words, &w->build[i].type, w->j.position + w->source->rows,
                                             err);
        if (st != TL_OK)
            return st;
    }
    return TL_OK;
}

/* Nulls and missing members of fixed-size columns take bytes that the text does not have: no more of them than this. */
#define TLI_JSONROWS_EXPANSION 1024u

TLI_FN tl_status tli_jsonrows_bounded(const tli_jsonread_source *s, tl_error *err)
{
    uint64_t most = ((uint64_t)16 << 20) + (uint64_t)s->rows_size * TLI_JSONROWS_EXPANSION, sum = 0;
    uint32_t i;
    for (i = 0; i < s->tree.build->count; i++) {
        const tli_build_node *b = &s->tree.build->nodes[i];
        uint64_t bytes;
        if (!tli_bits_mul(b->length, (uint64_t)(uint32_t)b->type.width, &bytes) || !tli_bits_add(sum, bytes, &sum)
            || sum > most)
            return tli_err_need(err, TL_LIMIT, "head: nulls of fixed-size columns take too much",
                                s->position + s->rows, sum);
    }
    return TL_OK;
}

TLI_FN tl_status tli_jsonrows_fill_all(tli_jsonread_source *s, struct ArrowArray **array, tl_error *err)
{
    tli_jsonread_walk w = tli_jsonrows_walk_of(s, TLI_JSONREAD_COLLECT, err);
    uint32_t root;
    tl_status st = TL_OK;
    if (s->tree.dictionaries != 0) {
        st = tli_jsonrows_collect(&w, err);
        if (st == TL_CORRUPT && !s->repeated) { /* as in the first pass over the rows */
            s->repeated = 1;
            tli_jsonrows_words_free(s);
            tli_jsonrows_recount(&w, 0);
            w.j.status = TL_OK;
            st = tli_jsonrows_collect(&w, err);
        }
    }
    if (st == TL_OK)
        st = tli_jsonrows_bounded(s, err);
    if (st == TL_OK)
        st = tli_build_allocate(s->tree.build, err);
    if (st != TL_OK)
        return st;
    if (s->scratch != 0) {
        w.scratch = (char *)tli_mem_new(&s->store->allocator, s->scratch);
        if (w.scratch == NULL)
            return tli_mem_failed(&s->store->allocator, err);
    }
    w.mode = TLI_JSONREAD_FILL;
    for (root = 0; root < s->tree.build->count && st == TL_OK; root++)
        if (root == 0 || w.build[root].is_dictionary)
            st = tli_jsonrows_pass(&w, root);
    tli_mem_delete(&s->store->allocator, w.scratch, s->scratch);
    return st == TL_OK ? tli_build_finish(s->tree.build, array, err) : st;
}

/* Opens all columns at once. */
TLI_FN tl_status tli_jsonrows_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                   tl_error *err)
{
    tli_jsonread_source *s = (tli_jsonread_source *)(void *)self;
    struct ArrowArray *array = NULL;
    int64_t i;
    tl_status st;
    (void)column;
    if (s->failed.status == TL_OK) {
        st = tli_jsonrows_fill_all(s, &array, &s->failed);
        tli_jsonrows_words_free(s);
        s->failed.status = st;
    }
    if (s->failed.status != TL_OK) {
        *err = s->failed;
        return err->status;
    }
    for (i = 0; i < array->n_children; i++)
        section->batches[batch].columns[i] = array->children[i];
    return TL_OK;
}

#endif /* TIMELAKE_NO_HEAD_JSON */

/* >>jsonemit: writing for the `json` codec: schemas, rows, the document. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- writing ---- */

typedef struct tli_jsonemit_writer {
    tl_buffer *out;
    char *p;   /* where the next byte goes; the buffer's size is set when it grows and at the end */
    char *end; /* of its memory */
    tli_jsontype_tree tree;
    tl_status status;
    tl_error *err;
} tli_jsonemit_writer;

TLI_NOINLINE int tli_jsonemit_grow(tli_jsonemit_writer *w, size_t size)
{
    if (w->p != NULL)
        w->out->size = (size_t)(w->p - (char *)w->out->data);
    w->status = tli_mem_reserve(w->out, size, w->err);
    if (w->status != TL_OK)
        return 0;
    w->p = (char *)w->out->data + w->out->size;
    w->end = (char *)w->out->data + w->out->capacity;
    return 1;
}

/* Room for `size` bytes at w->p. */
TLI_INLINE int tli_jsonemit_room(tli_jsonemit_writer *w, size_t size)
{
    return TLI_LIKELY((size_t)(w->end - w->p) >= size) || tli_jsonemit_grow(w, size);
}

/* Writes what is JSON already. */
TLI_INLINE int tli_jsonemit_put(tli_jsonemit_writer *w, const char *text, size_t size)
{
    if (!tli_jsonemit_room(w, size))
        return 0;
    if (size != 0)
        TLI_COPY(w->p, text, size);
    w->p += size;
    return 1;
}

TLI_FN int tli_jsonemit_say(tli_jsonemit_writer *w, const char *text)
{
    return tli_jsonemit_put(w, text, tl_text(text).size);
}

/* Writes a text in quotes. */
TLI_FN int tli_jsonemit_quote(tli_jsonemit_writer *w, tl_span text)
{
    size_t room = text.size <= 256 ? 6 * text.size + 2 : tli_json_escaped_size(text.data, text.size) + 2;
    if (!tli_jsonemit_room(w, room))
        return 0;
    w->p = tli_json_put_text(w->p, text.data, text.size);
    return 1;
}

TLI_FN int tli_jsonemit_number(tli_jsonemit_writer *w, int64_t value)
{
    if (!tli_jsonemit_room(w, 24))
        return 0;
    w->p += tli_number_i64(w->p, value);
    return 1;
}

TLI_FN int tli_jsonemit_misuse(tli_jsonemit_writer *w, tl_status status, const char *text)
{
    w->status = tli_err(w->err, status, text, TL_NO_POSITION);
    return 0;
}

/* ---- writing a schema ---- */

/* {"key":"value",...} of a node's metadata, in its order. */
TLI_FN int tli_jsonemit_write_metadata(tli_jsonemit_writer *w, const struct ArrowSchema *schema)
{
    tli_arrow_pairs pairs = tli_arrow_pairs_begin(schema);
    tl_span key, value;
    const char *before = "{";
    while (tli_arrow_pairs_next(&pairs, &key, &value)) {
        if (tli_text_utf8(key.data, key.size) != key.size || tli_text_utf8(value.data, value.size) != value.size)
            return tli_jsonemit_misuse(w, TL_MISUSE, "head: metadata that is not UTF-8");
        if (!tli_jsonemit_say(w, before) || !tli_jsonemit_quote(w, key) || !tli_jsonemit_say(w, ":")
            || !tli_jsonemit_quote(w, value))
            return 0;
        before = ",";
    }
    return tli_jsonemit_say(w, before[0] == '{' ? "{}" : "}");
}

/* The arguments of a type behind the colon, up to its children if it has any. */
TLI_FN int tli_jsonemit_write_arguments(tli_jsonemit_writer *w, const tl_type *t)
{
    if (t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256)
        return tli_jsonemit_say(w, "[") && tli_jsonemit_number(w, t->precision) && tli_jsonemit_say(w, ",")
               && tli_jsonemit_number(w, t->scale) && tli_jsonemit_say(w, "]");
    if (t->id == TL_TYPE_FIXED_BINARY)
        return tli_jsonemit_number(w, t->size);
    if (t->id >= TL_TYPE_FIXED_LIST)
        return tli_jsonemit_say(w, "[");
    if (t->id >= TL_TYPE_LIST)
        return 1;
    if (t->id == TL_TYPE_TIMESTAMP && !tli_jsonemit_say(w, "["))
        return 0;
    if (!tli_jsonemit_say(w, "\"")
        || !tli_jsonemit_say(w, tli_jsontype_unit(t->id >= TL_TYPE_INTERVAL_MONTHS
                                                      ? (uint32_t)t->id - TL_TYPE_INTERVAL_MONTHS + 4
                                                      : (uint32_t)t->unit))
        || !tli_jsonemit_say(w, "\""))
        return 0;
    if (t->id != TL_TYPE_TIMESTAMP)
        return 1;
    return tli_jsonemit_say(w, ",")
           && (t->zone.data == NULL ? tli_jsonemit_say(w, "null") : tli_jsonemit_quote(w, t->zone))
           && tli_jsonemit_say(w, "]");
}

/* A field, or the type of a dictionary's values, up to its children. */
TLI_FN int tli_jsonemit_open_field(tli_jsonemit_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const tl_type *t = &b->type;
    int plain = t->id <= TL_TYPE_FLOAT64 || t->id == TL_TYPE_DATE32 || t->id == TL_TYPE_DATE64
                || (t->id >= TL_TYPE_UTF8 && t->id <= TL_TYPE_BINARY_VIEW);
    if (!b->is_dictionary
        && (!tli_jsonemit_say(w, "{\"name\":") || !tli_jsonemit_quote(w, w->tree.nodes[at].name)
            || !tli_jsonemit_say(w, ",\"data_type\":")))
        return 0;
    if (b->schema->dictionary != NULL && !tli_jsonemit_say(w, "{\"Dictionary\":["))
        return 0;
    if (!tli_jsonemit_say(w, plain ? "\"" : "{\"") || !tli_jsonemit_say(w, tli_jsontype_name(t->id))
        || !tli_jsonemit_say(w, plain ? "\"" : "\":"))
        return 0;
    if (!plain && !tli_jsonemit_write_arguments(w, t))
        return 0;
    if (b->schema->dictionary != NULL)
        return tli_jsonemit_say(w, ",");
    return plain || t->id >= TL_TYPE_LIST || tli_jsonemit_say(w, "}");
}

/* What follows its children. */
TLI_FN int tli_jsonemit_close_field(tli_jsonemit_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const struct ArrowSchema *schema = b->schema;
    int good = 1;
    if (b->type.id == TL_TYPE_FIXED_LIST)
        good = tli_jsonemit_say(w, ",") && tli_jsonemit_number(w, b->type.size);
    else if (b->type.id == TL_TYPE_MAP)
        good = tli_jsonemit_say(w, (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0 ? ",true" : ",false");
    if (good && (schema->dictionary != NULL || b->type.id >= TL_TYPE_FIXED_LIST))
        good = tli_jsonemit_say(w, "]");
    if (good && (schema->dictionary != NULL || b->type.id >= TL_TYPE_LIST))
        good = tli_jsonemit_say(w, "}");
    if (!good || b->is_dictionary)
        return good;
    return tli_jsonemit_say(w, ",\"nullable\":")
           && tli_jsonemit_say(w, (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "true" : "false")
           && tli_jsonemit_say(w, ",\"dict_id\":0,\"dict_is_ordered\":")
           && tli_jsonemit_say(w, schema->dictionary != NULL && (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0
                                      ? "true" : "false")
           && tli_jsonemit_say(w, ",\"metadata\":") && tli_jsonemit_write_metadata(w, schema)
           && tli_jsonemit_say(w, "}");
}

TLI_FN int tli_jsonemit_write_schema(tli_jsonemit_writer *w)
{
    const tli_build_node *b = w->tree.build->nodes;
    uint32_t i, at, n = w->tree.build->count;
    if (!tli_jsonemit_say(w, "{\"fields\":["))
        return 0;
    for (i = 1; i < n; i++) {
        if (!tli_jsonemit_open_field(w, i))
            return 0;
        if (b[i].span > 1)
            continue;
        for (at = i;; at -= b[at].up) { /* this one, and all around it that end here */
            if (!tli_jsonemit_close_field(w, at))
                return 0;
            if (b[at].up == at || at - b[at].up + b[at - b[at].up].span != i + 1)
                break;
        }
        if (i + 1 < n && !tli_jsonemit_say(w, ","))
            return 0;
    }
    return tli_jsonemit_say(w, "],\"metadata\":") && tli_jsonemit_write_metadata(w, b[0].schema)
           && tli_jsonemit_say(w, "}");
}

/* ---- writing values ---- */

/* The bytes of value i (offset included) of a text or binary array. */
TLI_INLINE tl_span tli_jsonemit_bytes_of(const tli_build_node *b, int64_t i)
{
    const struct ArrowArray *a = b->array;
    const uint8_t *values = (const uint8_t *)a->buffers[1];
    if (b->layout == TLI_ARROW_BYTES) {
        uint32_t from = tli_bits_u32(values + 4 * i), to = tli_bits_u32(values + 4 * i + 4);
        return from == to ? tl_text("") : tli_text_span((const uint8_t *)a->buffers[2] + from, to - from);
    }
    if (b->layout == TLI_ARROW_LARGE_BYTES) {
        uint64_t from = tli_bits_u64(values + 8 * i), to = tli_bits_u64(values + 8 * i + 8);
        return from == to ? tl_text("") : tli_text_span((const uint8_t *)a->buffers[2] + from, (size_t)(to - from));
    }
    if (b->layout == TLI_ARROW_VIEWS)
        return tli_arrow_view(a, i);
    return tli_text_span(b->type.width == 0 ? (const uint8_t *)"" : values + (size_t)b->type.width * (size_t)i,
                         (size_t)b->type.width);
}

TLI_FN int tli_jsonemit_write_hex(tli_jsonemit_writer *w, tl_span bytes)
{
    if (bytes.size > SIZE_MAX / 4 || !tli_jsonemit_room(w, 2 * bytes.size + 2))
        return bytes.size > SIZE_MAX / 4 ? tli_jsonemit_misuse(w, TL_NO_MEMORY, "output too large") : 0;
    *w->p++ = '"';
    tli_number_hex(w->p, bytes.data, bytes.size);
    w->p += 2 * bytes.size;
    *w->p++ = '"';
    return 1;
}

/* Whether every reader gets a number right: at most 15 digits and a power of ten that a double holds. serde_json, which
   Timelake reads with, multiplies the two (its float_roundtrip is off) and is one bit off for a fifth of other doubles;
   from a text it takes them exactly. */
TLI_FN int tli_jsonemit_plain_float(const char *p, size_t n)
{
    int32_t digits = 0, fraction = 0, exponent = 0;
    size_t i = p[0] == '-';
    int point = 0, minus;
    for (; i < n && p[i] != 'e'; i++) {
        if (p[i] == '.') {
            point = 1;
            continue;
        }
        digits += digits != 0 || p[i] != '0';
        fraction += point;
    }
    minus = i + 1 < n && p[i + 1] == '-';
    for (i += 2; i < n; i++)
        exponent = exponent * 10 + (p[i] - '0');
    exponent = (minus ? -exponent : exponent) - fraction;
    return digits <= 15 && exponent <= 22 && exponent >= -22;
}

/* There is room for 100 bytes. */
TLI_FN void tli_jsonemit_write_float(tli_jsonemit_writer *w, tl_type_id id, const uint8_t *value)
{
    double wide;
    float narrow;
    char *p = w->p;
    size_t n;
    if (id == TL_TYPE_FLOAT64) {
        TLI_COPY(&wide, value, 8);
        n = tli_number_f64(p + 1, wide);
    } else {
        if (id == TL_TYPE_FLOAT32)
            TLI_COPY(&narrow, value, 4);
        else
            narrow = tli_number_f16_to_f32(tli_bits_u16(value));
        n = tli_number_f32(p + 1, narrow);
    }
    if (p[n] > '9' || (n == 4 && TLI_COMPARE(p + 1, "-0.0", 4) == 0) || !tli_jsonemit_plain_float(p + 1, n)) {
        *p = '"'; /* JSON has no such numbers, or its readers do not agree on them */
        p[n + 1] = '"';
        w->p += n + 2;
        return;
    }
    TLI_MOVE(p, p + 1, n);
    w->p += n;
}

/* Dates and times of day as text where the text can say them, all else of time as an integer. There is room. */
TLI_FN void tli_jsonemit_write_time(tli_jsonemit_writer *w, const tl_type *t, int64_t v)
{
    const int64_t least = -719528, most = 2932896; /* days of the years 0 to 9999 */
    size_t n = 0;
    char *p = w->p;
    if (t->id == TL_TYPE_DATE32 && v >= least && v <= most)
        n = tli_time_date(p + 1, v);
    else if (t->id == TL_TYPE_DATE64 && v >= least * 86400000 && v < (most + 1) * 86400000)
        n = tli_time_stamp(p + 1, v, TL_UNIT_MILLI, tl_text(NULL));
    else if (t->id == TL_TYPE_TIME32 || t->id == TL_TYPE_TIME64)
        n = tli_time_clock(p + 1, v, t->unit);
    if (n == 0) {
        w->p += tli_number_i64(p, v);
        return;
    }
    *p = '"';
    p[n + 1] = '"';
    w->p += n + 2;
}

TLI_FN int tli_jsonemit_write_parts(tli_jsonemit_writer *w, const uint8_t *value, int count)
{
    return tli_jsonemit_say(w, "[") && tli_jsonemit_number(w, (int32_t)tli_bits_u32(value)) && tli_jsonemit_say(w, ",")
           && tli_jsonemit_number(w, (int32_t)tli_bits_u32(value + 4))
           && (count == 2
               || (tli_jsonemit_say(w, ",") && tli_jsonemit_number(w, (int64_t)tli_bits_u64(value + 8))))
           && tli_jsonemit_say(w, "]");
}

/* Digits of a decimal's text but for leading zeros: readers refuse more than the precision, arrays may hold them. */
TLI_FN int32_t tli_jsonemit_digits(const char *text, size_t size)
{
    int32_t digits = 0;
    size_t i;
    for (i = 0; i < size && text[i] != 'E'; i++)
        if (text[i] >= '0' && text[i] <= '9')
            digits += digits != 0 || text[i] != '0';
    return digits;
}

/* A value that is neither null nor made of others. */
TLI_FN int tli_jsonemit_write_scalar(tli_jsonemit_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const tl_type *t = &b->type;
    int64_t i = w->tree.nodes[at].row + b->array->offset;
    const uint8_t *value;
    size_t n;
    if (t->id >= TL_TYPE_BINARY)
        return tli_jsonemit_write_hex(w, tli_jsonemit_bytes_of(b, i));
    if (t->id >= TL_TYPE_UTF8)
        return tli_jsonemit_quote(w, tli_jsonemit_bytes_of(b, i));
    if (t->id == TL_TYPE_BOOL)
        return tli_jsonemit_say(w, tli_bits_get(b->array->buffers[1], (uint64_t)i) ? "true" : "false");
    if (!tli_jsonemit_room(w, 100))
        return 0;
    value = (const uint8_t *)b->array->buffers[1] + (size_t)t->width * (size_t)i;
    if (t->id >= TL_TYPE_UINT8 && t->id <= TL_TYPE_UINT64) {
        uint64_t v = t->width == 8 ? tli_bits_u64(value) : t->width == 4 ? tli_bits_u32(value)
            : t->width == 2 ? tli_bits_u16(value) : *value;
        w->p += tli_number_u64(w->p, v);
    } else if (t->id <= TL_TYPE_INT64) {
        w->p += tli_number_i64(w->p, tli_arrow_integer(t, value, 0));
    } else if (t->id <= TL_TYPE_FLOAT64) {
        tli_jsonemit_write_float(w, t->id, value);
    } else if (t->id <= TL_TYPE_DECIMAL256) {
        *w->p = '"';
        n = tli_number_decimal(w->p + 1, value, t->width, t->scale);
        if (tli_jsonemit_digits(w->p + 1, n) > t->precision)
            return tli_jsonemit_misuse(w, TL_UNSUPPORTED, "head: a decimal of more digits than its precision");
        w->p[n + 1] = '"';
        w->p += n + 2;
    } else if (t->id == TL_TYPE_INTERVAL_DAY_TIME || t->id == TL_TYPE_INTERVAL_MONTH_DAY_NANO) {
        return tli_jsonemit_write_parts(w, value, t->width == 8 ? 2 : 3);
    } else {
        tli_jsonemit_write_time(w, t, t->width == 4 ? (int32_t)tli_bits_u32(value) : (int64_t)tli_bits_u64(value));
    }
    return 1;
}

/* Whether value `row` is null; what may not be null is refused. */
TLI_INLINE int tli_jsonemit_is_null(tli_jsonemit_writer *w, uint32_t at)
{
    const struct ArrowArray *a = w->tree.build->nodes[at].array;
    if (a->n_buffers != 0 && (a->null_count == 0 || a->buffers[0] == NULL))
        return 0;
    if (tli_arrow_valid(a, w->tree.nodes[at].row))
        return 0;
    if (!w->tree.nodes[at].nullable)
        (void)tli_jsonemit_misuse(w, TL_MISUSE, "head: a null in a column that is not nullable");
    return 1;
}

/* Goes on in an object: writes members up to one whose value is made of others, which is answered, or to the end. */
TLI_FN uint32_t tli_jsonemit_write_members(tli_jsonemit_writer *w, uint32_t at)
{
    tli_jsontype_node *n = &w->tree.nodes[at];
    const struct ArrowArray *a = w->tree.build->nodes[at].array;
    int64_t row = n->row + (a == NULL ? 0 : a->offset);
    while (n->seen < n->count) {
        uint32_t child = w->tree.sorted[n->sorted + n->seen];
        tli_jsontype_node *c = &w->tree.nodes[child];
        if (!tli_jsonemit_put(w, c->key.data + (n->seen == 0), c->key.size - (n->seen == 0)))
            return TLI_JSONTYPE_FAIL;
        n->seen++;
        c->row = row;
        if (tli_jsonemit_is_null(w, child)) {
            if (w->status != TL_OK || !tli_jsonemit_say(w, "null"))
                return TLI_JSONTYPE_FAIL;
        } else if (w->tree.build->nodes[child].layout >= TLI_ARROW_LIST || c->act == TLI_JSONTYPE_DICTIONARY) {
            return child;
        } else if (!tli_jsonemit_write_scalar(w, child)) {
            return TLI_JSONTYPE_FAIL;
        }
    }
    return tli_jsonemit_say(w, "}") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* The first and the last value, plus one, of a list or map at hand. */
TLI_FN void tli_jsonemit_range(const tli_build_node *b, int64_t i, int64_t *from, int64_t *to)
{
    const uint8_t *offsets = (const uint8_t *)b->array->buffers[b->layout == TLI_ARROW_FIXED_LIST ? 0 : 1];
    i += b->array->offset;
    if (b->layout == TLI_ARROW_FIXED_LIST) {
        *from = i * b->type.size;
        *to = *from + b->type.size;
    } else if (b->layout == TLI_ARROW_LIST) {
        *from = (int32_t)tli_bits_u32(offsets + 4 * i);
        *to = (int32_t)tli_bits_u32(offsets + 4 * i + 4);
    } else {
        *from = (int64_t)tli_bits_u64(offsets + 8 * i);
        *to = (int64_t)tli_bits_u64(offsets + 8 * i + 8);
    }
}

/* Whether a map's keys are text, or a dictionary of text: then it is an object. */
TLI_FN int tli_jsonemit_text_keys(const tli_build_node *key)
{
    tl_type_id id = key[key->schema->dictionary != NULL].type.id;
    return id >= TL_TYPE_UTF8 && id <= TL_TYPE_UTF8_VIEW;
}

/* The value at hand of a node: writes it (DONE), or its beginning and answers the node whose value is next; or FAIL. */
TLI_FN uint32_t tli_jsonemit_write_begin(tli_jsonemit_writer *w, uint32_t at)
{
    tli_jsontype_node *n = &w->tree.nodes[at];
    const tli_build_node *b = &w->tree.build->nodes[at];
    int good;
    if (b->array != NULL && tli_jsonemit_is_null(w, at))
        return w->status == TL_OK && tli_jsonemit_say(w, "null") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (n->act == TLI_JSONTYPE_DICTIONARY) {
        w->tree.nodes[at + 1].row = tli_arrow_integer(&b->type, b->array->buffers[1], n->row + b->array->offset);
        return at + 1;
    }
    if (b->layout < TLI_ARROW_LIST)
        return tli_jsonemit_write_scalar(w, at) ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        uint32_t value = at + 1 + b[1].span;
        w->tree.nodes[at + 1].row = w->tree.nodes[value].row = n->row + b->array->offset;
        return !w->tree.nodes[at - 1].pairs || tli_jsonemit_say(w, "[") ? at + 1 : TLI_JSONTYPE_FAIL;
    }
    if (n->act == TL_TYPE_STRUCT) {
        n->seen = 0;
        if (n->twins)
            (void)tli_jsonemit_misuse(w, TL_UNSUPPORTED, "head: rows of a struct with two fields of one name");
        return !n->twins && tli_jsonemit_say(w, "{") ? tli_jsonemit_write_members(w, at) : TLI_JSONTYPE_FAIL;
    }
    n->pairs = n->act != TL_TYPE_MAP || !tli_jsonemit_text_keys(b + 2);
    tli_jsonemit_range(b, n->row, &w->tree.nodes[at + 1].row, &n->end);
    good = tli_jsonemit_say(w, n->pairs ? "[" : "{");
    if (!good || w->tree.nodes[at + 1].row < n->end)
        return good ? at + 1 : TLI_JSONTYPE_FAIL;
    return tli_jsonemit_say(w, n->pairs ? "]" : "}") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* Goes on after the part `child` of a value was written. */
TLI_FN uint32_t tli_jsonemit_write_resume(tli_jsonemit_writer *w, uint32_t at, uint32_t child)
{
    tli_jsontype_node *n = &w->tree.nodes[at];
    const tli_build_node *b = &w->tree.build->nodes[at];
    int pairs;
    if (n->act == TLI_JSONTYPE_DICTIONARY)
        return TLI_JSONTYPE_DONE;
    if (n->act == TL_TYPE_STRUCT)
        return tli_jsonemit_write_members(w, at);
    if (n->act == TLI_JSONTYPE_ENTRIES) {
        pairs = w->tree.nodes[at - 1].pairs;
        if (child == at + 1)
            return tli_jsonemit_say(w, pairs ? "," : ":") ? child + b[1].span : TLI_JSONTYPE_FAIL;
        return !pairs || tli_jsonemit_say(w, "]") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
    }
    if (++w->tree.nodes[child].row < n->end)
        return tli_jsonemit_say(w, ",") ? child : TLI_JSONTYPE_FAIL;
    return tli_jsonemit_say(w, n->pairs ? "]" : "}") ? TLI_JSONTYPE_DONE : TLI_JSONTYPE_FAIL;
}

/* One row, with all below it. */
TLI_FN int tli_jsonemit_write_row(tli_jsonemit_writer *w)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t next = tli_jsonemit_write_begin(w, at);
        while (next == TLI_JSONTYPE_DONE) {
            uint32_t child = at;
            if (at == 0)
                return 1;
            at -= w->tree.build->nodes[at].up;
            next = tli_jsonemit_write_resume(w, at, child);
        }
        if (next == TLI_JSONTYPE_FAIL)
            return 0;
        at = next;
    }
}

/* Gives each node its array of this batch. */
TLI_FN void tli_jsonemit_attach(tli_jsontype_tree *t, const struct ArrowArray *const *columns)
{
    tli_build_node *b = t->build->nodes;
    uint32_t i;
    union {
        const struct ArrowArray *read;
        struct ArrowArray *node; /* as builders have it; it is only read here */
    } array;
    for (i = 0; i < t->build->count; i++)
        b[i].times = 0; /* children that have theirs */
    for (i = 1; i < t->build->count; i++) {
        tli_build_node *parent = &b[i] - b[i].up;
        if (parent == b)
            array.read = columns[parent->times++];
        else
            array.read = b[i].is_dictionary ? parent->array->dictionary : parent->array->children[parent->times++];
        b[i].array = array.node;
    }
}

/* `,"name":` of every member, in the store. */
TLI_FN int tli_jsonemit_write_keys(tli_jsonemit_writer *w, tli_store *store)
{
    uint32_t i;
    for (i = 1; i < w->tree.build->count; i++) {
        tli_jsontype_node *n = &w->tree.nodes[i];
        size_t size = tli_json_escaped_size(n->name.data, n->name.size) + 4;
        char *key = (char *)tli_mem_take(store, size, w->err);
        if (key == NULL) {
            w->status = w->err->status;
            return 0;
        }
        if (tli_text_utf8(n->name.data, n->name.size) != n->name.size)
            return tli_jsonemit_misuse(w, TL_MISUSE, "head: a column name that is not UTF-8");
        key[0] = ',';
        *tli_json_put_text(key + 1, n->name.data, n->name.size) = ':';
        n->key = tli_text_span(key, size);
    }
    return 1;
}

TLI_FN int tli_jsonemit_write_rows(tli_jsonemit_writer *w, tl_section *section)
{
    int32_t batch;
    const char *before = "";
    if (!tli_jsonemit_say(w, "["))
        return 0;
    for (batch = 0; batch < section->batch_count; batch++) {
        int64_t row;
        if (section->batches[batch].rows == 0)
            continue;
        tli_jsonemit_attach(&w->tree, section->batches[batch].columns);
        for (row = 0; row < section->batches[batch].rows; row++) {
            w->tree.nodes[0].row = row;
            if (!tli_jsonemit_say(w, before) || !tli_jsonemit_write_row(w))
                return 0;
            before = ",";
        }
    }
    return tli_jsonemit_say(w, "]");
}

TLI_FN int tli_jsonemit_write_section(tli_jsonemit_writer *w, tl_section *section, const tl_allocator *allocator)
{
    tl_limits any;
    tli_store *store;
    int good;
    TLI_FILL(&any, 0, sizeof any);
    any.depth = 256;
    any.columns = UINT32_MAX;
    w->status = tl_section_open(section, w->err);
    if (w->status != TL_OK)
        return 0;
    store = tli_mem_store_new(allocator, UINT64_MAX, NULL, 0, NULL, NULL, w->err);
    if (store == NULL) {
        w->status = w->err->status;
        return 0;
    }
    w->status = tli_jsontype_nodes(store, section->schema, &any, &w->tree, w->err);
    good = w->status == TL_OK && tli_jsonemit_write_keys(w, store) && tli_jsonemit_say(w, "{\"name\":")
           && tli_jsonemit_quote(w, section->name) && tli_jsonemit_say(w, ",\"schema\":")
           && tli_jsonemit_write_schema(w) && tli_jsonemit_say(w, ",\"rows\":")
           && tli_jsonemit_write_rows(w, section) && tli_jsonemit_say(w, "}");
    tli_mem_store_drop(store);
    return good;
}

TLI_FN int tli_jsonemit_write_document(tli_jsonemit_writer *w, tl_document *document)
{
    const tl_allocator *a = document->store != NULL ? &document->store->allocator : &document->allocator;
    int32_t i;
    if (!tli_jsonemit_say(w, "{\"properties\":{"))
        return 0;
    for (i = 0; i < document->property_count; i++)
        if (!tli_jsonemit_say(w, i == 0 ? "" : ",") || !tli_jsonemit_quote(w, document->properties[i].key)
            || !tli_jsonemit_say(w, ":") || !tli_jsonemit_quote(w, document->properties[i].value))
            return 0;
    if (!tli_jsonemit_say(w, "},\"sections\":["))
        return 0;
    for (i = 0; i < document->section_count; i++)
        if (!tli_jsonemit_say(w, i == 0 ? "" : ",") || !tli_jsonemit_write_section(w, &document->sections[i], a))
            return 0;
    return tli_jsonemit_say(w, "]}");
}

#endif /* TIMELAKE_NO_HEAD_JSON */

/* >>headjson: the `json` codec of the head. Format: the Timelake head, layout 1 (README, Sources), codec `json`.

   What this codec writes where the text form that Timelake writes would lose something, or could not be read back:
   decimals as strings; NaN, inf, -inf, -0.0 and numbers that readers round differently as strings; timestamps (nested
   ones too) and durations as integers; dates outside the years 0 to 9999 and times outside the day as integers; month
   intervals as an integer, day-time ones as [days, milliseconds], month-day-nano ones as [months, days, nanoseconds];
   maps whose keys are no text as [[key, value], ...]; dictionary columns as their values. It reads these, and every
   form that Timelake writes. A key that a map has twice stays twice; of other repeated keys the last counts.

   Reading takes two passes over the rows: decoding a head checks all its text and counts what each column takes,
   opening a section fills its arrays. Both walk the text by the nodes of the schema, so that the way back up is known
   without a stack. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- decoding ---- */

typedef struct tli_headjson_decoder {
    tli_json j;
    tl_document *document;
    tl_limits limits;
} tli_headjson_decoder;

/* Takes the text at the cursor; it lives as long as the document. */
TLI_FN int tli_headjson_keep(tli_headjson_decoder *d, const char *expected, tl_span *text)
{
    int escaped;
    char *copy;
    tli_json_space(&d->j);
    if (d->j.p >= d->j.end || *d->j.p != '"')
        return tli_json_fail(&d->j, expected, d->j.p);
    if (!tli_json_text(&d->j, text, &escaped))
        return 0;
    if (!escaped)
        return 1;
    copy = (char *)tli_mem_take(d->document->store, text->size, d->j.err);
    if (copy == NULL) {
        d->j.status = d->j.err->status;
        return 0;
    }
    text->size = tli_json_unescape(copy, *text);
    text->data = copy;
    return 1;
}

/* Steps over the members of an object, or the elements of an array: 1: one is at the cursor; 0: that was the end, which
   was taken, or a failure. */
TLI_FN int tli_headjson_next(tli_json *j, int *first, char close, const char *expected)
{
    tli_json_space(j);
    if (j->p < j->end && *j->p == (uint8_t)close) {
        j->p++;
        return 0;
    }
    if (!*first && !tli_json_take(j, ',', expected))
        return 0;
    tli_json_space(j);
    if (!*first && j->p < j->end && *j->p == (uint8_t)close)
        return tli_json_fail(j, close == '}' ? "json: a key is expected" : "json: a value is expected", j->p);
    *first = 0;
    return 1;
}

TLI_FN int tli_headjson_properties(tli_headjson_decoder *d)
{
    int first = 1;
    if (!tli_json_take(&d->j, '{', "head: properties have to be an object"))
        return 0;
    while (tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected")) {
        tl_span key, value;
        if (!tli_headjson_keep(d, "json: a key is expected", &key)
            || !tli_json_take(&d->j, ':', "json: a colon is expected")
            || !tli_headjson_keep(d, "head: the value of a property has to be text", &value))
            return 0;
        d->j.status = tli_doc_property(d->document, key, value, d->j.err);
        if (d->j.status != TL_OK)
            return 0;
    }
    return d->j.status == TL_OK;
}

/* The first pass over a section's rows, whose schema is known; the cursor is at the array. Where it fails a later key
   of the same name may have overruled the value, so it is made again and looks for those first. */
TLI_FN int tli_headjson_measure(tli_headjson_decoder *d, tli_jsonread_source *s, uint64_t *rows)
{
    tli_jsonread_walk w = tli_jsonrows_walk_of(s, TLI_JSONREAD_COUNT, d->j.err);
    int good = tli_jsonrows_rows(&w, d->limits.rows, rows);
    if (!good && w.j.status == TL_CORRUPT) {
        tli_jsonrows_recount(&w, 1);
        w = tli_jsonrows_walk_of(s, TLI_JSONREAD_COUNT, d->j.err);
        s->repeated = 1;
        good = tli_jsonrows_rows(&w, d->limits.rows, rows);
    }
    d->j.status = w.j.status;
    d->j.p = w.j.p;
    s->rows_size = (size_t)(d->j.p - s->body) - s->rows;
    return good;
}

/* What a section object said so far: where its schema and its rows are. */
typedef struct tli_headjson_parts_seen {
    tl_span name;
    struct ArrowSchema *schema;
    const uint8_t *rows;
    tli_jsonread_source *source;
    uint64_t count;
} tli_headjson_parts_seen;

TLI_FN int tli_headjson_section_schema(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    tli_store *store = d->document->store;
    tli_jsonread_source *s;
    const uint8_t *at;
    tli_json_space(&d->j);
    at = d->j.p;
    if (!tli_json_skip(&d->j, tli_jsontype_depth(&d->limits)))
        return 0;
    d->j.status = tli_jsontype_schema_of(store, tli_text_span(at, (size_t)(d->j.p - at)),
                                         d->j.position + (uint64_t)(at - d->j.begin), &d->limits, &seen->schema,
                                         d->j.err);
    if (d->j.status != TL_OK)
        return 0;
    s = (tli_jsonread_source *)tli_mem_take_zero(store, sizeof *s, d->j.err);
    if (s == NULL) {
        d->j.status = d->j.err->status;
        return 0;
    }
    s->source.open = tli_jsonrows_open;
    s->store = store;
    s->body = d->j.begin;
    s->size = (size_t)(d->j.end - d->j.begin);
    s->position = d->j.position;
    s->depth = tli_jsontype_depth(&d->limits);
    seen->source = s;
    d->j.status = tli_jsontype_nodes(store, seen->schema, &d->limits, &s->tree, d->j.err);
    return d->j.status == TL_OK;
}

/* Rows whose schema is known are counted at once, others are checked and counted when it is. */
TLI_FN int tli_headjson_section_rows(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    tli_json_space(&d->j);
    seen->rows = d->j.p;
    if (seen->source == NULL)
        return tli_json_skip(&d->j, 256);
    seen->source->rows = (size_t)(seen->rows - d->j.begin);
    return tli_headjson_measure(d, seen->source, &seen->count);
}

TLI_FN int tli_headjson_section_member(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    const uint8_t *at = d->j.p;
    int twice = 0;
    tl_span key;
    if (!tli_headjson_keep(d, "json: a key is expected", &key)
        || !tli_json_take(&d->j, ':', "json: a colon is expected"))
        return 0;
    if (tl_span_equal(key, tl_text("name")))
        return (twice = seen->name.data != NULL) ? tli_json_fail(&d->j, "head: a section has two names", at)
            : tli_headjson_keep(d, "head: the name of a section has to be text", &seen->name);
    if (tl_span_equal(key, tl_text("schema")))
        return seen->schema != NULL ? tli_json_fail(&d->j, "head: a section has two schemas", at)
            : tli_headjson_section_schema(d, seen);
    if (tl_span_equal(key, tl_text("rows")))
        return seen->rows != NULL ? tli_json_fail(&d->j, "head: a section has rows twice", at)
            : tli_headjson_section_rows(d, seen);
    return tli_json_skip(&d->j, tli_jsontype_depth(&d->limits));
}

TLI_FN int tli_headjson_section(tli_headjson_decoder *d)
{
    const uint8_t *at = d->j.p;
    tli_headjson_parts_seen seen;
    tl_section *section = NULL;
    int first = 1, late;
    TLI_FILL(&seen, 0, sizeof seen);
    if (!tli_json_take(&d->j, '{', "head: a section has to be an object"))
        return 0;
    while (tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected"))
        if (!tli_headjson_section_member(d, &seen))
            return 0;
    if (d->j.status != TL_OK)
        return 0;
    if (seen.name.data == NULL || seen.schema == NULL || seen.rows == NULL)
        return tli_json_fail(&d->j, "head: a section without name, schema or rows", at);
    late = seen.source->rows == 0;
    if (late) {
        const uint8_t *end = d->j.p;
        d->j.p = seen.rows;
        if (!tli_headjson_section_rows(d, &seen))
            return 0;
        d->j.p = end;
    }
    d->j.status = tli_doc_section(d->document, seen.name, seen.schema, 1, &seen.source->source, &section, d->j.err);
    if (d->j.status != TL_OK)
        return 0;
    section->rows = section->batches[0].rows = (int64_t)seen.count;
    return 1;
}

TLI_FN int tli_headjson_sections(tli_headjson_decoder *d)
{
    int first = 1;
    uint32_t n = 0;
    if (!tli_json_take(&d->j, '[', "head: sections have to be an array"))
        return 0;
    while (tli_headjson_next(&d->j, &first, ']', "json: a comma or ] is expected")) {
        if (++n > d->limits.sections)
            return tli_json_refuse(&d->j, TL_LIMIT, "limits.sections", d->j.p);
        if (!tli_headjson_section(d))
            return 0;
    }
    return d->j.status == TL_OK;
}

TLI_FN int tli_headjson_document(tli_headjson_decoder *d)
{
    const uint8_t *properties = NULL, *sections = NULL;
    int first = 1, good = 1;
    if (!tli_json_take(&d->j, '{', "head: a document has to be an object"))
        return 0;
    while (good && tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected")) {
        const uint8_t *at = d->j.p;
        tl_span key;
        if (!tli_headjson_keep(d, "json: a key is expected", &key)
            || !tli_json_take(&d->j, ':', "json: a colon is expected"))
            return 0;
        if (tl_span_equal(key, tl_text("properties"))) {
            good = properties != NULL ? tli_json_fail(&d->j, "head: properties twice", at) : tli_headjson_properties(d);
            properties = at;
        } else if (tl_span_equal(key, tl_text("sections"))) {
            good = sections != NULL ? tli_json_fail(&d->j, "head: sections twice", at) : tli_headjson_sections(d);
            sections = at;
        } else {
            good = tli_json_skip(&d->j, tli_jsontype_depth(&d->limits));
        }
    }
    if (!good || d->j.status != TL_OK || !tli_json_finish(&d->j))
        return 0;
    return properties != NULL && sections != NULL ? 1
        : tli_json_fail(&d->j, "head: a document without properties or sections", d->j.begin);
}

/* Decodes a body, which has to stay as it is as long as the document; `position`: where it lies in the object. */
TLI_FN tl_status tli_headjson_decode(tl_document *document, const void *body, size_t size, uint64_t position,
                                     const tl_limits *limits, tl_error *err)
{
    tli_headjson_decoder d;
    tl_error own;
    TLI_FILL(&d, 0, sizeof d);
    d.j = tli_json_open(body, size, position, err != NULL ? err : &own);
    d.document = document;
    d.limits = tl_limits_resolve(limits);
    return tli_headjson_document(&d) ? TL_OK : d.j.status;
}

/* ---- encoding ---- */

/* Appends the document to `out`; closed columns are opened. On failure `out` is as it was. */
TLI_FN tl_status tli_headjson_encode(tl_buffer *out, tl_document *document, tl_error *err)
{
    tli_jsonemit_writer w;
    tl_error own;
    size_t before = out->size;
    TLI_FILL(&w, 0, sizeof w);
    w.out = out;
    w.err = err != NULL ? err : &own;
    if (!tli_jsonemit_write_document(&w, document)) {
        out->size = before;
        return w.status;
    }
    out->size = (size_t)(w.p - (char *)out->data);
    return TL_OK;
}

#endif /* TIMELAKE_NO_HEAD_JSON */

/* >>headarrow: the head codec `arrow`: length-prefixed Arrow IPC streams, the first with the properties. */
#ifndef TIMELAKE_NO_HEAD_ARROW
#define TLI_HEADARROW_SECTION "timelake.section" /* the schema metadata key that names a stream's section */
#define TLI_HEADARROW_UNKNOWN "+us:"             /* the format of a column whose type cannot be told */

/* A section's stream. `stream` NULL: its types are not supported here. Then the bytes are kept as they are, so that
   encoding passes them on, and the reason, so that opening tells it. */
typedef struct tli_headarrow_source {
    struct tli_doc_source base;
    struct tli_ipc_stream *stream;
    const uint8_t *bytes;
    size_t size;
    tl_error reason;
} tli_headarrow_source;

/* What one call of decode goes by. */
typedef struct tli_headarrow_input {
    tl_document *document;
    const uint8_t *body;
    size_t size;
    uint64_t position; /* of the body in the head */
    const tl_limits *limits;
    const tl_compression *compression;
} tli_headarrow_input;

TLI_FN tl_status tli_headarrow_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                    tl_error *err)
{
    tli_headarrow_source *source = (tli_headarrow_source *)(void *)self;
    const struct ArrowArray *array;
    tl_status st;
    if (source->stream == NULL) {
        if (err != NULL)
            *err = source->reason;
        return source->reason.status;
    }
    st = tli_ipc_column(source->stream, batch, column, &array, err);
    if (st == TL_OK)
        section->batches[batch].columns[column] = array;
    return st;
}

/* The source of a section that this codec decoded, or NULL. */
TLI_FN tli_headarrow_source *tli_headarrow_source_of(const tl_section *section)
{
    if (section->source == NULL || section->source->open != tli_headarrow_open)
        return NULL;
    return (tli_headarrow_source *)(void *)section->source;
}

/* Upper bound of the memory that opening every column of the document takes. */
TLI_FN uint64_t tli_headarrow_memory(const tl_document *document)
{
    uint64_t sum = 0, once = 0;
    int32_t i;
    for (i = 0; i < document->section_count; i++) {
        const tli_headarrow_source *source = tli_headarrow_source_of(&document->sections[i]);
        uint64_t more = source != NULL && source->stream != NULL ? tli_ipc_memory(source->stream, &once) : 0;
        if (!tli_bits_add(sum, more, &sum))
            return UINT64_MAX;
    }
    return tli_bits_add(sum, once, &sum) ? sum : UINT64_MAX;
}

/* The section's schema is the stream's without the key that names the section. The last of repeated keys counts. */
TLI_FN tl_status tli_headarrow_schema(const tli_headarrow_input *in, const struct ArrowSchema *stream, tl_span *name,
                                      struct ArrowSchema **out, tl_error *err)
{
    tli_store *store = in->document->store;
    struct ArrowSchema *schema;
    tl_span *pairs, key, value, naming = tl_text(TLI_HEADARROW_SECTION);
    int32_t count = 0, kept = 0, i;
    name->data = NULL;
    name->size = 0;
    while (tl_schema_metadata_at(stream, count, &key, &value))
        count++;
    pairs = (tl_span *)tli_mem_take_array(store, (uint64_t)(uint32_t)count * 2, sizeof *pairs, err);
    schema = (struct ArrowSchema *)tli_mem_take(store, sizeof *schema, err);
    if (pairs == NULL || schema == NULL)
        return err->status;
    for (i = 0; i < count && tl_schema_metadata_at(stream, i, &key, &value); i++) {
        if (tl_span_equal(key, naming)) {
            *name = value.data != NULL ? value : tl_text("");
            continue;
        }
        pairs[kept] = key;
        pairs[count + kept++] = value;
    }
    *schema = *stream;
    schema->metadata = NULL;
    *out = schema;
    return kept == 0 ? TL_OK : tli_arrow_schema_metadata(store, schema, pairs, pairs + count, kept, err);
}

/* A section whose types this library does not read: one batch of one column that cannot be opened, and its bytes. Of
   its schema only the metadata are known. */
TLI_FN tl_status tli_headarrow_opaque(const tli_headarrow_input *in, tli_headarrow_source *source, tl_span name,
                                      const struct ArrowSchema *schema, tl_error *err)
{
    tl_section *section;
    struct ArrowSchema *child, *node = tli_arrow_schema_new(in->document->store, "+s", tl_text(""), 0, 1, err);
    if (node == NULL)
        return err->status;
    child = tli_arrow_schema_new(in->document->store, TLI_HEADARROW_UNKNOWN, tl_text(""), 0, 0, err);
    if (child == NULL)
        return err->status;
    node->children[0] = child;
    node->metadata = schema->metadata;
    source->stream = NULL;
    return tli_doc_section(in->document, name, node, 1, &source->base, &section, err);
}

TLI_FN tl_status tli_headarrow_section(const tli_headarrow_input *in, size_t at, size_t size, tl_error *err)
{
    tli_headarrow_source *source;
    struct ArrowSchema *schema;
    tl_section *section;
    tl_span name;
    tl_status opened, st;
    int32_t i;
    source = (tli_headarrow_source *)tli_mem_take_zero(in->document->store, sizeof *source, err);
    if (source == NULL)
        return err->status;
    source->base.open = tli_headarrow_open;
    source->bytes = in->body + at;
    source->size = size;
    opened = tli_ipc_open(in->document->store, in->body + at, size, in->position + at, in->limits, in->compression,
                          &source->stream, err);
    if (opened != TL_OK && (opened != TL_UNSUPPORTED || source->stream == NULL))
        return opened;
    source->reason = *err;
    st = tli_headarrow_schema(in, source->stream->schema, &name, &schema, err);
    if (st != TL_OK)
        return st;
    if (name.data == NULL)
        return opened != TL_OK ? opened : tli_err(err, TL_CORRUPT, "a section without a name", in->position + at);
    if (opened != TL_OK)
        return tli_headarrow_opaque(in, source, name, schema, err);
    st = tli_doc_section(in->document, name, schema, source->stream->batch_count, &source->base, &section, err);
    for (i = 0; st == TL_OK && i < source->stream->batch_count; i++) {
        section->batches[i].rows = source->stream->batches[i].rows;
        section->rows += source->stream->batches[i].rows;
    }
    return st;
}

/* The first stream: no columns and no batches, its metadata are the document's properties. */
TLI_FN tl_status tli_headarrow_properties(const tli_headarrow_input *in, size_t at, size_t size, tl_error *err)
{
    struct tli_ipc_stream *stream = NULL;
    tl_span key, value;
    int32_t i;
    tl_status st = tli_ipc_open(in->document->store, in->body + at, size, in->position + at, in->limits,
                                in->compression, &stream, err);
    if (st != TL_OK)
        return st;
    if (stream->schema->n_children != 0 || stream->batch_count != 0)
        return tli_err(err, TL_CORRUPT, "the stream of the properties has columns or batches", in->position + at);
    for (i = 0; st == TL_OK && tl_schema_metadata_at(stream->schema, i, &key, &value); i++)
        st = tli_doc_property(in->document, key, value.data != NULL ? value : tl_text(""), err);
    return st;
}

TLI_FN tl_status tli_headarrow_decode(tl_document *document, const void *body, size_t size, uint64_t position,
                                      const tl_limits *limits, const tl_compression *compression, tl_error *err)
{
    tli_headarrow_input in;
    size_t at = 0, length;
    uint64_t wide, streams = 0;
    tl_status st = TL_OK;
    in.document = document;
    in.body = (const uint8_t *)body;
    in.size = size;
    in.position = position;
    in.limits = limits;
    in.compression = compression;
    if (size == 0)
        return tli_err(err, TL_TRUNCATED, "a head without streams", position);
    for (; st == TL_OK && at < size; at += length, streams++) {
        if (size - at < 8)
            return tli_err(err, TL_TRUNCATED, "the length of a stream is cut", position + at);
        wide = tli_bits_le64(in.body + at);
        if (wide > size - at - 8)
            return tli_err(err, TL_TRUNCATED, "a stream ends past the end of the head", position + at);
        if (streams > limits->sections)
            return tli_err_need(err, TL_LIMIT, "limits.sections", position + at, streams);
        length = (size_t)wide;
        at += 8;
        st = streams == 0 ? tli_headarrow_properties(&in, at, length, err)
                          : tli_headarrow_section(&in, at, length, err);
    }
    return st;
}

/* ---- writing ---- */

/* Appends the properties' stream: its schema node lives on the stack, its metadata in a store of its own. */
TLI_FN tl_status tli_headarrow_write_properties(tl_buffer *out, const tl_document *document, tl_error *err)
{
    struct ArrowSchema schema;
    tl_span none, *pairs;
    tl_status st = TL_OK;
    int32_t i, n = document->property_count;
    tli_store *store = tli_mem_store_new(&out->allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (store == NULL)
        return err->status;
    none.data = NULL;
    none.size = 0;
    TLI_FILL(&schema, 0, sizeof schema);
    schema.format = "+s";
    schema.name = "";
    schema.release = tli_arrow_schema_stays;
    pairs = (tl_span *)tli_mem_take_array(store, (uint64_t)(uint32_t)n * 2, sizeof *pairs, err);
    if (pairs == NULL)
        st = err->status;
    for (i = 0; st == TL_OK && i < n; i++) {
        pairs[i] = document->properties[i].key;
        pairs[n + i] = document->properties[i].value;
    }
    if (st == TL_OK && n != 0)
        st = tli_arrow_schema_metadata(store, &schema, pairs, pairs + n, n, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, &schema, none, none, err);
    if (st == TL_OK)
        st = tli_ipc_write_end(out, err);
    tli_mem_store_drop(store);
    return st;
}

TLI_FN tl_status tli_headarrow_write_section(tl_buffer *out, tl_section *section, const tl_compression *compression,
                                             tl_error *err)
{
    const tli_headarrow_source *source = tli_headarrow_source_of(section);
    tl_status st;
    int32_t i;
    if (source != NULL && source->stream == NULL)
        return tli_mem_append(out, source->bytes, source->size, err);
    st = tl_section_open(section, err);
    if (st == TL_OK)
        st = tli_ipc_write_schema(out, section->schema, tl_text(TLI_HEADARROW_SECTION), section->name, err);
    for (i = 0; st == TL_OK && i < section->batch_count; i++)
        st = tli_ipc_write_batch(out, section->schema, section->batches[i].columns, section->batches[i].rows,
                                 compression, err);
    return st == TL_OK ? tli_ipc_write_end(out, err) : st;
}

TLI_FN tl_status tli_headarrow_encode(tl_buffer *out, tl_document *document, const tl_compression *compression,
                                      tl_error *err)
{
    static const uint8_t no_length[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    tl_status st = TL_OK;
    int32_t i;
    for (i = -1; st == TL_OK && i < document->section_count; i++) {
        size_t at = out->size;
        st = tli_mem_append(out, no_length, 8, err);
        if (st == TL_OK)
            st = i < 0 ? tli_headarrow_write_properties(out, document, err)
                       : tli_headarrow_write_section(out, &document->sections[i], compression, err);
        if (st == TL_OK)
            tli_bits_put_le64(out->data + at, out->size - at - 8);
    }
    return st;
}
#endif

/* >>head */
#define TLI_HEAD_FIXED 14u /* bytes of the header before the codec's name */

TL_API tl_status tl_head_peek(tl_header *header, const void *bytes, size_t size, tl_error *err)
{
    static const uint8_t start[5] = {'T', 'L', 'H', 'D', 1};
    const uint8_t *p = (const uint8_t *)bytes;
    size_t i, name;
    if (header == NULL || (bytes == NULL && size != 0))
        return tli_err(err, TL_MISUSE, "tl_head_peek: no header or no bytes", TL_NO_POSITION);
    TLI_FILL(header, 0, sizeof *header);
    for (i = 0; i < sizeof start; i++) {
        if (i >= size)
            return tli_err(err, TL_NOT_A_HEAD, "too short for a head", size);
        if (p[i] != start[i])
            return tli_err(err, TL_NOT_A_HEAD, i < 4 ? "not a head" : "a head of another header version", i);
    }
    if (size < TLI_HEAD_FIXED || size - TLI_HEAD_FIXED < p[13])
        return tli_err(err, TL_NOT_A_HEAD, "the head's header is cut", size);
    name = p[13];
    i = tli_text_utf8(p + TLI_HEAD_FIXED, name);
    if (i != name)
        return tli_err(err, TL_NOT_A_HEAD, "the codec's name is not UTF-8", TLI_HEAD_FIXED + i);
    header->version = tli_bits_le64(p + 5);
    header->codec = tli_text_span(p + TLI_HEAD_FIXED, name);
    header->size = TLI_HEAD_FIXED + name;
    return TL_OK;
}

/* ---- the registry ---- */

typedef enum tli_head_kind { TLI_HEAD_NONE, TLI_HEAD_FOREIGN, TLI_HEAD_ARROW, TLI_HEAD_JSON } tli_head_kind;

/* The codec called `name`: the caller's first. */
TLI_FN tl_status tli_head_find(const tl_head_options *options, tl_span name, tli_head_kind *kind,
                               const tl_head_codec **foreign, uint64_t position, tl_error *err)
{
    size_t i;
    *foreign = NULL;
    for (i = 0; i < options->codec_count; i++) {
        if (tl_span_equal(tl_text(options->codecs[i].name), name)) {
            *kind = TLI_HEAD_FOREIGN;
            *foreign = &options->codecs[i];
            return TL_OK;
        }
    }
    if (tl_span_equal(name, tl_text("arrow"))) {
        *kind = TLI_HEAD_ARROW;
#ifndef TIMELAKE_NO_HEAD_ARROW
        return TL_OK;
#else
        return tli_err(err, TL_NO_CODEC, "the codec arrow is not built in (TIMELAKE_NO_HEAD_ARROW)", position);
#endif
    }
    if (tl_span_equal(name, tl_text("json"))) {
        *kind = TLI_HEAD_JSON;
#ifndef TIMELAKE_NO_HEAD_JSON
        return TL_OK;
#else
        return tli_err(err, TL_NO_CODEC, "the codec json is not built in (TIMELAKE_NO_HEAD_JSON)", position);
#endif
    }
    *kind = TLI_HEAD_NONE;
    return tli_err(err, TL_NO_CODEC, "the head's codec is not registered", position);
}

TLI_FN tl_head_options tli_head_options_of(const tl_head_options *options)
{
    tl_head_options o;
    if (options != NULL)
        return *options;
    TLI_FILL(&o, 0, sizeof o);
    return o;
}

/* ---- decoding ---- */

/* What columns that open later still need of the options: they may be gone by then. In the head's store. */
typedef struct tli_head_kept {
    tl_limits limits;
    tl_compression compression;
} tli_head_kept;

/* Decodes the body into head->document, whose store is made. */
TLI_FN tl_status tli_head_body(tl_head *head, tli_head_kind kind, const void *bytes, size_t size, size_t at,
                               const tl_head_options *options, tl_error *err)
{
    const uint8_t *body = (const uint8_t *)bytes + at;
    tli_head_kept *kept = (tli_head_kept *)tli_mem_take(head->document.store, sizeof *kept, err);
    if (kept == NULL)
        return err->status;
    kept->limits = tl_limits_resolve(&options->limits);
    kept->compression = options->compression;
    switch (kind) {
#ifndef TIMELAKE_NO_HEAD_ARROW
    case TLI_HEAD_ARROW:
        return tli_headarrow_decode(&head->document, body, size - at, at, &kept->limits, &kept->compression, err);
#endif
#ifndef TIMELAKE_NO_HEAD_JSON
    case TLI_HEAD_JSON:
        return tli_headjson_decode(&head->document, body, size - at, at, &kept->limits, err);
#endif
    case TLI_HEAD_FOREIGN:
        if (head->foreign->decode != NULL)
            return head->foreign->decode(head->foreign->context, &head->document, body, size - at, err);
        break;
    default:
        break;
    }
    return tli_err(err, TL_UNSUPPORTED, "this codec cannot decode", at);
}

TLI_FN tl_status tli_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                 tl_release *release, tl_error *err)
{
    tl_header header;
    tli_head_kind kind;
    tl_limits limits = tl_limits_resolve(&options->limits);
    tl_status st;
    if (size > limits.object_bytes)
        return tli_err_need(err, TL_LIMIT, "limits.object_bytes", 0, size);
    st = tl_head_peek(&header, bytes, size, err);
    if (st == TL_OK)
        st = tli_head_find(options, header.codec, &kind, &head->foreign, TLI_HEAD_FIXED, err);
    if (st != TL_OK)
        return st;
    head->document.allocator = tli_mem_allocator(&options->allocator);
    head->document.store = tli_mem_store_new(&options->allocator, limits.decoded_bytes, bytes, size, *release,
                                             options->release_context, err);
    if (head->document.store == NULL)
        return err->status;
    *release = NULL; /* the store has it from here */
    head->version = header.version;
    head->codec = header.codec;
    return tli_head_body(head, kind, bytes, size, header.size, options, err);
}

TL_API tl_status tl_head_decode(tl_head *head, const void *bytes, size_t size, const tl_head_options *options,
                                tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    tl_release release = o.release;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (head == NULL || (bytes == NULL && size != 0)) {
        st = tli_err(err, TL_MISUSE, "tl_head_decode: no head or no bytes", TL_NO_POSITION);
    } else {
        TLI_FILL(head, 0, sizeof *head);
        st = tli_head_decode(head, bytes, size, &o, &release, err);
        if (st != TL_OK)
            tl_head_free(head);
    }
    if (release != NULL)
        release(o.release_context, bytes, size);
    return st;
}

TL_API void tl_head_free(tl_head *head)
{
    if (head == NULL)
        return;
    if (head->foreign != NULL && head->document.store != NULL && head->foreign->release_arrays != NULL)
        head->foreign->release_arrays(head->foreign->context, &head->document);
    tl_document_free(&head->document);
    TLI_FILL(head, 0, sizeof *head);
}

/* ---- how much memory ---- */

/* An allocator that keeps the books of a tl_block which is never too small, on memory of another allocator. */
typedef struct tli_head_meter {
    tl_allocator inner;
    uint64_t used, peak;
    const void *last; /* the newest piece, NULL when there is none that could be given back, and where it starts */
    uint64_t last_at;
} tli_head_meter;

TLI_FN void tli_head_meter_push(tli_head_meter *m, const void *piece, size_t size)
{
    m->last = piece;
    m->last_at = m->used;
    m->used += tli_bits_round_up(size, TLI_MEM_ALIGN);
    m->peak = TLI_MAX(m->peak, m->used);
}

TLI_FN void *tli_head_meter_allocate(void *context, size_t size)
{
    tli_head_meter *m = (tli_head_meter *)context;
    void *piece = tli_mem_new(&m->inner, size);
    if (piece != NULL)
        tli_head_meter_push(m, piece, size);
    return piece;
}

TLI_FN void *tli_head_meter_resize(void *context, void *memory, size_t old_size, size_t size)
{
    tli_head_meter *m = (tli_head_meter *)context;
    int last = m->last == memory;
    void *piece = tli_mem_resize(&m->inner, memory, old_size, size);
    if (piece == NULL)
        return NULL;
    if (last)
        m->used = m->last_at;
    if (last || size > old_size)
        tli_head_meter_push(m, piece, size);
    return piece;
}

TLI_FN void tli_head_meter_free(void *context, void *memory, size_t size)
{
    tli_head_meter *m = (tli_head_meter *)context;
    if (m->last == memory) {
        m->used = m->last_at;
        m->last = NULL;
    }
    tli_mem_delete(&m->inner, memory, size);
}

#define TLI_HEAD_VIEW_BATCH 512u /* bytes of a typed view for each batch, and once: the room view checks both */
#define TLI_HEAD_VIEW_FIXED 512u

/* What opening everything takes once the frame is decoded: the columns of arrow sections by their index, those of other
   codecs by opening them (on the meter's books), and the views' tables. */
TLI_FN uint64_t tli_head_open_memory(tl_head *head)
{
    static const char *const views[3] = {"columns", "files", "footers"};
    uint64_t need = 0;
    int32_t i;
    if (!tl_span_equal(head->codec, tl_text("arrow")))
        for (i = 0; i < head->document.section_count; i++)
            (void)tl_section_open(&head->document.sections[i], NULL); /* may fail: then it takes no more than that */
#ifndef TIMELAKE_NO_HEAD_ARROW
    need = tli_headarrow_memory(&head->document);
#endif
    for (i = 0; i < 3; i++) {
        const tl_section *section = tl_document_section(&head->document, tl_text(views[i]));
        uint64_t batches = section != NULL ? (uint64_t)(uint32_t)section->batch_count : 0;
        if (section != NULL && !tli_bits_add(need, TLI_HEAD_VIEW_FIXED + batches * TLI_HEAD_VIEW_BATCH, &need))
            return UINT64_MAX;
    }
    if (!tli_bits_add(need, TLI_MEM_CHUNK, &need)) /* small pieces may begin one chunk more */
        return UINT64_MAX;
    return need;
}

TL_API tl_status tl_head_memory(const void *bytes, size_t size, const tl_head_options *options, size_t *need,
                                tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    tli_head_meter meter;
    tli_mem_block block;
    int is_block = o.allocator.allocate == tli_mem_block_allocate;
    tl_error local;
    tl_head head;
    tl_status st;
    uint64_t total;
    err = err != NULL ? err : &local;
    if (need == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_memory: nowhere to put the answer", TL_NO_POSITION);
    *need = 0;
    TLI_FILL(&meter, 0, sizeof meter);
    meter.inner = tli_mem_allocator(&o.allocator);
    if (is_block)
        TLI_COPY(&block, o.allocator.context, sizeof block);
    TLI_FILL(&o.allocator, 0, sizeof o.allocator);
    o.allocator.context = &meter;
    o.allocator.allocate = tli_head_meter_allocate;
    o.allocator.resize = tli_head_meter_resize;
    o.allocator.deallocate = tli_head_meter_free;
    o.release = NULL;
    st = tl_head_decode(&head, bytes, size, &o, err);
    total = st == TL_OK ? tli_head_open_memory(&head) : 0;
    if (st == TL_OK && head.foreign != NULL)
        st = tli_err(err, TL_UNSUPPORTED, "the memory of a caller's codec is not known", TLI_HEAD_FIXED);
    if (st == TL_OK
        && (!tli_bits_add(total, meter.peak + sizeof(tli_mem_block) + (uint64_t)3 * TLI_MEM_ALIGN, &total)
            || !tli_bits_size(total, need)))
        st = tli_err_need(err, TL_LIMIT, "this head does not fit into memory", TL_NO_POSITION, total);
    tl_head_free(&head);
    if (is_block) /* a stack gives only its last piece back: put it back as it was */
        TLI_COPY(meter.inner.context, &block, sizeof block);
    return st;
}

/* ---- encoding ---- */

TLI_FN tl_status tli_head_encode_body(tl_buffer *out, tli_head_kind kind, const tl_head_codec *foreign,
                                      tl_document *document, const tl_head_options *options, tl_error *err)
{
    tl_status st = TL_OK;
    int32_t i;
    (void)options;
    switch (kind) {
#ifndef TIMELAKE_NO_HEAD_ARROW
    case TLI_HEAD_ARROW:
        return tli_headarrow_encode(out, document, &options->compression, err);
#endif
#ifndef TIMELAKE_NO_HEAD_JSON
    case TLI_HEAD_JSON:
        return tli_headjson_encode(out, document, err);
#endif
    case TLI_HEAD_FOREIGN:
        if (foreign->encode == NULL)
            break;
        for (i = 0; st == TL_OK && i < document->section_count; i++)
            st = tl_section_open(&document->sections[i], err);
        return st == TL_OK ? foreign->encode(foreign->context, out, document, err) : st;
    default:
        break;
    }
    return tli_err(err, TL_UNSUPPORTED, "this codec cannot encode", TL_NO_POSITION);
}

TL_API tl_status tl_head_encode(tl_buffer *out, uint64_t version, tl_span codec, tl_document *document,
                                const tl_head_options *options, tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    const tl_head_codec *foreign;
    tli_head_kind kind;
    uint8_t fixed[TLI_HEAD_FIXED] = {'T', 'L', 'H', 'D', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    tl_error local;
    tl_status st;
    size_t before;
    err = err != NULL ? err : &local;
    if (out == NULL || document == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_encode: no output or no document", TL_NO_POSITION);
    if (codec.data == NULL || codec.size == 0 || codec.size > 255
        || tli_text_utf8(codec.data, codec.size) != codec.size)
        return tli_err(err, TL_MISUSE, "a codec's name has 1 to 255 bytes of UTF-8", TL_NO_POSITION);
    st = tli_head_find(&o, codec, &kind, &foreign, TL_NO_POSITION, err);
    if (st != TL_OK)
        return st;
    before = out->size;
    tli_bits_put_le64(fixed + 5, version);
    fixed[13] = (uint8_t)codec.size;
    st = tli_mem_append(out, fixed, sizeof fixed, err);
    if (st == TL_OK)
        st = tli_mem_append(out, codec.data, codec.size, err);
    if (st == TL_OK)
        st = tli_head_encode_body(out, kind, foreign, document, &o, err);
    if (st != TL_OK)
        out->size = before;
    return st;
}

/* >>view: tables of where the values of each batch and column lie, and the writer of layout 1. */
#define TLI_VIEW_REQUIRED 1u /* no null in it */
#define TLI_VIEW_OLD 2u      /* older writers leave the column out */
#define TLI_VIEW_NO_HAS ((size_t)-1)

/* A column of layout 1: its Arrow format (utf8 `u`, binary `z`, list `+l` of int64, integers), the group of columns
   that opens with it, and where the C structs have its value and its `has_` byte. */
typedef struct tli_view_field {
    const char *name;
    const char *format;
    unsigned flags;
    unsigned group;
    size_t value;
    size_t has;
} tli_view_field;

typedef struct tli_view_layout {
    const char *section;
    const tli_view_field *fields;
    int32_t count;
    int32_t slot; /* in head->views */
} tli_view_layout;

#define TLI_VIEW_NEVER_NULL(s, name, format) { #name, format, TLI_VIEW_REQUIRED, 0, offsetof(s, name), TLI_VIEW_NO_HAS }
#define TLI_VIEW_HAS(s, name, format, flags, group)                                                                    \
    { #name, format, flags, group, offsetof(s, name), offsetof(s, has_##name) }

enum {
    TLI_VIEW_FILE_PATH, TLI_VIEW_FILE_SIZE, TLI_VIEW_FILE_RECORDS, TLI_VIEW_FILE_PARTITION, TLI_VIEW_FILE_SORT,
    TLI_VIEW_FILE_SPLITS, TLI_VIEW_FILE_ADDED, TLI_VIEW_FILE_SNAPSHOT, TLI_VIEW_FILE_SEQUENCE,
    TLI_VIEW_FILE_FILE_SEQUENCE, TLI_VIEW_FILE_FIELDS
};

static const tli_view_field tli_view_file_fields[TLI_VIEW_FILE_FIELDS] = {
    TLI_VIEW_NEVER_NULL(tl_file, path, "u"),
    TLI_VIEW_NEVER_NULL(tl_file, size, "L"),
    TLI_VIEW_NEVER_NULL(tl_file, records, "L"),
    TLI_VIEW_HAS(tl_file, partition, "i", 0, 0),
    TLI_VIEW_HAS(tl_file, sort_order_id, "i", 0, 0),
    TLI_VIEW_HAS(tl_file, split_offsets, "+l", TLI_VIEW_OLD, 0),
    TLI_VIEW_NEVER_NULL(tl_file, added, "C"),
    TLI_VIEW_NEVER_NULL(tl_file, snapshot_id, "l"),
    TLI_VIEW_NEVER_NULL(tl_file, sequence_number, "l"),
    TLI_VIEW_NEVER_NULL(tl_file, file_sequence_number, "l"),
};

enum {
    TLI_VIEW_COLUMN_FILE, TLI_VIEW_COLUMN_FIELD, TLI_VIEW_COLUMN_LOWER, TLI_VIEW_COLUMN_UPPER, TLI_VIEW_COLUMN_VALUES,
    TLI_VIEW_COLUMN_NULLS, TLI_VIEW_COLUMN_NANS, TLI_VIEW_COLUMN_SIZE, TLI_VIEW_COLUMN_FIELDS
};

static const tli_view_field tli_view_column_fields[TLI_VIEW_COLUMN_FIELDS] = {
    TLI_VIEW_NEVER_NULL(tl_column, file, "I"),
    TLI_VIEW_NEVER_NULL(tl_column, field_id, "i"),
    { "lower", "z", 0, TL_COLUMNS_BOUNDS, offsetof(tl_column, lower), TLI_VIEW_NO_HAS },
    { "upper", "z", 0, TL_COLUMNS_BOUNDS, offsetof(tl_column, upper), TLI_VIEW_NO_HAS },
    TLI_VIEW_HAS(tl_column, values, "L", 0, TL_COLUMNS_COUNTS),
    TLI_VIEW_HAS(tl_column, nulls, "L", 0, TL_COLUMNS_COUNTS),
    TLI_VIEW_HAS(tl_column, nans, "L", 0, TL_COLUMNS_COUNTS),
    TLI_VIEW_HAS(tl_column, size, "L", 0, TL_COLUMNS_COUNTS),
};

enum { TLI_VIEW_FOOTER_PATH, TLI_VIEW_FOOTER_FOOTER, TLI_VIEW_FOOTER_FIELDS };

static const tli_view_field tli_view_footer_fields[TLI_VIEW_FOOTER_FIELDS] = {
    TLI_VIEW_NEVER_NULL(tl_footer, path, "u"),
    TLI_VIEW_NEVER_NULL(tl_footer, footer, "z"),
};

typedef struct tli_view_text {
    tl_span json;
} tli_view_text;

static const tli_view_field tli_view_metadata_fields[1] = { TLI_VIEW_NEVER_NULL(tli_view_text, json, "u") };

static const tli_view_layout tli_view_files = { "files", tli_view_file_fields, TLI_VIEW_FILE_FIELDS, 0 };
static const tli_view_layout tli_view_columns = { "columns", tli_view_column_fields, TLI_VIEW_COLUMN_FIELDS, 1 };
static const tli_view_layout tli_view_footers = { "footers", tli_view_footer_fields, TLI_VIEW_FOOTER_FIELDS, 2 };
static const tli_view_layout tli_view_metadata = { "metadata", tli_view_metadata_fields, 1, -1 };

/* Where the values of one column of one batch lie. `values` NULL: all null. */
typedef struct tli_view_cells {
    const uint8_t *validity; /* NULL: none is null */
    const uint8_t *values;   /* from the batch's first row; of texts and lists their int32 offsets */
    const uint8_t *data;     /* of texts and lists */
    uint64_t bit;            /* of the batch's first row in validity */
} tli_view_cells;

struct tli_view {
    tl_section *section;
    unsigned opened;        /* groups of columns that are open, and TLI_VIEW_OPEN */
    uint64_t *starts;       /* the first row of each batch, and the end of the last */
    tli_view_cells *cells;  /* layout->count for each batch */
    int64_t columns[TLI_VIEW_FILE_FIELDS]; /* of each field in the section, -1: not there */
};

#define TLI_VIEW_OPEN 0x80000000u    /* the group 0 */
#define TLI_VIEW_CHECKED 0x40000000u /* every `file` is a row of `files` */

/* tl_head_memory reckons with these. */
typedef char tli_view_assert_batch[TLI_VIEW_FILE_FIELDS * sizeof(tli_view_cells) + 8 <= TLI_HEAD_VIEW_BATCH ? 1 : -1];
typedef char tli_view_assert_fixed[sizeof(struct tli_view) + 8 + 3 * 64 <= TLI_HEAD_VIEW_FIXED ? 1 : -1];

/* ---- opening ---- */

TLI_FN tl_status tli_view_section(tl_head *head, const char *name, int required, tl_section **section, tl_error *err)
{
    tl_span layout;
    *section = NULL;
    if (head == NULL)
        return tli_err(err, TL_MISUSE, "no head", TL_NO_POSITION);
    layout = tl_document_property(&head->document, tl_text("layout"));
    if (layout.data == NULL || !tl_span_equal(layout, tl_text("1")))
        return tli_err(err, TL_LAYOUT, "the head's layout is not 1", TL_NO_POSITION);
    *section = tl_document_section(&head->document, tl_text(name));
    if (*section != NULL)
        return TL_OK;
    return required ? tli_err(err, TL_CORRUPT, "the head lacks a section of its layout", TL_NO_POSITION)
                    : tli_err(err, TL_ABSENT, "the head does not have this section", TL_NO_POSITION);
}

/* A section that is not as it must be: that is no news when it has types that we cannot read at all. */
TLI_FN tl_status tli_view_wrong(const tl_section *section, const char *text, tl_error *err)
{
    int64_t i;
    for (i = 0; i < section->schema->n_children; i++) {
        tl_type type;
        if (tl_type_of(section->schema->children[i], &type, NULL) != TL_OK)
            return tli_err(err, TL_UNSUPPORTED, "a section of types that are not supported", TL_NO_POSITION);
    }
    return tli_err(err, TL_CORRUPT, text, TL_NO_POSITION);
}

TLI_FN int tli_view_same_format(const char *a, const char *b)
{
    return a != NULL && tl_span_equal(tl_text(a), tl_text(b));
}

TLI_FN int tli_view_has_type(const struct ArrowSchema *node, const char *format)
{
    if (node->dictionary != NULL || !tli_view_same_format(node->format, format))
        return 0;
    if (format[0] != '+')
        return 1;
    return node->n_children == 1 && node->children[0]->dictionary == NULL
        && tli_view_same_format(node->children[0]->format, "l");
}

/* Finds the columns of a layout in a section. */
TLI_FN tl_status tli_view_match(const tli_view_layout *layout, const tl_section *section, int64_t *columns,
                                tl_error *err)
{
    int32_t i;
    for (i = 0; i < layout->count; i++) {
        const tli_view_field *field = &layout->fields[i];
        columns[i] = tl_schema_find(section->schema, tl_text(field->name));
        if (columns[i] < 0) {
            if (field->flags & TLI_VIEW_OLD)
                continue;
            return tli_view_wrong(section, "a section lacks a column of its layout", err);
        }
        if (!tli_view_has_type(section->schema->children[columns[i]], field->format))
            return tli_view_wrong(section, "a column of a section is of another type than its layout says", err);
    }
    return TL_OK;
}

TLI_FN int tli_view_has_null(const uint8_t *validity, uint64_t bit, uint64_t count)
{
    uint64_t end = bit + count;
    for (; bit < end && (bit & 7) != 0; bit++)
        if (!tli_bits_get(validity, bit))
            return 1;
    for (; end - bit >= 8; bit += 8)
        if (validity[bit >> 3] != 0xff)
            return 1;
    for (; bit < end; bit++)
        if (!tli_bits_get(validity, bit))
            return 1;
    return 0;
}

/* Bytes of a value, of texts and lists those of an offset. */
TLI_INLINE size_t tli_view_width(const char *format)
{
    switch (format[0]) {
    case 'L':
    case 'l':
        return 8;
    case 'C':
        return 1;
    default:
        return 4;
    }
}

/* Opens a column and says where its values lie. */
TLI_FN tl_status tli_view_cells_of(const tli_view_field *field, tl_section *section, int32_t batch, int64_t column,
                                   tli_view_cells *cells, tl_error *err)
{
    const struct ArrowArray *array;
    uint64_t rows = (uint64_t)section->batches[batch].rows, offset;
    tl_status st = tl_section_column(section, batch, (int32_t)column, &array, err);
    if (st != TL_OK)
        return st;
    if ((uint64_t)array->length != rows)
        return tli_err(err, TL_CORRUPT, "a column has another length than its batch", TL_NO_POSITION);
    if (rows == 0)
        return TL_OK; /* no buffer need be there */
    offset = (uint64_t)array->offset;
    cells->bit = offset;
    cells->validity = array->null_count != 0 ? (const uint8_t *)array->buffers[0] : NULL;
    if (cells->validity != NULL && (field->flags & TLI_VIEW_REQUIRED)
        && tli_view_has_null(cells->validity, offset, rows))
        return tli_err(err, TL_CORRUPT, "a null in a column that has none", TL_NO_POSITION);
    cells->values = (const uint8_t *)array->buffers[1] + offset * tli_view_width(field->format);
    if (field->format[0] == 'u' || field->format[0] == 'z')
        cells->data = (const uint8_t *)array->buffers[2];
    if (field->format[0] == '+' && array->children[0]->buffers[1] != NULL)
        cells->data = (const uint8_t *)array->children[0]->buffers[1] + 8 * (uint64_t)array->children[0]->offset;
    if (cells->data == NULL)
        cells->data = (const uint8_t *)""; /* only empty values */
    return TL_OK;
}

TLI_FN tl_status tli_view_new(tl_head *head, const tli_view_layout *layout, tl_section *section, struct tli_view **out,
                              tl_error *err)
{
    uint64_t batches = (uint64_t)(uint32_t)section->batch_count;
    struct tli_view *v;
    int32_t i;
    if (section->rows < 0 || (uint64_t)section->rows > SIZE_MAX)
        return tli_err(err, TL_LIMIT, "more rows than this machine can count", TL_NO_POSITION);
    v = (struct tli_view *)tli_mem_take_zero(head->document.store, sizeof *v, err);
    if (v == NULL)
        return err->status;
    v->section = section;
    v->starts = (uint64_t *)tli_mem_take_array(head->document.store, batches + 1, sizeof *v->starts, err);
    v->cells = (tli_view_cells *)tli_mem_take_array(head->document.store, batches * (uint32_t)layout->count,
                                                   sizeof *v->cells, err);
    if (v->starts == NULL || v->cells == NULL)
        return err->status;
    for (i = 0; i < section->batch_count; i++)
        v->starts[i + 1] = v->starts[i] + (uint64_t)section->batches[i].rows;
    *out = v;
    return TL_OK;
}

TLI_FN int tli_view_in(const tli_view_field *field, unsigned groups)
{
    return ((field->group == 0 ? TLI_VIEW_OPEN : field->group) & groups) != 0;
}

/* Opens the columns of these groups in one batch. */
TLI_FN tl_status tli_view_batch(struct tli_view *v, const tli_view_layout *layout, unsigned groups, int32_t batch,
                                tl_error *err)
{
    tl_status st = TL_OK;
    int32_t i;
    for (i = 0; st == TL_OK && i < layout->count; i++)
        if (v->columns[i] >= 0 && tli_view_in(&layout->fields[i], groups))
            st = tli_view_cells_of(&layout->fields[i], v->section, batch, v->columns[i],
                                   &v->cells[(size_t)batch * (size_t)layout->count + (size_t)i], err);
    return st;
}

TLI_FN void tli_view_close(struct tli_view *v, const tli_view_layout *layout, unsigned groups, int32_t batch)
{
    int32_t i;
    for (i = 0; i < layout->count; i++)
        if (tli_view_in(&layout->fields[i], groups))
            TLI_FILL(&v->cells[(size_t)batch * (size_t)layout->count + (size_t)i], 0, sizeof *v->cells);
}

/* The view of a section with the columns of group 0 and those of `groups` open. */
TLI_FN tl_status tli_view_open(tl_head *head, const tli_view_layout *layout, int required, unsigned groups,
                               struct tli_view **out, tl_error *err)
{
    tl_section *section;
    struct tli_view *v;
    int32_t b;
    tl_status st = tli_view_section(head, layout->section, required, &section, err);
    if (st != TL_OK)
        return st;
    v = head->views[layout->slot];
    if (v == NULL) {
        int64_t columns[TLI_VIEW_FILE_FIELDS];
        st = tli_view_match(layout, section, columns, err);
        if (st == TL_OK)
            st = tli_view_new(head, layout, section, &v, err);
        if (st != TL_OK)
            return st;
        TLI_COPY(v->columns, columns, sizeof columns);
        head->views[layout->slot] = v;
    }
    groups = (groups | TLI_VIEW_OPEN) & ~v->opened;
    for (b = 0; groups != 0 && st == TL_OK && b < section->batch_count; b++)
        st = tli_view_batch(v, layout, groups, b, err);
    if (st == TL_OK)
        v->opened |= groups;
    for (b--; st != TL_OK && b >= 0; b--) /* all of a group or nothing */
        tli_view_close(v, layout, groups, b);
    *out = v;
    return st;
}

/* ---- reading ---- */

/* The cells of the batch that has the row, and the row in it. The row is there. */
TLI_INLINE const tli_view_cells *tli_view_find(const struct tli_view *v, int32_t fields, size_t row, uint64_t *in_batch)
{
    int32_t low = 0, high = v->section->batch_count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (v->starts[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    *in_batch = row - v->starts[low];
    return v->cells + (size_t)low * (size_t)fields;
}

TLI_INLINE int tli_view_valid(const tli_view_cells *c, uint64_t row)
{
    return c->values != NULL && (c->validity == NULL || tli_bits_get(c->validity, c->bit + row));
}

TLI_INLINE uint64_t tli_view_u64(const tli_view_cells *c, uint64_t row, uint8_t *has)
{
    *has = (uint8_t)tli_view_valid(c, row);
    return *has ? tli_bits_u64(c->values + 8 * row) : 0;
}

TLI_INLINE int64_t tli_view_i64(const tli_view_cells *c, uint64_t row)
{
    return (int64_t)tli_bits_u64(c->values + 8 * row);
}

TLI_INLINE int32_t tli_view_i32(const tli_view_cells *c, uint64_t row, uint8_t *has)
{
    *has = (uint8_t)tli_view_valid(c, row);
    return *has ? (int32_t)tli_bits_u32(c->values + 4 * row) : 0;
}

TLI_INLINE tl_span tli_view_span(const tli_view_cells *c, uint64_t row)
{
    uint32_t from, to;
    if (!tli_view_valid(c, row))
        return tli_text_span(NULL, 0);
    from = tli_bits_u32(c->values + 4 * row);
    to = tli_bits_u32(c->values + 4 * row + 4);
    return tli_text_span(c->data + from, to - from);
}

TL_API tl_status tl_head_metadata(tl_head *head, tl_span *json, tl_error *err)
{
    tl_section *section;
    tli_view_cells cells;
    int64_t column;
    int32_t b;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (json == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_metadata: nowhere to put the answer", TL_NO_POSITION);
    *json = tli_text_span(NULL, 0);
    st = tli_view_section(head, "metadata", 1, &section, err);
    if (st == TL_OK)
        st = tli_view_match(&tli_view_metadata, section, &column, err);
    if (st != TL_OK)
        return st;
    if (section->rows != 1)
        return tli_err(err, TL_CORRUPT, "the section metadata does not have one row", TL_NO_POSITION);
    for (b = 0; section->batches[b].rows == 0;)
        b++;
    TLI_FILL(&cells, 0, sizeof cells);
    st = tli_view_cells_of(&tli_view_metadata_fields[0], section, b, column, &cells, err);
    if (st == TL_OK)
        *json = tli_view_span(&cells, 0);
    return st;
}

TL_API tl_status tl_head_files(tl_head *head, tl_files *files, tl_error *err)
{
    struct tli_view *v;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (files == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_files: nowhere to put the answer", TL_NO_POSITION);
    TLI_FILL(files, 0, sizeof *files);
    st = tli_view_open(head, &tli_view_files, 1, 0, &v, err);
    if (st != TL_OK)
        return st;
    files->count = (size_t)v->section->rows;
    files->view = v;
    return TL_OK;
}

TL_API void tl_files_get(const tl_files *files, size_t row, tl_file *file)
{
    const tli_view_cells *c;
    uint64_t r;
    TLI_FILL(file, 0, sizeof *file);
    if (row >= files->count)
        return;
    c = tli_view_find(files->view, TLI_VIEW_FILE_FIELDS, row, &r);
    file->path = tli_view_span(&c[TLI_VIEW_FILE_PATH], r);
    file->size = (uint64_t)tli_view_i64(&c[TLI_VIEW_FILE_SIZE], r);
    file->records = (uint64_t)tli_view_i64(&c[TLI_VIEW_FILE_RECORDS], r);
    file->partition = tli_view_i32(&c[TLI_VIEW_FILE_PARTITION], r, &file->has_partition);
    file->sort_order_id = tli_view_i32(&c[TLI_VIEW_FILE_SORT], r, &file->has_sort_order_id);
    file->added = c[TLI_VIEW_FILE_ADDED].values[r];
    file->snapshot_id = tli_view_i64(&c[TLI_VIEW_FILE_SNAPSHOT], r);
    file->sequence_number = tli_view_i64(&c[TLI_VIEW_FILE_SEQUENCE], r);
    file->file_sequence_number = tli_view_i64(&c[TLI_VIEW_FILE_FILE_SEQUENCE], r);
    c += TLI_VIEW_FILE_SPLITS;
    if (tli_view_valid(c, r)) {
        uint32_t from = tli_bits_u32(c->values + 4 * r);
        file->has_split_offsets = 1;
        file->split_count = tli_bits_u32(c->values + 4 * r + 4) - from;
        file->split_offsets = c->data + (file->split_count != 0 ? 8 * (size_t)from : 0);
    }
}

TL_API int64_t tl_file_split_offset(const tl_file *file, size_t i)
{
    return i < file->split_count ? (int64_t)tli_bits_u64((const uint8_t *)file->split_offsets + 8 * i) : 0;
}

/* Every `file` names a row of `files`. */
TLI_FN tl_status tli_view_check_files(tl_head *head, struct tli_view *v, tl_error *err)
{
    tl_section *files;
    uint64_t row;
    int32_t b;
    tl_status st = tli_view_section(head, "files", 1, &files, err);
    for (b = 0; st == TL_OK && b < v->section->batch_count; b++) {
        const uint8_t *values = v->cells[(size_t)b * TLI_VIEW_COLUMN_FIELDS + TLI_VIEW_COLUMN_FILE].values;
        uint64_t rows = v->starts[b + 1] - v->starts[b];
        uint32_t most = 0;
        for (row = 0; row < rows; row++) {
            uint32_t file = tli_bits_u32(values + 4 * row);
            most = TLI_MAX(most, file);
        }
        if (rows != 0 && most >= (uint64_t)files->rows)
            return tli_err(err, TL_CORRUPT, "statistics of a file that is not there", TL_NO_POSITION);
    }
    if (st == TL_OK)
        v->opened |= TLI_VIEW_CHECKED;
    return st;
}

TL_API tl_status tl_head_columns(tl_head *head, unsigned which, tl_columns *columns, tl_error *err)
{
    struct tli_view *v;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (columns == NULL || (which & ~TL_COLUMNS_ALL) != 0)
        return tli_err(err, TL_MISUSE, "tl_head_columns: nowhere to put the answer, or unknown bits", TL_NO_POSITION);
    TLI_FILL(columns, 0, sizeof *columns);
    st = tli_view_open(head, &tli_view_columns, 1, which, &v, err);
    if (st == TL_OK && !(v->opened & TLI_VIEW_CHECKED))
        st = tli_view_check_files(head, v, err);
    if (st != TL_OK)
        return st;
    columns->count = (size_t)v->section->rows;
    columns->view = v;
    return TL_OK;
}

TL_API void tl_columns_get(const tl_columns *columns, size_t row, tl_column *column)
{
    const tli_view_cells *c;
    uint64_t r;
    TLI_FILL(column, 0, sizeof *column);
    if (row >= columns->count)
        return;
    c = tli_view_find(columns->view, TLI_VIEW_COLUMN_FIELDS, row, &r);
    column->file = tli_bits_u32(c[TLI_VIEW_COLUMN_FILE].values + 4 * r);
    column->field_id = (int32_t)tli_bits_u32(c[TLI_VIEW_COLUMN_FIELD].values + 4 * r);
    column->lower = tli_view_span(&c[TLI_VIEW_COLUMN_LOWER], r);
    column->upper = tli_view_span(&c[TLI_VIEW_COLUMN_UPPER], r);
    column->values = tli_view_u64(&c[TLI_VIEW_COLUMN_VALUES], r, &column->has_values);
    column->nulls = tli_view_u64(&c[TLI_VIEW_COLUMN_NULLS], r, &column->has_nulls);
    column->nans = tli_view_u64(&c[TLI_VIEW_COLUMN_NANS], r, &column->has_nans);
    column->size = tli_view_u64(&c[TLI_VIEW_COLUMN_SIZE], r, &column->has_size);
}

TL_API tl_status tl_head_footers(tl_head *head, tl_footers *footers, tl_error *err)
{
    struct tli_view *v;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (footers == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_footers: nowhere to put the answer", TL_NO_POSITION);
    TLI_FILL(footers, 0, sizeof *footers);
    st = tli_view_open(head, &tli_view_footers, 0, 0, &v, err);
    if (st != TL_OK)
        return st;
    footers->count = (size_t)v->section->rows;
    footers->view = v;
    return TL_OK;
}

TL_API void tl_footers_get(const tl_footers *footers, size_t row, tl_footer *footer)
{
    const tli_view_cells *c;
    uint64_t r;
    TLI_FILL(footer, 0, sizeof *footer);
    if (row >= footers->count)
        return;
    c = tli_view_find(footers->view, TLI_VIEW_FOOTER_FIELDS, row, &r);
    footer->path = tli_view_span(&c[TLI_VIEW_FOOTER_PATH], r);
    footer->footer = tli_view_span(&c[TLI_VIEW_FOOTER_FOOTER], r);
}

TL_API tl_status tl_head_last_values(tl_head *head, tl_section **section, tl_error *err)
{
    if (section == NULL)
        return tli_err(err, TL_MISUSE, "tl_head_last_values: nowhere to put the answer", TL_NO_POSITION);
    return tli_view_section(head, "last_values", 0, section, err);
}

/* ---- building sections ---- */

/* Items of one C struct, taken in `order` (NULL: as they lie). */
typedef struct tli_view_items {
    const void *items;
    size_t stride;
    size_t count;
    const size_t *order;
} tli_view_items;

TLI_INLINE const uint8_t *tli_view_item(const tli_view_items *in, size_t i)
{
    return (const uint8_t *)in->items + in->stride * (in->order != NULL ? in->order[i] : i);
}

/* Room for a validity bitmap, where there can be nulls. */
TLI_FN tl_status tli_view_put_begin(tli_store *store, const tli_view_items *in, uint8_t **bits, tl_error *err)
{
    *bits = (uint8_t *)tli_mem_take_zero(store, in->count / 8 + 1, err);
    return *bits != NULL ? TL_OK : err->status;
}

/* Notes the nulls: no bitmap when there are none. */
TLI_FN tl_status tli_view_put_end(const tli_view_field *field, const uint8_t *bits, size_t nulls,
                                  struct ArrowArray *array, tl_error *err)
{
    array->null_count = (int64_t)nulls;
    if (nulls == 0)
        return TL_OK;
    if (field->flags & TLI_VIEW_REQUIRED)
        return tli_err(err, TL_MISUSE, "an absent text where the layout has no null", TL_NO_POSITION);
    array->buffers[0] = bits;
    return TL_OK;
}

TLI_FN tl_status tli_view_put_fixed(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                    struct ArrowArray *array, tl_error *err)
{
    size_t i, nulls = 0, width = tli_view_width(field->format);
    uint8_t *bits = NULL, *values = (uint8_t *)tli_mem_take(store, in->count * width, err); /* less than the items */
    tl_status st = values != NULL ? tli_view_put_begin(store, in, &bits, err) : err->status;
    if (st != TL_OK)
        return st;
    array->buffers[1] = values;
    for (i = 0; i < in->count; i++) {
        const uint8_t *item = tli_view_item(in, i);
        unsigned there = field->has == TLI_VIEW_NO_HAS || item[field->has] != 0;
        bits[i >> 3] = (uint8_t)(bits[i >> 3] | there << (i & 7));
        nulls += !there;
        if (width == 8)
            tli_bits_put64(values + 8 * i, there ? tli_bits_u64(item + field->value) : 0);
        else if (width == 4)
            tli_bits_put32(values + 4 * i, there ? tli_bits_u32(item + field->value) : 0);
        else
            values[i] = item[field->value];
    }
    return tli_view_put_end(field, bits, nulls, array, err);
}

/* The sum of sizes, as far as int32 offsets reach. */
TLI_FN tl_status tli_view_sum(uint64_t *sum, size_t more, tl_error *err)
{
    if (more > INT32_MAX || *sum + more > INT32_MAX)
        return tli_err_need(err, TL_LIMIT, "a column of a head holds at most 2 GiB", TL_NO_POSITION, *sum + more);
    *sum += more;
    return TL_OK;
}

TLI_FN int tli_view_all_utf8(const uint8_t *data, const uint8_t *offsets, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        size_t from = tli_bits_u32(offsets + 4 * i), size = tli_bits_u32(offsets + 4 * i + 4) - from;
        if (tli_text_utf8(data + from, size) != size)
            return 0;
    }
    return 1;
}

TLI_FN tl_status tli_view_put_texts(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                    struct ArrowArray *array, tl_error *err)
{
    uint64_t sum = 0;
    uint8_t *bits = NULL, *data, *offsets = (uint8_t *)tli_mem_take_array(store, (uint64_t)in->count + 1, 4, err);
    size_t i, nulls = 0;
    tl_span text;
    tl_status st = offsets != NULL ? tli_view_put_begin(store, in, &bits, err) : err->status;
    for (i = 0; st == TL_OK && i < in->count; i++) {
        TLI_COPY(&text, tli_view_item(in, i) + field->value, sizeof text);
        if (text.data != NULL) {
            st = tli_view_sum(&sum, text.size, err);
            tli_bits_set(bits, i);
        } else {
            nulls++;
        }
        tli_bits_put32(offsets + 4 * (i + 1), (uint32_t)sum);
    }
    data = st == TL_OK ? (uint8_t *)tli_mem_take(store, (size_t)sum, err) : NULL;
    if (data == NULL)
        return st == TL_OK ? err->status : st;
    array->buffers[1] = offsets;
    array->buffers[2] = data;
    for (i = 0; i < in->count; i++) {
        TLI_COPY(&text, tli_view_item(in, i) + field->value, sizeof text);
        if (text.data != NULL && text.size != 0)
            TLI_COPY(data + tli_bits_u32(offsets + 4 * i), text.data, text.size);
    }
    if (field->format[0] == 'u' && !tli_view_all_utf8(data, offsets, in->count))
        return tli_err(err, TL_MISUSE, "a text of a head is not UTF-8", TL_NO_POSITION);
    return tli_view_put_end(field, bits, nulls, array, err);
}

/* The only lists of the layout: split offsets. */
TLI_FN tl_status tli_view_put_lists(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                    struct ArrowArray *array, tl_error *err)
{
    struct ArrowArray *child = tli_arrow_array_new(store, 2, 0, err);
    uint8_t *bits = NULL, *data, *offsets = (uint8_t *)tli_mem_take_array(store, (uint64_t)in->count + 1, 4, err);
    size_t i, at = 0, nulls = 0;
    uint64_t sum = 0;
    tl_status st = child != NULL && offsets != NULL ? tli_view_put_begin(store, in, &bits, err) : err->status;
    for (i = 0; st == TL_OK && i < in->count; i++) {
        const tl_file *file = (const tl_file *)(const void *)tli_view_item(in, i);
        if (file->has_split_offsets) {
            st = tli_view_sum(&sum, file->split_count, err);
            tli_bits_set(bits, i);
        } else {
            nulls++;
        }
        tli_bits_put32(offsets + 4 * (i + 1), (uint32_t)sum);
    }
    data = st == TL_OK ? (uint8_t *)tli_mem_take_array(store, sum, 8, err) : NULL;
    if (data == NULL)
        return st == TL_OK ? err->status : st;
    for (i = 0; i < in->count; i++) {
        const tl_file *file = (const tl_file *)(const void *)tli_view_item(in, i);
        if (!file->has_split_offsets || file->split_count == 0)
            continue;
        TLI_COPY(data + 8 * at, file->split_offsets, 8 * file->split_count);
        at += file->split_count;
    }
    array->children[0] = child;
    array->buffers[1] = offsets;
    child->length = (int64_t)sum;
    child->buffers[1] = data;
    return tli_view_put_end(field, bits, nulls, array, err);
}

TLI_FN const struct ArrowArray *tli_view_put(tli_store *store, const tli_view_field *field, const tli_view_items *in,
                                             tl_error *err)
{
    int text = field->format[0] == 'u' || field->format[0] == 'z', list = field->format[0] == '+';
    struct ArrowArray *array = tli_arrow_array_new(store, text ? 3 : 2, list, err);
    tl_status st;
    if (array == NULL)
        return NULL;
    array->length = (int64_t)in->count;
    if (text)
        st = tli_view_put_texts(store, field, in, array, err);
    else
        st = list ? tli_view_put_lists(store, field, in, array, err) : tli_view_put_fixed(store, field, in, array, err);
    return st == TL_OK ? array : NULL;
}

/* A section ready to be put into a document. */
typedef struct tli_view_piece {
    const tli_view_layout *layout;
    struct ArrowSchema *schema;
    const struct ArrowArray **columns;
    int64_t rows;
} tli_view_piece;

TLI_FN struct ArrowSchema *tli_view_schema(tli_store *store, const tli_view_layout *layout, tl_error *err)
{
    struct ArrowSchema *schema = tli_arrow_schema_new(store, "+s", tl_text(""), 0, layout->count, err);
    int32_t i;
    for (i = 0; schema != NULL && i < layout->count; i++) {
        const tli_view_field *field = &layout->fields[i];
        int64_t flags = field->flags & TLI_VIEW_REQUIRED ? 0 : ARROW_FLAG_NULLABLE;
        int list = field->format[0] == '+';
        struct ArrowSchema *node = tli_arrow_schema_new(store, field->format, tl_text(field->name), flags, list, err);
        if (node == NULL)
            return NULL;
        schema->children[i] = node;
        if (!list)
            continue;
        node->children[0] = tli_arrow_schema_new(store, "l", tl_text("item"), ARROW_FLAG_NULLABLE, 0, err);
        if (node->children[0] == NULL)
            return NULL;
    }
    return schema;
}

TLI_FN tl_status tli_view_build(tli_store *store, const tli_view_layout *layout, const tli_view_items *in,
                                tli_view_piece *piece, tl_error *err)
{
    int32_t i;
    piece->layout = layout;
    piece->rows = (int64_t)in->count;
    piece->schema = tli_view_schema(store, layout, err);
    piece->columns = (const struct ArrowArray **)tli_mem_take_array(store, (uint32_t)layout->count,
                                                                    sizeof *piece->columns, err);
    if (piece->schema == NULL || piece->columns == NULL)
        return err->status;
    for (i = 0; i < layout->count; i++) {
        piece->columns[i] = tli_view_put(store, &layout->fields[i], in, err);
        if (piece->columns[i] == NULL)
            return err->status;
    }
    return TL_OK;
}

/* ---- order ---- */

/* Whether item b belongs before item a. */
typedef int (*tli_view_before)(const void *items, size_t a, size_t b);

/* Sorts indices, stable: merges of runs that double. `scratch` is as long as `order`; the result is in either. */
TLI_FN size_t *tli_view_sort(size_t *order, size_t *scratch, size_t count, const void *items, tli_view_before before)
{
    size_t run, i, *swap;
    for (run = 1; run < count; run *= 2) {
        for (i = 0; i < count;) {
            size_t a = i, b = TLI_MIN(i + run, count), a_end = b, b_end = TLI_MIN(b + run, count);
            for (; i < b_end; i++)
                scratch[i] = a < a_end && (b >= b_end || !before(items, order[a], order[b])) ? order[a++] : order[b++];
        }
        swap = order;
        order = scratch;
        scratch = swap;
        if (run > count / 2)
            break;
    }
    return order;
}

/* The order of items, or NULL in *out when they are in order already. */
TLI_FN tl_status tli_view_order(tli_store *store, size_t count, const void *items, tli_view_before before,
                                const size_t **out, tl_error *err)
{
    size_t i, *order;
    *out = NULL;
    for (i = 1; i < count && !before(items, i - 1, i);)
        i++;
    if (i >= count)
        return TL_OK;
    order = (size_t *)tli_mem_take_array(store, (uint64_t)count * 2, sizeof *order, err);
    if (order == NULL)
        return err->status;
    for (i = 0; i < count; i++)
        order[i] = i;
    *out = tli_view_sort(order, order + count, count, items, before);
    return TL_OK;
}

TLI_FN int tli_view_column_before(const void *items, size_t a, size_t b)
{
    const tl_column *columns = (const tl_column *)items;
    if (columns[a].file != columns[b].file)
        return columns[b].file < columns[a].file;
    return columns[b].field_id < columns[a].field_id;
}

/* A file whose footer is known. */
typedef struct tli_view_known {
    const tl_file *file;
    tl_span footer;
} tli_view_known;

/* By (partition, path) descending, no partition last. */
TLI_FN int tli_view_known_before(const void *items, size_t a, size_t b)
{
    const tl_file *x = ((const tli_view_known *)items)[a].file, *y = ((const tli_view_known *)items)[b].file;
    if (x->has_partition != y->has_partition)
        return y->has_partition != 0;
    if (x->has_partition && x->partition != y->partition)
        return y->partition > x->partition;
    return tl_span_compare(y->path, x->path) > 0;
}

/* ---- writing ---- */

enum {
    TLI_VIEW_WRITE_METADATA, TLI_VIEW_WRITE_FILES, TLI_VIEW_WRITE_COLUMNS, TLI_VIEW_WRITE_FOOTERS, TLI_VIEW_WRITE_PIECES
};
#define TLI_VIEW_WRITE_ALWAYS 7u
#define TLI_VIEW_WRITE_LAST_VALUES 16u

typedef struct tli_view_writer {
    tli_store *store;
    const tl_head_parts *parts;
    const tl_head_options *options;
    uint64_t version;
    tl_span codec;
    tl_allocator allocator;
    tli_view_piece pieces[TLI_VIEW_WRITE_PIECES];
    uint64_t budget;
    size_t footers;
} tli_view_writer;

/* Fills an empty document, which takes a count of the writer's store, with these sections. */
TLI_FN tl_status tli_view_fill(tli_view_writer *w, tl_document *document, unsigned sections, tl_error *err)
{
    tl_section *section;
    unsigned i;
    tl_status st;
    TLI_FILL(document, 0, sizeof *document);
    document->allocator = w->allocator;
    document->store = w->store;
    tli_mem_store_keep(w->store);
    st = tli_doc_property(document, tl_text("layout"), tl_text("1"), err);
    for (i = 0; st == TL_OK && i < TLI_VIEW_WRITE_PIECES; i++) {
        const tli_view_piece *piece = &w->pieces[i];
        if (!(sections >> i & 1u))
            continue;
        st = tli_doc_section(document, tl_text(piece->layout->section), piece->schema, 1, NULL, &section, err);
        if (st != TL_OK)
            break;
        section->rows = section->batches[0].rows = piece->rows;
        section->batches[0].columns = piece->columns;
    }
    if (st == TL_OK && (sections & TLI_VIEW_WRITE_LAST_VALUES) != 0)
        st = tl_document_add(document, tl_text("last_values"), w->parts->last_schema, w->parts->last_values,
                             w->parts->last_value_batches, err);
    return st;
}

/* Appends a head with these sections to `out`. */
TLI_FN tl_status tli_view_encode(tli_view_writer *w, tl_buffer *out, unsigned sections, tl_error *err)
{
    tl_document document;
    tl_status st = tli_view_fill(w, &document, sections, err);
    if (st == TL_OK)
        st = tl_head_encode(out, w->version, w->codec, &document, w->options, err);
    tl_document_free(&document);
    return st;
}

/* How many bytes a head with these sections has. */
TLI_FN tl_status tli_view_cost(tli_view_writer *w, unsigned sections, uint64_t *size, tl_error *err)
{
    tl_buffer scratch;
    tl_status st;
    TLI_FILL(&scratch, 0, sizeof scratch);
    scratch.allocator = w->allocator;
    st = tli_view_encode(w, &scratch, sections, err);
    *size = scratch.size;
    tl_buffer_free(&scratch);
    return st;
}

/* Whether the index fits into the budget, and what is left of it. The cost is the head's size with it minus without it.
   In the built-in codecs sections are encoded one by one, so that it can be told without the others; in json the comma
   before a section that is not the only one comes on top. */
TLI_FN tl_status tli_view_decide_index(tli_view_writer *w, unsigned *sections, tl_error *err)
{
    const tl_head_codec *foreign;
    tli_head_kind kind;
    uint64_t with = 0, without = 0;
    unsigned others;
    tl_status st = tli_head_find(w->options, w->codec, &kind, &foreign, TL_NO_POSITION, err);
    if (st != TL_OK || w->parts->last_schema == NULL || w->parts->last_value_batches == 0)
        return st;
    others = kind == TLI_HEAD_FOREIGN ? TLI_VIEW_WRITE_ALWAYS : 0;
    st = tli_view_cost(w, others, &without, err);
    if (st == TL_OK)
        st = tli_view_cost(w, others | TLI_VIEW_WRITE_LAST_VALUES, &with, err);
    if (st != TL_OK)
        return st;
    with += kind == TLI_HEAD_JSON;
    with = with > without ? with - without : 0;
    if (with <= w->budget) {
        w->budget -= with;
        *sections |= TLI_VIEW_WRITE_LAST_VALUES;
    }
    return TL_OK;
}

/* The files whose footers are known: footers are found by the hash of their path. */
TLI_FN tl_status tli_view_known_footers(tli_view_writer *w, tli_view_known **out, size_t *count, tl_error *err)
{
    const tl_head_parts *parts = w->parts;
    size_t i, slots = 2, *table;
    tli_view_known *known;
    *count = 0;
    while (slots / 2 < parts->footer_count)
        slots *= 2;
    table = (size_t *)tli_mem_take_array(w->store, slots, sizeof *table, err);
    known = (tli_view_known *)tli_mem_take_array(w->store, parts->footer_count, sizeof *known, err);
    *out = known;
    if (table == NULL || known == NULL)
        return err->status;
    for (i = 0; i < parts->footer_count; i++) {
        const tl_footer *footer = &parts->footers[i];
        size_t at = (size_t)tli_hash_xxh64(footer->path.data, footer->path.size, 0) & (slots - 1);
        while (table[at] != 0 && !tl_span_equal(parts->footers[table[at] - 1].path, footer->path))
            at = (at + 1) & (slots - 1);
        if (table[at] == 0 && footer->footer.data != NULL)
            table[at] = i + 1;
    }
    for (i = 0; i < parts->file_count && *count < parts->footer_count; i++) {
        tl_span path = parts->files[i].path;
        size_t at = (size_t)tli_hash_xxh64(path.data, path.size, 0) & (slots - 1);
        while (table[at] != 0 && !tl_span_equal(parts->footers[table[at] - 1].path, path))
            at = (at + 1) & (slots - 1);
        if (table[at] == 0)
            continue;
        known[*count].file = &parts->files[i];
        known[(*count)++].footer = parts->footers[table[at] - 1].footer;
    }
    return TL_OK;
}

/* Takes footers in their order up to the first that does not fit. */
TLI_FN tl_status tli_view_decide_footers(tli_view_writer *w, unsigned *sections, tl_error *err)
{
    tli_view_known *known;
    tl_footer *taken;
    tli_view_items in;
    const size_t *order;
    size_t i, count;
    tl_status st;
    if (w->parts->footer_count == 0 || w->budget == 0)
        return TL_OK;
    st = tli_view_known_footers(w, &known, &count, err);
    if (st == TL_OK)
        st = tli_view_order(w->store, count, known, tli_view_known_before, &order, err);
    taken = st == TL_OK ? (tl_footer *)tli_mem_take_array(w->store, count, sizeof *taken, err) : NULL;
    if (taken == NULL)
        return err->status;
    for (i = 0; i < count; i++) {
        const tli_view_known *next = &known[order != NULL ? order[i] : i];
        if (next->footer.size > w->budget)
            break;
        w->budget -= next->footer.size;
        taken[i].path = next->file->path;
        taken[i].footer = next->footer;
    }
    w->footers = i;
    if (i == 0)
        return TL_OK;
    *sections |= 1u << TLI_VIEW_WRITE_FOOTERS;
    in.items = taken;
    in.stride = sizeof *taken;
    in.count = i;
    in.order = NULL;
    return tli_view_build(w->store, &tli_view_footers, &in, &w->pieces[TLI_VIEW_WRITE_FOOTERS], err);
}

/* Builds the sections that are always there. */
TLI_FN tl_status tli_view_prepare(tli_view_writer *w, tl_error *err)
{
    const tl_head_parts *parts = w->parts;
    tli_view_text text;
    tli_view_items in;
    size_t i;
    tl_status st;
    for (i = 0; i < parts->column_count; i++)
        if (parts->columns[i].file >= parts->file_count)
            return tli_err(err, TL_MISUSE, "statistics of a file that is not there", TL_NO_POSITION);
    text.json = parts->metadata;
    in.items = &text;
    in.stride = sizeof text;
    in.count = 1;
    in.order = NULL;
    st = tli_view_build(w->store, &tli_view_metadata, &in, &w->pieces[TLI_VIEW_WRITE_METADATA], err);
    if (st != TL_OK)
        return st;
    in.items = parts->files;
    in.stride = sizeof *parts->files;
    in.count = parts->file_count;
    st = tli_view_build(w->store, &tli_view_files, &in, &w->pieces[TLI_VIEW_WRITE_FILES], err);
    if (st != TL_OK)
        return st;
    in.items = parts->columns;
    in.stride = sizeof *parts->columns;
    in.count = parts->column_count;
    st = tli_view_order(w->store, in.count, in.items, tli_view_column_before, &in.order, err);
    return st == TL_OK ? tli_view_build(w->store, &tli_view_columns, &in, &w->pieces[TLI_VIEW_WRITE_COLUMNS], err) : st;
}

/* The sections that are always there as a document of its own: what a head would say of these parts. `document` is
   empty but for its allocator; on failure it stays so. */
TLI_FN tl_status tli_view_document(tl_document *document, const tl_head_parts *parts, tl_error *err)
{
    tli_view_writer w;
    tl_document filled;
    tl_status st;
    TLI_FILL(&w, 0, sizeof w);
    w.parts = parts;
    w.allocator = document->allocator;
    w.store = tli_mem_store_new(&w.allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (w.store == NULL)
        return err->status;
    st = tli_view_prepare(&w, err);
    if (st == TL_OK) {
        st = tli_view_fill(&w, &filled, TLI_VIEW_WRITE_ALWAYS, err);
        if (st == TL_OK)
            *document = filled;
        else
            tl_document_free(&filled);
    }
    tli_mem_store_drop(w.store);
    return st;
}

TL_API tl_status tl_head_write(tl_buffer *out, uint64_t version, tl_span codec, const tl_head_parts *parts,
                               const tl_head_options *options, tl_head_written *written, tl_error *err)
{
    tl_head_options o = tli_head_options_of(options);
    tli_view_writer w;
    unsigned sections = TLI_VIEW_WRITE_ALWAYS;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    if (written != NULL)
        TLI_FILL(written, 0, sizeof *written);
    if (out == NULL || parts == NULL || parts->metadata.data == NULL
        || (parts->files == NULL && parts->file_count != 0) || (parts->columns == NULL && parts->column_count != 0)
        || (parts->footers == NULL && parts->footer_count != 0) || parts->last_value_batches < 0)
        return tli_err(err, TL_MISUSE, "tl_head_write: no output, no metadata, or a count without its array",
                       TL_NO_POSITION);
    TLI_FILL(&w, 0, sizeof w);
    w.parts = parts;
    w.options = &o;
    w.version = version;
    w.codec = codec;
    w.allocator = out->allocator;
    w.budget = parts->inline_bytes;
    w.store = tli_mem_store_new(&out->allocator, SIZE_MAX / 2, NULL, 0, NULL, NULL, err);
    if (w.store == NULL)
        return err->status;
    st = tli_view_prepare(&w, err);
    if (st == TL_OK)
        st = tli_view_decide_index(&w, &sections, err);
    if (st == TL_OK)
        st = tli_view_decide_footers(&w, &sections, err);
    if (st == TL_OK)
        st = tli_view_encode(&w, out, sections, err);
    tli_mem_store_drop(w.store);
    if (st == TL_OK && written != NULL) {
        written->last_values = (sections & TLI_VIEW_WRITE_LAST_VALUES) != 0;
        written->footers = w.footers;
        written->budget_left = w.budget;
    }
    return st;
}

/* >>keys: names of a table's objects, both ways. */
#ifndef TIMELAKE_NO_LAKE

/* The name of a metadata file ends so; what stands between `v` and it is the version. */
#define TLI_KEYS_METADATA ".metadata.json"
#define TLI_KEYS_METADATA_SIZE 14u

/* The longest name below a table that is made here: "/metadata/v<20 digits>.metadata.json". */
#define TLI_KEYS_ROOM 64u

/* Appends name (and a version, when it is not 0, and the metadata ending) to a location without a trailing slash.
   `out` has location.size + TLI_KEYS_ROOM bytes. */
TLI_FN tl_span tli_keys_join(char *out, tl_span location, const char *name, uint64_t version)
{
    tl_span end = tl_text(name);
    size_t n = location.size;
    if (n != 0)
        TLI_COPY(out, location.data, n);
    TLI_COPY(out + n, end.data, end.size);
    n += end.size;
    if (version != 0) {
        n += tli_number_u64(out + n, version);
        TLI_COPY(out + n, TLI_KEYS_METADATA, TLI_KEYS_METADATA_SIZE);
        n += TLI_KEYS_METADATA_SIZE;
    }
    return tli_text_span(out, n);
}

TLI_FN tl_span tli_keys_version(char *out, tl_span location, uint64_t version)
{
    return tli_keys_join(out, location, "/metadata/v", version);
}

/* Decimal digits without a leading zero, at least 1: a version. The greatest number has no successor and is none. */
TLI_FN int tli_keys_number(const char *text, size_t size, uint64_t *version)
{
    return tli_number_parse_u64(text, size, version) && *version != 0 && *version != UINT64_MAX;
}

/* The version of a listed key of this table: exactly <location>/metadata/v<N>.metadata.json; 0 for any other. */
TLI_FN uint64_t tli_keys_parse(tl_span key, tl_span location)
{
    static const char middle[] = "/metadata/v";
    size_t from = location.size + sizeof middle - 1;
    uint64_t version;
    if (key.size < from + 1 + TLI_KEYS_METADATA_SIZE
        || (location.size != 0 && TLI_COMPARE(key.data, location.data, location.size) != 0)
        || TLI_COMPARE(key.data + location.size, middle, sizeof middle - 1) != 0
        || TLI_COMPARE(key.data + key.size - TLI_KEYS_METADATA_SIZE, TLI_KEYS_METADATA, TLI_KEYS_METADATA_SIZE) != 0
        || !tli_keys_number(key.data + from, key.size - from - TLI_KEYS_METADATA_SIZE, &version))
        return 0;
    return version;
}

/* The version a hint object names: digits with white space around them; 0 when it says anything else. */
TLI_FN uint64_t tli_keys_hint(const void *body, size_t size)
{
    const char *text = (const char *)body;
    uint64_t version;
    size_t from = 0;
    while (from < size && (text[from] == ' ' || (text[from] >= 9 && text[from] <= 13)))
        from++;
    while (size > from && (text[size - 1] == ' ' || (text[size - 1] >= 9 && text[size - 1] <= 13)))
        size--;
    return tli_keys_number(text + from, size - from, &version) ? version : 0;
}
#endif /* TIMELAKE_NO_LAKE */

/* >>contract */
#ifndef TIMELAKE_NO_LAKE
#define TLI_CONTRACT_MINOR 3u /* the format known here: 0.3.0 */

/* How a value is read into a member of tl_contract. */
enum {
    TLI_CONTRACT_TEXT, TLI_CONTRACT_FLAG, TLI_CONTRACT_COUNT, TLI_CONTRACT_DURATION, TLI_CONTRACT_OR_OFF,
    TLI_CONTRACT_CHUNK, TLI_CONTRACT_FORMAT, TLI_CONTRACT_TIME, TLI_CONTRACT_LOG
};

typedef struct tli_contract_entry {
    const char *name; /* also the text of the error */
    uint8_t kind;
    uint16_t offset;
} tli_contract_entry;

#define TLI_CONTRACT_ENTRY(name, kind, member) {name, kind, (uint16_t)offsetof(tl_contract, member)}

static const tli_contract_entry tli_contract_entries[] = {
    TLI_CONTRACT_ENTRY("timelake.time-column", TLI_CONTRACT_TEXT, time_column),
    TLI_CONTRACT_ENTRY("timelake.series-key", TLI_CONTRACT_TEXT, series_key),
    TLI_CONTRACT_ENTRY("timelake.ingest-time-column", TLI_CONTRACT_TEXT, ingest_time_column),
    TLI_CONTRACT_ENTRY("timelake.head-format", TLI_CONTRACT_TEXT, head_format),
    TLI_CONTRACT_ENTRY("timelake.chunk-interval", TLI_CONTRACT_CHUNK, chunk),
    TLI_CONTRACT_ENTRY("timelake.dedup", TLI_CONTRACT_FLAG, dedup),
    TLI_CONTRACT_ENTRY("timelake.read-dedup", TLI_CONTRACT_FLAG, read_dedup),
    TLI_CONTRACT_ENTRY("timelake.auto-maintain", TLI_CONTRACT_FLAG, auto_maintain),
    TLI_CONTRACT_ENTRY("timelake.retention", TLI_CONTRACT_DURATION, retention),
    TLI_CONTRACT_ENTRY("timelake.snapshot-retention", TLI_CONTRACT_DURATION, snapshot_retention),
    TLI_CONTRACT_ENTRY("timelake.compact-cold-after", TLI_CONTRACT_OR_OFF, compact_cold_after),
    TLI_CONTRACT_ENTRY("timelake.version-check-interval", TLI_CONTRACT_DURATION, version_check_interval),
    TLI_CONTRACT_ENTRY("timelake.keep-snapshots-until", TLI_CONTRACT_TIME, keep_snapshots_until),
    TLI_CONTRACT_ENTRY("timelake.target-file-size-bytes", TLI_CONTRACT_COUNT, target_file_bytes),
    TLI_CONTRACT_ENTRY("timelake.row-group-rows", TLI_CONTRACT_COUNT, row_group_rows),
    TLI_CONTRACT_ENTRY("timelake.min-snapshots", TLI_CONTRACT_COUNT, min_snapshots),
    TLI_CONTRACT_ENTRY("timelake.max-snapshots", TLI_CONTRACT_COUNT, max_snapshots),
    TLI_CONTRACT_ENTRY("timelake.compact-min-files", TLI_CONTRACT_COUNT, compact_min_files),
    TLI_CONTRACT_ENTRY("timelake.head-inline-bytes", TLI_CONTRACT_COUNT, head_inline_bytes),
    TLI_CONTRACT_ENTRY("timelake.format-version", TLI_CONTRACT_FORMAT, format_major),
    TLI_CONTRACT_ENTRY("write.metadata.previous-versions-max", TLI_CONTRACT_LOG, previous_versions_max),
};

TLI_INLINE char tli_contract_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

TLI_INLINE int tli_contract_blank(char c)
{
    return c == ' ' || (c >= 9 && c <= 13);
}

TLI_FN tl_span tli_contract_trim(tl_span s)
{
    while (s.size != 0 && tli_contract_blank(s.data[0])) {
        s.data++;
        s.size--;
    }
    while (s.size != 0 && tli_contract_blank(s.data[s.size - 1]))
        s.size--;
    return s;
}

/* Equal but for ASCII case; `word` is lowercase. */
TLI_FN int tli_contract_is(tl_span s, const char *word)
{
    size_t i;
    for (i = 0; i < s.size; i++)
        if (word[i] == 0 || tli_contract_lower(s.data[i]) != word[i])
            return 0;
    return word[s.size] == 0;
}

/* Digits, leading zeros and a plus sign allowed as Rust's parser has it. */
TLI_FN int tli_contract_number(tl_span s, uint64_t *value)
{
    size_t i = s.size > 1 && s.data[0] == '+' ? 1 : 0;
    uint64_t v = 0;
    if (s.size == 0)
        return 0;
    for (; i < s.size; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s.data[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *value = v;
    return 1;
}

/* `<n><unit>` in milliseconds. */
TLI_FN int tli_contract_duration(tl_span s, int64_t *value)
{
    static const struct {
        char word[8];
        uint32_t seconds;
    } units[] = {{"s", 1},         {"sec", 1},       {"secs", 1},       {"second", 1},   {"seconds", 1}, {"m", 60},
                 {"min", 60},      {"mins", 60},     {"minute", 60},    {"minutes", 60}, {"h", 3600},    {"hr", 3600},
                 {"hrs", 3600},    {"hour", 3600},   {"hours", 3600},   {"d", 86400},    {"day", 86400}, {"days",
                                                                                                          86400},
                 {"w", 604800},    {"week", 604800}, {"weeks", 604800}, {"y", 31536000}, {"year", 31536000},
                 {"years", 31536000}};
    size_t digits = 0, i;
    uint64_t n;
    while (digits < s.size && s.data[digits] >= '0' && s.data[digits] <= '9')
        digits++;
    if (!tli_contract_number(tli_text_span(s.data, digits), &n))
        return 0;
    s = tli_contract_trim(tli_text_span(s.data + digits, s.size - digits));
    for (i = 0; i < TLI_COUNT(units); i++)
        if (tli_contract_is(s, units[i].word)) {
            if (n > (uint64_t)INT64_MAX / 1000 / units[i].seconds)
                return 0;
            *value = (int64_t)(n * units[i].seconds * 1000);
            return 1;
        }
    return 0;
}

TLI_FN int tli_contract_chunk(tl_span s, tl_chunk *chunk)
{
    static const struct {
        char word[8];
        tl_chunk chunk;
    } words[] = {{"hour", TL_CHUNK_HOUR}, {"1h", TL_CHUNK_HOUR},  {"1 hour", TL_CHUNK_HOUR}, {"day", TL_CHUNK_DAY},
                 {"1d", TL_CHUNK_DAY},    {"1 day", TL_CHUNK_DAY}, {"24h", TL_CHUNK_DAY},    {"month", TL_CHUNK_MONTH}};
    size_t i;
    for (i = 0; i < TLI_COUNT(words); i++)
        if (tli_contract_is(s, words[i].word)) {
            *chunk = words[i].chunk;
            return 1;
        }
    *chunk = TL_CHUNK_MONTH;
    return tli_contract_is(s, "1 month");
}

/* MAJOR.MINOR.PATCH, or one integer N for 0.N.0. */
TLI_FN int tli_contract_format(tl_span s, uint32_t *major)
{
    uint64_t parts[3];
    size_t n = 0, from = 0, i;
    for (i = 0; i <= s.size; i++)
        if (i == s.size || s.data[i] == '.') {
            if (n == 3 || !tli_contract_number(tli_text_span(s.data + from, i - from), &parts[n])
                || parts[n] > UINT32_MAX)
                return 0;
            n++;
            from = i + 1;
        }
    if (n == 2)
        return 0;
    major[0] = n == 3 ? (uint32_t)parts[0] : 0;
    major[1] = (uint32_t)parts[n == 3 ? 1 : 0];
    major[2] = n == 3 ? (uint32_t)parts[2] : 0;
    return 1;
}

TLI_FN int tli_contract_flag(tl_span s, uint8_t *flag)
{
    *flag = (uint8_t)tli_contract_is(s, "true");
    return *flag || tli_contract_is(s, "false");
}

/* Reads one value into its member. 0: it does not parse. */
TLI_FN int tli_contract_set(tl_contract *c, const tli_contract_entry *e, tl_span s)
{
    char *member = (char *)c + e->offset;
    void *to = (void *)member;
    uint64_t n = 0;
    switch (e->kind) {
    case TLI_CONTRACT_TEXT:
        *(tl_span *)to = s;
        return 1;
    case TLI_CONTRACT_FLAG:
        return tli_contract_flag(s, (uint8_t *)to);
    case TLI_CONTRACT_COUNT:
        return tli_contract_number(s, (uint64_t *)to);
    case TLI_CONTRACT_OR_OFF:
        if (tli_contract_is(s, "off")) {
            *(int64_t *)to = TL_FOREVER;
            return 1;
        }
        return tli_contract_duration(s, (int64_t *)to);
    case TLI_CONTRACT_DURATION:
        return tli_contract_duration(s, (int64_t *)to);
    case TLI_CONTRACT_CHUNK:
        return tli_contract_chunk(s, (tl_chunk *)to);
    case TLI_CONTRACT_FORMAT:
        return tli_contract_format(s, (uint32_t *)to);
    case TLI_CONTRACT_TIME:
        return tli_number_parse_i64(s.data, s.size, (int64_t *)to);
    default: /* Iceberg's own: a bad value never blocks a reader */
        if (tli_contract_number(s, &n))
            c->previous_versions_max = (uint32_t)TLI_MIN(TLI_MAX(n, 1u), UINT32_MAX);
        return 1;
    }
}

TLI_FN void tli_contract_defaults(tl_contract *c)
{
    TLI_FILL(c, 0, sizeof *c);
    c->head_format = tl_text("arrow");
    c->auto_maintain = 1;
    c->retention = TL_FOREVER;
    c->snapshot_retention = c->compact_cold_after = 3600000;
    c->version_check_interval = 1000;
    c->keep_snapshots_until = INT64_MIN;
    c->target_file_bytes = 268435456;
    c->row_group_rows = c->head_inline_bytes = 1048576;
    c->min_snapshots = 5;
    c->max_snapshots = c->previous_versions_max = 100;
    c->compact_min_files = 8;
    c->format_minor = 1;
}

TL_API tl_status tl_contract_read(tl_contract *contract, const tl_json *metadata, const tl_json_node *properties,
                                  tl_error *err)
{
    size_t i;
    int read_dedup = 0;
    tli_contract_defaults(contract);
    for (i = 0; i < TLI_COUNT(tli_contract_entries); i++) {
        const tli_contract_entry *e = &tli_contract_entries[i];
        const tl_json_node *node = tl_json_member(metadata, properties, tl_text(e->name));
        tl_span value;
        tl_status st;
        if (node == NULL)
            continue;
        st = tl_json_string(metadata, node, &value, err);
        if (st != TL_OK)
            return st;
        value = tli_contract_trim(value);
        if (value.size == 0) /* blank counts as unset */
            continue;
        if (!tli_contract_set(contract, e, value))
            return tli_err(err, TL_CORRUPT, e->name, node->start);
        read_dedup |= e->offset == offsetof(tl_contract, read_dedup);
    }
    if (!read_dedup)
        contract->read_dedup = contract->dedup;
    return TL_OK;
}

TL_API tl_span tl_contract_column(const tl_contract *contract, uint32_t i)
{
    tl_span key = contract->series_key, column;
    size_t from = 0, at;
    for (at = 0; at <= key.size && key.data != NULL; at++)
        if (at == key.size || key.data[at] == ',') {
            column = tli_contract_trim(tli_text_span(key.data + from, at - from));
            from = at + 1;
            if (column.size != 0 && i-- == 0)
                return column;
        }
    return tli_text_span(NULL, 0);
}

TL_API tl_status tl_contract_may_read(const tl_contract *contract, tl_error *err)
{
    if (contract->format_major == 0 && contract->format_minor <= TLI_CONTRACT_MINOR)
        return TL_OK;
    return tli_err(err, TL_UNSUPPORTED, "the table's format is newer than 0.3, which this library reads",
                   TL_NO_POSITION);
}

TL_API tl_status tl_contract_may_write(const tl_contract *contract, tl_error *err)
{
    if (contract->format_major == 0 && contract->format_minor <= TLI_CONTRACT_MINOR)
        return TL_OK;
    return tli_err(err, TL_UNSUPPORTED, "the table's format is newer than 0.3, which this library writes",
                   TL_NO_POSITION);
}
#endif /* TIMELAKE_NO_LAKE */

/* >>metadata */
#ifndef TIMELAKE_NO_LAKE

TLI_FN const tl_json_node *tli_metadata_get(const tl_metadata *m, const tl_json_node *object, const char *name)
{
    return tl_json_member(&m->json, object, tl_text(name));
}

TLI_FN tl_status tli_metadata_bad(const tl_json_node *node, const char *text, tl_error *err)
{
    return tli_err(err, TL_CORRUPT, text, node == NULL ? 0 : node->start);
}

/* An integer member; absent or null: `absent`. */
TLI_FN tl_status tli_metadata_int(const tl_metadata *m, const tl_json_node *object, const char *name, int64_t absent,
                                  int64_t *value, tl_error *err)
{
    const tl_json_node *node = tli_metadata_get(m, object, name);
    *value = absent;
    return tl_json_present(node) ? tl_json_int64(&m->json, node, value, err) : TL_OK;
}

/* A string member; absent or null: an absent span. */
TLI_FN tl_status tli_metadata_text(const tl_metadata *m, const tl_json_node *object, const char *name, tl_span *value,
                                   tl_error *err)
{
    const tl_json_node *node = tli_metadata_get(m, object, name);
    *value = tli_text_span(NULL, 0);
    return tl_json_present(node) ? tl_json_string(&m->json, node, value, err) : TL_OK;
}

/* The member of an array of objects whose `key` is `id`; *found NULL when there is none. */
TLI_FN tl_status tli_metadata_by_id(const tl_metadata *m, const tl_json_node *array, const char *key, int64_t id,
                                    const tl_json_node **found, tl_error *err)
{
    const tl_json_node *k;
    *found = NULL;
    if (!tl_json_present(array))
        return TL_OK;
    if (array->kind != TL_JSON_ARRAY)
        return tli_metadata_bad(array, "not a list", err);
    for (k = tl_json_first(array); k != NULL; k = tl_json_next(array, k)) {
        const tl_json_node *node = tli_metadata_get(m, k, key);
        int64_t value;
        tl_status st = node == NULL ? tli_metadata_bad(k, "an entry without its id", err)
                                    : tl_json_int64(&m->json, node, &value, err);
        if (st != TL_OK)
            return st;
        if (value == id)
            *found = k;
    }
    return TL_OK;
}

/* ---- the schema ---- */

/* "(a, b)" or "[n]" behind a type's name: two small numbers. */
TLI_FN int tli_metadata_numbers(tl_span s, char open, char close, int32_t *first, int32_t *second)
{
    int32_t n[2] = {0, 0};
    size_t i, at = 0, digits = 0;
    if (s.size < 3 || s.data[0] != open || s.data[s.size - 1] != close)
        return 0;
    for (i = 1; i + 1 < s.size; i++) {
        char c = s.data[i];
        if (c >= '0' && c <= '9' && n[at] < 10000000) {
            n[at] = n[at] * 10 + (c - '0');
            digits++;
        } else if (c == ',' && at == 0 && second != NULL && digits != 0) {
            at = 1;
            digits = 0;
        } else if (c != ' ')
            return 0;
    }
    *first = n[0];
    if (second != NULL)
        *second = n[1];
    return digits != 0;
}

TLI_FN void tli_metadata_type(tl_span s, tl_field *f)
{
    static const struct {
        const char *name;
        tl_iceberg_type type;
    } names[] = {{"boolean", TL_ICEBERG_BOOLEAN},           {"int", TL_ICEBERG_INT},
                 {"long", TL_ICEBERG_LONG},                 {"float", TL_ICEBERG_FLOAT},
                 {"double", TL_ICEBERG_DOUBLE},             {"date", TL_ICEBERG_DATE},
                 {"time", TL_ICEBERG_TIME},                 {"timestamp", TL_ICEBERG_TIMESTAMP},
                 {"timestamptz", TL_ICEBERG_TIMESTAMPTZ},   {"timestamp_ns", TL_ICEBERG_TIMESTAMP_NS},
                 {"timestamptz_ns", TL_ICEBERG_TIMESTAMPTZ_NS}, {"string", TL_ICEBERG_STRING},
                 {"uuid", TL_ICEBERG_UUID},                 {"binary", TL_ICEBERG_BINARY}};
    size_t i;
    f->type = TL_ICEBERG_OTHER;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tl_span_equal(s, tl_text(names[i].name)))
            f->type = names[i].type;
    if (s.size > 7 && TLI_COMPARE(s.data, "decimal", 7) == 0
        && tli_metadata_numbers(tli_text_span(s.data + 7, s.size - 7), '(', ')', &f->precision, &f->scale))
        f->type = TL_ICEBERG_DECIMAL;
    if (s.size > 5 && TLI_COMPARE(s.data, "fixed", 5) == 0
        && tli_metadata_numbers(tli_text_span(s.data + 5, s.size - 5), '[', ']', &f->precision, NULL))
        f->type = TL_ICEBERG_FIXED;
}

TLI_FN tl_status tli_metadata_read_field(const tl_metadata *m, const tl_json_node *node, tl_field *f, tl_error *err)
{
    const tl_json_node *required = tli_metadata_get(m, node, "required");
    int64_t id;
    int truth = 0;
    tl_span type;
    tl_status st = tl_json_int64(&m->json, tli_metadata_get(m, node, "id"), &id, err);
    TLI_FILL(f, 0, sizeof *f);
    f->type_node = tli_metadata_get(m, node, "type");
    if (st == TL_ABSENT || (st == TL_OK && (id < INT32_MIN || id > INT32_MAX || f->type_node == NULL)))
        return tli_metadata_bad(node, "a column without a valid id and type", err);
    if (st == TL_OK)
        st = tli_metadata_text(m, node, "name", &f->name, err);
    if (st == TL_OK && f->name.data == NULL)
        return tli_metadata_bad(node, "a column without a name", err);
    if (st == TL_OK && tl_json_present(required))
        st = tl_json_bool(&m->json, required, &truth, err);
    if (st != TL_OK)
        return st;
    f->id = (int32_t)id;
    f->required = (uint8_t)truth;
    if (f->type_node->kind == TL_JSON_STRING) {
        st = tl_json_string(&m->json, f->type_node, &type, err);
        if (st == TL_OK)
            tli_metadata_type(type, f);
    }
    return st;
}

TLI_FN tl_status tli_metadata_read_schema(tl_metadata *m, const tl_limits *limits, tl_error *err)
{
    const tl_json_node *root = m->json.root, *list, *k;
    tl_field *fields;
    uint32_t n = 0;
    tl_status st = tli_metadata_by_id(m, tli_metadata_get(m, root, "schemas"), "schema-id", m->current_schema_id,
                                      &m->schema, err);
    if (st != TL_OK)
        return st;
    if (m->schema == NULL && !tl_json_present(tli_metadata_get(m, root, "schemas"))) /* format 1 */
        m->schema = tli_metadata_get(m, root, "schema");
    list = tli_metadata_get(m, m->schema, "fields");
    if (list == NULL || list->kind != TL_JSON_ARRAY)
        return tli_metadata_bad(m->schema, "the current schema is not there", err);
    if (list->count > limits->columns)
        return tli_err_need(err, TL_LIMIT, "limits.columns", list->start, list->count);
    fields = (tl_field *)tli_mem_new(&m->json.allocator, (size_t)list->count * sizeof *fields);
    if (fields == NULL)
        return tli_mem_failed(&m->json.allocator, err);
    m->fields = fields;
    m->field_count = list->count;
    for (k = tl_json_first(list); k != NULL && st == TL_OK; k = tl_json_next(list, k))
        st = tli_metadata_read_field(m, k, &fields[n++], err);
    return st;
}

/* ---- the partition spec ---- */

TLI_FN tl_transform tli_metadata_transform(tl_span s)
{
    static const struct {
        const char *name;
        tl_transform transform;
    } names[] = {{"identity", TL_TRANSFORM_IDENTITY}, {"hour", TL_TRANSFORM_HOUR}, {"day", TL_TRANSFORM_DAY},
                 {"month", TL_TRANSFORM_MONTH},       {"year", TL_TRANSFORM_YEAR}, {"void", TL_TRANSFORM_VOID}};
    size_t i;
    for (i = 0; i < TLI_COUNT(names); i++)
        if (tl_span_equal(s, tl_text(names[i].name)))
            return names[i].transform;
    return TL_TRANSFORM_OTHER;
}

TLI_FN tl_status tli_metadata_read_spec(tl_metadata *m, tl_error *err)
{
    const tl_json_node *root = m->json.root, *spec, *fields, *first;
    int64_t source;
    tl_span transform;
    tl_status st = tli_metadata_by_id(m, tli_metadata_get(m, root, "partition-specs"), "spec-id", m->default_spec_id,
                                      &spec, err);
    if (st != TL_OK)
        return st;
    fields = spec != NULL ? tli_metadata_get(m, spec, "fields") : tli_metadata_get(m, root, "partition-spec");
    if (spec == NULL && tl_json_present(tli_metadata_get(m, root, "partition-specs")))
        return tli_metadata_bad(tli_metadata_get(m, root, "partition-specs"), "the default partition spec is not there",
                                err);
    if (!tl_json_present(fields))
        return TL_OK;
    if (fields->kind != TL_JSON_ARRAY)
        return tli_metadata_bad(fields, "not a list", err);
    m->partitioned = fields->count != 0;
    if (fields->count != 1)
        return TL_OK;
    first = tl_json_first(fields);
    st = tli_metadata_int(m, first, "source-id", 0, &source, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, first, "transform", &transform, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, first, "name", &m->partition_name, err);
    if (st != TL_OK)
        return st;
    if (source < INT32_MIN || source > INT32_MAX)
        return tli_metadata_bad(first, "a partition field without a valid source", err);
    m->partition_source_id = (int32_t)source;
    m->transform = tli_metadata_transform(transform);
    return TL_OK;
}

/* ---- the current snapshot ---- */

/* What refs.main says, which must agree with current-snapshot-id where both are. */
TLI_FN tl_status tli_metadata_main(const tl_metadata *m, int64_t *id, tl_error *err)
{
    const tl_json_node *main_ref = tli_metadata_get(m, tli_metadata_get(m, m->json.root, "refs"), "main");
    *id = -1;
    return tl_json_present(main_ref) ? tli_metadata_int(m, main_ref, "snapshot-id", -1, id, err) : TL_OK;
}

TLI_FN tl_status tli_metadata_read_snapshot(tl_metadata *m, tl_error *err)
{
    const tl_json_node *root = m->json.root, *node = tli_metadata_get(m, root, "current-snapshot-id");
    int64_t id, main_id, parent;
    tl_status st = tli_metadata_int(m, root, "current-snapshot-id", -1, &id, err);
    if (st == TL_OK)
        st = tli_metadata_main(m, &main_id, err);
    if (st != TL_OK)
        return st;
    if (id != -1 && main_id != -1 && id != main_id)
        return tli_metadata_bad(node, "current-snapshot-id and refs.main name different snapshots", err);
    if (id == -1)
        id = main_id;
    if (id == -1) /* -1, null and absent: a table without a snapshot */
        return TL_OK;
    st = tli_metadata_by_id(m, tli_metadata_get(m, root, "snapshots"), "snapshot-id", id, &m->snapshot, err);
    if (st == TL_OK && m->snapshot == NULL)
        return tli_metadata_bad(node != NULL ? node : root, "the current snapshot is not in the list", err);
    if (st == TL_OK)
        st = tli_metadata_int(m, m->snapshot, "parent-snapshot-id", -1, &parent, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, m->snapshot, "manifest-list", &m->manifest_list, err);
    if (st == TL_OK)
        st = tli_metadata_text(m, tli_metadata_get(m, m->snapshot, "summary"), "timelake.last-value-index",
                               &m->last_value_index, err);
    m->current_snapshot_id = id;
    m->has_snapshot = 1;
    return st;
}

/* ---- the whole ---- */

TLI_FN tl_status tli_metadata_read_top(tl_metadata *m, tl_error *err)
{
    const tl_json_node *root = m->json.root, *log;
    int64_t version;
    tl_status st;
    if (root->kind != TL_JSON_OBJECT)
        return tli_metadata_bad(root, "table metadata is not an object", err);
    st = tli_metadata_int(m, root, "format-version", 0, &version, err);
    if (st == TL_OK && version < 1)
        return tli_metadata_bad(root, "table metadata without a format-version", err);
    if (st == TL_OK && version > 3)
        return tli_err(err, TL_UNSUPPORTED, "an Iceberg format version above 3",
                       tli_metadata_get(m, root, "format-version")->start);
    m->format_version = (int32_t)version;
    if (st == TL_OK)
        st = tli_metadata_text(m, root, "location", &m->location, err);
    if (st == TL_OK && m->location.data == NULL)
        return tli_metadata_bad(root, "table metadata without a location", err);
    while (m->location.size != 0 && m->location.data[m->location.size - 1] == '/')
        m->location.size--;
    if (st == TL_OK)
        st = tli_metadata_text(m, root, "table-uuid", &m->uuid, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "last-sequence-number", 0, &m->last_sequence_number, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "last-updated-ms", 0, &m->last_updated_ms, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "current-schema-id", 0, &m->current_schema_id, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "default-spec-id", 0, &m->default_spec_id, err);
    if (st == TL_OK)
        st = tli_metadata_int(m, root, "default-sort-order-id", 0, &m->default_sort_order_id, err);
    log = tli_metadata_get(m, root, "metadata-log");
    if (st == TL_OK && log != NULL && log->kind == TL_JSON_ARRAY && log->count != 0)
        st = tli_metadata_text(m, tl_json_at(log, log->count - 1), "metadata-file", &m->previous, err);
    return st;
}

TL_API tl_status tl_metadata_parse(tl_metadata *metadata, const char *text, size_t size, const tl_limits *limits,
                                   const tl_allocator *allocator, tl_error *err)
{
    tl_limits l = tl_limits_resolve(limits);
    tl_status st;
    TLI_FILL(metadata, 0, sizeof *metadata);
    st = tl_json_parse(&metadata->json, text, size, &l, allocator, err);
    if (st != TL_OK)
        return st;
    st = tli_metadata_read_top(metadata, err);
    if (st == TL_OK)
        st = tli_metadata_read_schema(metadata, &l, err);
    if (st == TL_OK)
        st = tli_metadata_read_spec(metadata, err);
    if (st == TL_OK)
        st = tli_metadata_read_snapshot(metadata, err);
    if (st == TL_OK) {
        metadata->properties = tli_metadata_get(metadata, metadata->json.root, "properties");
        st = tl_contract_read(&metadata->contract, &metadata->json, metadata->properties, err);
    }
    if (st != TL_OK)
        tl_metadata_free(metadata);
    return st;
}

TL_API void tl_metadata_free(tl_metadata *metadata)
{
    tl_allocator a = tli_mem_allocator(&metadata->json.allocator);
    tli_mem_delete(&a, (void *)(uintptr_t)metadata->fields, (size_t)metadata->field_count * sizeof(tl_field));
    tl_json_free(&metadata->json);
    TLI_FILL(metadata, 0, sizeof *metadata);
}

TL_API tl_span tl_metadata_property(const tl_metadata *metadata, tl_span key)
{
    tl_span value = tli_text_span(NULL, 0);
    const tl_json_node *node = tl_json_member(&metadata->json, metadata->properties, key);
    if (node != NULL && tl_json_string(&metadata->json, node, &value, NULL) != TL_OK)
        value = tli_text_span(NULL, 0);
    return value;
}

TL_API const tl_field *tl_metadata_field(const tl_metadata *metadata, tl_span name)
{
    uint32_t i;
    for (i = 0; i < metadata->field_count; i++)
        if (tl_span_equal(metadata->fields[i].name, name))
            return &metadata->fields[i];
    return NULL;
}

TL_API const tl_field *tl_metadata_field_by_id(const tl_metadata *metadata, int32_t id)
{
    uint32_t i;
    for (i = 0; i < metadata->field_count; i++)
        if (metadata->fields[i].id == id)
            return &metadata->fields[i];
    return NULL;
}
#endif /* TIMELAKE_NO_LAKE */

/* >>iceberg: manifest lists and manifests, into the sections of a head's layout. Source: the Apache Iceberg table spec,
   "Manifests" and "Manifest Lists"; its field ids are the numbers below. */
#ifndef TIMELAKE_NO_LAKE

/* A manifest, as the list has it. */
typedef struct tli_iceberg_manifest {
    tl_span path;
    int64_t length;
    int64_t sequence_number;
    int64_t min_sequence_number;
    int64_t added_snapshot_id;
    int64_t spec_id;
    int64_t content; /* 0: data, 1: deletes */
} tli_iceberg_manifest;

typedef struct tli_iceberg_list {
    tli_iceberg_manifest *entries;
    uint32_t count;
    uint32_t capacity;
    tli_store *store;
} tli_iceberg_list;

/* The live files of a snapshot, gathered manifest by manifest. */
typedef struct tli_iceberg_files {
    const tl_metadata *metadata;
    tl_limits limits;
    tl_allocator allocator;
    tli_store *store; /* of paths and bounds, until they are in the document */
    tl_file *files;
    tl_column *columns;
    int64_t *splits;
    size_t file_count, file_capacity, column_count, column_capacity, split_count, split_capacity;
} tli_iceberg_files;

/* Room for one more item of a growing array: the block, moved or not; NULL with err filled. What it grows by is charged
   to the store: a manifest of a few bytes may announce millions of entries. */
TLI_FN void *tli_iceberg_room(tli_store *store, void *items, size_t *capacity, size_t count, size_t size, tl_error *err)
{
    size_t more = *capacity == 0 ? 64 : *capacity + *capacity / 2;
    void *grown;
    if (count < *capacity)
        return items;
    if ((uint64_t)(more - *capacity) * size > store->budget) {
        (void)tli_err_need(err, TL_LIMIT, "limits.decoded_bytes", TL_NO_POSITION, (uint64_t)more * size);
        return NULL;
    }
    grown = tli_mem_resize(&store->allocator, items, *capacity * size, more * size);
    if (grown == NULL) {
        (void)tli_mem_failed(&store->allocator, err);
        return NULL;
    }
    store->budget -= (uint64_t)(more - *capacity) * size;
    *capacity = more;
    return grown;
}

TLI_FN tl_status tli_iceberg_keep(tli_store *store, tl_span *bytes, tl_error *err)
{
    char *copy;
    if (bytes->data == NULL)
        return TL_OK;
    copy = (char *)tli_mem_take(store, bytes->size, err);
    if (copy == NULL)
        return TL_NO_MEMORY;
    if (bytes->size != 0)
        TLI_COPY(copy, bytes->data, bytes->size);
    bytes->data = copy;
    return TL_OK;
}

/* ---- fields by id, or by the names of the spec where a writer left the ids out ---- */

typedef struct tli_iceberg_name {
    const char *name;
    int32_t id;
} tli_iceberg_name;

/* The id of a field: its own, else the one its name stands for (of a nested record's fields: `inner` of their
   parent). */
TLI_FN int32_t tli_iceberg_id(const tl_avro_node *field, const tli_iceberg_name *names, size_t count)
{
    size_t i;
    if (field->field_id >= 0)
        return field->field_id;
    for (i = 0; i < count; i++)
        if (tl_span_equal(field->name, tl_text(names[i].name)))
            return names[i].id;
    return -1;
}

/* No field that is read may stand twice in one record: which of the two would it be? */
TLI_FN tl_status tli_iceberg_unique(const tl_avro *avro, const tl_avro_node *record, const tli_iceberg_name *names,
                                    size_t count, tl_error *err)
{
    uint32_t i, a, seen = 0;
    size_t k;
    for (i = 0, a = record->first; i < record->count; i++, a = avro->nodes[a].next) {
        int32_t id = tli_iceberg_id(&avro->nodes[a], names, count);
        for (k = 0; k < count; k++) {
            if (names[k].id != id)
                continue;
            if (seen >> k & 1)
                return tli_err(err, TL_CORRUPT, "a field stands twice in an Avro schema", TL_NO_POSITION);
            seen |= (uint32_t)1 << k;
        }
    }
    return TL_OK;
}

/* ---- manifest lists ---- */

static const tli_iceberg_name tli_iceberg_list_names[] = {
    {"manifest_path", 500},   {"manifest_length", 501},     {"partition_spec_id", 502},
    {"content", 517},         {"sequence_number", 515},     {"min_sequence_number", 516},
    {"added_snapshot_id", 503}};

TLI_FN void tli_iceberg_list_value(tli_iceberg_manifest *m, int32_t id, const tl_avro_value *v, uint32_t *seen)
{
    static const struct {
        int32_t id;
        size_t offset;
    } members[] = {{501, offsetof(tli_iceberg_manifest, length)},
                   {502, offsetof(tli_iceberg_manifest, spec_id)},
                   {503, offsetof(tli_iceberg_manifest, added_snapshot_id)},
                   {515, offsetof(tli_iceberg_manifest, sequence_number)},
                   {516, offsetof(tli_iceberg_manifest, min_sequence_number)},
                   {517, offsetof(tli_iceberg_manifest, content)}};
    size_t i;
    int integer = v->node->kind == TL_AVRO_INT || v->node->kind == TL_AVRO_LONG;
    if (id == 500 && v->node->kind == TL_AVRO_STRING) {
        m->path = v->bytes;
        *seen |= 1;
    }
    for (i = 0; i < TLI_COUNT(members) && integer; i++)
        if (members[i].id == id) {
            TLI_COPY((char *)m + members[i].offset, &v->number, sizeof v->number);
            *seen |= 2u << i;
        }
}

/* One row of the list is whole: path, length, spec and snapshot must have been there. */
TLI_FN tl_status tli_iceberg_list_row(tli_iceberg_list *list, tli_iceberg_manifest *m, uint32_t seen,
                                      tl_error *err)
{
    size_t capacity = list->capacity;
    tli_iceberg_manifest *entries;
    tl_status st;
    if ((seen & 3) != 3 || m->length < 0)
        return tli_err(err, TL_CORRUPT, "a manifest list entry without path or length", TL_NO_POSITION);
    if (m->content != 0)
        return tli_err(err, TL_UNSUPPORTED, "a manifest of delete files", TL_NO_POSITION);
    entries = (tli_iceberg_manifest *)tli_iceberg_room(list->store, list->entries, &capacity, list->count, sizeof *m,
                                                       err);
    if (entries == NULL)
        return err->status;
    list->entries = entries;
    list->capacity = (uint32_t)capacity;
    st = tli_iceberg_keep(list->store, &m->path, err);
    if (st == TL_OK)
        list->entries[list->count++] = *m;
    return st;
}

TLI_FN void tli_iceberg_free_list(tli_iceberg_list *list)
{
    if (list->store != NULL)
        tli_mem_delete(&list->store->allocator, list->entries, list->capacity * sizeof *list->entries);
    tli_mem_store_drop(list->store);
    TLI_FILL(list, 0, sizeof *list);
}

/* Reads a manifest list. On failure nothing is held. */
TLI_FN tl_status tli_iceberg_read_list(tli_iceberg_list *list, const void *bytes, size_t size, const tl_limits *limits,
                                       const tl_allocator *allocator, tl_error *err)
{
    tl_allocator a = tli_mem_allocator(allocator);
    tl_avro *avro;
    tl_avro_value v;
    tli_iceberg_manifest m;
    uint32_t seen = 0;
    tl_status st;
    TLI_FILL(list, 0, sizeof *list);
    TLI_FILL(&m, 0, sizeof m);
    list->store = tli_mem_store_new(&a, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    avro = (tl_avro *)tli_mem_new(&a, sizeof *avro);
    if (list->store == NULL || avro == NULL) {
        tli_mem_delete(&a, avro, sizeof *avro);
        tli_iceberg_free_list(list);
        return tli_mem_failed(&a, err);
    }
    st = tl_avro_open(avro, bytes, size, limits, &a, err);
    if (st == TL_OK)
        st = tli_iceberg_unique(avro, &avro->nodes[0], tli_iceberg_list_names, TLI_COUNT(tli_iceberg_list_names), err);
    v.event = TL_AVRO_VALUE;
    while (st == TL_OK && v.event != TL_AVRO_EOF) {
        st = tl_avro_next(avro, &v, err);
        if (st != TL_OK)
            break;
        if (v.event == TL_AVRO_VALUE && avro->depth == 1)
            tli_iceberg_list_value(&m, tli_iceberg_id(v.field, tli_iceberg_list_names,
                                                      TLI_COUNT(tli_iceberg_list_names)),
                                   &v, &seen);
        if (v.event == TL_AVRO_ROW) {
            if (avro->rows > limits->batches)
                st = tli_err_need(err, TL_LIMIT, "limits.batches", TL_NO_POSITION, avro->rows);
            else
                st = tli_iceberg_list_row(list, &m, seen, err);
            TLI_FILL(&m, 0, sizeof m);
            seen = 0;
        }
    }
    tl_avro_close(avro);
    tli_mem_delete(&a, avro, sizeof *avro);
    if (st != TL_OK)
        tli_iceberg_free_list(list);
    return st;
}

/* ---- manifests ---- */

static const tli_iceberg_name tli_iceberg_entry_names[] = {
    {"status", 0},           {"snapshot_id", 1},       {"sequence_number", 3},   {"file_sequence_number", 4},
    {"data_file", 2},        {"content", 134},         {"file_path", 100},       {"partition", 102},
    {"record_count", 103},   {"file_size_in_bytes", 104}, {"column_sizes", 108}, {"value_counts", 109},
    {"null_value_counts", 110}, {"nan_value_counts", 137}, {"lower_bounds", 125}, {"upper_bounds", 128},
    {"split_offsets", 132},  {"sort_order_id", 140}};

/* What is being read of an entry. */
typedef struct tli_iceberg_entry {
    tl_file file;
    int64_t status, content;
    int64_t snapshot_id, sequence_number, file_sequence_number;
    uint32_t seen; /* bit by bit: status, snapshot, sequence, file sequence, path, records, size */
    int32_t stat;  /* the map that is open: its field id, or 0 */
    int64_t key;   /* of the map's entry */
    tl_avro_value value;    /* the same, while its key is not read yet */
    uint8_t keyed, valued;
    size_t first_column, first_split;
    size_t expect;  /* where the map's next id probably is */
    uint8_t unsorted;
    uint32_t partition_depth; /* of the partition record, 0: not within */
} tli_iceberg_entry;

enum {
    TLI_ICEBERG_STATUS = 1, TLI_ICEBERG_SNAPSHOT = 2, TLI_ICEBERG_SEQUENCE = 4, TLI_ICEBERG_FILE_SEQUENCE = 8,
    TLI_ICEBERG_PATH = 16, TLI_ICEBERG_RECORDS = 32, TLI_ICEBERG_SIZE = 64
};

#define TLI_ICEBERG_UNSORTED 4096 /* columns of an entry that may come out of order: each is searched for */

/* The statistics of a field id in the entry, made when it is the first. Maps name the ids in the same rising order. */
TLI_FN tl_column *tli_iceberg_column(tli_iceberg_files *f, tli_iceberg_entry *e, tl_error *err)
{
    size_t i;
    tl_column *c;
    if (e->expect < f->column_count && f->columns[e->expect].field_id == (int32_t)e->key)
        return &f->columns[e->expect++];
    if (f->column_count != e->first_column && f->columns[f->column_count - 1].field_id >= (int32_t)e->key) {
        if (f->column_count - e->first_column > TLI_ICEBERG_UNSORTED) {
            (void)tli_err(err, TL_LIMIT, "statistics of too many columns out of order", TL_NO_POSITION);
            return NULL;
        }
        e->unsorted = 1;
    }
    for (i = f->column_count; e->unsorted && i > e->first_column; i--)
        if (f->columns[i - 1].field_id == (int32_t)e->key)
            return &f->columns[i - 1];
    c = (tl_column *)tli_iceberg_room(f->store, f->columns, &f->column_capacity, f->column_count, sizeof *c, err);
    if (c == NULL)
        return NULL;
    f->columns = c;
    c = &f->columns[f->column_count++];
    TLI_FILL(c, 0, sizeof *c);
    c->file = (uint32_t)f->file_count;
    c->field_id = (int32_t)e->key;
    return c;
}

/* A value of one of the maps. */
TLI_FN tl_status tli_iceberg_stat(tli_iceberg_files *f, tli_iceberg_entry *e, const tl_avro_value *v, tl_error *err)
{
    tl_column *c;
    int bytes = v->node->kind == TL_AVRO_BYTES || v->node->kind == TL_AVRO_FIXED;
    tl_span *bound;
    uint64_t *count = NULL;
    uint8_t *has = NULL;
    if (e->key < INT32_MIN || e->key > INT32_MAX)
        return tli_err(err, TL_CORRUPT, "a manifest's statistics of an impossible field id", TL_NO_POSITION);
    c = tli_iceberg_column(f, e, err);
    if (c == NULL)
        return err->status;
    if (e->stat == 125 || e->stat == 128) {
        bound = e->stat == 125 ? &c->lower : &c->upper;
        if (!bytes)
            return tli_err(err, TL_CORRUPT, "a bound in a manifest that is no bytes", TL_NO_POSITION);
        *bound = v->bytes;
        return tli_iceberg_keep(f->store, bound, err);
    }
    switch (e->stat) {
    case 108: count = &c->size; has = &c->has_size; break;
    case 109: count = &c->values; has = &c->has_values; break;
    case 110: count = &c->nulls; has = &c->has_nulls; break;
    default: count = &c->nans; has = &c->has_nans; break;
    }
    if (bytes || v->number < 0)
        return tli_err(err, TL_CORRUPT, "a count in a manifest that is none", TL_NO_POSITION);
    *count = (uint64_t)v->number;
    *has = 1;
    return TL_OK;
}

/* Key or value of a map's entry, whichever comes first; other fields are passed over. */
TLI_FN tl_status tli_iceberg_pair(tli_iceberg_files *f, tli_iceberg_entry *e, const tl_avro_value *v, tl_error *err)
{
    static const uint8_t keys[] = {117, 119, 121, 126, 129, 138}, values[] = {118, 120, 122, 127, 130, 139};
    int32_t id = v->field->field_id;
    int key = id < 0 && tl_span_equal(v->field->name, tl_text("key"));
    int value = id < 0 && tl_span_equal(v->field->name, tl_text("value"));
    size_t i;
    for (i = 0; id >= 0 && i < TLI_COUNT(keys); i++) {
        key |= id == keys[i];
        value |= id == values[i];
    }
    if (key) {
        e->key = v->number;
        e->keyed = 1;
    } else if (value) {
        e->value = *v;
        e->valued = 1;
    }
    if (!e->keyed || !e->valued)
        return TL_OK;
    e->keyed = e->valued = 0;
    return e->value.node->kind == TL_AVRO_NULL ? TL_OK : tli_iceberg_stat(f, e, &e->value, err);
}

TLI_FN tl_status tli_iceberg_split(tli_iceberg_files *f, tli_iceberg_entry *e, int64_t value, tl_error *err)
{
    int64_t *splits = (int64_t *)tli_iceberg_room(f->store, f->splits, &f->split_capacity, f->split_count,
                                                  sizeof *splits, err);
    if (splits == NULL)
        return err->status;
    f->splits = splits;
    f->splits[f->split_count++] = value;
    e->file.split_count++;
    return TL_OK;
}

/* A partition value that is one int: its hours, days or months. */
TLI_FN void tli_iceberg_partition(tli_iceberg_entry *e, const tl_avro_value *v)
{
    int integer = v->node->kind == TL_AVRO_INT || v->node->kind == TL_AVRO_LONG;
    if (integer && v->number >= INT32_MIN && v->number <= INT32_MAX && !e->file.has_partition) {
        e->file.partition = (int32_t)v->number;
        e->file.has_partition = 1;
    }
}

/* A single value outside maps, lists and the partition. */
TLI_FN tl_status tli_iceberg_scalar(tli_iceberg_files *f, tli_iceberg_entry *e, int32_t id, const tl_avro_value *v,
                                    tl_error *err)
{
    int integer = v->node->kind == TL_AVRO_INT || v->node->kind == TL_AVRO_LONG;
    if (v->node->kind == TL_AVRO_NULL)
        return TL_OK;
    if (id == 100) {
        e->file.path = v->bytes;
        e->seen |= TLI_ICEBERG_PATH;
        return v->node->kind == TL_AVRO_STRING ? tli_iceberg_keep(f->store, &e->file.path, err)
                                               : tli_err(err, TL_CORRUPT, "a file path that is no string",
                                                         TL_NO_POSITION);
    }
    if (!integer)
        return TL_OK;
    switch (id) {
    case 0: e->status = v->number; e->seen |= TLI_ICEBERG_STATUS; break;
    case 1: e->snapshot_id = v->number; e->seen |= TLI_ICEBERG_SNAPSHOT; break;
    case 3: e->sequence_number = v->number; e->seen |= TLI_ICEBERG_SEQUENCE; break;
    case 4: e->file_sequence_number = v->number; e->seen |= TLI_ICEBERG_FILE_SEQUENCE; break;
    case 134: e->content = v->number; break;
    case 103: e->file.records = (uint64_t)v->number; e->seen |= v->number >= 0 ? TLI_ICEBERG_RECORDS : 0; break;
    case 104: e->file.size = (uint64_t)v->number; e->seen |= v->number >= 0 ? TLI_ICEBERG_SIZE : 0; break;
    case 140:
        e->file.sort_order_id = (int32_t)v->number;
        e->file.has_sort_order_id = (uint8_t)(v->number >= INT32_MIN && v->number <= INT32_MAX);
        break;
    default: break;
    }
    return TL_OK;
}

/* Where in an entry a value stands is told by the frames that are open: entry, data_file, then what is in it. */
TLI_FN tl_status tli_iceberg_value(tli_iceberg_files *f, tli_iceberg_entry *e, const tl_avro *avro,
                                   const tl_avro_value *v, tl_error *err)
{
    const tl_avro_frame *top = &avro->frames[avro->depth - 1];
    int32_t id;
    if (e->partition_depth != 0) {
        tli_iceberg_partition(e, v);
        return TL_OK;
    }
    if (e->stat == 132)
        return tli_iceberg_split(f, e, v->number, err);
    if (e->stat != 0) {
        if (avro->depth > 4) /* within a field that is not known */
            return TL_OK;
        if (top->node->kind != TL_AVRO_RECORD)
            return tli_err(err, TL_CORRUPT, "a manifest's statistics are no map", TL_NO_POSITION);
        return tli_iceberg_pair(f, e, v, err);
    }
    if (avro->depth > 2) /* in something that is not read here */
        return TL_OK;
    id = tli_iceberg_id(v->field, tli_iceberg_entry_names, TLI_COUNT(tli_iceberg_entry_names));
    if ((id == 134 || id >= 100) != (avro->depth == 2)) /* names repeat between entry and data_file */
        return TL_OK;
    return tli_iceberg_scalar(f, e, id, v, err);
}

TLI_FN tl_status tli_iceberg_begin_value(tli_iceberg_entry *e, const tl_avro *avro, const tl_avro_value *v,
                                         tl_error *err)
{
    int32_t id;
    if (avro->depth == 4)
        e->keyed = e->valued = 0;
    if (avro->depth != 3)
        return TL_OK;
    e->expect = e->first_column;
    id = tli_iceberg_id(v->field, tli_iceberg_entry_names, TLI_COUNT(tli_iceberg_entry_names));
    if (id == 102)
        e->partition_depth = 3;
    else if (id == 108 || id == 109 || id == 110 || id == 137 || id == 125 || id == 128)
        e->stat = id;
    else if (id == 132) {
        e->stat = id;
        e->file.has_split_offsets = 1;
    }
    if (e->stat != 0 && v->node->kind != TL_AVRO_ARRAY)
        return tli_err(err, TL_CORRUPT, "a manifest's statistics are no list", TL_NO_POSITION);
    return TL_OK;
}

TLI_FN void tli_iceberg_end_value(tli_iceberg_entry *e, const tl_avro *avro)
{
    if (avro->depth == 2) {
        e->stat = 0;
        e->partition_depth = 0;
    }
}

/* What a null inherits from the manifest. */
TLI_FN void tli_iceberg_inherit(tli_iceberg_entry *e, const tli_iceberg_manifest *m)
{
    int64_t number = e->status == 1 ? m->sequence_number : 0;
    e->file.added = (uint8_t)(e->status == 1);
    e->file.snapshot_id = e->seen & TLI_ICEBERG_SNAPSHOT ? e->snapshot_id : m->added_snapshot_id;
    e->file.sequence_number = e->seen & TLI_ICEBERG_SEQUENCE ? e->sequence_number : number;
    e->file.file_sequence_number = e->seen & TLI_ICEBERG_FILE_SEQUENCE ? e->file_sequence_number : number;
}

/* An entry is whole: it joins the files unless it is a deletion. */
TLI_FN tl_status tli_iceberg_row(tli_iceberg_files *f, tli_iceberg_entry *e, const tli_iceberg_manifest *m,
                                 tl_error *err)
{
    const uint32_t needed = TLI_ICEBERG_STATUS | TLI_ICEBERG_PATH | TLI_ICEBERG_RECORDS | TLI_ICEBERG_SIZE;
    tl_file *files;
    if ((e->seen & needed) != needed || e->status < 0 || e->status > 2)
        return tli_err(err, TL_CORRUPT, "a manifest entry without status, path, rows or size", TL_NO_POSITION);
    if (e->content != 0)
        return tli_err(err, TL_UNSUPPORTED, "a manifest with delete files", TL_NO_POSITION);
    if (e->status == 2) {
        f->column_count = e->first_column;
        f->split_count = e->first_split;
        return TL_OK;
    }
    if (f->file_count >= UINT32_MAX || f->file_count >= f->limits.rows)
        return tli_err_need(err, TL_LIMIT, "limits.rows", TL_NO_POSITION, f->file_count);
    files = (tl_file *)tli_iceberg_room(f->store, f->files, &f->file_capacity, f->file_count, sizeof e->file, err);
    if (files == NULL)
        return err->status;
    f->files = files;
    tli_iceberg_inherit(e, m);
    if (m->spec_id != f->metadata->default_spec_id) { /* the number of another partitioning */
        e->file.has_partition = 0;
        e->file.partition = 0;
    }
    f->files[f->file_count++] = e->file;
    return TL_OK;
}

TLI_FN void tli_iceberg_next_entry(const tli_iceberg_files *f, tli_iceberg_entry *e)
{
    TLI_FILL(e, 0, sizeof *e);
    e->first_column = f->column_count;
    e->first_split = f->split_count;
}

TLI_FN tl_status tli_iceberg_read_entries(tli_iceberg_files *f, tl_avro *avro, const tli_iceberg_manifest *m,
                                          tl_error *err)
{
    tli_iceberg_entry e;
    tl_avro_value v;
    tl_status st = TL_OK;
    tli_iceberg_next_entry(f, &e);
    v.event = TL_AVRO_VALUE;
    while (st == TL_OK && v.event != TL_AVRO_EOF) {
        st = tl_avro_next(avro, &v, err);
        if (st != TL_OK)
            break;
        if (v.event == TL_AVRO_VALUE)
            st = tli_iceberg_value(f, &e, avro, &v, err);
        else if (v.event == TL_AVRO_BEGIN)
            st = tli_iceberg_begin_value(&e, avro, &v, err);
        else if (v.event == TL_AVRO_END)
            tli_iceberg_end_value(&e, avro);
        else if (v.event == TL_AVRO_ROW) {
            st = tli_iceberg_row(f, &e, m, err);
            tli_iceberg_next_entry(f, &e);
        }
    }
    return st;
}

TLI_FN tl_status tli_iceberg_begin(tli_iceberg_files *f, const tl_metadata *metadata, const tl_limits *limits,
                                   const tl_allocator *allocator, tl_error *err)
{
    TLI_FILL(f, 0, sizeof *f);
    f->metadata = metadata;
    f->limits = *limits;
    f->allocator = tli_mem_allocator(allocator);
    f->store = tli_mem_store_new(&f->allocator, limits->decoded_bytes, NULL, 0, NULL, NULL, err);
    return f->store != NULL ? TL_OK : TL_NO_MEMORY;
}

/* The fields of an entry and of the data file in it stand there once. */
TLI_FN tl_status tli_iceberg_check_schema(const tl_avro *avro, tl_error *err)
{
    const tl_avro_node *root = &avro->nodes[0];
    const size_t count = TLI_COUNT(tli_iceberg_entry_names);
    tl_status st = tli_iceberg_unique(avro, root, tli_iceberg_entry_names, count, err);
    uint32_t i, a;
    for (i = 0, a = root->first; st == TL_OK && i < root->count; i++, a = avro->nodes[a].next)
        if (tli_iceberg_id(&avro->nodes[a], tli_iceberg_entry_names, count) == 2
            && avro->nodes[a].kind == TL_AVRO_RECORD)
            st = tli_iceberg_unique(avro, &avro->nodes[a], tli_iceberg_entry_names, count, err);
    return st;
}

/* Adds one manifest object, in the order of the list. The bytes are not needed afterwards. */
TLI_FN tl_status tli_iceberg_add(tli_iceberg_files *f, const tli_iceberg_manifest *manifest, const void *bytes,
                                 size_t size, tl_error *err)
{
    tl_avro *avro = (tl_avro *)tli_mem_new(&f->allocator, sizeof *avro);
    tl_status st;
    if (avro == NULL)
        return tli_mem_failed(&f->allocator, err);
    st = tl_avro_open(avro, bytes, size, &f->limits, &f->allocator, err);
    if (st == TL_OK)
        st = tli_iceberg_check_schema(avro, err);
    if (st == TL_OK)
        st = tli_iceberg_read_entries(f, avro, manifest, err);
    tl_avro_close(avro);
    tli_mem_delete(&f->allocator, avro, sizeof *avro);
    return st;
}

/* Fills a document with the sections of layout 1. */
TLI_FN tl_status tli_iceberg_finish(tli_iceberg_files *f, tl_document *document, tl_span metadata_text, tl_error *err)
{
    tl_head_parts parts;
    size_t i, split = 0;
    for (i = 0; i < f->file_count; i++) { /* only now do the split offsets lie still */
        f->files[i].split_offsets = f->splits == NULL ? NULL : f->splits + split;
        split += f->files[i].split_count;
    }
    TLI_FILL(&parts, 0, sizeof parts);
    parts.metadata = metadata_text;
    parts.files = f->files;
    parts.file_count = f->file_count;
    parts.columns = f->columns;
    parts.column_count = f->column_count;
    document->allocator = f->allocator;
    return tli_view_document(document, &parts, err);
}

TLI_FN void tli_iceberg_end(tli_iceberg_files *f)
{
    tli_mem_delete(&f->allocator, f->files, f->file_capacity * sizeof *f->files);
    tli_mem_delete(&f->allocator, f->columns, f->column_capacity * sizeof *f->columns);
    tli_mem_delete(&f->allocator, f->splits, f->split_capacity * sizeof *f->splits);
    tli_mem_store_drop(f->store);
    TLI_FILL(f, 0, sizeof *f);
}
#endif /* TIMELAKE_NO_LAKE */

/* >>table */
#ifndef TIMELAKE_NO_LAKE
TL_API tl_table *tl_table_keep(tl_table *table)
{
    if (table != NULL)
        TLI_MEM_INC(&table->count);
    return table;
}

TL_API void tl_table_drop(tl_table *table)
{
    tl_allocator a;
    if (table == NULL || TLI_MEM_DEC(&table->count) != 0)
        return;
    a = table->allocator;
    tl_metadata_free(&table->metadata);
    tl_head_free(&table->head);
    tli_mem_blob_drop(table->body);
    tli_mem_delete(&a, (void *)(uintptr_t)table->location.data, table->location.size + 1);
    tli_mem_delete(&a, table, sizeof *table);
}

TL_API tl_status tl_table_last_values(tl_table *table, int32_t batch, struct ArrowSchema *schema,
                                      struct ArrowArray *array, tl_error *err)
{
    tl_section *section;
    tl_status st;
    if (table->metadata.last_value_index.data == NULL)
        return tli_err(err, TL_ABSENT, "the current snapshot names no last-value index", TL_NO_POSITION);
    st = tl_head_last_values(&table->head, &section, err);
    return st == TL_OK ? tl_section_export(section, batch, schema, array, err) : st;
}

/* A table of version `version` with a copy of its location; everything else zero, one count. */
TLI_FN tl_table *tli_table_new(const tl_allocator *a, tl_span location, uint64_t version)
{
    tl_table *t = (tl_table *)tli_mem_new(a, sizeof *t);
    char *copy = t == NULL ? NULL : (char *)tli_mem_new(a, location.size + 1);
    if (copy == NULL) {
        tli_mem_delete(a, t, sizeof *t);
        return NULL;
    }
    TLI_FILL(t, 0, sizeof *t);
    if (location.size != 0)
        TLI_COPY(copy, location.data, location.size);
    copy[location.size] = 0;
    t->location = tli_text_span(copy, location.size);
    t->version = version;
    t->count = 1;
    t->allocator = *a;
    return t;
}
#endif /* TIMELAKE_NO_LAKE */

/* >>scan */
#ifndef TIMELAKE_NO_LAKE

TLI_FN tl_value tli_scan_value(tl_literal_kind kind)
{
    tl_value v;
    TLI_FILL(&v, 0, sizeof v);
    v.kind = kind;
    return v;
}

TL_API tl_value tl_bool(int value)
{
    tl_value v = tli_scan_value(TL_LITERAL_BOOL);
    v.integer = value != 0;
    return v;
}

TL_API tl_value tl_i64(int64_t value)
{
    tl_value v = tli_scan_value(TL_LITERAL_INT);
    v.integer = value;
    return v;
}

TL_API tl_value tl_f64(double value)
{
    tl_value v = tli_scan_value(TL_LITERAL_REAL);
    v.real = value;
    return v;
}

TL_API tl_value tl_micros(int64_t value)
{
    tl_value v = tli_scan_value(TL_LITERAL_MICROS);
    v.integer = value;
    return v;
}

TL_API tl_value tl_string(tl_span value)
{
    tl_value v = tli_scan_value(TL_LITERAL_TEXT);
    v.text = value;
    return v;
}

/* ---- values and bounds in one form, so that they can be compared ---- */

enum { TLI_SCAN_UNKNOWN, TLI_SCAN_INT, TLI_SCAN_REAL, TLI_SCAN_WIDE, TLI_SCAN_BYTES };

typedef struct tli_scan_key {
    uint8_t kind;     /* UNKNOWN: nothing can be said */
    uint8_t truncated; /* bytes that may be cut: a text's bounds */
    int64_t integer;
    double real;
    int64_t high; /* of a wide one (decimals) */
    uint64_t low;
    tl_span bytes;
    uint8_t uuid[16];
} tli_scan_key;

TLI_INLINE int tli_scan_nan(double v)
{
    return v != v;
}

/* <0, 0, >0; both are of one kind, neither unknown nor NaN. */
TLI_FN int tli_scan_order(const tli_scan_key *a, const tli_scan_key *b)
{
    switch (a->kind) {
    case TLI_SCAN_INT:
        return (a->integer > b->integer) - (a->integer < b->integer);
    case TLI_SCAN_REAL:
        return (a->real > b->real) - (a->real < b->real);
    case TLI_SCAN_WIDE:
        if (a->high != b->high)
            return a->high > b->high ? 1 : -1;
        return (a->low > b->low) - (a->low < b->low);
    default:
        return tl_span_compare(a->bytes, b->bytes);
    }
}

/* Signed little-endian of 4 or 8 bytes; a column may have been widened since the file was written. */
TLI_FN int tli_scan_integer(tl_span bound, int widened, int64_t *value)
{
    if (bound.size == 8)
        *value = (int64_t)tli_bits_le64(bound.data);
    else if (bound.size == 4 && widened)
        *value = (int32_t)tli_bits_le32(bound.data);
    else
        return 0;
    return 1;
}

/* Big-endian two's complement of 1 to 16 bytes. */
TLI_FN int tli_scan_wide(tl_span bound, tli_scan_key *key)
{
    size_t i;
    uint64_t fill;
    if (bound.size == 0 || bound.size > 16)
        return 0;
    fill = (uint8_t)bound.data[0] >= 128 ? UINT64_MAX : 0;
    key->low = fill;
    for (i = 0; i < bound.size; i++) {
        fill = fill << 8 | key->low >> 56;
        key->low = key->low << 8 | (uint8_t)bound.data[i];
    }
    key->high = (int64_t)fill;
    return 1;
}

TLI_FN int tli_scan_real(tl_span bound, double *value)
{
    uint32_t bits;
    uint64_t wide;
    float single;
    if (bound.size == 4) {
        bits = tli_bits_le32(bound.data);
        TLI_COPY(&single, &bits, 4);
        *value = (double)single;
    } else if (bound.size == 8) {
        wide = tli_bits_le64(bound.data);
        TLI_COPY(value, &wide, 8);
    } else
        return 0;
    return !tli_scan_nan(*value);
}

/* A bound of a column as a key. Whatever is not as the type says is unknown. */
TLI_FN void tli_scan_bound(const tl_field *f, tl_span bound, tli_scan_key *key)
{
    int ok = 0;
    key->kind = TLI_SCAN_UNKNOWN;
    key->truncated = 0;
    if (bound.data == NULL)
        return;
    switch (f->type) {
    case TL_ICEBERG_BOOLEAN:
        ok = bound.size == 1;
        key->integer = ok ? bound.data[0] != 0 : 0;
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_INT:
    case TL_ICEBERG_DATE:
        ok = bound.size == 4 && tli_scan_integer(bound, 1, &key->integer);
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_LONG:
        ok = tli_scan_integer(bound, 1, &key->integer);
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_TIME:
    case TL_ICEBERG_TIMESTAMP:
    case TL_ICEBERG_TIMESTAMPTZ:
    case TL_ICEBERG_TIMESTAMP_NS:
    case TL_ICEBERG_TIMESTAMPTZ_NS:
        ok = tli_scan_integer(bound, 0, &key->integer);
        key->kind = TLI_SCAN_INT;
        break;
    case TL_ICEBERG_FLOAT:
    case TL_ICEBERG_DOUBLE:
        ok = tli_scan_real(bound, &key->real);
        key->kind = TLI_SCAN_REAL;
        break;
    case TL_ICEBERG_DECIMAL:
        ok = tli_scan_wide(bound, key);
        key->kind = TLI_SCAN_WIDE;
        break;
    case TL_ICEBERG_OTHER:
        break;
    default:
        ok = 1;
        key->bytes = bound;
        key->truncated = f->type != TL_ICEBERG_UUID;
        key->kind = TLI_SCAN_BYTES;
        break;
    }
    if (!ok)
        key->kind = TLI_SCAN_UNKNOWN;
}

/* ---- a condition's value as a key ---- */

TLI_FN int tli_scan_is_stamp(tl_iceberg_type type)
{
    return type >= TL_ICEBERG_TIMESTAMP && type <= TL_ICEBERG_TIMESTAMPTZ_NS;
}

TLI_FN int tli_scan_nanos(tl_iceberg_type type)
{
    return type == TL_ICEBERG_TIMESTAMP_NS || type == TL_ICEBERG_TIMESTAMPTZ_NS;
}

/* A timestamp's text: with or without a zone, or a date alone. */
TLI_FN int tli_scan_stamp(tl_span text, tl_iceberg_type type, int64_t *value)
{
    tl_unit unit = tli_scan_nanos(type) ? TL_UNIT_NANO : TL_UNIT_MICRO;
    int64_t days, per = tli_scan_nanos(type) ? 86400000000000 : 86400000000;
    if (tli_time_parse_stamp(text.data, text.size, unit, tl_text("UTC"), value)
        || tli_time_parse_stamp(text.data, text.size, unit, tli_text_span(NULL, 0), value))
        return 1;
    if (!tli_time_parse_date(text.data, text.size, &days) || days > INT64_MAX / per || days < INT64_MIN / per)
        return 0;
    *value = days * per;
    return 1;
}

/* 32 hex digits, with or without the usual hyphens. */
TLI_FN int tli_scan_uuid(tl_span text, uint8_t *out)
{
    char digits[32];
    size_t i, n = 0;
    for (i = 0; i < text.size; i++) {
        if (text.data[i] == '-')
            continue;
        if (n == 32)
            return 0;
        digits[n++] = text.data[i];
    }
    return n == 32 && tli_number_unhex(out, digits, 32);
}

/* An exact decimal at the column's scale; one that has more digits than the column is unknown, not wrong. */
TLI_FN int tli_scan_decimal(tl_span text, int32_t scale, tli_scan_key *key)
{
    uint8_t wide[16];
    double probe;
    key->kind = TLI_SCAN_UNKNOWN;
    if (!tli_number_parse_f64(text.data, text.size, &probe))
        return 0;
    if (tli_number_parse_decimal(text.data, text.size, wide, 16, 38, scale)) {
        key->kind = TLI_SCAN_WIDE;
        key->low = tli_bits_u64(wide + (TLI_BIG_ENDIAN ? 8 : 0));
        key->high = (int64_t)tli_bits_u64(wide + (TLI_BIG_ENDIAN ? 0 : 8));
    }
    return 1;
}

TLI_FN int tli_scan_text_key(const tl_field *f, tl_span text, tli_scan_key *key)
{
    int64_t days;
    key->kind = TLI_SCAN_INT;
    switch (f->type) {
    case TL_ICEBERG_STRING:
        key->kind = TLI_SCAN_BYTES;
        key->bytes = text;
        return 1;
    case TL_ICEBERG_DATE:
        return tli_time_parse_date(text.data, text.size, &key->integer);
    case TL_ICEBERG_TIME:
        return tli_time_parse_clock(text.data, text.size, TL_UNIT_MICRO, &key->integer);
    case TL_ICEBERG_INT:
    case TL_ICEBERG_LONG:
        return tli_number_parse_i64(text.data, text.size, &key->integer);
    case TL_ICEBERG_DECIMAL:
        return tli_scan_decimal(text, f->scale, key);
    case TL_ICEBERG_FLOAT:
    case TL_ICEBERG_DOUBLE:
        key->kind = TLI_SCAN_REAL;
        return tli_number_parse_f64(text.data, text.size, &key->real);
    case TL_ICEBERG_UUID:
        key->kind = TLI_SCAN_BYTES;
        key->bytes = tli_text_span(key->uuid, 16);
        return tli_scan_uuid(text, key->uuid);
    case TL_ICEBERG_BINARY:
    case TL_ICEBERG_FIXED: /* hex is checked; long ones are not unpacked here, and so prune nothing */
        key->kind = TLI_SCAN_UNKNOWN;
        if (text.size <= 2 * sizeof key->uuid) {
            key->kind = TLI_SCAN_BYTES;
            key->bytes = tli_text_span(key->uuid, text.size / 2);
            return text.size % 2 == 0 && tli_number_unhex(key->uuid, text.data, text.size);
        }
        return text.size % 2 == 0;
    default:
        (void)days;
        return tli_scan_is_stamp(f->type) && tli_scan_stamp(text, f->type, &key->integer);
    }
}

TLI_FN int tli_scan_int_key(const tl_field *f, int64_t value, tli_scan_key *key)
{
    char digits[24];
    key->kind = TLI_SCAN_INT;
    key->integer = value;
    switch (f->type) {
    case TL_ICEBERG_FLOAT:
    case TL_ICEBERG_DOUBLE: /* beyond 2^53 the double is not the number: then nothing is said */
        key->kind = value < -((int64_t)1 << 53) || value > (int64_t)1 << 53 ? TLI_SCAN_UNKNOWN : TLI_SCAN_REAL;
        key->real = (double)value;
        return 1;
    case TL_ICEBERG_DECIMAL:
        return tli_scan_decimal(tli_text_span(digits, tli_number_i64(digits, value)), f->scale, key);
    default:
        return f->type == TL_ICEBERG_INT || f->type == TL_ICEBERG_LONG || f->type == TL_ICEBERG_DATE
               || f->type == TL_ICEBERG_TIME || tli_scan_is_stamp(f->type);
    }
}

/* The value of a condition on a column. 0: it is of another type. */
TLI_FN int tli_scan_key_of(const tl_field *f, const tl_value *v, tli_scan_key *key)
{
    key->truncated = 0;
    if (f->type == TL_ICEBERG_OTHER)
        return 0;
    switch (v->kind) {
    case TL_LITERAL_BOOL:
        key->kind = TLI_SCAN_INT;
        key->integer = v->integer;
        return f->type == TL_ICEBERG_BOOLEAN;
    case TL_LITERAL_INT:
        return tli_scan_int_key(f, v->integer, key);
    case TL_LITERAL_REAL:
        key->kind = TLI_SCAN_REAL;
        key->real = v->real;
        return f->type == TL_ICEBERG_FLOAT || f->type == TL_ICEBERG_DOUBLE;
    case TL_LITERAL_MICROS:
        key->kind = TLI_SCAN_INT;
        key->integer = v->integer;
        if (tli_scan_nanos(f->type)) {
            if (v->integer > INT64_MAX / 1000 || v->integer < INT64_MIN / 1000)
                key->kind = TLI_SCAN_UNKNOWN;
            else
                key->integer = v->integer * 1000;
        }
        return tli_scan_is_stamp(f->type) || f->type == TL_ICEBERG_TIME;
    default:
        return v->text.data != NULL && tli_scan_text_key(f, v->text, key);
    }
}

/* ---- filters ---- */

TL_API tl_filter tl_filter_begin(tl_table *table)
{
    tl_filter f;
    TLI_FILL(&f, 0, sizeof f);
    f.table = table;
    return f;
}

TLI_FN void tli_scan_wrong(tl_filter *f, tl_status status, const char *text)
{
    if (f->status == TL_OK) {
        f->status = status;
        f->text = text;
    }
}

TLI_FN tl_condition_of *tli_scan_add(tl_filter *f, tl_span column, tl_compare compare)
{
    const tl_field *field = tl_metadata_field(&f->table->metadata, column);
    tl_condition_of *c;
    if (field == NULL || f->count == TL_FILTER_MAX) {
        tli_scan_wrong(f, field == NULL ? TL_ABSENT : TL_MISUSE,
                       field == NULL ? "a filter on a column that is not there" : "a filter of too many conditions");
        return NULL;
    }
    c = &f->conditions[f->count++];
    c->field = field;
    c->compare = compare;
    return c;
}

TLI_FN void tli_scan_check(tl_filter *f, const tl_condition_of *c, const tl_value *v)
{
    tli_scan_key key;
    if (!tli_scan_key_of(c->field, v, &key))
        tli_scan_wrong(f, TL_MISUSE, "a filter's value is of another type than its column");
}

TL_API void tl_filter_compare(tl_filter *filter, tl_span column, tl_compare compare, tl_value value)
{
    tl_condition_of *c = tli_scan_add(filter, column, compare);
    if (c == NULL)
        return;
    c->value = value;
    c->count = 1;
    if (compare > TL_GREATER_EQUAL)
        tli_scan_wrong(filter, TL_MISUSE, "tl_filter_compare takes =, <, <=, > and >=");
    else
        tli_scan_check(filter, c, &value);
}

TL_API void tl_filter_equal(tl_filter *filter, const char *column, tl_value value)
{
    tl_filter_compare(filter, tl_text(column), TL_EQUAL, value);
}

TL_API void tl_filter_between(tl_filter *filter, const char *column, tl_value low, tl_value high)
{
    tl_filter_compare(filter, tl_text(column), TL_GREATER_EQUAL, low);
    tl_filter_compare(filter, tl_text(column), TL_LESS_EQUAL, high);
}

TL_API void tl_filter_in(tl_filter *filter, tl_span column, const tl_value *values, uint32_t count)
{
    tl_condition_of *c = tli_scan_add(filter, column, TL_IN);
    uint32_t i;
    if (c == NULL)
        return;
    c->values = values;
    c->count = count;
    for (i = 0; i < count; i++)
        tli_scan_check(filter, c, &values[i]);
}

TL_API void tl_filter_null(tl_filter *filter, tl_span column, int is_null)
{
    (void)tli_scan_add(filter, column, is_null ? TL_IS_NULL : TL_IS_NOT_NULL);
}

/* ---- can a file match? ---- */

/* What is known of one column of one file. */
typedef struct tli_scan_range {
    tli_scan_key low, high;
    uint8_t no_nulls;  /* none is null */
    uint8_t all_null;
    uint8_t no_nans;   /* none is NaN, or the column has no such values */
} tli_scan_range;

/* A text's bound may be cut short: a value that goes on from an upper bound may be there. */
TLI_FN int tli_scan_above(const tli_scan_key *value, const tli_scan_key *high)
{
    if (high->kind != value->kind || high->kind == TLI_SCAN_UNKNOWN || tli_scan_order(value, high) <= 0)
        return 0;
    return !high->truncated || value->bytes.size < high->bytes.size
           || (high->bytes.size != 0 && TLI_COMPARE(value->bytes.data, high->bytes.data, high->bytes.size) != 0);
}

TLI_FN int tli_scan_below(const tli_scan_key *value, const tli_scan_key *low)
{
    return low->kind == value->kind && low->kind != TLI_SCAN_UNKNOWN && tli_scan_order(value, low) < 0;
}

/* Nothing lies beyond a bound, seen from a value that equals it. But it does where the bound may be cut, and beyond
   zero: some engines sort -0.0 before 0.0. */
TLI_FN int tli_scan_touches(const tli_scan_key *value, const tli_scan_key *bound)
{
    return bound->kind == value->kind && bound->kind != TLI_SCAN_UNKNOWN && !bound->truncated
           && tli_scan_order(value, bound) == 0
           && (value->kind != TLI_SCAN_REAL || value->real < 0 || value->real > 0);
}

/* Can a row with `column compare value` be there? NaN is greater than every number in the engines that read these
   tables, so an upper bound says nothing about > where NaNs may be. */
TLI_FN int tli_scan_may(const tli_scan_range *r, tl_compare compare, const tli_scan_key *value)
{
    if (r->all_null)
        return 0;
    if (value->kind == TLI_SCAN_UNKNOWN)
        return 1;
    if (value->kind == TLI_SCAN_REAL && tli_scan_nan(value->real))
        return compare == TL_LESS || compare == TL_LESS_EQUAL || !r->no_nans;
    switch (compare) {
    case TL_EQUAL:
    case TL_IN:
        return !tli_scan_below(value, &r->low) && !tli_scan_above(value, &r->high);
    case TL_LESS:
        return !tli_scan_below(value, &r->low) && !tli_scan_touches(value, &r->low);
    case TL_LESS_EQUAL:
        return !tli_scan_below(value, &r->low);
    case TL_GREATER:
        return !r->no_nans || !(tli_scan_above(value, &r->high) || tli_scan_touches(value, &r->high));
    default:
        return !r->no_nans || !tli_scan_above(value, &r->high);
    }
}

/* A condition whose values are in the form of bounds. */
typedef struct tli_scan_test {
    const tl_condition_of *condition;
    tli_scan_key *keys; /* condition->count of them */
} tli_scan_test;

TLI_FN int tli_scan_may_match(const tli_scan_test *test, const tli_scan_range *r)
{
    const tl_condition_of *c = test->condition;
    uint32_t i;
    if (c->compare == TL_IS_NULL)
        return !r->no_nulls;
    if (c->compare == TL_IS_NOT_NULL)
        return !r->all_null;
    for (i = 0; i < c->count; i++)
        if (tli_scan_may(r, c->compare, &test->keys[i]))
            return 1;
    return 0;
}

TLI_FN void tli_scan_range_of(const tl_field *f, const tl_column *c, tli_scan_range *r)
{
    int real = f->type == TL_ICEBERG_FLOAT || f->type == TL_ICEBERG_DOUBLE;
    tli_scan_bound(f, c->lower, &r->low);
    tli_scan_bound(f, c->upper, &r->high);
    r->no_nulls = (uint8_t)(c->has_nulls && c->nulls == 0);
    r->all_null = (uint8_t)(c->has_nulls && c->has_values && c->values == c->nulls && c->values != 0);
    r->no_nans = (uint8_t)(!real || (c->has_nans && c->nans == 0));
}

/* Microseconds where a partition begins; days, hours or months since 1970. 0: out of range. */
TLI_FN int tli_scan_partition_start(tl_transform transform, int64_t value, int64_t *micros)
{
    int64_t per = transform == TL_TRANSFORM_HOUR ? 3600000000 : 86400000000, days, year, month;
    if (transform == TL_TRANSFORM_MONTH || transform == TL_TRANSFORM_YEAR) {
        month = transform == TL_TRANSFORM_YEAR ? value * 12 : value;
        year = 1970 + (month >= 0 ? month / 12 : -((11 - month) / 12));
        month = month - (year - 1970) * 12; /* 0..11 */
        year -= month < 2; /* March is the first month of a year that ends in February */
        month = (month + 10) % 12;
        days = 365 * year + (year >= 0 ? year / 4 - year / 100 + year / 400
                                       : -((3 - year) / 4) + (99 - year) / 100 - (399 - year) / 400);
        days += (153 * month + 2) / 5 - 719468;
        value = days;
    }
    if (value > INT64_MAX / per || value < INT64_MIN / per)
        return 0;
    *micros = value * per;
    return 1;
}

/* What a file's partition says of the column it comes from. Before 1970 some writers
   rounded up, so that partition v holds what lies in v-1, and 0 what lies in -1. */
TLI_FN int tli_scan_partition_range(const tl_metadata *m, const tl_field *f, const tl_file *file, tli_scan_range *r)
{
    int64_t low = file->partition, high = (int64_t)file->partition + 1, scale = tli_scan_nanos(f->type) ? 1000 : 1;
    TLI_FILL(r, 0, sizeof *r);
    if (!file->has_partition || f->id != m->partition_source_id || m->transform < TL_TRANSFORM_HOUR
        || m->transform > TL_TRANSFORM_YEAR)
        return 0;
    if (low <= 0)
        low--;
    if (!tli_scan_partition_start(m->transform, low, &low) || !tli_scan_partition_start(m->transform, high, &high))
        return 0;
    if (f->type == TL_ICEBERG_DATE) {
        r->low.integer = low / 86400000000;
        r->high.integer = high / 86400000000 - 1;
    } else if (tli_scan_is_stamp(f->type) && high <= INT64_MAX / scale && low >= INT64_MIN / scale) {
        r->low.integer = low * scale;
        r->high.integer = high * scale - 1;
    } else
        return 0;
    r->low.kind = r->high.kind = TLI_SCAN_INT;
    r->no_nans = 1;
    return 1;
}

/* ---- plans ---- */

/* Marks the files that cannot match: by partition, then by statistics. */
TLI_FN void tli_scan_by_partition(const tl_metadata *m, const tli_scan_test *tests, uint32_t count,
                                  const tl_files *files, uint8_t *out)
{
    uint32_t i;
    size_t row;
    tl_file file;
    tli_scan_range range;
    for (i = 0; i < count; i++) {
        const tl_condition_of *c = tests[i].condition;
        if (c->compare > TL_IN || c->field->id != m->partition_source_id)
            continue;
        for (row = 0; row < files->count; row++) {
            if (out[row])
                continue;
            tl_files_get(files, row, &file);
            if (tli_scan_partition_range(m, c->field, &file, &range) && !tli_scan_may_match(&tests[i], &range))
                out[row] = 1;
        }
    }
}

TLI_FN void tli_scan_by_statistics(const tli_scan_test *tests, uint32_t count, const tl_columns *columns,
                                   uint8_t *out)
{
    size_t row;
    uint32_t i;
    tl_column column;
    tli_scan_range range;
    for (row = 0; row < columns->count; row++) {
        tl_columns_get(columns, row, &column);
        if (out[column.file])
            continue;
        for (i = 0; i < count; i++) {
            if (tests[i].condition->field->id != column.field_id)
                continue;
            tli_scan_range_of(tests[i].condition->field, &column, &range);
            if (!tli_scan_may_match(&tests[i], &range)) {
                out[column.file] = 1;
                break;
            }
        }
    }
}

TLI_FN tl_status tli_scan_prune(tl_table *table, const tl_filter *filter, const tl_allocator *a, const tl_files *files,
                                uint8_t *out, tl_error *err)
{
    tli_scan_test tests[TL_FILTER_MAX];
    tl_columns columns;
    tli_scan_key *keys;
    size_t total = 0;
    uint32_t i, k;
    tl_status st = tl_head_columns(&table->head, TL_COLUMNS_ALL, &columns, err);
    if (st != TL_OK)
        return st;
    for (i = 0; i < filter->count; i++)
        total += filter->conditions[i].count;
    keys = total > SIZE_MAX / 2 / sizeof *keys ? NULL : (tli_scan_key *)tli_mem_new(a, (total + 1) * sizeof *keys);
    if (keys == NULL)
        return tli_mem_failed(a, err);
    for (i = 0, total = 0; i < filter->count; i++) { /* once, not for every file */
        const tl_condition_of *c = &filter->conditions[i];
        tests[i].condition = c;
        tests[i].keys = keys + total;
        for (k = 0; k < c->count; k++)
            (void)tli_scan_key_of(c->field, c->values != NULL ? &c->values[k] : &c->value, &keys[total++]);
    }
    tli_scan_by_partition(&table->metadata, tests, filter->count, files, out);
    tli_scan_by_statistics(tests, filter->count, &columns, out);
    tli_mem_delete(a, keys, (total + 1) * sizeof *keys);
    return TL_OK;
}

/* Newest partition first, then the greater path; no partition last. */
TLI_FN int tli_scan_before(const tl_plan_file *a, const tl_plan_file *b)
{
    if (a->file.has_partition != b->file.has_partition)
        return a->file.has_partition;
    if (a->file.has_partition && a->file.partition != b->file.partition)
        return a->file.partition > b->file.partition;
    return tl_span_compare(a->file.path, b->file.path) > 0;
}

TLI_FN int tli_scan_path_before(const tl_plan_file *a, const tl_plan_file *b)
{
    return tl_span_compare(a->file.path, b->file.path) < 0;
}

/* Merge sort of pointers by runs that double: no recursion, and no worse than n log n. Answers which of the two arrays
   has the result. */
TLI_FN const tl_plan_file **tli_scan_sort(const tl_plan_file **order, const tl_plan_file **spare, size_t count,
                                          int (*before)(const tl_plan_file *, const tl_plan_file *))
{
    size_t run, i;
    for (run = 1; run < count; run *= 2) {
        const tl_plan_file **swap = order;
        for (i = 0; i < count;) {
            size_t a = i, b = TLI_MIN(i + run, count), a_end = b, b_end = TLI_MIN(b + run, count);
            for (; i < b_end; i++)
                spare[i] = a < a_end && (b >= b_end || !before(order[b], order[a])) ? order[a++] : order[b++];
        }
        order = spare;
        spare = swap;
    }
    return order;
}

/* Finds the files' footers in the head: files by path (in `order`, with as much room behind it), each footer by binary
   search. None, or none to be had: they are read from the files. */
TLI_FN void tli_scan_footers(tl_table *table, tl_plan_file *files, const tl_plan_file **order, size_t count)
{
    const tl_plan_file **by_path;
    tl_footers footers;
    tl_footer footer;
    size_t i;
    if (tl_head_footers(&table->head, &footers, NULL) != TL_OK || footers.count == 0)
        return;
    by_path = tli_scan_sort(order, order + count, count, tli_scan_path_before);
    for (i = 0; i < footers.count; i++) {
        size_t low = 0, high = count;
        tl_footers_get(&footers, i, &footer);
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (tl_span_compare(by_path[middle]->file.path, footer.path) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < count && tl_span_equal(by_path[low]->file.path, footer.path))
            files[by_path[low] - files].footer = footer.footer;
    }
}

/* Gathers the files that are left, in their order. `out` marks those that are not. */
TLI_FN tl_status tli_scan_gather(tl_plan *plan, tl_table *table, const tl_files *files, const uint8_t *out, int footers,
                                 tl_error *err)
{
    const tl_allocator *a = &plan->allocator;
    size_t i, n = 0, pointers;
    tl_plan_file *kept, *sorted;
    const tl_plan_file **order, **result;
    for (i = 0; i < files->count; i++)
        n += !out[i];
    pointers = 2 * (n + 1) * sizeof *order;
    kept = (tl_plan_file *)tli_mem_new(a, (n + 1) * sizeof *kept);
    sorted = (tl_plan_file *)tli_mem_new(a, (n + 1) * sizeof *sorted);
    order = (const tl_plan_file **)tli_mem_new(a, pointers);
    plan->count = n;
    plan->capacity = n + 1;
    plan->skipped = files->count - n;
    plan->file = sorted;
    if (kept != NULL && sorted != NULL && order != NULL) {
        for (i = n = 0; i < files->count; i++)
            if (!out[i]) {
                tl_files_get(files, i, &kept[n].file);
                kept[n].footer = tli_text_span(NULL, 0);
                order[n] = &kept[n];
                n++;
            }
        if (footers)
            tli_scan_footers(table, kept, order, n);
        for (i = 0; i < n; i++)
            order[i] = &kept[i];
        result = tli_scan_sort(order, order + n, n, tli_scan_before);
        for (i = 0; i < n; i++)
            sorted[i] = *result[i];
    }
    i = kept != NULL && sorted != NULL && order != NULL;
    tli_mem_delete(a, kept, (plan->count + 1) * sizeof *kept);
    tli_mem_delete(a, order, pointers);
    return i ? TL_OK : tli_mem_failed(a, err);
}

TL_API tl_status tl_plan_scan(tl_plan *plan, tl_table *table, const tl_filter *filter, const tl_plan_options *options,
                              tl_error *err)
{
    tl_files files;
    uint8_t *out;
    tl_error local;
    tl_status st;
    err = err != NULL ? err : &local;
    TLI_FILL(plan, 0, sizeof *plan);
    plan->allocator = tli_mem_allocator(options != NULL ? &options->allocator : NULL);
    if (filter != NULL && filter->status != TL_OK)
        return tli_err(err, filter->status, filter->text, TL_NO_POSITION);
    if (filter != NULL && filter->table != table)
        return tli_err(err, TL_MISUSE, "a filter that was made for another table version", TL_NO_POSITION);
    if (!table->has_files)
        return tli_err(err, TL_MISUSE, "the table was loaded without its files", TL_NO_POSITION);
    st = tl_head_files(&table->head, &files, err);
    if (st != TL_OK)
        return st;
    out = (uint8_t *)tli_mem_new(&plan->allocator, files.count + 1);
    if (out == NULL)
        return tli_mem_failed(&plan->allocator, err);
    TLI_FILL(out, 0, files.count + 1);
    if (filter != NULL && filter->count != 0)
        st = tli_scan_prune(table, filter, &plan->allocator, &files, out, err);
    if (st == TL_OK)
        st = tli_scan_gather(plan, table, &files, out, options == NULL || !options->no_footers, err);
    tli_mem_delete(&plan->allocator, out, files.count + 1);
    plan->table = tl_table_keep(table);
    if (st != TL_OK)
        tl_plan_free(plan);
    return st;
}

TL_API void tl_plan_free(tl_plan *plan)
{
    tl_allocator a = tli_mem_allocator(&plan->allocator);
    tli_mem_delete(&a, (void *)(uintptr_t)plan->file, plan->capacity * sizeof *plan->file);
    tl_table_drop(plan->table);
    TLI_FILL(plan, 0, sizeof *plan);
}
#endif /* TIMELAKE_NO_LAKE */

/* >>op: the core of every machine: slots for requests, their answers, retries, cancel, and both ways of driving.

   A machine queues requests in `advance`, is called again when all of them are answered, and ends by tli_op_finish or
   tli_op_fail. It sees answers only there; `take` may reduce a listing while its entries are still at hand. */
#if !defined(TIMELAKE_NO_LAKE) || !defined(TIMELAKE_NO_PROBE)
typedef struct tli_op_machine {
    /* Called with nothing queued and nothing out: queue requests, or finish. Returns 0 when it was cut at
       options.step_bytes and has work left. */
    int (*advance)(tl_op *op);
    /* Reduces the entries of a listing into slot->number, page by page. NULL: the machine lists nothing. */
    void (*take)(tl_op *op, tli_op_slot *slot, const tl_completion *completion);
    /* A fire and forget request, if there is one: returns 1. May be NULL. */
    int (*spare)(tl_op *op, tl_request *request);
    void (*end)(tl_op *op);
    const char *(*state)(const tl_op *op);
    uint8_t resends; /* failed requests that name a delay are sent anew */
    uint8_t settles; /* advance is called after a cancel too, to find out what became of a write */
} tli_op_machine;

enum { TLI_OP_FREE, TLI_OP_QUEUED, TLI_OP_OUT, TLI_OP_PAUSE, TLI_OP_PAUSING, TLI_OP_ANSWERED };

/* A token: sequence, slot, and whether it is a pause before a request is sent anew or a machine's own sleep. */
#define TLI_OP_SLOT_BITS 24u
#define TLI_OP_TOKEN(sequence, slot, sleep)                                                                            \
    (((sequence) << (TLI_OP_SLOT_BITS + 1)) | ((uint64_t)(slot) << 1) | (sleep))

#define TLI_OP_TEXT 200u

TL_API tl_completion tl_completed(uint64_t token, tl_outcome outcome)
{
    tl_completion c;
    TLI_FILL(&c, 0, sizeof c);
    c.token = token;
    c.outcome = outcome;
    c.retry_ms = -1;
    c.object_size = TL_WHOLE;
    return c;
}

/* ---- for machines ---- */

/* Makes the operation ready. `op` needs no clearing before. */
TLI_FN void tli_op_begin(tl_op *op, const tli_op_machine *machine, const tl_op_options *options)
{
    tl_op_options *o = &op->options;
    TLI_FILL(op, 0, sizeof *op);
    op->machine = machine;
    if (options != NULL)
        *o = *options;
    o->allocator = tli_mem_allocator(&o->allocator);
    o->accept = o->accept != 0 ? o->accept : (uint64_t)4 << 30;
    o->accept = TLI_MIN(o->accept, (uint64_t)(SIZE_MAX / 2));
    o->in_flight = o->in_flight != 0 ? TLI_MIN(o->in_flight, 255u) : 32;
    o->retries = o->retries == UINT32_MAX ? 0 : o->retries != 0 ? o->retries : 3;
    op->slots = op->first;
    op->slot_capacity = TLI_OP_INLINE;
    op->turn = TL_WAITS;
}

TLI_FN void tli_op_drop_texts(tl_op *op, tli_op_slot *slot)
{
    if (slot->etag.data != NULL)
        tli_mem_delete(&op->options.allocator, (void *)(uintptr_t)slot->etag.data,
                       slot->etag.size + slot->page.size + 1);
    slot->etag = slot->page = tli_text_span(NULL, 0);
}

TLI_FN void tli_op_drop_answer(tl_op *op, tli_op_slot *slot)
{
    tli_mem_blob_drop(slot->body);
    slot->body = NULL;
    tli_op_drop_texts(op, slot);
}

/* Forgets all answers: the machine is done with this round. */
TLI_FN void tli_op_clear(tl_op *op)
{
    uint32_t i;
    for (i = 0; i < op->slot_count; i++)
        tli_op_drop_answer(op, &op->slots[i]);
    op->slot_count = op->queued = op->sleeping = 0;
}

/* Puts a slot at the end of the queue: requests are handed out in the order in which they were asked for. */
TLI_FN void tli_op_enqueue(tl_op *op, tli_op_slot *slot, uint8_t state)
{
    uint32_t i = (uint32_t)(slot - op->slots);
    if (op->queued++ == 0)
        op->queue_head = i;
    else
        op->slots[op->queue_tail].next = i;
    op->queue_tail = i;
    slot->state = state;
}

TLI_FN void tli_op_fail(tl_op *op, tl_status status, const char *text, uint64_t position)
{
    op->turn = TL_FAILED;
    (void)tli_err(&op->error, status, text, position);
}

/* Keeps which key the error is about, and what the store said: best effort, in one block. */
TLI_FN void tli_op_about(tl_op *op, tl_span key, tl_span said)
{
    size_t more = TLI_MIN(said.size, (size_t)TLI_OP_TEXT);
    if (op->error_text != NULL || key.size > SIZE_MAX / 4)
        return;
    op->error_text = (char *)tli_mem_new(&op->options.allocator, key.size + TLI_OP_TEXT);
    if (op->error_text == NULL)
        return;
    TLI_FILL(op->error_text, 0, key.size + TLI_OP_TEXT);
    if (key.size != 0)
        TLI_COPY(op->error_text, key.data, key.size);
    if (more != 0)
        TLI_COPY(op->error_text + key.size, said.data, more);
    op->error_key_size = key.size;
}

TLI_FN void tli_op_finish(tl_op *op, tl_turn turn)
{
    op->turn = (uint8_t)turn;
}

TLI_FN tl_status tli_op_grow(tl_op *op)
{
    uint32_t capacity = op->slot_capacity * 2;
    tli_op_slot *slots;
    size_t bytes = (size_t)capacity * sizeof *slots, old = (size_t)op->slot_capacity * sizeof *slots;
    if (op->slots == op->first) {
        slots = (tli_op_slot *)tli_mem_new(&op->options.allocator, bytes);
        if (slots != NULL)
            TLI_COPY(slots, op->first, old);
    } else {
        slots = (tli_op_slot *)tli_mem_resize(&op->options.allocator, op->slots, old, bytes);
    }
    if (slots == NULL)
        return TL_NO_MEMORY;
    op->slots = slots;
    op->slot_capacity = capacity;
    return TL_OK;
}

/* Queues a request: the caller fills in the rest of what is returned before its advance ends. NULL: the operation has
   failed (no memory), return 1 from advance. Slots are numbered in the order of these calls; later calls move them. */
TLI_FN tl_request *tli_op_request(tl_op *op, tl_request_kind kind, tl_span key, tl_purpose purpose)
{
    tli_op_slot *slot;
    if (op->slot_count == 1u << TLI_OP_SLOT_BITS
        || (op->slot_count == op->slot_capacity && tli_op_grow(op) != TL_OK)) {
        tli_op_clear(op);
        tli_op_fail(op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    slot = &op->slots[op->slot_count++];
    TLI_FILL(slot, 0, sizeof *slot);
    slot->object_size = TL_WHOLE;
    slot->request.kind = kind;
    slot->request.key = key;
    slot->request.purpose = purpose;
    slot->request.length = TL_WHOLE;
    slot->request.round = op->round + 1; /* nothing is out: all rounds before are over */
    slot->request.accept = kind == TL_GET ? op->options.accept : 0;
    tli_op_enqueue(op, slot, TLI_OP_QUEUED);
    return &slot->request;
}

/* The answer to request `i` of this round. */
TLI_INLINE tli_op_slot *tli_op_answer(tl_op *op, uint32_t i)
{
    TLI_ASSERT(i < op->slot_count);
    return &op->slots[i];
}

/* Asks for the next page of a listing that was cut, in the same slot: `number` goes on from page to page. */
TLI_FN void tli_op_list_on(tl_op *op, tli_op_slot *slot)
{
    TLI_ASSERT(slot->state == TLI_OP_ANSWERED && slot->more);
    slot->request.page = slot->page;
    slot->request.round = op->round + 1;
    slot->more = 0;
    slot->tries = 0;
    tli_op_enqueue(op, slot, TLI_OP_QUEUED);
}

/* Ends the operation because of an answer that is no good: failed, unsupported, cancelled, never sent. The text is the
   store's own when it said something. */
TLI_FN void tli_op_fail_answer(tl_op *op, const tli_op_slot *slot)
{
    static const struct {
        tl_outcome outcome;
        tl_status status;
        const char *text;
    } table[] = {
        {TL_OUTCOME_OK, TL_STORE, "the store answered what it must not"},
        {TL_OUTCOME_NOT_FOUND, TL_ABSENT, "the object is not there"},
        {TL_OUTCOME_NOT_MODIFIED, TL_STORE, "not modified, without a condition"},
        {TL_OUTCOME_PRECONDITION, TL_STORE, "precondition failed, without a condition"},
        {TL_OUTCOME_UNSUPPORTED, TL_UNSUPPORTED, "the store cannot do this request"},
        {TL_OUTCOME_FAILED, TL_STORE, "the request failed"},
        {TL_OUTCOME_UNKNOWN, TL_STORE, "the outcome of the request is unknown"},
        {TL_OUTCOME_CANCELLED, TL_CANCELLED, "cancelled"},
        {TL_OUTCOME_NEVER_SENT, TL_STORE, "the request was never sent"},
    };
    size_t i;
    for (i = 0; i < TLI_COUNT(table); i++)
        if (table[i].outcome == slot->outcome) {
            int cancelled = op->cancelled && slot->outcome >= TL_OUTCOME_FAILED;
            tli_op_fail(op, cancelled ? TL_CANCELLED : table[i].status, cancelled ? "cancelled" : table[i].text,
                        TL_NO_POSITION);
        }
    tli_op_about(op, slot->request.key, slot->page);
}

/* The body of an answer, moved out: the caller has its count now. */
TLI_FN tli_blob *tli_op_take_body(tli_op_slot *slot)
{
    tli_blob *body = slot->body;
    slot->body = NULL;
    return body;
}

/* ---- stepping ---- */

TLI_FN void tli_op_trace(tl_op *op, const tl_request *request, const tl_completion *completion)
{
    if (op->options.trace != NULL)
        op->options.trace(op->options.trace_context, op, request, completion);
}

/* A sleep that began later than now is over: the clock was set back. */
TLI_INLINE int tli_op_over(const tli_op_slot *slot, int64_t now)
{
    return now >= slot->until || now < slot->began;
}

TLI_INLINE int tli_op_sleeps(const tli_op_slot *slot)
{
    return slot->state == TLI_OP_PAUSE || slot->state == TLI_OP_PAUSING
           || (slot->state == TLI_OP_OUT && slot->request.kind == TL_SLEEP);
}

/* The pause or the machine's sleep ends: the request goes out anew, or the sleep is answered. */
TLI_FN void tli_op_wake(tl_op *op, tli_op_slot *slot)
{
    op->sleeping--;
    if (slot->state == TLI_OP_PAUSE) { /* its place in the queue is now the request's own */
        slot->state = TLI_OP_QUEUED;
        return;
    }
    op->out--;
    if (slot->request.kind == TL_SLEEP) {
        slot->state = TLI_OP_ANSWERED;
        slot->outcome = TL_OUTCOME_OK;
    } else {
        tli_op_enqueue(op, slot, TLI_OP_QUEUED);
    }
}

TLI_FN void tli_op_wake_due(tl_op *op, int64_t now)
{
    uint32_t i;
    for (i = 0; op->sleeping != 0 && i < op->slot_count; i++)
        if (tli_op_sleeps(&op->slots[i]) && tli_op_over(&op->slots[i], now))
            tli_op_wake(op, &op->slots[i]);
}

/* Hands the first of the queue out, or the sleep that precedes sending it anew. */
TLI_FN int tli_op_hand_out(tl_op *op, int64_t now, tl_request *request)
{
    tli_op_slot *slot;
    int pause, sleep;
    if (op->queued == 0 || op->out >= op->options.in_flight)
        return 0;
    slot = &op->slots[op->queue_head];
    pause = slot->state == TLI_OP_PAUSE;
    sleep = pause || slot->request.kind == TL_SLEEP;
    slot->request.token = TLI_OP_TOKEN(++op->sequence, op->queue_head, (uint64_t)sleep);
    *request = slot->request;
    if (pause) {
        TLI_FILL(request, 0, sizeof *request);
        request->token = slot->request.token;
        request->kind = TL_SLEEP;
        request->purpose = TL_PURPOSE_PAUSE;
        request->until = slot->until;
        request->background = slot->request.background;
    } else if (sleep) {
        slot->began = now;
        slot->until = slot->request.until;
        op->sleeping++;
    } else {
        op->round = TLI_MAX(op->round, slot->request.round);
        op->requests++;
    }
    slot->state = pause ? TLI_OP_PAUSING : TLI_OP_OUT;
    op->out++;
    op->queued--;
    op->queue_head = slot->next;
    tli_op_trace(op, request, NULL);
    return 1;
}

TLI_INLINE int tli_op_final(const tl_op *op)
{
    return op->turn >= TL_DONE;
}

/* The machine's turn: what it queues is a new round. */
TLI_FN void tli_op_advance(tl_op *op)
{
    if (op->cancelled && !op->machine->settles) {
        tli_op_fail(op, TL_CANCELLED, "cancelled", TL_NO_POSITION);
        tli_op_clear(op);
        return;
    }
    op->cut = (uint8_t)(op->machine->advance(op) == 0);
    TLI_ASSERT(op->cut || op->queued != 0 || tli_op_final(op));
    if (tli_op_final(op))
        tli_op_clear(op);
}

TLI_FN tl_turn tli_op_step(tl_op *op, int64_t now, tl_request *request)
{
    op->now = now;
    tli_op_wake_due(op, now);
    for (;;) {
        if (op->machine->spare != NULL && op->machine->spare(op, request)) {
            request->token = 0;
            request->background = 1;
            request->round = op->round + 1;
            op->requests++;
            tli_op_trace(op, request, NULL);
            return TL_WANTS;
        }
        if (tli_op_final(op))
            return (tl_turn)op->turn;
        if (tli_op_hand_out(op, now, request))
            return TL_WANTS;
        if (op->out != 0 || op->queued != 0)
            return TL_WAITS;
        tli_op_advance(op);
        if (op->cut)
            return TL_WAITS;
    }
}

TL_API tl_turn tl_step(tl_op *op, int64_t now, tl_request *request)
{
    tl_turn turn;
    TLI_ASSERT(op != NULL && op->machine != NULL && request != NULL);
    if (op->inside || op->driven) /* the callbacks drive it */
        return tli_op_final(op) ? (tl_turn)op->turn : TL_WAITS;
    op->inside = 1;
    turn = tli_op_step(op, now, request);
    op->inside = 0;
    return turn;
}

TL_API int64_t tl_deadline(const tl_op *op)
{
    int64_t earliest = INT64_MAX;
    uint32_t i;
    if (op->cut)
        return op->now;
    for (i = 0; op->sleeping != 0 && i < op->slot_count; i++)
        if (tli_op_sleeps(&op->slots[i]) && op->slots[i].state != TLI_OP_PAUSE)
            earliest = TLI_MIN(earliest, op->slots[i].until);
    return earliest;
}

/* ---- completing ---- */

/* ETag and next page, copied into one block; what the store said of a failure goes where the page would. */
TLI_FN tl_status tli_op_keep_texts(tl_op *op, tli_op_slot *slot, const tl_completion *c)
{
    tl_span page = c->outcome == TL_OUTCOME_OK ? c->next_page : c->text;
    size_t etag = c->etag.data == NULL || slot->request.kind == TL_STAT ? 0 : c->etag.size; /* no machine asks a stat */
    char *block;
    if (c->outcome != TL_OUTCOME_OK)
        page.size = TLI_MIN(page.size, (size_t)TLI_OP_TEXT);
    if (page.data == NULL)
        page.size = 0;
    if (etag > 65536 || page.size > 65536)
        return TL_LIMIT;
    if (page.data != NULL && slot->request.page.data != NULL && c->outcome == TL_OUTCOME_OK
        && tl_span_equal(page, slot->request.page))
        return TL_STORE; /* a listing that does not go on */
    block = NULL;
    if (etag != 0 || page.data != NULL) {
        block = (char *)tli_mem_new(&op->options.allocator, etag + page.size + 1);
        if (block == NULL)
            return TL_NO_MEMORY;
        if (etag != 0)
            TLI_COPY(block, c->etag.data, etag);
        if (page.size != 0)
            TLI_COPY(block + etag, page.data, page.size);
    }
    tli_op_drop_texts(op, slot); /* of the page before */
    slot->etag = tli_text_span(block, etag);
    slot->page = tli_text_span(block == NULL ? NULL : block + etag, page.size);
    return TL_OK;
}

/* The bytes that were asked for, whatever part the store sent. 0: it sent something else. */
TLI_FN int tli_op_cut_range(const tl_request *r, const tl_completion *c, tl_span *body)
{
    uint64_t skip;
    *body = c->body;
    if (body->data == NULL)
        body->size = 0;
    if (c->body_offset > r->offset)
        return body->size == 0;
    skip = TLI_MIN(r->offset - c->body_offset, (uint64_t)body->size);
    if (skip != 0) {
        body->data += skip;
        body->size -= (size_t)skip;
    }
    if (r->length != TL_WHOLE && body->size > r->length)
        body->size = (size_t)r->length;
    return 1;
}

/* Takes the body: by reference with a release function, else by copy. */
TLI_FN tl_status tli_op_keep_body(tl_op *op, tli_op_slot *slot, const tl_completion *c)
{
    tl_span body;
    if (!tli_op_cut_range(&slot->request, c, &body))
        return TL_STORE;
    if (body.size > slot->request.accept)
        return TL_LIMIT;
    slot->body = tli_mem_blob(&op->options.allocator, body.data, body.size, c->release, c->release_context,
                              c->body.data, c->body.size);
    return slot->body != NULL ? TL_OK : TL_NO_MEMORY;
}

TLI_INLINE int tli_op_is_write(const tl_request *r)
{
    return r->kind == TL_PUT || r->kind == TL_DELETE;
}

TLI_FN int tli_op_retries(const tl_op *op, const tli_op_slot *slot, const tl_completion *c)
{
    return c->outcome == TL_OUTCOME_FAILED && c->retry_ms >= 0 && op->machine->resends && !op->cancelled
           && slot->tries < op->options.retries && slot->request.kind != TL_SLEEP;
}

/* Files the answer in its slot. A driver's nonsense becomes a failure of the request, never of the library. */
TLI_FN tl_status tli_op_file(tl_op *op, tli_op_slot *slot, const tl_completion *c, int64_t now)
{
    tl_status st = TL_OK;
    if (tli_op_retries(op, slot, c)) {
        slot->tries++;
        slot->began = now;
        slot->until = now > INT64_MAX - c->retry_ms ? INT64_MAX : now + c->retry_ms;
        slot->request.round = op->round + 1;
        tli_op_enqueue(op, slot, TLI_OP_PAUSE);
        op->sleeping++;
        return TL_OK;
    }
    slot->state = TLI_OP_ANSWERED;
    slot->outcome = c->outcome;
    if ((unsigned)c->outcome > (unsigned)TL_OUTCOME_NEVER_SENT)
        slot->outcome = tli_op_is_write(&slot->request) ? TL_OUTCOME_UNKNOWN : TL_OUTCOME_FAILED;
    slot->object_size = c->object_size;
    slot->more = (uint8_t)(c->outcome == TL_OUTCOME_OK && c->next_page.data != NULL);
    if (c->outcome == TL_OUTCOME_OK && slot->request.kind == TL_LIST && op->machine->take != NULL)
        op->machine->take(op, slot, c);
    st = tli_op_keep_texts(op, slot, c);
    if (st == TL_OK && c->outcome == TL_OUTCOME_OK && slot->request.kind == TL_GET)
        st = tli_op_keep_body(op, slot, c);
    if (st != TL_OK && !tli_op_is_write(&slot->request)) {
        slot->outcome = TL_OUTCOME_FAILED;
        slot->more = 0;
    }
    return st;
}

/* The slot a token is out for, or NULL. *late: a sleep that ended by itself. */
TLI_FN tli_op_slot *tli_op_find(tl_op *op, uint64_t token, int *late)
{
    uint64_t i = (token >> 1) & ((1u << TLI_OP_SLOT_BITS) - 1), sequence = token >> (TLI_OP_SLOT_BITS + 1);
    *late = (token & 1) != 0 && sequence != 0 && sequence <= op->sequence;
    if (i >= op->slot_count || op->slots[i].request.token != token)
        return NULL;
    if (op->slots[i].state != TLI_OP_OUT && op->slots[i].state != TLI_OP_PAUSING)
        return NULL;
    return &op->slots[i];
}

TLI_FN void tli_op_drive(tl_op *op, int64_t now);

TL_API tl_status tl_complete(tl_op *op, const tl_completion *completion, int64_t now)
{
    int late, taken;
    tl_status st = TL_OK;
    tli_op_slot *slot = completion->token == 0 ? NULL : tli_op_find(op, completion->token, &late);
    if (slot == NULL) {
        st = completion->token != 0 && late ? TL_OK : TL_MISUSE;
        if (completion->release != NULL)
            completion->release(completion->release_context, completion->body.data, completion->body.size);
        return st;
    }
    op->now = now;
    tli_op_trace(op, &slot->request, completion);
    if (tli_op_sleeps(slot)) {
        tli_op_wake(op, slot);
        if (completion->outcome == TL_OUTCOME_CANCELLED && slot->state == TLI_OP_ANSWERED)
            slot->outcome = TL_OUTCOME_CANCELLED;
        taken = 0;
    } else {
        op->out--;
        st = tli_op_file(op, slot, completion, now);
        taken = slot->body != NULL && slot->body->release != NULL;
    }
    if (completion->release != NULL && !taken)
        completion->release(completion->release_context, completion->body.data, completion->body.size);
    if (op->driven && !op->inside)
        tli_op_drive(op, now); /* touches nothing of op after done */
    return st;
}

TL_API void tl_cancel(tl_op *op, int64_t now)
{
    uint32_t i;
    if (op->cancelled || tli_op_final(op))
        return;
    op->now = now;
    op->cancelled = 1;
    for (i = 0; i < op->slot_count; i++) {
        tli_op_slot *slot = &op->slots[i];
        if (tli_op_sleeps(slot))
            tli_op_wake(op, slot);
        if (slot->state == TLI_OP_QUEUED) {
            slot->state = TLI_OP_ANSWERED;
            slot->outcome = TL_OUTCOME_NEVER_SENT;
        }
    }
    op->queued = 0;
    if (op->driven && !op->inside)
        tli_op_drive(op, now);
}

/* ---- callbacks ---- */

TLI_FN void tli_op_drive(tl_op *op, int64_t now)
{
    tl_request request;
    tl_turn turn;
    op->inside = 1;
    do {
        turn = tli_op_step(op, TLI_MAX(now, op->now), &request);
        if (turn == TL_WANTS)
            op->io.request(op->io.user, op, &request);
    } while (turn == TL_WANTS || (turn == TL_WAITS && op->cut));
    op->inside = 0;
    if (turn != TL_WAITS) {
        tl_io io = op->io;
        op->driven = 2; /* done came: nothing is driven any more */
        io.done(io.user, op, turn);
    }
}

TL_API tl_status tl_start(tl_op *op, const tl_io *io, int64_t now)
{
    if (op->driven || op->inside || op->sequence != 0 || tli_op_final(op) || io->request == NULL || io->done == NULL)
        return TL_MISUSE;
    op->io = *io;
    op->driven = 1;
    tli_op_drive(op, now);
    return TL_OK;
}

/* ---- the end ---- */

TL_API tl_status tl_op_end(tl_op *op)
{
    if (op->machine == NULL || op->ended)
        return TL_OK;
    if (op->out != 0 || op->inside)
        return TL_MISUSE;
    tli_op_clear(op);
    op->machine->end(op);
    if (op->slots != op->first)
        tli_mem_delete(&op->options.allocator, op->slots, (size_t)op->slot_capacity * sizeof *op->slots);
    op->slots = op->first;
    op->slot_capacity = TLI_OP_INLINE;
    tli_mem_delete(&op->options.allocator, op->error_text, op->error_key_size + TLI_OP_TEXT);
    op->error_text = NULL;
    op->ended = 1;
    return TL_OK;
}

TL_API tl_status tl_op_status(const tl_op *op)
{
    switch (op->turn) {
    case TL_DONE:
        return TL_OK;
    case TL_NONE:
        return TL_ABSENT;
    case TL_FAILED:
        return op->error.status;
    default:
        return TL_MISUSE;
    }
}

TL_API const tl_error *tl_op_error(const tl_op *op)
{
    return &op->error;
}

TL_API tl_span tl_op_error_key(const tl_op *op)
{
    return op->error_text == NULL ? tli_text_span(NULL, 0) : tli_text_span(op->error_text, op->error_key_size);
}

TL_API tl_span tl_op_error_store(const tl_op *op)
{
    tl_span said = tli_text_span(NULL, 0);
    if (op->error_text != NULL && op->error_text[op->error_key_size] != 0) {
        said.data = op->error_text + op->error_key_size;
        while (said.size < TLI_OP_TEXT && said.data[said.size] != 0)
            said.size++;
    }
    return said;
}

TL_API const char *tl_op_state(const tl_op *op)
{
    return op->machine->state(op);
}

TL_API uint32_t tl_op_requests(const tl_op *op)
{
    return op->requests;
}

TL_API uint32_t tl_op_round_trips(const tl_op *op)
{
    return op->round;
}

TL_API const char *tl_outcome_text(tl_outcome outcome)
{
    static const char *const texts[] = {"ok",     "not_found", "not_modified", "precondition", "unsupported",
                                        "failed", "unknown",   "cancelled",    "never_sent"};
    return (size_t)outcome < TLI_COUNT(texts) ? texts[outcome] : "unknown";
}

TL_API const char *tl_request_text(tl_request_kind kind)
{
    static const char *const texts[] = {"GET", "STAT", "LIST", "PUT", "DELETE", "SLEEP"};
    return (size_t)kind < TLI_COUNT(texts) ? texts[kind] : "unknown";
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_PROBE */

/* >>probe: the machine of cached probing. One request is out at a time, so one key buffer serves all; the cache is read
   and changed only where a call starts or an answer is processed, under the caller's lock, never across a request. */
#ifndef TIMELAKE_NO_PROBE
enum {
    TLI_PROBE_LATEST, TLI_PROBE_WRITE, TLI_PROBE_DELETE, TLI_PROBE_CHECK, TLI_PROBE_ADVANCE, TLI_PROBE_ID,
        TLI_PROBE_LIST
};
enum {
    TLI_PROBE_START, TLI_PROBE_PROBING, TLI_PROBE_VERIFYING, TLI_PROBE_LISTING, TLI_PROBE_OBJECT, TLI_PROBE_CHECKING,
    TLI_PROBE_PUTTING, TLI_PROBE_DELETING, TLI_PROBE_BOUNDARY, TLI_PROBE_MOVING
};

#define TLI_PROBE_LIMIT 4u
#define TLI_PROBE_ROUNDS 32u
#define TLI_PROBE_PAGES 100000u /* of one listing: 10^8 objects */
#define TLI_PROBE_BOUNDARY_BYTES 4096u

TL_API const tl_layout *tl_slatedb_manifests(void)
{
    static const tl_layout layout = {"manifest", "manifest", "gc/manifest.boundary", 20, 0};
    return &layout;
}

TL_API const tl_layout *tl_slatedb_compactions(void)
{
    static const tl_layout layout = {"compactions", "compactions", "gc/compactions.boundary", 20, 0};
    return &layout;
}

TL_API tl_status tl_probe_init(tl_probe *probe, const tl_layout *layout, tl_span root, const tl_probe_options *options)
{
    static const tl_probe_options defaults = {
        NULL, NULL, NULL, NULL, NULL, NULL, {0, 0, 0, 0, {NULL, NULL, NULL, NULL}, NULL, NULL}, 0, 0};
    size_t fixed;
    TLI_FILL(probe, 0, sizeof *probe);
    if (layout == NULL || layout->directory == NULL || layout->suffix == NULL || layout->digits > 20)
        return TL_MISUSE;
    fixed = tl_text(layout->directory).size + tl_text(layout->suffix).size + 2 + 20;
    fixed = TLI_MAX(fixed, tl_text(layout->boundary).size);
    if (fixed > TL_PROBE_KEY || root.size > TL_PROBE_KEY - fixed)
        return TL_LIMIT;
    probe->layout = layout;
    probe->root = root;
    probe->options = options != NULL ? options : &defaults;
    return TL_OK;
}

TL_API void tl_probe_free(tl_probe *probe)
{
    tli_mem_blob_drop(probe->body);
    tli_mem_blob_drop(probe->boundary_etag);
    probe->body = probe->boundary_etag = NULL;
}

/* ---- keys ---- */

TLI_FN tl_span tli_probe_key(tl_probe_call *call, const char *first, const char *second)
{
    const tl_span parts[3] = {call->probe->root, tl_text(first), tl_text(second)};
    size_t i;
    call->key_size = 0;
    for (i = 0; i < 3; i++) {
        if (parts[i].size != 0)
            TLI_COPY(call->key + call->key_size, parts[i].data, parts[i].size);
        call->key_size += parts[i].size;
    }
    return tli_text_span(call->key, call->key_size);
}

TLI_FN void tli_probe_add(tl_probe_call *call, const char *text, size_t size)
{
    TLI_COPY(call->key + call->key_size, text, size);
    call->key_size += size;
}

/* The key of an object. */
TLI_FN tl_span tli_probe_object_key(tl_probe_call *call, uint64_t id)
{
    const tl_layout *layout = call->probe->layout;
    char digits[24];
    size_t n = tli_number_u64(digits, id), pad;
    (void)tli_probe_key(call, layout->directory, "/");
    for (pad = n; pad < layout->digits; pad++)
        tli_probe_add(call, "0", 1);
    tli_probe_add(call, digits, n);
    tli_probe_add(call, ".", 1);
    tli_probe_add(call, layout->suffix, tl_text(layout->suffix).size);
    return tli_text_span(call->key, call->key_size);
}

/* The id of a listed key, 0 when it is not one of ours. Only the very key that the id is read by counts: another
   spelling would win the listing and miss on every get. call->key holds the directory's prefix meanwhile. */
TLI_FN uint64_t tli_probe_id(const tl_probe_call *call, tl_span key)
{
    const tl_layout *layout = call->probe->layout;
    tl_span suffix = tl_text(layout->suffix);
    const char *digits = key.data + call->key_size;
    size_t n, i;
    uint64_t id = 0;
    if (key.size < call->key_size + suffix.size + 2 || TLI_COMPARE(key.data, call->key, call->key_size) != 0)
        return 0;
    n = key.size - call->key_size - suffix.size - 1;
    if (digits[n] != '.' || TLI_COMPARE(digits + n + 1, suffix.data, suffix.size) != 0 || n > 20
        || n < layout->digits || (n > TLI_MAX(layout->digits, 1u) && digits[0] == '0'))
        return 0;
    for (i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(unsigned char)digits[i] - '0';
        if (digit > 9 || id > (UINT64_MAX - digit) / 10)
            return 0;
        id = id * 10 + digit;
    }
    return id;
}

/* ---- the shared cache ---- */

TLI_FN void tli_probe_lock(const tl_probe *p)
{
    if (p->options->lock != NULL)
        p->options->lock(p->options->context);
}

TLI_FN void tli_probe_unlock(const tl_probe *p)
{
    if (p->options->unlock != NULL)
        p->options->unlock(p->options->context);
}

/* counters->member++ for the one at this offset; under the lock, since probes may share them. */
#define TLI_PROBE_COUNT(p, member)                                                                                     \
    do {                                                                                                               \
        if ((p)->options->counters != NULL)                                                                            \
            (p)->options->counters->member++;                                                                          \
    } while (0)

#define TLI_PROBE_COUNT_LOCKED(p, member)                                                                              \
    do {                                                                                                               \
        tli_probe_lock(p);                                                                                             \
        TLI_PROBE_COUNT(p, member);                                                                                    \
        tli_probe_unlock(p);                                                                                           \
    } while (0)

/* Offers an object to the cache: it only moves forward. */
TLI_FN void tli_probe_offer(tl_probe *p, uint64_t id, tli_blob *body, int by_write)
{
    tli_blob *old = NULL;
    tli_probe_lock(p);
    if (p->body == NULL || id > p->id) {
        old = p->body;
        p->body = tli_mem_blob_keep(body);
        p->id = id;
        if (by_write)
            TLI_PROBE_COUNT(p, advances_write);
        else
            TLI_PROBE_COUNT(p, advances_read);
    }
    tli_probe_unlock(p);
    tli_mem_blob_drop(old);
}

/* Empties the cache if its id lies in [from, to]; counted in *counter of the counters. */
TLI_FN void tli_probe_drop(tl_probe *p, uint64_t from, uint64_t to, uint64_t *counter)
{
    tli_blob *old = NULL;
    tli_probe_lock(p);
    if (p->body != NULL && p->id >= from && p->id <= to) {
        old = p->body;
        p->body = NULL;
        if (counter != NULL)
            (*counter)++;
    }
    tli_probe_unlock(p);
    tli_mem_blob_drop(old);
}

#define TLI_PROBE_COUNTER(p, member) ((p)->options->counters != NULL ? &(p)->options->counters->member : NULL)

/* A count on the cached body and its id; NULL when there is none (or, with `id` not 0, when it is another). */
TLI_FN tli_blob *tli_probe_cached(tl_probe *p, uint64_t only, uint64_t *id)
{
    tli_blob *body;
    tli_probe_lock(p);
    body = only == 0 || p->id == only ? tli_mem_blob_keep(p->body) : NULL;
    *id = p->id;
    tli_probe_unlock(p);
    return body;
}

/* Remembers a boundary unless a higher one is known; takes the ETag's count. Returns what is known afterwards. */
TLI_FN uint64_t tli_probe_remember(tl_probe *p, uint64_t value, tli_blob *etag)
{
    tli_blob *old = etag;
    tli_probe_lock(p);
    if (p->boundary_etag == NULL || value >= p->boundary) {
        old = p->boundary_etag;
        p->boundary_etag = etag;
        p->boundary = value;
    }
    value = p->boundary;
    tli_probe_unlock(p);
    tli_mem_blob_drop(old);
    return value;
}

/* ---- ends ---- */

TLI_FN void tli_probe_histogram(const tl_probe *p, uint32_t probes)
{
    size_t bucket = probes <= 4 ? probes : probes <= 8 ? 5 : 6;
    if (p->options->counters == NULL)
        return;
    tli_probe_lock(p);
    p->options->counters->per_read[bucket]++;
    p->options->counters->per_read_sum += probes;
    tli_probe_unlock(p);
}

TLI_FN int tli_probe_done(tl_probe_call *call, tl_turn turn)
{
    tli_op_finish(&call->op, turn);
    return 1;
}

TLI_FN int tli_probe_fail(tl_probe_call *call, tl_status status, const char *text)
{
    tli_op_fail(&call->op, status, text, TL_NO_POSITION);
    tli_op_about(&call->op, tli_text_span(call->key, call->key_size), tli_text_span(NULL, 0));
    return 1;
}

TLI_FN int tli_probe_bad_answer(tl_probe_call *call, const tli_op_slot *slot)
{
    tli_op_fail_answer(&call->op, slot);
    return 1;
}

/* What the call holds now is the candidate; its count is the call's. */
TLI_FN void tli_probe_hold(tl_probe_call *call, uint64_t id, tli_blob *body)
{
    tli_mem_blob_drop(call->held);
    call->held = body;
    call->id = id;
    call->body = body == NULL ? tli_text_span(NULL, 0) : tli_text_span(body->data, body->size);
}

/* The caller's decoder looks at the candidate. 0: it refused, and the call has failed. */
TLI_FN int tli_probe_decode(tl_probe_call *call)
{
    const tl_probe_options *o = call->probe->options;
    call->code = o->decode == NULL ? 0 : o->decode(o->context, call->id, call->body.data, call->body.size);
    if (call->code == 0)
        return 1;
    (void)tli_probe_object_key(call, call->id);
    (void)tli_probe_fail(call, TL_REFUSED, "the decoder refused the object");
    return 0;
}

/* ---- requests. These and the functions below return 1, or 0 when the call starts over with nothing out ---- */

TLI_FN int tli_probe_get(tl_probe_call *call, uint64_t id, uint8_t state, tl_request_kind kind, tl_purpose purpose)
{
    call->state = state;
    (void)tli_op_request(&call->op, kind, tli_probe_object_key(call, id), purpose);
    return 1;
}

TLI_FN int tli_probe_ask_listing(tl_probe_call *call)
{
    call->state = TLI_PROBE_LISTING;
    call->pages = 0;
    (void)tli_op_request(&call->op, TL_LIST, tli_probe_key(call, call->probe->layout->directory, "/"),
                         TL_PURPOSE_LISTING);
    return 1;
}

/* The boundary, if it changed since it was seen. */
TLI_FN int tli_probe_ask_boundary(tl_probe_call *call, uint8_t state)
{
    tl_probe *p = call->probe;
    tl_request *r;
    tli_blob *etag;
    call->state = state;
    r = tli_op_request(&call->op, TL_GET, tli_probe_key(call, p->layout->boundary, ""), TL_PURPOSE_BOUNDARY);
    if (r == NULL)
        return 1;
    r->accept = TLI_PROBE_BOUNDARY_BYTES;
    tli_probe_lock(p);
    etag = tli_mem_blob_keep(p->boundary_etag);
    tli_probe_unlock(p);
    tli_mem_blob_drop(call->etag);
    call->etag = etag;
    if (etag != NULL && etag->size != 0) {
        r->condition = TL_IF_NONE_MATCH;
        r->etag = tli_text_span(etag->data, etag->size);
    }
    return 1;
}

/* ---- the boundary ---- */

/* The number in a boundary object: white space around it, a plus sign and leading zeros are taken. */
TLI_FN int tli_probe_parse_boundary(const tli_blob *body, uint64_t *value)
{
    size_t i = 0, n = body->size, first;
    uint64_t v = 0;
    while (i < n && (body->data[i] == ' ' || (body->data[i] >= 9 && body->data[i] <= 13)))
        i++;
    while (n > i && (body->data[n - 1] == ' ' || (body->data[n - 1] >= 9 && body->data[n - 1] <= 13)))
        n--;
    i += i < n && body->data[i] == '+';
    for (first = i; i < n; i++) {
        uint64_t digit = (uint64_t)body->data[i] - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return 0;
        v = v * 10 + digit;
    }
    *value = v;
    return first < n;
}

/* What the answer to a boundary get says, remembered. 0: the call has failed. */
TLI_FN int tli_probe_read_boundary(tl_probe_call *call, uint64_t *value)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_blob *etag;
    *value = 0;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return 1;
    if (slot->outcome == TL_OUTCOME_NOT_MODIFIED && slot->request.condition == TL_IF_NONE_MATCH) {
        tli_probe_lock(p);
        *value = p->boundary;
        tli_probe_unlock(p);
        return 1;
    }
    if (slot->outcome != TL_OUTCOME_OK) {
        (void)tli_probe_bad_answer(call, slot);
        return 0;
    }
    if (!tli_probe_parse_boundary(slot->body, value)) {
        (void)tli_probe_fail(call, TL_CORRUPT, "the boundary object does not hold a number");
        return 0;
    }
    etag = tli_mem_blob(&call->op.options.allocator, slot->etag.data, slot->etag.size, NULL, NULL, NULL, 0);
    if (etag == NULL) {
        (void)tli_probe_fail(call, TL_NO_MEMORY, "out of memory");
        return 0;
    }
    *value = tli_probe_remember(p, *value, etag);
    return 1;
}

/* The boundary covers the id the call is about. */
TLI_FN int tli_probe_covered(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_probe_drop(p, call->id, call->id, TLI_PROBE_COUNTER(p, dropped_boundary));
    if (call->kind == TLI_PROBE_LATEST) {
        call->state = TLI_PROBE_START; /* over again: tli_probe_advance goes on with it */
        return 0;
    }
    if (call->kind == TLI_PROBE_DELETE)
        return tli_probe_get(call, call->id, TLI_PROBE_DELETING, TL_DELETE, TL_PURPOSE_CLEAN_UP);
    return tli_probe_fail(call, TL_CONFLICT, "the boundary covers this id");
}

TLI_FN int tli_probe_not_covered(tl_probe_call *call)
{
    if (call->kind == TLI_PROBE_DELETE)
        return tli_probe_fail(call, TL_MISUSE, "the boundary does not cover the object to delete");
    return tli_probe_done(call, TL_DONE);
}

/* Is id still above the boundary? What is remembered may answer at once, but only with no. */
TLI_FN int tli_probe_check_boundary(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    int covered;
    if (!call->checked || p->layout->boundary == NULL)
        return tli_probe_not_covered(call);
    tli_probe_lock(p);
    covered = p->boundary_etag != NULL && call->id <= p->boundary;
    tli_probe_unlock(p);
    return covered ? tli_probe_covered(call) : tli_probe_ask_boundary(call, TLI_PROBE_CHECKING);
}

TLI_FN int tli_probe_checked(tl_probe_call *call)
{
    uint64_t value;
    if (!tli_probe_read_boundary(call, &value)) {
        if (call->kind == TLI_PROBE_WRITE && call->op.error.status != TL_CANCELLED) /* the object is in */
            call->op.error.status = TL_AMBIGUOUS;
        return 1;
    }
    tli_op_clear(&call->op);
    return call->id <= value ? tli_probe_covered(call) : tli_probe_not_covered(call);
}

/* ---- latest ---- */

/* An attempt begins: warm from the cache, or cold. */
TLI_FN int tli_probe_start(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_blob *body;
    uint64_t id;
    uint32_t rounds = p->options->rounds != 0 ? p->options->rounds : TLI_PROBE_ROUNDS;
    if (call->attempts++ >= rounds)
        return tli_probe_fail(call, TL_GAVE_UP, "every object found is covered by the boundary or gone");
    call->hits = 0;
    body = tli_probe_cached(p, 0, &id);
    if (body == NULL)
        TLI_PROBE_COUNT_LOCKED(p, latest_misses);
    else
        TLI_PROBE_COUNT_LOCKED(p, latest_hits);
    tli_probe_hold(call, body == NULL ? 0 : id, body);
    if (body == NULL)
        return tli_probe_ask_listing(call);
    if (id == UINT64_MAX) /* it has no successor */
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    call->probes++;
    return tli_probe_get(call, id + 1, TLI_PROBE_PROBING, TL_GET, TL_PURPOSE_PROBE);
}

/* The successor is not there: the candidate is the newest. */
TLI_FN int tli_probe_missed(tl_probe_call *call)
{
    TLI_PROBE_COUNT_LOCKED(call->probe, probe_misses);
    tli_op_clear(&call->op);
    if (call->probe->options->verify)
        return tli_probe_get(call, call->id, TLI_PROBE_VERIFYING, TL_STAT, TL_PURPOSE_CHECK);
    return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
}

TLI_FN int tli_probe_probed(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    uint32_t limit = p->layout->limit != 0 ? p->layout->limit : TLI_PROBE_LIMIT;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return tli_probe_missed(call);
    if (slot->outcome != TL_OUTCOME_OK) {
        TLI_PROBE_COUNT_LOCKED(p, probe_errors);
        return tli_probe_bad_answer(call, slot);
    }
    TLI_PROBE_COUNT_LOCKED(p, probe_hits);
    tli_probe_hold(call, call->id + 1, tli_op_take_body(slot));
    tli_probe_offer(p, call->id, call->held, 0);
    tli_op_clear(&call->op);
    if (++call->hits >= limit || call->id == UINT64_MAX) {
        TLI_PROBE_COUNT_LOCKED(p, list_fallbacks);
        if (p->options->fallback != NULL)
            p->options->fallback(p->options->context, call->id);
        return tli_probe_ask_listing(call);
    }
    call->probes++;
    return tli_probe_get(call, call->id + 1, TLI_PROBE_PROBING, TL_GET, TL_PURPOSE_PROBE);
}

TLI_FN int tli_probe_verified(tl_probe_call *call)
{
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_outcome outcome = slot->outcome;
    if (outcome != TL_OUTCOME_OK && outcome != TL_OUTCOME_NOT_FOUND)
        return tli_probe_bad_answer(call, slot);
    tli_op_clear(&call->op);
    if (outcome == TL_OUTCOME_OK)
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    tli_probe_drop(call->probe, call->id, call->id, TLI_PROBE_COUNTER(call->probe, dropped_delete));
    return tli_probe_start(call);
}

/* The listing is in: its highest id, unless the call or the cache holds that or better. */
TLI_FN int tli_probe_listed(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_blob *body;
    uint64_t highest = slot->number, id;
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    if (slot->more) {
        if (++call->pages >= TLI_PROBE_PAGES)
            return tli_probe_fail(call, TL_LIMIT, "a listing of too many pages");
        tli_op_list_on(&call->op, slot);
        return 1;
    }
    tli_op_clear(&call->op);
    if (call->kind == TLI_PROBE_LIST)
        return tli_probe_done(call, TL_DONE);
    if (highest == 0) {
        tli_probe_drop(p, 0, UINT64_MAX, TLI_PROBE_COUNTER(p, dropped_empty_list));
        tli_probe_hold(call, 0, NULL);
        return tli_probe_done(call, TL_NONE);
    }
    if (call->held != NULL && highest <= call->id) /* an outdated listing does not take back what was just seen */
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    body = tli_probe_cached(p, highest, &id);
    tli_probe_hold(call, highest, body);
    if (body != NULL)
        return tli_probe_decode(call) ? tli_probe_check_boundary(call) : 1;
    return tli_probe_get(call, highest, TLI_PROBE_OBJECT, TL_GET, TL_PURPOSE_OBJECT);
}

TLI_FN int tli_probe_fetched(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tl_outcome outcome = slot->outcome;
    if (outcome == TL_OUTCOME_NOT_FOUND && call->kind == TLI_PROBE_ID)
        return tli_probe_done(call, TL_NONE);
    if (outcome == TL_OUTCOME_NOT_FOUND) { /* collected between the listing and the get */
        TLI_PROBE_COUNT_LOCKED(p, relists);
        tli_op_clear(&call->op);
        tli_probe_hold(call, 0, NULL);
        if (call->attempts++ >= (p->options->rounds != 0 ? p->options->rounds : TLI_PROBE_ROUNDS))
            return tli_probe_fail(call, TL_GAVE_UP, "every object listed is gone when it is read");
        return tli_probe_ask_listing(call);
    }
    if (outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    tli_probe_hold(call, call->id, tli_op_take_body(slot));
    tli_op_clear(&call->op);
    if (!tli_probe_decode(call))
        return 1;
    if (call->kind == TLI_PROBE_ID)
        return tli_probe_done(call, TL_DONE);
    tli_probe_offer(p, call->id, call->held, 0);
    return tli_probe_check_boundary(call);
}

/* ---- write, delete, advance ---- */

TLI_FN int tli_probe_put(tl_probe_call *call)
{
    tl_request *r;
    if (call->from == UINT64_MAX)
        return tli_probe_fail(call, TL_LIMIT, "the last id there is has no successor");
    call->id = call->from + 1;
    call->state = TLI_PROBE_PUTTING;
    r = tli_op_request(&call->op, TL_PUT, tli_probe_object_key(call, call->id), TL_PURPOSE_COMMIT);
    if (r == NULL)
        return 1;
    r->condition = TL_IF_ABSENT;
    r->body = &call->put;
    r->body_count = 1;
    r->body_size = call->put.size;
    return 1;
}

TLI_FN int tli_probe_was_put(tl_probe_call *call)
{
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_blob *body;
    if (slot->outcome == TL_OUTCOME_PRECONDITION)
        return tli_probe_fail(call, TL_CONFLICT, "another writer has created this id");
    if (slot->outcome == TL_OUTCOME_UNKNOWN || slot->outcome == TL_OUTCOME_CANCELLED)
        return tli_probe_fail(call, TL_AMBIGUOUS, "the object may have been created");
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    tli_op_clear(&call->op);
    body = tli_mem_blob(&call->op.options.allocator, call->put.data, call->put.size, NULL, NULL, NULL, 0);
    tli_probe_hold(call, call->id, body);
    if (body != NULL) /* no memory to remember it by: the next read probes it */
        tli_probe_offer(call->probe, call->id, body, 1);
    return tli_probe_check_boundary(call);
}

TLI_FN int tli_probe_deleted(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    if (slot->outcome != TL_OUTCOME_OK && slot->outcome != TL_OUTCOME_NOT_FOUND)
        return tli_probe_bad_answer(call, slot);
    tli_probe_drop(p, call->id, call->id, TLI_PROBE_COUNTER(p, dropped_delete));
    return tli_probe_done(call, TL_DONE);
}

TLI_FN int tli_probe_move(tl_probe_call *call, uint64_t known)
{
    tl_probe *p = call->probe;
    tl_request *r;
    tli_blob *etag;
    tli_op_clear(&call->op);
    if (known >= call->to) {
        call->id = known;
        tli_probe_drop(p, 0, call->to, TLI_PROBE_COUNTER(p, dropped_advance));
        return tli_probe_done(call, TL_DONE);
    }
    if (call->attempts++ >= (p->options->rounds != 0 ? p->options->rounds : TLI_PROBE_ROUNDS))
        return tli_probe_fail(call, TL_GAVE_UP, "the boundary object changes or vanishes at every attempt");
    call->state = TLI_PROBE_MOVING;
    r = tli_op_request(&call->op, TL_PUT, tli_probe_key(call, p->layout->boundary, ""), TL_PURPOSE_BOUNDARY);
    if (r == NULL)
        return 1;
    tli_probe_lock(p);
    etag = tli_mem_blob_keep(p->boundary_etag);
    tli_probe_unlock(p);
    tli_mem_blob_drop(call->etag);
    call->etag = etag;
    r->condition = etag == NULL || etag->size == 0 ? TL_IF_ABSENT : TL_IF_MATCH;
    if (r->condition == TL_IF_MATCH)
        r->etag = tli_text_span(etag->data, etag->size);
    call->put = tli_text_span(call->number, tli_number_u64(call->number, call->to));
    r->body = &call->put;
    r->body_count = 1;
    r->body_size = call->put.size;
    return 1;
}

TLI_FN int tli_probe_moved(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    tli_op_slot *slot = tli_op_answer(&call->op, 0);
    tli_blob *etag;
    if (slot->outcome == TL_OUTCOME_PRECONDITION) {
        tli_op_clear(&call->op);
        return tli_probe_ask_boundary(call, TLI_PROBE_BOUNDARY);
    }
    if (slot->outcome == TL_OUTCOME_UNKNOWN || slot->outcome == TL_OUTCOME_CANCELLED)
        return tli_probe_fail(call, TL_AMBIGUOUS, "the boundary may have moved");
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_probe_bad_answer(call, slot);
    etag = tli_mem_blob(&call->op.options.allocator, slot->etag.data, slot->etag.size, NULL, NULL, NULL, 0);
    if (etag == NULL)
        return tli_probe_fail(call, TL_NO_MEMORY, "out of memory");
    return tli_probe_move(call, tli_probe_remember(p, call->to, etag));
}

TLI_FN int tli_probe_boundary_read(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    uint64_t value;
    if (!tli_probe_read_boundary(call, &value))
        return 1;
    tli_probe_lock(p);
    value = p->boundary_etag != NULL ? p->boundary : value;
    tli_probe_unlock(p);
    return tli_probe_move(call, value);
}

TLI_FN int tli_probe_begin_advance(tl_probe_call *call)
{
    tl_probe *p = call->probe;
    int known;
    uint64_t value;
    if (p->layout->boundary == NULL)
        return tli_probe_fail(call, TL_MISUSE, "this layout has no boundary");
    tli_probe_lock(p);
    known = p->boundary_etag != NULL;
    value = p->boundary;
    tli_probe_unlock(p);
    return known ? tli_probe_move(call, value) : tli_probe_ask_boundary(call, TLI_PROBE_BOUNDARY);
}

/* ---- the machine ---- */

TLI_FN int tli_probe_first(tl_probe_call *call)
{
    switch (call->kind) {
    case TLI_PROBE_LATEST:
        return tli_probe_start(call);
    case TLI_PROBE_WRITE:
        return tli_probe_put(call);
    case TLI_PROBE_DELETE:
        if (!call->checked)
            return tli_probe_get(call, call->id, TLI_PROBE_DELETING, TL_DELETE, TL_PURPOSE_CLEAN_UP);
        return tli_probe_check_boundary(call);
    case TLI_PROBE_CHECK:
        return tli_probe_check_boundary(call);
    case TLI_PROBE_ADVANCE:
        return tli_probe_begin_advance(call);
    case TLI_PROBE_ID:
        return tli_probe_get(call, call->id, TLI_PROBE_OBJECT, TL_GET, TL_PURPOSE_OBJECT);
    default:
        return tli_probe_ask_listing(call);
    }
}

TLI_FN int tli_probe_next(tl_probe_call *call)
{
    switch (call->state) {
    case TLI_PROBE_START:
        return tli_probe_first(call);
    case TLI_PROBE_PROBING:
        return tli_probe_probed(call);
    case TLI_PROBE_VERIFYING:
        return tli_probe_verified(call);
    case TLI_PROBE_LISTING:
        return tli_probe_listed(call);
    case TLI_PROBE_OBJECT:
        return tli_probe_fetched(call);
    case TLI_PROBE_CHECKING:
        return tli_probe_checked(call);
    case TLI_PROBE_PUTTING:
        return tli_probe_was_put(call);
    case TLI_PROBE_DELETING:
        return tli_probe_deleted(call);
    case TLI_PROBE_BOUNDARY:
        return tli_probe_boundary_read(call);
    default:
        return tli_probe_moved(call);
    }
}

/* After a cancel nothing new begins; only what a write needs to tell its true result goes on. */
TLI_FN int tli_probe_stops(const tl_probe_call *call)
{
    int writes = call->state == TLI_PROBE_PUTTING || call->state == TLI_PROBE_MOVING
                 || call->state == TLI_PROBE_DELETING
                 || (call->state == TLI_PROBE_CHECKING && call->kind == TLI_PROBE_WRITE);
    return call->op.cancelled && !writes;
}

TLI_FN int tli_probe_advance(tl_op *op)
{
    tl_probe_call *call = (tl_probe_call *)(void *)op;
    if (tli_probe_stops(call))
        tli_op_fail(op, TL_CANCELLED, "cancelled", TL_NO_POSITION);
    else
        while (tli_probe_next(call) == 0) /* bounded by the rounds that a start counts */
            continue;
    if (call->kind == TLI_PROBE_LATEST && tli_op_final(op))
        tli_probe_histogram(call->probe, call->probes);
    return 1;
}

/* One more id of a list call; out of memory is told by a capacity of SIZE_MAX. */
TLI_FN void tli_probe_note(tl_probe_call *call, uint64_t id)
{
    const tl_allocator *a = &call->op.options.allocator;
    uint64_t *ids = (uint64_t *)(void *)(uintptr_t)call->ids;
    if (call->id_count == call->id_capacity) {
        size_t more = call->id_capacity == 0 ? 64 : call->id_capacity * 2;
        ids = (uint64_t *)tli_mem_resize(a, ids, call->id_capacity * sizeof *ids, more * sizeof *ids);
        if (ids == NULL) {
            tli_op_fail(&call->op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
            return;
        }
        call->ids = ids;
        call->id_capacity = more;
    }
    ids[call->id_count++] = id;
}

TLI_FN void tli_probe_take(tl_op *op, tli_op_slot *slot, const tl_completion *completion)
{
    tl_probe_call *call = (tl_probe_call *)(void *)op;
    size_t i;
    for (i = 0; i < completion->entry_count; i++) {
        uint64_t id = tli_probe_id(call, completion->entries[i].key);
        if (id > slot->number || (id != 0 && call->kind == TLI_PROBE_LIST)) {
            if (call->kind == TLI_PROBE_LIST && id >= call->from && id < call->to && op->turn != TL_FAILED)
                tli_probe_note(call, id);
            slot->number = TLI_MAX(slot->number, id);
        }
    }
}

TLI_FN void tli_probe_end(tl_op *op)
{
    tl_probe_call *call = (tl_probe_call *)(void *)op;
    tli_probe_hold(call, 0, NULL);
    tli_mem_blob_drop(call->etag);
    tli_mem_delete(&op->options.allocator, (void *)(uintptr_t)call->ids, call->id_capacity * sizeof *call->ids);
    call->etag = NULL;
    call->ids = NULL;
    call->id_count = call->id_capacity = 0;
}

TLI_FN const char *tli_probe_state(const tl_op *op)
{
    static const char *const names[] = {"START",    "PROBE", "VERIFY", "LIST",     "OBJECT",
                                        "CHECK",    "PUT",   "DELETE", "BOUNDARY", "MOVE"};
    return names[((const tl_probe_call *)(const void *)op)->state];
}

TLI_FN void tli_probe_begin(tl_probe_call *call, tl_probe *probe, uint8_t kind, int checked, uint64_t id)
{
    static const tli_op_machine machine = {tli_probe_advance, tli_probe_take, NULL, tli_probe_end, tli_probe_state,
                                           0, 1};
    tli_op_begin(&call->op, &machine, &probe->options->op);
    TLI_FILL((char *)call + sizeof call->op, 0, offsetof(tl_probe_call, key) - sizeof call->op);
    call->probe = probe;
    call->kind = kind;
    call->checked = (uint8_t)checked;
    call->id = id;
}

TL_API void tl_probe_latest(tl_probe_call *call, tl_probe *probe)
{
    tli_probe_begin(call, probe, TLI_PROBE_LATEST, 1, 0);
}

TL_API void tl_probe_latest_unchecked(tl_probe_call *call, tl_probe *probe)
{
    tli_probe_begin(call, probe, TLI_PROBE_LATEST, 0, 0);
}

TL_API void tl_probe_write(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body)
{
    tli_probe_begin(call, probe, TLI_PROBE_WRITE, 1, 0);
    call->from = base;
    call->put = body;
}

TL_API void tl_probe_write_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t base, tl_span body)
{
    tl_probe_write(call, probe, base, body);
    call->checked = 0;
}

TL_API void tl_probe_delete(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_DELETE, 1, id);
}

TL_API void tl_probe_delete_unchecked(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_DELETE, 0, id);
}

TL_API void tl_probe_check(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_CHECK, 1, id);
}

TL_API void tl_probe_advance(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_ADVANCE, 1, id);
    call->to = id;
}

TL_API void tl_probe_read_id(tl_probe_call *call, tl_probe *probe, uint64_t id)
{
    tli_probe_begin(call, probe, TLI_PROBE_ID, 0, id);
}

TL_API void tl_probe_list(tl_probe_call *call, tl_probe *probe, uint64_t from, uint64_t to)
{
    tli_probe_begin(call, probe, TLI_PROBE_LIST, 0, 0);
    call->from = from;
    call->to = to;
}

/* ---- counters as text ---- */

typedef struct tli_probe_line {
    const char *metric;
    const char *label; /* further label with its value, or "" */
    size_t offset;     /* in tl_probe_counters */
} tli_probe_line;

TLI_FN tl_status tli_probe_print(tl_buffer *out, const char *const *texts, size_t count, tl_span resource,
                                 uint64_t value, tl_error *err)
{
    char digits[24];
    size_t n = tli_number_u64(digits, value), i;
    tl_status st = TL_OK;
    for (i = 0; i < count && st == TL_OK; i++) {
        tl_span text = texts[i] == NULL ? resource : tl_text(texts[i]); /* NULL: the resource's place */
        st = tli_mem_append(out, text.data, text.size, err);
    }
    if (st == TL_OK)
        st = tli_mem_append(out, digits, n, err);
    return st == TL_OK ? tli_mem_append(out, "\n", 1, err) : st;
}

TLI_FN tl_status tli_probe_print_histogram(tl_buffer *out, const tl_probe_counters *c, tl_span resource, tl_error *err)
{
    static const char *const bounds[] = {"0", "1", "2", "3", "4", "8", "+Inf"};
    uint64_t count = 0;
    size_t i;
    tl_status st = tli_mem_append(out, "# TYPE slatedb_sequenced_probes_per_read histogram\n", 51, err);
    for (i = 0; i < 7 && st == TL_OK; i++) {
        const char *const texts[] = {"slatedb_sequenced_probes_per_read_bucket{resource=\"", NULL, "\",le=\"",
                                     bounds[i], "\"} "};
        count += c->per_read[i];
        st = tli_probe_print(out, texts, 5, resource, count, err);
    }
    if (st == TL_OK) {
        const char *const texts[] = {"slatedb_sequenced_probes_per_read_sum{resource=\"", NULL, "\"} "};
        st = tli_probe_print(out, texts, 3, resource, c->per_read_sum, err);
    }
    if (st == TL_OK) {
        const char *const texts[] = {"slatedb_sequenced_probes_per_read_count{resource=\"", NULL, "\"} "};
        st = tli_probe_print(out, texts, 3, resource, count, err);
    }
    return st;
}

TL_API tl_status tl_probe_counters_text(tl_buffer *out, const tl_probe_counters *counters, tl_span resource,
                                        tl_error *err)
{
    static const tli_probe_line lines[] = {
        {"slatedb_sequenced_latest_reads_total", ",cache=\"hit\"", offsetof(tl_probe_counters, latest_hits)},
        {"slatedb_sequenced_latest_reads_total", ",cache=\"miss\"", offsetof(tl_probe_counters, latest_misses)},
        {"slatedb_sequenced_probes_total", ",result=\"hit\"", offsetof(tl_probe_counters, probe_hits)},
        {"slatedb_sequenced_probes_total", ",result=\"miss\"", offsetof(tl_probe_counters, probe_misses)},
        {"slatedb_sequenced_probes_total", ",result=\"error\"", offsetof(tl_probe_counters, probe_errors)},
        {"slatedb_sequenced_cache_advances_total", ",source=\"read\"", offsetof(tl_probe_counters, advances_read)},
        {"slatedb_sequenced_cache_advances_total", ",source=\"write\"", offsetof(tl_probe_counters, advances_write)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"boundary\"",
         offsetof(tl_probe_counters, dropped_boundary)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"advance\"",
         offsetof(tl_probe_counters, dropped_advance)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"delete\"",
         offsetof(tl_probe_counters, dropped_delete)},
        {"slatedb_sequenced_cache_invalidations_total", ",reason=\"empty_list\"",
         offsetof(tl_probe_counters, dropped_empty_list)},
        {"slatedb_sequenced_list_fallbacks_total", "", offsetof(tl_probe_counters, list_fallbacks)},
        {"slatedb_sequenced_relists_total", "", offsetof(tl_probe_counters, relists)},
    };
    size_t i, start = out->size;
    tl_status st = TL_OK;
    for (i = 0; i < TLI_COUNT(lines) && st == TL_OK; i++) {
        const char *const type[] = {"# TYPE ", lines[i].metric, " counter\n"};
        const char *const texts[] = {lines[i].metric, "{resource=\"", NULL, "\"", lines[i].label, "} "};
        size_t k;
        if (i == 0 || !tl_span_equal(tl_text(lines[i].metric), tl_text(lines[i - 1].metric)))
            for (k = 0; k < 3 && st == TL_OK; k++)
                st = tli_mem_append(out, type[k], tl_text(type[k]).size, err);
        if (st == TL_OK)
            st = tli_probe_print(out, texts, 6, resource, tli_bits_u64((const uint8_t *)counters + lines[i].offset),
                                 err);
    }
    if (st == TL_OK)
        st = tli_probe_print_histogram(out, counters, resource, err);
    if (st != TL_OK)
        out->size = start;
    return st;
}
#endif /* TIMELAKE_NO_PROBE */

/* >>lake */
#ifndef TIMELAKE_NO_LAKE
typedef struct tli_lake_entry {
    tl_table *table;     /* NULL: only the bar is known */
    char *location;      /* owned */
    size_t location_size;
    uint64_t hash;       /* of the location: entries are compared by it first */
    int64_t confirmed;   /* when it was known to be the newest; INT64_MIN: never checked */
    uint64_t used;
    uint64_t barred;     /* version of a head not to be used; 0: none */
} tli_lake_entry;

TLI_FN void tli_lake_lock(const tl_lake *lake)
{
    if (lake->options.lock != NULL)
        lake->options.lock(lake->options.context);
}

TLI_FN void tli_lake_unlock(const tl_lake *lake)
{
    if (lake->options.unlock != NULL)
        lake->options.unlock(lake->options.context);
}

TL_API tl_status tl_lake_init(tl_lake *lake, const tl_lake_options *options)
{
    TLI_FILL(lake, 0, sizeof *lake);
    if (options != NULL)
        lake->options = *options;
    lake->options.limits = tl_limits_resolve(&lake->options.limits);
    lake->options.op.allocator = tli_mem_allocator(&lake->options.op.allocator);
    lake->options.op.accept = lake->options.op.accept != 0 ? lake->options.op.accept
        : lake->options.limits.object_bytes;
    lake->options.memory = lake->options.memory != 0 ? lake->options.memory : (uint64_t)256 << 20;
    return (lake->options.lock == NULL) == (lake->options.unlock == NULL) ? TL_OK : TL_MISUSE;
}

/* ---- entries; the caller holds the lock ---- */

TLI_FN tli_lake_entry *tli_lake_entry_of(tl_lake *lake, tl_span location)
{
    uint64_t hash = tli_hash_xxh64(location.data, location.size, 0);
    uint32_t i;
    for (i = 0; i < lake->count; i++) {
        tli_lake_entry *e = &lake->entries[i];
        if (e->hash == hash && tl_span_equal(tli_text_span(e->location, e->location_size), location))
            return e;
    }
    return NULL;
}

/* A new entry, or NULL without memory: then the lake just does not know. */
TLI_FN tli_lake_entry *tli_lake_add(tl_lake *lake, tl_span location)
{
    const tl_allocator *a = &lake->options.op.allocator;
    tli_lake_entry *e;
    if (lake->count == lake->capacity) {
        uint32_t more = lake->capacity == 0 ? 8 : lake->capacity * 2;
        e = (tli_lake_entry *)tli_mem_resize(a, lake->entries, lake->capacity * sizeof *e, more * sizeof *e);
        if (e == NULL)
            return NULL;
        lake->entries = e;
        lake->capacity = more;
    }
    e = &lake->entries[lake->count];
    TLI_FILL(e, 0, sizeof *e);
    e->location = (char *)tli_mem_new(a, location.size + 1);
    if (e->location == NULL)
        return NULL;
    if (location.size != 0)
        TLI_COPY(e->location, location.data, location.size);
    e->location_size = location.size;
    e->hash = tli_hash_xxh64(location.data, location.size, 0);
    e->confirmed = INT64_MIN;
    lake->count++;
    return e;
}

/* Takes the version out of an entry; the caller drops it after the lock. */
TLI_FN tl_table *tli_lake_out(tl_lake *lake, tli_lake_entry *e)
{
    tl_table *t = e->table;
    if (t != NULL)
        lake->memory -= t->memory;
    e->table = NULL;
    e->confirmed = INT64_MIN;
    return t;
}

/* The least used version beside `but`, when the budget is passed; NULL when all fits. */
TLI_FN tl_table *tli_lake_evict(tl_lake *lake, const tli_lake_entry *but)
{
    tli_lake_entry *least = NULL;
    uint32_t i;
    if (lake->memory <= lake->options.memory)
        return NULL;
    for (i = 0; i < lake->count; i++) {
        tli_lake_entry *e = &lake->entries[i];
        if (e != but && e->table != NULL && (least == NULL || e->used < least->used))
            least = e;
    }
    return least == NULL ? NULL : tli_lake_out(lake, least);
}

/* ---- doors of the machines ---- */

/* The version known of a table (one count more), and when it was confirmed. NULL: none. */
TLI_FN tl_table *tli_lake_find(tl_lake *lake, tl_span location, int64_t *confirmed)
{
    tli_lake_entry *e;
    tl_table *t = NULL;
    *confirmed = INT64_MIN;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, location);
    if (e != NULL && e->table != NULL) {
        t = tl_table_keep(e->table);
        *confirmed = e->confirmed;
        e->used = ++lake->clock;
    }
    tli_lake_unlock(lake);
    return t;
}

/* Version `version` was the newest at `when`. */
TLI_FN void tli_lake_confirm(tl_lake *lake, const tl_table *table, int64_t when)
{
    tli_lake_entry *e;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, table->location);
    if (e != NULL && e->table != NULL && e->table->version == table->version)
        e->confirmed = when;
    tli_lake_unlock(lake);
}

/* Is this table's head of `version` barred? */
TLI_FN int tli_lake_barred(tl_lake *lake, tl_span location, uint64_t version)
{
    const tli_lake_entry *e;
    int barred;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, location);
    barred = e != NULL && e->barred != 0 && e->barred == version;
    tli_lake_unlock(lake);
    return barred;
}

/* Is `known` to stay when `table` was loaded? A newer version is, unless it is of a table that was dropped and made
   anew at this place. */
TLI_FN int tli_lake_stays(const tl_table *known, const tl_table *table)
{
    if (!tl_span_equal(known->metadata.uuid, table->metadata.uuid))
        return 0;
    return known->version > table->version
           || (known->version == table->version && (known->has_files || !table->has_files));
}

/* Makes a version known, confirmed at `when` (INT64_MIN: not), and takes its count. Answers the version to go on with,
   counted for the caller: this one, the same one that was here before, or a newer one: a lake never goes back. */
TLI_FN tl_table *tli_lake_store(tl_lake *lake, tl_table *table, int64_t when)
{
    tli_lake_entry *e;
    tl_table *drop = NULL, *evicted;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, table->location);
    if (e == NULL)
        e = tli_lake_add(lake, table->location);
    if (e == NULL) {
        tli_lake_unlock(lake);
        return table;
    }
    if (e->table != NULL && tli_lake_stays(e->table, table)) {
        drop = table;
        if (e->table->version == table->version && when > e->confirmed)
            e->confirmed = when;
        table = tl_table_keep(e->table);
    } else {
        drop = tli_lake_out(lake, e);
        e->table = tl_table_keep(table);
        e->confirmed = when;
        lake->memory += table->memory;
    }
    e->used = ++lake->clock;
    while ((evicted = tli_lake_evict(lake, e)) != NULL) {
        tli_lake_unlock(lake);
        tl_table_drop(evicted);
        tli_lake_lock(lake);
        e = tli_lake_entry_of(lake, table->location);
    }
    tli_lake_unlock(lake);
    tl_table_drop(drop);
    return table;
}

TL_API void tl_lake_forget(tl_lake *lake, tl_span location)
{
    tli_lake_entry *e;
    tl_table *t;
    while (location.size != 0 && location.data[location.size - 1] == '/')
        location.size--;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, location);
    t = e == NULL ? NULL : tli_lake_out(lake, e);
    tli_lake_unlock(lake);
    tl_table_drop(t);
}

TL_API void tl_lake_bar(tl_lake *lake, const tl_table *table)
{
    tli_lake_entry *e;
    tl_table *t = NULL;
    tli_lake_lock(lake);
    e = tli_lake_entry_of(lake, table->location);
    if (e == NULL)
        e = tli_lake_add(lake, table->location);
    if (e != NULL) {
        e->barred = table->version;
        if (e->table != NULL && e->table->version == table->version)
            t = tli_lake_out(lake, e);
    }
    tli_lake_unlock(lake);
    tl_table_drop(t);
}

TL_API void tl_lake_free(tl_lake *lake)
{
    const tl_allocator *a = &lake->options.op.allocator;
    uint32_t i;
    for (i = 0; i < lake->count; i++) {
        tl_table_drop(lake->entries[i].table);
        tli_mem_delete(a, lake->entries[i].location, lake->entries[i].location_size + 1);
    }
    tli_mem_delete(a, lake->entries, lake->capacity * sizeof *lake->entries);
    lake->entries = NULL;
    lake->count = lake->capacity = 0;
}
#endif /* TIMELAKE_NO_LAKE */

/* >>load */
#ifndef TIMELAKE_NO_LAKE
enum {
    TLI_LOAD_START, TLI_LOAD_PEEK, TLI_LOAD_HINT, TLI_LOAD_PAGES, TLI_LOAD_CHECK, TLI_LOAD_CHAIN, TLI_LOAD_LIST_FILE,
    TLI_LOAD_MANIFESTS, TLI_LOAD_EXACT
};

#define TLI_LOAD_CLIMBS 100000u   /* versions that one load follows upwards */
#define TLI_LOAD_PAGES_MAX 10000u /* pages of one listing */
#define TLI_LOAD_HINT_BYTES 65536u

/* What reading the files of a chain load needs. */
typedef struct tli_load_files {
    tli_iceberg_list list;
    tli_iceberg_files files;
    uint32_t next; /* manifest to decode */
} tli_load_files;

/* ---- keys: three places behind the copy of the location, so that a round's keys stay apart ---- */

TLI_FN char *tli_load_place(tl_load *load, uint32_t i)
{
    return load->keys + load->location.size + (size_t)i * (load->location.size + TLI_KEYS_ROOM);
}

TLI_FN tl_request *tli_load_ask(tl_load *load, uint32_t place, tl_request_kind kind, const char *name, uint64_t version,
                                tl_purpose purpose)
{
    tl_span key = tli_keys_join(tli_load_place(load, place), load->location, name, version);
    return tli_op_request(&load->op, kind, key, purpose);
}

/* ---- ends ---- */

TLI_FN int tli_load_chain(tl_load *load, uint64_t version);

TLI_FN int tli_load_done(tl_load *load, tl_table *table, int confirmed)
{
    table = tli_lake_store(load->lake, table, confirmed ? load->began : INT64_MIN);
    if (!table->has_files && !load->options.no_files) { /* the lake knows a newer one, but by its metadata alone */
        uint64_t version = table->version;
        tl_table_drop(table);
        return tli_load_chain(load, version);
    }
    load->table = table;
    load->unchecked = (uint8_t)!confirmed;
    tli_op_finish(&load->op, TL_DONE);
    return 1;
}

TLI_FN int tli_load_fail(tl_load *load, const tl_error *why, tl_span key)
{
    tli_op_fail(&load->op, why->status, why->text, why->position);
    load->op.error.need = why->need;
    tli_op_about(&load->op, key, tli_text_span(NULL, 0));
    return 1;
}

TLI_FN int tli_load_fails(tl_load *load, tl_status status, const char *text, tl_span key)
{
    tl_error why;
    (void)tli_err(&why, status, text, TL_NO_POSITION);
    return tli_load_fail(load, &why, key);
}

/* An answer that is neither yes nor no. */
TLI_FN int tli_load_bad(tl_load *load, uint32_t i)
{
    const tli_op_slot *slot = tli_op_answer(&load->op, i);
    if (slot->outcome == TL_OUTCOME_NOT_FOUND) /* of a listing: no answer to what was asked, least of all "no table" */
        return tli_load_fails(load, TL_STORE, "a listing was answered by not found", slot->request.key);
    tli_op_fail_answer(&load->op, slot);
    return 1;
}

TLI_FN int tli_load_is_bad(tl_load *load, uint32_t i)
{
    tl_outcome outcome = tli_op_answer(&load->op, i)->outcome;
    return outcome != TL_OUTCOME_OK && outcome != TL_OUTCOME_NOT_FOUND;
}

/* ---- the head ---- */

TLI_FN void tli_load_release(void *context, const void *data, size_t size)
{
    (void)data;
    (void)size;
    tli_mem_blob_drop((tli_blob *)context);
}

/* The head's own metadata must not contradict it: the version before is v<N-1>, the location the table's. */
TLI_FN tl_status tli_load_check_head(const tl_load *load, const tl_table *t, tl_error *err)
{
    const tl_metadata *m = &t->metadata;
    if (!tl_span_equal(m->location, load->location))
        return tli_err(err, TL_CORRUPT, "the head describes a table at another location", TL_NO_POSITION);
    if (m->previous.data != NULL && tli_keys_parse(m->previous, load->location) != t->version - 1)
        return tli_err(err, TL_CORRUPT, "the head's metadata is of another version than the head", TL_NO_POSITION);
    return tl_contract_may_read(&m->contract, err);
}

TLI_FN tl_status tli_load_open_head(tl_load *load, tl_table *t, tl_error *err)
{
    tl_span json;
    tl_files files;
    tl_columns columns;
    tl_status st = tl_head_metadata(&t->head, &json, err);
    if (st == TL_OK)
        st = tl_metadata_parse(&t->metadata, json.data, json.size, &load->lake->options.limits, &t->allocator, err);
    if (st == TL_OK)
        st = tli_load_check_head(load, t, err);
    if (st == TL_OK)
        st = tl_head_files(&t->head, &files, err);
    if (st == TL_OK && tl_document_section(&t->head.document, tl_text("columns")) == NULL)
        st = tl_head_columns(&t->head, TL_COLUMNS_BOUNDS, &columns, err); /* says that it is missing */
    return st;
}

/* Decodes the head that was read into a table version of its own; takes the body. NULL: why_no_head says why. */
TLI_FN tl_table *tli_load_decode_head(tl_load *load, uint64_t version, tli_blob *body)
{
    const tl_lake_options *lo = &load->lake->options;
    tl_error *why = &load->why_no_head;
    tl_head_options o;
    tl_table *t = tli_table_new(&lo->op.allocator, load->location, version);
    tl_status st;
    if (t == NULL) {
        tli_mem_blob_drop(body);
        (void)tli_err(why, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    TLI_FILL(&o, 0, sizeof o);
    o.release = tli_load_release;
    o.release_context = body;
    o.codecs = lo->codecs;
    o.codec_count = lo->codec_count;
    o.allocator = lo->op.allocator;
    o.limits = lo->limits;
    o.compression = lo->compression;
    t->memory = body->size + sizeof *t;
    t->source = TL_FROM_HEAD;
    t->has_files = 1;
    st = tl_head_decode(&t->head, body->data, body->size, &o, why);
    if (st == TL_OK)
        st = tli_load_open_head(load, t, why);
    if (st != TL_OK) {
        tl_table_drop(t);
        return NULL;
    }
    t->memory += t->metadata.json.memory + tli_mem_store_size(t->head.document.store);
    TLI_FILL(why, 0, sizeof *why); /* of a peek before */
    return t;
}

/* The head's version, if answer 0 brought one that is newer than what is needed; else 0, with the reason. */
TLI_FN uint64_t tli_load_head_version(tl_load *load, tli_op_slot *slot)
{
    tl_error *why = &load->why_no_head;
    tl_header header;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND) {
        (void)tli_err(why, TL_ABSENT, "the table has no head", TL_NO_POSITION);
        return 0;
    }
    if (slot->outcome != TL_OUTCOME_OK) {
        (void)tli_err(why, TL_STORE, "the head could not be read", TL_NO_POSITION);
        return 0;
    }
    if (tl_head_peek(&header, slot->body->data, slot->body->size, why) != TL_OK)
        return 0;
    if (header.version != 0 && header.version == load->gone) {
        (void)tli_err(why, TL_ABSENT, "the head describes a version that is not there", TL_NO_POSITION);
        return 0;
    }
    if (header.version == 0 || header.version == UINT64_MAX
        || tli_lake_barred(load->lake, load->location, header.version)) {
        (void)tli_err(why, TL_CORRUPT, "the head is barred", TL_NO_POSITION);
        return 0;
    }
    return header.version;
}

/* The head of answer 0 as a table, when it is at least `least`; NULL: go on without. */
TLI_FN tl_table *tli_load_take_head(tl_load *load, uint64_t least)
{
    tli_op_slot *slot = tli_op_answer(&load->op, 0);
    uint64_t version = tli_load_head_version(load, slot);
    if (version == 0)
        return NULL;
    if (version < least) {
        (void)tli_err(&load->why_no_head, TL_ABSENT, "the head is behind the newest version", TL_NO_POSITION);
        return NULL;
    }
    return tli_load_decode_head(load, version, tli_op_take_body(slot));
}

/* ---- START ---- */

/* Is what was confirmed at `when` still good enough? */
TLI_FN int tli_load_fresh(const tl_load *load, const tl_table *t, int64_t when)
{
    int64_t age = load->options.max_age_ms, now = load->op.now;
    if (age == 0)
        age = t->metadata.contract.version_check_interval;
    return age > 0 && when != INT64_MIN && when <= now && now - when < age;
}

TLI_FN int tli_load_peek(tl_load *load);
TLI_FN int tli_load_check(tl_load *load, uint64_t version);

TLI_FN int tli_load_start(tl_load *load)
{
    int64_t confirmed;
    tl_table *t;
    if (load->options.version != 0) {
        load->state = TLI_LOAD_EXACT;
        load->version = load->options.version;
        (void)tli_load_ask(load, 0, TL_GET, "/metadata/v", load->version, TL_PURPOSE_METADATA);
        return 1;
    }
    t = tli_lake_find(load->lake, load->location, &confirmed);
    if (t != NULL && !t->has_files && !load->options.no_files) { /* known by its metadata alone: read it anew */
        tl_table_drop(t);
        t = NULL;
    }
    if (t == NULL)
        return tli_load_peek(load);
    if (tli_load_fresh(load, t, confirmed) || load->options.defer) {
        load->table = t;
        load->unchecked = (uint8_t)!tli_load_fresh(load, t, confirmed);
        tli_op_finish(&load->op, TL_DONE);
        return 1;
    }
    load->known = t;
    load->unconfirmed = (uint8_t)(confirmed == INT64_MIN);
    return tli_load_check(load, t->version);
}

/* ---- PEEK ---- */

/* Asks for the hint, beside whatever answers are kept. */
TLI_FN int tli_load_ask_hint(tl_load *load)
{
    tl_request *r = tli_load_ask(load, 2, TL_GET, "/metadata/version-hint.text", 0, TL_PURPOSE_HINT);
    if (r != NULL)
        r->accept = TLI_LOAD_HINT_BYTES;
    load->hint_read = 1;
    load->hint_slot = load->op.slot_count - 1;
    return 1;
}

TLI_FN int tli_load_peek(tl_load *load)
{
    if (load->peeks++ > 1)
        return tli_load_fails(load, TL_STORE, "the table's metadata comes and goes", load->location);
    load->state = TLI_LOAD_PEEK;
    load->began = load->op.now;
    load->hint_read = load->pages = 0;
    load->hint = load->listed = 0;
    load->listing = (uint8_t)(load->lake->options.store != TL_STORE_HTTPS
                              && (!load->lake->options.lookup_hint || load->no_hint));
    if (!load->options.no_head)
        (void)tli_load_ask(load, 0, TL_GET, "/metadata/timelake-head", 0, TL_PURPOSE_HEAD);
    if (tli_op_final(&load->op))
        return 1;
    load->list_slot = load->op.slot_count;
    if (!load->listing)
        return tli_load_ask_hint(load);
    (void)tli_load_ask(load, 1, TL_LIST, "/metadata/v", 0, TL_PURPOSE_LISTING);
    return 1;
}

TLI_FN int tli_load_hinted(tl_load *load);

/* The listing told all names: the newest is settled. */
TLI_FN int tli_load_newest_listed(tl_load *load)
{
    tl_table *t;
    if (load->listed == 0) {
        tli_op_finish(&load->op, TL_NONE);
        return 1;
    }
    t = load->options.no_head ? NULL : tli_load_take_head(load, load->listed);
    tli_op_clear(&load->op);
    return t != NULL ? tli_load_done(load, t, 1) : tli_load_chain(load, load->listed);
}

TLI_FN int tli_load_peeked(tl_load *load)
{
    tli_op_slot *slot = tli_op_answer(&load->op, load->list_slot);
    if (load->listing && slot->outcome == TL_OUTCOME_OK) {
        load->listed = slot->number;
        load->pages = slot->more;
        if (!slot->more)
            return tli_load_newest_listed(load);
    } else if (load->listing && slot->outcome != TL_OUTCOME_UNSUPPORTED) {
        return tli_load_bad(load, load->list_slot);
    }
    if (!load->options.no_head)
        load->head_table = tli_load_take_head(load, load->listed);
    return tli_load_hinted(load);
}

/* ---- HINT ---- */

TLI_FN void tli_load_read_hint(tl_load *load)
{
    const tli_op_slot *slot = tli_op_answer(&load->op, load->hint_slot);
    load->hint = slot->outcome == TL_OUTCOME_OK ? tli_keys_hint(slot->body->data, slot->body->size) : 0;
    load->hint_bad = (uint8_t)(slot->outcome == TL_OUTCOME_OK && load->hint == 0);
    if (load->hint != 0 && load->hint == load->gone) { /* it led nowhere before */
        load->hint = 0;
        load->hint_bad = 2;
    }
}

/* Nothing is known of the table, with or without a head. */
TLI_FN int tli_load_nothing(tl_load *load)
{
    if (load->hint_bad)
        return tli_load_fails(load, TL_CORRUPT,
                              load->hint_bad == 2 ? "the version hint names a version that is not there"
                                                  : "the version hint is not a number",
                              tli_keys_join(tli_load_place(load, 0), load->location, "/metadata/version-hint.text", 0));
    if (load->why_no_head.status != TL_OK && load->why_no_head.status != TL_ABSENT) /* there is one: so is a table */
        return tli_load_fail(load, &load->why_no_head,
                             tli_keys_join(tli_load_place(load, 0), load->location, "/metadata/timelake-head", 0));
    tli_op_finish(&load->op, TL_NONE);
    return 1;
}

TLI_FN int tli_load_decide_hint(tl_load *load)
{
    uint64_t best = TLI_MAX(load->hint, load->listed);
    tl_table *head = load->head_table;
    load->head_table = NULL;
    if (head != NULL && head->version >= best) {
        if (load->options.defer)
            return tli_load_done(load, head, 0);
        tl_table_drop(load->known);
        load->known = head;
        load->unconfirmed = 1;
        return tli_load_check(load, head->version);
    }
    if (head != NULL) {
        tl_table_drop(head);
        (void)tli_err(&load->why_no_head, TL_ABSENT, "the head is behind the newest version", TL_NO_POSITION);
    }
    return best != 0 ? tli_load_chain(load, best) : tli_load_nothing(load);
}

/* From PEEK or HINT with all answers in: read the hint, or ask for it. A listing that was cut, with neither head nor
   hint beside it, is gone through to its end. */
TLI_FN int tli_load_hinted(tl_load *load)
{
    if (!load->hint_read) {
        load->state = TLI_LOAD_HINT;
        return tli_load_ask_hint(load);
    }
    if (tli_load_is_bad(load, load->hint_slot))
        return tli_load_bad(load, load->hint_slot);
    tli_load_read_hint(load);
    if (load->hint == 0 && load->head_table == NULL && load->pages) {
        load->state = TLI_LOAD_PAGES;
        tli_op_list_on(&load->op, tli_op_answer(&load->op, load->list_slot));
        return 1;
    }
    tli_op_clear(&load->op);
    return tli_load_decide_hint(load);
}

/* ---- PAGES ---- */

TLI_FN int tli_load_paged(tl_load *load)
{
    tli_op_slot *slot = tli_op_answer(&load->op, load->list_slot);
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_load_bad(load, load->list_slot);
    if (slot->more) {
        if (++load->climbs >= TLI_LOAD_PAGES_MAX)
            return tli_load_fails(load, TL_LIMIT, "a listing of too many pages", load->location);
        tli_op_list_on(&load->op, slot);
        return 1;
    }
    load->listed = slot->number;
    tli_op_clear(&load->op);
    if (load->listed != 0)
        return tli_load_chain(load, load->listed);
    tli_op_finish(&load->op, TL_NONE); /* whatever head or hint say */
    return 1;
}

/* ---- CHECK ---- */

/* Is v<version> there? By a stat, or by listing the exact name. */
TLI_FN int tli_load_ask_there(tl_load *load, uint32_t place, uint64_t version)
{
    int list = load->lake->options.freshness_list && load->lake->options.store != TL_STORE_HTTPS;
    tl_request *r = tli_load_ask(load, place, list ? TL_LIST : TL_STAT, "/metadata/v", version, TL_PURPOSE_CHECK);
    if (r != NULL && list)
        r->max_keys = 1;
    return r != NULL;
}

/* What answer `i` to that says: 1, 0, or -1 for neither. */
TLI_FN int tli_load_there(tl_load *load, uint32_t i)
{
    const tli_op_slot *slot = tli_op_answer(&load->op, i);
    if (slot->request.kind == TL_LIST)
        return slot->outcome == TL_OUTCOME_OK ? slot->number != 0 : -1;
    return slot->outcome == TL_OUTCOME_OK ? 1 : slot->outcome == TL_OUTCOME_NOT_FOUND ? 0 : -1;
}

TLI_FN int tli_load_check(tl_load *load, uint64_t version)
{
    load->state = TLI_LOAD_CHECK;
    load->version = version;
    load->began = load->op.now;
    if (tli_load_ask_there(load, 0, version + 1) && !load->lake->options.next_only)
        (void)tli_load_ask_there(load, 1, version);
    return 1;
}

/* The version that was checked is the newest. */
TLI_FN int tli_load_current(tl_load *load)
{
    tl_table *t = load->known;
    load->known = NULL;
    return tli_load_done(load, t, 1);
}

TLI_FN int tli_load_checked(tl_load *load)
{
    int next = tli_load_there(load, 0), same = load->lake->options.next_only ? 1 : tli_load_there(load, 1);
    if (next < 0 || same < 0)
        return tli_load_bad(load, next < 0 ? 0 : 1);
    tli_op_clear(&load->op);
    if (!next && same)
        return tli_load_current(load);
    if (load->unconfirmed)
        (void)tli_err(&load->why_no_head, TL_ABSENT, "the head is behind the newest version", TL_NO_POSITION);
    tl_table_drop(load->known);
    load->known = NULL;
    if (next && load->unconfirmed)
        return tli_load_chain(load, load->version + 1);
    if (!next) { /* neither hint nor head that leads there again */
        load->gone = load->version;
        load->no_hint = 1;
    }
    return tli_load_peek(load);
}

/* ---- CHAIN ---- */

TLI_FN int tli_load_chain(tl_load *load, uint64_t version)
{
    if (load->climbs++ >= TLI_LOAD_CLIMBS || version >= UINT64_MAX - 1)
        return tli_load_fails(load, TL_LIMIT, "too many versions to follow", load->location);
    load->state = TLI_LOAD_CHAIN;
    load->version = version;
    load->began = load->op.now;
    if (tli_load_ask(load, 0, TL_GET, "/metadata/v", version, TL_PURPOSE_METADATA) != NULL)
        (void)tli_load_ask_there(load, 1, version + 1);
    return 1;
}

TLI_FN int tli_load_files_next(tl_load *load);

/* Answer 0 is the metadata of the version to load. */
TLI_FN int tli_load_read_metadata(tl_load *load)
{
    const tl_lake_options *lo = &load->lake->options;
    tli_op_slot *slot = tli_op_answer(&load->op, 0);
    tl_table *t = tli_table_new(&lo->op.allocator, load->location, load->version);
    tl_error why;
    tl_status st;
    if (t == NULL)
        return tli_load_fails(load, TL_NO_MEMORY, "out of memory", load->location);
    t->source = TL_FROM_CHAIN;
    t->body = tli_op_take_body(slot);
    st = tl_metadata_parse(&t->metadata, (const char *)t->body->data, t->body->size, &lo->limits, &t->allocator, &why);
    if (st == TL_OK)
        st = tl_contract_may_read(&t->metadata.contract, &why);
    if (st != TL_OK) {
        int r = tli_load_fail(load, &why, slot->request.key);
        tl_table_drop(t);
        return r;
    }
    t->memory = sizeof *t + t->body->size + t->metadata.json.memory;
    tli_op_clear(&load->op);
    tl_table_drop(load->known);
    load->known = t;
    return tli_load_files_next(load);
}

TLI_FN int tli_load_climbed(tl_load *load)
{
    int next = tli_load_there(load, 1);
    if (next < 0)
        return tli_load_bad(load, 1);
    if (next) { /* even if v<n> is gone or broken: it is not what is wanted */
        tli_op_clear(&load->op);
        return tli_load_chain(load, load->version + 1);
    }
    if (tli_load_is_bad(load, 0))
        return tli_load_bad(load, 0);
    if (tli_op_answer(&load->op, 0)->outcome == TL_OUTCOME_OK)
        return tli_load_read_metadata(load);
    tli_op_clear(&load->op);
    load->no_hint = 1;
    load->gone = load->version;
    return tli_load_peek(load);
}

TLI_FN int tli_load_exact(tl_load *load)
{
    tl_outcome outcome = tli_op_answer(&load->op, 0)->outcome;
    if (outcome == TL_OUTCOME_OK)
        return tli_load_read_metadata(load);
    if (outcome != TL_OUTCOME_NOT_FOUND)
        return tli_load_bad(load, 0);
    tli_op_finish(&load->op, TL_NONE);
    return 1;
}

/* ---- LIST-FILE and MANIFESTS ---- */

/* A list or manifest is not there. An old version has expired. The newest was, while it was read: look for it anew, but
   not twice. */
TLI_FN int tli_load_vanished(tl_load *load, const char *text, tl_span key)
{
    if (load->options.version != 0)
        return tli_load_fails(load, TL_ABSENT, "this version has expired: its metadata is there, its manifests are not",
                              key);
    if (load->expired == load->version)
        return tli_load_fails(load, TL_CORRUPT, text, key);
    load->expired = load->version;
    tli_op_clear(&load->op);
    tl_table_drop(load->known);
    load->known = NULL;
    return tli_load_peek(load);
}

/* The version is whole. */
TLI_FN int tli_load_whole(tl_load *load)
{
    tl_table *t = load->known;
    load->known = NULL;
    if (load->options.version == 0)
        return tli_load_done(load, t, 1);
    load->table = t; /* an old version is nobody's newest: the lake does not keep it */
    tli_op_finish(&load->op, TL_DONE);
    return 1;
}

TLI_FN int tli_load_finish_files(tl_load *load, tl_error *why)
{
    tl_table *t = load->known;
    tl_status st = tli_iceberg_finish(&load->files->files, &t->head.document, tli_text_span(t->body->data,
                                                                                            t->body->size),
                                      why);
    if (st != TL_OK)
        return tli_load_fail(load, why, t->metadata.manifest_list);
    t->head.version = t->version;
    t->has_files = 1;
    t->memory += tli_mem_store_size(t->head.document.store);
    return tli_load_whole(load);
}

TLI_FN void tli_load_drop_files(tl_load *load)
{
    if (load->files == NULL)
        return;
    tli_iceberg_end(&load->files->files);
    tli_iceberg_free_list(&load->files->list);
    tli_mem_delete(&load->lake->options.op.allocator, load->files, sizeof *load->files);
    load->files = NULL;
}

TLI_FN int tli_load_files_next(tl_load *load)
{
    tl_table *t = load->known;
    const tl_lake_options *lo = &load->lake->options;
    tl_error why;
    if (load->options.no_files)
        return tli_load_whole(load);
    tli_load_drop_files(load); /* of a version that was loaded before this one */
    load->files = (tli_load_files *)tli_mem_new(&lo->op.allocator, sizeof *load->files);
    if (load->files == NULL)
        return tli_load_fails(load, TL_NO_MEMORY, "out of memory", load->location);
    TLI_FILL(load->files, 0, sizeof *load->files);
    if (tli_iceberg_begin(&load->files->files, &t->metadata, &lo->limits, &lo->op.allocator, &why) != TL_OK)
        return tli_load_fail(load, &why, load->location);
    if (!t->metadata.has_snapshot)
        return tli_load_finish_files(load, &why);
    if (t->metadata.manifest_list.data == NULL)
        return tli_load_fails(load, TL_UNSUPPORTED, "a snapshot without a manifest list", t->location);
    load->state = TLI_LOAD_LIST_FILE;
    (void)tli_op_request(&load->op, TL_GET, t->metadata.manifest_list, TL_PURPOSE_MANIFEST_LIST);
    return 1;
}

TLI_FN int tli_load_listed_manifests(tl_load *load)
{
    const tl_lake_options *lo = &load->lake->options;
    tli_op_slot *slot = tli_op_answer(&load->op, 0);
    tli_load_files *f = load->files;
    tl_error why;
    uint32_t i;
    if (slot->outcome == TL_OUTCOME_NOT_FOUND)
        return tli_load_vanished(load, "the manifest list is not there", slot->request.key);
    if (slot->outcome != TL_OUTCOME_OK)
        return tli_load_bad(load, 0);
    if (tli_iceberg_read_list(&f->list, slot->body->data, slot->body->size, &lo->limits, &lo->op.allocator, &why)
        != TL_OK)
        return tli_load_fail(load, &why, slot->request.key);
    tli_op_clear(&load->op);
    if (f->list.count == 0)
        return tli_load_finish_files(load, &why);
    load->state = TLI_LOAD_MANIFESTS;
    for (i = 0; i < f->list.count; i++)
        if (tli_op_request(&load->op, TL_GET, f->list.entries[i].path, TL_PURPOSE_MANIFEST) == NULL)
            return 1;
    return 1;
}

/* Decodes manifests until all are, or until this step has had its share. */
TLI_FN int tli_load_read_manifests(tl_load *load)
{
    tli_load_files *f = load->files;
    uint64_t share = load->op.options.step_bytes, bytes = 0;
    tl_error why;
    for (; f->next < f->list.count; f->next++) {
        tli_op_slot *slot = tli_op_answer(&load->op, f->next);
        if (slot->outcome == TL_OUTCOME_NOT_FOUND)
            return tli_load_vanished(load, "a manifest is not there", slot->request.key);
        if (slot->outcome != TL_OUTCOME_OK)
            return tli_load_bad(load, f->next);
        if (share != 0 && bytes >= share)
            return 0;
        bytes += slot->body->size;
        if (tli_iceberg_add(&f->files, &f->list.entries[f->next], slot->body->data, slot->body->size, &why) != TL_OK)
            return tli_load_fail(load, &why, slot->request.key);
    }
    tli_op_clear(&load->op);
    return tli_load_finish_files(load, &why);
}

/* ---- the machine ---- */

TLI_FN int tli_load_advance(tl_op *op)
{
    tl_load *load = (tl_load *)(void *)op;
    switch (load->state) {
    case TLI_LOAD_START:
        return tli_load_start(load);
    case TLI_LOAD_PEEK:
        return tli_load_peeked(load);
    case TLI_LOAD_HINT:
        return tli_load_hinted(load);
    case TLI_LOAD_PAGES:
        return tli_load_paged(load);
    case TLI_LOAD_CHECK:
        return tli_load_checked(load);
    case TLI_LOAD_CHAIN:
        return tli_load_climbed(load);
    case TLI_LOAD_LIST_FILE:
        return tli_load_listed_manifests(load);
    case TLI_LOAD_MANIFESTS:
        return tli_load_read_manifests(load);
    default:
        return tli_load_exact(load);
    }
}

/* A listing's newest version; of a check whether the exact name is there. */
TLI_FN void tli_load_take(tl_op *op, tli_op_slot *slot, const tl_completion *completion)
{
    tl_load *load = (tl_load *)(void *)op;
    size_t i;
    for (i = 0; i < completion->entry_count; i++) {
        tl_span key = completion->entries[i].key;
        if (slot->request.purpose == TL_PURPOSE_CHECK)
            slot->number |= (uint64_t)tl_span_equal(key, slot->request.key);
        else
            slot->number = TLI_MAX(slot->number, tli_keys_parse(key, load->location));
    }
    if (slot->request.purpose == TL_PURPOSE_CHECK)
        slot->more = 0;
}

/* Connection warmers go out beside a cold load's first round. */
TLI_FN int tli_load_spare(tl_op *op, tl_request *request)
{
    tl_load *load = (tl_load *)(void *)op;
    if (load->state != TLI_LOAD_PEEK || op->cancelled || load->warmed >= load->lake->options.warm_connections)
        return 0;
    load->warmed++;
    TLI_FILL(request, 0, sizeof *request);
    request->kind = TL_STAT;
    request->purpose = TL_PURPOSE_WARM;
    request->key = tli_keys_join(tli_load_place(load, 2), load->location, "/metadata/version-hint.text", 0);
    return 1;
}

TLI_FN void tli_load_end(tl_op *op)
{
    tl_load *load = (tl_load *)(void *)op;
    const tl_allocator *a = &load->lake->options.op.allocator;
    tl_table_drop(load->table);
    tl_table_drop(load->known);
    tl_table_drop(load->head_table);
    load->table = load->known = load->head_table = NULL;
    tli_load_drop_files(load);
    if (load->keys_size != 0)
        tli_mem_delete(a, load->keys, load->keys_size);
    load->keys_size = 0;
}

TLI_FN const char *tli_load_state(const tl_op *op)
{
    static const char *const names[] = {"START", "PEEK", "HINT", "PAGES", "CHECK", "CHAIN", "LIST-FILE", "MANIFESTS",
                                        "EXACT"};
    return names[((const tl_load *)(const void *)op)->state];
}

TL_API void tl_load_begin(tl_load *load, tl_lake *lake, tl_span location, const tl_load_options *options)
{
    static const tli_op_machine machine = {tli_load_advance, tli_load_take, tli_load_spare, tli_load_end,
                                           tli_load_state,
                                           1, 0};
    TLI_FILL(load, 0, offsetof(tl_load, room));
    tli_op_begin(&load->op, &machine, &lake->options.op);
    load->lake = lake;
    if (options != NULL)
        load->options = *options;
    while (location.size != 0 && location.data[location.size - 1] == '/')
        location.size--;
    load->keys = load->room;
    if (location.size > (sizeof load->room - 3 * TLI_KEYS_ROOM) / 4) {
        load->keys_size = location.size > SIZE_MAX / 16 ? 0 : location.size * 4 + 3 * TLI_KEYS_ROOM;
        load->keys = load->keys_size == 0 ? NULL : (char *)tli_mem_new(&load->op.options.allocator, load->keys_size);
    }
    if (load->keys == NULL) {
        load->keys_size = 0;
        tli_op_fail(&load->op, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return;
    }
    if (location.size != 0)
        TLI_COPY(load->keys, location.data, location.size);
    load->location = tli_text_span(load->keys, location.size);
}
#endif /* TIMELAKE_NO_LAKE */

/* >>closing: the includer gets its warnings back, and private macros go. TLI_KEEP_MACROS (the tests) leaves them. */
#ifndef TLI_KEEP_MACROS
#undef TLI_COPY
#undef TLI_MOVE
#undef TLI_FILL
#undef TLI_COMPARE
#undef TLI_FN
#undef TLI_INLINE
#undef TLI_NOINLINE
#undef TLI_LIKELY
#undef TLI_UNLIKELY
#undef TLI_ASSERT
#undef TLI_COUNT
#undef TLI_MIN
#undef TLI_MAX
#undef TLI_SSE2
#undef TLI_BIG_ENDIAN
#undef TLI_MEM_ALIGN
#undef TLI_MEM_INC
#undef TLI_MEM_DEC
#undef TLI_MEM_CHUNK
#undef TLI_MEM_CHUNK_HEADER
#undef TLI_NUMBER_POWER_MIN
#undef TLI_NUMBER_ASCII
#undef TLI_NUMBER_LIMBS
#undef TLI_HASH_P64_1
#undef TLI_HASH_P64_2
#undef TLI_HASH_P64_3
#undef TLI_HASH_P64_4
#undef TLI_HASH_P64_5
#undef TLI_HASH_P32_1
#undef TLI_HASH_P32_2
#undef TLI_HASH_P32_3
#undef TLI_HASH_P32_4
#undef TLI_HASH_P32_5
#undef TLI_JSON_ONES
#undef TLI_JSON_HIGHS
#undef TLI_JSON_TOP
#undef TLI_JSON_NULL
#undef TLI_ZSTD_MAGIC
#undef TLI_ZSTD_SKIPPABLE
#undef TLI_ZSTD_BLOCK_MAX
#undef TLI_ZSTD_WINDOW_MAX
#undef TLI_ZSTD_SLACK
#undef TLI_ZSTD_HUFFMAN_LOG
#undef TLI_ZSTD_WORK
#undef TLI_LZ4_MAGIC
#undef TLI_LZ4_LEGACY
#undef TLI_LZ4_SKIPPABLE
#undef TLI_INFLATE_BITS
#undef TLI_INFLATE_MAX
#undef TLI_INFLATE_SYMBOLS
#undef TLI_FLATBUF_MEMBERS
#undef TLI_FLATBUF_VTABLES
#undef TLI_ARROW_LETTERS
#undef TLI_ARROW_DEPTH_MAX
#undef TLI_BUILD_MANY
#undef TLI_BUILD_FILLERS
#undef TLI_IPC_LIST_TYPE
#undef TLI_IPC_VIEW_TYPE
#undef TLI_IPC_WIDE_OFFSETS
#undef TLI_IPC_TEXT_TYPE
#undef TLI_AVRO_NODES
#undef TLI_AVRO_EMPTY_ITEMS
#undef TLI_AVRO_BLOCK_FIRST
#undef TLI_AVRO_IDLE
#undef TLI_DOC_PROPERTIES
#undef TLI_JSONTYPE_TYPES
#undef TLI_JSONTYPE_UNITS
#undef TLI_JSONTYPE_NONE
#undef TLI_JSONTYPE_DONE
#undef TLI_JSONTYPE_FAIL
#undef TLI_JSONROWS_AHEAD
#undef TLI_JSONROWS_EXPANSION
#undef TLI_HEADARROW_SECTION
#undef TLI_HEADARROW_UNKNOWN
#undef TLI_HEAD_FIXED
#undef TLI_HEAD_VIEW_BATCH
#undef TLI_HEAD_VIEW_FIXED
#undef TLI_VIEW_REQUIRED
#undef TLI_VIEW_OLD
#undef TLI_VIEW_NO_HAS
#undef TLI_VIEW_NEVER_NULL
#undef TLI_VIEW_HAS
#undef TLI_VIEW_OPEN
#undef TLI_VIEW_CHECKED
#undef TLI_VIEW_WRITE_ALWAYS
#undef TLI_VIEW_WRITE_LAST_VALUES
#undef TLI_KEYS_METADATA
#undef TLI_KEYS_METADATA_SIZE
#undef TLI_KEYS_ROOM
#undef TLI_CONTRACT_MINOR
#undef TLI_CONTRACT_ENTRY
#undef TLI_ICEBERG_UNSORTED
#undef TLI_OP_SLOT_BITS
#undef TLI_OP_TOKEN
#undef TLI_OP_TEXT
#undef TLI_PROBE_LIMIT
#undef TLI_PROBE_ROUNDS
#undef TLI_PROBE_PAGES
#undef TLI_PROBE_BOUNDARY_BYTES
#undef TLI_PROBE_COUNT
#undef TLI_PROBE_COUNT_LOCKED
#undef TLI_PROBE_COUNTER
#undef TLI_LOAD_CLIMBS
#undef TLI_LOAD_PAGES_MAX
#undef TLI_LOAD_HINT_BYTES
#endif
#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif /* TIMELAKE_IMPLEMENTATION_DONE */
#endif /* TIMELAKE_IMPLEMENTATION */

/*
   This software is available under two licences: choose the one you prefer.

   ALTERNATIVE A - MIT Licence
   Copyright (c) 2026 the timelake.h authors
   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
   documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
   rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
   persons to whom the Software is furnished to do so, subject to the following conditions:
   The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
   Software.
   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
   WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
   COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
   OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

   ALTERNATIVE B - Public Domain (www.unlicense.org)
   This is free and unencumbered software released into the public domain.
   Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
   as a compiled binary, for any purpose, commercial or non-commercial, and by any means.
   In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
   interest in the software to the public domain. We make this dedication for the benefit of the public at large and to
   the detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity
   of all present and future rights to this software under copyright law.
   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
   WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
   LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
   OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
