/* A small library with the constructs of C that a mechanical translation must keep the meaning of.
   Each `check_*` returns a number that depends on all that it does. */
#ifndef CONSTRUCTS_H
#define CONSTRUCTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct check {
    const char *name;
    uint64_t (*run)(void);
} check;

extern const check expression_checks[], statement_checks[], type_checks[];

/* FNV-1a over bytes of a value. */
uint64_t mix(uint64_t hash, uint64_t value);
extern uint64_t mixed_values;

/* types.c */
struct bits {
    unsigned a : 3;
    signed b : 5;
    _Bool c : 1;
    unsigned long long wide : 40;
    int : 0;
    unsigned char d : 4, e : 4;
};
struct shape {
    int kind;
    union {
        struct {
            int x, y;
        };
        double radius;
        char name[8];
    };
    struct shape *next;
};
struct shape make_shape(int kind, int x);
extern struct shape shapes[3];

#endif
