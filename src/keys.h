/* >>keys: private room, nothing public. */
#ifndef TIMELAKE_NO_LAKE
#endif /* TIMELAKE_NO_LAKE */
