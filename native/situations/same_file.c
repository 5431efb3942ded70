/* Threads that do little but write to one file of a file system: its inode's lock lets one of them in. */
#include "situation.h"

static int file;

NOINLINE static void store_block(long number, const char *block)
{
    if (pwrite(file, block, 65536, number * 65536) < 0)
        exit(1);
}

static void *worker(void *number)
{
    char *block = calloc(1, 65536);
    while (!over) {
        sink = compute(200);
        store_block((long)number, block);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    file = open("blocks", O_RDWR | O_CREAT | O_TRUNC, 0600);
    run(seconds, worker);
}
