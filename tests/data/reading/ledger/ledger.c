#include <string.h>

#include "ledger.h"

/* A record: length of the name, the name, four bytes of the amount. */
static const unsigned char *read_entry(struct entry *entry, const unsigned char *at, const unsigned char *end)
{
    unsigned length;

    if (at == end)
        return NULL;
    length = *at++;
    if ((size_t)(end - at) < length + 4u)
        return NULL;
    memcpy(entry->name, at, length);
    entry->name[NAME_MAX_LEN - 1] = '\0';
    at += length;
    entry->amount = at[0] | at[1] << 8 | at[2] << 16 | (unsigned)at[3] << 24;
    return at + 4;
}

int ledger_read(struct ledger *ledger, const unsigned char *data, size_t size)
{
    const unsigned char *end = data + size;

    ledger->count = 0;
    while (data != end && ledger->count < ENTRIES_MAX) {
        data = read_entry(&ledger->entries[ledger->count], data, end);
        if (data == NULL)
            return -1;
        ledger->count++;
    }
    return 0;
}

unsigned ledger_amount(const struct ledger *ledger, unsigned at)
{
    if (at > ledger->count)
        return 0;
    return ledger->entries[at].amount;
}
