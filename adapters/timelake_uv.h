/* timelake_uv.h - operations on a libuv loop: HTTP(S) by timelake_curl.h's transfers on the loop's sockets, folders by
   timelake_fs.h on libuv's threads, sleeps by its timers.

   Include timelake.h, then timelake_fs.h, timelake_http.h and timelake_curl.h first; define TIMELAKE_UV_IMPLEMENTATION
   in one file, under -std=c99 or c11 with _GNU_SOURCE before the first #include; link with -luv -lcurl -lpthread.

       tl_uv *uv = tl_uv_open(loop, curl, &fs);              // curl or fs may be NULL
       tl_load_begin(&load, &lake, url, NULL);
       tl_uv_start(uv, &load.op, on_done, me);               // on_done(me, &load.op, turn) comes from the loop
       uv_run(loop, UV_RUN_DEFAULT);                         // ends when nothing is to be done
       tl_uv_close(uv);                                      // then run the loop once more

   Any number of operations run at once. Everything but the file work happens in the loop's thread, and only there may
   these functions be called. libuv has four threads for files unless UV_THREADPOOL_SIZE says more. */
#ifndef TIMELAKE_UV_H
#define TIMELAKE_UV_H
#include <time.h>
#ifndef CLOCK_REALTIME
#error "libuv needs POSIX 2008: under -std=c99 or c11 define _GNU_SOURCE before the first #include"
#endif
#include <uv.h>

typedef struct tl_uv tl_uv;

/* Comes once and last; it may end the operation, free the machine, and start others. */
typedef void (*tl_uv_done)(void *user, tl_op *op, tl_turn result);

/* Keys of `fs` go to it, all others to `curl`; both are borrowed, and no one else drives curl. NULL: no memory. */
TL_API tl_uv *tl_uv_open(uv_loop_t *loop, tl_curl *curl, const tl_fs *fs);

/* Drives an operation that was begun to its end. TL_NO_MEMORY, TL_MISUSE (it runs already): `done` does not come. */
TL_API tl_status tl_uv_start(tl_uv *uv, tl_op *op, tl_uv_done done, void *user);

/* Gives an operation up; `done` comes all the same. A file request that a thread works on is waited for. */
TL_API void tl_uv_cancel(tl_uv *uv, tl_op *op);

/* Operations that run. */
TL_API uint32_t tl_uv_running(const tl_uv *uv);

/* Every operation must have ended; it may be called from the `done` of the last. The driver is freed when the loop has
   run on: `fs` stays until then, for files that nobody waits for. HTTP requests that nobody waits for are sent on by
   tl_curl_close, which is not to be called from `done`. */
TL_API void tl_uv_close(tl_uv *uv);
#endif /* TIMELAKE_UV_H */

#if defined(TIMELAKE_UV_IMPLEMENTATION) && !defined(TIMELAKE_UV_IMPLEMENTATION_DONE)
#define TIMELAKE_UV_IMPLEMENTATION_DONE
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* An operation that runs. */
typedef struct tl_uv_task {
    struct tl_uv_task *next, **at; /* of the driver's list, and where it points here */
    struct tl_uv *uv;
    uint64_t number;
    tl_op *op;
    tl_uv_done done;
    void *user;
    struct tl_uv_sleep *sleeps;
    struct tl_uv_work *works;
} tl_uv_task;

typedef struct tl_uv_sleep {
    uv_timer_t timer; /* first: freed through it */
    struct tl_uv_sleep *next;
    tl_uv_task *task;
    uint64_t token;
} tl_uv_sleep;

/* A file request. Of one that nobody waits for the task is NULL. */
typedef struct tl_uv_work {
    uv_work_t work;
    struct tl_uv_work *next;
    tl_uv *uv;
    tl_uv_task *task;
    tl_request request;
    tl_fs_answer answer;
    char texts[1];
} tl_uv_work;

struct tl_uv {
    uv_loop_t *loop;
    tl_curl *curl;
    const tl_fs *fs;
    tl_uv_task *tasks;
    uint32_t running;
    uint64_t started;
    struct tl_uv_socket *sockets;
    uv_timer_t socket_timer; /* libcurl's */
    uv_timer_t turn_timer;   /* for tl_curl_turn */
    size_t holds; /* timers that are not closed yet, and file requests on their way: freed with the last */
};

typedef struct tl_uv_socket {
    uv_poll_t poll;
    struct tl_uv_socket *next, **at; /* as of a task */
    tl_uv *uv;
    curl_socket_t socket;
} tl_uv_socket;

/* ---- HTTP: libcurl's sockets and timers are the loop's ---- */

static void tl_uv_turn(tl_uv *uv);

static void tl_uv_on_turn(uv_timer_t *timer)
{
    tl_uv_turn((tl_uv *)timer->data);
}

/* Lets transfers begin and end; comes again when the next is due. */
static void tl_uv_turn(tl_uv *uv)
{
    int64_t next, now;
    (void)tl_curl_turn(uv->curl, &next);
    now = tl_curl_now();
    if (next == INT64_MAX)
        uv_timer_stop(&uv->turn_timer);
    else
        uv_timer_start(&uv->turn_timer, tl_uv_on_turn, next > now ? (uint64_t)(next - now) : 0, 0);
}

static void tl_uv_on_socket_timer(uv_timer_t *timer)
{
    tl_uv *uv = (tl_uv *)timer->data;
    int running;
    curl_multi_socket_action((CURLM *)tl_curl_multi(uv->curl), CURL_SOCKET_TIMEOUT, 0, &running);
    tl_uv_turn(uv);
}

static int tl_uv_set_timer(CURLM *multi, long ms, void *user)
{
    tl_uv *uv = (tl_uv *)user;
    (void)multi;
    if (ms < 0)
        uv_timer_stop(&uv->socket_timer);
    else
        uv_timer_start(&uv->socket_timer, tl_uv_on_socket_timer, (uint64_t)ms, 0);
    return 0;
}

static void tl_uv_on_socket(uv_poll_t *poll, int status, int events)
{
    tl_uv_socket *s = (tl_uv_socket *)poll->data;
    tl_uv *uv = s->uv;
    int flags = 0, running;
    if (status < 0)
        flags = CURL_CSELECT_ERR;
    flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    curl_multi_socket_action((CURLM *)tl_curl_multi(uv->curl), s->socket, flags, &running);
    tl_uv_turn(uv);
}

static void tl_uv_free_handle(uv_handle_t *handle)
{
    free(handle->data);
}

static void tl_uv_drop_socket(tl_uv_socket *s)
{
    *s->at = s->next;
    if (s->next != NULL)
        s->next->at = s->at;
    curl_multi_assign((CURLM *)tl_curl_multi(s->uv->curl), s->socket, NULL);
    uv_poll_stop(&s->poll);
    uv_close((uv_handle_t *)&s->poll, tl_uv_free_handle);
}

static int tl_uv_set_socket(CURL *easy, curl_socket_t socket, int what, void *user, void *known)
{
    tl_uv *uv = (tl_uv *)user;
    tl_uv_socket *s = (tl_uv_socket *)known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s != NULL)
            tl_uv_drop_socket(s);
        return 0;
    }
    if (s == NULL) {
        s = (tl_uv_socket *)calloc(1, sizeof *s);
        if (s == NULL || uv_poll_init_socket(uv->loop, &s->poll, socket) != 0) {
            free(s);
            return -1;
        }
        s->poll.data = s;
        s->uv = uv;
        s->socket = socket;
        s->next = uv->sockets;
        s->at = &uv->sockets;
        if (s->next != NULL)
            s->next->at = &s->next;
        uv->sockets = s;
        curl_multi_assign((CURLM *)tl_curl_multi(uv->curl), socket, s);
    }
    uv_poll_start(&s->poll, (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0),
                  tl_uv_on_socket);
    return 0;
}

/* ---- folders: libuv's threads ---- */

static void tl_uv_let_go(tl_uv *uv)
{
    if (--uv->holds == 0)
        free(uv);
}

static void tl_uv_serve(uv_work_t *work)
{
    tl_uv_work *w = (tl_uv_work *)work->data;
    tl_fs_serve(w->uv->fs, &w->request, &w->answer);
}

static void tl_uv_served(uv_work_t *work, int status)
{
    tl_uv_work *w = (tl_uv_work *)work->data, **at;
    tl_uv_task *task = w->task;
    tl_uv *uv = w->uv;
    tl_completion c;
    if (task != NULL) {
        for (at = &task->works; *at != w; at = &(*at)->next)
            continue;
        *at = w->next;
        c = status == 0 ? w->answer.completion : tl_completed(w->request.token, TL_OUTCOME_CANCELLED);
        (void)tl_complete(task->op, &c, tl_fs_now()); /* the task may be gone now */
    }
    if (status == 0)
        tl_fs_answer_free(&w->answer);
    free(w);
    tl_uv_let_go(uv);
}

static void tl_uv_own(tl_span *span, char **at)
{
    if (span->data == NULL)
        return;
    if (span->size != 0)
        memcpy(*at, span->data, span->size);
    span->data = *at;
    *at += span->size;
}

static int tl_uv_submit_file(tl_uv_task *task, const tl_request *r)
{
    tl_uv_work *w = (tl_uv_work *)calloc(1, sizeof *w + r->key.size + r->etag.size + r->page.size);
    char *at;
    if (w == NULL)
        return 0;
    at = w->texts;
    w->work.data = w;
    w->uv = task->uv;
    w->request = *r;
    tl_uv_own(&w->request.key, &at);
    tl_uv_own(&w->request.etag, &at);
    tl_uv_own(&w->request.page, &at);
    if (uv_queue_work(task->uv->loop, &w->work, tl_uv_serve, tl_uv_served) != 0) {
        free(w);
        return 0;
    }
    task->uv->holds++;
    if (r->token != 0) {
        w->task = task;
        w->next = task->works;
        task->works = w;
    }
    return 1;
}

/* ---- sleeps ---- */

static void tl_uv_woken(uv_timer_t *timer)
{
    tl_uv_sleep *s = (tl_uv_sleep *)timer->data, **at;
    tl_uv_task *task = s->task;
    tl_completion c = tl_completed(s->token, TL_OUTCOME_OK);
    for (at = &task->sleeps; *at != s; at = &(*at)->next)
        continue;
    *at = s->next;
    uv_close((uv_handle_t *)&s->timer, tl_uv_free_handle);
    (void)tl_complete(task->op, &c, tl_fs_now());
}

static int tl_uv_sleep_for(tl_uv_task *task, const tl_request *r)
{
    tl_uv_sleep *s = (tl_uv_sleep *)calloc(1, sizeof *s);
    int64_t now = tl_fs_now();
    if (s == NULL)
        return 0;
    uv_update_time(task->uv->loop); /* timers count from the loop's time, which stands still while callbacks run */
    s->task = task;
    s->token = r->token;
    s->next = task->sleeps;
    task->sleeps = s;
    uv_timer_init(task->uv->loop, &s->timer);
    s->timer.data = s;
    uv_timer_start(&s->timer, tl_uv_woken, r->until > now ? (uint64_t)(r->until - now) : 0, 0);
    return 1;
}

/* ---- operations ---- */

static void tl_uv_request(void *user, tl_op *op, const tl_request *request)
{
    tl_uv_task *task = (tl_uv_task *)user;
    tl_uv *uv = task->uv;
    char path[TL_FS_PATH];
    int sent = 0;
    if (request->kind == TL_SLEEP) {
        sent = tl_uv_sleep_for(task, request);
    } else if (uv->fs != NULL && tl_fs_path(uv->fs, request->key, path, sizeof path)) {
        sent = tl_uv_submit_file(task, request);
    } else if (uv->curl != NULL && tl_curl_submit(uv->curl, op, request)) {
        uv_timer_start(&uv->turn_timer, tl_uv_on_turn, 0, 0);
        sent = 1;
    }
    if (!sent && request->token != 0) {
        tl_completion c = tl_completed(request->token, TL_OUTCOME_NEVER_SENT);
        (void)tl_complete(op, &c, tl_fs_now());
    }
}

static void tl_uv_finished(void *user, tl_op *op, tl_turn result)
{
    tl_uv_task *task = (tl_uv_task *)user;
    while (task->sleeps != NULL) { /* those that a cancel ended */
        tl_uv_sleep *s = task->sleeps;
        task->sleeps = s->next;
        uv_close((uv_handle_t *)&s->timer, tl_uv_free_handle);
    }
    *task->at = task->next;
    if (task->next != NULL)
        task->next->at = task->at;
    task->uv->running--;
    if (task->done != NULL)
        task->done(task->user, op, result);
    free(task);
}

TL_API tl_status tl_uv_start(tl_uv *uv, tl_op *op, tl_uv_done done, void *user)
{
    tl_uv_task *task = (tl_uv_task *)calloc(1, sizeof *task);
    tl_io io;
    tl_status st;
    if (task == NULL)
        return TL_NO_MEMORY;
    task->uv = uv;
    task->number = ++uv->started;
    task->op = op;
    task->done = done;
    task->user = user;
    task->next = uv->tasks;
    task->at = &uv->tasks;
    if (uv->tasks != NULL)
        uv->tasks->at = &task->next;
    uv->tasks = task;
    uv->running++;
    io.user = task;
    io.request = tl_uv_request;
    io.done = tl_uv_finished;
    st = tl_start(op, &io, tl_fs_now()); /* the task may be gone when this succeeds */
    if (st != TL_OK) {
        task->done = NULL;
        tl_uv_finished(task, op, TL_FAILED);
    }
    return st;
}

TL_API void tl_uv_cancel(tl_uv *uv, tl_op *op)
{
    tl_uv_task *task = uv->tasks;
    tl_uv_work *w;
    uint64_t number;
    while (task != NULL && task->op != op)
        task = task->next;
    if (task == NULL)
        return;
    number = task->number;
    for (w = task->works; w != NULL; w = w->next)
        (void)uv_cancel((uv_req_t *)&w->work); /* those that no thread has begun: tl_uv_served comes from the loop */
    tl_cancel(op, tl_fs_now());
    for (task = uv->tasks; task != NULL && task->number != number; task = task->next)
        continue; /* it may be gone now, and the same operation begun anew */
    if (task != NULL && uv->curl != NULL)
        tl_curl_cancel(uv->curl, op);
}

TL_API uint32_t tl_uv_running(const tl_uv *uv)
{
    return uv->running;
}

TL_API tl_uv *tl_uv_open(uv_loop_t *loop, tl_curl *curl, const tl_fs *fs)
{
    tl_uv *uv = (tl_uv *)calloc(1, sizeof *uv);
    CURLM *multi = curl != NULL ? (CURLM *)tl_curl_multi(curl) : NULL;
    if (uv == NULL)
        return NULL;
    uv->loop = loop;
    uv->curl = curl;
    uv->fs = fs;
    uv->holds = 2;
    uv_timer_init(loop, &uv->socket_timer);
    uv_timer_init(loop, &uv->turn_timer);
    uv->socket_timer.data = uv->turn_timer.data = uv;
    if (multi != NULL) {
        curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, tl_uv_set_socket);
        curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, (void *)uv);
        curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, tl_uv_set_timer);
        curl_multi_setopt(multi, CURLMOPT_TIMERDATA, (void *)uv);
    }
    return uv;
}

static void tl_uv_closed(uv_handle_t *handle)
{
    tl_uv_let_go((tl_uv *)handle->data);
}

TL_API void tl_uv_close(tl_uv *uv)
{
    CURLM *multi;
    if (uv == NULL)
        return;
    if (uv->curl != NULL) {
        multi = (CURLM *)tl_curl_multi(uv->curl);
        while (uv->sockets != NULL)
            tl_uv_drop_socket(uv->sockets);
        curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, (curl_socket_callback)NULL);
        curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, (curl_multi_timer_callback)NULL);
    }
    uv_close((uv_handle_t *)&uv->socket_timer, tl_uv_closed);
    uv_close((uv_handle_t *)&uv->turn_timer, tl_uv_closed);
}
#endif /* TIMELAKE_UV_IMPLEMENTATION */
