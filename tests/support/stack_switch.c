/* A program that switches stacks with code of its own, which no unwind table describes: frame pointers lead on. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

void on_stack(void (*work)(void), char *top);
__asm__(".text\n"
        ".globl on_stack\n"
        ".type on_stack, @function\n"
        "on_stack:\n"
#if defined(__x86_64__)
        "  push %rbp\n  mov %rsp, %rbp\n  mov %rsi, %rsp\n  call *%rdi\n  mov %rbp, %rsp\n  pop %rbp\n  ret\n"
#else
        "  stp x29, x30, [sp, #-16]!\n  mov x29, sp\n  mov sp, x1\n  blr x0\n  mov sp, x29\n  ldp x29, x30, [sp], #16\n  ret\n"
#endif
        ".size on_stack, . - on_stack\n");

__attribute__((noinline)) void leaf_work(void) {
    uint64_t x = 1;
    for (int i = 0; i < 200000; i++) x = x * 6364136223846793005ull + 1;
    sink += x;
}

__attribute__((noinline)) void other_stack(void) {
    leaf_work();
    sink++;
}

__attribute__((noinline)) void serve_request(char *top) {
    on_stack(other_stack, top);
    sink++;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    char *stack = malloc(1 << 16);
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        serve_request(stack + (1 << 16));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) + (now.tv_nsec - begun.tv_nsec) / 1e9 < seconds);
    return 0;
}
