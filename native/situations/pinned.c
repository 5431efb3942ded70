/* Threads that all inherited the affinity of one: they share its CPU while the others idle. */
#include "situation.h"

static void *worker(void *number)
{
    while (!over) {
        sink = compute(20000);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    run(seconds, worker);
}
