/* SPDX-License-Identifier: MIT */
/* The delays of delay.h. A thread is in one of a few moods: undisturbed, a little, often. All
 * atomics here are relaxed, so that they order nothing for the thread sanitizer. */
#include "support/delay.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/test.h"

enum {
    MOOD_STEPS = 2048,   /* ordered accesses before the mood is drawn again */
    SPINS_MOST = 400,    /* turns of an empty loop */
    NAP_MOST_NS = 100000 /* the kernel makes it longer by some 50 us */
};

typedef struct mood {
    unsigned spin, yield, nap; /* chances of 65,536; a yield costs milliseconds on a busy machine */
} mood;

static const mood moods[] = {
    { 0, 0, 0 },
    { 1024, 16, 1 },
    { 8192, 128, 4 },
    { 256, 512, 16 },
};

typedef struct thread_state {
    test_rng rng;
    unsigned left; /* of MOOD_STEPS */
    const mood *now;
    unsigned long delays; /* not yet in the sum */
} thread_state;

static _Thread_local thread_state state;
static atomic_uint threads;
static atomic_ulong sum;
static atomic_int enabled; /* 0: not asked yet */

static int ask(void)
{
    const char *text = getenv("FILCH_TEST_DELAYS");
    const int answer = text != NULL && strcmp(text, "0") == 0 ? -1 : 1;
    atomic_store_explicit(&enabled, answer, memory_order_relaxed);
    return answer;
}

static void draw_mood(thread_state *t)
{
    if (t->now == NULL) {
        t->rng = test_rng_make(0x64656c6179 +
                               atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed));
    }
    t->now = &moods[test_rng_below(&t->rng, TEST_CASES(moods))];
    t->left = MOOD_STEPS / 2 + (unsigned)test_rng_below(&t->rng, MOOD_STEPS);
    atomic_fetch_add_explicit(&sum, t->delays, memory_order_relaxed);
    t->delays = 0;
}

static void spin(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i++) {}
}

static void nap(uint64_t ns)
{
    const struct timespec time = { .tv_nsec = (long)ns };
    const int kept = errno;
    (void)nanosleep(&time, NULL);
    errno = kept;
}

void filch_test_delay(void)
{
    thread_state *t = &state;
    int on = atomic_load_explicit(&enabled, memory_order_relaxed);
    if (on == 0) {
        on = ask();
    }
    if (on < 0) {
        return;
    }
    if (t->left == 0) {
        draw_mood(t);
    }
    t->left--;
    const unsigned dice = (unsigned)(test_rng_next(&t->rng) & 0xffff);
    if (dice < t->now->nap) {
        nap(test_rng_below(&t->rng, NAP_MOST_NS));
    } else if (dice < t->now->nap + t->now->yield) {
        (void)sched_yield();
    } else if (dice < t->now->nap + t->now->yield + t->now->spin) {
        spin(test_rng_below(&t->rng, SPINS_MOST));
    } else {
        return;
    }
    t->delays++;
}

unsigned long filch_test_delays(void)
{
    return atomic_load_explicit(&sum, memory_order_relaxed) + state.delays;
}
