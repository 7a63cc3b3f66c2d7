/* SPDX-License-Identifier: MIT */
/* What the deque's clients share: one deque, items with a payload that must be visible to whoever
 * gets the item, and the rule that each item is handed out exactly once. */
#ifndef MODEL_DEQUE_CLIENT_H
#define MODEL_DEQUE_CLIENT_H

#include "model.h"
#include "queue/deque.h"

enum { CLIENT_ITEMS = 8, CLIENT_THREADS = 4 };

typedef struct client_hand { /* what one thread has got */
    unsigned count;
    uintptr_t item[CLIENT_ITEMS];
} client_hand;

static filch_deque *deque;
static client_hand hand[CLIENT_THREADS]; /* 0: the owner's */
static uintptr_t payload[CLIENT_ITEMS];
static unsigned pushed;

static inline void client_deque(size_t capacity, size_t max_capacity)
{
    MODEL_ASSERT(filch_deque_create(capacity, max_capacity, NULL, &deque) == FILCH_OK);
    model_name(deque, sizeof(*deque), "deque");
}

/* Let the indices begin at `first`, as if so many items had passed through. */
static inline void client_start_at(int64_t first)
{
    filchi_store_relaxed_i64(&deque->top, first);
    filchi_store_relaxed_i64(&deque->bottom, first);
    deque->top_seen = first;
}

static inline bool client_push(void)
{
    const filch_item item = { pushed, ~(uintptr_t)pushed };
    payload[pushed] = pushed + 100; /* plain: the push must publish it */
    if (filchi_deque_push(deque, item) != FILCH_OK) {
        return false;
    }
    pushed++;
    return true;
}

static inline void client_got(unsigned thread, filch_item item)
{
    MODEL_ASSERT(item.first < CLIENT_ITEMS && item.second == ~item.first);
    MODEL_ASSERT(payload[item.first] == item.first + 100);
    hand[thread].item[hand[thread].count++] = item.first;
}

static inline bool client_pop(void)
{
    filch_item item;
    const bool got = filchi_deque_pop(deque, &item);
    if (got) {
        client_got(0, item);
    }
    return got;
}

static inline filch_steal_result client_steal(unsigned thread)
{
    filch_item item;
    const filch_steal_result result = filchi_deque_steal(deque, &item);
    if (result == FILCH_STEAL_GOT) {
        client_got(thread, item);
    }
    return result;
}

/* A thief that tries once; `arg` is its number. */
static inline void client_thief(void *arg)
{
    (void)client_steal((unsigned)(uintptr_t)arg);
}

static inline void client_thief_twice(void *arg)
{
    client_thief(arg);
    client_thief(arg);
}

/* After all threads have ended: the owner takes what is left, and each item was got once. */
static inline void client_finish(void)
{
    unsigned times[CLIENT_ITEMS] = { 0 };
    while (client_pop()) {}
    for (unsigned t = 0; t < CLIENT_THREADS; t++) {
        for (unsigned i = 0; i < hand[t].count; i++) {
            times[hand[t].item[i]]++;
        }
    }
    for (unsigned i = 0; i < pushed; i++) {
        MODEL_ASSERT(times[i] == 1);
    }
    MODEL_ASSERT(filch_deque_size(deque) == 0);
    filch_deque_destroy(deque);
}

#define CLIENT_THREAD(n) ((void *)(uintptr_t)(n))

#endif
