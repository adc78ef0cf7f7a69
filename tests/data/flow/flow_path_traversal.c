#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *open_named(void)
{
    char name[100];
    if (!fgets(name, sizeof name, stdin))
        return NULL;
    return fopen(name, "r"); /* ruleid: flow_path_traversal */
}

int
serve (int sock)
{
  char wanted[64], path[128];
  ssize_t n = recv (sock, wanted, sizeof wanted - 1, 0);

  if (n < 1)
    return -1;
  wanted[n] = 0;
  snprintf (path, sizeof path, "/srv/www/%s", wanted);
  return open (path, O_RDONLY); /* ruleid: flow_path_traversal */
}

FILE *config_from_env(void)
{
    const char *where = getenv("APP_CONFIG");
    if (where == NULL)
        return NULL;
    return fopen(where, "r"); /* ruleid: flow_path_traversal */
}

static FILE *reader(const char *name)
{
    return fopen(name, "rb"); /* ruleid: flow_path_traversal */
}

FILE *read_word(void)
{
    char word[40];
    if (scanf("%39s", word) != 1)
        return NULL;
    return reader(word);
}

int joined(void)
{
    char path[200] = "/var/spool/";
    char job[40];
    if (!fgets(job, sizeof job, stdin))
        return -1;
    strcat(path, job);
    return open(path, O_WRONLY | O_CREAT, 0600); /* ruleid: flow_path_traversal */
}

/* near misses */

FILE *open_fixed(void)
{
    char name[100];
    if (!fgets(name, sizeof name, stdin))
        return NULL;
    puts(name);
    return fopen("/etc/app.conf", "r"); /* ok: flow_path_traversal */
}

int by_number(void)
{
    char text[20], path[64];
    if (!fgets(text, sizeof text, stdin))
        return -1;
    snprintf(path, sizeof path, "/var/spool/job%d", atoi(text));
    return open(path, O_RDONLY); /* ok: flow_path_traversal */
}

FILE *callers_name(const char *name)
{
    return fopen(name, "r"); /* ok: flow_path_traversal */
}

FILE *replaced(void)
{
    char name[100];
    if (!fgets(name, sizeof name, stdin))
        return NULL;
    strcpy(name, "default.cfg");
    return fopen(name, "r"); /* ok: flow_path_traversal */
}

FILE *one_of_two(void)
{
    char word[16];
    const char *file = "a.txt";
    if (scanf("%15s", word) == 1 && word[0] == 'b')
        file = "b.txt";
    return fopen(file, "r"); /* ok: flow_path_traversal */
}

FILE *name_from_file_list(int n)
{
    static const char *const names[] = {"one", "two", "three"};
    if (n < 0 || n > 2)
        return NULL;
    return fopen(names[n], "r"); /* ok: flow_path_traversal */
}
