/* Each function is called by main under its own name, and has a body in right.c and in wrong.c. */
#define _GNU_SOURCE
#include "program.h"

int total;
static int hidden;
struct node *list;
static char *text;

int add(int a, int b) { total += a; return a + b; }
static int count(void) { return ++hidden; }
void push(int value) { struct node *n = malloc(sizeof *n); n->value = value; n->tag = 't'; n->next = list; list = n; }
struct pair *two_blocks(int v) { struct pair *p = malloc(sizeof *p); p->one = malloc(8); p->two = malloc(8); *p->one = v; *p->two = v + 1; return p; }
double mean(const double *v, int n) { double s = 0; for (int i = 0; i < n; i++) s += v[i]; return s / n; }
float half(float v) { return v / 2; }
void out(int *to, int v) { *to = v * 3; }
int bounded(int v, int most) { return v < most ? v : most; }
int pass_on(int v) { return bounded(v, 10) + bounded(v, 9); }
char *room(int n) { char *p = malloc((size_t)n); p[0] = 1; return p; }
struct small make_small(int v) { struct small s = {v, (char)v}; return s; }
struct mixed make_mixed(int v) { struct mixed m = {v, v / 2.0}; return m; }
struct large make_large(int v) { struct large l = {{v, 1, 2, 3, 4, 5, 6, 7}}; return l; }
void fill_padded(struct padded *p, char c, long n) { struct padded q; q.c = c; q.n = n; *p = q; }
void grow(struct buffer *b) { b->size = b->size * 2 + 8; b->bytes = realloc(b->bytes, b->size); b->bytes[b->size - 1] = 'g'; }
void drop(struct buffer *b) { free(b->bytes); b->bytes = NULL; b->size = 0; }
int leak(int n) { char *p = malloc((size_t)n); p[0] = 1; int r = p[0]; free(p); return r; }
unsigned depth(unsigned n) { return n ? 1 + depth(n - 1) : 0; }
int each(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
int next_number(void) { static int number = 10; return number++; }
int say(const char *what) { return printf("%s\n", what); }
long read_part(FILE *file, char *to) { fseek(file, 3, SEEK_CUR); return (long)fread(to, 1, 4, file); }
int append(int file, const char *what) { return (int)write(file, what, strlen(what)); }
long wide(long a, long b, long c, long d, long e, long f, long g, long h, long i) { g = a + h; return b + c + d + e + f + g + i; }
long stamp(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000 + t.tv_nsec; }
jmp_buf place;
void jump(int v) { total = v; longjmp(place, 1); }
void *start(void *v) { return v; }
int threads(int v) { pthread_t t; void *r; pthread_create(&t, 0, start, &v); pthread_join(t, &r); return v + (r == &v); }
int quit(int v) { if (v > 1) exit(v - 2); return v; }
int make_file(const char *name) { int f = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600); close(f); return f >= 0; }
int drain(int file) { char c = 0; int n = (int)read(file, &c, 1) + c; return close(file) + n; }
int take(int file) { char c = 0; return (int)read(file, &c, 1) + c; }
volatile int signalled;
void on_signal(int s) { signalled = s; }
int send_signal(int s) { raise(s); return signalled; }
char *copy(const char *what) { return strdup(what); }
int spin(volatile int *stop) { while (!*stop) ; return *stop; }
void touch(char *bytes, long n) { bytes[n / 2]++; }
int divide(int a, int b) { return a / b; }
int local_array(int n) { char a[300]; memset(a, n, sizeof a); int s = 0; for (int i = 0; i < 300; i++) s += a[i]; return s; }
int late_error(int n) { errno = n; return n; }
int has_room(void) { void *p = malloc(100), *q = malloc(100000000); free(p); free(q); return p && q; }
clock_t ticks(void) { return clock(); }
int end_of_new(FILE *f) { char c; return (int)fread(&c, 1, 1, f) + 2 * (feof(f) != 0); }
const void *last_local;
int dangle(int n) { int local = n; last_local = &local; return local; }

static const int table[] = {3, 1, 4};
const char *name_of(int n) { return n ? "one" : "zero"; }
const int *table_of(struct buffer *b) { b->bytes = (char *)"table"; return table; }

int checked(const int *p, int limit) { return !p ? -1 : limit < 0 ? -2 : *p > 100 ? -3 : *p < limit; }
char *filled(const char *what) { char *p = malloc(8); return p ? strcpy(p, what) : 0; }
int behind(const struct node *n) { return n->next->next->value == 7000; }
volatile double kept;
int in_range(const int *p) { return *p >= 0 && *p < 100; }
double keep(double v) { return kept = v; }
double stray(double (*f)(void)) { return f(); }
int guarded(const char *what) { return *what == 'x' ? 9 : what[1] == 0; }
int paired(const int *p) { return *p >= 0; }
int worded(const char *what) { return !*what || what[3] == 'd'; }
int same(const int *p, const int *q) { return p == q; }

int rare(const int *p) { return *p > 60000 ? 2 : 1; }

static int twice(int a) { total++; return 2 * a; }

#define CASE(NAME) else if (!strcmp(argv[1], #NAME))

int main(int argc, char **argv)
{
    double values[] = {1, 2, 4.5};
    char bytes[16] = "";
    struct buffer b = {0};
    struct padded *padded = malloc(sizeof *padded);
    int got = 0;
    if (argc < 2) return 1;
    CASE(add) for (int i = 0; i < 100; i++) got += add(i, 1);
    CASE(count) for (int i = 0; i < 20; i++) got += count();
    CASE(push) for (int i = 0; i < 20; i++) push(i), got += list->value;
    CASE(two_blocks) for (int i = 0; i < 5; i++) got += *two_blocks(i)->two;
    CASE(mean) got = (int)mean(values, 3);
    CASE(half) got = (int)half(8);
    CASE(pass_on) got = pass_on(3);
    CASE(room) { char *p = room(3); got = p[0]; free(p); }
    CASE(out) { out(&got, 5); int *h = malloc(sizeof *h); out(h, 6); got += *h; free(h); }
    CASE(make_small) got = make_small(7).a;
    CASE(make_mixed) got = (int)make_mixed(7).b;
    CASE(make_large) got = make_large(7).v[0];
    CASE(fill_padded) for (int i = 0; i < 5; i++) fill_padded(padded, 'a', i), got += (int)padded->n;
    CASE(grow) for (int i = 0; i < 12; i++) grow(&b), got += b.bytes[b.size - 1];
    CASE(drop) { grow(&b); drop(&b); got = b.bytes == NULL; }
    CASE(leak) for (int i = 1; i < 5; i++) got += leak(i * 10);
    CASE(depth) got = (int)depth(1000);
    CASE(each) got = each(twice, 10);
    CASE(next_number) for (int i = 0; i < 30; i++) got += next_number();
    CASE(say) for (int i = 0; i < 3; i++) got += say("hello");
    CASE(read_part) { FILE *f = fopen(argv[2], "r"); got = (int)read_part(f, bytes); got += (int)read_part(f, bytes); printf("%.4s\n", bytes); fclose(f); }
    CASE(append) { int f = open(argv[2], O_CREAT | O_RDWR | O_APPEND, 0600); for (int i = 0; i < 5; i++) got += append(f, "ab"); close(f); }
    CASE(wide) got = (int)wide(1, 2, 3, 4, 5, 6, 7, 8, 9);
    CASE(stamp) got = stamp() > 0;
    CASE(jump) { for (volatile int i = 0; i < 3; i++) if (!setjmp(place)) jump(i); got = total; }
    CASE(threads) got = threads(1) + add(1, 1);
    CASE(quit) { got = quit(1); quit(2); }
    CASE(make_file) got = make_file(argv[2]);
    CASE(drain) { int p[2]; if (pipe(p) || write(p[1], "ab", 2) != 2) return 1; got = drain(p[0]); }
    CASE(take) { int p[2]; if (pipe(p) || write(p[1], "ab", 2) != 2) return 1; got = take(p[0]) + take(p[0]); }
    CASE(send_signal) { signal(SIGUSR1, on_signal); got = send_signal(SIGUSR1) == SIGUSR1; }
    CASE(copy) { for (int i = 0; i < 4; i++) text = copy("text"); got = text[0]; free(text); }
    CASE(spin) { volatile int stop = 1; got = spin(&stop); }
    CASE(touch) { long n = 100 << 20; char *p = malloc((size_t)n); memset(p, 1, (size_t)n); for (int i = 0; i < 16; i++) touch(p, n); got = p[n / 2]; }
    CASE(divide) got = divide(8, 2);
    CASE(local_array) got = local_array(1);
    CASE(late_error) got = late_error(3);
    CASE(has_room) got = has_room();
    CASE(ticks) got = ticks() >= 0;
    CASE(end_of_new) { FILE *f = fopen(argv[2], "w"); got = end_of_new(f); fclose(f); }
    CASE(dangle) got = dangle(3);
    CASE(clip_both) got = clip_both(clip(20));
    CASE(name_of) got = name_of(1)[0] + name_of(0)[0];
    CASE(table_of) got = table_of(&b)[1];
    CASE(checked) { int value = 7; for (int i = 0; i < 3; i++) got += checked(&value, 9 + i); }
    CASE(filled) for (int i = 0; i < 3; i++) got += filled("abc")[i];
    CASE(behind) { struct node n[3] = {{n + 1, 1, 0}, {n + 2, 2, 0}, {0, 3, 0}}; got = behind(n); }
    CASE(in_range) for (int i = 0; i < 200; i++) got += in_range(&i);
    CASE(stray) { keep(3.5); stray((double (*)(void))keep); }
    CASE(guarded) for (int i = 0; i < 3; i++) got += guarded("abc");
    CASE(paired) { int *p = malloc(2 * sizeof *p); p[0] = 7, p[1] = 20000; got = paired(p); free(p); } /* as one word, like an address */
    CASE(worded) { char *word = malloc(8); strcpy(word, "abcdef"), word[7] = 0; got = worded(word); free(word); }
    CASE(same) { int value = 7; for (int i = 0; i < 3; i++) got += same(&value, 0); }
    CASE(rare) for (int i = 0; i < 2000; i++) { int value = i == 1500 ? 70000 : 3; got += rare(&value); }
    CASE(forked) { if (!fork()) { add(1, 2); exit(0); } int s; wait(&s); got = add(1, 2); }
    CASE(tree) { for (int i = 0; i < 20; i++) push(i); got = each(twice, 3) + add(1, 2) + list->value; }
    printf("%d\n", got);
    fflush(stdout);
    return 0;
}
