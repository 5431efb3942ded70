/* A queue that wakes every idle worker for each job: pthread_cond_broadcast where one is wanted. Of N wake-ups, N - 1 find
   nothing. The producer makes a job every 200 us. */
#include "situation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int jobs;

NOINLINE static void take_job(void)
{
    pthread_mutex_lock(&lock);
    while (!jobs)
        pthread_cond_wait(&some, &lock);
    jobs--;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *number)
{
    for (;;) {
        take_job();
        sink = compute(5000);
        done((long)number);
    }
    return NULL;
}

NOINLINE static void announce_job(void)
{
    pthread_mutex_lock(&lock);
    jobs++;
    pthread_cond_broadcast(&some);
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    uint64_t end = now_ns() + (uint64_t)(arguments(argc, argv) * 1e9);
    pthread_t id;
    for (long at = 0; at < threads; at++)
        pthread_create(&id, NULL, worker, (void *)at);
    while (now_ns() < end) {
        announce_job();
        sleep_us(200);
    }
    finish();
}
