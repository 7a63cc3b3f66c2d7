/* SPDX-License-Identifier: MIT */
/* How many workers: see sizing.h. The contract is in filch/cpus.h. */
#include "core/sizing.h"

#include "core/pace.h"

#include <filch/pool.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MILLI = 1000, NAME_BYTES = 64, UNLIMITED = 0 };

/* Limits are thousandths of a CPU, so that 1.5 stays exact. */
static const uint64_t most_milli = (uint64_t)FILCH_MAX_WORKERS * MILLI;

/* Append to a text; what does not fit is cut. */
__attribute__((format(printf, 2, 3))) static void say(char out[FILCH_CPUS_TEXT_BYTES],
                                                      const char *format, ...)
{
    va_list args;
    const size_t used = strlen(out);
    va_start(args, format);
    (void)vsnprintf(out + used, FILCH_CPUS_TEXT_BYTES - used, format, args);
    va_end(args);
}

/* "1.5" or "2". */
static void say_milli(char out[FILCH_CPUS_TEXT_BYTES], uint64_t milli)
{
    char digits[8];
    (void)snprintf(digits, sizeof(digits), "%03u", (unsigned)(milli % MILLI));
    size_t length = 3;
    while (length != 0 && digits[length - 1] == '0') {
        length--;
    }
    say(out, "%" PRIu64 "%s%.*s", milli / MILLI, length != 0 ? "." : "", (int)length, digits);
}

static const char *plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* Digits behind the point, as thousandths, rounded up; false: other characters, or none at all. */
static bool parse_fraction(filchi_text digits, uint64_t *out_milli)
{
    unsigned scale = 100;
    bool more = false;
    *out_milli = 0;
    for (size_t i = 0; i < digits.bytes; i++, scale /= 10) {
        const unsigned digit = (unsigned)(unsigned char)digits.at[i] - '0';
        if (digit > 9) {
            return false;
        }
        *out_milli += digit * scale;
        more = more || (scale == 0 && digit != 0);
    }
    *out_milli += more;
    return digits.bytes != 0;
}

/* "2", "1.5", "1500m"; false: none of these, or 0. */
static bool parse_milli(const char *text, uint64_t *out_milli)
{
    uint64_t whole;
    uint64_t parts = 0;
    filchi_text rest = { text, strlen(text) };
    const bool in_milli = rest.bytes > 1 && text[rest.bytes - 1] == 'm';
    rest.bytes -= in_milli;
    const bool has_point = memchr(text, '.', rest.bytes) != NULL;
    if (strchr(text, '\n') != NULL || (in_milli && has_point) ||
        !filchi_text_number(filchi_text_until(&rest, '.'), &whole) || whole > most_milli ||
        (has_point && !parse_fraction(rest, &parts))) {
        return false;
    }
    *out_milli = in_milli ? whole : whole * MILLI + parts;
    return *out_milli != 0;
}

typedef struct limit {
    uint64_t milli; /* UNLIMITED: none */
    bool is_quota;
    char name[NAME_BYTES];
} limit;

/* Rounded up: less than a thousandth of a CPU would be none at all. */
static uint64_t milli_of(uint64_t quota_us, uint64_t period_us)
{
    return (quota_us * MILLI + period_us - 1) / period_us;
}

unsigned filchi_sizing_part(unsigned workers, uint64_t quota_us, uint64_t period_us)
{
    const uint64_t milli = quota_us != 0 ? milli_of(quota_us, period_us) : 0;
    const unsigned over = (unsigned)(milli % MILLI);
    if (workers < 2 || over == 0 || milli / MILLI + 1 != workers) {
        return 0;
    }
    return over > FILCHI_PACE_RESERVE + FILCHI_PACE_LEAST ? over - FILCHI_PACE_RESERVE
                                                          : FILCHI_PACE_LEAST;
}

static limit quota_limit(const filchi_quota *quota)
{
    limit found = { UNLIMITED, true, "" };
    if (quota->limit == FILCHI_LIMIT_SET) {
        found.milli = milli_of(quota->bandwidth.quota_us, quota->bandwidth.period_us);
    }
    return found;
}

/* The tightest of the limits in variables and `tightest`. */
static limit add_variables(const filchi_wish *wish, limit tightest, char *ignored)
{
    filchi_text names = { wish->limit_names, 0 };
    if (wish->limit_names == NULL || wish->env == NULL) {
        return tightest;
    }
    names.bytes = strlen(wish->limit_names);
    while (names.bytes != 0) {
        char name[NAME_BYTES];
        uint64_t milli;
        const filchi_text part = filchi_text_until(&names, ',');
        if (part.bytes == 0 || part.bytes >= sizeof(name)) {
            continue;
        }
        memcpy(name, part.at, part.bytes);
        name[part.bytes] = '\0';
        const char *value = wish->env(name);
        if (value == NULL) {
            continue;
        }
        if (!parse_milli(value, &milli)) {
            say(ignored, "%s%s=%.40s is no number of CPUs", ignored[0] != '\0' ? "; " : "", name,
                value);
        } else if (tightest.milli == UNLIMITED || milli < tightest.milli) {
            tightest.milli = milli;
            tightest.is_quota = false;
            memcpy(tightest.name, name, sizeof(name));
        }
    }
    return tightest;
}

static void say_limit(char *why, const limit *by, const filchi_quota *quota)
{
    if (!by->is_quota) {
        say(why, "%s=", by->name);
        say_milli(why, by->milli);
        return;
    }
    say(why, "quota of ");
    say_milli(why, by->milli);
    say(why, " CPU%s by %s", plural(by->milli == MILLI ? 1 : 2),
        quota->version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
}

static void say_base(char *why, const filchi_cpu_facts *facts, bool logical)
{
    if (facts->source == FILCHI_MASK_UNKNOWN) {
        say(why, "nothing says how many CPUs there are");
        return;
    }
    if (!logical && facts->topology.cores != 0) {
        say(why, "%u core%s", facts->topology.cores, plural(facts->topology.cores));
        if (facts->topology.cores != facts->allowed) {
            say(why, " with %u logical CPUs", facts->allowed);
        }
        say(why, " allowed");
        return;
    }
    say(why, "%u logical CPU%s allowed%s", facts->allowed, plural(facts->allowed),
        logical ? "" : ", cores not known");
}

static void say_part(char *why, unsigned part)
{
    if (part != 0) {
        say(why, ", the last worker part-time (");
        say_milli(why, part);
        say(why, ")");
    }
}

/* min(base, limit rounded up), at least 1, with its reason. */
static unsigned bounded(const filchi_cpu_facts *facts, const limit *by, bool logical, char *why,
                        filch_cpus_source *out_source)
{
    const unsigned cores = facts->topology.cores;
    const bool by_cores = !logical && cores != 0;
    const unsigned base = by_cores ? cores : facts->allowed;
    unsigned size = base;
    why[0] = '\0';
    if (facts->source == FILCHI_MASK_UNKNOWN) {
        *out_source = FILCH_CPUS_BY_DEFAULT;
    } else {
        *out_source =
            by_cores && cores != facts->allowed ? FILCH_CPUS_BY_CORES : FILCH_CPUS_BY_AFFINITY;
    }
    if (by->milli != UNLIMITED && by->milli < (uint64_t)base * MILLI) {
        size = (unsigned)((by->milli + MILLI - 1) / MILLI);
        *out_source = by->is_quota ? FILCH_CPUS_BY_QUOTA : FILCH_CPUS_BY_LIMIT;
        say_limit(why, by, &facts->quota);
        say(why, "%s", by->milli % MILLI != 0 ? ", rounded up" : "");
        if (by->is_quota) {
            say_part(why, filchi_sizing_part(size, by->milli, MILLI));
        }
        say(why, "; ");
    }
    say_base(why, facts, logical);
    if (by->is_quota && by->milli != UNLIMITED && by->milli < MILLI) {
        say(why, "; below one CPU throttling cannot be avoided");
    }
    return size < FILCH_MAX_WORKERS ? size : FILCH_MAX_WORKERS;
}

/* base x (1 + wait / compute), rounded up; saturates at `cap`, which is at least `base`. */
static unsigned io_size(unsigned base, uint64_t wait_ns, uint64_t compute_ns, unsigned cap)
{
    const bool waits = wait_ns != 0;
    /* With times up to 2^44 and base up to 2^12 the product below fits. */
    while (wait_ns > UINT64_C(1) << 44 || compute_ns > UINT64_C(1) << 44) {
        wait_ns >>= 1;
        compute_ns >>= 1;
    }
    if (compute_ns == 0) {
        return cap;
    }
    const uint64_t least = waits ? 1 : 0;
    uint64_t more = (base * wait_ns + compute_ns - 1) / compute_ns;
    more = more > least ? more : least;
    return more < cap - base ? base + (unsigned)more : cap;
}

static void decide_io(const filchi_wish *wish, filch_cpus *out)
{
    const unsigned asked = wish->io_limit != 0 ? wish->io_limit : FILCH_CPUS_IO_LIMIT;
    const unsigned cap = asked > out->cpu_bound ? asked : out->cpu_bound;
    const bool known = wish->wait_ns != 0 || wish->compute_ns != 0;
    const uint64_t wait_ns = known ? wish->wait_ns : 1;
    const uint64_t compute_ns = known ? wish->compute_ns : 1;
    out->io_bound = io_size(out->cpu_bound, wait_ns, compute_ns, cap);
    out->why_io[0] = '\0';
    if (known) {
        say(out->why_io, "%u x (1 + %" PRIu64 ".%03u ms waiting / %" PRIu64 ".%03u ms computing)",
            out->cpu_bound, wait_ns / 1000000, (unsigned)(wait_ns / 1000 % 1000),
            compute_ns / 1000000, (unsigned)(compute_ns / 1000 % 1000));
    } else {
        say(out->why_io, "%u x 2: taken that tasks wait as long as they compute", out->cpu_bound);
    }
    if (out->io_bound == cap) {
        say(out->why_io, ", at most %u", cap);
    }
}

/* Keep the end, which tells more. */
static void copy_path(const char *path, char out[FILCH_CPUS_PATH_BYTES])
{
    const size_t length = strlen(path);
    const size_t room = FILCH_CPUS_PATH_BYTES - 1;
    if (length <= room) {
        memcpy(out, path, length + 1);
        return;
    }
    memcpy(out, "...", 3);
    memcpy(out + 3, path + length - (room - 3), room - 3 + 1);
}

static void copy_facts(const filchi_cpu_facts *facts, filch_cpus *out)
{
    const filchi_topology *topology = &facts->topology;
    const filchi_quota *quota = &facts->quota;
    out->online = facts->online;
    out->allowed = facts->allowed;
    out->cpuset = quota->has_cpuset ? filchi_cpu_set_count(&quota->cpuset) : 0;
    out->cores = topology->cores;
    out->threads_per_core = topology->threads_per_core;
    out->packages = topology->packages;
    out->caches = topology->caches;
    out->nodes = topology->nodes;
    out->kinds = topology->kinds;
    out->strong = topology->strong;
    out->cgroup = quota->version;
    out->quota_us = quota->limit == FILCHI_LIMIT_SET ? quota->bandwidth.quota_us : 0;
    out->period_us = quota->limit == FILCHI_LIMIT_SET ? quota->bandwidth.period_us : 0;
    out->weight = quota->weight;
    out->periods = quota->throttling.periods;
    out->throttled = quota->throttling.throttled;
    out->throttled_us = quota->throttling.throttled_us;
    copy_path(quota->file, out->quota_file);
}

/* FILCH_WORKERS, if it holds a number in range: it takes the place of both sizes. */
static void apply_override(const filchi_wish *wish, filch_cpus *out)
{
    uint64_t workers;
    if (wish->workers == NULL) {
        return;
    }
    const filchi_text text = { wish->workers, strlen(wish->workers) };
    if (strchr(wish->workers, '\n') != NULL || !filchi_text_number(text, &workers) ||
        workers == 0 || workers > FILCH_MAX_WORKERS) {
        say(out->ignored, "%sFILCH_WORKERS=%.40s is no number from 1 to %u",
            out->ignored[0] != '\0' ? "; " : "", wish->workers, FILCH_MAX_WORKERS);
        return;
    }
    char counted[FILCH_CPUS_TEXT_BYTES];
    memcpy(counted, out->why, sizeof(counted));
    out->why[0] = out->why_logical[0] = '\0';
    say(out->why, "FILCH_WORKERS=%u; without it %u: %s", (unsigned)workers, out->cpu_bound,
        counted);
    say(out->why_logical, "FILCH_WORKERS=%u", (unsigned)workers);
    out->cpu_bound = out->logical = (unsigned)workers;
    out->source = FILCH_CPUS_BY_ENVIRONMENT;
}

void filchi_sizing_decide(const filchi_cpu_facts *facts, const filchi_wish *wish, filch_cpus *out)
{
    filch_cpus_source source;
    out->ignored[0] = '\0';
    const limit by = add_variables(wish, quota_limit(&facts->quota), out->ignored);
    copy_facts(facts, out);
    out->logical = bounded(facts, &by, true, out->why_logical, &source);
    out->cpu_bound = bounded(facts, &by, false, out->why, &out->source);
    apply_override(wish, out);
    decide_io(wish, out);
}

static filchi_wish wish_of(bool environment, const char *limit_names)
{
    filchi_wish wish = { NULL, limit_names, NULL, 0, 0, 0 };
    if (environment) {
        wish.workers = filchi_env_get("FILCH_WORKERS");
        wish.env = filchi_env_get;
    }
    return wish;
}

unsigned filchi_sizing_cap(bool environment, const char *limit_names)
{
    filchi_cpu_facts boundless;
    filch_cpus cpus;
    const filchi_wish wish = wish_of(environment, limit_names);
    memset(&boundless, 0, sizeof(boundless));
    boundless.allowed = FILCH_MAX_WORKERS;
    boundless.source = FILCHI_MASK_CALL;
    filchi_sizing_decide(&boundless, &wish, &cpus);
    return cpus.source == FILCH_CPUS_BY_ENVIRONMENT ? 0 : cpus.logical;
}

unsigned filchi_sizing_default(bool environment, bool logical, const char *limit_names,
                               unsigned *out_part)
{
    filchi_cpu_facts facts;
    filch_cpus cpus;
    const filchi_wish wish = wish_of(environment, limit_names);
    filchi_cpus_read(NULL, false, &facts);
    filchi_sizing_decide(&facts, &wish, &cpus);
    const unsigned size = logical ? cpus.logical : cpus.cpu_bound;
    *out_part = cpus.source == FILCH_CPUS_BY_ENVIRONMENT
                    ? 0
                    : filchi_sizing_part(size, cpus.quota_us, cpus.period_us);
    return size;
}
