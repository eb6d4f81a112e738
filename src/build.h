/* >>build: private room, nothing public. */
