/* SPDX-License-Identifier: MIT */
/* Contestant "filch": each workload in the form that Filch documents for it. Two calls in parallel
 * are filch_join2_word, some a scope, a loop a loop, a sum a reduction, a post filch_submit. */
#include "bench/grid/contestants.h"

#define FILCH_INLINE
#include <filch/filch.h>

#include <stdlib.h>

_Static_assert(sizeof(uintptr_t) >= sizeof(uint64_t), "a sum must fit into a word");

/* A sum for each thread, on a cache line of its own. */
typedef struct slot {
    _Alignas(64) uint64_t sum;
} slot;

/* What the tasks of the present run share. */
static filch_pool *pool;
static const grid_input *work;
static slot *slots;
static filch_task *nodes; /* flood */
static size_t node_count;

/* Nothing can refuse below: the pool is open, and there is memory or no measurement. */
static void expect(filch_status status)
{
    if (status != FILCH_OK) {
        abort();
    }
}

static uint64_t run_word(grid_input *input, filch_word_fn *fn, uintptr_t arg)
{
    uintptr_t result = 0;
    work = input;
    expect(filch_run_word(pool, fn, arg, &result));
    return result;
}

static void clear_slots(grid_input *input)
{
    work = input;
    memset(slots, 0, filch_slots(pool) * sizeof *slots);
}

static uint64_t sum_slots(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < filch_slots(pool); i++) {
        sum += slots[i].sum;
    }
    return sum;
}

/* ---- recursion ---- */

static uintptr_t fib(filch_cx *cx, uintptr_t n)
{
    if (n < 2) {
        return n;
    }
    const filch_pair both = filch_join2_word(cx, fib, n - 1, fib, n - 2);
    return both.first + both.second;
}

static uint64_t run_fib(grid_input *input)
{
    return run_word(input, fib, input->n);
}

static uintptr_t tree_sum(filch_cx *cx, uintptr_t at)
{
    const grid_tree_node *const node = &work->tree[at];
    if (node->left == 0) {
        return node->value;
    }
    const filch_pair both = filch_join2_word(cx, tree_sum, node->left, tree_sum, node->right);
    return node->value + both.first + both.second;
}

static uint64_t run_tree(grid_input *input)
{
    return run_word(input, tree_sum, 0);
}

/* The range [lo, hi) of leaves as one word. */
static uintptr_t pareto(filch_cx *cx, uintptr_t range)
{
    const uint64_t lo = range >> 32;
    const uint64_t hi = range & UINT32_MAX;
    if (hi - lo == 1) {
        return grid_spin(lo, grid_pareto_cost(lo, work->scale));
    }
    const uint64_t middle = lo + (hi - lo) / 2;
    const filch_pair both =
        filch_join2_word(cx, pareto, lo << 32 | middle, pareto, middle << 32 | hi);
    return both.first + both.second;
}

static uint64_t run_pareto(grid_input *input)
{
    return run_word(input, pareto, input->n);
}

typedef struct placement {
    grid_queens board;
    unsigned row;
    uint64_t ways;
} placement;

static void place(filch_cx *cx, void *arg)
{
    placement *const p = arg;
    if (grid_queens_is_leaf(p->board, p->row)) {
        p->ways = grid_queens_count(p->board);
        return;
    }
    placement next[GRID_QUEENS_MOST];
    unsigned count = 0;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (uint32_t open = grid_queens_free(p->board); open != 0; open &= open - 1) {
        next[count] = (placement){ grid_queens_place(p->board, open & (~open + 1)), p->row + 1, 0 };
        filch_spawn(cx, &scope, place, &next[count++]);
    }
    filch_scope_end(cx, &scope);
    for (unsigned i = 0; i < count; i++) {
        p->ways += next[i].ways;
    }
}

static uint64_t run_queens(grid_input *input)
{
    placement start = { grid_queens_start((unsigned)input->n), 0, 0 };
    expect(filch_run(pool, place, &start));
    return start.ways;
}

/* The children lo to hi - 1 of a node, halved until one is left. */
typedef struct brood {
    const grid_uts_node *parent;
    unsigned lo;
    unsigned hi;
} brood;

static uintptr_t search(filch_cx *cx, uintptr_t arg);

/* The first child of the brood, and all below it. */
static uintptr_t search_first(filch_cx *cx, uintptr_t arg)
{
    const brood *const b = (const brood *)arg;
    const grid_uts_node node = grid_uts_child(b->parent, b->lo);
    const brood children = { &node, 0, grid_uts_children(&work->uts, &node) };
    return children.hi == 0 ? 1 : 1 + search(cx, (uintptr_t)&children);
}

static uintptr_t search(filch_cx *cx, uintptr_t arg)
{
    const brood *const b = (const brood *)arg;
    if (b->hi - b->lo == 1) {
        return search_first(cx, arg);
    }
    const brood rest = { b->parent, b->lo + 1, b->hi };
    const filch_pair both = filch_join2_word(cx, search_first, arg, search, (uintptr_t)&rest);
    return both.first + both.second;
}

static uint64_t run_uts(grid_input *input)
{
    const grid_uts_node root = grid_uts_root(&input->uts);
    const brood children = { &root, 0, grid_uts_children(&input->uts, &root) };
    return children.hi == 0 ? 1 : 1 + run_word(input, search, (uintptr_t)&children);
}

static int compare_words(const void *left, const void *right, void *ctx)
{
    (void)ctx;
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t run_sort(grid_input *input)
{
    expect(filch_sort_on(pool, input->words, input->n, sizeof *input->words, compare_words, NULL));
    return 0;
}

/* ---- loops ---- */

static void matmul_rows(filch_cx *cx, void *arg, filch_range range)
{
    grid_input *const input = arg;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        grid_matmul_row(input->a, input->b, input->c, input->n, i);
    }
}

static uint64_t run_matmul(grid_input *input)
{
    expect(filch_for_on(pool, input->n, matmul_rows, input, NULL));
    return 0;
}

typedef struct heat_step {
    const uint32_t *from;
    uint32_t *to;
    size_t n;
} heat_step;

static void heat_rows(filch_cx *cx, void *arg, filch_range range)
{
    const heat_step *const step = arg;
    (void)cx;
    for (size_t i = range.lo; i < range.hi; i++) {
        grid_heat_row(step->from, step->to, step->n, i + 1);
    }
}

static uint64_t run_heat(grid_input *input)
{
    for (size_t s = 0; s < input->steps; s++) {
        heat_step step = { input->grid[s % 2], input->grid[(s + 1) % 2], input->n };
        expect(filch_for_on(pool, input->n - 2, heat_rows, &step, NULL));
    }
    return 0;
}

static uint64_t spin_range(const grid_input *input, filch_range range)
{
    uint64_t sum = 0;
    for (size_t i = range.lo; i < range.hi; i++) {
        sum += grid_spin(i, input->iters);
    }
    return sum;
}

static void sweep_piece(filch_cx *cx, void *arg, filch_range range)
{
    (void)cx;
    slots[range.slot].sum += spin_range(arg, range);
}

/* A loop, since a reduction has never more than 4,096 leaves. */
static uint64_t run_sweep(grid_input *input)
{
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = input->grain;
    clear_slots(input);
    expect(filch_for_on(pool, input->n, sweep_piece, input, &options));
    return sum_slots();
}

static void fold_spins(filch_cx *cx, void *arg, filch_range range, void *value)
{
    (void)cx;
    *(uint64_t *)value += spin_range(arg, range);
}

static void add_values(void *ctx, void *left, const void *right)
{
    (void)ctx;
    *(uint64_t *)left += *(const uint64_t *)right;
}

static uint64_t run_tasks(grid_input *input)
{
    filch_reducer sum = FILCH_REDUCER_INIT;
    filch_loop options = FILCH_LOOP_INIT;
    uint64_t result = 0;
    sum.value_bytes = sizeof result;
    sum.fold = fold_spins;
    sum.combine = add_values;
    options.grain = 1;
    expect(filch_reduce_on(pool, input->n, &sum, input, &result, &options));
    return result;
}

/* ---- many tiny tasks ---- */

static void spin_once(filch_cx *cx, void *arg)
{
    slots[filch_cx_worker(cx)].sum += grid_spin((uintptr_t)arg, work->iters);
}

static void spawn_spine(filch_cx *cx, void *arg)
{
    const grid_input *const input = arg;
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (uintptr_t i = 0; i < input->n; i++) {
        filch_spawn(cx, &scope, spin_once, (void *)i);
    }
    filch_scope_end(cx, &scope);
}

static uint64_t run_spine(grid_input *input)
{
    clear_slots(input);
    expect(filch_run(pool, spawn_spine, input));
    return sum_slots();
}

static void count_one(filch_cx *cx, void *arg)
{
    (void)arg;
    slots[filch_cx_worker(cx)].sum++;
}

/* The nodes would be part of the caller's own objects. */
static const char *ready_flood(grid_input *input)
{
    if (node_count < input->n) {
        free(nodes);
        nodes = calloc(input->n, sizeof *nodes);
        node_count = nodes != NULL ? input->n : 0;
    }
    return nodes != NULL ? NULL : "no memory";
}

static uint64_t run_flood(grid_input *input)
{
    clear_slots(input);
    for (size_t i = 0; i < input->n; i++) {
        nodes[i] = (filch_task)FILCH_TASK_INIT(count_one, NULL);
        expect(filch_submit(pool, &nodes[i], NULL));
    }
    expect(filch_pool_wait_quiet(pool, FILCH_FOREVER));
    return sum_slots();
}

/* ---- life ---- */

static void stop(void)
{
    expect(filch_pool_destroy(pool));
    free(slots);
    free(nodes);
    pool = NULL;
    slots = NULL;
    nodes = NULL;
    node_count = 0;
}

static const char *start(const grid_contestant *self, unsigned threads)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    (void)self;
    config.workers = threads;
    config.flags = FILCH_POOL_STRICT;
    const filch_status status = filch_pool_create(&config, &pool);
    if (status != FILCH_OK) {
        return filch_strerror(status);
    }
    slots = aligned_alloc(sizeof(slot), filch_slots(pool) * sizeof *slots);
    if (slots == NULL) {
        stop();
        return "no memory";
    }
    return NULL;
}

const filch_pool *grid_filch_pool(void)
{
    return pool;
}

const grid_contestant grid_filch = {
    .name = "filch",
    .version = FILCH_VERSION_STRING ", static library, defaults",
    .start = start,
    .stop = stop,
    .ways = { [GRID_FIB] = { .run = run_fib },
              [GRID_TREE] = { .run = run_tree },
              [GRID_QUEENS] = { .run = run_queens },
              [GRID_UTS] = { .run = run_uts },
              [GRID_SORT] = { .run = run_sort },
              [GRID_MATMUL] = { .run = run_matmul },
              [GRID_HEAT] = { .run = run_heat },
              [GRID_SWEEP] = { .run = run_sweep },
              [GRID_COARSE] = { .run = run_tasks },
              [GRID_HANDFUL] = { .run = run_tasks },
              [GRID_FLOOD] = { .run = run_flood, .ready = ready_flood },
              [GRID_SPINE] = { .run = run_spine },
              [GRID_PARETO] = { .run = run_pareto } },
};
