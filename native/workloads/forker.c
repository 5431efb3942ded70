/* Expected diagnosis: the named process uses no CPU; its children, `threads` at a time and 100 ms old each, burn
 * all in child_burn. Seen only if forks are followed. */
#include "workload.h"

#include <errno.h>
#include <unistd.h>

PLANTED static uint64_t child_burn(uint64_t seed)
{
    return mix(seed, 10000);
}

/* Runs in the child of a threaded process: nothing but arithmetic and the clock, then _exit. */
static void child_main(const struct job *job)
{
    uint64_t x = 1, end = workload_now_ns() + 100 * 1000 * 1000;
    while (workload_now_ns() < end && !workload_over(job))
        x = child_burn(x);
    workload_sink = x;
    _exit(0);
}

static void *forker_main(void *arg)
{
    struct worker *worker = arg;
    while (!workload_over(worker->job)) {
        pid_t child = fork();
        if (child == 0)
            child_main(worker->job);
        if (child < 0)
            workload_sleep_ns(worker->job, 10 * 1000 * 1000);
        else if (workload_reap(child) == 0)
            workload_done(worker->job, 1);
    }
    return NULL;
}

int workload_forker(struct job *job)
{
    return workload_threads(job, job->threads, "forker", forker_main, 0);
}
