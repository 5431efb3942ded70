/* What every workload shares: the clock, the counted work, the threads.
 * A workload plants a known cause; it never measures itself. */
#ifndef IRONLAW_WORKLOAD_H
#define IRONLAW_WORKLOAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A function that must be seen by its own name in every stack: neither inlined nor cloned nor specialised. */
#if defined(__GNUC__) && !defined(__clang__)
#define PLANTED __attribute__((noipa))
#else
#define PLANTED __attribute__((noinline))
#endif

/* One run: how many threads, when to stop (CLOCK_MONOTONIC), and what was done. */
struct job {
    int threads;
    _Atomic uint64_t end_ns;
    _Atomic uint64_t ops;
};

/* One thread of a run. */
struct worker {
    struct job *job;
    int index;
    void *shared;
};

/* Runs until the job is over; returns 0 or an errno value. */
typedef int workload_fn(struct job *job);

workload_fn workload_adaptive_mutex, workload_mmap_storm, workload_one_worker, workload_allocator, workload_atomic, workload_chase_dram, workload_chase_dram_paced, workload_chase_llc,
    workload_chase_llc_paced, workload_chase_tlb, workload_chase_tlb_paced, workload_io_bulk,
    workload_io_paced, workload_thrash, workload_tlb_shoot,
    workload_churn, workload_deep, workload_execer, workload_false_sharing, workload_faults, workload_forker,
    workload_futex, workload_hotspot, workload_imbalance, workload_io, workload_many_threads, workload_mutex,
    workload_oversubscribed, workload_paced, workload_paced_dearer, workload_paced_half, workload_paced_long, workload_paced_long_dearer,
    workload_paced_long_half, workload_paced_steady, workload_paced_steady_half, workload_retry, workload_scaling, workload_serial, workload_sleep_loop, workload_spin,
    workload_spinlock, workload_stream, workload_syscall,
    workload_tail_code, workload_tail_disk, workload_tail_lock, workload_narrow_vectors, workload_wide_vectors;

/* Where results go so that no work is optimised away. */
extern _Atomic uint64_t workload_sink;

uint64_t workload_now_ns(void);
struct timespec workload_timespec(uint64_t ns);

/* Whether the job's time is up. */
int workload_over(const struct job *job);

/* Sleeps, but not beyond the end of the job. */
void workload_sleep_ns(const struct job *job, uint64_t ns);

/* Starts `count` threads of `body` with a small stack each, calls them PREFIX-INDEX, and waits for all of them.
 * When one cannot be started the job ends early. Returns 0 or an errno value. */
int workload_threads(struct job *job, int count, const char *prefix, void *(*body)(void *), void *shared);

/* Waits for a child process; returns its exit code, or -1. */
int workload_reap(int pid);

static inline void workload_done(struct job *job, uint64_t ops)
{
    atomic_fetch_add_explicit(&job->ops, ops, memory_order_relaxed);
}

/* `steps` steps of one dependent chain: each costs the same, so counts of steps are shares of CPU time.
 * A macro, so that debug information names the planted function around it: an inlined function would have the time of all. */
#define mix(x, steps)                                                                                                   \
    __extension__({                                                                                                     \
        uint64_t mixed = (x), mix_steps = (steps);                                                                      \
        for (uint64_t mix_step = 0; mix_step < mix_steps; mix_step++) {                                                 \
            mixed = (mixed ^ mix_step) * 0x9e3779b97f4a7c15ull;                                                         \
            mixed ^= mixed >> 29;                                                                                       \
        }                                                                                                               \
        mixed;                                                                                                          \
    })

#endif
