/* What every program of a situation shares: it runs for some seconds, counts what it completes, and prints `total N`. */
#ifndef SITUATION_H
#define SITUATION_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Kept as it is written: neither inlined nor moved out of loops. */
#define NOINLINE __attribute__((noinline, noipa))
#define MOST_THREADS 64

static volatile int over;
static uint64_t totals[MOST_THREADS][16]; /* a line and its neighbour for each thread */
static int threads = 1;

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void sleep_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&t, NULL);
}

/* Computes for about so many nanoseconds on a CPU of today. */
__attribute__((unused)) NOINLINE static uint64_t compute(uint64_t ns)
{
    uint64_t x = ns;
    for (uint64_t i = 0; i < ns; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}
static volatile uint64_t sink;

static inline void done(long thread) { __atomic_store_n(&totals[thread][0], totals[thread][0] + 1, __ATOMIC_RELAXED); }

/* Arguments: [THREADS [SECONDS]]. */
static inline double arguments(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    if (threads < 1 || threads > MOST_THREADS)
        exit(2);
    return argc > 2 ? atof(argv[2]) : 3;
}

static inline void finish(void)
{
    uint64_t total = 0;
    for (int at = 0; at < MOST_THREADS; at++)
        total += totals[at][0];
    printf("total %llu\n", (unsigned long long)total);
    fflush(stdout);
    _exit(0);
}

/* Runs `worker(number)` on every thread for the time, prints the total and ends, whatever threads still wait for. */
static inline void run(double seconds, void *(*worker)(void *))
{
    pthread_t id;
    for (long at = 0; at < threads; at++)
        if (pthread_create(&id, NULL, worker, (void *)at))
            exit(1);
    sleep_us((long)(seconds * 1e6));
    over = 1;
    finish();
}

#endif
