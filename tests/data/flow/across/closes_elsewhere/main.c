#include <stdio.h>
void file_done(FILE *f);
void file_rewind(FILE *f);
int file_open(FILE **out, const char *name);

int closed_there(const char *name)
{
    FILE *f = fopen(name, "r"); /* ok: flow_handle_leak */
    if (!f)
        return -1;
    file_done(f);
    return 0;
}

int closed_twice(const char *name)
{
    FILE *f = fopen(name, "r");
    if (!f)
        return -1;
    file_done(f);
    fclose(f); /* ruleid: flow_double_free */
    return 0;
}

int not_closed_there(const char *name)
{
    FILE *f = fopen(name, "r"); /* ruleid: flow_handle_leak */
    if (!f)
        return -1;
    file_rewind(f);
    return 0;
}

int opened_there(const char *name)
{
    FILE *f;
    int c;
    if (!file_open(&f, name))
        return -1;
    c = fgetc(f); /* ok: flow_unchecked_null */
    fclose(f);
    return c;
}
