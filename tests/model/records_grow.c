/* SPDX-License-Identifier: MIT */
/* The owner makes more records of its region ready while thieves take what there is: whoever comes to
 * a new record finds it made.
 * Covers: REC-2, REC-6, REC-8 */
#include "records_client.h"

static _Alignas(16) filchi_latch latches[2];

/* One record is ready, and there is room for another. The latches of both lie elsewhere. */
static void make_small(filchi_region *region)
{
    region->capacity = 2;
    region->latches = latches;
    model_name(latches, sizeof(latches), "latches");
}

static void run(model_thread *thief)
{
    client_begin_with(2, 1, true);
    make_small(client_lane(0)->regions);
    client_silence();
    (void)model_spawn(thief, CLIENT_WORKER(1));
    client_two_forks(client_cx(0));
    client_finish();
}

static void forced(void)
{
    run(client_force_twice);
}

static void as_it_comes(void *arg)
{
    client_thief_of_lane0(arg);
    client_thief_of_lane0(arg);
}

static void offered(void)
{
    run(as_it_comes);
}

const model_client model_clients[] = {
    { .name = "records_grow_forced", .body = forced, .no_spurious_wakes = true, .seconds = 2.5 },
    { .name = "records_grow_offered", .body = offered, .no_spurious_wakes = true },
    { .name = NULL },
};
