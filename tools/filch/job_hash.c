/* SPDX-License-Identifier: MIT */
/* Job "hash": SHA-256 of a whole directory tree, an irregular recursion with reading inside.
 *
 * A file is hashed over its bytes, a symbolic link over its target, a directory over one line for
 * each entry, by name in byte order: the letter of its kind, a blank, its digest in hex, a blank,
 * its name, a NUL. A directory is a scope: sub-directories and big files are tasks of their own,
 * small files go a few to a task (tree_load.c cuts them).
 *
 * When a pass differs from the first one, each file or link that differs is looked at once more: if
 * its digest is not the first one now, if it could not be read in one of the passes, or if its
 * ctime has moved, then the tree has changed and the contestant is not to blame. */
#define _GNU_SOURCE

#include "job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10 };

typedef struct hash_job {
    job *base;
    tree *t;
    bool have_expected;
} hash_job;

static bool digest_file(const tree_dir *dir, const tree_entry *entry, unsigned char *out_digest)
{
    unsigned char buffer[BUFFER_BYTES];
    const int fd = tree_open_file(dir, entry);
    if (fd < 0) {
        return false;
    }
    sha s;
    sha_begin(&s);
    uint64_t left = entry->bytes;
    while (left > 0) {
        const size_t ask = left < sizeof buffer ? (size_t)left : sizeof buffer;
        const ssize_t got = tree_read(fd, buffer, ask);
        if (got <= 0) {
            break;
        }
        sha_add(&s, buffer, (size_t)got);
        left -= (uint64_t)got;
    }
    close(fd);
    return sha_end(&s, out_digest) && left == 0;
}

static bool digest_link(const tree_dir *dir, const tree_entry *entry, unsigned char *out_digest)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    if (entry->bytes == 0) {
        return sha_of("", 0, out_digest); /* /proc/thread-self is another one in each thread */
    }
    if (!tree_path(dir, entry->name, path, sizeof path)) {
        return false;
    }
    const ssize_t length = readlink(path, target, sizeof target);
    return length >= 0 && sha_of(target, (size_t)length, out_digest);
}

/* Not inlined: its buffers would lie in every frame of the recursion over directories. */
__attribute__((noinline)) static void digest_leaf(const tree_dir *dir, const tree_entry *entry,
                                                  unsigned char *out_digest)
{
    bool good = false;
    if (entry->kind == TREE_FILE) {
        good = digest_file(dir, entry, out_digest);
    } else if (entry->kind == TREE_LINK) {
        good = digest_link(dir, entry, out_digest);
    }
    if (!good) {
        memset(out_digest, 0, SHA_BYTES);
    }
}

__attribute__((noinline)) static void digest_listing(const tree_dir *dir, unsigned char *out_digest)
{
    sha s;
    sha_begin(&s);
    for (size_t i = 0; i < dir->entry_count; i++) {
        const tree_entry *const entry = &dir->entries[i];
        char line[2 + SHA_HEX_BYTES] = { (char)entry->kind, ' ' };
        sha_hex(entry->digest, line + 2);
        line[sizeof line - 1] = ' ';
        sha_add(&s, line, sizeof line);
        sha_add(&s, entry->name, strlen(entry->name) + 1);
    }
    (void)sha_end(&s, out_digest);
}

static void hash_piece(const design_cx *cx, void *arg);

static void hash_dir(const design_cx *cx, tree_dir *dir, unsigned char *out_digest)
{
    for (size_t i = 0; i < dir->piece_count; i++) {
        dir->pieces[i].task = (design_task){ .fn = hash_piece, .arg = &dir->pieces[i] };
    }
    if (dir->piece_count > 0) {
        job_run_all(cx, &dir->pieces[0].task, sizeof dir->pieces[0], dir->piece_count);
    }
    digest_listing(dir, out_digest);
}

static void hash_piece(const design_cx *cx, void *arg)
{
    const tree_piece *const piece = arg;
    for (size_t i = piece->first; i < piece->first + piece->count; i++) {
        tree_entry *const entry = &piece->dir->entries[i];
        if (entry->kind == TREE_DIRECTORY) {
            hash_dir(cx, entry->dir, entry->digest);
        } else {
            digest_leaf(piece->dir, entry, entry->digest);
        }
    }
}

static void hash_root(const design_cx *cx, void *arg)
{
    tree_entry *const entry = arg;
    hash_dir(cx, entry->dir, entry->digest);
}

static void run_hash(void *state, const contestant *on)
{
    hash_job *const h = state;
    design_task root = { .fn = hash_root, .arg = &h->t->root };
    on->design->life->run(on->pool, &root);
}

/* Old digests must not pass for new ones. */
static void forget_digests(tree_dir *dir)
{
    for (size_t i = 0; i < dir->entry_count; i++) {
        memset(dir->entries[i].digest, 0xFF, SHA_BYTES);
        if (dir->entries[i].dir != NULL) {
            forget_digests(dir->entries[i].dir);
        }
    }
}

static void prepare_hash(void *state)
{
    hash_job *const h = state;
    memset(h->t->root.digest, 0xFF, SHA_BYTES);
    forget_digests(h->t->root.dir);
}

static void expect_digests(tree_entry *entry)
{
    memcpy(entry->expected, entry->digest, SHA_BYTES);
    for (size_t i = 0; entry->dir != NULL && i < entry->dir->entry_count; i++) {
        expect_digests(&entry->dir->entries[i]);
    }
}

static bool is_as_expected(const tree_entry *entry)
{
    return memcmp(entry->digest, entry->expected, SHA_BYTES) == 0;
}

static void note_path(job *base, const char *what, const tree_dir *dir, const char *name)
{
    const char *const slash = name[0] != '\0' ? "/" : "";
    snprintf(base->note, sizeof base->note, "%s: %s%s%s", what, dir->path, slash, name);
}

static bool has_changed(const tree_dir *dir, const tree_entry *entry)
{
    static const unsigned char unread[SHA_BYTES];
    unsigned char again[SHA_BYTES];
    char path[PATH_MAX];
    struct stat now;
    if (memcmp(entry->expected, unread, SHA_BYTES) == 0 ||
        memcmp(entry->digest, unread, SHA_BYTES) == 0) {
        return true;
    }
    digest_leaf(dir, entry, again);
    return memcmp(again, entry->expected, SHA_BYTES) != 0 ||
           !tree_path(dir, entry->name, path, sizeof path) || lstat(path, &now) != 0 ||
           now.st_ctim.tv_sec != entry->changed.tv_sec ||
           now.st_ctim.tv_nsec != entry->changed.tv_nsec;
}

/* Judge a leaf that differs from the first pass. */
static job_verdict judge_leaf(hash_job *h, const tree_dir *dir, const tree_entry *entry)
{
    const bool changed = has_changed(dir, entry);
    note_path(h->base, changed ? "changed during the run" : "hashed wrongly", dir, entry->name);
    return changed ? JOB_CHANGED : JOB_DIFFERS;
}

/* The worst verdict below a directory; a wrong leaf ends the search. */
static job_verdict judge_dir(hash_job *h, const tree_entry *self)
{
    job_verdict worst = JOB_EQUAL;
    for (size_t i = 0; i < self->dir->entry_count && worst != JOB_DIFFERS; i++) {
        const tree_entry *const entry = &self->dir->entries[i];
        job_verdict verdict = JOB_EQUAL;
        if (entry->dir != NULL) {
            verdict = judge_dir(h, entry);
        } else if (!is_as_expected(entry)) {
            verdict = judge_leaf(h, self->dir, entry);
        }
        worst = verdict > worst ? verdict : worst;
    }
    if (worst == JOB_EQUAL && !is_as_expected(self)) {
        note_path(h->base, "hashed wrongly, although all it holds is right", self->dir, "");
        worst = JOB_DIFFERS;
    }
    return worst;
}

static job_verdict check_hash(void *state)
{
    hash_job *const h = state;
    if (!h->have_expected) {
        h->have_expected = true;
        expect_digests(&h->t->root);
    }
    sha_hex(h->t->root.digest, h->base->result);
    return judge_dir(h, &h->t->root);
}

bool hash_job_open(job *out_job, tree *t)
{
    hash_job *const h = malloc(sizeof *h);
    if (h == NULL) {
        return false;
    }
    *h = (hash_job){ .base = out_job, .t = t };
    *out_job = (job){ .name = "hash",
                      .state = h,
                      .prepare = prepare_hash,
                      .run = run_hash,
                      .check = check_hash,
                      .close = free };
    return true;
}
