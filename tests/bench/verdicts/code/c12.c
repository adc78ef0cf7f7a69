#include <stdlib.h>

static int *table_of(int count)
{
    int *table = malloc(count * sizeof *table);
    if (table == NULL)
        return NULL;
    for (int i = 0; i < count; i++)
        table[i] = i;
    return table;
}

int *read_table(const char *count_text)
{
    char *end;
    long count = strtol(count_text, &end, 10);
    if (*end != '\0' || count <= 0 || count > 1000)
        return NULL;
    return table_of((int)count);
}
