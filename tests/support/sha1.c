/* SPDX-License-Identifier: MIT */
/* SHA-1 (FIPS 180-4) of one block: see sha1.h. */
#include "support/sha1.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 80 };

static uint32_t rotate(uint32_t x, unsigned n)
{
    return (x << n) | (x >> (32U - n));
}

static uint32_t load_be(const uint8_t *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static void store_be(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)(x >> 24);
    p[1] = (uint8_t)(x >> 16);
    p[2] = (uint8_t)(x >> 8);
    p[3] = (uint8_t)x;
}

static void expand(const uint8_t *block, uint32_t w[ROUNDS])
{
    for (unsigned t = 0; t < 16; t++) {
        w[t] = load_be(block + (size_t)4 * t);
    }
    for (unsigned t = 16; t < ROUNDS; t++) {
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    }
}

/* Twenty rounds: f mixes three of the five words. */
typedef uint32_t mix_fn(uint32_t b, uint32_t c, uint32_t d);

static inline uint32_t mix_choose(uint32_t b, uint32_t c, uint32_t d)
{
    return (b & c) | (~b & d);
}

static inline uint32_t mix_parity(uint32_t b, uint32_t c, uint32_t d)
{
    return b ^ c ^ d;
}

static inline uint32_t mix_majority(uint32_t b, uint32_t c, uint32_t d)
{
    return (b & c) | (b & d) | (c & d);
}

static inline void twenty(uint32_t h[5], const uint32_t *w, mix_fn *mix, uint32_t key)
{
    for (unsigned t = 0; t < 20; t++) {
        uint32_t next = rotate(h[0], 5) + mix(h[1], h[2], h[3]) + h[4] + key + w[t];
        h[4] = h[3];
        h[3] = h[2];
        h[2] = rotate(h[1], 30);
        h[1] = h[0];
        h[0] = next;
    }
}

void test_sha1(const uint8_t *input, size_t bytes, uint8_t out_digest[TEST_SHA1_BYTES])
{
    static const uint32_t start[5] = { 0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U,
                                       0xc3d2e1f0U };
    uint8_t block[BLOCK_BYTES] = { 0 };
    uint32_t w[ROUNDS];
    uint32_t h[5];

    memcpy(block, input, bytes);
    block[bytes] = 0x80;
    store_be(block + BLOCK_BYTES - 4, (uint32_t)(bytes * 8));
    expand(block, w);
    memcpy(h, start, sizeof(h));
    twenty(h, w, mix_choose, 0x5a827999U);
    twenty(h, w + 20, mix_parity, 0x6ed9eba1U);
    twenty(h, w + 40, mix_majority, 0x8f1bbcdcU);
    twenty(h, w + 60, mix_parity, 0xca62c1d6U);
    for (size_t i = 0; i < 5; i++) {
        store_be(out_digest + 4 * i, h[i] + start[i]);
    }
}
