#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 8
static const char *const colours[MAX] = { "a", "b" };
static int counts_of[MAX];
struct palette { int n; int shades[16]; const char *titles[16]; };
static int colour_at(const char *k)
{
    int i;
    for (i = 0; i < MAX; i++)
        if (!strcmp(colours[i], k))
            return i;
    return -1;
}
int h1(const char *k) { int at = colour_at(k); 
    return counts_of[at]; /* ruleid: flow_buffer_underread */ }
void h2(const char *k) { 
    counts_of[colour_at(k)]++; /* ruleid: flow_buffer_underread */ }
void h3(const char *k) { int local[MAX] = {0}; int at = colour_at(k);
    local[at] = 3; /* ruleid: flow_buffer_underwrite */
    printf("%d", local[0]); }
int h4(int *counts, const char *k) { int at = colour_at(k);
    return counts[at]; /* ruleid: flow_buffer_underread */ }
static int shade_at(struct palette *t, const char *k)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->titles[i], k) == 0)
            return i;
    return -1;
}
int h5(struct palette *t, const char *k) { int i = shade_at(t, k);
    return t->shades[i]; /* ruleid: flow_buffer_underread */ }
void h6(struct palette *t, const char *k) { int i = shade_at(t, k); if (i > 15) return;
    t->shades[i] = 2; /* ruleid: flow_buffer_underwrite */ }
void h7(const char *k)
{
    int i;
    for (i = 0; i < MAX; i++)
        if (colours[i] == k)
            break;
    counts_of[i]++; /* ruleid: flow_buffer_overflow, flow_buffer_overread */
}
int h8(int k)
{
    int a[10], i = 0;
    for (int j = 0; j < 10; j++) a[j] = j * k;
    while (i < 10 && a[i] != k)
        i++;
    return a[i]; /* ruleid: flow_buffer_overread */
}
void h9(FILE *in)
{
    char line[80];
    if (!fgets(line, sizeof line, in))
        return;
    size_t n = strlen(line);
    line[n - 1] = 0;
    n = strlen(line);
    if (line[n - 1] == '\r') /* ruleid: flow_buffer_underread */
        line[n - 1] = 0; /* ruleid: flow_buffer_underwrite */
    puts(line);
}
char *h11(const char *s)
{
    const char *a = strchr(s, '(');
    const char *b = strchr(s, ')');
    if (a == NULL || b == NULL)
        return NULL;
    size_t n = b - a; /* ruleid: flow_integer_underflow */
    char *r = malloc(n + 1);
    if (!r) return NULL;
    memcpy(r, a, n);
    r[n] = 0;
    return r;
}
void h12(const char *s, char *out)
{
    char *open = strstr(s, "<b>"), *end = strstr(s, "</b>");
    if (open && end)
        memcpy(out, open, end - open); /* ruleid: flow_integer_underflow */
}
int h13(struct palette *t, int v)
{
    int i;
    for (i = 0; i < 16; i++) {
        if (t->shades[i] == v)
            break;
    }
    t->shades[i] = 0; /* ruleid: flow_buffer_overflow */
    return i;
}
static int position(const int *a, int n, int v)
{
    while (n-- > 0)
        if (a[n] == v)
            return n;
    return -1;
}
int h14(int v) { static int data[4]; int p = position(data, 4, v);
    data[p] = 0; /* ruleid: flow_buffer_underwrite */
    return 0; }
static int index_or_first(const char *k)
{
    for (int i = 0; i < MAX; i++)
        if (!strcmp(colours[i], k))
            return i;
    return 0;
}
int ok1(const char *k) { int at = colour_at(k); if (at < 0) return 0; return counts_of[at]; }
int ok2(const char *k) { int at = colour_at(k); return at == -1 ? 0 : counts_of[at]; }
void ok3(const char *k) { int at = colour_at(k); if (at != -1) counts_of[at]++; }
void ok4(const char *k) { int at = colour_at(k); if (at < 0) abort(); counts_of[at]++; }
void ok4b(const char *k) { counts_of[index_or_first(k)]++; }
int ok5(struct palette *t, const char *k) { int i = shade_at(t, k); return i >= 0 ? t->shades[i] : 0; }
int ok6(struct palette *t, const char *k) { int i; if ((i = shade_at(t, k)) < 0) return 0; return t->shades[i]; }
void ok7(const char *k)
{
    int i;
    for (i = 0; i < MAX; i++)
        if (colours[i] == k)
            break;
    if (i == MAX)
        return;
    counts_of[i]++;
}
void ok7b(const char *k)
{
    int i, found = 0;
    for (i = 0; i < MAX; i++)
        if (colours[i] == k) {
            found = 1;
            break;
        }
    if (found)
        counts_of[i]++;
}
int ok8(int k)
{
    int a[10], i = 0;
    for (int j = 0; j < 10; j++) a[j] = j * k;
    while (i < 9 && a[i] != k)
        i++;
    return a[i];
}
void ok9(FILE *in)
{
    char line[80];
    if (!fgets(line, sizeof line, in))
        return;
    size_t n = strlen(line);
    if (n > 0 && line[n - 1] == '\n')
        line[--n] = 0;
    if (n && line[n - 1] == '\r')
        line[n - 1] = 0;
    puts(line);
}
void ok9b(FILE *in)
{
    char line[80];
    if (!fgets(line, sizeof line, in))
        return;
    line[strlen(line) - 1] = 0;
    puts(line);
}
void ok10(const char *from)
{
    char buf[32];
    snprintf(buf, sizeof buf, "%s/", from);
    if (buf[0] != 0)
        buf[strlen(buf) - 1] = 0;
    puts(buf);
}
char *ok11(const char *s)
{
    const char *a = strchr(s, '(');
    const char *b = strchr(s, ')');
    if (a == NULL || b == NULL || b < a)
        return NULL;
    size_t n = b - a;
    char *r = malloc(n + 1);
    if (!r) return NULL;
    memcpy(r, a, n);
    r[n] = 0;
    return r;
}
void ok12(const char *s, char *out)
{
    char *open = strstr(s, "<b>"), *end = open ? strstr(open, "</b>") : NULL;
    if (open && end)
        memcpy(out, open, end - open);
}
char *ok12b(const char *s)
{
    const char *dot = strrchr(s, '.');
    return dot ? strndup(s, dot - s) : NULL;
}
long ok12c(const char *s)
{
    const char *a = strchr(s, '('), *b = strchr(s, ')');
    if (!a || !b)
        return 0;
    long n = b - a;
    if (n <= 0)
        return 0;
    return n;
}
int ok13(struct palette *t, int v)
{
    int i;
    for (i = 0; i < 16; i++) {
        if (t->shades[i] == v)
            break;
    }
    return i < 16 ? t->shades[i] : 0;
}
int ok14(const char *s)
{
    size_t n = strlen(s);
    while (n > 0 && s[n - 1] == ' ')
        n--;
    return n;
}
void ok15(const char *dir)
{
    char path[256];
    snprintf(path, sizeof path, "%s/", dir);
    if (path[strlen(path) - 1] == '/')
        path[strlen(path) - 1] = 0;
    puts(path);
}
void line_a(FILE *in)
{
    char line[80];
    while (fgets(line, sizeof line, in)) {
        line[strlen(line) - 1] = 0;
        if (line[0] == '#' || line[0] == 0)
            continue;
        if (line[strlen(line) - 1] == '\\')
            puts("more");
    }
}
void line_b(FILE *in)
{
    char line[80];
    while (fgets(line, sizeof line, in)) {
        size_t n = strlen(line);
        if (n && line[n - 1] == '\n')
            line[--n] = 0;
        if (!*line)
            continue;
        if (line[strlen(line) - 1] == '\\')
            puts("more");
        while (n > 0 && line[n - 1] == ' ')
            line[--n] = '\0';
    }
}
void line_c(FILE *in)
{
    char line[80], *end;
    while (fgets(line, sizeof line, in)) {
        end = line + strlen(line) - 1;
        while (end >= line && *end == '\n')
            *end-- = 0;
        puts(line);
    }
}
void line_d(FILE *in)
{
    char line[80];
    int len;
    while (fgets(line, sizeof line, in)) {
        len = strlen(line);
        if (line[len - 1] == '\n')
            line[--len] = '\0';
        if (len > 0 && line[len - 1] == '\r')
            line[--len] = '\0';
        if (len == 0)
            continue;
        puts(line + len - 1);
    }
}
void line_e(FILE *in)
{
    char line[80];
    if (!fgets(line, sizeof line, in))
        return;
    line[strcspn(line, "\n")] = 0;
    if (strlen(line) < 2)
        return;
    line[strlen(line) - 2] = 0;
    puts(line);
}
