/* SPDX-License-Identifier: MIT */
/* The injector: capacity, first in first out, wrap-around of cells and of tickets, and many threads
 * on both ends. */
#include "support/test.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "queue/injector.h"
#include "support/alloc.h"

/* One job, with the ring as the limit. */
static bool test_put_one(filchi_injector *injector, const filchi_job *job)
{
    bool late;
    /* relaxed: it only has to be far ahead of the tail */
    const uint64_t limit = filchi_load_relaxed_u64(&injector->tail) + ((uint64_t)1 << 62);
    return filchi_injector_put_many(injector, job, 1, limit, &late) != 0;
}

static bool test_take_one(filchi_injector *injector, filchi_job *out_job)
{
    uint64_t number;
    return filchi_injector_take_many(injector, &out_job, 1, &number) != 0;
}

static filchi_job job_of(uintptr_t n)
{
    filchi_job job;
    memset(&job, 0, sizeof(job));
    job.kind = FILCHI_JOB_INLINE;
    job.arg = (void *)n;
    for (size_t i = 0; i < sizeof(job.data); i++) {
        job.data[i] = (unsigned char)test_mix(n * 64 + i);
    }
    return job;
}

static bool is_whole(const filchi_job *job)
{
    const filchi_job expected = job_of((uintptr_t)job->arg);
    return memcmp(job->data, expected.data, sizeof(job->data)) == 0 &&
           job->kind == FILCHI_JOB_INLINE && job->fn == NULL && job->end == NULL;
}

static void put_ok(filchi_injector *injector, uintptr_t n)
{
    const filchi_job job = job_of(n);
    assert_true(test_put_one(injector, &job));
}

static void take_ok(filchi_injector *injector, uintptr_t n)
{
    filchi_job job;
    assert_true(test_take_one(injector, &job));
    assert_int_equal((uintptr_t)job.arg, n);
    assert_true(is_whole(&job));
}

static void expect_full(filchi_injector *injector)
{
    const filchi_job job = job_of(999);
    assert_false(test_put_one(injector, &job));
    assert_false(filchi_injector_looks_empty(injector));
}

static void expect_empty(filchi_injector *injector)
{
    filchi_job job = job_of(77);
    assert_false(test_take_one(injector, &job));
    assert_true(filchi_injector_looks_empty(injector));
}

/* Fill and empty at every place of the ring, `start` tickets after its beginning. */
static void expect_fifo(size_t asked, size_t capacity, uint64_t start)
{
    test_allocator memory;
    filchi_injector injector;
    test_allocator_init(&memory);
    assert_int_equal(filchi_injector_init(&injector, asked, &memory.hooks), FILCH_OK);
    assert_int_equal(filchi_injector_cells(&injector), capacity);
    filchi_store_relaxed_u64(&injector.head, start);
    filchi_store_relaxed_u64(&injector.tail, start);
    for (uint64_t i = 0; i < capacity; i++) {
        filchi_store_relaxed_u64(&injector.cells[(start + i) & (capacity - 1)].turn, start + i);
    }
    for (uintptr_t round = 0; round < 2 * capacity + 3; round++) {
        expect_empty(&injector);
        for (uintptr_t n = 0; n < capacity; n++) {
            put_ok(&injector, round * 100 + n);
        }
        expect_full(&injector);
        expect_full(&injector);
        take_ok(&injector, round * 100);
        put_ok(&injector, round * 100 + capacity); /* so that the next round begins elsewhere */
        expect_full(&injector);
        for (uintptr_t n = 1; n <= capacity; n++) {
            take_ok(&injector, round * 100 + n);
        }
    }
    expect_empty(&injector);
    assert_int_equal(filchi_injector_count(&injector) - start, (2 * capacity + 3) * (capacity + 1));
    filchi_injector_fini(&injector);
    test_allocator_assert_balanced(&memory);
}

static void injector__filled_and_emptied__first_in_first_out(void **state)
{
    static const size_t sizes[][2] = { { 1, 2 }, { 2, 2 },   { 3, 4 },  { 4, 4 },
                                       { 5, 8 }, { 16, 16 }, { 33, 64 } };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(sizes); i++) {
        expect_fifo(sizes[i][0], sizes[i][1], 0);
    }
}

static void injector__tickets_wrap_round__nothing_is_noticed(void **state)
{
    (void)state;
    for (uint64_t before = 0; before < 40; before++) {
        expect_fifo(2, 2, UINT64_MAX - before);
        expect_fifo(8, 8, UINT64_MAX - before);
        expect_fifo(4, 4, (uint64_t)INT64_MAX - before);
    }
}

static void injector__no_memory__nomem(void **state)
{
    test_allocator memory;
    filchi_injector injector;
    (void)state;
    test_allocator_init(&memory);
    test_allocator_fail(&memory, 1, true);
    assert_int_equal(filchi_injector_init(&injector, 16, &memory.hooks), FILCH_E_NOMEM);
    test_allocator_assert_balanced(&memory);
}

/* Producers and consumers: each job once, whole, and those of one producer in order for each
 * consumer. */
enum { PRODUCERS = 3, CONSUMERS = 3 };

typedef struct traffic {
    filchi_injector injector;
    size_t per_producer;
    atomic_uchar *taken;
    atomic_size_t total;
} traffic;

typedef struct producer {
    traffic *all;
    size_t index;
} producer;

static void *produce(void *arg)
{
    const producer *p = arg;
    for (size_t i = 0; i < p->all->per_producer; i++) {
        const filchi_job job = job_of(p->index * p->all->per_producer + i);
        while (!test_put_one(&p->all->injector, &job)) {
            sched_yield();
        }
    }
    return NULL;
}

static void *consume(void *arg)
{
    traffic *t = arg;
    size_t newest[PRODUCERS] = { 0 };
    size_t all = PRODUCERS * t->per_producer;
    while (atomic_load_explicit(&t->total, memory_order_relaxed) < all) {
        filchi_job job;
        if (!test_take_one(&t->injector, &job)) {
            sched_yield();
            continue;
        }
        size_t n = (uintptr_t)job.arg;
        if (n >= all || !is_whole(&job)) {
            TEST_FAIL("a job that nobody put");
            break;
        }
        size_t in_order = n % t->per_producer + 1;
        TEST_CHECK(in_order > newest[n / t->per_producer]);
        newest[n / t->per_producer] = in_order;
        atomic_fetch_add_explicit(&t->taken[n], 1, memory_order_relaxed);
        atomic_fetch_add(&t->total, 1);
    }
    return NULL;
}

static void expect_traffic(size_t capacity, size_t per_producer)
{
    static traffic t;
    pthread_t threads[PRODUCERS + CONSUMERS];
    producer producers[PRODUCERS];
    size_t wrong = 0;
    test_allocator memory;
    test_allocator_init(&memory);
    assert_int_equal(filchi_injector_init(&t.injector, capacity, &memory.hooks), FILCH_OK);
    t.per_producer = per_producer;
    t.taken = calloc(PRODUCERS * per_producer, 1);
    assert_non_null(t.taken);
    atomic_store(&t.total, 0);
    for (size_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){ &t, i };
        test_thread_start(&threads[i], produce, &producers[i]);
    }
    for (size_t i = 0; i < CONSUMERS; i++) {
        test_thread_start(&threads[PRODUCERS + i], consume, &t);
    }
    for (size_t i = 0; i < PRODUCERS + CONSUMERS; i++) {
        test_thread_join(threads[i]);
    }
    for (size_t n = 0; n < PRODUCERS * per_producer; n++) {
        wrong += (atomic_load(&t.taken[n]) != 1);
    }
    assert_int_equal(wrong, 0);
    expect_empty(&t.injector);
    free(t.taken);
    filchi_injector_fini(&t.injector);
    test_allocator_assert_balanced(&memory);
    test_assert_clean();
}

static void injector__many_threads_on_both_ends__each_job_once(void **state)
{
    (void)state;
    expect_traffic(2, test_count(20000, 3000));
    expect_traffic(4, test_count(40000, 5000));
    expect_traffic(1024, test_count(100000, 10000));
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(injector__filled_and_emptied__first_in_first_out),
        cmocka_unit_test(injector__tickets_wrap_round__nothing_is_noticed),
        cmocka_unit_test(injector__no_memory__nomem),
        cmocka_unit_test(injector__many_threads_on_both_ends__each_job_once),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
