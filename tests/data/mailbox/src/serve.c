#include "mailbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char greeting[16];

static void set_greeting(const char *host)
{
    strcpy(greeting, "mail for ");
    strncat(greeting, host, sizeof greeting - strlen(greeting) - 1);
}

static int notify(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "notify-send 'mail from %s'", name);
    return system(command);
}

int main(int argc, char **argv)
{
    char line[1024];
    set_greeting(argc > 1 ? argv[1] : "localhost");
    puts(greeting);
    while (fgets(line, sizeof line, stdin)) {
        struct letter *letter = read_letter(line);
        if (letter == NULL)
            continue;
        notify(letter->from);
        drop_letter(letter);
    }
    return 0;
}
