#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const tools[] = {"date", "uptime"};

void list_directory(void)
{
    char name[64], line[128];
    if (!fgets(name, sizeof name, stdin))
        return;
    snprintf(line, sizeof line, "ls %s", name);
    system(line); /* ruleid: flow_command_injection */
}

int run_editor(void)
{
    char *editor = getenv("EDITOR");
    if (!editor)
        return -1;
    return system(editor); /* ruleid: flow_command_injection */
}

FILE *
ask_whois (int sock)
{
  char host[100], command[200] = "whois ";
  ssize_t n = recv (sock, host, sizeof host - 1, 0);

  if (n <= 0)
    return NULL;
  host[n] = '\0';
  strcat (command, host);
  return popen (command, "r"); /* ruleid: flow_command_injection */
}

static void run(const char *what)
{
    system(what); /* ruleid: flow_command_injection */
}

int main(int argc, char **argv)
{
    if (argc > 1)
        run(argv[1]);
    return 0;
}

void by_shell(void)
{
    char script[256];
    if (fread(script, 1, sizeof script - 1, stdin) == 0)
        return;
    script[255] = 0;
    execl("/bin/sh", "sh", "-c", script, (char *)NULL); /* ruleid: flow_command_injection */
}

void second_hand(void)
{
    char word[32], *copy;
    if (scanf("%31s", word) != 1)
        return;
    copy = strdup(word);
    if (!copy)
        return;
    system(copy); /* ruleid: flow_command_injection */
    free(copy);
}

/* near misses */

void fixed(void)
{
    char line[64];
    snprintf(line, sizeof line, "ls %s", "/var/log");
    system(line); /* ok: flow_command_injection */
}

void from_table(void)
{
    unsigned which;
    if (scanf("%u", &which) != 1 || which > 1)
        return;
    system(tools[which]); /* ok: flow_command_injection */
}

void only_a_number(void)
{
    char text[20], line[64];
    if (!fgets(text, sizeof text, stdin))
        return;
    snprintf(line, sizeof line, "kill %d", atoi(text));
    system(line); /* ok: flow_command_injection */
}

void overwritten(void)
{
    char line[64];
    if (!fgets(line, sizeof line, stdin))
        return;
    strcpy(line, "sync");
    system(line); /* ok: flow_command_injection */
}

void compared_with_list(void)
{
    char word[32];
    const char *run_it = NULL;
    if (scanf("%31s", word) != 1)
        return;
    if (strcmp(word, "date") == 0)
        run_it = "date";
    if (run_it)
        system(run_it); /* ok: flow_command_injection */
}

void input_for_the_child(void)
{
    char line[80];
    FILE *mail = popen("mail root", "w"); /* ok: flow_command_injection */
    if (!mail)
        return;
    if (fgets(line, sizeof line, stdin))
        fputs(line, mail);
    pclose(mail);
}
