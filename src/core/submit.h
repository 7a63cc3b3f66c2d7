/* SPDX-License-Identifier: MIT */
/* What posts of a worker's own tasks share, whatever they are posted to. */
#ifndef FILCHI_CORE_SUBMIT_H
#define FILCHI_CORE_SUBMIT_H

#include "core/worker.h"

/* NULL is fine. */
bool filchi_submit_options_valid(const filch_pool *pool, const filch_submit_options *options);

/* How long a post waits for room. */
filch_time filchi_submit_until(const filch_submit_options *options);

/* One more task of this worker's, counted. False: the pool is being cancelled. */
bool filchi_submit_accept_own(filchi_worker *worker);

/* After that: it is refused all the same; returns `why`. */
filch_status filchi_submit_take_back(filchi_worker *worker, filch_status why);

/* After that: there is no room for it. Run it inside the post; FILCH_E_FULL: it may not, and is taken
 * back. */
filch_status filchi_submit_run_inline(filchi_worker *worker, void *object, filchi_run_fn *run);

#endif
