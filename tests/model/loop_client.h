/* SPDX-License-Identifier: MIT */
/* What the clients of loops share: a body that counts each index, and uses a slot's scratch. Both
 * are plain: an index that runs twice at once, a slot that two hold, or a loop that ends before its
 * bodies are visible, is a race. */
#ifndef MODEL_LOOP_CLIENT_H
#define MODEL_LOOP_CLIENT_H

#include "lanes_client.h"

enum { CLIENT_INDICES = 4, CLIENT_SLOTS = 3 };

typedef struct client_loop { /* in the frame of whoever calls the loop */
    uint64_t runs[CLIENT_INDICES];
    uint64_t scratch[CLIENT_SLOTS];
    unsigned slots; /* as many as there are units, if there are more workers */
} client_loop;

static inline client_loop client_new_loop(size_t n)
{
    const unsigned workers = lanes->worker_count;
    return (client_loop){ .slots = n < workers ? (unsigned)n : workers };
}

static inline void client_body(filch_cx *cx, void *ctx, filch_range range)
{
    client_loop *book = ctx;
    MODEL_ASSERT(client_isolated(cx));
    MODEL_ASSERT(range.slot < book->slots && range.lo < range.hi);
    for (size_t i = range.lo; i < range.hi; i++) {
        book->runs[i]++;
        book->scratch[range.slot]++;
    }
}

static inline void client_loop_check(const client_loop *book, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        MODEL_ASSERT(book->runs[i] == 1);
    }
    for (unsigned i = 0; i < CLIENT_SLOTS; i++) {
        sum += book->scratch[i];
    }
    MODEL_ASSERT(sum == n);
}

static const filch_loop client_grain1 = { .size = sizeof(filch_loop), .grain = 1 };

static MODEL_FRAME void client_for_in_frame(filch_cx *cx, size_t n)
{
    client_loop book = client_new_loop(n);
    MODEL_ASSERT(filch_for(cx, n, client_body, &book, &client_grain1) == FILCH_OK);
    client_loop_check(&book, n);
}

static inline void client_for(filch_cx *cx, size_t n)
{
    client_for_in_frame(cx, n);
}

/* A worker that joins a loop if one is open, and looks at nothing else; `arg` is its number. */
static inline void client_joiner(void *arg)
{
    filch_cx *cx = client_cx((unsigned)(uintptr_t)arg);
    filchi_offer *offer = filchi_board_take(&lanes->board);
    if (offer != NULL) {
        offer->run(cx, offer);
        MODEL_ASSERT(!client_isolated(cx));
    }
}

/* A worker that has been admitted, and now begins: fewer steps for clients with three threads. */
static filchi_offer *client_offer[CLIENT_SLOTS];

static inline void client_run_joined(void *arg)
{
    const unsigned worker = (unsigned)(uintptr_t)arg;
    client_offer[worker]->run(client_cx(worker), client_offer[worker]);
}

/* In the caller's first unit: as many as are let in come. */
static inline void client_inviting_body(filch_cx *cx, void *ctx, filch_range range)
{
    if (client_runs_on(cx, 0) && range.lo == 0) {
        for (unsigned i = 1; i < lanes->worker_count; i++) {
            client_offer[i] = filchi_board_take(&lanes->board);
            if (client_offer[i] != NULL) {
                (void)model_spawn(client_run_joined, CLIENT_WORKER(i));
            }
        }
    }
    client_body(cx, ctx, range);
}

#endif
