/* Opening a table by callbacks, with answers that come in the wrong order: the operation drives itself from inside
   tl_complete, and ends and frees itself in `done`.
   Run: tests/data/warehouse s3://demo-lake/wh/iot/trucks */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELAKE_IMPLEMENTATION
#include "../timelake.h"
#define TIMELAKE_FS_IMPLEMENTATION
#include "../adapters/timelake_fs.h"

typedef struct app {
    tl_fs fs;
    tl_op *op;
    tl_request held[64]; /* what is in flight; keys stay valid until the completion */
    size_t count;
    int code;
} app;

static void on_request(void *user, tl_op *op, const tl_request *request)
{
    app *a = (app *)user;
    (void)op;
    if (request->token != 0 && a->count < sizeof a->held / sizeof a->held[0])
        a->held[a->count++] = *request;
}

static void on_done(void *user, tl_op *op, tl_turn result)
{
    app *a = (app *)user;
    tl_load *load = (tl_load *)op->user;
    if (result == TL_DONE)
        printf("version %llu, %u requests\n", (unsigned long long)load->table->version, (unsigned)tl_op_requests(op));
    else
        fprintf(stderr, "%s\n", result == TL_NONE ? "no such table" : tl_op_error(op)->text);
    a->code = result == TL_DONE ? 0 : 1;
    a->op = NULL;
    tl_op_end(op);
    free(load); /* allowed here: nothing touches it afterwards */
}

int main(int argc, char **argv)
{
    tl_fs_options fo = {0, 0, 0};
    static app a;
    tl_io io;
    tl_lake lake;
    tl_load *load = (tl_load *)malloc(sizeof *load);
    if (argc < 3 || load == NULL)
        return 2;
    fo.local_root = argv[1];
    tl_fs_open(&a.fs, &fo);
    tl_lake_init(&lake, NULL);
    memset(&io, 0, sizeof io);
    io.user = &a;
    io.request = on_request;
    io.done = on_done;
    tl_load_begin(load, &lake, tl_text(argv[2]), NULL);
    a.op = &load->op;
    a.op->user = load;
    tl_start(a.op, &io, tl_fs_now());
    while (a.op != NULL && a.count != 0) { /* the newest first: order does not matter */
        tl_request request = a.held[--a.count];
        tl_fs_answer answer;
        tl_fs_serve(&a.fs, &request, &answer);
        tl_complete(a.op, &answer.completion, tl_fs_now());
        tl_fs_answer_free(&answer);
    }
    tl_lake_free(&lake);
    return a.code;
}
