#include <stdio.h>

void file_done(FILE *f)
{
    fclose(f);
}

void file_rewind(FILE *f)
{
    rewind(f);
}

int file_open(FILE **out, const char *name)
{
    *out = fopen(name, "r");
    return *out != NULL;
}
