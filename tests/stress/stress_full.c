/* SPDX-License-Identifier: MIT */
/* Full queues under load: rounds of a random capacity, random policies, deadlines and ways to submit,
 * eight submitters, tasks that post in turn, and a shutdown of either mode that may come early. Every
 * task ends as it was promised, once, and the counts agree to the task. */
#include "support/pool.h"

#include <stdio.h>
#include <string.h>

#include "core/batch.h"
#include "queue/injector.h"
#include "support/alloc.h"

enum { SUBMITTERS = 8, MOST_AT_ONCE = 20 };

typedef struct round_of {
    filch_pool *pool;
    size_t per_submitter;
    atomic_size_t attempted, accepted, refused, ran, cancelled, dropped;
} round_of;

typedef struct item {
    filch_task task;
    round_of *of;
    atomic_uint ends;
} item;

typedef struct submitter {
    round_of *of;
    uint64_t stream;
    item *items;
} submitter;

static void count(atomic_size_t *counter, size_t more)
{
    atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static void ended(void *arg, filch_end how)
{
    item *i = arg;
    TEST_CHECK(atomic_fetch_add_explicit(&i->ends, 1, memory_order_relaxed) == 0);
    count(how == FILCH_RAN         ? &i->of->ran
          : how == FILCH_CANCELLED ? &i->of->cancelled
                                   : &i->of->dropped,
          1);
}

static void child_ended(void *arg, filch_end how)
{
    round_of *r = *(round_of **)arg;
    count(how == FILCH_RAN ? &r->ran : how == FILCH_CANCELLED ? &r->cancelled : &r->dropped, 1);
}

static void child(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static void settle(round_of *r, filch_status status, size_t asked, size_t accepted)
{
    TEST_CHECK(status == FILCH_OK || status == FILCH_E_CLOSED || status == FILCH_E_FULL ||
               status == FILCH_E_TIMEOUT);
    TEST_CHECK((status == FILCH_OK) == (accepted == asked));
    count(&r->attempted, asked);
    count(&r->accepted, accepted);
    count(&r->refused, asked - accepted);
}

static void parent(filch_cx *cx, void *arg)
{
    item *i = arg;
    round_of *r = i->of;
    if (((uintptr_t)i / sizeof(*i)) % 4 == 0) {
        filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
        options.end = child_ended;
        options.until = filch_time_after_ns(1000);
        const filch_status status = filch_post(filch_cx_pool(cx), child, &r, sizeof(r), &options);
        settle(r, status, 1, status == FILCH_OK);
    }
}

static void *submit(void *arg)
{
    submitter *s = arg;
    test_rng rng = test_rng_make(s->stream);
    for (size_t done = 0; done < s->of->per_submitter;) {
        filch_task *tasks[MOST_AT_ONCE];
        filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
        const uint64_t deadline = test_rng_below(&rng, 4);
        size_t n = test_rng_below(&rng, 3) == 0 ? 1 + test_rng_below(&rng, MOST_AT_ONCE) : 1;
        size_t accepted = 0;
        n = n < s->of->per_submitter - done ? n : s->of->per_submitter - done;
        options.end = ended;
        options.full = (filch_full)test_rng_below(&rng, 5);
        options.until = deadline == 0 ? filch_time_after_ns(20000) : deadline == 1 ? 1 : 0;
        for (size_t i = 0; i < n; i++) {
            tasks[i] = &s->items[done + i].task;
        }
        if (n == 1) {
            const filch_status status = filch_submit(s->of->pool, tasks[0], &options);
            settle(s->of, status, 1, status == FILCH_OK);
        } else {
            const filch_status status =
                filch_submit_many(s->of->pool, tasks, n, &options, &accepted);
            settle(s->of, status, n, accepted);
        }
        done += n;
    }
    return NULL;
}

static void judge(round_of *r, const filch_shutdown_report *report)
{
    const filch_stats stats = test_pool_stats(r->pool);
    assert_int_equal(r->attempted, r->accepted + r->refused);
    assert_int_equal(r->accepted, r->ran + r->cancelled + r->dropped);
    assert_int_equal(stats.accepted, r->accepted);
    assert_int_equal(stats.refused, r->refused);
    assert_int_equal(stats.queue_dropped, r->dropped);
    assert_int_equal(stats.total.tasks_cancelled, r->cancelled);
    assert_int_equal(stats.total.tasks_run + stats.queue_run, r->ran);
    assert_int_equal(stats.queue_depth, 0);
    assert_int_equal(stats.pending, 0);
    assert_true(stats.queue_high <= stats.queue_tasks);
    assert_int_equal(report->accepted, report->ran + report->cancelled + report->dropped);
}

static void one_round(test_rng *rng, size_t per_submitter, item *items)
{
    pthread_t threads[SUBMITTERS];
    submitter submitters[SUBMITTERS];
    round_of r = { .per_submitter = per_submitter };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_shutdown_report report;
    const filch_shutdown_mode mode = test_rng_below(rng, 2) ? FILCH_DRAIN : FILCH_CANCEL;
    const bool early = test_rng_below(rng, 2) != 0;
    config.workers = 1 + (unsigned)test_rng_below(rng, 4);
    config.queue_tasks = 1 + test_rng_below(rng, test_rng_below(rng, 2) ? 8 : 200);
    config.own_tasks = test_rng_below(rng, 3);
    config.full = (filch_full)test_rng_below(rng, 5);
    config.flags = test_rng_below(rng, 2) ? FILCH_POOL_TIME_QUEUE : 0;
    r.pool = test_pool_make_as(&config);
    for (size_t i = 0; i < SUBMITTERS * per_submitter; i++) {
        items[i].task = (filch_task)FILCH_TASK_INIT(parent, &items[i]);
        items[i].of = &r;
        atomic_store(&items[i].ends, 0);
    }
    for (size_t i = 0; i < SUBMITTERS; i++) {
        submitters[i] = (submitter){ &r, test_rng_next(rng), items + i * per_submitter };
        test_thread_start(&threads[i], submit, &submitters[i]);
    }
    if (early) {
        assert_int_equal(filch_pool_shutdown(r.pool, mode, FILCH_FOREVER, NULL), FILCH_OK);
    }
    for (size_t i = 0; i < SUBMITTERS; i++) {
        test_thread_join(threads[i]);
    }
    assert_int_equal(filch_pool_shutdown(r.pool, mode, FILCH_FOREVER, &report), FILCH_OK);
    judge(&r, &report);
    test_pool_close(r.pool);
    test_assert_clean();
}

static void rounds__of_any_policy__counts_are_exact(void **state)
{
    static item items[SUBMITTERS * 500];
    test_rng rng = test_rng_make(1);
    const size_t rounds = test_count(300, 60);
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        one_round(&rng, 1 + test_rng_below(&rng, 500), items);
    }
}

/* A million wait at once: what they cost is what the header says, and the drain does not recurse. */
static atomic_uint held;

static void hold_one(filch_cx *cx, void *arg)
{
    (void)cx;
    atomic_fetch_add(&held, 1);
    test_await(arg, 1);
}

enum { BYTES_EACH = 128 /* as the header says; capacity rounded up to a power of two */ };

static void million__waiting__cost_what_the_header_says(void **state)
{
    test_allocator memory;
    atomic_uint open = 0;
    atomic_uint runs = 0;
    const size_t tasks = test_count((size_t)1 << 20, (size_t)1 << 17);
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    test_allocator_init(&memory);
    config.allocator = &memory.hooks;
    config.workers = 2;
    config.queue_tasks = tasks;
    config.stack_bytes = FILCH_MIN_STACK_BYTES;
    config.full = FILCH_FULL_REJECT;
    filch_pool *pool = test_pool_make_as(&config);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(filch_post(pool, hold_one, &open, 0, NULL), FILCH_OK);
        test_await(&held, i + 1);
    }
    size_t posted = 0;
    while (filch_post(pool, test_count_task, &runs, 0, NULL) == FILCH_OK) {
        posted++;
    }
    assert_true(posted == tasks);
    assert_true(sizeof(filchi_cell) == BYTES_EACH);
    const unsigned long calls = atomic_load(&memory.calls);
    atomic_store(&open, 1);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(atomic_load(&runs), posted);
    assert_int_equal(test_pool_stats(pool).queue_high, tasks);
    /* draining takes only the nodes of the workers' batches */
    assert_true(atomic_load(&memory.calls) - calls <= 4 * FILCHI_BATCH_MOST);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(rounds__of_any_policy__counts_are_exact),
        cmocka_unit_test(million__waiting__cost_what_the_header_says),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
