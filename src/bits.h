/* >>bits: private room, nothing public. */
