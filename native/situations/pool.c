/* Four workers and one connection to a backend that takes 2 ms: the pool is what they wait for, the backend why. */
#include "situation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static int connections = 1;

NOINLINE static void take_connection(void)
{
    pthread_mutex_lock(&lock);
    while (!connections)
        pthread_cond_wait(&returned, &lock);
    connections--;
    pthread_mutex_unlock(&lock);
}

NOINLINE static void return_connection(void)
{
    pthread_mutex_lock(&lock);
    connections++;
    pthread_cond_signal(&returned);
    pthread_mutex_unlock(&lock);
}

NOINLINE static void query_backend(void) { sleep_us(2000); }

static void *worker(void *number)
{
    while (!over) {
        sink = compute(100000);
        take_connection();
        query_backend();
        return_connection();
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
