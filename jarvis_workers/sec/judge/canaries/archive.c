#include <stdio.h>
#include <stdlib.h>

static int archive(const char *name)
{
    char command[512];

    snprintf(command, sizeof command, "tar czf backup.tgz '%s'", name);
    return system(command);
}

int main(void)
{
    char name[256];

    if (fscanf(stdin, "%255[^\n]", name) != 1)
        return 1;
    return archive(name);
}
