/* SPDX-License-Identifier: MIT */
/* The race for the last items with indices that begin just below the ends of 32 and of 63 bits.
 * Covers: DEQUE-1, DEQUE-2, DEQUE-3, DEQUE-4, DEQUE-5, DEQUE-6, DEQUE-8 */
#include "deque_client.h"

static void body(void)
{
    static const int64_t first[] = { INT64_C(0x7ffffffe), INT64_C(0xfffffffe), INT64_MAX - 4 };
    client_deque(1, 2);
    client_start_at(first[model_choose(3)]);
    (void)client_push();
    (void)model_spawn(client_thief_twice, CLIENT_THREAD(1));
    (void)client_push();
    (void)client_pop();
    (void)client_pop();
    model_join_all();
    client_finish();
}

const model_client model_clients[] = {
    { .name = "deque_counters_near_limit", .body = body },
    { .name = NULL },
};
