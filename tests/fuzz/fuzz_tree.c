/* SPDX-License-Identifier: MIT */
/* The whole reader over fake trees (tests/data/cpus) of any content. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "core/sizing.h"
#include "support/tree.h"
#include "support/tree_files.h"

enum { MOST_ENTRIES = 400, MOST_READS = 20000 };

static void check(const filchi_cpu_facts *facts, filch_cpus *cpus)
{
    static const filchi_wish nothing;
    const filchi_topology *t = &facts->topology;
    filchi_sizing_decide(facts, &nothing, cpus);
    FUZZ_CHECK(cpus->cpu_bound >= 1 && cpus->cpu_bound <= 4096);
    FUZZ_CHECK(cpus->logical >= cpus->cpu_bound && cpus->logical <= facts->allowed);
    FUZZ_CHECK(cpus->io_bound >= cpus->cpu_bound && cpus->io_bound <= 4096);
    FUZZ_CHECK(facts->allowed >= 1 && facts->allowed <= FILCHI_CPUS_MAX);
    FUZZ_CHECK(t->cores <= facts->allowed && t->packages <= facts->allowed);
    FUZZ_CHECK(t->caches <= facts->allowed && t->strong <= facts->allowed);
    FUZZ_CHECK((facts->quota.limit == FILCHI_LIMIT_SET) == (facts->quota.file[0] != '\0'));
    FUZZ_CHECK((facts->quota.limit != FILCHI_LIMIT_UNKNOWN) == (facts->quota.version != 0));
    FUZZ_CHECK(memchr(facts->quota.file, '\0', sizeof(facts->quota.file)) != NULL);
    FUZZ_CHECK(memchr(cpus->why, '\0', sizeof(cpus->why)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test_tree_most_entries = MOST_ENTRIES;
    test_tree *tree = test_tree_parse((const char *)data, size);
    filchi_cpu_facts facts;
    filch_cpus full = FILCH_CPUS_INIT;
    filch_cpus brief = FILCH_CPUS_INIT;
    test_tree_reads reads = { tree, 0, 0 };
    const filchi_files files = { test_tree_stream, NULL, &reads };
    filchi_cpus_read(&files, true, &facts);
    check(&facts, &full);
    filchi_cpus_read(&files, false, &facts);
    check(&facts, &brief);
    FUZZ_CHECK(full.cpu_bound == brief.cpu_bound && full.logical == brief.logical);
    FUZZ_CHECK(reads.tried <= MOST_READS);
    test_tree_free(tree);
    return 0;
}
