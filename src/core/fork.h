/* SPDX-License-Identifier: MIT */
/* Joins that have to wait. */
#ifndef FILCHI_CORE_FORK_H
#define FILCHI_CORE_FORK_H

#include "core/lane.h"

/* Join the newest record of the lane, which a thief has: wait for its result. */
uintptr_t filchi_join_taken(filchi_lane *lane, filch_cx *record);

/* The same for a number of records, of which this is the newest. */
void filchi_join_all_taken(filchi_lane *lane, filch_cx *newest, uint64_t count);

/* Wait for a latch and run nothing meanwhile. */
void filchi_wait_alone(filchi_lane *lane, filchi_latch *latch);

#endif
