/* Expected diagnosis: every thread writes lines of twice the last-level cache (128 MiB at most) in an order that no
 * prefetcher follows, several at once, in thrash_lines: it takes the cache from everybody who shares it. */
#include "memory.h"
#include "workload.h"

#include <errno.h>

#define LINE_WORDS (64 / sizeof(uint64_t))
/* Lines of one operation. */
#define LINES 4096

struct field {
    uint64_t *words;
    size_t each;
};

/* No line depends on another, so that many are under way at once. */
PLANTED static uint64_t thrash_lines(uint64_t *words, size_t lines, uint64_t seed)
{
    for (int i = 0; i < LINES; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        words[(seed >> 33) % lines * LINE_WORDS] += seed;
    }
    return seed;
}

static void *thrasher_main(void *arg)
{
    struct worker *worker = arg;
    const struct field *field = worker->shared;
    uint64_t *words = field->words + field->each * (size_t)worker->index;
    uint64_t seed = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++)
        seed = thrash_lines(words, field->each / LINE_WORDS, seed);
    workload_sink = seed;
    workload_done(worker->job, ops);
    return NULL;
}

int workload_thrash(struct job *job)
{
    size_t wanted = 2 * memory_llc();
    size_t bytes = memory_share(wanted < 128 * MIB ? wanted : 128 * MIB, job->threads);
    size_t all = bytes * (size_t)job->threads;
    struct field field = { .words = memory_map(all, 1), .each = bytes / sizeof(uint64_t) };
    if (!field.words)
        return ENOMEM;
    int error = workload_threads(job, job->threads, "thrasher", thrasher_main, &field);
    memory_unmap(field.words, all);
    return error;
}
