/* SPDX-License-Identifier: MIT */
/* filch_join2_word as the library exports it, for a test that is compiled with FILCH_INLINE. */
#ifndef FILCH_TEST_EXPORTED_JOIN2_H
#define FILCH_TEST_EXPORTED_JOIN2_H

#include <filch/fork.h>

filch_pair exported_join2(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                          uintptr_t b);

#endif
