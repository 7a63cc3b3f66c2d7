/* SPDX-License-Identifier: MIT */
/* The sentence of the demo follows from the figures: other figures, another sentence. */
#include "support/test.h"
#include "tools/filch/demo.h"

#include <string.h>

enum { REPEATS = 3 };

static const demo_options options = { .repeats = REPEATS };

/* Medians of a job: serial, static, shared queue, stealing. */
typedef struct figures {
    const char *job;
    uint64_t tasks;
    double cpus;
    double seconds[CONTESTANTS];
} figures;

static void fill(demo_report *report, unsigned workers, const figures rows[DEMO_JOBS])
{
    memset(report, 0, sizeof *report);
    report->options = &options;
    report->workers = workers;
    report->cpus = 2;
    for (int i = 0; i < DEMO_JOBS; i++) {
        demo_row *const row = &report->rows[i];
        row->job = rows[i].job;
        row->tasks = rows[i].tasks;
        for (int r = 0; r < REPEATS; r++) {
            const double off = r == 0 ? 3.0 : 1.0; /* one repeat that a median does not see */
            row->cpus[r] = rows[i].cpus / off;
            for (int k = 0; k < CONTESTANTS; k++) {
                row->cells[k].seconds[r] = rows[i].seconds[k] * off;
            }
        }
    }
}

static void assert_says(unsigned workers, const figures rows[DEMO_JOBS], const char *expected)
{
    static demo_report report;
    char sentence[DEMO_SENTENCE_BYTES];
    fill(&report, workers, rows);
    demo_sentence(&report, sentence);
    assert_string_equal(sentence, expected);
}

static const figures mixed[DEMO_JOBS] = {
    { "hash", 1620, 2.0, { 0.100, 0.080, 0.055, 0.050 } },
    { "sort", 4976, 2.0, { 0.130, 0.070, 0.068, 0.068 } },
    { "queens", 300000, 1.99, { 0.900, 0.800, 0.500, 0.450 } },
    { "coarse", 64, 2.0, { 0.130, 0.065, 0.066, 0.066 } },
    { "handful", 5, 2.0, { 0.130, 0.078, 0.079, 0.078 } },
    { "flood", 200000, 2.0, { 0.002, 0.080, 0.040, 0.030 } },
};

static void sentence__wins_ties_and_a_flood__each_with_its_reason(void **state)
{
    (void)state;
    assert_says(2, mixed,
                "Stealing won hash and queens (queens by 1.11 times: 300,000 tasks of 3.0 us "
                "all pass through one lock); it made no difference on sort, "
                "coarse and handful (4,976 tasks of 26.1 us suit more than one design); plain "
                "calls won flood (200,000 tasks of 10 ns are not worth handing over).");
}

static void sentence__shares_were_unequal__the_static_partition_is_named(void **state)
{
    figures rows[DEMO_JOBS];
    (void)state;
    memcpy(rows, mixed, sizeof rows);
    rows[2] = (figures){ "queens", 300000, 2.0, { 0.9, 0.6, 0.7, 0.45 } };
    rows[5] = (figures){ "flood", 200000, 2.0, { 0.5, 0.6, 0.35, 0.50 } };
    assert_says(2, rows,
                "Stealing won hash and queens (queens by 1.33 times: the shares of a static "
                "partition end up unequal); it made no difference on sort, coarse and handful "
                "(4,976 tasks of 26.1 us suit more than one design); it lost flood (flood to the "
                "shared queue by 1.43 times: 200,000 tasks of 2.5 us, so their hand-over "
                "decides).");
}

static void sentence__some_cpus_were_not_free__those_jobs_are_left_out(void **state)
{
    figures rows[DEMO_JOBS];
    (void)state;
    memcpy(rows, mixed, sizeof rows);
    rows[0].cpus = 1.5;
    rows[1].cpus = 1.94;
    assert_says(2, rows,
                "Stealing won queens (queens by 1.11 times: 300,000 tasks of 3.0 us all pass "
                "through one lock); it made no difference on coarse and handful "
                "(5 tasks of 26.0 ms suit more than one design); plain calls won flood (200,000 "
                "tasks of 10 ns are not worth handing over); not judged, as the CPUs were not "
                "free: hash and sort.");
}

static void sentence__no_cpu_was_free__no_winner(void **state)
{
    figures rows[DEMO_JOBS];
    (void)state;
    memcpy(rows, mixed, sizeof rows);
    for (int i = 0; i < DEMO_JOBS; i++) {
        rows[i].cpus = 1.1 + 0.1 * i;
    }
    assert_says(2, rows,
                "Who won cannot be said: other programs used the CPUs, 1.10 of 2 were free.");
}

static void sentence__nobody_is_faster_than_serial__nobody_won(void **state)
{
    figures rows[DEMO_JOBS];
    (void)state;
    memcpy(rows, mixed, sizeof rows);
    for (int i = 0; i < DEMO_JOBS; i++) {
        for (int k = 1; k < CONTESTANTS; k++) {
            rows[i].seconds[k] = rows[i].seconds[0] * (1.0 - 0.05 * k);
        }
    }
    assert_says(2, rows,
                "Nobody gained anything: the jobs are too small to share, or a limit holds the "
                "CPUs back.");
}

static void sentence__one_worker__what_it_costs(void **state)
{
    (void)state;
    assert_says(1, mixed,
                "With one worker there is nobody to steal from; stealing took at most 15.00 times "
                "as long as plain calls (flood: 200,000 tasks of 10 ns).");
}

static void speed_up__nothing_measured__nothing_said(void **state)
{
    static demo_report report;
    char sentence[DEMO_SENTENCE_BYTES];
    const figures nothing[DEMO_JOBS] = { { "a", 0, 0, { 0 } }, { "b", 0, 0, { 0 } },
                                         { "c", 0, 0, { 0 } }, { "d", 0, 0, { 0 } },
                                         { "e", 0, 0, { 0 } }, { "f", 0, 0, { 0 } } };
    (void)state;
    fill(&report, 2, nothing);
    assert_true(demo_speed_up(&report, &report.rows[0], &report.rows[0].cells[1]) == 0);
    demo_sentence(&report, sentence);
    assert_true(strlen(sentence) > 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(sentence__wins_ties_and_a_flood__each_with_its_reason),
        cmocka_unit_test(sentence__shares_were_unequal__the_static_partition_is_named),
        cmocka_unit_test(sentence__some_cpus_were_not_free__those_jobs_are_left_out),
        cmocka_unit_test(sentence__no_cpu_was_free__no_winner),
        cmocka_unit_test(sentence__nobody_is_faster_than_serial__nobody_won),
        cmocka_unit_test(sentence__one_worker__what_it_costs),
        cmocka_unit_test(speed_up__nothing_measured__nothing_said),
    };
    test_begin(30);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
