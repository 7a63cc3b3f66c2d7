/* SPDX-License-Identifier: MIT */
/* A JSON writer: indented, valid for any input.
 *
 * Text may be any bytes: control characters are escaped, and bytes that are not valid UTF-8 become
 * U+FFFD, since file names can hold anything. `key` is NULL inside an array. Errors of the stream
 * are left to the caller (ferror). */
#ifndef BENCH_SUPPORT_JSON_H
#define BENCH_SUPPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json {
    FILE *out;
    unsigned depth;
    bool has_items; /* the innermost object or array has one already */
} json;

void json_begin(json *j, FILE *out);
void json_end(json *j);

void json_open(json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(json *j, char bracket);                 /* '}' or ']' */

void json_text(json *j, const char *key, const char *text); /* NULL: null */
void json_number(json *j, const char *key, uint64_t number);
void json_real(json *j, const char *key, double number); /* not finite: null */
void json_bool(json *j, const char *key, bool value);
void json_null(json *j, const char *key);

#endif
