/* >>keys: private room, nothing public. */
