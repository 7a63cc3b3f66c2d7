/* SPDX-License-Identifier: MIT */
/* The text of cgroup files and of the tables that lead to them. Pure; fuzzed by
 * tests/fuzz/fuzz_parse.c. */
#include "plat/cpus.h"

#include <string.h>

/* The kernel allows periods of 1 ms to 1 s. More CPUs than this are no limit worth the name; the
 * bound also keeps the products below from overflowing. */
enum { PERIOD_MOST_US = 1000000, CPUS_MOST = 1 << 20 };

static filchi_limit make_limit(uint64_t quota_us, uint64_t period_us, filchi_bandwidth *out_limit)
{
    if (quota_us == 0 || period_us == 0 || period_us > PERIOD_MOST_US) {
        return FILCHI_LIMIT_UNKNOWN;
    }
    if (quota_us / period_us >= CPUS_MOST) {
        return FILCHI_LIMIT_NONE;
    }
    out_limit->quota_us = quota_us;
    out_limit->period_us = period_us;
    return FILCHI_LIMIT_SET;
}

filchi_limit filchi_cgroup_cpu_max(filchi_text text, filchi_bandwidth *out_limit)
{
    uint64_t quota_us = 0;
    uint64_t period_us;
    const filchi_text quota = filchi_text_until(&text, ' ');
    const bool is_max = filchi_text_is(quota, "max");
    if ((!is_max && !filchi_text_number(quota, &quota_us)) ||
        !filchi_text_number(text, &period_us)) {
        return FILCHI_LIMIT_UNKNOWN;
    }
    return is_max ? FILCHI_LIMIT_NONE : make_limit(quota_us, period_us, out_limit);
}

filchi_limit filchi_cgroup_cfs(filchi_text quota, filchi_text period, filchi_bandwidth *out_limit)
{
    uint64_t quota_us;
    uint64_t period_us;
    if (quota.bytes != 0 && quota.at[0] == '-') {
        quota.at++;
        quota.bytes--;
        return filchi_text_number(quota, &quota_us) ? FILCHI_LIMIT_NONE : FILCHI_LIMIT_UNKNOWN;
    }
    if (!filchi_text_number(quota, &quota_us) || !filchi_text_number(period, &period_us)) {
        return FILCHI_LIMIT_UNKNOWN;
    }
    return make_limit(quota_us, period_us, out_limit);
}

bool filchi_bandwidth_tighter(filchi_bandwidth a, filchi_bandwidth b)
{
    return a.quota_us * b.period_us < b.quota_us * a.period_us;
}

/* Is `word` one of the entries of a list with commas? */
static bool lists(filchi_text list, const char *word)
{
    while (list.bytes != 0) {
        if (filchi_text_is(filchi_text_until(&list, ','), word)) {
            return true;
        }
    }
    return false;
}

bool filchi_cgroup_member(filchi_text line, const char *controller, filchi_text *out_path)
{
    uint64_t number;
    const filchi_text hierarchy = filchi_text_until(&line, ':');
    const filchi_text controllers = filchi_text_until(&line, ':');
    if (!filchi_text_number(hierarchy, &number) || line.bytes == 0 || line.at[0] != '/') {
        return false;
    }
    if (controller == NULL ? number != 0 || controllers.bytes != 0
                           : !lists(controllers, controller)) {
        return false;
    }
    *out_path = line;
    return true;
}

bool filchi_cgroup_mount(filchi_text line, const char *controller, filchi_text *out_root,
                         filchi_text *out_point)
{
    enum { ROOT = 3, POINT = 4, OPTIONAL = 6 };
    *out_root = *out_point = (filchi_text){ line.at, 0 };
    for (unsigned i = 0; line.bytes != 0; i++) {
        const filchi_text field = filchi_text_until(&line, ' ');
        if (i == ROOT) {
            *out_root = field;
        } else if (i == POINT) {
            *out_point = field;
        } else if (i >= OPTIONAL && filchi_text_is(field, "-")) {
            break;
        }
    }
    const filchi_text type = filchi_text_until(&line, ' ');
    (void)filchi_text_until(&line, ' '); /* the source, which may be anything */
    if (line.bytes == 0 || out_root->bytes == 0 || out_root->at[0] != '/' ||
        out_point->bytes == 0 || out_point->at[0] != '/') {
        return false;
    }
    return controller == NULL ? filchi_text_is(type, "cgroup2")
                              : filchi_text_is(type, "cgroup") && lists(line, controller);
}

/* Three octal digits of a byte other than 0; -1: they are none. */
static int octal_byte(const char *at)
{
    int value = 0;
    for (int i = 0; i < 3; i++) {
        if (at[i] < '0' || at[i] > '7') {
            return -1;
        }
        value = value * 8 + (at[i] - '0');
    }
    return value > 0 && value <= 255 ? value : -1;
}

bool filchi_cgroup_unescape(filchi_text text, char *out, size_t bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        char byte = text.at[i];
        if (byte == '\\') {
            const int value = text.bytes - i > 3 ? octal_byte(text.at + i + 1) : -1;
            if (value < 0) {
                return false;
            }
            byte = (char)value;
            i += 3;
        }
        if (byte == '\0' || used + 1 >= bytes) {
            return false;
        }
        out[used++] = byte;
    }
    out[used] = '\0';
    return used != 0;
}

static bool leaves(const char *path)
{
    for (const char *at = strstr(path, "/.."); at != NULL; at = strstr(at + 1, "/..")) {
        if (at[3] == '\0' || at[3] == '/') {
            return true;
        }
    }
    return false;
}

const char *filchi_cgroup_below(const char *root, const char *path)
{
    size_t length = strlen(root);
    if (length == 1) {
        length = 0; /* "/" is a prefix of all */
    }
    if (strncmp(root, path, length) != 0 || (path[length] != '/' && path[length] != '\0')) {
        return NULL;
    }
    const char *const rest = strcmp(path + length, "/") == 0 ? "" : path + length;
    return leaves(rest) ? NULL : rest;
}

bool filchi_cgroup_stat(filchi_text text, filchi_throttling *out_counts)
{
    filchi_throttling counts = { 0, 0, 0 };
    bool has_periods = false;
    while (text.bytes != 0) {
        uint64_t number;
        filchi_text line = filchi_text_until(&text, '\n');
        const filchi_text name = filchi_text_until(&line, ' ');
        if (!filchi_text_number(line, &number)) {
            continue;
        }
        if (filchi_text_is(name, "nr_periods")) {
            counts.periods = number;
            has_periods = true;
        } else if (filchi_text_is(name, "nr_throttled")) {
            counts.throttled = number;
        } else if (filchi_text_is(name, "throttled_usec")) {
            counts.throttled_us = number;
        } else if (filchi_text_is(name, "throttled_time")) {
            counts.throttled_us = number / 1000; /* version 1 counts nanoseconds */
        }
    }
    if (has_periods) {
        *out_counts = counts;
    }
    return has_periods;
}
