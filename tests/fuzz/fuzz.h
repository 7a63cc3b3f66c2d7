/* SPDX-License-Identifier: MIT */
/* What fuzz targets share: the entry point of libFuzzer, also called by replay.c on the inputs that
 * are kept, and a check that ends the process. */
#ifndef FILCH_TEST_FUZZ_H
#define FILCH_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                                           \
    ((cond) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond), abort()))

#endif
