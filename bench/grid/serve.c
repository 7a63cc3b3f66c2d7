/* SPDX-License-Identifier: MIT */
/* The line protocol of README.md, for contestants in C and C++. */
#define _POSIX_C_SOURCE 200809L
#include "bench/grid/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINE_BYTES = 256, MOST_THREADS = 4096 };

static uint64_t now(clockid_t clock)
{
    struct timespec time = { 0, 0 };
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The wall clock is read outside of the CPU clock, on both sides. */
static void run_timed(const grid_way *way, grid_input *input)
{
    const uint64_t wall = now(CLOCK_MONOTONIC);
    const uint64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t returned = way->run(input);
    const uint64_t cpu_taken = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    const uint64_t wall_taken = now(CLOCK_MONOTONIC) - wall;
    printf("ok %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", wall_taken, cpu_taken,
           grid_checksum(input, returned));
}

/* `words`: what follows "run ". */
static void answer_run(const grid_contestant *contestant, grid_input *input, const char *words)
{
    const size_t length = strcspn(words, " ");
    const grid_workload workload = grid_find_workload(words, length);
    if (workload == GRID_WORKLOADS) {
        printf("none there is no such workload\n");
        return;
    }
    const grid_way *const way = &contestant->ways[workload];
    if (way->run == NULL) {
        printf("none %s\n", way->none != NULL ? way->none : "not written");
        return;
    }
    const char *const wrong =
        grid_prepare(input, workload, words + length + (words[length] == ' '));
    if (wrong != NULL) {
        printf("error %s\n", wrong);
        return;
    }
    const char *const none = way->ready != NULL ? way->ready(input) : NULL;
    if (none != NULL) {
        printf("none %s\n", none);
        return;
    }
    run_timed(way, input);
}

static void answer_lines(const grid_contestant *contestant)
{
    grid_input input = { .workload = GRID_FIB };
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "quit") == 0) {
            break;
        }
        if (strncmp(line, "run ", 4) == 0) {
            answer_run(contestant, &input, line + 4);
        } else {
            printf("error unknown command\n");
        }
        fflush(stdout);
    }
    grid_release(&input);
}

int grid_serve(const grid_contestant *contestant, int argc, char **argv)
{
    char *end = NULL;
    const long threads = argc == 2 ? strtol(argv[1], &end, 10) : 0;
    if (threads < 1 || threads > MOST_THREADS || *end != '\0') {
        fprintf(stderr, "usage: %s <threads>   then lines on stdin, see bench/grid/README.md\n",
                argc > 0 ? argv[0] : contestant->name);
        return 2;
    }
    if (contestant->start != NULL) {
        const char *const wrong = contestant->start(contestant, (unsigned)threads);
        if (wrong != NULL) {
            printf("error %s\n", wrong);
            return 1;
        }
    }
    printf("ready %s %s\n", contestant->name, contestant->version);
    fflush(stdout);
    answer_lines(contestant);
    if (contestant->stop != NULL) {
        contestant->stop();
    }
    return 0;
}
