/* SPDX-License-Identifier: MIT */
/* The chain of places of a thread, in one thread-local. */
#include "core/place.h"

void filchi_place_enter(filchi_place *place, filch_pool *pool, filchi_lane *own)
{
    *place = (filchi_place){ pool, own, filchi_thread_local_get() };
    filchi_thread_local_set(place);
}

void filchi_place_leave(filchi_place *place)
{
    filchi_thread_local_set(place->outer);
}

bool filchi_place_inside(const filch_pool *pool)
{
    const filchi_place *place = filchi_thread_local_get();
    while (place != NULL && place->pool != pool) {
        place = place->outer;
    }
    return place != NULL;
}

filchi_lane *filchi_place_own_lane(void)
{
    const filchi_place *place = filchi_thread_local_get();
    while (place != NULL && place->own == NULL) {
        place = place->outer;
    }
    return place != NULL ? place->own : NULL;
}

filchi_worker *filchi_place_worker(const filch_pool *pool)
{
    const filchi_lane *lane = filchi_place_own_lane();
    return lane != NULL && lane->pool == pool ? lane->worker : NULL;
}

void filchi_place_forget(const filch_pool *pool)
{
    for (filchi_place *place = filchi_thread_local_get(); place != NULL; place = place->outer) {
        if (place->pool == pool) {
            place->pool = NULL;
            place->own = NULL;
        }
    }
}
