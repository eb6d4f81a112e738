/* >>thriftwrite: private room, nothing public. */
