/* A journal that makes each record durable by itself: fsync for every 200 bytes. */
#include "situation.h"

static int journal;

NOINLINE static void commit_record(const char *record, size_t length)
{
    if (write(journal, record, length) < 0 || fsync(journal))
        exit(1);
}

static void *worker(void *number)
{
    char record[200];
    memset(record, 'r', sizeof record);
    while (!over) {
        sink = compute(20000);
        commit_record(record, sizeof record);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    journal = open("journal", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    run(seconds, worker);
}
