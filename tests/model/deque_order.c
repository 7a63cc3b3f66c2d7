/* SPDX-License-Identifier: MIT */
/* The owner pushes 1, 2 and 3 and pops until nothing is left, a thief tries twice to steal: the
 * thief gets the oldest first, the owner the newest first, and each item goes to one of them.
 * Covers: DEQUE-1, DEQUE-2, DEQUE-3, DEQUE-4, DEQUE-6, DEQUE-8 */
#include "base/alloc.h"
#include "model.h"
#include "queue/deque.h"

enum { ITEMS = 3, STEALS = 2 };

typedef struct both_ends {
    filch_deque deque;
    uint64_t payload[ITEMS + 1]; /* plain: reading one that was not handed over is a race */
} both_ends;

static both_ends ends;

/* The books: ghost i counts how often item i was taken. */
static uintptr_t take(filch_item item)
{
    const uint64_t *payload = (const uint64_t *)item.second;
    MODEL_ASSERT(item.first >= 1 && item.first <= ITEMS);
    MODEL_ASSERT(*payload == 10 * item.first);
    (void)model_ghost((unsigned)item.first, 1);
    return item.first;
}

static void thief(void *arg)
{
    uintptr_t before = 0;
    (void)arg;
    for (int i = 0; i < STEALS; i++) {
        filch_item item;
        if (filchi_deque_steal(&ends.deque, &item) == FILCH_STEAL_GOT) {
            const uintptr_t number = take(item);
            MODEL_ASSERT(number > before);
            before = number;
        }
    }
}

static void order(void)
{
    MODEL_ASSERT(filchi_deque_init(&ends.deque, 4, 4, &filchi_libc_allocator) == FILCH_OK);
    model_name(&ends.deque, sizeof(ends.deque), "deque");
    model_name(ends.payload, sizeof(ends.payload), "payload");
    (void)model_spawn(thief, NULL);
    for (uintptr_t i = 1; i <= ITEMS; i++) {
        ends.payload[i] = 10 * i;
        const filch_item item = { i, (uintptr_t)&ends.payload[i] };
        MODEL_ASSERT(filchi_deque_push(&ends.deque, item) == FILCH_OK);
    }
    uintptr_t before = ITEMS + 1;
    filch_item item;
    while (filchi_deque_pop(&ends.deque, &item)) {
        const uintptr_t number = take(item);
        MODEL_ASSERT(number < before);
        before = number;
    }
    model_join_all();
    for (unsigned i = 1; i <= ITEMS; i++) {
        MODEL_ASSERT(model_ghost(i, 0) == 1);
    }
    filchi_deque_fini(&ends.deque);
}

const model_client model_clients[] = {
    { .name = "deque_order", .body = order },
    { .name = NULL },
};
