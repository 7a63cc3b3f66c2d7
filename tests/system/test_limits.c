/* SPDX-License-Identifier: MIT */
/* Limits of the machine and of the account: `test_limits <limit>` runs one of them, in a child,
 * since a limit cannot be taken back. Fewer threads give a smaller pool that says so, none give a
 * status; what is left works. Exit code 77 with a reason where the limit cannot be set here. */
#include "support/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child.h"
#include "support/proc.h"

enum { ASKED = 8, POSTS = 1000, CANNOT = 77, NOBODY = 65534 };

/* In the child: leave with CANNOT and the reason. */
static void cannot(const char *why)
{
    fprintf(stderr, "%s: %s\n", why, strerror(errno));
    _exit(CANNOT);
}

/* A life of a pool of `ASKED` workers in which errno is kept by each call; the workers it had, or a
 * status. */
static int life(unsigned flags, size_t queue_tasks)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_stats stats = FILCH_STATS_INIT;
    filch_shutdown_report report;
    atomic_uint runs = 0;
    uintptr_t value = 0;
    config.workers = ASKED;
    config.flags = flags;
    config.queue_tasks = queue_tasks;
    errno = 4711;
    const filch_status status = filch_pool_create(&config, &pool);
    TEST_CHILD_CHECK(errno == 4711);
    if (status != FILCH_OK) {
        TEST_CHILD_CHECK(pool == NULL);
        return status;
    }
    TEST_CHILD_CHECK(filch_stats_read(pool, &stats) == FILCH_OK);
    TEST_CHILD_CHECK(stats.workers >= 1 && stats.workers_asked == ASKED);
    TEST_CHILD_CHECK(stats.workers == filch_pool_workers(pool));
    for (unsigned i = 0; i < POSTS; i++) {
        TEST_CHILD_CHECK(filch_post(pool, test_count_task, &runs, 0, NULL) == FILCH_OK);
    }
    TEST_CHILD_CHECK(filch_run_word(pool, test_fork_tree, 12, &value) == FILCH_OK && value == 144);
    TEST_CHILD_CHECK(filch_for_on(pool, POSTS, test_count_range, &runs, NULL) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_wait_quiet(pool, FILCH_FOREVER) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report) == FILCH_OK);
    TEST_CHILD_CHECK(filch_post(pool, test_count_task, &runs, 0, NULL) == FILCH_E_CLOSED);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    TEST_CHILD_CHECK(atomic_load(&runs) == 2 * POSTS);
    TEST_CHILD_CHECK(errno == 4711);
    return (int)stats.workers;
}

/* Fewer threads than asked for: a smaller pool; a strict one gives a status. */
static void expect_smaller_pool(unsigned most)
{
    const int workers = life(0, 0);
    TEST_CHILD_CHECK(workers >= 1 && workers <= (int)most);
    TEST_CHILD_CHECK(life(FILCH_POOL_STRICT, 0) == FILCH_E_THREAD);
}

/* Processes and threads of one user; root is not bound by it. */
static void limit_nproc(void *arg)
{
    const rlim_t most[] = { 4, 1 };
    (void)arg;
    if (getuid() != 0) {
        errno = EPERM;
        cannot("only root can become another user");
    }
    for (int i = 0; i < 2; i++) {
        const struct rlimit limit = { most[i], most[0] };
        if (setrlimit(RLIMIT_NPROC, &limit) != 0) {
            cannot("RLIMIT_NPROC");
        }
        if (i == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            cannot("cannot become user 65534");
        }
        if (i == 0) {
            expect_smaller_pool(3);
        } else {
            TEST_CHILD_CHECK(life(0, 0) == FILCH_E_THREAD);
        }
    }
}

static void write_to(const char *folder, const char *name, const char *text)
{
    char path[300];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, strlen(text)) < 0) {
        cannot(path);
    }
    (void)close(file);
}

/* In a child of the child, so that the folder is empty when it is removed. */
static void inside_a_cgroup(void *arg)
{
    const char *folder = arg;
    write_to(folder, "pids.max", "4");
    write_to(folder, "cgroup.procs", "0");
    expect_smaller_pool(3);
    write_to(folder, "pids.max", "1");
    TEST_CHILD_CHECK(life(0, 0) == FILCH_E_THREAD);
}

static void limit_pids(void *arg)
{
    static const char *const roots[] = { "/sys/fs/cgroup/pids", "/sys/fs/cgroup" };
    char folder[200];
    bool made = false;
    (void)arg;
    for (size_t i = 0; i < TEST_CASES(roots) && !made; i++) {
        char file[300];
        (void)snprintf(folder, sizeof(folder), "%s/filch-test-%d", roots[i], (int)getpid());
        (void)snprintf(file, sizeof(file), "%s/pids.max", folder);
        made = mkdir(folder, 0755) == 0;
        if (made && access(file, W_OK) != 0) {
            (void)rmdir(folder);
            made = false;
        }
    }
    if (!made) {
        cannot("no cgroup with a pids controller");
    }
    const int status = test_child_run(inside_a_cgroup, folder, NULL, 0);
    const bool gone = rmdir(folder) == 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) {
        _exit(CANNOT);
    }
    TEST_CHILD_CHECK(status == 0);
    TEST_CHILD_CHECK(gone);
}

/* Address space: walk the limit up from almost nothing to plenty. */
static void small_address_space(void *arg)
{
    const rlim_t bytes = *(rlim_t *)arg;
    const struct rlimit limit = { bytes, bytes };
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        cannot("RLIMIT_AS");
    }
    const int outcome = life(0, 0);
    TEST_CHILD_CHECK(outcome >= 1 || outcome == FILCH_E_NOMEM || outcome == FILCH_E_THREAD);
    _exit(outcome >= ASKED ? 2 : outcome >= 1 ? 3 : 4);
}

static rlim_t address_space_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        cannot("/proc/self/statm");
    }
    (void)fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit_as(void *arg)
{
    unsigned seen[5] = { 0 };
    (void)arg;
    if (TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        errno = ENOTSUP;
        cannot("a sanitizer takes terabytes of address space");
    }
    for (rlim_t more = 0; more < 200; more += more < 2 ? 1 : 6) {
        rlim_t bytes = address_space_now() + (more << 20);
        const int status = test_child_run(small_address_space, &bytes, NULL, 0);
        TEST_CHILD_CHECK(WIFEXITED(status));
        const int code = WEXITSTATUS(status);
        TEST_CHILD_CHECK(code >= 2 && code <= 4);
        seen[code]++;
    }
    fprintf(stderr, "RLIMIT_AS: %u whole pools, %u smaller, %u refused\n", seen[2], seen[3],
            seen[4]);
    TEST_CHILD_CHECK(seen[2] != 0 && seen[3] != 0 && seen[4] != 0);
}

/* The stack limit of the process; libc reads it when a program starts: so run this one again. */
static void look_at_stack(filch_cx *cx, void *arg)
{
    pthread_attr_t attributes;
    void *low = NULL;
    (void)cx;
    TEST_CHILD_CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    TEST_CHILD_CHECK(pthread_attr_getstack(&attributes, &low, arg) == 0);
    (void)pthread_attr_destroy(&attributes);
}

static int check_stacks(void)
{
    static const size_t asked[] = { 0, FILCH_MIN_STACK_BYTES, 1234567 };
    for (size_t i = 0; i < TEST_CASES(asked); i++) {
        filch_pool *pool = NULL;
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        size_t bytes = 0;
        const size_t least = asked[i] != 0 ? asked[i] : (size_t)8 << 20;
        config.workers = 2;
        config.stack_bytes = asked[i];
        TEST_CHILD_CHECK(filch_pool_create(&config, &pool) == FILCH_OK);
        TEST_CHILD_CHECK(filch_run(pool, look_at_stack, &bytes) == FILCH_OK);
        TEST_CHILD_CHECK(bytes >= least && bytes <= 4 * least + (1 << 20));
        TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    }
    return life(0, 0) == ASKED ? 0 : 1;
}

static void run_again(void *arg)
{
    const rlim_t bytes = *(rlim_t *)arg;
    const struct rlimit limit = { bytes, RLIM_INFINITY };
    if (setrlimit(RLIMIT_STACK, &limit) != 0) {
        cannot("RLIMIT_STACK");
    }
    (void)execl("/proc/self/exe", "test_limits", "--check-stacks", (char *)NULL);
    cannot("exec of /proc/self/exe");
}

static void limit_stack(void *arg)
{
    static const rlim_t limits[] = { (rlim_t)256 << 10, 1234567, (rlim_t)1 << 40, RLIM_INFINITY };
    (void)arg;
    if (TEST_UNDER_ASAN || TEST_UNDER_TSAN) {
        errno = ENOTSUP;
        cannot("the sanitizer checks the limit of the stack itself");
    }
    for (size_t i = 0; i < TEST_CASES(limits); i++) {
        rlim_t bytes = limits[i];
        const int status = test_child_run(run_again, &bytes, NULL, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) {
            _exit(CANNOT);
        }
        TEST_CHILD_CHECK(status == 0);
    }
}

/* No file descriptor is left, 0 to 2 are closed: none is needed, none is touched. */
static void limit_fds(void *arg)
{
    const struct rlimit none = { 0, 0 };
    (void)arg;
    for (int fd = 0; fd < 1024; fd++) {
        (void)close(fd);
    }
    TEST_CHILD_CHECK(life(0, 0) == ASKED); /* with 0 to 2 free to be taken by somebody */
    TEST_CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    TEST_CHILD_CHECK(open("/", O_RDONLY) == -1 && errno == EMFILE);
    TEST_CHILD_CHECK(life(FILCH_POOL_STRICT, 2) == ASKED);
    for (int fd = 0; fd < 1024; fd++) {
        TEST_CHILD_CHECK(fcntl(fd, F_GETFD) == -1 && errno == EBADF);
    }
}

static void keep_to_one_cpu(void)
{
    cpu_set_t all;
    cpu_set_t one;
    int cpu = 0;
    TEST_CHILD_CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    while (!CPU_ISSET((size_t)cpu, &all)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    TEST_CHILD_CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
}

static void limit_cpus(void *arg)
{
    filch_pool *pool = NULL;
    (void)arg;
    keep_to_one_cpu();
    TEST_CHILD_CHECK(filch_cpus_allowed() == 1);
    TEST_CHILD_CHECK(filch_pool_create(NULL, &pool) == FILCH_OK);
    TEST_CHILD_CHECK(filch_pool_workers(pool) == 1);
    TEST_CHILD_CHECK(filch_pool_destroy(pool) == FILCH_OK);
    for (int i = 0; i < 20; i++) {
        TEST_CHILD_CHECK(life(0, 2) == ASKED);
    }
}

/* One CPU, and nobody gives it up but by sleeping or yielding: what spins for good hangs. */
static void limit_fifo(void *arg)
{
    const struct sched_param priority = { .sched_priority = 1 };
    (void)arg;
    keep_to_one_cpu();
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        cannot("SCHED_FIFO");
    }
    for (int i = 0; i < 20; i++) {
        TEST_CHILD_CHECK(life(0, i % 2 == 0 ? 2 : 0) == ASKED);
    }
}

static const struct {
    const char *name;
    test_child_fn *fn;
} limits[] = {
    { "nproc", limit_nproc }, { "pids", limit_pids }, { "as", limit_as },
    { "stack", limit_stack }, { "fds", limit_fds },   { "cpus", limit_cpus },
    { "fifo", limit_fifo },
};

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";
    if (strcmp(name, "--check-stacks") == 0) {
        return check_stacks();
    }
    test_begin(100);
    for (size_t i = 0; i < TEST_CASES(limits); i++) {
        if (strcmp(name, limits[i].name) == 0) {
            char text[1024];
            const int status = test_child_run(limits[i].fn, NULL, text, sizeof(text));
            const bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == CANNOT;
            fprintf(stderr, "%s: wait status 0x%x%s %s\n", name, (unsigned)status,
                    skipped ? ", skipped:" : "", text);
            return skipped ? CANNOT : status != 0;
        }
    }
    fprintf(stderr, "usage: test_limits nproc|pids|as|stack|fds|cpus|fifo\n");
    return 2;
}
