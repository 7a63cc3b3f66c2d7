/* SPDX-License-Identifier: MIT */
/* A user's program under the thread sanitizer, with plain data of its own that is handed over by
 * the library alone: through forks and joins, scopes, loops and their slots, posts, quiet, and roots.
 * As written it must give no report. With an argument it makes one mistake, which must be reported:
 *   fork   two children write one variable        loop   all slots add to one sum
 *   post   a result is read before the task ended  scope  a child's cell is written before the end
 * Installed headers only; built against the shared and the static library. */
#include <filch/filch.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3, COUNT = 20000, ROUNDS = 20, SLOTS = WORKERS + 1, GRAIN = 500 };

static const char *mistake = "";

static uint64_t numbers[COUNT]; /* written by the main thread before each round */
static uint64_t sums[SLOTS];    /* by slot */
static uint64_t posted[COUNT];  /* by the task of that number */
static uint64_t shared_sum;     /* by nobody, unless there is a mistake */

/* For the mistakes: two sides that are in it at the same time, with no order between them. Without
 * a second side it goes on alone after a while. */
static unsigned met;

static void meet(void)
{
    (void)__atomic_fetch_add(&met, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 100000 && __atomic_load_n(&met, __ATOMIC_RELAXED) < 2; i++) {
        (void)sched_yield();
    }
}

static int wrong(const char *name)
{
    return strcmp(mistake, name) == 0;
}

/* Fork and join: a tree, each child in a frame of its parent. */

typedef struct piece {
    size_t lo, hi;
    uint64_t sum;
} piece;

static void sum_piece(filch_cx *cx, void *arg)
{
    piece *const p = arg;
    if (p->hi - p->lo <= 500) {
        p->sum = 0;
        for (size_t i = p->lo; i < p->hi; i++) {
            p->sum += numbers[i];
        }
        return;
    }
    piece left = { p->lo, (p->lo + p->hi) / 2, 0 };
    piece right = { left.hi, p->hi, 0 };
    filch_join2(cx, sum_piece, &left, sum_piece, &right);
    p->sum = left.sum + right.sum;
}

static void add_to_shared(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    meet();
    shared_sum++;
}

static void forks(filch_cx *cx, void *arg)
{
    sum_piece(cx, arg);
    if (wrong("fork")) {
        filch_join2(cx, add_to_shared, NULL, add_to_shared, NULL);
    }
}

/* A scope: the children write, the parent reads after the end. */

static void write_square(filch_cx *cx, void *arg)
{
    uint64_t *const cell = arg;
    (void)cx;
    if (wrong("scope")) {
        meet();
    }
    *cell *= *cell;
}

/* A function of its own: clang 14 does not instrument some accesses to arrays of one's own frame. */
static __attribute__((noinline)) void number_cells(uint64_t *cells)
{
    for (uint64_t i = 0; i < 8; i++) {
        cells[i] = i;
    }
}

static void scope(filch_cx *cx, void *arg)
{
    uint64_t cells[8];
    uint64_t *const out = arg;
    filch_scope s;
    number_cells(cells);
    filch_scope_begin(cx, &s);
    for (uint64_t i = 0; i < 8; i++) {
        filch_spawn(cx, &s, write_square, &cells[i]);
    }
    *out = 0;
    if (wrong("scope")) {
        meet();
        number_cells(cells); /* some child is stolen */
    }
    filch_scope_end(cx, &s);
    for (int i = 0; i < 8; i++) {
        *out += cells[i];
    }
}

/* A loop: each slot has a sum of its own. */

static void add_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    for (size_t i = range.lo; i < range.hi; i++) {
        sums[range.slot] += numbers[i];
    }
    if (wrong("loop")) {
        meet();
        shared_sum += range.hi;
    }
}

/* Detached tasks: each writes a cell, read when the pool is quiet. */

static void write_cell(filch_cx *cx, void *arg)
{
    const uint32_t *const number = arg;
    (void)cx;
    posted[*number] = numbers[*number];
    if (wrong("post")) {
        meet();
    }
}

static void post_all(filch_pool *pool, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (filch_post(pool, write_cell, &i, sizeof(i), NULL) != FILCH_OK) {
            abort();
        }
    }
    if (wrong("post")) {
        meet();
        shared_sum += posted[0];
    }
    if (filch_pool_wait_quiet(pool, FILCH_FOREVER) != FILCH_OK) {
        abort();
    }
}

static int round_is_right(filch_pool *pool, uint64_t start)
{
    enum { POSTS = 300 };
    piece all = { 0, COUNT, 0 };
    filch_loop loop = FILCH_LOOP_INIT;
    uint64_t expected = 0;
    uint64_t by_slots = 0;
    uint64_t squares = 0;
    int right = 1;
    met = 0;
    memset(sums, 0, sizeof(sums));
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = start + i;
        expected += numbers[i];
    }
    right &= filch_run(pool, forks, &all) == FILCH_OK && all.sum == expected;
    right &= filch_run(pool, scope, &squares) == FILCH_OK && squares == 140;
    loop.grain = GRAIN; /* else one call may take all, and the mistake meets nobody */
    right &= filch_for_on(pool, COUNT, add_range, NULL, &loop) == FILCH_OK;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        by_slots += sums[slot];
    }
    right &= by_slots == expected;
    post_all(pool, POSTS);
    for (size_t i = 0; i < POSTS; i++) {
        right &= posted[i] == numbers[i];
    }
    return right;
}

int main(int argc, char **argv)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_pool *pool;
    int right = 1;
    mistake = argc > 1 ? argv[1] : "";
    config.workers = WORKERS;
    if (filch_pool_create(&config, &pool) != FILCH_OK) {
        return 2;
    }
    for (uint64_t i = 0; i < ROUNDS && right; i++) {
        right = round_is_right(pool, i);
    }
    right &= filch_pool_destroy(pool) == FILCH_OK;
    printf("%s\n", right ? "all sums are right" : "WRONG");
    return right ? 0 : 1;
}
