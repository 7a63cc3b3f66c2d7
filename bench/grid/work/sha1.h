/* SPDX-License-Identifier: MIT */
/* SHA-1 (FIPS 180-4) of at most 55 bytes, that is one block: all that the unbalanced tree search
 * needs. C11 and C++17. */
#ifndef BENCH_GRID_SHA1_H
#define BENCH_GRID_SHA1_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GRID_SHA1_BYTES = 20, GRID_SHA1_MAX_INPUT = 55 };

static inline uint32_t grid_sha1_rotate(uint32_t x, unsigned n)
{
    return (x << n) | (x >> (32 - n));
}

static inline uint32_t grid_load_be(const uint8_t *p)
{
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | p[3];
}

static inline void grid_store_be(uint8_t *p, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(x >> (24 - 8 * i));
    }
}

/* Twenty rounds from round `t` on: `mixed` and `key` differ in each quarter. The words of the
 * schedule from the sixteenth on are made when needed, and only the last sixteen are kept. */
static inline void grid_sha1_quarter(uint32_t h[5], uint32_t w[16], unsigned quarter)
{
    static const uint32_t keys[4] = { 0x5a827999u, 0x6ed9eba1u, 0x8f1bbcdcu, 0xca62c1d6u };
    for (unsigned t = 20 * quarter; t < 20 * quarter + 20; t++) {
        const uint32_t b = h[1];
        const uint32_t c = h[2];
        const uint32_t d = h[3];
        const uint32_t mixed = quarter == 0   ? (b & c) | (~b & d)
                               : quarter == 2 ? (b & c) | (b & d) | (c & d)
                                              : b ^ c ^ d;
        if (t >= 16) {
            w[t & 15] =
                grid_sha1_rotate(w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15],
                                 1);
        }
        const uint32_t next = grid_sha1_rotate(h[0], 5) + mixed + h[4] + keys[quarter] + w[t & 15];
        h[4] = d;
        h[3] = c;
        h[2] = grid_sha1_rotate(b, 30);
        h[1] = h[0];
        h[0] = next;
    }
}

static inline void grid_sha1(const uint8_t *input, size_t bytes, uint8_t out[GRID_SHA1_BYTES])
{
    static const uint32_t start[5] = { 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
                                       0xc3d2e1f0u };
    uint8_t block[64] = { 0 };
    uint32_t w[16];
    uint32_t h[5];
    memcpy(block, input, bytes);
    block[bytes] = 0x80;
    grid_store_be(block + 60, (uint32_t)bytes * 8);
    for (size_t t = 0; t < 16; t++) {
        w[t] = grid_load_be(block + 4 * t);
    }
    memcpy(h, start, sizeof h);
    grid_sha1_quarter(h, w, 0);
    grid_sha1_quarter(h, w, 1);
    grid_sha1_quarter(h, w, 2);
    grid_sha1_quarter(h, w, 3);
    for (size_t i = 0; i < 5; i++) {
        grid_store_be(out + 4 * i, h[i] + start[i]);
    }
}

#endif
