/* SPDX-License-Identifier: MIT */
/* Processes and pipes of child.h. SIGPIPE must be ignored: the end of a child shows when it is
 * written to, too. */
#define _GNU_SOURCE

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filch/base.h>

enum { QUIT_S = 2 /* to end by itself */ };

static void close_pipes(child *c)
{
    if (c->to >= 0) {
        close(c->to);
    }
    close(c->from);
    c->pid = 0;
}

/* Wait until `fd` is readable; false at the deadline. The end of a pipe or of a process counts. */
static bool wait_readable(int fd, filch_time until)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    for (;;) {
        const filch_time left = until - filch_time_now();
        const int found = left > 0 ? poll(&poll_fd, 1, (int)(left / 1000000) + 1) : 0;
        if (found > 0) {
            return true;
        }
        if (left <= 0 || (found < 0 && errno != EINTR)) {
            return false;
        }
    }
}

/* Give it some time to end by itself. */
static void wait_ended(const child *c)
{
    const int fd = (int)syscall(SYS_pidfd_open, c->pid, 0); /* no wrapper before glibc 2.36 */
    if (fd >= 0) {
        wait_readable(fd, filch_time_after_ms(QUIT_S * 1000));
        close(fd);
    }
}

/* End it, and say why: `why`, or NULL for what its status tells. */
static void bury(child *c, const char *why)
{
    int status = 0;
    if (why == NULL) {
        wait_ended(c);
    }
    kill(-c->pid, SIGKILL);
    const bool known = waitpid(c->pid, &status, 0) == c->pid;
    if (why != NULL) {
        snprintf(c->why, sizeof c->why, "%s", why);
    } else if (known && WIFSIGNALED(status)) {
        snprintf(c->why, sizeof c->why, "crashed: %s", strsignal(WTERMSIG(status)));
    } else {
        snprintf(c->why, sizeof c->why, "ended by itself, exit code %d",
                 known ? WEXITSTATUS(status) : -1);
    }
    close_pipes(c);
}

static bool read_line(child *c, unsigned timeout_s)
{
    const filch_time until = filch_time_after_ms((uint64_t)timeout_s * 1000);
    char why[CHILD_WHY_BYTES];
    c->filled = 0;
    for (;;) {
        if (!wait_readable(c->from, until)) {
            snprintf(why, sizeof why, "no answer within %u s, killed", timeout_s);
            bury(c, why);
            return false;
        }
        const ssize_t got = read(c->from, c->line + c->filled, sizeof c->line - c->filled);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            bury(c, NULL);
            return false;
        }
        c->filled += (size_t)got;
        char *const end = memchr(c->line, '\n', c->filled);
        if (end != NULL && end + 1 == c->line + c->filled) {
            *end = '\0';
            return true;
        }
        if (end != NULL || c->filled == sizeof c->line) {
            bury(c, "answered with more than one line, killed");
            return false;
        }
    }
}

/* Stop it, and wait until it has stopped. */
static bool pause_child(child *c)
{
    int status = 0;
    kill(-c->pid, SIGSTOP);
    if (waitpid(c->pid, &status, WUNTRACED) != c->pid || WIFSTOPPED(status)) {
        return true;
    }
    snprintf(c->why, sizeof c->why, "ended after its answer");
    close_pipes(c);
    return false;
}

static void run_program(char *const *argv, int in, int out)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0) {
        execv(argv[0], argv);
    }
    fprintf(stderr, "filch bench: cannot run '%s': %s\n", argv[0], strerror(errno));
    _exit(127);
}

bool child_start(child *c, char *const *argv, unsigned timeout_s)
{
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0) {
        snprintf(c->why, sizeof c->why, "no pipe: %s", strerror(errno));
        return false;
    }
    if (pipe2(from, O_CLOEXEC) != 0) {
        snprintf(c->why, sizeof c->why, "no pipe: %s", strerror(errno));
        close(to[0]);
        close(to[1]);
        return false;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        run_program(argv, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    c->to = to[1];
    c->from = from[0];
    c->pid = pid > 0 ? pid : 0;
    if (pid < 0) {
        snprintf(c->why, sizeof c->why, "cannot start a process: %s", strerror(errno));
        close_pipes(c);
        return false;
    }
    setpgid(pid, pid); /* here too: whoever comes first */
    return read_line(c, timeout_s) && pause_child(c);
}

bool child_ask(child *c, const char *question, unsigned timeout_s)
{
    char line[CHILD_LINE_BYTES];
    const int length = snprintf(line, sizeof line, "%s\n", question);
    kill(-c->pid, SIGCONT);
    if (write(c->to, line, (size_t)length) != length) {
        bury(c, NULL);
        return false;
    }
    return read_line(c, timeout_s) && pause_child(c);
}

void child_end(child *c)
{
    if (c->pid == 0) {
        return;
    }
    kill(-c->pid, SIGCONT);
    const bool told = write(c->to, "quit\n", 5) == 5;
    close(c->to); /* the end of input says the same */
    c->to = -1;
    if (told) {
        wait_ended(c);
    }
    bury(c, "ended");
}
