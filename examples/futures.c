/* SPDX-License-Identifier: MIT */
/* A small pipeline of futures: two tasks fetch numbers, one of them may fail, a continuation mends that,
 * another adds up when all are there. Waiting is for main alone. Exits with 1 if the sum is wrong. */
#include <stdio.h>

#include <filch/filch.h>

/* What a real program would read from a file or a socket. */
static filch_status fetch(filch_cx *cx, void *data, void *result)
{
    (void)cx;
    const int number = *(const int *)data;
    if (number < 0) {
        return FILCH_E_INVALID;
    }
    *(int *)result = number;
    return FILCH_OK;
}

/* Whatever went wrong, go on with a default. */
static filch_status or_default(filch_cx *cx, void *data, filch_status status, const void *value,
                               void *result)
{
    (void)cx;
    *(int *)result = status == FILCH_OK ? *(const int *)value : *(const int *)data;
    return FILCH_OK;
}

/* Runs when both have ended; their futures are alive, since main holds them. */
static filch_status add(filch_cx *cx, void *data, filch_status status, const void *value,
                        void *result)
{
    (void)cx;
    (void)value;
    filch_future *const *parts = data;
    int left = 0;
    int right = 0;
    if (status != FILCH_OK) {
        return status;
    }
    (void)filch_future_read(parts[0], &left, sizeof left);
    (void)filch_future_read(parts[1], &right, sizeof right);
    *(int *)result = left + right;
    return FILCH_OK;
}

int main(void)
{
    filch_pool *const pool = filch_default_pool();
    const int good = 40;
    const int bad = -1;
    const int instead = 2;
    filch_future *fetched[2] = { NULL, NULL };
    filch_future *parts[2] = { NULL, NULL };
    filch_future *both = NULL;
    filch_future *total = NULL;
    int sum = 0;

    if (filch_async(pool, fetch, &good, sizeof good, sizeof(int), NULL, &fetched[0]) != FILCH_OK ||
        filch_async(pool, fetch, &bad, sizeof bad, sizeof(int), NULL, &fetched[1]) != FILCH_OK) {
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        if (filch_future_then(fetched[i], pool, or_default, &instead, sizeof instead, sizeof(int),
                              NULL, &parts[i]) != FILCH_OK) {
            return 2;
        }
        filch_future_release(fetched[i]);
    }
    if (filch_when_all(parts, 2, NULL, &both) != FILCH_OK ||
        filch_future_then(both, pool, add, parts, sizeof parts, sizeof(int), NULL, &total) !=
            FILCH_OK) {
        return 2;
    }
    const filch_status status = filch_future_wait(total, FILCH_FOREVER, NULL, &sum, sizeof sum);
    printf("%d (%s)\n", sum, filch_strerror(status));

    filch_future_release(parts[0]);
    filch_future_release(parts[1]);
    filch_future_release(both);
    filch_future_release(total);
    return status == FILCH_OK && sum == 42 ? 0 : 1;
}
