/* >>flatbuf: private room, nothing public. */
