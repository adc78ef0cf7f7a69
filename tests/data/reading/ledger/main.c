#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

static void show(const struct ledger *ledger)
{
    char line[NAME_MAX_LEN + 16];
    unsigned at;

    for (at = 0; at < ledger->count; at++) {
        snprintf(line, sizeof line, "%s %u", ledger->entries[at].name, ledger->entries[at].amount);
        puts(line);
    }
}

int main(void)
{
    static unsigned char data[4096];
    struct ledger *ledger = malloc(sizeof *ledger);
    size_t size = fread(data, 1, sizeof data, stdin);
    int wanted;

    if (ledger == NULL)
        return 1;
    memset(ledger, 0, sizeof *ledger);
    if (ledger_read(ledger, data, size) != 0)
        return 1;
    show(ledger);
    wanted = size != 0 ? data[size - 1] : 0;
    printf("%u\n", ledger_amount(ledger, (unsigned)wanted));
    free(ledger);
    return 0;
}
