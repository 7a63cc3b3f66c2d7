/* SPDX-License-Identifier: MIT */
/* The JSON writer of json.h: indentation, commas, and strings.
 * Two levels of state are enough: a closed object or array was an item of what is around it, so
 * `has_items` is true again after every close. The rules for UTF-8 are those of RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF. */
#include "bench/support/json.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 3;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/* Bytes of the UTF-8 sequence at `text`, 0 if it is not valid. Stops at the NUL at the latest. */
static size_t valid_sequence(const unsigned char *text)
{
    const size_t length = sequence_length(text[0]);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool overlong =
        (text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xF0 && text[1] < 0x90);
    const bool surrogate = text[0] == 0xED && text[1] > 0x9F;
    const bool too_large = text[0] == 0xF4 && text[1] > 0x8F;
    return overlong || surrogate || too_large ? 0 : length;
}

static void put_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', out);
    while (*at != '\0') {
        const size_t length = valid_sequence(at);
        if (length == 0) {
            fputs("\\ufffd", out);
            at++;
            continue;
        }
        if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7F) {
            fprintf(out, "\\u%04x", *at);
        } else {
            fwrite(at, 1, length, out);
        }
        at += length;
    }
    fputc('"', out);
}

static void start_item(json *j, const char *key)
{
    if (j->depth > 0) {
        fprintf(j->out, "%s\n%*s", j->has_items ? "," : "", (int)(2 * j->depth), "");
    }
    if (key != NULL) {
        put_string(j->out, key);
        fputs(": ", j->out);
    }
    j->has_items = true;
}

void json_open(json *j, const char *key, char bracket)
{
    start_item(j, key);
    fputc(bracket, j->out);
    j->depth++;
    j->has_items = false;
}

void json_close(json *j, char bracket)
{
    j->depth--;
    if (j->has_items) {
        fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
    }
    fputc(bracket, j->out);
    j->has_items = true;
}

void json_begin(json *j, FILE *out)
{
    *j = (json){ .out = out };
    json_open(j, NULL, '{');
}

void json_end(json *j)
{
    json_close(j, '}');
    fputc('\n', j->out);
}

void json_text(json *j, const char *key, const char *text)
{
    if (text == NULL) {
        json_null(j, key);
        return;
    }
    start_item(j, key);
    put_string(j->out, text);
}

void json_number(json *j, const char *key, uint64_t number)
{
    start_item(j, key);
    fprintf(j->out, "%" PRIu64, number);
}

void json_real(json *j, const char *key, double number)
{
    if (!isfinite(number)) {
        json_null(j, key);
        return;
    }
    start_item(j, key);
    fprintf(j->out, "%.6f", number);
}

void json_bool(json *j, const char *key, bool value)
{
    start_item(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_null(json *j, const char *key)
{
    start_item(j, key);
    fputs("null", j->out);
}
