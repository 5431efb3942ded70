/* A level-triggered descriptor that nobody reads: epoll_wait returns at once, again and again, with nothing to do. */
#include "situation.h"
#include <sys/epoll.h>

static int epoll, ready[2];

NOINLINE static int wait_for_events(struct epoll_event *events) { return epoll_wait(epoll, events, 8, 1000); }

static void *worker(void *number)
{
    struct epoll_event events[8];
    uint64_t begin = now_ns(), jobs = 0;
    while (!over) {
        wait_for_events(events);
        /* A job every millisecond. */
        if (now_ns() - begin > jobs * 1000000) {
            sink = compute(50000);
            jobs++;
            done((long)number);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    struct epoll_event readable = { .events = EPOLLIN };
    epoll = epoll_create1(0);
    if (pipe(ready) || write(ready[1], "x", 1) != 1 || epoll_ctl(epoll, EPOLL_CTL_ADD, ready[0], &readable))
        exit(1);
    run(seconds, worker);
}
