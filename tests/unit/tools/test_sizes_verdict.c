/* SPDX-License-Identifier: MIT */
/* The sentence of `filch demo --sizes` follows from the figures: other figures, another sentence. */
#include "support/test.h"
#include "tools/filch/demo_sizes.h"

#include <string.h>

enum { ROUNDS = 3, REQUESTS = 200 };

static const demo_options options = { .size_count = 3, .repeats = ROUNDS };

typedef struct figures {
    unsigned workers;
    double tasks_per_s;
    double cpus;
    uint64_t throttled; /* of 30 periods */
    uint64_t p99_ns;
} figures;

static uint64_t latencies[3][REQUESTS];
static sizes_report report;

static void fill(unsigned by_default, uint64_t quota_us, const figures rows[3])
{
    memset(&report, 0, sizeof report);
    report.options = &options;
    report.cpus = (filch_cpus)FILCH_CPUS_INIT;
    report.cpus.cpu_bound = by_default;
    report.cpus.allowed = 2;
    report.cpus.quota_us = quota_us;
    report.cpus.period_us = 100000;
    strcpy(report.cpus.why, "for a reason");
    for (int i = 0; i < 3; i++) {
        sizes_row *const row = &report.rows[i];
        row->workers = rows[i].workers;
        row->rounds = ROUNDS;
        for (int r = 0; r < ROUNDS; r++) {
            row->tasks_per_s[r] = rows[i].tasks_per_s * (r == 0 ? 9 : 1); /* no median sees it */
        }
        row->seconds = ROUNDS;
        row->cpu_seconds = ROUNDS * rows[i].cpus;
        row->has_throttling = quota_us != 0;
        row->periods = 30;
        row->throttled = rows[i].throttled;
        row->latencies = latencies[i];
        row->requests = REQUESTS;
        for (int k = 0; k < REQUESTS; k++) {
            row->latencies[k] = k < 198 ? (uint64_t)k : rows[i].p99_ns; /* the last hundredth */
        }
    }
}

static void assert_says(const char *expected)
{
    char sentence[DEMO_SENTENCE_BYTES];
    sizes_sentence(&report, sentence);
    assert_string_equal(sentence, expected);
}

static const figures at_1_5[3] = { { 1, 4000, 1.0, 0, 150000 },
                                   { 2, 6000, 1.5, 30, 25000000 },
                                   { 4, 6060, 1.5, 30, 31000000 } };

static void sentence__default_among_the_sizes__what_it_gets(void **state)
{
    (void)state;
    fill(2, 150000, at_1_5);
    assert_says("The default here is 2 workers (for a reason): it gets 99 % of the most done, that "
                "of 4 workers, a thread beside it waits at most 25.0 ms in 99 % of its requests, "
                "and the group was stopped in 30 of 30 periods.");
    assert_int_equal(sizes_best(&report)->workers, 4);
    fill(4, 150000, at_1_5);
    assert_says("The default here is 4 workers (for a reason): none of these sizes gets more done, "
                "a thread beside it waits at most 31.0 ms in 99 % of its requests, and the group "
                "was stopped in 30 of 30 periods.");
}

static void sentence__default_not_among_them__said(void **state)
{
    (void)state;
    fill(3, 150000, at_1_5);
    assert_says("The default here is 3 workers (for a reason), a size that was not asked for.");
    assert_null(sizes_of(&report, 3));
}

static void sentence__no_quota__nothing_about_throttling(void **state)
{
    static const figures rows[3] = { { 1, 4000, 1.0, 0, 150000 },
                                     { 2, 8000, 2.0, 0, 2000000 },
                                     { 4, 7000, 2.0, 0, 9000000 } };
    (void)state;
    fill(1, 0, rows);
    assert_says("The default here is 1 worker (for a reason): it gets 50 % of the most done, that "
                "of 2 workers, a thread beside it waits at most 150 us in 99 % of its requests.");
}

static void sentence__cpus_missing__not_judged(void **state)
{
    figures rows[3];
    (void)state;
    memcpy(rows, at_1_5, sizeof rows);
    rows[0].cpus = 0.91; /* of 1 */
    rows[1].cpus = 1.36; /* of 1.5 */
    fill(1, 150000, rows);
    assert_true(sizes_is_judged(&report));
    rows[1].cpus = 1.34;
    fill(1, 150000, rows);
    assert_false(sizes_is_judged(&report));
    assert_says("The default here is 1 worker (for a reason): it gets 66 % of the most done, that "
                "of 4 workers, a thread beside it waits at most 150 us in 99 % of its requests, "
                "and the group was stopped in 0 of 30 periods. Not judged: other programs took "
                "CPUs meanwhile.");
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sentence__default_among_the_sizes__what_it_gets),
        cmocka_unit_test(sentence__default_not_among_them__said),
        cmocka_unit_test(sentence__no_quota__nothing_about_throttling),
        cmocka_unit_test(sentence__cpus_missing__not_judged),
    };
    test_begin(30);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
