/* SPDX-License-Identifier: MIT */
/* Filch behind the interface of the designs, so that a workload that is written once runs on it
 * too. A library of its own, filch_design_stealing: the other designs do not use Filch. */
#ifndef FILCH_BENCH_STEALING_H
#define FILCH_BENCH_STEALING_H

#include "bench/designs/design.h"

extern const design design_stealing;

#endif
