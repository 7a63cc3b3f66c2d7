/* SPDX-License-Identifier: MIT */
/* The room in a pool's queue. What counts is what foreign threads have handed in and no worker has
 * started, wherever it lies: in the injector, or in the batch that a worker took from it. README.md,
 * "Room", says why the bound is exact and nobody is left waiting. */
#ifndef FILCHI_CORE_ROOM_H
#define FILCHI_CORE_ROOM_H

#include "core/worker.h"

/* Any thread: how many wait now; a moment's view. It raises the high-water mark. */
uint64_t filchi_room_depth(filch_pool *pool);

/* This worker takes `job`, which came through the injector, to run it: there is more room, and those
 * who wait for it wake if there is enough. */
void filchi_room_started(filchi_worker *worker, const filchi_job *job);

/* Put the first of `count` jobs; returns how many there was room for, and if any wakes a worker. */
size_t filchi_room_put(filch_pool *pool, const filchi_job *jobs, size_t count);

/* As above, but wait until there is room for one. 0: the deadline passed, or the token was stopped. */
size_t filchi_room_wait_put(filch_pool *pool, const filchi_job *jobs, size_t count,
                            filch_time until, filch_token *stop);

#endif
