/* SPDX-License-Identifier: MIT */
/* The clients of parking, built twice: on the futex and on the condition variable. */
#ifndef MODEL_PARK_CLIENT_H
#define MODEL_PARK_CLIENT_H

#include "model.h"
#include "plat/plat.h"

#include <stdlib.h>

static filchi_parker *parker;
static uint64_t message;

static inline void client_parker(void)
{
    parker = malloc(sizeof(*parker));
    model_name(parker, sizeof(*parker), "parker");
    MODEL_ASSERT(filchi_parker_init(parker));
}

static inline void client_free_parker(void)
{
    filchi_parker_destroy(parker);
    free(parker);
}

static inline void client_unpark(void *arg)
{
    (void)arg;
    filchi_unpark(parker);
}

static inline void client_tell(void *arg)
{
    message = 7; /* plain: the token brings it */
    client_unpark(arg);
}

#endif
