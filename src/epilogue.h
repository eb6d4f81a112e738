#endif /* TIMELAKE_H */
