/* SPDX-License-Identifier: MIT */
/* The explorer's own test: small programs whose possible outcomes are known. Each must show exactly
 * the outcomes that C11 (RC11) allows with its orders, less those the explorer states it does not
 * make: load buffering, and stores that enter the modification order out of turn. */
#include "litmus_client.h"

static filchi_atomic_u64 z;
static uint64_t r3, r4;

/* Store buffering: x = 1; r1 = y || y = 1; r2 = x. */

static void sb_sc_1(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&x, 1);
    r1 = filchi_load_seq_cst_u64(&y);
}

static void sb_sc_2(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&y, 1);
    r2 = filchi_load_seq_cst_u64(&x);
}

static void sb_ra_1(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&x, 1);
    r1 = filchi_load_acquire_u64(&y);
}

static void sb_ra_2(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&y, 1);
    r2 = filchi_load_acquire_u64(&x);
}

/* one load weaker than seq_cst */
static void sb_mixed_load_2(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&y, 1);
    r2 = filchi_load_acquire_u64(&x);
}

/* one store weaker than seq_cst */
static void sb_mixed_store_2(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&y, 1);
    r2 = filchi_load_seq_cst_u64(&x);
}

/* the store as a read-modify-write */
static void sb_rmw_2(void *arg)
{
    (void)arg;
    (void)filchi_add_seq_cst_u64(&y, 1);
    r2 = filchi_load_seq_cst_u64(&x);
}

static void sb_rmw_relaxed_2(void *arg)
{
    (void)arg;
    (void)filchi_add_relaxed_u64(&y, 1);
    r2 = filchi_load_seq_cst_u64(&x);
}

static void sb_sc(void)
{
    two(sb_sc_1, sb_sc_2);
}

static void sb_ra(void)
{
    two(sb_ra_1, sb_ra_2);
}

static void sb_mixed_load(void)
{
    two(sb_sc_1, sb_mixed_load_2);
}

static void sb_mixed_store(void)
{
    two(sb_sc_1, sb_mixed_store_2);
}

static void sb_rmw(void)
{
    two(sb_sc_1, sb_rmw_2);
}

static void sb_rmw_relaxed(void)
{
    two(sb_sc_1, sb_rmw_relaxed_2);
}

/* Message passing: x = 1; y = 1 || r1 = y; r2 = x. */

static void mp_release_1(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    filchi_store_release_u64(&y, 1);
}

static void mp_relaxed_1(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    filchi_store_relaxed_u64(&y, 1);
}

static void mp_acquire_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_acquire_u64(&y);
    r2 = filchi_load_relaxed_u64(&x);
}

static void mp_relaxed_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_relaxed_u64(&y);
    r2 = filchi_load_relaxed_u64(&x);
}

/* seq_cst on the data does not help if the flag is relaxed */
static void mp_sc_data_1(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&x, 1);
    filchi_store_relaxed_u64(&y, 1);
}

static void mp_sc_data_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_relaxed_u64(&y);
    r2 = filchi_load_seq_cst_u64(&x);
}

static void mp_ra(void)
{
    two(mp_release_1, mp_acquire_2);
}

static void mp_no_release(void)
{
    two(mp_relaxed_1, mp_acquire_2);
}

static void mp_no_acquire(void)
{
    two(mp_release_1, mp_relaxed_2);
}

static void mp_sc_data(void)
{
    two(mp_sc_data_1, mp_sc_data_2);
}

/* Release sequences: a read-modify-write between passes the message on, a store does not. */

static void rs_rmw_between(void *arg)
{
    (void)arg;
    (void)filchi_add_relaxed_u64(&y, 1);
}

static void rs_store_between(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&y, 2);
}

static void rs_own_store_1(void *arg)
{
    mp_release_1(arg);
    filchi_store_relaxed_u64(&y, 2);
}

static void three_with(model_thread *first, model_thread *between)
{
    (void)model_spawn(first, NULL);
    if (between != NULL) {
        (void)model_spawn(between, NULL);
    }
    (void)model_spawn(mp_acquire_2, NULL);
    model_join_all();
    model_outcome((unsigned)(r1 == 2 ? 2 + r2 : 0)); /* 2: flag without data, 3: both */
}

static void rs_rmw(void)
{
    three_with(mp_release_1, rs_rmw_between);
}

static void rs_store(void)
{
    three_with(mp_release_1, rs_store_between);
}

static void rs_own_store(void)
{
    three_with(rs_own_store_1, NULL);
}

/* Independent reads of independent writes. */

static void write_x_sc(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&x, 1);
}

static void write_y_sc(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&y, 1);
}

static void write_x(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&x, 1);
}

static void write_y(void *arg)
{
    (void)arg;
    filchi_store_release_u64(&y, 1);
}

static void read_xy_sc(void *arg)
{
    (void)arg;
    r1 = filchi_load_seq_cst_u64(&x);
    r2 = filchi_load_seq_cst_u64(&y);
}

static void read_yx_sc(void *arg)
{
    (void)arg;
    r3 = filchi_load_seq_cst_u64(&y);
    r4 = filchi_load_seq_cst_u64(&x);
}

static void read_xy(void *arg)
{
    (void)arg;
    r1 = filchi_load_acquire_u64(&x);
    r2 = filchi_load_acquire_u64(&y);
}

static void read_yx(void *arg)
{
    (void)arg;
    r3 = filchi_load_acquire_u64(&y);
    r4 = filchi_load_acquire_u64(&x);
}

static void four(model_thread *a, model_thread *b, model_thread *c, model_thread *d)
{
    (void)model_spawn(a, NULL);
    (void)model_spawn(b, NULL);
    (void)model_spawn(c, NULL);
    (void)model_spawn(d, NULL);
    model_join_all();
    model_outcome(r1 == 1 && r2 == 0 && r3 == 1 && r4 == 0); /* the readers disagree */
}

static void iriw_sc(void)
{
    four(write_x_sc, write_y_sc, read_xy_sc, read_yx_sc);
}

static void iriw_ra(void)
{
    four(write_x, write_y, read_xy, read_yx);
}

static void iriw_sc_reads_only(void)
{
    four(write_x, write_y, read_xy_sc, read_yx_sc);
}

/* Coherence. */

static void write_1_then_2(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 1);
    filchi_store_relaxed_u64(&x, 2);
}

static void read_x_twice(void *arg)
{
    (void)arg;
    r1 = filchi_load_relaxed_u64(&x);
    r2 = filchi_load_relaxed_u64(&x);
}

static void corr(void)
{
    (void)model_spawn(write_1_then_2, NULL);
    (void)model_spawn(read_x_twice, NULL);
    model_join_all();
    model_outcome((unsigned)(r1 * 3 + r2));
}

static void write_then_read_x(void *arg)
{
    (void)arg;
    filchi_store_relaxed_u64(&x, 3);
    r1 = filchi_load_relaxed_u64(&x);
}

/* a thread never reads a store older than its own; 3 again, or what came after it */
static void cowr(void)
{
    (void)model_spawn(write_1_then_2, NULL);
    (void)model_spawn(write_then_read_x, NULL);
    model_join_all();
    MODEL_ASSERT(r1 != 0);
    model_outcome((unsigned)r1);
}

static void increment(void *arg)
{
    (void)arg;
    (void)filchi_add_relaxed_u64(&x, 1);
}

static void rmw_atomic(void)
{
    (void)model_spawn(increment, NULL);
    (void)model_spawn(increment, NULL);
    model_join_all();
    model_outcome((unsigned)filchi_load_relaxed_u64(&x));
}

/* Two stores each, crosswise: x and y must not both end as 1. */

static void cross_1(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&x, 1);
    filchi_store_seq_cst_u64(&y, 2);
}

static void cross_2(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&y, 1);
    filchi_store_seq_cst_u64(&x, 2);
}

static void two_plus_two(void)
{
    (void)model_spawn(cross_1, NULL);
    (void)model_spawn(cross_2, NULL);
    model_join_all();
    model_outcome(
        (unsigned)((filchi_load_relaxed_u64(&x) - 1) * 2 + (filchi_load_relaxed_u64(&y) - 1)));
}

/* Load buffering: a stated limit, the explorer never makes 1, 1. */

static void lb_1(void *arg)
{
    (void)arg;
    r1 = filchi_load_relaxed_u64(&x);
    filchi_store_relaxed_u64(&y, 1);
}

static void lb_2(void *arg)
{
    (void)arg;
    r2 = filchi_load_relaxed_u64(&y);
    filchi_store_relaxed_u64(&x, 1);
}

static void lb(void)
{
    two(lb_1, lb_2);
}

/* Causality over three threads: x = 1 || r1 = x; y = 1 || r3 = y; r2 = x. */

static void wrc_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_relaxed_u64(&x);
    filchi_store_release_u64(&y, r1);
}

static void wrc_3(void *arg)
{
    (void)arg;
    r3 = filchi_load_acquire_u64(&y);
    r2 = filchi_load_relaxed_u64(&x);
}

static void wrc(void)
{
    (void)model_spawn(increment, NULL);
    (void)model_spawn(wrc_2, NULL);
    (void)model_spawn(wrc_3, NULL);
    model_join_all();
    model_outcome((unsigned)(r3 * 2 + r2));
}

/* A failing compare-and-swap may read an old store. */

static void cas_after_flag(void *arg)
{
    (void)arg;
    uint64_t expected = 7;
    r1 = filchi_load_relaxed_u64(&y);
    (void)filchi_cas_relaxed_u64(&x, &expected, 8);
    r2 = expected;
}

static void cas_stale(void)
{
    two(mp_relaxed_1, cas_after_flag);
}

/* Before the pool's own events: z shows that the order of seq_cst events is not simply the order
 * of the execution: T1's x comes first for T1, but T2 may miss it. */

static void z_1(void *arg)
{
    (void)arg;
    filchi_store_seq_cst_u64(&x, 1);
    filchi_store_release_u64(&z, 1);
}

static void z_2(void *arg)
{
    (void)arg;
    r1 = filchi_load_acquire_u64(&z);
    r2 = filchi_load_seq_cst_u64(&x);
}

static void sc_after_acquire(void)
{
    two(z_1, z_2);
}

const model_client model_clients[] = {
    { .name = "sb_sc", .body = sb_sc, .outcomes = ALL2 & ~BITS2(0, 0) },
    { .name = "sb_release_acquire", .body = sb_ra, .outcomes = ALL2 },
    { .name = "sb_one_load_weaker", .body = sb_mixed_load, .outcomes = ALL2 },
    { .name = "sb_one_store_weaker", .body = sb_mixed_store, .outcomes = ALL2 },
    { .name = "sb_rmw", .body = sb_rmw, .outcomes = ALL2 & ~BITS2(0, 0) },
    { .name = "sb_rmw_relaxed", .body = sb_rmw_relaxed, .outcomes = ALL2 },
    { .name = "mp_release_acquire", .body = mp_ra, .outcomes = ALL2 & ~BITS2(1, 0) },
    { .name = "mp_no_release", .body = mp_no_release, .outcomes = ALL2 },
    { .name = "mp_no_acquire", .body = mp_no_acquire, .outcomes = ALL2 },
    { .name = "mp_sc_data_only", .body = mp_sc_data, .outcomes = ALL2 },
    { .name = "release_sequence_rmw", .body = rs_rmw, .outcomes = 0x9 },
    { .name = "release_sequence_store", .body = rs_store, .outcomes = 0xd },
    { .name = "release_sequence_own_store", .body = rs_own_store, .outcomes = 0xd },
    { .name = "iriw_sc", .body = iriw_sc, .outcomes = 0x1 },
    { .name = "iriw_release_acquire", .body = iriw_ra, .outcomes = 0x3 },
    { .name = "iriw_sc_reads_only", .body = iriw_sc_reads_only, .outcomes = 0x3 },
    { .name = "coherence_read_read", .body = corr, .outcomes = 0x137 },
    { .name = "coherence_write_read", .body = cowr, .outcomes = 0xe },
    { .name = "rmw_atomic", .body = rmw_atomic, .outcomes = 0x4 },
    { .name = "two_plus_two_sc", .body = two_plus_two, .outcomes = 0xe },
    { .name = "load_buffering_not_made", .body = lb, .outcomes = 0x7 },
    { .name = "causality", .body = wrc, .outcomes = 0xb },
    { .name = "cas_fails_on_old_store", .body = cas_stale, .outcomes = 0xf },
    { .name = "sc_after_acquire", .body = sc_after_acquire, .outcomes = 0xb },
    { .name = NULL },
};
