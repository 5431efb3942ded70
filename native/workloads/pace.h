/* Operations that come at a rate of their own: it goes up and down like the teeth of a saw, every four seconds, between 300
 * and 1500 per second and thread. It never makes up for what a busy machine kept from being done. */
#ifndef IRONLAW_PACE_H
#define IRONLAW_PACE_H

#include "workload.h"

#define PACE_PERIOD_NS 4000000000ull
#define PACE_LOW 300
#define PACE_HIGH 1500

struct pace {
    /* The rate is divided by this. */
    uint64_t divide;
    /* Operations per second and thread that come all the time; 0: the saw. */
    uint64_t steady;
    uint64_t begin_ns;
};

static inline struct pace pace_begin(uint64_t divide)
{
    return (struct pace){ .divide = divide, .begin_ns = workload_now_ns() };
}

/* Nanoseconds until the next operation. */
static inline uint64_t pace_pause_ns(const struct pace *pace, uint64_t now)
{
    if (pace->steady)
        return 1000000000ull * pace->divide / pace->steady;
    uint64_t at = (now - pace->begin_ns) % PACE_PERIOD_NS, half = PACE_PERIOD_NS / 2;
    uint64_t up = at < half ? at : PACE_PERIOD_NS - at;
    uint64_t rate = PACE_LOW + (PACE_HIGH - PACE_LOW) * up / half;
    return 1000000000ull * pace->divide / rate;
}

/* Waits for the operation after the one that was due at `due`; returns when that is due. */
static inline uint64_t pace_wait(const struct job *job, const struct pace *pace, uint64_t due)
{
    uint64_t now = workload_now_ns();
    due += pace_pause_ns(pace, now);
    if (due <= now)
        return now;
    workload_sleep_ns(job, due - now);
    return due;
}

#endif
