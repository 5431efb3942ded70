/* Expected diagnosis: every operation changes one counter that all threads share, by compare-and-swap: full CPU in
 * bump_shared_counter, more cycles per operation with every thread, and throughput that hardly grows, then falls. */
#include "workload.h"

/* About 20 ns: what makes the counter's cache line move at nearly every change. */
#define PRIVATE_STEPS 10
#define BATCH 64

struct shared {
    _Alignas(128) _Atomic uint64_t counter;
    _Alignas(128) char rest[128];
};

PLANTED static void bump_shared_counter(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t old = atomic_load_explicit(counter, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(counter, &old, old + by, memory_order_relaxed, memory_order_relaxed))
        ;
}

PLANTED static uint64_t private_work(uint64_t seed)
{
    return mix(seed, PRIVATE_STEPS);
}

static void *counter_main(void *arg)
{
    struct worker *worker = arg;
    struct shared *shared = worker->shared;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops += BATCH)
        for (int i = 0; i < BATCH; i++) {
            x = private_work(x);
            bump_shared_counter(&shared->counter, x & 7);
        }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_atomic(struct job *job)
{
    struct shared shared = { .counter = 0 };
    int error = workload_threads(job, job->threads, "counter", counter_main, &shared);
    workload_sink = shared.counter;
    return error;
}
