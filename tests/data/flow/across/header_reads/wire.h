#ifndef WIRE_H
#define WIRE_H

typedef unsigned char octet;

#define OCTET(p, i, s) ((unsigned)(((const octet *)(p))[(i)]) << (s))
#define PEEK_SHORT(p) ((unsigned short)(OCTET(p, 0, 8) | OCTET(p, 1, 0)))
#define NEXT_SHORT(p) ((unsigned short)((p) += 2, PEEK_SHORT((p) - 2)))
#define AT_MOST(a, b) ((a) < (b) ? (a) : (b))

typedef struct line_s line_t;
typedef line_t *line_ptr;

struct line_s {
    int used;
    short stops[12];
};

#endif
