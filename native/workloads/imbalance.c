/* Expected diagnosis: thread 0 gets three times the share of each other thread in every round, so the others wait for
 * it (wait_for_others): two threads do 1.3 times the work of one, eight 3.3 times. */
#include "barrier.h"
#include "workload.h"

/* Units of one round: divisible by most numbers of shares, and 5 ms of work, so that meeting costs little. */
#define UNITS 2520
#define UNIT_STEPS 1000

PLANTED static uint64_t render_tile(uint64_t seed)
{
    return mix(seed, UNIT_STEPS);
}

/* The first unit of a thread: three shares are before thread 1, one more before each later one. */
static uint64_t first_unit(uint64_t index, uint64_t threads)
{
    return index == 0 ? 0 : UNITS * (index + 2) / (threads + 2);
}

static void *renderer_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t index = (uint64_t)worker->index, threads = (uint64_t)worker->job->threads, x = index, ops = 0;
    uint64_t first = first_unit(index, threads), end = first_unit(index + 1, threads);
    do {
        for (uint64_t unit = first; unit < end; unit++)
            x = render_tile(x);
        ops += end - first;
    } while (wait_for_others(worker->shared, worker->job) && !workload_over(worker->job));
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_imbalance(struct job *job)
{
    struct barrier barrier;
    barrier_open(&barrier, job->threads);
    int error = workload_threads(job, job->threads, "renderer", renderer_main, &barrier);
    barrier_close(&barrier);
    return error;
}
