#include "hard.h"

#include <setjmp.h>

static jmp_buf place;

static void jump(int n)
{
    if (n > 3)
        longjmp(place, n);
}

int guarded(int n)
{
    int result = setjmp(place);
    if (!result)
        jump(n);
    return result;
}

int assembled(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

int into_loop(int n)
{
    int sum = 0;
    if (n > 5)
        goto inside;
    for (; n < 5; n++) {
        sum += 2;
inside:
        sum += n;
    }
    return sum;
}

int duff(int n)
{
    int left = (n + 3) / 4, sum = 0;
    switch (n % 4) {
    case 0:
        do {
            sum += 1;
    case 3:
            sum += 10;
    case 2:
            sum += 100;
    case 1:
            sum += 1000;
        } while (--left > 0);
    }
    return sum;
}

int computed(int n)
{
    static void *const labels[] = { &&zero, &&one };
    goto *labels[n & 1];
zero:
    return 10;
one:
    return 11;
}

int statements(int n)
{
    return ({ int twice = 2 * n; if (twice > 4) twice--; twice; }) + 1;
}

static int loop(int move)
{
    static int yield;
    yield += move;
    return yield;
}

int match(int type, int self)
{
    int async = loop(type);
    return async - loop(0) + self;
}

int unsafe(struct fn *in, int crate)
{
    in->use += crate;
    return in->impl + in->use;
}

int shared(int n)
{
    int dyn = n * 3;
    return dyn % 7;
}

int unreached(int n)
{
    return n;
}
