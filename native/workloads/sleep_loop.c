/* Expected diagnosis: no CPU; every thread is off the CPU all the time, asleep in nap, 50 ms at a time, woken by a timer. */
#include "workload.h"

PLANTED static void nap(const struct job *job)
{
    workload_sleep_ns(job, 50 * 1000 * 1000);
}

static void *sleeper_main(void *arg)
{
    struct worker *worker = arg;
    while (!workload_over(worker->job)) {
        nap(worker->job);
        workload_done(worker->job, 1);
    }
    return NULL;
}

int workload_sleep_loop(struct job *job)
{
    return workload_threads(job, job->threads, "sleeper", sleeper_main, 0);
}
