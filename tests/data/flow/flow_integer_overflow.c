#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct order { int units; int price; };

int bytes_for(const char *unused)
{
    char text[32];
    if (!fgets(text, sizeof text, stdin))
        return -1;
    int n = atoi(text);
    return n * 16; /* ruleid: flow_integer_overflow */
}

int at_the_end(void)
{
    int top = INT_MAX;
    return top + 1; /* ruleid: flow_integer_overflow */
}

short
widen_by_hand (void)
{
  short big = SHRT_MAX;

  big++; /* ruleid: flow_integer_overflow */
  return big;
}

int order_total(struct order *o)
{
    if (fscanf(stdin, "%d", &o->units) != 1)
        return 0;
    return o->units * 1000; /* ruleid: flow_integer_overflow */
}

static int twice(int n)
{
    return n * 2; /* ruleid: flow_integer_overflow */
}

int twice_from_env(void)
{
    const char *s = getenv("COUNT");
    if (!s)
        return 0;
    return twice(atoi(s));
}

int square_of_input(void)
{
    int side;
    if (scanf("%d", &side) != 1)
        return 0;
    if (side > 0)
        return side * side; /* ruleid: flow_integer_overflow */
    return 0;
}

unsigned add_header(int fd)
{
    uint32_t length;
    if (recv(fd, &length, sizeof length, 0) != sizeof length)
        return 0;
    return length + 24; /* ruleid: flow_integer_overflow */
}

/* near misses */

int bytes_for_few(void)
{
    char text[32];
    if (!fgets(text, sizeof text, stdin))
        return -1;
    int n = atoi(text);
    if (n < 0 || n > 1000)
        return -1;
    return n * 16; /* ok: flow_integer_overflow */
}

int below_the_end(void)
{
    int top = INT_MAX - 1;
    return top + 1; /* ok: flow_integer_overflow */
}

int add_tested(void)
{
    int a;
    if (scanf("%d", &a) != 1)
        return 0;
    if (a > INT_MAX - 10)
        return 0;
    return a + 10; /* ok: flow_integer_overflow */
}

long long wide_enough(void)
{
    int side;
    if (scanf("%d", &side) != 1)
        return 0;
    return (long long)side * side; /* ok: flow_integer_overflow */
}

int checked_builtin(void)
{
    int n, out;
    if (scanf("%d", &n) != 1 || __builtin_mul_overflow(n, 16, &out)) /* ok: flow_integer_overflow */
        return -1;
    return out;
}

int small_by_mask(void)
{
    int n;
    if (scanf("%d", &n) != 1)
        return 0;
    n &= 0xff;
    return n * 16; /* ok: flow_integer_overflow */
}

int one_byte(FILE *f)
{
    int c = fgetc(f);
    if (c == EOF)
        return 0;
    return c * 256 + 1; /* ok: flow_integer_overflow */
}

int divided(void)
{
    int n;
    if (scanf("%d", &n) != 1)
        return 0;
    return n / 2 + 1; /* ok: flow_integer_overflow */
}

unsigned read_length(void)
{
    unsigned char high = 0, low = 0;
    fscanf(stdin, "%hhu %hhu", &high, &low);
    return (unsigned)((high << 8) + low); /* ok: flow_integer_overflow */
}

int hashed(void)
{
    int key = get_random_u32();
    return key * 31; /* ruleid: flow_integer_overflow */
}

int drawn(void)
{
    int64_t key = rand64();
    int brand = brand32();
    brand = brand * 31; /* ok: flow_integer_overflow */
    return key * 31; /* ruleid: flow_integer_overflow */
}

int sum_of_characters(void)
{
    char name[16], title[8], unit[4];
    if (!fgets(name, sizeof name, stdin) || !fgets(title, sizeof title, stdin) || !fgets(unit, sizeof unit, stdin))
        return 1;
    return name[0] + title[0] + unit[0]; /* ok: flow_integer_overflow */
}

int cube_of_a_constant(void)
{
    int side = 77, cube = side * side * side; /* ok: flow_integer_overflow */
    if (cube == INT_MAX)
        return 0;
    return cube * cube; /* ruleid: flow_integer_overflow */
}

unsigned length_of_bytes(FILE *in)
{
    unsigned char part[4];
    unsigned length = 0;
    if (fread(part, 1, sizeof part, in) != sizeof part)
        return 0;
    for (int i = 0; i < 4; i++)
        length += part[i] << i * 8; /* ok: flow_integer_overflow */
    return length;
}

int sum_of_bytes(void)
{
    unsigned char sum = 0, part = 0;
    if (fscanf(stdin, "%hhu", &part) != 1)
        return -1;
    sum = sum + part + 200;
    return sum;
}
