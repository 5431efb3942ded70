/* A place where all threads of a run meet. It never outlasts the run: when time is up, whoever waits leaves.
 * (A pthread_barrier would wait for a thread that could not be started.) */
#ifndef IRONLAW_BARRIER_H
#define IRONLAW_BARRIER_H

#include "workload.h"

#include <pthread.h>

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int parties;
    int arrived;
    uint64_t meetings;
};

void barrier_open(struct barrier *barrier, int parties);
void barrier_close(struct barrier *barrier);

/* Waits until all have come. Returns 0 when the job was over before that; then there is no meeting to come. */
int wait_for_others(struct barrier *barrier, const struct job *job);

#endif
