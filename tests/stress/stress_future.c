/* SPDX-License-Identifier: MIT */
/* Futures under load: random graphs of promises, tasks, continuations, all and any, with failures,
 * tokens, threads that set, tasks that wait inside workers, and pools that close in the middle. Every
 * future ends once, every clean-up is called once, and no byte is left. */
#include "support/pool.h"

#include <sched.h>
#include <string.h>

#include "support/alloc.h"

enum { SETTERS = 2, NODES = 500, MAX_INPUTS = 5, WATCHED = 64 };

typedef struct round_of {
    filch_pool *pool;
    filch_token *token;
    filch_future *nodes[NODES];
    filch_promise *promises[NODES];
    atomic_uint taken[NODES];   /* a setter has the promise */
    atomic_uint cleaned[NODES]; /* calls of `end` */
    bool has_end[NODES];
    atomic_uint watched[NODES]; /* runs of a continuation that saw the end */
    unsigned count;
    atomic_uint built;
} round_of;

typedef struct item {
    round_of *of;
    unsigned number;
    unsigned word; /* random: what it does */
} item;

static filch_status result_of(const item *i, void *result)
{
    memcpy(result, &i->number, sizeof(i->number));
    return i->word % 5 == 0 ? FILCH_E_FULL : FILCH_OK;
}

/* Any status that a future of this test may end with. */
static bool is_expected(filch_status status)
{
    return status == FILCH_OK || status == FILCH_E_FULL || status == FILCH_E_CANCELLED ||
           status == FILCH_E_CLOSED || status == FILCH_E_DROPPED || status == FILCH_E_NOMEM;
}

static filch_status leaf(filch_cx *cx, void *data, void *result)
{
    const item *i = data;
    (void)cx;
    return result_of(i, result);
}

/* Waits for tasks of its own, which this worker or another runs. */
static filch_status parent(filch_cx *cx, void *data, void *result)
{
    const item *i = data;
    filch_future *children[3];
    filch_future *all = NULL;
    unsigned made = 0;
    if (filch_cx_worker(cx) == filch_pool_max_workers(i->of->pool)) {
        return result_of(i, result); /* inside its caller: nobody has to run the children */
    }
    for (unsigned c = 0; c < 3; c++) {
        const item child = { i->of, i->number, i->word / 7 + c };
        const filch_status status = filch_async(i->of->pool, leaf, &child, sizeof(child),
                                                sizeof(unsigned), NULL, &children[made]);
        TEST_CHECK(status == FILCH_OK || status == FILCH_E_CLOSED || status == FILCH_E_FULL);
        made += status == FILCH_OK;
    }
    TEST_CHECK(filch_when_all(children, made, NULL, &all) == FILCH_OK);
    TEST_CHECK(is_expected(filch_future_wait(all, FILCH_FOREVER, NULL, NULL, 0)));
    filch_future_release(all);
    for (unsigned c = 0; c < made; c++) {
        TEST_CHECK(filch_future_ready(children[c]));
        filch_future_release(children[c]);
    }
    return result_of(i, result);
}

static filch_status on_end(filch_cx *cx, void *data, filch_status status, const void *value,
                           void *result)
{
    const item *i = data;
    (void)cx;
    TEST_CHECK(is_expected(status));
    TEST_CHECK(value == NULL || status == FILCH_OK);
    return result_of(i, result);
}

static filch_status on_watch(filch_cx *cx, void *data, filch_status status, const void *value,
                             void *result)
{
    const item *i = data;
    (void)cx;
    (void)value;
    (void)result;
    TEST_CHECK(is_expected(status));
    atomic_fetch_add_explicit(&i->of->watched[i->number], 1, memory_order_relaxed);
    return FILCH_OK;
}

static void clean(void *data, filch_end how)
{
    const item *i = data;
    TEST_CHECK(how == FILCH_RAN || how == FILCH_CANCELLED);
    TEST_CHECK(atomic_fetch_add(&i->of->cleaned[i->number], 1) == 0);
}

/* One more node of any kind over those before it. */
static void build_one(round_of *r, test_rng *rng, const filch_allocator *allocator)
{
    const unsigned n = r->count;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    const item data = { r, n, (unsigned)(test_rng_next(rng) >> 33) };
    filch_future *inputs[MAX_INPUTS];
    const size_t wide = 1 + test_rng_below(rng, MAX_INPUTS);
    filch_status status = FILCH_OK;
    for (size_t i = 0; i < wide && n != 0; i++) {
        inputs[i] = r->nodes[n - 1 - test_rng_below(rng, n < 40 ? n : 40)];
    }
    options.end = clean;
    options.stop = test_rng_below(rng, 4) == 0 ? r->token : NULL;
    const uint64_t kind = n == 0 ? 0 : test_rng_below(rng, 10);
    if (kind < 2) {
        status = filch_promise_create(sizeof(unsigned), allocator, &r->promises[n], &r->nodes[n]);
    } else if (kind < 5) {
        status = filch_async(r->pool, kind == 4 ? parent : leaf, &data, sizeof(data),
                             sizeof(unsigned), &options, &r->nodes[n]);
        r->has_end[n] = true;
    } else if (kind < 8) {
        status = filch_future_then(inputs[0], r->pool, on_end, &data, sizeof(data),
                                   sizeof(unsigned), &options, &r->nodes[n]);
        r->has_end[n] = true;
    } else if (kind == 8) {
        status = filch_when_all(inputs, wide, allocator, &r->nodes[n]);
    } else {
        status = filch_when_any(inputs, wide, allocator, &r->nodes[n]);
    }
    if (status == FILCH_OK) {
        r->count++;
        atomic_store(&r->built, r->count);
    } else {
        TEST_CHECK(status == FILCH_E_CLOSED); /* another one takes the number */
        r->has_end[n] = false;
    }
}

typedef struct setter {
    round_of *of;
    uint64_t stream;
    atomic_uint *all_built;
} setter;

static void set_one(round_of *r, unsigned n, test_rng *rng)
{
    filch_promise *promise = r->promises[n];
    if (promise == NULL || atomic_exchange(&r->taken[n], 1) != 0) {
        return;
    }
    switch (test_rng_below(rng, 4)) {
    case 0:
        TEST_CHECK(filch_promise_fail(promise, FILCH_E_FULL) == FILCH_OK);
        TEST_CHECK(filch_promise_set(promise, &n, sizeof(n)) == FILCH_E_SET);
        break;
    case 1:
        break;
    default:
        TEST_CHECK(filch_promise_set(promise, &n, sizeof(n)) == FILCH_OK);
    }
    TEST_CHECK(filch_promise_drop(promise) == FILCH_OK);
}

static void *set_some(void *arg)
{
    setter *s = arg;
    test_rng rng = test_rng_make(s->stream);
    unsigned seen = 0;
    while (seen < NODES) {
        const unsigned built = atomic_load(&s->of->built);
        const unsigned last = atomic_load(s->all_built);
        for (; seen < built; seen++) {
            set_one(s->of, seen, &rng);
        }
        if (last != 0 && seen == atomic_load(&s->of->built)) {
            break;
        }
        sched_yield();
    }
    return NULL;
}

/* Every node has ended, or ends now; those that were watched were seen once. */
static void expect_all(round_of *r, bool closes)
{
    for (unsigned n = 0; n < r->count; n++) {
        unsigned value = UINT32_MAX;
        const filch_status status = filch_future_wait(r->nodes[n], FILCH_FOREVER, NULL, NULL, 0);
        TEST_CHECK(is_expected(status));
        TEST_CHECK(closes || status != FILCH_E_CLOSED);
        if (status == FILCH_OK && (r->has_end[n] || r->promises[n] != NULL)) {
            TEST_CHECK(filch_future_read(r->nodes[n], &value, sizeof(value)) == FILCH_OK);
            TEST_CHECK(value == n);
        }
        TEST_CHECK(atomic_load(&r->cleaned[n]) == (r->has_end[n] ? 1u : 0u));
    }
}

static void play(unsigned workers, uint64_t number)
{
    static round_of r;
    static filch_future *watches[WATCHED];
    test_allocator allocator;
    test_rng rng = test_rng_make(number * 4 + 1);
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    pthread_t threads[SETTERS];
    setter setters[SETTERS];
    atomic_uint all_built = 0;
    const bool closes = test_rng_below(&rng, 4) == 0;
    memset(&r, 0, sizeof(r));
    test_allocator_init(&allocator);
    config.workers = workers;
    config.queue_tasks = 1 + test_rng_below(&rng, 64);
    config.allocator = &allocator.hooks;
    r.pool = test_pool_make_as(&config);
    assert_int_equal(filch_token_create(NULL, &allocator.hooks, &r.token), FILCH_OK);
    for (int i = 0; i < SETTERS; i++) {
        setters[i] = (setter){ &r, number * 4 + 2 + (uint64_t)i, &all_built };
        test_thread_start(&threads[i], set_some, &setters[i]);
    }
    const size_t stop_at = test_rng_below(&rng, 2 * NODES);
    unsigned watched = 0;
    for (size_t i = 0; i < NODES; i++) {
        build_one(&r, &rng, &allocator.hooks);
        if (i == stop_at) {
            TEST_CHECK(filch_token_stop(r.token) == FILCH_OK);
        }
        if (i % (NODES / WATCHED + 1) == 0 && r.count != 0) {
            const item data = { &r, r.count - 1, 1 };
            TEST_CHECK(filch_future_then(r.nodes[data.number], r.pool, on_watch, &data,
                                         sizeof(data), 0, NULL, &watches[watched++]) == FILCH_OK);
        }
        if (closes && i == NODES * 3 / 4) {
            (void)filch_pool_shutdown(r.pool, FILCH_CANCEL, FILCH_NOW, NULL);
        }
    }
    atomic_store(&all_built, 1);
    for (int i = 0; i < SETTERS; i++) {
        test_thread_join(threads[i]);
    }
    expect_all(&r, closes);
    for (unsigned w = 0; w < watched; w++) {
        TEST_CHECK(is_expected(filch_future_wait(watches[w], FILCH_FOREVER, NULL, NULL, 0)));
        filch_future_release(watches[w]);
    }
    unsigned seen = 0;
    for (unsigned n = 0; n < r.count; n++) {
        seen += atomic_load(&r.watched[n]);
        filch_future_release(r.nodes[n]);
    }
    TEST_CHECK(closes ? seen <= watched : seen == watched);
    if (closes) {
        assert_int_equal(filch_pool_destroy(r.pool), FILCH_OK);
        test_assert_clean();
    } else {
        test_pool_close(r.pool);
    }
    assert_int_equal(filch_token_destroy(r.token), FILCH_OK);
    test_allocator_assert_balanced(&allocator);
}

static void graphs__random__each_ends_once(void **state)
{
    static const unsigned worker_counts[] = { 1, 2, 8 };
    const size_t rounds = test_count(120, 30); /* of 500 futures, and those inside tasks */
    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        play(worker_counts[i % TEST_CASES(worker_counts)], i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(graphs__random__each_ends_once) };
    test_begin(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
