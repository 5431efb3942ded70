/* Expected diagnosis: operations come at a rate that rises and falls every four seconds, whatever they cost: between 300
 * and 1500 per second and thread, each about 0.1 ms in serve_paced.
 * `paced-half`: half as many of the same operations come; each costs what it costs in `paced`.
 * `paced-dearer`: as many operations come, and each costs two fifths more, in check_twice.
 * `paced-long`, `paced-long-half`, `paced-long-dearer`: the same with operations of half a millisecond, so that one thread
 * keeps a good part of a CPU busy.
 * `paced-steady`: operations of 0.1 ms, 4000 per second and thread, all the time: a program that is kept from running does less
 * than it ever does. `paced-steady-half`: half as many of the same operations come; each costs what it costs in
 * `paced-steady`. */
#include "pace.h"

#define STEPS 50000

PLANTED static uint64_t check_twice(uint64_t seed, uint64_t steps)
{
    return mix(seed, steps);
}

PLANTED static uint64_t serve_paced(uint64_t seed, uint64_t steps, uint64_t extra)
{
    uint64_t x = mix(seed, steps);
    return extra ? check_twice(x, extra) : x;
}

struct paced {
    struct pace pace;
    uint64_t steps;
    uint64_t extra;
};

static void *paced_main(void *arg)
{
    struct worker *worker = arg;
    const struct paced *paced = worker->shared;
    uint64_t x = (uint64_t)worker->index, ops = 0, due = workload_now_ns();
    for (; !workload_over(worker->job); ops++) {
        x = serve_paced(x, paced->steps, paced->extra);
        due = pace_wait(worker->job, &paced->pace, due);
    }
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

static int paced(struct job *job, uint64_t divide, uint64_t steps, uint64_t extra)
{
    struct paced paced = { .pace = pace_begin(divide), .steps = steps, .extra = extra };
    return workload_threads(job, job->threads, "paced", paced_main, &paced);
}

int workload_paced(struct job *job)
{
    return paced(job, 1, STEPS, 0);
}

int workload_paced_half(struct job *job)
{
    return paced(job, 2, STEPS, 0);
}

int workload_paced_dearer(struct job *job)
{
    return paced(job, 1, STEPS, STEPS * 2 / 5);
}

int workload_paced_long(struct job *job)
{
    return paced(job, 1, 5 * STEPS, 0);
}

int workload_paced_long_half(struct job *job)
{
    return paced(job, 2, 5 * STEPS, 0);
}

int workload_paced_long_dearer(struct job *job)
{
    return paced(job, 1, 5 * STEPS, 2 * STEPS);
}

static int steady(struct job *job, uint64_t divide)
{
    struct paced paced = { .pace = pace_begin(divide), .steps = STEPS, .extra = 0 };
    paced.pace.steady = 4000;
    return workload_threads(job, job->threads, "paced", paced_main, &paced);
}

int workload_paced_steady(struct job *job)
{
    return steady(job, 1);
}

int workload_paced_steady_half(struct job *job)
{
    return steady(job, 2);
}
