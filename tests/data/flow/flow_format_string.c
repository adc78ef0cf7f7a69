#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

void echo(void)
{
    char line[80];
    if (fgets(line, sizeof line, stdin))
        printf(line); /* ruleid: flow_format_string */
}

void log_peer(int sock)
{
    char message[128];
    int n = recv(sock, message, sizeof message - 1, 0);
    if (n <= 0)
        return;
    message[n] = 0;
    syslog(LOG_INFO, message); /* ruleid: flow_format_string */
}

void
greet (char *out, size_t room)
{
  const char *user = getenv ("USER");

  if (user)
    snprintf (out, room, user); /* ruleid: flow_format_string */
}

static void say(FILE *to, const char *what)
{
    fprintf(to, what); /* ruleid: flow_format_string */
}

void say_word(void)
{
    char word[20];
    if (scanf("%19s", word) == 1)
        say(stderr, word);
}

int main(int argc, char **argv)
{
    char banner[64] = "> ";
    if (argc > 1) {
        strncat(banner, argv[1], 32);
        printf(banner); /* ruleid: flow_format_string */
    }
    return 0;
}

static void say_all(const char *form, ...)
{
    va_list rest;
    va_start(rest, form);
    vprintf(form, rest); /* ruleid: flow_format_string */
    va_end(rest);
}

void say_line(void)
{
    char line[80];
    if (fgets(line, sizeof line, stdin))
        say_all(line);
}

/* near misses */

void echo_as_text(void)
{
    char line[80];
    if (fgets(line, sizeof line, stdin))
        printf("%s", line); /* ok: flow_format_string */
}

void chosen_format(int hex)
{
    const char *form = hex ? "%x\n" : "%d\n";
    printf(form, 12); /* ok: flow_format_string */
}

void callers_format(const char *form)
{
    printf(form); /* ok: flow_format_string */
}

void put_only(void)
{
    char line[80];
    if (fgets(line, sizeof line, stdin))
        fputs(line, stdout); /* ok: flow_format_string */
}

void built_format(int width)
{
    char form[16];
    snprintf(form, sizeof form, "%%%dd", width); /* ok: flow_format_string */
    printf(form, 3); /* ok: flow_format_string */
}

void input_replaced(void)
{
    char line[80];
    if (!fgets(line, sizeof line, stdin))
        return;
    strcpy(line, "done\n");
    printf(line); /* ok: flow_format_string */
}

static void tell(const char *form, const char *what)
{
    fprintf(stderr, form, what); /* ok: flow_format_string */
}

void tell_word(void)
{
    char word[20];
    if (scanf("%19s", word) == 1)
        tell("got %s\n", word);
}
