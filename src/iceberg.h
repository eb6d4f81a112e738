/* >>iceberg: private room, nothing public. */
