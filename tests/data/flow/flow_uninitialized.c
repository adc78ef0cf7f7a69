#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vec { int x, y; };

int table_size(int known)
{
    int size;
    if (known)
        size = 4;
    return size; /* ruleid: flow_uninitialized */
}

int grade(int points)
{
    int mark;
    switch (points / 10) {
    case 10:
    case 9:
        mark = 1;
        break;
    case 8:
        mark = 2;
        break;
    }
    return mark * 10; /* ruleid: flow_uninitialized */
}

int last_even(const int *v, int n)
{
    int found;
    for (int i = 0; i < n; i++) {
        if (v[i] % 2 == 0)
            found = v[i];
    }
    return found; /* ruleid: flow_uninitialized */
}

static int
jump_over (int fast)
{
  int speed;

  if (fast)
    goto out;
  speed = 3;
out:
  return speed; /* ruleid: flow_uninitialized */
}

void wild_pointer(int n)
{
    char *where;
    if (n > 3)
        where = malloc(4);
    where[0] = 'w'; /* ruleid: flow_uninitialized */
}

int sum_of_heap(void)
{
    int *v = malloc(4 * sizeof *v);
    int sum;
    if (!v)
        return -1;
    v[0] = 1;
    sum = v[0] + v[2]; /* ruleid: flow_uninitialized */
    free(v);
    return sum;
}

int half_a_vec(int want)
{
    struct vec p;
    p.x = want;
    return p.x + p.y; /* ruleid: flow_uninitialized */
}

static void maybe_get(int *out, int have)
{
    if (have)
        *out = 7;
}

int out_parameter_not_set(void)
{
    int got;
    maybe_get(&got, 0);
    return got; /* ruleid: flow_uninitialized */
}

int counter_never_begun(const char *s)
{
    int n;
    while (*s++)
        n++; /* ruleid: flow_uninitialized */
    return 0;
}

/* near misses */

int table_size_known(int known)
{
    int size;
    if (known)
        size = 4;
    else
        size = 8;
    return size; /* ok: flow_uninitialized */
}

int grade_all(int points)
{
    int mark;
    switch (points / 10) {
    case 10:
        mark = 1;
        break;
    default:
        mark = 6;
    }
    return mark * 10; /* ok: flow_uninitialized */
}

int correlated(int mode)
{
    int amount;
    if (mode)
        amount = 12;
    puts("between");
    if (mode)
        return amount; /* ok: flow_uninitialized */
    return 0;
}

int read_in(const char *text)
{
    int value;
    if (sscanf(text, "%d", &value) != 1)
        return 0;
    return value; /* ok: flow_uninitialized */
}

static int get_pair(int *a, int *b)
{
    *a = 1;
    *b = 2;
    return 0;
}

int out_parameters(void)
{
    int a, b;
    get_pair(&a, &b);
    return a + b; /* ok: flow_uninitialized */
}

int zeroed_vec(void)
{
    struct vec p;
    memset(&p, 0, sizeof p);
    return p.x + p.y; /* ok: flow_uninitialized */
}

int filled_array(void)
{
    int v[6], sum = 0;
    for (int i = 0; i < 6; i++)
        v[i] = i;
    for (int i = 0; i < 6; i++)
        sum += v[i]; /* ok: flow_uninitialized */
    return sum;
}

int at_least_once(int n)
{
    int last;
    do {
        last = n--;
    } while (n > 0);
    return last; /* ok: flow_uninitialized */
}

int assigned_in_condition(FILE *f)
{
    int c;
    while ((c = fgetc(f)) != EOF && c != '\n')
        ;
    return c; /* ok: flow_uninitialized */
}

#define FETCH(v, from) ((v) = *(from))

int set_by_macro(const int *p)
{
    int v;
    FETCH(v, p);
    return v; /* ok: flow_uninitialized */
}

unsigned only_its_size(void)
{
    struct vec never;
    return sizeof(never) + sizeof never.x; /* ok: flow_uninitialized */
}

int leaves_before(int have)
{
    int v;
    if (!have)
        return -1;
    v = have * 2;
    return v; /* ok: flow_uninitialized */
}

struct tag {
    int length;
    char *label;
    char name[];
};

int flexible_array(const char *name, size_t n)
{
    struct tag *tag = malloc(sizeof(*tag) + n);
    if (!tag)
        return 0;
    strcpy(tag->name, name); /* ok: flow_uninitialized */
    n = strlen(tag->name);
    free(tag);
    return (int)n;
}

int pointer_beside_it(const char *name, size_t n)
{
    struct tag *tag = malloc(sizeof(*tag) + n);
    if (!tag)
        return 0;
    strcpy(tag->label, name); /* ruleid: flow_uninitialized */
    free(tag);
    return 0;
}

void row_as_address(struct tag *tags)
{
    char rows[2][8];
    for (int i = 0; i < 2; i++)
        tags[i].label = rows[i]; /* ok: flow_uninitialized */
    tags[0].length = 0;
}

#define COUNT(at) (*(unsigned *)(at))

unsigned counted_by_macro(void)
{
    unsigned *counts = malloc(8 * sizeof(unsigned)), n;
    if (!counts)
        return 0;
    COUNT(counts) = 3;
    n = COUNT(counts); /* ok: flow_uninitialized */
    free(counts);
    return n;
}

unsigned not_counted_by_macro(void)
{
    unsigned *counts = malloc(8 * sizeof(unsigned)), n;
    if (!counts)
        return 0;
    n = COUNT(counts); /* ruleid: flow_uninitialized */
    free(counts);
    return n;
}

unsigned counted_by_unknown_macro(void)
{
    unsigned *counts = malloc(8 * sizeof(unsigned)), n;
    if (!counts)
        return 0;
    FIRST_OF(counts) = 3;
    n = counts[0]; /* ok: flow_uninitialized */
    free(counts);
    return n;
}

int set_by_a_getter(void *process)
{
    unsigned code;
    if (GetExitCodeProcess(process, &code) && code != 259) /* ok: flow_uninitialized */
        return 1;
    return 0;
}

struct unknown_type;

unsigned units_of_unknown_type(const unsigned char *from)
{
    unsigned words[sizeof(struct unknown_type) / sizeof(short)], i;
    memset(words, 0, sizeof(words));
    for (i = 0; i < sizeof(struct unknown_type); i++)
        words[i / 2] |= from[i]; /* ok: flow_uninitialized */
    return words[0];
}

#define COUNT_OF(b) *((unsigned *)(b))

unsigned set_by_macro(void)
{
    unsigned char *block = malloc(64);
    unsigned n;
    if (!block)
        return 0;
    COUNT_OF(block) = 7;
    n = COUNT_OF(block); /* ok: flow_uninitialized */
    free(block);
    return n;
}

struct request { char *to; int size; };
void answer(struct request *);

int filled_through_a_struct(void)
{
    char room[16];
    struct request r;
    r.to = room;
    r.size = 16;
    answer(&r);
    return room[3]; /* ok: flow_uninitialized */
}

struct reader { const unsigned char *at, *end; int error; };
int refill(struct reader *r);

#define GET_NUMBER(p, v) (unsigned char)((*(p) < 0x80) ? ((v) = (unsigned)*(p)), 1 : get_long((p), (unsigned *)&(v)))

static int get_long(const unsigned char *p, unsigned *v)
{
    *v = p[0] << 7 | p[1];
    return 2;
}

unsigned set_by_macro(const unsigned char *p)
{
    unsigned size;
    GET_NUMBER(p, size);
    return size; /* ok: flow_uninitialized */
}

unsigned set_by_one_of_two(const unsigned char *p, int is_long)
{
    char *label = strdup("number");
    unsigned size;
    free(label);
    int used = is_long ? get_long(p, &size) : GET_NUMBER(p, size);
    return size + used; /* ok: flow_uninitialized */
}

unsigned set_by_condition(const unsigned char *p)
{
    char *label = strdup("number");
    unsigned size;
    free(label);
    int is_large = p && get_long(p, &size) > 1 && size > 10; /* ok: flow_uninitialized */
    return is_large;
}

static int read_word(struct reader *r, unsigned *word)
{
    if (r->at == r->end)
        return refill(r);
    *word = *r->at++;
    return 0;
}

unsigned first_word(struct reader *r)
{
    char *label = strdup("number");
    unsigned word;
    free(label);
    if (read_word(r, &word))
        return 0;
    return word; /* ok: flow_uninitialized */
}

static int read_word_quietly(struct reader *r, unsigned *word)
{
    if (r->at == r->end)
        return 0;
    *word = *r->at++;
    return 0;
}

unsigned first_word_or_any(struct reader *r)
{
    char *label = strdup("number");
    unsigned word;
    free(label);
    if (read_word_quietly(r, &word))
        return 0;
    return word; /* ruleid: flow_uninitialized */
}

int ends_first(const int *x)
{
    int t[8], i, sum = 0;
    t[0] = 1;
    t[7] = 7;
    for (i = 1; i < 7; i++)
        t[i] = x[i];
    for (i = 0; i < 8; i++)
        sum += t[i]; /* ok: flow_uninitialized */
    return sum;
}

int one_missing(const int *x)
{
    int t[8], i, sum = 0;
    for (i = 0; i < 7; i++)
        t[i] = x[i];
    for (i = 0; i < 8; i++)
        sum += t[i]; /* ruleid: flow_uninitialized */
    return sum;
}

int each_from_the_last(const int *count)
{
    int offset[16], i;
    offset[1] = 0;
    for (i = 1; i < 15; i++)
        offset[i + 1] = offset[i] + count[i]; /* ok: flow_uninitialized */
    return offset[15];
}

int product_of_halves(const int *x)
{
    int t[16], i, j, sum = 0;
    for (i = 0; i < 8; i++)
        t[i] = x[i];
    for (i = 0; i < 8; i++)
        for (j = i + 1; j < 8; j++)
            sum += t[j - i]; /* ok: flow_uninitialized */
    return sum;
}

static void lower(char *to, const char *from, int n)
{
    while (n) {
        *to = *from | 32;
        to++;
        from++;
        n--;
    }
}

int second_letter(const char *name, int n)
{
    char small[64];
    const char *p = small;
    lower(small, name, n);
    if (*p == 'a')
        p++;
    return *p; /* ok: flow_uninitialized */
}

int only_leaf(const int *weights, int n)
{
    int leaf[4], leaves = 0, i;
    for (i = 0; i < n; i++)
        if (weights[i])
            leaf[leaves++ & 3] = i;
    if (leaves == 0)
        return -1;
    return leaf[0]; /* ok: flow_uninitialized */
}

int parts_of(const char *text)
{
    int part[4];
    int *p = part;
    int n;
    while (*text) {
        if (p >= part + 3)
            return 0;
        *p++ = *text++;
    }
    n = p - part + 1;
    switch (n) {
    case 1:
        break;
    case 3:
        return part[0]; /* ok: flow_uninitialized */
    }
    return n;
}

static void fill_bytes(int n, unsigned char *bytes)
{
    int i;
    for (i = 0; i < n; i++)
        bytes[i] = (unsigned char)(7 * i);
}

unsigned filled_by_bytes(void)
{
    unsigned number;
    char *label = strdup("number");
    free(label);
    fill_bytes(sizeof(number), (unsigned char *)&number);
    return number; /* ok: flow_uninitialized */
}

struct sink { size_t *used; char *bytes; };

static struct sink *open_sink(char *bytes, size_t *used)
{
    struct sink *sink = malloc(sizeof(*sink));
    if (!sink)
        abort();
    sink->bytes = bytes;
    sink->used = used;
    return sink;
}

size_t bytes_in_sink(char *bytes)
{
    size_t used;
    struct sink *sink = open_sink(bytes, &used);
    fill_sink(sink);
    free(sink);
    return used; /* ok: flow_uninitialized */
}

int unused_without_tests(const char *name)
{
    char *copy = strdup(name);
    int depth;
    (void)depth; /* ok: flow_uninitialized */
    free(copy);
    return 0;
}

size_t message_length(unsigned code)
{
    char *message;
    char *copy = strdup("code");
    free(copy);
    format_message(code, (LPVOID)&message, 0);
    return strlen(message); /* ok: flow_uninitialized */
}

#define EACH_UP_TO(i, n) for (i = 0; i < (n); ++i)

void keep_squares(const long *from)
{
    long *copies = malloc(8 * sizeof(long));
    long squares[8], i, j;
    EACH_UP_TO(i, 8) squares[i] = from[i] * from[i]; /* ok: flow_uninitialized */
    squares[7] &= 15; /* ok: flow_uninitialized */
    EACH_UP_TO(i, 4) EACH_UP_TO(j, 2) squares[i + j] += from[i]; /* ok: flow_uninitialized */
    EACH_UP_TO(i,
        8)
        use(copies, squares[i]);
    free(copies);
}

int keep_squares_but_one(const long *from)
{
    long *copies = malloc(8 * sizeof(long));
    long i, last;
    EACH_UP_TO(i, 8) use(copies, from[i]);
    free(copies);
    return last; /* ruleid: flow_uninitialized */
}

int traced_without_semicolon(int size)
{
    char *text, *copy;

    SAY(("enter traced()"))
    text = malloc(size);
    if (!text) /* ok: flow_uninitialized */
        return 0;
    LABEL("one; ")  copy = strdup(text);
    free(text);
    text = copy; /* ok: flow_uninitialized */
    free(text);
    return 1;
}

typedef long ten_longs[10];
static void fill_longs(ten_longs to, long from);

static long sum_of_rows(ten_longs rows[3])
{
    fill_longs(rows[2], 7);
    return rows[1][0] + rows[2][9];
}

long filled_by_rows(void)
{
    ten_longs rows[3], row;
    char *copy = strdup("rows");
    fill_longs(rows[0], 1); /* ok: flow_uninitialized */
    fill_longs(row, 2); /* ok: flow_uninitialized */
    free(copy);
    return sum_of_rows(rows) + row[3]; /* ok: flow_uninitialized */
}

int sets_by_unknown_macro(int most)
{
    Item items[2];
    END_ITEMS(items[1]); /* ok: flow_uninitialized */
    return uses(items, most);
}

int passes_a_number(int most)
{
    int marks[2];
    return uses(marks[1], most); /* ruleid: flow_uninitialized */
}
