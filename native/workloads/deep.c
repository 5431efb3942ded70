/* Expected diagnosis: all CPU in deep_leaf, called through 200 frames of descend without frame pointers: a stack is
 * whole only if it shows all of them down to deep_main. */
#include "workload.h"

#define DEPTH 200

PLANTED static uint64_t deep_leaf(uint64_t seed)
{
    return mix(seed, 20000);
}

/* The local block makes frames of 96 bytes or more, and its use after the call keeps this from being a loop. */
PLANTED static uint64_t descend(int depth, uint64_t seed)
{
    volatile uint64_t kept[8] = { seed };
    uint64_t below = depth > 1 ? descend(depth - 1, seed + 1) : deep_leaf(seed);
    kept[depth & 7] += below;
    return kept[depth & 7];
}

static void *deep_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++)
        x = descend(DEPTH, x);
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_deep(struct job *job)
{
    return workload_threads(job, job->threads, "deep", deep_main, 0);
}
