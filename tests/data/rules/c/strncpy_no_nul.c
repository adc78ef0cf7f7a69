#include <string.h>
struct device { char label[16]; char serial[9]; };
char *strncpy(char *dst, const char *src, size_t n);       /* ok: strncpy_no_nul */
static char last[32];

void copies(const char *in, char *out, struct device *d)
{
    char a[16], b[16], c[16], e[16], f[16], g[16] = {0};
    strncpy(a, in, sizeof(a));                             /* ruleid: strncpy_no_nul */
    strncpy(b, in, 16);                                    /* ruleid: strncpy_no_nul */
    strncpy(d->label, in, sizeof(d->label));               /* ruleid: strncpy_no_nul */
    strncpy(e, in, sizeof e - 1);                          /* ruleid: strncpy_no_nul */
    strncpy(last, in, sizeof(last));                       /* ruleid: strncpy_no_nul */
    strncpy(g, in, sizeof(g) - 1);                         /* ok: strncpy_no_nul */
    strncpy(last, in, sizeof(last) - 1);                   /* ok: strncpy_no_nul */
    strncpy(f, "short", sizeof(f));                        /* ok: strncpy_no_nul */
    strncpy(out, in, 10);                                  /* ok: strncpy_no_nul */
    puts(a); puts(b); puts(e); puts(f);
    strncpy(c, in,                                         /* ok: strncpy_no_nul */
            sizeof(c));
    c[sizeof(c) - 1] = '\0';
}

static void kernel(struct device *d, const char *name)
{
	char copy[9];

	memset(copy, 0, sizeof(copy));
	strncpy(copy, name, sizeof(copy) - 1);                 /* ok: strncpy_no_nul */
	strncpy(d->serial, name, sizeof(d->serial) - 1);       /* ok: strncpy_no_nul */
	strncpy(d->serial, copy, sizeof(d->serial));           /* ok: strncpy_no_nul */
	strscpy(d->label, name, sizeof(d->label));             /* ok: strncpy_no_nul */
	text.strncpy(copy, name, sizeof(copy));                /* ok: strncpy_no_nul */
}

int links(const char *path)
{
    char target[4096], other[4096];
    ssize_t n = readlink(path, target, sizeof(target) - 1); /* ok: strncpy_no_nul */
    if (n < 0)
        return -1;
    target[n] = 0;
    readlink(path, other, sizeof(other));                  /* ruleid: strncpy_no_nul */
    return open(other, O_RDONLY);
}

void wide(const wchar_t *in)
{
    wchar_t w[8];
    wcsncpy(w, in, 8);                                     /* ruleid: strncpy_no_nul */
    show(w);
}

void end_first(const char *name)
{
    char copy[100];
    copy[99] = '\0';
    strncpy(copy, name, 99);                               /* ok: strncpy_no_nul */
    show(copy);
}

void end_by_size(const char *name)
{
    char copy[100];
    copy[sizeof(copy) - 1] = 0;
    strncpy(copy, name, sizeof(copy) - 1);                 /* ok: strncpy_no_nul */
    show(copy);
}

void end_within(const char *name)
{
    char copy[100];
    copy[50] = '\0';
    strncpy(copy, name, 99);                               /* ruleid: strncpy_no_nul */
    show(copy);
}
