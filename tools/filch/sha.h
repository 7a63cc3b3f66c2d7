/* SPDX-License-Identifier: MIT */
/* SHA-256 from libcrypto, in the few forms the demo needs.
 *
 * The algorithm is looked up once: in OpenSSL 3 every implicit look-up takes locks, which would
 * make threads wait for each other. After sha_open all calls may be made from any thread. */
#ifndef FILCH_TOOLS_SHA_H
#define FILCH_TOOLS_SHA_H

#include <stdbool.h>
#include <stddef.h>

enum { SHA_BYTES = 32, SHA_HEX_BYTES = 65 };

bool sha_open(void);
void sha_close(void);

/* A hash in progress. sha_end gives the digest and frees it; with an error on the way (libcrypto
 * has no memory) it returns false and the digest is all zero. */
typedef struct sha {
    void *state;
    bool good;
} sha;

void sha_begin(sha *s);
void sha_add(sha *s, const void *data, size_t bytes);
bool sha_end(sha *s, unsigned char out_digest[SHA_BYTES]);

/* All in one. */
bool sha_of(const void *data, size_t bytes, unsigned char out_digest[SHA_BYTES]);

const char *sha_hex(const unsigned char digest[SHA_BYTES], char out[SHA_HEX_BYTES]);

#endif
