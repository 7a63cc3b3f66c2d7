/* SPDX-License-Identifier: MIT */
/* An entry of the board is withdrawn while others read the board: after the close nobody is
 * admitted, whoever was admitted before is known to the owner, and nobody reads the entry any more;
 * the owner frees it once those have left. Used-up entries are taken off by whoever finds them, also
 * while their owner closes them; the oldest entry is served first.
 * Covers: OFFER-1, OFFER-2 */
#include "lanes_client.h"

typedef struct entry {
    filchi_offer offer;
    unsigned places;        /* under the board's lock: who may still come */
    filchi_atomic_u64 here; /* admitted and not gone, and the owner */
    filchi_latch gone;
    uint64_t work; /* plain */
} entry;

static filchi_admission admit(filchi_offer *offer)
{
    entry *e = FILCHI_CONTAINER(offer, entry, offer);
    if (e->places == 0) {
        return FILCHI_EXHAUSTED;
    }
    e->places--;
    (void)filchi_add_relaxed_u64(&e->here, 1);
    return e->places == 0 ? FILCHI_ADMITTED_LAST : FILCHI_ADMITTED;
}

static bool leave(entry *e)
{
    return filchi_add_acq_rel_u64(&e->here, (uint64_t)-1) == 1;
}

static void visit(filch_cx *cx, void *object)
{
    entry *e = FILCHI_CONTAINER(object, entry, offer);
    (void)cx;
    MODEL_ASSERT(e->work == 5);
    if (leave(e)) {
        filchi_latch_set(&e->gone);
    }
}

static entry *open_entry(unsigned places)
{
    entry *e = malloc(sizeof(*e));
    MODEL_ASSERT(e != NULL);
    model_name(e, sizeof(*e), "entry");
    e->offer.admit = admit;
    e->offer.run = visit;
    e->places = places;
    e->work = 5;
    filchi_store_relaxed_u64(&e->here, 1);
    filchi_latch_init(&e->gone);
    filchi_offer_open(lanes, &e->offer);
    return e;
}

static void close_entry(entry *e)
{
    filchi_offer_close(lanes, &e->offer);
    if (!leave(e)) {
        filchi_latch_wait(&e->gone, client_lane(0)->parker);
    }
    free(e);
}

static void visitor(void *arg)
{
    filchi_offer *offer = filchi_board_take(&lanes->board);
    (void)arg;
    if (offer != NULL) {
        offer->run(NULL, offer);
    }
}

static void withdrawn(void)
{
    client_lanes(2);
    (void)model_spawn(visitor, NULL);
    close_entry(open_entry(2));
    model_join_all();
    client_free_lanes();
}

/* One place for two: the second finds it used up. */
static void used_up(void)
{
    client_lanes(3);
    (void)model_spawn(visitor, NULL);
    (void)model_spawn(visitor, NULL);
    close_entry(open_entry(1));
    model_join_all();
    client_free_lanes();
}

/* An entry without places stands in front of another. */
static void in_front(void)
{
    client_lanes(2);
    entry *first = open_entry(0);
    (void)model_spawn(visitor, NULL);
    entry *second = open_entry(1);
    close_entry(second);
    close_entry(first);
    model_join_all();
    client_free_lanes();
}

static entry *oldest;

static void visitor_of_oldest(void *arg)
{
    filchi_offer *offer = filchi_board_take(&lanes->board);
    (void)arg;
    MODEL_ASSERT(offer == &oldest->offer);
    offer->run(NULL, offer);
}

static void oldest_first(void)
{
    client_lanes(2);
    oldest = open_entry(1);
    const unsigned thread = model_spawn(visitor_of_oldest, NULL);
    entry *newer = open_entry(1);
    model_join(thread);
    close_entry(newer);
    close_entry(oldest);
    client_free_lanes();
}

const model_client model_clients[] = {
    { .name = "board_entry_withdrawn", .body = withdrawn, .no_spurious_wakes = true },
    { .name = "board_entry_used_up", .body = used_up, .no_spurious_wakes = true },
    { .name = "board_entry_in_front", .body = in_front, .no_spurious_wakes = true },
    { .name = "board_entry_oldest_first", .body = oldest_first, .no_spurious_wakes = true },
    { .name = NULL },
};
