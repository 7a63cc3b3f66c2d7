/* SPDX-License-Identifier: MIT */
/* Random operations on a deque against an array that does the same. A string of bytes is the
 * program, so that a fuzzer can drive the same code: build with -DFILCH_FUZZ -fsanitize=fuzzer. */
#include "support/test.h"

#include <filch/deque.h>

#include <stdio.h>
#include <stdlib.h>

#include "support/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MODEL_MAX = 65536, PROGRAM_MAX = 4096 };

typedef struct model {
    filch_deque *deque;
    test_allocator memory;
    uintptr_t *items; /* [head, tail) oldest first */
    size_t head;
    size_t tail;
    size_t capacity;
    size_t limit;
    uintptr_t next;
} model;

#define HOLDS(cond) ((cond) ? (void)0 : broken(#cond, __LINE__))

static void broken(const char *what, int line)
{
    fprintf(stderr, "prop_deque.c:%d: does not hold: %s (seed 0x%llx)\n", line, what,
            (unsigned long long)test_seed());
    abort();
}

static size_t power_of_two_above(size_t n)
{
    size_t p = 1;
    while (p < n) {
        p *= 2;
    }
    return p;
}

static void start(model *m, uint8_t first, uint8_t second)
{
    size_t capacity = 1 + (first & 15U);
    size_t limit = capacity << (second & 7U);
    test_allocator_init(&m->memory);
    m->head = 0;
    m->tail = 0;
    m->next = 1;
    m->capacity = power_of_two_above(capacity);
    m->limit = power_of_two_above(limit);
    HOLDS(filch_deque_create(capacity, limit, &m->memory.hooks, &m->deque) == FILCH_OK);
}

static void check_push(model *m)
{
    size_t held = m->tail - m->head;
    filch_item item = { m->next, (uintptr_t)test_mix(m->next) };
    unsigned long calls = atomic_load(&m->memory.calls);
    filch_status status = filch_deque_push(m->deque, item);
    bool asked = atomic_load(&m->memory.calls) != calls;

    HOLDS(asked == (held == m->capacity && held < m->limit));
    if (held == m->limit) {
        HOLDS(status == FILCH_E_FULL);
    } else if (asked && test_allocator_has_failed(&m->memory)) {
        HOLDS(status == FILCH_E_NOMEM);
        test_allocator_fail(&m->memory, 0, false);
    } else {
        HOLDS(status == FILCH_OK);
        m->capacity *= asked ? 2 : 1;
        m->items[m->tail++] = m->next++;
    }
}

static void check_got(uintptr_t expected, filch_item item)
{
    HOLDS(item.first == expected);
    HOLDS(item.second == (uintptr_t)test_mix(expected));
}

static void check_pop(model *m)
{
    filch_item item = { 0, 0 };
    int got = filch_deque_pop(m->deque, &item);
    HOLDS(got == (m->head != m->tail));
    if (got == 1) {
        check_got(m->items[--m->tail], item);
    } else {
        HOLDS(item.first == 0 && item.second == 0);
    }
}

static void check_steal(model *m)
{
    filch_item item = { 0, 0 };
    filch_steal_result got = filch_deque_steal(m->deque, &item);
    HOLDS(got == ((m->head != m->tail) ? FILCH_STEAL_GOT : FILCH_STEAL_EMPTY));
    if (got == FILCH_STEAL_GOT) {
        check_got(m->items[m->head++], item);
    } else {
        HOLDS(item.first == 0 && item.second == 0);
    }
}

/* One byte: three bits of operation, five bits of how often. */
static void run_byte(model *m, uint8_t byte)
{
    unsigned op = byte & 7U;
    unsigned times = 1U + (byte >> 3);
    if (op == 7) {
        test_allocator_fail(&m->memory, 1, false);
        return;
    }
    while (times-- > 0 && m->tail < MODEL_MAX) {
        if (op < 3) {
            check_push(m);
        } else if (op < 5) {
            check_pop(m);
        } else {
            check_steal(m);
        }
        HOLDS(filch_deque_size(m->deque) == m->tail - m->head);
        HOLDS(filch_deque_capacity(m->deque) == m->capacity);
        HOLDS(filch_deque_retired_bytes(m->deque) < m->capacity * sizeof(filch_item));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    model m;
    if (size < 2) {
        return 0;
    }
    m.items = malloc(sizeof(*m.items) * (MODEL_MAX + 1));
    HOLDS(m.items != NULL);
    start(&m, bytes[0], bytes[1]);
    for (size_t i = 2; i < size; i++) {
        run_byte(&m, bytes[i]);
    }
    filch_deque_destroy(m.deque);
    HOLDS(atomic_load(&m.memory.broken) == 0);
    HOLDS(atomic_load(&m.memory.allocs) == atomic_load(&m.memory.frees));
    free(m.items);
    return 0;
}

#if !defined(FILCH_FUZZ)

static void deque__random_programs__as_the_array_does(void **state)
{
    static uint8_t program[PROGRAM_MAX];
    size_t programs = test_count(2000, 300);
    (void)state;
    for (size_t i = 0; i < programs; i++) {
        test_rng rng = test_rng_make(i);
        size_t size = 2 + test_rng_below(&rng, (i % 10 == 0) ? PROGRAM_MAX - 2 : 200);
        for (size_t at = 0; at < size; at++) {
            program[at] = (uint8_t)test_rng_next(&rng);
        }
        assert_int_equal(LLVMFuzzerTestOneInput(program, size), 0);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(deque__random_programs__as_the_array_does),
    };
    test_begin(60);
    return cmocka_run_group_tests(cases, NULL, NULL);
}

#endif
