/* Expected diagnosis: threads of one address space take write access from pages and give it back, in shoot_pages: each
 * time the other threads' CPUs are interrupted to forget the translations. With one thread only its own CPU forgets them. */
#include "memory.h"
#include "workload.h"

#include <errno.h>
#include <sys/mman.h>

/* Pages of each thread; each is written to before its access is taken. */
#define PAGES 256

struct range {
    char *memory;
    size_t each;
    _Atomic int error;
};

PLANTED static int shoot_pages(char *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += memory_page())
        memory[at]++;
    return mprotect(memory, bytes, PROT_READ) || mprotect(memory, bytes, PROT_READ | PROT_WRITE) ? errno : 0;
}

static void *shooter_main(void *arg)
{
    struct worker *worker = arg;
    struct range *range = worker->shared;
    uint64_t ops = 0;
    for (; !workload_over(worker->job) && range->error == 0; ops++) {
        int error = shoot_pages(range->memory + range->each * (size_t)worker->index, range->each);
        if (error != 0)
            range->error = error;
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_tlb_shoot(struct job *job)
{
    struct range range = { .each = PAGES * memory_page() };
    size_t all = range.each * (size_t)job->threads;
    range.memory = memory_map(all, 0);
    if (!range.memory)
        return ENOMEM;
    int error = workload_threads(job, job->threads, "shooter", shooter_main, &range);
    memory_unmap(range.memory, all);
    return error ? error : range.error;
}
