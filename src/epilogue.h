#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* TIMELAKE_H */
