/* A program that spends its time in two signals' handlers, one of them on a stack of its own. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;
static volatile sig_atomic_t handled;

static void work(void) {
    uint64_t x = 1;
    for (int i = 0; i < 2000000; i++) x = x * 6364136223846793005ull + 1;
    sink += x;
}

__attribute__((noinline)) void shared_stack_handler(int number) {
    work();
    handled = number;
}

__attribute__((noinline)) void own_stack_handler(int number) {
    work();
    sink++;
    handled = number;
}

/* The signal comes while this loop runs, at any of its instructions. */
__attribute__((noinline)) void interrupted_work(int number) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec soon = {.it_value = {.tv_nsec = 100000}};
    handled = 0;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &soon, NULL);
    while (!handled) sink++;
    timer_delete(timer);
}

__attribute__((noinline)) void serve_request(int number) {
    interrupted_work(number);
    sink++;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    stack_t own = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct sigaction shared = {.sa_handler = shared_stack_handler};
    struct sigaction apart = {.sa_handler = own_stack_handler, .sa_flags = SA_ONSTACK};
    struct timespec begun, now;
    sigaltstack(&own, NULL);
    sigaction(SIGUSR1, &shared, NULL);
    sigaction(SIGUSR2, &apart, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        serve_request(SIGUSR1);
        serve_request(SIGUSR2);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) + (now.tv_nsec - begun.tv_nsec) / 1e9 < seconds);
    return 0;
}
