/* SPDX-License-Identifier: MIT */
/* The public views of clock and CPUs. */
#include <filch/cpus.h>
#include <filch/pool.h>

#include "core/spi.h"
#include "plat/plat.h"

#include <string.h>

unsigned filch_cpus_allowed(void)
{
    return filchi_cpus_allowed();
}

static bool in_limits(const filch_cpus_options *options)
{
    static const filch_cpus_options empty = FILCH_CPUS_OPTIONS_INIT;
    return options->size == sizeof(*options) &&
           (options->flags & ~FILCH_CPUS_NO_ENVIRONMENT) == 0 &&
           options->io_limit <= FILCH_MAX_WORKERS &&
           memcmp(options->reserved, empty.reserved, sizeof(empty.reserved)) == 0;
}

filch_status filch_cpus_read(const filch_cpus_options *options, filch_cpus *out_cpus)
{
    static const filch_cpus_options defaults = FILCH_CPUS_OPTIONS_INIT;
    options = options != NULL ? options : &defaults;
    if (out_cpus == NULL || out_cpus->size != sizeof(*out_cpus) || !in_limits(options)) {
        return FILCH_E_INVALID;
    }
    filchi_cpu_facts facts;
    filchi_wish wish = {
        NULL, options->limit_names, NULL, options->wait_ns, options->compute_ns, options->io_limit
    };
    if ((options->flags & FILCH_CPUS_NO_ENVIRONMENT) == 0) {
        wish.workers = filchi_env_get("FILCH_WORKERS");
        wish.env = filchi_env_get;
    }
    const filchi_files below = { filchi_files_stream, options->root, NULL };
    filchi_cpus_read(options->root != NULL ? &below : NULL, true, &facts);
    filchi_sizing_decide(&facts, &wish, out_cpus);
    return FILCH_OK;
}

filch_status filch_cpus_sample(void (*fn)(void *arg), void *arg, uint64_t *out_wait_ns,
                               uint64_t *out_compute_ns)
{
    if (fn == NULL || out_wait_ns == NULL || out_compute_ns == NULL) {
        return FILCH_E_INVALID;
    }
    const int64_t cpu_before = filchi_clock_thread_ns();
    if (cpu_before < 0) {
        return FILCH_E_SYSTEM;
    }
    const int64_t before = filchi_clock_ns();
    fn(arg);
    const int64_t cpu = filchi_clock_thread_ns() - cpu_before;
    const int64_t all = filchi_clock_ns() - before;
    *out_compute_ns = cpu > 0 ? (uint64_t)cpu : 1;
    *out_wait_ns = all > cpu ? (uint64_t)(all - cpu) : 0; /* the clocks differ by some hundred ns */
    return FILCH_OK;
}

filch_status filch_priv_pool_create_io(const filch_cpus_options *options,
                                       const filch_pool_config *config, filch_pool **out_pool,
                                       unsigned inline_abi)
{
    filch_pool_config sized = FILCH_POOL_CONFIG_INIT;
    filch_cpus cpus = FILCH_CPUS_INIT;
    if (config != NULL && (config->size != sizeof(*config) || config->workers != 0)) {
        return FILCH_E_INVALID;
    }
    const filch_status status = filch_cpus_read(options, &cpus);
    if (status != FILCH_OK) {
        return status;
    }
    sized = config != NULL ? *config : sized;
    sized.workers = cpus.io_bound;
    return filch_priv_pool_create(&sized, out_pool, inline_abi);
}

filch_status filch_pool_create_io(const filch_cpus_options *options,
                                  const filch_pool_config *config, filch_pool **out_pool)
{
    return filch_priv_pool_create_io(options, config, out_pool, FILCH_INLINE_ABI);
}

filch_time filch_time_now(void)
{
    return filchi_clock_ns();
}

filch_time filch_time_after_ns(uint64_t duration_ns)
{
    const filch_time now = filchi_clock_ns();
    const uint64_t left = (uint64_t)(FILCH_FOREVER - now);
    return duration_ns < left ? now + (filch_time)duration_ns : FILCH_FOREVER;
}

filch_time filch_time_after_ms(uint64_t duration_ms)
{
    const uint64_t ns_per_ms = 1000000;
    return duration_ms <= UINT64_MAX / ns_per_ms ? filch_time_after_ns(duration_ms * ns_per_ms)
                                                 : FILCH_FOREVER;
}
