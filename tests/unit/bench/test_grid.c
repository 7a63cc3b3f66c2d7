/* SPDX-License-Identifier: MIT */
/* The grid's own contestants: at the sizes for tests each gives the right result on each workload,
 * with fewer and with more threads than tasks would like. A contestant that does less would win. */
#include "bench/grid/contestants.h"
#include "support/pool.h"

#include <stdio.h>

/* Worked out by other code in another language, from the definitions in bench/grid/README.md. */
static const uint64_t right[GRID_WORKLOADS] = {
    [GRID_FIB] = 6765,
    [GRID_TREE] = 134570679,
    [GRID_QUEENS] = 92,
    [GRID_UTS] = 3987,
    [GRID_SORT] = 2565994206830405034,
    [GRID_MATMUL] = 3313081,
    [GRID_HEAT] = 134371089,
    [GRID_SWEEP] = 10736291289495,
    [GRID_COARSE] = 10369579202,
    [GRID_HANDFUL] = 7149768009,
    [GRID_FLOOD] = 1000,
    [GRID_SPINE] = 1071287377372,
    [GRID_PARETO] = 526412562654,
};

static const unsigned thread_counts[] = { 1, 2, 3 };

/* Prepare, get ready, run; the checksum. */
static uint64_t run_once(const grid_contestant *who, grid_input *input, grid_workload workload,
                         const char *args)
{
    const grid_way *const way = &who->ways[workload];
    assert_non_null(way->run);
    assert_null(grid_prepare(input, workload, args));
    assert_true(way->ready == NULL || way->ready(input) == NULL);
    return grid_checksum(input, way->run(input));
}

static void run_all(const grid_contestant *who, unsigned threads)
{
    if (who->start != NULL) {
        assert_null(who->start(who, threads));
    }
    for (unsigned w = 0; w < GRID_WORKLOADS; w++) {
        grid_input input = { .n = 0 };
        for (int time = 0; time < 2; time++) { /* what is kept between runs must not matter */
            const uint64_t found =
                run_once(who, &input, (grid_workload)w, grid_workloads[w].quick[0]);
            if (found != right[w]) {
                print_error("%s, %u threads, %s: %llu\n", who->name, threads,
                            grid_workloads[w].name, (unsigned long long)found);
            }
            assert_true(found == right[w]);
        }
        grid_release(&input);
    }
    if (who->stop != NULL) {
        who->stop();
    }
}

static void grid__each_contestant_and_workload__right_checksum(void **state)
{
    (void)state;
    for (unsigned c = 0; c < GRID_CONTESTANTS; c++) {
        for (size_t t = 0; t < TEST_CASES(thread_counts); t++) {
            run_all(grid_contestants[c], thread_counts[t]);
        }
    }
}

/* What the workers did with their time is all the time there was. A reading takes a while, in which
 * it may lose its CPU: one of several has to be good. */
static bool time_adds_up(unsigned workers)
{
    for (int reading = 0; reading < 50; reading++) {
        const filch_stats stats = test_pool_stats(grid_filch_pool());
        const filch_worker_stats *const t = &stats.total;
        const double sum = (double)(t->busy_ns + t->searching_ns + t->parked_ns + t->resting_ns);
        const double wall = (double)stats.wall_ns * workers;
        if (sum >= 0.97 * wall && sum <= 1.03 * wall) {
            return true;
        }
    }
    return false;
}

static void filch__each_workload__its_time_adds_up(void **state)
{
    (void)state;
    for (unsigned w = 0; w < GRID_WORKLOADS; w++) {
        for (size_t t = 0; t < TEST_CASES(thread_counts); t++) {
            grid_input input = { .n = 0 };
            assert_null(grid_filch.start(&grid_filch, thread_counts[t]));
            (void)run_once(&grid_filch, &input, (grid_workload)w, grid_workloads[w].quick[0]);
            assert_true(time_adds_up(thread_counts[t]));
            grid_filch.stop();
            grid_release(&input);
        }
    }
}

static void grid__awkward_sizes__right_checksum(void **state)
{
    static const struct {
        grid_workload workload;
        const char *args;
    } odd[] = {
        { GRID_FIB, "1" },       { GRID_TREE, "1" },    { GRID_QUEENS, "1" },
        { GRID_QUEENS, "3" },    { GRID_UTS, "T3 2" },  { GRID_SORT, "1" },
        { GRID_SORT, "8193" },   { GRID_MATMUL, "1" },  { GRID_MATMUL, "19" },
        { GRID_HEAT, "3 1" },    { GRID_HEAT, "5 3" },  { GRID_SWEEP, "7 100" },
        { GRID_SWEEP, "100 7" }, { GRID_SWEEP, "1 1" }, { GRID_COARSE, "1 1" },
        { GRID_FLOOD, "1" },     { GRID_SPINE, "1 1" }, { GRID_PARETO, "1 1" },
    };
    (void)state;
    uint64_t expected[TEST_CASES(odd)] = { 0 };
    for (unsigned c = 0; c < GRID_CONTESTANTS; c++) {
        const grid_contestant *const who = grid_contestants[c];
        grid_input input = { .n = 0 };
        if (who->start != NULL) {
            assert_null(who->start(who, 2));
        }
        for (size_t i = 0; i < TEST_CASES(odd); i++) {
            const uint64_t found = run_once(who, &input, odd[i].workload, odd[i].args);
            expected[i] = c == 0 ? found : expected[i];
            assert_true(found == expected[i]);
        }
        grid_release(&input);
        if (who->stop != NULL) {
            who->stop();
        }
    }
    assert_int_equal(expected[0], 1);
    assert_int_equal(expected[2], 1);
    assert_int_equal(expected[3], 0);
}

static void uts__standard_trees__exact_counts(void **state)
{
    (void)state;
    if (test_scale() < 1.0 || TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        print_message("left out: too large for this scale or build\n");
        skip();
    }
    grid_input input = { .n = 0 };
    assert_int_equal(run_once(&grid_serial, &input, GRID_UTS, "T1"), 4130071);
    assert_null(grid_filch.start(&grid_filch, 2));
    assert_int_equal(run_once(&grid_filch, &input, GRID_UTS, "T3"), 4112897);
    grid_filch.stop();
    grid_release(&input);
}

static void arguments__wrong_ones__said_and_nothing_kept(void **state)
{
    static const struct {
        grid_workload workload;
        const char *args;
    } wrong[] = {
        { GRID_FIB, "" },         { GRID_FIB, "51" },     { GRID_FIB, "-1" },
        { GRID_FIB, "3 4" },      { GRID_FIB, "3x" },     { GRID_TREE, "0" },
        { GRID_TREE, "29" },      { GRID_QUEENS, "17" },  { GRID_QUEENS, "0" },
        { GRID_UTS, "T2" },       { GRID_UTS, "T1 0" },   { GRID_UTS, "T1 x" },
        { GRID_UTS, "T15" },      { GRID_HEAT, "64" },    { GRID_HEAT, "2 4" },
        { GRID_SWEEP, "0 10" },   { GRID_SWEEP, "10 0" }, { GRID_SORT, "99999999999999999999" },
        { GRID_COARSE, "1 2 3" },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(wrong); i++) {
        grid_input input = { .n = 0 };
        assert_null(grid_prepare(&input, GRID_MATMUL, "8"));
        assert_non_null(grid_prepare(&input, wrong[i].workload, wrong[i].args));
        assert_null(input.a);
        assert_null(input.c);
        assert_int_equal(input.args[0], 0);
    }
}

static void names__all_and_others__found_or_not(void **state)
{
    (void)state;
    for (unsigned w = 0; w < GRID_WORKLOADS; w++) {
        const char *const name = grid_workloads[w].name;
        assert_int_equal(grid_find_workload(name, strlen(name)), w);
    }
    assert_int_equal(grid_find_workload("fi", 2), GRID_WORKLOADS);
    assert_int_equal(grid_find_workload("fibs", 4), GRID_WORKLOADS);
    assert_int_equal(grid_find_workload("", 0), GRID_WORKLOADS);
    for (unsigned c = 0; c < GRID_CONTESTANTS; c++) {
        assert_ptr_equal(grid_find_contestant(grid_contestants[c]->name), grid_contestants[c]);
    }
    assert_null(grid_find_contestant("nobody"));
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(grid__each_contestant_and_workload__right_checksum),
        cmocka_unit_test(filch__each_workload__its_time_adds_up),
        cmocka_unit_test(grid__awkward_sizes__right_checksum),
        cmocka_unit_test(uts__standard_trees__exact_counts),
        cmocka_unit_test(arguments__wrong_ones__said_and_nothing_kept),
        cmocka_unit_test(names__all_and_others__found_or_not),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
