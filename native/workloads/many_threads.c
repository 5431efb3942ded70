/* Expected diagnosis: next to no CPU over `threads` threads that sleep a second at a time; what costs is their number. */
#include "workload.h"

PLANTED static void idle_wait(const struct job *job)
{
    workload_sleep_ns(job, 1000 * 1000 * 1000);
}

PLANTED static uint64_t brief_work(uint64_t seed)
{
    return mix(seed, 2000);
}

static void *idler_main(void *arg)
{
    struct worker *worker = arg;
    while (!workload_over(worker->job)) {
        workload_sink = brief_work((uint64_t)worker->index);
        workload_done(worker->job, 1);
        idle_wait(worker->job);
    }
    return NULL;
}

int workload_many_threads(struct job *job)
{
    return workload_threads(job, job->threads, "idler", idler_main, 0);
}
