/* SPDX-License-Identifier: MIT */
/* The board of open loops. */
#include "core/offer.h"

#include "core/pool.h"

bool filchi_board_init(filchi_board *board)
{
    filchi_list_init(&board->offers);
    filchi_store_relaxed_u64(&board->open, 0);
    return filchi_mutex_init(&board->lock);
}

void filchi_board_destroy(filchi_board *board)
{
    filchi_mutex_destroy(&board->lock);
}

static void take_off(filchi_board *board, filchi_offer *offer)
{
    filchi_list_remove(&offer->link);
    /* relaxed: seen late, it costs a look at an empty board */
    (void)filchi_add_relaxed_u64(&board->open, (uint64_t)-1);
}

void filchi_offer_open(filch_pool *pool, filchi_offer *offer)
{
    filchi_board *board = &pool->board;
    filchi_mutex_lock(&board->lock);
    filchi_list_push_back(&board->offers, &offer->link);
    /* [OFFER-1] seq_cst, pairs with OFFER-2, SLEEP-1: a sleeper sees the offer, or is seen. */
    (void)filchi_add_seq_cst_u64(&board->open, 1);
    filchi_mutex_unlock(&board->lock);
    if (filchi_sleep_fork_needs_wake(filchi_sleep_look(&pool->sleep))) {
        filchi_sleep_wake_for_fork(pool);
    }
}

void filchi_offer_close(filch_pool *pool, filchi_offer *offer)
{
    filchi_board *board = &pool->board;
    filchi_mutex_lock(&board->lock);
    if (!filchi_list_empty(&offer->link)) {
        take_off(board, offer);
    }
    filchi_mutex_unlock(&board->lock);
}

filchi_offer *filchi_board_take(filchi_board *board)
{
    /* relaxed: a hint; sleepers look with filchi_board_looks_empty */
    if (filchi_load_relaxed_u64(&board->open) == 0) {
        return NULL;
    }
    filchi_offer *taken = NULL;
    filchi_mutex_lock(&board->lock);
    while (taken == NULL && !filchi_list_empty(&board->offers)) {
        filchi_offer *offer = FILCHI_CONTAINER(board->offers.next, filchi_offer, link);
        const filchi_admission admission = offer->admit(offer);
        if (admission != FILCHI_EXHAUSTED) {
            taken = offer;
        }
        if (admission != FILCHI_ADMITTED) {
            take_off(board, offer);
        }
    }
    filchi_mutex_unlock(&board->lock);
    return taken;
}

bool filchi_board_looks_empty(const filchi_board *board)
{
    /* [OFFER-2] seq_cst, pairs with OFFER-1: sees each offer whose owner did not see us. */
    return filchi_load_seq_cst_u64(&board->open) == 0;
}
