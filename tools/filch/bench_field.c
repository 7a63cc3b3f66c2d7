/* SPDX-License-Identifier: MIT */
/* Who takes part in `filch bench`: contestants of this program, and peers, which are the executable
 * files of a folder. */
#define _GNU_SOURCE

#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those that a build makes if it finds what they need; others in the folder take part as well. */
static const char *const known_peers[] = { "gomp", "omp", "tbb", "rayon", "java", "glib", "go" };
enum { KNOWN_PEERS = sizeof known_peers / sizeof known_peers[0] };

static const char usual[] = "serial,serial-calls,filch,shared-queue,locked-deques,static-partition";

static bench_contestant *add(bench *b, const char *name)
{
    for (unsigned i = 0; i < b->contestant_count; i++) {
        if (strcmp(b->contestants[i].name, name) == 0) {
            return NULL;
        }
    }
    if (b->contestant_count == BENCH_MOST_CONTESTANTS || strlen(name) >= BENCH_NAME_BYTES) {
        return NULL;
    }
    bench_contestant *const who = &b->contestants[b->contestant_count++];
    *who = (bench_contestant){ .program = NULL };
    memcpy(who->name, name, strlen(name) + 1);
    return who;
}

static bool is_known_peer(const char *name)
{
    for (unsigned i = 0; i < KNOWN_PEERS; i++) {
        if (strcmp(known_peers[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* False if there is no such peer, and nobody would expect one. */
static bool add_peer(bench *b, const char *name)
{
    char *path = NULL;
    if (b->peers == NULL || asprintf(&path, "%s/%s", b->peers, name) < 0) {
        path = NULL;
    }
    if (path != NULL && is_program(path)) {
        bench_contestant *const who = add(b, name);
        if (who != NULL) {
            who->program = path;
        } else {
            free(path);
        }
        return true;
    }
    free(path);
    if (!is_known_peer(name)) {
        return false;
    }
    bench_contestant *const who = add(b, name);
    if (who != NULL) {
        snprintf(who->skipped, sizeof who->skipped, "%s%.100s",
                 b->peers != NULL ? "not built: no program in " : "no folder of peers, see --peers",
                 b->peers != NULL ? b->peers : "");
    }
    return true;
}

static int keep_programs(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void add_peers(bench *b)
{
    for (unsigned i = 0; i < KNOWN_PEERS; i++) {
        add_peer(b, known_peers[i]);
    }
    struct dirent **entries = NULL;
    const int count = b->peers != NULL ? scandir(b->peers, &entries, keep_programs, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        add_peer(b, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void add_own(bench *b, bool designs_only)
{
    for (unsigned i = 0; i < GRID_CONTESTANTS; i++) {
        if (!designs_only || grid_contestants[i]->kind != NULL) {
            add(b, grid_contestants[i]->name);
        }
    }
}

static bool add_by_word(bench *b, const char *word)
{
    if (strcmp(word, "all") == 0) {
        add_own(b, false);
        add_peers(b);
    } else if (strcmp(word, "own") == 0) {
        add_own(b, false);
    } else if (strcmp(word, "designs") == 0) {
        add_own(b, true);
    } else if (strcmp(word, "peers") == 0) {
        add_peers(b);
    } else if (grid_find_contestant(word) != NULL) {
        add(b, word);
    } else {
        return strchr(word, '/') == NULL && add_peer(b, word);
    }
    return true;
}

int bench_choose(bench *b, const char *list)
{
    char *const words = strdup(list != NULL ? list : usual);
    if (words == NULL) {
        return cli_trouble("bench", "no memory");
    }
    int code = CLI_OK;
    char *rest = NULL;
    add(b, grid_serial.name);
    for (char *word = strtok_r(words, ",", &rest); word != NULL && code == CLI_OK;
         word = strtok_r(NULL, ",", &rest)) {
        if (!add_by_word(b, word)) {
            code = cli_misused("bench", "no contestant '%s'%s%s", word,
                               b->peers != NULL ? " here or in " : "",
                               b->peers != NULL ? b->peers : "");
        }
    }
    free(words);
    return code;
}
