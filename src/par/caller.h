/* SPDX-License-Identifier: MIT */
/* The lane that a call "on a pool" runs on: the thread's own if it is a worker of that pool, else
 * that of a guest for the length of the call. */
#ifndef FILCHI_PAR_CALLER_H
#define FILCHI_PAR_CALLER_H

#include "core/spi.h"

typedef struct filchi_caller {
    filch_cx *cx;
    bool is_guest;
    filchi_guest guest; /* if it is one */
} filchi_caller;

/* FILCH_E_FORKED, FILCH_E_CLOSED, FILCH_E_NOMEM. */
filch_status filchi_caller_enter(filchi_caller *caller, filch_pool *pool);
void filchi_caller_leave(filchi_caller *caller);

#endif
