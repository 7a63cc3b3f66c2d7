/* SPDX-License-Identifier: MIT */
#include "par/caller.h"

filch_status filchi_caller_enter(filchi_caller *caller, filch_pool *pool)
{
    if (filchi_spi_forked(pool)) {
        return FILCH_E_FORKED;
    }
    caller->cx = filchi_spi_own_cx(pool);
    caller->is_guest = false;
    if (caller->cx != NULL) {
        return FILCH_OK;
    }
    const filch_status status = filchi_guest_enter(&caller->guest, pool);
    caller->is_guest = status == FILCH_OK;
    caller->cx = caller->guest.lane.cx;
    return status;
}

void filchi_caller_leave(filchi_caller *caller)
{
    if (caller->is_guest) {
        filchi_guest_leave(&caller->guest);
    }
}
