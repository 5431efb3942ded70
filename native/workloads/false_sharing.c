/* Expected diagnosis: threads write neighbouring counters in one cache line: full CPU in bump_counter, many cycles per
 * instruction, and throughput that does not grow with threads. */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

#define LINE_BYTES 64

PLANTED static void bump_counter(_Atomic uint64_t *counter)
{
    for (int i = 0; i < 10000; i++)
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void *bumper_main(void *arg)
{
    struct worker *worker = arg;
    _Atomic uint64_t *counters = worker->shared;
    uint64_t rounds = 0;
    for (; !workload_over(worker->job); rounds++)
        bump_counter(&counters[worker->index]);
    workload_done(worker->job, rounds * 10000);
    return NULL;
}

int workload_false_sharing(struct job *job)
{
    size_t bytes = (size_t)job->threads * sizeof(uint64_t);
    _Atomic uint64_t *counters = aligned_alloc(LINE_BYTES, (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES);
    if (!counters)
        return ENOMEM;
    for (int i = 0; i < job->threads; i++)
        atomic_init(&counters[i], 0);
    int error = workload_threads(job, job->threads, "bumper", bumper_main, counters);
    free(counters);
    return error;
}
