/* Expected diagnosis: a twentieth of every operation is 512-bit arithmetic, in scale_wide_block, and the rest scalar, in
 * decode_fields, on the same CPUs: where such instructions lower the clock of their core (Skylake-SP, Cascade Lake), both
 * get slower. `narrow-vectors` does the same work with vectors of 128 bits, and so does this on a CPU without AVX-512. */
#include "workload.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* 0.05 to 0.1 ms. */
#define SCALAR_STEPS 20000
#define VECTOR_ROUNDS 90

typedef double vector __attribute__((vector_size(64), aligned(8)));

#define SCALE(values)                                        \
    do {                                                     \
        vector v = *(values);                                \
        for (int i = 0; i < VECTOR_ROUNDS; i++) {            \
            v = v * 0.5 + 1.0, v = v * 0.5 + 1.5;            \
            v = v * 0.5 + 2.0, v = v * 0.5 + 2.5;            \
            v = v * 0.5 + 3.0, v = v * 0.5 + 3.5;            \
            v = v * 0.5 + 4.0, v = v * 0.5 + 4.5;            \
        }                                                    \
        *(values) = v;                                       \
    } while (0)

PLANTED static void scale_narrow_block(vector *values)
{
    SCALE(values);
}

#ifdef __x86_64__
__attribute__((target("avx512f"))) PLANTED static void scale_wide_block(vector *values)
{
    SCALE(values);
}

/* By the instructions themselves: what GCC offers for it is not in a static program with musl. */
static int has_wide_vectors(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    /* The system keeps the registers of SSE, AVX and AVX-512. */
    return (low & 0xe6) == 0xe6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512F);
}
#else
#define scale_wide_block scale_narrow_block

static int has_wide_vectors(void)
{
    return 0;
}
#endif

PLANTED static uint64_t decode_fields(uint64_t seed)
{
    return mix(seed, SCALAR_STEPS);
}

static void *scaler_main(void *arg)
{
    struct worker *worker = arg;
    const int *wide = worker->shared;
    uint64_t x = (uint64_t)worker->index, ops = 0;
    vector values = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0 };
    for (; !workload_over(worker->job); ops++) {
        x = decode_fields(x);
        if (*wide)
            scale_wide_block(&values);
        else
            scale_narrow_block(&values);
    }
    workload_sink = x + (uint64_t)values[x & 7];
    workload_done(worker->job, ops);
    return NULL;
}

int workload_wide_vectors(struct job *job)
{
    int wide = has_wide_vectors();
    return workload_threads(job, job->threads, "scaler", scaler_main, &wide);
}

int workload_narrow_vectors(struct job *job)
{
    int wide = 0;
    return workload_threads(job, job->threads, "scaler", scaler_main, &wide);
}
