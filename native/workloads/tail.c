/* Expected diagnosis: requests of 0.1 ms come 500 times a second and thread, in answer_query; few are slow, by a planted cause.
 * `tail-lock`: thread 0 holds the lock of the table for 20 ms, three times a second: requests that come then wait for it in
 * look_up_table.
 * `tail-code`: one request in 60 of each thread also rebuilds the table, 4 ms of CPU in rebuild_table.
 * `tail-disk`: one request in 60 of each thread also writes a block and waits for the storage, in flush_log (fsync). The file
 * lies in TMPDIR, else /var/tmp; on a memory file system there is nothing to wait for. */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEPS 50000
#define REBUILD_STEPS 2000000
#define ONE_IN 60
#define PAUSE_NS 2000000ull
#define HOLD_NS 20000000ull
#define HOLD_PAUSE_NS 310000000ull
#define BLOCK (1024 * 1024)

enum cause { LOCK, CODE, DISK };

struct table {
    pthread_mutex_t lock;
    enum cause cause;
    uint64_t root;
    int fd;
    _Atomic int error;
};

PLANTED static uint64_t look_up_table(struct table *table, uint64_t key)
{
    pthread_mutex_lock(&table->lock);
    uint64_t found = table->root ^ key;
    pthread_mutex_unlock(&table->lock);
    return found;
}

PLANTED static uint64_t rebuild_table(uint64_t seed)
{
    return mix(seed, REBUILD_STEPS);
}

PLANTED static int flush_log(int fd)
{
    static const char block[BLOCK] = { 1 };
    if (pwrite(fd, block, BLOCK, 0) != BLOCK)
        return errno ? errno : EIO;
    return fsync(fd) == 0 ? 0 : errno;
}

PLANTED static uint64_t answer_query(struct table *table, uint64_t key, int planted)
{
    uint64_t x = mix(look_up_table(table, key), STEPS);
    if (planted && table->cause == CODE)
        x = rebuild_table(x);
    if (planted && table->cause == DISK) {
        int error = flush_log(table->fd);
        if (error)
            table->error = error;
    }
    return x;
}

PLANTED static void hold_table(struct job *job, struct table *table)
{
    pthread_mutex_lock(&table->lock);
    workload_sleep_ns(job, HOLD_NS);
    table->root++;
    pthread_mutex_unlock(&table->lock);
}

static void *tail_main(void *arg)
{
    struct worker *worker = arg;
    struct table *table = worker->shared;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    if (table->cause == LOCK && worker->index == 0) {
        for (; !workload_over(worker->job); workload_sleep_ns(worker->job, HOLD_PAUSE_NS))
            hold_table(worker->job, table);
        return NULL;
    }
    for (; !workload_over(worker->job) && table->error == 0; ops++) {
        x = answer_query(table, x, ops % ONE_IN == ONE_IN - 1);
        workload_sleep_ns(worker->job, PAUSE_NS);
    }
    workload_sink = x;
    workload_done(worker->job, ops);
    return NULL;
}

static int tail(struct job *job, enum cause cause)
{
    struct table table = { .lock = PTHREAD_MUTEX_INITIALIZER, .cause = cause, .fd = -1 };
    if (cause == DISK) {
        const char *folder = getenv("TMPDIR");
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/ironlaw-tail-XXXXXX", folder && *folder ? folder : "/var/tmp");
        if (length < 0 || (size_t)length >= sizeof path)
            return ENAMETOOLONG;
        table.fd = mkstemp(path);
        if (table.fd < 0)
            return errno;
        unlink(path);
    }
    int error = workload_threads(job, job->threads + (cause == LOCK), "server", tail_main, &table);
    if (table.fd >= 0)
        close(table.fd);
    return error ? error : table.error;
}

int workload_tail_lock(struct job *job)
{
    return tail(job, LOCK);
}

int workload_tail_code(struct job *job)
{
    return tail(job, CODE);
}

int workload_tail_disk(struct job *job)
{
    return tail(job, DISK);
}
