#ifndef LEDGER_H
#define LEDGER_H

#include <stddef.h>

#define NAME_MAX_LEN 24
#define ENTRIES_MAX 8

struct entry {
    char name[NAME_MAX_LEN];
    unsigned amount;
};

struct ledger {
    struct entry entries[ENTRIES_MAX];
    unsigned count;
};

int ledger_read(struct ledger *ledger, const unsigned char *data, size_t size);
unsigned ledger_amount(const struct ledger *ledger, unsigned at);

#endif
