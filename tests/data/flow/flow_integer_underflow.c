#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int rest_of(void)
{
    char text[32];
    if (!fgets(text, sizeof text, stdin))
        return -1;
    int n = atoi(text);
    return n - 1; /* ruleid: flow_integer_underflow */
}

int below_the_least(void)
{
    int low = INT_MIN;
    return low - 1; /* ruleid: flow_integer_underflow */
}

unsigned
payload_length (int fd)
{
  uint32_t total;

  if (recv (fd, &total, sizeof total, 0) != sizeof total)
    return 0;
  return total - 8; /* ruleid: flow_integer_underflow */
}

static int less_ten(int n)
{
    return n - 10; /* ruleid: flow_integer_underflow */
}

int less_ten_from_env(void)
{
    const char *s = getenv("SLACK");
    if (s == NULL)
        return 0;
    return less_ten(atoi(s));
}

short down_at_the_end(void)
{
    short low = SHRT_MIN;
    low--; /* ruleid: flow_integer_underflow */
    return low;
}

int only_an_upper_bound(void)
{
    int n;
    if (scanf("%d", &n) != 1)
        return 0;
    if (n < 100)
        n -= 7; /* ruleid: flow_integer_underflow */
    return n;
}

/* near misses */

int rest_of_some(void)
{
    char text[32];
    if (!fgets(text, sizeof text, stdin))
        return -1;
    int n = atoi(text);
    if (n < 1)
        return -1;
    return n - 1; /* ok: flow_integer_underflow */
}

unsigned payload_length_tested(int fd)
{
    uint32_t total;
    if (recv(fd, &total, sizeof total, 0) != sizeof total)
        return 0;
    if (total < 8)
        return 0;
    return total - 8; /* ok: flow_integer_underflow */
}

int above_the_least(void)
{
    int low = INT_MIN + 5;
    return low - 1; /* ok: flow_integer_underflow */
}

int character_minus_zero(FILE *f)
{
    int c = fgetc(f);
    if (c == EOF)
        return 0;
    return c - '0'; /* ok: flow_integer_underflow */
}

int tested_by_limit(void)
{
    int n;
    if (scanf("%d", &n) != 1)
        return 0;
    if (n > INT_MIN + 7)
        n -= 7; /* ok: flow_integer_underflow */
    return n;
}

int plain_counting(int n)
{
    int left = 10;
    while (left > 0 && n)
        left--; /* ok: flow_integer_underflow */
    return left;
}

int digit_of_setting(void)
{
    const char *text = getenv("DEPTH");
    int depth = 0;
    while (text && *text >= '0' && *text <= '9')
        depth = *text++ - '0'; /* ok: flow_integer_underflow */
    return depth;
}
