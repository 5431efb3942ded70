/* Expected diagnosis: nothing is shared: throughput grows with the cores, all of it user time in crunch_numbers.
 * `oversubscribed`: four threads for each one asked for do the work of `scaling`: they wait for a CPU, and more of them
 * than CPUs give no more operations. */
#include "workload.h"

#include <limits.h>

/* About 4 us, the same for every operation. */
#define STEPS 2000

PLANTED static uint64_t crunch_numbers(uint64_t seed)
{
    return mix(seed, STEPS);
}

static void *cruncher_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++)
        x = crunch_numbers(x);
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_scaling(struct job *job)
{
    return workload_threads(job, job->threads, "cruncher", cruncher_main, 0);
}

int workload_oversubscribed(struct job *job)
{
    int count = job->threads <= INT_MAX / 4 ? job->threads * 4 : INT_MAX;
    return workload_threads(job, count, "cruncher", cruncher_main, 0);
}
