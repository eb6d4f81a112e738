/* >>jsonemit: private room, nothing public. */
