/* SPDX-License-Identifier: MIT */
/* Reading a configuration: limits, defaults, names. */
#include "base/alloc.h"
#include "core/full.h"
#include "core/pool.h"
#include "core/sizing.h"

#include <string.h>

enum { DEFAULT_QUEUE_TASKS = 1024 };

static const size_t default_stack_bytes = (size_t)8 << 20;
static const char default_name[] = "filch";

static bool in_limits(const filch_pool_config *config)
{
    static const filch_pool_config empty = FILCH_POOL_CONFIG_INIT;
    const unsigned known = FILCH_POOL_STRICT | FILCH_POOL_FIFO | FILCH_POOL_TIME_TASKS |
                           FILCH_POOL_FIXED | FILCH_POOL_LOGICAL | FILCH_POOL_NO_ENVIRONMENT |
                           FILCH_POOL_SHARE | FILCHI_POOL_BINDS | FILCH_POOL_NO_BARRIER |
                           FILCH_POOL_NO_PLACING | FILCH_POOL_TIME_QUEUE | FILCH_POOL_NO_PACE;
    return config->size == sizeof(*config) && (config->flags & ~known) == 0 &&
           (config->flags & FILCHI_POOL_BINDS) != FILCHI_POOL_BINDS &&
           config->workers <= FILCH_MAX_WORKERS && config->max_workers <= FILCH_MAX_WORKERS &&
           config->queue_tasks <= FILCH_MAX_QUEUE_TASKS &&
           config->own_tasks <= FILCH_MAX_OWN_TASKS && filchi_full_valid(config->full) &&
           (config->stack_bytes == 0 || (config->stack_bytes >= FILCH_MIN_STACK_BYTES &&
                                         config->stack_bytes <= FILCH_MAX_STACK_BYTES)) &&
           filchi_allocator_valid(config->allocator) &&
           memcmp(config->reserved, empty.reserved, sizeof(empty.reserved)) == 0;
}

/* How many workers, and how many there can be. */
static void fill_size(const filch_pool_config *from, filchi_config *out_config)
{
    const bool environment = (from->flags & FILCH_POOL_NO_ENVIRONMENT) == 0;
    const bool logical = (from->flags & FILCH_POOL_LOGICAL) != 0;
    unsigned most = from->max_workers;
    out_config->workers = from->workers;
    if (from->workers == 0) {
        const unsigned cap = filchi_sizing_cap(environment, from->limit_names);
        unsigned part = 0;
        out_config->workers = filchi_sizing_default(environment, logical, from->limit_names, &part);
        out_config->shares = (from->flags & FILCH_POOL_SHARE) != 0 && cap != 0;
        /* a bound worker would read its own mask of one CPU */
        if ((from->flags & (FILCH_POOL_FIXED | FILCHI_POOL_BINDS)) == 0) {
            out_config->follow_most = cap;
            out_config->part = cap != 0 && (from->flags & FILCH_POOL_NO_PACE) == 0 ? part : 0;
        }
        if (most == 0 && out_config->follow_most != 0) {
            const unsigned allowed = filchi_cpus_allowed();
            most = allowed < out_config->follow_most ? allowed : out_config->follow_most;
        }
    }
    out_config->max_workers = most > out_config->workers ? most : out_config->workers;
}

filch_status filchi_config_fill(const filch_pool_config *config, filchi_config *out_config)
{
    static const filch_pool_config defaults = FILCH_POOL_CONFIG_INIT;
    const filch_pool_config *from = config != NULL ? config : &defaults;
    if (!in_limits(from)) {
        return FILCH_E_INVALID;
    }
    memset(out_config, 0, sizeof(*out_config));
    out_config->flags = from->flags;
    fill_size(from, out_config);
    out_config->stack_bytes = from->stack_bytes != 0 ? from->stack_bytes : default_stack_bytes;
    out_config->queue_tasks = from->queue_tasks != 0 ? from->queue_tasks : DEFAULT_QUEUE_TASKS;
    out_config->own_tasks = from->own_tasks != 0 ? from->own_tasks : FILCH_MAX_OWN_TASKS;
    out_config->full = from->full != FILCH_FULL_DEFAULT ? from->full : FILCH_FULL_BLOCK;
    strncpy(out_config->name, from->name != NULL ? from->name : default_name,
            sizeof(out_config->name) - 1);
    out_config->on_start = from->on_start;
    out_config->on_stop = from->on_stop;
    out_config->on_resize = from->on_resize;
    out_config->hook_arg = from->hook_arg;
    out_config->allocator = from->allocator != NULL ? *from->allocator : filchi_libc_allocator;
    return FILCH_OK;
}

size_t filch_queue_capacity(size_t burst, uint64_t service_ns, unsigned workers, uint64_t budget_ns)
{
    size_t capacity = burst < FILCH_MAX_QUEUE_TASKS ? burst : FILCH_MAX_QUEUE_TASKS;
    if (service_ns != 0) {
        /* whole services a worker gets through; what is left over is less than one for each */
        const uint64_t each = budget_ns / service_ns;
        const uint64_t rest = budget_ns % service_ns;
        const unsigned hands = workers != 0 ? workers : 1;
        if (each < FILCH_MAX_QUEUE_TASKS) {
            const uint64_t more = rest <= UINT64_MAX / hands ? rest * hands / service_ns : 0;
            const uint64_t all = each * hands + more;
            capacity = all < capacity ? (size_t)all : capacity;
        }
    }
    return capacity != 0 ? capacity : 1;
}

/* Decimal digits of `number` from the end of `text`; returns where they begin. */
static char *digits_before(char *end, unsigned number)
{
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return end;
}

void filchi_config_thread_name(const char *prefix, unsigned number,
                               char out_name[FILCHI_THREAD_NAME_BYTES])
{
    char digits[FILCHI_THREAD_NAME_BYTES];
    char *end = digits + sizeof(digits) - 1;
    *end = '\0';
    char *suffix = digits_before(end, number);
    *--suffix = '-';
    const size_t suffix_bytes = (size_t)(end - suffix);
    const size_t room = FILCHI_THREAD_NAME_BYTES - 1 - suffix_bytes;
    size_t prefix_bytes = strlen(prefix);
    if (prefix_bytes > room) {
        prefix_bytes = room;
    }
    memcpy(out_name, prefix, prefix_bytes);
    memcpy(out_name + prefix_bytes, suffix, suffix_bytes + 1);
}
