/* SPDX-License-Identifier: MIT */
/* The serial kernels of sort and merge: every width that has a kernel of its own and some that have
 * none, every small count, both places for the result; stable, and nothing beside it is written. */
#include "support/test.h"

#include <string.h>

#include "par/merge.h"

enum { COUNT_MOST = 40, WIDTH_MOST = 24, GUARD = 0x5a };

typedef struct fixture {
    filchi_order order;
    unsigned char data[(COUNT_MOST + 1) * WIDTH_MOST];
    unsigned char scratch[(COUNT_MOST + 1) * WIDTH_MOST];
} fixture;

/* Byte 0 is the key; byte 1 the place where the element stood. */
static int by_key(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return (int)*(const unsigned char *)a - (int)*(const unsigned char *)b;
}

static void fill(fixture *f, size_t width, size_t count, unsigned keys, test_rng *rng)
{
    f->order = (filchi_order){ by_key, NULL, width };
    memset(f->data, GUARD, sizeof(f->data));
    memset(f->scratch, GUARD, sizeof(f->scratch));
    for (size_t i = 0; i < count; i++) {
        f->data[i * width] = (unsigned char)test_rng_below(rng, keys);
        f->data[i * width + 1] = (unsigned char)i;
        memset(f->data + i * width + 2, (int)i, width - 2);
    }
}

static void assert_sorted(const unsigned char *out, size_t width, size_t count)
{
    bool seen[COUNT_MOST] = { false };
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = out + i * width;
        assert_true(at[1] < count && !seen[at[1]]);
        seen[at[1]] = true;
        for (size_t byte = 2; byte < width; byte++) {
            assert_int_equal(at[byte], at[1]);
        }
        if (i > 0) {
            const unsigned char *before = at - width;
            assert_true(before[0] < at[0] || (before[0] == at[0] && before[1] < at[1]));
        }
    }
    assert_int_equal(out[count * width], GUARD);
}

static const size_t widths[] = { 2, 3, 4, 8, 16, WIDTH_MOST };
static const unsigned key_counts[] = { 1, 2, 200 };

static void kernel__sort_every_small_count__stable_in_either_place(void **state)
{
    test_rng rng = test_rng_make(1);
    fixture f;
    (void)state;
    for (size_t w = 0; w < TEST_CASES(widths); w++) {
        const filchi_kernel kernel = filchi_kernel_for(widths[w]);
        for (size_t count = 1; count <= COUNT_MOST; count++) {
            for (unsigned variant = 0; variant < 2 * TEST_CASES(key_counts); variant++) {
                const bool into_scratch = variant % 2 == 1;
                fill(&f, widths[w], count, key_counts[variant / 2], &rng);
                kernel.sort(&f.order, (char *)f.data, (char *)f.scratch, count, into_scratch);
                assert_sorted(into_scratch ? f.scratch : f.data, widths[w], count);
            }
        }
    }
}

static void kernel__merge_every_cut__stable(void **state)
{
    enum { COUNT = 12 };
    test_rng rng = test_rng_make(2);
    fixture f;
    (void)state;
    for (size_t w = 0; w < TEST_CASES(widths); w++) {
        const filchi_kernel kernel = filchi_kernel_for(widths[w]);
        for (size_t cut = 0; cut <= COUNT; cut++) {
            for (size_t k = 0; k < TEST_CASES(key_counts); k++) {
                char *b = (char *)f.data + cut * widths[w];
                fill(&f, widths[w], COUNT, key_counts[k], &rng);
                kernel.sort(&f.order, (char *)f.data, (char *)f.scratch, cut, false);
                kernel.sort(&f.order, b, (char *)f.scratch, COUNT - cut, false);
                memset(f.scratch, GUARD, sizeof(f.scratch));
                kernel.merge(&f.order, (char *)f.data, cut, b, COUNT - cut, (char *)f.scratch);
                assert_sorted(f.scratch, widths[w], COUNT);
            }
        }
    }
}

/* No order at all: by the toss of a coin. */
static int at_random(const void *a, const void *b, void *ctx)
{
    (void)a;
    (void)b;
    return (int)test_rng_below(ctx, 2) - 1;
}

static void kernel__comparator_without_order__each_element_once(void **state)
{
    enum { TIMES = 50 };
    test_rng rng = test_rng_make(3);
    fixture f;
    (void)state;
    for (size_t w = 0; w < TEST_CASES(widths); w++) {
        const filchi_kernel kernel = filchi_kernel_for(widths[w]);
        for (int i = 0; i < TIMES; i++) {
            bool seen[COUNT_MOST] = { false };
            fill(&f, widths[w], COUNT_MOST, 200, &rng);
            f.order.compare = at_random;
            f.order.ctx = &rng;
            kernel.sort(&f.order, (char *)f.data, (char *)f.scratch, COUNT_MOST, false);
            for (size_t at = 0; at < COUNT_MOST; at++) {
                const unsigned char place = f.data[at * widths[w] + 1];
                assert_true(place < COUNT_MOST && !seen[place]);
                seen[place] = true;
            }
            assert_int_equal(f.data[COUNT_MOST * widths[w]], GUARD);
        }
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(kernel__sort_every_small_count__stable_in_either_place),
        cmocka_unit_test(kernel__merge_every_cut__stable),
        cmocka_unit_test(kernel__comparator_without_order__each_element_once),
    };
    test_begin(100);
    return cmocka_run_group_tests(cases, NULL, NULL);
}
