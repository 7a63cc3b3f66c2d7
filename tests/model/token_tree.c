/* SPDX-License-Identifier: MIT */
/* A parent is stopped while a child is made, asked, or destroyed: the child sees what was written
 * before, one that is made late is stopped from the start, and one that is gone is not touched.
 * Covers: TOKEN-1, TOKEN-2 */
#include "model.h"
#include "sync/token.h"

static filch_token *root;
static uint64_t note; /* plain: written before the stop */

static filch_token *make(filch_token *parent)
{
    filch_token *token = NULL;
    MODEL_ASSERT(filch_token_create(parent, NULL, &token) == FILCH_OK);
    return token;
}

static void begin(void)
{
    root = make(NULL);
    note = 0;
    model_name(root, sizeof(*root), "root");
}

static void stop(void *arg)
{
    note = 5;
    MODEL_ASSERT(filch_token_stop(arg) == FILCH_OK);
}

static void finish(void)
{
    model_join_all();
    MODEL_ASSERT(filch_token_stopped(root));
    MODEL_ASSERT(filch_token_destroy(root) == FILCH_OK);
}

static void asked(void)
{
    begin();
    filch_token *child = make(root);
    filch_token *grandchild = make(child);
    (void)model_spawn(stop, root);
    if (filch_token_stopped(grandchild)) {
        MODEL_ASSERT(note == 5);
    }
    model_join_all();
    MODEL_ASSERT(filch_token_stopped(grandchild) && filch_token_stopped(child));
    MODEL_ASSERT(filch_token_destroy(child) == FILCH_E_BUSY);
    MODEL_ASSERT(filch_token_destroy(grandchild) == FILCH_OK);
    MODEL_ASSERT(filch_token_destroy(child) == FILCH_OK);
    finish();
}

static void made_late(void)
{
    begin();
    (void)model_spawn(stop, root);
    filch_token *child = make(root);
    model_join_all();
    MODEL_ASSERT(filch_token_stopped(child));
    filch_token *after = make(root);
    MODEL_ASSERT(filch_token_stopped(after));
    MODEL_ASSERT(filch_token_destroy(child) == FILCH_OK);
    MODEL_ASSERT(filch_token_destroy(after) == FILCH_OK);
    finish();
}

static void destroyed(void)
{
    begin();
    filch_token *child = make(root);
    filch_token *sibling = make(root);
    (void)model_spawn(stop, root);
    MODEL_ASSERT(filch_token_destroy(child) == FILCH_OK);
    model_join_all();
    MODEL_ASSERT(filch_token_stopped(sibling));
    MODEL_ASSERT(filch_token_destroy(sibling) == FILCH_OK);
    finish();
}

/* A child's stop is its own. */
static void upward(void)
{
    begin();
    filch_token *child = make(root);
    filch_token *sibling = make(root);
    (void)model_spawn(stop, root);
    MODEL_ASSERT(filch_token_stop(child) == FILCH_OK);
    MODEL_ASSERT(filch_token_stopped(child));
    model_join_all();
    MODEL_ASSERT(filch_token_stopped(sibling));
    MODEL_ASSERT(filch_token_destroy(child) == FILCH_OK);
    MODEL_ASSERT(filch_token_destroy(sibling) == FILCH_OK);
    finish();
}

const model_client model_clients[] = {
    { .name = "token_tree", .body = asked, .seconds = 0.6 },
    { .name = "token_tree_made_late", .body = made_late, .seconds = 0.6 },
    { .name = "token_tree_destroyed", .body = destroyed, .seconds = 0.6 },
    { .name = "token_tree_upward", .body = upward, .seconds = 0.6 },
    { .name = NULL },
};
