#include <stdlib.h>

int *table_of(const char *count_text)
{
    int count = atoi(count_text);
    int *table = malloc(count * sizeof *table);
    for (int i = 0; i < count; i++)
        table[i] = i;
    return table;
}
