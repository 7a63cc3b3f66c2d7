/* SPDX-License-Identifier: MIT */
/* The JSON writer. Owns commas, indentation and escapes; knows nothing of what is written.
 *
 * The outermost value is written by json_open_object or json_open_array with a NULL key; its
 * json_close ends the line. Strings are taken as UTF-8; control characters become \u00XX. */
#include "bench/support/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static void write_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            fprintf(out, "\\%c", byte);
        } else if (byte < 0x20) {
            fprintf(out, "\\u%04x", (unsigned)byte);
        } else {
            putc(byte, out);
        }
    }
    putc('"', out);
}

/* The comma, the new line and the key that stand before a value. */
static void write_lead(json_writer *writer, const char *key)
{
    if (writer->depth == 0) {
        return;
    }
    bool *empty = &writer->empty[writer->depth - 1];
    fputs(*empty ? "\n" : ",\n", writer->out);
    *empty = false;
    for (unsigned level = 0; level < writer->depth; level++) {
        fputs("  ", writer->out);
    }
    if (key != NULL) {
        write_string(writer->out, key);
        fputs(": ", writer->out);
    }
}

static void open_level(json_writer *writer, const char *key, char opener, char closer)
{
    assert(writer->depth < JSON_MAX_DEPTH);
    write_lead(writer, key);
    putc(opener, writer->out);
    writer->closer[writer->depth] = closer;
    writer->empty[writer->depth] = true;
    writer->depth++;
}

void json_begin(json_writer *writer, FILE *out)
{
    writer->out = out;
    writer->depth = 0;
}

void json_open_object(json_writer *writer, const char *key)
{
    open_level(writer, key, '{', '}');
}

void json_open_array(json_writer *writer, const char *key)
{
    open_level(writer, key, '[', ']');
}

void json_close(json_writer *writer)
{
    assert(writer->depth > 0);
    writer->depth--;
    if (!writer->empty[writer->depth]) {
        putc('\n', writer->out);
        for (unsigned level = 0; level < writer->depth; level++) {
            fputs("  ", writer->out);
        }
    }
    putc(writer->closer[writer->depth], writer->out);
    if (writer->depth == 0) {
        putc('\n', writer->out);
    }
}

void json_text(json_writer *writer, const char *key, const char *text)
{
    write_lead(writer, key);
    write_string(writer->out, text);
}

void json_number(json_writer *writer, const char *key, double value)
{
    write_lead(writer, key);
    if (isfinite(value)) {
        fprintf(writer->out, "%.6g", value);
    } else {
        fputs("null", writer->out);
    }
}

void json_count(json_writer *writer, const char *key, uint64_t value)
{
    write_lead(writer, key);
    fprintf(writer->out, "%" PRIu64, value);
}

void json_bool(json_writer *writer, const char *key, bool value)
{
    write_lead(writer, key);
    fputs(value ? "true" : "false", writer->out);
}
