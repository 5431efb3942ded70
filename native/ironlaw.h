/* Count a program's operations for ironlaw: include this header, no library is needed (C11 or
 * C++11 by gcc or clang, on 64 bits; with -std=c11 also -D_GNU_SOURCE).
 *
 *     ironlaw_page *page = ironlaw_open("mydb", 64);      // once per process; 64: as many threads as will count
 *     uint64_t *mine = ironlaw_slot(page);                // once per thread
 *     ironlaw_add(mine, 1);                               // per operation
 *
 *     ironlaw record --ops page:mydb -p PID               // or top, sweep; or started by it: -- ./mydb
 *
 * How long operations take is counted too, in a page that has room for it (19 KB for each thread):
 *
 *     ironlaw_page *page = ironlaw_open_latency("mydb", 64);
 *     uint64_t begin = ironlaw_now();
 *     ...
 *     ironlaw_latency(mine, ironlaw_now() - begin);       // per operation; ironlaw_add counts it, this does not
 *
 *     ironlaw record --latency page:mydb -p PID
 *
 * An addition is a load and a store to a line that no other thread writes: 0.4 to 0.65 ns, measured as loops of 1e8
 * additions on an AMD EPYC virtual machine (gcc -O2); 2.5 ns in the slot that threads beyond the number share, more when
 * several use it at once. A latency is added in 0.6 to 1.2 ns there; ironlaw_now takes 35 ns.
 *
 * Nothing blocks, and nothing changes when nobody profiles. The page is the file /dev/shm/ironlaw-NAME, readable by its
 * owner only. It stays until it is deleted, so that a profiler may come late; the next run begins it anew. Processes that
 * have it open at the same time, workers of one server for instance, count in it together.
 *
 * After fork() the child must take a slot of its own: a slot that two threads write loses counts.
 *
 * Layout, in the machine's byte order: a line of head (see ironlaw_page), then the slots, a line each: a 64-bit count,
 * a 64-bit word that is 1 where threads share the slot, and the distance to the slot's latencies in 64-bit words, 0
 * without. Latencies follow the slots: for each slot, a 64-bit count for each step (see ironlaw_step). Programs and
 * profilers that know nothing of them read the rest as before. */
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
/* Steps of latency: below 128 ns one by one, above 64 in an octave, so 0.8 to 1.6% wide; the last begins at 73 minutes. */
#define IRONLAW_LATENCY_VERSION 1u
#define IRONLAW_STEPS 2369u

typedef struct ironlaw_page {
    uint64_t magic;    /* "IRONLAWP", written last: a page without it is not ready */
    uint32_t version;  /* IRONLAW_VERSION */
    uint32_t line;     /* bytes from one slot to the next, and of this head */
    uint32_t slots;    /* how many there are */
    uint32_t taken;    /* how many have been taken, those that got the shared last one included */
    uint64_t started;  /* CLOCK_REALTIME in nanoseconds when the counts began from nothing */
    uint32_t latency_version; /* IRONLAW_LATENCY_VERSION; 0 without latencies */
    uint32_t steps;           /* counts of latency for each slot */
    uint64_t latencies;       /* bytes from the page's begin to those of the first slot */
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
static inline int ironlaw_begin(int file, unsigned threads, int latency)
{
    /* One slot more, the last, for threads beyond the number given: they share it. */
    uint32_t slots = (threads == 0 ? 1 : threads < IRONLAW_MAX_SLOTS ? threads : IRONLAW_MAX_SLOTS - 1) + 1;
    size_t lines = (size_t)IRONLAW_LINE * (slots + 1);
    size_t size = lines + (latency ? (size_t)slots * IRONLAW_STEPS * sizeof(uint64_t) : 0);
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
    if (latency) {
        page->latency_version = IRONLAW_LATENCY_VERSION;
        page->steps = IRONLAW_STEPS;
        page->latencies = lines;
    }
    *((uint64_t *)(void *)((char *)page + lines - IRONLAW_LINE) + 1) = 1;
    __atomic_store_n(&page->magic, ironlaw_magic(), __ATOMIC_RELEASE);
    munmap(page, size);
    return 1;
}

/* Whether the page has latencies as this header counts them. */
static inline int ironlaw_has_latency(const ironlaw_page *page)
{
    return page->latency_version == IRONLAW_LATENCY_VERSION && page->steps == IRONLAW_STEPS;
}

/* Whether the latencies of all slots lie within the page of that size. */
static inline int ironlaw_latency_fits(const ironlaw_page *page, uint64_t size)
{
    return page->latencies % sizeof(uint64_t) == 0 && page->latencies <= size
           && (uint64_t)page->slots * IRONLAW_STEPS * sizeof(uint64_t) <= size - page->latencies;
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
        || page->line < 64 || (off_t)page->line * ((off_t)page->slots + 1) > info.st_size || page->slots < 2
        || (ironlaw_has_latency(page) && !ironlaw_latency_fits(page, (uint64_t)info.st_size))) {
        munmap(page, (size_t)info.st_size);
        errno = EPROTO;
        return NULL;
    }
    return page;
}

/* What ironlaw_open and ironlaw_open_latency do. */
static inline ironlaw_page *ironlaw_open_page(const char *name, unsigned threads, int latency)
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
        if (flock(file, LOCK_EX | LOCK_NB) == 0 && !ironlaw_begin(file, threads, latency))
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

/* Opens the page of that name, empty unless another process is counting in it. The name consists of letters, digits, '.',
 * '_' and '-'. Returns NULL with errno if it cannot; then ironlaw_slot and ironlaw_add still work, and count nothing. */
static inline ironlaw_page *ironlaw_open(const char *name, unsigned threads)
{
    return ironlaw_open_page(name, threads, 0);
}

/* The same with room for latencies, unless another process that counts in it began it without. */
static inline ironlaw_page *ironlaw_open_latency(const char *name, unsigned threads)
{
    return ironlaw_open_page(name, threads, 1);
}

/* A slot for the calling thread; NULL without a page. Threads beyond the number given to ironlaw_open share one: their
 * additions are atomic, and so exact, but slower. */
static inline uint64_t *ironlaw_slot(ironlaw_page *page)
{
    if (!page)
        return NULL;
    uint32_t own = page->slots - 1, taken = __atomic_fetch_add(&page->taken, 1, __ATOMIC_RELAXED);
    size_t at = taken < own ? taken : own, offset = (at + 1) * page->line;
    uint64_t *slot = (uint64_t *)(void *)((char *)page + offset);
    if (ironlaw_has_latency(page))
        slot[2] = (page->latencies - offset) / sizeof(uint64_t) + at * IRONLAW_STEPS;
    return slot;
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

/* The step that counts operations of so many nanoseconds. */
static inline uint64_t ironlaw_step(uint64_t nanoseconds)
{
    if (nanoseconds >> 42)
        return IRONLAW_STEPS - 1;
    unsigned octave = nanoseconds < 128 ? 0 : 57 - (unsigned)__builtin_clzll(nanoseconds);
    return octave * 64 + (nanoseconds >> octave);
}

/* Counts one operation that took so long. Only the thread that took the slot may call this. */
static inline void ironlaw_latency(uint64_t *slot, uint64_t nanoseconds)
{
    if (!slot || !slot[2])
        return;
    uint64_t *step = slot + slot[2] + ironlaw_step(nanoseconds);
    if (__builtin_expect(slot[1] != 0, 0))
        __atomic_fetch_add(step, 1, __ATOMIC_RELAXED);
    else
        __atomic_store_n(step, __atomic_load_n(step, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

/* A clock for latencies, nanoseconds. */
static inline uint64_t ironlaw_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#ifdef __cplusplus
}
#endif

#endif
