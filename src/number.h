/* >>number: private room, nothing public. */
