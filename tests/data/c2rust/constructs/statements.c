#include "constructs.h"
#include <string.h>

#define MIX(...) (hash = mix(hash, (uint64_t)(int64_t)(__VA_ARGS__)))
#define START uint64_t hash = 14695981039346656037u

static uint64_t check_loops(void)
{
    START;
    int i, j, n = 0;
    for (i = 0; i < 5; i++) {
        if (i == 1)
            continue;
        for (j = 0;; j++) {
            if (j == 3)
                break;
            if (j == i)
                continue;
            n = n * 3 + j;
        }
        do {
            if (n & 1)
                continue;
            n++;
        } while (n++ % 5);
    }
    while (1) {
        if (n++ > 40)
            break;
        switch (n % 4) {
        case 0:
            continue;
        case 1:
            n += 3;
        }
        MIX(n);
    }
    do {
        if (n > 3)
            break;
        n = 0;
    } while (0);
    for (int k = 3, m = 4; k-- && m;)
        for (int k = 0; k < 2; k++)
            MIX(k * m--);
    for (; i-- > 0;)
        ;
    MIX(i), MIX(n);
    return hash;
}

enum colour { RED, GREEN = 5, BLUE };

static int classify(int n, enum colour colour)
{
    int total = 0;
    switch (n) {
        int unused_initialiser;
    case 1:
    case 2:
        return 10;
    default:
        total += 100;
        /* falls through */
    case 3: {
        int total_2 = n * 2;
        total += total_2;
        break;
    }
    case 4 ... 6:
        unused_initialiser = n;
        total += unused_initialiser;
    case -7:
        if (n > 5)
            break;
        total++;
    }
    switch (colour) {
    case RED:
        total += 1;
        break;
    case GREEN:
        total += 2;
        break;
    case BLUE:;
    }
    switch (n & 3)
    case 1:
        total *= 2;
    switch ((unsigned char)n) {
    }
    switch ('a' + (n & 1)) {
    case 'a':
        total ^= 1;
    }
    switch (n) {
    default:
        total += 3;
    case 77:
        total += 5;
        break;
    case 78:
        total += 7;
    }
    return total;
}

static uint64_t check_switches(void)
{
    START;
    for (int n = -8; n < 9; n++)
        MIX(classify(n, n & 1 ? GREEN : n & 2 ? BLUE : RED));
    MIX(classify(77, RED)), MIX(classify(78, BLUE));
    return hash;
}

/* Duff's device. */
static void duplicate(char *to, const char *from, int count)
{
    int rounds = (count + 7) / 8;
    switch (count % 8) {
    case 0:
        do {
            *to++ = *from++;
        case 7: *to++ = *from++;
        case 6: *to++ = *from++;
        case 5: *to++ = *from++;
        case 4: *to++ = *from++;
        case 3: *to++ = *from++;
        case 2: *to++ = *from++;
        case 1: *to++ = *from++;
        } while (--rounds > 0);
    }
}

static int forward(int n)
{
    int result = -1;
    if (n == 0)
        goto out;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i * j == 6) {
                result = i * 10 + j;
                goto found;
            }
    result = 0;
    goto out;
found:
    result += 1000;
out:
    return result;
}

static int backward(int n)
{
    int tries = 0;
again:
    tries++;
    if (n % 7) {
        n += 3;
        if (tries > 50)
            goto give_up;
        goto again;
    }
    if (n % 2)
        return n;
    n /= 2;
    if (n)
        goto again;
give_up:
    return -tries;
}

static int into_loop(int n)
{
    int sum = 0, i = 2;
    if (n & 1)
        goto inside;
    for (i = 0; i < n; i++) {
        sum += 10;
    inside:
        sum += i;
        if (sum > 60)
            goto done;
        switch (i & 3) {
        case 2:
            sum++;
            break;
        case 3:
            continue;
        }
    }
    while (n-- > 0) {
        if (n == 2)
            goto middle;
        sum--;
        continue;
    middle:
        sum += 100;
    }
done:
    return sum;
}

static int computed(const char *program)
{
    static const void *const table[] = { &&add, &&twice, &&stop };
    int value = 1;
    goto *table[*program - '0'];
add:
    value += 3;
    goto *table[*++program - '0'];
twice:
    value *= 2;
    goto *table[*++program - '0'];
stop:
    return value;
}

/* A parser that suspends within loops, as bzip2's does. */
struct parser { int state, i, sum; };

static int resume(struct parser *p, const int *input, int count)
{
    int used = 0;
    switch (p->state) {
    case 0:
        p->sum = 0;
        for (p->i = 0; p->i < 3; p->i++) {
        case 1:
            p->state = 1;
            if (used >= count)
                return -1;
            if (input[used] < 0) {
                used++;
                p->sum -= 5;
                continue;
            }
            p->sum += input[used++];
        case 2:
            p->state = 2;
            if (used >= count)
                return -2;
            p->sum *= input[used++];
        }
        p->state = 3;
    default:
        return p->sum;
    }
}

static uint64_t check_jumps(void)
{
    START;
    char to[40];
    static const int input[] = { 1, 2, 3, -4, 5, 6, 7 };
    for (int n = 0; n < 12; n++) {
        struct parser p = { 0 };
        memset(to, 0, sizeof to);
        if (n)
            duplicate(to, "abcdefghijklmnopqrstuvwxyz0123456789", n * 3);
        MIX(to[0]), MIX(strlen(to));
        MIX(forward(n)), MIX(backward(n)), MIX(into_loop(n));
        for (int at = 0, result; at < 7; at++) {
            result = resume(&p, input + at, 1 + n % 2);
            MIX(result), MIX(p.state), MIX(p.i);
        }
    }
    MIX(computed("0112")), MIX(computed("2")), MIX(computed("100012"));
    return hash;
}

static int counter(void)
{
    static int count = 10;
    static struct { int last; char log[4]; } state = { .log = "ab" };
    int count_2 = count;
    {
        static int count = 3;
        count += count_2 & 1;
        state.log[count & 3]++;
        state.last = count;
    }
    return ++count + state.last + state.log[1];
}

static uint64_t check_scopes(void)
{
    START;
    int type = 1, self = 2, match = 3, loop = 4, mix_ = 5, shapes_ = 6;
    int calls = 7; /* like the variable of expressions.c */
    for (int i = 0; i < 4; i++) {
        int n = i;
        {
            int n = 5;
            n += i;
            MIX(n);
        }
        if (n) {
            int type = n * 2;
            MIX(type);
        } else
            MIX(type);
        MIX(counter()), MIX(n);
    }
    struct node { struct node *self; int n; } node = { &node, 4 };
    extern uint64_t mixed_values;
    MIX(type + self + match + loop + mix_ + shapes_ + calls), MIX(node.self->self->n), MIX(mixed_values);
    return hash;
}

const check statement_checks[] = {
    { "loops", check_loops },
    { "switches", check_switches },
    { "jumps", check_jumps },
    { "scopes", check_scopes },
    { 0 },
};
