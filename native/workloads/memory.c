/* Expected diagnosis: none. Where stream and the pointer chases get their memory. */
#include "memory.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* All threads together, so that hundreds of them leave a big machine alone. */
#define TOTAL_MOST (8192 * MIB)

size_t memory_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (size_t)page : 4096;
}

/* `32768K`; 0 where there is no such cache. */
static size_t cache_bytes(int index)
{
    char path[80], unit = 0;
    size_t size = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int fields = fscanf(file, "%9zu%c", &size, &unit);
    fclose(file);
    size_t scale = unit == 'K' ? 1024 : unit == 'M' ? MIB : unit == 'G' ? 1024 * MIB : 1;
    return fields >= 1 ? size * scale : 0;
}

size_t memory_llc(void)
{
    size_t largest = 0;
    for (int index = 0; index < 8; index++) {
        size_t size = cache_bytes(index);
        largest = size > largest ? size : largest;
    }
    return largest ? largest : 32 * MIB;
}

size_t memory_share(size_t wanted, int threads)
{
    long pages = sysconf(_SC_AVPHYS_PAGES);
    size_t total = pages > 0 ? (size_t)pages / 2 * memory_page() : TOTAL_MOST;
    size_t most = (total < TOTAL_MOST ? total : TOTAL_MOST) / (size_t)threads;
    size_t share = (wanted < most ? wanted : most) / MIB * MIB;
    return share ? share : MIB;
}

void *memory_map(size_t bytes, int huge)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    /* Advice: a kernel without large pages refuses it, and the workload runs with small ones. */
    madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return memory;
}

void memory_unmap(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}
