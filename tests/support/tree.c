/* SPDX-License-Identifier: MIT */
/* Fake trees: see tree.h. */
#include "support/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CPU_FOLDER "/sys/devices/system/cpu"

enum { MOST_BYTES = 16 << 20, PATH_BYTES = 4096, MOST_CPUS = 8192 };

size_t test_tree_most_entries = 100000;

static void die(const char *what, const char *path)
{
    perror(path);
    fprintf(stderr, "fake tree: cannot %s\n", what);
    abort();
}

static void *grow(void *block, size_t bytes)
{
    void *grown = realloc(block, bytes);
    if (grown == NULL) {
        die("get memory", "realloc");
    }
    return grown;
}

static char *copy(const char *text, size_t bytes)
{
    char *made = grow(NULL, bytes + 1);
    memcpy(made, text, bytes);
    made[bytes] = '\0';
    return made;
}

static test_entry *add(test_tree *tree, test_entry_kind kind, const char *path)
{
    tree->entries = grow(tree->entries, (tree->entry_count + 1) * sizeof(test_entry));
    test_entry *entry = &tree->entries[tree->entry_count++];
    *entry = (test_entry){ kind, copy(path, strlen(path)), copy("", 0), 0 };
    return entry;
}

static void append(test_entry *entry, const char *text, size_t bytes)
{
    entry->bytes = grow(entry->bytes, entry->count + bytes + 1);
    memcpy(entry->bytes + entry->count, text, bytes);
    entry->count += bytes;
    entry->bytes[entry->count] = '\0';
}

static void add_line(test_tree *tree, const char *path, const char *text)
{
    test_entry *entry = add(tree, TEST_FILE, path);
    append(entry, text, strlen(text));
    append(entry, "\n", 1);
}

/* For each CPU of "0,4-5": the file cpu<n>/<name> with the line `text`. */
static bool add_for_each(test_tree *tree, const char *list, const char *name, const char *text)
{
    while (*list != '\0') {
        char *end;
        const unsigned long first = strtoul(list, &end, 10);
        unsigned long last = first;
        if (end == list) {
            return false;
        }
        if (*end == '-') {
            list = end + 1;
            last = strtoul(list, &end, 10);
        }
        if (end == list || (*end != ',' && *end != '\0') || last >= MOST_CPUS || first > last ||
            tree->entry_count + (last - first) >= test_tree_most_entries) {
            return false;
        }
        for (unsigned long cpu = first; cpu <= last; cpu++) {
            char path[PATH_BYTES];
            (void)snprintf(path, sizeof(path), CPU_FOLDER "/cpu%lu/%s", cpu, name);
            add_line(tree, path, text);
        }
        list = *end == ',' ? end + 1 : end;
    }
    return true;
}

/* For each list of "0-1 2-3": its CPUs have the file with that list in it. */
static bool add_groups(test_tree *tree, char *lists, const char *name)
{
    char *rest;
    for (char *list = strtok_r(lists, " ", &rest); list != NULL;
         list = strtok_r(NULL, " ", &rest)) {
        if (!add_for_each(tree, list, name, list)) {
            return false;
        }
    }
    return true;
}

/* "3 0-3 4-7": index and level, groups. */
static bool add_cache(test_tree *tree, char *args)
{
    char name[64];
    char level[16];
    char *lists = strchr(args, ' ');
    if (lists == NULL || args[1] != ' ' || args[0] < '1' || args[0] > '7') {
        return false;
    }
    (void)snprintf(level, sizeof(level), "%c", args[0]);
    (void)snprintf(name, sizeof(name), "cache/index%c/shared_cpu_list", args[0]);
    char *all = copy(lists + 1, strlen(lists + 1));
    bool done = add_groups(tree, lists + 1, name);
    (void)snprintf(name, sizeof(name), "cache/index%c/level", args[0]);
    char *rest;
    for (char *list = strtok_r(all, " ", &rest); list != NULL && done;
         list = strtok_r(NULL, " ", &rest)) {
        done = add_for_each(tree, list, name, level);
    }
    free(all);
    return done;
}

/* "1024 0-3" */
static bool add_capacity(test_tree *tree, char *args)
{
    char *list = strchr(args, ' ');
    if (list == NULL) {
        return false;
    }
    *list = '\0';
    return add_for_each(tree, list + 1, "cpu_capacity", args);
}

/* "path 5000000 9" */
static bool add_fill(test_tree *tree, char *args)
{
    char path[PATH_BYTES];
    unsigned long count;
    char byte;
    if (sscanf(args, "%4000s %lu %c", path, &count, &byte) != 3 || path[0] != '/' ||
        count > MOST_BYTES - tree->filled) {
        return false;
    }
    tree->filled += count;
    char *bytes = grow(NULL, count + 1);
    memset(bytes, byte, count);
    append(add(tree, TEST_FILE, path), bytes, count);
    free(bytes);
    return true;
}

/* "path the rest, without newline" */
static bool add_bytes(test_tree *tree, char *args)
{
    char *text = strchr(args, ' ');
    if (text == NULL || args[0] != '/') {
        return false;
    }
    *text = '\0';
    append(add(tree, TEST_FILE, args), text + 1, strlen(text + 1));
    return true;
}

static bool add_expect(test_tree *tree, char *args)
{
    char *value = strchr(args, ' ');
    if (value == NULL) {
        return false;
    }
    tree->expects = grow(tree->expects, (tree->expect_count + 1) * sizeof(test_expect));
    tree->expects[tree->expect_count++] = (test_expect){
        copy(args, (size_t)(value - args)),
        copy(value + 1, strlen(value + 1)),
    };
    return true;
}

static bool add_plain(test_tree *tree, test_entry_kind kind, const char *path)
{
    if (path[0] != '/') {
        return false;
    }
    (void)add(tree, kind, path);
    return true;
}

static bool obey(test_tree *tree, const char *word, char *args)
{
    static const struct {
        const char *word;
        const char *name;
    } groups[] = {
        { "core", "topology/core_cpus_list" },
        { "oldcore", "topology/thread_siblings_list" },
        { "package", "topology/package_cpus_list" },
        { "oldpackage", "topology/core_siblings_list" },
    };
    char text[PATH_BYTES];
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (strcmp(word, groups[i].word) == 0) {
            return add_groups(tree, args, groups[i].name);
        }
    }
    if (strcmp(word, "online") == 0) {
        add_line(tree, CPU_FOLDER "/online", args);
        return true;
    }
    if (strcmp(word, "allowed") == 0) {
        (void)snprintf(text, sizeof(text), "Name:\tx\nCpus_allowed_list:\t%s\nMems_allowed:\t1",
                       args);
        add_line(tree, "/proc/self/status", text);
        return true;
    }
    if (strcmp(word, "lists") == 0) {
        tree->zero_ended = strcmp(args, "zero-ended") == 0;
        return tree->zero_ended;
    }
    tree->has_source = tree->has_source || strcmp(word, "source") == 0;
    return strcmp(word, "source") == 0     ? strstr(args, "://") != NULL
           : strcmp(word, "expect") == 0   ? add_expect(tree, args)
           : strcmp(word, "cache") == 0    ? add_cache(tree, args)
           : strcmp(word, "capacity") == 0 ? add_capacity(tree, args)
           : strcmp(word, "fill") == 0     ? add_fill(tree, args)
           : strcmp(word, "bytes") == 0    ? add_bytes(tree, args)
           : strcmp(word, "file") == 0     ? add_plain(tree, TEST_FILE, args)
           : strcmp(word, "fifo") == 0     ? add_plain(tree, TEST_FIFO, args)
           : strcmp(word, "folder") == 0   ? add_plain(tree, TEST_FOLDER, args)
                                           : false;
}

/* One line; `open_file` is the entry that lines with a blank in front belong to. */
static bool read_line(test_tree *tree, char *line, bool *in_file)
{
    if (line[0] == ' ') {
        if (*in_file) {
            test_entry *entry = &tree->entries[tree->entry_count - 1];
            append(entry, line + 1, strlen(line + 1));
            append(entry, "\n", 1);
        }
        return *in_file;
    }
    *in_file = strncmp(line, "file /", 6) == 0;
    if (line[0] == '#' || line[0] == '\0') {
        return true;
    }
    char *args = strchr(line, ' ');
    if (args == NULL) {
        return false;
    }
    *args = '\0';
    return obey(tree, line, args + 1);
}

/* In any of the lists that some kernel ends like this. */
static void add_zeros(test_tree *tree)
{
    for (size_t i = 0; i < tree->entry_count; i++) {
        const char *const path = tree->entries[i].path;
        if (strstr(path, "/topology/") != NULL || strstr(path, "/node/") != NULL) {
            append(&tree->entries[i], "", 1);
        }
    }
}

test_tree *test_tree_parse(const char *text, size_t bytes)
{
    test_tree *tree = grow(NULL, sizeof(*tree));
    *tree = (test_tree){ 0 };
    bool in_file = false;
    size_t number = 1;
    for (size_t at = 0; at < bytes; number++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : bytes - at;
        char *line = copy(text + at, length);
        if (!read_line(tree, line, &in_file) && tree->bad_line == 0) {
            tree->bad_line = number;
        }
        free(line);
        at += length + 1;
    }
    if (tree->zero_ended) {
        add_zeros(tree);
    }
    return tree;
}

test_tree *test_tree_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = grow(NULL, MOST_BYTES);
    if (file == NULL) {
        die("open it", path);
    }
    const size_t bytes = fread(text, 1, MOST_BYTES, file);
    if (ferror(file) || bytes == MOST_BYTES) {
        die("read it", path);
    }
    (void)fclose(file);
    test_tree *tree = test_tree_parse(text, bytes);
    free(text);
    return tree;
}

void test_tree_free(test_tree *tree)
{
    for (size_t i = 0; i < tree->entry_count; i++) {
        free(tree->entries[i].path);
        free(tree->entries[i].bytes);
    }
    for (size_t i = 0; i < tree->expect_count; i++) {
        free(tree->expects[i].key);
        free(tree->expects[i].value);
    }
    free(tree->entries);
    free(tree->expects);
    free(tree);
}

const test_entry *test_tree_find(const test_tree *tree, const char *path)
{
    for (size_t i = 0; i < tree->entry_count; i++) {
        if (strcmp(tree->entries[i].path, path) == 0) {
            return &tree->entries[i];
        }
    }
    return NULL;
}

/* All folders above the last name of the path. */
static void make_folders(char *path, size_t root_length)
{
    for (char *at = strchr(path + root_length + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0755); /* most are there */
        *at = '/';
    }
}

void test_tree_unpack(const test_tree *tree, const char *root)
{
    for (size_t i = 0; i < tree->entry_count; i++) {
        const test_entry *entry = &tree->entries[i];
        char path[PATH_BYTES + 256];
        (void)snprintf(path, sizeof(path), "%s%s", root, entry->path);
        make_folders(path, strlen(root));
        if (entry->kind == TEST_FIFO && mkfifo(path, 0644) != 0) {
            die("make a FIFO", path);
        }
        if (entry->kind == TEST_FOLDER && mkdir(path, 0755) != 0) {
            die("make a folder", path);
        }
        if (entry->kind != TEST_FILE) {
            continue;
        }
        FILE *file = fopen(path, "wb");
        if (file == NULL || fwrite(entry->bytes, 1, entry->count, file) != entry->count ||
            fclose(file) != 0) {
            die("write it", path);
        }
    }
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

void test_tree_remove(const char *root)
{
    if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        die("remove it", root);
    }
}
