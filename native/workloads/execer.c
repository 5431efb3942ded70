/* Expected diagnosis: children burn 50 ms in before_exec, then execute this program again and burn 50 ms in spin_burn:
 * one process id, two programs. Addresses after the exec must not be looked up in the mappings from before it. */
#include "workload.h"

#include <errno.h>
#include <unistd.h>

PLANTED static uint64_t before_exec(uint64_t seed)
{
    return mix(seed, 10000);
}

/* Runs in the child of a threaded process: nothing but arithmetic and the clock, then execv or _exit. */
static void child_main(const struct job *job)
{
    char *const argv[] = { "ironlaw", "workload", "spin", "--threads", "1", "--seconds", "0.05", 0 };
    uint64_t x = 1, end = workload_now_ns() + 50 * 1000 * 1000;
    while (workload_now_ns() < end && !workload_over(job))
        x = before_exec(x);
    workload_sink = x;
    execv("/proc/self/exe", argv);
    _exit(127);
}

/* One operation is a child that ended well, so a program that cannot be executed shows as zero operations. */
static void *execer_main(void *arg)
{
    struct worker *worker = arg;
    while (!workload_over(worker->job)) {
        pid_t child = fork();
        if (child == 0)
            child_main(worker->job);
        if (child < 0)
            workload_sleep_ns(worker->job, 10 * 1000 * 1000);
        else if (workload_reap(child) == 0)
            workload_done(worker->job, 1);
    }
    return NULL;
}

int workload_execer(struct job *job)
{
    return workload_threads(job, job->threads, "execer", execer_main, 0);
}
