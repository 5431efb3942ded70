/* Threads that share one lock with a short section. Usage: locks KIND THREADS SECONDS; prints "total N". */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <semaphore.h>

#define PLANTED __attribute__((noinline, noclone))
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static _Atomic int word, own_word, ticket_next, ticket_served;
static _Atomic long counter;
static volatile long shared;
static atomic_int stop;
static sem_t idle;
static __thread pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
static __thread volatile long private;

static long futex(_Atomic int *at, int op, int value) { return syscall(SYS_futex, at, op, value, NULL, NULL, 0); }

PLANTED static void take_slowly(_Atomic int *lock)
{
    while (atomic_exchange_explicit(lock, 2, memory_order_acquire) != 0)
        futex(lock, FUTEX_WAIT_PRIVATE, 2);
}
PLANTED static void take_own(_Atomic int *lock)
{
    int free = 0;
    if (!atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_acquire, memory_order_relaxed))
        take_slowly(lock);
}
PLANTED static void give_own(_Atomic int *lock)
{
    if (atomic_exchange_explicit(lock, 0, memory_order_release) == 2)
        futex(lock, FUTEX_WAKE_PRIVATE, 1);
}

PLANTED static void with_mutex(void) { pthread_mutex_lock(&mutex); shared++; pthread_mutex_unlock(&mutex); }
PLANTED static void with_spin(void) { pthread_spin_lock(&spin); shared++; pthread_spin_unlock(&spin); }
PLANTED static void with_rwlock(void) { pthread_rwlock_wrlock(&rwlock); shared++; pthread_rwlock_unlock(&rwlock); }
PLANTED static void with_cas(void)
{
    for (int free = 0; !atomic_compare_exchange_weak_explicit(&word, &free, 1, memory_order_acquire, memory_order_relaxed); free = 0)
        ;
    shared++;
    atomic_store_explicit(&word, 0, memory_order_release);
}
PLANTED static void with_own(void) { take_own(&own_word); shared++; give_own(&own_word); }
PLANTED static void with_ticket(void)
{
    int turn = atomic_fetch_add_explicit(&ticket_next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&ticket_served, memory_order_acquire) != turn)
        __builtin_ia32_pause();
    shared++;
    atomic_store_explicit(&ticket_served, turn + 1, memory_order_release);
}
PLANTED static void with_counter(void) { atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed); }
PLANTED static void with_none(void) { pthread_mutex_lock(&mine); private++; pthread_mutex_unlock(&mine); }
PLANTED static void serve(void) { for (volatile int i = 0; i < 200; i++); }

static const struct { const char *name; void (*call)(void); } KINDS[] = {
    { "mutex", with_mutex }, { "spin", with_spin }, { "rwlock", with_rwlock }, { "cas", with_cas }, { "own", with_own },
    { "ticket", with_ticket }, { "counter", with_counter }, { "uncontended", with_none }, { "oneworker", serve },
};
static void (*operation)(void);
static int one_worker;
static struct { _Alignas(128) long count; } counts[64];

static void *work(void *index)
{
    long n = 0;
    if (one_worker && (long)index) sem_wait(&idle);
    else while (!atomic_load_explicit(&stop, memory_order_relaxed)) { operation(); n++; }
    counts[(long)index].count = n;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    for (unsigned i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (!strcmp(argv[1], KINDS[i].name)) operation = KINDS[i].call;
    if (!operation) return 2;
    one_worker = !strcmp(argv[1], "oneworker");
    pthread_spin_init(&spin, 0);
    sem_init(&idle, 0, 0);
    pthread_t threads[64];
    int count = atoi(argv[2]);
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    double seconds = atof(argv[3]);
    struct timespec rest = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
    nanosleep(&rest, NULL);
    stop = 1;
    for (int i = 0; i < count; i++) sem_post(&idle);
    long total = 0;
    for (int i = 0; i < count; i++) { pthread_join(threads[i], NULL); total += counts[i].count; }
    printf("total %ld\n", total);
}
