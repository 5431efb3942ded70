/* How does a C or C++ program tell ironlaw how many operations it has completed, and how long they took?
 *
 *     cc -O2 -pthread -I native -o count_operations examples/count_operations.c
 *     ironlaw record --ops page:example --latency page:example -- ./count_operations 4 1000000
 *     ironlaw report
 */
#include <ironlaw.h>
#include <pthread.h>
#include <stdlib.h>

static ironlaw_page *page;
static uint64_t requests_per_thread;
static volatile uint64_t answer;

/* What the program is for. */
static void handle_request(uint64_t request)
{
    for (int step = 0; step < 100; step++)
        request = request * 6364136223846793005u + 1442695040888963407u;
    answer = request;
}

static void *serve(void *unused)
{
    uint64_t *mine = ironlaw_slot(page);
    for (uint64_t request = 0; request < requests_per_thread; request++) {
        uint64_t begin = ironlaw_now();
        handle_request(request);
        ironlaw_latency(mine, ironlaw_now() - begin);
        ironlaw_add(mine, 1);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    requests_per_thread = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    pthread_t ids[64];
    if (threads < 1 || threads > 64)
        return 2;
    /* Without a page the program works all the same. */
    page = ironlaw_open_latency(argc > 3 ? argv[3] : "example", (unsigned)(argc > 4 ? atoi(argv[4]) : threads));
    if (!page)
        perror("operations are not counted");
    for (int at = 0; at < threads; at++)
        if (pthread_create(&ids[at], NULL, serve, NULL))
            return 1;
    for (int at = 0; at < threads; at++)
        pthread_join(ids[at], NULL);
    printf("requests: %llu\n", (unsigned long long)threads * requests_per_thread);
    return 0;
}
