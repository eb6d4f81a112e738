/* For tests: what a store in memory does wrong. Include after timelake_mem.h. */
#ifndef TL_FAULTS_H
#define TL_FAULTS_H

TL_TEST_FN tl_mem_fault no_fault(void)
{
    tl_mem_fault f;
    memset(&f, 0, sizeof f);
    f.retry_ms = -1;
    return f;
}

TL_TEST_FN int key_ends(tl_span key, const char *end)
{
    size_t n = strlen(end);
    return key.size >= n && memcmp(key.data + key.size - n, end, n) == 0;
}
#endif
