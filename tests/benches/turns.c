/* Two threads that wake each other and take turns, with some work in each: a switch a turn. Usage: turns SECONDS WORK. Prints ten
 * times a second: time, turns so far, CPU time of the process so far, all but the turns in seconds. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int turn;
static _Atomic int over;
static long work;
static volatile long turns[2];
static volatile unsigned long sink;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void take_turn(void)
{
    for (long i = 0; i < work; i++)
        sink += i;
}

static void *player(void *arg)
{
    int side = (int)(long)arg;
    while (!over) {
        while (turn != side && !over)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !side, NULL, NULL, 0);
        take_turn();
        turns[side]++;
        turn = !side;
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    double end = now(CLOCK_MONOTONIC) + atof(argv[1]);
    work = atol(argv[2]);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, player, (void *)i);
    while (now(CLOCK_MONOTONIC) < end) {
        usleep(100000);
        printf("%.6f %ld %.6f\n", now(CLOCK_MONOTONIC), turns[0] + turns[1], now(CLOCK_PROCESS_CPUTIME_ID));
        fflush(stdout);
    }
    over = 1;
    return 0;
}
