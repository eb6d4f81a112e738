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
