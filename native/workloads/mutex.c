/* Expected diagnosis: a mutex around 60% of every operation: threads wait for it in update_shared_index, and any number
 * of them gives no more than 1.7 times the throughput of one; less where waking a thread takes as long as its work. */
#include "workload.h"

#include <pthread.h>

/* About 20 us, so that handing the lock over costs little next to holding it. */
#define STEPS 10000
#define LOCKED_STEPS (STEPS * 60 / 100)

struct index {
    pthread_mutex_t lock;
    uint64_t root;
};

PLANTED static uint64_t parse_document(uint64_t seed)
{
    return mix(seed, STEPS - LOCKED_STEPS);
}

PLANTED static void update_shared_index(struct index *index, uint64_t document)
{
    pthread_mutex_lock(&index->lock);
    index->root = mix(index->root ^ document, LOCKED_STEPS);
    pthread_mutex_unlock(&index->lock);
}

static void *indexer_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++) {
        x = parse_document(x);
        update_shared_index(worker->shared, x);
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_mutex(struct job *job)
{
    struct index index = { .lock = PTHREAD_MUTEX_INITIALIZER };
    int error = workload_threads(job, job->threads, "indexer", indexer_main, &index);
    pthread_mutex_destroy(&index.lock);
    workload_sink = index.root;
    return error;
}
