/* Big memory for the workloads whose answer depends on where their data lies: cache, memory or behind the TLB.
 * It never takes more than half of what is free. */
#ifndef IRONLAW_MEMORY_H
#define IRONLAW_MEMORY_H

#include <stddef.h>

#define MIB ((size_t)1024 * 1024)

/* Size of an ordinary page. */
size_t memory_page(void);

/* Size of the last-level cache next to CPU 0, from sysfs; 32 MiB where it is not told. */
size_t memory_llc(void);

/* What each of `threads` threads may take when it wants `wanted` bytes: a multiple of 1 MiB, at least one. */
size_t memory_share(size_t wanted, int threads);

/* Fresh memory of no page yet, so that each part lies near the thread that first touches it; NULL: there is none.
 * `huge`: whether the kernel may use large pages for it. */
void *memory_map(size_t bytes, int huge);
void memory_unmap(void *memory, size_t bytes);

#endif
