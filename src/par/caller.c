/* SPDX-License-Identifier: MIT */
#include "par/caller.h"

filch_status filchi_caller_enter(filchi_caller *caller, filch_pool *pool)
{
    if (filchi_spi_forked(pool)) {
        return FILCH_E_FORKED;
    }
    caller->cx = filchi_spi_own_cx(pool);
    if (caller->cx != NULL) {
        return FILCH_OK;
    }
    caller->cx = &caller->guest.cx;
    return filchi_guest_enter(&caller->guest, pool);
}

void filchi_caller_leave(filchi_caller *caller)
{
    if (caller->cx == &caller->guest.cx) {
        filchi_guest_leave(&caller->guest);
    }
}
