/* Makes code without frame pointers while it runs, and describes it and its unwinding in a jitdump, as runtimes do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

/* sub $0x18, %rsp; call *%rdi; add $0x18, %rsp; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3};

/* A CIE, and an FDE whose code begins 48 bytes before its third word: 16 bytes of code, rounded up, and 32 of this. */
static const unsigned char table[] = {
    20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
    20, 0, 0, 0, 28, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, 11, 0, 0, 0, 0,
    0x44, 0x0e, 0x20, /* behind the sub */
    0x46, 0x0e, 0x08, /* behind the add */
    0,
    0, 0, 0, 0};

__attribute__((noinline)) void leaf_work(void) {
    uint64_t x = 1;
    for (int i = 0; i < 200000; i++) x = x * 6364136223846793005ull + 1;
    sink += x;
}

__attribute__((noinline)) void serve_request(void (*made)(void (*)(void))) {
    made(leaf_work);
    sink++;
}

static void put(int file, const void *bytes, size_t length) {
    if (write(file, bytes, length) != (ssize_t)length) abort();
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    void *made = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    char name[64];
    snprintf(name, sizeof name, "jit-%d.dump", getpid());
    int file = open(name, O_CREAT | O_TRUNC | O_RDWR, 0600);
    uint32_t header[] = {0x4a695444, 1, 40, 62, 0, getpid(), 0, 0, 0, 0};
    put(file, header, sizeof header);
    if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) abort();
    uint32_t unwinding[] = {4, 16 + 24 + sizeof table, 0, 0};
    uint64_t sizes[] = {sizeof table, 0, sizeof table};
    put(file, unwinding, sizeof unwinding);
    put(file, sizes, sizeof sizes);
    put(file, table, sizeof table);
    uint32_t load[] = {0, 16 + 40 + 11 + sizeof code, 0, 0, getpid(), getpid()};
    uint64_t place[] = {(uint64_t)made, (uint64_t)made, sizeof code, 1};
    put(file, load, sizeof load);
    put(file, place, sizeof place);
    put(file, "made_later", 11);
    put(file, code, sizeof code);
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        serve_request((void (*)(void (*)(void)))made);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) + (now.tv_nsec - begun.tv_nsec) / 1e9 < seconds);
    unlink(name);
    return 0;
}
