/* SPDX-License-Identifier: MIT */
/* Futures: a value of any width that is set once, by somebody, some time later; or a status instead.
 *
 * A promise is the end that sets, a future the end that reads; both are handles of one object, which is
 * counted. A future ends once: with FILCH_OK and its value, or with another status. What ends it: its
 * promise, its task (filch_async, filch_future_then), or its inputs (filch_when_all, filch_when_any).
 *
 * Handles:  each call that gives out a future gives one reference; filch_future_release gives it back.
 *           The last one may go before the future has ended: what would end it goes on all the same.
 *           Calls that take a future need it alive only when they begin. A promise is used by its holder
 *           until filch_promise_drop; several threads may race to set it.
 * Data:     `bytes` bytes at `data` are copied, the task gets a pointer to the copy, aligned for any
 *           object; with 0 it gets `data` itself. `end` of the options is called once if the call has
 *           returned FILCH_OK, never else, after the last use of data and before the future ends.
 * Options:  filch_submit_options (task.h); group must be NULL. `stop` outlives the future's end; stopped
 *           before the task starts, the future ends with FILCH_E_CANCELLED; started later than `start_by`,
 *           with FILCH_E_TIMEOUT.
 * Ended by the pool: a task that the pool cancels ends its future with FILCH_E_CANCELLED, one it drops
 *           (FILCH_FULL_DROP_OLDEST) with FILCH_E_DROPPED.
 * Order:    writes before the value was set, and what the task did, are visible to who sees the end. */
#ifndef FILCH_FUTURE_H
#define FILCH_FUTURE_H

#include <filch/task.h>

FILCH_BEGIN_DECLS

typedef struct filch_future filch_future;
typedef struct filch_promise filch_promise;

/* A promise and its future, for a value of `bytes` bytes (0: only a status). A NULL allocator is libc's.
 * Threads: any.   Owns: the caller drops the one and releases the other.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM. */
FILCH_API filch_status filch_promise_create(size_t bytes, const filch_allocator *allocator,
                                            filch_promise **out_promise, filch_future **out_future);

/* End the future with a copy of the value; `bytes` is the width it was made with. Or end it with
 * `status`, any but FILCH_OK. Continuations are posted by this call, and never run in it.
 * Threads: any.
 * Fails:   FILCH_E_SET (it has ended), FILCH_E_INVALID (another width), FILCH_E_FORKED. */
FILCH_API filch_status filch_promise_set(filch_promise *promise, const void *value, size_t bytes);
FILCH_API filch_status filch_promise_fail(filch_promise *promise, filch_status status);

/* The last use of a promise. A future that has not ended ends with FILCH_E_DROPPED. NULL is FILCH_OK.
 * Threads: any; no other thread uses the promise now.
 * Fails:   FILCH_E_INVALID (dropped before; seen only while a future is held); debug builds abort. */
FILCH_API filch_status filch_promise_drop(filch_promise *promise);

/* One more reference, which is returned; one less. NULL is fine.  Threads: any. */
FILCH_API filch_future *filch_future_retain(filch_future *future);
FILCH_API void filch_future_release(filch_future *future);

/* Has it ended? One load. 0 for NULL.  Threads: any. */
FILCH_API int filch_future_ready(const filch_future *future);

/* Wait for the end. Returns the status of the future; with FILCH_OK its value is at `out_value` (NULL:
 * not asked for, `bytes` is then 0), whose `bytes` are its width. NULL `stop`: no token.
 * A worker meanwhile runs what the future waits for, isolated (fork.h), if that belongs to its pool and
 * has not started: the task of the future; of its input, if it is a continuation; of its inputs, as far
 * as 16 filch_when_... on top of one another and 1024 inputs. It runs nothing else, and sleeps when there
 * is no such task. So a task may wait for tasks it has begun, with one worker too.
 * Threads: any.            Blocks: until `until`; runs what it has begun to the end.
 * Fails:   the status of the future; FILCH_E_TIMEOUT, FILCH_E_STOPPED (filch_future_ready tells whether
 *          it was the future's); FILCH_E_INVALID (also another width), FILCH_E_NOMEM, FILCH_E_FORKED;
 *          FILCH_E_ON_WORKER: the future's own task runs on this thread. */
FILCH_API filch_status filch_future_wait(filch_future *future, filch_time until, filch_token *stop,
                                         void *out_value, size_t bytes);

/* The same without waiting, or running anything: FILCH_E_TIMEOUT, it has not ended.  Threads: any. */
FILCH_API filch_status filch_future_read(filch_future *future, void *out_value, size_t bytes);

/* A task whose result is a future. It writes `result` (as wide as asked for, zero at first), and
 * returns the status that the future ends with. */
typedef filch_status filch_async_fn(filch_cx *cx, void *data, void *result);

/* Post such a task, as by filch_submit.
 * Threads: any.            Blocks: a foreign thread, "When full" of task.h.
 * Fails:   "Queue errors" of task.h, FILCH_E_NOMEM; *out_future is untouched, nothing runs. */
FILCH_API filch_status filch_async(filch_pool *pool, filch_async_fn *fn, const void *data,
                                   size_t bytes, size_t result_bytes,
                                   const filch_submit_options *options, filch_future **out_future);

/* A continuation: gets how its input ended, and the input's value; NULL unless `status` is FILCH_OK, and
 * of an input without a width. */
typedef filch_status filch_then_fn(filch_cx *cx, void *data, filch_status status, const void *value,
                                   void *result);

/* When `future` has ended, run `fn` as a task of `pool`, whatever the status; its result is another
 * future. Continuations of one pool start first in first out. They have been allocated here, so they
 * have no bound, and `full`, `until` of the options do not count: who ends the input never waits, and
 * nothing is lost.
 * If the pool is shut down by then, the result ends with FILCH_E_CLOSED, `end` is called with
 * FILCH_CANCELLED, both on the thread that ended the input. Until its input has ended the pool is not
 * destroyed: filch_pool_destroy shuts it down and returns FILCH_E_BUSY; drop the promise, and call it
 * again.
 * Threads: any.            Owns: its own reference of `future`; the caller may release his.
 * Fails:   FILCH_E_INVALID, FILCH_E_NOMEM, FILCH_E_FORKED: nothing has happened. */
FILCH_API filch_status filch_future_then(filch_future *future, filch_pool *pool, filch_then_fn *fn,
                                         const void *data, size_t bytes, size_t result_bytes,
                                         const filch_submit_options *options,
                                         filch_future **out_future);

/* All: ends when every input has ended, with the status of the first that failed, in order of time; or
 * FILCH_OK. Any: ends as the first input that has ended does, whatever its status. They have no value of
 * their own; which input it was: filch_future_index. The same input may stand there twice. Any keeps its
 * memory until every input has ended.
 * Threads: any.            Owns: its own references of the inputs; the array is only read.
 * Fails:   FILCH_E_INVALID (NULL among the inputs; any of none), FILCH_E_NOMEM, FILCH_E_FORKED. */
FILCH_API filch_status filch_when_all(filch_future *const *futures, size_t count,
                                      const filch_allocator *allocator, filch_future **out_future);
FILCH_API filch_status filch_when_any(filch_future *const *futures, size_t count,
                                      const filch_allocator *allocator, filch_future **out_future);

/* Which input an `all` failed by, or an `any` ended by; of an `all` that did not fail: `count`.
 * Threads: any.   Fails: FILCH_E_TIMEOUT (it has not ended), FILCH_E_INVALID (it is neither). */
FILCH_API filch_status filch_future_index(const filch_future *future, size_t *out_index);

FILCH_END_DECLS

#endif
