/* Canaries: short walks through memory of our own, which tell how far caches, address translation and memory are from here
 * right now, and the streams of `doctor --health`, which tell how much of them there is.
 *
 * A walk follows pointers: each load's address is the value of the one before, so no prefetcher and no reordering hides its
 * latency, and time / loads is the time of one load. Its lines are visited in the order of one random cycle.
 *
 * A canary must not be the disturbance that it looks for. So a walk does not visit its whole region, but some lines of it:
 *
 *   level  lines                                          why these
 *   L2     as many as fill half of the L2                 twice over: the first round brings them in and is not timed
 *   LLC    as many as fill the L2 twice, spread over a    more than the L2 holds, so that each timed load misses it; few of
 *          region half as large as the LLC                the LLC's own lines, so that the target keeps its cache. Brought
 *                                                         in by two rounds, then left alone for a millisecond: what others
 *                                                         brought in meanwhile pushed some of them out
 *   DRAM   a thousand or two, spread over a region        each is flushed from every cache after the burst (clflush, dc civac),
 *          larger than the LLC                            so the next one finds it in memory and no line of it stays behind
 *   TLB    one in each of some thousand pages             they fit in the L2, but their translations fit in no TLB; the same
 *                                                         lines in huge pages need a handful of translations
 *
 * The walk goes on where it stopped, so a bounded burst visits all lines in turn.
 *
 * What is not told here: which level served a load. A region that lies in the LLC by its size may have been evicted: the time
 * then rises towards that of DRAM, and that is the signal. */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE 64u

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define BIND 2 /* MPOL_BIND of <numaif.h>, which not every system has installed */

static uint64_t next_random(uint64_t *state) {
    /* xorshift64*: the order must look random to a prefetcher, no more. */
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 2685821657736338717ull;
}

/* Maps `bytes`, with huge pages or without, on memory node `node` (below 0: wherever the first touch puts it). The mapping
 * is aligned to 2 MiB, as huge pages need it. Returns null with errno set. */
void *ironlaw_probe_map(size_t bytes, int huge, int node) {
    const size_t align = (size_t)2 << 20;
    size_t whole = bytes + align;
    char *base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    size_t head = (align - (uintptr_t)base % align) % align;
    if (head > 0) munmap(base, head);
    if (whole - head - bytes > 0) munmap(base + head + bytes, whole - head - bytes);
    base += head;
    /* Refused where the kernel has no huge pages: what was got is read from smaps later. */
    (void)madvise(base, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (node >= 0) {
        unsigned long mask[16] = {0};
        const unsigned bits = 8 * sizeof mask[0];
        if ((unsigned)node >= 16 * bits) {
            munmap(base, bytes);
            errno = EINVAL;
            return NULL;
        }
        mask[(unsigned)node / bits] = 1ul << ((unsigned)node % bits);
        if (syscall(SYS_mbind, base, bytes, BIND, mask, 16ul * bits + 1, 0) != 0) {
            int why = errno;
            munmap(base, bytes);
            errno = why;
            return NULL;
        }
    }
    return base;
}

void ironlaw_probe_unmap(void *base, size_t bytes) {
    munmap(base, bytes);
}

/* Asks once more for huge pages after the region has been touched; no answer is needed, see above. */
void ironlaw_probe_collapse(void *base, size_t bytes) {
    (void)madvise(base, bytes, MADV_COLLAPSE);
}

/* Links `lines` lines of the region into one random cycle: every `bytes / lines` bytes of it there is one, on a random line
 * of that stretch. `places` is room for `lines` offsets. Returns where the walk begins. */
void *ironlaw_probe_link(void *base, size_t bytes, uint32_t *places, uint32_t lines, uint64_t seed) {
    uint64_t state = seed | 1;
    size_t stretch = bytes / LINE / lines;
    for (uint32_t i = 0; i < lines; i++)
        places[i] = (uint32_t)(i * stretch + next_random(&state) % stretch);
    for (uint32_t i = lines - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(next_random(&state) % (i + 1));
        uint32_t swap = places[i];
        places[i] = places[j];
        places[j] = swap;
    }
    char *start = base;
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t to = places[i + 1 == lines ? 0 : i + 1];
        *(void **)(start + (size_t)places[i] * LINE) = start + (size_t)to * LINE;
    }
    return start + (size_t)places[0] * LINE;
}

/* Follows `loads` pointers from `from`; returns where it arrived. */
void *ironlaw_probe_walk(void *from, uint64_t loads) {
    void **at = from;
    for (; loads >= 8; loads -= 8) {
        at = *at; at = *at; at = *at; at = *at;
        at = *at; at = *at; at = *at; at = *at;
        /* The compiler must neither drop the loads nor merge rounds. */
        __asm__ volatile("" : "+r"(at));
    }
    for (; loads > 0; loads--) at = *at;
    __asm__ volatile("" : "+r"(at));
    return at;
}

/* Flushes every line of the cycle through `from` that a walk of `loads` would visit from every cache. Returns 0, or -1 where
 * a program may not flush. */
int ironlaw_probe_flush(void *from, uint64_t loads) {
#if defined(__x86_64__)
    void **at = from;
    for (; loads > 0; loads--) {
        void **next = *at;
        __asm__ volatile("clflush (%0)" : : "r"(at) : "memory");
        at = next;
    }
    __asm__ volatile("mfence" : : : "memory");
    return 0;
#elif defined(__aarch64__)
    void **at = from;
    for (; loads > 0; loads--) {
        void **next = *at;
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
        at = next;
    }
    __asm__ volatile("dsb ish" : : : "memory");
    return 0;
#else
    (void)from;
    (void)loads;
    return -1;
#endif
}

/* The CPU and node this thread is on; -1 where that is not known. */
int ironlaw_probe_cpu(int *node) {
    unsigned cpu = 0, where = 0;
    if (syscall(SYS_getcpu, &cpu, &where, NULL) != 0) {
        *node = -1;
        return -1;
    }
    *node = (int)where;
    return (int)cpu;
}

/* Streams. Reading sums into eight places at once, so that loads and not additions are waited for; writing and copying are
 * the C library's own, as programs do them: for regions like these it writes around the caches where that is faster. */
uint64_t ironlaw_probe_read(const void *base, size_t bytes) {
    const uint64_t *at = base;
    const uint64_t *end = at + bytes / sizeof *at / 32 * 32;
    uint64_t sum[8] = {0};
    for (; at < end; at += 32)
        for (int i = 0; i < 8; i++) sum[i] += at[i] + at[i + 8] + at[i + 16] + at[i + 24];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

void ironlaw_probe_write(void *base, size_t bytes, int value) {
    memset(base, value, bytes);
    __asm__ volatile("" : : "r"(base) : "memory");
}

void ironlaw_probe_copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    __asm__ volatile("" : : "r"(to) : "memory");
}
