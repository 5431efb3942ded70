/* Expected diagnosis: threads of one address space write to pages and offer them to the kernel, which does not take them,
 * in shoot_pages: each time the other threads' CPUs are interrupted to forget the translations. With one thread only its
 * own CPU forgets them; nothing is unmapped and no page faults again, so that hardly anybody waits for mmap_lock. */
#include "memory.h"
#include "workload.h"

#include <errno.h>
#include <sys/mman.h>

/* Pages of each thread: few, so that forgetting them costs more than going through them. */
#define PAGES 8

struct range {
    char *memory;
    size_t each;
    _Atomic int error;
};

PLANTED static int shoot_pages(char *memory, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += memory_page())
        memory[at]++;
    return madvise(memory, bytes, MADV_FREE) ? errno : 0;
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
