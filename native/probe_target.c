/* Functions that do nothing, for measuring what a probe on a function's first instruction costs. The kernel emulates some
 * instructions and single-steps the others, which on a virtual machine costs ten times as much: hence one per kind. */

#define PROBE_TARGETS 4

#if defined(__x86_64__)
#define TARGET(name, first, rest) \
    __asm__(".text\n.balign 16\n.type " #name ",@function\n" #name ":\n" first "\n" rest "ret\n.size " #name ",.-" #name "\n"); \
    void name(void) __attribute__((visibility("hidden")))

TARGET(ironlaw_probe_push, "push %rbp", "pop %rbp\n");
TARGET(ironlaw_probe_nop, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00", "");
TARGET(ironlaw_probe_endbr, ".byte 0xf3, 0x0f, 0x1e, 0xfa", "");
TARGET(ironlaw_probe_other, "sub $8, %rsp", "add $8, %rsp\n");

static void (*const TARGETS[PROBE_TARGETS])(void) = { ironlaw_probe_push, ironlaw_probe_nop, ironlaw_probe_endbr,
                                                      ironlaw_probe_other };
#else
static __attribute__((noinline)) void probe_other(void)
{
    __asm__ volatile("" ::: "memory");
}

static void (*const TARGETS[PROBE_TARGETS])(void) = { probe_other, probe_other, probe_other, probe_other };
#endif

/* The address of the target of that kind: 0 push, 1 long nop, 2 endbr64, 3 anything else; NULL past the last. */
const void *ironlaw_probe_target(unsigned kind)
{
    return kind < PROBE_TARGETS ? (const void *)TARGETS[kind] : 0;
}

void ironlaw_probe_call(unsigned kind, unsigned times)
{
    if (kind < PROBE_TARGETS)
        for (unsigned i = 0; i < times; i++)
            TARGETS[kind]();
}
