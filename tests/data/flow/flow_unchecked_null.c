#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parcel {
    size_t weight;
    char *label;
    struct parcel *stacked;
};

struct parcel *wrap_parcel(size_t weight)
{
    struct parcel *made = malloc(sizeof *made);
    made->weight = weight; /* ruleid: flow_unchecked_null */
    made->label = NULL;
    made->stacked = NULL;
    return made;
}

char *label_copy(const char *given, size_t n)
{
    char *to = (char *)malloc(n + 1);
    memcpy(to, given, n); /* ruleid: flow_unchecked_null */
    to[n] = '\0';
    return to;
}

int count_lines(const char *name)
{
    int lines = 0, c;
    FILE *in = fopen(name, "r");
    while ((c = fgetc(in)) != EOF) /* ruleid: flow_unchecked_null */
        lines += c == '\n';
    fclose(in);
    return lines;
}

static int *number_row(int n)
{
    int *row = calloc(n, sizeof(int));
    int i = 0;
    do {
        row[i] = i * i; /* ruleid: flow_unchecked_null */
    } while (++i < n);
    return row;
}

static struct parcel *new_parcel(void)
{
    return calloc(1, sizeof(struct parcel));
}

size_t weigh_new(size_t w)
{
    struct parcel *p = new_parcel();
    size_t seen;
    p->weight = w; /* ruleid: flow_unchecked_null */
    seen = p->weight;
    free(p);
    return seen;
}

size_t home_length(void)
{
    const char *home = getenv("HOME");
    return strlen(home); /* ruleid: flow_unchecked_null */
}

int tested_the_wrong_one(struct parcel *old)
{
    struct parcel *fresh = malloc(sizeof(struct parcel));
    if (!old) {
        free(fresh);
        return -1;
    }
    *fresh = *old; /* ruleid: flow_unchecked_null */
    return (int)fresh->weight;
}

void
tested_too_late (size_t n)
{
  char *buffer = malloc (n);

  buffer[0] = 'x'; /* ruleid: flow_unchecked_null */
  if (buffer == NULL)
    return;
  free (buffer);
}

/* near misses */

struct parcel *wrap_parcel_with_care(size_t weight)
{
    struct parcel *made = malloc(sizeof *made);
    if (made) {
        made->weight = weight; /* ok: flow_unchecked_null */
        made->label = NULL;
    }
    return made;
}

char *label_copy_or_null(const char *given, size_t n)
{
    char *to;
    if ((to = malloc(n + 1)) == NULL)
        return NULL;
    memcpy(to, given, n); /* ok: flow_unchecked_null */
    to[n] = '\0';
    return to;
}

int count_lines_if_there(const char *name)
{
    int lines = 0, c;
    FILE *in = fopen(name, "r");
    if (!in)
        goto none;
    while ((c = fgetc(in)) != EOF) /* ok: flow_unchecked_null */
        lines += c == '\n';
    fclose(in);
none:
    return lines;
}

static void *get_or_die(size_t n)
{
    void *p = malloc(n);
    if (p == NULL) {
        perror("malloc");
        abort();
    }
    return p;
}

size_t weigh_certain(size_t w)
{
    struct parcel *p = get_or_die(sizeof *p);
    p->weight = w; /* ok: flow_unchecked_null */
    w += p->weight;
    free(p);
    return w;
}

static struct parcel *chk_new_parcel(size_t w)
{
	struct parcel *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (unlikely(!p))
		return ERR_PTR(-ENOMEM);
	p->weight = w; /* ok: flow_unchecked_null */
	return p;
}

size_t home_length_or_zero(void)
{
    const char *home = getenv("HOME");
    return home ? strlen(home) : 0; /* ok: flow_unchecked_null */
}

int two_at_once(size_t n)
{
    char *a = malloc(n), *b = malloc(n);
    if (!a || !b) {
        free(a);
        free(b);
        return -1;
    }
    a[0] = b[0] = 0; /* ok: flow_unchecked_null */
    free(a);
    free(b);
    return 0;
}

void
tested_in_time (size_t n)
{
  char *buffer = malloc (n);
  int ready = buffer != NULL;

  if (ready)
    buffer[0] = 'x'; /* ok: flow_unchecked_null */
  free (buffer);
}

static int take_parcel(struct parcel **out)
{
    *out = malloc(sizeof **out);
    return *out ? 0 : -1;
}

int uses_taken(void)
{
    struct parcel *p;
    if (take_parcel(&p) != 0)
        return 1;
    p->weight = 3; /* ok: flow_unchecked_null */
    free(p);
    return 0;
}

char *home_if_set(void)
{
    if (getenv("HOME"))
        return strdup(getenv("HOME")); /* ok: flow_unchecked_null */
    return NULL;
}

char *home_if_path_is_set(void)
{
    if (getenv("PATH"))
        return strdup(getenv("HOME")); /* ruleid: flow_unchecked_null */
    return NULL;
}

static int lend_room(struct yard *yard, size_t size, char **out)
{
    *out = yard->is_small ? NULL : malloc(size);
    if (yard->is_large) {
        *out = malloc(size);
        return *out ? YARD_DONE : YARD_LATER;
    }
    return YARD_DONE;
}

int use_room(struct yard *yard)
{
    char *room = NULL;
    if (lend_room(yard, 20, &room)) {
        free(room);
        return -1;
    }
    room[0] = 'a'; /* ok: flow_unchecked_null, flow_null_dereference */
    free(room);
    return 0;
}

static int lend_room_anyway(struct yard *yard, size_t size, char **out)
{
    *out = malloc(size);
    return yard->is_large ? YARD_DONE : YARD_LATER;
}

int use_room_anyway(struct yard *yard)
{
    char *room = NULL;
    if (lend_room_anyway(yard, 20, &room)) {
        free(room);
        return -1;
    }
    room[0] = 'a'; /* ruleid: flow_unchecked_null */
    free(room);
    return 0;
}

int filled_in_a_loop(int n)
{
    int i, *numbers = malloc(n * sizeof(int));
    for (i = 0; i < n; i++)
        numbers[i] = i; /* ruleid: flow_unchecked_null */
    for (i = 0; i < n; i++)
        if (numbers[i] > 3) /* ok: flow_unchecked_null */
            break;
    free(numbers);
    return i;
}

int filled_beside_a_loop(int n)
{
    int i, *numbers = malloc(n * sizeof(int));
    for (i = 0; i < n; i++)
        n--;
    numbers[0] = i; /* ruleid: flow_unchecked_null */
    free(numbers);
    return i;
}

struct shelf {
    char **slots[8];
};

int shelf_fill(struct shelf *shelf, int many)
{
    for (int row = 0; row < 8; row++) {
        char **slot = shelf->slots[row] = calloc(many, sizeof(*slot));
        if (!shelf->slots[row])
            return -1;
        slot[0] = "first"; /* ok: flow_unchecked_null */
    }
    return 0;
}

int shelf_fill_later(struct shelf *shelf, int many, int row)
{
    char **slot = calloc(many, sizeof(*slot));
    shelf->slots[row] = slot;
    if (shelf->slots[row] == NULL)
        return -1;
    slot[0] = "first"; /* ok: flow_unchecked_null */
    return 0;
}

int shelf_check_the_next(struct shelf *shelf, int many, int row)
{
    char **slot = shelf->slots[row] = calloc(many, sizeof(*slot));
    row++;
    if (!shelf->slots[row])
        return -1;
    slot[0] = "first"; /* ruleid: flow_unchecked_null */
    return 0;
}

int shelf_check_another(struct shelf *shelf, int many, int row, int other)
{
    char **slot = shelf->slots[row] = calloc(many, sizeof(*slot));
    shelf->slots[other] = NULL;
    if (!shelf->slots[row])
        return -1;
    slot[0] = "first"; /* ruleid: flow_unchecked_null */
    return 0;
}

void shelf_without_check(struct shelf *shelf, int many, int row)
{
    shelf->slots[row] = calloc(many, sizeof(char *));
    shelf->slots[row][0] = "first"; /* ruleid: flow_unchecked_null */
}

void rack_fill(char **rack, int slot);
int rack_next(int *slot);
int rack_find(int many);

void rack_filled_by_a_call(char **rack, int slot)
{
    rack[slot] = malloc(10);
    rack_fill(rack, slot);
    memset(rack[slot], 0, 10); /* ok: flow_unchecked_null */
}

void rack_moved_by_a_call(char **rack, int slot)
{
    rack[slot] = malloc(10);
    rack_next(&slot);
    memset(rack[slot], 0, 10); /* ok: flow_unchecked_null */
}

int rack_slot_of_a_block(char **rack, int slot, int many)
{
    rack[slot] = malloc(10);
    if (many) {
        int slot = rack_find(many);
        rack[slot][0] = 1; /* ok: flow_unchecked_null */
    }
    return rack[slot] != NULL;
}

int rack_in_turn(char **rack, int slot, int many)
{
    char *made;
    int have = 0;
    do {
        if (!rack[slot])
            return 0;
        if (have)
            made[0] = 1; /* ok: flow_unchecked_null */
        made = malloc(10);
        rack[slot] = made;
        have = 1;
    } while (many--);
    return 1;
}

static void rack_use(int *length, int slot, char *to, const char *from)
{
    if (length[slot] < 0 || length[slot] > 8)
        return;
    memcpy(to, from, length[slot]); /* ok: flow_tainted_length */
}

int rack_use_twice(char **rack, int slot, int other, const char *from)
{
    int length[2];
    char to[8];
    const char *given = getenv("RACK");
    rack[slot] = malloc(3);
    if (!rack[slot] || !given)
        return 1;
    length[0] = atoi(given);
    length[1] = 3;
    rack_use(length, other, to, from);
    rack_use(length, 0, to, from);
    return 0;
}
