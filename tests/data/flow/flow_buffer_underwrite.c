#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void before_the_start(void)
{
    int cells[10];
    int *p = cells - 2;
    p[0] = 1; /* ruleid: flow_buffer_underwrite */
}

void minus_one(const char *s)
{
    char copy[32];
    int at = -1;
    strncpy(copy, s, sizeof copy - 1);
    copy[at] = '\0'; /* ruleid: flow_buffer_underwrite */
}

void
down_to_minus_one (void)
{
  long v[8];
  int i;

  for (i = 7; i >= -1; i--)
    v[i] = i; /* ruleid: flow_buffer_underwrite */
  printf ("%ld", v[0]);
}

static void put(char *to)
{
    to[-4] = 'p'; /* ruleid: flow_buffer_underwrite */
}

void put_in_heap(void)
{
    char *p = malloc(16);
    if (!p)
        return;
    put(p);
    free(p);
}

void index_from_outside(void)
{
    int slots[16] = {0};
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return;
    int slot = atoi(text);
    if (slot < 16)
        slots[slot] = 1; /* ruleid: flow_buffer_underwrite */
    printf("%d", slots[0]);
}

void copied_before(const char *from)
{
    char area[20];
    char *to = area;
    to -= 8;
    memcpy(to, from, 4); /* ruleid: flow_buffer_underwrite */
    puts(area);
}

/* near misses */

void at_the_start(void)
{
    int cells[10];
    int *p = cells;
    p[0] = 1; /* ok: flow_buffer_underwrite */
}

void back_inside(void)
{
    char area[20] = {0};
    char *p = area + 5;
    p[-1] = 'x'; /* ok: flow_buffer_underwrite */
    p[-5] = 'y'; /* ok: flow_buffer_underwrite */
    puts(area);
}

void down_to_zero(void)
{
    long v[8];
    for (int i = 7; i >= 0; i--)
        v[i] = i; /* ok: flow_buffer_underwrite */
    printf("%ld", v[0]);
}

void index_tested_twice(void)
{
    int slots[16] = {0};
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return;
    int slot = atoi(text);
    if (slot < 0 || slot >= 16)
        return;
    slots[slot] = 1; /* ok: flow_buffer_underwrite */
    printf("%d", slots[0]);
}

void unsigned_index(void)
{
    int slots[16] = {0};
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return;
    unsigned slot = (unsigned)strtoul(text, NULL, 10);
    if (slot < 16)
        slots[slot] = 1; /* ok: flow_buffer_underwrite */
    printf("%d", slots[0]);
}

void moved_and_back(void)
{
    char area[20];
    char *to = area + 8;
    to -= 8;
    to[0] = 1; /* ok: flow_buffer_underwrite */
    printf("%d", area[0]);
}

void trim_newline(char *text)
{
    char line[40];
    strncpy(line, text, sizeof line - 1);
    line[39] = 0;
    size_t n = strlen(line);
    if (n > 0)
        line[n - 1] = 0; /* ok: flow_buffer_underwrite */
    puts(line);
}

struct slot { int use; int next; };
static struct slot *slots;
static int slot_count, first_free = -1;

static void give_back(int at)
{
    slots[at].use = 0;
    slots[at].next = first_free;
    first_free = at;
}

int take_slot(void)
{
    int at;
    if (first_free == -1) {
        slot_count++;
        slots = realloc(slots, slot_count * sizeof(*slots));
        if (!slots)
            abort();
        give_back(slot_count - 1);
    }
    at = first_free;
    slots[at].use = 1; /* ok: flow_buffer_underwrite */
    return at;
}

int take_no_slot(void)
{
    int at;
    if (first_free == -1) {
        slot_count++;
        slots = realloc(slots, slot_count * sizeof(*slots));
        if (!slots)
            abort();
    }
    at = first_free;
    slots[at].use = 1; /* ruleid: flow_buffer_underwrite */
    return at;
}

int written_at_least_once(const unsigned char *data, size_t len)
{
    char text[300], *to;
    size_t n;
    if (len > 0) {
        to = text;
        for (n = 0; n < len; n++) {
            put_hex(to, data[n]);
            to += 3;
        }
        *--to = 0; /* ok: flow_buffer_underwrite */
        return text[0];
    }
    return 0;
}
