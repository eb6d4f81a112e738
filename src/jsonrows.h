/* >>jsonrows: private room, nothing public. */
