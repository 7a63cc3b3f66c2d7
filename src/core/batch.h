/* SPDX-License-Identifier: MIT */
/* What a worker takes from the injector: one task to run, and a batch that it runs next, unless
 * others steal from it. README.md, "Batches". */
#ifndef FILCHI_CORE_BATCH_H
#define FILCHI_CORE_BATCH_H

#include "core/worker.h"

enum { FILCHI_BATCH_MOST = 32 };

/* The oldest of this worker's batch; if it is used up, a new one from the injector. `storage` holds
 * the task while it runs. */
bool filchi_batch_take(filchi_worker *worker, filchi_work *out_work, filchi_job *storage);

/* Any worker: the oldest task of the victim's batch. */
filch_steal_result filchi_batch_steal(filchi_worker *thief, filchi_worker *victim,
                                      filchi_work *out_work);

#endif
