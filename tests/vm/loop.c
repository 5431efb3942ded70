/* A program whose instructions are known beforehand: an operation retires 2000 of them, 1496 in heavy_part, 500 in
 * light_part and 4 in work, on every architecture, whatever the compiler.
 *
 *   loop OPS [THREADS [all]]   OPS operations in each thread, one thread after the other or all at once; prints
 *                              `ops TOTAL`
 *   loop --phases OPS          the heavy parts of OPS operations, then their light parts
 *   loop --beat PERIOD         until killed: interrupts each CPU every PERIOD cycles. QEMU sees that a counter of
 *                              instructions has overflown only when something else interrupts the CPU.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_THREADS 64

/* void work(uint64_t ops), ops > 0. A part is one instruction, TURNS times two, and the return. */
#define HEAVY_TURNS "747"
#define LIGHT_TURNS "249"
#define FUNCTION(name) "\n.globl " #name "\n.type " #name ", %function\n" #name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " #name ", . - " #name "\n"

#if defined(__aarch64__)
#define PART(name, turns) \
    FUNCTION(name) "mov x1, #" turns "\n1: subs x1, x1, #1\nb.ne 1b\nret\n" END(name)
#define WORK \
    FUNCTION(work) "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n" \
    "mov x29, sp\n1: bl heavy_part\nbl light_part\nsubs x0, x0, #1\nb.ne 1b\n" \
    "ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore 29\n.cfi_restore 30\nret\n" END(work)
#elif defined(__x86_64__)
#define PART(name, turns) FUNCTION(name) "movl $" turns ", %eax\n1: dec %eax\njnz 1b\nret\n" END(name)
#define WORK \
    FUNCTION(work) "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n" \
    "1: call heavy_part\ncall light_part\ndec %rdi\njnz 1b\npop %rbp\n.cfi_def_cfa_offset 8\nret\n" END(work)
#endif

__asm__(".text\n.balign 64\n" PART(heavy_part, HEAVY_TURNS) PART(light_part, LIGHT_TURNS) WORK);
void work(uint64_t ops);
void heavy_part(void), light_part(void);

static int phases(uint64_t ops)
{
    for (uint64_t op = 0; op < ops; op++)
        heavy_part();
    for (uint64_t op = 0; op < ops; op++)
        light_part();
    printf("ops %llu\n", (unsigned long long)ops);
    return 0;
}

static sem_t turn[MOST_THREADS + 1];
static uint64_t ops;

static void *worker(void *index)
{
    sem_t *mine = &turn[(uintptr_t)index];
    sem_wait(mine);
    if (ops > 0)
        work(ops);
    sem_post(mine + 1);
    return NULL;
}

static int beat(uint64_t period)
{
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
        struct perf_event_attr cycles;
        memset(&cycles, 0, sizeof cycles);
        cycles.size = sizeof cycles;
        cycles.type = PERF_TYPE_HARDWARE;
        cycles.config = PERF_COUNT_HW_CPU_CYCLES;
        cycles.sample_period = period;
        cycles.sample_type = PERF_SAMPLE_IP;
        if (syscall(SYS_perf_event_open, &cycles, -1, (int)cpu, -1, 0ul) < 0) {
            perror("loop: perf_event_open");
            return 1;
        }
    }
    pause();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--beat") == 0)
        return beat(strtoull(argv[2], NULL, 10));
    if (argc == 3 && strcmp(argv[1], "--phases") == 0)
        return phases(strtoull(argv[2], NULL, 10));
    long threads = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    if (argc < 2 || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: loop OPS [THREADS [all]]\n");
        return 2;
    }
    ops = strtoull(argv[1], NULL, 10);
    pthread_t running[MOST_THREADS];
    int at_once = argc > 3 && strcmp(argv[3], "all") == 0;
    for (long i = 0; i <= threads; i++)
        sem_init(&turn[i], 0, i == 0 || at_once);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&running[i], NULL, worker, (void *)i) != 0)
            return 1;
    worker((void *)0);
    for (long i = 1; i < threads; i++)
        pthread_join(running[i], NULL);
    printf("ops %llu\n", (unsigned long long)ops * (unsigned long long)threads);
    return 0;
}
