/* Expected diagnosis: every thread follows the pointers of its own random cycle (follow_pointers), each load waiting
 * for the one before. `chase-llc`: half the last-level cache per thread: it fits for one or two, and slows down with
 * more. `chase-dram`: four times the cache per thread: one miss per hop with any number of threads. `chase-tlb`: one
 * line in every page: the lines stay in the cache, their translations do not.
 * `chase-llc-paced`, `chase-dram-paced`, `chase-tlb-paced`: the same, but operations come at the rate of `paced`, and each
 * follows pointers for about half a millisecond: neighbours who take cache or memory make each dearer. Those of
 * `chase-llc-paced` come a hundred at once, and an eighth of the cache is used: what lies idle for longer, or is more than a
 * part of a cache that others share, is taken from it by any neighbour. */
#include "memory.h"
#include "pace.h"

#include <errno.h>

#define LINE 64
/* One operation. */
#define HOPS 100

struct cycles {
    char *memory;
    size_t each;
    size_t stride;
    /* Calls of follow_pointers in a paced operation; 0: operations follow one another. */
    int calls;
    /* Operations that follow one another before the next pause. */
    int batch;
    struct pace pace;
};

/* Where node `i` lies. In pages all nodes of one offset would share a few sets of the cache, so offsets vary. */
static void **node(const struct cycles *cycles, char *base, size_t i)
{
    size_t lines = cycles->stride / LINE;
    return (void **)(void *)(base + i * cycles->stride + mix(i, 1) % lines * LINE);
}

/* Sattolo's shuffle in place: exactly one cycle through all nodes. Returns a node of it. */
static void **shuffle(const struct cycles *cycles, char *base, uint64_t seed)
{
    size_t count = cycles->each / cycles->stride;
    for (size_t i = 0; i < count; i++)
        *node(cycles, base, i) = node(cycles, base, i);
    for (size_t i = count - 1; i > 0; i--) {
        seed = mix(seed, 2) + i;
        void **one = node(cycles, base, i), **other = node(cycles, base, (seed >> 16) % i), *kept = *one;
        *one = *other;
        *other = kept;
    }
    return node(cycles, base, 0);
}

PLANTED static void **follow_pointers(void **at)
{
    for (int i = 0; i < HOPS; i++)
        at = *at;
    return at;
}

/* One paced operation. */
PLANTED static void **serve_pointers(void **at, int calls)
{
    for (int call = 0; call < calls; call++)
        at = follow_pointers(at);
    return at;
}

static void *chaser_main(void *arg)
{
    struct worker *worker = arg;
    const struct cycles *cycles = worker->shared;
    if (workload_over(worker->job))
        return NULL;
    void **at = shuffle(cycles, cycles->memory + cycles->each * (size_t)worker->index, (uint64_t)worker->index);
    uint64_t ops = 0, due = workload_now_ns();
    /* At least one: setting up may have taken longer than a short run. */
    do {
        at = cycles->calls ? serve_pointers(at, cycles->calls) : follow_pointers(at);
        ops++;
        if (cycles->calls && ops % (uint64_t)cycles->batch == 0)
            due = pace_wait(worker->job, &cycles->pace, due);
    } while (!workload_over(worker->job));
    workload_sink = (uintptr_t)at;
    workload_done(worker->job, ops);
    return NULL;
}

static int chase(struct job *job, size_t wanted, size_t stride, int calls, int batch)
{
    struct cycles cycles = {
        .each = memory_share(wanted, job->threads),
        .stride = stride,
        .calls = calls,
        .batch = batch,
        /* A batch takes its time: the fewer of them come. */
        .pace = pace_begin(batch > 1 ? (uint64_t)batch * 2 / 5 : 1),
    };
    size_t all = cycles.each * (size_t)job->threads;
    cycles.memory = memory_map(all, stride == LINE);
    if (!cycles.memory)
        return ENOMEM;
    int error = workload_threads(job, job->threads, "chaser", chaser_main, &cycles);
    memory_unmap(cycles.memory, all);
    return error;
}

static size_t between(size_t least, size_t size, size_t most)
{
    return size < least ? least : size > most ? most : size;
}

static size_t llc_bytes(void)
{
    return between(1 * MIB, memory_llc() / 2, 64 * MIB);
}

static size_t dram_bytes(void)
{
    return between(64 * MIB, 4 * memory_llc(), 512 * MIB);
}

/* 8,192 pages: more than any second-level TLB holds, and 512 KiB of lines. */
static size_t tlb_bytes(void)
{
    return 8192 * memory_page();
}

int workload_chase_llc(struct job *job)
{
    return chase(job, llc_bytes(), LINE, 0, 1);
}

int workload_chase_dram(struct job *job)
{
    return chase(job, dram_bytes(), LINE, 0, 1);
}

int workload_chase_tlb(struct job *job)
{
    return chase(job, tlb_bytes(), memory_page(), 0, 1);
}

int workload_chase_llc_paced(struct job *job)
{
    return chase(job, llc_bytes() / 4, LINE, 40, 100);
}

int workload_chase_dram_paced(struct job *job)
{
    return chase(job, dram_bytes(), LINE, 20, 1);
}

int workload_chase_tlb_paced(struct job *job)
{
    return chase(job, tlb_bytes(), memory_page(), 25, 1);
}
