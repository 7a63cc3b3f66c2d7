/* SPDX-License-Identifier: MIT */
/* Filters in front of the kernel: see seccomp.h. */
#include "support/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/child.h"

static bool install(struct sock_filter *filter, unsigned short length)
{
    const struct sock_fprog program = { length, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (count))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define FAIL(error) ANSWER(SECCOMP_RET_ERRNO | ((uint32_t)(error)&SECCOMP_RET_DATA))

bool test_deny(long number, int error)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        SKIP_UNLESS(number, 1),
        FAIL(error),
        ANSWER(SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof(filter) / sizeof(filter[0]));
}

/* The low half of the second argument, on little-endian machines. */
bool test_deny_futex(int operation, int error)
{
    struct sock_filter filter[] = {
        LOAD(nr),    SKIP_UNLESS(SYS_futex, 3), LOAD(args[1]), SKIP_UNLESS(operation, 1),
        FAIL(error), ANSWER(SECCOMP_RET_ALLOW),
    };
    return install(filter, sizeof(filter) / sizeof(filter[0]));
}

static void try_one(void *arg)
{
    (void)arg;
    TEST_CHILD_CHECK(test_deny(SYS_getppid, EPERM));
    TEST_CHILD_CHECK(syscall(SYS_getppid) == -1 && errno == EPERM);
}

bool test_deny_works(void)
{
    char text[256];
    return test_child_run(try_one, NULL, text, sizeof(text)) == 0;
}
