/* States that a walk of all schedules has seen: a table by a hash of 64 bits, and that hash. */
#ifndef TL_STATES_H
#define TL_STATES_H

typedef struct entry {
    uint64_t key;     /* 0: free */
    double schedules; /* to an end from here; negative: being walked */
} entry;

static entry *states;
static size_t states_size, states_used;

static uint64_t mixed(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static entry *look_up(uint64_t key)
{
    size_t i = (size_t)(key >> 7) & (states_size - 1);
    while (states[i].key != 0 && states[i].key != key)
        i = (i + 1) & (states_size - 1);
    return &states[i];
}

static void make_room(void)
{
    entry *old = states;
    size_t n = states_size, i;
    if (states_used * 2 < states_size)
        return;
    states_size = n == 0 ? (size_t)1 << 16 : n * 2;
    states = (entry *)calloc(states_size, sizeof *states);
    if (states == NULL)
        abort();
    for (i = 0; i < n; i++)
        if (old[i].key != 0)
            *look_up(old[i].key) = old[i];
    free(old);
}

static void forget_states(void)
{
    free(states);
    states = NULL;
    states_size = states_used = 0;
}
#endif
