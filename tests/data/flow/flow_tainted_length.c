#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct packet { uint16_t kind; uint32_t length; unsigned char body[256]; };

void straight_copy(int s, unsigned char *buffer, const unsigned char *packet)
{
    uint32_t n;
    if (recv(s, &n, sizeof n, 0) < 0)
        return;
    memcpy(buffer, packet, n); /* ruleid: flow_tainted_length */
}

void signed_test(int s, char *out, const char *in)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return;
    int n = atoi(text);
    if (n < 200)
        memcpy(out, in, n); /* ruleid: flow_tainted_length */
}

void
packet_body (int s, unsigned char *to)
{
  struct packet p;

  if (recv (s, &p, sizeof p, 0) <= 0)
    return;
  memcpy (to, p.body, p.length); /* ruleid: flow_tainted_length */
}

static void move(char *to, const char *from, size_t n)
{
    memmove(to, from, n); /* ruleid: flow_tainted_length */
}

void move_by_env(char *to, const char *from)
{
    const char *n = getenv("COPY");
    if (n)
        move(to, from, strtoul(n, NULL, 0));
}

void wipe(char *area)
{
    unsigned n;
    if (scanf("%u", &n) == 1)
        memset(area, 0, n); /* ruleid: flow_tainted_length */
}

void bounded_text(char *to, const char *from)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return;
    strncpy(to, from, atoi(text)); /* ruleid: flow_tainted_length */
}

/* near misses */

void tested_copy(int s, const unsigned char *packet)
{
    unsigned char buffer[64];
    uint32_t n;
    if (recv(s, &n, sizeof n, 0) < 0)
        return;
    if (n > sizeof buffer)
        return;
    memcpy(buffer, packet, n); /* ok: flow_tainted_length */
}

void packet_body_tested(int s, unsigned char *to)
{
    struct packet p;
    if (recv(s, &p, sizeof p, 0) <= 0)
        return;
    if (p.length > sizeof p.body)
        p.length = sizeof p.body;
    memcpy(to, p.body, p.length); /* ok: flow_tainted_length */
}

void both_tests(char *out, const char *in)
{
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return;
    int n = atoi(text);
    if (n > 0 && n < 200)
        memcpy(out, in, n); /* ok: flow_tainted_length */
}

void callers_length(char *to, const char *from, size_t n)
{
    memcpy(to, from, n); /* ok: flow_tainted_length */
}

void what_was_received(int s, char *to)
{
    char buffer[128];
    ssize_t got = recv(s, buffer, sizeof buffer, 0);
    if (got <= 0)
        return;
    memcpy(to, buffer, got); /* ok: flow_tainted_length */
}

void length_of_line(char *to)
{
    char line[60];
    if (!fgets(line, sizeof line, stdin))
        return;
    memcpy(to, line, strlen(line) + 1); /* ok: flow_tainted_length */
}

#define LEAST(a, b) ((a) < (b) ? (a) : (b))

void least_of_two(char *to, const char *from)
{
    unsigned n;
    if (scanf("%u", &n) == 1)
        memcpy(to, from, LEAST(n, 32u)); /* ok: flow_tainted_length */
}
