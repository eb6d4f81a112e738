/* >>headarrow: private room, nothing public. */
