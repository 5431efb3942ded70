/* A buffer whose memory goes back to the kernel after each use: every page of it is a fault the next time. */
#include "situation.h"

enum { BYTES = 4 << 20 };

NOINLINE static void fill_buffer(char *buffer) { memset(buffer, 7, BYTES); }

static void *worker(void *number)
{
    char *buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(buffer, BYTES, MADV_NOHUGEPAGE);
    while (!over) {
        fill_buffer(buffer);
        madvise(buffer, BYTES, MADV_DONTNEED);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
