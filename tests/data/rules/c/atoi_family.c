int atoi(const char *text);                        /* ok: atoi_family */
static long
atol(const char *s)                                /* ok: atoi_family */
{
    return strtol(s, NULL, 10);                    /* ok: atoi_family */
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);                         /* ruleid: atoi_family */
    n = width * atoi(text);                        /* ruleid: atoi_family */
    long l = -atol(text + 1);                      /* ruleid: atoi_family */
    if (atoll(text) > 3 && atof(text) < 1.0)       /* ruleid: atoi_family */
        return (int) atof(text);                   /* ruleid: atoi_family */
    MARK
    atoi(text);                                    /* ruleid: atoi_family */
    n = atoi("12");                                /* ok: atoi_family */
    n = my_atoi(text);                             /* ok: atoi_family */
    n = atoi(text, 10);                            /* ok: atoi_family */
    n = number.atoi(text);                         /* ok: atoi_family */
    call(atoi, text);                              /* ok: atoi_family */
}
