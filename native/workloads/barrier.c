/* Expected diagnosis: none. The barrier of the workloads that work in rounds; their waits show in wait_for_others. */
#include "barrier.h"

#include <time.h>

void barrier_open(struct barrier *barrier, int parties)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    *barrier = (struct barrier){ .parties = parties };
    pthread_mutex_init(&barrier->lock, NULL);
    pthread_cond_init(&barrier->changed, &clock);
    pthread_condattr_destroy(&clock);
}

void barrier_close(struct barrier *barrier)
{
    pthread_cond_destroy(&barrier->changed);
    pthread_mutex_destroy(&barrier->lock);
}

PLANTED int wait_for_others(struct barrier *barrier, const struct job *job)
{
    struct timespec end = workload_timespec(job->end_ns);
    int error = 0;
    pthread_mutex_lock(&barrier->lock);
    uint64_t meeting = barrier->meetings;
    if (++barrier->arrived == barrier->parties) {
        barrier->arrived = 0;
        barrier->meetings++;
        pthread_cond_broadcast(&barrier->changed);
    }
    while (barrier->meetings == meeting && error == 0)
        error = pthread_cond_timedwait(&barrier->changed, &barrier->lock, &end);
    int met = barrier->meetings != meeting;
    pthread_mutex_unlock(&barrier->lock);
    return met;
}
