/* The workloads as a program of their own, with the command line of `ironlaw workload`: what tests profile hundreds of
 * times is read in no time, as most programs are, while a debug build of ironlaw has a hundred megabytes. With WORKLOAD_CPU set,
 * it also prints the CPU time that the kernel has charged it with. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int ironlaw_workload(const char *name, int threads, double seconds, uint64_t *ops);

/* The value of `--NAME VALUE` or `--NAME=VALUE`, or NULL. */
static const char *option(int argc, char **argv, const char *name)
{
    size_t length = strlen(name);
    for (int i = 2; i < argc; i++) {
        if (strncmp(argv[i], name, length) != 0)
            continue;
        if (argv[i][length] == '=')
            return argv[i] + length + 1;
        if (argv[i][length] == 0 && i + 1 < argc)
            return argv[i + 1];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "workload") != 0) {
        fprintf(stderr, "usage: %s workload NAME [--threads N] [--seconds S]\n", argv[0]);
        return 2;
    }
    const char *threads = option(argc, argv, "--threads"), *seconds = option(argc, argv, "--seconds");
    uint64_t ops;
    int error = ironlaw_workload(argv[2], threads ? atoi(threads) : 2, seconds ? atof(seconds) : 5, &ops);
    if (error) {
        fprintf(stderr, "workload %s: %s\n", argv[2], strerror(error));
        return 1;
    }
    printf("ops %" PRIu64 "\n", ops);
    struct timespec used;
    if (getenv("WORKLOAD_CPU") && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0)
        printf("cpu %jd.%09ld s\n", (intmax_t)used.tv_sec, used.tv_nsec);
    return 0;
}
