/* SPDX-License-Identifier: MIT */
/* A detached task as the queues carry it: by value, 112 bytes, a small payload included. */
#ifndef FILCHI_QUEUE_JOB_H
#define FILCHI_QUEUE_JOB_H

#include <filch/task.h>

typedef enum filchi_job_data {
    FILCHI_JOB_POINTER, /* `arg` is the caller's own */
    FILCHI_JOB_INLINE,  /* the argument is `data`, wherever the job lies now */
    FILCHI_JOB_HEAP     /* `arg` is a block of `heap_bytes` that is freed after the end */
} filchi_job_data;

typedef struct filchi_job {
    filch_fn *fn;
    filch_end_fn *end; /* or NULL */
    const char *label; /* or NULL */
    void *arg;
    size_t heap_bytes;
    filchi_job_data kind;
    _Alignas(16) unsigned char data[FILCH_POST_INLINE_BYTES];
} filchi_job;

#endif
