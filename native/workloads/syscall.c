/* Expected diagnosis: most CPU time is kernel time below ask_kernel: twenty system calls for every little computation.
 * */
#include "workload.h"

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CALLS 20
#define STEPS 20

PLANTED static uint64_t ask_kernel(void)
{
    /* A call that does something: entering and leaving the kernel is the program's time on some CPUs. */
    struct utsname answer;
    uint64_t sum = 0;
    for (int i = 0; i < CALLS; i++)
        sum += (uint64_t)syscall(SYS_uname, &answer);
    return sum;
}

PLANTED static uint64_t use_answer(uint64_t answer)
{
    return mix(answer, STEPS);
}

static void *asker_main(void *arg)
{
    struct worker *worker = arg;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++)
        x = use_answer(x ^ ask_kernel());
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_syscall(struct job *job)
{
    return workload_threads(job, job->threads, "asker", asker_main, 0);
}
