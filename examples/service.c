/* SPDX-License-Identifier: MIT */
/* A service pool under overload: what each policy does when the queue is full, how a wait for room ends,
 * groups, and the ways to shut down. One worker and a pause make the output the same each time; the
 * guide docs/guide/service.md shows it, piece by piece. Exits with 1 if a call fails unexpectedly. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <filch/filch.h>

enum { PLACES = 4, REQUESTS = 6 };

static void must(filch_status status)
{
    if (status != FILCH_OK) {
        fprintf(stderr, "service: %s\n", filch_strerror(status));
        exit(1);
    }
}

static filch_pool *make_pool(filch_full when_full)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool = NULL;
    config.workers = 1;
    config.queue_tasks = PLACES;
    config.full = when_full;
    must(filch_pool_create(&config, &pool));
    return pool;
}

/* ---- a request: its number is copied into the task ---- */

static void serve(filch_cx *cx, void *data)
{
    (void)cx;
    printf("  request %d: served\n", *(int *)data);
}

static void request_ended(void *data, filch_end how)
{
    if (how != FILCH_RAN) {
        printf("  request %d: %s\n", *(int *)data, how == FILCH_DROPPED ? "dropped" : "cancelled");
    }
}

static filch_status post_request(filch_pool *pool, int number, filch_submit_options *options)
{
    options->end = request_ended;
    options->label = "request";
    return filch_post(pool, serve, &number, sizeof number, options);
}

/* More requests than places, while nothing is taken. */
static void overload(const char *title, filch_full when_full)
{
    filch_pool *pool = make_pool(when_full);
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_stats stats = FILCH_STATS_INIT;
    printf("%s\n", title);
    must(filch_pool_pause(pool));
    for (int i = 0; i < REQUESTS; i++) {
        const filch_status status = post_request(pool, i, &options);
        if (status != FILCH_OK) {
            printf("  request %d: refused, %s\n", i, filch_strerror(status));
        }
    }
    must(filch_pool_resume(pool));
    must(filch_pool_wait_quiet(pool, FILCH_FOREVER));
    must(filch_stats_read(pool, &stats));
    printf("  at most %d waited\n", (int)stats.queue_high);
    must(filch_pool_destroy(pool));
}

/* ---- a worker that is busy for as long as we like ---- */

typedef struct gate {
    atomic_bool entered;
    atomic_bool open;
} gate;

static void hold(filch_cx *cx, void *data)
{
    gate *g = *(gate **)data;
    atomic_store(&g->entered, true);
    while (!atomic_load(&g->open) && !filch_stopped(cx)) {}
}

static void hold_worker(filch_pool *pool, gate *g, filch_submit_options *options)
{
    options->label = "long job";
    must(filch_post(pool, hold, &g, sizeof g, options));
    while (!atomic_load(&g->entered)) {}
}

static void caller_runs(void)
{
    filch_pool *pool = make_pool(FILCH_FULL_RUN);
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    gate busy = { false, false };
    printf("run in the caller\n");
    hold_worker(pool, &busy, &options);
    for (int i = 0; i < REQUESTS; i++) {
        must(post_request(pool, i, &options));
    }
    printf("  the worker is free again\n");
    atomic_store(&busy.open, true);
    must(filch_pool_destroy(pool));
}

static void waits_end(void)
{
    filch_pool *pool = make_pool(FILCH_FULL_BLOCK);
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_token *stop = NULL;
    must(filch_token_create(NULL, NULL, &stop));
    printf("wait for room\n");
    must(filch_pool_pause(pool));
    for (int i = 0; i < PLACES; i++) {
        must(post_request(pool, i, &options));
    }
    options.until = filch_time_after_ms(20);
    printf("  request 4: %s\n", filch_strerror(post_request(pool, 4, &options)));
    options.until = 0; /* no deadline, but a token, which another thread would stop */
    options.stop = stop;
    must(filch_token_stop(stop));
    printf("  request 5: %s\n", filch_strerror(post_request(pool, 5, &options)));
    must(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_FOREVER, NULL));
    must(filch_pool_destroy(pool));
    must(filch_token_destroy(stop));
}

/* ---- groups ---- */

static void fail_third(filch_cx *cx, void *data)
{
    const int number = *(int *)data;
    printf("  request %d: %s\n", number, number == 2 ? "fails" : "served");
    if (number == 2) {
        must(filch_fail(cx, FILCH_E_NOMEM));
    }
}

static void first_failure_cancels(void)
{
    filch_pool *pool = make_pool(FILCH_FULL_BLOCK);
    filch_group_config config = FILCH_GROUP_CONFIG_INIT;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_group *group = NULL;
    filch_status first = FILCH_OK;
    config.flags = FILCH_GROUP_FAIL_FAST;
    must(filch_group_create(pool, &config, &group));
    options.group = group;
    options.end = request_ended;
    printf("a group whose first failure cancels the rest\n");
    must(filch_pool_pause(pool));
    for (int i = 0; i < PLACES; i++) {
        must(filch_post(pool, fail_third, &i, sizeof i, &options));
    }
    must(filch_pool_resume(pool));
    must(filch_group_wait(group, FILCH_FOREVER, NULL, &first));
    printf("  the group says: %s\n", filch_strerror(first));
    must(filch_group_destroy(group));
    must(filch_pool_destroy(pool));
}

/* ---- shutdown ---- */

static void give_up_in_time(void)
{
    filch_pool *pool = make_pool(FILCH_FULL_BLOCK);
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_shutdown_report report;
    filch_token *stop = NULL;
    gate busy = { false, false };
    printf("shut down\n");
    must(filch_token_create(NULL, NULL, &stop));
    options.stop = stop;
    hold_worker(pool, &busy, &options);
    options.stop = NULL;
    for (int i = 0; i < 2; i++) {
        must(post_request(pool, i, &options));
    }
    filch_status status = filch_pool_shutdown(pool, FILCH_DRAIN, filch_time_after_ms(20), &report);
    printf("  drain: %s; %s runs\n", filch_strerror(status), report.tasks[0].label);
    printf("  a new request: %s\n", filch_strerror(post_request(pool, 2, &options)));
    status = filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_NOW, NULL);
    printf("  cancel: %s\n", filch_strerror(status));
    must(filch_token_stop(stop)); /* the long job asks, and returns */
    must(filch_pool_shutdown(pool, FILCH_CANCEL, FILCH_FOREVER, &report));
    printf("  stopped: %d accepted, %d ran, %d cancelled\n", (int)report.accepted, (int)report.ran,
           (int)report.cancelled);
    must(filch_pool_destroy(pool));
    must(filch_token_destroy(stop));
}

int main(void)
{
    printf("a queue for bursts of 1000, 2 ms each, 4 workers, 100 ms of patience: %d places\n",
           (int)filch_queue_capacity(1000, 2000000, 4, 100000000));
    overload("reject", FILCH_FULL_REJECT);
    overload("drop the oldest", FILCH_FULL_DROP_OLDEST);
    caller_runs();
    waits_end();
    first_failure_cancels();
    give_up_in_time();
    return 0;
}
