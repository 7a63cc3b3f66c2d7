/* SPDX-License-Identifier: MIT */
/* The stopwatches of a worker: what they show at a given time, after turns, and to readers that
 * look while the worker turns. */
#include "support/test.h"

#include "rec/timesheet.h"

static void stopwatch__started_and_stopped__sums_up(void **state)
{
    filchi_stopwatch watch = { .word = { 0 } };
    (void)state;
    assert_int_equal(filchi_stopwatch_read(&watch, 1000), 0);
    filchi_stopwatch_start(&watch, 1000);
    assert_int_equal(filchi_stopwatch_read(&watch, 1000), 0);
    assert_int_equal(filchi_stopwatch_read(&watch, 1007), 7);
    filchi_stopwatch_stop(&watch, 1010);
    assert_int_equal(filchi_stopwatch_read(&watch, 5000), 10);
    filchi_stopwatch_start(&watch, 6000);
    assert_int_equal(filchi_stopwatch_read(&watch, 6001), 11);
    filchi_stopwatch_stop(&watch, 6005);
    assert_int_equal(filchi_stopwatch_read(&watch, 7000), 15);
}

/* The reader's time is older than what it sees. */
static void stopwatch__reader_late__does_not_go_back(void **state)
{
    filchi_stopwatch watch = { .word = { 0 } };
    (void)state;
    filchi_stopwatch_start(&watch, 1000);
    filchi_stopwatch_stop(&watch, 1100);
    assert_int_equal(filchi_stopwatch_read(&watch, 1100), 100);
    filchi_stopwatch_start(&watch, 2000);
    assert_int_equal(filchi_stopwatch_read(&watch, 1990), 100);
    filchi_stopwatch_stop(&watch, 2001);
    assert_int_equal(filchi_stopwatch_read(&watch, 1990), 101);
    filchi_stopwatch first = { .word = { 0 } };
    filchi_stopwatch_start(&first, 2000);
    assert_int_equal(filchi_stopwatch_read(&first, 1), 0);
}

/* The worker's stop is seen late: a reader was told more than the stopwatch came to. */
static void stopwatch__stopped_in_the_past__does_not_go_back(void **state)
{
    filchi_stopwatch watch = { .word = { 0 } };
    (void)state;
    filchi_stopwatch_start(&watch, 1000);
    assert_int_equal(filchi_stopwatch_read(&watch, 1050), 50);
    filchi_stopwatch_stop(&watch, 1040);
    assert_int_equal(filchi_stopwatch_read(&watch, 1060), 50);
    filchi_stopwatch_start(&watch, 2000);
    assert_int_equal(filchi_stopwatch_read(&watch, 2008), 50);
    assert_int_equal(filchi_stopwatch_read(&watch, 2020), 60); /* nothing stays wrong */
}

static uint64_t shown(filchi_timesheet *sheet, filchi_activity activity, uint64_t now)
{
    return filchi_stopwatch_read(&sheet->watches[activity], now);
}

static uint64_t all_shown(filchi_timesheet *sheet, uint64_t now)
{
    return shown(sheet, FILCHI_BUSY, now) + shown(sheet, FILCHI_SEARCHING, now) +
           shown(sheet, FILCHI_PARKED, now) + shown(sheet, FILCHI_RESTING, now);
}

/* To the nanosecond: each turn is one reading of the clock for both sides of it. */
static void timesheet__turns_at_random__adds_up_exactly(void **state)
{
    filchi_timesheet sheet = { .present = FILCHI_BUSY };
    test_rng rng = test_rng_make(1);
    const uint64_t began = filchi_now();
    (void)state;
    filchi_timesheet_begin(&sheet, FILCHI_PARKED, began);
    for (size_t i = 0; i < test_count(20000, 5000); i++) {
        const filchi_activity next = (filchi_activity)test_rng_below(&rng, FILCHI_ACTIVITIES);
        filchi_timesheet_turn(&sheet, next);
        assert_int_equal(sheet.present, next);
        const uint64_t now = filchi_now();
        assert_int_equal(all_shown(&sheet, now), now - began);
    }
    filchi_timesheet_end(&sheet, began + UINT64_C(1000000000000));
    assert_int_equal(all_shown(&sheet, UINT64_C(1) << 62), UINT64_C(1000000000000));
}

static void timesheet__turn_to_the_same__touches_nothing(void **state)
{
    filchi_timesheet sheet = { .present = FILCHI_BUSY };
    (void)state;
    filchi_timesheet_begin(&sheet, FILCHI_BUSY, 12);
    filchi_timesheet_turn(&sheet, FILCHI_BUSY);
    assert_int_equal(sheet.watches[FILCHI_BUSY].word.value, 25);
}

/* Readers at full speed against turns at full speed. */

typedef struct watched {
    filchi_timesheet sheet;
    atomic_uint began;
    atomic_bool stop;
} watched;

enum { READERS = 2 };

static void *read_on(void *arg)
{
    watched *w = arg;
    uint64_t before[FILCHI_ACTIVITIES] = { 0 };
    atomic_fetch_add(&w->began, 1);
    while (!atomic_load_explicit(&w->stop, memory_order_relaxed)) {
        const uint64_t now = filchi_now();
        for (unsigned i = 0; i < FILCHI_ACTIVITIES; i++) {
            const uint64_t value = shown(&w->sheet, (filchi_activity)i, now);
            TEST_CHECK(value >= before[i]);
            before[i] = value;
        }
    }
    return NULL;
}

static void timesheet__read_while_it_turns__never_goes_back(void **state)
{
    static watched w;
    pthread_t threads[READERS];
    (void)state;
    filchi_timesheet_begin(&w.sheet, FILCHI_BUSY, filchi_now());
    for (unsigned i = 0; i < READERS; i++) {
        test_thread_start(&threads[i], read_on, &w);
    }
    test_await(&w.began, READERS);
    for (size_t i = 0; i < test_count(2000000, 100000); i++) {
        filchi_timesheet_turn(&w.sheet, (filchi_activity)(i % FILCHI_ACTIVITIES));
    }
    atomic_store(&w.stop, true);
    for (unsigned i = 0; i < READERS; i++) {
        test_thread_join(threads[i]);
    }
    test_assert_clean();
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(stopwatch__started_and_stopped__sums_up),
        cmocka_unit_test(stopwatch__reader_late__does_not_go_back),
        cmocka_unit_test(stopwatch__stopped_in_the_past__does_not_go_back),
        cmocka_unit_test(timesheet__turns_at_random__adds_up_exactly),
        cmocka_unit_test(timesheet__turn_to_the_same__touches_nothing),
        cmocka_unit_test(timesheet__read_while_it_turns__never_goes_back),
    };
    test_begin(120);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
