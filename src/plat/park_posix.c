/* SPDX-License-Identifier: MIT */
/* Parking on a mutex and a condition variable: the twin of park_linux.c for systems without a
 * futex. The token is only touched under the lock, so the plain accesses below are enough. */
#include "plat/plat.h"

#include <errno.h>
#include <time.h>

enum { EMPTY = 0, TOKEN = 1 };

bool filchi_parker_init(filchi_parker *parker)
{
    filchi_store_relaxed_u32(&parker->state, EMPTY);
    if (pthread_mutex_init(&parker->lock, NULL) != 0) {
        return false;
    }
    pthread_condattr_t attr;
    bool ready = pthread_condattr_init(&attr) == 0;
    if (ready) {
        ready = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&parker->condition, &attr) == 0;
        (void)pthread_condattr_destroy(&attr);
    }
    if (!ready) {
        (void)pthread_mutex_destroy(&parker->lock);
    }
    return ready;
}

void filchi_parker_destroy(filchi_parker *parker)
{
    (void)pthread_cond_destroy(&parker->condition);
    (void)pthread_mutex_destroy(&parker->lock);
}

/* One wait, ended by a signal, the deadline, or nothing at all. True: the deadline passed. */
static bool wait_once(filchi_parker *parker, int64_t deadline_ns)
{
    if (deadline_ns == INT64_MAX) {
        (void)pthread_cond_wait(&parker->condition, &parker->lock);
        return false;
    }
    const int64_t at_ns = deadline_ns > 0 ? deadline_ns : 0;
    const struct timespec until = { .tv_sec = (time_t)(at_ns / 1000000000),
                                    .tv_nsec = (long)(at_ns % 1000000000) };
    return pthread_cond_timedwait(&parker->condition, &parker->lock, &until) == ETIMEDOUT;
}

bool filchi_park(filchi_parker *parker, int64_t deadline_ns)
{
    /* a wait on a condition is a cancellation point; cancelled here, a foreign thread would leave a
     * parker behind that others still use */
    int cancel_state;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    (void)pthread_mutex_lock(&parker->lock);
    bool late = false;
    while (filchi_load_relaxed_u32(&parker->state) == EMPTY && !late) {
        late = wait_once(parker, deadline_ns);
    }
    const bool got = filchi_load_relaxed_u32(&parker->state) == TOKEN;
    filchi_store_relaxed_u32(&parker->state, EMPTY);
    (void)pthread_mutex_unlock(&parker->lock);
    (void)pthread_setcancelstate(cancel_state, NULL);
    return got;
}

void filchi_unpark(filchi_parker *parker)
{
    (void)pthread_mutex_lock(&parker->lock);
    filchi_store_relaxed_u32(&parker->state, TOKEN);
    /* under the lock: after the unlock the parker may be gone */
    (void)pthread_cond_signal(&parker->condition);
    (void)pthread_mutex_unlock(&parker->lock);
}

const char *filchi_park_backend(void)
{
    return "condvar";
}
