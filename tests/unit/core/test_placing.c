/* SPDX-License-Identifier: MIT */
/* On which CPU a worker wakes up: kept off its waker's while the system stacks them, with its own mask
 * again before it runs anything; a mask that somebody else has set is left alone. */
#define FILCH_INLINE
#include "support/pool.h"

#include "core/pool.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

enum { ROUNDS = 200 };

/* A thread with a seat, which waits in between. */
typedef struct sitter {
    filchi_seat seat;
    bool seated;
    cpu_set_t first;
    cpu_set_t last;
    sem_t ready;
    sem_t go;
} sitter;

static void *sit(void *arg)
{
    sitter *s = arg;
    TEST_CHECK(sched_getaffinity(0, sizeof(s->first), &s->first) == 0);
    s->seated = filchi_seat_init(&s->seat);
    sem_post(&s->ready);
    sem_wait(&s->go);
    if (s->seated) {
        filchi_seat_restore(&s->seat);
    }
    TEST_CHECK(sched_getaffinity(0, sizeof(s->last), &s->last) == 0);
    return NULL;
}

static void begin(sitter *s, pthread_t *thread)
{
    assert_int_equal(sem_init(&s->ready, 0, 0), 0);
    assert_int_equal(sem_init(&s->go, 0, 0), 0);
    assert_int_equal(pthread_create(thread, NULL, sit, s), 0);
    sem_wait(&s->ready);
}

static void end(sitter *s, pthread_t thread)
{
    sem_post(&s->go);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sem_destroy(&s->ready);
    sem_destroy(&s->go);
}

static cpu_set_t mask_of(const sitter *s)
{
    cpu_set_t mask;
    assert_int_equal(sched_getaffinity(s->seat.thread, sizeof(mask), &mask), 0);
    return mask;
}

static unsigned first_cpu(const cpu_set_t *mask)
{
    unsigned cpu = 0;
    while (!CPU_ISSET(cpu, mask)) {
        cpu++;
    }
    return cpu;
}

static void need_two_cpus(void)
{
    if (filchi_cpus_allowed() < 2) {
        print_message("skipped: one CPU only\n");
        skip();
    }
}

static void seat__moved__without_that_cpu_until_restored(void **state)
{
    static sitter s;
    pthread_t thread;
    (void)state;
    need_two_cpus();
    begin(&s, &thread);
    assert_true(s.seated);
    const unsigned cpu = first_cpu(&s.first);
    assert_true(filchi_seat_move(&s.seat, cpu));
    const cpu_set_t moved = mask_of(&s);
    assert_false(CPU_ISSET(cpu, &moved));
    assert_int_equal(CPU_COUNT(&moved), CPU_COUNT(&s.first) - 1);
    assert_false(filchi_seat_move(&s.seat, cpu)); /* it is moved already */
    end(&s, thread);
    assert_true(CPU_EQUAL(&s.first, &s.last));
}

static void seat__mask_set_by_somebody_else__left_alone(void **state)
{
    static sitter s;
    pthread_t thread;
    cpu_set_t one;
    (void)state;
    need_two_cpus();
    begin(&s, &thread);
    CPU_ZERO(&one);
    CPU_SET(first_cpu(&s.first), &one);
    assert_int_equal(sched_setaffinity(s.seat.thread, sizeof(one), &one), 0);
    assert_false(filchi_seat_move(&s.seat, first_cpu(&s.first)));
    const cpu_set_t after = mask_of(&s);
    assert_true(CPU_EQUAL(&after, &one));
    end(&s, thread);
}

static void seat__one_cpu_only__none(void **state)
{
    static sitter s;
    pthread_t thread;
    cpu_set_t before;
    cpu_set_t one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    CPU_SET(first_cpu(&before), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0); /* the new thread inherits it */
    begin(&s, &thread);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_false(s.seated);
    end(&s, thread);
    assert_true(CPU_EQUAL(&s.last, &one));
}

static uintptr_t same_mask(filch_cx *cx, uintptr_t expected)
{
    cpu_set_t mask;
    (void)cx;
    TEST_CHECK(sched_getaffinity(0, sizeof(mask), &mask) == 0);
    return CPU_EQUAL(&mask, (const cpu_set_t *)expected) != 0;
}

/* Both halves at the same time, on two workers. */
typedef struct pair_task {
    atomic_uint begun;
    cpu_set_t mask;
} pair_task;

static uintptr_t half(filch_cx *cx, uintptr_t word)
{
    pair_task *pair = (pair_task *)word;
    atomic_fetch_add(&pair->begun, 1);
    while (atomic_load(&pair->begun) < 2) {
        (void)filch_join2_word(cx, same_mask, (uintptr_t)&pair->mask, same_mask,
                               (uintptr_t)&pair->mask);
        sched_yield();
    }
    return same_mask(cx, (uintptr_t)&pair->mask);
}

static uintptr_t both_halves(filch_cx *cx, uintptr_t word)
{
    const filch_pair pair = filch_join2_word(cx, half, word, half, word);
    return pair.first + pair.second;
}

/* Wakes a worker from its sleep again and again, as on a system that stacks them. */
static uint64_t wakes_placed(unsigned flags)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 2;
    config.flags = flags;
    filch_pool *pool = test_pool_make_as(&config);
    for (int i = 0; i < ROUNDS; i++) {
        pair_task pair = { .begun = 0 };
        uintptr_t same = 0;
        assert_int_equal(sched_getaffinity(0, sizeof(pair.mask), &pair.mask), 0);
        while ((filchi_sleep_look(&pool->sleep) & FILCHI_SLEEP_FIELD) != 2) {
            sched_yield();
        }
        filchi_store_relaxed_u32(&pool->sleep.stacked, 8); /* relaxed: all sleep */
        assert_int_equal(filch_run_word(pool, both_halves, (uintptr_t)&pair, &same), FILCH_OK);
        assert_int_equal(same, 2);
    }
    const filch_stats stats = test_pool_stats(pool);
    test_pool_close(pool);
    assert_true(stats.total.wakes_placed <= stats.total.wakes);
    return stats.total.wakes_placed;
}

static void wakes__stacked_so_far__placed_and_tasks_see_their_own_mask(void **state)
{
    (void)state;
    need_two_cpus();
    const uint64_t placed = wakes_placed(0);
    assert_true(placed > 0);
    assert_true(placed < ROUNDS); /* some are left to the system, to see */
}

static void wakes__not_to_be_placed__left_to_the_system(void **state)
{
    (void)state;
    assert_int_equal(wakes_placed(FILCH_POOL_NO_PLACING), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seat__moved__without_that_cpu_until_restored),
        cmocka_unit_test(seat__mask_set_by_somebody_else__left_alone),
        cmocka_unit_test(seat__one_cpu_only__none),
        cmocka_unit_test(wakes__stacked_so_far__placed_and_tasks_see_their_own_mask),
        cmocka_unit_test(wakes__not_to_be_placed__left_to_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
