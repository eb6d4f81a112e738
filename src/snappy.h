/* >>snappy: private room, nothing public. */
