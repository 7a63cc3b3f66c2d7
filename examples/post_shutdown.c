/* SPDX-License-Identifier: MIT */
/* Post tasks from several threads, shut the pool down, and account for every one of them.
 *
 * A post is accepted or refused, and an accepted task runs or is cancelled: nothing is lost. Here
 * one thread shuts the pool down by draining while others may still post, so some posts may come
 * too late and are refused. Prints the counts and exits with 1 if they do not add up. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <filch/filch.h>

enum { THREADS = 4, POSTS = 50 * 1000 };

typedef struct shared {
    filch_pool *pool;
    _Atomic uint64_t accepted;
    _Atomic uint64_t refused;
    _Atomic uint64_t ran;
} shared;

static void count_run(filch_cx *cx, void *data)
{
    (void)cx;
    shared *const s = *(shared **)data;
    atomic_fetch_add_explicit(&s->ran, 1, memory_order_relaxed);
}

static void *post_many(void *arg)
{
    shared *s = arg;
    for (int i = 0; i < POSTS; i++) {
        const filch_status status = filch_post(s->pool, count_run, &s, sizeof s, NULL);
        _Atomic uint64_t *const counter = status == FILCH_OK ? &s->accepted : &s->refused;
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    shared s = { .pool = NULL };
    pthread_t threads[THREADS];
    int started = 0;
    if (filch_pool_create(NULL, &s.pool) != FILCH_OK) {
        return 2;
    }
    while (started < THREADS && pthread_create(&threads[started], NULL, post_many, &s) == 0) {
        started++;
    }
    (void)post_many(&s); /* as many from here; the others are not done then */
    filch_shutdown_report report = { 0 };
    const filch_status status = filch_pool_shutdown(s.pool, FILCH_DRAIN, FILCH_FOREVER, &report);
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    const uint64_t accepted = atomic_load(&s.accepted);
    const uint64_t refused = atomic_load(&s.refused);
    const int right = status == FILCH_OK && accepted + refused == (uint64_t)(started + 1) * POSTS &&
                      accepted == atomic_load(&s.ran) && report.accepted == accepted &&
                      report.accepted == report.ran + report.cancelled && report.cancelled == 0;
    printf("accepted %" PRIu64 " = ran %" PRIu64 " + cancelled %" PRIu64 ", refused %" PRIu64
           ": %s\n",
           report.accepted, report.ran, report.cancelled, refused, right ? "right" : "WRONG");
    return filch_pool_destroy(s.pool) == FILCH_OK && right ? 0 : 1;
}
