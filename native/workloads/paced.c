/* Expected diagnosis: operations come at a rate that rises and falls every four seconds, whatever they cost: between 300
 * and 1500 per second and thread, each about 0.1 ms in serve_paced.
 * `paced-half`: half as many of the same operations come; each costs what it costs in `paced`.
 * `paced-dearer`: as many operations come, and each costs two fifths more, in check_twice. */
#include "workload.h"

#define STEPS 50000
#define PERIOD_NS 4000000000ull
#define LOW 300
#define HIGH 1500

struct pace {
    uint64_t divide;
    uint64_t extra;
    uint64_t begin_ns;
};

PLANTED static uint64_t check_twice(uint64_t seed, uint64_t steps)
{
    return mix(seed, steps);
}

PLANTED static uint64_t serve_paced(uint64_t seed, uint64_t extra)
{
    uint64_t x = mix(seed, STEPS);
    return extra ? check_twice(x, extra) : x;
}

/* Nanoseconds until the next operation: the rate goes up and down like the teeth of a saw. */
static uint64_t pause_ns(uint64_t since, uint64_t divide)
{
    uint64_t at = since % PERIOD_NS, half = PERIOD_NS / 2;
    uint64_t up = at < half ? at : PERIOD_NS - at;
    uint64_t rate = LOW + (HIGH - LOW) * up / half;
    return 1000000000ull * divide / rate;
}

static void *paced_main(void *arg)
{
    struct worker *worker = arg;
    struct pace *pace = worker->shared;
    uint64_t x = (uint64_t)worker->index, ops = 0, due = workload_now_ns();
    for (; !workload_over(worker->job); ops++) {
        x = serve_paced(x, pace->extra);
        uint64_t now = workload_now_ns();
        due += pause_ns(now - pace->begin_ns, pace->divide);
        /* What a busy machine kept from being done is not made up for. */
        if (due > now)
            workload_sleep_ns(worker->job, due - now);
        else
            due = now;
    }
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

static int paced(struct job *job, uint64_t divide, uint64_t extra)
{
    struct pace pace = { .divide = divide, .extra = extra, .begin_ns = workload_now_ns() };
    return workload_threads(job, job->threads, "paced", paced_main, &pace);
}

int workload_paced(struct job *job)
{
    return paced(job, 1, 0);
}

int workload_paced_half(struct job *job)
{
    return paced(job, 2, 0);
}

int workload_paced_dearer(struct job *job)
{
    return paced(job, 1, STEPS * 2 / 5);
}
