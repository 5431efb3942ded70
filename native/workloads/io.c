/* Expected diagnosis: threads wait for storage: off the CPU in flush_block (fsync), little CPU, mostly in the kernel.
 * The file lies in TMPDIR, else /var/tmp; on a memory file system there is nothing to wait for.
 * `io-paced`: blocks come at the rate of `paced` divided by 20, and each also costs about 4 ms of CPU in pack_block: a
 * neighbour who keeps the storage busy makes every block wait longer, and none dearer.
 * `io-bulk`: every thread writes BULK bytes into new blocks of its own file and flushes them, in flush_block: whoever flushes
 * on the same file system waits for them as well. */
#include "pace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK (64 * 1024)
/* Blocks are overwritten from here on, so that a long run does not fill the disk. */
#define BLOCKS 256

/* What `io-bulk` writes before it flushes; as much per thread is on the disk at most. */
#define BULK (64 * 1024 * 1024)

/* Steps of the work in front of a paced block. */
#define PACK_STEPS 2000000

struct file {
    int fd;
    int paced;
    struct pace pace;
    _Atomic int error;
};

PLANTED static uint64_t pack_block(uint64_t seed)
{
    return mix(seed, PACK_STEPS);
}

PLANTED static int write_block(int fd, const char *block, off_t at)
{
    return pwrite(fd, block, BLOCK, at) == BLOCK ? 0 : errno ? errno : EIO;
}

PLANTED static int flush_block(int fd)
{
    return fsync(fd) == 0 ? 0 : errno;
}

static void *writer_main(void *arg)
{
    static const char block[BLOCK] = { 1 };
    struct worker *worker = arg;
    struct file *file = worker->shared;
    uint64_t due = workload_now_ns();
    for (uint64_t n = 0; !workload_over(worker->job) && file->error == 0; n++) {
        if (file->paced && n > 0)
            due = pace_wait(worker->job, &file->pace, due);
        if (file->paced)
            workload_sink = pack_block(n);
        off_t slot = (off_t)(((uint64_t)worker->index + n) % BLOCKS);
        int error = write_block(file->fd, block, slot * BLOCK);
        if (error == 0)
            error = flush_block(file->fd);
        if (error != 0)
            file->error = error;
        else
            workload_done(worker->job, 1);
    }
    return NULL;
}

/* A file without a name; below 0 with errno set. */
static int open_file(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/ironlaw-io-XXXXXX", folder && *folder ? folder : "/var/tmp");
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static int write_bulk(struct job *job, int fd)
{
    static const char block[BLOCK] = { 1 };
    int error = ftruncate(fd, 0) == 0 ? 0 : errno;
    for (off_t at = 0; at < BULK && error == 0 && !workload_over(job); at += BLOCK)
        error = write_block(fd, block, at);
    return error ? error : flush_block(fd);
}

static void *bulk_main(void *arg)
{
    struct worker *worker = arg;
    _Atomic int *failed = worker->shared;
    int fd = open_file(), error = fd < 0 ? errno : 0;
    while (error == 0 && !workload_over(worker->job) && *failed == 0) {
        error = write_bulk(worker->job, fd);
        if (error == 0)
            workload_done(worker->job, 1);
    }
    if (error)
        *failed = error;
    if (fd >= 0)
        close(fd);
    return NULL;
}

int workload_io_bulk(struct job *job)
{
    _Atomic int failed = 0;
    int error = workload_threads(job, job->threads, "writer", bulk_main, &failed);
    return error ? error : failed;
}

static int write_blocks(struct job *job, int paced)
{
    struct file file = { .fd = open_file(), .paced = paced, .pace = pace_begin(20) };
    if (file.fd < 0)
        return errno;
    int error = workload_threads(job, job->threads, "writer", writer_main, &file);
    close(file.fd);
    return error ? error : file.error;
}

int workload_io(struct job *job)
{
    return write_blocks(job, 0);
}

int workload_io_paced(struct job *job)
{
    return write_blocks(job, 1);
}
