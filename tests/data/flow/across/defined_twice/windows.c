void medium_put(char *p)
{
    p[0] = 0;
}
