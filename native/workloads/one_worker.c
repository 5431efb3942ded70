/* Expected diagnosis: one thread does all the work, in serve_request, with any number of threads: the others wait for
 * something to do (wait_for_request), and throughput stays what one thread gives. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>

/* About 20 us. */
#define STEPS 10000

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t offered;
};

PLANTED static uint64_t serve_request(uint64_t seed)
{
    return mix(seed, STEPS);
}

/* Nothing is ever offered. */
PLANTED static void wait_for_request(struct queue *queue, const struct timespec *end)
{
    pthread_mutex_lock(&queue->lock);
    while (pthread_cond_timedwait(&queue->offered, &queue->lock, end) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&queue->lock);
}

static void *server_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = 1, ops = 0;
    if (worker->index > 0) {
        struct timespec end = workload_timespec(worker->job->end_ns);
        wait_for_request(worker->shared, &end);
        return NULL;
    }
    for (; !workload_over(worker->job); ops++)
        x = serve_request(x);
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_one_worker(struct job *job)
{
    struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER };
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.offered, &clock);
    pthread_condattr_destroy(&clock);
    int error = workload_threads(job, job->threads, "server", server_main, &queue);
    pthread_cond_destroy(&queue.offered);
    pthread_mutex_destroy(&queue.lock);
    return error;
}
