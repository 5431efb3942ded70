/* A program whose truth is known, for tests/calibrate.py.
 *
 *   load pace SECONDS STEPS OPS_PER_S SWING   operations of STEPS dependent steps at a rate that swings by SWING percent
 *                                             with a period of a second; rate 0: one after the other. Prints `ops TOTAL`.
 *   load born SECONDS STEPS OPS_PER_S 0       the same, each operation in a thread of its own
 *   load churn SECONDS LIFE_US                turns of 300 us in long_part, then a thread that works LIFE_US in short_part.
 *                                             Prints `truth SHARE`: the part of the CPU time of both in short_part, by
 *                                             the threads' own clocks.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLANTED __attribute__((noinline, noipa))

static volatile uint64_t sink;

static double now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec + at.tv_nsec * 1e-9;
}

PLANTED static uint64_t serve(uint64_t x, uint64_t steps)
{
    while (steps--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

static void *serve_alone(void *steps)
{
    sink = serve(sink, *(uint64_t *)steps);
    return NULL;
}

static int pace(double seconds, uint64_t steps, double rate, double swing, int born)
{
    double begun = now(CLOCK_MONOTONIC), due = begun, at;
    uint64_t ops = 0;
    while ((at = now(CLOCK_MONOTONIC)) < begun + seconds) {
        pthread_t thread;
        if (!born)
            sink = serve(sink, steps);
        else if (pthread_create(&thread, NULL, serve_alone, &steps) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
        ops++;
        if (rate <= 0)
            continue;
        due += 1 / (rate * (1 + swing / 100 * sin(2 * M_PI * (at - begun))));
        struct timespec until = { (time_t)due, (long)((due - floor(due)) * 1e9) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    printf("ops %llu\n", (unsigned long long)ops);
    return 0;
}

/* Steps until the thread's clock has gone on by so much, and what of it the part itself took. */
static uint64_t burn(double seconds, uint64_t x, uint64_t (*part)(uint64_t, uint64_t), double *spent)
{
    double at = now(CLOCK_THREAD_CPUTIME_ID), until = at + seconds;
    while (at < until) {
        x = part(x, 8000);
        double then = now(CLOCK_THREAD_CPUTIME_ID);
        *spent += then - at;
        at = then;
    }
    return x;
}

PLANTED static uint64_t long_part(uint64_t x, uint64_t steps)
{
    while (steps--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

PLANTED static uint64_t short_part(uint64_t x, uint64_t steps)
{
    while (steps--)
        x = x * 2862933555777941757u + 3037000493u;
    return x;
}

static double life, spent_short;

static void *live(void *none)
{
    sink = burn(life, sink, short_part, &spent_short);
    return none;
}

static int churn(double seconds)
{
    double end = now(CLOCK_MONOTONIC) + seconds, spent_long = 0;
    while (now(CLOCK_MONOTONIC) < end) {
        pthread_t thread;
        sink = burn(300e-6, sink, long_part, &spent_long);
        if (pthread_create(&thread, NULL, live, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    printf("truth %.6f\n", spent_short / (spent_short + spent_long));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "churn") == 0) {
        life = atof(argv[3]) * 1e-6;
        return churn(atof(argv[2]));
    }
    if (argc == 6 && (strcmp(argv[1], "pace") == 0 || strcmp(argv[1], "born") == 0))
        return pace(atof(argv[2]), strtoull(argv[3], NULL, 10), atof(argv[4]), atof(argv[5]), argv[1][0] == 'b');
    fprintf(stderr, "usage: load pace|born SECONDS STEPS OPS_PER_S SWING | load churn SECONDS LIFE_US\n");
    return 2;
}
