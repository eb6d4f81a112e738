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
