/* SPDX-License-Identifier: MIT */
/* A worker turns from one activity to another while a reader looks at its stopwatches, which are
 * relaxed: it may see any old state of each. It is never told less than before, and no more than
 * the clock says. */
#include "model.h"
#include "rec/timesheet.h"

enum { READERS_MAX = 2 };

static filchi_timesheet sheet;
static filchi_activity watched;
static uint64_t began;
static int looks;                  /* of each reader */
static uint64_t told[READERS_MAX]; /* at the last look of each */

/* A clock that goes on with each reading, for all threads at once. */
static uint64_t now(void)
{
    return 1000000 + model_ghost(0, 1000);
}

static void turn(filchi_activity next)
{
    const uint64_t at = now();
    filchi_timesheet_end(&sheet, at);
    filchi_timesheet_begin(&sheet, next, at);
}

static uint64_t look(uint64_t before)
{
    const uint64_t spent = filchi_stopwatch_read(&sheet.watches[watched], now());
    MODEL_ASSERT(spent >= before);
    MODEL_ASSERT(spent <= now() - began);
    return spent;
}

static void reader(void *arg)
{
    uint64_t *mine = arg;
    for (int i = 0; i < looks; i++) {
        *mine = look(*mine);
    }
}

static void turn_while_read(filchi_activity activity, unsigned readers, int looks_each)
{
    watched = activity;
    looks = looks_each;
    model_name(&sheet, sizeof(sheet), "sheet");
    began = now();
    filchi_timesheet_begin(&sheet, FILCHI_BUSY, began);
    for (unsigned i = 0; i < readers; i++) {
        (void)model_spawn(reader, &told[i]);
    }
    turn(FILCHI_SEARCHING);
    turn(FILCHI_BUSY);
    turn(FILCHI_SEARCHING);
    model_join_all();
    for (unsigned i = 0; i < readers; i++) {
        (void)look(told[i]);
    }
}

static void busy(void)
{
    turn_while_read(FILCHI_BUSY, 1, 3);
}

static void searching(void)
{
    turn_while_read(FILCHI_SEARCHING, 1, 3);
}

static void two_readers(void)
{
    turn_while_read(FILCHI_BUSY, 2, 1);
}

const model_client model_clients[] = {
    { .name = "timesheet_reader_busy", .body = busy, .seconds = 0.5 },
    { .name = "timesheet_reader_searching", .body = searching, .seconds = 0.5 },
    { .name = "timesheet_two_readers", .body = two_readers, .seconds = 0.5 },
    { .name = NULL },
};
