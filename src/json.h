/* >>json: private room, nothing public. */
