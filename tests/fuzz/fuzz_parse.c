/* SPDX-License-Identifier: MIT */
/* Every parser of src/plat and of core/sizing.c over any bytes. The first byte chooses the parser,
 * as its number or as the letter in the table at the end; the rest is its text. Texts are copied
 * into blocks of their own size, so that a read past the end is seen. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "core/sizing.h"

static filchi_text whole(const char *text, size_t bytes)
{
    return (filchi_text){ text, bytes };
}

static void fuzz_list(const char *text, size_t bytes)
{
    filchi_cpu_set set;
    filchi_cpu_set again;
    char made[FILCHI_CPUS_MAX * 5];
    const bool good = filchi_cpu_set_parse(whole(text, bytes), &set);
    FUZZ_CHECK(good || filchi_cpu_set_count(&set) == 0);
    filchi_cpu_set_format(&set, made, sizeof(made));
    FUZZ_CHECK(filchi_cpu_set_parse(whole(made, strlen(made)), &again));
    FUZZ_CHECK(memcmp(&set, &again, sizeof(set)) == 0);
    unsigned count = 0;
    for (unsigned cpu = filchi_cpu_set_next(&set, 0); cpu < FILCHI_CPUS_MAX;
         cpu = filchi_cpu_set_next(&set, cpu + 1)) {
        FUZZ_CHECK(filchi_cpu_set_has(&set, cpu));
        count++;
    }
    FUZZ_CHECK(count == filchi_cpu_set_count(&set));
    char small[16];
    filchi_cpu_set_format(&set, small, sizeof(small));
    FUZZ_CHECK(strlen(small) < sizeof(small));
}

static void check_limit(filchi_limit limit, filchi_bandwidth b)
{
    FUZZ_CHECK(limit == FILCHI_LIMIT_UNKNOWN || limit == FILCHI_LIMIT_NONE ||
               limit == FILCHI_LIMIT_SET);
    if (limit == FILCHI_LIMIT_SET) {
        FUZZ_CHECK(b.quota_us > 0 && b.period_us > 0 && b.period_us <= 1000000);
        FUZZ_CHECK(b.quota_us / b.period_us < 1 << 20);
        FUZZ_CHECK(!filchi_bandwidth_tighter(b, b));
    }
}

static void fuzz_cpu_max(const char *text, size_t bytes)
{
    filchi_bandwidth b = { 0, 0 };
    check_limit(filchi_cgroup_cpu_max(whole(text, bytes), &b), b);
}

/* Quota and period with a ':' between. */
static void fuzz_cfs(const char *text, size_t bytes)
{
    filchi_bandwidth b = { 0, 0 };
    filchi_text period = whole(text, bytes);
    const filchi_text quota = filchi_text_until(&period, ':');
    check_limit(filchi_cgroup_cfs(quota, period, &b), b);
}

static bool inside(filchi_text part, const char *text, size_t bytes)
{
    return part.at >= text && part.at + part.bytes <= text + bytes;
}

static void fuzz_member(const char *text, size_t bytes)
{
    static const char *const names[] = { NULL, "cpu", "cpuset" };
    for (size_t i = 0; i < 3; i++) {
        filchi_text path;
        if (filchi_cgroup_member(whole(text, bytes), names[i], &path)) {
            FUZZ_CHECK(inside(path, text, bytes) && path.bytes != 0 && path.at[0] == '/');
        }
    }
}

static void fuzz_mount(const char *text, size_t bytes)
{
    static const char *const names[] = { NULL, "cpu", "cpuset" };
    for (size_t i = 0; i < 3; i++) {
        filchi_text root;
        filchi_text point;
        if (filchi_cgroup_mount(whole(text, bytes), names[i], &root, &point)) {
            char path[64];
            FUZZ_CHECK(inside(root, text, bytes) && root.at[0] == '/');
            FUZZ_CHECK(inside(point, text, bytes) && point.at[0] == '/');
            if (filchi_cgroup_unescape(point, path, sizeof(path))) {
                FUZZ_CHECK(path[0] == '/' && strlen(path) <= point.bytes);
            }
        }
    }
}

/* Root and path with a ':' between, as C strings. */
static void fuzz_below(const char *text, size_t bytes)
{
    char root[128];
    char path[128];
    filchi_text second = whole(text, bytes);
    const filchi_text first = filchi_text_until(&second, ':');
    if (!filchi_cgroup_unescape(first, root, sizeof(root)) ||
        !filchi_cgroup_unescape(second, path, sizeof(path))) {
        return;
    }
    const char *rest = filchi_cgroup_below(root, path);
    FUZZ_CHECK(rest == NULL || *rest == '\0' || *rest == '/');
    FUZZ_CHECK(rest == NULL || strlen(rest) <= strlen(path));
    FUZZ_CHECK(rest == NULL || (strstr(rest, "/../") == NULL && strcmp(rest, "/..") != 0));
}

static void fuzz_stat(const char *text, size_t bytes)
{
    filchi_throttling counts = { 1, 2, 3 };
    if (!filchi_cgroup_stat(whole(text, bytes), &counts)) {
        FUZZ_CHECK(counts.periods == 1 && counts.throttled == 2 && counts.throttled_us == 3);
    }
}

static const char *limit_value;

static const char *limit_env(const char *name)
{
    (void)name;
    return limit_value;
}

/* The same text as FILCH_WORKERS, as a value and as names of limits. */
static void fuzz_sizing(const char *text, size_t bytes)
{
    filchi_cpu_facts facts;
    filch_cpus cpus = FILCH_CPUS_INIT;
    char *value = malloc(bytes + 1);
    FUZZ_CHECK(value != NULL);
    memcpy(value, text, bytes);
    value[bytes] = '\0';
    limit_value = value;
    memset(&facts, 0, sizeof(facts));
    facts.allowed = 16;
    facts.source = FILCHI_MASK_CALL;
    const filchi_wish wishes[] = {
        { value, NULL, NULL, 0, 0, 0 },
        { NULL, "LIMIT", limit_env, bytes, 3, 7 },
        { value, value, limit_env, UINT64_MAX, bytes, FILCH_CPUS_IO_LIMIT },
    };
    for (size_t i = 0; i < 3; i++) {
        filchi_sizing_decide(&facts, &wishes[i], &cpus);
        FUZZ_CHECK(cpus.cpu_bound >= 1 && cpus.cpu_bound <= 4096);
        FUZZ_CHECK(cpus.logical >= 1 && cpus.logical <= 4096);
        FUZZ_CHECK(cpus.io_bound >= cpus.cpu_bound && cpus.io_bound <= 4096);
        FUZZ_CHECK(memchr(cpus.why, '\0', sizeof(cpus.why)) != NULL);
        FUZZ_CHECK(memchr(cpus.ignored, '\0', sizeof(cpus.ignored)) != NULL);
    }
    free(value);
}

static const struct {
    char letter;
    void (*fuzz)(const char *text, size_t bytes);
} parsers[] = {
    { 'l', fuzz_list },  { 'q', fuzz_cpu_max }, { 'c', fuzz_cfs },  { 'g', fuzz_member },
    { 'm', fuzz_mount }, { 'b', fuzz_below },   { 't', fuzz_stat }, { 's', fuzz_sizing },
};

enum { PARSERS = sizeof(parsers) / sizeof(parsers[0]) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t chosen = data[0] % PARSERS;
    for (size_t i = 0; i < PARSERS; i++) {
        if (data[0] == (uint8_t)parsers[i].letter) {
            chosen = i;
        }
    }
    char *text = malloc(size - 1 != 0 ? size - 1 : 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, data + 1, size - 1);
    parsers[chosen].fuzz(text, size - 1);
    free(text);
    return 0;
}
