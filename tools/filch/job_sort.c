/* SPDX-License-Identifier: MIT */
/* Job "sort": all lines of the tree's text files, in the order of `LC_ALL=C sort`.
 *
 * Lines are compared as unsigned bytes, the shorter first when it is the beginning of the other.
 * The first eight bytes of a line lie in its record as one number, so most comparisons touch no
 * text. The sort is a stable merge sort between two arrays: halves are forked, and a large merge is
 * split in two by a binary search, so that the last merge does not run on one thread alone.
 *
 * The first result is checked to hold all lines, in order; a stable sort of the same lines has only
 * one right answer, so later results are compared record by record. */
#define _POSIX_C_SOURCE 200809L

#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FORK_LINES = 1024,  /* fewer are sorted by one task: 50 to 100 us */
    MERGE_LINES = 4096, /* fewer are merged by one task: likewise */
    INSERT_LINES = 12,  /* fewer are sorted by insertion */
    KEY_BYTES = 8
};

typedef struct line {
    uint64_t key; /* the first bytes, the first one highest, filled up with zeros */
    const unsigned char *text;
    size_t length; /* without the newline */
} line;

typedef struct sort_job {
    job *base;
    size_t count;
    line *unsorted;
    line *work;
    line *scratch;
    line *expected;
    bool have_expected;
} sort_job;

/* Text has no NUL, so a zero in a key only stands behind the end of a line. */
static bool is_before(const line *a, const line *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int order = shorter > KEY_BYTES
                          ? memcmp(a->text + KEY_BYTES, b->text + KEY_BYTES, shorter - KEY_BYTES)
                          : 0;
    return order != 0 ? order < 0 : a->length < b->length;
}

/* ---- one task ---- */

static void insertion_sort(line *lines, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const line moving = lines[i];
        size_t at = i;
        while (at > 0 && is_before(&moving, &lines[at - 1])) {
            lines[at] = lines[at - 1];
            at--;
        }
        lines[at] = moving;
    }
}

/* Of equal lines those of `a` come first. */
static void merge_plain(const line *a, size_t a_count, const line *b, size_t b_count, line *out)
{
    const line *const a_end = a + a_count;
    const line *const b_end = b + b_count;
    while (a < a_end && b < b_end) {
        *out++ = is_before(b, a) ? *b++ : *a++;
    }
    if (a < a_end) {
        memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
    } else if (b < b_end) {
        memcpy(out, b, (size_t)(b_end - b) * sizeof *b);
    }
}

/* Sort `data`; the result is there, or in `scratch` if `into_scratch`. */
static void sort_plain(line *data, line *scratch, size_t count, bool into_scratch)
{
    if (count <= INSERT_LINES) {
        insertion_sort(data, count);
        if (into_scratch && count > 0) {
            memcpy(scratch, data, count * sizeof *data);
        }
        return;
    }
    const size_t half = count / 2;
    sort_plain(data, scratch, half, !into_scratch);
    sort_plain(data + half, scratch + half, count - half, !into_scratch);
    const line *const from = into_scratch ? data : scratch;
    merge_plain(from, half, from + half, count - half, into_scratch ? scratch : data);
}

/* ---- in parallel ---- */

typedef struct merge_task {
    design_task task;
    const line *a;
    const line *b;
    size_t a_count;
    size_t b_count;
    line *out;
} merge_task;

typedef struct sort_task {
    design_task task;
    line *data;
    line *scratch;
    size_t count;
    bool into_scratch;
} sort_task;

/* How many of `lines` come before `pivot`, or are equal to it if `with_equal`. */
static size_t count_before(const line *lines, size_t count, const line *pivot, bool with_equal)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        const bool before =
            with_equal ? !is_before(pivot, &lines[middle]) : is_before(&lines[middle], pivot);
        if (before) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

/* Halve the longer run and cut the other where it fits; equal lines stay in order (a before b). */
static void merge_lines(const design_cx *cx, void *arg)
{
    const merge_task *const m = arg;
    if (m->a_count + m->b_count <= MERGE_LINES) {
        merge_plain(m->a, m->a_count, m->b, m->b_count, m->out);
        return;
    }
    size_t a_cut = m->a_count / 2;
    size_t b_cut = m->b_count / 2;
    if (m->a_count >= m->b_count) {
        b_cut = count_before(m->b, m->b_count, &m->a[a_cut], false);
    } else {
        a_cut = count_before(m->a, m->a_count, &m->b[b_cut], true);
    }
    merge_task low = { .task = { .fn = merge_lines, .arg = &low },
                       .a = m->a,
                       .b = m->b,
                       .a_count = a_cut,
                       .b_count = b_cut,
                       .out = m->out };
    merge_task high = { .task = { .fn = merge_lines, .arg = &high },
                        .a = m->a + a_cut,
                        .b = m->b + b_cut,
                        .a_count = m->a_count - a_cut,
                        .b_count = m->b_count - b_cut,
                        .out = m->out + a_cut + b_cut };
    cx->on->pair(cx, &low.task, &high.task);
}

static void sort_lines(const design_cx *cx, void *arg)
{
    const sort_task *const s = arg;
    if (s->count <= FORK_LINES) {
        sort_plain(s->data, s->scratch, s->count, s->into_scratch);
        return;
    }
    const size_t half = s->count / 2;
    sort_task low = { .task = { .fn = sort_lines, .arg = &low },
                      .data = s->data,
                      .scratch = s->scratch,
                      .count = half,
                      .into_scratch = !s->into_scratch };
    sort_task high = { .task = { .fn = sort_lines, .arg = &high },
                       .data = s->data + half,
                       .scratch = s->scratch + half,
                       .count = s->count - half,
                       .into_scratch = !s->into_scratch };
    cx->on->pair(cx, &low.task, &high.task);
    const line *const from = s->into_scratch ? s->data : s->scratch;
    merge_task merge = { .a = from,
                         .b = from + half,
                         .a_count = half,
                         .b_count = s->count - half,
                         .out = s->into_scratch ? s->scratch : s->data };
    merge_lines(cx, &merge);
}

/* ---- the job ---- */

static void run_sort(void *state, const contestant *on)
{
    sort_job *const s = state;
    sort_task root = { .task = { .fn = sort_lines, .arg = &root },
                       .data = s->work,
                       .scratch = s->scratch,
                       .count = s->count };
    on->design->life->run(on->pool, &root.task);
}

static void prepare_sort(void *state)
{
    sort_job *const s = state;
    memcpy(s->work, s->unsorted, s->count * sizeof *s->work);
}

/* The same for any order of the same records, and hardly for any other records. */
static uint64_t fingerprint(const line *lines, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t mixed = ((uint64_t)(uintptr_t)lines[i].text ^ lines[i].length << 48) *
                               UINT64_C(0x9E3779B97F4A7C15);
        sum += mixed ^ mixed >> 29;
    }
    return sum;
}

static bool is_sorted(const line *lines, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (is_before(&lines[i], &lines[i - 1])) {
            return false;
        }
    }
    return true;
}

/* SHA-256 of the lines, each with its newline, as `LC_ALL=C sort | sha256sum` would give. */
static bool hash_lines(const line *lines, size_t count, char *out_hex)
{
    unsigned char digest[SHA_BYTES];
    sha all;
    sha_begin(&all);
    for (size_t i = 0; i < count; i++) {
        sha_add(&all, lines[i].text, lines[i].length + 1);
    }
    const bool good = sha_end(&all, digest);
    sha_hex(digest, out_hex);
    return good;
}

static job_verdict check_sort(void *state)
{
    sort_job *const s = state;
    const size_t bytes = s->count * sizeof *s->work;
    if (!s->have_expected) {
        s->have_expected = true;
        memcpy(s->expected, s->work, bytes);
        const bool complete = fingerprint(s->work, s->count) == fingerprint(s->unsorted, s->count);
        if (hash_lines(s->work, s->count, s->base->result) && complete &&
            is_sorted(s->work, s->count)) {
            return JOB_EQUAL;
        }
        snprintf(s->base->note, sizeof s->base->note, "the first result is not sorted or complete");
        return JOB_DIFFERS;
    }
    if (memcmp(s->expected, s->work, bytes) == 0) {
        return JOB_EQUAL;
    }
    (void)hash_lines(s->work, s->count, s->base->result);
    snprintf(s->base->note, sizeof s->base->note, "the order of the lines differs");
    return JOB_DIFFERS;
}

static uint64_t key_of(const unsigned char *text, size_t length)
{
    uint64_t key = 0;
    for (size_t i = 0; i < KEY_BYTES; i++) {
        key = key << 8 | (i < length ? text[i] : 0);
    }
    return key;
}

static size_t count_lines(const tree_text *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->bytes; i++) {
        count += text->data[i] == '\n';
    }
    return count;
}

static void find_lines(const tree_text *text, line *lines)
{
    const unsigned char *at = text->data;
    const unsigned char *const end = text->data + text->bytes;
    while (at < end) {
        const unsigned char *const newline = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)(newline - at);
        *lines++ = (line){ key_of(at, length), at, length };
        at = newline + 1;
    }
}

static void close_sort(void *state)
{
    sort_job *const s = state;
    free(s->unsorted);
    free(s->work);
    free(s->scratch);
    free(s->expected);
    free(s);
}

bool sort_job_open(job *out_job, const tree_text *text)
{
    sort_job *const s = calloc(1, sizeof *s);
    if (s == NULL) {
        return false;
    }
    s->base = out_job;
    s->count = count_lines(text);
    s->unsorted = calloc(s->count + 1, sizeof(line));
    s->work = calloc(s->count + 1, sizeof(line));
    s->scratch = calloc(s->count + 1, sizeof(line));
    s->expected = calloc(s->count + 1, sizeof(line));
    if (s->unsorted == NULL || s->work == NULL || s->scratch == NULL || s->expected == NULL) {
        close_sort(s);
        return false;
    }
    find_lines(text, s->unsorted);
    *out_job = (job){ .name = "sort",
                      .state = s,
                      .prepare = prepare_sort,
                      .run = run_sort,
                      .check = check_sort,
                      .close = close_sort };
    return true;
}

size_t sort_job_lines(const job *sort)
{
    return ((const sort_job *)sort->state)->count;
}

bool sort_job_save(const job *sort, const char *path)
{
    const sort_job *const s = sort->state;
    FILE *const out = fopen(path, "wbe");
    if (out == NULL) {
        return false;
    }
    size_t written = 0;
    while (written < s->count &&
           fwrite(s->work[written].text, s->work[written].length + 1, 1, out) == 1) {
        written++;
    }
    const int error = written == s->count ? 0 : errno;
    if (fclose(out) != 0 || error != 0) {
        errno = error != 0 ? error : errno;
        return false;
    }
    return true;
}
