void low_release(char *p);
char *low_make(unsigned n);

void middle_release(char *p)
{
    low_release(p);
}

char *middle_make(unsigned n)
{
    return low_make(n + 1);
}
