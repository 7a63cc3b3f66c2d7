/* SPDX-License-Identifier: MIT */
/* Checks of debug builds (FILCH_DEBUG): misuse by the caller and broken invariants abort with one
 * sentence on stderr. In release builds they are constant false and cost nothing. */
#ifndef FILCHI_BASE_CHECK_H
#define FILCHI_BASE_CHECK_H

#include "base/compiler.h"

#if defined(FILCH_DEBUG)
enum { FILCHI_DEBUG = 1 };
#else
enum { FILCHI_DEBUG = 0 };
#endif

/* Print "filch: <sentence>" and abort. */
FILCHI_COLD void filchi_check_failed(const char *sentence);

/* The caller broke a rule; `sentence` names it. */
#define FILCHI_RULE(condition, sentence)                                                           \
    ((void)(FILCHI_DEBUG && !(condition) ? filchi_check_failed(sentence) : (void)0))

/* We broke one of our own. */
#define FILCHI_ASSERT(condition) FILCHI_RULE(condition, "broken invariant: " #condition)

#endif
