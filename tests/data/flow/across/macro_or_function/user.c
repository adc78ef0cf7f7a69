#include <stdlib.h>
#include <string.h>
#include "provider.h"

int digits_of(const char *text, int base)
{
    void *one;
    char *copy = strdup(text);
    int failed = number_begin(&one);
    if (failed) {
        free(copy);
        return failed;
    }
    failed = number_read(one, copy, base);
    number_end(one);
    free(copy);
    return failed; /* ok: flow_memory_leak */
}
