#define _GNU_SOURCE
#include "constructs.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tentative;
_Thread_local int per_thread = 5;
static int order;
static _Thread_local int own_per_thread;
static const char *const names[] = {"clamp", "helper", "jvc_helper", "main"};
static jmp_buf back;

__attribute__((constructor)) static void first(void) { order = order * 10 + 1; }
__attribute__((constructor(200))) static void before(void) { order = order * 10 + 7; }
__attribute__((destructor)) static void last(void) { puts("destructor"); }

static int helper(int value) { return value + 1; }
static int triple(int value) { static int calls; return 3 * value + calls++; }
static int recursive(int value) { return value < 2 ? 1 : value * recursive(value - 1); }
int (*const operations[])(int) = {helper, triple, recursive, clamp};

__attribute__((weak)) int overridden(void) { return 1; }
static int same_name_inside(void) { return 10; }
int same_name(void) { return same_name_inside(); }
int renamed(int value) { return value - 1; }
int hidden_inside(int value) { return value ^ 3; }
int original(int value) { return value * 7; }
int aliased(int value) __attribute__((alias("original")));

static int generic(int value) { return value + 40; }
#ifdef __ELF__
static int (*choose(void))(int) { return generic; }
int chosen(int value) __attribute__((ifunc("choose")));
#endif

int classic(a, b) int a; char b; { return a + b; }

__attribute__((noinline)) struct big make_big(long seed)
{
    struct big made;
    for (size_t i = 0; i < sizeof made.values / sizeof *made.values; i++)
        made.values[i] = seed * (long)i;
    return made;
}

struct pair add_pairs(struct pair left, struct pair right)
{
    return (struct pair){left.real + right.real, left.count + right.count};
}

int sum_of(int count, ...)
{
    va_list arguments;
    int sum = 0;
    va_start(arguments, count);
    while (count--)
        sum += va_arg(arguments, int);
    va_end(arguments);
    return sum;
}

double mean_of(int count, ...)
{
    va_list arguments;
    double sum = 0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(arguments, double);
    va_end(arguments);
    return sum / count;
}

long double scale(long double value, float by, double plus, int i1, int i2, int i3, int i4, int i5, int i6, int i7)
{
    return value * by + plus + i1 + 2 * i2 + 3 * i3 + 4 * i4 + 5 * i5 + 6 * i6 + 7 * i7;
}

float ten_floats(float a, float b, float c, float d, float e, float f, float g, float h, float i, float j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}

__attribute__((cold, noreturn)) static void give_up(int code) { longjmp(back, code); }

int jump_back(int depth)
{
    volatile int reached = depth;
    int code = setjmp(back);
    if (code)
        return code * 100 + reached;
    if (__builtin_expect(depth > 3, 0))
        give_up(depth);
    return 0;
}

int interpret(const char *code)
{
    static const void *const labels[] = {&&add, &&twice, &&stop};
    int value = 0;
    goto *labels[*code++ - 'a'];
add:
    value++;
    goto *labels[*code++ - 'a'];
twice:
    value *= 2;
    goto *labels[*code++ - 'a'];
stop:
    return value;
}

static int compare(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }
static void *count(void *by) { own_per_thread += *(int *)by; per_thread += own_per_thread; return (void *)(long)per_thread; }
void report(const char *name, long value) { printf("%s: %ld\n", name, value); }

#ifndef __clang__
static int nested(int base)
{
    int add(int value) { return base + value; }
    int (*pointer)(int) = add;
    return pointer(2);
}
#else
static int nested(int base) { return base + 2; }
#endif

int main(void)
{
    int numbers[] = {5, 3, 9, 1}, by = 4;
    pthread_t threads[4];
    void *result;
    long sum = 0;
    for (int i = 0; i < 4; i++)
        report(names[i], operations[i](5) + operations[i](6));
    report("order", order);
    report("overridden", overridden());
    report("same", same_name() * 100 + other_same_name());
    report("renamed", renamed(5) + hidden_inside(8) + aliased(3) + chosen(2) + classic(7, 'a'));
    report("big", make_big(3).values[8]);
    report("pair", (long)(add_pairs((struct pair){1.5, 2}, (struct pair){2.5, 3}).real * 10));
    report("variadic", sum_of(9, 1, 2, 3, 4, 5, 6, 7, 8, 9) + (long)mean_of(9, 1., 2., 3., 4., 5., 6., 7., 8., 9.));
    report("scale", (long)scale(1e10L, 2, 3, 1, 2, 3, 4, 5, 6, 7));
    report("floats", (long)ten_floats(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    report("jump", jump_back(2) + jump_back(4));
    report("interpret", interpret("aabbac"));
    report("nested", nested(by));
    qsort(numbers, 4, sizeof *numbers, compare);
    report("sorted", numbers[0] * 1000 + numbers[1] * 100 + numbers[2] * 10 + numbers[3]);
    for (int i = 0; i < 4; i++)
        pthread_create(threads + i, 0, count, &by);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    report("threads", sum + per_thread + tentative);
    return 0;
}
