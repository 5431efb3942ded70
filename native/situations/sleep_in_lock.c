/* A cache whose refresh holds its lock while it waits for something: 5 ms in every 20. */
#include "situation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void refresh_cache(void)
{
    pthread_mutex_lock(&lock);
    sleep_us(5000);
    pthread_mutex_unlock(&lock);
}

NOINLINE static void look_up(void)
{
    pthread_mutex_lock(&lock);
    sink = compute(200);
    pthread_mutex_unlock(&lock);
}

static void *refresher(void *unused)
{
    prctl(PR_SET_NAME, "refresher");
    while (!over) {
        refresh_cache();
        sleep_us(15000);
    }
    return unused;
}

static void *worker(void *number)
{
    while (!over) {
        sink = compute(20000);
        look_up();
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    pthread_t id;
    pthread_create(&id, NULL, refresher, NULL);
    run(seconds, worker);
}
