/* SPDX-License-Identifier: MIT */
/* Reading the files of a listed tree once, and cutting the tree into tasks.
 *
 * The first reading has three uses: it settles how many bytes of each file all passes will hash, it
 * keeps the text for the sort, and it leaves the files in the page cache, so that the passes
 * measure work and not the disk. */
#define _GNU_SOURCE

#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TICK_BYTES = 1 << 20, /* between two calls of `tick` */
    BIG_FILE = 64 << 10,  /* bytes that are worth a task of their own: about 50 us of hashing */
    PIECE_FILES = 16 /* small files of one task: each costs some 10 us to open, read and close */
};

typedef struct loader {
    tree *t;
    uint64_t done;
    uint64_t last_tick;
    void (*tick)(void *ctx, uint64_t bytes);
    void *ctx;
    bool no_memory;
} loader;

int tree_open_file(const tree_dir *dir, const tree_entry *entry)
{
    char path[PATH_MAX];
    if (!tree_path(dir, entry->name, path, sizeof path)) {
        return -1;
    }
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    struct stat found;
    if (fd >= 0 && (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

ssize_t tree_read(int fd, void *buffer, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(fd, (char *)buffer + done, bytes - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && done == 0) {
            return -1;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Keep what was read at the end of the buffer if it is text. */
static void keep_text(loader *l, size_t bytes)
{
    tree_text *const text = &l->t->text;
    unsigned char *const start = text->data + text->bytes;
    if (memchr(start, '\0', bytes) != NULL) {
        return;
    }
    text->files++;
    if (bytes > 0 && start[bytes - 1] != '\n') {
        start[bytes++] = '\n'; /* there is room: one more a file */
    }
    text->bytes += bytes;
}

static void load_file(loader *l, const tree_dir *dir, tree_entry *entry)
{
    tree_counts *const counts = &l->t->counts;
    const int fd = tree_open_file(dir, entry);
    ssize_t got = -1;
    struct stat found = { .st_size = -1 };
    if (fd >= 0) {
        (void)fstat(fd, &found);
        got = tree_read(fd, l->t->text.data + l->t->text.bytes, (size_t)entry->bytes);
        close(fd);
    }
    counts->bytes -= entry->bytes;
    if (got < 0) {
        entry->kind = TREE_UNREADABLE;
        counts->files--;
        counts->unreadable++;
        return;
    }
    counts->resized += (uint64_t)got != entry->bytes || (uint64_t)found.st_size != entry->bytes;
    entry->bytes = (uint64_t)got;
    counts->bytes += entry->bytes;
    keep_text(l, (size_t)got);
    l->done += entry->bytes;
    if (l->done - l->last_tick >= TICK_BYTES) {
        l->last_tick = l->done;
        l->tick(l->ctx, l->done);
    }
}

/* How many entries from `first` on make one task. */
static size_t piece_length(const tree_dir *dir, size_t first)
{
    uint64_t bytes = 0;
    size_t i = first;
    while (i < dir->entry_count && i - first < PIECE_FILES) {
        const tree_entry *const entry = &dir->entries[i];
        bytes += entry->kind == TREE_FILE ? entry->bytes : 0;
        if (i > first && (entry->kind == TREE_DIRECTORY || bytes > BIG_FILE)) {
            break;
        }
        i++;
        if (entry->kind == TREE_DIRECTORY) {
            break;
        }
    }
    return i - first;
}

static bool cut_into_pieces(tree_dir *dir)
{
    dir->pieces = calloc(dir->entry_count + 1, sizeof *dir->pieces);
    if (dir->pieces == NULL) {
        return false;
    }
    for (size_t first = 0; first < dir->entry_count;) {
        const size_t count = piece_length(dir, first);
        dir->pieces[dir->piece_count++] =
            (tree_piece){ .dir = dir, .first = first, .count = count };
        first += count;
    }
    return true;
}

static void load_dir(loader *l, tree_dir *dir)
{
    for (size_t i = 0; i < dir->entry_count && !l->no_memory; i++) {
        tree_entry *const entry = &dir->entries[i];
        if (entry->kind == TREE_FILE) {
            load_file(l, dir, entry);
        } else if (entry->kind == TREE_DIRECTORY) {
            load_dir(l, entry->dir);
        }
    }
    l->no_memory = l->no_memory || !cut_into_pieces(dir);
}

const char *tree_load(tree *t, void (*tick)(void *ctx, uint64_t bytes), void *ctx)
{
    /* Every listed byte and one newline a file: nothing below can run over. */
    const uint64_t room = t->counts.bytes + t->counts.files + 1;
    t->text.data = room <= SIZE_MAX ? malloc((size_t)room) : NULL;
    if (t->text.data == NULL) {
        return strerror(ENOMEM);
    }
    loader l = { .t = t, .tick = tick, .ctx = ctx };
    load_dir(&l, t->root.dir);
    return l.no_memory ? strerror(ENOMEM) : NULL;
}
