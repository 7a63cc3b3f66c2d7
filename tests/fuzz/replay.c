/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target once on each input that is kept: `replay <file.corpus> [<more>...]`. A corpus
 * file holds an input a line, with %XX for what is not printable; other files are one input each. */
#include "fuzz/fuzz.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20 };

static int hex(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

/* Undo %XX in place; the length, or -1. */
static long decode(char *line)
{
    long used = 0;
    for (const char *at = line; *at != '\0'; at++) {
        if (*at != '%') {
            line[used++] = *at;
            continue;
        }
        const int high = hex(at[1]);
        const int low = high >= 0 ? hex(at[2]) : -1;
        if (low < 0) {
            return -1;
        }
        line[used++] = (char)(high * 16 + low);
        at += 2;
    }
    return used;
}

/* A copy of exactly the size, so that a read past the end is seen. */
static void run(const char *bytes, size_t size)
{
    uint8_t *copy = malloc(size != 0 ? size : 1);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static long run_lines(FILE *file, char *line)
{
    long count = 0;
    while (fgets(line, MOST_BYTES, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const long size = decode(line);
        if (size < 0) {
            return -1;
        }
        run(line, (size_t)size);
        count++;
    }
    return count;
}

int main(int argc, char **argv)
{
    char *line = malloc(MOST_BYTES);
    long count = 0;
    FUZZ_CHECK(line != NULL);
    for (int i = 1; i < argc; i++) {
        const char *const dot = strrchr(argv[i], '.');
        FILE *const file = fopen(argv[i], "rb");
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        if (dot != NULL && strcmp(dot, ".corpus") == 0) {
            const long lines = run_lines(file, line);
            FUZZ_CHECK(lines > 0);
            count += lines;
        } else {
            run(line, fread(line, 1, MOST_BYTES, file));
            count++;
        }
        (void)fclose(file);
    }
    free(line);
    printf("%ld inputs\n", count);
    return count > 0 ? 0 : 1;
}
