#include <stdio.h>

void save(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    fputc('"', f);                                 /* ruleid: output_unchecked */
    fprintf(f, "%s", text);                        /* ok: output_unchecked */
    fputc('"', f);                                 /* ok: output_unchecked */
    fclose(f);
}

#define OUT fputs

int head(FILE *out)
{
    if (fputs("name", out) == EOF)                 /* ok: output_unchecked */
        return -1;
    if (OUT("size", out) < 0)                      /* ok: output_unchecked */
        return -1;
    return fputs("\n", out);                       /* ok: output_unchecked */
}

void tail(FILE *out)
{
    fputs("end", out);                             /* ruleid: output_unchecked */
    (void)fputs("\n", out);                        /* ok: output_unchecked */
    fputs("done\n", stderr);                       /* ok: output_unchecked */
}

int letters(void)
{
    for (int c = 'a'; c < 'z'; c++) {
        if (putchar(c) == EOF)                     /* ok: output_unchecked */
            return -1;
    }
    putchar('\n');                                 /* ruleid: output_unchecked */
    return 0;
}

void several(FILE *out, char *text, size_t size)
{
    if (!fwprintf(out, L"%d\n", 1)) return;        /* ok: output_unchecked */
    fwprintf(out, L"%d\n", 2);                     /* ruleid: output_unchecked */
    printf("one\n");                               /* ok: output_unchecked */
    printf("two\n");                               /* ok: output_unchecked */
    if (fwrite(text, 1, size, out) != size)        /* ok: output_unchecked */
        return;
    fwrite("\n", 1, 1, out);                       /* ruleid: output_unchecked */
    std::puts("one");                              /* ok: output_unchecked */
    if (fputwc(L'x', out) == WEOF)                 /* ok: output_unchecked */
        return;
    for (int i = 0; i < 2; i++)
        fputwc(L'y', out);                         /* ruleid: output_unchecked */
    if (vfprintf(out, format, list) < 0 && size)   /* ok: output_unchecked */
        return;
    vfprintf(out, format, list);                   /* ruleid: output_unchecked */
    if (fputws(text, out) == WEOF)                 /* ok: output_unchecked */
        return;
    fputws(L"end", out);                           /* ruleid: output_unchecked */
}

void most_do_not(FILE *out)
{
    if (putc('x', out) == EOF) return;             /* ok: output_unchecked */
    putc('y', out);                                /* ok: output_unchecked */
    putc('z', out);                                /* ok: output_unchecked */
    fprintf(log, "done");                          /* ok: output_unchecked */
}

int main(void)
{
    printf("terminal");                            /* ok: output_unchecked */
    return 0;
}
