/* SPDX-License-Identifier: MIT */
/* Groups under load: rounds of random pools and groups, threads and tasks that post to them by any
 * policy, waits with deadlines and tokens, cancels, failures, and groups that are destroyed as soon as a
 * wait says so. Every task ends as it was promised, once, and the counts agree to the task. */
#include "support/pool.h"

#include <string.h>

enum { POSTERS = 3, GROUPS = 3, MOST = 400 };

typedef struct round_of {
    filch_pool *pool;
    filch_group *groups[GROUPS];
    filch_token *token;
    atomic_size_t accepted, refused, ran, cancelled, dropped;
} round_of;

typedef struct item {
    filch_task task;
    round_of *of;
    atomic_uint ends;
    unsigned word; /* random: what it does */
} item;

static void count(atomic_size_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void count_end(round_of *r, filch_end how)
{
    count(how == FILCH_RAN ? &r->ran : how == FILCH_CANCELLED ? &r->cancelled : &r->dropped);
}

static void ended(void *arg, filch_end how)
{
    item *i = arg;
    TEST_CHECK(atomic_fetch_add_explicit(&i->ends, 1, memory_order_relaxed) == 0);
    count_end(i->of, how);
}

static void child_ended(void *arg, filch_end how)
{
    count_end(*(round_of **)arg, how);
}

static void settle(round_of *r, filch_status status)
{
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_CLOSED || status == FILCH_E_FULL ||
               status == FILCH_E_TIMEOUT || status == FILCH_E_STOPPED ||
               status == FILCH_E_CANCELLED);
    count(status == FILCH_OK ? &r->accepted : &r->refused);
}

static void child(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

/* Posts into a group of its own and waits for that; may find it stopped. */
static void wait_for_children(filch_cx *cx, round_of *r, unsigned children)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = child_ended;
    TEST_CHECK(filch_group_create(r->pool, NULL, &options.group) == FILCH_OK);
    for (unsigned i = 0; i < children; i++) {
        settle(r, filch_post(filch_cx_pool(cx), child, &r, sizeof(r), &options));
    }
    const filch_status status = filch_group_wait(options.group, FILCH_FOREVER, r->token, NULL);
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_STOPPED);
    if (status != FILCH_OK) {
        (void)filch_group_cancel(options.group, NULL);
        TEST_CHECK(filch_group_wait(options.group, FILCH_FOREVER, NULL, NULL) == FILCH_OK);
    }
    TEST_CHECK(filch_group_destroy(options.group) == FILCH_OK);
}

static void act(filch_cx *cx, void *arg)
{
    item *i = arg;
    round_of *r = i->of;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    switch (i->word % 8) {
    case 0: /* one that runs inside its caller may not wait */
        if (filch_cx_worker(cx) == filch_pool_max_workers(r->pool)) {
            break;
        }
        wait_for_children(cx, r, i->word / 8 % 5);
        break;
    case 1:
        options.end = child_ended;
        options.group = r->groups[i->word / 8 % GROUPS];
        settle(r, filch_post(r->pool, child, &r, sizeof(r), &options));
        break;
    case 2:
        (void)filch_fail(cx, FILCH_E_FULL);
        break;
    case 3:
        if (i->word / 8 % 64 == 0) {
            (void)filch_group_cancel(r->groups[i->word / 512 % GROUPS], NULL);
        }
        break;
    default:
        (void)filch_stopped(cx);
    }
}

typedef struct poster {
    round_of *of;
    uint64_t stream;
    item *items;
    size_t count;
} poster;

static void *post_items(void *arg)
{
    poster *p = arg;
    round_of *r = p->of;
    test_rng rng = test_rng_make(p->stream);
    for (size_t i = 0; i < p->count; i++) {
        filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
        const uint64_t which = test_rng_below(&rng, GROUPS + 1);
        p->items[i].word = (unsigned)test_rng_next(&rng);
        options.end = ended;
        options.group = which < GROUPS ? r->groups[which] : NULL;
        options.full = (filch_full)test_rng_below(&rng, 5);
        options.until = test_rng_below(&rng, 4) == 0 ? filch_time_after_ns(20000) : 0;
        options.stop = test_rng_below(&rng, 4) == 0 ? r->token : NULL;
        settle(r, filch_submit(r->pool, &p->items[i].task, &options));
        if (test_rng_below(&rng, 100) == 0) {
            (void)filch_group_wait(r->groups[0], filch_time_after_ns(test_rng_below(&rng, 50000)),
                                   r->token, NULL);
        }
    }
    return NULL;
}

static void judge(round_of *r, const filch_shutdown_report *report)
{
    const filch_stats stats = test_pool_stats(r->pool);
    assert_int_equal(r->accepted, r->ran + r->cancelled + r->dropped);
    assert_int_equal(stats.accepted, r->accepted);
    assert_int_equal(stats.refused, r->refused);
    assert_int_equal(stats.queue_dropped, r->dropped);
    assert_int_equal(stats.total.tasks_cancelled, r->cancelled);
    assert_int_equal(stats.total.tasks_run + stats.queue_run, r->ran);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(report->accepted, report->ran + report->cancelled + report->dropped);
    assert_int_equal(report->accepted, r->accepted);
}

static void one_round(test_rng *rng, size_t per_poster, item *items)
{
    pthread_t threads[POSTERS];
    poster posters[POSTERS];
    round_of r = { 0 };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_group_config group_config = FILCH_GROUP_CONFIG_INIT;
    filch_shutdown_report report;
    const bool early = test_rng_below(rng, 3) == 0;
    config.workers = 1 + (unsigned)test_rng_below(rng, 3);
    config.queue_tasks = 1 + test_rng_below(rng, test_rng_below(rng, 2) ? 8 : 200);
    config.own_tasks = test_rng_below(rng, 4);
    r.pool = test_pool_make_as(&config);
    assert_int_equal(filch_token_create(NULL, NULL, &r.token), FILCH_OK);
    for (int g = 0; g < GROUPS; g++) {
        group_config.flags = test_rng_below(rng, 2) ? FILCH_GROUP_FAIL_FAST : 0;
        assert_int_equal(filch_group_create(r.pool, &group_config, &r.groups[g]), FILCH_OK);
    }
    for (size_t i = 0; i < POSTERS * per_poster; i++) {
        items[i].task = (filch_task)FILCH_TASK_INIT(act, &items[i]);
        items[i].of = &r;
        atomic_store(&items[i].ends, 0);
    }
    for (size_t i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ &r, test_rng_next(rng), items + i * per_poster, per_poster };
        test_thread_start(&threads[i], post_items, &posters[i]);
    }
    if (test_rng_below(rng, 2) != 0) {
        test_spin_ns(test_rng_below(rng, 200000));
        assert_int_equal(filch_token_stop(r.token), FILCH_OK);
    }
    if (early) {
        assert_int_equal(filch_pool_shutdown(r.pool, FILCH_CANCEL, FILCH_FOREVER, NULL), FILCH_OK);
    }
    for (size_t i = 0; i < POSTERS; i++) {
        test_thread_join(threads[i]);
    }
    /* tasks of one group still post to others: all are quiet together */
    assert_int_equal(filch_pool_wait_quiet(r.pool, FILCH_FOREVER), FILCH_OK);
    for (int g = 0; g < GROUPS; g++) {
        assert_int_equal(filch_group_wait(r.groups[g], FILCH_NOW, NULL, NULL), FILCH_OK);
        assert_int_equal(filch_group_destroy(r.groups[g]), FILCH_OK);
    }
    assert_int_equal(filch_pool_shutdown(r.pool, FILCH_DRAIN, FILCH_FOREVER, &report), FILCH_OK);
    judge(&r, &report);
    test_pool_close(r.pool);
    assert_int_equal(filch_token_destroy(r.token), FILCH_OK);
    test_assert_clean();
}

static void rounds__of_any_kind__counts_are_exact(void **state)
{
    static item items[POSTERS * MOST];
    test_rng rng = test_rng_make(1);
    const size_t rounds = test_count(1000, 100);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        one_round(&rng, 1 + test_rng_below(&rng, MOST), items);
    }
}

/* A group is made, two threads post a few tasks at random moments, one waits and destroys it at once. */
typedef struct brief {
    filch_pool *pool;
    filch_group *group;
    atomic_uint go;
    atomic_uint gone;
    atomic_uint runs;
    unsigned tasks[2];
} brief;

static void run_brief(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add_explicit(&((brief *)arg)->runs, 1, memory_order_relaxed);
}

static void post_brief(brief *b, unsigned tasks)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.group = b->group;
    for (unsigned i = 0; i < tasks; i++) {
        TEST_CHECK(filch_post(b->pool, run_brief, b, 0, &options) == FILCH_OK);
    }
}

static void *post_on_call(void *arg)
{
    brief *b = arg;
    for (unsigned round = 1;; round++) {
        test_await(&b->go, round);
        if (b->group == NULL) {
            return NULL;
        }
        post_brief(b, b->tasks[1]);
        atomic_store(&b->gone, round);
    }
}

static void rounds__brief_groups__wait_then_destroy(void **state)
{
    const size_t rounds = test_count(100000, 5000);
    test_rng rng = test_rng_make(2);
    pthread_t thread;
    brief b = { .pool = test_pool_make(2) };
    (void)state;
    test_thread_start(&thread, post_on_call, &b);
    for (size_t i = 0; i < rounds; i++) {
        assert_int_equal(filch_group_create(b.pool, NULL, &b.group), FILCH_OK);
        atomic_store(&b.runs, 0);
        b.tasks[0] = (unsigned)test_rng_below(&rng, 4);
        b.tasks[1] = (unsigned)test_rng_below(&rng, 4);
        atomic_fetch_add(&b.go, 1);
        post_brief(&b, b.tasks[0]);
        if (i % 2 == 0) {
            test_await(&b.gone, (unsigned)i + 1);
        }
        assert_int_equal(filch_group_wait(b.group, FILCH_FOREVER, NULL, NULL), FILCH_OK);
        test_await(&b.gone, (unsigned)i + 1);
        if (i % 2 != 0) { /* it may have posted after that wait */
            assert_int_equal(filch_group_wait(b.group, FILCH_FOREVER, NULL, NULL), FILCH_OK);
        }
        assert_int_equal(atomic_load(&b.runs), b.tasks[0] + b.tasks[1]);
        assert_int_equal(filch_group_destroy(b.group), FILCH_OK);
    }
    b.group = NULL;
    atomic_fetch_add(&b.go, 1);
    test_thread_join(thread);
    test_pool_close(b.pool);
    test_assert_clean();
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(rounds__of_any_kind__counts_are_exact),
        cmocka_unit_test(rounds__brief_groups__wait_then_destroy),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
