/* SPDX-License-Identifier: MIT */
/* Uses each INIT macro and calls each function of the public headers once. It is only compiled, in
 * every C and C++ standard that the headers promise; scripts/check_headers.py asks for the missing
 * ones. Nothing here is meant to be run. */
#include <filch/filch.h>

void use_all(filch_pool *pool, filch_cx *cx, filch_deque *deque);

static void use_fn(filch_cx *cx, void *arg)
{
    (void)cx;
    (void)arg;
}

static uintptr_t use_word(filch_cx *cx, uintptr_t arg)
{
    (void)cx;
    return arg;
}

static void use_range(filch_cx *cx, void *ctx, filch_range range)
{
    (void)cx;
    (void)ctx;
    (void)range;
}

static void use_end(void *data, filch_end how)
{
    (void)data;
    (void)how;
}

static void use_call(void *arg)
{
    (void)arg;
}

static void use_cpus(void)
{
    filch_cpus_options options = FILCH_CPUS_OPTIONS_INIT;
    filch_cpus cpus = FILCH_CPUS_INIT;
    options.flags = FILCH_CPUS_NO_ENVIRONMENT;
    (void)filch_cpus_read(&options, &cpus);
    (void)filch_cpus_sample(use_call, NULL, &options.wait_ns, &options.compute_ns);
    (void)filch_cpus_allowed();
}

static void use_base(void)
{
    (void)filch_strerror(FILCH_OK);
    (void)filch_version();
    (void)filch_time_now();
    (void)filch_time_after_ns(1);
    (void)filch_time_after_ms(1);
    (void)FILCH_VERSION_STRING;
}

static void use_deque(filch_deque *deque)
{
    filch_deque *made;
    filch_item item = { 1, 2 };
    (void)filch_deque_create(1, FILCH_DEQUE_MAX_CAPACITY, NULL, &made);
    filch_deque_adopt(deque);
    (void)filch_deque_push(deque, item);
    (void)filch_deque_pop(deque, &item);
    (void)filch_deque_steal(deque, &item);
    (void)filch_deque_size(deque);
    (void)filch_deque_capacity(deque);
    (void)filch_deque_retired_bytes(deque);
    filch_deque_destroy(deque);
}

static void use_pool(filch_pool *pool, filch_cx *cx)
{
    filch_pool_config config = FILCH_POOL_CONFIG_INIT;
    filch_shutdown_report report;
    filch_pool *made;
    config.flags = FILCH_POOL_STRICT | FILCH_POOL_FIFO;
    (void)filch_pool_create(&config, &made);
    (void)filch_pool_create_io(NULL, NULL, &made);
    (void)filch_pool_workers(pool);
    (void)filch_slots(pool);
    (void)filch_pool_max_workers(pool);
    (void)filch_pool_resize(pool, 1);
    (void)filch_pool_pause(pool);
    (void)filch_pool_resume(pool);
    (void)filch_pool_rebind(pool, NULL);
    (void)filch_pool_shutdown(pool, FILCH_DRAIN, FILCH_FOREVER, &report);
    (void)filch_pool_destroy(pool);
    (void)filch_default_pool();
    (void)filch_run(pool, use_fn, NULL);
    (void)filch_pool_wait_quiet(pool, FILCH_NOW);
    (void)filch_here();
    (void)filch_cx_pool(cx);
    (void)filch_cx_worker(cx);
}

static void use_fork(filch_pool *pool, filch_cx *cx)
{
    filch_fork_handle handle;
    filch_scope scope;
    filch_pair pair = filch_join2_word(cx, use_word, 1, use_word, pool != NULL);
    uintptr_t value;
    filch_join2(cx, use_fn, &pair, use_fn, NULL);
    filch_isolate(cx, use_fn, NULL);
    (void)filch_run_word(pool, use_word, 1, &value);
    filch_fork(cx, &handle, use_word, 1);
    (void)filch_join(cx, &handle);
    filch_scope_begin(cx, &scope);
    filch_spawn(cx, &scope, use_fn, NULL);
    filch_scope_end(cx, &scope);
}

static void use_loops(filch_pool *pool, filch_cx *cx)
{
    filch_loop options = FILCH_LOOP_INIT;
    options.grain = 16;
    (void)filch_for(cx, 1, use_range, NULL, &options);
    options.participants = 2;
    (void)filch_for_on(pool, 1, use_range, NULL, NULL);
}

static void use_value(filch_cx *cx, void *ctx, filch_range range, void *value)
{
    (void)value;
    use_range(cx, ctx, range);
}

static void use_combine(void *ctx, void *left, const void *right)
{
    (void)ctx;
    (void)left;
    (void)right;
}

static void use_reductions(filch_pool *pool, filch_cx *cx)
{
    filch_reducer reducer = FILCH_REDUCER_INIT;
    int total;
    reducer.value_bytes = sizeof(total);
    reducer.fold = use_value;
    reducer.combine = use_combine;
    (void)filch_reduce(cx, 1, &reducer, NULL, &total, NULL);
    (void)filch_reduce_on(pool, 1, &reducer, NULL, &total, NULL);
    (void)filch_scan(cx, 1, &reducer, use_value, NULL, &total, NULL);
    (void)filch_scan_on(pool, 1, &reducer, use_value, NULL, &total, NULL);
}

static int use_keep(const void *element, void *ctx)
{
    (void)ctx;
    return element != NULL;
}

static int use_compare(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return a == b;
}

static void use_arrays(filch_pool *pool, filch_cx *cx)
{
    int in[2] = { 2, 1 };
    int out[2];
    size_t count;
    (void)filch_pack(cx, in, 2, sizeof(in[0]), use_keep, NULL, out, &count, NULL);
    (void)filch_pack_on(pool, in, 2, sizeof(in[0]), use_keep, NULL, out, &count, NULL);
    (void)filch_sort(cx, in, 2, sizeof(in[0]), use_compare, NULL);
    (void)filch_sort_on(pool, in, 2, sizeof(in[0]), use_compare, NULL);
    (void)filch_merge(cx, in, 1, in + 1, 1, out, sizeof(in[0]), use_compare, NULL);
    (void)filch_merge_on(pool, in, 1, in + 1, 1, out, sizeof(in[0]), use_compare, NULL);
}

static void use_tasks(filch_pool *pool, filch_cx *cx)
{
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_task task = FILCH_TASK_INIT(use_fn, NULL);
    char data[FILCH_POST_INLINE_BYTES] = { 0 };
    options.end = use_end;
    (void)filch_post(pool, use_fn, data, sizeof(data), &options);
    (void)filch_submit(pool, &task, NULL);
    filch_task *tasks[1] = { &task };
    size_t accepted = 0;
    (void)filch_submit_many(pool, tasks, 1, &options, &accepted);
    (void)filch_queue_capacity(100, 1000, 2, 1000000);
    (void)filch_label(cx);
}

static void use_tokens(filch_pool *pool, filch_cx *cx)
{
    filch_token *token = NULL;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    (void)filch_token_create(NULL, NULL, &token);
    options.stop = token;
    (void)filch_post(pool, use_fn, NULL, 0, &options);
    (void)filch_token_stop(token);
    (void)filch_token_stopped(token);
    (void)filch_stopped(cx);
    (void)filch_token_destroy(token);
}

static void use_groups(filch_pool *pool, filch_cx *cx)
{
    filch_group_config config = FILCH_GROUP_CONFIG_INIT;
    filch_group *group = NULL;
    filch_submit_options options = FILCH_SUBMIT_OPTIONS_INIT;
    filch_status first = FILCH_OK;
    size_t cancelled = 0;
    config.flags = FILCH_GROUP_FAIL_FAST;
    (void)filch_group_create(pool, &config, &group);
    options.group = group;
    (void)filch_post(pool, use_fn, NULL, 0, &options);
    (void)filch_group_cancel(group, &cancelled);
    (void)filch_group_wait(group, FILCH_NOW, NULL, &first);
    (void)filch_group_destroy(group);
    (void)filch_fail(cx, first);
}

static filch_status use_async(filch_cx *cx, void *data, void *result)
{
    (void)cx;
    (void)data;
    *(int *)result = 1;
    return FILCH_OK;
}

static filch_status use_then(filch_cx *cx, void *data, filch_status status, const void *value,
                             void *result)
{
    (void)value;
    return status != FILCH_OK ? status : use_async(cx, data, result);
}

static void use_futures(filch_pool *pool)
{
    filch_promise *promise = NULL;
    filch_future *futures[4] = { NULL, NULL, NULL, NULL };
    int value = 1;
    size_t index = 0;
    (void)filch_promise_create(sizeof(value), NULL, &promise, &futures[0]);
    (void)filch_future_then(futures[0], pool, use_then, NULL, 0, sizeof(value), NULL, &futures[1]);
    (void)filch_when_all(futures, 2, NULL, &futures[2]);
    (void)filch_when_any(futures, 2, NULL, &futures[3]);
    (void)filch_promise_set(promise, &value, sizeof(value));
    (void)filch_promise_fail(promise, FILCH_E_DROPPED);
    (void)filch_promise_drop(promise);
    (void)filch_future_wait(futures[2], FILCH_NOW, NULL, NULL, 0);
    (void)filch_future_index(futures[3], &index);
    if (filch_future_ready(futures[1])) {
        (void)filch_future_read(futures[1], &value, sizeof(value));
    }
    for (int i = 0; i < 4; i++) {
        filch_future_release(futures[i]);
    }
    futures[0] = NULL;
    (void)filch_async(pool, use_async, NULL, 0, sizeof(value), NULL, &futures[0]);
    filch_future_release(filch_future_retain(futures[0]));
}

static void use_stats(filch_pool *pool)
{
    filch_stats stats = FILCH_STATS_INIT;
    filch_worker_stats one;
    filch_lengths lengths = FILCH_LENGTHS_INIT;
    (void)filch_stats_read(pool, &stats);
    (void)filch_stats_read_worker(pool, 0, &one);
    (void)filch_stats_read_lengths(pool, &lengths);
    (void)filch_stats_read_waits(pool, &lengths);
    (void)filch_lengths_quantile(&lengths, 0.5);
    (void)filch_length_from(FILCH_LENGTH_BUCKETS - 1);
}

void use_all(filch_pool *pool, filch_cx *cx, filch_deque *deque)
{
    use_base();
    use_cpus();
    use_deque(deque);
    use_pool(pool, cx);
    use_fork(pool, cx);
    use_loops(pool, cx);
    use_reductions(pool, cx);
    use_arrays(pool, cx);
    use_tasks(pool, cx);
    use_tokens(pool, cx);
    use_groups(pool, cx);
    use_futures(pool);
    use_stats(pool);
}
