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

/* The name in the header of an archive. */
int unpack_member(FILE *archive)
{
    char name[101];
    if (fread(name, 1, 100, archive) != 100)
        return -1;
    name[100] = 0;
    return open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644); /* ruleid: flow_path_traversal */
}

/* The name in a datagram of TFTP, after its two bytes of opcode. */
FILE *tftp_read(int sock)
{
    char packet[516];
    ssize_t got = recvfrom(sock, packet, sizeof packet - 1, 0, NULL, NULL);
    if (got < 4 || packet[1] != 1)
        return NULL;
    packet[got] = '\0';
    return fopen(packet + 2, "rb"); /* ruleid: flow_path_traversal */
}

/* A CGI program that opens what the query names. */
FILE *show_page(void)
{
    char path[256];
    const char *query = getenv("QUERY_STRING");
    if (query == NULL)
        return NULL;
    snprintf(path, sizeof path, "pages/%s.html", query);
    return fopen(path, "r"); /* ruleid: flow_path_traversal */
}

/* near misses */

FILE *state_file(const char *directory, unsigned long id)
{
    char path[256];
    snprintf(path, sizeof path, "%s/state-%08lx", directory, id);
    return fopen(path, "r"); /* ok: flow_path_traversal */
}

/* The answer only decides which of two fixed files is opened. */
int answered(int sock)
{
    char answer[8];
    if (recv(sock, answer, sizeof answer, 0) < 1)
        return -1;
    return open(answer[0] == 'y' ? "/run/app/on" : "/run/app/off", O_RDONLY); /* ok: flow_path_traversal */
}

/* What was read goes into the file, not into its name. */
int spooled(int sock)
{
    char text[512];
    ssize_t got = recv(sock, text, sizeof text, 0);
    int fd = open("/var/spool/app/last", O_WRONLY | O_CREAT, 0600); /* ok: flow_path_traversal */
    if (fd >= 0 && got > 0 && write(fd, text, (size_t)got) != got)
        got = -1;
    if (fd >= 0)
        close(fd);
    return got > 0 ? 0 : -1;
}

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
