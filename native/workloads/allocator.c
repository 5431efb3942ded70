/* Expected diagnosis: CPU time goes to malloc and free, below exchange_object: objects are freed by other threads than
 * allocated them, too large for the threads' own caches, so threads meet at the locks of the arenas. */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

/* Objects alive, per thread. */
#define SLOTS 256
/* Above what glibc keeps per thread without a lock (1,032 bytes). */
#define SMALLEST 1200
#define LARGEST 4000
#define BATCH 16

struct pool {
    _Atomic(void *) *slots;
    size_t count;
};

/* Puts a new object in place of any thread's old one. */
PLANTED static uint64_t exchange_object(struct pool *pool, uint64_t seed)
{
    uint64_t *object = malloc(SMALLEST + seed % (LARGEST - SMALLEST));
    if (object)
        *object = seed;
    free(atomic_exchange(&pool->slots[(seed >> 20) % pool->count], object));
    return mix(seed, 2);
}

static void *exchanger_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = mix((uint64_t)worker->index + 1, 4), ops = 0;
    for (; !workload_over(worker->job); ops += BATCH)
        for (int i = 0; i < BATCH; i++)
            x = exchange_object(worker->shared, x);
    workload_done(worker->job, ops);
    return NULL;
}

int workload_allocator(struct job *job)
{
    struct pool pool = { .count = (size_t)job->threads * SLOTS };
    pool.slots = calloc(pool.count, sizeof *pool.slots);
    if (!pool.slots)
        return ENOMEM;
    int error = workload_threads(job, job->threads, "exchanger", exchanger_main, &pool);
    for (size_t i = 0; i < pool.count; i++)
        free(pool.slots[i]);
    free(pool.slots);
    return error;
}
