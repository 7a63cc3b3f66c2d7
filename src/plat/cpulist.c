/* SPDX-License-Identifier: MIT */
/* Sets of CPUs and the kernel's text for them. Pure; fuzzed by tests/fuzz/fuzz_parse.c. */
#include "plat/cpus.h"

#include <stdio.h>
#include <string.h>

bool filchi_text_is(filchi_text text, const char *word)
{
    return strlen(word) == text.bytes && memcmp(text.at, word, text.bytes) == 0;
}

filchi_text filchi_text_until(filchi_text *rest, char mark)
{
    filchi_text part = *rest;
    const char *end = rest->bytes != 0 ? memchr(rest->at, mark, rest->bytes) : NULL;
    if (end == NULL) {
        rest->at += rest->bytes;
        rest->bytes = 0;
        return part;
    }
    part.bytes = (size_t)(end - part.at);
    rest->at += part.bytes + 1;
    rest->bytes -= part.bytes + 1;
    return part;
}

/* Some kernels hand out the 0 at the end of their buffer as well: old ones in node/online, a 5.15 in the
 * lists of cores, packages and nodes. */
static filchi_text without_newline(filchi_text text)
{
    if (text.bytes >= 2 && memcmp(text.at + text.bytes - 2, "\n", 2) == 0) {
        text.bytes--;
    }
    if (text.bytes != 0 && text.at[text.bytes - 1] == '\n') {
        text.bytes--;
    }
    return text;
}

bool filchi_text_number(filchi_text text, uint64_t *out_number)
{
    uint64_t number = 0;
    text = without_newline(text);
    if (text.bytes == 0) {
        return false;
    }
    for (size_t i = 0; i < text.bytes; i++) {
        const unsigned digit = (unsigned)(unsigned char)text.at[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out_number = number;
    return true;
}

/* "3" or "0-3". */
static bool parse_range(filchi_text part, filchi_cpu_set *set)
{
    uint64_t first;
    uint64_t last;
    const bool is_range = memchr(part.at, '-', part.bytes) != NULL;
    if (!filchi_text_number(filchi_text_until(&part, '-'), &first)) {
        return false;
    }
    last = first;
    if (is_range && !filchi_text_number(part, &last)) {
        return false;
    }
    if (last < first || last >= FILCHI_CPUS_MAX) {
        return false;
    }
    for (uint64_t cpu = first; cpu <= last; cpu++) {
        filchi_cpu_set_add(set, (unsigned)cpu);
    }
    return true;
}

bool filchi_cpu_set_parse(filchi_text text, filchi_cpu_set *out_set)
{
    memset(out_set, 0, sizeof(*out_set));
    text = without_newline(text);
    if (text.bytes != 0 && text.at[text.bytes - 1] == ',') {
        return false;
    }
    while (text.bytes != 0) {
        const filchi_text part = filchi_text_until(&text, ',');
        if (part.bytes == 0 || memchr(part.at, '\n', part.bytes) != NULL ||
            !parse_range(part, out_set)) {
            memset(out_set, 0, sizeof(*out_set));
            return false;
        }
    }
    return true;
}

void filchi_cpu_set_add(filchi_cpu_set *set, unsigned cpu)
{
    set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool filchi_cpu_set_has(const filchi_cpu_set *set, unsigned cpu)
{
    return cpu < FILCHI_CPUS_MAX && (set->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

unsigned filchi_cpu_set_count(const filchi_cpu_set *set)
{
    unsigned count = 0;
    for (size_t i = 0; i < FILCHI_CPUS_MAX / 64; i++) {
        for (uint64_t left = set->words[i]; left != 0; left &= left - 1) {
            count++;
        }
    }
    return count;
}

void filchi_cpu_set_unite(filchi_cpu_set *set, const filchi_cpu_set *other)
{
    for (size_t i = 0; i < FILCHI_CPUS_MAX / 64; i++) {
        set->words[i] |= other->words[i];
    }
}

void filchi_cpu_set_intersect(filchi_cpu_set *set, const filchi_cpu_set *other)
{
    for (size_t i = 0; i < FILCHI_CPUS_MAX / 64; i++) {
        set->words[i] &= other->words[i];
    }
}

unsigned filchi_cpu_set_next(const filchi_cpu_set *set, unsigned cpu)
{
    while (cpu < FILCHI_CPUS_MAX && !filchi_cpu_set_has(set, cpu)) {
        cpu = set->words[cpu / 64] >> (cpu % 64) != 0 ? cpu + 1 : (cpu / 64 + 1) * 64;
    }
    return cpu;
}

void filchi_cpu_set_format(const filchi_cpu_set *set, char *out, size_t bytes)
{
    static const char cut[] = "...";
    size_t used = 0;
    out[0] = '\0';
    for (unsigned cpu = filchi_cpu_set_next(set, 0); cpu < FILCHI_CPUS_MAX;
         cpu = filchi_cpu_set_next(set, cpu + 1)) {
        char piece[32];
        const unsigned first = cpu;
        while (filchi_cpu_set_has(set, cpu + 1)) {
            cpu++;
        }
        const int made = first == cpu ? snprintf(piece, sizeof(piece), ",%u", first)
                                      : snprintf(piece, sizeof(piece), ",%u-%u", first, cpu);
        const char *const text = used == 0 ? piece + 1 : piece;
        const size_t length = (size_t)made - (used == 0);
        if (used + length + sizeof(cut) > bytes) {
            if (used + sizeof(cut) <= bytes) {
                memcpy(out + used, cut, sizeof(cut));
            }
            return;
        }
        memcpy(out + used, text, length + 1);
        used += length;
    }
}
