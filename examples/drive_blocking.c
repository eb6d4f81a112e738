/* Opening a table with a blocking loop: the simplest driver there is, written out (tl_fs_run is the same).
   Run: tests/data/warehouse s3://demo-lake/wh/iot/trucks */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"

int main(int argc, char **argv)
{
    tl_fs_options fo = {0, 0, 0};
    tl_fs fs;
    tl_lake lake;
    tl_load load;
    int on = 1, code = 1;
    if (argc < 3)
        return 2;
    fo.local_root = argv[1];
    tl_fs_open(&fs, &fo);
    tl_lake_init(&lake, NULL);
    tl_load_begin(&load, &lake, tl_text(argv[2]), NULL);
    while (on) {
        tl_request request;
        tl_fs_answer answer;
        switch (tl_step(&load.op, tl_fs_now(), &request)) {
        case TL_WANTS: /* here your HTTP stack would send it; ours answers at once */
            tl_fs_serve(&fs, &request, &answer);
            if (request.token != 0)
                tl_complete(&load.op, &answer.completion, tl_fs_now());
            tl_fs_answer_free(&answer);
            break;
        case TL_WAITS: /* nothing is out in this loop, so only a sleep can be meant */
            tl_fs_pause_until(tl_deadline(&load.op));
            break;
        case TL_DONE:
            printf("version %llu from the %s in %u round trips\n", (unsigned long long)load.table->version,
                   load.table->source == TL_FROM_HEAD ? "head" : "metadata chain",
                       (unsigned)tl_op_round_trips(&load.op));
            code = 0;
            on = 0;
            break;
        case TL_NONE:
            puts("no such table");
            on = 0;
            break;
        case TL_FAILED:
            fprintf(stderr, "%s\n", tl_op_error(&load.op)->text);
            on = 0;
            break;
        }
    }
    tl_op_end(&load.op);
    tl_lake_free(&lake);
    return code;
}
