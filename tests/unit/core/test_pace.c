/* SPDX-License-Identifier: MIT */
/* The part-time worker: its account, by table, with clocks that the test sets; and in a pool, where
 * rests have no end but those that are tested. */
#include "support/pool.h"

#include <errno.h>
#include <sched.h>

#include "core/pool.h"
#include "core/sizing.h"

enum { PART = 440, MS = 1000000 };

typedef struct step {
    int64_t passed_ns;
    int64_t used_ns;
    int64_t rest_ns;
} step;

static void pace__account__rests_when_its_part_is_used(void **state)
{
    static const step steps[] = {
        { 0, 0, 0 },         /* begins with a slice */
        { MS, MS, 0 },       /* 2 + 0.44 - 1 = 1.44 left */
        { MS, MS, 0 },       /* 0.88 */
        { MS, MS, 0 },       /* 0.32 */
        { MS, MS, 5090909 }, /* -0.24: rests until there is a slice again, 2.24 / 0.44 */
        { 5090909, 0, 0 },   /* 2 again, less a nanosecond */
        { (int64_t)1000000 * MS, 0, 0 },               /* a long sleep is a slice, no more */
        { 10 * MS, 10 * MS, 12727272 },                /* 2 + 4.4 - 10 */
        { 1000 * MS, 1000 * MS, FILCHI_PACE_REST_NS }, /* what is owed is bounded */
    };
    filchi_pace pace = { 0, 0, 0, 0, false };
    int64_t now_ns = 0;
    int64_t cpu_ns = 0;
    (void)state;
    for (size_t i = 0; i < TEST_CASES(steps); i++) {
        now_ns += steps[i].passed_ns;
        cpu_ns += steps[i].used_ns;
        const int64_t rest_ns = filchi_pace_charge(&pace, PART, now_ns, cpu_ns);
        if (rest_ns < steps[i].rest_ns - 10 || rest_ns > steps[i].rest_ns + 10) {
            print_error("step %u: rests %lld ns\n", (unsigned)i, (long long)rest_ns);
        }
        assert_in_range(rest_ns + 10, steps[i].rest_ns, steps[i].rest_ns + 20);
    }
    assert_int_equal(filchi_pace_charge(&pace, PART + 1, now_ns, cpu_ns + 1000 * MS), 0);
}

/* Tasks of up to 1 ms, which no part here forgives, always at work: over the whole it has its part, and a slice and a task. */
static void pace__account_over_a_long_time__uses_its_part(void **state)
{
    static const unsigned parts[] = { 60, 100, 440, 939 };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(parts); i++) {
        test_rng rng = test_rng_make(i + 1);
        filchi_pace pace = { 0, 0, 0, 0, false };
        int64_t now_ns = 1;
        int64_t cpu_ns = 0;
        (void)filchi_pace_charge(&pace, parts[i], now_ns, cpu_ns);
        for (int n = 0; n < 10000; n++) {
            const int64_t task_ns = 1 + (int64_t)test_rng_below(&rng, MS);
            now_ns += task_ns;
            cpu_ns += task_ns;
            now_ns += filchi_pace_charge(&pace, parts[i], now_ns, cpu_ns);
            assert_true(cpu_ns <= now_ns / 1000 * parts[i] + FILCHI_PACE_SLICE_NS + MS);
        }
        assert_true(cpu_ns >= now_ns / 1000 * parts[i] - FILCHI_PACE_SLICE_NS);
    }
}

static void part__of_the_last_worker__by_quota(void **state)
{
    static const struct {
        unsigned workers;
        uint64_t quota_us;
        unsigned part;
    } cases[] = {
        { 2, 0, 0 },        { 1, 50000, 0 },   { 1, 100000, 0 },  { 1, 150000, 0 },
        { 2, 150000, 450 }, { 3, 150000, 0 },  { 2, 200000, 0 },  { 3, 299900, 949 },
        { 2, 100001, 20 },  { 2, 106900, 20 }, { 2, 107100, 21 }, { 4, 350000, 450 },
        { 2, 350000, 0 },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        assert_int_equal(filchi_sizing_part(cases[i].workers, cases[i].quota_us, 100000),
                         cases[i].part);
    }
}

static filch_worker_stats stats_of(const filch_pool *pool, unsigned worker)
{
    filch_worker_stats stats;
    assert_int_equal(filch_stats_read_worker(pool, worker, &stats), FILCH_OK);
    return stats;
}

static void spin_task(filch_cx *cx, void *data)
{
    (void)cx;
    test_spin_ns(MS / 10);
    atomic_fetch_add(*(atomic_uint **)data, 1);
}

/* Keep both workers busy until the last one rests for its part's sake. */
static unsigned work_until_paced(filch_pool *pool, atomic_uint *ran)
{
    const uint64_t before = stats_of(pool, 1).paces;
    unsigned posted = 0;
    while (stats_of(pool, 1).paces == before) {
        assert_int_equal(filch_post(pool, spin_task, &ran, sizeof(ran), NULL), FILCH_OK);
        posted++;
    }
    return posted;
}

static filch_pool *make_paced(unsigned part)
{
    filch_pool *pool = test_pool_make(2);
    filchi_store_relaxed_u32(&pool->follow.pace, filchi_pace_of(2, part));
    return pool;
}

static void pace__in_a_busy_pool__only_the_last_worker_rests(void **state)
{
    atomic_uint ran = 0;
    filch_pool *pool = make_paced(FILCHI_PACE_LEAST);
    (void)state;
    const unsigned posted = work_until_paced(pool, &ran);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(ran, posted);
    assert_int_equal(stats_of(pool, 0).paces, 0);
    test_pool_close(pool);
}

/* The rest is of up to 100 ms; the one that is resized away goes on resting, off duty, and is back
 * when the pool grows. */
static void pace__resized_meanwhile__comes_back(void **state)
{
    (void)state;
    atomic_uint ran = 0;
    filch_pool *pool = make_paced(FILCHI_PACE_LEAST);
    unsigned posted = 0;
    for (int i = 0; i < 3; i++) {
        posted += work_until_paced(pool, &ran);
        assert_int_equal(filch_pool_resize(pool, 1), FILCH_OK);
        assert_int_equal(filch_pool_resize(pool, 2), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(ran, posted);
    filch_stats stats = test_pool_stats(pool);
    assert_int_equal(stats.total.paces, stats_of(pool, 1).paces);
    assert_int_equal(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, NULL), FILCH_OK);
    stats = test_pool_stats(pool);
    assert_true(stats.total.paces >= 3 && stats.total.paced_ns > 0);
    assert_true(stats.total.paced_ns <=
                stats.total.resting_ns); /* exact since the workers are gone */
    test_pool_close(pool);
}

static void pace__shut_down_meanwhile__ends(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        atomic_uint ran = 0;
        filch_shutdown_report report;
        filch_pool *pool = make_paced(FILCHI_PACE_LEAST);
        const unsigned posted = work_until_paced(pool, &ran);
        assert_int_equal(filch_pool_shutdown(pool, i % 2 == 0 ? FILCH_CANCEL : FILCH_DRAIN,
                                             FILCH_FOREVER, &report),
                         FILCH_OK);
        assert_int_equal(report.ran + report.cancelled, posted);
        assert_int_equal(report.ran, ran);
        assert_int_equal(filchi_load_relaxed_u64(&pool->resting_workers), 0);
        test_pool_close(pool);
    }
}

static void pace__taken_back__no_more_rests(void **state)
{
    atomic_uint ran = 0;
    filch_pool *pool = make_paced(FILCHI_PACE_LEAST);
    (void)state;
    (void)work_until_paced(pool, &ran);
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    filchi_store_relaxed_u32(&pool->follow.pace, 0);
    while (filchi_load_relaxed_u64(&pool->resting_workers) != 0) {
        test_spin_ns(MS);
    }
    const uint64_t before = stats_of(pool, 1).paces;
    atomic_uint more = 0;
    atomic_uint *counted = &more;
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(filch_post(pool, spin_task, &counted, sizeof(counted), NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
    assert_int_equal(stats_of(pool, 1).paces, before);
    test_pool_close(pool);
}

/* The slice of each worker's thread, as its last task saw it. */
typedef struct slices {
    _Atomic uint64_t of[2];
} slices;

static void look_task(filch_cx *cx, void *data)
{
    slices *seen = *(slices **)data;
    test_spin_ns(MS / 10);
    atomic_store(&seen->of[filch_cx_worker(cx)], filchi_thread_slice_now());
}

static void post_until_both_have(filch_pool *pool, slices *seen, uint64_t slice_ns)
{
    while (atomic_load(&seen->of[0]) != slice_ns || atomic_load(&seen->of[1]) != slice_ns) {
        assert_int_equal(filch_post(pool, look_task, &seen, sizeof(seen), NULL), FILCH_OK);
    }
    assert_int_equal(filch_pool_wait_quiet(pool, FILCH_FOREVER), FILCH_OK);
}

static void pace__while_it_lasts__all_workers_let_others_go_first(void **state)
{
    const uint64_t usual_ns = filchi_thread_slice_now();
    slices seen = { { 0, 0 } };
    (void)state;
    if (usual_ns == 0) {
        print_message("the system has no slices of one thread (Linux 6.12): skipped\n");
        skip();
    }
    filch_pool *pool = make_paced(PART);
    post_until_both_have(pool, &seen, FILCHI_PACE_TURN_NS);
    filchi_store_relaxed_u32(&pool->follow.pace, 0);
    post_until_both_have(pool, &seen, usual_ns);
    assert_int_equal(filchi_thread_slice_now(), usual_ns);
    test_pool_close(pool);
}

static void *slice_of_an_idle_policy(void *arg)
{
    const struct sched_param none = { 0 };
    (void)arg;
    errno = 0;
    assert_int_equal(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none), 0);
    assert_false(filchi_thread_slice(FILCHI_PACE_TURN_NS));
    assert_int_equal(filchi_thread_slice_now(), 0);
    assert_int_equal(errno, 0);
    return NULL;
}

static void slice__of_a_policy_without__refused(void **state)
{
    pthread_t thread;
    (void)state;
    test_thread_start(&thread, slice_of_an_idle_policy, NULL);
    test_thread_join(thread);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(pace__account__rests_when_its_part_is_used),
        cmocka_unit_test(pace__account_over_a_long_time__uses_its_part),
        cmocka_unit_test(part__of_the_last_worker__by_quota),
        cmocka_unit_test(pace__in_a_busy_pool__only_the_last_worker_rests),
        cmocka_unit_test(pace__resized_meanwhile__comes_back),
        cmocka_unit_test(pace__shut_down_meanwhile__ends),
        cmocka_unit_test(pace__taken_back__no_more_rests),
        cmocka_unit_test(pace__while_it_lasts__all_workers_let_others_go_first),
        cmocka_unit_test(slice__of_a_policy_without__refused),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
