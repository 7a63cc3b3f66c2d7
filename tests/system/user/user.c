/* SPDX-License-Identifier: MIT */
/* A program of a user, for the tools that look for races and leaks: clean as it is; with an
 * argument, two tasks race for one word. */
#include <filch/filch.h>

#include <stdio.h>

enum { CELLS = 64, ROUNDS = 50 };

static unsigned long cells[CELLS]; /* plain: ordered by the pool's calls alone */
static unsigned long raced_for;
static unsigned arrived;

static void add_one(filch_cx *cx, void *data)
{
    unsigned long *const *cell = data;
    (void)cx;
    **cell += 1;
}

static void add_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    for (size_t i = range.lo; i < range.hi; i++) {
        cells[i] += 1;
    }
}

static uintptr_t fork_tree(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    filch_pair pair = filch_join2_word(cx, fork_tree, n - 1, fork_tree, n - 2);
    return pair.first + pair.second;
}

/* Both at the same time, on two workers, and nothing orders them. */
static void race(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2) {}
    raced_for += 1;
}

static int use(filch_pool *pool)
{
    for (int round = 0; round < ROUNDS; round++) {
        uintptr_t value = 0;
        for (int i = 0; i < CELLS; i++) {
            unsigned long *cell = &cells[i];
            if (filch_post(pool, add_one, &cell, sizeof(cell), NULL) != FILCH_OK) {
                return 1;
            }
        }
        (void)filch_pool_wait_quiet(pool, FILCH_FOREVER);
        (void)filch_for_on(pool, CELLS, add_range, NULL, NULL);
        if (filch_run_word(pool, fork_tree, 12, &value) != FILCH_OK || value != 144) {
            return 1;
        }
    }
    for (int i = 0; i < CELLS; i++) {
        if (cells[i] != 2 * ROUNDS) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    filch_pool *pool = NULL;
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)argv;
    config.workers = 3;
    if (filch_pool_create(&config, &pool) != FILCH_OK) {
        return 1;
    }
    const int failed = use(pool);
    if (argc > 1) {
        (void)filch_post(pool, race, NULL, 0, NULL);
        (void)filch_post(pool, race, NULL, 0, NULL);
        (void)filch_pool_wait_quiet(pool, FILCH_FOREVER);
    }
    (void)filch_pool_destroy(pool);
    puts(failed != 0 ? "wrong" : "right");
    return failed;
}
