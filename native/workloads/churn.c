/* Expected diagnosis: threads are born and die at 500 per second and spawner; each burns about 0.1 ms in short_life.
 * `--threads 2` gives 1,000 births per second. */
#include "workload.h"

#include <pthread.h>

#define BIRTH_EVERY_NS (2 * 1000 * 1000)

PLANTED static uint64_t short_life(uint64_t seed)
{
    return mix(seed, 50000);
}

static void *newborn_main(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "newborn");
    workload_sink = short_life(workload_sink);
    return NULL;
}

static void *spawner_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t next = workload_now_ns();
    pthread_t child;
    while (!workload_over(worker->job)) {
        /* A refused thread is not an operation; the next one may succeed. */
        if (pthread_create(&child, NULL, newborn_main, NULL) == 0) {
            pthread_join(child, NULL);
            workload_done(worker->job, 1);
        }
        /* Birth dates, not pauses: a late one is made up for, so that the rate holds. */
        next += BIRTH_EVERY_NS;
        uint64_t now = workload_now_ns();
        if (next > now)
            workload_sleep_ns(worker->job, next - now);
    }
    return NULL;
}

int workload_churn(struct job *job)
{
    return workload_threads(job, job->threads, "spawner", spawner_main, 0);
}
