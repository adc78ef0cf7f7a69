#include <stddef.h>

int name_check(const char *name)
{
    int length = 0;
    if (name == NULL)
        return 3;
    while (name[0]) {
        if (name[0] == '+' || name[0] == '#')
            return 3;
        length++;
        name = &name[1];
    }
    if (length > 65535)
        return 3;
    return 0;
}

int name_length(const char *name)
{
    int length = 0;
    if (name == NULL)
        return 0;
    while (name[length])
        length++;
    return length > 65535 ? 3 : 0;
}
