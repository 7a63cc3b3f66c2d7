/* SPDX-License-Identifier: MIT */
/* Two publishers and a waiter that needs both units: neither wake is lost or given twice.
 * Covers: EC-1, EC-2, EC-3 */
#include "eventcount_client.h"

static void body(void)
{
    client_eventcount(FILCHI_WAKE_NEWEST);
    (void)model_spawn(client_publish, (void *)0);
    (void)model_spawn(client_publish, (void *)1);
    client_wait(NULL);
    client_wait(NULL);
    MODEL_ASSERT(note[0] == 5 && note[1] == 5);
    client_finish();
}

const model_client model_clients[] = {
    { .name = "eventcount_two_publishers", .body = body },
    { .name = NULL },
};
