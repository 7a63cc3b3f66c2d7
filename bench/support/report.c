/* SPDX-License-Identifier: MIT */
/* Measures a benchmark, judges its claims, and prints it as JSON or as a table.
 *
 * JSON goes to stdout and nothing else does, so that the output of several benchmarks can be piped
 * on; verdicts go to stderr. In JSON all times are nanoseconds per unit. */
#include "bench/support/report.h"

#include "bench/support/json.h"
#include "bench/support/machine.h"

#include <inttypes.h>
#include <stdio.h>

void bench_common_options(bench_options *options, option_spec *out_specs)
{
    out_specs[0] = (option_spec){ .name = "--rounds",
                                  .help = "times every contestant runs",
                                  .number = &options->rounds,
                                  .low = 1,
                                  .high = 1000000 };
    out_specs[1] = (option_spec){ .name = "--table",
                                  .help = "print a table, not JSON",
                                  .flag = &options->table };
    out_specs[2] = (option_spec){ .name = "--gate",
                                  .help = "judge the claims: exit 0 kept, 1 broken, 77 not judged",
                                  .flag = &options->gate };
}

/* What was measured. */
typedef struct outcome {
    measure_result results[MEASURE_MAX_CONTESTANTS];
    measure_rounds rounds;
    machine here;
} outcome;

static const measure_summary *pick(const measure_result *result, bool by_wall)
{
    return by_wall ? &result->wall : &result->cpu;
}

static double ratio_value(const bench_ratio *ratio, const outcome *seen)
{
    return pick(&seen->results[ratio->over], ratio->by_wall)->median /
           pick(&seen->results[ratio->under], ratio->by_wall)->median;
}

/* Could noise be the reason for the verdict? Not if the claim is kept by the quartiles as well, the
 * slow one of the upper against the fast one of the lower. */
static bool is_noisy(const bench_spec *spec, const bench_ratio *ratio, const outcome *seen)
{
    if (spec->reference != MEASURE_NO_REFERENCE && seen->rounds.quiet < MEASURE_MIN_ROUNDS) {
        return true;
    }
    const measure_summary *over = pick(&seen->results[ratio->over], ratio->by_wall);
    const measure_summary *under = pick(&seen->results[ratio->under], ratio->by_wall);
    if (over->high <= ratio->limit * under->low) {
        return false;
    }
    return over->spread > spec->max_spread || under->spread > spec->max_spread;
}

static bool is_skipped(const bench_ratio *ratio, const bench_spec *spec)
{
    return spec->contestants[ratio->over].skipped != NULL ||
           spec->contestants[ratio->under].skipped != NULL;
}

static bool any_claim_noisy(const bench_spec *spec, const outcome *seen)
{
    for (size_t i = 0; i < spec->ratio_count; i++) {
        const bench_ratio *ratio = &spec->ratios[i];
        if (ratio->limit > 0 && !is_skipped(ratio, spec) && is_noisy(spec, ratio, seen)) {
            return true;
        }
    }
    return false;
}

static int judge_one(const bench_spec *spec, const bench_ratio *ratio, const outcome *seen)
{
    const char *reason = NULL;
    if (!machine_build_is_optimised(&seen->here)) {
        reason = "this build does not optimise";
    } else if (is_skipped(ratio, spec)) {
        reason = "a contestant was skipped";
    } else if (is_noisy(spec, ratio, seen)) {
        reason = "the machine is too noisy";
    }
    if (reason != NULL) {
        fprintf(stderr, "%s: %s: not judged: %s\n", spec->name, ratio->name, reason);
        return BENCH_NOT_JUDGED;
    }
    const double value = ratio_value(ratio, seen);
    const bool kept = value <= ratio->limit;
    fprintf(stderr, "%s: %s = %.3f, limit %.2f: %s\n", spec->name, ratio->name, value, ratio->limit,
            kept ? "kept" : "BROKEN");
    return kept ? BENCH_PASS : BENCH_FAIL;
}

/* A broken claim outweighs one that was not judged, that one outweighs one that was kept. */
static int judge_all(const bench_spec *spec, const outcome *seen)
{
    int verdict = BENCH_PASS;
    for (size_t i = 0; i < spec->ratio_count; i++) {
        if (spec->ratios[i].limit > 0) {
            const int one = judge_one(spec, &spec->ratios[i], seen);
            if (one == BENCH_FAIL || (one == BENCH_NOT_JUDGED && verdict == BENCH_PASS)) {
                verdict = one;
            }
        }
    }
    return verdict;
}

static void write_summary(json *out, const char *key, const measure_summary *summary, double units)
{
    json_open(out, key, '{');
    json_real(out, "min", summary->minimum / units);
    json_real(out, "median", summary->median / units);
    json_real(out, "spread", summary->spread);
    json_close(out, '}');
}

static void write_contestants(const bench_spec *spec, const outcome *seen, json *out)
{
    char cpu_key[64];
    char wall_key[64];
    snprintf(cpu_key, sizeof cpu_key, "cpu_ns_per_%s", spec->unit);
    snprintf(wall_key, sizeof wall_key, "wall_ns_per_%s", spec->unit);
    json_open(out, "contestants", '[');
    for (size_t i = 0; i < spec->contestant_count; i++) {
        json_open(out, NULL, '{');
        json_text(out, "name", spec->contestants[i].name);
        if (spec->contestants[i].skipped != NULL) {
            json_text(out, "skipped", spec->contestants[i].skipped);
        } else {
            if (!spec->contestants[i].wall_only) {
                write_summary(out, cpu_key, &seen->results[i].cpu, spec->units);
            }
            write_summary(out, wall_key, &seen->results[i].wall, spec->units);
        }
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void print_json(const bench_spec *spec, const outcome *seen)
{
    json out;
    json_begin(&out, stdout);
    json_text(&out, "benchmark", spec->name);
    machine_write_json(&seen->here, &out);
    json_open(&out, "workload", '{');
    for (size_t i = 0; i < spec->fact_count; i++) {
        json_number(&out, spec->facts[i].name, spec->facts[i].value);
    }
    json_number(&out, "rounds", seen->rounds.run);
    json_number(&out, "rounds_quiet", seen->rounds.quiet);
    json_number(&out, "rounds_used", seen->rounds.used);
    json_close(&out, '}');
    write_contestants(spec, seen, &out);
    json_open(&out, "ratios", '{');
    for (size_t i = 0; i < spec->ratio_count; i++) {
        json_real(&out, spec->ratios[i].name, ratio_value(&spec->ratios[i], seen));
    }
    json_close(&out, '}');
    json_open(&out, "limits", '{');
    for (size_t i = 0; i < spec->ratio_count; i++) {
        if (spec->ratios[i].limit > 0) {
            json_real(&out, spec->ratios[i].name, spec->ratios[i].limit);
        }
    }
    json_close(&out, '}');
    json_end(&out);
}

static void print_summary(const measure_summary *summary, bool measured, double units)
{
    if (measured) {
        printf(" | %9.2f %9.2f %6.1f%%", summary->minimum / units, summary->median / units,
               summary->spread * 100);
    } else {
        printf(" | %9s %9s %7s", "-", "-", "-");
    }
}

static void print_contestants(const bench_spec *spec, const outcome *seen)
{
    printf("%-26s | %9s %9s %7s | %9s %9s %7s\n", "", "cpu min", "median", "spread", "wall min",
           "median", "spread");
    for (size_t i = 0; i < spec->contestant_count; i++) {
        const measure_contestant *who = &spec->contestants[i];
        printf("%-26s", who->name);
        if (who->skipped != NULL) {
            printf(" | skipped: %s\n", who->skipped);
            continue;
        }
        print_summary(&seen->results[i].cpu, !who->wall_only, spec->units);
        print_summary(&seen->results[i].wall, true, spec->units);
        putchar('\n');
    }
}

static void print_table(const bench_spec *spec, const outcome *seen)
{
    machine_print(&seen->here, stdout);
    printf("%s:", spec->name);
    for (size_t i = 0; i < spec->fact_count; i++) {
        printf(" %s %" PRIu64 ",", spec->facts[i].name, spec->facts[i].value);
    }
    printf(" %zu rounds, %zu quiet, %zu used; ns per %s\n", seen->rounds.run, seen->rounds.quiet,
           seen->rounds.used, spec->unit);
    print_contestants(spec, seen);
    for (size_t i = 0; i < spec->ratio_count; i++) {
        const bench_ratio *ratio = &spec->ratios[i];
        printf("%-38s %7.3f by %s", ratio->name, ratio_value(ratio, seen),
               ratio->by_wall ? "wall" : "cpu");
        if (ratio->limit > 0) {
            printf(", limit %.2f", ratio->limit);
        }
        putchar('\n');
    }
}

int bench_main(const bench_spec *spec, const bench_options *options)
{
    if (spec->contestant_count > MEASURE_MAX_CONTESTANTS) {
        fprintf(stderr, "%s: more contestants than there is room for\n", spec->name);
        return BENCH_FAIL;
    }
    outcome seen;
    machine_describe(&seen.here);
    const measure_plan plan = { .rounds = options->rounds,
                                .cpu_clock = spec->cpu_clock,
                                .reference = spec->reference };
    unsigned attempt = 0;
    do {
        attempt++;
        if (!measure_all(spec->contestants, spec->contestant_count, &plan, seen.results,
                         &seen.rounds)) {
            return BENCH_FAIL;
        }
    } while (options->gate && attempt < BENCH_ATTEMPTS && any_claim_noisy(spec, &seen));
    if (options->table) {
        print_table(spec, &seen);
    } else {
        print_json(spec, &seen);
    }
    fflush(stdout);
    return options->gate ? judge_all(spec, &seen) : BENCH_PASS;
}
