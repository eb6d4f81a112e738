/* >>inflate: private room, nothing public. */
