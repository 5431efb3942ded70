/* Makes code while it runs and describes it nowhere. With "call": a function that calls another one and returns, as CPython
   makes it for each Python function. With "loop": a function that works by itself, with zero in the frame pointer. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile uint64_t sink;

/* sub $0x18, %rsp; call *%rdi; add $0x18, %rsp; ret */
static const unsigned char calls[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3};

/* push %rbp; xor %ebp, %ebp; mov $200000, %eax; 1: dec %eax; jne 1b; pop %rbp; ret */
static const unsigned char loops[] = {0x55, 0x31, 0xed, 0xb8, 0x40, 0x0d, 0x03, 0x00, 0xff, 0xc8, 0x75, 0xfc, 0x5d, 0xc3};

__attribute__((noinline)) void leaf_work(void) {
    uint64_t x = 1;
    for (int i = 0; i < 200000; i++) x = x * 6364136223846793005ull + 1;
    sink += x;
}

__attribute__((noinline)) void serve_request(void (*made)(void (*)(void))) {
    made(leaf_work);
    sink++;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int works = argc > 2 && !strcmp(argv[2], "loop");
    unsigned char *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) abort();
    /* Two copies, which take turns. */
    for (int copy = 0; copy < 2; copy++) {
        if (works) memcpy(made + 64 * copy, loops, sizeof loops);
        else memcpy(made + 64 * copy, calls, sizeof calls);
    }
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        for (int copy = 0; copy < 2; copy++) serve_request((void (*)(void (*)(void)))(made + 64 * copy));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) + (now.tv_nsec - begun.tv_nsec) / 1e9 < seconds);
    return 0;
}
