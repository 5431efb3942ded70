/* Expected diagnosis: a test-and-set lock around 80% of every operation: threads burn CPU in acquire_spin_lock, and
 * throughput does not grow beyond 1.25 times that of one thread. Where threads outnumber CPUs they spin for a holder
 * that is not running. */
#include "workload.h"

/* About 4 us. */
#define STEPS 2000
#define BOOK_STEPS (STEPS * 40 / 100)

/* The lock and what it guards, each on lines of its own. */
struct ledger {
    _Alignas(128) atomic_flag lock;
    _Alignas(128) uint64_t balance;
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

PLANTED static void acquire_spin_lock(atomic_flag *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        relax();
}

PLANTED static void release_spin_lock(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

PLANTED static void book_debit(struct ledger *ledger, uint64_t amount)
{
    ledger->balance = mix(ledger->balance ^ amount, BOOK_STEPS);
}

PLANTED static void book_credit(struct ledger *ledger, uint64_t amount)
{
    ledger->balance = mix(ledger->balance + amount, BOOK_STEPS);
}

PLANTED static uint64_t check_order(uint64_t seed)
{
    return mix(seed, STEPS - 2 * BOOK_STEPS);
}

static void *booker_main(void *arg)
{
    struct worker *worker = arg;
    struct ledger *ledger = worker->shared;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    for (; !workload_over(worker->job); ops++) {
        x = check_order(x);
        acquire_spin_lock(&ledger->lock);
        book_debit(ledger, x);
        book_credit(ledger, x);
        release_spin_lock(&ledger->lock);
    }
    workload_done(worker->job, ops);
    return NULL;
}

int workload_spinlock(struct job *job)
{
    struct ledger ledger = { .lock = ATOMIC_FLAG_INIT };
    int error = workload_threads(job, job->threads, "booker", booker_main, &ledger);
    workload_sink = ledger.balance;
    return error;
}
