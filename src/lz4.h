/* >>lz4: private room, nothing public. */
