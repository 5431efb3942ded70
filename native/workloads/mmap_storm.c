/* Expected diagnosis: threads map and unmap memory that nobody touches, in map_and_unmap: all change one address space and
 * wait for its lock (mmap_lock), so that two do hardly more than one. */
#include "memory.h"
#include "workload.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGES 16

PLANTED static int map_and_unmap(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED || munmap(memory, bytes) ? errno : 0;
}

static void *mapper_main(void *arg)
{
    struct worker *worker = arg;
    _Atomic int *refused = worker->shared;
    size_t bytes = PAGES * memory_page();
    uint64_t ops = 0;
    for (; !workload_over(worker->job) && *refused == 0; ops++) {
        int error = map_and_unmap(bytes);
        if (error != 0)
            *refused = error;
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_mmap_storm(struct job *job)
{
    _Atomic int refused = 0;
    int error = workload_threads(job, job->threads, "mapper", mapper_main, &refused);
    return error ? error : refused;
}
