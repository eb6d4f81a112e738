/* >>jsontype: private room, nothing public. */
