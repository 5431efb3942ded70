/* Generated code that is made writable and executable again for each patch, by every thread. */
#include "situation.h"

NOINLINE static void patch_code(char *page)
{
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    page[0]++;
    mprotect(page, 4096, PROT_READ);
}

static void *worker(void *number)
{
    char *page = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (!over) {
        patch_code(page + 4096);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
