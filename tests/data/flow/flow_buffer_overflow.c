#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 8
struct badge { char name[NAME_ROOM]; int level; };

void literal_too_long(void)
{
    char name[8];
    strcpy(name, "nine chars"); /* ruleid: flow_buffer_overflow */
    puts(name);
}

void one_past(void)
{
    int grid[12];
    for (int i = 0; i <= 12; i++)
        grid[i] = 0; /* ruleid: flow_buffer_overflow */
    printf("%d\n", grid[0]);
}

void
no_room_for_nul (void)
{
  char *copy = malloc (5);

  if (copy == NULL)
    return;
  strcpy (copy, "hello"); /* ruleid: flow_buffer_overflow */
  free (copy);
}

static void fill(unsigned char *to, unsigned n)
{
	memset(to, 0xff, n); /* ruleid: flow_buffer_overflow */
}

int fill_frame(void)
{
	unsigned char frame[16];

	fill(frame, 20);
	return frame[0];
}

void append_too_much(void)
{
    char path[10];
    strcpy(path, "/var/");
    strcat(path, "spool"); /* ruleid: flow_buffer_overflow */
    puts(path);
}

void heap_elements(void)
{
    int *v = malloc(10);
    if (!v)
        return;
    v[9] = 1; /* ruleid: flow_buffer_overflow */
    free(v);
}

void index_by_constant(int on)
{
    short marks[4] = {0};
    int at = 4;
    if (on)
        marks[at] = 1; /* ruleid: flow_buffer_overflow */
    printf("%d", marks[0]);
}

void copy_wrong_size(const struct badge *from)
{
    char level[4];
    memcpy(level, from->name, sizeof from->name); /* ruleid: flow_buffer_overflow */
    puts(level);
}

void terminator_outside(const char *s)
{
    char kept[16];
    strncpy(kept, s, sizeof kept);
    kept[sizeof kept] = '\0'; /* ruleid: flow_buffer_overflow */
    puts(kept);
}

void read_too_much(FILE *in)
{
    char line[64];
    if (fgets(line, 128, in)) /* ruleid: flow_buffer_overflow */
        puts(line);
}

/* near misses */

void literal_fits(void)
{
    char name[11];
    strcpy(name, "nine chars"); /* ok: flow_buffer_overflow */
    puts(name);
}

void within(void)
{
    int grid[12];
    for (int i = 0; i < 12; i++)
        grid[i] = 0; /* ok: flow_buffer_overflow */
    printf("%d\n", grid[0]);
}

void
room_for_nul (const char *given)
{
  char *copy = malloc (strlen (given) + 1);

  if (copy == NULL)
    return;
  strcpy (copy, given); /* ok: flow_buffer_overflow */
  free (copy);
}

static void fill_some(unsigned char *to, unsigned n)
{
	memset(to, 0xff, n); /* ok: flow_buffer_overflow */
}

int fill_frame_right(void)
{
	unsigned char frame[16];

	fill_some(frame, sizeof(frame));
	return frame[0];
}

void append_within(void)
{
    char path[11];
    strcpy(path, "/var/");
    strcat(path, "spool"); /* ok: flow_buffer_overflow */
    puts(path);
}

void heap_counted(void)
{
    int *v = malloc(10 * sizeof *v);
    if (!v)
        return;
    v[9] = 1; /* ok: flow_buffer_overflow */
    free(v);
}

void index_tested(int at)
{
    short marks[4] = {0};
    if (at >= 0 && at < 4)
        marks[at] = 1; /* ok: flow_buffer_overflow */
    printf("%d", marks[0]);
}

void clipped(const char *s)
{
    char kept[16];
    size_t n = strlen(s);
    if (n >= sizeof kept)
        n = sizeof kept - 1;
    memcpy(kept, s, n); /* ok: flow_buffer_overflow */
    kept[n] = '\0'; /* ok: flow_buffer_overflow */
    puts(kept);
}

void leaves_when_full(const char *s)
{
    char out[4];
    int n = 0;
    while (*s) {
        if (n == 4)
            break;
        out[n++] = *s++; /* ok: flow_buffer_overflow */
    }
    printf("%.*s", n, out);
}

void backwards(void)
{
    char digits[10];
    int at = 10;
    while (at-- > 0)
        digits[at] = (char)('0' + at); /* ok: flow_buffer_overflow */
    printf("%.10s", digits);
}

void masked_index(unsigned n)
{
    unsigned char ring[64] = {0};
    ring[n & 63] = 1; /* ok: flow_buffer_overflow */
    printf("%d", ring[n % 64]);
}

/* The sizes of types from headers that are not there are unknown, and so are numbers that are computed with them. */
#define IS_CONDITION_OR_ZERO(condition) (sizeof(char[1 - 2 * !(condition)]) - 1)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]) + IS_CONDITION_OR_ZERO(is_array(array)))
#define GREETING "good morning"
#define LENGTH_OF(text) (sizeof(text) - 1)
static const char *const colours[] = {"red", "green", "blue", NULL};

void counted_by_macro(void)
{
    struct from_elsewhere all[10];
    for (size_t i = 0; i < COUNT_OF(all); i++)
        all[i].used = 1; /* ok: flow_buffer_overflow */
    use(all);
}

void counted_by_macro_and_one(void)
{
    struct from_elsewhere all[10];
    for (size_t i = 0; i <= sizeof(all) / sizeof(*all); i++)
        all[i].used = 1; /* ruleid: flow_buffer_overflow */
    use(all);
}

void length_of_macro(void)
{
    char out[13];
    memcpy(out, GREETING, LENGTH_OF(GREETING)); /* ok: flow_buffer_overflow */
    out[12] = '\0'; /* ok: flow_buffer_overflow */
    puts(out);
}

void length_of_longer_macro(void)
{
    char out[8];
    memcpy(out, GREETING, LENGTH_OF(GREETING)); /* ruleid: flow_buffer_overflow */
    out[7] = '\0';
    puts(out);
}

void header_and_text(const char *text)
{
    char out[64];
    size_t room = sizeof(struct from_elsewhere) - 1;
    memcpy(out, text, room); /* ok: flow_buffer_overflow */
    if (room < sizeof(struct from_elsewhere) + 8)
        memset(out, 0, room); /* ok: flow_buffer_overflow */
    puts(out);
}

void below_unknown_size(size_t at)
{
    char out[64] = "";
    if (at < sizeof(struct from_elsewhere))
        out[at] = 'x'; /* ok: flow_buffer_overflow */
    puts(out);
}

void as_many_as_in_table(void)
{
    char **list = calloc(sizeof(colours) / sizeof(*colours), sizeof(char *));
    if (!list)
        return;
    list[0] = "none";
    list[3] = NULL; /* ok: flow_buffer_overflow */
    list[4] = NULL; /* ruleid: flow_buffer_overflow */
    free(list);
}

static int length_is_tested(struct badge *out, const char *line)
{
    if (strlen(line) >= sizeof out->name)
        return -1;
    strcpy(out->name, line); /* ok: flow_buffer_overflow */
    return 0;
}

static int length_is_tested_too_late(struct badge *out, const char *line)
{
    if (strlen(line) > sizeof out->name)
        return -1;
    strcpy(out->name, line); /* ruleid: flow_buffer_overflow */
    return 0;
}

void lines_of_input(void)
{
    char line[256];
    struct badge one;
    while (fgets(line, sizeof line, stdin)) {
        if (length_is_tested(&one, line) == 0)
            puts(one.name);
        if (length_is_tested_too_late(&one, line) == 0)
            puts(one.name);
    }
}
