/* SPDX-License-Identifier: MIT */
#include "stress/exported_join2.h"

filch_pair exported_join2(filch_cx *cx, filch_word_fn *f, uintptr_t a, filch_word_fn *g,
                          uintptr_t b)
{
    return filch_join2_word(cx, f, a, g, b);
}
