// A program with probes as `sys/sdt.h` writes them: `tick` at two places and only while somebody watches it, `tock` at one.
// It prints how often it went by each; it calls `work` 200 times.
#include <stdio.h>

__extension__ volatile unsigned short tick_semaphore __attribute__((section(".probes"), used));

#define PROBE(name, semaphore) \
    __asm__ volatile("990: nop\n" \
        ".pushsection .note.stapsdt,\"\",\"note\"\n" \
        ".balign 4\n .4byte 992f-991f, 994f-993f, 3\n" \
        "991: .asciz \"stapsdt\"\n 992: .balign 4\n" \
        "993: .8byte 990b, _.stapsdt.base, " semaphore "\n" \
        ".asciz \"app\"\n .asciz \"" name "\"\n .asciz \"\"\n 994: .balign 4\n" \
        ".popsection\n" \
        ".ifndef _.stapsdt.base\n" \
        ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
        ".weak _.stapsdt.base\n .hidden _.stapsdt.base\n _.stapsdt.base: .space 1\n" \
        ".popsection\n .endif\n")

__attribute__((noinline)) static void work(long *calls) {
    __asm__ volatile("" : : : "memory");
    ++*calls;
}

int main(void) {
    long ticks = 0, tocks = 0, calls = 0;
    for (int i = 0; i < 1000; i++) {
        if (tick_semaphore) {
            PROBE("tick", "tick_semaphore");
            ticks++;
        }
        if (tick_semaphore && i % 10 == 0) {
            PROBE("tick", "tick_semaphore");
            ticks++;
        }
        if (i % 5 == 0) work(&calls);
        if (i % 4 == 0) {
            PROBE("tock", "0");
            tocks++;
        }
    }
    printf("%ld ticks, %ld tocks\n", ticks, tocks);
    return calls == 200 ? 0 : 1;
}
