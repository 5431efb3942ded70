/* Count a program's operations for ironlaw: include this header, no library is needed (C11 or
 * C++11 by gcc or clang, on 64 bits; with -std=c11 also -D_GNU_SOURCE).
 *
 *     ironlaw_page *page = ironlaw_open("mydb", 64);      // once per process; 64: as many threads as will count
 *     uint64_t *mine = ironlaw_slot(page);                // once per thread
 *     ironlaw_add(mine, 1);                               // per operation
 *
 *     ironlaw record --ops page:mydb -p PID               // or top, sweep; or started by it: -- ./mydb
 *
 * An addition is a load and a store to a line that no other thread writes: 0.4 to 0.65 ns, measured as loops of 1e8
 * additions on an AMD EPYC virtual machine (gcc -O2); 2.5 ns in the slot that threads beyond the number share, more when
 * several use it at once.
 *
 * Nothing blocks, and nothing changes when nobody profiles. The page is the file /dev/shm/ironlaw-NAME, readable by its
 * owner only. It stays until it is deleted, so that a profiler may come late; the next run begins it anew. Processes that
 * have it open at the same time, workers of one server for instance, count in it together.
 *
 * After fork() the child must take a slot of its own: a slot that two threads write loses counts.
 *
 * Layout, in the machine's byte order: a line of head (see ironlaw_page), then the slots, a line each: a 64-bit count, and
 * a 64-bit word that is 1 where threads share the slot. */
#ifndef IRONLAW_H
#define IRONLAW_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if !defined(__LP64__)
#error "ironlaw.h needs a 64-bit machine: elsewhere a 64-bit count is not written at once"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define IRONLAW_VERSION 1u
#define IRONLAW_MAX_SLOTS 65536u
/* x86 fetches its lines of 64 bytes in pairs, and some Arm cores have lines of 128. */
#define IRONLAW_LINE 128u

typedef struct ironlaw_page {
    uint64_t magic;    /* "IRONLAWP", written last: a page without it is not ready */
    uint32_t version;  /* IRONLAW_VERSION */
    uint32_t line;     /* bytes from one slot to the next, and of this head */
    uint32_t slots;    /* how many there are */
    uint32_t taken;    /* how many have been taken, those that got the shared last one included */
    uint64_t started;  /* CLOCK_REALTIME in nanoseconds when the counts began from nothing */
} ironlaw_page;

static inline uint64_t ironlaw_magic(void)
{
    uint64_t magic;
    memcpy(&magic, "IRONLAWP", sizeof magic);
    return magic;
}

static inline void *ironlaw_map(int file, size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Empties the page; the caller is alone with it. */
static inline int ironlaw_begin(int file, unsigned threads)
{
    /* One slot more, the last, for threads beyond the number given: they share it. */
    uint32_t slots = (threads == 0 ? 1 : threads < IRONLAW_MAX_SLOTS ? threads : IRONLAW_MAX_SLOTS - 1) + 1;
    size_t size = (size_t)IRONLAW_LINE * (slots + 1);
    struct timespec now;
    ironlaw_page *page;
    /* posix_fallocate and not ftruncate: where /dev/shm is full this fails, and no later addition can. */
    if (ftruncate(file, 0) || (errno = posix_fallocate(file, 0, (off_t)size))
        || !(page = (ironlaw_page *)ironlaw_map(file, size)))
        return 0;
    clock_gettime(CLOCK_REALTIME, &now);
    page->version = IRONLAW_VERSION;
    page->line = IRONLAW_LINE;
    page->slots = slots;
    page->started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    *((uint64_t *)(void *)((char *)page + size - IRONLAW_LINE) + 1) = 1;
    __atomic_store_n(&page->magic, ironlaw_magic(), __ATOMIC_RELEASE);
    munmap(page, size);
    return 1;
}

/* Joins others that count in the page. */
static inline ironlaw_page *ironlaw_join(int file)
{
    struct stat info;
    if (fstat(file, &info) || info.st_size < (off_t)sizeof(ironlaw_page))
        return NULL;
    ironlaw_page *page = (ironlaw_page *)ironlaw_map(file, (size_t)info.st_size);
    if (!page)
        return NULL;
    if (__atomic_load_n(&page->magic, __ATOMIC_ACQUIRE) != ironlaw_magic() || page->version != IRONLAW_VERSION
        || page->line < 64 || (off_t)page->line * ((off_t)page->slots + 1) > info.st_size || page->slots < 2) {
        munmap(page, (size_t)info.st_size);
        errno = EPROTO;
        return NULL;
    }
    return page;
}

/* Opens the page of that name, empty unless another process is counting in it. The name consists of letters, digits, '.',
 * '_' and '-'. Returns NULL with errno if it cannot; then ironlaw_slot and ironlaw_add still work, and count nothing. */
static inline ironlaw_page *ironlaw_open(const char *name, unsigned threads)
{
    char path[256];
    int length = snprintf(path, sizeof path, "/dev/shm/ironlaw-%s", name);
    if (length < 0 || (size_t)length >= sizeof path || strchr(name, '/')) {
        errno = EINVAL;
        return NULL;
    }
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct stat info;
    if (file < 0)
        return NULL;
    /* Anybody may make files there: a page of another user's would tell that user about this program. */
    if (fstat(file, &info) || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
        close(file);
        errno = EPERM;
        return NULL;
    }
    /* Whoever counts holds a shared lock; who gets the page for itself alone begins it anew. Nobody waits: the others hold
     * it alone only for the moment of beginning. The descriptor stays open, and with it the lock, until the process ends. */
    ironlaw_page *page = NULL;
    for (int tries = 0; tries < 10000 && !page; tries++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0 && !ironlaw_begin(file, threads))
            break;
        /* Not at once after the other: in between somebody may begin the page again, which is still empty. */
        if (flock(file, LOCK_SH | LOCK_NB) == 0)
            page = ironlaw_join(file);
        if (!page)
            sched_yield();
    }
    if (!page)
        close(file);
    return page;
}

/* A slot for the calling thread; NULL without a page. Threads beyond the number given to ironlaw_open share one: their
 * additions are atomic, and so exact, but slower. */
static inline uint64_t *ironlaw_slot(ironlaw_page *page)
{
    if (!page)
        return NULL;
    uint32_t own = page->slots - 1, taken = __atomic_fetch_add(&page->taken, 1, __ATOMIC_RELAXED);
    size_t at = taken < own ? taken : own;
    return (uint64_t *)(void *)((char *)page + (at + 1) * page->line);
}

/* Counts `operations` more. Only the thread that took the slot may call this. */
static inline void ironlaw_add(uint64_t *slot, uint64_t operations)
{
    if (!slot)
        return;
    if (__builtin_expect(slot[1] != 0, 0))
        __atomic_fetch_add(slot, operations, __ATOMIC_RELAXED);
    else
        __atomic_store_n(slot, __atomic_load_n(slot, __ATOMIC_RELAXED) + operations, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif

#endif
