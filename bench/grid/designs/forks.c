/* SPDX-License-Identifier: MIT */
/* Recursive workloads on the designs: tasks lie in the frame of the task that forks them. */
#include "bench/grid/designs/work.h"

enum { SORT_CUT = 4096 /* below it one thread sorts or merges */ };

/* A number or a pair of numbers in, a sum out. */
typedef struct call {
    design_task task;
    size_t lo;
    size_t hi;
    uint64_t sum;
} call;

/* Two calls of `fn` in parallel; the sum of their sums. */
static uint64_t fork_two(const design_cx *cx, design_fn *fn, call *a, call *b)
{
    a->task.fn = fn;
    a->task.arg = a;
    b->task.fn = fn;
    b->task.arg = b;
    cx->on->pair(cx, &a->task, &b->task);
    return a->sum + b->sum;
}

static uint64_t run_call(grid_input *input, design_fn *fn, size_t lo, size_t hi)
{
    call start = { .lo = lo, .hi = hi };
    designs.input = input;
    designs_run(fn, &start);
    return start.sum;
}

static void fib(const design_cx *cx, void *arg)
{
    call *const c = arg;
    if (c->lo < 2) {
        c->sum = c->lo;
        return;
    }
    call first;
    call second;
    first.lo = c->lo - 1;
    second.lo = c->lo - 2;
    c->sum = fork_two(cx, fib, &first, &second);
}

uint64_t designs_fib(grid_input *input)
{
    return run_call(input, fib, input->n, 0);
}

static void tree_sum(const design_cx *cx, void *arg)
{
    call *const c = arg;
    const grid_tree_node *const node = &designs.input->tree[c->lo];
    c->sum = node->value;
    if (node->left != 0) {
        call left;
        call right;
        left.lo = node->left;
        right.lo = node->right;
        c->sum += fork_two(cx, tree_sum, &left, &right);
    }
}

uint64_t designs_tree(grid_input *input)
{
    return run_call(input, tree_sum, 0, 0);
}

static void pareto(const design_cx *cx, void *arg)
{
    call *const c = arg;
    if (c->hi - c->lo == 1) {
        c->sum = grid_spin(c->lo, grid_pareto_cost(c->lo, designs.input->scale));
        return;
    }
    call low;
    call high;
    low.lo = c->lo;
    low.hi = c->lo + (c->hi - c->lo) / 2;
    high.lo = low.hi;
    high.hi = c->hi;
    c->sum = fork_two(cx, pareto, &low, &high);
}

uint64_t designs_pareto(grid_input *input)
{
    return run_call(input, pareto, 0, input->n);
}

typedef struct placement {
    design_task task;
    grid_queens board;
    unsigned row;
    uint64_t ways;
} placement;

static void place(const design_cx *cx, void *arg)
{
    placement *const p = arg;
    if (grid_queens_is_leaf(p->board, p->row)) {
        p->ways = grid_queens_count(p->board);
        return;
    }
    placement next[GRID_QUEENS_MOST];
    unsigned count = 0;
    for (uint32_t open = grid_queens_free(p->board); open != 0; open &= open - 1) {
        placement *const child = &next[count++];
        child->task.fn = place;
        child->task.arg = child;
        child->board = grid_queens_place(p->board, open & (~open + 1));
        child->row = p->row + 1;
    }
    if (count > 0) {
        cx->on->all(cx, &next[0].task, sizeof next[0], count);
    }
    p->ways = 0;
    for (unsigned i = 0; i < count; i++) {
        p->ways += next[i].ways;
    }
}

uint64_t designs_queens(grid_input *input)
{
    placement start = { .board = grid_queens_start((unsigned)input->n) };
    designs_run(place, &start);
    return start.ways;
}

/* The children lo to hi - 1 of a node, halved until one is left. */
typedef struct brood {
    design_task task;
    const grid_uts_node *parent;
    unsigned lo;
    unsigned hi;
    uint64_t nodes;
} brood;

static void search(const design_cx *cx, void *arg);

static uint64_t search_halves(const design_cx *cx, const grid_uts_node *parent, unsigned lo,
                              unsigned hi)
{
    const unsigned middle = lo + (hi - lo) / 2;
    brood low = { .task.fn = search, .parent = parent, .lo = lo, .hi = middle };
    brood high = { .task.fn = search, .parent = parent, .lo = middle, .hi = hi };
    low.task.arg = &low;
    high.task.arg = &high;
    if (middle == lo) { /* one child, no choice */
        search(cx, &high);
        return high.nodes;
    }
    cx->on->pair(cx, &low.task, &high.task);
    return low.nodes + high.nodes;
}

static void search(const design_cx *cx, void *arg)
{
    brood *const b = arg;
    if (b->hi - b->lo > 1) {
        b->nodes = search_halves(cx, b->parent, b->lo, b->hi);
        return;
    }
    const grid_uts_node node = grid_uts_child(b->parent, b->lo);
    const unsigned children = grid_uts_children(&designs.input->uts, &node);
    b->nodes = 1 + (children == 0 ? 0 : search_halves(cx, &node, 0, children));
}

static void search_root(const design_cx *cx, void *arg)
{
    brood *const b = arg;
    const unsigned children = grid_uts_children(&designs.input->uts, b->parent);
    b->nodes = 1 + (children == 0 ? 0 : search_halves(cx, b->parent, 0, children));
}

uint64_t designs_uts(grid_input *input)
{
    const grid_uts_node root = grid_uts_root(&input->uts);
    brood start = { .parent = &root };
    designs.input = input;
    designs_run(search_root, &start);
    return start.nodes;
}

/* ---- sort: a merge sort whose merges are split as well ---- */

/* Merge a and b into out; or, with b NULL, sort a with the help of `out`, into which the result
 * goes if `into_out`. */
typedef struct sort_call {
    design_task task;
    uint64_t *a;
    size_t a_count;
    const uint64_t *b;
    size_t b_count;
    uint64_t *out;
    bool into_out;
} sort_call;

static void pair_sorts(const design_cx *cx, design_fn *fn, sort_call *first, sort_call *second)
{
    first->task.fn = fn;
    first->task.arg = first;
    second->task.fn = fn;
    second->task.arg = second;
    cx->on->pair(cx, &first->task, &second->task);
}

/* How many of the sorted words come before `value`. */
static size_t count_below(const uint64_t *words, size_t count, uint64_t value)
{
    size_t lo = 0;
    while (lo < count) {
        const size_t middle = lo + (count - lo) / 2;
        if (words[middle] < value) {
            lo = middle + 1;
        } else {
            count = middle;
        }
    }
    return lo;
}

static void merge(const design_cx *cx, void *arg)
{
    const sort_call *const m = arg;
    if (m->a_count + m->b_count <= SORT_CUT) {
        grid_merge(m->a, m->a_count, m->b, m->b_count, m->out);
        return;
    }
    const bool a_longer = m->a_count >= m->b_count;
    const size_t a_low =
        a_longer ? m->a_count / 2 : count_below(m->a, m->a_count, m->b[m->b_count / 2]);
    const size_t b_low =
        a_longer ? count_below(m->b, m->b_count, m->a[m->a_count / 2]) : m->b_count / 2;
    sort_call low = { .a = m->a, .a_count = a_low, .b = m->b, .b_count = b_low, .out = m->out };
    sort_call high = { .a = m->a + a_low,
                       .a_count = m->a_count - a_low,
                       .b = m->b + b_low,
                       .b_count = m->b_count - b_low,
                       .out = m->out + a_low + b_low };
    pair_sorts(cx, merge, &low, &high);
}

static void sort(const design_cx *cx, void *arg)
{
    const sort_call *const s = arg;
    if (s->a_count <= SORT_CUT) {
        grid_sort(s->a, s->a_count, s->out);
        if (s->into_out) {
            memcpy(s->out, s->a, s->a_count * sizeof *s->a);
        }
        return;
    }
    const size_t half = s->a_count / 2;
    sort_call low = { .a = s->a, .a_count = half, .out = s->out, .into_out = !s->into_out };
    sort_call high = { .a = s->a + half,
                       .a_count = s->a_count - half,
                       .out = s->out + half,
                       .into_out = !s->into_out };
    pair_sorts(cx, sort, &low, &high);
    sort_call both = { .a = s->into_out ? s->a : s->out,
                       .a_count = half,
                       .b = s->into_out ? s->a + half : s->out + half,
                       .b_count = s->a_count - half,
                       .out = s->into_out ? s->out : s->a };
    merge(cx, &both);
}

uint64_t designs_sort(grid_input *input)
{
    sort_call start = { .a = input->words, .a_count = input->n, .out = input->scratch };
    designs_run(sort, &start);
    return 0;
}
