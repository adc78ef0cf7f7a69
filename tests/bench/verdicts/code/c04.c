#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int show_page(const char *page)
{
    char command[128];
    for (const char *c = page; *c; c++)
        if (!isalnum((unsigned char)*c))
            return -1;
    snprintf(command, sizeof command, "lynx -dump %s", page);
    return system(command);
}

int main(void)
{
    char page[64];
    if (scanf("%63s", page) != 1)
        return 1;
    return show_page(page);
}
