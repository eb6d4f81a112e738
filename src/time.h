/* >>time: private room, nothing public. */
