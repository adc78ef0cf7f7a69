#include <stdio.h>
#include <stdlib.h>

int ask_number(void)
{
    char text[20];
    if (!fgets(text, sizeof text, stdin))
        return 0;
    return atoi(text);
}

int ask_small(void)
{
    char text[20];
    int n;
    if (!fgets(text, sizeof text, stdin))
        return 1;
    n = atoi(text);
    return n < 1 ? 1 : n > 9 ? 9 : n;
}

void ask_line(char *to, int room)
{
    if (!fgets(to, room, stdin))
        to[0] = 0;
}
