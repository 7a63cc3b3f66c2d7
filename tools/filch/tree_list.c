/* SPDX-License-Identifier: MIT */
/* Listing a directory tree: names, kinds and sizes, in byte order of the names.
 *
 * One directory is open at a time, and it is left before its sub-directories are entered: a deep
 * tree costs path length, not file descriptors. Recursion ends at the longest path the system
 * takes. Memory is the only fatal problem; all others are counted. */
#define _GNU_SOURCE

#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 200000, /* bounds time and memory where files are many and small */
    LEAST_LEFT = 64       /* stop when less than one part in so many is left of the byte limit */
};

typedef struct lister {
    tree_counts *counts;
    uint64_t byte_limit;
    uint64_t entries;
    bool no_memory;
    char path[PATH_MAX];
} lister;

typedef struct names {
    char **list;
    size_t count;
    size_t room;
} names;

bool tree_path(const tree_dir *dir, const char *name, char *out, size_t out_bytes)
{
    const size_t length = strlen(dir->path);
    const char *const slash = length > 0 && dir->path[length - 1] == '/' ? "" : "/";
    const int needed = snprintf(out, out_bytes, "%s%s%s", dir->path, slash, name);
    return needed >= 0 && (size_t)needed < out_bytes;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(names *n)
{
    for (size_t i = 0; i < n->count; i++) {
        free(n->list[i]);
    }
    free(n->list);
}

static bool add_name(names *n, const char *name)
{
    if (n->count == n->room) {
        const size_t room = n->room == 0 ? 32 : n->room * 2;
        char **const list = realloc(n->list, room * sizeof *list);
        if (list == NULL) {
            return false;
        }
        n->list = list;
        n->room = room;
    }
    n->list[n->count] = strdup(name);
    return n->list[n->count] != NULL && ++n->count > 0;
}

/* All names of a directory; a directory that cannot be read to its end gives what it gave. */
static bool read_names(DIR *stream, names *n)
{
    const struct dirent *found;
    while ((found = readdir(stream)) != NULL) {
        const bool itself = strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0;
        if (!itself && !add_name(n, found->d_name)) {
            return false;
        }
    }
    if (n->count > 1) {
        qsort(n->list, n->count, sizeof n->list[0], by_bytes);
    }
    return true;
}

static bool limit_is_used_up(const lister *l)
{
    const uint64_t left = l->byte_limit - l->counts->bytes;
    return left < l->byte_limit / LEAST_LEFT || l->entries >= MAX_ENTRIES;
}

/* Count a file; false if it does not fit into what is left. */
static bool admit_file(lister *l, tree_entry *entry, const struct stat *found)
{
    const uint64_t bytes = found->st_size > 0 ? (uint64_t)found->st_size : 0;
    if (bytes > l->byte_limit - l->counts->bytes) {
        l->counts->left_out++;
        return false;
    }
    entry->kind = TREE_FILE;
    entry->bytes = bytes;
    l->counts->bytes += bytes;
    l->counts->files++;
    return true;
}

static void admit_link(lister *l, tree_entry *entry, const struct stat *found, int dir_fd)
{
    struct stat target;
    entry->kind = TREE_LINK;
    entry->bytes = found->st_size > 0 ? (uint64_t)found->st_size : 0;
    l->counts->links++;
    if (fstatat(dir_fd, entry->name, &target, 0) != 0 &&
        (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) {
        l->counts->broken_links++;
    }
}

/* Find out what `entry->name` is; false if it does not become part of the tree. */
static bool admit(lister *l, tree_entry *entry, int dir_fd)
{
    struct stat found;
    if (fstatat(dir_fd, entry->name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        entry->kind = TREE_UNREADABLE;
        l->counts->unreadable++;
        return true;
    }
    entry->changed = found.st_ctim;
    if (S_ISDIR(found.st_mode)) {
        entry->kind = TREE_DIRECTORY;
    } else if (S_ISREG(found.st_mode)) {
        return admit_file(l, entry, &found);
    } else if (S_ISLNK(found.st_mode)) {
        admit_link(l, entry, &found, dir_fd);
    } else {
        l->counts->skipped++;
        return false;
    }
    return true;
}

/* Move the names into entries; those that are not wanted stay behind and are freed. */
static bool take_entries(lister *l, tree_dir *dir, names *n, int dir_fd)
{
    dir->entries = calloc(n->count + 1, sizeof *dir->entries);
    if (dir->entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < n->count; i++) {
        if (limit_is_used_up(l)) {
            l->counts->stopped = true;
            break;
        }
        tree_entry *const entry = &dir->entries[dir->entry_count];
        *entry = (tree_entry){ .name = n->list[i] };
        if (admit(l, entry, dir_fd)) {
            n->list[i] = NULL;
            dir->entry_count++;
            l->entries++;
        }
    }
    return true;
}

/* What is directly in the directory `path`, which may be a link only if it is the root. */
static tree_dir *list_one(lister *l, const char *path, int no_follow)
{
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | no_follow);
    DIR *const stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    names n = { NULL, 0, 0 };
    tree_dir *const dir = calloc(1, sizeof *dir);
    char *const own_path = strdup(path);
    if (dir == NULL || own_path == NULL || !read_names(stream, &n)) {
        l->no_memory = true;
        free(own_path);
    } else {
        dir->path = own_path;
        l->no_memory = !take_entries(l, dir, &n, fd);
    }
    free_names(&n);
    closedir(stream);
    return dir;
}

/* The path is built in the lister: on the stack it would count once for every level. */
static void enter(lister *l, const tree_dir *parent, tree_entry *entry)
{
    if (tree_path(parent, entry->name, l->path, sizeof l->path)) {
        entry->dir = list_one(l, l->path, O_NOFOLLOW);
    }
    if (entry->dir == NULL) {
        entry->kind = TREE_UNREADABLE;
        l->counts->unreadable++;
    } else {
        l->counts->directories++;
    }
}

/* Enter the sub-directories; once the limit is used up, those that are left are dropped. */
static void list_below(lister *l, tree_dir *dir)
{
    size_t kept = 0;
    for (size_t i = 0; i < dir->entry_count; i++) {
        tree_entry *const entry = &dir->entries[i];
        if (entry->kind == TREE_DIRECTORY && (l->counts->stopped || l->no_memory)) {
            free(entry->name);
            continue;
        }
        if (entry->kind == TREE_DIRECTORY) {
            enter(l, dir, entry);
        }
        if (entry->dir != NULL) {
            list_below(l, entry->dir);
        }
        dir->entries[kept++] = *entry;
    }
    dir->entry_count = kept;
}

static void free_dir(tree_dir *dir)
{
    if (dir == NULL) {
        return;
    }
    for (size_t i = 0; i < dir->entry_count; i++) {
        free_dir(dir->entries[i].dir);
        free(dir->entries[i].name);
    }
    free(dir->entries);
    free(dir->pieces);
    free(dir->path);
    free(dir);
}

void tree_free(tree *t)
{
    free_dir(t->root.dir);
    free(t->text.data);
    *t = (tree){ .counts = { 0 } };
}

const char *tree_list(const char *path, uint64_t byte_limit, tree *out_tree)
{
    *out_tree = (tree){ .root = { .kind = TREE_DIRECTORY } };
    lister l = { .counts = &out_tree->counts, .byte_limit = byte_limit };
    errno = 0;
    out_tree->root.dir = list_one(&l, path, 0);
    if (out_tree->root.dir == NULL) {
        return strerror(errno);
    }
    out_tree->counts.directories = 1;
    if (!l.no_memory) {
        list_below(&l, out_tree->root.dir);
    }
    if (l.no_memory) {
        tree_free(out_tree);
        return strerror(ENOMEM);
    }
    return NULL;
}
