#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>

#define ITEMS_MAX 512

void *from_environment(void)
{
    const char *text = getenv("ITEMS");
    if (!text)
        return NULL;
    return malloc(strtoul(text, NULL, 10)); /* ruleid: flow_tainted_size */
}

int *from_first_line(FILE *in)
{
    char line[40];
    if (!fgets(line, sizeof line, in))
        return NULL;
    int n = atoi(line);
    return calloc(n, sizeof(int)); /* ruleid: flow_tainted_size */
}

char *
from_socket (int sock)
{
  uint32_t length;

  if (recv (sock, &length, sizeof length, 0) != sizeof length)
    return NULL;
  return malloc (length); /* ruleid: flow_tainted_size */
}

static void *take(size_t n)
{
    return malloc(n); /* ruleid: flow_tainted_size */
}

void *by_helper(void)
{
    unsigned n;
    if (scanf("%u", &n) != 1)
        return NULL;
    return take(n);
}

int by_argument(int argc, char **argv);
int main(int argc, char **argv)
{
    char *p;
    if (argc < 2)
        return 1;
    p = malloc(atoi(argv[1])); /* ruleid: flow_tainted_size */
    free(p);
    return 0;
}

void *only_not_zero(void)
{
    unsigned n;
    if (scanf("%u", &n) != 1 || n == 0)
        return NULL;
    return malloc(n); /* ruleid: flow_tainted_size */
}

/* A count of records in the header of a file, with the size of each. */
struct header {
    uint32_t magic;
    uint32_t records;
};

void *table_of_file(FILE *in)
{
    struct header head;
    if (fread(&head, sizeof head, 1, in) != 1 || head.magic != 0x31424454)
        return NULL;
    return malloc((size_t)head.records * 24); /* ruleid: flow_tainted_size */
}

/* The length of a chunk, in hexadecimal digits. */
char *chunk_of_body(FILE *in)
{
    char line[16];
    if (!fgets(line, sizeof line, in))
        return NULL;
    unsigned long length = strtoul(line, NULL, 16);
    return malloc(length + 2); /* ruleid: flow_tainted_size */
}

/* near misses */

/* The length must be within what the message may have. */
unsigned char *payload(int sock)
{
    uint16_t length;
    if (recv(sock, &length, sizeof length, 0) != sizeof length)
        return NULL;
    if (length == 0 || length >= ITEMS_MAX)
        return NULL;
    return malloc(length); /* ok: flow_tainted_size */
}

int *bounded_first_line(FILE *in)
{
    char line[40];
    if (!fgets(line, sizeof line, in))
        return NULL;
    int n = atoi(line);
    if (n < 1 || n > ITEMS_MAX)
        return NULL;
    return calloc(n, sizeof(int)); /* ok: flow_tainted_size */
}

char *clipped_socket(int sock)
{
    uint32_t length;
    if (recv(sock, &length, sizeof length, 0) != sizeof length)
        return NULL;
    if (length > 4096)
        length = 4096;
    return malloc(length); /* ok: flow_tainted_size */
}

char *size_of_text(FILE *in)
{
    char line[40];
    if (!fgets(line, sizeof line, in))
        return NULL;
    return malloc(strlen(line) + 1); /* ok: flow_tainted_size */
}

void *plain_parameter(size_t n)
{
    return malloc(n); /* ok: flow_tainted_size */
}

void *by_minimum(void)
{
    unsigned n;
    if (scanf("%u", &n) != 1)
        return NULL;
    n = n < 100 ? n : 100;
    return malloc(n); /* ok: flow_tainted_size */
}

void *one_of_a_few(void)
{
    unsigned n;
    if (scanf("%u", &n) != 1)
        return NULL;
    switch (n) {
    case 16:
    case 32:
        return malloc(n); /* ok: flow_tainted_size */
    default:
        return NULL;
    }
}

void *masked(void)
{
    unsigned n;
    if (scanf("%u", &n) != 1)
        return NULL;
    return malloc(n & 0xfff); /* ok: flow_tainted_size */
}
