/* SPDX-License-Identifier: MIT */
/* Contestant "serial": plain code, and the compiler may do with it what it likes. */
#include "bench/grid/contestants.h"

#define SERIAL_CALL static
#define SERIAL_KEEP(value) ((void)(value))

static void serial_sort(grid_input *input)
{
    grid_sort(input->words, input->n, input->scratch);
}

#include "bench/grid/serial/body.h"

const grid_contestant grid_serial = { .name = "serial",
                                      .version = "one thread, inlined as the compiler likes",
                                      .ways = SERIAL_WAYS };
