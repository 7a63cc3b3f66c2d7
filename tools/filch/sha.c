/* SPDX-License-Identifier: MIT */
/* SHA-256 by OpenSSL's EVP interface; see sha.h.
 * The one global is the algorithm: set by sha_open before there are threads, read by all of them,
 * freed by sha_close after they have gone. */
#include "sha.h"

#include <string.h>

#include <openssl/evp.h>

static EVP_MD *algorithm;

bool sha_open(void)
{
    algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    return algorithm != NULL;
}

void sha_close(void)
{
    EVP_MD_free(algorithm);
    algorithm = NULL;
}

void sha_begin(sha *s)
{
    s->state = EVP_MD_CTX_new();
    s->good = s->state != NULL && EVP_DigestInit_ex2(s->state, algorithm, NULL) == 1;
}

void sha_add(sha *s, const void *data, size_t bytes)
{
    s->good = s->good && EVP_DigestUpdate(s->state, data, bytes) == 1;
}

bool sha_end(sha *s, unsigned char out_digest[SHA_BYTES])
{
    const bool good = s->good && EVP_DigestFinal_ex(s->state, out_digest, NULL) == 1;
    if (!good) {
        memset(out_digest, 0, SHA_BYTES);
    }
    EVP_MD_CTX_free(s->state);
    return good;
}

bool sha_of(const void *data, size_t bytes, unsigned char out_digest[SHA_BYTES])
{
    sha s;
    sha_begin(&s);
    sha_add(&s, data, bytes);
    return sha_end(&s, out_digest);
}

const char *sha_hex(const unsigned char digest[SHA_BYTES], char out[SHA_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[SHA_HEX_BYTES - 1] = '\0';
    return out;
}
