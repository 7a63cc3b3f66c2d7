/* SPDX-License-Identifier: MIT */
/* Work that others may join while its owner is at it: an open loop hangs on the pool's board, and
 * idle workers take part. Oldest first, so that the outermost loop is served first. The board has a
 * lock, since joining a loop is rare compared with running its pieces. */
#ifndef FILCHI_CORE_OFFER_H
#define FILCHI_CORE_OFFER_H

#include "base/list.h"
#include "core/lane.h"

typedef enum filchi_admission {
    FILCHI_ADMITTED,      /* take part; more may follow */
    FILCHI_ADMITTED_LAST, /* take part; nobody else may */
    FILCHI_EXHAUSTED      /* there is nothing left to take part in */
} filchi_admission;

typedef struct filchi_offer filchi_offer;

struct filchi_offer {
    filchi_link link;                               /* under the board's lock */
    filchi_admission (*admit)(filchi_offer *offer); /* called under the board's lock */
    filchi_run_fn *run;                             /* of whoever was admitted; gets the offer */
};

typedef struct filchi_board {
    filchi_mutex lock;
    filchi_link offers;
    filchi_atomic_u64 open; /* offers on the board */
} filchi_board;

bool filchi_board_init(filchi_board *board);
void filchi_board_destroy(filchi_board *board);

/* Put an offer on the pool's board and wake a worker for it if need be. It stays until closed, at
 * the latest by its owner; after that nobody is admitted any more. */
void filchi_offer_open(filch_pool *pool, filchi_offer *offer);
void filchi_offer_close(filch_pool *pool, filchi_offer *offer);

/* Be admitted to the oldest offer, if there is one; its run function is then owed a call. */
filchi_offer *filchi_board_take(filchi_board *board);

/* The last look of a thread that wants to sleep. */
bool filchi_board_looks_empty(const filchi_board *board);

#endif
