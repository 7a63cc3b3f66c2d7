/* SPDX-License-Identifier: MIT */
/* A fake tree in place of the file system of the reader in src/plat. */
#ifndef FILCH_TEST_TREE_FILES_H
#define FILCH_TEST_TREE_FILES_H

#include "plat/cpus.h"
#include "support/tree.h"

typedef struct test_tree_reads {
    const test_tree *tree;
    size_t opened; /* files that were there */
    size_t tried;
} test_tree_reads;

/* In small odd pieces, so that what is split over two of them is tried too. */
static inline bool test_tree_stream(const filchi_files *files, const char *path, size_t most,
                                    filchi_piece *piece, void *arg)
{
    enum { PIECE_BYTES = 7 };
    test_tree_reads *reads = files->ctx;
    const test_entry *entry = test_tree_find(reads->tree, path);
    reads->tried++;
    if (entry == NULL || entry->kind != TEST_FILE) {
        return false;
    }
    reads->opened++;
    const size_t count = entry->count < most ? entry->count : most;
    for (size_t at = 0; at < count; at += PIECE_BYTES) {
        piece(arg, entry->bytes + at, count - at < PIECE_BYTES ? count - at : PIECE_BYTES);
    }
    return entry->count <= most;
}

#endif
