/* >>jsonread: private room, nothing public. */
