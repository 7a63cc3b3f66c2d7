/* SPDX-License-Identifier: MIT */
/* filch.hpp: results, exceptions, what becomes of a callable. Prints what fails; exit 1. */
#include <filch/filch.hpp>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

static std::atomic<int> failures{ 0 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                    \
        }                                                                                          \
    } while (0)

struct oops : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* What a call throws: its text, "" for nothing. */
template <class F> static std::string thrown_by(F &&f)
{
    try {
        f();
    } catch (const std::exception &e) {
        return e.what();
    }
    return "";
}

static long fib(filch_cx *cx, int n)
{
    if (n < 2) {
        return n;
    }
    auto [a, b] = filch::join2(
        cx, [n](filch_cx *c) { return fib(c, n - 1); }, [n](filch_cx *c) { return fib(c, n - 2); });
    return a + b;
}

static int throws_at(filch_cx *cx, int depth, int bad_leaf, int leaf, std::atomic<int> &leaves)
{
    if (depth == 0) {
        leaves++;
        if (leaf == bad_leaf) {
            throw oops("leaf");
        }
        return 1;
    }
    auto [a, b] = filch::join2(
        cx, [&](filch_cx *c) { return throws_at(c, depth - 1, bad_leaf, 2 * leaf, leaves); },
        [&](filch_cx *c) { return throws_at(c, depth - 1, bad_leaf, 2 * leaf + 1, leaves); });
    return a + b;
}

static void test_run_and_join(filch::pool &pool)
{
    CHECK(filch::run(pool, [](filch_cx *cx) { return fib(cx, 20); }) == 6765);
    /* results that only move, and none */
    auto made = filch::run(pool, [](filch_cx *cx) {
        auto [text, nothing] = filch::join2(
            cx, [](filch_cx *) { return std::make_unique<std::string>("moved"); },
            [](filch_cx *) {});
        static_assert(std::is_same_v<decltype(nothing), std::monostate>);
        return std::move(text);
    });
    CHECK(*made == "moved");
    for (int bad = 0; bad < 64; bad++) {
        std::atomic<int> leaves{ 0 };
        CHECK(thrown_by([&] {
                  filch::run(pool, [&](filch_cx *cx) { throws_at(cx, 6, bad, 0, leaves); });
              }) == "leaf");
        CHECK(leaves == 64); /* a child that was forked is waited for, not dropped */
    }
}

static void test_loops(filch::pool &pool)
{
    std::vector<int> squares(10000, -1);
    filch::for_each(pool, squares.size(), [&](std::size_t i) { squares[i] = int(i * i % 1000); });
    for (std::size_t i = 0; i < squares.size(); i++) {
        CHECK(squares[i] == int(i * i % 1000));
    }
    std::atomic<std::size_t> covered{ 0 };
    filch::run(pool, [&](filch_cx *cx) {
        filch::for_each(cx, 5000, [&](filch_cx *, filch_range r) { covered += r.hi - r.lo; });
    });
    CHECK(covered == 5000);
    std::atomic<std::size_t> calls{ 0 };
    filch_loop one = FILCH_LOOP_INIT;
    one.grain = 1;
    CHECK(thrown_by([&] {
              filch::for_each(
                  pool, 1000000,
                  [&](std::size_t i) {
                      calls++;
                      if (i == 3) {
                          throw oops("three");
                      }
                  },
                  &one);
          }) == "three");
    CHECK(calls >= 1);
}

static void test_reduce_and_sort(filch::pool &pool)
{
    const auto add = [](long a, long b) { return a + b; };
    CHECK(filch::reduce(
              pool, 100001, 0L, [](long t, std::size_t i) { return t + long(i); }, add) ==
          5000050000L);
    const auto by_range = [](long &t, filch_range r) {
        for (std::size_t i = r.lo; i < r.hi; i++) {
            t += long(i);
        }
    };
    CHECK(filch::run(pool, [&](filch_cx *cx) {
              return filch::reduce(cx, 1001, 0L, by_range, add);
          }) == 500500L);
    CHECK(thrown_by([&] {
              filch::reduce(
                  pool, 1000, 0L,
                  [](long t, std::size_t i) { return i == 777 ? throw oops("fold") : t; }, add);
          }) == "fold");
    CHECK(thrown_by([&] {
              filch::reduce(
                  pool, 1000, 0L, [](long t, std::size_t) { return t; },
                  [](long, long) -> long { throw oops("combine"); });
          }) == "combine");

    std::vector<std::array<int, 2>> items(30000);
    for (std::size_t i = 0; i < items.size(); i++) {
        items[i] = { int(i * 7919 % 100), int(i) };
    }
    filch::sort(pool, items.data(), items.size(),
                [](const auto &a, const auto &b) { return a[0] < b[0]; });
    for (std::size_t i = 1; i < items.size(); i++) {
        CHECK(items[i - 1] < items[i]); /* by key and then by place: stable */
    }
    CHECK(thrown_by([&] {
              filch::sort(pool, items.data(), items.size(),
                          [](const auto &, const auto &) -> bool { throw oops("less"); });
          }) == "less");
}

/* A callable that throws ends the work that has not begun, wherever it is called from. */
static void test_exceptions(filch::pool &pool)
{
    std::atomic<int> calls{ 0 };
    filch_loop serial = FILCH_LOOP_INIT;
    serial.grain = 10;
    serial.participants = 1;
    CHECK(thrown_by([&] {
              filch::reduce(
                  pool, 1000, 0L,
                  [&](long &, filch_range) {
                      calls++;
                      throw oops("range");
                  },
                  [&](long a, long) {
                      calls++;
                      return a;
                  },
                  &serial);
          }) == "range");
    CHECK(calls == 1);
    CHECK(thrown_by([&] {
              filch::for_each(pool, 100, [](filch_cx *cx, filch_range) {
                  filch::reduce(
                      cx, 100, 0L, [](long, std::size_t) -> long { throw oops("nested"); },
                      std::plus<>());
              });
          }) == "nested");
    CHECK(thrown_by([&] {
              filch::run(pool, [](filch_cx *cx) {
                  filch::join2(
                      cx, [](filch_cx *) { return std::string(1000, 'x'); },
                      [](filch_cx *) -> std::string { throw oops("second"); });
              });
          }) == "second");
    std::vector<int> items(20000);
    for (std::size_t i = 0; i < items.size(); i++) {
        items[i] = int(i * 7919 % items.size());
    }
    for (int at = 1; at < 10000; at *= 3) { /* a sort needs more comparisons than that */
        std::atomic<int> left{ at };
        CHECK(thrown_by([&] {
                  filch::sort(pool, items.data(), items.size(), [&](int a, int b) {
                      return left-- == 0 ? throw oops("less") : a < b;
                  });
              }) == "less");
    }
    std::vector<bool> seen(items.size());
    for (const int item : items) {
        seen[std::size_t(item)] = true;
    }
    CHECK(seen == std::vector<bool>(items.size(), true)); /* all are there, in some order */
}

static void plain_task(filch_cx *)
{
}
static std::atomic<int> plain_calls{ 0 };
static void plain_index(std::size_t)
{
    plain_calls++;
}
static void plain_post()
{
    plain_calls++;
}

struct alignas(128) aligned {
    long value;
};

static void test_kinds_of_callables()
{
    {
        filch::pool pool(2);
        filch::run(pool, plain_task);
        filch::for_each(pool, 10, plain_index);
        CHECK(filch::post(pool, plain_post) == FILCH_OK);
        const std::function<int(filch_cx *)> seven = [](filch_cx *) { return 7; };
        CHECK(filch::run(pool, seven) == 7);
        CHECK(filch::run(pool, [three = std::make_unique<int>(3)](filch_cx *) { return *three; }) ==
              3);
        const auto one_more = [](aligned a, std::size_t) { return aligned{ a.value + 1 }; };
        const auto both = [](aligned a, const aligned &b) { return aligned{ a.value + b.value }; };
        CHECK(filch::reduce(pool, 5000, aligned{ 0 }, one_more, both).value == 5000);
    }
    CHECK(plain_calls == 11);
}

/* Counts how many are alive. */
struct counted {
    static std::atomic<int> alive;
    std::atomic<int> &ran;
    char weight[100] = {};
    explicit counted(std::atomic<int> &r) : ran(r) { alive++; }
    counted(counted &&other) noexcept : ran(other.ran) { alive++; }
    counted(const counted &) = delete;
    ~counted() { alive--; }
    void operator()() { ran++; }
};
std::atomic<int> counted::alive{ 0 };

/* A copy of it needs memory that cannot be had, or fails in another way. */
struct uncopied {
    bool no_memory;
    explicit uncopied(bool lacks_memory) : no_memory(lacks_memory) {}
    uncopied(const uncopied &other) : no_memory(other.no_memory)
    {
        if (no_memory) {
            throw std::bad_alloc();
        }
        throw oops("copy");
    }
    void operator()() const { failures++; }
};

static void test_post()
{
    std::atomic<int> ran{ 0 };
    {
        filch::pool pool(2);
        for (int i = 0; i < 500; i++) {
            CHECK(filch::post(pool, [&ran] { ran++; }) == FILCH_OK);
            CHECK(filch::post(pool, [&ran](filch_cx *cx) { ran += cx != nullptr; }) == FILCH_OK);
            CHECK(filch::post(pool, counted(ran)) == FILCH_OK);
        }
    }
    CHECK(ran == 1500);
    CHECK(counted::alive == 0);
    filch::pool closed(1);
    const uncopied lacks_memory(true);
    const uncopied broken(false);
    CHECK(filch::post(closed, lacks_memory) == FILCH_E_NOMEM);
    CHECK(thrown_by([&] { static_cast<void>(filch::post(closed, broken)); }) == "copy");
    CHECK(filch_pool_shutdown(closed, FILCH_DRAIN, FILCH_FOREVER, nullptr) == FILCH_OK);
    CHECK(filch::post(closed, counted(ran)) == FILCH_E_CLOSED);
    CHECK(counted::alive == 0);
    CHECK(ran == 1500);
    CHECK(thrown_by([&] { filch::run(closed, [](filch_cx *) {}); }) ==
          filch_strerror(FILCH_E_CLOSED));
}

static void test_errors()
{
    filch_pool_config bad = FILCH_POOL_CONFIG_INIT;
    bad.flags = ~0u;
    filch_status status = FILCH_OK;
    try {
        filch::pool pool(bad);
    } catch (const filch::error &e) {
        status = e.status();
    }
    CHECK(status == FILCH_E_INVALID);
}

int main()
{
    {
        filch::pool pool(3);
        CHECK(pool.workers() == 3);
        test_run_and_join(pool);
        test_loops(pool);
        test_reduce_and_sort(pool);
        test_exceptions(pool);
    }
    test_kinds_of_callables();
    test_post();
    test_errors();
    std::printf("%d failed\n", failures.load());
    return failures == 0 ? 0 : 1;
}
