/* SPDX-License-Identifier: MIT */
/* Rough treatment of all that stands on loops: comparators that lie or do work of their own, calls
 * inside one another from all kinds of threads at once, memory that runs out anywhere, pools that are
 * cancelled meanwhile, counts at the limit. */
#include "support/alloc.h"
#include "support/elements.h"
#include "support/pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- comparators that lie ---- */

enum { ALWAYS_LESS, NEVER_LESS, AT_RANDOM, IN_CIRCLES, BY_ADDRESS, LIES };

typedef struct liar {
    test_shape shape;
    int kind;
    atomic_uint calls;
} liar;

static int lie(const void *a, const void *b, void *ctx)
{
    liar *l = ctx;
    const uint32_t x = test_element_key(&l->shape, a);
    const uint32_t y = test_element_key(&l->shape, b);
    const unsigned call = atomic_fetch_add_explicit(&l->calls, 1, memory_order_relaxed);
    switch (l->kind) {
    case ALWAYS_LESS:
        return INT32_MIN;
    case NEVER_LESS:
        return INT32_MAX;
    case AT_RANDOM:
        return (int)(test_mix(call) & 1) - 1;
    case IN_CIRCLES: /* rock, paper, scissors */
        return (x + 1) % 3 == y % 3 ? -1 : 1;
    default:
        return (uintptr_t)a < (uintptr_t)b ? -1 : 1;
    }
}

/* Each of the n elements is there once, whole, and the guard behind them as well. */
static void assert_permutation(const test_shape *shape, const unsigned char *elements,
                               const unsigned char *original, size_t n)
{
    const size_t width = shape->width;
    unsigned char *seen = calloc(n + 1, 1);
    size_t wrong = 0;
    assert_non_null(seen);
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, elements + i * width, sizeof(word));
        const size_t place = (size_t)(word & UINT32_MAX);
        if (place >= n || seen[place] != 0 ||
            memcmp(elements + i * width, original + place * width, width) != 0) {
            wrong++;
        } else {
            seen[place] = 1;
        }
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(elements[n * width], TEST_ELEMENTS_GUARD);
    free(seen);
}

static void sort_merge__comparator_lies__a_permutation_and_no_more(void **state)
{
    static const size_t all_sizes[] = { 2, 9, 100, 3000, 20001, 60000 };
    static const size_t widths[] = { 8, 12, 16, 40 };
    const size_t sizes = TEST_CASES(all_sizes) - (test_is_short() ? 2 : 0);
    test_rng rng = test_rng_make(1);
    filch_pool *pool = test_pool_make(4);
    (void)state;
    for (int kind = 0; kind < LIES; kind++) {
        for (size_t i = 0; i < sizes * TEST_CASES(widths); i++) {
            const size_t n = all_sizes[i % sizes];
            liar l = { { widths[i / sizes], TEST_ASCENDING }, kind, 0 };
            const size_t bytes = n * l.shape.width;
            const size_t a_count = (size_t)test_rng_below(&rng, n + 1);
            unsigned char *original = test_elements_make(&l.shape, TEST_RANDOM, n, &rng);
            unsigned char *elements = test_memory(bytes);
            memcpy(elements, original, bytes + 1);
            assert_int_equal(filch_sort_on(pool, elements, n, l.shape.width, lie, &l), FILCH_OK);
            assert_permutation(&l.shape, elements, original, n);
            memset(elements, 0, bytes);
            assert_int_equal(filch_merge_on(pool, original, a_count,
                                            original + a_count * l.shape.width, n - a_count,
                                            elements, l.shape.width, lie, &l),
                             FILCH_OK);
            assert_permutation(&l.shape, elements, original, n);
            free(original);
            free(elements);
        }
    }
    test_pool_close(pool);
}

/* ---- comparators with work of their own ---- */

typedef struct busy {
    test_shape shape;
    filch_pool *pool;
    atomic_uint calls;
    atomic_uint work;
} busy;

static void count_piece(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)ctx, (unsigned)(range.hi - range.lo));
}

static uintptr_t fork_ten(filch_cx *cx, uintptr_t word)
{
    (void)cx;
    atomic_fetch_add((atomic_uint *)word, 5);
    return 0;
}

static int compare_busily(const void *a, const void *b, void *ctx)
{
    busy *c = ctx;
    filch_cx *cx = filch_here();
    const unsigned call = atomic_fetch_add(&c->calls, 1);
    if (cx != NULL && call % 16 == 0) {
        (void)filch_join2_word(cx, fork_ten, (uintptr_t)&c->work, fork_ten, (uintptr_t)&c->work);
    } else if (cx != NULL && call % 16 == 1) {
        TEST_CHECK(filch_for(cx, 10, count_piece, &c->work, NULL) == FILCH_OK);
    } else if (call % 16 == 2) {
        TEST_CHECK(filch_for_on(c->pool, 10, count_piece, &c->work, NULL) == FILCH_OK);
    } else if (call % 64 == 3) {
        uint32_t numbers[] = { 5, 1, 4, 2, 3 };
        test_shape shape = { sizeof(numbers[0]), TEST_ASCENDING };
        TEST_CHECK(filch_sort_on(c->pool, numbers, 5, sizeof(numbers[0]), test_element_compare,
                                 &shape) == FILCH_OK);
    }
    return test_element_compare(a, b, &c->shape);
}

static void sort__comparator_forks_and_loops_and_sorts__sorted(void **state)
{
    enum { N = 12000 };
    test_rng rng = test_rng_make(2);
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers++) {
        busy c = { { 8, TEST_COARSE }, test_pool_make(workers), 0, 0 };
        unsigned char *elements = test_elements_make(&c.shape, TEST_RANDOM, N, &rng);
        unsigned char *expected = test_memory(N * 8);
        memcpy(expected, elements, N * 8);
        test_elements_sort(&c.shape, expected, N);
        assert_int_equal(filch_sort_on(c.pool, elements, N, 8, compare_busily, &c), FILCH_OK);
        assert_int_equal(memcmp(elements, expected, N * 8), 0);
        assert_true(atomic_load(&c.work) != 0);
        assert_int_equal(atomic_load(&c.work) % 10, 0);
        free(elements);
        free(expected);
        test_pool_close(c.pool);
    }
}

/* ---- everything inside everything, from everywhere ---- */

enum { LEVELS = 3, SMALL = 300 };

typedef struct mix {
    filch_pool *pool;
    int depth;
} mix;

static void go_deeper(filch_cx *cx, const mix *m, uint64_t dice);

static void mix_body(filch_cx *cx, void *ctx, filch_range range)
{
    if (range.lo % 100 == 0) {
        go_deeper(cx, ctx, range.lo);
    }
}

static void mix_fold(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    mix_body(cx, ctx, range);
    for (size_t i = range.lo; i < range.hi; i++) {
        *(uint64_t *)value += i;
    }
}

static void mix_add(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(uint64_t *)left += *(const uint64_t *)right;
}

static void mix_emit(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    for (size_t i = range.lo; i < range.hi; i++) {
        *(uint64_t *)value += i;
    }
    TEST_CHECK(*(uint64_t *)value == (uint64_t)range.hi * (range.hi - 1) / 2);
    mix_body(cx, ctx, range);
}

static int mix_keep(const void *element, void *ctx)
{
    const uint32_t key = *(const uint32_t *)element;
    if (key % 100 == 0) {
        go_deeper(filch_here(), ctx, key); /* NULL on a guest: it goes by the pool */
    }
    return key % 3 == 0;
}

static int mix_compare(const void *a, const void *b, void *ctx)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    if (x == 1 || y == 1) {
        go_deeper(filch_here(), ctx, x + y);
    }
    return (x > y) - (x < y);
}

static void mix_reduce(filch_cx *cx, mix *m, bool scans)
{
    filch_reducer sum = FILCH_REDUCER_INIT;
    uint64_t total = 0;
    filch_status status;
    sum.value_bytes = sizeof(uint64_t);
    sum.fold = mix_fold;
    sum.combine = mix_add;
    if (scans) {
        status = cx != NULL ? filch_scan(cx, SMALL, &sum, mix_emit, m, &total, NULL)
                            : filch_scan_on(m->pool, SMALL, &sum, mix_emit, m, &total, NULL);
    } else {
        status = cx != NULL ? filch_reduce(cx, SMALL, &sum, m, &total, NULL)
                            : filch_reduce_on(m->pool, SMALL, &sum, m, &total, NULL);
    }
    TEST_CHECK(status == FILCH_OK);
    TEST_CHECK(total == SMALL * (SMALL - 1) / 2);
}

static void mix_pack(filch_cx *cx, mix *m)
{
    uint32_t in[SMALL];
    uint32_t out[SMALL];
    size_t count = 0;
    for (uint32_t i = 0; i < SMALL; i++) {
        in[i] = i;
    }
    TEST_CHECK((cx != NULL ? filch_pack(cx, in, SMALL, 4, mix_keep, m, out, &count, NULL)
                           : filch_pack_on(m->pool, in, SMALL, 4, mix_keep, m, out, &count,
                                           NULL)) == FILCH_OK);
    TEST_CHECK(count == SMALL / 3 && out[1] == 3 && out[count - 1] == SMALL - 3);
}

static void mix_sort(filch_cx *cx, mix *m)
{
    enum { MANY = 3000 };
    uint32_t numbers[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        numbers[i] = MANY - i;
    }
    TEST_CHECK((cx != NULL ? filch_sort(cx, numbers, MANY, 4, mix_compare, m)
                           : filch_sort_on(m->pool, numbers, MANY, 4, mix_compare, m)) == FILCH_OK);
    TEST_CHECK(numbers[0] == 1 && numbers[MANY / 2] == MANY / 2 + 1 && numbers[MANY - 1] == MANY);
}

/* One of the calls, a level down; by its context, or by the pool where there is none. */
static void go_deeper(filch_cx *cx, const mix *above, uint64_t dice)
{
    mix m = { above->pool, above->depth + 1 };
    if (m.depth > LEVELS) {
        sched_yield();
        return;
    }
    cx = test_mix(dice) % 3 == 0 ? NULL : cx;
    switch ((test_mix(dice) >> 8) % 5) {
    case 0:
        TEST_CHECK((cx != NULL ? filch_for(cx, SMALL, mix_body, &m, NULL)
                               : filch_for_on(m.pool, SMALL, mix_body, &m, NULL)) == FILCH_OK);
        break;
    case 1:
        mix_pack(cx, &m);
        break;
    case 2:
        mix_sort(cx, &m);
        break;
    default:
        mix_reduce(cx, &m, dice % 2 == 0);
    }
}

static void mix_in_task(filch_cx *cx, void *arg)
{
    for (uint64_t dice = 0; dice < test_count(40, 10); dice++) {
        go_deeper(cx, arg, test_seed() + dice);
    }
}

static void *mix_in_thread(void *arg)
{
    for (uint64_t dice = 0; dice < test_count(40, 10); dice++) {
        go_deeper(NULL, arg, test_seed() + 1000 + dice);
    }
    return NULL;
}

typedef struct resizing {
    filch_pool *pool;
    atomic_bool stop;
} resizing;

static void *resize_until_told(void *arg)
{
    resizing *r = arg;
    test_rng rng = test_rng_make(3);
    while (!atomic_load(&r->stop)) {
        const unsigned most = filch_pool_max_workers(r->pool);
        TEST_CHECK(filch_pool_resize(r->pool, 1 + (unsigned)test_rng_below(&rng, most)) ==
                   FILCH_OK);
        sched_yield();
    }
    return NULL;
}

/* In a pool of this size, or one that goes up and down to it all the time. */
static void mix_everything(unsigned workers, bool resizes)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    pthread_t resizer;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = workers;
    config.max_workers = workers;
    mix m = { test_pool_make_as(&config), 0 };
    resizing r = { m.pool, false };
    if (resizes) {
        test_thread_start(&resizer, resize_until_told, &r);
    }
    for (int i = 0; i < THREADS; i++) {
        test_thread_start(&threads[i], mix_in_thread, &m);
    }
    test_pool_run(m.pool, mix_in_task, &m);
    for (int i = 0; i < THREADS; i++) {
        test_thread_join(threads[i]);
    }
    atomic_store(&r.stop, true);
    if (resizes) {
        test_thread_join(resizer);
    }
    test_pool_close(m.pool);
}

static void all_calls__inside_one_another_on_all_threads__right_and_no_deadlock(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 4; workers++) {
        mix_everything(workers, false);
    }
}

static void all_calls__pool_grows_and_shrinks_meanwhile__right_and_no_deadlock(void **state)
{
    (void)state;
    mix_everything(2, true);
    mix_everything(5, true);
}

/* ---- memory that runs out, pools that end ---- */

enum { N = 4000 };

/* All calls, one after the other; what could not be had is left as it was. */
typedef struct round_trip {
    filch_pool *pool;
    uint32_t in[N];
    uint32_t out[N];
    uint64_t total;
    size_t count;
    atomic_uint refused;
} round_trip;

static bool is_refusal(filch_status status)
{
    return status == FILCH_E_NOMEM || status == FILCH_E_CLOSED || status == FILCH_E_CANCELLED;
}

static void note_status(round_trip *r, filch_status status)
{
    TEST_CHECK(status == FILCH_OK || is_refusal(status));
    atomic_fetch_add(&r->refused, status != FILCH_OK);
}

static void plain_fold(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    const round_trip *r = ctx;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        *(uint64_t *)value += r->in[i];
    }
}

static void plain_emit(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    round_trip *r = ctx;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        r->out[i] = (uint32_t) * (uint64_t *)value;
        *(uint64_t *)value += r->in[i];
    }
}

static int keep_even(const void *element, void *ctx)
{
    (void)ctx;
    return *(const uint32_t *)element % 2 == 0;
}

static int plain_compare(const void *a, const void *b, void *ctx)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    (void)ctx;
    return (x > y) - (x < y);
}

static void try_reduce(round_trip *r)
{
    filch_reducer sum = FILCH_REDUCER_INIT;
    sum.value_bytes = sizeof(uint64_t);
    sum.fold = plain_fold;
    sum.combine = mix_add;
    r->total = 7;
    const filch_status status = filch_reduce_on(r->pool, N, &sum, r, &r->total, NULL);
    note_status(r, status);
    TEST_CHECK(r->total == (status == FILCH_OK ? (uint64_t)N * (N + 1) / 2 : 7));
    r->total = 7;
    r->out[N - 1] = 7;
    const filch_status scanned = filch_scan_on(r->pool, N, &sum, plain_emit, r, &r->total, NULL);
    note_status(r, scanned);
    TEST_CHECK(r->total == (scanned == FILCH_OK ? (uint64_t)N * (N + 1) / 2 : 7));
    TEST_CHECK((r->out[N - 1] == 7) == (scanned != FILCH_OK));
}

static void try_all(round_trip *r)
{
    atomic_uint indices = 0;
    for (uint32_t i = 0; i < N; i++) {
        r->in[i] = N - i;
    }
    try_reduce(r);
    r->count = 7;
    const filch_status packed = filch_pack_on(r->pool, r->in, N, sizeof(r->in[0]), keep_even, NULL,
                                              r->out, &r->count, NULL);
    note_status(r, packed);
    TEST_CHECK(r->count == (packed == FILCH_OK ? N / 2 : 7));
    const filch_status sorted =
        filch_sort_on(r->pool, r->in, N, sizeof(r->in[0]), plain_compare, NULL);
    note_status(r, sorted);
    for (uint32_t i = 0; i < N; i++) {
        TEST_CHECK(r->in[i] == (sorted == FILCH_OK ? i + 1 : N - i));
    }
    r->out[0] = 7;
    const filch_status merged = filch_merge_on(r->pool, r->in, sorted == FILCH_OK ? N / 2 : 1, NULL,
                                               0, r->out, sizeof(r->in[0]), plain_compare, NULL);
    note_status(r, merged);
    TEST_CHECK(r->out[0] == (merged == FILCH_OK ? r->in[0] : 7));
    const filch_status looped = filch_for_on(r->pool, N, count_piece, &indices, NULL);
    note_status(r, looped);
    TEST_CHECK(atomic_load(&indices) == (looped == FILCH_OK ? N : 0));
}

static void try_all_in_task(filch_cx *cx, void *arg)
{
    (void)cx;
    try_all(arg);
}

static void all_calls__nth_allocation_fails__a_status_or_the_result(void **state)
{
    static round_trip r;
    test_allocator memory;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)state;
    test_allocator_init(&memory);
    config.workers = 3;
    config.allocator = &memory.hooks;
    r.pool = test_pool_make_as(&config);
    for (int in_task = 0; in_task < 2; in_task++) {
        unsigned refused = 0;
        bool failed = true;
        for (unsigned long nth = 1; failed; nth++) {
            atomic_store(&r.refused, 0);
            test_allocator_fail(&memory, nth / 2 + 1, nth % 2 == 0);
            if (in_task != 0) {
                test_pool_run(r.pool, try_all_in_task, &r);
            } else {
                try_all(&r);
            }
            failed = test_allocator_has_failed(&memory);
            test_allocator_fail(&memory, 0, false);
            refused += atomic_load(&r.refused);
            test_assert_clean();
            assert_true(nth < 10000);
        }
        assert_true(refused > 4);
    }
    test_pool_close(r.pool);
    test_allocator_assert_balanced(&memory);
}

/* Until the pool has been closed to this thread. */
static void *try_until_closed(void *arg)
{
    round_trip *r = arg;
    while (atomic_load(&r->refused) == 0) {
        try_all(r);
    }
    return NULL;
}

static void all_calls__pool_is_shut_down_meanwhile__a_status_or_the_result(void **state)
{
    enum { THREADS = 3 };
    static round_trip rounds[THREADS];
    (void)state;
    for (size_t i = 0; i < test_count(100, 20); i++) {
        pthread_t threads[THREADS];
        filch_pool *pool = test_pool_make(1 + (unsigned)i % 4);
        for (int t = 0; t < THREADS; t++) {
            rounds[t].pool = pool;
            atomic_store(&rounds[t].refused, 0);
            test_thread_start(&threads[t], try_until_closed, &rounds[t]);
        }
        test_spin_ns(1000 * (uint64_t)(i % 20) * (i % 20));
        assert_int_equal(filch_pool_shutdown(pool, i % 2 == 0 ? FILCH_CANCEL : FILCH_DRAIN,
                                             FILCH_FOREVER, NULL),
                         FILCH_OK);
        for (int t = 0; t < THREADS; t++) {
            test_thread_join(threads[t]);
        }
        test_pool_close(pool);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sort_merge__comparator_lies__a_permutation_and_no_more),
        cmocka_unit_test(sort__comparator_forks_and_loops_and_sorts__sorted),
        cmocka_unit_test(all_calls__inside_one_another_on_all_threads__right_and_no_deadlock),
        cmocka_unit_test(all_calls__pool_grows_and_shrinks_meanwhile__right_and_no_deadlock),
        cmocka_unit_test(all_calls__nth_allocation_fails__a_status_or_the_result),
        cmocka_unit_test(all_calls__pool_is_shut_down_meanwhile__a_status_or_the_result),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
