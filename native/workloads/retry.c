/* Expected diagnosis: every operation looks at one entry of each thread, several times (scan_all_threads): no thread
 * waits and no cache misses, but an operation takes more instructions with every thread. */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

/* About 2 us of an operation's own, and 1.6 us for each thread there is. */
#define OWN_STEPS 1000
#define SCANS 8
#define ENTRY_STEPS 100

/* Nobody writes to them: it is the number of instructions that grows, not what each costs. */
struct registry {
    uint64_t *entries;
    int count;
};

PLANTED static uint64_t scan_all_threads(const struct registry *registry, uint64_t seed)
{
    for (int scan = 0; scan < SCANS; scan++)
        for (int i = 0; i < registry->count; i++)
            seed = mix(seed ^ registry->entries[i], ENTRY_STEPS);
    return seed;
}

PLANTED static uint64_t own_work(uint64_t seed)
{
    return mix(seed, OWN_STEPS);
}

static void *scanner_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++)
        x = own_work(scan_all_threads(worker->shared, x));
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_retry(struct job *job)
{
    struct registry registry = { .count = job->threads };
    registry.entries = calloc((size_t)job->threads, sizeof *registry.entries);
    if (!registry.entries)
        return ENOMEM;
    for (int i = 0; i < job->threads; i++)
        registry.entries[i] = (uint64_t)i;
    int error = workload_threads(job, job->threads, "scanner", scanner_main, &registry);
    free(registry.entries);
    return error;
}
