/* SPDX-License-Identifier: MIT */
/* Reading /proc/self: see proc.h. */
#include "support/proc.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"

#define AWAIT_NS UINT64_C(20000000000)

static bool read_status(const char *tid, test_proc_thread *out)
{
    char path[64];
    char line[256];

    snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", tid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    memset(out, 0, sizeof(*out));
    out->tid = strtol(tid, NULL, 10);
    while (fgets(line, sizeof(line), file) != NULL) {
        unsigned long long switches = 0;
        if (sscanf(line, "Name:%*[ \t]%31[^\n]", out->name) == 1) {
            continue;
        }
        if (sscanf(line, "State:%*[ \t]%c", &out->state) == 1) {
            continue;
        }
        if (sscanf(line, "voluntary_ctxt_switches:%llu", &switches) == 1) {
            out->voluntary = switches;
        }
    }
    fclose(file);
    return true;
}

size_t test_proc_threads(test_proc_thread *out_threads, size_t max)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) {
        return 0;
    }
    struct dirent *entry;
    while ((entry = readdir(tasks)) != NULL) {
        test_proc_thread thread;
        if (entry->d_name[0] == '.') {
            continue;
        }
        if (max == 0) {
            count++;
        } else if (read_status(entry->d_name, &thread)) {
            if (count < max) {
                out_threads[count] = thread;
            }
            count++;
        }
    }
    closedir(tasks);
    return count;
}

bool test_proc_await_threads(size_t most)
{
    uint64_t end = test_now_ns() + AWAIT_NS;
    while (test_proc_threads(NULL, 0) > most) {
        if (test_now_ns() > end) {
            return false;
        }
        sched_yield();
    }
    return true;
}

size_t test_proc_rss(void)
{
    unsigned long whole = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) {
        return 0;
    }
    if (fscanf(file, "%lu %lu", &whole, &resident) != 2) {
        resident = 0;
    }
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}
