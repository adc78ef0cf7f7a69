#include "constructs.h"
#include <stdlib.h>
#include <string.h>

#define MIX(...) (hash = mix(hash, (uint64_t)(int64_t)(__VA_ARGS__)))
#define START uint64_t hash = 14695981039346656037u

struct shape shapes[3] = {
    { 1, .x = 4, 5, &shapes[2] },
    [2] = { .kind = 2, .radius = 2.5, .next = shapes },
};

static struct bits stored = { 5, -3, 1, 0xabcdef0123, 9, 6 };
static int matrix[3][4] = { 1, 2, 3, 4, 5, [2] = { [1] = 7, 8 } };
static char names[][6] = { "ab", { 'c', 'd' }, "sixsix" };
static const struct { const char *name; int (*size)(void); int *where; } table[] = {
    { "matrix", 0, &matrix[1][2] },
    { "names" + 1, 0, (int[]){ 3, 4 } },
    { .where = &((struct shape *)shapes)->kind },
};
static int sparse[100] = { [3] = 1, [50 ... 53] = 2, [99] = 3 };
static double numbers[2] = { 1, -2.5f };
static void *self = &self;
static long distance = 3 * sizeof(int) - 1;

struct __attribute__((packed)) record { char tag; int value; short pair[2]; };
struct message { int length; char text[]; };
struct spaced { char tag; char far __attribute__((aligned(8))); struct record inner; };
static struct spaced spaced[2] = { { 1, 2, { 'i', 3 } }, { .far = 4 } };
union word { uint32_t whole; uint8_t bytes[4]; struct { uint16_t low, high; } halves; };

struct shape make_shape(int kind, int x)
{
    struct shape made = { kind, .x = x, .y = -x };
    return kind ? made : (struct shape){ .kind = 9, .name = "zero" };
}

static int sum_shape(struct shape shape)
{
    shape.kind++;
    return shape.kind + shape.x;
}

static uint64_t check_records(void)
{
    START;
    struct shape a = make_shape(1, 6), b, *p = &a, list[2] = { a, { 3 } };
    b = a;
    b.next = &a;
    p->next = &b;
    p->next->next->y += 3;
    MIX(a.y), MIX(b.y), MIX(sum_shape(b)), MIX(b.kind), MIX(make_shape(0, 1).name[0]), MIX(list[0].x + list[1].kind);
    MIX((a.kind ? a : b).x), MIX((b = list[1]).kind), MIX(((struct shape){ .kind = 4 }).kind), MIX((a.kind, b).kind);
    p = &(struct shape){ 5, .radius = 1.5 };
    p->kind *= 2;
    MIX(p->kind), MIX(p->radius * 2), MIX(*(int[]){ 8, 9 }), MIX(((int[2]){ 8, 9 })[a.kind]);
    for (int i = 0; i < 3; i++)
        MIX(shapes[i].kind), MIX(shapes[i].next ? shapes[i].next->kind : -1);
    return hash;
}

static uint64_t check_bits(void)
{
    START;
    struct bits local = { .c = 1, .b = 15 }, *p = &stored;
    local.a = 9;
    local.b++;
    local.wide = ~0ull;
    local.d += 20;
    local.e = local.d--;
    p->a ^= 3;
    p->wide -= 0x123;
    MIX(local.a), MIX(local.b), MIX(local.c), MIX((uint64_t)local.wide + 1), MIX(local.d), MIX(local.e), MIX(local.a = 12);
    MIX(p->a), MIX(p->b), MIX(p->c), MIX(p->wide), MIX(p->d), MIX(p->e), MIX(p->b < -2), MIX(-p->a), MIX(p->a - 7 < 0);
    MIX(p->c++), MIX(p->c), MIX(p->b >>= 1), MIX(p->wide >> 30), MIX(sizeof(struct bits)), MIX(~local.a), MIX(!local.c);
    *p = local;
    MIX(p->d << 4 | p->e);
    return hash;
}

static uint64_t check_layouts(void)
{
    START;
    char *buffer = malloc(64);
    struct record packed = { 'r', 70000, { 3, -4 } }, *r = (struct record *)(buffer + 1);
    struct message *m = (struct message *)(void *)buffer;
    union word w = { 0x12345678 };
    *r = packed;
    r->value += 5;
    r->pair[1]--;
    MIX(r->value++), MIX(--r->value), MIX(r->pair[1]), MIX(sizeof(struct record)), MIX(offsetof(struct record, pair));
    memset(buffer, 0, 64);
    m->length = 3;
    for (int i = 0; i < m->length; i++)
        m->text[i] = (char)('a' + i);
    m->text[m->length] = 0;
    MIX(strlen(m->text)), MIX(buffer[6]), MIX(w.bytes[0]), MIX(w.halves.high), MIX(sizeof *m);
    w.halves.low = 0xffff;
    w.bytes[3] ^= 0xf;
    MIX(w.whole);
    free(buffer);
    struct spaced moved = { 5, 6, packed }, near = spaced[0];
    near.far += spaced[1].far + moved.inner.tag;
    MIX(near.far), MIX(near.inner.value), MIX(moved.far), MIX(sizeof moved), MIX(offsetof(struct spaced, inner));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            MIX(matrix[i][j]), MIX((&matrix[0][0])[i * 4 + j]);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        MIX(names[i][1]), MIX(names[i][5]);
    MIX(*table[0].where), MIX(table[1].name[0]), MIX(table[1].where[1]), MIX(*table[2].where);
    for (int i = 0; i < 100; i++)
        sparse[i] += sparse[(i + 50) % 100];
    MIX(sparse[3]), MIX(sparse[52]), MIX(sparse[99]), MIX(numbers[1] * 4), MIX(self == &self), MIX(distance);
    return hash;
}

static uint64_t check_pointers(void)
{
    START;
    int grid[3][4] = { { 0 } }, (*row)[4] = grid + 1, *cell = &grid[2][3];
    char text[] = "pointers", *s = text, **ps = &s;
    const void *v = text;
    void *none = NULL;
    (*row)[2] = 5;
    row[1][3] = 6;
    *cell += 1;
    while (**ps && *s != 'n')
        s++;
    MIX(grid[1][2]), MIX(grid[2][3]), MIX(cell - &grid[0][0]), MIX(s - text), MIX(*s--), MIX(*--s), MIX(s[1]);
    MIX((const char *)v + 3 == text + 3), MIX((uintptr_t)none), MIX(!none), MIX(none == 0), MIX(s != none);
    MIX((char *)(row + 1) - (char *)row), MIX(((unsigned char *)cell)[0]), MIX((intptr_t)(void *)-1), MIX(*ps == s);
    MIX(s - 1 < s), MIX(s >= text), MIX(&*cell == cell), MIX(&cell[-1] - cell), MIX(sizeof(grid[0])), MIX(*(s += 2));
    MIX((text + sizeof text - s) * 2), MIX(v + 1 > v), MIX(*(short *)(void *)grid[1] + 0);
    return hash;
}

static int shared = 5;
static unsigned long long wide_shared;

static uint64_t check_atomics(void)
{
    START;
    MIX(__sync_fetch_and_add(&shared, 3)), MIX(__sync_sub_and_fetch(&shared, 1)), MIX(__sync_or_and_fetch(&shared, 8));
    MIX(__sync_bool_compare_and_swap(&shared, 15, 4)), MIX(__sync_val_compare_and_swap(&shared, 99, 1)), MIX(shared);
    __atomic_store_n(&shared, 70, __ATOMIC_RELEASE);
    __sync_synchronize();
    MIX(__atomic_load_n(&shared, __ATOMIC_ACQUIRE)), MIX(__atomic_fetch_add(&wide_shared, 1u, __ATOMIC_RELAXED));
    MIX(__atomic_exchange_n(&shared, 2, __ATOMIC_SEQ_CST)), MIX(__atomic_add_fetch(&shared, 2, __ATOMIC_RELAXED));
    MIX(wide_shared);
    return hash;
}

const check type_checks[] = {
    { "records", check_records },
    { "bits", check_bits },
    { "layouts", check_layouts },
    { "pointers", check_pointers },
    { "atomics", check_atomics },
    { 0 },
};
