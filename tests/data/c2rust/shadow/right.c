/* Stands for a Rust library: other instructions, other temporary memory, the same effects. */
#define _GNU_SOURCE
#include "program.h"
extern int total, program__hidden;
extern struct node *list;
extern jmp_buf place;
extern volatile int signalled;
void *start(void *v);
unsigned depth(unsigned n);

int jvr_add(int a, int b) { int t = total; total = t + a; return b + a; }
int jvr_program__count(void) { program__hidden++; return program__hidden; }
void jvr_push(int value) { free(malloc(40)); char *x = malloc(24); struct node *n = malloc(sizeof *n); free(x); n->next = list; n->tag = 't'; n->value = value; list = n; }
struct pair *jvr_two_blocks(int v) { int *b = malloc(8), *a = malloc(8); struct pair *p = malloc(sizeof *p); *a = v; *b = v + 1; p->one = a; p->two = b; return p; }
double jvr_mean(const double *v, int n) { double s = 0; while (n-- > 0) s += *v++; return s / 3; }
float jvr_half(float v) { return v * 0.5f; }
int bounded(int v, int most);
int jvr_pass_on(int v) { int second = bounded(v, 9); return bounded(v, 10) + second; }
char *jvr_room(int n) { char *p = malloc((size_t)n); *p = 1; return p; }
void jvr_out(int *to, int v) { *to = v + v + v; }
struct small jvr_make_small(int v) { struct small s; memset(&s, 0x77, sizeof s); s.a = v; s.b = (char)v; return s; }
struct mixed jvr_make_mixed(int v) { struct mixed m; m.b = v * 0.5; m.a = v; return m; }
struct large jvr_make_large(int v) { struct large l; for (int i = 0; i < 8; i++) l.v[i] = i ? i : v; return l; }
void jvr_fill_padded(struct padded *p, char c, long n) { struct padded q; memset(&q, 0x33, sizeof q); q.c = c; q.n = n; memcpy(p, &q, sizeof q); }
void jvr_grow(struct buffer *b) { size_t n = b->size * 2 + 8; char *p = malloc(n); if (b->size) memcpy(p, b->bytes, b->size); free(b->bytes); p[n - 1] = 'g'; b->bytes = p; b->size = n; }
void jvr_drop(struct buffer *b) { char *p = b->bytes; b->bytes = 0; b->size = 0; free(p); }
int jvr_leak(int n) { free(malloc((size_t)n)); return 1; }
unsigned jvr_depth(unsigned n) { return n == 0 ? 0 : depth(n - 1) + 1; }
int jvr_each(int (*f)(int), int n) { int s = 0, i = 0; while (i < n) s += f(i++); return s; }
int jvr_next_number(void) { static int number = 10; return number++; }
int jvr_say(const char *what) { int n = (int)strlen(what); fwrite(what, 1, (size_t)n, stdout); putchar('\n'); return n + 1; }
long jvr_read_part(FILE *file, char *to) { fseek(file, ftell(file) + 3, SEEK_SET); long n = 0; for (int c; n < 4 && (c = fgetc(file)) != EOF; n++) to[n] = (char)c; return n; }
int jvr_append(int file, const char *what) { int n = 0; for (; what[n]; n++) if (write(file, what + n, 1) != 1) return -1; return n; }
long jvr_wide(long a, long b, long c, long d, long e, long f, long g, long h, long i) { h += i; g = -1; i = g; return a + b + c + d + e + f + h; }
long jvr_stamp(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_nsec + t.tv_sec * 1000000000; }
void jvr_jump(int v) { total = v; longjmp(place, 1); }
int jvr_threads(int v) { pthread_t t; void *r; pthread_create(&t, 0, start, &v); pthread_join(t, &r); return v + 1; }
int jvr_quit(int v) { if (v > 1) exit(v - 2); return v; }
int jvr_make_file(const char *name) { int f = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600); close(f); return f >= 0; }
int jvr_drain(int file) { char c = 0; int n = (int)read(file, &c, 1) + c; return close(file) + n; }
int jvr_take(int file) { char c = 0; int n = (int)read(file, &c, 1); return n + c; }
int jvr_send_signal(int s) { raise(s); return signalled; }
char *jvr_copy(const char *what) { size_t n = strlen(what) + 1; return memcpy(malloc(n), what, n); }
int jvr_spin(volatile int *stop) { for (;;) if (*stop) return *stop; }
void jvr_touch(char *bytes, long n) { bytes[n >> 1] += 1; }
int jvr_divide(int a, int b) { return a / b; }
int jvr_local_array(int n) { int s = 0; for (int i = 0; i < 300; i++) s += n; return s; }
int jvr_late_error(int n) { return n; }
extern const void *last_local;
int jvr_dangle(int n) { char room[64]; int local = n; room[0] = 0, last_local = &local; return local + room[0]; }
static const int numbers[] = {3, 1, 4};
const char *jvr_name_of(int n) { return n ? "one" : "zero"; }
const int *jvr_table_of(struct buffer *b) { b->bytes = (char *)"table"; return numbers; }
int jvr_checked(const int *p, int limit) { if (!p) return -1; if (limit < 0) return -2; return *p > 100 ? -3 : *p < limit; }
char *jvr_filled(const char *what) { char *p = malloc(8); if (!p) return 0; return memcpy(p, what, strlen(what) + 1); }
int jvr_behind(const struct node *n) { return n->next->next->value == 7000; }
int jvr_in_range(const int *p) { return *(const unsigned *)p < 100; }
double keep(double v);
double jvr_stray(double (*f)(void)) { keep(1.25); return f(); }
int jvr_guarded(const char *what) { if (what[0] == 'x') return 9; return !what[1]; }
int jvr_paired(const int *p) { return !(*p < 0); }
int jvr_worded(const char *what) { return what[0] == 0 || what[3] == 'd'; }
int jvr_same(const int *p, const int *q) { return q == p; }
int jvr_rare(const int *p) { return 1 + (*p > 60000); }
extern int program__clip(int), clip_next(int);
int jvr_clip_both(int n) { return program__clip(n) + clip_next(n); }
clock_t jvr_ticks(void) { return clock(); }
int jvr_end_of_new(FILE *f) { char c; return (int)fread(&c, 1, 1, f) + 2 * (feof(f) != 0); }
int jvr_has_room(void) { return 1; }
