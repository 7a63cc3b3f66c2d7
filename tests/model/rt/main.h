/* SPDX-License-Identifier: MIT */
/* The way from a client's main() into the explorer. */
#ifndef MODEL_MAIN_H
#define MODEL_MAIN_H

#include "model.h"

int model_main(int argc, char **argv, const model_client *clients);

#endif
