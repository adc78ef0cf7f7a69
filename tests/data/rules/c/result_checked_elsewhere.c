void several(char *text, size_t size)
{
    if (snprintf(text, size, "%s", name) >= size)  /* ok: result_checked_elsewhere */
        return;
    snprintf(text, size, "%s", other);             /* ruleid: result_checked_elsewhere */
    if (remove("a") != 0 && remove("b") != 0)      /* ok: result_checked_elsewhere */
        return;
    else
        remove("c");                               /* ruleid: result_checked_elsewhere */
}

int drop(const char *path)
{
    if (rmdir(path) < 0)                           /* ok: result_checked_elsewhere */
        return -1;
    rmdir(parent(path));                           /* ruleid: result_checked_elsewhere */
    (void)rmdir("/tmp/x");                         /* ok: result_checked_elsewhere */
    return rmdir(grandparent(path));               /* ok: result_checked_elsewhere */
}

int wide(wchar_t *text, const wchar_t *name)
{
    if (swprintf(text, 8, L"%ls", name) < 0)       /* ok: result_checked_elsewhere */
        return -1;
    swprintf(text, 8, L"%ls", name);               /* ruleid: result_checked_elsewhere */
    return 0;
}

void removed(const wchar_t *path)
{
    if (_wremove(path) != 0)                       /* ok: result_checked_elsewhere */
        fail();
    if (ready)
        _wremove(other);                           /* ruleid: result_checked_elsewhere */
}

void most_do_not(FILE *out)
{
    int n = vsnprintf(text, 8, format, list);      /* ok: result_checked_elsewhere */
    vsnprintf(text, 8, format, list);              /* ok: result_checked_elsewhere */
    printf("one\n");                               /* ok: result_checked_elsewhere */
    if (putc('x', out) == EOF) return;             /* ok: result_checked_elsewhere */
    putc('y', out);                                /* ok: result_checked_elsewhere */
}
