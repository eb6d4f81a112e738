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
