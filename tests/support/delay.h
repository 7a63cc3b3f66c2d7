/* SPDX-License-Identifier: MIT */
/* Forced in front of every library source of filch_delays (-include): each ordered atomic access
 * may be held up, so that other threads come in between at places where they hardly ever do. Nothing
 * in src/ knows of it; the macros call the compiler's own functions of the same names. Relaxed
 * accesses are left alone: the order is a constant, so no code comes of it. */
#ifndef FILCH_TEST_DELAY_H
#define FILCH_TEST_DELAY_H

/* A pause of random length, mostly none; on any thread. How often is drawn per thread and drawn
 * again now and then, from the test's seed. FILCH_TEST_DELAYS=0 in the environment: never. */
void filch_test_delay(void);

/* How many there were so far, in the whole process. */
unsigned long filch_test_delays(void);

static inline void filch_test_maybe_delay(int order)
{
    if (order != __ATOMIC_RELAXED) {
        filch_test_delay();
    }
}

#define __atomic_load_n(word, order) (filch_test_maybe_delay(order), __atomic_load_n(word, order))
#define __atomic_store_n(word, value, order)                                                       \
    (filch_test_maybe_delay(order), __atomic_store_n(word, value, order),                          \
     filch_test_maybe_delay(order))
#define __atomic_exchange_n(word, value, order)                                                    \
    (filch_test_maybe_delay(order), __atomic_exchange_n(word, value, order))
#define __atomic_fetch_add(word, value, order)                                                     \
    (filch_test_maybe_delay(order), __atomic_fetch_add(word, value, order))
#define __atomic_fetch_or(word, value, order)                                                      \
    (filch_test_maybe_delay(order), __atomic_fetch_or(word, value, order))
#define __atomic_compare_exchange_n(word, expected, desired, weak, order, failing)                 \
    (filch_test_maybe_delay(order),                                                                \
     __atomic_compare_exchange_n(word, expected, desired, weak, order, failing))

#endif
