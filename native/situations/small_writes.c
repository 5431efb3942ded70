/* Output without a buffer: a system call for every few bytes. */
#include "situation.h"

static int out;

NOINLINE static void emit_field(const char *field)
{
    if (write(out, field, 8) < 0)
        exit(1);
}

static void *worker(void *number)
{
    while (!over) {
        for (int at = 0; at < 20; at++)
            emit_field("field 8\n");
        sink = compute(500);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    out = open("/dev/null", O_WRONLY);
    run(seconds, worker);
}
