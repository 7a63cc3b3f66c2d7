/* SPDX-License-Identifier: MIT */
/* SHA-1 of at most 55 bytes (one block): all that the unbalanced tree search needs. */
#ifndef FILCH_TEST_SHA1_H
#define FILCH_TEST_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { TEST_SHA1_BYTES = 20, TEST_SHA1_MAX_INPUT = 55 };

void test_sha1(const uint8_t *input, size_t bytes, uint8_t out_digest[TEST_SHA1_BYTES]);

#endif
