/* SPDX-License-Identifier: MIT */
/* Reading what a process may use: fake trees with their expected answers, in memory and on disk;
 * what a reading costs; that nothing is kept open and errno is kept. `test_cpus --unpack <tree>
 * <folder>` makes a tree for `filch cpus --root`. */
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filch/filch.h>

#include "core/sizing.h"
#include "support/tree.h"
#include "support/tree_files.h"

/* Some thousand files make a slow folder; what is large is sysfs, and in memory. */
enum { MOST_UNPACKED = 300 };

enum { MOST_TREES = 400, NAME_BYTES = 64, PATH_BYTES = 512, VALUE_BYTES = 512 };

static const char data[] = FILCH_TEST_DATA "/cpus";

static char names[MOST_TREES][NAME_BYTES];
static size_t name_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void list_trees(void)
{
    DIR *folder = opendir(data);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".tree") == 0) {
            assert_true(name_count < MOST_TREES && strlen(entry->d_name) < sizeof(names[0]));
            (void)snprintf(names[name_count++], sizeof(names[0]), "%.63s", entry->d_name);
        }
    }
    (void)closedir(folder);
    qsort(names, name_count, sizeof(names[0]), by_name);
}

static test_tree *load(const char *name)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%.63s", data, name);
    return test_tree_load(path);
}

static void decide(const filchi_cpu_facts *facts, filch_cpus *out)
{
    const filchi_wish wish = { NULL, NULL, NULL, 0, 0, 0 };
    *out = (filch_cpus)FILCH_CPUS_INIT;
    filchi_sizing_decide(facts, &wish, out);
}

/* What was found under `key`, as the trees write it. */
static void found_value(const filch_cpus *cpus, const char *key, char out[VALUE_BYTES])
{
    static const char *const sources[] = { "default", "affinity", "cores", "quota" };
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        { "cpu", cpus->cpu_bound },     { "logical", cpus->logical },
        { "online", cpus->online },     { "allowed", cpus->allowed },
        { "cpuset", cpus->cpuset },     { "cores", cpus->cores },
        { "packages", cpus->packages }, { "threads", cpus->threads_per_core },
        { "caches", cpus->caches },     { "nodes", cpus->nodes },
        { "kinds", cpus->kinds },       { "strong", cpus->strong },
        { "weight", cpus->weight },     { "throttled", cpus->throttled },
        { "cgroup", cpus->cgroup },
    };
    (void)snprintf(out, VALUE_BYTES, "no such key");
    for (size_t i = 0; i < TEST_CASES(numbers); i++) {
        if (strcmp(key, numbers[i].key) == 0) {
            (void)snprintf(out, VALUE_BYTES, "%" PRIu64, numbers[i].value);
        }
    }
    if (strcmp(key, "reason") == 0) {
        (void)snprintf(out, VALUE_BYTES, "%s",
                       cpus->source < TEST_CASES(sources) ? sources[cpus->source] : "other");
    } else if (strcmp(key, "from") == 0) {
        (void)snprintf(out, VALUE_BYTES, "%s", cpus->quota_file);
    } else if (strcmp(key, "quota") == 0 && cpus->quota_us == 0) {
        (void)snprintf(out, VALUE_BYTES, "none");
    } else if (strcmp(key, "quota") == 0) {
        (void)snprintf(out, VALUE_BYTES, "%" PRIu64 "/%" PRIu64, cpus->quota_us, cpus->period_us);
    }
}

/* Differences between a tree and its expected values, printed. */
static unsigned differences(const char *name, const test_tree *tree, const filch_cpus *cpus)
{
    unsigned wrong = 0;
    bool has_size = false;
    for (size_t i = 0; i < tree->expect_count; i++) {
        char found[VALUE_BYTES];
        const test_expect *expect = &tree->expects[i];
        found_value(cpus, expect->key, found);
        has_size = has_size || strcmp(expect->key, "cpu") == 0;
        if (strcmp(found, expect->value) != 0) {
            print_error("%s: %s is %s, expected %s (%s)\n", name, expect->key, found, expect->value,
                        cpus->why);
            wrong++;
        }
    }
    if (!has_size || tree->bad_line != 0) {
        print_error("%s: no expected size, or line %zu makes no sense\n", name, tree->bad_line);
        wrong++;
    }
    return wrong;
}

static void tree__in_memory__as_expected(void **state)
{
    unsigned wrong = 0;
    unsigned cited = 0;
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        filchi_cpu_facts facts;
        filch_cpus cpus;
        test_tree *tree = load(names[i]);
        test_tree_reads reads = { tree, 0, 0 };
        const filchi_files files = { test_tree_stream, NULL, &reads };
        filchi_cpus_read(&files, true, &facts);
        decide(&facts, &cpus);
        wrong += differences(names[i], tree, &cpus);
        cited += tree->has_source;
        assert_true(cpus.cpu_bound >= 1 && cpus.logical >= 1 && cpus.io_bound >= cpus.cpu_bound);
        assert_true(cpus.why[0] != '\0' && cpus.why_logical[0] != '\0' && cpus.why_io[0] != '\0');
        test_tree_free(tree);
    }
    print_message("%zu trees, %u of public dumps\n", name_count, cited);
    assert_true(name_count >= 60 && cited >= 25);
    assert_int_equal(wrong, 0);
}

/* A pool reads less; it must come to the same size. */
static void tree__read_in_short__the_same_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        filchi_cpu_facts facts;
        filch_cpus full;
        filch_cpus brief;
        test_tree *tree = load(names[i]);
        test_tree_reads reads = { tree, 0, 0 };
        const filchi_files files = { test_tree_stream, NULL, &reads };
        filchi_cpus_read(&files, true, &facts);
        decide(&facts, &full);
        filchi_cpus_read(&files, false, &facts);
        decide(&facts, &brief);
        assert_int_equal(brief.cpu_bound, full.cpu_bound);
        assert_int_equal(brief.logical, full.logical);
        assert_string_equal(brief.why, full.why);
        test_tree_free(tree);
    }
}

/* Alone it says what the full reading says, and reads little. */
static void tree__throttling_alone__as_in_full(void **state)
{
    unsigned known = 0;
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        filchi_cpu_facts facts;
        filchi_throttling counts = { 47, 47, 47 };
        test_tree *tree = load(names[i]);
        test_tree_reads reads = { tree, 0, 0 };
        const filchi_files files = { test_tree_stream, NULL, &reads };
        filchi_cpus_read(&files, true, &facts);
        const bool expected =
            facts.quota.limit == FILCHI_LIMIT_SET && facts.quota.throttling.periods != 0;
        reads = (test_tree_reads){ tree, 0, 0 };
        if (filchi_cpus_throttling(&files, &counts)) {
            assert_int_equal(facts.quota.limit, FILCHI_LIMIT_SET);
            assert_memory_equal(&counts, &facts.quota.throttling, sizeof(counts));
            known++;
        } else {
            assert_false(expected);
            assert_true(counts.periods == 47 && counts.throttled == 47);
        }
        assert_true(reads.opened <= 20);
        test_tree_free(tree);
    }
    assert_true(known >= 2);
}

static unsigned open_files(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

static void tree__unpacked__as_in_memory_and_nothing_kept_open(void **state)
{
    char root[] = "/tmp/filch-cpus-XXXXXX";
    unsigned wrong = 0;
    (void)state;
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < name_count; i++) {
        char folder[PATH_BYTES];
        filch_cpus cpus = FILCH_CPUS_INIT;
        filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
        test_tree *tree = load(names[i]);
        if (tree->entry_count > MOST_UNPACKED) {
            test_tree_free(tree);
            continue;
        }
        (void)snprintf(folder, sizeof(folder), "%s/%zu", root, i);
        assert_int_equal(mkdir(folder, 0755), 0);
        test_tree_unpack(tree, folder);
        options.root = folder;
        options.flags = FILCH_CPUS_NO_ENVIRONMENT;
        const unsigned before = open_files();
        errno = 4711;
        assert_int_equal(filch_cpus_read(&options, &cpus), FILCH_OK);
        assert_int_equal(errno, 4711);
        assert_int_equal(open_files(), before);
        wrong += differences(names[i], tree, &cpus);
        test_tree_free(tree);
    }
    test_tree_remove(root);
    assert_int_equal(wrong, 0);
}

/* Each file costs four system calls. 1,000 of these take well under a millisecond. */
static void tree__large_machine__few_files_read(void **state)
{
    static const struct {
        const char *name;
        size_t in_full;
        size_t in_short;
    } cases[] = {
        { "topo-epyc-7451.tree", 100, 70 }, { "topo-two-sockets-interleaved.tree", 80, 60 },
        { "docker-v2-cpus6.tree", 30, 12 }, { "mask-5000-cpus.tree", 20, 12 },
        { "v2-200-deep.tree", 430, 420 },
    };
    (void)state;
    for (size_t i = 0; i < TEST_CASES(cases); i++) {
        filchi_cpu_facts facts;
        test_tree *tree = load(cases[i].name);
        test_tree_reads reads = { tree, 0, 0 };
        const filchi_files files = { test_tree_stream, NULL, &reads };
        filchi_cpus_read(&files, true, &facts);
        print_message("%s: %zu files tried, %zu there", cases[i].name, reads.tried, reads.opened);
        assert_true(reads.tried <= cases[i].in_full);
        reads = (test_tree_reads){ tree, 0, 0 };
        filchi_cpus_read(&files, false, &facts);
        print_message("; in short %zu and %zu\n", reads.tried, reads.opened);
        assert_true(reads.tried <= cases[i].in_short);
        test_tree_free(tree);
    }
}

static int unpack(const char *tree_path, const char *folder)
{
    test_tree *tree = test_tree_load(tree_path);
    test_tree_unpack(tree, folder);
    test_tree_free(tree);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(tree__in_memory__as_expected),
        cmocka_unit_test(tree__read_in_short__the_same_sizes),
        cmocka_unit_test(tree__throttling_alone__as_in_full),
        cmocka_unit_test(tree__unpacked__as_in_memory_and_nothing_kept_open),
        cmocka_unit_test(tree__large_machine__few_files_read),
    };
    if (argc == 4 && strcmp(argv[1], "--unpack") == 0) {
        return unpack(argv[2], argv[3]);
    }
    test_begin(60);
    list_trees();
    return cmocka_run_group_tests(cases, NULL, NULL);
}
