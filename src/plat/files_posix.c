/* SPDX-License-Identifier: MIT */
/* Files and variables of the system, without waiting for anything: a FIFO is opened and read
 * without blocking, a directory cannot be read, a file without end is left at a limit. */
#include "plat/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_BYTES = 2048, PATH_BYTES = 2048 };

static bool read_all(int file, size_t most, filchi_piece *piece, void *arg)
{
    char bytes[CHUNK_BYTES];
    size_t used = 0;
    for (;;) {
        const ssize_t got = read(file, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got == 0;
        }
        const size_t count = (size_t)got < most - used ? (size_t)got : most - used;
        piece(arg, bytes, count);
        used += count;
        if (count != (size_t)got) {
            return false;
        }
    }
}

bool filchi_files_stream(const filchi_files *files, const char *path, size_t most,
                         filchi_piece *piece, void *arg)
{
    const int saved = errno;
    char full[PATH_BYTES];
    bool done = false;
    const int length = snprintf(full, sizeof(full), "%s%s", files->root, path);
    if (length > 0 && (size_t)length < sizeof(full)) {
        const int file = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (file >= 0) {
            done = read_all(file, most, piece, arg);
            (void)close(file);
        }
    }
    errno = saved;
    return done;
}

const char *filchi_env_get(const char *name)
{
    return secure_getenv(name);
}

int64_t filchi_clock_thread_ns(void)
{
    const int saved = errno;
    struct timespec now;
    int64_t ns = -1;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0) {
        ns = (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    }
    errno = saved;
    return ns;
}
