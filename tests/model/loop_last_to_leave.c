/* SPDX-License-Identifier: MIT */
/* A worker comes to a loop that is about to end: it is not admitted, or the loop waits for it, even
 * if there is nothing left for it to run. Whoever leaves last tells the caller, and nobody touches
 * the loop, its ranges or the pool's board entry after that: the lane's memory is used again at
 * once, by the next loop.
 * Covers: LOOP-1, LATCH-1, LATCH-2, LATCH-3 */
#include "loop_client.h"

/* The ranges of the first loop become the scratch of the next user of the lane. */
static void use_memory_again(filch_cx *cx)
{
    filchi_arena_mark mark;
    uint64_t *block = filchi_spi_scratch(cx, 2 * FILCHI_CACHELINE, &mark);
    MODEL_ASSERT(block != NULL);
    block[0] = UINT64_MAX; /* plain */
    block[FILCHI_CACHELINE / sizeof(*block)] = UINT64_MAX;
    filchi_spi_scratch_release(cx, mark);
}

static void memory_used_again(void)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    client_for(client_cx(0), 2);
    use_memory_again(client_cx(0));
    model_join_all();
    client_free_lanes();
}

static void two_loops(void)
{
    client_lanes(2);
    (void)model_spawn(client_joiner, CLIENT_WORKER(1));
    client_for(client_cx(0), 2);
    client_for(client_cx(0), 2);
    model_join_all();
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "loop_last_to_leave_memory", .body = memory_used_again, .no_spurious_wakes = true },
    { .name = "loop_last_to_leave_two_loops", .body = two_loops, .no_spurious_wakes = true },
    { .name = NULL },
};
