static void count_for_ever(void)
{
    int i = 0;

    while (1) {                                    /* ruleid: endless_loop */
        show(i);
        i++;
    }
}

static void count_round(void)
{
    int i = 0;
    for (;;) {                                     /* ruleid: endless_loop */
        show(i);
        i = (i + 1) % 256;
    }
}

static void count_after(unsigned step)
{
    int total = 0;
    do {
        total += 2;
        show(total);
    } while (true);                                /* ruleid: endless_loop */
}

int sum_down(const int *list, size_t n)
{
    int sum = 0;
    for (size_t i = n - 1; i >= 0; i--)            /* ruleid: endless_loop */
        sum += list[i];
    unsigned int left = strlen(name) - 1;
    while (left >= 0) {                            /* ruleid: endless_loop */
        sum += name[left];
        left--;
    }
    return sum;
}

void wheel(void)
{
    int at;
    for (at = 0; at >= 0; at = (at + 1) % SIZE) {  /* ruleid: endless_loop */
        turn(at);
    }
    do
    {
        turn(at);
        at = (at + 1) % 16;
    } while (at >= 0);                             /* ruleid: endless_loop */
}

int first_line(FILE *in)
{
    int n = 0;
    while (1) {                                    /* ok: endless_loop */
        if (fgetc(in) == '\n')
            break;
        n++;
    }
    for (;;) {                                     /* ok: endless_loop */
        if (n++ > 4) return n;
    }
}

void serve(int listener)
{
    unsigned served = 0;
    for (;;) {                                     /* ok: endless_loop */
        int client = accept(listener, NULL, NULL);
        answer(client);
        served++;
    }
}

void halt(void)
{
    while (1) { }                                  /* ok: endless_loop */
}

void fault(int code)
{
    int blinks = 0;
    while (1) {                                    /* ok: endless_loop */
        if (++blinks > code)
            die("fault");
    }
}

int last_of(const int *list, int n, unsigned m)
{
    int i;
    for (i = n - 1; i >= 0; i--)                   /* ok: endless_loop */
        if (list[i])
            return i;
    for (unsigned j = m; j > 0; j--)               /* ok: endless_loop */
        show(j);
    for (unsigned j = m; j >= 0; j--) {            /* ok: endless_loop */
        if (j == 0)
            break;
    }
    if (m >= 0)                                    /* ok: endless_loop */
        m--;
    while (i >= 0) {                               /* ok: endless_loop */
        i = parent[i] % 8;
    }
    return -1;
}
