#include <stdlib.h>

void run_it(const char *command)
{
    system(command);
}
