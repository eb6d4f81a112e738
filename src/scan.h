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
