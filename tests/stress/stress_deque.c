/* SPDX-License-Identifier: MIT */
/* The deque with one owner and several thieves: each item is handed out exactly once, the owner
 * gets the newest, thieves the oldest, and what was written before a push is seen by whoever gets
 * the item (payloads are plain memory, so that TSan sees a missing release). The same with delays
 * inside a steal is in stress_deque_hooks.c. */
#include "support/test.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/alloc.h"
#include "support/proc.h"
#include "support/thieves.h"

enum { THIEVES = 3, BURST = 64, MIRROR_MAX = 1 << 16 };

/* Long runs are cut into parts, each with a deque and a ledger of its own, to bound the memory. */
enum { PART_MAX = 10000000 };

typedef void part_fn(size_t count, unsigned thieves, uint64_t stream);

static void in_parts(part_fn *part, size_t count, unsigned thieves, uint64_t stream)
{
    while (count > 0) {
        size_t now = (count < PART_MAX) ? count : PART_MAX;
        part(now, thieves, stream);
        count -= now;
        stream += 100;
    }
}

/* The ids 1..count: who gets one writes it down here. */
typedef struct ledger {
    size_t count;
    uint64_t *payload;        /* plain: written before the push, read by whoever gets the item */
    atomic_uchar *handed_out; /* times each id was handed out */
    uintptr_t newest[TEST_THIEVES_MAX][16]; /* per thief, a cache line apart: the last id it got */
} ledger;

static void ledger_open(ledger *l, size_t count)
{
    l->count = count;
    l->payload = calloc(count + 1, sizeof(*l->payload));
    l->handed_out = calloc(count + 1, sizeof(*l->handed_out));
    assert_non_null(l->payload);
    assert_non_null(l->handed_out);
    for (unsigned i = 0; i < TEST_THIEVES_MAX; i++) {
        l->newest[i][0] = 0;
    }
}

/* Each id was handed out exactly once; then forget them. */
static void ledger_close(ledger *l)
{
    size_t missing = 0;
    size_t twice = 0;
    for (size_t id = 1; id <= l->count; id++) {
        missing += (atomic_load_explicit(&l->handed_out[id], memory_order_relaxed) == 0);
        twice += (atomic_load_explicit(&l->handed_out[id], memory_order_relaxed) > 1);
    }
    free(l->payload);
    free(l->handed_out);
    assert_int_equal(missing, 0);
    assert_int_equal(twice, 0);
    test_assert_clean();
}

static filch_item ledger_issue(ledger *l, uintptr_t id)
{
    filch_item item = { id, (uintptr_t)test_mix(id) };
    l->payload[id] = test_mix(id + 1);
    return item;
}

static void ledger_take(ledger *l, filch_item item)
{
    uintptr_t id = item.first;
    if (id == 0 || id > l->count || item.second != (uintptr_t)test_mix(id)) {
        TEST_FAIL("an item that was never pushed");
        return;
    }
    TEST_CHECK(l->payload[id] == test_mix(id + 1));
    atomic_fetch_add_explicit(&l->handed_out[id], 1, memory_order_relaxed);
}

/* What one thief gets from the top was pushed in that order. */
static void thief_takes(void *ctx, unsigned thief, filch_item item)
{
    ledger *l = ctx;
    TEST_CHECK(item.first > l->newest[thief][0]);
    l->newest[thief][0] = item.first;
    ledger_take(l, item);
}

static filch_deque *make_deque(size_t capacity, size_t max_capacity)
{
    filch_deque *deque = NULL;
    assert_int_equal(filch_deque_create(capacity, max_capacity, NULL, &deque), FILCH_OK);
    return deque;
}

/* The owner's side: what it pushed and did not pop, so that it knows what the newest is. An item
 * that a thief took stays in the mirror until a pop says that nothing is left. */
typedef struct owner {
    filch_deque *deque;
    ledger *book;
    uintptr_t *mirror;
    size_t depth;
    uintptr_t next;
} owner;

static void owner_push(owner *o)
{
    filch_item item = ledger_issue(o->book, o->next);
    TEST_CHECK(filch_deque_push(o->deque, item) == FILCH_OK);
    o->mirror[o->depth++] = o->next++;
}

/* False: the deque is empty. */
static bool owner_pop(owner *o)
{
    filch_item item = { 0, 0 };
    if (filch_deque_pop(o->deque, &item) == 0) {
        o->depth = 0;
        return false;
    }
    if (o->depth == 0) {
        TEST_FAIL("a pop found an item that was handed out before");
        return true;
    }
    TEST_CHECK(item.first == o->mirror[--o->depth]);
    ledger_take(o->book, item);
    return true;
}

static void random_bursts(owner *o, test_rng *rng)
{
    while (o->next <= o->book->count) {
        size_t burst = 1 + test_rng_below(rng, BURST);
        bool push = o->depth + BURST < MIRROR_MAX && test_rng_below(rng, 2) == 0;
        for (size_t i = 0; i < burst; i++) {
            if (push && o->next <= o->book->count) {
                owner_push(o);
            } else if (!push && !owner_pop(o)) {
                break;
            }
        }
    }
    while (owner_pop(o)) {}
}

static void bursts(size_t ids, unsigned thieves, uint64_t stream)
{
    ledger book;
    test_thieves team;
    test_rng rng = test_rng_make(stream);
    filch_deque *deque = make_deque(2, 1 << 20);
    owner o = { deque, &book, malloc(MIRROR_MAX * sizeof(uintptr_t)), 0, 1 };

    assert_non_null(o.mirror);
    ledger_open(&book, ids);
    test_thieves_start(&team, deque, thieves, thief_takes, &book);
    random_bursts(&o, &rng);
    assert_int_equal(filch_deque_size(deque), 0);
    test_thieves_stop(&team);
    printf("%zu ids, %u thieves: %zu stolen, %zu races lost\n", ids, thieves,
           atomic_load(&team.stolen), atomic_load(&team.lost));
    assert_true(test_is_short() || atomic_load(&team.stolen) > 0);
    free(o.mirror);
    filch_deque_destroy(deque);
    ledger_close(&book);
}

static void deque__random_bursts__each_item_once_and_in_order(void **state)
{
    (void)state;
    in_parts(bursts, test_count(10000000, 1000000), THIEVES, 1);
}

static void deque__random_bursts_one_thief__each_item_once_and_in_order(void **state)
{
    (void)state;
    in_parts(bursts, test_count(2000000, 300000), 1, 2);
}

/* The last item: the size flips between 0 and 1, owner and thieves want the same item. */
static void duel(size_t rounds, unsigned thieves, uint64_t stream)
{
    ledger book;
    test_thieves team;
    filch_deque *deque = make_deque(1, 4);
    size_t popped = 0;
    (void)stream;
    ledger_open(&book, rounds);
    test_thieves_start(&team, deque, thieves, thief_takes, &book);
    for (uintptr_t id = 1; id <= rounds; id++) {
        filch_item got = { 0, 0 };
        filch_item item = ledger_issue(&book, id);
        TEST_CHECK(filch_deque_push(deque, item) == FILCH_OK);
        if (filch_deque_pop(deque, &got) == 1) {
            TEST_CHECK(got.first == id);
            ledger_take(&book, got);
            popped++;
        }
        TEST_CHECK(filch_deque_size(deque) == 0);
    }
    test_thieves_stop(&team);
    printf("%zu duels: %zu to the owner, %zu to thieves, %zu races lost\n", rounds, popped,
           atomic_load(&team.stolen), atomic_load(&team.lost));
    filch_deque_destroy(deque);
    assert_int_equal(popped + atomic_load(&team.stolen), rounds);
    ledger_close(&book);
}

static void deque__last_item_duel__handouts_equal_pushes(void **state)
{
    (void)state;
    in_parts(duel, test_count(3000000, 500000), THIEVES, 0);
}

/* Records with a magic word, pushed one by one: a thief that is on the newest slot at once never
 * sees NULL or a record that is not written yet. */
#define MAGIC UINT64_C(0x5ea1ed0f111c4ed0)

typedef struct record {
    uint64_t magic;
    uint64_t id;
} record;

typedef struct records {
    record *all;
    uint64_t next[TEST_THIEVES_MAX];
    atomic_size_t taken;
} records;

static void thief_reads_record(void *ctx, unsigned thief, filch_item item)
{
    records *r = ctx;
    const record *rec = (const record *)item.first;
    TEST_CHECK(rec != NULL);
    if (rec == NULL) {
        return;
    }
    TEST_CHECK(rec->magic == MAGIC);
    TEST_CHECK(rec->id == item.second);
    TEST_CHECK(rec->id >= r->next[thief]);
    r->next[thief] = rec->id + 1;
    atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed);
}

static void single_pushes(size_t count, unsigned thieves, uint64_t stream)
{
    records r = { calloc(count, sizeof(record)), { 0 }, 0 };
    test_thieves team;
    filch_deque *deque = make_deque(8, 8);

    assert_non_null(r.all);
    (void)stream;
    test_thieves_start(&team, deque, thieves, thief_reads_record, &r);
    for (size_t i = 0; i < count; i++) {
        filch_item item = { (uintptr_t)&r.all[i], i };
        r.all[i].id = i;
        r.all[i].magic = MAGIC;
        while (filch_deque_push(deque, item) == FILCH_E_FULL) {
            sched_yield();
        }
    }
    while (filch_deque_size(deque) != 0) {
        sched_yield();
    }
    test_thieves_stop(&team);
    filch_deque_destroy(deque);
    free(r.all);
    test_assert_clean();
    assert_int_equal(atomic_load(&r.taken), count);
}

static void deque__single_pushes__a_stolen_record_is_complete(void **state)
{
    (void)state;
    in_parts(single_pushes, test_count(2000000, 300000), 1, 0);
    in_parts(single_pushes, test_count(1000000, 200000), THIEVES, 0);
}

/* Three deques in a ring: each thread owns one and steals from the next one into its own, which
 * holds four, while it is stolen from itself. */
enum { RING = 3 };

typedef struct ring {
    ledger book;
    filch_deque *deques[RING];
    atomic_uint running;
    atomic_size_t taken;
    atomic_size_t moved;
} ring;

typedef struct ring_member {
    ring *all;
    unsigned index;
} ring_member;

static void ring_take(ring *r, filch_item item)
{
    ledger_take(&r->book, item);
    atomic_fetch_add_explicit(&r->taken, 1, memory_order_relaxed);
}

/* Into the own deque, or taken at once if that is full. */
static void ring_put(ring *r, filch_deque *own, filch_item item)
{
    if (filch_deque_push(own, item) == FILCH_E_FULL) {
        TEST_CHECK(filch_deque_capacity(own) == 4);
        ring_take(r, item);
    }
}

static void *ring_main(void *arg)
{
    ring_member *me = arg;
    ring *r = me->all;
    filch_deque *own = r->deques[me->index];
    filch_deque *victim = r->deques[(me->index + 1) % RING];
    test_rng rng = test_rng_make(100 + me->index);
    uintptr_t id = 1 + me->index;

    atomic_fetch_add(&r->running, 1);
    test_await(&r->running, RING);
    while (atomic_load_explicit(&r->taken, memory_order_relaxed) < r->book.count) {
        filch_item item = { 0, 0 };
        size_t burst = test_rng_below(&rng, 6);
        for (size_t i = 0; i < burst && id <= r->book.count; i++, id += RING) {
            ring_put(r, own, ledger_issue(&r->book, id));
        }
        for (int i = 0; i < 2 && filch_deque_steal(victim, &item) == FILCH_STEAL_GOT; i++) {
            atomic_fetch_add_explicit(&r->moved, 1, memory_order_relaxed);
            ring_put(r, own, item);
        }
        for (size_t i = test_rng_below(&rng, 5); i > 0 && filch_deque_pop(own, &item) == 1; i--) {
            ring_take(r, item);
        }
    }
    return NULL;
}

static void run_ring(size_t count, unsigned thieves, uint64_t stream)
{
    static ring r;
    ring_member members[RING];
    pthread_t threads[RING];
    (void)thieves;
    (void)stream;
    ledger_open(&r.book, count);
    atomic_store(&r.running, 0);
    atomic_store(&r.taken, 0);
    atomic_store(&r.moved, 0);
    for (unsigned i = 0; i < RING; i++) {
        r.deques[i] = make_deque(4, 4);
    }
    for (unsigned i = 0; i < RING; i++) {
        members[i].all = &r;
        members[i].index = i;
        test_thread_start(&threads[i], ring_main, &members[i]);
    }
    for (unsigned i = 0; i < RING; i++) {
        test_thread_join(threads[i]);
    }
    for (unsigned i = 0; i < RING; i++) {
        assert_int_equal(filch_deque_size(r.deques[i]), 0);
        filch_deque_destroy(r.deques[i]);
    }
    printf("%zu ids, moved %zu times\n", r.book.count, atomic_load(&r.moved));
    assert_true(test_is_short() || atomic_load(&r.moved) > 0);
    ledger_close(&r.book);
}

static void deque__ring_of_stealing_owners__each_item_once(void **state)
{
    (void)state;
    in_parts(run_ring, test_count(3000000, 300000), RING, 0);
}

/* Growing to a million while thieves steal, again and again: memory does not climb. */
static void take_anything(void *ctx, unsigned thief, filch_item item)
{
    (void)thief;
    TEST_CHECK(item.second == (uintptr_t)test_mix(item.first + 1));
    atomic_fetch_add_explicit((atomic_size_t *)ctx, 1, memory_order_relaxed);
}

static size_t drain(filch_deque *deque)
{
    size_t popped = 0;
    filch_item item;
    while (filch_deque_pop(deque, &item) == 1) {
        TEST_CHECK(item.second == (uintptr_t)test_mix(item.first + 1));
        popped++;
    }
    return popped;
}

static void grow_round(test_allocator *memory, size_t items)
{
    enum { FILLS = 2 };
    filch_deque *deque = NULL;
    test_thieves team;
    atomic_size_t stolen = 0;
    size_t popped = 0;
    assert_int_equal(filch_deque_create(2, 1 << 24, &memory->hooks, &deque), FILCH_OK);
    test_thieves_start(&team, deque, THIEVES, take_anything, &stolen);
    for (int fill = 0; fill < FILLS; fill++) {
        /* Until it holds that many, however many are stolen meanwhile, up to a bound. */
        size_t pushed = 0;
        while (pushed < items || (filch_deque_size(deque) < items / 4 && pushed < 3 * items)) {
            filch_item item = { pushed, (uintptr_t)test_mix(pushed + 1) };
            TEST_CHECK(filch_deque_push(deque, item) == FILCH_OK);
            pushed++;
        }
        popped += drain(deque);
        popped -= pushed; /* back to 0 together with what the thieves got */
    }
    test_thieves_stop(&team);
    size_t in_use = filch_deque_capacity(deque) * sizeof(filch_item);
    assert_true(filch_deque_retired_bytes(deque) < in_use);
    assert_true(atomic_load(&memory->live_bytes) < 2 * in_use + 65536);
    filch_deque_destroy(deque);
    assert_int_equal(popped + atomic_load(&stolen), 0);
    test_allocator_assert_balanced(memory);
    test_assert_clean();
}

static void deque__growth_under_thieves__memory_does_not_climb(void **state)
{
    size_t rounds = test_count(12, 4);
    size_t items = (TEST_UNDER_ASAN || TEST_UNDER_TSAN) ? 100000 : 1000000;
    size_t rss_after_third = 0;
    test_allocator memory;
    (void)state;
    test_allocator_init(&memory);
    for (size_t round = 1; round <= rounds; round++) {
        grow_round(&memory, items);
        if (round == 3) {
            rss_after_third = test_proc_rss();
        }
    }
    if (!TEST_UNDER_ASAN && !TEST_UNDER_TSAN && rounds > 3) {
        size_t slack = (size_t)48 << 20; /* one buffer more or less in the caches of libc */
        printf("resident after round 3: %zu KiB, at the end: %zu KiB\n", rss_after_third >> 10,
               test_proc_rss() >> 10);
        assert_true(test_proc_rss() < rss_after_third + slack);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(deque__random_bursts__each_item_once_and_in_order),
        cmocka_unit_test(deque__random_bursts_one_thief__each_item_once_and_in_order),
        cmocka_unit_test(deque__last_item_duel__handouts_equal_pushes),
        cmocka_unit_test(deque__single_pushes__a_stolen_record_is_complete),
        cmocka_unit_test(deque__ring_of_stealing_owners__each_item_once),
        cmocka_unit_test(deque__growth_under_thieves__memory_does_not_climb),
    };
    test_begin(300);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
