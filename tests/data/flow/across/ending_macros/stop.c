#include <stdlib.h>

void r_stop(const char *text, ...)
{
    complain(text);
    exit(1);
}
