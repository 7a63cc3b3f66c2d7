/* SPDX-License-Identifier: MIT */
/* Contestants that are designs of bench/designs, or built like one. */
#ifndef BENCH_COUNTERPARTS_DESIGNS_H
#define BENCH_COUNTERPARTS_DESIGNS_H

#include "bench/counterparts/work.h"
#include "bench/designs/design.h"

void *designs_start(const design *on, unsigned threads);
/* Through `all` of the design, from a root; through `post`, from this thread. */
bool designs_run_all(void *pool, const work *job, uint64_t *places);
bool designs_run_posts(void *pool, const work *job, uint64_t *places);
void designs_stop(void *pool);

#endif
