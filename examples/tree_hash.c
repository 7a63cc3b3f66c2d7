/* SPDX-License-Identifier: MIT */
/* Hash a directory tree with scopes: one child for each entry of a directory.
 *
 * A file's hash covers its bytes, a directory's the names and hashes of its entries in byte order;
 * links, devices and what cannot be read count as empty. Done twice, by one worker and by as many
 * as there are CPUs; prints the hash and exits with 1 if the two differ. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <filch/filch.h>
#include <openssl/evp.h>

typedef struct node {
    char *path;
    unsigned char hash[32];
} node;

static void hash_node(filch_cx *cx, void *arg);

static void hash_file(EVP_MD_CTX *hash, const char *path)
{
    char buffer[1 << 14];
    FILE *const file = fopen(path, "rbe");
    if (file == NULL) {
        return;
    }
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        EVP_DigestUpdate(hash, buffer, got);
    }
    fclose(file);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_entry(const struct dirent *d)
{
    return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static void hash_dir(filch_cx *cx, EVP_MD_CTX *hash, const char *path)
{
    struct dirent **names = NULL;
    const int count = scandir(path, &names, is_entry, by_bytes);
    node *const nodes = calloc(count > 0 ? (size_t)count : 1, sizeof *nodes);
    filch_scope scope;
    filch_scope_begin(cx, &scope);
    for (int i = 0; i < count; i++) {
        if (nodes == NULL || asprintf(&nodes[i].path, "%s/%s", path, names[i]->d_name) < 0) {
            exit(2);
        }
        filch_spawn(cx, &scope, hash_node, &nodes[i]);
    }
    filch_scope_end(cx, &scope);
    for (int i = 0; i < count; i++) {
        EVP_DigestUpdate(hash, names[i]->d_name, strlen(names[i]->d_name) + 1);
        EVP_DigestUpdate(hash, nodes[i].hash, sizeof nodes[i].hash);
        free(nodes[i].path);
        free(names[i]);
    }
    free(names);
    free(nodes);
}

static void hash_node(filch_cx *cx, void *arg)
{
    node *const n = arg;
    struct stat found = { .st_mode = 0 };
    EVP_MD_CTX *const hash = EVP_MD_CTX_new();
    if (hash == NULL || !EVP_DigestInit(hash, EVP_sha256())) {
        exit(2);
    }
    (void)lstat(n->path, &found);
    if (S_ISDIR(found.st_mode)) {
        hash_dir(cx, hash, n->path);
    } else if (S_ISREG(found.st_mode)) {
        hash_file(hash, n->path);
    }
    EVP_DigestFinal(hash, n->hash, NULL);
    EVP_MD_CTX_free(hash);
}

int main(int argc, char **argv)
{
    node many = { .path = argc > 1 ? argv[1] : "." };
    node one = { .path = many.path };
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    config.workers = 1;
    filch_pool *pool = NULL;
    if (filch_run(filch_default_pool(), hash_node, &many) != FILCH_OK ||
        filch_pool_create(&config, &pool) != FILCH_OK ||
        filch_run(pool, hash_node, &one) != FILCH_OK || filch_pool_destroy(pool) != FILCH_OK) {
        return 2;
    }
    for (size_t i = 0; i < sizeof many.hash; i++) {
        printf("%02x", many.hash[i]);
    }
    const int right = memcmp(many.hash, one.hash, sizeof many.hash) == 0;
    printf("  %s (%s)\n", many.path, right ? "right" : "WRONG");
    return right ? 0 : 1;
}
