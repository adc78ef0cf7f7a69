#include <stdio.h>
#include <string.h>

struct session { char user[32]; };

int set_user(struct session *s, const char *line)
{
    const char *end = strchr(line, '\0');
    if (end - line >= (int)sizeof s->user)
        return -1;
    strcpy(s->user, line);
    return 0;
}

int greet(struct session *s, FILE *in)
{
    char line[256];
    if (!fgets(line, sizeof line, in))
        return -1;
    return set_user(s, line);
}
