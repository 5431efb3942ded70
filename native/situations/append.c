/* Text that is built by searching its end for every piece: the work for a page grows with the square of its length. */
#include "situation.h"

static int pieces;

NOINLINE static size_t end_of(const char *text)
{
    size_t length = 0;
    while (((const volatile char *)text)[length])
        length++;
    return length;
}

NOINLINE static void append_field(char *text, const char *field) { memcpy(text + end_of(text), field, 9); }

NOINLINE static uint64_t build_page(char *text)
{
    text[0] = 0;
    for (int at = 0; at < pieces; at++)
        append_field(text, "<td>8</td");
    return (uint64_t)text[0];
}

static void *worker(void *number)
{
    char *text = calloc(1, 1 << 20);
    while (!over) {
        sink = build_page(text);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = arguments(argc, argv);
    pieces = argc > 3 ? atoi(argv[3]) : 400;
    run(seconds, worker);
}
