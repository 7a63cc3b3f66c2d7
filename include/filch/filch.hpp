/* SPDX-License-Identifier: MIT */
/* Filch for C++17: lambdas instead of function and pointer, results by value, exceptions.
 *
 * Header only, over the C interface; what the C headers say about threads, order and blocking holds
 * here too. An exception that leaves a callable is caught there and thrown again by the call that
 * waits for it: join2, for_each, reduce, sort, run. If several leave, the first one that was caught
 * is thrown and the others are dropped; children that run are waited for first, pieces of a loop
 * that have not begun are skipped. A posted task has nobody to throw to: there it is terminate.
 *
 * Where a call takes a `where`, it is a context (inside a task) or a pool (from any thread). */
#ifndef FILCH_FILCH_HPP
#define FILCH_FILCH_HPP

#include <filch/filch.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

namespace filch {

/* What a call throws that failed. */
class error : public std::runtime_error {
  public:
    explicit error(filch_status status)
        : std::runtime_error(filch_strerror(status)), status_(status)
    {
    }
    filch_status status() const noexcept { return status_; }

  private:
    filch_status status_;
};

inline void check(filch_status status)
{
    if (status != FILCH_OK) {
        throw error(status);
    }
}

/* A pool that ends with its scope: all accepted tasks have run when the destructor returns. */
class pool {
  public:
    /* 0 workers: the default number. */
    explicit pool(unsigned workers = 0)
    {
        filch_pool_config config = FILCH_POOL_CONFIG_INIT;
        config.workers = workers;
        check(filch_pool_create(&config, &pool_));
    }
    explicit pool(const filch_pool_config &config) { check(filch_pool_create(&config, &pool_)); }
    ~pool() { static_cast<void>(filch_pool_destroy(pool_)); }
    pool(const pool &) = delete;
    pool &operator=(const pool &) = delete;

    filch_pool *get() const noexcept { return pool_; }
    operator filch_pool *() const noexcept { return pool_; }
    unsigned workers() const noexcept { return filch_pool_workers(pool_); }

  private:
    filch_pool *pool_ = nullptr;
};

namespace detail {

inline void throw_if_any(const std::exception_ptr &what)
{
    if (what) {
        std::rethrow_exception(what);
    }
}

/* The first exception of several threads. */
class first_exception {
  public:
    /* Inside a catch block. */
    void keep() noexcept
    {
        if (!taken_.exchange(true, std::memory_order_relaxed)) {
            what_ = std::current_exception(); /* the wait for the calls orders it */
        }
    }
    bool is_set() const noexcept { return taken_.load(std::memory_order_relaxed); }
    void rethrow() const { throw_if_any(what_); }

  private:
    std::atomic<bool> taken_{ false };
    std::exception_ptr what_;
};

/* A callable with room for what came of it. */
template <class F> class call {
  public:
    using raw = std::invoke_result_t<F &, filch_cx *>;
    using value = std::conditional_t<std::is_void_v<raw>, std::monostate, raw>;
    static_assert(!std::is_reference_v<raw>, "a task returns a value, not a reference");

    explicit call(F &f) : f_(f) {}

    static void run(filch_cx *cx, void *self) noexcept
    {
        call &me = *static_cast<call *>(self);
        try {
            if constexpr (std::is_void_v<raw>) {
                me.f_(cx);
                me.value_.emplace();
            } else {
                me.value_.emplace(me.f_(cx));
            }
        } catch (...) {
            me.what_ = std::current_exception();
        }
    }
    void rethrow() const { throw_if_any(what_); }
    value take() { return std::move(*value_); }

  private:
    F &f_;
    std::optional<value> value_;
    std::exception_ptr what_;
};

/* Totals and elements are moved about in blocks that begin at a cache line. */
inline constexpr std::size_t most_alignment = 128;

/* Whether a `where` is a context; else it is a pool. */
template <class Where>
inline constexpr bool is_context = std::is_convertible_v<Where &, filch_cx *>;

template <class F> struct loop {
    F &body;
    first_exception what;

    static void run(filch_cx *cx, void *self, filch_range range) noexcept
    {
        loop &me = *static_cast<loop *>(self);
        if (me.what.is_set()) {
            return;
        }
        try {
            if constexpr (std::is_invocable_v<F &, filch_cx *, filch_range>) {
                me.body(cx, range);
            } else {
                for (std::size_t i = range.lo; i < range.hi; i++) {
                    me.body(i);
                }
            }
        } catch (...) {
            me.what.keep();
        }
    }
};

template <class T, class Fold, class Combine> struct reduction {
    const T &neutral;
    Fold &fold_one;
    Combine &combine_two;
    first_exception what;

    static void identity(void *self, void *value) noexcept
    {
        new (value) T(static_cast<reduction *>(self)->neutral);
    }
    static void fold(filch_cx *, void *self, filch_range range, void *value) noexcept
    {
        reduction &me = *static_cast<reduction *>(self);
        T &total = *static_cast<T *>(value);
        try {
            if constexpr (std::is_invocable_v<Fold &, T &, filch_range>) {
                if (!me.what.is_set()) {
                    me.fold_one(total, range);
                }
            } else {
                for (std::size_t i = range.lo; i < range.hi && !me.what.is_set(); i++) {
                    total = me.fold_one(total, i);
                }
            }
        } catch (...) {
            me.what.keep();
        }
    }
    static void combine(void *self, void *left, const void *right) noexcept
    {
        reduction &me = *static_cast<reduction *>(self);
        T &total = *static_cast<T *>(left);
        try {
            if (!me.what.is_set()) {
                total = me.combine_two(total, *static_cast<const T *>(right));
            }
        } catch (...) {
            me.what.keep();
        }
    }
};

template <class T, class Less> struct order {
    Less &less;
    first_exception what;

    static int compare(const void *a, const void *b, void *self) noexcept
    {
        order &me = *static_cast<order *>(self);
        try {
            return !me.what.is_set() &&
                           me.less(*static_cast<const T *>(a), *static_cast<const T *>(b))
                       ? -1
                       : 0;
        } catch (...) {
            me.what.keep();
            return 0;
        }
    }
};

/* A task that was posted: its bytes lie in the task, or a pointer to it does. */
template <class F>
inline constexpr bool posts_inline = std::is_trivially_copyable_v<F> &&
                                     sizeof(F) <= FILCH_POST_INLINE_BYTES &&
                                     alignof(F) <= alignof(std::max_align_t);

template <class F> void run_posted(filch_cx *cx, F &f) noexcept
{
    if constexpr (std::is_invocable_v<F &, filch_cx *>) {
        f(cx);
    } else {
        static_cast<void>(cx);
        f();
    }
}

} /* namespace detail */

/* Call f(cx) on a worker and return its result; from a worker of this pool it is a plain call. */
template <class F> auto run(filch_pool *pool, F &&f)
{
    detail::call<std::remove_reference_t<F>> root(f);
    check(filch_run(pool, root.run, &root));
    root.rethrow();
    if constexpr (!std::is_void_v<typename decltype(root)::raw>) {
        return root.take();
    }
}

/* Call f(cx) here and g(cx) in parallel; returns both results, std::monostate for void. */
template <class F, class G> auto join2(filch_cx *cx, F &&f, G &&g)
{
    detail::call<std::remove_reference_t<F>> first(f);
    detail::call<std::remove_reference_t<G>> second(g);
    filch_join2(cx, first.run, &first, second.run, &second);
    first.rethrow();
    second.rethrow();
    return std::pair(first.take(), second.take());
}

/* body(i) for each index below n, or body(cx, range) for pieces of them. */
template <class Where, class F>
void for_each(Where &&where, std::size_t n, F &&body, const filch_loop *options = nullptr)
{
    detail::loop<std::remove_reference_t<F>> loop{ body, {} };
    if constexpr (detail::is_context<Where>) {
        check(filch_for(where, n, loop.run, &loop, options));
    } else {
        check(filch_for_on(where, n, loop.run, &loop, options));
    }
    loop.what.rethrow();
}

/* total = fold(total, i) for each index below n, or fold(total, range) with a reference to it;
 * partial totals begin with `neutral` and are joined by combine(left, right), in order. The same
 * bits with any number of workers. */
template <class T, class Where, class Fold, class Combine>
T reduce(Where &&where, std::size_t n, const T &neutral, Fold &&fold, Combine &&combine,
         const filch_loop *options = nullptr)
{
    static_assert(std::is_trivially_copyable_v<T>, "totals are copied as bytes");
    static_assert(alignof(T) <= detail::most_alignment, "a total is aligned to 128 bytes at most");
    using reduction =
        detail::reduction<T, std::remove_reference_t<Fold>, std::remove_reference_t<Combine>>;
    reduction r{ neutral, fold, combine, {} };
    filch_reducer reducer = FILCH_REDUCER_INIT;
    reducer.value_bytes = sizeof(T);
    reducer.identity = r.identity;
    reducer.fold = r.fold;
    reducer.combine = r.combine;
    T total = neutral;
    if constexpr (detail::is_context<Where>) {
        check(filch_reduce(where, n, &reducer, &r, &total, options));
    } else {
        check(filch_reduce_on(where, n, &reducer, &r, &total, options));
    }
    r.what.rethrow();
    return total;
}

/* Sort `n` elements from `first` on, stably. After an exception all are there, in some order. */
template <class Where, class T, class Less>
void sort(Where &&where, T *first, std::size_t n, Less &&less)
{
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");
    static_assert(alignof(T) <= detail::most_alignment,
                  "elements are aligned to 128 bytes at most");
    detail::order<T, std::remove_reference_t<Less>> order{ less, {} };
    if constexpr (detail::is_context<Where>) {
        check(filch_sort(where, first, n, sizeof(T), order.compare, &order));
    } else {
        check(filch_sort_on(where, first, n, sizeof(T), order.compare, &order));
    }
    order.what.rethrow();
}

/* Post f() or f(cx): it is moved into the task and destroyed after it has run or was cancelled. A
 * small trivially copyable one allocates nothing. FILCH_E_CLOSED, FILCH_E_FULL, FILCH_E_NOMEM: it
 * was not accepted. Throws what its constructor throws, but for bad_alloc. */
template <class F> [[nodiscard]] filch_status post(filch_pool *pool, F &&f)
{
    using task = std::decay_t<F>;
    const auto run = [](filch_cx *cx, void *data) noexcept {
        detail::run_posted(cx, *static_cast<task *>(data));
    };
    if constexpr (detail::posts_inline<task>) {
        const task copy(std::forward<F>(f));
        return filch_post(pool, run, &copy, sizeof(copy), nullptr);
    } else {
        std::unique_ptr<task> owned;
        try {
            owned = std::make_unique<task>(std::forward<F>(f));
        } catch (const std::bad_alloc &) {
            return FILCH_E_NOMEM;
        }
        filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
        options.end = [](void *data, filch_end) noexcept { delete static_cast<task *>(data); };
        const filch_status status = filch_post(pool, run, owned.get(), 0, &options);
        if (status == FILCH_OK) {
            static_cast<void>(owned.release());
        }
        return status;
    }
}

} /* namespace filch */

#endif
