/* Expected diagnosis: none. This file holds the table of the workloads and what they share. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define NS_PER_S 1000000000ull

volatile uint64_t workload_sink;

static const struct {
    const char *name;
    workload_fn *run;
} TABLE[] = {
    { "churn", workload_churn },
    { "deep", workload_deep },
    { "execer", workload_execer },
    { "false-sharing", workload_false_sharing },
    { "forker", workload_forker },
    { "futex", workload_futex },
    { "hotspot", workload_hotspot },
    { "io", workload_io },
    { "many-threads", workload_many_threads },
    { "sleep-loop", workload_sleep_loop },
    { "spin", workload_spin },
};

/* The name of workload `index`, or NULL past the last one. */
const char *ironlaw_workload_name(unsigned index)
{
    return index < sizeof TABLE / sizeof *TABLE ? TABLE[index].name : NULL;
}

/* Runs a workload and stores how many operations it completed. Returns 0 or an errno value; ENOENT: no such name. */
int ironlaw_workload(const char *name, int threads, double seconds, uint64_t *ops)
{
    *ops = 0;
    if (threads < 1 || !(seconds >= 0 && seconds <= 1e9))
        return EINVAL;
    for (unsigned i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (strcmp(name, TABLE[i].name) != 0)
            continue;
        struct job job = { .threads = threads, .end_ns = workload_now_ns() + (uint64_t)(seconds * 1e9) };
        int error = TABLE[i].run(&job);
        *ops = atomic_load(&job.ops);
        return error;
    }
    return ENOENT;
}

uint64_t workload_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

int workload_over(const struct job *job)
{
    return workload_now_ns() >= job->end_ns;
}

void workload_sleep_ns(const struct job *job, uint64_t ns)
{
    uint64_t until = workload_now_ns() + ns, end = job->end_ns;
    if (until > end)
        until = end;
    struct timespec at = { .tv_sec = (time_t)(until / NS_PER_S), .tv_nsec = (long)(until % NS_PER_S) };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static int start(pthread_t *thread, const char *prefix, void *(*body)(void *), struct worker *worker)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    /* Small stacks: thousands of threads must fit a small machine. */
    pthread_attr_setstacksize(&attr, 128 * 1024);
    int error = pthread_create(thread, &attr, body, worker);
    pthread_attr_destroy(&attr);
    if (error == 0) {
        char name[16];
        snprintf(name, sizeof name, "%.9s-%d", prefix, worker->index % 10000);
        pthread_setname_np(*thread, name);
    }
    return error;
}

int workload_threads(struct job *job, int count, const char *prefix, void *(*body)(void *), void *shared)
{
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    struct worker *workers = calloc((size_t)count, sizeof *workers);
    int error = threads && workers ? 0 : ENOMEM, started = 0;
    for (; error == 0 && started < count; started += error == 0) {
        workers[started] = (struct worker){ .job = job, .index = started, .shared = shared };
        error = start(&threads[started], prefix, body, &workers[started]);
    }
    if (error != 0)
        job->end_ns = 0;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(workers);
    return error;
}

int workload_reap(int pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
