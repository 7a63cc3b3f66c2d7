/* SPDX-License-Identifier: MIT */
/* The list of contestants.h. */
#include "bench/grid/contestants.h"

const grid_contestant *const grid_contestants[GRID_CONTESTANTS] = {
    &grid_serial,     &grid_serial_calls, &grid_filch,      &grid_designs[0],
    &grid_designs[1], &grid_designs[2],   &grid_designs[3], &grid_designs[4],
    &grid_designs[5], &grid_designs[6],   &grid_designs[7],
};

const grid_contestant *grid_find_contestant(const char *name)
{
    for (unsigned i = 0; i < GRID_CONTESTANTS; i++) {
        if (strcmp(grid_contestants[i]->name, name) == 0) {
            return grid_contestants[i];
        }
    }
    return NULL;
}
