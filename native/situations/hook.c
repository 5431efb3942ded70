/* A shell command for every request. */
#include "situation.h"

NOINLINE static void run_hook(void)
{
    if (system("true") < 0)
        exit(1);
}

static void *worker(void *number)
{
    while (!over) {
        sink = compute(100000);
        run_hook();
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
