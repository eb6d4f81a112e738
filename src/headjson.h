/* >>headjson: private room, nothing public. */
