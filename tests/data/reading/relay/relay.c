#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 256

struct session {
    char *user;
    int trusted;
};

static void end_session(struct session *session)
{
    free(session->user);
    session->trusted = 0;
}

/* USER name: a session begins again with another name. */
static void set_user(struct session *session, const char *name)
{
    char *copy = malloc(strlen(name) + 1);

    if (copy == NULL)
        return;
    strcpy(copy, name);
    free(session->user);
    session->user = copy;
}

/* LIST directory: what is in it. */
static void list(const char *directory)
{
    char command[LINE_MAX_LEN + 16];

    snprintf(command, sizeof command, "ls -- %s", directory);
    system(command);
}

static void answer(struct session *session, const char *line)
{
    if (strncmp(line, "USER ", 5) == 0)
        set_user(session, line + 5);
    else if (strncmp(line, "LIST ", 5) == 0)
        list(line + 5);
    else if (strcmp(line, "QUIT") == 0)
        end_session(session);
    else if (strcmp(line, "WHO") == 0 && session->user != NULL)
        puts(session->user);
}

int main(void)
{
    struct session session = {NULL, 0};
    char line[LINE_MAX_LEN];

    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        answer(&session, line);
    }
    return 0;
}
