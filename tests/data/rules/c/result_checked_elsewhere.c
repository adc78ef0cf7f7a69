#define OUT fputs

int head(FILE *out)
{
    if (fputs("name", out) == EOF)                 /* ok: result_checked_elsewhere */
        return -1;
    if (OUT("size", out) < 0)                      /* ok: result_checked_elsewhere */
        return -1;
    return fputs("\n", out);                       /* ok: result_checked_elsewhere */
}

void tail(FILE *out)
{
    fputs("end", out);                             /* ruleid: result_checked_elsewhere */
    (void)fputs("\n", out);                        /* ok: result_checked_elsewhere */
    fputs("done\n", stderr);                       /* ok: result_checked_elsewhere */
}

int letters(void)
{
    for (int c = 'a'; c < 'z'; c++) {
        if (putchar(c) == EOF)                     /* ok: result_checked_elsewhere */
            return -1;
    }
    putchar('\n');                                 /* ruleid: result_checked_elsewhere */
    return 0;
}

void several(FILE *out, char *text, size_t size)
{
    if (!fwprintf(out, L"%d\n", 1)) return;        /* ok: result_checked_elsewhere */
    fwprintf(out, L"%d\n", 2);                     /* ruleid: result_checked_elsewhere */
    printf("one\n");                               /* ok: result_checked_elsewhere */
    printf("two\n");                               /* ok: result_checked_elsewhere */
    if (snprintf(text, size, "%s", name) >= size)  /* ok: result_checked_elsewhere */
        return;
    snprintf(text, size, "%s", other);             /* ruleid: result_checked_elsewhere */
    if (remove("a") != 0 && remove("b") != 0)      /* ok: result_checked_elsewhere */
        return;
    else
        remove("c");                               /* ruleid: result_checked_elsewhere */
}

void most_do_not(FILE *out)
{
    if (putc('x', out) == EOF) return;             /* ok: result_checked_elsewhere */
    putc('y', out);                                /* ok: result_checked_elsewhere */
    putc('z', out);                                /* ok: result_checked_elsewhere */
    int n = vsnprintf(text, 8, format, list);      /* ok: result_checked_elsewhere */
    vsnprintf(text, 8, format, list);              /* ok: result_checked_elsewhere */
}
