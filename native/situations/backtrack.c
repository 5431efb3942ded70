/* A pattern that a backtracking matcher tries in exponentially many ways: (a*)*b on a row of a. */
#include "situation.h"

NOINLINE static int match_group(const char *text, int depth)
{
    if (*text == 'b')
        return 1;
    if (depth == 0)
        return 0;
    for (const char *end = text; *end == 'a'; end++)
        if (match_group(end + 1, depth - 1))
            return 1;
    return 0;
}

NOINLINE static int parse_header(void)
{
    char line[] = "name: value, other: value, third: value";
    int found = 0;
    for (int at = 0; line[at]; at++)
        found += line[at] == ':';
    return found;
}

static void *worker(void *number)
{
    while (!over) {
        for (int at = 0; at < 100; at++)
            sink = (uint64_t)parse_header();
        sink = (uint64_t)match_group("aaaaaaaaaaaaaaac", 15);
        done((long)number);
    }
    return NULL;
}

int main(int argc, char **argv) { run(arguments(argc, argv), worker); }
