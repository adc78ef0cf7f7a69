#include <stdio.h>
#include <string.h>

enum kind { PLAIN, QUOTED, KINDS };

static const char *name_of(enum kind kind)
{
    switch (kind) {
    case PLAIN:
        return "plain";
    case QUOTED:
        return "quoted";
    default:
        return "?";
    }
}

void describe(char *out, enum kind kind)
{
    char label[16];
    strcpy(label, name_of(kind));
    sprintf(out, "%.4s", label);
}
