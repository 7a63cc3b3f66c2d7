/* SPDX-License-Identifier: MIT */
/* The explorer's own test, faults: programs with a defect that must be found, each by its name, and
 * next to some of them the same program put right. */
#include "base/atomic.h"
#include "model.h"
#include "plat/plat.h"

#include <stdlib.h>
#include <string.h>

static filchi_atomic_u64 flag;
static uint64_t data;
static uint64_t *block;
static filchi_parker parker;
static filchi_mutex lock, other_lock;

/* Races. */

static void write_data(void *arg)
{
    (void)arg;
    data = 1;
}

static void race_write_write(void)
{
    (void)model_spawn(write_data, NULL);
    data = 2;
    model_join_all();
}

static void race_read_write(void)
{
    (void)model_spawn(write_data, NULL);
    MODEL_ASSERT(data <= 1);
    model_join_all();
}

static void write_then_flag(void *arg)
{
    (void)arg;
    data = 1;
    filchi_store_relaxed_u64(&flag, 1);
}

static void race_relaxed_flag(void)
{
    (void)model_spawn(write_then_flag, NULL);
    if (filchi_load_acquire_u64(&flag) == 1) {
        MODEL_ASSERT(data == 1);
    }
    model_join_all();
}

static void write_byte(void *arg)
{
    ((char *)&data)[(uintptr_t)arg] = 1;
}

static void no_race_other_bytes(void)
{
    (void)model_spawn(write_byte, (void *)1);
    ((char *)&data)[2] = 1;
    model_join_all();
    MODEL_ASSERT(data == 0x010100);
}

static void race_plain_atomic(void)
{
    (void)model_spawn(write_then_flag, NULL);
    MODEL_ASSERT(flag.value <= 1);
    model_join_all();
}

static void copy(void *arg)
{
    memcpy(arg, &data, sizeof(data));
}

static void race_memcpy(void)
{
    uint64_t target;
    (void)model_spawn(copy, &target);
    data = 1;
    model_join_all();
}

static void locked_add(void *arg)
{
    (void)arg;
    filchi_mutex_lock(&lock);
    data++;
    filchi_mutex_unlock(&lock);
}

static void no_race_mutex(void)
{
    (void)filchi_mutex_init(&lock);
    (void)model_spawn(locked_add, NULL);
    locked_add(NULL);
    model_join_all();
    MODEL_ASSERT(data == 2);
}

/* Memory. */

static void free_block(void *arg)
{
    (void)arg;
    free(block);
}

static void use_after_free(void)
{
    block = malloc(sizeof(*block));
    *block = 1;
    free(block);
    MODEL_ASSERT(*block == 1);
}

/* never used after the free in fact, if the threads run one after the other */
static void use_races_with_free(void)
{
    block = malloc(sizeof(*block));
    *block = 1;
    (void)model_spawn(free_block, NULL);
    MODEL_ASSERT(*block == 1);
    model_join_all();
}

static void free_twice(void)
{
    block = malloc(sizeof(*block));
    (void)model_spawn(free_block, NULL);
    free(block);
    model_join_all();
}

static void behind_the_block(void)
{
    block = malloc(sizeof(*block));
    block[model_choose(2)] = 1;
}

static filchi_atomic_uptr published;

static void use_published(void *arg)
{
    (void)arg;
    uint64_t *found = (uint64_t *)filchi_load_relaxed_uptr(&published);
    if (found != NULL) {
        (void)filchi_load_relaxed_u64((filchi_atomic_u64 *)(void *)found);
    }
}

static void block_not_published(void)
{
    (void)model_spawn(use_published, NULL);
    block = malloc(sizeof(*block));
    filchi_store_relaxed_uptr(&published, (uintptr_t)block);
    model_join_all();
}

static MODEL_FRAME void publish_frame(void)
{
    filchi_atomic_u64 local = { 0 };
    filchi_store_relaxed_u64(&local, 1);
    filchi_store_release_uptr(&published, (uintptr_t)&local);
}

static void use_frame(void *arg)
{
    (void)arg;
    filchi_atomic_u64 *found = (filchi_atomic_u64 *)filchi_load_acquire_uptr(&published);
    if (found != NULL) {
        (void)filchi_load_relaxed_u64(found);
    }
}

static void frame_that_returned(void)
{
    (void)model_spawn(use_frame, NULL);
    publish_frame();
    model_join_all();
}

/* Waiting. */

static void raise_flag(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&flag, 1);
    if (filchi_load_relaxed_u64(&flag) == 2) {
        filchi_unpark(&parker);
    }
}

static void wake_forgotten(void)
{
    (void)filchi_parker_init(&parker);
    (void)model_spawn(raise_flag, NULL);
    if (filchi_load_acquire_u64(&flag) == 0) {
        (void)filchi_park(&parker, INT64_MAX);
    }
    model_join_all();
}

static filchi_atomic_u64 waits;

static void publish_weakly(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&flag, 1);
    if (filchi_load_acquire_u64(&waits) == 1) {
        filchi_unpark(&parker);
    }
}

/* both look before the other's store is there: only with store buffers */
static void wake_lost_in_store_buffer(void)
{
    (void)filchi_parker_init(&parker);
    (void)model_spawn(publish_weakly, NULL);
    filchi_store_release_u64(&waits, 1);
    if (filchi_load_acquire_u64(&flag) == 0) {
        (void)filchi_park(&parker, INT64_MAX);
    }
    model_join_all();
}

static void lock_backwards(void *arg)
{
    (void)arg;
    filchi_mutex_lock(&other_lock);
    filchi_mutex_lock(&lock);
    filchi_mutex_unlock(&lock);
    filchi_mutex_unlock(&other_lock);
}

static void locks_crosswise(void)
{
    (void)filchi_mutex_init(&lock);
    (void)filchi_mutex_init(&other_lock);
    (void)model_spawn(lock_backwards, NULL);
    filchi_mutex_lock(&lock);
    filchi_mutex_lock(&other_lock);
    filchi_mutex_unlock(&other_lock);
    filchi_mutex_unlock(&lock);
    model_join_all();
}

static void spin_for_ever(void)
{
    while (filchi_load_acquire_u64(&flag) == 0) {}
}

static void raise_and_end(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&flag, 1);
}

static void spin_ends(void)
{
    (void)model_spawn(raise_and_end, NULL);
    spin_for_ever();
    model_join_all();
}

/* Clients. */

static void needs_two_switches(void *arg)
{
    (void)arg;
    (void)filchi_add_relaxed_u64(&flag, 1);
    (void)filchi_add_relaxed_u64(&flag, 1);
}

static void assertion(void)
{
    (void)model_spawn(needs_two_switches, NULL);
    const uint64_t first = filchi_load_relaxed_u64(&flag);
    const uint64_t second = filchi_load_relaxed_u64(&flag);
    MODEL_ASSERT(first != 1 || second != 2);
    model_join_all();
}

static void aborts(void)
{
    if (model_choose(3) == 2) {
        abort();
    }
}

static void deadline(void)
{
    (void)filchi_parker_init(&parker);
    const int64_t before = filchi_clock_ns();
    MODEL_ASSERT(!filchi_park(&parker, before + 1000000));
    MODEL_ASSERT(filchi_clock_ns() >= before + 1000000);
}

static void globals_put_back(void)
{
    MODEL_ASSERT(data == 0 && block == NULL);
    data = 5;
    block = &data;
}

const model_client model_clients[] = {
    { .name = "race_write_write", .body = race_write_write, .fails = "data race" },
    { .name = "race_read_write", .body = race_read_write, .fails = "data race" },
    { .name = "race_relaxed_flag", .body = race_relaxed_flag, .fails = "data race" },
    { .name = "race_plain_atomic", .body = race_plain_atomic, .fails = "data race" },
    { .name = "race_memcpy", .body = race_memcpy, .fails = "data race" },
    { .name = "no_race_other_bytes", .body = no_race_other_bytes },
    { .name = "no_race_mutex", .body = no_race_mutex },
    { .name = "use_after_free", .body = use_after_free, .fails = "use after free" },
    { .name = "use_races_with_free", .body = use_races_with_free, .fails = "data race" },
    { .name = "free_twice", .body = free_twice, .fails = "no live block" },
    { .name = "behind_the_block", .body = behind_the_block, .fails = "outside of every block" },
    { .name = "block_not_published", .body = block_not_published, .fails = "data race" },
    { .name = "frame_that_returned",
      .body = frame_that_returned,
      .fails = "frame that has returned" },
    { .name = "wake_forgotten", .body = wake_forgotten, .fails = "all threads wait" },
    { .name = "wake_lost_in_store_buffer",
      .body = wake_lost_in_store_buffer,
      .fails = "all threads wait" },
    { .name = "locks_crosswise", .body = locks_crosswise, .fails = "all threads wait" },
    { .name = "spin_for_ever", .body = spin_for_ever, .fails = "no end" },
    { .name = "spin_ends", .body = spin_ends },
    { .name = "assertion", .body = assertion, .fails = "first != 1" },
    { .name = "aborts", .body = aborts, .fails = "abort()" },
    { .name = "deadline", .body = deadline },
    { .name = "globals_put_back", .body = globals_put_back },
    { .name = NULL },
};
