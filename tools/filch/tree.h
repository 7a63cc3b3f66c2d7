/* SPDX-License-Identifier: MIT */
/* A directory tree, as the demo works on it: listed once, read once, then hashed many times.
 *
 * The listing is taken once, so that all passes see the same names; the number of bytes of a file
 * is settled when it is first read, so that a file that grows (a log) still gives equal results.
 * Symbolic links are never followed, so there are no loops. Whatever cannot be opened or read is
 * counted and stays in the tree as unreadable; sockets, pipes and devices are counted only. Files
 * and links that claim no size (most of /proc) are taken as empty. */
#ifndef FILCH_TOOLS_TREE_H
#define FILCH_TOOLS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "bench/designs/design.h"
#include "sha.h"

/* The letters are part of what a directory's hash covers. */
typedef enum tree_kind {
    TREE_DIRECTORY = 'd',
    TREE_FILE = 'f',
    TREE_LINK = 'l',
    TREE_UNREADABLE = 'u'
} tree_kind;

typedef struct tree_dir tree_dir;

typedef struct tree_entry {
    char *name;
    tree_dir *dir;           /* of a directory */
    uint64_t bytes;          /* of a file or link: what is hashed */
    struct timespec changed; /* st_ctim when it was listed */
    tree_kind kind;
    unsigned char digest[SHA_BYTES];   /* of the last pass */
    unsigned char expected[SHA_BYTES]; /* of the first pass */
} tree_entry;

/* A task of the hash: one directory, one big file, or a few small files. */
typedef struct tree_piece {
    design_task task;
    tree_dir *dir;
    size_t first; /* entries first to first + count - 1 */
    size_t count;
} tree_piece;

struct tree_dir {
    char *path;
    tree_entry *entries; /* by name, in byte order */
    size_t entry_count;
    tree_piece *pieces;
    size_t piece_count;
};

typedef struct tree_counts {
    uint64_t directories;
    uint64_t files;
    uint64_t links;
    uint64_t bytes;
    uint64_t unreadable;   /* files and directories */
    uint64_t broken_links; /* of `links` */
    uint64_t skipped;      /* sockets, pipes, devices */
    uint64_t left_out;     /* files too big for what was left of the limit */
    uint64_t resized;      /* files that had another size when read than when listed */
    bool stopped;          /* the limit was used up before the tree was */
} tree_counts;

/* The contents of the text files (those without a NUL), one after the other; every line ends with
 * a newline. */
typedef struct tree_text {
    unsigned char *data;
    size_t bytes;
    uint64_t files;
} tree_text;

typedef struct tree {
    tree_entry root; /* a directory; its name is "" */
    tree_counts counts;
    tree_text text;
} tree;

/* List `path`, up to `byte_limit` bytes of files. NULL, or what went wrong; the tree is then empty.
 * tree_free may be called in any case. */
const char *tree_list(const char *path, uint64_t byte_limit, tree *out_tree);

/* Read every file once: settles sizes, collects the text, warms the page cache. Then cut the tree
 * into tasks. `tick` is called now and then with the bytes read so far. */
const char *tree_load(tree *t, void (*tick)(void *ctx, uint64_t bytes), void *ctx);

void tree_free(tree *t);

/* Open a file of the tree for reading (never a link, never blocking), -1 if that fails; read up to
 * `bytes` bytes, fewer only at the end of the file or with an error, -1 if nothing could be read
 * because of an error. */
int tree_open_file(const tree_dir *dir, const tree_entry *entry);
ssize_t tree_read(int fd, void *buffer, size_t bytes);

/* "<dir>/<name>" in `out`; false if it is too long. */
bool tree_path(const tree_dir *dir, const char *name, char *out, size_t out_bytes);

#endif
