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
