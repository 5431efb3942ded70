/* Expected diagnosis: none. This file holds the table of the workloads and what they share. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define NS_PER_S 1000000000ull

_Atomic uint64_t workload_sink;

/* Sorted by name; `about` is a part of the expected diagnosis in the workload's own file, word for word. */
static const struct {
    const char *name;
    workload_fn *run;
    const char *about;
} TABLE[] = {
    { "adaptive-mutex", workload_adaptive_mutex,
      "threads spin for a mutex that is held briefly, sleep and wake each other, in bump_shared_counter" },
    { "allocator", workload_allocator, "CPU time goes to malloc and free, below exchange_object" },
    { "atomic", workload_atomic, "every operation changes one counter that all threads share, by compare-and-swap" },
    { "chase-dram", workload_chase_dram,
      "four times the cache per thread: one miss per hop with any number of threads" },
    { "chase-dram-paced", workload_chase_dram_paced,
      "neighbours who take cache or memory make each dearer" },
    { "chase-llc", workload_chase_llc,
      "half the last-level cache per thread: it fits for one or two, and slows down with more" },
    { "chase-llc-paced", workload_chase_llc_paced,
      "neighbours who take cache or memory make each dearer" },
    { "chase-tlb", workload_chase_tlb,
      "one line in every page: the lines stay in the cache, their translations do not" },
    { "chase-tlb-paced", workload_chase_tlb_paced,
      "operations come at the rate of `paced`, and each follows pointers for about half a millisecond" },
    { "churn", workload_churn, "threads are born and die at 500 per second and spawner" },
    { "deep", workload_deep, "all CPU in deep_leaf, called through 200 frames of descend without frame pointers" },
    { "execer", workload_execer, "children burn 50 ms in before_exec, then execute this program again" },
    { "false-sharing", workload_false_sharing, "threads write neighbouring counters in one cache line" },
    { "faults", workload_faults, "CPU time goes to page faults below touch_fresh_pages" },
    { "forker", workload_forker,
      "the named process uses no CPU; its children, `threads` at a time and 100 ms old each, burn all" },
    { "futex", workload_futex, "pairs of threads wait for each other (futex, in wait_for_turn)" },
    { "hotspot", workload_hotspot,
      "the workers' CPU is 60% checksum_block, 25% compress_block, 10% encode_reply, 5% parse_request" },
    { "imbalance", workload_imbalance, "thread 0 gets three times the share of each other thread in every round" },
    { "io", workload_io, "threads wait for storage: off the CPU in flush_block (fsync), little CPU" },
    { "io-bulk", workload_io_bulk, "whoever flushes on the same file system waits for them as well" },
    { "io-paced", workload_io_paced,
      "a neighbour who keeps the storage busy makes every block wait longer, and none dearer" },
    { "many-threads", workload_many_threads,
      "next to no CPU over `threads` threads that sleep a second at a time; what costs is their number" },
    { "mmap-storm", workload_mmap_storm,
      "threads map and unmap memory that nobody touches, in map_and_unmap: all change one address space" },
    { "mutex", workload_mutex, "a mutex around 60% of every operation: threads wait for it in update_shared_index" },
    { "narrow-vectors", workload_narrow_vectors,
      "does the same work with vectors of 128 bits" },
    { "one-worker", workload_one_worker, "one thread does all the work, in serve_request, with any number of threads" },
    { "oversubscribed", workload_oversubscribed,
      "four threads for each one asked for do the work of `scaling`: they wait for a CPU" },
    { "paced", workload_paced,
      "operations come at a rate that rises and falls every four seconds, whatever they cost" },
    { "paced-dearer", workload_paced_dearer,
      "as many operations come, and each costs two fifths more, in check_twice" },
    { "paced-half", workload_paced_half,
      "half as many of the same operations come; each costs what it costs in `paced`" },
    { "paced-long", workload_paced_long,
      "with operations of half a millisecond" },
    { "paced-long-dearer", workload_paced_long_dearer,
      "as many operations come, and each costs two fifths more, in check_twice" },
    { "paced-long-half", workload_paced_long_half,
      "half as many of the same operations come; each costs what it costs in `paced`" },
    { "paced-steady", workload_paced_steady,
      "operations of 0.1 ms, 4000 per second and thread, all the time" },
    { "paced-steady-half", workload_paced_steady_half,
      "half as many of the same operations come; each costs what it costs in `paced-steady`" },
    { "retry", workload_retry, "every operation looks at one entry of each thread, several times (scan_all_threads)" },
    { "scaling", workload_scaling,
      "nothing is shared: throughput grows with the cores, all of it user time in crunch_numbers" },
    { "serial", workload_serial,
      "30% of one thread's time is serial: in every round thread 0 alone runs merge_results" },
    { "sleep-loop", workload_sleep_loop, "no CPU; every thread is off the CPU all the time, asleep in nap" },
    { "spin", workload_spin, "`threads` cores busy, all of it user time in spin_burn; no waits but for a CPU" },
    { "spinlock", workload_spinlock,
      "a test-and-set lock around 80% of every operation: threads burn CPU in acquire_spin_lock" },
    { "stream", workload_stream, "every thread reads and writes its own array of twice the last-level cache" },
    { "syscall", workload_syscall, "most CPU time is kernel time below ask_kernel" },
    { "tail-code", workload_tail_code, "one request in 60 of each thread also rebuilds the table" },
    { "tail-disk", workload_tail_disk,
      "one request in 60 of each thread also writes a block and waits for the storage" },
    { "tail-lock", workload_tail_lock, "thread 0 holds the lock of the table for 20 ms, three times a second" },
    { "thrash", workload_thrash, "it takes the cache from everybody who shares it" },
    { "tlb-shoot", workload_tlb_shoot,
      "the other threads' CPUs are interrupted to forget the translations" },
    { "wide-vectors", workload_wide_vectors,
      "a twentieth of every operation is 512-bit arithmetic, in scale_wide_block, and the rest scalar" },
};

/* The name of workload `index`, or NULL past the last one. */
const char *ironlaw_workload_name(unsigned index)
{
    return index < sizeof TABLE / sizeof *TABLE ? TABLE[index].name : NULL;
}

/* What workload `index` plants, or NULL past the last one. */
const char *ironlaw_workload_about(unsigned index)
{
    return index < sizeof TABLE / sizeof *TABLE ? TABLE[index].about : NULL;
}

/* Runs a workload and stores how many operations it completed. Returns 0 or an errno value; ENOENT: no such name. */
int ironlaw_workload(const char *name, int threads, double seconds, uint64_t *ops)
{
    *ops = 0;
    if (threads < 1 || !(seconds >= 0 && seconds <= 1e9))
        return EINVAL;
    for (unsigned i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (strcmp(name, TABLE[i].name) != 0)
            continue;
        struct job job = { .threads = threads, .end_ns = workload_now_ns() + (uint64_t)(seconds * 1e9) };
        int error = TABLE[i].run(&job);
        *ops = atomic_load(&job.ops);
        return error;
    }
    return ENOENT;
}

uint64_t workload_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct timespec workload_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

int workload_over(const struct job *job)
{
    return workload_now_ns() >= job->end_ns;
}

void workload_sleep_ns(const struct job *job, uint64_t ns)
{
    uint64_t until = workload_now_ns() + ns, end = job->end_ns;
    if (until > end)
        until = end;
    struct timespec at = workload_timespec(until);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static int start(pthread_t *thread, const char *prefix, void *(*body)(void *), struct worker *worker)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    /* Small stacks: thousands of threads must fit a small machine. */
    pthread_attr_setstacksize(&attr, 128 * 1024);
    int error = pthread_create(thread, &attr, body, worker);
    pthread_attr_destroy(&attr);
    if (error == 0) {
        char name[16];
        snprintf(name, sizeof name, "%.9s-%d", prefix, worker->index % 10000);
        pthread_setname_np(*thread, name);
    }
    return error;
}

int workload_threads(struct job *job, int count, const char *prefix, void *(*body)(void *), void *shared)
{
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    struct worker *workers = calloc((size_t)count, sizeof *workers);
    int error = threads && workers ? 0 : ENOMEM, started = 0;
    for (; error == 0 && started < count; started += error == 0) {
        workers[started] = (struct worker){ .job = job, .index = started, .shared = shared };
        error = start(&threads[started], prefix, body, &workers[started]);
    }
    if (error != 0)
        job->end_ns = 0;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(workers);
    return error;
}

int workload_reap(int pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
