/* >>rand: private room, nothing public. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
