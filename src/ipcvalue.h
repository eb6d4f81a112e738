/* >>ipcvalue: private room, nothing public. */
