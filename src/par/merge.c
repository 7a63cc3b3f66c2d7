/* SPDX-License-Identifier: MIT */
/* The serial kernels. Which of two elements comes first is as good as random, so the choice is made
 * by arithmetic and not by a jump. */
#include "par/merge.h"

#include "base/compiler.h"

#include <string.h>

enum { INSERT_COUNT = 8 }; /* fewer are sorted by insertion */

static FILCHI_HOT_INLINE bool is_before(const filchi_order *order, const char *a, const char *b)
{
    return order->compare(a, b, order->ctx) < 0;
}

static FILCHI_HOT_INLINE void copy(char *to, const char *from, size_t count, size_t width)
{
    if (count != 0) {
        memcpy(to, from, count * width);
    }
}

/* What is left to merge: [a, a_end) and [b, b_end). */
typedef struct rest {
    const char *a;
    const char *a_end;
    const char *b;
    const char *b_end;
} rest;

/* The smallest `steps` go to `low`, the largest in front of `high`: two chains of comparisons that do
 * not wait for each other, which is where the time goes. `steps` is at most what either run has, so
 * neither can end. */
static FILCHI_HOT_INLINE rest merge_both_ends(const filchi_order *order, rest r, char *low,
                                              char *high, size_t steps, size_t width)
{
    for (size_t i = 0; i < steps; i++) {
        const size_t low_b = is_before(order, r.b, r.a);
        const size_t high_a = is_before(order, r.b_end - width, r.a_end - width);
        memcpy(low, low_b ? r.b : r.a, width);
        r.b += low_b * width;
        r.a += (low_b ^ 1) * width;
        low += width;
        r.a_end -= high_a * width;
        r.b_end -= (high_a ^ 1) * width;
        high -= width;
        memcpy(high, high_a ? r.a_end : r.b_end, width);
    }
    return r;
}

static FILCHI_HOT_INLINE void merge(const filchi_order *order, const char *a, size_t a_count,
                                    const char *b, size_t b_count, char *out, size_t width)
{
    const char *a_end = a + a_count * width;
    const char *b_end = b + b_count * width;
    const size_t steps = a_count < b_count ? a_count : b_count;
    if (steps != 0 && !is_before(order, b, a_end - width)) {
        copy(out, a, a_count, width);
        copy(out + a_count * width, b, b_count, width);
        return;
    }
    const rest all = { a, a_end, b, b_end };
    const rest r =
        merge_both_ends(order, all, out, out + (a_count + b_count) * width, steps, width);
    /* no order at all, and one element went both ways: begin again, so that none is lost */
    if (r.a <= r.a_end && r.b <= r.b_end) {
        out += steps * width;
        a = r.a;
        a_end = r.a_end;
        b = r.b;
        b_end = r.b_end;
    }
    while (a < a_end && b < b_end) {
        const size_t from_b = is_before(order, b, a);
        memcpy(out, from_b ? b : a, width);
        b += from_b * width;
        a += (from_b ^ 1) * width;
        out += width;
    }
    copy(out, a, (size_t)(a_end - a) / width, width);
    copy(out, b, (size_t)(b_end - b) / width, width);
}

/* `spare` has room for one element. */
static FILCHI_HOT_INLINE void insertion_sort(const filchi_order *order, char *data, size_t count,
                                             char *spare, size_t width)
{
    for (size_t i = 1; i < count; i++) {
        char *at = data + i * width;
        if (!is_before(order, at, at - width)) {
            continue;
        }
        memcpy(spare, at, width);
        do {
            memcpy(at, at - width, width);
            at -= width;
        } while (at > data && is_before(order, spare, at - width));
        memcpy(at, spare, width);
    }
}

static FILCHI_HOT_INLINE void sort(const filchi_order *order, char *data, char *scratch,
                                   size_t count, bool into_scratch, size_t width,
                                   filchi_sort_fn *again)
{
    if (count <= INSERT_COUNT) {
        insertion_sort(order, data, count, scratch, width);
        if (into_scratch) {
            copy(scratch, data, count, width);
        }
        return;
    }
    const size_t half = count / 2;
    again(order, data, scratch, half, !into_scratch);
    again(order, data + half * width, scratch + half * width, count - half, !into_scratch);
    const char *from = into_scratch ? data : scratch;
    merge(order, from, half, from + half * width, count - half, into_scratch ? scratch : data,
          width);
}

static void merge_4(const filchi_order *order, const char *a, size_t a_count, const char *b,
                    size_t b_count, char *out)
{
    merge(order, a, a_count, b, b_count, out, 4);
}

static void sort_4(const filchi_order *order, char *data, char *scratch, size_t count,
                   bool into_scratch)
{
    sort(order, data, scratch, count, into_scratch, 4, sort_4);
}

static void merge_8(const filchi_order *order, const char *a, size_t a_count, const char *b,
                    size_t b_count, char *out)
{
    merge(order, a, a_count, b, b_count, out, 8);
}

static void sort_8(const filchi_order *order, char *data, char *scratch, size_t count,
                   bool into_scratch)
{
    sort(order, data, scratch, count, into_scratch, 8, sort_8);
}

static void merge_16(const filchi_order *order, const char *a, size_t a_count, const char *b,
                     size_t b_count, char *out)
{
    merge(order, a, a_count, b, b_count, out, 16);
}

static void sort_16(const filchi_order *order, char *data, char *scratch, size_t count,
                    bool into_scratch)
{
    sort(order, data, scratch, count, into_scratch, 16, sort_16);
}

static void merge_any(const filchi_order *order, const char *a, size_t a_count, const char *b,
                      size_t b_count, char *out)
{
    merge(order, a, a_count, b, b_count, out, order->width);
}

static void sort_any(const filchi_order *order, char *data, char *scratch, size_t count,
                     bool into_scratch)
{
    sort(order, data, scratch, count, into_scratch, order->width, sort_any);
}

filchi_kernel filchi_kernel_for(size_t width)
{
    switch (width) {
    case 4:
        return (filchi_kernel){ merge_4, sort_4 };
    case 8:
        return (filchi_kernel){ merge_8, sort_8 };
    case 16:
        return (filchi_kernel){ merge_16, sort_16 };
    default:
        return (filchi_kernel){ merge_any, sort_any };
    }
}
