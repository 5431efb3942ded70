/* Expected diagnosis: pairs of threads wait for each other (futex, in wait_for_turn); each pair keeps less than two
 * cores busy, mostly in the kernel, with one voluntary context switch per turn. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct table {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn;
    int over;
};

/* Waits no longer than the run, so that a player whose partner could not be started gives up. */
PLANTED static int wait_for_turn(struct table *table, int side, const struct timespec *end)
{
    int error = 0;
    while (table->turn != side && !table->over && error == 0)
        error = pthread_cond_timedwait(&table->changed, &table->lock, end);
    return !table->over && error == 0;
}

PLANTED static void hand_over(struct table *table, int side)
{
    table->turn = !side;
    pthread_cond_signal(&table->changed);
}

static void *player_main(void *arg)
{
    struct worker *worker = arg;
    struct table *table = (struct table *)worker->shared + worker->index / 2;
    int side = worker->index % 2;
    struct timespec end = workload_timespec(worker->job->end_ns);
    pthread_mutex_lock(&table->lock);
    while (wait_for_turn(table, side, &end)) {
        workload_done(worker->job, 1);
        table->over = workload_over(worker->job);
        hand_over(table, side);
    }
    pthread_mutex_unlock(&table->lock);
    return NULL;
}

/* An odd number of threads is rounded up: nobody plays alone. */
int workload_futex(struct job *job)
{
    int pairs = (job->threads + 1) / 2;
    struct table *tables = calloc((size_t)pairs, sizeof *tables);
    if (!tables)
        return ENOMEM;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    for (int i = 0; i < pairs; i++) {
        pthread_mutex_init(&tables[i].lock, NULL);
        pthread_cond_init(&tables[i].changed, &clock);
    }
    int error = workload_threads(job, pairs * 2, "player", player_main, tables);
    free(tables);
    return error;
}
