/* SPDX-License-Identifier: MIT */
/* What the tests of futures that tasks end share: a task that squares, a continuation that adds one, and
 * a count of clean-ups. */
#ifndef FILCH_TEST_FUTURES_H
#define FILCH_TEST_FUTURES_H

#include "support/held.h"

static atomic_uint ends_ran;
static atomic_uint ends_other;

static inline void count_end(void *data, filch_end how)
{
    (void)data;
    atomic_fetch_add(how == FILCH_RAN ? &ends_ran : &ends_other, 1);
}

static inline filch_submit_options with_end(void)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    options.end = count_end;
    atomic_store(&ends_ran, 0);
    atomic_store(&ends_other, 0);
    return options;
}

static inline void expect_ends(unsigned ran, unsigned other)
{
    assert_int_equal(atomic_load(&ends_ran), ran);
    assert_int_equal(atomic_load(&ends_other), other);
}

static inline filch_status square(filch_cx *cx, void *data, void *result)
{
    const int *in = data;
    (void)cx;
    *(int *)result = *in * *in;
    return *in < 0 ? FILCH_E_INVALID : FILCH_OK;
}

/* The value plus one; a failure becomes its number. */
static inline filch_status next(filch_cx *cx, void *data, filch_status status, const void *value,
                                void *result)
{
    (void)cx;
    (void)data;
    TEST_CHECK(value == NULL || status == FILCH_OK);
    *(int *)result = value != NULL ? *(const int *)value + 1 : (int)status;
    return FILCH_OK;
}

static inline filch_future *start(filch_pool *pool, int in, const filch_submit_options *options)
{
    filch_future *future = NULL;
    TEST_CHECK(filch_async(pool, square, &in, sizeof(in), sizeof(int), options, &future) ==
               FILCH_OK);
    return future;
}

static inline filch_future *then(filch_future *input, filch_pool *pool,
                                 const filch_submit_options *options)
{
    filch_future *future = NULL;
    TEST_CHECK(filch_future_then(input, pool, next, NULL, 0, sizeof(int), options, &future) ==
               FILCH_OK);
    return future;
}

static inline filch_status wait_int(filch_future *future, int *out_value)
{
    return filch_future_wait(future, FILCH_FOREVER, NULL, out_value, sizeof(*out_value));
}

#endif
