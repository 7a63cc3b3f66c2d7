/* SPDX-License-Identifier: MIT */
/* A doubly linked list with its head as a sentinel; the links live in the elements. Whoever uses
 * it holds the lock that protects it. An unlinked element points at itself. */
#ifndef FILCHI_BASE_LIST_H
#define FILCHI_BASE_LIST_H

#include <stdbool.h>

typedef struct filchi_link {
    struct filchi_link *next;
    struct filchi_link *prev;
} filchi_link;

static inline void filchi_list_init(filchi_link *link)
{
    link->next = link;
    link->prev = link;
}

static inline bool filchi_list_empty(const filchi_link *head)
{
    return head->next == head;
}

static inline void filchi_list_insert_between(filchi_link *link, filchi_link *prev,
                                              filchi_link *next)
{
    link->prev = prev;
    link->next = next;
    prev->next = link;
    next->prev = link;
}

static inline void filchi_list_push_front(filchi_link *head, filchi_link *link)
{
    filchi_list_insert_between(link, head, head->next);
}

static inline void filchi_list_push_back(filchi_link *head, filchi_link *link)
{
    filchi_list_insert_between(link, head->prev, head);
}

static inline void filchi_list_remove(filchi_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    filchi_list_init(link);
}

#endif
