/* What slots must leave as it is: constructs.c and others.c make one program, which prints the same with slots. */
#ifndef CONSTRUCTS_H
#define CONSTRUCTS_H
#include <stddef.h>

struct big { long values[9]; };
struct pair { double real; int count; };

static inline int clamp(int value) { return value > 100 ? 100 : value; }

extern int tentative;
extern _Thread_local int per_thread;
extern int (*const operations[])(int);

struct big make_big(long seed);
struct pair add_pairs(struct pair left, struct pair right);
int sum_of(int count, ...);
double mean_of(int count, ...);
long double scale(long double value, float by, double plus, int i1, int i2, int i3, int i4, int i5, int i6, int i7);
float ten_floats(float a, float b, float c, float d, float e, float f, float g, float h, float i, float j);
int overridden(void);
int same_name(void);
int other_same_name(void);
int renamed(int) __asm__("real_name");
int hidden_inside(int) __attribute__((visibility("hidden")));
int aliased(int);
int chosen(int);
int classic();
int jump_back(int depth);
int interpret(const char *code);
void report(const char *name, long value);
#endif
