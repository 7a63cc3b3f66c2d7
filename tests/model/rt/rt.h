/* SPDX-License-Identifier: MIT */
/* The explorer's inside: what its files share. Each file owns one duty:
 *
 *   tsan.c    what the compiler calls          memory.c  atomics: histories and views
 *   sc.c      the order of seq_cst events      shadow.c  races, freed memory, dead frames
 *   heap.c    malloc and friends, memcpy       os.c      futex, mutex, condition variable
 *   fiber.c   contexts, one execution          sched.c   who runs next, waiting
 *   choose.c  random, PCT, exhaustive, replay  visited.c states the search has been in
 *   explore.c executions, shrinking            trace.c   names, the readable trace
 *   client.c  what clients call                main.c    command line, default run
 *
 * All of it is a shared library: what is --wrap'ed in a client (malloc, memcpy, syscall, pthread_*)
 * is not wrapped in here, and the client's globals can be put back without touching ours. */
#ifndef MODEL_RT_H
#define MODEL_RT_H

#include "model.h"

enum {
    RT_THREADS = 8,
    RT_LOCS = 2048,    /* atomic words in one execution */
    RT_STORES = 32768, /* atomic stores in one execution */
    RT_STEPS = 20000,  /* visible steps; more is reported as "no end" */
    RT_GHOSTS = 64,
    RT_STACK = 1 << 18, /* bytes a thread */
    RT_HEAP = 1 << 22,  /* bytes an execution may allocate */
};

/* What a thread knows: which events happen before its next one, and for each location the oldest
 * place in the modification order that it may still read. `floor` is 0 from `locs` on. */
typedef struct rt_view {
    uint32_t clock[RT_THREADS];
    uint32_t locs;
    uint16_t floor[];
} rt_view;

typedef enum rt_state {
    RT_UNUSED,
    RT_RUNNABLE,
    RT_WAITS_MUTEX,
    RT_WAITS_FUTEX,
    RT_WAITS_CONDITION,
    RT_WAITS_THREAD,
    RT_DONE
} rt_state;

typedef struct rt_thread {
    unsigned id;
    rt_state state;
    const void *object; /* what it waits for */
    int64_t deadline;   /* INT64_MAX: none */
    bool timed_out;     /* why it no longer waits */
    const void *pc;     /* of its last visible step */
    model_thread *body;
    void *arg;
    void *local;         /* the platform room's thread-local pointer */
    rt_view *cur;        /* what it knows */
    rt_view *extra;      /* what an acquire fence would add: messages read by relaxed loads */
    const rt_view *rel;  /* what it knew at its last release fence; NULL: none */
    unsigned same_reads; /* loads that told it nothing new, in a row */
    bool resting;        /* has yielded: others first */
    unsigned ran_until;  /* number of the step, for fairness */
    uint64_t history;    /* hash of all it has done and read */
} rt_thread;

/* State that many files read. */
typedef struct rt_shared {
    rt_thread *self;
    rt_thread thread[RT_THREADS];
    unsigned threads; /* started so far, ended ones included */
    unsigned live;    /* not ended */
    uint32_t round;   /* number of the execution; stamps what is reset lazily */
    bool tracing;
    bool no_merging; /* exhaustive search visits equal states again */
    bool verbose;    /* traces show plain accesses too */
    int64_t clock_ns;
    uint64_t ghost[RT_GHOSTS];
    const model_client *client;
    uint64_t outcomes; /* of all executions since the last reset by main.c */
} rt_shared;

extern rt_shared *rt;

/* Zeroed memory, not yet touched. */
void *rt_map(size_t bytes);

/* fiber.c */
void rt_fiber_init(void);
void rt_fiber_prepare(unsigned id);  /* its next activation starts the thread's body */
void rt_fiber_switch(unsigned to);   /* from the current thread */
_Noreturn void rt_fiber_leave(void); /* back to the explorer; the execution is over */
void rt_fiber_run(void);             /* from the explorer: thread 0; returns when it is over */
void rt_fiber_stacks(uintptr_t *out_low, uintptr_t *out_high);

/* sched.c */
void rt_sched_init(void);
void rt_sched_reset(void);
void rt_point(const void *pc, bool is_load); /* before each visible step */
unsigned rt_sched_spawn(model_thread *body, void *arg);
void rt_sched_join(unsigned id);
void rt_sched_join_all(void);
_Noreturn void rt_sched_thread_ended(void);
void rt_sched_yield(void);
/* Wait for `object`; false: the deadline passed. */
bool rt_sched_wait(rt_state how, const void *object, int64_t deadline_ns);
/* Make up to `limit` of those who wait so runnable; returns how many. */
unsigned rt_sched_wake(rt_state how, const void *object, unsigned limit);
unsigned rt_sched_steps(void);

/* choose.c */
typedef enum rt_mode { RT_RANDOM, RT_PCT, RT_EXHAUSTIVE, RT_REPLAY } rt_mode;
typedef struct rt_choice {
    char kind; /* 't'hread, 'r'ead, 'f'ault, 'c'lient */
    uint8_t value;
    uint8_t usual; /* the value of an undisturbed run */
} rt_choice;
void rt_choose_init(void);
void rt_choose_mode(rt_mode mode, uint64_t seed, unsigned bound);
void rt_choose_begin(void); /* an execution */
bool rt_choose_next(void);  /* exhaustive: is there another execution? */
void rt_choose_replay(const rt_choice *choices, size_t count);
size_t rt_choose_log(const rt_choice **out_choices); /* of the last execution */
/* ids[0] is the usual one. `costs`: taking another is a pre-emption of the running thread. */
unsigned rt_choose_thread(const uint8_t *ids, unsigned n, bool costs);
void rt_choose_forced(unsigned id);   /* fairness: this thread goes on, without a choice */
unsigned rt_choose_age(unsigned n);   /* 0: the newest store */
unsigned rt_choose_fault(unsigned n); /* 0: all goes well */
unsigned rt_choose_client(unsigned n);
unsigned rt_choose_deepest(void); /* pre-emptions of the present execution */

/* visited.c */
void rt_visited_init(void);
void rt_visited_clear(void); /* a new search */
void rt_visited_reset(void); /* a new execution */
uint64_t rt_mix(uint64_t a, uint64_t b);
/* The current thread does something; `from` is the event it depends on. Returns the event. */
uint64_t rt_history_add(uint64_t what, uint64_t from);
void rt_history_of_word(uint64_t *order, uint64_t event); /* a store to a word */
uint64_t rt_history_of_all(void);
/* Has the search been in this state with at least this many pre-emptions left? */
bool rt_visited_before(unsigned budget, unsigned extra);

/* memory.c */
void rt_memory_init(void);
void rt_memory_reset(void);
rt_view *rt_view_make(void);
void rt_view_join(rt_view *to, const rt_view *from);
void rt_view_copy(rt_view *to, const rt_view *from);
const rt_view *rt_view_message(const rt_thread *t); /* a copy of what t knows */
uint64_t rt_load(const void *addr, unsigned size, int order, const void *pc);
void rt_store(void *addr, unsigned size, uint64_t value, int order, const void *pc);
typedef uint64_t rt_operation(uint64_t old, uint64_t operand);
uint64_t rt_rmw(void *addr, unsigned size, rt_operation *op, uint64_t operand, int order,
                const void *pc);
bool rt_cas(void *addr, unsigned size, uint64_t *expected, uint64_t desired, int success,
            int failure, const void *pc);
void rt_fence(int order, const void *pc);
/* A use of an object of the system, such as a mutex: for what freed or reused memory means. */
void rt_touch(const void *addr, const void *pc);
void rt_full_fence(rt_thread *t); /* what membarrier does to a thread */
/* The newest value, as the kernel sees it. */
uint64_t rt_peek(const void *addr, unsigned size);
/* A plain access by a thread at `clock`, or the end of the word, against the atomic ones. */
typedef struct rt_clash {
    unsigned thread;
    bool write;
    const void *pc;
} rt_clash;
bool rt_loc_clashes(unsigned loc, bool write, rt_clash *out_clash);
/* An event of the current thread is over; `loc` 0: no location (locks, threads, fences). */
void rt_event_done(unsigned loc);

/* sc.c */
typedef enum rt_sc_kind { RT_SC_READ = 1, RT_SC_WRITE = 2, RT_SC_FENCE = 4 } rt_sc_kind;
void rt_sc_init(void);
void rt_sc_reset(void);
int rt_sc_enter(unsigned kinds, unsigned loc); /* -1: no room, then everything is in order */
uint16_t rt_sc_floor(int event, unsigned loc);
void rt_sc_has_read(int event, unsigned loc, uint16_t place);
void rt_sc_has_written(int event, uint16_t place);
void rt_sc_event_done(unsigned loc); /* of the current thread, before its clock moves */

/* shadow.c */
typedef struct rt_access {
    const void *pc;
    uint32_t clock;
    uint8_t thread;
    uint8_t mask;
    bool write;
} rt_access;
enum { RT_CELL_ACCESSES = 8 };
typedef struct rt_cell {
    uint32_t round;
    uint16_t loc[2]; /* atomic words in the lower and the upper half; 0: none */
    uint8_t count;
    bool dead;   /* freed, or in a frame that has returned */
    bool listed; /* another thread has touched this cell of a stack */
    const void *dead_pc;
    rt_access access[RT_CELL_ACCESSES];
} rt_cell;
void rt_shadow_init(void);
void rt_shadow_reset(void);
rt_cell *rt_shadow_cell(const void *addr, const void *pc); /* NULL: memory nobody watches */
void rt_shadow_plain(const void *addr, size_t bytes, bool write, const void *pc);
void rt_shadow_atomic(const void *addr, unsigned size, bool write, const void *pc);
void rt_shadow_die(const void *addr, size_t bytes, const void *pc);
void rt_shadow_frame_in(const void *low);
void rt_shadow_frame_out(const void *pc);

/* heap.c */
void rt_heap_init(void);
void rt_heap_reset(void);
void rt_heap_bounds(uintptr_t *out_low, uintptr_t *out_high);
typedef struct rt_block {
    uintptr_t start;
    size_t bytes;
    const void *freed_pc; /* NULL: alive */
    const void *made_pc;
    unsigned thread; /* who allocated it, and when; 0: before there were others */
    uint32_t clock;
} rt_block;
const rt_block *rt_heap_block(const void *addr, unsigned *out_number); /* NULL: none there */

/* os.c */
void rt_os_init(void);
void rt_os_reset(void);
bool rt_mutex_init(void *mutex, const void *pc);
void rt_mutex_lock(void *mutex, const void *pc);
bool rt_mutex_try(void *mutex, const void *pc);
void rt_mutex_unlock(void *mutex, const void *pc);
void rt_mutex_destroy(void *mutex, const void *pc);

/* trace.c */
void rt_trace_init(void);
void rt_trace_reset(void);
void rt_trace(const void *pc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rt_trace_print(void);
const char *rt_trace_where(const void *addr); /* name of memory; good until the second next call */
const char *rt_trace_order(int order);
void rt_trace_line(const void *pc, char *out_text, size_t bytes); /* function, file:line */

/* explore.c */
typedef struct rt_globals { /* of the client */
    uintptr_t low;
    uintptr_t high;
} rt_globals;
rt_globals rt_explore_globals(void);
typedef struct rt_result {
    uint64_t executions;
    double seconds;
    bool failed;
    bool complete;
    size_t deepest_steps;
} rt_result;
void rt_explore_init(void);
bool rt_explore_once(void);            /* false: it failed */
_Noreturn void rt_explore_prune(void); /* the rest of this execution has been seen already */
rt_result rt_explore(rt_mode mode, uint64_t seed, unsigned bound, uint64_t executions,
                     double seconds);
const char *rt_explore_failure(void);
const void *rt_explore_failure_pc(void);
void rt_explore_report(void);             /* shrink the last failure, print string and trace */
bool rt_explore_replay(const char *text); /* false: it failed */

#endif
