/* >>sort: private room, nothing public. */
