/* SPDX-License-Identifier: MIT */
/* Eight threads hand work in while the pool is shut down at a random moment, in both modes. Every
 * round the books must balance: attempted = accepted + refused, accepted = ran + cancelled, the end
 * of each accepted task is called exactly once and that of a refused one never; and the figures of
 * the library are ours. */
#include "support/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"

enum { POSTERS = 8, ATTEMPTS = 150, AFTER_CLOSED = 3 };

typedef enum way { BY_POST, BY_BIG_POST, BY_SUBMIT, BY_RUN, WAYS } way;

/* One attempt to hand something in, and what became of it. */
typedef struct attempt {
    filch_task task;
    filch_pool *pool;
    struct attempt *child; /* the task posts this one in turn; NULL: none */
    atomic_uint runs;
    atomic_uint ends_ran;
    atomic_uint ends_cancelled;
    way how;
    bool made;
    filch_status status;
} attempt;

typedef struct poster {
    filch_pool *pool;
    atomic_uint *go;
    atomic_bool *closed; /* a shutdown has returned: everything from now on is refused */
    attempt *attempts;   /* ATTEMPTS, and as many children behind them */
    uint64_t stream;
} poster;

typedef struct books {
    uint64_t attempted;
    uint64_t accepted;
    uint64_t refused;
    uint64_t ran;
    uint64_t cancelled;
} books;

typedef struct big_block {
    attempt *of;
    unsigned char rest[300];
} big_block;

static void end_attempt(attempt *a, filch_end how)
{
    TEST_CHECK(how == FILCH_RAN || how == FILCH_CANCELLED);
    if (how == FILCH_RAN) {
        TEST_CHECK(atomic_load(&a->runs) == 1);
        atomic_fetch_add(&a->ends_ran, 1);
    } else {
        TEST_CHECK(atomic_load(&a->runs) == 0);
        atomic_fetch_add(&a->ends_cancelled, 1);
    }
}

static void end_copy(void *data, filch_end how)
{
    end_attempt(*(attempt **)data, how);
}

static void end_pointer(void *data, filch_end how)
{
    end_attempt(data, how);
}

static void make_attempt(attempt *a);

static void run_attempt(attempt *a)
{
    atomic_fetch_add(&a->runs, 1);
    if (a->child != NULL) {
        make_attempt(a->child);
    }
}

static void run_copy(filch_cx *cx, void *data)
{
    (void)cx;
    run_attempt(*(attempt **)data);
}

static void run_pointer(filch_cx *cx, void *arg)
{
    (void)cx;
    run_attempt(arg);
}

static void make_attempt(attempt *a)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    big_block big = { a, { 0 } };
    options.end = (a->how == BY_SUBMIT) ? end_pointer : end_copy;
    a->made = true;
    if (a->how == BY_POST) {
        a->status = filch_post(a->pool, run_copy, &a, sizeof(a), &options);
    } else if (a->how == BY_BIG_POST) {
        a->status = filch_post(a->pool, run_copy, &big, sizeof(big), &options);
    } else if (a->how == BY_SUBMIT) {
        a->task = (filch_task)FILCH_TASK_INIT(run_pointer, a);
        a->status = filch_submit(a->pool, &a->task, &options);
    } else {
        a->status = filch_run(a->pool, run_pointer, a);
    }
}

static void *poster_main(void *arg)
{
    poster *p = arg;
    test_rng rng = test_rng_make(p->stream);
    unsigned closed = 0;
    test_await(p->go, 1);
    for (size_t i = 0; i < ATTEMPTS && closed < AFTER_CLOSED; i++) {
        attempt *a = &p->attempts[i];
        a->pool = p->pool;
        a->how = (way)(test_rng_below(&rng, 8) % (WAYS + 1)) % WAYS;
        if (test_rng_below(&rng, 3) == 0) {
            a->child = &p->attempts[ATTEMPTS + i];
            a->child->pool = p->pool;
            a->child->how = (way)test_rng_below(&rng, BY_RUN); /* a root inside is a plain call */
        }
        bool refused = atomic_load(p->closed);
        make_attempt(a);
        TEST_CHECK(!refused || a->status == FILCH_E_CLOSED);
        closed += (a->status == FILCH_E_CLOSED);
        if (test_rng_below(&rng, 16) == 0) {
            test_spin_ns(test_rng_below(&rng, 5000));
        }
    }
    return NULL;
}

static void enter_attempt(books *b, const attempt *a)
{
    unsigned ran = atomic_load(&a->ends_ran);
    unsigned cancelled = atomic_load(&a->ends_cancelled);
    b->attempted++;
    if (a->status == FILCH_E_CLOSED) {
        b->refused++;
        assert_int_equal(ran + cancelled, 0);
        assert_int_equal(atomic_load(&a->runs), 0);
        return;
    }
    b->accepted++;
    if (a->how == BY_RUN) {
        assert_true(a->status == FILCH_OK || a->status == FILCH_E_CANCELLED);
        assert_int_equal(atomic_load(&a->runs), a->status == FILCH_OK ? 1 : 0);
        b->ran += (a->status == FILCH_OK);
        b->cancelled += (a->status != FILCH_OK);
        return;
    }
    assert_int_equal(a->status, FILCH_OK);
    assert_int_equal(ran + cancelled, 1);
    assert_int_equal(atomic_load(&a->runs), ran);
    b->ran += ran;
    b->cancelled += cancelled;
}

static books balance(const attempt *attempts)
{
    books b = { 0, 0, 0, 0, 0 };
    for (size_t i = 0; i < (size_t)POSTERS * 2 * ATTEMPTS; i++) {
        if (attempts[i].made) {
            enter_attempt(&b, &attempts[i]);
        }
    }
    return b;
}

static filch_pool *random_pool(test_rng *rng, test_allocator *memory)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    test_allocator_init(memory);
    config.allocator = &memory->hooks;
    config.workers = 1 + (unsigned)test_rng_below(rng, 4);
    config.queue_tasks = (size_t)1 << test_rng_below(rng, 11);
    config.flags = (test_rng_below(rng, 2) == 0) ? FILCH_POOL_FIFO : 0;
    return test_pool_make_as(&config);
}

/* Shut down once or in steps, and return the last report. */
static filch_shutdown_report end_pool(filch_pool *pool, test_rng *rng, atomic_bool *closed,
                                      bool *out_cancelled)
{
    filch_shutdown_report report = { 0 };
    filch_shutdown_mode mode = (test_rng_below(rng, 2) == 0) ? FILCH_DRAIN : FILCH_CANCEL;
    *out_cancelled = (mode == FILCH_CANCEL);
    test_spin_ns(test_rng_below(rng, 3000000));
    if (test_rng_below(rng, 3) == 0) {
        filch_time until = filch_time_after_ns(test_rng_below(rng, 50000));
        filch_status status = filch_pool_shutdown(pool, FILCH_DRAIN, until, &report);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_TIMEOUT);
        atomic_store(closed, true);
        test_spin_ns(test_rng_below(rng, 50000));
    }
    TEST_CHECK(filch_pool_shutdown(pool, mode, FILCH_FOREVER, &report) == FILCH_OK);
    return report;
}

static void one_round(uint64_t round, attempt *attempts, books *sum)
{
    test_rng rng = test_rng_make(round);
    pthread_t threads[POSTERS];
    poster posters[POSTERS];
    atomic_uint go = 0;
    atomic_bool closed = false;
    bool cancelled = false;
    test_allocator memory;
    filch_pool *pool = random_pool(&rng, &memory);

    memset(attempts, 0, sizeof(attempt) * POSTERS * 2 * ATTEMPTS);
    for (unsigned i = 0; i < POSTERS; i++) {
        posters[i] = (poster){ pool, &go, &closed, attempts + (size_t)i * 2 * ATTEMPTS,
                               round * POSTERS + i + 1000000 };
        test_thread_start(&threads[i], poster_main, &posters[i]);
    }
    atomic_store(&go, 1);
    filch_shutdown_report report = end_pool(pool, &rng, &closed, &cancelled);
    atomic_store(&closed, true);
    for (unsigned i = 0; i < POSTERS; i++) {
        test_thread_join(threads[i]);
    }
    test_assert_clean();
    books b = balance(attempts);
    filch_stats stats = test_pool_stats(pool);
    assert_int_equal(b.attempted, b.accepted + b.refused);
    assert_int_equal(b.accepted, b.ran + b.cancelled);
    assert_int_equal(report.accepted, b.accepted);
    assert_int_equal(report.ran, b.ran);
    assert_int_equal(report.cancelled, b.cancelled);
    assert_true(report.refused <= b.refused);
    assert_int_equal(stats.accepted, b.accepted);
    assert_int_equal(stats.refused, b.refused);
    assert_int_equal(stats.total.tasks_run, b.ran);
    assert_int_equal(stats.total.tasks_cancelled, b.cancelled);
    assert_true(cancelled || b.cancelled == 0);
    test_pool_close(pool);
    test_allocator_assert_balanced(&memory);
    sum->attempted += b.attempted;
    sum->refused += b.refused;
    sum->ran += b.ran;
    sum->cancelled += b.cancelled;
}

static void shutdown__while_eight_threads_post__books_balance(void **state)
{
    size_t rounds = test_count(1500, 500);
    attempt *attempts = malloc(sizeof(*attempts) * POSTERS * 2 * ATTEMPTS);
    books sum = { 0, 0, 0, 0, 0 };
    (void)state;
    assert_non_null(attempts);
    for (size_t round = 0; round < rounds; round++) {
        one_round(round, attempts, &sum);
    }
    free(attempts);
    printf("%zu rounds: %llu attempted, %llu refused, %llu ran, %llu cancelled\n", rounds,
           (unsigned long long)sum.attempted, (unsigned long long)sum.refused,
           (unsigned long long)sum.ran, (unsigned long long)sum.cancelled);
    /* It did hit the middle of things. */
    assert_true(test_is_short() || sum.refused > 0);
    assert_true(test_is_short() || sum.cancelled > 0);
    assert_true(test_is_short() || sum.ran > 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(shutdown__while_eight_threads_post__books_balance),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
