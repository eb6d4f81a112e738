/* timelake.h as a WebAssembly module, freestanding: no libc, no Emscripten, no imports. `make wasm` builds it.

   timelake.mjs is its caller. It reads and writes the header's own structs in the module's memory (requests,
   completions, files, the Arrow C Data Interface); the assertions below pin where their members lie on wasm32.
   Machines, lakes, tables and sections are handed out as addresses. Addresses and sizes are 32 bits; versions, times
   and tokens are i64. */
#define TIMELAKE_NO_STDLIB
#define TIMELAKE_NO_ATOMICS
#define TIMELAKE_NO_COMMIT
#define TIMELAKE_STATIC
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

#define TLW_EXPORT(name) __attribute__((export_name(#name), visibility("default")))

/* ---- what a C library would bring; with bulk memory the first three are one instruction each ---- */

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
    return __builtin_memcpy(to, from, size);
}

void *memmove(void *to, const void *from, size_t size)
{
    return __builtin_memmove(to, from, size);
}

void *memset(void *to, int byte, size_t size)
{
    return __builtin_memset(to, byte, size);
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    size_t i;
    for (i = 0; i < size; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* clang makes checks for overflow of 64-bit products into this call. */
__int128 __multi3(__int128 a, __int128 b);

__int128 __multi3(__int128 a, __int128 b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b, low_x = (uint32_t)x, low_y = (uint32_t)y, high_x = x >> 32;
    uint64_t high_y = y >> 32, low = low_x * low_y, middle = high_x * low_y + (low >> 32);
    uint64_t carry = low_x * high_y + (uint32_t)middle;
    uint64_t high = high_x * high_y + (middle >> 32) + (carry >> 32);
    high += x * (uint64_t)((unsigned __int128)b >> 64) + y * (uint64_t)((unsigned __int128)a >> 64);
    return (__int128)((unsigned __int128)high << 64 | carry << 32 | (uint32_t)low);
}

/* ---- memory: four sizes per doubling, a list of free blocks for each. Blocks carry no header, since whoever frees one
   says its size; what was free once serves blocks of its own size again. ---- */

extern unsigned char __heap_base;

#define TLW_PAGE 65536u
#define TLW_LEAST 16u

typedef struct tlw_free_block {
    struct tlw_free_block *next;
} tlw_free_block;

static tlw_free_block *tlw_free_blocks[128];
static uint32_t tlw_top; /* never handed out from here on */

/* The class of a size, and in *room what blocks of it have; a class beyond the table: too large. */
static uint32_t tlw_class(uint32_t size, uint32_t *room)
{
    uint32_t log, step;
    if (size <= TLW_LEAST * 4) {
        *room = (size + TLW_LEAST - 1) & ~(TLW_LEAST - 1);
        if (*room == 0)
            *room = TLW_LEAST;
        return *room / TLW_LEAST - 1;
    }
    log = 31u - (uint32_t)__builtin_clz(size - 1);
    step = (size - 1) >> (log - 2) & 3;
    *room = (1u << log) + ((step + 1) << (log - 2));
    return (log - 6) * 4 + step + 4;
}

static void *tlw_allocate(void *context, size_t size)
{
    uint32_t room, kind, end, have;
    unsigned char *block;
    (void)context;
    if (size > 0x7fffffffu)
        return NULL;
    kind = tlw_class((uint32_t)size, &room);
    if (tlw_free_blocks[kind] != NULL) {
        tlw_free_block *free_block = tlw_free_blocks[kind];
        tlw_free_blocks[kind] = free_block->next;
        return free_block;
    }
    if (tlw_top == 0)
        tlw_top = ((uint32_t)(uintptr_t)&__heap_base + TLW_LEAST - 1) & ~(TLW_LEAST - 1);
    end = tlw_top + room;
    if (end < tlw_top || end > 0xffff0000u)
        return NULL;
    have = (uint32_t)__builtin_wasm_memory_size(0);
    if ((end + TLW_PAGE - 1) / TLW_PAGE > have) {
        /* an eighth more than is needed: few grown memories, and not much left over */
        uint32_t need = (end + TLW_PAGE - 1) / TLW_PAGE - have;
        if (__builtin_wasm_memory_grow(0, need + have / 8) == (size_t)-1
            && __builtin_wasm_memory_grow(0, need) == (size_t)-1)
            return NULL;
    }
    block = (unsigned char *)(uintptr_t)tlw_top;
    tlw_top = end;
    return block;
}

static void tlw_deallocate(void *context, void *memory, size_t size)
{
    uint32_t room;
    tlw_free_block *block = (tlw_free_block *)memory;
    uint32_t kind = tlw_class((uint32_t)size, &room);
    (void)context;
    block->next = tlw_free_blocks[kind];
    tlw_free_blocks[kind] = block;
}

static void *tlw_resize(void *context, void *memory, size_t old_size, size_t size)
{
    uint32_t old_room, room;
    void *moved;
    if (size <= 0x7fffffffu && tlw_class((uint32_t)old_size, &old_room) == tlw_class((uint32_t)size, &room))
        return memory;
    moved = tlw_allocate(context, size);
    if (moved == NULL)
        return NULL;
    memcpy(moved, memory, old_size < size ? old_size : size);
    tlw_deallocate(context, memory, old_size);
    return moved;
}

static tl_allocator tlw_allocator(void)
{
    tl_allocator a;
    a.context = NULL;
    a.allocate = tlw_allocate;
    a.resize = tlw_resize;
    a.deallocate = tlw_deallocate;
    return a;
}

static void *tlw_zeroed(size_t size)
{
    void *memory = tlw_allocate(NULL, size);
    return memory == NULL ? NULL : memset(memory, 0, size);
}

static void tlw_release(void *context, const void *data, size_t size)
{
    if (data != NULL)
        tlw_deallocate(context, (void *)(uintptr_t)data, size == 0 ? 1 : size);
}

/* Memory for what JavaScript hands in. Size 0 counts as 1, in both. */
TLW_EXPORT(alloc) void *tlw_alloc(uint32_t size)
{
    return tlw_allocate(NULL, size == 0 ? 1 : size);
}

TLW_EXPORT(free) void tlw_free(void *memory, uint32_t size)
{
    tlw_release(NULL, memory, size);
}

/* ---- the structs that JavaScript reads and writes ---- */

#define TLW_AT(type, member, at) _Static_assert(offsetof(type, member) == (at), #type "." #member)
#define TLW_IS(name, number) _Static_assert((name) == (number), #name)

#define TLW_WIDE(type, member, bytes) _Static_assert(sizeof(((type *)0)->member) == (bytes), #type "." #member)

TLW_IS(sizeof(tl_span), 8);
TLW_IS(sizeof(tl_property), 16);
TLW_IS(sizeof(tl_section), 40);
TLW_IS(sizeof(tl_entry), 24);
TLW_IS(sizeof(tl_plan_file), 80);
TLW_IS(sizeof(tl_value), 32);
TLW_IS(TL_WANTS, 0);
TLW_IS(TL_FAILED, 4);
TLW_IS(TL_SLEEP, 5);
TLW_IS(TL_IF_NONE_MATCH, 3);
TLW_IS(TL_PURPOSE_WARM, 16);
TLW_IS(TL_OUTCOME_OK, 0);
TLW_IS(TL_OUTCOME_NOT_FOUND, 1);
TLW_IS(TL_OUTCOME_NOT_MODIFIED, 2);
TLW_IS(TL_OUTCOME_UNSUPPORTED, 4);
TLW_IS(TL_OUTCOME_FAILED, 5);
TLW_IS(TL_OUTCOME_CANCELLED, 7);
TLW_IS(TL_EQUAL, 0);
TLW_IS(TL_IS_NOT_NULL, 7);
TLW_IS(TL_FROM_COMMIT, 2);
TLW_IS(TL_OK, 0);
TLW_IS(TL_CANCELLED, 61);
TLW_IS(TL_FAULT_OTHER, 1);
TLW_IS(TL_FAULT_IO, 6);
TLW_IS(TL_FAULT_COMMIT, 10);
TLW_IS(TL_FAULT_VERSION, 12);
TLW_IS(TL_FAULT_READER, 13);
TLW_IS(TL_FAULT_WRITER, 14);
TLW_WIDE(tl_error, status, 4);
TLW_WIDE(tl_request, kind, 4);
TLW_WIDE(tl_request, condition, 4);
TLW_WIDE(tl_request, max_keys, 4);
TLW_WIDE(tl_request, round, 4);
TLW_WIDE(tl_request, purpose, 4);
TLW_WIDE(tl_completion, outcome, 4);
TLW_WIDE(tl_completion, retry_ms, 8);
TLW_WIDE(tl_completion, entry_count, 4);
TLW_WIDE(tl_file, has_partition, 1);
TLW_WIDE(tl_file, has_sort_order_id, 1);
TLW_WIDE(tl_plan, count, 4);
TLW_WIDE(tl_plan, skipped, 4);
TLW_WIDE(tl_value, kind, 4);
TLW_WIDE(tl_document, property_count, 4);
TLW_WIDE(tl_document, section_count, 4);
TLW_WIDE(tl_section, batch_count, 4);
TLW_WIDE(tl_section, rows, 8);
TLW_WIDE(tl_load, unchecked, 1);
TLW_WIDE(tl_table, source, 4);
TLW_WIDE(tl_table, metadata.contract.version_check_interval, 8);
TLW_WIDE(tl_features, count, 4);
TLW_WIDE(tl_fault, kind, 4);
TLW_WIDE(tl_fault, about_size, 4);
TLW_AT(tl_span, data, 0);
TLW_AT(tl_span, size, 4);
TLW_AT(tl_error, status, 0);
TLW_AT(tl_error, text, 4);
TLW_AT(tl_error, position, 8);
TLW_AT(tl_error, need, 16);
TLW_AT(tl_request, token, 0);
TLW_AT(tl_request, kind, 8);
TLW_AT(tl_request, condition, 12);
TLW_AT(tl_request, key, 16);
TLW_AT(tl_request, etag, 24);
TLW_AT(tl_request, offset, 32);
TLW_AT(tl_request, length, 40);
TLW_AT(tl_request, accept, 48);
TLW_AT(tl_request, max_keys, 72);
TLW_AT(tl_request, round, 76);
TLW_AT(tl_request, page, 80);
TLW_AT(tl_request, until, 88);
TLW_AT(tl_request, purpose, 96);
TLW_AT(tl_completion, token, 0);
TLW_AT(tl_completion, outcome, 8);
TLW_AT(tl_completion, retry_ms, 16);
TLW_AT(tl_completion, body, 24);
TLW_AT(tl_completion, body_offset, 32);
TLW_AT(tl_completion, object_size, 40);
TLW_AT(tl_completion, etag, 48);
TLW_AT(tl_completion, entries, 56);
TLW_AT(tl_completion, entry_count, 60);
TLW_AT(tl_completion, next_page, 64);
TLW_AT(tl_completion, text, 72);
TLW_AT(tl_entry, key, 0);
TLW_AT(tl_entry, size, 8);
TLW_AT(tl_entry, etag, 16);
_Static_assert(sizeof(tl_entry) == 24, "tl_entry");
TLW_AT(tl_file, path, 0);
TLW_AT(tl_file, size, 8);
TLW_AT(tl_file, records, 16);
TLW_AT(tl_file, snapshot_id, 24);
TLW_AT(tl_file, sequence_number, 32);
TLW_AT(tl_file, file_sequence_number, 40);
TLW_AT(tl_file, partition, 48);
TLW_AT(tl_file, sort_order_id, 52);
TLW_AT(tl_file, has_partition, 56);
TLW_AT(tl_file, has_sort_order_id, 57);
TLW_AT(tl_plan_file, file, 0);
TLW_AT(tl_plan_file, footer, 72);
_Static_assert(sizeof(tl_plan_file) == 80, "tl_plan_file");
TLW_AT(tl_plan, file, 0);
TLW_AT(tl_plan, count, 4);
TLW_AT(tl_plan, skipped, 8);
TLW_AT(tl_value, kind, 0);
TLW_AT(tl_value, integer, 8);
TLW_AT(tl_value, real, 16);
TLW_AT(tl_value, text, 24);
_Static_assert(sizeof(tl_value) == 32, "tl_value");
TLW_AT(tl_head, version, 0);
TLW_AT(tl_head, codec, 8);
TLW_AT(tl_head, document.property_count, 16);
TLW_AT(tl_head, document.section_count, 20);
TLW_AT(tl_head, document.properties, 24);
TLW_AT(tl_head, document.sections, 28);
TLW_AT(tl_property, key, 0);
TLW_AT(tl_property, value, 8);
TLW_AT(tl_section, name, 0);
TLW_AT(tl_section, schema, 8);
TLW_AT(tl_section, rows, 16);
TLW_AT(tl_section, batch_count, 24);
TLW_AT(tl_load, op, 0);
TLW_AT(tl_load, table, 520);
TLW_AT(tl_load, unchecked, 524);
TLW_AT(tl_load, why_no_head, 528);
TLW_AT(tl_table, version, 0);
TLW_AT(tl_table, source, 16);
TLW_AT(tl_table, metadata.location, 108);
TLW_AT(tl_table, metadata.contract.version_check_interval, 232);
TLW_AT(tl_table, metadata.json.text, 312);
TLW_AT(tl_table, head, 352);
TLW_AT(tl_protocol, version, 0);
TLW_AT(tl_protocol, reader, 8);
TLW_AT(tl_protocol, writer, 16);
TLW_AT(tl_features, names, 0);
TLW_AT(tl_features, count, 4);
TLW_AT(tl_fault, error, 0);
TLW_AT(tl_fault, kind, 24);
TLW_AT(tl_fault, about_size, 56);
TLW_AT(tl_fault, about, 60);
TLW_AT(tl_probe_call, op, 0);
TLW_AT(tl_probe_call, id, 520);
TLW_AT(tl_probe_call, body, 528);
TLW_AT(struct ArrowSchema, format, 0);
TLW_AT(struct ArrowSchema, name, 4);
TLW_AT(struct ArrowSchema, metadata, 8);
TLW_AT(struct ArrowSchema, flags, 16);
TLW_AT(struct ArrowSchema, n_children, 24);
TLW_AT(struct ArrowSchema, children, 32);
TLW_AT(struct ArrowSchema, dictionary, 36);
TLW_AT(struct ArrowArray, length, 0);
TLW_AT(struct ArrowArray, null_count, 8);
TLW_AT(struct ArrowArray, offset, 16);
TLW_AT(struct ArrowArray, buffers, 40);
TLW_AT(struct ArrowArray, children, 44);
TLW_AT(struct ArrowArray, dictionary, 48);

/* One of each, since calls do not overlap: the last error, the request of the last step, the completion to be. */
static tl_error tlw_last;
static tl_request tlw_asked;
static tl_completion tlw_answer;
static tl_fault tlw_fault;

TLW_EXPORT(error) const tl_error *tlw_error(void) { return &tlw_last; }
TLW_EXPORT(request) const tl_request *tlw_request(void) { return &tlw_asked; }
TLW_EXPORT(completion) tl_completion *tlw_completion(void) { return &tlw_answer; }
TLW_EXPORT(status_text) const char *tlw_status_text(int32_t status) { return tl_status_text((tl_status)status); }

/* ---- heads and their sections ---- */

/* Takes `bytes` over (alloc'ed), whatever it answers. 0: error(). */
TLW_EXPORT(head_decode) tl_head *tlw_head_decode(void *bytes, uint32_t size)
{
    tl_head_options options;
    tl_head *head = (tl_head *)tlw_zeroed(sizeof *head);
    memset(&options, 0, sizeof options);
    options.allocator = tlw_allocator();
    options.release = tlw_release;
    if (head == NULL) {
        tlw_release(NULL, bytes, size);
        tli_err(&tlw_last, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    if (tl_head_decode(head, bytes, size, &options, &tlw_last) == TL_OK)
        return head;
    tlw_deallocate(NULL, head, sizeof *head);
    return NULL;
}

TLW_EXPORT(head_free) void tlw_head_free(tl_head *head)
{
    tl_head_free(head);
    tlw_deallocate(NULL, head, sizeof *head);
}

/* Opens a batch: a struct array of its own whose buffers are aligned. 0: error(). */
TLW_EXPORT(section_batch) struct ArrowArray *tlw_section_batch(tl_section *section, int32_t batch)
{
    struct ArrowArray *array = (struct ArrowArray *)tlw_zeroed(sizeof *array);
    if (array == NULL) {
        tli_err(&tlw_last, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    if (tl_section_export(section, batch, NULL, array, &tlw_last) == TL_OK)
        return array;
    tlw_deallocate(NULL, array, sizeof *array);
    return NULL;
}

TLW_EXPORT(batch_free) void tlw_batch_free(struct ArrowArray *array)
{
    if (array->release != NULL)
        array->release(array);
    tlw_deallocate(NULL, array, sizeof *array);
}

#ifndef TIMELAKE_WASM_NO_IPC
/* The section as a complete Arrow IPC stream, not compressed; NULL: error(). buffer_free gives it back. */
TLW_EXPORT(section_ipc) tl_buffer *tlw_section_ipc(tl_section *section)
{
    tl_ipc_options options;
    tl_buffer *out = (tl_buffer *)tlw_zeroed(sizeof *out);
    memset(&options, 0, sizeof options);
    options.allocator = tlw_allocator();
    if (out == NULL) {
        tli_err(&tlw_last, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    out->allocator = options.allocator;
    if (tl_ipc_encode(out, section, &options, &tlw_last) == TL_OK)
        return out;
    tlw_deallocate(NULL, out, sizeof *out);
    return NULL;
}

TLW_EXPORT(buffer_free) void tlw_buffer_free(tl_buffer *buffer)
{
    tl_buffer_free(buffer);
    tlw_deallocate(NULL, buffer, sizeof *buffer);
}
#endif

/* ---- tables ---- */

/* https: the store does not list. memory 0: the default budget. */
TLW_EXPORT(lake_new) tl_lake *tlw_lake_new(uint32_t https, uint32_t memory)
{
    tl_lake_options options;
    tl_lake *lake = (tl_lake *)tlw_zeroed(sizeof *lake);
    if (lake == NULL)
        return NULL;
    memset(&options, 0, sizeof options);
    options.store = https ? TL_STORE_HTTPS : TL_STORE_LISTS;
    options.memory = memory;
    options.op.allocator = tlw_allocator();
    if (tl_lake_init(lake, &options) == TL_OK)
        return lake;
    tlw_deallocate(NULL, lake, sizeof *lake);
    return NULL;
}

TLW_EXPORT(lake_free) void tlw_lake_free(tl_lake *lake)
{
    tl_lake_free(lake);
    tlw_deallocate(NULL, lake, sizeof *lake);
}

TLW_EXPORT(lake_forget) void tlw_lake_forget(tl_lake *lake, const char *location, uint32_t size)
{
    tl_lake_forget(lake, tli_text_span(location, size));
}

/* flags: 1 defer, 2 without the head, 4 without files. The location is copied. */
TLW_EXPORT(load_new) tl_load *tlw_load_new(tl_lake *lake, const char *location, uint32_t size, uint32_t flags,
                                           int64_t max_age_ms, uint64_t version)
{
    tl_load_options options;
    tl_load *load = (tl_load *)tlw_zeroed(sizeof *load);
    if (load == NULL)
        return NULL;
    memset(&options, 0, sizeof options);
    options.max_age_ms = max_age_ms;
    options.version = version;
    options.defer = (flags & 1u) != 0;
    options.no_head = (flags & 2u) != 0;
    options.no_files = (flags & 4u) != 0;
    tl_load_begin(load, lake, tli_text_span(location, size), &options);
    return load;
}

/* When it is done, for its table: one count for the caller. */
TLW_EXPORT(table_keep) void tlw_table_keep(tl_table *table) { (void)tl_table_keep(table); }
TLW_EXPORT(load_end) int32_t tlw_load_end(tl_load *load)
{
    tl_status st = tl_op_end(&load->op);
    if (st == TL_OK)
        tlw_deallocate(NULL, load, sizeof *load);
    return (int32_t)st;
}

TLW_EXPORT(table_drop) void tlw_table_drop(tl_table *table) { tl_table_drop(table); }

/* The section of the newest rows per series. NULL: error(). */
TLW_EXPORT(table_last_values) tl_section *tlw_table_last_values(tl_table *table)
{
    tl_section *section = NULL;
    return tl_head_last_values(&table->head, &section, &tlw_last) == TL_OK ? section : NULL;
}

/* A section of this table turned out corrupt: its head is not used again. */
TLW_EXPORT(table_bar) void tlw_table_bar(tl_lake *lake, const tl_table *table) { tl_lake_bar(lake, table); }

#ifndef TIMELAKE_WASM_NO_PLAN
TLW_EXPORT(filter_new) tl_filter *tlw_filter_new(tl_table *table)
{
    tl_filter *filter = (tl_filter *)tlw_zeroed(sizeof *filter);
    if (filter != NULL)
        *filter = tl_filter_begin(table);
    return filter;
}

/* `compare` is a tl_compare; `values` (count of them) are borrowed until the plan is made, the name as well. */
TLW_EXPORT(filter_add) void tlw_filter_add(tl_filter *filter, const char *column, uint32_t size, uint32_t compare,
                                           const tl_value *values, uint32_t count)
{
    tl_span name = tli_text_span(column, size);
    if (compare == TL_IS_NULL || compare == TL_IS_NOT_NULL)
        tl_filter_null(filter, name, compare == TL_IS_NULL);
    else if (compare == TL_IN)
        tl_filter_in(filter, name, values, count);
    else
        tl_filter_compare(filter, name, (tl_compare)compare, values[0]);
}

/* Frees the filter. 0: error(). */
TLW_EXPORT(plan_new) tl_plan *tlw_plan_new(tl_table *table, tl_filter *filter)
{
    tl_plan_options options;
    tl_status st;
    tl_plan *plan = (tl_plan *)tlw_zeroed(sizeof *plan);
    memset(&options, 0, sizeof options);
    options.allocator = tlw_allocator();
    if (plan == NULL)
        st = tli_err(&tlw_last, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
    else
        st = tl_plan_scan(plan, table, filter, &options, &tlw_last);
    if (filter != NULL)
        tlw_deallocate(NULL, filter, sizeof *filter);
    if (st == TL_OK)
        return plan;
    if (plan != NULL)
        tlw_deallocate(NULL, plan, sizeof *plan);
    return NULL;
}

TLW_EXPORT(plan_free) void tlw_plan_free(tl_plan *plan)
{
    tl_plan_free(plan);
    tlw_deallocate(NULL, plan, sizeof *plan);
}
#endif

/* ---- operations: loads and probe calls begin with one ---- */

/* A tl_turn; 0 (wants): request() is to be sent. */
TLW_EXPORT(step) uint32_t tlw_step(tl_op *op, int64_t now) { return (uint32_t)tl_step(op, now, &tlw_asked); }
TLW_EXPORT(deadline) int64_t tlw_deadline(const tl_op *op) { return tl_deadline(op); }
TLW_EXPORT(cancel) void tlw_cancel(tl_op *op, int64_t now) { tl_cancel(op, now); }
TLW_EXPORT(op_round_trips) uint32_t tlw_op_round_trips(const tl_op *op) { return tl_op_round_trips(op); }
TLW_EXPORT(op_error) const tl_error *tlw_op_error(const tl_op *op) { return tl_op_error(op); }

/* Which 0: the key that the error is about; 1: what the store said. */
TLW_EXPORT(op_error_text) const tl_span *tlw_op_error_text(const tl_op *op, uint32_t which)
{
    static tl_span text;
    text = which == 0 ? tl_op_error_key(op) : tl_op_error_store(op);
    return &text;
}

/* Takes completion(), whose body (alloc'ed) changes hands. */
TLW_EXPORT(complete) int32_t tlw_complete(tl_op *op, int64_t now)
{
    tl_status st;
    if (tlw_answer.body.data != NULL)
        tlw_answer.release = tlw_release;
    st = tl_complete(op, &tlw_answer, now);
    memset(&tlw_answer, 0, sizeof tlw_answer);
    return (int32_t)st;
}

/* ---- the protocol of timeseries tables ---- */

/* Looks at the header of a commit. 0: fault(). The text is borrowed until protocol_free. */
TLW_EXPORT(protocol_new) tl_protocol *tlw_protocol_new(const void *commit, uint32_t size)
{
    tl_allocator a = tlw_allocator();
    tl_protocol *p = (tl_protocol *)tlw_zeroed(sizeof *p);
    if (p == NULL) {
        memset(&tlw_fault, 0, sizeof tlw_fault);
        tli_err(&tlw_fault.error, TL_NO_MEMORY, "out of memory", TL_NO_POSITION);
        return NULL;
    }
    if (tl_protocol_inspect(p, commit, size, NULL, &a, &tlw_fault) == TL_OK)
        return p;
    tlw_deallocate(NULL, p, sizeof *p);
    return NULL;
}

TLW_EXPORT(protocol_free) void tlw_protocol_free(tl_protocol *p)
{
    tl_protocol_free(p);
    tlw_deallocate(NULL, p, sizeof *p);
}

TLW_EXPORT(protocol_may_write) int32_t tlw_protocol_may_write(const tl_protocol *p)
{
    return (int32_t)tl_protocol_may_write(p, NULL, &tlw_fault);
}

/* The first feature, from `from` on, that writing needs and this library does not know; the count of them: none. */
TLW_EXPORT(protocol_missing) uint32_t tlw_protocol_missing(const tl_protocol *p, uint32_t from)
{
    return (uint32_t)tl_features_missing(&p->writer, &tl_client_all()->writer, from);
}

TLW_EXPORT(fault) const tl_fault *tlw_fault_place(void) { return &tlw_fault; }

/* ---- the probe ---- */

typedef struct tlw_probe {
    tl_probe probe;
    tl_layout layout;
    tl_probe_options options;
    size_t size; /* of this block: the texts lie behind */
} tlw_probe;

/* The texts of a layout, each ended by a zero: root, directory, suffix, boundary (empty: none); copied. */
TLW_EXPORT(probe_new) tlw_probe *tlw_probe_new(const char *texts, uint32_t size, uint32_t digits, uint32_t verify)
{
    size_t all = sizeof(tlw_probe) + size, n = 0, i;
    const char *text[4];
    tl_status st;
    tlw_probe *p = (tlw_probe *)tlw_zeroed(all);
    char *copy = (char *)(p + 1);
    if (p == NULL)
        return NULL;
    memcpy(copy, texts, size);
    for (i = 0; i < 4; i++) {
        text[i] = copy + n;
        n += tl_text(copy + n).size + 1;
    }
    p->size = all;
    p->layout.directory = text[1];
    p->layout.suffix = text[2];
    p->layout.boundary = text[3][0] != 0 ? text[3] : NULL;
    p->layout.digits = digits;
    p->options.op.allocator = tlw_allocator();
    p->options.verify = verify != 0;
    st = tl_probe_init(&p->probe, &p->layout, tl_text(text[0]), &p->options);
    if (st == TL_OK)
        return p;
    tli_err(&tlw_last, st, "a root or layout that the probe does not take", TL_NO_POSITION);
    tlw_deallocate(NULL, p, all);
    return NULL;
}

TLW_EXPORT(probe_free) void tlw_probe_free(tlw_probe *p)
{
    tl_probe_free(&p->probe);
    tlw_deallocate(NULL, p, p->size);
}

TLW_EXPORT(probe_latest) tl_probe_call *tlw_probe_latest(tlw_probe *p, uint32_t checked)
{
    tl_probe_call *call = (tl_probe_call *)tlw_zeroed(sizeof *call);
    if (call != NULL && checked)
        tl_probe_latest(call, &p->probe);
    else if (call != NULL)
        tl_probe_latest_unchecked(call, &p->probe);
    return call;
}

TLW_EXPORT(probe_end) int32_t tlw_probe_end(tl_probe_call *call)
{
    tl_status st = tl_op_end(&call->op);
    if (st == TL_OK)
        tlw_deallocate(NULL, call, sizeof *call);
    return (int32_t)st;
}
