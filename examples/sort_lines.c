/* SPDX-License-Identifier: MIT */
/* Sort the lines of a file, or of stdin, as `LC_ALL=C sort` does: a parallel merge sort.
 *
 * Lines are compared as unsigned bytes, the shorter first; a last line without a newline gets one.
 * The two halves are forked with filch_join2 and merged afterwards. Exits with 1 if the lines are
 * not in order at the end, with 2 if it cannot read, write or allocate. */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <filch/filch.h>

typedef struct line {
    char *text; /* with its newline; may hold NULs */
    size_t length;
} line;

typedef struct run {
    line *lines;
    line *scratch;
    size_t count;
} run;

static int compare(const line *a, const line *b)
{
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->text, b->text, shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static void sort_run(filch_cx *cx, void *arg)
{
    const run *const r = arg;
    const size_t half = r->count / 2;
    if (r->count < 2) {
        return;
    }
    run low = { r->lines, r->scratch, half };
    run high = { r->lines + half, r->scratch + half, r->count - half };
    filch_join2(cx, sort_run, &low, sort_run, &high);
    memcpy(r->scratch, r->lines, r->count * sizeof *r->lines);
    for (size_t i = 0, a = 0, b = half; i < r->count; i++) {
        const int from_a =
            b == r->count || (a < half && compare(&r->scratch[a], &r->scratch[b]) <= 0);
        r->lines[i] = from_a ? r->scratch[a++] : r->scratch[b++];
    }
}

/* Read all lines; their count, or -1. */
static ssize_t read_lines(FILE *in, line **lines)
{
    size_t count = 0;
    size_t bytes = 0;
    char *text = NULL;
    for (ssize_t got; (got = getline(&text, &bytes, in)) > 0; text = NULL) {
        if ((count & (count - 1)) == 0) { /* full: room for twice as many */
            line *const grown = realloc(*lines, (2 * count + 1) * sizeof **lines);
            if (grown == NULL) {
                return -1;
            }
            *lines = grown;
        }
        (*lines)[count++] = (line){ text, (size_t)got - (text[got - 1] == '\n') };
    }
    free(text);
    return ferror(in) ? -1 : (ssize_t)count;
}

int main(int argc, char **argv)
{
    FILE *const in = argc > 1 ? fopen(argv[1], "r") : stdin;
    run all = { NULL, NULL, 0 };
    const ssize_t count = in != NULL ? read_lines(in, &all.lines) : -1;
    all.count = count > 0 ? (size_t)count : 0;
    all.scratch = calloc(all.count + 1, sizeof *all.scratch);
    if (count < 0 || all.scratch == NULL ||
        filch_run(filch_default_pool(), sort_run, &all) != FILCH_OK) {
        perror("sort_lines");
        return 2;
    }
    int right = 1;
    for (size_t i = 0; i < all.count; i++) {
        right = right && (i == 0 || compare(&all.lines[i - 1], &all.lines[i]) <= 0);
        fwrite(all.lines[i].text, 1, all.lines[i].length, stdout);
        putchar('\n');
    }
    for (size_t i = 0; i < all.count; i++) {
        free(all.lines[i].text);
    }
    free(all.lines);
    free(all.scratch);
    return fclose(stdout) != 0 ? 2 : !right;
}
