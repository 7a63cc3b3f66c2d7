/* SPDX-License-Identifier: MIT */
/* The command line of a client program, and the default run: exhaustive up to 2 pre-emptions, then
 * random, then PCT, as much of each as fits into the time. */
#include "main.h"
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct settings {
    const char *client; /* NULL: all */
    const char *replay; /* NULL: none */
    uint64_t random;    /* executions; 0: as many as the time allows */
    uint64_t pct;
    unsigned depth;
    int exhaustive; /* pre-emptions, -1: the client's own */
    bool chosen;    /* only what was asked for */
    bool do_random, do_pct, do_exhaustive;
    double seconds; /* for one client; 0: its own */
    double scale;   /* of its own time */
    uint64_t seed;
    bool verbose;
    bool keep_going; /* after a client that failed */
    bool list;
} settings;

/* Of one client, all ways to explore together. */
typedef struct tally {
    uint64_t executions;
    int complete_at; /* pre-emptions up to which the search was complete; -1: none */
} tally;

enum { USUAL_PREEMPTIONS = 2, BONUS_PREEMPTIONS = 1, USUAL_DEPTH = 3, USUAL_SAMPLES = 20000 };

static const double usual_seconds = 1.5; /* the whole suite stays within a minute */

static const char usage[] =
    "usage: <client> [--client NAME] [--exhaustive PREEMPTIONS] [--random N] [--pct N] [--depth D]\n"
    "                [--seconds T] [--seed S] [--replay STRING] [--merge 0] [--keep-going 0] [-v]\n"
    "       <client> --list\n"
    "N 0: as many as fit into T seconds. Without a way to explore: all three, T seconds together.\n";

static _Noreturn void refuse(const char *what)
{
    (void)fprintf(stderr, "%s\n%s", what, usage);
    exit(2);
}

static uint64_t number_of(const char *text)
{
    char *end = NULL;
    const uint64_t value = strtoull(text, &end, 0);
    if (*text == '\0' || *end != '\0') {
        refuse("a number is expected");
    }
    return value;
}

static void from_environment(settings *s)
{
    const char *seed = getenv("FILCH_TEST_SEED");
    const char *scale = getenv("FILCH_TEST_SCALE");
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    s->seed = seed != NULL ? number_of(seed) : (uint64_t)time.tv_nsec ^ (uint64_t)time.tv_sec << 20;
    if (scale != NULL && strtod(scale, NULL) > 0) {
        s->scale = strtod(scale, NULL);
    }
}

static void take_option(settings *s, const char *name, const char *value)
{
    if (strcmp(name, "--client") == 0) {
        s->client = value;
    } else if (strcmp(name, "--replay") == 0) {
        s->replay = value;
    } else if (strcmp(name, "--random") == 0) {
        s->random = number_of(value);
        s->do_random = s->chosen = true;
    } else if (strcmp(name, "--pct") == 0) {
        s->pct = number_of(value);
        s->do_pct = s->chosen = true;
    } else if (strcmp(name, "--depth") == 0) {
        s->depth = (unsigned)number_of(value);
    } else if (strcmp(name, "--exhaustive") == 0) {
        s->exhaustive = (int)number_of(value);
        s->do_exhaustive = s->chosen = true;
    } else if (strcmp(name, "--seconds") == 0) {
        s->seconds = strtod(value, NULL);
    } else if (strcmp(name, "--merge") == 0) {
        rt->no_merging = number_of(value) == 0;
    } else if (strcmp(name, "--keep-going") == 0) {
        s->keep_going = number_of(value) != 0;
    } else if (strcmp(name, "--seed") == 0) {
        s->seed = number_of(value);
    } else {
        refuse(name);
    }
}

static settings parse(int argc, char **argv)
{
    settings s = { .depth = USUAL_DEPTH, .exhaustive = -1, .scale = 1, .keep_going = true };
    from_environment(&s);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) {
            s.verbose = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            s.list = true;
        } else if (i + 1 < argc) {
            take_option(&s, argv[i], argv[i + 1]);
            i++;
        } else {
            refuse("a value is missing");
        }
    }
    if (!s.chosen) {
        s.do_random = s.do_pct = s.do_exhaustive = true;
    }
    return s;
}

/* One way to explore. */

static void show(const char *how, rt_result r)
{
    const double rate = r.seconds > 0 ? (double)r.executions / r.seconds / 1000 : 0;
    printf("%s: %s: %llu executions, %.0f k/s, at most %zu steps%s\n", rt->client->name, how,
           (unsigned long long)r.executions, rate, r.deepest_steps,
           r.failed     ? ", FAILED"
           : r.complete ? ", complete"
                        : "");
    (void)fflush(stdout);
}

/* One more pre-emption after the other, until the time is over. `complete` tells of the promised
 * number; what comes beyond it is a bonus. */
static rt_result exhaustive(const settings *s, double seconds, tally *total)
{
    const unsigned own = rt->client->preemptions != 0 ? rt->client->preemptions : USUAL_PREEMPTIONS;
    const unsigned promised = s->exhaustive >= 0 ? (unsigned)s->exhaustive : own;
    const unsigned most = s->exhaustive >= 0 ? promised : promised + BONUS_PREEMPTIONS;
    rt_result last = { .complete = true };
    for (unsigned bound = 0; bound <= most && last.complete && !last.failed; bound++) {
        char how[64];
        const rt_result r = rt_explore(RT_EXHAUSTIVE, 0, bound, UINT64_MAX, seconds);
        seconds -= r.seconds;
        total->executions += r.executions;
        if (r.complete && !r.failed) {
            total->complete_at = (int)bound;
        }
        (void)snprintf(how, sizeof(how), "exhaustive, %u pre-emptions", bound);
        if (s->verbose || r.failed || bound == promised || !r.complete) {
            show(how, r);
        }
        if (bound > promised && !r.complete && !r.failed) {
            break;
        }
        last = r;
        if (!r.failed && !r.complete) {
            printf("%s: INCOMPLETE at %u pre-emptions: the time is over\n", rt->client->name,
                   bound);
        }
    }
    return last;
}

static rt_result sampled(const settings *s, rt_mode mode, double seconds, tally *total)
{
    const uint64_t asked = mode == RT_RANDOM ? s->random : s->pct;
    const uint64_t usual = s->chosen ? UINT64_MAX : (uint64_t)(USUAL_SAMPLES * s->scale);
    char how[64];
    (void)snprintf(how, sizeof(how), mode == RT_RANDOM ? "random" : "pct, depth %u", s->depth);
    const rt_result r =
        rt_explore(mode, s->seed, s->depth, asked != 0 ? asked : usual, asked != 0 ? 1e9 : seconds);
    show(how, r);
    total->executions += r.executions;
    return r;
}

/* One client. */

static bool judge_failure(void)
{
    const char *expected = rt->client->fails;
    if (expected == NULL) {
        rt_explore_report();
        return false;
    }
    if (strstr(rt_explore_failure(), expected) == NULL) {
        printf("%s: expected was: %s\n", rt->client->name, expected);
        rt_explore_report();
        return false;
    }
    printf("%s: fails as it must: %s\n", rt->client->name, rt_explore_failure());
    return true;
}

static bool judge_outcomes(bool complete)
{
    const uint64_t allowed = rt->client->outcomes;
    const uint64_t seen = rt->outcomes;
    if (allowed == 0) {
        return true;
    }
    if ((seen & ~allowed) != 0 || (complete && seen != allowed)) {
        printf("%s: FAILED: outcomes seen %#llx, expected %#llx\n", rt->client->name,
               (unsigned long long)seen, (unsigned long long)allowed);
        return false;
    }
    return true;
}

static double own_seconds(const model_client *client)
{
    return client->seconds > 0 ? client->seconds : usual_seconds;
}

/* Exhaustive search gets three fifths of the time; what it leaves is not used. */
static bool run_client(const settings *s, tally *total)
{
    rt_result r = { 0 };
    const bool all = s->do_exhaustive && s->do_random && s->do_pct;
    const double seconds = s->seconds > 0 ? s->seconds : own_seconds(rt->client) * s->scale;
    rt->outcomes = 0;
    if (s->do_exhaustive) {
        r = exhaustive(s, all ? 0.6 * seconds : seconds, total);
        if (!r.failed && !judge_outcomes(r.complete)) {
            return false;
        }
    }
    if (!r.failed && s->do_random) {
        r = sampled(s, RT_RANDOM, all ? 0.2 * seconds : seconds, total);
    }
    if (!r.failed && s->do_pct) {
        r = sampled(s, RT_PCT, all ? 0.2 * seconds : seconds, total);
    }
    if (r.failed) {
        return judge_failure();
    }
    if (rt->client->fails != NULL) {
        printf("%s: FAILED: it passes, but was expected to fail: %s\n", rt->client->name,
               rt->client->fails);
        return false;
    }
    return judge_outcomes(false);
}

/* The closing line of a client, which scripts/model.py reads. */
static bool run_and_tell(const settings *s)
{
    tally total = { .complete_at = -1 };
    const bool passed = run_client(s, &total);
    printf("result: client=%s executions=%llu complete_at=%d verdict=%s\n", rt->client->name,
           (unsigned long long)total.executions, total.complete_at,
           !passed                     ? "failed"
           : rt->client->fails != NULL ? "fails_as_it_must"
                                       : "passed");
    (void)fflush(stdout);
    return passed;
}

static int list_clients(const model_client *clients)
{
    for (const model_client *c = clients; c->name != NULL; c++) {
        printf("%s %g\n", c->name, own_seconds(c));
    }
    return 0;
}

void model_outcome(unsigned n)
{
    rt->outcomes |= UINT64_C(1) << n;
}

int model_main(int argc, char **argv, const model_client *clients)
{
    const settings s = parse(argc, argv);
    bool found = false;
    bool passed = true;
    if (s.list) {
        return list_clients(clients);
    }
    rt_explore_init();
    rt->verbose = s.verbose;
    printf("seed %#llx\n", (unsigned long long)s.seed);
    for (const model_client *c = clients; c->name != NULL; c++) {
        if (s.client != NULL && strcmp(s.client, c->name) != 0) {
            continue;
        }
        found = true;
        rt->client = c;
        passed &= s.replay != NULL ? rt_explore_replay(s.replay) : run_and_tell(&s);
        if (s.replay != NULL || (!passed && !s.keep_going)) {
            break;
        }
    }
    if (!found) {
        refuse("there is no client of that name");
    }
    return passed ? 0 : 1;
}
