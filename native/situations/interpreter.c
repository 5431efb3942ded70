/* Threads of an interpreter with one lock, which the running one gives up every millisecond if another wants it. */
#include "situation.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_up = PTHREAD_COND_INITIALIZER;
static int taken, wanted;

NOINLINE static void take_interpreter(void)
{
    pthread_mutex_lock(&guard);
    wanted++;
    while (taken)
        pthread_cond_wait(&given_up, &guard);
    wanted--;
    taken = 1;
    pthread_mutex_unlock(&guard);
}

NOINLINE static void give_up_interpreter(void)
{
    pthread_mutex_lock(&guard);
    taken = 0;
    pthread_cond_signal(&given_up);
    pthread_mutex_unlock(&guard);
    sched_yield();
}

static void *worker(void *number)
{
    take_interpreter();
    for (uint64_t since = now_ns(); !over;) {
        sink = compute(10000);
        done((long)number);
        if (now_ns() - since > 1000000 && wanted) {
            give_up_interpreter();
            take_interpreter();
            since = now_ns();
        }
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
