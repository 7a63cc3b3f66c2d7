/* SPDX-License-Identifier: MIT */
/* The latch is a thief's last touch of a fork: the joiner leaves the frame with the record, the
 * argument and the result as soon as the join returns. It gets the result word and what the child
 * wrote, and the child sees what the forking lane wrote; in all three forms of a fork.
 * Covers: DEQUE-1, LATCH-1, LATCH-2, LATCH-3, LATCH-4 */
#include "lanes_client.h"

typedef struct note {
    uint64_t to_child;
    uint64_t from_child;
} note;

static uintptr_t child(filch_cx *cx, uintptr_t arg)
{
    note *paper = (note *)arg;
    (void)cx;
    MODEL_ASSERT(paper->to_child == 5);
    paper->from_child = 6;
    return 7;
}

static void child_void(filch_cx *cx, void *arg)
{
    (void)child(cx, (uintptr_t)arg);
}

static uintptr_t other(filch_cx *cx, uintptr_t n)
{
    (void)cx;
    return n + 1;
}

static void other_void(filch_cx *cx, void *arg)
{
    (void)cx;
    *(uintptr_t *)arg += 1;
}

static MODEL_FRAME void join2_word(filch_cx *cx)
{
    note paper = { 5, 0 };
    const filch_pair both = filch_join2_word(cx, other, 1, child, (uintptr_t)&paper);
    MODEL_ASSERT(both.first == 2 && both.second == 7 && paper.from_child == 6);
}

static MODEL_FRAME void join2_void(filch_cx *cx)
{
    note paper = { 5, 0 };
    uintptr_t n = 1;
    filch_join2(cx, other_void, &n, child_void, &paper);
    MODEL_ASSERT(n == 2 && paper.from_child == 6);
}

static MODEL_FRAME void handle(filch_cx *cx)
{
    note paper = { 5, 0 };
    filch_fork_handle fork;
    filch_fork(cx, &fork, child, (uintptr_t)&paper);
    MODEL_ASSERT(filch_join(cx, &fork) == 7);
    MODEL_ASSERT(paper.from_child == 6);
}

static void run(void (*fork_in_frame)(filch_cx *cx))
{
    client_lanes(2);
    (void)model_spawn(client_thief, CLIENT_WORKER(1));
    fork_in_frame(client_cx(0));
    model_join_all();
    client_free_lanes();
}

static void join2_word_body(void)
{
    run(join2_word);
}

static void join2_void_body(void)
{
    run(join2_void);
}

static void handle_body(void)
{
    run(handle);
}

const model_client model_clients[] = {
    { .name = "join_last_touch_join2_word", .body = join2_word_body, .no_spurious_wakes = true },
    { .name = "join_last_touch_join2", .body = join2_void_body, .no_spurious_wakes = true },
    { .name = "join_last_touch_handle", .body = handle_body, .no_spurious_wakes = true },
    { .name = NULL },
};
