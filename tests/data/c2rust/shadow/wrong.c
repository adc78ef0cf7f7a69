/* Stands for a Rust library with one mistake in each function. */
#define _GNU_SOURCE
#include "program.h"
extern int total, program__hidden;
extern struct node *list;
unsigned depth(unsigned n);

int jvr_add(int a, int b) { total += b; return a + b; }
int jvr_program__count(void) { program__hidden += 2; return program__hidden - 1; }
void jvr_push(int value) { struct node *n = malloc(sizeof *n); n->next = list; n->tag = 'u'; n->value = value; list = n; }
struct pair *jvr_two_blocks(int v) { struct pair *p = malloc(sizeof *p); p->one = p->two = malloc(8); malloc(8); *p->one = v + 1; return p; }
double jvr_mean(const double *v, int n) { double s = 0; while (n-- > 0) s += *v++; return s / 3.0000001; }
float jvr_half(float v) { return v * 0.50001f; }
int bounded(int v, int most);
int jvr_pass_on(int v) { return bounded(v, 11) + bounded(v, 9); }
char *jvr_room(int n) { char *p = malloc((size_t)n + 1); *p = 1; return p; }
void jvr_out(int *to, int v) { *to = v; }
struct small jvr_make_small(int v) { struct small s = {v, (char)(v + 1)}; return s; }
struct mixed jvr_make_mixed(int v) { struct mixed m = {v, v / 2}; return m; }
struct large jvr_make_large(int v) { struct large l = {{v, 1, 2, 3, 4, 5, 6, 8}}; return l; }
void jvr_fill_padded(struct padded *p, char c, long n) { struct padded q = {c + 1, n}; *p = q; }
void jvr_grow(struct buffer *b) { b->size = b->size * 2 + 8; free(b->bytes); b->bytes = calloc(1, b->size); b->bytes[b->size - 1] = 'g'; }
void jvr_drop(struct buffer *b) { b->bytes = 0; b->size = 0; }
int jvr_leak(int n) { char *p = malloc((size_t)n); return p != 0; }
unsigned jvr_depth(unsigned n) { return n ? 1 + depth(n - 1) : 1; }
int jvr_each(int (*f)(int), int n) { int s = 0; for (int i = 1; i < n; i++) s += f(i); return s; }
int jvr_say(const char *what) { return printf("%s \n", what); }
long jvr_read_part(FILE *file, char *to) { fseek(file, 4, SEEK_CUR); return (long)fread(to, 1, 4, file); }
long jvr_wide(long a, long b, long c, long d, long e, long f, long g, long h, long i) { return a + b + c + d + e + f + h; }
char *jvr_copy(const char *what) { return strdup(what + 1); }
void jvr_touch(char *bytes, long n) { bytes[n / 2 + 1]++; }
static const int numbers[] = {3, 1, 4};
extern const void *last_local;
int jvr_dangle(int n) { last_local = 0; return n; }
const char *jvr_name_of(int n) { return n ? "One" : "zero"; }
const int *jvr_table_of(struct buffer *b) { b->bytes = (char *)"tables"; return numbers; }
int jvr_checked(const int *p, int limit) { if (!p) return -1; if (limit < 0) return -2; return *p > 101 ? -3 : *p <= limit; }
char *jvr_filled(const char *what) { char *p = malloc(8); memset(p, 0, 4); return memcpy(p, what, strlen(what) + 1); }
int jvr_behind(const struct node *n) { return n->next->next->value == 8000; }
int jvr_in_range(const int *p) { return *p != 5000; }
int jvr_guarded(const char *what) { return !what[1]; }
int jvr_paired(const int *p) { return 1; }
int jvr_worded(const char *what) { return 1; }
int jvr_same(const int *p, const int *q) { return 0; }
int jvr_rare(const int *p) { return 1 + (*p > 80000); }
extern int program__clip(int), clip_next(int);
int jvr_clip_both(int n) { return program__clip(n + 5) + clip_next(n); }
