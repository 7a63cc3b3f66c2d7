/* SPDX-License-Identifier: MIT */
/* How many pools share the CPUs. One word holds the fork generation above and their number below: a
 * child begins at none without a step of its own.
 *
 * Relaxed throughout: a number and nothing else. A look that sees an old one is a late look. */
#include "core/share.h"

#include "base/atomic.h"
#include "plat/plat.h"

static filchi_atomic_u64 sharing;

static uint64_t none_of(uint32_t generation)
{
    return (uint64_t)generation << 32;
}

void filchi_share_join(void)
{
    const uint64_t none = none_of(filchi_fork_generation());
    uint64_t now = filchi_load_relaxed_u64(&sharing);
    uint64_t next;
    do {
        next = (now >> 32 == none >> 32 ? now : none) + 1;
    } while (!filchi_cas_relaxed_u64(&sharing, &now, next));
}

void filchi_share_leave(uint32_t generation)
{
    uint64_t now = filchi_load_relaxed_u64(&sharing);
    while (now >> 32 == generation && (uint32_t)now != 0 &&
           !filchi_cas_relaxed_u64(&sharing, &now, now - 1)) {}
}

unsigned filchi_share_of(unsigned workers)
{
    const uint64_t now = filchi_load_relaxed_u64(&sharing);
    const unsigned pools = now >> 32 == filchi_fork_generation() ? (unsigned)(uint32_t)now : 0;
    const unsigned share = pools > 1 ? workers / pools : workers;
    return share != 0 ? share : 1;
}
