/* SPDX-License-Identifier: MIT */
/* Fake /proc and /sys trees, each written down in one text file (tests/data/cpus/README.md has the
 * form) with the answers that are expected. A tree lives in memory, and can be unpacked. */
#ifndef FILCH_TEST_TREE_H
#define FILCH_TEST_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum test_entry_kind { TEST_FILE, TEST_FIFO, TEST_FOLDER } test_entry_kind;

typedef struct test_entry {
    test_entry_kind kind;
    char *path; /* absolute */
    char *bytes;
    size_t count;
} test_entry;

typedef struct test_expect {
    char *key;
    char *value;
} test_expect;

typedef struct test_tree {
    test_entry *entries;
    size_t entry_count;
    test_expect *expects;
    size_t expect_count;
    size_t filled;   /* bytes of all `fill` lines */
    bool zero_ended; /* `lists zero-ended` */
    bool has_source; /* a public dump stands behind it */
    size_t bad_line; /* number of the first line that makes no sense; 0: none */
} test_tree;

/* Lines that would make more entries make no sense; a fuzzer wants few. */
extern size_t test_tree_most_entries;

/* A text in memory; a file. A file that cannot be read ends the process. Free with _free. */
test_tree *test_tree_parse(const char *text, size_t bytes);
test_tree *test_tree_load(const char *path);
void test_tree_free(test_tree *tree);

const test_entry *test_tree_find(const test_tree *tree, const char *path);

/* Make the tree below the existing folder `root`; take it away again, root included. A failure ends
 * the process. */
void test_tree_unpack(const test_tree *tree, const char *root);
void test_tree_remove(const char *root);

#endif
