/* SPDX-License-Identifier: MIT */
/* A second opinion: hwloc and nproc on this machine, whole and with fewer CPUs; and hwloc on the fake
 * trees that describe cores, which it reads through the masks that the kernel writes beside each list.
 * Where the answers differ for a good reason, a table says which and why, and is checked as well. */
#include "support/test.h"

#include <hwloc.h>

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <filch/filch.h>

#include "support/tree.h"

enum { PATH_BYTES = 512, LEAST_TREES = 25 };

/* What is compared. The workers of a pool are compared with the cores. */
typedef enum answer_key {
    ONLINE,
    CORES,
    THREADS,
    PACKAGES,
    CACHES,
    NODES,
    KINDS,
    STRONG,
    WORKERS,
    KEYS
} answer_key;

static const char *const key_names[KEYS] = { "online", "cores", "threads", "packages", "caches",
                                             "nodes",  "kinds", "strong",  "workers" };

typedef struct answers {
    unsigned of[KEYS];
} answers;

/* The trees on which the two differ, and why. NULL: any. A later hwloc may have come to agree. */
static const struct {
    const char *tree;
    answer_key key;
    unsigned ours;
    unsigned theirs;
    const char *why;
} differences[] = {
    { NULL, NODES, 0, 1, "hwloc takes a machine that describes no nodes for one node" },
    { "topo-bulldozer", CORES, 32, 64, "hwloc takes the halves of an AMD module for cores" },
    { "topo-bulldozer", THREADS, 2, 1, "as the kernel does, we take them for threads of one" },
    { "topo-bulldozer", WORKERS, 32, 64, "they share a floating-point unit" },
    { "topo-riscv-bad-siblings", CORES, 2, 1, "the kernel lists all CPUs as siblings; smt/active" },
    { "topo-riscv-bad-siblings", THREADS, 1, 2, "says that they are not, and hwloc does not" },
    { "topo-riscv-bad-siblings", WORKERS, 2, 1, "read it" },
    { "topo-some-hidden", ONLINE, 6, 4, "hwloc leaves out CPUs of which only the list of" },
    { "topo-some-hidden", CORES, 4, 2, "those that are on speaks; each is" },
    { "topo-some-hidden", WORKERS, 4, 2, "a core to us" },
    { "topo-list-of-others", ONLINE, 2, 1, "the same; and a list without the CPU it belongs to" },
    { "topo-list-of-others", WORKERS, 2, 0, "is not believed by either" },
    { "topo-alder-lake", KINDS, 2, 0, "hwloc 2.9 asks the processor for its kinds, which" },
    { "topo-alder-lake", STRONG, 12, 0, "a tree has not; the kernel lists them" },
    { "topo-quota-and-smt", WORKERS, 2, 8, "hwloc knows no quotas" },
};

/* ---- what hwloc says of the CPUs in `mask` ---- */

static hwloc_obj_t core_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
    return hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
}

static hwloc_obj_t package_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
    return hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);
}

static hwloc_obj_t cache_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
    hwloc_obj_t last = NULL;
    (void)topology;
    for (hwloc_obj_t at = pu->parent; at != NULL; at = at->parent) {
        last = hwloc_obj_type_is_cache(at->type) ? at : last;
    }
    return last;
}

/* Different groups that the CPUs lie in, and the most CPUs that one has, allowed or not. */
static unsigned groups(hwloc_topology_t topology, hwloc_const_bitmap_t mask,
                       hwloc_obj_t (*group_of)(hwloc_topology_t, hwloc_obj_t), unsigned *out_most)
{
    hwloc_bitmap_t left = hwloc_bitmap_dup(mask);
    unsigned count = 0;
    *out_most = 0;
    for (int cpu = hwloc_bitmap_first(left); cpu >= 0; cpu = hwloc_bitmap_next(left, cpu)) {
        hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu);
        hwloc_obj_t group = pu != NULL ? group_of(topology, pu) : NULL;
        if (group != NULL) {
            const unsigned members = (unsigned)hwloc_bitmap_weight(group->cpuset);
            *out_most = members > *out_most ? members : *out_most;
            hwloc_bitmap_andnot(left, left, group->cpuset);
            count++;
        }
    }
    hwloc_bitmap_free(left);
    return count;
}

static unsigned nodes(hwloc_topology_t topology, hwloc_const_bitmap_t mask)
{
    unsigned count = 0;
    for (hwloc_obj_t at = NULL;
         (at = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, at)) != NULL;) {
        count += hwloc_bitmap_intersects(at->cpuset, mask) != 0;
    }
    return count;
}

/* The kinds come in order of their efficiency, the strongest last. */
static void kinds(hwloc_topology_t topology, hwloc_const_bitmap_t mask, answers *out)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    const int all = hwloc_cpukinds_get_nr(topology, 0);
    for (int i = 0; i < all; i++) {
        assert_int_equal(hwloc_cpukinds_get_info(topology, (unsigned)i, cpus, NULL, NULL, NULL, 0),
                         0);
        hwloc_bitmap_and(cpus, cpus, mask);
        if (!hwloc_bitmap_iszero(cpus)) {
            out->of[KINDS]++;
            out->of[STRONG] = (unsigned)hwloc_bitmap_weight(cpus);
        }
    }
    hwloc_bitmap_free(cpus);
}

static answers theirs_of(hwloc_topology_t topology, hwloc_const_bitmap_t mask)
{
    answers theirs = { { 0 } };
    unsigned most;
    theirs.of[ONLINE] = (unsigned)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    theirs.of[CORES] = groups(topology, mask, core_of, &theirs.of[THREADS]);
    theirs.of[PACKAGES] = groups(topology, mask, package_of, &most);
    theirs.of[CACHES] = groups(topology, mask, cache_of, &most);
    theirs.of[NODES] = nodes(topology, mask);
    theirs.of[WORKERS] = theirs.of[CORES];
    kinds(topology, mask, &theirs);
    return theirs;
}

static answers ours_of(const filch_cpus *cpus)
{
    return (answers){ { cpus->online, cpus->cores, cpus->threads_per_core, cpus->packages,
                        cpus->caches, cpus->nodes, cpus->kinds, cpus->strong, cpus->cpu_bound } };
}

/* All that the kernel says of the machine, or of the tree below `root`. */
static hwloc_topology_t load(const char *root)
{
    hwloc_topology_t topology;
    if (root != NULL) {
        assert_int_equal(setenv("HWLOC_FSROOT", root, 1), 0);
        assert_int_equal(setenv("HWLOC_THISSYSTEM", "0", 1), 0);
    }
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(unsetenv("HWLOC_FSROOT"), 0);
    assert_int_equal(unsetenv("HWLOC_THISSYSTEM"), 0);
    return topology;
}

/* ---- trees ---- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static bool describes_cores(const test_tree *tree)
{
    for (size_t i = 0; i < tree->entry_count; i++) {
        if (tree->entries[i].kind == TEST_FILE &&
            strstr(tree->entries[i].path, "/topology/") != NULL) {
            return true;
        }
    }
    return false;
}

static hwloc_bitmap_t set_of(const char *list)
{
    char line[PATH_BYTES];
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    (void)snprintf(line, sizeof(line), "%s", list);
    line[strcspn(line, "\n")] = '\0';
    assert_int_equal(hwloc_bitmap_list_sscanf(set, line), 0);
    return set;
}

static void write_line(const char *folder, const char *path, const char *text)
{
    char whole[2 * PATH_BYTES];
    (void)snprintf(whole, sizeof(whole), "%s%s", folder, path);
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", text) > 0);
    assert_int_equal(fclose(file), 0);
}

/* "000000ff,00000000", as the kernel writes it. */
static void write_mask(const char *folder, const char *path, hwloc_const_bitmap_t set)
{
    char text[1024] = "";
    size_t used = 0;
    for (int word = hwloc_bitmap_last(set) / 32; word >= 0; word--) {
        const unsigned long pair = hwloc_bitmap_to_ith_ulong(set, (unsigned)word / 2);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%08lx", used ? "," : "",
                                 pair >> (word % 2 * 32) & 0xffffffffUL);
        assert_true(used < sizeof(text));
    }
    write_line(folder, path, text);
}

/* Of "/sys/devices/system/cpu/cpu12/topology/core_cpus_list" it is 12. */
static int cpu_of(const char *path)
{
    return atoi(path + strlen("/sys/devices/system/cpu/cpu"));
}

/* What goes with a list: the mask, and the number of the core or package, which is that of its first CPU.
 * The halves of an AMD module have numbers of their own, the next ones. */
static void write_mates(const char *folder, const test_entry *entry, bool modules)
{
    static const struct {
        const char *list;
        const char *mask;
        const char *number;
    } names[] = {
        { "core_cpus_list", "core_cpus", "core_id" },
        { "thread_siblings_list", "thread_siblings", "core_id" },
        { "package_cpus_list", "package_cpus", "physical_package_id" },
        { "core_siblings_list", "core_siblings", "physical_package_id" },
        { "shared_cpu_list", "shared_cpu_map", NULL },
        { "cpulist", "cpumap", NULL },
    };
    for (size_t i = 0; i < TEST_CASES(names); i++) {
        char path[PATH_BYTES];
        char number[16];
        if (!ends_with(entry->path, names[i].list)) {
            continue;
        }
        const int stem = (int)(strlen(entry->path) - strlen(names[i].list));
        hwloc_bitmap_t set = set_of(entry->bytes);
        (void)snprintf(path, sizeof(path), "%.*s%s", stem, entry->path, names[i].mask);
        write_mask(folder, path, set);
        if (names[i].number != NULL) {
            (void)snprintf(path, sizeof(path), "%.*s%s", stem, entry->path, names[i].number);
            (void)snprintf(number, sizeof(number), "%d",
                           modules && i < 2 ? cpu_of(entry->path) : hwloc_bitmap_first(set));
            write_line(folder, path, number);
        }
        hwloc_bitmap_free(set);
    }
}

/* The CPUs of the tree that are on, and that the process may use. */
static hwloc_bitmap_t mask_of(const test_tree *tree)
{
    static const char word[] = "Cpus_allowed_list:\t";
    const test_entry *online = test_tree_find(tree, "/sys/devices/system/cpu/online");
    const test_entry *status = test_tree_find(tree, "/proc/self/status");
    assert_non_null(online);
    hwloc_bitmap_t mask = set_of(online->bytes);
    const char *at = status != NULL ? strstr(status->bytes, word) : NULL;
    if (at != NULL) {
        hwloc_bitmap_t allowed = set_of(at + sizeof(word) - 1);
        hwloc_bitmap_and(mask, mask, allowed);
        hwloc_bitmap_free(allowed);
    }
    return mask;
}

/* The differences between the two that no row tells of, printed. */
static unsigned unknown(const char *name, answers ours, answers theirs)
{
    unsigned wrong = 0;
    for (answer_key key = ONLINE; key < KEYS; key++) {
        bool known = ours.of[key] == theirs.of[key];
        for (size_t i = 0; i < TEST_CASES(differences); i++) {
            known =
                known || (differences[i].key == key && differences[i].ours == ours.of[key] &&
                          differences[i].theirs == theirs.of[key] &&
                          (differences[i].tree == NULL || strcmp(differences[i].tree, name) == 0));
        }
        if (!known) {
            print_error("%s: %s is %u, hwloc says %u\n", name, key_names[key], ours.of[key],
                        theirs.of[key]);
            wrong++;
        }
    }
    return wrong;
}

/* The tree unpacked in `folder`, with the masks. */
static unsigned compare_tree(const char *name, const test_tree *tree, const char *folder)
{
    filch_cpus cpus = FILCH_CPUS_INIT;
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    assert_int_equal(mkdir(folder, 0755), 0);
    test_tree_unpack(tree, folder);
    for (size_t i = 0; i < tree->entry_count; i++) {
        if (tree->entries[i].kind == TEST_FILE) {
            write_mates(folder, &tree->entries[i], strcmp(name, "topo-bulldozer") == 0);
        }
    }
    options.root = folder;
    options.flags = FILCH_CPUS_NO_ENVIRONMENT;
    assert_int_equal(filch_cpus_read(&options, &cpus), FILCH_OK);
    hwloc_topology_t topology = load(folder);
    hwloc_bitmap_t mask = mask_of(tree);
    assert_int_equal(cpus.allowed, hwloc_bitmap_weight(mask));
    const unsigned wrong = unknown(name, ours_of(&cpus), theirs_of(topology, mask));
    hwloc_bitmap_free(mask);
    hwloc_topology_destroy(topology);
    test_tree_remove(folder);
    return wrong;
}

static void hwloc__trees_that_describe_cores__as_ours(void **state)
{
    char root[] = "/tmp/filch-hwloc-XXXXXX";
    char folder[sizeof(root) + 2];
    unsigned count = 0;
    unsigned wrong = 0;
    (void)state;
    DIR *trees = opendir(FILCH_TEST_DATA "/cpus");
    assert_non_null(trees);
    assert_non_null(mkdtemp(root));
    (void)snprintf(folder, sizeof(folder), "%s/t", root);
    for (struct dirent *entry = readdir(trees); entry != NULL; entry = readdir(trees)) {
        char path[PATH_BYTES];
        if (!ends_with(entry->d_name, ".tree")) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/cpus/%.255s", FILCH_TEST_DATA, entry->d_name);
        test_tree *tree = test_tree_load(path);
        if (describes_cores(tree)) {
            entry->d_name[strlen(entry->d_name) - 5] = '\0';
            wrong += compare_tree(entry->d_name, tree, folder);
            count++;
        }
        test_tree_free(tree);
    }
    (void)closedir(trees);
    test_tree_remove(root);
    print_message("%u trees\n", count);
    assert_true(count >= LEAST_TREES);
    assert_int_equal(wrong, 0);
}

/* ---- this machine ---- */

/* What the command nproc says under these settings of the environment. */
static unsigned nproc(const char *settings)
{
    char command[128];
    unsigned count = 0;
    (void)snprintf(command, sizeof(command), "env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT %s nproc",
                   settings);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%u", &count), 1);
    assert_int_equal(pclose(pipe), 0);
    return count;
}

static void compare_here(hwloc_topology_t topology, const char *name)
{
    filch_cpus cpus = FILCH_CPUS_INIT;
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    options.flags = FILCH_CPUS_NO_ENVIRONMENT;
    assert_int_equal(filch_cpus_read(&options, &cpus), FILCH_OK);
    assert_int_equal(hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_THREAD), 0);
    assert_int_equal(cpus.allowed, hwloc_bitmap_weight(mask));
    assert_int_equal(cpus.allowed, filch_cpus_allowed());
    answers theirs = theirs_of(topology, mask);
    if (cpus.quota_us == 0) {
        assert_int_equal(cpus.allowed, nproc("LC_ALL=C"));
    } else { /* hwloc knows no quotas, nor does nproc before coreutils 9.8 */
        print_message("under a quota nproc says %u\n", nproc("LC_ALL=C"));
        theirs.of[WORKERS] = cpus.cpu_bound;
    }
    print_message("%s: %u CPUs, %u cores, %u packages, %u caches, %u nodes\n", name, cpus.allowed,
                  cpus.cores, cpus.packages, cpus.caches, cpus.nodes);
    assert_int_equal(unknown(name, ours_of(&cpus), theirs), 0);
    hwloc_bitmap_free(mask);
}

/* With all its CPUs, with every second one, and with each alone. */
static void hwloc_and_nproc__this_machine__as_ours(void **state)
{
    hwloc_topology_t topology = load(NULL);
    cpu_set_t all;
    cpu_set_t some;
    bool second = false;
    (void)state;
    compare_here(topology, "this machine");
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&some);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
            compare_here(topology, "one CPU");
            if (!second) {
                CPU_SET(cpu, &some);
            }
            second = !second;
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof(some), &some), 0);
    compare_here(topology, "every second CPU");
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    hwloc_topology_destroy(topology);
}

/* OpenMP's variables change what nproc says; ours has its own. */
static void nproc__variables_of_openmp__not_ours(void **state)
{
    const unsigned allowed = filch_cpus_allowed();
    static const char *const settings[] = { "OMP_NUM_THREADS=1", "OMP_THREAD_LIMIT=1" };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(settings); i++) {
        filch_cpus cpus = FILCH_CPUS_INIT;
        char text[32];
        (void)snprintf(text, sizeof(text), "%s", settings[i]);
        char *value = strchr(text, '=');
        *value++ = '\0';
        assert_int_equal(setenv(text, value, 1), 0);
        assert_int_equal(filch_cpus_read(NULL, &cpus), FILCH_OK);
        assert_int_equal(unsetenv(text), 0);
        assert_int_equal(cpus.allowed, allowed);
        assert_int_equal(nproc(settings[i]), 1);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(hwloc__trees_that_describe_cores__as_ours),
        cmocka_unit_test(hwloc_and_nproc__this_machine__as_ours),
        cmocka_unit_test(nproc__variables_of_openmp__not_ours),
    };
    test_begin(120);
    /* what the kernel says, not what the processor does: a tree has none, and a virtual one lies */
    assert_int_equal(setenv("HWLOC_COMPONENTS", "-x86", 1), 0);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
