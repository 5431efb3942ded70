/* Expected diagnosis: threads wait for storage: off the CPU in flush_block (fsync), little CPU, mostly in the kernel.
 * The file lies in TMPDIR, else /var/tmp; on a memory file system there is nothing to wait for.
 * `io-paced`: blocks come at the rate of `paced` divided by 20, and each also costs about 4 ms of CPU in pack_block: a
 * neighbour who keeps the storage busy makes every block wait longer, and none dearer. */
#include "pace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK (64 * 1024)
/* Blocks are overwritten from here on, so that a long run does not fill the disk. */
#define BLOCKS 256

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

static int write_blocks(struct job *job, int paced)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/ironlaw-io-XXXXXX", folder && *folder ? folder : "/var/tmp");
    if (length < 0 || (size_t)length >= sizeof path)
        return ENAMETOOLONG;
    struct file file = { .fd = mkstemp(path), .paced = paced, .pace = pace_begin(20) };
    if (file.fd < 0)
        return errno;
    unlink(path);
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
