/* SPDX-License-Identifier: MIT */
/* A detached task as the queues carry it: by value, 128 bytes, a small payload included. What every
 * task has is on the first cache line, so that a task without a payload moves one line. */
#ifndef FILCHI_QUEUE_JOB_H
#define FILCHI_QUEUE_JOB_H

#include <filch/task.h>

#include <string.h>

#include "base/atomic.h"

/* Bits of a job's kind. */
#define FILCHI_JOB_POINTER 0u /* `arg` is the caller's own */
#define FILCHI_JOB_INLINE 1u  /* the argument is `data`, wherever the job lies now */
#define FILCHI_JOB_HEAP 2u    /* `arg` is a block of `heap_bytes` that is freed after the end */
#define FILCHI_JOB_MORE 4u    /* `more` stands at the end of the second line */

/* What few tasks have. */
typedef struct filchi_job_more {
    filch_token *stop;   /* or NULL */
    filch_group *group;  /* or NULL */
    uintptr_t next;      /* in its group */
    filch_time start_by; /* or 0 */
} filchi_job_more;

#define FILCHI_JOB_LESS_BYTES (FILCH_POST_INLINE_BYTES - sizeof(filchi_job_more))

typedef struct filchi_job {
    filch_fn *fn;
    filch_end_fn *end; /* or NULL */
    const char *label; /* or NULL */
    void *arg;
    size_t heap_bytes;
    uint32_t kind;
    uint64_t queued_ns;     /* when it was handed in, in pools that measure it */
    filchi_atomic_u64 turn; /* of the injector's cell that the job lies in */
    union {                 /* the second line */
        _Alignas(16) unsigned char data[FILCH_POST_INLINE_BYTES];
        struct {
            unsigned char less[FILCHI_JOB_LESS_BYTES];
            filchi_job_more more;
        };
    };
} filchi_job;

/* All but the turn. */
static inline void filchi_job_copy(filchi_job *to, const filchi_job *from)
{
    to->fn = from->fn;
    to->end = from->end;
    to->label = from->label;
    to->arg = from->arg;
    to->heap_bytes = from->heap_bytes;
    to->kind = from->kind;
    to->queued_ns = from->queued_ns;
    if ((from->kind & (FILCHI_JOB_INLINE | FILCHI_JOB_MORE)) != 0) {
        memcpy(to->data, from->data, sizeof(to->data));
    }
}

#endif
