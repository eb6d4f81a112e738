/* What a program takes that peeks at heads, and decodes and encodes them in the json codec, and nothing else: this
   object is what tools/size measures. TIMELAKE_STATIC: what is not used here is not compiled. */
#define TIMELAKE_STATIC
#define TIMELAKE_NO_HEAD_ARROW
#define TIMELAKE_NO_LAKE
#define TIMELAKE_NO_PROBE
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"

int peek_and_json(tl_buffer *out, const void *bytes, size_t size, tl_error *err);

int peek_and_json(tl_buffer *out, const void *bytes, size_t size, tl_error *err)
{
    tl_header header;
    tl_head head;
    int32_t i;
    tl_status status = tl_head_peek(&header, bytes, size, err);
    if (status == TL_OK)
        status = tl_head_decode(&head, bytes, size, NULL, err);
    if (status != TL_OK)
        return 1;
    for (i = 0; i < head.document.section_count && status == TL_OK; i++)
        status = tl_section_open(&head.document.sections[i], err);
    if (status == TL_OK)
        status = tl_head_encode(out, header.version, tl_text("json"), &head.document, NULL, err);
    tl_head_free(&head);
    return status != TL_OK;
}
