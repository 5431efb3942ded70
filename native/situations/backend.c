/* Clients that wait for another process: it answers each request after 3 ms of sleep. */
#include "situation.h"

static int sockets[MOST_THREADS][2];

static void serve_slowly(int peer)
{
    char request[64];
    for (;;) {
        ssize_t length = read(peer, request, sizeof request);
        if (length <= 0)
            return;
        sleep_us(3000);
        if (write(peer, request, (size_t)length) < 0)
            return;
    }
}

static void *serve(void *peer)
{
    serve_slowly((int)(long)peer);
    return NULL;
}

NOINLINE static void query_backend(int peer)
{
    char answer[64] = "query";
    if (write(peer, answer, sizeof answer) < 0 || read(peer, answer, sizeof answer) <= 0)
        exit(0);
}

static void *worker(void *number)
{
    while (!over) {
        sink = compute(300000);
        query_backend(sockets[(long)number][0]);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    for (int at = 0; at < threads; at++)
        socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[at]);
    if (fork() == 0) {
        prctl(PR_SET_NAME, "slow-backend");
        prctl(PR_SET_PDEATHSIG, 9);
        pthread_t id;
        for (long at = 0; at < threads; at++) {
            close(sockets[at][0]);
            pthread_create(&id, NULL, serve, (void *)(long)sockets[at][1]);
        }
        pause();
        _exit(0);
    }
    for (int at = 0; at < threads; at++)
        close(sockets[at][1]);
    run(seconds, worker);
}
