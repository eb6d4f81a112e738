/* >>ipcwrite: private room, nothing public. */
