/* Expected diagnosis: threads spin for a mutex that is held briefly, sleep and wake each other, in bump_shared_counter: they
 * hardly ever wait for long, and two of them do less than one. */
#include "workload.h"

#include <pthread.h>

/* Half a microsecond with the lock, less than a futex call takes, and a fifth of that without. */
#define LOCKED_STEPS 300
#define STEPS 60

struct counter {
    pthread_mutex_t lock;
    uint64_t value;
};

PLANTED static uint64_t prepare_step(uint64_t seed)
{
    return mix(seed, STEPS);
}

PLANTED static void bump_shared_counter(struct counter *counter, uint64_t step)
{
    pthread_mutex_lock(&counter->lock);
    counter->value = mix(counter->value ^ step, LOCKED_STEPS);
    pthread_mutex_unlock(&counter->lock);
}

static void *bumper_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++) {
        x = prepare_step(x);
        bump_shared_counter(worker->shared, x);
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_adaptive_mutex(struct job *job)
{
    struct counter counter = { .value = 0 };
    pthread_mutexattr_t adaptive;
    pthread_mutexattr_init(&adaptive);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(&counter.lock, &adaptive);
    pthread_mutexattr_destroy(&adaptive);
    int error = workload_threads(job, job->threads, "bumper", bumper_main, &counter);
    pthread_mutex_destroy(&counter.lock);
    workload_sink = counter.value;
    return error;
}
