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

int port_of(const char *text, const char *other)
{
    int port = atoi(text);                         /* ok: atoi_family */
    int mode;

    if (port < 1 || port > 65535)
        return -1;
    mode = atoi(other);                            /* ok: atoi_family */
    if (0 < mode && mode < 64)
        return mode;
    mode = atoi(other);                            /* ruleid: atoi_family */
    return mode < 1 ? 1 : mode;
}

int flags_of(struct options *o, const char *text, int *numbers)
{
    o->port = atoi(text);                          /* ok: atoi_family */
    if (o->port < 0 || o->port > 65535)
        return -1;
    numbers[1] = atoi(text);                       /* ok: atoi_family */
    if (numbers[1] < 1 || numbers[1] > 160)
        return -1;
    o->port = atoi(text);                          /* ruleid: atoi_family */
    if (o->port < 0 || o->ports > 65535)
        return -1;
    o->quiet = (atoi(text) != 0);                  /* ok: atoi_family */
    if (atoi(text))                                /* ok: atoi_family */
        return 0;
    if (atoi(text) == o->port)                     /* ruleid: atoi_family */
        return 1;
    return atoi(text) > 0 ? 2 : 3;                 /* ruleid: atoi_family */
}
