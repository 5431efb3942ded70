/* Expected diagnosis: 30% of one thread's time is serial: in every round thread 0 alone runs merge_results while the
 * others wait (wait_for_others), so throughput ends at 3.3 times that of one thread. */
#include "barrier.h"
#include "workload.h"

/* Units of one round: divisible by most numbers of threads, and 7 ms of work, so that meeting costs little. */
#define UNITS 2520
#define UNIT_STEPS 1000
#define MERGE_STEPS (UNITS * UNIT_STEPS * 3 / 7)

PLANTED static uint64_t analyse_unit(uint64_t seed)
{
    return mix(seed, UNIT_STEPS);
}

PLANTED static uint64_t merge_results(uint64_t seed)
{
    return mix(seed, MERGE_STEPS);
}

static void *analyst_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t index = (uint64_t)worker->index, count = (uint64_t)worker->job->threads, x = index, ops = 0;
    /* A thread that sees the end later than another finds nobody at the barrier, and leaves as well. */
    while (!workload_over(worker->job)) {
        uint64_t first = UNITS * index / count, end = UNITS * (index + 1) / count;
        for (uint64_t unit = first; unit < end; unit++)
            x = analyse_unit(x);
        ops += end - first;
        if (!wait_for_others(worker->shared, worker->job))
            break;
        if (index == 0)
            x = merge_results(x);
        if (!wait_for_others(worker->shared, worker->job))
            break;
    }
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_serial(struct job *job)
{
    struct barrier barrier;
    barrier_open(&barrier, job->threads);
    int error = workload_threads(job, job->threads, "analyst", analyst_main, &barrier);
    barrier_close(&barrier);
    return error;
}
