/* A program whose measured function, `lookup_key`, computes and sleeps. Two functions of equal frames call it, and it calls itself;
   none of them keeps a frame pointer. `handle_set` has it compute twice as much as `handle_get`. Usage: measured_call SECONDS */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone))
/* Calls before it are no jumps. */
#define HERE __asm__ volatile("" : : : "memory")

static volatile unsigned sum;

FAR static void compute_hash(void) {
    unsigned x = sum;
    for (int i = 0; i < 200000; i++) x = x * 1664525u + 1013904223u + (x >> 7);
    sum = x;
    HERE;
}

FAR static void wait_for_disk(void) {
    usleep(300);
    HERE;
}

FAR void lookup_key(int again) {
    compute_hash();
    if (again) lookup_key(again - 1);
    else wait_for_disk();
    HERE;
}

FAR static void handle_get(void) {
    lookup_key(0);
    HERE;
    sum += 1;
}

FAR static void handle_set(void) {
    lookup_key(1);
    HERE;
    sum += 2;
}

FAR static void serve_request(int number) {
    if (number % 2) handle_get();
    else handle_set();
    HERE;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    double end = now() + (count > 1 ? atof(words[1]) : 2);
    for (int number = 0; now() < end; number++) serve_request(number);
    return 0;
}
