/* SPDX-License-Identifier: MIT */
/* The texts of the status codes, and the version of the library. */
#include <filch/base.h>

const char *filch_strerror(filch_status status)
{
    switch (status) {
    case FILCH_OK:
        return "success";
    case FILCH_E_INVALID:
        return "an argument breaks the contract of the call";
    case FILCH_E_NOMEM:
        return "out of memory";
    case FILCH_E_THREAD:
        return "too few threads could be started";
    case FILCH_E_CLOSED:
        return "the pool is shutting down";
    case FILCH_E_FULL:
        return "the queue is full";
    case FILCH_E_TIMEOUT:
        return "the deadline passed";
    case FILCH_E_ON_WORKER:
        return "a worker of this pool cannot wait for its own pool";
    case FILCH_E_BUSY:
        return "it is in use by another thread, or by others that depend on it";
    case FILCH_E_CANCELLED:
        return "the task was cancelled before it started";
    case FILCH_E_FORKED:
        return "the pool belongs to the parent process; after fork() the child has none";
    case FILCH_E_SYSTEM:
        return "the system denies a call that a pool needs to wait (on Linux the futex)";
    case FILCH_E_ABI:
        return "the program was compiled with FILCH_INLINE for another version of the library";
    case FILCH_E_STOPPED:
        return "the stop token was stopped";
    case FILCH_E_DROPPED:
        return "the promise or the task of the future was dropped";
    case FILCH_E_SET:
        return "the future has ended already";
    }
    return "unknown status";
}

const char *filch_version(void)
{
    return FILCH_VERSION_STRING;
}
