/* Constructs that are hard to translate, and names that are keywords of Rust. */
#ifndef HARD_H
#define HARD_H

struct fn {
    int impl;
    int use;
};

int guarded(int n);
int assembled(int n);
int into_loop(int n);
int duff(int n);
int computed(int n);
int statements(int n);
int match(int type, int self);
int unsafe(struct fn *in, int crate);
int shared(int n);
int unreached(int n);

#endif
