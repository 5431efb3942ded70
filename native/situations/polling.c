/* Workers that look for work by the clock: each sleeps 50 us and looks again, and 19 of 20 times there is none. */
#include "situation.h"

static volatile uint64_t due;

NOINLINE static int poll_queue(void)
{
    sleep_us(50);
    uint64_t now = now_ns(), at = due;
    return now > at && __sync_bool_compare_and_swap(&due, at, now + 2000000);
}

static void *worker(void *number)
{
    while (!over)
        if (poll_queue()) {
            sink = compute(20000);
            done((long)number);
        }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
