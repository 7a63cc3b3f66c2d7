/* SPDX-License-Identifier: MIT */
/* What a client of the schedule explorer sees. A client is a small program with two or three
 * threads that uses the library's own files; the explorer runs it thousands of times, each time
 * with other switches between threads and other answers to the question which store a load reads.
 * README.md says how it works and what it cannot see.
 *
 * A client file defines `model_clients`; its body runs as thread 0 of every execution. All state
 * must be made new by the body, or be global: globals are reset between executions. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct model_client {
    const char *name;
    void (*body)(void);
    const char *fails;        /* self-tests: words the report of the expected failure contains */
    uint64_t outcomes;        /* litmus: exactly these bits must be seen by model_outcome() */
    unsigned preemptions;     /* of the default run's exhaustive part; 0 means 2 */
    double seconds;           /* of the default run; 0 means 1.5 */
    bool allocation_may_fail; /* each malloc may return NULL, as a choice */
    bool thread_may_fail;     /* so may filchi_thread_start */
    bool no_spurious_wakes;   /* futex and condition variable wake for a reason only */
    bool no_early_timeouts;   /* a deadline passes only when nobody else can run */
} model_client;

/* Ends with an entry whose name is NULL. */
extern const model_client model_clients[];

typedef void model_thread(void *arg);

/* Start a thread; returns its number. Wait for its end; what it did is then visible. */
unsigned model_spawn(model_thread *body, void *arg);
void model_join(unsigned thread);
void model_join_all(void); /* all that were spawned so far */

/* Let others run: the thread is not chosen again before another one has made a step. */
void model_yield(void);

/* Any number below n; all are tried. */
unsigned model_choose(unsigned n);

/* Number `n` of 64 counters that are no memory of the program: 0 at the start of each execution,
 * seen at once by all threads. For a client's own books. Adds, and returns the sum. */
uint64_t model_ghost(unsigned n, uint64_t add);

/* A litmus test ends with bit n (below 64). */
void model_outcome(unsigned n);

/* Name memory in traces: `name`+offset. The text must stay. */
void model_name(const void *base, size_t bytes, const char *name);

/* The full fence that membarrier sends to every thread, reaching them one by one. */
void model_membarrier(void);

/* Give up this execution with a report. */
_Noreturn void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For a function whose frame must be its own, so that its end is seen. */
#define MODEL_FRAME __attribute__((noinline, unused)) /* unused: in a header */

#define MODEL_TEXT2(x) #x
#define MODEL_TEXT(x) MODEL_TEXT2(x)
#define MODEL_ASSERT(condition)                                                                    \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : model_fail("assertion failed: %s", __FILE__ ":" MODEL_TEXT(__LINE__) ": " #condition))

#endif
