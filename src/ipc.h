/* >>ipc: private room, nothing public. */
