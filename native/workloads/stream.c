/* Expected diagnosis: every thread reads and writes its own array of twice the last-level cache (64 MiB at most),
 * front to back, in stream_block: throughput grows until the memory's bandwidth is used up, then cycles per
 * instruction grow. */
#include "memory.h"
#include "workload.h"

#include <errno.h>

/* One operation: 64 KiB read and written. */
#define BLOCK_WORDS (64 * 1024 / sizeof(uint64_t))

struct arrays {
    uint64_t *words;
    size_t each;
};

/* Every word depends on itself only, so that nothing but memory makes it wait. */
PLANTED static void stream_block(uint64_t *block)
{
    for (size_t i = 0; i < BLOCK_WORDS; i += 4) {
        block[i] += 1;
        block[i + 1] += 3;
        block[i + 2] += 5;
        block[i + 3] += 7;
    }
}

static void *streamer_main(void *arg)
{
    struct worker *worker = arg;
    const struct arrays *arrays = worker->shared;
    uint64_t *array = arrays->words + arrays->each * (size_t)worker->index, ops = 0;
    for (size_t at = 0; !workload_over(worker->job); ops++) {
        stream_block(array + at);
        at = at + BLOCK_WORDS < arrays->each ? at + BLOCK_WORDS : 0;
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_stream(struct job *job)
{
    size_t wanted = 2 * memory_llc();
    size_t bytes = memory_share(wanted < 64 * MIB ? wanted : 64 * MIB, job->threads);
    size_t all = bytes * (size_t)job->threads;
    struct arrays arrays = { .words = memory_map(all, 1), .each = bytes / sizeof(uint64_t) };
    if (!arrays.words)
        return ENOMEM;
    int error = workload_threads(job, job->threads, "streamer", streamer_main, &arrays);
    memory_unmap(arrays.words, all);
    return error;
}
