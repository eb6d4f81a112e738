/* Opening a table from a game loop: requests go to a pool of threads, each frame does a bounded share of the work
   and goes on. Here without the head, so that there is something to do.
   Run: tests/data/warehouse s3://demo-lake/wh/iot/many */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"

#define STEPS_A_FRAME 4

int main(int argc, char **argv)
{
    tl_fs_options fo = {0, 0, 0};
    tl_lake_options lo;
    tl_load_options how;
    tl_fs fs;
    tl_fs_pool *pool;
    tl_lake lake;
    tl_load load;
    tl_turn turn = TL_WAITS;
    unsigned frames = 0;
    if (argc < 3)
        return 2;
    fo.local_root = argv[1];
    tl_fs_open(&fs, &fo);
    pool = tl_fs_pool_open(&fs, 2);
    memset(&lo, 0, sizeof lo);
    lo.op.step_bytes = 4096; /* a step decodes about so much, then it comes back */
    tl_lake_init(&lake, &lo);
    memset(&how, 0, sizeof how);
    how.no_head = 1;
    tl_load_begin(&load, &lake, tl_text(argv[2]), &how);
    while (turn < TL_DONE && pool != NULL) {
        int steps;
        tl_request request;
        frames++; /* ... input, physics, drawing ... */
        (void)tl_fs_pool_wait(pool, 0); /* completes what has arrived; does not wait */
        for (steps = 0; steps < STEPS_A_FRAME; steps++) {
            turn = tl_step(&load.op, tl_fs_now(), &request);
            if (turn == TL_WANTS)
                (void)tl_fs_pool_submit(pool, &load.op, &request);
            else if (turn != TL_WAITS || tl_deadline(&load.op) > tl_fs_now())
                break; /* done, or nothing to do before an answer comes */
        }
        tl_fs_pause_until(tl_fs_now() + 1); /* the display's turn */
    }
    if (turn == TL_DONE)
        printf("version %llu, %u manifests' files ready while frames went on\n",
               (unsigned long long)load.table->version,
               (unsigned)tl_op_requests(&load.op) - 4);
    tl_op_end(&load.op);
    tl_fs_pool_close(pool);
    tl_lake_free(&lake);
    return turn == TL_DONE && frames > 1 ? 0 : 1;
}
