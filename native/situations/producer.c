/* Consumers that wait for one producer, which computes all the time: more consumers change nothing. */
#include "situation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int items;

NOINLINE static void produce_item(void) { sink = compute(200000); }

NOINLINE static void take_item(void)
{
    pthread_mutex_lock(&lock);
    while (!items)
        pthread_cond_wait(&some, &lock);
    items--;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *number)
{
    while (!over) {
        if ((long)number == 0) {
            produce_item();
            pthread_mutex_lock(&lock);
            items++;
            pthread_cond_signal(&some);
            pthread_mutex_unlock(&lock);
        } else {
            take_item();
            sink = compute(20000);
            done((long)number);
        }
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
