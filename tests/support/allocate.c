/* Allocates, touches and frees blocks of 256 KiB for SECONDS: how much that costs, the allocator's settings decide.
   Prints "total N" (blocks). Usage: allocate SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 256 << 10 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static unsigned touch_block(void) {
    volatile char *block = malloc(BLOCK);
    unsigned sum = 0;
    if (!block) return 0;
    for (int at = 0; at < BLOCK; at += 4096) block[at] = 1;
    for (int at = 0; at < BLOCK; at += 4096) sum += block[at];
    free((void *)block);
    return sum;
}

int main(int count, char **words) {
    double end = now() + (count > 1 ? atof(words[1]) : 1);
    unsigned long done = 0, sum = 0;
    while (now() < end)
        for (int i = 0; i < 20; i++, done++) sum += touch_block();
    printf("total %lu\n", done);
    return sum == 42;
}
