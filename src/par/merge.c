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

static FILCHI_HOT_INLINE void merge(const filchi_order *order, const char *a, size_t a_count,
                                    const char *b, size_t b_count, char *out, size_t width)
{
    const char *const a_end = a + a_count * width;
    const char *const b_end = b + b_count * width;
    if (a_count != 0 && b_count != 0 && !is_before(order, b, a_end - width)) {
        copy(out, a, a_count, width);
        copy(out + a_count * width, b, b_count, width);
        return;
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
