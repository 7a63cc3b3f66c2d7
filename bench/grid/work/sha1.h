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

/* Word t (16 and up) of the message schedule, of which only the last sixteen are kept. */
static inline uint32_t grid_sha1_word(uint32_t w[16], unsigned t)
{
    const uint32_t word = w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15];
    w[t & 15] = grid_sha1_rotate(word, 1);
    return w[t & 15];
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
    for (unsigned t = 0; t < 80; t++) {
        const uint32_t b = h[1];
        const uint32_t c = h[2];
        const uint32_t d = h[3];
        uint32_t mixed = b ^ c ^ d;
        uint32_t key = t < 40 ? 0x6ed9eba1u : 0xca62c1d6u;
        if (t < 20) {
            mixed = (b & c) | (~b & d);
            key = 0x5a827999u;
        } else if (t >= 40 && t < 60) {
            mixed = (b & c) | (b & d) | (c & d);
            key = 0x8f1bbcdcu;
        }
        const uint32_t word = t < 16 ? w[t] : grid_sha1_word(w, t);
        const uint32_t next = grid_sha1_rotate(h[0], 5) + mixed + h[4] + key + word;
        h[4] = d;
        h[3] = c;
        h[2] = grid_sha1_rotate(b, 30);
        h[1] = h[0];
        h[0] = next;
    }
    for (size_t i = 0; i < 5; i++) {
        grid_store_be(out + 4 * i, h[i] + start[i]);
    }
}

#endif
