/* SPDX-License-Identifier: MIT */
/* A small writer of JSON: indented, one member a line, commas and escapes placed by itself.
 *
 * It writes as it is called and keeps nothing but the nesting. Members of an object get a key,
 * members of an array get NULL. A number that is not finite is written as null. Who calls must
 * close what it opened; nesting deeper than JSON_MAX_DEPTH is a mistake of the caller. */
#ifndef BENCH_SUPPORT_JSON_H
#define BENCH_SUPPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 16 };

typedef struct json_writer {
    FILE *out;
    unsigned depth;
    char closer[JSON_MAX_DEPTH];
    bool empty[JSON_MAX_DEPTH];
} json_writer;

void json_begin(json_writer *writer, FILE *out);

void json_open_object(json_writer *writer, const char *key);
void json_open_array(json_writer *writer, const char *key);
void json_close(json_writer *writer);

void json_text(json_writer *writer, const char *key, const char *text);
void json_number(json_writer *writer, const char *key, double value);
void json_count(json_writer *writer, const char *key, uint64_t value);
void json_bool(json_writer *writer, const char *key, bool value);

#endif
