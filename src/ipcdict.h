/* >>ipcdict: private room, nothing public. */
