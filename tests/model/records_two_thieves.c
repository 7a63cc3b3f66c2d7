/* SPDX-License-Identifier: MIT */
/* Two thieves at two forks of one owner, one by force, the other as it comes, or both by force: each
 * fork runs once, and the second thief takes what the first has left.
 * Covers: REC-2, REC-4, REC-5, REC-6, REC-8 */
#include "records_client.h"

static void run(model_thread *other)
{
    client_begin(3, true);
    client_silence();
    (void)model_spawn(client_force, CLIENT_WORKER(1));
    (void)model_spawn(other, CLIENT_WORKER(2));
    client_two_forks(client_cx(0));
    client_finish();
}

static void one_forces(void)
{
    run(client_thief_of_lane0);
}

static void both_force(void)
{
    run(client_force);
}

const model_client model_clients[] = {
    { .name = "records_two_thieves_one_forces",
      .body = one_forces,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = "records_two_thieves_both_force",
      .body = both_force,
      .no_spurious_wakes = true,
      .seconds = 2.5 },
    { .name = NULL },
};
