/* A program that repeats itself: for 60% of each cycle it decodes, then it paints. A profiler that samples at the cycle's own
   frequency finds one of the two. Both take the same time a call. Usage: lockstep SECONDS CYCLE_NS; prints the share of decode. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK(name, factor)                                    \
    __attribute__((noinline)) static unsigned name(unsigned x) { \
        for (int i = 0; i < 1500; i++)                        \
            x = x * factor + 1013904223u + (x >> 7);          \
        return x;                                             \
    }
WORK(decode_frame, 1664525u)
WORK(paint_frame, 22695477u)

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **words) {
    double seconds = count > 1 ? atof(words[1]) : 2;
    long long cycle = count > 2 ? atoll(words[2]) : 1003009, end = now() + (long long)(seconds * 1e9);
    long calls[2] = {0, 0};
    unsigned x = 1;
    for (long long at = now(); at < end; at = now()) {
        int paints = at % cycle >= cycle * 6 / 10;
        x = paints ? paint_frame(x) : decode_frame(x);
        calls[paints]++;
    }
    printf("%.5f\n", (double)calls[0] / (calls[0] + calls[1]));
    return x == 42;
}
