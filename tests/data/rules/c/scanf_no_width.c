int scanf(const char *format, ...);                /* ok: scanf_no_width */
void read_all(FILE *in, const char *line)
{
    scanf("%s", word);                             /* ruleid: scanf_no_width */
    fscanf(in, "%d %s", &n, word);                 /* ruleid: scanf_no_width */
    if (sscanf(line, "%[^=]=%d", key, &n) != 2)    /* ruleid: scanf_no_width */
        return;
    sscanf (line, "%15s" " %ls", a, wide);         /* ruleid: scanf_no_width */
    swscanf(line, L"%S", wide);                    /* ruleid: scanf_no_width */
    scanf("%63s", word);                           /* ok: scanf_no_width */
    scanf("%*s %d", &n);                           /* ok: scanf_no_width */
    scanf("%ms", &allocated);                      /* ok: scanf_no_width */
    sscanf(line, "%m[a-z]", &allocated);           /* ok: scanf_no_width */
    sscanf(line, "%" WIDTH "s", word);             /* ok: scanf_no_width */
    sscanf(line, "100%% sure %d", &n);             /* ok: scanf_no_width */
    sscanf(line, "%31[^\n]", word);                /* ok: scanf_no_width */
    sscanf(line, "%d%c", &n, &c);                  /* ok: scanf_no_width */
    parser->scanf("%s", word);                     /* ok: scanf_no_width */
    printf("%s", word);                            /* ok: scanf_no_width */
}

int widths(const char *text)
{
    char word[16], line[16], longer[64];
    scanf("%16s", word);                           /* ruleid: scanf_no_width */
    sscanf(text, "%d %*s %31s", &n, word);         /* ruleid: scanf_no_width */
    sscanf(longer, "%s", word);                    /* ruleid: scanf_no_width */
    scanf("%15s", word);                           /* ok: scanf_no_width */
    sscanf(text, "%d %*s %15s", &n, word);         /* ok: scanf_no_width */
    sscanf(line, "%s", word);                      /* ok: scanf_no_width */
    sscanf(line, "%s %s", word, longer);           /* ok: scanf_no_width */
    sscanf("12 short", "%d %s", &n, word);         /* ok: scanf_no_width */
    return 0;
}
