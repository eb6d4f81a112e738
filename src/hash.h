/* >>hash: private room, nothing public. */
