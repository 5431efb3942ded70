/* Expected diagnosis: CPU time goes to page faults below touch_fresh_pages: each operation maps memory, writes once to
 * each of its pages and gives it back, and all threads meet at the lock of the one address space. */
#include "memory.h"
#include "workload.h"

#include <errno.h>
#include <sys/mman.h>

/* Too few for a large page. */
#define PAGES 32

PLANTED static void touch_fresh_pages(volatile char *memory, size_t page)
{
    for (size_t i = 0; i < PAGES; i++)
        memory[i * page] = 1;
}

static void *toucher_main(void *arg)
{
    struct worker *worker = arg;
    _Atomic int *error = worker->shared;
    size_t page = memory_page();
    uint64_t ops = 0;
    for (; !workload_over(worker->job) && *error == 0; ops++) {
        void *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            *error = errno;
            break;
        }
        touch_fresh_pages(memory, page);
        munmap(memory, PAGES * page);
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_faults(struct job *job)
{
    _Atomic int refused = 0;
    int error = workload_threads(job, job->threads, "toucher", toucher_main, &refused);
    return error ? error : refused;
}
