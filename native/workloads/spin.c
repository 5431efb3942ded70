/* Expected diagnosis: `threads` cores busy, all of it user time in spin_burn; no waits but for a CPU. */
#include "workload.h"

PLANTED static uint64_t spin_burn(uint64_t seed)
{
    return mix(seed, 10000);
}

static void *spin_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++)
        x = spin_burn(x);
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_spin(struct job *job)
{
    return workload_threads(job, job->threads, "spin", spin_main, 0);
}
