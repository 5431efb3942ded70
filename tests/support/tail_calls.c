/* A program whose functions end in calls of others, which compilers turn into jumps. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Neither inlined nor copied for one caller, and what it does is not known to the compiler. */
#define FUNCTION __attribute__((noinline, noclone))

enum { KEYS = 1000 };
static uint32_t shuffled[KEYS], keys[KEYS];

static inline __attribute__((always_inline)) uint64_t spin(uint64_t n) {
    uint64_t x = n;
    /* Compilers leave frame pointers out of functions that call nothing, whatever the flags, unless they need one. */
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
    for (int i = 0; i < 20000; i++) {
        x = x * 6364136223846793005ull + 1;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

FUNCTION uint64_t fill_set(uint64_t n) { return spin(n); }
FUNCTION uint64_t fill_get(uint64_t n) { return spin(n); }
FUNCTION uint64_t visit_leaf(uint64_t n) { return spin(n); }
FUNCTION uint64_t fill_chosen(uint64_t n) { return spin(n); }

/* Ends in a jump. */
FUNCTION uint64_t handle_set(uint64_t n) { return fill_set(n + 1); }

/* Goes on after the call. */
FUNCTION uint64_t handle_get(uint64_t n) { return fill_get(n) + 1; }

/* The innermost one ends in a jump, the others go on. */
FUNCTION uint64_t walk_tree(uint64_t depth) {
    if (depth == 0) return visit_leaf(depth);
    return (walk_tree(depth - 1) ^ depth) * 3;
}

/* Ends in a jump, and is called by a pointer. */
FUNCTION uint64_t handle_chosen(uint64_t n) { return fill_chosen(n + 2); }

FUNCTION int compare_keys(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Ends in a jump into a library. */
FUNCTION void sort_keys(void) {
    memcpy(keys, shuffled, sizeof keys);
    qsort(keys, KEYS, sizeof *keys, compare_keys);
}

static uint64_t (*volatile chosen)(uint64_t) = handle_chosen;
static volatile uint64_t sink;

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    for (uint32_t at = 0; at < KEYS; at++) shuffled[at] = at * 2654435761u;
    /* Of CPU time, so that there are as many samples on a machine that has other work. */
    struct timespec begun, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    do {
        sink += handle_set(sink);
        sink += handle_get(sink);
        sink += walk_tree(2);
        sink += chosen(sink);
        sort_keys();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((now.tv_sec - begun.tv_sec) + (now.tv_nsec - begun.tv_nsec) / 1e9 < seconds);
    return 0;
}
