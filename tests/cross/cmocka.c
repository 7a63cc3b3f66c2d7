/* SPDX-License-Identifier: MIT */
/* See cmocka.h: cases one after another, an assertion longjmps back to here. */
#include "cmocka.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FAILED = 1, SKIPPED };

static jmp_buf back;

_Noreturn void cross_fail(const char *what, const char *file, int line)
{
    (void)fprintf(stderr, "%s:%d: error: failed: %s\n", file, line, what);
    longjmp(back, FAILED);
}

_Noreturn void cross_skip(void)
{
    longjmp(back, SKIPPED);
}

void cross_equal(uintmax_t a, uintmax_t b, int wanted, const char *what, const char *file, int line)
{
    if ((a == b) != wanted) {
        (void)fprintf(stderr, "%#jx and %#jx\n", a, b);
        cross_fail(what, file, line);
    }
}

void cross_same(const void *a, const void *b, size_t bytes, const char *what, const char *file,
                int line)
{
    if (memcmp(a, b, bytes) != 0) {
        cross_fail(what, file, line);
    }
}

void cross_same_text(const char *a, const char *b, int wanted, const char *what, const char *file,
                     int line)
{
    if ((strcmp(a, b) == 0) != wanted) {
        (void)fprintf(stderr, "\"%s\" and \"%s\"\n", a, b);
        cross_fail(what, file, line);
    }
}

void print_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
}

void print_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
}

static int run_case(const struct CMUnitTest *one)
{
    static const char *const told[] = { "      OK", "  FAILED", " SKIPPED" };
    void *state = NULL;
    const int how = setjmp(back);
    if (how == 0) {
        one->test_func(&state);
    }
    printf("[ %s ] %s\n", told[how], one->name);
    (void)fflush(stdout);
    return how == FAILED;
}

int cross_run(const struct CMUnitTest *cases, size_t count, int (*setup)(void **),
              int (*teardown)(void **))
{
    int failed = 0;
    void *state = NULL;
    if (setup != NULL && setup(&state) != 0) {
        return (int)count;
    }
    for (size_t i = 0; i < count; i++) {
        failed += run_case(&cases[i]);
    }
    if (teardown != NULL && teardown(&state) != 0) {
        failed++;
    }
    return failed;
}
