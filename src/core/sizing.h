/* SPDX-License-Identifier: MIT */
/* From what a process may use (plat/cpus.h) to numbers of workers, each with its reason in words. */
#ifndef FILCHI_CORE_SIZING_H
#define FILCHI_CORE_SIZING_H

#include <filch/cpus.h>

#include "plat/cpus.h"

/* What is asked, apart from the facts. */
typedef struct filchi_wish {
    const char *workers;                  /* value of FILCH_WORKERS; NULL: not set */
    const char *limit_names;              /* NULL: none */
    const char *(*env)(const char *name); /* for limit_names; NULL: not looked at */
    uint64_t wait_ns;
    uint64_t compute_ns;
    unsigned io_limit; /* 0: the default */
} filchi_wish;

/* Fill in all fields of `out` but its size. Pure but for wish->env. */
void filchi_sizing_decide(const filchi_cpu_facts *facts, const filchi_wish *wish, filch_cpus *out);

/* What the environment alone allows: the least of limit_names, FILCH_MAX_WORKERS without one. 0:
 * FILCH_WORKERS says exactly how many there shall be. */
unsigned filchi_sizing_cap(bool environment, const char *limit_names);

/* Of so many workers under a quota: the part of a CPU that the last one may use, in thousandths; 0:
 * all of it, since the quota is a whole number, below one CPU, or not what decides. */
unsigned filchi_sizing_part(unsigned workers, uint64_t quota_us, uint64_t period_us);

/* Read the machine, decide, and return the default number of workers, and the last one's part. */
unsigned filchi_sizing_default(bool environment, bool logical, const char *limit_names,
                               unsigned *out_part);

#endif
